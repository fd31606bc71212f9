//! Symbolic derivatives (`keyfit-rewrite`) against dual numbers.

use keyfit_autodiff::{gradient, heading, keyed_partials, local_partials, time_derivatives};
use keyfit_ir::arbitrary::{RandomNumber, RandomTrack, TameNumber};
use keyfit_ir::{Builder, Easing, Id, MAX_ARITY, Node, Op, Parameter, Shape, Track};
use keyfit_rewrite::{Variable, derivative, exact_heading};
use quickcheck::{Arbitrary, Gen};

/// How many units of rounding (2⁻⁵²) the two may differ by, each at the scale of [`scale`]. Found are 0.34 at most.
const ULPS: f64 = 1.0;

/// The size of what is added up to the track's value: the sum over all nodes of |∂root/∂node|·|node|. Half a unit of
/// rounding of it is, to first order, the most that rounding can make of the value. A number below the normal ones counts
/// as the smallest of those.
fn scale(track: &Track, t: f64) -> f64 {
    let values = track.node_values(t);
    let mut weights = vec![0.0; values.len()];
    weights[track.root().index()] = 1.0;
    let mut sum = 0.0;
    // a number is what it is
    let rounded = |id: Id| !matches!(track.node(id), Some(Node::Constant(_)));
    for (id, node) in track.iter().rev().filter(|(id, _)| rounded(*id)) {
        let weight: f64 = weights[id.index()];
        if weight == 0.0 {
            continue;
        }
        sum += weight * values[id.index()].abs().max(f64::MIN_POSITIVE);
        match node {
            Node::Apply(op, operands) => {
                let partials = local_partials(*op, operands.map(|id| values[id.index()]));
                for (operand, partial) in operands.iter().zip(partials).take(op.arity()) {
                    if partial != 0.0 && rounded(*operand) {
                        weights[operand.index()] += weight * partial.abs();
                    }
                }
            }
            Node::Keyed(keyed) => {
                // a difference of values loses what its parts have
                for (child, partial) in keyed_partials(keyed, &values) {
                    if partial != 0.0 {
                        weights[child.index()] += weight * partial.abs();
                    }
                }
                let keys: f64 =
                    keyed.keys().iter().map(|key| values[key.value.index()].abs()).fold(0.0, f64::max);
                sum += weight * keys;
            }
            _ => {}
        }
    }
    sum
}

/// What comparisons of a track's derivative with that of dual numbers have found, where value and derivative are finite.
#[derive(Debug, Default)]
struct Tally {
    /// Both are zero.
    zero: usize,
    /// The same bits.
    equal: usize,
    /// Within the bound.
    near: usize,
    /// Not judged: something overflowed on the way, the track's derivative or the scale is not finite.
    overflowed: usize,
    /// The largest difference in units of rounding of the scale.
    worst: f64,
    /// The largest difference in units of rounding of the derivative itself, which cancellation may make any number.
    relative: f64,
}

impl Tally {
    fn compare(&mut self, track: &Track, found: &Track, t: f64, dual: f64) {
        let here = found.sample(t);
        if !track.sample(t).is_finite() || !dual.is_finite() {
            return;
        }
        if here == dual {
            *(if dual == 0.0 { &mut self.zero } else { &mut self.equal }) += 1;
            return;
        }
        let scale = scale(found, t);
        if !here.is_finite() || !scale.is_finite() {
            let infinite =
                [found, track].iter().any(|track| track.node_values(t).iter().any(|x| !x.is_finite()));
            assert!(infinite || !scale.is_finite(), "{track:?} at {t:?}: {here:?}, not {dual:?}; {found:?}");
            self.overflowed += 1;
            return;
        }
        let ulps = (here - dual).abs() / (scale * f64::EPSILON);
        assert!(ulps <= ULPS, "{track:?} at {t:?}: {here:?}, not {dual:?}, {ulps} ulps; {found:?}");
        self.worst = self.worst.max(ulps);
        self.relative =
            self.relative.max((here - dual).abs() / (dual.abs().max(f64::MIN_POSITIVE) * f64::EPSILON));
        self.near += 1;
    }

    /// All derivatives of a track at these times.
    fn all(&mut self, track: &Track, times: &[f64]) {
        let velocity = derivative(track, &Variable::Time).unwrap();
        for &t in times {
            self.compare(track, &velocity, t, time_derivatives(track, t, &[]).1);
        }
        for (k, p) in track.free_parameters().into_iter().enumerate() {
            let found = derivative(track, &Variable::Parameter(p.name().into())).unwrap();
            for &t in times {
                self.compare(track, &found, t, gradient(track, t, &[])[k]);
            }
        }
    }

