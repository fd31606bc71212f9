//! A track at fixed times has the sampler's values and the jets' derivatives, whichever way it is evaluated.

use keyfit_autodiff::{Curvature, Evaluator, Jacobian};
use keyfit_ir::arbitrary::RandomTrack;
use keyfit_ir::number::same_bits;
use keyfit_ir::{Builder, Id, Op, Parameter, Sampler, Track};
use ndarray::{Array2, ShapeBuilder};
use quickcheck::{Arbitrary, Gen, quickcheck};

/// Values and partials of both ways are the same, but for the sign of a zero partial.
fn agrees(track: &Track, times: &[f64], parameters: &[f64]) -> Result<(), String> {
    let mut evaluator = Evaluator::new(track, times);
    let mut sampler = Sampler::new(track);
    let mut jacobian = Jacobian::new(track);
    let n = track.free_parameters().len();
    // the second round begins with other parameters, and asks for the partials first
    for (round, shift) in [0.0, 0.5, 0.5, -1.0].into_iter().enumerate() {
        let parameters: Vec<f64> = parameters.iter().map(|p| p + shift).collect();
        let (mut values, mut expected) = (vec![0.0; times.len()], vec![0.0; times.len()]);
        let mut partials = Array2::from_elem((times.len(), n).f(), f64::NAN);
        let mut take = |column: usize, first: usize, own: &[f64]| {
            own.iter().enumerate().for_each(|(i, d)| partials[[first + i, column]] = *d);
        };
        if round % 2 == 0 {
            evaluator.values(&parameters, &mut values);
            evaluator.partials(&parameters, &mut take);
        } else {
            evaluator.partials(&parameters, &mut take);
            evaluator.values(&parameters, &mut values);
        }
        sampler.sample_into(times, &parameters, &mut expected);
        for (i, (found, expected)) in values.iter().zip(&expected).enumerate() {
            if !same_bits(*found, *expected) {
                return Err(format!(
                    "{}: {found:?}, not {expected:?} at {} of {parameters:?}",
                    track.describe(),
                    times[i]
                ));
            }
        }
        let mut jets = Array2::zeros((times.len(), n));
        jacobian.fill(times, &parameters, &mut [], jets.view_mut());
        for ((at, found), expected) in partials.indexed_iter().zip(&jets) {
            if !(found == expected || same_bits(*found, *expected)) {
                return Err(format!(
                    "{}: partial {at:?} is {found:?}, not {expected:?}, at {parameters:?}",
                    track.describe()
                ));
            }
        }
    }
    Ok(())
}

fn holds(result: Result<(), String>) -> bool {
    result.map_err(|message| eprintln!("{message}")).is_ok()
}

/// A track of smooth operations, of three parameters, the time and a column of data.
#[derive(Clone, Debug)]
struct Smooth(Track);

const SMOOTH: [Op; 22] = [
    Op::ADD,
    Op::SUB,
    Op::MUL,
    Op::DIV,
    Op::POW,
    Op::ATAN2,
    Op::HYPOT,
    Op::NEG,
    Op::ABS,
    Op::SQRT,
    Op::EXP,
    Op::EXP2,
    Op::LN,
    Op::SIN,
    Op::COS,
    Op::TAN,
    Op::ASIN,
    Op::ACOS,
    Op::ATAN,
    Op::SINH,
    Op::COSH,
    Op::TANH,
];

fn random(g: &mut Gen, ops: &[Op]) -> Option<Track> {
    let mut builder = Builder::new();
    let mut ids: Vec<Id> = Vec::new();
    for (name, start) in [("a", 1.0), ("b", 2.0), ("c", -1.0)] {
        ids.push(builder.free(Parameter::new(name, start).ok()?).ok()?);
    }
    ids.push(builder.clock().ok()?);
    ids.push(builder.constant(f64::from(i8::arbitrary(g) % 4)).ok()?);
    for _ in 0..1 + usize::arbitrary(g) % 20 {
        let op = *g.choose(ops)?;
        // deep rather than wide: often the last one
        let mut operand = || if bool::arbitrary(g) { ids.last().copied() } else { g.choose(&ids).copied() };
        let operands: Vec<Id> = (0..op.arity()).map(|_| operand()).collect::<Option<_>>()?;
        ids.push(builder.apply(op, &operands).ok()?);
    }
    builder.finish(*ids.last()?).ok()
}

impl Arbitrary for Smooth {
    fn arbitrary(g: &mut Gen) -> Smooth {
        loop {
            if let Some(track) = random(g, &SMOOTH) {
                return Smooth(track);
            }
        }
    }
}

/// A polynomial, whose derivatives at small whole numbers are exact.
#[derive(Clone, Debug)]
struct Polynomial(Track);

impl Arbitrary for Polynomial {
    fn arbitrary(g: &mut Gen) -> Polynomial {
        loop {
            if let Some(track) = random(g, &[Op::ADD, Op::SUB, Op::MUL, Op::NEG]) {
                return Polynomial(track);
            }
        }
    }
}

fn hessians(track: &Track, times: &[f64], weights: &[f64]) -> [Array2<f64>; 2] {
    let n = track.free_parameters().len();
    let [mut found, mut expected] = [0, 1].map(|_| Array2::zeros((n, n)));
    Evaluator::new(track, times).add_weighted(&[], weights, found.view_mut());
    Curvature::new(track).add_weighted(times, &[], weights, expected.view_mut());
    [found, expected]
}

