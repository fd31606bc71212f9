//! Collected bugs of fitters with their right answers, each test by its case's name.

use keyfit_ir::{Target, Track};
use keyfit_solvers::{Fit, FitError, FitOptions, SOLVERS, fit_parameters, lookup};

fn fit_with(solver: &str, formula: &str, pairs: &[(f64, f64)]) -> Result<Fit, FitError> {
    let targets: Vec<Target> = pairs.iter().map(|&(time, value)| Target::new(time, value)).collect();
    let options = FitOptions { solver: lookup(solver).expect("a solver"), ..FitOptions::default() };
    fit_parameters(&Track::parse(formula).expect("a formula"), &targets, &options)
}

fn fit(formula: &str, pairs: &[(f64, f64)]) -> Result<Fit, FitError> {
    fit_with(SOLVERS[0].name, formula, pairs)
}

fn value(fit: &Fit, name: &str) -> f64 {
    fit.value(name).expect("a parameter")
}

#[test]
fn f1_two_targets() {
    for solver in SOLVERS {
        let fit = fit_with(solver.name, "t*?gain=1 + ?bias=0", &[(1.0, -4.0), (3.0, 4.0)]).unwrap();
        assert!(fit.converged, "{}: {}", solver.name, fit.message);
        assert_eq!(fit.initial_residual, 26.0);
        assert!(fit.final_residual < 1e-24, "{}: {:?}", solver.name, fit.final_residual);
        let off = (value(&fit, "gain") - 4.0).abs().max((value(&fit, "bias") + 8.0).abs());
        assert!(off < 1e-12, "{}: {off:e}", solver.name);
    }
}

/// A rate of 0.05 diverges here (2 over the largest eigenvalue is 0.00509), which gradient descent must say.
#[test]
fn f2_step_size() {
    let pairs: Vec<(f64, f64)> = (0..=10).map(f64::from).map(|t| (t, 4.0 * t - 8.0)).collect();
    for solver in SOLVERS {
        let fit = fit_with(solver.name, "t*?gain=1 + ?bias=0", &pairs).unwrap();
        let off = (value(&fit, "gain") - 4.0).abs().max((value(&fit, "bias") + 8.0).abs());
        assert_eq!(fit.converged, off < 1e-9, "{}: {off:e}, {}", solver.name, fit.message);
        assert!(fit.converged || solver.name == "gradient-descent", "{}: {}", solver.name, fit.message);
    }
}

/// Up to amp → −amp with phase ± π and phase + 2kπ.
#[test]
fn f3_the_arc() {
    use std::f64::consts::{PI, TAU};
    for (function, pairs, [amp, phase, centre]) in [
        (
            "cos",
            [(0.4, -6.5), (1.8, 0.5), (3.4, 6.2)],
            [6.492_885_522_899_753, 2.817_278_097_699_393, -0.050_513_582_874_945_35],
        ),
        (
            "sin",
            [(0.4, 2.6), (1.8, -2.4), (3.4, 1.8)],
            [4.346_349_565_162_643, 2.529_936_655_150_63, 1.857_581_588_432_078],
        ),
    ] {
        let fit = fit(&format!("?amp=1*{function}(1.1*t + ?phase=0) + ?centre=0"), &pairs).expect("a fit");
        let found = value(&fit, "amp");
        let turned = value(&fit, "phase") + if found < 0.0 { PI } else { 0.0 };
        let turns = ((turned - phase) / TAU).round();
        for (found, expected) in
            [(found.abs(), amp), (turned - TAU * turns, phase), (value(&fit, "centre"), centre)]
        {
            assert!((found - expected).abs() < 4e-15 * expected.abs().max(1.0), "{found} {expected}");
        }
        assert!(fit.converged && fit.fitted[0].worst_miss.unwrap() < 4e-15, "{}", fit.message);
    }
}

#[test]
fn f5_rank_deficient() {
    let fit = fit("?a=0 + ?b=0", &[(0.0, 3.0)]).unwrap();
    assert_eq!(value(&fit, "a") + value(&fit, "b"), 3.0);
    assert!((value(&fit, "a") - 1.5).abs() < 1e-12, "the smallest step: {:?}", fit.parameters);
    assert_eq!(fit.rank, 1);
    let said: Vec<String> = fit.undetermined.iter().map(ToString::to_string).collect();
    assert_eq!(said, ["a - b; only a + b is"]);
}

#[test]
fn f6_unreachable_parameters() {
    for formula in [
        "hold[0=0 1=1](floor(?p=0.5))",
        "gate(t, ?p=-1, 9)",
        "linear[0=0 1=1 5=?p=2]",
        "floor(?p=2.5) + t",
        "select(?p=1, t, 2)",
        "unwrap(t, ?p=1, 6)",
    ] {
        match fit(formula, &[(0.5, 3.0), (1.0, 4.0)]) {
            Err(FitError::Refused(refusal)) => {
                assert!(refusal.to_string().contains("the parameter p moves no target"), "{refusal}");
            }
            other => panic!("{formula}: {other:?}"),
        }
    }
    let reached = fit("linear[0=0 2=?p=1]", &[(1.0, 5.0)]).unwrap();
    assert_eq!(value(&reached, "p"), 10.0);
    let bent = fit("tcb[0=0 1=?p=3 2=0]", &[(0.5, 0.625)]).unwrap();
    assert!((value(&bent, "p") - 1.0).abs() < 1e-15);
}

/// A frequency has many local minima; "converged" in one of them is honest with its residual. The minima are zeros of the
/// slope in 30-digit arithmetic.
#[test]
fn f7_local_minima() {
    let sine = Track::parse("sin(3*t)").unwrap();
    let data: Vec<(f64, f64)> = (0..17).map(|k| f64::from(k) / 4.0).map(|t| (t, sine.sample(t))).collect();
    let global = (3.0, 0.0);
    for (start, (w, rest)) in [
        (2.0, global),
        (2.5, global),
        (3.5, global),
        (4.0, global),
        (1.0, (1.030_786_753_039_046_8, 13.054_597_032_126_221)),
        (5.0, (4.804_613_132_789_992, 14.760_464_410_599_242)),
        (0.5, (-0.059_644_875_481_940_8, 8.052_977_986_000_628)),
    ] {
        let fit = fit(&format!("sin(?w={start}*t)"), &data).unwrap();
        assert!(fit.converged, "from {start}: {}", fit.message);
        assert!((value(&fit, "w") - w).abs() < 1e-12, "from {start}: {:?}", fit.parameters);
        assert!((fit.final_residual - rest).abs() < 1e-13, "from {start}: {:?}", fit.final_residual);
    }
}
