//! What a [`Tape`](super::Tape) does, read off the track once.

use keyfit_ir::{Id, Node, Op, Track};

use crate::derivative::is_smooth;

/// Where a row stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Row {
    /// Of a step's values.
    Value(usize),
    /// Of what no parameter moves.
    Still(usize),
    /// Of what does not vary with time.
    Spread(usize),
    /// Of partials and tangents.
    Scratch(usize),
}

/// Where a tangent stands: how a node moves with one parameter.
#[derive(Clone, Copy, Debug)]
pub(super) enum Slot {
    Row(Row),
    /// One number for all times.
    Slope(usize),
}

/// A tangent with its parameter's column.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tangent {
    pub column: usize,
    pub slot: Slot,
}

/// What moves an operand.
#[derive(Clone, Copy, Debug)]
pub(super) enum Source {
    Step(usize),
    /// A node that does not vary with time.
    Held(usize),
}

/// An operand that moves.
#[derive(Clone, Debug)]
pub(super) struct Moving {
    /// Which operand.
    pub by: usize,
    pub source: Source,
    /// Its partial derivative.
    pub partial: Row,
    pub tangents: Vec<Tangent>,
}

/// A tangent as a sum of products of a partial with a tangent of an operand.
#[derive(Debug)]
pub(super) struct Product {
    /// The scratch row that it is written to.
    pub out: usize,
    pub first: (Row, Slot),
    pub second: Option<(Row, Slot)>,
}

/// An operation whose value varies with time and moves.
#[derive(Debug)]
pub(super) struct Step {
    pub op: Op,
    /// The operands; the first one twice if there is one.
    pub operands: [Row; 2],
    pub moving: Vec<Moving>,
    pub products: Vec<Product>,
}

/// The same of an operation that does not vary with time, by nodes and slopes.
#[derive(Debug)]
pub(super) struct Held {
    pub node: usize,
    pub op: Op,
    pub operands: [usize; 2],
    /// The operands that move, with the nodes and the tangents.
    pub moving: Vec<(usize, Vec<Tangent>)>,
    /// Each tangent's slope, and of which operand's slopes it is made.
    pub products: Vec<(usize, Vec<(usize, usize)>)>,
}

/// What is spread over a block.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Spread {
    Number(f64),
    Node(Id),
}

#[derive(Debug, Default)]
pub(super) struct Plan {
    /// For each node, whether it is one number for all times and parameters.
    pub is_fixed: Vec<bool>,
    /// The nodes of the parameters, in the order of their columns.
    pub free: Vec<usize>,
    pub held: Vec<Held>,
    pub steps: Vec<Step>,
    pub still: Vec<Id>,
    pub spread: Vec<Spread>,
    /// How many rows of scratch and how many slopes there are.
    pub scratch: usize,
    pub slopes: usize,
    /// The tangents of the value, that of the last step.
    pub tangents: Vec<Tangent>,
}

impl Plan {
    pub fn new(track: &Track) -> Option<Plan> {
        let mut maker = Maker { plan: Plan::default(), nodes: Vec::with_capacity(track.nodes().len()) };
        for (id, node) in track.iter() {
            let known = maker.node(id, node)?;
            maker.plan.is_fixed.push(!known.varies && known.tangents.is_empty());
            maker.nodes.push(known);
        }
        let Maker { mut plan, mut nodes, .. } = maker;
        let root = nodes.pop()?;
        plan.tangents = root.tangents;
        // the root is the last node, and so the last step
        root.step.is_some().then_some(plan)
    }
}

/// What is known of a node.
#[derive(Debug, Default)]
struct Known {
    varies: bool,
    step: Option<usize>,
    /// None where no parameter moves it.
    tangents: Vec<Tangent>,
}

struct Maker {
    plan: Plan,
    nodes: Vec<Known>,
}

impl Maker {
    fn node(&mut self, id: Id, node: &Node) -> Option<Known> {
        let children = || node.children().iter().map(|child| &self.nodes[child.index()]);
        let varies = matches!(node, Node::Clock)
            || match node {
                Node::Keyed(keyed) => self.nodes[keyed.clock().index()].varies,
                _ => children().any(|child| child.varies),
            };
        if let Node::Free(_) = node {
            let tangent = Tangent { column: self.plan.free.len(), slot: Slot::Slope(self.slope()) };
            self.plan.free.push(id.index());
            return Some(Known { varies: false, step: None, tangents: vec![tangent] });
        }
        if children().all(|child| child.tangents.is_empty()) {
            return Some(Known { varies, ..Known::default() });
        }
        match node {
            Node::Apply(op, operands) if is_smooth(*op) => {
                let operands = [operands[0], operands[if op.arity() > 1 { 1 } else { 0 }]];
                Some(if varies { self.step(*op, operands) } else { self.held(id, *op, operands) })
            }
            _ => None,
        }
    }

