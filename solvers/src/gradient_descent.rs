//! Gradient descent with a fixed learning rate.

use argmin::core::{Error, KV, Problem, Solver, State, TerminationReason};

use crate::drive::{PlainIterate, begin, drive};
use crate::ledger::Ledger;
use crate::options::Options;
use crate::termination::Termination;

/// The loss has stopped changing after so many steps in a row that changed it by no more than one part in 2⁵².
const UNCHANGED: u32 = 3;

/// Gradient descent on the **mean** of squared residuals: `x ← x − rate · (2/m) Jᵀ r`.
///
/// Needs residuals and Jacobian. Each iteration costs one of each. No line search: the fixed rate is the method, kept
/// as the baseline that others are measured against. It ends when
/// - three steps in a row changed the loss by at most `ε` relative: the loss stopped changing, or, if the loss is
///   above the start's, diverged;
/// - a trial point is not finite: diverged;
/// - iterations are used up: the limit, or, if the loss is above the start's, diverged.
///
/// Reference: A. Cauchy, Méthode générale pour la résolution des systèmes d'équations simultanées, C. R. Acad. Sci.
/// 25 (1847) 536–538.
struct GradientDescent {
    rate: f64,
    unchanged: u32,
}

impl<'a> Solver<&'a Ledger<'a>, PlainIterate> for GradientDescent {
    fn name(&self) -> &str {
        "gradient-descent"
    }

    fn init(
        &mut self,
        problem: &mut Problem<&'a Ledger<'a>>,
        state: PlainIterate,
    ) -> Result<(PlainIterate, Option<KV>), Error> {
        begin(problem, state)
    }

    fn next_iter(
        &mut self,
        problem: &mut Problem<&'a Ledger<'a>>,
        state: PlainIterate,
    ) -> Result<(PlainIterate, Option<KV>), Error> {
        let x = state.param.clone().unwrap_or_default();
        let (gradient, m) = problem.problem("gradient", |ledger| {
            Ok((ledger.sum_gradient(&x)?, ledger.evaluate(&x)?.residuals.len()))
        })?;
        let rate = self.rate / m as f64;
        let next: Vec<f64> = x.iter().zip(gradient).map(|(x, g)| x - rate * g).collect();
        let Some(evaluation) = problem.problem("residuals", |ledger| {
            let trial = ledger.trial(&next)?;
            if trial.is_none() {
                ledger.conclude(Termination::Diverged);
            }
            Ok(trial)
        })?
        else {
            return Ok((state.terminate_with(TerminationReason::SolverExit("diverged".into())), None));
        };
        let (before, after) = (state.get_cost(), evaluation.sum_of_squares);
        let state = state.param(next).cost(after);
        self.unchanged = if (before - after).abs() <= f64::EPSILON * after { self.unchanged + 1 } else { 0 };
        if self.unchanged >= UNCHANGED || evaluation.is_zero() {
            return Ok((state.terminate_with(TerminationReason::SolverConverged), None));
        }
        Ok((state, None))
    }
}

/// Runs gradient descent with `options.learning_rate`.
pub(crate) fn run(ledger: &Ledger<'_>, start: &[f64], iterations: u64, options: &Options) -> Termination {
    let solver = GradientDescent { rate: options.learning_rate, unchanged: 0 };
    let termination = drive(ledger, solver, start, iterations, |cost| cost);
    let book = ledger.book();
    let grew = match (book.trace.first(), book.trace.last()) {
        (Some(first), Some(last)) => last.sum_of_squares > first.sum_of_squares,
        _ => false,
    };
    match termination {
        Termination::LossStoppedChanging | Termination::IterationLimit if grew => Termination::Diverged,
        other => other,
    }
}
