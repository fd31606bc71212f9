//! `keyfit study`: nothing is lost, whatever happens.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use keyfit::study::run::Workers;
use keyfit::study::store::Record;
use keyfit::study::work::to_line;
use keyfit::study::{Shard, Store, Study};
use sha2::{Digest, Sha256};

use crate::folder::{Folder, root};

const SMALL: &str = "
name = \"small\"
seed = 5
[[suites]]
name = \"nist\"
problems = [\"Misra1a\", \"DanWood\", \"BoxBOD\"]
[[solvers]]
solver = \"levenberg-marquardt\"
[[solvers]]
label = \"descent\"
solver = \"gradient-descent\"
grid = { learning-rate = [0.01, 0.1] }
[starts]
scaled = [10]
random = 3
[budget]
iterations = 300
";

struct Ran {
    code: i32,
    stdout: String,
    stderr: String,
}

fn run(folder: &Folder, line: &[&str]) -> Ran {
    let output = folder.run(line);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ran { code: output.status.code().unwrap(), stdout: text(&output.stdout), stderr: text(&output.stderr) }
}

/// Every run in the store, as text without its seconds.
fn runs(folder: &Folder, file: &str, store: &str) -> BTreeMap<u64, String> {
    let text = std::fs::read_to_string(folder.0.as_path().join(file)).unwrap();
    let study = Study::parse(&text, folder.0.as_path()).unwrap();
    let mut runs = BTreeMap::new();
    let mut store = Store::open(&folder.0.as_path().join(store), &study.hash).unwrap();
    store.for_each(|job, record, _| assert!(runs.insert(job, to_line(job, &record, 0.0)).is_none())).unwrap();
    runs
}

fn start(folder: &Path, line: &[&str]) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_keyfit"));
    command.args(line).current_dir(folder).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

#[test]
fn a_study_that_is_killed_goes_on_where_it_was() {
    let folder = Folder::new("study-kill");
    folder.write("s.toml", SMALL);
    assert_eq!(run(&folder, &["study", "run", "s.toml", "--store", "whole"]).code, 0);
    let whole = runs(&folder, "s.toml", "whole");
    assert_eq!(whole.len(), 3 * (2 + 2 + 3) * 3);

    let mut random = keyfit::solvers::Random::new(3);
    let mut before: BTreeMap<u64, String> = BTreeMap::new();
    let mut grown = 0;
    for _ in 0..20 {
        let mut child =
            start(folder.0.as_path(), &["study", "run", "s.toml", "--store", "killed", "--jobs", "2"]);
        std::thread::sleep(Duration::from_millis(random.bits() % 200));
        child.kill().unwrap();
        child.wait().unwrap();
        if !folder.0.as_path().join("killed").exists() {
            continue;
        }
        // killed before the tables were there, it is an empty store
        let Ok(text) = std::fs::read(folder.0.as_path().join("killed")) else { continue };
        if text.is_empty() {
            continue;
        }
        let now = runs_if_any(&folder, "killed");
        assert!(before.iter().all(|(job, run)| now.get(job) == Some(run)), "a finished run was lost");
        assert!(now.iter().all(|(job, run)| whole[job] == *run));
        grown += usize::from(now.len() > before.len());
        before = now;
    }
    assert!(grown > 0, "no kill came while the study ran");
    assert_eq!(run(&folder, &["study", "run", "s.toml", "--store", "killed"]).code, 0);
    assert!(runs(&folder, "s.toml", "killed") == whole);
    for store in ["killed", "whole"] {
        let report = run(
            &folder,
            &["study", "report", "s.toml", "--store", store, "--out", &format!("{store}.report")],
        );
        assert_eq!(report.code, 0, "{}", report.stderr);
    }
    let [killed, undisturbed] = ["killed.report", "whole.report"].map(|report| files(&folder.0.join(report)));
    assert!(killed == undisturbed, "the report of a study that was killed differs");
    // and there is nothing left to do
    let again = run(&folder, &["study", "run", "s.toml", "--store", "killed", "--json"]);
    assert!(again.stdout.contains("\"carried_out\": 0"), "{}", again.stdout);
}

/// What is in a store, which may have been killed before its tables were made.
fn runs_if_any(folder: &Folder, store: &str) -> BTreeMap<u64, String> {
    let study = Study::parse(SMALL, folder.0.as_path()).unwrap();
    match Store::open(&folder.0.as_path().join(store), &study.hash) {
        Ok(_) => runs(folder, "s.toml", store),
        Err(_) => BTreeMap::new(),
    }
}

#[test]
fn shards_make_the_whole() {
    let folder = Folder::new("study-shards");
    folder.write("s.toml", SMALL);
    folder.write("other.toml", SMALL.replace("seed = 5", "seed = 6"));
    assert_eq!(run(&folder, &["study", "run", "s.toml"]).code, 0);
    for part in 1..=3 {
        let (share, store) = (format!("{part}/3"), format!("part{part}"));
        let done =
            run(&folder, &["study", "run", "s.toml", "--shard", &share, "--store", &store, "--jobs", "1"]);
        assert_eq!(done.code, 0, "{}", done.stderr);
        assert!(runs(&folder, "s.toml", &store).keys().all(|job| Shard::parse(&share).unwrap().has(*job)));
    }
    let merged = run(&folder, &["study", "merge", "s.toml", "part1", "part2", "part3", "--store", "merged"]);
    assert_eq!(merged.code, 0, "{}", merged.stderr);
    assert!(runs(&folder, "s.toml", "merged") == runs(&folder, "s.toml", "s.runs"));
    // a second time changes nothing, and another study's store is refused
    assert_eq!(run(&folder, &["study", "merge", "s.toml", "part1", "--store", "merged"]).code, 0);
    let refused = run(&folder, &["study", "merge", "other.toml", "part1", "--store", "else"]);
    assert_eq!(refused.code, 2);
    assert!(refused.stderr.contains("another study"), "{}", refused.stderr);
}

/// How every run ended, by its problem; a problem has one.
fn endings(folder: &Folder, file: &str, store: &str) -> BTreeMap<String, String> {
    let text = std::fs::read_to_string(folder.0.join(file)).unwrap();
    let study = Study::parse(&text, &folder.0).unwrap();
    let mut all = BTreeMap::new();
    let mut store = Store::open(&folder.0.join(store), &study.hash).unwrap();
    let name = |job| study.problems[study.job(job).unwrap().problem].problem.name.clone();
    store.for_each(|job, record, _| assert!(all.insert(name(job), record.status).is_none())).unwrap();
    assert_eq!(all.len() as u64, study.len());
    all
}

/// Runs that hang, take too much memory or give nothing cost themselves only.
#[test]
fn a_bad_run_costs_that_run_only() {
    let folder = Folder::new("study-bad");
    let list = |n: usize, f: &dyn Fn(usize) -> String, between: &str| {
        (0..n).map(f).collect::<Vec<_>>().join(between)
    };
    let problem = |path: &str, name: &str, model: &str, starts: &str, n: usize| {
        let (t, y) = (list(n, &|k| format!("{k}.0"), ", "), list(n, &|k| format!("{}.5", k % 7), ", "));
        folder.write(
            path,
            format!(
                "name = \"{name}\"\nmodel = \"{model}\"\nstarts = [{{ {starts} }}]\n\
                 [certified]\nsum_of_squares = 0.0\n[data]\nt = [{t}]\ny = [{y}]\n"
            ),
        );
    };
    // a dense Jacobian of 40000 × 1000 is 320 MB
    let many = list(1000, &|k| format!("p{k}*(t + {k})"), " + ");
    // each evaluation takes long, and none is at a minimum
    let slow = list(4000, &|k| format!("sin({k}.5*a*t)"), " + ");
    for name in ["memory", "time"] {
        std::fs::create_dir(folder.0.join(name)).unwrap();
        problem(&format!("{name}/b-nan.toml"), "nan", "ln(a) + t", "a = -1.0", 5);
        problem(&format!("{name}/c-good.toml"), "good", "a*t + b", "a = 1.0, b = 1.0", 5);
    }
    let starts = list(1000, &|k| format!("p{k} = 1.0"), ", ");
    problem("memory/a-memory.toml", "memory", &many, &starts, 40000);
    problem("time/a-slow.toml", "slow", &slow, "a = 1.0", 2000);
    for (name, bad, ending, seconds, megabytes) in
        [("memory", "memory", "memory-limit", "300.0", 200), ("time", "slow", "time-limit", "0.5", 4096)]
    {
        let file = format!("{name}.toml");
        folder.write(
            &file,
            format!(
                "name = \"bad\"\n[[suites]]\nfolder = \"{name}\"\n[[solvers]]\nsolver = \"levenberg-marquardt\"\n\
                 [budget]\nseconds = {seconds}\nmegabytes = {megabytes}\n"
            ),
        );
        let done = run(&folder, &["study", "run", &file, "--jobs", "1"]);
        assert_eq!(done.code, 0, "{}", done.stderr);
        let ended = endings(&folder, &file, &format!("{name}.runs"));
        assert_eq!(ended[bad], ending);
        assert!(ended["nan"].starts_with("refused"), "{ended:?}");
        assert!(!ended["good"].contains("limit") && !ended["good"].contains("crashed"), "{ended:?}");
    }
}

/// Workers that die, hang or answer nonsense, in the place of our own.
#[test]
fn a_worker_that_fails_costs_its_run() {
    let folder = Folder::new("study-workers");
    let text = format!("{}seconds = 1.0\n", SMALL.replace("random = 3", ""));
    let study = Study::parse(&text, &folder.0).unwrap();
    for (name, script, ending) in [
        (
            "killed",
            "echo ready; read n; echo Goodbye >&2; kill -9 $$",
            "crashed: signal: 9 (SIGKILL): Goodbye",
        ),
        ("silent", "echo ready; read n; exit 3", "crashed: exit status: 3"),
        (
            "memory",
            "echo ready; read n; echo memory allocation of 8 bytes failed >&2; exit 5",
            "memory-limit",
        ),
        ("hangs", "echo ready; read n; exec sleep 600", "time-limit"),
        ("nonsense", "echo ready; read n; echo nonsense", "crashed: the worker's answer cannot be read"),
        (
            "other",
            "echo ready; read n; echo '[\"x\",[9999,0,0,0,0,0,0,0,0,0,0,0]]'",
            "crashed: the worker's answer cannot be read",
        ),
    ] {
        let mut store = Store::create(&folder.0.join(name), &study.hash).unwrap();
        let command = ["sh", "-c", script].map(str::to_owned).to_vec();
        // one of five, and each has its worker
        let shard = Shard::parse("1/5").unwrap();
        keyfit::study::run::run(
            &study,
            &mut store,
            shard,
            &Workers::Processes { count: 2, command },
            |_, _| {},
        )
        .unwrap();
        let mut ended = Vec::new();
        store.for_each(|_, record, seconds| ended.push((record.status, seconds))).unwrap();
        assert_eq!(ended, vec![(ending.to_owned(), None); ended.len()], "{name}");
        assert_eq!(ended.len() as u64, study.len().div_ceil(5), "{name}");
    }
}

/// A store that another process has is refused, or waited for.
#[test]
fn a_store_is_waited_for() {
    let folder = Folder::new("study-wait");
    folder.write("s.toml", SMALL);
    let study = Study::parse(SMALL, &folder.0).unwrap();
    let held = Store::create(&folder.0.join("s.runs"), &study.hash).unwrap();
    let refused = run(&folder, &["study", "run", "s.toml"]);
    assert_eq!((refused.code, refused.stderr.contains("is in use")), (2, true), "{}", refused.stderr);
    let mut waiting = start(&folder.0, &["study", "run", "s.toml", "--wait"]);
    std::thread::sleep(Duration::from_millis(300));
    assert!(waiting.try_wait().unwrap().is_none(), "it did not wait");
    drop(held);
    assert!(waiting.wait().unwrap().success());
    assert_eq!(runs(&folder, "s.toml", "s.runs").len() as u64, study.len());
}

#[test]
fn every_fault_of_a_study_file_is_told() {
    let folder = Folder::new("study-faults");
    folder.write(
        "s.toml",
        "name = 3\nsede = 1\n[[suites]]\nname = \"nits\"\n[[suites]]\nname = \"nist\"\nproblems = [\"Misra1\"]\n[[solvers]]\nsolver = \"levenberg\"\n\
         [[solvers]]\nsolver = \"bfgs\"\noptions = { step = 1.0, starts = 0.5 }\n[starts]\nspread = 0.5\nrandom = -1\n[budgets]\n",
    );
    let ran = run(&folder, &["study", "run", "s.toml"]);
    assert_eq!(ran.code, 2);
    insta::assert_snapshot!(ran.stderr);
    assert!(!folder.0.as_path().join("s.runs").exists());
}

/// What no memory holds is a fault of the file, told before it is made.
#[test]
fn studies_too_large_to_hold_are_refused() {
    let folder = Folder::new("study-large");
    let values = (0..1000).map(|k| format!("{k}.5")).collect::<Vec<_>>().join(", ");
    let names =
        ["first-step", "step", "memory", "tolerance"].map(|name| format!("grid.{name} = [{values}]\n"));
    let grid = names.concat();
    folder.write(
        "s.toml",
        format!(
            "name = \"s\"\n[[suites]]\nname = \"nist\"\n\
             [[solvers]]\nsolver = \"bfgs\"\n{grid}[starts]\nrandom = 9_000_000_000\n"
        ),
    );
    let ran = run(&folder, &["study", "run", "s.toml"]);
    let said = ["a grid of more than 10000 combinations", "random of starts is a whole number up to 100000"];
    assert_eq!((ran.code, said.map(|said| ran.stderr.contains(said))), (2, [true; 2]), "{}", ran.stderr);
    // digits in groups are digits
    let study = Study::parse(&SMALL.replace("random = 3", "random = 1_000"), &folder.0).unwrap();
    assert_eq!(study.problems[0].starts.len(), 2 + 2 + 1000);
}

/// A bit that turns over in a run's course costs that run only, and no report is made of it.
#[test]
fn damaged_runs_are_carried_out_again() {
    let folder = Folder::new("study-damage");
    folder.write("s.toml", SMALL);
    assert_eq!(run(&folder, &["study", "run", "s.toml"]).code, 0);
    let whole = runs(&folder, "s.toml", "s.runs");
    let store = folder.0.join("s.runs");
    let mut bytes = std::fs::read(&store).unwrap();
    let study = Study::parse(SMALL, &folder.0).unwrap();
    let mut lengths = Vec::new();
    let visit = |_, record: Record, _| lengths.extend(record.trace.last().map(|point| point.step));
    Store::open(&store, &study.hash).unwrap().for_each(visit).unwrap();
    // wherever it stands: SQLite leaves copies in pages that it has divided
    let length = lengths.last().unwrap().to_le_bytes();
    let places = (0..bytes.len() - 8).filter(|at| bytes[*at..at + 8] == length).collect::<Vec<_>>();
    places.iter().for_each(|at| bytes[*at] ^= 1);
    std::fs::write(&store, &bytes).unwrap();
    let refused = run(&folder, &["study", "report", "s.toml"]);
    assert_eq!((refused.code, refused.stderr.contains("is damaged")), (2, true), "{}", refused.stderr);
    let again = run(&folder, &["study", "run", "s.toml"]);
    assert!(again.code == 0 && again.stderr.contains("1 runs were damaged"), "{}", again.stderr);
    assert!(again.stdout.contains("1 runs carried out"), "{}", again.stdout);
    assert_eq!(runs(&folder, "s.toml", "s.runs"), whole);
}

#[test]
fn the_template_is_a_study() {
    let folder = Folder::new("study-init");
    assert_eq!(run(&folder, &["study", "init"]).code, 0);
    assert_eq!(run(&folder, &["study", "init"]).code, 2, "a file that is there is not overwritten");
    let text = std::fs::read_to_string(folder.0.as_path().join("study.toml")).unwrap();
    insta::assert_snapshot!(text);
    let study = Study::parse(&text, folder.0.as_path()).unwrap();
    assert_eq!((study.problems.len(), study.len()), (27, 54));
    // what stands in the comments are the defaults
    let spelled: String = text
        .lines()
        .map(|line| line.strip_prefix("# ").filter(|l| l.contains(" = ")).unwrap_or(line).to_owned() + "\n")
        .collect();
    let spelled = Study::parse(&spelled, folder.0.as_path()).unwrap();
    assert_eq!((spelled.budget, spelled.digits, spelled.tau), (study.budget, study.digits, study.tau));
}

#[test]
fn clusters_get_the_exact_commands() {
    let folder = Folder::new("study-submit");
    folder.write("my study.toml", SMALL);
    for engine in ["hq", "slurm"] {
        let ran = run(
            &folder,
            &["study", "submit", "my study.toml", "--engine", engine, "--shards", "4", "--dry-run"],
        );
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        let own = folder.0.as_path().canonicalize().unwrap();
        let text = ran
            .stdout
            .replace(&own.display().to_string(), "FOLDER")
            .replace(env!("CARGO_BIN_EXE_keyfit"), "keyfit");
        insta::assert_snapshot!(format!("submit_{engine}"), text);
    }
}

/// Every file below a folder but those that differ from machine to machine.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut all = BTreeMap::new();
    let mut open = vec![folder.to_owned()];
    while let Some(next) = open.pop() {
        for entry in std::fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(folder).unwrap().display().to_string();
            if path.is_dir() {
                open.push(path);
            } else if !name.starts_with("times/") && name != "machine.json" {
                all.insert(name, std::fs::read(path).unwrap());
            }
        }
    }
    all
}

