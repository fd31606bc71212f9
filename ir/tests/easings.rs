//! Easings against a table of 40 digits, at their ends, and as words.

use keyfit_ir::{Easing, Op, Track, same_bits};
use quickcheck::quickcheck;

fn easing(name: &str) -> Easing {
    Easing::from_word(name).unwrap_or_else(|| panic!("no easing {name}"))
}

/// The rows of the table: the easing's name, k, and the value at u = k/20.
fn table() -> impl Iterator<Item = (&'static str, f64, &'static str)> {
    include_str!("data/easings.csv").lines().filter(|line| !line.starts_with('#')).map(|line| {
        let mut fields = line.split(',');
        let mut field = || fields.next().expect("three fields");
        (field(), field().parse().expect("a whole number"), field())
    })
}

/// The largest difference from the table in units in the last place. The rounding of u = k/20 is part of it: where u is
/// not a double the curve is read beside the table's point. Where a curve is steep or crosses 0 (back, elastic, bounce)
/// that is most of it.
const ULPS: [(&str, u64); 31] = [
    ("sine-in", 2),
    ("sine-out", 1),
    ("sine-in-out", 2),
    ("quad-in", 1),
    ("quad-out", 2),
    ("quad-in-out", 1),
    ("cubic-in", 2),
    ("cubic-out", 4),
    ("cubic-in-out", 2),
    ("quart-in", 3),
    ("quart-out", 2),
    ("quart-in-out", 3),
    ("quint-in", 3),
    ("quint-out", 3),
    ("quint-in-out", 3),
    ("expo-in", 0),
    ("expo-out", 1),
    ("expo-in-out", 0),
    ("circ-in", 2),
    ("circ-out", 1),
    ("circ-in-out", 2),
    ("back-in", 26),
    ("back-out", 15),
    ("back-in-out", 18),
    ("elastic-in", 42),
    ("elastic-out", 1),
    ("elastic-in-out", 25),
    ("bounce-in", 46),
    ("bounce-out", 1),
    ("bounce-in-out", 46),
    ("smooth", 0),
];

#[test]
fn every_row_of_the_table_is_met() {
    let mut worst = ULPS.map(|(name, _)| (name, 0));
    let mut rows = 0;
    for (name, k, digits) in table() {
        let (value, expected): (f64, f64) = (easing(name).apply(&(k / 20.0)), digits.parse().unwrap());
        assert_eq!(value < 0.0, expected < 0.0, "{name} at {k}/20");
        assert!((value - expected).abs() <= 4.0 * f64::EPSILON, "{name} at {k}/20");
        let ulps = value.abs().to_bits().abs_diff(expected.abs().to_bits());
        let (_, found) = worst.iter_mut().find(|(easing, _)| *easing == name).unwrap();
        *found = ulps.max(*found);
        rows += 1;
    }
    assert_eq!(rows, 30 * 21);
    assert_eq!(worst, ULPS);
    assert!(Easing::all().map(|easing| easing.to_string()).eq(ULPS.map(|(name, _)| name)));
}

/// Case B4: every easing ends exactly at 0 and 1 and stays there; only the open ends of expo and elastic jump.
#[test]
fn ends_are_exact() {
    for easing in Easing::all() {
        for (u, expected) in [
            (0.0, 0.0),
            (-0.0, 0.0),
            (-1e-300, 0.0),
            (f64::NEG_INFINITY, 0.0),
            (1.0, 1.0),
            (1.0f64.next_up(), 1.0),
            (f64::INFINITY, 1.0),
            (f64::NAN, f64::NAN),
        ] {
            let value = easing.apply(&u);
            assert!(same_bits(value, expected), "{easing} at {u:?} is {value:?}");
        }
    }
    let p11 = 0.5f64.powi(11);
    for (name, at_zero, at_one) in [
        ("expo-in", 2.0 * p11, 1.0),
        ("expo-out", 0.0, 1.0 - 2.0 * p11),
        ("expo-in-out", p11, 1.0 - p11),
        ("elastic-in", -p11, 1.0),
        ("elastic-out", 0.0, 1.0 + p11),
        ("elastic-in-out", 8.478_914_925_143_083e-5, 1.0 - 8.478_914_925_143_083e-5),
    ] {
        let value = |u: f64| easing(name).apply(&u);
        for (found, limit) in [(value(1e-18), at_zero), (value(1.0f64.next_down()), at_one)] {
            assert!((found - limit).abs() < 1e-14, "{name}: {found:?} is not near {limit:?}");
        }
    }
}

/// Case B5: the constants of bounce.
#[test]
fn bounce_bounces_where_it_must() {
    for (u, expected) in [
        (0.0, 0.0),
        (4.0 / 11.0, 1.0),
        (0.5, 49.0 / 64.0),
        (6.0 / 11.0, 0.75),
        (8.0 / 11.0, 1.0),
        (9.0 / 11.0, 0.9375),
        (10.0 / 11.0, 1.0),
        (21.0 / 22.0, 0.984375),
        (1.0, 1.0),
    ] {
        let value = easing("bounce-out").apply(&u);
        assert!((value - expected).abs() <= 1e-15, "bounce-out at {u:?} is {value:?}");
    }
}

/// Case B11, and smooth as the smoothstep whose edges are 0 and 1.
#[test]
fn smoothstep_has_no_undefined_edges() {
    for (e0, e1, x, expected) in
        [(1.0, 0.0, 0.25, 27.0 / 32.0), (1.0, 1.0, 0.5, 0.0), (1.0, 1.0, 1.5, 1.0), (1.0, 1.0, 1.0, 1.0)]
    {
        assert_eq!(Op::SMOOTHSTEP.apply([&e0, &e1, &x]), expected);
    }
    for k in -5..=25 {
        let u = f64::from(k) / 20.0;
        assert_eq!(Op::SMOOTH.apply([&u, &u, &u]), Op::SMOOTHSTEP.apply([&0.0, &1.0, &u]));
    }
}

#[test]
fn a_hyphen_is_as_good_as_an_underscore() {
    for easing in Easing::all() {
        let word = easing.to_string();
        assert_eq!(Op::from_word(&word), Op::from_word(easing.op().unwrap().word()));
        assert_eq!(
            Track::parse(&format!("{}(t)", easing.op().unwrap().word())).unwrap().sample(0.3),
            easing.apply(&0.3)
        );
    }
    assert_eq!(Op::from_word("-"), None);
}

quickcheck! {
    /// A mirrored easing is its in, upside down, to the last bit.
    fn out_is_in_mirrored(u: f64) -> bool {
        let u = (u % 1.0).abs();
        ["quad", "cubic", "quart", "quint", "back", "bounce"].iter().all(|family| {
            let at = |side: &str, u: f64| easing(&format!("{family}-{side}")).apply(&u);
            match *family {
                "bounce" => same_bits(at("in", u), 1.0 - at("out", 1.0 - u)),
                _ => same_bits(at("out", u), 1.0 - at("in", 1.0 - u)),
            }
        })
    }

    /// Only back and elastic leave the unit square.
    fn most_easings_stay_in_the_unit_square(u: f64) -> bool {
        let u = if u.is_finite() { (u % 1.0).abs() } else { 0.5 };
        Easing::all().all(|easing| {
            let free = ["back", "elastic"].iter().any(|family| easing.to_string().starts_with(family));
            free || (0.0..=1.0).contains(&easing.apply(&u))
        })
    }
}
