//! Derivatives of tracks: Jacobians over many times, gradients and Hessians at one, velocities.
//!
//! Parameter k is the k-th of [`Track::free_parameters`] everywhere, and column k is its partial derivative. As in
//! [`Sampler::sample_into`], a parameter without a given value keeps its current value, and values in excess are not
//! looked at.

use std::cell::RefCell;

use keyfit_ir::{Id, Keyed, MAX_ARITY, Op, Sampler, Scalar, Track};
use ndarray::{Array1, Array2, ArrayViewMut2};
use num_dual::{Dual2_64, DualSVec64};

use crate::jet::Jet;

/// Times that are differentiated in one call of the sampler: enough of its blocks to make its preparation negligible.
pub(crate) const BATCH: usize = 1024;

/// The parameters' values: the given ones, and the current ones of those that are missing.
pub(crate) fn at(track: &Track, parameters: &[f64]) -> Vec<f64> {
    let mut values = track.starts();
    for (value, given) in values.iter_mut().zip(parameters) {
        *value = *given;
    }
    values
}

/// Differentiates one track with respect to its free parameters at many times, reusing its memory.
///
/// ```
/// use keyfit_autodiff::Jacobian;
/// use keyfit_ir::{free, t};
/// let track = (t() * free("gain", 1.0) + free("bias", 0.0)).track()?;
/// let mut jacobian = Jacobian::new(&track);
/// let (mut values, mut partials) = ([0.0; 2], ndarray::Array2::zeros((2, 2)));
/// jacobian.fill(&[1.0, 3.0], &[4.0, -8.0], &mut values, partials.view_mut());
/// assert_eq!(values, [-4.0, 4.0]);
/// assert_eq!(partials, ndarray::array![[1.0, 1.0], [3.0, 1.0]]);
/// # Ok::<(), keyfit_ir::BuildError>(())
/// ```
pub struct Jacobian {
    track: Track,
    /// The place of each parameter: its own.
    columns: Vec<usize>,
    sweep: Box<dyn Sweep + Send>,
}

impl std::fmt::Debug for Jacobian {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Jacobian").field("track", &self.track).finish_non_exhaustive()
    }
}

impl Jacobian {
    /// For `track`; up to eight parameters are differentiated in one sweep, more in chunks of eight.
    pub fn new(track: &Track) -> Jacobian {
        let columns = track.free_parameters().len();
        Jacobian { track: track.clone(), columns: (0..columns).collect(), sweep: sweep(track, columns) }
    }

    /// The number of columns, one for each free parameter of the track.
    pub fn columns(&self) -> usize {
        self.columns.len()
    }

    /// Writes the track's values at `times` to `values` and their partial derivatives to `partials`, a row a time and
    /// a column a parameter. What does not fit is left out.
    pub fn fill(
        &mut self,
        times: &[f64],
        parameters: &[f64],
        values: &mut [f64],
        mut partials: ArrayViewMut2<'_, f64>,
    ) {
        let parameters = at(&self.track, parameters);
        self.sweep.fill(times, &parameters, &self.columns, &mut |row, value, first, chunk| {
            if let Some(slot) = values.get_mut(row) {
                *slot = value;
            }
            let own = self.columns.len().saturating_sub(first).min(chunk.len());
            for (k, partial) in chunk[..own].iter().enumerate() {
                if let Some(slot) = partials.get_mut((row, first + k)) {
                    *slot = *partial;
                }
            }
        });
    }
}

/// Evaluates a track over numbers that carry derivatives, for `width` places: all at once, or in chunks of eight.
pub(crate) fn sweep(track: &Track, width: usize) -> Box<dyn Sweep + Send> {
    match width {
        0 | 1 => Box::new(Chunks::<1>::new(track)),
        2 => Box::new(Chunks::<2>::new(track)),
        3 => Box::new(Chunks::<3>::new(track)),
        4 => Box::new(Chunks::<4>::new(track)),
        5 | 6 => Box::new(Chunks::<6>::new(track)),
        _ => Box::new(Chunks::<8>::new(track)),
    }
}

