//! Words beside what they speak of, where they cover nothing and no other words.

use super::svg::{Canvas, Element, Point, point};
use super::{MARGIN, WIDTH};

/// A part of the picture.
#[derive(Clone, Copy, Debug)]
pub(super) struct Area {
    pub left: f64,
    pub top: f64,
    pub right: f64,
    pub bottom: f64,
}

impl Area {
    /// The square about a middle.
    pub(super) fn about(middle: Point, radius: f64) -> Area {
        let (left, right) = (middle.x - radius, middle.x + radius);
        Area { left, right, top: middle.y - radius, bottom: middle.y + radius }
    }

    fn meets(&self, other: &Area) -> bool {
        let beside = self.right < other.left || other.right < self.left;
        let above = self.bottom < other.top || other.bottom < self.top;
        !beside && !above
    }

    fn holds(&self, other: &Area) -> bool {
        self.left <= other.left
            && other.right <= self.right
            && self.top <= other.top
            && other.bottom <= self.bottom
    }
}

/// About how wide small text is: fonts differ, so a little more than most need.
pub(super) fn text_width(text: &str) -> f64 {
    6.4 * text.chars().count() as f64
}

/// How high small text stands, and how far it hangs below its line.
const ASCENT: f64 = 9.0;
const DESCENT: f64 = 3.0;

/// Where words already stand.
pub(super) struct Labels {
    bounds: Area,
    taken: Vec<Area>,
    /// What is kept free left and right of words.
    apart: f64,
}

impl Labels {
    /// None yet; words stay within `bounds`.
    pub(super) fn new(bounds: Area) -> Labels {
        Labels { bounds, taken: Vec::new(), apart: 0.0 }
    }

    /// The same with so much left and right of words.
    pub(super) fn apart(self, apart: f64) -> Labels {
        Labels { apart, ..self }
    }

    /// Keeps words away from an area.
    pub(super) fn avoid(&mut self, area: Area) {
        self.taken.push(area);
    }

    /// Keeps words away from lines.
    pub(super) fn avoid_lines(&mut self, runs: &[Vec<Point>]) {
        const APART: f64 = 5.0;
        for ends in runs.iter().flat_map(|run| run.windows(2)) {
            let (a, b) = (ends[0], ends[1]);
            let (width, height) =
                (self.bounds.right - self.bounds.left, self.bounds.bottom - self.bounds.top);
            let steps = (a.distance(b) / APART).ceil().clamp(1.0, width + height);
            for k in 0..=steps as u32 {
                let share = f64::from(k) / steps;
                self.avoid(Area::about(point(a.x + share * (b.x - a.x), a.y + share * (b.y - a.y)), 1.5));
            }
        }
    }

    /// `text` at the first free place around `about`, `away` from it; nothing if all are taken.
    pub(super) fn place(&mut self, class: &str, about: Point, away: f64, text: &str) -> Option<Element> {
        let width = text_width(text) + 2.0 * self.apart;
        let middle = about.y + (ASCENT - DESCENT) / 2.0;
        let places = [
            (about.x - width / 2.0, about.y - away - DESCENT),
            (about.x - width / 2.0, about.y + away + ASCENT),
            (about.x + away, middle),
            (about.x - away - width, middle),
            (about.x + away * 0.9, about.y - away * 0.9 - DESCENT),
            (about.x - away * 0.9 - width, about.y - away * 0.9 - DESCENT),
            (about.x + away * 0.9, about.y + away * 0.9 + ASCENT),
            (about.x - away * 0.9 - width, about.y + away * 0.9 + ASCENT),
            (about.x - width / 2.0, about.y - away - DESCENT - 16.0),
            (about.x - width / 2.0, about.y + away + ASCENT + 16.0),
        ];
        let area =
            |(x, y): (f64, f64)| Area { left: x, top: y - ASCENT, right: x + width, bottom: y + DESCENT };
        let free = |area: &Area| self.bounds.holds(area) && !self.taken.iter().any(|own| own.meets(area));
        let area = places.map(area).into_iter().find(free)?;
        self.taken.push(area);
        let at = point((area.left + area.right) / 2.0, area.bottom - DESCENT);
        Some(Element::text(&format!("small middle label {class}"), at, text))
    }
}

/// What marks mean, from the right margin to the left.
pub(super) struct Legend {
    right: f64,
    line: f64,
}

impl Legend {
    /// None yet; words stand on a line at this height.
    pub(super) fn new(line: f64) -> Legend {
        Legend { right: WIDTH - MARGIN, line }
    }

    /// A mark, drawn about a place, and its word.
    pub(super) fn entry(&mut self, canvas: &mut Canvas, word: &str, mark: impl FnOnce(Point) -> Element) {
        let left = self.right - text_width(word);
        canvas.add(Element::text("quiet", point(left, self.line), word));
        canvas.add(mark(point(left - 17.0, self.line - 4.0)));
        self.right = left - 46.0;
    }
}
