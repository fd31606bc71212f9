//! Trust regions: Levenberg–Marquardt, doglegs, variable projection and Newton's method, finished by undamped steps.

use std::rc::Rc;

use argmin::core::Error;

use crate::decomposition::{Decomposition, scaled_norm};
use crate::drive::drive;
use crate::iterated::{Iterated, Model};
use crate::ledger::{Evaluation, Ledger};
use crate::model::{Advance, Finish, Here};
use crate::options::Options;
use crate::path::{Path, only};
use crate::termination::Termination;

/// A trial is accepted if it brings this part of the reduction that the linear model predicts.
const ACCEPT: f64 = 1e-4;

/// Levenberg–Marquardt with column scaling and a small first step, then undamped steps. The others differ in
/// the choice of the step only, see [`Path`].
///
/// Needs residuals and Jacobian: one residual evaluation per iteration, one Jacobian per accepted point, and for the finish a Hessian if
/// the problem has one. Variable projection
/// takes two of each: one to solve for the linear parameters, and one where they are then. Geodesic acceleration takes
/// one second derivative along a line an iteration, Newton's method a Hessian an accepted point or, by conjugate
/// gradients, its products with at most twice as many directions as there are parameters.
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
/// they stop shrinking. Steps that swing to and fro are halved. With at most 32 parameters the finish begins below 1e-4 already, with
/// Newton's steps from the second derivatives where it began, which hardly change any more; they are evaluated anew (at most five
/// times) where steps stop shrinking before all that is left is rounding. A finish that began too early goes back to descent. Where the exact
/// Hessian is at hand the steps are its own, and the finish does not begin where it has a negative eigenvalue.
///
/// *Bounds.* A parameter at a bound that the gradient pushes it beyond is held: its column counts as 0. Other steps end at the
/// bounds, and what is promised of them is computed anew.
///
/// *Ends.* `StepAtRounding` when the finish comes to rest; `LossStoppedChanging` when it is refused a step; both are
/// claims that `solve` checks. `ZeroResidual`. Otherwise a limit, or a derivative that is not finite.
///
/// References: J. J. Moré, The Levenberg–Marquardt algorithm: implementation and theory, LNM 630 (1978) 105–116;
/// Nocedal & Wright, Numerical Optimization, 2nd ed. (2006), sections 4.1, 7.1 and 10.3; M. K. Transtrum and J. P. Sethna,
/// arXiv:1201.5885 (2012); L. Kaufman, BIT 15 (1975) 49–57; J. J. Moré and D. C. Sorensen, SIAM J. Sci. Stat. Comput. 4 (1983)
/// 553–572; T. Steihaug, SIAM J. Numer. Anal. 20 (1983) 626–637.
struct TrustRegion {
    path: Path,
    options: Options,
    radius: Option<f64>,
    /// Set once the final phase has begun.
    finish: Option<Finish>,
    /// Whether it has begun too early once.
    turned_back: bool,
}

impl TrustRegion {
    /// The model at a point, as the path needs it; `None` where the Jacobian has no decomposition.
    fn model(&self, ledger: &Ledger<'_>, at: Rc<Evaluation>) -> Result<Option<Here>, Error> {
        let Some(here) = Here::new(ledger, at, &self.options)? else { return Ok(None) };
        Ok(match self.path {
            Path::Exact => Some(here.bent(ledger)?),
            _ if self.finish.is_none() => self.path.reduce(here),
            _ => Some(here),
        })
    }

    /// The trial with what the path solves for at each trial. `None` where there is no such point.
    fn settled(&self, ledger: &Ledger<'_>, at: Rc<Evaluation>) -> Result<Option<Rc<Evaluation>>, Error> {
        let Path::Projected(linear) = &self.path else { return Ok(Some(at)) };
        if at.is_zero() {
            return Ok(Some(at));
        }
        if !ledger.can_go_on(&at.x)? {
            return Ok(None);
        }
        let columns = only(&*ledger.jacobian(&at.x)?, linear);
        let Some(own) = Decomposition::new(columns.view(), &ledger.book().scales) else { return Ok(None) };
        let step = own.step(&own.project(&at.residuals), 0.0);
        let solved = ledger.trial(&at.x.iter().zip(&step).map(|(x, p)| x + p).collect::<Vec<_>>())?;
        // rounding may leave it higher
        Ok(solved.filter(|solved| solved.sum_of_squares <= at.sum_of_squares).or(Some(at)))
    }
}

