//! What simplification does, does not do, and never changes.

use keyfit_ir::arbitrary::{RandomNumber, RandomTrack};
use keyfit_ir::{Builder, HEADING_STEP, Op, Parameter, Sampler, Track, heading, same_bits};
use keyfit_rewrite::{Bounds, Cost, Options, exact_heading, simplify};
use quickcheck::{Arbitrary, Gen};

fn within(bounds: Bounds) -> Options {
    Options::with_bounds(bounds)
}

/// Simplifies, and checks the proof.
fn simplified(text: &str, options: &Options) -> String {
    let track = Track::parse(text).unwrap();
    let simplified = simplify(&track, options).unwrap();
    simplified.proof.check_about(&track, &simplified.track).unwrap();
    simplified.track.describe()
}

fn check(text: &str, expected: &str, options: &Options) {
    assert_eq!(simplified(text, options), Track::parse(expected).unwrap().describe(), "{text}");
}

#[test]
fn what_is_not_sound_for_unknown_operands_stays() {
    for text in [
        "?x=1 + 0",
        "0 - ?x=1",
        "mix(?a=1, ?b=2, 1)",
        "?x=1 * 0",
        "?x=1 - ?x",
        "?x=1 / ?x",
        "abs(?x=1)",
        "t + 0",
        "exp(ln(?x=1))",
        "(t * t) * 0",
        // exp(t) may be +0, and 0 − 0 is not −0
        "0 - exp(t)",
        // a time may be infinite
        "t * 0",
        "t - t",
    ] {
        let expected = if text.starts_with("mix") { "?a=1 + (?b=2 - ?a)" } else { text };
        check(text, expected, &Options::default());
    }
    // t·t overflows for a long clock, so inf·0 would be NaN
    check("(t * t) * 0", "(t * t) * 0", &within(Bounds::new().duration(1e200)));
}

#[test]
fn what_facts_prove_goes() {
    let clock = within(Bounds::new().duration(10.0));
    for (text, expected, options) in [
        ("exp(t) + 0", "exp(t)", &Options::default()),
        ("abs(?x=1) + 0", "abs(?x=1)", &Options::default()),
        ("0 - cosh(t)", "neg(cosh(t))", &Options::default()),
        ("clamp(t, 0, 4) * 0", "0", &Options::default()),
        ("linear[0=1]", "1", &Options::default()),
        ("?x=1 + 0", "?x=1", &within(Bounds::new().parameter("x", 1.0, 2.0))),
        ("0 - ?x=1", "neg(?x=1)", &within(Bounds::new().parameter("x", 1.0, 2.0))),
        ("?x=1 * 0", "0", &within(Bounds::new().parameter("x", 1.0, 2.0))),
        ("?x=1 - ?x", "0", &within(Bounds::new().parameter("x", -1.0, 2.0))),
        ("(t * t) * 0", "0", &clock),
        ("t - t", "0", &clock),
        ("exp(t) / exp(t)", "1", &clock),
        ("mix(floor(t), 4, 1)", "4", &clock),
        ("linear[0=?x=1]", "?x=1", &Options::default()),
        ("linear[0=1 2=1]", "1", &clock),
        ("abs(exp(t))", "exp(t)", &Options::default()),
        ("hold[0=1 1=1 2=3]", "hold[0=1 2=3]", &Options::default()),
        ("linear[0=1 2=3](clamp(t, -1, 5))", "linear[0=1 2=3]", &Options::default()),
        ("linear[0=1 2=3 11=4 20=5]", "linear[0=1 2=3 11=4]", &clock),
        ("sin(hold[0=0 1=1])", "hold[0=0 1=0.8414709848078965]", &Options::default()),
        ("mod(mod(t, 3), 3)", "mod(t, 3)", &Options::default()),
        ("min(max(t, 0), 1)", "clamp(t, 0, 1)", &Options::default()),
        ("1 * t", "t", &Options::default()),
        ("t ^ 2", "t * t", &Options::default()),
        ("?a=1 + (neg(?b=1))", "?a=1 - ?b=1", &Options::default()),
        ("smoothstep(0, 1, clamp(t, 0, 1))", "smooth(t)", &Options::default()),
        ("2 * 3 + t * (1 + 1)", "t * 2 + 6", &Options::default()),
    ] {
        check(text, expected, options);
    }
}

