//! The rules that every scene keeps, whether it was read or built.

use std::collections::{HashMap, HashSet};

use super::{
    CinematicScene, Component, EffectFrame, EffectKey, MotionTarget, Place, SceneFault, SceneProblem,
    SceneTrack, Step, TrackType, Value, When, seconds,
};
use crate::scene::Rate;
use crate::track::BuildError;

/// So long may a name of metadata be: YAML bounds the keys of a mapping.
const LONGEST_KEY: usize = 256;

/// All that is wrong with a scene.
pub(super) fn check(scene: &CinematicScene) -> Vec<SceneFault> {
    let mut check = Check { duration: scene.duration, faults: Vec::new(), starts: HashMap::new() };
    check.scene(scene);
    check.faults
}

struct Check<'a> {
    duration: u32,
    faults: Vec<SceneFault>,
    starts: HashMap<&'a str, f64>,
}

impl<'a> Check<'a> {
    fn fault(&mut self, place: Place, problem: SceneProblem) {
        self.faults.push(SceneFault { place, problem });
    }

    fn scene(&mut self, scene: &'a CinematicScene) {
        let root = |key: &'static str| Place(vec![Step::Key(key)]);
        if scene.id.trim().is_empty() {
            self.fault(root("id"), SceneProblem::Blank);
        }
        if scene.duration == 0 {
            let expected = "a whole number of ticks above 0";
            self.fault(root("duration"), SceneProblem::Expected { expected, found: "0".into() });
        }
        let mut names = HashSet::new();
        for (name, _) in &scene.metadata {
            if !names.insert(name) {
                self.fault(root("metadata"), SceneProblem::RepeatedKey { key: name.clone() });
            }
            if name.chars().count() > LONGEST_KEY {
                self.fault(root("metadata"), SceneProblem::LongKey { most: LONGEST_KEY });
            }
        }
        if scene.tracks.is_empty() {
            self.fault(root("tracks"), SceneProblem::None { what: "track" });
        }
        let cameras = scene.tracks.iter().filter(|track| track.kind() == TrackType::Camera).count();
        let mut names = HashSet::new();
        for (i, track) in scene.tracks.iter().enumerate() {
            let place = root("tracks").then(Step::Index(i));
            if track.name().is_some_and(|name| name.trim().is_empty()) {
                self.fault(place.then(Step::Key("id")), SceneProblem::Blank);
            }
            let (what, name) = (track.kind().word(), track.name().unwrap_or_default());
            let told_apart = track.components().is_empty() || names.insert((what, name));
            match (told_apart, track.kind(), track.name()) {
                (false, _, Some(name)) => {
                    self.fault(
                        place.then(Step::Key("id")),
                        SceneProblem::SameName { what, name: name.into() },
                    );
                }
                (false, _, None) => self.fault(place.clone(), SceneProblem::Nameless { what }),
                (true, TrackType::Camera, None) if cameras > 1 => {
                    self.fault(place.clone(), SceneProblem::Nameless { what });
                }
                _ => {}
            }
            self.track(&place, track);
        }
    }

