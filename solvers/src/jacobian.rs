//! A Jacobian, dense or by its entries, and its factors.

use std::borrow::Cow;
use std::rc::Rc;
use std::sync::Arc;

use ndarray::{Array2, ArrayView1, ShapeBuilder};

use crate::banded::Banded;
use crate::decomposition::{Decomposition, norm};
use crate::pattern::Pattern;

/// The entries of a [`Pattern`], row after row; the others are zero.
#[derive(Clone, Debug)]
pub(crate) struct Sparse {
    pub pattern: Arc<Pattern>,
    pub entries: Vec<f64>,
}

impl Sparse {
    fn each(&self, mut see: impl FnMut(usize, usize, f64)) {
        for i in 0..self.pattern.rows() {
            self.pattern.row(i).for_each(|(at, column)| see(i, column, self.entries[at]));
        }
    }

    /// Raises each scale to the norm of its column, without over- or underflow on the way.
    pub fn grow(&self, scales: &mut [f64]) {
        let mut largest = vec![0.0_f64; scales.len()];
        self.each(|_, j, d| largest[j] = largest[j].max(d.abs()));
        let mut squares = vec![0.0; scales.len()];
        self.each(|_, j, d| squares[j] += if d == 0.0 { 0.0 } else { (d / largest[j]).powi(2) });
        for (scale, (largest, square)) in scales.iter_mut().zip(largest.iter().zip(squares)) {
            *scale = scale.max(largest * f64::sqrt(square));
        }
    }
}

/// Without a way out on the way, which a compiler can make parallel.
fn all_finite(values: &[f64]) -> bool {
    values.iter().fold(true, |finite, x| finite & x.is_finite())
}

