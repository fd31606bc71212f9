//! The singular value decomposition of a scaled Jacobian, which answers everything that is asked of it.
//!
//! `J D⁻¹ = Q R` by Householder reflections, then `R = U Σ Vᵀ` by one-sided Jacobi rotations. Both use nothing
//! but + − × ÷ √ in a fixed order, so that a run has the same bits on every machine; libraries that choose their
//! kernels by the processor (faer, BLAS) cannot promise that.
//!
//! With `J = U Σ Vᵀ D` (`D` the column scales) the damped step for any damping costs `O(n²)`, the step of a
//! rank-deficient problem is the shortest one, and rank, covariance and undetermined combinations can be read off.
//! Column scaling makes it as accurate as QR with column pivoting.

use nalgebra::{DMatrix, DVector};
use ndarray::{Array2, ArrayView2};

use crate::jacobian::contiguous;
use crate::quadratic::Quadratic;
use reflections::Reflections;
use svd::Svd;

mod reflections;
mod svd;

/// The sum of the products, by four sums at once.
#[inline]
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    let n = a.len().min(b.len());
    let ((a, a_rest), (b, b_rest)) = (a[..n].split_at(n & !3), b[..n].split_at(n & !3));
    let mut sums = [0.0; 4];
    for (a, b) in a.as_chunks::<4>().0.iter().zip(b.as_chunks::<4>().0) {
        for k in 0..4 {
            sums[k] += a[k] * b[k];
        }
    }
    let rest: f64 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest
}

/// Euclidean norm that neither overflows nor underflows on the way.
pub(crate) fn norm(values: &[f64]) -> f64 {
    length(dot(values, values), || values.iter().copied())
}

/// `‖D v‖`.
pub(crate) fn scaled_norm(scales: &[f64], v: &[f64]) -> f64 {
    let scaled = || scales.iter().zip(v).map(|(d, v)| d * v);
    length(scaled().map(|x| x * x).sum(), scaled)
}

/// The square root of a sum of squares, or where that may be wrong the length of the numbers.
fn length<I: Iterator<Item = f64>>(square: f64, values: impl Fn() -> I) -> f64 {
    if square > SAFE && square < 1.0 / SAFE {
        return square.sqrt();
    }
    let largest = values().fold(0.0, |largest: f64, v| largest.max(v.abs()));
    if largest == 0.0 {
        return 0.0;
    }
    largest * values().map(|v| (v / largest).powi(2)).sum::<f64>().sqrt()
}

/// A sum of squares above this has lost nothing to underflow, one below its reciprocal has not overflowed.
const SAFE: f64 = 1e-200;

/// `Jᵀ J`, by plain sums.
pub(crate) fn gram(jacobian: &Array2<f64>) -> Array2<f64> {
    let columns: Vec<_> = jacobian.columns().into_iter().map(contiguous).collect();
    let mut gram = Array2::zeros((columns.len(), columns.len()));
    for (i, one) in columns.iter().enumerate() {
        for (j, other) in columns[..=i].iter().enumerate() {
            gram[[i, j]] = dot(one, other);
            gram[[j, i]] = gram[[i, j]];
        }
    }
    gram
}

