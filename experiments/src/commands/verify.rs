//! `keyfit verify`

use std::process::ExitCode;

use clap::{Args, Subcommand};
use keyfit::agreement::agreement;
use keyfit::identities::{Bound, IDENTITIES};
use serde_json::json;

use super::proving::{VerifyProof, VerifyProofs, VerifySimplify};
use super::rules::Rules;
use super::{json_number, print, print_json};
use crate::failure::{Failure, NEGATIVE};

#[derive(Args)]
pub struct Verify {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// Evaluate both sides of identities between tracks and report where they lie apart
    Identities {
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Check the evidence of every rewrite rule: by solver, by sampling, by witness
    Rules(Rules),
    /// Simplify random tracks and compare every bit
    Simplify(VerifySimplify),
    /// Replay a proof that `keyfit simplify --json` wrote
    Proof(VerifyProof),
    /// Prove random tracks simplified, and see changed proofs rejected
    Proofs(VerifyProofs),
    /// Evaluate random tracks in every way - the sampler, the block sampler, dual numbers, the track that describe text
    /// reads to - and compare the bits
    Agreement {
        /// How many (track, time, parameters) at least
        #[arg(long, default_value_t = 1_000_000)]
        triples: u64,
        /// Another seed gives other tracks
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
}

impl Verify {
    pub fn run(self) -> Result<ExitCode, Failure> {
        match self.what {
            What::Identities { json } => identities(json),
            What::Agreement { triples, seed, json } => agree(triples, seed, json),
            What::Rules(command) => command.run(),
            What::Simplify(command) => command.run(),
            What::Proof(command) => command.run(),
            What::Proofs(command) => command.run(),
        }
    }
}

fn agree(triples: u64, seed: u64, json: bool) -> Result<ExitCode, Failure> {
    let run = agreement(triples, seed);
    if json {
        let disagreement = run.disagreement.as_ref().map(|it| {
            json!({
                "way": it.way,
                "track": it.track,
                "time": json_number(it.time),
                "parameters": it.parameters.iter().map(|x| json_number(*x)).collect::<Vec<_>>(),
                "sampled": json_number(it.sampled),
                "found": json_number(it.found),
            })
        });
        print_json(&json!({
            "triples": run.triples,
            "tracks": run.tracks,
            "finite": run.finite,
            "operations_missing": run.operations_missing,
            "shapes_missing": run.shapes_missing,
            "disagreement": disagreement,
        }))?;
        let agreed = run.disagreement.is_none();
        return Ok(if agreed { ExitCode::SUCCESS } else { ExitCode::from(NEGATIVE) });
    }
    print(&format!(
        "{} (track, time, parameters) of {} tracks, {} values finite\n",
        run.triples, run.tracks, run.finite
    ))?;
    if !run.operations_missing.is_empty() || !run.shapes_missing.is_empty() {
        let missing: Vec<String> =
            run.operations_missing.iter().map(|name| name.to_string()).chain(run.shapes_missing).collect();
        print(&format!("too few for all operations and shapes; missing: {}\n", missing.join(" ")))?;
    }
    Ok(match run.disagreement {
        None => {
            print("all ways agree, bit for bit\n")?;
            ExitCode::SUCCESS
        }
        Some(it) => {
            print(&format!(
                "{} gives {:?}, the sampler {:?}\n    {}\n    at {:?}, parameters {:?}\n",
                it.way, it.found, it.sampled, it.track, it.time, it.parameters
            ))?;
            ExitCode::from(NEGATIVE)
        }
    })
}

fn identities(json: bool) -> Result<ExitCode, Failure> {
    let mut rows = Vec::new();
    let mut all = true;
    for identity in IDENTITIES {
        let verdict = identity.check().map_err(Failure::input)?;
        all &= verdict.holds;
        if json {
            rows.push(json!({
                    "name": identity.name,
                    "statement": identity.statement,
                    "left": identity.left,
                    "right": identity.right,
                    "holds": verdict.holds,
                    "points": verdict.points,
                    "differing": verdict.differing,
                    "worst": verdict.worst.map(|(gap, at)| json!({ "difference": json_number(gap), "at": json_number(at) })),
                }));
            continue;
        }
        let claim = match identity.bound {
            Bound::Bits => "the same bits".into(),
            Bound::Within(bound) => format!("within {bound:.1e}"),
            Bound::Apart(by) => format!("apart by {by:?} somewhere"),
        };
        let worst = match verdict.worst {
            Some((gap, at)) => format!("{} differ, most at {at:?}: by {gap:?}", verdict.differing),
            None => "none differs".into(),
        };
        print(&format!(
            "{} {}: {}\n    {} = {}\n    claim: {claim}; {} points, {worst}\n",
            if verdict.holds { "ok  " } else { "FAIL" },
            identity.name,
            identity.statement,
            identity.left,
            identity.right,
            verdict.points,
        ))?;
    }
    if json {
        print_json(&json!({ "identities": rows }))?;
    }
    Ok(if all { ExitCode::SUCCESS } else { ExitCode::from(NEGATIVE) })
}
