//! Keyed tracks at their keys, between them, and asked in any order.

use keyfit_ir::{KeyError, Shape, Track, same_bits, shaped};
use quickcheck::{TestResult, quickcheck};

fn check(track: &str, asked: &[(f64, f64)]) {
    let parsed = Track::parse(track).unwrap();
    for &(t, expected) in asked {
        let value = parsed.sample(t);
        assert!(same_bits(value, expected), "{track} at {t:?} is {value:?}, not {expected:?}");
    }
}

/// The cases A1 … A15 are collected animation bugs with their right answers.
#[test]
fn values_at_and_between_keys() {
    let below_one = 1.0 - f64::EPSILON / 2.0;
    check("linear[0=0 1=10 1=20]", &[(-1.0, 0.0), (0.5, 5.0), (1.0, 20.0), (2.0, 20.0)]); // A1
    check(
        "linear[0=0 1=10 1=20 2=30]",
        &[(0.5, 5.0), (below_one, 10.0 * below_one), (1.0, 20.0), (1.5, 25.0)],
    ); // A2
    check("linear[1=5]", &[(-1.0, 5.0), (0.0, 5.0), (1.0, 5.0), (2.0, 5.0)]); // A5
    check("linear[1.5=1 2.5=2]", &[(0.0, 1.0), (1.4999, 1.0), (1.5, 1.0), (2.0, 1.5), (9.0, 2.0)]); // A9
    check("linear[0=1e16 1=1]", &[(1.0, 1.0)]); // A10: a + (b − a)·1 would be 0
    check("linear[0=0 1=1e16 2=1]", &[(5.0, 1.0), (1.0, 1e16)]); // A11
    check("linear[0=-0.0 1=-0.0]", &[(0.0, -0.0), (1.0, -0.0)]); // A15
    check("linear[1=2 1=3]", &[(0.0, 2.0), (1.0, 3.0)]);
    check("linear[0=0 4=4]", &[(f64::NAN, f64::NAN), (f64::INFINITY, 4.0), (f64::NEG_INFINITY, 0.0)]);
    // a looped clock (D1, D5): days do not matter
    check(
        "linear[0=0 1=1](mod(t, 1))",
        &[(0.0, 0.0), (0.5, 0.5), (1.0, 0.0), (1.5, 0.5), (2.0, 0.0), (-0.25, 0.75)],
    );
    check("linear[0=0 2=1](mod(t, 2))", &[(259_200.5, 0.25)]);
    let level = Track::parse("linear[0=0.1 1=0.1]").unwrap();
    (0..1000).for_each(|k| assert_eq!(level.sample(k as f64 / 1000.0), 0.1));
}

#[test]
fn keys_that_mean_nothing_are_refused() {
    let error = |keys: &str| match Track::parse(keys).unwrap_err().kind {
        keyfit_ir::SyntaxErrorKind::Build(keyfit_ir::BuildError::Keys(e)) => e,
        other => panic!("{keys}: {other}"),
    };
    assert_eq!(error("linear[0=0 1=1 1=2 1=3]"), KeyError::Repeated { key: 4, time: 1.0 });
    assert_eq!(
        error("linear[0=1 10.64=1 5.2=16]"),
        KeyError::OutOfOrder { key: 3, time: 5.2, previous: 10.64 }
    ); // A7
    assert_eq!(error("linear[0=1 1=t]"), KeyError::ValueVaries { key: 2 });
    assert_eq!(error("linear[0=linear[0=0 1=1]]"), KeyError::ValueVaries { key: 1 });
}

quickcheck! {
    /// Blocks and the guess of the next segment change nothing.
    fn many_times_are_as_one_by_one(steps: Vec<i8>, times: Vec<f64>) -> bool {
        let mut time = 0.0;
        let keys: Vec<String> = steps.iter().enumerate().map(|(i, step)| {
            time += f64::from(*step).abs() + 1.0;
            format!("{time}={}", i * i % 7)
        }).collect();
        let track = Track::parse(&format!("linear[-1=0 0=2 0=1 {}] * sin(t)", keys.join(" "))).unwrap();
        let mut times: Vec<f64> = times.iter().map(|t| t % 200.0).chain((0..150).map(f64::from)).collect();
        let agree = |times: &[f64]| {
            let mut out = vec![0.0; times.len()];
            track.sample_into(times, &mut out);
            times.iter().zip(&out).all(|(&t, &value)| same_bits(track.sample(t), value))
        };
        let unsorted = agree(&times);
        times.sort_by(f64::total_cmp);
        unsorted && agree(&times)
    }
}

quickcheck! {
    /// A monotone segment stays between its two values but for rounding, and rises or falls all the way.
    fn monotone_tracks_do_not_overshoot(values: Vec<i8>, spans: Vec<u8>) -> TestResult {
        if values.len() < 2 || spans.len() < values.len() {
            return TestResult::discard();
        }
        let mut time = 0.0;
        let keys = values.iter().zip(&spans).map(|(v, span)| {
            time += f64::from(*span) / 16.0 + 0.01;
            (time, f64::from(*v) / 3.0)
        });
        let keys: Vec<(f64, f64)> = keys.collect();
        let track = shaped(Shape::Monotone, keys.clone()).track().unwrap();
        for pair in keys.windows(2) {
            let [(t0, v0), (t1, v1)] = [pair[0], pair[1]];
            let at = |k: u32| track.sample(t0 + (t1 - t0) * f64::from(k) / 64.0);
            let (low, high) = (v0.min(v1), v0.max(v1));
            let slack = 4.0 * f64::EPSILON * (v0.abs() + v1.abs());
            for k in 0..64 {
                let (a, b) = (at(k), at(k + 1));
                if !(low - slack..=high + slack).contains(&a) || (b - a) * (v1 - v0).signum() < -slack {
                    return TestResult::error(format!("{pair:?}: {a} {b}"));
                }
            }
        }
        TestResult::passed()
    }
}
