//! The solvers there are. The command line, the studies, the documentation and the tests walk this table.

use crate::least_squares::LeastSquares;
use crate::ledger::Ledger;
use crate::options::Options;
use crate::solve::SolveError;
use crate::termination::Termination;
use crate::{descent, gauss_newton, gradient_descent, l_bfgs, nelder_mead, newton, search, trust_region};

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
    /// Whether it takes a Jacobian by the entries of its [`Pattern`](crate::Pattern).
    pub sparse: bool,
    /// Whether it looks about by values alone: it may move what has no slope at the start, and along what nothing determines.
    pub by_values: bool,
    /// What it needs of a problem beyond residuals and Jacobian.
    pub needs: Need,
    pub(crate) method: Method,
}

/// What a solver needs of a problem beyond residuals and Jacobian.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// Nothing.
    Nothing,
    /// [`LeastSquares::second_order`].
    SecondDerivatives,
    /// At least one of [`LeastSquares::linear_parameters`].
    LinearParameter,
}

impl Need {
    /// Whether a problem has what is needed.
    pub fn is_met(self, problem: &dyn LeastSquares) -> bool {
        match self {
            Need::Nothing => true,
            Need::SecondDerivatives => problem.second_order().is_some(),
            Need::LinearParameter => !problem.linear_parameters().is_empty(),
        }
    }
}

type Run = fn(&Ledger<'_>, &[f64], u64, &Options) -> Termination;

/// How a solver goes about it.
#[derive(Debug)]
pub(crate) enum Method {
    /// By itself.
    Own(Run),
    /// By others of the registry, one after the other until one converges.
    Chain(&'static [&'static str]),
}

impl SolverEntry {
    pub(crate) fn run(
        &self,
        ledger: &Ledger<'_>,
        x: &[f64],
        iterations: u64,
        options: &Options,
    ) -> Termination {
        match self.method {
            Method::Own(run) => run(ledger, x, iterations, options),
            // chains are resolved by `chain`, and name no chains
            Method::Chain(_) => Termination::Stalled,
        }
    }

    /// The solvers to run one after the other on this problem.
    pub(crate) fn chain<'a>(
        &'a self,
        problem: &dyn LeastSquares,
        options: &Options,
    ) -> Result<Vec<&'a SolverEntry>, SolveError> {
        let solver = self.name;
        let bounded = !options.bounds.is_empty();
        match self.method {
            Method::Own(_) if bounded && !self.bounds => Err(SolveError::NoBounds { solver }),
            Method::Own(_) if !self.needs.is_met(problem) => Err(match self.needs {
                Need::LinearParameter => SolveError::NoLinearParameter { solver },
                Need::SecondDerivatives | Need::Nothing => SolveError::NoSecondDerivatives { solver },
            }),
            Method::Own(_) => Ok(vec![self]),
            Method::Chain(names) => {
                // where the Jacobian is a narrow band, others would be lost in the whole of it
                let narrow = problem.pattern().is_some();
                let able = |entry: &&SolverEntry| {
                    (entry.bounds || !bounded) && (entry.sparse || !narrow) && entry.needs.is_met(problem)
                };
                Ok(names.iter().filter_map(|name| lookup(name)).filter(able).collect())
            }
        }
    }
}

/// The names of the solvers that know bounds.
pub(crate) fn with_bounds() -> String {
    let names: Vec<&str> = SOLVERS.iter().filter(|entry| entry.bounds).map(|entry| entry.name).collect();
    names.join(", ")
}

