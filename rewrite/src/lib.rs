//! Rewriting of keyfit tracks that changes no bit.
//!
//! Two tracks are equal here if they have the same bits for every time and every value of the parameters, ±0 told apart
//! and all NaNs one. A time is a number: it may be infinite, but NaN is no time. What may be rewritten is a table of rules ([`rules`]), each with its evidence; what a rule asks for is
//! established by facts ([`Fact`]), never assumed.
//!
//! [`simplify`] gives a cheaper track and a [`Proof`], and the proof's checker knows the rules and the facts, but not how
//! the proof was found:
//!
//! ```
//! use keyfit_ir::Track;
//! use keyfit_rewrite::{Bounds, Options, simplify};
//!
//! let track = Track::parse("(t * t) * 0 + ?gain=2 * linear[0=1 1=1]")?;
//! // for any clock t·t may overflow, and inf·0 is not 0 …
//! assert!(simplify(&track, &Options::default())?.track.describe().contains("MUL(MUL(t, t), 0.0)"));
//! // … but not within a scene's duration
//! let simplified = simplify(&track, &Options::with_bounds(Bounds::new().duration(10.0)))?;
//! assert_eq!(simplified.track.describe(), "ADD(?gain=2.0, 0.0)"); // −0 + 0 would be +0
//! simplified.proof.check_about(&track, &simplified.track)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`derivative`] gives the derivative of a track as a track ([`chain_rule`] the same as textbooks write it, for comparison), [`definition()`] what a composite operation is made of.
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
pub mod reals;
pub mod rules;
mod simplify;
pub mod smt;
mod term;

pub use cost::{Cost, cost};
pub use definition::definition;
pub use derive::{Variable, chain_rule, derivative, exact_heading};
pub use facts::{Bounds, Fact};
pub use head::Head;
pub use proof::{Established, Proof, ProofError, Step};
pub use reals::simplify_over_reals;
pub use simplify::{Options, Simplified, SimplifyError, Stopped, simplify};
pub use term::{Term, from_expr, to_expr};
