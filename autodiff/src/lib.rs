//! Exact derivatives and arbitrary precision for keyfit tracks.
//!
//! ```
//! use keyfit_autodiff::{Jacobian, gradient, hessian, jacobian, time_derivatives};
//! use keyfit_ir::{free, t};
//!
//! // a·cos(1.1t + phase) is evaluated over numbers that carry derivatives
//! let track = (free("amp", 2.0) * (1.1 * t() + free("phase", 0.5)).cos()).track()?;
//! let columns = jacobian(&track, &[0.0, 1.0, 2.0], &[2.0, 0.5]);
//! assert_eq!(columns.dim(), (3, 2));
//! assert_eq!(columns.row(1), gradient(&track, 1.0, &[2.0, 0.5]));
//!
//! // ∂/∂amp = cos, and the value is the sampler's, bit for bit
//! let mut value = [0.0];
//! let mut partials = ndarray::Array2::zeros((1, 2));
//! Jacobian::new(&track).fill(&[1.0], &[2.0, 0.5], &mut value, partials.view_mut());
//! assert_eq!(value[0], track.sample(1.0));
//! assert_eq!(value[0], 2.0 * partials[(0, 0)]);
//!
//! // second derivatives: in the parameters, and in time
//! let curvature = hessian(&track, 1.0, &[2.0, 0.5]);
//! assert_eq!((curvature[(0, 0)], curvature[(1, 1)]), (0.0, -value[0]));
//! let (position, _velocity, acceleration) = time_derivatives(&track, 1.0, &[2.0, 0.5]);
//! assert!((acceleration + 1.1 * 1.1 * position).abs() < 1e-15);
//! # Ok::<(), keyfit_ir::BuildError>(())
//! ```
//!
//! num-dual's types carry the partials; [`Jet`] says what they mean for each primitive, so that the value of a
//! derivative's evaluation *is* the sampler's and no partial is NaN for want of care. With the feature `mpfr`, the
//! same tracks are evaluated at any precision.

pub mod curvature;
#[cfg(feature = "mpfr")]
pub mod curved;
mod derivative;
pub mod evaluator;
pub mod gradient;
#[cfg(feature = "mpfr")]
pub mod interval;
pub mod jet;
#[cfg(feature = "mpfr")]
pub mod mpfr;
pub mod sparse;
mod tape;

pub use curvature::{Curvature, hessian};
pub use evaluator::{Columns, Evaluator};
pub use gradient::{
    Jacobian, gradient, heading, jacobian, keyed_partials, local_partials, motion, time_derivatives, travel,
};
pub use jet::{Jet, Partials};
#[cfg(feature = "mpfr")]
pub use mpfr::{Format, Mpfr, correctly_rounded, evaluate, judge};
pub use sparse::{SparseJacobian, Sparsity};
