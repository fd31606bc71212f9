//! The solvers there are. The command line, the studies, the documentation and the tests walk this table.

use crate::ledger::Ledger;
use crate::options::Options;
use crate::termination::Termination;
use crate::{descent, gauss_newton, gradient_descent, l_bfgs, trust_region};

/// One solver.
#[derive(Debug)]
pub struct SolverEntry {
    /// The name people type.
    pub name: &'static str,
    /// Iterations allowed unless `Options::iterations` says otherwise.
    pub iterations: u64,
    /// One line: what it does and when to use it.
    pub summary: &'static str,
    /// Where the method is described.
    pub reference: &'static str,
    /// Whether it keeps parameters within bounds.
    pub bounds: bool,
    pub(crate) run: fn(&Ledger<'_>, &[f64], u64, &Options) -> Termination,
}

/// Every solver, the one to prefer first.
pub static SOLVERS: &[SolverEntry] = &[
    SolverEntry {
        name: "levenberg-marquardt",
        iterations: 2000,
        summary: "trust-region Levenberg–Marquardt with column scaling, finished by Gauss–Newton to full accuracy",
        reference: "Moré, LNM 630 (1978) 105–116; Nocedal & Wright, Numerical Optimization (2006), section 10.3",
        bounds: true,
        run: trust_region::damped,
    },
    SolverEntry {
        name: "dogleg",
        iterations: 2000,
        summary: "Powell's dogleg in the same trust region, with the same finish",
        reference: "Powell, in Numerical Methods for Nonlinear Algebraic Equations (1970) 87–114; Nocedal & Wright, section 4.1",
        bounds: true,
        run: trust_region::dogleg,
    },
    SolverEntry {
        name: "gauss-newton",
        iterations: 200,
        summary: "argmin's Gauss–Newton by normal equations: fast near a minimum, easily lost far from it",
        reference: "Nocedal & Wright, Numerical Optimization (2006), section 10.3",
        bounds: false,
        run: gauss_newton::run,
    },
    SolverEntry {
        name: "bfgs",
        iterations: 10_000,
        summary: "BFGS in scaled parameters with a line search that survives values that are not finite, by the gradient alone",
        reference: "Nocedal & Wright, Numerical Optimization (2006), algorithms 3.5 and 6.1",
        bounds: false,
        run: descent::bfgs,
    },
    SolverEntry {
        name: "l-bfgs",
        iterations: 10_000,
        summary: "the same by the last 20 steps: for many parameters",
        reference: "Nocedal & Wright, Numerical Optimization (2006), algorithms 3.5 and 7.4",
        bounds: false,
        run: descent::l_bfgs,
    },
    SolverEntry {
        name: "nonlinear-cg",
        iterations: 3000,
        summary: "Polak–Ribière+ conjugate gradients in scaled parameters, with the same line search",
        reference: "Nocedal & Wright, Numerical Optimization (2006), algorithm 5.4",
        bounds: false,
        run: descent::conjugate_gradient,
    },
    SolverEntry {
        name: "steepest-descent",
        iterations: 2000,
        summary: "steepest descent in scaled parameters, with the same line search",
        reference: "Nocedal & Wright, Numerical Optimization (2006), section 3.3",
        bounds: false,
        run: descent::steepest_descent,
    },
    SolverEntry {
        name: "l-bfgs-argmin",
        iterations: 1000,
        summary: "argmin's limited-memory BFGS with Moré–Thuente line search, by the gradient alone",
        reference: "Nocedal & Wright, Numerical Optimization (2006), algorithm 7.5; Moré & Thuente, TOMS 20 (1994)",
        bounds: false,
        run: l_bfgs::run,
    },
    SolverEntry {
        name: "gradient-descent",
        iterations: 5000,
        summary: "steps of a fixed learning rate down the mean of squares: the baseline, not for real use",
        reference: "Cauchy, C. R. Acad. Sci. 25 (1847) 536–538",
        bounds: false,
        run: gradient_descent::run,
    },
];

/// The solver of that name; `default` is the first of [`SOLVERS`].
pub fn lookup(name: &str) -> Option<&'static SolverEntry> {
    SOLVERS.iter().find(|entry| entry.name == name || (name == "default" && entry.name == SOLVERS[0].name))
}
