//! Tracks as data: one canonical array of nodes.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use thiserror::Error;

use crate::easing::{Curve, Easing};
use crate::keyed::shape::Shape;
use crate::keyed::{KeyError, Keyed, Keyframe};
use crate::op::{MAX_ARITY, Op};

/// A node's place in its track's array, or in the [`Builder`] that made it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Id(u32);

impl Id {
    /// The place as an index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A constant, compared by its bits: ±0 are two constants, all NaNs are one.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Number(u64);

impl Number {
    /// The constant of this value.
    pub fn new(x: f64) -> Number {
        Number(if x.is_nan() { f64::NAN } else { x }.to_bits())
    }

    /// Its value.
    pub fn value(self) -> f64 {
        f64::from_bits(self.0)
    }
}

impl fmt::Debug for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.value().fmt(f)
    }
}

/// A free parameter: a named unknown with a current value.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Parameter {
    name: Arc<str>,
    start: Number,
}

/// A name that no free parameter can have.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0:?} cannot name a free parameter: a name is a letter or _, then letters, digits, _, . or -")]
pub struct NameError(pub String);

impl Parameter {
    /// A parameter `name` whose current value is `start`.
    ///
    /// # Errors
    /// If the name is not a letter or `_` followed by letters, digits, `_`, `.` and `-`.
    pub fn new(name: &str, start: f64) -> Result<Parameter, NameError> {
        if is_name(name) {
            Ok(Parameter { name: name.into(), start: Number::new(start) })
        } else {
            Err(NameError(name.into()))
        }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its current value, where a fit starts.
    pub fn start(&self) -> f64 {
        self.start.value()
    }

    /// The same parameter at another value.
    pub fn at(&self, start: f64) -> Parameter {
        Parameter { name: self.name.clone(), start: Number::new(start) }
    }
}

fn is_name(name: &str) -> bool {
    name.starts_with(begins_name) && name.chars().all(|c| continues_name(c) || c == '-')
}

/// Whether a name may begin with `c`.
pub(crate) fn begins_name(c: char) -> bool {
    c.is_alphabetic() || c == '_'
}

/// Whether `c` may stand in a name without being taken for an operator; a hyphen may stand there too.
pub(crate) fn continues_name(c: char) -> bool {
    begins_name(c) || c.is_numeric() || c == '.'
}

/// One subterm of a track. Its operands stand before it in the array.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Node {
    /// A number.
    Constant(Number),
    /// The clock: the time that the track is asked for.
    Clock,
    /// A free parameter.
    Free(Arc<Parameter>),
    /// An operation on earlier nodes. Places beyond the arity repeat the first operand.
    Apply(Op, [Id; MAX_ARITY]),
    /// A keyed track.
    Keyed(Arc<Keyed>),
}

impl Node {
    /// The nodes that this one is made of, in order.
    pub fn children(&self) -> Children<'_> {
        match self {
            Node::Constant(_) | Node::Clock | Node::Free(_) => Children::Operands(&[]),
            Node::Apply(op, operands) => Children::Operands(&operands[..op.arity()]),
            Node::Keyed(keyed) => Children::Keyed(keyed),
        }
    }

    /// The same node with every child replaced.
    pub(crate) fn map(&self, mut f: impl FnMut(Id) -> Id) -> Node {
        match self {
            Node::Constant(_) | Node::Clock | Node::Free(_) => self.clone(),
            Node::Apply(op, operands) => Node::Apply(*op, operands.map(f)),
            Node::Keyed(keyed) => Node::Keyed(Arc::new(keyed.map(|child| f(*child)))),
        }
    }
}

/// The children of a node.
#[derive(Clone, Copy, Debug)]
pub enum Children<'a> {
    /// An operation's operands; none for a leaf.
    Operands(&'a [Id]),
    /// A keyed track's key values and tangents, then its clock.
    Keyed(&'a Keyed),
}

impl<'a> Children<'a> {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.iter().count()
    }

    /// Whether the node is a leaf.
    pub fn is_empty(&self) -> bool {
        self.iter().next().is_none()
    }

    /// All of them, in order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = Id> + use<'a> {
        let (operands, keyed) = match *self {
            Children::Operands(ids) => (ids, None),
            Children::Keyed(keyed) => (&[][..], Some(keyed)),
        };
        operands.iter().chain(keyed.into_iter().flat_map(Keyed::children)).copied()
    }
}

/// A number that varies with time, as data.
///
/// The nodes stand in post-order (children before parents, left to right), every distinct subterm once, the root last.
/// This numbering is canonical: two tracks are the same term exactly if their arrays are equal. The k-th [`Node::Free`]
/// of the array is parameter k everywhere: [`Track::free_parameters`], evaluation, Jacobian columns.
///
/// Nothing recurses over a track, so its depth is bounded by memory alone. Cloning is cheap.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Track(Arc<[Node]>);

