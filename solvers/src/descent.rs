//! Methods that follow the gradient along a line: steepest descent, conjugate gradients, BFGS and L-BFGS.

use std::rc::Rc;

use argmin::core::{Error, KV, Problem, Solver, State, TerminationReason};
use nalgebra::{DMatrix, DVector};

use crate::decomposition::{dot, scaled_norm};
use crate::drive::{PlainIterate, begin, drive};
use crate::ledger::{Evaluation, Ledger};
use crate::options::Options;
use crate::termination::Termination;

/// Sufficient decrease: a trial's sum of squares lies this part of the slope below the start's.
const DECREASE: f64 = 1e-4;
/// Trials of one line search.
const TRIALS: u32 = 40;
/// A rise of the sum of squares that is rounding noise, relative.
const NOISE: f64 = 1e-14;
/// The part of the residuals that no single parameter can remove any more.
const FLAT: f64 = 1e-13;

/// How a direction is made from gradients.
enum Rule {
    /// Against the gradient.
    Steepest,
    /// Polak and Ribière's conjugate gradients, restarted where β would be negative.
    Conjugate { last: Option<Last> },
    /// The whole inverse Hessian.
    Bfgs { inverse: Option<DMatrix<f64>> },
    /// The inverse Hessian by the last pairs of steps and gradient differences.
    LimitedBfgs { pairs: Vec<Pair> },
}

/// The last direction of conjugate gradients.
struct Last {
    gradient: Vec<f64>,
    scaled: Vec<f64>,
    direction: Vec<f64>,
}

/// A step, what it did to the gradient, and one over their product.
struct Pair {
    step: Vec<f64>,
    change: Vec<f64>,
    inverse_product: f64,
}

/// Pairs that L-BFGS keeps.
const MEMORY: usize = 20;

fn along(x: &[f64], by: f64, direction: &[f64]) -> Vec<f64> {
    x.iter().zip(direction).map(|(x, p)| x + by * p).collect()
}

fn times(metric: &[f64], v: &[f64]) -> Vec<f64> {
    metric.iter().zip(v).map(|(m, v)| m * v).collect()
}

impl Rule {
    /// The direction at a point with this gradient; `metric` is the diagonal that stands for the inverse Hessian where
    /// nothing better is known.
    fn direction(&mut self, gradient: &[f64], metric: &[f64]) -> Vec<f64> {
        let scaled = times(metric, gradient);
        match self {
            Rule::Steepest => scaled.iter().map(|g| -g).collect(),
            Rule::Conjugate { last } => {
                let beta = last.as_ref().map_or(0.0, |last| {
                    let fall = dot(&last.gradient, &last.scaled);
                    ((dot(gradient, &scaled) - dot(&last.gradient, &scaled)) / fall).max(0.0)
                });
                let ahead = last.take().map_or_else(|| vec![0.0; gradient.len()], |last| last.direction);
                let direction: Vec<f64> = scaled.iter().zip(&ahead).map(|(g, p)| beta * p - g).collect();
                let (gradient, direction_kept) = (gradient.to_vec(), direction.clone());
                *last = Some(Last { gradient, scaled, direction: direction_kept });
                direction
            }
            Rule::Bfgs { inverse } => match inverse {
                Some(inverse) => (&*inverse * -DVector::from_column_slice(gradient)).as_slice().to_vec(),
                None => scaled.iter().map(|g| -g).collect(),
            },
            Rule::LimitedBfgs { pairs } => {
                let mut q = gradient.to_vec();
                let mut shares = Vec::with_capacity(pairs.len());
                for pair in pairs.iter().rev() {
                    let share = pair.inverse_product * dot(&pair.step, &q);
                    q = along(&q, -share, &pair.change);
                    shares.push(share);
                }
                let size = pairs.last().map_or(1.0, |pair| {
                    1.0 / (pair.inverse_product * dot(&pair.change, &times(metric, &pair.change)))
                });
                let mut r: Vec<f64> = times(metric, &q).iter().map(|q| size * q).collect();
                for (pair, share) in pairs.iter().zip(shares.iter().rev()) {
                    let back = pair.inverse_product * dot(&pair.change, &r);
                    r = along(&r, share - back, &pair.step);
                }
                r.iter().map(|r| -r).collect()
            }
        }
    }

