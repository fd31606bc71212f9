//! Text in, text out: formulas, describe, RectSL and their errors.

use keyfit_ir::{Names, Node, Quantity, Scene, SyntaxError, Target, Track, same_bits};

const MARKER: &str = r#"#rectsl
->wall 18 8 meters
->duration 4
->fps 30

linear-track "sweep" '( 0=0   4=4 )   # from 0 to 4

"marker" rect
  0 0 ->xy
  1.4 1.4 ->wh
  "sweep" track-ref 1.0 free-param gain * 0.0 free-param bias + ->x
  0x44d4b4 solid ->fill
;
"#;

/// The message, and the line with a caret below the place.
fn render(text: &str, error: &SyntaxError) -> String {
    let start = text[..error.span.start].rfind('\n').map_or(0, |n| n + 1);
    let line = text[start..].lines().next().unwrap_or("");
    let indent = text[start..error.span.start].chars().count();
    let carets = text[error.span.range()].chars().count().max(1);
    let hint = error.kind.hint().map_or(String::new(), |hint| format!("\n  hint: {hint}"));
    format!("{line}\n{}{}\n  {error}{hint}\n", " ".repeat(indent), "^".repeat(carets))
}

#[test]
fn the_marker_scene_compiles() {
    let scene = Scene::parse_rectsl(MARKER).unwrap();
    let wall = scene.wall.as_ref().unwrap();
    assert_eq!((wall.width, wall.height, wall.unit.as_str()), (18.0, 8.0, "meters"));
    assert_eq!((scene.duration, scene.fps), (Some(4.0), Some(30.0)));
    let rect = &scene.rects[0];
    assert_eq!((rect.name.as_str(), rect.fill.unwrap().0), ("marker", 0x44d4b4));
    let text: Vec<String> =
        scene.channels().iter().map(|c| format!("{}: {}", c.name, c.track.describe())).collect();
    insta::assert_snapshot!(text.join("\n"), @r"
    x: ADD(MUL(linear[0.0=0.0 4.0=4.0], ?gain=1.0), ?bias=0.0)
    y: 0.0
    w: 1.4
    h: 1.4
    rotate: 0.0
    ");
    assert_eq!(["marker.x", "x", "marker.z"].map(|name| scene.channel_name(name)), ["x", "x", "z"]);
}

#[test]
fn a_free_key_value_compiles() {
    let scene = Scene::parse_rectsl("\"ramp\" rect '( 0=0  2=4 free-param peak ) linear ->x ;").unwrap();
    assert_eq!(scene.rects[0].track(Quantity::X).describe(), "linear[0.0=0.0 2.0=?peak=4.0]");
}

/// Every shape on a list, inside a list and as a named track.
#[test]
fn key_lists_of_every_shape_compile() {
    for shape in keyfit_ir::Shape::all() {
        let scene = format!(
            "{shape}-track \"named\" '( 0=1 1=2 2=4 )
             \"m\" rect '( 0=1 1=2 2=4 ) {shape} ->x '( 0=1 ->{shape} 1=2 ->{shape} 2=4 ) keys ->y \"named\" track-ref ->w ;"
        );
        let scene = Scene::parse_rectsl(&scene).unwrap_or_else(|e| panic!("{}", render(&scene, &e[0])));
        let rect = &scene.rects[0];
        let expected = Track::parse(&format!("{shape}[0=1 1=2 2=4]")).unwrap();
        assert_eq!([Quantity::X, Quantity::Y, Quantity::W].map(|q| rect.track(q)), [&expected; 3]);
    }
    let scene = r#""m" rect
        '( 0=0  1=5 free-param p 0.5 ->tension 0.25 ->continuity -0.5 ->bias  3=1 ) tcb ->x
        '( 0=5 3 ->out  1=5 -3 ->in ) cubic ->y
        '( 0=1 ->hold  1=2 0.5 sine-in *  2=3 ->back-out  4=0 ) linear ->w
        0.3 sine-in '( 0=1 ->steps(3,jump-both) 1=2 2=3) cubic-bezier(0.25,0.1,0.25,1) + ->h ;"#;
    let scene = Scene::parse_rectsl(scene).unwrap_or_else(|e| panic!("{}", render(scene, &e[0])));
    let text: Vec<String> = scene.channels().iter().map(|c| c.track.describe()).collect();
    insta::assert_snapshot!(text.join("\n"), @r"
    tcb[0.0=0.0 1.0=?p=5.0{t=0.5 c=0.25 b=-0.5} 3.0=1.0]
    cubic[0.0=5.0{out=3.0} 1.0=5.0{in=-3.0}]
    keys[0.0=1.0 hold 1.0=MUL(2.0, SINE_IN(0.5)) linear 2.0=3.0 back-out 4.0=0.0]
    ADD(SINE_IN(0.3), keys[0.0=1.0 steps(3,jump-both) 1.0=2.0 cubic-bezier(0.25,0.1,0.25,1.0) 2.0=3.0])
    0.0
    ");
}

#[test]
fn formulas_mean_what_people_mean() {
    for (formula, expected) in [
        ("?gain=1.0 * t + ?bias=0.0", "ADD(MUL(?gain=1.0, t), ?bias=0.0)"),
        ("-t^2", "NEG(POW(t, 2.0))"),
        ("-2^2", "NEG(POW(2.0, 2.0))"),
        ("2^-t*3", "MUL(POW(2.0, NEG(t)), 3.0)"),
        ("2^-3", "POW(2.0, -3.0)"),
        ("2^3^t", "POW(2.0, POW(3.0, t))"),
        ("1-2-t", "SUB(SUB(1.0, 2.0), t)"),
        ("-t*3", "MUL(NEG(t), 3.0)"),
        ("t - -2", "SUB(t, -2.0)"),
        ("--t", "NEG(NEG(t))"),
        ("(1+t)*2/3", "DIV(MUL(ADD(1.0, t), 2.0), 3.0)"),
        ("clamp(t, 0, 1) + mod(t, .5)", "ADD(CLAMP(t, 0.0, 1.0), MOD(t, 0.5))"),
        ("?a=1e-3 + ?a", "ADD(?a=0.001, ?a=0.001)"),
        ("a + ?a + ?a=1*t", "ADD(ADD(?a=1.0, ?a=1.0), MUL(?a=1.0, t))"),
        ("?a-b=1*t + ?a-b", "ADD(MUL(?a-b=1.0, t), ?a-b=1.0)"),
        ("0e-400", "0.0"),
        ("?a=1-?b=2", "SUB(?a=1.0, ?b=2.0)"),
        ("?x-amp=-1.5", "?x-amp=-1.5"),
        ("pi", "3.141592653589793"),
        ("linear[-1=0 -0.5=2 3=-?p=1](mod(t, 2))", "linear[-1.0=0.0 -0.5=2.0 3.0=NEG(?p=1.0)](MOD(t, 2.0))"),
        ("linear[0=1 1=(1+?p=1)]*2", "MUL(linear[0.0=1.0 1.0=ADD(1.0, ?p=1.0)], 2.0)"),
        ("w := 2*t; w + w", "ADD(MUL(2.0, t), MUL(2.0, t))"),
        ("linear[-0=1]", "linear[0.0=1.0]"),
        ("hold[0=6 1=8]", "hold[0.0=6.0 1.0=8.0]"),
        (
            "sine-in[0=0 1=1] - catmull_rom[0=0 2=?p=3]",
            "SUB(sine-in[0.0=0.0 1.0=1.0], catmull-rom[0.0=0.0 2.0=?p=3.0])",
        ),
        ("t-linear[0=1 1=2]", "SUB(t, linear[0.0=1.0 1.0=2.0])"),
        ("2-sine-in[0=1 1=2]", "SUB(2.0, sine-in[0.0=1.0 1.0=2.0])"),
        ("tcb[0=0 1=?p=1{t=.5 b=-0.25} 2=4{c=0 t=-0}]", "tcb[0.0=0.0 1.0=?p=1.0{t=0.5 b=-0.25} 2.0=4.0]"),
        (
            "cubic[0=5{out=3} 1=-?q=2{in=-?q out=(1+1)} 2=0](mod(t, 2))",
            "cubic[0.0=5.0{out=3.0} 1.0=NEG(?q=2.0){in=NEG(?q=2.0) out=ADD(1.0, 1.0)} 2.0=0.0{in=0.0}](MOD(t, 2.0))",
        ),
        (
            "keys[0=1 linear 1=2 hold 2=sin(3) elastic_in_out 3=4 tcb 4=5{c=1}]",
            "keys[0.0=1.0 linear 1.0=2.0 hold 2.0=SIN(3.0) elastic-in-out 3.0=4.0 tcb 4.0=5.0{c=1.0}]",
        ),
        ("hold[0=1 1=2 linear 2=3]", "keys[0.0=1.0 hold 1.0=2.0 linear 2.0=3.0]"),
        ("keys[0=1 hold 1=2 hold 2=3]", "hold[0.0=1.0 1.0=2.0 2.0=3.0]"),
        ("keys[0=1]", "linear[0.0=1.0]"),
        (
            "cubic-bezier(.25, 0.1, .25, 1)[0=0 1=1] - steps(4)[0=0 1=1]",
            "SUB(cubic-bezier(0.25,0.1,0.25,1.0)[0.0=0.0 1.0=1.0], steps(4,jump-end)[0.0=0.0 1.0=1.0])",
        ),
        (
            "keys[0=?p=1 steps(3,start) 1=2 cubic-bezier(0,0,1,1) 2=3]",
            "keys[0.0=?p=1.0 steps(3,jump-start) 1.0=2.0 cubic-bezier(0.0,0.0,1.0,1.0) 2.0=3.0]",
        ),
        ("sine_in(t) + smooth(t)", "ADD(SINE_IN(t), SMOOTH(t))"),
    ] {
        assert_eq!(
            Track::parse(formula).unwrap_or_else(|e| panic!("{}", render(formula, &e))).describe(),
            expected
        );
    }
}

#[test]
fn names_given_apart() {
    let names = Names::new()
        .start("b1", 500.0)
        .start("b2", 1e-4)
        .track("x1", Track::parse("linear[0=1 1=3]").unwrap());
    let track = Track::parse_with("b1*(1-exp(-b2*t)) + x1", &names).unwrap();
    assert_eq!(
        track.describe(),
        "ADD(MUL(?b1=500.0, SUB(1.0, EXP(MUL(NEG(?b2=0.0001), t)))), linear[0.0=1.0 1.0=3.0])"
    );
}

#[test]
fn every_double_round_trips() {
    for x in [
        -0.0,
        0.0,
        5e-324,
        2.2250738585072014e-308,
        1e300,
        f64::MAX,
        0.1,
        f64::NAN,
        f64::INFINITY,
        -f64::INFINITY,
    ] {
        for text in
            [format!("{x:?}"), format!("?p={x:?}"), format!("ADD(t, {x:?})"), format!("linear[0.0={x:?}]")]
        {
            let track = Track::parse(&text).unwrap_or_else(|e| panic!("{}", render(&text, &e)));
            assert_eq!(track.describe(), text);
        }
        let Node::Constant(read) = Track::parse(&format!("{x:?}")).unwrap().nodes()[0] else { panic!() };
        assert!(same_bits(read.value(), x));
    }
}

#[test]
fn shared_subterms_print_once() {
    let mut text = "SIN(ADD(MUL(t, 3.0), MUL(t, ?a=2.0)))".to_string();
    for _ in 0..200 {
        text = format!("w := {text}; MUL(w, w)");
        text = Track::parse(&text.replace("; MUL(w, w)", "").replacen("w := ", "", 1))
            .map(|track| {
                let track = keyfit_ir::Expr::from(track);
                (track.clone() * track).track().unwrap().describe()
            })
            .unwrap();
    }
    assert!(text.len() < 10_000, "{} bytes", text.len());
    assert_eq!(Track::parse(&text).unwrap().describe(), text);
}

#[test]
fn formula_errors() {
    let mut report = String::new();
    for formula in [
        "",
        "2 +",
        "2t",
        "sin(t",
        "(1 + t))",
        "sine(t)",
        "mix(t, 1)",
        "b1*t",
        "?a=1 + ?a=2",
        "?=1",
        "?a=x",
        "1e999",
        "1.2.3",
        "2 * * t",
        "2 $ t",
        "linear[0=1 2=3",
        "linear[]",
        "linear[0=1 0=2 0=3]",
        "linear[0=1 2=3 1=2]",
        "linear[?when=1=2]",
        "linear[0=t]",
        "linear[0=1+2]",
        "a := t",
        "a := t; a := 2; a",
        "t := 2; t",
        "linear[1 2]",
        "linear[-1e308=0 1e308=1]",
        "?-a=1",
        "sin t",
        "Sin(t)",
        "log(t)",
        "linear(t)",
        "1e-400",
        "?x=1 + y",
        "lineer[0=1]",
        "catmul-rom[0=1 1=2]",
        "keys[0=1 linear 1=2 2=3]",
        "keys[0=1 holt 1=2]",
        "hold[0=1 1=2 linear]",
        "hold[0=1{t=0.5} 1=2]",
        "tcb[0=1{t=x} 1=2]",
        "tcb[0=1{t=1 t=2} 1=2]",
        "tcb[0=1{tension=1} 1=2]",
        "tcb[0=1{t=1 1=2]",
        "tcb[0=1{t=1e308} 1=2{in=3}]",
        "cubic[0=1{in=3} 1=2]",
        "cubic[0=1{out=t} 1=2]",
        "cubic[0=1{out=",
        "cubic[0=1{out=2",
        "steps(0)[0=0 1=1]",
        "keys[0=0 cubic-bezier(2,0,1,1) 1=1]",
        "steps(4)",
    ] {
        report += &match Track::parse(formula) {
            Ok(track) => format!("{formula}\n  accepted as {track:?}\n"),
            Err(e) => render(formula, &e),
        };
    }
    insta::assert_snapshot!(report);
}

#[test]
fn rectsl_errors() {
    let mut report = String::new();
    let rect = |body: &str| format!("\"m\" rect {body} ;");
    for scene in [
        "".into(),
        "->wal 1 2 meters".into(),
        "->wall 1 two meters".into(),
        "->duration -4".into(),
        "\"m\" rect 1 ->x".into(),
        "\"m\" rekt".into(),
        "\"m".into(),
        rect("1 ->x") + &rect("2 ->x"),
        rect("1 2 ->x"),
        rect("1 + ->x"),
        rect("->x"),
        rect("1 sinn ->x"),
        rect("1 ->z"),
        rect("\"swep\" track-ref ->x"),
        rect("t free-param gain ->x"),
        rect("1 free-param gain 2 free-param gain + ->x"),
        rect("'( 0=0 ->x"),
        rect("'( 0=0 1 ) linear ->x"),
        rect("'( ) linear ->x"),
        rect("'( 0=0 0=1 0=2 ) linear ->x"),
        rect("'( 0=0 2=1 1=2 ) linear ->x"),
        rect("'( 0=0 1 free-param when=2 ) linear ->x"),
        rect("'( 0=t ) linear ->x"),
        rect("'( 0='( 0=1 ) linear ) linear ->x"),
        rect("'( 0=1 2 3=4 ) linear ->x"),
        rect("0x12 solid ->fill"),
        rect("1 ->fill"),
        rect("'( 0=0 ->hold ) linear ->x"),
        rect("'( 0=0 1=1 ) keys ->x"),
        rect("'( 0=0 ->holt 1=1 ) linear ->x"),
        rect("'( 0=0 t ->tension 1=1 ) tcb ->x"),
        rect("'( 0=0 0.5 ->tension 1=1 ) hold ->x"),
        rect("'( 0=0 3 ->in 1=1 ) cubic ->x"),
        rect("'( 0=0 1=1 ) holt ->x"),
        rect("1 hold ->x"),
        rect("'( 0=0 1=1 ) steps(0) ->x"),
        rect("'( 1=t ) ->x-targets"),
        rect("'( 1=2 ->hold ) ->x-targets"),
        rect("1 ->x-targets"),
        rect("1 ->y-target"),
        // one error for each thing that is wrong
        "->fps 0 \"a\" rect 1 + ->x ; \"b\" rect 2 ->x ; \"b\" rect ; hold-track \"k\" '( 1 ) ->duration two"
            .into(),
        "holt-track \"a\" '( 0=0 )".into(),
        "linear-track sweep '( 0=0 )".into(),
        "linear-track \"a\" '( 0=0 ) linear-track \"a\" '( 0=0 )".into(),
    ] {
        report += &match Scene::parse_rectsl(&scene) {
            Ok(_) => format!("{scene}\n  accepted\n"),
            Err(errors) => errors.iter().map(|e| render(&scene, e)).collect::<String>(),
        };
    }
    insta::assert_snapshot!(report);
}

#[test]
fn a_scene_holds_its_targets() {
    let text = "\"m\" rect 1 free-param a ->x '( 3=4 1=-4 1=-5 ) ->x-targets '( 0=1 ) ->y-targets ;";
    let scene = Scene::parse_rectsl(text).unwrap();
    let pairs = |pairs: &[(f64, f64)]| pairs.iter().map(|&(t, v)| Target::new(t, v)).collect::<Vec<_>>();
    let expected = [&[(3.0, 4.0), (1.0, -4.0), (1.0, -5.0)][..], &[(0.0, 1.0)], &[], &[], &[]].map(pairs);
    assert_eq!(scene.rects[0].targets, expected);
}

#[test]
fn a_scene_holds_its_rates() {
    let text = "\"m\" rect 1 free-param a t mul ->x '( 3=4 ) ->x-targets '( 1=2 0=-1 ) ->x.velocity-targets\n  \
                '( 1=0 ) ->x.acceleration-targets '( 1=7 ) ->x.velocity-targets '( 2=0.5 ) ->rotate.velocity-targets ;";
    let told = |text: &str| {
        let aims = Scene::parse_rectsl(text).unwrap().rate_targets().into_iter();
        let told = aims.map(|aim| {
            let targets: Vec<_> = aim.targets.iter().map(|t| (t.time, t.value, t.weight)).collect();
            format!("{} {targets:?}", aim.rate.of_channel(&aim.channel))
        });
        told.collect::<Vec<String>>()
    };
    let expected = [
        "x.velocity [(1.0, 2.0, 1.0), (0.0, -1.0, 1.0), (1.0, 7.0, 1.0)]",
        "x.acceleration [(1.0, 0.0, 1.0)]",
        "rotate.velocity [(2.0, 0.5, 1.0)]",
    ];
    assert_eq!(told(text), expected);
    assert_eq!(told(&Scene::format_rectsl(text).unwrap()), expected);
    // with several rects the channels have their names
    let two = format!("{text} \"n\" rect '( 0=1 ) ->y.velocity-targets ;");
    assert_eq!(told(&two)[0], expected[0].replace("x.", "m.x."));
    assert_eq!(told(&two)[3], "n.y.velocity [(0.0, 1.0, 1.0)]");
    let error = |word: &str, value: &str| {
        let errors = Scene::parse_rectsl(&format!("\"m\" rect '( 1={value} ) {word} ;")).unwrap_err();
        errors.iter().map(|e| format!("{}: {e}", e.span.start)).collect::<Vec<String>>().join("; ")
    };
    let stray = "18: unknown word ->x.velocty-targets; did you mean ->x.velocity-targets?";
    assert_eq!(error("->x.velocty-targets", "2"), stray);
    let moving = "14: expected a plain number as the target's value, found t";
    assert_eq!(error("->x.velocity-targets", "t"), moving);
}

/// Damaged text is an error or another text, never a panic, and its error lies inside the text.
#[test]
fn damaged_text_is_survived() {
    use keyfit_ir::arbitrary::RandomTrack;
    use quickcheck::{Arbitrary, Gen};
    const PIECES: &[&str] = &[
        "1",
        "2.5",
        "a",
        "7",
        "0",
        "t",
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        ",",
        ";",
        "=",
        ":=",
        "?",
        "-",
        "^",
        "1e",
        "0x",
        "'(",
        "\"",
        "->x",
        "t",
        "é",
        "π",
        "\u{1F600}",
        "linear",
        "keys",
        "hold",
        "tcb",
        "{t=",
        "steps(",
        "cubic-bezier(",
        "free-param",
        "rect",
        "inf",
        "NaN",
        ".",
        "#",
        "\n",
        " ",
    ];
    let mut g = Gen::from_size_and_seed(30, 7);
    let mut accepted = 0;
    for i in 0..20_000 {
        let mut text =
            if i % 2 == 0 { RandomTrack::arbitrary(&mut g).0.describe() } else { MARKER.to_string() };
        for _ in 0..1 + usize::arbitrary(&mut g) % 2 {
            let places: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
            let from = *g.choose(&places).unwrap();
            let length = usize::arbitrary(&mut g) % 3;
            let to = places.iter().copied().filter(|at| *at >= from).nth(length).unwrap_or(text.len());
            text.replace_range(from..to, g.choose(PIECES).unwrap());
        }
        let inside = |e: &SyntaxError| {
            e.span.start <= e.span.end
                && e.span.end <= text.len()
                && text.is_char_boundary(e.span.start)
                && text.is_char_boundary(e.span.end)
        };
        match Track::parse(&text) {
            Ok(track) => {
                accepted += 1;
                assert_eq!(Track::parse(&track.describe()).as_ref(), Ok(&track), "{text}");
            }
            Err(e) => assert!(inside(&e), "{text}\n{e:?}"),
        }
        if let Err(errors) = Scene::parse_rectsl(&text) {
            assert!(!errors.is_empty() && errors.iter().all(inside), "{text}\n{errors:?}");
        }
    }
    assert!(accepted > 200, "{accepted} of 20,000 texts still mean something");
}
