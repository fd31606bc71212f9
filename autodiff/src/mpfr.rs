//! Evaluation with MPFR: at any precision, or rounded to double after every primitive.

use std::cmp::Ordering;

use keyfit_ir::{MAX_ARITY, Op, Sampler, Scalar, Track};
use rug::Float;
use rug::float::{Constant, Round};
use rug::ops::{AssignRound, Pow};

/// The precision of a double.
const DOUBLE: u32 = f64::MANTISSA_DIGITS;
/// The largest precision that [`Format::bits`] gives, two megabytes a number.
const MAX_BITS: u32 = 1 << 24;
/// Sine, cosine and tangent of numbers from 2 to this power on are not computed: that would take π to as many bits.
const MAX_ANGLE: i32 = 1 << 16;

/// How the numbers of an evaluation are rounded, to nearest and ties to even.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    bits: u32,
    /// The exponent from which on numbers are infinite, in a format of IEEE 754; with it come its subnormal numbers.
    overflow: Option<i32>,
}

impl Format {
    /// IEEE 754 binary64 with its subnormal and infinite range: then every primitive is what a double's must be.
    pub const DOUBLE: Format = Format { bits: DOUBLE, overflow: Some(f64::MAX_EXP) };

    /// IEEE 754 binary16 with its subnormal and infinite range. There are 65,536 such numbers, so all can be tried.
    pub const HALF: Format = Format { bits: 11, overflow: Some(16) };

    /// Significands of `precision` bits and MPFR's range of exponents. At least a double's 53 are taken, so that all
    /// constants are exact, and at most 2²⁴.
    pub fn bits(precision: u32) -> Format {
        Format { bits: precision.clamp(DOUBLE, MAX_BITS), overflow: None }
    }
}

/// An MPFR number as a [`Scalar`]. Every primitive is the exact real function rounded once, with the special cases of
/// f64's.
///
/// One exception keeps every evaluation short: sine, cosine and tangent of numbers from 2⁶⁵⁵³⁶ on, which no double
/// reaches, are NaN.
///
/// ```
/// use keyfit_autodiff::mpfr::{Format, Mpfr};
/// use keyfit_ir::Scalar;
/// let x = Mpfr::new(0.1, Format::DOUBLE);
/// assert_eq!(x.sin().value().to_f64(), Scalar::sin(&0.1));
/// ```
#[derive(Clone, Debug)]
pub struct Mpfr {
    value: Float,
    format: Format,
}

impl Mpfr {
    /// The number `x`; exactly, unless the format is narrower than a double.
    pub fn new(x: f64, format: Format) -> Mpfr {
        let near = Mpfr::near(x, format);
        if format.bits >= DOUBLE { near } else { near.round(x) }
    }

    /// The number with this many bits, if it is within the format's range.
    fn near(x: f64, format: Format) -> Mpfr {
        Mpfr { value: Float::with_val(format.bits, x), format }
    }

    /// Its value.
    pub fn value(&self) -> &Float {
        &self.value
    }

    /// The exact result that `exact` stands for, rounded.
    fn round<T>(&self, exact: T) -> Mpfr
    where
        Float: AssignRound<T, Round = Round, Ordering = Ordering>,
    {
        let (mut value, direction) = Float::with_val_round(self.format.bits, exact, Round::Nearest);
        if let Some(overflow) = self.format.overflow {
            // with the direction of the first rounding, the second one into the subnormals is as if it were the only one
            value.subnormalize_ieee_round(direction, Round::Nearest);
            if value.get_exp().is_some_and(|exp| exp > overflow) {
                let infinity = if value.is_sign_negative() { f64::NEG_INFINITY } else { f64::INFINITY };
                return Mpfr::near(infinity, self.format);
            }
        }
        Mpfr { value, format: self.format }
    }

    /// Sine, cosine or tangent, where its argument can be reduced.
    fn angle<T>(&self, exact: T) -> Mpfr
    where
        Float: AssignRound<T, Round = Round, Ordering = Ordering>,
    {
        if self.value.get_exp().is_some_and(|exp| exp > MAX_ANGLE) {
            self.lift(f64::NAN)
        } else {
            self.round(exact)
        }
    }

    /// `self` if it is the first in the order in which −0 < +0, else `other`; NaN if either is.
    fn first(&self, other: &Mpfr, order: Ordering) -> Mpfr {
        let zeros = other.value.is_sign_negative().cmp(&self.value.is_sign_negative());
        match self.compare(other) {
            None => self.lift(f64::NAN),
            Some(Ordering::Equal) if zeros == order => self.clone(),
            Some(Ordering::Equal) => other.clone(),
            Some(found) if found == order => self.clone(),
            Some(_) => other.clone(),
        }
    }
}

macro_rules! rounded {
    ($($name:ident $exact:ident)+) => {$(
        fn $name(&self) -> Mpfr {
            self.round(self.value.$exact())
        }
    )+};
}
macro_rules! rounded2 {
    ($($name:ident($a:ident, $b:ident) = $exact:expr;)+) => {$(
        fn $name(&self, other: &Mpfr) -> Mpfr {
            let ($a, $b) = (&self.value, &other.value);
            self.round($exact)
        }
    )+};
}
macro_rules! angles {
    ($($name:ident $exact:ident)+) => {$(
        fn $name(&self) -> Mpfr {
            self.angle(self.value.$exact())
        }
    )+};
}

