//! A scene as a strobe light shows it: its rects at several times on the wall, and where they must be.

use std::collections::HashMap;

use keyfit_ir::{Quantity, Rect, Sampler, Scene, Wall};

use super::axis::{Scale, significant, time};
use super::channel::moments;
use super::labels::{Area, Labels, Legend};
use super::notes::{Lost, notes};
use super::strobe::Strobe;
use super::svg::{Canvas, Element, Point, point};
use super::trace::{Period, effort, trace};
use super::{Figure, FigureError, MARGIN, WIDTH, cut};

/// A version of a scene: a row of its figure.
#[derive(Clone, Debug)]
pub struct Band {
    /// What the row is called.
    pub name: String,
    /// The scene, with the values of its parameters and its targets.
    pub scene: Scene,
    /// A remark.
    pub note: Option<String>,
}

impl Band {
    /// A band without a remark.
    pub fn new(name: &str, scene: Scene) -> Band {
        Band { name: name.into(), scene, note: None }
    }
}

/// Left of the pictures, for their names and notes.
const COLUMN: f64 = 212.0;
/// The most that a picture takes.
const PICTURE: (f64, f64) = (WIDTH - 2.0 * MARGIN - COLUMN, 400.0);
/// The least height of a picture, where the motion is all along a line.
const LEAST_HEIGHT: f64 = 96.0;
/// Above the first band.
const HEADER: f64 = 84.0;
/// Between bands.
const GAP: f64 = 40.0;
/// A rect is never drawn smaller, so that one without size is seen too.
const LEAST_RECT: f64 = 3.0;
/// Targets that have a mark of their own; with more than some of them, marks have no outlines, and no words.
const TARGETS: usize = 400;
const MANY: usize = 60;
const FEW: usize = 24;
/// Where motion leaves the wall, the view grows with it, on each side by no more than this share of the wall's size.
const GROWTH: f64 = 1.0;

/// One row a band: the wall, the rects at some of their frames, the paths of their middles, the targets, and notes.
///
/// All bands are drawn to one scale, and the later a rect is, the more solid. The first band's scene says how long the
/// scene runs, unless `period` does.
///
/// # Errors
/// [`FigureError::NoRect`], [`FigureError::NoPeriod`].
pub fn scene_figure(title: &str, bands: &[Band], period: Option<Period>) -> Result<Figure, FigureError> {
    let first = bands.first().filter(|band| !band.scene.rects.is_empty()).ok_or(FigureError::NoRect)?;
    let whole = || Period::new(0.0, first.scene.duration?);
    let period = period.or_else(whole).ok_or(FigureError::NoPeriod)?;
    let strobe = Strobe::new(period, first.scene.fps);
    let view = View::of(bands, period, &strobe);

    let mut canvas = Canvas::default();
    canvas.add(Element::text("title", point(MARGIN, 36.0), &cut(title, 80)));
    canvas.add(Element::text("quiet", point(MARGIN, 57.0), &strobe.words(period)));
    if bands.iter().any(|band| band.scene.rects.iter().any(|rect| !marks(rect).is_empty())) {
        legend(&mut canvas);
    }
    let mut top = HEADER;
    for (n, (band, &up)) in bands.iter().zip(&view.bands).enumerate() {
        let View { x: across, scale, .. } = view;
        let (left, height) = (MARGIN + COLUMN, up.size() * scale);
        let area = Area { left, top, right: left + across.size() * scale, bottom: top + height };
        let picture = Picture { across, up, scale, area, period, strobe: &strobe };
        let remarks = picture.draw(&mut canvas, &band.scene, &format!("b{n}"));
        top += height.max(notes(&mut canvas, band, top, remarks) - top) + GAP;
    }
    Ok(Figure::new(title, top - GAP + MARGIN + 8.0, canvas))
}

/// What the marks mean, in the upper right corner.
fn legend(canvas: &mut Canvas) {
    let mut legend = Legend::new(36.0);
    legend.entry(canvas, "miss", |at| {
        let from = point(at.x - 11.0, at.y);
        let line = Element::line("miss", from, point(at.x + 9.0, at.y));
        Element::new("g").child(line).child(Element::circle("dot", from, 2.5))
    });
    legend.entry(canvas, "target", |at| {
        let outline = Element::rect("ghost", at, 18.0, 14.0);
        Element::new("g").child(outline).child(cross(at))
    });
}

