//! `keyfit fit`

mod knowledge;
mod report;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use keyfit::certify::{self, NotCertified, certify};
use keyfit::normalise::{Turn, normalise};
use keyfit::solvers::{Loss, Options, lookup};
use keyfit::{FitOptions, SOLVERS, SolverEntry, Target, fit_channels, fit_gradient};

use self::knowledge::Knowledge;
pub use self::report::evidence_json;
use self::report::{Answer, refused_json, tied_values};
use super::{are_same, print, print_json, write_whole};
use crate::data::{Missing, Table};
use crate::failure::{Failure, NEGATIVE, Source, say};
use crate::model::{Document, FORMULA_CHANNEL, Model, ModelArgs, number, pairs, ranges};

/// What came of a wish for a certificate.
type Certificate = Result<certify::Certificate, NotCertified>;

#[derive(Args)]
pub struct Fit {
    #[command(flatten)]
    model: ModelArgs,
    #[command(flatten)]
    aim: Aim,
    /// Move every number of a model that declares no free parameters
    #[arg(long)]
    all_numbers: bool,
    /// Prove that the minimum is one, the only one in a stated box, and give the parameters to 30 digits and more
    #[arg(long)]
    certify: bool,
    /// Make amplitudes positive and turn phases into [0, 2π) or, centred, (−π, π], where that changes no track
    #[arg(long, value_enum, value_name = "RANGE", num_args = 0..=1, require_equals = true, default_missing_value = "positive")]
    normalise: Option<Phases>,
    /// The probability that confidence intervals are made for
    #[arg(long, default_value_t = 0.95, allow_negative_numbers = true)]
    confidence: f64,
    /// Write the scene or formula, in its own language, with what was found in the place of the starts, if the fit converged; the targets
    /// in it stay
    #[arg(long, value_name = "FILE", conflicts_with = "all_numbers")]
    out: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Where phases come to lie.
#[derive(Clone, Copy, ValueEnum)]
enum Phases {
    /// [0, 2π)
    Positive,
    /// (−π, π]
    Centred,
}

impl From<Phases> for Turn {
    fn from(phases: Phases) -> Turn {
        match phases {
            Phases::Positive => Turn::Positive,
            Phases::Centred => Turn::Centred,
        }
    }
}

/// What a model is fitted to, and how.
#[derive(Args)]
pub struct Aim {
    /// Targets from a CSV file, beside those of the scene: column t and a column a channel (y for a formula; y.weight weighs it, or y.sd, its
    /// standard deviations; y.velocity and y.acceleration are targets for its derivatives); a formula may use any other column by its name
    #[arg(long, value_name = "FILE.csv")]
    data: Option<String>,
    /// What is done about empty cells, NA, NaN and null
    #[arg(long, value_enum, default_value_t)]
    missing: Missing,
    /// Targets: CHANNEL:time=value,…; a formula needs no CHANNEL:; CHANNEL.velocity and CHANNEL.acceleration are the derivatives (y.velocity
    /// for a formula)
    #[arg(long, value_name = "[CHANNEL:]TIME=VALUE,…", allow_hyphen_values = true)]
    target: Vec<String>,
    /// The solver; `keyfit solvers` lists them
    #[arg(long, default_value = SOLVERS[0].name)]
    solver: String,
    #[command(flatten)]
    limits: Limits,
    /// How residuals count: squares, huber:SCALE, soft-l1:SCALE, cauchy:SCALE or tukey:SCALE, the scale in units of the residuals
    #[arg(long, default_value = "squares")]
    loss: String,
    /// Free parameters that keep their starts, separated by commas
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    fix: Vec<String>,
    /// The least and the greatest value of a parameter, either of which may be left out: a=0..1, b=0.. or c=..5
    #[arg(long, value_name = "NAME=LOW..HIGH,…", value_delimiter = ',', allow_hyphen_values = true)]
    bound: Vec<String>,
    #[command(flatten)]
    knowledge: Knowledge,
    /// Targets outside these times are an error
    #[arg(long, value_name = "FROM,TO", allow_hyphen_values = true)]
    window: Option<String>,
}

/// What bounds a solver's run.
#[derive(Args)]
pub struct Limits {
    /// The most iterations; each solver has its own limit unless said otherwise
    #[arg(long, allow_negative_numbers = true)]
    iterations: Option<u64>,
    /// The most evaluations of all residuals
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..), allow_negative_numbers = true)]
    evaluations: Option<u64>,
    /// How many starts to try: the given one, and others spread around it or, where a parameter has two bounds, between these
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    starts: u32,
    /// Chooses the other starts
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// The learning rate of gradient descent
    #[arg(long, default_value_t = Options::default().learning_rate, allow_negative_numbers = true)]
    learning_rate: f64,
}

