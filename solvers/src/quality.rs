//! How good an answer is.

use keyfit_autodiff::jacobian;
use keyfit_ir::Track;
use ndarray::Array2;

use crate::decomposition::norm;
use crate::fit::{Fit, Named};
use crate::loss::Loss;
use crate::problem::FitProblem;
use crate::student::two_sided;

/// How good an answer is, in numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quality {
    /// Residuals less the Jacobian's rank, so parameters at bounds do not count; 0 where there are no more residuals.
    pub degrees_of_freedom: usize,
    /// √(sum of squared weighted residuals / degrees of freedom); `None` without a degree of freedom or with another loss than
    /// squares.
    pub residual_deviation: Option<f64>,
    /// The coefficient of determination 1 − Σ w (track − y)² / Σ w (y − ȳ)², with ȳ the weighted mean of the channel's own targets
    /// and both sums over all channels with two targets or more. Negative where the means alone would be nearer; `None` where
    /// no target differs from its mean, or with another loss than squares. T. O. Kvålseth, Am. Stat. 39 (1985) 279–285, R²₁.
    pub r_squared: Option<f64>,
    /// The condition number of the Jacobian with its columns scaled to length 1, those of parameters at bounds left out; infinite
    /// where the rank is short, NaN if the Jacobian is not finite.
    pub condition: f64,
    /// Whether the residuals are no larger than what rounding the parameters does to them; errors and R² tell of rounding then.
    pub rounding_level: bool,
}

impl Quality {
    /// At `x`; what the solver knows of it comes along.
    pub(crate) fn new(
        problem: &FitProblem,
        residuals: &[f64],
        (rank, condition, rounding_level): (usize, f64, bool),
        loss: Loss,
    ) -> Quality {
        let degrees_of_freedom = residuals.len().saturating_sub(rank);
        let squares = loss == Loss::Squares;
        let deviation = norm(residuals) / (degrees_of_freedom as f64).sqrt();
        Quality {
            degrees_of_freedom,
            residual_deviation: Some(deviation).filter(|_| squares && degrees_of_freedom > 0),
            r_squared: r_squared(problem, residuals).filter(|_| squares),
            condition,
            rounding_level,
        }
    }
}

fn r_squared(problem: &FitProblem, residuals: &[f64]) -> Option<f64> {
    let (mut missed, mut varied) = (Vec::new(), Vec::new());
    let mut rest = residuals;
    for targets in problem.channel_targets() {
        let (own, others) = rest.split_at_checked(targets.len())?;
        rest = others;
        if own.len() < 2 {
            continue;
        }
        // weights that add up to 1, so that no sum overflows where the mean does not
        let heaviest = targets.iter().map(|target| target.weight).fold(0.0, f64::max);
        let all: f64 = targets.iter().map(|target| target.weight / heaviest).sum();
        let mean: f64 = targets.iter().map(|target| target.weight / heaviest / all * target.value).sum();
        missed.extend_from_slice(own);
        varied.extend(targets.iter().map(|target| target.weight.sqrt() * (target.value - mean)));
    }
    let [missed, varied] = [missed, varied].map(|all| norm(&all));
    (varied > 0.0 && missed.is_finite() && varied.is_finite()).then(|| 1.0 - (missed / varied).powi(2))
}

impl Fit {
    /// The correlation matrix of the parameters, in their order; `None` where there is no covariance. Parameters whose standard error
    /// is 0 are correlated with nothing but themselves.
    pub fn correlation(&self) -> Option<Array2<f64>> {
        let covariance = self.covariance.as_ref()?;
        let errors = self.standard_errors.as_deref()?;
        let entry = |(i, j): (usize, usize)| match covariance[[i, j]] / errors[i].value / errors[j].value {
            _ if i == j => 1.0,
            rho if rho.is_finite() => rho.clamp(-1.0, 1.0),
            _ => 0.0,
        };
        Some(Array2::from_shape_fn(covariance.dim(), entry))
    }

    /// The ends of each parameter's confidence interval, value ± t·(standard error), with t from Student's distribution of
    /// [`Quality::degrees_of_freedom`] so that |T| ≤ t has the probability `level`. For a parameter that is fitted by its logarithm
    /// the interval is one of the logarithm, so it is positive. `None` where there are no standard errors or `level` does not
    /// lie between 0 and 1.
    pub fn intervals(&self, level: f64) -> Option<Vec<[f64; 2]>> {
        let errors = self.standard_errors.as_deref()?;
        let t = two_sided(level, self.quality.degrees_of_freedom)?;
        let ends = |(Named { name, value }, error): (&Named, &Named)| {
            let half = t * error.value;
            match self.logarithmic.contains(name) {
                false => [value - half, value + half],
                true => {
                    let factor = core_math::exp(half / value);
                    [value / factor, value * factor]
                }
            }
        };
        Some(self.parameters.iter().zip(errors).map(ends).collect())
    }

    /// What a formula of the parameters comes to, and its standard error to first order: √(gᵀ C g) with the formula's gradient g and
    /// the covariance C. The formula is looked at at time 0; parameters of it that the fit does not have keep their starts.
    pub fn estimate(&self, formula: &Track) -> (f64, Option<f64>) {
        let found = |name: &str| self.parameters.iter().position(|p| p.name == name);
        let own = formula.free_parameters();
        let columns: Vec<Option<usize>> = own.iter().map(|p| found(p.name())).collect();
        let values: Vec<f64> = (own.iter().zip(&columns))
            .map(|(p, column)| column.map_or(p.start(), |k| self.parameters[k].value))
            .collect();
        let value = formula.substitute_parameters(|name| self.value(name)).sample(0.0);
        let error = self.correlation().zip(self.standard_errors.as_deref()).map(|(correlation, errors)| {
            let gradient = jacobian(formula, &[0.0], &values);
            let parts: Vec<(usize, f64)> = (columns.iter().zip(&gradient))
                .filter_map(|(column, slope)| column.map(|k| (k, slope * errors[k].value)))
                .collect();
            let pairs = parts.iter().flat_map(|(i, a)| parts.iter().map(move |(j, b)| (*i, *j, a * b)));
            pairs.map(|(i, j, product)| product * correlation[[i, j]]).sum::<f64>().max(0.0).sqrt()
        });
        (value, error)
    }
}
