//! `keyfit compare`

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use comfy_table::{CellAlignment, Table, presets};
use indicatif::{ProgressBar, ProgressStyle};
use keyfit::SOLVERS;
use keyfit::chart::convergence;
use keyfit::comparison::{LEVELS, Run, Summary, compare, summarize};
use keyfit::suite::{Problem, SuiteError, suite, suite_names};
use serde_json::{Value, json};

use super::fit::{Limits, evidence_json, solver};
use super::{csv_text, json_number, print, print_json, write_whole};
use crate::failure::{Failure, say};

#[derive(Args)]
pub struct Compare {
    /// The suites; all of them unless said otherwise
    suites: Vec<String>,
    /// The solvers; all of them unless said otherwise
    #[arg(long)]
    solver: Vec<String>,
    /// Only these problems
    #[arg(long)]
    problem: Vec<String>,
    #[command(flatten)]
    limits: Limits,
    /// Where runs.csv, summary.csv, times.csv and one convergence chart a problem are written
    #[arg(long, default_value = "keyfit-compare")]
    out: PathBuf,
    /// Print one JSON object
    #[arg(long, conflicts_with = "markdown")]
    json: bool,
    /// Print a table of problems and solvers in Markdown
    #[arg(long)]
    markdown: bool,
}

impl Compare {
    pub fn run(self) -> Result<ExitCode, Failure> {
        let solvers = match self.solver.is_empty() {
            true => SOLVERS.iter().collect(),
            false => self.solver.iter().map(|name| solver(name)).collect::<Result<Vec<_>, _>>()?,
        };
        let problems = self.problems()?;
        let options = self.limits.options()?;
        fs::create_dir_all(&self.out).map_err(|e| {
            Failure::input(format!("{}: {e}", self.out.display())).hint("choose a folder with --out")
        })?;
        let starts: usize = problems.iter().map(|problem| problem.starts.len()).sum();
        // drawn only where stderr is a terminal
        let progress = ProgressBar::new((starts * solvers.len()) as u64);
        if let Ok(style) = ProgressStyle::with_template("{bar:40} {pos}/{len} {msg} ({eta})") {
            progress.set_style(style);
        }
        let runs = compare(&problems, &solvers, &options, |run| {
            progress.set_message(format!("{} {}", run.problem, run.solver));
            progress.inc(1);
        });
        progress.finish_and_clear();
        let summary = summarize(&runs, &solvers);
        if self.json {
            print_json(&to_json(&runs, &summary))?;
        } else if self.markdown {
            print(&markdown(&runs, &summary))?;
        } else {
            print(&format!("{}\n\n{}\n", runs_table(&runs), summary_table(&summary)))?;
        }
        self.write(&problems, &runs, &summary)?;
        say(format!(
            "wrote runs.csv, summary.csv, times.csv and the convergence charts to {}",
            self.out.display()
        ));
        Ok(ExitCode::SUCCESS)
    }

    fn problems(&self) -> Result<Vec<Problem>, Failure> {
        let suites = if self.suites.is_empty() { suite_names() } else { self.suites.clone() };
        let mut problems = Vec::new();
        for name in &suites {
            problems.extend(suite(name).map_err(|e| match e {
                SuiteError::NoSuite { .. } => {
                    Failure::input(e).known(name, "suites", suite_names().iter().map(String::as_str))
                }
                _ => Failure::input(e),
            })?);
        }
        let known = |name: &str| problems.iter().any(|problem| problem.name.eq_ignore_ascii_case(name));
        if let Some(stray) = self.problem.iter().find(|name| !known(name)) {
            let message = format!("there is no problem {stray} in {}", suites.join(", "));
            let names = problems.iter().map(|problem| problem.name.as_str());
            return Err(Failure::input(message).known(stray, "problems", names));
        }
        let wanted = |name: &str| self.problem.iter().any(|wanted| wanted.eq_ignore_ascii_case(name));
        problems.retain(|problem| self.problem.is_empty() || wanted(&problem.name));
        Ok(problems)
    }

    fn write(&self, problems: &[Problem], runs: &[Run], summary: &[Summary]) -> Result<(), Failure> {
        let file = |name: &str, text: &str| write_whole(&self.out.join(name), text.as_bytes());
        file("runs.csv", &csv(RUN_COLUMNS, runs.iter().map(run_cells))?)?;
        file("summary.csv", &csv(SUMMARY_COLUMNS, summary.iter().map(summary_cells))?)?;
        file(
            "times.csv",
            &csv(["suite", "problem", "start", "solver", "seconds"], runs.iter().map(time_cells))?,
        )?;
        for problem in problems {
            let own = |run: &&Run| run.suite == problem.suite && run.problem == problem.name;
            let own: Vec<&Run> = runs.iter().filter(own).collect();
            let svg =
                convergence(&format!("{} {}", problem.suite, problem.name), &own).map_err(Failure::input)?;
            file(&format!("{}-{}.svg", problem.suite, problem.name), &svg)?;
        }
        Ok(())
    }
}

const RUN_COLUMNS: [&str; 11] = [
    "suite",
    "problem",
    "start",
    "solver",
    "lre",
    "status",
    "converged",
    "final_residual",
    "residual_evaluations",
    "jacobian_evaluations",
    "local_minimum",
];

fn run_cells(run: &Run) -> [String; 11] {
    [
        run.suite.clone(),
        run.problem.clone(),
        run.start.to_string(),
        run.solver.into(),
        format!("{:.2}", run.lre),
        run.status.clone(),
        run.converged.to_string(),
        format!("{:?}", run.final_residual),
        run.residual_evaluations.to_string(),
        run.jacobian_evaluations.to_string(),
        run.local_minimum.to_string(),
    ]
}

