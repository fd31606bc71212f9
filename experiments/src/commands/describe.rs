//! `keyfit describe`

use std::process::ExitCode;

use clap::Args;
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
                .map(|(name, track)| {
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
        } else if model.scene.is_some() {
            for (name, track) in &model.channels {
                print(&format!("{name}: {}\n", track.describe()))?;
            }
        } else {
            for (_, track) in &model.channels {
                print(&format!("{}\n", track.describe()))?;
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}
