//! A point with its linear and quadratic models, and the final phase that the solvers of our own share.

use std::rc::Rc;

use argmin::core::Error;
use ndarray::Array2;

use crate::bounds::{held, inside};
use crate::check::EXACT;
use crate::decomposition::{Decomposition, gram, norm};
use crate::jacobian::{Factors, Jacobian};
use crate::ledger::{Evaluation, Interruption, Ledger};
use crate::options::Options;
use crate::quadratic::Quadratic;
use crate::settling::Settling;
use crate::termination::Termination;

/// Descent hands over to the final phase where an undamped step could remove less than this part of the residuals.
const OFFSET: f64 = 1e-7;
/// … and where Newton's steps are to be had, where it could remove less than this part.
const NEAR: f64 = 1e-4;
/// How often the final phase evaluates second derivatives.
const LOOKS: u32 = 5;
/// Rounding level of the residuals and of what a step could remove of them, in units of what rounding does to the residual vector.
const ROUNDING: f64 = 4.0;
/// A least eigenvalue below this part of the largest is a way down, not rounding.
const WAY_DOWN: f64 = 1e-8;
/// The least part of an undamped step that the final phase takes.
const RELAXED: f64 = 1.0 / 64.0;

/// The current point with its linear model.
pub(crate) struct Here {
    pub evaluation: Rc<Evaluation>,
    /// With the columns of parameters that a bound holds set to 0, so that no step moves these.
    pub jacobian: Rc<Jacobian>,
    pub factors: Factors,
    pub projected: Vec<f64>,
    pub scales: Vec<f64>,
    /// The parameters that a bound holds.
    pub held: Vec<usize>,
    /// What rounding does to the residual vector.
    rounding: f64,
    /// The exact second order, where it was asked for and is finite.
    pub quadratic: Option<Quadratic>,
}

impl Here {
    /// The model at a point; `None` where the Jacobian has no decomposition.
    pub fn new(
        ledger: &Ledger<'_>,
        evaluation: Rc<Evaluation>,
        options: &Options,
    ) -> Result<Option<Self>, Interruption> {
        let jacobian = ledger.derivatives(&evaluation.x)?;
        let held = held(&jacobian, &evaluation, options);
        let jacobian = jacobian.without(&held);
        let scales = ledger.book().scales.clone();
        Ok(jacobian.factors(&scales).map(|factors| Self {
            projected: factors.project(&evaluation.residuals),
            rounding: jacobian.rounding_of_residuals(&evaluation.x, &evaluation.residuals),
            factors,
            jacobian,
            evaluation,
            scales,
            held,
            quadratic: None,
        }))
    }

    /// With the exact second order.
    pub fn bent(mut self, ledger: &Ledger<'_>) -> Result<Self, Interruption> {
        if let Some(curvature) = ledger.curvature(&self.evaluation)? {
            self.quadratic = self.quadratic(&(gram(&self.jacobian.dense()) + &*curvature));
        }
        Ok(self)
    }

    /// The model with this Hessian, in scaled parameters, those that a bound holds left alone.
    fn quadratic(&self, hessian: &Array2<f64>) -> Option<Quadratic> {
        let free = |j: usize| !self.held.contains(&j);
        let entry = |(i, j): (usize, usize)| {
            if free(i) && free(j) { hessian[[i, j]] / self.unit(i) / self.unit(j) } else { 0.0 }
        };
        let scaled = Array2::from_shape_fn(hessian.dim(), entry);
        scaled.iter().all(|h| h.is_finite()).then(|| Quadratic::new(scaled, &self.scaled_gradient()))?
    }

    /// The scale of a parameter, 1 where nothing is known of it.
    pub fn unit(&self, j: usize) -> f64 {
        self.scales.get(j).copied().filter(|scale| *scale > 0.0).unwrap_or(1.0)
    }

    /// A step in the parameters from one in scaled parameters.
    pub fn unscaled(&self, step: &[f64]) -> Vec<f64> {
        step.iter().enumerate().map(|(j, z)| z / self.unit(j)).collect()
    }

    /// The Jacobian and its decomposition, where they are dense.
    pub fn dense(&self) -> Option<(&Array2<f64>, &Decomposition)> {
        match (&*self.jacobian, &self.factors) {
            (Jacobian::Dense(jacobian), Factors::Dense(decomposition)) => Some((jacobian, decomposition)),
            _ => None,
        }
    }

    /// `Jᵀ r`, half the gradient of the sum of squares.
    pub fn gradient(&self) -> Vec<f64> {
        self.jacobian.transposed_times(&self.evaluation.residuals)
    }

    /// The same in scaled parameters.
    pub fn scaled_gradient(&self) -> Vec<f64> {
        self.unscaled(&self.gradient())
    }

    /// Where a step leads within the bounds; with it, if a bound shortens the step, what the linear model promises of the rest.
    pub fn moved(&self, step: &[f64], options: &Options) -> (Vec<f64>, Option<f64>) {
        let x = &self.evaluation.x;
        let free: Vec<f64> = x.iter().zip(step).map(|(x, p)| x + p).collect();
        if options.bounds.is_empty() {
            return (free, None);
        }
        let inside = inside(&options.bounds, free.clone());
        if inside == free {
            return (inside, None);
        }
        let rest: Vec<f64> = inside.iter().zip(x).map(|(a, b)| a - b).collect();
        let change = self.jacobian.times(&rest);
        let after = |(r, c): (&f64, &f64)| {
            let after = c + r;
            (r - after) * (r + after)
        };
        let promised = self.evaluation.residuals.iter().zip(&change).map(after).sum();
        (inside, Some(promised))
    }

