//! keyfit: solve for the numbers that put an animation track where it must be.
//!
//! This crate is the library that people import, and the program `keyfit`. It gathers what the other crates hold
//! ([`ir`], [`autodiff`], [`rewrite`], [`solvers`]; the most used names stand at the top) and adds problems with known
//! answers ([`suite`]), their comparison ([`comparison`]) with pictures of it ([`chart`]), and figures of scenes and
//! channels ([`figure`]).
//!
//! ```
//! use keyfit::{FitOptions, Target, Track, fit_parameters};
//!
//! let track = Track::parse("?amp=1 * cos(t + ?phase=1)")?;
//! let targets = [Target::new(0.0, 2.0), Target::new(1.0, 0.5)];
//! let fit = fit_parameters(&track, &targets, &FitOptions::default())?;
//! assert!(fit.converged);
//! assert!(fit.fitted[0].worst_miss.unwrap() < 1e-12);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod accuracy;
pub mod agreement;
pub mod certify;
pub mod chart;
pub mod comparison;
pub mod determination;
pub mod figure;
pub mod identities;
pub mod improve;
pub mod mutation;
pub mod normalise;
pub mod proofs;
pub mod rates;
pub mod reduction;
pub mod rulecheck;
pub mod rulefile;
pub mod simplecheck;
pub mod solver;
pub mod study;
pub mod suite;

pub use keyfit_autodiff as autodiff;
pub use keyfit_ir as ir;
pub use keyfit_rewrite as rewrite;
pub use keyfit_solvers as solvers;

pub use keyfit_ir::{Scene, Track};
pub use keyfit_solvers::{
    Channel, Fit, FitError, FitOptions, Refusal, SOLVERS, SolverEntry, Target, fit_channels, fit_gradient,
    fit_parameters,
};