impl Limits {
    /// As the solvers take them.
    pub fn options(&self) -> Result<Options, Failure> {
        let rate = self.learning_rate;
        if !(rate.is_finite() && rate > 0.0) {
            return Err(Failure::input(format!(
                "--learning-rate must be a finite number above 0, not {rate:?}"
            )));
        }
        let defaults = Options::default();
        Ok(Options {
            iterations: self.iterations,
            evaluation_budget: self.evaluations.unwrap_or(defaults.evaluation_budget),
            learning_rate: rate,
            starts: self.starts,
            seed: self.seed,
            ..defaults
        })
    }
}

/// The solver of that name.
pub fn solver(name: &str) -> Result<&'static SolverEntry, Failure> {
    lookup(name).ok_or_else(|| {
        let failure = Failure::input(format!("there is no solver {name}"));
        failure.known(name, "solvers", SOLVERS.iter().map(|solver| solver.name))
    })
}

impl Fit {
    pub fn run(self) -> Result<ExitCode, Failure> {
        let failure = match self.fit() {
            Ok(answer) => return self.report(&answer),
            Err(failure) => failure,
        };
        if let (true, Some((why, closable, missing))) = (self.json, failure.refusal()) {
            print_json(&refused_json(&why, closable, &missing))?;
        }
        Err(failure)
    }

    fn fit(&self) -> Result<Answer, Failure> {
        let level = self.confidence;
        if !(level > 0.0 && level < 1.0) {
            return Err(Failure::input(format!("--confidence must lie between 0 and 1, not {level:?}"))
                .hint("0.95, the default, makes intervals that hold the right value 95 times in 100"));
        }
        let options = self.aim.options()?;
        if let Some(out) = &self.out {
            self.aim.check_out(out)?;
        }
        let mut table = self.aim.table()?;
        let mut model = self.model.load(table.as_mut())?;
        let starts = model.starts();
        self.aim.add_targets(&mut model, table.as_ref())?;
        if model.channels.iter().all(|channel| channel.targets.is_empty()) {
            let (target, scene) = match model.document {
                Document::Cinematic(_) => ("camera.y:1=64", "targets: [{tick: 20, y: 64}]"),
                Document::Formula | Document::Fpcore(_) | Document::Rects(_) => {
                    ("x:1=-4,3=4", "'( 1=-4 3=4 ) ->x-targets")
                }
            };
            return Err(Failure::input("there is no target").hint(format!(
                "say where a value must be, and when: --data FILE.csv, --target {target}, or in the scene: {scene}"
            )));
        }
        let mut fit = match (self.all_numbers, model.channels.as_slice()) {
            (false, channels) => fit_channels(channels.to_vec(), &options)?,
            (true, [only]) => fit_gradient(&only.track, &only.targets, &options)?,
            (true, _) => {
                return Err(Failure::input(
                    "--all-numbers takes a formula, not a scene, and targets for its values alone",
                ));
            }
        };
        let turn = self.normalise.filter(|_| !self.all_numbers);
        let normalised = turn.map(|turn| normalise(&mut fit, &model.channels, &options.bounds, turn.into()));
        let certificate = self.certify.then(|| certify(&fit, &model.channels));
        let answer = Answer { fit, model, certificate, normalised, level };
        match &self.out {
            Some(path) if answer.fit.converged => write_fitted(path, &answer, &starts)?,
            Some(path) => say(format!("{} is not written: the fit did not converge", path.display())),
            None => {}
        }
        Ok(answer)
    }

