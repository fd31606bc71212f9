//! Profiles: the share of runs that a solver has done within a cost.

use super::interval::Interval;
use super::share::share;

/// What it cost each solver to do each of some tasks; infinite where it did not.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Costs {
    solvers: usize,
    /// The group of each task, its problem, and the cost of each solver.
    rows: Vec<(usize, Vec<f64>)>,
}

impl Costs {
    /// No task yet.
    pub fn new(solvers: usize) -> Costs {
        Costs { solvers, rows: Vec::new() }
    }

    /// Adds a task of a group; costs that are missing or NaN are infinite.
    pub fn push(&mut self, group: usize, costs: impl IntoIterator<Item = f64>) {
        let mut costs: Vec<f64> = costs
            .into_iter()
            .map(|x| if x.is_nan() { f64::INFINITY } else { x })
            .take(self.solvers)
            .collect();
        costs.resize(self.solvers, f64::INFINITY);
        self.rows.push((group, costs));
    }

    /// Tasks.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there is no task.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Each task's costs as multiples of the least one of any solver but `without`; infinite where none did it.
    ///
    /// Source: Dolan and Moré, Mathematical Programming 91 (2002) 201–213.
    pub fn ratios(&self, without: Option<usize>) -> Costs {
        let ratios = |costs: &Vec<f64>| {
            let others = costs.iter().enumerate().filter(|(solver, _)| Some(*solver) != without);
            let least = others.map(|(_, cost)| *cost).fold(f64::INFINITY, f64::min);
            let ratio = |cost: &f64| if cost.is_finite() { cost / least } else { f64::INFINITY };
            costs.iter().map(ratio).collect()
        };
        let rows = self.rows.iter().map(|(group, costs)| (*group, ratios(costs))).collect();
        Costs { solvers: self.solvers, rows }
    }

    /// The share of tasks that each solver has done within each cost.
    pub fn profile(&self) -> Profile {
        let sorted = |solver: usize| {
            let mut own: Vec<f64> = self
                .rows
                .iter()
                .filter_map(|(_, costs)| costs.get(solver))
                .copied()
                .filter(|x| x.is_finite())
                .collect();
            own.sort_by(f64::total_cmp);
            own
        };
        Profile { tasks: self.rows.len(), done: (0..self.solvers).map(sorted).collect() }
    }

    /// The group of each task, and whether a solver has done it within a cost.
    pub fn done(&self, solver: usize, cost: f64) -> impl Iterator<Item = (usize, bool)> {
        let done = move |costs: &Vec<f64>| costs.get(solver).is_some_and(|own| *own <= cost);
        self.rows.iter().map(move |(group, costs)| (*group, done(costs)))
    }

    /// The share that a solver has done within a cost, with its interval over the groups.
    pub fn band(&self, solver: usize, cost: f64) -> Option<(f64, Option<Interval>)> {
        let mut groups: std::collections::BTreeMap<usize, (u64, u64)> = std::collections::BTreeMap::new();
        for (group, done) in self.done(solver, cost) {
            let (hits, all) = groups.entry(group).or_default();
            *hits += u64::from(done);
            *all += 1;
        }
        share(&groups.into_values().collect::<Vec<_>>())
    }
}

/// Step functions that rise from 0: one a solver.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    tasks: usize,
    /// The finite costs of each solver, ascending.
    done: Vec<Vec<f64>>,
}

impl Profile {
    /// The share of tasks that the solver has done within the cost.
    pub fn at(&self, solver: usize, cost: f64) -> f64 {
        self.share(self.done(solver, cost) as i64)
    }

    fn done(&self, solver: usize, cost: f64) -> usize {
        self.done.get(solver).map_or(0, |done| done.partition_point(|own| *own <= cost))
    }

    fn share(&self, tasks: i64) -> f64 {
        if self.tasks == 0 { 0.0 } else { tasks as f64 / self.tasks as f64 }
    }

    /// The costs at which the solver's share rises, ascending, each once.
    pub fn rises(&self, solver: usize) -> Vec<f64> {
        let mut rises = self.done.get(solver).cloned().unwrap_or_default();
        rises.dedup();
        rises
    }
}

/// Two solvers whose order in a performance profile depends on a third.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Swap {
    /// Ahead while all solvers are there.
    pub first: usize,
    /// Ahead of `first` without the best one.
    pub second: usize,
    /// The least ratio at which their places differ most.
    pub ratio: f64,
    /// The share of tasks by which each of them is ahead there, at least.
    pub margin: f64,
}

/// The best solver of a performance profile, the one that is quickest most often, and the pairs that change places where it is
/// taken out, those first that do so by most.
///
/// Source: Gould and Scott, ACM Transactions on Mathematical Software 43 (2016) 15.
pub fn swaps(costs: &Costs) -> Option<(usize, Vec<Swap>)> {
    let whole = costs.ratios(None).profile();
    let best = (0..costs.solvers).rev().max_by(|a, b| whole.at(*a, 1.0).total_cmp(&whole.at(*b, 1.0)))?;
    let rest = costs.ratios(Some(best)).profile();
    let others = || (0..costs.solvers).filter(|solver| *solver != best);
    let mut swaps: Vec<Swap> = others()
        .flat_map(|first| others().map(move |second| (first, second)))
        .filter_map(|(first, second)| swap(&whole, &rest, first, second))
        .collect();
    swaps.sort_by(|a, b| b.margin.total_cmp(&a.margin));
    Some((best, swaps))
}

fn swap(whole: &Profile, rest: &Profile, first: usize, second: usize) -> Option<Swap> {
    let rises = [whole, rest].into_iter().flat_map(|p| [p.rises(first), p.rises(second)]).flatten();
    let ahead = |profile: &Profile, a, b, x| profile.done(a, x) as i64 - profile.done(b, x) as i64;
    let margin = |x: f64| ahead(whole, first, second, x).min(ahead(rest, second, first, x));
    // in whole tasks, as shares that are equal may differ by rounding
    let widest = rises
        .filter(|x| *x >= 1.0)
        .map(|ratio| (margin(ratio), ratio))
        .filter(|(margin, _)| *margin > 0)
        .max_by(|(a, at), (b, other)| a.cmp(b).then(other.total_cmp(at)))?;
    Some(Swap { first, second, ratio: widest.1, margin: whole.share(widest.0) })
}
