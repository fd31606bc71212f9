//! What a number means: the primitives that every operation is made of.
//!
//! [`Scalar`] is implemented by each kind of number that a track can be evaluated over: `f64` here, dual numbers and
//! MPFR floats in `keyfit-autodiff`. An operation's meaning ([`Op`](crate::Op)) is written once over this trait.
//!
//! For `f64` every primitive returns the correctly rounded (to nearest, ties to even) value of the exact real
//! function. `+ − × ÷ √` are so by IEEE 754; the transcendental functions come from CORE-MATH
//! (<https://core-math.gitlabpages.inria.fr>). The standard library's own are never called: their results differ
//! between platforms and even between builds.

use std::cmp::Ordering;

/// A kind of number that tracks can be evaluated over.
///
/// Angles are in radians. A method whose argument is NaN returns NaN, except where IEEE 754-2019 says otherwise
/// (`pow(x, ±0) = 1`, `pow(1, y) = 1`, `hypot(±∞, y) = +∞`).
pub trait Scalar: Clone {
    /// The constant `x` in the same context as `self` (precision, number of partials); its derivatives are zero.
    fn lift(&self, x: f64) -> Self;
    /// π, to the precision of `self`; without an own implementation, the double nearest to it.
    fn pi(&self) -> Self {
        self.lift(std::f64::consts::PI)
    }
    /// Order of the values; `None` if one of them is NaN. The two zeros are equal.
    fn compare(&self, other: &Self) -> Option<Ordering>;
    /// The value of `self` with the derivatives of `formula`: at a key's time a track *is* the key's value but moves
    /// as the segment's formula does.
    fn with_derivatives_of(&self, formula: Self) -> Self;

    /// a + b
    fn add(&self, b: &Self) -> Self;
    /// a − b
    fn sub(&self, b: &Self) -> Self;
    /// a · b
    fn mul(&self, b: &Self) -> Self;
    /// a ÷ b
    fn div(&self, b: &Self) -> Self;
    /// −x
    fn neg(&self) -> Self;
    /// |x|
    fn abs(&self) -> Self;
    /// IEEE 754-2019 minimum: −0 < +0.
    fn min(&self, b: &Self) -> Self;
    /// IEEE 754-2019 maximum: −0 < +0.
    fn max(&self, b: &Self) -> Self;
    /// x − y·⌊x/y⌋ of the exact reals, rounded once and never equal to y; see [`modulo`] for the edges.
    fn modulo(&self, y: &Self) -> Self;
    /// x to the power y, with IEEE 754-2019's special cases.
    fn pow(&self, y: &Self) -> Self;
    /// √x
    fn sqrt(&self) -> Self;
    /// eˣ
    fn exp(&self) -> Self;
    /// 2ˣ
    fn exp2(&self) -> Self;
    /// Natural logarithm.
    fn ln(&self) -> Self;
    /// Sine.
    fn sin(&self) -> Self;
    /// Cosine.
    fn cos(&self) -> Self;
    /// Tangent.
    fn tan(&self) -> Self;
    /// Arc sine, in [−π/2, π/2].
    fn asin(&self) -> Self;
    /// Arc cosine, in [0, π].
    fn acos(&self) -> Self;
    /// Arc tangent, in [−π/2, π/2].
    fn atan(&self) -> Self;
    /// Angle of the point (x, y), in [−π, π]; `self` is y.
    fn atan2(&self, x: &Self) -> Self;
    /// Hyperbolic sine.
    fn sinh(&self) -> Self;
    /// Hyperbolic cosine.
    fn cosh(&self) -> Self;
    /// Hyperbolic tangent.
    fn tanh(&self) -> Self;
    /// √(x² + y²), without overflow on the way.
    fn hypot(&self, y: &Self) -> Self;
    /// ⌊x⌋
    fn floor(&self) -> Self;
    /// ⌈x⌉
    fn ceil(&self) -> Self;
    /// The nearest integer, ties to even.
    fn round(&self) -> Self;
    /// −1, ±0 or +1, keeping the zero's sign.
    fn sign(&self) -> Self;
    /// 1 if x ≥ edge, else 0; `self` is the edge.
    fn step(&self, x: &Self) -> Self;
}

