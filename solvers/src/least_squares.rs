//! The problem that every solver of this crate solves.

use std::sync::Arc;

use ndarray::{Array2, ArrayViewMut2, ShapeBuilder};

use crate::pattern::Pattern;

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

    /// Writes the `m × n` matrix `∂rᵢ/∂xⱼ` at `x` into `out`, which is all zero; its columns are contiguous.
    fn jacobian_into(&self, x: &[f64], out: ArrayViewMut2<'_, f64>);

    /// The second derivatives, where the problem has them. Solvers that need them refuse a problem without; the check of
    /// what a solver claims uses them where they are.
    fn second_order(&self) -> Option<&dyn SecondOrder> {
        None
    }

    /// Which entries of the Jacobian may differ from zero, where they are a narrow band. Solvers that know how then take time and
    /// memory that grow with these entries, and do not ask for the whole matrix. It does not change.
    fn pattern(&self) -> Option<&Arc<Pattern>> {
        None
    }

    /// Writes the entries of the [`pattern`](Self::pattern) at `x` into `out`, in its order. Unless it is written anew this takes them from the
    /// whole matrix.
    fn entries_into(&self, x: &[f64], out: &mut [f64]) {
        let Some(pattern) = self.pattern() else { return };
        let mut whole = Array2::zeros((self.residuals(), self.parameters()).f());
        self.jacobian_into(x, whole.view_mut());
        for i in 0..pattern.rows() {
            for (at, column) in pattern.row(i) {
                if let (Some(slot), Some(entry)) = (out.get_mut(at), whole.get((i, column))) {
                    *slot = *entry;
                }
            }
        }
    }

    /// Parameters in which every residual is linear, jointly and everywhere: no two of them, nor one with itself, have a
    /// second derivative other than zero. Ascending.
    fn linear_parameters(&self) -> Vec<usize> {
        Vec::new()
    }
}

/// Exact second derivatives of the residuals of a [`LeastSquares`] problem. `out` is all zero when it is handed over.
pub trait SecondOrder {
    /// Writes the `n × n` matrix `Σᵢ wᵢ ∂²rᵢ/∂xⱼ∂xₖ` at `x` into `out`.
    fn curvature_into(&self, x: &[f64], weights: &[f64], out: ArrayViewMut2<'_, f64>);

    /// Writes the product of that matrix and `direction` into `out`, which has a place a parameter.
    fn curvature_times_into(&self, x: &[f64], weights: &[f64], direction: &[f64], out: &mut [f64]);

    /// Writes the second derivative of each residual along `direction` into `out`, which has a place a residual.
    fn curvature_along_into(&self, x: &[f64], direction: &[f64], out: &mut [f64]);
}
