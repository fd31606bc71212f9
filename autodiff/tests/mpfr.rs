//! MPFR as the judge of values and of derivatives.
#![cfg(feature = "mpfr")]

use keyfit_autodiff::mpfr::{Format, Mpfr};
use keyfit_autodiff::{Jet, correctly_rounded, evaluate, judge, local_partials};
use keyfit_ir::arbitrary::{RandomNumber, RandomTrack};
use keyfit_ir::{Op, Sampler, Scalar, same_bits};
use num_dual::HyperDualSVec64;
use quickcheck::{Arbitrary, Gen, QuickCheck};
use rug::Float;

const CASES: usize = 2000;

fn operands(g: &mut Gen) -> [f64; 3] {
    let [a, b, c] = std::array::from_fn(|_| RandomNumber::arbitrary(g).0);
    // ties and near-ties of operands are where edges are
    if u8::arbitrary(g) % 8 == 0 { [a, a, c] } else { [a, b, c] }
}

/// Every operation's value in f64 is the correctly rounded one, special values included. The composite ones go through the
/// same formula with MPFR's primitives.
#[test]
fn values_are_correctly_rounded() {
    let mut g = Gen::new(100);
    for &op in Op::ALL {
        for _ in 0..CASES {
            let x = operands(&mut g);
            let value = op.apply([&x[0], &x[1], &x[2]]);
            let exact = correctly_rounded(op, x);
            assert!(same_bits(value, exact), "{op:?} of {x:?} is {exact:?}, not {value:?}");
        }
    }
}

/// The judge rounds once: a value in the middle of two subnormals, reached from either side, and the largest double.
#[test]
fn the_judge_rounds_once() {
    let tiny = f64::from_bits(1);
    for (op, x, expected) in [
        (Op::MUL, [1.5, tiny, 0.0], 2.0 * tiny), // a tie, to even
        (Op::MUL, [0.5, tiny, 0.0], 0.0),
        (Op::MUL, [0.5 + f64::EPSILON, tiny, 0.0], tiny), // first rounding and second must not both go down
        (Op::MUL, [-0.5, tiny, 0.0], -0.0),
        (Op::DIV, [f64::MIN_POSITIVE, 1.0 + f64::EPSILON, 0.0], f64::MIN_POSITIVE.next_down()),
        (Op::ADD, [f64::MAX, f64::MAX * f64::EPSILON / 8.0, 0.0], f64::MAX),
        (Op::ADD, [f64::MAX, f64::MAX * f64::EPSILON / 2.0, 0.0], f64::INFINITY),
        (Op::EXP, [-745.2, 0.0, 0.0], 0.0),
        (Op::MOD, [-1e-20, 1.0, 0.0], 1.0 - f64::EPSILON / 2.0),
        (Op::HYPOT, [3e200, 4e200, 0.0], 4.9999999999999995e200), // of these very doubles
    ] {
        let value = correctly_rounded(op, x);
        assert!(same_bits(value, expected), "{op:?} of {x:?} is {expected:?}, not {value:?}");
    }
}

/// The same for whole tracks: the sampler is right in every bit.
#[test]
fn the_sampler_is_judged_right() {
    fn law(RandomTrack(track): RandomTrack, times: Vec<RandomNumber>) -> bool {
        times.iter().all(|t| {
            let value = Sampler::new(&track).sample_at(&t.0, &[]);
            same_bits(value, judge(&track, t.0, &[]))
        })
    }
    QuickCheck::new().tests(CASES as u64).quickcheck(law as fn(_, _) -> _);
}

/// Precision is what was asked for, from 53 bits on, and odd requests are no trap.
#[test]
fn precision_is_a_request() {
    let track = keyfit_ir::t().exp().track().expect("well formed");
    for (asked, given) in [(0, 53), (53, 53), (200, 200)] {
        assert_eq!(evaluate(&track, 1.0, &[], asked).prec(), given);
    }
    let huge = keyfit_ir::t().exp().exp().sin().track().expect("well formed");
    assert!(evaluate(&huge, 40.0, &[], 100).is_nan());
    let e = Float::with_val(200, 1).exp();
    assert_eq!(evaluate(&track, 1.0, &[], 200), e);
}

