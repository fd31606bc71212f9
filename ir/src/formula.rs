//! Formulas for people; describe text is one of them.
//!
//! ```text
//! text    = { name ":=" sum ";" } sum            definitions, then the track
//! sum     = product { ("+" | "-") product }
//! product = minus { ("*" | "/") minus }
//! minus   = { "-" } power
//! power   = operand [ "^" minus ]                a ^ b ^ c is a ^ (b ^ c)
//! operand = NUMBER | "inf" | "NaN" | "pi" | "tau" | "t" | name | "?" name [ "=" NUMBER ]
//!         | function "(" sum { "," sum } ")"     by word (sin), by describe's name (SIN), or a curve (steps(4)(t))
//!         | head "[" { NUMBER "=" key } "]" [ "(" sum ")" ]      read at t, or at the clock in parentheses
//!         | "(" sum ")"
//! head    = shape | "keys"                       one shape for all segments, or each its own
//! shape   = "linear" | "hold" | "catmull-rom" | "tcb" | "cubic" | an easing's name (sine-in)
//!         | "cubic-bezier(" x1 "," y1 "," x2 "," y2 ")" | "steps(" n "," jump ")"
//! key     = value [ "{" { ( "t" | "c" | "b" ) "=" NUMBER | ( "in" | "out" ) "=" value } "}" ] [ shape ]
//! value   = { "-" } operand                      anything longer goes into parentheses
//! ```
//! A shape behind a key is that of the segment to the next key. `t`, `c` and `b` are the tension, continuity and bias
//! with which TCB segments pass the key, `in` and `out` the tangents of cubic ones; what is not said is 0.
//!
//! `?gain=1.0` is a free parameter with its current value; elsewhere `?gain` or `gain` may stand alone. A bare name is a
//! definition, a free parameter, or one of the [`Names`] given apart. A minus in front of a number belongs to the number. A name with hyphens
//! (`?x-amp=1.0`) must first stand with its value, for `?a-b` is else a difference.
//!
//! The parser keeps its own stack, so text may nest as deeply as memory allows.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::easing::WITH_NUMBERS;
use crate::keyed::KeyError;
use crate::keyed::shape::{Shape, Tcb};
use crate::op::{Op, UNARY_MINUS};
use crate::text::{
    Function, KeyText, ListHead, Settings, Span, SyntaxError, SyntaxErrorKind, excerpt, finite, keyed,
    nearest, replaced,
};
use crate::track::{BuildError, Builder, Id, Parameter, Track, begins_name, continues_name};

/// What bare names in a formula mean.
#[derive(Clone, Debug, Default)]
pub struct Names(BTreeMap<String, Meaning>);

#[derive(Clone, Debug)]
enum Meaning {
    Start(f64),
    Track(Track),
}

impl Names {
    /// No names.
    pub fn new() -> Names {
        Names::default()
    }

    /// `name` is a free parameter that starts at `start`.
    pub fn start(mut self, name: &str, start: f64) -> Names {
        self.0.insert(name.into(), Meaning::Start(start));
        self
    }

    /// Each name is a free parameter with its start; see [`Names::start`].
    pub fn starts<N: AsRef<str>>(self, starts: impl IntoIterator<Item = (N, f64)>) -> Names {
        starts.into_iter().fold(self, |names, (name, start)| names.start(name.as_ref(), start))
    }

    /// `name` is this track.
    pub fn track(mut self, name: &str, track: Track) -> Names {
        self.0.insert(name.into(), Meaning::Track(track));
        self
    }
}

impl Track {
    /// Reads a formula or describe text in which every free parameter carries its value.
    ///
    /// ```
    /// # use keyfit_ir::Track;
    /// let track = Track::parse("?gain=1.0 * t + ?bias=0.0")?;
    /// assert_eq!(track, Track::parse(&track.describe())?);
    /// # Ok::<(), keyfit_ir::SyntaxError>(())
    /// ```
    ///
    /// # Errors
    /// Where the text is no formula; see [`SyntaxErrorKind`].
    pub fn parse(text: &str) -> Result<Track, SyntaxError> {
        Track::parse_with(text, &Names::new())
    }

