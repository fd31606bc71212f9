//! The suites are embedded by a macro that does not tell cargo what it reads; reports name the revision that they were made by.

use std::fs::read_to_string;
use std::path::Path;

fn main() {
    println!("cargo:rerun-if-changed=suites");
    // other builds would be made anew after every commit
    if std::env::var("PROFILE").is_ok_and(|profile| profile == "release") {
        println!("cargo:rustc-env=KEYFIT_REVISION={}", revision(Path::new("../.git")).unwrap_or_default());
    }
}

/// The revision that is checked out; `None` where there is none, or where it is kept elsewhere.
fn revision(git: &Path) -> Option<String> {
    // the log grows with every commit, wherever the branch's own file is kept
    for watched in ["HEAD", "logs/HEAD"].map(|name| git.join(name)).iter().filter(|path| path.exists()) {
        println!("cargo:rerun-if-changed={}", watched.display());
    }
    let head = read_to_string(git.join("HEAD")).ok()?;
    let Some(name) = head.trim().strip_prefix("ref: ") else { return Some(head.trim().to_owned()) };
    let own = git.join(name);
    if own.exists() {
        return Some(read_to_string(own).ok()?.trim().to_owned());
    }
    // refs that were packed
    let packed = read_to_string(git.join("packed-refs")).ok()?;
    packed.lines().find_map(|line| line.strip_suffix(name).map(|revision| revision.trim().to_owned()))
}
