//! The singular value decomposition of a small triangle by one-sided Jacobi rotations, which find small singular values to
//! full relative accuracy (Demmel & Veselić, SIAM J. Matrix Anal. Appl. 13 (1992) 1204–1245).

use super::{dot, norm};

/// Sweeps after which the iteration has failed; well-scaled matrices need about six.
const SWEEPS: usize = 60;

/// `R = U Σ Vᵀ`.
#[derive(Debug)]
pub(super) struct Svd {
    /// The singular values, descending.
    pub values: Vec<f64>,
    /// For each of them the columns of `U` and of `V`. A column of `U` that belongs to a zero is zero.
    vectors: Vec<f64>,
}

impl Svd {
    /// Of an upper triangle with `n` rows; `None` if the iteration fails.
    pub fn of_triangle(n: usize, entry: impl Fn(usize, usize) -> f64) -> Option<Svd> {
        // the columns of Rᵀ are nearer to orthogonal than those of R. But they do not tell what R maps to zero.
        let transposed = Rotated::of(n, |i, j| if i >= j { entry(j, i) } else { 0.0 })?;
        let largest = transposed.lengths.iter().fold(0.0_f64, |largest, x| largest.max(*x));
        if transposed.lengths.iter().all(|x| *x > n as f64 * f64::EPSILON * largest) {
            return Some(transposed.sorted(true));
        }
        Some(Rotated::of(n, |i, j| if i <= j { entry(i, j) } else { 0.0 })?.sorted(false))
    }

    fn vectors(&self, k: usize) -> (&[f64], &[f64]) {
        let n = self.values.len();
        self.vectors[2 * n * k..2 * n * (k + 1)].split_at(n)
    }

    /// A column of `U`.
    pub fn u(&self, k: usize) -> &[f64] {
        self.vectors(k).0
    }

    /// A column of `V`.
    pub fn v(&self, k: usize) -> &[f64] {
        self.vectors(k).1
    }
}

/// `A V` with orthogonal columns, and `V`.
struct Rotated {
    /// Each column of `A V` above that of `V`: one rotation turns both. Zeros fill up to whole fours.
    columns: Vec<f64>,
    height: usize,
    /// Of the columns of `A V`.
    lengths: Vec<f64>,
}

impl Rotated {
    fn of(n: usize, entry: impl Fn(usize, usize) -> f64) -> Option<Rotated> {
        let height = n.next_multiple_of(4);
        let mut columns = vec![0.0; 2 * height * n];
        for (j, column) in columns.chunks_exact_mut((2 * height).max(1)).enumerate() {
            column[..n].iter_mut().enumerate().for_each(|(i, x)| *x = entry(i, j));
            column[height + j] = 1.0;
        }
        let square = |columns: &[f64], j: usize| {
            let column = &columns[2 * height * j..][..height];
            dot(column, column)
        };
        let mut squares: Vec<f64> = (0..n).map(|j| square(&columns, j)).collect();
        // A column this short is what cancellation leaves of a zero; it would shrink for ever and never be orthogonal.
        let nothing = (f64::EPSILON * f64::EPSILON * squares.iter().sum::<f64>().sqrt()).powi(2);
        let rounding = n as f64 * f64::EPSILON; // of a scalar product of n terms, against the lengths
        for _ in 0..SWEEPS {
            let mut orthogonal = true;
            for p in 0..n {
                for q in p + 1..n {
                    let (before, from) = columns.split_at_mut(2 * height * q);
                    let (x, y) = (&mut before[2 * height * p..][..2 * height], &mut from[..2 * height]);
                    let (alpha, beta) = (squares[p], squares[q]);
                    let gamma = dot(&x[..height], &y[..height]);
                    if alpha.min(beta) <= nothing || gamma.abs() <= rounding * alpha.sqrt() * beta.sqrt() {
                        continue;
                    }
                    orthogonal = false;
                    let zeta = (beta - alpha) / (2.0 * gamma);
                    let tangent = zeta.signum() / (zeta.abs() + (1.0 + zeta * zeta).sqrt());
                    let cosine = 1.0 / (1.0 + tangent * tangent).sqrt();
                    let sine = cosine * tangent;
                    for (x, y) in x.as_chunks_mut::<4>().0.iter_mut().zip(y.as_chunks_mut::<4>().0) {
                        for k in 0..4 {
                            (x[k], y[k]) = (cosine * x[k] - sine * y[k], sine * x[k] + cosine * y[k]);
                        }
                    }
                    (squares[p], squares[q]) = (square(&columns, p), square(&columns, q));
                }
            }
            if orthogonal {
                let lengths = (0..n).map(|j| norm(&columns[2 * height * j..][..height])).collect();
                return Some(Rotated { columns, height, lengths });
            }
        }
        None
    }

