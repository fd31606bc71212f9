//! Composite operations opened up: what `keyfit-ir`'s table says they mean, as tracks of other operations.
//!
//! Nothing is written down twice: the table's own formula is run over numbers that record it. Where the formula asks how
//! two numbers compare, every answer is followed, and [`Op::SELECT`] of [`Op::STEP`] chooses among what comes out. An
//! operation that records itself is a primitive.
//!
//! ```
//! use keyfit_ir::Op;
//! use keyfit_rewrite::definition;
//! let clamp = definition(Op::CLAMP).expect("a composite operation");
//! assert_eq!(clamp.describe(), "MIN(MAX(?x=0.0, ?lo=0.0), ?hi=0.0)");
//! assert_eq!(definition(Op::SIN), None);
//! ```

use std::cell::RefCell;
use std::cmp::Ordering::{self, Equal, Greater, Less};
use std::collections::HashMap;
use std::sync::LazyLock;

use keyfit_ir::{BuildError, Builder, Id, MAX_ARITY, Node, Op, Parameter, Track};

use crate::graph::{Graph, Oracle, Recorded};

/// What a composite operation is made of: a track whose free parameters are named as the operands are
/// ([`Op::operands`]; each starts at 0), with the same bits for all operands. `None` for a primitive.
pub fn definition(op: Op) -> Option<Track> {
    static TABLE: LazyLock<Table> = LazyLock::new(|| table(Reading::Value));
    TABLE.get(&op).map(|opened| opened.track.clone())
}

/// How an operation is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reading {
    /// With the operation's values.
    Value,
    /// With the operation's derivatives: at the ends of an easing, where the value is so by definition, the formula.
    Moving,
    /// The formula of an easing between its ends, of one operand in [0, 1].
    Inside,
}

/// An opened operation, ready to be put in another graph.
#[derive(Debug)]
pub(crate) struct Opened {
    track: Track,
}

type Table = HashMap<Op, Opened>;

/// The operation with its derivatives, if it is composite.
pub(crate) fn moving(op: Op) -> Option<&'static Opened> {
    static TABLE: LazyLock<Table> = LazyLock::new(|| table(Reading::Moving));
    TABLE.get(&op)
}

/// The formula between the ends, if the operation is an easing.
pub(crate) fn inside(op: Op) -> Option<&'static Opened> {
    static TABLE: LazyLock<Table> = LazyLock::new(|| table(Reading::Inside));
    TABLE.get(&op)
}

impl Opened {
    /// The definition over these operands.
    pub(crate) fn over(&self, op: Op, operands: &[Id], graph: &Graph) -> Id {
        let mut new: Vec<Id> = Vec::with_capacity(self.track.nodes().len());
        for node in self.track.nodes() {
            new.push(match node {
                Node::Constant(x) => graph.constant(x.value()),
                Node::Free(p) => {
                    let place = op.operands().iter().position(|name| *name == p.name());
                    place.and_then(|i| operands.get(i)).copied().unwrap_or(graph.zero())
                }
                Node::Apply(op, ids) => graph.apply(*op, &ids.map(|id| new[id.index()])[..op.arity()]),
                // a formula over scalars records no others
                Node::Clock | Node::Keyed(_) => graph.zero(),
            });
        }
        new[self.track.root().index()]
    }
}

fn table(reading: Reading) -> Table {
    let open = |op: &Op| open(*op, reading).ok().flatten().map(|track| (*op, Opened { track }));
    Op::ALL.iter().filter_map(open).collect()
}