#[test]
fn a_report_is_the_same_however_it_is_made() {
    let folder = Folder::new("study-report");
    std::fs::create_dir(folder.0.join("own")).unwrap();
    folder.write("own/line.toml", LINE.replace("\"line\"", "\"line <&> |_%\""));
    let study = format!("{SMALL}[[suites]]\nfolder = \"own\"\n");
    folder.write("s.toml", &study);
    let done = |line: &[&str]| {
        let ran = run(&folder, line);
        assert_eq!(ran.code, 0, "{line:?}\n{}{}", ran.stdout, ran.stderr);
        ran.stdout
    };
    // an unfinished study has no report
    done(&["study", "run", "s.toml", "--shard", "1/2", "--jobs", "1"]);
    let early = run(&folder, &["study", "report", "s.toml"]);
    assert_eq!(early.code, 2);
    assert!(early.stderr.contains("are not in the store"), "{}", early.stderr);
    done(&["study", "run", "s.toml", "--jobs", "1"]);
    done(&["study", "report", "s.toml", "--out", "a"]);
    let a = files(&folder.0.join("a"));
    for jobs in ["2", "8"] {
        let store = format!("{jobs}.runs");
        done(&["study", "run", "s.toml", "--jobs", jobs, "--store", &store]);
        done(&["study", "report", "s.toml", "--store", &store, "--out", "b"]);
        assert!(a == files(&folder.0.join("b")), "runs of a study by 1 and by {jobs} differ");
    }
    done(&["study", "report", "--from", "a", "--out", "c"]);
    assert!(a == files(&folder.0.join("c")), "a report made of a report differs");
    assert!(folder.0.join("a/times/ratios.csv").exists() && !folder.0.join("c/times").exists());
    for name in [
        "report.html",
        "methods.md",
        "tables/pairs.tex",
        "data/runs.csv",
        "data/runs.parquet",
        "figures/digits.svg",
        "figures/digits.pdf",
        "inputs/own/line.toml",
    ] {
        assert!(a.contains_key(name), "{name} is not in {:?}", a.keys());
    }
    let html = String::from_utf8(a["report.html"].clone()).unwrap();
    assert!(html.contains("own/line &lt;&amp;&gt; |_%") && !html.contains("<&>"));
    assert!(!html.contains("src=\"http") && !html.contains("href=\"http"));
    assert!(a["figures/digits.pdf"].starts_with(b"%PDF-") && a["figures/digits.pdf"].len() > 2000);
    let tex = String::from_utf8(a["tables/problems.tex"].clone()).unwrap();
    assert!(
        tex.contains("own/line \\textless{}\\&\\textgreater{} \\textbar{}\\_\\%")
            && tex.contains("\\toprule"),
        "{tex}"
    );
    // as many records as runs, and a head
    let runs = String::from_utf8(a["data/runs.csv"].clone()).unwrap();
    assert_eq!(runs.lines().count(), 1 + (3 * (2 + 2 + 3) + 5) * 3);
    // another study's folder, or something else, is left alone
    folder.write("t.toml", study.replace("seed = 5", "seed = 6"));
    done(&["study", "run", "t.toml"]);
    for out in ["a", "own"] {
        assert_eq!(run(&folder, &["study", "report", "t.toml", "--out", out]).code, 2);
    }
    assert!(a == files(&folder.0.join("a")));
    // what a killed report has left is written over
    std::fs::remove_file(folder.0.join("b/report.html")).unwrap();
    let hash = Study::parse(&study, &folder.0).unwrap().hash;
    folder.write("b/manifest.json", format!("{{ \"study_hash\": \"{hash}\" }}"));
    assert_eq!(run(&folder, &["study", "report", "t.toml", "--out", "b"]).code, 2);
    done(&["study", "report", "s.toml", "--out", "b"]);
    assert!(a == files(&folder.0.join("b")));
    let full = run(&folder, &["study", "report", "s.toml", "--out", "s.toml/b"]);
    assert!(full.code == 2 && full.stderr.contains("s.toml/b"), "{}", full.stderr);

    assert!(done(&["study", "verify", "c", "--sample", "1000"]).contains("runs ended alike"));
    let figure = folder.0.join("c/figures/digits.svg");
    std::fs::write(&figure, "<svg/>").unwrap();
    let changed = run(&folder, &["study", "verify", "c"]);
    assert_eq!((changed.code, changed.stdout.contains("figures/digits.svg is not what it was")), (1, true));
    // a run that says more than it reached
    let path = folder.0.join("b/runs.jsonl");
    let lines = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, lines.replacen(",1,0,", ",0,0,", 1)).unwrap();
    let forged = run(&folder, &["study", "verify", "b", "--sample", "1000", "--json"]);
    assert_eq!(forged.code, 1);
    assert!(forged.stdout.contains("\"different\": [\n"), "{}", forged.stdout);
    assert_eq!(run(&folder, &["study", "verify", "own"]).code, 2);
}

