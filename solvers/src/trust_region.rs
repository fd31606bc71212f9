//! Trust regions around the linear model: Levenberg–Marquardt and the dogleg, finished by Gauss–Newton.

use std::rc::Rc;

use argmin::core::{Error, KV, Problem, Solver, State, TerminationReason};
use ndarray::{Array1, Array2, ArrayView1};

use crate::bounds::{held, inside, without};
use crate::decomposition::{Decomposition, rounding_of_residuals, scaled_norm};
use crate::drive::{PlainIterate, begin, drive};
use crate::ledger::{Evaluation, Ledger};
use crate::options::Options;
use crate::settling::Settling;
use crate::termination::Termination;

/// A trial is accepted if it brings this part of the reduction that the linear model predicts.
const ACCEPT: f64 = 1e-4;
/// Descent hands over to the final phase where an undamped step could remove less than this part of the residuals.
const OFFSET: f64 = 1e-7;

/// How a step within the trust region is chosen.
#[derive(Clone, Copy)]
enum Path {
    /// The step that makes the linear model smallest.
    Damped,
    /// Powell's dogleg, which costs less and is as good near the minimum.
    Dogleg,
}

/// Levenberg–Marquardt with column scaling and a small first step, then undamped Gauss–Newton. The dogleg differs in the
/// choice of the step only.
///
/// Needs residuals and Jacobian: one residual evaluation per iteration, one Jacobian per accepted point.
///
/// *Descent.* A step `p` minimises `‖r + J p‖` subject to `‖D p‖ ≤ Δ`, where `D` holds the largest norms that the
/// columns of `J` have had, so that the units of the parameters do not matter. The trial is accepted if the sum of
/// squares falls by at least 1e-4 of the predicted fall. `Δ` shrinks below a quarter of it, and becomes twice the
/// step's length above three quarters. A trial that is not finite is a rejected trial, and so is one where a derivative is not. `Δ` begins at
/// `‖D x‖` times `Options::first_step`: a large first step is what throws parameters onto plateaus. Measured on the
/// 54 starts of NIST StRD with 13 values: 0.1, 1 and 10 reach every optimum; 0.01, 0.02, 0.05, 0.2, 0.5, 2, 5 and 20 lose
/// MGH10 start 1, and 20, 50 and 100 lose BoxBOD start 1. No loss is reported as a success.
///
/// *Finish.* The sum of squares is flat to rounding while the parameters have only half of their digits. So where an
/// undamped step could remove less than 1e-7 of the residual vector, or `Δ` has collapsed, undamped steps are taken that
/// may raise the sum of squares by at most 1e-9 relative (or by what rounding the parameters can do to it), until
/// they stop shrinking. Steps that swing to and fro, as they do where residuals are large, are halved.
///
/// *Bounds.* A parameter at a bound that the gradient pushes it beyond is held: its column counts as 0. Other steps end at the
/// bounds, and what is promised of them is computed anew.
///
/// *Ends.* `StepAtRounding` when the finish comes to rest; `LossStoppedChanging` when it is refused a step; both are
/// claims that `solve` checks. `ZeroResidual`. Otherwise a limit, or a derivative that is not finite.
///
/// References: J. J. Moré, The Levenberg–Marquardt algorithm: implementation and theory, LNM 630 (1978) 105–116;
/// Nocedal & Wright, Numerical Optimization, 2nd ed. (2006), sections 4.1 and 10.3.
struct TrustRegion {
    path: Path,
    options: Options,
    radius: Option<f64>,
    here: Option<Here>,
    /// Set once the final phase has begun.
    finish: Option<Finish>,
}

/// The least part of an undamped step that the final phase takes.
const RELAXED: f64 = 1.0 / 64.0;

/// The final phase.
struct Finish {
    settling: Settling,
    /// The part of each undamped step that is taken.
    relaxation: f64,
    /// The last undamped step, scaled.
    last: Vec<f64>,
}

impl Finish {
    fn new() -> Self {
        Self { settling: Settling::new(), relaxation: 1.0, last: Vec::new() }
    }

