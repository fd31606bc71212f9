//! Whether all ways to evaluate a track agree, bit for bit, on random tracks.
//!
//! The sampler asked for one time, the block sampler, the real parts of dual numbers (in time, and by all parameters),
//! and the sampler on the track that its own describe text reads to.

use std::collections::BTreeSet;

use keyfit_autodiff::{Jacobian, motion};
use keyfit_ir::arbitrary::{RandomNumber, RandomTrack};
use keyfit_ir::{Node, Op, Sampler, Shape, Track, same_bits};
use ndarray::Array2;
use quickcheck::{Arbitrary, Gen};

/// How many times a track is asked at; each has parameters in common.
const TIMES: usize = 40;
/// The size of the random tracks.
const SIZE: usize = 30;

/// What a run found.
#[derive(Clone, Debug, PartialEq)]
pub struct Agreement {
    /// How many (track, time, parameters) were evaluated in every way.
    pub triples: u64,
    /// How many tracks they come from.
    pub tracks: u64,
    /// How many of the values are finite.
    pub finite: u64,
    /// Operations that occurred in no track.
    pub operations_missing: Vec<&'static str>,
    /// Shapes, other than those with numbers, that occurred in no track.
    pub shapes_missing: Vec<String>,
    /// The first disagreement.
    pub disagreement: Option<Disagreement>,
}

/// Two ways that gave different bits.
#[derive(Clone, Debug, PartialEq)]
pub struct Disagreement {
    /// The way that differs from the sampler.
    pub way: &'static str,
    /// The track, as describe text.
    pub track: String,
    /// The time.
    pub time: f64,
    /// The parameters, in the order of [`Track::free_parameters`].
    pub parameters: Vec<f64>,
    /// The sampler's value.
    pub sampled: f64,
    /// The other way's.
    pub found: f64,
}

/// Evaluates at least `triples` random (track, time, parameters) in every way, up to the first disagreement. The same seed
/// gives the same run.
pub fn agreement(triples: u64, seed: u64) -> Agreement {
    let mut g = Gen::from_size_and_seed(SIZE, seed);
    let numbers =
        |n: usize, g: &mut Gen| -> Vec<f64> { (0..n).map(|_| RandomNumber::arbitrary(g).0).collect() };
    let mut operations: BTreeSet<Op> = Op::ALL.iter().copied().collect();
    let mut shapes: BTreeSet<Shape> = Shape::all().collect();
    let mut run = Agreement {
        triples: 0,
        tracks: 0,
        finite: 0,
        operations_missing: Vec::new(),
        shapes_missing: Vec::new(),
        disagreement: None,
    };
    while run.triples < triples && run.disagreement.is_none() {
        let RandomTrack(track) = RandomTrack::arbitrary(&mut g);
        for node in track.nodes() {
            match node {
                Node::Apply(op, _) => {
                    operations.remove(op);
                }
                Node::Keyed(keyed) => keyed.shapes().iter().for_each(|shape| {
                    shapes.remove(&shape.name());
                }),
                _ => {}
            }
        }
        let times = numbers(TIMES, &mut g);
        let parameters = numbers(track.free_parameters().len(), &mut g);
        let mut one = Sampler::new(&track);
        let sampled: Vec<f64> = times.iter().map(|t| one.sample_at(t, &parameters)).collect();
        run.disagreement = disagreement(&track, &times, &parameters, &sampled);
        run.triples += TIMES as u64;
        run.tracks += 1;
        run.finite += sampled.iter().filter(|x| x.is_finite()).count() as u64;
    }
    run.operations_missing = operations.iter().map(|op| op.name()).collect();
    run.shapes_missing = shapes.iter().map(Shape::to_string).collect();
    run
}

fn disagreement(track: &Track, times: &[f64], parameters: &[f64], sampled: &[f64]) -> Option<Disagreement> {
    let told = |way: &'static str, i: usize, found: f64| Disagreement {
        way,
        track: track.describe(),
        time: times[i],
        parameters: parameters.to_vec(),
        sampled: sampled[i],
        found,
    };
    let apart = |way: &'static str, found: &[f64]| {
        let i = sampled.iter().zip(found).position(|(a, b)| !same_bits(*a, *b))?;
        Some(told(way, i, found[i]))
    };
    let mut block = vec![0.0; times.len()];
    Sampler::new(track).sample_into(times, parameters, &mut block);
    let in_time: Vec<f64> = motion(track, times, parameters).iter().map(|at| at.0).collect();
    let mut real = vec![0.0; times.len()];
    let mut partials = Array2::zeros((times.len(), parameters.len()));
    Jacobian::new(track).fill(times, parameters, &mut real, partials.view_mut());
    // equal tracks are equal arrays, and sample alike
    let reread = match Track::parse(&track.describe()) {
        Ok(read) if read == *track => None,
        Ok(read) => Some(told("describe text", 0, Sampler::new(&read).sample_at(&times[0], parameters))),
        Err(_) => Some(told("describe text, which does not parse", 0, f64::NAN)),
    };
    apart("block sampler", &block)
        .or_else(|| apart("dual numbers in time", &in_time))
        .or_else(|| apart("dual numbers by parameters", &real))
        .or(reread)
}
