//! Forms that are series: near 0, or far out, digits cancel that a polynomial does not have in the first place.
//!
//! A track of one input x is expanded in u = x or u = 1/x as uᵉ·(c₀ + c₁u + c₂u² + …) + a·ln |u|, with a whole e, which may be
//! negative. The coefficients are those of the polynomial through its values at a few tiny u, which MPFR computes with so many digits that
//! what the polynomial leaves out does not matter (Newton's divided differences). Whether the series is one at all is seen at
//! another u. A series is used as far as it is no worse than the best form that is equal over the reals, and that form beyond.

use keyfit_autodiff::evaluate;
use keyfit_ir::{BuildError, Builder, Id, Op, Parameter, Track};
use rug::Float;

/// The precision of values and coefficients.
const BITS: u32 = 4000;
/// So many coefficients are computed, from as many values at u = 2⁻¹⁰⁰, 2⁻¹⁰¹ …
const ORDERS: usize = 9;
const FIRST: i32 = 100;
/// A coefficient so much smaller than the largest is zero: all others are known to some 2⁻⁹⁰ of it.
const ZERO: i32 = 70;
/// How well the series and the track agree at u = 2⁻⁵⁰: what is left out is some 2⁻⁴⁵⁰ of it.
const AGREEMENT: i32 = 350;
/// The largest |e|.
const POWERS: f64 = 6.0;
/// The numbers of terms with which a series becomes a form.
const TERMS: [usize; 4] = [1, 2, 4, 6];

/// The ways by which series are named among rules.
const WAYS: [(Place, &str); 2] = [(Place::Zero, "series at 0"), (Place::Infinity, "series at infinity")];

/// Whether a way among [`Improved::rules`](super::Improved) is a series, which leads to what is only nearly equal over the reals.
pub fn is_series(way: &str) -> bool {
    WAYS.iter().any(|(_, name)| *name == way)
}

/// Where a series is about.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    Zero,
    Infinity,
}

/// uᵉ·(c₀ + c₁u + …) + a·ln |u|.
#[derive(Clone, Debug, PartialEq)]
struct Series {
    power: i32,
    coefficients: Vec<f64>,
    logarithm: f64,
}

/// By how many bits a form is worse than the other one on average at these values of the input; `None` where nothing is known.
pub(super) type Worse<'a> = &'a dyn Fn(&Track, &[f64]) -> Option<f64>;

