//! The guarded objective that is handed to argmin.
//!
//! argmin counts only when asked, has no budget, loses the state on an error, and several of its solvers loop for
//! ever on a NaN. So the objective itself counts, guards, remembers the best point and keeps the trace; whatever the
//! solver does, [`Book`] can be read afterwards.

use std::cell::{Ref, RefCell, RefMut};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::Arc;

use argmin::core::{CostFunction, Error, Gradient, Jacobian, Operator};
use ndarray::{Array2, ShapeBuilder};

use crate::jacobian::{Jacobian as Derivatives, Sparse};
use crate::least_squares::LeastSquares;
use crate::matrix::Matrix;
use crate::pattern::Pattern;
use crate::termination::{NonFinite, Termination};

mod second;

/// So many requests in a row that need no new evaluation mean that the solver no longer moves.
const STALLED: u32 = 100;

/// One line of a convergence trace.
#[derive(Clone, Debug, PartialEq)]
pub struct TracePoint {
    /// 0 for the start, then 1, 2, …
    pub iteration: u64,
    /// Residual evaluations so far.
    pub residual_evaluations: u64,
    /// Jacobian evaluations so far.
    pub jacobian_evaluations: u64,
    /// Hessian evaluations so far.
    pub hessian_evaluations: u64,
    /// The sum of squares at the solver's current point.
    pub sum_of_squares: f64,
    /// The trust radius for the next step, of solvers that have one, in parameters scaled by the Jacobian's column norms.
    pub radius: Option<f64>,
    /// The solver's current point; empty without [`Options::keep_path`](crate::Options).
    pub parameters: Vec<f64>,
}

/// Why an evaluation was refused; travels through argmin as an error.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub(crate) enum Interruption {
    #[error("the evaluation budget is used up")]
    Budget,
    #[error("the solver keeps asking for points that it knows")]
    Stalled,
    #[error("{0}")]
    NonFinite(NonFinite),
    #[error("the problem panicked")]
    Panicked,
}

impl From<Interruption> for Termination {
    fn from(interruption: Interruption) -> Self {
        match interruption {
            Interruption::Budget => Self::EvaluationBudget,
            Interruption::Stalled => Self::Stalled,
            Interruption::NonFinite(place) => Self::NonFinite(place),
            Interruption::Panicked => Self::Panicked,
        }
    }
}

/// The residuals at a point, all finite.
#[derive(Debug)]
pub(crate) struct Evaluation {
    pub x: Vec<f64>,
    pub residuals: Vec<f64>,
    pub sum_of_squares: f64,
}

impl Evaluation {
    pub fn is_zero(&self) -> bool {
        self.residuals.iter().all(|r| *r == 0.0)
    }
}

/// Something at a point.
type At<T> = (Vec<f64>, T);

/// What the ledger has written down.
#[derive(Debug)]
pub(crate) struct Book {
    pub residual_evaluations: u64,
    pub jacobian_evaluations: u64,
    pub hessian_evaluations: u64,
    pub hessian_products: u64,
    pub curvatures_along: u64,
    pub trace: Vec<TracePoint>,
    keep_path: bool,
    /// The point to return: the lowest one, or the one that a solver [prefers](Ledger::prefer) to it.
    pub best: Option<Rc<Evaluation>>,
    /// Why the run must end or has ended, said by the ledger or by one of our own solvers.
    pub conclusion: Option<Termination>,
    /// The solver's trust radius, if it has one.
    pub radius: Option<f64>,
    /// The largest norm that each Jacobian column has had.
    pub scales: Vec<f64>,
    /// The Jacobian that was asked for first: that of the start, for every solver.
    pub first_jacobian: Option<Rc<Derivatives>>,
    lowest: f64,
    last: Option<Rc<Evaluation>>,
    jacobian: Option<At<Rc<Derivatives>>>,
    /// The last one; none where it was not finite.
    curvature: Option<At<Option<Rc<Array2<f64>>>>>,
    repeats: u32,
    /// A problem that has panicked is not asked again.
    panicked: bool,
}

impl Book {
    /// Calls the problem, which is the user's and may panic. The panic ends here; what it was about has gone to the panic hook.
    /// Where panics abort, it ends the program.
    fn ask(&mut self, call: impl FnOnce()) -> Result<(), Interruption> {
        if self.panicked {
            return Err(Interruption::Panicked);
        }
        // what the call has half written is never looked at
        let result = catch_unwind(AssertUnwindSafe(call));
        self.panicked = result.is_err();
        result.map_err(|_| Interruption::Panicked)
    }

    /// Iterations completed.
    pub fn iterations(&self) -> u64 {
        self.trace.last().map_or(0, |point| point.iteration)
    }

    pub fn record(&mut self, iteration: u64, sum_of_squares: f64, x: &[f64]) {
        self.trace.push(TracePoint {
            iteration,
            residual_evaluations: self.residual_evaluations,
            jacobian_evaluations: self.jacobian_evaluations,
            hessian_evaluations: self.hessian_evaluations,
            sum_of_squares,
            radius: self.radius,
            parameters: if self.keep_path { x.to_vec() } else { Vec::new() },
        });
    }
}

