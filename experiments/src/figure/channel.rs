//! A channel's value over time, and its derivatives.

use keyfit_autodiff::motion;
use keyfit_ir::{Channel, Node, Rate, Sampler, Target, Track};

use super::axis::{significant, time};
use super::labels::{Area, Labels, Legend};
use super::notes::rate_unit;
use super::panel::{Line, Panel};
use super::svg::{Canvas, Element, Point, point};
use super::trace::{Period, effort};
use super::{Figure, FigureError, MARGIN, cut};

/// A channel as it is drawn.
#[derive(Clone, Debug)]
pub struct Plotted {
    /// The channel: the curve that counts, and the targets that it is held against.
    pub channel: Channel,
    /// What its rates are held against, in the order of [`Rate::ALL`].
    pub rates: [Vec<Target>; Rate::ALL.len()],
    /// The curve before a fit.
    pub before: Option<Track>,
    /// The unit of its values.
    pub unit: Option<String>,
}

impl Plotted {
    /// Its targets for the value, or for a rate of it.
    fn targets(&self, rate: Option<Rate>) -> &[Target] {
        rate.map_or(&self.channel.targets, |rate| &self.rates[rate as usize])
    }

    /// All of its targets.
    pub fn all_targets(&self) -> impl Iterator<Item = &Target> {
        self.channel.targets.iter().chain(self.rates.iter().flatten())
    }

    /// Whether one of its curves has two values in `period`, as far as the places at which curves are looked at first show it.
    pub fn moves(&self, period: Period) -> bool {
        [Some(&self.channel.track), self.before.as_ref()].into_iter().flatten().any(|track| {
            let values = sampled(track, None, &period.grid(&moments(track)));
            // NaN is one value
            values.windows(2).any(|pair| pair[0] != pair[1] && !(pair[0].is_nan() && pair[1].is_nan()))
        })
    }

    /// What is drawn of it: the value, its velocity, and its acceleration where that has targets.
    fn panels(&self) -> impl Iterator<Item = Option<Rate>> {
        let second = Some(Some(Rate::Acceleration)).filter(|rate| !self.targets(*rate).is_empty());
        [None, Some(Rate::Velocity)].into_iter().chain(second)
    }
}

const VALUE_HEIGHT: f64 = 210.0;
const RATE_HEIGHT: f64 = 110.0;
/// From the bottom of a panel to the top of the next, for its heading.
const HEADING: f64 = 30.0;
/// Below a channel's panels, for the times.
const TIMES: f64 = 44.0;
/// Targets in a panel up to which each has its miss in words, each a mark of its own and each is drawn at all.
const FEW: usize = 12;
const MANY: usize = 60;
const TOO_MANY: usize = 1000;

/// The times of the keys that a track passes as the clock does, where it turns or jumps.
pub fn moments(track: &Track) -> Vec<f64> {
    let keyed = track.nodes().iter().filter_map(|node| match node {
        Node::Keyed(keyed) if matches!(track.node(keyed.clock()), Some(Node::Clock)) => Some(keyed),
        _ => None,
    });
    let mut times: Vec<f64> = keyed.flat_map(|keyed| keyed.keys().iter().map(|key| key.time())).collect();
    times.sort_by(f64::total_cmp);
    times.dedup();
    times
}

/// Two panels a channel: the value over time, with keys and targets, and the exact derivative below it; below that the second one, where
/// that has targets.
///
/// # Errors
/// [`FigureError::NoChannel`].
pub fn channel_figure(title: &str, channels: &[Plotted], period: Period) -> Result<Figure, FigureError> {
    if channels.is_empty() {
        return Err(FigureError::NoChannel);
    }
    let mut canvas = Canvas::default();
    canvas.add(Element::text("title", point(MARGIN, 34.0), &cut(title, 52)));
    legend(&mut canvas, channels, period);
    let mut top = 50.0;
    for (n, plotted) in channels.iter().enumerate() {
        let mut panels = plotted.panels().peekable();
        while let Some(rate) = panels.next() {
            let below = (top + HEADING, panels.peek().is_none());
            top = draw_panel(&mut canvas, plotted, rate, period, below, &format!("{}{n}", id(rate)));
        }
        top += TIMES;
    }
    Ok(Figure::new(title, top + 4.0, canvas))
}

