//! Scenes in YAML: the collected cases (G, and E and C where they are of scenes), each test named after its case; laws on
//! random scenes; damaged text. Values are exact where all numbers on the way are; elsewhere to 1e-12.

use keyfit_ir::arbitrary::RandomScene;
use keyfit_ir::cinematic::{
    ActorFrame, CameraFrame, CameraKey, CameraTrack, EffectFrame, Frame, Interpolation, Motion, Place, Pose,
    SceneProblem, SceneTrack, Sound, Step, Value,
};
use keyfit_ir::{Channel, CinematicScene, Easing, SyntaxError, SyntaxErrorKind, Track};
use quickcheck::{Arbitrary, Gen, QuickCheck};

/// The base scene of the cases.
const S: &str = "id: s
duration: 60
tracks:
  - type: camera
    keyframes:
      - {tick: 0,  position: [0, 64, 0],   yaw: 350, pitch: 0, fov: 70, interpolation: ease_in_out}
      - {tick: 60, position: [20, 75, 10], yaw: 10,  pitch: 0,          interpolation: linear}
";

fn scene(text: &str) -> CinematicScene {
    CinematicScene::parse_yaml(text).unwrap_or_else(|errors| panic!("{text}\n{}", report(text, &errors)))
}

/// A scene of 60 ticks and one track with these keys, a line each.
fn keyed(head: &str, keys: &[&str]) -> String {
    let keys: String = keys.iter().map(|key| format!("      - {{{key}}}\n")).collect();
    format!("id: s\nduration: 60\ntracks:\n  - {head}\n    keyframes:\n{keys}")
}

/// One camera on a line of x, at ticks 0, 20, 40 …
fn on_x(data: &str, xs: &[&str]) -> CinematicScene {
    let keys = xs.iter().enumerate().map(|(k, x)| format!("tick: {}, position: [{x}, 0, 0]", 20 * k));
    let keys: Vec<String> = keys.collect();
    let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
    scene(
        &keyed(&format!("type: camera\n    data: {{{data}}}"), &keys)
            .replace("duration: 60", "duration: 100"),
    )
}

fn channel(scene: &CinematicScene, name: &str) -> Channel {
    scene.channels().into_iter().find(|channel| channel.name == name).unwrap_or_else(|| panic!("{name}"))
}

fn track(scene: &CinematicScene, name: &str) -> Track {
    channel(scene, name).track
}

fn camera(scene: &CinematicScene, tick: u32) -> CameraFrame {
    scene.frame(tick).cameras[0]
}

fn near(value: f64, expected: f64) {
    assert!((value - expected).abs() <= 1e-12 * expected.abs(), "{value:?} is not {expected:?}");
}

/// Each message with its line and a caret below its place.
fn report(text: &str, errors: &[SyntaxError]) -> String {
    let mut out = String::new();
    for error in errors {
        let start = text[..error.span.start].rfind('\n').map_or(0, |n| n + 1);
        let line = text[start..].lines().next().unwrap_or("");
        let indent = text[start..error.span.start].chars().count();
        let carets = text[error.span.range()].chars().count().max(1);
        let hint = error.kind.hint().map_or(String::new(), |hint| format!("\n  hint: {hint}"));
        out += &format!("{line}\n{}{}\n  {error}{hint}\n", " ".repeat(indent), "^".repeat(carets));
    }
    out
}

/// The messages of a text that is no scene.
fn refused(text: &str) -> Vec<String> {
    match CinematicScene::parse_yaml(text) {
        Ok(_) => panic!("accepted: {text}"),
        Err(errors) => errors.iter().map(SyntaxError::to_string).collect(),
    }
}

fn with(from: &str, to: &str) -> String {
    assert!(S.contains(from), "{from}");
    S.replacen(from, to, 1)
}

#[test]
fn g1_whose_easing() {
    // the easing of the key on the left, unless the track says otherwise
    let left = scene(S);
    assert_eq!(camera(&left, 30).position, [10.0, 69.5, 5.0]);
    assert_eq!(camera(&left, 15).position, [3.125, 65.71875, 1.5625]);
    let right = scene(&with("keyframes:", "data: {easing-side: right}\n    keyframes:"));
    assert_eq!(camera(&right, 30).position, [10.0, 69.5, 5.0]);
    assert_eq!(camera(&right, 15).position, [5.0, 66.75, 2.5]);
    assert_eq!(camera(&left, 30).yaw, 360.0);
}

#[test]
fn g2_a_missing_fov() {
    let scene = scene(&with("fov: 70", "fov: 90"));
    assert_eq!([0, 30, 60].map(|tick| camera(&scene, tick).fov), [90.0; 3]);
    let unsaid = self::scene(&with(", fov: 70", ""));
    assert_eq!(camera(&unsaid, 60).fov, 70.0);
}

