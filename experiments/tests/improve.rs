//! The table of more accurate forms is in step with the program; rules over the reals hold over the reals.

use keyfit::autodiff::evaluate;
use keyfit::improve::{Inputs, Options, bits_of_error, improve};
use keyfit::ir::Names;
use keyfit::ir::arbitrary::RandomTrack;
use keyfit::rewrite::fpcore;
use keyfit::rewrite::pattern::VARIABLES;
use keyfit::rewrite::rules::real_rules;
use keyfit::rewrite::{Variable, cost, derivative, simplify, simplify_over_reals};
use keyfit::suite::suite;
use keyfit::{Track, improve::ImproveError};
use quickcheck::{Arbitrary, Gen};

#[test]
fn the_table_is_in_step() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let table = std::fs::read_to_string(folder.join("docs/improve.md")).unwrap();
    let problems = std::fs::read_to_string(folder.join("examples/hamming.fpcore")).unwrap();
    let quick = [
        "2sqrt (example 3.1)",
        "tanhf (example 3.4)",
        "expm1 (example 3.7)",
        "exp2 (problem 3.3.7)",
        "invcot (example 3.9)",
    ];
    let mut seen = 0;
    for core in fpcore::read(&problems).unwrap() {
        let name = core.name.clone().unwrap();
        assert!(table.contains(&format!("| {name} |")), "{name} is not in the table");
        if !quick.contains(&name.as_str()) {
            continue;
        }
        seen += 1;
        let inputs = Inputs { ranges: core.ranges, condition: core.pre.map(|pre| pre.track) };
        let found = improve(&core.track, &inputs, &Options::default()).unwrap();
        let row = format!(
            "| {name} | {:.2} | {:.2} | {:.1} |",
            found.before.mean, found.after.mean, found.after.worst
        );
        assert!(table.contains(&row), "the table should say {row}");
    }
    assert_eq!(seen, quick.len());
}

#[test]
fn rules_over_the_reals_hold_over_the_reals() {
    let mut g = Gen::from_size_and_seed(20, 3);
    let parse = |text: &str| {
        Track::parse_with(text, &Names::new().starts(VARIABLES.map(|name| (name, 1.0)))).unwrap()
    };
    for rule in real_rules() {
        let (left, right) = rule.texts();
        let sides = [parse(left), parse(right)];
        let mut compared = 0;
        for _ in 0..400 {
            // positive numbers, at which logarithms, roots and powers are real; some are far apart
            let values: Vec<f64> =
                VARIABLES.iter().map(|_| f64::from(u16::arbitrary(&mut g) % 999 + 1) / 256.0).collect();
            let [x, y] = [0, 1].map(|k| {
                let of = |name: &str| values[VARIABLES.iter().position(|own| *own == name).unwrap()];
                let parameters: Vec<f64> = sides[k].free_parameters().iter().map(|p| of(p.name())).collect();
                evaluate(&sides[k], 0.0, &parameters, 400)
            });
            if x.is_finite() && y.is_finite() {
                compared += 1;
                let apart = (x.clone() - &y).abs().to_f64();
                let size = x.to_f64().abs().max(1e-30);
                assert!(apart <= 1e-60 * size, "{}: {x} is not {y} for {values:?}", rule.name);
            }
        }
        assert!(compared >= 20, "{}: both sides were finite {compared} times", rule.name);
    }
}

#[test]
fn equal_options_give_equal_answers_and_bad_ranges_are_refused() {
    let track = Track::parse("exp(?x=1) - 1").unwrap();
    let small = Options { points: 40, held_out: 40, rounds: 2, ..Options::default() };
    let inputs = |low, high| Inputs { ranges: [("x".to_owned(), [low, high])].into(), ..Inputs::default() };
    let [one, other] = [0, 1].map(|_| improve(&track, &inputs(-1.0, 1.0), &small).unwrap());
    assert_eq!((one.track, one.rules, one.after), (other.track, other.rules, other.after));
    for (low, high) in [(1.0, 0.0), (f64::NAN, 1.0), (f64::INFINITY, f64::INFINITY)] {
        assert!(matches!(improve(&track, &inputs(low, high), &small), Err(ImproveError::Range { .. })));
    }
    // nothing but infinite values
    assert!(matches!(improve(&track, &inputs(1e4, 1e5), &small), Err(ImproveError::Undefined { .. })));
    // what is exact already stays
    let exact = improve(&Track::parse("?x=1").unwrap(), &inputs(0.0, 1.0), &small).unwrap();
    assert!(!exact.is_better() && exact.track.describe() == "?x=1.0");
    assert_eq!(bits_of_error(-0.0, 0.0), 0.0);
}

