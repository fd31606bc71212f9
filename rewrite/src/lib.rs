//! Rewriting of keyfit tracks that changes no bit.
//!
//! Two tracks are equal here if they have the same bits for every time and every value of the parameters, ±0 told apart
//! and all NaNs one. What may be rewritten is a table of rules ([`rules`]), each with its evidence; what a rule asks for is
//! established by facts ([`Fact`]), never assumed.
//!
//! [`simplify`] gives a cheaper track and a [`Proof`], and the proof's checker knows the rules and the facts, but not how
//! the proof was found:
//!
//! ```
//! use keyfit_ir::Track;
//! use keyfit_rewrite::{Bounds, Options, simplify};
//!
//! let track = Track::parse("clamp(t, 0, 4) * 0 + ?gain=2 * linear[0=1 1=1]")?;
//! // for any clock that may be NaN, 0·NaN is not 0 …
//! assert_ne!(simplify(&track, &Options::default())?.track.describe(), "MUL(1.0, ?gain=2.0)");
//! // … but within a scene's duration the clock is a number
//! let simplified = simplify(&track, &Options::with_bounds(Bounds::new().duration(10.0)))?;
//! assert_eq!(simplified.track.describe(), "ADD(?gain=2.0, 0.0)"); // −0 + 0 would be +0
//! simplified.proof.check_about(&track, &simplified.track)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`derivative`] gives the derivative of a track as a track, [`definition()`] what a composite operation is made of.
//!
//! [`Term`] is the one language of e-graphs, made from the operation table of `keyfit-ir`, and [`to_expr`] and
//! [`from_expr`] carry a track there and back without loss.

pub mod bank;
pub mod condition;
pub mod cost;
mod definition;
pub mod derive;
pub mod facts;
pub mod fpcore;
mod graph;
mod head;
pub mod identify;
pub mod improve;
pub mod pattern;
pub mod proof;
pub mod rules;
mod simplify;
pub mod smt;
mod term;

pub use cost::cost;
pub use definition::definition;
pub use derive::{Variable, derivative, exact_heading};
pub use facts::{Bounds, Fact};
pub use head::Head;
pub use proof::{Established, Proof, ProofError, Step};
pub use simplify::{Options, Simplified, SimplifyError, Stopped, simplify};
pub use term::{Term, from_expr, to_expr};