    fn slope(&mut self) -> usize {
        self.plan.slopes += 1;
        self.plan.slopes - 1
    }

    fn scratch(&mut self) -> usize {
        self.plan.scratch += 1;
        self.plan.scratch - 1
    }

    fn spread(&mut self, what: Spread) -> Row {
        Row::Spread(place(&mut self.plan.spread, what))
    }

    /// Where an operand of a step stands.
    fn operand(&mut self, id: Id) -> Row {
        let known = &self.nodes[id.index()];
        match (known.step, known.varies) {
            (Some(step), _) => Row::Value(step),
            (None, true) => Row::Still(place(&mut self.plan.still, id)),
            (None, false) => self.spread(Spread::Node(id)),
        }
    }

    fn step(&mut self, op: Op, operands: [Id; 2]) -> Known {
        let rows = operands.map(|id| self.operand(id));
        let own = self.plan.steps.len();
        let mut moving = Vec::with_capacity(2);
        for by in 0..op.arity() {
            let known = &self.nodes[operands[by].index()];
            if known.tangents.is_empty() {
                continue;
            }
            let source = known.step.map_or(Source::Held(operands[by].index()), Source::Step);
            let tangents = known.tangents.clone();
            let partial = match (op, by) {
                (Op::ADD, _) | (Op::SUB, 0) => self.spread(Spread::Number(1.0)),
                (Op::SUB, _) | (Op::NEG, _) => self.spread(Spread::Number(-1.0)),
                (Op::MUL, _) => rows[1 - by],
                (Op::EXP, _) => Row::Value(own),
                _ => Row::Scratch(self.scratch()),
            };
            moving.push(Moving { by, source, partial, tangents });
        }
        let mut products = Vec::new();
        let tangents = merged(&moving, |moving| &moving.tangents)
            .into_iter()
            .map(|(column, parts)| {
                let part = |(k, slot): &(usize, Slot)| (moving[*k].partial, *slot);
                let one = |row: Row| match row {
                    Row::Spread(k) => self.plan.spread[k] == Spread::Number(1.0),
                    _ => false,
                };
                if let [(row, slot)] = parts.iter().map(part).collect::<Vec<_>>()[..]
                    && one(row)
                {
                    return Tangent { column, slot };
                }
                let out = self.scratch();
                let mut parts = parts.iter().map(part);
                if let Some(first) = parts.next() {
                    products.push(Product { out, first, second: parts.next() });
                }
                Tangent { column, slot: Slot::Row(Row::Scratch(out)) }
            })
            .collect();
        self.plan.steps.push(Step { op, operands: rows, moving, products });
        Known { varies: true, step: Some(own), tangents }
    }

    fn held(&mut self, id: Id, op: Op, operands: [Id; 2]) -> Known {
        let operands = operands.map(Id::index);
        let moving: Vec<(usize, Vec<Tangent>)> = (0..op.arity())
            .map(|by| (by, self.nodes[operands[by]].tangents.clone()))
            .filter(|(_, tangents)| !tangents.is_empty())
            .collect();
        let mut products = Vec::new();
        let mut tangents = Vec::new();
        for (column, parts) in merged(&moving, |(_, tangents)| tangents) {
            let slope = self.slope();
            let part = |(k, slot): (usize, Slot)| match slot {
                Slot::Slope(of) => Some((moving[k].0, of)),
                Slot::Row(_) => None, // varies, and so would this
            };
            products.push((slope, parts.into_iter().filter_map(part).collect()));
            tangents.push(Tangent { column, slot: Slot::Slope(slope) });
        }
        self.plan.held.push(Held { node: id.index(), op, operands, moving, products });
        Known { varies: false, step: None, tangents }
    }
}

/// The place of `what` in the list, to which it is added if it is not there.
fn place<T: PartialEq>(list: &mut Vec<T>, what: T) -> usize {
    list.iter().position(|own| *own == what).unwrap_or_else(|| {
        list.push(what);
        list.len() - 1
    })
}

/// The columns of the operands, ascending, each with the operands that move with it and their tangents.
fn merged<T>(moving: &[T], tangents: impl Fn(&T) -> &Vec<Tangent>) -> Vec<(usize, Vec<(usize, Slot)>)> {
    let mut all: Vec<(usize, Vec<(usize, Slot)>)> = Vec::new();
    for (k, own) in moving.iter().enumerate() {
        for tangent in tangents(own) {
            let part = (k, tangent.slot);
            match all.binary_search_by_key(&tangent.column, |(column, _)| *column) {
                Ok(at) => all[at].1.push(part),
                Err(at) => all.insert(at, (tangent.column, vec![part])),
            }
        }
    }
    all
}