    /// The share of what is not zero that has the same bits.
    fn equal(&self) -> f64 {
        self.equal as f64 / (self.equal + self.near + self.overflowed) as f64
    }
}

fn times(g: &mut Gen) -> Vec<f64> {
    let special = RandomNumber::arbitrary(g).0;
    (0..4).map(|_| TameNumber::arbitrary(g).0).chain([special]).collect()
}

#[test]
fn random_tracks_agree() {
    let mut tally = Tally::default();
    for seed in 0..20000 {
        let mut g = Gen::from_size_and_seed(40, seed);
        let RandomTrack(track) = RandomTrack::arbitrary(&mut g);
        let times = times(&mut g);
        tally.all(&track, &times);
    }
    // what is not the same is mostly arc tangents, powers and cubic-beziers, here and in dual numbers
    assert!(tally.equal() > 0.975, "{tally:?}");
    assert!(tally.overflowed < tally.equal / 200 && tally.equal > 20_000, "{tally:?}");
}

/// The track of one operation of parameters.
fn one(op: Op, x: [f64; MAX_ARITY]) -> Track {
    let mut b = Builder::new();
    let operands: Vec<_> = op
        .operands()
        .iter()
        .zip(x)
        .map(|(name, x)| b.free(Parameter::new(name, x).unwrap()).unwrap())
        .collect();
    let root = b.apply(op, &operands).unwrap();
    b.finish(root).unwrap()
}

#[test]
fn every_operation_agrees_at_ordinary_and_special_points() {
    let mut g = Gen::from_size_and_seed(40, 3);
    for &op in Op::ALL {
        let mut tally = Tally::default();
        let special = [0.0, -0.0, 0.5, 1.0, -1.0, 2.0, 3.0];
        for a in special {
            for b in special {
                for c in special {
                    tally.all(&one(op, [a, b, c]), &[0.0]);
                }
            }
        }
        for _ in 0..300 {
            tally.all(&one(op, std::array::from_fn(|_| TameNumber::arbitrary(&mut g).0)), &[0.0]);
            tally.all(&one(op, std::array::from_fn(|_| RandomNumber::arbitrary(&mut g).0)), &[0.0]);
        }
        match op {
            Op::ATAN | Op::ATAN2 => {
                assert!(tally.relative < 2.0 && tally.overflowed < 10, "{op:?}: {tally:?}")
            }
            Op::POW => assert!((tally.near, tally.overflowed) == (0, 1), "{op:?}: {tally:?}"),
            _ => assert!((tally.near, tally.overflowed) == (0, 0), "{op:?}: {tally:?}"),
        }
    }
}

/// Keys at uneven times, with a jump, whose values are parameters, read at a clock that moves with a parameter and time.
fn keys(shape: Shape, clock: &str) -> Track {
    let shape = shape.to_string();
    let text = match shape.as_str() {
        "cubic" => "cubic[0=?a=1{out=?m=2} 1=?b=-2{in=?n=-1 out=0.5} 3=?c=0.5{in=1 out=1} 3=?d=3{out=-2} 4=?a=1{in=0.25}]".into(),
        _ => format!("{shape}[0=?a=1 1=?b=-2 2.5=2 3=?c=0.5 3=?d=3 4=?a=1]"),
    };
    Track::parse(&format!("{text}({clock})")).unwrap()
}

/// Every shape, and some curves with numbers.
fn shapes() -> impl Iterator<Item = Shape> {
    let css = [
        "cubic-bezier(0.25,0.1,0.25,1)",
        "cubic-bezier(0,0,0.58,1)",
        "cubic-bezier(0,1,1,0)",
        "steps(4,jump-none)",
        "steps(3,jump-end)",
        "steps(3,jump-start)",
        "steps(2,jump-both)",
    ];
    Shape::all().chain(css.into_iter().filter_map(Easing::from_word).map(Shape::Eased))
}

#[test]
fn every_shape_agrees_at_keys_and_between() {
    let times: Vec<f64> = (-4..=40).map(|k| f64::from(k) / 8.0).chain([0.1, 0.37, 2.9, 3.3, 100.0]).collect();
    for shape in shapes() {
        for clock in ["t", "t*?rate=0.75", "?rate=0.75 + sin(t)"] {
            let mut tally = Tally::default();
            tally.all(&keys(shape, clock), &times);
            let own = !shape.to_string().starts_with("cubic-bezier");
            assert!(!own || (tally.near, tally.overflowed) == (0, 0), "{shape} of {clock}: {tally:?}");
            assert!(tally.equal() > 0.45 && tally.overflowed == 0, "{shape} of {clock}: {tally:?}");
        }
    }
}