/// `J D⁻¹ = Q U Σ Vᵀ`.
#[derive(Debug)]
pub(crate) struct Decomposition {
    scales: Vec<f64>,
    qr: Reflections,
    /// The rows of `Q`: residuals, or parameters if they are more.
    rows: usize,
    svd: Svd,
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
        let mut scaled = Vec::with_capacity(rows * n);
        for (column, scale) in jacobian.columns().into_iter().zip(&scales) {
            scaled.extend(contiguous(column).iter().map(|d| d / scale));
            scaled.resize(scaled.len() + rows - m, 0.0);
        }
        let qr = Reflections::new(scaled, rows, n);
        let svd = Svd::of_triangle(n, |i, j| qr.entry(i, j))?;
        let tolerance = f64::EPSILON * rows as f64 * svd.values.first().copied()?;
        let rank = svd.values.iter().filter(|s| **s > tolerance).count();
        Some(Self { scales, qr, rows, svd, rank })
    }

    pub fn rank(&self) -> usize {
        self.rank
    }

    /// The largest singular value over the last of the first `columns` ones; infinite where the rank is less.
    pub fn condition(&self, columns: usize) -> f64 {
        if self.rank < columns {
            return f64::INFINITY;
        }
        let last = columns.checked_sub(1).and_then(|k| self.svd.values.get(k));
        self.svd.values.first().zip(last).map_or(1.0, |(first, last)| first / last)
    }

    /// The components of `r` in the range of `J`: what a step can change, to first order.
    pub fn project(&self, residuals: &[f64]) -> Vec<f64> {
        let mut rotated = residuals.to_vec();
        rotated.resize(self.rows, 0.0);
        self.qr.apply(&mut rotated);
        let n = self.scales.len();
        (0..self.rank).map(|k| dot(self.svd.u(k), &rotated[..n])).collect()
    }

    /// The part of each component that a step with this damping removes: `σ²/(σ²+λ)`.
    fn removed(&self, damping: f64) -> impl Iterator<Item = f64> {
        // undamped it is 1, also where squares underflow
        let part = move |s: &f64| if damping == 0.0 { 1.0 } else { s * s / (s * s + damping) };
        self.svd.values.iter().take(self.rank).map(part)
    }

    /// The step `p` that minimises `‖r + J p‖² + λ ‖D p‖²`, from `projected` = [`project`](Self::project)`(r)`.
    pub fn step(&self, projected: &[f64], damping: f64) -> Vec<f64> {
        let along: Vec<f64> = self
            .removed(damping)
            .zip(&self.svd.values)
            .zip(projected)
            .map(|((part, s), c)| -part * c / s)
            .collect();
        self.back(&along)
    }

    /// `D⁻¹ V z`.
    fn back(&self, along: &[f64]) -> Vec<f64> {
        (0..self.scales.len())
            .map(|j| {
                along.iter().enumerate().map(|(k, z)| self.svd.v(k)[j] * z).sum::<f64>() / self.scales[j]
            })
            .collect()
    }

    /// Newton's step for the Hessian `JᵀJ + S`, where that is positive definite: with `p = D⁻¹ V Σ⁻¹ y` it is
    /// `(1 + Σ⁻¹ Vᵀ D⁻¹ S D⁻¹ V Σ⁻¹) y = −Uᵀ Qᵀ r`, which has the accuracy of the decomposition and not that of `JᵀJ`. The eigenvalues of
    /// the added matrix are the factors by which Gauss–Newton's steps shrink. D. M. Bates & D. G. Watts, J. R. Stat. Soc. B 42
    /// (1980) 1–25.
    pub fn bent(&self, projected: &[f64], curvature: &Array2<f64>) -> Option<Vec<f64>> {
        let n = self.scales.len();
        let axes =
            DMatrix::from_fn(n, self.rank, |j, k| self.svd.v(k)[j] / self.scales[j] / self.svd.values[k]);
        let images: Vec<Vec<f64>> = axes
            .column_iter()
            .map(|axis| {
                curvature
                    .rows()
                    .into_iter()
                    .map(|row| row.iter().zip(&axis).map(|(s, a)| s * a).sum())
                    .collect()
            })
            .collect();
        let matrix = DMatrix::from_fn(self.rank, self.rank, |i, j| {
            let (i, j) = (i.min(j), i.max(j));
            let bend = dot(axes.column(i).as_slice(), &images[j]);
            if i == j { 1.0 + bend } else { bend }
        });
        let along = matrix.cholesky()?.solve(&DVector::from_fn(self.rank, |k, _| -projected[k]));
        let step = &axes * along;
        step.iter().all(|p| p.is_finite()).then(|| step.as_slice().to_vec())
    }

    /// Powell's dogleg: the step with `‖D p‖ ≤ radius` on the way from the lowest point against the gradient to the
    /// undamped step, and the `‖r‖² − ‖r + J p‖²` that it promises.
    pub fn dogleg(&self, projected: &[f64], radius: f64) -> (Vec<f64>, f64) {
        let length = |v: &[f64]| norm(v);
        let each = |f: &dyn Fn(f64, f64) -> f64| -> Vec<f64> {
            self.svd.values.iter().zip(projected).map(|(s, c)| f(*s, *c)).collect()
        };
        let newton = each(&|s, c| -c / s);
        let gradient = each(&|s, c| s * c);
        let steepness = length(&gradient);
        let along = if length(&newton) <= radius || steepness == 0.0 {
            newton
        } else {
            let bent: Vec<f64> = gradient.iter().zip(&self.svd.values).map(|(g, s)| g * s).collect();
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
        let promised = (self.svd.values.iter().zip(projected).zip(&along))
            .map(|((s, c), z)| -s * z * (2.0 * c + s * z))
            .sum();
        (self.back(&along), promised)
    }

    /// The step with `‖D p‖ ≤ radius` that makes the linear model smallest in the plane of the gradient and the undamped step,
    /// and the `‖r‖² − ‖r + J p‖²` that it promises. Byrd, Schnabel & Shultz, Math. Program. 40 (1988) 247–263.
    pub fn subspace(&self, projected: &[f64], radius: f64) -> (Vec<f64>, f64) {
        let each = |f: &dyn Fn(f64, f64) -> f64| -> Vec<f64> {
            self.svd.values.iter().zip(projected).map(|(s, c)| f(*s, *c)).collect()
        };
        let unit = |v: Vec<f64>| -> Option<Vec<f64>> {
            let length = norm(&v);
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
        let bent = |v: &[f64]| -> Vec<f64> { v.iter().zip(&self.svd.values).map(|(v, s)| v * s).collect() };
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
            for (s, c) in self.svd.values.iter().zip(projected) {
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
        self.svd.values.iter().enumerate().map(|(k, sigma)| self.svd.v(k)[j] / sigma).collect()
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
        (0..n).map(|j| deviation / self.scales[j] * norm(&self.root(j))).collect()
    }

    /// Directions of length 1 along which no residual changes, to first order.
    pub fn undetermined(&self) -> Vec<Vec<f64>> {
        (self.rank..self.scales.len())
            .map(|k| {
                let direction: Vec<f64> =
                    self.scales.iter().enumerate().map(|(j, d)| self.svd.v(k)[j] / d).collect();
                let length = norm(&direction);
                direction.iter().map(|v| v / length).collect()
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiny_columns_give_finite_steps() {
        for tiny in [f64::from_bits(3), 1e-310, 1e-200, 1e-150] {
            let jacobian = ndarray::array![[tiny], [tiny], [2.0 * tiny]];
            let own = Decomposition::new(jacobian.view(), &[1.0]).unwrap();
            let step = own.step(&own.project(&[0.0, tiny, -tiny]), 0.0);
            assert!(step.iter().all(|p| p.is_finite()), "{tiny:e}: {step:?}");
            assert_eq!(own.rank(), usize::from(tiny > 1e-154));
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
