//! A scene from its YAML.
//!
//! Whatever cannot be read is reported and replaced by something harmless, so that the rest is read and checked too.

use std::array;
use std::collections::HashSet;

use super::fault::{Place, SceneFault, SceneProblem, Step};
use super::words::{Choice, Interpolation, TrackType, same_word};
use super::yaml::{self, Content, Node, has_fraction};
use super::{
    ActorKey, ActorTrack, CameraKey, CameraTrack, CinematicScene, Component, EffectFrame, EffectKey,
    EffectTrack, Motion, MotionTarget, Particle, Pose, SceneTrack, Sound, Value, When,
};
use crate::scene::Rate;
use crate::text::{SyntaxError, SyntaxErrorKind, excerpt, finite, nearest};
use crate::track::Parameter;

impl CinematicScene {
    /// Whether a text looks like a scene in YAML: a line of it begins with `tracks:`.
    pub fn is_yaml(text: &str) -> bool {
        text.lines().any(|line| line.starts_with("tracks:"))
    }

    /// Reads a scene in YAML.
    ///
    /// # Errors
    /// Everything that is wrong, in the order of the text; at least one [`SyntaxError`]. Where the text is no YAML the rest
    /// of it is not looked at.
    pub fn parse_yaml(text: &str) -> Result<CinematicScene, Vec<SyntaxError>> {
        let (root, errors) = yaml::parse(text);
        let Some(root) = root else { return Err(errors) };
        let mut reader =
            Reader { faults: errors.into_iter().map(|error| (Place::default(), error)).collect() };
        let top = At { node: &root, up: None };
        let scene = reader.scene(&top);
        let mut errors = reader.faults;
        match scene {
            Ok(scene) if errors.is_empty() => return Ok(scene),
            Ok(_) => {}
            Err(faults) => {
                // what is said of something that could not be read, or around it, is not said again
                let places = errors.iter().map(|(place, _)| &place.0);
                let around = places.flat_map(|steps| (1..=steps.len()).filter_map(|n| steps.get(..n)));
                let around: HashSet<&[Step]> = around.collect();
                let read = |fault: &SceneFault| !around.contains(fault.place.0.as_slice());
                let faults = faults.into_iter().filter(read).map(|fault| {
                    let span = root.find(&fault.place);
                    (fault.place.clone(), fault.at(span))
                });
                let faults: Vec<(Place, SyntaxError)> = faults.collect();
                errors.extend(faults);
            }
        }
        let mut errors: Vec<SyntaxError> = errors.into_iter().map(|(_, error)| error).collect();
        errors.sort_by_key(|error| error.span.start);
        Err(errors)
    }
}

/// A value, and the way to it.
#[derive(Clone, Copy)]
struct At<'a> {
    node: &'a Node,
    up: Option<(&'a At<'a>, Step)>,
}

impl<'a> At<'a> {
    fn place(&self) -> Place {
        let mut steps = Vec::new();
        let mut at = self;
        while let Some((up, step)) = at.up {
            steps.push(step);
            at = up;
        }
        steps.reverse();
        Place(steps)
    }

    /// The value of a key of this mapping.
    fn key(&'a self, key: &'static str, node: &'a Node) -> At<'a> {
        At { node, up: Some((self, Step::Key(key))) }
    }

    /// An item of this list.
    fn item(&'a self, index: usize, node: &'a Node) -> At<'a> {
        At { node, up: Some((self, Step::Index(index))) }
    }
}

/// The keys of a mapping: each with the words that it may be written by, the first of which is its name.
type Keys<const N: usize> = [&'static [&'static str]; N];

const POSE: [&[&str]; 5] = [&["tick"], &["position"], &["yaw"], &["pitch"], &["interpolation"]];
const CAMERA_KEY: Keys<6> = [POSE[0], POSE[1], POSE[2], POSE[3], POSE[4], &["fov"]];
const ACTOR_KEY: Keys<6> = [POSE[0], POSE[1], POSE[2], POSE[3], POSE[4], &["action"]];

struct Reader {
    faults: Vec<(Place, SyntaxError)>,
}

