//! Evaluation: one loop over a track's array, for any [`Scalar`], a block of times at once.

use crate::number::Scalar;
use crate::op::MAX_ARITY;
use crate::track::{Node, Track};

/// The most times that are evaluated together.
const BLOCK: usize = 128;
/// The scratch memory of a block stays near this many bytes, so that it stays in the second-level cache.
const SCRATCH_BYTES: usize = 1 << 18;

/// Evaluates one track at many times, reusing its memory.
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
    /// For each keyed node, how many of its keys the last time had passed.
    near: Vec<usize>,
    /// Node i's values at the block's times stand at `i * lanes ..`.
    scratch: Vec<S>,
}

impl<S: Scalar> Sampler<S> {
    /// A sampler of `track`, of which it keeps a (cheap) clone.
    pub fn new(track: &Track) -> Sampler<S> {
        let keyed = track.nodes().iter().filter(|node| matches!(node, Node::Keyed(_))).count();
        Sampler { track: track.clone(), near: vec![0; keyed], scratch: Vec::new() }
    }

    /// The track's values at `times`, written to `out`; as many as the shorter of the two has.
    ///
    /// `parameters[k]` is the value of the track's k-th free parameter; those that are missing keep their current
    /// value, those in excess are not looked at.
    pub fn sample_into(&mut self, times: &[S], parameters: &[S], out: &mut [S]) {
        let track = self.track.clone();
        let nodes = track.nodes();
        let n = times.len().min(out.len());
        let Some(first) = times[..n].first() else { return };
        let lanes = (SCRATCH_BYTES / (nodes.len() * size_of::<S>()).max(1)).clamp(1, BLOCK).min(n);
        self.scratch.clear();
        self.scratch.resize(nodes.len() * lanes, first.clone());
        self.fill_leaves(lanes, parameters, first);
        for (times, out) in times[..n].chunks(lanes).zip(out[..n].chunks_mut(lanes)) {
            self.block(lanes, times);
            let root = (nodes.len() - 1) * lanes;
            out.clone_from_slice(&self.scratch[root..root + times.len()]);
        }
    }

    /// Constants and parameters are the same in every block.
    fn fill_leaves(&mut self, lanes: usize, parameters: &[S], context: &S) {
        let mut parameters = parameters.iter();
        for (node, values) in self.track.nodes().iter().zip(self.scratch.chunks_mut(lanes)) {
            match node {
                Node::Constant(x) => values.fill(context.lift(x.value())),
                Node::Free(p) => {
                    values.fill(parameters.next().cloned().unwrap_or_else(|| context.lift(p.start())));
                }
                Node::Clock | Node::Apply(..) | Node::Keyed(_) => {}
            }
        }
    }

    fn block(&mut self, lanes: usize, times: &[S]) {
        let n = times.len();
        let mut near = self.near.iter_mut();
        for (i, node) in self.track.nodes().iter().enumerate() {
            let (done, rest) = self.scratch.split_at_mut(i * lanes);
            let out = &mut rest[..n];
            match node {
                Node::Constant(_) | Node::Free(_) => {}
                Node::Clock => out.clone_from_slice(times),
                Node::Apply(op, operands) => {
                    let values: [&[S]; MAX_ARITY] = operands.map(|id| &done[id.index() * lanes..][..n]);
                    op.apply_block(values, out);
                }
                Node::Keyed(keyed) => {
                    let clock = keyed.clock().index() * lanes;
                    let Some(near) = near.next() else { continue };
                    for (lane, slot) in out.iter_mut().enumerate() {
                        *slot = keyed.value(&done[clock + lane], near, |id| &done[id.index() * lanes + lane]);
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
        let mut sampler = Sampler::new(self);
        sampler.sample_at(&t, &[]);
        sampler.scratch
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
