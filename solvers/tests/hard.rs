//! Problems on which fitters go wrong: each ends in a right answer or in a refusal that names what is missing.

use keyfit_ir::{Channel, Target, Track};
use keyfit_solvers::{FitError, FitOptions, fit_channels};

/// A formula and its targets, each a time and a value.
type Aimed = (&'static str, &'static [(f64, f64)]);

/// Name, channels with their targets, bounds.
struct Case {
    name: &'static str,
    channels: &'static [Aimed],
    bounds: &'static [(&'static str, [f64; 2])],
}

const fn case(name: &'static str, channels: &'static [Aimed]) -> Case {
    Case { name, channels, bounds: &[] }
}

const RAMP: &[(f64, f64)] = &[(0.0, 1.0), (1.0, 3.0), (2.0, 5.0), (3.0, 7.0)];

const CASES: &[Case] = &[
    case("rank-deficient product", &[("?a=1*?b=2*t", &[(1.0, 6.0), (2.0, 12.0)])]),
    case("rank-deficient sum", &[("?a=1 + ?b=2", RAMP)]),
    case("unreachable key", &[("linear[0=0 4=?p=1 9=?q=2]", RAMP)]),
    case("behind a floor", &[("floor(?p=1.5) + ?a=1*t", RAMP)]),
    case("behind a gate", &[("gate(?p=1, 0, 2)*t", RAMP)]),
    case("behind a hold's time", &[("hold[0=0 1=1 2=5](?p=0.5) + t", RAMP)]),
    case("flat everywhere", &[("?p=1 - ?p + t", RAMP)]),
    case("flat at the start", &[("max(?p=-1, t)", RAMP)]),
    case("level cost", &[("clamp(?p=3, 0, 1)*t", RAMP)]),
    case("not finite at the start", &[("ln(?p=-1) + t", RAMP)]),
    case("a pole at the start", &[("1/?p=0", RAMP)]),
    case("derivative not finite at the start", &[("sqrt(?p=0) + t", RAMP)]),
    case("overflow at the start", &[("?p=1e200 + t", RAMP)]),
    case("not finite on the way", &[("ln(?p=0.01) + 2*t", RAMP)]),
    case("not finite beyond the answer", &[("sqrt(?p=9) + 2*t", RAMP)]),
    case("no target", &[("?p=1*t", &[])]),
    case("no free parameter", &[("t", RAMP)]),
    case("one target", &[("?p=1*t", &[(2.0, 5.0)])]),
    case("more parameters than targets", &[("?a=1 + ?b=1*t + ?c=0*t^2", &[(1.0, 3.0), (2.0, 5.0)])]),
    case("duplicate targets", &[("?a=0 + ?b=0*t", &[(1.0, 3.0), (1.0, 3.0), (2.0, 5.0), (2.0, 5.0)])]),
    case("contradicting targets at one time", &[("?a=0 + ?b=0*t", &[(1.0, 2.0), (1.0, 4.0), (2.0, 5.0)])]),
    case("one time for two parameters", &[("?a=0 + ?b=0*t", &[(2.0, 5.0), (2.0, 5.0), (2.0, 5.0)])]),
    case("targets of 1e150", &[("?a=1 + ?b=1*t", &[(0.0, 1e150), (1.0, 3e150), (2.0, 5e150)])]),
    case("targets of 1e-150", &[("?a=1 + ?b=1*t", &[(0.0, 1e-150), (1.0, 3e-150), (2.0, 5e-150)])]),
    case("times of 1e150", &[("?a=1 + ?b=1*t", &[(0.0, 1.0), (1e150, 3.0), (2e150, 5.0)])]),
    case("times of 1e-150", &[("?a=1 + ?b=1*t", &[(0.0, 1.0), (1e-150, 3.0), (2e-150, 5.0)])]),
    case("scales 1e150 apart", &[("1e-75*?a=1 + 1e75*?b=1*t", RAMP)]),
    case("targets beyond squares", &[("?a=1*t", &[(1.0, 1e160), (2.0, 2e160)])]),
    Case {
        name: "bounds that exclude the start",
        channels: &[("?a=1*t", RAMP)],
        bounds: &[("a", [2.0, 3.0])],
    },
    Case { name: "bounds with nothing between", channels: &[("?a=1*t", RAMP)], bounds: &[("a", [3.0, 2.0])] },
    Case {
        name: "bounds that are one point",
        channels: &[("?a=1*t + ?b=0", RAMP)],
        bounds: &[("a", [1.0, 1.0])],
    },
    Case {
        name: "bounds that exclude the answer",
        channels: &[("?a=1*t + ?b=0", RAMP)],
        bounds: &[("a", [0.0, 1.5])],
    },
    case("a phase behind amplitude 0", &[("?a=0*sin(t + ?p=1) + ?c=0", RAMP)]),
    case("two starts for one name", &[("?a=1*t", RAMP), ("?a=2", RAMP)]),
    case("a channel that contradicts another", &[("?a=1", &[(0.0, 1.0)]), ("?a=1", &[(0.0, 3.0)])]),
];

#[test]
fn each_ends_in_an_answer_or_a_named_refusal() {
    let mut report = String::new();
    for Case { name, channels, bounds } in CASES {
        let channel = |(i, (formula, pairs)): (usize, &Aimed)| Channel {
            name: format!("y{}", i + 1),
            track: Track::parse(formula).unwrap(),
            targets: pairs.iter().map(|&(time, value)| Target::new(time, value)).collect(),
        };
        let all: Vec<Channel> = channels.iter().enumerate().map(channel).collect();
        let bounds = bounds.iter().map(|(name, range)| ((*name).into(), *range)).collect();
        let options = FitOptions { bounds, ..FitOptions::default() };
        let formulas: Vec<&str> = channels.iter().map(|(formula, _)| *formula).collect();
        report += &format!("{name}: {}\n", formulas.join(", "));
        match fit_channels(all, &options) {
            Err(FitError::Refused(refusal)) => report += &format!("  refused: {refusal}\n"),
            Err(error) => report += &format!("  error: {error}\n"),
            Ok(fit) => {
                // six digits: the last ones are judged elsewhere
                let values: Vec<String> =
                    fit.parameters.iter().map(|p| format!("{} = {:.6e}", p.name, p.value)).collect();
                let miss = fit.fitted.iter().filter_map(|channel| channel.worst_miss).fold(0.0, f64::max);
                let size =
                    channels.iter().flat_map(|(_, pairs)| *pairs).fold(0.0_f64, |m, (_, y)| m.max(y.abs()));
                let miss = if miss < 1e-12 * size { "none".into() } else { format!("{miss:.3e}") };
                report += &format!("  {}; worst miss {miss}; {}\n", values.join(", "), fit.message);
                for told in &fit.undetermined {
                    report += &format!("  not determined: {told}\n");
                }
                for told in fit.warnings() {
                    report += &format!("  {told}\n");
                }
                // nothing that never moved is an answer
                assert!(fit.converged || fit.message.len() > 20, "{name}: {}", fit.message);
            }
        }
    }
    insta::assert_snapshot!(report);
}
