//! How fast a run closed in on its answer: order and rate of convergence.

use thiserror::Error;

use super::interval::{Interval, mean_interval};
use super::special::student;

/// Errors shrink as e' ≈ C·eᵖ.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Order {
    /// Steps that it was read from.
    pub steps: usize,
    /// p.
    pub order: f64,
    /// Its 95 % interval.
    pub interval: Interval,
    /// The geometric mean of e'/e with its 95 % interval; none where the order is above 1, as e'/e then goes to 0.
    pub rate: Option<(f64, Interval)>,
}

/// Why a run shows no order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum NoOrder {
    /// The errors are not known: the problem has no certified parameters, or the run none at all.
    #[error("its errors are not known")]
    Unknown,
    /// It never came near.
    #[error("it ended far from the answer")]
    Far,
    /// Too few steps lie between far and rounding.
    #[error("{steps} steps are too few; {LEAST} are needed between an error of {NEAR} and rounding")]
    Short {
        /// How many there are.
        steps: usize,
    },
}

/// The least number of steps that a line and its uncertainty are read from.
pub const LEAST: usize = 3;
/// Below this relative error a run counts as near its answer.
pub const NEAR: f64 = 0.1;
/// Where the interval of an order lies above this, e'/e has no mean worth telling; it is above 1 as the first steps of a linear
/// tail are often a little off.
const SUPERLINEAR: f64 = 1.1;
/// Relative errors this small are rounding.
const ROUNDING: f64 = 1e-14;

/// Reads order and rate from the errors of a run, one an iteration: by least squares of log e' on log e over the tail, the last
/// iterations that fall without a break below [`NEAR`], as long as they are ten times above rounding and above the last error,
/// which may be the accuracy of the certified answer.
///
/// Source: Ortega and Rheinboldt, Iterative Solution of Nonlinear Equations (1970), chapter 9, for order and rate; Student's
/// intervals of the regression and of the mean of log e'/e.
///
/// # Errors
/// [`NoOrder`]
pub fn order(errors: &[f64]) -> Result<Order, NoOrder> {
    let least = errors.iter().copied().filter(|e| !e.is_nan()).fold(f64::INFINITY, f64::min);
    if least == f64::INFINITY {
        return Err(NoOrder::Unknown);
    }
    if least >= NEAR {
        return Err(NoOrder::Far);
    }
    let logs = tail(errors, (10.0 * least).max(ROUNDING));
    let steps = logs.len().saturating_sub(1);
    if steps < LEAST {
        return Err(NoOrder::Short { steps });
    }
    let n = steps as f64;
    let pairs = || logs.iter().zip(logs.iter().skip(1)).map(|(x, y)| (*x, *y));
    let mean = |pick: fn((f64, f64)) -> f64| pairs().map(pick).sum::<f64>() / n;
    let (mx, my) = (mean(|(x, _)| x), mean(|(_, y)| y));
    let sxx = pairs().map(|(x, _)| (x - mx) * (x - mx)).sum::<f64>();
    let sxy = pairs().map(|(x, y)| (x - mx) * (y - my)).sum::<f64>();
    let slope = sxy / sxx;
    let miss = pairs().map(|(x, y)| y - my - slope * (x - mx)).map(|r| r * r).sum::<f64>();
    let half = student(n - 2.0) * (miss / (n - 2.0) / sxx).sqrt();
    let falls: Vec<f64> = pairs().map(|(x, y)| y - x).collect();
    let exp = core_math::exp;
    let rate = mean_interval(&falls)
        .map(|(fall, ends)| (exp(fall), Interval { low: exp(ends.low), high: exp(ends.high) }));
    Ok(Order {
        steps,
        order: slope,
        interval: Interval { low: slope - half, high: slope + half },
        rate: rate.filter(|_| slope - half <= SUPERLINEAR),
    })
}

/// The logarithms of the last errors that fall from one to the next, all of them near and above the floor.
fn tail(errors: &[f64], floor: f64) -> Vec<f64> {
    let mut logs: Vec<f64> = Vec::new();
    let mut above = f64::NEG_INFINITY;
    for &e in errors.iter().rev().skip_while(|e| e.is_nan() || **e < floor) {
        if !(e < NEAR && e > above && e >= floor) {
            break;
        }
        logs.push(core_math::log(e));
        above = e;
    }
    logs.reverse();
    logs
}
