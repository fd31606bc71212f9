//! `keyfit verify proof`, `keyfit verify proofs` and `keyfit verify simplify`

use std::process::ExitCode;
use std::sync::Mutex;

use clap::Args;
use keyfit::mutation::{Mutated, Mutation, mutate};
use keyfit::proofs::from_json;
use keyfit::reduction::{markdown, reduction};
use keyfit::simplecheck::{Tally, check};
use keyfit::{Track, rewrite::Proof};
use serde_json::{Value, json};

use super::{print, print_json};
use crate::failure::{Failure, NEGATIVE};
use crate::model::read;

/// Replay a proof that `keyfit simplify --json` wrote
#[derive(Args)]
pub struct VerifyProof {
    /// The file; - for stdin
    file: String,
}

impl VerifyProof {
    pub fn run(self) -> Result<ExitCode, Failure> {
        let source = read(&self.file)?;
        let value: Value = serde_json::from_str(&source.text).map_err(Failure::input)?;
        let claims: Vec<&Value> = match value.get("channels").and_then(Value::as_object) {
            Some(channels) => channels.values().collect(),
            None => vec![&value],
        };
        let mut all = true;
        for claim in claims {
            let proof = from_json(claim.get("proof").unwrap_or(claim)).map_err(Failure::input)?;
            match replay(claim, &proof)? {
                None => {
                    let [before, after] = [proof.before, proof.after].map(|place| proof.track(place));
                    let text =
                        |track: Result<Track, _>| track.map(|track| track.describe()).map_err(Failure::input);
                    print(&format!(
                        "{} steps hold: {} = {}\n",
                        proof.steps.len(),
                        text(before)?,
                        text(after)?
                    ))?;
                }
                Some(why) => {
                    all = false;
                    print(&format!("no proof: {why}\n"))?;
                }
            }
        }
        Ok(if all { ExitCode::SUCCESS } else { ExitCode::from(NEGATIVE) })
    }
}

/// Why a proof does not hold, or is not about what stands beside it.
fn replay(claim: &Value, proof: &Proof) -> Result<Option<String>, Failure> {
    let stated = |key: &str| claim.get(key).and_then(Value::as_str).map(Track::parse).transpose();
    let checked = match (stated("before").map_err(Failure::input)?, stated("after").map_err(Failure::input)?)
    {
        (Some(before), Some(after)) => proof.check_about(&before, &after),
        _ => proof.check(),
    };
    Ok(checked.err().map(|why| why.to_string()))
}

/// Prove random tracks simplified, all of which must be accepted, and change proofs, each of which must be rejected or
/// still be one
#[derive(Args)]
pub struct VerifyProofs {
    /// How many tracks
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    tracks: u64,
    /// How many changed proofs must be rejected
    #[arg(long, value_name = "N", default_value_t = 1000)]
    mutants: u64,
    /// Where the random numbers start
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

impl VerifyProofs {
    pub fn run(self) -> Result<ExitCode, Failure> {
        let mutated = mutate(self.tracks, self.mutants, self.seed);
        let kinds =
            || Mutation::ALL.iter().map(|kind| format!("{kind:?}").to_lowercase()).zip(mutated.mutants);
        let Mutated { proofs, steps, faults, .. } = &mutated;
        if self.json {
            let mutants: serde_json::Map<String, Value> = kinds()
                .map(|(kind, [rejected, still])| {
                    (kind, json!({ "rejected": rejected, "still_proofs": still }))
                })
                .collect();
            print_json(&json!({
                "proofs": proofs,
                "steps": steps,
                "rejected": mutated.rejected(),
                "mutants": mutants,
                "faults": faults,
            }))?;
        } else {
            print(&format!(
                "{proofs} proofs of {steps} steps accepted; {} changed proofs rejected:\n",
                mutated.rejected()
            ))?;
            for (kind, [rejected, still]) in kinds() {
                print(&format!("{kind:>13}: {rejected} rejected, {still} still are proofs\n"))?;
            }
            faults.iter().try_for_each(|fault| print(&format!("{fault}\n")))?;
        }
        Ok(if faults.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(NEGATIVE) })
    }
}

/// Simplify random tracks and compare every bit, at random times and parameters
#[derive(Args)]
pub struct VerifySimplify {
    /// How many values to compare
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    pairs: u64,
    /// Where the random numbers start
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Instead print what is saved on the models of all suites and on their derivatives, as Markdown
    #[arg(long, conflicts_with_all = ["pairs", "seed", "json"])]
    table: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

impl VerifySimplify {
    pub fn run(self) -> Result<ExitCode, Failure> {
        if self.table {
            print(&markdown(&reduction().map_err(Failure::input)?))?;
            return Ok(ExitCode::SUCCESS);
        }
        const THREADS: u64 = 2;
        let sum = Mutex::new(Tally::default());
        std::thread::scope(|scope| {
            for k in 0..THREADS {
                let sum = &sum;
                let share = self.pairs / THREADS + u64::from(k < self.pairs % THREADS);
                scope.spawn(move || {
                    let tally = check(share, self.seed.wrapping_mul(THREADS).wrapping_add(k));
                    if let Ok(mut sum) = sum.lock() {
                        sum.add(tally);
                    }
                });
            }
        });
        let tally = sum.into_inner().map_err(Failure::input)?;
        if self.json {
            print_json(&json!({
                "pairs": tally.pairs,
                "tracks": tally.tracks,
                "changed": tally.changed,
                "nodes_before": tally.nodes_before,
                "nodes_after": tally.nodes_after,
                "proofs": tally.proofs,
                "duals": tally.duals,
                "differing": tally.faults.len(),
                "faults": tally.faults,
            }))?;
        } else {
            print(&format!(
                "{} values of {} tracks compared ({} tracks changed, {} nodes became {}); {} proofs replayed, {} dual numbers compared\n{} differ\n",
                tally.pairs,
                tally.tracks,
                tally.changed,
                tally.nodes_before,
                tally.nodes_after,
                tally.proofs,
                tally.duals,
                tally.faults.len(),
            ))?;
            tally.faults.iter().try_for_each(|fault| print(&format!("{fault}\n")))?;
        }
        Ok(if tally.faults.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(NEGATIVE) })
    }
}
