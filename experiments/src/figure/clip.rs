//! What is seen of a line between the bottom and the top of a frame.

use super::axis::Scale;

/// What is seen of a line.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Clipped {
    /// Its parts, cut off at the top edge; along the bottom edge where the line is below it.
    pub runs: Vec<Vec<(f64, f64)>>,
    /// Where it crosses the top edge, or begins above it.
    pub top: Vec<f64>,
    /// Where it comes to the bottom edge for the first time, or begins there. Round-off takes some lines there again and again.
    pub bottom: Option<f64>,
    /// Its rightmost place.
    pub last: Option<(f64, f64)>,
}

/// Clips the line through points, which may be infinitely high or low, with a gap where one is not a number.
pub(super) fn clip(points: &[(f64, f64)], up: Scale) -> Clipped {
    let mut seen = Clipped::default();
    let is_above = |(_, y): (f64, f64)| y > up.high;
    for line in points.split(|(x, y)| !x.is_finite() || y.is_nan()) {
        let mut run = Vec::new();
        let mut before = None;
        for at in line.iter().copied() {
            match before {
                None if is_above(at) => seen.top.push(at.0),
                Some(before) if is_above(before) != is_above(at) => {
                    let (above, below) = if is_above(at) { (at, before) } else { (before, at) };
                    let x = crossing(below, above, up);
                    seen.top.push(x);
                    run.push((x, up.high));
                }
                _ => {}
            }
            if is_above(at) {
                seen.runs.push(std::mem::take(&mut run));
            } else {
                if at.1 < up.low {
                    seen.bottom.get_or_insert(at.0);
                }
                run.push((at.0, at.1.max(up.low)));
            }
            before = Some(at);
        }
        seen.runs.push(run);
    }
    seen.runs.retain(|run| !run.is_empty());
    let beyond = seen.top.iter().map(|x| (*x, up.high));
    seen.last = beyond.chain(seen.runs.iter().flatten().copied()).max_by(|a, b| a.0.total_cmp(&b.0));
    seen
}

/// Where the line between two points crosses the top edge: at the lower one if the other is infinitely high.
fn crossing(below: (f64, f64), above: (f64, f64), up: Scale) -> f64 {
    let from = below.1.max(up.low);
    below.0 + (up.high - from) / (above.1 - from) * (above.0 - below.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const UP: Scale = Scale { low: -4.0, high: 2.0 };
    const FAR: f64 = f64::INFINITY;

    fn check(
        points: &[(f64, f64)],
        runs: &[&[(f64, f64)]],
        top: &[f64],
        bottom: Option<f64>,
        last: Option<(f64, f64)>,
    ) {
        let runs = runs.iter().map(|run| run.to_vec()).collect();
        let right = Clipped { runs, top: top.to_vec(), bottom, last };
        assert_eq!(clip(points, UP), right, "{points:?}");
    }

    #[test]
    fn what_is_within_stays_as_it_is() {
        let line = [(0.0, 2.0), (1.0, -4.0), (2.0, 0.0)];
        check(&line, &[&line], &[], None, Some((2.0, 0.0)));
        // and has gaps
        let gap = [(0.0, 1.0), (1.0, f64::NAN), (2.0, 0.0), (FAR, 0.0)];
        check(&gap, &[&[(0.0, 1.0)], &[(2.0, 0.0)]], &[], None, Some((2.0, 0.0)));
        check(&[(0.0, f64::NAN)], &[], &[], None, None);
        check(&[], &[], &[], None, None);
    }

    #[test]
    fn a_line_that_leaves_the_top_is_cut_off() {
        let up = [(0.0, 0.0), (1.0, 4.0), (8.0, 4.0)];
        check(&up, &[&[(0.0, 0.0), (0.5, 2.0)]], &[0.5], None, Some((0.5, 2.0)));
        let back = [(0.0, 0.0), (1.0, 4.0), (2.0, 1.0)];
        let (first, second) = ([(0.0, 0.0), (0.5, 2.0)], [(2.0 - 1.0 / 3.0, 2.0), (2.0, 1.0)]);
        check(&back, &[&first, &second], &[0.5, 2.0 - 1.0 / 3.0], None, Some((2.0, 1.0)));
        // straight up, and straight down
        let infinite = [(0.0, FAR), (1.0, 0.0), (2.0, FAR)];
        check(&infinite, &[&[(1.0, 2.0), (1.0, 0.0), (1.0, 2.0)]], &[0.0, 1.0, 1.0], None, Some((1.0, 2.0)));
    }

    #[test]
    fn a_line_above_has_a_mark_where_it_begins() {
        check(&[(3.0, FAR), (4.0, 9.0)], &[], &[3.0], None, Some((3.0, 2.0)));
    }

    #[test]
    fn what_is_below_lies_at_the_bottom_edge() {
        let down = [(0.0, 0.0), (1.0, -FAR)];
        check(&down, &[&[(0.0, 0.0), (1.0, -4.0)]], &[], Some(1.0), Some((1.0, -4.0)));
        // where it comes there first
        let again = [(0.0, -9.0), (1.0, -FAR), (2.0, 0.0), (3.0, -5.0)];
        let run = [(0.0, -4.0), (1.0, -4.0), (2.0, 0.0), (3.0, -4.0)];
        check(&again, &[&run], &[], Some(0.0), Some((3.0, -4.0)));
        // from edge to edge: the middle of what is drawn
        let through = [(0.0, -FAR), (1.0, 8.0)];
        check(&through, &[&[(0.0, -4.0), (0.5, 2.0)]], &[0.5], Some(0.0), Some((0.5, 2.0)));
        check(
            &[(0.0, FAR), (1.0, -FAR)],
            &[&[(1.0, 2.0), (1.0, -4.0)]],
            &[0.0, 1.0],
            Some(1.0),
            Some((1.0, -4.0)),
        );
    }
}
