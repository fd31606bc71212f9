//! Scenes as CinematicEngine writes them, in YAML: cameras and actors that move from key to key, and effects that fire.
//!
//! ```text
//! scene    = id: NAME, duration: TICKS, [metadata: {NAME: TEXT, …}], tracks: [track, …]
//! track    = type: camera, [id: NAME], [data: data], keyframes: [pose + [fov: VALUE], …],     [targets: [target, …]]
//!          | type: actor,  [id: NAME], [data: data], keyframes: [pose + [action: TEXT], …], [targets: [target, …]]
//!          | type: effect, [id: NAME],               keyframes: [tick: TICK + [sounds: …] + [particles: …], …]
//! pose     = tick: TICK, position: [VALUE, VALUE, VALUE], [yaw: VALUE], [pitch: VALUE], [interpolation: NAME]
//! VALUE    = NUMBER | {free: NAME, value: NUMBER}
//! data     = [path-mode: linear | spline | centripetal | chordal], [easing-side: left | right], [turn: short | raw]
//!          + [actor-id: NAME]                                                                of an actor
//! target   = tick: TICK | time: SECONDS, [position: [NUMBER, NUMBER, NUMBER]], [x: …, y: …, z: …, yaw: …, pitch: …, fov: …],
//!            [weight: NUMBER]
//! sounds   = one | [one, …]    with one = NAME | {name: NAME, [volume: 1], [pitch: 1]}       also sound, play_sound
//! particles= one | [one, …]    with one = NAME | {type: NAME, [count: 1], [offset: [0, 0, 0]], [speed: 0]}    also particle
//! ```
//!
//! **YAML** is 1.2 with its core schema: `1e1`, `10.0` and `0o12` are the tick 10, `012` is 12, `"10"` and `1_000` are text and
//! so no tick. A key may be written `path-mode`, `path_mode` or `pathMode`; a key without a value counts as not written.
//! Anchors and aliases may be used, within bounds; tags and a second document may not. Unknown and repeated keys are errors.
//!
//! **Time** is in ticks, 20 to the second: tick k is the time k/20, one division. Keys stand in the order of their ticks, all
//! within the scene; only effects may share one. One key is a constant.
//!
//! **Interpolation** is `linear` (also where nothing is said), `ease_in_out` (u²·(3 − 2u)), `hold` or any easing of keyfit, in
//! any case; a segment has that of the key which it leaves, or with `easing-side: right` of the key at which it arrives.
//!
//! **Positions** follow the path mode. `spline` is the uniform Catmull-Rom spline with mirrored ends, on each coordinate;
//! `centripetal` and `chordal` have knots whose distances are √|Δ| and |Δ|, with Δ between neighbouring keys in space. With
//! d, s the knot distance and (change of value)/d before (₀) and after (₁) a key, the spline passes that key with slope
//! s₀ + (s₁ − s₀)·d₀/(d₀ + d₁) a unit of knot (C. Yuksel, S. Schaefer, J. Keyser, Parameterization and applications of Catmull-Rom
//! curves, 2011). A key that coincides with a neighbour is passed with slope 0. The path meets each key at its tick whatever
//! the mode. In an eased segment the spline is taken at the eased u; an easing that overshoots goes on along the path.
//!
//! **Yaw** turns the short way: each key's value v is moved by whole turns, v − 360·⌊(v − v₋)/360 + ½⌋ for the value v₋ of the key
//! before, so that the difference lies in [−180, 180); half a turn goes in the negative sense. `turn: raw` leaves the
//! numbers alone. Pitch never wraps. A yaw, pitch or field of view that is not written is that of the key before; the first ones are
//! 0, 0 and 70. Yaw, pitch and field of view go straight from key to key, or eased, in every path mode.
//!
//! **Channels** are called `camera.x … camera.fov` and `actor.NAME.x … actor.NAME.pitch`. An actor's NAME is its `actor-id`, else its
//! track's `id`; it may be missing if it is the only one without (`actor.x`). If there are several cameras each needs an `id` and
//! their channels are `camera.ID.x` …
//!
//! A **target** says where channels must be at a tick or time of the scene. That of a yaw which turns the short way is
//! an angle: it is moved by whole turns to where the track is nearest as the scene is read.

