//! Intervals of MPFR numbers that hold the exact value.
//!
//! Every primitive is evaluated with its ends rounded outwards, so the interval of a result holds every value that the exact
//! real function takes on the operands' intervals. Rounding to double has no part in it: what is enclosed is the formula
//! over the reals, whose constants are the doubles that stand in the track.

use std::cell::Cell;
use std::cmp::Ordering;
use std::rc::Rc;

use keyfit_ir::Scalar;
use rug::Float;
use rug::float::{Constant, Round};
use rug::ops::Pow;

/// Why an evaluation over intervals says nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Doubt {
    /// Some points of the box take one branch of a formula and others another: it holds a kink, a jump or a key's time.
    Branch,
    /// At some point of the box the formula is not defined, or not finite.
    Domain,
}

/// The context that all intervals of one evaluation share: the precision, and whether a result can be trusted.
#[derive(Clone, Debug)]
pub struct Context {
    bits: u32,
    doubt: Rc<Cell<Option<Doubt>>>,
}

impl Context {
    /// Ends with this many bits, at least a double's 53.
    pub fn new(bits: u32) -> Context {
        Context { bits: bits.max(f64::MANTISSA_DIGITS), doubt: Rc::default() }
    }

    /// The bits of an end.
    pub fn bits(&self) -> u32 {
        self.bits
    }

    /// The first doubt since the last call. Where there is one, what was computed encloses nothing.
    pub fn take_doubt(&self) -> Option<Doubt> {
        self.doubt.take()
    }

    pub(crate) fn doubt(&self, doubt: Doubt) {
        self.doubt.set(self.doubt.get().or(Some(doubt)));
    }

    /// The interval that holds only `x`, which may be infinite: such a constant is compared with, and nothing more.
    pub fn exactly(&self, x: f64) -> Interval {
        if x.is_nan() {
            self.doubt(Doubt::Domain);
        }
        let x = Float::with_val(self.bits, x);
        Interval { low: x.clone(), high: x, context: self.clone() }
    }

    /// The finite numbers from `low` to `high`, rounded outwards.
    pub fn between(&self, low: Float, high: Float) -> Interval {
        let low = Float::with_val_round(self.bits, low, Round::Down).0;
        let high = Float::with_val_round(self.bits, high, Round::Up).0;
        if !(low <= high && low.is_finite() && high.is_finite()) {
            self.doubt(Doubt::Domain);
        }
        Interval { low, high, context: self.clone() }
    }
}

/// All real numbers between two, which are among them.
///
/// ```
/// use keyfit_autodiff::interval::Context;
/// use keyfit_ir::Scalar;
/// let context = Context::new(100);
/// let third = context.exactly(1.0).div(&context.exactly(3.0));
/// assert!(third.low() < third.high());
/// assert!(third.width() < 1e-30);
/// ```
#[derive(Clone, Debug)]
pub struct Interval {
    low: Float,
    high: Float,
    context: Context,
}

/// The hull of two expressions, the first rounded down and the second up.
macro_rules! hull {
    ($of:expr, $low:expr, $high:expr) => {{
        let bits = $of.context.bits;
        let low = Float::with_val_round(bits, $low, Round::Down).0;
        let high = Float::with_val_round(bits, $high, Round::Up).0;
        $of.context.between(low, high)
    }};
}

impl Interval {
    /// The least of the numbers.
    pub fn low(&self) -> &Float {
        &self.low
    }

    /// The greatest of the numbers.
    pub fn high(&self) -> &Float {
        &self.high
    }

    /// high − low, rounded up.
    pub fn width(&self) -> Float {
        Float::with_val_round(self.context.bits, &self.high - &self.low, Round::Up).0
    }

    /// The number in the middle, or next to it.
    pub fn middle(&self) -> Float {
        (Float::with_val(self.context.bits + 1, &self.low + &self.high) / 2u32).clamp(&self.low, &self.high)
    }

    /// The greatest absolute value.
    pub fn magnitude(&self) -> Float {
        let (low, high) = (Float::with_val(self.context.bits, self.low.abs_ref()), self.high.clone().abs());
        low.max(&high)
    }

    /// Whether every number of `self` lies strictly between the ends of `other`.
    pub fn is_inside(&self, other: &Interval) -> bool {
        other.low < self.low && self.high < other.high
    }

    /// Whether `x` is among the numbers.
    pub fn contains(&self, x: &Float) -> bool {
        self.low <= *x && *x <= self.high
    }

