//! Problems whose answers are known, and one that watches another.

use std::cell::Cell;

use keyfit_solvers::{LeastSquares, Outcome, SOLVERS, SecondOrder, SolverEntry};
use ndarray::{Array2, ArrayView1, ArrayViewMut2, array};

/// The Hessian of each residual.
#[derive(Clone, Copy)]
pub struct Bends(pub fn(&[f64]) -> Vec<Array2<f64>>);

/// A problem by functions.
pub struct Problem<R, J> {
    pub shape: (usize, usize),
    pub residuals: R,
    pub jacobian: J,
    pub bends: Option<Bends>,
    pub linear: Vec<usize>,
}

impl<R: Fn(&[f64], &mut [f64]), J: Fn(&[f64], ArrayViewMut2<'_, f64>)> LeastSquares for Problem<R, J> {
    fn parameters(&self) -> usize {
        self.shape.1
    }

    fn residuals(&self) -> usize {
        self.shape.0
    }

    fn residuals_into(&self, x: &[f64], out: &mut [f64]) {
        (self.residuals)(x, out);
    }

    fn jacobian_into(&self, x: &[f64], out: ArrayViewMut2<'_, f64>) {
        (self.jacobian)(x, out);
    }

    fn second_order(&self) -> Option<&dyn SecondOrder> {
        self.bends.as_ref().map(|bends| bends as &dyn SecondOrder)
    }

    fn linear_parameters(&self) -> Vec<usize> {
        self.linear.clone()
    }
}

impl SecondOrder for Bends {
    fn curvature_into(&self, x: &[f64], weights: &[f64], mut out: ArrayViewMut2<'_, f64>) {
        (self.0)(x).iter().zip(weights).for_each(|(bend, weight)| out.scaled_add(*weight, bend));
    }

    fn curvature_times_into(&self, x: &[f64], weights: &[f64], direction: &[f64], out: &mut [f64]) {
        let mut sum = Array2::zeros((x.len(), x.len()));
        self.curvature_into(x, weights, sum.view_mut());
        out.copy_from_slice(&sum.dot(&ArrayView1::from(direction)).to_vec());
    }

    fn curvature_along_into(&self, x: &[f64], direction: &[f64], out: &mut [f64]) {
        let direction = ArrayView1::from(direction);
        for (slot, bend) in out.iter_mut().zip((self.0)(x)) {
            *slot = direction.dot(&bend.dot(&direction));
        }
    }
}

/// The solvers that this problem has what they need for.
pub fn able(problem: &dyn LeastSquares) -> impl Iterator<Item = &'static SolverEntry> {
    SOLVERS.iter().filter(move |solver| solver.needs.is_met(problem))
}

/// y = a·exp(−b·t) with noise, in units that every solver copes with.
pub fn decay() -> impl LeastSquares {
    const DATA: [(f64, f64); 5] = [(0.0, 2.03), (0.5, 1.55), (1.0, 1.24), (2.0, 0.70), (3.0, 0.46)];
    Problem {
        shape: (5, 2),
        residuals: |x: &[f64], out: &mut [f64]| {
            for (r, (t, y)) in out.iter_mut().zip(DATA) {
                *r = x[0] * (-x[1] * t).exp() - y;
            }
        },
        jacobian: |x: &[f64], mut out: ArrayViewMut2<'_, f64>| {
            for (mut row, (t, _)) in out.rows_mut().into_iter().zip(DATA) {
                let e = (-x[1] * t).exp();
                row[0] = e;
                row[1] = -t * x[0] * e;
            }
        },
        bends: Some(Bends(|x| {
            let bend = |(t, _): &(f64, f64)| {
                let e = (-x[1] * t).exp();
                array![[0.0, -t * e], [-t * e, t * t * x[0] * e]]
            };
            DATA.iter().map(bend).collect()
        })),
        linear: vec![0],
    }
}
pub const START: [f64; 2] = [1.0, 1.0];

/// Residuals `A x − y`, row by row.
pub fn linear<const M: usize, const N: usize>(a: [[f64; N]; M], y: [f64; M]) -> impl LeastSquares {
    Problem {
        shape: (M, N),
        residuals: move |x: &[f64], out: &mut [f64]| {
            for (r, (row, y)) in out.iter_mut().zip(a.iter().zip(y)) {
                *r = row.iter().zip(x).map(|(a, x)| a * x).sum::<f64>() - y;
            }
        },
        jacobian: move |_: &[f64], mut out: ArrayViewMut2<'_, f64>| {
            for ((i, j), d) in out.indexed_iter_mut() {
                *d = a[i][j];
            }
        },
        bends: Some(Bends(|_| vec![Array2::zeros((N, N)); M])),
        linear: (0..N).collect(),
    }
}

