//! The quality of an answer, and what a problem may say beside its targets: ties, logarithms, priors.

use keyfit_ir::{Parameter, Track};
use keyfit_solvers::{
    Channel, Fit, FitError, FitOptions, Loss, SOLVERS, Target, Tie, TieError, Warning, fit_channels,
    fit_parameters, prior, tie,
};

fn channel(name: &str, formula: &str, targets: &[(f64, f64)]) -> Channel {
    let targets = targets.iter().map(|&(time, value)| Target::new(time, value)).collect();
    Channel { name: name.into(), track: Track::parse(formula).unwrap(), targets }
}

fn fit(formula: &str, targets: &[(f64, f64)]) -> Fit {
    fit_channels(vec![channel("y", formula, targets)], &FitOptions::default()).unwrap()
}

fn logarithmic(names: &[&str]) -> FitOptions {
    FitOptions { logarithmic: names.iter().map(ToString::to_string).collect(), ..FitOptions::default() }
}

#[track_caller]
fn close(found: f64, expected: f64, part: f64) {
    assert!((found - expected).abs() <= part * expected.abs(), "{found:?} is not {expected:?}");
}

const LINE: [(f64, f64); 6] = [(0.0, 1.0), (1.0, 2.5), (2.0, 4.5), (3.0, 5.5), (4.0, 8.5), (5.0, 9.0)];

/// The numbers are the normal equations' solution, with 30 digits (mpmath), of the same weighted rows.
#[test]
fn quality_agrees_with_an_independent_computation() {
    let mut y = channel("y", "?a=0 + ?b=0*t", &LINE);
    for (target, weight) in y.targets.iter_mut().zip([1.0, 2.0, 1.0, 0.5, 1.0, 2.0]) {
        target.weight = weight;
    }
    let level = channel("level", "?a=0", &[(0.0, 1.25), (9.0, 0.75)]);
    let fit = fit_channels(vec![y, level], &FitOptions::default()).unwrap();
    let errors = fit.standard_errors.as_deref().unwrap();
    let ends = fit.intervals(0.9).unwrap()[0];
    let (product, error) = fit.estimate(&Track::parse("?a=5*?b=5").unwrap());
    assert_eq!(fit.quality.degrees_of_freedom, 6);
    assert!(!fit.quality.rounding_level && fit.warnings().is_empty());
    for (found, expected) in [
        (fit.value("a").unwrap(), 0.987012987012987),
        (fit.value("b").unwrap(), 1.6601731601731602),
        (fit.quality.residual_deviation.unwrap(), 0.4549511176824599),
        (fit.quality.r_squared.unwrap(), 0.9828882794780142),
        (fit.quality.condition, 2.4958110615275925),
        (errors[0].value, 0.21376856131664314),
        (errors[1].value, 0.07533120586707729),
        (fit.correlation().unwrap()[[0, 1]], -0.7233393492970544),
        (ends[0], 0.5716221340683596),
        (ends[1], 1.4024038399576144),
        (product, 1.638612469781301),
        (error.unwrap(), 0.3054559219673191),
    ] {
        close(found, expected, 1e-12);
    }
    assert_eq!(fit.correlation().unwrap()[[1, 1]], 1.0);
    assert_eq!((fit.intervals(0.0), fit.intervals(1.0), fit.intervals(f64::NAN)), (None, None, None));
}

#[test]
fn what_has_no_quality_says_so() {
    let exact = fit("?a=0 + ?b=0*t", &LINE[..2]);
    assert_eq!((exact.quality.degrees_of_freedom, exact.quality.residual_deviation), (0, None));
    assert!(exact.intervals(0.95).is_none() && exact.correlation().is_none());
    // targets that are all alike have no variation to explain
    let flat = fit("?a=0*t", &[(1.0, 2.0), (2.0, 2.0)]);
    assert_eq!((flat.quality.r_squared, flat.quality.degrees_of_freedom), (None, 1));
    let huber = FitOptions { loss: Loss::Huber(0.1), ..FitOptions::default() };
    let huber = fit_channels(vec![channel("y", "?a=0 + ?b=0*t", &LINE)], &huber).unwrap();
    assert_eq!((huber.quality.r_squared, huber.quality.residual_deviation), (None, None));
    // one direction of two is left open
    let open = fit("?a=0 + ?b=0", &LINE);
    assert_eq!((open.quality.degrees_of_freedom, open.rank), (5, 1));
    assert!(open.quality.condition > 1e15, "{:?}", open.quality);
    // sums of 1e300² overflow; their quotient does not
    let huge: Vec<(f64, f64)> = LINE.iter().map(|(t, y)| (*t, y * 1e150)).collect();
    let (huge, plain) = (fit("?a=0 + ?b=0*t", &huge), fit("?a=0 + ?b=0*t", &LINE));
    close(huge.quality.r_squared.unwrap(), plain.quality.r_squared.unwrap(), 1e-12);
    close(huge.quality.residual_deviation.unwrap(), 1e150 * plain.quality.residual_deviation.unwrap(), 1e-12);
}

