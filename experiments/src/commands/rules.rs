//! `keyfit verify rules`

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use clap::{Args, ValueEnum};
use keyfit::rewrite::rules::{Evidence, Kind, Rule, Sides, all_rules};
use keyfit::rulecheck::laws::{CheckedLaw, check_laws};
use keyfit::rulecheck::{Checked, Checks, check};
use keyfit::rulefile;
use keyfit::solver::{Cache, Solver};
use serde_json::{Value, json};

use super::{print, print_json};
use crate::failure::{Failure, NEGATIVE, say};
use crate::model::read;

#[derive(Args)]
pub struct Rules {
    /// Print one JSON object
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// Print the whole catalogue
    #[arg(long)]
    format: Option<Format>,
    /// Check the rules of this TOML file instead of keyfit's own: rows [[rule]] of name, left, right, and as needed when,
    /// claim, witness, why; - for stdin
    #[arg(long, value_name = "FILE")]
    file: Option<String>,
    /// Only rules whose names hold this
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
    /// Check everything but what needs a solver
    #[arg(long)]
    without_solver: bool,
    /// Ask the other solvers on the machine, too, each so long for a rule; they must not contradict the first
    #[arg(long, value_name = "SECONDS")]
    confirm: Option<f64>,
    /// The longest that a solver may take for a rule
    #[arg(long, value_name = "SECONDS", default_value_t = 300.0)]
    limit: f64,
    /// At how many random points each rule is evaluated
    #[arg(long, value_name = "N", default_value_t = 2000)]
    samples: usize,
    /// At how many random points in all MPFR judges the rules by correct rounding. If there are any, it also judges them at
    /// every number of binary16, the rules over the reals at as many points each, and the laws of operations are tried
    #[arg(long, value_name = "N", default_value_t = 200_000)]
    rounding_points: usize,
    /// Where files for the solver and its answers are kept
    #[arg(long, value_name = "FOLDER", default_value = "target/smt")]
    cache: PathBuf,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Md,
    Json,
    Html,
}

impl Rules {
    pub fn run(self) -> Result<ExitCode, Failure> {
        let table = match &self.file {
            Some(path) => rules_of_file(path)?,
            None => all_rules().collect(),
        };
        let mut solvers = if self.without_solver { Vec::new() } else { Solver::all() };
        if self.confirm.is_none() {
            solvers.truncate(1);
        }
        match solvers.first() {
            Some(solver) => say(format!("solver: {}", solver.name)),
            None if self.without_solver => {}
            None => {
                let failure =
                    Failure::input("no SMT solver is on this machine, so no rule can be proved by one");
                return Err(failure.hint(
                    "install one (the Python package bitwuzla, or z3), name one in KEYFIT_SOLVER, or give --without-solver",
                ));
            }
        }
        let by_rounding = table.iter().filter(|rule| rule.evidence() == Some(Evidence::Rounding)).count();
        let checks = Checks {
            solvers,
            cache: Cache::new(&self.cache),
            limit: Duration::try_from_secs_f64(self.limit).map_err(Failure::input)?,
            confirm: Duration::try_from_secs_f64(self.confirm.unwrap_or(0.0)).map_err(Failure::input)?,
            samples: self.samples,
            judged: self.rounding_points.div_ceil(by_rounding.max(1)),
        };
        let rules: Vec<&'static Rule> = table
            .into_iter()
            .filter(|rule| self.only.as_ref().is_none_or(|text| rule.name.contains(text)))
            .collect();
        let checked = all(&rules, &checks)?;
        let laws =
            if self.only.is_none() && self.file.is_none() { check_laws(checks.judged) } else { Vec::new() };
        let green = |row: &Checked| row.holds && (row.shown || self.without_solver);
        match (self.json, self.format) {
            (true, _) | (_, Some(Format::Json)) => print_json(&object(&rules, &checked, &laws))?,
            (_, Some(Format::Md)) => print(&markdown(&rules, &checked, &laws))?,
            (_, Some(Format::Html)) => print(&html(&rules, &checked, &laws))?,
            (_, None) => {
                // of keyfit's own, only what is wrong is news
                for row in checked.iter().filter(|row| self.file.is_some() || !green(row)) {
                    print(&verdict_line(row, green(row)))?;
                }
                for law in &laws {
                    if let Some(fault) = &law.fault {
                        print(&format!("FALSE {}: {fault}\n", law.statement))?;
                    }
                }
                print(&summary_text(&checked, &laws))?;
            }
        }
        let all = checked.iter().all(green) && laws.iter().all(|law| law.fault.is_none());
        Ok(if all { ExitCode::SUCCESS } else { ExitCode::from(NEGATIVE) })
    }
}

