//! One run of a study, and how it travels between processes.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use keyfit_ir::Channel;
use keyfit_solvers::{
    Fit, FitError, FitOptions, FitProblem, LeastSquares, Options, TracePoint, fit_channels,
};

use super::plan::{Configured, Job, Started, Study};
use super::store::{Point, Record};
use crate::suite::{Problem, Values};

/// Carries a run out; gives it with its seconds, problem set-up included. `None` if the study has no such run.
///
/// A panic inside is caught and recorded. Time and memory are the caller's affair.
pub fn execute(study: &Study, job: Job) -> Option<(Record, f64)> {
    execute_by(study, job, fitted)
}

fn execute_by(
    study: &Study,
    job: Job,
    fitted: impl FnOnce(&[Channel], &Configured) -> Result<Fit, FitError>,
) -> Option<(Record, f64)> {
    let started = study.problems.get(job.problem)?;
    let (_, channels) = started.starts.get(job.start)?;
    let configured = study.solvers.get(job.solver)?;
    let began = Instant::now();
    let outcome = catch_unwind(AssertUnwindSafe(|| fitted(channels, configured)));
    let seconds = began.elapsed().as_secs_f64();
    let record = match outcome {
        Ok(Ok(fit)) => catch_unwind(AssertUnwindSafe(|| record(started, channels, &fit)))
            .unwrap_or_else(|panic| Record::failed(format!("panicked: {}", words(panic.as_ref())))),
        Ok(Err(FitError::Refused(refusal))) => Record::failed(format!("refused: {refusal}")),
        Ok(Err(error)) => Record::failed(format!("error: {error}")),
        Err(panic) => Record::failed(format!("panicked: {}", words(panic.as_ref()))),
    };
    Some((record, seconds))
}

fn fitted(channels: &[Channel], configured: &Configured) -> Result<Fit, FitError> {
    let solver_options = Options { keep_path: true, ..configured.options.clone() };
    let options = FitOptions { solver: configured.solver, solver_options, ..FitOptions::default() };
    fit_channels(channels.to_vec(), &options)
}

fn words(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default()
}

fn record(started: &Started, channels: &[Channel], fit: &Fit) -> Record {
    let problem = &started.problem;
    let named: Values = fit.parameters.iter().map(|p| (p.name.clone(), p.value)).collect();
    Record {
        status: fit.termination.name().into(),
        converged: fit.converged,
        local_minimum: problem.is_local_minimum(fit.final_residual),
        digits: problem.lre(&named, fit.final_residual),
        initial: fit.initial_residual,
        last: fit.final_residual,
        steps: fit.steps,
        residual_evaluations: fit.residual_evaluations,
        jacobian_evaluations: fit.jacobian_evaluations,
        hessian_evaluations: fit.hessian_evaluations,
        parameters: fit.parameters.iter().map(|p| p.value).collect(),
        trace: course(problem, channels, fit),
    }
}

/// The points of a run's course, with what the solver did not say: gradient, step and distance, computed from the parameters at
/// each point outside of the run's counts and time.
fn course(problem: &Problem, channels: &[Channel], fit: &Fit) -> Vec<Point> {
    let Ok(model) = FitProblem::new(channels.to_vec(), None) else { return Vec::new() };
    let names: Vec<&str> = fit.parameters.iter().map(|p| p.name.as_str()).collect();
    let mut before: Option<&[f64]> = None;
    let mut points = Vec::with_capacity(fit.trace.len());
    for TracePoint {
        iteration,
        residual_evaluations,
        jacobian_evaluations,
        hessian_evaluations,
        sum_of_squares,
        radius,
        parameters,
    } in &fit.trace
    {
        let here = names.iter().copied().map(str::to_owned).zip(parameters.iter().copied()).collect();
        points.push(Point {
            iteration: *iteration,
            residual_evaluations: *residual_evaluations,
            jacobian_evaluations: *jacobian_evaluations,
            hessian_evaluations: *hessian_evaluations,
            cost: *sum_of_squares,
            gradient: gradient(&model, parameters),
            step: before.map_or(0.0, |before| length(before.iter().zip(parameters).map(|(a, b)| a - b))),
            radius: radius.unwrap_or(f64::NAN),
            distance: problem.distance(&here),
        });
        before = Some(parameters);
    }
    points
}

