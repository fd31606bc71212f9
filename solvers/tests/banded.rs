//! Fits with many keys: the narrow band is found, and answers as the whole Jacobian does.

use keyfit_ir::{Channel, Scalar, Target, Track};
use keyfit_solvers::{
    FitOptions, FitProblem, LeastSquares, Options, Outcome, Refusal, SolveError, fit_parameters, lookup,
    solve,
};
use ndarray::ArrayViewMut2;

/// Keys with free values and a wave of free height, and targets between the keys: a wave, a slope and a little noise.
fn motion(shape: &str, keys: usize, per_key: usize) -> (Track, Vec<Target>) {
    let values: Vec<String> = (0..keys).map(|k| format!("{k}=?k{k}={}", (k % 3) as f64)).collect();
    let text = format!("{shape}[{}] + ?bias=0.5*cos(2.3*t)", values.join(" "));
    let wave = |k: usize| {
        let t = (k as f64 + 0.5) / per_key as f64;
        let noise = ((k * 7919) % 1000) as f64 / 1e5;
        Target::new(t, 3.0 * Scalar::sin(&(0.3 * t)) + 0.2 * t + noise)
    };
    (Track::parse(&text).unwrap(), (0..(keys - 1) * per_key).map(wave).collect())
}

fn problem(track: &Track, targets: &[Target]) -> FitProblem {
    FitProblem::new(vec![Channel { name: "y".into(), track: track.clone(), targets: targets.to_vec() }], None)
        .unwrap()
}

/// The same problem, of which nobody knows that it is narrow.
struct Whole<'a>(&'a FitProblem);

impl LeastSquares for Whole<'_> {
    fn parameters(&self) -> usize {
        self.0.parameters()
    }

    fn residuals(&self) -> usize {
        LeastSquares::residuals(self.0)
    }

    fn residuals_into(&self, x: &[f64], out: &mut [f64]) {
        self.0.residuals_into(x, out);
    }

    fn jacobian_into(&self, x: &[f64], out: ArrayViewMut2<'_, f64>) {
        self.0.jacobian_into(x, out);
    }
}

fn solved(problem: &dyn LeastSquares, start: &[f64]) -> Outcome {
    solve(problem, start, lookup("levenberg-marquardt").unwrap(), &Options::default()).unwrap()
}

/// Agreement to ten digits and more, of every parameter against the largest.
#[test]
fn the_band_answers_as_the_whole_does() {
    for shape in ["linear", "catmull-rom", "tcb", "monotone"] {
        let (track, targets) = motion(shape, 100, 10);
        let problem = problem(&track, &targets);
        assert!(problem.pattern().is_some_and(|pattern| pattern.columns() == 101));
        let start = problem.starts();
        let (band, whole) = (solved(&problem, &start), solved(&Whole(&problem), &start));
        assert!(band.termination.converged() && whole.termination.converged(), "{shape}: {band:?}");
        assert_eq!((band.rank, band.covariance.is_some(), whole.covariance.is_some()), (101, false, true));
        let size = whole.parameters.iter().fold(0.0, |size: f64, x| size.max(x.abs()));
        for (a, b) in band.parameters.iter().zip(&whole.parameters) {
            assert!((a - b).abs() <= 1e-11 * size, "{shape}: {a} is not {b}");
        }
        for (a, b) in band.standard_errors.iter().flatten().zip(whole.standard_errors.iter().flatten()) {
            assert!((a - b).abs() <= 1e-10 * b, "{shape}: {a} is not {b}");
        }
        let least = band.evidence.smallest_eigenvalue.unwrap() / whole.evidence.smallest_eigenvalue.unwrap();
        assert!((0.999..1.2).contains(&least), "{shape}: {least}");
        assert!((band.sum_of_squares / whole.sum_of_squares - 1.0).abs() < 1e-12);
    }
}

/// The gradient by the band's entries is that of the whole matrix to the bit, and so is the way that a solver goes by it. The
/// columns' norms are summed in another order; here no first step is so long that they would cut it.
#[test]
fn gradient_solvers_go_the_same_way_by_the_band() {
    let (track, targets) = motion("catmull-rom", 100, 10);
    let problem = problem(&track, &targets);
    assert!(problem.pattern().is_some());
    let start = problem.starts();
    let options = Options { iterations: Some(20), learning_rate: 0.5, first_step: 1e9, ..Options::default() };
    for name in ["gradient-descent", "steepest-descent", "nonlinear-cg", "bfgs", "l-bfgs", "l-bfgs-argmin"] {
        let run = |problem: &dyn LeastSquares| {
            let run = solve(problem, &start, lookup(name).unwrap(), &options).unwrap();
            let bits: Vec<u64> = run.parameters.iter().map(|x| x.to_bits()).collect();
            (bits, run.iterations, run.residual_evaluations, run.jacobian_evaluations)
        };
        let band = run(&problem);
        assert_eq!(band, run(&Whole(&problem)), "{name}");
        assert!(band.0.iter().zip(&start).any(|(a, b)| *a != b.to_bits()), "{name} does not move");
    }
}

