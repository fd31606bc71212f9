//! Collected animation bugs with their right answers: keys (A), holds and easings (B), splines (C), clocks (D), angles (E).
//! Each test bears the case's name. Values are exact where all numbers on the way are; elsewhere to 1e-12, as the cases say.

use keyfit_ir::{
    BuildError, Easing, HEADING_STEP, KeyError, Op, Scene, Shape, SyntaxErrorKind, Track, heading, same_bits,
};

fn track(text: &str) -> Track {
    Track::parse(text).unwrap_or_else(|e| panic!("{text}: {e}"))
}

/// Exactly these values.
fn exact(text: &str, asked: &[(f64, f64)]) {
    for &(t, expected) in asked {
        let value = track(text).sample(t);
        assert!(same_bits(value, expected), "{text} at {t:?} is {value:?}, not {expected:?}");
    }
}

/// These values to 1e-12, relative.
fn near(text: &str, asked: &[(f64, f64)]) {
    for &(t, expected) in asked {
        let value = track(text).sample(t);
        let error = (value - expected).abs();
        assert!(error <= 1e-12 * expected.abs(), "{text} at {t:?} is {value:?}, not {expected:?}");
    }
}

fn key_error(text: &str) -> KeyError {
    match Track::parse(text).map_err(|e| e.kind) {
        Err(SyntaxErrorKind::Build(BuildError::Keys(e))) => e,
        other => panic!("{text}: {other:?}"),
    }
}

/// Every shape's name, as the head of a key list.
fn heads() -> Vec<String> {
    Shape::all().map(|shape| shape.to_string()).collect()
}

const BELOW_ONE: f64 = 1.0 - f64::EPSILON / 2.0;

#[test]
fn a1_two_keys_at_one_time_at_the_end() {
    exact("linear[0=0 1=10 1=20]", &[(0.5, 5.0), (1.0, 20.0), (2.0, 20.0)]);
    for head in heads() {
        let track = track(&format!("{head}[0=0 1=10 1=20]"));
        assert_eq!([1.0, 2.0].map(|t| track.sample(t)), [20.0; 2], "{head}");
        assert!(track.sample(BELOW_ONE) <= 10.5, "{head}");
    }
}

#[test]
fn a2_a_jump_inside_a_track() {
    exact(
        "linear[0=0 1=10 1=20 2=30]",
        &[(0.5, 5.0), (1.0, 20.0), (1.5, 25.0), (BELOW_ONE, 10.0 * BELOW_ONE)],
    );
    // a jump is an end of the spline on both sides: two straight lines, and the halves of a spline cut there
    for head in ["catmull-rom", "tcb"] {
        exact(&format!("{head}[0=0 1=10 1=20 2=30]"), &[(0.5, 5.0), (0.75, 7.5), (1.25, 22.5), (1.5, 25.0)]);
    }
    let (whole, left, right) = (
        track("tcb[0=0 1=3{t=0.5} 2=10{c=0.25} 2=20{b=-0.5} 3=25 5=0]"),
        track("tcb[0=0 1=3{t=0.5} 2=10{c=0.25}]"),
        track("tcb[2=20{b=-0.5} 3=25 5=0]"),
    );
    for k in 0..50 {
        let t = f64::from(k) / 10.0;
        let half = if t < 2.0 { &left } else { &right };
        assert_eq!(whole.sample(t), half.sample(t), "at {t}");
    }
}

#[test]
fn a3_three_keys_at_one_time() {
    for head in heads() {
        let text = format!("{head}[0=0 1=10 1=99 1=20 2=30]");
        assert_eq!(key_error(&text), KeyError::Repeated { key: 4, time: 1.0 });
    }
}

#[test]
fn a5_one_key_only() {
    for head in heads() {
        exact(&format!("{head}[1=5]"), &[(-1.0, 5.0), (0.0, 5.0), (1.0, 5.0), (2.0, 5.0)]);
    }
}

