//! What is known of a term's value, whatever the time and the parameters are.
//!
//! A [`Fact`] says which numbers a term can take: an interval, whether NaN and each zero can occur, whether all values are
//! whole. Intervals are ordered as IEEE 754's totalOrder has it, −0 below +0, so that touching ends and signs of zero
//! are told apart. A fact that cannot be established is not there; nothing is assumed.
//!
//! Facts pass through an operation in [`transfer`]. Every primitive is correctly rounded, and rounding is monotone; so where
//! the real function is monotone, the values at an interval's ends, as the sampler computes them, are the ends of the image.

pub mod transfer;

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fmt;
use std::hash::{Hash, Hasher};

use crate::head::Head;

/// What is known of a value.
#[derive(Clone, Copy, Debug)]
pub struct Fact {
    /// The least and the greatest value that is not NaN, −0 before +0; `None` if there is none.
    range: Option<(f64, f64)>,
    nan: bool,
    negative_zero: bool,
    positive_zero: bool,
    whole: bool,
}

impl Fact {
    fn bits(&self) -> (Option<(u64, u64)>, [bool; 4]) {
        let ends = self.range.map(|(low, high)| (low.to_bits(), high.to_bits()));
        (ends, [self.nan, self.negative_zero, self.positive_zero, self.whole])
    }
}

impl PartialEq for Fact {
    fn eq(&self, other: &Fact) -> bool {
        self.bits() == other.bits()
    }
}

impl Hash for Fact {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.bits().hash(state);
    }
}

impl Eq for Fact {}

/// The lesser in the order in which −0 comes before +0; neither is NaN.
fn least(a: f64, b: f64) -> f64 {
    if a.total_cmp(&b) == Ordering::Greater { b } else { a }
}

/// The greater in the order in which −0 comes before +0; neither is NaN.
fn greatest(a: f64, b: f64) -> f64 {
    if a.total_cmp(&b) == Ordering::Less { b } else { a }
}

/// The next number above a finite one in the order in which −0 comes before +0.
fn above(x: f64) -> f64 {
    if x.is_sign_negative() {
        if x == 0.0 { 0.0 } else { f64::from_bits(x.to_bits() - 1) }
    } else {
        f64::from_bits(x.to_bits() + 1)
    }
}

impl Fact {
    /// Nothing is known.
    pub const ANY: Fact = Fact {
        range: Some((f64::NEG_INFINITY, f64::INFINITY)),
        nan: true,
        negative_zero: true,
        positive_zero: true,
        whole: false,
    };

    /// Always NaN.
    pub const NAN: Fact =
        Fact { range: None, nan: true, negative_zero: false, positive_zero: false, whole: true };

    /// Always `x`.
    pub fn exactly(x: f64) -> Fact {
        if x.is_nan() {
            return Fact::NAN;
        }
        let mut fact = Fact::between(x, x);
        fact.whole = x.is_infinite() || x == x.trunc();
        fact
    }

    /// A number from `low` to `high` in the order in which −0 comes before +0, and never NaN; always NaN if there is no
    /// such number.
    pub fn between(low: f64, high: f64) -> Fact {
        if low.is_nan() || high.is_nan() || low.total_cmp(&high) == Ordering::Greater {
            return Fact::NAN;
        }
        let within = |x: f64| low.total_cmp(&x).is_le() && x.total_cmp(&high).is_le();
        Fact {
            range: Some((low, high)),
            nan: false,
            negative_zero: within(-0.0),
            positive_zero: within(0.0),
            whole: false,
        }
    }

    /// A number x with low ≤ x ≤ high as numbers compare: if an end is zero, both zeros are in.
    pub fn from_to(low: f64, high: f64) -> Fact {
        let low = if low == 0.0 { -0.0 } else { low };
        Fact::between(low, if high == 0.0 { 0.0 } else { high })
    }

    /// The least and the greatest value, if there is one that is not NaN.
    pub fn range(&self) -> Option<(f64, f64)> {
        self.range
    }

    /// Whether the value may be NaN.
    pub fn may_be_nan(&self) -> bool {
        self.nan
    }

    /// Whether the value may be −0.
    pub fn may_be_negative_zero(&self) -> bool {
        self.negative_zero
    }

    /// Whether the value may be +0.
    pub fn may_be_positive_zero(&self) -> bool {
        self.positive_zero
    }

    /// Whether the value may be a zero.
    pub fn may_be_zero(&self) -> bool {
        self.negative_zero || self.positive_zero
    }

    /// Whether every finite value is a whole number.
    pub fn is_whole(&self) -> bool {
        self.whole
    }

    /// Whether the value may be infinite.
    pub fn may_be_infinite(&self) -> bool {
        self.range.is_some_and(|(low, high)| low == f64::NEG_INFINITY || high == f64::INFINITY)
    }

    /// Whether the value is a finite number.
    pub fn is_finite(&self) -> bool {
        !self.nan && !self.may_be_infinite()
    }

    /// The only value there can be, if there is only one.
    pub fn constant(&self) -> Option<f64> {
        match self.range {
            None => Some(f64::NAN),
            Some((low, high)) => (!self.nan && low.to_bits() == high.to_bits()).then_some(low),
        }
    }

    /// Whether `x` is one of the values.
    pub fn allows(&self, x: f64) -> bool {
        if x.is_nan() {
            return self.nan;
        }
        let inside =
            self.range.is_some_and(|(low, high)| low.total_cmp(&x).is_le() && x.total_cmp(&high).is_le());
        let zero = match (x == 0.0, x.is_sign_negative()) {
            (true, true) => self.negative_zero,
            (true, false) => self.positive_zero,
            _ => true,
        };
        inside && zero && (!self.whole || x.is_infinite() || x == x.trunc())
    }

