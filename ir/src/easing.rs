//! Easings: the curves of easings.net, from (0, 0) to (1, 1).
//!
//! | family | in, for 0 < u < 1 | out | in-out |
//! | --- | --- | --- | --- |
//! | sine | 2·sin²(π·u/4) | sin(π·u/2) | sin²(π·u/2) |
//! | quad, cubic, quart, quint | u², u³ … u⁵ | mirrored | halves |
//! | expo | 2^(10·u − 10) | 1 − 2^(−10·u) | halves |
//! | circ | u²/(1 + √((1 − u)·(1 + u))) | √(u·(2 − u)) | halves |
//! | back | u²·((s + 1)·u − s), s = 1.70158 | mirrored | halves of in, with s·1.525 |
//! | elastic | −2^(10·u − 10)·sin((10·u − 10.75)·(2π/3)) | 2^(−10·u)·sin((10·u − 0.75)·(2π/3)) + 1 | halves of −2^(10·u − 10)·sin((10·u − 11.125)·(2π/4.5)) |
//! | bounce | mirrored | four parabolas | halves |
//!
//! Mirrored is 1 − f(1 − u). Halves are f(2·u)/2 below ½ and 1 − f(2·(1 − u))/2 from there on. The order of operations
//! is as written, and every one is correctly rounded; 1 − cos and 1 − √ are written so that nothing cancels. Constants
//! that no double holds are quotients, so that numbers of a higher precision have them to that precision.
//!
//! The ends are 0 and 1 by definition, also where the formula does not reach them (expo, elastic); before and after them
//! the value stays. At the ends the slope is the formula's, outside it is 0.

use std::cmp::Ordering;
use std::fmt;

use crate::number::Scalar;
use crate::op::Op;

/// An operation that is an easing, so that a segment of a keyed track can follow it.
///
/// ```
/// use keyfit_ir::{Easing, Op};
/// assert_eq!(Easing::from_word("sine-in"), Easing::new(Op::SINE_IN));
/// assert_eq!(Easing::new(Op::SIN), None);
/// assert_eq!(Easing::all().count(), 31);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Easing(Op);

impl Easing {
    /// The easing that is this operation.
    pub fn new(op: Op) -> Option<Easing> {
        op.is_easing().then_some(Easing(op))
    }

    /// The easing of this name (`sine-in`).
    pub fn from_word(word: &str) -> Option<Easing> {
        Op::from_word(word).and_then(Easing::new)
    }

    /// Every easing, in the order of the table of operations.
    pub fn all() -> impl Iterator<Item = Easing> {
        Op::ALL.iter().copied().filter_map(Easing::new)
    }

    /// The same as an operation.
    pub fn op(self) -> Op {
        self.0
    }

    /// The curve's height at `u`.
    pub fn apply<S: Scalar>(self, u: &S) -> S {
        self.0.apply([u, u, u])
    }
}

impl fmt::Display for Easing {
    /// The name, with hyphens.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.word().replace('_', "-"))
    }
}

/// `formula` between the ends, the ends' values outside and at them.
pub(crate) fn ease<S: Scalar>(u: &S, formula: impl FnOnce(&S) -> S) -> S {
    use Ordering::{Equal, Greater, Less};
    let (zero, one) = (u.lift(0.0), u.lift(1.0));
    match (u.compare(&zero), u.compare(&one)) {
        (Some(Less), _) => zero,
        (Some(Equal), _) => zero.with_derivatives_of(formula(u)),
        (_, Some(Less)) => formula(u),
        (_, Some(Equal)) => one.with_derivatives_of(formula(u)),
        (_, Some(Greater)) => one,
        (_, None) => u.lift(f64::NAN),
    }
}

/// 1 − f(1 − u)
pub(crate) fn mirrored<S: Scalar>(u: &S, f: impl FnOnce(&S) -> S) -> S {
    let one = u.lift(1.0);
    one.sub(&f(&one.sub(u)))
}

/// f(2·u)/2 below ½, 1 − f(2·(1 − u))/2 from there on.
pub(crate) fn halves<S: Scalar>(u: &S, f: impl Fn(&S) -> S) -> S {
    let [half, one, two] = [0.5, 1.0, 2.0].map(|x| u.lift(x));
    if u.compare(&half) == Some(Ordering::Less) {
        f(&two.mul(u)).div(&two)
    } else {
        one.sub(&f(&two.mul(&one.sub(u))).div(&two))
    }
}

