//! What a track costs, in the measures that simplification can be asked to make smaller.

use keyfit_ir::{Node, Op, Track};

use crate::head::Head;

/// The cost of one operation in the block sampler, in tenths of that of many nanoseconds: sums and products are 4, a
/// correctly rounded function some ten times as much.
fn evaluation(op: Op) -> u64 {
    match op {
        Op::NEG | Op::ABS => 2,
        Op::ADD | Op::SUB | Op::MUL => 4,
        Op::MIN | Op::MAX | Op::FLOOR | Op::CEIL | Op::ROUND | Op::SIGN | Op::STEP => 5,
        Op::SELECT => 5,
        Op::CLAMP | Op::LINEAR => 8,
        Op::MIX | Op::GATE => 9,
        Op::DIV | Op::SQRT => 12,
        Op::FRACT => 16,
        Op::MOD => 18,
        Op::PING_PONG => 25,
        Op::SMOOTHSTEP | Op::UNWRAP => 30,
        Op::EXP | Op::EXP2 | Op::LN | Op::SIN | Op::COS | Op::ATAN | Op::HYPOT => 40,
        Op::TAN | Op::ASIN | Op::ACOS | Op::SINH | Op::COSH | Op::TANH | Op::ATAN2 => 60,
        Op::POW => 80,
        // an easing is never dearer than what it is made of
        Op::SINE_IN | Op::SINE_OUT | Op::SINE_IN_OUT => 45,
        Op::EXPO_IN | Op::EXPO_OUT | Op::EXPO_IN_OUT => 45,
        Op::ELASTIC_IN | Op::ELASTIC_OUT | Op::ELASTIC_IN_OUT => 90,
        Op::CIRC_IN | Op::CIRC_OUT | Op::CIRC_IN_OUT => 16,
        _ => 10,
    }
}

/// The cost of one operation on a GPU, in multiplications: by what it is written with in GLSL, where sines, exponentials and
/// roots have units of their own, and what GLSL does not have takes a function of several lines.
fn glsl(op: Op) -> u64 {
    match op {
        Op::NEG | Op::ABS | Op::ADD | Op::SUB | Op::MUL | Op::FLOOR | Op::CEIL | Op::ROUND => 1,
        Op::MIN | Op::MAX | Op::SIGN | Op::STEP | Op::SELECT | Op::MIX => 3,
        Op::CLAMP | Op::LINEAR | Op::GATE => 6,
        Op::SIN | Op::COS | Op::EXP | Op::EXP2 | Op::LN => 4,
        Op::DIV | Op::SQRT | Op::FRACT | Op::MOD => 6,
        Op::TAN | Op::HYPOT | Op::POW | Op::PING_PONG | Op::UNWRAP | Op::SMOOTHSTEP => 10,
        Op::SINH | Op::COSH | Op::TANH => 12,
        Op::ASIN | Op::ACOS | Op::ATAN | Op::ATAN2 => 20,
        _ => 12,
    }
}

/// What is to be made smaller.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Cost {
    /// The time of an evaluation in the block sampler, every shared term once.
    #[default]
    Evaluation,
    /// The number of operations and keyed tracks, every shared term once.
    Size,
    /// The longest way from the value to a number, the clock or a parameter: what a machine that does everything at once has to wait for.
    Depth,
    /// The time of an evaluation on a GPU, every shared term once.
    Glsl,
}

impl Cost {
    /// Every measure.
    pub const ALL: [Cost; 4] = [Cost::Evaluation, Cost::Size, Cost::Depth, Cost::Glsl];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Cost::Evaluation => "evaluation",
            Cost::Size => "size",
            Cost::Depth => "depth",
            Cost::Glsl => "glsl",
        }
    }

    /// The cost of one operation.
    pub fn of_op(self, op: Op) -> u64 {
        match self {
            Cost::Evaluation => evaluation(op),
            Cost::Size | Cost::Depth => 1,
            Cost::Glsl => glsl(op),
        }
    }

    /// The cost of one node, without its children.
    pub fn of_node(self, head: &Head) -> u64 {
        match (head, self) {
            (Head::Constant(_) | Head::Clock | Head::Free(_), _) => 0,
            (Head::Apply(op), _) => self.of_op(*op),
            // a search, and the segment's formula
            (Head::Keyed(keyed), Cost::Evaluation | Cost::Glsl) => 20 + keyed.keys().len() as u64,
            (Head::Keyed(_), Cost::Size | Cost::Depth) => 1,
        }
    }

    /// The cost of a track.
    pub fn of(self, track: &Track) -> u64 {
        let own = |node: &Node| self.of_node(&Head::of(node));
        match self {
            Cost::Evaluation | Cost::Size | Cost::Glsl => track.nodes().iter().map(own).sum(),
            Cost::Depth => {
                let mut depths: Vec<u64> = Vec::with_capacity(track.nodes().len());
                for node in track.nodes() {
                    let below = node.children().iter().map(|child| depths[child.index()]).max();
                    depths.push(own(node) + below.unwrap_or(0));
                }
                depths.last().copied().unwrap_or(0)
            }
        }
    }
}

/// The cost of evaluating a track: every node once.
pub fn cost(track: &Track) -> u64 {
    Cost::Evaluation.of(track)
}
