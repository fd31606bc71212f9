//! Second derivatives of tracks in their parameters: sums of Hessians over many times, by tiles, by one direction, and along
//! a line.

use keyfit_ir::{Sampler, Track};
use ndarray::{Array2, ArrayViewMut2};
use num_dual::{Dual2_64, HyperDualSVec64};

use crate::derivative::times as product;
use crate::gradient::{BATCH, at};
use crate::jet::Jet;

/// The edge of a Hessian's tiles.
const TILE: usize = 4;
/// Rows of a Hessian that are multiplied with a direction at once.
const ROWS: usize = 8;

type Tile = Jet<HyperDualSVec64<TILE, TILE>>;
type Rows = Jet<HyperDualSVec64<ROWS, 1>>;
type Line = Jet<Dual2_64>;

/// Differentiates one track twice with respect to its free parameters at many times, reusing its memory.
///
/// ```
/// use keyfit_autodiff::Curvature;
/// let track = keyfit_ir::Track::parse("?a=2 * ?a=2 * t + ?b=1 * ?a=2")?;
/// let mut curvature = Curvature::new(&track);
/// // 3·(2t at t = 1) for a twice, 3 for a and b
/// let mut sum = ndarray::Array2::zeros((2, 2));
/// curvature.add_weighted(&[1.0], &[], &[3.0], sum.view_mut());
/// assert_eq!(sum, ndarray::array![[6.0, 3.0], [3.0, 0.0]]);
/// // the same times a direction, and the second derivative along it
/// let mut product = [0.0; 2];
/// curvature.add_product(&[1.0], &[], &[3.0], &[1.0, 2.0], &mut product);
/// assert_eq!(product, [12.0, 3.0]);
/// let mut along = [0.0];
/// curvature.along(&[1.0], &[], &[1.0, 2.0], &mut along);
/// assert_eq!(along, [6.0]);
/// # Ok::<(), keyfit_ir::SyntaxError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Curvature {
    track: Track,
    tile: Sampler<Tile>,
    rows: Sampler<Rows>,
    line: Sampler<Line>,
}

impl Curvature {
    /// For `track`.
    pub fn new(track: &Track) -> Curvature {
        Curvature {
            track: track.clone(),
            tile: Sampler::new(track),
            rows: Sampler::new(track),
            line: Sampler::new(track),
        }
    }

    /// Adds Σ wᵢ·∂²y(tᵢ)/∂pⱼ∂pₖ to `out` (parameters × parameters; what does not fit is left out), exactly symmetric. A weight of
    /// zero wins over an infinite derivative.
    pub fn add_weighted(
        &mut self,
        times: &[f64],
        parameters: &[f64],
        weights: &[f64],
        mut out: ArrayViewMut2<'_, f64>,
    ) {
        let values = at(&self.track, parameters);
        let n = values.len();
        for top in (0..n).step_by(TILE) {
            for left in (top..n).step_by(TILE) {
                let place = |k: usize, first: usize| k.checked_sub(first).filter(|i| *i < TILE);
                let variables: Vec<Tile> = values
                    .iter()
                    .enumerate()
                    .map(|(k, &x)| Jet::tile_variable(x, place(k, top), place(k, left)))
                    .collect();
                let mut sum = [[0.0; TILE]; TILE];
                each(&mut self.tile, times, weights, &variables, Jet::constant, |weight, Jet(dual)| {
                    let Some(second) = &dual.eps1eps2.0 else { return };
                    for (i, row) in sum.iter_mut().enumerate() {
                        for (j, slot) in row.iter_mut().enumerate() {
                            *slot += product(weight, second[(i, j)]);
                        }
                    }
                });
                for (i, row) in sum.iter().enumerate() {
                    for (j, value) in row.iter().enumerate() {
                        // the upper half, and its mirror image
                        let (i, j) = (top + i, left + j);
                        if let Some(slot) = out.get_mut((i, j)).filter(|_| i <= j) {
                            *slot += value;
                        }
                        if let Some(slot) = out.get_mut((j, i)).filter(|_| i < j) {
                            *slot += value;
                        }
                    }
                }
            }
        }
    }

    /// Adds the product of that matrix and `direction` to `out`, at the cost of a few columns.
    pub fn add_product(
        &mut self,
        times: &[f64],
        parameters: &[f64],
        weights: &[f64],
        direction: &[f64],
        out: &mut [f64],
    ) {
        let values = at(&self.track, parameters);
        for first in (0..values.len()).step_by(ROWS) {
            let place = |k: usize| k.checked_sub(first).filter(|i| *i < ROWS);
            let slope = |k: usize| direction.get(k).copied().unwrap_or(0.0);
            let variables: Vec<Rows> =
                values.iter().enumerate().map(|(k, &x)| Jet::row_variable(x, place(k), slope(k))).collect();
            let rows = out.get_mut(first..).unwrap_or_default();
            each(&mut self.rows, times, weights, &variables, Jet::constant, |weight, Jet(dual)| {
                let Some(second) = &dual.eps1eps2.0 else { return };
                for (slot, value) in rows.iter_mut().zip(second.iter()) {
                    *slot += product(weight, *value);
                }
            });
        }
    }

    /// Writes the second derivative of y(tᵢ) along the line p + s·direction to `out`, one for each time.
    pub fn along(&mut self, times: &[f64], parameters: &[f64], direction: &[f64], out: &mut [f64]) {
        let values = at(&self.track, parameters);
        let slope = |k: usize| direction.get(k).copied().unwrap_or(0.0);
        let variables: Vec<Line> =
            values.iter().enumerate().map(|(k, &x)| Jet::moving(x, slope(k))).collect();
        let mut slots = out.iter_mut();
        each(&mut self.line, times, &vec![1.0; times.len()], &variables, Jet::constant, |_, Jet(dual)| {
            if let Some(slot) = slots.next() {
                *slot = dual.v2;
            }
        });
    }
}

/// Evaluates at all times, batch by batch, and hands each weight and number to `take`.
fn each<S: keyfit_ir::Scalar>(
    sampler: &mut Sampler<S>,
    times: &[f64],
    weights: &[f64],
    variables: &[S],
    constant: impl Fn(f64) -> S,
    mut take: impl FnMut(f64, &S),
) {
    let mut out = Vec::new();
    for (times, weights) in times.chunks(BATCH).zip(weights.chunks(BATCH)) {
        let times: Vec<S> = times.iter().map(|t| constant(*t)).collect();
        out.clear();
        out.resize(times.len(), constant(0.0));
        sampler.sample_into(&times, variables, &mut out);
        weights.iter().zip(&out).for_each(|(weight, number)| take(*weight, number));
    }
}

/// The second partial derivatives of the track's value at time `t`, exactly symmetric. For sums over many times, use
/// [`Curvature`].
///
/// ```
/// use keyfit_ir::free;
/// let track = (free("a", 2.0) * free("b", 3.0)).track()?;
/// assert_eq!(keyfit_autodiff::hessian(&track, 0.0, &[]), ndarray::array![[0.0, 1.0], [1.0, 0.0]]);
/// # Ok::<(), keyfit_ir::BuildError>(())
/// ```
pub fn hessian(track: &Track, t: f64, parameters: &[f64]) -> Array2<f64> {
    let n = track.free_parameters().len();
    let mut out = Array2::zeros((n, n));
    Curvature::new(track).add_weighted(&[t], parameters, &[1.0], out.view_mut());
    out
}
