//! Tracks as egg sees them.

use std::fmt;

use egg::{Id, Language, RecExpr};
use keyfit_ir::{BuildError, Builder, Track};

use crate::head::Head;

/// A node of an e-graph of tracks.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Term {
    /// What it is.
    pub head: Head,
    /// What it is made of.
    pub children: Box<[Id]>,
}

impl Language for Term {
    type Discriminant = Head;

    fn discriminant(&self) -> Head {
        self.head.clone()
    }

    fn matches(&self, other: &Term) -> bool {
        self.head == other.head && self.children.len() == other.children.len()
    }

    fn children(&self) -> &[Id] {
        &self.children
    }

    fn children_mut(&mut self) -> &mut [Id] {
        &mut self.children
    }
}

impl fmt::Display for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.head.fmt(f)
    }
}

/// The track's array as egg's: the same nodes in the same places.
pub fn to_expr(track: &Track) -> RecExpr<Term> {
    let nodes = track.nodes().iter().map(|node| Term {
        head: Head::of(node),
        children: node.children().iter().map(|child| Id::from(child.index())).collect(),
    });
    RecExpr::from(nodes.collect::<Vec<Term>>())
}

/// The track of egg's array, whose last node is the root.
///
/// # Errors
/// [`BuildError`] where the array is no track: a wrong number of operands, keys out of order, one parameter with two
/// values.
pub fn from_expr(expr: &RecExpr<Term>) -> Result<Track, BuildError> {
    let mut builder = Builder::new();
    let mut ids: Vec<keyfit_ir::Id> = Vec::new();
    for term in expr {
        let children: Vec<keyfit_ir::Id> =
            term.children.iter().filter_map(|child| ids.get(usize::from(*child)).copied()).collect();
        ids.push(term.head.build(&mut builder, &children)?);
    }
    let root = ids.last().copied().ok_or(BuildError::Empty)?;
    builder.finish(root)
}
