//! Reads a problem file, which [`FORM`](super::FORM) describes.

use std::collections::{BTreeMap, BTreeSet};

use keyfit_ir::text::nearest;
use keyfit_ir::{
    CinematicScene, Expr, Names, Rate, RateTargets, Scene, Span, SyntaxError, Track, constant, t,
};
use keyfit_solvers::{Channel, FitProblem, Target};
use serde::Deserialize;

use super::columns::{Columns, weighed};
use super::{Problem, SuiteError, Values};
use crate::rates::aim_rates;

/// At most so many equivalent answers are looked at.
const MOST_ANSWERS: usize = 64;

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

/// A file whose form is right, and its data.
pub(super) struct Reader<'a> {
    path: &'a str,
    file: File,
    data: Columns,
}

impl<'a> Reader<'a> {
    pub fn new(
        path: &'a str,
        text: &str,
        csv: impl FnOnce(&str) -> Result<String, String>,
    ) -> Result<Reader<'a>, SuiteError> {
        let fault = |message: String| SuiteError::Data { file: path.into(), message };
        let mut file: File =
            toml::from_str(text).map_err(|e| SuiteError::Form { file: path.into(), source: Box::new(e) })?;
        let mut columns = std::mem::take(&mut file.data);
        if let Some(name) = &file.csv {
            if !columns.is_empty() {
                return Err(fault(format!("there are columns in [data] and in {name}: which are meant?")));
            }
            let text = csv(name).map_err(fault)?;
            columns = Columns::of_csv(&text).map_err(|e| fault(format!("{name}: {e}")))?;
        }
        if file.model.is_none() && file.zeros.is_empty() {
            return Err(fault("there is neither a model nor a list of zeros".into()));
        }
        if file.starts.is_empty() {
            file.starts.push(Values::new());
        }
        Ok(Reader { path, file, data: Columns::new(columns).map_err(fault)? })
    }

    pub fn problem(self, suite: &str) -> Result<Problem, SuiteError> {
        let answers = self.answers()?;
        let number = |(name, formula): (&String, &String)| {
            Ok((name.clone(), self.number(formula, &self.file.certified.parameters)?))
        };
        let periods = self.file.period.iter().map(number).collect::<Result<Values, SuiteError>>()?;
        let starts: Vec<Vec<Channel>> =
            self.file.starts.iter().map(|start| self.channels(start)).collect::<Result<_, _>>()?;
        self.check_names(&starts)?;
        self.check_numbers()?;
        let File { name, certified, .. } = self.file;
        Ok(Problem {
            suite: suite.into(),
            name,
            starts,
            certified: certified.parameters,
            standard_errors: certified.standard_errors,
            sum_of_squares: certified.sum_of_squares,
            local_minima: certified.local_minima,
            answers,
            periods,
        })
    }

    fn fault(&self, message: impl Into<String>) -> SuiteError {
        SuiteError::Data { file: self.path.into(), message: message.into() }
    }

    fn syntax(&self, source: SyntaxError) -> SuiteError {
        SuiteError::Syntax { file: self.path.into(), source }
    }

    /// What is fitted, from one of the starts.
    fn channels(&self, start: &Values) -> Result<Vec<Channel>, SuiteError> {
        let mut channels = match &self.file.model {
            None => Vec::new(),
            Some(model) => match scene(model) {
                None => self.formula(model, start)?,
                Some(read) => {
                    self.scene(read.map_err(|errors| SuiteError::Scene { file: self.path.into(), errors })?)?
                }
            },
        };
        for (i, formula) in self.file.zeros.iter().enumerate() {
            let track = Track::parse_with(formula, &named(start)).map_err(|e| self.syntax(e))?;
            let name = format!("zero{}", i + 1);
            channels.push(Channel { name, track, targets: vec![Target::new(0.0, 0.0)] });
        }
        // a model may have starts of its own
        for channel in &mut channels {
            channel.track = channel.track.restart_parameters(|name| start.get(name).copied());
        }
        FitProblem::new(channels.clone(), None).map_err(|e| self.fault(e.to_string()))?;
        Ok(channels)
    }

    /// A scene's channels, each with its column beside its own targets.
    fn scene(&self, scene: SceneChannels) -> Result<Vec<Channel>, SuiteError> {
        if self.file.response.is_some() {
            return Err(self.fault("a response is what a formula is fitted to, and the model is a scene"));
        }
        let SceneChannels { mut channels, mut aims, meant } = scene;
        let is_there = |channels: &[Channel], name: &str| channels.iter().any(|own| own.name == name);
        for column in self.data.names() {
            let name = meant(column);
            let (own, weighs) = weighed(&name);
            let rate = Rate::of(own).filter(|(of, _)| is_there(&channels, of));
            if !is_there(&channels, own) && rate.is_none() {
                return Err(self.fault(format!("the column {column} is no channel of the scene")));
            }
            if weighs {
                self.data.check_weighs(column).map_err(|e| self.fault(e))?;
                continue;
            }
            let targets = self.data.targets(column, |y| y).map_err(|e| self.fault(e))?;
            if let Some(channel) = channels.iter_mut().find(|known| known.name == own) {
                channel.targets.extend(targets);
            } else if let Some((of, rate)) = rate {
                aims.push(RateTargets { channel: of.into(), rate, targets });
            }
        }
        aim_rates(&mut channels, aims).map_err(|e| self.fault(e.to_string()))?;
        Ok(channels)
    }

    /// A formula as the channel `y`, and its rates if they have columns; other columns are names in it.
    fn formula(&self, model: &str, start: &Values) -> Result<Vec<Channel>, SuiteError> {
        if self.file.zeros.is_empty() && !self.data.holds("y") {
            return Err(self.fault("the data have no column y, which the formula is to be fitted to"));
        }
        let others = self.data.names().map(|name| (name, 0.0));
        let probe = Track::parse_with(model, &named(start).starts(others)).map_err(|e| self.syntax(e))?;
        let used: BTreeSet<&str> = probe.free_parameters().iter().map(|own| own.name()).collect();
        let (mut names, mut aims) = (named(start), Vec::new());
        for column in self.data.names().filter(|name| *name != "y") {
            let (own, weighs) = weighed(column);
            let rate = Rate::of(own).filter(|(of, _)| *of == "y");
            if weighs && (own == "y" || rate.is_some()) {
                self.data.check_weighs(column).map_err(|e| self.fault(e))?;
            } else if let Some((_, rate)) = rate {
                if self.file.response.is_some() {
                    return Err(self.fault(format!("beside a response there is no place for {column}")));
                }
                let targets = self.data.targets(column, |y| y).map_err(|e| self.fault(e))?;
                aims.push(RateTargets { channel: "y".into(), rate, targets });
            } else if used.contains(column) {
                names = names.track(column, self.data.track(column).map_err(|e| self.fault(e))?);
            } else {
                let known = ["y.weight", "y.sd", "y.velocity", "y.acceleration"].into_iter();
                let near = nearest(column, known.chain(used.iter().copied()));
                let hint = near.map_or(String::new(), |near| format!("; did you mean {near}?"));
                return Err(self.fault(format!("the formula does not use the column {column}{hint}")));
            }
        }
        let track = Track::parse_with(model, &names).map_err(|e| self.syntax(e))?;
        let respond = response(self.file.response.as_deref().unwrap_or("y"));
        let respond = respond.map_err(|e| self.syntax(e))?;
        let respond = respond.ok_or_else(|| self.fault("a response is a formula of y alone"))?;
        let targets = self.data.targets("y", |y| respond.sample(y)).map_err(|e| self.fault(e))?;
        let mut channels = vec![Channel { name: "y".into(), track, targets }];
        aim_rates(&mut channels, aims).map_err(|e| self.fault(e.to_string()))?;
        Ok(channels)
    }

    /// A formula's value where its names have these.
    fn number(&self, formula: &str, at: &Values) -> Result<f64, SuiteError> {
        Track::parse_with(formula, &named(at)).map(|track| track.sample(0.0)).map_err(|e| self.syntax(e))
    }

    /// The certified answer, and those that mean the same.
    fn answers(&self) -> Result<Vec<Values>, SuiteError> {
        let mut answers = vec![self.file.certified.parameters.clone()];
        let mut next = 0;
        while next < answers.len() && answers.len() < MOST_ANSWERS {
            for substitution in &self.file.equivalent {
                let mut answer = answers[next].clone();
                for (name, formula) in substitution {
                    answer.insert(name.clone(), self.number(formula, &answers[next])?);
                }
                if !answers.contains(&answer) {
                    answers.push(answer);
                }
            }
            next += 1;
        }
        Ok(answers)
    }

    /// Holds every name that the file tells something of to the parameters.
    fn check_names(&self, starts: &[Vec<Channel>]) -> Result<(), SuiteError> {
        let names = |channel: &Channel| -> Vec<String> {
            channel.track.free_parameters().into_iter().map(|own| own.name().to_owned()).collect()
        };
        let parameters: BTreeSet<String> = starts.iter().flatten().flat_map(names).collect();
        let File { starts, certified, period, equivalent, .. } = &self.file;
        fn of<'a, T>(place: &'static str, tables: &'a [BTreeMap<String, T>]) -> Vec<(&'static str, &'a str)> {
            tables.iter().flat_map(|table| table.keys().map(move |name| (place, name.as_str()))).collect()
        }
        let told = of("starts", starts).into_iter();
        let told = told.chain(of("certified", std::slice::from_ref(&certified.parameters)));
        let told = told.chain(of("standard_errors", std::slice::from_ref(&certified.standard_errors)));
        let told = told.chain(of("period", std::slice::from_ref(period)));
        let mut told = told.chain(of("equivalent", equivalent));
        let Some((place, name)) = told.find(|(_, name)| !parameters.contains(*name)) else { return Ok(()) };
        let known = || parameters.iter().map(String::as_str);
        let hint = nearest(name, known()).map_or_else(
            || format!("there are {}", known().collect::<Vec<_>>().join(", ")),
            |near| format!("did you mean {near}?"),
        );
        Err(self.fault(format!("{place}: the model has no parameter {name}; {hint}")))
    }

    fn check_numbers(&self) -> Result<(), SuiteError> {
        let File { starts, certified, .. } = &self.file;
        let sums = certified.sum_of_squares.iter().chain(&certified.local_minima);
        if let Some(sum) = sums.copied().find(|sum| !(sum.is_finite() && *sum >= 0.0)) {
            return Err(self.fault(format!("a sum of squares cannot be {sum:?}")));
        }
        let told = starts.iter().flatten().chain(&certified.parameters).chain(&certified.standard_errors);
        match told.into_iter().find(|(_, x)| !x.is_finite()) {
            Some((name, x)) => Err(self.fault(format!("{name} cannot be {x:?}"))),
            None => Ok(()),
        }
    }
}

