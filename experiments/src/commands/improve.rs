//! `keyfit improve`

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use keyfit::Channel;
use keyfit::improve::{Accuracy, CLOCK, Improved, Inputs, Options, improve, is_series};
use serde_json::{Map, Value, json};

use super::{Notation, json_number, print, print_json};
use crate::failure::{Failure, NEGATIVE, say};
use crate::model::{Document, Model, ModelArgs, ranges};

#[derive(Args)]
pub struct Improve {
    #[command(flatten)]
    model: ModelArgs,
    /// Where parameters and the clock t lie, an end of which may be left out; all finite doubles if not given
    #[arg(long, value_name = "NAME=LOW..HIGH,…", value_delimiter = ',', allow_hyphen_values = true)]
    range: Vec<String>,
    /// The channel that is meant; all of them if not given
    #[arg(long)]
    channel: Option<String>,
    /// How many points the search looks at
    #[arg(long, default_value_t = Options::default().points, value_parser = clap::value_parser!(usize))]
    points: usize,
    /// How many other points the figures are from
    #[arg(long, default_value_t = Options::default().held_out)]
    held_out: usize,
    /// How often the most promising forms are rewritten
    #[arg(long, default_value_t = Options::default().rounds)]
    rounds: usize,
    /// What the points are drawn from
    #[arg(long, default_value_t = Options::default().seed)]
    seed: u64,
    /// Stop after this many seconds and give the best so far
    #[arg(long, value_name = "SECONDS")]
    deadline: Option<f64>,
    /// How tracks are printed
    #[arg(long, value_enum, default_value_t)]
    format: Notation,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

impl Improve {
    pub fn run(self) -> Result<ExitCode, Failure> {
        let model = self.model.load(None)?;
        let options = self.options()?;
        let given = ranges("--range", &self.range)?;
        model.check_parameters("--range", given.keys().filter(|name| *name != "t"))?;
        let chosen = self.channel.as_deref().map(|name| model.chosen(Some(name))).transpose()?;
        let is_meant =
            |name: &str| chosen.is_none_or(|chosen| chosen.iter().any(|channel| channel.name == name));
        let mut objects: Map<String, Value> = Map::new();
        let mut better = false;
        for (i, Channel { name, track, .. }) in model.channels.iter().enumerate() {
            if !is_meant(name) {
                continue;
            }
            let found = improve(track, &inputs(&model, i, &given), &options).map_err(Failure::input)?;
            better |= found.is_better();
            if found.stopped {
                say(format!("{name}: stopped early (deadline); the best so far"));
            }
            if self.json {
                let mut object = object(track, &found);
                if self.format == Notation::Fpcore {
                    object["fpcore"] = self.format.text(&model, i, &found.track)?.into();
                }
                objects.insert(name.clone(), object);
            } else {
                print(&self.format.line(&model, i, &found.track)?)?;
                let comment = if self.format == Notation::Fpcore { "; " } else { "" };
                report(&found).iter().try_for_each(|line| print(&format!("{comment}{line}\n")))?;
            }
        }
        if self.json {
            let only = if model.is_formula() { objects.values().next() } else { None };
            print_json(&only.cloned().unwrap_or_else(|| json!({ "channels": objects })))?;
        }
        Ok(if better { ExitCode::SUCCESS } else { ExitCode::from(NEGATIVE) })
    }

    fn options(&self) -> Result<Options, Failure> {
        let deadline = self.deadline.map(Duration::try_from_secs_f64).transpose().map_err(Failure::input)?;
        Ok(Options {
            points: self.points,
            held_out: self.held_out,
            rounds: self.rounds,
            seed: self.seed,
            deadline,
            ..Options::default()
        })
    }
}

/// What the model says of a channel's inputs, and what is given, which comes first.
fn inputs(model: &Model, channel: usize, given: &BTreeMap<String, [f64; 2]>) -> Inputs {
    let (said, clock) = model.ranges(channel);
    let mut all: BTreeMap<String, [f64; 2]> = BTreeMap::new();
    let mut put = |name: &str, is_clock: bool, range: [f64; 2]| {
        all.insert(if is_clock { CLOCK.into() } else { name.into() }, range);
    };
    said.iter().for_each(|(name, range)| put(name, Some(&**name) == clock, *range));
    let own_t = model.parameter_names().contains("t");
    given.iter().for_each(|(name, range)| put(name, name == "t" && !own_t, *range));
    let condition = match &model.document {
        Document::Fpcore(cores) => {
            cores.get(channel).and_then(|core| core.pre.as_ref()).map(|pre| pre.track.clone())
        }
        _ => None,
    };
    Inputs { ranges: all, condition }
}

fn report(found: &Improved) -> Vec<String> {
    let Improved { before, after, held_out, .. } = found;
    if !found.is_better() {
        return vec![format!(
            "no more accurate form was found: {:.2} bits of error on average, {:.1} at worst ({held_out} points)",
            before.mean, before.worst
        )];
    }
    vec![
        format!(
            "bits of error: {:.2} -> {:.2} on average, {:.1} -> {:.1} at worst ({held_out} points that the search has not seen)",
            before.mean, after.mean, before.worst, after.worst
        ),
        equality(&found.rules),
    ]
}

/// How the form is equal.
fn equality(rules: &[&str]) -> String {
    let (series, rules): (Vec<&str>, Vec<&str>) = rules.iter().partition(|rule| is_series(rule));
    let by = |ways: &[&str]| ways.join(", ");
    match (rules.is_empty(), series.is_empty()) {
        (_, true) => format!("bits are not kept; equal over the reals by {}", by(&rules)),
        (true, false) => format!("bits are not kept; nearly equal over the reals by {}", by(&series)),
        (false, false) => {
            format!("bits are not kept; equal over the reals by {}; nearly so by {}", by(&rules), by(&series))
        }
    }
}

fn object(before: &keyfit::Track, found: &Improved) -> Value {
    let accuracy = |accuracy: &Accuracy| {
        let at: Map<String, Value> =
            accuracy.worst_at.iter().map(|(name, x)| (name.clone(), json_number(*x))).collect();
        json!({ "mean": accuracy.mean, "worst": accuracy.worst, "worst_at": at })
    };
    json!({
        "before": before.describe(),
        "after": found.track.describe(),
        "keeps_bits": !found.is_better(),
        "bits_before": accuracy(&found.before),
        "bits_after": accuracy(&found.after),
        "held_out": found.held_out,
        "rules": found.rules,
        "forms": found.forms,
        "stopped": found.stopped,
    })
}