#[test]
fn powers_and_logarithms_agree() {
    let mut tally = Tally::default();
    let mut g = Gen::from_size_and_seed(40, 5);
    for _ in 0..200 {
        let x = TameNumber::arbitrary(&mut g).0;
        for n in ["2", "3", "4", "-1", "-2", "0.5", "1.5", "0", "1", "0.3", "-2.7", "1e-20"] {
            tally.all(&Track::parse(&format!("?x={x:?}^({n})")).unwrap(), &[0.0]);
        }
        for base in ["2", "0.5", "1", "0", "1e300"] {
            tally.all(&Track::parse(&format!("{base}^?x={x:?}")).unwrap(), &[0.0]);
        }
    }
    assert!(tally.relative <= 3.0 && tally.overflowed == 0 && tally.equal() > 0.5, "{tally:?}");
}

/// What overflows on the way is unfelt where the value has a limit, and a root at rest does not move.
#[test]
fn an_exact_zero_wins() {
    for (text, t, slope) in [
        ("1/(1 + exp(-t))", -800.0, 0.0),
        ("exp(-(t^2))", 1e200, 0.0),
        ("tanh(exp(t))", 800.0, 0.0),
        ("atan(exp(t))", 800.0, 0.0),
        ("sqrt(t*t)", 0.0, 0.0),
        ("t*sqrt(t)", 0.0, 0.0),
        ("asin(clamp(t, -1, 1))", 2.0, 0.0),
        ("min(exp(t), 1)", 800.0, 0.0),
        ("circ-out[0=1 1=2]", 5.0, 0.0),
        ("abs(t)", -0.0, 1.0),
        ("clamp(t, 0, 1)", 1.0, 1.0),
        ("min(t, t*t)", 0.0, 1.0),
        ("max(t, 2*t)", 0.0, 1.5),
        ("hypot(t, t)", 0.0, 0.0),
    ] {
        let track = Track::parse(text).unwrap();
        let velocity = derivative(&track, &Variable::Time).unwrap();
        assert_eq!(velocity.sample(t), slope, "{text} at {t}: {velocity:?}");
        assert_eq!(time_derivatives(&track, t, &[]).1, slope, "{text} at {t}");
    }
}

#[test]
fn accelerations_agree() {
    let mut tally = Tally::default();
    let mut compare = |track: &Track, times: &[f64]| {
        let velocity = derivative(track, &Variable::Time).unwrap();
        let acceleration = derivative(&velocity, &Variable::Time).unwrap();
        for &t in times {
            tally.compare(track, &acceleration, t, time_derivatives(track, t, &[]).2);
        }
    };
    let times: Vec<f64> = (-4..=40).map(|k| f64::from(k) / 8.0).chain([0.1, 0.37, 2.9, 3.3]).collect();
    // where a cubic-bezier is upright there is no second derivative, and the two stop differently
    for shape in shapes().filter(|shape| !shape.to_string().starts_with("cubic-bezier(0.0,")) {
        for clock in ["t", "0.5*t^2", "0.75 + sin(t)"] {
            compare(&keys(shape, clock), &times);
        }
    }
    assert!(tally.equal() > 0.8 && tally.overflowed < 20, "{tally:?}");
}

#[test]
fn a_heading_is_exact() {
    let [x, y] =
        ["linear[0=0 1=3 2=3] + sin(t)", "catmull-rom[0=0 1=4 2=0]"].map(|s| Track::parse(s).unwrap());
    let track = exact_heading(&x, &y).unwrap();
    for k in -4..40 {
        let t = f64::from(k) / 16.0;
        assert!((track.sample(t) - heading(&x, &y, t).0).abs() < 1e-15, "at {t}");
    }
}

#[test]
fn a_long_chain_does_not_recurse() {
    let mut b = Builder::new();
    let mut x = b.clock().unwrap();
    for _ in 0..1_000_000 {
        x = b.apply(Op::SIN, &[x]).unwrap();
    }
    let track = b.finish(x).unwrap();
    let velocity = derivative(&track, &Variable::Time).unwrap();
    assert_eq!(velocity.nodes().len(), 3 * 1_000_000 - 1);
    assert_eq!(velocity.sample(0.0), 1.0);
}
