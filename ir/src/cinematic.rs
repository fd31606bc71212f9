//! Scenes as CinematicEngine writes them, in YAML: cameras and actors that move from key to key, and effects that fire.
//!
//! ```text
//! scene    = {id: NAME, duration: TICKS, metadata?: {NAME: TEXT, …}, tracks: [track, …]}
//! track    = {type: camera, id?: NAME, data?: data, keyframes: [camera, …], targets?: [target, …]}
//!          | {type: actor, id?: NAME, data?: data, keyframes: [actor, …], targets?: [target, …]}
//!          | {type: effect, id?: NAME, keyframes: [effect, …]}
//! camera   = {tick: TICK, position: [VALUE, VALUE, VALUE], yaw?: VALUE, pitch?: VALUE, fov?: VALUE, interpolation?: NAME}
//! actor    = {tick: TICK, position: [VALUE, VALUE, VALUE], yaw?: VALUE, pitch?: VALUE, action?: TEXT, interpolation?: NAME}
//! effect   = {tick: TICK, sounds?: sound | [sound, …], particles?: particle | [particle, …]}
//! VALUE    = NUMBER | {free: NAME, value: NUMBER}
//! data     = {path-mode?: linear | spline | centripetal | chordal, easing-side?: left | right, turn?: short | raw,
//!             actor-id?: NAME}
//! target   = {tick: TICK, …} | {time: SECONDS, …}  with position?: [NUMBER, NUMBER, NUMBER], x?: NUMBER … fov?: NUMBER,
//!             velocity?: rates, acceleration?: rates, weight?: NUMBER
//! rates    = {x?: NUMBER … fov?: NUMBER}
//! sound    = NAME | {name: NAME, volume?: NUMBER, pitch?: NUMBER}
//! particle = NAME | {type: NAME, count?: NUMBER, offset?: [NUMBER, NUMBER, NUMBER], speed?: NUMBER}
//! ```
//! What is marked `?` may be left out. `actor_motion` is another word for `actor`, `sound` and `play_sound` for `sounds`,
//! `particle` for `particles`.
//!
//! **YAML** is 1.2 with its core schema: `1e1`, `10.0` and `0o12` are the tick 10, `012` is 12, `"10"` and `1_000`
//! are text and so no tick. A key may be written `path-mode`, `path_mode` or `pathMode`; a key without a value counts
//! as not written. Anchors and aliases may be used, within bounds; tags and a second document may not. Unknown and
//! repeated keys are errors.
//!
//! **Time** is in ticks, 20 to the second: tick k is the time k/20, one division. Keys stand in the order of their
//! ticks, all within the scene; only effects may share one. One key is a constant.
//!
//! **Interpolation** is `linear` (also where nothing is said), `ease_in_out` (u²·(3 − 2u)), `hold` or any easing of
//! keyfit, in any case; a segment has that of the key which it leaves, or with `easing-side: right` of the key at
//! which it arrives.
//!
//! **Positions** follow the path mode. `spline` is the uniform Catmull-Rom spline with mirrored ends, on each
//! coordinate; `centripetal` and `chordal` have knots whose distances are √|Δ| and |Δ|, with Δ between neighbouring
//! keys in space. With d, s the knot distance and (change of value)/d before (₀) and after (₁) a key, the spline
//! passes that key with slope s₀ + (s₁ − s₀)·d₀/(d₀ + d₁) a unit of knot (C. Yuksel, S. Schaefer, J. Keyser,
//! Parameterization and applications of Catmull-Rom curves, 2011). A key that coincides with a neighbour is passed
//! with slope 0. The path meets each key at its tick whatever the mode. In an eased segment the spline is taken at
//! the eased u; an easing that overshoots goes on along the path.
//!
//! **Yaw** turns the short way: each key's value v is moved by whole turns, v − 360·⌊(v − v₋)/360 + ½⌋ for the value
//! v₋ of the key before, so that the difference lies in [−180, 180); half a turn goes in the negative sense. `turn:
//! raw` leaves the numbers alone. Pitch never wraps. A yaw, pitch or field of view that is not written is that of the
//! key before; the first ones are 0, 0 and 70. Yaw, pitch and field of view go straight from key to key, or eased, in
//! every path mode.
//!
//! **Channels** are called `camera.x … camera.fov` and `actor.NAME.x … actor.NAME.pitch`. An actor's NAME is its
//! `actor-id`, else its track's `id`; it may be missing if it is the only one without (`actor.x`). If there are
//! several cameras each needs an `id` and their channels are `camera.ID.x` …
//!
//! A **target** says where channels must be at a tick or time of the scene. That of a yaw which turns the short way
//! is an angle: it is moved by whole turns to where the track is nearest as the scene is read. Under `velocity` it says how
//! much channels must change a second, under `acceleration` how much that must: `{time: 1.5, velocity: {x: 3}}`.

