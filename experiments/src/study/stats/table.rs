//! The runs of a whole study, each reduced to what the statistics need.

use std::collections::BTreeMap;

use thiserror::Error;

use super::order::{NoOrder, Order, order};
use super::profile::Costs;
use crate::study::Study;
use crate::study::plan::{Job, Started};
use crate::study::store::{Point, Record, Store, StoreError};

/// A run.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// Its number in the study.
    pub number: u64,
    /// Problem, start and solver.
    pub job: Job,
    /// How it ended, without its course.
    pub record: Record,
    /// All its evaluations, see [`evaluations`].
    pub evaluations: f64,
    /// The same, or all that it was allowed where it was stopped or crashed and nobody knows how many they were.
    pub spent: f64,
    /// Evaluations until each of the study's numbers of digits was right for the first time; infinite if it never was.
    pub to_digits: Vec<f64>,
    /// Evaluations until the cost had decreased to each of the study's tolerances; infinite if it never did.
    pub to_tau: Vec<f64>,
    /// Order and rate of convergence.
    pub order: Result<Order, NoOrder>,
    /// Seconds, if it ended by itself.
    pub seconds: Option<f64>,
}

/// One point of a run's course, as curves show it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moment {
    /// Evaluations so far.
    pub evaluations: f64,
    /// The cost less the best known one.
    pub excess: f64,
    /// The length of the gradient.
    pub gradient: f64,
    /// The greatest relative error of a parameter.
    pub error: f64,
}

/// All runs of a study.
#[derive(Clone, Debug)]
pub struct Table {
    /// In the order of their numbers.
    pub runs: Vec<Summary>,
    /// The course of each run from a problem's first start, by the run's number, thinned out.
    pub courses: BTreeMap<u64, Vec<Moment>>,
    /// The least cost that is known of each problem: of any run, or the certified one.
    pub best: Vec<f64>,
    /// The names of each problem's parameters, in the order of a run's.
    pub parameters: Vec<Vec<String>>,
    solvers: usize,
}

/// Why there is nothing to say yet.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TableError {
    /// The store.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Runs are missing.
    #[error("{missing} of {all} runs are not in the store")]
    Missing {
        /// How many.
        missing: u64,
        /// Of how many.
        all: u64,
    },
}

/// Evaluations with derivatives counted by what differences would cost for `n` parameters: residuals + n · Jacobians +
/// n(n + 1)/2 · Hessians. A budget of n + 1 is what Moré and Wild call a simplex gradient.
pub fn evaluations(residuals: u64, jacobians: u64, hessians: u64, n: usize) -> f64 {
    let n = n as f64;
    residuals as f64 + n * jacobians as f64 + n * (n + 1.0) / 2.0 * hessians as f64
}

fn evaluations_at(point: &Point, n: usize) -> f64 {
    evaluations(point.residual_evaluations, point.jacobian_evaluations, point.hessian_evaluations, n)
}

impl Table {
    /// Reads a finished study's runs, one at a time.
    ///
    /// # Errors
    /// See [`TableError`].
    pub fn load(study: &Study, store: &mut Store) -> Result<Table, TableError> {
        let certified = study.problems.iter().map(|started| started.problem.sum_of_squares);
        let mut best: Vec<f64> = certified.map(|sum| sum.unwrap_or(f64::INFINITY)).collect();
        let mut runs = 0;
        store.for_each(|number, record, _| {
            let Some(job) = study.job(number) else { return };
            runs += 1;
            if let Some(best) = best.get_mut(job.problem) {
                *best = costs(&record).fold(*best, f64::min);
            }
        })?;
        if runs < study.len() {
            return Err(TableError::Missing { missing: study.len() - runs, all: study.len() });
        }
        let mut table = Table {
            runs: Vec::new(),
            courses: BTreeMap::new(),
            best,
            parameters: study.problems.iter().map(Started::parameters).collect(),
            solvers: study.solvers.len(),
        };
        store.for_each(|number, record, seconds| {
            let Some(job) = study.job(number) else { return };
            table.add(study, number, job, record, seconds);
        })?;
        Ok(table)
    }