impl fmt::Debug for Track {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.describe())
    }
}

impl Track {
    /// The nodes, root last; never empty.
    pub fn nodes(&self) -> &[Node] {
        &self.0
    }

    /// The node at `id`.
    pub fn node(&self, id: Id) -> Option<&Node> {
        self.0.get(id.index())
    }

    /// The root's place.
    pub fn root(&self) -> Id {
        Id(self.0.len().saturating_sub(1) as u32)
    }

    /// The subterm at `id` as a track of its own; the whole track if there is no such node.
    pub fn subterm(&self, id: Id) -> Track {
        extract(&self.0, if id.index() < self.0.len() { id } else { self.root() })
    }

    /// All places with their nodes, children first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (Id, &Node)> + ExactSizeIterator {
        self.0.iter().enumerate().map(|(i, node)| (Id(i as u32), node))
    }

    /// The free parameters, each once, in the order of their columns.
    pub fn free_parameters(&self) -> Vec<&Parameter> {
        self.0.iter().filter_map(|node| if let Node::Free(p) = node { Some(&**p) } else { None }).collect()
    }

    /// The parameters' current values, in order.
    pub fn starts(&self) -> Vec<f64> {
        self.free_parameters().into_iter().map(Parameter::start).collect()
    }

    /// Whether the value is the same at all times.
    pub fn is_time_invariant(&self) -> bool {
        !self.0.iter().any(|node| matches!(node, Node::Clock))
    }

    /// Free parameters become the numbers that `value` gives for their names; those it gives `None` for stay free.
    pub fn substitute_parameters(&self, value: impl Fn(&str) -> Option<f64>) -> Track {
        self.map_leaves(|node| match node {
            Node::Free(p) => value(p.name()).map(|x| Node::Constant(Number::new(x))),
            _ => None,
        })
    }

    /// Free parameters stay free but start at the numbers that `value` gives for their names.
    pub fn restart_parameters(&self, value: impl Fn(&str) -> Option<f64>) -> Track {
        self.map_leaves(|node| match node {
            Node::Free(p) => value(p.name()).map(|x| Node::Free(Arc::new(p.at(x)))),
            _ => None,
        })
    }

    fn map_leaves(&self, replace: impl Fn(&Node) -> Option<Node>) -> Track {
        let mut builder = Builder::new();
        let mut new = Vec::with_capacity(self.0.len());
        for node in self.nodes() {
            let node = replace(node).unwrap_or_else(|| node.map(|child| new[child.index()]));
            new.push(builder.intern(node));
        }
        extract(&builder.nodes, new[self.root().index()])
    }
}

/// Why a track cannot be built as asked.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum BuildError {
    /// An operation got too few or too many operands.
    #[error("{} takes {} operand(s), not {given}", op.name(), op.arity())]
    Arity {
        /// The operation.
        op: Op,
        /// How many operands were given.
        given: usize,
    },
    /// A curve takes one operand.
    #[error("{easing} takes 1 operand, not {given}")]
    EasingArity {
        /// The curve.
        easing: Easing,
        /// How many operands were given.
        given: usize,
    },
    /// A node's id comes from another builder.
    #[error("node {} is not one of this builder's", .0.index())]
    UnknownNode(Id),
    /// One free parameter has two current values.
    #[error(
        "the free parameter {name} is given two values, {first:?} and {second:?}: one name is one number"
    )]
    TwoValues {
        /// Its name.
        name: String,
        /// The value that it had first.
        first: f64,
        /// The other value.
        second: f64,
    },
    /// The name is not one that a free parameter can have.
    #[error(transparent)]
    Name(#[from] NameError),
    /// The keys do not make a keyed track.
    #[error(transparent)]
    Keys(#[from] KeyError),
    /// A keyed track's children are not as many as its keys and segments need.
    #[error("a keyed track with {keys} key(s) needs other parts than the {children} that are there")]
    KeyCount {
        /// How many keys there are.
        keys: usize,
        /// How many children there are.
        children: usize,
    },
    /// There is no node.
    #[error("a track has at least one node")]
    Empty,
    /// The track would have more nodes than an id can count.
    #[error("a track has at most {} nodes", u32::MAX)]
    TooLarge,
}

/// Builds tracks node by node, each in constant time. Equal subterms become one node.
///
/// ```
/// # use keyfit_ir::{Builder, Op, Parameter};
/// let mut b = Builder::new();
/// let t = b.clock()?;
/// let gain = b.free(Parameter::new("gain", 1.0)?)?;
/// let root = b.apply(Op::MUL, &[t, gain])?;
/// assert_eq!(b.finish(root)?.describe(), "MUL(t, ?gain=1.0)");
/// # Ok::<(), keyfit_ir::BuildError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Builder {
    nodes: Vec<Node>,
    /// For each node, whether its value varies with time.
    varies: Vec<bool>,
    ids: HashMap<Node, Id>,
    starts: HashMap<Arc<str>, Number>,
}

