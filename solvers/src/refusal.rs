//! Refusals: a typed "no" that names what and why, before a solver runs in vain.

use std::fmt;

use keyfit_autodiff::{keyed_partials, local_partials};
use keyfit_ir::text::first;
use keyfit_ir::{Channel, Id, Keyed, Node, Op, Rate, Shape, Track};

use crate::jacobian::Jacobian;
use crate::least_squares::LeastSquares;
use crate::problem::FitProblem;
use crate::warning::{RateJump, rate_jump};

/// Why a fit is not attempted.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Refusal {
    /// No number of the targeted channels is free.
    NoFreeParameter,
    /// A fit of all numbers was asked of a track that says which of its numbers are free.
    DeclaresParameters {
        /// Their names.
        names: Vec<String>,
    },
    /// Parameters whose derivative is zero at every target, and stays so when those that do move have moved a little.
    Stuck(Vec<Stuck>),
    /// The model is not finite at a target, with the parameters at their starts.
    NonFiniteStart {
        /// The channel.
        channel: String,
        /// The target's time.
        time: f64,
        /// The value there: NaN or an infinity.
        value: f64,
        /// The first subterm that is not finite though its operands are, as describe text, cut where that is long. Nothing for a
        /// velocity or acceleration, whose subterms nobody has written.
        node: Option<String>,
    },
    /// The model is finite at the start, but so far from a target that the sum of squares overflows.
    Overflow {
        /// The channel of the worst target.
        channel: String,
        /// Its time.
        time: f64,
        /// The model's value there.
        value: f64,
    },
    /// The model is finite at the start but a derivative is not.
    NonFiniteDerivative {
        /// The parameter.
        parameter: String,
        /// The channel.
        channel: String,
        /// The target's time.
        time: f64,
    },
}

/// A parameter that no target feels.
#[derive(Clone, Debug, PartialEq)]
pub struct Stuck {
    /// Its name.
    pub parameter: String,
    /// Why: what stands between it and the targets. Never empty.
    pub reasons: Vec<Blocker>,
}

/// What keeps a parameter from moving a value.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Blocker {
    /// An operation that is flat in this operand, everywhere (FLOOR, SIGN …) or where the targets look at it (CLAMP,
    /// MAX …, a product with 0).
    Flat {
        /// The operation.
        op: Op,
        /// The operand's name in the operation's row.
        operand: &'static str,
    },
    /// The value of a key that no target's time comes near.
    Key {
        /// The key's time.
        time: f64,
        /// The targets' clock readings lie within these.
        reached: (f64, f64),
    },
    /// A tangent at a key, in a cubic segment that no target's time lies in.
    Tangent {
        /// The key's time.
        time: f64,
        /// The targets' clock readings lie within these.
        reached: (f64, f64),
    },
    /// The clock of a keyed track, where all targets meet it held or level.
    Clock,
    /// The clock of a keyed track that holds in all its segments.
    HoldClock,
    /// A velocity or acceleration that does not follow it where the targets look.
    Rate {
        /// The channel whose rate it is.
        channel: String,
        /// Which of the two.
        rate: Rate,
        /// Whether it is so wherever the targets may look.
        everywhere: bool,
        /// A target that stands where the rate jumps, and so perhaps on the wrong side.
        jump: Option<RateJump>,
    },
    /// It moves the value in ways that cancel, or underflow.
    Cancels,
}

/// Whether an operation's derivative by this operand is zero wherever it exists.
fn flat_everywhere(op: Op, operand: &str) -> bool {
    match op {
        Op::FLOOR | Op::CEIL | Op::ROUND | Op::SIGN | Op::STEP | Op::GATE => true,
        Op::SELECT => operand == "c",
        Op::UNWRAP => operand == "near",
        _ => false,
    }
}

impl Blocker {
    /// Whether another start, target or key can open the way.
    fn closable(&self) -> bool {
        match self {
            Blocker::Flat { op, operand } => !flat_everywhere(*op, operand),
            Blocker::Key { .. } | Blocker::Tangent { .. } | Blocker::Clock => true,
            Blocker::Rate { everywhere, .. } => !everywhere,
            Blocker::HoldClock | Blocker::Cancels => false,
        }
    }