const LINE: &str = "name = \"line\"\nmodel = \"a*t+b\"\nstarts = [{ a = 0.0, b = 0.0 }]\n\
                    [certified]\nparameters = { a = 1.0, b = 2.0 }\n[data]\nt = [0.0, 1.0, 2.0]\ny = [2.0, 3.0, 4.0]\n";

/// Problem files from all over the machine travel with the report, which is made anew where they are not.
#[test]
fn problems_elsewhere_travel_with_the_report() {
    let folder = Folder::new("study-elsewhere");
    for path in ["a/own/elsewhere", "a/own/study.toml", "a/own/b", "c/lines", "a/own/d", "far"] {
        std::fs::create_dir_all(folder.0.join(path)).unwrap();
        folder.write(&format!("{path}/line.toml"), LINE);
    }
    std::fs::create_dir(folder.0.join("c/lines/empty")).unwrap();
    let suite = |path: &str, name: &str| format!("[[suites]]\n{name}\nfolder = {path} # here\n");
    let far = folder.0.join("far").canonicalize().unwrap();
    let text = [
        "name = \"everywhere\"\n[[solvers]]\nsolver = \"gauss-newton\"\n".to_owned(),
        suite("'../../c/lines'", ""),
        suite("\"../../c/lines\"", "name = \"others\""),
        suite(&format!("'{}'", far.display()), ""),
        suite("\"b/../b\"", ""),
        suite("\"../../c/lines/empty/..\"", "name = \"above\""),
        suite("\"./elsewhere\"", ""),
        suite("\"study.toml\"", ""),
        suite("'./d/'", ""),
    ];
    folder.write("a/own/s.toml", text.concat());
    let done = |line: &[&str]| {
        let ran = run(&folder, line);
        assert_eq!(ran.code, 0, "{line:?}\n{}{}", ran.stdout, ran.stderr);
        ran.stdout
    };
    done(&["study", "run", "a/own/s.toml", "--store", "s.runs"]);
    done(&["study", "report", "a/own/s.toml", "--store", "s.runs", "--out", "report"]);
    let report = files(&folder.0.join("report"));
    let inputs: Vec<&str> =
        report.keys().filter(|path| path.starts_with("inputs/")).map(String::as_str).collect();
    let study = String::from_utf8_lossy(&report["inputs/study.toml"]);
    insta::assert_snapshot!(format!("{}\n\n{study}", inputs.join("\n")));
    // on another machine there is none of them
    for gone in ["a", "c", "far"] {
        std::fs::remove_dir_all(folder.0.join(gone)).unwrap();
    }
    done(&["study", "report", "--from", "report", "--out", "again"]);
    assert!(report == files(&folder.0.join("again")), "a report made of a report differs");
    assert!(done(&["study", "verify", "report"]).contains("8 of 8 runs ended alike"));
}

