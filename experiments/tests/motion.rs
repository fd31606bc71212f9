//! Motions by formulas through 12, 40 and 120 free keys, whose fits are known to all digits of a double: they are linear.

use keyfit::accuracy::lre;
use keyfit::solvers::lookup;
use keyfit::suite::{Problem, Values, suite};
use keyfit::{FitOptions, fit_channels};

/// Parameters, standard errors and the sum of squares to ten digits and more; the last problem goes the way of narrow bands.
#[test]
fn motions_with_many_keys_are_met() {
    let mut problems = suite("motion").unwrap();
    // not in the suite: solvers that know nothing of bands take a minute for it
    problems
        .push(Problem::parse("motion", "motion/stride.toml", include_str!("motion/stride.toml")).unwrap());
    for name in ["nod", "reach", "stride"] {
        let problem = problems.iter().find(|problem| problem.name == name).unwrap();
        for solver in ["default", "levenberg-marquardt"] {
            let options = FitOptions { solver: lookup(solver).unwrap(), ..FitOptions::default() };
            let fit = fit_channels(problem.starts[0].clone(), &options).unwrap();
            assert!(fit.converged, "{name} {solver}: {}", fit.message);
            assert_eq!(fit.covariance.is_none(), name == "stride");
            let values: Values = fit.parameters.iter().map(|p| (p.name.clone(), p.value)).collect();
            assert!(problem.lre(&values, fit.final_residual) >= 10.0, "{name} {solver}");
            for error in fit.standard_errors.unwrap() {
                assert!(
                    lre(error.value, problem.standard_errors[&error.name]) >= 10.0,
                    "{name} {}",
                    error.name
                );
            }
            assert!(lre(fit.final_residual, problem.sum_of_squares.unwrap()) >= 10.0, "{name} {solver}");
        }
    }
}
