//! Evaluation: one loop over a track's array, for any [`Scalar`], a block of times at once.

use std::sync::Arc;

use crate::number::Scalar;
use crate::op::MAX_ARITY;
use crate::track::{Id, Node, Track};

/// The most times that are evaluated together.
const BLOCK: usize = 128;
/// The scratch memory of a block stays near this many bytes, so that it stays in the second-level cache.
const SCRATCH_BYTES: usize = 1 << 18;

/// Evaluates one track at many times, reusing its memory.
///
/// What does not vary with time is evaluated once a call, so a keyed track costs no more with ten thousand keys than with ten.
///
/// ```
/// use keyfit_ir::{Sampler, free, t};
/// let track = (t() * free("gain", 1.0)).track()?;
/// let mut sampler = Sampler::new(&track);
/// let mut out = [0.0; 3];
/// sampler.sample_into(&[0.0, 1.0, 2.0], &[10.0], &mut out);
/// assert_eq!(out, [0.0, 10.0, 20.0]);
/// # Ok::<(), keyfit_ir::BuildError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Sampler<S> {
    track: Track,
    layout: Arc<Layout>,
    /// For each keyed node that varies, how many of its keys the last time had passed.
    near: Vec<usize>,
    /// Each node's value, where it does not vary with time.
    fixed: Vec<S>,
    /// Row r's values at the block's times stand at `r * lanes ..`.
    rows: Vec<S>,
}

/// Which nodes vary with time, and where their values stand.
#[derive(Debug)]
struct Layout {
    /// The nodes that vary, ascending.
    varying: Vec<usize>,
    /// The nodes that do not vary but are operands of such as do, ascending.
    spread: Vec<usize>,
    /// For each node of these two lists its row, ascending with the node.
    row: Vec<Option<u32>>,
    count: usize,
}

impl Layout {
    fn new(nodes: &[Node]) -> Layout {
        let mut varies: Vec<bool> = Vec::with_capacity(nodes.len());
        let mut wanted = vec![false; nodes.len()];
        for (i, node) in nodes.iter().enumerate() {
            let varying = match node {
                Node::Clock => true,
                Node::Constant(_) | Node::Free(_) => false,
                // keys' values and tangents never vary
                Node::Keyed(keyed) => varies[keyed.clock().index()],
                Node::Apply(_, operands) => operands.iter().any(|id| varies[id.index()]),
            };
            if let (true, Node::Apply(_, operands)) = (varying, node) {
                operands.iter().for_each(|id| wanted[id.index()] = true);
            }
            wanted[i] = varying;
            varies.push(varying);
        }
        let mut count = 0;
        let row = wanted.iter().map(|wanted| wanted.then(|| (count, count += 1).0)).collect();
        let listed =
            |varying: bool| (0..nodes.len()).filter(|&i| wanted[i] && varies[i] == varying).collect();
        Layout { varying: listed(true), spread: listed(false), row, count: count as usize }
    }

    /// The row of node i: every node that is asked for here has one.
    fn row(&self, i: usize) -> usize {
        self.row[i].unwrap_or(0) as usize
    }
}

impl<S: Scalar> Sampler<S> {
    /// A sampler of `track`, of which it keeps a (cheap) clone.
    pub fn new(track: &Track) -> Sampler<S> {
        let layout = Layout::new(track.nodes());
        let keyed = |i: &&usize| matches!(track.nodes()[**i], Node::Keyed(_));
        let near = vec![0; layout.varying.iter().filter(keyed).count()];
        Sampler { track: track.clone(), layout: Arc::new(layout), near, fixed: Vec::new(), rows: Vec::new() }
    }

    /// The track's values at `times`, written to `out`; as many as the shorter of the two has.
    ///
    /// `parameters[k]` is the value of the track's k-th free parameter; those that are missing keep their current
    /// value, those in excess are not looked at.
    pub fn sample_into(&mut self, times: &[S], parameters: &[S], out: &mut [S]) {
        let n = times.len().min(out.len());
        let root = self.track.root().index();
        self.blocks(&times[..n], parameters, |sampler, lanes, first, n| {
            let out = &mut out[first..first + n];
            match sampler.layout.row[root] {
                Some(row) => out.clone_from_slice(&sampler.rows[row as usize * lanes..][..n]),
                None => out.fill(sampler.fixed[root].clone()),
            }
        });
    }

