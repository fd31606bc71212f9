//! The words of the scene language.

use std::fmt;

use crate::easing::{Easing, WITH_NUMBERS};
use crate::keyed::shape::Shape;
use crate::op::Op;

/// Letters and digits of a word: case, hyphens and underscores do not tell words apart.
fn letters(word: &str) -> impl Iterator<Item = char> + '_ {
    word.trim().chars().filter(|c| !matches!(c, '-' | '_')).flat_map(char::to_lowercase)
}

/// Whether two words are one: `path-mode`, `path_mode` and `pathMode` are.
pub(super) fn same_word(a: &str, b: &str) -> bool {
    letters(a).eq(letters(b))
}

macro_rules! choice {
    ($(#[$doc:meta])* $Name:ident $what:literal { $($(#[$own:meta])* $Variant:ident = $word:literal $(| $other:literal)*,)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
        pub enum $Name { $($(#[$own])* $Variant,)+ }

        impl $Name {
            /// All of them.
            pub const ALL: &[$Name] = &[$($Name::$Variant),+];

            /// What the scene calls it.
            pub const fn word(self) -> &'static str {
                match self { $($Name::$Variant => $word,)+ }
            }
        }

        impl Choice for $Name {
            const WHAT: &'static str = $what;

            fn from_word(word: &str) -> Option<$Name> {
                $(if [$word $(, $other)*].iter().any(|own| same_word(own, word)) {
                    return Some($Name::$Variant);
                })+
                None
            }

            fn words() -> Vec<String> {
                $Name::ALL.iter().map(|choice| choice.word().into()).collect()
            }
        }
    };
}

/// Something that is chosen by a word.
pub(super) trait Choice: Sized {
    /// What is chosen, for messages.
    const WHAT: &'static str;
    fn from_word(word: &str) -> Option<Self>;
    /// The words that messages offer.
    fn words() -> Vec<String>;
}

choice! {
    /// How positions go from key to key.
    PathMode "path mode" {
        /// Straight lines.
        #[default]
        Linear = "linear",
        /// A uniform Catmull-Rom spline with mirrored ends.
        Spline = "spline" | "catmull-rom" | "uniform",
        /// A Catmull-Rom spline whose knots are the square roots of the distances: no cusps, no loops within a segment.
        Centripetal = "centripetal",
        /// A Catmull-Rom spline whose knots are the distances.
        Chordal = "chordal",
    }
}

choice! {
    /// Which key's interpolation a segment has.
    EasingSide "easing side" {
        /// That of the key which it leaves.
        #[default]
        Left = "left",
        /// That of the key at which it arrives.
        Right = "right",
    }
}

choice! {
    /// How yaw goes from key to key.
    Turn "turn" {
        /// The short way: each key's yaw is moved by whole turns into [−180, 180) of the one before.
        #[default]
        Short = "short" | "shortest",
        /// As the numbers say.
        Raw = "raw",
    }
}

choice! {
    /// What a track moves.
    TrackType "track type" {
        /// The camera.
        #[default]
        Camera = "camera",
        /// An actor.
        Actor = "actor" | "actor-motion",
        /// Sounds and particles.
        Effect = "effect",
    }
}

/// The way from one key to the next.
///
/// ```
/// use keyfit_ir::cinematic::Interpolation;
/// let smooth = Interpolation::from_word("ease_in_out");
/// assert_eq!(["EASE_IN_OUT", "easeInOut", "smooth"].map(Interpolation::from_word), [smooth; 3]);
/// assert_eq!(Interpolation::from_word(" "), Some(Interpolation::Linear));
/// assert_eq!(Interpolation::from_word("ease_in_owt"), None);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Interpolation {
    /// A straight line.
    #[default]
    Linear,
    /// The left key's value.
    Hold,
    /// An easing's curve.
    Eased(Easing),
}

/// The source's name for the easing `smooth`.
const EASE_IN_OUT: &str = "ease_in_out";

impl Interpolation {
    /// The interpolation of this name; a blank one is linear. Case, hyphens and underscores do not count.
    pub fn from_word(word: &str) -> Option<Interpolation> {
        let is = |own: &str| same_word(own, word);
        if word.trim().is_empty() || is("linear") {
            return Some(Interpolation::Linear);
        }
        if is("hold") {
            return Some(Interpolation::Hold);
        }
        let named = Easing::all().find(|easing| is(&easing.to_string()));
        let smooth = || is(EASE_IN_OUT).then(|| Easing::new(Op::SMOOTH)).flatten();
        named
            .or_else(smooth)
            .or_else(|| Easing::from_word(&word.trim().to_lowercase()))
            .map(Interpolation::Eased)
    }

    /// The same as a segment of a keyed track.
    pub fn shape(self) -> Shape {
        match self {
            Interpolation::Linear => Shape::Linear,
            Interpolation::Hold => Shape::Hold,
            Interpolation::Eased(easing) => Shape::Eased(easing),
        }
    }
}

impl fmt::Display for Interpolation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Interpolation::Eased(easing) if easing.op() == Some(Op::SMOOTH) => f.write_str(EASE_IN_OUT),
            other => other.shape().fmt(f),
        }
    }
}

impl Choice for Interpolation {
    const WHAT: &'static str = "interpolation";

    fn from_word(word: &str) -> Option<Interpolation> {
        Interpolation::from_word(word)
    }

    fn words() -> Vec<String> {
        let named = [Interpolation::Linear, Interpolation::Hold].into_iter();
        let eased = Easing::all().map(Interpolation::Eased);
        let css = WITH_NUMBERS.iter().map(|(name, _)| format!("{name}(…)"));
        named.chain(eased).map(|own| own.to_string()).chain(css).collect()
    }
}
