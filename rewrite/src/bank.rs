//! Terms, each once, with what is known of them.
//!
//! A bank holds the terms that a rewriting speaks of: children before parents, numbered in the order in which they came.

use std::collections::HashMap;
use std::sync::Arc;

use keyfit_ir::{BuildError, Builder, Number, Op, Track};

use crate::facts::{Bounds, Fact};
use crate::head::Head;

/// A term's number in its bank.
pub type Place = u32;

/// A term: its head, and where its children are.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Cell {
    /// What it is.
    pub head: Head,
    /// What it is made of.
    pub children: Box<[Place]>,
}

/// Terms, each once, with what is known of them.
#[derive(Clone, Debug)]
pub struct Bank {
    bounds: Bounds,
    cells: Vec<Arc<Cell>>,
    facts: Vec<Fact>,
    places: HashMap<Arc<Cell>, Place>,
}

impl Bank {
    /// An empty bank, for terms whose clock and parameters keep to `bounds`.
    pub fn new(bounds: &Bounds) -> Bank {
        Bank { bounds: bounds.clone(), cells: Vec::new(), facts: Vec::new(), places: HashMap::new() }
    }

    /// All terms, in order.
    pub fn cells(&self) -> &[Arc<Cell>] {
        &self.cells
    }

    /// The term at `place`.
    pub fn cell(&self, place: Place) -> Option<&Cell> {
        self.cells.get(place as usize).map(|cell| &**cell)
    }

    /// The constant at `place`, if it is one.
    pub fn number(&self, place: Place) -> Option<f64> {
        match self.cell(place)?.head {
            Head::Constant(x) => Some(x.value()),
            _ => None,
        }
    }

    /// What is known of the term at `place`.
    pub fn fact(&self, place: Place) -> Fact {
        self.facts.get(place as usize).copied().unwrap_or(Fact::ANY)
    }

    /// What the bank assumes of clock and parameters.
    pub fn bounds(&self) -> &Bounds {
        &self.bounds
    }

    /// The place of a term whose children are there. Children that are not are no term's, so the term means nothing.
    pub fn insert(&mut self, head: Head, children: impl Into<Box<[Place]>>) -> Place {
        let cell = Cell { head, children: children.into() };
        if let Some(place) = self.places.get(&cell) {
            return *place;
        }
        let facts: Vec<Fact> = cell.children.iter().map(|child| self.fact(*child)).collect();
        let alike = matches!(&cell.children[..], [a, b, ..] if a == b);
        self.facts.push(self.bounds.fact(&cell.head, &facts, alike));
        let place = self.cells.len() as Place;
        let cell = Arc::new(cell);
        self.cells.push(cell.clone());
        self.places.insert(cell, place);
        place
    }

    /// The place of a term, if it is there.
    pub fn find(&self, head: Head, children: impl Into<Box<[Place]>>) -> Option<Place> {
        self.places.get(&Cell { head, children: children.into() }).copied()
    }

    /// The place of a constant.
    pub fn constant(&mut self, x: f64) -> Place {
        self.insert(Head::Constant(Number::new(x)), [])
    }

    /// The place of an operation on terms that are there.
    pub fn apply(&mut self, op: Op, operands: &[Place]) -> Place {
        self.insert(Head::Apply(op), operands)
    }

    /// Adds a whole track; gives the places of its nodes.
    pub fn graft(&mut self, track: &Track) -> Vec<Place> {
        let mut places: Vec<Place> = Vec::with_capacity(track.nodes().len());
        for node in track.nodes() {
            let children: Vec<Place> =
                node.children().iter().filter_map(|child| places.get(child.index()).copied()).collect();
            places.push(self.insert(Head::of(node), children));
        }
        places
    }

    /// What one place says holds for another with the same value, too: `place` gets the `fact` besides its own.
    /// `false` if the two contradict each other, so that no value is left.
    pub fn learn(&mut self, place: Place, fact: Fact) -> bool {
        let Some(own) = self.facts.get_mut(place as usize) else { return true };
        match own.meet(fact) {
            Some(met) => *own = met,
            None => return false,
        }
        true
    }

    /// The track whose root is at `root`.
    ///
    /// # Errors
    /// [`BuildError`] where the terms do not make a track.
    pub fn track(&self, root: Place) -> Result<Track, BuildError> {
        let mut wanted = vec![false; self.cells.len()];
        let mut builder = Builder::new();
        let mut ids: Vec<Option<keyfit_ir::Id>> = vec![None; self.cells.len()];
        *wanted.get_mut(root as usize).ok_or(BuildError::Empty)? = true;
        for (i, cell) in self.cells[..=root as usize].iter().enumerate().rev() {
            if wanted[i] {
                for child in &cell.children {
                    // a child that is not there is left out, and then the operands are too few
                    if let Some(wanted) = wanted.get_mut(*child as usize) {
                        *wanted = true;
                    }
                }
            }
        }
        for (i, cell) in self.cells[..=root as usize].iter().enumerate() {
            if wanted[i] {
                let children: Vec<keyfit_ir::Id> =
                    cell.children.iter().filter_map(|child| *ids.get(*child as usize)?).collect();
                ids[i] = Some(cell.head.build(&mut builder, &children)?);
            }
        }
        builder.finish(ids[root as usize].ok_or(BuildError::Empty)?)
    }
}