    fn track(&mut self, place: &Place, track: &'a SceneTrack) {
        let keyframes = place.then(Step::Key("keyframes"));
        let key = |k: usize| keyframes.then(Step::Index(k));
        let ticks = track.ticks();
        if ticks.is_empty() {
            self.fault(keyframes.clone(), SceneProblem::None { what: "key" });
        }
        let mut previous = None;
        for (k, tick) in ticks.into_iter().enumerate() {
            let at = key(k).then(Step::Key("tick"));
            match previous {
                Some(previous) if tick < previous => {
                    self.fault(at.clone(), SceneProblem::Before { tick, previous });
                }
                Some(previous) if tick == previous && track.kind() != TrackType::Effect => {
                    self.fault(at.clone(), SceneProblem::Repeated { tick });
                }
                _ => {}
            }
            self.when(at, When::Tick(tick));
            previous = Some(tick);
        }
        if let Some((motion, poses)) = track.motion() {
            for (k, pose) in poses.into_iter().enumerate() {
                pose.position.iter().for_each(|value| self.value(key(k).then(Step::Key("position")), value));
                pose.yaw.iter().for_each(|value| self.value(key(k).then(Step::Key("yaw")), value));
                pose.pitch.iter().for_each(|value| self.value(key(k).then(Step::Key("pitch")), value));
            }
            for (k, target) in motion.targets.iter().enumerate() {
                self.target(
                    place.then(Step::Key("targets")).then(Step::Index(k)),
                    target,
                    track.components(),
                );
            }
        }
        match track {
            SceneTrack::Camera(track) => {
                for (k, value) in
                    track.keys.iter().enumerate().filter_map(|(k, key)| Some((k, key.fov.as_ref()?)))
                {
                    self.value(key(k).then(Step::Key("fov")), value);
                }
            }
            SceneTrack::Actor(_) => {}
            SceneTrack::Effect(track) => {
                for (k, EffectKey { effect: EffectFrame { sounds, particles }, .. }) in
                    track.keys.iter().enumerate()
                {
                    if sounds.is_empty() && particles.is_empty() {
                        self.fault(key(k), SceneProblem::NoEffect);
                    }
                    let volumes = sounds.iter().flat_map(|sound| [sound.volume, sound.pitch]);
                    volumes.for_each(|x| self.number(key(k).then(Step::Key("sounds")), x));
                    let strewn = particles
                        .iter()
                        .flat_map(|particle| particle.offset.into_iter().chain([particle.speed]));
                    strewn.for_each(|x| self.number(key(k).then(Step::Key("particles")), x));
                    for (list, mut names) in [
                        ("sounds", sounds.iter().map(|sound| &sound.name).collect::<Vec<_>>()),
                        ("particles", particles.iter().map(|particle| &particle.name).collect()),
                    ] {
                        names.retain(|name| name.trim().is_empty());
                        names
                            .iter()
                            .for_each(|_| self.fault(key(k).then(Step::Key(list)), SceneProblem::Blank));
                    }
                }
            }
        }
    }

    fn target(&mut self, place: Place, target: &MotionTarget, components: &[Component]) {
        let MotionTarget { when, values, rates, weight } = target;
        self.when(place.then(Step::Key(if let When::Tick(_) = when { "tick" } else { "time" })), *when);
        self.components(&place, values, components);
        for (rate, values) in Rate::ALL.into_iter().zip(rates) {
            self.components(&place.then(Step::Key(rate.name())), values, components);
        }
        if values.iter().chain(rates.iter().flatten()).all(Option::is_none) {
            self.fault(
                place.clone(),
                SceneProblem::None { what: "value that is aimed at, such as position or yaw" },
            );
        }
        if !(weight.is_finite() && *weight >= 0.0) {
            let expected = "a finite number that is not negative";
            self.fault(
                place.then(Step::Key("weight")),
                SceneProblem::Expected { expected, found: format!("{weight:?}") },
            );
        }
    }

    /// What a target says of a track that has these components.
    fn components(&mut self, place: &Place, values: &[Option<f64>], components: &[Component]) {
        for (component, value) in Component::ALL.into_iter().zip(values) {
            let Some(value) = value else { continue };
            let at = place.then(Step::Key(component.name()));
            self.number(at.clone(), *value);
            if !components.contains(&component) {
                let known = components.iter().map(|own| own.name()).collect();
                self.fault(at, SceneProblem::UnknownKey { key: component.name().into(), near: None, known });
            }
        }
    }

    fn when(&mut self, place: Place, when: When) {
        let (outside, name, end) = match when {
            When::Tick(tick) => (tick > self.duration, format!("tick {tick}"), self.duration.to_string()),
            When::Seconds(time) => {
                let end = seconds(self.duration);
                (!(0.0..=end).contains(&time), format!("time {time:?}"), format!("{end:?}"))
            }
        };
        if outside {
            self.fault(place, SceneProblem::Outside { when: name, end });
        }
    }

    fn value(&mut self, place: Place, value: &'a Value) {
        self.number(place.clone(), value.now());
        if let Value::Free(parameter) = value {
            let (name, second) = (parameter.name(), parameter.start());
            let first = *self.starts.entry(name).or_insert(second);
            if first.to_bits() != second.to_bits() {
                self.fault(place, BuildError::TwoValues { name: name.into(), first, second }.into());
            }
        }
    }

    fn number(&mut self, place: Place, x: f64) {
        if !x.is_finite() {
            self.fault(place, SceneProblem::NotFinite(format!("{x:?}")));
        }
    }
}