impl Scalar for Mpfr {
    fn lift(&self, x: f64) -> Mpfr {
        Mpfr::new(x, self.format)
    }
    fn pi(&self) -> Mpfr {
        self.round(Constant::Pi)
    }
    fn compare(&self, other: &Mpfr) -> Option<Ordering> {
        self.value.partial_cmp(&other.value)
    }
    fn with_derivatives_of(&self, _: Mpfr) -> Mpfr {
        self.clone()
    }
    rounded! {
        abs abs_ref  sqrt sqrt_ref  exp exp_ref  exp2 exp2_ref  ln ln_ref  asin asin_ref  acos acos_ref  atan atan_ref
        sinh sinh_ref  cosh cosh_ref  tanh tanh_ref  floor floor_ref  ceil ceil_ref  round round_even_ref
    }
    angles! { sin sin_ref  cos cos_ref  tan tan_ref }
    rounded2! {
        add(a, b) = a + b;
        sub(a, b) = a - b;
        mul(a, b) = a * b;
        div(a, b) = a / b;
        pow(x, y) = x.pow(y);
        atan2(y, x) = y.atan2_ref(x);
        hypot(x, y) = x.hypot_ref(y);
    }
    fn neg(&self) -> Mpfr {
        self.round(-&self.value)
    }
    fn min(&self, b: &Mpfr) -> Mpfr {
        self.first(b, Ordering::Less)
    }
    fn max(&self, b: &Mpfr) -> Mpfr {
        self.first(b, Ordering::Greater)
    }
    fn modulo(&self, y: &Mpfr) -> Mpfr {
        let y = &y.value;
        // The remainder with the sign of x. It is exact: a whole multiple of the operands' last places, smaller than y.
        let r = self.round(&self.value % y);
        if r.value.is_zero() {
            self.lift(0.0)
        } else if r.value.is_nan() || r.value.is_sign_negative() == y.is_sign_negative() {
            if y.is_nan() { self.lift(f64::NAN) } else { r }
        } else if y.is_infinite() {
            self.lift(f64::NAN)
        } else {
            let mut m = self.round(&r.value + y);
            if m.value == *y {
                m.value.next_toward(&self.lift(0.0).value);
            }
            m
        }
    }
    fn sign(&self) -> Mpfr {
        match self.value.cmp0() {
            Some(Ordering::Less) => self.lift(-1.0),
            Some(Ordering::Greater) => self.lift(1.0),
            _ => self.clone(),
        }
    }
    fn step(&self, x: &Mpfr) -> Mpfr {
        match x.compare(self) {
            Some(Ordering::Less) => self.lift(0.0),
            Some(_) => self.lift(1.0),
            None => self.lift(f64::NAN),
        }
    }
}

/// The value of `track` at time `t`, every primitive rounded to `precision` bits (from 53 to 2²⁴); parameters as for the
/// sampler.
///
/// ```
/// let track = keyfit_ir::t().sin().track()?;
/// let value = keyfit_autodiff::evaluate(&track, 1.0, &[], 120);
/// assert!(value.to_string().starts_with("8.41470984807896506652502321630298"));
/// # Ok::<(), keyfit_ir::BuildError>(())
/// ```
pub fn evaluate(track: &Track, t: f64, parameters: &[f64], precision: u32) -> Float {
    Judge::new(track, Format::bits(precision)).value(t, parameters).value
}

/// The value of `track` at time `t` as the definition of its operations has it: every primitive computed by MPFR and
/// rounded to double. Any backend can be held against it, bit by bit.
pub fn judge(track: &Track, t: f64, parameters: &[f64]) -> f64 {
    Judge::new(track, Format::DOUBLE).value(t, parameters).value.to_f64()
}

/// A track that is judged at many points, in any format.
#[derive(Debug)]
pub struct Judge {
    sampler: Sampler<Mpfr>,
    format: Format,
}

impl Judge {
    /// Judges `track` with every primitive rounded to `format`.
    pub fn new(track: &Track, format: Format) -> Judge {
        Judge { sampler: Sampler::new(track), format }
    }

    /// The value at time `t`, with parameters as for the sampler; all of these are rounded to the format first.
    ///
    /// ```
    /// use keyfit_autodiff::mpfr::{Format, Judge};
    /// let track = keyfit_ir::Track::parse("exp(t)")?;
    /// let mut half = Judge::new(&track, Format::HALF);
    /// let mut exp = |t: f64| half.value(t, &[]).value().to_f64();
    /// assert_eq!([exp(1.0), exp(11.0), exp(12.0)], [2.71875, 59872.0, f64::INFINITY]);
    /// assert_eq!(exp(-17.0), 2_f64.powi(-24)); // the least subnormal number
    /// # Ok::<(), keyfit_ir::SyntaxError>(())
    /// ```
    pub fn value(&mut self, t: f64, parameters: &[f64]) -> Mpfr {
        let parameters: Vec<Mpfr> = parameters.iter().map(|&x| Mpfr::new(x, self.format)).collect();
        self.sampler.sample_at(&Mpfr::new(t, self.format), &parameters)
    }
}

/// The correctly rounded value of a primitive; for a composite operation, that of its formula with every primitive in it
/// correctly rounded.
pub fn correctly_rounded(op: Op, operands: [f64; MAX_ARITY]) -> f64 {
    let [a, b, c] = operands.map(|x| Mpfr::new(x, Format::DOUBLE));
    op.apply([&a, &b, &c]).value.to_f64()
}