/// What a scene says of its channels.
struct SceneChannels {
    channels: Vec<Channel>,
    aims: Vec<RateTargets>,
    /// The name of the channel that is meant by a column's.
    meant: Box<dyn Fn(&str) -> String>,
}

/// A model as a scene; `None` if it is a formula.
fn scene(model: &str) -> Option<Result<SceneChannels, Vec<SyntaxError>>> {
    if Scene::is_rectsl(model) {
        return Some(Scene::parse_rectsl(model).map(|scene| SceneChannels {
            channels: scene.channels(),
            aims: scene.rate_targets(),
            meant: Box::new(move |column| scene.channel_name(column).into()),
        }));
    }
    CinematicScene::is_yaml(model).then(|| {
        CinematicScene::parse_yaml(model).map(|scene| SceneChannels {
            channels: scene.channels(),
            aims: scene.rate_targets(),
            meant: Box::new(move |column| scene.channel_name(column)),
        })
    })
}

/// Values as the starts of free parameters.
fn named(values: &Values) -> Names {
    Names::new().starts(values.iter().map(|(name, x)| (name, *x)))
}

/// What is fitted in the place of y: a formula of `y`, as a track over y; `None` if it is one of anything else.
fn response(formula: &str) -> Result<Option<Track>, SyntaxError> {
    let names = |y: Expr| -> Result<Names, SyntaxError> {
        let y = y.track().map_err(|e| SyntaxError { kind: e.into(), span: Span { start: 0, end: 0 } })?;
        Ok(Names::new().track("y", y))
    };
    let still = Track::parse_with(formula, &names(constant(1.0))?)?;
    let own = Track::parse_with(formula, &names(t())?)?;
    Ok((still.is_time_invariant() && own.free_parameters().is_empty()).then_some(own))
}