fn rules_of_file(path: &str) -> Result<Vec<&'static Rule>, Failure> {
    let source = read(path)?;
    rulefile::rules(&source.text).map_err(|faults| {
        Failure::all(faults.0.iter().map(|fault| Failure::at(&source, fault.span.clone(), fault)))
    })
}

/// What came of one rule, in a line.
fn verdict_line(row: &Checked, green: bool) -> String {
    let word = match (row.holds, green) {
        (false, _) => "FALSE",
        (true, false) => "not proved",
        (true, true) => "holds",
    };
    let mut why = seen(row);
    why.extend((row.samples > 0).then(|| format!("{} points", row.samples)));
    why.extend((row.judged > 0).then(|| format!("{} points by MPFR", row.judged)));
    why.extend(row.notes.iter().cloned());
    format!(
        "{word} {}: {}\n",
        row.name,
        if why.is_empty() { "nothing was checked".into() } else { why.join("; ") }
    )
}

/// What a solver proved, in words.
fn seen(row: &Checked) -> Vec<String> {
    let proved = row.proved.iter().map(|bits| format!("proved at {bits} bits"));
    let laws = Some(&row.laws).filter(|laws| !laws.is_empty());
    proved.chain(laws.map(|laws| format!("where {}", laws.join(", ")))).collect()
}

/// Checks all rules, on two threads: a solver is a process of its own.
fn all(rules: &[&'static Rule], checks: &Checks) -> Result<Vec<Checked>, Failure> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(BTreeMap::new());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some((i, rule)) = {
                    let i = next.fetch_add(1, Ordering::Relaxed);
                    rules.get(i).map(|rule| (i, *rule))
                } {
                    let checked = check(rule, checks);
                    if let Ok(mut done) = done.lock() {
                        done.insert(i, checked);
                    }
                }
            });
        }
    });
    let done = done.into_inner().map_err(Failure::input)?;
    done.into_values().collect::<Result<Vec<_>, _>>().map_err(Failure::input)
}