impl Model for TrustRegion {
    fn name(&self) -> &str {
        "trust-region"
    }

    fn at(&self, ledger: &Ledger<'_>, at: Rc<Evaluation>) -> Result<Option<Here>, Error> {
        let settled = if self.radius.is_none() { self.settled(ledger, at.clone())? } else { None };
        self.model(ledger, settled.unwrap_or(at))
    }

    fn advance(&mut self, ledger: &Ledger<'_>, here: &Here) -> Result<Advance, Error> {
        let x = &here.evaluation.x;
        let length = scaled_norm(&here.scales, x);
        let radius =
            *self.radius.get_or_insert(self.options.first_step * if length > 0.0 { length } else { 1.0 });
        let near = !self.turned_back && here.is_near();
        if self.finish.is_none() && (near || here.is_flat() || radius <= f64::EPSILON * length) {
            self.finish = Some(Finish::bent());
            if matches!(self.path, Path::Projected(_)) {
                // the same point anew, with the whole linear model
                return Ok(Ok(Some(Rc::clone(&here.evaluation))));
            }
        }
        if let Some(finish) = &mut self.finish {
            let advance = finish.advance(ledger, here, &self.options)?;
            if let Err(Termination::LossStoppedChanging) = advance
                && !self.turned_back
                && !here.is_flat()
            {
                // it began too early: the same point anew, with the model for descent
                (self.finish, self.turned_back) = (None, true);
                return Ok(Ok(Some(Rc::clone(&here.evaluation))));
            }
            return Ok(advance);
        }
        let (step, predicted) = self.path.step(ledger, here, radius)?;
        let (point, shortened) = here.moved(&step, &self.options);
        let step: Vec<f64> = point.iter().zip(x).map(|(a, b)| a - b).collect();
        let predicted = shortened.unwrap_or(predicted);
        let taken = scaled_norm(&here.scales, &step);
        let trial = match ledger.trial(&point)? {
            Some(trial) => self.settled(ledger, trial)?,
            None => None,
        };
        let Some(trial) = trial else {
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
        if ratio > ACCEPT && !trial.is_zero() && !ledger.can_go_on(&trial.x)? {
            // the edge of where the model has derivatives
            self.radius = Some(0.25 * taken);
            return Ok(Ok(None));
        }
        Ok(Ok((ratio > ACCEPT).then_some(trial)))
    }

    fn radius(&self) -> Option<f64> {
        self.radius
    }
}

macro_rules! runs {
    ($($(#[$doc:meta])* $run:ident $path:expr;)+) => {$(
        $(#[$doc])*
        pub(crate) fn $run(ledger: &Ledger<'_>, start: &[f64], iterations: u64, options: &Options) -> Termination {
            let options = options.clone();
            let path = $path(ledger);
            let solver = Iterated::new(TrustRegion { path, options, radius: None, finish: None, turned_back: false });
            drive(ledger, solver, start, iterations, |cost| cost)
        }
    )+};
}
runs! {
    /// Runs Levenberg–Marquardt.
    damped |_| Path::Damped;
    /// Runs Levenberg–Marquardt with geodesic acceleration.
    geodesic |_| Path::Geodesic;
    /// Runs the dogleg.
    dogleg |_| Path::Dogleg;
    /// Runs the subspace dogleg.
    subspace |_| Path::Subspace;
    /// Runs variable projection.
    projected |ledger: &Ledger<'_>| Path::Projected(ledger.linear_parameters());
    /// Runs Newton's method in a trust region.
    exact |_| Path::Exact;
    /// Runs Newton's method in a trust region by conjugate gradients.
    conjugate |_| Path::Conjugate;
}