    /// Whether it is one number only.
    pub fn is_one(&self) -> bool {
        self.low == self.high
    }

    pub(crate) fn has_zero(&self) -> bool {
        !(self.low > 0 || self.high < 0)
    }

    pub(crate) fn is_zero(&self) -> bool {
        self.low == 0 && self.high == 0
    }

    /// What it shares with the other intervals of its evaluation.
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// x², which a product of two independent numbers is not where x has both signs.
    pub(crate) fn power_two(&self) -> Interval {
        let x = self.abs();
        hull!(self, x.low.square_ref(), x.high.square_ref())
    }

    fn undefined(&self) -> Interval {
        self.context.exactly(f64::NAN)
    }

    /// A function that has no extremum inside a box, by its values at the corners.
    fn corners(&self, other: &Interval, f: impl Fn(&Float, &Float, Round) -> Float) -> Interval {
        let mut ends: Option<(Float, Float)> = None;
        for a in [&self.low, &self.high] {
            for b in [&other.low, &other.high] {
                let (down, up) = (f(a, b, Round::Down), f(a, b, Round::Up));
                if down.is_nan() || up.is_nan() {
                    return self.undefined();
                }
                ends = Some(match ends {
                    None => (down, up),
                    Some((low, high)) => (low.min(&down), high.max(&up)),
                });
                if other.is_one() {
                    break;
                }
            }
            if self.is_one() {
                break;
            }
        }
        ends.map_or_else(|| self.undefined(), |(low, high)| self.context.between(low, high))
    }

    /// Sine or cosine, whose extrema lie at whole multiples of π where `turned` has its whole numbers: +1 at the even ones.
    fn wave(&self, turned: &Interval, value: impl Fn(&Float, Round) -> Float) -> Interval {
        let (first, last) = (turned.low.clone().floor(), turned.high.clone().floor());
        let low = value(&self.low, Round::Down).min(&value(&self.high, Round::Down));
        let high = value(&self.low, Round::Up).max(&value(&self.high, Round::Up));
        let passed = Float::with_val(self.context.bits, &last - &first);
        if passed.is_zero() {
            self.context.between(low, high)
        } else if passed == 1 && last.is_integer() {
            let even = Float::with_val(self.context.bits, &last / 2u32).is_integer();
            let one = Float::with_val(self.context.bits, if even { 1 } else { -1 });
            if even { self.context.between(low, one) } else { self.context.between(one, high) }
        } else {
            self.context
                .between(Float::with_val(self.context.bits, -1), Float::with_val(self.context.bits, 1))
        }
    }

    /// xⁿ for a whole n.
    fn power(&self, n: &Float) -> Interval {
        if n.is_zero() {
            return self.lift(1.0);
        }
        let even = Float::with_val(n.prec(), n / 2u32).is_integer();
        let base = if even { self.abs() } else { self.clone() };
        if *n < 0 && base.has_zero() {
            return self.undefined();
        }
        let (low, high) = if *n > 0 { (&base.low, &base.high) } else { (&base.high, &base.low) };
        hull!(self, low.pow(n), high.pow(n))
    }
}

macro_rules! increasing {
    ($($name:ident $exact:ident)+) => {$(
        fn $name(&self) -> Interval {
            hull!(self, self.low.$exact(), self.high.$exact())
        }
    )+};
}

