//! Random scenes of cameras, actors and effects.

use quickcheck::{Arbitrary, Gen};

use super::{RandomNumber, TameNumber, below, random_shape};
use crate::cinematic::{
    ActorKey, ActorTrack, CameraKey, CameraTrack, CinematicScene, Component, EasingSide, EffectFrame,
    EffectKey, EffectTrack, Interpolation, Motion, MotionTarget, Particle, PathMode, Pose, SceneTrack, Sound,
    Turn, Value, When, seconds,
};
use crate::keyed::shape::Shape;
use crate::scene::Rate;
use crate::track::Parameter;

/// A random scene that keeps all rules; it shrinks to scenes of fewer tracks.
#[derive(Clone, Debug, PartialEq)]
pub struct RandomScene(pub CinematicScene);

/// How often a number is any finite one rather than an ordinary one: 1 in so many.
const WILD: usize = 6;

fn number(g: &mut Gen) -> f64 {
    let x = if below(g, WILD) == 0 { RandomNumber::arbitrary(g).0 } else { TameNumber::arbitrary(g).0 };
    if x.is_finite() { x } else { 64.0 }
}

fn choose<T: Copy + Default>(g: &mut Gen, all: &[T]) -> T {
    g.choose(all).copied().unwrap_or_default()
}

/// A text that is not blank, now and then of any characters.
fn text(g: &mut Gen) -> String {
    let words = ["guard", "ui.toast", "null", "10", "a b", "x: [y]", "\"#\" '\\", "é🎬\u{85}\n"];
    let text = if below(g, 3) == 0 { String::arbitrary(g) } else { choose(g, &words).into() };
    if text.trim().is_empty() { "name".into() } else { text }
}

fn maybe<T>(g: &mut Gen, make: impl FnOnce(&mut Gen) -> T) -> Option<T> {
    bool::arbitrary(g).then(|| make(g))
}

fn list<T>(g: &mut Gen, most: usize, mut make: impl FnMut(&mut Gen) -> T) -> Vec<T> {
    (0..below(g, most + 1)).map(|_| make(g)).collect()
}

fn value(g: &mut Gen) -> Value {
    let which = below(g, 30);
    match Parameter::new(&format!("p{which}"), which as f64 * 7.25 - 3.0) {
        Ok(parameter) if which < 4 => Value::Free(parameter),
        _ => Value::Number(number(g)),
    }
}

fn motion(g: &mut Gen, duration: u32, components: usize) -> Motion {
    Motion {
        path_mode: choose(g, PathMode::ALL),
        easing_side: choose(g, EasingSide::ALL),
        turn: choose(g, Turn::ALL),
        targets: list(g, 2, |g| {
            let mut values = [None; Component::ALL.len()];
            values[..components].iter_mut().for_each(|value| *value = maybe(g, number));
            values[below(g, components)] = Some(number(g));
            let tick = below(g, duration as usize + 1) as u32;
            let when = if bool::arbitrary(g) { When::Tick(tick) } else { When::Seconds(seconds(tick)) };
            let rates = Rate::ALL.map(|_| {
                let mut rates = [None; Component::ALL.len()];
                let own = if bool::arbitrary(g) { components } else { 0 };
                rates[..own].iter_mut().for_each(|rate| *rate = maybe(g, number));
                rates
            });
            MotionTarget { when, values, rates, weight: number(g).abs() }
        }),
    }
}

fn pose(g: &mut Gen, tick: u32) -> Pose {
    let interpolation = match random_shape(g) {
        Shape::Hold => Interpolation::Hold,
        Shape::Eased(easing) => Interpolation::Eased(easing),
        _ => Interpolation::Linear,
    };
    Pose {
        tick,
        position: [value(g), value(g), value(g)],
        yaw: maybe(g, value),
        pitch: maybe(g, value),
        interpolation,
    }
}

/// A scene's track of that name.
fn track(g: &mut Gen, name: String, duration: u32) -> SceneTrack {
    let mut ticks = list(g, 5, |g| below(g, duration as usize + 1) as u32);
    ticks.push(duration);
    ticks.sort_unstable();
    let named = Some(name);
    match below(g, 3) {
        0 => SceneTrack::Effect(EffectTrack {
            id: maybe(g, text),
            keys: ticks.into_iter().map(|tick| EffectKey { tick, effect: effect(g) }).collect(),
        }),
        kind => {
            ticks.dedup();
            let components = if kind == 1 { 6 } else { 5 };
            let motion = motion(g, duration, components);
            let poses: Vec<Pose> = ticks.into_iter().map(|tick| pose(g, tick)).collect();
            match kind {
                1 => {
                    let keys =
                        poses.into_iter().map(|pose| CameraKey { pose, fov: maybe(g, value) }).collect();
                    SceneTrack::Camera(CameraTrack { id: named, motion, keys })
                }
                _ => {
                    let keys =
                        poses.into_iter().map(|pose| ActorKey { pose, action: maybe(g, text) }).collect();
                    let (id, actor_id) =
                        if bool::arbitrary(g) { (named, None) } else { (maybe(g, text), named) };
                    SceneTrack::Actor(ActorTrack { id, actor_id, motion, keys })
                }
            }
        }
    }
}

fn effect(g: &mut Gen) -> EffectFrame {
    let mut sound = |g: &mut Gen| Sound { name: text(g), volume: number(g), pitch: number(g) };
    let sounds = [vec![sound(g)], list(g, 2, &mut sound)].concat();
    let particles = list(g, 2, |g| Particle {
        name: text(g),
        count: u32::arbitrary(g),
        offset: [number(g), number(g), number(g)],
        speed: number(g),
    });
    EffectFrame { sounds: if particles.is_empty() { sounds } else { Vec::new() }, particles }
}

impl Arbitrary for RandomScene {
    fn arbitrary(g: &mut Gen) -> RandomScene {
        loop {
            let duration = 1 + below(g, 200) as u32;
            let tracks = (0..1 + below(g, 3)).map(|i| {
                let name = format!("{}{i}", text(g));
                track(g, name, duration)
            });
            let tracks = tracks.collect();
            let metadata = list(g, 2, |g| (text(g), text(g)));
            // a rule that is broken by chance: a name twice, an excess of numbers
            if let Ok(scene) = CinematicScene::new(text(g), duration, metadata, tracks) {
                return RandomScene(scene);
            }
        }
    }

    fn shrink(&self) -> Box<dyn Iterator<Item = RandomScene>> {
        let scene = self.0.clone();
        let fewer = (0..scene.tracks().len()).filter_map(move |k| {
            let mut tracks = scene.tracks().to_vec();
            tracks.remove(k);
            CinematicScene::new(scene.id(), scene.duration(), Vec::new(), tracks).ok()
        });
        Box::new(fewer.map(RandomScene))
    }
}