#[test]
fn a6_two_keys_for_a_spline() {
    near("catmull-rom[0=0 3=10]", &[(1.0, 10.0 / 3.0)]);
    exact("catmull-rom[0=0 1=10 2=30]", &[(0.5, 4.375), (0.25, 2.265625), (1.5, 19.375)]);
    // with two keys a spline is the straight line, to the last bit
    for head in ["catmull-rom", "tcb"] {
        let (spline, line) = (track(&format!("{head}[0.1=0.7 0.8=-2.3]")), track("linear[0.1=0.7 0.8=-2.3]"));
        for k in 0..100 {
            let t = f64::from(k) / 100.0;
            assert!(same_bits(spline.sample(t), line.sample(t)), "{head} at {t}");
        }
    }
}

#[test]
fn a7_keys_out_of_order() {
    assert_eq!(
        key_error("catmull-rom[0=1 10.64=1 5.2=16]"),
        KeyError::OutOfOrder { key: 3, time: 5.2, previous: 10.64 }
    );
}

#[test]
fn a9_the_first_key_later_than_zero() {
    for head in heads() {
        exact(
            &format!("{head}[1.5=1 2.5=2]"),
            &[(0.0, 1.0), (1.4999, 1.0), (1.5, 1.0), (2.5, 2.0), (9.0, 2.0)],
        );
    }
    exact("linear[1.5=1 2.5=2]", &[(2.0, 1.5)]);
}

#[test]
fn a10_the_last_key_is_met() {
    for head in heads() {
        exact(&format!("{head}[0=1e16 1=1]"), &[(1.0, 1.0)]);
        exact(&format!("{head}[0=0.1 1=0.001 2=3]"), &[(1.0, 0.001)]);
        let level = track(&format!("{head}[0=0.1 1=0.1 2=0.1]"));
        (0..1000).for_each(|k| assert_eq!(level.sample(f64::from(k) / 500.0), 0.1, "{head}"));
    }
}

#[test]
fn a11_huge_neighbours_do_not_cancel() {
    for head in heads() {
        exact(&format!("{head}[0=0 1=1e16 2=1]"), &[(1.0, 1e16), (5.0, 1.0)]);
    }
}

#[test]
fn a13_keys_that_a_reducer_must_not_drop() {
    exact("tcb[0=0 1=1 2=1 3=1]", &[(1.5, 1.0625), (2.5, 1.0)]);
    exact("tcb[0=0 1=1 2=1]", &[(1.5, 1.0625)]);
    near("tcb[0=0 1=1 3=1]", &[(1.5, 1.09375)]);
}

#[test]
fn a15_negative_zero_and_text() {
    for head in heads() {
        let text = format!("{head}[0.0=-0.0 1.0=-0.0]");
        exact(&text, &[(0.0, -0.0), (1.0, -0.0)]);
        if head != "cubic" {
            assert_eq!(track(&text).describe(), text);
        }
    }
    exact("hold[0=-0.0 1=-0.0]", &[(0.5, -0.0)]);
}

#[test]
fn b1_hold() {
    exact(
        "hold[0=6 1=8 2=9]",
        &[
            (-0.5, 6.0),
            (0.0, 6.0),
            (0.5, 6.0),
            (BELOW_ONE, 6.0),
            (1.0, 8.0),
            (1.5, 8.0),
            (2.0, 9.0),
            (3.0, 9.0),
        ],
    );
}

#[test]
fn b3_hold_played_backwards() {
    let held = track("hold[0=6 1=8 2=9]");
    let mut out = [0.0; 4];
    held.sample_into(&[1.0, 0.0, 2.0, 0.5], &mut out);
    assert_eq!(out, [8.0, 6.0, 9.0, 6.0]);
}

#[test]
fn b4_expo_and_elastic_reach_their_ends() {
    for easing in Easing::all() {
        exact(&format!("{easing}[0=0 1=1]"), &[(-1.0, 0.0), (0.0, 0.0), (1.0, 1.0), (2.0, 1.0)]);
    }
    near("expo-in[0=0 1=1]", &[(1e-18, 0.0009765625), (0.5, 1.0 / 32.0)]);
}

#[test]
fn b5_bounce_constants() {
    near(
        "bounce-out[0=0 11=1]",
        &[
            (4.0, 1.0),
            (5.5, 49.0 / 64.0),
            (6.0, 0.75),
            (8.0, 1.0),
            (9.0, 0.9375),
            (10.0, 1.0),
            (10.5, 0.984375),
        ],
    );
}