    /// Reads a formula with named starts and named tracks given apart: `b1*(1-exp(-b2*t))`.
    ///
    /// # Errors
    /// As [`Track::parse`].
    pub fn parse_with(text: &str, names: &Names) -> Result<Track, SyntaxError> {
        Parser::new(text, names)?.parse()
    }

    /// The formula `text` with the numbers that `value` gives for its free parameters as their starts: in the place of a start that
    /// stands there, and else where the parameter is named first. All else stays as it is written.
    ///
    /// ```
    /// # use keyfit_ir::Track;
    /// let fitted = |name: &str| ["a", "b"].contains(&name).then_some(2.5);
    /// assert_eq!(Track::restart_formula("?a=1 * exp(-b*t) + b", fitted)?, "?a=2.5 * exp(-?b=2.5*t) + b");
    /// # Ok::<(), keyfit_ir::SyntaxError>(())
    /// ```
    ///
    /// # Errors
    /// Where the text has no tokens of a formula.
    pub fn restart_formula(text: &str, value: impl Fn(&str) -> Option<f64>) -> Result<String, SyntaxError> {
        let tokens = tokens(text)?;
        let started = |token: &Token<'_>| matches!(token, Token::Free(_, Some(_)));
        let mut placed: HashSet<&str> = (tokens.iter())
            .filter_map(|(token, _)| if let Token::Free(name, Some(_)) = token { Some(*name) } else { None })
            .collect();
        let mut new = Vec::new();
        for (k, (token, span)) in tokens.iter().enumerate() {
            let name = match (token, tokens.get(k + 1)) {
                (Token::Free(name, _), _) => *name,
                // a function, a key list, a key's setting
                (Token::Name(_), Some((Token::Sign('(' | '[' | '='), _))) => continue,
                (Token::Name(name), _) => *name,
                _ => continue,
            };
            let Some(x) = value(name) else { continue };
            if started(token) || placed.insert(name) {
                new.push((*span, format!("?{name}={x:?}")));
            }
        }
        Ok(replaced(text, new))
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Token<'a> {
    Number(f64),
    Name(&'a str),
    /// A free parameter; the value is there if `=` and a number follow.
    Free(&'a str, Option<f64>),
    Sign(char),
    Define,
    End,
}

/// Splits a formula into tokens with their places; the last is [`Token::End`].
fn tokens(text: &str) -> Result<Vec<(Token<'_>, Span)>, SyntaxError> {
    let mut out = Vec::new();
    // names with hyphens that have stood with their values
    let mut hyphenated = HashSet::new();
    let mut at = 0;
    loop {
        at = skip(text, at, char::is_whitespace);
        let start = at;
        let Some(c) = text[at..].chars().next() else {
            out.push((Token::End, Span { start, end: start }));
            return Ok(out);
        };
        let token = if starts_number(&text[at..]) {
            at = number_end(text, at);
            Token::Number(finite(&text[start..at], Span { start, end: at })?)
        } else if begins_name(c) {
            at = shape_end(text, at)?.unwrap_or_else(|| skip(text, at, continues_name));
            Token::Name(&text[start..at])
        } else if c == '?' {
            let (token, end) = free_token(text, at + 1, &hyphenated)?;
            if let Token::Free(name, Some(_)) = token
                && name.contains('-')
            {
                hyphenated.insert(name);
            }
            at = end;
            token
        } else if text[at..].starts_with(":=") {
            at += 2;
            Token::Define
        } else if "()[]{},;=".contains(c) || Op::from_sign(c).is_some() {
            at += c.len_utf8();
            Token::Sign(c)
        } else {
            let span = Span { start, end: at + c.len_utf8() };
            return Err(unexpected("a number, a name, an operator or a bracket", &text[span.range()], span));
        };
        out.push((token, Span { start, end: at }));
    }
}

/// The end of a key list's head that has hyphens or numbers; hyphens are signs in front of anything else than a bracket.
fn shape_end(text: &str, start: usize) -> Result<Option<usize>, SyntaxError> {
    // heads are short: looking further at each name would take quadratic time
    const LONGEST: usize = 32;
    let mut ahead = text[start..].char_indices().take(LONGEST);
    let Some(length) = ahead.find(|(_, c)| !continues_name(*c) && *c != '-').map(|(i, _)| i) else {
        return Ok(None);
    };
    let end = start + length;
    let word = &text[start..end];
    if let Some((_, expected)) = WITH_NUMBERS.iter().find(|(name, _)| *name == word)
        && let Some(numbers) = text[end..].strip_prefix('(')
        && let Some(close) = numbers.find(['(', ')']).filter(|n| numbers[*n..].starts_with(')'))
    {
        let span = Span { start, end: end + close + 2 };
        return match Shape::from_word(&text[span.range()]) {
            Some(_) => Ok(Some(span.end)),
            None => Err(unexpected(expected, &text[span.range()], span)),
        };
    }
    if !word.contains('-') || !text[end..].starts_with('[') {
        Ok(None)
    } else if ListHead::from_word(word).is_some() {
        Ok(Some(end))
    } else if word.match_indices('-').any(|(i, _)| ListHead::from_word(&word[i + 1..]).is_some()) {
        Ok(None) // a difference
    } else {
        match ListHead::nearest(word) {
            None => Ok(None),
            near => Err(unknown_shape(word, near, Span { start, end })),
        }
    }
}

fn unknown_shape(word: &str, near: Option<String>, span: Span) -> SyntaxError {
    SyntaxError { kind: SyntaxErrorKind::Unknown { what: "shape", word: word.into(), near }, span }
}

fn hyphened_end(text: &str, start: usize) -> usize {
    skip(text, start, |c| continues_name(c) || c == '-')
}

fn free_token<'a>(
    text: &'a str,
    at: usize,
    hyphenated: &HashSet<&str>,
) -> Result<(Token<'a>, usize), SyntaxError> {
    let short = skip(text, at, continues_name);
    let long = hyphened_end(text, at);
    if !text[at..].starts_with(begins_name) {
        let span = Span { start: at - 1, end: at };
        return Err(unexpected("a free parameter's name behind ?", "?", span));
    }
    let Some(rest) = text[long..].strip_prefix('=') else {
        let end = if hyphenated.contains(&text[at..long]) { long } else { short };
        return Ok((Token::Free(&text[at..end], None), end));
    };
    let value = text.len() - rest.len();
    let digits = value + rest.starts_with('-') as usize;
    let end = ["inf", "NaN"]
        .iter()
        .find(|special| text[digits..].starts_with(**special))
        .map_or_else(|| number_end(text, digits), |special| digits + special.len());
    let span = Span { start: value, end: end.max(value) };
    let x = match &text[digits..end] {
        "inf" => f64::INFINITY,
        "NaN" => f64::NAN,
        "" => {
            return Err(unexpected(
                "the parameter's value, a number",
                text[value..].get(..1).unwrap_or("nothing"),
                span,
            ));
        }
        digits => finite(digits, span)?,
    };
    Ok((Token::Free(&text[at..long], Some(if digits > value { -x } else { x })), end))
}

fn skip(text: &str, at: usize, belongs: impl Fn(char) -> bool) -> usize {
    text[at..].find(|c| !belongs(c)).map_or(text.len(), |n| at + n)
}

fn starts_number(text: &str) -> bool {
    text.trim_start_matches('.').starts_with(|c: char| c.is_ascii_digit()) && !text.starts_with("..")
}

fn number_end(text: &str, at: usize) -> usize {
    let digits = skip(text, at, |c| c.is_ascii_digit() || c == '.');
    let Some(exponent) = text[digits..].strip_prefix(['e', 'E']) else { return digits };
    let sign = exponent.starts_with(['+', '-']) as usize;
    match exponent[sign..].starts_with(|c: char| c.is_ascii_digit()) {
        true => skip(text, digits + 1 + sign, |c| c.is_ascii_digit()),
        false => digits,
    }
}

fn unexpected(expected: &'static str, found: &str, span: Span) -> SyntaxError {
    let kind = match found {
        "" => SyntaxErrorKind::UnexpectedEnd { expected },
        _ => SyntaxErrorKind::Unexpected { expected, found: excerpt(found) },
    };
    SyntaxError { kind, span }
}

/// What is open around the place that is being read.
enum Frame<'a> {
    Infix(Op, Span),
    Minus(Span),
    Group(Span),
    Call(Function, Span, Vec<Id>),
    Keys(KeyList),
    /// The clock of a keyed track.
    ReadAt(KeyList),
    Define(&'a str),
}

/// A key list that is being read.
struct KeyList {
    /// Its opening.
    open: Span,
    head: ListHead,
    keys: Vec<KeyText>,
    /// What the operand that is being read will be.
    slot: Slot,
}

enum Slot {
    /// The value of a key at this time, which stands there.
    Value(f64, Span),
    /// A tangent of the last key: the one with which it is left, or the one with which it is arrived at.
    Tangent { leaving: bool },
}

struct Parser<'a> {
    text: &'a str,
    names: &'a Names,
    tokens: Vec<(Token<'a>, Span)>,
    next: usize,
    builder: Builder,
    frames: Vec<Frame<'a>>,
    operands: Vec<Id>,
    /// Definitions, and names given apart that have been used.
    known: HashMap<&'a str, Id>,
    /// The free parameters' values where the formula itself gives them, wherever it does.
    starts: HashMap<&'a str, f64>,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str, names: &'a Names) -> Result<Parser<'a>, SyntaxError> {
        let tokens = tokens(text)?;
        let mut starts = HashMap::new();
        for (token, _) in &tokens {
            if let Token::Free(name, Some(start)) = token {
                starts.entry(*name).or_insert(*start);
            }
        }
        Ok(Parser {
            text,
            names,
            tokens,
            next: 0,
            builder: Builder::new(),
            frames: Vec::new(),
            operands: Vec::new(),
            known: HashMap::new(),
            starts,
        })
    }