mod fault;
mod path;
mod read;
mod words;
mod write;
mod yaml;

use std::collections::{HashMap, HashSet};

use crate::scene::Channel;
use crate::track::{BuildError, Parameter};

pub use fault::{Place, SceneFault, SceneProblem, Step};
pub use words::{EasingSide, Interpolation, PathMode, TrackType, Turn};

/// How many ticks a second has.
pub const TICKS_PER_SECOND: f64 = 20.0;

/// The time of a tick, in seconds.
pub fn seconds(tick: u32) -> f64 {
    f64::from(tick) / TICKS_PER_SECOND
}

/// A scene of cameras, actors and effects; see the [module](self) for what it means.
///
/// ```
/// use keyfit_ir::CinematicScene;
///
/// let scene = CinematicScene::parse_yaml(
///     "id: s
/// duration: 60
/// tracks:
///   - type: camera
///     keyframes:
///       - {tick: 0, position: [0, 64, 0], yaw: 350, interpolation: ease_in_out}
///       - {tick: 60, position: [20, {free: lift, value: 75}, 10], yaw: 10}",
/// ).map_err(|errors| errors[0].clone())?;
/// let camera = &scene.frame(30).cameras[0];
/// assert_eq!((camera.position, camera.yaw, camera.fov), ([10.0, 69.5, 5.0], 360.0, 70.0));
/// assert_eq!(scene.channels()[1].track.describe(), "smooth[0.0=64.0 3.0=?lift=75.0]");
/// assert_eq!(CinematicScene::parse_yaml(&scene.to_yaml()), Ok(scene));
/// # Ok::<(), keyfit_ir::SyntaxError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct CinematicScene {
    id: String,
    duration: u32,
    metadata: Vec<(String, String)>,
    tracks: Vec<SceneTrack>,
    /// Those of all tracks, in their order.
    channels: Vec<Channel>,
}

/// A track of a scene.
#[derive(Clone, Debug, PartialEq)]
pub enum SceneTrack {
    /// A camera.
    Camera(CameraTrack),
    /// An actor.
    Actor(ActorTrack),
    /// Effects.
    Effect(EffectTrack),
}

/// How a camera moves.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CameraTrack {
    /// The track's name.
    pub id: Option<String>,
    /// What holds for all keys.
    pub motion: Motion,
    /// The keys, by tick.
    pub keys: Vec<CameraKey>,
}

/// How an actor moves, and what it does.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ActorTrack {
    /// The track's name.
    pub id: Option<String>,
    /// The actor's name, if it is not the track's.
    pub actor_id: Option<String>,
    /// What holds for all keys.
    pub motion: Motion,
    /// The keys, by tick.
    pub keys: Vec<ActorKey>,
}

/// What happens at once.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EffectTrack {
    /// The track's name.
    pub id: Option<String>,
    /// The keys, by tick; several may share one.
    pub keys: Vec<EffectKey>,
}

/// How a camera or actor goes from key to key, and where it must be.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Motion {
    /// The way of its position.
    pub path_mode: PathMode,
    /// Which key's interpolation a segment has.
    pub easing_side: EasingSide,
    /// The way of its yaw.
    pub turn: Turn,
    /// Where it must be, and when.
    pub targets: Vec<MotionTarget>,
}

/// A number of a scene: one that is written, or one that is to be found.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A plain number.
    Number(f64),
    /// A free parameter with its current value.
    Free(Parameter),
}

impl Value {
    /// The number that it is now.
    pub fn now(&self) -> f64 {
        match self {
            Value::Number(x) => *x,
            Value::Free(parameter) => parameter.start(),
        }
    }
}

impl From<f64> for Value {
    fn from(x: f64) -> Value {
        Value::Number(x)
    }
}