    /// Learns from a step that was taken.
    fn learn(&mut self, step: Vec<f64>, change: Vec<f64>, metric: &[f64]) {
        let product = dot(&step, &change);
        // no curvature, no lesson: an inverse Hessian must stay positive
        let sizes = dot(&step, &step).sqrt() * dot(&change, &change).sqrt();
        if product.is_nan() || product <= f64::EPSILON * sizes {
            return;
        }
        match self {
            Rule::Steepest | Rule::Conjugate { .. } => {}
            Rule::Bfgs { inverse } => {
                let y = DVector::from_column_slice(&change);
                let mut h = inverse.take().unwrap_or_else(|| {
                    let size = product / dot(&change, &times(metric, &change));
                    DMatrix::from_diagonal(&DVector::from_column_slice(metric)) * size
                });
                let s = DVector::from_column_slice(&step);
                let hy = &h * &y;
                let bend = (1.0 + y.dot(&hy) / product) / product;
                for i in 0..h.nrows() {
                    for j in 0..h.ncols() {
                        h[(i, j)] += bend * s[i] * s[j] - (hy[i] * s[j] + s[i] * hy[j]) / product;
                    }
                }
                *inverse = Some(h);
            }
            Rule::LimitedBfgs { pairs } => {
                if pairs.len() == MEMORY {
                    pairs.remove(0);
                }
                pairs.push(Pair { step, change, inverse_product: 1.0 / product });
            }
        }
    }

    fn forget(&mut self) {
        match self {
            Rule::Steepest => {}
            Rule::Conjugate { last } => *last = None,
            Rule::Bfgs { inverse } => *inverse = None,
            Rule::LimitedBfgs { pairs } => pairs.clear(),
        }
    }

    /// Whether anything was learnt that could be forgotten.
    fn knows(&self) -> bool {
        match self {
            Rule::Steepest => false,
            Rule::Conjugate { last } => last.is_some(),
            Rule::Bfgs { inverse } => inverse.is_some(),
            Rule::LimitedBfgs { pairs } => !pairs.is_empty(),
        }
    }

    /// Whether a step of 1 is the natural first trial.
    fn has_length(&self) -> bool {
        matches!(self, Rule::Bfgs { .. } | Rule::LimitedBfgs { .. }) && self.knows()
    }
}

/// A point on the line.
pub(crate) struct Trial {
    pub at: f64,
    pub evaluation: Rc<Evaluation>,
    /// The slope of the sum of squares along the line, and its gradient.
    pub slope: f64,
    pub gradient: Vec<f64>,
}

