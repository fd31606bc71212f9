//! A small study that is kept with its runs, and what is published of it: against its definition in numpy (`reference.py`), and
//! against what COCO's and optimagic's own code makes of the same runs (`others.py`, with cocopp 2.9.1 and optimagic 0.5.3).
//!
//! Two definitions differ from theirs, and are not compared. COCO's figures of many functions fill failures up with
//! simulated restarts, where here a failure stays infinite; what is compared is the evaluations of each trial, whose distribution both
//! draw, and the expected running time. optimagic counts as solved what comes near enough in parameters or cost, here it is digits; what is
//! compared is the profile of given costs, at points that it shifts by 1e-10.

use std::collections::BTreeMap;
use std::path::Path;

use keyfit::study::report::{Files, report, unpack};
use keyfit::study::stats::{Costs, Table};
use keyfit::study::{Store, Study};

use crate::{rows, same};

const SOLVERS: [&str; 3] = ["levenberg-marquardt", "gauss-newton", "bfgs"];
const DIGITS: [f64; 4] = [4.0, 6.0, 8.0, 10.0];

/// The study with its runs in a store of its own.
fn kept(name: &str) -> (Study, Store) {
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/statistics/study");
    let study = Study::parse(include_str!("study/study.toml"), &here).unwrap();
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}.runs", std::process::id()));
    let _ = std::fs::remove_file(&path);
    let mut store = Store::create(&path, &study.hash).unwrap();
    unpack(include_str!("study/runs.jsonl"), &study, &mut store).unwrap();
    (study, store)
}

/// The records of a table of the report, by their columns.
fn records(files: &Files, name: &str) -> Vec<BTreeMap<String, String>> {
    let text = &files[&format!("data/{name}.csv")];
    csv::Reader::from_reader(text.as_slice()).deserialize().collect::<Result<_, _>>().unwrap()
}

fn lines(name: &str) -> impl Iterator<Item = Vec<&'static str>> {
    let own = include_str!("others.csv").lines().map(|line| line.split(',').collect::<Vec<_>>());
    own.filter(move |words| words[0] == name).map(|words| words[1..].to_vec())
}

fn numbers(words: &[&str]) -> Vec<f64> {
    words.iter().map(|word| word.parse().unwrap()).collect()
}

fn to_digits(table: &Table, i: usize) -> Costs {
    table.costs(|run| run.to_digits[i])
}

fn solver(name: &str) -> usize {
    SOLVERS.iter().position(|own| *own == name).unwrap()
}

#[test]
fn tables_are_what_their_definitions_say() {
    let (study, mut store) = kept("published");
    let files = report(&study, include_str!("study/study.toml"), &mut store).unwrap();
    let mut compared = 0;
    // shares: the table, the column that says what they are of, and the one that they stand in
    let mut shares = |table: &str, head: Option<(&str, f64)>, column: &str, shares: &[f64]| {
        let records = records(&files, table);
        for (name, share) in SOLVERS.iter().zip(shares) {
            let own = |record: &&BTreeMap<String, String>| {
                record["solver"] == *name && head.is_none_or(|(word, x)| record[word].parse() == Ok(x))
            };
            let record = records.iter().find(own).unwrap();
            same(record[column].parse().unwrap(), *share);
            compared += 1;
        }
    };
    for row in rows("data") {
        shares("data", Some(("τ", row[0])), &format!("≤ {}", row[1]), &row[2..]);
    }
    for row in rows("performance") {
        shares("performance", Some(("digits", row[0])), &format!("≤ {} ×", row[1]), &row[2..]);
    }
    for row in rows("ecdf") {
        shares("solvers", None, &format!("≥ {} digits", row[0]), &row[1..]);
    }
    assert_eq!(compared, 3 * (4 * 4 + 4 * 5 + 4));
    let problems = records(&files, "problems");
    for row in rows("expected") {
        let record = &problems[row[1] as usize * SOLVERS.len() + row[2] as usize];
        let expected: f64 = record[&format!("expected evaluations to {} digits", row[0])].parse().unwrap();
        same(expected, row[3]);
    }
}

#[test]
fn curves_are_what_their_definitions_say() {
    let (study, mut store) = kept("curves");
    let table = Table::load(&study, &mut store).unwrap();
    for (i, tau) in study.tau.iter().enumerate() {
        let profile =
            table.costs(|run| run.to_tau[i] / (table.count(run.job.problem) as f64 + 1.0)).profile();
        let own: Vec<_> = rows("curve").into_iter().filter(|row| row[0] == *tau).collect();
        // every rise of the curve is one of theirs
        for solver in 0..SOLVERS.len() {
            assert!(profile.rises(solver).iter().all(|x| own.iter().any(|row| row[1] == *x)));
            own.iter().for_each(|row| same(profile.at(solver, row[1]), row[2 + solver]));
        }
    }
}

#[test]
fn profiles_are_those_of_optimagic() {
    let (study, mut store) = kept("optimagic");
    let table = Table::load(&study, &mut store).unwrap();
    let mut compared = 0;
    for line in lines("profile") {
        let i = DIGITS.iter().position(|d| line[0].parse() == Ok(*d)).unwrap();
        let profile = to_digits(&table, i).ratios(None).profile();
        for point in numbers(&line[2..]).chunks(2) {
            same(profile.at(solver(line[1]), point[0]), point[1]);
            compared += 1;
        }
    }
    assert!(compared > 200, "{compared}");
}

#[test]
fn running_times_are_those_of_coco() {
    let (study, mut store) = kept("coco");
    let files = report(&study, include_str!("study/study.toml"), &mut store).unwrap();
    let table = Table::load(&study, &mut store).unwrap();
    let problems = records(&files, "problems");
    let mut finite = 0;
    for line in lines("ert") {
        let name = format!("nist/{}", line[0]);
        let own = problems.iter().find(|own| own["problem"] == name && own["solver"] == line[1]).unwrap();
        for (d, ert) in DIGITS.iter().zip(numbers(&line[2..])) {
            same(own[&format!("expected evaluations to {d} digits")].parse().unwrap(), ert);
            finite += usize::from(ert.is_finite());
        }
    }
    assert!(finite > 40, "{finite}");
    for line in lines("trials") {
        let problem = study.problems.iter().position(|own| own.problem.name == line[0]).unwrap();
        let i = DIGITS.iter().position(|d| line[2].parse() == Ok(*d)).unwrap();
        let mut own: Vec<f64> = table.of(problem, solver(line[1])).map(|run| run.to_digits[i]).collect();
        own.sort_by(f64::total_cmp);
        assert_eq!(own, numbers(&line[3..]), "{line:?}");
    }
}
