//! Losses that let outliers count less than their squares.

use std::cell::{Ref, RefCell};
use std::fmt;
use std::sync::Arc;

use ndarray::{ArrayViewMut2, Axis};

use crate::least_squares::LeastSquares;
use crate::pattern::Pattern;

/// How a weighted residual r counts: a fit minimises Σ ρ(r), with z = r/δ for the scale δ, in units of the residual.
///
/// | word | ρ(r) |
/// | --- | --- |
/// | `squares` | r² |
/// | `huber:δ` | r² up to \|z\| = 1, then δ²·(2·\|z\| − 1) |
/// | `soft-l1:δ` | 2·δ²·(√(1 + z²) − 1) |
/// | `cauchy:δ` | δ²·ln(1 + z²) |
/// | `tukey:δ` | δ²/3·(1 − (1 − z²)³) up to \|z\| = 1, then δ²/3 |
///
/// Each is r² for small residuals. Huber's and soft-l1 are convex: they make no minima of their own. Tukey's does not feel
/// what is farther away than δ at all, and may have many.
///
/// References: P. J. Huber, Ann. Math. Stat. 35 (1964) 73–101; B. Triggs et al., Bundle adjustment – a modern synthesis,
/// LNCS 1883 (2000), section 3.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub enum Loss {
    /// Least squares.
    #[default]
    Squares,
    /// Huber's, with its scale.
    Huber(f64),
    /// A smooth form of Huber's, with its scale.
    SoftL1(f64),
    /// Cauchy's (Lorentz's), with its scale.
    Cauchy(f64),
    /// Tukey's biweight, with its scale.
    Tukey(f64),
}

type WithScale = fn(f64) -> Loss;

impl Loss {
    /// The words of the losses that have a scale.
    const WORDS: [(&str, WithScale); 4] =
        [("huber", Loss::Huber), ("soft-l1", Loss::SoftL1), ("cauchy", Loss::Cauchy), ("tukey", Loss::Tukey)];

    /// The loss of this word, as in the table above; a scale is positive and finite.
    ///
    /// ```
    /// # use keyfit_solvers::Loss;
    /// assert_eq!(Loss::from_word("huber:1.5"), Some(Loss::Huber(1.5)));
    /// assert_eq!(Loss::from_word("huber"), None);
    /// assert_eq!(Loss::from_word("tukey:-1"), None);
    /// ```
    pub fn from_word(text: &str) -> Option<Loss> {
        if text == "squares" {
            return Some(Loss::Squares);
        }
        let (word, scale) = text.split_once(':')?;
        let scale = scale.trim().parse::<f64>().ok().filter(|scale| *scale > 0.0 && scale.is_finite())?;
        Loss::WORDS.iter().find(|(own, _)| *own == word).map(|(_, loss)| loss(scale))
    }

    /// The number whose square is ρ(r), with the sign of r, and its derivative.
    fn root(self, r: f64) -> (f64, f64) {
        match self {
            Loss::Squares => (r, 1.0),
            Loss::Huber(scale) => {
                let z = (r / scale).abs();
                if z <= 1.0 {
                    return (r, 1.0);
                }
                let root = (2.0 * z - 1.0).sqrt();
                ((scale * root).copysign(r), 1.0 / root)
            }
            Loss::SoftL1(scale) => {
                let w = core_math::hypot(1.0, r / scale);
                let part = (2.0 / (w + 1.0)).sqrt();
                (r * part, 1.0 / (w * part))
            }
            Loss::Cauchy(scale) => {
                let z = (r / scale).abs();
                // the root is z·(1 − z²/4 …), and z² loses digits where it is subnormal
                if z < 1e-8 {
                    return (r, 1.0);
                }
                // beyond 1e8 a 1 beside the square is lost, and the square may overflow
                let log = if z < 1e8 { core_math::log1p(z * z) } else { 2.0 * core_math::log(z) };
                let root = log.sqrt();
                ((scale * root).copysign(r), 1.0 / ((1.0 / z + z) * root))
            }
            Loss::Tukey(scale) => {
                let z = r / scale;
                if z.abs() >= 1.0 {
                    return ((scale / 3.0_f64.sqrt()).copysign(r), 0.0);
                }
                let square = z * z;
                let part = (1.0 - square + square * square / 3.0).sqrt();
                (r * part, (1.0 - square) * (1.0 - square) / part)
            }
        }
    }
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Loss::Squares => f.write_str("squares"),
            Loss::Huber(scale) => write!(f, "huber:{scale:?}"),
            Loss::SoftL1(scale) => write!(f, "soft-l1:{scale:?}"),
            Loss::Cauchy(scale) => write!(f, "cauchy:{scale:?}"),
            Loss::Tukey(scale) => write!(f, "tukey:{scale:?}"),
        }
    }
}

