//! Fits of tracks: answers, refusals, and what is said about them.

use keyfit_ir::{Scalar, Scene, Track};
use keyfit_solvers::{
    Channel, Fit, FitError, FitOptions, Loss, Options, ProblemError, Refusal, SOLVERS, Target, fit_channels,
    fit_gradient, fit_parameters, lookup,
};

fn targets(pairs: &[(f64, f64)]) -> Vec<Target> {
    pairs.iter().map(|&(time, value)| Target::new(time, value)).collect()
}

fn fit(formula: &str, pairs: &[(f64, f64)]) -> Result<Fit, FitError> {
    fit_parameters(&Track::parse(formula).unwrap(), &targets(pairs), &FitOptions::default())
}

fn with(solver: &str) -> FitOptions {
    FitOptions { solver: lookup(solver).unwrap(), ..FitOptions::default() }
}

/// Within `ulps` units in the last place.
#[track_caller]
fn near(found: Option<f64>, expected: f64, ulps: u64) {
    let found = found.unwrap();
    assert!(found.to_bits().abs_diff(expected.to_bits()) <= ulps, "{found:?} is not {expected:?}");
}

#[test]
fn every_solver_finds_gain_and_bias() {
    let track = Track::parse("linear[0=0 4=4] * ?gain=1 + ?bias=0").unwrap();
    for solver in SOLVERS {
        let fit = fit_parameters(&track, &targets(&[(1.0, -4.0), (3.0, 4.0)]), &with(solver.name)).unwrap();
        assert!(fit.converged, "{}: {}", solver.name, fit.message);
        // two ulps of 8 apart is where a fixed learning rate comes to rest
        let close = |name: &str, x: f64| (fit.value(name).unwrap() - x).abs() <= 1e-13 * x.abs();
        assert!(close("gain", 4.0) && close("bias", -8.0), "{}: {:?}", solver.name, fit.parameters);
        assert_eq!(fit.initial_residual, 26.0);
    }
    let fit = fit_parameters(&track, &targets(&[(1.0, -4.0), (3.0, 4.0)]), &FitOptions::default()).unwrap();
    near(fit.value("gain"), 4.0, 1);
    near(fit.value("bias"), -8.0, 1);
    assert_eq!(fit.fitted[0].before.describe(), "ADD(MUL(linear[0.0=0.0 4.0=4.0], ?gain=1.0), ?bias=0.0)");
}

#[test]
fn a_key_value_is_fitted_beyond_its_segment() {
    near(fit("linear[0=0 2=?p=4]", &[(1.0, 5.0)]).unwrap().value("p"), 10.0, 1);
}

#[test]
fn a_parameter_beside_a_gate_is_fitted() {
    near(fit("gate(t, 0, 2) * ?p=1", &[(1.0, 5.0), (3.0, 0.0)]).unwrap().value("p"), 5.0, 0);
    // on the bound of a clamp the side that moves counts
    near(fit("clamp(?p=1, 0, 1)", &[(0.0, 0.25)]).unwrap().value("p"), 0.25, 0);
}

#[test]
fn weights_decide_between_targets_that_disagree() {
    let track = Track::parse("?level=0").unwrap();
    let targets = [Target { time: 0.0, value: 1.0, weight: 3.0 }, Target::new(1.0, 5.0)];
    let fit = fit_parameters(&track, &targets, &FitOptions::default()).unwrap();
    near(fit.value("level"), 2.0, 1);
    near(Some(fit.final_residual), 3.0 + 9.0, 1);
    // s² = 12/(2 − 1), JᵀJ = 3 + 1
    near(fit.standard_errors.map(|errors| errors[0].value), 3.0_f64.sqrt(), 2);
}

