//! The calls that people make: fit named parameters, fit every number, fit the channels of a scene.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use keyfit_ir::{BuildError, Builder, Channel, Id, Node, Parameter, Target, Track};
use ndarray::Array2;
use thiserror::Error;

use crate::check::Evidence;
use crate::deferral::Deferred;
use crate::determination::{Undetermined, hidden, undetermined};
use crate::least_squares::LeastSquares;
use crate::ledger::TracePoint;
use crate::logarithm::{inside, to_inside, to_outside};
use crate::loss::{Loss, Robust};
use crate::options::Options;
use crate::problem::{FitProblem, ProblemError};
use crate::quality::Quality;
use crate::refusal::Refusal;
use crate::registry::{SOLVERS, SolverEntry};
use crate::solve::{Attempt, SolveError, solve};
use crate::termination::Termination;
use crate::warning::{OutsideKeys, RateJump, outside_keys, rate_jump};

/// How to fit.
#[derive(Clone, Debug)]
pub struct FitOptions {
    /// The solver; `default` unless said otherwise.
    pub solver: &'static SolverEntry,
    /// Its options.
    pub solver_options: Options,
    /// The times that targets may have, ends included; all of them if `None`.
    pub window: Option<(f64, f64)>,
    /// How residuals count; squares unless said otherwise.
    pub loss: Loss,
    /// The least and the greatest values of parameters, by name, ends included. A name that the problem does not have is not
    /// looked at.
    pub bounds: BTreeMap<String, [f64; 2]>,
    /// Positive parameters that are fitted by their logarithms, by name: steps multiply them, and they stay positive. A name that the
    /// problem does not have is not looked at. Other scaling is not needed: every solver scales parameters itself.
    pub logarithmic: BTreeSet<String>,
}

impl Default for FitOptions {
    fn default() -> FitOptions {
        FitOptions {
            solver: &SOLVERS[0],
            solver_options: Options::default(),
            window: None,
            loss: Loss::Squares,
            bounds: BTreeMap::new(),
            logarithmic: BTreeSet::new(),
        }
    }
}

/// Why there is no fit.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FitError {
    /// A typed no; see [`Refusal`].
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The targets are not usable.
    #[error(transparent)]
    Problem(#[from] ProblemError),
    /// A parameter starts outside of its bounds, or there is nothing between these.
    #[error("{name} starts at {start:?}, which is not within its bounds {low:?} and {high:?}")]
    StartOutside {
        /// The parameter.
        name: String,
        /// Where it starts.
        start: f64,
        /// Its least value.
        low: f64,
        /// Its greatest value.
        high: f64,
    },
    /// A parameter that is to be fitted by its logarithm does not start above 0.
    #[error("{name} is to be fitted by its logarithm but starts at {start:?}: give it a start above 0")]
    NotPositive {
        /// The parameter.
        name: String,
        /// Where it starts.
        start: f64,
    },
    /// The solver could not start.
    #[error(transparent)]
    Solve(SolveError),
}

/// A named number of a fit.
#[derive(Clone, Debug, PartialEq)]
pub struct Named {
    /// The parameter's name.
    pub name: String,
    /// The number.
    pub value: f64,
}

/// One channel before and after a fit.
#[derive(Clone, Debug, PartialEq)]
pub struct FittedChannel {
    /// Its name.
    pub name: String,
    /// The track with its free parameters.
    pub before: Track,
    /// The track with the fitted numbers in their place.
    pub fitted: Track,
    /// The largest |track(time) − value| over the channel's targets; `None` if it has none.
    pub worst_miss: Option<f64>,
}

