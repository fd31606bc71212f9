//! Quadratic models `gᵀ p + ½ pᵀ B p` in scaled parameters, by the eigenvalues of `B`.
//!
//! Eigenvalues come from cyclic Jacobi rotations in a fixed order, so that a run has the same bits on every machine.

use ndarray::Array2;

use crate::decomposition::norm;

/// Sweeps after which rotations have failed; six are usual.
const SWEEPS: usize = 60;
/// Steps of the iteration for the damping.
const ROOT_STEPS: usize = 100;

/// `B = Q Λ Qᵀ` with a gradient in the basis `Q`.
#[derive(Debug)]
pub(crate) struct Quadratic {
    /// Ascending.
    pub values: Vec<f64>,
    /// Eigenvectors, one a row.
    vectors: Vec<Vec<f64>>,
    /// `Qᵀ g`.
    gradient: Vec<f64>,
}

impl Quadratic {
    /// The model with this symmetric, finite matrix; `None` if the rotations do not end.
    pub fn new(matrix: Array2<f64>, gradient: &[f64]) -> Option<Self> {
        let pairs = eigen(matrix)?;
        let (values, vectors): (Vec<f64>, Vec<Vec<f64>>) = pairs.into_iter().unzip();
        let gradient = vectors.iter().map(|v| v.iter().zip(gradient).map(|(v, g)| v * g).sum()).collect();
        Some(Self { values, vectors, gradient })
    }

    /// The least eigenvalue.
    pub fn least(&self) -> f64 {
        self.values.first().copied().unwrap_or(0.0)
    }

    /// The eigenvalue of largest size.
    pub fn size(&self) -> f64 {
        self.values.iter().fold(0.0, |size, value| size.max(value.abs()))
    }

    /// A step along each eigenvector, so long that `pᵀ B p` is `rise`; for positive eigenvalues.
    pub fn axes(&self, rise: f64) -> impl Iterator<Item = Vec<f64>> {
        self.values.iter().zip(&self.vectors).map(move |(value, vector)| {
            let length = (rise / value).sqrt();
            vector.iter().map(|v| length * v).collect()
        })
    }

    /// Whether no eigenvalue is negative beyond rounding.
    pub fn is_convex(&self) -> bool {
        self.least() >= -self.rounding()
    }

    /// What rounding of the matrix does to an eigenvalue.
    fn rounding(&self) -> f64 {
        8.0 * self.values.len() as f64 * f64::EPSILON * self.size()
    }

    /// `Q z`.
    fn back(&self, along: &[f64]) -> Vec<f64> {
        let mut step = vec![0.0; self.vectors.len()];
        for (vector, z) in self.vectors.iter().zip(along) {
            step.iter_mut().zip(vector).for_each(|(p, v)| *p += z * v);
        }
        step
    }

    /// `gᵀ p + ½ pᵀ B p` of a step in the basis, negated: what it promises.
    fn promise(&self, along: &[f64]) -> f64 {
        let terms = self.values.iter().zip(&self.gradient).zip(along);
        -terms.map(|((value, g), z)| z * (g + 0.5 * value * z)).sum::<f64>()
    }

    /// Newton's step with every eigenvalue replaced by its size, and none smaller than rounding: it leads down.
    pub fn modified(&self) -> Vec<f64> {
        let floor = self.rounding();
        let step = |(value, g): (&f64, &f64)| if value.abs() > floor { -g / value.abs() } else { 0.0 };
        self.back(&self.values.iter().zip(&self.gradient).map(step).collect::<Vec<_>>())
    }

    /// The lowest point of the model with `‖p‖ ≤ radius`, and what it promises: `−(gᵀ p + ½ pᵀ B p)`.
    ///
    /// Newton's method on `1/radius − 1/‖p(λ)‖` over the eigenvalues; in the hard case, where the gradient has no part along the
    /// least eigenvector, the step is filled up along it. Moré & Sorensen, SIAM J. Sci. Stat. Comput. 4 (1983) 553–572.
    pub fn within(&self, radius: f64) -> (Vec<f64>, f64) {
        let floor = self.rounding();
        let lowest = (-self.least()).max(0.0);
        // directions with neither curvature nor slope are left alone
        let at = |damping: f64| -> Vec<f64> {
            let step = |(value, g): (&f64, &f64)| {
                if value + damping > floor { -g / (value + damping) } else { 0.0 }
            };
            self.values.iter().zip(&self.gradient).map(step).collect()
        };
        let length = |z: &[f64]| norm(z);
        let flat = length(&self.gradient) * f64::EPSILON;
        let edge = |value: f64| value + lowest <= floor;
        let steep = self.values.iter().zip(&self.gradient).any(|(v, g)| edge(*v) && g.abs() > flat);
        let mut along = at(lowest);
        if steep || length(&along) > radius {
            // begin where the step is too long, or at least as long as the steepest part makes it
            let steepest = length(&self.gradient) / radius;
            let (mut low, mut high) = (lowest, lowest + steepest + self.size());
            let mut damping = if steep { lowest + (steepest * 1e-3).max(floor) } else { lowest };
            for _ in 0..ROOT_STEPS {
                along = at(damping);
                let size = length(&along);
                if size.is_nan() || (size - radius).abs() <= 0.1 * radius {
                    break;
                }
                if size > radius {
                    low = damping
                } else {
                    high = damping
                }
                let slope: f64 =
                    along.iter().zip(&self.values).map(|(z, value)| z * (z / (value + damping))).sum();
                let next = damping + (size / radius - 1.0) * size * (size / slope);
                damping = if next > low && next < high { next } else { 0.5 * (low + high) };
            }
        } else if self.least() < -floor {
            let rest = (radius * radius - length(&along).powi(2)).max(0.0).sqrt();
            along.iter_mut().take(1).for_each(|z| *z += rest);
        }
        (self.back(&along), self.promise(&along))
    }
}

