//! Faults injected at the k-th evaluation: every solver ends, within its budget, with the best point and no false claim.

use std::cell::Cell;
use std::panic::resume_unwind;

use keyfit_solvers::{LeastSquares, NonFinite, Options, Outcome, SecondOrder, Termination, solve};
use ndarray::ArrayViewMut2;

use crate::problems::{START, Watched, able, decay};

/// Where a fault strikes.
#[derive(Clone, Copy, PartialEq)]
enum At {
    Residuals,
    Jacobian,
    Hessian,
}

/// When a fault strikes.
#[derive(Clone, Copy, PartialEq)]
enum When {
    /// At the k-th evaluation only.
    Once,
    /// From the k-th evaluation on.
    From,
}

/// What is done to the numbers of an evaluation, given which of the spoiled ones it is.
type Spoil = fn(&mut [f64], u64);

struct Fault {
    name: &'static str,
    at: At,
    when: When,
    spoil: Spoil,
}

fn panics(_: &mut [f64], _: u64) {
    // as a panic does, but without the message on stderr
    resume_unwind(Box::new("spoiled"));
}

const FAULTS: [Fault; 20] = [
    Fault { name: "NaN in a residual", at: At::Residuals, when: When::Once, spoil: |r, _| r[1] = f64::NAN },
    Fault {
        name: "NaN in a residual for ever",
        at: At::Residuals,
        when: When::From,
        spoil: |r, _| r[1] = f64::NAN,
    },
    Fault {
        name: "+inf in a residual",
        at: At::Residuals,
        when: When::Once,
        spoil: |r, _| r[0] = f64::INFINITY,
    },
    Fault {
        name: "-inf for ever",
        at: At::Residuals,
        when: When::From,
        spoil: |r, _| r.fill(f64::NEG_INFINITY),
    },
    Fault { name: "overflow", at: At::Residuals, when: When::Once, spoil: |r, _| r.fill(1e200) },
    Fault { name: "panic in the residuals", at: At::Residuals, when: When::Once, spoil: panics },
    Fault { name: "flat cost", at: At::Residuals, when: When::From, spoil: |r, _| r.fill(1.0) },
    Fault {
        name: "cost that grows",
        at: At::Residuals,
        when: When::From,
        spoil: |r, n| r.iter_mut().for_each(|r| *r *= 2.0 + n as f64),
    },
    Fault {
        name: "alternating values",
        at: At::Residuals,
        when: When::From,
        spoil: |r, n| r.iter_mut().for_each(|r| *r *= 1.0 + (n % 2) as f64),
    },
    Fault {
        name: "noise",
        at: At::Residuals,
        when: When::From,
        spoil: |r, n| r.iter_mut().for_each(|r| *r *= 1.0 + 1e-7 * ((n * 7919 % 13) as f64 - 6.0)),
    },
    Fault { name: "NaN in a derivative", at: At::Jacobian, when: When::Once, spoil: |j, _| j[3] = f64::NAN },
    Fault {
        name: "NaN derivative for ever",
        at: At::Jacobian,
        when: When::From,
        spoil: |j, _| j[3] = f64::NAN,
    },
    Fault {
        name: "infinite derivative",
        at: At::Jacobian,
        when: When::From,
        spoil: |j, _| j[0] = f64::INFINITY,
    },
    Fault { name: "panic in the Jacobian", at: At::Jacobian, when: When::Once, spoil: panics },
    Fault { name: "zero gradient", at: At::Jacobian, when: When::From, spoil: |j, _| j.fill(0.0) },
    Fault {
        name: "rank drop",
        at: At::Jacobian,
        when: When::From,
        spoil: |j, _| j.chunks_mut(2).for_each(|row| row[1] = row[0]),
    },
    Fault {
        name: "wrong sign",
        at: At::Jacobian,
        when: When::From,
        spoil: |j, _| j.iter_mut().for_each(|d| *d = -*d),
    },
    Fault {
        name: "NaN in second derivatives",
        at: At::Hessian,
        when: When::From,
        spoil: |h, _| h.fill(f64::NAN),
    },
    Fault { name: "panic in second derivatives", at: At::Hessian, when: When::Once, spoil: panics },
    Fault {
        name: "wrong sign of second derivatives",
        at: At::Hessian,
        when: When::From,
        spoil: |h, _| h.iter_mut().for_each(|h| *h = -*h),
    },
];

/// A problem with a fault.
struct Faulty<'a, P> {
    inner: P,
    fault: &'a Fault,
    from: u64,
    calls: Cell<u64>,
    struck: Cell<u64>,
    lowest: Cell<f64>,
    /// Whether residuals, and whether derivatives, were ever not finite.
    wild: [Cell<bool>; 2],
}