fn open(op: Op, reading: Reading) -> Result<Option<Track>, BuildError> {
    if reading == Reading::Inside && !op.is_easing() {
        return Ok(None);
    }
    let graph = Graph::new()?;
    let mut operands: Vec<Id> = Vec::new();
    for name in op.operands() {
        let mut builder = Builder::new();
        let operand = builder.free(Parameter::new(name, 0.0)?)?;
        operands.push(graph.graft(&builder.finish(operand)?));
    }
    let inside = match (reading, &operands[..]) {
        (Reading::Inside, &[u]) => vec![(u, graph.zero(), Greater), (u, graph.constant(1.0), Less)],
        _ => Vec::new(),
    };
    let known = inside.len();
    let run = |answers: Vec<Comparison>| {
        let path = Path { answers: RefCell::new(answers) };
        let places: [Id; MAX_ARITY] =
            std::array::from_fn(|i| operands.get(i).copied().unwrap_or(graph.zero()));
        let moving = reading != Reading::Value;
        let operands = places.map(|id| Recorded { graph: &graph, oracle: &path, moving, id });
        let id = op.apply([&operands[0], &operands[1], &operands[2]]).id;
        (id, path.answers.into_inner())
    };
    let root = every_answer(&graph, inside, known, &run);
    let itself =
        matches!(graph.node(root), Some(Node::Apply(own, ids)) if own == op && ids[..op.arity()] == operands);
    if itself { Ok(None) } else { graph.finish(root).map(Some) }
}

/// A comparison of two nodes and its answer.
type Comparison = (Id, Id, Ordering);

/// The comparisons on one way through a formula.
struct Path {
    answers: RefCell<Vec<Comparison>>,
}

impl Oracle for Path {
    /// What follows from the answers so far, else, for a start, `Less`.
    fn compare(&self, graph: &Graph, a: Id, b: Id) -> Ordering {
        let mut answers = self.answers.borrow_mut();
        let follows = |&(own, other, answer): &Comparison| {
            if own != a {
                return None;
            }
            if other == b {
                return Some(answer);
            }
            match (answer, graph.number(other)?.partial_cmp(&graph.number(b)?)?) {
                (Equal, order) => Some(order),
                (Less, Less | Equal) => Some(Less),
                (Greater, Greater | Equal) => Some(Greater),
                _ => None,
            }
        };
        if let Some(answer) = answers.iter().find_map(follows) {
            return answer;
        }
        answers.push((a, b, Less));
        Less
    }
}

/// The formula over every way through it that begins with these answers. The formulas of the table ask a handful of times,
/// so the recursion is shallow.
fn every_answer(
    graph: &Graph,
    begun: Vec<Comparison>,
    settled: usize,
    run: &dyn Fn(Vec<Comparison>) -> (Id, Vec<Comparison>),
) -> Id {
    let (result, answers) = run(begun);
    let Some(&(a, b, _)) = answers.get(settled) else { return result };
    let [less, equal, greater] = [Less, Equal, Greater].map(|answer| {
        let begun = answers[..settled].iter().copied().chain([(a, b, answer)]).collect();
        every_answer(graph, begun, settled + 1, run)
    });
    let select = |[x, edge]: [Id; 2], yes: Id, no: Id| {
        let reached = graph.apply(Op::STEP, &[edge, x]);
        graph.apply(Op::SELECT, &[reached, yes, no])
    };
    // where a is b the two sides may say the same as is said there
    let is_said_by = |side: Id| side == equal || where_equal(graph, side, a, graph.number(b)) == equal;
    if less == equal && equal == greater {
        less
    } else if is_said_by(greater) {
        select([a, b], greater, less)
    } else if is_said_by(less) {
        select([b, a], less, greater)
    } else if less == greater && graph.number(b) == Some(0.0) {
        graph.apply(Op::SELECT, &[a, less, equal])
    } else {
        select([a, b], select([b, a], equal, greater), less)
    }
}

/// What `choice` chooses where `x` is `number`.
fn where_equal(graph: &Graph, mut choice: Id, x: Id, number: Option<f64>) -> Id {
    let value = |id: Id| if id == x { number } else { graph.number(id) };
    while let Some(Node::Apply(Op::SELECT, [c, yes, no])) = graph.node(choice) {
        let Some(Node::Apply(Op::STEP, [edge, of, _])) = graph.node(c) else { break };
        let (Some(edge), Some(of)) = (value(edge), value(of)) else { break };
        choice = if of >= edge { yes } else { no };
    }
    choice
}
