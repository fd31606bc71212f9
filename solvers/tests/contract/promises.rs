//! Promises on problems that behave.

use keyfit_solvers::{
    LeastSquares, NonFinite, Options, Outcome, SOLVERS, SolveError, SolverEntry, Termination, lookup, solve,
};
use ndarray::ArrayViewMut2;

use crate::problems::{Bends, Problem, START, Watched, able, decay, linear};

fn run(problem: &dyn LeastSquares, start: &[f64], solver: &SolverEntry) -> Outcome {
    solve(problem, start, solver, &Options::default()).unwrap()
}

#[test]
fn the_registry_is_well_formed() {
    for (i, solver) in SOLVERS.iter().enumerate() {
        assert!(std::ptr::eq(lookup(solver.name).unwrap(), solver));
        assert!(SOLVERS[..i].iter().all(|other| other.name != solver.name));
        assert!(!solver.summary.is_empty() && !solver.summary.contains('\n') && !solver.reference.is_empty());
        assert!(solver.iterations > 0);
    }
    assert!(lookup("tabu-search").is_none());
}

#[test]
fn every_solver_solves_an_easy_problem_and_counts_honestly() {
    let expected = run(&decay(), &START, lookup("levenberg-marquardt").unwrap());
    for solver in SOLVERS {
        let problem = Watched::new(decay());
        let outcome = run(&problem, &START, solver);
        problem.check(&outcome, solver.name);
        assert!(outcome.termination.converged(), "{} {:?}", solver.name, outcome.termination);
        for (a, b) in outcome.parameters.iter().zip(&expected.parameters) {
            assert!((a - b).abs() < 1e-6, "{} {a} {b}", solver.name);
        }
        assert!(outcome.relative_offset <= 1e-6 && outcome.rank == 2 && outcome.undetermined.is_empty());
        let trace = &outcome.trace;
        assert_eq!(trace[0].iteration, 0);
        assert_eq!(trace[0].residual_evaluations, 1, "{}", solver.name);
        assert!((trace[0].sum_of_squares / outcome.initial_sum_of_squares - 1.0).abs() < 1e-15);
        assert_eq!(trace.len() as u64, outcome.iterations + 1, "{}", solver.name);
        assert!(trace.windows(2).all(|w| w[0].iteration + 1 == w[1].iteration
            && w[0].residual_evaluations <= w[1].residual_evaluations
            && w[0].jacobian_evaluations <= w[1].jacobian_evaluations));
    }
}

#[test]
fn the_budget_stops_every_solver_at_exactly_n() {
    for solver in SOLVERS {
        for budget in 1..=6 {
            let problem = Watched::new(decay());
            let options = Options { evaluation_budget: budget, ..Options::default() };
            let outcome = solve(&problem, &START, solver, &options).unwrap();
            problem.check(&outcome, solver.name);
            assert_eq!(outcome.residual_evaluations, budget, "{}", solver.name);
            assert_eq!(outcome.termination, Termination::EvaluationBudget, "{}", solver.name);
        }
    }
}

#[test]
fn the_iteration_limit_is_kept() {
    for solver in SOLVERS {
        let options = Options { iterations: Some(2), ..Options::default() };
        let outcome = solve(&decay(), &START, solver, &options).unwrap();
        assert_eq!(outcome.termination, Termination::IterationLimit, "{}", solver.name);
        assert_eq!(outcome.iterations, 2, "{}", solver.name);
    }
}

#[test]
fn a_nan_at_any_evaluation_ends_with_the_best_point() {
    for solver in SOLVERS {
        for k in 1..=12 {
            let mut problem = Watched::new(decay());
            problem.spoiled_residual = k;
            match solve(&problem, &START, solver, &Options::default()) {
                Ok(outcome) => {
                    assert!(k > 1);
                    problem.check(&outcome, solver.name);
                    if solver.by_values || ["default", "levenberg-marquardt", "newton"].contains(&solver.name)
                    {
                        let reason = outcome.termination;
                        assert!(
                            reason.converged(),
                            "{} {k} {reason:?}: a rejected trial is no reason to stop",
                            solver.name
                        );
                    }
                }
                Err(error) => {
                    assert_eq!(
                        (k, error),
                        (1, SolveError::NonFiniteStart(NonFinite::Residual { residual: 1 }))
                    );
                }
            }

            let mut problem = Watched::new(decay());
            problem.spoiled_jacobian = k;
            let outcome = run(&problem, &START, solver);
            problem.check(&outcome, solver.name);
            if k == 1 {
                let place = NonFinite::Derivative { residual: 1, parameter: 0 };
                // others of the chain go on; and these can do without, once
                let goes_on = solver.by_values || ["default", "variable-projection"].contains(&solver.name);
                assert!(goes_on || outcome.termination == Termination::NonFinite(place), "{}", solver.name);
            }
        }
    }
}

