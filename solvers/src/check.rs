//! What is known at the point that a run returns, whatever the solver says of it.

use std::rc::Rc;

use ndarray::{Array2, ShapeBuilder};

use crate::bounds::held;
use crate::decomposition::{gram, norm};
use crate::jacobian::{Factors, Jacobian};
use crate::ledger::{Evaluation, Interruption, Ledger};
use crate::options::Options;
use crate::quadratic::Quadratic;
use crate::settling::relative_step;
use crate::strict::is_strict;
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
/// A point is a saddle if an eigenvalue is below minus this, in parameters in which `JᵀJ` has ones on its diagonal.
const NEGATIVE: f64 = 1e-8;
/// Parameters up to which second derivatives are looked at: they cost the square of the parameters' number.
pub(crate) const EXACT: usize = 32;

/// What speaks for a minimum at the returned point, computed there anew. Parameters that a bound holds have no part in it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Evidence {
    /// `max |Jⱼᵀ r| / (‖Jⱼ‖ ‖r‖)`: the cosine between the residuals and the column that could remove most of them. 0 for zero
    /// residuals, NaN if the Jacobian is not finite.
    pub scaled_gradient: f64,
    /// Numerical rank of the column-scaled Jacobian; 0 if it is not finite.
    pub rank: usize,
    /// The least eigenvalue of the Hessian of half the sum of squares, in parameters scaled by the norms of the Jacobian's columns (so
    /// that `JᵀJ` has ones on its diagonal). Zero to rounding where the rank is short; `None` where something is not finite. Of a
    /// [`Pattern`](crate::Pattern) it is estimated from above, by inverse iteration.
    pub smallest_eigenvalue: Option<f64>,
    /// Whether that is the exact Hessian `JᵀJ + Σ rᵢ ∇²rᵢ`; else it is `JᵀJ`, which has no negative eigenvalue: the problem has no second
    /// derivatives, they are not finite, or there are more than 32 parameters.
    pub exact: bool,
    /// Whether the point is a strict minimum though the Jacobian is singular: that Hessian is positive definite in parameters in which its
    /// diagonal is of ones (least eigenvalue at least 1e-8), Newton's step lowers the sum of squares by at most 1e-12 of it and
    /// moves no parameter by more than 1e-6 of its size or of its way from the start, and on both sides along each
    /// eigenvector the sum of squares rises as it says. Looked for only where a claim would else fail or the rank is short.
    pub strict: bool,
}

/// What is known at the returned point, independently of the solver.
pub(crate) struct Check {
    pub factors: Option<Factors>,
    pub relative_offset: f64,
    pub evidence: Evidence,
    /// The largest part that an undamped step would change of a parameter.
    step: f64,
    /// The relative offset that rounding alone can cause.
    rounding: f64,
    /// Of the scaled Jacobian, held parameters left out.
    pub condition: f64,
    /// Parameters that could be 0 for all that the residuals show: their whole size moves these no more than rounding does.
    pub negligible: Vec<usize>,
    vanished: Option<usize>,
    /// The rank at the start; 0 where none is missing here.
    first_rank: usize,
    non_finite: Option<NonFinite>,
    /// Parameters that a bound holds. They have no part in what else is known here.
    pub held: Vec<usize>,
}

/// Whether a reason to end says, or may mean, that a minimum was reached.
fn is_claim(reason: Termination) -> bool {
    reason.converged() || matches!(reason, Termination::LineSearchFailed | Termination::Stalled)
}

impl Check {
    pub fn new(ledger: &Ledger<'_>, best: &Evaluation, options: &Options) -> Self {
        let mut check = Self {
            factors: None,
            relative_offset: f64::NAN,
            evidence: Evidence {
                scaled_gradient: f64::NAN,
                rank: 0,
                smallest_eigenvalue: None,
                exact: false,
                strict: false,
            },
            step: f64::INFINITY,
            rounding: 0.0,
            condition: f64::NAN,
            negligible: Vec::new(),
            vanished: None,
            first_rank: 0,
            non_finite: None,
            held: Vec::new(),
        };
        let jacobian = match ledger.derivatives(&best.x) {
            Ok(jacobian) => jacobian,
            Err(Interruption::NonFinite(place)) => {
                check.non_finite = Some(place);
                return check;
            }
            Err(_) => return check,
        };
        let length = norm(&best.residuals);
        check.held = held(&jacobian, best, options);
        let jacobian = jacobian.without(&check.held);
        let norms = jacobian.norms();
        check.vanished = (0..norms.len()).filter(|j| !check.held.contains(j)).find(|j| {
            norms[*j] < VANISHED * ledger.book().scales[*j]
                && norms[*j] * best.x[*j].abs() < NO_EFFECT * length
        });
        let rounding = jacobian.rounding_of_residuals(&best.x, &best.residuals);
        check.rounding = ROUNDING * rounding / length;
        check.negligible =
            (0..norms.len()).filter(|j| norms[*j] * best.x[*j].abs() <= ROUNDING * rounding).collect();
        check.factors = jacobian.factors(&norms);
        let full = norms.len() - check.held.len();
        if check.factors.as_ref().is_some_and(|factors| factors.rank() < full) {
            check.first_rank = (ledger.book().first_jacobian.as_ref())
                .map(|first| Rc::clone(first).without(&check.held))
                .and_then(|first| first.factors(&first.norms()))
                .map_or(0, |first| first.rank());
        }
        if let Some(factors) = &check.factors {
            check.condition = factors.condition(full);
            let projected = factors.project(&best.residuals);
            let step = factors.undamped(&projected);
            check.step = relative_step(&norms, &best.x, &step, rounding, STEP);
            let removable = norm(&projected);
            check.relative_offset = if length > 0.0 { removable / length } else { 0.0 };
        }
        check.evidence = check.gather(ledger, best, &jacobian, &norms);
        check
    }

