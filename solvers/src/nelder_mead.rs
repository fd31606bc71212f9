//! argmin's Nelder–Mead, begun anew until that no longer helps.

use argmin::core::{Error, KV, Problem, Solver, State, TerminationReason, TerminationStatus};
use argmin::solver::neldermead::NelderMead;

use crate::barrier::Barrier;
use crate::drive::{PlainIterate, drive_on};
use crate::ledger::Ledger;
use crate::options::Options;
use crate::termination::Termination;

/// The first simplex reaches this part of each parameter …
const REACH: f64 = 0.05;
/// … and, where one is zero, this far.
const REACH_OF_ZERO: f64 = 0.000_25;
/// A simplex begun anew that lowers the sum of squares by no more than this part of it is the last.
const IMPROVED: f64 = 1e-10;
/// A simplex whose sums of squares differ by this part, in standard deviation, has come to rest.
const REST: f64 = 1e-15;

/// argmin's Nelder–Mead, begun anew until that no longer helps.
///
/// Needs residuals only. The Jacobian is looked at twice, at the start and when the claim is checked, which must tell a parameter
/// that ran to where it has no effect from one that never had any. argmin's tolerance is absolute, so it is
/// set for each simplex by the sum of squares that it begins with. A simplex may collapse away from a minimum: it is begun anew
/// at the best point until that lowers the sum of squares by no more than 1e-10 of it.
///
/// Reference: J. A. Nelder and R. Mead, Comput. J. 7 (1965) 308–313; C. T. Kelley, SIAM J. Optim. 10 (1999) 43–55 on
/// restarts.
struct Simplex {
    method: NelderMead<Vec<f64>, f64>,
    begun: bool,
}

impl<'a> Solver<Barrier<'a>, PlainIterate> for Simplex {
    fn name(&self) -> &str {
        "nelder-mead"
    }

    fn init(
        &mut self,
        problem: &mut Problem<Barrier<'a>>,
        state: PlainIterate,
    ) -> Result<(PlainIterate, Option<KV>), Error> {
        let cost = problem.cost(&state.param.clone().unwrap_or_default())?;
        Ok((state.cost(cost), None))
    }

    fn next_iter(
        &mut self,
        problem: &mut Problem<Barrier<'a>>,
        state: PlainIterate,
    ) -> Result<(PlainIterate, Option<KV>), Error> {
        let (state, kv) = match std::mem::replace(&mut self.begun, true) {
            false => self.method.init(problem, state)?,
            true => self.method.next_iter(problem, state)?,
        };
        let over = problem.problem("conclusion", |barrier| Ok(barrier.0.is_concluded()))?;
        let exit = || TerminationReason::SolverExit("refused".into());
        Ok((if over { state.terminate_with(exit()) } else { state }, kv))
    }

    fn terminate(&mut self, state: &PlainIterate) -> TerminationStatus {
        if self.begun {
            Solver::<Barrier<'a>, _>::terminate(&mut self.method, state)
        } else {
            TerminationStatus::NotTerminated
        }
    }
}

/// Runs Nelder–Mead.
pub(crate) fn run(ledger: &Ledger<'_>, start: &[f64], iterations: u64, _: &Options) -> Termination {
    let mut from = match ledger.evaluate(start) {
        Ok(from) => from,
        Err(interruption) => return interruption.into(),
    };
    if let Err(interruption) = ledger.can_go_on(start) {
        return interruption.into();
    }
    let first = ledger.book().iterations();
    loop {
        let left = iterations.saturating_sub(ledger.book().iterations() - first);
        let method = NelderMead::new(simplex(&from.x)).with_sd_tolerance(REST * from.sum_of_squares);
        let Ok(method) = method else { return Termination::LineSearchFailed };
        let solver = Simplex { method, begun: false };
        let termination = drive_on(ledger, Barrier(ledger), solver, &from.x, left, |cost| cost);
        let Some(best) = ledger.book().best.clone() else { return termination };
        let improved = best.sum_of_squares < from.sum_of_squares * (1.0 - IMPROVED);
        if !termination.converged() || best.is_zero() || !improved {
            return termination;
        }
        from = best;
    }
}

/// A corner at `x` and one along each parameter.
fn simplex(x: &[f64]) -> Vec<Vec<f64>> {
    let moved = |j: usize| {
        let mut corner = x.to_vec();
        corner[j] += if x[j] == 0.0 { REACH_OF_ZERO } else { REACH * x[j] };
        corner
    };
    [x.to_vec()].into_iter().chain((0..x.len()).map(moved)).collect()
}
