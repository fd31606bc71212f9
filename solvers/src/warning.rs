//! What a reader of an answer must know beside it.

use std::fmt;

use keyfit_ir::{Channel, Keyed, Node, Rate, Target, Track};

use crate::fit::Fit;

/// What a reader of an answer must know beside it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Warning {
    /// A bound holds a parameter.
    AtBound {
        /// The parameter.
        name: String,
        /// Its bound.
        bound: f64,
    },
    /// Targets at which a keyed track is read before its first or after its last key.
    OutsideKeys(OutsideKeys),
    /// A target for a velocity or acceleration at a time at which that jumps.
    RateJump(RateJump),
    /// The residuals are what rounding leaves.
    RoundingLevel,
    /// Another start led to a lower minimum than the first.
    Beaten {
        /// The sum of squares that the first start led to.
        sum_of_squares: f64,
    },
}

/// Targets at which a keyed track of their channel is read outside its keys.
#[derive(Clone, Debug, PartialEq)]
pub struct OutsideKeys {
    /// The channel.
    pub channel: String,
    /// The times of the targets.
    pub times: Vec<f64>,
    /// The times of the first and the last key.
    pub keys: (f64, f64),
}

/// A target for a velocity or acceleration at a time at which that jumps: it is held against what the rate is from there on.
#[derive(Clone, Debug, PartialEq)]
pub struct RateJump {
    /// The channel whose velocity or acceleration it is.
    pub channel: String,
    /// Which of the two.
    pub rate: Rate,
    /// The target's time, the first one where the channel has several such targets.
    pub time: f64,
    /// How many other targets of the channel's rate stand at jumps.
    pub others: usize,
    /// The rate just before.
    pub before: f64,
    /// The rate at the time itself, which the target is held against.
    pub here: f64,
    /// The rate just after.
    pub after: f64,
    /// Whether that is the stillness after the last key.
    pub ends: bool,
    /// A time a little before at which the rate is as before.
    pub earlier: f64,
}

impl fmt::Display for RateJump {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let RateJump { channel, rate, time, others, before, here, after, ends, earlier } = self;
        write!(f, "at time {time:?} the {} of {channel} ", rate.name())?;
        match (ends, is_same(*here, *after)) {
            (true, _) => write!(f, "is that after the last key, where the track stands still")?,
            (false, true) => write!(f, "jumps, and is that from there on, {after:?}")?,
            (false, false) => write!(f, "jumps, and is {here:?} there and {after:?} from there on")?,
        }
        write!(f, "; just before it is {before:?}: to aim at this, aim a little earlier, at {earlier:?}")?;
        match others {
            0 => Ok(()),
            n => write!(f, " (and so for {n} more)"),
        }
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Warning::AtBound { name, bound } => {
                write!(f, "{name} is held by its bound {bound:?}: beyond it the targets would be met better")
            }
            Warning::OutsideKeys(OutsideKeys { channel, times, keys: (first, last) }) => write!(
                f,
                "{} of channel {channel} outside the keys from {first:?} to {last:?}, where a keyed track keeps the value of its end: \
                 {}{}",
                if times.len() == 1 { "1 target".into() } else { format!("{} targets", times.len()) },
                times.iter().take(SHOWN).map(|t| format!("{t:?}")).collect::<Vec<_>>().join(", "),
                if times.len() > SHOWN { " …" } else { "" },
            ),
            Warning::RateJump(jump) => jump.fmt(f),
            Warning::RoundingLevel => write!(
                f,
                "the residuals are at rounding level: standard errors and R² tell of rounding, not of the targets"
            ),
            Warning::Beaten { sum_of_squares } => write!(
                f,
                "the first start led to a local minimum that another start beat: sum {sum_of_squares:?}"
            ),
        }
    }
}

/// So many times are told.
const SHOWN: usize = 5;

impl Fit {
    /// What a reader must know beside the answer.
    pub fn warnings(&self) -> Vec<Warning> {
        let bound = self.at_bounds.iter().map(|p| Warning::AtBound { name: p.name.clone(), bound: p.value });
        let outside = self.outside_keys.iter().cloned().map(Warning::OutsideKeys);
        let jumps = self.rate_jumps.iter().cloned().map(Warning::RateJump);
        // targets that are met and no more are no warning
        let told = self.quality.rounding_level && self.quality.residual_deviation.is_some();
        let rounding = told.then_some(Warning::RoundingLevel);
        let beaten = self.beaten().map(|first| Warning::Beaten { sum_of_squares: first.sum_of_squares });
        bound.chain(outside).chain(jumps).chain(rounding).chain(beaten).collect()
    }
}

