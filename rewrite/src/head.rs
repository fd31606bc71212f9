//! What a node of a track is, apart from its children.

use std::fmt;
use std::sync::Arc;

use keyfit_ir::{BuildError, Builder, Id, Keyed, Node, Number, Op, Parameter};

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

impl Head {
    /// The head of a track's node.
    pub fn of(node: &Node) -> Head {
        match node {
            Node::Constant(x) => Head::Constant(*x),
            Node::Clock => Head::Clock,
            Node::Free(p) => Head::Free(p.clone()),
            Node::Apply(op, _) => Head::Apply(*op),
            Node::Keyed(keyed) => Head::Keyed(Arc::new(keyed.map(|_| ()))),
        }
    }

    /// The number `x`.
    pub fn number(x: f64) -> Head {
        Head::Constant(Number::new(x))
    }

    /// The node with this head and these children, in a builder.
    ///
    /// # Errors
    /// Where the children do not fit; see [`BuildError`].
    pub fn build(&self, builder: &mut Builder, children: &[Id]) -> Result<Id, BuildError> {
        match self {
            Head::Constant(x) => builder.constant(x.value()),
            Head::Clock => builder.clock(),
            Head::Free(p) => builder.free(Parameter::clone(p)),
            Head::Apply(op) => builder.apply(*op, children),
            Head::Keyed(keyed) => {
                let mismatch = BuildError::KeyCount { keys: keyed.keys().len(), children: children.len() };
                let mut given = children.iter().copied();
                let keyed = keyed.try_map(|()| given.next().ok_or(mismatch.clone()))?;
                match given.next() {
                    None => builder.insert_keyed(keyed),
                    Some(_) => Err(mismatch),
                }
            }
        }
    }
}

impl fmt::Display for Head {
    /// As `describe` writes it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Head::Constant(x) => write!(f, "{x:?}"),
            Head::Clock => write!(f, "t"),
            Head::Free(p) => write!(f, "?{}={:?}", p.name(), p.start()),
            Head::Apply(op) => write!(f, "{}", op.name()),
            Head::Keyed(keyed) => write!(f, "{}", keyed.outline()),
        }
    }
}
