//! The tables of a report.

use super::sheet::{Cell, Row, Sheet};
use crate::study::Study;
use crate::study::stats::interval::{Interval, median, median_enclosure, median_interval};
use crate::study::stats::order::NoOrder;
use crate::study::stats::paired::{Paired, holm, paired};
use crate::study::stats::profile::swaps;
use crate::study::stats::table::expected;
use crate::study::stats::{Costs, Summary, Table};

/// Ratios at which performance profiles are tabulated.
const RATIOS: [f64; 5] = [1.0, 2.0, 5.0, 10.0, 100.0];
/// Budgets at which data profiles are tabulated.
const BUDGETS: [f64; 4] = [10.0, 100.0, 1000.0, 10000.0];

/// A study with its runs, and how they are called.
pub struct Named<'a> {
    /// The study.
    pub study: &'a Study,
    /// Its runs.
    pub table: &'a Table,
}

fn ends(interval: Interval) -> (f64, f64) {
    (interval.low, interval.high)
}

/// The median of values, with an interval of that kind.
fn middle(values: &[f64], interval: fn(&[f64]) -> Option<Interval>, decimals: usize) -> Cell {
    match median(values) {
        Some(middle) => Cell::Between(middle, interval(values).map(ends), decimals),
        None => Cell::None,
    }
}

/// How a number of the study's file is written.
pub fn plain(x: f64) -> String {
    if (1e-3..1e6).contains(&x) { format!("{x}") } else { format!("{x:e}") }
}