#[test]
fn g2_a_missing_angle() {
    let keys = [
        "tick: 0, position: [0, 0, 0], yaw: 40, pitch: -5, fov: 50",
        "tick: 20, position: [0, 0, 0]",
        "tick: 40, position: [0, 0, 0], fov: 60, yaw: 60",
        "tick: 60, position: [0, 0, 0], pitch: 5",
    ];
    let scene = scene(&keyed("type: camera", &keys));
    let angles = |tick| {
        let frame = camera(&scene, tick);
        [frame.yaw, frame.pitch, frame.fov]
    };
    assert_eq!(angles(20), [40.0, -5.0, 50.0]);
    assert_eq!(angles(50), [60.0, 0.0, 60.0]);
    let first = self::scene(&keyed("type: actor", &["tick: 0, position: [0, 0, 0]"]));
    let actor = ActorFrame { position: [0.0; 3], yaw: 0.0, pitch: 0.0, action: None };
    assert_eq!(first.frame(0).actors, [actor]);
}

#[test]
fn g3_interpolations() {
    let x = |word: &str| camera(&scene(&with("interpolation: ease_in_out", word)), 15).position[0];
    for linear in ["", "interpolation: linear", "interpolation: ''", "interpolation: ' '", "interpolation: ~"]
    {
        assert_eq!(x(linear), 5.0, "{linear}");
    }
    for eased in ["ease_in_out", "EASE_IN_OUT", "easeInOut", "ease-in-out", "Smooth"] {
        assert_eq!(x(&format!("interpolation: {eased}")), 3.125, "{eased}");
    }
    for (word, expected) in [
        ("hold", 0.0),
        ("quad-in", 1.25),
        ("Quad_Out", 8.75),
        ("quadInOut", 2.5),
        ("'steps(2, jump-start)'", 10.0),
        ("'cubic-bezier(0, 1, 1, 0)'", 20.0 * Easing::cubic_bezier(0.0, 1.0, 1.0, 0.0).unwrap().apply(&0.25)),
    ] {
        assert_eq!(x(&format!("interpolation: {word}")), expected, "{word}");
    }
    let text = with("ease_in_out", "ease_in_owt");
    let errors = CinematicScene::parse_yaml(&text).unwrap_err();
    assert_eq!(
        errors[0].to_string(),
        "tracks[0].keyframes[0].interpolation: there is no interpolation ease_in_owt; did you mean ease_in_out?"
    );
    let hint = errors[0].kind.hint().unwrap();
    assert!(
        hint.starts_with("known: linear hold sine-in ")
            && hint.ends_with("ease_in_out cubic-bezier(…) steps(…)")
    );
    assert_eq!(&text[errors[0].span.range()], "ease_in_owt");
}

#[test]
fn g5_ticks() {
    let second = |tick: &str| with("tick: 60", &format!("tick: {tick}"));
    for (ten, at) in
        [("10", 10), ("10.0", 10), ("1e1", 10), ("0o12", 10), ("012", 12), ("0xa", 10), ("+10", 10)]
    {
        let frame = camera(&scene(&second(ten)), at);
        assert_eq!(frame.position, [20.0, 75.0, 10.0], "{ten}");
    }
    for (tick, expected) in [
        ("10.5", "this must be a whole number, not 10.5"),
        ("10.00000000000000000001", "this must be a whole number, not 10.00000000000000000001"),
        ("\"10\"", "expected a tick, a whole number, found the text \"10\""),
        ("1:10", "expected a tick, a whole number, found 1:10"),
        ("1_000", "expected a tick, a whole number, found 1_000"),
        ("-1", "tick -1 is outside 0..60"),
        ("61", "tick 61 is outside 0..60"),
        ("9223372036854775808", "tick 9223372036854775808 is outside 0..60"),
        ("1e999", "tick 1e999 is outside 0..60"),
        (".nan", "expected a tick, a whole number, found .nan"),
        (".inf", "tick .inf is outside 0..60"),
        ("[10]", "expected a tick, a whole number, found a list of 1"),
        ("true", "expected a tick, a whole number, found true"),
        ("{free: p, value: 10}", "the free parameter p stands in a key's time"),
    ] {
        let expected = match expected {
            free if free.starts_with("the free") => free.into(),
            other => format!("tracks[0].keyframes[1].tick: {other}"),
        };
        assert_eq!(refused(&second(tick)), [expected], "{tick}");
    }
    assert_eq!(refused(&with("tick: 60, ", "")), ["tracks[0].keyframes[1]: tick is missing"]);
    assert_eq!(refused(&with("tick: 60", "tick: ~")), ["tracks[0].keyframes[1]: tick is missing"]);
    for (duration, found) in [
        ("9223372036854775808", "9223372036854775808"),
        ("4294967296", "4294967296"),
        ("-5", "-5"),
        ("long", "long"),
        ("'60'", "the text \"60\""),
    ] {
        let text = with("duration: 60", &format!("duration: {duration}"));
        let expected = "duration: expected a whole number of ticks, from 1 to 4294967295, found";
        assert_eq!(refused(&text), [format!("{expected} {found}")]);
    }
    assert_eq!(refused(&with("duration: 60", "duration: 0")).len(), 2); // and the tick 60 is outside
}

