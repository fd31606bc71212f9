//! Suites: problems with known answers. One TOML file is one problem, one folder of `suites/` is one suite; what lies
//! there is embedded in the binary.
//!
#![doc = include_str!("../docs/problems.md")]

use std::collections::{BTreeMap, BTreeSet};

use include_dir::{Dir, include_dir};
use keyfit_ir::text::nearest;
use keyfit_ir::{
    BuildError, CinematicScene, Expr, Names, Rate, RateTargets, Scene, SyntaxError, Track, constant, linear,
    t,
};
use keyfit_solvers::{Channel, FitProblem, Target};
use serde::Deserialize;
use thiserror::Error;

use crate::accuracy::{lre, lre_of_error, relative_error, relative_error_periodic};
use crate::rates::aim_rates;

/// How problem files are written, in Markdown.
pub const FORM: &str = include_str!("../docs/problems.md");

static SUITES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/suites");

/// The ending of a column that holds a channel's weights: `y.weight`.
pub const WEIGHT: &str = ".weight";
/// The ending of a column that holds the standard deviations of a channel's targets, which weigh 1/σ².
pub const DEVIATION: &str = ".sd";

/// At most so many equivalent answers are looked at.
const MOST_ANSWERS: usize = 64;

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

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    name: String,
    model: Option<String>,
    #[serde(default)]
    zeros: Vec<String>,
    response: Option<String>,
    #[serde(default)]
    starts: Vec<Values>,
    #[serde(default)]
    equivalent: Vec<BTreeMap<String, String>>,
    #[serde(default)]
    period: BTreeMap<String, String>,
    #[serde(default)]
    certified: Certified,
    #[serde(default)]
    data: BTreeMap<String, Vec<f64>>,
    csv: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Certified {
    #[serde(default)]
    parameters: Values,
    #[serde(default)]
    standard_errors: Values,
    sum_of_squares: Option<f64>,
    #[serde(default)]
    local_minima: Vec<f64>,
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
        let syntax = |source| SuiteError::Syntax { file: file.into(), source };
        let data = |message: String| SuiteError::Data { file: file.into(), message };
        let mut problem: File =
            toml::from_str(text).map_err(|e| SuiteError::Form { file: file.into(), source: Box::new(e) })?;
        if let Some(name) = &problem.csv {
            if !problem.data.is_empty() {
                return Err(data(format!("there are columns in [data] and in {name}: which are meant?")));
            }
            let text = csv(name).map_err(data)?;
            problem.data = columns(&text).map_err(|e| data(format!("{name}: {e}")))?;
        }
        let rows = problem.data.values().map(Vec::len).max().unwrap_or(0);
        if problem.data.values().any(|column| column.len() != rows) {
            return Err(data("the columns differ in length".into()));
        }
        let times = problem.data.get("t").cloned().unwrap_or_else(|| (0..rows).map(|k| k as f64).collect());
        let weights = |name: &str| -> Result<Vec<f64>, SuiteError> {
            let of = |ending: &str| problem.data.get(&format!("{name}{ending}"));
            match (of(WEIGHT), of(DEVIATION)) {
                (None, None) => Ok(vec![1.0; rows]),
                (Some(weights), None) => Ok(weights.clone()),
                (None, Some(sds)) if sds.iter().all(|sd| *sd > 0.0) => {
                    Ok(sds.iter().map(|sd| 1.0 / (sd * sd)).collect())
                }
                (None, Some(_)) => Err(data(format!("the column {name}{DEVIATION} must be above 0"))),
                (Some(_), Some(_)) => Err(data(format!(
                    "there are columns {name}{WEIGHT} and {name}{DEVIATION}: one is enough"
                ))),
            }
        };
        let targets = |name: &str, respond: &dyn Fn(f64) -> f64| -> Result<Vec<Target>, SuiteError> {
            let values = problem.data.get(name).into_iter().flatten();
            let rows = times.iter().zip(values).zip(weights(name)?);
            Ok(rows.map(|((&time, &y), weight)| Target { time, value: respond(y), weight }).collect())
        };
        let starts = if problem.starts.is_empty() { vec![Values::new()] } else { problem.starts };
        if problem.model.is_none() && problem.zeros.is_empty() {
            return Err(data("there is neither a model nor a list of zeros".into()));
        }
        let zero = |(i, formula): (usize, &String), start: &Values| -> Result<Channel, SuiteError> {
            let track = Track::parse_with(formula, &named(start)).map_err(syntax)?;
            Ok(Channel { name: format!("zero{}", i + 1), track, targets: vec![Target::new(0.0, 0.0)] })
        };
        let weighs_a_column = |column: &str| match problem.data.contains_key(weighed(column).0) {
            true => Ok(()),
            false => Err(data(format!("there is no column {} that {column} could weigh", weighed(column).0))),
        };
        let modelled = |start: &Values| -> Result<Vec<Channel>, SuiteError> {
            let Some(model) = &problem.model else { return Ok(Vec::new()) };
            let scene = scene(model, &problem.data)
                .map_err(|errors| SuiteError::Scene { file: file.into(), errors })?;
            if let Some(SceneChannels { mut channels, mut aims, columns }) = scene {
                if problem.response.is_some() {
                    return Err(data(
                        "a response is what a formula is fitted to, and the model is a scene".into(),
                    ));
                }
                let is_there = |channels: &[Channel], name: &str| channels.iter().any(|own| own.name == name);
                for (column, name) in columns.into_iter().filter(|(column, _)| *column != "t") {
                    let (own, weighs) = weighed(&name);
                    let rate = Rate::of(own).filter(|(of, _)| is_there(&channels, of));
                    if !is_there(&channels, own) && rate.is_none() {
                        return Err(data(format!("the column {column} is no channel of the scene")));
                    }
                    if weighs {
                        weighs_a_column(column)?;
                        continue;
                    }
                    let found = targets(column, &|y| y)?;
                    if let Some(channel) = channels.iter_mut().find(|known| known.name == own) {
                        channel.targets.extend(found);
                    } else if let Some((of, rate)) = rate {
                        aims.push(RateTargets { channel: of.into(), rate, targets: found });
                    }
                }
                aim_rates(&mut channels, aims).map_err(|e| data(e.to_string()))?;
                return Ok(channels);
            }
            if problem.zeros.is_empty() && problem.data.get("y").is_none_or(Vec::is_empty) {
                return Err(data("the data have no column y, which the formula is to be fitted to".into()));
            }
            let others = problem.data.keys().map(|name| (name, 0.0));
            let probe = Track::parse_with(model, &named(start).starts(others)).map_err(syntax)?;
            let used: BTreeSet<&str> = probe.free_parameters().iter().map(|own| own.name()).collect();
            let mut names = named(start);
            let mut aims = Vec::new();
            for (name, column) in problem.data.iter().filter(|(name, _)| !["t", "y"].contains(&name.as_str()))
            {
                let (own, weighs) = weighed(name);
                let rate = Rate::of(own).filter(|(of, _)| *of == "y");
                if weighs && (own == "y" || rate.is_some()) {
                    weighs_a_column(name)?;
                    continue;
                }
                if let Some((_, rate)) = rate {
                    if problem.response.is_some() {
                        return Err(data(format!("beside a response there is no place for {name}")));
                    }
                    aims.push(RateTargets { channel: "y".into(), rate, targets: targets(name, &|y| y)? });
                    continue;
                }
                if !used.contains(name.as_str()) {
                    let known = ["y.weight", "y.sd", "y.velocity", "y.acceleration"]
                        .into_iter()
                        .chain(used.iter().copied());
                    let hint =
                        nearest(name, known).map_or(String::new(), |near| format!("; did you mean {near}?"));
                    return Err(data(format!("the formula does not use the column {name}{hint}")));
                }
                let track =
                    column_track(&times, column).map_err(|e| data(format!("the column {name}: {e}")))?;
                names = names.track(name, track);
            }
            let track = Track::parse_with(model, &names).map_err(syntax)?;
            let respond = response(problem.response.as_deref().unwrap_or("y")).map_err(syntax)?;
            let respond = respond.ok_or_else(|| data("a response is a formula of y alone".into()))?;
            let y = Channel { name: "y".into(), track, targets: targets("y", &|y| respond.sample(y))? };
            let mut channels = vec![y];
            aim_rates(&mut channels, aims).map_err(|e| data(e.to_string()))?;
            Ok(channels)
        };
        let channels = |start: &Values| -> Result<Vec<Channel>, SuiteError> {
            let mut channels = modelled(start)?;
            for formula in problem.zeros.iter().enumerate() {
                channels.push(zero(formula, start)?);
            }
            // a model may have starts of its own
            for channel in &mut channels {
                channel.track = channel.track.restart_parameters(|name| start.get(name).copied());
            }
            FitProblem::new(channels.clone(), None).map_err(|e| data(e.to_string()))?;
            Ok(channels)
        };
        let formula = |formula: &String, at: &Values| -> Result<f64, SuiteError> {
            Track::parse_with(formula, &named(at)).map(|track| track.sample(0.0)).map_err(syntax)
        };
        let certified = problem.certified.parameters;
        let mut answers = vec![certified.clone()];
        let mut next = 0;
        while next < answers.len() && answers.len() < MOST_ANSWERS {
            for substitution in &problem.equivalent {
                let mut answer = answers[next].clone();
                for (name, value) in substitution {
                    answer.insert(name.clone(), formula(value, &answers[next])?);
                }
                if !answers.contains(&answer) {
                    answers.push(answer);
                }
            }
            next += 1;
        }
        let periods =
            problem.period.iter().map(|(name, period)| Ok((name.clone(), formula(period, &certified)?)));
        let periods = periods.collect::<Result<Values, SuiteError>>()?;
        let sums = problem.certified.sum_of_squares.iter().chain(&problem.certified.local_minima);
        if let Some(sum) = sums.copied().find(|sum| !(sum.is_finite() && *sum >= 0.0)) {
            return Err(data(format!("a sum of squares cannot be {sum:?}")));
        }
        let begun: Vec<Vec<Channel>> = starts.iter().map(channels).collect::<Result<_, _>>()?;
        let parameters: BTreeSet<String> = begun.iter().flatten().flat_map(names_of).collect();
        let told = starts.iter().flat_map(|start| start.keys().map(|name| ("starts", name)));
        let told = told.chain(certified.keys().map(|name| ("certified", name)));
        let told = told.chain(problem.certified.standard_errors.keys().map(|name| ("standard_errors", name)));
        let told = told.chain(problem.period.keys().map(|name| ("period", name)));
        let same = problem.equivalent.iter().flat_map(BTreeMap::keys).map(|name| ("equivalent", name));
        for (place, name) in told.chain(same) {
            if !parameters.contains(name) {
                let known = parameters.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
                let hint = nearest(name, parameters.iter().map(String::as_str))
                    .map_or_else(|| format!("there are {known}"), |near| format!("did you mean {near}?"));
                return Err(data(format!("{place}: the model has no parameter {name}; {hint}")));
            }
        }
        let values = starts.iter().flatten().chain(&certified).chain(&problem.certified.standard_errors);
        if let Some((name, x)) = values.into_iter().find(|(_, x)| !x.is_finite()) {
            return Err(data(format!("{name} cannot be {x:?}")));
        }
        Ok(Problem {
            suite: suite.into(),
            starts: begun,
            name: problem.name,
            certified,
            standard_errors: problem.certified.standard_errors,
            sum_of_squares: problem.certified.sum_of_squares,
            local_minima: problem.certified.local_minima,
            answers,
            periods,
        })
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

/// Why a column of data makes no track.
#[derive(Debug, Error)]
pub enum ColumnError {
    /// Two rows of one time differ in it.
    #[error("at time {time:?} it is {first:?} and {second:?}")]
    Twice {
        /// The time.
        time: f64,
        /// What it is in the row that comes first.
        first: f64,
        /// What it is in the next row.
        second: f64,
    },
    /// The times are not those of keys.
    #[error(transparent)]
    Build(#[from] BuildError),
}

/// A column of data as a track over the rows' times, linear between them; rows that are the same count once.
///
/// # Errors
/// See [`ColumnError`].
pub fn column_track(times: &[f64], column: &[f64]) -> Result<Track, ColumnError> {
    let mut rows: Vec<(f64, f64)> = times.iter().copied().zip(column.iter().copied()).collect();
    rows.dedup();
    let twice = rows.iter().zip(rows.iter().skip(1)).find(|(a, b)| a.0 == b.0);
    if let Some((&(time, first), &(_, second))) = twice {
        return Err(ColumnError::Twice { time, first, second });
    }
    Ok(linear(rows).track()?)
}

/// A scene's channels, and each column with the channel that it is of; `None` if the model is a formula.
fn scene<'a, T>(
    model: &str,
    data: &'a BTreeMap<String, T>,
) -> Result<Option<SceneChannels<'a>>, Vec<SyntaxError>> {
    let of =
        |name: &dyn Fn(&str) -> String| data.keys().map(|column| (column.as_str(), name(column))).collect();
    if Scene::is_rectsl(model) {
        let scene = Scene::parse_rectsl(model)?;
        let columns = of(&|column| scene.channel_name(column).into());
        return Ok(Some(SceneChannels { channels: scene.channels(), aims: scene.rate_targets(), columns }));
    }
    if CinematicScene::is_yaml(model) {
        let scene = CinematicScene::parse_yaml(model)?;
        let columns = of(&|column| scene.channel_name(column));
        return Ok(Some(SceneChannels { channels: scene.channels(), aims: scene.rate_targets(), columns }));
    }
    Ok(None)
}

