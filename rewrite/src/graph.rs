//! Tracks in the making, for machines: operations on numbers are done at once, and formulas over [`Scalar`] record
//! themselves.

use std::cell::RefCell;
use std::cmp::Ordering;

use keyfit_ir::{BuildError, Builder, Easing, Id, Keyframe, Node, Op, Scalar, Track};

/// A builder whose operations cannot fail one by one: the first fault is kept for [`Graph::finish`].
///
/// What is made of numbers only becomes a number, with the sampler's own bits; a choice by a number is what it chooses;
/// and x − 0, x·1, 1·x and x/1 are x, which they are for every x, ±0 and ±∞ included. Nothing else is simplified; in a plain
/// graph nothing at all.
#[derive(Debug)]
pub(crate) struct Graph {
    inner: RefCell<Inner>,
    zero: Id,
    plain: bool,
}

#[derive(Debug, Default)]
struct Inner {
    builder: Builder,
    fault: Option<BuildError>,
}

impl Graph {
    pub(crate) fn new() -> Result<Graph, BuildError> {
        let mut builder = Builder::new();
        let zero = builder.constant(0.0)?;
        Ok(Graph { inner: RefCell::new(Inner { builder, fault: None }), zero, plain: false })
    }

    /// A graph in which every operation is left as it is written.
    pub(crate) fn plain() -> Result<Graph, BuildError> {
        Ok(Graph { plain: true, ..Graph::new()? })
    }

    pub(crate) fn is_plain(&self) -> bool {
        self.plain
    }

    /// The number 0.
    pub(crate) fn zero(&self) -> Id {
        self.zero
    }

    /// What `make` gives; after a fault the number 0, which nobody gets to see.
    fn insert(&self, make: impl FnOnce(&mut Builder) -> Result<Id, BuildError>) -> Id {
        let mut inner = self.inner.borrow_mut();
        match make(&mut inner.builder) {
            Ok(id) => id,
            Err(fault) => {
                inner.fault.get_or_insert(fault);
                self.zero
            }
        }
    }

    pub(crate) fn graft(&self, track: &Track) -> Id {
        self.insert(|builder| builder.graft(track))
    }

    pub(crate) fn constant(&self, x: f64) -> Id {
        self.insert(|builder| builder.constant(x))
    }

    pub(crate) fn keyed(&self, keys: impl IntoIterator<Item = Keyframe<Id>>, clock: Id) -> Id {
        self.insert(|builder| builder.keyed(keys, clock))
    }

    pub(crate) fn ease(&self, easing: Easing, u: Id) -> Id {
        self.insert(|builder| builder.ease(easing, u))
    }

    /// The operation on these nodes.
    pub(crate) fn apply(&self, op: Op, operands: &[Id]) -> Id {
        if self.plain {
            return self.insert(|builder| builder.apply(op, operands));
        }
        let numbers: Vec<Option<f64>> = operands.iter().map(|id| self.number(*id)).collect();
        match (op, operands, numbers.as_slice()) {
            (_, _, [Some(a)]) => self.constant(op.apply([a, a, a])),
            (_, _, [Some(a), Some(b)]) => self.constant(op.apply([a, b, a])),
            (_, _, [Some(a), Some(b), Some(c)]) => self.constant(op.apply([a, b, c])),
            (Op::SUB, [x, _], [_, Some(0.0)]) if numbers[1].is_some_and(f64::is_sign_positive) => *x,
            (Op::MUL | Op::DIV, [x, _], [_, Some(1.0)]) | (Op::MUL, [_, x], [Some(1.0), _]) => *x,
            (Op::SELECT, [_, a, b], [Some(c), ..]) if !c.is_nan() => {
                if *c != 0.0 {
                    *a
                } else {
                    *b
                }
            }
            _ => self.insert(|builder| builder.apply(op, operands)),
        }
    }

    pub(crate) fn node(&self, id: Id) -> Option<Node> {
        self.inner.borrow().builder.node(id).cloned()
    }

    /// The value of a node that is a number.
    pub(crate) fn number(&self, id: Id) -> Option<f64> {
        match self.inner.borrow().builder.node(id) {
            Some(Node::Constant(x)) => Some(x.value()),
            _ => None,
        }
    }

    /// The track at `root`.
    pub(crate) fn finish(self, root: Id) -> Result<Track, BuildError> {
        let inner = self.inner.into_inner();
        match inner.fault {
            Some(fault) => Err(fault),
            None => inner.builder.finish(root),
        }
    }
}

/// How comparisons of unknowns come out while a formula records itself.
pub(crate) trait Oracle {
    /// The order of `a` and `b`, which are not both numbers.
    fn compare(&self, graph: &Graph, a: Id, b: Id) -> Ordering;
}

/// A node as a kind of number: a formula over [`Scalar`] that is given such numbers writes itself into their graph.
#[derive(Clone, Copy)]
pub(crate) struct Recorded<'a> {
    pub graph: &'a Graph,
    pub oracle: &'a dyn Oracle,
    /// Whether a value with the derivatives of a formula is that formula, rather than the value.
    pub moving: bool,
    pub id: Id,
}

impl Recorded<'_> {
    fn made(&self, op: Op, operands: &[Id]) -> Self {
        Recorded { id: self.graph.apply(op, operands), ..*self }
    }
}

macro_rules! record {
    (unary $($unary:ident $uop:ident)+; binary $($binary:ident $bop:ident)+) => {
        $(fn $unary(&self) -> Self { self.made(Op::$uop, &[self.id]) })+
        $(fn $binary(&self, b: &Self) -> Self { self.made(Op::$bop, &[self.id, b.id]) })+
    };
}

impl Scalar for Recorded<'_> {
    fn lift(&self, x: f64) -> Self {
        Recorded { id: self.graph.constant(x), ..*self }
    }

    fn compare(&self, other: &Self) -> Option<Ordering> {
        match (self.graph.number(self.id), self.graph.number(other.id)) {
            (Some(a), Some(b)) => a.partial_cmp(&b),
            _ => Some(self.oracle.compare(self.graph, self.id, other.id)),
        }
    }

    fn with_derivatives_of(&self, formula: Self) -> Self {
        if self.moving { formula } else { *self }
    }

    record! {
        unary
            neg NEG  abs ABS  sqrt SQRT  exp EXP  exp2 EXP2  ln LN  sin SIN  cos COS  tan TAN  asin ASIN  acos ACOS
            atan ATAN  sinh SINH  cosh COSH  tanh TANH  floor FLOOR  ceil CEIL  round ROUND  sign SIGN;
        binary
            add ADD  sub SUB  mul MUL  div DIV  min MIN  max MAX  modulo MOD  pow POW  atan2 ATAN2  hypot HYPOT
            step STEP
    }
}