/// Difference quotients in 3000 bits with steps of 2⁻⁴⁰⁰ of the operand (2⁻¹⁵⁰⁰ at zero): where f is smooth on its
/// own scale they are its derivatives far beyond a double's last place.
const BITS: u32 = 3000;

fn steps(x: f64) -> Mpfr {
    let lift = |x| Mpfr::new(x, Format::bits(BITS));
    if x == 0.0 {
        lift(Scalar::exp2(&-750.0)).mul(&lift(Scalar::exp2(&-750.0)))
    } else {
        lift(x.abs()).mul(&lift(Scalar::exp2(&-400.0)))
    }
}

/// f with operand i displaced by `by[i]` steps.
fn displaced(op: Op, x: [f64; 3], by: [f64; 3]) -> Float {
    let [a, b, c] = std::array::from_fn(|i| {
        let h = steps(x[i]);
        h.lift(x[i]).add(&h.lift(by[i]).mul(&h))
    });
    op.apply([&a, &b, &c]).value().clone()
}

/// Whether the numbers agree to 2⁻⁶⁰, or vanish all.
fn agree(quotients: &[Float]) -> bool {
    let (first, rest) = quotients.split_first().expect("there are some");
    let tiny = Float::with_val(BITS, 1) >> 1200;
    first.is_finite()
        && rest.iter().all(|q| {
            let (size, difference) = (first.clone().abs(), Float::with_val(BITS, q - first).abs());
            q.is_finite() && (difference <= Float::with_val(BITS, &size >> 60) || difference <= tiny)
        })
}

/// ∂f/∂xᵢ, if quotients on both sides and of two sizes agree; elsewhere there is a kink, a jump or an edge.
fn slope(op: Op, x: [f64; 3], i: usize) -> Option<Float> {
    let middle = displaced(op, x, [0.0; 3]);
    let quotients = [1.0, -1.0, 2.0].map(|k| {
        let mut by = [0.0; 3];
        by[i] = k;
        (displaced(op, x, by) - &middle) / (steps(x[i]).value().clone() * k)
    });
    let [right, left, _] = &quotients;
    agree(&quotients).then(|| Float::with_val(BITS, right + left) / 2u32)
}

/// ∂²f/∂xᵢ∂xⱼ, if quotients of two sizes agree.
fn bend(op: Op, x: [f64; 3], i: usize, j: usize) -> Option<Float> {
    let quotients = [1.0, 2.0].map(|k| {
        let corner = |si: f64, sj: f64| {
            let mut by = [0.0; 3];
            by[i] += si * k;
            by[j] += sj * k;
            displaced(op, x, by)
        };
        let sum = corner(1.0, 1.0) - corner(1.0, -1.0) - corner(-1.0, 1.0) + corner(-1.0, -1.0);
        sum / (steps(x[i]).value().clone() * steps(x[j]).value() * (4.0 * k * k))
    });
    agree(&quotients).then(|| quotients[0].clone())
}

/// Whether `a` is within `ulps` of `exact`, relative to that and to `scale`; all is one beyond the largest double, and
/// `lost` units may be lost among the subnormals.
fn near(a: f64, exact: &Float, scale: f64, ulps: f64, lost: f64) -> bool {
    let exact = exact.to_f64();
    let bound = ulps * f64::EPSILON * exact.abs().max(scale) + lost * f64::from_bits(1);
    a == exact || (a - exact).abs() <= bound
}

/// Whether the operation is made of others; the easings are judged in tests of their own.
fn composite(op: Op) -> bool {
    matches!(
        op,
        Op::FRACT
            | Op::GATE
            | Op::CLAMP
            | Op::MIX
            | Op::SMOOTHSTEP
            | Op::LINEAR
            | Op::SELECT
            | Op::PING_PONG
            | Op::UNWRAP
    ) || op.is_easing()
}

