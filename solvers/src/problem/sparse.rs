//! The entries of a fitting problem's Jacobian that may differ from zero.

use std::sync::Arc;

use keyfit_autodiff::SparseJacobian;

use super::FitProblem;
use crate::least_squares::LeastSquares;
use crate::pattern::{FEW, NARROW, Pattern};

impl FitProblem {
    /// Looks whether the Jacobian is a narrow band, and prepares for that.
    pub(super) fn find_pattern(&mut self) {
        let count = self.parameters.len();
        // no narrow band has more
        let most = self.residuals().saturating_mul(count / NARROW);
        if count < FEW {
            return;
        }
        let found = |p: &super::Prepared| match p.evaluators.borrow().dense.times() {
            [] => Some(None),
            times => SparseJacobian::new(&p.channel.track, times, most).map(Some),
        };
        let Some(found) = self.channels.iter().map(found).collect::<Option<Vec<_>>>() else { return };
        let rows = self.channels.iter().zip(&found).flat_map(|(p, sparse)| {
            let rows = sparse.iter().flat_map(|sparse| sparse.sparsity().rows());
            rows.map(|row| row.iter().filter_map(|k| p.columns.get(*k as usize).copied()).collect())
        });
        let Some(pattern) = Pattern::narrow(count, rows) else { return };
        self.pattern = Some(Arc::new(pattern));
        for (p, sparse) in self.channels.iter().zip(found) {
            p.evaluators.borrow_mut().sparse = sparse;
        }
    }

    /// The entries of the pattern at `x`.
    pub(super) fn write_entries(&self, x: &[f64], out: &mut [f64]) {
        let mut rest = out;
        for p in &self.channels {
            let Some(sparse) = &mut p.evaluators.borrow_mut().sparse else { continue };
            let (part, tail) = rest.split_at_mut(sparse.sparsity().entries().min(rest.len()));
            rest = tail;
            sparse.fill(&p.gather(x), part);
            let mut entries = part.iter_mut();
            for (row, target) in sparse.sparsity().rows().zip(&p.targets) {
                entries.by_ref().take(row.len()).for_each(|entry| *entry *= target.weight.sqrt());
            }
        }
    }
}
