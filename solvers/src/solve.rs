//! One run, from a start to an outcome that can be believed.

use std::rc::Rc;

use ndarray::{Array2, ArrayView1, ArrayView2};

use crate::bounds::{held, without};
use crate::decomposition::{Decomposition, grow, norm, rounding_of_residuals};
use crate::least_squares::LeastSquares;
use crate::ledger::{Evaluation, Interruption, Ledger, TracePoint};
use crate::options::Options;
use crate::registry::{SOLVERS, SolverEntry};
use crate::settling::relative_step;
use crate::termination::{NonFinite, Termination};

/// A claim to have converged stands if the relative offset is no larger than this, or at rounding level.
const OFFSET: f64 = 1e-6;
/// … or if an undamped Gauss–Newton step would change no parameter by more than this part of it.
const STEP: f64 = 1e-10;
/// Rounding level, in units of what rounding the parameters does to the residuals.
const ROUNDING: f64 = 8.0;
/// A column has vanished if its norm fell by this factor below the largest it has had …
const VANISHED: f64 = 1e-10;
/// … and changing the parameter by all of its size would change the residual vector by less than this part.
const NO_EFFECT: f64 = 1e-8;

/// What came of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The best point seen: the lowest sum of squares, except that a solver may prefer a point that exceeds it by 1e-9
    /// or by what rounding the parameters can do to it.
    pub parameters: Vec<f64>,
    /// The sum of squares at the start.
    pub initial_sum_of_squares: f64,
    /// The sum of squares at `parameters`.
    pub sum_of_squares: f64,
    /// Why the run ended.
    pub termination: Termination,
    /// Iterations completed.
    pub iterations: u64,
    /// Calls of `residuals_into`, those inside line searches included.
    pub residual_evaluations: u64,
    /// Calls of `jacobian_into`, including one for the final check if the solver had not asked for that point.
    pub jacobian_evaluations: u64,
    /// One point per iteration.
    pub trace: Vec<TracePoint>,
    /// The parameters that a bound holds: the sum of squares would fall beyond it. The rank, the undetermined directions and
    /// the relative offset are those of the others; there are no standard errors if there are any.
    pub held: Vec<usize>,
    /// Numerical rank of the column-scaled Jacobian at `parameters`; 0 if it is not finite.
    pub rank: usize,
    /// Directions (of length 1) in which the parameters are not determined: `parameters − rank` of them.
    pub undetermined: Vec<Vec<f64>>,
    /// `s² (JᵀJ)⁻¹` with `s² = sum_of_squares / (m − n)`; `None` if `m ≤ n` or the rank is deficient.
    pub covariance: Option<Array2<f64>>,
    /// Square roots of the covariance's diagonal.
    pub standard_errors: Option<Vec<f64>>,
    /// Bates and Watts' relative offset: the length of the residuals' projection on the range of `J`, divided by their
    /// length. It is the part that a Gauss–Newton step would remove, does not depend on the units of anything, and
    /// bounds the scaled gradient `max |Jⱼᵀ r| / (‖Jⱼ‖ ‖r‖)`. 0 for zero residuals, NaN if the Jacobian is not finite.
    pub relative_offset: f64,
}

/// Why a problem cannot be solved at all.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SolveError {
    /// The problem has no parameters.
    #[error("there is no parameter to fit")]
    NoParameters,
    /// The problem has no residuals.
    #[error("there is no residual to minimise")]
    NoResiduals,
    /// The start has not one value for each parameter.
    #[error("the start has {given} values, but there are {parameters} parameters")]
    WrongStartLength {
        /// Values given.
        given: usize,
        /// Parameters of the problem.
        parameters: usize,
    },
    /// A parameter, a residual or the sum of squares is not finite at the start.
    #[error("at the start, {0}")]
    NonFiniteStart(NonFinite),
    /// The solver knows no bounds.
    #[error("{solver} knows no bounds; these solvers do: {}", with_bounds())]
    NoBounds {
        /// The solver.
        solver: &'static str,
    },
    /// A parameter starts outside of its bounds, or these are none.
    #[error("parameter {} starts at {start:?}, which is not within its bounds {low:?} and {high:?}", parameter + 1)]
    StartOutside {
        /// Index of the parameter.
        parameter: usize,
        /// Where it starts.
        start: f64,
        /// Its least value.
        low: f64,
        /// Its greatest value.
        high: f64,
    },
    /// An option is out of range.
    #[error("{option} must be positive and finite")]
    InvalidOption {
        /// Name of the option.
        option: &'static str,
    },
}

