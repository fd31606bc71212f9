//! `keyfit describe`

use std::process::ExitCode;

use clap::Args;
use keyfit::ir::cinematic::{EffectKey, SceneTrack};
use keyfit::rewrite::identify::combinations;
use keyfit::{Channel, Target};
use serde_json::{Map, Value, json};

use super::{Notation, print, print_json, starts_json};
use crate::failure::{Failure, say};
use crate::model::{Document, Model, ModelArgs};

#[derive(Args)]
pub struct Describe {
    #[command(flatten)]
    model: ModelArgs,
    /// How tracks are printed
    #[arg(long, value_enum, default_value_t)]
    format: Notation,
    /// Print one JSON object: channel → text, free parameters and node count
    #[arg(long)]
    json: bool,
}

impl Describe {
    pub fn run(self) -> Result<ExitCode, Failure> {
        let model = self.model.load(None)?;
        let combined = combinations(model.channels.iter().map(|channel| &channel.track));
        if self.json {
            let channels: Map<String, Value> = model
                .channels
                .iter()
                .enumerate()
                .map(|(i, Channel { name, track, .. })| {
                    let mut entry = json!({
                        "describe": track.describe(),
                        "parameters": starts_json(track),
                        "nodes": track.nodes().len(),
                    });
                    for (what, targets) in targets(&model, i) {
                        let target =
                            |t: &Target| json!({ "time": t.time, "value": t.value, "weight": t.weight });
                        entry[what.replace(' ', "_")] = targets.iter().map(target).collect();
                    }
                    if self.format == Notation::Fpcore {
                        entry["fpcore"] = self.format.text(&model, i, track)?.into();
                    }
                    Ok((name.clone(), entry))
                })
                .collect::<Result<_, Failure>>()?;
            let effects: Vec<Value> = effects(&model)
                .into_iter()
                .map(|key| {
                    let sounds = key
                        .effect
                        .sounds
                        .iter()
                        .map(|s| json!({ "name": s.name, "volume": s.volume, "pitch": s.pitch }));
                    let particles = key.effect.particles.iter().map(
                        |p| json!({ "name": p.name, "count": p.count, "offset": p.offset, "speed": p.speed }),
                    );
                    json!({
                        "tick": key.tick,
                        "sounds": sounds.collect::<Vec<_>>(),
                        "particles": particles.collect::<Vec<_>>(),
                    })
                })
                .collect();
            let mut object = json!({ "channels": channels });
            if !combined.is_empty() {
                let told = combined.iter().map(|combination| {
                    json!({
                        "parameters": combination.parameters,
                        "only_as": combination.only_as,
                        "message": combination.to_string(),
                    })
                });
                object["combinations"] = told.collect();
            }
            if !effects.is_empty() {
                object["effects"] = effects.into();
            }
            print_json(&object)?;
        } else {
            for (i, channel) in model.channels.iter().enumerate() {
                print(&self.format.line(&model, i, &channel.track)?)?;
                let plain = self.format == Notation::Describe;
                for (what, targets) in targets(&model, i).into_iter().filter(|_| plain) {
                    let target = |t: &Target| match t.weight {
                        1.0 => format!("{:?}={:?}", t.time, t.value),
                        weight => format!("{:?}={:?} (weight {weight:?})", t.time, t.value),
                    };
                    let targets: Vec<String> = targets.iter().map(target).collect();
                    print(&format!("{} {what}: {}\n", channel.name, targets.join(", ")))?;
                }
            }
            for EffectKey { tick, effect } in effects(&model) {
                let sounds = effect
                    .sounds
                    .iter()
                    .map(|s| format!("sound {} (volume {:?}, pitch {:?})", s.name, s.volume, s.pitch));
                let particles = effect.particles.iter().map(|p| {
                    format!("{} particles {} (offset {:?}, speed {:?})", p.count, p.name, p.offset, p.speed)
                });
                let all: Vec<String> = sounds.chain(particles).collect();
                print(&format!("tick {tick}: {}\n", all.join(", ")))?;
            }
        }
        if !self.json {
            combined.iter().for_each(say);
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// The targets that the model holds for its channel of this number, for the value and its rates, and what they are called.
fn targets(model: &Model, channel: usize) -> Vec<(String, Vec<Target>)> {
    let Some(Channel { name, targets, .. }) = model.channels.get(channel) else { return Vec::new() };
    let rates = model.own_rates().into_iter().filter(|own| own.channel == *name);
    let rates = rates.map(|own| (format!("{} targets", own.rate.name()), own.targets));
    let all = [("targets".to_string(), targets.clone())].into_iter().chain(rates);
    all.filter(|(_, targets)| !targets.is_empty()).collect()
}

/// What fires in the model, in the order in which it does.
fn effects(model: &Model) -> Vec<&EffectKey> {
    let Document::Cinematic(scene) = &model.document else { return Vec::new() };
    let tracks = scene.tracks().iter().filter_map(|track| match track {
        SceneTrack::Effect(track) => Some(&track.keys),
        _ => None,
    });
    let mut keys: Vec<&EffectKey> = tracks.flatten().collect();
    keys.sort_by_key(|key| key.tick);
    keys
}
