//! Intervals that hold the truth in 95 % of studies.

use super::special::{heads, student};
use crate::accuracy::LRE_CAP;

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

/// The greatest k for which the k-th value from below and the k-th from above, of n, hold the median at 95 % at least, with the
/// chance that they do; `None` below six.
fn enclosing(n: u64) -> Option<(u64, f64)> {
    (1..=n / 2).map(|k| (k, level(k, n))).take_while(|(_, level)| *level >= 0.95).last()
}

fn level(k: u64, n: u64) -> f64 {
    1.0 - 2.0 * heads(k - 1, n)
}

/// A 95 % interval for the median of what independent values were drawn from; `None` of fewer than six, where no two of them
/// enclose it that surely.
///
/// Between two order statistics, interpolated: unlike the percentile bootstrap it holds its level at ten values as at a hundred.
/// Where one of the two is infinite, or shared by several values, nothing lies between, and the interval takes the outer one: it then
/// holds the median of tied, capped and failing values at no less than its level, and at more where many share the median itself.
///
/// Source: Hettmansperger and Sheather, Statistics & Probability Letters 4 (1986) 75–79.
pub fn median_interval(values: &[f64]) -> Option<Interval> {
    let sorted = ascending(values);
    let n = sorted.len() as u64;
    let (k, surely) = enclosing(n)?;
    let part = (surely - 0.95) / (surely - level(k + 1, n));
    let (kf, nf) = (k as f64, n as f64);
    let weight = (nf - kf) * part / (kf + (nf - 2.0 * kf) * part);
    let tied = |x: f64| sorted.iter().filter(|own| **own == x).count() > 1;
    let between = |outer: u64, inner: u64| {
        let (outer, inner) = (*sorted.get(outer as usize)?, *sorted.get(inner as usize)?);
        let inside = outer.is_finite() && inner.is_finite() && !tied(outer) && !tied(inner);
        Some(if inside { (1.0 - weight) * outer + weight * inner } else { outer })
    };
    Some(Interval { low: between(k - 1, k)?, high: between(n - k, n - k - 1)? })
}

/// [`median_interval`] of digits, of which none and [`LRE_CAP`] may be fewer and more.
pub fn digits_interval(values: &[f64]) -> Option<Interval> {
    let open = values.iter().map(|digits| match *digits {
        all if all >= LRE_CAP => f64::INFINITY,
        none if none <= 0.0 => f64::NEG_INFINITY,
        some => some,
    });
    let Interval { low, high } = median_interval(&open.collect::<Vec<_>>())?;
    Some(Interval { low: low.clamp(0.0, LRE_CAP), high: high.clamp(0.0, LRE_CAP) })
}

/// [`median_interval`] of ratios, in their logarithms: turned around, the interval is that of what is turned around. Where one of two
/// things failed, the ratio is 0 or infinite.
pub fn ratio_interval(values: &[f64]) -> Option<Interval> {
    let logs: Vec<f64> = values.iter().map(|ratio| core_math::log(*ratio)).collect();
    let Interval { low, high } = median_interval(&logs)?;
    Some(Interval { low: core_math::exp(low), high: core_math::exp(high) })
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
