//! Phases within one turn and amplitudes positive, where the tracks say that this changes no value.
//!
//! That a phase may turn, or an amplitude change its sign while a phase turns by half, is read off the tracks: what such a change
//! does to each node is followed from the parameters to the roots, all of which must stay as they are. So it holds over the
//! reals for all parameters and times; the doubles move by rounding, and by how much is told.

use std::collections::BTreeMap;
use std::f64::consts::{PI, TAU};

use keyfit_ir::{Channel, Node, Op, Track};
use keyfit_solvers::{Fit, FittedChannel, Named};

/// Where phases come to lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// In [0, 2π).
    Positive,
    /// In (−π, π].
    Centred,
}

/// What was done.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Normalised {
    /// The parameters that have other values now, with those that they had.
    pub before: Vec<Named>,
    /// The largest change of a track's value at a target.
    pub moved: f64,
}

/// What a change of parameters does to a node's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Change {
    /// It grows by so many half turns.
    HalfTurns(i32),
    Negated,
    Unknown,
}

const NONE: Change = Change::HalfTurns(0);

/// More half turns than these are not followed.
const MOST: i32 = 1 << 18;

fn half_turns(count: Option<i32>) -> Change {
    count.filter(|count| count.abs() <= MOST).map_or(Change::Unknown, Change::HalfTurns)
}

/// What becomes of an operation's value; `whole` is an operand that is a whole number.
fn applied(op: Op, operands: &[Change], whole: impl Fn(usize) -> Option<i32>) -> Change {
    use Change::{HalfTurns, Negated, Unknown};
    match (op, operands) {
        (_, all) if all.contains(&Unknown) => Unknown,
        (_, all) if all.iter().all(|change| *change == NONE) => NONE,
        (Op::ADD, [HalfTurns(a), HalfTurns(b)]) => half_turns(a.checked_add(*b)),
        (Op::SUB, [HalfTurns(a), HalfTurns(b)]) => half_turns(a.checked_sub(*b)),
        (Op::ADD | Op::SUB, [Negated, Negated]) | (Op::NEG | Op::SIN | Op::TAN, [Negated]) => Negated,
        (Op::NEG, [HalfTurns(a)]) => half_turns(a.checked_neg()),
        (Op::MUL | Op::DIV, [Negated, Negated]) | (Op::COS | Op::ABS, [Negated]) => NONE,
        (Op::MUL | Op::DIV, [Negated, other] | [other, Negated]) if *other == NONE => Negated,
        (Op::MUL, [HalfTurns(a), other]) if *other == NONE => {
            half_turns(whole(1).and_then(|c| a.checked_mul(c)))
        }
        (Op::MUL, [other, HalfTurns(a)]) if *other == NONE => {
            half_turns(whole(0).and_then(|c| a.checked_mul(c)))
        }
        (Op::SIN | Op::COS, [HalfTurns(a)]) => {
            if a % 2 == 0 {
                NONE
            } else {
                Negated
            }
        }
        (Op::TAN, [HalfTurns(_)]) => NONE,
        _ => Unknown,
    }
}

/// Whether the track's value stays as it is when its parameters change so.
fn stays(track: &Track, change: &impl Fn(&str) -> Change) -> bool {
    let mut changes: Vec<Change> = Vec::with_capacity(track.nodes().len());
    let of = |changes: &[Change], index: usize| changes.get(index).copied().unwrap_or(Change::Unknown);
    for node in track.nodes() {
        let own = match node {
            Node::Constant(_) | Node::Clock => NONE,
            Node::Free(p) => change(p.name()),
            Node::Apply(op, operands) => {
                let operands = operands.get(..op.arity()).unwrap_or_default();
                let whole = |k: usize| match operands.get(k).and_then(|id| track.node(*id)) {
                    Some(Node::Constant(x))
                        if x.value() == x.value().trunc() && x.value().abs() <= f64::from(MOST) =>
                    {
                        Some(x.value() as i32)
                    }
                    _ => None,
                };
                let all: Vec<Change> = operands.iter().map(|id| of(&changes, id.index())).collect();
                applied(*op, &all, whole)
            }
            Node::Keyed(keyed) => match keyed.children().all(|id| of(&changes, id.index()) == NONE) {
                true => NONE,
                false => Change::Unknown,
            },
        };
        changes.push(own);
    }
    changes.last() == Some(&NONE)
}