    fn peek(&self) -> (Token<'a>, Span) {
        self.ahead(0)
    }

    fn ahead(&self, n: usize) -> (Token<'a>, Span) {
        let end = Span { start: self.text.len(), end: self.text.len() };
        self.tokens.get(self.next + n).copied().unwrap_or((Token::End, end))
    }

    fn take(&mut self, sign: char) -> Option<Span> {
        let (token, span) = self.peek();
        (token == Token::Sign(sign)).then(|| {
            self.next += 1;
            span
        })
    }

    fn expected<T>(&self, expected: &'static str) -> Result<T, SyntaxError> {
        let (_, span) = self.peek();
        Err(unexpected(expected, &self.text[span.range()], span))
    }

    /// Reads statements; each turn of the loop reads one operand and all that closes behind it.
    fn parse(mut self) -> Result<Track, SyntaxError> {
        self.begin_statement()?;
        loop {
            self.operand()?;
            if let Some(root) = self.after_operand()? {
                return self
                    .builder
                    .finish(root)
                    .map_err(|e| self.error(e, Span { start: 0, end: self.text.len() }));
            }
        }
    }

    fn begin_statement(&mut self) -> Result<(), SyntaxError> {
        if let ((Token::Name(name), span), (Token::Define, _)) = (self.peek(), self.ahead(1)) {
            let taken = match name {
                "t" => Some("clock"),
                _ if self.known.contains_key(name) => Some("definition"),
                _ => self.names.0.contains_key(name).then_some("start or track given apart"),
            };
            if let Some(what) = taken {
                return Err(SyntaxError { kind: SyntaxErrorKind::Taken { what, name: name.into() }, span });
            }
            self.frames.push(Frame::Define(name));
            self.next += 2;
        }
        Ok(())
    }

