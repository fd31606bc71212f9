//! When a sequence of undamped steps has come to rest.

/// A step this small against the parameters, and no longer shrinking, is rounding noise.
const NOISE: f64 = 1e-8;
/// Steps that must fail to be a new smallest one.
const PATIENCE: u32 = 3;

/// Watches the lengths of undamped Gauss–Newton steps.
///
/// They shrink by a constant factor per step or faster until rounding takes over. A fixed tolerance would stop too
/// early on one problem and never on another; that they stop shrinking is the sign that holds on all.
#[derive(Clone, Debug)]
pub(crate) struct Settling {
    smallest: f64,
    since: u32,
}

impl Settling {
    pub fn new() -> Self {
        Self { smallest: f64::INFINITY, since: 0 }
    }

    /// Takes the next step's length relative to the parameters; true when the steps are at rest.
    pub fn observe(&mut self, relative_step: f64) -> bool {
        if relative_step < 0.9 * self.smallest {
            self.smallest = relative_step;
            self.since = 0;
        } else {
            self.since += 1;
        }
        relative_step == 0.0 || (self.since >= PATIENCE && self.smallest <= NOISE)
    }
}