    /// Shows the values of all nodes at each of `times`, in order: `see` is given the time's place and a function from a node
    /// to its value there.
    pub fn visit(&mut self, times: &[S], parameters: &[S], mut see: impl FnMut(usize, &dyn Fn(Id) -> S)) {
        self.blocks(times, parameters, |sampler, lanes, first, n| {
            for lane in 0..n {
                let value = |id: Id| match sampler.layout.row[id.index()] {
                    Some(row) => sampler.rows[row as usize * lanes + lane].clone(),
                    None => sampler.fixed[id.index()].clone(),
                };
                see(first + lane, &value);
            }
        });
    }

    /// Evaluates block after block, and hands over each with its lanes, its first time's place and how many times it has.
    fn blocks(
        &mut self,
        times: &[S],
        parameters: &[S],
        mut done: impl FnMut(&Sampler<S>, usize, usize, usize),
    ) {
        let Some(first) = times.first() else { return };
        let count = self.layout.count.max(1);
        let lanes = (SCRATCH_BYTES / (count * size_of::<S>()).max(1)).clamp(1, BLOCK).min(times.len());
        self.hold(parameters, first);
        self.rows.clear();
        self.rows.resize(count * lanes, first.clone());
        for &i in &self.layout.spread {
            self.rows[self.layout.row(i) * lanes..][..lanes].fill(self.fixed[i].clone());
        }
        for (k, times) in times.chunks(lanes).enumerate() {
            self.block(lanes, times);
            done(self, lanes, k * lanes, times.len());
        }
    }

    /// Evaluates what does not vary.
    fn hold(&mut self, parameters: &[S], context: &S) {
        let mut parameters = parameters.iter();
        let mut varying = self.layout.varying.iter().peekable();
        let fixed = &mut self.fixed;
        fixed.clear();
        for (i, node) in self.track.nodes().iter().enumerate() {
            let varies = varying.next_if_eq(&&i).is_some();
            let value = match node {
                Node::Constant(x) => context.lift(x.value()),
                Node::Free(p) => parameters.next().cloned().unwrap_or_else(|| context.lift(p.start())),
                _ if varies => context.clone(), // never looked at
                Node::Clock => context.clone(),
                Node::Apply(op, operands) => op.apply(operands.map(|id| &fixed[id.index()])),
                Node::Keyed(keyed) => {
                    keyed.value(&fixed[keyed.clock().index()], &mut 0, |id| &fixed[id.index()])
                }
            };
            fixed.push(value);
        }
    }

    fn block(&mut self, lanes: usize, times: &[S]) {
        let n = times.len();
        let (layout, fixed) = (&self.layout, &self.fixed);
        let mut near = self.near.iter_mut();
        for &i in &layout.varying {
            let (done, rest) = self.rows.split_at_mut(layout.row(i) * lanes);
            let out = &mut rest[..n];
            match &self.track.nodes()[i] {
                Node::Constant(_) | Node::Free(_) => {}
                Node::Clock => out.clone_from_slice(times),
                Node::Apply(op, operands) => {
                    let values: [&[S]; MAX_ARITY] =
                        operands.map(|id| &done[layout.row(id.index()) * lanes..][..n]);
                    op.apply_block(values, out);
                }
                Node::Keyed(keyed) => {
                    let clock = layout.row(keyed.clock().index()) * lanes;
                    let Some(near) = near.next() else { continue };
                    for (lane, slot) in out.iter_mut().enumerate() {
                        *slot = keyed.value(&done[clock + lane], near, |id| &fixed[id.index()]);
                    }
                }
            }
        }
    }
}

impl Track {
    /// The value at time `t`, every parameter at its current value.
    ///
    /// For many times, [`Track::sample_into`] or a [`Sampler`] does the preparation once.
    pub fn sample(&self, t: f64) -> f64 {
        let mut out = [0.0];
        self.sample_into(&[t], &mut out);
        out[0]
    }

    /// The values at `times`, every parameter at its current value, written to `out`; as many as the shorter of the
    /// two slices has.
    pub fn sample_into(&self, times: &[f64], out: &mut [f64]) {
        Sampler::new(self).sample_into(times, &[], out);
    }

    /// The value of every node at time `t`, in the array's order, every parameter at its current value.
    pub fn node_values(&self, t: f64) -> Vec<f64> {
        let mut values = Vec::new();
        Sampler::new(self)
            .visit(&[t], &[], |_, value| values = self.iter().map(|(id, _)| value(id)).collect());
        values
    }
}

impl<S: Scalar> Sampler<S> {
    /// The value at one time. See [`Sampler::sample_into`].
    pub fn sample_at(&mut self, t: &S, parameters: &[S]) -> S {
        let mut out = [t.clone()];
        self.sample_into(std::slice::from_ref(t), parameters, &mut out);
        let [value] = out;
        value
    }
}