    /// What would have to be there.
    fn missing(&self, parameter: &str) -> String {
        match self {
            Blocker::Flat { op, operand } if flat_everywhere(*op, operand) => {
                format!("a way from {parameter} to a target that does not lead through {}", op.name())
            }
            Blocker::Flat { op, operand } => {
                format!("a start or a target at which {} follows its operand {operand}", op.name())
            }
            Blocker::Key { time, .. } => {
                format!(
                    "a target that feels the key at time {time:?}: at it, or in a segment beside it that does not hold (at a \
                     jump the later key wins)"
                )
            }
            Blocker::Tangent { time, .. } => {
                format!("a target inside the segment that the tangent at time {time:?} bends")
            }
            Blocker::HoldClock => {
                format!("a way from {parameter} to a target that does not lead through the clock of a hold")
            }
            Blocker::Clock => "a target inside a segment that is not level".into(),
            Blocker::Rate { channel, everywhere: true, .. } => {
                format!("a target that {parameter} moves smoothly, perhaps one for {channel} itself")
            }
            Blocker::Rate { channel, rate, jump, .. } => {
                let earlier = jump.as_ref().map(|jump| format!(", perhaps at {:?}", jump.earlier));
                format!(
                    "a target at a time at which the {} of {channel} depends on {parameter}{}",
                    rate.name(),
                    earlier.unwrap_or_default()
                )
            }
            Blocker::Cancels => format!("a model in which {parameter} has an effect"),
        }
    }
}

impl fmt::Display for Blocker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Blocker::Flat { op, operand } if flat_everywhere(*op, operand) => {
                write!(f, "it is behind {} (in {operand}), which is constant between its steps", op.name())
            }
            Blocker::Flat { op: Op::MUL, .. } => write!(f, "MUL multiplies it by 0 where a target looks"),
            Blocker::Flat { op, operand } => {
                write!(f, "{} does not follow its operand {operand} where a target looks", op.name())
            }
            Blocker::Key { time, reached: (from, to) } => write!(
                f,
                "it is the value of the key at time {time:?}, which is out of reach: the targets read the keys from \
                 {from:?} to {to:?}"
            ),
            Blocker::Tangent { time, reached: (from, to) } => write!(
                f,
                "it is a tangent at the key at time {time:?} of a segment that no target is in: the targets read the \
                 keys from {from:?} to {to:?}"
            ),
            Blocker::HoldClock => {
                write!(
                    f,
                    "it moves the clock of a keyed track that holds, which is constant between its keys"
                )
            }
            Blocker::Clock => {
                write!(f, "it moves the clock of a keyed track that is level where a target looks")
            }
            Blocker::Rate { channel, rate, everywhere: true, .. } => {
                write!(f, "the {} of {channel} changes with it by jumps alone", rate.name())
            }
            Blocker::Rate { channel, rate, jump, .. } => {
                write!(
                    f,
                    "where it starts, the {} of {channel} at the targets does not depend on it",
                    rate.name()
                )?;
                jump.as_ref().map_or(Ok(()), |jump| write!(f, "; {jump}"))
            }
            Blocker::Cancels => write!(f, "its effects cancel, or are too small for a double"),
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::NoFreeParameter => {
                write!(f, "no free parameter: nothing in the targeted channels can move")
            }
            Refusal::DeclaresParameters { names } => write!(
                f,
                "the track declares free parameters ({}): fit_parameters moves those; fit_gradient moves every number \
                 of a track that declares none",
                names.join(", ")
            ),
            Refusal::Stuck(stuck) => {
                for (i, Stuck { parameter, reasons }) in stuck.iter().enumerate() {
                    let mut reasons: Vec<String> = reasons.iter().map(Blocker::to_string).collect();
                    reasons.dedup();
                    let separator = if i > 0 { "\n" } else { "" };
                    write!(
                        f,
                        "{separator}the parameter {parameter} moves no target: {}",
                        reasons.join("; ")
                    )?;
                }
                Ok(())
            }
            Refusal::NonFiniteStart { channel, time, value, node } => {
                write!(f, "the start is not finite: channel {channel} is {value:?} at time {time:?}")?;
                node.as_ref().map_or(Ok(()), |node| write!(f, ", first in {node}"))
            }
            Refusal::Overflow { channel, time, value } => write!(
                f,
                "the sum of squared residuals overflows at the start: channel {channel} is {value:?} at time {time:?}"
            ),
            Refusal::NonFiniteDerivative { parameter, channel, time } => write!(
                f,
                "the start is not differentiable: the derivative of channel {channel} by {parameter} is not finite at \
                 time {time:?}"
            ),
        }
    }
}

