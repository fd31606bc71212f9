//! The rules of key lists keep every bit, at the keys' times above all.

use std::collections::HashMap;

use keyfit_ir::arbitrary::RandomNumber;
use keyfit_ir::{Track, same_bits};
use keyfit_rewrite::rules::{Sides, sound_rules};
use keyfit_rewrite::{Bounds, Fact, Options, simplify};
use quickcheck::{Arbitrary, Gen};

const TIMES: [f64; 7] = [-1.0, 0.0, 0.5, 1.0, 2.0, 3.0, 5.0];

/// A keyed track with few different values and times, read at a clock that may be clamped, under an operation.
fn random_text(g: &mut Gen) -> String {
    let shapes = [
        "hold",
        "hold",
        "hold",
        "linear",
        "quad-in",
        "back-in",
        "catmull-rom",
        "tcb",
        "monotone",
        "steps(3,jump-end)",
    ];
    let mixed = u8::arbitrary(g) % 3 == 0;
    let one = *g.choose(&shapes).unwrap();
    let value = if bool::arbitrary(g) { None } else { g.choose(&["1.0", "-0.0", "inf", "?a=1.0"]).copied() };
    let mut times: Vec<f64> = TIMES.iter().copied().filter(|_| bool::arbitrary(g)).collect();
    // jumps
    for k in (0..times.len()).rev() {
        if u8::arbitrary(g) % 4 == 0 {
            times.insert(k, times[k]);
        }
    }
    if times.is_empty() {
        times.push(1.0);
    }
    let keys: Vec<String> = times
        .iter()
        .enumerate()
        .map(|(k, time)| {
            let value = value.unwrap_or(g.choose(&["1.0", "1.0", "2.0", "-0.0", "0.0", "?a=1.0"]).unwrap());
            let shape = if mixed { *g.choose(&shapes).unwrap() } else { one };
            format!("{time:?}={value} {}", if k + 1 < times.len() { shape } else { "" })
        })
        .collect();
    let clock = *g
        .choose(&[
            "t",
            "t",
            "t",
            "clamp(t, -1, 5)",
            "clamp(t, 0, 3)",
            "min(t, 5)",
            "max(0, t)",
            "t + 3",
            "t - 9",
            "2.0",
        ])
        .unwrap();
    let keyed = format!("keys[{}]({clock})", keys.join(" "));
    match u8::arbitrary(g) % 8 {
        0 => format!("sin({keyed})"),
        1 => format!("hypot({keyed}, inf)"),
        2 => format!("({keyed}) ^ 0.5"),
        3 => format!("clamp({keyed}, 0.5, 3)"),
        4 => format!("quad_in(clamp({keyed}, -1, 1)) + sine_out(max(t, 0))"),
        5 => format!("1 ^ ({keyed})"),
        _ => keyed,
    }
}

#[test]
fn every_rule_of_keys_is_used_and_keeps_every_bit() {
    let mut g = Gen::from_size_and_seed(20, 51);
    let mut used: HashMap<String, usize> = HashMap::new();
    for round in 0..6000 {
        let text = random_text(&mut g);
        let track = Track::parse(&text).unwrap_or_else(|e| panic!("{e}: {text}"));
        let bounds = match round % 3 {
            0 => Bounds::new(),
            _ => Bounds::new().duration(*g.choose(&[0.0, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0]).unwrap()),
        };
        let simple = simplify(&track, &Options::with_bounds(bounds.clone())).unwrap();
        simple.proof.check_about(&track, &simple.track).unwrap();
        simple.proof.steps.iter().for_each(|step| *used.entry(step.rule.clone()).or_default() += 1);
        let near = TIMES.iter().flat_map(|t| {
            let shifted = [*t, t - 3.0, t + 9.0];
            shifted.into_iter().flat_map(|t| {
                [t, f64::from_bits(t.to_bits() + 1), f64::from_bits(t.to_bits().saturating_sub(1))]
            })
        });
        let special =
            [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0, 0.0, 1.25, RandomNumber::arbitrary(&mut g).0];
        for t in near.chain(special) {
            if bounds.clock().allows(t) || bounds.clock() == Fact::ANY {
                let (x, y) = (track.sample(t), simple.track.sample(t));
                assert!(same_bits(x, y), "{x:?} became {y:?} at {t:?}\n{text}\n{}", simple.track.describe());
            }
        }
    }
    for rule in sound_rules() {
        if matches!(rule.sides, Sides::Custom(_)) {
            let times = used.get(rule.name).copied().unwrap_or(0);
            assert!(times >= 10, "{} was used {times} times; all: {used:?}", rule.name);
        }
    }
}
