//! Orders and rates of convergence that are known, found again by the whole way: study file, runs, report. `orders/` holds the
//! problems, and `rates.py` there says where the rates come from.

use std::collections::BTreeMap;

use crate::folder::Folder;

/// A record by its columns.
type Record = BTreeMap<String, String>;

fn records(text: &[u8]) -> Vec<Record> {
    csv::Reader::from_reader(text).deserialize().collect::<Result<_, _>>().unwrap()
}

fn number(record: &Record, column: &str) -> f64 {
    record[column].parse().unwrap_or_else(|_| panic!("no {column}: {record:?}"))
}

/// Whether the interval of a column holds a number.
fn holds(record: &Record, column: &str, x: f64) -> bool {
    number(record, &format!("{column} low")) <= x && x <= number(record, &format!("{column} high"))
}

/// The tables of order and of runs of a study in `orders/`.
fn published(name: &str) -> [Vec<Record>; 2] {
    let folder = Folder::new(&format!("orders-{name}"));
    folder.report(&format!("experiments/tests/orders/{name}.toml"));
    ["order", "runs"]
        .map(|table| records(&std::fs::read(folder.0.join(format!("report/data/{table}.csv"))).unwrap()))
}

fn row<'a>(records: &'a [Record], words: &[(&str, &str)]) -> &'a Record {
    let found: Vec<&Record> =
        records.iter().filter(|own| words.iter().all(|(column, word)| own[*column] == *word)).collect();
    assert_eq!(found.len(), 1, "{words:?}");
    found[0]
}

#[test]
fn order_two_is_found_where_nothing_is_left() {
    let [orders, runs] = published("zero");
    let of = |solver: &str| row(&orders, &[("solver", solver)]);
    for (solver, within) in [("gauss-newton", 0.02), ("newton", 0.1)] {
        let found = of(solver);
        assert!((number(found, "order") - 2.0).abs() < within, "{found:?}");
        assert_eq!(found["runs with an order"], "6");
    }
    // superlinear, and not quadratic
    let between = of("bfgs");
    assert!(1.0 < number(between, "order low") && number(between, "order high") < 2.0, "{between:?}");
    for problem in ["zero/one-2", "zero/one-3", "zero/one-4"] {
        // Gauss and Newton's errors are squared without a rest
        let exact = row(&runs, &[("problem", problem), ("solver", "gauss-newton")]);
        assert!((number(exact, "order") - 2.0).abs() < 1e-5, "{exact:?}");
        // of one parameter BFGS is the secant method
        let secant = row(&runs, &[("problem", problem), ("solver", "bfgs")]);
        assert!(holds(secant, "order", (1.0 + 5f64.sqrt()) / 2.0), "{secant:?}");
    }
}

#[test]
fn order_one_is_found_with_its_rate() {
    let mut known = 0;
    for name in ["large", "quadratic"] {
        let [orders, runs] = published(name);
        for line in include_str!("../orders/rates.csv").lines() {
            let [problem, solver, rate] = line.split(',').collect::<Vec<_>>()[..] else { panic!("{line}") };
            let problem = format!("{name}/{problem}");
            if !runs.iter().any(|run| run["problem"] == problem) {
                continue;
            }
            let (run, rate) =
                (row(&runs, &[("problem", &problem), ("solver", solver)]), rate.parse::<f64>().unwrap());
            assert!(holds(run, "rate", rate), "{rate} {run:?}");
            // the smaller eigenvalues are still seen in the first steps
            assert!((number(run, "rate") / rate - 1.0).abs() < 0.01, "{rate} {run:?}");
            assert!((number(run, "order") - 1.0).abs() < 2e-3, "{run:?}");
            assert!(number(run, "steps") >= 4.0);
            known += 1;
            let table = row(&orders, &[("solver", solver)]);
            assert!((number(table, "order") - 1.0).abs() < 1e-3, "{table:?}");
        }
        if name == "large" {
            // the whole Hessian makes it quadratic again
            let newton = row(&orders, &[("solver", "newton")]);
            assert!((number(newton, "order") - 2.0).abs() < 0.1, "{newton:?}");
        }
    }
    assert_eq!(known, include_str!("../orders/rates.csv").lines().count());
}
