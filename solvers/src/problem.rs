//! Fitting problems: channels that share parameters, and the values they must have.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use keyfit_autodiff::{Evaluator, SparseJacobian};
use keyfit_ir::{BuildError, Channel, Parameter, Target};
use ndarray::{Array2, ArrayView1, ArrayViewMut2, Axis, ShapeBuilder, Slice};
use thiserror::Error;

use crate::jacobian::{Jacobian as Derivatives, Sparse};
use crate::least_squares::{LeastSquares, SecondOrder};
use crate::pattern::Pattern;

mod curvature;
mod linear;
mod sparse;

/// Channels whose free parameters of one name are one number.
///
/// The residuals are √weight · (track(time) − value), channel after channel, targets in their given order; the
/// columns are the parameters in the order in which they are met.
#[derive(Debug)]
pub struct FitProblem {
    channels: Vec<Prepared>,
    parameters: Vec<Parameter>,
    /// Which entries of the Jacobian may differ from zero, where they are a narrow band.
    pattern: Option<Arc<Pattern>>,
}

#[derive(Debug)]
struct Prepared {
    channel: Channel,
    /// The targets that weigh something, one a residual.
    targets: Vec<Target>,
    /// The square roots of their weights, where these are not all 1.
    roots: Option<Vec<f64>>,
    /// For each free parameter of the track, its column in the problem.
    columns: Vec<usize>,
    /// The evaluators with their memory.
    evaluators: RefCell<Evaluators>,
}

#[derive(Debug)]
struct Evaluators {
    dense: Evaluator,
    /// There where the Jacobian is a narrow band.
    sparse: Option<SparseJacobian>,
}

/// Why channels do not make a fitting problem.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum ProblemError {
    /// There is nothing to fit to.
    #[error("there is no target: say where a value must be, and when")]
    NoTarget,
    /// Every target has the weight 0.
    #[error("every target has the weight 0: there is nothing to fit to")]
    NoWeight,
    /// A weight is negative. Targets are counted from 1.
    #[error("the weight of target {target} of channel {channel} is {weight:?}; weights are not negative")]
    NegativeWeight {
        /// The channel.
        channel: String,
        /// Which target.
        target: usize,
        /// Its weight.
        weight: f64,
    },
    /// The window is empty.
    #[error("the window from {:?} to {:?} is empty", window.0, window.1)]
    EmptyWindow {
        /// The window's ends.
        window: (f64, f64),
    },
    /// A target's time, value or weight is not a finite number. Counted from 1.
    #[error(
        "target {target} of channel {channel} is not finite: time {:?}, value {:?}, weight {:?}",
        at.time, at.value, at.weight
    )]
    NotFinite {
        /// The channel.
        channel: String,
        /// Which target.
        target: usize,
        /// The target.
        at: Target,
    },
    /// Targets lie outside the window in which the fit may look.
    #[error("outside the window {:?} to {:?}: the target(s) of channel {channel} at {times:?}", window.0, window.1)]
    OutsideWindow {
        /// The channel.
        channel: String,
        /// Their times.
        times: Vec<f64>,
        /// The window's ends, both inside it.
        window: (f64, f64),
    },
    /// Two channels give one parameter different current values.
    #[error(transparent)]
    Parameters(#[from] BuildError),
}

impl FitProblem {
    /// Joins the channels. Channels without targets are carried along and have no say.
    ///
    /// # Errors
    /// See [`ProblemError`].
    pub fn new(channels: Vec<Channel>, window: Option<(f64, f64)>) -> Result<FitProblem, ProblemError> {
        let mut parameters: Vec<Parameter> = Vec::new();
        let mut known: HashMap<String, usize> = HashMap::new();
        let mut prepared = Vec::with_capacity(channels.len());
        for channel in channels {
            check(&channel, window)?;
            let targets: Vec<Target> = channel.targets.iter().filter(|t| t.weight > 0.0).copied().collect();
            let mut columns = Vec::new();
            // a channel without targets brings no column, or its parameters would seem to have no influence
            for parameter in channel.track.free_parameters() {
                let column = match known.get(parameter.name()) {
                    Some(&column) => column,
                    None if targets.is_empty() => continue,
                    None => {
                        known.insert(parameter.name().into(), parameters.len());
                        parameters.push(parameter.clone());
                        parameters.len() - 1
                    }
                };
                if parameters[column] != *parameter {
                    return Err(ProblemError::Parameters(BuildError::TwoValues {
                        name: parameter.name().into(),
                        first: parameters[column].start(),
                        second: parameter.start(),
                    }));
                }
                columns.push(column);
            }
            let times: Vec<f64> = targets.iter().map(|target| target.time).collect();
            let dense = Evaluator::new(&channel.track, &times);
            let evaluators = RefCell::new(Evaluators { dense, sparse: None });
            let even = targets.iter().all(|target| target.weight == 1.0);
            let roots = (!even).then(|| targets.iter().map(|target| target.weight.sqrt()).collect());
            prepared.push(Prepared { channel, targets, roots, columns, evaluators });
        }
        if prepared.iter().all(|p| p.channel.targets.is_empty()) {
            return Err(ProblemError::NoTarget);
        }
        if prepared.iter().all(|p| p.targets.is_empty()) {
            return Err(ProblemError::NoWeight);
        }
        let mut problem = FitProblem { channels: prepared, parameters, pattern: None };
        problem.find_pattern();
        Ok(problem)
    }