/// What the pictures show, and how large.
struct View {
    x: Scale,
    /// A picture's height, for each band.
    bands: Vec<Scale>,
    /// Pixels a unit, the same for both directions and all bands.
    scale: f64,
}

impl View {
    fn of(bands: &[Band], period: Period, strobe: &Strobe) -> View {
        let boxes = bands.iter().map(|band| bounds(&band.scene, period, strobe));
        let (across, up): (Vec<Scale>, Vec<Scale>) = boxes.unzip();
        let x = across.into_iter().reduce(Scale::with).unwrap_or(NOWHERE);
        let highest = up.iter().map(|y| y.size()).fold(0.0, f64::max);
        // the same little more on all sides
        let larger = x.size().max(highest);
        let far = [x].iter().chain(&up).map(|along| along.middle().abs()).fold(1.0, f64::max);
        let more = if larger > far * 1e-12 { larger * 0.02 } else { far * 0.5 };
        let scale = (PICTURE.0 / (x.size() + 2.0 * more)).min(PICTURE.1 / (highest + 2.0 * more));
        let wider = |along: Scale, least: f64| {
            let half = (along.size() / 2.0 + more).max(least / scale / 2.0);
            Scale { low: along.middle() - half, high: along.middle() + half }
        };
        View {
            x: wider(x, PICTURE.0),
            bands: up.into_iter().map(|y| wider(y, LEAST_HEIGHT)).collect(),
            scale,
        }
    }
}

/// What is shown where there is nothing.
const NOWHERE: Scale = Scale { low: -1.0, high: 1.0 };

/// What a scene needs, across and up: the wall, what moves, and the targets, but little more than the wall.
fn bounds(scene: &Scene, period: Period, strobe: &Strobe) -> (Scale, Scale) {
    let mut motion: Option<(Scale, Scale)> = None;
    let mut include = |x: Option<Scale>, y: Option<Scale>| {
        motion = [motion, x.zip(y)].into_iter().flatten().reduce(|a, b| (a.0.with(b.0), a.1.with(b.1)));
    };
    for rect in &scene.rects {
        let mut moving = Moving::new(rect);
        let times = period.grid(&moving.moments()).into_iter().chain(strobe.times.iter().copied());
        for t in times {
            if let Some(Pose { x, y, w, h, rotate }) = moving.pose(t) {
                let (sin, cos) = (core_math::sin(rotate).abs(), core_math::cos(rotate).abs());
                let (a, b) = ((w * cos + h * sin) / 2.0, (w * sin + h * cos) / 2.0);
                include(Scale::of([x - a, x + a]), Scale::of([y - b, y + b]));
            }
        }
        for mark in marks(rect) {
            let pose = moving.pose(mark.time);
            let at = |wanted: Option<f64>, reached: Option<f64>| Scale::of(wanted.or(reached));
            include(at(mark.x, pose.map(|pose| pose.x)), at(mark.y, pose.map(|pose| pose.y)));
        }
    }
    let Some(wall) = wall(scene) else { return motion.unwrap_or((NOWHERE, NOWHERE)) };
    let grown = |size: f64, motion: Option<Scale>| {
        let wall = Scale { low: -size / 2.0, high: size / 2.0 };
        let most = wall.padded(GROWTH);
        let all = motion.map_or(wall, |motion| wall.with(motion));
        Scale { low: all.low.max(most.low), high: all.high.min(most.high) }
    };
    let (x, y) = motion.unzip();
    (grown(wall.width, x), grown(wall.height, y))
}

/// The wall, if it can be drawn.
fn wall(scene: &Scene) -> Option<&Wall> {
    let drawable = |size: f64| size > 0.0 && size < 1e300;
    scene.wall.as_ref().filter(|wall| drawable(wall.width) && drawable(wall.height))
}

/// Where a rect is at one time; all finite, sizes not negative.
#[derive(Clone, Copy)]
struct Pose {
    x: f64,
    y: f64,
    w: f64,
    h: f64,
    rotate: f64,
}