impl std::error::Error for Refusal {}

impl Refusal {
    /// Whether a change of the input (a start, a target, a key, a declaration) can close the gap; a derivative that is
    /// zero everywhere cannot be closed by input.
    pub fn closable(&self) -> bool {
        match self {
            Refusal::Stuck(stuck) => stuck.iter().all(|s| s.reasons.iter().any(Blocker::closable)),
            _ => true,
        }
    }

    /// What would have to be there.
    pub fn missing(&self) -> Vec<String> {
        match self {
            Refusal::NoFreeParameter => {
                vec!["a free parameter, such as ?gain=1.0 or 1.0 free-param gain".into()]
            }
            Refusal::DeclaresParameters { .. } => vec!["a track of plain numbers".into()],
            Refusal::Stuck(stuck) => stuck
                .iter()
                .flat_map(|s| s.reasons.iter().map(|reason| reason.missing(&s.parameter)))
                .collect(),
            Refusal::NonFiniteStart { .. } => {
                vec!["a start where the model is finite at every target".into()]
            }
            Refusal::Overflow { .. } => vec!["a start nearer to the targets, or data in another unit".into()],
            Refusal::NonFiniteDerivative { .. } => vec!["a start where every derivative is finite".into()],
        }
    }

    /// Looks for a reason not to fit `problem` from its start.
    pub fn of(problem: &FitProblem) -> Option<Refusal> {
        if problem.free_parameters().is_empty() {
            return Some(Refusal::NoFreeParameter);
        }
        if let Some(refusal) = not_finite(problem) {
            return Some(refusal);
        }
        let jacobian = problem.derivatives(&problem.starts());
        let rows: Vec<(&Channel, f64)> =
            problem.targets().map(|(channel, target)| (channel, target.time)).collect();
        let mut stuck = Vec::new();
        let freed = freed(problem, &jacobian);
        let mut non_finite = vec![None; jacobian.columns()];
        if jacobian.non_finite().is_some() {
            jacobian.each(|i, j, d| {
                if !d.is_finite() {
                    non_finite[j].get_or_insert(i);
                }
            });
        }
        let felt = jacobian.any(|d| d != 0.0);
        for (j, parameter) in problem.free_parameters().iter().enumerate() {
            let name = parameter.name();
            if let Some((channel, time)) = non_finite[j].and_then(|i| rows.get(i)) {
                return Some(Refusal::NonFiniteDerivative {
                    parameter: name.into(),
                    channel: channel.name.clone(),
                    time: *time,
                });
            }
            if !felt[j] && !freed[j] {
                stuck.push(Stuck { parameter: name.into(), reasons: reasons(problem, name) });
            }
        }
        if stuck.is_empty() { None } else { Some(Refusal::Stuck(stuck)) }
    }
}

/// How far the parameters that have an effect are moved to see whether others then have one.
const NUDGE: f64 = 1.0 / 1024.0;

