//! Bounds of parameters, and which of them hold a parameter.

use std::rc::Rc;

use ndarray::Array2;

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
pub(crate) fn held(jacobian: &Array2<f64>, at: &Evaluation, options: &Options) -> Vec<usize> {
    let slope = |j: usize| jacobian.column(j).iter().zip(&at.residuals).map(|(d, r)| d * r).sum::<f64>();
    let held = |(j, (x, [low, high])): (usize, (&f64, &[f64; 2]))| {
        ((x <= low && slope(j) > 0.0) || (x >= high && slope(j) < 0.0)).then_some(j)
    };
    at.x.iter().zip(&options.bounds).enumerate().filter_map(held).collect()
}

/// The Jacobian with these columns set to 0, so that no step moves their parameters.
pub(crate) fn without(jacobian: Rc<Array2<f64>>, columns: &[usize]) -> Rc<Array2<f64>> {
    if columns.is_empty() {
        return jacobian;
    }
    let mut rest = Array2::clone(&jacobian);
    columns.iter().for_each(|j| rest.column_mut(*j).fill(0.0));
    Rc::new(rest)
}
