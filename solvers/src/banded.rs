//! The QR factorization of a Jacobian that is a narrow band beside a few full columns, in time and memory that grow with its entries.
//!
//! Rows come in the order of their first place and are rotated into a triangle one by one; the full columns stand last. Nothing is squared,
//! so it loses no more digits than a dense QR. A column that depends on those before it shows as a diagonal entry at rounding level; its
//! row is rotated into later ones, and its parameter is left where it is. J. A. George & M. T. Heath, Linear Algebra Appl. 34
//! (1980) 69–83; M. T. Heath, SIAM J. Sci. Stat. Comput. 3 (1982) 223–237. Nothing but + − × ÷ √ in a fixed order, so that a run has
//! the same bits on every machine.

use crate::decomposition::norm;
use crate::jacobian::Sparse;

mod triangle;

use triangle::Triangle;

/// Undetermined directions that are told: each is as long as there are parameters.
const TOLD: usize = 32;
/// Steps of the iteration for the least singular value.
const INVERSE_STEPS: usize = 20;
/// Steps of the iteration for the damping.
const ROOT_STEPS: usize = 100;

/// `J D⁻¹ = Q R`, the columns in the order of their places.
#[derive(Debug)]
pub(crate) struct Banded {
    /// The scale of each column.
    scales: Vec<f64>,
    places: Vec<usize>,
    triangle: Triangle,
    /// `Q`: what was rotated into the triangle, each with the first of its rotations.
    passes: Vec<(Source, usize)>,
    rotations: Vec<Rotation>,
    /// The places of columns that depend on those before them.
    dependent: Vec<usize>,
}

/// What a rotation does: row `row` of the triangle becomes `c·row + s·source`, and the source `c·source − s·row`.
#[derive(Clone, Copy, Debug)]
struct Rotation {
    row: u32,
    c: f64,
    s: f64,
}

#[derive(Clone, Copy, Debug)]
enum Source {
    /// A row of the Jacobian.
    Residual(usize),
    /// A row of the triangle whose column depends on those before it.
    Dropped(usize),
}

impl Banded {
    /// Factors a finite Jacobian with columns divided by `scales` (a scale of zero counts as 1).
    pub fn new(jacobian: &Sparse, scales: &[f64]) -> Banded {
        let pattern = &jacobian.pattern;
        let (band, n) = (pattern.band, pattern.columns());
        let scales: Vec<f64> = scales.iter().map(|d| if *d > 0.0 { *d } else { 1.0 }).collect();
        let mut norms = vec![0.0; n];
        jacobian.grow(&mut norms);
        let longest = norms.iter().zip(&scales).map(|(norm, d)| norm / d).fold(0.0, f64::max);
        let mut banded = Banded {
            scales,
            places: pattern.places.clone(),
            triangle: Triangle::new(n, band, pattern.width, 0),
            passes: Vec::new(),
            rotations: Vec::new(),
            dependent: Vec::new(),
        };
        let tolerance = f64::EPSILON * pattern.rows().max(n) as f64 * longest;
        let mut done = 0;
        for &i in &pattern.order {
            let lead = pattern.lead(i);
            // rows that come later no longer touch these
            (done..lead).for_each(|k| banded.close(k, tolerance));
            done = done.max(lead);
            let mut row = vec![0.0; banded.triangle.stride()];
            for (at, column) in pattern.row(i) {
                let slot = banded.triangle.slot(lead, banded.places[column]);
                row[slot] += jacobian.entries[at] / banded.scales[column];
            }
            banded.pass(Source::Residual(i), lead, &mut row);
        }
        (done..n).for_each(|k| banded.close(k, tolerance));
        banded
    }

    fn pass(&mut self, source: Source, lead: usize, row: &mut [f64]) {
        self.passes.push((source, self.rotations.len()));
        let rotations = &mut self.rotations;
        self.triangle.absorb(lead, row, |row, c, s| rotations.push(Rotation { row: row as u32, c, s }));
    }

    /// Row `k` of the triangle gets no more: it stays, unless its column depends on those before it.
    fn close(&mut self, k: usize, tolerance: f64) {
        if self.triangle.diagonal(k).abs() <= tolerance {
            self.dependent.push(k);
            let mut row = self.triangle.take(k);
            self.pass(Source::Dropped(k), k + 1, &mut row);
        }
    }

    pub fn rank(&self) -> usize {
        self.scales.len() - self.dependent.len()
    }

