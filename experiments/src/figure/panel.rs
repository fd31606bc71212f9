//! A frame with curves over time.

use super::axis::Scale;
use super::labels::{Area, Labels};
use super::svg::{Canvas, Element, Point, point};
use super::trace::{Period, trace};
use super::{MARGIN, WIDTH, cut};

/// Left of the panels, for the numbers along them.
const GUTTER: f64 = 62.0;
/// A stroke or mark on the frame is not cut in half.
const EDGE: f64 = 2.0;

/// A curve of a panel.
pub(super) struct Line<'a> {
    /// What it looks like.
    pub class: &'static str,
    /// Times at which it may turn or jump.
    pub moments: Vec<f64>,
    /// How often it can be looked at closely.
    pub effort: usize,
    /// Its value at a time.
    pub value: Box<dyn FnMut(f64) -> f64 + 'a>,
}

/// What a panel's curves are like, as far as it cannot be seen.
#[derive(Clone, Copy, Default)]
pub(super) struct Oddities {
    pole: bool,
    dense: bool,
    blank: bool,
}

impl Oddities {
    pub(super) fn words(self) -> Vec<(&'static str, String)> {
        let words = [
            (self.blank, "no finite value"),
            (self.pole, "grows beyond the panel"),
            (self.dense, "varies faster than lines can show"),
        ];
        words.into_iter().filter(|(is, _)| *is).map(|(_, text)| ("quiet", text.to_string())).collect()
    }
}

/// Where curves are drawn.
#[derive(Clone, Copy)]
pub(super) struct Panel {
    pub area: Area,
    pub period: Period,
    pub scale: Scale,
    oddities: Oddities,
}

