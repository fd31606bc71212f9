//! Scenes: channels that share parameters.

use std::collections::BTreeMap;

use crate::track::Track;

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

/// The plane that a scene is drawn on.
#[derive(Clone, Debug, PartialEq)]
pub struct Wall {
    /// Its width in `unit`s.
    pub width: f64,
    /// Its height in `unit`s.
    pub height: f64,
    /// The unit of length of the whole scene.
    pub unit: String,
}

/// A moving rectangle; all its channels are tracks.
#[derive(Clone, Debug, PartialEq)]
pub struct Rect {
    /// Its name.
    pub name: String,
    /// The horizontal position; 0 if the scene does not say.
    pub x: Track,
    /// The vertical position; 0 if the scene does not say.
    pub y: Track,
    /// The width; 1 if the scene does not say.
    pub w: Track,
    /// The height; 1 if the scene does not say.
    pub h: Track,
    /// The colour that it is filled with.
    pub fill: Option<Colour>,
    /// Where channels must be, and when: (time, value) by the channel's name.
    pub targets: BTreeMap<&'static str, Vec<(f64, f64)>>,
}

/// A colour, as `0xRRGGBB`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Colour(pub u32);

impl Rect {
    /// The channels by name.
    pub fn channels(&self) -> [(&'static str, &Track); 4] {
        [("x", &self.x), ("y", &self.y), ("w", &self.w), ("h", &self.h)]
    }
}

impl Scene {
    /// All channels: `x`, `y`, `w`, `h` if there is one rect, `marker.x` … if there are several.
    pub fn channels(&self) -> Vec<(String, &Track)> {
        let prefix =
            |rect: &Rect| if self.rects.len() == 1 { String::new() } else { format!("{}.", rect.name) };
        self.rects
            .iter()
            .flat_map(|rect| rect.channels().map(|(name, track)| (prefix(rect) + name, track)))
            .collect()
    }

    /// The targets of each channel, (time, value), in the order of [`Scene::channels`].
    pub fn targets(&self) -> Vec<&[(f64, f64)]> {
        let own = |rect| {
            Rect::channels(rect).map(|(name, _)| rect.targets.get(name).map_or(&[][..], Vec::as_slice))
        };
        self.rects.iter().flat_map(own).collect()
    }

    /// The place in [`Scene::channels`] of the channel of this name. A single rect's channel may carry the rect's name or
    /// not.
    pub fn channel(&self, name: &str) -> Option<usize> {
        let qualified = |own: &str| match self.rects.as_slice() {
            [only] => name.strip_prefix(&only.name).and_then(|rest| rest.strip_prefix('.')) == Some(own),
            _ => false,
        };
        self.channels().iter().position(|(own, _)| own == name || qualified(own))
    }
}
