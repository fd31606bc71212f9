//! What the languages share: places in a text, what can be wrong there, and the nearest right word.

use std::fmt;
use std::ops::Range;

use thiserror::Error;

use crate::cinematic::SceneFault;
use crate::easing::Easing;
use crate::keyed::shape::{Shape, Tcb};
use crate::keyed::{KeyError, Keyframe};
use crate::op::Op;
use crate::track::{BuildError, Builder, Id};

/// A piece of a text, in bytes from its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The first byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

impl Span {
    /// From the start of `self` to the end of `other`.
    pub fn to(self, other: Span) -> Span {
        Span { start: self.start, end: other.end }
    }

    /// The same as a range of bytes.
    pub fn range(self) -> Range<usize> {
        self.start..self.end
    }
}

/// What is wrong in a text, and where.
#[derive(Clone, Debug, PartialEq, Error)]
#[error("{kind}")]
pub struct SyntaxError {
    /// What is wrong.
    pub kind: SyntaxErrorKind,
    /// Where.
    pub span: Span,
}

/// What can be wrong in a formula, in RectSL, in a scene's YAML, in FPCore or in describe text.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum SyntaxErrorKind {
    /// The text ends too early.
    #[error("the text ends where {expected} should follow")]
    UnexpectedEnd {
        /// What would be accepted.
        expected: &'static str,
    },
    /// Something else stands where one thing was expected.
    #[error("expected {expected}, found {found}")]
    Unexpected {
        /// What would be accepted.
        expected: &'static str,
        /// What stands there.
        found: String,
    },
    /// A bracket, string or rect is opened and never closed; the span is its opening.
    #[error("this {what} is never closed")]
    Unclosed {
        /// What was opened.
        what: &'static str,
    },
    /// Not a number, or one that no double can hold.
    #[error("{0} is not a number that fits a double")]
    Number(String),
    /// A word that means nothing here.
    #[error("unknown {what} {word}{}", DidYouMean(.near))]
    Unknown {
        /// The kind of word: `function`, `word`, `track` …
        what: &'static str,
        /// The word.
        word: String,
        /// A known word that is nearly it.
        near: Option<String>,
    },
    /// A function's name without its arguments.
    #[error("{} is a function", .0.word())]
    NoArguments(Op),
    /// A bare name in a formula that has no value.
    #[error("{name} has no value{}", DidYouMean(.near))]
    NoStart {
        /// The name.
        name: String,
        /// A known name that is nearly it.
        near: Option<String>,
    },
    /// A postfix word finds too little before it.
    #[error("{word} needs {needs} before it")]
    Missing {
        /// The word.
        word: String,
        /// What it takes.
        needs: &'static str,
    },
    /// Values are left where one, or none, should be.
    #[error("{count} value(s) are left over here")]
    LeftOver {
        /// How many.
        count: usize,
    },
    /// One name is given to two things of the same kind.
    #[error("{name} is taken: there is already a {what} of that name")]
    Taken {
        /// The kind of thing.
        what: &'static str,
        /// Its name.
        name: String,
    },
    /// A free parameter where a key's time must be.
    #[error("the free parameter {name} stands in a key's time")]
    FreeKeyTime {
        /// The parameter.
        name: String,
    },
    /// A setting of a scene is out of its range.
    #[error("{word} must be a finite number above 0, not {value:?}")]
    NotPositive {
        /// The setting.
        word: &'static str,
        /// Its value.
        value: f64,
    },
    /// A word of another language that keyfit knows and has nothing of the same bits for.
    #[error("keyfit has no {what} {word}: {why}")]
    Refused {
        /// The kind of word: `operation`, `property` …
        what: &'static str,
        /// The word.
        word: String,
        /// What stands in the way.
        why: &'static str,
    },
    /// A word is given too few or too many operands.
    #[error("{word} takes {takes}, not {given}")]
    Operands {
        /// The word.
        word: String,
        /// How many it takes.
        takes: &'static str,
        /// How many were given.
        given: usize,
    },
    /// A condition that no value of this name meets.
    #[error("no number is in the range of {name}")]
    EmptyRange {
        /// The name.
        name: String,
    },
    /// The track cannot be built.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// Something is wrong in a scene's YAML.
    #[error(transparent)]
    Scene(Box<SceneFault>),
}

