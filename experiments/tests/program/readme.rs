//! Every shell block of the README runs, and prints what the README says.

use std::process::Command;

use crate::folder::{Folder, root};

/// Fenced blocks: language and text.
fn blocks(markdown: &str) -> Vec<(&str, String)> {
    let mut blocks = Vec::new();
    let mut open: Option<(&str, String)> = None;
    for line in markdown.lines() {
        match (line.strip_prefix("```"), &mut open) {
            (Some(language), None) => open = Some((language, String::new())),
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (None, Some((_, text))) => *text += &format!("{line}\n"),
            (None, None) => {}
        }
    }
    blocks
}

#[test]
fn shell_blocks_run_and_print_what_is_shown() {
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    let blocks = blocks(&readme);
    // `make test` runs `make demo` and this very test; here it is only held to what the Makefile has
    assert_eq!(blocks[0], ("sh", "make demo\nmake test\n".into()));
    let makefile = std::fs::read_to_string(root().join("Makefile")).unwrap();
    assert!(
        makefile.contains("\ndemo:") && makefile.contains("\ntest:") && makefile.contains("$(MAKE) demo")
    );

    let folder = Folder::new("readme");
    std::os::unix::fs::symlink(root().join("experiments"), folder.0.join("experiments")).unwrap();
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_keyfit")).parent().unwrap();
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap());
    let mut ran = 0;
    for (i, (language, text)) in
        blocks.iter().enumerate().skip(1).filter(|(_, (language, _))| *language == "sh")
    {
        let output = Command::new("sh")
            .args(["-ec", text])
            .env("PATH", &path)
            .current_dir(&folder.0)
            .output()
            .unwrap();
        assert!(output.status.success(), "{language} {text}\n{}", String::from_utf8_lossy(&output.stderr));
        if let Some(("text", shown)) = blocks.get(i + 1) {
            assert_eq!(String::from_utf8_lossy(&output.stdout), *shown, "{text}");
        }
        ran += 1;
    }
    assert_eq!(ran, 14);
}