    fn error(&self, error: impl Into<BuildError>, span: Span) -> SyntaxError {
        SyntaxError { kind: SyntaxErrorKind::Build(error.into()), span }
    }

    fn put(&mut self, built: Result<Id, BuildError>, span: Span) -> Result<(), SyntaxError> {
        self.operands.push(built.map_err(|e| self.error(e, span))?);
        Ok(())
    }

    /// Reads up to the end of one operand, opening frames on the way.
    fn operand(&mut self) -> Result<(), SyntaxError> {
        loop {
            let (token, span) = self.peek();
            if token == Token::End {
                return self.expected("an operand (a number, t, ?name=value, a function, a bracket)");
            }
            self.next += 1;
            match token {
                Token::Number(x) => return self.number(x, span),
                Token::Sign('-') => match self.peek() {
                    (Token::Number(x), end) if self.ahead(1).0 != Token::Sign('^') => {
                        self.next += 1;
                        return self.number(-x, span.to(end));
                    }
                    (Token::Name("inf"), end) => {
                        self.next += 1;
                        return self.number(f64::NEG_INFINITY, span.to(end));
                    }
                    _ => self.frames.push(Frame::Minus(span)),
                },
                Token::Sign('(') => self.frames.push(Frame::Group(span)),
                Token::Free(name, value) => return self.free(name, value, span),
                Token::Name(word) if self.peek().0 == Token::Sign('[') => {
                    let Some(head) = ListHead::from_word(word) else {
                        return Err(unknown_shape(word, ListHead::nearest(word), span));
                    };
                    let open = span.to(self.peek().1);
                    self.next += 1;
                    let slot = self.key_time()?;
                    self.frames.push(Frame::Keys(KeyList { open, head, keys: Vec::new(), slot }));
                }
                Token::Name(name) if self.peek().0 == Token::Sign('(') => {
                    let function = Function::from_word(name);
                    let Some(function) = function.or_else(|| Op::from_name(name).map(Function::Operation))
                    else {
                        if ListHead::from_word(name).is_some() {
                            return self.expected("[ and keys, as in linear[0=0 4=1](clock)");
                        }
                        let near = match name {
                            "log" => Some("ln".into()),
                            "lerp" => Some("mix".into()),
                            _ => nearest(name, Op::ALL.iter().map(|op| op.word())),
                        };
                        let kind = SyntaxErrorKind::Unknown { what: "function", word: excerpt(name), near };
                        return Err(SyntaxError { kind, span });
                    };
                    self.next += 1;
                    self.frames.push(Frame::Call(function, span, Vec::new()));
                }
                Token::Name(name) => return self.name(name, span),
                Token::Sign(_) | Token::Define | Token::End => {
                    self.next -= 1;
                    return self.expected("an operand (a number, t, ?name=value, a function, a bracket)");
                }
            }
        }
    }

