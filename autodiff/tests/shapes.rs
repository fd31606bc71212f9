//! Derivatives of keyed tracks of every shape: in time, by key values and by tangents.

use keyfit_autodiff::{gradient, jacobian, keyed_partials, time_derivatives};
use keyfit_ir::{Builder, Keyframe, Node, Parameter, Shape, Tcb, Track};

/// Five keys at uneven times whose values and tangents are parameters k0, a0, b0, k1 …; a mixed track if there is no shape.
fn track(shape: Option<Shape>) -> Track {
    let mut b = Builder::new();
    let clock = b.clock().expect("a clock");
    let own: Vec<Shape> = Shape::all().take(5).collect();
    let values = [1.0, -2.0, 0.5, 3.0, 2.5];
    let keys: Vec<_> = [0.0, 1.0, 3.0, 3.5, 6.0]
        .into_iter()
        .enumerate()
        .map(|(i, time)| {
            let mut p = |kind: &str, start: f64| {
                b.free(Parameter::new(&format!("{kind}{i}"), start).expect("a name")).expect("a parameter")
            };
            let value = p("k", values[i]);
            let mut tangents = ["a", "b"].into_iter();
            let name = shape.unwrap_or(own[(i + 3) % 5]);
            let Ok(shape) = name.try_map(|()| {
                let kind = tangents.next().expect("two tangents");
                Ok::<_, std::convert::Infallible>(p(kind, if kind == "a" { 1.5 } else { -0.75 }))
            });
            // the mixed track has its TCB segment first
            let tcb = if name == Shape::Tcb { Tcb::new(0.25, -0.5, 0.125) } else { Tcb::default() };
            Keyframe { time, value, tcb, shape }
        })
        .collect();
    let root = b.keyed(keys, clock).expect("keys");
    b.finish(root).expect("a root")
}

fn tracks() -> impl Iterator<Item = (String, Track)> {
    let css =
        ["steps(3,jump-start)", "steps(3,jump-both)", "steps(4,jump-end)", "cubic-bezier(0.25,0.1,0.25,1)"];
    let css = css.into_iter().filter_map(Shape::from_word);
    let uniform = Shape::all().chain(css).map(|shape| (shape.to_string(), track(Some(shape))));
    uniform.chain([("mixed".into(), track(None))])
}

/// A track is linear in its key values and tangents, so that differences are its partials but for rounding; only Steffen's
/// slopes are not.
#[test]
fn partials_by_values_and_tangents_are_differences() {
    for (name, track) in tracks().filter(|(name, _)| name != "monotone") {
        let times: Vec<f64> = (-2..=65).map(|k| f64::from(k) / 10.0).collect();
        let starts = track.starts();
        let partials = jacobian(&track, &times, &[]);
        let sample = |x: &[f64]| {
            let mut out = vec![0.0; times.len()];
            keyfit_ir::Sampler::new(&track).sample_into(&times, x, &mut out);
            out
        };
        let here = sample(&starts);
        for (k, start) in starts.iter().enumerate() {
            let mut moved = starts.clone();
            moved[k] = start + 1.0;
            for (i, there) in sample(&moved).into_iter().enumerate() {
                let (found, difference) = (partials[(i, k)], there - here[i]);
                assert!(
                    (found - difference).abs() < 1e-13,
                    "{name}: ∂{k} at {}: {found} {difference}",
                    times[i]
                );
            }
        }
    }
}

/// Away from keys velocity is the difference of positions and acceleration that of velocities. The sharpest is
/// elastic-in-out on the span ½ from 3 to 0.5: ½·e^(−λ|x|)·sin(ωx) with λ = 20·ln 2 and ω = 20·2π/4.5 has n-th derivatives
/// below ½·(λ² + ω²)^(n/2), so the track's are below 3e5 (n = 3) and 2e7 (n = 4), and h²/6 of that is the error.
#[test]
fn motion_is_the_difference_of_positions() {
    let h = 1e-5;
    for (name, track) in tracks() {
        for t in [0.1, 0.37, 0.7, 0.9, 1.2, 2.05, 2.8, 3.1, 3.3, 3.6, 4.5, 5.9] {
            let (_, velocity, acceleration) = time_derivatives(&track, t, &[]);
            let (before, after) =
                (time_derivatives(&track, t - h, &[]), time_derivatives(&track, t + h, &[]));
            let slope = (after.0 - before.0) / (2.0 * h);
            let bend = (after.1 - before.1) / (2.0 * h);
            assert!((slope - velocity).abs() < 5e-6, "{name} at {t}: {velocity}, not {slope}");
            assert!((bend - acceleration).abs() < 3.5e-4, "{name} at {t}: {acceleration}, not {bend}");
        }
    }
}