/// Where something is at a tick, and how it goes on.
#[derive(Clone, Debug, PartialEq)]
pub struct Pose {
    /// The tick.
    pub tick: u32,
    /// x, y and z.
    pub position: [Value; 3],
    /// The direction around the vertical, in degrees; the key before's if it is not said.
    pub yaw: Option<Value>,
    /// The direction up or down, in degrees; the key before's if it is not said.
    pub pitch: Option<Value>,
    /// The way to the next key, or from the one before: see [`EasingSide`].
    pub interpolation: Interpolation,
}

/// A camera's key.
#[derive(Clone, Debug, PartialEq)]
pub struct CameraKey {
    /// Where it is.
    pub pose: Pose,
    /// The field of view, in degrees; the key before's if it is not said.
    pub fov: Option<Value>,
}

/// An actor's key.
#[derive(Clone, Debug, PartialEq)]
pub struct ActorKey {
    /// Where it is.
    pub pose: Pose,
    /// What it does from this key on, up to the next.
    pub action: Option<String>,
}

/// An effect's key.
#[derive(Clone, Debug, PartialEq)]
pub struct EffectKey {
    /// The tick at which it fires.
    pub tick: u32,
    /// What happens then.
    pub effect: EffectFrame,
}

/// A sound.
#[derive(Clone, Debug, PartialEq)]
pub struct Sound {
    /// Which sound.
    pub name: String,
    /// How loud, 1 as it is.
    pub volume: f64,
    /// How high, 1 as it is.
    pub pitch: f64,
}

/// A burst of particles.
#[derive(Clone, Debug, PartialEq)]
pub struct Particle {
    /// Which kind of particle.
    pub name: String,
    /// How many.
    pub count: u32,
    /// How far they are strewn.
    pub offset: [f64; 3],
    /// How fast.
    pub speed: f64,
}

/// What can vary of a camera or actor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Component {
    /// The first coordinate.
    X,
    /// The second coordinate.
    Y,
    /// The third coordinate.
    Z,
    /// The direction around the vertical.
    Yaw,
    /// The direction up or down.
    Pitch,
    /// The field of view; cameras only.
    Fov,
}

impl Component {
    /// All of them, in the order of the channels.
    pub const ALL: [Component; 6] =
        [Component::X, Component::Y, Component::Z, Component::Yaw, Component::Pitch, Component::Fov];

    /// The name, as channels and targets have it.
    pub const fn name(self) -> &'static str {
        match self {
            Component::X => "x",
            Component::Y => "y",
            Component::Z => "z",
            Component::Yaw => "yaw",
            Component::Pitch => "pitch",
            Component::Fov => "fov",
        }
    }
}

/// Where a camera or actor must be, and when.
#[derive(Clone, Debug, PartialEq)]
pub struct MotionTarget {
    /// When.
    pub when: When,
    /// The values, in the order of [`Component::ALL`].
    pub values: [Option<f64>; Component::ALL.len()],
    /// How much they count; see [`Target`](crate::Target).
    pub weight: f64,
}

/// A moment of a scene.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum When {
    /// A tick.
    Tick(u32),
    /// A time in seconds.
    Seconds(f64),
}

impl When {
    /// The time in seconds.
    pub fn seconds(self) -> f64 {
        match self {
            When::Tick(tick) => seconds(tick),
            When::Seconds(time) => time,
        }
    }
}

/// A moment of a scene: every camera and actor in the order of their tracks, and what fires.
#[derive(Clone, Debug, PartialEq)]
pub struct Frame {
    /// The cameras.
    pub cameras: Vec<CameraFrame>,
    /// The actors.
    pub actors: Vec<ActorFrame>,
    /// The effects that fire at this very tick, in the order of tracks and keys.
    pub effects: Vec<EffectFrame>,
}