pub(crate) fn sine_in<S: Scalar>(u: &S) -> S {
    let s = u.pi().mul(u).div(&u.lift(4.0)).sin();
    u.lift(2.0).mul(&s.mul(&s))
}

pub(crate) fn sine_out<S: Scalar>(u: &S) -> S {
    u.pi().mul(u).div(&u.lift(2.0)).sin()
}

pub(crate) fn sine_in_out<S: Scalar>(u: &S) -> S {
    let s = sine_out(u);
    s.mul(&s)
}

pub(crate) fn quad<S: Scalar>(u: &S) -> S {
    u.mul(u)
}

pub(crate) fn cubic<S: Scalar>(u: &S) -> S {
    quad(u).mul(u)
}

pub(crate) fn quart<S: Scalar>(u: &S) -> S {
    quad(&quad(u))
}

pub(crate) fn quint<S: Scalar>(u: &S) -> S {
    quart(u).mul(u)
}

pub(crate) fn expo_in<S: Scalar>(u: &S) -> S {
    let ten = u.lift(10.0);
    ten.mul(u).sub(&ten).exp2()
}

pub(crate) fn expo_out<S: Scalar>(u: &S) -> S {
    u.lift(1.0).sub(&u.lift(-10.0).mul(u).exp2())
}

pub(crate) fn circ_in<S: Scalar>(u: &S) -> S {
    let one = u.lift(1.0);
    let root = one.sub(u).mul(&one.add(u)).sqrt();
    quad(u).div(&one.add(&root))
}

pub(crate) fn circ_out<S: Scalar>(u: &S) -> S {
    u.mul(&u.lift(2.0).sub(u)).sqrt()
}

fn overshoot<S: Scalar>(u: &S, s: &S) -> S {
    quad(u).mul(&s.add(&u.lift(1.0)).mul(u).sub(s))
}

fn back_constant<S: Scalar>(u: &S) -> S {
    u.lift(170_158.0).div(&u.lift(100_000.0))
}

pub(crate) fn back<S: Scalar>(u: &S) -> S {
    overshoot(u, &back_constant(u))
}

/// The `in` whose halves are back-in-out.
pub(crate) fn back_wide<S: Scalar>(u: &S) -> S {
    overshoot(u, &back_constant(u).mul(&u.lift(61.0).div(&u.lift(40.0))))
}

/// sin((10·u − offset)·(2π/period))
fn swing<S: Scalar>(u: &S, offset: f64, period: f64) -> S {
    let rate = u.lift(2.0).mul(&u.pi()).div(&u.lift(period));
    u.lift(10.0).mul(u).sub(&u.lift(offset)).mul(&rate).sin()
}

pub(crate) fn elastic_in<S: Scalar>(u: &S) -> S {
    expo_in(u).neg().mul(&swing(u, 10.75, 3.0))
}

pub(crate) fn elastic_out<S: Scalar>(u: &S) -> S {
    u.lift(-10.0).mul(u).exp2().mul(&swing(u, 0.75, 3.0)).add(&u.lift(1.0))
}

/// The `in` whose halves are elastic-in-out.
pub(crate) fn elastic_wide<S: Scalar>(u: &S) -> S {
    expo_in(u).neg().mul(&swing(u, 11.125, 4.5))
}

/// 7.5625·(u − centre)² + floor, on four spans: up to 4/11, 8/11, 10/11 and 1.
pub(crate) fn bounce_out<S: Scalar>(u: &S) -> S {
    let below = |n: f64| u.compare(&u.lift(n).div(&u.lift(11.0))) == Some(Ordering::Less);
    let (centre, floor) = if below(4.0) {
        (0.0, 0.0)
    } else if below(8.0) {
        (6.0, 0.75)
    } else if below(10.0) {
        (9.0, 0.9375)
    } else {
        (10.5, 0.984375)
    };
    let x = u.sub(&u.lift(centre).div(&u.lift(11.0)));
    u.lift(7.5625).mul(&quad(&x)).add(&u.lift(floor))
}

pub(crate) fn bounce_in<S: Scalar>(u: &S) -> S {
    mirrored(u, bounce_out)
}

pub(crate) fn smooth<S: Scalar>(u: &S) -> S {
    quad(u).mul(&u.lift(3.0).sub(&u.lift(2.0).mul(u)))
}
