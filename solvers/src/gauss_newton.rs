//! argmin's Gauss–Newton, kept as the textbook form.

use argmin::core::{Error, KV, Problem, Solver, State, TerminationReason, TerminationStatus};
use argmin::solver::gaussnewton::GaussNewton;

use crate::drive::{Iterate, drive};
use crate::ledger::Ledger;
use crate::matrix::Matrix;
use crate::options::Options;
use crate::settling::Settling;
use crate::termination::Termination;

/// argmin's Gauss–Newton, `x ← x − (JᵀJ)⁻¹ Jᵀ r`, with the stopping rule replaced.
///
/// Needs residuals and Jacobian, one of each per iteration. The normal equations square the condition number, and
/// nothing keeps a step from raising the sum of squares: it converges fast or not at all. argmin stops it on an
/// *absolute* change of the residual norm, too early on small residuals and never on large ones; here it ends when
/// its steps have shrunk to rounding noise.
///
/// Reference: Nocedal & Wright, Numerical Optimization, 2nd ed. (2006), section 10.3.
struct Textbook {
    method: GaussNewton<f64>,
    settling: Settling,
}

type Point = Iterate<(), Matrix, Vec<f64>>;

impl<'a> Solver<&'a Ledger<'a>, Point> for Textbook {
    fn name(&self) -> &str {
        "gauss-newton"
    }

    fn init(
        &mut self,
        problem: &mut Problem<&'a Ledger<'a>>,
        state: Point,
    ) -> Result<(Point, Option<KV>), Error> {
        self.method.init(problem, state)
    }

    fn next_iter(
        &mut self,
        problem: &mut Problem<&'a Ledger<'a>>,
        state: Point,
    ) -> Result<(Point, Option<KV>), Error> {
        let before = state.param.clone().unwrap_or_default();
        let (state, kv) = self.method.next_iter(problem, state)?;
        let after = state.param.clone().unwrap_or_default();
        let at_rest = problem.problem("residuals", |ledger| {
            // the Jacobian at `after` is the next iteration's
            let evaluation = ledger.evaluate(&after)?;
            ledger.prefer(&evaluation, 0.0);
            let rounding = ledger.derivatives(&after)?.rounding_of_residuals(&after, &evaluation.residuals);
            let step: Vec<f64> = after.iter().zip(&before).map(|(a, b)| a - b).collect();
            Ok(self.settling.observe(&ledger.book().scales, &after, &step, rounding))
        })?;
        let state = if at_rest {
            problem.problem("residuals", |ledger| {
                ledger.conclude(Termination::StepAtRounding);
                Ok(())
            })?;
            state.terminate_with(TerminationReason::SolverConverged)
        } else {
            state
        };
        Ok((state, kv))
    }

    fn terminate(&mut self, _: &Point) -> TerminationStatus {
        TerminationStatus::NotTerminated
    }
}

/// Runs Gauss–Newton.
pub(crate) fn run(ledger: &Ledger<'_>, start: &[f64], iterations: u64, _: &Options) -> Termination {
    let solver = Textbook { method: GaussNewton::new(), settling: Settling::slow() };
    drive(ledger, solver, start, iterations, |norm| norm * norm)
}
