//! Second derivatives of a fitting problem's residuals.

use ndarray::{Array2, ArrayViewMut2};

use super::{FitProblem, Prepared};
use crate::least_squares::SecondOrder;

impl Prepared {
    /// The part of `weights` that belongs to this channel, from `row` on, times the roots of the targets' weights.
    fn weigh(&self, weights: &[f64], row: usize) -> Vec<f64> {
        let own = weights.get(row..).unwrap_or_default();
        match &self.roots {
            Some(roots) => own.iter().zip(roots).map(|(w, root)| w * root).collect(),
            None => own.iter().take(self.targets.len()).copied().collect(),
        }
    }
}

impl FitProblem {
    /// The channels with residuals, each with its first row.
    fn rows(&self) -> impl Iterator<Item = (usize, &Prepared)> {
        let mut row = 0;
        self.channels.iter().map(move |p| {
            let first = row;
            row += p.targets.len();
            (first, p)
        })
    }
}

impl SecondOrder for FitProblem {
    fn curvature_into(&self, x: &[f64], weights: &[f64], mut out: ArrayViewMut2<'_, f64>) {
        for (row, p) in self.rows() {
            let mut own = Array2::zeros((p.columns.len(), p.columns.len()));
            let evaluator = &mut p.evaluators.borrow_mut().dense;
            evaluator.add_weighted(&p.gather(x), &p.weigh(weights, row), own.view_mut());
            for ((i, j), value) in own.indexed_iter() {
                if let Some(slot) = out.get_mut((p.columns[i], p.columns[j])) {
                    *slot += value;
                }
            }
        }
    }

    fn curvature_times_into(&self, x: &[f64], weights: &[f64], direction: &[f64], out: &mut [f64]) {
        for (row, p) in self.rows() {
            let mut own = vec![0.0; p.columns.len()];
            let (direction, weights) = (p.gather(direction), p.weigh(weights, row));
            let evaluator = &mut p.evaluators.borrow_mut().dense;
            evaluator.add_product(&p.gather(x), &weights, &direction, &mut own);
            for (&column, value) in p.columns.iter().zip(&own) {
                out.get_mut(column).into_iter().for_each(|slot| *slot += value);
            }
        }
    }

    fn curvature_along_into(&self, x: &[f64], direction: &[f64], out: &mut [f64]) {
        for (row, p) in self.rows() {
            let Some(own) = out.get_mut(row..row + p.targets.len()) else { return };
            p.evaluators.borrow_mut().dense.along(&p.gather(x), &p.gather(direction), own);
            own.iter_mut().zip(p.roots.iter().flatten()).for_each(|(second, root)| *second *= root);
        }
    }
}