#[test]
fn what_is_not_determined_is_named() {
    let fit = fit("?a=0 + ?b=0 + ?c=0*t", &[(0.0, 3.0), (1.0, 5.0)]).unwrap();
    assert!(fit.converged && fit.rank == 2 && fit.standard_errors.is_none());
    // the shortest of all steps; its length is as exact as a singular value decomposition of condition 4
    let close = |name: &str, x: f64| (fit.value(name).unwrap() - x).abs() < 4.0 * 4.0 * f64::EPSILON * x;
    assert!(close("a", 1.5) && close("b", 1.5) && close("c", 2.0), "{:?}", fit.parameters);
    let words: Vec<String> = fit.undetermined.iter().map(ToString::to_string).collect();
    assert_eq!(words, ["a - b; only a + b is"]);
}

#[test]
fn channels_share_their_parameters() {
    let scene = Scene::parse_rectsl(
        "\"m\" rect t 1 free-param k * ->x  1 free-param k 0 free-param c + ->y  9 free-param idle ->w ;",
    )
    .unwrap();
    let pairs = |name: &str| match name {
        "x" => targets(&[(2.0, 6.0)]),
        "y" => targets(&[(0.0, 1.0)]),
        _ => vec![],
    };
    let channels = scene.channels().into_iter();
    let channels = channels.map(|channel| Channel { targets: pairs(&channel.name), ..channel });
    let fit = fit_channels(channels.collect(), &FitOptions::default()).unwrap();
    near(fit.value("k"), 3.0, 1);
    near(fit.value("c"), -2.0, 1);
    // a parameter of channels without targets has no part in the fit
    assert_eq!(fit.value("idle"), None);
    assert_eq!(fit.fitted[2].fitted.describe(), "?idle=9.0");
}

#[test]
fn every_number_of_a_track_can_be_fitted() {
    let track = Track::parse("2*t + linear[0=1 1=1 2=1]*1").unwrap();
    let fit = fit_gradient(&track, &targets(&[(0.0, 3.0), (1.0, 4.0), (2.0, 7.0)]), &FitOptions::default())
        .unwrap();
    assert!(fit.converged && fit.final_residual < 1e-20, "{}", fit.message);
    // equal numbers in four places of five move apart
    assert_eq!(fit.initial_parameters.iter().map(|p| p.value).collect::<Vec<_>>(), [2.0, 1.0, 1.0, 1.0, 1.0]);
    assert_eq!(fit.fitted[0].before, track);
    assert_eq!(fit.fitted[0].fitted.free_parameters().len(), 0);
    let refused =
        fit_gradient(&Track::parse("?a=1*t").unwrap(), &targets(&[(0.0, 3.0)]), &FitOptions::default());
    assert!(
        matches!(refused, Err(FitError::Refused(Refusal::DeclaresParameters { names })) if names == ["a"])
    );
}

#[test]
fn targets_outside_the_window_are_named() {
    let options = FitOptions { window: Some((0.0, 2.0)), ..FitOptions::default() };
    let track = Track::parse("?a=1*t").unwrap();
    let error =
        fit_parameters(&track, &targets(&[(0.0, 0.0), (2.0, 1.0), (3.0, 2.0), (-1.0, 2.0)]), &options);
    let Err(FitError::Problem(error @ ProblemError::OutsideWindow { .. })) = error else {
        panic!("{error:?}")
    };
    assert_eq!(error.to_string(), "outside the window 0.0 to 2.0: the target(s) of channel y at [3.0, -1.0]");
    assert!(fit_parameters(&track, &targets(&[(0.0, 0.0), (2.0, 1.0)]), &options).is_ok());
}

#[test]
fn a_false_minimum_is_reported_with_its_residual() {
    // sin(3t) sampled; the other minima are the roots of Σ (sin wt − y)·t·cos wt, found by bisection
    let data: Vec<(f64, f64)> = (0..17)
        .map(|k| f64::from(k) / 4.0)
        .map(|t| (t, Track::parse("sin(3*t)").unwrap().sample(t)))
        .collect();
    for (start, w, sum) in [
        (2.5, 3.0, 0.0),
        (3.5, 3.0, 0.0),
        (1.0, 1.0307867530390467, 13.054597032126221),
        (5.0, 4.804613132789992, 14.760464410599246),
    ] {
        let fit = fit(&format!("sin(?w={start}*t)"), &data).unwrap();
        assert!(fit.converged, "from {start}: {}", fit.message);
        assert!((fit.value("w").unwrap() - w).abs() < 1e-14 * w, "from {start}: {:?}", fit.parameters);
        assert!((fit.final_residual - sum).abs() < 1e-13, "from {start}: {}", fit.final_residual);
    }
}

