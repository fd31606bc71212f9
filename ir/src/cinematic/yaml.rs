//! A YAML 1.2 document as a tree whose every part knows where it stands.
//!
//! The tree is built from the parser's events with a stack of its own. Depth, and what aliases may repeat, are bounded,
//! so that no short text becomes a large tree.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use granit_parser::{ErrorKind, Event, Options, Parser, ScalarStyle, options};

use super::fault::{Place, SceneFault, SceneProblem, Step};
use super::words::same_word;
use crate::text::{Span, SyntaxError, excerpt};

/// So deep may lists and mappings stand in each other; a scene needs 6.
const MOST_DEPTH: usize = 32;
/// So many values may all aliases of a document repeat.
const MOST_REPEATED: usize = 1 << 16;

/// A value, and where it stands. Clones share their content: an alias costs nothing.
#[derive(Clone, Debug)]
pub(super) struct Node {
    /// Of a scalar the whole, of a list or mapping its beginning.
    pub span: Span,
    pub content: Rc<Content>,
    /// How many values it is made of, with aliases written out.
    size: usize,
    depth: usize,
}

#[derive(Debug)]
pub(super) enum Content {
    /// A word or number; quoted text is never a number.
    Scalar {
        text: String,
        plain: bool,
    },
    List(Vec<Node>),
    Map(Vec<Entry>),
}

#[derive(Debug)]
pub(super) struct Entry {
    pub key: String,
    pub at: Span,
    pub value: Node,
}

impl Node {
    /// Whether nothing is said: `~`, `null`, or no text at all.
    pub fn is_null(&self) -> bool {
        matches!(&*self.content, Content::Scalar { text, plain: true } if matches!(text.as_str(), "" | "~" | "null" | "Null" | "NULL"))
    }

    /// What it is, for messages.
    pub fn found(&self) -> String {
        match &*self.content {
            _ if self.is_null() => "nothing".into(),
            Content::Scalar { text, plain: true } => excerpt(text),
            Content::Scalar { text, plain: false } => format!("the text {:?}", excerpt(text)),
            Content::List(items) => format!("a list of {}", items.len()),
            Content::Map(_) => "a mapping".into(),
        }
    }

    /// Where `place` stands, or the innermost value around it that is there.
    pub fn find(&self, place: &Place) -> Span {
        let mut node = self;
        for step in &place.0 {
            let inner = match (step, &*node.content) {
                (Step::Index(i), Content::List(items)) => items.get(*i),
                (Step::Key(name), Content::Map(entries)) => {
                    entries.iter().find(|entry| same_word(&entry.key, name)).map(|entry| &entry.value)
                }
                _ => None,
            };
            let Some(inner) = inner else { break };
            node = inner;
        }
        node.span
    }
}

/// A list or mapping that is not closed yet.
struct Open {
    span: Span,
    anchor: usize,
    inside: Inside,
}

enum Inside {
    List(Vec<Node>),
    Map {
        entries: Vec<Entry>,
        names: HashSet<String>,
        /// The key whose value is to come; `None` inside if the value is of no use.
        key: Option<(Option<String>, Span)>,
    },
}

/// The document's tree as far as it can be read, and what is wrong with it.
pub(super) fn parse(text: &str) -> (Option<Node>, Vec<SyntaxError>) {
    let mut tree = Tree { text, ..Tree::default() };
    if let Err(error) = tree.read() {
        tree.errors.push(error);
        return (None, tree.errors);
    }
    (tree.root, tree.errors)
}

#[derive(Default)]
struct Tree<'a> {
    text: &'a str,
    stack: Vec<Open>,
    anchors: HashMap<usize, Node>,
    repeated: usize,
    root: Option<Node>,
    errors: Vec<SyntaxError>,
}

fn error(span: Span, problem: SceneProblem) -> SyntaxError {
    SceneFault { place: Place::default(), problem }.at(span)
}