/// The table's first derivatives, at arguments of every size: to 8 units in the last place; powers that are no normal
/// doubles but have a normal slope, to 1000.
#[test]
fn first_derivatives_are_exact() {
    let mut g = Gen::new(100);
    for op in Op::ALL.iter().copied().filter(|op| !composite(*op)) {
        let mut compared = 0;
        for _ in 0..CASES / 2 {
            let mut x = operands(&mut g);
            x[op.arity()..].fill(0.0);
            let value = op.apply([&x[0], &x[1], &x[2]]);
            if !value.is_finite() || x.iter().any(|x| !x.is_finite()) {
                continue;
            }
            // a step of x would be many periods
            let period = if op == Op::MOD { x[1] } else { 1.0 };
            if [Op::MOD, Op::FLOOR, Op::CEIL, Op::ROUND].contains(&op) && (x[0] / period).abs() > 1e90 {
                continue;
            }
            // of an underflown power f the slopes are y times another power and ln x > −745 times f
            let underflow = op == Op::POW && !value.is_normal();
            let (ulps, lost) = if underflow { (1000.0, 745.0 + 2.0 * x[1].abs()) } else { (8.0, 8.0) };
            let partials = local_partials(op, x);
            for (i, &p) in partials.iter().enumerate().take(op.arity()) {
                if op == Op::POW && i == 1 && x[0] < 0.0 {
                    continue; // such powers exist at whole exponents only, which huge ones remain when displaced
                }
                let Some(exact) = slope(op, x, i) else { continue };
                let found = format!("∂{i} of {op:?} at {x:?} is {:?}, not {p:?}", exact.to_f64());
                assert!(near(p, &exact, 0.0, ulps, lost), "{found}");
                compared += 1;
            }
        }
        assert!(compared > CASES / 10, "{op:?} was compared {compared} times only");
    }
}

/// The table's second derivatives, at arguments from 2⁻²⁰ to 2²⁰: to 100 units in the last place of the largest of them (and, for
/// powers, of the terms that cancel in the mixed one).
#[test]
fn second_derivatives_are_exact() {
    let mut g = Gen::new(100);
    for op in Op::ALL.iter().copied().filter(|op| !composite(*op)) {
        let mut compared = 0;
        for _ in 0..CASES / 4 {
            let x: [f64; 3] = std::array::from_fn(|_| {
                let x = (u64::arbitrary(&mut g) >> 11) as f64 * Scalar::exp2(&-53.0) + 0.5;
                let x = x * Scalar::exp2(&(f64::from(u8::arbitrary(&mut g) % 40) - 20.0));
                if bool::arbitrary(&mut g) { x } else { -x }
            });
            // half of the arguments where functions are not flat
            let x = if bool::arbitrary(&mut g) { x.map(|x| x % 2.0) } else { x };
            let x = x.map(|x| if x == 0.0 { 1.5 } else { x });
            let value = op.apply([&x[0], &x[1], &x[2]]);
            if !value.is_normal() {
                continue;
            }
            let [a, b, c] =
                std::array::from_fn(|i| Jet::<HyperDualSVec64<3, 3>>::tile_variable(x[i], Some(i), Some(i)));
            let bends = op.apply([&a, &b, &c]).0.eps1eps2.0;
            let at = |i, j| bends.map_or(0.0, |bends| bends[(i, j)]);
            // a subnormal power, times y(y − 1)
            let lost = if op == Op::POW { 8.0 + 4.0 * x[1] * x[1] } else { 8.0 };
            let mut scale = if op == Op::POW { (value / x[0]).abs() } else { 0.0 };
            for i in 0..op.arity() {
                scale = bend(op, x, i, i).map_or(scale, |exact| scale.max(exact.to_f64().abs()));
            }
            for (i, j) in [(0, 0), (0, 1), (1, 1)].into_iter().filter(|(_, j)| *j < op.arity()) {
                let Some(exact) = bend(op, x, i, j) else { continue };
                let scale = if i == j { 0.0 } else { scale };
                let p = at(i, j);
                let found = format!("∂{i}∂{j} of {op:?} at {x:?} is {:?}, not {p:?}", exact.to_f64());
                assert!(near(p, &exact, scale, 100.0, lost), "{found}");
                compared += 1;
            }
        }
        assert!(compared > CASES / 20, "{op:?} was compared {compared} times only");
    }
}
