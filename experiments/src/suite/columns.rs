//! Columns of data: targets, their weights, and tracks that a formula uses.

use std::collections::BTreeMap;

use keyfit_ir::{BuildError, Track, linear};
use keyfit_solvers::Target;
use thiserror::Error;

/// The ending of a column that holds a channel's weights: `y.weight`.
pub const WEIGHT: &str = ".weight";
/// The ending of a column that holds the standard deviations of a channel's targets, which weigh 1/σ².
pub const DEVIATION: &str = ".sd";

/// The channel that a column belongs to, and whether it holds the weights or standard deviations of that channel's targets.
pub fn weighed(name: &str) -> (&str, bool) {
    match name.strip_suffix(WEIGHT).or_else(|| name.strip_suffix(DEVIATION)) {
        Some(channel) => (channel, true),
        None => (name, false),
    }
}

/// Why a column of data makes no track.
#[derive(Debug, Error)]
pub enum ColumnError {
    /// Two rows of one time differ in it.
    #[error("at time {time:?} it is {first:?} and {second:?}")]
    Twice {
        /// The time.
        time: f64,
        /// What it is in the row that comes first.
        first: f64,
        /// What it is in the next row.
        second: f64,
    },
    /// The times are not those of keys.
    #[error(transparent)]
    Build(#[from] BuildError),
}

/// A column of data as a track over the rows' times, linear between them; rows that are the same count once.
///
/// # Errors
/// See [`ColumnError`].
pub fn column_track(times: &[f64], column: &[f64]) -> Result<Track, ColumnError> {
    let mut rows: Vec<(f64, f64)> = times.iter().copied().zip(column.iter().copied()).collect();
    rows.dedup();
    let twice = rows.iter().zip(rows.iter().skip(1)).find(|(a, b)| a.0 == b.0);
    if let Some((&(time, first), &(_, second))) = twice {
        return Err(ColumnError::Twice { time, first, second });
    }
    Ok(linear(rows).track()?)
}

/// Columns of one length, and the times of their rows.
pub(super) struct Columns {
    by_name: BTreeMap<String, Vec<f64>>,
    times: Vec<f64>,
}

impl Columns {
    /// `t` holds the times; without it the rows are numbered from 0. What is wrong is told in words, as by all others here.
    pub fn new(by_name: BTreeMap<String, Vec<f64>>) -> Result<Columns, String> {
        let rows = by_name.values().map(Vec::len).max().unwrap_or(0);
        if by_name.values().any(|column| column.len() != rows) {
            return Err("the columns differ in length".into());
        }
        let times = by_name.get("t").cloned().unwrap_or_else(|| (0..rows).map(|k| k as f64).collect());
        Ok(Columns { by_name, times })
    }

    /// The columns of a CSV file with a header.
    pub fn of_csv(text: &str) -> Result<BTreeMap<String, Vec<f64>>, String> {
        let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(text.as_bytes());
        let header = reader.headers().map_err(|e| e.to_string())?.clone();
        let mut columns: Vec<Vec<f64>> = vec![Vec::new(); header.len()];
        for record in reader.records() {
            let record = record.map_err(|e| e.to_string())?;
            let line = record.position().map_or(0, csv::Position::line);
            for ((name, column), cell) in header.iter().zip(&mut columns).zip(&record) {
                let number = cell.parse::<f64>().ok().filter(|x| x.is_finite());
                column.push(
                    number.ok_or_else(|| {
                        format!("line {line}: {name} is {cell:?}, which is no finite number")
                    })?,
                );
            }
        }
        let named: BTreeMap<String, Vec<f64>> = header.iter().map(str::to_owned).zip(columns).collect();
        match named.len() == header.len() {
            true => Ok(named),
            false => Err("two columns have one name".into()),
        }
    }

    /// The names of all columns but `t`.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.by_name.keys().map(String::as_str).filter(|name| *name != "t")
    }

    /// Whether the column is there and has rows.
    pub fn holds(&self, name: &str) -> bool {
        self.by_name.get(name).is_some_and(|column| !column.is_empty())
    }

    /// A column as targets, with the weights that stand beside it; none if there is no such column.
    pub fn targets(&self, name: &str, respond: impl Fn(f64) -> f64) -> Result<Vec<Target>, String> {
        let values = self.by_name.get(name).into_iter().flatten();
        let rows = self.times.iter().zip(values).zip(self.weights(name)?);
        Ok(rows.map(|((&time, &y), weight)| Target { time, value: respond(y), weight }).collect())
    }

    fn weights(&self, name: &str) -> Result<Vec<f64>, String> {
        let of = |ending: &str| self.by_name.get(&format!("{name}{ending}"));
        match (of(WEIGHT), of(DEVIATION)) {
            (None, None) => Ok(vec![1.0; self.times.len()]),
            (Some(weights), None) => Ok(weights.clone()),
            (None, Some(sds)) if sds.iter().all(|sd| *sd > 0.0) => {
                Ok(sds.iter().map(|sd| 1.0 / (sd * sd)).collect())
            }
            (None, Some(_)) => Err(format!("the column {name}{DEVIATION} must be above 0")),
            (Some(_), Some(_)) => {
                Err(format!("there are columns {name}{WEIGHT} and {name}{DEVIATION}: one is enough"))
            }
        }
    }

    /// Holds a column of weights to there being a column that they weigh.
    pub fn check_weighs(&self, name: &str) -> Result<(), String> {
        let (own, _) = weighed(name);
        match self.by_name.contains_key(own) {
            true => Ok(()),
            false => Err(format!("there is no column {own} that {name} could weigh")),
        }
    }

    /// A column as a track over the times.
    pub fn track(&self, name: &str) -> Result<Track, String> {
        let column = self.by_name.get(name).map_or(&[][..], Vec::as_slice);
        column_track(&self.times, column).map_err(|e| format!("the column {name}: {e}"))
    }
}
