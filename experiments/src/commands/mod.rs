//! One file a command.

pub mod compare;
pub mod describe;
pub mod fit;
pub mod sample;
pub mod tables;

use std::io::{self, Write};

use serde_json::Value;

use crate::failure::Failure;

/// Prints one JSON object.
fn print_json(value: &Value) -> Result<(), Failure> {
    print(&format!("{value:#}\n"))
}

/// Prints text as it is.
fn print(text: &str) -> Result<(), Failure> {
    Ok(io::stdout().lock().write_all(text.as_bytes())?)
}