impl<P> Faulty<'_, P> {
    fn strike(&self, at: At, numbers: &mut [f64]) {
        if self.fault.at != at {
            return;
        }
        self.calls.set(self.calls.get() + 1);
        let due = match self.fault.when {
            When::Once => self.calls.get() == self.from,
            When::From => self.calls.get() >= self.from,
        };
        if due {
            self.struck.set(self.struck.get() + 1);
            (self.fault.spoil)(numbers, self.struck.get());
        }
    }
}

impl<P: LeastSquares> LeastSquares for Faulty<'_, P> {
    fn parameters(&self) -> usize {
        self.inner.parameters()
    }

    fn residuals(&self) -> usize {
        self.inner.residuals()
    }

    fn residuals_into(&self, x: &[f64], out: &mut [f64]) {
        self.inner.residuals_into(x, out);
        self.strike(At::Residuals, out);
        let sum: f64 = out.iter().map(|r| r * r).sum();
        self.lowest.set(self.lowest.get().min(sum));
        self.wild[0].set(self.wild[0].get() || !sum.is_finite());
    }

    fn jacobian_into(&self, x: &[f64], mut out: ArrayViewMut2<'_, f64>) {
        self.inner.jacobian_into(x, out.view_mut());
        let mut numbers: Vec<f64> = out.iter().copied().collect();
        self.strike(At::Jacobian, &mut numbers);
        self.wild[1].set(self.wild[1].get() || !numbers.iter().all(|d| d.is_finite()));
        out.iter_mut().zip(numbers).for_each(|(slot, number)| *slot = number);
    }

    fn second_order(&self) -> Option<&dyn SecondOrder> {
        Some(self)
    }

    fn linear_parameters(&self) -> Vec<usize> {
        self.inner.linear_parameters()
    }
}

impl<P: LeastSquares> SecondOrder for Faulty<'_, P> {
    fn curvature_into(&self, x: &[f64], weights: &[f64], mut out: ArrayViewMut2<'_, f64>) {
        self.inner.second_order().unwrap().curvature_into(x, weights, out.view_mut());
        let mut row = out.row(0).to_vec();
        self.strike(At::Hessian, &mut row);
        out.row_mut(0).iter_mut().zip(row).for_each(|(slot, number)| *slot = number);
    }

    fn curvature_times_into(&self, x: &[f64], weights: &[f64], direction: &[f64], out: &mut [f64]) {
        self.inner.second_order().unwrap().curvature_times_into(x, weights, direction, out);
        self.strike(At::Hessian, out);
    }

    fn curvature_along_into(&self, x: &[f64], direction: &[f64], out: &mut [f64]) {
        self.inner.second_order().unwrap().curvature_along_into(x, direction, out);
        self.strike(At::Hessian, out);
    }
}

/// The clean problem's scaled gradient.
fn steepness(problem: &dyn LeastSquares, x: &[f64]) -> f64 {
    let mut residuals = vec![0.0; problem.residuals()];
    problem.residuals_into(x, &mut residuals);
    let mut jacobian = ndarray::Array2::zeros((problem.residuals(), problem.parameters()));
    problem.jacobian_into(x, jacobian.view_mut());
    let length = |v: &mut dyn Iterator<Item = f64>| v.map(|v| v * v).sum::<f64>().sqrt();
    let size = length(&mut residuals.iter().copied());
    let part = |column: ndarray::ArrayView1<'_, f64>| {
        let product: f64 = column.iter().zip(&residuals).map(|(d, r)| d * r).sum();
        product.abs() / length(&mut column.iter().copied()) / size
    };
    jacobian.columns().into_iter().map(part).fold(0.0, f64::max)
}

const BUDGET: u64 = 1500;

fn judge(fault: &Fault, faulty: &Watched<Faulty<'_, impl LeastSquares>>, outcome: &Outcome, name: &str) {
    faulty.check_counts(outcome, name);
    assert!(outcome.residual_evaluations <= BUDGET, "{name}");
    // bounded too: no solver asks for more than a few of the others for each of these
    let others = outcome.jacobian_evaluations + outcome.hessian_evaluations + outcome.hessian_products;
    assert!(others <= 20 * BUDGET, "{name}: {others}");
    assert!(outcome.parameters.iter().all(|x| x.is_finite()) && outcome.sum_of_squares.is_finite(), "{name}");
    let inner = &faulty.inner;
    // a later solver of the chain may have converged above what an earlier one saw
    let lowest = inner.lowest.get();
    let one = outcome.attempts.len() == 1;
    assert!(
        !one || outcome.sum_of_squares <= lowest * (1.0 + 1e-9),
        "{name}: {} {lowest}",
        outcome.sum_of_squares
    );
    let steepness = steepness(&inner.inner, &outcome.parameters);
    let claims = outcome.termination.converged();
    assert!(!claims || steepness <= 1e-5, "{name}: {:?} at a slope of {steepness:e}", outcome.termination);
    let struck = inner.struck.get() > 0;
    match (fault.name, outcome.termination) {
        (text, reason) if text.starts_with("panic") && struck => {
            assert_eq!(reason, Termination::Panicked, "{name}")
        }
        (_, Termination::Panicked) => panic!("{name}"),
        // what is said to be not finite is what was
        (_, Termination::NonFinite(NonFinite::Residual { .. } | NonFinite::SumOfSquares)) => {
            assert!(inner.wild[0].get(), "{name}");
        }
        (_, Termination::NonFinite(NonFinite::Derivative { .. })) => {
            assert!(inner.wild[1].get(), "{name}");
        }
        // where nothing went wrong there is no excuse
        (_, reason) if !struck => {
            assert!(
                claims || name.starts_with("steepest") || name.starts_with("gradient"),
                "{name} {reason:?}"
            );
        }
        _ => {}
    }
}