    fn report(&self, answer: &Answer) -> Result<ExitCode, Failure> {
        let fit = &answer.fit;
        let certified = answer.certificate.as_ref().is_none_or(Result::is_ok);
        let code = if fit.converged && certified { ExitCode::SUCCESS } else { ExitCode::from(NEGATIVE) };
        if self.json {
            print_json(&answer.json())?
        } else {
            print(&answer.text())?
        }
        if !fit.converged {
            say(format!("did not converge: {}", fit.message));
        }
        Ok(code)
    }
}

/// Writes the model with what was found in the place of its `starts`, which parameters without a say keep.
fn write_fitted(path: &Path, answer: &Answer, starts: &BTreeMap<String, f64>) -> Result<(), Failure> {
    let tied = |name: &str| tied_values(answer).find(|(own, ..)| *own == name).map(|(_, value, _)| value);
    let value = |name: &str| answer.fit.value(name).or_else(|| tied(name)).or(starts.get(name).copied());
    write_whole(path, answer.model.restarted_text(value)?.as_bytes())
}

impl Aim {
    /// What is written must be a file, and not the data.
    fn check_out(&self, out: &Path) -> Result<(), Failure> {
        let is_data = self.data.as_ref().is_some_and(|data| are_same(data.as_ref(), out));
        match (is_data, out == Path::new("-")) {
            (true, _) => {
                Err(Failure::input(format!("{} holds the data: --out would write over it", out.display())))
            }
            (_, true) => Err(Failure::input("--out wants the name of a file")),
            _ => Ok(()),
        }
    }

    /// As the solvers take it.
    pub fn options(&self) -> Result<FitOptions, Failure> {
        Ok(FitOptions {
            solver: solver(&self.solver)?,
            solver_options: self.limits.options()?,
            window: self.window.as_deref().map(window).transpose()?,
            bounds: ranges("--bound", &self.bound)?,
            logarithmic: self.knowledge.logarithmic(),
            loss: Loss::from_word(&self.loss).ok_or_else(|| {
                Failure::input(format!("there is no loss {}", self.loss))
                    .hint("squares, huber:1.5, soft-l1:1.5, cauchy:1.5 or tukey:1.5, with a scale above 0")
            })?,
        })
    }

    /// The data, if there are any.
    pub fn table(&self) -> Result<Option<Table>, Failure> {
        self.data.as_deref().map(|path| Table::read(path, self.missing)).transpose()
    }

    /// Gives the model its targets, beside those that it holds itself, fixes what is to keep its start, and ties and tells what is known.
    pub fn add_targets(&self, model: &mut Model, table: Option<&Table>) -> Result<(), Failure> {
        model.aim_own_rates()?;
        if let Some(table) = table {
            for (index, target) in table.targets(model)? {
                model.channels[index].targets.push(target);
            }
        }
        for text in &self.target {
            // times hold no colon, names may
            let (channel, from) = match text.rfind(':') {
                Some(colon) => (text[..colon].trim(), colon + 1),
                None if model.is_formula() => (FORMULA_CHANNEL, 0),
                None => ("", 0),
            };
            let source = Source { name: "--target".into(), text: text.clone() };
            let Some(index) = model.aimed(channel)? else {
                let fault = |message: String| Failure::at(&source, 0..from.max(1) - 1, message);
                return Err(match channel {
                    "" => fault("which channel?".into()).hint("write --target x:1=-4,3=4"),
                    _ if channel.contains('=') => fault("targets of two channels".into())
                        .hint("give each channel a --target of its own"),
                    _ => fault(format!("the model has no channel {channel}")).known(
                        channel,
                        "channels",
                        model.aim_names().iter().map(AsRef::as_ref),
                    ),
                });
            };
            for (span, value) in pairs(&source, from)? {
                let time = number(&source, || span.clone(), &text[span.clone()])?;
                model.channels[index].targets.push(Target::new(time, value));
            }
        }
        model.fix(&self.fix)?;
        self.knowledge.apply(model)?;
        model.check_parameters("--bound", ranges("--bound", &self.bound)?.keys())
    }
}

fn window(text: &str) -> Result<(f64, f64), Failure> {
    let source = Source { name: "--window".into(), text: text.into() };
    let Some((from, to)) = text.split_once(',') else {
        return Err(Failure::at(&source, 0..text.len(), "expected FROM,TO"));
    };
    let comma = from.len();
    Ok((number(&source, || 0..comma, from)?, number(&source, || comma + 1..text.len(), to)?))
}
