//! What a track costs to evaluate.

use keyfit_ir::{Op, Track};

use crate::head::Head;

/// The cost of one operation in the block sampler, in tenths of that of many nanoseconds: sums and products are 4, a
/// correctly rounded function some ten times as much.
pub fn weight(op: Op) -> u64 {
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

/// The cost of one node, without its children.
pub fn node_cost(head: &Head) -> u64 {
    match head {
        Head::Constant(_) | Head::Clock | Head::Free(_) => 0,
        Head::Apply(op) => weight(*op),
        // a search, and the segment's formula
        Head::Keyed(keyed) => 20 + keyed.keys().len() as u64,
    }
}

/// The cost of a track: every node once.
pub fn cost(track: &Track) -> u64 {
    track.nodes().iter().map(|node| node_cost(&Head::of(node))).sum()
}
