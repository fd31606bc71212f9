//! RectSL, the language of scenes. Its expressions are postfix: a word takes what stands before it.
//!
//! ```text
//! scene   = "#rectsl" { setting | track | rect }
//! setting = "->wall" WIDTH HEIGHT UNIT | "->duration" SECONDS | "->fps" RATE
//! track   = HEAD-track STRING keys                         named, for "name" track-ref
//! rect    = STRING "rect" { value | word | ->set } ";"
//! value   = NUMBER | STRING | COLOUR | keys | "t"
//! keys    = "'(" { TIME "=" { value | word } { at } } ")"  2=4, 2=4 free-param peak
//! at      = "->" SHAPE                                     the segment to the next key
//!         | NUMBER ( "->tension" | "->continuity" | "->bias" ) | VALUE ( "->in" | "->out" )
//! ```
//! A word takes its operands from before it and leaves its result in their place:
//!
//! | words | meaning |
//! | --- | --- |
//! | `A B add`, `A B +`, `X sin` … | an operation, by its word or its sign |
//! | `U sine-in`, `U cubic-bezier(0.25,0.1,0.25,1)`, `U steps(4,jump-end)` | an easing of a value; no spaces within |
//! | `VALUE free-param NAME` | a free parameter with its current value, in an expression or as a key's value |
//! | `KEYS HEAD` | a keyed track; a HEAD is a SHAPE for all segments, or `keys`, where each key names its own: `'( 0=1 ->hold 1=2 ->sine-in 2=3 ) keys` |
//! | `KEYS PERIOD shortest` | the same keys, each value turned by whole periods so that the way from the one before is the shorter one ([`Builder::unwrap_values`]): `'( 0=350 1=10 ) 360 shortest linear` |
//! | `STRING track-ref` | the named track |
//! | `TRACK CLOCK at` | the track, read at another clock: `"sweep" track-ref t 2 loop at` |
//! | `T PERIOD loop`, `T PERIOD ping-pong` | a clock that begins anew, or runs there and back |
//! | `COLOUR solid` | a fill; a COLOUR is `0x44d4b4` |
//!
//! A SHAPE is `linear`, `hold`, `catmull-rom`, `monotone`, `tcb`, `cubic` or an easing.
//!
//! A rect is set by `X Y ->xy`, `W H ->wh`, `->x ->y ->w ->h`, `ANGLE ->rotate` (radians, counter-clockwise), `FILL ->fill`,
//! and `->face-travel`, which turns the rect so that it faces where it goes: by its [`heading`], and by what `->rotate`
//! says on top. Targets say where a channel must be, and when: `'( 1=-4 3=4 ) ->x-targets` (`->y-targets` …); or how fast it
//! must change, or how that must change, a second: `'( 2=0.5 ) ->x.velocity-targets`, `'( 2=0 ) ->x.acceleration-targets`. What
//! is set twice has its last value; targets add up.
//!
//! A comment runs from a word that begins with `#` or `//` to the end of its line.

mod format;

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::easing::WITH_NUMBERS;
use crate::expr::{Expr, HEADING_STEP, heading};
use crate::keyed::shape::Shape;
use crate::op::Op;
use crate::scene::{Colour, Quantity, Rate, Rect, Scene, Target, Wall};
use crate::text::{
    Function, KeyText, ListHead, Settings, Span, SyntaxError, SyntaxErrorKind, excerpt, finite, keyed,
    nearest,
};
use crate::track::{BuildError, Builder, Id, Node, Parameter, Track};

impl Scene {
    /// Whether a text says of itself that it is RectSL: it begins with `#rectsl`.
    pub fn is_rectsl(text: &str) -> bool {
        text.trim_start().starts_with("#rectsl")
    }

