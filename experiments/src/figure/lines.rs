//! Lines over two axes: profiles and courses.

use super::axis::{Scale, significant};
use super::svg::{Canvas, Element, Point, point};
use super::{Figure, MARGIN, WIDTH, cut};

/// One axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// What is along it, with its unit.
    pub label: String,
    /// Whether powers of ten stand evenly; then what is not positive is not drawn.
    pub logarithmic: bool,
}

/// One line.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// Its name.
    pub name: String,
    /// Its points; a gap where one is not finite.
    pub points: Vec<(f64, f64)>,
    /// Where its interval of 95 % lies: x, the lower and the upper end; empty if there is none.
    pub band: Vec<(f64, f64, f64)>,
}

/// Okabe and Ito's colours without black, which no dark page shows; then dashed, then dotted.
const COLOURS: [&str; 7] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", GREY];
const GREY: &str = "#8b8b8b";
const DASHES: [&str; 4] = ["", "7 4", "2 4", "9 3 2 3"];
/// Right of the frame, where the names stand.
const KEY: f64 = 250.0;
const TOP: f64 = 62.0;
const GUTTER: f64 = 58.0;
const HEIGHT: f64 = 320.0;
/// From one name to the next.
const LINE: f64 = 17.0;
/// As many decades as are worth seeing.
const DECADES: f64 = 24.0;

impl Axis {
    fn map(&self, x: f64) -> f64 {
        if self.logarithmic { if x > 0.0 { core_math::log10(x) } else { f64::NAN } } else { x }
    }

    fn ticks(&self, scale: Scale, about: u32) -> Vec<(f64, String)> {
        if !self.logarithmic {
            return scale.ticks(about);
        }
        let step = (scale.size() / f64::from(about)).ceil().max(1.0);
        let first = (scale.low / step).ceil() as i64;
        let last = (scale.high / step).floor() as i64;
        let tick =
            |k: i64| (k as f64 * step, significant(core_math::exp10(k as f64 * step), 3).replace('-', "−"));
        (first..=last).map(tick).collect()
    }
}

/// What the shade around lines is.
const BAND: &str = "95 % pointwise band";

/// Draws lines with their bands. Each holds its numbers with four digits as data, for a page's script to read out.
pub fn line_figure(title: &str, x: &Axis, y: &Axis, series: &[Series]) -> Figure {
    let banded = series.iter().any(|own| !own.band.is_empty());
    let height = HEIGHT.max(LINE * (series.len() + usize::from(banded)) as f64);
    let (left, right, bottom) = (MARGIN + GUTTER, WIDTH - MARGIN - KEY, TOP + height);
    let mapped: Vec<Vec<(f64, f64)>> =
        series.iter().map(|own| own.points.iter().map(|(a, b)| (x.map(*a), y.map(*b))).collect()).collect();
    let bands: Vec<Vec<(f64, f64)>> = series
        .iter()
        .map(|own| around(&own.band).map(|(a, b)| (x.map(a), y.map(b))).filter(finite).collect())
        .collect();
    let of = |axis: &Axis, pick: fn(&(f64, f64)) -> f64| {
        let whole = mapped.iter().chain(&bands).flatten().filter(|p| finite(p)).map(pick);
        let scale = Scale::of(whole).unwrap_or(Scale { low: 0.0, high: 1.0 });
        let scale = if axis.logarithmic {
            Scale { low: scale.low.max(scale.high - DECADES), ..scale }
        } else {
            scale
        };
        scale.padded(0.02)
    };
    let (across, up) = (of(x, |p| p.0), of(y, |p| p.1));
    let place = |(a, b): (f64, f64)| -> Point {
        let down = 1.0 - up.share(b).clamp(0.0, 1.0);
        point(left + across.share(a).clamp(0.0, 1.0) * (right - left), TOP + down * height)
    };
    let mut canvas = Canvas::default();
    canvas.add(Element::text("title", point(MARGIN, 28.0), &cut(title, 90)));
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
    let row = |k: usize| point(right + 14.0, TOP + 8.0 + LINE * k as f64);
    for (k, (own, points)) in series.iter().zip(&mapped).enumerate() {
        let runs: Vec<Vec<Point>> =
            points.split(|p| !finite(p)).map(|run| run.iter().map(|p| place(*p)).collect()).collect();
        let path = styled(Element::path("", &runs), k);
        let at = row(k);
        let key = styled(Element::line("", at, point(at.x + 24.0, at.y)), k);
        let name = Element::text("small", point(at.x + 32.0, at.y + 4.0), &cut(&own.name, 34));
        let group = Element::new("g").set("class", "series").set("data-name", &own.name);
        let group = group.set("data-values", &values(own, points, &place));
        let outline: Vec<Point> = bands.get(k).into_iter().flatten().map(|p| place(*p)).collect();
        let shade = (outline.len() > 1).then(|| shaded(Element::path("band", &[outline]), colour(k)));
        let group = shade.into_iter().fold(group, Element::child);
        canvas.add(group.child(path).child(key).child(name));
    }
    if banded {
        let at = row(series.len());
        canvas.add(shaded(Element::rect("band", point(at.x + 12.0, at.y), 24.0, 10.0), GREY));
        canvas.add(Element::text("small quiet", point(at.x + 32.0, at.y + 4.0), BAND));
    }
    Figure::new(title, bottom + 54.0, canvas)
}

fn finite((a, b): &(f64, f64)) -> bool {
    a.is_finite() && b.is_finite()
}

/// Once around a band: its upper ends, and back along the lower ones.
fn around(band: &[(f64, f64, f64)]) -> impl Iterator<Item = (f64, f64)> {
    band.iter().map(|(x, _, high)| (*x, *high)).chain(band.iter().rev().map(|(x, low, _)| (*x, *low)))
}

fn colour(k: usize) -> &'static str {
    COLOURS.get(k % COLOURS.len()).copied().unwrap_or(GREY)
}

/// Filled, so that lines are seen through it; the rule that paths are not would win over attributes.
fn shaded(element: Element, colour: &str) -> Element {
    element.set("style", &format!("fill:{colour};fill-opacity:.12"))
}

fn styled(element: Element, k: usize) -> Element {
    let dash = DASHES.get(k / COLOURS.len() % DASHES.len()).copied().unwrap_or("");
    let element = element.set("stroke", colour(k)).set("stroke-width", "1.8");
    if dash.is_empty() { element } else { element.set("stroke-dasharray", dash) }
}

/// Place and numbers of each point that is drawn: `px,py,x,y`, apart from each other by spaces.
fn values(series: &Series, mapped: &[(f64, f64)], place: &impl Fn((f64, f64)) -> Point) -> String {
    let drawn = series.points.iter().zip(mapped).filter(|(_, at)| finite(at));
    let words = drawn.map(|((x, y), at)| {
        let at = place(*at);
        format!("{:.0},{:.0},{},{}", at.x, at.y, significant(*x, 4), significant(*y, 4))
    });
    words.collect::<Vec<_>>().join(" ")
}
