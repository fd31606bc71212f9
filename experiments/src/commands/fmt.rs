//! `keyfit fmt`

use std::path::Path;
use std::process::ExitCode;

use clap::Args;
use keyfit::Scene;

use super::{print, write_whole};
use crate::failure::{Failure, NEGATIVE, say};
use crate::model::{is_yaml, read};

#[derive(Args)]
pub struct Fmt {
    /// Scene files in RectSL; - for stdin, whose layout goes to stdout
    #[arg(required = true)]
    files: Vec<String>,
    /// Write nothing; exit with 1 if a file is not in the usual layout
    #[arg(long)]
    check: bool,
}

impl Fmt {
    pub fn run(self) -> Result<ExitCode, Failure> {
        // all are read before the first is written: one bad file changes nothing
        let mut laid = Vec::new();
        for file in &self.files {
            let source = read(file)?;
            if is_yaml(&source) {
                return Err(Failure::input(format!("{file}: fmt lays RectSL out, and this is YAML")));
            }
            let text = Scene::format_rectsl(&source.text).map_err(|e| Failure::all_syntax(&source, &e))?;
            laid.push((file, source, text));
        }
        let mut code = ExitCode::SUCCESS;
        for (file, source, text) in laid {
            match (self.check, file.as_str()) {
                (true, _) if text != source.text => {
                    say(format!("{file} is not in the usual layout: keyfit fmt {file} changes it"));
                    code = ExitCode::from(NEGATIVE);
                }
                (true, _) => {}
                (false, "-") => print(&text)?,
                (false, _) if text != source.text => write_whole(Path::new(file), text.as_bytes())?,
                (false, _) => {}
            }
        }
        Ok(code)
    }
}
