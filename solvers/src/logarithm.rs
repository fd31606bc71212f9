//! Positive parameters that are fitted by their logarithms.
//!
//! Inside, the parameter `a` is ln a, and EXP(a) stands where a stood; outside, everything is told of a itself.

use std::collections::{BTreeMap, BTreeSet};

use keyfit_ir::{BuildError, Builder, Channel, Op, Parameter, Track};

use crate::fit::FitError;
use crate::problem::ProblemError;
use crate::substitute::substitute;

/// The channel with exp(a) in the place of every a of `names`.
pub(crate) fn inside(channel: &Channel, names: &BTreeSet<String>) -> Result<Channel, FitError> {
    let mut replaced: BTreeMap<&str, Track> = BTreeMap::new();
    for p in channel.track.free_parameters().into_iter().filter(|p| names.contains(p.name())) {
        let (name, start) = (p.name(), p.start());
        if start <= 0.0 {
            return Err(FitError::NotPositive { name: name.into(), start });
        }
        replaced.insert(name, exponential(p.at(to_inside(start))).map_err(ProblemError::from)?);
    }
    if replaced.is_empty() {
        return Ok(channel.clone());
    }
    let track = substitute(&channel.track, |name| replaced.get(name)).map_err(ProblemError::from)?;
    Ok(Channel { track, ..channel.clone() })
}

/// ln x; −∞ for what is not positive, so that a bound of 0 or less bounds nothing.
pub(crate) fn to_inside(x: f64) -> f64 {
    core_math::log(x.max(0.0))
}

pub(crate) fn to_outside(x: f64) -> f64 {
    core_math::exp(x)
}

fn exponential(parameter: Parameter) -> Result<Track, BuildError> {
    let mut builder = Builder::new();
    let id = builder.free(parameter)?;
    let id = builder.apply(Op::EXP, &[id])?;
    builder.finish(id)
}
