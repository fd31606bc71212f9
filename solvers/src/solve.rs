//! One run, from a start to an outcome that can be believed.

use std::rc::Rc;

use ndarray::Array2;

use crate::check::{Check, Evidence};
use crate::decomposition::norm;
use crate::least_squares::LeastSquares;
use crate::ledger::{Evaluation, Interruption, Ledger, TracePoint};
use crate::options::{Options, positive};
use crate::registry::SolverEntry;
use crate::starts::starts;
use crate::termination::{NonFinite, Termination};

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
    /// Hessians, that of the final check included.
    pub hessian_evaluations: u64,
    /// Products of a Hessian with a direction.
    pub hessian_products: u64,
    /// Second derivatives of the residuals along a direction.
    pub curvatures_along: u64,
    /// What was tried: one entry for most solvers, one a solver for `default`, one or more a start where there are several.
    pub attempts: Vec<Attempt>,
    /// What speaks for a minimum.
    pub evidence: Evidence,
    /// One point per iteration.
    pub trace: Vec<TracePoint>,
    /// The parameters that a bound holds: the sum of squares would fall beyond it. The rank, the undetermined directions and
    /// the relative offset are those of the others; there are no standard errors if there are any.
    pub held: Vec<usize>,
    /// Numerical rank of the column-scaled Jacobian at `parameters`; 0 if it is not finite.
    pub rank: usize,
    /// The condition number of the column-scaled Jacobian; infinite where the rank is short, NaN if it is not finite, and
    /// where the Jacobian was taken by its [`Pattern`](crate::Pattern).
    pub condition: f64,
    /// Parameters that could be 0 for all that the residuals show: their whole size moves these no more than 8 times what rounding does.
    pub negligible: Vec<usize>,
    /// Whether the residuals are not 0 but no larger than 8 times what rounding the parameters does to them.
    pub rounding_level: bool,
    /// Directions (of length 1) in which the parameters are not determined: `parameters − rank` of them, but at most 32 where the
    /// Jacobian was taken by its [`Pattern`](crate::Pattern).
    pub undetermined: Vec<Vec<f64>>,
    /// `s² (JᵀJ)⁻¹` with `s² = sum_of_squares / (m − n)`; `None` if `m ≤ n` or the rank is deficient, and
    /// where the Jacobian was taken by its [`Pattern`](crate::Pattern).
    pub covariance: Option<Array2<f64>>,
    /// Square roots of the covariance's diagonal.
    pub standard_errors: Option<Vec<f64>>,
    /// Bates and Watts' relative offset: the length of the residuals' projection on the range of `J`, divided by their
    /// length. It is the part that a Gauss–Newton step would remove, does not depend on the units of anything, and
    /// bounds the scaled gradient `max |Jⱼᵀ r| / (‖Jⱼ‖ ‖r‖)`. 0 for zero residuals, NaN if the Jacobian is not finite.
    pub relative_offset: f64,
}

/// One run of one solver from one start.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Attempt {
    /// The solver's name.
    pub solver: &'static str,
    /// Which start, counted from 1: the first is the given one.
    pub start: u32,
    /// The sum of squares at its best point.
    pub sum_of_squares: f64,
    /// How it ended.
    pub termination: Termination,
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
    #[error("{solver} knows no bounds; these solvers do: {}", crate::registry::with_bounds())]
    NoBounds {
        /// The solver.
        solver: &'static str,
    },
    /// The solver needs second derivatives and the problem has none.
    #[error("{solver} needs second derivatives, and this problem has none; try levenberg-marquardt")]
    NoSecondDerivatives {
        /// The solver.
        solver: &'static str,
    },
    /// The solver needs a parameter in which the problem is linear.
    #[error(
        "{solver} needs a parameter in which the residuals are linear, and there is none (with a loss other than squares \
         there never is); try levenberg-marquardt"
    )]
    NoLinearParameter {
        /// The solver.
        solver: &'static str,
    },
    /// The solver stores the Jacobian with every entry, and that is too large.
    #[error(
        "{solver} stores the whole Jacobian, {residuals} × {parameters} numbers: too many; try levenberg-marquardt, which takes a          narrow band of it by its entries, or less data"
    )]
    TooLarge {
        /// The solver.
        solver: &'static str,
        /// Rows of the Jacobian.
        residuals: usize,
        /// Its columns.
        parameters: usize,
    },
    /// The problem panicked at the start.
    #[error("the model panicked at the start")]
    Panicked,
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