    fn add(&mut self, study: &Study, number: u64, job: Job, mut record: Record, seconds: Option<f64>) {
        let n = self.count(job.problem);
        let best = self.best.get(job.problem).copied().unwrap_or(f64::INFINITY);
        let Some(started) = study.problems.get(job.problem) else { return };
        let (residuals, jacobians) = (record.residual_evaluations, record.jacobian_evaluations);
        let all = evaluations(residuals, jacobians, record.hessian_evaluations, n);
        let first = |reached: &dyn Fn(&Point) -> bool, at_the_end: bool| {
            let found =
                record.trace.iter().find(|point| reached(point)).map(|point| evaluations_at(point, n));
            // a run that ends where it began has done something all the same
            found.or(at_the_end.then_some(all)).map_or(f64::INFINITY, |cost| cost.max(1.0))
        };
        let digits = |point: &Point| started.problem.digits(point.distance, point.cost);
        let to_digits =
            study.digits.iter().map(|d| first(&|point| digits(point) >= *d, record.digits >= *d)).collect();
        let initial = record.trace.first().map_or(record.initial, |point| point.cost);
        let to_tau = study.tau.iter().map(|tau| {
            let done = |cost: f64| cost <= best + tau * (initial - best);
            first(&|point| done(point.cost), done(record.last))
        });
        let to_tau = to_tau.collect();
        let errors: Vec<f64> = record.trace.iter().map(|point| point.distance).collect();
        if job.start == 0 {
            self.courses.insert(number, thinned(&record.trace, n, best));
        }
        record.trace = Vec::new();
        let order = order(&errors);
        let allowed = study.solvers.get(job.solver).map_or(0, |own| own.options.evaluation_budget);
        let spent = if record.is_uncounted() { allowed as f64 } else { all };
        self.runs.push(Summary {
            number,
            job,
            record,
            evaluations: all,
            spent,
            to_digits,
            to_tau,
            order,
            seconds,
        });
    }

    /// How many parameters a problem has.
    pub fn count(&self, problem: usize) -> usize {
        self.parameters.get(problem).map_or(0, Vec::len)
    }

    /// How many solvers there are.
    pub fn solvers(&self) -> usize {
        self.solvers
    }

    /// The runs by tasks, which are starts of problems: one a solver, in their order.
    pub fn tasks(&self) -> impl Iterator<Item = &[Summary]> {
        self.runs.chunks(self.solvers.max(1))
    }

    /// The tasks of a problem, and the place of the first of them.
    pub fn tasks_of(&self, problem: usize) -> (usize, impl Iterator<Item = &[Summary]>) {
        let solvers = self.solvers.max(1);
        let first = self.runs.partition_point(|run| run.job.problem < problem) / solvers;
        let is_own = move |task: &&[Summary]| task.first().is_some_and(|run| run.job.problem == problem);
        (first, self.tasks().skip(first).take_while(is_own))
    }

    /// What each solver's run cost, a task a start.
    pub fn costs(&self, cost: impl Fn(&Summary) -> f64) -> Costs {
        self.costs_on(|_| true, cost)
    }

    /// What each solver's run cost on those problems, a task a start.
    pub fn costs_on(&self, problem: impl Fn(usize) -> bool, cost: impl Fn(&Summary) -> f64) -> Costs {
        let mut costs = Costs::new(self.solvers);
        for row in self.tasks() {
            if let Some(first) = row.first().filter(|first| problem(first.job.problem)) {
                costs.push(first.job.problem, row.iter().map(&cost));
            }
        }
        costs
    }

    /// The runs of a solver on a problem, a start each.
    pub fn of(&self, problem: usize, solver: usize) -> impl Iterator<Item = &Summary> {
        let first = self.runs.partition_point(|run| run.job.problem < problem);
        let own = self.runs.iter().skip(first).take_while(move |run| run.job.problem == problem);
        own.filter(move |run| run.job.solver == solver)
    }
}

fn costs(record: &Record) -> impl Iterator<Item = f64> {
    let all = record.trace.iter().map(|point| point.cost).chain([record.last]);
    all.filter(|cost| !cost.is_nan())
}

/// Points so far apart that a figure can show them, the first and the last always.
fn thinned(trace: &[Point], n: usize, best: f64) -> Vec<Moment> {
    let mut kept: Vec<Moment> = Vec::new();
    for (i, point) in trace.iter().enumerate() {
        let evaluations = evaluations_at(point, n);
        let far = kept.last().is_none_or(|last| evaluations >= 1.04 * last.evaluations);
        if far || i + 1 == trace.len() {
            let Point { cost, gradient, distance, .. } = *point;
            kept.push(Moment { evaluations, excess: cost - best, gradient, error: distance });
        }
    }
    kept
}

/// The expected evaluations until success, were the runs repeated from starts like these: all evaluations, those of failures
/// included, over the number of successes. Each run gives its evaluations and those until success, infinite if there was none.
///
/// Source: Auger and Hansen, Proceedings of CEC 2005, 1777–1784; called ERT in COCO.
pub fn expected(runs: impl IntoIterator<Item = (f64, f64)>) -> f64 {
    let (mut spent, mut successes) = (0.0, 0u64);
    for (all, until) in runs {
        spent += if until.is_finite() { until } else { all };
        successes += u64::from(until.is_finite());
    }
    if successes == 0 { f64::INFINITY } else { spent / successes as f64 }
}
