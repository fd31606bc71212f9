//! CSV data: a column of times and a column a channel.

use std::collections::HashSet;

use clap::ValueEnum;
use keyfit::Target;
use keyfit::ir::Names;
use keyfit::ir::text::nearest;
use keyfit::rates::Rate;
use keyfit::suite::{DEVIATION, WEIGHT, column_track, weighed};

use crate::failure::{Failure, Source, say};
use crate::model::{FORMULA_CHANNEL, Model, number, read};

/// The column of times.
const TIME: &str = "t";

/// What is done about missing cells: empty ones, NA, NaN and null.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Missing {
    /// Say where the first one is, and stop
    #[default]
    Refuse,
    /// Leave out the targets concerned, and say how many
    Skip,
}

fn is_missing(cell: &str) -> bool {
    ["", "na", "n/a", "nan", "null"].iter().any(|word| cell.eq_ignore_ascii_case(word))
}

/// A CSV file: named columns of finite numbers, all of one length. A cell that is missing and may be is NaN.
pub struct Table {
    source: Source,
    columns: Vec<Column>,
    rows: Vec<Row>,
    /// How many rows were left out.
    left_out: usize,
}

/// Where a row stands.
#[derive(Clone, Copy)]
struct Row {
    /// Its first byte.
    start: usize,
    /// Its number, counted from 0.
    number: usize,
}

/// One column.
pub struct Column {
    /// Its name in the header.
    pub name: String,
    /// The header's place.
    span: std::ops::Range<usize>,
    /// The numbers.
    pub values: Vec<f64>,
}

impl Table {
    /// Reads a file.
    pub fn read(path: &str, missing: Missing) -> Result<Table, Failure> {
        let source = read(path)?;
        let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(source.text.as_bytes());
        let header = reader.headers().map_err(|e| csv_failure(&source, &e))?.clone();
        let mut columns: Vec<Column> = Vec::new();
        for (i, name) in header.iter().enumerate() {
            let span = cell(&source.text, 0, i);
            if header.len() == 1 && name.contains([';', '\t']) {
                return Err(Failure::at(&source, span, "the columns must be separated by commas"));
            }
            if name.is_empty() || name.parse::<f64>().is_ok() {
                return Err(Failure::at(&source, span, "the first line must name the columns")
                    .hint("for a formula: t,y; for a scene: t and a column a channel, such as t,x,y"));
            }
            if columns.iter().any(|column| column.name == name) {
                return Err(Failure::at(&source, span, format!("there are two columns {name}")));
            }
            columns.push(Column { name: name.into(), span, values: Vec::new() });
        }
        let mut rows: Vec<Row> = Vec::new();
        for record in reader.records() {
            let record = record.map_err(|e| csv_failure(&source, &e))?;
            let start = record.position().map_or(0, |p| p.byte() as usize);
            rows.push(Row { start, number: rows.len() });
            for (i, (text, column)) in record.iter().zip(&mut columns).enumerate() {
                if is_missing(text) {
                    if missing == Missing::Refuse {
                        let message = format!("a cell of column {} is missing", column.name);
                        return Err(Failure::at(&source, cell(&source.text, start, i), message)
                            .hint("--missing skip leaves out the targets concerned"));
                    }
                    column.values.push(f64::NAN);
                    continue;
                }
                column.values.push(number(&source, || cell(&source.text, start, i), text).map_err(
                    |failure| {
                        failure.hint(format!("every cell of column {} must be a finite number", column.name))
                    },
                )?);
            }
        }
        if rows.is_empty() {
            return Err(Failure::input(format!("{path}: there is no row of data below the header")));
        }
        let mut table = Table { source, columns, rows, left_out: 0 };
        table.leave_out(&HashSet::from([TIME]));
        Ok(table)
    }

