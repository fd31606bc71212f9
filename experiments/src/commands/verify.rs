//! `keyfit verify`

use std::process::ExitCode;

use clap::{Args, Subcommand};
use keyfit::identities::{Bound, IDENTITIES};
use serde_json::json;

use super::proving::{VerifyProof, VerifySimplify};
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
}

impl Verify {
    pub fn run(self) -> Result<ExitCode, Failure> {
        let json = match self.what {
            What::Identities { json } => json,
            What::Rules(command) => return command.run(),
            What::Simplify(command) => return command.run(),
            What::Proof(command) => return command.run(),
        };
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
}
