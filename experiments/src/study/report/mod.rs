//! The report of a study: a folder that can be published, and run again.
//!
//! | in the folder | |
//! | --- | --- |
//! | `report.html` | everything, in one file that needs no network |
//! | `figures/*.svg`, `*.pdf` | figures, as SVG light or dark as their reader is; PDF with the feature `pdf` |
//! | `tables/*.tex`, `*.md` | tables for LaTeX (booktabs) and Markdown |
//! | `data/*.csv`, `*.parquet` | their numbers in full, those of every run and of curves; Parquet with the feature `parquet` |
//! | `methods.md` | what was run, and how it is measured |
//! | `inputs/`, `runs.jsonl` | study, problem files, and every run with its course: what all of this is made of |
//! | `manifest.json` | SHA-256 of each of these files, versions, seed |
//! | `times/`, `machine.json` | what differs from machine to machine |
//!
//! Problem folders that lie elsewhere than below the study file are copied to `inputs/elsewhere/`, and the copy of the study file names the
//! copies: it is the same study.
//!
//! All but the last line is the same, byte for byte, wherever the study is run. The manifest also names the revision of keyfit's sources that
//! was checked out, if the program is a release build, with `-dirty` if the program's sources were not as they are in it.

mod comparisons;
mod figures;
mod latex;
mod methods;
#[cfg(feature = "parquet")]
mod parquet;
mod sheet;
mod sheets;
pub mod verify;

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use thiserror::Error;

use self::sheet::{Column, Sheet};
use self::sheets::Named;
use super::folders::copies;
use super::stats::Table;
use super::stats::table::TableError;
use super::store::{Record, StoreError};
use super::work::{from_line, to_line};
use super::{Store, Study};
use crate::figure::escape;

/// Where the report keeps the study file.
pub const STUDY: &str = "inputs/study.toml";
/// Where it keeps all that the study was made of.
const INPUTS: &str = "inputs/";
/// Where it keeps the runs: a line of [`to_line`] each, without their seconds.
pub const RUNS: &str = "runs.jsonl";
/// The list of what is in it.
pub const MANIFEST: &str = "manifest.json";
/// What the manifest does not name, as it differs from machine to machine.
pub const UNNAMED: [&str; 4] =
    ["times/ratios.csv", "times/ratios.md", "times/performance.svg", "machine.json"];
/// The list of all crates with their versions.
const LOCK: &str = include_str!("../../../../Cargo.lock");
/// What the page says of itself.
const GUIDE: &str = "<p>Numbers lead to their runs: a share to those that it counts, anything else to all that it was made of. In \
     figures a point shows its values, a name its line; a click zooms in, with shift out, a double click shows \
     everything. How all of this is measured stands in methods.md, the numbers in full in data/.</p>";
/// Runs that are put into a store together.
const TOGETHER: usize = 1000;
/// Crates that compute.
const CRATES: [&str; 7] = ["argmin", "core-math", "egg", "ndarray", "num-dual", "rug", "rusqlite"];