impl Scalar for Interval {
    fn lift(&self, x: f64) -> Interval {
        self.context.exactly(x)
    }
    fn pi(&self) -> Interval {
        hull!(self, Constant::Pi, Constant::Pi)
    }
    /// Where some of the numbers compare one way and some another, it is in doubt.
    fn compare(&self, other: &Interval) -> Option<Ordering> {
        if self.high < other.low {
            Some(Ordering::Less)
        } else if self.low > other.high {
            Some(Ordering::Greater)
        } else if self.is_one() && other.is_one() && self.low == other.low {
            Some(Ordering::Equal)
        } else {
            self.context.doubt(Doubt::Branch);
            None
        }
    }
    fn with_derivatives_of(&self, _: Interval) -> Interval {
        self.clone()
    }
    increasing! {
        sqrt sqrt_ref  exp exp_ref  exp2 exp2_ref  ln ln_ref  asin asin_ref  atan atan_ref  sinh sinh_ref
        tanh tanh_ref  floor floor_ref  ceil ceil_ref  round round_even_ref
    }
    fn acos(&self) -> Interval {
        hull!(self, self.high.acos_ref(), self.low.acos_ref())
    }
    fn cosh(&self) -> Interval {
        let x = self.abs();
        hull!(self, x.low.cosh_ref(), x.high.cosh_ref())
    }
    fn sin(&self) -> Interval {
        let turned = self.div(&self.pi()).sub(&self.lift(0.5));
        self.wave(&turned, |x, to| Float::with_val_round(x.prec(), x.sin_ref(), to).0)
    }
    fn cos(&self) -> Interval {
        let turned = self.div(&self.pi());
        self.wave(&turned, |x, to| Float::with_val_round(x.prec(), x.cos_ref(), to).0)
    }
    fn tan(&self) -> Interval {
        if self.cos().has_zero() || self.width() >= 4 {
            return self.undefined();
        }
        hull!(self, self.low.tan_ref(), self.high.tan_ref())
    }
    fn add(&self, b: &Interval) -> Interval {
        hull!(self, &self.low + &b.low, &self.high + &b.high)
    }
    fn sub(&self, b: &Interval) -> Interval {
        hull!(self, &self.low - &b.high, &self.high - &b.low)
    }
    fn mul(&self, b: &Interval) -> Interval {
        if self.low >= 0 && b.low >= 0 {
            return hull!(self, &self.low * &b.low, &self.high * &b.high);
        }
        self.corners(b, |x, y, to| Float::with_val_round(x.prec(), x * y, to).0)
    }
    fn div(&self, b: &Interval) -> Interval {
        if b.has_zero() {
            return self.undefined();
        }
        self.corners(b, |x, y, to| Float::with_val_round(x.prec(), x / y, to).0)
    }
    fn neg(&self) -> Interval {
        hull!(self, -&self.high, -&self.low)
    }
    fn abs(&self) -> Interval {
        if self.low >= 0 {
            self.clone()
        } else if self.high <= 0 {
            self.neg()
        } else {
            self.context.between(Float::new(self.context.bits), self.magnitude())
        }
    }
    fn min(&self, b: &Interval) -> Interval {
        self.corners(b, |x, y, _| if x.is_nan() { x.clone() } else { y.clone().min(x) })
    }
    fn max(&self, b: &Interval) -> Interval {
        self.corners(b, |x, y, _| if x.is_nan() { x.clone() } else { y.clone().max(x) })
    }
    fn modulo(&self, y: &Interval) -> Interval {
        let whole = self.div(y).floor();
        if !whole.is_one() {
            self.context.doubt(Doubt::Branch);
        }
        self.sub(&y.mul(&whole))
    }
    fn pow(&self, y: &Interval) -> Interval {
        if y.is_one() && y.low.is_integer() {
            self.power(&y.low)
        } else if self.low > 0 || (self.low == 0 && y.low > 0) {
            self.corners(y, |x, y, to| Float::with_val_round(x.prec(), x.pow(y), to).0)
        } else {
            self.undefined()
        }
    }
    fn atan2(&self, x: &Interval) -> Interval {
        // the angle jumps where y = 0 and x ≤ 0; elsewhere it is monotone in each operand
        if self.has_zero() && (x.low <= 0 || x.low.is_nan()) {
            self.context.doubt(Doubt::Branch);
        }
        self.corners(x, |y, x, to| Float::with_val_round(y.prec(), y.atan2_ref(x), to).0)
    }
    fn hypot(&self, y: &Interval) -> Interval {
        let (x, y) = (self.abs(), y.abs());
        hull!(self, x.low.hypot_ref(&y.low), x.high.hypot_ref(&y.high))
    }
    fn sign(&self) -> Interval {
        let sign = |x: &Float| match x.cmp0() {
            Some(Ordering::Less) => Float::with_val(x.prec(), -1),
            Some(Ordering::Equal) => Float::new(x.prec()),
            Some(Ordering::Greater) => Float::with_val(x.prec(), 1),
            None => x.clone(),
        };
        self.context.between(sign(&self.low), sign(&self.high))
    }
    fn step(&self, x: &Interval) -> Interval {
        if x.low >= self.high {
            self.lift(1.0)
        } else if x.high < self.low {
            self.lift(0.0)
        } else if x.low.is_nan() || self.low.is_nan() {
            self.undefined()
        } else {
            self.context.between(Float::new(self.context.bits), Float::with_val(self.context.bits, 1))
        }
    }
}
