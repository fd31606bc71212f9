//! Lines over two axes: profiles and courses.

use super::axis::{Scale, significant};
use super::clip::{Clipped, clip};
use super::key::{self, Key};
use super::labels::Area;
use super::svg::{Canvas, Element, Point, point};
use super::{Figure, MARGIN, WIDTH, cut_middle};

/// One axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// What is along it, with its unit.
    pub label: String,
    /// Whether powers of ten stand evenly.
    pub logarithmic: bool,
    /// What it shows at least, whatever the lines reach.
    pub whole: Option<(f64, f64)>,
    /// What it shows at most; for the axis that goes up.
    pub most: Option<f64>,
}

/// One line.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// Its name.
    pub name: String,
    /// Its points. Up a logarithmic axis, 0 has its place at the bottom edge and infinity beyond the top one; there is a gap where
    /// anything else is not finite, or has no logarithm.
    pub points: Vec<(f64, f64)>,
    /// Where its interval of 95 % lies: x, the lower and the upper end; empty if there is none.
    pub band: Vec<(f64, f64, f64)>,
}

/// Okabe and Ito's colours without black, which no dark page shows, and yellow, which no light one does.
const COLOURS: [&str; 6] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"];
/// That of lines beyond these.
const GREY: &str = "#8b8b8b";
/// Right of the frame, where the names stand.
const KEY: f64 = 250.0;
const TOP: f64 = 62.0;
const GUTTER: f64 = 58.0;
const HEIGHT: f64 = 320.0;
/// Left and right of all lines, as a share of what they need.
const PAD: f64 = 0.02;
/// As many decades as are worth seeing.
const DECADES: f64 = 24.0;

impl Axis {
    /// Infinite only on a logarithmic axis.
    fn map(&self, x: f64) -> f64 {
        match self.logarithmic {
            true => core_math::log10(x),
            false if x.is_finite() => x,
            false => f64::NAN,
        }
    }

    /// What is mapped to `at`, as text.
    fn text(&self, at: f64, digits: usize) -> String {
        let x = if self.logarithmic { core_math::exp10(at) } else { at };
        significant(x, digits).replace('-', "−")
    }

    fn ticks(&self, scale: Scale, about: u32) -> Vec<(f64, String)> {
        if !self.logarithmic {
            return scale.ticks(about);
        }
        let step = (scale.size() / f64::from(about)).ceil().max(1.0);
        let first = (scale.low / step).ceil() as i64;
        let last = (scale.high / step).floor() as i64;
        (first..=last).map(|k| k as f64 * step).map(|at| (at, self.text(at, 3))).collect()
    }
}

/// What the shade around lines is.
const BAND: &str = "shaded: 95 % pointwise band";
/// What a triangle at the top edge is.
const LEAVES: &str = "lines that leave the top go on above it";
/// How high triangles are.
const MARK: f64 = 7.0;

