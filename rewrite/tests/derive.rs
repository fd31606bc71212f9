//! What derivatives look like, and laws of their form. Their values are held to dual numbers in `keyfit-autodiff`.

use keyfit_ir::arbitrary::RandomTrack;
use keyfit_ir::{Builder, Op, Scene, Track};
use keyfit_rewrite::{Variable, derivative};
use quickcheck::quickcheck;

fn by(name: &str) -> Variable {
    if name == "t" { Variable::Time } else { Variable::Parameter(name.into()) }
}

fn text(track: &Track, name: &str) -> String {
    derivative(track, &by(name)).unwrap().describe()
}

#[test]
fn derivatives_read_well() {
    let lines: String = [
        ("?b1=500*(1 - exp(-?b2=0.0001*t))", "b1 b2 t"),
        ("?a=1*sin(2*t + ?phase=0) + linear[0=0 4=?end=1]", "a phase end t"),
        ("t^3 - 2^t + sqrt(t) + ln(t)", "t"),
        ("t^?n=2", "t n"),
        ("abs(t) + floor(t) + clamp(t, 0, ?hi=1)", "t hi"),
        ("select(gate(t, 0, 1), t*t, ?rest=1)", "t rest"),
        ("smoothstep(0, 1, t)", "t"),
        ("sine_in(t)", "t"),
        ("linear[0=0 1=3 2=3 2=5 4=1]", "t"),
        ("linear[0=?a=1 1=?b=2](t*t)", "a b t"),
        ("hold[0=?a=1 1=?b=2]", "a t"),
        ("catmull-rom[0=0 1=?p=10 2=30]", "p t"),
        ("sine-in-out[0=1 2=?p=3]", "p t"),
        ("monotone[0=0 1=?p=10 2=30]", "p"),
        ("keys[0=0 sine-in 1=1 linear 2=4 hold 3=0]", "t"),
        ("cubic-bezier(0.25,0.1,0.25,1)[0=0 1=1]", "t"),
    ]
    .into_iter()
    .flat_map(|(formula, names)| {
        let track = Track::parse(formula).unwrap();
        names
            .split(' ')
            .map(move |name| format!("d/d{name} {formula}\n    {}\n", text(&track, name)))
            .collect::<Vec<_>>()
    })
    .collect();
    insta::assert_snapshot!(lines);
}

#[test]
fn a_scenes_velocity_reads_well() {
    let scene = Scene::parse_rectsl(include_str!("../../experiments/examples/arc.rectsl")).unwrap();
    let text: String = scene
        .channels()
        .iter()
        .map(|channel| format!("{}' = {}\n", channel.name, text(&channel.track, "t")))
        .collect();
    insta::assert_snapshot!(text);
}

quickcheck! {
    // an easing in two halves of four parabolas is the longest definition
    fn derivatives_are_linear_in_size(track: RandomTrack) -> bool {
        let parameters = track.0.free_parameters();
        let variables: Vec<Variable> = parameters.iter().map(|p| by(p.name())).chain([by("t")]).collect();
        let size = |with: &Variable| derivative(&track.0, with).map_or(usize::MAX, |found| found.nodes().len());
        variables.iter().all(|with| size(with) <= 120 * track.0.nodes().len())
    }

    fn a_track_that_rests_has_no_velocity(track: RandomTrack) -> bool {
        !track.0.is_time_invariant() || text(&track.0, "t") == "0.0"
    }

    fn by_a_stranger_it_is_zero(track: RandomTrack) -> bool {
        text(&track.0, "stranger") == "0.0"
    }
}

/// A chain's derivative has a product and a slope a node, however deep, and shares what it can.
#[test]
fn a_chain_stays_linear() {
    let mut b = Builder::new();
    let mut x = b.clock().unwrap();
    for _ in 0..100_000 {
        x = b.apply(Op::MUL, &[x, x]).unwrap();
    }
    let track = b.finish(x).unwrap();
    let once = derivative(&track, &Variable::Time).unwrap();
    assert!(once.nodes().len() <= 3 * track.nodes().len(), "{}", once.nodes().len());
    let twice = derivative(&once, &Variable::Time).unwrap();
    assert!(twice.nodes().len() <= 12 * track.nodes().len(), "{}", twice.nodes().len());
}
