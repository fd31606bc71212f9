//! Parameters that no target feels at the start, where it takes a run to tell whether that is a reason to refuse.

use crate::check::EXACT;
use crate::fit::FitOptions;
use crate::least_squares::{LeastSquares, SecondOrder};
use crate::loss::Loss;
use crate::problem::FitProblem;
use crate::refusal::{Refusal, Stuck};
use crate::solve::Outcome;

/// A refusal that stands unless the run ends where each of its parameters is felt, or at a strict minimum.
pub(crate) struct Deferred(Vec<Stuck>);

impl Deferred {
    /// What is deferred; an error is a reason not to begin.
    ///
    /// A solver by values may find a place where the parameters are felt. And where the sum of squares rises on both sides of
    /// all of them, the start may be a minimum; where it falls it is a saddle, a maximum or flat.
    pub fn of(problem: &FitProblem, options: &FitOptions) -> Result<Option<Deferred>, Refusal> {
        match Refusal::of(problem) {
            Some(Refusal::Stuck(stuck)) if options.solver.by_values || is_dip(problem, options, &stuck) => {
                Ok(Some(Deferred(stuck)))
            }
            Some(refusal) => Err(refusal),
            None => Ok(None),
        }
    }

    /// What the run has shown.
    pub fn settle(self, problem: &FitProblem, outcome: &Outcome) -> Result<(), Refusal> {
        if outcome.termination.converged() && outcome.evidence.strict {
            return Ok(());
        }
        let felt = problem.derivatives(&outcome.parameters).any(|d| d != 0.0);
        if columns(problem, &self.0).all(|j| felt[j]) { Ok(()) } else { Err(Refusal::Stuck(self.0)) }
    }
}

/// The columns of these parameters.
fn columns(problem: &FitProblem, stuck: &[Stuck]) -> impl Iterator<Item = usize> {
    let is_stuck = |name: &str| stuck.iter().any(|s| s.parameter == name);
    let all = problem.free_parameters().iter().enumerate();
    all.filter(move |(_, p)| is_stuck(p.name())).map(|(j, _)| j)
}

/// Whether the sum of squares rises on both sides of each of these parameters.
fn is_dip(problem: &FitProblem, options: &FitOptions, stuck: &[Stuck]) -> bool {
    let (x, n) = (problem.starts(), problem.parameters());
    if n > EXACT || options.loss != Loss::Squares {
        return false;
    }
    let mut residuals = vec![0.0; problem.residuals()];
    problem.residuals_into(&x, &mut residuals);
    let mut curvature = ndarray::Array2::zeros((n, n));
    problem.curvature_into(&x, &residuals, curvature.view_mut());
    columns(problem, stuck).all(|j| curvature[[j, j]] > 0.0)
}
