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
    /// Whether the trace holds the parameters at each iteration.
    pub keep_path: bool,
}

/// An option that is a number, by the name that people type.
#[derive(Debug)]
pub struct NumberOption {
    /// Its name.
    pub name: &'static str,
    /// One line: what it is, and which values it takes.
    pub doc: &'static str,
    /// Sets it; tells whether it can have this value.
    pub set: fn(&mut Options, f64) -> bool,
    /// Its value; `None` where each solver has its own.
    pub get: fn(&Options) -> Option<f64>,
}

/// The options that are numbers.
pub static OPTIONS: &[NumberOption] = &[
    NumberOption {
        name: "iterations",
        doc: "the most iterations: a whole number",
        set: |options, x| whole(x).map(|n| options.iterations = Some(n)).is_some(),
        get: |options| options.iterations.map(|n| n as f64),
    },
    NumberOption {
        name: "evaluations",
        doc: "the most evaluations of all residuals: a whole number from 1 on",
        set: |options, x| whole(x).filter(|n| *n > 0).map(|n| options.evaluation_budget = n).is_some(),
        get: |options| Some(options.evaluation_budget as f64),
    },
    NumberOption {
        name: "learning-rate",
        doc: "the step of gradient descent: a finite number above 0",
        set: |options, x| positive(x).map(|x| options.learning_rate = x).is_some(),
        get: |options| Some(options.learning_rate),
    },
    NumberOption {
        name: "first-step",
        doc: "the first trust radius in units of the start's scaled length: a finite number above 0",
        set: |options, x| positive(x).map(|x| options.first_step = x).is_some(),
        get: |options| Some(options.first_step),
    },
    NumberOption {
        name: "starts",
        doc: "from how many starts a solver runs: a whole number from 1 on",
        set: |options, x| {
            let starts = whole(x).and_then(|n| u32::try_from(n).ok()).filter(|n| *n > 0);
            starts.map(|n| options.starts = n).is_some()
        },
        get: |options| Some(f64::from(options.starts)),
    },
    NumberOption {
        name: "seed",
        doc: "chooses the other starts: a whole number",
        set: |options, x| whole(x).map(|n| options.seed = n).is_some(),
        get: |options| Some(options.seed as f64),
    },
];

/// A number as a whole one; up to 2⁵³ every whole number is a double.
fn whole(x: f64) -> Option<u64> {
    (x == x.trunc() && (0.0..=9_007_199_254_740_992.0).contains(&x)).then_some(x as u64)
}

pub(crate) fn positive(x: f64) -> Option<f64> {
    (x > 0.0 && x.is_finite()).then_some(x)
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
            keep_path: false,
        }
    }
}