/// At a key the value is the key's and moves as the key's value does; the velocity is the right-hand segment's.
#[test]
fn at_a_key_the_value_is_the_keys() {
    for (name, track) in tracks() {
        let columns = track.free_parameters().iter().map(|p| p.name().to_string()).collect::<Vec<_>>();
        for (i, t) in [0.0, 1.0, 3.0, 3.5, 6.0].into_iter().enumerate() {
            let value = track.starts()[columns.iter().position(|c| *c == format!("k{i}")).expect("a key")];
            assert_eq!(track.sample(t), value, "{name} at {t}");
            for (column, slope) in columns.iter().zip(gradient(&track, t, &[])) {
                assert_eq!(slope, f64::from(*column == format!("k{i}")), "{name} at {t}: ∂{column}");
            }
            // a power of two, so that t + h is exact
            let h = 0.5f64.powi(30);
            let (_, velocity, _) = time_derivatives(&track, t, &[]);
            let after = (track.sample(t + h) - value) / h;
            // where an easing is upright or jumps (circ-out, expo-in, elastic-in) there is no such quotient
            let upright = velocity.is_infinite() || (after - velocity).abs() > 100.0;
            assert!(upright || (after - velocity).abs() < 1e-4, "{name} at {t}: {velocity}, not {after}");
        }
    }
}

/// Case A5: one key is a constant in every shape.
#[test]
fn a5_one_key() {
    for shape in Shape::all() {
        let track = Track::parse(&format!("{shape}[1=?p=5]")).expect("well formed");
        for t in [-1.0, 1.0, 2.0] {
            assert_eq!(
                (gradient(&track, t, &[])[0], time_derivatives(&track, t, &[])),
                (1.0, (5.0, 0.0, 0.0))
            );
        }
    }
}

/// Case F6: a TCB track feels the next key but one, with the weight 5/8 here.
#[test]
fn f6_a_key_bends_its_neighbours() {
    let track = Track::parse("tcb[0=0 1=?p=1 2=0]").expect("well formed");
    assert_eq!((track.sample(0.5), gradient(&track, 0.5, &[])[0]), (0.625, 0.625));
}

/// A keyed node's partials name what it feels: four keys of a spline, two of a line, one of a hold, tangents of a cubic.
#[test]
fn what_a_segment_feels() {
    for (text, t, felt) in [
        ("linear[0=?a=1 1=?b=2 2=?c=3 3=?d=5]", 1.5, "bct"),
        ("hold[0=?a=1 1=?b=2 2=?c=3 3=?d=5]", 1.5, "b"),
        ("catmull-rom[0=?a=1 1=?b=2 2=?c=3 3=?d=5]", 1.5, "abcdt"),
        ("tcb[0=?a=1 1=?b=2 2=?c=3 3=?d=5]", 0.5, "abct"),
        ("tcb[0=?a=1 1=?b=2 1=?c=3 3=?d=5]", 0.5, "abt"),
        ("cubic[0=?a=1{out=?b=2} 1=?c=3{in=?d=5 out=7} 2=?e=1]", 0.5, "abcdt"),
        ("cubic[0=?a=1{out=?b=2} 1=?c=3{in=?d=5 out=7} 2=?e=1]", 1.0, "ct"),
        ("sine-in[0=?a=1 1=?b=2]", 5.0, "b"),
    ] {
        let track = Track::parse(text).expect("well formed");
        let Some(Node::Keyed(keyed)) = track.nodes().last() else { panic!("{text}") };
        let mut names: Vec<String> = keyed_partials(keyed, &track.node_values(t))
            .into_iter()
            .filter(|(_, slope)| *slope != 0.0)
            .map(|(id, _)| match &track.nodes()[id.index()] {
                Node::Free(p) => p.name().to_string(),
                Node::Clock => "t".into(),
                _ => String::new(),
            })
            .collect();
        names.sort();
        assert_eq!(names.concat(), felt, "{text} at {t}");
    }
}

/// Steffen's slopes are not linear in the key values. Away from the kinks of their minima, where the two sides differ, the
/// partials are central differences; a slope is a quotient of quadratics whose third derivatives stay below 100 here.
#[test]
fn partials_of_monotone_tracks_are_differences() {
    let track = track(Some(Shape::Monotone));
    let h = 1e-5;
    let mut compared = 0;
    for t in [0.3, 0.9, 1.4, 2.6, 3.2, 3.9, 5.5] {
        let partials = gradient(&track, t, &[]);
        for (k, p) in track.free_parameters().into_iter().enumerate() {
            let at = |by: f64| {
                track.substitute_parameters(|name| (name == p.name()).then_some(p.start() + by)).sample(t)
            };
            let (right, left) = ((at(h) - at(0.0)) / h, (at(0.0) - at(-h)) / h);
            if (right - left).abs() < 1e-3 {
                compared += 1;
                let central = (at(h) - at(-h)) / (2.0 * h);
                assert!((central - partials[k]).abs() < 1e-8, "∂{} at {t}: {}", p.name(), partials[k]);
            }
        }
    }
    assert!(compared > 30, "{compared}");
}
