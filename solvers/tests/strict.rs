//! Minima at which the Jacobian is singular, and points that look like them.

use keyfit_ir::{Target, Track};
use keyfit_solvers::{Fit, FitError, FitOptions, Refusal, SOLVERS, fit_parameters, lookup};

fn fit(solver: &str, formula: &str, pairs: &[(f64, f64)]) -> Result<Fit, FitError> {
    let targets: Vec<Target> = pairs.iter().map(|&(time, value)| Target::new(time, value)).collect();
    let options = FitOptions { solver: lookup(solver).unwrap(), ..FitOptions::default() };
    fit_parameters(&Track::parse(formula).unwrap(), &targets, &options)
}

/// Of p² to be −1 the least is p = 0, where the derivative vanishes.
#[test]
fn a_minimum_without_slopes_is_an_answer() {
    for start in ["1", "-3", "0.001", "0"] {
        let fit = fit("default", &format!("?p={start}^2"), &[(0.0, -1.0)]).unwrap();
        assert!(fit.converged && fit.evidence.strict, "{start}: {}", fit.message);
        assert!(fit.value("p").unwrap().abs() < 1e-6 && (fit.final_residual - 1.0).abs() < 1e-12);
        assert!(fit.covariance.is_none());
    }
    // beside a parameter that is determined, whose unit does not matter
    for size in [1e-9, 1.0, 1e9] {
        let formula = format!("?p=0.5^2 + {size:e}*?a=1*t");
        let fit = fit("default", &formula, &[(0.0, -1.0), (1.0, 2.0), (1.0, 3.0)]).unwrap();
        assert!(fit.converged, "{size}: {}", fit.message);
    }
}

/// Freudenstein and Roth's local minimum, 48.9842… (Moré, Garbow & Hillstrom, ACM TOMS 7 (1981) 17–41), where JᵀJ is singular.
#[test]
fn freudenstein_and_roths_local_minimum_is_one() {
    let model = "mix(-13 + ?x=0.5 + ((5 - ?y=-2)*?y - 2)*?y, -29 + ?x + ((?y + 1)*?y - 14)*?y, t)";
    for solver in ["default", "levenberg-marquardt", "trust-region-newton", "bfgs"] {
        let fit = fit(solver, model, &[(0.0, 0.0), (1.0, 0.0)]).unwrap();
        assert!(fit.converged && fit.evidence.strict, "{solver}: {}", fit.message);
        assert!(
            (fit.final_residual - 48.984_253_679_240_0).abs() < 1e-9,
            "{solver}: {:?}",
            fit.final_residual
        );
    }
}

/// A start at a maximum, at a saddle or on a plane stays a refusal.
#[test]
fn what_is_no_minimum_is_refused() {
    for (formula, pairs) in [
        ("?p=0^2", &[(0.0, 1.0)][..]),
        ("?p=0^4", &[(0.0, -1.0)]),
        ("floor(?p=0.5)", &[(0.0, -1.0)]),
        ("?p=0^2 - ?q=0^2", &[(0.0, -1.0)]),
        ("max(?p=-1, t)", &[(0.0, 3.0), (1.0, 3.0)]),
    ] {
        for solver in SOLVERS.iter().filter(|solver| !solver.by_values) {
            match fit(solver.name, formula, pairs) {
                Err(FitError::Refused(Refusal::Stuck(_))) => {}
                other => panic!("{formula} {}: {other:?}", solver.name),
            }
        }
    }
}

/// Where a parameter runs away its curvature fades with its slope: that is not the minimum that a small decrement seems to show.
#[test]
fn what_runs_away_is_no_minimum() {
    for formula in [
        "1 + exp(-?x=1)",
        "1 + 1/?x=1^2",
        "1 + exp(-?x=1^2)",
        "1 + 1/(1 + ?x=0.5^4)",
        "1 + exp(-exp(?x=0.1))",
    ] {
        for solver in SOLVERS {
            let Ok(fit) = fit(solver.name, formula, &[(0.0, 0.0), (1.0, -2.0)]) else { continue };
            assert!(!fit.converged, "{formula} {}: {:?} {}", solver.name, fit.parameters, fit.message);
        }
    }
}

/// Who goes by values finds a parameter's way from where no target feels it; from steps of a floor there is none.
#[test]
fn values_see_what_slopes_do_not() {
    for solver in ["particle-swarm", "simulated-annealing"] {
        let found = fit(solver, "max(?p=-1, t) + 2*?q=1", &[(0.0, 5.0), (0.5, 5.0), (1.0, 5.5)]).unwrap();
        assert!(
            found.converged && found.evidence.rank == 2,
            "{solver}: {:?} {}",
            found.parameters,
            found.message
        );
        match fit(solver, "floor(?p=0.5)*t", &[(1.0, 2.25)]) {
            Err(FitError::Refused(Refusal::Stuck(stuck))) => assert_eq!(stuck[0].parameter, "p"),
            other => panic!("{solver}: {other:?}"),
        }
    }
}
