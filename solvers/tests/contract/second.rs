//! Second derivatives, evidence, several starts, and what is refused for want of structure.

use keyfit_solvers::{LeastSquares, Need, Options, SOLVERS, SolveError, Termination, lookup, solve};
use ndarray::{ArrayViewMut2, array};

use crate::problems::{Bends, Problem, START, Watched, able, decay, linear};

/// A minimum with large residuals: r = (x² + y² − 1, x·y/4 + x − 2, y + 1).
fn bent() -> impl LeastSquares {
    Problem {
        shape: (3, 2),
        residuals: |x: &[f64], out: &mut [f64]| {
            out[0] = x[0] * x[0] + x[1] * x[1] - 1.0;
            out[1] = x[0] * x[1] / 4.0 + x[0] - 2.0;
            out[2] = x[1] + 1.0;
        },
        jacobian: |x: &[f64], mut out: ArrayViewMut2<'_, f64>| {
            out.assign(&array![[2.0 * x[0], 2.0 * x[1]], [x[1] / 4.0 + 1.0, x[0] / 4.0], [0.0, 1.0]]);
        },
        bends: Some(Bends(|_| {
            vec![
                array![[2.0, 0.0], [0.0, 2.0]],
                array![[0.0, 0.25], [0.25, 0.0]],
                array![[0.0, 0.0], [0.0, 0.0]],
            ]
        })),
        linear: Vec::new(),
    }
}

/// r = (y² − 1, x − 3): on y = 0 the slope along y is 0, and the sum of squares falls on both sides.
fn ridge() -> impl LeastSquares {
    Problem {
        shape: (2, 2),
        residuals: |x: &[f64], out: &mut [f64]| {
            out[0] = x[1] * x[1] - 1.0;
            out[1] = x[0] - 3.0;
        },
        jacobian: |x: &[f64], mut out: ArrayViewMut2<'_, f64>| {
            out.assign(&array![[0.0, 2.0 * x[1]], [1.0, 0.0]]);
        },
        bends: Some(Bends(|_| vec![array![[0.0, 0.0], [0.0, 2.0]], array![[0.0, 0.0], [0.0, 0.0]]])),
        linear: vec![0],
    }
}

#[test]
fn a_saddle_is_no_minimum() {
    for solver in able(&ridge()) {
        let problem = Watched::new(ridge());
        let outcome = solve(&problem, &[0.0, 0.0], solver, &Options::default()).unwrap();
        problem.check(&outcome, solver.name);
        let at_minimum = (outcome.parameters[1].abs() - 1.0).abs() < 1e-6;
        assert_eq!(outcome.termination.converged(), at_minimum, "{}: {outcome:?}", solver.name);
        if ["newton", "trust-region-newton", "default", "nelder-mead"].contains(&solver.name) {
            assert!(at_minimum || solver.name == "newton", "{}: {outcome:?}", solver.name);
        }
        if solver.name == "levenberg-marquardt" {
            assert!(
                matches!(outcome.termination, Termination::Saddle { smallest_eigenvalue } if smallest_eigenvalue < -1.0)
            );
        }
    }
}

#[test]
fn evidence_is_that_of_the_point() {
    for solver in able(&bent()) {
        let problem = Watched::new(bent());
        let outcome = solve(&problem, &[1.0, 0.5], solver, &Options::default()).unwrap();
        problem.check(&outcome, solver.name);
        if !outcome.termination.converged() {
            continue;
        }
        let evidence = outcome.evidence;
        assert!(evidence.exact && evidence.scaled_gradient < 1e-5, "{}: {evidence:?}", solver.name);
        // the Hessian in scaled parameters, by hand
        let [x, y] = outcome.parameters[..] else { panic!() };
        let [r, s] = [x * x + y * y - 1.0, x * y / 4.0 + x - 2.0];
        let (a, b) = ([2.0 * x, y / 4.0 + 1.0, 0.0], [2.0 * y, x / 4.0, 1.0]);
        let [p, q] = [a, b].map(|c| c.iter().map(|c| c * c).sum::<f64>().sqrt());
        let diagonal = [1.0 + 2.0 * r / (p * p), 1.0 + 2.0 * r / (q * q)];
        let off = (a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + s / 4.0) / p / q;
        let mean = 0.5 * (diagonal[0] + diagonal[1]);
        let least = mean - (0.25 * (diagonal[0] - diagonal[1]).powi(2) + off * off).sqrt();
        let found = evidence.smallest_eigenvalue.unwrap();
        assert!((found - least).abs() < 1e-12, "{}: {found} {least}", solver.name);
        assert!(least > 0.0);
    }
}

/// Newton's method squares the error where the residuals are large and Gauss–Newton's shrinks by a factor only. Levenberg–Marquardt
/// looks at second derivatives where it is near, and for the evidence.
#[test]
fn exact_hessians_pay_where_residuals_are_large() {
    let run = |name: &str| {
        let outcome = solve(&bent(), &[1.0, 0.5], lookup(name).unwrap(), &Options::default()).unwrap();
        assert!(outcome.termination.converged(), "{name}: {:?}", outcome.termination);
        (outcome.residual_evaluations, outcome.hessian_evaluations, outcome.hessian_products)
    };
    let [lm, exact, newton] = ["levenberg-marquardt", "trust-region-newton", "newton"].map(run);
    assert!(exact.0 < lm.0 && newton.0 < lm.0, "{lm:?} {exact:?} {newton:?}");
    assert_eq!((lm.1, run("gauss-newton-qr").1), (2, 1));
    assert!(exact.1 > 2 && run("newton-cg").2 > 0);
}

