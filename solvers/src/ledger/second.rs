//! Second derivatives under guard.
//!
//! The sum of squares has the Hessian `2 (Jᵀ J + S)` with `S = Σ rᵢ ∇²rᵢ`; half of it is meant here. Where `S` is not finite, or
//! the problem has none, there is `None`, and `Jᵀ J` stands in.

use std::rc::Rc;

use ndarray::{Array1, Array2, ArrayView1};

use super::{Evaluation, Interruption, Ledger};

impl Ledger<'_> {
    /// `S` at a point.
    pub fn curvature(&self, at: &Evaluation) -> Result<Option<Rc<Array2<f64>>>, Interruption> {
        let Some(second) = self.problem.second_order() else { return Ok(None) };
        let mut book = self.book.borrow_mut();
        if let Some((_, curvature)) = book.curvature.as_ref().filter(|(known, _)| *known == at.x) {
            return Ok(curvature.clone());
        }
        let mut sum = Array2::zeros((at.x.len(), at.x.len()));
        book.hessian_evaluations += u64::from(!book.panicked);
        let asked = book.ask(|| second.curvature_into(&at.x, &at.residuals, sum.view_mut()));
        let curvature = sum.iter().all(|s| s.is_finite()).then(|| Rc::new(sum));
        book.curvature = Some((at.x.clone(), curvature.clone()));
        drop(book);
        self.final_if_err(asked).map(|()| curvature)
    }

    /// `(Jᵀ J + S) d` at a point.
    pub fn hessian_times(
        &self,
        at: &Evaluation,
        jacobian: &Array2<f64>,
        direction: &[f64],
    ) -> Result<Option<Vec<f64>>, Interruption> {
        let Some(second) = self.problem.second_order() else { return Ok(None) };
        let mut product = vec![0.0; direction.len()];
        let mut book = self.book.borrow_mut();
        book.hessian_products += u64::from(!book.panicked);
        let asked = book.ask(|| second.curvature_times_into(&at.x, &at.residuals, direction, &mut product));
        drop(book);
        self.final_if_err(asked)?;
        let ahead: Array1<f64> = jacobian.dot(&ArrayView1::from(direction));
        product.iter_mut().zip(&jacobian.t().dot(&ahead)).for_each(|(p, b)| *p += b);
        Ok(product.iter().all(|p| p.is_finite()).then_some(product))
    }

    /// The second derivative of each residual along `direction`.
    pub fn curvature_along(
        &self,
        at: &Evaluation,
        direction: &[f64],
    ) -> Result<Option<Vec<f64>>, Interruption> {
        let Some(second) = self.problem.second_order() else { return Ok(None) };
        let mut out = vec![0.0; at.residuals.len()];
        let mut book = self.book.borrow_mut();
        book.curvatures_along += u64::from(!book.panicked);
        let asked = book.ask(|| second.curvature_along_into(&at.x, direction, &mut out));
        drop(book);
        self.final_if_err(asked)?;
        Ok(out.iter().all(|r| r.is_finite()).then_some(out))
    }
}
