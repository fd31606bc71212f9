//! Comparing two solvers on the same problems.

use super::special::heads;

/// What the differences of pairs say.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Paired {
    /// Pairs.
    pub pairs: usize,
    /// Pairs that differ, up and down.
    pub up: usize,
    /// See `up`.
    pub down: usize,
    /// Wilcoxon's signed-rank test, two-sided: how likely ranks as uneven as these are if both are alike.
    pub wilcoxon: f64,
    /// The sign test, two-sided.
    pub sign: f64,
    /// The matched-pairs rank-biserial correlation: (rank sum up − rank sum down) / their sum, from −1 to 1; 0 if none differ.
    pub effect: f64,
}

/// Beyond so many pairs that differ, the normal distribution takes the exact one's place.
pub const EXACT: usize = 200;

/// Compares pairs by their differences, which may be infinite (one of them failed); NaN counts as none (both failed).
///
/// Zeros are left out of the ranks and ties share theirs; the distribution is that of all signs on these very ranks, so that it is exact with
/// ties, too. Sources: Wilcoxon, Biometrics Bulletin 1 (1945) 80–83; Kerby, Comprehensive Psychology 3 (2014) 11.IT.3.1.
pub fn paired(differences: &[f64]) -> Paired {
    let mut known: Vec<f64> = differences.iter().copied().filter(|x| *x != 0.0 && !x.is_nan()).collect();
    known.sort_by(|a, b| a.abs().total_cmp(&b.abs()));
    let ranks = doubled_ranks(&known);
    let up = known.iter().filter(|x| **x > 0.0).count();
    let down = known.len() - up;
    let rank_sum: u64 = known.iter().zip(&ranks).filter(|(x, _)| **x > 0.0).map(|(_, rank)| *rank).sum();
    let all: u64 = ranks.iter().sum();
    let less = rank_sum.min(all - rank_sum);
    let wilcoxon = if known.len() <= EXACT { exact(&ranks, all, less) } else { normal(&ranks, all, less) };
    Paired {
        pairs: differences.len(),
        up,
        down,
        wilcoxon,
        sign: (2.0 * heads(up.min(down) as u64, known.len() as u64)).min(1.0),
        effect: if all == 0 { 0.0 } else { (2.0 * rank_sum as f64 - all as f64) / all as f64 },
    }
}

/// Twice the rank of each, so that shared ranks are whole.
fn doubled_ranks(sorted: &[f64]) -> Vec<u64> {
    let mut ranks = Vec::with_capacity(sorted.len());
    for tie in sorted.chunk_by(|a, b| a.abs() == b.abs()) {
        let first = ranks.len() as u64 + 1;
        let last = first + tie.len() as u64 - 1;
        ranks.extend(tie.iter().map(|_| first + last));
    }
    ranks
}

/// Twice the chance of a sum of at most `less`.
fn exact(ranks: &[u64], all: u64, less: u64) -> f64 {
    // chance of each sum after so many ranks
    let mut chances = vec![0.0; all as usize + 1];
    if let Some(first) = chances.first_mut() {
        *first = 1.0;
    }
    for rank in ranks {
        let before = chances.clone();
        for (sum, chance) in chances.iter_mut().enumerate() {
            let added = sum.checked_sub(*rank as usize).and_then(|sum| before.get(sum)).unwrap_or(&0.0);
            *chance = (*chance + added) / 2.0;
        }
    }
    (2.0 * chances.iter().take(less as usize + 1).sum::<f64>()).min(1.0)
}

fn normal(ranks: &[u64], all: u64, less: u64) -> f64 {
    let variance = ranks.iter().map(|rank| *rank as f64 * *rank as f64).sum::<f64>() / 4.0;
    // half a step of the rank sum, as ranks are doubled
    let z = (all as f64 / 2.0 - less as f64 - 1.0).max(0.0) / variance.sqrt();
    core_math::erfc(z / 2.0f64.sqrt()).min(1.0)
}

/// Holm's adjustment of p-values for their number, in their order.
///
/// Source: Holm, Scandinavian Journal of Statistics 6 (1979) 65–70.
pub fn holm(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<(usize, f64)> = values.iter().copied().enumerate().collect();
    order.sort_by(|a, b| a.1.total_cmp(&b.1));
    let mut adjusted = vec![1.0; values.len()];
    let mut largest = 0.0f64;
    for (place, (i, p)) in order.into_iter().enumerate() {
        largest = largest.max((p * (values.len() - place) as f64).min(1.0));
        if let Some(slot) = adjusted.get_mut(i) {
            *slot = largest;
        }
    }
    adjusted
}