/// Every solver, the one to prefer first.
pub static SOLVERS: &[SolverEntry] = &[
    SolverEntry {
        name: "default",
        iterations: 10_000,
        summary: "Levenberg–Marquardt and, where that does not converge, others in turn until one does; says which",
        reference: "those of the solvers that it names",
        bounds: true,
        sparse: true,
        by_values: false,
        needs: Need::Nothing,
        method: Method::Chain(&[
            "levenberg-marquardt",
            "trust-region-newton",
            "variable-projection",
            "dogleg",
            "bfgs",
        ]),
    },
    SolverEntry {
        name: "levenberg-marquardt",
        iterations: 2000,
        summary: "trust-region Levenberg–Marquardt with column scaling, finished by Gauss–Newton to full accuracy",
        reference: "Moré, LNM 630 (1978) 105–116; Nocedal & Wright, Numerical Optimization (2006), section 10.3",
        bounds: true,
        sparse: true,
        by_values: false,
        needs: Need::Nothing,
        method: Method::Own(trust_region::damped),
    },
    SolverEntry {
        name: "lm-geodesic",
        iterations: 2000,
        summary: "Levenberg–Marquardt whose steps follow the residuals' exact bend: fewer steps along curved valleys",
        reference: "Transtrum & Sethna, arXiv:1201.5885 (2012)",
        bounds: true,
        sparse: false,
        by_values: false,
        needs: Need::SecondDerivatives,
        method: Method::Own(trust_region::geodesic),
    },
    SolverEntry {
        name: "dogleg",
        iterations: 2000,
        summary: "Powell's dogleg in the same trust region, with the same finish",
        reference: "Powell, in Numerical Methods for Nonlinear Algebraic Equations (1970) 87–114; Nocedal & Wright, section 4.1",
        bounds: true,
        sparse: false,
        by_values: false,
        needs: Need::Nothing,
        method: Method::Own(trust_region::dogleg),
    },
    SolverEntry {
        name: "subspace-dogleg",
        iterations: 2000,
        summary: "the best step in the dogleg's plane, with the same finish",
        reference: "Byrd, Schnabel & Shultz, Math. Program. 40 (1988) 247–263",
        bounds: true,
        sparse: false,
        by_values: false,
        needs: Need::Nothing,
        method: Method::Own(trust_region::subspace),
    },
    SolverEntry {
        name: "variable-projection",
        iterations: 2000,
        summary: "Levenberg–Marquardt in the parameters that are not linear, the others solved for at each trial; their starts do not matter",
        reference: "Golub & Pereyra, SIAM J. Numer. Anal. 10 (1973) 413–432; Kaufman, BIT 15 (1975) 49–57",
        bounds: false,
        sparse: false,
        by_values: false,
        needs: Need::LinearParameter,
        method: Method::Own(trust_region::projected),
    },
    SolverEntry {
        name: "trust-region-newton",
        iterations: 2000,
        summary: "Newton's method by exact Hessians in a trust region: fast where residuals are large, leaves saddles",
        reference: "Moré & Sorensen, SIAM J. Sci. Stat. Comput. 4 (1983) 553–572",
        bounds: true,
        sparse: false,
        by_values: false,
        needs: Need::SecondDerivatives,
        method: Method::Own(trust_region::exact),
    },
    SolverEntry {
        name: "newton-cg",
        iterations: 2000,
        summary: "the same by conjugate gradients and products with the Hessian, finished by Gauss–Newton",
        reference: "Steihaug, SIAM J. Numer. Anal. 20 (1983) 626–637",
        bounds: true,
        sparse: false,
        by_values: false,
        needs: Need::SecondDerivatives,
        method: Method::Own(trust_region::conjugate),
    },
    SolverEntry {
        name: "newton",
        iterations: 2000,
        summary: "Newton's method by exact Hessians made positive, with a line search",
        reference: "Nocedal & Wright, Numerical Optimization (2006), section 3.4",
        bounds: false,
        sparse: false,
        by_values: false,
        needs: Need::SecondDerivatives,
        method: Method::Own(newton::quadratic),
    },
    SolverEntry {
        name: "gauss-newton-qr",
        iterations: 2000,
        summary: "Gauss–Newton by QR with a line search: the shortest step where the rank is short",
        reference: "Nocedal & Wright, Numerical Optimization (2006), section 10.3",
        bounds: false,
        sparse: false,
        by_values: false,
        needs: Need::Nothing,
        method: Method::Own(newton::linear),
    },
    SolverEntry {
        name: "gauss-newton",
        iterations: 200,
        summary: "argmin's Gauss–Newton by normal equations: fast near a minimum, easily lost far from it",
        reference: "Nocedal & Wright, Numerical Optimization (2006), section 10.3",
        bounds: false,
        sparse: false,
        by_values: false,
        needs: Need::Nothing,
        method: Method::Own(gauss_newton::run),
    },
    SolverEntry {
        name: "bfgs",
        iterations: 10_000,
        summary: "BFGS in scaled parameters with a line search that survives values that are not finite, by the gradient alone",
        reference: "Nocedal & Wright, Numerical Optimization (2006), algorithms 3.5 and 6.1",
        bounds: false,
        sparse: true,
        by_values: false,
        needs: Need::Nothing,
        method: Method::Own(descent::bfgs),
    },
    SolverEntry {
        name: "l-bfgs",
        iterations: 10_000,
        summary: "the same by the last 20 steps: for many parameters",
        reference: "Nocedal & Wright, Numerical Optimization (2006), algorithms 3.5 and 7.4",
        bounds: false,
        sparse: true,
        by_values: false,
        needs: Need::Nothing,
        method: Method::Own(descent::l_bfgs),
    },
    SolverEntry {
        name: "nonlinear-cg",
        iterations: 3000,
        summary: "Polak–Ribière+ conjugate gradients in scaled parameters, with the same line search",
        reference: "Nocedal & Wright, Numerical Optimization (2006), algorithm 5.4",
        bounds: false,
        sparse: true,
        by_values: false,
        needs: Need::Nothing,
        method: Method::Own(descent::conjugate_gradient),
    },
    SolverEntry {
        name: "steepest-descent",
        iterations: 2000,
        summary: "steepest descent in scaled parameters, with the same line search",
        reference: "Nocedal & Wright, Numerical Optimization (2006), section 3.3",
        bounds: false,
        sparse: true,
        by_values: false,
        needs: Need::Nothing,
        method: Method::Own(descent::steepest_descent),
    },
    SolverEntry {
        name: "l-bfgs-argmin",
        iterations: 1000,
        summary: "argmin's limited-memory BFGS with Moré–Thuente line search, by the gradient alone",
        reference: "Nocedal & Wright, Numerical Optimization (2006), algorithm 7.5; Moré & Thuente, TOMS 20 (1994)",
        bounds: false,
        sparse: true,
        by_values: false,
        needs: Need::Nothing,
        method: Method::Own(l_bfgs::run),
    },
    SolverEntry {
        name: "nelder-mead",
        iterations: 20000,
        summary: "argmin's downhill simplex by values alone, begun anew until that no longer helps",
        reference: "Nelder & Mead, Comput. J. 7 (1965) 308–313",
        bounds: false,
        sparse: false,
        by_values: true,
        needs: Need::Nothing,
        method: Method::Own(nelder_mead::run),
    },
    SolverEntry {
        name: "particle-swarm",
        iterations: 2000,
        summary: "argmin's particle swarm in the region of the bounds or around the start, polished by levenberg-marquardt: for hard starts",
        reference: "Zambrano-Bigiarini, Clerc & Rojas, IEEE CEC (2013) 2337–2344",
        bounds: true,
        sparse: true,
        by_values: true,
        needs: Need::Nothing,
        method: Method::Own(search::swarm),
    },
    SolverEntry {
        name: "simulated-annealing",
        iterations: 10_000,
        summary: "argmin's simulated annealing from the start on, polished likewise: for hard starts",
        reference: "Szu & Hartley, Phys. Lett. A 122 (1987) 157–162",
        bounds: true,
        sparse: true,
        by_values: true,
        needs: Need::Nothing,
        method: Method::Own(search::annealing),
    },
    SolverEntry {
        name: "gradient-descent",
        iterations: 5000,
        summary: "steps of a fixed learning rate down the mean of squares: the baseline, not for real use",
        reference: "Cauchy, C. R. Acad. Sci. 25 (1847) 536–538",
        bounds: false,
        sparse: true,
        by_values: false,
        needs: Need::Nothing,
        method: Method::Own(gradient_descent::run),
    },
];

/// The solver of that name.
pub fn lookup(name: &str) -> Option<&'static SolverEntry> {
    SOLVERS.iter().find(|entry| entry.name == name)
}