/// A column as a slice: that of a Jacobian is one as it stands.
pub(crate) fn contiguous(column: ArrayView1<'_, f64>) -> Cow<'_, [f64]> {
    match column.to_slice() {
        Some(slice) => Cow::Borrowed(slice),
        None => Cow::Owned(column.to_vec()),
    }
}

/// `∂rᵢ/∂xⱼ` at a point.
#[derive(Clone, Debug)]
pub(crate) enum Jacobian {
    Dense(Rc<Array2<f64>>),
    Sparse(Sparse),
}

impl Jacobian {
    /// Shows the entries, row after row; zeros may be left out.
    pub fn each(&self, mut see: impl FnMut(usize, usize, f64)) {
        match self {
            Jacobian::Dense(dense) => dense.indexed_iter().for_each(|((i, j), d)| see(i, j, *d)),
            Jacobian::Sparse(sparse) => sparse.each(see),
        }
    }

    pub fn rows(&self) -> usize {
        match self {
            Jacobian::Dense(dense) => dense.nrows(),
            Jacobian::Sparse(sparse) => sparse.pattern.rows(),
        }
    }

    pub fn columns(&self) -> usize {
        match self {
            Jacobian::Dense(dense) => dense.ncols(),
            Jacobian::Sparse(sparse) => sparse.pattern.columns(),
        }
    }

    /// For each column, whether an entry is one that `counts`.
    pub fn any(&self, counts: impl Fn(f64) -> bool) -> Vec<bool> {
        match self {
            Jacobian::Dense(dense) => {
                dense.columns().into_iter().map(|column| column.iter().any(|d| counts(*d))).collect()
            }
            Jacobian::Sparse(sparse) => {
                let mut any = vec![false; self.columns()];
                sparse.each(|_, j, d| any[j] |= counts(d));
                any
            }
        }
    }

    /// With every entry in its place.
    pub fn dense(&self) -> Rc<Array2<f64>> {
        match self {
            Jacobian::Dense(dense) => Rc::clone(dense),
            Jacobian::Sparse(sparse) => {
                let mut dense = Array2::zeros((self.rows(), self.columns()).f());
                sparse.each(|i, j, d| dense[[i, j]] += d);
                Rc::new(dense)
            }
        }
    }

    /// The first entry that is not finite.
    pub fn non_finite(&self) -> Option<(usize, usize)> {
        let finite = match self {
            Jacobian::Dense(dense) => {
                dense.columns().into_iter().all(|column| all_finite(&contiguous(column)))
            }
            Jacobian::Sparse(sparse) => all_finite(&sparse.entries),
        };
        if finite {
            return None;
        }
        let mut found = None;
        self.each(|i, j, d| {
            if !d.is_finite() {
                found.get_or_insert((i, j));
            }
        });
        found
    }

    /// Raises each scale to the norm of its column: the scale of the parameters, as in MINPACK.
    pub fn grow(&self, scales: &mut [f64]) {
        match self {
            Jacobian::Dense(dense) => {
                for (scale, column) in scales.iter_mut().zip(dense.columns()) {
                    *scale = scale.max(norm(&contiguous(column)));
                }
            }
            Jacobian::Sparse(sparse) => sparse.grow(scales),
        }
    }

    /// The norms of the columns.
    pub fn norms(&self) -> Vec<f64> {
        let mut norms = vec![0.0; self.columns()];
        self.grow(&mut norms);
        norms
    }

    /// For each column the sum of what `term` makes of its entries, by row, column and entry.
    pub fn column_sums(&self, term: impl Fn(usize, usize, f64) -> f64) -> Vec<f64> {
        let mut sums = vec![0.0; self.columns()];
        match self {
            Jacobian::Dense(dense) => {
                for (j, (sum, column)) in sums.iter_mut().zip(dense.columns()).enumerate() {
                    *sum = column.iter().enumerate().map(|(i, d)| term(i, j, *d)).sum();
                }
            }
            Jacobian::Sparse(sparse) => sparse.each(|i, j, d| sums[j] += term(i, j, d)),
        }
        sums
    }

    /// `Jᵀ r`.
    pub fn transposed_times(&self, r: &[f64]) -> Vec<f64> {
        match self {
            Jacobian::Dense(dense) => dense.t().dot(&ArrayView1::from(r)).to_vec(),
            Jacobian::Sparse(_) => self.column_sums(|i, _, d| d * r[i]),
        }
    }

    /// `J p`.
    pub fn times(&self, p: &[f64]) -> Vec<f64> {
        match self {
            Jacobian::Dense(dense) => dense.dot(&ArrayView1::from(p)).to_vec(),
            Jacobian::Sparse(sparse) => {
                let mut sums = vec![0.0; self.rows()];
                sparse.each(|i, j, d| sums[i] += d * p[j]);
                sums
            }
        }
    }

    /// How much rounding `x` and the residuals `r` to `f64` alone changes the residual vector: `ε (‖ |J| |x| ‖ + ‖r‖)`.
    /// Nothing below it can be asked.
    pub fn rounding_of_residuals(&self, x: &[f64], residuals: &[f64]) -> f64 {
        let mut changes = vec![0.0; self.rows()];
        match self {
            Jacobian::Dense(dense) => {
                for (column, x) in dense.columns().into_iter().zip(x) {
                    changes
                        .iter_mut()
                        .zip(&*contiguous(column))
                        .for_each(|(change, d)| *change += (d * x).abs());
                }
            }
            Jacobian::Sparse(sparse) => sparse.each(|i, j, d| changes[i] += (d * x[j]).abs()),
        }
        f64::EPSILON * (norm(residuals) + norm(&changes))
    }

    /// The same with these columns set to 0, so that no step moves their parameters.
    pub fn without(self: Rc<Self>, columns: &[usize]) -> Rc<Self> {
        if columns.is_empty() {
            return self;
        }
        Rc::new(match &*self {
            Jacobian::Dense(dense) => {
                let mut rest = Array2::clone(dense);
                columns.iter().for_each(|j| rest.column_mut(*j).fill(0.0));
                Jacobian::Dense(Rc::new(rest))
            }
            Jacobian::Sparse(sparse) => {
                let mut keep = vec![true; self.columns()];
                columns.iter().for_each(|j| keep[*j] = false);
                let mut entries = Vec::with_capacity(sparse.entries.len());
                sparse.each(|_, j, d| entries.push(if keep[j] { d } else { 0.0 }));
                Jacobian::Sparse(Sparse { pattern: Arc::clone(&sparse.pattern), entries })
            }
        })
    }

    /// The factors of a finite Jacobian with columns divided by `scales`; `None` if an iteration for them fails.
    pub fn factors(&self, scales: &[f64]) -> Option<Factors> {
        match self {
            Jacobian::Dense(dense) => Decomposition::new(dense.view(), scales).map(Factors::Dense),
            Jacobian::Sparse(sparse) => Some(Factors::Banded(Banded::new(sparse, scales))),
        }
    }
}

/// What a Jacobian was made into.
#[derive(Debug)]
pub(crate) enum Factors {
    Dense(Decomposition),
    Banded(Banded),
}

impl Factors {
    pub fn rank(&self) -> usize {
        match self {
            Factors::Dense(own) => own.rank(),
            Factors::Banded(own) => own.rank(),
        }
    }

    /// The condition number of the first `columns` columns; infinite where the rank is less, NaN for a band that has it: its
    /// singular values are not known.
    pub fn condition(&self, columns: usize) -> f64 {
        match self {
            Factors::Dense(own) => own.condition(columns),
            Factors::Banded(own) if own.rank() < columns => f64::INFINITY,
            Factors::Banded(_) => f64::NAN,
        }
    }

    /// The components of `r` in the range of `J`: what a step can change, to first order.
    pub fn project(&self, residuals: &[f64]) -> Vec<f64> {
        match self {
            Factors::Dense(own) => own.project(residuals),
            Factors::Banded(own) => own.project(residuals),
        }
    }

    /// The step that minimises `‖r + J p‖²`, from `projected` = [`project`](Self::project)`(r)`.
    pub fn undamped(&self, projected: &[f64]) -> Vec<f64> {
        match self {
            Factors::Dense(own) => own.step(projected, 0.0),
            Factors::Banded(own) => own.step(projected),
        }
    }

    /// The step within a tenth of `radius` that minimises `‖r + J p‖`, and the fall of the sum of squares that it promises.
    pub fn damped(&self, projected: &[f64], radius: f64) -> (Vec<f64>, f64) {
        match self {
            Factors::Dense(own) => own.damped(projected, radius),
            Factors::Banded(own) => own.damped(projected, radius),
        }
    }

    /// The square roots of the diagonal of `deviation² · (JᵀJ)⁻¹`; for full rank.
    pub fn standard_errors(&self, deviation: f64) -> Vec<f64> {
        match self {
            Factors::Dense(own) => own.standard_errors(deviation),
            Factors::Banded(own) => own.standard_errors(deviation),
        }
    }

    /// `deviation² · (JᵀJ)⁻¹`; for full rank. None of a band, where it has the square of its parameters' number of entries.
    pub fn covariance(&self, deviation: f64) -> Option<Array2<f64>> {
        match self {
            Factors::Dense(own) => Some(own.covariance(deviation)),
            Factors::Banded(_) => None,
        }
    }

    /// Directions of length 1 along which no residual changes, to first order; some of them where they are very many.
    pub fn undetermined(&self) -> Vec<Vec<f64>> {
        match self {
            Factors::Dense(own) => own.undetermined(),
            Factors::Banded(own) => own.undetermined(),
        }
    }
}
