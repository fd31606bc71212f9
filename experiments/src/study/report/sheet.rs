//! Tables, and what they look like in each format.

use std::fmt::Write;

use crate::figure::escape;

/// What stands in a table.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// Words.
    Text(String),
    /// A number, with so many decimals where people read it; infinite where nothing was reached.
    Number(f64, usize),
    /// A share with its interval, all of them from 0 to 1.
    Share(f64, Option<(f64, f64)>),
    /// A number with its interval, if there is one.
    Between(f64, Option<(f64, f64)>, usize),
    /// There is nothing to say.
    None,
}

/// A row, and the words by which its runs are found in the table of runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// As many as there are columns.
    pub cells: Vec<Cell>,
    /// Words that all of its runs have in common.
    pub runs: Vec<String>,
}

/// A table.
#[derive(Clone, Debug, PartialEq)]
pub struct Sheet {
    /// The name of its files.
    pub name: &'static str,
    /// Its title.
    pub title: String,
    /// What it says, in a sentence or two.
    pub note: String,
    /// The columns.
    pub columns: Vec<String>,
    /// The rows.
    pub rows: Vec<Row>,
}

fn number(x: f64, decimals: usize) -> String {
    if x == f64::INFINITY {
        "∞".into()
    } else if x.is_nan() {
        "–".into()
    } else if x != 0.0 && (x.abs() < 1e-3 || x.abs() >= 1e7) {
        format!("{x:.2e}")
    } else {
        format!("{x:.decimals$}")
    }
}

impl Cell {
    /// As people read it.
    pub fn shown(&self) -> String {
        let ends = |ends: &Option<(f64, f64)>, decimals| match ends {
            Some((low, high)) => format!(" [{}, {}]", number(*low, decimals), number(*high, decimals)),
            None => String::new(),
        };
        match self {
            Cell::Text(text) => text.clone(),
            Cell::Number(x, decimals) => number(*x, *decimals),
            Cell::Share(x, None) => format!("{x:.2}"),
            Cell::Share(x, Some((low, high))) => format!("{x:.2} [{low:.2}, {high:.2}]"),
            Cell::Between(x, interval, decimals) => number(*x, *decimals) + &ends(interval, *decimals),
            Cell::None => "–".into(),
        }
    }

    fn value(&self) -> Option<f64> {
        match self {
            Cell::Text(_) | Cell::None => None,
            Cell::Number(x, _) | Cell::Share(x, _) | Cell::Between(x, ..) => Some(*x),
        }
    }

    fn interval(&self) -> Option<Option<(f64, f64)>> {
        match self {
            Cell::Share(_, ends) | Cell::Between(_, ends, _) => Some(*ends),
            _ => None,
        }
    }

    /// As it reads back to the same bits.
    fn exact(&self) -> String {
        match (self, self.value()) {
            (Cell::Text(text), _) => text.clone(),
            (_, Some(x)) => format!("{x:?}"),
            (_, None) => String::new(),
        }
    }
}

impl Sheet {
    fn is_number(&self, column: usize) -> bool {
        self.rows.iter().any(|row| row.cells.get(column).is_some_and(|cell| cell.value().is_some()))
    }

    fn has_interval(&self, column: usize) -> bool {
        self.rows.iter().any(|row| row.cells.get(column).is_some_and(|cell| cell.interval().is_some()))
    }

    /// Records for CSV: the numbers in full, intervals in columns of their own.
    fn records(&self) -> Vec<Vec<String>> {
        let both: Vec<bool> = (0..self.columns.len()).map(|column| self.has_interval(column)).collect();
        let head = self.columns.iter().zip(&both).flat_map(|(name, both)| match both {
            true => vec![name.clone(), format!("{name} low"), format!("{name} high")],
            false => vec![name.clone()],
        });
        let ends = |cell: &Cell| match cell.interval().flatten() {
            Some((low, high)) => [format!("{low:?}"), format!("{high:?}")],
            None => [String::new(), String::new()],
        };
        let record = |row: &Row| {
            let cells = row.cells.iter().zip(&both);
            cells
                .flat_map(|(cell, both)| {
                    [cell.exact()].into_iter().chain(if *both { ends(cell).to_vec() } else { vec![] })
                })
                .collect()
        };
        [head.collect()].into_iter().chain(self.rows.iter().map(record)).collect()
    }