/// Counts calls, remembers the lowest sum of squares, and can spoil one call.
pub struct Watched<P> {
    pub inner: P,
    pub residual_calls: Cell<u64>,
    pub jacobian_calls: Cell<u64>,
    pub hessian_calls: Cell<u64>,
    pub product_calls: Cell<u64>,
    pub along_calls: Cell<u64>,
    pub lowest: Cell<f64>,
    pub spoiled_residual: u64,
    pub spoiled_jacobian: u64,
}

/// One more; which one it is.
pub fn count(calls: &Cell<u64>) -> u64 {
    calls.set(calls.get() + 1);
    calls.get()
}

impl<P: LeastSquares> Watched<P> {
    pub fn new(inner: P) -> Self {
        let zero = || Cell::new(0);
        Self {
            inner,
            residual_calls: zero(),
            jacobian_calls: zero(),
            hessian_calls: zero(),
            product_calls: zero(),
            along_calls: zero(),
            lowest: Cell::new(f64::INFINITY),
            spoiled_residual: 0,
            spoiled_jacobian: 0,
        }
    }

    pub fn check_counts(&self, outcome: &Outcome, name: &str) {
        for (said, counted) in [
            (outcome.residual_evaluations, &self.residual_calls),
            (outcome.jacobian_evaluations, &self.jacobian_calls),
            (outcome.hessian_evaluations, &self.hessian_calls),
            (outcome.hessian_products, &self.product_calls),
            (outcome.curvatures_along, &self.along_calls),
        ] {
            assert_eq!(said, counted.get(), "{name}");
        }
    }

    pub fn check(&self, outcome: &Outcome, name: &str) {
        self.check_counts(outcome, name);
        assert!(outcome.sum_of_squares <= self.lowest.get() * (1.0 + 1e-9), "{name}");
        assert!(outcome.parameters.iter().all(|x| x.is_finite()), "{name}");
        let mut again = vec![0.0; self.inner.residuals()];
        self.inner.residuals_into(&outcome.parameters, &mut again);
        assert_eq!(again.iter().map(|r| r * r).sum::<f64>(), outcome.sum_of_squares, "{name}");
    }
}

impl<P: LeastSquares> LeastSquares for Watched<P> {
    fn parameters(&self) -> usize {
        self.inner.parameters()
    }

    fn residuals(&self) -> usize {
        self.inner.residuals()
    }

    fn residuals_into(&self, x: &[f64], out: &mut [f64]) {
        let call = count(&self.residual_calls);
        self.inner.residuals_into(x, out);
        if call == self.spoiled_residual {
            out[1] = f64::NAN;
        }
        let sum: f64 = out.iter().map(|r| r * r).sum();
        self.lowest.set(self.lowest.get().min(sum));
    }

    fn jacobian_into(&self, x: &[f64], mut out: ArrayViewMut2<'_, f64>) {
        let call = count(&self.jacobian_calls);
        self.inner.jacobian_into(x, out.view_mut());
        if call == self.spoiled_jacobian {
            out[[1, 0]] = f64::INFINITY;
        }
    }

    fn second_order(&self) -> Option<&dyn SecondOrder> {
        self.inner.second_order().map(|_| self as &dyn SecondOrder)
    }

    fn linear_parameters(&self) -> Vec<usize> {
        self.inner.linear_parameters()
    }
}

impl<P: LeastSquares> SecondOrder for Watched<P> {
    fn curvature_into(&self, x: &[f64], weights: &[f64], out: ArrayViewMut2<'_, f64>) {
        count(&self.hessian_calls);
        self.inner.second_order().unwrap().curvature_into(x, weights, out);
    }

    fn curvature_times_into(&self, x: &[f64], weights: &[f64], direction: &[f64], out: &mut [f64]) {
        count(&self.product_calls);
        self.inner.second_order().unwrap().curvature_times_into(x, weights, direction, out);
    }

    fn curvature_along_into(&self, x: &[f64], direction: &[f64], out: &mut [f64]) {
        count(&self.along_calls);
        self.inner.second_order().unwrap().curvature_along_into(x, direction, out);
    }
}