/// A camera at a moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CameraFrame {
    /// x, y and z.
    pub position: [f64; 3],
    /// The direction around the vertical, in degrees; it may be any number of turns from what is written.
    pub yaw: f64,
    /// The direction up or down, in degrees.
    pub pitch: f64,
    /// The field of view, in degrees.
    pub fov: f64,
}

/// An actor at a moment.
#[derive(Clone, Debug, PartialEq)]
pub struct ActorFrame {
    /// x, y and z.
    pub position: [f64; 3],
    /// As a camera's.
    pub yaw: f64,
    /// The direction up or down, in degrees.
    pub pitch: f64,
    /// The action of the last key at or before the moment, if that key has one.
    pub action: Option<String>,
}

/// What fires with one key: sounds, then particles.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EffectFrame {
    /// The sounds, in the order of the list.
    pub sounds: Vec<Sound>,
    /// The particles, in the order of the list.
    pub particles: Vec<Particle>,
}

impl SceneTrack {
    /// What it moves.
    pub fn kind(&self) -> TrackType {
        match self {
            SceneTrack::Camera(_) => TrackType::Camera,
            SceneTrack::Actor(_) => TrackType::Actor,
            SceneTrack::Effect(_) => TrackType::Effect,
        }
    }

    /// The name by which its channels go, if it has one.
    pub fn name(&self) -> Option<&str> {
        match self {
            SceneTrack::Camera(CameraTrack { id, .. }) | SceneTrack::Effect(EffectTrack { id, .. }) => {
                id.as_deref()
            }
            SceneTrack::Actor(ActorTrack { id, actor_id, .. }) => actor_id.as_deref().or(id.as_deref()),
        }
    }

    /// What it is made of if it moves something: what holds for all keys, and the keys' poses.
    pub fn motion(&self) -> Option<(&Motion, Vec<&Pose>)> {
        match self {
            SceneTrack::Camera(track) => {
                Some((&track.motion, track.keys.iter().map(|key| &key.pose).collect()))
            }
            SceneTrack::Actor(track) => {
                Some((&track.motion, track.keys.iter().map(|key| &key.pose).collect()))
            }
            SceneTrack::Effect(_) => None,
        }
    }

    /// What can vary of it, each with a channel.
    pub fn components(&self) -> &'static [Component] {
        match self.kind() {
            TrackType::Camera => &Component::ALL,
            TrackType::Actor => &[Component::X, Component::Y, Component::Z, Component::Yaw, Component::Pitch],
            TrackType::Effect => &[],
        }
    }

    fn ticks(&self) -> Vec<u32> {
        match self {
            SceneTrack::Camera(track) => track.keys.iter().map(|key| key.pose.tick).collect(),
            SceneTrack::Actor(track) => track.keys.iter().map(|key| key.pose.tick).collect(),
            SceneTrack::Effect(track) => track.keys.iter().map(|key| key.tick).collect(),
        }
    }
}

impl CinematicScene {
    /// A scene of these parts.
    ///
    /// # Errors
    /// All that is wrong: no track, no key, ticks outside the scene or out of order, numbers that are not finite, an effect of
    /// nothing, names that are blank or taken, one free parameter with two values.
    pub fn new(
        id: impl Into<String>,
        duration: u32,
        metadata: Vec<(String, String)>,
        tracks: Vec<SceneTrack>,
    ) -> Result<CinematicScene, Vec<SceneFault>> {
        let mut scene = CinematicScene { id: id.into(), duration, metadata, tracks, channels: Vec::new() };
        let mut check = Check { duration, faults: Vec::new(), starts: HashMap::new() };
        check.scene(&scene);
        let mut faults = check.faults;
        if faults.is_empty() {
            for (i, track) in scene.tracks.iter().enumerate() {
                match path::channels(&scene.prefix(track), track) {
                    Ok(channels) => scene.channels.extend(channels),
                    Err(e) => {
                        let place = Place(vec![Step::Key("tracks"), Step::Index(i)]);
                        faults.push(SceneFault { place, problem: e.into() });
                    }
                }
            }
        }
        if faults.is_empty() { Ok(scene) } else { Err(faults) }
    }

