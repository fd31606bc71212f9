//! Strict minima by the exact Hessian, which need no Jacobian of full rank: of p² to be −1, the minimum p = 0.

use ndarray::Array2;

use crate::check::EXACT;
use crate::decomposition::gram;
use crate::ledger::{Evaluation, Ledger};
use crate::quadratic::Quadratic;

/// The least eigenvalue of a Hessian that is positive, in parameters in which its diagonal is of ones.
const POSITIVE: f64 = 1e-8;
/// Newton's step may promise no more than this part of the sum of squares …
const PROMISE: f64 = 1e-12;
/// … and move no parameter by more than this part of its size, or of the way that it has come: where a parameter runs away its
/// curvature fades with its slope, and Newton's step is a good part of the way.
const STEP: f64 = 1e-6;

/// The sum of squares must rise by about this part of it …
const RISE: f64 = 1e-8;
/// … that is by a half to twice of what the Hessian says.
const ABOUT: std::ops::RangeInclusive<f64> = 0.5..=2.0;

/// Whether the point is a strict minimum, those parameters left alone that a bound holds: the exact Hessian is positive definite, and
/// Newton's step from here is next to nothing; and the residuals agree, along each of its eigenvectors. False where the second
/// derivatives are not known.
///
/// The decrement `gᵀ H⁻¹ g`: Nocedal & Wright, Numerical Optimization (2006), theorem 2.4 and section 3.3.
pub(crate) fn is_strict(ledger: &Ledger<'_>, at: &Evaluation, start: &[f64], held: &[usize]) -> bool {
    let free: Vec<usize> = (0..at.x.len()).filter(|j| !held.contains(j)).collect();
    if at.x.len() > EXACT || free.is_empty() {
        return false;
    }
    let (Ok(jacobian), Ok(Some(curvature))) = (ledger.derivatives(&at.x), ledger.curvature(at)) else {
        return false;
    };
    let jacobian = jacobian.without(held);
    let hessian = gram(&jacobian.dense()) + &*curvature;
    let units: Vec<f64> = free.iter().map(|j| hessian[[*j, *j]].sqrt()).collect();
    if !units.iter().all(|unit| *unit > 0.0) {
        return false;
    }
    let entry = |(i, j): (usize, usize)| hessian[[free[i], free[j]]] / units[i] / units[j];
    let scaled = Array2::from_shape_fn((free.len(), free.len()), entry);
    let gradient = jacobian.transposed_times(&at.residuals);
    let slopes: Vec<f64> = free.iter().zip(&units).map(|(j, unit)| gradient[*j] / unit).collect();
    if !scaled.iter().chain(&slopes).all(|number| number.is_finite()) {
        return false;
    }
    let Some(model) = Quadratic::new(scaled, &slopes).filter(|model| model.least() >= POSITIVE) else {
        return false;
    };
    let step = model.modified();
    let promise: f64 = -slopes.iter().zip(&step).map(|(g, p)| g * p).sum::<f64>();
    let still = free.iter().zip(&units).zip(&step).all(|((j, unit), p)| {
        let way = at.x[*j].abs().max((at.x[*j] - start[*j]).abs());
        (p / unit).abs() <= STEP * way
    });
    promise <= PROMISE * at.sum_of_squares && still && {
        let rises = |along: &[f64]| {
            let mut x = at.x.clone();
            free.iter().zip(&units).zip(along).for_each(|((j, unit), p)| x[*j] += p / unit);
            let trial = ledger.trial(&x).ok().flatten();
            let rise = trial.map_or(f64::NAN, |trial| trial.sum_of_squares - at.sum_of_squares);
            ABOUT.contains(&(rise / (RISE * at.sum_of_squares)))
        };
        model.axes(RISE * at.sum_of_squares).all(|along| {
            let back: Vec<f64> = along.iter().map(|p| -p).collect();
            rises(&along) && rises(&back)
        })
    }
}