    /// The channels, in their given order.
    pub fn channels(&self) -> impl Iterator<Item = &Channel> {
        self.channels.iter().map(|p| &p.channel)
    }

    /// The residual of that index, as a message calls it.
    pub(crate) fn residual_name(&self, index: usize) -> String {
        let target = self.targets().nth(index);
        target.map_or_else(String::new, |(c, target)| format!("channel {} at time {:?}", c.name, target.time))
    }

    /// The targets that weigh something, with their channels: one a residual, in the residuals' order.
    pub fn targets(&self) -> impl Iterator<Item = (&Channel, Target)> {
        self.channels.iter().flat_map(|p| p.targets.iter().map(move |target| (&p.channel, *target)))
    }

    /// For each channel the targets that weigh something.
    pub(crate) fn channel_targets(&self) -> impl Iterator<Item = &[Target]> {
        self.channels.iter().map(|p| p.targets.as_slice())
    }

    /// The parameters, one a column.
    pub fn free_parameters(&self) -> &[Parameter] {
        &self.parameters
    }

    /// The parameters' current values, where a fit starts.
    pub fn starts(&self) -> Vec<f64> {
        self.parameters.iter().map(Parameter::start).collect()
    }

    /// The Jacobian at `x`, by its entries where they are a narrow band.
    pub(crate) fn derivatives(&self, x: &[f64]) -> Derivatives {
        match &self.pattern {
            None => Derivatives::Dense(Rc::new(self.jacobian(x))),
            Some(pattern) => {
                let mut entries = vec![0.0; pattern.entries()];
                self.entries_into(x, &mut entries);
                Derivatives::Sparse(Sparse { pattern: Arc::clone(pattern), entries })
            }
        }
    }

    /// The Jacobian at `x` (residuals × parameters).
    pub fn jacobian(&self, x: &[f64]) -> Array2<f64> {
        let mut out = Array2::zeros((LeastSquares::residuals(self), self.parameters.len()).f());
        self.jacobian_into(x, out.view_mut());
        out
    }
}

fn check(channel: &Channel, window: Option<(f64, f64)>) -> Result<(), ProblemError> {
    let name = || channel.name.clone();
    for (i, at) in channel.targets.iter().enumerate() {
        if !(at.time.is_finite() && at.value.is_finite() && at.weight.is_finite()) {
            return Err(ProblemError::NotFinite { channel: name(), target: i + 1, at: *at });
        }
        if at.weight < 0.0 {
            return Err(ProblemError::NegativeWeight { channel: name(), target: i + 1, weight: at.weight });
        }
    }
    let Some((from, to)) = window else { return Ok(()) };
    if from.is_nan() || to.is_nan() || from > to {
        return Err(ProblemError::EmptyWindow { window: (from, to) });
    }
    let outside = |t: &f64| !(from <= *t && *t <= to);
    let times: Vec<f64> = channel.targets.iter().map(|t| t.time).filter(outside).collect();
    match times.is_empty() {
        true => Ok(()),
        false => Err(ProblemError::OutsideWindow { channel: name(), times, window: (from, to) }),
    }
}

impl Prepared {
    /// The track's own parameters out of the problem's.
    fn gather(&self, x: &[f64]) -> Vec<f64> {
        self.columns.iter().filter_map(|&column| x.get(column).copied()).collect()
    }
}

impl LeastSquares for FitProblem {
    fn parameters(&self) -> usize {
        self.parameters.len()
    }

    fn residuals(&self) -> usize {
        self.channels.iter().map(|p| p.targets.len()).sum()
    }

    fn residuals_into(&self, x: &[f64], out: &mut [f64]) {
        let mut rest = out;
        for p in &self.channels {
            let (part, tail) = rest.split_at_mut(p.targets.len().min(rest.len()));
            rest = tail;
            p.evaluators.borrow_mut().dense.values(&p.gather(x), part);
            part.iter_mut().zip(&p.targets).for_each(|(residual, target)| *residual -= target.value);
            for (residual, root) in part.iter_mut().zip(p.roots.iter().flatten()) {
                *residual *= root;
            }
        }
    }

    fn jacobian_into(&self, x: &[f64], mut out: ArrayViewMut2<'_, f64>) {
        let mut row = 0;
        for p in self.channels.iter().filter(|p| !p.targets.is_empty()) {
            let dense = &mut p.evaluators.borrow_mut().dense;
            dense.partials(&p.gather(x), &mut |column, first, partials| {
                let at = row + first;
                let mut slots = out.column_mut(p.columns[column]);
                let mut slots = slots.slice_axis_mut(Axis(0), Slice::from(at..at + partials.len()));
                slots.assign(&ArrayView1::from(partials));
                if let Some(roots) = &p.roots {
                    slots *= &ArrayView1::from(&roots[first..first + partials.len()]);
                }
            });
            row += p.targets.len();
        }
    }

    fn second_order(&self) -> Option<&dyn SecondOrder> {
        Some(self)
    }

    fn linear_parameters(&self) -> Vec<usize> {
        linear::independent(self)
    }

    fn pattern(&self) -> Option<&Arc<Pattern>> {
        self.pattern.as_ref()
    }

    fn entries_into(&self, x: &[f64], out: &mut [f64]) {
        self.write_entries(x, out);
    }
}
