//! `keyfit simplify` and what verifies it.

use crate::folder::{Folder, root, session, transcript};

#[test]
fn simplify_says_what_it_does_and_why() {
    let folder = Folder::new("simplify");
    folder.write("scene.rectsl", "#rectsl\n->duration 4\n\"dot\" rect t t - ->x ;");
    let text = session(
        &folder,
        &[
            &["simplify", "(exp(t) + 0) * 1 - -?a=1"],
            &["simplify", "?x=1 + 0"],
            &["simplify", "clamp(t, 0, 4) * 0", "--proof"],
            &["simplify", "t - t"],
            &["simplify", "t - t", "--duration", "10", "--proof"],
            &["simplify", "scene.rectsl"],
            &["simplify", "?x=1 * 0 + abs(?x)", "--bound", "x=0.5..2", "--proof"],
            &["simplify", "hold[0=1 1=1 2=3](clamp(t, 0, 9)) * 2", "--proof"],
            &["simplify", "t + 0", "--bound", "x=2..1"],
            &["simplify", "t + 0", "--duration", "-1"],
        ],
    );
    insta::assert_snapshot!(text);
}

#[test]
fn a_proof_is_written_replayed_and_rejected_when_it_is_changed() {
    let folder = Folder::new("proof");
    let line = ["simplify", "(t * t) * 0 + linear[0=?x=1 0.5=2 20=3]", "--duration", "10", "--json"];
    let output = folder.run(&line);
    let object: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    for key in ["before", "after", "nodes_before", "nodes_after", "steps"] {
        assert!(object.get(key).is_some(), "{key}");
    }
    let steps = object["steps"].as_array().unwrap();
    assert!(!steps.is_empty());
    assert!(
        steps
            .iter()
            .all(|step| ["rule", "place", "before", "after"].iter().all(|key| step.get(key).is_some()))
    );
    folder.write("proof.json", &output.stdout);
    let replayed = folder.run(&["verify", "proof", "proof.json"]);
    assert_eq!(replayed.status.code(), Some(0), "{}", transcript(&["verify"], &replayed));

    let mut changed = object.clone();
    changed["proof"]["duration"] = "1e200".into();
    folder.write("longer.json", changed.to_string());
    let mut other = object.clone();
    other["after"] = "t".into();
    folder.write("other.json", other.to_string());
    let mut shorter = object;
    shorter["proof"]["steps"].as_array_mut().unwrap().remove(0);
    folder.write("shorter.json", shorter.to_string());
    folder.write("nothing.json", "{}");
    let text = session(
        &folder,
        &[
            &["verify", "proof", "longer.json"],
            &["verify", "proof", "other.json"],
            &["verify", "proof", "shorter.json"],
            &["verify", "proof", "nothing.json"],
        ],
    );
    insta::assert_snapshot!(text);
}

#[test]
fn random_tracks_keep_every_bit() {
    let folder = Folder::new("pairs");
    let output = folder.run(&["verify", "simplify", "--pairs", "20000", "--seed", "3", "--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", transcript(&["verify", "simplify"], &output));
    let tally: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&tally["pairs"], &tally["differing"]), (&20000.into(), &0.into()));
    assert!(tally["changed"].as_u64() > Some(10) && tally["proofs"] == tally["tracks"]);
}

#[test]
fn rules_are_checked_without_a_solver_only_if_asked_to() {
    let folder = Folder::new("rules");
    let output = folder.run(&[
        "verify",
        "rules",
        "--without-solver",
        "--samples",
        "50",
        "--rounding-points",
        "0",
        "--json",
    ]);
    assert_eq!(output.status.code(), Some(0), "{}", transcript(&["verify", "rules"], &output));
    let object: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    for rule in object["rules"].as_array().unwrap() {
        assert!(["name", "kind", "evidence", "seconds"].iter().all(|key| rule.get(key).is_some()), "{rule}");
    }
    assert!(object["summary"]["refused"].as_u64().unwrap() >= 60);
    assert_eq!(object["summary"]["false"], 0);
    let none = std::process::Command::new(env!("CARGO_BIN_EXE_keyfit"))
        .args(["verify", "rules", "--samples", "1"])
        .env("PATH", "")
        .env_remove("KEYFIT_SOLVER")
        .current_dir(&folder.0)
        .output()
        .unwrap();
    insta::assert_snapshot!(transcript(&["verify", "rules", "--samples", "1"], &none));
}