/// The series of a track of one input as forms, each with the name of the way there. The input's range is `ends`; where a series is
/// worse than `other`, that is used.
///
/// # Errors
/// None for a track that was built; see [`BuildError`].
pub(super) fn series(
    track: &Track,
    other: &Track,
    ends: [f64; 2],
    worse: Worse,
) -> Result<Vec<(Track, &'static str)>, BuildError> {
    // the clock is an input like any other
    let inputs = track.free_parameters().len() + usize::from(!track.is_time_invariant());
    if inputs != 1 {
        return Ok(Vec::new());
    }
    let mut forms: Vec<(Track, &'static str)> = Vec::new();
    for (place, name) in WAYS {
        let sides = [1.0, -1.0].map(|sign| expand(track, place, sign));
        for series in sides.iter().flatten() {
            for terms in TERMS {
                let bare = form(track, series, place, terms)?;
                let form = guarded(other, bare, place, ends, worse)?;
                if forms.iter().all(|(other, _)| *other != form) {
                    forms.push((form, name));
                }
            }
        }
    }
    Ok(forms)
}

fn power_of_two(k: i32) -> Float {
    Float::with_val(BITS, 1) << k
}

/// The track's value where |u| is 2⁻ᵏ, if it is finite.
fn value(track: &Track, place: Place, sign: f64, k: i32) -> Option<Float> {
    let x = match place {
        Place::Zero => sign * 2.0_f64.powi(-k),
        Place::Infinity => sign * 2.0_f64.powi(k),
    };
    let value = if track.is_time_invariant() {
        evaluate(track, 0.0, &[x], BITS)
    } else {
        evaluate(track, x, &[], BITS)
    };
    value.is_finite().then_some(value)
}

fn expand(track: &Track, place: Place, sign: f64) -> Option<Series> {
    let u: Vec<Float> = (0..ORDERS as i32).map(|j| power_of_two(-FIRST - j) * sign).collect();
    let mut y: Vec<Float> =
        (0..ORDERS as i32).map(|j| value(track, place, sign, FIRST + j)).collect::<Option<_>>()?;
    let mut logarithm = 0.0;
    if leading_power(&y).is_none() {
        logarithm = leading_logarithm(&y)?;
        y.iter_mut().zip(&u).for_each(|(y, u)| *y -= u.clone().abs().ln() * logarithm);
    }
    let power = leading_power(&y)?;
    let scaled = y.iter().zip(&u).map(|(y, u)| y.clone() / raised(u, power)).collect();
    let exact = polynomial(&u, scaled);
    let at = power_of_two(-FIRST / 2) * sign;
    let mut sum = exact.iter().rev().fold(Float::new(BITS), |sum, c| sum * &at + c) * raised(&at, power);
    sum += at.clone().abs().ln() * logarithm;
    let truth = value(track, place, sign, FIRST / 2)?;
    let apart = (sum - &truth).abs();
    if apart > truth.abs() >> AGREEMENT {
        return None;
    }
    let largest = exact.iter().map(|c| c.clone().abs()).reduce(|a, b| a.max(&b))? >> ZERO;
    let rounded = |c: &Float| if c.clone().abs() < largest { 0.0 } else { c.to_f64() };
    let coefficients: Vec<f64> = exact.iter().map(rounded).collect();
    coefficients.iter().all(|c| c.is_finite()).then_some(Series { power, coefficients, logarithm })
}

fn raised(u: &Float, power: i32) -> Float {
    use rug::ops::Pow;
    u.clone().pow(power)
}

/// The whole e with which the values, at u halved each time, go like uᵉ.
fn leading_power(y: &[Float]) -> Option<i32> {
    let [first, second, third, ..] = y else { return None };
    let step = |a: &Float, b: &Float| (a.clone() / b).abs().log2().to_f64();
    let (near, nearer) = (step(first, second), step(second, third));
    let power = nearer.round();
    let whole = [near, nearer].iter().all(|e| (e - power).abs() < 1e-9);
    (whole && power.abs() <= POWERS).then_some(power as i32)
}

/// The a with which the values go like a·ln |u|, if it is a double.
fn leading_logarithm(y: &[Float]) -> Option<f64> {
    let [first, second, third, ..] = y else { return None };
    let two = Float::with_val(BITS, 2).ln();
    let step = |a: &Float, b: &Float| (a.clone() - b) / &two;
    let (near, nearer) = (step(first, second), step(second, third));
    let a = nearer.to_f64();
    let agrees = |exact: Float| (exact - a).abs().to_f64() < 1e-20 * a.abs();
    (a != 0.0 && a.is_finite() && agrees(near) && agrees(nearer)).then_some(a)
}

/// The coefficients of the polynomial through the points, by Newton's divided differences.
fn polynomial(u: &[Float], mut y: Vec<Float>) -> Vec<Float> {
    let n = u.len();
    for order in 1..n {
        for k in (order..n).rev() {
            y[k] = (y[k].clone() - &y[k - 1]) / (u[k].clone() - &u[k - order]);
        }
    }
    // from c₀ + (u − u₀)(c₁ + (u − u₁)(…)) to powers of u
    let mut coefficients = vec![Float::new(BITS); n];
    for k in (0..n).rev() {
        for i in (1..n).rev() {
            coefficients[i] = coefficients[i - 1].clone() - coefficients[i].clone() * &u[k];
        }
        coefficients[0] = y[k].clone() - coefficients[0].clone() * &u[k];
    }
    coefficients
}

/// The series as far as it is no worse than the other form; alone where that is everywhere in the range.
fn guarded(
    other: &Track,
    bare: Track,
    place: Place,
    [low, high]: [f64; 2],
    worse: Worse,
) -> Result<Track, BuildError> {
    // |x| is 2 to so many eighths; where it is used for sure, and where it is to be used at the furthest
    let largest = low.abs().max(high.abs());
    let least = if low <= 0.0 && high >= 0.0 { 0.0 } else { low.abs().min(high.abs()) };
    let (mut used, mut beyond) = match place {
        Place::Zero => (-8 * FIRST, eighths(largest)),
        Place::Infinity => (8 * FIRST, eighths(least)),
    };
    let fits = |k: i32| {
        let size = core_math::exp2(f64::from(k) / 8.0);
        let beside = (0..8).map(|i| size * (1.0 + f64::from(i) / 128.0));
        let inside: Vec<f64> = beside.flat_map(|x| [x, -x]).filter(|x| (low..=high).contains(x)).collect();
        worse(&bare, &inside).is_none_or(|bits| bits <= 0.0)
    };
    if fits(beyond) {
        return Ok(bare);
    }
    while (beyond - used).abs() > 1 {
        let middle = used + (beyond - used) / 2;
        if fits(middle) { used = middle } else { beyond = middle }
    }
    let mut b = Builder::new();
    let x = input(&mut b, &bare)?;
    let (bare, other) = (b.graft(&bare)?, b.graft(other)?);
    let size = b.apply(Op::ABS, &[x])?;
    let edge = b.constant(core_math::exp2(f64::from(used) / 8.0))?;
    let reached = b.apply(Op::STEP, &[edge, size])?;
    let root = match place {
        Place::Zero => b.apply(Op::SELECT, &[reached, other, bare])?,
        Place::Infinity => b.apply(Op::SELECT, &[reached, bare, other])?,
    };
    b.finish(root)
}

/// log₂ in eighths, within what doubles have.
fn eighths(size: f64) -> i32 {
    (8.0 * core_math::log2(size)).clamp(-8.0 * 1022.0, 8.0 * 1023.0) as i32
}

/// The input of a track that has one.
fn input(b: &mut Builder, track: &Track) -> Result<Id, BuildError> {
    match track.free_parameters().first() {
        Some(p) => b.free(Parameter::clone(p)),
        None => b.clock(),
    }
}

/// The first terms of a series as a track.
fn form(track: &Track, series: &Series, place: Place, terms: usize) -> Result<Track, BuildError> {
    let mut b = Builder::new();
    let x = input(&mut b, track)?;
    let one = b.constant(1.0)?;
    let u = match place {
        Place::Zero => x,
        Place::Infinity => b.apply(Op::DIV, &[one, x])?,
    };
    let used: Vec<(usize, f64)> =
        series.coefficients.iter().copied().enumerate().filter(|(_, c)| *c != 0.0).take(terms).collect();
    // where only every second power is there, in u²
    let stride = if used.iter().all(|(k, _)| k % 2 == 0) { 2 } else { 1 };
    let w = if stride == 2 { b.apply(Op::MUL, &[u, u])? } else { u };
    let highest = used.last().map_or(0, |(k, _)| k / stride);
    let coefficient = |i: usize| used.iter().find(|(k, _)| *k == i * stride).map_or(0.0, |(_, c)| *c);
    let mut sum = b.constant(coefficient(highest))?;
    for i in (0..highest).rev() {
        sum = b.apply(Op::MUL, &[sum, w])?;
        if coefficient(i) != 0.0 {
            let c = b.constant(coefficient(i))?;
            sum = b.apply(Op::ADD, &[c, sum])?;
        }
    }
    for _ in 0..series.power.unsigned_abs() {
        let op = if series.power > 0 { Op::MUL } else { Op::DIV };
        sum = b.apply(op, &[sum, u])?;
    }
    let root = if series.logarithm == 0.0 { sum } else { logarithmic(&mut b, x, sum, series, place)? };
    b.finish(root)
}

/// `sum` and a·ln |u|.
fn logarithmic(b: &mut Builder, x: Id, sum: Id, series: &Series, place: Place) -> Result<Id, BuildError> {
    let a = if place == Place::Zero { series.logarithm } else { -series.logarithm };
    let size = b.apply(Op::ABS, &[x])?;
    let mut logarithm = b.apply(Op::LN, &[size])?;
    if a != 1.0 {
        let a = b.constant(a)?;
        logarithm = b.apply(Op::MUL, &[a, logarithm])?;
    }
    b.apply(Op::ADD, &[logarithm, sum])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str, place: Place) -> Option<Series> {
        expand(&Track::parse(text).unwrap(), place, 1.0)
    }

    #[test]
    fn known_series_are_found() {
        let sine = at("sin(?x=1)", Place::Zero).unwrap();
        assert_eq!((sine.power, sine.logarithm), (1, 0.0));
        assert_eq!(sine.coefficients[..5], [1.0, 0.0, -1.0 / 6.0, 0.0, 1.0 / 120.0]);
        // Abramowitz and Stegun, 4.3.70: cot x = 1/x − x/3 − x³/45 − …
        let cotangent = at("cos(?x=1)/sin(?x)", Place::Zero).unwrap();
        assert_eq!(cotangent.power, -1);
        assert_eq!(cotangent.coefficients[..5], [1.0, 0.0, -1.0 / 3.0, 0.0, -1.0 / 45.0]);
        // ln N + 1/(2N) − 1/(6N²) + 1/(12N³) − …
        let logs = at("(?n=1 + 1)*ln(?n + 1) - ?n*ln(?n) - 1", Place::Infinity).unwrap();
        assert_eq!((logs.power, logs.logarithm), (1, -1.0));
        assert_eq!(logs.coefficients[..3], [0.5, -1.0 / 6.0, 1.0 / 12.0]);
    }

    #[test]
    fn what_has_no_series_has_none() {
        for text in ["sqrt(?x=1)", "?x=1*ln(?x)", "exp(-1/?x=1)", "?x=1 - ?x", "1/(?x=1 - ?x)", "?x=1^0.3"] {
            assert_eq!(at(text, Place::Zero), None, "{text}");
        }
        for text in ["?x=1 + ?y=1", "3.0", "?x=1 + t"] {
            let track = Track::parse(text).unwrap();
            let forms = series(&track, &track, [-1.0, 1.0], &|_, _| Some(0.0)).unwrap();
            assert!(forms.is_empty(), "{text}");
        }
    }

    #[test]
    fn forms_are_polynomials_as_far_as_they_are_good() {
        let track = Track::parse("(1 - cos(t))/(t*t)").unwrap();
        let texts = |worse: Worse| -> Vec<String> {
            let forms = series(&track, &track, [-3.0, 3.0], worse).unwrap();
            forms.iter().map(|(track, _)| track.describe()).collect()
        };
        let polynomial = format!("ADD(0.5, MUL({:?}, MUL(t, t)))", -1.0_f64 / 24.0);
        assert_eq!(texts(&|_, _| Some(-1.0))[..2], ["0.5".to_owned(), polynomial.clone()]);
        // worse from 1 on
        let from_one = |_: &Track, x: &[f64]| x.iter().map(|x| x.abs() - 1.0).reduce(f64::max);
        let edge = core_math::exp2(-0.125);
        let guarded = format!("SELECT(STEP({edge:?}, ABS(t)), {}, {polynomial})", track.describe());
        assert_eq!(texts(&from_one)[1], guarded);
    }
}