/// What a scene says of its channels, and which of them each column of the data means.
struct SceneChannels<'a> {
    channels: Vec<Channel>,
    aims: Vec<RateTargets>,
    columns: Vec<(&'a str, String)>,
}

/// The columns of a CSV file with a header.
fn columns(text: &str) -> Result<BTreeMap<String, Vec<f64>>, String> {
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(text.as_bytes());
    let header = reader.headers().map_err(|e| e.to_string())?.clone();
    let mut columns: Vec<Vec<f64>> = vec![Vec::new(); header.len()];
    for record in reader.records() {
        let record = record.map_err(|e| e.to_string())?;
        let line = record.position().map_or(0, csv::Position::line);
        for ((name, column), cell) in header.iter().zip(&mut columns).zip(&record) {
            let number = cell.parse::<f64>().ok().filter(|x| x.is_finite());
            column.push(
                number
                    .ok_or_else(|| format!("line {line}: {name} is {cell:?}, which is no finite number"))?,
            );
        }
    }
    let named: BTreeMap<String, Vec<f64>> = header.iter().map(str::to_owned).zip(columns).collect();
    match named.len() == header.len() {
        true => Ok(named),
        false => Err("two columns have one name".into()),
    }
}

/// The channel that a column belongs to, and whether it holds the weights or standard deviations of that channel's targets.
pub fn weighed(name: &str) -> (&str, bool) {
    match name.strip_suffix(WEIGHT).or_else(|| name.strip_suffix(DEVIATION)) {
        Some(channel) => (channel, true),
        None => (name, false),
    }
}

fn names_of(channel: &Channel) -> Vec<String> {
    channel.track.free_parameters().into_iter().map(|parameter| parameter.name().to_owned()).collect()
}

/// Values as the starts of free parameters.
fn named(values: &Values) -> Names {
    Names::new().starts(values.iter().map(|(name, x)| (name, *x)))
}

/// What is fitted in the place of y: a formula of `y`, as a track over y; `None` if it is one of anything else.
fn response(formula: &str) -> Result<Option<Track>, SyntaxError> {
    let names = |y: Expr| -> Result<Names, SyntaxError> {
        let y = y.track();
        let y = y.map_err(|e| SyntaxError { kind: e.into(), span: keyfit_ir::Span { start: 0, end: 0 } })?;
        Ok(Names::new().track("y", y))
    };
    let still = Track::parse_with(formula, &names(constant(1.0))?)?;
    let own = Track::parse_with(formula, &names(t())?)?;
    Ok((still.is_time_invariant() && own.free_parameters().is_empty()).then_some(own))
}
