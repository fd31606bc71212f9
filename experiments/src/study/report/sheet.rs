//! Tables, and what they look like in each format.

use std::io::{self, Write};

use super::latex::latex;
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

/// The runs that a cell tells of: those of some solvers on some tasks, a task being a start of a problem.
#[derive(Clone, Debug, PartialEq)]
pub struct Runs {
    /// The solvers, by their places in the study.
    pub solvers: Vec<usize>,
    /// The first task that is told of; none before it is meant.
    pub from: usize,
    /// Whether each task from there on is meant; none after them is.
    pub tasks: Vec<bool>,
}

impl Runs {
    /// The solvers, the first task, and a bit a task from there on in hexadecimal digits, each digit's first task in its lowest bit.
    fn text(&self) -> String {
        let solvers: Vec<String> = self.solvers.iter().map(usize::to_string).collect();
        let digit = |four: &[bool]| four.iter().rev().fold(0, |bits, own| 2 * bits + u32::from(*own));
        let digits = self.tasks.chunks(4).map(|four| char::from_digit(digit(four), 16).unwrap_or('0'));
        format!("{};{};{}", solvers.join(","), self.from, digits.collect::<String>())
    }
}

/// A row.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row {
    /// As many as there are columns.
    pub cells: Vec<Cell>,
    /// The runs of each cell; none of those that tell of no run, or are words about others.
    pub runs: Vec<Option<Runs>>,
}

impl Row {
    /// Adds a cell that tells of runs.
    pub fn push(&mut self, cell: Cell, runs: Runs) {
        self.cells.push(cell);
        self.runs.resize(self.cells.len() - 1, None);
        self.runs.push(Some(runs));
    }
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
    /// How many of them people read; the data have all.
    pub shown: usize,
}

/// A column of a table's data.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// Its values, as many as there are rows.
    pub values: Values,
}

/// The values of a column; none where there is nothing to say.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// Words.
    Text(Vec<Option<String>>),
    /// Whole numbers.
    Whole(Vec<Option<i64>>),
    /// Numbers.
    Real(Vec<Option<f64>>),
}

impl Values {
    /// The k-th as it reads back to the same value.
    fn text(&self, k: usize) -> String {
        fn own<T>(values: &[Option<T>], k: usize, text: impl Fn(&T) -> String) -> String {
            values.get(k).and_then(Option::as_ref).map(text).unwrap_or_default()
        }
        match self {
            Values::Text(values) => own(values, k, String::clone),
            Values::Whole(values) => own(values, k, i64::to_string),
            Values::Real(values) => own(values, k, |x| format!("{x:?}")),
        }
    }

    fn len(&self) -> usize {
        match self {
            Values::Text(values) => values.len(),
            Values::Whole(values) => values.len(),
            Values::Real(values) => values.len(),
        }
    }
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

    /// The number if it is a whole one of those that are counted.
    fn count(&self) -> Option<i64> {
        match self {
            Cell::Number(x, 0) if *x == x.trunc() && x.abs() <= 9_007_199_254_740_992.0 => Some(*x as i64),
            _ => None,
        }
    }
}

/// Columns as CSV.
pub fn csv(columns: &[Column], to: &mut dyn Write) -> io::Result<()> {
    let mut writer = csv::Writer::from_writer(to);
    writer.write_record(columns.iter().map(|column| &column.name))?;
    for k in 0..columns.first().map_or(0, |column| column.values.len()) {
        writer.write_record(columns.iter().map(|column| column.values.text(k)))?;
    }
    writer.flush()
}

/// More rows than these go over several pages.
const PAGE: usize = 40;

impl Sheet {
    fn shown(&self) -> &[Row] {
        self.rows.get(..self.shown).unwrap_or(&self.rows)
    }

    fn is_number(&self, column: usize) -> bool {
        self.rows.iter().any(|row| row.cells.get(column).is_some_and(|cell| cell.value().is_some()))
    }

    fn has_interval(&self, column: usize) -> bool {
        self.rows.iter().any(|row| row.cells.get(column).is_some_and(|cell| cell.interval().is_some()))
    }

    /// The data: numbers in full, intervals in columns of their own.
    pub fn data(&self) -> Vec<Column> {
        let column = |(i, name): (usize, &String)| {
            let cells = || self.rows.iter().filter_map(move |row| row.cells.get(i));
            let mut columns = vec![Column { name: name.clone(), values: values(cells()) }];
            if self.has_interval(i) {
                let end = |which: fn((f64, f64)) -> f64| {
                    cells().map(|cell| cell.interval().flatten().map(which)).collect()
                };
                let ends = [("low", end(|ends| ends.0)), ("high", end(|ends| ends.1))];
                columns.extend(ends.map(|(word, ends)| Column {
                    name: format!("{name} {word}"),
                    values: Values::Real(ends),
                }));
            }
            columns
        };
        self.columns.iter().enumerate().flat_map(column).collect()
    }

    /// As a table of Markdown.
    pub fn markdown(&self) -> String {
        let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
        let mut out = format!("# {}\n\n{}\n\n", self.title, marked(&self.note));
        out += &line(self.columns.iter().map(|name| marked(name)).collect());
        let rule = (0..self.columns.len()).map(|i| if self.is_number(i) { "---:" } else { "---" }.to_owned());
        out += &line(rule.collect());
        for row in self.shown() {
            out += &line(row.cells.iter().map(|cell| marked(&cell.shown())).collect());
        }
        out
    }