/// Keys of two tracks stand one after the other in the array, and meet in the targets.
#[test]
fn the_keys_of_two_tracks_are_one_band() {
    let keys = |name: &str, from: usize| -> String {
        (0..60).map(|k| format!("{k}=?{name}{k}={}", (from + k) % 5)).collect::<Vec<_>>().join(" ")
    };
    let text = format!("linear[{}] + sin(5*t)*linear[{}](mod(t*7, 60))", keys("a", 0), keys("b", 2));
    let track = Track::parse(&text).unwrap();
    let targets: Vec<Target> =
        (0..3000).map(|k| Target::new(f64::from(k) * 0.0193 + 0.01, f64::from(k % 17))).collect();
    // a looped clock makes every key of the one meet most of the other
    assert!(problem(&track, &targets).pattern().is_none());
    let track = Track::parse(&text.replace("(mod(t*7, 60))", "")).unwrap();
    let problem = problem(&track, &targets);
    assert!(problem.pattern().is_some());
    let (band, whole) = (solved(&problem, &problem.starts()), solved(&Whole(&problem), &problem.starts()));
    assert!(band.termination.converged(), "{:?}", band.termination);
    for (a, b) in band.parameters.iter().zip(&whole.parameters) {
        assert!((a - b).abs() <= 1e-10 * (1.0 + b.abs()), "{a} is not {b}");
    }
}

#[test]
fn what_is_not_determined_is_named() {
    let (track, targets) = motion("linear", 100, 10);
    // keys 51 and 52 are felt by one target alone
    let mut few: Vec<Target> = targets.iter().filter(|t| t.time < 50.0 || t.time > 53.0).copied().collect();
    few.push(Target::new(51.5, 1.0));
    let fit = fit_parameters(&track, &few, &FitOptions::default()).unwrap();
    assert!(fit.converged && fit.standard_errors.is_none(), "{}", fit.message);
    assert_eq!((fit.rank, fit.undetermined.len()), (100, 1));
    assert_eq!(fit.undetermined[0].to_string(), "k51 - k52; only k51 + k52 is");
    // and here by none
    few.pop();
    let refused = fit_parameters(&track, &few, &FitOptions::default()).unwrap_err();
    let keyfit_solvers::FitError::Refused(Refusal::Stuck(stuck)) = refused else { panic!("{refused}") };
    assert_eq!(stuck.iter().map(|s| s.parameter.as_str()).collect::<Vec<_>>(), ["k51", "k52"]);
}

/// Bounds, losses and a start at which a derivative is not finite go the same ways as with few parameters.
#[test]
fn bounds_and_losses_hold_in_a_band() {
    let (track, mut targets) = motion("catmull-rom", 100, 10);
    targets[333].value = 1e4;
    let mut options = FitOptions { loss: keyfit_solvers::Loss::Huber(0.05), ..FitOptions::default() };
    options.bounds.insert("k7".into(), [1.0, 2.5]);
    let fit = fit_parameters(&track, &targets, &options).unwrap();
    assert!(fit.converged, "{}", fit.message);
    assert_eq!(fit.at_bounds.iter().map(|p| p.name.as_str()).collect::<Vec<_>>(), ["k7"]);
    // the outlier pulls as 0.05 does
    let fitted = &fit.fitted[0].fitted;
    assert!((fitted.sample(targets[335].time) - targets[335].value).abs() < 0.1);
    let nowhere = Track::parse(&track.describe().replace("?bias=0.5", "SQRT(?bias=0.0)")).unwrap();
    let refused = fit_parameters(&nowhere, &targets, &FitOptions::default()).unwrap_err().to_string();
    assert!(
        refused.starts_with("the start is not differentiable: the derivative of channel y by bias"),
        "{refused}"
    );
}

#[test]
fn a_whole_jacobian_that_is_too_large_is_refused() {
    struct Huge;
    impl LeastSquares for Huge {
        fn parameters(&self) -> usize {
            100_000
        }
        fn residuals(&self) -> usize {
            1_000_000
        }
        fn residuals_into(&self, _: &[f64], _: &mut [f64]) {}
        fn jacobian_into(&self, _: &[f64], _: ArrayViewMut2<'_, f64>) {}
    }
    let error = solve(&Huge, &[0.0; 100_000], lookup("default").unwrap(), &Options::default()).unwrap_err();
    assert!(matches!(error, SolveError::TooLarge { residuals: 1_000_000, .. }), "{error}");
}