/// A target of weight 0 changes neither the answer nor its error.
#[test]
fn targets_of_weight_0_have_no_part() {
    let track = Track::parse("?a=1*t + ?b=0").unwrap();
    let some: Vec<Target> = (0..6).map(|k| Target::new(f64::from(k), f64::from(k * k))).collect();
    let idle = (0..9).map(|k| Target { time: f64::from(k) + 0.5, value: 1e3, weight: 0.0 });
    let all: Vec<Target> = some.iter().copied().chain(idle).collect();
    let [few, many] = [&some, &all].map(|t| fit_parameters(&track, t, &FitOptions::default()).unwrap());
    assert_eq!((few.parameters, few.standard_errors), (many.parameters, many.standard_errors));
}

/// At these minima undamped Gauss–Newton steps swing to and fro with growing size: the residuals are large. The values
/// are those at which a Newton iteration with 50 digits is at rest; its Hessian is positive definite.
#[test]
fn minima_with_large_residuals_are_met() {
    let data: Vec<(f64, f64)> = (0..41)
        .map(|k| f64::from(k) / 8.0)
        .map(|t| {
            (t, (Track::parse("1000*(2*sin(3*t + .4) + 1)").unwrap().sample(t)).round_ties_even() / 1000.0)
        })
        .collect();
    for (start, sum) in [
        ("?a=4.12*sin(?w=4.76*t + ?p=1.2) + ?c=0.216", 78.734_445_945_128_3),
        ("?a=1.5*sin(?w=7.38*t + ?p=0.241) + ?c=0.979", 80.833_323_050_626_8),
        ("?a=2.65*sin(?w=17.2*t + ?p=4.11) + ?c=0.129", 81.054_154_690_860_6),
    ] {
        let fit = fit(start, &data).unwrap();
        assert!(fit.converged, "{start}: {}", fit.message);
        assert!((fit.final_residual - sum).abs() < 1e-12 * sum, "{start}: {:?}", fit.final_residual);
    }
}

/// Dennis and Schnabel's example: at x = 0 Gauss–Newton steps triple.
#[test]
fn a_minimum_that_has_been_met_is_not_left() {
    for curvature in [-0.5, -1.5, -3.0, -10.0] {
        let fit = fit(&format!("?x=0.1 + t*({curvature})*?x^2"), &[(0.0, -1.0), (1.0, 1.0)]).unwrap();
        assert!(fit.converged, "{curvature}: {}", fit.message);
        assert!(fit.value("x").unwrap().abs() < 1e-8 && (fit.final_residual - 2.0).abs() < 1e-15, "{fit:?}");
    }
}

/// A parameter of 1e12 hides nothing that the others do.
#[test]
fn a_large_parameter_does_not_make_the_others_small() {
    let data: Vec<(f64, f64)> = (0..20).map(f64::from).map(|t| (t, 1e12 + 5.0 * t)).collect();
    for solver in SOLVERS {
        let solver_options = Options { learning_rate: 1e-30, ..Options::default() };
        let options = FitOptions { solver_options, ..with(solver.name) };
        let track = Track::parse("?a=1e12 + ?b=0*t").unwrap();
        let fit = fit_parameters(&track, &targets(&data), &options).unwrap();
        // doubles near 1e12 are 1.2e-4 apart, so b has no more than six digits
        let right = (fit.value("b").unwrap() - 5.0).abs() < 1e-4;
        // a simplex does not come to rest where every value is rounded by 1e-4
        let claims = fit.converged || solver.name == "nelder-mead";
        assert_eq!(claims, right, "{}: {:?} {}", solver.name, fit.parameters, fit.message);
        assert!(right || solver.name != "levenberg-marquardt");
    }
}