    /// As a tabular of LaTeX with the rules of the package booktabs; as a longtable where a page may be too short for it.
    pub fn latex(&self) -> String {
        let line = |cells: Vec<String>| format!("{} \\\\\n", cells.join(" & "));
        let sides: String =
            (0..self.columns.len()).map(|i| if self.is_number(i) { 'r' } else { 'l' }).collect();
        let is_long = self.shown().len() > PAGE;
        let (kind, package) =
            if is_long { ("longtable", "\\usepackage{longtable}, ") } else { ("tabular", "") };
        let mut out = format!(
            "% {}\n% {}\n% needs {package}\\usepackage{{booktabs}} and \\usepackage[T1]{{fontenc}}\n\\begin{{{kind}}}{{{sides}}}\n\\toprule\n",
            self.title,
            // a new line would end the comment
            self.note.replace(char::is_control, " ")
        );
        out += &line(self.columns.iter().map(|name| latex(name)).collect());
        out += "\\midrule\n";
        if is_long {
            out += "\\endhead\n\\bottomrule\n\\endfoot\n";
        }
        for row in self.shown() {
            out += &line(row.cells.iter().map(|cell| latex(&cell.shown())).collect());
        }
        out + if is_long { "\\end{longtable}\n" } else { "\\bottomrule\n\\end{tabular}\n" }
    }

    /// As a table of HTML whose columns can be sorted and whose rows lead to their runs.
    pub fn html(&self, to: &mut dyn Write) -> io::Result<()> {
        let (title, note) = (escape(&self.title), escape(&self.note));
        writeln!(to, "<section id=\"{}\">\n<h2>{title}</h2>\n<p>{note}</p>", self.name)?;
        write!(to, "<div class=\"wide\"><table>\n<thead><tr>")?;
        for name in &self.columns {
            write!(to, "<th><button>{}</button></th>", escape(name))?;
        }
        writeln!(to, "</tr></thead>\n<tbody>")?;
        for row in self.shown() {
            write!(to, "<tr>")?;
            for (i, cell) in row.cells.iter().enumerate() {
                let shown = escape(&cell.shown());
                let shown = match row.runs.get(i) {
                    Some(Some(runs)) => {
                        format!("<a href=\"#runs\" data-runs=\"{}\">{shown}</a>", runs.text())
                    }
                    _ => shown,
                };
                match cell.value() {
                    Some(x) => write!(to, "<td class=\"n\" data-v=\"{x:?}\">{shown}</td>")?,
                    None => write!(to, "<td>{shown}</td>")?,
                }
            }
            writeln!(to, "</tr>")?;
        }
        writeln!(to, "</tbody>\n</table></div>\n</section>")
    }
}

/// The values of cells that stand in one column: counts, numbers, or else words.
fn values<'a>(cells: impl Iterator<Item = &'a Cell> + Clone) -> Values {
    let there = || cells.clone().filter(|cell| **cell != Cell::None);
    if there().all(|cell| cell.count().is_some()) && there().next().is_some() {
        return Values::Whole(cells.map(Cell::count).collect());
    }
    if there().all(|cell| cell.value().is_some()) && there().next().is_some() {
        return Values::Real(cells.map(Cell::value).collect());
    }
    let text = |cell: &Cell| match (cell, cell.value()) {
        (Cell::Text(text), _) => Some(text.clone()),
        (_, value) => value.map(|x| format!("{x:?}")),
    };
    Values::Text(cells.map(text).collect())
}

/// Text on a line of Markdown, where nothing of it means something.
pub fn marked(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\\' | '|' | '<' | '&' | '*' | '_' | '`' => out.extend(['\\', c]),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_means_something_to_a_format_is_text_in_it() {
        let odd = "@BODY@ <i> & \\x{} |_%$#~^\"\n[β] 字";
        let row = Row { cells: vec![Cell::Text(odd.into())], ..Row::default() };
        let sheet = Sheet {
            name: "odd",
            title: "Odd".into(),
            note: odd.into(),
            columns: vec![odd.into()],
            rows: vec![row],
            shown: usize::MAX,
        };
        let last = |text: String, at: usize| text.lines().rev().nth(at).map(str::to_owned);
        let mut html = Vec::new();
        sheet.html(&mut html).unwrap();
        let html = String::from_utf8(html).unwrap();
        let lines = [last(sheet.markdown(), 0), last(sheet.latex(), 2), last(html, 3)];
        insta::assert_snapshot!(lines.map(Option::unwrap).join("\n"));
        // all above the table is a comment
        let latex = sheet.latex();
        assert!(
            latex.lines().take_while(|line| !line.starts_with("\\begin")).all(|line| line.starts_with('%'))
        );
        assert!(!sheet.markdown().contains(" <i>"));
        assert!(!marked("a\r\nb").contains(['\r', '\n']));
    }

    #[test]
    fn runs_are_bits() {
        let tasks = [true, false, false, true, false, true].to_vec();
        assert_eq!(Runs { solvers: vec![0, 12], from: 7, tasks }.text(), "0,12;7;92");
        assert_eq!(Runs { solvers: vec![], from: 0, tasks: vec![] }.text(), ";0;");
    }
}
