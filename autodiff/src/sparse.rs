//! Jacobians of which most entries are zero: a value between two keys does not feel the others.
//!
//! Which parameters a value depends on is read off the track, see [`Sparsity`]. Parameters that no value feels together share a
//! place in the numbers that carry derivatives, so that there are as many places as a value feels parameters, not as there
//! are parameters. A. R. Curtis, M. J. D. Powell & J. K. Reid, IMA J. Appl. Math. 13 (1974) 117–119; T. F. Coleman & J. J. Moré,
//! SIAM J. Numer. Anal. 20 (1983) 187–209.

use std::cell::RefCell;

use keyfit_ir::{Id, Node, Sampler, Track};

use crate::gradient::{Sweep, at, sweep};

/// Which parameters each of a list of values depends on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sparsity {
    /// Row i's columns stand at `starts[i] .. starts[i + 1]`.
    starts: Vec<usize>,
    columns: Vec<u32>,
}

impl Sparsity {
    /// Of the track's values at `times`; `None` if there are more than `most` entries.
    ///
    /// A value depends on the parameters in its term, except that a keyed track depends on those keys alone that
    /// its segment looks at, if no parameter moves its clock. That holds whatever the parameters' values are.
    ///
    /// ```
    /// use keyfit_autodiff::Sparsity;
    /// let track = keyfit_ir::Track::parse("linear[0=?a=0 1=?b=1 2=?c=2] + ?d=0")?;
    /// let sparsity = Sparsity::of(&track, &[0.5, 1.5, 9.0], 100).unwrap();
    /// assert_eq!(sparsity.rows().collect::<Vec<_>>(), [&[0, 1, 3][..], &[1, 2, 3], &[2, 3]]);
    /// # Ok::<(), keyfit_ir::SyntaxError>(())
    /// ```
    pub fn of(track: &Track, times: &[f64], most: usize) -> Option<Sparsity> {
        let nodes = track.nodes();
        // a node's parameter, and whether there is one in its term
        let mut column = vec![0; nodes.len()];
        let mut depends = vec![false; nodes.len()];
        let mut count = 0;
        for (id, node) in track.iter() {
            depends[id.index()] = match node {
                Node::Free(_) => {
                    column[id.index()] = count;
                    count += 1;
                    true
                }
                _ => node.children().iter().any(|child| depends[child.index()]),
            };
        }
        let mut near = vec![0; nodes.len()];
        // the last time that looked at a node, counted from 1
        let mut looked = vec![0; nodes.len()];
        let mut sparsity = Sparsity { starts: vec![0], columns: Vec::new() };
        let stack = RefCell::new(Vec::new());
        Sampler::new(track).visit(times, &[], |k, value| {
            let first = sparsity.columns.len();
            if first > most {
                return;
            }
            stack.borrow_mut().push(track.root());
            loop {
                let Some(id) = stack.borrow_mut().pop() else { break };
                let i = id.index();
                if !depends[i] || looked[i] == k + 1 {
                    continue;
                }
                looked[i] = k + 1;
                let all = |node: &Node| stack.borrow_mut().extend(node.children().iter());
                match &nodes[i] {
                    Node::Free(_) => sparsity.columns.push(column[i]),
                    Node::Keyed(keyed) if !depends[keyed.clock().index()] => {
                        let nothing = 0.0;
                        keyed.value(&value(keyed.clock()), &mut near[i], |child: Id| {
                            stack.borrow_mut().push(child);
                            &nothing
                        });
                    }
                    node => all(node),
                }
            }
            sparsity.columns[first..].sort_unstable();
            sparsity.starts.push(sparsity.columns.len());
        });
        (sparsity.columns.len() <= most).then_some(sparsity)
    }

    /// For each value the parameters that it depends on, ascending.
    pub fn rows(&self) -> impl Iterator<Item = &[u32]> {
        self.starts.windows(2).map(|ends| &self.columns[ends[0]..ends[1]])
    }

    /// The number of entries.
    pub fn entries(&self) -> usize {
        self.columns.len()
    }

    /// A colour for each of `count` parameters, from 0, different wherever two of them are in one row.
    fn colours(&self, count: usize) -> Vec<usize> {
        let mut rows_of: Vec<Vec<&[u32]>> = vec![Vec::new(); count];
        for row in self.rows() {
            row.iter().for_each(|&column| rows_of[column as usize].push(row));
        }
        let mut colours = vec![usize::MAX; count];
        // the last parameter, counted from 1, beside which a colour was seen
        let mut taken: Vec<usize> = Vec::new();
        for (column, rows) in rows_of.iter().enumerate() {
            for other in rows.iter().flat_map(|row| row.iter()) {
                if let Some(seen) = taken.get_mut(colours[*other as usize]) {
                    *seen = column + 1;
                }
            }
            let free = taken.iter().position(|seen| *seen != column + 1).unwrap_or(taken.len());
            taken.resize(taken.len().max(free + 1), 0);
            colours[column] = free;
        }
        colours
    }
}

/// Differentiates one track at fixed times, in as many sweeps as eight parameters that meet in one value need.
///
/// The entries are those of [`Jacobian`](crate::Jacobian), bit for bit; those that are left out are zero there.
pub struct SparseJacobian {
    track: Track,
    times: Vec<f64>,
    sparsity: Sparsity,
    colours: Vec<usize>,
    sweep: Box<dyn Sweep + Send>,
}

impl std::fmt::Debug for SparseJacobian {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SparseJacobian").field("colours", &self.width()).finish_non_exhaustive()
    }
}

impl SparseJacobian {
    /// For `track` at `times`; `None` if there are more than `most` entries.
    pub fn new(track: &Track, times: &[f64], most: usize) -> Option<SparseJacobian> {
        let sparsity = Sparsity::of(track, times, most)?;
        let colours = sparsity.colours(track.free_parameters().len());
        let width = colours.iter().max().map_or(0, |last| last + 1);
        Some(SparseJacobian {
            track: track.clone(),
            times: times.to_vec(),
            sparsity,
            colours,
            sweep: sweep(track, width),
        })
    }

    /// Which parameters each value depends on.
    pub fn sparsity(&self) -> &Sparsity {
        &self.sparsity
    }

    /// How many parameters, or groups of such as never meet, are told apart: the partials that are carried.
    pub fn width(&self) -> usize {
        self.colours.iter().max().map_or(0, |last| last + 1)
    }

    /// Writes the partial derivatives to `entries`, in the order of [`Sparsity::rows`]. What does not fit is left out.
    pub fn fill(&mut self, parameters: &[f64], entries: &mut [f64]) {
        let (sparsity, colours) = (&self.sparsity, &self.colours);
        let parameters = at(&self.track, parameters);
        self.sweep.fill(&self.times, &parameters, colours, &mut |row, _, first, partials| {
            let Some(&[start, end]) = sparsity.starts.get(row..row + 2).and_then(|s| s.first_chunk()) else {
                return;
            };
            for at in start..end {
                let place = colours[sparsity.columns[at] as usize].checked_sub(first);
                let partial = place.and_then(|place| partials.get(place));
                if let (Some(partial), Some(entry)) = (partial, entries.get_mut(at)) {
                    *entry = *partial;
                }
            }
        });
    }
}