#[test]
fn a_region_without_values_is_not_entered() {
    // ln x − 1 with a first Gauss–Newton step from 10 to −3.03.
    let problem = Problem {
        shape: (1, 1),
        residuals: |x: &[f64], out: &mut [f64]| out[0] = x[0].ln() - 1.0,
        jacobian: |x: &[f64], mut out: ArrayViewMut2<'_, f64>| out[[0, 0]] = 1.0 / x[0],
        bends: None,
        linear: Vec::new(),
    };
    let outcome = run(&problem, &[10.0], lookup("levenberg-marquardt").unwrap());
    assert!(outcome.termination.converged(), "{:?}", outcome.termination);
    assert!((outcome.parameters[0] - 1f64.exp()).abs() < 1e-14);
    let outcome = run(&problem, &[10.0], lookup("gauss-newton").unwrap());
    assert_eq!(outcome.termination, Termination::NonFinite(NonFinite::Residual { residual: 0 }));
    assert_eq!(outcome.parameters, [10.0]);
}

#[test]
fn zero_residuals_are_recognised() {
    for solver in SOLVERS {
        let outcome =
            run(&linear([[1.0, 0.0], [0.0, 2.0], [1.0, 1.0]], [1.0, 4.0, 3.0]), &[1.0, 2.0], solver);
        assert_eq!(outcome.termination, Termination::ZeroResidual, "{}", solver.name);
        assert_eq!((outcome.iterations, outcome.residual_evaluations), (0, 1));
        assert_eq!((outcome.relative_offset, outcome.rank), (0.0, 2));
        let outcome =
            run(&linear([[1.0, 0.0], [0.0, 2.0], [1.0, 1.0]], [1.0, 4.0, 3.0]), &[0.3, 0.1], solver);
        assert!(outcome.termination.converged(), "{} {:?}", solver.name, outcome.termination);
    }
}

#[test]
fn residuals_of_any_size_are_solved_alike() {
    let expected = run(&decay(), &START, lookup("levenberg-marquardt").unwrap()).parameters;
    for scale in [1e-150, 1e-9, 1e9, 1e150] {
        let scaled = Problem {
            shape: (5, 2),
            residuals: |x: &[f64], out: &mut [f64]| {
                decay().residuals_into(x, out);
                out.iter_mut().for_each(|r| *r *= scale);
            },
            jacobian: |x: &[f64], mut out: ArrayViewMut2<'_, f64>| {
                decay().jacobian_into(x, out.view_mut());
                out *= scale;
            },
            bends: None,
            linear: vec![0],
        };
        let outcome = run(&scaled, &START, lookup("levenberg-marquardt").unwrap());
        assert!(outcome.termination.converged(), "{scale} {:?}", outcome.termination);
        for (a, b) in outcome.parameters.iter().zip(&expected) {
            assert!((a - b).abs() < 1e-12, "{scale} {a} {b}");
        }
        for solver in able(&scaled) {
            let outcome = run(&scaled, &START, solver);
            let right = (outcome.parameters[1] - expected[1]).abs() < 1e-4;
            assert!(right || !outcome.termination.converged(), "{} {scale} {outcome:?}", solver.name);
        }
    }
}

#[test]
fn a_sum_of_two_parameters_has_rank_one() {
    for solver in SOLVERS {
        let outcome = run(&linear([[1.0, 1.0]; 3], [1.0, 2.0, 3.5]), &[0.5, 0.25], solver);
        assert_eq!(outcome.rank, 1, "{}", solver.name);
        assert_eq!((&outcome.covariance, &outcome.standard_errors), (&None, &None));
        let [direction] = &outcome.undetermined[..] else { panic!("{:?}", outcome.undetermined) };
        assert!(
            (direction[0] + direction[1]).abs() < 1e-15 && (direction[0].abs() - 0.5f64.sqrt()).abs() < 1e-15
        );
        if solver.name == "gauss-newton" {
            assert_eq!(outcome.termination, Termination::SingularMatrix);
            continue;
        }
        assert!(outcome.termination.converged(), "{} {:?}", solver.name, outcome.termination);
        let [a, b] = outcome.parameters[..] else { panic!() };
        assert!((a + b - 6.5 / 3.0).abs() < 1e-7, "{} {a} {b}", solver.name);
        // The shortest step leaves the difference of the two as it was; values alone know no shortest step.
        let kept = (a - b - 0.25).abs() < 1e-7;
        assert!(kept || solver.by_values, "{} {a} {b}", solver.name);
    }
}

#[test]
fn fewer_residuals_than_parameters() {
    let outcome =
        run(&linear([[1.0, 2.0, 2.0]], [9.0]), &[0.0, 0.0, 0.0], lookup("levenberg-marquardt").unwrap());
    assert!(outcome.termination.converged());
    assert_eq!((outcome.rank, outcome.undetermined.len(), outcome.covariance), (1, 2, None));
    let gradient_descent =
        run(&linear([[1.0, 2.0, 2.0]], [9.0]), &[0.0, 0.0, 0.0], lookup("gradient-descent").unwrap());
    for (x, expected) in gradient_descent.parameters.iter().zip([1.0, 2.0, 2.0]) {
        assert!((x - expected).abs() < 1e-7);
    }
}