/// For each parameter, whether it moves a target once those that do so at the start have moved a little: `a` in `a·b` at b = 0.
fn freed(problem: &FitProblem, jacobian: &Jacobian) -> Vec<bool> {
    let moves = jacobian.any(|d| d != 0.0);
    if !moves.contains(&true) || !moves.contains(&false) {
        return vec![false; moves.len()];
    }
    let nudge = |(x, moves): (f64, &bool)| if *moves { x + NUDGE * x.abs().max(NUDGE) } else { x };
    let nudged: Vec<f64> = problem.starts().into_iter().zip(&moves).map(nudge).collect();
    problem.derivatives(&nudged).any(|d| d.is_finite() && d != 0.0)
}

/// A target at which the model's start, or the sum of squares that it makes, is not finite.
fn not_finite(problem: &FitProblem) -> Option<Refusal> {
    let mut residuals = vec![0.0; problem.residuals()];
    problem.residuals_into(&problem.starts(), &mut residuals);
    let name = |channel: &Channel| channel.name.clone();
    let rows = || problem.targets().zip(&residuals);
    if let Some(((channel, target), _)) = rows()
        .filter(|(_, r)| !r.is_finite())
        .find(|((c, target), _)| !c.track.sample(target.time).is_finite())
    {
        let time = target.time;
        let value = channel.track.sample(time);
        if channel.rate_of(problem.channels()).is_some() {
            return Some(Refusal::NonFiniteStart { channel: name(channel), time, value, node: None });
        }
        let nodes = channel.track.node_values(time);
        let first = channel.track.iter().find(|(id, node)| {
            let finite = |id: Id| nodes[id.index()].is_finite();
            !finite(*id) && node.children().iter().all(finite)
        });
        let node = first.map(|(id, _)| excerpt(channel.track.subterm(id).describe()));
        return Some(Refusal::NonFiniteStart { channel: name(channel), time, value, node });
    }
    if residuals.iter().map(|r| r * r).sum::<f64>().is_finite() {
        return None;
    }
    let ((channel, target), _) = rows().max_by(|(_, a), (_, b)| a.abs().total_cmp(&b.abs()))?;
    let value = channel.track.sample(target.time);
    Some(Refusal::Overflow { channel: name(channel), time: target.time, value })
}

/// A text that a person can still read.
fn excerpt(text: String) -> String {
    first(&text, 300).map(|first| format!("{first} …")).unwrap_or(text)
}

/// Why no target feels the parameter `name`: what stands between in any case, else what stands between here.
fn reasons(problem: &FitProblem, name: &str) -> Vec<Blocker> {
    let uses = |channel: &&Channel| channel.track.free_parameters().iter().any(|p| p.name() == name);
    let aimed = |channel: &&Channel| channel.targets.iter().any(|t| t.weight > 0.0);
    let (mut always, mut here) = (Vec::new(), Vec::new());
    let mut open = false;
    // every channel is asked, also after one has an open way
    for channel in problem.channels().filter(uses).filter(aimed) {
        let Some(of) = channel.rate_of(problem.channels()) else {
            open |= !always_blocked(&channel.track, name, &mut always);
            blockers(channel, name, &mut here);
            continue;
        };
        // people know nothing of a derivative's nodes
        let everywhere = always_blocked(&channel.track, name, &mut Vec::new());
        open |= !everywhere;
        let jump = rate_jump(channel, of, &channel.track);
        let rate = Blocker::Rate { channel: of.0.name.clone(), rate: of.1, everywhere, jump };
        note(if everywhere { &mut always } else { &mut here }, rate);
    }
    if !open && !always.is_empty() {
        return always;
    }
    if here.is_empty() { vec![Blocker::Cancels] } else { here }
}

/// For each node, whether it depends on the parameter `name`.
fn dependent(track: &Track, name: &str) -> Vec<bool> {
    let mut depends = vec![false; track.nodes().len()];
    for (id, node) in track.iter() {
        depends[id.index()] = match node {
            Node::Free(p) => p.name() == name,
            _ => node.children().iter().any(|child| depends[child.index()]),
        };
    }
    depends
}

/// Whether the keyed track is constant between its keys.
fn holds(keyed: &Keyed) -> bool {
    keyed.shapes().iter().all(|shape| *shape == Shape::Hold)
}

