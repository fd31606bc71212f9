//! Which entries of a Jacobian may differ from zero, and in which order of its columns they are a narrow band.

/// The entries of a Jacobian that may differ from zero, where they form a narrow band beside a few full columns: a curve through many
/// keys, each value feeling those around it, and some parameters that all values feel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    /// Row i's columns stand at `starts[i] .. starts[i + 1]`.
    starts: Vec<usize>,
    columns: Vec<u32>,
    /// For each column its place: first those of the band, then those of the border.
    pub(crate) places: Vec<usize>,
    /// Columns of the band.
    pub(crate) band: usize,
    /// The most places of the band from a row's first to its last, both counted.
    pub(crate) width: usize,
    /// The rows by the first place of the band in them; those without one last.
    pub(crate) order: Vec<usize>,
}

/// Below as many columns a dense Jacobian is as fast.
pub(crate) const FEW: usize = 64;
/// A column belongs to the border if it is in more than this part of the rows …
const FULL: usize = 16;
/// … and in so many times more rows than half of the columns are.
const FULLER: usize = 4;
/// Band and border together have at most this part of the columns.
pub(crate) const NARROW: usize = 4;

impl Pattern {
    /// The pattern with these rows, each the list of its columns, of a Jacobian with `count` columns. `None` if it is not narrow (or small, so
    /// that it does not matter), and if there is no such column.
    pub fn narrow(count: usize, rows: impl IntoIterator<Item = Vec<usize>>) -> Option<Pattern> {
        let (mut starts, mut columns) = (vec![0], Vec::new());
        for row in rows {
            for column in row {
                columns.push(u32::try_from(column).ok().filter(|_| column < count)?);
            }
            starts.push(columns.len());
        }
        if count < FEW {
            return None;
        }
        let mut pattern =
            Pattern { starts, columns, places: Vec::new(), band: 0, width: 0, order: Vec::new() };
        pattern.arrange(count);
        let border = count - pattern.band;
        (pattern.band > 0 && NARROW * (pattern.width + border) <= count).then_some(pattern)
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.order.len()
    }

    /// The number of columns.
    pub fn columns(&self) -> usize {
        self.places.len()
    }

    /// The number of entries: row after row, each in the order in which its columns were given.
    pub fn entries(&self) -> usize {
        self.columns.len()
    }

    /// The places of a row's entries, and their columns.
    pub(crate) fn row(&self, i: usize) -> impl Iterator<Item = (usize, usize)> {
        (self.starts[i]..self.starts[i + 1]).map(|at| (at, self.columns[at] as usize))
    }

    /// The first place of the band in a row; the band's size where there is none.
    pub(crate) fn lead(&self, i: usize) -> usize {
        self.row(i).map(|(_, column)| self.places[column]).min().unwrap_or(self.band).min(self.band)
    }

    /// Chooses the places.
    fn arrange(&mut self, count: usize) {
        let rows = self.starts.len() - 1;
        let mut rows_of: Vec<Vec<u32>> = vec![Vec::new(); count];
        for i in 0..rows {
            self.row(i).for_each(|(_, column)| rows_of[column].push(i as u32));
        }
        let mut sizes: Vec<usize> = rows_of.iter().map(Vec::len).collect();
        sizes.sort_unstable();
        let full = (rows / FULL).max(FULLER * sizes[count / 2]);
        let (border, band): (Vec<usize>, Vec<usize>) = (0..count).partition(|c| rows_of[*c].len() > full);
        self.band = band.len();
        // as they come, or by the graph: what is better
        let linked = self.linked(&rows_of, &band);
        let narrower =
            [band, linked].into_iter().map(|order| self.placed(&order, &border)).min_by_key(|(w, _)| *w);
        (self.width, self.places) = narrower.unwrap_or_default();
        self.order = (0..rows).collect();
        let leads: Vec<usize> = (0..rows).map(|i| self.lead(i)).collect();
        self.order.sort_by_key(|i| leads[*i]);
    }

    /// The width and the places for an order of the band's columns.
    fn placed(&self, order: &[usize], border: &[usize]) -> (usize, Vec<usize>) {
        let mut places = vec![0; order.len() + border.len()];
        order.iter().chain(border).enumerate().for_each(|(place, column)| places[*column] = place);
        let spans = self.starts.windows(2).map(|ends| {
            let own = self.columns[ends[0]..ends[1]].iter().map(|column| places[*column as usize]);
            let (low, high) = own
                .filter(|place| *place < order.len())
                .fold((usize::MAX, 0), |(low, high), place| (low.min(place), high.max(place)));
            if low > high { 0 } else { high - low + 1 }
        });
        (spans.max().unwrap_or(0).max(1), places)
    }

    /// The band's columns so that those that meet in a row are near each other: reverse Cuthill–McKee, from a column far from
    /// another. E. Cuthill & J. McKee, Proc. 24th Nat. Conf. ACM (1969) 157–172.
    fn linked(&self, rows_of: &[Vec<u32>], band: &[usize]) -> Vec<usize> {
        let mut walk = Walk { pattern: self, rows_of, seen: vec![usize::MAX; rows_of.len()] };
        // walks are counted; those that are kept mark their columns for good
        band.iter().for_each(|column| walk.seen[*column] = 0);
        let mut order: Vec<usize> = Vec::with_capacity(band.len());
        let mut count = 0;
        for &column in band {
            if walk.seen[column] != usize::MAX {
                count += 1;
                let far = walk.from(column, count).pop().unwrap_or(column);
                let reached = walk.from(far, usize::MAX);
                order.extend(reached);
            }
        }
        order.reverse();
        order
    }
}

/// Walks over columns that meet.
struct Walk<'a> {
    pattern: &'a Pattern,
    rows_of: &'a [Vec<u32>],
    /// The last walk that was at a column; the greatest number where none may go again.
    seen: Vec<usize>,
}

impl Walk<'_> {
    /// The columns that can be reached from this one, nearer ones first, those with fewer rows before others.
    fn from(&mut self, column: usize, walk: usize) -> Vec<usize> {
        let mut reached = vec![column];
        self.seen[column] = walk;
        let mut next = 0;
        while let Some(&column) = reached.get(next) {
            next += 1;
            let first = reached.len();
            for &row in &self.rows_of[column] {
                for (_, other) in self.pattern.row(row as usize) {
                    if self.seen[other] != walk && self.seen[other] != usize::MAX {
                        self.seen[other] = walk;
                        reached.push(other);
                    }
                }
            }
            reached[first..].sort_by_key(|column| self.rows_of[*column].len());
        }
        reached
    }
}
