//! How a step within a trust region is chosen.

use ndarray::{Array2, ArrayView1};

use crate::decomposition::{Decomposition, dot, norm, scaled_norm};
use crate::jacobian::Factors;
use crate::ledger::{Interruption, Ledger};
use crate::model::Here;

/// The most that the acceleration of a geodesic step may be, twice its length against the velocity's.
const ACCELERATION: f64 = 0.75;

/// How a step is chosen.
pub(crate) enum Path {
    /// The step that makes the linear model smallest.
    Damped,
    /// The same with the second-order correction along it.
    Geodesic,
    /// Powell's dogleg, which costs less and is as good near the minimum.
    Dogleg,
    /// The step that makes the linear model smallest in the plane of the dogleg.
    Subspace,
    /// The damped step in the other parameters, these being solved for at each trial.
    Projected(Vec<usize>),
    /// The step that makes the exact quadratic model smallest.
    Exact,
    /// The same by conjugate gradients, cut off where they leave the region or find no curvature.
    Conjugate,
}

/// A step and the fall of the sum of squares that it promises.
pub(crate) type Promise = (Vec<f64>, f64);

impl Path {
    /// The step from a point.
    pub fn step(&self, ledger: &Ledger<'_>, here: &Here, radius: f64) -> Result<Promise, Interruption> {
        let projected = &here.projected;
        let Some((_, decomposition)) = here.dense() else {
            return Ok(here.factors.damped(projected, radius));
        };
        Ok(match (self, &here.quadratic) {
            (Path::Dogleg, _) => decomposition.dogleg(projected, radius),
            (Path::Subspace, _) => decomposition.subspace(projected, radius),
            (Path::Exact, Some(quadratic)) => {
                let (step, promise) = quadratic.within(radius);
                (here.unscaled(&step), 2.0 * promise)
            }
            (Path::Conjugate, _) => match conjugate(ledger, here, radius)? {
                Some(promise) => promise,
                None => decomposition.damped(projected, radius),
            },
            (Path::Geodesic, _) => geodesic(ledger, here, decomposition, radius)?,
            (Path::Damped | Path::Projected(_) | Path::Exact, _) => decomposition.damped(projected, radius),
        })
    }

    /// The point's model without what this path solves for at each trial: `P J` with the projector `P` off the columns of
    /// the linear parameters, whose own columns become 0. Kaufman's form of the reduced Jacobian.
    pub fn reduce(&self, mut here: Here) -> Option<Here> {
        let Path::Projected(linear) = self else { return Some(here) };
        let jacobian = here.jacobian.dense();
        let columns = only(&jacobian, linear);
        let own = Decomposition::new(columns.view(), &here.scales)?;
        let mut reduced = Array2::zeros(jacobian.dim());
        for j in (0..reduced.ncols()).filter(|j| !linear.contains(j)) {
            let column = jacobian.column(j).to_vec();
            let within = own.step(&own.project(&column), 0.0);
            let rest = &columns.dot(&ArrayView1::from(&within)) + &ArrayView1::from(&column);
            reduced.column_mut(j).assign(&rest);
        }
        here.factors = Factors::Dense(Decomposition::new(reduced.view(), &here.scales)?);
        here.projected = here.factors.project(&here.evaluation.residuals);
        // the region is one of the other parameters
        linear.iter().for_each(|j| here.scales[*j] = 0.0);
        Some(here)
    }
}

/// The Jacobian with the other columns set to 0.
pub(crate) fn only(jacobian: &Array2<f64>, columns: &[usize]) -> Array2<f64> {
    let entry = |(i, j): (usize, usize)| if columns.contains(&j) { jacobian[[i, j]] } else { 0.0 };
    Array2::from_shape_fn(jacobian.dim(), entry)
}

/// The damped step `v` plus half of its acceleration `a`, which minimises `‖r″ + J a‖² + λ ‖D a‖²` for the second derivative
/// `r″` of the residuals along `v`. An acceleration that is large against `v` is left out: the residuals bend too much there.
fn geodesic(
    ledger: &Ledger<'_>,
    here: &Here,
    decomposition: &Decomposition,
    radius: f64,
) -> Result<Promise, Interruption> {
    let projected = &here.projected;
    let damping = decomposition.damping_for(projected, radius);
    let promise = decomposition.predicted_reduction(projected, damping);
    let velocity = decomposition.step(projected, damping);
    let Some(bend) = ledger.curvature_along(&here.evaluation, &velocity)? else {
        return Ok((velocity, promise));
    };
    let acceleration = decomposition.step(&decomposition.project(&bend), damping);
    let [a, v] = [&acceleration, &velocity].map(|step| scaled_norm(&here.scales, step));
    if a.is_nan() || 2.0 * a > ACCELERATION * v {
        return Ok((velocity, promise));
    }
    Ok((velocity.iter().zip(&acceleration).map(|(v, a)| v + 0.5 * a).collect(), promise))
}

/// Steihaug's conjugate gradients in scaled parameters; `None` where the second derivatives are not finite.
fn conjugate(ledger: &Ledger<'_>, here: &Here, radius: f64) -> Result<Option<Promise>, Interruption> {
    let n = here.scales.len();
    let times = |direction: &[f64]| -> Result<Option<Vec<f64>>, Interruption> {
        let image =
            ledger.hessian_times(&here.evaluation, &here.jacobian.dense(), &here.unscaled(direction))?;
        Ok(image.map(|mut image| {
            here.held.iter().for_each(|j| image[*j] = 0.0);
            here.unscaled(&image)
        }))
    };
    let mut slope = here.scaled_gradient();
    let first = norm(&slope);
    // superlinear: the nearer the minimum, the more exact
    let enough = first * (first / here.evaluation.sum_of_squares.sqrt()).sqrt().min(0.1);
    let mut step = vec![0.0; n];
    let mut promise = 0.0;
    let mut direction: Vec<f64> = slope.iter().map(|g| -g).collect();
    for _ in 0..2 * n {
        let steepness = dot(&slope, &slope);
        if steepness.sqrt() <= enough {
            break;
        }
        let Some(image) = times(&direction)? else { return Ok(None) };
        let bend = dot(&direction, &image);
        // how far the direction goes until it leaves the region
        let (a, b) = (dot(&direction, &direction), dot(&step, &direction));
        let room = (radius * radius - dot(&step, &step)).max(0.0);
        let edge = room / (b + (b * b + a * room).sqrt());
        let lowest = if bend > 0.0 { steepness / bend } else { f64::INFINITY };
        let by = lowest.min(edge);
        promise -= by * (dot(&slope, &direction) + 0.5 * by * bend);
        step.iter_mut().zip(&direction).for_each(|(z, d)| *z += by * d);
        if lowest >= edge {
            break;
        }
        slope.iter_mut().zip(&image).for_each(|(g, h)| *g += by * h);
        let turn = dot(&slope, &slope) / steepness;
        direction.iter_mut().zip(&slope).for_each(|(d, g)| *d = turn * *d - g);
    }
    Ok(Some((here.unscaled(&step), 2.0 * promise)))
}
