//! What can be wrong in a scene, and where.

use std::fmt;

use thiserror::Error;

use crate::text::{DidYouMean, Span, SyntaxError, SyntaxErrorKind};
use crate::track::{BuildError, NameError};

/// A part of a scene, as `tracks[0].keyframes[2].position`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Place(pub Vec<Step>);

/// One step into a scene.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// Into a mapping, to this key's value.
    Key(&'static str),
    /// Into a list, to this item, counted from 0.
    Index(usize),
}

impl Place {
    /// The place one step further in.
    pub(super) fn then(&self, step: Step) -> Place {
        Place(self.0.iter().copied().chain([step]).collect())
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, step) in self.0.iter().enumerate() {
            match step {
                Step::Key(key) if i == 0 => f.write_str(key)?,
                Step::Key(key) => write!(f, ".{key}")?,
                Step::Index(k) => write!(f, "[{k}]")?,
            }
        }
        Ok(())
    }
}

/// What is wrong in a scene, and with which part of it.
#[derive(Clone, Debug, PartialEq, Error)]
#[error("{}{problem}", Before(place))]
pub struct SceneFault {
    /// The part; empty for the whole.
    pub place: Place,
    /// What is wrong.
    pub problem: SceneProblem,
}

struct Before<'a>(&'a Place);

impl fmt::Display for Before<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.0.is_empty() { Ok(()) } else { write!(f, "{}: ", self.0) }
    }
}

impl SceneFault {
    /// The same with its place in the text.
    pub(super) fn at(self, span: Span) -> SyntaxError {
        SyntaxError { kind: SyntaxErrorKind::Scene(Box::new(self)), span }
    }
}

/// What can be wrong in a scene.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum SceneProblem {
    /// The text is no YAML; the parser's words.
    #[error("this is no YAML: {0}")]
    Yaml(String),
    /// The text holds no value.
    #[error("the text is empty")]
    Empty,
    /// A second document follows.
    #[error("a scene is one document; here a second one begins")]
    SecondDocument,
    /// A tag such as `!!str`.
    #[error("a tag has no meaning in a scene")]
    Tag,
    /// A key is a list or a mapping.
    #[error("a key is a word, not a list or a mapping")]
    KeyIsNoWord,
    /// A mapping has a key twice.
    #[error("{key} is said twice")]
    RepeatedKey {
        /// The key.
        key: String,
    },
    /// An alias stands inside the value that it repeats.
    #[error("this alias stands inside the value that it repeats")]
    AliasOfItself,
    /// Aliases repeat too much.
    #[error("the aliases up to here repeat more than {most} values")]
    TooManyAliases {
        /// How many values they may repeat.
        most: usize,
    },
    /// Lists and mappings stand too deep in each other.
    #[error("lists and mappings stand more than {most} deep in each other")]
    TooDeep {
        /// How deep they may stand.
        most: usize,
    },
    /// A mapping lacks a key.
    #[error("{key} is missing")]
    Missing {
        /// The key.
        key: &'static str,
    },
    /// A mapping has a key that means nothing there.
    #[error("there is no {key} here{}", DidYouMean(.near))]
    UnknownKey {
        /// The key.
        key: String,
        /// A key that is nearly it.
        near: Option<String>,
        /// The keys that are accepted.
        known: Vec<&'static str>,
    },
    /// A word that means nothing there.
    #[error("there is no {what} {word}{}", DidYouMean(.near))]
    UnknownWord {
        /// What is chosen by it.
        what: &'static str,
        /// The word.
        word: String,
        /// A word that is nearly it.
        near: Option<String>,
        /// The words that are accepted.
        known: Vec<String>,
    },
    /// Another kind of value.
    #[error("expected {expected}, found {found}")]
    Expected {
        /// What would be accepted.
        expected: &'static str,
        /// What stands there.
        found: String,
    },
    /// A number that is infinite, not a number, or too small to be told from 0.
    #[error("{0} is not a finite number that fits a double")]
    NotFinite(String),
    /// A fraction where only whole numbers are.
    #[error("this must be a whole number, not {0}")]
    NotWhole(String),
    /// A time that is not in the scene.
    #[error("{when} is outside 0..{end}")]
    Outside {
        /// The tick, or the time in seconds.
        when: String,
        /// The scene's last one.
        end: String,
    },
    /// A key before the one that it follows.
    #[error("tick {tick} comes before {previous}, the tick of the key before it")]
    Before {
        /// The tick.
        tick: u32,
        /// The tick of the key before.
        previous: u32,
    },
    /// Two keys at one tick.
    #[error("there is a key at tick {tick} already")]
    Repeated {
        /// The tick.
        tick: u32,
    },
    /// A list that is empty.
    #[error("there must be at least one {what}")]
    None {
        /// What is missing.
        what: &'static str,
    },
    /// An effect that has no effect.
    #[error("an effect needs a sound or a particle")]
    NoEffect,
    /// A target with two moments.
    #[error("a target has a tick or a time, not both")]
    TwoMoments,
    /// A track without a name where it could not be told from another.
    #[error("id is missing: there are several tracks of type {what}")]
    Nameless {
        /// Its type.
        what: &'static str,
    },
    /// Two tracks that could not be told apart.
    #[error("two tracks of type {what} have the name {name:?}")]
    SameName {
        /// Their type.
        what: &'static str,
        /// Their name.
        name: String,
    },
    /// A text that is blank where a name is needed.
    #[error("a name cannot be blank")]
    Blank,
    /// A name of metadata that is too long for a key.
    #[error("a key has at most {most} characters")]
    LongKey {
        /// How many it may have.
        most: usize,
    },
    /// A free parameter's name is none.
    #[error(transparent)]
    Name(#[from] NameError),
    /// The tracks cannot be built.
    #[error(transparent)]
    Build(#[from] BuildError),
}

impl SceneProblem {
    /// What to do about it, where the message does not say so itself.
    pub fn hint(&self) -> Option<String> {
        match self {
            SceneProblem::UnknownKey { known, .. } => Some(format!("accepted: {}", known.join(", "))),
            SceneProblem::UnknownWord { known, .. } => Some(format!("known: {}", known.join(" "))),
            SceneProblem::SameName { what, .. } => {
                Some(format!("give each track of type {what} an id of its own"))
            }
            SceneProblem::Build(BuildError::TwoValues { name, first, .. }) => {
                Some(format!("write {{free: {name}, value: {first:?}}} everywhere, or choose another name"))
            }
            _ => None,
        }
    }
}
