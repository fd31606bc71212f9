//! The names right of lines, and what ties each to its line.

use super::labels::{Area, Labels, text_width};
use super::names::apart;
use super::svg::{Element, Point, point};
use super::{MARGIN, cut_middle};

/// From one name to the next.
pub(super) const LINE: f64 = 17.0;
/// From the frame to a name's tick, and to the name.
const TICK: f64 = 14.0;
const NAME: f64 = 32.0;
/// As many characters are there for a name with its number, and for names that fewer do not keep apart.
const LENGTH: usize = 34;
const LONGEST: usize = 80;

/// The names of lines that end at some places, right of a frame. Where all of them end at the frame's right edge, each name stands as
/// near to its line's end as the others let it, and is tied to it. Else they stand in their order, and a number leads from a line's
/// end to its name.
pub(super) struct Key {
    frame: Area,
    ends: Vec<Option<Point>>,
    rows: Vec<f64>,
    names: Vec<String>,
    tied: bool,
}

impl Key {
    /// Of lines with these names, of which each ends where `ends` says, if there is anything of it; `near` the edge is at it.
    pub(super) fn new(frame: Area, names: &[&str], ends: Vec<Option<Point>>, near: f64) -> Key {
        let tied = ends.iter().flatten().all(|end| end.x >= frame.right - near);
        let rows = match tied {
            true => rows(
                &ends.iter().map(|end| end.map(|end| end.y)).collect::<Vec<_>>(),
                frame.top,
                frame.bottom,
            ),
            false => (0..ends.len()).map(|k| frame.top + 8.0 + LINE * k as f64).collect(),
        };
        let number = |k: usize| format!("{} ", k + 1);
        let least = LENGTH.saturating_sub(number(names.len()).len());
        let short = apart(names, least, LONGEST);
        // what nothing else keeps apart, numbers do
        let numbered = !tied || short.is_none();
        let short = short.unwrap_or_else(|| names.iter().map(|name| cut_middle(name, least)).collect());
        let with_number = |(k, name): (usize, String)| if numbered { number(k) + &name } else { name };
        let names = short.into_iter().enumerate().map(with_number).collect();
        Key { frame, ends, rows, names, tied }
    }

    /// How wide a figure must be that has it.
    pub(super) fn right(&self) -> f64 {
        let widest = self.names.iter().map(|name| text_width(name)).fold(0.0, f64::max);
        self.frame.right + NAME + widest + MARGIN
    }

    fn row(&self, k: usize) -> f64 {
        self.rows.get(k).copied().unwrap_or(self.frame.bottom)
    }

    fn end(&self, k: usize) -> Option<Point> {
        self.ends.get(k).copied().flatten()
    }

    /// From the k-th line's end to its name, or a sample of the line; nothing where there is no line.
    pub(super) fn line(&self, k: usize) -> Option<Element> {
        let (end, right, row) = (self.end(k)?, self.frame.right, self.row(k));
        let sample = [point(right + TICK, row), point(right + NAME - 4.0, row)];
        let run = self.tied.then_some(end).into_iter().chain(sample);
        Some(Element::path("", &[run.collect()]))
    }

    /// The k-th name.
    pub(super) fn name(&self, k: usize) -> Element {
        let name = self.names.get(k).map_or("", String::as_str);
        Element::text("small", point(self.frame.right + NAME, self.row(k) + 4.0), name)
    }

    /// The numbers at the ends of lines, as far as there is room.
    pub(super) fn numbers(&self) -> Vec<Element> {
        let mut labels = Labels::new(self.frame).apart(2.0);
        let ends = self.ends.iter().enumerate().filter_map(|(k, end)| Some((k, (*end)?)));
        let number = |(k, end)| labels.place("quiet", end, 4.0, &format!("{}", k + 1));
        if self.tied { Vec::new() } else { ends.filter_map(number).collect() }
    }
}

/// Heights of names between `top` and `bottom`, as near to their lines' ends as the others let them, in the order of these from
/// above; names without a line come last. Each has the place of its line in `ends`.
fn rows(ends: &[Option<f64>], top: f64, bottom: f64) -> Vec<f64> {
    let mut order: Vec<usize> = (0..ends.len()).collect();
    let wish = |k: usize| ends.get(k).copied().flatten().unwrap_or(bottom);
    let lost = |k: usize| ends.get(k).copied().flatten().is_none();
    order.sort_by(|a, b| lost(*a).cmp(&lost(*b)).then(wish(*a).total_cmp(&wish(*b))));
    // down as far as the one above needs, then up again as far as the bottom needs
    let mut placed: Vec<(usize, f64)> = Vec::with_capacity(order.len());
    for k in order {
        let least = placed.last().map_or(top, |(_, above)| above + LINE);
        placed.push((k, wish(k).max(least)));
    }
    let mut most = bottom;
    for (_, row) in placed.iter_mut().rev() {
        *row = row.min(most);
        most = *row - LINE;
    }
    placed.sort_by_key(|(k, _)| *k);
    placed.into_iter().map(|(_, row)| row).collect()
}

#[cfg(test)]
mod tests {
    use super::{LINE, rows};

    fn keep_apart(heights: Vec<Option<u8>>) -> bool {
        let ends: Vec<Option<f64>> = heights.iter().map(|height| height.map(f64::from)).collect();
        let (top, bottom) = (0.0, 300.0_f64.max(LINE * ends.len() as f64));
        let rows = rows(&ends, top, bottom);
        let mut all: Vec<(bool, f64, f64)> =
            ends.iter().zip(&rows).map(|(end, row)| (end.is_none(), end.unwrap_or(0.0), *row)).collect();
        all.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)).then(a.2.total_cmp(&b.2)));
        let apart = all.windows(2).all(|pair| pair[1].2 - pair[0].2 >= LINE - 1e-9);
        rows.len() == ends.len() && apart && rows.iter().all(|row| (top..=bottom).contains(row))
    }

    #[test]
    fn names_keep_apart_in_the_order_of_their_lines() {
        quickcheck::quickcheck(keep_apart as fn(Vec<Option<u8>>) -> bool);
    }

    #[test]
    fn a_name_with_room_stands_at_its_line() {
        assert_eq!(rows(&[Some(50.0), Some(10.0), None, Some(52.0)], 0.0, 100.0), [50.0, 10.0, 100.0, 67.0]);
        assert_eq!(rows(&[Some(99.0), Some(99.0)], 0.0, 100.0), [83.0, 100.0]);
        assert_eq!(rows(&[], 0.0, 100.0), [0.0; 0]);
    }
}