    /// Halves the part; false if it is as small as can be.
    fn relax(&mut self) -> bool {
        let possible = self.relaxation > RELAXED;
        self.relaxation *= if possible { 0.5 } else { 1.0 };
        possible
    }

    /// Where a step turns back by more than half of the last one, the parts taken are too large: large residuals bend
    /// the sum of squares more than its linear model knows.
    fn relax_after(&mut self, step: &[f64]) {
        let along: f64 = step.iter().zip(&self.last).map(|(p, q)| p * q).sum();
        let before: f64 = self.last.iter().map(|q| q * q).sum();
        if along < -0.5 * before {
            self.relax();
        }
        self.last = step.to_vec();
    }
}

/// The current point with its linear model.
struct Here {
    evaluation: Rc<Evaluation>,
    /// With the columns of parameters that a bound holds set to 0, so that no step moves these.
    jacobian: Rc<Array2<f64>>,
    decomposition: Decomposition,
    projected: Vec<f64>,
    scales: Vec<f64>,
    /// What rounding does to the residual vector.
    rounding: f64,
}

impl Here {
    fn new(
        ledger: &Ledger<'_>,
        evaluation: Rc<Evaluation>,
        options: &Options,
    ) -> Result<Option<Self>, Error> {
        let jacobian = ledger.jacobian(&evaluation.x)?;
        let held = held(&jacobian, &evaluation, options);
        let jacobian = without(jacobian, &held);
        let scales = ledger.book().scales.clone();
        Ok(Decomposition::new(jacobian.view(), &scales).map(|decomposition| Self {
            projected: decomposition.project(&evaluation.residuals),
            rounding: rounding_of_residuals(jacobian.view(), &evaluation.x, &evaluation.residuals),
            decomposition,
            jacobian,
            evaluation,
            scales,
        }))
    }

    /// Where a step leads within the bounds; with it, if a bound shortens the step, what the linear model promises of the rest.
    fn moved(&self, step: &[f64], options: &Options) -> (Vec<f64>, Option<f64>) {
        let x = &self.evaluation.x;
        let free: Vec<f64> = x.iter().zip(step).map(|(x, p)| x + p).collect();
        let inside = inside(&options.bounds, free.clone());
        if inside == free {
            return (inside, None);
        }
        let rest = Array1::from_iter(inside.iter().zip(x).map(|(a, b)| a - b));
        let residuals = ArrayView1::from(&self.evaluation.residuals);
        let after = &self.jacobian.dot(&rest) + &residuals;
        let promised = residuals.iter().zip(&after).map(|(r, a)| (r - a) * (r + a)).sum();
        (inside, Some(promised))
    }

    /// Whether the linear model can improve next to nothing.
    fn is_flat(&self) -> bool {
        let removable = self.projected.iter().map(|c| c * c).sum::<f64>().sqrt();
        removable <= OFFSET * self.evaluation.sum_of_squares.sqrt() + self.rounding
    }
}

