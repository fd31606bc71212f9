//! Curves as the lines that show them: as few places as look the same, and a gap where there is a jump.

use super::svg::{Point, point};

/// Times from one to a later one, both finite, as is the time between them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Period {
    from: f64,
    to: f64,
}

impl Period {
    /// From `from` to `to`; `None` unless these are finite, `from` is the earlier, and there is a finite time between
    /// them.
    pub fn new(from: f64, to: f64) -> Option<Period> {
        (from < to && (to - from).is_finite()).then_some(Period { from, to })
    }

    /// Its first time.
    pub fn from(self) -> f64 {
        self.from
    }

    /// Its last time.
    pub fn to(self) -> f64 {
        self.to
    }

    /// Whether `t` lies in it, ends included.
    pub fn contains(self, t: f64) -> bool {
        (self.from..=self.to).contains(&t)
    }

    /// The times that every curve is looked at first: steps, and some of the `moments` at which it may turn or jump, with
    /// what is just before them.
    pub(super) fn grid(self, moments: &[f64]) -> Vec<f64> {
        let mut times: Vec<f64> = self.steps(STEPS).collect();
        let inside: Vec<f64> = moments.iter().copied().filter(|t| self.contains(*t)).collect();
        let some = inside.iter().step_by(inside.len() / MOMENTS + 1);
        times.extend(some.flat_map(|t| [t.next_down().max(self.from), *t]));
        times.sort_by(f64::total_cmp);
        times.dedup();
        times
    }

    /// `n` steps of the same length: n + 1 times, the ends among them.
    pub(super) fn steps(self, n: u32) -> impl Iterator<Item = f64> {
        let at = move |k| self.from + (self.to - self.from) * (f64::from(k) / f64::from(n.max(1)));
        (0..=n).map(move |k| if k == n { self.to } else { at(k) })
    }
}

/// Steps that every curve is looked at with, before it is looked at more closely where it bends.
const STEPS: u32 = 1024;
/// Places farther apart than this, in pixels, at neighbouring times are a jump; nearer ones are one line to the eye.
const JUMP: f64 = 1.5;
/// How far, in pixels, a line may be from its curve.
const FLAT: f64 = 0.15;
/// How often a curve is looked at between two of its first times at most: enough to find two jumps.
const LOOKS: usize = 120;
/// About how many moments are heeded at most: more than there are pixels.
const MOMENTS: usize = 1024;
/// The nodes of tracks that are evaluated for a curve at most, but for its first times: some tenths of a second.
const NODES: usize = 1 << 27;
/// The places that one step may need before only its extremes are drawn.
const PLACES: usize = 8;

/// A place that was looked at, if there is one: a track can be infinite or not a number.
#[derive(Clone, Copy)]
struct Seen {
    t: f64,
    place: Option<Point>,
}

/// A curve as lines.
#[derive(Clone, Debug, Default)]
pub(super) struct Traced {
    /// What is drawn through; a gap lies between one run and the next.
    pub runs: Vec<Vec<Point>>,
    /// Whether there is more in it than lines can show.
    pub dense: bool,
}

/// How often a curve can be looked at closely that comes from so many nodes.
pub(super) fn effort(nodes: usize) -> usize {
    NODES / nodes.max(1)
}

/// The runs of a curve over a period, looked at closely `effort` times at most.
///
/// `place` gives the curve's place in pixels. `moments` are times at which it may turn or jump. Between two neighbours
/// that are far apart the curve is looked at again and again in the middle, until it is flat, or until there is no
/// time between them: that is a jump, and so a slanted line is never drawn for one, nor a gap for what is only steep.
pub(super) fn trace(
    period: Period,
    moments: &[f64],
    effort: usize,
    mut place: impl FnMut(f64) -> Option<Point>,
) -> Traced {
    let times = period.grid(moments);
    let mut look = |t: f64| Seen { t, place: place(t) };
    let mut here = look(period.from);
    let mut pen = Pen::default();
    pen.step(&[here.place], false);
    let looks = LOOKS.min(effort / times.len());
    let (mut dense, mut is_dense) = (0, false);
    // the places of this step; none where the pen is lifted
    let mut places = Vec::new();
    let step = |t: f64| ((t - period.from) / (period.to - period.from) * f64::from(STEPS)).floor();
    for ends in times.windows(2) {
        let mut left = looks;
        let mut ahead = vec![look(ends[1])];
        while let Some(next) = ahead.last().copied() {
            let middle = here.t + (next.t - here.t) / 2.0;
            let apart = here.t < middle && middle < next.t;
            if apart && left > 0 && worth_a_look(here.place, next.place) {
                left -= 1;
                let between = look(middle);
                if !flat(here.place, between.place, next.place) {
                    ahead.push(between);
                    continue;
                }
            }
            let jumps = |(a, b): (Point, Point)| !apart && a.distance(b) > JUMP;
            if here.place.zip(next.place).is_some_and(jumps) {
                places.push(None);
            }
            places.push(next.place);
            here = next;
            ahead.pop();
        }
        is_dense |= left == 0;
        if step(ends[0]) < step(ends[1]) {
            pen.step(&places, is_dense);
            dense += u32::from(is_dense);
            (is_dense, places) = (false, Vec::new());
        }
    }
    pen.step(&places, is_dense);
    pen.lift();
    Traced { runs: pen.runs.iter().map(|run| thinned(run)).collect(), dense: dense > STEPS / 16 }
}

