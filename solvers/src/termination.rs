//! Why a solver stopped.

use std::fmt;

/// Why a run ended. Only the first four say that the point is a minimum, see [`converged`](Self::converged).
///
/// A claim to have converged, whichever solver makes it, is checked at the returned point by [`solve`](crate::solve())
/// before it is reported: see [`Outcome::relative_offset`](crate::Outcome::relative_offset).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Termination {
    /// Undamped Gauss–Newton steps have shrunk until rounding alone moves them: no more digits can be had in `f64`.
    StepAtRounding,
    /// The solver could not go on, and the gradient at its point is negligible.
    GradientNegligible,
    /// Every residual is exactly zero.
    ZeroResidual,
    /// The sum of squares no longer changes from step to step, and the gradient is negligible.
    LossStoppedChanging,

    /// The solver claimed to have converged, but the gradient at its point is not small.
    NotAMinimum {
        /// The part of the residual vector that a step could still remove, see `Outcome::relative_offset`.
        relative_offset: f64,
    },
    /// A parameter ran to where it no longer has an effect on any residual, so the gradient is small for want of
    /// influence and not because a minimum is near.
    ColumnVanished {
        /// Index of the parameter.
        parameter: usize,
    },
    /// Fewer combinations of parameters have an effect than at the start: some ran to where they no longer matter.
    RankLost {
        /// Rank of the Jacobian at the start.
        start: usize,
        /// Rank of the Jacobian at the returned point.
        rank: usize,
    },
    /// The iterations allowed were used up.
    IterationLimit,
    /// The residual evaluations allowed were used up.
    EvaluationBudget,
    /// The sum of squares grew instead of shrinking.
    Diverged,
    /// The solver met a value that is not finite and has no way around it.
    NonFinite(NonFinite),
    /// No acceptable step along the search direction was found.
    LineSearchFailed,
    /// The steps no longer move the parameters, and the point is no minimum.
    Stalled,
    /// A matrix that the method must invert is singular.
    SingularMatrix,
    /// The gradient is negligible, but the exact Hessian has a direction in which the sum of squares falls: a saddle or a maximum.
    Saddle {
        /// See [`Evidence::smallest_eigenvalue`](crate::Evidence::smallest_eigenvalue).
        smallest_eigenvalue: f64,
    },
    /// The problem panicked when it was evaluated; it was not asked again.
    Panicked,
}

/// Where a value that is not finite appeared.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NonFinite {
    /// In a parameter of a trial point.
    Parameter {
        /// Index of the parameter.
        parameter: usize,
    },
    /// In a residual.
    Residual {
        /// Index of the residual.
        residual: usize,
    },
    /// In the sum of squares, while every residual is finite: an overflow.
    SumOfSquares,
    /// In a derivative.
    Derivative {
        /// Index of the residual.
        residual: usize,
        /// Index of the parameter.
        parameter: usize,
    },
    /// In the gradient of the sum of squares, while every derivative is finite: an overflow.
    Gradient {
        /// Index of the parameter.
        parameter: usize,
    },
}

impl Termination {
    /// A short name for tables and scripts.
    pub fn name(self) -> &'static str {
        match self {
            Self::StepAtRounding => "step-at-rounding",
            Self::GradientNegligible => "gradient-negligible",
            Self::ZeroResidual => "zero-residual",
            Self::LossStoppedChanging => "loss-stopped-changing",
            Self::NotAMinimum { .. } => "not-a-minimum",
            Self::ColumnVanished { .. } => "column-vanished",
            Self::RankLost { .. } => "rank-lost",
            Self::IterationLimit => "iteration-limit",
            Self::EvaluationBudget => "evaluation-budget",
            Self::Diverged => "diverged",
            Self::NonFinite(_) => "non-finite",
            Self::LineSearchFailed => "line-search-failed",
            Self::Stalled => "stalled",
            Self::SingularMatrix => "singular-matrix",
            Self::Saddle { .. } => "saddle",
            Self::Panicked => "panicked",
        }
    }

    /// Whether the returned point is a minimum as far as `f64` can tell, by first derivatives and, where the problem has them, by second ones.
    pub fn converged(self) -> bool {
        match self {
            Self::StepAtRounding
            | Self::GradientNegligible
            | Self::ZeroResidual
            | Self::LossStoppedChanging => true,
            Self::NotAMinimum { .. }
            | Self::ColumnVanished { .. }
            | Self::RankLost { .. }
            | Self::IterationLimit
            | Self::EvaluationBudget
            | Self::Diverged
            | Self::NonFinite(_)
            | Self::LineSearchFailed
            | Self::Stalled
            | Self::SingularMatrix
            | Self::Saddle { .. }
            | Self::Panicked => false,
        }
    }
}