/// Whether every way from the root to the parameter leads through an operation that is flat everywhere; notes all of
/// those that stand behind one another.
fn always_blocked(track: &Track, name: &str, reasons: &mut Vec<Blocker>) -> bool {
    let depends = dependent(track, name);
    let mut open = vec![false; track.nodes().len()];
    open[track.root().index()] = true;
    let mut blocked = true;
    for (id, node) in track.iter().rev().filter(|(id, _)| depends[id.index()]) {
        match node {
            Node::Free(_) => blocked &= !open[id.index()],
            Node::Apply(op, operands) => {
                for (operand, child) in op.operands().iter().zip(operands) {
                    if flat_everywhere(*op, operand) && depends[child.index()] {
                        note(reasons, Blocker::Flat { op: *op, operand });
                    } else if open[id.index()] {
                        open[child.index()] = true;
                    }
                }
            }
            Node::Keyed(keyed) if holds(keyed) => {
                if open[id.index()] {
                    keyed.keys().iter().for_each(|key| open[key.value.index()] = true);
                }
                if depends[keyed.clock().index()] {
                    note(reasons, Blocker::HoldClock);
                }
            }
            _ if open[id.index()] => node.children().iter().for_each(|child| open[child.index()] = true),
            _ => {}
        }
    }
    blocked
}

/// The edges at which the influence of parameter `name` ends, seen from the root, at each of the channel's targets.
fn blockers(channel: &Channel, name: &str, reasons: &mut Vec<Blocker>) {
    let track = &channel.track;
    let depends = dependent(track, name);
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    let (mut keys, mut tangents_of): (Vec<f64>, Vec<f64>) = Default::default();
    for target in channel.targets.iter().filter(|target| target.weight > 0.0) {
        let values = track.node_values(target.time);
        let mut reached = vec![false; track.nodes().len()];
        reached[track.root().index()] = true;
        for (id, node) in track.iter().rev().filter(|(id, _)| depends[id.index()]) {
            if !reached[id.index()] {
                continue;
            }
            match node {
                Node::Constant(_) | Node::Clock | Node::Free(_) => {}
                Node::Apply(op, operands) => {
                    let partials = local_partials(*op, operands.map(|id| values[id.index()]));
                    for (k, operand) in op.operands().iter().enumerate() {
                        let child = operands[k].index();
                        if partials[k] != 0.0 {
                            reached[child] = true;
                        } else if depends[child] {
                            note(reasons, Blocker::Flat { op: *op, operand });
                        }
                    }
                }
                Node::Keyed(keyed) => {
                    let clock = values[keyed.clock().index()];
                    (low, high) = (low.min(clock), high.max(clock));
                    let partials = keyed_partials(keyed, &values);
                    let mut feels = |id: Id| {
                        let felt = partials.iter().any(|(own, slope)| *own == id && *slope != 0.0);
                        reached[id.index()] |= felt;
                        felt
                    };
                    for (k, key) in keyed.keys().iter().enumerate() {
                        if depends[key.value.index()] && !feels(key.value) && !keys.contains(&key.time()) {
                            keys.push(key.time());
                        }
                        let tangents = keyed.shapes().get(k).and_then(Shape::tangents).into_iter().flatten();
                        for (id, key) in tangents.zip(&keyed.keys()[k..]) {
                            if depends[id.index()] && !feels(*id) && !tangents_of.contains(&key.time()) {
                                tangents_of.push(key.time());
                            }
                        }
                    }
                    if depends[keyed.clock().index()] && !feels(keyed.clock()) {
                        note(reasons, if holds(keyed) { Blocker::HoldClock } else { Blocker::Clock });
                    }
                }
            }
        }
    }
    for time in keys {
        note(reasons, Blocker::Key { time, reached: (low, high) });
    }
    for time in tangents_of {
        note(reasons, Blocker::Tangent { time, reached: (low, high) });
    }
}

fn note(reasons: &mut Vec<Blocker>, blocker: Blocker) {
    if !reasons.contains(&blocker) {
        reasons.push(blocker);
    }
}