/// Minimises the sum of squares of `problem` from `start`.
///
/// Whatever the solver claims is checked at the point returned: the relative offset must be at most 1e-6 or at
/// rounding level (within 8 times what rounding the parameters does to the residuals), or an undamped Gauss–Newton step
/// must change no parameter by more than 1e-10 of it (which decides where residuals vanish); and no parameter may have run to where
/// its column of the Jacobian has vanished (norm below 1e-10 of the largest it has had). A claim that fails is
/// reported as [`Termination::NotAMinimum`], [`Termination::ColumnVanished`] or, if the Jacobian has a lower rank than at
/// the start while residuals remain, [`Termination::RankLost`]; a failed line search or a stall at a point that
/// passes is [`Termination::GradientNegligible`].
pub fn solve(
    problem: &dyn LeastSquares,
    start: &[f64],
    solver: &SolverEntry,
    options: &Options,
) -> Result<Outcome, SolveError> {
    let (m, n) = (problem.residuals(), problem.parameters());
    if n == 0 {
        return Err(SolveError::NoParameters);
    }
    if m == 0 {
        return Err(SolveError::NoResiduals);
    }
    if start.len() != n {
        return Err(SolveError::WrongStartLength { given: start.len(), parameters: n });
    }
    let positive = |value: f64| value > 0.0 && value.is_finite();
    for (option, valid) in [
        ("evaluation_budget", options.evaluation_budget > 0),
        ("learning_rate", positive(options.learning_rate)),
        ("first_step", positive(options.first_step)),
    ] {
        if !valid {
            return Err(SolveError::InvalidOption { option });
        }
    }

    if !options.bounds.is_empty() && !solver.bounds {
        return Err(SolveError::NoBounds { solver: solver.name });
    }
    for (parameter, (&start, &[low, high])) in start.iter().zip(&options.bounds).enumerate() {
        if !(low <= start && start <= high) {
            return Err(SolveError::StartOutside { parameter, start, low, high });
        }
    }

    let ledger = Ledger::new(problem, options.evaluation_budget);
    let initial = match ledger.evaluate(start) {
        Ok(initial) => initial,
        Err(Interruption::NonFinite(place)) => return Err(SolveError::NonFiniteStart(place)),
        // The budget is at least 1 and nothing has been asked before.
        Err(Interruption::Budget | Interruption::Stalled) => {
            return Err(SolveError::InvalidOption { option: "evaluation_budget" });
        }
    };
    let iterations = options.iterations.unwrap_or(solver.iterations);
    let claimed = if initial.is_zero() {
        ledger.share().borrow_mut().record(0, 0.0);
        Termination::ZeroResidual
    } else {
        (solver.run)(&ledger, start, iterations, options)
    };

    let best = ledger.book().best.clone().unwrap_or_else(|| initial.clone());
    let check = Check::new(&ledger, &best, options);
    let book = ledger.book();
    // by length and not by squares, which under- and overflow long before their roots
    let deviation = norm(ArrayView1::from(&best.residuals)) / (m.saturating_sub(n) as f64).sqrt();
    let determined = check.decomposition.as_ref().filter(|d| m > n && d.rank() == n);
    Ok(Outcome {
        termination: check.judge(claimed, &best),
        initial_sum_of_squares: initial.sum_of_squares,
        sum_of_squares: best.sum_of_squares,
        iterations: book.trace.last().map_or(0, |point| point.iteration),
        residual_evaluations: book.residual_evaluations,
        jacobian_evaluations: book.jacobian_evaluations,
        trace: book.trace.clone(),
        rank: check.decomposition.as_ref().map_or(0, Decomposition::rank),
        undetermined: check.undetermined(),
        standard_errors: determined.map(|d| d.standard_errors(deviation)),
        covariance: determined.map(|d| d.covariance(deviation)),
        relative_offset: check.relative_offset,
        held: check.held,
        parameters: best.x.clone(),
    })
}

fn with_bounds() -> String {
    let names: Vec<&str> = SOLVERS.iter().filter(|entry| entry.bounds).map(|entry| entry.name).collect();
    names.join(", ")
}