    fn number(&mut self, x: f64, span: Span) -> Result<(), SyntaxError> {
        let id = self.builder.constant(x);
        self.put(id, span)
    }

    fn free(&mut self, name: &'a str, value: Option<f64>, span: Span) -> Result<(), SyntaxError> {
        let start = match value.or_else(|| self.starts.get(name).copied()) {
            Some(start) => start,
            None => match self.names.0.get(name) {
                Some(Meaning::Start(start)) => *start,
                _ => return Err(self.no_start(name, span)),
            },
        };
        let id = match Parameter::new(name, start) {
            Ok(parameter) => self.builder.free(parameter),
            Err(e) => Err(e.into()),
        };
        self.put(id, span)
    }

    fn name(&mut self, name: &'a str, span: Span) -> Result<(), SyntaxError> {
        if name.contains('(') {
            return self.expected(
                "[ and keys, as in steps(4,jump-end)[0=0 4=1], or ( and a value, as in steps(4)(t)",
            );
        }
        if let Some(&id) = self.known.get(name) {
            self.operands.push(id);
            return Ok(());
        }
        let constant = match (name, self.names.0.get(name)) {
            ("t", _) => {
                let id = self.builder.clock();
                return self.put(id, span);
            }
            (_, Some(Meaning::Start(_))) => return self.free(name, None, span),
            (_, None) if self.starts.contains_key(name) => return self.free(name, None, span),
            (_, Some(Meaning::Track(track))) => {
                let id = self.builder.graft(track);
                self.put(id, span)?;
                self.known.extend(self.operands.last().map(|&id| (name, id)));
                return Ok(());
            }
            ("pi", _) => std::f64::consts::PI,
            ("tau", _) => std::f64::consts::TAU,
            ("inf", _) => f64::INFINITY,
            ("NaN", _) => f64::NAN,
            _ => {
                let op = Op::from_word(name).or_else(|| Op::from_name(name));
                let no_arguments = |op| SyntaxError { kind: SyntaxErrorKind::NoArguments(op), span };
                return Err(op.map_or_else(|| self.no_start(name, span), no_arguments));
            }
        };
        self.number(constant, span)
    }

    fn no_start(&self, name: &str, span: Span) -> SyntaxError {
        let known = self.names.0.keys().map(String::as_str).chain(self.known.keys().copied());
        let near = nearest(name, known.chain(self.starts.keys().copied()).chain(["pi", "tau"]));
        let near = near.filter(|near| near != name);
        SyntaxError { kind: SyntaxErrorKind::NoStart { name: excerpt(name), near }, span }
    }