#[test]
fn warnings_name_what_a_reader_must_know() {
    let told = |fit: &Fit| fit.warnings().iter().map(Warning::to_string).collect::<Vec<_>>().join("\n");
    let bounds = [("a".to_string(), [0.0, 1.0])].into();
    let bounds = FitOptions { bounds, ..FitOptions::default() };
    let text = [
        told(&fit("linear[0=?a=0 4=?b=1]", &[(-1.0, 1.0), (1.0, 2.0), (4.0, 3.0), (7.0, 3.5)])),
        told(&fit("linear[0=?a=0 1=2](t - 3) + hold[0=0 9=1]", &[(3.0, 1.0), (3.5, 2.0), (4.5, 2.0)])),
        // a loop's clock stays within the keys
        told(&fit("linear[0=?a=0 2=2](mod(t, 2))", &[(3.0, 1.0), (13.5, 2.0)])),
        told(&fit("?a=1 + ?b=0*t", &[(0.0, 0.1), (0.1, 0.3), (0.2, 0.5), (0.3, 0.7)])),
        told(&fit_channels(vec![channel("y", "?a=0.5*t", &LINE)], &bounds).unwrap()),
    ];
    insta::assert_snapshot!(text.join("\n---\n"));
}

/// A rate is that of what comes after; what does not jump is not told of, however steep it is or however much is rounded.
#[test]
fn targets_at_jumps_of_a_rate_are_told() {
    let told = |value: &str, velocity: &str, times: &[f64]| {
        let targets: Vec<(f64, f64)> = times.iter().map(|t| (*t, 0.5)).collect();
        let channels = vec![channel("y", value, &[]), channel("y.velocity", velocity, &targets)];
        let fit = fit_channels(channels, &FitOptions::default());
        fit.map_or_else(
            |refused| refused.to_string(),
            |fit| fit.warnings().iter().map(Warning::to_string).collect::<Vec<_>>().join("\n"),
        )
    };
    let ramp = ["linear[0=0 2=?e=1]", "hold[0=0 0=(?e=1/2) 2=0]"];
    let text = [
        told(ramp[0], ramp[1], &[1.0, 2.0]),
        told(ramp[0], ramp[1], &[2.0]),
        told("abs(t-1)*?a=1", "?a=1*select(step(1, t), 1, -1)", &[1.0]),
        told(
            "linear[0=?a=0 0.1=1 0.3=?b=2 0.7=3]",
            "keys[0=0 hold 0=((1-?a=0)/0.1) hold 0.1=((?b=2-1)/0.2) hold 0.3=((3-?b)/0.4) hold 0.7=0]",
            &[0.1, 0.3, 0.5, 0.7],
        ),
        told("floor(?p=1*t)", "select(step(2, ?p=1*t), 0, 0)", &[0.5]),
        told("sqrt(?p=1*t)", "1/(2*sqrt(?p=1*t))", &[0.0]),
        // milliseconds of this century
        told(
            "linear[1700000000000=0 1700000001000=?a=1 1700000002000=5]",
            "hold[0=0 1700000000000=(?a=1/1000) 1700000001000=((5-?a)/1000) 1700000002000=0]",
            &[1700000001000.0],
        ),
        // from there on it is another one than there
        told("?a=1*min(t, 1)", "?a=1*select(step(1, t)*step(t, 1), 1, select(step(1, t), 0, 1))", &[1.0]),
    ];
    insta::assert_snapshot!(text.join("\n---\n"));
    // it sets off, or is smooth, steep, rounded, infinite
    for (value, velocity, t) in [
        (ramp[0], ramp[1], 0.0),
        ("?a=1*(t-1)^2", "?a=1*2*(t-1)", 1.0),
        ("?a=1*cos(1e6*t)", "-?a=1*1e6*sin(1e6*t)", std::f64::consts::PI),
        ("?a=1*t^0.9", "?a=1*0.9*t^-0.1", 1e-9),
        ("?a=1*(linear[0=0 1=1](t)-t)", "?a=1*(step(1,t)*1e-16 + 0.3 - (0.1+0.2))", 1.0),
        ("linear[0=0.30000000000000004 2=0.3]+?a=1*0", "hold[0=0 0=-2.8e-17 2=0]+?a=1*0.1*t^2", 2.0),
        ("?a=1*smoothstep(0, 1, t)", "?a=1*select(gate(t, 0, 1), 6*t*(1-t), 0)", 1.0),
    ] {
        let told = told(value, velocity, &[t]);
        assert!(!told.contains("earlier"), "{value}: {told}");
    }
}

