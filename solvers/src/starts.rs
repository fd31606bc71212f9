//! Other starts around the given one.

use crate::options::Options;

/// The given start, then the others that are asked for: within the bounds where a parameter has two, else from 0 to twice the
/// start's value (from −1 to 1 where that is zero), and always where a bound allows it.
pub(crate) fn starts(start: &[f64], options: &Options) -> Vec<Vec<f64>> {
    let mut random = Random(options.seed);
    let mut all = vec![start.to_vec()];
    for _ in 1..options.starts {
        let place = |(j, x): (usize, &f64)| {
            let [low, high] = options.bounds.get(j).copied().unwrap_or([f64::NEG_INFINITY, f64::INFINITY]);
            let part = random.part();
            let free = match high - low {
                width if width.is_finite() => low + width * part,
                _ => x + (2.0 * part - 1.0) * if *x == 0.0 { 1.0 } else { x.abs() },
            };
            free.max(low).min(high)
        };
        all.push(start.iter().enumerate().map(place).collect());
    }
    all
}

/// Steele, Lea & Flood's SplitMix64 (OOPSLA 2014).
struct Random(u64);

impl Random {
    /// From 0 to 1, evenly.
    fn part(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }
}