/// A line through exact points ends when its parameters have all their digits, not when the residuals underflow.
#[test]
fn an_exact_fit_ends_soon() {
    let fit = fit("?a=1 + ?b=0*0.000001*t", &[(0.0, 0.0), (0.3, 3e7), (0.6, 6e7), (0.9, 9e7)]).unwrap();
    assert!(fit.converged && fit.residual_evaluations < 60, "{} {}", fit.residual_evaluations, fit.message);
    near(fit.value("b"), 1e14, 1);
}

#[test]
fn refusals_name_what_and_why() {
    let mut report = String::new();
    let near = [(0.0, 1.0), (0.5, 2.0)];
    for formula in [
        "t",
        "floor(?p=1) + t",
        "floor(ceil(?p=1)) + t",
        "linear[0=0 4=4](?p=1*t*0)",
        "linear[0=0 0.5=?p=4 0.5=1 10=3]*step(0.1, t)",
        "1e-200*(1e-200*?p=1) + t",
        "gate(?p=1, 0, 2) * t",
        "sign(sin(?p=1)) + ?q=1",
        "linear[0=0 1=1 5=?p=1]",
        "linear[0=?q=1 1=1 5=?p=1 6=?p=1]",
        "clamp(?p=2, 0, 1)",
        "max(?p=-5, t)",
        "?p=1 * 0",
        "?p=1 - ?p=1 + ?q=0",
        "linear[0=3 1=3](?p=0.5*t)",
        "linear[0=3 1=4](?p=2)",
        "ln(?p=-1) + t",
        "1/?p=0",
        "sqrt(?p=0)",
        "exp(?p=1000)*t",
        "?p=1e200 + t",
    ] {
        let refusal = match fit(formula, &near) {
            Err(FitError::Refused(refusal)) => refusal,
            other => panic!("{formula}: {other:?}"),
        };
        report += &format!(
            "{formula}\n  {refusal}\n  closable: {}, missing: {:?}\n",
            refusal.closable(),
            refusal.missing()
        );
    }
    insta::assert_snapshot!(report);
}

#[test]
fn unusable_targets_are_errors() {
    let error = |pairs: &[(f64, f64)]| fit("?a=1", pairs).unwrap_err().to_string();
    assert_eq!(error(&[]), "there is no target: say where a value must be, and when");
    assert_eq!(
        error(&[(0.0, 1.0), (1.0, f64::NAN)]),
        "target 2 of channel y is not finite: time 1.0, value NaN, weight 1.0"
    );
    let weighted = |weight: f64| {
        let targets = [Target { time: 0.0, value: 1.0, weight }];
        fit_parameters(&Track::parse("?a=1").unwrap(), &targets, &FitOptions::default())
            .unwrap_err()
            .to_string()
    };
    assert_eq!(weighted(0.0), "every target has the weight 0: there is nothing to fit to");
    assert_eq!(weighted(-1.0), "the weight of target 1 of channel y is -1.0; weights are not negative");
    let options = FitOptions { window: Some((5.0, 1.0)), ..FitOptions::default() };
    let error =
        fit_parameters(&Track::parse("?a=1").unwrap(), &targets(&[(2.0, 1.0)]), &options).unwrap_err();
    assert_eq!(error.to_string(), "the window from 5.0 to 1.0 is empty");
}