/// What the lines and marks are, from the right.
fn legend(canvas: &mut Canvas, channels: &[Plotted], period: Period) {
    let fitted = channels.iter().any(|plotted| plotted.before.is_some());
    let has_targets = channels.iter().any(|plotted| plotted.all_targets().next().is_some());
    let has_keys =
        channels.iter().any(|plotted| moments(&plotted.channel.track).iter().any(|t| period.contains(*t)));
    let mut legend = Legend::new(34.0);
    let line =
        |class| move |at: Point| Element::line(class, point(at.x - 11.0, at.y), point(at.x + 9.0, at.y));
    if has_keys {
        legend.entry(canvas, "key", key_mark);
    }
    if has_targets {
        legend.entry(canvas, "target", target_mark);
    }
    if fitted {
        legend.entry(canvas, "before", line("before"));
        legend.entry(canvas, "fitted", line("curve"));
    }
}

fn key_mark(at: Point) -> Element {
    Element::rect("key", at, 6.0, 6.0).turned(45.0, at)
}

fn target_mark(at: Point) -> Element {
    Element::circle("target", at, 4.5)
}

/// The letter in front of the names of a panel's elements.
fn id(rate: Option<Rate>) -> char {
    match rate {
        None => 'v',
        Some(Rate::Velocity) => 'd',
        Some(Rate::Acceleration) => 'a',
    }
}

/// The heading of a panel.
fn heading(name: &str, rate: Option<Rate>) -> String {
    let (d, dt) = match rate {
        None => return name.into(),
        Some(Rate::Velocity) => ("d", "dt"),
        Some(Rate::Acceleration) => ("d²", "dt²"),
    };
    match name {
        short if short.chars().count() == 1 => format!("{d}{short}/{dt}"),
        long => format!("{d}({})/{dt}", cut(long, 32)),
    }
}

/// The curves of a channel, or of a rate of it: the one before a fit first, so that the other one lies over it.
fn lines(plotted: &Plotted, rate: Option<Rate>, period: Period) -> Vec<Line<'_>> {
    let before = plotted.before.iter().map(|track| ("before", track));
    let tracks = before.chain([("curve", &plotted.channel.track)]);
    // at the last time a rate is that of what comes after, which is not shown
    let last = period.to().next_down();
    let value = |track| -> Box<dyn FnMut(f64) -> f64> {
        let Some(rate) = rate else {
            let mut sampler = Sampler::new(track);
            return Box::new(move |t| sampler.sample_at(&t, &[]));
        };
        Box::new(move |t| sampled(track, Some(rate), &[t.min(last)])[0])
    };
    let line = |(class, track): (_, _)| Line {
        class,
        moments: moments(track),
        effort: effort(track.nodes().len()),
        value: value(track),
    };
    tracks.map(line).collect()
}