/// Floored remainder x − y·⌊x/y⌋ of the exact reals, rounded once.
///
/// The result lies in [0, y) for y > 0 and in (y, 0] for y < 0: where rounding would give y itself, the neighbour of y
/// towards zero is returned. A zero result is +0. `y = 0` and infinite x give NaN; for infinite y the result is
/// x where x lies between 0 and y, and NaN elsewhere.
///
/// ```
/// # use keyfit_ir::number::modulo;
/// assert_eq!(modulo(-0.25, 1.0), 0.75);
/// assert_eq!(modulo(-1e-20, 1.0), 1.0 - f64::EPSILON / 2.0);
/// ```
pub fn modulo(x: f64, y: f64) -> f64 {
    let r = x % y; // exact, with the sign of x; NaN for y = 0 and infinite x
    if r == 0.0 {
        0.0
    } else if r.is_nan() || (r < 0.0) == (y < 0.0) {
        r
    } else if y.is_infinite() {
        f64::NAN
    } else {
        let m = r + y;
        if m != y {
            m
        } else {
            f64::from_bits(y.to_bits() - 1) // the neighbour towards zero, for either sign
        }
    }
}

/// Whether two numbers are the same value: same bits, ±0 told apart, all NaNs one.
pub fn same_bits(a: f64, b: f64) -> bool {
    a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan())
}

