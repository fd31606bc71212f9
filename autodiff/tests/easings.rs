//! Easings: slopes at their ends, and MPFR as the judge of values and slopes.

use keyfit_autodiff::time_derivatives;
use keyfit_ir::{Easing, Expr, Track, t};

fn curve(easing: Easing) -> keyfit_ir::Track {
    Expr::apply(easing.op().expect("an operation"), &[t()]).track().expect("well formed")
}

/// At both ends the slope is the formula's one-sided one, beyond them 0. Numbers are the derivatives by hand.
#[test]
fn slopes_at_the_ends() {
    let (inf, ln2) = (f64::INFINITY, std::f64::consts::LN_2);
    let (pi, p10) = (std::f64::consts::PI, 0.5f64.powi(10));
    let back = 1.70158;
    // the swing of elastic-in at 0 and 1, sin and cos of −10.75·2π/3 and −0.75·2π/3
    let elastic0 = -p10 * (10.0 * ln2 * 0.5 + 20.0 * pi / 3.0 * -(0.75f64.sqrt()));
    for (name, at_zero, at_one) in [
        ("sine-in", 0.0, pi / 2.0),
        ("sine-out", pi / 2.0, 0.0),
        ("sine-in-out", 0.0, 0.0),
        ("quad-in", 0.0, 2.0),
        ("quint-out", 5.0, 0.0),
        ("quart-in-out", 0.0, 0.0),
        ("expo-in", 10.0 * ln2 * p10, 10.0 * ln2),
        ("expo-out", 10.0 * ln2, 10.0 * ln2 * p10),
        ("circ-in", 0.0, inf),
        ("circ-out", inf, 0.0),
        ("circ-in-out", 0.0, 0.0),
        ("back-in", 0.0, back + 3.0),
        ("back-out", back + 3.0, 0.0),
        ("bounce-out", 0.0, 7.5625 / 11.0),
        ("elastic-in", elastic0, 10.0 * ln2),
        ("smooth", 0.0, 0.0),
    ] {
        let track = curve(Easing::from_word(name).expect("an easing"));
        for (u, expected) in [(-0.5, 0.0), (0.0, at_zero), (1.0, at_one), (1.5, 0.0)] {
            let (_, slope, bend) = time_derivatives(&track, u, &[]);
            assert!(
                slope == expected || (slope - expected).abs() < 1e-13 * (1.0 + expected.abs()),
                "{name} at {u}: the slope is {slope:?}, not {expected:?}"
            );
            assert!(!bend.is_nan(), "{name} at {u}");
        }
    }
    // where two pieces meet the right-hand one counts (case B5); a circle is upright in the middle
    let slope =
        |name: &str, u: f64| time_derivatives(&curve(Easing::from_word(name).expect("an easing")), u, &[]).1;
    assert!((slope("bounce-out", (4.0f64 / 11.0).next_down()) - 5.5).abs() < 1e-13);
    assert!((slope("bounce-out", 4.0 / 11.0) + 2.75).abs() < 1e-13);
    assert_eq!(slope("circ-in-out", 0.5), f64::INFINITY);
    assert_eq!(slope("smooth", 0.25), 9.0 / 8.0); // case B11
}