/// Times and parameters that a track is asked at.
fn ask(track: &Track, simple: &Track, g: &mut Gen, bounds: &Bounds, n: usize) -> usize {
    let mut values = |fact: keyfit_rewrite::Fact| {
        let x = RandomNumber::arbitrary(g).0;
        let (low, high) = fact.range().unwrap_or((0.0, 0.0));
        if fact.allows(x) { x } else { x.max(low).min(high) }
    };
    let times: Vec<f64> = (0..n).map(|_| values(bounds.clock())).collect();
    let mut asked = 0;
    for round in 0..2 {
        let parameters: Vec<(String, f64)> = track
            .free_parameters()
            .iter()
            .map(|p| {
                (p.name().to_owned(), if round == 0 { p.start() } else { values(keyfit_rewrite::Fact::ANY) })
            })
            .collect();
        let sample = |track: &Track| {
            let given: Vec<f64> = track
                .free_parameters()
                .iter()
                .map(|p| parameters.iter().find(|(name, _)| name == p.name()).unwrap().1)
                .collect();
            let mut out = vec![0.0; times.len()];
            Sampler::new(track).sample_into(&times, &given, &mut out);
            out
        };
        for ((x, y), t) in sample(track).into_iter().zip(sample(simple)).zip(&times) {
            let texts = || format!("{}\n{}\n{parameters:?}", track.describe(), simple.describe());
            assert!(same_bits(x, y), "{x:?} became {y:?} at {t:?}\n{}", texts());
            asked += 1;
        }
    }
    asked
}

#[test]
fn random_tracks_keep_every_bit_cost_no_more_and_do_not_change_again() {
    let mut g = Gen::from_size_and_seed(40, 31);
    let (mut asked, mut changed, mut dropped) = (0, 0, 0);
    for round in 0..2400_usize {
        let RandomTrack(track) = RandomTrack::arbitrary(&mut g);
        let bounds = match round % 2 {
            0 => Bounds::new(),
            _ => Bounds::new().duration(RandomNumber::arbitrary(&mut g).0.abs().min(1e300)),
        };
        // mostly the usual measure, and the others in turn
        let measure = if round % 4 < 2 { Cost::Evaluation } else { Cost::ALL[round / 4 % 4] };
        let options = Options { cost: measure, ..within(bounds.clone()) };
        let simple = simplify(&track, &options).unwrap_or_else(|e| panic!("{e}\n{}", track.describe()));
        simple.proof.check_about(&track, &simple.track).unwrap();
        dropped += simple.dropped;
        assert!(measure.of(&simple.track) <= measure.of(&track));
        changed += usize::from(simple.track != track);
        asked += ask(&track, &simple.track, &mut g, &bounds, 24);
        let again = simplify(&simple.track, &options).unwrap();
        assert_eq!(again.track, simple.track, "from {}", track.describe());
    }
    println!("{asked} values, {changed} tracks changed, {dropped} rewritings of windows dropped");
    assert!(changed > 640, "{changed} of 2400 changed");
}

/// A formula that a machine may write: mostly arithmetic, with neutral elements, folded constants and shared parts.
fn generated(nodes: usize, seed: u64) -> Track {
    let mut g = Gen::from_size_and_seed(20, seed);
    let mut b = Builder::new();
    let mut ids = vec![b.clock().unwrap(), b.constant(0.0).unwrap(), b.constant(1.0).unwrap()];
    for k in 0..5 {
        ids.push(b.free(Parameter::new(&format!("p{k}"), 1.0 + k as f64).unwrap()).unwrap());
    }
    let mut root = ids[0];
    for k in 0..nodes {
        let ops =
            [Op::ADD, Op::MUL, Op::SUB, Op::NEG, Op::MIN, Op::MAX, Op::SIN, Op::DIV, Op::ABS, Op::CLAMP];
        let op = ops[usize::from(u8::arbitrary(&mut g)) % ops.len()];
        let pick = |g: &mut Gen| match u8::arbitrary(g) % 4 {
            0 => ids[usize::from(u8::arbitrary(g)) % 8],
            1 => ids[usize::from(u16::arbitrary(g)) % ids.len()],
            _ => ids[ids.len() - 1 - usize::from(u8::arbitrary(g)) % ids.len().min(6)],
        };
        let mut operands: Vec<_> = (0..op.arity()).map(|_| pick(&mut g)).collect();
        operands[0] = root;
        root = b.apply(op, &operands).unwrap();
        ids.push(root);
        if k % 50 == 0 {
            ids.push(b.constant(k as f64).unwrap());
        }
    }
    b.finish(root).unwrap()
}