impl Builder {
    /// An empty builder.
    pub fn new() -> Builder {
        Builder::default()
    }

    /// The constant `x`.
    ///
    /// # Errors
    /// [`BuildError::TooLarge`], as for every node.
    pub fn constant(&mut self, x: f64) -> Result<Id, BuildError> {
        self.insert(Node::Constant(Number::new(x)))
    }

    /// The clock.
    ///
    /// # Errors
    /// [`BuildError::TooLarge`].
    pub fn clock(&mut self) -> Result<Id, BuildError> {
        self.insert(Node::Clock)
    }

    /// A free parameter.
    ///
    /// # Errors
    /// [`BuildError::TwoValues`] if the name is in use with another current value.
    pub fn free(&mut self, parameter: Parameter) -> Result<Id, BuildError> {
        self.insert_free(Arc::new(parameter))
    }

    fn insert_free(&mut self, parameter: Arc<Parameter>) -> Result<Id, BuildError> {
        let first = *self.starts.entry(parameter.name.clone()).or_insert(parameter.start);
        if first != parameter.start {
            return Err(BuildError::TwoValues {
                name: parameter.name().into(),
                first: first.value(),
                second: parameter.start(),
            });
        }
        self.insert(Node::Free(parameter))
    }

    /// An operation on earlier nodes.
    ///
    /// # Errors
    /// [`BuildError::Arity`] if there are not as many operands as the operation takes.
    pub fn apply(&mut self, op: Op, operands: &[Id]) -> Result<Id, BuildError> {
        for &id in operands {
            self.check(id)?;
        }
        let padded = match *operands {
            [a] => [a, a, a],
            [a, b] => [a, b, a],
            [a, b, c] => [a, b, c],
            _ => return Err(BuildError::Arity { op, given: operands.len() }),
        };
        if operands.len() != op.arity() {
            return Err(BuildError::Arity { op, given: operands.len() });
        }
        self.insert(Node::Apply(op, padded))
    }

    /// A keyed track, read at `clock`. Keys that are pairs (time, value) make it linear; see [`Keyframe`] for the rest.
    ///
    /// # Errors
    /// [`BuildError::Keys`] if a time is not finite, out of order or repeated thrice, or if a value or tangent varies
    /// with time.
    pub fn keyed(
        &mut self,
        keys: impl IntoIterator<Item = impl Into<Keyframe<Id>>>,
        clock: Id,
    ) -> Result<Id, BuildError> {
        self.insert_keyed(Keyed::new(keys, clock)?)
    }

    /// A keyed track that is there already, such as another one with its children replaced ([`Keyed::map`]).
    ///
    /// # Errors
    /// As [`Builder::keyed`].
    pub fn insert_keyed(&mut self, keyed: Keyed) -> Result<Id, BuildError> {
        for id in keyed.children() {
            self.check(*id)?;
        }
        let varies = |id: Id| self.varies[id.index()];
        if let Some(i) = keyed.keys().iter().position(|key| varies(key.value)) {
            return Err(KeyError::ValueVaries { key: i + 1 }.into());
        }
        let bent =
            |shape: &Shape<Id>| shape.tangents().is_some_and(|ends| ends.iter().any(|id| varies(**id)));
        if let Some(i) = keyed.shapes().iter().position(bent) {
            return Err(KeyError::TangentVaries { key: i + 1 }.into());
        }
        self.insert(Node::Keyed(Arc::new(keyed)))
    }

    /// An easing as an operation on the value `u`, with the bits of [`Easing::apply`]: the operation that it is, a keyed
    /// track read at `u` (`cubic-bezier`), or a clamped floor (`steps`).
    ///
    /// # Errors
    /// [`BuildError::UnknownNode`].
    pub fn ease(&mut self, easing: Easing, u: Id) -> Result<Id, BuildError> {
        let (zero, one) = (self.constant(0.0)?, self.constant(1.0)?);
        match easing.curve() {
            Curve::Op(op) => self.apply(op, &[u]),
            Curve::Bezier(_) => {
                let start = Keyframe::new(0.0, zero).shape(Shape::Eased(easing));
                self.keyed([start, Keyframe::new(1.0, one)], u)
            }
            Curve::Steps(n, jump) => {
                let (first, jumps) = jump.count(f64::from(n));
                let n = self.constant(f64::from(n))?;
                let steps = self.apply(Op::MUL, &[u, n])?;
                let steps = self.apply(Op::FLOOR, &[steps])?;
                let (first, jumps) = (self.constant(first)?, self.constant(jumps)?);
                let steps = self.apply(Op::ADD, &[steps, first])?;
                let height = self.apply(Op::DIV, &[steps, jumps])?;
                self.apply(Op::CLAMP, &[height, zero, one])
            }
        }
    }