impl Termination {
    /// The reason in words, and what to do about it; `parameter` and `residual` name what is counted from 0.
    pub fn message(self, parameter: impl Fn(usize) -> String, residual: impl Fn(usize) -> String) -> String {
        match self {
            Self::StepAtRounding => "converged: further steps are rounding noise".into(),
            Self::GradientNegligible => "converged: the gradient is negligible".into(),
            Self::ZeroResidual => "converged: every residual is exactly zero".into(),
            Self::LossStoppedChanging => "converged: the sum of squares stopped changing".into(),
            Self::NotAMinimum { relative_offset } => format!(
                "stopped away from a minimum: a step could still remove {relative_offset:.1e} of the residual vector; \
                 start elsewhere, try another solver, or allow \
                 more iterations"
            ),
            Self::ColumnVanished { parameter: at } => {
                format!("{} ran to where it has no effect on any residual; start it elsewhere", parameter(at))
            }
            Self::RankLost { start, rank } => format!(
                "{start} combinations of parameters had an effect at the start and {rank} have one here: parameters \
                 ran away together; start them elsewhere"
            ),
            Self::IterationLimit => "the iteration limit was reached; allow more iterations".into(),
            Self::EvaluationBudget => "the evaluation budget is used up; allow more evaluations".into(),
            Self::Diverged => {
                "the sum of squares grew; use a smaller learning rate or another solver".into()
            }
            Self::NonFinite(place) => format!(
                "{}; start nearer to the data or try another solver",
                place.message(parameter, residual)
            ),
            Self::LineSearchFailed => {
                "the line search found no acceptable step; rescale the parameters or try another solver"
                    .into()
            }
            Self::Stalled => {
                "steps no longer move the parameters, away from a minimum; try another solver".into()
            }
            Self::SingularMatrix => {
                "the normal equations are singular: a parameter has no effect here, or they depend on each other; try another solver"
                    .into()
            }
            Self::Saddle { .. } => {
                "stopped at a saddle or a maximum: the gradient is negligible, but the sum of squares falls along some \
                 direction; start elsewhere"
                    .into()
            }
            Self::Panicked => "the model panicked when it was evaluated; mend it".into(),
        }
    }
}

impl fmt::Display for Termination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message(nth_parameter, nth_residual))
    }
}

impl NonFinite {
    fn message(self, name: impl Fn(usize) -> String, place: impl Fn(usize) -> String) -> String {
        match self {
            Self::Parameter { parameter } => format!("a trial value of {} is not finite", name(parameter)),
            Self::Residual { residual } => format!("{} is not finite", place(residual)),
            Self::SumOfSquares => "the sum of squares overflows".into(),
            Self::Derivative { residual, parameter } => {
                format!("the derivative of {} by {} is not finite", place(residual), name(parameter))
            }
            Self::Gradient { parameter } => format!("the gradient overflows in {}", name(parameter)),
        }
    }
}

impl fmt::Display for NonFinite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message(nth_parameter, nth_residual))
    }
}

fn nth_parameter(index: usize) -> String {
    format!("parameter {}", index + 1)
}

fn nth_residual(index: usize) -> String {
    format!("residual {}", index + 1)
}
