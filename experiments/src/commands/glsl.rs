//! `keyfit glsl`

use std::process::ExitCode;

use clap::Args;
use keyfit::Channel;
use keyfit::ir::glsl::functions;
use keyfit::ir::{GlslRefusal, Track};
use serde_json::{Map, Value, json};

use super::{json_number, print, print_json};
use crate::failure::Failure;
use crate::model::ModelArgs;

#[derive(Args)]
pub struct Glsl {
    #[command(flatten)]
    model: ModelArgs,
    /// The function's name, if there is only one; else it is made from the channel's
    #[arg(long)]
    name: Option<String>,
    /// Print one JSON object: the text, and per channel its function's name and the parameters in their order
    #[arg(long)]
    json: bool,
    /// Only this channel
    #[arg(long)]
    channel: Option<String>,
}

impl Glsl {
    pub fn run(self) -> Result<ExitCode, Failure> {
        let model = self.model.load(None)?;
        let channels = model.chosen(self.channel.as_deref())?;
        let named: Vec<(String, &Track)> = match (&self.name, channels) {
            (Some(name), [only]) => vec![(name.clone(), &only.track)],
            (Some(_), _) => {
                let failure = Failure::input("--name names one function, but the model has several channels");
                return Err(failure.hint("choose one with --channel"));
            }
            (None, _) => channels.iter().map(|c| (identifier(&c.name), &c.track)).collect(),
        };
        let named: Vec<(&str, &Track)> = named.iter().map(|(name, track)| (name.as_str(), *track)).collect();
        let text = functions(&named).map_err(|refusal| {
            let by_hand = matches!(refusal, GlslRefusal::Name { .. } | GlslRefusal::SameName(_));
            let failure = Failure::from(refusal);
            match by_hand && self.name.is_none() {
                true => failure.hint("name it yourself: --channel CHANNEL --name NAME"),
                false => failure,
            }
        })?;
        if self.json {
            let entry = |(channel, (name, track)): (&Channel, &(&str, &Track))| {
                let parameters: Vec<Value> = track
                    .free_parameters()
                    .iter()
                    .map(|p| json!({ "name": p.name(), "value": json_number(p.start()) }))
                    .collect();
                (channel.name.clone(), json!({ "function": name, "parameters": parameters }))
            };
            let channels: Map<String, Value> = channels.iter().zip(&named).map(entry).collect();
            print_json(&json!({ "glsl": text, "channels": channels }))?;
        } else {
            print(&text)?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// A channel's name as GLSL can have it: what is no letter or digit becomes one `_`.
fn identifier(name: &str) -> String {
    let words = name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let text = words.collect::<Vec<_>>().join("_");
    if text.starts_with(|c: char| c.is_ascii_digit()) { format!("_{text}") } else { text }
}
