//! Intervals hold what they say they hold.
#![cfg(feature = "mpfr")]

use std::collections::BTreeSet;

use keyfit_autodiff::curved::{Curved, enclose};
use keyfit_autodiff::interval::{Context, Doubt, Interval};
use keyfit_autodiff::{gradient, hessian};
use keyfit_ir::arbitrary::{RandomTrack, TameNumber};
use keyfit_ir::{Node, Op, Scalar, Track};
use quickcheck::{Arbitrary, Gen};
use rug::Float;

const BITS: u32 = 120;

/// All parameters of a track as variables over intervals.
fn variables(values: &[Interval]) -> Vec<Curved> {
    values.iter().enumerate().map(|(i, x)| Curved::variable(x.clone(), i, values.len())).collect()
}

fn thin(context: &Context, x: &Float) -> Interval {
    context.between(x.clone(), x.clone())
}

/// a ∈ b, up to the rounding of a's own ends.
fn meets(a: &Interval, b: &Interval) -> bool {
    a.low() <= b.high() && b.low() <= a.high()
}

fn entry(partial: Option<&Interval>, context: &Context) -> Interval {
    partial.cloned().unwrap_or_else(|| context.exactly(0.0))
}

/// Random tracks over random boxes: values and derivatives at two points of the box lie within the box's enclosures, and
/// by the mean value theorem the value differs by no more than the gradients of the box let it, and the gradient by no more
/// than its Hessians do. At single points the derivatives are num-dual's up to rounding.
#[test]
fn enclosures_hold_values_and_mean_value_theorems() {
    let mut g = Gen::from_size_and_seed(30, 11);
    let (mut decided, mut doubts) = (0, 0);
    let mut seen = BTreeSet::new();
    while decided < 1500 {
        let RandomTrack(track) = RandomTrack::tame(&mut g);
        let t = TameNumber::arbitrary(&mut g).0;
        let starts: Vec<f64> = track.free_parameters().iter().map(|p| p.start()).collect();
        if starts.is_empty() {
            continue;
        }
        let context = Context::new(BITS);
        let width = 2.0_f64.powi(-(i32::from(u8::arbitrary(&mut g) % 60)));
        let mut within = |x: f64| {
            let r = f64::from(u8::arbitrary(&mut g)) / 255.0 * width;
            Float::with_val(BITS, x) + r
        };
        let points: [Vec<Float>; 2] = std::array::from_fn(|_| starts.iter().map(|&x| within(x)).collect());
        let wide: Vec<Interval> = starts
            .iter()
            .map(|&x| context.between(Float::with_val(BITS, x), Float::with_val(BITS, x) + width))
            .collect();
        let Ok(over) = enclose(&track, t, &variables(&wide), &context) else {
            doubts += 1;
            continue;
        };
        // what is decided over the box is decided at its points
        let [p, q] = points.each_ref().map(|point| {
            let point: Vec<Interval> = point.iter().map(|x| thin(&context, x)).collect();
            enclose(&track, t, &variables(&point), &context).expect("a part of the box")
        });
        let [from, to] = &points;
        let steps: Vec<Interval> =
            from.iter().zip(to).map(|(from, to)| thin(&context, to).sub(&thin(&context, from))).collect();
        let along = |partial: &dyn Fn(usize) -> Interval| {
            let terms = steps.iter().enumerate().map(|(j, step)| partial(j).mul(step));
            terms.fold(context.exactly(0.0), |sum, term| sum.add(&term))
        };
        for i in 0..starts.len() {
            let moved = entry(q.first(i), &context).sub(&entry(p.first(i), &context));
            let slope = along(&|j| entry(over.second(i, j), &context));
            assert!(meets(&moved, &slope), "∂{i} of {} at {t:?}", track.describe());
        }
        let (moved, reach) = (q.value().sub(p.value()), along(&|i| entry(over.first(i), &context)));
        assert!(meets(&moved, &reach), "{} at {t:?}", track.describe());
        assert!(
            meets(p.value(), over.value()) && meets(q.value(), over.value()),
            "{} at {t:?}",
            track.describe()
        );
        decided += 1;
        seen.extend(track.nodes().iter().filter_map(|node| match node {
            Node::Apply(op, _) => Some(*op),
            _ => None,
        }));
    }
    let missing: Vec<&Op> = Op::ALL.iter().filter(|op| !seen.contains(op)).collect();
    assert!(missing.is_empty(), "never decided: {missing:?} ({doubts} doubts)");
}