/// The most entries of a Jacobian with every entry: two gigabytes, of which there are a few copies.
const LARGEST: usize = 1 << 28;

/// Minimises the sum of squares of `problem` from `start`.
///
/// Whatever the solver claims is checked at the point returned: the relative offset must be at most 1e-6 or at
/// rounding level (within 8 times what rounding the parameters does to the residuals), or an undamped Gauss–Newton step
/// must change no parameter by more than 1e-10 of it (which decides where residuals vanish); and no parameter may have run to where
/// its column of the Jacobian has vanished (norm below 1e-10 of the largest it has had). A claim that fails is
/// reported as [`Termination::NotAMinimum`], [`Termination::ColumnVanished`] or, if the Jacobian has a lower rank than at
/// the start while residuals remain, [`Termination::RankLost`]; where the exact Hessian is at hand and has an eigenvalue
/// below −1e-8 (see [`Evidence`]), as [`Termination::Saddle`]. Where that Hessian shows a strict minimum ([`Evidence::strict`]) the
/// claim stands whatever the Jacobian says. A failed line search or a stall at a point that
/// passes is [`Termination::GradientNegligible`].
///
/// With [`Options::starts`], and for the solver `default`, there are several runs; returned is the lowest minimum that one of
/// them converged to, or the lowest point if none did, and [`Outcome::attempts`] tells of all.
///
/// A panic of the problem is caught (where panics unwind) and ends the run with [`Termination::Panicked`].
///
/// # Errors
/// See [`SolveError`].
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
    for (option, valid) in [
        ("evaluation_budget", options.evaluation_budget > 0),
        ("learning_rate", positive(options.learning_rate).is_some()),
        ("first_step", positive(options.first_step).is_some()),
        ("starts", options.starts > 0),
    ] {
        if !valid {
            return Err(SolveError::InvalidOption { option });
        }
    }

    let chain = solver.chain(problem, options)?;
    let narrow = problem.pattern().is_some() && chain.iter().all(|entry| entry.sparse);
    if !narrow && m.saturating_mul(n) > LARGEST {
        return Err(SolveError::TooLarge { solver: solver.name, residuals: m, parameters: n });
    }
    for (parameter, (&start, &[low, high])) in start.iter().zip(&options.bounds).enumerate() {
        if !(low <= start && start <= high) {
            return Err(SolveError::StartOutside { parameter, start, low, high });
        }
    }

    let ledger = Ledger::new(problem, options.evaluation_budget, options.keep_path);
    let ledger = if narrow { ledger.by_entries() } else { ledger };
    let initial = match ledger.evaluate(start) {
        Ok(initial) => initial,
        Err(Interruption::NonFinite(place)) => return Err(SolveError::NonFiniteStart(place)),
        Err(Interruption::Panicked) => return Err(SolveError::Panicked),
        // The budget is at least 1 and nothing has been asked before.
        Err(Interruption::Budget | Interruption::Stalled) => {
            return Err(SolveError::InvalidOption { option: "evaluation_budget" });
        }
    };
    let mut session = Session { ledger: &ledger, options, attempts: Vec::new(), kept: None };
    for (start, x) in starts(start, options).iter().enumerate() {
        session.from(start as u32 + 1, x, &chain, solver);
    }
    let Session { attempts, kept, .. } = session;
    // the first attempt is always made
    let Some(Kept { best, check, termination }) = kept else { return Err(SolveError::NoResiduals) };
    let book = ledger.book();
    // by length and not by squares, which under- and overflow long before their roots
    let deviation = norm(&best.residuals) / (m.saturating_sub(n) as f64).sqrt();
    let determined = check.factors.as_ref().filter(|factors| m > n && factors.rank() == n);
    Ok(Outcome {
        termination,
        initial_sum_of_squares: initial.sum_of_squares,
        sum_of_squares: best.sum_of_squares,
        iterations: book.iterations(),
        residual_evaluations: book.residual_evaluations,
        jacobian_evaluations: book.jacobian_evaluations,
        hessian_evaluations: book.hessian_evaluations,
        hessian_products: book.hessian_products,
        curvatures_along: book.curvatures_along,
        attempts,
        evidence: check.evidence,
        trace: book.trace.clone(),
        rank: check.evidence.rank,
        condition: check.condition,
        negligible: check.negligible.clone(),
        rounding_level: check.at_rounding_level(),
        undetermined: check.undetermined(),
        standard_errors: determined.map(|factors| factors.standard_errors(deviation)),
        covariance: determined.and_then(|factors| factors.covariance(deviation)),
        relative_offset: check.relative_offset,
        held: check.held,
        parameters: best.x.clone(),
    })
}

