//! The matrix that argmin's Gauss–Newton computes with.
//!
//! argmin-math 0.5 knows no ndarray 0.17 and no nalgebra 0.35, and offers an inverse only for those, so the four
//! traits that Gauss–Newton asks for are implemented here.

use argmin::core::Error;
use argmin_math::{ArgminDot, ArgminInv, ArgminTranspose};
use nalgebra::DMatrix;
use ndarray::Array2;

/// A dense matrix. Products are plain sums of products: nalgebra's choose a kernel by the processor.
#[derive(Clone, Debug)]
pub(crate) struct Matrix(DMatrix<f64>);

/// The matrix has no finite inverse.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("the matrix is singular")]
pub(crate) struct Singular;

impl From<&Array2<f64>> for Matrix {
    fn from(array: &Array2<f64>) -> Self {
        Self(DMatrix::from_fn(array.nrows(), array.ncols(), |i, j| array[[i, j]]))
    }
}

impl ArgminTranspose<Matrix> for Matrix {
    fn t(self) -> Matrix {
        Matrix(self.0.transpose())
    }
}

impl ArgminDot<Matrix, Matrix> for Matrix {
    fn dot(&self, other: &Matrix) -> Matrix {
        let entry =
            |i: usize, j: usize| self.0.row(i).iter().zip(&other.0.column(j)).map(|(a, b)| a * b).sum();
        Matrix(DMatrix::from_fn(self.0.nrows(), other.0.ncols(), entry))
    }
}

impl ArgminDot<Vec<f64>, Vec<f64>> for Matrix {
    fn dot(&self, other: &Vec<f64>) -> Vec<f64> {
        self.0.row_iter().map(|row| row.iter().zip(other).map(|(a, b)| a * b).sum()).collect()
    }
}

impl ArgminInv<Matrix> for Matrix {
    fn inv(&self) -> Result<Matrix, Error> {
        let inverse =
            self.0.clone().lu().try_inverse().filter(|inverse| inverse.iter().all(|x| x.is_finite()));
        inverse.map(Matrix).ok_or_else(|| Singular.into())
    }
}