/// Takes a time's place, the value there, and the partials in the places from the given one on.
pub(crate) type Sink<'a> = dyn FnMut(usize, f64, usize, &[f64]) + 'a;

/// [`Chunks`] of any width.
pub(crate) trait Sweep {
    /// Hands over the values and partials at `times`; parameter k's partial stands in place `places[k]`.
    fn fill(&mut self, times: &[f64], parameters: &[f64], places: &[usize], out: &mut Sink<'_>);
}

/// A sampler over N partials at once, with its memory.
struct Chunks<const N: usize> {
    sampler: Sampler<Jet<DualSVec64<N>>>,
    times: Vec<Jet<DualSVec64<N>>>,
    parameters: Vec<Jet<DualSVec64<N>>>,
    out: Vec<Jet<DualSVec64<N>>>,
}

impl<const N: usize> Chunks<N> {
    fn new(track: &Track) -> Self {
        let sampler = Sampler::new(track);
        Chunks { sampler, times: Vec::new(), parameters: Vec::new(), out: Vec::new() }
    }
}

impl<const N: usize> Sweep for Chunks<N> {
    fn fill(&mut self, times: &[f64], parameters: &[f64], places: &[usize], out: &mut Sink<'_>) {
        let width = places.iter().max().map_or(1, |last| last + 1);
        for first in (0..width).step_by(N) {
            self.parameters.clear();
            let place = |k: usize| places.get(k)?.checked_sub(first).filter(|i| *i < N);
            self.parameters.extend(parameters.iter().enumerate().map(|(k, &x)| Jet::variable(x, place(k))));
            // what does not vary is evaluated once a batch
            let size = BATCH.max(parameters.len());
            for (batch, times) in times.chunks(size).enumerate() {
                self.times.clear();
                self.times.extend(times.iter().map(|&t| Jet::constant(t)));
                self.out.resize(times.len(), Jet::constant(0.0));
                self.sampler.sample_into(&self.times, &self.parameters, &mut self.out);
                for (i, Jet(dual)) in self.out.iter().enumerate() {
                    let partials = dual.eps.0.as_ref().map_or(&[0.0; N][..], |eps| eps.as_slice());
                    out(batch * size + i, dual.re, first, partials);
                }
            }
        }
    }
}

/// The Jacobian of `track`: a row a time, a column a parameter. For more than one Jacobian of a track, use [`Jacobian`].
pub fn jacobian(track: &Track, times: &[f64], parameters: &[f64]) -> Array2<f64> {
    let mut jacobian = Jacobian::new(track);
    let mut partials = Array2::zeros((times.len(), jacobian.columns()));
    jacobian.fill(times, parameters, &mut [], partials.view_mut());
    partials
}

/// The partial derivatives of the track's value at time `t`, one for each parameter.
pub fn gradient(track: &Track, t: f64, parameters: &[f64]) -> Array1<f64> {
    jacobian(track, &[t], parameters).row(0).to_owned()
}

/// The track's value, velocity and acceleration at time `t`: its zeroth, first and second derivatives in time.
///
/// At a key's time they are those of the segment to its right.
pub fn time_derivatives(track: &Track, t: f64, parameters: &[f64]) -> (f64, f64, f64) {
    motion(track, &[t], parameters)[0]
}

/// What [`time_derivatives`] gives, at each of the times.
pub fn motion(track: &Track, times: &[f64], parameters: &[f64]) -> Vec<(f64, f64, f64)> {
    let parameters: Vec<_> = parameters.iter().map(|&x| Jet::<Dual2_64>::constant(x)).collect();
    let mut sampler = Sampler::new(track);
    let mut at = |t: &f64| {
        let Jet(dual) = sampler.sample_at(&Jet::time(*t), &parameters);
        (dual.re, dual.v1, dual.v2)
    };
    times.iter().map(&mut at).collect()
}

/// The direction of travel of a point that moves by `x` and `y`, in radians in [−π, π], and how fast it turns in radians per
/// second, at time `t` and the parameters' current values: see [`travel`]. [`keyfit_ir::heading`] is the direction from
/// differences, as a track.
///
/// ```
/// let [x, y] = ["cos(t)", "sin(t)"].map(keyfit_ir::Track::parse);
/// assert_eq!(keyfit_autodiff::heading(&x?, &y?, 0.0), (std::f64::consts::FRAC_PI_2, 1.0));
/// # Ok::<(), keyfit_ir::SyntaxError>(())
/// ```
pub fn heading(x: &Track, y: &Track, t: f64) -> (f64, f64) {
    travel(time_derivatives(x, t, &[]), time_derivatives(y, t, &[]))
}

/// The direction of travel and how fast it turns, from what [`time_derivatives`] gives along both axes: atan2(ẏ, ẋ) and
/// (ẋ·ÿ − ẏ·ẍ)/(ẋ² + ẏ²). Both are 0 at rest.
pub fn travel((_, vx, ax): (f64, f64, f64), (_, vy, ay): (f64, f64, f64)) -> (f64, f64) {
    if vx == 0.0 && vy == 0.0 {
        return (0.0, 0.0);
    }
    // scaled, so that no square overflows or vanishes
    let size = vx.abs().max(vy.abs());
    let (ux, uy) = (vx / size, vy / size);
    (Scalar::atan2(&vy, &vx), (ux * (ay / size) - uy * (ax / size)) / (ux * ux + uy * uy))
}

/// The partial derivatives of one operation at `operands`, all of which move; 0 for those beyond the arity.
///
/// ```
/// use keyfit_ir::Op;
/// assert_eq!(keyfit_autodiff::local_partials(Op::MUL, [2.0, 3.0, 0.0]), [3.0, 2.0, 0.0]);
/// assert_eq!(keyfit_autodiff::local_partials(Op::FLOOR, [2.5, 0.0, 0.0]), [0.0; 3]);
/// ```
pub fn local_partials(op: Op, operands: [f64; MAX_ARITY]) -> [f64; MAX_ARITY] {
    let [a, b, c]: [Jet<DualSVec64<MAX_ARITY>>; MAX_ARITY] =
        std::array::from_fn(|i| Jet::variable(operands[i], Some(i)));
    let Jet(dual) = op.apply([&a, &b, &c]);
    std::array::from_fn(|i| dual.eps.0.map_or(0.0, |eps| eps[i]))
}

/// The partial derivatives of a keyed node by those of its children that its value at the clock's depends on; `values[i]` is
/// the value of the node at place i. A child that is left out has none.
///
/// ```
/// use keyfit_autodiff::keyed_partials;
/// let track = keyfit_ir::Track::parse("linear[0=1 2=5 9=7](?when=0.5)")?;
/// let keyfit_ir::Node::Keyed(keyed) = &track.nodes()[track.root().index()] else { panic!() };
/// let partials = keyed_partials(keyed, &track.node_values(0.0));
/// assert_eq!(partials.iter().map(|(_, slope)| *slope).collect::<Vec<_>>(), [2.0, 0.75, 0.25]);
/// # Ok::<(), keyfit_ir::SyntaxError>(())
/// ```
pub fn keyed_partials(keyed: &Keyed, values: &[f64]) -> Vec<(Id, f64)> {
    let value = |id: Id| values.get(id.index()).unwrap_or(&f64::NAN);
    // the clock, and at most four more: a spline's keys, or a cubic's two keys and tangents
    let looked_at = RefCell::new(vec![keyed.clock()]);
    keyed.value(value(keyed.clock()), &mut 0, |id| {
        let mut ids = looked_at.borrow_mut();
        if !ids.contains(&id) {
            ids.push(id);
        }
        value(id)
    });
    let ids = looked_at.into_inner();
    let jets: Vec<Jet<DualSVec64<5>>> =
        ids.iter().enumerate().map(|(i, id)| Jet::variable(*value(*id), Some(i))).collect();
    let nowhere = Jet::constant(f64::NAN);
    let jet = |id: Id| ids.iter().position(|own| *own == id).map_or(&nowhere, |i| &jets[i]);
    let Jet(dual) = keyed.value(jet(keyed.clock()), &mut 0, jet);
    ids.iter()
        .enumerate()
        .map(|(i, id)| (*id, dual.eps.0.and_then(|eps| eps.get(i).copied()).unwrap_or(0.0)))
        .collect()
}
