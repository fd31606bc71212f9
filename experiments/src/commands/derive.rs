//! `keyfit derive`

use std::process::ExitCode;

use clap::Args;
use keyfit::ir::BuildError;
use keyfit::rewrite::{
    Options, Variable, chain_rule, derivative, exact_heading, simplify, simplify_over_reals,
};
use keyfit::{Channel, Track};
use serde_json::{Map, Value, json};

use super::known::Known;
use super::{print, print_json, starts_json};
use crate::failure::{Failure, say};
use crate::model::{Model, ModelArgs};

#[derive(Args)]
pub struct Derive {
    #[command(flatten)]
    model: ModelArgs,
    /// What to differentiate by, one derivative each: t, or free parameters' names (?t if one is called t)
    #[arg(
        long,
        value_name = "NAME,…",
        value_delimiter = ',',
        required_unless_present_any = ["jacobian", "heading"]
    )]
    wrt: Vec<String>,
    /// Differentiate each channel by each of its free parameters
    #[arg(long, conflicts_with = "wrt")]
    jacobian: bool,
    /// Instead of derivatives the direction of travel, in radians, of a point that moves by these two channels
    #[arg(long, value_name = "X,Y", value_parser = two, conflicts_with_all = ["wrt", "jacobian", "order", "channel", "plain"])]
    heading: Option<[String; 2]>,
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
    /// Simplify over the reals: smaller, but with other bits, and another value where something is infinite or divided by zero
    #[arg(long, conflicts_with = "plain")]
    algebra: bool,
    #[command(flatten)]
    known: Known,
    /// Print one JSON object: channel → what is differentiated by → text, free parameters and node counts of the track, of
    /// what the chain rule gives and of what is printed
    #[arg(long)]
    json: bool,
}

/// A derivative of one channel.
struct Derived<'a> {
    channel: &'a Channel,
    by: String,
    plain_nodes: usize,
    track: Track,
}

impl Derive {
    pub fn run(self) -> Result<ExitCode, Failure> {
        let model = self.model.load(None)?;
        if self.algebra {
            say("simplified over the reals: the bits are not those of the derivative");
        }
        let equal = if self.algebra { "over the reals" } else { "bit for bit" };
        if let Some([x, y]) = &self.heading {
            let track = self.along(&model, x, y)?;
            if self.json {
                print_json(&json!({ "heading": entry(&track), "equal": equal }))?;
            } else {
                print(&format!("{}\n", track.describe()))?;
            }
            return Ok(ExitCode::SUCCESS);
        }
        let mut derived: Vec<Derived> = Vec::new();
        for channel in model.chosen(self.channel.as_deref())? {
            for (by, variable) in self.variables(&model, channel)? {
                derived.push(self.derive(&model, channel, by, &variable)?);
            }
        }
        if self.json {
            let mut channels: Map<String, Value> = Map::new();
            for Derived { channel, by, plain_nodes, track } in &derived {
                let mut entry = entry(track);
                entry["nodes_plain"] = (*plain_nodes).into();
                entry["nodes_before"] = channel.track.nodes().len().into();
                let of = channels.entry(channel.name.clone()).or_insert_with(|| json!({}));
                of[by] = entry;
            }
            print_json(&json!({ "order": self.order, "equal": equal, "channels": channels }))?;
            return Ok(ExitCode::SUCCESS);
        }
        let one = self.wrt.len() == 1;
        for Derived { channel, by, track, .. } in &derived {
            let label = match self.order {
                _ if one => model.label(&channel.name),
                1 => format!("d{}/d{by}: ", channel.name),
                _ => format!("d²{}/d{by}²: ", channel.name),
            };
            print(&format!("{label}{}\n", track.describe()))?;
        }
        Ok(ExitCode::SUCCESS)
    }

    fn derive<'a>(
        &self,
        model: &Model,
        channel: &'a Channel,
        by: String,
        variable: &Variable,
    ) -> Result<Derived<'a>, Failure> {
        let plain = self.times(&channel.track, |track| chain_rule(track, variable))?;
        let plain_nodes = plain.nodes().len();
        let track = if self.plain {
            plain
        } else {
            let track = self.times(&channel.track, |track| derivative(track, variable))?;
            self.simple(model, &channel.name, &track)?
        };
        Ok(Derived { channel, by, plain_nodes, track })
    }

    /// What comes of a track by deriving it as often as asked.
    fn times(
        &self,
        track: &Track,
        derive: impl Fn(&Track) -> Result<Track, BuildError>,
    ) -> Result<Track, Failure> {
        (0..self.order).try_fold(track.clone(), |track, _| derive(&track)).map_err(Failure::input)
    }

    fn simple(&self, model: &Model, channel: &str, track: &Track) -> Result<Track, Failure> {
        let channel = model.channel(channel).unwrap_or_default();
        let options = Options::with_bounds(self.known.bounds(model, channel)?);
        let simple = if self.algebra {
            simplify_over_reals(track, &options)
        } else {
            simplify(track, &options).map(|simplified| simplified.track)
        };
        simple.map_err(Failure::input)
    }

    fn along(&self, model: &Model, x: &str, y: &str) -> Result<Track, Failure> {
        let channel = |name: &str| model.chosen(Some(name)).map(<[Channel]>::first);
        let (Some(along_x), Some(along_y)) = (channel(x)?, channel(y)?) else {
            return Err(Failure::input("--heading takes two channels"));
        };
        let heading = exact_heading(&along_x.track, &along_y.track).map_err(Failure::input)?;
        self.simple(model, x, &heading)
    }

    /// What a channel is differentiated by.
    fn variables(&self, model: &Model, channel: &Channel) -> Result<Vec<(String, Variable)>, Failure> {
        let parameter = |name: &str| (name.to_owned(), Variable::Parameter(name.to_owned()));
        if self.jacobian {
            return Ok(channel.track.free_parameters().iter().map(|p| parameter(p.name())).collect());
        }
        let variable = |wrt: &String| {
            if wrt == "t" {
                return Ok((wrt.clone(), Variable::Time));
            }
            let name = wrt.trim_start_matches('?');
            let names = model.parameter_names();
            if names.contains(name) {
                return Ok(parameter(name));
            }
            let known = ["t"].into_iter().chain(names);
            let message = format!("--wrt names {wrt}, which is no free parameter of the model");
            Err(Failure::input(message).known(name, "variables", known))
        };
        self.wrt.iter().map(variable).collect()
    }
}

fn two(text: &str) -> Result<[String; 2], String> {
    let (x, y) = text.split_once(',').ok_or("it takes two channels, such as x,y")?;
    Ok([x, y].map(|name| name.trim().to_owned()))
}

fn entry(track: &Track) -> Value {
    json!({
        "describe": track.describe(),
        "parameters": starts_json(track),
        "nodes": track.nodes().len(),
    })
}
