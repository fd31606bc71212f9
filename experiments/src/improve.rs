//! More accurate forms of a track, as Herbie finds them (Panchekha et al., PLDI 2015): bits are *not* kept.
//!
//! [`improve`] samples points uniformly over the doubles of the stated ranges, lets MPFR say what the track's value is there
//! over the reals, and searches forms that are equal over the reals ([`alternatives`]), and for a track of one input series at 0 and at infinity,
//! for one whose values lie nearer. The error at a point is Herbie's: log₂ of 1 and
//! the number of doubles between the value and the true one, from 0 to 64 bits. Where one form is better below a number and another
//! above it, a SELECT chooses between them. The figures that are reported are those at points that the search has
//! not seen. The same options give the same answer, unless a deadline strikes.
//!
//! A true value is what two precisions, the second twice the first, round to alike: not a proof, for a sum could cancel in more than
//! the 2,300 bits to begin with. A zero is believed only if 18,400 bits say so too.
//!
//! ```
//! use keyfit::Track;
//! use keyfit::improve::{Inputs, Options, improve};
//! let track = Track::parse("sqrt(?x=1 + 1) - sqrt(?x)")?;
//! let inputs = Inputs { ranges: [("x".to_owned(), [1.0, 1e300])].into(), ..Inputs::default() };
//! let better = improve(&track, &inputs, &Options { points: 32, held_out: 32, ..Options::default() })?;
//! assert!(better.before.mean > 20.0 && better.after.mean < 1.0);
//! assert_eq!(better.track.describe(), "DIV(1.0, ADD(SQRT(ADD(?x=1.0, 1.0)), SQRT(?x=1.0)))");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod points;
mod regimes;
mod search;
mod series;

use std::collections::BTreeMap;
use std::time::Duration;

use keyfit_ir::{BuildError, Sampler, Track};
use keyfit_rewrite::improve::alternatives;
use keyfit_rewrite::{SimplifyError, cost, simplify};
use thiserror::Error;

pub use points::{CLOCK, bits_of_error};
use points::{Point, Points};
use search::Search;
pub use series::is_series;

/// Which inputs count.
#[derive(Clone, Debug, Default)]
pub struct Inputs {
    /// The ends of parameters' ranges by name, and of the clock's by [`CLOCK`]; without one, all finite doubles.
    pub ranges: BTreeMap<String, [f64; 2]>,
    /// A track whose value is not 0 where the inputs count.
    pub condition: Option<Track>,
}

/// How to search.
#[derive(Clone, Debug)]
pub struct Options {
    /// How many points the search looks at.
    pub points: usize,
    /// How many other points the figures are from.
    pub held_out: usize,
    /// What the points are drawn from.
    pub seed: u64,
    /// How often the most promising forms are rewritten.
    pub rounds: usize,
    /// How many forms are rewritten in a round.
    pub width: usize,
    /// The most nodes of a form.
    pub nodes: usize,
    /// When to stop and give the best so far; never, if there is none.
    pub deadline: Option<Duration>,
}

impl Default for Options {
    fn default() -> Options {
        Options { points: 256, held_out: 1000, seed: 1, rounds: 5, width: 16, nodes: 80, deadline: None }
    }
}

/// How far a form is from the true values, in bits.
#[derive(Clone, Debug, PartialEq)]
pub struct Accuracy {
    /// On average.
    pub mean: f64,
    /// At most.
    pub worst: f64,
    /// Where that is: the clock, and the parameters by name.
    pub worst_at: BTreeMap<String, f64>,
}

/// What came of a search.
#[derive(Clone, Debug)]
pub struct Improved {
    /// The form found; the track itself if none is better.
    pub track: Track,
    /// The rules that led there, in order, each over the reals, or "series at 0" or "series at infinity", which only come near; several
    /// forms' behind one another.
    pub rules: Vec<&'static str>,
    /// The track's accuracy, at the points that were held out.
    pub before: Accuracy,
    /// The form's, at the same points.
    pub after: Accuracy,
    /// How many points were held out.
    pub held_out: usize,
    /// How many forms were looked at.
    pub forms: usize,
    /// Whether the deadline struck.
    pub stopped: bool,
}

