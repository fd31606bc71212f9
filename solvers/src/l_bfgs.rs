//! argmin's L-BFGS with the line search of Moré and Thuente.

use argmin::solver::linesearch::MoreThuenteLineSearch;
use argmin::solver::quasinewton::LBFGS;

use crate::drive::drive;
use crate::ledger::Ledger;
use crate::options::Options;
use crate::termination::Termination;

/// Pairs of steps and gradient differences that are kept.
const MEMORY: usize = 7;

/// Runs argmin's L-BFGS on the sum of squares (gradient `2 Jᵀ r`).
///
/// argmin's tolerances are absolute, so that they stop at once where residuals are small; here they are the smallest
/// positive number: the run ends when the cost repeats to the bit, when the line search fails, or at a limit. Whether
/// the point is a minimum is then decided by the check in [`solve`](crate::solve()). A value that is not finite inside the
/// line search ends the run, because argmin's search has no way back from it.
///
/// Reference: Nocedal & Wright, Numerical Optimization, 2nd ed. (2006), algorithm 7.5; J. J. Moré and D. J. Thuente,
/// ACM Trans. Math. Softw. 20 (1994) 286–307.
pub(crate) fn run(ledger: &Ledger<'_>, start: &[f64], iterations: u64, _: &Options) -> Termination {
    let solver = LBFGS::new(MoreThuenteLineSearch::new(), MEMORY)
        .with_tolerance_grad(f64::MIN_POSITIVE)
        .and_then(|solver| solver.with_tolerance_cost(f64::MIN_POSITIVE));
    match solver {
        Ok(solver) => drive::<_, Vec<f64>, (), ()>(ledger, solver, start, iterations, |cost| cost),
        Err(_) => Termination::LineSearchFailed,
    }
}
