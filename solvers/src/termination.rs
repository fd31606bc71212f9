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
    /// A matrix that the method must invert is singular.
    SingularMatrix,
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
    /// Whether the returned point is a minimum as far as `f64` and first derivatives can tell.
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
            | Self::SingularMatrix => false,
        }
    }
}

impl fmt::Display for Termination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::StepAtRounding => write!(f, "converged: further steps are rounding noise"),
            Self::GradientNegligible => write!(f, "converged: the gradient is negligible"),
            Self::ZeroResidual => write!(f, "converged: every residual is exactly zero"),
            Self::LossStoppedChanging => write!(f, "converged: the sum of squares stopped changing"),
            Self::NotAMinimum { relative_offset } => write!(
                f,
                "stopped away from a minimum: a step could still remove {relative_offset:.1e} of the residual \
                 vector; try levenberg-marquardt or more iterations"
            ),
            Self::ColumnVanished { parameter } => write!(
                f,
                "parameter {parameter} ran to where it has no effect on any residual; start it elsewhere"
            ),
            Self::RankLost { start, rank } => write!(
                f,
                "{start} combinations of parameters had an effect at the start and {rank} have one here: parameters \
                 ran away together; start them elsewhere"
            ),
            Self::IterationLimit => write!(f, "the iteration limit was reached; allow more iterations"),
            Self::EvaluationBudget => write!(f, "the evaluation budget is used up; allow more evaluations"),
            Self::Diverged => {
                write!(f, "the sum of squares grew; use a smaller learning rate or levenberg-marquardt")
            }
            Self::NonFinite(place) => {
                write!(f, "{place}; start nearer to the data or use levenberg-marquardt")
            }
            Self::LineSearchFailed => write!(
                f,
                "the line search found no acceptable step; rescale the parameters or use levenberg-marquardt"
            ),
            Self::SingularMatrix => write!(
                f,
                "the normal equations are singular: parameters depend on each other; use levenberg-marquardt"
            ),
        }
    }
}

impl fmt::Display for NonFinite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Parameter { parameter } => {
                write!(f, "parameter {parameter} of a trial point is not finite")
            }
            Self::Residual { residual } => write!(f, "residual {residual} is not finite"),
            Self::SumOfSquares => write!(f, "the sum of squares overflows"),
            Self::Derivative { residual, parameter } => {
                write!(f, "the derivative of residual {residual} by parameter {parameter} is not finite")
            }
            Self::Gradient { parameter } => {
                write!(f, "the gradient overflows in parameter {parameter}")
            }
        }
    }
}
