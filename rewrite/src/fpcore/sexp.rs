//! S-expressions as one flat array, so that no depth is too deep.

use keyfit_ir::text::excerpt;
use keyfit_ir::{Span, SyntaxError, SyntaxErrorKind};

/// A list's or word's place in its [`Forest`].
pub(super) type Place = usize;

/// A word, a string or a list.
#[derive(Debug)]
pub(super) enum Form {
    Word(Span),
    /// With its quotes.
    Text(Span),
    /// `()` and `[]` are one.
    List(Vec<Place>, Span),
}

/// All forms of a text.
#[derive(Debug)]
pub(super) struct Forest<'a> {
    text: &'a str,
    forms: Vec<Form>,
    /// The outermost ones.
    pub roots: Vec<Place>,
}

impl<'a> Forest<'a> {
    /// Reads a text. `;` begins a comment.
    pub fn parse(text: &'a str) -> Result<Forest<'a>, SyntaxError> {
        let mut forest = Forest { text, forms: Vec::new(), roots: Vec::new() };
        // the lists that are open: where, the bracket that closes it, what is in it so far
        let mut open: Vec<(usize, char, Vec<Place>)> = Vec::new();
        let mut at = 0;
        while let Some(c) = text.get(at..).and_then(|rest| rest.chars().next()) {
            let start = at;
            at += c.len_utf8();
            let form = match c {
                _ if c.is_whitespace() => continue,
                ';' => {
                    at = end_of(text, start, |c| c == '\n');
                    continue;
                }
                '(' => {
                    open.push((start, ')', Vec::new()));
                    continue;
                }
                '[' => {
                    open.push((start, ']', Vec::new()));
                    continue;
                }
                ')' | ']' => {
                    let span = Span { start, end: at };
                    let Some((begun, closing, children)) = open.pop() else {
                        return Err(unexpected("a form", format!("{c} that closes nothing"), span));
                    };
                    if closing != c {
                        let expected = if closing == ')' { ")" } else { "]" };
                        return Err(unexpected(expected, c.to_string(), span));
                    }
                    Form::List(children, Span { start: begun, end: at })
                }
                '"' => {
                    at = end_of_string(text, at).ok_or(SyntaxError {
                        kind: SyntaxErrorKind::Unclosed { what: "string" },
                        span: Span { start, end: at },
                    })?;
                    Form::Text(Span { start, end: at })
                }
                _ => {
                    at = end_of(text, start, |c| c.is_whitespace() || "()[]\";".contains(c));
                    Form::Word(Span { start, end: at })
                }
            };
            let place = forest.forms.len();
            forest.forms.push(form);
            match open.last_mut() {
                Some((.., siblings)) => siblings.push(place),
                None => forest.roots.push(place),
            }
        }
        match open.first() {
            None => Ok(forest),
            Some((start, ..)) => Err(SyntaxError {
                kind: SyntaxErrorKind::Unclosed { what: "bracket" },
                span: Span { start: *start, end: start + 1 },
            }),
        }
    }

    /// Where a form stands.
    pub fn span(&self, place: Place) -> Span {
        match &self.forms[place] {
            Form::Word(span) | Form::Text(span) | Form::List(_, span) => *span,
        }
    }

    /// The text of a word.
    pub fn word(&self, place: Place) -> Option<&'a str> {
        match &self.forms[place] {
            Form::Word(span) => self.text.get(span.range()),
            Form::Text(_) | Form::List(..) => None,
        }
    }

    /// The text between a string's quotes, as it is written.
    pub fn string(&self, place: Place) -> Option<&'a str> {
        match &self.forms[place] {
            Form::Text(span) => self.text.get(span.start + 1..span.end - 1),
            Form::Word(_) | Form::List(..) => None,
        }
    }

    /// What is in a list.
    pub fn list(&self, place: Place) -> Option<&[Place]> {
        match &self.forms[place] {
            Form::List(children, _) => Some(children),
            Form::Word(_) | Form::Text(_) => None,
        }
    }

    /// A form as messages show it.
    pub fn shown(&self, place: Place) -> String {
        excerpt(self.text.get(self.span(place).range()).unwrap_or_default())
    }

    /// That something else was expected where this form stands.
    pub fn unexpected(&self, expected: &'static str, place: Place) -> SyntaxError {
        unexpected(expected, self.shown(place), self.span(place))
    }
}

/// That something else was expected.
pub(super) fn unexpected(expected: &'static str, found: String, span: Span) -> SyntaxError {
    SyntaxError { kind: SyntaxErrorKind::Unexpected { expected, found }, span }
}

/// Where, from `at` on, the first character of this kind stands; the text's end if there is none.
fn end_of(text: &str, at: usize, ends: impl Fn(char) -> bool) -> usize {
    text[at..].find(ends).map_or(text.len(), |length| at + length)
}

/// One past the quote that closes a string whose inside begins at `at`.
fn end_of_string(text: &str, at: usize) -> Option<usize> {
    let mut escaped = false;
    for (i, c) in text[at..].char_indices() {
        match c {
            '"' if !escaped => return Some(at + i + 1),
            _ => escaped = c == '\\' && !escaped,
        }
    }
    None
}
