//! Running the program as a person would.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The repository's root.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().into()
}

/// A new empty folder, removed when dropped.
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn new(name: &str) -> Folder {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    pub fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        std::fs::write(self.0.join(name), text).unwrap();
    }

    pub fn run(&self, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_keyfit")).args(arguments).current_dir(&self.0).output().unwrap()
    }

    /// Runs a study, given below the repository's root, and writes its report to `report`.
    pub fn report(&self, study: &str) {
        let study = root().join(study);
        let study = study.to_str().unwrap();
        for line in [
            &["study", "run", study, "--store", "s.runs"][..],
            &["study", "report", study, "--store", "s.runs", "--out", "report"],
        ] {
            let output = self.run(line);
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Exit code, stdout and stderr as one text.
pub fn transcript(arguments: &[&str], output: &Output) -> String {
    let quoted: Vec<String> = arguments
        .iter()
        .map(|a| if a.contains([' ', '(', '*', '?', '[']) { format!("'{a}'") } else { (*a).into() })
        .collect();
    let part = |name: &str, bytes: &[u8]| match String::from_utf8_lossy(bytes).trim_end() {
        "" => String::new(),
        text => format!("{name}\n{text}\n"),
    };
    format!(
        "$ keyfit {}\n[{}]\n{}{}",
        quoted.join(" "),
        output.status.code().unwrap(),
        part("--- stdout", &output.stdout),
        part("--- stderr", &output.stderr)
    )
}

/// Runs each command line in one folder and joins the transcripts.
pub fn session(folder: &Folder, lines: &[&[&str]]) -> String {
    lines.iter().map(|line| transcript(line, &folder.run(line)) + "\n").collect()
}