/// Why there is no report.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ReportError {
    /// The runs.
    #[error(transparent)]
    Table(#[from] TableError),
    /// The store.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A figure as PDF.
    #[cfg(feature = "pdf")]
    #[error("a figure: {0}")]
    Pdf(#[from] crate::figure::PngError),
    /// A table as Parquet.
    #[cfg(feature = "parquet")]
    #[error("a table: {0}")]
    Parquet(#[from] ::parquet::errors::ParquetError),
    /// A file cannot be written.
    #[error("{path}: {source}")]
    Io {
        /// Its path in the folder.
        path: String,
        /// Why.
        source: io::Error,
    },
    /// A line that is no run, or the one of a run that stands above, or out of order, or of none of the study's.
    #[error("line {line} of {RUNS} is no run of the study with a number above that of the line before")]
    Line {
        /// Which, from 1.
        line: usize,
    },
}

/// Files by their paths in the folder, `/` between its parts.
pub type Files = BTreeMap<String, Vec<u8>>;

/// Writes what is in a file.
pub type Fill<'a> = dyn FnMut(&mut dyn Write) -> io::Result<()> + 'a;

/// Where a report's files go, one after the other, so that never all of them are held.
pub trait Output {
    /// Writes a file, whose path in the folder has `/` between its parts.
    ///
    /// # Errors
    /// The file cannot be written, or `fill` fails.
    fn file(&mut self, path: &str, fill: &mut Fill<'_>) -> io::Result<()>;
}

impl Output for Files {
    fn file(&mut self, path: &str, fill: &mut Fill<'_>) -> io::Result<()> {
        let mut bytes = Vec::new();
        fill(&mut bytes)?;
        self.insert(path.into(), bytes);
        Ok(())
    }
}

/// Files on their way out, and the hashes of those that are written.
struct Hashed<'a> {
    out: &'a mut dyn Output,
    hashes: BTreeMap<String, String>,
}

impl Hashed<'_> {
    fn put(&mut self, path: &str, bytes: impl AsRef<[u8]>) -> Result<(), ReportError> {
        self.fill(path, |to| to.write_all(bytes.as_ref()))
    }

    fn fill(
        &mut self,
        path: &str,
        mut fill: impl FnMut(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), ReportError> {
        let mut own = Sha256::new();
        let written = self.out.file(path, &mut |to| fill(&mut Hashing { to, own: &mut own }));
        written.map_err(|source| ReportError::Io { path: path.into(), source })?;
        self.hashes.insert(path.into(), hexadecimal(&own.finalize()));
        Ok(())
    }
}

/// Takes the hash of what is written.
struct Hashing<'a> {
    to: &'a mut dyn Write,
    own: &'a mut Sha256,
}

impl Write for Hashing<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.to.write(bytes)?;
        self.own.update(bytes.get(..written).unwrap_or(bytes));
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

/// Makes the files of a finished study's report, and holds them.
///
/// # Errors
/// See [`ReportError`].
pub fn report(study: &Study, text: &str, store: &mut Store) -> Result<Files, ReportError> {
    let mut files = Files::new();
    write(study, text, store, &mut files, true)?;
    Ok(files)
}

/// Writes a finished study's report; gives the number of its files. `text` is the study file's. The inputs come first, and the
/// manifest when all that it names is there; before them one that names nothing but the study, unless the folder `is_begun`: what is cut
/// short is known as this study's, and can be gone on with.
///
/// # Errors
/// See [`ReportError`].
pub fn write(
    study: &Study,
    text: &str,
    store: &mut Store,
    out: &mut dyn Output,
    is_begun: bool,
) -> Result<usize, ReportError> {
    let table = Table::load(study, store)?;
    if !is_begun {
        let begun = json!({ "study": study.name, "study_hash": study.hash });
        out.file(MANIFEST, &mut |to| writeln!(to, "{begun:#}"))
            .map_err(|source| ReportError::Io { path: MANIFEST.into(), source })?;
    }
    let mut out = Hashed { out, hashes: BTreeMap::new() };
    for (path, text) in inputs(study, text) {
        out.put(&path, text)?;
    }
    out.fill(RUNS, |to| {
        let mut written = Ok(());
        let each = store.for_each(|job, record, _| {
            if written.is_ok() {
                written = writeln!(to, "{}", to_line(job, &record, 0.0));
            }
        });
        each.map_err(io::Error::other).and(written)
    })?;
    let named = Named { study, table: &table };
    let sheets = named.all();
    let mut data = |name: &str, columns: Vec<Column>| -> Result<(), ReportError> {
        out.fill(&format!("data/{name}.csv"), |to| sheet::csv(&columns, to))?;
        #[cfg(feature = "parquet")]
        out.put(&format!("data/{name}.parquet"), parquet::file(&columns)?)?;
        Ok(())
    };
    sheets.iter().try_for_each(|sheet| data(sheet.name, sheet.data()))?;
    data("convergence", named.moments().data())?;
    data("parameters", named.parameters())?;
    for sheet in sheets.iter().filter(|sheet| sheet.name != "runs") {
        out.put(&format!("tables/{}.tex", sheet.name), sheet.latex())?;
        out.put(&format!("tables/{}.md", sheet.name), sheet.markdown())?;
    }
    let mut drawn = Vec::new();
    for own in named.figures() {
        #[cfg(feature = "pdf")]
        out.put(&format!("figures/{}.pdf", own.name), own.figure.pdf()?)?;
        let svg = own.figure.svg(None);
        out.put(&format!("figures/{}.svg", own.name), &svg)?;
        drawn.push((own.sheet, svg));
    }
    out.put("methods.md", named.methods())?;
    out.fill("report.html", |to| page(to, &named, &sheets, &drawn))?;
    out.put(MANIFEST, format!("{:#}\n", manifest(study, &out.hashes)))?;
    // not in the manifest: these differ. A report made of another one has no times
    if table.runs.iter().any(|run| run.seconds.is_some()) {
        let times = named.times();
        let [ratios, read, figure, own] = UNNAMED;
        out.fill(ratios, |to| sheet::csv(&times.data(), to))?;
        out.put(read, times.markdown())?;
        out.put(figure, named.time_figure().svg(None))?;
        out.put(own, format!("{:#}\n", machine()))?;
    }
    Ok(out.hashes.len())
}

/// The study file and the problem files that it names, where a copy of the study file finds them.
fn inputs(study: &Study, text: &str) -> Files {
    let own = STUDY.trim_start_matches(INPUTS);
    let copied = copies(text, &study.folders, own);
    let files = copied.files.into_iter().chain([(own.to_owned(), copied.text)]);
    files.map(|(path, text)| (format!("{INPUTS}{path}"), text.into_bytes())).collect()
}

/// Puts the runs of a report into a store.
///
/// # Errors
/// See [`ReportError`].
pub fn unpack(runs: &str, study: &Study, store: &mut Store) -> Result<(), ReportError> {
    let mut rest = lines(runs, study);
    loop {
        let some: Vec<(u64, Record)> = rest.by_ref().take(TOGETHER).collect::<Result<_, _>>()?;
        if some.is_empty() {
            return Ok(());
        }
        store.insert(some.into_iter().map(|(number, record)| (number, record, None)))?;
    }
}

/// The runs of a study's report, whose numbers ascend.
fn lines(runs: &str, study: &Study) -> impl Iterator<Item = Result<(u64, Record), ReportError>> {
    let (mut least, all) = (0, study.len());
    runs.lines().enumerate().map(move |(i, text)| {
        let found = from_line(text).filter(|(number, ..)| (least..all).contains(number));
        let (number, record, _) = found.ok_or(ReportError::Line { line: i + 1 })?;
        least = number.saturating_add(1);
        Ok((number, record))
    })
}

/// The hash of the study whose report a folder holds, or the beginning of one; `None` if it holds none.
pub fn study_of(folder: &Path) -> Option<String> {
    let text = std::fs::read_to_string(folder.join(MANIFEST)).ok()?;
    let manifest: Value = serde_json::from_str(&text).ok()?;
    Some(manifest.get("study_hash")?.as_str()?.to_owned())
}

fn hash(bytes: &[u8]) -> String {
    hexadecimal(&Sha256::digest(bytes))
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn manifest(study: &Study, files: &BTreeMap<String, String>) -> Value {
    let hashes = |input: bool| -> Value {
        let own = files.iter().filter(|(path, _)| path.starts_with(INPUTS) == input);
        own.map(|(path, hash)| (path.clone(), Value::from(hash.clone()))).collect()
    };
    json!({
        "study": study.name,
        "study_hash": study.hash,
        "seed": study.seed,
        "runs": study.len(),
        "keyfit": env!("CARGO_PKG_VERSION"),
        "revision": option_env!("KEYFIT_REVISION").filter(|revision| !revision.is_empty()),
        "cargo_lock": hash(LOCK.as_bytes()),
        "crates": crates(),
        "inputs": hashes(true),
        "outputs": hashes(false),
    })
}

/// The versions of the crates that compute.
fn crates() -> BTreeMap<&'static str, String> {
    let lock: toml::Table = LOCK.parse().unwrap_or_default();
    let packages = lock.get("package").and_then(toml::Value::as_array).cloned().unwrap_or_default();
    let text =
        |package: &toml::Value, key: &str| package.get(key).and_then(toml::Value::as_str).map(str::to_owned);
    let version = |name: &&'static str| {
        let own = packages.iter().filter(|package| text(package, "name").as_deref() == Some(name));
        let versions: Vec<String> = own.filter_map(|package| text(package, "version")).collect();
        (*name, versions.join(", "))
    };
    CRATES.iter().map(version).filter(|(_, version)| !version.is_empty()).collect()
}

