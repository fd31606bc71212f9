//! The solvers there are. The command line, the studies, the documentation and the tests walk this table.

use crate::ledger::Ledger;
use crate::options::Options;
use crate::termination::Termination;
use crate::{gauss_newton, gradient_descent, l_bfgs, levenberg_marquardt};

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
    pub(crate) run: fn(&Ledger<'_>, &[f64], u64, &Options) -> Termination,
}

/// Every solver, the one to prefer first.
pub static SOLVERS: &[SolverEntry] = &[
    SolverEntry {
        name: "levenberg-marquardt",
        iterations: 2000,
        summary: "trust-region Levenberg–Marquardt with column scaling, finished by Gauss–Newton to full accuracy",
        reference: "Moré, LNM 630 (1978) 105–116; Nocedal & Wright, Numerical Optimization (2006), section 10.3",
        run: levenberg_marquardt::run,
    },
    SolverEntry {
        name: "gauss-newton",
        iterations: 200,
        summary: "argmin's Gauss–Newton by normal equations: fast near a minimum, easily lost far from it",
        reference: "Nocedal & Wright, Numerical Optimization (2006), section 10.3",
        run: gauss_newton::run,
    },
    SolverEntry {
        name: "l-bfgs",
        iterations: 1000,
        summary: "argmin's limited-memory BFGS with Moré–Thuente line search, by the gradient alone",
        reference: "Nocedal & Wright, Numerical Optimization (2006), algorithm 7.5; Moré & Thuente, TOMS 20 (1994)",
        run: l_bfgs::run,
    },
    SolverEntry {
        name: "gradient-descent",
        iterations: 5000,
        summary: "steps of a fixed learning rate down the mean of squares: the baseline, not for real use",
        reference: "Cauchy, C. R. Acad. Sci. 25 (1847) 536–538",
        run: gradient_descent::run,
    },
];

/// The solver of that name.
pub fn lookup(name: &str) -> Option<&'static SolverEntry> {
    SOLVERS.iter().find(|entry| entry.name == name)
}