/// At a point, the enclosed derivatives are those of dual numbers, up to the rounding of doubles.
#[test]
fn derivatives_are_those_of_dual_numbers() {
    for (formula, at) in [
        ("?a=0.7^3 / (1 + exp(-?b=1.2*t))", 0.8),
        ("atan2(?a=0.7, ?b=-1.2) * hypot(?a=0.7, ?b=-1.2*t)", 1.7),
        ("asin(?a=0.3)*acos(?b=-0.4) + tan(?a=0.3)*tanh(?b=-0.4)", 0.0),
        ("?a=2.5^?b=1.5 + sqrt(?a=2.5)*ln(?b=1.5)", 0.0),
        ("mod(?a=7.3, ?b=2.1)^2 + exp2(?b=2.1)*cosh(?a=7.3/5)", 0.0),
        ("sinh(?a=0.7)*sin(?b=3) + cos(?a=0.7)/atan(?b=3)", 0.0),
        ("elastic_in(?a=0.4)*bounce_out(?b=0.3) + max(?a=0.4, ?b=0.3)^2", 0.0),
        ("tcb[0=?a=1 1=?b=3 2=5](t)", 0.4),
    ] {
        let track = Track::parse(formula).unwrap_or_else(|e| panic!("{formula}: {e}"));
        let values: Vec<f64> = track.free_parameters().iter().map(|p| p.start()).collect();
        let context = Context::new(BITS);
        let boxed: Vec<Interval> = values.iter().map(|&x| context.exactly(x)).collect();
        let curved = enclose(&track, at, &variables(&boxed), &context).unwrap();
        let (first, second) = (gradient(&track, at, &values), hessian(&track, at, &values));
        let close = |exact: Interval, dual: f64| {
            (exact.middle().to_f64() - dual).abs() <= 1e-13 * dual.abs().max(1e-3) && exact.width() < 1e-28
        };
        for i in 0..values.len() {
            assert!(close(entry(curved.first(i), &context), first[i]), "{formula} ∂{i}");
            for j in 0..values.len() {
                assert!(close(entry(curved.second(i, j), &context), second[(i, j)]), "{formula} ∂{i}∂{j}");
            }
        }
    }
}

/// Where a box holds a kink, a jump or a pole, the evaluation says so and is not trusted.
#[test]
fn doubts_are_named() {
    for (formula, doubt) in [
        ("abs(?a=0)", Doubt::Branch),
        ("floor(?a=3)", Doubt::Branch),
        ("step(3, ?a=3)", Doubt::Branch),
        ("max(?a=3, 3)", Doubt::Branch),
        ("mod(?a=4, 2)", Doubt::Branch),
        ("atan2(?a=0, -1)", Doubt::Branch),
        ("select(?a=0, 1, 2)", Doubt::Branch),
        ("linear[0=0 3=1 4=5](?a=3)", Doubt::Branch),
        ("1/?a=0", Doubt::Domain),
        ("ln(?a=0)", Doubt::Domain),
        ("sqrt(?a=0)", Doubt::Domain),
        ("asin(?a=1)", Doubt::Domain),
        ("tan(?a=1.5707963267948966)", Doubt::Domain),
        ("?a=0^0.5", Doubt::Domain),
        ("?a=0^(-2)", Doubt::Domain),
    ] {
        let track = Track::parse(formula).unwrap_or_else(|e| panic!("{formula}: {e}"));
        let context = Context::new(BITS);
        let x = track.free_parameters()[0].start();
        let radius = Float::with_val(BITS, 1e-9);
        let wide = context.between(Float::with_val(BITS, x) - &radius, Float::with_val(BITS, x) + &radius);
        let found = enclose(&track, 0.0, &variables(&[wide]), &context);
        assert_eq!(found.err(), Some(doubt), "{formula}");
    }
}