/// A rect, ready to be asked.
struct Moving<'a> {
    rect: &'a Rect,
    samplers: [Sampler<f64>; Quantity::ALL.len()],
}

impl<'a> Moving<'a> {
    fn new(rect: &'a Rect) -> Moving<'a> {
        Moving { rect, samplers: rect.tracks.each_ref().map(Sampler::new) }
    }

    fn value(&mut self, quantity: Quantity, t: f64) -> f64 {
        self.samplers[quantity as usize].sample_at(&t, &[])
    }

    /// Nothing where a quantity is not finite.
    fn pose(&mut self, t: f64) -> Option<Pose> {
        let [x, y, w, h, rotate] = Quantity::ALL.map(|quantity| self.value(quantity, t));
        let all = [x, y, w, h, rotate].iter().all(|value| value.is_finite());
        all.then(|| Pose { x, y, w: w.abs(), h: h.abs(), rotate })
    }

    /// The times of the keys that move its middle.
    fn moments(&self) -> Vec<f64> {
        [Quantity::X, Quantity::Y]
            .into_iter()
            .flat_map(|quantity| moments(self.rect.track(quantity)))
            .collect()
    }
}

/// Where the middle of a rect must be at a time: in one direction or both.
struct Mark {
    time: f64,
    x: Option<f64>,
    y: Option<f64>,
}

/// The marks of a rect: targets of x and y at one time are one.
fn marks(rect: &Rect) -> Vec<Mark> {
    let targets = |quantity: Quantity| rect.targets[quantity as usize].iter();
    let mut marks: Vec<Mark> = targets(Quantity::X)
        .map(|target| Mark { time: target.time, x: Some(target.value), y: None })
        .collect();
    // those that may still have a y
    let mut open: HashMap<u64, usize> =
        marks.iter().enumerate().map(|(i, mark)| (mark.time.to_bits(), i)).collect();
    for target in targets(Quantity::Y) {
        match open.remove(&target.time.to_bits()) {
            Some(i) => marks[i].y = Some(target.value),
            None => marks.push(Mark { time: target.time, x: None, y: Some(target.value) }),
        }
    }
    marks
}

/// One band's picture.
struct Picture<'a> {
    across: Scale,
    up: Scale,
    /// Pixels a unit.
    scale: f64,
    area: Area,
    period: Period,
    strobe: &'a Strobe,
}

