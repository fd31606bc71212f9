//! What ends a command early, as text for a person and as an exit code.

use std::fmt::Display;
use std::io::{self, IsTerminal, Write};
use std::ops::Range;
use std::process::ExitCode;

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use keyfit::ir::text::nearest;
use keyfit::ir::{GlslRefusal, SyntaxError, SyntaxErrorKind};
use keyfit::rewrite::fpcore::FpcoreRefusal;
use keyfit::{FitError, Refusal};

/// An honest negative: the work was done and the answer is no.
pub const NEGATIVE: u8 = 1;
/// Bad usage or bad input.
pub const INPUT: u8 = 2;
/// A typed no.
pub const REFUSED: u8 = 3;
/// A fault of the program itself.
pub const BUG: u8 = 70;

/// A text that was read, by the name under which errors speak of it.
#[derive(Clone, Debug)]
pub struct Source {
    /// A file's path, or what part of the command line it is.
    pub name: String,
    /// Its text.
    pub text: String,
}

/// Why a command ends early.
#[derive(Debug)]
pub enum Failure {
    /// The input is not usable.
    Input(Vec<Fault>),
    /// keyfit will not do it, for a reason.
    Refused(Refusal),
    /// The reader of stdout went away.
    Closed,
}

/// What is wrong with an input, and where.
#[derive(Debug)]
pub struct Fault {
    message: String,
    place: Option<(Source, Range<usize>)>,
    hint: Option<String>,
    code: u8,
}

impl Failure {
    /// A fault that has no place in a text.
    pub fn input(message: impl Display) -> Failure {
        Failure::Input(vec![Fault { message: message.to_string(), place: None, hint: None, code: INPUT }])
    }

    /// A fault at a place in a text.
    pub fn at(source: &Source, span: Range<usize>, message: impl Display) -> Failure {
        let place = Some((source.clone(), span));
        Failure::Input(vec![Fault { message: message.to_string(), place, hint: None, code: INPUT }])
    }

    /// A fault that a parser found in `source`.
    pub fn syntax(source: &Source, error: &SyntaxError) -> Failure {
        let failure = Failure::at(source, error.span.range(), error);
        let failure = if error.is_refusal() { failure.with_code(REFUSED) } else { failure };
        let hint = match &error.kind {
            SyntaxErrorKind::NoStart { name, .. } => {
                Some(format!("give it a start: --start {name}=1.0, or write ?{name}=1.0 in the formula"))
            }
            kind => kind.hint(),
        };
        match hint {
            Some(hint) => failure.hint(hint),
            None => failure,
        }
    }

    /// What to do about it.
    pub fn hint(mut self, hint: impl Display) -> Failure {
        if let Failure::Input(faults) = &mut self {
            faults.iter_mut().for_each(|fault| fault.hint = Some(hint.to_string()));
        }
        self
    }