#[test]
fn what_a_solver_needs_is_asked_for() {
    let bare = Problem {
        shape: (1, 1),
        residuals: |x: &[f64], out: &mut [f64]| out[0] = x[0] * x[0] - 2.0,
        jacobian: |x: &[f64], mut out: ArrayViewMut2<'_, f64>| out[[0, 0]] = 2.0 * x[0],
        bends: None,
        linear: Vec::new(),
    };
    for entry in SOLVERS {
        let solver = entry.name;
        let result = solve(&bare, &[1.0], entry, &Options::default());
        match entry.needs {
            Need::Nothing => {
                let outcome = result.unwrap();
                assert!(outcome.evidence.smallest_eigenvalue.is_some() && !outcome.evidence.exact);
            }
            Need::SecondDerivatives => assert_eq!(result, Err(SolveError::NoSecondDerivatives { solver })),
            Need::LinearParameter => assert_eq!(result, Err(SolveError::NoLinearParameter { solver })),
        }
    }
}

/// The starts of linear parameters do not matter to variable projection, nor is there anything to iterate without others.
#[test]
fn linear_parameters_are_solved_for() {
    let solver = lookup("variable-projection").unwrap();
    let run = |a: f64| solve(&decay(), &[a, START[1]], solver, &Options::default()).unwrap();
    let [one, other] = [1.0, -1e6].map(run);
    assert!(one.termination.converged() && other.termination.converged());
    assert!((one.parameters[1] - other.parameters[1]).abs() < 1e-14, "{one:?} {other:?}");
    assert!(one.residual_evaluations.abs_diff(other.residual_evaluations) <= 4);
    let line = linear([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]], [1.0, 2.5, 3.0]);
    let outcome = solve(&line, &[50.0, -9.0], solver, &Options::default()).unwrap();
    assert!(outcome.termination.converged() && outcome.residual_evaluations < 10, "{outcome:?}");
    assert!((outcome.parameters[1] - 1.0).abs() < 1e-14);
}

/// cos has many minima; of several starts the lowest is returned, the same for the same seed, and all are told of.
#[test]
fn several_starts_find_a_lower_minimum() {
    let wave = || Problem {
        shape: (2, 1),
        residuals: |x: &[f64], out: &mut [f64]| {
            out[0] = x[0].cos() + 1.0;
            out[1] = 0.01 * x[0];
        },
        jacobian: |x: &[f64], mut out: ArrayViewMut2<'_, f64>| out.assign(&array![[-x[0].sin()], [0.01]]),
        bends: Some(Bends(|x| vec![array![[-x[0].cos()]], array![[0.0]]])),
        linear: Vec::new(),
    };
    let solver = lookup("levenberg-marquardt").unwrap();
    let run = |starts, seed| {
        let problem = Watched::new(wave());
        let outcome =
            solve(&problem, &[22.0], solver, &Options { starts, seed, ..Options::default() }).unwrap();
        problem.check_counts(&outcome, "several starts");
        outcome
    };
    let [one, many] = [1, 12].map(|starts| run(starts, 7));
    assert!(one.termination.converged() && many.termination.converged());
    assert!(many.sum_of_squares < 0.5 * one.sum_of_squares, "{} {}", many.sum_of_squares, one.sum_of_squares);
    assert_eq!((many.attempts.len(), many.attempts[0].sum_of_squares), (12, one.sum_of_squares));
    let lowest = many.attempts.iter().map(|a| a.sum_of_squares).fold(f64::INFINITY, f64::min);
    assert_eq!(lowest, many.sum_of_squares);
    assert_eq!(run(12, 7), many);
    assert_ne!(run(12, 8).attempts, many.attempts);
    // the budget is that of all together
    let problem = Watched::new(wave());
    let options = Options { starts: 12, evaluation_budget: 30, ..Options::default() };
    let outcome = solve(&problem, &[22.0], solver, &options).unwrap();
    problem.check_counts(&outcome, "budget");
    assert!(outcome.residual_evaluations == 30 && outcome.attempts.len() < 12);
}

#[test]
fn the_default_tells_what_it_tried() {
    let solver = lookup("default").unwrap();
    let easy = solve(&decay(), &START, solver, &Options::default()).unwrap();
    assert_eq!(easy.attempts.len(), 1);
    let hard = solve(&ridge(), &[0.0, 0.0], solver, &Options::default()).unwrap();
    let tried: Vec<&str> = hard.attempts.iter().map(|attempt| attempt.solver).collect();
    assert_eq!(tried, ["levenberg-marquardt", "trust-region-newton"]);
    assert!(hard.termination.converged() && hard.sum_of_squares < 1e-20, "{hard:?}");
}
