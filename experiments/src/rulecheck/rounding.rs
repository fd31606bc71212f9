//! MPFR as the judge of rules: both sides computed exactly and rounded once an operation.

use std::collections::BTreeMap;

use keyfit_autodiff::mpfr::{Format, Judge, Mpfr};
use keyfit_ir::arbitrary::{RandomNumber, TameNumber};
use keyfit_ir::{Scalar, Track, same_bits};
use keyfit_rewrite::rules::Rule;
use quickcheck::{Arbitrary, Gen};

use super::{Checked, Read, generator, random_values};

/// The precision at which rules over the reals are judged, and how near the sides must be: half the digits may cancel.
const REAL_BITS: u32 = 400;
const REAL_AGREEMENT: f64 = 1e-60;

/// Both sides of a rule before a judge.
struct Sides<'a> {
    tracks: [&'a Track; 2],
    judges: [Judge; 2],
}

impl<'a> Sides<'a> {
    fn new(read: &'a Read, format: Format) -> Sides<'a> {
        let tracks = [&read.left, &read.right];
        Sides { tracks, judges: tracks.map(|track| Judge::new(track, format)) }
    }

    fn at(&mut self, values: &BTreeMap<&str, f64>) -> [Mpfr; 2] {
        let mut side = |k: usize| {
            let parameters: Vec<f64> = self.tracks[k]
                .free_parameters()
                .iter()
                .map(|p| values.get(p.name()).copied().unwrap_or(f64::NAN))
                .collect();
            self.judges[k].value(0.0, &parameters)
        };
        [side(0), side(1)]
    }
}

/// Judges a rule by correct rounding: in binary64 at random points, in binary16 at every number, or at as many random pairs.
pub(super) fn judge(read: &Read, rule: &Rule, points: usize, checked: &mut Checked) {
    if points == 0 {
        return;
    }
    let mut g = generator(rule);
    let mut double = Sides::new(read, Format::DOUBLE);
    let mut half = Sides::new(read, Format::HALF);
    for _ in 0..points {
        compare(&mut double, read, rule, &random_values(&mut g, &read.names), checked);
    }
    for bits in 0..=u16::MAX {
        let values = match read.names[..] {
            [name] => [(name, half_from(bits))].into(),
            _ => random_halves(&mut g, &read.names),
        };
        compare(&mut half, read, rule, &values, checked);
    }
}

fn compare(
    sides: &mut Sides<'_>,
    read: &Read,
    rule: &Rule,
    values: &BTreeMap<&'static str, f64>,
    checked: &mut Checked,
) {
    if !checked.holds || !read.asked(rule, values) {
        return;
    }
    let [left, right] = sides.at(values).map(|side| side.value().to_f64());
    if same_bits(left, right) {
        checked.judged += 1;
    } else {
        checked.holds = false;
        checked.notes.push(format!("by MPFR {left:?} is not {right:?} for {values:?}"));
    }
}

/// The number of binary16 with these bits.
pub(super) fn half_from(bits: u16) -> f64 {
    let (exponent, fraction) = (i32::from(bits >> 10 & 0x1f), f64::from(bits & 0x3ff));
    let magnitude = match exponent {
        0 => fraction * power_of_two(-24),
        0x1f if fraction == 0.0 => f64::INFINITY,
        0x1f => f64::NAN,
        _ => (1024.0 + fraction) * power_of_two(exponent - 25),
    };
    if bits >> 15 == 1 { -magnitude } else { magnitude }
}

fn power_of_two(exponent: i32) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

fn random_halves(g: &mut Gen, names: &[&'static str]) -> BTreeMap<&'static str, f64> {
    let special = [0, 1, 0x8000, 0x8001, 0x3c00, 0xbc00, 0x7bff, 0x7c00, 0xfc00, 0x7e00];
    let mut number = || match u8::arbitrary(g) % 4 {
        0 => *g.choose(&special).unwrap_or(&0),
        _ => u16::arbitrary(g),
    };
    names.iter().map(|name| (*name, half_from(number()))).collect()
}

/// Judges a rule over the reals: wherever both sides are finite, they agree to far more digits than any rounding explains.
pub(super) fn over_the_reals(read: &Read, rule: &Rule, points: usize, checked: &mut Checked) {
    let mut g = generator(rule);
    let mut sides = Sides::new(read, Format::bits(REAL_BITS));
    for _ in 0..points {
        let values: BTreeMap<&'static str, f64> =
            read.names.iter().map(|name| (*name, real(&mut g))).collect();
        let [left, right] = sides.at(&values);
        if !(left.value().is_finite() && right.value().is_finite()) {
            continue;
        }
        let size = left.abs().max(&right.abs()).max(&left.lift(1.0));
        let gap = left.sub(&right).abs().div(&size).value().to_f64();
        if gap > REAL_AGREEMENT {
            checked.holds = false;
            checked.notes.push(format!("the sides are apart by {gap:e} over the reals for {values:?}"));
            return;
        }
        checked.judged += 1;
    }
    if points > 0 && checked.judged == 0 {
        checked.holds = false;
        checked.notes.push("at no point are both sides finite".to_owned());
    }
}

/// An ordinary number, seldom whole: at whole numbers identities hold that do not hold elsewhere.
fn real(g: &mut Gen) -> f64 {
    let x = TameNumber::arbitrary(g).0;
    if x == x.trunc() { x + RandomNumber::arbitrary(g).0.abs().clamp(0.01, 0.99) } else { x }
}
