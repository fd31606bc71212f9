//! Rewriting of keyfit tracks that changes no bit.
//!
//! Two tracks are equal here if they have the same bits for every time and every value of the parameters, ±0 told apart
//! and all NaNs one. What may be rewritten is a table of rules ([`rules`]), each with its evidence; what a rule asks for is
//! established by facts ([`Fact`]), never assumed.
//!
//! [`Term`] is the one language of e-graphs, made from the operation table of `keyfit-ir`, and [`to_expr`] and
//! [`from_expr`] carry a track there and back without loss.
//!
//! ```
//! use egg::{AstSize, EGraph, Extractor};
//! use keyfit_ir::Track;
//! use keyfit_rewrite::{from_expr, to_expr};
//!
//! let track = Track::parse("linear[0=0 4=4] * ?gain=1 + ?bias=0")?;
//! let mut egraph = EGraph::<_, ()>::default();
//! let root = egraph.add_expr(&to_expr(&track));
//! egraph.rebuild();
//! let (_, best) = Extractor::new(&egraph, AstSize).find_best(root);
//! assert_eq!(from_expr(&best)?, track);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod bank;
pub mod condition;
pub mod cost;
pub mod facts;
mod head;
pub mod pattern;
pub mod rules;
mod term;

pub use cost::cost;
pub use facts::{Bounds, Fact};
pub use head::Head;
pub use term::{Term, from_expr, to_expr};