mod check;
mod fault;
mod path;
mod read;
mod words;
mod write;
mod yaml;

use crate::scene::{Channel, Rate, RateTargets};
use crate::track::Parameter;

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
    /// The velocities and accelerations, in the order of [`Rate::ALL`].
    pub rates: [[Option<f64>; Component::ALL.len()]; Rate::ALL.len()],
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

    /// Every number of its keys.
    fn values_mut(&mut self) -> Vec<&mut Value> {
        fn of(Pose { position, yaw, pitch, .. }: &mut Pose) -> impl Iterator<Item = &mut Value> {
            position.iter_mut().chain(yaw).chain(pitch)
        }
        match self {
            SceneTrack::Camera(track) => {
                track.keys.iter_mut().flat_map(|CameraKey { pose, fov }| of(pose).chain(fov)).collect()
            }
            SceneTrack::Actor(track) => track.keys.iter_mut().flat_map(|key| of(&mut key.pose)).collect(),
            SceneTrack::Effect(_) => Vec::new(),
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
    /// All that is wrong: no track, no key, ticks outside the scene or out of order, numbers that are not finite, an
    /// effect of nothing, names that are blank or taken, one free parameter with two values.
    pub fn new(
        id: impl Into<String>,
        duration: u32,
        metadata: Vec<(String, String)>,
        tracks: Vec<SceneTrack>,
    ) -> Result<CinematicScene, Vec<SceneFault>> {
        let mut scene = CinematicScene { id: id.into(), duration, metadata, tracks, channels: Vec::new() };
        let mut faults = check::check(&scene);
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

    /// All channels with their targets, track by track: see the [module](self) for their names. These are the targets for values;
    /// [`CinematicScene::rate_targets`] has the others.
    pub fn channels(&self) -> Vec<Channel> {
        self.channels.clone()
    }

    /// The targets for velocities and accelerations, in the order of [`CinematicScene::channels`].
    pub fn rate_targets(&self) -> Vec<RateTargets> {
        self.tracks.iter().flat_map(|track| path::rate_targets(&self.prefix(track), track)).collect()
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

    /// The scene with the numbers that `value` gives for the names of free parameters in their place; those it gives
    /// `None` for stay free. So a fit becomes a scene that can be played and written.
    ///
    /// # Errors
    /// As [`CinematicScene::new`], where a number is not finite.
    pub fn substitute_parameters(
        &self,
        value: impl Fn(&str) -> Option<f64>,
    ) -> Result<CinematicScene, Vec<SceneFault>> {
        self.map_parameters(|parameter| value(parameter.name()).map(Value::Number))
    }

    /// The scene with free parameters at the values that `value` gives for their names; the others stay where they are.
    ///
    /// # Errors
    /// As [`CinematicScene::new`], where a number is not finite.
    pub fn restart_parameters(
        &self,
        value: impl Fn(&str) -> Option<f64>,
    ) -> Result<CinematicScene, Vec<SceneFault>> {
        self.map_parameters(|parameter| Some(Value::Free(parameter.at(value(parameter.name())?))))
    }

    fn map_parameters(
        &self,
        replace: impl Fn(&Parameter) -> Option<Value>,
    ) -> Result<CinematicScene, Vec<SceneFault>> {
        let mut tracks = self.tracks.clone();
        for value in tracks.iter_mut().flat_map(SceneTrack::values_mut) {
            if let Value::Free(parameter) = value
                && let Some(new) = replace(parameter)
            {
                *value = new;
            }
        }
        CinematicScene::new(self.id.clone(), self.duration, self.metadata.clone(), tracks)
    }

    /// The scene at a tick. Parameters have their current values; see [`CinematicScene::restart_parameters`] for others.
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