/// Draws runs, step by step.
#[derive(Default)]
struct Pen {
    runs: Vec<Vec<Point>>,
    run: Vec<Point>,
}

impl Pen {
    /// Draws a step. What moves to and fro within one, which is less than a pixel of time, looks like its extremes, and
    /// if it is `dense`, its gaps are not seen.
    fn step(&mut self, places: &[Option<Point>], dense: bool) {
        let ends = places.last().is_some_and(Option::is_none);
        let seen: Vec<Option<Point>> =
            places.iter().copied().filter(|place| !dense || place.is_some()).collect();
        let mut pieces = seen.split(Option::is_none);
        if let Some(first) = pieces.next() {
            self.piece(first);
        }
        for piece in pieces {
            self.lift();
            self.piece(piece);
        }
        if ends {
            self.lift();
        }
    }

    fn piece(&mut self, places: &[Option<Point>]) {
        let piece = thinned(&places.iter().copied().flatten().collect::<Vec<_>>());
        let by_height = |a: &&Point, b: &&Point| a.y.total_cmp(&b.y);
        match (piece.iter().min_by(by_height), piece.iter().max_by(by_height)) {
            (Some(top), Some(bottom)) if piece.len() > PLACES => {
                self.run.extend([piece[0], *top, *bottom, piece[piece.len() - 1]]);
            }
            _ => self.run.extend(piece),
        }
    }

    /// Ends the run.
    fn lift(&mut self) {
        if !self.run.is_empty() {
            self.runs.push(std::mem::take(&mut self.run));
        }
    }
}

/// Whether something may be hidden between two places: the grid's neighbours are never far apart if all is quiet.
fn worth_a_look(a: Option<Point>, b: Option<Point>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => a.distance(b) > 2.0 * FLAT,
        (None, None) => false,
        _ => true,
    }
}

/// Whether the line from `a` to `b` shows the curve, whose middle is at `between`.
fn flat(a: Option<Point>, between: Option<Point>, b: Option<Point>) -> bool {
    match (a, between, b) {
        (Some(a), Some(m), Some(b)) => {
            // a line so long may hide a jump whose middle happens to lie on it
            a.distance(b) < 8.0 * JUMP
                && off(m, a, b) < FLAT
                && m.distance(a) + m.distance(b) < a.distance(b) + JUMP
        }
        (None, None, None) => true,
        _ => false,
    }
}

/// How far `p` is from the line between `a` and `b`.
fn off(p: Point, a: Point, b: Point) -> f64 {
    let (dx, dy) = (b.x - a.x, b.y - a.y);
    let square = dx * dx + dy * dy;
    let along = if square > 0.0 { ((p.x - a.x) * dx + (p.y - a.y) * dy) / square } else { 0.0 };
    let along = along.clamp(0.0, 1.0);
    p.distance(point(a.x + along * dx, a.y + along * dy))
}

/// The places without which the line would be farther than [`FLAT`] from one that was left out (Ramer, Douglas and
/// Peucker), without recursion.
fn thinned(run: &[Point]) -> Vec<Point> {
    let Some(last) = run.len().checked_sub(1) else { return Vec::new() };
    let mut kept = vec![false; run.len()];
    (kept[0], kept[last]) = (true, true);
    let mut stack = vec![(0, last)];
    while let Some((first, last)) = stack.pop() {
        let inner = (first + 1..last).map(|i| (i, off(run[i], run[first], run[last])));
        let farthest = inner.max_by(|a, b| a.1.total_cmp(&b.1));
        if let Some((i, _)) = farthest.filter(|(_, far)| *far > FLAT) {
            kept[i] = true;
            stack.extend([(first, i), (i, last)]);
        }
    }
    run.iter().zip(kept).filter(|(_, kept)| *kept).map(|(place, _)| *place).collect()
}