    /// Hints at what `word` may have been meant to be, else at all that there is.
    pub fn known<'a>(self, word: &str, what: &str, known: impl IntoIterator<Item = &'a str>) -> Failure {
        let known: Vec<&str> = known.into_iter().collect();
        match nearest(word, known.iter().copied()) {
            Some(near) => self.hint(format!("did you mean {near}?")),
            None if known.is_empty() => self.hint(format!("there are no {what}")),
            None => self.hint(format!("the {what} are {}", known.join(", "))),
        }
    }

    fn with_code(mut self, code: u8) -> Failure {
        if let Failure::Input(faults) = &mut self {
            faults.iter_mut().for_each(|fault| fault.code = code);
        }
        self
    }

    /// Several faults as one failure.
    pub fn all(failures: impl IntoIterator<Item = Failure>) -> Failure {
        let faults = failures.into_iter().flat_map(|failure| match failure {
            Failure::Input(faults) => faults,
            Failure::Refused(_) | Failure::Closed => Vec::new(),
        });
        Failure::Input(faults.collect())
    }

    /// Faults that a parser found in `source`: each of the first ones, and how many more there are.
    pub fn all_syntax(source: &Source, errors: &[SyntaxError]) -> Failure {
        const MOST: usize = 30;
        let (told, rest) = errors.split_at(errors.len().min(MOST));
        let told = Failure::all(told.iter().map(|error| Failure::syntax(source, error)));
        let Failure::Input(mut faults) = told else { return told };
        if !rest.is_empty() {
            let code = if rest.iter().all(SyntaxError::is_refusal) { REFUSED } else { INPUT };
            let message = format!("{}: {} more errors", source.name, rest.len());
            faults.push(Fault { message, place: None, hint: None, code });
        }
        Failure::Input(faults)
    }

    /// The exit code: a refusal only where nothing else is wrong.
    fn code(&self) -> u8 {
        match self {
            Failure::Input(faults) if faults.iter().all(|fault| fault.code == REFUSED) => REFUSED,
            Failure::Input(_) => INPUT,
            Failure::Refused(_) => REFUSED,
            Failure::Closed => 0,
        }
    }

    /// For a refusal: why, whether another input can close the gap, and what is missing.
    pub fn refusal(&self) -> Option<(String, bool, Vec<String>)> {
        match self {
            Failure::Refused(refusal) => Some((refusal.to_string(), refusal.closable(), refusal.missing())),
            Failure::Input(faults) if self.code() == REFUSED => {
                let why: Vec<&str> = faults.iter().map(|fault| fault.message.as_str()).collect();
                Some((why.join("\n"), true, faults.iter().filter_map(|fault| fault.hint.clone()).collect()))
            }
            Failure::Input(_) | Failure::Closed => None,
        }
    }

    /// Writes the failure to stderr and gives the exit code.
    pub fn report(&self) -> ExitCode {
        match self {
            Failure::Input(faults) => {
                let renderer =
                    if io::stderr().is_terminal() { Renderer::styled() } else { Renderer::plain() };
                faults.iter().for_each(|fault| say(fault.render(&renderer)));
                ExitCode::from(self.code())
            }
            Failure::Refused(refusal) => {
                say(format!("refused: {refusal}"));
                if let Refusal::DeclaresParameters { .. } = refusal {
                    say("  leave out --all-numbers to fit them");
                }
                refusal.missing().iter().for_each(|missing| say(format!("  missing: {missing}")));
                ExitCode::from(REFUSED)
            }
            Failure::Closed => ExitCode::SUCCESS,
        }
    }
}

/// Writes a line to stderr. That there may be nobody to read it stops nothing.
pub fn say(line: impl Display) {
    let _ = writeln!(io::stderr(), "{line}");
}

impl Fault {
    fn render(&self, renderer: &Renderer) -> String {
        let mut group = Group::with_title(Level::ERROR.primary_title(self.message.as_str()));
        if let Some((source, span)) = &self.place {
            let span = visible(&source.text, span.clone());
            let snippet = Snippet::source(source.text.as_str())
                .path(source.name.as_str())
                .annotation(AnnotationKind::Primary.span(span));
            group = group.element(snippet);
        }
        if let Some(hint) = &self.hint {
            group = group.element(Level::HELP.message(hint.as_str()));
        }
        renderer.render(&[group])
    }
}

/// A span inside the text, so that there is always something to point at.
fn visible(text: &str, span: Range<usize>) -> Range<usize> {
    if span.start >= text.trim_end().len() {
        let end = text.trim_end().len();
        return end..end;
    }
    span.start..span.end.min(text.len())
}

impl From<FitError> for Failure {
    fn from(error: FitError) -> Failure {
        match error {
            FitError::Refused(refusal) => Failure::Refused(refusal),
            FitError::StartOutside { ref name, low, high, .. } if low <= high => {
                let within = match (low.is_finite(), high.is_finite()) {
                    (true, true) => low / 2.0 + high / 2.0,
                    (true, false) => low,
                    (false, _) => high,
                };
                let hint = format!("start it within them: --start {name}={within:?}");
                Failure::input(error).hint(hint)
            }
            other => Failure::input(other),
        }
    }
}

impl From<GlslRefusal> for Failure {
    fn from(refusal: GlslRefusal) -> Failure {
        let missing = refusal.missing().join("; ");
        Failure::input(format!("refused: {refusal}")).hint(format!("missing: {missing}")).with_code(REFUSED)
    }
}

impl From<FpcoreRefusal> for Failure {
    fn from(refusal: FpcoreRefusal) -> Failure {
        Failure::input(format!("refused: {refusal}")).with_code(REFUSED)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Failure::Closed,
            _ => Failure::input(error),
        }
    }
}