impl Named<'_> {
    /// A solver's label.
    pub fn solver(&self, solver: usize) -> String {
        self.study.solvers.get(solver).map(|own| own.label.clone()).unwrap_or_default()
    }

    /// A problem's suite and name.
    pub fn problem(&self, problem: usize) -> String {
        let own = self.study.problems.get(problem).map(|own| &own.problem);
        own.map(|own| format!("{}/{}", own.suite, own.name)).unwrap_or_default()
    }

    fn start(&self, run: &Summary) -> String {
        let starts = self.study.problems.get(run.job.problem).map(|own| &own.starts);
        starts.and_then(|starts| starts.get(run.job.start)).map(|(name, _)| name.clone()).unwrap_or_default()
    }

    fn solvers(&self) -> std::ops::Range<usize> {
        0..self.table.solvers()
    }

    /// What it cost to reach the study's i-th number of digits.
    pub fn to_digits(&self, i: usize) -> Costs {
        self.table.costs(|run| run.to_digits.get(i).copied().unwrap_or(f64::INFINITY))
    }

    /// What it cost to reach the study's i-th tolerance, in units of n + 1 evaluations.
    pub fn to_tau(&self, i: usize) -> Costs {
        self.table.costs(|run| {
            let n = self.study.parameters(run.job.problem) as f64;
            run.to_tau.get(i).map_or(f64::INFINITY, |cost| cost / (n + 1.0))
        })
    }

    /// Every table, the one of all runs last.
    pub fn all(&self) -> Vec<Sheet> {
        vec![
            self.summary(),
            self.performance(),
            self.swaps(),
            self.data(),
            self.pairs(),
            self.order(),
            self.problems(),
            self.runs(),
        ]
    }

    fn bands(&self, head: Option<&str>, costs: &[(&Costs, f64)], solver: usize) -> Row {
        let mut cells: Vec<Cell> = head.map(|text| Cell::Text(text.into())).into_iter().collect();
        cells.push(Cell::Text(self.solver(solver)));
        cells.extend(costs.iter().map(|(costs, at)| match costs.band(solver, *at) {
            Some((share, interval)) => Cell::Share(share, interval.map(ends)),
            None => Cell::None,
        }));
        Row { cells, runs: vec![self.solver(solver)] }
    }

    fn summary(&self) -> Sheet {
        let reached: Vec<Costs> = (self.study.digits.iter())
            .map(|d| self.table.costs(|run| if run.record.digits >= *d { 0.0 } else { f64::INFINITY }))
            .collect();
        let columns = ["solver".to_owned()].into_iter();
        let columns = columns.chain(self.study.digits.iter().map(|d| format!("≥ {d} digits")));
        let least = self.study.digits.iter().copied().fold(f64::INFINITY, f64::min);
        let row = |solver: usize| {
            let costs: Vec<_> = reached.iter().map(|costs| (costs, 0.0)).collect();
            let mut row = self.bands(None, &costs, solver);
            let own = || self.table.runs.iter().filter(|run| run.job.solver == solver).map(|run| &run.record);
            let count = |n: usize| Cell::Number(n as f64, 0);
            row.cells
                .push(count(own().filter(|r| r.converged && r.digits < least && !r.local_minimum).count()));
            row.cells.push(count(own().filter(|r| r.parameters.is_empty()).count()));
            row.cells.push(count(own().count()));
            row
        };
        Sheet {
            name: "solvers",
            title: "Solvers".into(),
            note: "The share of runs that end with so many digits right, with 95 % intervals over problems; how many say that \
                   they converged elsewhere, and not to a known local minimum; how many gave no answer at all."
                .into(),
            columns: columns.chain(["converged elsewhere", "no answer", "runs"].map(str::to_owned)).collect(),
            rows: self.solvers().map(row).collect(),
        }
    }

    fn performance(&self) -> Sheet {
        let mut rows = Vec::new();
        for (i, digits) in self.study.digits.iter().enumerate() {
            let ratios = self.to_digits(i).ratios(None);
            let at: Vec<_> = RATIOS.iter().map(|ratio| (&ratios, *ratio)).collect();
            rows.extend(self.solvers().map(|solver| self.bands(Some(&plain(*digits)), &at, solver)));
        }
        let columns = ["digits", "solver"].map(str::to_owned).into_iter();
        Sheet {
            name: "performance",
            title: "Performance profiles".into(),
            note: "The share of runs that reach so many digits within a multiple of the evaluations of the quickest solver, with \
                   95 % intervals over problems."
                .into(),
            columns: columns.chain(RATIOS.map(|ratio| format!("≤ {ratio} ×"))).collect(),
            rows,
        }
    }

    fn data(&self) -> Sheet {
        let mut rows = Vec::new();
        for (i, tau) in self.study.tau.iter().enumerate() {
            let costs = self.to_tau(i);
            let at: Vec<_> = BUDGETS.iter().map(|budget| (&costs, *budget)).collect();
            rows.extend(self.solvers().map(|solver| self.bands(Some(&plain(*tau)), &at, solver)));
        }
        let columns = ["τ", "solver"].map(str::to_owned).into_iter();
        Sheet {
            name: "data",
            title: "Data profiles".into(),
            note: "The share of runs whose cost has fallen to within τ of the best known one, relative to its value at the start, \
                   within a budget in units of n + 1 evaluations, with 95 % intervals over problems."
                .into(),
            columns: columns.chain(BUDGETS.map(|budget| format!("≤ {budget}"))).collect(),
            rows,
        }
    }

    /// A number of each problem and solver.
    fn by_problem(&self, value: impl Fn(&[&Summary]) -> f64) -> Vec<Vec<f64>> {
        let of = |problem, solver| value(&self.table.of(problem, solver).collect::<Vec<_>>());
        let started = (0..self.study.problems.len())
            .filter(|problem| self.study.problems.get(*problem).is_some_and(|own| !own.starts.is_empty()));
        started.map(|problem| self.solvers().map(|solver| of(problem, solver)).collect()).collect()
    }

    fn pairs(&self) -> Sheet {
        let digits = self.by_problem(|runs| {
            runs.iter().map(|run| run.record.digits).sum::<f64>() / runs.len().max(1) as f64
        });
        let cost = |run: &&Summary| run.to_digits.first().copied().unwrap_or(f64::INFINITY);
        let costs = self
            .by_problem(|runs| median(&runs.iter().map(cost).collect::<Vec<_>>()).unwrap_or(f64::INFINITY));
        let more = |a: f64, b: f64| a - b;
        // fewer is better; where neither got there, neither is ahead
        let fewer = |a: f64, b: f64| if a == b { 0.0 } else { core_math::log(b) - core_math::log(a) };
        let target = self.study.digits.first().copied().map(plain).unwrap_or_default();
        let mut rows = self.compared("digits", &digits, more);
        rows.extend(self.compared(&format!("evaluations to {target} digits"), &costs, fewer));
        Sheet {
            name: "pairs",
            title: "Pairwise comparisons".into(),
            note: "Paired by problem: on how many problems either is ahead, the matched-pairs rank-biserial correlation (1: the \
                   first always), and two-sided p-values, Holm-adjusted within each measure."
                .into(),
            columns: ["measure", "first", "second", "first ahead", "second ahead", "effect", "Wilcoxon p", "sign p"]
                .map(str::to_owned)
                .to_vec(),
            rows,
        }
    }

    fn compared(&self, measure: &str, values: &[Vec<f64>], ahead: impl Fn(f64, f64) -> f64) -> Vec<Row> {
        let pairs: Vec<(usize, usize)> =
            self.solvers().flat_map(|a| (a + 1..self.table.solvers()).map(move |b| (a, b))).collect();
        let found: Vec<Paired> = pairs
            .iter()
            .map(|&(a, b)| {
                let differences = values.iter().filter_map(|row| Some(ahead(*row.get(a)?, *row.get(b)?)));
                paired(&differences.collect::<Vec<_>>())
            })
            .collect();
        let adjusted = |p: fn(&Paired) -> f64| holm(&found.iter().map(p).collect::<Vec<_>>());
        let (wilcoxon, sign) = (adjusted(|own| own.wilcoxon), adjusted(|own| own.sign));
        let numbers = found.iter().zip(wilcoxon).zip(sign);
        let rows = pairs.iter().zip(numbers).map(|(&(a, b), ((own, wilcoxon), sign))| Row {
            cells: vec![
                Cell::Text(measure.into()),
                Cell::Text(self.solver(a)),
                Cell::Text(self.solver(b)),
                Cell::Number(own.up as f64, 0),
                Cell::Number(own.down as f64, 0),
                Cell::Number(own.effect, 2),
                Cell::Number(wilcoxon, 4),
                Cell::Number(sign, 4),
            ],
            runs: Vec::new(),
        });
        rows.collect()
    }

    fn order(&self) -> Sheet {
        let row = |solver: usize| {
            let own: Vec<_> =
                self.table.runs.iter().filter(|run| run.job.solver == solver).map(|run| run.order).collect();
            let refused = |why: fn(NoOrder) -> bool| {
                Cell::Number(own.iter().filter(|order| order.is_err_and(why)).count() as f64, 0)
            };
            let of_problems = |pick: fn(&Summary) -> Option<f64>| -> Vec<f64> {
                let problems = 0..self.study.problems.len();
                problems
                    .filter_map(|p| median(&self.table.of(p, solver).filter_map(pick).collect::<Vec<_>>()))
                    .collect()
            };
            let orders = of_problems(|run| Some(run.order.ok()?.order));
            let rates = of_problems(|run| Some(run.order.ok()?.rate?.0));
            Row {
                cells: vec![
                    Cell::Text(self.solver(solver)),
                    middle(&orders, median_interval, 2),
                    middle(&rates, median_interval, 3),
                    Cell::Number(orders.len() as f64, 0),
                    Cell::Number(own.iter().filter(|order| order.is_ok()).count() as f64, 0),
                    refused(|why| matches!(why, NoOrder::Short { .. })),
                    refused(|why| why == NoOrder::Far),
                    refused(|why| why == NoOrder::Unknown),
                ],
                runs: vec![self.solver(solver)],
            }
        };
        Sheet {
            name: "order",
            title: "Observed order of convergence".into(),
            note: "The median over problems, each with the median over its starts, of the order p and of the rate e'/e of runs that are not faster \
                   than linear, with 95 % intervals; and of how many runs the order is not known: the tail is too short, the run ended far from the \
                   answer, the errors are unknown. Each run's own order stands in the table of runs."
                .into(),
            columns: ["solver", "order", "rate", "problems", "runs with an order", "too short", "far", "unknown"]
                .map(str::to_owned)
                .to_vec(),
            rows: self.solvers().map(row).collect(),
        }
    }

    fn problems(&self) -> Sheet {
        let mut columns = ["problem", "solver", "starts", "median digits"].map(str::to_owned).to_vec();
        columns.extend(self.study.digits.iter().map(|d| format!("median evaluations to {d} digits")));
        columns.extend(self.study.digits.iter().map(|d| format!("expected evaluations to {d} digits")));
        let row =
            |problem: usize, solver: usize| {
                let own: Vec<&Summary> = self.table.of(problem, solver).collect();
                let digits: Vec<f64> = own.iter().map(|run| run.record.digits).collect();
                let until = |run: &Summary, i: usize| run.to_digits.get(i).copied().unwrap_or(f64::INFINITY);
                let mut cells = vec![
                    Cell::Text(self.problem(problem)),
                    Cell::Text(self.solver(solver)),
                    Cell::Number(own.len() as f64, 0),
                    middle(&digits, median_enclosure, 1),
                ];
                let targets = 0..self.study.digits.len();
                cells.extend(targets.clone().map(|i| {
                    let costs: Vec<f64> = own.iter().map(|run| until(run, i)).collect();
                    middle(&costs, median_enclosure, 0)
                }));
                cells.extend(targets.map(|i| {
                    Cell::Number(expected(own.iter().map(|run| (run.evaluations, until(run, i)))), 0)
                }));
                Row { cells, runs: vec![self.problem(problem), self.solver(solver)] }
            };
        let rows = (0..self.study.problems.len())
            .flat_map(|problem| self.solvers().map(move |solver| row(problem, solver)));
        Sheet {
            name: "problems",
            title: "Problems".into(),
            note: "Each solver on each problem, over its starts: medians, with intervals of at least 95 % from six starts on, and the expected \
                   evaluations until success (ERT). A failure counts as infinitely many."
                .into(),
            columns,
            rows: rows.collect(),
        }
    }

    /// The points of the curves of convergence.
    pub fn moments(&self) -> Sheet {
        let mut rows = Vec::new();
        for run in &self.table.runs {
            let words = [self.problem(run.job.problem), self.solver(run.job.solver)].map(Cell::Text);
            for moment in self.table.courses.get(&run.number).into_iter().flatten() {
                let mut cells = vec![Cell::Number(run.number as f64, 0)];
                cells.extend(words.iter().cloned());
                cells.push(Cell::Number(moment.evaluations, 0));
                cells.extend([moment.excess, moment.gradient, moment.error].map(|x| Cell::Number(x, 6)));
                rows.push(Row { cells, runs: Vec::new() });
            }
        }
        let columns =
            ["run", "problem", "solver", "evaluations", "cost less best", "gradient", "parameter error"];
        Sheet {
            name: "convergence",
            title: "Convergence".into(),
            note: "The course of each run from a problem's first start.".into(),
            columns: columns.map(str::to_owned).to_vec(),
            rows,
        }
    }

    fn runs(&self) -> Sheet {
        let row = |run: &Summary| {
            let record = &run.record;
            let count = |n: u64| Cell::Number(n as f64, 0);
            let words = [
                self.problem(run.job.problem),
                self.start(run),
                self.solver(run.job.solver),
                record.status.clone(),
            ];
            let order = run.order.ok();
            let mut cells = vec![count(run.number)];
            cells.extend(words.map(Cell::Text));
            cells.push(Cell::Number(record.digits, 1));
            cells.push(Cell::Number(record.last, 6));
            cells.push(Cell::Number(run.evaluations, 0));
            cells.extend(
                [record.residual_evaluations, record.jacobian_evaluations, record.hessian_evaluations]
                    .map(count),
            );
            cells.push(order.map_or(Cell::None, |o| Cell::Between(o.order, Some(ends(o.interval)), 2)));
            let rate = order.and_then(|o| o.rate);
            cells.push(rate.map_or(Cell::None, |(rate, own)| Cell::Between(rate, Some(ends(own)), 3)));
            cells.push(order.map_or(Cell::None, |o| count(o.steps as u64)));
            Row { cells, runs: Vec::new() }
        };
        Sheet {
            name: "runs",
            title: "Runs".into(),
            note: "Every run. Order and rate with 95 % intervals, from so many steps of its tail.".into(),
            columns: [
                "run",
                "problem",
                "start",
                "solver",
                "status",
                "digits",
                "cost",
                "evaluations",
                "residuals",
                "Jacobians",
                "Hessians",
                "order",
                "rate",
                "steps",
            ]
            .map(str::to_owned)
            .to_vec(),
            rows: self.table.runs.iter().map(row).collect(),
        }
    }

    fn swaps(&self) -> Sheet {
        let mut rows = Vec::new();
        for (i, digits) in self.study.digits.iter().enumerate() {
            let Some((best, swaps)) = swaps(&self.to_digits(i)) else { continue };
            rows.extend(swaps.iter().map(|swap| Row {
                cells: vec![
                    Cell::Number(*digits, 0),
                    Cell::Text(self.solver(swap.first)),
                    Cell::Text(self.solver(swap.second)),
                    Cell::Text(self.solver(best)),
                    Cell::Number(swap.ratio, 2),
                    Cell::Number(swap.margin, 3),
                ],
                runs: Vec::new(),
            }));
        }
        Sheet {
            name: "swaps",
            title: "Rankings that depend on the best solver".into(),
            note: match rows.len() {
                0 => "No two solvers change places in a performance profile where the best one is left out."
                    .into(),
                n => format!(
                    "Warning: performance profiles rank solvers against the best one only. {n} pairs change places where it is \
                     left out; here is at which ratio they do so most, and the share of runs by which either is ahead, at least."
                ),
            },
            columns: ["digits", "ahead", "behind, but ahead without", "the best", "ratio", "margin"]
                .map(str::to_owned)
                .to_vec(),
            rows,
        }
    }

    /// The times as paired ratios to the first solver's; it stands apart, as no two machines agree on it.
    pub fn times(&self) -> Sheet {
        let least = self.study.digits.first().copied().unwrap_or(0.0);
        let time = |run: &&Summary| match run.seconds {
            Some(seconds) if run.record.digits >= least => seconds,
            _ => f64::INFINITY,
        };
        let row = |solver: usize| {
            let ratios = (0..self.study.problems.len()).filter_map(|problem| {
                let own: Vec<f64> =
                    self.table.of(problem, solver).collect::<Vec<_>>().iter().map(time).collect();
                let first: Vec<f64> =
                    self.table.of(problem, 0).collect::<Vec<_>>().iter().map(time).collect();
                let ratio = |(a, b): (&f64, &f64)| if a == b { 1.0 } else { a / b };
                median(&own.iter().zip(&first).map(ratio).collect::<Vec<_>>())
            });
            let cells = vec![
                Cell::Text(self.solver(solver)),
                middle(&ratios.collect::<Vec<_>>(), median_enclosure, 2),
            ];
            Row { cells, runs: Vec::new() }
        };
        Sheet {
            name: "times",
            title: "Times".into(),
            note: format!(
                "The median over problems, with an interval of at least 95 %, of the time relative to that of {} on the same start, infinite where only the other \
                 reaches {least} digits, 0 where only this one does, and 1 where neither does.",
                self.solver(0)
            ),
            columns: vec!["solver".into(), "time ratio".into()],
            rows: self.solvers().map(row).collect(),
        }
    }
}