#[test]
fn faults_at_any_evaluation_end_well() {
    let mut runs = 0;
    for fault in &FAULTS {
        for solver in able(&decay()) {
            for from in [1, 2, 3, 4, 6, 9, 15] {
                if from == 1 && fault.at == At::Residuals {
                    continue; // a start that is not finite is refused
                }
                let (inner, calls, struck) = (decay(), Cell::new(0), Cell::new(0));
                let (lowest, wild) = (Cell::new(f64::INFINITY), Default::default());
                let faulty = Watched::new(Faulty { inner, fault, from, calls, struck, lowest, wild });
                let name = format!("{}: {} at {from}", solver.name, fault.name);
                let options = Options { evaluation_budget: BUDGET, ..Options::default() };
                let outcome = solve(&faulty, &START, solver, &options).unwrap();
                judge(fault, &faulty, &outcome, &name);
                runs += 1;
            }
        }
    }
    assert!(runs > 2000, "{runs}");
}

/// A parameter in units of 1e±9 is found as well by every solver that scales.
#[test]
fn units_of_parameters_do_not_matter() {
    for unit in [1e-9, 1e9] {
        for solver in able(&decay()).filter(|solver| !UNSCALED.contains(&solver.name)) {
            let problem = Rescaled { inner: decay(), unit };
            let outcome = solve(&problem, &[START[0], START[1] / unit], solver, &Options::default()).unwrap();
            assert!(outcome.termination.converged(), "{} {unit}: {:?}", solver.name, outcome.termination);
            let expected = solve(&decay(), &START, solver, &Options::default()).unwrap();
            let found = outcome.parameters[1] * unit;
            assert!((found - expected.parameters[1]).abs() < 1e-6, "{} {unit}: {found}", solver.name);
        }
    }
}

/// These take the parameters as they are.
const UNSCALED: [&str; 2] = ["l-bfgs-argmin", "gradient-descent"];

/// The second parameter in another unit.
struct Rescaled<P> {
    inner: P,
    unit: f64,
}

impl<P> Rescaled<P> {
    fn own(&self, x: &[f64]) -> [f64; 2] {
        [x[0], x[1] * self.unit]
    }
}

impl<P: LeastSquares> LeastSquares for Rescaled<P> {
    fn parameters(&self) -> usize {
        2
    }

    fn residuals(&self) -> usize {
        self.inner.residuals()
    }

    fn residuals_into(&self, x: &[f64], out: &mut [f64]) {
        self.inner.residuals_into(&self.own(x), out);
    }

    fn jacobian_into(&self, x: &[f64], mut out: ArrayViewMut2<'_, f64>) {
        self.inner.jacobian_into(&self.own(x), out.view_mut());
        out.column_mut(1).mapv_inplace(|d| d * self.unit);
    }

    fn second_order(&self) -> Option<&dyn SecondOrder> {
        Some(self)
    }

    fn linear_parameters(&self) -> Vec<usize> {
        self.inner.linear_parameters()
    }
}

impl<P: LeastSquares> SecondOrder for Rescaled<P> {
    fn curvature_into(&self, x: &[f64], weights: &[f64], mut out: ArrayViewMut2<'_, f64>) {
        let second = self.inner.second_order().unwrap();
        second.curvature_into(&self.own(x), weights, out.view_mut());
        out.column_mut(1).mapv_inplace(|d| d * self.unit);
        out.row_mut(1).mapv_inplace(|d| d * self.unit);
    }

    fn curvature_times_into(&self, x: &[f64], weights: &[f64], direction: &[f64], out: &mut [f64]) {
        let second = self.inner.second_order().unwrap();
        second.curvature_times_into(&self.own(x), weights, &self.own(direction), out);
        out[1] *= self.unit;
    }

    fn curvature_along_into(&self, x: &[f64], direction: &[f64], out: &mut [f64]) {
        let second = self.inner.second_order().unwrap();
        second.curvature_along_into(&self.own(x), &self.own(direction), out);
    }
}
