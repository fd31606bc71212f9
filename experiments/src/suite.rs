//! Suites: problems with known answers. One TOML file is one problem, one folder of `suites/` is one suite; what lies
//! there is embedded in the binary.
//!
#![doc = include_str!("../docs/problems.md")]

mod columns;
mod file;

use std::collections::BTreeMap;

use include_dir::{Dir, include_dir};
use keyfit_ir::SyntaxError;
use keyfit_solvers::Channel;
use thiserror::Error;

pub use self::columns::{ColumnError, DEVIATION, WEIGHT, column_track, weighed};
use self::file::Reader;
use crate::accuracy::{lre, lre_of_error, relative_error, relative_error_periodic};

/// How problem files are written, in Markdown.
pub const FORM: &str = include_str!("../docs/problems.md");

static SUITES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/suites");

/// Numbers by name.
pub type Values = BTreeMap<String, f64>;

/// One problem with its known answer.
#[derive(Clone, Debug)]
pub struct Problem {
    /// The suite's name.
    pub suite: String,
    /// Its name.
    pub name: String,
    /// For each start, the channels with their parameters at that start.
    pub starts: Vec<Vec<Channel>>,
    /// The certified parameters.
    pub certified: Values,
    /// The certified standard errors; empty if there are none.
    pub standard_errors: Values,
    /// The certified sum of squared residuals, if there is one.
    pub sum_of_squares: Option<f64>,
    /// The sums of squared residuals at known minima that are not the least.
    pub local_minima: Vec<f64>,
    answers: Vec<Values>,
    periods: Values,
}

/// Why a problem file is not a problem.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SuiteError {
    /// There is no suite of this name.
    #[error("there is no suite {name}")]
    NoSuite {
        /// The name.
        name: String,
    },
    /// The file is not TOML of the documented form.
    #[error("{file}: {source}")]
    Form {
        /// The file.
        file: String,
        /// What is wrong.
        source: Box<toml::de::Error>,
    },
    /// A formula in the file does not parse.
    #[error("{file}: {source}")]
    Syntax {
        /// The file.
        file: String,
        /// What is wrong.
        source: SyntaxError,
    },
    /// A scene in the file does not parse.
    #[error("{file}: {}", .errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    Scene {
        /// The file.
        file: String,
        /// What is wrong.
        errors: Vec<SyntaxError>,
    },
    /// The columns do not make targets.
    #[error("{file}: {message}")]
    Data {
        /// The file.
        file: String,
        /// What is wrong.
        message: String,
    },
}

/// The suites that are embedded.
pub fn suite_names() -> Vec<String> {
    let mut names: Vec<String> = SUITES.dirs().map(|dir| dir.path().display().to_string()).collect();
    names.sort();
    names
}

/// The problems of an embedded suite, by name.
///
/// # Errors
/// [`SuiteError::NoSuite`]; the others are faults of the embedded files.
pub fn suite(name: &str) -> Result<Vec<Problem>, SuiteError> {
    let dir = SUITES.get_dir(name).ok_or_else(|| SuiteError::NoSuite { name: name.into() })?;
    let texts =
        dir.files().filter_map(|file| Some((file.path().display().to_string(), file.contents_utf8()?)));
    let mut problems =
        texts.map(|(path, text)| Problem::parse(name, &path, text)).collect::<Result<Vec<_>, _>>()?;
    problems.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(problems)
}

impl Problem {
    /// Reads a problem file that holds its data; `file` is how errors call it.
    ///
    /// # Errors
    /// See [`SuiteError`].
    pub fn parse(suite: &str, file: &str, text: &str) -> Result<Problem, SuiteError> {
        Problem::parse_with(suite, file, text, |name| Err(format!("{name} cannot be read from here")))
    }

    /// Reads a problem file; `csv` gives the text of the CSV file that it names, or says why not.
    ///
    /// # Errors
    /// See [`SuiteError`].
    pub fn parse_with(
        suite: &str,
        file: &str,
        text: &str,
        csv: impl FnOnce(&str) -> Result<String, String>,
    ) -> Result<Problem, SuiteError> {
        Reader::new(file, text, csv)?.problem(suite)
    }

    /// The digits right in the worst parameter, against the equivalent answer that is met best; 0 if a certified
    /// parameter is missing. Without certified parameters, the digits right in the length of the residual vector, `sum`
    /// being its square.
    pub fn lre(&self, found: &Values, sum: f64) -> f64 {
        self.digits(self.distance(found), sum)
    }

    /// [`Problem::lre`] of a place whose [`distance`](Problem::distance) is known.
    pub fn digits(&self, distance: f64, sum: f64) -> f64 {
        if self.certified.is_empty() {
            return self.sum_of_squares.map_or(0.0, |certified| lre(sum.sqrt(), certified.sqrt()));
        }
        lre_of_error(distance)
    }
}

impl Problem {
    /// The greatest relative error of a parameter, as [`Problem::lre`] has it but without a cap; NaN without certified ones.
    pub fn distance(&self, found: &Values) -> f64 {
        let error = |answer: &Values| {
            let errors =
                answer.iter().map(|(name, &certified)| match (found.get(name), self.periods.get(name)) {
                    (Some(&x), None) => relative_error(x, certified),
                    (Some(&x), Some(&period)) => relative_error_periodic(x, certified, period),
                    (None, _) => f64::INFINITY,
                });
            // a parameter that is NaN is as far away as can be
            errors.map(|error| if error.is_nan() { f64::INFINITY } else { error }).fold(0.0, f64::max)
        };
        if self.certified.is_empty() {
            f64::NAN
        } else {
            self.answers.iter().map(error).fold(f64::INFINITY, f64::min)
        }
    }

    /// Whether this sum of squares is that of a known minimum that is not the least, to four digits.
    pub fn is_local_minimum(&self, sum: f64) -> bool {
        self.local_minima.iter().any(|&known| lre(sum, known) >= 4.0)
    }
}