    /// As CSV.
    pub fn csv(&self) -> String {
        let mut writer = csv::Writer::from_writer(Vec::new());
        // memory takes everything, and each record is as long as the first
        self.records().iter().for_each(|record| writer.write_record(record).unwrap_or_default());
        String::from_utf8(writer.into_inner().unwrap_or_default()).unwrap_or_default()
    }

    /// As a table of Markdown.
    pub fn markdown(&self) -> String {
        let clean = |text: &str| text.replace('|', "\\|").replace(['\n', '\r'], " ");
        let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
        let mut out = format!("# {}\n\n{}\n\n", self.title, self.note);
        out += &line(self.columns.iter().map(|name| clean(name)).collect());
        let rule = (0..self.columns.len()).map(|i| if self.is_number(i) { "---:" } else { "---" }.to_owned());
        out += &line(rule.collect());
        for row in &self.rows {
            out += &line(row.cells.iter().map(|cell| clean(&cell.shown())).collect());
        }
        out
    }

    /// As a tabular of LaTeX with the rules of the package booktabs.
    pub fn latex(&self) -> String {
        let line = |cells: Vec<String>| format!("{} \\\\\n", cells.join(" & "));
        let sides: String =
            (0..self.columns.len()).map(|i| if self.is_number(i) { 'r' } else { 'l' }).collect();
        let mut out = format!(
            "% {}\n% needs \\usepackage{{booktabs}}\n\\begin{{tabular}}{{{sides}}}\n\\toprule\n",
            self.title
        );
        out += &line(self.columns.iter().map(|name| latex(name)).collect());
        out += "\\midrule\n";
        for row in &self.rows {
            out += &line(row.cells.iter().map(|cell| latex(&cell.shown())).collect());
        }
        out + "\\bottomrule\n\\end{tabular}\n"
    }

    /// As a table of HTML whose columns can be sorted and whose rows lead to their runs.
    pub fn html(&self) -> String {
        let mut out = format!(
            "<section id=\"{}\">\n<h2>{}</h2>\n<p>{}</p>\n<div class=\"wide\"><table>\n<thead><tr>",
            self.name,
            escape(&self.title),
            escape(&self.note)
        );
        for name in &self.columns {
            let _ = write!(out, "<th><button>{}</button></th>", escape(name));
        }
        out += "</tr></thead>\n<tbody>\n";
        for row in &self.rows {
            out += "<tr>";
            for (i, cell) in row.cells.iter().enumerate() {
                let shown = escape(&cell.shown());
                let shown = match (row.runs.is_empty(), i == 0 || cell.value().is_some()) {
                    (false, true) => {
                        let words = serde_json::Value::from(row.runs.clone()).to_string();
                        format!("<a href=\"#runs\" data-runs=\"{}\">{shown}</a>", escape(&words))
                    }
                    _ => shown,
                };
                let _ = match cell.value() {
                    Some(x) => write!(out, "<td class=\"n\" data-v=\"{x:?}\">{shown}</td>"),
                    None => write!(out, "<td>{shown}</td>"),
                };
            }
            out += "</tr>\n";
        }
        out + "</tbody>\n</table></div>\n</section>\n"
    }
}

/// Text as LaTeX sets it.
fn latex(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' | '%' | '$' | '#' | '_' | '{' | '}' => out.extend(['\\', c]),
            '~' => out += "\\textasciitilde{}",
            '^' => out += "\\textasciicircum{}",
            '\\' => out += "\\textbackslash{}",
            '∞' => out += "$\\infty$",
            '×' => out += "$\\times$",
            '≥' => out += "$\\ge$",
            '≤' => out += "$\\le$",
            'τ' => out += "$\\tau$",
            '−' => out += "$-$",
            '–' => out += "--",
            '\n' | '\r' | '\t' => out.push(' '),
            c if c.is_control() => {}
            c => out.push(c),
        }
    }
    out
}
