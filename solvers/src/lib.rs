//! Fitting keyfit tracks: problems, solvers, refusals.
//!
//! This layer knows nothing about tracks. It minimises a sum of squares `Σ rᵢ(x)²` given as a
//! [`LeastSquares`] problem, with any solver of the [`registry`](SOLVERS), and tells honestly how that went.
//!
//! ```
//! use keyfit_solvers::{LeastSquares, Options, lookup, solve};
//!
//! /// y = a·exp(−b·t) through four points.
//! struct Decay;
//! const DATA: [(f64, f64); 4] = [(0.0, 2.0), (1.0, 1.2), (2.0, 0.75), (3.0, 0.44)];
//!
//! impl LeastSquares for Decay {
//!     fn parameters(&self) -> usize { 2 }
//!     fn residuals(&self) -> usize { DATA.len() }
//!     fn residuals_into(&self, x: &[f64], out: &mut [f64]) {
//!         for (r, (t, y)) in out.iter_mut().zip(DATA) { *r = x[0] * (-x[1] * t).exp() - y; }
//!     }
//!     fn jacobian_into(&self, x: &[f64], mut out: ndarray::ArrayViewMut2<'_, f64>) {
//!         for (mut row, (t, _)) in out.rows_mut().into_iter().zip(DATA) {
//!             let e = (-x[1] * t).exp();
//!             row[0] = e;
//!             row[1] = -t * x[0] * e;
//!         }
//!     }
//! }
//!
//! let solver = lookup("levenberg-marquardt").expect("it is in the registry");
//! let outcome = solve(&Decay, &[1.0, 1.0], solver, &Options::default())?;
//! assert!(outcome.termination.converged());
//! assert!((outcome.parameters[1] - 0.5).abs() < 0.01);
//! # Ok::<(), keyfit_solvers::SolveError>(())
//! ```

mod banded;
mod barrier;
mod bounds;
mod check;
mod decomposition;
mod deferral;
mod descent;
mod determination;
mod drive;
mod fit;
mod gauss_newton;
mod gradient_descent;
mod iterated;
mod jacobian;
mod l_bfgs;
mod least_squares;
mod ledger;
mod logarithm;
mod loss;
mod matrix;
mod model;
mod nelder_mead;
mod newton;
mod options;
mod path;
mod pattern;
mod prior;
mod problem;
mod quadratic;
mod quality;
mod random;
mod refusal;
mod registry;
mod search;
mod settling;
mod solve;
mod starts;
mod strict;
mod student;
mod substitute;
mod termination;
mod tie;
mod trust_region;
mod warning;

pub use check::Evidence;
pub use determination::{Combination, Undetermined};
pub use fit::{Fit, FitError, FitOptions, FittedChannel, Named, fit_channels, fit_gradient, fit_parameters};
pub use keyfit_ir::{Channel, Target};
pub use least_squares::{LeastSquares, SecondOrder};
pub use ledger::TracePoint;
pub use loss::Loss;
pub use options::{NumberOption, OPTIONS, Options};
pub use pattern::Pattern;
pub use prior::prior;
pub use problem::{FitProblem, ProblemError};
pub use quality::Quality;
pub use random::{Random, seed_of};
pub use refusal::{Blocker, Refusal, Stuck};
pub use registry::{Need, SOLVERS, SolverEntry, lookup};
pub use solve::{Attempt, Outcome, SolveError, solve};
pub use substitute::substitute;
pub use termination::{NonFinite, Termination};
pub use tie::{Tie, TieError, tie};
pub use warning::{OutsideKeys, RateJump, Warning};