#[test]
fn g7_positions() {
    let place = "tracks[0].keyframes[0].position";
    for (position, expected) in [
        ("[0, 64]", "expected exactly three numbers, [x, y, z], found a list of 2"),
        ("[0, 64, 0, 0]", "expected exactly three numbers, [x, y, z], found a list of 4"),
        ("64", "expected exactly three numbers, [x, y, z], found 64"),
        ("{x: 0, y: 64, z: 0}", "expected exactly three numbers, [x, y, z], found a mapping"),
    ] {
        assert_eq!(refused(&with("[0, 64, 0]", position)), [format!("{place}: {expected}")]);
    }
    for (position, i, expected) in [
        ("[0, \"64\", 0]", 1, "expected a number, found the text \"64\""),
        ("[.nan, 64, 0]", 0, ".nan is not a finite number that fits a double"),
        ("[.inf, 64, 0]", 0, ".inf is not a finite number that fits a double"),
        ("[0, 64, -1e400]", 2, "-1e400 is not a finite number that fits a double"),
        ("[1e-400, 64, 0]", 0, "1e-400 is not a finite number that fits a double"),
        ("[0, ~, 0]", 1, "expected a number, found nothing"),
        ("[0, [64], 0]", 1, "expected a number, found a list of 1"),
    ] {
        assert_eq!(refused(&with("[0, 64, 0]", position)), [format!("{place}[{i}]: {expected}")]);
    }
    assert_eq!(refused(&with("position: [0, 64, 0],", "")), ["tracks[0].keyframes[0]: position is missing"]);
}

#[test]
fn g8_lists_of_keys() {
    let one = scene(&keyed("type: camera", &["tick: 7, position: [1, 2, 3], fov: 40"]));
    for tick in [0, 7, 60] {
        let frame = CameraFrame { position: [1.0, 2.0, 3.0], yaw: 0.0, pitch: 0.0, fov: 40.0 };
        assert_eq!(camera(&one, tick), frame);
    }
    assert!(one.channels().iter().all(|channel| channel.track.free_parameters().is_empty()));
    let none = "id: s\nduration: 60\ntracks:\n  - type: camera\n    keyframes: []\n";
    assert_eq!(refused(none), ["tracks[0].keyframes: there must be at least one key"]);
    assert_eq!(refused("id: s\nduration: 6\ntracks: []"), ["tracks: there must be at least one track"]);
    let at = |ticks: &[u32]| {
        let keys: Vec<String> =
            ticks.iter().map(|tick| format!("tick: {tick}, position: [0, 0, 0]")).collect();
        keyed("type: camera", &keys.iter().map(String::as_str).collect::<Vec<_>>())
    };
    assert_eq!(
        refused(&at(&[0, 30, 20, 20])),
        [
            "tracks[0].keyframes[2].tick: tick 20 comes before 30, the tick of the key before it",
            "tracks[0].keyframes[3].tick: there is a key at tick 20 already",
        ]
    );
}

#[test]
fn g9_a_spline_arrives_at_each_key_at_its_tick() {
    for mode in ["spline", "centripetal", "chordal", "linear"] {
        for ease in ["linear", "ease_in_out", "back-in-out"] {
            let key =
                |tick: u32, x: u32| format!("tick: {tick}, position: [{x}, 0, 0], interpolation: {ease}");
            let keys = [key(0, 0), key(10, 10), key(40, 30)];
            let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
            let head = format!("type: actor_motion\n    data: {{path_mode: {mode}}}");
            let scene = scene(&keyed(&head, &keys));
            let x = |tick| scene.frame(tick).actors[0].position[0];
            assert_eq!([0, 10, 40, 60].map(x), [0.0, 10.0, 30.0, 30.0], "{mode} {ease}");
        }
    }
}

#[test]
fn g10_actors_turn_as_cameras_do() {
    let keys = ["tick: 0, position: [0, 0, 0], yaw: 350", "tick: 60, position: [0, 0, 0], yaw: 10"];
    for head in ["type: actor", "type: actor_motion"] {
        assert_eq!(scene(&keyed(head, &keys)).frame(30).actors[0].yaw, 360.0);
    }
}

#[test]
fn g12_ease_inside_a_spline() {
    let keys = ["0, 0", "20, 10", "40, 30", "60, 0"].map(|pair| {
        let (tick, x) = pair.split_once(", ").unwrap();
        format!("tick: {tick}, position: [{x}, 0, 0], interpolation: ease_in_out")
    });
    let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
    for mode in ["spline", "centripetal", "chordal"] {
        let scene = scene(&keyed(&format!("type: camera\n    data: {{path-mode: {mode}}}"), &keys));
        let x = track(&scene, "camera.x");
        for waypoint in [0.0, 1.0, 2.0, 3.0] {
            // smoothstep leaves and arrives with slope 0: a difference of h makes one of order h²
            let h = 1.0 / 1024.0;
            let moved = [-h, h].map(|h| (x.sample(waypoint + h) - x.sample(waypoint)).abs());
            assert!(moved.iter().all(|moved| *moved < 100.0 * h * h), "{mode} at {waypoint}: {moved:?}");
        }
    }
    // u = 1/4 eases to 5/32, and the spline is taken there
    let plain = on_x("path-mode: spline", &["0", "10", "30"]);
    let eased = scene(&keyed("type: camera\n    data: {path-mode: spline}", &keys[..3]));
    assert_eq!(eased.frame(5).cameras[0].position, plain.frame_at(5.0 / 32.0).cameras[0].position);
    assert_eq!(eased.frame(10).cameras[0].position[0], 4.375);
}