impl Picture<'_> {
    fn place(&self, x: f64, y: f64) -> Point {
        let Area { left, bottom, .. } = self.area;
        point(left + (x - self.across.low) * self.scale, bottom - (y - self.up.low) * self.scale)
    }

    fn shows(&self, x: f64, y: f64) -> bool {
        let holds = |along: Scale, value: f64| (along.low..=along.high).contains(&value);
        holds(self.across, x) && holds(self.up, y)
    }

    /// The wall's corners, lower left and upper right, or those of the view.
    fn reach(&self, scene: &Scene) -> (Point, Point) {
        match wall(scene) {
            Some(wall) => {
                let (a, b) = (wall.width / 2.0, wall.height / 2.0);
                (self.place(-a, -b), self.place(a, b))
            }
            None => (self.place(self.across.low, self.up.low), self.place(self.across.high, self.up.high)),
        }
    }

    /// Draws, and gives remarks about what cannot be seen.
    fn draw(&self, canvas: &mut Canvas, scene: &Scene, id: &str) -> Vec<String> {
        let Area { left, top, right, bottom } = self.area;
        let middle = point((left + right) / 2.0, (top + bottom) / 2.0);
        let clip = Element::rect("", middle, right - left, bottom - top);
        canvas.add(Element::new("clipPath").set("id", id).child(clip));
        let mut drawn = Element::new("g").set("clip-path", &format!("url(#{id})"));
        match wall(scene) {
            Some(wall) => drawn = drawn.child(self.wall(wall)),
            None => canvas.add(Element::rect("frame", middle, right - left, bottom - top)),
        }
        let (lower, upper) = self.reach(scene);
        let origin = self.place(0.0, 0.0);
        if lower.y > origin.y && origin.y > upper.y {
            drawn = drawn.child(Element::line("grid", point(lower.x, origin.y), point(upper.x, origin.y)));
        }
        if lower.x < origin.x && origin.x < upper.x {
            drawn = drawn.child(Element::line("grid", point(origin.x, lower.y), point(origin.x, upper.y)));
        }
        if let Some(wall) = wall(scene) {
            let at = point(upper.x.min(right), lower.y.min(bottom) + 15.0);
            let size = [wall.width, wall.height].map(|size| significant(size, 6));
            let words = format!("{} × {} {}", size[0], size[1], wall.unit);
            canvas.add(Element::text("small quiet end", at, &cut(&words, 60)));
        }
        let (mut labels, mut words) = (Labels::new(self.area), Vec::new());
        let mut lost = Lost::default();
        let several = scene.rects.len() > 1;
        for rect in &scene.rects {
            drawn = self.strobes(drawn, rect, &mut lost);
        }
        for rect in &scene.rects {
            drawn = self.path(drawn, rect, &mut labels, &mut lost);
        }
        for rect in &scene.rects {
            for mark in marks(rect).into_iter().take(TARGETS) {
                if let Some(at) = self.aim(&mark, &mut Moving::new(rect)) {
                    labels.avoid(Area::about(at, 6.0));
                }
            }
        }
        for rect in &scene.rects {
            drawn = self.targets(drawn, scene, rect, &mut labels, &mut words, &mut lost);
        }
        let times =
            words.into_iter().filter_map(|word| labels.place("word", word.about, word.away, &word.text));
        drawn = times.fold(drawn, Element::child);
        if several {
            for rect in &scene.rects {
                let mut moving = Moving::new(rect);
                let last = self.strobe.times.iter().rev().find_map(|t| moving.pose(*t));
                if let Some(Pose { x, y, h, .. }) = last {
                    let away = (h * self.scale / 2.0).max(LEAST_RECT);
                    let label = labels.place("", self.place(x, y), away + 3.0, &cut(&rect.name, 24));
                    drawn = label.into_iter().fold(drawn, Element::child);
                }
            }
        }
        canvas.add(drawn);
        lost.words(self.strobe.times.len() * scene.rects.len())
    }

    fn wall(&self, wall: &Wall) -> Element {
        Element::rect("wall", self.place(0.0, 0.0), wall.width * self.scale, wall.height * self.scale)
    }

    fn strobes(&self, drawn: Element, rect: &Rect, lost: &mut Lost) -> Element {
        let mut moving = Moving::new(rect);
        let mut group = Element::new("g").class(if rect.fill.is_some() { "edge" } else { "edge fill" });
        if let Some(fill) = rect.fill {
            group = group.set("fill", &fill.to_string());
        }
        let last = (self.strobe.times.len().max(2) - 1) as f64;
        for (k, &t) in self.strobe.times.iter().enumerate() {
            let Some(pose @ Pose { x, y, w, h, .. }) = moving.pose(t) else {
                lost.undefined += 1;
                continue;
            };
            if !self.shows(x, y) {
                lost.outside += 1;
                continue;
            }
            let age = k as f64 / last;
            let size = |length: f64| (length * self.scale).max(LEAST_RECT);
            let at = self.place(x, y);
            let element = Element::rect("", at, size(w), size(h))
                .share("fill-opacity", 0.08 + 0.72 * age)
                .share("stroke-opacity", 0.08 + 0.32 * age);
            group = group.child(turned(element, pose, at));
        }
        drawn.child(group)
    }

    fn path(&self, drawn: Element, rect: &Rect, labels: &mut Labels, lost: &mut Lost) -> Element {
        let mut moving = Moving::new(rect);
        let moments = moving.moments();
        let nodes = [Quantity::X, Quantity::Y].map(|quantity| rect.track(quantity).nodes().len());
        let traced = trace(self.period, &moments, effort(nodes[0] + nodes[1]), |t| {
            let (x, y) = (moving.value(Quantity::X, t), moving.value(Quantity::Y, t));
            // what lies far outside is drawn where it no longer matters
            let near =
                |along: Scale, value: f64| value.clamp(along.low - along.size(), along.high + along.size());
            (x.is_finite() && y.is_finite()).then(|| self.place(near(self.across, x), near(self.up, y)))
        });
        lost.dense |= traced.dense;
        labels.avoid_lines(&traced.runs);
        match traced.runs.is_empty() {
            true => drawn,
            false => drawn.child(Element::path("trail", &traced.runs)),
        }
    }

    /// The place of a mark: where the target is, and in a direction without one where the rect is.
    fn aim(&self, mark: &Mark, moving: &mut Moving<'_>) -> Option<Point> {
        let mut at =
            |wanted: Option<f64>, quantity| wanted.unwrap_or_else(|| moving.value(quantity, mark.time));
        let (x, y) = (at(mark.x, Quantity::X), at(mark.y, Quantity::Y));
        self.shows(x, y).then(|| self.place(x, y))
    }

    fn targets(
        &self,
        drawn: Element,
        scene: &Scene,
        rect: &Rect,
        labels: &mut Labels,
        words: &mut Vec<Word>,
        lost: &mut Lost,
    ) -> Element {
        let mut moving = Moving::new(rect);
        let (lower, upper) = self.reach(scene);
        let marks = marks(rect);
        let (mut ghosts, mut crosses) = (Vec::new(), Vec::new());
        lost.targets += marks.len().saturating_sub(TARGETS);
        for mark in marks.iter().take(TARGETS) {
            let Some(at) = self.aim(mark, &mut moving) else {
                lost.targets += 1;
                continue;
            };
            let pose = moving.pose(mark.time);
            let text = format!("{} s", time(mark.time));
            match (mark.x, mark.y) {
                (Some(_), None) => {
                    ghosts.push(Element::line("ghost", point(at.x, lower.y), point(at.x, upper.y)));
                    labels.avoid(Area { left: at.x, right: at.x, top: upper.y, bottom: lower.y });
                    words.push(Word { about: point(at.x, upper.y + 10.0), away: 6.0, text });
                }
                (None, Some(_)) => {
                    ghosts.push(Element::line("ghost", point(lower.x, at.y), point(upper.x, at.y)));
                    labels.avoid(Area { left: lower.x, right: upper.x, top: at.y, bottom: at.y });
                    words.push(Word { about: point(upper.x - 20.0, at.y), away: 5.0, text });
                }
                _ => {
                    let side = |length: f64| (length * self.scale).max(2.0 * LEAST_RECT);
                    let ghost = pose
                        .map(|pose| turned(Element::rect("ghost", at, side(pose.w), side(pose.h)), pose, at));
                    let half = pose.map_or(0.0, |pose| side(pose.h) / 2.0);
                    words.push(Word { about: at, away: half.max(5.0) + 3.0, text });
                    ghosts.extend(ghost);
                }
            }
            let reached = pose.map(|pose| self.place(pose.x, pose.y));
            if let Some(reached) = reached.filter(|reached| reached.distance(at) > 1.0) {
                crosses.push(Element::line("miss", reached, at));
                crosses.push(Element::circle("dot", reached, 2.5));
                labels.avoid_lines(&[vec![reached, at]]);
            }
            crosses.push(cross(at));
        }
        if marks.len() > MANY {
            ghosts.clear();
        }
        if marks.len() > FEW {
            words.clear();
        }
        ghosts.into_iter().chain(crosses).fold(drawn, Element::child)
    }
}

/// A word, before it has found its place.
struct Word {
    about: Point,
    away: f64,
    text: String,
}

/// Turned as the rect is; a whole turn changes nothing, and SVG turns clockwise.
fn turned(element: Element, pose: Pose, about: Point) -> Element {
    match (-pose.rotate % std::f64::consts::TAU).to_degrees() {
        0.0 => element,
        degrees => element.turned(degrees, about),
    }
}

fn cross(at: Point) -> Element {
    let arm = 5.0;
    let runs = [
        vec![point(at.x - arm, at.y), point(at.x + arm, at.y)],
        vec![point(at.x, at.y - arm), point(at.x, at.y + arm)],
    ];
    Element::path("target", &runs)
}