    /// Reads a scene in RectSL.
    ///
    /// # Errors
    /// Everything that is wrong, at most once a setting, track or `->` word of a rect, in the order of the text; at least one
    /// [`SyntaxError`].
    pub fn parse_rectsl(text: &str) -> Result<Scene, Vec<SyntaxError>> {
        Parser::new(text).map_err(|e| vec![e])?.scene()
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Token<'a> {
    Word(&'a str),
    Text(&'a str),
    OpenKeys,
    CloseKeys,
    Equals,
    EndRect,
    Comment,
}

fn tokens(text: &str) -> Result<Vec<(Token<'_>, Span)>, SyntaxError> {
    let mut out = Vec::new();
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        let start = at;
        let rest = &text[at..];
        let token = if c.is_whitespace() {
            at += c.len_utf8();
            continue;
        } else if c == '#' || rest.starts_with("//") {
            at += rest.find('\n').unwrap_or(rest.len());
            Token::Comment
        } else if c == '"' {
            let Some(length) = rest[1..].find('"') else {
                let kind = SyntaxErrorKind::Unclosed { what: "string" };
                return Err(SyntaxError { kind, span: Span { start, end: start + 1 } });
            };
            at += length + 2;
            Token::Text(&rest[1..=length])
        } else if rest.starts_with("'(") {
            at += 2;
            Token::OpenKeys
        } else if let Some(sign) = [(')', Token::CloseKeys), ('=', Token::Equals), (';', Token::EndRect)]
            .into_iter()
            .find_map(|(sign, token)| (c == sign).then_some(token))
        {
            at += 1;
            sign
        } else {
            let word_end = |from: usize| {
                let ends = |c: char| c.is_whitespace() || ")=;\"".contains(c);
                rest[from..].find(ends).map_or(rest.len(), |n| from + n)
            };
            let mut end = word_end(0);
            if rest[..end].contains('(') && rest[end..].starts_with(')') {
                end = word_end(end + 1); // steps(4,jump-end)
            }
            at += end;
            Token::Word(&rest[..end])
        };
        out.push((token, Span { start, end: at }));
    }
    Ok(out)
}

/// Something that waits on the stack for a word to take it.
enum Value<'a> {
    Track(Id),
    Text(&'a str),
    Colour(u32),
    Fill(Colour),
    Keys(Vec<KeyText>),
}

/// The stack of one place where values are written: a rect, or a key.
#[derive(Default)]
struct Stack<'a>(Vec<(Value<'a>, Span)>);

impl<'a> Stack<'a> {
    fn pop<T>(
        &mut self,
        word: &str,
        at: Span,
        needs: &'static str,
        want: impl FnOnce(Value<'a>) -> Option<T>,
    ) -> Result<(T, Span), SyntaxError> {
        let missing =
            || SyntaxError { kind: SyntaxErrorKind::Missing { word: word.into(), needs }, span: at };
        let (value, span) = self.0.pop().ok_or_else(missing)?;
        Ok((want(value).ok_or_else(missing)?, span))
    }

    fn track(&mut self, word: &str, at: Span, needs: &'static str) -> Result<(Id, Span), SyntaxError> {
        self.pop(word, at, needs, |value| if let Value::Track(id) = value { Some(id) } else { None })
    }

    fn text(&mut self, word: &str, at: Span, needs: &'static str) -> Result<(&'a str, Span), SyntaxError> {
        self.pop(word, at, needs, |value| if let Value::Text(text) = value { Some(text) } else { None })
    }

    fn keys(
        &mut self,
        word: &str,
        at: Span,
        needs: &'static str,
    ) -> Result<(Vec<KeyText>, Span), SyntaxError> {
        self.pop(word, at, needs, |value| if let Value::Keys(keys) = value { Some(keys) } else { None })
    }

    fn ends_with_keys(&self) -> bool {
        matches!(self.0.last(), Some((Value::Keys(_), _)))
    }

    fn is_empty(&self) -> Result<(), SyntaxError> {
        match self.0.first() {
            None => Ok(()),
            Some((_, span)) => {
                Err(SyntaxError { kind: SyntaxErrorKind::LeftOver { count: self.0.len() }, span: *span })
            }
        }
    }
}

/// A word that sets something of a rect.
#[derive(Clone, Copy, Debug)]
enum RectWord {
    /// Takes one track.
    One(Quantity),
    /// Takes two tracks.
    Pair(Quantity, Quantity),
    /// Takes a list of targets.
    Targets(Quantity, Option<Rate>),
    /// Takes a fill.
    Fill,
    /// Takes nothing.
    FaceTravel,
}

/// All words of rects.
static RECT_WORDS: LazyLock<Vec<(String, RectWord)>> = LazyLock::new(|| {
    let mut words = vec![
        ("->xy".into(), RectWord::Pair(Quantity::X, Quantity::Y)),
        ("->wh".into(), RectWord::Pair(Quantity::W, Quantity::H)),
        ("->fill".into(), RectWord::Fill),
        ("->face-travel".into(), RectWord::FaceTravel),
    ];
    for quantity in Quantity::ALL {
        words.push((format!("->{}", quantity.name()), RectWord::One(quantity)));
        words.push((format!("->{}-targets", quantity.name()), RectWord::Targets(quantity, None)));
        words.extend(Rate::ALL.map(|rate| {
            let name = rate.of_channel(quantity.name());
            (format!("->{name}-targets"), RectWord::Targets(quantity, Some(rate)))
        }));
    }
    words
});

impl RectWord {
    fn from_word(word: &str) -> Option<RectWord> {
        RECT_WORDS.iter().find(|(own, _)| own == word).map(|(_, meaning)| *meaning)
    }

