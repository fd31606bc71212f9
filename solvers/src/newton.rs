//! Full steps with a line search: Gauss–Newton by QR, and Newton's method.

use std::rc::Rc;

use argmin::core::Error;

use crate::decomposition::{dot, scaled_norm};
use crate::descent::{Trial, search};
use crate::drive::drive;
use crate::iterated::{Iterated, Model};
use crate::ledger::{Evaluation, Ledger};
use crate::model::{Advance, Finish, Here};
use crate::options::Options;
use crate::termination::Termination;

/// The slope, relative to the first one, that ends a line search.
const CURVATURE: f64 = 0.9;

/// Which model's lowest point a step aims at.
#[derive(Clone, Copy)]
enum Aim {
    /// The linear model's: Gauss and Newton's step.
    Linear,
    /// The exact quadratic model's, its negative eigenvalues turned round: a modified Newton step.
    Quadratic,
}

/// Full steps, shortened by a line search for the strong Wolfe conditions.
///
/// Needs residuals and Jacobian, and for Newton's steps a Hessian an iteration. A step is no longer than `‖D x‖` times
/// `Options::first_step`, `D` being the largest norms that the columns of `J` have had. Gauss–Newton's comes from a QR factorisation
/// and the singular values of `R`, and is the shortest one where the rank is short. Newton's takes the eigenvalues of the
/// scaled Hessian by their size, so that it leads down everywhere and away from saddles. Where an undamped step could remove less than
/// 1e-7 of the residual vector, or the line search finds nothing, the final phase of the trust-region solvers begins.
///
/// *Ends.* As the trust-region solvers.
///
/// Reference: Nocedal & Wright, Numerical Optimization, 2nd ed. (2006), sections 3.4 and 10.3.
struct Full {
    aim: Aim,
    options: Options,
    finish: Option<Finish>,
}

impl Full {
    /// One line search; `None` where it finds nothing.
    fn line(&self, ledger: &Ledger<'_>, here: &Here) -> Result<Option<Trial>, Error> {
        let direction = match (self.aim, &here.quadratic) {
            (Aim::Quadratic, Some(quadratic)) => here.unscaled(&quadratic.modified()),
            _ => here.undamped(),
        };
        let gradient: Vec<f64> = here.gradient().iter().map(|g| 2.0 * g).collect();
        let slope = dot(&gradient, &direction);
        if slope.is_nan() || slope >= 0.0 {
            return Ok(None);
        }
        let [length, step] = [&here.evaluation.x, &direction].map(|v| scaled_norm(&here.scales, v));
        let most = self.options.first_step * if length > 0.0 { length } else { 1.0 };
        let from = Trial { at: 0.0, evaluation: Rc::clone(&here.evaluation), slope, gradient };
        search(ledger, &from, &direction, (most / step).min(1.0), CURVATURE)
    }
}

impl Model for Full {
    fn name(&self) -> &str {
        "full-steps"
    }

    fn at(&self, ledger: &Ledger<'_>, at: Rc<Evaluation>) -> Result<Option<Here>, Error> {
        let Some(here) = Here::new(ledger, at, &self.options)? else { return Ok(None) };
        Ok(Some(match self.aim {
            Aim::Linear => here,
            Aim::Quadratic => here.bent(ledger)?,
        }))
    }

    fn advance(&mut self, ledger: &Ledger<'_>, here: &Here) -> Result<Advance, Error> {
        if self.finish.is_none()
            && !here.is_flat()
            && let Some(next) = self.line(ledger, here)?
        {
            return Ok(Ok(Some(next.evaluation)));
        }
        self.finish.get_or_insert_with(Finish::linear).advance(ledger, here, &self.options)
    }
}

fn run(aim: Aim, ledger: &Ledger<'_>, start: &[f64], iterations: u64, options: &Options) -> Termination {
    let solver = Iterated::new(Full { aim, options: options.clone(), finish: None });
    drive(ledger, solver, start, iterations, |cost| cost)
}

/// Runs Gauss–Newton by QR.
pub(crate) fn linear(ledger: &Ledger<'_>, start: &[f64], iterations: u64, options: &Options) -> Termination {
    run(Aim::Linear, ledger, start, iterations, options)
}

/// Runs Newton's method.
pub(crate) fn quadratic(
    ledger: &Ledger<'_>,
    start: &[f64],
    iterations: u64,
    options: &Options,
) -> Termination {
    run(Aim::Quadratic, ledger, start, iterations, options)
}
