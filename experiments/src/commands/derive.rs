//! `keyfit derive`

use std::process::ExitCode;

use clap::Args;
use keyfit::ir::BuildError;
use keyfit::rewrite::{Options, Variable, chain_rule, derivative, simplify};
use keyfit::{Channel, Track};
use serde_json::{Map, Value, json};

use super::{print, print_json, starts_json};
use crate::failure::Failure;
use crate::model::{Model, ModelArgs};

#[derive(Args)]
pub struct Derive {
    #[command(flatten)]
    model: ModelArgs,
    /// What to differentiate by: t, or a free parameter's name (?t if it is called t)
    #[arg(long, value_name = "NAME")]
    wrt: String,
    /// 1 for the first derivative, 2 for the second
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=2))]
    order: u8,
    /// Only this channel
    #[arg(long)]
    channel: Option<String>,
    /// Print what the chain rule of textbooks gives, with its zeros and ones and with no pole guarded; otherwise what does not
    /// move leaves nothing behind, and the rest is simplified without changing a bit
    #[arg(long)]
    plain: bool,
    /// Print one JSON object: channel → text, free parameters and node counts of the track, of what the chain rule gives and
    /// of what is printed
    #[arg(long)]
    json: bool,
}

impl Derive {
    pub fn run(self) -> Result<ExitCode, Failure> {
        let model = self.model.load(None)?;
        let channels = model.chosen(self.channel.as_deref())?;
        let by = self.variable(&model)?;
        let mut derived: Vec<(&Channel, usize, Track)> = Vec::new();
        for channel in channels {
            let plain = self.times(&channel.track, |track| chain_rule(track, &by))?;
            let track = if self.plain {
                plain.clone()
            } else {
                let track = self.times(&channel.track, |track| derivative(track, &by))?;
                simplify(&track, &Options::default()).map_err(Failure::input)?.track
            };
            let plain = plain.nodes().len();
            derived.push((channel, plain, track));
        }
        if self.json {
            let entry = |(channel, plain, track): &(&Channel, usize, Track)| {
                let entry = json!({
                    "describe": track.describe(),
                    "parameters": starts_json(track),
                    "nodes": track.nodes().len(),
                    "nodes_plain": plain,
                    "nodes_before": channel.track.nodes().len(),
                });
                (channel.name.clone(), entry)
            };
            let channels: Map<String, Value> = derived.iter().map(entry).collect();
            print_json(&json!({ "wrt": self.wrt, "order": self.order, "channels": channels }))?;
        } else {
            for (channel, _, track) in &derived {
                print(&format!("{}{}\n", model.label(&channel.name), track.describe()))?;
            }
        }
        Ok(ExitCode::SUCCESS)
    }

    /// What comes of a track by deriving it as often as asked.
    fn times(
        &self,
        track: &Track,
        derive: impl Fn(&Track) -> Result<Track, BuildError>,
    ) -> Result<Track, Failure> {
        (0..self.order).try_fold(track.clone(), |track, _| derive(&track)).map_err(Failure::input)
    }

    fn variable(&self, model: &Model) -> Result<Variable, Failure> {
        if self.wrt == "t" {
            return Ok(Variable::Time);
        }
        let name = self.wrt.trim_start_matches('?');
        let names = model.parameter_names();
        if names.contains(name) {
            return Ok(Variable::Parameter(name.into()));
        }
        let known = ["t"].into_iter().chain(names);
        let message = format!("--wrt names {}, which is no free parameter of the model", self.wrt);
        Err(Failure::input(message).known(name, "variables", known))
    }
}
