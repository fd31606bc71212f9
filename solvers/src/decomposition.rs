//! The singular value decomposition of a scaled Jacobian, which answers everything that is asked of it.
//!
//! `J D⁻¹ = Q R` by Householder reflections, then `R = U Σ Vᵀ` by one-sided Jacobi rotations, which find small singular
//! values to full relative accuracy (Demmel & Veselić, SIAM J. Matrix Anal. Appl. 13 (1992) 1204–1245). Both use nothing
//! but + − × ÷ √ in a fixed order, so that a run has the same bits on every machine; libraries that choose their
//! kernels by the processor (faer, BLAS) cannot promise that.
//!
//! With `J = U Σ Vᵀ D` (`D` the column scales) the damped step for any damping costs `O(n²)`, the step of a
//! rank-deficient problem is the shortest one, and rank, covariance and undetermined combinations can be read off.
//! Column scaling makes it as accurate as QR with column pivoting.

use nalgebra::linalg::QR;
use nalgebra::{DMatrix, DVector, Dyn};
use ndarray::{Array2, ArrayView1, ArrayView2};

use crate::quadratic::Quadratic;

pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

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

/// `Jᵀ J`, by plain sums.
pub(crate) fn gram(jacobian: &Array2<f64>) -> Array2<f64> {
    let entry = |(i, j): (usize, usize)| {
        jacobian.column(i).iter().zip(jacobian.column(j)).map(|(a, b)| a * b).sum::<f64>()
    };
    Array2::from_shape_fn((jacobian.ncols(), jacobian.ncols()), entry)
}

/// `J D⁻¹ = Q U Σ Vᵀ`.
#[derive(Debug)]
pub(crate) struct Decomposition {
    scales: Vec<f64>,
    qr: QR<f64, Dyn, Dyn>,
    /// The rows of `Q`: residuals, or parameters if they are more.
    rows: usize,
    u: DMatrix<f64>,
    /// Descending.
    singular_values: Vec<f64>,
    v: DMatrix<f64>,
    rank: usize,
}

impl Decomposition {
    /// Decomposes a finite Jacobian with columns divided by `scales` (a scale of zero counts as 1). `None` if the
    /// iteration for the singular values fails.
    pub fn new(jacobian: ArrayView2<'_, f64>, scales: &[f64]) -> Option<Self> {
        let (m, n) = jacobian.dim();
        let scales: Vec<f64> = scales.iter().map(|d| if *d > 0.0 { *d } else { 1.0 }).collect();
        // Rows of zeros for m < n: V is always n × n, so that the undetermined combinations are all there.
        let rows = m.max(n);
        let scaled = DMatrix::from_fn(rows, n, |i, j| if i < m { jacobian[[i, j]] / scales[j] } else { 0.0 });
        let qr = scaled.qr();
        let (u, singular_values, v) = singular_value_decomposition(qr.r())?;
        let tolerance = f64::EPSILON * rows as f64 * singular_values.first().copied()?;
        let rank = singular_values.iter().filter(|s| **s > tolerance).count();
        Some(Self { scales, qr, rows, u, singular_values, v, rank })
    }

    pub fn rank(&self) -> usize {
        self.rank
    }

    /// The largest singular value over the last of the first `columns` ones; infinite where the rank is less.
    pub fn condition(&self, columns: usize) -> f64 {
        if self.rank < columns {
            return f64::INFINITY;
        }
        let last = columns.checked_sub(1).and_then(|k| self.singular_values.get(k));
        self.singular_values.first().zip(last).map_or(1.0, |(first, last)| first / last)
    }

    /// The components of `r` in the range of `J`: what a step can change, to first order.
    pub fn project(&self, residuals: &[f64]) -> Vec<f64> {
        let mut rotated = DVector::from_fn(self.rows, |i, _| residuals.get(i).copied().unwrap_or(0.0));
        self.qr.q_tr_mul(&mut rotated);
        (0..self.rank).map(|k| self.u.column(k).iter().zip(&rotated).map(|(u, r)| u * r).sum()).collect()
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
        self.back(&along)
    }

    /// `D⁻¹ V z`.
    fn back(&self, along: &[f64]) -> Vec<f64> {
        (0..self.scales.len())
            .map(|j| along.iter().enumerate().map(|(k, z)| self.v[(j, k)] * z).sum::<f64>() / self.scales[j])
            .collect()
    }