/// A problem under guard.
pub(crate) struct Ledger<'a> {
    problem: &'a dyn LeastSquares,
    /// The Jacobian's pattern, where the run takes derivatives by their entries.
    pattern: Option<Arc<Pattern>>,
    budget: u64,
    book: Rc<RefCell<Book>>,
}

impl<'a> Ledger<'a> {
    pub fn new(problem: &'a dyn LeastSquares, budget: u64, keep_path: bool) -> Self {
        let book = Book {
            residual_evaluations: 0,
            jacobian_evaluations: 0,
            hessian_evaluations: 0,
            hessian_products: 0,
            curvatures_along: 0,
            trace: Vec::new(),
            keep_path,
            best: None,
            conclusion: None,
            radius: None,
            scales: vec![0.0; problem.parameters()],
            first_jacobian: None,
            lowest: f64::INFINITY,
            last: None,
            jacobian: None,
            curvature: None,
            repeats: 0,
            panicked: false,
        };
        Self { problem, pattern: None, budget, book: Rc::new(RefCell::new(book)) }
    }

    /// With the derivatives by their entries where the problem has a pattern: for solvers that need no other.
    pub fn by_entries(self) -> Self {
        Self { pattern: self.problem.pattern().cloned(), ..self }
    }

    /// The book, shared: argmin wants its observers to own what they write to.
    pub fn share(&self) -> Rc<RefCell<Book>> {
        Rc::clone(&self.book)
    }