/// A report that was cut short is gone on with; one whose sources were changed is not made another of; and what a verification did not look
/// at is told.
#[test]
fn a_report_is_what_it_was_made_of() {
    let folder = Folder::new("study-sources");
    folder.write("s.toml", SMALL);
    let done = |line: &[&str]| {
        let ran = run(&folder, line);
        assert_eq!(ran.code, 0, "{line:?}\n{}{}", ran.stdout, ran.stderr);
        ran.stdout
    };
    let refused = |line: &[&str], due: &str| {
        let ran = run(&folder, line);
        assert!(ran.code != 0 && ran.stderr.contains(due), "{line:?}: {}{}", ran.stdout, ran.stderr);
    };
    done(&["study", "run", "s.toml"]);
    done(&["study", "report", "s.toml", "--out", "a"]);
    let whole = files(&folder.0.join("a"));
    // as a process leaves it that is killed while it writes the second file
    std::fs::create_dir_all(folder.0.join("cut/inputs")).unwrap();
    let hash = Study::parse(SMALL, &folder.0).unwrap().hash;
    folder.write("cut/manifest.json", format!("{{ \"study_hash\": \"{hash}\" }}"));
    folder.write("cut/inputs/.999999999-0.partial", "half");
    refused(&["study", "verify", "cut"], "manifest.json is not that of a finished report");
    refused(
        &["study", "report", "--from", "cut", "--out", "b"],
        "manifest.json is not that of a finished report",
    );
    done(&["study", "report", "s.toml", "--out", "cut"]);
    assert!(files(&folder.0.join("cut")) == whole);
    let told = done(&["study", "verify", "cut"]);
    assert!(
        told.contains(
            "not checked: machine.json, times/performance.svg, times/ratios.csv, times/ratios.md\n"
        ),
        "{told}"
    );
    // other digits are counted: what was drawn of the first ones goes, what is not the report's stays
    folder.write("t.toml", format!("{SMALL}[accuracy]\ndigits = [3]\n"));
    folder.write("cut/own.txt", "mine");
    done(&["study", "report", "t.toml", "--store", "s.runs", "--out", "cut"]);
    let other: BTreeSet<String> = files(&folder.0.join("cut")).into_keys().collect();
    assert!(other.contains("figures/performance-3.svg") && other.contains("own.txt"));
    assert!(!other.contains("figures/performance-4.svg"));
    assert!(done(&["study", "verify", "cut"]).contains("not checked: machine.json, own.txt, times/"));
    done(&["study", "report", "s.toml", "--out", "cut"]);
    // one made of a report has no times, and keeps none that stood there
    done(&["study", "report", "--from", "a", "--out", "cut"]);
    assert!(!folder.0.join("cut/machine.json").exists() && !folder.0.join("cut/times").exists());
    done(&["study", "report", "--from", "a", "--out", "a"]);
    assert!(files(&folder.0.join("a")) == whole && folder.0.join("a/machine.json").exists());
    // what holds something else is left as it is
    std::fs::create_dir_all(folder.0.join("foreign")).unwrap();
    folder.write("foreign/.999999999-mine.partial", "mine");
    folder.write("foreign/.999999999-0.partial", "half");
    refused(&["study", "report", "s.toml", "--out", "foreign"], "something else than a report");
    assert_eq!(std::fs::read_dir(folder.0.join("foreign")).unwrap().count(), 2);
    refused(&["study", "report", "s.toml", "--store", "none.runs", "--out", "none"], "none.runs");
    assert!(!folder.0.join("none").exists());
    let text = String::from_utf8(whole["runs.jsonl"].clone()).unwrap();
    let mut lines: Vec<&str> = text.lines().collect();
    let put = |lines: &[&str]| folder.write("cut/runs.jsonl", lines.join("\n") + "\n");
    lines.swap(0, 1);
    put(&lines);
    refused(&["study", "report", "--from", "cut", "--out", "b"], "not what manifest.json says: runs.jsonl");
    let sum =
        |bytes: &[u8]| Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    // with a manifest that agrees
    let cheated = |lines: &[&str], due: &str| {
        put(lines);
        let own = sum(&std::fs::read(folder.0.join("cut/runs.jsonl")).unwrap());
        let manifest = String::from_utf8(whole["manifest.json"].clone()).unwrap();
        let known = sum(&whole["runs.jsonl"]);
        assert!(manifest.contains(&known));
        folder.write("cut/manifest.json", manifest.replace(&known, &own));
        refused(&["study", "report", "--from", "cut", "--out", "b"], due);
    };
    cheated(&lines, "line 2 of runs.jsonl is no run");
    let mut lines: Vec<&str> = text.lines().collect();
    let last = lines.pop().unwrap();
    let number = lines.len();
    let beyond = last.replacen(&format!("[{number},"), "[999999,", 1);
    assert_ne!(beyond, last);
    cheated(
        &[lines.as_slice(), &[&beyond]].concat(),
        &format!("line {} of runs.jsonl is no run", number + 1),
    );
    cheated(&lines, &format!("1 of {} runs are not in the store", number + 1));
    refused(&["study", "verify", "cut"], &format!("1 of {} runs are not in the store", number + 1));
    let short = last.rsplit_once(',').unwrap().0.to_owned() + "]]";
    cheated(&[lines.as_slice(), &[&short]].concat(), &format!("line {} of runs.jsonl is no run", number + 1));
    refused(&["study", "run", "-"], "a study must be a file");
}

