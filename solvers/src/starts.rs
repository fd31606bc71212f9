//! Other starts around the given one.

use crate::options::Options;
use crate::random::Random;

/// The given start, then the others that are asked for: within the bounds where a parameter has two, else from 0 to twice the
/// start's value (from −1 to 1 where that is zero), and always where a bound allows it.
pub(crate) fn starts(start: &[f64], options: &Options) -> Vec<Vec<f64>> {
    let mut random = Random::new(options.seed);
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
