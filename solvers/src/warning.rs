//! What a reader of an answer must know beside it.

use std::fmt;

use keyfit_ir::{Channel, Keyed, Node, Target, Track};

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
        // targets that are met and no more are no warning
        let told = self.quality.rounding_level && self.quality.residual_deviation.is_some();
        let rounding = told.then_some(Warning::RoundingLevel);
        let beaten = self.beaten().map(|first| Warning::Beaten { sum_of_squares: first.sum_of_squares });
        bound.chain(outside).chain(rounding).chain(beaten).collect()
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
