//! Fits of keyed tracks of every shape, and why some are refused.

use keyfit_ir::{Shape, Track};
use keyfit_solvers::{Fit, FitError, FitOptions, Target, fit_gradient, fit_parameters};

fn targets(pairs: &[(f64, f64)]) -> Vec<Target> {
    pairs.iter().map(|&(time, value)| Target::new(time, value)).collect()
}

fn fit(formula: &str, pairs: &[(f64, f64)]) -> Result<Fit, FitError> {
    fit_parameters(&Track::parse(formula).unwrap(), &targets(pairs), &FitOptions::default())
}

fn found(formula: &str, pairs: &[(f64, f64)]) -> Vec<f64> {
    let fit = fit(formula, pairs).unwrap_or_else(|e| panic!("{formula}: {e}"));
    assert!(fit.converged, "{formula}");
    fit.parameters.iter().map(|p| p.value).collect()
}

#[track_caller]
fn close(found: &[f64], expected: &[f64]) {
    let all = found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-9);
    assert!(all && found.len() == expected.len(), "{found:?} is not {expected:?}");
}

/// Case F6's TCB key, and a parameter of each kind that a shape has.
#[test]
fn keys_and_tangents_are_found() {
    close(&found("tcb[0=0 1=?p=0.2 2=0]", &[(0.5, 0.625)]), &[1.0]);
    close(&found("hold[0=?a=0 1=?b=0 2=9]", &[(0.5, 6.0), (1.0, 8.0)]), &[6.0, 8.0]);
    close(&found("catmull-rom[0=0 1=10 2=?p=0]", &[(0.5, 4.375)]), &[30.0]);
    close(&found("cubic[0=5{out=?m=0} 1=5{in=?n=0}]", &[(0.5, 5.75), (0.25, 5.5625)]), &[3.0, -3.0]);
    close(&found("back-out[0=?a=1 1=?b=1]", &[(0.0, 2.0), (7.0, -3.0)]), &[2.0, -3.0]);
    // every shape meets what it can meet: its own values at other key values
    for shape in Shape::all() {
        let seen = Track::parse(&format!("{shape}[0=1 1=-2 2=4 3=0.5]")).unwrap();
        let times = [0.0, 0.4, 0.7, 1.0, 1.3, 2.0, 2.5, 3.0];
        let pairs: Vec<(f64, f64)> = times.iter().map(|&t| (t, seen.sample(t))).collect();
        close(&found(&format!("{shape}[0=?a=0 1=?b=0 2=?c=0 3=?d=0]"), &pairs), &[1.0, -2.0, 4.0, 0.5]);
    }
}

/// A fit of all numbers moves tangents too.
#[test]
fn every_number_is_a_number() {
    let track = Track::parse("cubic[0=5{out=1} 1=5{in=1}]").unwrap();
    let fit = fit_gradient(&track, &targets(&[(0.5, 5.75)]), &FitOptions::default()).unwrap();
    assert_eq!(fit.parameters.len(), 4, "{:?}", fit.parameters);
    assert!((fit.fitted[0].fitted.sample(0.5) - 5.75).abs() < 1e-9);
}

#[test]
fn refusals_know_what_a_segment_feels() {
    let mut report = String::new();
    for (formula, at) in [
        ("hold[0=1 1=?p=2 2=3]", [0.0, 0.5]),
        ("hold[0=1 1=2](t - ?p=0.25)", [0.5, 0.75]),
        ("linear[0=1 1=2](hold[0=0 1=1](?p=0.25) + 2)", [0.5, 0.75]),
        ("linear[0=1 1=2 2=3 5=?p=1]", [0.5, 1.5]),
        ("tcb[0=1 1=2 2=3 3=?p=1 5=6]", [0.5, 0.75]),
        ("catmull-rom[0=1 1=2 1=3 3=?p=1 5=6]", [0.5, 0.75]),
        ("cubic[0=1 1=2{out=?p=1} 2=3]", [0.5, 0.75]),
        ("sine-in[0=1 1=2 2=?p=3]", [0.5, 1.0]),
        ("sine-in(?p=2)", [0.5, 1.0]),
    ] {
        let formula = formula.replace("sine-in(", "sine_in(");
        let Err(FitError::Refused(refusal)) = fit(&formula, &at.map(|t| (t, 1.5))) else {
            panic!("{formula}")
        };
        report += &format!(
            "{formula} at {at:?}\n  {refusal}\n  closable: {}, missing: {:?}\n",
            refusal.closable(),
            refusal.missing()
        );
    }
    insta::assert_snapshot!(report);
}