    /// What both say. `None` if they contradict each other.
    pub fn meet(self, other: Fact) -> Option<Fact> {
        let range = match (self.range, other.range) {
            (Some((a, b)), Some((c, d))) => Some((greatest(a, c), least(b, d))),
            _ => None,
        };
        let met = Fact {
            range,
            nan: self.nan && other.nan,
            negative_zero: self.negative_zero && other.negative_zero,
            positive_zero: self.positive_zero && other.positive_zero,
            whole: self.whole || other.whole,
        };
        let met = met.tightened();
        (met.range.is_some() || met.nan).then_some(met)
    }

    /// What either says: the value is one of the first's or one of the second's.
    pub fn join(self, other: Fact) -> Fact {
        let range = match (self.range, other.range) {
            (Some((a, b)), Some((c, d))) => Some((least(a, c), greatest(b, d))),
            (range, None) | (None, range) => range,
        };
        Fact {
            range,
            nan: self.nan || other.nan,
            negative_zero: self.negative_zero || other.negative_zero,
            positive_zero: self.positive_zero || other.positive_zero,
            whole: self.whole && other.whole,
        }
        .tightened()
    }

    /// The same values, with the interval's ends and the zeros agreeing.
    fn tightened(mut self) -> Fact {
        let Some((mut low, mut high)) = self.range else {
            return Fact { nan: self.nan, ..Fact::NAN };
        };
        let zero = |x: f64, negative: bool| x == 0.0 && x.is_sign_negative() == negative;
        if zero(low, true) && !self.negative_zero {
            low = 0.0;
        }
        if zero(low, false) && !self.positive_zero {
            low = f64::from_bits(1);
        }
        if zero(high, false) && !self.positive_zero {
            high = -0.0;
        }
        if zero(high, true) && !self.negative_zero {
            high = -f64::from_bits(1);
        }
        let within = |x: f64| low.total_cmp(&x).is_le() && x.total_cmp(&high).is_le();
        self.negative_zero &= within(-0.0);
        self.positive_zero &= within(0.0);
        self.range = low.total_cmp(&high).is_le().then_some((low, high));
        if self.range.is_none() { Fact { nan: self.nan, ..Fact::NAN } } else { self }
    }
}

impl fmt::Display for Fact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.range {
            None => return f.write_str("NaN"),
            Some((low, high)) if low.to_bits() == high.to_bits() => write!(f, "{low:?}")?,
            Some((low, high)) => write!(f, "from {low:?} to {high:?}")?,
        }
        let inside = |x: f64| {
            self.range.is_some_and(|(low, high)| low.total_cmp(&x).is_le() && x.total_cmp(&high).is_le())
        };
        f.write_str(match (inside(-0.0) && !self.negative_zero, inside(0.0) && !self.positive_zero) {
            (true, true) => ", never 0",
            (true, false) => ", never -0",
            (false, true) => ", never +0",
            (false, false) => "",
        })?;
        if self.whole && self.constant().is_none() {
            f.write_str(", whole")?;
        }
        f.write_str(if self.nan { ", or NaN" } else { "" })
    }
}

/// What is known of the clock and of the free parameters. Without bounds a parameter may be anything, even NaN. The clock is a
/// time, and a time is a number: any, the infinite ones included, but never NaN.
///
/// ```
/// use keyfit_rewrite::Bounds;
/// let bounds = Bounds::new().duration(10.0).parameter("gain", 0.0, 1.0);
/// assert!(bounds.clock().allows(-0.0) && !bounds.clock().allows(10.5));
/// let unknown = Bounds::new().clock();
/// assert!(unknown.allows(f64::INFINITY) && !unknown.allows(f64::NAN));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bounds {
    clock: Fact,
    parameters: BTreeMap<String, Fact>,
}

impl Default for Bounds {
    fn default() -> Bounds {
        Bounds { clock: Fact::from_to(f64::NEG_INFINITY, f64::INFINITY), parameters: BTreeMap::new() }
    }
}

impl Bounds {
    /// No bounds.
    pub fn new() -> Bounds {
        Bounds::default()
    }

    /// The clock runs from 0 to `duration`. As numbers compare, −0 is such a time too.
    pub fn duration(mut self, duration: f64) -> Bounds {
        self.clock = Fact::from_to(0.0, duration);
        self
    }

    /// The parameter lies from `low` to `high`.
    pub fn parameter(mut self, name: &str, low: f64, high: f64) -> Bounds {
        self.parameters.insert(name.into(), Fact::from_to(low, high));
        self
    }

    /// The parameter is as this fact says.
    pub(crate) fn known(mut self, name: &str, fact: Fact) -> Bounds {
        self.parameters.insert(name.into(), fact);
        self
    }

    /// What is known of the clock.
    pub fn clock(&self) -> Fact {
        self.clock
    }

    /// The parameters of which something is known, by name.
    pub fn parameters(&self) -> impl Iterator<Item = (&str, Fact)> {
        self.parameters.iter().map(|(name, fact)| (name.as_str(), *fact))
    }

    /// What is known of a term, given what is known of its children. `alike` says that the first two children have the
    /// same value.
    pub fn fact(&self, head: &Head, children: &[Fact], alike: bool) -> Fact {
        match head {
            Head::Constant(x) => Fact::exactly(x.value()),
            Head::Clock => self.clock,
            Head::Free(p) => self.parameters.get(p.name()).copied().unwrap_or(Fact::ANY),
            Head::Apply(op) => {
                let at = |k: usize| children.get(k).copied().unwrap_or(Fact::ANY);
                transfer::operation(*op, [at(0), at(1), at(2)], alike)
            }
            Head::Keyed(keyed) => transfer::keyed(keyed, children),
        }
    }
}
