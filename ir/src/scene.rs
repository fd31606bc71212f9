//! Scenes: channels that share parameters.

use std::fmt;

use crate::track::Track;

/// Where a value must be, and when.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Target {
    /// The time, finite.
    pub time: f64,
    /// The value that the track must have then, finite.
    pub value: f64,
    /// How much the squared residual counts; finite and not negative, 1 unless said otherwise. A target of weight 0 is
    /// carried along and has no part in the fit, nor in its degrees of freedom.
    pub weight: f64,
}

impl Target {
    /// A target of weight 1.
    pub fn new(time: f64, value: f64) -> Target {
        Target { time, value, weight: 1.0 }
    }
}

/// A track with its targets.
#[derive(Clone, Debug, PartialEq)]
pub struct Channel {
    /// The name by which reports speak of it.
    pub name: String,
    /// The track.
    pub track: Track,
    /// Its targets, in any order.
    pub targets: Vec<Target>,
}

impl Channel {
    /// The one of `channels` whose rate this channel is, such as `x` of `x.velocity`, and which rate; nothing where it is a
    /// value itself.
    pub fn rate_of<'a>(
        &self,
        channels: impl IntoIterator<Item = &'a Channel>,
    ) -> Option<(&'a Channel, Rate)> {
        let (name, rate) = Rate::of(&self.name)?;
        channels.into_iter().find(|of| of.name == name).map(|of| (of, rate))
    }
}

/// How often a channel is differentiated by time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Rate {
    /// Once.
    Velocity,
    /// Twice.
    Acceleration,
}

impl Rate {
    /// All of them.
    pub const ALL: [Rate; 2] = [Rate::Velocity, Rate::Acceleration];

    /// The word for it.
    pub const fn name(self) -> &'static str {
        match self {
            Rate::Velocity => "velocity",
            Rate::Acceleration => "acceleration",
        }
    }

    /// What a channel's rate is called, such as `x.velocity`.
    pub fn of_channel(self, channel: &str) -> String {
        format!("{channel}.{}", self.name())
    }

    /// The channel and the rate that a name such as `x.velocity` stands for.
    pub fn of(name: &str) -> Option<(&str, Rate)> {
        let (channel, word) = name.rsplit_once('.')?;
        Some((channel, Rate::ALL.into_iter().find(|rate| rate.name() == word)?))
    }
}

/// What the velocity or acceleration of a channel must be, in the channel's unit a second or a second squared.
#[derive(Clone, Debug, PartialEq)]
pub struct RateTargets {
    /// The channel's name.
    pub channel: String,
    /// Which of the two.
    pub rate: Rate,
    /// The targets, at least one, in any order.
    pub targets: Vec<Target>,
}

/// The number of the last frame at or before `time`: the largest k with k/fps ≤ time, frame 0 being at 0. Both are finite
/// and `fps` is positive.
///
/// ```
/// use keyfit_ir::scene::last_frame;
/// assert_eq!(4.1 * 30.0, 122.99999999999999);
/// assert_eq!([last_frame(4.1, 30.0), last_frame(4.09, 30.0)], [123.0, 122.0]);
/// ```
pub fn last_frame(time: f64, fps: f64) -> f64 {
    let near = (time * fps).round();
    if near / fps <= time { near } else { near - 1.0 }
}

/// A scene: rects that move on a wall.
#[derive(Clone, Debug, PartialEq)]
pub struct Scene {
    /// The wall, if the scene gives one.
    pub wall: Option<Wall>,
    /// How long the scene runs, in seconds.
    pub duration: Option<f64>,
    /// Frames per second.
    pub fps: Option<f64>,
    /// The rects, each with its own name.
    pub rects: Vec<Rect>,
}

/// The plane that a scene is drawn on: its origin is the middle, x grows to the right and y upwards.
#[derive(Clone, Debug, PartialEq)]
pub struct Wall {
    /// Its width in `unit`s.
    pub width: f64,
    /// Its height in `unit`s.
    pub height: f64,
    /// The unit of length of the whole scene.
    pub unit: String,
}