    /// Reads what may follow an operand until another operand must; gives the root at the text's end.
    fn after_operand(&mut self) -> Result<Option<Id>, SyntaxError> {
        loop {
            let (token, span) = self.peek();
            if let Some(Frame::Keys(..)) = self.frames.iter().rfind(|frame| !matches!(frame, Frame::Minus(_)))
            {
                self.reduce(0)?;
                if self.key_end()? {
                    continue;
                }
                return Ok(None);
            }
            if let Token::Sign(sign) = token
                && let Some((op, infix)) = Op::from_sign(sign).and_then(|op| Some((op, op.infix()?)))
            {
                self.reduce(infix.precedence + infix.right as u8)?;
                self.next += 1;
                self.frames.push(Frame::Infix(op, span));
                return Ok(None);
            }
            self.reduce(0)?;
            match (token, self.frames.pop()) {
                (Token::Sign(')'), Some(Frame::Group(_))) => self.next += 1,
                (Token::Sign(')'), Some(Frame::Call(function, name, mut operands))) => {
                    operands.extend(self.operands.pop());
                    self.next += 1;
                    let id = function.apply(&mut self.builder, &operands);
                    self.put(id, name.to(span))?;
                }
                (Token::Sign(','), Some(Frame::Call(function, name, mut operands))) => {
                    operands.extend(self.operands.pop());
                    self.next += 1;
                    self.frames.push(Frame::Call(function, name, operands));
                    return Ok(None);
                }
                (Token::Sign(')'), Some(Frame::ReadAt(KeyList { open, head, keys, .. }))) => {
                    self.next += 1;
                    let Some(clock) = self.operands.pop() else { return self.expected("a clock") };
                    self.operands.push(keyed(&mut self.builder, head, &keys, clock, open.to(span))?);
                }
                (Token::Sign(';'), Some(Frame::Define(name))) => {
                    self.next += 1;
                    self.known.extend(self.operands.pop().map(|id| (name, id)));
                    self.begin_statement()?;
                    return Ok(None);
                }
                (Token::End, None) => return Ok(self.operands.pop()),
                (Token::End, Some(Frame::Define(_))) => return self.expected("; and the track"),
                (
                    Token::End,
                    Some(Frame::Group(open) | Frame::Call(_, open, _) | Frame::ReadAt(KeyList { open, .. })),
                ) => {
                    return Err(SyntaxError {
                        kind: SyntaxErrorKind::Unclosed { what: "bracket" },
                        span: open,
                    });
                }
                (_, Some(Frame::Call(..))) => return self.expected("an operator, a comma or )"),
                (_, Some(Frame::Group(_) | Frame::ReadAt(..))) => return self.expected("an operator or )"),
                (_, Some(Frame::Define(_))) => return self.expected("an operator or ;"),
                _ => return self.expected("an operator (write 2*t for a product) or the end"),
            }
        }
    }

    /// Applies open operators that bind at least as tightly as `precedence`.
    fn reduce(&mut self, precedence: u8) -> Result<(), SyntaxError> {
        loop {
            let (op, span) = match self.frames.last() {
                Some(&Frame::Infix(op, span)) if op.infix().is_some_and(|i| i.precedence >= precedence) => {
                    (op, span)
                }
                Some(&Frame::Minus(span)) if UNARY_MINUS >= precedence => (Op::NEG, span),
                _ => return Ok(()),
            };
            self.frames.pop();
            let operands = self.operands.split_off(self.operands.len().saturating_sub(op.arity()));
            let id = self.builder.apply(op, &operands);
            self.put(id, span)?;
        }
    }

    /// Reads a key's time and `=`; its value is the next operand.
    fn key_time(&mut self) -> Result<Slot, SyntaxError> {
        let minus = self.take('-');
        let (token, span) = self.peek();
        let time = match token {
            Token::Number(x) => x,
            Token::Free(name, _) => {
                return Err(SyntaxError { kind: SyntaxErrorKind::FreeKeyTime { name: name.into() }, span });
            }
            Token::Sign(']') if minus.is_none() => return Err(self.error(KeyError::Empty, span)),
            _ => return self.expected("a key, as in 2=4.5 (put a longer value into parentheses), or ]"),
        };
        self.next += 1;
        let Some(equals) = self.take('=') else { return self.expected("= and the key's value") };
        Ok(Slot::Value(if minus.is_some() { -time } else { time }, minus.unwrap_or(span).to(equals)))
    }

