//! `keyfit fit`

use std::process::ExitCode;

use clap::Args;
use keyfit::ir::Parameter;
use keyfit::solvers::{Loss, Named, Options, lookup};
use keyfit::{FitOptions, SOLVERS, SolverEntry, Target, fit_channels, fit_gradient};
use serde_json::{Map, Value, json};

use super::{json_number, print, print_json};
use crate::data::Table;
use crate::failure::{Failure, NEGATIVE, Source, say};
use crate::model::{Document, FORMULA_CHANNEL, Model, ModelArgs, number, pairs, ranges};

#[derive(Args)]
pub struct Fit {
    #[command(flatten)]
    model: ModelArgs,
    #[command(flatten)]
    aim: Aim,
    /// Move every number of a model that declares no free parameters
    #[arg(long)]
    all_numbers: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// What a model is fitted to, and how.
#[derive(Args)]
pub struct Aim {
    /// Targets from a CSV file, beside those of the scene: column t and a column a channel (y for a formula; y.weight weighs it); a formula may
    /// use any other column by its name
    #[arg(long, value_name = "FILE.csv")]
    data: Option<String>,
    /// Targets: CHANNEL:time=value,…; a formula needs no CHANNEL:
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
            Ok(fit) => return self.report(&fit),
            Err(failure) => failure,
        };
        if let (true, Some((why, closable, missing))) = (self.json, failure.refusal()) {
            print_json(&refused_json(&why, closable, &missing))?;
        }
        Err(failure)
    }

    fn fit(&self) -> Result<keyfit::Fit, Failure> {
        let options = self.aim.options()?;
        let table = self.aim.table()?;
        let mut model = self.model.load(table.as_ref())?;
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
        Ok(match (self.all_numbers, model.channels.as_slice()) {
            (false, _) => fit_channels(model.channels, &options)?,
            (true, [only]) => fit_gradient(&only.track, &only.targets, &options)?,
            (true, _) => return Err(Failure::input("--all-numbers takes a formula, not a scene")),
        })
    }

    fn report(&self, fit: &keyfit::Fit) -> Result<ExitCode, Failure> {
        let code = if fit.converged { ExitCode::SUCCESS } else { ExitCode::from(NEGATIVE) };
        if self.json {
            print_json(&fit_json(fit))?;
        } else {
            print(&text(fit))?;
        }
        if !fit.converged {
            say(format!("did not converge: {}", fit.message));
        }
        Ok(code)
    }
}

impl Aim {
    /// As the solvers take it.
    pub fn options(&self) -> Result<FitOptions, Failure> {
        Ok(FitOptions {
            solver: solver(&self.solver)?,
            solver_options: self.limits.options()?,
            window: self.window.as_deref().map(window).transpose()?,
            bounds: ranges("--bound", &self.bound)?,
            loss: Loss::from_word(&self.loss).ok_or_else(|| {
                Failure::input(format!("there is no loss {}", self.loss))
                    .hint("squares, huber:1.5, soft-l1:1.5, cauchy:1.5 or tukey:1.5, with a scale above 0")
            })?,
        })
    }

    /// The data, if there are any.
    pub fn table(&self) -> Result<Option<Table>, Failure> {
        self.data.as_deref().map(Table::read).transpose()
    }

