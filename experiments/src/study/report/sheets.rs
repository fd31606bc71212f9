//! The tables of a report.

use super::sheet::{Cell, Column, Row, Runs, Sheet, Values};
use crate::study::Study;
use crate::study::stats::interval::{Interval, digits_interval, median, median_interval, ratio_interval};
use crate::study::stats::order::NoOrder;
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
    if x == 0.0 || (1e-3..1e6).contains(&x) { format!("{x}") } else { format!("{x:e}") }
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

    /// Whether a problem's answer is known: without it no digits are counted.
    pub(super) fn is_answered(&self, problem: usize) -> bool {
        let own = self.study.problems.get(problem).map(|own| &own.problem);
        own.is_some_and(|own| !own.certified.is_empty() || own.sum_of_squares.is_some())
    }

    /// Costs on problems whose answers are known.
    pub(super) fn on_answered(&self, cost: impl Fn(&Summary) -> f64) -> Costs {
        self.table.costs_on(|problem| self.is_answered(problem), cost)
    }

    /// The problems with known answers.
    pub(super) fn answered(&self) -> impl Iterator<Item = usize> {
        (0..self.study.problems.len()).filter(|problem| self.is_answered(*problem))
    }

    /// What is to be said of problems whose answers nobody has told.
    pub(super) fn unanswered(&self) -> String {
        let names: Vec<String> = (0..self.study.problems.len())
            .filter(|problem| !self.is_answered(*problem))
            .map(|problem| self.problem(problem))
            .collect();
        match names.as_slice() {
            [] => String::new(),
            names => format!(
                " Left out, as no known answer says how many digits are right: {}. Data profiles and curves of the cost tell of these.",
                names.join(", ")
            ),
        }
    }

    fn start(&self, run: &Summary) -> String {
        let starts = self.study.problems.get(run.job.problem).map(|own| &own.starts);
        starts.and_then(|starts| starts.get(run.job.start)).map(|(name, _)| name.clone()).unwrap_or_default()
    }

    pub(super) fn solvers(&self) -> std::ops::Range<usize> {
        0..self.table.solvers()
    }

    /// What it cost to reach the study's i-th number of digits.
    pub fn to_digits(&self, i: usize) -> Costs {
        self.on_answered(|run| run.to_digits.get(i).copied().unwrap_or(f64::INFINITY))
    }

    /// What it cost to reach the study's i-th tolerance, in units of n + 1 evaluations.
    pub fn to_tau(&self, i: usize) -> Costs {
        self.table.costs(|run| {
            let n = self.table.count(run.job.problem) as f64;
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

    /// The runs of solvers on the tasks that are so; the runs of a task have the order of the solvers.
    pub(super) fn those(&self, solvers: &[usize], task: impl FnMut(&[Summary]) -> bool) -> Runs {
        let tasks = self.table.tasks().map(task);
        Runs { solvers: solvers.to_vec(), from: 0, tasks: tasks.collect() }
    }

    /// The runs of solvers on a problem's tasks that are so.
    fn on(&self, problem: usize, solvers: &[usize], task: impl Fn(&[Summary]) -> bool) -> Runs {
        let (from, tasks) = self.table.tasks_of(problem);
        Runs { solvers: solvers.to_vec(), from, tasks: tasks.map(task).collect() }
    }

    /// The runs of a solver that are so.
    fn those_of(&self, solver: usize, run: impl Fn(&Summary) -> bool) -> Runs {
        self.those(&[solver], |task| task.get(solver).is_some_and(&run))
    }

    /// A cell that names a solver.
    pub(super) fn named(&self, solver: usize) -> (Cell, Runs) {
        (Cell::Text(self.solver(solver)), self.those_of(solver, |_| true))
    }

    /// How many of a solver's runs are so.
    fn counted(&self, row: &mut Row, solver: usize, run: impl Fn(&Summary) -> bool) {
        let runs = self.those_of(solver, run);
        row.push(Cell::Number(runs.tasks.iter().filter(|own| **own).count() as f64, 0), runs);
    }

    fn bands(&self, head: Option<&str>, costs: &[(&Costs, f64)], solver: usize) -> Row {
        let mut row = Row::default();
        let (cell, runs) = self.named(solver);
        row.push(cell, runs);
        row.cells.extend(head.map(|text| Cell::Text(text.into())));
        for (costs, at) in costs {
            let cell = match costs.band(solver, *at) {
                Some((share, interval)) => Cell::Share(share, interval.map(ends)),
                None => Cell::None,
            };
            let mut done = costs.done(solver, *at).peekable();
            let runs = self.those(&[solver], |task| {
                let is_own = |problem: usize| task.first().is_some_and(|run| run.job.problem == problem);
                done.next_if(|(problem, _)| is_own(*problem)).is_some_and(|(_, done)| done)
            });
            row.push(cell, runs);
        }
        row
    }

    fn summary(&self) -> Sheet {
        let reached: Vec<Costs> = (self.study.digits.iter())
            .map(|d| self.on_answered(|run| if run.record.digits >= *d { 0.0 } else { f64::INFINITY }))
            .collect();
        let columns = ["solver".to_owned()].into_iter();
        let columns = columns.chain(self.study.digits.iter().map(|d| format!("≥ {d} digits")));
        let least = self.study.digits.iter().copied().fold(f64::INFINITY, f64::min);
        let row = |solver: usize| {
            let costs: Vec<_> = reached.iter().map(|costs| (costs, 0.0)).collect();
            let mut row = self.bands(None, &costs, solver);
            self.counted(&mut row, solver, |run| {
                let elsewhere = run.record.digits < least && !run.record.local_minimum;
                run.record.converged && elsewhere && self.is_answered(run.job.problem)
            });
            self.counted(&mut row, solver, |run| run.record.parameters.is_empty());
            self.counted(&mut row, solver, |_| true);
            row
        };
        Sheet {
            name: "solvers",
            title: "Solvers".into(),
            note: "The share of runs that end with so many digits right, with 95 % intervals over problems; how many say that \
                   they converged elsewhere, and not to a known local minimum; how many gave no answer at all."
                .to_owned()
                + &self.unanswered(),
            columns: columns.chain(["converged elsewhere", "no answer", "runs"].map(str::to_owned)).collect(),
            rows: self.solvers().map(row).collect(),
            shown: usize::MAX,
        }
    }

    fn performance(&self) -> Sheet {
        let mut rows = Vec::new();
        for (i, digits) in self.study.digits.iter().enumerate() {
            let ratios = self.to_digits(i).ratios(None);
            let at: Vec<_> = RATIOS.iter().map(|ratio| (&ratios, *ratio)).collect();
            rows.extend(self.solvers().map(|solver| self.bands(Some(&plain(*digits)), &at, solver)));
        }
        let columns = ["solver", "digits"].map(str::to_owned).into_iter();
        Sheet {
            name: "performance",
            title: "Performance profiles".into(),
            note: "The share of runs that reach so many digits within a multiple of the evaluations of the quickest solver, with \
                   95 % intervals over problems."
                .to_owned()
                + &self.unanswered(),
            columns: columns.chain(RATIOS.map(|ratio| format!("≤ {ratio} ×"))).collect(),
            rows,
            shown: usize::MAX,
        }
    }

    fn data(&self) -> Sheet {
        let mut rows = Vec::new();
        for (i, tau) in self.study.tau.iter().enumerate() {
            let costs = self.to_tau(i);
            let at: Vec<_> = BUDGETS.iter().map(|budget| (&costs, *budget)).collect();
            rows.extend(self.solvers().map(|solver| self.bands(Some(&plain(*tau)), &at, solver)));
        }
        let columns = ["solver", "τ"].map(str::to_owned).into_iter();
        Sheet {
            name: "data",
            title: "Data profiles".into(),
            note: "The share of runs whose cost has fallen to within τ of the best known one, relative to its value at the start, \
                   within a budget in units of n + 1 evaluations, with 95 % intervals over problems."
                .into(),
            columns: columns.chain(BUDGETS.map(|budget| format!("≤ {budget}"))).collect(),
            rows,
            shown: usize::MAX,
        }
    }

    fn order(&self) -> Sheet {
        let row = |solver: usize| {
            let of_problems = |pick: fn(&Summary) -> Option<f64>| -> Vec<f64> {
                let problems = 0..self.study.problems.len();
                problems
                    .filter_map(|p| median(&self.table.of(p, solver).filter_map(pick).collect::<Vec<_>>()))
                    .collect()
            };
            let orders = of_problems(|run| Some(run.order.ok()?.order));
            let rates = of_problems(|run| Some(run.order.ok()?.rate?.0));
            let known = || self.those_of(solver, |run| run.order.is_ok());
            let mut row = Row::default();
            let (cell, runs) = self.named(solver);
            row.push(cell, runs);
            row.push(middle(&orders, median_interval, 2), known());
            let rated = self.those_of(solver, |run| run.order.is_ok_and(|order| order.rate.is_some()));
            row.push(middle(&rates, median_interval, 3), rated);
            row.push(Cell::Number(orders.len() as f64, 0), known());
            self.counted(&mut row, solver, |run| run.order.is_ok());
            let why: [fn(NoOrder) -> bool; 3] = [
                |why| matches!(why, NoOrder::Short { .. }),
                |why| why == NoOrder::Far,
                |why| why == NoOrder::Unknown,
            ];
            why.iter().for_each(|why| self.counted(&mut row, solver, |run| run.order.is_err_and(why)));
            row
        };
        Sheet {
            name: "order",
            title: "Observed order of convergence".into(),
            note: "The median over problems, each with the median over its starts, of the order p and of the rate e'/e of runs that \
                   are not faster than linear, with 95 % intervals; and of how many runs the order is not known: the tail is too short, \
                   the run never came near the answer, the errors are unknown. Rates are of fewer problems than orders. Each run's own order stands in the table of runs."
                .into(),
            columns: ["solver", "order", "rate", "problems", "runs with an order", "too short", "far", "unknown"]
                .map(str::to_owned)
                .to_vec(),
            rows: self.solvers().map(row).collect(),
            shown: usize::MAX,
        }
    }

    fn problems(&self) -> Sheet {
        let mut columns = ["problem", "solver", "starts", "median digits"].map(str::to_owned).to_vec();
        columns.extend(self.study.digits.iter().map(|d| format!("median evaluations to {d} digits")));
        columns.extend(self.study.digits.iter().map(|d| format!("expected evaluations to {d} digits")));
        let row = |problem: usize, solver: usize| {
            let own: Vec<&Summary> = self.table.of(problem, solver).collect();
            let digits: Vec<f64> = own.iter().map(|run| run.record.digits).collect();
            let until = |run: &Summary, i: usize| run.to_digits.get(i).copied().unwrap_or(f64::INFINITY);
            let mine = || self.on(problem, &[solver], |_| true);
            let every = |i: usize| own.iter().map(move |run| (run.spent, until(run, i)));
            let targets = 0..self.study.digits.len();
            let mut row = Row::default();
            let all: Vec<usize> = self.solvers().collect();
            row.push(Cell::Text(self.problem(problem)), self.on(problem, &all, |_| true));
            row.push(Cell::Text(self.solver(solver)), mine());
            row.push(Cell::Number(own.len() as f64, 0), mine());
            let known = |cell: Cell| if self.is_answered(problem) { cell } else { Cell::None };
            row.push(known(middle(&digits, digits_interval, 1)), mine());
            for i in targets.clone() {
                let costs: Vec<f64> = every(i).map(|(_, until)| until).collect();
                row.push(known(middle(&costs, median_interval, 0)), mine());
            }
            targets.for_each(|i| row.push(known(Cell::Number(expected(every(i)), 0)), mine()));
            row
        };
        let rows = (0..self.study.problems.len())
            .flat_map(|problem| self.solvers().map(move |solver| row(problem, solver)));
        Sheet {
            name: "problems",
            title: "Problems".into(),
            note: "Each solver on each problem, over its starts: medians, with 95 % intervals from six starts on, and \
                   the expected evaluations until success (ERT). A failure counts as infinitely many."
                .into(),
            columns,
            rows: rows.collect(),
            shown: usize::MAX,
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
                rows.push(Row { cells, ..Row::default() });
            }
        }
        let columns =
            ["run", "problem", "solver", "evaluations", "cost less best", "gradient", "parameter error"];
        Sheet {
            name: "convergence",
            title: "Convergence".into(),
            note: "The course of each run from a problem's first start: its first and last point, and those between that are 4 % of \
                   evaluations apart."
                .into(),
            columns: columns.map(str::to_owned).to_vec(),
            rows,
            shown: usize::MAX,
        }
    }

    /// The columns of `data/parameters`: where each run ended that gave an answer, and what is certified.
    pub fn parameters(&self) -> Vec<Column> {
        let rows = || {
            let named = |run: &Summary| self.table.parameters.get(run.job.problem).into_iter().flatten();
            self.table.runs.iter().flat_map(move |run| {
                named(run).zip(&run.record.parameters).map(move |(name, value)| (run, name, *value))
            })
        };
        let certified = |run: &Summary, name: &String| {
            self.study.problems.get(run.job.problem)?.problem.certified.get(name).copied()
        };
        let text = |of: &dyn Fn(&Summary, &String) -> String| {
            Values::Text(rows().map(|(run, name, _)| Some(of(run, name))).collect())
        };
        [
            ("run", Values::Whole(rows().map(|(run, ..)| Some(run.number as i64)).collect())),
            ("problem", text(&|run, _| self.problem(run.job.problem))),
            ("solver", text(&|run, _| self.solver(run.job.solver))),
            ("parameter", text(&|_, name| name.clone())),
            ("value", Values::Real(rows().map(|(.., value)| Some(value)).collect())),
            ("certified", Values::Real(rows().map(|(run, name, _)| certified(run, name)).collect())),
        ]
        .map(|(name, values)| Column { name: name.into(), values })
        .into()
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
                if record.converged { "yes" } else { "no" }.to_owned(),
            ];
            let order = run.order.ok();
            let mut cells = vec![count(run.number)];
            cells.extend(words.map(Cell::Text));
            cells.push(if self.is_answered(run.job.problem) {
                Cell::Number(record.digits, 1)
            } else {
                Cell::None
            });
            cells.extend([record.initial, record.last].map(|cost| Cell::Number(cost, 6)));
            cells.push(count(record.steps));
            cells.push(Cell::Number(run.evaluations, 0));
            cells.extend(
                [record.residual_evaluations, record.jacobian_evaluations, record.hessian_evaluations]
                    .map(count),
            );
            cells.push(order.map_or(Cell::None, |o| Cell::Between(o.order, Some(ends(o.interval)), 2)));
            let rate = order.and_then(|o| o.rate);
            cells.push(rate.map_or(Cell::None, |(rate, own)| Cell::Between(rate, Some(ends(own)), 3)));
            cells.push(order.map_or(Cell::None, |o| count(o.steps as u64)));
            Row { cells, ..Row::default() }
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
                "converged",
                "digits",
                "cost at the start",
                "cost",
                "iterations",
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
            shown: usize::MAX,
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
            let ratios = self.answered().filter_map(|problem| {
                let own: Vec<f64> =
                    self.table.of(problem, solver).collect::<Vec<_>>().iter().map(time).collect();
                let first: Vec<f64> =
                    self.table.of(problem, 0).collect::<Vec<_>>().iter().map(time).collect();
                let ratio = |(a, b): (&f64, &f64)| if a == b { 1.0 } else { a / b };
                median(&own.iter().zip(&first).map(ratio).collect::<Vec<_>>())
            });
            let cells =
                vec![Cell::Text(self.solver(solver)), middle(&ratios.collect::<Vec<_>>(), ratio_interval, 2)];
            Row { cells, ..Row::default() }
        };
        Sheet {
            name: "times",
            title: "Times".into(),
            note: format!(
                "The median over problems, with its 95 % interval, of the median over starts of the time relative to that of {} on the \
                 same start, infinite where only the other reaches {least} digits, 0 where only this one does, and 1 where neither does.{}",
                self.solver(0),
                self.unanswered()
            ),
            columns: vec!["solver".into(), "time ratio".into()],
            rows: self.solvers().map(row).collect(),
            shown: usize::MAX,
        }
    }
}
