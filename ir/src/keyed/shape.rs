//! The shapes of segments, and their names.
//!
//! On the segment from (t₀, v₀) to (t₁, v₁) let u = (t − t₀)/(t₁ − t₀). A spline has a slope at each end, m₀ and m₁ (per
//! segment: values per unit of u), and is the cubic that has them. A key beside the segment counts whatever the shape of
//! the segment between; a jump hides it, as the first and the last key have none.
//!
//! | shape | value |
//! | --- | --- |
//! | `linear` | v₀ + (v₁ − v₀)·u |
//! | `hold` | v₀ |
//! | an easing's name | v₀ + (v₁ − v₀)·easing(u) |
//! | `catmull-rom` | m = (d₋ + d₊)/2, the mean of the differences to the keys on both sides, whatever their times; with no key beyond, v₁ − v₀, as if the end were mirrored (P₀ = 2P₁ − P₂) |
//! | `monotone` | m = (sign(s₋) + sign(s₊))·min(\|s₋\|, \|s₊\|, \|p\|/2)·(t₁ − t₀) of the slopes s on both sides in values per unit of time, p being that of the parabola through the three keys: no value leaves the range of the segment's two (M. Steffen, A simple method for monotonic interpolation in one dimension, 1990); with no key beyond, v₁ − v₀ |
//! | `tcb` | Kochanek–Bartels with the tangents scaled by time, as LightWave has it; see [`Tcb`] |
//! | `cubic` | m = tangent·(t₁ − t₀), explicit tangents in values per unit of time: glTF's `CUBICSPLINE` |
//!
//! A spline is computed as v₀ + u·(d + (1 − u)·((m₀ − d)·(1 − u) − (m₁ − d)·u)) with d = v₁ − v₀: the line, bent. So a
//! spline that is straight has the bits of a linear segment. Between two keys of −0 a segment that moves is +0, as −0 + 0·u
//! is; at the keys the sign is theirs.

use std::collections::HashMap;
use std::fmt;
use std::sync::LazyLock;

use crate::easing::Easing;
use crate::track::Number;

/// The way from one key to the next. `C` stands for a child; a `Shape` without is the name only.
///
/// ```
/// use keyfit_ir::{Easing, Op, Shape};
/// assert_eq!(Shape::from_word("catmull-rom"), Some(Shape::CatmullRom));
/// assert_eq!(Shape::from_word("sine-in"), Easing::new(Op::SINE_IN).map(Shape::Eased));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Shape<C = ()> {
    /// A straight line.
    Linear,
    /// The left key's value, up to the right key's time.
    Hold,
    /// An easing's curve.
    Eased(Easing),
    /// A uniform Catmull-Rom spline.
    CatmullRom,
    /// A Kochanek–Bartels spline.
    Tcb,
    /// A cubic with explicit tangents, in values per unit of time.
    Cubic {
        /// The slope with which it leaves the left key.
        leave: C,
        /// The slope with which it arrives at the right key.
        arrive: C,
    },
    /// Steffen's monotone cubic.
    Monotone,
}

impl Shape {
    /// Every shape whose name needs no numbers.
    pub fn all() -> impl Iterator<Item = Shape> {
        use Shape::{CatmullRom, Cubic, Hold, Linear, Monotone, Tcb};
        let own = [Linear, Hold, CatmullRom, Tcb, Cubic { leave: (), arrive: () }, Monotone];
        own.into_iter().chain(Easing::all().map(Shape::Eased))
    }

    /// The shape of this name; an underscore is as good as a hyphen.
    pub fn from_word(word: &str) -> Option<Shape> {
        static WORDS: LazyLock<HashMap<String, Shape>> =
            LazyLock::new(|| Shape::all().map(|shape| (shape.to_string(), shape)).collect());
        let named = WORDS.get(&word.replace('_', "-")).copied();
        named.or_else(|| Easing::from_word(word).map(Shape::Eased))
    }
}

impl<C> Shape<C> {
    /// The shape without its children.
    pub fn name(&self) -> Shape {
        let Ok(name) = self.try_map(|_| Ok::<(), std::convert::Infallible>(()));
        name
    }

    /// The tangents of a cubic segment, at its left end and at its right end.
    pub fn tangents(&self) -> Option<[&C; 2]> {
        match self {
            Shape::Cubic { leave, arrive } => Some([leave, arrive]),
            _ => None,
        }
    }

    /// The same shape with other children.
    ///
    /// # Errors
    /// The first one that `f` gives.
    pub fn try_map<D, E>(&self, mut f: impl FnMut(&C) -> Result<D, E>) -> Result<Shape<D>, E> {
        Ok(match self {
            Shape::Linear => Shape::Linear,
            Shape::Hold => Shape::Hold,
            Shape::Eased(easing) => Shape::Eased(*easing),
            Shape::CatmullRom => Shape::CatmullRom,
            Shape::Tcb => Shape::Tcb,
            Shape::Monotone => Shape::Monotone,
            Shape::Cubic { leave, arrive } => Shape::Cubic { leave: f(leave)?, arrive: f(arrive)? },
        })
    }
}

impl<C> fmt::Display for Shape<C> {
    /// The name, with hyphens.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Shape::Linear => f.write_str("linear"),
            Shape::Hold => f.write_str("hold"),
            Shape::Eased(easing) => easing.fmt(f),
            Shape::CatmullRom => f.write_str("catmull-rom"),
            Shape::Tcb => f.write_str("tcb"),
            Shape::Monotone => f.write_str("monotone"),
            Shape::Cubic { .. } => f.write_str("cubic"),
        }
    }
}

/// How Kochanek–Bartels segments pass a key: tension, continuity and bias, each 0 for a smooth curve and usually from −1
/// to 1. They are plain numbers.
///
/// With the differences d₋ and d₊ to the keys before and after, and the time spans h₋ and h₊ to them, the slopes are
///
/// * arriving: (1 − t)·((1 − c)(1 + b)·d₋ + (1 + c)(1 − b)·d₊)·h₋/(h₋ + h₊)
/// * leaving: (1 − t)·((1 + c)(1 + b)·d₋ + (1 − c)(1 − b)·d₊)·h₊/(h₋ + h₊)
///
/// and, with no key beyond, (1 − t)(1 − c)(1 + b)·d₋ arriving and (1 − t)(1 − c)(1 − b)·d₊ leaving.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Tcb([Number; 3]);

impl Tcb {
    /// The names of the three in text.
    pub(crate) const NAMES: [&str; 3] = ["t", "c", "b"];

    /// From tension, continuity and bias.
    pub fn new(tension: f64, continuity: f64, bias: f64) -> Tcb {
        Tcb([tension, continuity, bias].map(|x| Number::new(x + 0.0))) // −0 becomes +0
    }

    /// Tension, continuity and bias.
    pub fn values(self) -> [f64; 3] {
        self.0.map(Number::value)
    }

    pub(crate) fn is_finite(self) -> bool {
        self.values().iter().all(|x| x.is_finite())
    }
}

impl Default for Tcb {
    fn default() -> Tcb {
        Tcb::new(0.0, 0.0, 0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shape_is_found_by_its_name() {
        let mut seen = std::collections::HashSet::new();
        for shape in Shape::all() {
            assert!(seen.insert(shape.to_string()), "{shape}: a name is used twice");
            assert_eq!(Shape::from_word(&shape.to_string()), Some(shape));
            assert_eq!(Shape::from_word(&shape.to_string().replace('-', "_")), Some(shape));
        }
        assert_eq!(Shape::from_word("sin"), None);
    }
}