    pub fn book(&self) -> Ref<'_, Book> {
        self.book.borrow()
    }

    pub fn book_mut(&self) -> RefMut<'_, Book> {
        self.book.borrow_mut()
    }

    /// Forgets what belongs to a run, so that another can begin: the best point, the scales, the conclusion. The counts, the
    /// budget and the trace go on.
    pub fn begin_again(&self) {
        let mut book = self.book.borrow_mut();
        book.scales.fill(0.0);
        book.lowest = f64::INFINITY;
        book.repeats = 0;
        (book.best, book.conclusion, book.first_jacobian) = (None, None, None);
        book.radius = None;
        (book.last, book.jacobian) = (None, None);
    }

    /// Whether the problem has panicked.
    pub fn is_broken(&self) -> bool {
        self.book.borrow().panicked
    }

    /// Whether another evaluation would be refused.
    pub fn is_closed(&self) -> bool {
        self.is_broken() || self.left() == 0
    }

    /// Residual evaluations that are left.
    pub fn left(&self) -> u64 {
        self.budget.saturating_sub(self.book.borrow().residual_evaluations)
    }

    /// The problem's parameters in which it is linear.
    pub fn linear_parameters(&self) -> Vec<usize> {
        self.problem.linear_parameters()
    }

    /// Writes down why the run ends. The first reason stays.
    pub fn conclude(&self, termination: Termination) {
        self.book.borrow_mut().conclusion.get_or_insert(termination);
    }

    /// Whether a reason to end the run is written down.
    pub fn is_concluded(&self) -> bool {
        self.book.borrow().conclusion.is_some()
    }

    /// The residuals at `x`. A refusal ends the run.
    pub fn evaluate(&self, x: &[f64]) -> Result<Rc<Evaluation>, Interruption> {
        self.final_if_err(self.look_up_or_evaluate(x))
    }

    /// The residuals at `x`, or `None` where they are not finite: for solvers that can reject a trial.
    pub fn trial(&self, x: &[f64]) -> Result<Option<Rc<Evaluation>>, Interruption> {
        match self.look_up_or_evaluate(x) {
            Err(Interruption::NonFinite(_)) => Ok(None),
            result => self.final_if_err(result.map(Some)),
        }
    }

    /// The Jacobian at `x`. A refusal ends the run.
    pub fn derivatives(&self, x: &[f64]) -> Result<Rc<Derivatives>, Interruption> {
        self.final_if_err(self.look_up_or_differentiate(x))
    }

    /// The same with every entry in its place.
    pub fn jacobian(&self, x: &[f64]) -> Result<Rc<Array2<f64>>, Interruption> {
        Ok(self.derivatives(x)?.dense())
    }

    /// Whether the Jacobian at `x` is finite: for solvers that can reject a trial from which they could not go on.
    pub fn can_go_on(&self, x: &[f64]) -> Result<bool, Interruption> {
        match self.look_up_or_differentiate(x) {
            Err(Interruption::NonFinite(_)) => Ok(false),
            result => self.final_if_err(result.map(|_| true)),
        }
    }

    /// Makes a point the one to return although it may not be the lowest, if its residual norm
    /// exceeds the lowest by no more than 5e-10 (1e-9 of the sum of squares) and `slack`. Near a minimum the sum of
    /// squares is flat to rounding while the parameters still gain digits.
    pub fn prefer(&self, evaluation: &Rc<Evaluation>, slack: f64) -> bool {
        let mut book = self.book.borrow_mut();
        let near = evaluation.sum_of_squares.sqrt() <= book.lowest.sqrt() * (1.0 + 5e-10) + slack;
        if near {
            book.best = Some(Rc::clone(evaluation));
        }
        near
    }

    fn final_if_err<T>(&self, result: Result<T, Interruption>) -> Result<T, Interruption> {
        result.inspect_err(|interruption| self.conclude((*interruption).into()))
    }

    fn look_up_or_evaluate(&self, x: &[f64]) -> Result<Rc<Evaluation>, Interruption> {
        let mut book = self.book.borrow_mut();
        let known = [&book.last, &book.best].into_iter().flatten().find(|known| known.x == x).cloned();
        if let Some(known) = known {
            book.repeats += 1;
            return if book.repeats > STALLED { Err(Interruption::Stalled) } else { Ok(known) };
        }
        book.repeats = 0;
        if let Some(parameter) = x.iter().position(|x| !x.is_finite()) {
            return Err(Interruption::NonFinite(NonFinite::Parameter { parameter }));
        }
        if book.panicked {
            return Err(Interruption::Panicked);
        }
        if book.residual_evaluations >= self.budget {
            return Err(Interruption::Budget);
        }
        book.residual_evaluations += 1;
        let mut residuals = vec![0.0; self.problem.residuals()];
        book.ask(|| self.problem.residuals_into(x, &mut residuals))?;
        if let Some(residual) = residuals.iter().position(|r| !r.is_finite()) {
            return Err(Interruption::NonFinite(NonFinite::Residual { residual }));
        }
        let sum_of_squares = residuals.iter().map(|r| r * r).sum::<f64>();
        if !sum_of_squares.is_finite() {
            return Err(Interruption::NonFinite(NonFinite::SumOfSquares));
        }
        let evaluation = Rc::new(Evaluation { x: x.to_vec(), residuals, sum_of_squares });
        if sum_of_squares < book.lowest || book.best.is_none() {
            book.lowest = sum_of_squares;
            book.best = Some(Rc::clone(&evaluation));
        }
        book.last = Some(Rc::clone(&evaluation));
        Ok(evaluation)
    }

    fn look_up_or_differentiate(&self, x: &[f64]) -> Result<Rc<Derivatives>, Interruption> {
        let mut book = self.book.borrow_mut();
        if let Some((_, jacobian)) = book.jacobian.as_ref().filter(|(known, _)| known == x) {
            return Ok(Rc::clone(jacobian));
        }
        book.jacobian_evaluations += u64::from(!book.panicked);
        let jacobian = match self.pattern.clone() {
            Some(pattern) => {
                let mut entries = vec![0.0; pattern.entries()];
                book.ask(|| self.problem.entries_into(x, &mut entries))?;
                Derivatives::Sparse(Sparse { pattern, entries })
            }
            None => {
                let mut dense = Array2::zeros((self.problem.residuals(), self.problem.parameters()).f());
                book.ask(|| self.problem.jacobian_into(x, dense.view_mut()))?;
                Derivatives::Dense(Rc::new(dense))
            }
        };
        if let Some((residual, parameter)) = jacobian.non_finite() {
            return Err(Interruption::NonFinite(NonFinite::Derivative { residual, parameter }));
        }
        jacobian.grow(&mut book.scales);
        let jacobian = Rc::new(jacobian);
        book.first_jacobian.get_or_insert_with(|| Rc::clone(&jacobian));
        book.jacobian = Some((x.to_vec(), Rc::clone(&jacobian)));
        Ok(jacobian)
    }

    /// `2 Jᵀ r`, the gradient of the sum of squares.
    pub fn sum_gradient(&self, x: &[f64]) -> Result<Vec<f64>, Interruption> {
        let evaluation = self.evaluate(x)?;
        let sums = self.derivatives(x)?.column_sums(|i, _, d| d * evaluation.residuals[i]);
        let gradient: Vec<f64> = sums.into_iter().map(|sum| 2.0 * sum).collect();
        self.final_if_err(match gradient.iter().position(|g| !g.is_finite()) {
            Some(parameter) => Err(Interruption::NonFinite(NonFinite::Gradient { parameter })),
            None => Ok(gradient),
        })
    }
}

impl CostFunction for &Ledger<'_> {
    type Param = Vec<f64>;
    type Output = f64;

    fn cost(&self, x: &Vec<f64>) -> Result<f64, Error> {
        Ok(self.evaluate(x)?.sum_of_squares)
    }
}

impl Gradient for &Ledger<'_> {
    type Param = Vec<f64>;
    type Gradient = Vec<f64>;

    fn gradient(&self, x: &Vec<f64>) -> Result<Vec<f64>, Error> {
        Ok(self.sum_gradient(x)?)
    }
}

impl Operator for &Ledger<'_> {
    type Param = Vec<f64>;
    type Output = Vec<f64>;

    fn apply(&self, x: &Vec<f64>) -> Result<Vec<f64>, Error> {
        Ok(self.evaluate(x)?.residuals.clone())
    }
}

impl Jacobian for &Ledger<'_> {
    type Param = Vec<f64>;
    type Jacobian = Matrix;

    fn jacobian(&self, x: &Vec<f64>) -> Result<Matrix, Error> {
        Ok(Matrix::from(&*Ledger::jacobian(self, x)?))
    }
}