/// Outliers count less: at the fit the slope of the whole loss vanishes, and the line is that of the others.
#[test]
fn losses_withstand_outliers() {
    let track = Track::parse("?a=0*t + ?b=0").unwrap();
    let data: Vec<(f64, f64)> = (0..20)
        .map(|k| (f64::from(k), 2.0 * f64::from(k) - 3.0 + 0.01 * f64::from(k % 3 - 1)))
        .map(|(t, y)| (t, if t == 4.0 || t == 17.0 { y + 50.0 } else { y }))
        .collect();
    // dρ/dr over 2, from the losses' definitions
    type Slope = fn(f64) -> f64;
    let losses: [(Loss, Slope); 4] = [
        (Loss::Huber(0.5), |r| if r.abs() <= 0.5 { r } else { 0.5 * r.signum() }),
        (Loss::SoftL1(0.5), |r| r / (1.0 + 4.0 * r * r).sqrt()),
        (Loss::Cauchy(0.5), |r| r / (1.0 + 4.0 * r * r)),
        (Loss::Tukey(100.0), |r| r * (1.0 - 1e-4 * r * r).max(0.0).powi(2)),
    ];
    let least = fit_parameters(&track, &targets(&data), &FitOptions::default()).unwrap();
    for (loss, slope) in losses {
        let options = FitOptions { loss, ..FitOptions::default() };
        let fit = fit_parameters(&track, &targets(&data), &options).unwrap();
        assert!(fit.converged, "{loss}: {}", fit.message);
        let [a, b] = ["a", "b"].map(|name| fit.value(name).unwrap());
        let residuals = data.iter().map(|&(t, y)| (t, slope(a * t + b - y)));
        let (along_a, along_b) = residuals.fold((0.0, 0.0), |(p, q), (t, s)| (p + s * t, q + s));
        assert!(along_a.abs() < 1e-9 && along_b.abs() < 1e-10, "{loss}: {along_a:e} {along_b:e}");
        let off = (a - 2.0).abs().max((b + 3.0).abs());
        let off_by_squares = (least.value("b").unwrap() + 3.0).abs();
        assert!(off < 0.75 * off_by_squares, "{loss}: {off} {off_by_squares}");
        assert!(fit.standard_errors.is_none() && fit.loss == loss);
    }
}

fn bounded(solver: &str, bounds: &[(&str, [f64; 2])]) -> FitOptions {
    let bounds = bounds.iter().map(|(name, range)| ((*name).into(), *range)).collect();
    FitOptions { bounds, ..with(solver) }
}

#[test]
fn bounds_hold_what_they_must() {
    let track = Track::parse("?a=0.5*t + ?b=0").unwrap();
    let data = targets(&[(0.0, 1.0), (1.0, 3.0), (2.0, 5.5), (3.0, 7.0)]);
    let free = fit_parameters(&track, &data, &FitOptions::default()).unwrap();
    for solver in SOLVERS.iter().filter(|entry| entry.bounds) {
        // with a = 1 the best b is the mean of y − t
        let fit = fit_parameters(&track, &data, &bounded(solver.name, &[("a", [0.0, 1.0])])).unwrap();
        assert!(fit.converged, "{}: {}", solver.name, fit.message);
        assert_eq!((fit.value("a"), fit.at_bounds.len(), fit.rank), (Some(1.0), 1, 1), "{}", solver.name);
        assert!((fit.value("b").unwrap() - 2.625).abs() < 1e-12, "{}: {:?}", solver.name, fit.parameters);
        assert!(fit.standard_errors.is_none() && fit.undetermined.is_empty());
        // bounds that hold nothing change nothing, and a start at one does not stay there
        let wide = [("a", [0.5, f64::INFINITY]), ("b", [-10.0, 10.0])];
        let fit = fit_parameters(&track, &data, &bounded(solver.name, &wide)).unwrap();
        assert!(fit.converged && fit.at_bounds.is_empty() && fit.standard_errors.is_some());
        for (found, expected) in fit.parameters.iter().zip(&free.parameters) {
            assert!((found.value - expected.value).abs() < 1e-12, "{}: {:?}", solver.name, fit.parameters);
        }
    }
    let outside = fit_parameters(&track, &data, &bounded("dogleg", &[("a", [1.0, 2.0])])).unwrap_err();
    assert_eq!(outside.to_string(), "a starts at 0.5, which is not within its bounds 1.0 and 2.0");
    assert!(fit_parameters(&track, &data, &bounded("dogleg", &[("a", [f64::NAN, 2.0])])).is_err());
    let unable = fit_parameters(&track, &data, &bounded("bfgs", &[("a", [0.0, 1.0])])).unwrap_err();
    assert_eq!(
        unable.to_string(),
        "bfgs knows no bounds; these solvers do: default, levenberg-marquardt, lm-geodesic, dogleg, subspace-dogleg, \
         trust-region-newton, newton-cg, particle-swarm, simulated-annealing"
    );
}