/// A problem whose residuals are the roots of a loss, so that their sum of squares is the sum of the loss: every solver, and
/// every check of what it claims, works on it as it is.
pub(crate) struct Robust<'a> {
    problem: &'a dyn LeastSquares,
    loss: Loss,
    /// Where the residuals were asked for last, and the roots' derivatives there.
    last: RefCell<(Vec<f64>, Vec<f64>)>,
}

impl<'a> Robust<'a> {
    pub fn new(problem: &'a dyn LeastSquares, loss: Loss) -> Robust<'a> {
        Robust { problem, loss, last: RefCell::default() }
    }

    /// The roots' derivatives at `x`.
    fn slopes(&self, x: &[f64]) -> Ref<'_, [f64]> {
        if self.last.borrow().0 != x {
            self.residuals_into(x, &mut vec![0.0; self.residuals()]);
        }
        Ref::map(self.last.borrow(), |(_, slopes)| slopes.as_slice())
    }
}

impl LeastSquares for Robust<'_> {
    fn parameters(&self) -> usize {
        self.problem.parameters()
    }

    fn residuals(&self) -> usize {
        self.problem.residuals()
    }

    fn residuals_into(&self, x: &[f64], out: &mut [f64]) {
        self.problem.residuals_into(x, out);
        let mut slopes = Vec::with_capacity(out.len());
        for r in out {
            let (root, slope) = self.loss.root(*r);
            *r = root;
            slopes.push(slope);
        }
        *self.last.borrow_mut() = (x.to_vec(), slopes);
    }

    fn jacobian_into(&self, x: &[f64], mut out: ArrayViewMut2<'_, f64>) {
        self.problem.jacobian_into(x, out.view_mut());
        for (mut row, slope) in out.axis_iter_mut(Axis(0)).zip(self.slopes(x).iter()) {
            row *= *slope;
        }
    }

    fn pattern(&self) -> Option<&Arc<Pattern>> {
        self.problem.pattern()
    }

    fn entries_into(&self, x: &[f64], out: &mut [f64]) {
        self.problem.entries_into(x, out);
        let Some(pattern) = self.problem.pattern() else { return };
        for (i, slope) in self.slopes(x).iter().enumerate() {
            for (at, _) in pattern.row(i) {
                out.get_mut(at).into_iter().for_each(|entry| *entry *= slope);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOSSES: [Loss; 4] = [Loss::Huber(1.5), Loss::SoftL1(0.5), Loss::Cauchy(2.0), Loss::Tukey(3.0)];

    /// ρ as the table has it.
    fn rho(loss: Loss, r: f64) -> f64 {
        match loss {
            Loss::Squares => r * r,
            Loss::Huber(d) if (r / d).abs() <= 1.0 => r * r,
            Loss::Huber(d) => d * d * (2.0 * (r / d).abs() - 1.0),
            Loss::SoftL1(d) => 2.0 * d * d * ((1.0 + (r / d) * (r / d)).sqrt() - 1.0),
            Loss::Cauchy(d) => d * d * core_math::log(1.0 + (r / d) * (r / d)),
            Loss::Tukey(d) => {
                let inside = (1.0 - (r / d) * (r / d)).max(0.0);
                d * d / 3.0 * (1.0 - inside * inside * inside)
            }
        }
    }

    #[test]
    fn squares_of_roots_are_the_loss_and_slopes_are_differences() {
        for loss in LOSSES {
            assert_eq!(Loss::from_word(&loss.to_string()), Some(loss));
            for k in -800..=800 {
                let r = f64::from(k) / 100.0 + 0.003;
                let (root, slope) = loss.root(r);
                // the table's forms cancel where z is small: they have the rounding of numbers as large as δ²
                let rounding = 4.0 * f64::EPSILON * (r * r + 9.0);
                assert!((root * root - rho(loss, r)).abs() <= rounding, "{loss} of {r}");
                assert!(root * r >= 0.0);
                let h = 1e-6;
                let difference = (loss.root(r + h).0 - loss.root(r - h).0) / (2.0 * h);
                // the kink of Huber's slope
                let kinked = matches!(loss, Loss::Huber(d) if (r.abs() - d).abs() < 1e-5);
                assert!(kinked || (slope - difference).abs() < 1e-8, "{loss} of {r}: {slope} {difference}");
            }
            for r in [0.0, -0.0, 1e-300, -1e-160, 1e160, -1e300] {
                let (root, slope) = loss.root(r);
                assert!(root.is_finite() && (0.0..=1.0).contains(&slope), "{loss} of {r}: {root} {slope}");
            }
            assert_eq!(loss.root(1e-300), (1e-300, 1.0));
        }
    }
}