    /// The components of `r` in the range of `J`, by the rows of the triangle: what a step can change, to first order.
    pub fn project(&self, residuals: &[f64]) -> Vec<f64> {
        let mut along = vec![0.0; self.scales.len()];
        let ends = self.passes.iter().skip(1).map(|(_, first)| *first).chain([self.rotations.len()]);
        for ((source, first), end) in self.passes.iter().zip(ends) {
            let mut own = match source {
                Source::Residual(i) => residuals.get(*i).copied().unwrap_or(0.0),
                Source::Dropped(k) => std::mem::take(&mut along[*k]),
            };
            for Rotation { row, c, s } in &self.rotations[*first..end] {
                let there = &mut along[*row as usize];
                (*there, own) = (c * *there + s * own, c * own - s * *there);
            }
        }
        along
    }

    /// Scaled parameters by place to parameters by column.
    fn unscaled(&self, by_place: &[f64]) -> Vec<f64> {
        self.places.iter().zip(&self.scales).map(|(place, d)| by_place[*place] / d).collect()
    }

    /// The step `p` that minimises `‖r + J p‖²`, from `projected` = [`project`](Self::project)`(r)`. Parameters whose column depends
    /// on others do not move.
    pub fn step(&self, projected: &[f64]) -> Vec<f64> {
        self.unscaled(&self.triangle.solve(&negative(projected)))
    }

    /// The step within a tenth of `radius` that minimises `‖r + J p‖`, and the fall of the sum of squares that it promises.
    ///
    /// The damping by Newton's method on `1/radius − 1/‖D p(λ)‖` (Hebden, Moré), which comes from the left.
    pub fn damped(&self, projected: &[f64], radius: f64) -> (Vec<f64>, f64) {
        let mut damping = 0.0;
        let mut step = self.triangle.solve(&negative(projected));
        let mut slope = self.triangle.solve_transposed(&step);
        for _ in 0..ROOT_STEPS {
            let length = norm(&step);
            if length.is_nan() || length <= 1.1 * radius {
                break;
            }
            let steepness = norm(&slope) / length;
            damping += (length / radius - 1.0) / (steepness * steepness);
            let triangle = self.triangle.damped(projected, damping);
            step = triangle.solve(&triangle.last());
            slope = triangle.solve_transposed(&step);
        }
        let ahead = self.triangle.times(&step);
        let promised = ahead.iter().zip(projected).map(|(v, z)| -v * (2.0 * z + v)).sum();
        (self.unscaled(&step), promised)
    }

    /// The square roots of the diagonal of `deviation² · (JᵀJ)⁻¹`; for full rank.
    pub fn standard_errors(&self, deviation: f64) -> Vec<f64> {
        let roots = self.triangle.inverse_row_norms();
        self.places.iter().zip(&self.scales).map(|(place, d)| deviation / d * roots[*place]).collect()
    }

    /// The square of the least singular value of `J D⁻¹`, by inverse iteration: from above. 0 where the rank is short.
    pub fn least_eigenvalue(&self) -> f64 {
        if !self.dependent.is_empty() {
            return 0.0;
        }
        // not orthogonal to anything but by accident
        let mut vector: Vec<f64> = (0..self.scales.len()).map(|k| 1.0 + (k % 7) as f64 / 8.0).collect();
        let mut length = norm(&vector);
        for _ in 0..INVERSE_STEPS {
            vector.iter_mut().for_each(|v| *v /= length);
            vector = self.triangle.solve(&self.triangle.solve_transposed(&vector));
            length = norm(&vector);
        }
        1.0 / length
    }

    /// Directions of length 1 along which no residual changes, to first order; the first [`TOLD`] of them.
    pub fn undetermined(&self) -> Vec<Vec<f64>> {
        let null = |k: &usize| {
            let direction = self.unscaled(&self.triangle.null(*k));
            let length = norm(&direction);
            direction.iter().map(|v| v / length).collect()
        };
        self.dependent.iter().take(TOLD).map(null).collect()
    }
}