/// What can vary of a rect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Quantity {
    /// The horizontal position of its middle.
    X,
    /// The vertical position of its middle.
    Y,
    /// The width.
    W,
    /// The height.
    H,
    /// By how many radians it is turned about its middle, counter-clockwise.
    Rotate,
}

impl Quantity {
    /// All of them, in the order of a rect's tracks.
    pub const ALL: [Quantity; 5] = [Quantity::X, Quantity::Y, Quantity::W, Quantity::H, Quantity::Rotate];

    /// The channel's name.
    pub const fn name(self) -> &'static str {
        match self {
            Quantity::X => "x",
            Quantity::Y => "y",
            Quantity::W => "w",
            Quantity::H => "h",
            Quantity::Rotate => "rotate",
        }
    }

    /// The value where a scene says nothing.
    pub const fn default(self) -> f64 {
        match self {
            Quantity::X | Quantity::Y | Quantity::Rotate => 0.0,
            Quantity::W | Quantity::H => 1.0,
        }
    }
}

/// A moving rectangle; all its channels are tracks.
#[derive(Clone, Debug, PartialEq)]
pub struct Rect {
    /// Its name.
    pub name: String,
    /// A track a quantity, in the order of [`Quantity::ALL`].
    pub tracks: [Track; Quantity::ALL.len()],
    /// Where the quantities must be, and when.
    pub targets: [Vec<Target>; Quantity::ALL.len()],
    /// What their velocities and accelerations must be, in the order of [`Rate::ALL`].
    pub rate_targets: [[Vec<Target>; Rate::ALL.len()]; Quantity::ALL.len()],
    /// The colour that it is filled with.
    pub fill: Option<Colour>,
}

impl Rect {
    /// The track of a quantity.
    pub fn track(&self, quantity: Quantity) -> &Track {
        &self.tracks[quantity as usize]
    }
}

/// A colour, as `0xRRGGBB`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Colour(pub u32);

impl fmt::Display for Colour {
    /// As CSS and SVG write it, `#44d4b4`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{:06x}", self.0)
    }
}

impl Scene {
    fn name_of(&self, rect: &Rect, quantity: Quantity) -> String {
        let prefix = if self.rects.len() == 1 { String::new() } else { format!("{}.", rect.name) };
        prefix + quantity.name()
    }

    /// All channels: `x`, `y`, `w`, `h`, `rotate` if there is one rect, `marker.x` … if there are several. Their targets are those
    /// for values; [`Scene::rate_targets`] has the others.
    pub fn channels(&self) -> Vec<Channel> {
        let channel = |rect: &Rect, quantity: Quantity| Channel {
            name: self.name_of(rect, quantity),
            track: rect.track(quantity).clone(),
            targets: rect.targets[quantity as usize].clone(),
        };
        let all = self.rects.iter().flat_map(|rect| Quantity::ALL.map(|quantity| channel(rect, quantity)));
        all.collect()
    }

    /// The targets for velocities and accelerations, in the order of [`Scene::channels`].
    pub fn rate_targets(&self) -> Vec<RateTargets> {
        let of = |rect: &Rect, quantity: Quantity, rate: Rate| RateTargets {
            channel: self.name_of(rect, quantity),
            rate,
            targets: rect.rate_targets[quantity as usize][rate as usize].clone(),
        };
        let mut all = Vec::new();
        for rect in &self.rects {
            for quantity in Quantity::ALL {
                all.extend(Rate::ALL.map(|rate| of(rect, quantity, rate)));
            }
        }
        all.retain(|own| !own.targets.is_empty());
        all
    }

    /// The name in [`Scene::channels`] of the channel that is meant by this one: a single rect's channel may carry the
    /// rect's name or not.
    pub fn channel_name<'a>(&self, name: &'a str) -> &'a str {
        match self.rects.as_slice() {
            [only] => name.strip_prefix(&only.name).and_then(|rest| rest.strip_prefix('.')).unwrap_or(name),
            _ => name,
        }
    }
}