/// A line search for the strong Wolfe conditions (sufficient decrease 1e-4, slope at most `curvature` of the first), by
/// safeguarded cubic interpolation. Trials that are not finite, or have no finite derivatives, are too
/// far. Where the sum of squares is flat to rounding,
/// the slope alone decides (Hager & Zhang's approximate Wolfe conditions). `None` where no trial falls.
pub(crate) fn search(
    ledger: &Ledger<'_>,
    from: &Trial,
    direction: &[f64],
    first: f64,
    curvature: f64,
) -> Result<Option<Trial>, Error> {
    let x = &from.evaluation.x;
    let f0 = from.evaluation.sum_of_squares;
    let mut low: Option<Trial> = None;
    let mut high: Option<(f64, Option<(f64, f64)>)> = None;
    let mut at = first;
    for _ in 0..TRIALS {
        let (low_at, low_f, low_slope) = match &low {
            Some(low) => (low.at, low.evaluation.sum_of_squares, low.slope),
            None => (0.0, f0, from.slope),
        };
        let point = along(x, at, direction);
        if point == *x {
            break;
        }
        let evaluation = match ledger.trial(&point)? {
            Some(trial) if trial.sum_of_squares > f0 || trial.is_zero() || ledger.can_go_on(&point)? => trial,
            _ => {
                high = Some((at, None));
                at = low_at + 0.1 * (at - low_at);
                continue;
            }
        };
        if evaluation.is_zero() {
            return Ok(Some(Trial { at, evaluation, slope: 0.0, gradient: vec![0.0; x.len()] }));
        }
        let f = evaluation.sum_of_squares;
        let noise = f <= f0 * (1.0 + NOISE);
        let falls = f <= f0 + DECREASE * at * from.slope;
        if !(falls && (f < low_f || low.is_none())) && !noise {
            high = Some((at, None));
            // the parabola through low, its slope, and this value
            let span = at - low_at;
            let bottom = -low_slope * span * span / (2.0 * (f - low_f - low_slope * span));
            let inside = if bottom.is_finite() { bottom.clamp(0.1 * span, 0.5 * span) } else { 0.5 * span };
            at = low_at + inside;
            continue;
        }
        let gradient = ledger.sum_gradient(&point)?;
        let slope = dot(&gradient, direction);
        let flat = slope.abs() <= curvature * from.slope.abs();
        // within noise the slopes tell a fall from a rise
        let falls = falls || slope <= (2.0 * DECREASE - 1.0) * from.slope;
        let trial = Trial { at, evaluation, slope, gradient };
        if falls && flat {
            return Ok(Some(trial));
        }
        if slope >= 0.0 || !falls {
            let bottom = cubic(low_at, low_f, low_slope, at, f, slope);
            high = Some((at, Some((f, slope))));
            let span = at - low_at;
            at = bottom.clamp(low_at + 0.1 * span, low_at + 0.9 * span);
            // low may be the better one already
            if falls && f < low_f && low.is_none() && span.abs() <= f64::EPSILON * at.abs() {
                return Ok(Some(trial));
            }
            continue;
        }
        let next = match &high {
            None => {
                let bottom = cubic(low_at, low_f, low_slope, at, f, slope);
                bottom.clamp(at + (at - low_at), at + 9.0 * (at - low_at))
            }
            Some((end, Some((high_f, high_slope)))) => {
                let bottom = cubic(at, f, slope, *end, *high_f, *high_slope);
                bottom.clamp(at + 0.1 * (end - at), at + 0.9 * (end - at))
            }
            Some((end, None)) => at + 0.5 * (end - at),
        };
        low = Some(trial);
        at = if next.is_finite() { next } else { break };
    }
    Ok(low)
}

/// Where the cubic with these values and slopes at `a` and `b` has its minimum; NaN-free, beyond `b` if it falls there.
fn cubic(a: f64, fa: f64, ga: f64, b: f64, fb: f64, gb: f64) -> f64 {
    let d1 = ga + gb - 3.0 * (fa - fb) / (a - b);
    let square = d1 * d1 - ga * gb;
    let d2 = if square > 0.0 { square.sqrt().copysign(b - a) } else { 0.0 };
    let bottom = b - (b - a) * ((gb + d2 - d1) / (gb - ga + 2.0 * d2));
    if bottom.is_finite() { bottom } else { b + (b - a) }
}

/// Descent along lines, in parameters that are scaled by the curvature that the Jacobian's columns show.
///
/// The sum of squares has the gradient `2 Jᵀ r`; the diagonal of `(2 Jᵀ J)⁻¹` at the current point stands for the inverse
/// Hessian until a rule knows better, so that the units of the parameters do not matter. The first step moves no farther
/// than `Options::first_step` times the start's scaled length. Where a line search finds nothing, what was learnt is forgotten
/// and the search begins anew; where that finds nothing either, the run ends.
///
/// References: Nocedal & Wright, Numerical Optimization, 2nd ed. (2006), algorithms 3.5, 5.4 (Polak–Ribière+), 6.1 and 7.4;
/// W. W. Hager and H. Zhang, SIAM J. Optim. 16 (2005) 170–192.
struct Descent {
    name: &'static str,
    rule: Rule,
    /// The slope, relative to the first one, that ends a line search.
    curvature: f64,
    first_step: f64,
    here: Option<Trial>,
    /// The last line search's step and slope.
    last: Option<(f64, f64)>,
}

/// The diagonal of `(2 JᵀJ)⁻¹` at `x`; a column of zeros has no curvature and stays where it is.
fn metric(ledger: &Ledger<'_>, x: &[f64]) -> Result<Vec<f64>, Error> {
    let squares = ledger.derivatives(x)?.column_sums(|_, _, d| d * d);
    let inverse = |s: f64| if s > 0.0 && (0.5 / s).is_finite() { 0.5 / s } else { 0.0 };
    Ok(squares.into_iter().map(inverse).collect())
}

