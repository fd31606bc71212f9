//! Where else a problem may be begun: the region around a start.

use crate::bounds::inside;
use crate::options::Options;
use crate::random::Random;

/// Where to look for better points than the start: within the bounds where a parameter has two, else so many times the size of
/// the start's value on both sides of it (of 1 where that is zero), and always where a bound allows it.
///
/// Places in it are told by one number a parameter from −1 to 1.
#[derive(Clone, Debug)]
pub(crate) struct Region<'a> {
    bounds: &'a [[f64; 2]],
    /// The middle, and the way from there to the ends, of each parameter.
    spans: Vec<[f64; 2]>,
}

impl<'a> Region<'a> {
    pub fn new(start: &[f64], bounds: &'a [[f64; 2]], sizes: f64) -> Self {
        let span = |(j, x): (usize, &f64)| {
            let [low, high] = bounds.get(j).copied().unwrap_or([f64::NEG_INFINITY, f64::INFINITY]);
            let reach = 0.5 * high - 0.5 * low;
            if reach.is_finite() {
                [0.5 * low + 0.5 * high, reach]
            } else {
                [*x, sizes * if *x == 0.0 { 1.0 } else { x.abs() }]
            }
        };
        Region { bounds, spans: start.iter().enumerate().map(span).collect() }
    }

    /// The parameters at a place.
    pub fn point(&self, place: &[f64]) -> Vec<f64> {
        let point = self.spans.iter().zip(place).map(|([middle, reach], part)| middle + reach * part);
        inside(self.bounds, point.collect())
    }

    /// The place of a point, as near as rounding allows.
    pub fn place(&self, x: &[f64]) -> Vec<f64> {
        let part = |([middle, reach], x): (&[f64; 2], &f64)| {
            if *reach > 0.0 { ((x - middle) / reach).clamp(-1.0, 1.0) } else { 0.0 }
        };
        self.spans.iter().zip(x).map(part).collect()
    }
}

/// The given start, then the others that are asked for.
pub(crate) fn starts(start: &[f64], options: &Options) -> Vec<Vec<f64>> {
    let mut random = Random::new(options.seed);
    let region = Region::new(start, &options.bounds, 1.0);
    let mut other = || -> Vec<f64> {
        let place: Vec<f64> = start.iter().map(|_| 2.0 * random.part() - 1.0).collect();
        region.point(&place)
    };
    let others = (1..options.starts).map(|_| other());
    [start.to_vec()].into_iter().chain(others).collect()
}
