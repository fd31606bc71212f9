//! Parameters that are formulas of others.

use std::collections::BTreeMap;

use keyfit_ir::{BuildError, Channel, Track};
use thiserror::Error;

use crate::substitute::substitute;

/// A parameter that is not free but a formula of others, which may be tied too.
#[derive(Clone, Debug, PartialEq)]
pub struct Tie {
    /// The parameter's name.
    pub name: String,
    /// What it is: a track that does not vary with time.
    pub formula: Track,
}

/// Why parameters cannot be tied so.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum TieError {
    /// No channel has the parameter.
    #[error("{name} is to be tied but is no free parameter")]
    Unknown {
        /// The name.
        name: String,
    },
    /// Two formulas for one parameter.
    #[error("{name} is tied twice")]
    Twice {
        /// The name.
        name: String,
    },
    /// The formula varies with time.
    #[error("{name} is tied to a formula that varies with t; a parameter is one number")]
    Varies {
        /// The name.
        name: String,
    },
    /// Formulas need each other, or themselves.
    #[error("the ties of {} run in a circle: none of them can come first", names.join(", "))]
    Circle {
        /// The names that no order can put first, sorted.
        names: Vec<String>,
    },
    /// The formulas do not fit the tracks.
    #[error(transparent)]
    Build(#[from] BuildError),
}

/// Puts formulas in the place of the parameters that they tie, in all channels; gives the ties back in terms of parameters that
/// stay free, so that [`Fit::estimate`](crate::Fit::estimate) can say what became of them. Derivatives stay exact: they are
/// those of the tracks that result.
///
/// ```
/// use keyfit_ir::Track;
/// use keyfit_solvers::{Channel, FitOptions, Target, Tie, fit_channels, tie};
///
/// let track = Track::parse("?a=1*t + ?b=2")?;
/// let targets = vec![Target::new(1.0, 7.0), Target::new(2.0, 9.0)];
/// let mut channels = vec![Channel { name: "y".into(), track, targets }];
/// let ties = tie(&mut channels, &[Tie { name: "b".into(), formula: Track::parse("2*?a=1 + 1")? }])?;
/// let fit = fit_channels(channels, &FitOptions::default())?;
/// assert_eq!((fit.value("a"), fit.estimate(&ties[0].formula).0), (Some(2.0), 5.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// See [`TieError`].
pub fn tie(channels: &mut [Channel], ties: &[Tie]) -> Result<Vec<Tie>, TieError> {
    let mut waiting: BTreeMap<&str, &Track> = BTreeMap::new();
    for Tie { name, formula } in ties {
        let has = |channel: &Channel| channel.track.free_parameters().iter().any(|p| p.name() == name);
        if !channels.iter().any(has) {
            return Err(TieError::Unknown { name: name.clone() });
        }
        if !formula.is_time_invariant() {
            return Err(TieError::Varies { name: name.clone() });
        }
        if waiting.insert(name, formula).is_some() {
            return Err(TieError::Twice { name: name.clone() });
        }
    }
    // in rounds, each of which takes the formulas of what is known to be free
    let mut known: BTreeMap<&str, Track> = BTreeMap::new();
    while !waiting.is_empty() {
        let ready =
            |formula: &Track| formula.free_parameters().iter().all(|p| !waiting.contains_key(p.name()));
        let now: Vec<&str> =
            waiting.iter().filter(|(_, formula)| ready(formula)).map(|(name, _)| *name).collect();
        if now.is_empty() {
            return Err(TieError::Circle { names: waiting.keys().map(ToString::to_string).collect() });
        }
        for name in now {
            if let Some(formula) = waiting.remove(name) {
                let formula = substitute(formula, |name| known.get(name))?;
                known.insert(name, formula);
            }
        }
    }
    for channel in channels {
        channel.track = substitute(&channel.track, |name| known.get(name))?;
    }
    let resolved = |tie: &Tie| {
        let formula = known.get(tie.name.as_str())?.clone();
        Some(Tie { name: tie.name.clone(), formula })
    };
    Ok(ties.iter().filter_map(resolved).collect())
}
