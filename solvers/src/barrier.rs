//! The sum of squares for argmin's solvers that go by values alone.

use argmin::core::{CostFunction, Error};

use crate::ledger::Ledger;

/// The sum of squares, which is as large as can be where it is not finite: such a solver turns away from there. Never an error,
/// on which argmin panics; what is refused for other reasons is in the ledger's conclusion.
pub(crate) struct Barrier<'a>(pub &'a Ledger<'a>);

impl CostFunction for Barrier<'_> {
    type Param = Vec<f64>;
    type Output = f64;

    fn cost(&self, x: &Vec<f64>) -> Result<f64, Error> {
        Ok(self.0.trial(x).ok().flatten().map_or(f64::MAX, |trial| trial.sum_of_squares))
    }
}
