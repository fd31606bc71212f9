//! Tracks as FPCore.

use std::collections::HashSet;
use std::fmt::Write;

use keyfit_ir::{BuildError, Builder, Id, Node, Op, Track};
use thiserror::Error;

use super::read::put;
use super::words::{self, CONSTANTS};
use super::{Core, Ranges};
use crate::definition::definition;
use crate::head::Head;

/// Why a track cannot be written as FPCore.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum FpcoreRefusal {
    /// The operation is none of FPCore's, nor made of them.
    #[error("FPCore has nothing with the bits of {}: {}", .0.word(), .0.doc())]
    Operation(Op),
    /// Keys.
    #[error("FPCore has no keyed tracks such as {0}")]
    Keyed(String),
    /// A name that no variable of FPCore can have.
    #[error(
        "{0} cannot be a variable of FPCore: its names are of ASCII letters, digits, and -._, and no constants"
    )]
    Name(String),
    /// The definitions cannot be put together.
    #[error(transparent)]
    Build(#[from] BuildError),
}

/// A piece of an operation's text.
enum Piece {
    Text(&'static str),
    Operand(usize),
}

use Piece::{Operand as X, Text as T};

/// How an operation is written that is no word of FPCore's. A NaN that is compared stays one.
fn spelt(op: Op) -> Option<&'static [Piece]> {
    Some(match op {
        Op::STEP => {
            &[T("(if (<= "), X(0), T(" "), X(1), T(") 1 (if (< "), X(1), T(" "), X(0), T(") 0 NAN))")]
        }
        Op::SELECT => &[
            T("(if (== "),
            X(0),
            T(" "),
            X(0),
            T(") (if (!= "),
            X(0),
            T(" 0) "),
            X(1),
            T(" "),
            X(2),
            T(") NAN)"),
        ],
        Op::SIGN => &[T("(if (< 0 "), X(0), T(") 1 (if (< "), X(0), T(" 0) -1 "), X(0), T("))")],
        _ => return None,
    })
}

/// Every piece of a node's text; empty for a leaf.
fn pieces(node: &Node) -> Vec<Piece> {
    let Node::Apply(op, _) = node else { return Vec::new() };
    if let Some(spelt) = spelt(*op) {
        let copy = |piece: &Piece| match piece {
            T(text) => T(text),
            X(k) => X(*k),
        };
        return spelt.iter().map(copy).collect();
    }
    let mut pieces = vec![T("("), T(words::of(*op).unwrap_or_default())];
    pieces.extend((0..op.arity()).flat_map(|k| [T(" "), X(k)]));
    pieces.push(T(")"));
    pieces
}

impl Core {
    /// The core as text, which [`read`](super::read) reads back to the same values, and to the same track where no
    /// operation had to be opened up.
    ///
    /// # Errors
    /// What FPCore cannot say; see [`FpcoreRefusal`].
    pub fn write(&self) -> Result<String, FpcoreRefusal> {
        let track = opened(&self.track)?;
        let parameters = track.free_parameters();
        let mut arguments = self.arguments.clone();
        arguments.extend(
            parameters.iter().map(|p| p.name().to_owned()).filter(|name| !self.arguments.contains(name)),
        );
        if let Some(name) = arguments.iter().find(|name| !is_symbol(name)) {
            return Err(FpcoreRefusal::Name(name.clone()));
        }
        let mut text = format!("(FPCore ({})", arguments.join(" "));
        // writing to a String cannot fail
        let _ = self.name.iter().try_for_each(|name| write!(text, "\n :name \"{name}\""));
        text.push_str("\n :precision binary64");
        let _ = self.clock.iter().try_for_each(|clock| write!(text, "\n :keyfit-clock {clock}"));
        if !parameters.is_empty() {
            let starts: Vec<String> =
                parameters.iter().map(|p| format!("({} {})", p.name(), start(p.start()))).collect();
            let _ = write!(text, "\n :keyfit-starts ({})", starts.join(" "));
        }
        let pre = self.pre.as_ref().map(|pre| pre.text.clone()).or_else(|| condition(&self.ranges));
        let _ = pre.iter().try_for_each(|pre| write!(text, "\n :pre {pre}"));
        let _ = write!(text, "\n {})", body(&track, &arguments, self.clock.as_deref().unwrap_or("t")));
        Ok(text)
    }
}

/// The condition that says these ranges.
fn condition(ranges: &Ranges) -> Option<String> {
    let chains: Vec<String> = ranges
        .iter()
        .map(|(name, [low, high])| match (low.is_finite(), high.is_finite()) {
            (true, true) => format!("(<= {} {name} {})", number(*low), number(*high)),
            (true, false) => format!("(<= {} {name})", number(*low)),
            (false, _) => format!("(<= {name} {})", number(*high)),
        })
        .collect();
    match &chains[..] {
        [] => None,
        [chain] => Some(chain.clone()),
        chains => Some(format!("(and {})", chains.join(" "))),
    }
}