/// Draws the value, or a rate of it, in a panel at this height, the last of the channel's or not; gives the height at which it ends.
fn draw_panel(
    canvas: &mut Canvas,
    plotted: &Plotted,
    rate: Option<Rate>,
    period: Period,
    (top, last): (f64, bool),
    id: &str,
) -> f64 {
    let Plotted { channel: Channel { name, track, .. }, before, unit, .. } = plotted;
    let targets = plotted.targets(rate);
    let unit = unit.as_deref().map(|unit| rate_unit(unit, rate));
    let mut lines = lines(plotted, rate, period);
    let (shown, hidden): (Vec<Target>, Vec<Target>) =
        targets.iter().partition(|target| period.contains(target.time));
    // a rate at a target can be off its curve: at the last time, or at a jump
    let times: Vec<f64> = shown.iter().filter(|_| rate.is_some()).map(|target| target.time).collect();
    let reached = sampled(track, rate, &times).into_iter().filter(|value| value.is_finite());
    let beside = shown.iter().map(|target| target.value).chain(reached);
    let (height, ticks) = if rate.is_none() { (VALUE_HEIGHT, 5) } else { (RATE_HEIGHT, 4) };
    let mut panel = Panel::new((top, height), period, &mut lines, beside);
    panel.draw(canvas, (&heading(name, rate), unit.as_deref()), ticks, last);
    let mut labels = Labels::new(panel.area);
    let mut remarks = Vec::new();

    let value = |t: f64| sampled(track, rate, &[t])[0];
    let sample = |t: f64, when: f64| panel.place(t, value(when));
    let mut keys: Vec<Point> = Vec::new();
    // a rate has no keys
    let of_value = |_: &f64| rate.is_none();
    let times: Vec<f64> =
        moments(track).into_iter().filter(of_value).filter(|t| period.contains(*t)).collect();
    if times.len() > MANY {
        remarks.push(("quiet", format!("{} keys, not marked", times.len())));
    } else {
        for &t in &times {
            let here = sample(t, t);
            let left = sample(t, t.next_down()).filter(|_| t > period.from());
            keys.extend(left.filter(|left| here.is_none_or(|here| here.distance(*left) > 1.5)));
            keys.extend(here);
        }
        keys.retain(|place| panel.shows(place));
    }
    let all = shown.len();
    let shown: Vec<Target> = shown.into_iter().step_by(all / TOO_MANY + 1).collect();
    if shown.len() < all {
        remarks.push(("quiet", format!("{} of {all} targets", shown.len())));
    }
    let wanted = |target: &Target| point(panel.x(target.time), panel.y(target.value));
    let mut under = Vec::new();
    for target in &shown {
        let place = wanted(target);
        if shown.len() > MANY {
            under.push(Element::circle("dot", place, 1.6).share("fill-opacity", 0.6));
        } else if let Some(reached) = sample(target.time, target.time).filter(|at| at.distance(place) > 1.0) {
            under.push(Element::line("miss", reached, place));
            labels.avoid_lines(&[vec![reached, place]]);
        }
    }
    let marked = if shown.len() > MANY { &[][..] } else { &shown[..] };
    let marked: Vec<(&Target, Point)> = marked.iter().map(|target| (target, wanted(target))).collect();
    panel.curves(canvas, id, &mut lines, &mut labels, under);

    for place in keys {
        labels.avoid(Area::about(place, 5.0));
        canvas.add(key_mark(place));
    }
    for (_, place) in marked.iter().filter(|(_, place)| panel.shows(place)) {
        labels.avoid(Area::about(*place, 6.0));
        canvas.add(target_mark(*place));
    }
    for (target, place) in marked.iter().filter(|_| marked.len() <= FEW) {
        let miss = (value(target.time) - target.value).abs();
        let text = format!("miss {}", significant(miss, 2));
        labels.place("word", *place, 7.0, &text).into_iter().for_each(|label| canvas.add(label));
    }
    if let Some((t, miss)) = worst_miss(track, rate, targets) {
        let unit = unit.as_deref().map_or(String::new(), |unit| format!(" {unit}"));
        let mut text = match miss {
            0.0 => "all targets are met exactly".into(),
            _ if miss.is_nan() => format!("no value at the target at t = {}", time(t)),
            _ => format!("worst miss {}{unit} at t = {}", significant(miss, 2), time(t)),
        };
        let before = before.as_ref().and_then(|track| worst_miss(track, rate, targets));
        if let Some((_, miss)) = before.filter(|(_, miss)| !miss.is_nan()) {
            text += &format!("; before, up to {}{unit} off", significant(miss, 2));
        }
        remarks.insert(0, ("word", text));
    }
    if !hidden.is_empty() {
        remarks.push(("quiet", format!("targets at other times: {}", hidden.len())));
    }
    panel.remark(canvas, remarks);
    panel.area.bottom
}

/// The track's values, or a rate of theirs, at these times.
fn sampled(track: &Track, rate: Option<Rate>, times: &[f64]) -> Vec<f64> {
    let motion = || motion(track, times, &track.starts()).into_iter();
    match rate {
        None => {
            let mut values = vec![f64::NAN; times.len()];
            track.sample_into(times, &mut values);
            values
        }
        Some(Rate::Velocity) => motion().map(|(_, velocity, _)| velocity).collect(),
        Some(Rate::Acceleration) => motion().map(|(.., acceleration)| acceleration).collect(),
    }
}

/// The target that is missed most: its time, and by how much. A miss that is not a number is the worst.
pub(super) fn worst_miss(track: &Track, rate: Option<Rate>, targets: &[Target]) -> Option<(f64, f64)> {
    let times: Vec<f64> = targets.iter().map(|target| target.time).collect();
    let values = sampled(track, rate, &times);
    let misses =
        targets.iter().zip(values).map(|(target, value)| (target.time, (value - target.value).abs()));
    misses.reduce(|worst, miss| if worst.1 >= miss.1 || worst.1.is_nan() { worst } else { miss })
}
