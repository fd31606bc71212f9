//! `keyfit sample`

use std::fmt::Write;
use std::process::ExitCode;

use clap::Args;
use keyfit::ir::Names;
use serde_json::{Map, Value, json};

use super::{print, print_json};
use crate::failure::{Failure, Source};
use crate::model::{Model, ModelArgs, number};

#[derive(Args)]
pub struct Sample {
    #[command(flatten)]
    model: ModelArgs,
    /// The times, separated by commas; a scene's frames (k/fps) unless said otherwise
    #[arg(long, value_name = "TIME,…", allow_hyphen_values = true, conflicts_with_all = ["from", "to", "count"])]
    at: Option<String>,
    /// The first of evenly spaced times
    #[arg(long, default_value_t = 0.0, allow_hyphen_values = true)]
    from: f64,
    /// The last of evenly spaced times
    #[arg(long, allow_hyphen_values = true)]
    to: Option<f64>,
    /// How many evenly spaced times
    #[arg(long, default_value_t = 11, value_parser = clap::value_parser!(u32).range(1..))]
    count: u32,
    /// Print one JSON object: t and channels, each a list of numbers
    #[arg(long)]
    json: bool,
}

impl Sample {
    pub fn run(self) -> Result<ExitCode, Failure> {
        let model = self.model.load(Names::new())?;
        let times = self.times(&model)?;
        let columns: Vec<(&str, Vec<f64>)> = model
            .channels
            .iter()
            .map(|(name, track)| {
                let mut values = vec![0.0; times.len()];
                track.sample_into(&times, &mut values);
                (name.as_str(), values)
            })
            .collect();
        if self.json {
            let channels: Map<String, Value> =
                columns.iter().map(|(name, values)| ((*name).into(), json!(values))).collect();
            print_json(&json!({ "t": times, "channels": channels }))?;
            return Ok(ExitCode::SUCCESS);
        }
        let mut text = String::from("t");
        columns.iter().for_each(|(name, _)| {
            let _ = write!(text, ",{name}");
        });
        text.push('\n');
        for (k, t) in times.iter().enumerate() {
            let _ = write!(text, "{t:?}");
            columns.iter().for_each(|(_, values)| {
                let _ = write!(text, ",{:?}", values[k]);
            });
            text.push('\n');
        }
        print(&text)?;
        Ok(ExitCode::SUCCESS)
    }

    fn times(&self, model: &Model) -> Result<Vec<f64>, Failure> {
        if let Some(text) = &self.at {
            let source = Source { name: "--at".into(), text: text.clone() };
            let mut at = 0;
            return text
                .split(',')
                .map(|part| {
                    let span = at..at + part.len();
                    at += part.len() + 1;
                    number(&source, span, part)
                })
                .collect();
        }
        let scene = model.scene.as_ref();
        if let (None, Some((duration, fps))) = (self.to, scene.and_then(|s| Some((s.duration?, s.fps?)))) {
            // one division a tick, never a running sum
            let last = (duration * fps).floor();
            return match last <= 1e7 {
                true => Ok((0..=last as u64).map(|k| k as f64 / fps).collect()),
                false => Err(Failure::input(format!(
                    "the scene has {last} frames; choose times with --at or --to"
                ))),
            };
        }
        let Some(to) = self.to else {
            return Err(
                Failure::input("at which times?").hint("give --at 0,0.5,1 or --from 0 --to 4 --count 9")
            );
        };
        if !(self.from.is_finite() && to.is_finite()) {
            return Err(Failure::input("--from and --to must be finite numbers"));
        }
        let steps = f64::from(self.count.max(2) - 1);
        Ok((0..self.count).map(|k| self.from + (to - self.from) * (f64::from(k) / steps)).collect())
    }
}
