//! `keyfit fit`

use std::process::ExitCode;

use clap::Args;
use keyfit::certify::{self, Certified, NotCertified, certify, decimal};
use keyfit::ir::Parameter;
use keyfit::solvers::{Attempt, Evidence, Loss, Named, Options, lookup};
use keyfit::{FitOptions, SOLVERS, SolverEntry, Target, fit_channels, fit_gradient};
use serde_json::{Map, Value, json};

use super::{json_number, print, print_json};
use crate::data::Table;
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
            Ok((fit, certificate)) => return self.report(&fit, certificate.as_ref()),
            Err(failure) => failure,
        };
        if let (true, Some((why, closable, missing))) = (self.json, failure.refusal()) {
            print_json(&refused_json(&why, closable, &missing))?;
        }
        Err(failure)
    }

    fn fit(&self) -> Result<(keyfit::Fit, Option<Certificate>), Failure> {
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
        let fit = match (self.all_numbers, model.channels.as_slice()) {
            (false, channels) => fit_channels(channels.to_vec(), &options)?,
            (true, [only]) => fit_gradient(&only.track, &only.targets, &options)?,
            (true, _) => return Err(Failure::input("--all-numbers takes a formula, not a scene")),
        };
        let certificate = self.certify.then(|| certify(&fit, &model.channels));
        Ok((fit, certificate))
    }

    fn report(&self, fit: &keyfit::Fit, certificate: Option<&Certificate>) -> Result<ExitCode, Failure> {
        let certified = certificate.is_none_or(Result::is_ok);
        let code = if fit.converged && certified { ExitCode::SUCCESS } else { ExitCode::from(NEGATIVE) };
        if self.json {
            let mut object = fit_json(fit);
            if let Some(certificate) = certificate {
                object["certificate"] = certificate_json(certificate);
            }
            print_json(&object)?;
        } else {
            print(&(text(fit) + &certificate.map(certificate_text).unwrap_or_default()))?;
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
    lines.extend(tried(fit));
    lines.push(format!(
        "{} ({} steps, {} residual and {} Jacobian evaluations)",
        fit.message, fit.steps, fit.residual_evaluations, fit.jacobian_evaluations
    ));
    lines.join("\n") + "\n"
}

fn certificate_text(certificate: &Certificate) -> String {
    let certificate = match certificate {
        Ok(certificate) => certificate,
        Err(why) => return format!("\nnot certified: {why}\n"),
    };
    let mut lines = vec![
        String::new(),
        "certified: this is a minimum, all digits right up to one unit of the last, and no other stationary point lies in the box"
            .into(),
    ];
    let names = certificate.parameters.iter().map(|p| p.name.chars().count());
    let width = names.max().unwrap_or(0);
    for p in &certificate.parameters {
        lines.push(format!("{:width$} = {}  ± {:.2e}", p.name, p.decimal(), 0.995 * p.alone_within));
    }
    lines.join("\n") + "\n"
}

fn certificate_json(certificate: &Certificate) -> Value {
    match certificate {
        Err(why) => json!({ "certified": false, "why": why.to_string() }),
        Ok(certificate) => {
            let own = |value: &dyn Fn(&Certified) -> Value| -> Value {
                Value::Object(certificate.parameters.iter().map(|p| (p.name.clone(), value(p))).collect())
            };
            json!({
                "certified": true,
                "parameters": own(&|p| p.decimal().into()),
                "radius": own(&|p| (p.value.width().to_f64() / 2.0).into()),
                "alone_within": own(&|p| p.alone_within.into()),
                "sum_of_squares": decimal(&certificate.sum_of_squares),
                "bits": certificate.bits,
            })
        }
    }
}

/// What was tried, where it was more than one run.
fn tried(fit: &keyfit::Fit) -> Vec<String> {
    let starts = fit.attempts.iter().map(|attempt| attempt.start).max().unwrap_or(1);
    let mut lines = Vec::new();
    if starts == 1 && fit.attempts.len() > 1 {
        let tried =
            fit.attempts.iter().map(|attempt| format!("{} ({})", attempt.solver, attempt.termination.name()));
        lines.push(format!("tried {}", tried.collect::<Vec<_>>().join(", then ")));
    }
    if starts > 1 {
        let converged = fit.attempts.iter().filter(|attempt| attempt.termination.converged()).count();
        lines.push(format!("{starts} starts, {converged} of them converged; this is the lowest minimum"));
    }
    if let Some(first) = fit.beaten() {
        lines.push(format!(
            "the first start led to a local minimum that another start beat: sum {:?}",
            first.sum_of_squares
        ));
    }
    lines
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
        "hessian_evaluations": fit.hessian_evaluations,
        "hessian_products": fit.hessian_products,
        "curvatures_along": fit.curvatures_along,
        "evidence": evidence_json(fit.evidence),
        "attempts": fit.attempts.iter().map(attempt_json).collect::<Vec<_>>(),
        "beaten": fit.beaten().map(attempt_json),
        "rank": fit.rank,
        "undetermined": fit.undetermined.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "at_bounds": object(&fit.at_bounds),
        "loss": fit.loss.to_string(),
        "refused": null,
        "channels": channels,
    })
}

/// What speaks for a minimum.
pub fn evidence_json(evidence: Evidence) -> Value {
    json!({
        "scaled_gradient": json_number(evidence.scaled_gradient),
        "rank": evidence.rank,
        "smallest_eigenvalue": evidence.smallest_eigenvalue.map(json_number),
        "exact_hessian": evidence.exact,
    })
}

fn attempt_json(attempt: &Attempt) -> Value {
    json!({
        "solver": attempt.solver,
        "start": attempt.start,
        "sum_of_squares": json_number(attempt.sum_of_squares),
        "converged": attempt.termination.converged(),
        "termination": attempt.termination.name(),
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