#[test]
fn ties_are_formulas_of_what_stays_free() {
    let tied = |formulas: &[(&str, &str)]| {
        let mut channels = vec![channel("y", "?a=1*t + ?b=2 + ?c=0*t^2", &LINE)];
        let ties = formulas
            .iter()
            .map(|(name, formula)| Tie { name: (*name).into(), formula: Track::parse(formula).unwrap() });
        tie(&mut channels, &ties.collect::<Vec<_>>()).map(|ties| (channels, ties))
    };
    // c = b/8 and b = 2a + 1 in any order
    let (channels, ties) = tied(&[("c", "?b=2/8"), ("b", "2*?a=1 + 1")]).unwrap();
    let fit = fit_channels(channels.clone(), &FitOptions::default()).unwrap();
    assert_eq!(fit.parameters.len(), 1);
    let a = fit.value("a").unwrap();
    let (c, error) = fit.estimate(&ties[0].formula);
    close(c, (2.0 * a + 1.0) / 8.0, 1e-15);
    close(error.unwrap(), fit.standard_errors.as_ref().unwrap()[0].value / 4.0, 1e-15);
    // the same as writing it out
    let written = fit_parameters(
        &Track::parse("?a=1*t + (2*?a + 1) + (2*?a + 1)/8*t^2").unwrap(),
        &channels[0].targets,
        &FitOptions::default(),
    );
    assert_eq!(written.unwrap().parameters, fit.parameters);
    let error = |formulas: &[(&str, &str)]| tied(formulas).unwrap_err().to_string();
    assert_eq!(
        error(&[("a", "?b=2"), ("b", "?c=0"), ("c", "?a=1 + 1")]),
        "the ties of a, b, c run in a circle: none of them can come first"
    );
    assert_eq!(error(&[("a", "?a=1 + 1")]), "the ties of a run in a circle: none of them can come first");
    assert_eq!(error(&[("d", "?a=1")]), "d is to be tied but is no free parameter");
    assert_eq!(error(&[("b", "?a=1"), ("b", "3.0")]), "b is tied twice");
    assert_eq!(error(&[("b", "t")]), "b is tied to a formula that varies with t; a parameter is one number");
    assert!(matches!(tied(&[("b", "?a=5")]), Err(TieError::Build(_))), "two starts for a");
}