#[test]
fn a_false_rule_of_each_kind_makes_the_command_fail() {
    let folder = Folder::new("planted");
    let row = |name: &str, left: &str, right: &str, more: &str| {
        format!("[[rule]]\nname = \"{name}\"\nleft = \"{left}\"\nright = \"{right}\"\n{more}\n")
    };
    let planted = [
        row("by-smt", "x + 0.0", "x", ""),
        row("by-rounding", "exp(a + b)", "exp(a) * exp(b)", "claim = \"correct rounding\""),
        row("by-lemma", "max(sqrt(a), sqrt(b))", "sqrt(max(a, b))", "claim = \"lemma\""),
        row("by-definition", "a * (1.0 - u) + b * u", "mix(a, b, u)", "claim = \"definition\""),
        row("under-a-condition", "x * 0.0", "0.0", "when = [\"x is finite\"]"),
        row("refused", "x * 1.0", "x", "claim = \"refused\"\nwitness = { x = -0.0 }"),
        row("over-the-reals", "sqrt(x * x)", "x", "claim = \"algebra\""),
    ];
    let mut told = String::new();
    for (k, planted) in planted.iter().enumerate() {
        let file = format!("{k}.toml");
        folder.write(&file, planted);
        let line = ["verify", "rules", "--file", &file, "--without-solver"];
        let output = folder.run(&line);
        assert_eq!(output.status.code(), Some(1), "{}", transcript(&line, &output));
        let stdout = String::from_utf8(output.stdout).unwrap();
        told += stdout.lines().next().unwrap_or_default();
        told.push('\n');
    }
    insta::assert_snapshot!(told);
    // together with a true one it is the false one that is told
    folder.write("both.toml", &(row("true", "x + x", "2.0 * x", "") + &planted[0]));
    let output = folder.run(&["verify", "rules", "--file", "both.toml", "--without-solver", "--json"]);
    let object: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&object["rules"][0]["holds"], &object["rules"][1]["holds"]), (&true.into(), &false.into()));
    folder.write(
        "typo.toml",
        "[[rule]]\nname = \"a\"\nleft = \"sinn(x)\"\nright = \"q\"\nwhen = [\"x is fine\"]\n",
    );
    let line = ["verify", "rules", "--file", "typo.toml", "--without-solver"];
    insta::assert_snapshot!("typo", transcript(&line, &folder.run(&line)));
}

#[test]
fn the_catalogue_of_rules_is_in_step() {
    let folder = Folder::new("catalogue");
    let line =
        ["verify", "rules", "--without-solver", "--samples", "0", "--rounding-points", "0", "--format", "md"];
    let printed = String::from_utf8(folder.run(&line).stdout).unwrap();
    let kept = std::fs::read_to_string(root().join("experiments/docs/rules.md")).unwrap_or_default();
    assert!(printed == kept, "run: keyfit {} > experiments/docs/rules.md", line.join(" "));
}

#[test]
fn the_table_of_savings_is_in_step() {
    let folder = Folder::new("savings");
    let printed = String::from_utf8(folder.run(&["verify", "simplify", "--table"]).stdout).unwrap();
    let kept = std::fs::read_to_string(root().join("experiments/docs/simplify.md")).unwrap_or_default();
    assert!(printed == kept, "run: keyfit verify simplify --table > experiments/docs/simplify.md");
    // instructions are counted where valgrind is; that it was of these very tracks can be seen anywhere
    let counted =
        std::fs::read_to_string(root().join("experiments/docs/instructions.md")).unwrap_or_default();
    let rows = |text: &str| {
        text.lines().filter(|line| line.starts_with("| ")).skip(2).map(str::to_owned).collect::<Vec<_>>()
    };
    let nodes: Vec<String> = rows(&kept)
        .iter()
        .map(|row| row.split('|').take(6).collect::<Vec<_>>())
        .filter(|cells| cells[1].starts_with(" nist/") || !cells[2].contains("/d"))
        .map(|cells| cells.join("|"))
        .collect();
    let counted = rows(&counted);
    assert!(
        counted.len() == nodes.len() && counted.iter().zip(&nodes).all(|(row, nodes)| row.starts_with(nodes)),
        "run: make instructions"
    );
}

#[test]
fn changed_proofs_are_rejected() {
    let folder = Folder::new("mutants");
    let line = ["verify", "proofs", "--tracks", "200", "--mutants", "300", "--json"];
    let output = folder.run(&line);
    assert_eq!(output.status.code(), Some(0), "{}", transcript(&line, &output));
    let tally: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(tally["proofs"].as_u64() >= Some(200) && tally["rejected"].as_u64() >= Some(300), "{tally}");
    for (kind, count) in tally["mutants"].as_object().unwrap() {
        let [rejected, still] = ["rejected", "still_proofs"].map(|key| count[key].as_u64().unwrap());
        // steps that do not need one another can be exchanged, and most proofs need no bounds
        assert!(kind == "swapped" || rejected > 0, "{tally}");
        assert!(["swapped", "bounds"].contains(&kind.as_str()) || still * 4 < rejected, "{tally}");
    }
}
