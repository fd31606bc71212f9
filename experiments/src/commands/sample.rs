//! `keyfit sample`

use std::collections::HashMap;
use std::process::ExitCode;

use clap::Args;
use keyfit::autodiff::{evaluate, motion, travel};
use keyfit::ir::scene::last_frame;
use keyfit::{Channel, Track};
use serde_json::{Map, Value, json};

use super::{csv_text, json_number, print, print_json};
use crate::failure::{Failure, Source};
use crate::model::{Model, ModelArgs, number};

#[derive(Args)]
pub struct Sample {
    #[command(flatten)]
    model: ModelArgs,
    /// The times, separated by commas; a scene's frames (k/fps) unless said otherwise
    #[arg(long, value_name = "TIME,…", allow_hyphen_values = true, conflicts_with_all = ["from", "to", "count"])]
    at: Option<String>,
    /// The first of evenly spaced times; 0 unless said otherwise
    #[arg(long, allow_hyphen_values = true)]
    from: Option<f64>,
    /// The last of evenly spaced times; a scene's duration unless said otherwise
    #[arg(long, allow_hyphen_values = true)]
    to: Option<f64>,
    /// How many evenly spaced times; 11 unless said otherwise
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=10_000_000), allow_negative_numbers = true)]
    count: Option<u32>,
    /// Print values as exact arithmetic has them, to so many significant digits (numbers in the model are doubles)
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1000), conflicts_with = "json")]
    digits: Option<u16>,
    /// Print velocity and acceleration too (NAME', NAME''), and of a rect the direction of travel in radians and how fast it
    /// turns (heading, heading'), all exact
    #[arg(long, conflicts_with = "digits")]
    derivatives: bool,
    /// Print one JSON object: t and channels, each a list of numbers ("NaN", "inf" and "-inf" are strings)
    #[arg(long)]
    json: bool,
}

impl Sample {
    pub fn run(self) -> Result<ExitCode, Failure> {
        let model = self.model.load(None)?;
        let times = self.times(&model)?;
        if let Some(digits) = self.digits {
            let column = |track: &Track| -> Result<Vec<String>, Failure> {
                times.iter().map(|&t| exact(track, t, usize::from(digits))).collect()
            };
            let columns =
                model.channels.iter().map(|channel| Ok((channel.name.as_str(), column(&channel.track)?)));
            print(&table(&times, &columns.collect::<Result<Vec<_>, Failure>>()?)?)?;
            return Ok(ExitCode::SUCCESS);
        }
        let columns = if self.derivatives { derivatives(&model, &times) } else { values(&model, &times) };
        if self.json {
            let channels: Map<String, Value> = columns
                .iter()
                .map(|(name, values)| (name.clone(), values.iter().map(|x| json_number(*x)).collect()))
                .collect();
            print_json(&json!({ "t": times, "channels": channels }))?;
            return Ok(ExitCode::SUCCESS);
        }
        let columns: Vec<(&str, Vec<String>)> = columns
            .iter()
            .map(|(name, values)| (name.as_str(), values.iter().map(|value| format!("{value:?}")).collect()))
            .collect();
        print(&table(&times, &columns)?)?;
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
                    number(&source, || span, part)
                })
                .collect();
        }
        let frames = model.frames();
        if let (None, None, None, Some((fps, duration))) = (self.from, self.to, self.count, frames) {
            // one division a tick, never a running sum
            let last = last_frame(duration, fps);
            return match last <= 1e7 {
                true => Ok((0..=last as u64).map(|k| k as f64 / fps).collect()),
                false => Err(Failure::input(format!(
                    "the scene has {last} frames; choose times with --at or --to"
                ))),
            };
        }
        let Some(to) = self.to.or(frames.map(|(_, duration)| duration)) else {
            return Err(
                Failure::input("at which times?").hint("give --at 0,0.5,1 or --from 0 --to 4 --count 9")
            );
        };
        let (from, count) = (self.from.unwrap_or(0.0), self.count.unwrap_or(11));
        if !(to - from).is_finite() {
            return Err(Failure::input(
                "--from and --to must be finite numbers, and so must be the time between them",
            ));
        }
        let steps = f64::from(count.max(2) - 1);
        Ok((0..count).map(|k| from + (to - from) * (f64::from(k) / steps)).collect())
    }
}

/// A column a channel.
fn values(model: &Model, times: &[f64]) -> Vec<(String, Vec<f64>)> {
    let column = |Channel { name, track, .. }: &Channel| {
        let mut values = vec![0.0; times.len()];
        track.sample_into(times, &mut values);
        (name.clone(), values)
    };
    model.channels.iter().map(column).collect()
}

/// Three columns a channel, and two more where something moves in the plane.
fn derivatives(model: &Model, times: &[f64]) -> Vec<(String, Vec<f64>)> {
    let mut columns = Vec::new();
    let mut add = |name: String, values: &mut dyn Iterator<Item = f64>| {
        columns.push((name, values.collect::<Vec<f64>>()));
    };
    let mut along: HashMap<&str, Vec<(f64, f64, f64)>> = HashMap::new();
    for Channel { name, track, .. } in &model.channels {
        let motion = motion(track, times, &[]);
        add(name.clone(), &mut motion.iter().map(|at| at.0));
        add(format!("{name}'"), &mut motion.iter().map(|at| at.1));
        add(format!("{name}''"), &mut motion.iter().map(|at| at.2));
        along.insert(name, motion);
    }
    for mover in model.movers() {
        let [x, y] = ["x", "y"].map(|axis| along.get(format!("{mover}{axis}").as_str()));
        let Some((x, y)) = x.zip(y) else { continue };
        let travel: Vec<(f64, f64)> = x.iter().zip(y).map(|(&x, &y)| travel(x, y)).collect();
        add(format!("{mover}heading"), &mut travel.iter().map(|at| at.0));
        add(format!("{mover}heading'"), &mut travel.iter().map(|at| at.1));
    }
    columns
}

/// CSV: the times, then a column a channel.
fn table(times: &[f64], columns: &[(&str, Vec<String>)]) -> Result<String, Failure> {
    let header = ["t"].into_iter().chain(columns.iter().map(|(name, _)| *name)).map(String::from).collect();
    let row = |(k, t): (usize, &f64)| {
        [format!("{t:?}")].into_iter().chain(columns.iter().map(|(_, values)| values[k].clone())).collect()
    };
    csv_text([header].into_iter().chain(times.iter().enumerate().map(row)))
}

/// The value at `t` to so many digits: evaluated with ever more bits until twice as many change none of the digits.
fn exact(track: &Track, t: f64, digits: usize) -> Result<String, Failure> {
    const MOST_BITS: u32 = 1 << 16;
    let mut bits = 64 + 4 * digits as u32;
    let mut last = String::new();
    while bits <= MOST_BITS {
        let next = evaluate(track, t, &[], bits).to_string_radix(10, Some(digits));
        if next == last {
            return Ok(next);
        }
        (last, bits) = (next, 2 * bits);
    }
    Err(Failure::input(format!("at time {t:?}, {digits} digits do not settle within {MOST_BITS} bits"))
        .hint("the value may lie on a jump or cancel to zero there"))
}