    /// Its name.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Its last tick.
    pub fn duration(&self) -> u32 {
        self.duration
    }

    /// What else the file says of it: names and texts.
    pub fn metadata(&self) -> &[(String, String)] {
        &self.metadata
    }

    /// Its tracks.
    pub fn tracks(&self) -> &[SceneTrack] {
        &self.tracks
    }

    /// All channels with their targets, track by track: see the [module](self) for their names.
    pub fn channels(&self) -> Vec<Channel> {
        self.channels.clone()
    }

    /// The name in [`CinematicScene::channels`] of the channel that is meant by this one: the only camera's channel may
    /// carry the camera's name.
    pub fn channel_name(&self, name: &str) -> String {
        let mut cameras = self.tracks.iter().filter(|track| track.kind() == TrackType::Camera);
        let kind = TrackType::Camera.word();
        let short = match (cameras.next().and_then(SceneTrack::name), cameras.next()) {
            (Some(id), None) => name.strip_prefix(&format!("{kind}.{id}.")),
            _ => None,
        };
        short.map_or_else(|| name.into(), |rest| format!("{kind}.{rest}"))
    }

    /// What stands before a track's components in the names of its channels.
    fn prefix(&self, track: &SceneTrack) -> String {
        let kind = track.kind();
        let only =
            kind == TrackType::Camera && self.tracks.iter().filter(|other| other.kind() == kind).count() == 1;
        match track.name().filter(|_| !only) {
            Some(name) => format!("{}.{name}.", kind.word()),
            None => format!("{}.", kind.word()),
        }
    }

    /// The scene at a tick. Parameters have their current values; see [`Channel::track`] for others.
    pub fn frame(&self, tick: u32) -> Frame {
        self.frame_at(seconds(tick))
    }

    /// The scene at a time in seconds. Effects fire at the time of their tick only.
    pub fn frame_at(&self, time: f64) -> Frame {
        let mut frame = Frame { cameras: Vec::new(), actors: Vec::new(), effects: Vec::new() };
        let mut channels = self.channels.iter();
        for track in &self.tracks {
            let mut next = || channels.next().map_or(f64::NAN, |channel| channel.track.sample(time));
            match track {
                SceneTrack::Camera(_) => {
                    let position = [next(), next(), next()];
                    frame.cameras.push(CameraFrame { position, yaw: next(), pitch: next(), fov: next() });
                }
                SceneTrack::Actor(actor) => {
                    let position = [next(), next(), next()];
                    let passed = actor.keys.partition_point(|key| seconds(key.pose.tick) <= time);
                    let last = passed.checked_sub(1).and_then(|k| actor.keys.get(k));
                    let action = last.and_then(|key| key.action.clone());
                    frame.actors.push(ActorFrame { position, yaw: next(), pitch: next(), action });
                }
                SceneTrack::Effect(track) => {
                    let first = track.keys.partition_point(|key| seconds(key.tick) < time);
                    let fired = track.keys[first..].iter().take_while(|key| seconds(key.tick) == time);
                    frame.effects.extend(fired.map(|key| key.effect.clone()));
                }
            }
        }
        frame
    }
}

/// So long may a name of metadata be: YAML bounds the keys of a mapping.
const LONGEST_KEY: usize = 256;

/// The rules that a scene keeps, whether it was read or built.
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
        let MotionTarget { when, values, weight } = target;
        self.when(place.then(Step::Key(if let When::Tick(_) = when { "tick" } else { "time" })), *when);
        let mut given = 0;
        for (component, value) in Component::ALL.into_iter().zip(values) {
            let Some(value) = value else { continue };
            given += 1;
            let at = place.then(Step::Key(component.name()));
            self.number(at.clone(), *value);
            if !components.contains(&component) {
                let known = components.iter().map(|own| own.name()).collect();
                self.fault(at, SceneProblem::UnknownKey { key: component.name().into(), near: None, known });
            }
        }
        if given == 0 {
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