fn column_norms(jacobian: ArrayView2<'_, f64>) -> Vec<f64> {
    let mut norms = vec![0.0; jacobian.ncols()];
    grow(&mut norms, jacobian);
    norms
}

/// What is known at the returned point, independently of the solver.
struct Check {
    decomposition: Option<Decomposition>,
    relative_offset: f64,
    /// The largest part that an undamped step would change of a parameter.
    step: f64,
    /// The relative offset that rounding alone can cause.
    rounding: f64,
    vanished: Option<usize>,
    /// The rank at the start.
    first_rank: usize,
    non_finite: Option<NonFinite>,
    /// Parameters that a bound holds. They have no part in what else is known here.
    held: Vec<usize>,
}

impl Check {
    fn new(ledger: &Ledger<'_>, best: &Evaluation, options: &Options) -> Self {
        let mut check = Self {
            decomposition: None,
            relative_offset: f64::NAN,
            step: f64::INFINITY,
            rounding: 0.0,
            vanished: None,
            first_rank: 0,
            non_finite: None,
            held: Vec::new(),
        };
        let jacobian = match ledger.jacobian(&best.x) {
            Ok(jacobian) => jacobian,
            Err(Interruption::NonFinite(place)) => {
                check.non_finite = Some(place);
                return check;
            }
            Err(_) => return check,
        };
        let length = norm(ArrayView1::from(&best.residuals));
        check.held = held(&jacobian, best, options);
        let jacobian = without(jacobian, &check.held);
        let norms = column_norms(jacobian.view());
        check.vanished = (0..norms.len()).filter(|j| !check.held.contains(j)).find(|j| {
            norms[*j] < VANISHED * ledger.book().scales[*j]
                && norms[*j] * best.x[*j].abs() < NO_EFFECT * length
        });
        let rounding = rounding_of_residuals(jacobian.view(), &best.x, &best.residuals);
        check.rounding = ROUNDING * rounding / length;
        check.decomposition = Decomposition::new(jacobian.view(), &norms);
        check.first_rank = (ledger.book().first_jacobian.as_ref())
            .map(|first| without(Rc::clone(first), &check.held))
            .and_then(|first| Decomposition::new(first.view(), &column_norms(first.view())))
            .map_or(0, |first| first.rank());
        if let Some(decomposition) = &check.decomposition {
            let projected = decomposition.project(&best.residuals);
            let step = decomposition.step(&projected, 0.0);
            check.step = relative_step(&norms, &best.x, &step, rounding, STEP);
            let removable = norm(ArrayView1::from(&projected));
            check.relative_offset = if length > 0.0 { removable / length } else { 0.0 };
        }
        check
    }

    /// Directions along which no residual changes, those of held parameters left out.
    fn undetermined(&self) -> Vec<Vec<f64>> {
        let Some(decomposition) = &self.decomposition else { return Vec::new() };
        let mut directions = decomposition.undetermined();
        // a column of zeros has its own unit vector
        directions.retain(|direction| self.held.iter().all(|j| direction[*j].abs() < 0.5));
        directions
    }

    fn judge(&self, claimed: Termination, best: &Evaluation) -> Termination {
        if !claimed.converged()
            && !best.is_zero()
            && !matches!(claimed, Termination::LineSearchFailed | Termination::Stalled)
        {
            return claimed;
        }
        let is_minimum = self.relative_offset <= OFFSET.max(self.rounding) || self.step <= STEP;
        let rank = self.decomposition.as_ref().map_or(0, Decomposition::rank);
        // Residuals at rounding level are a perfect fit, whatever the rank.
        let rank_lost = rank < self.first_rank && self.rounding < 1.0;
        match (self.non_finite, self.vanished) {
            _ if best.is_zero() => Termination::ZeroResidual,
            (Some(place), _) => Termination::NonFinite(place),
            (_, Some(parameter)) => Termination::ColumnVanished { parameter },
            _ if is_minimum && rank_lost => Termination::RankLost { start: self.first_rank, rank },
            _ if is_minimum && !claimed.converged() => Termination::GradientNegligible,
            _ if is_minimum || !claimed.converged() => claimed,
            _ => Termination::NotAMinimum { relative_offset: self.relative_offset },
        }
    }
}