/// Turns phases into the range that `turn` says and makes amplitudes positive, where no channel's track changes by it. Parameters with
/// bounds, and those fitted by their logarithms, stay as they are; so do amplitudes where the targets leave something open.
///
/// ```
/// use keyfit::normalise::{Turn, normalise};
/// use keyfit::{Channel, FitOptions, Target, Track, fit_channels};
///
/// let track = Track::parse("?amp=-1*cos(t + ?phase=7)")?;
/// let targets = vec![Target::new(0.0, 2.0), Target::new(1.0, 0.5)];
/// let channels = vec![Channel { name: "y".into(), track, targets }];
/// let mut fit = fit_channels(channels.clone(), &FitOptions::default())?;
/// let done = normalise(&mut fit, &channels, &Default::default(), Turn::Centred);
/// assert!(fit.value("amp").unwrap() > 0.0 && fit.value("phase").unwrap().abs() < 3.2 && done.moved < 1e-15);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn normalise(
    fit: &mut Fit,
    channels: &[Channel],
    bounds: &BTreeMap<String, [f64; 2]>,
    turn: Turn,
) -> Normalised {
    let names: Vec<String> = (fit.parameters.iter().map(|p| p.name.clone()))
        .filter(|name| !bounds.contains_key(name) && !fit.logarithmic.contains(name))
        .collect();
    let all_stay = |changed: &[(&str, Change)]| {
        let change =
            |name: &str| changed.iter().find(|(own, _)| *own == name).map_or(NONE, |(_, change)| *change);
        channels.iter().all(|channel| stays(&channel.track, &change))
    };
    let phases: Vec<&String> =
        names.iter().filter(|name| all_stay(&[(name, Change::HalfTurns(2))])).collect();
    let before = fit.parameters.clone();
    let mut flipped: Vec<usize> = Vec::new();
    for (k, Named { name: amplitude, value }) in before.iter().enumerate() {
        if *value >= 0.0 || !names.contains(amplitude) || !fit.undetermined.is_empty() {
            continue;
        }
        let turned = phases.iter().find(|phase| {
            **phase != amplitude && all_stay(&[(amplitude, Change::Negated), (phase, Change::HalfTurns(1))])
        });
        if let Some(phase) = turned {
            fit.parameters
                .iter_mut()
                .filter(|p| p.name == **phase)
                .for_each(|p| p.value = plus(p.value, 1.0));
            fit.parameters.iter_mut().filter(|p| p.name == *amplitude).for_each(|p| p.value = -p.value);
            flipped.push(k);
        }
    }
    for p in fit.parameters.iter_mut().filter(|p| phases.contains(&&p.name)) {
        p.value = within(p.value, turn);
    }
    if let Some(covariance) = &mut fit.covariance {
        let sign = |k: &usize| if flipped.contains(k) { -1.0 } else { 1.0 };
        covariance.indexed_iter_mut().for_each(|((i, j), value)| *value *= sign(&i) * sign(&j));
    }
    let now: Vec<FittedChannel> =
        channels.iter().map(|channel| FittedChannel::new(channel, &fit.parameters)).collect();
    let moves = channels.iter().zip(fit.fitted.iter().zip(&now)).flat_map(|(channel, (old, new))| {
        channel.targets.iter().map(|t| (new.fitted.sample(t.time) - old.fitted.sample(t.time)).abs())
    });
    let moved = moves.fold(0.0, f64::max);
    fit.fitted = now;
    let other = |(old, new): &(Named, &Named)| old.value != new.value;
    let before = before.into_iter().zip(&fit.parameters).filter(other).map(|(old, _)| old).collect();
    Normalised { before, moved }
}

/// The first 33 bits of π, a multiple of which by fewer than 2²⁰ is exact, and the rest.
const PI_PARTS: [f64; 2] = [3.1415926534682512, 1.2154201013012384e-10];

/// x + k·π, rounded about once.
fn plus(x: f64, k: f64) -> f64 {
    let [head, rest] = PI_PARTS;
    (x + k * head) + k * rest
}

/// The angle in the range. One that is so large that its digits say no angle stays as it is.
fn within(x: f64, turn: Turn) -> f64 {
    let turns = match turn {
        Turn::Positive => (x / TAU).floor(),
        Turn::Centred => (x / TAU - 0.5).ceil(),
    };
    if turns == 0.0 || turns.is_nan() || turns.abs() > f64::from(MOST) {
        return x;
    }
    let turned = plus(x, -2.0 * turns);
    match turn {
        Turn::Positive if (0.0..TAU).contains(&turned) => turned,
        // rounding put it on the other side of 0
        Turn::Positive => 0.0,
        Turn::Centred => turned.clamp(-PI, PI),
    }
}
