//! RectSL: its words, its errors and its layout.

use keyfit_ir::{Quantity, Scene, Track};
use quickcheck::{Arbitrary, Gen};

fn scene(text: &str) -> Scene {
    Scene::parse_rectsl(text).unwrap_or_else(|e| panic!("{text}\n{e:?}"))
}

/// The channel `x` of a rect that sets it by this text.
fn x(text: &str) -> Track {
    scene(&format!("linear-track \"sweep\" '( 0=0 2=1 ) \"m\" rect {text} ->x ;")).rects[0]
        .track(Quantity::X)
        .clone()
}

#[test]
fn clocks_turns_and_easings_are_words() {
    for (text, formula) in [
        ("\"sweep\" track-ref t 2 loop at", "linear[0=0 2=1](mod(t, 2))"),
        ("\"sweep\" track-ref t 2 ping-pong at", "linear[0=0 2=1](ping_pong(t, 2))"),
        ("t 2 * 1 + sin t 0.5 - at", "sin((t - 0.5)*2 + 1)"),
        ("'( 0=350 1=10 2=350 3=180 ) 360 shortest linear", "linear[0=350 1=370 2=350 3=180]"),
        (
            "'( 0=350 1=10 free-param p 2=20 ) 360 shortest hold",
            "hold[0=350 1=unwrap(?p=10, 350, 360) 2=unwrap(20, unwrap(?p, 350, 360), 360)]",
        ),
        ("t linear", "linear(t)"),
        ("t cubic-bezier(0.25,0.1,0.25,1)", "cubic-bezier(0.25,0.1,0.25,1)[0=0 1=1](t)"),
        ("t steps(4,jump-start)", "clamp((floor(t*4) + 1)/4, 0, 1)"),
        ("'( 0=0 1=1 ) monotone", "monotone[0=0 1=1]"),
    ] {
        assert_eq!(x(text), Track::parse(formula).unwrap(), "{text}");
    }
}

/// An easing as an operation has the bits of the easing itself, at the ends and outside too.
#[test]
fn easings_of_values_are_the_easings() {
    for word in [
        "steps(4)",
        "steps(1,start)",
        "steps(3,jump-none)",
        "steps(2,jump-both)",
        "cubic-bezier(0.1,2,0.3,-1)",
    ] {
        let easing = keyfit_ir::Easing::from_word(word).unwrap();
        let track = Track::parse(&format!("{word}(t)")).unwrap();
        for k in -300..=400 {
            let u = f64::from(k) / 100.0;
            for u in [u, u.next_up(), u.next_down(), -0.0, f64::NAN, f64::INFINITY, -f64::INFINITY] {
                assert!(keyfit_ir::same_bits(track.sample(u), easing.apply(&u)), "{word} at {u:?}");
            }
        }
    }
}

#[test]
fn a_rect_faces_where_it_goes() {
    let moving = "'( 0=0 1=3 2=3 ) linear ->x '( 0=0 1=4 2=4 ) linear ->y";
    let angles = |text: &str| {
        let scene = scene(&format!("\"m\" rect {text} ;"));
        let track = scene.rects[0].track(Quantity::Rotate);
        [0.5, 1.5, 5.0].map(|t| track.sample(t))
    };
    assert_eq!(angles(&format!("{moving} ->face-travel")), [0.9272952180016122, 0.0, 0.0]);
    // the word looks at what the rect has in the end, and turns on top of ->rotate
    assert_eq!(angles(&format!("->face-travel 1 ->rotate {moving}")), [1.9272952180016122, 1.0, 1.0]);
}

#[test]
fn errors_are_all_told() {
    let text = "->wall 1 0 m\n\"a\" rect\n  1 sine ->x\n  '( 0=1 0=2 0=3 ) linear ->y\n  ->fill\n  2 3 ->w 1 ->hh 4 ->h\n;\n\
                \"b\" rect 1 ->x\n\"c\" rect 5 ->y 7 ;\n\"d\" rect '( 0=1 ->w";
    let errors = Scene::parse_rectsl(text).unwrap_err();
    let told: Vec<String> = errors.iter().map(|e| format!("{:?}: {e}", &text[e.span.range()])).collect();
    insta::assert_snapshot!(told.join("\n"));
}

const SHOWN: &str = "#rectsl\n->wall 18 8 meters ->duration 4\n->fps 30 # frames\n\n\n# a track\nlinear-track   \"sweep\" '( 0 = 0   \
                     4=4 free-param end )\n\"marker\" rect 0 0 ->xy # at the origin\n\n  // the size\n 1.4 1.4 ->wh \"sweep\" track-ref \
                     1.0 free-param gain * # scaled\n 0.0 free-param bias + ->x '( 0=0 0.5 ->tension ->tcb 1=2 ->linear 2=3 ) keys ->y\n\
                     '( 0.0=1.123456789 0.1=2.123456789 0.2=3.123456789 0.3=4.123456789 0.4=5.123456789 0.5=6.123456789 ) \
                     linear ->h 0x44d4b4 solid ->fill ; # done\n\"b\" rect 1 ->w ;";

#[test]
fn the_layout() {
    insta::assert_snapshot!(Scene::format_rectsl(SHOWN).unwrap());
}

/// Whatever the spaces, lines and comments between the words: the layout reads to the same scene, and is its own layout.
#[test]
fn the_layout_changes_no_scene() {
    let meant = scene(SHOWN);
    // the words of the text, without spaces and comments
    let mut words: Vec<&str> = Vec::new();
    for line in SHOWN.lines() {
        let line = if line.starts_with('#') {
            ""
        } else {
            line.split([' ']).position(|w| w == "#" || w == "//").map_or(line, |n| {
                let cut: usize = line.split(' ').take(n).map(|w| w.len() + 1).sum();
                &line[..cut]
            })
        };
        words.extend(line.split_whitespace());
    }
    let mut g = Gen::from_size_and_seed(10, 5);
    for _ in 0..2000 {
        let mut text = String::from(if bool::arbitrary(&mut g) { "#rectsl\n" } else { "" });
        for word in &words {
            text += word;
            text +=
                g.choose(&[" ", " ", "  ", "\n", "\n\n", "\n\n\n", " # why\n", "\n// so\n", "\t"]).unwrap();
        }
        let laid = Scene::format_rectsl(&text).unwrap_or_else(|e| panic!("{text}\n{e:?}"));
        assert_eq!(scene(&laid), meant, "{text}\n{laid}");
        assert_eq!(Scene::format_rectsl(&laid).as_deref(), Ok(laid.as_str()), "{text}");
        assert_eq!(laid.matches("why").count(), text.matches("why").count(), "{laid}");
        assert_eq!(laid.matches("so\n").count(), text.matches("so\n").count(), "{laid}");
    }
}

/// A misspelt head is told once: its track's name is known from there on, and what follows is read.
#[test]
fn a_misspelt_head_hides_nothing() {
    let text = "->fsp 30 liner-track \"sweep\" '( 0=0 1=1 ) \"m\" rect \"sweep\" track-ref ->x '( 0=1 ) 0 shortest linear ->y ;";
    let errors = Scene::parse_rectsl(text).unwrap_err();
    let told: Vec<String> = errors.iter().map(|e| format!("{:?}: {e}", &text[e.span.range()])).collect();
    assert_eq!(
        told,
        [
            "\"->fsp\": unknown word ->fsp; did you mean ->fps?",
            "\"liner-track\": unknown word liner-track; did you mean linear-track?",
            "\"0\": the period of shortest must be a finite number above 0, not 0.0",
        ]
    );
}