    /// Whether the models can improve next to nothing.
    pub fn is_flat(&self) -> bool {
        let removable = norm(&self.projected);
        let way_down = self.quadratic.as_ref().is_some_and(|q| q.least() < -WAY_DOWN * q.size());
        !way_down && removable <= OFFSET * self.evaluation.sum_of_squares.sqrt() + self.rounding
    }

    /// Whether an undamped step could remove so little that second derivatives show the rest of the way.
    pub fn is_near(&self) -> bool {
        let removable = norm(&self.projected);
        self.can_bend() && removable <= NEAR * self.evaluation.sum_of_squares.sqrt()
    }

    /// Whether what an undamped step could remove is rounding, in units of what rounding does to the residual vector.
    fn is_at_rounding(&self, units: f64) -> bool {
        norm(&self.projected) <= units * self.rounding
    }

    /// Whether the residuals are no more than rounding.
    fn is_perfect(&self) -> bool {
        self.evaluation.sum_of_squares.sqrt() <= ROUNDING * self.rounding
    }

    /// Whether Newton's step is to be had from the decomposition and second derivatives: these cost the square of the parameters' number.
    fn can_bend(&self) -> bool {
        self.quadratic.is_none() && self.scales.len() <= EXACT && self.dense().is_some()
    }

    /// Newton's step with this sum of second derivatives, where the Hessian is positive definite.
    fn bent_step(&self, curvature: &Array2<f64>) -> Option<Vec<f64>> {
        self.dense()?.1.bent(&self.projected, curvature)
    }

    /// The undamped step: Newton's where the second order is known and convex, else Gauss and Newton's.
    pub fn undamped(&self) -> Vec<f64> {
        match self.quadratic.as_ref().filter(|quadratic| quadratic.is_convex()) {
            Some(quadratic) => self.unscaled(&quadratic.modified()),
            None => self.factors.undamped(&self.projected),
        }
    }
}

/// What one iteration comes to: the point to go on from, `None` for a rejected trial, or why to stop.
pub(crate) type Advance = Result<Option<Rc<Evaluation>>, Termination>;

/// The final phase: undamped steps until rounding alone moves them.
pub(crate) struct Finish {
    settling: Settling,
    /// How often second derivatives may still be evaluated, and whether they are to be at the next step.
    looks: u32,
    look: bool,
    /// The second order where it was last looked at, which hardly changes any more.
    curvature: Option<Rc<Array2<f64>>>,
    /// The part of each undamped step that is taken.
    relaxation: f64,
    /// The last undamped step, scaled.
    last: Vec<f64>,
}

impl Finish {
    /// By Gauss and Newton's steps.
    pub fn linear() -> Self {
        Self {
            settling: Settling::slow(),
            looks: 0,
            look: false,
            curvature: None,
            relaxation: 1.0,
            last: Vec::new(),
        }
    }

    /// By Newton's, where there are second derivatives.
    pub fn bent() -> Self {
        Self { looks: LOOKS, look: true, ..Self::linear() }
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

    /// One undamped step.
    pub fn advance(&mut self, ledger: &Ledger<'_>, here: &Here, options: &Options) -> Result<Advance, Error> {
        let x = &here.evaluation.x;
        // where residuals vanish Gauss and Newton's steps are as good, and may find them exactly zero
        let look = std::mem::take(&mut self.look) && here.can_bend() && !here.is_perfect();
        if look {
            self.looks -= 1;
            self.curvature = ledger.curvature(&here.evaluation)?;
        }
        if self.curvature.is_some() && here.is_at_rounding(1.0) {
            return Ok(Err(Termination::StepAtRounding));
        }
        let bent = self.curvature.as_ref().and_then(|curvature| here.bent_step(curvature));
        if look && bent.is_some() {
            self.settling = Settling::fast();
        }
        let step = bent.unwrap_or_else(|| here.undamped());
        let scaled: Vec<f64> = here.scales.iter().zip(&step).map(|(d, p)| d * p).collect();
        self.relax_after(&scaled);
        let part: Vec<f64> = step.iter().map(|p| self.relaxation * p).collect();
        let (point, shortened) = here.moved(&part, options);
        let trial = match ledger.trial(&point)? {
            Some(trial) if trial.is_zero() || ledger.can_go_on(&point)? => Some(trial),
            _ => None,
        };
        let Some(trial) = trial.filter(|trial| ledger.prefer(trial, here.rounding)) else {
            return Ok(if self.relax() { Ok(None) } else { Err(Termination::LossStoppedChanging) });
        };
        let taken = match shortened {
            None => step,
            Some(_) => point.iter().zip(x).map(|(a, b)| a - b).collect(),
        };
        let mut at_rest = self.settling.observe(&here.scales, x, &taken, here.rounding);
        if at_rest && self.curvature.is_some() && !here.is_at_rounding(ROUNDING) {
            // steps that do not shrink while there is something to remove: the second order is another by now
            (self.look, at_rest) = (self.looks > 0, false);
            if !self.look {
                (self.curvature, self.settling) = (None, Settling::slow());
            }
        }
        Ok(if at_rest { Err(Termination::StepAtRounding) } else { Ok(Some(trial)) })
    }
}
