//! What a caller may choose about a run.

/// Choices for one run. The defaults are meant to be left alone.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// The least and the greatest value of each parameter, ends included; empty where none has bounds.
    pub bounds: Vec<[f64; 2]>,
    /// Iterations allowed; `None` is the solver's own default, [`SolverEntry::iterations`](crate::SolverEntry).
    pub iterations: Option<u64>,
    /// Residual evaluations allowed, those inside line searches included; at least 1.
    pub evaluation_budget: u64,
    /// Step of gradient descent along the gradient of the mean of squared residuals; positive and finite.
    pub learning_rate: f64,
    /// Levenberg–Marquardt's first trust radius in units of the start's scaled length; positive and finite.
    pub first_step: f64,
    /// How many starts there are: the given one, and others spread around it (within the bounds where a parameter has two);
    /// at least 1. The lowest minimum of all is returned; the budget is that of all together.
    pub starts: u32,
    /// Chooses the other starts.
    pub seed: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            bounds: Vec::new(),
            iterations: None,
            evaluation_budget: 100_000,
            learning_rate: 0.05,
            first_step: 1.0,
            starts: 1,
            seed: 0,
        }
    }
}
