//! Bounds of parameters, and which of them hold a parameter.

use crate::jacobian::Jacobian;
use crate::ledger::Evaluation;
use crate::options::Options;

/// The point within the bounds that is nearest to `x`, parameter by parameter.
pub(crate) fn inside(bounds: &[[f64; 2]], mut x: Vec<f64>) -> Vec<f64> {
    for (x, [low, high]) in x.iter_mut().zip(bounds) {
        *x = x.max(*low).min(*high);
    }
    x
}

/// The parameters at a bound beyond which the sum of squares would fall.
pub(crate) fn held(jacobian: &Jacobian, at: &Evaluation, options: &Options) -> Vec<usize> {
    if options.bounds.is_empty() {
        return Vec::new();
    }
    let slopes = jacobian.column_sums(|i, _, d| d * at.residuals[i]);
    let held = |(j, (x, [low, high])): (usize, (&f64, &[f64; 2]))| {
        ((x <= low && slopes[j] > 0.0) || (x >= high && slopes[j] < 0.0)).then_some(j)
    };
    at.x.iter().zip(&options.bounds).enumerate().filter_map(held).collect()
}