    /// Makes each of `values` the turn of it that is nearest to the one before ([`Op::UNWRAP`]), so that a linear track
    /// through them takes the short way. Half a turn is taken downwards. Constants stay constants.
    ///
    /// # Errors
    /// [`BuildError::UnknownNode`].
    pub fn unwrap_values(&mut self, values: &mut [Id], period: f64) -> Result<(), BuildError> {
        let turn = self.constant(period)?;
        for k in 1..values.len() {
            let (near, x) = (values[k - 1], values[k]);
            values[k] = match (self.node(near), self.node(x)) {
                (Some(Node::Constant(near)), Some(Node::Constant(x))) => {
                    self.constant(Op::UNWRAP.apply([&x.value(), &near.value(), &period]))?
                }
                _ => self.apply(Op::UNWRAP, &[x, near, turn])?,
            };
        }
        Ok(())
    }

    /// A whole track as a subterm.
    ///
    /// # Errors
    /// [`BuildError::TwoValues`] if it disagrees with what is there about a parameter's current value.
    pub fn graft(&mut self, track: &Track) -> Result<Id, BuildError> {
        self.graft_at(track, None)
    }

    /// A whole track as a subterm, with its clock replaced by the node `clock`.
    ///
    /// # Errors
    /// As [`Builder::graft`].
    pub fn graft_at(&mut self, track: &Track, clock: Option<Id>) -> Result<Id, BuildError> {
        if let Some(clock) = clock {
            self.check(clock)?;
        }
        let mut new = Vec::with_capacity(track.0.len());
        for node in track.nodes() {
            let id = match (node, clock) {
                (Node::Clock, Some(clock)) => clock,
                (Node::Free(p), _) => self.insert_free(p.clone())?,
                _ => self.insert(node.map(|child| new[child.index()]))?,
            };
            new.push(id);
        }
        Ok(new[track.root().index()])
    }

    /// The node at `id`.
    pub fn node(&self, id: Id) -> Option<&Node> {
        self.nodes.get(id.index())
    }

    /// The track whose root is `root`. Nodes that it does not reach are left out.
    ///
    /// # Errors
    /// [`BuildError::UnknownNode`].
    pub fn finish(&self, root: Id) -> Result<Track, BuildError> {
        self.check(root)?;
        Ok(extract(&self.nodes, root))
    }

    fn check(&self, id: Id) -> Result<(), BuildError> {
        if id.index() < self.nodes.len() { Ok(()) } else { Err(BuildError::UnknownNode(id)) }
    }

    fn insert(&mut self, node: Node) -> Result<Id, BuildError> {
        if self.nodes.len() >= u32::MAX as usize { Err(BuildError::TooLarge) } else { Ok(self.intern(node)) }
    }

    /// The id of a node whose children are there and whose number fits.
    fn intern(&mut self, node: Node) -> Id {
        if let Some(&id) = self.ids.get(&node) {
            return id;
        }
        let id = Id(self.nodes.len() as u32);
        let varies = match &node {
            Node::Clock => true,
            Node::Keyed(keyed) => self.varies[keyed.clock().index()],
            _ => node.children().iter().any(|child| self.varies[child.index()]),
        };
        self.varies.push(varies);
        self.nodes.push(node.clone());
        self.ids.insert(node, id);
        id
    }
}

/// The term at `root`, depth first, children left to right: the canonical numbering.
fn extract(nodes: &[Node], root: Id) -> Track {
    let mut new: Vec<Option<Id>> = vec![None; nodes.len()];
    let mut out: Vec<Node> = Vec::new();
    // a node waits below its children until they are there
    let mut stack = vec![(root, false)];
    while let Some((id, ready)) = stack.pop() {
        if new[id.index()].is_some() {
            continue;
        }
        let node = &nodes[id.index()];
        if ready {
            new[id.index()] = Some(Id(out.len() as u32));
            out.push(node.map(|child| new[child.index()].unwrap_or(child)));
        } else {
            stack.push((id, true));
            let missing = node.children().iter().rev().filter(|child| new[child.index()].is_none());
            stack.extend(missing.map(|child| (child, false)));
        }
    }
    Track(out.into())
}