#[test]
fn b7_values_reach_the_end() {
    for head in heads() {
        exact(&format!("{head}[0=0 1=-369]"), &[(1.0, -369.0)]);
    }
}

#[test]
fn b8_equal_values_with_an_overshooting_curve() {
    for easing in Easing::all() {
        exact(&format!("{easing}[0=5 1=5]"), &[(0.25, 5.0), (0.5, 5.0), (0.9, 5.0)]);
    }
    exact("cubic[0=5{out=3} 1=5{in=-3}]", &[(0.0, 5.0), (0.5, 5.75), (1.0, 5.0)]);
    // tangents are per unit of time: twice the span, half the slopes
    exact("cubic[0=5{out=1.5} 2=5{in=-1.5}]", &[(1.0, 5.75)]);
}

#[test]
fn b9_steps() {
    let asked = [0.0, 0.24, 0.25, 0.5, 0.75, 0.99, 1.0];
    let third = 1.0 / 3.0;
    for (jump, expected) in [
        ("end", [0.0, 0.0, 0.25, 0.5, 0.75, 0.75, 1.0]),
        ("start", [0.25, 0.25, 0.5, 0.75, 1.0, 1.0, 1.0]),
        ("none", [0.0, 0.0, third, 2.0 * third, 1.0, 1.0, 1.0]),
        ("both", [0.2, 0.2, 0.4, 0.6, 0.8, 0.8, 1.0]),
    ] {
        let steps = Easing::from_word(&format!("steps(4,jump-{jump})")).unwrap();
        assert_eq!(asked.map(|u| steps.apply(&u)), expected, "{jump}");
        // in a track the keys' own values are met
        let track = track(&format!("steps(4,jump-{jump})[0=0 1=1]"));
        assert_eq!([0.0, 0.5, 1.0].map(|t| track.sample(t)), [0.0, expected[3], 1.0], "{jump}");
        for u in [-1.0, 1.0, 2.0] {
            assert_eq!(steps.apply(&u), f64::from(u > 0.0), "{jump}");
        }
        assert!(steps.apply(&f64::NAN).is_nan());
        // n·u is below n for every n
        for n in 2..200 {
            let steps = Easing::from_word(&format!("steps({n}, jump-{jump})")).unwrap();
            assert!(steps.apply(&BELOW_ONE) <= 1.0 && steps.apply(&BELOW_ONE) > 0.4, "{n} {jump}");
        }
    }
    // the algorithm of CSS in doubles: 0.29·100 is below 29
    assert_eq!(Easing::from_word("steps(100)").unwrap().apply(&0.29), 0.28);
    for wrong in [
        "steps(0)",
        "steps(1,jump-none)",
        "steps(-1)",
        "steps(4,jump)",
        "cubic-bezier(-0.1,0,1,1)",
        "cubic-bezier(0,0,1)",
    ] {
        assert_eq!(Easing::from_word(wrong), None, "{wrong}");
    }
}

/// CSS's curves, at values from mpmath; the ends are met and held.
#[test]
fn cubic_bezier() {
    near("cubic-bezier(0.25,0.1,0.25,1)[0=0 2=10]", &[(1.125, 8.578125), (0.25, 1.36888414855361)]);
    near("cubic-bezier(1, 0, 0, 1)[0=0 1=1]", &[(0.5625, 0.84375), (0.125, 0.006079777687947628)]);
    // a straight line to within the parameter's rounding, and overshoot
    near("cubic-bezier(0.25,0.25,0.75,0.75)[0=0 1=1]", &[(0.1, 0.1), (0.9, 0.9)]);
    near("cubic-bezier(0.68,-0.55,0.265,1.55)[0=0 1=1]", &[(0.875, 1.0734105134675187)]);
    let ease = Easing::cubic_bezier(0.25, 0.1, 0.25, 1.0).unwrap();
    assert_eq!([-1.0, 0.0, 1.0, 2.0].map(|u| ease.apply(&u)), [0.0, 0.0, 1.0, 1.0]);
    assert!(ease.apply(&5e-324) >= 0.0 && ease.apply(&f64::NAN).is_nan());
    let rising: Vec<f64> = (0..=1000).map(|k| ease.apply(&(f64::from(k) / 1000.0))).collect();
    assert!(rising.windows(2).all(|pair| pair[0] < pair[1]));
}

