//! `keyfit solvers`, `keyfit ops` and `keyfit easings`: the tables of the code, printed.

use std::process::ExitCode;

use clap::Args;
use comfy_table::{Table, presets};
use keyfit::SOLVERS;
use keyfit::ir::{Easing, Op};
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
        let rows = Op::ALL.iter().map(|op| {
            let call = format!("{}({})", op.word(), op.operands().join(", "));
            let formula = match (op.infix(), op.operands()) {
                (Some(infix), [a, b]) => format!("{a} {} {b}", infix.sign),
                _ => call,
            };
            [op.name().into(), formula, op.doc().into()]
        });
        print(&table(["name", "formula", "meaning"], rows, self.markdown))?;
        Ok(ExitCode::SUCCESS)
    }
}

#[derive(Args)]
pub struct Easings {
    /// Print one JSON object
    #[arg(long, conflicts_with = "markdown")]
    json: bool,
    /// Print a Markdown table
    #[arg(long)]
    markdown: bool,
}

impl Easings {
    pub fn run(self) -> Result<ExitCode, Failure> {
        const PLACES: [f64; 3] = [0.25, 0.5, 0.75];
        let easings = Easing::all().filter_map(|easing| Some((easing, easing.op()?)));
        if self.json {
            let rows: Vec<Value> = easings
                .map(|(easing, op)| json!({ "name": easing.to_string(), "word": op.word(), "meaning": op.doc() }))
                .collect();
            print_json(&json!({ "easings": rows }))?;
            return Ok(ExitCode::SUCCESS);
        }
        let rows = easings.map(|(easing, op)| {
            let [a, b, c] = PLACES.map(|u| format!("{:.6}", easing.apply(&u)));
            [easing.to_string(), op.doc().into(), a, b, c]
        });
        print(&table(["easing", "curve", "at 0.25", "at 0.5", "at 0.75"], rows, self.markdown))?;
        Ok(ExitCode::SUCCESS)
    }
}

fn table<const N: usize>(
    header: [&str; N],
    rows: impl Iterator<Item = [String; N]>,
    markdown: bool,
) -> String {
    let mut table = Table::new();
    table.load_style(if markdown { presets::ASCII_MARKDOWN } else { presets::NOTHING }).set_header(header);
    // a bar would end a Markdown cell
    let cell = |text: String| if markdown { text.replace('|', "\\|") } else { text };
    table.add_rows(rows.map(|row| row.map(cell)));
    table.to_string().lines().map(str::trim_end).collect::<Vec<_>>().join("\n") + "\n"
}