impl Reader {
    fn error(&mut self, at: &At<'_>, problem: SceneProblem) {
        let place = at.place();
        let fault = SceneFault { place: place.clone(), problem };
        self.faults.push((place, fault.at(at.node.span)));
    }

    fn expected<T>(&mut self, at: &At<'_>, expected: &'static str) -> Option<T> {
        self.error(at, SceneProblem::Expected { expected, found: at.node.found() });
        None
    }

    /// The values of a mapping's keys, in the order of `keys`; what else is there is an error.
    fn fields<'a, const N: usize>(&mut self, at: &At<'a>, keys: Keys<N>) -> Option<[Option<&'a Node>; N]> {
        let Content::Map(entries) = &*at.node.content else {
            return self.expected(at, "a mapping of keys to values");
        };
        let mut fields: [Option<&Node>; N] = array::from_fn(|_| None);
        for entry in entries {
            let mut error = |problem| {
                let place = at.place();
                let fault = SceneFault { place: place.clone(), problem };
                self.faults.push((place, fault.at(entry.at)));
            };
            match keys.iter().position(|words| words.iter().any(|word| same_word(word, &entry.key))) {
                Some(i) if fields[i].is_some() => {
                    error(SceneProblem::RepeatedKey { key: excerpt(&entry.key) })
                }
                Some(i) => fields[i] = Some(&entry.value),
                None => {
                    let known: Vec<&str> = keys.iter().filter_map(|words| words.first().copied()).collect();
                    let key = excerpt(&entry.key);
                    let near = nearest(&key, keys.iter().flat_map(|words| words.iter().copied()));
                    error(SceneProblem::UnknownKey { key, near, known });
                }
            }
        }
        Some(fields.map(|field| field.filter(|node| !node.is_null())))
    }

    fn list<'a>(&mut self, at: &At<'a>, expected: &'static str) -> &'a [Node] {
        match &*at.node.content {
            Content::List(items) => items,
            _ => {
                self.expected::<()>(at, expected);
                &[]
            }
        }
    }

    /// What `read` makes of a key's value; an error if there is none.
    fn required<'a, T>(
        &mut self,
        at: &'a At<'a>,
        key: &'static str,
        node: Option<&'a Node>,
        read: impl FnOnce(&mut Self, &At<'a>) -> Option<T>,
    ) -> Option<T> {
        match node {
            Some(node) => read(self, &at.key(key, node)),
            None => {
                let fault = SceneFault { place: at.place(), problem: SceneProblem::Missing { key } };
                self.faults.push((at.place().then(Step::Key(key)), fault.at(at.node.span)));
                None
            }
        }
    }

    /// What `read` makes of a key's value, if there is one.
    fn optional<'a, T>(
        &mut self,
        at: &'a At<'a>,
        key: &'static str,
        node: Option<&'a Node>,
        read: impl FnOnce(&mut Self, &At<'a>) -> Option<T>,
    ) -> Option<T> {
        node.and_then(|node| read(self, &at.key(key, node)))
    }

    fn text(&mut self, at: &At<'_>) -> Option<String> {
        match &*at.node.content {
            Content::Scalar { text, .. } if !at.node.is_null() => Some(text.clone()),
            _ => self.expected(at, "a text"),
        }
    }

    fn choice<C: Choice>(&mut self, at: &At<'_>) -> Option<C> {
        let text = self.text(at)?;
        let choice = C::from_word(&text);
        if choice.is_none() {
            let (word, known) = (excerpt(&text), C::words());
            let near = nearest(&word, known.iter().map(String::as_str));
            self.error(at, SceneProblem::UnknownWord { what: C::WHAT, word, near, known });
        }
        choice
    }

    /// A finite number.
    fn number(&mut self, at: &At<'_>) -> Option<f64> {
        let Content::Scalar { text, plain: true } = &*at.node.content else {
            return self.expected(at, "a number");
        };
        let Some(value) = yaml::number(text) else { return self.expected(at, "a number") };
        // decimal digits that are not all 0 may still be too small for a double
        let vanished = value == 0.0
            && !text.starts_with("0x")
            && !text.starts_with("0o")
            && finite(text, at.node.span).is_err();
        if !value.is_finite() || vanished {
            self.error(at, SceneProblem::NotFinite(excerpt(text)));
            return None;
        }
        Some(value)
    }

    /// A whole number from 0 on; `None` with an error if it is none, or so large that it is `outside`.
    fn whole(
        &mut self,
        at: &At<'_>,
        expected: &'static str,
        outside: impl FnOnce(String) -> SceneProblem,
    ) -> Option<u32> {
        let Content::Scalar { text, plain: true } = &*at.node.content else {
            return self.expected(at, expected);
        };
        let Some(value) = yaml::number(text).filter(|value| !value.is_nan()) else {
            return self.expected(at, expected);
        };
        if has_fraction(text) {
            self.error(at, SceneProblem::NotWhole(excerpt(text)));
            return None;
        }
        if !(0.0..=f64::from(u32::MAX)).contains(&value) {
            self.error(at, outside(excerpt(text)));
            return None;
        }
        Some(value as u32)
    }

    fn tick(&mut self, at: &At<'_>, duration: u32) -> Option<u32> {
        if let (Content::Map(entries), false) = (&*at.node.content, at.node.is_null())
            && let Some(free) = entries.iter().find(|entry| same_word(&entry.key, "free"))
        {
            let kind = SyntaxErrorKind::FreeKeyTime { name: free.value.found() };
            self.faults.push((at.place(), SyntaxError { kind, span: at.node.span }));
            return None;
        }
        self.whole(at, "a tick, a whole number", |text| SceneProblem::Outside {
            when: format!("tick {text}"),
            end: duration.to_string(),
        })
    }

    fn value(&mut self, at: &At<'_>) -> Option<Value> {
        match &*at.node.content {
            Content::Map(_) => {
                let [name, value] = self.fields(at, [&["free"], &["value"]])?;
                let name = self.required(at, "free", name, |reader, at| {
                    let name = reader.text(at)?;
                    // the value is read next; here only the name is looked at
                    let parameter = Parameter::new(&name, 0.0);
                    parameter.map_err(|e| reader.error(at, e.into())).ok()
                });
                let value = self.required(at, "value", value, Reader::number);
                Some(Value::Free(name?.at(value?)))
            }
            _ => self.number(at).map(Value::Number),
        }
    }

    /// Exactly three of what `read` reads.
    fn triple<T>(&mut self, at: &At<'_>, read: fn(&mut Self, &At<'_>) -> Option<T>) -> Option<[T; 3]> {
        const EXPECTED: &str = "exactly three numbers, [x, y, z]";
        let Content::List(items) = &*at.node.content else { return self.expected(at, EXPECTED) };
        let [x, y, z] = items.as_slice() else { return self.expected(at, EXPECTED) };
        let read = [(0, x), (1, y), (2, z)].map(|(i, node)| read(self, &at.item(i, node)));
        let [Some(x), Some(y), Some(z)] = read else { return None };
        Some([x, y, z])
    }

    fn scene(&mut self, at: &At<'_>) -> Result<CinematicScene, Vec<SceneFault>> {
        let Some([id, duration, metadata, tracks]) =
            self.fields(at, [&["id"], &["duration"], &["metadata"], &["tracks"]])
        else {
            return Err(Vec::new());
        };
        let id = self.required(at, "id", id, Reader::text);
        let duration = self.required(at, "duration", duration, |reader, at| {
            const EXPECTED: &str = "a whole number of ticks, from 1 to 4294967295";
            reader.whole(at, EXPECTED, |found| SceneProblem::Expected { expected: EXPECTED, found })
        });
        // without a duration no tick is outside
        let duration = duration.unwrap_or(u32::MAX);
        let metadata = self.optional(at, "metadata", metadata, |reader, at| Some(reader.metadata(at)));
        let tracks = self.required(at, "tracks", tracks, |reader, at| {
            let items = reader.list(at, "a list of tracks");
            Some(
                items.iter().enumerate().map(|(i, node)| reader.track(&at.item(i, node), duration)).collect(),
            )
        });
        CinematicScene::new(
            id.unwrap_or_else(|| "scene".into()),
            duration,
            metadata.unwrap_or_default(),
            tracks.unwrap_or_default(),
        )
    }

    fn metadata(&mut self, at: &At<'_>) -> Vec<(String, String)> {
        let Content::Map(entries) = &*at.node.content else {
            self.expected::<()>(at, "a mapping of names to texts");
            return Vec::new();
        };
        let mut metadata = Vec::with_capacity(entries.len());
        for entry in entries {
            if let Some(text) = self.text(&At { node: &entry.value, up: at.up }) {
                metadata.push((entry.key.clone(), text));
            }
        }
        metadata
    }

    /// A track; where its type cannot be read, one that is wrong in nothing else.
    fn track(&mut self, at: &At<'_>, duration: u32) -> SceneTrack {
        const TRACK: Keys<5> = [&["type"], &["id"], &["data"], &["keyframes"], &["targets"]];
        let Some([kind, id, data, keyframes, targets]) = self.fields(at, TRACK) else {
            return unread_track();
        };
        let kind = self.required(at, "type", kind, Reader::choice::<TrackType>);
        let id = self.optional(at, "id", id, Reader::text);
        let Some(kind) = kind else { return unread_track() };
        let mut motion = Motion::default();
        let mut actor_id = None;
        if kind == TrackType::Effect {
            for (key, node) in [("data", data), ("targets", targets)] {
                if let Some(node) = node {
                    let known = vec!["type", "id", "keyframes"];
                    self.error(
                        &at.key(key, node),
                        SceneProblem::UnknownKey { key: key.into(), near: None, known },
                    );
                }
            }
        } else {
            self.optional(at, "data", data, |reader, at| {
                const DATA: Keys<4> = [&["path-mode"], &["easing-side"], &["turn"], &["actor-id"]];
                let [mode, side, turn, actor] = match kind {
                    TrackType::Actor => reader.fields(at, DATA)?,
                    _ => {
                        let [mode, side, turn] = reader.fields(at, [DATA[0], DATA[1], DATA[2]])?;
                        [mode, side, turn, None]
                    }
                };
                motion.path_mode = reader.optional(at, "path-mode", mode, Reader::choice).unwrap_or_default();
                motion.easing_side =
                    reader.optional(at, "easing-side", side, Reader::choice).unwrap_or_default();
                motion.turn = reader.optional(at, "turn", turn, Reader::choice).unwrap_or_default();
                actor_id = reader.optional(at, "actor-id", actor, Reader::text);
                Some(())
            });
            let read = self.optional(at, "targets", targets, |reader, at| {
                let items = reader.list(at, "a list of targets");
                let targets = items.iter().enumerate();
                Some(targets.map(|(i, node)| reader.target(&at.item(i, node), duration)).collect())
            });
            motion.targets = read.unwrap_or_default();
        }
        let mut last = 0;
        let mut keys = Vec::new();
        self.required(at, "keyframes", keyframes, |reader, at| {
            for (i, node) in reader.list(at, "a list of keys").iter().enumerate() {
                let key = reader.key(&at.item(i, node), kind, duration, last);
                last = key.tick();
                keys.push(key);
            }
            Some(())
        });
        match kind {
            TrackType::Camera => {
                let keys = keys
                    .into_iter()
                    .filter_map(|key| if let Key::Camera(key) = key { Some(key) } else { None });
                SceneTrack::Camera(CameraTrack { id, motion, keys: keys.collect() })
            }
            TrackType::Actor => {
                let keys = keys
                    .into_iter()
                    .filter_map(|key| if let Key::Actor(key) = key { Some(key) } else { None });
                SceneTrack::Actor(ActorTrack { id, actor_id, motion, keys: keys.collect() })
            }
            TrackType::Effect => {
                let keys = keys
                    .into_iter()
                    .filter_map(|key| if let Key::Effect(key) = key { Some(key) } else { None });
                SceneTrack::Effect(EffectTrack { id, keys: keys.collect() })
            }
        }
    }

    /// A key; a tick that cannot be read is that of the key before.
    fn key(&mut self, at: &At<'_>, kind: TrackType, duration: u32, last: u32) -> Key {
        match kind {
            TrackType::Camera => {
                let (pose, fov) = self.pose(at, CAMERA_KEY, duration, last);
                Key::Camera(CameraKey { pose, fov: self.optional(at, "fov", fov, Reader::value) })
            }
            TrackType::Actor => {
                let (pose, action) = self.pose(at, ACTOR_KEY, duration, last);
                Key::Actor(ActorKey { pose, action: self.optional(at, "action", action, Reader::text) })
            }
            TrackType::Effect => Key::Effect(self.effect(at, duration, last)),
        }
    }

    /// A key's pose, and the value of its own sixth key.
    fn pose<'a>(&mut self, at: &At<'a>, keys: Keys<6>, duration: u32, last: u32) -> (Pose, Option<&'a Node>) {
        let mut pose = Pose {
            tick: last,
            position: [0.0; 3].map(Value::Number),
            yaw: None,
            pitch: None,
            interpolation: Interpolation::default(),
        };
        let Some([tick, position, yaw, pitch, interpolation, own]) = self.fields(at, keys) else {
            return (pose, None);
        };
        pose.tick = self.required(at, "tick", tick, |reader, at| reader.tick(at, duration)).unwrap_or(last);
        let read = self.required(at, "position", position, |reader, at| reader.triple(at, Reader::value));
        pose.position = read.unwrap_or(pose.position);
        pose.yaw = self.optional(at, "yaw", yaw, Reader::value);
        pose.pitch = self.optional(at, "pitch", pitch, Reader::value);
        pose.interpolation =
            self.optional(at, "interpolation", interpolation, Reader::choice).unwrap_or_default();
        (pose, own)
    }

    fn effect(&mut self, at: &At<'_>, duration: u32, last: u32) -> EffectKey {
        const KEYS: Keys<3> = [&["tick"], &["sounds", "sound", "play_sound"], &["particles", "particle"]];
        let mut key = EffectKey { tick: last, effect: EffectFrame::default() };
        let Some([tick, sounds, particles]) = self.fields(at, KEYS) else { return key };
        key.tick = self.required(at, "tick", tick, |reader, at| reader.tick(at, duration)).unwrap_or(last);
        let sounds =
            self.optional(at, "sounds", sounds, |reader, at| Some(reader.one_or_more(at, Reader::sound)));
        key.effect.sounds = sounds.unwrap_or_default();
        let read = |reader: &mut Self, at: &At<'_>| Some(reader.one_or_more(at, Reader::particle));
        key.effect.particles = self.optional(at, "particles", particles, read).unwrap_or_default();
        key
    }

    /// One thing, or a list of them.
    fn one_or_more<T>(&mut self, at: &At<'_>, read: fn(&mut Self, &At<'_>) -> Option<T>) -> Vec<T> {
        match &*at.node.content {
            Content::List(items) => {
                items.iter().enumerate().filter_map(|(i, node)| read(self, &at.item(i, node))).collect()
            }
            _ => read(self, at).into_iter().collect(),
        }
    }

    fn sound(&mut self, at: &At<'_>) -> Option<Sound> {
        if let Content::Scalar { .. } = &*at.node.content {
            return Some(Sound { name: self.text(at)?, volume: 1.0, pitch: 1.0 });
        }
        let [name, volume, pitch] = self.fields(at, [&["name"], &["volume"], &["pitch"]])?;
        let name = self.required(at, "name", name, Reader::text);
        let volume = self.optional(at, "volume", volume, Reader::number).unwrap_or(1.0);
        let pitch = self.optional(at, "pitch", pitch, Reader::number).unwrap_or(1.0);
        Some(Sound { name: name?, volume, pitch })
    }

    fn particle(&mut self, at: &At<'_>) -> Option<Particle> {
        if let Content::Scalar { .. } = &*at.node.content {
            return Some(Particle { name: self.text(at)?, count: 1, offset: [0.0; 3], speed: 0.0 });
        }
        let [name, count, offset, speed] =
            self.fields(at, [&["type", "name"], &["count"], &["offset"], &["speed"]])?;
        let name = self.required(at, "type", name, Reader::text);
        let count = self.optional(at, "count", count, |reader, at| {
            const EXPECTED: &str = "a whole number, from 0 to 4294967295";
            reader.whole(at, EXPECTED, |found| SceneProblem::Expected { expected: EXPECTED, found })
        });
        let offset = self.optional(at, "offset", offset, |reader, at| reader.triple(at, Reader::number));
        let speed = self.optional(at, "speed", speed, Reader::number).unwrap_or(0.0);
        Some(Particle { name: name?, count: count.unwrap_or(1), offset: offset.unwrap_or([0.0; 3]), speed })
    }

    fn target(&mut self, at: &At<'_>, duration: u32) -> MotionTarget {
        const TARGET: Keys<12> = [
            &["tick"],
            &["time"],
            &["position"],
            &["x"],
            &["y"],
            &["z"],
            &["yaw"],
            &["pitch"],
            &["fov"],
            &["velocity"],
            &["acceleration"],
            &["weight"],
        ];
        const NOTHING: [Option<f64>; Component::ALL.len()] = [None; Component::ALL.len()];
        let Some([tick, time, position, x, y, z, yaw, pitch, fov, velocity, acceleration, weight]) =
            self.fields(at, TARGET)
        else {
            return MotionTarget {
                when: When::Tick(0),
                values: NOTHING,
                rates: [NOTHING; Rate::ALL.len()],
                weight: 1.0,
            };
        };
        let when = match (tick, time) {
            (Some(_), Some(time)) => {
                self.error(&at.key("time", time), SceneProblem::TwoMoments);
                None
            }
            (None, Some(time)) => {
                let time = self.optional(at, "time", Some(time), Reader::number);
                // −0 is the start as well
                time.map(|time| When::Seconds(time + 0.0))
            }
            (tick, None) => {
                self.required(at, "tick", tick, |reader, at| reader.tick(at, duration)).map(When::Tick)
            }
        };
        let mut values = NOTHING;
        if let Some(position) = position {
            let read =
                self.optional(at, "position", Some(position), |reader, at| reader.triple(at, Reader::number));
            values[..3].copy_from_slice(&read.unwrap_or([0.0; 3]).map(Some));
        }
        self.components(at, [x, y, z, yaw, pitch, fov], &mut values);
        let mut rates = [NOTHING; Rate::ALL.len()];
        for ((rate, node), values) in Rate::ALL.into_iter().zip([velocity, acceleration]).zip(&mut rates) {
            const RATES: Keys<6> = [&["x"], &["y"], &["z"], &["yaw"], &["pitch"], &["fov"]];
            let Some(node) = node else { continue };
            let at = at.key(rate.name(), node);
            let told = self.faults.len();
            if let Some(fields) = self.fields(&at, RATES) {
                // what is there and is no component has been told
                if fields.iter().all(Option::is_none) && self.faults.len() == told {
                    self.error(&at, SceneProblem::None { what: "rate that is aimed at, such as x" });
                }
                self.components(&at, fields, values);
            }
        }
        let weight = self.optional(at, "weight", weight, Reader::number).unwrap_or(1.0);
        MotionTarget { when: when.unwrap_or(When::Tick(0)), values, rates, weight }
    }

    /// The numbers of a target by their components, beside those that `values` has already.
    fn components(
        &mut self,
        at: &At<'_>,
        nodes: [Option<&Node>; Component::ALL.len()],
        values: &mut [Option<f64>; Component::ALL.len()],
    ) {
        for ((node, component), value) in nodes.into_iter().zip(Component::ALL).zip(values) {
            let Some(node) = node else { continue };
            let at = at.key(component.name(), node);
            if value.is_some() {
                self.error(&at, SceneProblem::RepeatedKey { key: component.name().into() });
            }
            *value = Some(self.number(&at).unwrap_or(0.0));
        }
    }
}

enum Key {
    Camera(CameraKey),
    Actor(ActorKey),
    Effect(EffectKey),
}

impl Key {
    fn tick(&self) -> u32 {
        match self {
            Key::Camera(key) => key.pose.tick,
            Key::Actor(key) => key.pose.tick,
            Key::Effect(key) => key.tick,
        }
    }
}

/// A track that is wrong in nothing.
fn unread_track() -> SceneTrack {
    let sound = Sound { name: "unread".into(), volume: 1.0, pitch: 1.0 };
    let effect = EffectFrame { sounds: vec![sound], particles: Vec::new() };
    SceneTrack::Effect(EffectTrack { id: None, keys: vec![EffectKey { tick: 0, effect }] })
}
