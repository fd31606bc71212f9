//! A channel's value over time, and its derivative.

use keyfit_autodiff::{motion, time_derivatives};
use keyfit_ir::{Channel, Node, Rate, Sampler, Target, Track};

use super::axis::{significant, time};
use super::labels::{Area, Labels, Legend};
use super::panel::{Line, Panel};
use super::svg::{Canvas, Element, Point, point};
use super::trace::{Period, effort};
use super::{Figure, FigureError, MARGIN, cut};

/// A channel as it is drawn.
#[derive(Clone, Debug)]
pub struct Plotted {
    /// The channel: the curve that counts, and the targets that it is held against.
    pub channel: Channel,
    /// The curve before a fit.
    pub before: Option<Track>,
    /// The unit of its values.
    pub unit: Option<String>,
}

const VALUE_HEIGHT: f64 = 210.0;
const DERIVATIVE_HEIGHT: f64 = 110.0;
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

/// Two panels a channel: the value over time, with keys and targets, and the exact derivative below it.
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
        let bottom = draw_values(&mut canvas, plotted, period, top + HEADING, &format!("v{n}"));
        top = draw_derivative(&mut canvas, plotted, period, bottom + HEADING, &format!("d{n}")) + TIMES;
    }
    Ok(Figure::new(title, top + 4.0, canvas))
}

/// What the lines and marks are, from the right.
fn legend(canvas: &mut Canvas, channels: &[Plotted], period: Period) {
    let fitted = channels.iter().any(|plotted| plotted.before.is_some());
    let has_targets = channels.iter().any(|plotted| !plotted.channel.targets.is_empty());
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

/// The curves of a channel: the one before a fit first, so that the other one lies over it.
fn lines<'a, F: FnMut(f64) -> f64 + 'a>(
    plotted: &'a Plotted,
    value: impl Fn(&'a Track) -> F,
) -> Vec<Line<'a>> {
    let before = plotted.before.iter().map(|track| ("before", track));
    let tracks = before.chain([("curve", &plotted.channel.track)]);
    let line = |(class, track): (_, &'a Track)| Line {
        class,
        moments: moments(track),
        effort: effort(track.nodes().len()),
        value: Box::new(value(track)),
    };
    tracks.map(line).collect()
}

/// Draws the value in a panel at this height; gives the height at which it ends.
fn draw_values(canvas: &mut Canvas, plotted: &Plotted, period: Period, top: f64, id: &str) -> f64 {
    let Plotted { channel: Channel { name, track, targets }, before, unit } = plotted;
    let mut lines = lines(plotted, |track| {
        let mut sampler = Sampler::new(track);
        move |t| sampler.sample_at(&t, &[])
    });
    let (shown, hidden): (Vec<Target>, Vec<Target>) =
        targets.iter().partition(|target| period.contains(target.time));
    let beside = shown.iter().map(|target| target.value);
    let mut panel = Panel::new((top, VALUE_HEIGHT), period, &mut lines, beside);
    panel.draw(canvas, (name, unit.as_deref()), 5, false);
    let mut labels = Labels::new(panel.area);
    let mut remarks = Vec::new();

    let sample = |t: f64, when: f64| panel.place(t, track.sample(when));
    let mut keys: Vec<Point> = Vec::new();
    let times: Vec<f64> = moments(track).into_iter().filter(|t| period.contains(*t)).collect();
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
        let miss = (track.sample(target.time) - target.value).abs();
        let text = format!("miss {}", significant(miss, 2));
        labels.place("word", *place, 7.0, &text).into_iter().for_each(|label| canvas.add(label));
    }
    if let Some((t, miss)) = worst_miss(track, None, targets) {
        let unit = unit.as_deref().map_or(String::new(), |unit| format!(" {unit}"));
        let mut text = match miss {
            0.0 => "all targets are met exactly".into(),
            _ if miss.is_nan() => format!("no value at the target at t = {}", time(t)),
            _ => format!("worst miss {}{unit} at t = {}", significant(miss, 2), time(t)),
        };
        let before = before.as_ref().and_then(|track| worst_miss(track, None, targets));
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

/// Draws the derivative in time, as [`draw_values`] does the value.
fn draw_derivative(canvas: &mut Canvas, plotted: &Plotted, period: Period, top: f64, id: &str) -> f64 {
    let mut lines = lines(plotted, |track| {
        let parameters = track.starts();
        // at the last time it is that of what comes after, which is not shown
        let last = period.to().next_down();
        move |t| time_derivatives(track, t.min(last), &parameters).1
    });
    let mut panel = Panel::new((top, DERIVATIVE_HEIGHT), period, &mut lines, std::iter::empty());
    let unit = plotted.unit.as_ref().map(|unit| format!("{unit}/s"));
    let name = match plotted.channel.name.as_str() {
        short if short.chars().count() == 1 => format!("d{short}/dt"),
        long => format!("d({})/dt", cut(long, 32)),
    };
    panel.draw(canvas, (&name, unit.as_deref()), 4, true);
    let mut labels = Labels::new(panel.area);
    panel.curves(canvas, id, &mut lines, &mut labels, Vec::new());
    panel.remark(canvas, Vec::new());
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
