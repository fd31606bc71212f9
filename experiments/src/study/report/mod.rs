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
use std::path::Path;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use thiserror::Error;

use self::sheet::Sheet;
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
/// The list of all crates with their versions.
const LOCK: &str = include_str!("../../../../Cargo.lock");
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
    /// A line that is no run.
    #[error("line {line} of {RUNS} is no run")]
    Line {
        /// Which, from 1.
        line: usize,
    },
}

/// Files by their paths in the folder, `/` between its parts.
pub type Files = BTreeMap<String, Vec<u8>>;

/// Makes the files of a finished study's report. `text` is the study file's.
///
/// # Errors
/// See [`ReportError`].
pub fn report(study: &Study, text: &str, store: &mut Store) -> Result<Files, ReportError> {
    let mut files = inputs(study, text);
    let table = Table::load(study, store)?;
    let mut runs = String::new();
    store.for_each(|job, record, _| runs.extend([to_line(job, &record, 0.0), "\n".into()]))?;
    files.insert(RUNS.into(), runs.into_bytes());
    let named = Named { study, table: &table };
    let sheets = named.all();
    for sheet in sheets.iter().chain([&named.moments()]) {
        files.insert(format!("data/{}.csv", sheet.name), sheet.csv().into_bytes());
        #[cfg(feature = "parquet")]
        files.insert(format!("data/{}.parquet", sheet.name), parquet::file(&sheet.data())?);
    }
    for sheet in &sheets {
        if sheet.name != "runs" {
            files.insert(format!("tables/{}.tex", sheet.name), sheet.latex().into_bytes());
            files.insert(format!("tables/{}.md", sheet.name), sheet.markdown().into_bytes());
        }
    }
    let mut drawn = Vec::new();
    for own in named.figures() {
        #[cfg(feature = "pdf")]
        files.insert(format!("figures/{}.pdf", own.name), own.figure.pdf()?);
        drawn.push((own.name, own.figure.svg(None)));
    }
    files.insert("methods.md".into(), named.methods().into_bytes());
    files.insert("report.html".into(), page(&named, &sheets, &drawn).into_bytes());
    files.extend(drawn.into_iter().map(|(name, svg)| (format!("figures/{name}.svg"), svg.into_bytes())));
    let manifest = manifest(study, &files);
    files.insert(MANIFEST.into(), format!("{manifest:#}\n").into_bytes());
    // not in the manifest: these differ. A report made of another one has no times
    if table.runs.iter().all(|run| run.seconds.is_none()) {
        return Ok(files);
    }
    let times = named.times();
    files.insert("times/ratios.csv".into(), times.csv().into_bytes());
    files.insert("times/ratios.md".into(), times.markdown().into_bytes());
    files.insert("times/performance.svg".into(), named.time_figure().figure.svg(None).into_bytes());
    files.insert("machine.json".into(), format!("{:#}\n", machine()).into_bytes());
    Ok(files)
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
pub fn unpack(runs: &str, store: &mut Store) -> Result<(), ReportError> {
    let runs = lines(runs)?;
    Ok(store.insert(runs.into_iter().map(|(number, record)| (number, record, None)))?)
}

fn lines(runs: &str) -> Result<Vec<(u64, Record)>, ReportError> {
    let read = |(i, line)| from_line(line).ok_or(ReportError::Line { line: i + 1 });
    runs.lines().enumerate().map(read).map(|run| run.map(|(number, record, _)| (number, record))).collect()
}

/// The hash of the study whose report a folder holds; `None` if it holds none.
pub fn study_of(folder: &Path) -> Option<String> {
    let manifest: Value = serde_json::from_str(&std::fs::read_to_string(folder.join(MANIFEST)).ok()?).ok()?;
    Some(manifest.get("study_hash")?.as_str()?.to_owned())
}

fn hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn manifest(study: &Study, files: &Files) -> Value {
    let hashes = |input: bool| -> Value {
        let own = files.iter().filter(|(path, _)| path.starts_with(INPUTS) == input);
        own.map(|(path, bytes)| (path.clone(), Value::from(hash(bytes)))).collect()
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

fn page(named: &Named<'_>, sheets: &[Sheet], drawn: &[(String, String)]) -> String {
    let mut body = String::from("<nav>");
    for sheet in sheets {
        body += &format!("<a href=\"#{}\">{}</a> · ", sheet.name, escape(&sheet.title));
    }
    body += "<a href=\"#figures\">Figures</a> · <a href=\"#courses\">Convergence</a></nav>\n";
    body += "<p>Numbers lead to their runs: a share to those that it counts, anything else to all that it was made of. In \
             figures a point shows its values, a name its line; a click zooms in, with shift out, a double click shows \
             everything. How all of this is measured stands in methods.md, the numbers in full in data/.</p>\n";
    let (courses, profiles): (Vec<_>, Vec<_>) =
        drawn.iter().partition(|(name, _)| name.starts_with("convergence/"));
    let (last, first) = sheets.split_last().map_or((None, sheets), |(last, first)| (Some(last), first));
    first.iter().for_each(|sheet| body += &sheet.html());
    let figure = |svg: &str| format!("<figure>{svg}</figure>\n");
    body += "<h2 id=\"figures\">Figures</h2>\n";
    profiles.iter().for_each(|(_, svg)| body += &figure(svg));
    body += "<h2 id=\"courses\">Convergence</h2>\n<details><summary>From the first start of each problem</summary>\n";
    courses.iter().for_each(|(_, svg)| body += &figure(svg));
    body += "</details>\n";
    body += &format!(
        "<p>Runs shown: <span id=\"which\" data-solvers=\"{}\">all</span>. <button id=\"every\">Show all</button></p>\n",
        named.table.solvers()
    );
    body += &last.map(Sheet::html).unwrap_or_default();
    filled(include_str!("page.html"), &[("@TITLE@", &escape(&named.study.name)), ("@BODY@", &body)])
}

/// A template with texts for its marks. What is put in is not looked at again, whatever it says.
fn filled(template: &str, texts: &[(&str, &str)]) -> String {
    let mut out = String::with_capacity(template.len());
    let mut rest = template;
    while let Some((mark, text)) =
        texts.iter().filter(|(mark, _)| rest.contains(mark)).min_by_key(|(mark, _)| rest.find(mark))
    {
        let Some((before, after)) = rest.split_once(mark) else { break };
        out.extend([before, *text]);
        rest = after;
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::filled;

    #[test]
    fn what_is_put_in_is_not_filled_in_again() {
        let texts = [("@TITLE@", "@BODY@ & @TITLE@"), ("@BODY@", "b @TITLE@ @BODY@")];
        assert_eq!(
            filled("<@TITLE@|@TITLE@|@BODY@>", &texts),
            "<@BODY@ & @TITLE@|@BODY@ & @TITLE@|b @TITLE@ @BODY@>"
        );
        assert_eq!(filled("no mark @", &texts), "no mark @");
    }
}