#[test]
fn logarithms_change_the_way_and_not_the_answer() {
    let data: Vec<(f64, f64)> =
        [7.9, 5.1, 3.2, 1.9, 1.3, 0.8].iter().enumerate().map(|(k, y)| (k as f64, *y)).collect();
    let decay = || vec![channel("y", "?a=1*exp(-?k=1*t)", &data)];
    let plain = fit_channels(decay(), &FitOptions::default()).unwrap();
    let log = fit_channels(decay(), &logarithmic(&["a", "k", "no such name"])).unwrap();
    assert!(log.converged && log.logarithmic.len() == 2, "{}", log.message);
    assert_eq!(log.initial_parameters, plain.initial_parameters);
    for (own, other) in [
        (&log.parameters, &plain.parameters),
        (log.standard_errors.as_ref().unwrap(), plain.standard_errors.as_ref().unwrap()),
    ] {
        own.iter().zip(other).for_each(|(own, other)| close(own.value, other.value, 1e-7));
    }
    close(log.correlation().unwrap()[[0, 1]], plain.correlation().unwrap()[[0, 1]], 1e-7);
    // the interval is one of the logarithm
    let ([low, high], value) = (log.intervals(0.95).unwrap()[0], log.parameters[0].value);
    assert!(low > 0.0);
    close(low * high, value * value, 1e-12);
    // the tracks stay the caller's
    assert_eq!(log.fitted[0].before, decay()[0].track);
    assert_eq!(log.fitted[0].fitted.free_parameters().len(), 0);

    let start = fit_channels(vec![channel("y", "?a=0*t", &data)], &logarithmic(&["a"])).unwrap_err();
    assert_eq!(
        start.to_string(),
        "a is to be fitted by its logarithm but starts at 0.0: give it a start above 0"
    );
    // bounds are the caller's too
    let bounds = |range: [f64; 2]| FitOptions { bounds: [("a".into(), range)].into(), ..logarithmic(&["a"]) };
    let held = fit_channels(decay(), &bounds([-1.0, 3.0])).unwrap();
    assert_eq!((held.value("a"), held.at_bounds.len()), (Some(3.0), 1));
    let outside = fit_channels(decay(), &bounds([2.0, 3.0])).unwrap_err();
    assert_eq!(outside.to_string(), "a starts at 1.0, which is not within its bounds 2.0 and 3.0");
    // what is not determined is said of the logarithm
    let open = fit_channels(vec![channel("y", "?a=1*?b=1*t", &data)], &logarithmic(&["a", "b"])).unwrap();
    let said: Vec<String> = open.undetermined.iter().map(ToString::to_string).collect();
    assert_eq!(said, ["ln(a) - ln(b); only ln(a) + ln(b) is"]);
}

/// A scale from 1e-150 to 1e150 is a few hundred of the logarithm.
#[test]
fn logarithms_reach_far_scales() {
    for scale in [1e-150, 1e150] {
        let data: Vec<(f64, f64)> = (1..6).map(|k| (f64::from(k), scale * f64::from(k))).collect();
        let fit = fit_channels(vec![channel("y", "?a=1*t", &data)], &logarithmic(&["a"])).unwrap();
        if scale < 1.0 {
            assert!(fit.value("a").unwrap() < 1e-8, "{:?}", fit.parameters);
        } else {
            assert!(fit.converged, "{}", fit.message);
            close(fit.value("a").unwrap(), scale, 1e-12);
        }
    }
}

#[test]
fn priors_are_residuals() {
    // the mean of 3 targets at 4 and a prior 1 ± 0.5, whose weight is 4
    let y = channel("y", "?a=0", &[(0.0, 4.0), (1.0, 4.0), (2.0, 4.0)]);
    let parameter = |name: &str| Parameter::new(name, 0.0).unwrap();
    for solver in SOLVERS {
        let options = FitOptions { solver, ..FitOptions::default() };
        let prior = prior(&parameter("a"), 1.0, 0.5).unwrap();
        let fit = fit_channels(vec![y.clone(), prior], &options).unwrap();
        close(fit.value("a").unwrap(), 16.0 / 7.0, 1e-7);
    }
    // it determines what the targets leave open
    let open = channel("y", "?a=0 + ?b=0", &[(0.0, 4.0)]);
    let fit = fit_channels(vec![open, prior(&parameter("a"), 1.0, 0.5).unwrap()], &FitOptions::default());
    let fit = fit.unwrap();
    assert!(fit.undetermined.is_empty() && fit.rank == 2);
    close(fit.value("b").unwrap(), 3.0, 1e-14);
    for deviation in [0.0, f64::NAN] {
        let nonsense = prior(&parameter("a"), 1.0, deviation).unwrap();
        let error = fit_channels(vec![y.clone(), nonsense], &FitOptions::default()).unwrap_err();
        assert!(matches!(error, FitError::Problem(_)), "{error}");
    }
}
