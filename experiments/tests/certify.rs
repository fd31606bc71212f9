//! Certified minima, held against an independent computation.

use std::collections::BTreeMap;

use keyfit::autodiff::interval::Interval;
use keyfit::certify::{Certificate, NotCertified, certify};
use keyfit::solvers::lookup;
use keyfit::suite::suite;
use keyfit::{Channel, Fit, FitOptions, Target, Track, fit_channels};
use rug::Float;

/// The minima of the NIST problems to 45 digits. Computed with mpmath 1.3 at 80 digits: Newton's method with sympy's
/// symbolic derivatives, from the certified values, on the doubles that the suite's files hold.
const MINIMA: &str = include_str!("minima.csv");

fn minima() -> BTreeMap<(&'static str, &'static str), Float> {
    let rows = MINIMA.lines().skip(1).filter_map(|line| {
        let mut cells = line.split(',');
        let (problem, name, value) = (cells.next()?, cells.next()?, cells.next()?);
        Some(((problem, name), Float::with_val(300, Float::parse(value).ok()?)))
    });
    rows.collect()
}

/// Whether the interval holds a number of 45 decimal digits.
fn holds(interval: &Interval, value: &Float) -> bool {
    let away = Float::with_val(300, value - interval.middle()).abs();
    away <= Float::with_val(300, interval.width() + Float::with_val(300, value.abs_ref()) * 1e-44)
}

#[test]
fn every_nist_minimum_is_certified() {
    let minima = minima();
    let mut compared = 0;
    for problem in suite("nist").unwrap() {
        let channels = &problem.starts[1];
        let fit = fit_channels(channels.clone(), &FitOptions::default()).unwrap();
        let certificate = certify(&fit, channels).unwrap_or_else(|why| panic!("{}: {why}", problem.name));
        for p in &certificate.parameters {
            let exact = &minima[&(problem.name.as_str(), p.name.as_str())];
            assert!(holds(&p.value, exact), "{} {}: {} is not {exact}", problem.name, p.name, p.decimal());
            let digits = p.decimal().chars().take_while(|c| *c != 'e').filter(char::is_ascii_digit).count();
            assert!(digits >= 30, "{} {}: {}", problem.name, p.name, p.decimal());
            // NIST prints 11 digits
            let printed = problem.certified[&p.name];
            let unit = 10_f64.powi(core_math::log10(printed.abs()).floor() as i32 - 10);
            let error = (p.value.middle().to_f64() - printed).abs();
            assert!(error <= unit, "{} {}: {} and {printed}", problem.name, p.name, p.decimal());
            assert!(p.alone_within > 0.0);
            compared += 1;
        }
        let sum = &minima[&(problem.name.as_str(), "sum_of_squares")];
        assert!(holds(&certificate.sum_of_squares, sum), "{}: the sum is not {sum}", problem.name);
    }
    assert_eq!(compared + 27, minima.len());
}

/// The other minima of NIST's problems, at which some solvers end.
#[test]
fn other_minima_of_nist_are_certified() {
    let mut proved = Vec::new();
    for (name, start, solver) in [
        ("Hahn1", 1, "trust-region-newton"),
        ("MGH09", 1, "newton-cg"),
        ("MGH09", 2, "gauss-newton"),
        ("Misra1b", 1, "l-bfgs-argmin"),
        ("Thurber", 1, "newton"),
        ("Thurber", 2, "newton"),
        ("Thurber", 1, "l-bfgs-argmin"),
    ] {
        let problem = suite("nist").unwrap().into_iter().find(|problem| problem.name == name).unwrap();
        let channels = &problem.starts[start - 1];
        let options = FitOptions { solver: lookup(solver).unwrap(), ..FitOptions::default() };
        let fit = fit_channels(channels.clone(), &options).unwrap();
        let certificate = certify(&fit, channels).unwrap_or_else(|why| panic!("{name} {start}: {why}"));
        let sum = certificate.sum_of_squares.middle().to_f64();
        let known = problem.local_minima.iter().copied().find(|known| (known / sum - 1.0).abs() < 1e-12);
        proved.push((
            problem.name,
            known.unwrap_or_else(|| panic!("{name} {start}: {sum:?} is not listed")).to_bits(),
        ));
    }
    proved.dedup();
    let listed: usize = suite("nist").unwrap().iter().map(|problem| problem.local_minima.len()).sum();
    assert_eq!(proved.len(), listed, "all that are listed are proved");
}

fn fitted(formula: &str, targets: &[(f64, f64)], options: &FitOptions) -> (Fit, Vec<Channel>) {
    let track = Track::parse(formula).unwrap();
    let targets = targets.iter().map(|&(t, y)| Target::new(t, y)).collect();
    let channels = vec![Channel { name: "y".into(), track, targets }];
    (fit_channels(channels.clone(), options).unwrap(), channels)
}

fn why(certificate: Result<Certificate, NotCertified>) -> String {
    certificate.map_or_else(|why| why.to_string(), |_| "certified".into())
}

#[test]
fn what_is_no_minimum_is_not_certified() {
    let plain = FitOptions::default();
    let mut report = String::new();
    let mut tell = |case: &str, fit: &Fit, channels: &[Channel]| {
        report += &format!("{case}: {}\n", why(certify(fit, channels)));
    };

    // (a² − 1)² has a maximum at 0
    let (mut fit, channels) = fitted("?a=2^2", &[(0.0, 1.0)], &plain);
    tell("a minimum", &fit, &channels);
    fit.parameters[0].value = 0.0;
    tell("a maximum", &fit, &channels);
    // a saddle: (ab − 1)² + … at the origin of a·b
    let (mut fit, channels) = fitted("?a=1*?b=2 + t*(?a=1 - ?b=2)", &[(0.0, 1.0), (1.0, 1.0)], &plain);
    fit.parameters.iter_mut().for_each(|p| p.value = 0.0);
    tell("a saddle", &fit, &channels);

    let (fit, channels) = fitted("abs(?a=2) + 1", &[(0.0, 0.0)], &plain);
    tell("a kink", &fit, &channels);
    let (fit, channels) = fitted("?a=2*?b=3 + 0*t", &[(0.0, 1.0), (1.0, 1.0)], &plain);
    tell("undetermined", &fit, &channels);
    let bounded = FitOptions { bounds: [("a".to_owned(), [1.0, 3.0])].into(), ..FitOptions::default() };
    let (fit, channels) = fitted("?a=2*t", &[(1.0, 0.5), (2.0, 1.0)], &bounded);
    tell("at a bound", &fit, &channels);
    let loss = keyfit::solvers::Loss::from_word("huber:1").unwrap();
    let (fit, channels) = fitted("?a=2*t", &[(1.0, 0.5), (2.0, 1.0)], &FitOptions { loss, ..plain.clone() });
    tell("a loss", &fit, &channels);
    let (mut fit, channels) = fitted("exp(?a=2*t)", &[(1.0, 0.5), (2.0, 1.0)], &plain);
    fit.parameters[0].value += 5.0;
    tell("far from it", &fit, &channels);
    fit.converged = false;
    tell("not converged", &fit, &channels);
    // next to a key's time the slope jumps
    let (fit, channels) = fitted("linear[0=0 1=1 2=4](t + ?a=0.5)", &[(0.4, 1.0), (0.6, 1.0)], &plain);
    tell("keys on both sides", &fit, &channels);
    insta::assert_snapshot!(report);
}
