//! Checks of the laws by which solvers prove the hard rules: at every number of binary16, and at random doubles.

use keyfit_autodiff::mpfr::{Format, Mpfr};
use keyfit_ir::arbitrary::RandomNumber;
use keyfit_ir::{Op, Scalar, same_bits};
use keyfit_rewrite::smt::laws::{Domain, Law, all_laws};
use quickcheck::{Arbitrary, Gen};

use super::rounding::half_from;

/// What came of one law.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckedLaw {
    /// What it says.
    pub statement: String,
    /// Why it is so.
    pub why: &'static str,
    /// The rule that says the same, and with it its proof.
    pub rule: Option<&'static str>,
    /// Points at which it was seen to hold, in binary16 and in binary64.
    pub points: [u64; 2],
    /// Where it does not hold.
    pub fault: Option<String>,
}

/// Checks every law that is used; in binary64 at so many points each.
pub fn check_laws(points: usize) -> Vec<CheckedLaw> {
    all_laws().into_iter().map(|(op, law)| check_law(op, law, points)).collect()
}

/// Checks one law.
pub fn check_law(op: Op, law: Law, points: usize) -> CheckedLaw {
    let (statement, why) = law.texts(op);
    let mut checked = CheckedLaw { statement, why, rule: law.rule(op), points: [0, 0], fault: None };
    let mut g = Gen::from_size_and_seed(20, op as u64 + 1);
    let double = |x: f64, c: f64| op.apply([&x, &c, &c]);
    for _ in 0..points {
        let [x, c] = [(); 2].map(|()| RandomNumber::arbitrary(&mut g).0);
        checked.look(op, law, [x, next_up(x)], c, &double, 1);
        if checked.fault.is_some() {
            return checked;
        }
    }
    if points > 0 {
        checked.every_half(op, law);
    }
    checked
}

/// The next number, −0 before +0; infinity and NaN have none.
fn next_up(x: f64) -> f64 {
    if x == 0.0 && x.is_sign_negative() {
        0.0
    } else if x == 0.0 {
        f64::from_bits(1)
    } else if x == -f64::from_bits(1) {
        -0.0
    } else {
        x.next_up()
    }
}

impl CheckedLaw {
    /// In binary16: a function at all numbers; a sum or product of all numbers with some, for a law of order with every
    /// 61st. The count of numbers has no factor in common with these steps.
    fn every_half(&mut self, op: Op, law: Law) {
        let judged = |x: f64, c: f64| {
            let [x, c] = [x, c].map(|x| Mpfr::new(x, Format::HALF));
            op.apply([&x, &c, &c]).value().to_f64()
        };
        // sums and products of two such numbers are doubles
        let arithmetic = |x: f64, c: f64| to_half(op.apply([&x, &c, &c]));
        // from −∞ to ∞: negative numbers by falling bits
        let ascending = (0xfc00..=0xfc00_u16).chain((0x8000..0xfc00).rev()).chain(0..=0x7c00);
        let ascending: Vec<f64> = ascending.map(half_from).collect();
        let others: Vec<f64> = match op.arity() {
            1 => vec![0.0],
            _ => (0..=u16::MAX)
                .step_by(if matches!(law, Law::Rises | Law::Falls) { 61 } else { 4099 })
                .map(half_from)
                .collect(),
        };
        // a remainder is rounded so as not to reach the second operand, at its own width: looked at as a double
        let double = |x: f64, c: f64| op.apply([&x, &c, &c]);
        let value: &dyn Fn(f64, f64) -> f64 = match (op.arity(), law) {
            (1, _) => &judged,
            (_, Law::Remains) => &double,
            _ => &arithmetic,
        };
        for c in others {
            for pair in ascending.windows(2) {
                let &[x, next] = pair else { continue };
                self.look(op, law, [x, next], c, value, 0);
                if self.fault.is_some() {
                    return;
                }
            }
        }
    }

    /// Looks at a number and the next one, with the same second operand.
    fn look(
        &mut self,
        op: Op,
        law: Law,
        [x, next]: [f64; 2],
        c: f64,
        value: &dyn Fn(f64, f64) -> f64,
        format: usize,
    ) {
        let inside = |x: f64| !x.is_nan() && Law::domain(op).is_none_or(|domain| domain.holds(x, c));
        let in_order = |low: f64, high: f64| !low.is_nan() && !high.is_nan() && low.total_cmp(&high).is_le();
        let holds = match law {
            Law::Any => true,
            Law::Commutes => same_bits(value(x, c), value(c, x)),
            Law::Neutral => same_bits(value(x, 1.0), x),
            Law::Strict if op.arity() == 1 => value(f64::NAN, c).is_nan(),
            Law::Strict => value(f64::NAN, c).is_nan() && value(x, f64::NAN).is_nan(),
            Law::Rises | Law::Falls if x < 0.0 && Law::domain(op) == Some(Domain::NotBelowZero) => {
                value(x, c).is_nan()
            }
            Law::Rises | Law::Falls if !(inside(x) && inside(next)) => return,
            Law::Rises => in_order(value(x, c), value(next, c)),
            Law::Falls => in_order(value(next, c), value(x, c)),
            Law::Remains => {
                let lies = |x: f64| {
                    let negative_zero = x == 0.0 && x.is_sign_negative();
                    !negative_zero && ((0.0 <= x && x < c) || (c < x && x <= 0.0))
                };
                let value = value(x, c);
                (value.is_nan() || lies(value)) && (!lies(x) || same_bits(value, x))
            }
        };
        if holds {
            self.points[format] += 1;
        } else {
            self.fault = Some(format!("not for {x:?}, {next:?} and {c:?}"));
        }
    }
}

/// The nearest number of binary16, ties to even.
fn to_half(x: f64) -> f64 {
    let magnitude = Scalar::abs(&x);
    if !magnitude.is_finite() {
        return x;
    }
    // adding a number whose last place is the last place of the result rounds there
    let exponent = ((magnitude.to_bits() >> 52) as i64 - 1023).max(-14);
    let shift = f64::from_bits(((exponent - 10 + 52 + 1023) as u64) << 52);
    let rounded = (magnitude + shift) - shift;
    (if rounded > 65504.0 { f64::INFINITY } else { rounded }).copysign(x)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_false_law_is_found() {
        for (op, law) in [
            (Op::SUB, Law::Commutes),
            (Op::ADD, Law::Neutral),
            (Op::COSH, Law::Rises),
            (Op::EXP, Law::Falls),
            (Op::MUL, Law::Remains),
        ] {
            assert!(check_law(op, law, 1000).fault.is_some(), "{op:?} {law:?}");
        }
    }

    #[test]
    fn the_nearest_half_is_that_of_mpfr() {
        let mut g = Gen::from_size_and_seed(20, 5);
        for _ in 0..20_000 {
            let x = half_from(u16::arbitrary(&mut g)) * half_from(u16::arbitrary(&mut g));
            let judge = Mpfr::new(x, Format::HALF).value().to_f64();
            assert!(same_bits(to_half(x), judge), "{x:?}: {:?}, {judge:?}", to_half(x));
        }
        for bits in 0..=u16::MAX {
            assert!(same_bits(to_half(half_from(bits)), half_from(bits)));
        }
    }
}