/// The result of a fit: always the best point that was seen, also where the solver did not converge.
#[derive(Clone, Debug)]
pub struct Fit {
    /// The parameters found, in the order of the problem's columns.
    pub parameters: Vec<Named>,
    /// Where they started.
    pub initial_parameters: Vec<Named>,
    /// The sum of squared weighted residuals at the start; with another [`Loss`], the sum of that.
    pub initial_residual: f64,
    /// The same at `parameters`.
    pub final_residual: f64,
    /// How residuals counted.
    pub loss: Loss,
    /// Whether the point is a minimum as far as can be told: see [`Termination::converged`].
    pub converged: bool,
    /// Why the solver stopped.
    pub termination: Termination,
    /// The same in words, with the parameters' names, and what to do about it.
    pub message: String,
    /// How many iterations it took.
    pub steps: u64,
    /// The channels, with the numbers put in.
    pub fitted: Vec<FittedChannel>,
    /// How often all residuals were evaluated, inside line searches too.
    pub residual_evaluations: u64,
    /// How often the Jacobian was evaluated.
    pub jacobian_evaluations: u64,
    /// How often the Hessian was evaluated; once for the evidence, and at least once for most solvers' last steps.
    pub hessian_evaluations: u64,
    /// How often a Hessian was multiplied with a direction.
    pub hessian_products: u64,
    /// How often the residuals' second derivatives along a direction were evaluated.
    pub curvatures_along: u64,
    /// What speaks for a minimum, computed anew at `parameters`.
    pub evidence: Evidence,
    /// What was tried, in order; one entry unless there are several starts or the solver is `default`.
    pub attempts: Vec<Attempt>,
    /// The parameters that a bound holds, with it: beyond it the targets would be met better.
    pub at_bounds: Vec<Named>,
    /// The rank of the Jacobian at `parameters`, those at bounds left out, and those that move nothing where what could be 0 for
    /// all that the targets show is 0.
    pub rank: usize,
    /// s²(JᵀJ)⁻¹ with s² = final_residual / (targets − parameters); `None` where the rank is short or there are not
    /// more targets than parameters, where a bound holds a parameter, and for another loss than squares.
    pub covariance: Option<Array2<f64>>,
    /// The square roots of the covariance's diagonal.
    pub standard_errors: Option<Vec<Named>>,
    /// What the targets do not determine; parameters fitted by their logarithms occur as those.
    pub undetermined: Vec<Undetermined>,
    /// How good the answer is.
    pub quality: Quality,
    /// The targets at which a track is read outside its keys.
    pub outside_keys: Vec<OutsideKeys>,
    /// The targets for velocities and accelerations at which these jump, the first of each channel.
    pub rate_jumps: Vec<RateJump>,
    /// The parameters that were fitted by their logarithms.
    pub logarithmic: BTreeSet<String>,
    /// The course of the fit, one point an iteration.
    pub trace: Vec<TracePoint>,
}

impl Fit {
    /// The minimum that the first start led to, where another start led to a lower one (by more than 1e-9 of it).
    pub fn beaten(&self) -> Option<&Attempt> {
        let first = self.attempts.iter().rfind(|attempt| attempt.start == 1)?;
        let lower = self.final_residual < first.sum_of_squares * (1.0 - 1e-9);
        Some(first).filter(|_| lower && self.converged && first.termination.converged())
    }

    /// The fitted value of a parameter.
    pub fn value(&self, name: &str) -> Option<f64> {
        self.parameters.iter().find(|p| p.name == name).map(|p| p.value)
    }
}

/// Moves the free parameters of one track so that it meets the targets.
///
/// ```
/// use keyfit_ir::Track;
/// use keyfit_solvers::{FitOptions, Target, fit_parameters};
///
/// let track = Track::parse("linear[0=0 4=4] * ?gain=1 + ?bias=0")?;
/// let fit = fit_parameters(&track, &[Target::new(1.0, -4.0), Target::new(3.0, 4.0)], &FitOptions::default())?;
/// assert!(fit.converged && fit.final_residual < 1e-24);
/// assert!((fit.value("gain").unwrap() - 4.0).abs() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`FitError::Problem`] for targets that are not finite or outside the window, [`FitError::Refused`] where no fit is
/// possible from here: no free parameter, one that no target feels, a start where the model is not finite.
pub fn fit_parameters(track: &Track, targets: &[Target], options: &FitOptions) -> Result<Fit, FitError> {
    fit_channels(vec![Channel { name: "y".into(), track: track.clone(), targets: targets.to_vec() }], options)
}

/// Moves every number in a track so that it meets the targets.
///
/// Each place where a number is written moves by itself, key values included and key times not; in the result's
/// parameters they are called `n1`, `n2` … in the order of the track's array.
///
/// # Errors
/// As [`fit_parameters`]; [`Refusal::DeclaresParameters`] for a track with free parameters.
pub fn fit_gradient(track: &Track, targets: &[Target], options: &FitOptions) -> Result<Fit, FitError> {
    let names: Vec<String> = track.free_parameters().iter().map(|p| p.name().into()).collect();
    if !names.is_empty() {
        return Err(Refusal::DeclaresParameters { names }.into());
    }
    let freed = free_all_numbers(track).map_err(ProblemError::from)?;
    let mut fit = fit_parameters(&freed, targets, options)?;
    fit.fitted.iter_mut().for_each(|channel| channel.before = track.clone());
    Ok(fit)
}

