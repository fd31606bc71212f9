//! The tables that compare solvers with each other.

use std::collections::BTreeSet;

use super::sheet::{Cell, Row, Sheet};
use super::sheets::{Named, plain};
use crate::study::stats::Summary;
use crate::study::stats::interval::median;
use crate::study::stats::paired::{Paired, holm, paired};
use crate::study::stats::profile::{Swap, swaps};

/// So many pairs that change places are read; each study with many solvers has hundreds that do so by a run or two.
const WIDEST: usize = 20;

/// A number of each solver on a problem.
struct Measured {
    problem: usize,
    values: Vec<f64>,
}

/// How two solvers compare, and by how much the first is ahead on each problem, in their order.
struct Compared {
    solvers: [usize; 2],
    ahead: Vec<(usize, f64)>,
    found: Paired,
}

impl Named<'_> {
    fn by_problem(&self, value: impl Fn(&[&Summary]) -> f64) -> Vec<Measured> {
        let of = |problem, solver| value(&self.table.of(problem, solver).collect::<Vec<_>>());
        let is_started =
            |problem: usize| self.study.problems.get(problem).is_some_and(|own| !own.starts.is_empty());
        let started = self.answered().filter(|problem| is_started(*problem));
        let measured = |problem| Measured {
            problem,
            values: self.solvers().map(|solver| of(problem, solver)).collect(),
        };
        started.map(measured).collect()
    }

    /// Solvers in pairs.
    pub(super) fn pairs(&self) -> Sheet {
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
            note: "Paired by problem, by the mean over starts of the digits, and by the ratio of the medians over starts of the \
                   evaluations: on how many problems either is ahead, the matched-pairs rank-biserial correlation (1: the \
                   first always), and two-sided p-values, Holm-adjusted within each measure."
                .to_owned()
                + &self.unanswered(),
            columns: ["measure", "first", "second", "first ahead", "second ahead", "effect", "Wilcoxon p", "sign p"]
                .map(str::to_owned)
                .to_vec(),
            rows,
            shown: usize::MAX,
        }
    }

    fn compared(&self, measure: &str, values: &[Measured], ahead: impl Fn(f64, f64) -> f64) -> Vec<Row> {
        let compare = |solvers: [usize; 2]| {
            let differences = values.iter().filter_map(|own| {
                let [a, b] = solvers.map(|solver| own.values.get(solver).copied());
                Some((own.problem, ahead(a?, b?)))
            });
            let ahead: Vec<(usize, f64)> = differences.collect();
            let found = paired(&ahead.iter().map(|(_, difference)| *difference).collect::<Vec<_>>());
            Compared { solvers, ahead, found }
        };
        let pairs = self.solvers().flat_map(|a| (a + 1..self.table.solvers()).map(move |b| [a, b]));
        let all: Vec<Compared> = pairs.map(compare).collect();
        let adjusted = |p: fn(&Paired) -> f64| holm(&all.iter().map(|own| p(&own.found)).collect::<Vec<_>>());
        let (wilcoxon, sign) = (adjusted(|own| own.wilcoxon), adjusted(|own| own.sign));
        let numbers = all.iter().zip(wilcoxon).zip(sign);
        numbers.map(|((own, wilcoxon), sign)| self.pair(measure, own, [wilcoxon, sign])).collect()
    }

    fn pair(&self, measure: &str, compared: &Compared, p: [f64; 2]) -> Row {
        let Compared { solvers, ahead, found } = compared;
        let on = |which: fn(f64) -> bool| {
            let meant = |problem: usize| {
                let own = ahead.binary_search_by_key(&problem, |(own, _)| *own).ok();
                own.and_then(|i| ahead.get(i)).is_some_and(|(_, difference)| which(*difference))
            };
            self.those(solvers, |task| task.first().is_some_and(|run| meant(run.job.problem)))
        };
        let mut row = Row { cells: vec![Cell::Text(measure.into())], ..Row::default() };
        solvers.map(|solver| self.named(solver)).into_iter().for_each(|(cell, runs)| row.push(cell, runs));
        row.push(Cell::Number(found.up as f64, 0), on(|difference| difference > 0.0));
        row.push(Cell::Number(found.down as f64, 0), on(|difference| difference < 0.0));
        row.push(Cell::Number(found.effect, 2), on(|_| true));
        p.into_iter().for_each(|p| row.push(Cell::Number(p, 4), on(|_| true)));
        row
    }

    /// Pairs that change places where the best solver is left out.
    pub(super) fn swaps(&self) -> Sheet {
        let mut all = Vec::new();
        for (i, digits) in self.study.digits.iter().enumerate() {
            let found = swaps(&self.to_digits(i)).into_iter();
            all.extend(
                found.flat_map(|(best, swaps)| swaps.into_iter().map(move |swap| (digits, best, swap))),
            );
        }
        all.sort_by(|(.., a), (.., b)| b.margin.total_cmp(&a.margin));
        let row = |(digits, best, swap): &(&f64, usize, Swap)| {
            let both = [swap.first, swap.second];
            let mut row = Row { cells: vec![Cell::Text(plain(**digits))], ..Row::default() };
            for (cell, runs) in [both[0], both[1], *best].map(|solver| self.named(solver)) {
                row.push(cell, runs);
            }
            let whole = self.those(&both, |_| true);
            row.push(Cell::Number(swap.ratio, 2), whole.clone());
            row.push(Cell::Number(swap.margin, 3), whole);
            row
        };
        let rows: Vec<Row> = all.iter().map(row).collect();
        let pairs = all.iter().map(|(.., swap)| [swap.first, swap.second]);
        let pairs: BTreeSet<[usize; 2]> = pairs.map(|[a, b]| [a.min(b), a.max(b)]).collect();
        Sheet {
            name: "swaps",
            title: "Rankings that depend on the best solver".into(),
            note: match rows.len() {
                0 => "No two solvers change places in a performance profile where the best one is left out."
                    .into(),
                n => format!(
                    "Warning: performance profiles rank solvers against the best one only. {} pairs of solvers change places where it \
                     is left out, at one number of digits or another; here is the least ratio at which they do so most, and the share of \
                     runs by which either is ahead, at least.{}",
                    pairs.len(),
                    match n > WIDEST {
                        true =>
                            format!(" The {WIDEST} widest of {n} changes stand here, all in data/swaps.csv."),
                        false => String::new(),
                    }
                ),
            },
            columns: ["digits", "ahead", "behind, but ahead without", "the best", "ratio", "margin"]
                .map(str::to_owned)
                .to_vec(),
            rows,
            shown: WIDEST,
        }
    }
}
