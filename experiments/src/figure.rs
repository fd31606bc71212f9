//! Figures of scenes and channels, as SVG and as PNG.
//!
//! [`scene_figure`] draws what a scene shows: a band for each version of it (as written, as fitted …), with the rects as
//! a strobe light would catch them. [`channel_figure`] draws values and their exact derivatives over time. [`line_figure`]
//! draws lines over two axes.
//!
//! An SVG follows its reader's theme, light or dark, unless one is asked for; it has no scripts and its text is text. The
//! same figure has the same bytes everywhere. A PNG is that SVG in one theme, drawn with a font that keyfit brings along
//! (Noto Sans: Latin, Greek and Cyrillic; other scripts have no letters in a PNG).
//!
//! ```
//! use keyfit::figure::{Band, scene_figure};
//! let text = r#"->wall 18 8 meters ->duration 4 ->fps 30 "marker" rect t ->x ;"#;
//! let scene = keyfit::Scene::parse_rectsl(text).map_err(|errors| errors[0].clone())?;
//! let figure = scene_figure("a marker", &[Band::new("authored", scene)], None)?;
//! assert!(figure.svg(None).starts_with("<svg "));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod axis;
mod channel;
mod clip;
mod key;
mod labels;
mod lines;
mod names;
mod notes;
mod panel;
#[cfg(feature = "pdf")]
mod pdf;
#[cfg(feature = "png")]
mod png;
mod scene;
mod strobe;
mod svg;
mod trace;

pub(crate) use svg::escape;
use thiserror::Error;

pub use channel::{Plotted, channel_figure, moments};
pub use lines::{Axis, Series, line_figure};
pub use notes::short_unit;
#[cfg(feature = "png")]
pub use png::PngError;
pub use scene::{Band, scene_figure};
pub use trace::Period;

/// Why there is no figure.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum FigureError {
    /// A scene figure without a band, or a scene without a rect.
    #[error("the scene has no rect, so there is nothing to draw")]
    NoRect,
    /// A channel figure without a channel.
    #[error("there is no channel to draw")]
    NoChannel,
    /// Nobody says how long to draw.
    #[error("nothing says from when to when to draw: the scene has no duration")]
    NoPeriod,
}

/// Dark text on a light page, or light text on a dark one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Theme {
    /// A light page.
    Light,
    /// A dark page.
    Dark,
}

/// A figure, ready to be written.
#[derive(Clone, Debug)]
pub struct Figure {
    title: String,
    width: f64,
    height: f64,
    canvas: svg::Canvas,
}

impl Figure {
    fn new(title: &str, height: f64, canvas: svg::Canvas) -> Figure {
        Figure { title: title.into(), width: WIDTH, height: height.ceil(), canvas }
    }

    /// The same, at least so wide.
    fn at_least(self, width: f64) -> Figure {
        Figure { width: self.width.max(width.ceil()), ..self }
    }

    /// The figure's size in pixels, where a pixel is what CSS calls so.
    pub fn size(&self) -> (f64, f64) {
        (self.width, self.height)
    }

    /// As SVG: in one theme with its page, or without a page in whichever theme its reader prefers.
    pub fn svg(&self, theme: Option<Theme>) -> String {
        svg::document(&self.title, self.size(), &self.canvas, theme)
    }

    #[cfg(feature = "png")]
    /// As PNG, so many pixels wide.
    ///
    /// # Errors
    /// [`PngError`]: a size that is too large to be drawn.
    pub fn png(&self, theme: Theme, width: u32) -> Result<Vec<u8>, PngError> {
        png::render(&self.svg(Some(theme)), self.size(), width)
    }

    #[cfg(feature = "pdf")]
    /// As PDF on a light page, its letters as shapes; for figures of [`line_figure`], which have no clipping.
    ///
    /// # Errors
    /// [`PngError::Svg`]
    pub fn pdf(&self) -> Result<Vec<u8>, PngError> {
        pdf::render(&self.svg(Some(Theme::Light)), self.size())
    }
}

/// The width of all figures whose lines have names of usual length.
const WIDTH: f64 = 920.0;
/// What is left free around them.
const MARGIN: f64 = 24.0;

/// `text` cut to so many characters.
fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.into(),
        Some(_) => text.chars().take(most.saturating_sub(1)).chain(['…']).collect(),
    }
}

/// `text` cut to so many characters in its middle: names and titles that begin alike often end differently.
fn cut_middle(text: &str, most: usize) -> String {
    let length = text.chars().count();
    if length <= most {
        return text.into();
    }
    let kept = most.saturating_sub(1);
    let tail = text.chars().skip(length - kept / 2);
    text.chars().take(kept - kept / 2).chain(['…']).chain(tail).collect()
}
