//! Intervals that hold the truth in 95 % of studies.

use super::special::{NORMAL, beta_quantile, heads, student};

/// Two ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

/// The middle one of the values, or the mean of the two middle ones; infinite ones count, NaN as infinite. `None` of nothing.
pub fn median(values: &[f64]) -> Option<f64> {
    let sorted = ascending(values);
    let upper = *sorted.get(sorted.len() / 2)?;
    match sorted.len() % 2 {
        1 => Some(upper),
        _ => sorted.get(sorted.len() / 2 - 1).map(|lower| middle(*lower, upper)),
    }
}

fn middle(a: f64, b: f64) -> f64 {
    if a == b { a } else { a / 2.0 + b / 2.0 }
}

fn ascending(values: &[f64]) -> Vec<f64> {
    let mut sorted: Vec<f64> = values.iter().map(|x| if x.is_nan() { f64::INFINITY } else { *x }).collect();
    sorted.sort_by(f64::total_cmp);
    sorted
}

/// A 95 % interval for the median of what independent values were drawn from; `None` of fewer than six, where no two of them
/// enclose it that surely.
///
/// Between two order statistics, interpolated: unlike the percentile bootstrap it holds its level at ten values as at a
/// hundred. Source: Hettmansperger and Sheather, Statistics & Probability Letters 4 (1986) 75–79.
pub fn median_interval(values: &[f64]) -> Option<Interval> {
    let sorted = ascending(values);
    let n = sorted.len() as u64;
    // the k-th from below and above hold the median with this chance
    let level = |k: u64| 1.0 - 2.0 * heads(k - 1, n);
    let k = (1..=n / 2).take_while(|k| level(*k) >= 0.95).last()?;
    let part = (level(k) - 0.95) / (level(k) - level(k + 1));
    let (kf, nf) = (k as f64, n as f64);
    let weight = (nf - kf) * part / (kf + (nf - 2.0 * kf) * part);
    let between = |outer: u64, inner: u64| {
        let (outer, inner) = (sorted.get(outer as usize)?, sorted.get(inner as usize)?);
        // nothing lies between a number and infinity: then the wider end
        let inside = outer.is_finite() && inner.is_finite();
        Some(if inside { (1.0 - weight) * outer + weight * inner } else { *outer })
    };
    Some(Interval { low: between(k - 1, k)?, high: between(n - k, n - k - 1)? })
}

/// The mean with Student's 95 % interval; `None` of fewer than two, or where they are not finite.
pub fn mean_interval(values: &[f64]) -> Option<(f64, Interval)> {
    let n = values.len() as f64;
    if values.len() < 2 || !values.iter().all(|x| x.is_finite()) {
        return None;
    }
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / (n - 1.0);
    let half = student(n - 1.0) * (variance / n).sqrt();
    Some((mean, Interval { low: mean - half, high: mean + half }))
}

/// A share, of runs that come in groups: hits and size of each group. With its 95 % interval, or without where there are fewer
/// than six groups.
///
/// Jeffreys' interval, at the number of independent runs that would vary as much as the groups do. Sources: Brown, Cai and
/// DasGupta, Statistical Science 16 (2001) 101–133; Korn and Graubard, Survey Methodology 24 (1998) 193–201.
pub fn share(groups: &[(u64, u64)]) -> Option<(f64, Option<Interval>)> {
    let count = groups.len() as f64;
    let (hits, all) = groups.iter().fold((0, 0), |(hits, all), group| (hits + group.0, all + group.1));
    if all == 0 {
        return None;
    }
    let (share, total) = (hits as f64 / all as f64, all as f64);
    if groups.len() < 6 {
        return Some((share, None));
    }
    let squares = groups.iter().map(|(hits, all)| *hits as f64 - share * *all as f64).map(|x| x * x);
    let variance = count / (count - 1.0) * squares.sum::<f64>() / (total * total);
    let n = match groups.iter().all(|(_, all)| *all <= 1) || variance == 0.0 {
        true => count,
        false => {
            let ratio = NORMAL / student(count - 1.0);
            share * (1.0 - share) / variance * ratio * ratio
        }
    };
    let (a, b) = (share * n + 0.5, (1.0 - share) * n + 0.5);
    let low = if hits == 0 { 0.0 } else { beta_quantile(0.025, a, b) };
    let high = if hits == all { 1.0 } else { beta_quantile(0.975, a, b) };
    Some((share, Some(Interval { low, high })))
}
