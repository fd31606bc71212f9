//! The singular value decomposition of a scaled Jacobian, which answers everything that is asked of it.
//!
//! With `J = U Σ Vᵀ D` (`D` the column scales) the damped step for any damping costs `O(n²)`, the step of a
//! rank-deficient problem is the shortest one, and rank, covariance and undetermined combinations can be read off.
//! Column scaling makes it as accurate as QR with column pivoting.

use faer::Mat;
use ndarray::{Array2, ArrayView1, ArrayView2};

/// Euclidean norm that neither overflows nor underflows on the way.
pub(crate) fn norm(values: ArrayView1<'_, f64>) -> f64 {
    let largest = values.iter().fold(0.0, |largest: f64, v| largest.max(v.abs()));
    if largest == 0.0 {
        return 0.0;
    }
    largest * values.iter().map(|v| (v / largest).powi(2)).sum::<f64>().sqrt()
}

/// `‖D v‖`.
pub(crate) fn scaled_norm(scales: &[f64], v: &[f64]) -> f64 {
    norm(ArrayView1::from(&scales.iter().zip(v).map(|(d, v)| d * v).collect::<Vec<_>>()))
}

/// How much rounding `x` to `f64` alone changes the residual vector: `ε ‖ |J| |x| ‖`. Nothing below it can be asked.
pub(crate) fn rounding_of_residuals(jacobian: ArrayView2<'_, f64>, x: &[f64]) -> f64 {
    let change = |row: ArrayView1<'_, f64>| row.iter().zip(x).map(|(d, x)| (d * x).abs()).sum::<f64>();
    f64::EPSILON * norm(jacobian.rows().into_iter().map(change).collect::<Vec<_>>().as_slice().into())
}

/// `J D⁻¹ = U Σ Vᵀ`.
#[derive(Debug)]
pub(crate) struct Decomposition {
    scales: Vec<f64>,
    u: Mat<f64>,
    singular_values: Vec<f64>,
    v: Mat<f64>,
    rank: usize,
}

impl Decomposition {
    /// Decomposes a finite Jacobian with columns divided by `scales` (a scale of zero counts as 1). `None` if the
    /// iteration for the singular values fails.
    pub fn new(jacobian: ArrayView2<'_, f64>, scales: &[f64]) -> Option<Self> {
        let (m, n) = jacobian.dim();
        let scales: Vec<f64> = scales.iter().map(|d| if *d > 0.0 { *d } else { 1.0 }).collect();
        // Rows of zeros for m < n: V is always n × n, so that the undetermined combinations are all there.
        let scaled = Mat::from_fn(m.max(n), n, |i, j| if i < m { jacobian[[i, j]] / scales[j] } else { 0.0 });
        let svd = scaled.thin_svd().ok()?;
        let singular_values: Vec<f64> = svd.S().column_vector().iter().copied().collect();
        let largest = singular_values.first().copied()?;
        let tolerance = f64::EPSILON * m.max(n) as f64 * largest;
        let rank = singular_values.iter().filter(|s| **s > tolerance).count();
        Some(Self { scales, u: svd.U().to_owned(), singular_values, v: svd.V().to_owned(), rank })
    }

    pub fn rank(&self) -> usize {
        self.rank
    }

    /// The components of `r` in the range of `J`: what a step can change, to first order.
    pub fn project(&self, residuals: &[f64]) -> Vec<f64> {
        (0..self.rank).map(|k| self.u.col(k).iter().zip(residuals).map(|(u, r)| u * r).sum()).collect()
    }

    /// The part of each component that a step with this damping removes: `σ²/(σ²+λ)`.
    fn removed(&self, damping: f64) -> impl Iterator<Item = f64> {
        self.singular_values.iter().take(self.rank).map(move |s| s * s / (s * s + damping))
    }

    /// The step `p` that minimises `‖r + J p‖² + λ ‖D p‖²`, from `projected` = [`project`](Self::project)`(r)`.
    pub fn step(&self, projected: &[f64], damping: f64) -> Vec<f64> {
        let along: Vec<f64> = self
            .removed(damping)
            .zip(&self.singular_values)
            .zip(projected)
            .map(|((part, s), c)| -part * c / s)
            .collect();
        (0..self.scales.len())
            .map(|j| along.iter().enumerate().map(|(k, z)| self.v[(j, k)] * z).sum::<f64>() / self.scales[j])
            .collect()
    }

    /// `‖r‖² − ‖r + J p‖²` of that step.
    pub fn predicted_reduction(&self, projected: &[f64], damping: f64) -> f64 {
        self.removed(damping).zip(projected).map(|(part, c)| c * c * part * (2.0 - part)).sum()
    }

    /// The damping for which `‖D p‖` is within a tenth of `radius`; 0 if the undamped step is within it.
    ///
    /// Newton's method on `1/radius − 1/‖D p(λ)‖` (Hebden, Moré), which comes from the left and never overshoots.
    pub fn damping_for(&self, projected: &[f64], radius: f64) -> f64 {
        let mut damping = 0.0;
        for _ in 0..100 {
            let (mut square, mut slope) = (0.0, 0.0);
            for (s, c) in self.singular_values.iter().zip(projected) {
                let z = s * c / (s * s + damping);
                square += z * z;
                slope += z * z / (s * s + damping);
            }
            let length = f64::sqrt(square);
            if length.is_nan() || length <= 1.1 * radius {
                break;
            }
            damping += (length / radius - 1.0) * square / slope;
        }
        damping
    }

    /// `variance · (JᵀJ)⁻¹`, or `None` if the rank is deficient.
    pub fn covariance(&self, variance: f64) -> Option<Array2<f64>> {
        let n = self.scales.len();
        let entry = |(i, j): (usize, usize)| {
            let sum: f64 = (0..n)
                .map(|k| {
                    (self.v[(i, k)] / self.singular_values[k]) * (self.v[(j, k)] / self.singular_values[k])
                })
                .sum();
            variance * (sum / self.scales[i] / self.scales[j])
        };
        (self.rank == n).then(|| Array2::from_shape_fn((n, n), entry))
    }

    /// Directions of length 1 along which no residual changes, to first order.
    pub fn undetermined(&self) -> Vec<Vec<f64>> {
        (self.rank..self.scales.len())
            .map(|k| {
                let direction: Vec<f64> =
                    self.scales.iter().enumerate().map(|(j, d)| self.v[(j, k)] / d).collect();
                let length = norm(ArrayView1::from(&direction));
                direction.iter().map(|v| v / length).collect()
            })
            .collect()
    }
}