/// Which study it is depends on what its runs are, not on how that is written, called or counted.
#[test]
fn a_study_is_the_same_however_it_is_written() {
    let hash = |text: &str| Study::parse(text, Path::new(".")).unwrap().hash;
    let known = hash(SMALL);
    let changed = |old: &str, new: &str| {
        assert!(SMALL.contains(old));
        hash(&SMALL.replace(old, new))
    };
    for (old, new) in [
        ("seed = 5", "seed = 5 # a comment"),
        ("name = \"small\"", "name = \"another\""),
        ("label = \"descent\"", "label = \"down\""),
        ("iterations = 300", "iterations = 3_00\nseconds = 60.0"),
        ("[budget]", "[accuracy]\ndigits = [3]\n[budget]"),
        ("[0.01, 0.1]", "[1e-2, 1e-1]"),
    ] {
        assert_eq!(changed(old, new), known, "{new}");
    }
    for (old, new) in [
        ("seed = 5", "seed = 6"),
        ("iterations = 300", "iterations = 301"),
        ("[0.01, 0.1]", "[0.1, 0.01]"),
        ("\"Misra1a\", ", ""),
        ("random = 3", "random = 4"),
        ("solver = \"levenberg-marquardt\"", "solver = \"dogleg\""),
    ] {
        assert_ne!(changed(old, new), known, "{new}");
    }
}

