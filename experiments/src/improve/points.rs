//! The points at which forms are judged.

use std::collections::BTreeMap;

use keyfit_autodiff::evaluate;
use keyfit_ir::{Sampler, Track, same_bits};
use keyfit_solvers::Random;

use super::{Accuracy, ImproveError, Inputs, Options, errors, mean};

/// The clock's name among the inputs.
pub const CLOCK: &str = "t (the clock)";

/// The precision at which a true value is first sought, enough for the sum of any two doubles.
const BITS: u32 = 2300;
/// The precision beyond which none is sought.
const MOST_BITS: u32 = 8 * BITS;
/// So many inputs are tried for each point.
const TRIES: usize = 2000;

/// A point: the clock and the parameters, and what the track's value is there over the reals, rounded once.
#[derive(Clone, Debug)]
pub(super) struct Point {
    pub inputs: Vec<f64>,
    pub truth: f64,
}

/// All points.
#[derive(Debug)]
pub(super) struct Points {
    /// The clock's name, then the parameters'.
    pub names: Vec<String>,
    pub training: Vec<Point>,
    pub held_out: Vec<Point>,
}

/// How far `value` is from `truth`: log₂ of 1 and the number of doubles from one to the other (Panchekha et al.); 64 if it is
/// NaN. The two zeros are one.
///
/// ```
/// # use keyfit::improve::bits_of_error;
/// assert_eq!(bits_of_error(1.0, 1.0), 0.0);
/// assert_eq!(bits_of_error(1.0 + f64::EPSILON, 1.0), 1.0);
/// assert_eq!(bits_of_error(f64::NAN, 1.0), 64.0);
/// ```
pub fn bits_of_error(value: f64, truth: f64) -> f64 {
    if value.is_nan() {
        return 64.0;
    }
    let apart = (i128::from(ordinal(value)) - i128::from(ordinal(truth))).unsigned_abs();
    core_math::log2(apart as f64 + 1.0)
}

/// The doubles in their order, numbered from 0 at the zeros.
pub(super) fn ordinal(x: f64) -> i64 {
    let bits = x.to_bits() as i64;
    if bits < 0 { i64::MIN.wrapping_sub(bits) } else { bits }
}

/// The double of this number.
pub(super) fn from_ordinal(n: i64) -> f64 {
    if n < 0 { f64::from_bits(i64::MIN.wrapping_sub(n) as u64) } else { f64::from_bits(n as u64) }
}

impl Points {
    /// Draws points at which the condition holds and the track has a finite value.
    pub fn draw(track: &Track, inputs: &Inputs, options: &Options) -> Result<Points, ImproveError> {
        let own = track.free_parameters().into_iter().map(|p| p.name().to_owned());
        let asked = inputs.condition.iter().flat_map(Track::free_parameters).map(|p| p.name().to_owned());
        let mut names: Vec<String> = vec![CLOCK.to_owned()];
        for name in own.chain(asked) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        let ends: Vec<[i64; 2]> =
            names.iter().map(|name| ends(name, inputs.ranges.get(name))).collect::<Result<_, _>>()?;
        let wanted = options.points.max(1) + options.held_out.max(1);
        let mut random = Random::new(options.seed);
        let mut points = Vec::new();
        let mut tried = 0;
        while points.len() < wanted && tried < wanted * TRIES {
            tried += 1;
            let drawn: Vec<f64> = ends.iter().map(|ends| from_ordinal(between(&mut random, *ends))).collect();
            let holds = inputs.condition.as_ref().is_none_or(|condition| {
                let value = value(condition, &names, &drawn);
                value != 0.0 && !value.is_nan()
            });
            let truth = if holds { truth(track, &names, &drawn) } else { None };
            points.extend(truth.map(|truth| Point { inputs: drawn, truth }));
        }
        if points.len() < wanted {
            return Err(ImproveError::Undefined { tried, found: points.len() });
        }
        let held_out = points.split_off(options.points.max(1));
        Ok(Points { names, training: points, held_out })
    }

    /// How accurate a form is where it was not looked at in the search.
    pub fn accuracy(&self, track: &Track) -> Accuracy {
        let errors = errors(track, &self.names, &self.held_out);
        let worst = errors.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1));
        let (worst_at, worst) = worst.map_or((None, 0.0), |(k, bits)| (self.held_out.get(k), *bits));
        let varies = !track.is_time_invariant();
        let named =
            worst_at.iter().flat_map(|point| self.names.iter().cloned().zip(point.inputs.iter().copied()));
        let worst_at: BTreeMap<String, f64> = named.filter(|(name, _)| varies || name != CLOCK).collect();
        Accuracy { mean: mean(&errors), worst, worst_at }
    }
}

/// The numbers of the first and the last double of a range.
fn ends(name: &str, range: Option<&[f64; 2]>) -> Result<[i64; 2], ImproveError> {
    let [low, high] = range.copied().unwrap_or([f64::NEG_INFINITY, f64::INFINITY]);
    let (from, to) = (low.max(-f64::MAX), high.min(f64::MAX));
    if low <= high && from <= to && !low.is_nan() && !high.is_nan() {
        Ok([ordinal(from), ordinal(to)])
    } else {
        Err(ImproveError::Range { name: name.into(), low, high })
    }
}

fn parameters(track: &Track, names: &[String], inputs: &[f64]) -> Vec<f64> {
    let place = |name: &str| names.iter().position(|own| own == name);
    let value = |p: &&keyfit_ir::Parameter| place(p.name()).and_then(|k| inputs.get(k)).copied();
    track.free_parameters().iter().map(|p| value(p).unwrap_or(f64::NAN)).collect()
}

fn value(track: &Track, names: &[String], inputs: &[f64]) -> f64 {
    Sampler::new(track).sample_at(&inputs[0], &parameters(track, names, inputs))
}

/// The track's value over the reals, rounded once; `None` if it is not finite, or too many bits would be needed.
pub(super) fn truth(track: &Track, names: &[String], inputs: &[f64]) -> Option<f64> {
    let parameters = parameters(track, names, inputs);
    let rounded = |bits: u32| evaluate(track, inputs[0], &parameters, bits).to_f64();
    let mut bits = BITS;
    let mut last = rounded(bits);
    while bits < MOST_BITS {
        bits *= 2;
        let next = rounded(bits);
        if !next.is_finite() {
            return None;
        }
        if same_bits(last, next) && (next != 0.0 || bits == MOST_BITS) {
            return Some(next);
        }
        last = next;
    }
    None
}

/// A whole number from one to the other, both included.
fn between(random: &mut Random, [low, high]: [i64; 2]) -> i64 {
    let span = (i128::from(high) - i128::from(low) + 1) as u128;
    let part = (u128::from(random.bits()) * span) >> 64;
    (i128::from(low) + part as i128) as i64
}
