//! FPCore, the exchange format of FPBench (<https://fpbench.org/spec/fpcore-2.0.html>), read and written.
//!
//! An argument becomes a free parameter, or the clock where `:keyfit-clock` names it. `:pre` gives the arguments' ranges,
//! from chains of comparisons with numbers ([`Core::ranges`]), and is kept whole as a condition. A parameter starts at the
//! number of its range that is nearest to 1, or where `:keyfit-starts` says.
//!
//! What a word means is a table ([`WORDS`]), with what has nothing of the same bits here, and why; that is refused by
//! name. Truth values are 0 and 1, an `if` is a SELECT. Where the two languages differ at all:
//!
//! | in FPCore | here |
//! | --- | --- |
//! | a comparison with NaN is false | it is NaN, and so is the `if` that asks it |
//! | `fmin` and `fmax` of a number and NaN are the number | they are NaN |
//! | `fmin` and `fmax` of two zeros are either | −0 < +0 |
//!
//! Writing differs in the same `fmin` and `fmax` only: a STEP, SELECT or SIGN is written as an `if` that gives NaN by name.
//! Composite operations are opened up; a keyed track, and what MOD is in, is refused.
//!
//! ```
//! use keyfit_rewrite::fpcore::{Core, read};
//! let cores = read("(FPCore (x) :pre (<= 1 x 1000) (- (sqrt (+ x 1)) (sqrt x)))").map_err(|errors| errors[0].clone())?;
//! assert_eq!(cores[0].track.describe(), "SUB(SQRT(ADD(?x=1.0, 1.0)), SQRT(?x=1.0))");
//! assert_eq!(cores[0].ranges["x"], [1.0, 1000.0]);
//! assert_eq!(read(&cores[0].write()?).map_err(|errors| errors[0].clone())?, cores);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod number;
mod range;
mod read;
mod sexp;
mod words;
mod write;

use std::collections::BTreeMap;

use keyfit_ir::{Node, Track};

pub use read::read;
pub use words::{COMPARISONS, CONNECTIVES, CONSTANTS, FORMS, Meaning, WORDS, Word};
pub use write::FpcoreRefusal;

/// The ends of ranges by name, both within.
pub type Ranges = BTreeMap<String, [f64; 2]>;

/// What a core asks of its arguments.
#[derive(Clone, Debug, PartialEq)]
pub struct Precondition {
    /// Its value is not 0 where the arguments are as asked.
    pub track: Track,
    /// As it was written.
    pub text: String,
}

/// One FPCore: a track with what is said of its arguments.
#[derive(Clone, Debug, PartialEq)]
pub struct Core {
    /// Its `:name`, as it stands between the quotes.
    pub name: Option<String>,
    /// The arguments in their order; those that the track does not use too.
    pub arguments: Vec<String>,
    /// Which argument is the clock.
    pub clock: Option<String>,
    /// What the arguments' values make.
    pub track: Track,
    /// The arguments' ranges, as far as `:pre` says them.
    pub ranges: Ranges,
    /// The whole of `:pre`.
    pub pre: Option<Precondition>,
}

impl Core {
    /// A track as a core. Its clock is an argument `t`, or one named nearly so where a parameter is named `t`.
    pub fn new(name: Option<&str>, track: &Track) -> Core {
        let parameters: Vec<String> = track.free_parameters().iter().map(|p| p.name().to_owned()).collect();
        let clock = track.nodes().iter().any(|node| matches!(node, Node::Clock)).then(|| {
            let mut name = "t".to_owned();
            while parameters.contains(&name) {
                name.push('_');
            }
            name
        });
        Core {
            name: name.map(|name| name.replace('\\', "\\\\").replace('"', "\\\"")),
            arguments: clock.iter().cloned().chain(parameters).collect(),
            clock,
            track: track.clone(),
            ranges: Ranges::new(),
            pre: None,
        }
    }

    /// The same core with another track of these arguments, such as a simplified one.
    pub fn with_track(&self, track: &Track) -> Core {
        Core { track: track.clone(), ..self.clone() }
    }
}
