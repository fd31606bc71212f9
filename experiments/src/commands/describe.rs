//! `keyfit describe`

use std::process::ExitCode;

use clap::Args;
use keyfit::Channel;
use serde_json::{Map, Value, json};

use super::{json_number, print, print_json};
use crate::failure::Failure;
use crate::model::ModelArgs;

#[derive(Args)]
pub struct Describe {
    #[command(flatten)]
    model: ModelArgs,
    /// Print one JSON object: channel → text, free parameters and node count
    #[arg(long)]
    json: bool,
}

impl Describe {
    pub fn run(self) -> Result<ExitCode, Failure> {
        let model = self.model.load(None)?;
        if self.json {
            let channels: Map<String, Value> = model
                .channels
                .iter()
                .map(|Channel { name, track, .. }| {
                    let parameters: Map<String, Value> = track
                        .free_parameters()
                        .iter()
                        .map(|p| (p.name().into(), json_number(p.start())))
                        .collect();
                    let entry = json!({
                        "describe": track.describe(),
                        "parameters": parameters,
                        "nodes": track.nodes().len(),
                    });
                    (name.clone(), entry)
                })
                .collect();
            print_json(&json!({ "channels": channels }))?;
        } else {
            for Channel { name, track, .. } in &model.channels {
                let name = if model.is_formula() { String::new() } else { format!("{name}: ") };
                print(&format!("{name}{}\n", track.describe()))?;
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}