/// Draws lines with their bands. Each holds its numbers with four digits as data, for a page's script to read out.
///
/// The first six lines have colours. Of more than these nobody could tell which is which: the others are thin and grey, and their
/// bands are hidden until a page shows them. Every line is known without its colour: its name is tied to its right end, or
/// a number there leads to it. Long names lack the words that all have which begin with the same one, and are cut in the middle; the
/// figure is wider where names would else be alike.
///
/// A line that leaves the top is cut off there, and one that falls below the bottom of a logarithmic axis, as 0 does, runs along the
/// bottom edge. Triangles stand where lines cross the top and where they first come to the bottom, and a note below says what they
/// mean. A line all of zeros is one along the bottom edge; one without any number is only a name, without a sample of the line.
pub fn line_figure(title: &str, x: &Axis, y: &Axis, series: &[Series]) -> Figure {
    let height = HEIGHT.max(key::LINE * series.len() as f64);
    let (left, right, bottom) = (MARGIN + GUTTER, WIDTH - MARGIN - KEY, TOP + height);
    let mapped: Vec<Vec<(f64, f64)>> =
        series.iter().map(|own| own.points.iter().map(|(a, b)| (x.map(*a), y.map(*b))).collect()).collect();
    let bands: Vec<Vec<(f64, f64)>> = series
        .iter()
        .map(|own| around(&own.band).map(|(a, b)| (x.map(a), y.map(b))).filter(finite).collect())
        .collect();
    let of = |axis: &Axis, pick: fn(&(f64, f64)) -> f64| {
        let reached = mapped.iter().chain(&bands).flatten().filter(|p| is_somewhere(p)).map(pick);
        let whole = axis.whole.into_iter().flat_map(|(low, high)| [axis.map(low), axis.map(high)]);
        let most = axis.most.map_or(f64::INFINITY, |most| axis.map(most));
        let all = reached.chain(whole).map(|at| at.min(most));
        let scale = Scale::of(all).unwrap_or(Scale { low: 0.0, high: 1.0 });
        let scale = if axis.logarithmic {
            Scale { low: scale.low.max(scale.high - DECADES), ..scale }
        } else {
            scale
        };
        scale.padded(PAD)
    };
    let (across, up) = (of(x, |p| p.0), of(y, |p| p.1));
    let place = |(a, b): (f64, f64)| -> Point {
        let down = 1.0 - up.share(b).clamp(0.0, 1.0);
        point(left + across.share(a).clamp(0.0, 1.0) * (right - left), TOP + down * height)
    };
    let mut canvas = Canvas::default();
    canvas.add(Element::text("title", point(MARGIN, 28.0), &cut_middle(title, 90)));
    canvas.add(Element::text("quiet", point(left, TOP - 12.0), &y.label));
    canvas.add(Element::text("quiet end", point(right, bottom + 38.0), &x.label));
    for (at, text) in x.ticks(across, 8) {
        let foot = place((at, up.low));
        canvas.add(Element::line("grid", foot, point(foot.x, TOP)));
        canvas.add(Element::text("small middle quiet", point(foot.x, bottom + 16.0), &text));
    }
    for (at, text) in y.ticks(up, 6) {
        let foot = place((across.low, at));
        canvas.add(Element::line("grid", foot, point(right, foot.y)));
        canvas.add(Element::text("small end quiet", point(left - 6.0, foot.y + 4.0), &text));
    }
    let clipped: Vec<Clipped> = mapped.iter().map(|points| clip(points, up)).collect();
    let ends = clipped.iter().map(|own| own.last.map(place));
    let frame = Area { left, top: TOP, right, bottom };
    let names: Vec<&str> = series.iter().map(|own| own.name.as_str()).collect();
    let key = Key::new(frame, &names, ends.collect(), 1.5 * PAD * (right - left));
    // the first ones over the others
    for (k, ((own, points), clipped)) in series.iter().zip(&mapped).zip(&clipped).enumerate().rev() {
        let runs: Vec<Vec<Point>> =
            clipped.runs.iter().map(|run| run.iter().map(|p| place(*p)).collect()).collect();
        let group = Element::new("g").set("class", if is_grey(k) { "series other" } else { "series" });
        let group = group.set("data-name", &own.name).set("data-values", &values(own, points, &place));
        let outline: Vec<Point> = bands.get(k).into_iter().flatten().map(|p| place(*p)).collect();
        let shade = (outline.len() > 1).then(|| shaded(Element::path("band", &[outline]), k));
        let group = shade.into_iter().fold(group, Element::child);
        let group = group.child(stroked(Element::path("", &runs), k));
        let at_top = clipped.top.iter().map(|x| mark(place((*x, up.high)), MARK));
        let at_bottom = clipped.bottom.map(|x| mark(place((x, up.low)), -MARK));
        let group = at_top.chain(at_bottom).fold(group, |group, mark| group.child(filled(mark, k, "1")));
        let group = key.line(k).into_iter().fold(group, |group, line| group.child(stroked(line, k)));
        canvas.add(group.child(key.name(k)));
    }
    key.numbers().into_iter().for_each(|number| canvas.add(number));
    if series.iter().enumerate().any(|(k, own)| !is_grey(k) && !own.band.is_empty()) {
        let of = if series.len() > COLOURS.len() { " of the lines in colour" } else { "" };
        canvas.add(Element::text("small quiet end", point(right, TOP - 12.0), &format!("{BAND}{of}")));
    }
    let leaves = clipped.iter().any(|own| !own.top.is_empty()).then(|| LEAVES.to_owned());
    let falls = clipped.iter().any(|own| own.bottom.is_some());
    let falls = falls.then(|| format!("at the bottom edge: 0, and what is below {}", y.text(up.low, 2)));
    let notes: Vec<String> = leaves.into_iter().chain(falls).collect();
    let mut foot = bottom + 38.0;
    if !notes.is_empty() {
        foot += 20.0;
        canvas.add(Element::text("small quiet", point(left, foot), &notes.join("; ")));
    }
    Figure::new(title, foot + 16.0, canvas).at_least(key.right())
}

fn finite((a, b): &(f64, f64)) -> bool {
    a.is_finite() && b.is_finite()
}

/// Whether a point has a place, if only at an edge.
fn is_somewhere((a, b): &(f64, f64)) -> bool {
    a.is_finite() && !b.is_nan()
}

/// Once around a band: its upper ends, and back along the lower ones.
fn around(band: &[(f64, f64, f64)]) -> impl Iterator<Item = (f64, f64)> {
    band.iter().map(|(x, _, high)| (*x, *high)).chain(band.iter().rev().map(|(x, low, _)| (*x, *low)))
}

fn is_grey(k: usize) -> bool {
    k >= COLOURS.len()
}

fn colour(k: usize) -> &'static str {
    COLOURS.get(k).copied().unwrap_or(GREY)
}

/// Filled, so that lines are seen through it.
fn shaded(element: Element, k: usize) -> Element {
    let element = filled(element, k, ".12");
    if is_grey(k) { element.set("visibility", "hidden") } else { element }
}

/// As a style: the rule that paths are not filled would win over attributes.
fn filled(element: Element, k: usize, opacity: &str) -> Element {
    element.set("style", &format!("fill:{};fill-opacity:{opacity}", colour(k)))
}

/// A triangle whose tip is at the edge that it points to, and whose other end lies so much lower.
fn mark(tip: Point, lower: f64) -> Element {
    let end = |side: f64| point(tip.x + side * MARK / 2.0, tip.y + lower);
    Element::path("", &[vec![tip, end(-1.0), end(1.0)]])
}

fn stroked(element: Element, k: usize) -> Element {
    element.set("stroke", colour(k)).set("stroke-width", if is_grey(k) { "1" } else { "2" })
}

/// Place and numbers of each point, at an edge what lies beyond it: `px,py,x,y`, apart from each other by spaces.
fn values(series: &Series, mapped: &[(f64, f64)], place: &impl Fn((f64, f64)) -> Point) -> String {
    let drawn = series.points.iter().zip(mapped).filter(|(_, at)| is_somewhere(at));
    let words = drawn.map(|((x, y), at)| {
        let at = place(*at);
        format!("{:.0},{:.0},{},{}", at.x, at.y, significant(*x, 4), significant(*y, 4))
    });
    words.collect::<Vec<_>>().join(" ")
}
