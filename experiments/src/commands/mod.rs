//! One file a command.

pub mod compare;
pub mod derive;
pub mod describe;
pub mod fit;
pub mod fmt;
pub mod glsl;
pub mod improve;
mod known;
pub mod plot;
pub mod proving;
pub mod rules;
pub mod sample;
pub mod simplify;
pub mod study;
pub mod tables;
pub mod verify;

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use clap::ValueEnum;
use keyfit::Track;
use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};
use serde_json::Value;

use crate::failure::Failure;
use crate::model::Model;

/// How tracks are printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Notation {
    /// keyfit's own
    #[default]
    Describe,
    /// FPBench's exchange format
    Fpcore,
}

impl Notation {
    /// The text of `track`, which stands for the model's channel of this number.
    fn text(self, model: &Model, channel: usize, track: &Track) -> Result<String, Failure> {
        match self {
            Notation::Describe => Ok(track.describe()),
            Notation::Fpcore => Ok(model.core(channel, track).write()?),
        }
    }

    /// The line of `track`; FPCore has its names inside.
    fn line(self, model: &Model, channel: usize, track: &Track) -> Result<String, Failure> {
        let text = self.text(model, channel, track)?;
        let label = match (self, model.channels.get(channel)) {
            (Notation::Describe, Some(channel)) => model.label(&channel.name),
            _ => String::new(),
        };
        Ok(format!("{label}{text}\n"))
    }
}

/// Prints one JSON object.
fn print_json(value: &Value) -> Result<(), Failure> {
    print(&format!("{value:#}\n"))
}

/// A number as JSON: one that is not finite is the string "NaN", "inf" or "-inf".
fn json_number(x: f64) -> Value {
    if x.is_finite() { x.into() } else { format!("{x:?}").into() }
}

/// A track's free parameters as JSON: name → current value.
fn starts_json(track: &Track) -> Value {
    track.free_parameters().iter().map(|p| (p.name().to_string(), json_number(p.start()))).collect()
}

/// CSV text.
fn csv_text(rows: impl IntoIterator<Item = Vec<String>>) -> Result<String, Failure> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for row in rows {
        writer.write_record(row).map_err(Failure::input)?;
    }
    String::from_utf8(writer.into_inner().map_err(Failure::input)?).map_err(Failure::input)
}

/// Prints text as it is.
fn print(text: &str) -> Result<(), Failure> {
    Ok(io::stdout().lock().write_all(text.as_bytes())?)
}

/// Writes to a temporary name of its own and renames, so that no half file is ever seen. A link is followed; an existing
/// file keeps its permissions.
fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    fill_whole(path, |file| file.write_all(bytes))
        .map_err(|e| Failure::input(format!("{}: {e}", path.display())))
}

/// Whether both paths lead to one file or folder, which is there.
fn are_same(a: &Path, b: &Path) -> bool {
    a.canonicalize().is_ok_and(|a| b.canonicalize().is_ok_and(|b| a == b))
}

/// The ending of temporary names, which begin with a point and the number of a process.
const PARTIAL: &str = ".partial";

/// The process that has written to a file under this temporary name; `None` if it is another name.
fn partial_of(name: &str) -> Option<Pid> {
    let (process, number) = name.strip_prefix('.')?.strip_suffix(PARTIAL)?.split_once('-')?;
    number.parse::<u32>().ok().and_then(|_| Pid::from_raw(process.parse().ok()?))
}

/// Removes what processes that are gone have left half written in a folder and below.
fn clear_partial(folder: &Path) {
    let gone = |name: &str| Some(test_kill_process(partial_of(name)?) == Err(Errno::SRCH));
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => clear_partial(&entry.path()),
            Ok(kind) if kind.is_file() && gone(&entry.file_name().to_string_lossy()) == Some(true) => {
                let _ = fs::remove_file(entry.path());
            }
            _ => {}
        }
    }
}

/// The same with what `fill` writes.
fn fill_whole(path: &Path, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let target = path.canonicalize().unwrap_or_else(|_| path.into());
    let present = fs::metadata(&target).ok();
    if present.as_ref().is_some_and(|present| !present.is_file()) {
        return Err(io::Error::other("it is not a regular file"));
    }
    // the first name that is free: another keyfit may be writing here too
    let (temporary, file) = (0u32..)
        .map(|n| target.with_file_name(format!(".{}-{n}{PARTIAL}", std::process::id())))
        .find_map(|own| match fs::OpenOptions::new().write(true).create_new(true).open(&own) {
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => None,
            opened => Some(opened.map(|file| (own, file))),
        })
        .unwrap_or_else(|| Err(io::ErrorKind::AlreadyExists.into()))?;
    let mut file = io::BufWriter::new(file);
    let written = fill(&mut file).and_then(|()| file.flush()).and_then(|()| match &present {
        Some(present) => file.get_ref().set_permissions(present.permissions()),
        None => Ok(()),
    });
    written.and_then(|()| fs::rename(&temporary, &target)).inspect_err(|_| {
        let _ = fs::remove_file(&temporary);
    })
}