/// Moves the free parameters of several channels, one number a name.
///
/// # Errors
/// As [`fit_parameters`].
pub fn fit_channels(channels: Vec<Channel>, options: &FitOptions) -> Result<Fit, FitError> {
    let inner: Result<Vec<Channel>, FitError> =
        channels.iter().map(|channel| inside(channel, &options.logarithmic)).collect();
    let problem = FitProblem::new(inner?, options.window)?;
    let deferred = Deferred::of(&problem, options)?;
    let view = View::new(&problem, &channels, options);
    let robust = Robust::new(&problem, options.loss);
    let squares = options.loss == Loss::Squares;
    let counted: &dyn LeastSquares = if squares { &problem } else { &robust };
    let outcome = solve(counted, &problem.starts(), options.solver, &view.bounded());
    let mut outcome = outcome.map_err(|error| match error {
        SolveError::StartOutside { parameter, .. } => view.start_outside(parameter),
        other => FitError::Solve(other),
    })?;
    deferred.map_or(Ok(()), |deferred| deferred.settle(&problem, &outcome))?;
    let hidden = hidden(&problem, &outcome);
    if !hidden.is_empty() {
        let unit = |j: usize| (0..outcome.parameters.len()).map(|k| if k == j { 1.0 } else { 0.0 }).collect();
        outcome.undetermined = hidden.iter().map(|j| unit(*j)).collect();
        outcome.rank = outcome.rank.saturating_sub(hidden.len());
        outcome.condition = f64::INFINITY;
        (outcome.covariance, outcome.standard_errors) = (None, None);
    }
    let mut residuals = vec![0.0; LeastSquares::residuals(&problem)];
    problem.residuals_into(&outcome.parameters, &mut residuals);
    let known = (outcome.rank, outcome.condition, outcome.rounding_level);
    let parameters = view.named(&view.outside(&outcome.parameters));
    let fitted: Vec<FittedChannel> =
        channels.iter().map(|channel| FittedChannel::new(channel, &parameters)).collect();
    let (words, slopes) = (view.words(), view.slopes(&parameters));
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let scaled = |errors: &[f64]| -> Vec<f64> { errors.iter().zip(&slopes).map(|(e, d)| e * d).collect() };
    let mut trace = outcome.trace;
    trace.iter_mut().for_each(|point| point.parameters = view.outside(&point.parameters));
    Ok(Fit {
        outside_keys: channels
            .iter()
            .zip(&fitted)
            .flat_map(|(c, own)| outside_keys(c, &own.fitted))
            .collect(),
        rate_jumps: (channels.iter().zip(&fitted))
            .filter_map(|(c, own)| rate_jump(c, c.rate_of(&channels)?, &own.fitted))
            .collect(),
        fitted,
        at_bounds: outcome.held.iter().filter_map(|j| parameters.get(*j).cloned()).collect(),
        parameters,
        initial_parameters: view.named(&view.starts),
        loss: options.loss,
        initial_residual: outcome.initial_sum_of_squares,
        final_residual: outcome.sum_of_squares,
        converged: outcome.termination.converged(),
        termination: outcome.termination,
        message: outcome.termination.message(
            |k| words.get(k).map_or_else(String::new, ToString::to_string),
            |k| problem.residual_name(k),
        ),
        steps: outcome.iterations,
        residual_evaluations: outcome.residual_evaluations,
        jacobian_evaluations: outcome.jacobian_evaluations,
        hessian_evaluations: outcome.hessian_evaluations,
        hessian_products: outcome.hessian_products,
        curvatures_along: outcome.curvatures_along,
        evidence: outcome.evidence,
        attempts: outcome.attempts,
        rank: outcome.rank,
        covariance: outcome.covariance.filter(|_| squares).map(|mut covariance| {
            covariance.indexed_iter_mut().for_each(|((i, j), value)| *value *= slopes[i] * slopes[j]);
            covariance
        }),
        standard_errors: (outcome.standard_errors.as_deref().filter(|_| squares))
            .map(|errors| view.named(&scaled(errors))),
        undetermined: undetermined(outcome.undetermined, &words),
        quality: Quality::new(&problem, &residuals, known, options.loss),
        logarithmic: view.logarithmic(),
        trace,
    })
}

/// The parameters as the caller knows them, in the order of the problem's columns.
struct View<'a> {
    names: Vec<&'a str>,
    /// Whether the problem has the logarithm.
    logarithmic: Vec<bool>,
    starts: Vec<f64>,
    options: &'a FitOptions,
}

