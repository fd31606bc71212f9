//! The matrix that argmin's Gauss–Newton computes with.
//!
//! argmin-math 0.5 knows no ndarray 0.17 and no faer 0.24, and offers an inverse only with LAPACK, so the four
//! traits that Gauss–Newton asks for are implemented here.

use argmin::core::Error;
use argmin_math::{ArgminDot, ArgminInv, ArgminTranspose};
use faer::linalg::solvers::DenseSolveCore;
use faer::{ColRef, Mat};
use ndarray::Array2;

/// A dense matrix over faer.
#[derive(Clone, Debug)]
pub(crate) struct Matrix(Mat<f64>);

/// The matrix has no finite inverse.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("the matrix is singular")]
pub(crate) struct Singular;

impl From<&Array2<f64>> for Matrix {
    fn from(array: &Array2<f64>) -> Self {
        Self(Mat::from_fn(array.nrows(), array.ncols(), |i, j| array[[i, j]]))
    }
}

impl ArgminTranspose<Matrix> for Matrix {
    fn t(self) -> Matrix {
        Matrix(self.0.transpose().to_owned())
    }
}

impl ArgminDot<Matrix, Matrix> for Matrix {
    fn dot(&self, other: &Matrix) -> Matrix {
        Matrix(&self.0 * &other.0)
    }
}

impl ArgminDot<Vec<f64>, Vec<f64>> for Matrix {
    fn dot(&self, other: &Vec<f64>) -> Vec<f64> {
        (&self.0 * ColRef::from_slice(other)).iter().copied().collect()
    }
}

impl ArgminInv<Matrix> for Matrix {
    fn inv(&self) -> Result<Matrix, Error> {
        let inverse = self.0.partial_piv_lu().inverse();
        if inverse.is_all_finite() { Ok(Matrix(inverse)) } else { Err(Singular.into()) }
    }
}