    /// Stores the value or tangent that has been read, and reads on in the list until another operand must follow or the
    /// list ends; true if it is an operand that is complete.
    fn key_end(&mut self) -> Result<bool, SyntaxError> {
        let Some(value) = self.operands.pop() else { return self.expected("a key's value") };
        let Some(Frame::Keys(mut list)) = self.frames.pop() else { return self.expected("a key list") };
        let inside = match (&list.slot, list.keys.last_mut()) {
            (Slot::Value(time, span), _) => {
                list.keys.push(KeyText {
                    time: *time,
                    value,
                    span: *span,
                    value_at: *span,
                    settings: Settings::default(),
                });
                self.take('{').is_some()
            }
            (Slot::Tangent { leaving }, Some(key)) => {
                let tangents = &mut key.settings;
                *(if *leaving { &mut tangents.leave } else { &mut tangents.arrive }) = Some(value);
                true
            }
            (Slot::Tangent { .. }, None) => return self.expected("a key"),
        };
        let next = match list.keys.last_mut() {
            Some(key) if inside => self.settings(&mut key.settings)?,
            _ => None,
        };
        if let Some(slot) = next {
            self.frames.push(Frame::Keys(KeyList { slot, ..list }));
            return Ok(false);
        }
        if let (Token::Name(_), Some(key)) = (self.peek().0, list.keys.last_mut()) {
            key.settings.shape = Some(self.shape()?);
        }
        match self.peek() {
            (Token::End, _) => {
                let kind = SyntaxErrorKind::Unclosed { what: "key list" };
                return Err(SyntaxError { kind, span: list.open });
            }
            (Token::Sign(']'), _) => self.next += 1,
            _ => {
                let slot = self.key_time()?;
                self.frames.push(Frame::Keys(KeyList { slot, ..list }));
                return Ok(false);
            }
        }
        if let Some(bracket) = self.take('(') {
            self.frames.push(Frame::ReadAt(KeyList { open: list.open.to(bracket), ..list }));
            return Ok(false);
        }
        let clock = self.builder.clock().map_err(|e| self.error(e, list.open))?;
        self.operands.push(keyed(&mut self.builder, list.head, &list.keys, clock, list.open)?);
        Ok(true)
    }

    /// Reads what braces say of a key, up to a tangent, which is the next operand, or the closing brace.
    fn settings(&mut self, settings: &mut Settings) -> Result<Option<Slot>, SyntaxError> {
        const NEEDS: &str = "t=, c= or b= and a number, in= or out= and a tangent, or }";
        loop {
            if self.take('}').is_some() {
                return Ok(None);
            }
            let ((Token::Name(name), span), (Token::Sign('='), _)) = (self.peek(), self.ahead(1)) else {
                return self.expected(NEEDS);
            };
            let taken = |is: bool| {
                let kind = SyntaxErrorKind::Taken { what: "setting of this key", name: name.into() };
                if is { Err(SyntaxError { kind, span }) } else { Ok(()) }
            };
            if let Some(i) = Tcb::NAMES.iter().position(|own| *own == name) {
                taken(settings.tcb[i].is_some())?;
                self.next += 2;
                let minus = self.take('-').is_some();
                let (Token::Number(x), _) = self.peek() else { return self.expected("a number") };
                self.next += 1;
                settings.tcb[i] = Some(if minus { -x } else { x });
                continue;
            }
            let leaving = match name {
                "in" => false,
                "out" => true,
                _ => return self.expected(NEEDS),
            };
            taken(if leaving { settings.leave } else { settings.arrive }.is_some())?;
            self.next += 2;
            return Ok(Some(Slot::Tangent { leaving }));
        }
    }

    /// Reads a shape's name; its hyphens are tokens of their own.
    fn shape(&mut self) -> Result<Shape, SyntaxError> {
        let (_, first) = self.peek();
        let span = Span { start: first.start, end: hyphened_end(self.text, first.start).max(first.end) };
        let word = &self.text[span.range()];
        let Some(shape) = Shape::from_word(word) else {
            return Err(unknown_shape(word, ListHead::nearest(word), span));
        };
        while self.peek().1.start < span.end {
            self.next += 1;
        }
        Ok(shape)
    }
}