impl Tree<'_> {
    fn read(&mut self) -> Result<(), SyntaxError> {
        let options: Options = options! { flow_nesting_limit: MOST_DEPTH, block_nesting_limit: MOST_DEPTH, emit_comments: false };
        for event in Parser::new_from_str_with_options(self.text, options) {
            let (event, place) = event.map_err(|e| {
                let at = self.inside(e.marker().byte_offset().unwrap_or(self.text.len()));
                let problem = match e.kind() {
                    ErrorKind::RecursionLimitExceeded => SceneProblem::TooDeep { most: MOST_DEPTH },
                    _ => SceneProblem::Yaml(e.info()),
                };
                error(Span { start: at, end: at }, problem)
            })?;
            let range = place.byte_range().unwrap_or(0..0);
            let span = Span { start: self.inside(range.start), end: self.inside(range.end.max(range.start)) };
            self.event(event, span)?;
        }
        match self.root {
            Some(_) => Ok(()),
            None => Err(error(self.first_of(Span { start: 0, end: 0 }), SceneProblem::Empty)),
        }
    }

    fn event(&mut self, event: Event<'_>, span: Span) -> Result<(), SyntaxError> {
        if event.tag().is_some() {
            self.errors.push(error(span, SceneProblem::Tag));
        }
        match event {
            Event::DocumentStart(..) if self.root.is_some() => {
                return Err(error(span, SceneProblem::SecondDocument));
            }
            Event::Scalar(text, style, anchor, _) => {
                let plain = style == ScalarStyle::Plain;
                // an empty value is told as ~, which stands nowhere in the text
                let text = if plain && span.start == span.end { String::new() } else { text.into_owned() };
                let content = Rc::new(Content::Scalar { text, plain });
                self.value(Node { span, content, size: 1, depth: 0 }, anchor)?;
            }
            Event::SequenceStart(_, anchor, _) => self.open(span, anchor, Inside::List(Vec::new())),
            Event::MappingStart(_, anchor, _) => {
                let inside = Inside::Map { entries: Vec::new(), names: HashSet::new(), key: None };
                self.open(span, anchor, inside);
            }
            Event::SequenceEnd | Event::MappingEnd => {
                let Some(open) = self.stack.pop() else { return Ok(()) };
                let (content, children) = match open.inside {
                    Inside::List(items) => {
                        let children = items.iter().map(|item| (item.size, item.depth)).collect::<Vec<_>>();
                        (Content::List(items), children)
                    }
                    Inside::Map { entries, .. } => {
                        let children =
                            entries.iter().map(|entry| (entry.value.size, entry.value.depth)).collect();
                        (Content::Map(entries), children)
                    }
                };
                let size = children.iter().fold(1_usize, |sum, (size, _)| sum.saturating_add(*size));
                let depth = 1 + children.iter().map(|(_, depth)| *depth).max().unwrap_or(0);
                let begins = match &content {
                    // a mapping without braces begins with its first key
                    Content::Map(entries) if open.span.start == open.span.end => {
                        entries.first().map(|entry| entry.at)
                    }
                    _ => None,
                };
                let span = begins.unwrap_or_else(|| self.first_of(open.span));
                self.value(Node { span, content: Rc::new(content), size, depth }, open.anchor)?;
            }
            Event::Alias(anchor) => {
                let Some(target) = self.anchors.get(&anchor) else {
                    return Err(error(span, SceneProblem::AliasOfItself));
                };
                let node = Node { span, ..target.clone() };
                self.repeated = self.repeated.saturating_add(node.size);
                if self.repeated > MOST_REPEATED {
                    return Err(error(span, SceneProblem::TooManyAliases { most: MOST_REPEATED }));
                }
                self.value(node, 0)?;
            }
            _ => {}
        }
        Ok(())
    }

    fn open(&mut self, span: Span, anchor: usize, inside: Inside) {
        self.stack.push(Open { span, anchor, inside });
    }

    /// A whole value: the root, a list's next item, a mapping's next key or that key's value.
    fn value(&mut self, node: Node, anchor: usize) -> Result<(), SyntaxError> {
        if node.depth > MOST_DEPTH {
            return Err(error(node.span, SceneProblem::TooDeep { most: MOST_DEPTH }));
        }
        if anchor > 0 {
            self.anchors.insert(anchor, node.clone());
        }
        match self.stack.last_mut().map(|open| &mut open.inside) {
            None => self.root = Some(node),
            Some(Inside::List(items)) => items.push(node),
            Some(Inside::Map { entries, names, key }) => match key.take() {
                Some((Some(name), at)) => entries.push(Entry { key: name, at, value: node }),
                Some((None, _)) => {}
                None => {
                    let name = match &*node.content {
                        Content::Scalar { text, .. } => Some(text.clone()),
                        _ => None,
                    };
                    let problem = match &name {
                        None => Some(SceneProblem::KeyIsNoWord),
                        Some(name) if !names.insert(name.clone()) => {
                            Some(SceneProblem::RepeatedKey { key: excerpt(name) })
                        }
                        Some(_) => None,
                    };
                    let name = name.filter(|_| problem.is_none());
                    self.errors.extend(problem.map(|problem| error(node.span, problem)));
                    *key = Some((name, node.span));
                }
            },
        }
        Ok(())
    }

    /// The nearest place at or before `at` that is in the text and between two characters.
    fn inside(&self, at: usize) -> usize {
        (0..=at.min(self.text.len())).rev().find(|at| self.text.is_char_boundary(*at)).unwrap_or(0)
    }

    /// A span's first character.
    fn first_of(&self, span: Span) -> Span {
        let length = self.text[span.start..].chars().next().map_or(0, char::len_utf8);
        Span { start: span.start, end: span.start + length }
    }
}