    /// Powell's dogleg: the step with `‖D p‖ ≤ radius` on the way from the lowest point against the gradient to the
    /// undamped step, and the `‖r‖² − ‖r + J p‖²` that it promises.
    pub fn dogleg(&self, projected: &[f64], radius: f64) -> (Vec<f64>, f64) {
        let length = |v: &[f64]| norm(ArrayView1::from(v));
        let each = |f: &dyn Fn(f64, f64) -> f64| -> Vec<f64> {
            self.singular_values.iter().zip(projected).map(|(s, c)| f(*s, *c)).collect()
        };
        let newton = each(&|s, c| -c / s);
        let gradient = each(&|s, c| s * c);
        let steepness = length(&gradient);
        let along = if length(&newton) <= radius || steepness == 0.0 {
            newton
        } else {
            let bent: Vec<f64> = gradient.iter().zip(&self.singular_values).map(|(g, s)| g * s).collect();
            // to the lowest point against the gradient, or to the radius
            let lowest = steepness * (steepness / length(&bent)).powi(2);
            let reach = lowest.min(radius) / steepness;
            let cauchy: Vec<f64> = gradient.iter().map(|g| -reach * g).collect();
            let rest: Vec<f64> = newton.iter().zip(&cauchy).map(|(n, c)| n - c).collect();
            let (a, c) = (length(&rest), radius * radius - length(&cauchy).powi(2));
            let b: f64 = rest.iter().zip(&cauchy).map(|(r, c)| r * c).sum();
            // the positive root of a²τ² + 2bτ = c, without cancellation
            let part = if lowest < radius { c / (b + (b * b + a * a * c).sqrt()) } else { 0.0 };
            cauchy.iter().zip(&rest).map(|(c, r)| c + part * r).collect()
        };
        let promised = (self.singular_values.iter().zip(projected).zip(&along))
            .map(|((s, c), z)| -s * z * (2.0 * c + s * z))
            .sum();
        (self.back(&along), promised)
    }