#[test]
fn covariance_of_a_straight_line() {
    // y = a + b t at t = 0, 1, 2: residuals of the fit are 1/6, −1/3, 1/6, so s² = 1/6.
    let outcome = run(
        &linear([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]], [1.0, 2.5, 3.0]),
        &[0.0, 0.0],
        lookup("levenberg-marquardt").unwrap(),
    );
    let covariance = outcome.covariance.unwrap();
    let expected = [[5.0 / 36.0, -1.0 / 12.0], [-1.0 / 12.0, 1.0 / 12.0]];
    for ((i, j), c) in covariance.indexed_iter() {
        assert!((c - expected[i][j]).abs() < 1e-15, "{i} {j} {c}");
    }
    assert!((outcome.standard_errors.unwrap()[1] - (1.0f64 / 12.0).sqrt()).abs() < 1e-15);
}

#[test]
fn gradient_descent_that_grows_is_diverged() {
    let outcome = solve(
        &linear([[10.0], [1.0]], [1.0, 5.0]),
        &[0.0],
        lookup("gradient-descent").unwrap(),
        &Options::default(),
    )
    .unwrap();
    assert_eq!(outcome.termination, Termination::Diverged);
    assert_eq!(outcome.parameters, [0.0], "the start was best");
}

#[test]
fn a_parameter_that_loses_all_effect_is_named() {
    // The residual falls for ever as x grows; there is no minimum.
    let problem = Problem {
        shape: (2, 1),
        residuals: |x: &[f64], out: &mut [f64]| {
            out[0] = 1.0 + (-x[0]).exp();
            out[1] = 2.0;
        },
        jacobian: |x: &[f64], mut out: ArrayViewMut2<'_, f64>| out[[0, 0]] = -(-x[0]).exp(),
        bends: Some(Bends(|x| vec![ndarray::array![[(-x[0]).exp()]], ndarray::array![[0.0]]])),
        linear: Vec::new(),
    };
    for solver in able(&problem) {
        let outcome = run(&problem, &[1.0], solver);
        assert!(!outcome.termination.converged(), "{} {:?}", solver.name, outcome.termination);
    }
    let outcome = run(&problem, &[1.0], lookup("levenberg-marquardt").unwrap());
    assert_eq!(outcome.termination, Termination::ColumnVanished { parameter: 0 });
}

#[test]
fn what_cannot_be_solved_is_refused() {
    let solver = &SOLVERS[0];
    let go = |problem: &dyn LeastSquares, start: &[f64], options: &Options| {
        solve(problem, start, solver, options).unwrap_err()
    };
    let options = Options::default();
    assert_eq!(go(&linear([[]], [1.0]), &[], &options), SolveError::NoParameters);
    assert_eq!(go(&linear::<0, 1>([], []), &[1.0], &options), SolveError::NoResiduals);
    let wrong_length = SolveError::WrongStartLength { given: 1, parameters: 2 };
    assert_eq!(go(&decay(), &[1.0], &options), wrong_length);
    let infinite = SolveError::NonFiniteStart(NonFinite::Parameter { parameter: 1 });
    assert_eq!(go(&decay(), &[1.0, f64::INFINITY], &options), infinite);
    assert_eq!(go(&decay(), &[1e200, 1.0], &options), SolveError::NonFiniteStart(NonFinite::SumOfSquares));
    for (option, options) in [
        ("evaluation_budget", Options { evaluation_budget: 0, ..Options::default() }),
        ("learning_rate", Options { learning_rate: f64::NAN, ..Options::default() }),
        ("first_step", Options { first_step: -1.0, ..Options::default() }),
    ] {
        assert_eq!(go(&decay(), &START, &options), SolveError::InvalidOption { option });
    }
}

#[test]
fn every_termination_has_words() {
    for termination in [
        Termination::ZeroResidual,
        Termination::RankLost { start: 2, rank: 1 },
        Termination::NonFinite(NonFinite::Gradient { parameter: 3 }),
    ] {
        assert_eq!(termination.to_string().starts_with("converged"), termination.converged());
        assert!(!termination.to_string().contains('\n'));
    }
}

#[test]
fn gradient_descent_descends_the_mean_of_squares() {
    // r = (−1, 3), J = (1, 3): the gradient of the mean is (2/2)·(−1 + 9) = 8.
    let options = Options { iterations: Some(1), learning_rate: 0.0625, ..Options::default() };
    let solver = lookup("gradient-descent").unwrap();
    let outcome = solve(&linear([[1.0], [3.0]], [2.0, 0.0]), &[1.0], solver, &options).unwrap();
    assert_eq!(outcome.parameters, [0.5]);
}