/// Eigenvalues, ascending, with their vectors.
fn eigen(mut a: Array2<f64>) -> Option<Vec<(f64, Vec<f64>)>> {
    let n = a.ncols();
    let mut q = Array2::<f64>::eye(n);
    let size = a.iter().fold(0.0, |size: f64, x| size.max(x.abs()));
    let mut diagonal = false;
    for _ in 0..SWEEPS {
        diagonal = true;
        for i in 0..n {
            for j in i + 1..n {
                let off = a[[i, j]];
                // beside its own diagonal, so that small eigenvalues of a graded matrix keep their digits
                let beside = (a[[i, i]].abs() * a[[j, j]].abs()).sqrt();
                if off.abs() <= f64::EPSILON * beside || off.abs() <= f64::EPSILON * f64::EPSILON * size {
                    continue;
                }
                diagonal = false;
                let zeta = (a[[j, j]] - a[[i, i]]) / (2.0 * off);
                let tangent = zeta.signum() / (zeta.abs() + (1.0 + zeta * zeta).sqrt());
                let cosine = 1.0 / (1.0 + tangent * tangent).sqrt();
                let sine = cosine * tangent;
                let turn = |at: [[usize; 2]; 2], matrix: &mut Array2<f64>| {
                    let (x, y) = (matrix[at[0]], matrix[at[1]]);
                    matrix[at[0]] = cosine * x - sine * y;
                    matrix[at[1]] = sine * x + cosine * y;
                };
                (0..n).for_each(|k| turn([[k, i], [k, j]], &mut a));
                (0..n).for_each(|k| turn([[i, k], [j, k]], &mut a));
                (0..n).for_each(|k| turn([[i, k], [j, k]], &mut q));
                (a[[i, j]], a[[j, i]]) = (0.0, 0.0);
            }
        }
        if diagonal {
            break;
        }
    }
    let mut pairs: Vec<(f64, Vec<f64>)> = (0..n).map(|k| (a[[k, k]], q.row(k).to_vec())).collect();
    pairs.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    diagonal.then_some(pairs)
}

#[cfg(test)]
mod tests {
    use ndarray::ArrayView1;

    use super::*;

    #[test]
    fn eigenvalues_are_those_of_the_matrix() {
        // 2 and −1 twice, with (1, 1, 1) as the first's vector
        let a = ndarray::array![[0.0, 1.0, 1.0], [1.0, 0.0, 1.0], [1.0, 1.0, 0.0]];
        let model = Quadratic::new(a.clone(), &[1.0, 2.0, 3.0]).unwrap();
        for (found, expected) in model.values.iter().zip([-1.0, -1.0, 2.0]) {
            assert!((found - expected).abs() < 1e-15, "{:?}", model.values);
        }
        for (value, vector) in model.values.iter().zip(&model.vectors) {
            let image = a.dot(&ArrayView1::from(vector));
            assert!(image.iter().zip(vector).all(|(i, v)| (i - value * v).abs() < 1e-15));
        }
    }

    /// At the lowest point within a radius, `(B + λ) p = −g` for a λ that makes `B + λ` convex.
    #[test]
    fn steps_within_a_radius_are_lowest() {
        let a = ndarray::array![[1.0, 2.0, 0.0], [2.0, -3.0, 0.5], [0.0, 0.5, 4.0]];
        for g in [[1.0, -2.0, 3.0], [0.0, 0.0, 0.0], [1e-9, 0.0, 1e9]] {
            for radius in [1e-3, 1.0, 50.0] {
                let model = Quadratic::new(a.clone(), &g).unwrap();
                let (step, promise) = model.within(radius);
                let length = norm(&step);
                assert!((length / radius - 1.0).abs() <= 0.1, "{g:?} {radius}: {length}");
                // no other point on the sphere or inside is lower by more than the tenth of the radius allows
                let value = |p: &[f64]| {
                    let image = a.dot(&ArrayView1::from(p));
                    (0..3).map(|i| p[i] * (g[i] + 0.5 * image[i])).sum::<f64>()
                };
                assert!((value(&step) + promise).abs() <= 1e-12 * promise.abs(), "{promise}");
                for k in 0..1001 {
                    let ray = [k % 7 - 3, k % 11 - 5, k % 13 - 6].map(f64::from);
                    let size = norm(&ray).max(1.0);
                    let other = value(&ray.map(|u| u / size * length));
                    assert!(other >= -promise * (1.0 + 1e-9), "{g:?} {radius}: {other} {promise}");
                }
            }
        }
    }

    #[test]
    fn a_convex_model_gives_newtons_step() {
        let a = ndarray::array![[2.0, 0.0], [0.0, 8.0]];
        let model = Quadratic::new(a, &[2.0, -4.0]).unwrap();
        assert_eq!(model.within(10.0), (vec![-1.0, 0.5], 2.0));
        assert_eq!(model.modified(), [-1.0, 0.5]);
    }
}
