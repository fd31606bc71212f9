//! Simplification: the same bits for less.
//!
//! A round has two parts. First every node, children before parents, is rewritten by the rules that make an instance
//! cheaper, as long as one applies. Then equality saturation looks at the windows of what remains (`window.rs`): there rules
//! work both ways, so that a detour through an equal or dearer term is found. Rounds follow one another until one changes
//! nothing; so simplifying again changes nothing either. Everything is a function of the track and the options; only a
//! deadline, where it strikes, makes a difference, and [`Simplified::stopped`] says so.
//!
//! What comes out is believed only if its proof is accepted by the checker, which shares the table of rules and the facts
//! with this module, and nothing else.

pub(crate) mod egraph;
mod explanation;
pub(crate) mod extract;
mod pass;
mod window;

use std::time::{Duration, Instant};

use keyfit_ir::{BuildError, Track};
use thiserror::Error;

use crate::cost::Cost;
use crate::facts::Bounds;
use crate::proof::{Proof, ProofError};
use pass::Pass;

/// How to simplify.
#[derive(Clone, Debug)]
pub struct Options {
    /// What is known of the clock and of the parameters.
    pub bounds: Bounds,
    /// What is to be made smaller.
    pub cost: Cost,
    /// When to stop and give the best so far; never, if there is none.
    pub deadline: Option<Duration>,
    /// How many nodes, all in all, equality saturation may look at in one round.
    pub window_nodes: usize,
    /// How many rounds there may be.
    pub rounds: usize,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            bounds: Bounds::new(),
            cost: Cost::default(),
            deadline: None,
            window_nodes: 600,
            rounds: 32,
        }
    }
}

impl Options {
    /// The default options, with these bounds.
    pub fn with_bounds(bounds: Bounds) -> Options {
        Options { bounds, ..Options::default() }
    }
}

/// Why no more was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// Nothing more changes.
    Fixpoint,
    /// The deadline struck.
    Deadline,
    /// All rounds were used.
    Rounds,
}

/// A track that has the same bits as another.
#[derive(Clone, Debug)]
pub struct Simplified {
    /// The track.
    pub track: Track,
    /// Why it has the same bits.
    pub proof: Proof,
    /// Why no more was done.
    pub stopped: Stopped,
    /// How many rewritings of windows were dropped because the checker could not follow them.
    pub dropped: usize,
}

/// Why a track could not be simplified. Each of these is a bug of the rules or the facts; the track itself is fine.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum SimplifyError {
    /// A rule made something that is no track.
    #[error("a rewrite made no track: {0}")]
    Build(#[from] BuildError),
    /// Two terms were made equal that have no value in common: a rule or a fact is wrong.
    #[error("a value would have to be both {first} and {second}; a rule or a fact is wrong")]
    Contradiction {
        /// One of the terms, and what is known of it.
        first: String,
        /// The other one.
        second: String,
    },
    /// The checker does not accept the proof.
    #[error("the proof does not hold: {0}")]
    Proof(#[from] ProofError),
}

/// A track that costs no more and has the same bits, for every time and parameters within the bounds.
///
/// ```
/// use keyfit_ir::Track;
/// use keyfit_rewrite::{Options, simplify};
///
/// let track = Track::parse("(exp(t) + 0) * 1")?;
/// let simplified = simplify(&track, &Options::default())?;
/// assert_eq!(simplified.track.describe(), "EXP(t)");
/// simplified.proof.check_about(&track, &simplified.track)?;
///
/// // -0 + 0 is +0, so this is not t
/// let track = Track::parse("t + 0")?;
/// assert_eq!(simplify(&track, &Options::default())?.track, track);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`SimplifyError`], only where a rule or a fact is wrong.
pub fn simplify(track: &Track, options: &Options) -> Result<Simplified, SimplifyError> {
    let end = options.deadline.and_then(|deadline| Instant::now().checked_add(deadline));
    let mut best = track.clone();
    let mut proof: Option<Proof> = None;
    let mut dropped = 0;
    let mut hopeless = Default::default();
    let mut stopped = Stopped::Rounds;
    for _ in 0..options.rounds {
        let mut pass = Pass::new(&best, options, end, &mut hopeless);
        pass.directed();
        dropped += pass.windows(options.window_nodes)?;
        let struck = pass.struck();
        let (next, step) = pass.finish()?;
        if next == best {
            stopped = if struck { Stopped::Deadline } else { Stopped::Fixpoint };
            break;
        }
        step.check_about(&best, &next)?;
        proof = Some(match proof {
            None => step,
            Some(proof) => proof.then(step),
        });
        best = next;
        if struck {
            stopped = Stopped::Deadline;
            break;
        }
    }
    match proof {
        Some(proof) if options.cost.of(&best) <= options.cost.of(track) => {
            Ok(Simplified { track: best, proof, stopped, dropped })
        }
        _ => {
            let proof = Proof::of_nothing(track, &options.bounds);
            Ok(Simplified { track: track.clone(), proof, stopped, dropped })
        }
    }
}