/// The derivatives of the suites' models, simplified over the reals, have the value that they had, and are no dearer. Constants
/// are folded in doubles, so to nearly what doubles hold.
#[test]
fn derivatives_simplified_over_the_reals_keep_their_value() {
    const AGREEMENT: f64 = 1e-13;
    let (mut compared, mut smaller) = (0, 0);
    for name in ["nist", "seeds", "motion"] {
        for problem in suite(name).unwrap() {
            for channel in problem.starts[0].iter().filter(|channel| channel.track.nodes().len() < 60) {
                for p in channel.track.free_parameters() {
                    let slope =
                        derivative(&channel.track, &Variable::Parameter(p.name().to_owned())).unwrap();
                    let options = keyfit::rewrite::Options::default();
                    let kept = simplify(&slope, &options).unwrap().track;
                    let real = simplify_over_reals(&slope, &options).unwrap();
                    assert!(cost(&real) <= cost(&kept), "{}", problem.name);
                    smaller += usize::from(cost(&real) < cost(&kept));
                    for target in channel.targets.iter().step_by(5) {
                        let [x, y] = [&slope, &real].map(|track| {
                            let values: Vec<f64> =
                                track.free_parameters().iter().map(|p| p.start() + 0.3).collect();
                            evaluate(track, target.time, &values, 400)
                        });
                        if x.is_finite() && y.is_finite() {
                            compared += 1;
                            let apart = (x.clone() - &y).abs().to_f64();
                            let size = x.to_f64().abs().max(1e-280);
                            assert!(
                                apart <= AGREEMENT * size,
                                "{} by {}: {x} is not {y}\n{}\n{}",
                                problem.name,
                                p.name(),
                                slope.describe(),
                                real.describe()
                            );
                        }
                    }
                }
            }
        }
    }
    assert!(compared > 1000 && smaller > 20, "{compared} values, {smaller} smaller tracks");
}

/// Of random tracks, too: no dearer, and the same value wherever both are ordinary numbers and nothing cancels.
#[test]
fn random_tracks_simplified_over_the_reals_keep_their_value() {
    let mut g = Gen::from_size_and_seed(14, 9);
    let options = keyfit::rewrite::Options::default();
    let (mut compared, mut smaller) = (0, 0);
    for _ in 0..300 {
        let track = RandomTrack::tame(&mut g).0;
        let kept = simplify(&track, &options).unwrap().track;
        let real = simplify_over_reals(&track, &options).unwrap();
        assert!(cost(&real) <= cost(&kept), "{}", track.describe());
        smaller += usize::from(cost(&real) < cost(&kept));
        for t in [0.37, 1.9, 5.3] {
            // constants are folded in doubles in either, which may matter where something jumps
            let [x, y] = [&kept, &real].map(|track| {
                let values: Vec<f64> = track.free_parameters().iter().map(|p| p.start()).collect();
                evaluate(track, t, &values, 400)
            });
            if x.is_finite() && y.is_finite() && x.to_f64().abs() > 1e-6 {
                compared += 1;
                let apart = (x.clone() - &y).abs().to_f64() / x.to_f64().abs();
                assert!(apart < 1e-9, "{t}: {x} is not {y}\n{}\n{}", track.describe(), real.describe());
            }
        }
    }
    assert!(compared > 500 && smaller > 5, "{compared} values, {smaller} smaller tracks");
}