    /// Looks for a strict minimum, which needs no Jacobian of full rank, where a claim would fail for want of one. That is believed only
    /// where the sum of squares is seen to rise all around, so it may find a lower point instead.
    pub fn look_around(
        &mut self,
        ledger: &Ledger<'_>,
        best: &Evaluation,
        start: &[f64],
        claimed: Termination,
    ) {
        let fails =
            self.evidence.rank + self.held.len() < best.x.len() || !self.judge(claimed, best).converged();
        if fails && is_claim(claimed) && !best.is_zero() && self.non_finite.is_none() {
            self.evidence.strict = is_strict(ledger, best, start, &self.held);
        }
    }

    /// Whether the residuals are no larger than what rounding does to them, and not 0.
    pub fn at_rounding_level(&self) -> bool {
        self.rounding >= 1.0 && self.rounding.is_finite()
    }

    /// What is published of it.
    fn gather(&self, ledger: &Ledger<'_>, best: &Evaluation, jacobian: &Jacobian, norms: &[f64]) -> Evidence {
        let length = norm(&best.residuals);
        // quotients first: squares under- and overflow long before their roots
        let cosines = jacobian.column_sums(|i, j, d| (d / norms[j]) * (best.residuals[i] / length));
        let part = |(cosine, size): (f64, &f64)| if *size > 0.0 && length > 0.0 { cosine.abs() } else { 0.0 };
        let scaled_gradient = cosines.into_iter().zip(norms).map(part).fold(0.0, f64::max);
        let rank = self.factors.as_ref().map_or(0, Factors::rank);
        if let Some(Factors::Banded(banded)) = &self.factors {
            let smallest_eigenvalue = Some(banded.least_eigenvalue());
            return Evidence { scaled_gradient, rank, exact: false, smallest_eigenvalue, strict: false };
        }
        let jacobian = jacobian.dense();
        let curvature = if norms.len() <= EXACT { ledger.curvature(best).ok().flatten() } else { None };
        let unit = |j: usize| if norms[j] > 0.0 { norms[j] } else { 1.0 };
        let free: Vec<usize> = (0..norms.len()).filter(|j| !self.held.contains(j)).collect();
        let scaled = Array2::from_shape_fn((jacobian.nrows(), free.len()).f(), |(i, k)| {
            jacobian[[i, free[k]]] / unit(free[k])
        });
        let mut hessian = gram(&scaled);
        for ((k, l), entry) in hessian.indexed_iter_mut() {
            let (i, j) = (free[k], free[l]);
            *entry += curvature.as_ref().map_or(0.0, |s| s[[i, j]] / unit(i) / unit(j));
        }
        let finite = hessian.iter().all(|h| h.is_finite());
        let model = finite.then(|| Quadratic::new(hessian, &vec![0.0; free.len()])).flatten();
        Evidence {
            scaled_gradient,
            rank,
            exact: curvature.is_some(),
            strict: false,
            smallest_eigenvalue: model.filter(|model| !model.values.is_empty()).map(|model| model.least()),
        }
    }

    /// The least eigenvalue where it shows a way down.
    fn way_down(&self) -> Option<f64> {
        self.evidence.smallest_eigenvalue.filter(|least| self.evidence.exact && *least < -NEGATIVE)
    }

    /// Directions along which no residual changes, those of held parameters left out.
    pub fn undetermined(&self) -> Vec<Vec<f64>> {
        let Some(factors) = &self.factors else { return Vec::new() };
        let mut directions = factors.undetermined();
        // a column of zeros has its own unit vector
        directions.retain(|direction| self.held.iter().all(|j| direction[*j].abs() < 0.5));
        directions
    }

    /// What a claim comes to at this point.
    pub fn judge(&self, claimed: Termination, best: &Evaluation) -> Termination {
        if !is_claim(claimed) && !best.is_zero() {
            return claimed;
        }
        // a strict minimum needs no Jacobian of full rank
        let strict = self.evidence.strict;
        let is_minimum = strict || self.relative_offset <= OFFSET.max(self.rounding) || self.step <= STEP;
        let rank = self.factors.as_ref().map_or(0, Factors::rank);
        // Residuals at rounding level are a perfect fit, whatever the rank.
        let rank_lost = rank < self.first_rank && self.rounding < 1.0;
        match (self.non_finite, self.vanished) {
            _ if best.is_zero() => Termination::ZeroResidual,
            (Some(place), _) => Termination::NonFinite(place),
            (_, Some(parameter)) if !strict => Termination::ColumnVanished { parameter },
            _ if is_minimum && rank_lost && !strict => Termination::RankLost { start: self.first_rank, rank },
            _ if is_minimum
                && !strict
                && let Some(smallest_eigenvalue) = self.way_down() =>
            {
                Termination::Saddle { smallest_eigenvalue }
            }
            _ if is_minimum && !claimed.converged() => Termination::GradientNegligible,
            _ if is_minimum || !claimed.converged() => claimed,
            _ => Termination::NotAMinimum { relative_offset: self.relative_offset },
        }
    }
}
