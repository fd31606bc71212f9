//! Rewriting of keyfit tracks by equality saturation.
//!
//! This crate speaks for tracks to egg: [`Term`] is the one language of e-graphs, made from the operation table of
//! `keyfit-ir`, and [`to_expr`] and [`from_expr`] carry a track there and back without loss. Rules and extraction
//! build on it.
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

mod definition;
pub mod derive;
mod graph;
mod term;

pub use definition::definition;
pub use derive::{Variable, derivative, exact_heading};
pub use term::{Head, Term, from_expr, to_expr};