impl SyntaxErrorKind {
    /// What to do about it, where the message does not say so itself.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            SyntaxErrorKind::NoStart { name, .. } => {
                format!("give it a start: write ?{name}=1.0 here, or pass its value with the other starts")
            }
            SyntaxErrorKind::NoArguments(op) => format!("write {}({})", op.word(), op.operands().join(", ")),
            SyntaxErrorKind::FreeKeyTime { .. } => {
                "a key's time is a plain number; a free parameter can be its value: 2=?peak=4.0 in a formula, 2=4 free-param \
                 peak in RectSL, yaw: {free: peak, value: 4} in YAML"
                    .into()
            }
            SyntaxErrorKind::Build(BuildError::TwoValues { name, first, .. }) => {
                format!("write {name} with {first:?} everywhere, or choose another name")
            }
            SyntaxErrorKind::Build(BuildError::Arity { op, .. }) => {
                format!("write {}({})", op.word(), op.operands().join(", "))
            }
            SyntaxErrorKind::Unknown { what: "function", .. } => {
                format!("known: {}", Op::ALL.iter().map(|op| op.word()).collect::<Vec<_>>().join(" "))
            }
            SyntaxErrorKind::Unknown { what: "shape", .. } => {
                format!("known: {}", ListHead::words().collect::<Vec<_>>().join(" "))
            }
            SyntaxErrorKind::Build(BuildError::Keys(KeyError::NoShape { .. })) => {
                "a list of mixed shapes names each: keys[0.0=1.0 linear 1.0=2.0 hold 2.0=3.0]".into()
            }
            SyntaxErrorKind::Scene(fault) => return fault.problem.hint(),
            _ => return None,
        })
    }
}

/// The known word that is nearest to a misspelt or unfinished one, if one is near.
///
/// ```
/// # use keyfit_ir::text::nearest;
/// assert_eq!(nearest("smothstep", ["step", "smoothstep"]), Some("smoothstep".into()));
/// assert_eq!(nearest("smooth", ["step", "smoothstep"]), Some("smoothstep".into()));
/// assert_eq!(nearest("si", ["step", "sine-in"]), Some("sine-in".into())); // its initials
/// assert_eq!(nearest("banana", ["step", "smoothstep"]), None);
/// ```
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let lower = word.to_lowercase();
    let distance = |k: &str| {
        let k = k.to_lowercase();
        let begun = k != lower && lower.chars().count() >= 3 && k.starts_with(&lower);
        let initials = || k.split('-').filter_map(|part| part.chars().next());
        if begun || k.contains('-') && initials().eq(lower.chars()) {
            1
        } else {
            strsim::damerau_levenshtein(&lower, &k)
        }
    };
    let scored = known.into_iter().map(|k| (distance(k), k));
    let (distance, near) = scored.min_by_key(|&(distance, _)| distance)?;
    (distance <= (word.chars().count() / 3).max(1) && distance < near.chars().count()).then(|| near.into())
}

pub(crate) struct DidYouMean<'a>(pub &'a Option<String>);

impl fmt::Display for DidYouMean<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(near) => write!(f, "; did you mean {near}?"),
            None => Ok(()),
        }
    }
}

/// A finite double from its decimal text.
///
/// # Errors
/// [`SyntaxErrorKind::Number`] for what is no number, overflows, or is not 0 and would become 0.
pub fn finite(text: &str, span: Span) -> Result<f64, SyntaxError> {
    // digits that are not all zero are a number that is not zero
    let digits = text.split(['e', 'E']).next().unwrap_or(text);
    let vanished = |x: f64| x == 0.0 && digits.contains(|c| matches!(c, '1'..='9'));
    match text.parse::<f64>() {
        Ok(x) if x.is_finite() && !vanished(x) => Ok(x),
        _ => Err(SyntaxError { kind: SyntaxErrorKind::Number(excerpt(text)), span }),
    }
}

/// The text with pieces of it replaced; they stand in their order.
pub(crate) fn replaced(text: &str, pieces: impl IntoIterator<Item = (Span, String)>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut end = 0;
    for (span, new) in pieces {
        out += &text[end..span.start];
        out += &new;
        end = span.end;
    }
    out + &text[end..]
}

/// A word as messages show it: cut where it is very long.
pub fn excerpt(text: &str) -> String {
    match first(text, 60) {
        Some(first) => format!("{first}…"),
        None => text.into(),
    }
}

/// The first `most` characters of a text that has more.
pub fn first(text: &str, most: usize) -> Option<&str> {
    text.char_indices().nth(most).and_then(|(end, _)| text.get(..end))
}

/// The word in front of a key list: one shape for all segments, or `keys`, where each segment says its own.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ListHead(Option<Shape>);

/// The word for lists of mixed shapes.
pub(crate) const MIXED: &str = "keys";

impl ListHead {
    pub(crate) fn from_word(word: &str) -> Option<ListHead> {
        if word == MIXED { Some(ListHead(None)) } else { Shape::from_word(word).map(|s| ListHead(Some(s))) }
    }

    /// All words.
    pub(crate) fn words() -> impl Iterator<Item = String> {
        Shape::all().map(|shape| shape.to_string()).chain([MIXED.into()])
    }

