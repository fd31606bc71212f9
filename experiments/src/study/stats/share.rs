//! The share of runs that succeed, where runs come in groups: from several starts of a problem.

use std::collections::BTreeMap;

use super::interval::Interval;
use super::special::{Beta, quantile};

/// Fewer groups have no interval.
const LEAST: usize = 6;
/// How likely it is held beforehand that all groups have the same chance of success, and that the runs of a group end all alike.
const SAME: f64 = 0.2;
const ALIKE: f64 = 0.4;
/// Correlations between these, at least; of more groups, which show more closely what it is, their square root.
const BETWEEN: f64 = 8.0;
/// What n independent runs weigh is divided by this power of n + 1: half a power as the share is not known, the rest since it
/// is taken from the same runs that say how alike they are. Found by simulation.
const PRUDENCE: f64 = 1.5;
/// A weight beside 1 that counts for nothing.
const NOTHING: f64 = 1e-18;

/// Hits and size of a group of runs.
pub type Group = (u64, u64);

/// The share of hits in all, `None` of no runs. With its 95 % interval, or without where there are fewer than six groups.
///
/// Of independent runs it is Jeffreys' interval. The runs of a group are not independent: as long as a solver fares as well from
/// one start of a problem as from another, n runs say no more than n groups do. How much they are alike, their correlation ρ, a few
/// groups hardly show. So every ρ counts: the interval is that of a mixture of Jeffreys' distributions, each at the number of
/// independent runs whose share varies as much, n_ρ = (Σm)² / Σ m(1 + (m − 1)ρ) for groups of m runs, and weighted by the chance of these
/// groups under a beta-binomial distribution with that ρ.
///
/// Sources: Brown, Cai and DasGupta, Statistical Science 16 (2001) 101–133; Skellam, Journal of the Royal Statistical Society B 10
/// (1948) 257–261, for the beta-binomial distribution; Kish, Survey Sampling (1965), section 5.4, for n_ρ.
///
/// It holds its level on average over shares and over kinds of problems. At a given share of six independent runs, of which a whole
/// number succeed, it holds between 90 and 99 %. On one kind of problems alone, of fewer than sixty, it holds no less than 93 and no more
/// than 98 %: less where the solver has solved some always and some never, and more where all are about as hard, as the groups
/// themselves hardly tell one from the other.
pub fn share(groups: &[Group]) -> Option<(f64, Option<Interval>)> {
    let hits: u64 = groups.iter().map(|(hits, size)| hits.min(size)).sum();
    let all: u64 = groups.iter().map(|(_, size)| size).sum();
    if all == 0 {
        return None;
    }
    let share = hits as f64 / all as f64;
    if groups.len() < LEAST {
        return Some((share, None));
    }
    let mixture = mixture(groups, share, all as f64);
    let low = if hits == 0 { 0.0 } else { quantile(0.025, &mixture) };
    let high = if hits == all { 1.0 } else { quantile(0.975, &mixture) };
    Some((share, Some(Interval { low, high })))
}

/// What the share may be, by Jeffreys' distribution at each number of independent runs.
fn mixture(groups: &[Group], share: f64, all: f64) -> Vec<(f64, Beta)> {
    let runs = |rho: f64| {
        let varying = |(_, size): &Group| *size as f64 * (1.0 + (*size as f64 - 1.0) * rho);
        all * all / groups.iter().map(varying).sum::<f64>()
    };
    let jeffreys = |n: f64| Beta::new(share * n + 0.5, (1.0 - share) * n + 0.5);
    if groups.iter().all(|(_, size)| *size <= 1) {
        return vec![(1.0, jeffreys(all))];
    }
    let mean = (share * all + 0.5) / (all + 1.0);
    let mut alike: BTreeMap<Group, f64> = BTreeMap::new();
    groups.iter().for_each(|group| *alike.entry(*group).or_default() += 1.0);
    let weighed: Vec<(f64, f64)> = correlations(groups.len())
        .map(|(rho, before)| {
            let n = runs(rho);
            (core_math::log(before) + chance(&alike, mean, rho) - PRUDENCE * core_math::log(n + 1.0), n)
        })
        .collect();
    let most = weighed.iter().map(|(log, _)| *log).fold(f64::NEG_INFINITY, f64::max);
    let weights = || weighed.iter().map(|(log, n)| (core_math::exp(log - most), *n));
    let sum: f64 = weights().map(|(weight, _)| weight).sum();
    // what would not change the last bit is not looked at
    let parts = weights().filter(|(weight, _)| *weight > NOTHING);
    parts.map(|(weight, n)| (weight / sum, jeffreys(n))).collect()
}

/// Correlations, and how likely each is held beforehand; those between 0 and 1 lie closer where runs are more alike.
fn correlations(groups: usize) -> impl Iterator<Item = (f64, f64)> {
    let between = BETWEEN.max((groups as f64).sqrt().ceil());
    let inner = (0..between as u64).map(move |k| 1.0 - (k as f64 + 0.5) / between);
    let inner = inner.map(move |part| (1.0 - part * part, (1.0 - SAME - ALIKE) / between));
    std::iter::once((0.0, SAME)).chain(inner).chain(std::iter::once((1.0, ALIKE)))
}

/// The logarithm of the chance of so many of each of these groups, but for a factor that depends on nothing else, where single runs succeed with a
/// chance of `mean` and correlate by `rho`.
fn chance(groups: &BTreeMap<Group, f64>, mean: f64, rho: f64) -> f64 {
    let (success, failure) = (core_math::log(mean), core_math::log(1.0 - mean));
    let part = 1.0 / rho - 1.0;
    let of = |(hits, size): &Group| {
        let misses = size.saturating_sub(*hits);
        let hits = size - misses;
        if rho <= 0.0 {
            return hits as f64 * success + misses as f64 * failure;
        }
        if rho < 1.0 {
            return rising(mean * part, hits) + rising((1.0 - mean) * part, misses) - rising(part, *size);
        }
        match (hits, misses) {
            (0, 0) => 0.0,
            (_, 0) => success,
            (0, _) => failure,
            _ => f64::NEG_INFINITY,
        }
    };
    groups.iter().map(|(group, count)| count * of(group)).sum()
}

/// The logarithm of x(x + 1)…(x + n − 1).
fn rising(x: f64, n: u64) -> f64 {
    core_math::lgamma(x + n as f64) - core_math::lgamma(x)
}
