//! The C++ program: one a problem, its functor written from the track's array.
//!
//! What depends on no parameter is computed in double precision, constants stand in the text, squares and cubes are products, and what a track
//! looks up by keys (the columns of data beside the time) is data: as one would write it by hand.

use std::fmt::Write;

use keyfit::ir::{Channel, Node, Op, Track};
use keyfit::suite::Problem;

const FRAME: &str = include_str!("frame.cc");

/// The program of one problem. It prints what it is, and a line for each start and way to fit.
pub fn program(problem: &Problem, rounds: usize) -> String {
    let channel = &problem.starts[0][0];
    let (rows, columns) = (channel.targets.len(), channel.track.free_parameters().len());
    let mut calls = String::new();
    for start in &problem.starts {
        let values: Vec<String> = start[0].track.starts().iter().map(|x| format!("{x:?}")).collect();
        let _ = writeln!(calls, "  fit<Model, {rows}, {columns}>({{{}}});", values.join(", "));
    }
    FRAME
        .replace("/*FUNCTOR*/", &functor(channel))
        .replace("/*CALLS*/", &calls)
        .replace("/*ROUNDS*/", &rounds.to_string())
}

/// For each node, whether a parameter is in its term.
fn depends(track: &Track) -> Vec<bool> {
    let mut depends = vec![false; track.nodes().len()];
    for (id, node) in track.iter() {
        let below = node.children().iter().any(|child| depends[child.index()]);
        depends[id.index()] = matches!(node, Node::Free(_)) || below;
    }
    depends
}

fn functor(channel: &Channel) -> String {
    let track = &channel.track;
    let depends = depends(track);
    // t, y, and what is looked up
    let looked_up: Vec<usize> = (track.iter())
        .filter(|(id, node)| matches!(node, Node::Keyed(_)) && !depends[id.index()])
        .map(|(id, _)| id.index())
        .collect();
    let width = 2 + looked_up.len();
    let mut data = String::new();
    for target in &channel.targets {
        let values = track.node_values(target.time);
        let looked_up = looked_up.iter().map(|i| values[*i]);
        let row: Vec<String> =
            [target.time, target.value].into_iter().chain(looked_up).map(|x| format!("{x:?}")).collect();
        let _ = writeln!(data, "  {{{}}},", row.join(", "));
    }
    let mut body = String::new();
    let mut parameters = 0..;
    for (id, node) in track.iter() {
        let i = id.index();
        let kind = if depends[i] { "T" } else { "double" };
        let value = match node {
            Node::Constant(x) => format!("{:?}", x.value()),
            Node::Clock => "row[0]".to_owned(),
            Node::Free(_) => format!("p[{}]", parameters.next().unwrap_or_default()),
            Node::Keyed(_) => {
                let place =
                    looked_up.iter().position(|own| *own == i).expect("no key of NIST's problems is free");
                format!("row[{}]", 2 + place)
            }
            Node::Apply(op, operands) => {
                let exponent = track.node(operands[1]).and_then(|node| match node {
                    Node::Constant(x) => Some(x.value()),
                    _ => None,
                });
                apply(*op, operands[0].index(), operands[1].index(), exponent)
            }
        };
        let _ = writeln!(body, "      const {kind} v{i} = {value};");
    }
    format!(
        "const double kData[][{width}] = {{\n{data}}};\nstruct Model {{\n  template <class T> bool operator()(const T* p, T* r) const {{\n    \
         for (const auto& row : kData) {{\n{body}      *r++ = v{} - row[1];\n    }}\n    return true;\n  }}\n}};\n",
        track.root().index()
    )
}

/// C++ for an operation on v`a` and v`b`.
fn apply(op: Op, a: usize, b: usize, exponent: Option<f64>) -> String {
    match op {
        Op::ADD => format!("v{a} + v{b}"),
        Op::SUB => format!("v{a} - v{b}"),
        Op::MUL => format!("v{a} * v{b}"),
        Op::DIV => format!("v{a} / v{b}"),
        Op::NEG => format!("-v{a}"),
        Op::POW if exponent == Some(2.0) => format!("v{a} * v{a}"),
        Op::POW if exponent == Some(3.0) => format!("v{a} * v{a} * v{a}"),
        Op::POW => format!("pow(v{a}, v{b})"),
        Op::EXP | Op::LN | Op::SIN | Op::COS | Op::ATAN | Op::SQRT => {
            let word = if op == Op::LN { "log".to_owned() } else { op.name().to_lowercase() };
            format!("{word}(v{a})")
        }
        other => panic!("no NIST problem has {}", other.name()),
    }
}
