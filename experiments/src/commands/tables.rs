//! `keyfit solvers` and `keyfit ops`: the tables of the code, printed.

use std::process::ExitCode;

use clap::Args;
use comfy_table::{Table, presets};
use keyfit::SOLVERS;
use keyfit::ir::Op;
use serde_json::{Value, json};

use super::{print, print_json};
use crate::failure::Failure;

#[derive(Args)]
pub struct Solvers {
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

impl Solvers {
    pub fn run(self) -> Result<ExitCode, Failure> {
        if self.json {
            let rows: Vec<Value> = SOLVERS
                .iter()
                .map(|s| {
                    json!({ "name": s.name, "summary": s.summary, "iterations": s.iterations, "reference": s.reference })
                })
                .collect();
            print_json(&json!({ "solvers": rows }))?;
        } else {
            for solver in SOLVERS {
                print(&format!(
                    "{}\n    {}\n    at most {} iterations unless told otherwise\n    {}\n",
                    solver.name, solver.summary, solver.iterations, solver.reference
                ))?;
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

#[derive(Args)]
pub struct Ops {
    /// Print one JSON object
    #[arg(long, conflicts_with = "markdown")]
    json: bool,
    /// Print a Markdown table
    #[arg(long)]
    markdown: bool,
}

impl Ops {
    pub fn run(self) -> Result<ExitCode, Failure> {
        if self.json {
            let rows: Vec<Value> = Op::ALL
                .iter()
                .map(|op| {
                    json!({
                        "name": op.name(),
                        "word": op.word(),
                        "infix": op.infix().map(|infix| infix.sign.to_string()),
                        "operands": op.operands(),
                        "meaning": op.doc(),
                    })
                })
                .collect();
            print_json(&json!({ "operations": rows }))?;
            return Ok(ExitCode::SUCCESS);
        }
        let mut table = Table::new();
        table.load_style(if self.markdown { presets::ASCII_MARKDOWN } else { presets::NOTHING });
        table.set_header(["name", "formula", "meaning"]);
        for op in Op::ALL {
            let call = format!("{}({})", op.word(), op.operands().join(", "));
            let formula = match (op.infix(), op.operands()) {
                (Some(infix), [a, b]) => format!("{a} {} {b}", infix.sign),
                _ => call,
            };
            // a bar would end a Markdown cell
            let meaning = if self.markdown { op.doc().replace('|', "\\|") } else { op.doc().into() };
            table.add_row([op.name().to_string(), formula, meaning]);
        }
        print(&format!("{}\n", table.to_string().lines().map(str::trim_end).collect::<Vec<_>>().join("\n")))?;
        Ok(ExitCode::SUCCESS)
    }
}
