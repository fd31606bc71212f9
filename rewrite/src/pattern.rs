//! Terms with variables: the sides of rules.
//!
//! A pattern is a formula whose free parameters stand for any term: `min(max(x, lo), hi)`.

use keyfit_ir::{Names, Node, Number, Op, SyntaxError, Track};

use crate::bank::{Bank, Place};
use crate::facts::{Bounds, Fact};
use crate::head::Head;

/// The names that variables of patterns can have.
pub const VARIABLES: [&str; 10] = ["a", "b", "c", "d", "e", "x", "y", "u", "lo", "hi"];

/// The most nodes that a pattern can have.
pub const MAX_NODES: usize = 24;

/// Which terms the variables stand for, in the order of [`VARIABLES`].
pub type Substitution = [Option<Place>; VARIABLES.len()];

#[derive(Clone, Copy, Debug, PartialEq)]
enum Part {
    Variable(usize),
    Constant(Number),
    Apply(Op, [usize; 3]),
}

/// A term with variables.
#[derive(Clone, Debug, PartialEq)]
pub struct Pattern {
    track: Track,
    parts: Vec<Part>,
}

impl Pattern {
    /// Reads a formula over [`VARIABLES`]. `None` for one that is too large, or that holds anything but variables,
    /// constants and operations.
    ///
    /// # Errors
    /// Where the text is no formula.
    pub fn parse(text: &str) -> Result<Option<Pattern>, SyntaxError> {
        let track = Track::parse_with(text, &Names::new().starts(VARIABLES.map(|name| (name, 1.0))))?;
        Ok(Pattern::of(&track))
    }

    /// The pattern whose variables are the track's free parameters; `None` as for [`Pattern::parse`].
    pub(crate) fn of(track: &Track) -> Option<Pattern> {
        let parts: Option<Vec<Part>> = track.nodes().iter().map(part).collect();
        parts.filter(|parts| parts.len() <= MAX_NODES).map(|parts| Pattern { track: track.clone(), parts })
    }

    /// The formula; its free parameters are the variables.
    pub fn track(&self) -> &Track {
        &self.track
    }

    /// Which of [`VARIABLES`] occur.
    pub fn variables(&self) -> impl Iterator<Item = usize> + '_ {
        self.parts.iter().filter_map(|part| if let Part::Variable(v) = part { Some(*v) } else { None })
    }

    /// The operation at the root, if it is one.
    pub fn op(&self) -> Option<Op> {
        match self.parts.last()? {
            Part::Apply(op, _) => Some(*op),
            _ => None,
        }
    }

    /// For the k-th part of an instance, which parts are its operands; `None` for one that has none.
    pub(crate) fn operands(&self, k: usize) -> Option<&[usize]> {
        match self.parts.get(k)? {
            Part::Apply(op, operands) => Some(&operands[..op.arity()]),
            _ => None,
        }
    }

    /// What the variables stand for where the term at `place` is an instance of the pattern.
    pub fn matches(&self, bank: &Bank, place: Place) -> Option<Substitution> {
        let mut bound = [None; MAX_NODES];
        bound[self.parts.len().checked_sub(1)?] = Some(place);
        self.matches_parts(bank, &self.parts, bound)
    }

    /// What the variables stand for where an operation on these operands, which need not be there, is an instance.
    pub(crate) fn matches_operands(&self, bank: &Bank, children: &[Place]) -> Option<Substitution> {
        let (Part::Apply(_, operands), rest) = self.parts.split_last()? else { return None };
        let mut bound = [None; MAX_NODES];
        bind(&mut bound, operands, children)?;
        self.matches_parts(bank, rest, bound)
    }

    fn matches_parts(
        &self,
        bank: &Bank,
        parts: &[Part],
        mut bound: [Option<Place>; MAX_NODES],
    ) -> Option<Substitution> {
        let mut found: Substitution = [None; VARIABLES.len()];
        // parents stand behind their children, so each part is bound before it is looked at
        for (i, part) in parts.iter().enumerate().rev() {
            let place = bound[i]?;
            match part {
                Part::Variable(v) => found[*v] = Some(place),
                Part::Constant(x) => match &bank.cell(place)?.head {
                    Head::Constant(y) if x == y => {}
                    _ => return None,
                },
                Part::Apply(op, operands) => {
                    let cell = bank.cell(place)?;
                    if cell.head != Head::Apply(*op) {
                        return None;
                    }
                    bind(&mut bound, operands, &cell.children)?;
                }
            }
        }
        Some(found)
    }

    /// The pattern's instance, in the bank; `built` sees each new part that is an operation and may put another term
    /// of the same value in its place. `None` if a variable stands for nothing.
    pub fn instantiate(&self, bank: &mut Bank, substitution: &Substitution) -> Option<Vec<Place>> {
        let mut places: Vec<Place> = Vec::with_capacity(self.parts.len());
        for part in &self.parts {
            let place = match part {
                Part::Variable(v) => substitution[*v]?,
                Part::Constant(x) => bank.constant(x.value()),
                Part::Apply(op, operands) => {
                    let operands = operands.map(|operand| places[operand]);
                    bank.apply(*op, &operands[..op.arity()])
                }
            };
            places.push(place);
        }
        Some(places)
    }

    /// What is known of the pattern's value, given what is known of the variables'.
    pub fn fact(&self, known: &impl Fn(usize) -> Fact) -> Fact {
        let mut facts: Vec<Fact> = Vec::with_capacity(self.parts.len());
        let bounds = Bounds::new();
        for part in &self.parts {
            facts.push(match part {
                Part::Variable(v) => known(*v),
                Part::Constant(x) => Fact::exactly(x.value()),
                Part::Apply(op, operands) => {
                    let operands = &operands[..op.arity()];
                    let known: Vec<Fact> = operands.iter().map(|operand| facts[*operand]).collect();
                    let alike = matches!(operands, [a, b, ..] if a == b);
                    bounds.fact(&Head::Apply(*op), &known, alike)
                }
            });
        }
        facts.last().copied().unwrap_or(Fact::ANY)
    }
}

/// Binds parts to the children that they must be; `None` where one is bound to another already.
fn bind(bound: &mut [Option<Place>; MAX_NODES], operands: &[usize; 3], children: &[Place]) -> Option<()> {
    for (operand, child) in operands.iter().zip(children) {
        if bound[*operand].replace(*child).is_some_and(|other| other != *child) {
            return None;
        }
    }
    Some(())
}

fn part(node: &Node) -> Option<Part> {
    Some(match node {
        Node::Free(p) => Part::Variable(VARIABLES.iter().position(|name| *name == p.name())?),
        Node::Constant(x) => Part::Constant(*x),
        Node::Apply(op, operands) => Part::Apply(*op, operands.map(keyfit_ir::Id::index)),
        Node::Clock | Node::Keyed(_) => return None,
    })
}
