//! Tracks as egg sees them.

use std::fmt;
use std::sync::Arc;

use egg::{Id, Language, RecExpr};
use keyfit_ir::{BuildError, Builder, Keyed, Node, Number, Op, Parameter, Track};

/// What a node is, apart from its children.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Head {
    /// A number, by its bits: ±0 are two, all NaNs are one.
    Constant(Number),
    /// The clock.
    Clock,
    /// A free parameter.
    Free(Arc<Parameter>),
    /// An operation; its children are the operands.
    Apply(Op),
    /// A keyed track by its times and shapes; its children are those of [`Keyed::children`].
    Keyed(Arc<Keyed<()>>),
}

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
    /// The head as `describe` writes it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.head {
            Head::Constant(x) => write!(f, "{x:?}"),
            Head::Clock => write!(f, "t"),
            Head::Free(p) => write!(f, "?{}={:?}", p.name(), p.start()),
            Head::Apply(op) => write!(f, "{}", op.name()),
            Head::Keyed(keyed) => write!(f, "{}", keyed.outline()),
        }
    }
}

/// The track's array as egg's: the same nodes in the same places.
pub fn to_expr(track: &Track) -> RecExpr<Term> {
    let nodes = track.nodes().iter().map(|node| Term {
        head: match node {
            Node::Constant(x) => Head::Constant(*x),
            Node::Clock => Head::Clock,
            Node::Free(p) => Head::Free(p.clone()),
            Node::Apply(op, _) => Head::Apply(*op),
            Node::Keyed(keyed) => Head::Keyed(Arc::new(keyed.map(|_| ()))),
        },
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
        ids.push(match &term.head {
            Head::Constant(x) => builder.constant(x.value())?,
            Head::Clock => builder.clock()?,
            Head::Free(p) => builder.free(Parameter::clone(p))?,
            Head::Apply(op) => builder.apply(*op, &children)?,
            Head::Keyed(keyed) => {
                let mismatch = BuildError::KeyCount { keys: keyed.keys().len(), children: children.len() };
                let mut given = children.iter().copied();
                let keyed = keyed.try_map(|()| given.next().ok_or(mismatch.clone()))?;
                if given.next().is_some() {
                    return Err(mismatch);
                }
                builder.insert_keyed(keyed)?
            }
        });
    }
    let root = ids.last().copied().ok_or(BuildError::Empty)?;
    builder.finish(root)
}