/// The targets of a channel at which its keyed tracks are read outside their keys, for each range of keys.
pub(crate) fn outside_keys(channel: &Channel, fitted: &Track) -> Vec<OutsideKeys> {
    let mut found: Vec<OutsideKeys> = Vec::new();
    let ends = |keyed: &Keyed| {
        let keys = keyed.keys();
        Some((keys.first()?.time(), keys.last()?.time())).filter(|(first, last)| first < last)
    };
    let keyed: Vec<(&Keyed, (f64, f64))> = (fitted.nodes().iter())
        .filter_map(|node| match node {
            Node::Keyed(keyed) => ends(keyed).map(|ends| (keyed.as_ref(), ends)),
            _ => None,
        })
        .collect();
    // a clock that is t itself needs no evaluation
    let plain = |keyed: &Keyed| matches!(fitted.node(keyed.clock()), Some(Node::Clock));
    let all_plain = keyed.iter().all(|(keyed, _)| plain(keyed));
    if keyed.is_empty() || channel.track.free_parameters().is_empty() {
        return found;
    }
    for Target { time, .. } in channel.targets.iter().filter(|target| target.weight > 0.0) {
        let values = if all_plain { Vec::new() } else { fitted.node_values(*time) };
        for (keyed, keys) in &keyed {
            let reading = values.get(keyed.clock().index()).unwrap_or(time);
            if (keys.0..=keys.1).contains(reading) || reading.is_nan() {
                continue;
            }
            match found.iter_mut().find(|one| one.keys == *keys) {
                Some(one) if one.times.last() == Some(time) => {}
                Some(one) => one.times.push(*time),
                None => {
                    found.push(OutsideKeys { channel: channel.name.clone(), times: vec![*time], keys: *keys })
                }
            }
        }
    }
    found
}

/// Rates that differ by less than this share of the larger one are one.
const SAME: f64 = 1e-6;
/// Nor is it a jump what so many roundings of the largest intermediate value may make.
const ROUNDINGS: f64 = 64.0;
/// A rate that changes more within so many doubles before a target than from the last of them to the target is only steep.
const STEEP: f64 = 4096.0;
/// One of so many parts of a second earlier one aims at the rate before a jump.
const PARTS: f64 = 1e6;

/// Whether rates differ by no more than what a person would call rounding.
fn is_same(a: f64, b: f64) -> bool {
    (a - b).abs() <= SAME * a.abs().max(b.abs())
}

/// The targets of a channel that is the rate of another at which it jumps, its parameters having their current values. Where a track that
/// stood still sets off with its first key, there is nothing before to be aimed at.
pub(crate) fn rate_jump(channel: &Channel, (of, rate): (&Channel, Rate), track: &Track) -> Option<RateJump> {
    let own = channel.targets.iter().filter(|target| target.weight > 0.0);
    let times: Vec<f64> = own.map(|target| target.time).collect();
    let sampled = |at: &dyn Fn(f64) -> f64| {
        let times: Vec<f64> = times.iter().map(|t| at(*t)).collect();
        let mut rates = vec![f64::NAN; times.len()];
        track.sample_into(&times, &mut rates);
        rates
    };
    let here = sampled(&|t| t);
    let (before, after) = (sampled(&f64::next_down), sampled(&f64::next_up));
    let long_before = sampled(&|t| t - STEEP * (t - t.next_down()));
    let long_after = sampled(&|t| t + STEEP * (t.next_up() - t));
    let keyed = of.track.nodes().iter().filter_map(|node| match node {
        Node::Keyed(keyed) if matches!(of.track.node(keyed.clock()), Some(Node::Clock)) => Some(keyed.keys()),
        _ => None,
    });
    let (first, last): (Vec<f64>, Vec<f64>) =
        keyed.filter_map(|keys| Some((keys.first()?.time(), keys.last()?.time()))).unzip();
    // the clock is exact, however large
    let largest = |t: f64| {
        let numbers = track.nodes().iter().zip(track.node_values(t));
        let computed = numbers.filter(|(node, x)| !matches!(node, Node::Clock) && x.is_finite());
        computed.map(|(_, x)| x.abs()).fold(0.0, f64::max)
    };
    let jumps = |k: &usize| {
        let (t, here) = (times[*k], here[*k]);
        let differs = |near: f64, far: f64| {
            let jump = (here - near).abs();
            jump.is_finite()
                && !is_same(here, near)
                && jump > (near - far).abs()
                && jump > ROUNDINGS * f64::EPSILON * largest(t)
        };
        let sets_off = before[*k] == 0.0 && first.contains(&t);
        !sets_off && (differs(before[*k], long_before[*k]) || differs(after[*k], long_after[*k]))
    };
    let mut found = (0..times.len()).filter(jumps);
    let k = found.next()?;
    let (time, before, here, after) = (times[k], before[k], here[k], after[k]);
    let near = (time * PARTS - 1.0).round() / PARTS;
    let jump = (here - before).abs().max((after - before).abs());
    let as_before = near < time && (track.sample(near) - before).abs() < jump / 2.0;
    Some(RateJump {
        channel: of.name.clone(),
        rate,
        time,
        others: found.count(),
        before,
        here,
        after,
        ends: here == 0.0 && last.contains(&time),
        earlier: if as_before { near } else { time.next_down() },
    })
}