impl Improved {
    /// Whether a better form was found.
    pub fn is_better(&self) -> bool {
        self.after.mean < self.before.mean
    }
}

/// Why there is no answer.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ImproveError {
    /// The range of this name has no finite number in it.
    #[error("the range of {name}, from {low:?} to {high:?}, holds no finite number")]
    Range {
        /// The parameter's name.
        name: String,
        /// The lower end.
        low: f64,
        /// The upper end.
        high: f64,
    },
    /// The track's value is a finite number almost nowhere.
    #[error(
        "of {tried} inputs only {found} are as asked and give a finite number that can be computed: state narrower ranges"
    )]
    Undefined {
        /// How many inputs were tried.
        tried: usize,
        /// How many could be used.
        found: usize,
    },
    /// A form cannot be built.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The form that was found cannot be simplified.
    #[error(transparent)]
    Simplify(#[from] SimplifyError),
}

/// Searches for a form of `track` that is more accurate on the inputs.
///
/// # Errors
/// [`ImproveError::Range`] and [`ImproveError::Undefined`] where there is nothing to be accurate about.
pub fn improve(track: &Track, inputs: &Inputs, options: &Options) -> Result<Improved, ImproveError> {
    let points = Points::draw(track, inputs, options)?;
    let mut search = Search::new(track, &points.names, &points.training, options);
    search.run()?;
    let (equal, rules) = search.best(&points)?;
    for (form, way) in series_of(track, &equal, inputs, &points)? {
        search.add(form, rules.iter().copied().chain([way]).collect());
    }
    let (best, rules) = search.best(&points)?;
    // the bits of what was found are kept from here on
    let best = simplify(&best, &keyfit_rewrite::Options::default())?.track;
    let before = points.accuracy(track);
    let after = points.accuracy(&best);
    let better = after.mean < before.mean;
    Ok(Improved {
        track: if better { best } else { track.clone() },
        rules: if better { rules } else { Vec::new() },
        after: if better { after } else { before.clone() },
        before,
        held_out: points.held_out.len(),
        forms: search.looked_at(),
        stopped: search.stopped,
    })
}

/// The forms of a track of one input that are series, and `equal` where that is better.
fn series_of(
    track: &Track,
    equal: &Track,
    inputs: &Inputs,
    points: &Points,
) -> Result<Vec<(Track, &'static str)>, ImproveError> {
    let name = track.free_parameters().first().map_or(CLOCK, |p| p.name());
    let Some(place) = points.names.iter().position(|own| own == name) else { return Ok(Vec::new()) };
    let ends = inputs.ranges.get(name).copied().unwrap_or([-f64::MAX, f64::MAX]);
    let worse = |form: &Track, values: &[f64]| {
        let at = |x: &f64| {
            let mut inputs = vec![0.0; points.names.len()];
            inputs[place] = *x;
            Some(Point { truth: points::truth(track, &points.names, &inputs)?, inputs })
        };
        let points_there: Vec<Point> = values.iter().filter_map(at).collect();
        let [form, equal] = [form, equal].map(|track| mean(&errors(track, &points.names, &points_there)));
        (!points_there.is_empty()).then_some(form - equal)
    };
    Ok(series::series(track, equal, ends, &worse)?)
}

/// The errors of a track at points, in bits.
fn errors(track: &Track, names: &[String], points: &[Point]) -> Vec<f64> {
    let places: Vec<Option<usize>> =
        track.free_parameters().iter().map(|p| names.iter().position(|name| name == p.name())).collect();
    let mut sampler = Sampler::new(track);
    let error = |point: &Point| {
        let value = |place: &Option<usize>| place.map_or(f64::NAN, |k| point.inputs[k]);
        let parameters: Vec<f64> = places.iter().map(value).collect();
        bits_of_error(sampler.sample_at(&point.inputs[0], &parameters), point.truth)
    };
    points.iter().map(error).collect()
}

fn mean(errors: &[f64]) -> f64 {
    errors.iter().sum::<f64>() / errors.len().max(1) as f64
}