    fn words() -> Vec<&'static str> {
        RECT_WORDS.iter().map(|(word, _)| word.as_str()).collect()
    }
}

/// A rect as it is being set.
#[derive(Default)]
struct Draft {
    tracks: [Option<Id>; Quantity::ALL.len()],
    targets: [Vec<Target>; Quantity::ALL.len()],
    rate_targets: [[Vec<Target>; Rate::ALL.len()]; Quantity::ALL.len()],
    fill: Option<Colour>,
    faces_travel: bool,
}

impl Draft {
    /// The tracks, those that nothing was said of included.
    fn tracks(&self, builder: &mut Builder) -> Result<[Track; Quantity::ALL.len()], BuildError> {
        let mut track = |quantity: Quantity| {
            let id = self.tracks[quantity as usize];
            let id = id.map_or_else(|| builder.constant(quantity.default()), Ok)?;
            builder.finish(id)
        };
        let [x, y, w, h, rotate] = Quantity::ALL.map(&mut track);
        let (x, y, mut rotate) = (x?, y?, rotate?);
        if self.faces_travel {
            let heading = heading(x.clone(), y.clone(), HEADING_STEP);
            let turned = self.tracks[Quantity::Rotate as usize].is_some();
            rotate = if turned { (heading + Expr::from(rotate)).track()? } else { heading.track()? };
        }
        Ok([x, y, w?, h?, rotate])
    }
}

const SETTINGS: [&str; 4] = ["->wall", "->duration", "->fps", "rect"];
const VALUE_WORDS: [&str; 7] = ["t", "free-param", "track-ref", "at", "shortest", "loop", "solid"];
const KEY_LIST: &str = "a key list '( … )";
/// Words for a key, in the order of [`Settings`]' fields.
const TCB_WORDS: [&str; 3] = ["->tension", "->continuity", "->bias"];
const TANGENT_WORDS: [&str; 2] = ["->in", "->out"];

/// Whether a token in front of `next` begins a setting, a track or a rect.
fn is_item(token: Token, next: Option<Token>) -> bool {
    match token {
        Token::Word(word) => word != "rect" && SETTINGS.contains(&word) || word.ends_with("-track"),
        Token::Text(_) => next == Some(Token::Word("rect")),
        _ => false,
    }
}

/// The head in a word such as `hold-track`.
fn track_head(word: &str) -> Option<ListHead> {
    word.strip_suffix("-track").and_then(ListHead::from_word)
}