    /// Gives the model its targets, beside those that it holds itself, and fixes what is to keep its start.
    pub fn add_targets(&self, model: &mut Model, table: Option<&Table>) -> Result<(), Failure> {
        model.fix(&self.fix)?;
        model.check_parameters("--bound", ranges("--bound", &self.bound)?.keys())?;
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
            let Some(index) = model.channel(channel) else {
                let fault = |message: String| Failure::at(&source, 0..from.max(1) - 1, message);
                return Err(match channel {
                    "" => fault("which channel?".into()).hint("write --target x:1=-4,3=4"),
                    _ if channel.contains('=') => fault("targets of two channels".into())
                        .hint("give each channel a --target of its own"),
                    _ => fault(format!("the model has no channel {channel}")).known(
                        channel,
                        "channels",
                        model.channel_names(),
                    ),
                });
            };
            for (span, value) in pairs(&source, from)? {
                let time = number(&source, || span.clone(), &text[span.clone()])?;
                model.channels[index].targets.push(Target::new(time, value));
            }
        }
        Ok(())
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

/// Parameters of channels without targets, each once.
fn idle(fit: &keyfit::Fit) -> Vec<&Parameter> {
    let mut idle: Vec<&Parameter> =
        fit.fitted.iter().flat_map(|channel| channel.fitted.free_parameters()).collect();
    idle.sort();
    idle.dedup();
    idle
}

fn text(fit: &keyfit::Fit) -> String {
    let mut lines = Vec::new();
    let width = fit.parameters.iter().map(|p| p.name.chars().count()).max().unwrap_or(0);
    for (i, p) in fit.parameters.iter().enumerate() {
        let errors = fit.standard_errors.as_ref().filter(|_| fit.converged);
        let error = errors.and_then(|errors| errors.get(i));
        let error = error.map_or(String::new(), |e| format!("  ± {:.4e}", e.value));
        lines.push(format!("{:width$} = {:?}{error}", p.name, p.value));
    }
    for p in idle(fit) {
        lines.push(format!(
            "{} = {:?} as at the start: no channel with targets uses it",
            p.name(),
            p.start()
        ));
    }
    for p in &fit.at_bounds {
        lines.push(format!(
            "{} is held by its bound {:?}: beyond it the targets would be met better",
            p.name, p.value
        ));
    }
    lines.extend(fit.undetermined.iter().map(|u| format!("not determined by the targets: {u}")));
    lines.push(String::new());
    for channel in fit.fitted.iter().filter(|channel| channel.worst_miss.is_some()) {
        lines.push(format!("{} before  {}", channel.name, channel.before.describe()));
        lines.push(format!("{} fitted  {}", channel.name, channel.fitted.describe()));
        lines.push(format!("{} worst miss  {:?}", channel.name, channel.worst_miss.unwrap_or(0.0)));
    }
    lines.push(String::new());
    let minimised = match fit.loss {
        Loss::Squares => "sum of squared residuals".into(),
        loss => format!("sum of the loss {loss}"),
    };
    lines.push(format!("{minimised}  {:?} -> {:?}", fit.initial_residual, fit.final_residual));
    lines.push(format!(
        "{} ({} steps, {} residual and {} Jacobian evaluations)",
        fit.message, fit.steps, fit.residual_evaluations, fit.jacobian_evaluations
    ));
    lines.join("\n") + "\n"
}

fn object(numbers: &[Named]) -> Value {
    Value::Object(numbers.iter().map(|p| (p.name.clone(), json_number(p.value))).collect())
}

fn fit_json(fit: &keyfit::Fit) -> Value {
    let channels: Map<String, Value> = fit
        .fitted
        .iter()
        .map(|channel| {
            let entry = json!({
                "before": channel.before.describe(),
                "fitted": channel.fitted.describe(),
                "worst_miss": channel.worst_miss,
            });
            (channel.name.clone(), entry)
        })
        .collect();
    json!({
        "parameters": object(&fit.parameters),
        "initial_parameters": object(&fit.initial_parameters),
        "standard_errors": object(fit.standard_errors.as_deref().unwrap_or_default()),
        "initial_residual": json_number(fit.initial_residual),
        "final_residual": json_number(fit.final_residual),
        "converged": fit.converged,
        "termination": fit.termination.name(),
        "message": fit.message,
        "steps": fit.steps,
        "residual_evaluations": fit.residual_evaluations,
        "jacobian_evaluations": fit.jacobian_evaluations,
        "rank": fit.rank,
        "undetermined": fit.undetermined.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "at_bounds": object(&fit.at_bounds),
        "loss": fit.loss.to_string(),
        "refused": null,
        "channels": channels,
    })
}

fn refused_json(why: &str, closable: bool, missing: &[String]) -> Value {
    json!({
        "parameters": {},
        "initial_parameters": {},
        "standard_errors": {},
        "initial_residual": null,
        "final_residual": null,
        "converged": false,
        "termination": "refused",
        "steps": 0,
        "residual_evaluations": 0,
        "jacobian_evaluations": 0,
        "refused": { "why": why, "closable": closable, "missing": missing },
        "channels": {},
    })
}
