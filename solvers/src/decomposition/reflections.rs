//! `Q R` by Householder reflections.

use super::{dot, norm};

/// A shorter column counts as zero, one whose square underflows: against its scale it has vanished, and what is divided by its length
/// would overflow.
const NOTHING: f64 = 1e-154;

/// Householder reflections that make a matrix upper triangular: `Qᵀ A = R`.
#[derive(Debug)]
pub(super) struct Reflections {
    rows: usize,
    /// Column after column: R above the diagonal, and below it the reflections' vectors, whose first entry is 1.
    columns: Vec<f64>,
    /// R's diagonal, and the factors of the reflections `1 − τ v vᵀ`.
    diagonal: Vec<f64>,
    factors: Vec<f64>,
}

impl Reflections {
    /// Of `n` columns of that many rows, not less than `n`.
    pub fn new(mut columns: Vec<f64>, rows: usize, n: usize) -> Self {
        let (mut diagonal, mut factors) = (Vec::with_capacity(n), Vec::with_capacity(n));
        for k in 0..n {
            let (done, rest) = columns.split_at_mut(rows * (k + 1));
            let own = &mut done[rows * k + k..];
            // away from the first entry, so that nothing cancels
            let length = norm(own);
            let image = if length < NOTHING { 0.0 } else { -length.copysign(own[0]) };
            let head = own[0] - image;
            diagonal.push(image);
            factors.push(if image == 0.0 { 0.0 } else { -head / image });
            if image != 0.0 {
                own.iter_mut().for_each(|x| *x /= head);
                own[0] = 1.0;
                rest.chunks_exact_mut(rows).for_each(|other| reflect(own, factors[k], &mut other[k..]));
            }
        }
        Self { rows, columns, diagonal, factors }
    }

    /// An entry of `R`, on its diagonal or above.
    pub fn entry(&self, i: usize, j: usize) -> f64 {
        if i == j { self.diagonal[i] } else { self.columns[self.rows * j + i] }
    }

    /// Makes `Qᵀ b` of `b`.
    pub fn apply(&self, b: &mut [f64]) {
        for (k, factor) in self.factors.iter().enumerate() {
            reflect(&self.columns[self.rows * k + k..self.rows * (k + 1)], *factor, &mut b[k..]);
        }
    }
}

/// Makes `(1 − τ v vᵀ) b` of `b`.
fn reflect(v: &[f64], factor: f64, b: &mut [f64]) {
    let part = factor * dot(v, b);
    b.iter_mut().zip(v).for_each(|(b, v)| *b -= part * v);
}
