//! The problem that every solver of this crate solves.

use ndarray::ArrayViewMut2;

/// `m` residuals `r(x)` of `n` parameters: minimise `Σ rᵢ(x)²`.
///
/// Weights are already folded into the residuals. Both functions must be deterministic: the same `x` gives the
/// same bits. They may be called in any order and never fail; where the model has no value they write NaN or an
/// infinity, and the solvers treat that point as one that must not be entered.
pub trait LeastSquares {
    /// The number `n` of parameters.
    fn parameters(&self) -> usize;

    /// The number `m` of residuals.
    fn residuals(&self) -> usize;

    /// Writes the `m` residuals at `x` into `out`.
    fn residuals_into(&self, x: &[f64], out: &mut [f64]);

    /// Writes the `m × n` matrix `∂rᵢ/∂xⱼ` at `x` into `out`, which is in standard (row-major) layout and all zero.
    fn jacobian_into(&self, x: &[f64], out: ArrayViewMut2<'_, f64>);
}