struct Parser<'a> {
    text: &'a str,
    tokens: Vec<(Token<'a>, Span)>,
    next: usize,
    builder: Builder,
    tracks: HashMap<&'a str, Id>,
    errors: Vec<SyntaxError>,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str) -> Result<Parser<'a>, SyntaxError> {
        let mut tokens = tokens(text)?;
        tokens.retain(|(token, _)| *token != Token::Comment);
        Ok(Parser {
            text,
            tokens,
            next: 0,
            builder: Builder::new(),
            tracks: HashMap::new(),
            errors: Vec::new(),
        })
    }

    fn end(&self) -> Span {
        Span { start: self.text.len(), end: self.text.len() }
    }

    fn peek(&self) -> Option<(Token<'a>, Span)> {
        self.tokens.get(self.next).copied()
    }

    fn take(&mut self) -> Option<(Token<'a>, Span)> {
        let token = self.peek();
        self.next += token.is_some() as usize;
        token
    }

    fn unexpected(&self, expected: &'static str, found: Option<(Token<'a>, Span)>) -> SyntaxError {
        match found {
            None => SyntaxError { kind: SyntaxErrorKind::UnexpectedEnd { expected }, span: self.end() },
            Some((_, span)) => {
                let found = excerpt(&self.text[span.range()]);
                SyntaxError { kind: SyntaxErrorKind::Unexpected { expected, found }, span }
            }
        }
    }

    fn unknown(&self, what: &'static str, word: &str, span: Span, known: &[&[&str]]) -> SyntaxError {
        let name = word.trim_start_matches("->").split('(').next();
        if let Some((_, expected)) = WITH_NUMBERS.iter().find(|(own, _)| name == Some(*own)) {
            return self.unexpected(expected, Some((Token::Word(""), span)));
        }
        let near = nearest(word, known.iter().flat_map(|words| words.iter().copied()));
        SyntaxError { kind: SyntaxErrorKind::Unknown { what, word: excerpt(word), near }, span }
    }

    fn build<T>(&self, built: Result<T, impl Into<BuildError>>, span: Span) -> Result<T, SyntaxError> {
        built.map_err(|e| SyntaxError { kind: SyntaxErrorKind::Build(e.into()), span })
    }

    fn word(&mut self, expected: &'static str) -> Result<(&'a str, Span), SyntaxError> {
        match self.take() {
            Some((Token::Word(word), span)) => Ok((word, span)),
            other => Err(self.unexpected(expected, other)),
        }
    }

    fn string(&mut self, expected: &'static str) -> Result<(&'a str, Span), SyntaxError> {
        match self.take() {
            Some((Token::Text(text), span)) => Ok((text, span)),
            other => Err(self.unexpected(expected, other)),
        }
    }

    fn positive(&mut self, word: &'static str) -> Result<f64, SyntaxError> {
        let (text, span) = self.word("a number")?;
        let value = finite(text, span)?;
        if value > 0.0 {
            Ok(value)
        } else {
            Err(SyntaxError { kind: SyntaxErrorKind::NotPositive { word, value }, span })
        }
    }

    fn scene(mut self) -> Result<Scene, Vec<SyntaxError>> {
        let mut scene = Scene { wall: None, duration: None, fps: None, rects: Vec::new() };
        while let Some((token, span)) = self.take() {
            if let Err(error) = self.item(token, span, &mut scene) {
                self.errors.push(error);
                while self.peek().is_some() && !self.at_item() {
                    self.next += 1;
                }
            }
        }
        if scene.rects.is_empty() && self.errors.is_empty() {
            let error = self.unexpected("a rect, such as \"marker\" rect … ;", None);
            self.errors.push(error);
        }
        if self.errors.is_empty() { Ok(scene) } else { Err(self.errors) }
    }

    /// Whether the next token begins a setting, a track or a rect.
    fn at_item(&self) -> bool {
        let next = self.tokens.get(self.next + 1).map(|(token, _)| *token);
        self.peek().is_some_and(|(token, _)| is_item(token, next))
    }

    /// Goes on behind the next word that sets something of a rect, or to where the rect ends or the next item begins.
    fn skip_sentence(&mut self) {
        while let Some((token, _)) = self.peek() {
            if token == Token::EndRect || self.at_item() {
                return;
            }
            self.next += 1;
            if matches!(token, Token::Word(word) if RectWord::from_word(word).is_some()) {
                return;
            }
        }
    }

    fn item(&mut self, token: Token<'a>, span: Span, scene: &mut Scene) -> Result<(), SyntaxError> {
        match token {
            Token::Word("->wall") => {
                let (width, height) = (self.positive("->wall's width")?, self.positive("->wall's height")?);
                let (unit, _) = self.word("the unit of length, such as meters")?;
                scene.wall = Some(Wall { width, height, unit: unit.into() });
            }
            Token::Word("->duration") => scene.duration = Some(self.positive("->duration")?),
            Token::Word("->fps") => scene.fps = Some(self.positive("->fps")?),
            Token::Word(word) => match track_head(word) {
                Some(head) => self.named_track(head)?,
                None => {
                    if let (true, Some((Token::Text(name), at))) = (word.ends_with("-track"), self.peek()) {
                        // known from here on, so that the wrong word is all that is told
                        let stand_in = self.builder.clock();
                        let stand_in = self.build(stand_in, at)?;
                        self.tracks.insert(name, stand_in);
                    }
                    let tracks: Vec<String> = ListHead::words().map(|head| head + "-track").collect();
                    let tracks: Vec<&str> = tracks.iter().map(String::as_str).collect();
                    return Err(self.unknown("word", word, span, &[&SETTINGS, &tracks]));
                }
            },
            Token::Text(name) => {
                match self.take() {
                    Some((Token::Word("rect"), _)) => {}
                    other => return Err(self.unexpected("rect after its name", other)),
                }
                if scene.rects.iter().any(|rect| rect.name == name) {
                    return Err(taken("rect", name, span));
                }
                scene.rects.push(self.rect(name, span)?);
            }
            _ => return Err(self.unexpected("a setting, a track or a rect's name", Some((token, span)))),
        }
        Ok(())
    }

    fn named_track(&mut self, head: ListHead) -> Result<(), SyntaxError> {
        let (name, span) = self.string("the track's name in quotes")?;
        if self.tracks.contains_key(name) {
            return Err(taken("track", name, span));
        }
        let track = self.track_keys(head);
        // the name is known also where its keys are wrong, so that this is said once
        let stand_in = self.builder.clock();
        let stand_in = self.build(stand_in, span)?;
        self.tracks.insert(name, *track.as_ref().unwrap_or(&stand_in));
        track.map(|_| ())
    }

    fn track_keys(&mut self, head: ListHead) -> Result<Id, SyntaxError> {
        let Some((Token::OpenKeys, open)) = self.take() else {
            self.next = self.next.saturating_sub(1);
            return Err(self.unexpected("a key list '( … )", self.peek()));
        };
        let keys = self.keys(open)?;
        self.keyed(head, &keys, open)
    }

    /// The keys up to the closing bracket.
    fn keys(&mut self, open: Span) -> Result<Vec<KeyText>, SyntaxError> {
        let mut keys = Vec::new();
        loop {
            let (time, at) = match self.take() {
                Some((Token::CloseKeys, _)) => return Ok(keys),
                Some((Token::Word(word), span)) => {
                    self.free_key_time(self.next)?;
                    (finite(word, span)?, span)
                }
                None => return Err(unclosed_keys(open)),
                other => return Err(self.unexpected("a key, as in 2=4, or )", other)),
            };
            match self.take() {
                Some((Token::Equals, _)) => {}
                other => return Err(self.unexpected("= and the key's value", other)),
            }
            let mut stack = Stack::default();
            let mut settings = Settings::default();
            while let Some((token, span)) = self.peek() {
                let next_key = matches!(self.tokens.get(self.next + 1), Some((Token::Equals, _)));
                if token == Token::CloseKeys
                    || (next_key && matches!(token, Token::Word(_)) && !stack.0.is_empty())
                {
                    break;
                }
                match token {
                    // a name can only begin what follows the list: a named track is no key's value, it varies
                    Token::EndRect | Token::Text(_) => return Err(unclosed_keys(open)),
                    Token::Word(word) if word.starts_with("->") => {
                        if !self.setting(word, span, &mut stack, &mut settings)? {
                            return Err(self.no_setting(word, span, open));
                        }
                        self.next += 1;
                        continue;
                    }
                    Token::Equals => self.free_key_time(self.next.saturating_sub(2))?,
                    _ => {}
                }
                if token == Token::OpenKeys {
                    // never meaningful, and refused here so that lists cannot nest without bound
                    return Err(self.unexpected("a value that does not vary with time", Some((token, span))));
                }
                self.next += 1;
                self.value(token, span, &mut stack)?;
            }
            let (value, value_at) = stack.track("this key", at, "a value behind its =")?;
            stack.is_empty()?;
            keys.push(KeyText { time, value, span: at, value_at, settings });
        }
    }

    /// Refuses `1 free-param when=…`, where a free parameter stands in a key's time; its word is token `at`.
    fn free_key_time(&self, at: usize) -> Result<(), SyntaxError> {
        match self.tokens.get(at..at + 2) {
            Some(&[(Token::Word("free-param"), start), (Token::Word(name), end)]) => {
                let kind = SyntaxErrorKind::FreeKeyTime { name: name.into() };
                Err(SyntaxError { kind, span: start.to(end) })
            }
            _ => Ok(()),
        }
    }

    /// Takes a word that says something of a key; false if it is none.
    fn setting(
        &mut self,
        word: &str,
        span: Span,
        stack: &mut Stack<'a>,
        settings: &mut Settings,
    ) -> Result<bool, SyntaxError> {
        if let Some(i) = TCB_WORDS.iter().position(|own| *own == word) {
            settings.tcb[i] = Some(self.plain_number(word, span, stack)?.0);
        } else if let Some(i) = TANGENT_WORDS.iter().position(|own| *own == word) {
            let (tangent, _) = stack.track(word, span, "a tangent")?;
            *[&mut settings.arrive, &mut settings.leave][i] = Some(tangent);
        } else if let Some(shape) = word.strip_prefix("->").and_then(Shape::from_word) {
            settings.shape = Some(shape);
        } else {
            return Ok(false);
        }
        Ok(true)
    }

    /// What is wrong with a word that says nothing of a key: it belongs to the rect, and the list was never closed, or it
    /// is misspelt.
    fn no_setting(&self, word: &str, span: Span, open: Span) -> SyntaxError {
        if RectWord::from_word(word).is_some() {
            return unclosed_keys(open);
        }
        let shapes: Vec<String> = Shape::all().map(|shape| format!("->{shape}")).collect();
        let shapes: Vec<&str> = shapes.iter().map(String::as_str).collect();
        self.unknown("word", word, span, &[&shapes, &TCB_WORDS, &TANGENT_WORDS, &RectWord::words()])
    }

    /// A number that is written as such, and where.
    fn plain_number(
        &self,
        word: &str,
        span: Span,
        stack: &mut Stack<'a>,
    ) -> Result<(f64, Span), SyntaxError> {
        let needs = if word == "free-param" { "a plain number, the current value" } else { "a plain number" };
        let (id, at) = stack.track(word, span, needs)?;
        match self.builder.node(id) {
            Some(Node::Constant(x)) => Ok((x.value(), at)),
            _ => Err(SyntaxError { kind: SyntaxErrorKind::Missing { word: word.into(), needs }, span: at }),
        }
    }

    fn keyed(&mut self, head: ListHead, keys: &[KeyText], list: Span) -> Result<Id, SyntaxError> {
        let clock = self.builder.clock();
        let clock = self.build(clock, list)?;
        keyed(&mut self.builder, head, keys, clock, list)
    }

    /// A value, or a word that makes one of those on the stack.
    fn value(&mut self, token: Token<'a>, span: Span, stack: &mut Stack<'a>) -> Result<(), SyntaxError> {
        let word = match token {
            Token::Text(text) => {
                stack.0.push((Value::Text(text), span));
                return Ok(());
            }
            Token::OpenKeys => {
                let keys = self.keys(span)?;
                stack.0.push((Value::Keys(keys), span));
                return Ok(());
            }
            Token::Word(word) => word,
            _ => return Err(self.unexpected("a value or a word", Some((token, span)))),
        };
        let value = match word {
            "t" => {
                let id = self.builder.clock();
                (Value::Track(self.build(id, span)?), span)
            }
            "free-param" => {
                let (start, from) = self.plain_number(word, span, stack)?;
                let (name, at) = self.word("the free parameter's name")?;
                let parameter = self.build(Parameter::new(name, start), at)?;
                let id = self.builder.free(parameter);
                (Value::Track(self.build(id, at)?), from.to(at))
            }
            "track-ref" => {
                let (name, at) = stack.text(word, span, "a track's name in quotes")?;
                match self.tracks.get(name) {
                    Some(&id) => (Value::Track(id), at.to(span)),
                    None => {
                        let known: Vec<&str> = self.tracks.keys().copied().collect();
                        return Err(self.unknown("track", name, at, &[&known]));
                    }
                }
            }
            "solid" => {
                let want = |value| if let Value::Colour(rgb) = value { Some(rgb) } else { None };
                let (rgb, at) = stack.pop(word, span, "a colour such as 0x44d4b4", want)?;
                (Value::Fill(Colour(rgb)), at.to(span))
            }
            _ if word.starts_with("0x") => match u32::from_str_radix(&word[2..], 16) {
                // from_str_radix would take a sign too
                Ok(rgb) if word.len() == 8 && !word.contains('+') => (Value::Colour(rgb), span),
                _ => return Err(self.unexpected("a colour such as 0x44d4b4", Some((token, span)))),
            },
            _ if word.trim_start_matches(['-', '+', '.']).starts_with(|c: char| c.is_ascii_digit()) => {
                let id = self.builder.constant(finite(word, span)?);
                (Value::Track(self.build(id, span)?), span)
            }
            "at" => {
                let needs = "a track and a clock";
                let (clock, _) = stack.track(word, span, needs)?;
                let (track, from) = stack.track(word, span, needs)?;
                let moved = self.builder.finish(track);
                let moved = moved.and_then(|track| self.builder.graft_at(&track, Some(clock)));
                (Value::Track(self.build(moved, span)?), from.to(span))
            }
            "shortest" => {
                let (period, at) = self.plain_number(word, span, stack)?;
                if period.is_nan() || period <= 0.0 {
                    let kind = SyntaxErrorKind::NotPositive { word: "the period of shortest", value: period };
                    return Err(SyntaxError { kind, span: at });
                }
                let (mut keys, list) = stack.keys(word, span, KEY_LIST)?;
                let mut values: Vec<Id> = keys.iter().map(|key| key.value).collect();
                let unwrapped = self.builder.unwrap_values(&mut values, period);
                self.build(unwrapped, span)?;
                keys.iter_mut().zip(values).for_each(|(key, value)| key.value = value);
                (Value::Keys(keys), list)
            }
            _ => match (ListHead::from_word(word), Parser::function(word)) {
                // an easing's word is that of a shape too: what stands before it says which
                (Some(head), function) if function.is_none() || stack.ends_with_keys() => {
                    let (keys, list) = stack.keys(word, span, KEY_LIST)?;
                    (Value::Track(self.keyed(head, &keys, list)?), list.to(span))
                }
                (_, Some(function)) => self.apply(function, word, span, stack)?,
                (_, None) => {
                    let heads: Vec<String> = ListHead::words().collect();
                    let heads: Vec<&str> = heads.iter().map(String::as_str).collect();
                    let words: Vec<&str> = Op::ALL.iter().map(|op| op.word()).collect();
                    let known = [&words[..], &heads, &VALUE_WORDS, &RectWord::words()];
                    return Err(self.unknown("word", word, span, &known));
                }
            },
        };
        stack.0.push(value);
        Ok(())
    }

    /// What a word or a sign (`+`) does to values, if it is one that does.
    fn function(word: &str) -> Option<Function> {
        let mut signs = word.chars();
        let by_sign = match (signs.next(), signs.next()) {
            (Some(sign), None) => Op::from_sign(sign).map(Function::Operation),
            _ => None,
        };
        Function::from_word(word).or(by_sign)
    }

    fn apply(
        &mut self,
        function: Function,
        word: &str,
        span: Span,
        stack: &mut Stack<'a>,
    ) -> Result<(Value<'a>, Span), SyntaxError> {
        let needs = ["", "a number or track", "two numbers or tracks", "three numbers or tracks"];
        let arity = function.arity();
        let mut operands = Vec::with_capacity(arity);
        let mut from = span;
        for _ in 0..arity {
            let (id, at) = stack.track(word, span, needs[arity])?;
            operands.insert(0, id);
            from = at;
        }
        let id = function.apply(&mut self.builder, &operands);
        Ok((Value::Track(self.build(id, span)?), from.to(span)))
    }

    fn rect(&mut self, name: &str, opened: Span) -> Result<Rect, SyntaxError> {
        let mut draft = Draft::default();
        let mut stack = Stack::default();
        loop {
            let unclosed = SyntaxError { kind: SyntaxErrorKind::Unclosed { what: "rect" }, span: opened };
            if self.at_item() {
                return Err(unclosed);
            }
            let Some((token, span)) = self.take() else { return Err(unclosed) };
            let meaning = match token {
                Token::EndRect => break,
                Token::Word(word) => RectWord::from_word(word).map(|meaning| (word, meaning)),
                _ => None,
            };
            let done = match meaning {
                Some((word, meaning)) => self.set(word, meaning, span, &mut stack, &mut draft),
                None => self.value(token, span, &mut stack),
            };
            if let Err(error) = done {
                self.errors.push(error);
                stack = Stack::default();
                if meaning.is_none() {
                    self.skip_sentence();
                }
            }
        }
        stack.is_empty()?;
        let tracks = draft.tracks(&mut self.builder);
        let tracks = self.build(tracks, opened)?;
        let Draft { targets, rate_targets, fill, .. } = draft;
        Ok(Rect { name: name.into(), tracks, targets, rate_targets, fill })
    }

    /// Takes a word that sets something of a rect.
    fn set(
        &self,
        word: &str,
        meaning: RectWord,
        span: Span,
        stack: &mut Stack<'a>,
        draft: &mut Draft,
    ) -> Result<(), SyntaxError> {
        match meaning {
            RectWord::One(quantity) => {
                draft.tracks[quantity as usize] = Some(stack.track(word, span, "a number or track")?.0);
            }
            RectWord::Pair(first, second) => {
                for quantity in [second, first] {
                    draft.tracks[quantity as usize] =
                        Some(stack.track(word, span, "two numbers or tracks")?.0);
                }
            }
            RectWord::FaceTravel => draft.faces_travel = true,
            RectWord::Fill => {
                let want = |value| if let Value::Fill(colour) = value { Some(colour) } else { None };
                draft.fill = Some(stack.pop(word, span, "a fill such as 0x44d4b4 solid", want)?.0);
            }
            RectWord::Targets(quantity, rate) => {
                let targets = match rate {
                    None => &mut draft.targets[quantity as usize],
                    Some(rate) => &mut draft.rate_targets[quantity as usize][rate as usize],
                };
                let needs = "a list of times and values, such as '( 1=-4 3=4 )";
                let (keys, _) = stack.keys(word, span, needs)?;
                for key in keys {
                    match self.builder.node(key.value) {
                        Some(Node::Constant(value)) if key.settings.is_empty() => {
                            targets.push(Target::new(key.time, value.value()));
                        }
                        _ => {
                            let found = excerpt(&self.text[key.value_at.range()]);
                            let expected = match key.settings.is_empty() {
                                true => "a plain number as the target's value",
                                false => "a target's time and value and nothing else",
                            };
                            let kind = SyntaxErrorKind::Unexpected { expected, found };
                            return Err(SyntaxError { kind, span: key.value_at });
                        }
                    }
                }
            }
        }
        Ok(())
    }
}

fn unclosed_keys(open: Span) -> SyntaxError {
    SyntaxError { kind: SyntaxErrorKind::Unclosed { what: "key list" }, span: open }
}

fn taken(what: &'static str, name: &str, span: Span) -> SyntaxError {
    SyntaxError { kind: SyntaxErrorKind::Taken { what, name: name.into() }, span }
}