#[test]
fn b11_smoothstep_edges() {
    exact("smoothstep(1, 0, t)", &[(0.25, 0.84375)]);
    exact("smoothstep(1, 1, t)", &[(0.5, 0.0), (1.0, 1.0), (1.5, 1.0)]);
    exact("smooth[0=0 1=1]", &[(0.25, 5.0 / 32.0), (0.75, 27.0 / 32.0)]);
}

#[test]
fn c4_overshoot_is_right_for_plain_catmull_rom() {
    exact("catmull-rom[0=0 1=10 2=10 3=0]", &[(1.5, 11.25)]);
    exact("monotone[0=0 1=10 2=10 3=0]", &[(1.5, 10.0), (0.5, 6.25)]);
}

#[test]
fn c6_tcb_is_time_scaled() {
    near("tcb[0=0 1=1 3=5 4=4]", &[(2.0, 19.0 / 6.0), (0.5, 5.0 / 12.0)]);
    let all = "{t=0.5 c=0.25 b=-0.5}";
    near(&format!("tcb[0=0{all} 1=1{all} 3=5{all} 4=4{all}]"), &[(2.0, 155.0 / 48.0)]);
    // slopes at t = 1 from both sides are 5/3
    let spline = track("tcb[0=0 1=1 3=5 4=4]");
    for h in [1e-7, -1e-7] {
        assert!(((spline.sample(1.0 + h) - 1.0) / h - 5.0 / 3.0).abs() < 1e-5);
    }
}

#[test]
fn c7_uniform_tcb() {
    for (all, half, quarter) in [
        ("", 0.5, 27.0 / 32.0),
        ("{t=1}", 0.5, 27.0 / 32.0),
        ("{c=1}", 0.5, 15.0 / 16.0),
        ("{c=-1}", 0.5, 0.75),
        ("{b=1}", 0.75, 33.0 / 32.0),
        ("{b=-1}", 0.25, 21.0 / 32.0),
        ("{t=0.5 c=0.5 b=0.5}", 9.0 / 16.0, 117.0 / 128.0),
    ] {
        exact(&format!("tcb[0=0{all} 1=1{all} 2=0{all} 3=1{all}]"), &[(1.5, half), (1.25, quarter)]);
    }
}

/// The tangents that LightWave stored at the middle key of x in assimp-testmodels' LWS/move_x_post_*.lws, per segment,
/// to 1e-14. The slopes at a key are read from the curve: of the cubic v₀ + m₀·u + (3d − 2m₀ − m₁)·u² + (m₀ + m₁ − 2d)·u³,
/// with the outer end's tangent d, both m are linear in the value at u = ½: v = v₀ + d/2 + (m₀ − m₁)/8.
#[test]
fn c8_lightwaves_own_tangents() {
    let (t1, t2) = (2.0 / 3.0, 1.3);
    let (v1, v2) = (2.138185997343679, -1.6381832361221313);
    let spline = track(&format!("tcb[0=0 {t1:?}={v1:?} {t2:?}={v2:?}]"));
    // the outer tangents are the chords v₁ − 0 and v₂ − v₁
    let arrive = v1 - 8.0 * (spline.sample(t1 / 2.0) - v1 / 2.0);
    let leave = 8.0 * (spline.sample((t1 + t2) / 2.0) - (v1 + v2) / 2.0) + (v2 - v1);
    assert!((arrive - -0.8400939672421186).abs() < 1e-14, "{arrive:?}");
    assert!((leave - -0.7980892688800126).abs() < 1e-14, "{leave:?}");
}

#[test]
fn d1_the_loop_ends_before_its_duration() {
    let ask = &[(0.0, 0.0), (0.5, 0.5), (1.0, 0.0), (1.5, 0.5), (2.0, 0.0)];
    exact("linear[0=0 1=1](mod(t, 1))", ask);
    exact("catmull-rom[0=0 1=1](mod(t, 1))", ask);
    exact("linear[0=0 1=1]", &[(1.0, 1.0), (1.5, 1.0)]);
    exact("hold[0=6 1=8](mod(t, 2))", &[(0.5, 6.0), (1.5, 8.0), (2.0, 6.0), (3.0, 8.0)]);
}