impl<'a> View<'a> {
    fn new(problem: &'a FitProblem, channels: &[Channel], options: &'a FitOptions) -> View<'a> {
        let names: Vec<&str> = problem.free_parameters().iter().map(Parameter::name).collect();
        let all = channels.iter().flat_map(|channel| channel.track.free_parameters());
        let starts: BTreeMap<&str, f64> = all.map(|p| (p.name(), p.start())).collect();
        View {
            starts: names.iter().filter_map(|name| starts.get(name).copied()).collect(),
            logarithmic: names.iter().map(|name| options.logarithmic.contains(*name)).collect(),
            names,
            options,
        }
    }

    fn named(&self, values: &[f64]) -> Vec<Named> {
        let names = self.names.iter().zip(values);
        names.map(|(name, &value)| Named { name: (*name).into(), value }).collect()
    }

    fn bounds(&self, k: usize) -> [f64; 2] {
        let own = self.names.get(k).and_then(|name| self.options.bounds.get(*name));
        own.copied().unwrap_or([f64::NEG_INFINITY, f64::INFINITY])
    }

    /// The problem's numbers as the caller's. What rounding puts a little outside of a bound is at it.
    fn outside(&self, x: &[f64]) -> Vec<f64> {
        let own = |(k, x): (usize, &f64)| {
            let [low, high] = self.bounds(k);
            if self.logarithmic[k] { to_outside(*x).max(low).min(high) } else { *x }
        };
        x.iter().enumerate().map(own).collect()
    }

    /// The derivative of each of the caller's parameters by the problem's.
    fn slopes(&self, parameters: &[Named]) -> Vec<f64> {
        parameters.iter().zip(&self.logarithmic).map(|(p, log)| if *log { p.value } else { 1.0 }).collect()
    }

    /// What the problem's parameters are called.
    fn words(&self) -> Vec<String> {
        let word = |(name, log): (&&str, &bool)| if *log { format!("ln({name})") } else { (*name).into() };
        self.names.iter().zip(&self.logarithmic).map(word).collect()
    }

    fn logarithmic(&self) -> BTreeSet<String> {
        let all = self.names.iter().zip(&self.logarithmic);
        all.filter(|(_, log)| **log).map(|(name, _)| (*name).into()).collect()
    }

    /// The solver's options with the bounds in the order of the problem's parameters.
    fn bounded(&self) -> Options {
        let own = |k: usize| if self.logarithmic[k] { self.bounds(k).map(to_inside) } else { self.bounds(k) };
        let bounds = if self.options.bounds.is_empty() {
            Vec::new()
        } else {
            (0..self.names.len()).map(own).collect()
        };
        Options { bounds, ..self.options.solver_options.clone() }
    }

    fn start_outside(&self, k: usize) -> FitError {
        let name = self.names.get(k).map_or_else(String::new, ToString::to_string);
        let [low, high] = self.bounds(k);
        FitError::StartOutside { name, start: self.starts.get(k).copied().unwrap_or(f64::NAN), low, high }
    }
}

impl FittedChannel {
    /// The channel with these parameters' values in the place of their names.
    pub fn new(channel: &Channel, parameters: &[Named]) -> FittedChannel {
        let values: HashMap<&str, f64> = parameters.iter().map(|p| (p.name.as_str(), p.value)).collect();
        let fitted = channel.track.substitute_parameters(|name| values.get(name).copied());
        let times: Vec<f64> = channel.targets.iter().map(|target| target.time).collect();
        let mut found = vec![0.0; times.len()];
        fitted.sample_into(&times, &mut found);
        let miss = |(target, found): (&Target, &f64)| (found - target.value).abs();
        let worst = channel.targets.iter().zip(&found).map(miss).reduce(|a, b| if a >= b { a } else { b });
        FittedChannel { name: channel.name.clone(), before: channel.track.clone(), worst_miss: worst, fitted }
    }
}

/// The track with a free parameter in each place where a number stands.
fn free_all_numbers(track: &Track) -> Result<Track, BuildError> {
    let mut builder = Builder::new();
    let mut new: Vec<Id> = Vec::with_capacity(track.nodes().len());
    let mut count = 0;
    let mut free = |builder: &mut Builder, x: f64| {
        count += 1;
        builder.free(Parameter::new(&format!("n{count}"), x)?)
    };
    for node in track.nodes() {
        let mut child = |builder: &mut Builder, id: Id| match track.node(id) {
            Some(Node::Constant(x)) => free(builder, x.value()),
            _ => Ok(new[id.index()]),
        };
        let id = match node {
            // a number's places are its parents'; by itself it is only a stand-in, unless it is the whole track
            Node::Constant(x) if track.nodes().len() > 1 => builder.constant(x.value())?,
            Node::Constant(x) => free(&mut builder, x.value())?,
            Node::Clock => builder.clock()?,
            Node::Free(p) => builder.free(Parameter::clone(Arc::as_ref(p)))?,
            Node::Apply(op, operands) => {
                let operands = operands[..op.arity()].iter().map(|&id| child(&mut builder, id));
                let operands = operands.collect::<Result<Vec<Id>, BuildError>>()?;
                builder.apply(*op, &operands)?
            }
            Node::Keyed(keyed) => {
                let keyed = keyed.try_map(|id| child(&mut builder, *id))?;
                builder.insert_keyed(keyed)?
            }
        };
        new.push(id);
    }
    builder.finish(new[track.root().index()])
}