    /// Leaves out the rows in which one of these columns has a missing cell.
    pub fn leave_out(&mut self, names: &HashSet<&str>) {
        let needed = self.columns.iter().filter(|column| names.contains(column.name.as_str()));
        let needed: Vec<&Column> = needed.collect();
        let kept: Vec<bool> =
            (0..self.rows.len()).map(|k| needed.iter().all(|column| !column.values[k].is_nan())).collect();
        fn retain<T>(list: &mut Vec<T>, kept: &[bool]) {
            let mut kept = kept.iter();
            list.retain(|_| kept.next() == Some(&true));
        }
        self.left_out += kept.iter().filter(|kept| !**kept).count();
        retain(&mut self.rows, &kept);
        self.columns.iter_mut().for_each(|column| retain(&mut column.values, &kept));
    }

    /// The weights of a channel's targets, from its column of weights or of standard deviations; all 1 if it has neither.
    fn weights(&self, channel: &str) -> Result<Vec<f64>, Failure> {
        let of = |ending: &str| self.column(&format!("{channel}{ending}"));
        let fault = |column: &Column, wrong: fn(f64) -> bool, message: &str| {
            let k = column.values.iter().position(|x| wrong(*x))?;
            let i = self.columns.iter().position(|own| own.name == column.name)?;
            Some(Failure::at(&self.source, cell(&self.source.text, self.rows[k].start, i), message))
        };
        match (of(WEIGHT), of(DEVIATION)) {
            (None, None) => Ok(vec![1.0; self.rows.len()]),
            (Some(weights), None) => match fault(weights, |w| w < 0.0, "a weight must not be negative") {
                Some(fault) => Err(fault),
                None => Ok(weights.values.clone()),
            },
            (None, Some(column)) => match fault(column, |s| s <= 0.0, "a standard deviation must be above 0")
            {
                Some(fault) => Err(fault),
                None => Ok(column.values.iter().map(|s| 1.0 / (s * s)).collect()),
            },
            (Some(_), Some(column)) => Err(Failure::at(
                &self.source,
                column.span.clone(),
                format!("{channel} has a column {channel}{WEIGHT} too: one of them is enough"),
            )),
        }
    }

    fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.name == name)
    }

    /// The rows' times; the rows are numbered from 0 if there is no column `t`.
    fn times(&self) -> Vec<f64> {
        match self.column(TIME) {
            Some(column) => column.values.clone(),
            None => self.rows.iter().map(|row| row.number as f64).collect(),
        }
    }

    /// Checks that there are times for `what` to be read at.
    pub fn check_time(&self, what: &str) -> Result<(), Failure> {
        if self.column(TIME).is_some() {
            return Ok(());
        }
        let header = cell(&self.source.text, 0, 0).start..cell(&self.source.text, 0, usize::MAX).end;
        let failure =
            Failure::at(&self.source, header, format!("{what} varies with t, but there is no column t"));
        Err(failure.hint("rename the column of times to t"))
    }

    /// The columns that a formula may use by name: all but t, y, y's velocity and acceleration, and the weights of these.
    fn others(&self) -> impl Iterator<Item = &Column> {
        let own = |name: &str| {
            let (channel, _) = weighed(name);
            [TIME, FORMULA_CHANNEL].contains(&Rate::of(channel).map_or(channel, |(channel, _)| channel))
        };
        self.columns.iter().filter(move |column| !own(&column.name))
    }

    /// The names of the columns that a formula may use.
    pub fn column_names(&self) -> impl Iterator<Item = &str> {
        self.others().map(|column| column.name.as_str())
    }

    /// The columns that a formula uses, as tracks over the rows' times.
    pub fn tracks(&self, used: &HashSet<&str>, names: Names) -> Result<Names, Failure> {
        let times = self.times();
        self.others().filter(|column| used.contains(column.name.as_str())).try_fold(names, |names, column| {
            let track = column_track(&times, &column.values).map_err(|e| {
                Failure::at(&self.source, column.span.clone(), format!("column {}: {e}", column.name))
                    .hint("a column that a formula uses is a track over t, so t must ascend; without t the rows are numbered")
            })?;
            Ok(names.track(&column.name, track))
        })
    }

    /// Says on stderr which columns have no part in the fit.
    pub fn note_unused(&self, used: &HashSet<&str>) {
        const MOST: usize = 8;
        let unused: Vec<&str> = self.column_names().filter(|name| !used.contains(name)).collect();
        if unused.is_empty() {
            return;
        }
        let more = unused.len().saturating_sub(MOST);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let targets = Rate::ALL.map(|rate| rate.of_channel(FORMULA_CHANNEL));
        let weigh = |channel: &str| [WEIGHT, DEVIATION].map(|ending| format!("{channel}{ending}"));
        let weights = targets.iter().map(String::as_str).chain([FORMULA_CHANNEL]).flat_map(weigh);
        let known: Vec<String> = targets.iter().cloned().chain(weights).collect();
        let meant = unused.iter().filter_map(|name| nearest(name, known.iter().map(String::as_str)));
        let meant = match meant.collect::<Vec<_>>().join(" and ") {
            near if near.is_empty() => near,
            near => format!("; did you mean {near}?"),
        };
        let shown = unused[..unused.len().min(MOST)].join(", ");
        say(format!("{}: not used: {shown}{more}{meant}", self.source.name));
    }

    /// The targets of the model's channels, each with its channel's index. A column that is neither a channel nor, for a
    /// formula, a name that it may use is an error.
    pub fn targets(&self, model: &mut Model) -> Result<Vec<(usize, Target)>, Failure> {
        let times = self.times();
        let mut out = Vec::new();
        let mut without = 0;
        for column in self.columns.iter().filter(|column| column.name != TIME) {
            let (name, weighs) = weighed(&column.name);
            match (model.aimed(name)?, weighs) {
                (Some(index), false) => {
                    let rows = times.iter().zip(&column.values).zip(self.weights(name)?);
                    let all = rows.map(|((&time, &value), weight)| Target { time, value, weight });
                    let before = out.len();
                    out.extend(
                        all.filter(|t| !t.value.is_nan() && !t.weight.is_nan()).map(|target| (index, target)),
                    );
                    without += times.len() - (out.len() - before);
                }
                (Some(_), true) => {}
                (None, _) if model.is_formula() => {}
                (None, _) => {
                    let message = format!("the model has no channel {}", column.name);
                    return Err(Failure::at(&self.source, column.span.clone(), message).known(
                        &column.name,
                        "channels",
                        model.aim_names().iter().map(AsRef::as_ref),
                    ));
                }
            }
        }
        if without + self.left_out > 0 {
            say(format!(
                "{}: cells are missing: {} row(s) and {without} other target(s) are left out",
                self.source.name, self.left_out
            ));
        }
        if out.is_empty() && without + self.left_out > 0 {
            return Err(Failure::input(format!("{}: no row has all of its cells", self.source.name)));
        }
        if out.is_empty() {
            let wanted: Vec<&str> = model.channel_names().collect();
            let message =
                format!("{}: no column holds targets; expected {}", self.source.name, wanted.join(" or "));
            return Err(Failure::input(message).known(
                "",
                "columns",
                self.columns.iter().map(|c| c.name.as_str()),
            ));
        }
        Ok(out)
    }
}

/// The place of a record's `i`-th cell, the record beginning at byte `start`.
fn cell(text: &str, start: usize, i: usize) -> std::ops::Range<usize> {
    let record = &text[start.min(text.len())..];
    let blank = record.len() - record.trim_start_matches(['\r', '\n']).len();
    let (mut from, mut cells, mut quoted) = (blank, 0, false);
    for (at, c) in record.char_indices().skip_while(|(at, _)| *at < blank) {
        match c {
            '"' => quoted = !quoted,
            ',' if !quoted && cells == i => return start + from..start + at,
            ',' if !quoted => (cells, from) = (cells + 1, at + 1),
            '\n' | '\r' if !quoted => return start + from..start + at,
            _ => {}
        }
    }
    start + from..start + record.len()
}

fn csv_failure(source: &Source, error: &csv::Error) -> Failure {
    match error.kind() {
        csv::ErrorKind::UnequalLengths { pos: Some(pos), expected_len, len } => {
            let start = pos.byte() as usize;
            let end = cell(&source.text, start, usize::MAX).end;
            let start = cell(&source.text, start, 0).start;
            Failure::at(
                source,
                start..end,
                format!("this row has {len} cell(s), the header names {expected_len}"),
            )
        }
        _ => Failure::input(format!("{}: {error}", source.name)),
    }
}