/// The measures lead to different terms.
#[test]
fn each_measure_gets_what_it_asks_for() {
    let after = |text: &str, cost: Cost| {
        let track = Track::parse(text).unwrap();
        let options = Options { cost, ..Options::with_bounds(Bounds::new().duration(10.0)) };
        let simple = simplify(&track, &options).unwrap();
        simple.proof.check_about(&track, &simple.track).unwrap();
        simple.track.describe()
    };
    // two sums are faster than a clamp on a CPU … whatever they become, each is best in its own measure
    for text in [
        "min(max(t, 1), 2)",
        "t*2",
        "(t + ?a=1) + (t + ?a)",
        "-(-t)*3",
        "exp(t)*exp(t)",
        "sin(t)/8",
        "mix(0, 8, t)",
    ] {
        let all = Cost::ALL.map(|cost| after(text, cost));
        for (i, cost) in Cost::ALL.into_iter().enumerate() {
            let own = cost.of(&Track::parse(&all[i]).unwrap());
            for other in &all {
                assert!(
                    own <= cost.of(&Track::parse(other).unwrap()),
                    "{text}: {} is not best in {}",
                    all[i],
                    cost.name()
                );
            }
        }
    }
}

#[test]
fn large_tracks_are_simplified_quickly() {
    for (nodes, seed) in [(1_000, 1), (5_000, 2)] {
        let track = generated(nodes, seed);
        let begin = std::time::Instant::now();
        let simple = simplify(&track, &Options::default()).unwrap();
        let seconds = begin.elapsed().as_secs_f64();
        println!(
            "{} nodes -> {} nodes, {} steps, {seconds:.2} s, {:?}",
            track.nodes().len(),
            simple.track.nodes().len(),
            simple.proof.steps.len(),
            simple.stopped
        );
        assert!(simple.track.nodes().len() < track.nodes().len());
    }
}

#[test]
fn a_long_chain_does_not_recurse() {
    let mut b = Builder::new();
    let mut x = b.clock().unwrap();
    let one = b.constant(1.0).unwrap();
    for k in 0..200_000 {
        x = if k % 2 == 0 { b.apply(Op::SIN, &[x]).unwrap() } else { b.apply(Op::MUL, &[x, one]).unwrap() };
    }
    let track = b.finish(x).unwrap();
    let simple = simplify(&track, &Options::default()).unwrap();
    assert_eq!(simple.track.nodes().len(), 100_001);
}

/// Half a turn is π or −π by the sign of a zero, which no rewriting may lose.
#[test]
fn headings_keep_their_half_turns() {
    use std::f64::consts::PI;
    let mut halves = [0, 0];
    for (x, y) in [
        ("-t", "0*t"),
        ("-t", "neg(0*t)"),
        ("5 - 2*t", "0"),
        ("-t", "linear[0=0 1=1e-300 2=0]"),
        ("linear[0=1 2=-1]", "hold[0=-0.0 1=0]"),
        ("cos(t)", "sin(t)*-0.0"),
    ] {
        let [x, y] = [x, y].map(|text| Track::parse(text).unwrap());
        let differences = heading(x.clone(), y.clone(), HEADING_STEP).track().unwrap();
        for track in [differences, exact_heading(&x, &y).unwrap()] {
            for options in [Options::default(), within(Bounds::new().duration(8.0))] {
                let simple = simplify(&track, &options).unwrap();
                simple.proof.check_about(&track, &simple.track).unwrap();
                for k in 0..=64 {
                    let t = f64::from(k) / 8.0;
                    let [before, after] = [track.sample(t), simple.track.sample(t)];
                    assert!(same_bits(before, after), "{}: {before} {after} at {t}", track.describe());
                    halves[0] += usize::from(before == PI);
                    halves[1] += usize::from(before == -PI);
                }
            }
        }
    }
    assert!(halves.iter().all(|n| *n > 20), "{halves:?}");
}
