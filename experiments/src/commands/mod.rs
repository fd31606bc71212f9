//! One file a command.

pub mod compare;
pub mod derive;
pub mod describe;
pub mod fit;
pub mod fmt;
pub mod glsl;
pub mod plot;
pub mod sample;
pub mod tables;
pub mod verify;

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use serde_json::Value;

use crate::failure::Failure;

/// Prints one JSON object.
fn print_json(value: &Value) -> Result<(), Failure> {
    print(&format!("{value:#}\n"))
}

/// A number as JSON: one that is not finite is the string "NaN", "inf" or "-inf".
fn json_number(x: f64) -> Value {
    if x.is_finite() { x.into() } else { format!("{x:?}").into() }
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

/// Writes to a temporary name and renames, so that no half file is ever seen.
fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let temporary = path.with_extension("partial");
    fs::write(&temporary, bytes)
        .and_then(|()| fs::rename(&temporary, path))
        .map_err(|e| Failure::input(format!("{}: {e}", path.display())))
}
