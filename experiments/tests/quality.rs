//! The quality of answers, held to what NIST certifies.

use keyfit::accuracy::lre;
use keyfit::determination::undetermined;
use keyfit::suite::suite;
use keyfit::{FitOptions, fit_channels};

/// Standard errors and the residual standard deviation to 8 digits and more on all 27 problems, and nothing is called
/// undetermined there.
#[test]
fn standard_errors_are_the_certified_ones() {
    let mut problems = 0;
    for problem in suite("nist").unwrap() {
        let channels = &problem.starts[1];
        let fit = fit_channels(channels.clone(), &FitOptions::default()).unwrap();
        let name = &problem.name;
        assert!(fit.converged, "{name}: {}", fit.message);
        assert_eq!(undetermined(&fit, channels), Vec::<String>::new(), "{name}");
        let targets: usize = channels.iter().map(|channel| channel.targets.len()).sum();
        assert_eq!(fit.quality.degrees_of_freedom, targets - problem.certified.len(), "{name}");
        let certified = (problem.sum_of_squares.unwrap() / fit.quality.degrees_of_freedom as f64).sqrt();
        let errors = fit.standard_errors.as_deref().unwrap().iter();
        let errors = errors.map(|error| lre(error.value, problem.standard_errors[&error.name]));
        let digits = errors.fold(lre(fit.quality.residual_deviation.unwrap(), certified), f64::min);
        // Lanczos1's residuals, 2e-12 against values of 2.5, are rounding of the model's values; what can be read of them is told
        let wanted = if name == "Lanczos1" { LANCZOS1 } else { 8.0 };
        assert!(digits >= wanted, "{name}: {digits} digits");
        problems += 1;
    }
    assert_eq!(problems, 27);
}

/// Digits that the residuals at rounding level leave.
const LANCZOS1: f64 = 2.0;

/// R² and intervals by mpmath with 40 digits, at NIST's certified parameters and with its standard errors; Student's quantiles by
/// SciPy. The certificates' 11 digits bound what can agree.
#[test]
fn r_squared_and_intervals_agree_with_an_independent_computation() {
    for (name, freedom, r_squared, ends) in [
        (
            "Misra1a",
            12,
            0.99998158011004,
            [[233.0440664565, 244.8401919035], [0.0005343232847421, 0.0005659895788779]],
        ),
        (
            "DanWood",
            4,
            0.99943294614092,
            [[0.718103364923, 0.819621158597], [3.716789491422, 4.004021682778]],
        ),
        (
            "Thurber",
            30,
            0.99950785851227,
            [[1278.612894932, 1297.666465068], [1410.264171362, 1571.894335638]],
        ),
    ] {
        let problem = suite("nist").unwrap().into_iter().find(|problem| problem.name == name).unwrap();
        let fit = fit_channels(problem.starts[1].clone(), &FitOptions::default()).unwrap();
        assert_eq!(fit.quality.degrees_of_freedom, freedom, "{name}");
        // 1 − R² is what is computed
        let rest = lre(1.0 - fit.quality.r_squared.unwrap(), 1.0 - r_squared);
        assert!(rest > 7.5, "{name}: {rest}");
        for (found, expected) in fit.intervals(0.95).unwrap().iter().flatten().zip(ends.iter().flatten()) {
            assert!(lre(*found, *expected) > 8.5, "{name}: {found:?} is not {expected:?}");
        }
    }
}