    /// The decomposition of `A`, or of `Aᵀ`.
    fn sorted(&self, transposed: bool) -> Svd {
        let n = self.lengths.len();
        let mut order: Vec<usize> = (0..n).collect();
        order.sort_by(|i, j| self.lengths[*j].total_cmp(&self.lengths[*i]));
        let mut vectors = Vec::with_capacity(2 * n * n);
        for j in &order {
            let (image, own) = self.columns[2 * self.height * j..].split_at(self.height);
            let length = self.lengths[*j];
            let image = image[..n].iter().map(|x| if length == 0.0 { 0.0 } else { x / length });
            if transposed {
                vectors.extend_from_slice(&own[..n]);
                vectors.extend(image);
            } else {
                vectors.extend(image);
                vectors.extend_from_slice(&own[..n]);
            }
        }
        Svd { values: order.iter().map(|j| self.lengths[*j]).collect(), vectors }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Graded columns: norm-wise backward stable methods lose the last singular values.
    const GRADED: [[f64; 3]; 3] = [[1.0, 1e-8, 2e-15], [0.0, 1e-8, 1e-15], [0.0, 0.0, 1e-15]];
    const SINGULAR: [[f64; 3]; 3] = [[1.0, 2.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 1.0]];
    const FULL: [[f64; 3]; 3] = [[1.0, 0.9, 0.8], [0.0, 0.1, 0.7], [0.0, 0.0, -0.5]];

    #[test]
    fn the_factors_give_the_triangle_back() {
        for r in [GRADED, SINGULAR, FULL] {
            let largest = |j: usize| r.iter().fold(0.0_f64, |largest, row| largest.max(row[j].abs()));
            let svd = Svd::of_triangle(3, |i, j| r[i][j]).unwrap();
            assert!(svd.values.is_sorted_by(|a, b| a >= b));
            for (i, row) in r.iter().enumerate() {
                for (j, entry) in row.iter().enumerate() {
                    let back: f64 = (0..3).map(|k| svd.u(k)[i] * svd.values[k] * svd.v(k)[j]).sum();
                    assert!((back - entry).abs() <= 1e-15 * largest(j), "{back} is not {entry}");
                    let product = dot(svd.v(i), svd.v(j));
                    assert!(
                        (product - f64::from(u8::from(i == j))).abs() < 1e-15,
                        "V is orthogonal: {product}"
                    );
                }
            }
        }
    }

    #[test]
    fn small_singular_values_are_found_to_full_relative_accuracy() {
        let svd = Svd::of_triangle(3, |i, j| GRADED[i][j]).unwrap();
        let product: f64 = svd.values.iter().product();
        assert!((product / 1e-23 - 1.0).abs() < 1e-14, "{:?}", svd.values); // |det R|
    }

    #[test]
    fn what_is_mapped_to_zero_is_there() {
        let svd = Svd::of_triangle(3, |i, j| SINGULAR[i][j]).unwrap();
        assert!(svd.values[2] < 1e-16 && svd.u(2) == [0.0; 3]);
        let null = svd.v(2);
        assert!((null[0] + 2.0 * null[1]).abs() < 1e-15 && null[2].abs() < 1e-15, "{null:?}");
    }
}