impl Scalar for f64 {
    #[inline]
    fn lift(&self, x: f64) -> f64 {
        x
    }
    #[inline]
    fn compare(&self, other: &f64) -> Option<Ordering> {
        self.partial_cmp(other)
    }
    #[inline]
    fn with_derivatives_of(&self, _: f64) -> f64 {
        *self
    }
    #[inline]
    fn add(&self, b: &f64) -> f64 {
        self + b
    }
    #[inline]
    fn sub(&self, b: &f64) -> f64 {
        self - b
    }
    #[inline]
    fn mul(&self, b: &f64) -> f64 {
        self * b
    }
    #[inline]
    fn div(&self, b: &f64) -> f64 {
        self / b
    }
    #[inline]
    fn neg(&self) -> f64 {
        -self
    }
    #[inline]
    fn abs(&self) -> f64 {
        f64::abs(*self)
    }
    #[inline]
    fn min(&self, b: &f64) -> f64 {
        if self < b {
            *self
        } else if b < self {
            *b
        } else if self == b {
            f64::from_bits(self.to_bits() | b.to_bits()) // differs from both only where it tells −0 from +0
        } else {
            f64::NAN
        }
    }
    #[inline]
    fn max(&self, b: &f64) -> f64 {
        if self > b {
            *self
        } else if b > self {
            *b
        } else if self == b {
            f64::from_bits(self.to_bits() & b.to_bits())
        } else {
            f64::NAN
        }
    }
    #[inline]
    fn modulo(&self, y: &f64) -> f64 {
        modulo(*self, *y)
    }
    #[inline]
    fn pow(&self, y: &f64) -> f64 {
        // C's pow makes a NaN of these if the other operand is a signalling one; here all NaNs are one
        if *y == 0.0 || *self == 1.0 {
            1.0
        } else if *y == 2.0 {
            self * self // the same bits, sooner
        } else {
            core_math::pow(*self, *y)
        }
    }
    #[inline]
    fn sqrt(&self) -> f64 {
        f64::sqrt(*self)
    }
    #[inline]
    fn exp(&self) -> f64 {
        core_math::exp(*self)
    }
    #[inline]
    fn exp2(&self) -> f64 {
        core_math::exp2(*self)
    }
    #[inline]
    fn ln(&self) -> f64 {
        core_math::log(*self)
    }
    #[inline]
    fn sin(&self) -> f64 {
        core_math::sin(*self)
    }
    #[inline]
    fn cos(&self) -> f64 {
        core_math::cos(*self)
    }
    #[inline]
    fn tan(&self) -> f64 {
        core_math::tan(*self)
    }
    #[inline]
    fn asin(&self) -> f64 {
        core_math::asin(*self)
    }
    #[inline]
    fn acos(&self) -> f64 {
        core_math::acos(*self)
    }
    #[inline]
    fn atan(&self) -> f64 {
        core_math::atan(*self)
    }
    #[inline]
    fn atan2(&self, x: &f64) -> f64 {
        core_math::atan2(*self, *x)
    }
    #[inline]
    fn sinh(&self) -> f64 {
        core_math::sinh(*self)
    }
    #[inline]
    fn cosh(&self) -> f64 {
        core_math::cosh(*self)
    }
    #[inline]
    fn tanh(&self) -> f64 {
        core_math::tanh(*self)
    }
    #[inline]
    fn hypot(&self, y: &f64) -> f64 {
        // as for pow
        if self.is_infinite() || y.is_infinite() { f64::INFINITY } else { core_math::hypot(*self, *y) }
    }
    #[inline]
    fn floor(&self) -> f64 {
        f64::floor(*self)
    }
    #[inline]
    fn ceil(&self) -> f64 {
        f64::ceil(*self)
    }
    #[inline]
    fn round(&self) -> f64 {
        self.round_ties_even()
    }
    #[inline]
    fn sign(&self) -> f64 {
        if *self > 0.0 {
            1.0
        } else if *self < 0.0 {
            -1.0
        } else {
            *self
        }
    }
    #[inline]
    fn step(&self, x: &f64) -> f64 {
        if x >= self {
            1.0
        } else if x < self {
            0.0
        } else {
            f64::NAN
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use quickcheck::quickcheck;

    fn check(value: f64, expected: f64) {
        assert!(same_bits(value, expected), "{value:?} is not {expected:?}");
    }

    #[test]
    fn minimum_and_maximum_order_the_zeros_and_keep_nan() {
        check(Scalar::min(&0.0, &-0.0), -0.0);
        check(Scalar::min(&-0.0, &0.0), -0.0);
        check(Scalar::max(&0.0, &-0.0), 0.0);
        check(Scalar::max(&-0.0, &0.0), 0.0);
        check(Scalar::max(&-0.0, &-0.0), -0.0);
        check(Scalar::min(&f64::NAN, &1.0), f64::NAN);
        check(Scalar::max(&1.0, &f64::NAN), f64::NAN);
        check(Scalar::min(&-3.0, &-3.0), -3.0);
        check(Scalar::max(&f64::NEG_INFINITY, &-2.0), -2.0);
    }

    #[test]
    fn modulo_is_the_floored_remainder_rounded_once() {
        for (x, y, expected) in [
            (-0.25, 1.0, 0.75),
            (-1.0, 1.0, 0.0),
            (-1.5, 1.0, 0.5),
            (-0.0, 1.0, 0.0),
            (5.5, -2.0, -0.5),
            (-1e-300, 2.0, 2.0 - f64::EPSILON),
            (1e-300, -2.0, -2.0 + f64::EPSILON),
            // the exact remainders of these very doubles (case D5 of the collected animation bugs)
            (1e15 + 0.25, 0.7, 0.013441315692866107),
            (1.0, 0.1, 0.09999999999999995),
            (9_007_199_254_740_992.0, 3.0, 2.0),
            (1.0, 0.0, f64::NAN),
            (f64::INFINITY, 1.0, f64::NAN),
            (3.0, f64::INFINITY, 3.0),
            (-3.0, f64::INFINITY, f64::NAN),
            (-3.0, f64::NEG_INFINITY, -3.0),
            (1.0, f64::NAN, f64::NAN),
        ] {
            check(modulo(x, y), expected);
        }
    }

    #[test]
    fn special_cases_of_ieee_754_2019() {
        check(f64::NAN.pow(&0.0), 1.0);
        check(Scalar::pow(&1.0, &f64::NAN), 1.0);
        check(Scalar::pow(&-1.0, &f64::INFINITY), 1.0);
        check(Scalar::pow(&-0.0, &-3.0), f64::NEG_INFINITY);
        check(Scalar::pow(&-8.0, &0.5), f64::NAN);
        check(Scalar::atan2(&0.0, &-0.0), std::f64::consts::PI);
        check(Scalar::atan2(&-0.0, &-1.0), -std::f64::consts::PI);
        check(Scalar::atan2(&0.0, &0.0), 0.0);
        check(Scalar::hypot(&f64::INFINITY, &f64::NAN), f64::INFINITY);
        check(Scalar::hypot(&3e200, &4e200), 4.9999999999999995e200); // of these very doubles
        let signalling = f64::from_bits(0x7ff0_0000_0000_0001);
        check(Scalar::pow(&signalling, &-0.0), 1.0);
        check(Scalar::pow(&1.0, &signalling), 1.0);
        check(Scalar::hypot(&signalling, &f64::NEG_INFINITY), f64::INFINITY);
        check(Scalar::round(&2.5), 2.0);
        check(Scalar::round(&-0.5), -0.0);
        check(Scalar::sign(&-0.0), -0.0);
        check(Scalar::step(&0.0, &-0.0), 1.0);
        check(Scalar::step(&0.0, &f64::NAN), f64::NAN);
    }

    quickcheck! {
        fn correct_rounding_makes_symmetries_theorems(x: f64, y: f64) -> bool {
            same_bits(Scalar::sin(&-x), -Scalar::sin(&x))
                && same_bits(Scalar::pow(&x, &2.0), x * x)
                && same_bits(Scalar::hypot(&x, &y), Scalar::hypot(&y, &x))
        }

        fn modulo_stays_below_the_modulus(x: f64, y: f64) -> bool {
            let m = modulo(x, y);
            m.is_nan() || (if y > 0.0 { 0.0 <= m && m < y } else { y < m && m <= 0.0 })
        }
    }
}
