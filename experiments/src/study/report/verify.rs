//! Whether a report is what it says: its files' hashes, and a sample of its runs, carried out anew.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Component, Path};

use keyfit_solvers::Random;
use serde::Deserialize;
use thiserror::Error;

use super::{INPUTS, MANIFEST, RUNS, ReportError, STUDY, hash, lines};
use crate::study::Study;
use crate::study::file::Fault;
use crate::study::stats::table::TableError;
use crate::study::store::Record;
use crate::study::work::{execute, to_line};

/// What was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verification {
    /// Files whose hash was taken.
    pub files: usize,
    /// Files that are missing or are not what they were.
    pub changed: Vec<String>,
    /// Numbers of the runs that were carried out anew.
    pub sample: Vec<u64>,
    /// Those of them that ended differently.
    pub different: Vec<u64>,
    /// Files that the manifest does not name: times and machine, and what else has come there.
    pub unchecked: Vec<String>,
}

impl Verification {
    /// Whether all is as the report says.
    pub fn holds(&self) -> bool {
        self.changed.is_empty() && self.different.is_empty()
    }
}

/// Why a report cannot be verified.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum VerifyError {
    /// A file cannot be read.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: String,
        /// Why.
        source: io::Error,
    },
    /// The manifest is not one.
    #[error("{MANIFEST} is not that of a finished report: {0}")]
    Manifest(#[from] serde_json::Error),
    /// These files are missing or are not what they were when the report was made.
    #[error("not what {MANIFEST} says: {}", .0.join(", "))]
    Changed(Vec<String>),
    /// The study file has faults.
    #[error("{STUDY}: {}", .0.iter().map(|fault| fault.message.as_str()).collect::<Vec<_>>().join("; "))]
    Study(Vec<Fault>),
    /// The report is of another study, or made by another version of keyfit.
    #[error(
        "the report was made by keyfit {version}, or of another study: its study's hash is not that of its inputs"
    )]
    OtherStudy {
        /// The version in the manifest.
        version: String,
    },
    /// The runs cannot be read.
    #[error(transparent)]
    Report(#[from] ReportError),
}

#[derive(Deserialize)]
struct Manifest {
    study_hash: String,
    keyfit: String,
    inputs: BTreeMap<String, String>,
    outputs: BTreeMap<String, String>,
}

impl Manifest {
    fn read(folder: &Path) -> Result<Manifest, VerifyError> {
        Ok(serde_json::from_str(&text(folder, MANIFEST)?)?)
    }

    /// The study of the report's inputs, with the text of its file.
    fn study(self, folder: &Path) -> Result<(Study, String), VerifyError> {
        let text = text(folder, STUDY)?;
        let study = Study::parse(&text, &folder.join(INPUTS)).map_err(VerifyError::Study)?;
        match study.hash == self.study_hash {
            true => Ok((study, text)),
            false => Err(VerifyError::OtherStudy { version: self.keyfit }),
        }
    }
}

fn text(folder: &Path, path: &str) -> Result<String, VerifyError> {
    let path = folder.join(path);
    std::fs::read_to_string(&path)
        .map_err(|source| VerifyError::Io { path: path.display().to_string(), source })
}

/// The files that a report's manifest names, all of them inside its folder; none where there is no finished report.
pub fn named(folder: &Path) -> BTreeSet<String> {
    let manifest = Manifest::read(folder).ok();
    let all = manifest
        .into_iter()
        .flat_map(|manifest| manifest.inputs.into_keys().chain(manifest.outputs.into_keys()));
    all.filter(|path| is_inside(path)).collect()
}

/// The files in a folder and below, `/` between the parts of their paths.
fn list(folder: &Path, below: &str, all: &mut Vec<String>) -> io::Result<()> {
    for entry in std::fs::read_dir(folder.join(below))? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = if below.is_empty() { name } else { format!("{below}/{name}") };
        if entry.file_type()?.is_dir() {
            list(folder, &path, all)?;
        } else {
            all.push(path);
        }
    }
    Ok(())
}

fn is_same(folder: &Path, path: &str, known: &str) -> bool {
    is_inside(path) && std::fs::read(folder.join(path)).is_ok_and(|bytes| hash(&bytes) == known)
}

/// Whether a path leads to nowhere outside of the folder that it begins in.
fn is_inside(path: &str) -> bool {
    Path::new(path).components().all(|part| matches!(part, Component::Normal(_)))
}

/// The study that a report is of and the text of its file, once what the report is made of, inputs and runs, is what the manifest says.
///
/// # Errors
/// See [`VerifyError`].
pub fn sources(folder: &Path) -> Result<(Study, String), VerifyError> {
    let manifest = Manifest::read(folder)?;
    let made_of = manifest.outputs.iter().filter(|(path, _)| *path == RUNS).chain(&manifest.inputs);
    let changed = made_of.filter(|(path, known)| !is_same(folder, path, known));
    let mut changed: Vec<String> = changed.map(|(path, _)| path.clone()).collect();
    let unnamed = [(RUNS, &manifest.outputs), (STUDY, &manifest.inputs)].into_iter();
    changed.extend(unnamed.filter(|(path, own)| !own.contains_key(*path)).map(|(path, _)| path.to_owned()));
    if changed.is_empty() { manifest.study(folder) } else { Err(VerifyError::Changed(changed)) }
}

/// Takes the hashes of all files, and carries out so many runs again, of those that had ended by themselves; which ones is
/// chosen by the study's seed.
///
/// # Errors
/// See [`VerifyError`].
pub fn verify(folder: &Path, sample: usize) -> Result<Verification, VerifyError> {
    let manifest = Manifest::read(folder)?;
    let mut found = Verification::default();
    for (path, known) in manifest.inputs.iter().chain(&manifest.outputs) {
        found.files += 1;
        found.changed.extend((!is_same(folder, path, known)).then(|| path.clone()));
    }
    let mut there = Vec::new();
    list(folder, "", &mut there)
        .map_err(|source| VerifyError::Io { path: folder.display().to_string(), source })?;
    let known = |path: &String| manifest.inputs.contains_key(path) || manifest.outputs.contains_key(path);
    found.unchecked = there.into_iter().filter(|path| path != MANIFEST && !known(path)).collect();
    found.unchecked.sort();
    let (study, _) = manifest.study(folder)?;
    let mut runs: Vec<(u64, Record)> = lines(&text(folder, RUNS)?, &study).collect::<Result<_, _>>()?;
    let missing = study.len() - runs.len() as u64;
    if missing > 0 {
        return Err(ReportError::from(TableError::Missing { missing, all: study.len() }).into());
    }
    // what a limit of time or memory has stopped ends elsewhere on another machine
    runs.retain(|(_, record)| !record.is_cut_off());
    let mut random = Random::new(study.seed);
    while found.sample.len() < sample && !runs.is_empty() {
        let (number, record) = runs.swap_remove((random.bits() % runs.len() as u64) as usize);
        let again = study.job(number).and_then(|job| execute(&study, job));
        let same =
            again.is_some_and(|(again, _)| to_line(number, &again, 0.0) == to_line(number, &record, 0.0));
        found.sample.push(number);
        found.different.extend((!same).then_some(number));
    }
    Ok(found)
}