fn length(numbers: impl Iterator<Item = f64>) -> f64 {
    numbers.fold(0.0, |sum, x| keyfit_ir::Scalar::hypot(&sum, &x))
}

/// The length of 2·Jᵀr.
fn gradient(model: &FitProblem, parameters: &[f64]) -> f64 {
    let mut residuals = vec![0.0; model.residuals()];
    model.residuals_into(parameters, &mut residuals);
    let jacobian = model.jacobian(parameters);
    let slope = |column: ndarray::ArrayView1<'_, f64>| {
        2.0 * column.iter().zip(&residuals).map(|(d, r)| d * r).sum::<f64>()
    };
    length(jacobian.columns().into_iter().map(slope))
}

/// A run on its way between processes: its number, the record, its seconds. One line of text; no bit of a number is lost,
/// and all NaNs are one.
pub fn to_line(job: u64, record: &Record, seconds: f64) -> String {
    let Record { converged, local_minimum, digits, initial, last, parameters, trace, .. } = record;
    let counts =
        [record.steps, record.residual_evaluations, record.jacobian_evaluations, record.hessian_evaluations];
    let head = [job, u64::from(*converged), u64::from(*local_minimum), parameters.len() as u64];
    let reals = [*digits, *initial, *last, seconds].into_iter().chain(parameters.iter().copied());
    let reals = reals.chain(trace.iter().flat_map(Point::numbers));
    // the bits of a NaN differ from machine to machine
    let bits = |x: f64| if x.is_nan() { f64::NAN } else { x }.to_bits();
    let words: Vec<u64> = head.into_iter().chain(counts).chain(reals.map(bits)).collect();
    // one line, whatever the status says
    serde_json::to_string(&(&record.status, words)).unwrap_or_default()
}

/// Reads [`to_line`]'s text.
pub fn from_line(line: &str) -> Option<(u64, Record, f64)> {
    let (status, words): (String, Vec<u64>) = serde_json::from_str(line).ok()?;
    let [job, converged, local, count, steps, residuals, jacobians, hessians, reals @ ..] = words.as_slice()
    else {
        return None;
    };
    let reals: Vec<f64> = reals.iter().copied().map(f64::from_bits).collect();
    let [digits, initial, last, seconds, rest @ ..] = reals.as_slice() else { return None };
    let (parameters, trace) = rest.split_at_checked(usize::try_from(*count).ok()?)?;
    let record = Record {
        status,
        converged: *converged == 1,
        local_minimum: *local == 1,
        digits: *digits,
        initial: *initial,
        last: *last,
        steps: *steps,
        residual_evaluations: *residuals,
        jacobian_evaluations: *jacobians,
        hessian_evaluations: *hessians,
        parameters: parameters.to_vec(),
        trace: Point::all(trace)?,
    };
    Some((*job, record, *seconds))
}

#[cfg(test)]
mod tests {
    use std::panic::resume_unwind;
    use std::path::Path;

    use super::*;

    const STUDY: &str = "name = \"one\"\n[[suites]]\nname = \"nist\"\nproblems = [\"Misra1a\"]\n\
                         [[solvers]]\nsolver = \"levenberg-marquardt\"\n";

    /// A solver that fits and then panics, with each kind of thing that a panic carries.
    #[test]
    fn a_solver_that_panics_costs_its_run() {
        let study = Study::parse(STUDY, Path::new(".")).unwrap();
        let ended = |panic: fn() -> Box<dyn Any + Send>| {
            let spoiled = |channels: &[Channel], configured: &Configured| {
                fitted(channels, configured)?;
                // as a panic does, but without the message on stderr
                resume_unwind(panic())
            };
            execute_by(&study, study.job(1).unwrap(), spoiled).unwrap().0.status
        };
        assert_eq!(ended(|| Box::new("out of bounds")), "panicked: out of bounds");
        assert_eq!(ended(|| Box::new(String::from("out\nof bounds"))), "panicked: out\nof bounds");
        assert_eq!(ended(|| Box::new(3)), "panicked: ");
        // and the next run is none the worse
        let (record, _) = execute(&study, study.job(1).unwrap()).unwrap();
        assert!(record.converged && record.digits > 8.0, "{record:?}");
    }
}
