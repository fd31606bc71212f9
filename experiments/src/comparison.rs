//! Comparisons: every solver on every start of every problem, with the digits that it got right.

use std::time::{Duration, Instant};

use keyfit_solvers::{
    Evidence, Fit, FitError, FitOptions, Options, SolveError, SolverEntry, TracePoint, fit_channels,
};

use crate::suite::{Problem, Values};

/// One solver on one start.
#[derive(Clone, Debug)]
pub struct Run {
    /// The suite's name.
    pub suite: String,
    /// The problem's name.
    pub problem: String,
    /// Which start, counted from 1.
    pub start: usize,
    /// The solver's name.
    pub solver: &'static str,
    /// Digits right in the worst parameter.
    pub lre: f64,
    /// How it ended: a termination's name, or why it was refused.
    pub status: String,
    /// Whether the solver says that it converged.
    pub converged: bool,
    /// Whether it ended at a known minimum that is not the least.
    pub local_minimum: bool,
    /// The sum of squared residuals at the end; NaN if the fit was refused.
    pub final_residual: f64,
    /// How often all residuals were evaluated.
    pub residual_evaluations: u64,
    /// How often the Jacobian was evaluated.
    pub jacobian_evaluations: u64,
    /// What speaks for a minimum; `None` if the fit was refused.
    pub evidence: Option<Evidence>,
    /// The course of the fit.
    pub trace: Vec<TracePoint>,
    /// How long the fit took, problem set-up included.
    pub time: Duration,
}

/// How one solver did on all the runs of a comparison.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// The solver's name.
    pub solver: &'static str,
    /// How many runs it had.
    pub runs: usize,
    /// How many runs have at least 4, 6, 8 and 10 digits right.
    pub reached: [usize; 4],
    /// How many converged at a known minimum that is not the least.
    pub other_minima: usize,
    /// How many said that they converged with fewer than 4 digits right, and not at a known minimum.
    pub false_claims: usize,
    /// Residual evaluations over all runs.
    pub residual_evaluations: u64,
}

/// The digits that a [`Summary`] counts.
pub const LEVELS: [f64; 4] = [4.0, 6.0, 8.0, 10.0];

/// Runs every solver from every start. `done` is told after each run.
pub fn compare(
    problems: &[Problem],
    solvers: &[&'static SolverEntry],
    options: &Options,
    mut done: impl FnMut(&Run),
) -> Vec<Run> {
    let mut runs = Vec::new();
    for problem in problems {
        for start in 0..problem.starts.len() {
            for &solver in solvers {
                let run = run(problem, start, solver, options);
                done(&run);
                runs.push(run);
            }
        }
    }
    runs
}

fn run(problem: &Problem, start: usize, solver: &'static SolverEntry, options: &Options) -> Run {
    let began = Instant::now();
    let options = FitOptions { solver, solver_options: options.clone(), ..FitOptions::default() };
    let result = fit_channels(problem.starts[start].clone(), &options);
    let time = began.elapsed();
    let blank = Run {
        suite: problem.suite.clone(),
        problem: problem.name.clone(),
        start: start + 1,
        solver: solver.name,
        lre: 0.0,
        status: String::new(),
        converged: false,
        local_minimum: false,
        final_residual: f64::NAN,
        residual_evaluations: 0,
        jacobian_evaluations: 0,
        evidence: None,
        trace: Vec::new(),
        time,
    };
    match result {
        Ok(fit) => Run {
            lre: problem.lre(&values(&fit), fit.final_residual),
            local_minimum: problem.is_local_minimum(fit.final_residual),
            status: fit.termination.name().into(),
            converged: fit.converged,
            final_residual: fit.final_residual,
            residual_evaluations: fit.residual_evaluations,
            jacobian_evaluations: fit.jacobian_evaluations,
            evidence: Some(fit.evidence),
            trace: fit.trace,
            ..blank
        },
        Err(FitError::Refused(refusal)) => Run { status: format!("refused: {refusal}"), ..blank },
        Err(FitError::Solve(
            error @ (SolveError::NoLinearParameter { .. } | SolveError::NoSecondDerivatives { .. }),
        )) => Run { status: format!("refused: {error}"), ..blank },
        Err(error) => Run { status: format!("error: {error}"), ..blank },
    }
}

fn values(fit: &Fit) -> Values {
    fit.parameters.iter().map(|p| (p.name.clone(), p.value)).collect()
}

/// One summary a solver, in the order in which they were asked for.
pub fn summarize(runs: &[Run], solvers: &[&'static SolverEntry]) -> Vec<Summary> {
    let summary = |solver: &&'static SolverEntry| {
        let own: Vec<&Run> = runs.iter().filter(|run| run.solver == solver.name).collect();
        let elsewhere = || own.iter().filter(|run| run.converged && run.lre < LEVELS[0]);
        Summary {
            solver: solver.name,
            runs: own.len(),
            reached: LEVELS.map(|digits| own.iter().filter(|run| run.lre >= digits).count()),
            other_minima: elsewhere().filter(|run| run.local_minimum).count(),
            false_claims: elsewhere().filter(|run| !run.local_minimum).count(),
            residual_evaluations: own.iter().map(|run| run.residual_evaluations).sum(),
        }
    };
    solvers.iter().map(summary).collect()
}
