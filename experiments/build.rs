//! The suites are embedded by a macro that does not tell cargo what it reads; reports name the revision that they were made by.

use std::path::Path;
use std::process::Command;

/// All that the program is made of, from the repository's root.
const SOURCES: [&str; 14] = [
    "Cargo.toml",
    "Cargo.lock",
    "ir/Cargo.toml",
    "ir/src",
    "autodiff/Cargo.toml",
    "autodiff/src",
    "rewrite/Cargo.toml",
    "rewrite/src",
    "solvers/Cargo.toml",
    "solvers/src",
    "experiments/Cargo.toml",
    "experiments/build.rs",
    "experiments/src",
    "experiments/suites",
];

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=suites");
    // other builds would be made anew after every commit
    if std::env::var("PROFILE").is_ok_and(|profile| profile == "release") {
        println!("cargo:rustc-env=KEYFIT_REVISION={}", revision(Path::new("..")).unwrap_or_default());
    }
}

/// The revision that is checked out, with `-dirty` where the program's sources are not as they are in it; `None` without git, or where
/// the folder is not a repository's.
fn revision(root: &Path) -> Option<String> {
    let git = |arguments: &[&str]| {
        let output = Command::new("git").current_dir(root).args(arguments).output().ok()?;
        let text = output.status.success().then(|| String::from_utf8(output.stdout).ok())??;
        Some(text.trim().to_owned())
    };
    // within another repository it says nothing about us
    if !git(&["rev-parse", "--show-prefix"])?.is_empty() {
        return None;
    }
    let head = git(&["rev-parse", "HEAD"])?;
    // the log grows with every commit, wherever the branch's own file is kept
    let logs = ["HEAD", "logs/HEAD"].iter().filter_map(|name| git(&["rev-parse", "--git-path", name]));
    for path in
        logs.chain(SOURCES.map(str::to_owned)).map(|path| root.join(path)).filter(|path| path.exists())
    {
        println!("cargo:rerun-if-changed={}", path.display());
    }
    let changes = git(&[&["status", "--porcelain", "--"], SOURCES.as_slice()].concat())?;
    Some(if changes.is_empty() { head } else { format!("{head}-dirty") })
}
