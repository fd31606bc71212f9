//! SVG to PNG, by resvg.

use std::sync::Arc;

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{self, Options, Tree, fontdb};
use thiserror::Error;

/// A PNG could not be made.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum PngError {
    /// The SVG is not one that resvg reads.
    #[error("the figure could not be drawn: {0}")]
    Svg(#[from] usvg::Error),
    /// There is no picture of that size.
    #[error("a PNG of {width} × {height} pixels cannot be drawn; the most is {MOST_PIXELS} pixels in all")]
    Size {
        /// The width asked for.
        width: u32,
        /// The height that goes with it.
        height: u32,
    },
    /// The picture could not be written as PNG.
    #[error("the PNG could not be written: {0}")]
    Encode(String),
}

/// More than 400 MB of memory help nobody.
const MOST_PIXELS: u64 = 100_000_000;

/// The one font family that is known here; the name that the font itself bears.
const FAMILY: &str = "Noto Sans";

/// The shapes of an SVG, laid out with the fonts that are compiled in, and no others.
pub(super) fn tree(svg: &str) -> Result<Tree, usvg::Error> {
    let mut fonts = fontdb::Database::new();
    fonts.load_font_data(notosans::REGULAR_TTF.to_vec());
    fonts.load_font_data(notosans::BOLD_TTF.to_vec());
    fonts.set_sans_serif_family(FAMILY);
    let options = Options { font_family: FAMILY.into(), fontdb: Arc::new(fonts), ..Options::default() };
    Tree::from_str(svg, &options)
}

/// Draws the same picture on every machine.
pub(super) fn render(svg: &str, (width, height): (f64, f64), wanted: u32) -> Result<Vec<u8>, PngError> {
    let high = (height * f64::from(wanted) / width).round().clamp(1.0, f64::from(u32::MAX)) as u32;
    let size = PngError::Size { width: wanted, height: high };
    if u64::from(wanted) * u64::from(high) > MOST_PIXELS {
        return Err(size);
    }
    let tree = tree(svg)?;
    let mut pixmap = Pixmap::new(wanted, high).ok_or(size)?;
    // up to the last row, although heights are whole pixels
    let (across, down) = (f64::from(wanted) / width, f64::from(high) / height);
    resvg::render(&tree, Transform::from_scale(across as f32, down as f32), &mut pixmap.as_mut());
    pixmap.encode_png().map_err(|e| PngError::Encode(e.to_string()))
}