    /// The step with `‖D p‖ ≤ radius` that makes the linear model smallest in the plane of the gradient and the undamped step,
    /// and the `‖r‖² − ‖r + J p‖²` that it promises. Byrd, Schnabel & Shultz, Math. Program. 40 (1988) 247–263.
    pub fn subspace(&self, projected: &[f64], radius: f64) -> (Vec<f64>, f64) {
        let each = |f: &dyn Fn(f64, f64) -> f64| -> Vec<f64> {
            self.singular_values.iter().zip(projected).map(|(s, c)| f(*s, *c)).collect()
        };
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let unit = |v: Vec<f64>| -> Option<Vec<f64>> {
            let length = norm(ArrayView1::from(&v));
            (length > 0.0).then(|| v.iter().map(|v| v / length).collect())
        };
        let gradient = each(&|s, c| s * c);
        let Some(first) = unit(gradient.clone()) else { return self.dogleg(projected, radius) };
        let newton = unit(each(&|s, c| -c / s)).unwrap_or_else(|| first.clone());
        let part = dot(&first, &newton);
        let across: Vec<f64> = newton.iter().zip(&first).map(|(n, g)| n - part * g).collect();
        // where the two are parallel to rounding the plane is a line
        let second = unit(across).filter(|_| 1.0 - part.abs() > f64::EPSILON);
        let axes: Vec<Vec<f64>> = [first].into_iter().chain(second).collect();
        let bent =
            |v: &[f64]| -> Vec<f64> { v.iter().zip(&self.singular_values).map(|(v, s)| v * s).collect() };
        let images: Vec<Vec<f64>> = axes.iter().map(|axis| bent(axis)).collect();
        let matrix = Array2::from_shape_fn((axes.len(), axes.len()), |(i, j)| dot(&images[i], &images[j]));
        let slopes: Vec<f64> = axes.iter().map(|axis| dot(axis, &gradient)).collect();
        let Some(model) = Quadratic::new(matrix, &slopes) else { return self.dogleg(projected, radius) };
        let (plane, promise) = model.within(radius);
        let mut along = vec![0.0; gradient.len()];
        for (axis, by) in axes.iter().zip(plane) {
            along.iter_mut().zip(axis).for_each(|(z, a)| *z += by * a);
        }
        (self.back(&along), 2.0 * promise)
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

    /// The step within a tenth of `radius` that minimises `‖r + J p‖`, and the fall of the sum of squares that it promises.
    pub fn damped(&self, projected: &[f64], radius: f64) -> (Vec<f64>, f64) {
        let damping = self.damping_for(projected, radius);
        (self.step(projected, damping), self.predicted_reduction(projected, damping))
    }

    /// `V Σ⁻¹`, of which `D⁻¹ V Σ⁻¹` is a square root of `(JᵀJ)⁻¹`; for full rank.
    fn root(&self, j: usize) -> Vec<f64> {
        self.singular_values.iter().enumerate().map(|(k, sigma)| self.v[(j, k)] / sigma).collect()
    }

    /// `deviation² · (JᵀJ)⁻¹`; for full rank.
    pub fn covariance(&self, deviation: f64) -> Array2<f64> {
        let n = self.scales.len();
        let rows: Vec<Vec<f64>> = (0..n).map(|j| self.root(j)).collect();
        let entry = |(i, j): (usize, usize)| {
            let sum: f64 = rows[i].iter().zip(&rows[j]).map(|(a, b)| a * b).sum();
            (deviation / self.scales[i]) * (deviation / self.scales[j]) * sum
        };
        Array2::from_shape_fn((n, n), entry)
    }

    /// The square roots of the covariance's diagonal; for full rank.
    pub fn standard_errors(&self, deviation: f64) -> Vec<f64> {
        let n = self.scales.len();
        (0..n).map(|j| deviation / self.scales[j] * norm(ArrayView1::from(&self.root(j)))).collect()
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

/// Sweeps after which the iteration has failed; well-scaled matrices need about six.
const SWEEPS: usize = 60;

/// `A = U Σ Vᵀ` of a square matrix, singular values descending; columns of `U` that belong to a zero are zero.
///
/// One-sided Jacobi: rotations from the right make the columns of `A V` orthogonal.
fn singular_value_decomposition(mut a: DMatrix<f64>) -> Option<(DMatrix<f64>, Vec<f64>, DMatrix<f64>)> {
    let n = a.ncols();
    let mut v = DMatrix::identity(n, n);
    // A column this short is what cancellation leaves of a zero; it would shrink for ever and never be orthogonal.
    let nothing = (f64::EPSILON * f64::EPSILON * a.norm()).powi(2);
    let rounding = n as f64 * f64::EPSILON; // of a scalar product of n terms, against the lengths
    let mut orthogonal = false;
    for _ in 0..SWEEPS {
        orthogonal = true;
        for p in 0..n {
            for q in p + 1..n {
                let (alpha, beta) = (a.column(p).norm_squared(), a.column(q).norm_squared());
                let gamma = a.column(p).dot(&a.column(q));
                if alpha.min(beta) <= nothing || gamma.abs() <= rounding * alpha.sqrt() * beta.sqrt() {
                    continue;
                }
                orthogonal = false;
                let zeta = (beta - alpha) / (2.0 * gamma);
                let tangent = zeta.signum() / (zeta.abs() + (1.0 + zeta * zeta).sqrt());
                let cosine = 1.0 / (1.0 + tangent * tangent).sqrt();
                for matrix in [&mut a, &mut v] {
                    for i in 0..n {
                        let (x, y) = (matrix[(i, p)], matrix[(i, q)]);
                        matrix[(i, p)] = cosine * x - cosine * tangent * y;
                        matrix[(i, q)] = cosine * tangent * x + cosine * y;
                    }
                }
            }
        }
        if orthogonal {
            break;
        }
    }
    let values: Vec<f64> = a.column_iter().map(|column| column.norm()).collect();
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|i, j| values[*j].total_cmp(&values[*i]));
    let u = DMatrix::from_fn(n, n, |i, k| match values[order[k]] {
        0.0 => 0.0,
        sigma => a[(i, order[k])] / sigma,
    });
    let v = DMatrix::from_fn(n, n, |i, k| v[(i, order[k])]);
    orthogonal.then(|| (u, order.iter().map(|k| values[*k]).collect(), v))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_singular_values_are_found_to_full_relative_accuracy() {
        // R = U diag(1, 1e-8, 1e-15) Vᵀ with graded columns: norm-wise backward stable methods lose the last ones
        let r = DMatrix::from_row_slice(3, 3, &[1.0, 1e-8, 2e-15, 0.0, 1e-8, 1e-15, 0.0, 0.0, 1e-15]);
        let (u, sigma, v) = singular_value_decomposition(r.clone()).unwrap();
        let product: f64 = sigma.iter().product();
        assert!((product / 1e-23 - 1.0).abs() < 1e-14, "{sigma:?}"); // |det R|
        let back = &u * DMatrix::from_diagonal(&DVector::from_vec(sigma)) * v.transpose();
        for (found, expected) in back.iter().zip(&r) {
            assert!((found - expected).abs() <= 1e-15 * expected.abs().max(1e-8), "{back} is not {r}");
        }
    }

    #[test]
    fn a_missing_rank_is_seen() {
        let jacobian = ndarray::array![[1.0, 2.0, 0.0], [2.0, 4.0, 0.0]];
        let decomposition =
            Decomposition::new(jacobian.view(), &[5.0_f64.sqrt(), 20.0_f64.sqrt(), 0.0]).unwrap();
        assert_eq!((decomposition.rank(), decomposition.undetermined().len()), (1, 2));
    }
}