fn negative(v: &[f64]) -> Vec<f64> {
    v.iter().map(|v| -v).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::decomposition::Decomposition;
    use crate::jacobian::Jacobian;
    use crate::pattern::Pattern;
    use crate::random::Random;

    /// Rows that feel three columns beside each other and two that all rows feel, columns in a shuffled order; the entries from `random`.
    fn band(columns: usize, rows: usize, random: &mut Random) -> Sparse {
        let shuffled = |k: usize| (k * 37 + 11) % (columns - 2) + 2;
        let row = |i: usize| -> Vec<usize> {
            let first = i * (columns - 4) / rows;
            [0, 1].into_iter().chain((first..first + 3).map(shuffled)).collect()
        };
        let pattern = Arc::new(Pattern::narrow(columns, (0..rows).map(row)).unwrap());
        let entries = (0..pattern.entries()).map(|_| 2.0 * random.part() - 1.0).collect();
        Sparse { pattern, entries }
    }

    fn close(a: &[f64], b: &[f64], bound: f64) {
        let size = norm(b);
        for (k, (a, b)) in a.iter().zip(b).enumerate() {
            assert!((a - b).abs() <= bound * size, "{k}: {a:e} is not {b:e}, of {size:e}");
        }
    }

    #[test]
    fn a_shuffled_band_is_found() {
        let sparse = band(200, 900, &mut Random::new(1));
        let pattern = &sparse.pattern;
        assert_eq!((pattern.band, pattern.columns(), pattern.rows()), (198, 200, 900));
        assert!(pattern.width <= 5, "{}", pattern.width);
    }

    /// The factors answer as those of the dense matrix, where the rank is full and where it is not. The bound is 1e-10 of the
    /// result's length: the condition numbers of these matrices are below 1e4.
    #[test]
    fn a_band_is_factored_as_a_dense_matrix_is() {
        let mut random = Random::new(7);
        for missing in [0, 1, 3] {
            let mut sparse = band(120, 600, &mut random);
            let pattern = Arc::clone(&sparse.pattern);
            for i in 0..pattern.rows() {
                for (at, column) in pattern.row(i) {
                    // these columns are zero
                    if column >= 2 && column < 2 + missing {
                        sparse.entries[at] = 0.0;
                    }
                }
            }
            let residuals: Vec<f64> = (0..600).map(|_| random.part() - 0.5).collect();
            let jacobian = Jacobian::Sparse(sparse.clone());
            let scales: Vec<f64> = jacobian.norms().iter().map(|norm| norm * 1.5).collect();
            let banded = Banded::new(&sparse, &scales);
            let dense = Decomposition::new(jacobian.dense().view(), &scales).unwrap();
            assert_eq!((banded.rank(), dense.rank()), (120 - missing, 120 - missing));
            let (own, whole) = (banded.project(&residuals), dense.project(&residuals));
            let [own_length, length] = [&own, &whole].map(|v| norm(v));
            assert!((own_length - length).abs() <= 1e-12 * length);
            close(&banded.step(&own), &dense.step(&whole, 0.0), 1e-10);
            for radius in [1e-3, 0.1, 1.0] {
                let ((step, promise), (other, promised)) =
                    (banded.damped(&own, radius), dense.damped(&whole, radius));
                close(&step, &other, 1e-10);
                assert!((promise - promised).abs() <= 1e-10 * promised);
            }
            let directions = banded.undetermined();
            assert_eq!(directions.len(), missing);
            for direction in directions {
                assert!(norm(&jacobian.times(&direction)) < 1e-12);
            }
            if missing == 0 {
                close(&banded.standard_errors(0.5), &dense.standard_errors(0.5), 1e-10);
            }
        }
    }

    /// A column that is the sum of two others depends on them, whichever comes last.
    #[test]
    fn columns_that_depend_on_each_other_are_seen() {
        let mut sparse = band(120, 600, &mut Random::new(3));
        let pattern = Arc::clone(&sparse.pattern);
        for i in 0..pattern.rows() {
            let ats: Vec<usize> = pattern.row(i).map(|(at, _)| at).collect();
            // the second column that all feel: the first one less what is in the band, so that all columns sum to zero
            let sum: f64 = ats.iter().map(|at| sparse.entries[*at]).sum();
            sparse.entries[ats[1]] -= sum;
        }
        let jacobian = Jacobian::Sparse(sparse.clone());
        let banded = Banded::new(&sparse, &jacobian.norms());
        assert_eq!(banded.rank(), 119);
        let [direction] = &banded.undetermined()[..] else { panic!("one direction") };
        close(direction, &vec![direction[0]; 120], 1e-12);
    }

    #[test]
    fn the_least_eigenvalue_is_found() {
        let sparse = band(80, 400, &mut Random::new(5));
        let jacobian = Jacobian::Sparse(sparse.clone());
        let norms = jacobian.norms();
        let whole = jacobian.dense();
        let scaled = ndarray::Array2::from_shape_fn(whole.dim(), |(i, j)| whole[[i, j]] / norms[j]);
        let gram = crate::decomposition::gram(&scaled);
        let least = crate::quadratic::Quadratic::new(gram, &[0.0; 80]).unwrap().least();
        let found = Banded::new(&sparse, &norms).least_eigenvalue();
        assert!(found >= least * (1.0 - 1e-9) && found <= 1.1 * least, "{found:e} is not {least:e}");
    }
}