/// Which study it is depends on the problems, not on where they lie.
#[test]
fn a_study_is_the_same_wherever_its_folders_lie() {
    let folder = Folder::new("study-moved");
    for path in ["a/lines", "b/lines", "b/others"] {
        std::fs::create_dir_all(folder.0.join(path)).unwrap();
        folder.write(&format!("{path}/line.toml"), LINE);
    }
    let hash = |path: &str| {
        let text = format!(
            "name = \"x\"\n[[suites]]\nfolder = \"{path}\"\n[[solvers]]\nsolver = \"gauss-newton\"\n"
        );
        Study::parse(&text, &folder.0).map(|study| study.hash)
    };
    let known = hash("a/lines").unwrap();
    assert_eq!(hash("./b/lines"), Ok(known.clone()));
    assert_ne!(hash("b/others"), Ok(known.clone()), "the suite has another name");
    folder.write("b/lines/line.toml", LINE.replace("3.0", "3.5"));
    assert_ne!(hash("b/lines"), Ok(known));
    let unnamed = hash("a/lines/..").unwrap_err();
    assert!(unnamed[0].message.ends_with("does not say how the suite is called"), "{unnamed:?}");
}

/// The gallery is of every suite and every solver, whatever is added.
#[test]
fn the_gallery_is_whole() {
    let folder = root().join("experiments/examples");
    let text = std::fs::read_to_string(folder.join("gallery.toml")).unwrap();
    let study = Study::parse(&text, &folder).unwrap();
    let solvers: BTreeSet<&str> = study.solvers.iter().map(|own| own.solver.name).collect();
    assert_eq!((solvers.len(), study.solvers.len()), (keyfit::SOLVERS.len(), keyfit::SOLVERS.len()));
    assert!(keyfit::SOLVERS.iter().all(|entry| solvers.contains(entry.name)));
    let mut suites: Vec<&str> = study.problems.iter().map(|own| own.problem.suite.as_str()).collect();
    suites.dedup();
    suites.sort_unstable();
    assert_eq!(suites, keyfit::suite::suite_names());
    // `make study` has written the figure that the README shows
    let figure = std::fs::read_to_string(root().join("experiments/docs/gallery.svg")).unwrap();
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    assert!(readme.contains("](experiments/docs/gallery.svg)") && figure.len() < 200_000);
    let named: BTreeSet<&str> =
        figure.split(" data-name=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    assert_eq!(named, solvers);
    // those in colour
    let (bands, problems) = (figure.matches("<path class=\"band\"").count(), study.problems.len());
    assert!(bands == 6 && problems >= 6, "{bands} bands over {problems} problems");
}

/// Problem files of each kind: their answers are found, and a report's copy of them is the same study.
#[test]
fn problems_of_every_kind_travel_with_the_report() {
    let folder = Folder::new("study-kinds");
    std::fs::create_dir(folder.0.join("own")).unwrap();
    let scene =
        |name: &str, model: &str, rest: &str| format!("name = \"{name}\"\nmodel = '''\n{model}'''\n{rest}");
    let example =
        |name: &str| std::fs::read_to_string(root().join("experiments/examples").join(name)).unwrap();
    let targets = "[certified]\nparameters = { gain = 4.0, bias = -8.0 }\n[data]\nt = [1.0, 3.0]\n\"marker.x\" = [-4.0, 4.0]\n";
    folder.write("own/rects.toml", scene("rects", &example("marker.rectsl"), targets));
    let camera = "[certified]\nparameters = { tilt = 20.0 }\n";
    folder.write("own/camera.toml", scene("camera", &example("camera.yaml"), camera));
    folder.write("own/line.toml", LINE);
    let by_csv = LINE.replace("\"line\"", "\"by csv\"").split("[data]").next().unwrap().to_owned();
    folder.write("own/by-csv.toml", format!("csv = \"line.csv\"\n{by_csv}"));
    folder.write("own/again.toml", format!("csv = \"line.csv\"\n{}", by_csv.replace("by csv", "again")));
    folder.write("own/line.csv", "t, y\n0,2\n1,3\n2,4\n");
    folder.write(
        "own/open.toml",
        LINE.replace("\"line\"", "\"open\"").replace("parameters = { a = 1.0, b = 2.0 }", ""),
    );
    folder.write(
        "s.toml",
        "name = \"kinds\"\n[[suites]]\nfolder = \"own\"\n[[solvers]]\nsolver = \"default\"\n",
    );
    let done = |line: &[&str]| {
        let ran = run(&folder, line);
        assert_eq!(ran.code, 0, "{line:?}\n{}{}", ran.stdout, ran.stderr);
        ran.stdout
    };
    done(&["study", "run", "s.toml"]);
    done(&["study", "report", "s.toml", "--out", "a"]);
    let a = files(&folder.0.join("a"));
    let solvers = String::from_utf8_lossy(&a["data/solvers.csv"]).into_owned();
    let shares = solvers.lines().nth(1).unwrap();
    // of the runs but the one whose answer nobody knows, which is told
    assert!(shares.starts_with("default,1.0,") && shares.ends_with(",6"), "{solvers}");
    let told = [
        ("tables/solvers.md", "Left out, as no known answer says how many digits are right: own/open."),
        ("tables/solvers.tex", "Left out, as no known answer says how many digits are right: own/open."),
        ("tables/performance.md", "right: own/open."),
        ("tables/pairs.md", "right: own/open."),
        ("tables/problems.md", "| own/open | default | 1 | – | – |"),
        ("methods.md", "- own/open: 2 parameters (a, b); starts 1; no known answer"),
        ("methods.md", "- own/line: 2 parameters (a, b); starts 1; certified: a 1.0, b 2.0\n"),
        ("data/parameters.csv", "own/line,default,b,2.0,2.0\n"),
    ];
    for (file, due) in told {
        assert!(String::from_utf8_lossy(&a[file]).contains(due), "{file}: {due}");
    }
    assert_eq!(a["inputs/own/line.csv"], b"t, y\n0,2\n1,3\n2,4\n");
    done(&["study", "report", "--from", "a", "--out", "b"]);
    assert!(a == files(&folder.0.join("b")), "a report made of a report differs");
    done(&["study", "verify", "b"]);
    // other data are another study; what is no data says where and why
    folder.write("own/line.csv", "t, y\n0,2\n1,3\n2,5\n");
    assert_eq!(run(&folder, &["study", "run", "s.toml"]).code, 2);
    let said = |csv: &str, problem: String| {
        folder.write("own/line.csv", csv);
        folder.write("own/by-csv.toml", problem);
        let ran = run(&folder, &["study", "run", "s.toml"]);
        assert_eq!(ran.code, 2);
        ran.stderr
    };
    let named = |name: &str| format!("csv = \"{name}\"\n{by_csv}");
    let faults = [
        (said("t,y\n0,2\n1,high\n", named("line.csv")), "line 3: y is \"high\", which is no finite number"),
        (said("t,y\n0,2,3\n", named("line.csv")), "line.csv: CSV error"),
        (said("t,t\n0,2\n", named("line.csv")), "two columns have one name"),
        (said("0,2\n1,3\n", named("line.csv")), "the data have no column y"),
        (said("", named("line.csv")), "the data have no column y"),
        (said("t,y\n0,2\n", named("../s.toml")), "beside the problem file"),
        (said("t,y\n0,2\n", named("none.csv")), "none.csv: No such file"),
        (said("t,y\n0,2\n", format!("csv = \"line.csv\"\n{LINE}")), "[data] and in line.csv"),
    ];
    for (stderr, due) in faults {
        assert!(stderr.contains(due), "{due}: {stderr}");
    }
}
