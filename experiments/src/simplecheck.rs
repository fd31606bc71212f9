//! Simplification held against the sampler: random tracks, random times and parameters, every bit.

use keyfit_autodiff::time_derivatives;
use keyfit_ir::arbitrary::{RandomNumber, RandomTrack};
use keyfit_ir::{Sampler, Track, same_bits};
use keyfit_rewrite::{Bounds, Fact, Options, simplify};
use quickcheck::{Arbitrary, Gen};

/// How many times a track is asked for.
const TIMES: usize = 500;
/// How many faults are told.
const FAULTS: usize = 10;

/// What was compared.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tally {
    /// Values: pairs of a track and a time.
    pub pairs: u64,
    /// Tracks.
    pub tracks: u64,
    /// Tracks that simplification changed.
    pub changed: u64,
    /// Nodes of all tracks.
    pub nodes_before: u64,
    /// Nodes of all simplified tracks.
    pub nodes_after: u64,
    /// Proofs that were replayed.
    pub proofs: u64,
    /// Values of dual numbers that were compared.
    pub duals: u64,
    /// What is not as it should be.
    pub faults: Vec<String>,
}

impl Tally {
    /// Adds another tally.
    pub fn add(&mut self, other: Tally) {
        self.pairs += other.pairs;
        self.tracks += other.tracks;
        self.changed += other.changed;
        self.nodes_before += other.nodes_before;
        self.nodes_after += other.nodes_after;
        self.proofs += other.proofs;
        self.duals += other.duals;
        self.faults.extend(other.faults);
    }
}

/// Compares at least so many values; the same ones for the same seed.
pub fn check(pairs: u64, seed: u64) -> Tally {
    let mut g = Gen::from_size_and_seed(40, seed);
    let mut tally = Tally::default();
    while tally.pairs < pairs && tally.faults.len() < FAULTS {
        let RandomTrack(track) = RandomTrack::arbitrary(&mut g);
        let bounds = match bool::arbitrary(&mut g) {
            true => Bounds::new(),
            false => Bounds::new().duration(RandomNumber::arbitrary(&mut g).0.abs().min(f64::MAX)),
        };
        compare(&track, &bounds, &mut g, &mut tally);
    }
    tally
}

fn compare(track: &Track, bounds: &Bounds, g: &mut Gen, tally: &mut Tally) {
    tally.tracks += 1;
    let simple = match simplify(track, &Options::with_bounds(bounds.clone())) {
        Ok(simple) => simple,
        Err(error) => return tally.faults.push(format!("{error}: {}", track.describe())),
    };
    tally.nodes_before += track.nodes().len() as u64;
    tally.nodes_after += simple.track.nodes().len() as u64;
    tally.changed += u64::from(simple.track != *track);
    match simple.proof.check_about(track, &simple.track) {
        Ok(()) => tally.proofs += 1,
        Err(why) => tally.faults.push(format!("{why}: {}", track.describe())),
    }
    let times: Vec<f64> = (0..TIMES).map(|_| within(bounds.clock(), g)).collect();
    // half of the times with the parameters' own values, half with any
    for (round, times) in times.chunks(TIMES / 2).enumerate() {
        let given: Vec<(&str, f64)> = track
            .free_parameters()
            .iter()
            .map(|p| (p.name(), if round == 0 { p.start() } else { RandomNumber::arbitrary(g).0 }))
            .collect();
        let [left, right] = [track, &simple.track].map(|track| sample(track, times, &given));
        for ((x, y), t) in left.iter().zip(&right).zip(times) {
            tally.pairs += 1;
            if !same_bits(*x, *y) {
                let (before, after) = (track.describe(), simple.track.describe());
                let fault = format!("{x:?} became {y:?} at {t:?} with {given:?}: {before} became {after}");
                return tally.faults.push(fault);
            }
        }
        for (t, x) in times.iter().zip(&left).take(2) {
            let (dual, ..) = time_derivatives(&simple.track, *t, &values(&simple.track, &given));
            tally.duals += 1;
            if !same_bits(dual, *x) {
                let fault =
                    format!("{x:?} is {dual:?} as a dual number at {t:?}: {}", simple.track.describe());
                return tally.faults.push(fault);
            }
        }
    }
}

/// A number that the fact allows, often a special one.
pub(crate) fn within(fact: Fact, g: &mut Gen) -> f64 {
    let x = RandomNumber::arbitrary(g).0;
    match fact.range() {
        Some((low, high)) if !fact.allows(x) => {
            let part = (x.abs() / (1.0 + x.abs())).min(1.0);
            // NaN between infinite ends is not allowed, as x was not
            let between = low + (high - low) * part;
            if fact.allows(between) { between } else { high }
        }
        _ => x,
    }
}

fn values(track: &Track, given: &[(&str, f64)]) -> Vec<f64> {
    let value = |name: &str| given.iter().find(|(known, _)| *known == name).map_or(f64::NAN, |(_, x)| *x);
    track.free_parameters().iter().map(|p| value(p.name())).collect()
}

/// The track's values where the parameters have these values.
pub(crate) fn sample(track: &Track, times: &[f64], given: &[(&str, f64)]) -> Vec<f64> {
    let mut out = vec![0.0; times.len()];
    Sampler::new(track).sample_into(times, &values(track, given), &mut out);
    out
}
