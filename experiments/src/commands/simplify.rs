//! `keyfit simplify`

use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use keyfit::proofs::{excerpt, to_json};
use keyfit::rewrite::{Cost, Options, Simplified, Stopped, simplify};
use keyfit::{Channel, Track};
use serde_json::{Map, Value, json};

use super::known::Known;
use super::{Notation, json_number, print, print_json};
use crate::failure::{Failure, say};
use crate::model::{Model, ModelArgs};

#[derive(Args)]
pub struct Simplify {
    #[command(flatten)]
    model: ModelArgs,
    /// Print why each step is allowed
    #[arg(long)]
    proof: bool,
    #[command(flatten)]
    known: Known,
    /// What is to be made smaller: the time of an evaluation, the number of operations, the longest way through them, or the
    /// time of an evaluation on a GPU
    #[arg(long, value_name = "MEASURE", default_value = Cost::default().name(), value_parser = measure)]
    cost: Cost,
    /// Stop after this many seconds and give the best so far
    #[arg(long, value_name = "SECONDS")]
    deadline: Option<f64>,
    /// How tracks are printed
    #[arg(long, value_enum, default_value_t)]
    format: Notation,
    /// Print one JSON object; it holds the proof that `keyfit verify proof` replays
    #[arg(long)]
    json: bool,
}

impl Simplify {
    pub fn run(self) -> Result<ExitCode, Failure> {
        let model = self.model.load(None)?;
        let mut channels: Map<String, Value> = Map::new();
        for (i, Channel { name, track, .. }) in model.channels.iter().enumerate() {
            let options = self.options(&model, i)?;
            let simplified = simplify(track, &options).map_err(Failure::input)?;
            if simplified.stopped != Stopped::Fixpoint {
                say(format!("{name}: stopped early ({}); the best so far", stopped(&simplified)));
            }
            if self.json {
                let mut object = object(track, &simplified, self.cost)?;
                if self.format == Notation::Fpcore {
                    object["fpcore"] = self.format.text(&model, i, &simplified.track)?.into();
                }
                channels.insert(name.clone(), object);
                continue;
            }
            print(&self.format.line(&model, i, &simplified.track)?)?;
            if self.proof {
                print(&proof_text(&simplified)?)?;
            }
        }
        if self.json {
            let only = if model.is_formula() { channels.values().next() } else { None };
            print_json(&only.cloned().unwrap_or_else(|| json!({ "channels": channels })))?;
        }
        Ok(ExitCode::SUCCESS)
    }

    fn options(&self, model: &Model, channel: usize) -> Result<Options, Failure> {
        let deadline = match self.deadline {
            None => None,
            Some(seconds) => Some(Duration::try_from_secs_f64(seconds).map_err(Failure::input)?),
        };
        Ok(Options { deadline, cost: self.cost, ..Options::with_bounds(self.known.bounds(model, channel)?) })
    }
}

fn measure(text: &str) -> Result<Cost, String> {
    let names = Cost::ALL.map(Cost::name).join(", ");
    Cost::ALL.into_iter().find(|cost| cost.name() == text).ok_or_else(|| format!("the measures are {names}"))
}

fn stopped(simplified: &Simplified) -> &'static str {
    match simplified.stopped {
        Stopped::Fixpoint => "fixpoint",
        Stopped::Deadline => "deadline",
        Stopped::Rounds => "rounds",
    }
}

fn object(track: &Track, simplified: &Simplified, cost: Cost) -> Result<Value, Failure> {
    let proof = &simplified.proof;
    let established = proof.replay().map_err(Failure::input)?;
    let steps: Vec<Value> = proof
        .steps
        .iter()
        .zip(&established)
        .map(|(step, established)| {
            let substitution: Map<String, Value> = step
                .substitution
                .iter()
                .map(|(name, place)| (name.clone(), excerpt(proof, *place).into()))
                .collect();
            let facts: Vec<Value> = established
                .iter()
                .map(|established| {
                    let known: Map<String, Value> = established
                        .facts
                        .iter()
                        .map(|(term, fact)| ((*term).to_owned(), fact.to_string().into()))
                        .collect();
                    json!({ "condition": established.condition, "known": known })
                })
                .collect();
            json!({
                "rule": step.rule,
                "backward": step.backward,
                "place": step.place,
                "before": excerpt(proof, step.place),
                "after": excerpt(proof, step.result),
                "substitution": substitution,
                "facts": facts,
            })
        })
        .collect();
    Ok(json!({
        "before": track.describe(),
        "after": simplified.track.describe(),
        "nodes_before": track.nodes().len(),
        "nodes_after": simplified.track.nodes().len(),
        "cost": cost.name(),
        "cost_before": json_number(cost.of(track) as f64),
        "cost_after": json_number(cost.of(&simplified.track) as f64),
        "stopped": stopped(simplified),
        "steps": steps,
        "proof": to_json(proof).map_err(Failure::input)?,
    }))
}

fn proof_text(simplified: &Simplified) -> Result<String, Failure> {
    let proof = &simplified.proof;
    let established = proof.replay().map_err(Failure::input)?;
    let mut text = String::new();
    for (i, (step, established)) in proof.steps.iter().zip(&established).enumerate() {
        let way = if step.backward { ", from right to left" } else { "" };
        let [before, after] = [step.place, step.result].map(|place| excerpt(proof, place));
        text += &format!("{:4}. {}{way}, at #{}: {before} = {after}\n", i + 1, step.rule, step.place);
        for established in established {
            text += &format!("      where {}", established.condition);
            for (term, fact) in &established.facts {
                text += &format!("; {term} is {fact}");
            }
            text.push('\n');
        }
    }
    Ok(text)
}