fn is_symbol(name: &str) -> bool {
    name.chars().all(|c| c.is_ascii_alphanumeric() || "-._".contains(c)) && !words::is_reserved(name)
}

/// The track with every composite operation opened that FPCore has not.
fn opened(track: &Track) -> Result<Track, FpcoreRefusal> {
    let mut builder = Builder::new();
    let mut new: Vec<Id> = Vec::with_capacity(track.nodes().len());
    for node in track.nodes() {
        let children: Vec<Id> = node.children().iter().map(|child| new[child.index()]).collect();
        let definition = match node {
            Node::Keyed(keyed) => return Err(FpcoreRefusal::Keyed(keyed.outline())),
            Node::Apply(op, _) if !is_written(*op) => {
                let definition = definition(*op).ok_or(FpcoreRefusal::Operation(*op))?;
                let within = definition.nodes().iter().find_map(|node| match node {
                    Node::Apply(inner, _) if !is_written(*inner) => Some(*op),
                    _ => None,
                });
                within.map_or(Ok(Some((*op, definition))), |op| Err(FpcoreRefusal::Operation(op)))?
            }
            _ => None,
        };
        new.push(match definition {
            None => Head::of(node).build(&mut builder, &children)?,
            Some((op, definition)) => put(&mut builder, &definition, |name| {
                children.get(op.operands().iter().position(|own| *own == name)?).copied()
            })?,
        });
    }
    Ok(builder.finish(new[track.root().index()])?)
}

fn is_written(op: Op) -> bool {
    words::of(op).is_some() || spelt(op).is_some()
}

/// The expression; terms that occur more than once are named in front.
fn body(track: &Track, arguments: &[String], clock: &str) -> String {
    let mut uses = vec![0_usize; track.nodes().len()];
    for node in track.nodes() {
        let Node::Apply(_, operands) = node else { continue };
        for piece in pieces(node) {
            if let X(k) = piece {
                uses[operands[k].index()] += 1;
            }
        }
    }
    let taken: HashSet<&str> = arguments.iter().map(String::as_str).collect();
    let mut names: Vec<Option<String>> = vec![None; track.nodes().len()];
    let mut definitions = String::new();
    let mut number = 0;
    for (id, node) in track.iter() {
        if uses[id.index()] > 1 && matches!(node, Node::Apply(..)) {
            let name = loop {
                number += 1;
                let name = format!("s{number}");
                if !taken.contains(name.as_str()) {
                    break name;
                }
            };
            let separator = if definitions.is_empty() { "" } else { "\n        " };
            let _ = write!(definitions, "{separator}[{name} {}]", expression(track, id, &names, clock));
            names[id.index()] = Some(name);
        }
    }
    let root = expression(track, track.root(), &names, clock);
    if definitions.is_empty() { root } else { format!("(let* ({definitions})\n   {root})") }
}

fn expression(track: &Track, root: Id, names: &[Option<String>], clock: &str) -> String {
    let mut text = String::new();
    let mut work = vec![(X(0), [root; 3])];
    while let Some((piece, operands)) = work.pop() {
        let id = match piece {
            T(words) => {
                text.push_str(words);
                continue;
            }
            X(k) => operands[k],
        };
        match (&names[id.index()], &track.nodes()[id.index()]) {
            (Some(name), _) => text.push_str(name),
            (None, Node::Constant(x)) => text.push_str(&number(x.value())),
            (None, Node::Clock) => text.push_str(clock),
            (None, Node::Free(p)) => text.push_str(p.name()),
            (None, node @ Node::Apply(_, operands)) => {
                work.extend(pieces(node).into_iter().rev().map(|piece| (piece, *operands)));
            }
            // opened() lets none through
            (None, Node::Keyed(_)) => {}
        }
    }
    text
}

/// A start that reads back to the same bits: one word.
fn start(x: f64) -> String {
    if x == f64::NEG_INFINITY { "-INFINITY".into() } else { number(x) }
}

/// A number that reads back to the same bits.
fn number(x: f64) -> String {
    match CONSTANTS.iter().find(|(_, own)| own.to_bits() == x.to_bits() && !own.is_finite()) {
        Some((name, _)) => (*name).into(),
        None if x.is_nan() => "NAN".into(),
        None if x == f64::NEG_INFINITY => "(- INFINITY)".into(),
        None => format!("{x:?}"),
    }
}