fn object(rules: &[&'static Rule], checked: &[Checked], laws: &[CheckedLaw]) -> Value {
    let rows: Vec<Value> = rules
        .iter()
        .zip(checked)
        .map(|(rule, row)| {
            let (left, right) = rule.texts();
            json!({
                "name": row.name,
                "kind": row.kind.name(),
                "left": left,
                "right": right,
                "when": conditions(rule),
                "evidence": row.evidence.map(Evidence::name),
                "why": rule.why,
                "holds": row.holds,
                "proved_at_bits": row.proved,
                "by_laws": row.laws,
                "confirmed_by": row.confirmed,
                "samples": row.samples,
                "judged_by_mpfr": row.judged,
                "seconds": row.seconds,
                "notes": row.notes,
            })
        })
        .collect();
    let laws: Vec<Value> = laws
        .iter()
        .map(|law| {
            json!({
                "statement": law.statement,
                "why": law.why,
                "rule": law.rule,
                "points_at_16_bits": law.points[0],
                "points_at_64_bits": law.points[1],
                "fault": law.fault,
            })
        })
        .collect();
    json!({ "rules": rows, "laws": laws, "summary": summary(checked) })
}

fn summary(checked: &[Checked]) -> Value {
    let count = |test: &dyn Fn(&Checked) -> bool| checked.iter().filter(|row| test(row)).count();
    let kind = |kind: Kind| count(&|row| row.kind == kind);
    let evidence = |evidence: Evidence| count(&|row| row.evidence == Some(evidence));
    json!({
        "sound": kind(Kind::Sound),
        "conditional": kind(Kind::Conditional),
        "refused": kind(Kind::Refused),
        "algebra": kind(Kind::Algebra),
        "by_definition": evidence(Evidence::Definition),
        "by_smt": evidence(Evidence::Smt),
        "by_correct_rounding": evidence(Evidence::Rounding),
        "by_lemma": evidence(Evidence::Lemma),
        "proved_at_64_bits": count(&|row| row.proved.contains(&64)),
        "proved_at_64_bits_by_laws": count(&|row| !row.laws.is_empty()),
        "proved_at_32_bits_only": count(&|row| row.proved.iter().max() == Some(&32)),
        "proved_at_16_bits_only": count(&|row| row.proved.iter().max() == Some(&16)),
        "confirmed": count(&|row| !row.confirmed.is_empty()),
        "not_proved": count(&|row| !row.shown),
        "false": count(&|row| !row.holds),
        "points": checked.iter().map(|row| row.samples).sum::<usize>(),
        "points_by_mpfr": checked.iter().map(|row| row.judged).sum::<usize>(),
    })
}

fn summary_text(checked: &[Checked], laws: &[CheckedLaw]) -> String {
    let summary = summary(checked);
    let n = |key: &str| summary[key].as_u64().unwrap_or(0);
    let mut text = format!(
        "{} rules {} every bit, {} of them under conditions: {} by definition, {} by SMT, {} by correct rounding, {} by lemma.\n\
         {} look right and are refused, each with its witness; {} hold over the reals.\n",
        n("sound") + n("conditional"),
        if n("false") == 0 { "keep" } else { "claim to keep" },
        n("conditional"),
        n("by_definition"),
        n("by_smt"),
        n("by_correct_rounding"),
        n("by_lemma"),
        n("refused"),
        n("algebra"),
    );
    if checked.iter().any(|row| !row.proved.is_empty()) {
        text += &format!(
            "A solver proved {} at 64 bits, {} of them by laws of their operations; {} of the others at 32 and {} at 16 bits; another solver confirmed {}; {} are not proved.\n",
            n("proved_at_64_bits"),
            n("proved_at_64_bits_by_laws"),
            n("proved_at_32_bits_only"),
            n("proved_at_16_bits_only"),
            n("confirmed"),
            n("not_proved"),
        );
    }
    if n("points") > 0 {
        text += &format!("{} points were evaluated; {} rules are false.\n", n("points"), n("false"));
    }
    if n("points_by_mpfr") > 0 {
        let [half, double] = [0, 1].map(|k| laws.iter().map(|law| law.points[k]).sum::<u64>());
        text += &format!(
            "MPFR judged rules by correct rounding and over the reals at {} points; {} laws were tried at {half} points of 16 bits and {double} of 64.\n",
            n("points_by_mpfr"),
            laws.len(),
        );
    }
    text
}

fn conditions(rule: &Rule) -> Vec<String> {
    match rule.sides {
        Sides::Formulas(..) => rule.when.iter().map(|condition| condition.to_string()).collect(),
        Sides::Custom(custom) => {
            Some(custom.asks()).filter(|asks| !asks.is_empty()).map(str::to_owned).into_iter().collect()
        }
    }
}

/// The columns of the catalogue.
fn cells(rule: &Rule, row: &Checked) -> [String; 6] {
    let (left, right) = rule.texts();
    let sign = if row.kind == Kind::Refused { "≠" } else { "=" };
    let witness = if row.kind == Kind::Refused || !row.holds { row.notes.clone() } else { Vec::new() };
    let word = if row.holds { "" } else { "FALSE: " };
    [
        row.name.to_owned(),
        format!("{left} {sign} {right}"),
        conditions(rule).join("; "),
        row.kind.name().to_owned(),
        row.evidence
            .map(|evidence| evidence.name().to_owned())
            .into_iter()
            .chain(seen(row))
            .collect::<Vec<_>>()
            .join(", "),
        format!("{word}{}", [rule.why.to_owned()].into_iter().chain(witness).collect::<Vec<_>>().join(": ")),
    ]
}

const COLUMNS: [&str; 6] = ["rule", "sides", "where", "kind", "evidence", "why"];

fn markdown(rules: &[&'static Rule], checked: &[Checked], laws: &[CheckedLaw]) -> String {
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let escape = |text: String| text.replace('|', "\\|");
    let mut text = line(&COLUMNS.map(str::to_owned)) + &line(&COLUMNS.map(|_| "---".to_owned()));
    for (rule, row) in rules.iter().zip(checked) {
        text += &line(&cells(rule, row).map(escape));
    }
    format!("# The rules of rewriting\n\n{}\n{text}", summary_text(checked, laws))
}

fn html(rules: &[&'static Rule], checked: &[Checked], laws: &[CheckedLaw]) -> String {
    let escape = |text: &str| text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let line = |tag: &str, cells: &[String]| {
        let cells: String = cells.iter().map(|cell| format!("<{tag}>{}</{tag}>", escape(cell))).collect();
        format!("<tr>{cells}</tr>\n")
    };
    let rows: String = rules.iter().zip(checked).map(|(rule, row)| line("td", &cells(rule, row))).collect();
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>keyfit's rewrite rules</title>\n<table>\n{}{rows}</table>\n<pre>{}</pre></html>\n",
        line("th", &COLUMNS.map(str::to_owned)),
        escape(&summary_text(checked, laws)),
    )
}