impl Panel {
    /// For these curves, and these values beside them.
    pub(super) fn new(
        (top, height): (f64, f64),
        period: Period,
        lines: &mut [Line<'_>],
        beside: impl Iterator<Item = f64>,
    ) -> Panel {
        let (left, right) = (MARGIN + GUTTER, WIDTH - MARGIN);
        let area = Area { left, top, right, bottom: top + height };
        let mut scale = Scale::of(beside);
        let mut oddities = Oddities::default();
        for line in lines {
            let (own, pole) = scale_of(period, line);
            scale = [scale, own].into_iter().flatten().reduce(Scale::with);
            oddities.pole |= pole;
        }
        let scale = scale.unwrap_or(Scale { low: 0.0, high: 0.0 }).padded(0.08);
        Panel { area, period, scale, oddities }
    }

    pub(super) fn x(&self, t: f64) -> f64 {
        let Area { left, right, .. } = self.area;
        let (from, to) = (self.period.from(), self.period.to());
        left + (right - left) * ((t - from) / (to - from))
    }

    /// The height of a value; far outside, all are the same.
    pub(super) fn y(&self, value: f64) -> f64 {
        let Area { top, bottom, .. } = self.area;
        bottom - (bottom - top) * self.scale.share(value).clamp(-1.0, 2.0)
    }

    pub(super) fn place(&self, t: f64, value: f64) -> Option<Point> {
        value.is_finite().then(|| point(self.x(t), self.y(value)))
    }

    /// Whether a place is seen.
    pub(super) fn shows(&self, place: &Point) -> bool {
        (self.area.top - EDGE..=self.area.bottom + EDGE).contains(&place.y)
    }

    /// Frame and grid with `about` so many numbers, those of the time if `times`, and the heading.
    pub(super) fn draw(
        &self,
        canvas: &mut Canvas,
        (name, unit): (&str, Option<&str>),
        about: u32,
        times: bool,
    ) {
        let Area { left, top, right, bottom } = self.area;
        for (value, text) in self.scale.ticks(about) {
            let y = self.y(value);
            canvas.add(Element::line("grid", point(left, y), point(right, y)));
            canvas.add(Element::text("small quiet end", point(left - 8.0, y + 4.0), &text));
        }
        let along = Scale { low: self.period.from(), high: self.period.to() };
        for (t, text) in along.ticks(10) {
            let x = self.x(t);
            canvas.add(Element::line("grid", point(x, top), point(x, bottom)));
            if times {
                canvas.add(Element::text("small quiet middle", point(x, bottom + 16.0), &text));
            }
        }
        canvas.add(Element::rect("frame", self.middle(), right - left, bottom - top));
        if times {
            canvas.add(Element::text("small quiet end", point(left - 40.0, bottom + 16.0), "t"));
        }
        let heading = Element::text("", point(left, top - 9.0), "");
        let heading = heading.child(Element::new("tspan").class("name").content(&cut(name, 40)));
        let unit =
            unit.map(|unit| Element::new("tspan").class("quiet").set("dx", "7").content(&cut(unit, 20)));
        canvas.add(unit.into_iter().fold(heading, Element::child));
    }

    fn middle(&self) -> Point {
        let Area { left, top, right, bottom } = self.area;
        point((left + right) / 2.0, (top + bottom) / 2.0)
    }

    /// The curves, and what lies under them; all of it is cut off at the frame.
    pub(super) fn curves(
        &mut self,
        canvas: &mut Canvas,
        id: &str,
        lines: &mut [Line<'_>],
        labels: &mut Labels,
        under: Vec<Element>,
    ) {
        let Area { left, top, right, bottom } = self.area;
        let clip = Element::rect("", self.middle(), right - left + 2.0 * EDGE, bottom - top + 2.0 * EDGE);
        canvas.add(Element::new("clipPath").set("id", id).child(clip));
        let group = Element::new("g").set("clip-path", &format!("url(#{id})"));
        let mut drawn = under.into_iter().fold(group, Element::child);
        self.oddities.blank = true;
        for Line { class, moments, effort, value } in lines {
            let traced = trace(self.period, moments, *effort, |t| self.place(t, value(t)));
            self.oddities.dense |= traced.dense;
            self.oddities.blank &= traced.runs.is_empty();
            labels.avoid_lines(&traced.runs);
            drawn = drawn.child(Element::path(class, &traced.runs));
        }
        canvas.add(drawn);
    }

    /// Remarks right of the heading, and what else there is to say about the curves.
    pub(super) fn remark(&self, canvas: &mut Canvas, mut remarks: Vec<(&'static str, String)>) {
        remarks.extend(self.oddities.words());
        let at = point(self.area.right, self.area.top - 9.0);
        let spans = remarks.iter().enumerate().map(|(i, (class, remark))| {
            let between = if i > 0 { " · " } else { "" };
            Element::new("tspan").class(class).content(&format!("{between}{remark}"))
        });
        if !remarks.is_empty() {
            canvas.add(spans.fold(Element::text("end", at, ""), Element::child));
        }
    }
}

/// The scale that shows a curve: all of it, but of a pole only the beginning.
fn scale_of(period: Period, line: &mut Line<'_>) -> (Option<Scale>, bool) {
    let times = period.grid(&line.moments);
    let values: Vec<f64> = times.iter().map(|&t| (line.value)(t)).collect();
    let pole = values.iter().any(|x| x.is_infinite()) || is_pole(&times, &values, &mut line.value);
    let mut finite: Vec<f64> = values.into_iter().filter(|x| x.is_finite()).collect();
    finite.sort_by(f64::total_cmp);
    let at = |share: f64| finite.get((share * (finite.len().max(1) - 1) as f64) as usize).copied();
    let whole = Scale::of([at(0.0), at(1.0)].into_iter().flatten());
    let most = Scale::of([at(0.04), at(0.96)].into_iter().flatten());
    match (pole, whole, most) {
        (true, Some(whole), Some(most)) if most.size() > 0.0 => {
            let near = most.padded(0.25);
            let kept = Scale { low: near.low.max(whole.low), high: near.high.min(whole.high) };
            (Some(kept), true)
        }
        _ => (whole, false),
    }
}

/// Whether the largest value grows without end when it is looked at closely.
fn is_pole(times: &[f64], values: &[f64], mut value: impl FnMut(f64) -> f64) -> bool {
    let largest = values.iter().enumerate().filter(|(_, x)| x.is_finite());
    let Some((k, found)) = largest.max_by(|a, b| a.1.abs().total_cmp(&b.1.abs())) else { return false };
    let mut best = (times[k], found.abs());
    let (mut before, mut after) = (times[k.saturating_sub(1)], times[(k + 1).min(times.len() - 1)]);
    for _ in 0..60 {
        let between = [before, after].map(|end| end + (best.0 - end) / 2.0);
        let tried = between.map(|t| (t, value(t).abs()));
        match tried.into_iter().find(|(_, size)| *size > best.1) {
            Some(higher) if higher.0 < best.0 => (best, after) = (higher, best.0),
            Some(higher) => (best, before) = (higher, best.0),
            None => (before, after) = (between[0], between[1]),
        }
    }
    best.1 > 50.0 * found.abs()
}
