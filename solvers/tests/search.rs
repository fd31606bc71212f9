//! Hard starts: what particle swarm and annealing find where a walk downhill from the start does not.

use keyfit_ir::{Target, Track};
use keyfit_solvers::{Fit, FitOptions, Options, SOLVERS, SolverEntry, Termination, fit_parameters, lookup};

fn searches() -> impl Iterator<Item = &'static SolverEntry> {
    ["particle-swarm", "simulated-annealing"].into_iter().map(|name| lookup(name).expect("a solver"))
}

fn fit(
    solver: &'static SolverEntry,
    seed: u64,
    formula: &str,
    bounds: &[(&str, [f64; 2])],
    truth: &str,
) -> Fit {
    let truth = Track::parse(truth).unwrap();
    let target = |t: f64| Target::new(t, truth.sample(t));
    let targets: Vec<Target> = (0..25).map(|k| target(f64::from(k) / 5.0)).collect();
    let bounds = bounds.iter().map(|(name, range)| ((*name).into(), *range)).collect();
    let solver_options = Options { seed, keep_path: true, ..Options::default() };
    let options = FitOptions { solver, solver_options, bounds, ..FitOptions::default() };
    fit_parameters(&Track::parse(formula).unwrap(), &targets, &options).unwrap()
}

const WAVE: &str = "?a=1*sin(?w=1*t + ?p=0) + ?c=0";
const TRUTH: &str = "2*sin(7.5*t + 1) + 0.5";
const WITHIN: [(&str, [f64; 2]); 1] = [("w", [0.0, 15.0])];

/// A frequency far from its start, with a local minimum a wave: whoever walks downhill ends in one.
#[test]
fn a_frequency_is_found_within_bounds() {
    for solver in SOLVERS.iter().filter(|solver| solver.bounds && !solver.by_values) {
        let lost = fit(solver, 0, WAVE, &WITHIN, TRUTH);
        assert!(lost.final_residual > 1.0, "{}: not hard", solver.name);
    }
    for solver in searches() {
        let found = (0..10).filter(|seed| {
            let fit = fit(solver, *seed, WAVE, &WITHIN, TRUTH);
            assert!(fit.residual_evaluations <= 100_000);
            assert!(!fit.converged || fit.evidence.scaled_gradient < 1e-6 || fit.final_residual < 1e-20);
            fit.converged && fit.final_residual < 1e-20
        });
        let found = found.count();
        assert!(found >= 8, "{}: {found} of 10", solver.name);
    }
}

/// The same seed is the same run to the bit, on every machine; another seed is another run.
#[test]
fn a_seed_fixes_the_run() {
    let mut report = String::new();
    for solver in searches() {
        let run = |seed| fit(solver, seed, WAVE, &WITHIN, TRUTH);
        let [one, again, other] = [1, 1, 2].map(run);
        assert_eq!(one.trace, again.trace);
        assert_ne!(one.trace, other.trace);
        let fifth = &one.trace[50];
        report += &format!("{}: {:?} after {}\n", solver.name, fifth.parameters, fifth.residual_evaluations);
    }
    insta::assert_snapshot!(report);
}

/// Where no bound says otherwise, the search stays about the start's size; what it finds is polished to the last digit.
#[test]
fn what_is_found_is_polished() {
    for solver in searches() {
        let fit = fit(solver, 0, "?a=1*exp(?b=1*t) + ?c=1", &[], "3*exp(-0.5*t) + 0.25");
        for (name, value) in [("a", 3.0), ("b", -0.5), ("c", 0.25)] {
            let off = (fit.value(name).unwrap() - value).abs();
            assert!(fit.converged && off < 1e-12, "{}: {:?} {}", solver.name, fit.parameters, fit.message);
        }
        let best: Vec<f64> = fit.trace.iter().map(|point| point.sum_of_squares).collect();
        assert!(best.windows(2).all(|pair| pair[1] <= pair[0] * (1.0 + 1e-9) + 1e-24), "{}", solver.name);
    }
}

/// A budget ends a search within a generation, between it and the polish, and within the polish, at exactly its number.
#[test]
fn a_budget_is_kept_to_the_number() {
    let truth = Track::parse(TRUTH).unwrap();
    let targets: Vec<Target> =
        (0..25).map(|k| f64::from(k) / 5.0).map(|t| Target::new(t, truth.sample(t) + 0.1 * t * t)).collect();
    for solver in searches() {
        for budget in [1, 2, 39, 40, 41, 42, 55, 100] {
            let solver_options = Options { evaluation_budget: budget, ..Options::default() };
            let options = FitOptions { solver, solver_options, ..FitOptions::default() };
            let fit = fit_parameters(&Track::parse(WAVE).unwrap(), &targets, &options).unwrap();
            let used = fit.residual_evaluations;
            let spent = fit.termination == Termination::EvaluationBudget;
            assert!(used == budget || (used < budget && !spent), "{} {budget}: {}", solver.name, fit.message);
            assert!(spent || budget > 42, "{} {budget}: {}", solver.name, fit.message);
        }
    }
}
