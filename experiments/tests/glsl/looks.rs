//! How generated GLSL looks, and what is refused.

use keyfit::ir::glsl::{Unheld, functions};
use keyfit::ir::{Builder, GlslRefusal, Op, Scene, Track};

fn glsl(formula: &str) -> String {
    Track::parse(formula).unwrap().to_glsl("x").unwrap()
}

#[test]
fn the_arc() {
    let scene = Scene::parse_rectsl(include_str!("../../examples/arc.rectsl")).unwrap();
    let channels = scene.channels();
    let names: Vec<String> = channels.iter().map(|c| c.name.replace('.', "_")).collect();
    let named: Vec<(&str, &Track)> =
        names.iter().map(String::as_str).zip(channels.iter().map(|c| &c.track)).collect();
    insta::assert_snapshot!(functions(&named).unwrap());
}

#[test]
fn keyed_tracks() {
    insta::assert_snapshot!(glsl(
        "keys[-1=0.5 sine-in 0=?rise=1 hold 1=2 catmull-rom 2=3 linear 2=5 linear 4=-1 tcb 5=2{t=0.5 b=-0.25} tcb 7=0 \
         cubic(0.25,0.1,0.25,1) 8=1]"
            .replace("cubic(", "cubic-bezier(")
            .as_str()
    ));
}

#[test]
fn many_keys_are_searched_by_halving() {
    let keys: Vec<String> = (0..20).map(|k| format!("{k}={}", k * k % 7)).collect();
    insta::assert_snapshot!(glsl(&format!("linear[{}](t * 2)", keys.join(" "))));
}

#[test]
fn guards() {
    insta::assert_snapshot!(glsl("mod(t, 2) ^ 0.5 + atan2(sin(t), cos(t)) - sqrt(t) * clamp(t, 0, ?top=1)"));
}

#[test]
fn easing() {
    insta::assert_snapshot!(glsl("back_in_out(t / 3)"));
}

#[test]
fn parentheses_and_shared_terms() {
    for (formula, expected) in [
        ("t - (1 - t)", "t - (1.0 - t)"),
        ("(t - 1) - t", "t - 1.0 - t"),
        ("t + (1 + t)", "t + (1.0 + t)"),
        ("t * (t / 3)", "t * (t / 3.0)"),
        ("t - (-2)", "t - (-2.0)"),
        ("-(-t)", "-(-t)"),
        ("-(t * 2)", "-(t * 2.0)"),
        ("(-t) * 2", "-t * 2.0"),
        ("2 * (-t)", "2.0 * (-t)"),
        ("0.1 * t", "0.1 * t"),
        ("1e20 * t", "1e20 * t"),
    ] {
        let text = glsl(formula);
        assert_eq!(text, format!("float x(float t) {{\n    return {expected};\n}}\n"), "{formula}");
        assert!(!text.contains("--"));
    }
    assert_eq!(
        glsl("sin(t) * sin(t)"),
        "float x(float t) {\n    float s1 = sin(t);\n    return s1 * s1;\n}\n"
    );
}

#[test]
fn refusals() {
    let number = |text: &str| match Track::parse(text).unwrap().to_glsl("x") {
        Err(GlslRefusal::Number { why, node, .. }) => (why, node),
        other => panic!("{text}: {other:?}"),
    };
    assert_eq!(number("t * 1e39"), (Unheld::TooLarge, "MUL(t, 1e39)".into()));
    assert_eq!(number("t * NaN").0, Unheld::NotANumber);
    assert_eq!(number("t - inf").0, Unheld::Infinite);
    assert_eq!(number("linear[0=1 1e39=2]").0, Unheld::TooLarge);
    assert_eq!(number("linear[-3e38=1 3e38=2]").0, Unheld::TooLarge); // the span
    let track = Track::parse("t").unwrap();
    for name in ["", "1a", "a b", "gl_x", "a__b", "kf_x", "float", "sin", "main", "mat4", "é", "t", "params"]
    {
        let refusal = track.to_glsl(name).unwrap_err();
        assert!(matches!(refusal, GlslRefusal::Name { .. }), "{name}");
        assert!(refusal.closable() && !refusal.missing().is_empty());
    }
    assert_eq!(functions(&[("a", &track), ("a", &track)]), Err(GlslRefusal::SameName("a".into())));
    insta::assert_snapshot!(
        Track::parse("sin(t * 1e300)").unwrap().to_glsl("x").unwrap_err(),
        @"1e300 in MUL(t, 1e300): it is too large for a float"
    );
}

/// Nothing recurses, and no line nests deeply.
#[test]
fn a_chain_of_a_million_nodes() {
    let body = || {
        let mut b = Builder::new();
        let (mut x, two) = (b.clock().unwrap(), b.constant(2.0).unwrap());
        for _ in 0..500_000 {
            x = b.apply(Op::DIV, &[two, x]).unwrap();
            x = b.apply(Op::SIN, &[x]).unwrap();
        }
        let text = b.finish(x).unwrap().to_glsl("x").unwrap();
        assert!(text.lines().all(|line| line.len() < 200));
    };
    std::thread::Builder::new().stack_size(1 << 20).spawn(body).unwrap().join().unwrap();
}