/// A linear problem in a box is convex: its minimum is where no slope leads down and inside.
#[test]
fn random_boxes_are_met() {
    let mut state = 5u64;
    let mut random = |low: f64, high: f64| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        low + (high - low) * ((state >> 11) as f64 / (1u64 << 53) as f64)
    };
    let names = ["a", "b", "c", "d"];
    let mut held = 0;
    for case in 0..200 {
        let starts: Vec<f64> = names.iter().map(|_| random(-1.0, 1.0)).collect();
        let track = format!(
            "?a={:?} + ?b={:?}*t + ?c={:?}*t*t + ?d={:?}*sin(3*t)",
            starts[0], starts[1], starts[2], starts[3]
        );
        let track = Track::parse(&track).unwrap();
        let data: Vec<(f64, f64)> = (0..12).map(|k| (f64::from(k) / 4.0, random(-5.0, 5.0))).collect();
        let bounds: Vec<(&str, [f64; 2])> = names
            .iter()
            .zip(&starts)
            .map(|(name, x)| (*name, [x - random(0.0, 1.0), x + random(0.0, 2.0)]))
            .collect();
        for solver in ["levenberg-marquardt", "dogleg"] {
            let fit = fit_parameters(&track, &targets(&data), &bounded(solver, &bounds)).unwrap();
            assert!(fit.converged, "{case} {solver}: {}", fit.message);
            let x: Vec<f64> = names.iter().map(|name| fit.value(name).unwrap()).collect();
            let column = |j: usize, t: f64| [1.0, t, t * t, Scalar::sin(&(3.0 * t))][j];
            let residual = |&(t, y): &(f64, f64)| (0..4).map(|j| x[j] * column(j, t)).sum::<f64>() - y;
            for (j, (name, [low, high])) in bounds.iter().enumerate() {
                let slope: f64 = data.iter().map(|at| residual(at) * column(j, at.0)).sum();
                let size: f64 = data.iter().map(|at| (residual(at) * column(j, at.0)).abs()).sum();
                let right = match x[j] {
                    x if x == *low => slope >= -1e-9 * size,
                    x if x == *high => slope <= 1e-9 * size,
                    x => *low < x && x < *high && slope.abs() <= 1e-9 * size,
                };
                assert!(right, "{case} {solver} {name}: {} in {low} to {high}, slope {slope:e}", x[j]);
            }
            held += fit.at_bounds.len();
        }
    }
    assert!(held > 400, "{held}");
}

/// Where a step ends at the edge of a function's domain, the value is finite and the derivative is not; the solvers step back.
#[test]
fn the_edge_of_a_domain_is_no_end() {
    for solver in ["levenberg-marquardt", "dogleg", "bfgs", "l-bfgs", "nonlinear-cg", "steepest-descent"] {
        for (formula, pairs, expected) in [
            ("asin(?a=0)", &[(0.0, 1.5)][..], 0.9974949866040544),
            ("acos(?a=0)", &[(0.0, 0.1)], 0.9950041652780258),
            ("sqrt(?a=1)*t", &[(1.0, 0.1), (2.0, 0.2)], 0.01),
        ] {
            let fit =
                fit_parameters(&Track::parse(formula).unwrap(), &targets(pairs), &with(solver)).unwrap();
            assert!(fit.converged, "{solver} {formula}: {}", fit.message);
            let found = fit.value("a").unwrap();
            assert!((found - expected).abs() < 1e-8 * expected, "{solver} {formula}: {found}");
        }
        // a perfect fit is one, also where its derivative is not finite
        for formula in ["sqrt(?a=1)", "(?a=1)^0.5"] {
            let fit = fit_parameters(&Track::parse(formula).unwrap(), &targets(&[(0.0, 0.0)]), &with(solver))
                .unwrap();
            assert_eq!(fit.converged, fit.final_residual == 0.0, "{solver} {formula}: {}", fit.message);
        }
    }
}