quickcheck! {
    fn smooth_tracks_agree(track: Smooth, times: Vec<i8>, a: i8, b: f64) -> bool {
        let times: Vec<f64> = times.into_iter().map(|t| f64::from(t) / 8.0).collect();
        holds(agrees(&track.0, &times, &[f64::from(a % 5), b]))
    }

    fn all_tracks_agree(track: RandomTrack, times: Vec<i8>, a: i8) -> bool {
        let times: Vec<f64> = times.into_iter().map(|t| f64::from(t) / 8.0).collect();
        holds(agrees(&track.0, &times, &[f64::from(a) / 4.0]))
    }

    fn hessians_of_polynomials_are_exact(track: Polynomial) -> bool {
        let [found, expected] = hessians(&track.0, &[0.0, 1.0, -2.0, 3.0], &[1.0, -2.0, 1.0, 0.0]);
        let whole = expected.iter().all(|x| x.abs() < 1e12);
        !whole || found == expected
    }

    fn hessians_are_finite_together(track: Smooth) -> bool {
        let [found, expected] = hessians(&track.0, &[0.25, 1.0, 1.5], &[1.0, -2.0, 0.5]);
        found.iter().zip(&expected).all(|(f, e)| f.is_finite() == e.is_finite() && f.is_nan() <= e.is_nan())
    }
}

/// More times than a block has, a column of data, and terms that do not vary with time.
const MODELS: [&str; 14] = [
    "?a=1.5*exp(-?b=0.3*t) + ?c=2",
    "(?a=1 + ?b=2*t + ?c=0.5*t^2 + ?d=0.1*t^3)/(1 + ?e=0.2*t + ?f=0.03*t^2)",
    "?a=2*(?b=3 + t)^(-1/?c=0.8)",
    "?a=2*?b=3*t + ?a=2^?b=3 + hypot(?a=2, ?b=3*t)",
    "atan2(?a=1*t + 1, ?b=2)*t + atan(?b=2/(t + ?a=1))",
    "?a=1/(1 + exp(?b=2 - ?c=0.4*t))^(1/?d=1.3)",
    "exp(-((t - ?m=4)/?s=2)^2)*?h=3 + exp(-?k=0.2*t)*?p=5",
    "ln(?a=3 + t^2)*sqrt(?b=2 + t) - exp2(?c=0.2*t)",
    "sinh(?a=0.2*t) + cosh(?b=0.1*t) - tanh(?c=0.3*t)",
    "asin(?a=0.3) + acos(?b=0.1*sin(t)) + tan(?c=0.2*cos(t))",
    "abs(?a=-2*t)*sin(?b=2*t + ?c=0.5) + cos(?b=2*?c=0.5)",
    "?a=1*cos(2*pi*t/12) + ?b=2*sin(2*pi*t/?c=11) + ?d=3",
    "linear[0=1 5=4 9=2](t)*?a=2 + ?b=1^linear[0=1 5=2](t)",
    "t^?a=1.5 + (?b=2*t)^2 + ?c=3/t",
];

#[test]
fn models_of_data_agree() {
    let times: Vec<f64> = (0..300).map(|k| 0.03 * f64::from(k) + 0.01).collect();
    for model in MODELS {
        agrees(&Track::parse(model).unwrap(), &times, &[]).unwrap();
    }
}

/// Within 1e-13 of the sum of the sizes of the Hessians' entries over the times.
#[test]
fn hessians_of_models_agree() {
    let times: Vec<f64> = (0..300).map(|k| 0.03 * f64::from(k) + 0.01).collect();
    let weights: Vec<f64> = (0..300).map(|k| (f64::from(k) * 0.7).fract() - 0.4).collect();
    for model in MODELS {
        let track = Track::parse(model).unwrap();
        let [found, expected] = hessians(&track, &times, &weights);
        let mut sizes = Array2::<f64>::zeros(found.dim());
        for (t, w) in times.iter().zip(&weights) {
            let [_, one] = hessians(&track, &[*t], &[*w]);
            sizes += &one.mapv(f64::abs);
        }
        for ((at, found), (expected, size)) in found.indexed_iter().zip(expected.iter().zip(&sizes)) {
            assert!((found - expected).abs() <= 1e-13 * size, "{model} {at:?}: {found:?}, not {expected:?}");
            assert!(
                found.is_finite() && same_bits(*found, hessians(&track, &times, &weights)[0][[at.1, at.0]])
            );
        }
    }
}

/// What the plain products make NaN is asked of the jets: an infinite slope of what does not move, a weight of zero.
#[test]
fn what_is_not_finite_is_that_of_the_jets() {
    for model in
        ["sqrt(?a=0*t) + ?b=1*t", "abs(?a=0)^0.5*t", "ln(?a=0*t)", "(?a=0*t)^?b=0.5", "1/(?a=1e-300*t)^2"]
    {
        agrees(&Track::parse(model).unwrap(), &[0.0, 1.0, 2.0], &[0.0, 1.0]).unwrap();
    }
    let track = Track::parse("sqrt(?a=0*t)").unwrap();
    let [found, expected] = hessians(&track, &[1.0, 2.0], &[0.0, 0.0]);
    assert_eq!((found[[0, 0]], expected[[0, 0]]), (0.0, 0.0));
}

/// The most that is kept is a limit of memory, not of what can be asked.
#[test]
fn very_many_times_are_evaluated_without_keeping_them() {
    let times: Vec<f64> = (0..200_001).map(|k| 1e-4 * f64::from(k)).collect();
    let track = Track::parse("?a=1*exp(-?b=0.5*t)*sin(?c=2*t) + ?a=1*t").unwrap();
    agrees(&track, &times, &[]).unwrap();
}