fn sounds(frame: Frame) -> Vec<String> {
    frame.effects.into_iter().flat_map(|effect| effect.sounds).map(|sound| sound.name).collect()
}

#[test]
fn g13_effects_fire_once() {
    let keys = ["tick: 0, sound: a", "tick: 20, sound: b", "tick: 20, sound: c", "tick: 60, sound: d"];
    let scene = scene(&keyed("type: effect", &keys));
    let fired: Vec<(u32, Vec<String>)> = (0..=70)
        .map(|tick| (tick, sounds(scene.frame(tick))))
        .filter(|(_, names)| !names.is_empty())
        .collect();
    let expected = [(0, vec!["a"]), (20, vec!["b", "c"]), (60, vec!["d"])];
    assert_eq!(fired, expected.map(|(tick, names)| (tick, names.into_iter().map(String::from).collect())));
    assert!(scene.frame_at(1.0 + f64::EPSILON).effects.is_empty());
    assert_eq!(sounds(scene.frame_at(1.0)), ["b", "c"]);
    let unsorted = keyed("type: effect", &["tick: 20, sound: a", "tick: 10, sound: b"]);
    assert_eq!(
        refused(&unsorted),
        ["tracks[0].keyframes[1].tick: tick 10 comes before 20, the tick of the key before it"]
    );
}

#[test]
fn g14_words_for_sounds_and_particles() {
    let keys = [
        "tick: 1, sound: ding",
        "tick: 2, play_sound: {name: ding, volume: 0.5}",
        "tick: 3, sounds: [ding, {name: dong, pitch: 2}]",
        "tick: 4, particle: {type: FLAME, count: 50, offset: [1, 1.5, 1], speed: 0.25}",
        "tick: 5, particles: [FLAME, SMOKE], sound: ding",
    ];
    let scene = scene(&keyed("type: effect", &keys));
    let sound = |name: &str, volume, pitch| Sound { name: name.into(), volume, pitch };
    let heard = |tick| scene.frame(tick).effects[0].sounds.clone();
    assert_eq!(heard(1), [sound("ding", 1.0, 1.0)]);
    assert_eq!(heard(2), [sound("ding", 0.5, 1.0)]);
    assert_eq!(heard(3), [sound("ding", 1.0, 1.0), sound("dong", 1.0, 2.0)]);
    let [EffectFrame { particles, .. }] = &scene.frame(4).effects[..] else { panic!() };
    let flame = &particles[0];
    assert_eq!(
        (flame.name.as_str(), flame.count, flame.offset, flame.speed),
        ("FLAME", 50, [1.0, 1.5, 1.0], 0.25)
    );
    assert_eq!(scene.frame(5).effects[0].particles.len(), 2);
    for nothing in ["tick: 0", "tick: 0, sound: ~", "tick: 0, particles: []"] {
        let expected = "tracks[0].keyframes[0]: an effect needs a sound or a particle";
        assert_eq!(refused(&keyed("type: effect", &[nothing])), [expected]);
    }
    let twice = keyed("type: effect", &["tick: 0, sound: a, play_sound: b"]);
    assert_eq!(refused(&twice), ["tracks[0].keyframes[0]: play_sound is said twice"]);
}