/// The number that a plain word is under YAML 1.2's core schema, whatever its size; `None` if it is none.
///
/// Decimal numbers, `0o17`, `0x1f`, `.inf`, `.nan`. `1_000`, `1:10` and `0b1` are text; `012` is twelve.
pub(super) fn number(text: &str) -> Option<f64> {
    for (prefix, radix) in RADIXES {
        if let Some(digits) = text.strip_prefix(prefix) {
            let digits = digits.chars().map(|c| c.to_digit(radix)).collect::<Option<Vec<u32>>>()?;
            let value = digits.iter().fold(0.0, |x, digit| x * f64::from(radix) + f64::from(*digit));
            return (!digits.is_empty()).then_some(value);
        }
    }
    match text.trim_start_matches(['+', '-']) {
        ".inf" | ".Inf" | ".INF" if text.len() <= 5 => {
            Some(if text.starts_with('-') { f64::NEG_INFINITY } else { f64::INFINITY })
        }
        ".nan" | ".NaN" | ".NAN" if text.len() == 4 => Some(f64::NAN),
        _ => {
            let decimal = |c: char| c.is_ascii_digit() || "+-.eE".contains(c);
            text.chars().all(decimal).then(|| text.parse().ok())?
        }
    }
}

const RADIXES: [(&str, u32); 2] = [("0x", 16), ("0o", 8)];

/// Whether the decimal number in `text` has digits behind the point that are not 0, once its exponent is written out.
pub(super) fn has_fraction(text: &str) -> bool {
    if RADIXES.iter().any(|(prefix, _)| text.starts_with(prefix)) {
        return false;
    }
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (whole, part) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{part}");
    let significant = digits.trim_end_matches('0');
    if !significant.contains(|c: char| c.is_ascii_digit()) {
        return false;
    }
    let zeros = (digits.len() - significant.len()) as i64;
    let behind = match exponent.parse::<i64>() {
        Ok(exponent) => (part.len() as i64).saturating_sub(exponent),
        Err(_) if exponent.starts_with('-') => i64::MAX,
        Err(_) => i64::MIN,
    };
    behind > zeros
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_the_core_schema() {
        for (text, expected) in [
            ("10", 10.0),
            ("+10", 10.0),
            ("-0.5", -0.5),
            (".5", 0.5),
            ("1.", 1.0),
            ("1e1", 10.0),
            ("1.5E-3", 0.0015),
            ("012", 12.0),
            ("0o12", 10.0),
            ("0xfF", 255.0),
            ("-.INF", f64::NEG_INFINITY),
            ("1e999", f64::INFINITY),
        ] {
            assert_eq!(number(text), Some(expected), "{text}");
        }
        assert!(number(".nan").is_some_and(f64::is_nan));
        for text in [
            "", "-", ".", "e5", "1_000", "1:10", "0b1", "0x", "0o8", "0x+1", "inf", "nan", "--1", "-.nan",
            "١",
        ] {
            assert_eq!(number(text), None, "{text}");
        }
    }

    #[test]
    fn a_fraction_is_seen_in_the_digits() {
        for whole in [
            "10",
            "10.0",
            "1e1",
            "1.5e1",
            "100e-1",
            "0.0",
            "-0",
            "0e-9",
            "1e99999999999999999999",
            "0o12",
            "0x1e",
        ] {
            assert!(!has_fraction(whole), "{whole}");
        }
        for part in ["10.5", "1e-1", "15e-1", "10.00000000000000000000001", "1e-99999999999999999999", ".5"] {
            assert!(has_fraction(part), "{part}");
        }
    }
}