/// The height, slope and second derivative of CSS curves. The numbers are from mpmath at 50 digits: bisection for the
/// parameter, then Y′/X′ and (Y″X′ − Y′X″)/X′³ of these very doubles.
#[test]
fn cubic_bezier_by_the_implicit_function() {
    let asked = |name: &str, u: f64| {
        let track = Track::parse(&format!("{name}[0=0 1=1]")).expect("well formed");
        let (value, slope, bend) = time_derivatives(&track, u, &[]);
        [value, slope, bend]
    };
    for (name, u, expected) in [
        (
            "cubic-bezier(0.25,0.1,0.25,1.0)",
            0.125,
            [0.136888414855361, 1.8216324187628081, 10.457760639738181],
        ),
        ("cubic-bezier(0.25,0.1,0.25,1.0)", 0.5625, [0.8578125, 0.7857142857142857, -3.0227405247813413]),
        (
            "cubic-bezier(0.25,0.1,0.25,1.0)",
            0.875,
            [0.9909690024100692, 0.15063698847837304, -1.3623896949853609],
        ),
        (
            "cubic-bezier(0.42,0.0,1.0,1.0)",
            0.125,
            [0.02598459654508114, 0.3917155988482481, 2.6141905933687943],
        ),
        (
            "cubic-bezier(0.0,0.0,0.58,1.0)",
            0.5625,
            [0.7491161526743637, 0.9879865009461728, -1.4341378840088204],
        ),
        (
            "cubic-bezier(0.42,0.0,0.58,1.0)",
            0.875,
            [0.9688859499145157, 0.5094412701031212, -4.32922543293918],
        ),
        (
            "cubic-bezier(0.68,-0.55,0.265,1.55)",
            0.125,
            [-0.0774064970782388, -0.39208862415741286, 4.3757789416668915],
        ),
        (
            "cubic-bezier(0.68,-0.55,0.265,1.55)",
            0.5625,
            [0.8551183164975275, 2.9605348268548264, -29.31531310326881],
        ),
        (
            "cubic-bezier(1.0,0.0,0.0,1.0)",
            0.125,
            [0.006079777687947628, 0.10570686427737988, 1.0768122031597864],
        ),
        ("cubic-bezier(1.0,0.0,0.0,1.0)", 0.5625, [0.84375, 1.5, -21.333333333333332]),
    ] {
        let found = asked(name, u);
        // the parameter is known to a few units of its last place
        let close = found.iter().zip(&expected).all(|(a, b)| (a - b).abs() <= 2e-14 * b.abs().max(0.01));
        assert!(close, "{name} at {u} is {found:?}, not {expected:?}");
    }
    let inf = f64::INFINITY;
    for (name, u, slope) in [
        ("cubic-bezier(0.25,0.1,0.25,1.0)", 0.0, 0.1 / 0.25),
        ("cubic-bezier(0,0,0.5,1)", 0.0, 2.0), // the first point is the start
        ("cubic-bezier(0.5,0,1,1)", 1.0 - f64::EPSILON, 2.0),
        ("cubic-bezier(0,0.5,1,0.5)", 0.0, inf), // upright
        ("cubic-bezier(1,0,0,1)", 0.5, inf),     // upright in the middle
        ("cubic-bezier(0,0,1,1)", 0.3, 1.0),
    ] {
        let found = asked(name, u)[1];
        assert!(found == slope || (found - slope).abs() < 1e-6, "{name} at {u}: the slope is {found:?}");
    }
    assert_eq!(asked("cubic-bezier(0.3,0.5,0.2,0.7)", 1.5), [1.0, 0.0, 0.0]);
    assert_eq!(asked("steps(4,jump-both)", 0.3), [0.4, 0.0, 0.0]);
}

#[cfg(feature = "mpfr")]
mod judged {
    use super::*;
    use keyfit_autodiff::evaluate;
    use keyfit_autodiff::mpfr::{Format, Mpfr};
    use keyfit_ir::Scalar;
    use rug::Float;

    /// At u = k/20 exactly and 200 bits the formulas give the table's 40 digits: they are the easings of easings.net.
    #[test]
    fn the_table_is_met_to_its_last_digit() {
        let mut rows = 0;
        for line in
            include_str!("../../ir/tests/data/easings.csv").lines().filter(|line| !line.starts_with('#'))
        {
            let [name, k, digits] = line.split(',').collect::<Vec<_>>().try_into().expect("three fields");
            let track = Expr::apply(
                Easing::from_word(name).expect("an easing").op().expect("an operation"),
                &[t() / 20.0],
            );
            let value = evaluate(&track.track().expect("well formed"), k.parse().expect("k"), &[], 200);
            let expected = Float::with_val(200, Float::parse(digits).expect("digits"));
            // half a unit of the 40th digit, at 0.1 … 1 or, where the value is smaller, relative to it
            let bound = Float::with_val(200, expected.abs_ref()) * 1e-39 * 5.0;
            let error = Float::with_val(200, &value - &expected).abs();
            assert!(error <= bound, "{name} at {k}/20 is {value}");
            rows += 1;
        }
        assert_eq!(rows, 630);
    }

    /// Slopes and second derivatives against difference quotients of 1000 bits at 997 places of each curve: to 1e-13 and
    /// 1e-12, relative to 1 or, where it is larger, to the derivative.
    #[test]
    fn derivatives_are_quotients() {
        let format = Format::bits(1000);
        for easing in Easing::all() {
            let track = curve(easing);
            for k in 1..997 {
                let u = f64::from(k) / 997.0;
                let at = |steps: f64| {
                    let x = Mpfr::new(u, format);
                    let h = x.lift(Scalar::exp2(&-200.0));
                    easing.apply(&x.add(&x.lift(steps).mul(&h))).value().clone()
                };
                let (left, middle, right) = (at(-1.0), at(0.0), at(1.0));
                let slope = (Float::with_val(1000, &right - &left) << 199u32).to_f64();
                let bend =
                    (Float::with_val(1000, &right + &left) - Float::with_val(1000, &middle * 2u32)) << 400u32;
                let (_, found, bent) = time_derivatives(&track, u, &[]);
                for (found, exact, bound) in [(found, slope, 1e-13), (bent, bend.to_f64(), 1e-12)] {
                    let scale = exact.abs().max(1.0);
                    assert!(
                        (found - exact).abs() <= bound * scale,
                        "{easing} at {u}: {found:?}, not {exact:?}"
                    );
                }
            }
        }
    }
}
