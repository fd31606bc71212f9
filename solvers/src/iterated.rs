//! Solvers that make a model at each point and step by it, as solvers of argmin.

use std::rc::Rc;

use argmin::core::{Error, KV, Problem, Solver, State, TerminationReason};

use crate::drive::{PlainIterate, begin};
use crate::ledger::{Evaluation, Ledger};
use crate::model::{Advance, Here};
use crate::termination::Termination;

/// What such a solver does.
pub(crate) trait Model {
    /// argmin's name for it.
    fn name(&self) -> &str;
    /// The model at a point; `None` where the Jacobian has no decomposition.
    fn at(&self, ledger: &Ledger<'_>, at: Rc<Evaluation>) -> Result<Option<Here>, Error>;
    /// One trial; the point to go on from, or why to stop.
    fn advance(&mut self, ledger: &Ledger<'_>, here: &Here) -> Result<Advance, Error>;
    /// The trust radius, for the trace.
    fn radius(&self) -> Option<f64> {
        None
    }
}

/// The solver. The model of a point is kept as long as its trials are rejected.
pub(crate) struct Iterated<M> {
    model: M,
    here: Option<Here>,
}

impl<M: Model> Iterated<M> {
    pub fn new(model: M) -> Self {
        Iterated { model, here: None }
    }
}

impl<'a, M: Model> Solver<&'a Ledger<'a>, PlainIterate> for Iterated<M> {
    fn name(&self) -> &str {
        self.model.name()
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
        problem.problem("residuals", |ledger| {
            let here = match self.here.take() {
                Some(here) => Some(here),
                None => {
                    let at = ledger.evaluate(state.param.as_deref().unwrap_or_default())?;
                    self.model.at(ledger, at)?
                }
            };
            let Some(here) = here else {
                ledger.conclude(Termination::SingularMatrix);
                let exit = TerminationReason::SolverExit("no decomposition".into());
                return Ok((state.terminate_with(exit), None));
            };
            let advance = self.model.advance(ledger, &here)?;
            if let Ok(None) = advance {
                self.here = Some(here);
            }
            ledger.book_mut().radius = self.model.radius();
            Ok((advanced(ledger, state, advance), None))
        })
    }
}

/// argmin's state after an iteration; writes down why the run ends, if it does.
fn advanced(ledger: &Ledger<'_>, state: PlainIterate, advance: Advance) -> PlainIterate {
    match advance {
        Err(conclusion) => {
            ledger.conclude(conclusion);
            state.terminate_with(TerminationReason::SolverConverged)
        }
        Ok(None) => state,
        Ok(Some(next)) => {
            let state = state.param(next.x.clone()).cost(next.sum_of_squares);
            if !next.is_zero() {
                return state;
            }
            ledger.conclude(Termination::ZeroResidual);
            state.terminate_with(TerminationReason::SolverConverged)
        }
    }
}