    /// The word that is nearly this one.
    pub(crate) fn nearest(word: &str) -> Option<String> {
        let words: Vec<String> = ListHead::words().collect();
        nearest(word, words.iter().map(String::as_str))
    }
}

/// What takes operands: an operation, or a curve that is written with numbers.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Function {
    Operation(Op),
    Curve(Easing),
}

impl Function {
    /// By its word: `sin`, `cubic-bezier(0.25,0.1,0.25,1)`.
    pub(crate) fn from_word(word: &str) -> Option<Function> {
        let curve = || Easing::from_word(word).map(Function::Curve);
        Op::from_word(word).map(Function::Operation).or_else(curve)
    }

    pub(crate) fn arity(self) -> usize {
        match self {
            Function::Operation(op) => op.arity(),
            Function::Curve(_) => 1,
        }
    }

    pub(crate) fn apply(self, builder: &mut Builder, operands: &[Id]) -> Result<Id, BuildError> {
        match (self, operands) {
            (Function::Operation(op), _) => builder.apply(op, operands),
            (Function::Curve(easing), &[u]) => builder.ease(easing, u),
            (Function::Curve(easing), _) => Err(BuildError::EasingArity { easing, given: operands.len() }),
        }
    }
}

/// A key as it is written: its time, its value, what else is said at it, and where it stands.
pub(crate) struct KeyText {
    pub time: f64,
    pub value: Id,
    /// Where its time stands.
    pub span: Span,
    /// Where its value stands.
    pub value_at: Span,
    pub settings: Settings,
}

/// What a key list can say at a key beside time and value.
#[derive(Default)]
pub(crate) struct Settings {
    pub tcb: [Option<f64>; 3],
    pub arrive: Option<Id>,
    pub leave: Option<Id>,
    pub shape: Option<Shape>,
}

impl Settings {
    /// Whether nothing is said but time and value.
    pub fn is_empty(&self) -> bool {
        let Settings { tcb, arrive, leave, shape } = self;
        tcb.iter().all(Option::is_none) && arrive.is_none() && leave.is_none() && shape.is_none()
    }
}

/// The keyed track of these keys; an error stands at the key at fault, or at `list`.
pub(crate) fn keyed(
    builder: &mut Builder,
    head: ListHead,
    keys: &[KeyText],
    clock: Id,
    list: Span,
) -> Result<Id, SyntaxError> {
    let built = frames(builder, head, keys).and_then(|frames| builder.keyed(frames, clock));
    built.map_err(|e| {
        let at_fault = match &e {
            BuildError::Keys(e) => e.key().and_then(|k| keys.get(k - 1)).map(|key| key.span),
            _ => None,
        };
        SyntaxError { kind: e.into(), span: at_fault.unwrap_or(list) }
    })
}

/// The keys with the segments that lead from each to the next. A tangent that is not said is 0.
fn frames(b: &mut Builder, head: ListHead, keys: &[KeyText]) -> Result<Vec<Keyframe<Id>>, BuildError> {
    let mut frames = Vec::with_capacity(keys.len());
    let mut arriving = false;
    for (k, key) in keys.iter().enumerate() {
        let n = k + 1;
        let next = keys.get(n);
        let settings = &key.settings;
        let name = match (next, settings.shape.or(head.0)) {
            (None, _) if settings.shape.is_some() => return Err(KeyError::ShapeAtEnd { key: n }.into()),
            (None, _) => Shape::Linear,
            (Some(_), Some(shape)) => shape,
            (Some(_), None) => return Err(KeyError::NoShape { key: n }.into()),
        };
        let mut ends = [settings.leave, next.and_then(|key| key.settings.arrive)].into_iter();
        let shape = name.try_map(|()| ends.next().flatten().map_or_else(|| b.constant(0.0), Ok))?;
        let leaving = shape.tangents().is_some();
        for (given, used, side) in [(settings.arrive, arriving, "an in"), (settings.leave, leaving, "an out")]
        {
            if given.is_some() && !used {
                return Err(KeyError::TangentUnused { key: n, side }.into());
            }
        }
        arriving = leaving;
        let [t, c, b] = settings.tcb.map(|x| x.unwrap_or(0.0));
        frames.push(Keyframe { time: key.time, value: key.value, tcb: Tcb::new(t, c, b), shape });
    }
    Ok(frames)
}

impl SyntaxError {
    /// Whether the text is well formed but asks for what no track can be: a free parameter in a key's time, an operation
    /// that keyfit has not.
    pub fn is_refusal(&self) -> bool {
        matches!(self.kind, SyntaxErrorKind::FreeKeyTime { .. } | SyntaxErrorKind::Refused { .. })
    }
}