const SUMMARY_COLUMNS: [&str; 9] = [
    "solver",
    "runs",
    "lre4",
    "lre6",
    "lre8",
    "lre10",
    "other_minima",
    "false_claims",
    "residual_evaluations",
];

fn summary_cells(summary: &Summary) -> [String; 9] {
    let [four, six, eight, ten] = summary.reached.map(|count| count.to_string());
    [
        summary.solver.into(),
        summary.runs.to_string(),
        four,
        six,
        eight,
        ten,
        summary.other_minima.to_string(),
        summary.false_claims.to_string(),
        summary.residual_evaluations.to_string(),
    ]
}

fn time_cells(run: &Run) -> [String; 5] {
    let seconds = format!("{:?}", run.time.as_secs_f64());
    [run.suite.clone(), run.problem.clone(), run.start.to_string(), run.solver.into(), seconds]
}

fn csv<const N: usize>(
    header: [&str; N],
    rows: impl Iterator<Item = [String; N]>,
) -> Result<String, Failure> {
    csv_text([header.map(String::from)].into_iter().chain(rows).map(Vec::from))
}

fn runs_table(runs: &[Run]) -> String {
    let rows = runs.iter().map(|run| {
        let [suite, problem, start, solver, lre, mut status, _, _, residuals, jacobians, _] = run_cells(run);
        if run.local_minimum {
            status += ", at a known local minimum";
        }
        [suite, problem, start, solver, lre, residuals, jacobians, status]
    });
    let header = ["suite", "problem", "start", "solver", "LRE", "residual evals", "Jacobian evals", "status"];
    aligned(header, rows, &[2, 4, 5, 6])
}

fn summary_table(summary: &[Summary]) -> String {
    let mut header = SUMMARY_COLUMNS.map(str::to_string);
    for (cell, level) in header[2..6].iter_mut().zip(LEVELS) {
        *cell = format!("LRE ≥ {level}");
    }
    for (cell, words) in header[6..].iter_mut().zip(["other minima", "false claims", "residual evals"]) {
        *cell = words.into();
    }
    aligned(
        header.each_ref().map(String::as_str),
        summary.iter().map(summary_cells),
        &[1, 2, 3, 4, 5, 6, 7, 8],
    )
}

/// One row a start, one column a solver: the digits that are right and the evaluations of the residuals that they took.
fn markdown(runs: &[Run], summary: &[Summary]) -> String {
    let line =
        |cells: &mut dyn Iterator<Item = String>| format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "));
    let names = || summary.iter().map(|s| s.solver.to_owned());
    let mut text = "Digits that are right (LRE, at most 11) in how many evaluations of the residuals; without six of them, how the run ended.\n\n".to_owned();
    text += &line(&mut ["problem".to_owned(), "start".to_owned()].into_iter().chain(names()));
    text += &line(&mut ["---".to_owned(), "---".to_owned()].into_iter().chain(names().map(|_| "---".into())));
    for row in runs.chunk_by(|a, b| (&a.suite, &a.problem, a.start) == (&b.suite, &b.problem, b.start)) {
        // the fewest evaluations among those that have six digits
        let best = row.iter().filter(|run| run.lre >= LEVELS[1]).map(|run| run.residual_evaluations).min();
        let cell = |run: &Run| {
            let evaluations = run.residual_evaluations;
            match run.lre {
                lre if lre >= LEVELS[1] && Some(evaluations) == best => {
                    format!("**{lre:.1} in {evaluations}**")
                }
                lre if lre >= LEVELS[0] => format!("{lre:.1} in {evaluations}"),
                _ if run.local_minimum => format!("local minimum in {evaluations}"),
                _ if run.converged => format!("FALSE CLAIM in {evaluations}"),
                _ => run.status.split(':').next().unwrap_or_default().to_owned(),
            }
        };
        let head = row.first().map(|run| [run.problem.clone(), run.start.to_string()]);
        text += &line(&mut head.into_iter().flatten().chain(row.iter().map(cell)));
    }
    text
}

fn aligned<const N: usize>(
    header: [&str; N],
    rows: impl Iterator<Item = [String; N]>,
    numbers: &[usize],
) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header(header).add_rows(rows);
    for &column in numbers {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table.to_string().lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
}

fn to_json(runs: &[Run], summary: &[Summary]) -> Value {
    let run = |run: &Run| {
        json!({
            "suite": run.suite,
            "problem": run.problem,
            "start": run.start,
            "solver": run.solver,
            "lre": run.lre,
            "status": run.status,
            "converged": run.converged,
            "local_minimum": run.local_minimum,
            "final_residual": json_number(run.final_residual),
            "residual_evaluations": run.residual_evaluations,
            "jacobian_evaluations": run.jacobian_evaluations,
            "evidence": run.evidence.map(evidence_json),
            "seconds": run.time.as_secs_f64(),
        })
    };
    let line = |s: &Summary| {
        let [lre4, lre6, lre8, lre10] = s.reached;
        json!({
            "solver": s.solver,
            "runs": s.runs,
            "lre4": lre4,
            "lre6": lre6,
            "lre8": lre8,
            "lre10": lre10,
            "other_minima": s.other_minima,
            "false_claims": s.false_claims,
            "residual_evaluations": s.residual_evaluations,
        })
    };
    json!({
        "runs": runs.iter().map(run).collect::<Vec<_>>(),
        "summary": summary.iter().map(line).collect::<Vec<_>>(),
    })
}