#[test]
fn d2_negative_time() {
    exact("linear[0=0 1=1](mod(t, 1))", &[(-0.25, 0.75), (-1.0, 0.0), (-1.5, 0.5)]);
}

#[test]
fn d4_ping_pong() {
    let asked =
        [(0.0, 0.0), (0.5, 0.5), (1.0, 1.0), (1.5, 0.5), (2.0, 0.0), (-0.25, 0.25), (-1.0, 1.0), (3.0, 1.0)];
    exact("linear[0=0 1=1](ping_pong(t, 1))", &asked);
    exact("ping_pong(t, 1)", &asked);
}

#[test]
fn d5_running_for_days() {
    exact("linear[0=0 2=1](mod(t, 2))", &[(259_200.5, 0.25)]);
    exact("linear[0=0 3=1](mod(t, 3))", &[(9_007_199_254_740_992.0, 2.0 / 3.0)]);
    exact("mod(t, 0.7)", &[(1e15 + 0.3, 0.013441315692866107)]);
    exact("mod(t, 0.1)", &[(1.0, 0.09999999999999995)]);
}

/// The yaw of a rect that turns through these keys, in degrees, the short way or as written.
fn yaw(keys: &str, short: bool) -> Track {
    let short = if short { "360 shortest" } else { "" };
    let scene = Scene::parse_rectsl(&format!("\"yaw\" rect '( {keys} ) {short} linear ->x ;"));
    scene.unwrap_or_else(|e| panic!("{keys}: {e:?}")).channels().remove(0).track
}

#[test]
fn e1_from_350_to_10() {
    assert_eq!(yaw("0=350 1=10", true).sample(0.5), 360.0);
    assert_eq!(yaw("0=350 1=10", false).sample(0.5), 180.0);
    assert_eq!(yaw("0=358 1=2", true).sample(0.5), 360.0);
}

/// Half a turn is taken downwards, as by a difference in [−180, 180).
#[test]
fn e3_exactly_half_a_turn() {
    assert_eq!(yaw("0=0 1=180", true).sample(0.5), -90.0);
    assert_eq!(yaw("0=0 1=-180", true).sample(0.5), -90.0);
}

#[test]
fn e5_the_long_way_is_sometimes_wanted() {
    assert_eq!(yaw("0=120 1=-120", false).sample(0.5), 0.0);
    assert_eq!(yaw("0=120 1=-120", true).sample(0.5), 180.0);
}

/// E7's recording is not at hand; random walks of angles stand for it, wrapped as such files are.
#[test]
fn e7_unwrapping_recorded_angles() {
    let mut state = 7u64;
    let mut random = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    let (mut jumps, mut angle) = (0, 0.0);
    for _ in 0..100 {
        let recorded: Vec<f64> = (0..100)
            .map(|_| {
                angle += random() * 340.0 - 170.0;
                (angle + 180.0f64).rem_euclid(360.0) - 180.0
            })
            .collect();
        let keys: Vec<String> = recorded.iter().enumerate().map(|(i, a)| format!("{i}={a:?}")).collect();
        let unwrapped = yaw(&keys.join(" "), true);
        let values: Vec<f64> = (0..100).map(|i| unwrapped.sample(f64::from(i))).collect();
        for (pair, own) in values.windows(2).zip(recorded.windows(2)) {
            jumps += usize::from((own[1] - own[0]).abs() > 180.0);
            assert!((pair[1] - pair[0]).abs() <= 180.0, "{pair:?}");
        }
        for (value, own) in values.iter().zip(&recorded) {
            // whole turns, taken off with one rounding
            let turns = ((value - own) / 360.0).round();
            assert!(same_bits(*value, own + 360.0 * turns), "{value} {own}");
        }
    }
    assert!(jumps > 2000, "{jumps}");
}

