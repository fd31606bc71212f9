//! Running an argmin solver to its end, whatever end that is.

use std::cell::RefCell;
use std::rc::Rc;

use argmin::core::observers::{Observe, ObserverMode};
use argmin::core::{Error, Executor, IterState, KV, Problem, Solver, State, TerminationReason};

use crate::ledger::{Book, Ledger};
use crate::matrix::Singular;
use crate::termination::Termination;

/// argmin's state with `Vec<f64>` parameters.
pub(crate) type Iterate<G, J, R> = IterState<Vec<f64>, G, J, (), R, f64>;

/// The state of our own solvers, which keep what else they need themselves.
pub(crate) type PlainIterate = Iterate<(), (), ()>;

/// How our own solvers begin: with the sum of squares at the start.
pub(crate) fn begin(
    problem: &mut Problem<&Ledger<'_>>,
    state: PlainIterate,
) -> Result<(PlainIterate, Option<KV>), Error> {
    let x = state.param.clone().unwrap_or_default();
    let evaluation = problem.problem("residuals", |ledger| Ok(ledger.evaluate(&x)?))?;
    Ok((state.cost(evaluation.sum_of_squares), None))
}

/// Writes the trace: one point per iteration.
struct Tracer {
    book: Rc<RefCell<Book>>,
    /// Iterations before this drive: a run may be several.
    before: u64,
    sum_of_squares: fn(f64) -> f64,
}

impl Tracer {
    fn record<I: State<Param = Vec<f64>, Float = f64>>(&self, iteration: u64, state: &I) {
        let mut book = self.book.borrow_mut();
        // where one drive follows another, the trace goes on
        if iteration > 0 || book.trace.is_empty() {
            let x = state.get_param().map_or(&[][..], Vec::as_slice);
            book.record(self.before + iteration, (self.sum_of_squares)(state.get_cost()), x);
        }
    }
}

impl<I: State<Param = Vec<f64>, Float = f64>> Observe<I> for Tracer {
    fn observe_init(&mut self, _: &str, state: &I, _: &KV) -> Result<(), Error> {
        self.record(0, state);
        Ok(())
    }

    fn observe_iter(&mut self, state: &I, _: &KV) -> Result<(), Error> {
        self.record(state.get_iter() + 1, state);
        Ok(())
    }
}

/// Runs `solver` from `start`; `sum_of_squares` turns the solver's cost into a sum of squares.
pub(crate) fn drive<'a, S, G, J, R>(
    ledger: &'a Ledger<'a>,
    solver: S,
    start: &[f64],
    iterations: u64,
    sum_of_squares: fn(f64) -> f64,
) -> Termination
where
    S: Solver<&'a Ledger<'a>, Iterate<G, J, R>>,
    Iterate<G, J, R>: State<Param = Vec<f64>, Float = f64>,
{
    drive_on(ledger, ledger, solver, start, iterations, sum_of_squares)
}

/// The same for a solver that sees the ledger through a `problem` of its own.
pub(crate) fn drive_on<P, S, G, J, R>(
    ledger: &Ledger<'_>,
    problem: P,
    solver: S,
    start: &[f64],
    iterations: u64,
    sum_of_squares: fn(f64) -> f64,
) -> Termination
where
    S: Solver<P, Iterate<G, J, R>>,
    Iterate<G, J, R>: State<Param = Vec<f64>, Float = f64>,
{
    let tracer = Tracer { book: ledger.share(), before: ledger.book().iterations(), sum_of_squares };
    let result = Executor::new(problem, solver)
        .configure(|state| state.param(start.to_vec()).max_iters(iterations))
        .ctrlc(false)
        .timer(false)
        .add_observer(tracer, ObserverMode::Always)
        .run();
    // What the ledger or our own solvers wrote down is exact; argmin may have wrapped it into text.
    if let Some(conclusion) = ledger.book().conclusion {
        return conclusion;
    }
    match result {
        Err(error) if error.is::<Singular>() => Termination::SingularMatrix,
        Err(_) => Termination::LineSearchFailed,
        Ok(result) => match result.state.get_termination_reason() {
            Some(TerminationReason::SolverConverged) => Termination::LossStoppedChanging,
            Some(TerminationReason::SolverExit(_)) => Termination::LineSearchFailed,
            _ => Termination::IterationLimit,
        },
    }
}