fn machine() -> Value {
    json!({
        "system": std::env::consts::OS,
        "architecture": std::env::consts::ARCH,
        "cores": std::thread::available_parallelism().map_or(1, usize::from),
    })
}

/// Writes the page: each sheet with the figures that show it, whose SVG stands in `drawn`.
fn page(
    to: &mut dyn Write,
    named: &Named<'_>,
    sheets: &[Sheet],
    drawn: &[(Option<&str>, String)],
) -> io::Result<()> {
    let template = include_str!("page.html");
    let (before, after) = template.split_once("@BODY@").unwrap_or((template, ""));
    write!(to, "{}<nav>", before.replace("@TITLE@", &escape(&named.study.name)))?;
    for sheet in sheets {
        write!(to, "<a href=\"#{}\">{}</a> · ", sheet.name, escape(&sheet.title))?;
    }
    writeln!(to, "<a href=\"#courses\">Convergence</a></nav>\n{GUIDE}")?;
    let figures = |to: &mut dyn Write, of: Option<&str>| {
        let mut own = drawn.iter().filter(|(sheet, _)| *sheet == of);
        own.try_for_each(|(_, svg)| writeln!(to, "<figure>{svg}</figure>"))
    };
    let (last, first) = sheets.split_last().map_or((None, sheets), |(last, first)| (Some(last), first));
    for sheet in first {
        sheet.html(to)?;
        figures(to, Some(sheet.name))?;
    }
    writeln!(to, "<h2 id=\"courses\">Convergence</h2>")?;
    writeln!(to, "<details><summary>From the first start of each problem</summary>")?;
    figures(to, None)?;
    writeln!(
        to,
        "</details>\n<p>Runs shown: <span id=\"which\" data-solvers=\"{}\">all</span>. <button id=\"every\">Show all</button></p>",
        named.table.solvers()
    )?;
    last.map_or(Ok(()), |last| last.html(to))?;
    write!(to, "{after}")
}