#[test]
fn e9_heading_of_a_stopped_object() {
    let [x, y] = ["linear[0=0 1=3 2=3]", "linear[0=0 1=4 2=4]"].map(track);
    for step in [HEADING_STEP, 0.25, 0.001] {
        let heading = heading(x.clone(), y.clone(), step).track().unwrap();
        let [moving, stopped, ended] = [0.5, 1.5, 5.0].map(|t| heading.sample(t));
        assert!((moving - 0.927_295_218_001_612_2).abs() <= 1e-12, "{step}: {moving}");
        assert_eq!([stopped, ended], [0.0; 2]);
    }
}

/// A central difference of a circle is 2·sin h times its tangent, for any step.
#[test]
fn e10_heading_of_a_circle() {
    for step in [HEADING_STEP, 0.5, 1.0] {
        let heading = heading(track("cos(t)"), track("sin(t)"), step).track().unwrap();
        for (t, expected) in
            [(0.0, std::f64::consts::FRAC_PI_2), (0.5, 2.0707963267948966), (2.0, -2.7123889803846897)]
        {
            assert!((heading.sample(t) - expected).abs() < 1e-12 / step, "{step}: {}", heading.sample(t));
        }
    }
}

#[test]
fn e12_signed_zeros() {
    use std::f64::consts::PI;
    for (formula, expected) in [
        ("-0.0 + 0", 0.0),
        ("0 - 0", 0.0),
        ("neg(0)", -0.0),
        ("-0.0 - 0", -0.0),
        ("-0.0 * 1", -0.0),
        ("-0.0 + -0.0", -0.0),
        ("atan2(0, -0.0)", PI),
        ("atan2(0, 0)", 0.0),
        ("atan2(-0.0, -1)", -PI),
        ("atan2(0, -1)", PI),
        ("mix(1e16, 1, 1)", 0.0),
        ("mix(5, -0.0, 1)", 0.0),
        ("mix(inf, 1, 1)", f64::NAN),
        ("inf * 0", f64::NAN),
        ("inf - inf", f64::NAN),
    ] {
        exact(formula, &[(0.0, expected)]);
    }
}

/// Yaw and pitch as Minecraft has them: −dx is −0 where dx is 0, and −180° is the same direction as 180°.
#[test]
fn e13_minecraft_yaw_and_pitch() {
    let degrees = |radians: f64| radians * 180.0 / std::f64::consts::PI;
    let yaw = |dx: f64, dz: f64| degrees(Op::ATAN2.apply([&-dx, &dz, &0.0]));
    let pitch = |dx: f64, dy: f64, dz: f64| {
        -degrees(Op::ATAN2.apply([&dy, &Op::HYPOT.apply([&dx, &dz, &0.0]), &0.0]))
    };
    for ((dx, dz), expected) in
        [((1.0, 0.0), -90.0), ((0.0, 1.0), 0.0), ((-1.0, 0.0), 90.0), ((0.0, -1.0), -180.0)]
    {
        assert_eq!(yaw(dx, dz), expected, "{dx} {dz}");
    }
    assert!((yaw(20.0, 10.0) - -63.43494882292201).abs() < 1e-12);
    assert!((pitch(20.0, 11.0, 10.0) - -26.194185490754055).abs() < 1e-12);
}

/// A list of mixed shapes: each segment is as it would be in a track of its own shape, splines beside others included.
#[test]
fn mixed_shapes_live_in_one_track() {
    let mixed =
        "keys[0=1 linear 1=3 hold 2=5 catmull-rom 3=0 sine-in 4=-4 tcb 5=2{t=0.5} cubic 6=1{in=2} hold 7=0]";
    for (t, alone) in [
        (0.5, "linear[0=1 1=3]"),
        (1.75, "hold[1=3 2=5]"),
        (2.25, "catmull-rom[1=3 2=5 3=0 4=-4]"),
        (3.25, "sine-in[3=0 4=-4]"),
        (4.25, "tcb[3=0 4=-4 5=2{t=0.5} 6=1]"),
        (5.25, "cubic[5=2 6=1{in=2}]"),
        (6.999, "hold[6=1 7=0]"),
        (7.0, "linear[7=0]"),
    ] {
        assert!(same_bits(track(mixed).sample(t), track(alone).sample(t)), "at {t}: {alone}");
    }
    assert_eq!(track(&track(mixed).describe()), track(mixed));
}