impl TrustRegion {
    /// One trial; the point to go on from, or why to stop.
    fn advance(
        &mut self,
        ledger: &Ledger<'_>,
        here: &Here,
    ) -> Result<Result<Option<Rc<Evaluation>>, Termination>, Error> {
        let x = &here.evaluation.x;
        let length = scaled_norm(&here.scales, x);
        let radius =
            *self.radius.get_or_insert(self.options.first_step * if length > 0.0 { length } else { 1.0 });
        if self.finish.is_none() && (here.is_flat() || radius <= f64::EPSILON * length) {
            self.finish = Some(Finish::new());
        }

        if let Some(finish) = &mut self.finish {
            let step = here.decomposition.step(&here.projected, 0.0);
            let scaled: Vec<f64> = here.scales.iter().zip(&step).map(|(d, p)| d * p).collect();
            finish.relax_after(&scaled);
            let part: Vec<f64> = step.iter().map(|p| finish.relaxation * p).collect();
            let (point, shortened) = here.moved(&part, &self.options);
            let trial = match ledger.trial(&point)? {
                Some(trial) if trial.is_zero() || ledger.can_go_on(&point)? => Some(trial),
                _ => None,
            };
            let Some(trial) = trial.filter(|trial| ledger.prefer(trial, here.rounding)) else {
                return Ok(if finish.relax() { Ok(None) } else { Err(Termination::LossStoppedChanging) });
            };
            let taken = match shortened {
                None => step,
                Some(_) => point.iter().zip(x).map(|(a, b)| a - b).collect(),
            };
            let at_rest = finish.settling.observe(&here.scales, x, &taken, here.rounding);
            return Ok(if at_rest { Err(Termination::StepAtRounding) } else { Ok(Some(trial)) });
        }

        let (step, predicted) = match self.path {
            Path::Damped => {
                let damping = here.decomposition.damping_for(&here.projected, radius);
                let promised = here.decomposition.predicted_reduction(&here.projected, damping);
                (here.decomposition.step(&here.projected, damping), promised)
            }
            Path::Dogleg => here.decomposition.dogleg(&here.projected, radius),
        };
        let (point, shortened) = here.moved(&step, &self.options);
        let step: Vec<f64> = point.iter().zip(x).map(|(a, b)| a - b).collect();
        let predicted = shortened.unwrap_or(predicted);
        let taken = scaled_norm(&here.scales, &step);
        let Some(trial) = ledger.trial(&point)? else {
            self.radius = Some(0.25 * taken);
            return Ok(Ok(None));
        };
        let before = here.evaluation.sum_of_squares;
        // a bound may turn a step uphill; a shorter one follows the gradient
        let ratio = if predicted > 0.0 { (before - trial.sum_of_squares) / predicted } else { 0.0 };
        if ratio.is_nan() || ratio < 0.25 {
            self.radius = Some(if trial.sum_of_squares > 100.0 * before { 0.1 } else { 0.25 } * taken);
        } else if ratio > 0.75 || (taken < 0.9 * radius && shortened.is_none()) {
            // a step that ends inside says how far it is to go
            self.radius = Some(2.0 * taken);
        }
        if ratio > ACCEPT && !trial.is_zero() && !ledger.can_go_on(&point)? {
            // the edge of where the model has derivatives
            self.radius = Some(0.25 * taken);
            return Ok(Ok(None));
        }
        Ok(Ok((ratio > ACCEPT).then_some(trial)))
    }
}

impl<'a> Solver<&'a Ledger<'a>, PlainIterate> for TrustRegion {
    fn name(&self) -> &str {
        match self.path {
            Path::Damped => "levenberg-marquardt",
            Path::Dogleg => "dogleg",
        }
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
                    Here::new(ledger, at, &self.options)?
                }
            };
            let Some(here) = here else {
                ledger.conclude(Termination::SingularMatrix);
                return Ok((
                    state.terminate_with(TerminationReason::SolverExit("no decomposition".into())),
                    None,
                ));
            };
            match self.advance(ledger, &here)? {
                Err(conclusion) => {
                    ledger.conclude(conclusion);
                    Ok((state.terminate_with(TerminationReason::SolverConverged), None))
                }
                Ok(None) => {
                    self.here = Some(here);
                    Ok((state, None))
                }
                Ok(Some(next)) => {
                    let state = state.param(next.x.clone()).cost(next.sum_of_squares);
                    if next.is_zero() {
                        ledger.conclude(Termination::ZeroResidual);
                        return Ok((state.terminate_with(TerminationReason::SolverConverged), None));
                    }
                    Ok((state, None))
                }
            }
        })
    }
}

fn run(path: Path, ledger: &Ledger<'_>, start: &[f64], iterations: u64, options: &Options) -> Termination {
    let solver = TrustRegion { path, options: options.clone(), radius: None, here: None, finish: None };
    drive(ledger, solver, start, iterations, |cost| cost)
}

/// Runs Levenberg–Marquardt.
pub(crate) fn damped(ledger: &Ledger<'_>, start: &[f64], iterations: u64, options: &Options) -> Termination {
    run(Path::Damped, ledger, start, iterations, options)
}

/// Runs the dogleg.
pub(crate) fn dogleg(ledger: &Ledger<'_>, start: &[f64], iterations: u64, options: &Options) -> Termination {
    run(Path::Dogleg, ledger, start, iterations, options)
}