impl Descent {
    /// One line search; the point to go on from, or why to stop.
    fn advance(&mut self, ledger: &Ledger<'_>, x: &[f64]) -> Result<Result<Trial, Termination>, Error> {
        let mut here = match self.here.take() {
            Some(here) => here,
            None => Trial {
                at: 0.0,
                evaluation: ledger.evaluate(x)?,
                slope: 0.0,
                gradient: ledger.sum_gradient(x)?,
            },
        };
        let metric = metric(ledger, x)?;
        // |Jⱼᵀ r| / (‖Jⱼ‖ ‖r‖) of the parameter that could do most
        let length = here.evaluation.sum_of_squares.sqrt();
        let could = here.gradient.iter().zip(&metric).map(|(g, m)| (g * (m / 2.0).sqrt()).abs());
        if could.fold(0.0, f64::max) <= FLAT * length {
            return Ok(Err(Termination::GradientNegligible));
        }
        loop {
            let knew = self.rule.knows();
            let has_length = self.rule.has_length();
            let mut direction = self.rule.direction(&here.gradient, &metric);
            here.slope = dot(&here.gradient, &direction);
            if here.slope.is_nan() || here.slope >= 0.0 {
                self.rule.forget();
                direction = self.rule.direction(&here.gradient, &metric);
                here.slope = dot(&here.gradient, &direction);
            }
            let first = match self.last {
                Some(_) if has_length => 1.0,
                Some((at, slope)) => at * (slope / here.slope).clamp(0.01, 100.0),
                None => {
                    let scales = ledger.book().scales.clone();
                    let (step, reach) = (scaled_norm(&scales, &direction), scaled_norm(&scales, x));
                    let most = self.first_step * if reach > 0.0 { reach } else { 1.0 };
                    (most / step).min(1.0)
                }
            };
            if let Some(next) = search(ledger, &here, &direction, first, self.curvature)? {
                let step: Vec<f64> = next.evaluation.x.iter().zip(x).map(|(a, b)| a - b).collect();
                let change: Vec<f64> = next.gradient.iter().zip(&here.gradient).map(|(a, b)| a - b).collect();
                self.last = Some((next.at, here.slope));
                self.rule.learn(step, change, &metric);
                return Ok(Ok(next));
            }
            self.last = None;
            if !knew {
                return Ok(Err(Termination::LineSearchFailed));
            }
            self.rule.forget();
        }
    }
}

impl<'a> Solver<&'a Ledger<'a>, PlainIterate> for Descent {
    fn name(&self) -> &str {
        self.name
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
        problem.problem("residuals", |ledger| {
            let next = match self.advance(ledger, &x)? {
                Ok(next) => next,
                Err(conclusion) => {
                    ledger.conclude(conclusion);
                    return Ok((state.terminate_with(TerminationReason::SolverConverged), None));
                }
            };
            let state = state.param(next.evaluation.x.clone()).cost(next.evaluation.sum_of_squares);
            if next.evaluation.is_zero() {
                ledger.conclude(Termination::ZeroResidual);
                return Ok((state.terminate_with(TerminationReason::SolverConverged), None));
            }
            // near the minimum a point may be as low to rounding and yet nearer
            ledger.prefer(&next.evaluation, 0.0);
            self.here = Some(next);
            Ok((state, None))
        })
    }
}

fn descend(
    ledger: &Ledger<'_>,
    start: &[f64],
    iterations: u64,
    options: &Options,
    (name, rule, curvature): (&'static str, Rule, f64),
) -> Termination {
    let first_step = options.first_step;
    let solver = Descent { name, rule, curvature, first_step, here: None, last: None };
    drive(ledger, solver, start, iterations, |cost| cost)
}

macro_rules! runs {
    ($($run:ident $name:literal $rule:expr, $curvature:literal;)+) => {$(
        pub(crate) fn $run(ledger: &Ledger<'_>, start: &[f64], iterations: u64, options: &Options) -> Termination {
            descend(ledger, start, iterations, options, ($name, $rule, $curvature))
        }
    )+};
}
runs! {
    steepest_descent "steepest-descent" Rule::Steepest, 0.1;
    conjugate_gradient "nonlinear-cg" Rule::Conjugate { last: None }, 0.1;
    bfgs "bfgs" Rule::Bfgs { inverse: None }, 0.9;
    l_bfgs "l-bfgs" Rule::LimitedBfgs { pairs: Vec::new() }, 0.9;
}
