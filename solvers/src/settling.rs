//! When a sequence of undamped steps has come to rest.

/// A step this small against the parameters, and no longer shrinking, is rounding noise.
const NOISE: f64 = 1e-8;
/// A step whose effect is this part of what rounding does moves nothing any more.
const NEGLIGIBLE: f64 = 1e-3;
/// Steps of Gauss–Newton that must fail to be a new smallest one.
const PATIENCE: u32 = 3;
/// A step shrinks if it is less than this part of the smallest one: Gauss–Newton's may shrink slowly …
const SLOW: f64 = 0.9;
/// … but Newton's do not, near enough.
const FAST: f64 = 0.1;
/// Steps that must fail where the parameters are so ill determined that even their noise is larger …
const LONG_PATIENCE: u32 = 12;
/// … up to this.
const COARSE_NOISE: f64 = 1e-3;

/// The largest part that a step changes of a parameter, `|pⱼ| / |xⱼ|`. A change whose effect on the residuals is below
/// `rounding` counts as less than `noise`, so that a parameter at zero does not count as changed by all of itself.
pub(crate) fn relative_step(scales: &[f64], x: &[f64], step: &[f64], rounding: f64, noise: f64) -> f64 {
    let parts = scales.iter().zip(x).zip(step).filter(|((d, _), p)| **d > 0.0 && **p != 0.0);
    parts.map(|((d, x), p)| (d * p).abs() / (d * x).abs().max(rounding / noise)).fold(0.0, f64::max)
}

/// Watches the lengths of undamped steps.
///
/// Gauss–Newton's shrink by a constant factor per step or faster until rounding takes over. A fixed tolerance would stop too
/// early on one problem and never on another; that they stop shrinking is the sign that holds on all.
#[derive(Clone, Debug)]
pub(crate) struct Settling {
    smallest: f64,
    since: u32,
    /// The part that a step must fall below to be a new smallest one, and how many may fail to.
    shrinks: f64,
    patience: u32,
}

impl Settling {
    /// Of Gauss–Newton's steps.
    pub fn slow() -> Self {
        Self { smallest: f64::INFINITY, since: 0, shrinks: SLOW, patience: PATIENCE }
    }

    /// Of Newton's steps: the first that does not shrink is rounding.
    pub fn fast() -> Self {
        Self { shrinks: FAST, patience: 1, ..Self::slow() }
    }

    /// Takes the next step from `x`; `rounding` is what rounding `x` does to the residuals. True when the steps are at rest.
    pub fn observe(&mut self, scales: &[f64], x: &[f64], step: &[f64], rounding: f64) -> bool {
        let effect = scales.iter().zip(step).map(|(d, p)| (d * p).abs()).fold(0.0, f64::max);
        let relative_step = relative_step(scales, x, step, rounding, NOISE);
        if relative_step < self.shrinks * self.smallest {
            self.smallest = relative_step;
            self.since = 0;
        } else {
            self.since += 1;
        }
        effect <= NEGLIGIBLE * rounding
            || (self.since >= self.patience && self.smallest <= NOISE)
            || (self.since >= LONG_PATIENCE && self.smallest <= COARSE_NOISE)
    }
}