/// The point to return so far.
struct Kept {
    best: Rc<Evaluation>,
    check: Check,
    termination: Termination,
}

/// All the runs of one call.
struct Session<'a> {
    ledger: &'a Ledger<'a>,
    options: &'a Options,
    attempts: Vec<Attempt>,
    kept: Option<Kept>,
}

impl Session<'_> {
    /// Runs one solver after the other from `x` until one converges. The iterations allowed are those of all of them.
    fn from(&mut self, start: u32, x: &[f64], chain: &[&SolverEntry], asked: &SolverEntry) {
        let mut left = self.options.iterations.unwrap_or(asked.iterations);
        for (k, entry) in chain.iter().enumerate() {
            if !self.attempts.is_empty() {
                if self.ledger.is_closed() || left == 0 {
                    return;
                }
                self.ledger.begin_again();
            }
            let before = self.ledger.book().iterations();
            // each but the last of a chain has its own limit too
            let most = if k + 1 < chain.len() { left.min(entry.iterations) } else { left };
            let claimed = self.run(entry, x, most);
            left = left.saturating_sub(self.ledger.book().iterations() - before);
            let Some(mut best) = self.ledger.book().best.clone() else { continue };
            let mut check = Check::new(self.ledger, &best, self.options);
            check.look_around(self.ledger, &best, x, claimed);
            let lower = self.ledger.book().best.clone();
            if let Some(lower) = lower.filter(|lower| lower.sum_of_squares < best.sum_of_squares) {
                best = lower;
                check = Check::new(self.ledger, &best, self.options);
            }
            let termination =
                if self.ledger.is_broken() { Termination::Panicked } else { check.judge(claimed, &best) };
            let sum_of_squares = best.sum_of_squares;
            self.attempts.push(Attempt { solver: entry.name, start, sum_of_squares, termination });
            // a minimum before any other point, then the lower one
            let is_better = self.kept.as_ref().is_none_or(|kept| {
                let [new, old] = [termination, kept.termination].map(Termination::converged);
                if new == old { sum_of_squares < kept.best.sum_of_squares } else { new }
            });
            if is_better {
                self.kept = Some(Kept { best, check, termination });
            }
            if termination.converged() {
                return;
            }
        }
    }

    fn run(&self, entry: &SolverEntry, x: &[f64], iterations: u64) -> Termination {
        match self.ledger.evaluate(x) {
            Ok(initial) if initial.is_zero() => {
                let mut book = self.ledger.book_mut();
                let next = if book.trace.is_empty() { 0 } else { book.iterations() + 1 };
                book.record(next, 0.0, x);
                Termination::ZeroResidual
            }
            Ok(_) => entry.run(self.ledger, x, iterations, self.options),
            Err(interruption) => interruption.into(),
        }
    }
}