#[test]
fn g15_numbers_have_their_shortest_digits() {
    let scene = scene(&with("[0, 64, 0]", "[0.1, 4, -0.0]"));
    let text: Vec<String> = scene.channels()[..3].iter().map(|channel| channel.track.describe()).collect();
    insta::assert_snapshot!(text.join("\n"), @r"
    smooth[0.0=0.1 3.0=20.0]
    smooth[0.0=4.0 3.0=75.0]
    smooth[0.0=-0.0 3.0=10.0]
    ");
    insta::assert_snapshot!(scene.to_yaml(), @r"
    id: s
    duration: 60
    tracks:
      - type: camera
        keyframes:
          - {tick: 0, position: [0.1, 4.0, -0.0], yaw: 350.0, pitch: 0.0, fov: 70.0, interpolation: ease_in_out}
          - {tick: 60, position: [20.0, 75.0, 10.0], yaw: 10.0, pitch: 0.0}
    ");
}

/// The yaw halfway between two keys.
fn halfway(data: &str, from: f64, to: f64) -> f64 {
    let keys = [from, to].map(|yaw| format!("position: [0, 0, 0], yaw: {yaw:?}"));
    let keys = [format!("tick: 0, {}", keys[0]), format!("tick: 60, {}", keys[1])];
    let head = format!("type: camera\n    data: {{{data}}}");
    camera(&scene(&keyed(&head, &[&keys[0], &keys[1]])), 30).yaw
}

#[test]
fn e1_yaw_turns_the_short_way() {
    assert_eq!(halfway("", 350.0, 10.0), 360.0);
    assert_eq!(halfway("turn: raw", 350.0, 10.0), 180.0);
    assert_eq!(halfway("", 358.0, 2.0), 360.0);
    assert_eq!(halfway("", 10.0, 350.0), 0.0);
}

#[test]
fn e3_half_a_turn_goes_in_the_negative_sense() {
    assert_eq!(halfway("", 0.0, 180.0), -90.0);
    assert_eq!(halfway("", 0.0, -180.0), -90.0);
}

#[test]
fn e5_the_long_way() {
    assert_eq!(halfway("turn: raw", 120.0, -120.0), 0.0);
    assert_eq!(halfway("turn: short", 120.0, -120.0), 180.0);
}

#[test]
fn e6_pitch_is_not_circular() {
    let text = keyed(
        "type: camera",
        &["tick: 0, position: [0, 0, 0], pitch: -90", "tick: 60, position: [0, 0, 0], pitch: 90"],
    );
    assert_eq!(camera(&scene(&text), 30).pitch, 0.0);
}

/// What E7 asks of real data: after unwrapping no step is longer than half a turn, and only whole turns were added.
#[test]
fn e7_a_yaw_that_goes_round_and_round() {
    let yaws: Vec<f64> = (0..60).map(|k| f64::from((k * 100) % 360) - 180.0).collect();
    let keys = yaws.iter().enumerate().map(|(k, yaw)| format!("tick: {k}, position: [0, 0, 0], yaw: {yaw}"));
    let keys: Vec<String> = keys.collect();
    let scene = scene(&keyed("type: camera", &keys.iter().map(String::as_str).collect::<Vec<_>>()));
    let seen: Vec<f64> = (0..60).map(|tick| camera(&scene, tick).yaw).collect();
    assert!(seen.windows(2).all(|pair| pair[1] - pair[0] == 100.0), "{seen:?}");
    assert!(seen.iter().zip(&yaws).all(|(seen, yaw)| (seen - yaw) % 360.0 == 0.0));
}

#[test]
fn c1_coincident_control_points() {
    for mode in ["centripetal", "chordal", "spline"] {
        let scene = on_x(&format!("path-mode: {mode}"), &["0", "5", "5", "9"]);
        let x = track(&scene, "camera.x");
        for k in 0..=600 {
            let t = f64::from(k) / 200.0;
            let value = x.sample(t);
            assert!(value.is_finite() && value.abs() <= 9.0, "{mode} at {t}: {value}");
            if (1.0..=2.0).contains(&t) && mode != "spline" {
                assert_eq!(value, 5.0, "{mode} at {t}");
            }
        }
        assert_eq!([0.0, 1.0, 2.0, 3.0].map(|t| x.sample(t)), [0.0, 5.0, 5.0, 9.0]);
    }
    // two keys that coincide, and nothing else
    for mode in ["centripetal", "chordal", "spline", "linear"] {
        let scene = on_x(&format!("path-mode: {mode}"), &["5", "5"]);
        assert_eq!([0, 10, 20].map(|tick| camera(&scene, tick).position[0]), [5.0; 3]);
    }
}

/// Barry and Goldman's pyramid, as the source has it.
fn pyramid(points: [[f64; 3]; 4], power: f64, u: f64) -> [f64; 3] {
    let distance =
        |a: [f64; 3], b: [f64; 3]| (0..3).map(|i| (a[i] - b[i]) * (a[i] - b[i])).sum::<f64>().sqrt();
    let mut knots = [0.0; 4];
    for k in 1..4 {
        let d = distance(points[k - 1], points[k]);
        knots[k] = knots[k - 1] + if power == 0.5 { d.sqrt() } else { d };
    }
    let t = knots[1] + u * (knots[2] - knots[1]);
    let mut level = points.to_vec();
    for step in 1..4 {
        // the last step is taken between the middle knots
        let span = |k: usize| match step {
            3 => (knots[1], knots[2]),
            _ => (knots[k], knots[k + step]),
        };
        level = (0..level.len() - 1)
            .map(|k| {
                let (from, to) = span(k);
                let w = (t - from) / (to - from);
                std::array::from_fn(|i| level[k][i] * (1.0 - w) + level[k + 1][i] * w)
            })
            .collect();
    }
    level[0]
}

#[test]
fn centripetal_and_chordal_paths_are_barry_and_goldmans() {
    let points = [[0.0, 64.0, 0.0], [10.0, 65.0, -3.0], [12.0, 70.0, 8.0], [30.0, 64.0, 9.0]];
    let keys =
        points.iter().zip([0, 10, 40, 60]).map(|(point, tick)| format!("tick: {tick}, position: {point:?}"));
    let keys: Vec<String> = keys.collect();
    let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
    for (mode, power) in [("centripetal", 0.5), ("chordal", 1.0)] {
        let scene = scene(&keyed(&format!("type: camera\n    data: {{path-mode: {mode}}}"), &keys));
        let beyond = |a: [f64; 3], b: [f64; 3]| std::array::from_fn(|i| 2.0 * a[i] - b[i]);
        let [a, b, c, d] = points;
        for (segment, ticks) in [
            ([beyond(a, b), a, b, c], (0, 10)),
            ([a, b, c, d], (10, 40)),
            ([b, c, d, beyond(d, c)], (40, 60)),
        ] {
            for tick in ticks.0 + 1..ticks.1 {
                let u = f64::from(tick - ticks.0) / f64::from(ticks.1 - ticks.0);
                let expected = pyramid(segment, power, u);
                let position = camera(&scene, tick).position;
                for i in 0..3 {
                    assert!(
                        (position[i] - expected[i]).abs() < 1e-12 * 70.0,
                        "{mode} at {tick}: {position:?} {expected:?}"
                    );
                }
            }
        }
    }
}

#[test]
fn c4_a_uniform_spline_overshoots() {
    let scene = on_x("path-mode: spline", &["0", "10", "10", "0"]);
    assert_eq!(camera(&scene, 30).position[0], 11.25);
    // A6 and G9's measure of the wrong way: the centripetal path over equal ticks
    let scene = on_x("path-mode: spline", &["0", "10", "30"]);
    assert_eq!([10, 5, 30].map(|tick| camera(&scene, tick).position[0]), [4.375, 2.265625, 19.375]);
    let scene = on_x("path-mode: centripetal", &["0", "10", "30"]);
    near(camera(&scene, 10).position[0], 4.785_533_905_932_738);
}

#[test]
fn free_parameters_and_targets() {
    let text = "id: s
duration: 60
tracks:
  - type: camera
    id: main
    data: {path-mode: centripetal}
    keyframes:
      - {tick: 0, position: [0, 64, 0], yaw: 350}
      - {tick: 30, position: [10, {free: lift, value: 70}, 0], yaw: {free: turn, value: 10}, fov: {free: wide, value: 80}}
      - {tick: 60, position: [35, 64, 0]}
    targets:
      - {tick: 15, y: 70.5}
      - {time: 1.5, position: [10, 80, 0], yaw: 5, velocity: {yaw: 400}, acceleration: {yaw: 0}, weight: 0.25}
      - {tick: 60, fov: 75}
  - type: actor
    id: path
    data: {actor-id: hero}
    keyframes:
      - {tick: 0, position: [{free: lift, value: 70}, 0, 0]}
    targets:
      - {tick: 0, pitch: 1}
      - {tick: 0, velocity: {pitch: 2}}
";
    let scene = scene(text);
    let names: Vec<String> = scene.channels().into_iter().map(|channel| channel.name).collect();
    assert_eq!(
        names.join(" "),
        "camera.x camera.y camera.z camera.yaw camera.pitch camera.fov \
         actor.hero.x actor.hero.y actor.hero.z actor.hero.yaw actor.hero.pitch"
    );
    assert_eq!(scene.channel_name("camera.main.y"), "camera.y");
    assert_eq!(scene.channel_name("actor.hero.x"), "actor.hero.x");
    let aims = |name: &str| {
        let targets = channel(&scene, name).targets;
        targets.iter().map(|target| (target.time, target.value, target.weight)).collect::<Vec<_>>()
    };
    assert_eq!(aims("camera.y"), [(0.75, 70.5, 1.0), (1.5, 80.0, 0.25)]);
    assert_eq!(aims("camera.x"), [(1.5, 10.0, 0.25)]);
    // the track is at 370 then, which is 10
    assert_eq!(aims("camera.yaw"), [(1.5, 365.0, 0.25)]);
    assert_eq!(aims("camera.fov"), [(3.0, 75.0, 1.0)]);
    let rates: Vec<_> = scene
        .rate_targets()
        .into_iter()
        .map(|aim| {
            (
                aim.rate.of_channel(&aim.channel),
                aim.targets[0].time,
                aim.targets[0].value,
                aim.targets[0].weight,
            )
        })
        .collect();
    let rate = |name: &str, time, value, weight| (name.to_string(), time, value, weight);
    assert_eq!(
        rates,
        [
            rate("camera.yaw.velocity", 1.5, 400.0, 0.25),
            rate("camera.yaw.acceleration", 1.5, 0.0, 0.25),
            rate("actor.hero.pitch.velocity", 0.0, 2.0, 1.0),
        ]
    );
    assert_eq!(aims("actor.hero.pitch"), [(0.0, 1.0, 1.0)]);
    // the knots depend on the parameter: other coordinates feel it
    let (low, high) =
        (track(&scene, "camera.x"), track(&scene, "camera.x").restart_parameters(|_| Some(200.0)));
    assert!(low.free_parameters().iter().any(|p| p.name() == "lift"));
    assert!((low.sample(0.5) - high.sample(0.5)).abs() > 1e-3);
    // a fit becomes a scene: at other values, or in numbers
    let moved = scene.restart_parameters(|name| (name == "lift").then_some(80.0)).unwrap();
    assert_eq!(camera(&moved, 30).position[1], 80.0);
    let plain = moved.substitute_parameters(|name| Some(if name == "lift" { 80.0 } else { 60.0 })).unwrap();
    assert!(!plain.to_yaml().contains("free") && camera(&plain, 30).fov == 60.0);
    assert_eq!(plain.frame(0).actors[0].position[0], 80.0);
    assert!(scene.restart_parameters(|_| Some(f64::NAN)).is_err());
    // a parameter that stands on another key makes no NaN
    let met = track(&scene, "camera.y").restart_parameters(|_| Some(64.0));
    assert!((0..=60).all(|k| met.sample(f64::from(k) / 20.0) == 64.0));
    assert_eq!(CinematicScene::parse_yaml(&scene.to_yaml()), Ok(scene));
}

#[test]
fn an_actor_does_what_its_last_key_says() {
    let keys = [
        "tick: 10, position: [0, 0, 0], action: walk",
        "tick: 20, position: [0, 0, 0]",
        "tick: 30, position: [0, 0, 0], action: 'bow down'",
    ];
    let scene = scene(&keyed("type: actor", &keys));
    let action = |time: f64| scene.frame_at(time).actors[0].action.clone();
    assert_eq!([0.0, 0.5, 0.999].map(action), [None, Some("walk".into()), Some("walk".into())]);
    assert_eq!(
        [1.0, 1.25, 1.5, 9.0].map(action),
        [None, None, Some("bow down".into()), Some("bow down".into())]
    );
}

#[test]
fn scenes_can_be_built_without_text() {
    let key = |tick: u32, x: f64| CameraKey {
        pose: Pose {
            tick,
            position: [x, 0.0, 0.0].map(Value::from),
            yaw: None,
            pitch: None,
            interpolation: Interpolation::default(),
        },
        fov: None,
    };
    let track = |keys| SceneTrack::Camera(CameraTrack { id: None, motion: Motion::default(), keys });
    let scene =
        CinematicScene::new("s", 20, Vec::new(), vec![track(vec![key(0, 1.0), key(20, 2.0)])]).unwrap();
    assert_eq!(camera(&scene, 10).position[0], 1.5);
    let faults = CinematicScene::new("", 20, Vec::new(), vec![track(vec![key(21, f64::NAN)])]).unwrap_err();
    let said: Vec<String> = faults.iter().map(ToString::to_string).collect();
    assert_eq!(
        said,
        [
            "id: a name cannot be blank",
            "tracks[0].keyframes[0].tick: tick 21 is outside 0..20",
            "tracks[0].keyframes[0].position: NaN is not a finite number that fits a double",
        ]
    );
    assert_eq!(
        faults[1].place,
        Place(vec![
            Step::Key("tracks"),
            Step::Index(0),
            Step::Key("keyframes"),
            Step::Index(0),
            Step::Key("tick")
        ])
    );
}

#[test]
fn wrong_scenes_are_told_what_is_wrong() {
    let track = |rest: &str| format!("id: s\nduration: 60\ntracks:\n  - {rest}\n");
    let key = "keyframes: [{tick: 0, position: [0, 0, 0]}]";
    let mut report = String::new();
    for text in [
        "".to_string(),
        "# nothing\n".into(),
        "id: s\nduration: [1, 2\ntracks: }\n".into(),
        "just text".into(),
        "- id: s".into(),
        format!("{S}---\nid: t\n"),
        "id: s\nid: t\nduration: 60\nlenght: 3\ntracks: ~\n".into(),
        with("id: s", "id: !!str s"),
        with("id: s", "? [a]\n: b\nid: s"),
        with("id: s", "id: ''"),
        track("type: camrea\n    keyframes: []"),
        track("keyframes: []"),
        track("type: camera"),
        track("5"),
        track(&format!("{{type: camera, data: {{path-mode: spiral, easing_side: up}}, {key}}}")),
        track(&format!("{{type: camera, data: {{path-mode: linear, pathMode: spline}}, {key}}}")),
        track(&format!("{{type: camera, data: {{actor-id: a}}, {key}}}")),
        track(
            "{type: effect, data: {path-mode: spline}, keyframes: [{tick: 0, sound: a, position: [0, 0, 0]}]}",
        ),
        track(&format!(
            "{{type: camera, id: a, {key}}}\n  - {{type: camera, id: a, {key}}}\n  - {{type: camera, {key}}}"
        )),
        track(&format!("{{type: actor, {key}}}\n  - {{type: actor, {key}}}")),
        with("yaw: 350", "yaw: {free: a b, value: 1}"),
        with("yaw: 350", "yaw: {free: a}"),
        with("yaw: 350, pitch: 0", "yaw: {free: a, value: 1}, pitch: {free: a, value: 2}"),
        track(&format!(
            "{{type: actor, {key}, targets: [{{tick: 61, x: 1}}, {{tick: 0}}, {{x: 1}}, {{tick: 0, fov: 5}}]}}"
        )),
        track(&format!(
            "{{type: actor, {key}, targets: [{{time: 3.5, x: 1, weight: -1}}, {{tick: 1, time: 1, x: 0, position: [0, 0, 0]}}]}}"
        )),
        track(&format!(
            "{{type: actor, {key}, targets: [{{tick: 0, velocity: {{x: 1, fov: 2, speed: 3}}, acceleration: {{}}}}, {{tick: 0, velocity: 3}}, {{tick: 1, velocity: {{x: a, x: 2}}}}, {{tick: 1, y: 1, velocity: {{xx: 3}}}}, {{tick: 1, y: 1, velocity: {{x: null}}}}]}}"
        )),
        // all at once
        with("tick: 0,  position: [0, 64, 0]", "tick: 0.5,  position: [0, 64]")
            .replace("yaw: 10", "yaww: 10")
            .replace("interpolation: linear", "interpolation: linaer")
            .replace("tick: 60", "tick: 600"),
        // a hundred lists in each other; aliases that would make 10^9 values; one that repeats itself
        with("id: s", &format!("metadata: {}", "[".repeat(100))),
        (0..9).fold("a: &a0 [x]\n".to_string(), |text, k| {
            text + &format!("b{k}: &a{} [{}]\n", k + 1, vec![format!("*a{k}"); 10].join(", "))
        }),
        with("id: s", "id: &a [*a]"),
        with("id: s", "id: *a"),
    ] {
        report += &match CinematicScene::parse_yaml(&text) {
            Ok(_) => format!("{text}\n  accepted\n"),
            Err(errors) => self::report(&text, &errors),
        };
        report += "\n";
    }
    insta::assert_snapshot!(report);
}

/// Anchors save writing: the same key twice, moved by nothing.
#[test]
fn aliases_repeat_values() {
    let keys = "tick: 0, position: &here [1, {free: p, value: 2}, 3]";
    let text = keyed("type: camera", &[keys, "tick: 20, position: *here"]);
    let scene = scene(&text);
    assert_eq!(camera(&scene, 20).position, [1.0, 2.0, 3.0]);
    let long = format!(
        "id: s\nduration: 60000\ntracks:\n  - type: effect\n    keyframes:\n      - &k {{tick: 1, sound: a}}\n{}",
        "      - *k\n".repeat(30_000)
    );
    assert_eq!(refused(&long), ["the aliases up to here repeat more than 65536 values"]);
}

#[test]
fn long_scenes_are_read() {
    let keys: String =
        (0..20_000).map(|k| format!("      - {{tick: {k}, position: [{k}, 0, 0]}}\n")).collect();
    let text = format!(
        "id: s\nduration: 20000\ntracks:\n  - type: camera\n    data: {{path-mode: chordal}}\n    keyframes:\n{keys}"
    );
    let scene = scene(&text);
    assert_eq!(camera(&scene, 12_345).position[0], 12_345.0);
    // and what is wrong with them is told in time that is in proportion
    let errors = CinematicScene::parse_yaml(&text.replace("position: [", "positoin: [")).unwrap_err();
    assert_eq!(errors.len(), 40_000);
}

#[test]
fn what_is_written_reads_back() {
    fn law(RandomScene(scene): RandomScene) -> bool {
        let text = scene.to_yaml();
        match CinematicScene::parse_yaml(&text) {
            Ok(back) => back == scene && back.to_yaml() == text && CinematicScene::is_yaml(&text),
            Err(errors) => panic!("{text}\n{}", report(&text, &errors)),
        }
    }
    QuickCheck::new().tests(2_000).quickcheck(law as fn(_) -> _);
}

/// Damaged text is an error or another scene, never a panic, and its errors lie inside the text.
#[test]
fn damaged_text_is_survived() {
    const PIECES: &[&str] = &[
        "1",
        "2.5",
        "-",
        "- ",
        ":",
        ": ",
        "?",
        "? ",
        "[",
        "]",
        "{",
        "}",
        ",",
        "&a ",
        "*a",
        "!",
        "!!str ",
        "|",
        ">",
        "'",
        "\"",
        "\\",
        "#",
        " #",
        "%",
        "@",
        "`",
        "---",
        "...",
        "\n",
        "\n  ",
        "\t",
        "~",
        "null",
        "<<",
        ".nan",
        "1e9",
        "0x",
        "tick",
        "free",
        "é",
        "\u{1F600}",
        "\u{feff}",
        "\u{85}",
        "\0",
        " ",
        "",
    ];
    let mut g = Gen::from_size_and_seed(30, 11);
    let mut accepted = 0;
    for i in 0..10_000 {
        let mut text = if i % 3 == 0 { S.to_string() } else { RandomScene::arbitrary(&mut g).0.to_yaml() };
        for _ in 0..1 + usize::arbitrary(&mut g) % 3 {
            let places: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
            let from = *g.choose(&places).unwrap();
            let length = usize::arbitrary(&mut g) % 4;
            let to = places.iter().copied().filter(|at| *at >= from).nth(length).unwrap_or(text.len());
            text.replace_range(from..to, g.choose(PIECES).unwrap());
        }
        let inside = |e: &SyntaxError| {
            e.span.start <= e.span.end
                && e.span.end <= text.len()
                && text.is_char_boundary(e.span.start)
                && text.is_char_boundary(e.span.end)
        };
        match CinematicScene::parse_yaml(&text) {
            Ok(scene) => {
                accepted += 1;
                assert_eq!(CinematicScene::parse_yaml(&scene.to_yaml()), Ok(scene), "{text}");
            }
            Err(errors) => {
                assert!(!errors.is_empty() && errors.iter().all(inside), "{text}\n{errors:?}");
                assert!(errors.iter().all(|e| !e.to_string().is_empty()), "{text}\n{errors:?}");
            }
        }
    }
    assert!(accepted > 200, "{accepted} of 10,000 texts still mean something");
}

#[test]
fn yaml_is_told_from_formulas() {
    assert!(CinematicScene::is_yaml(S) && !CinematicScene::is_yaml("?gain=1 * t"));
    let SyntaxErrorKind::Scene(fault) = &CinematicScene::parse_yaml("tracks: [").unwrap_err()[0].kind else {
        panic!()
    };
    assert!(matches!(fault.problem, SceneProblem::Yaml(_)));
}
