//! `keyfit study`: nothing is lost, whatever happens.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use keyfit::study::work::to_line;
use keyfit::study::{Shard, Store, Study};

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

/// Runs that hang, take too much memory or give nothing cost themselves only.
#[test]
fn a_bad_run_costs_that_run_only() {
    let folder = Folder::new("study-bad");
    std::fs::create_dir(folder.0.as_path().join("problems")).unwrap();
    let numbers = |n: usize, f: &dyn Fn(usize) -> String| (0..n).map(f).collect::<Vec<_>>().join(", ");
    let data = |n: usize| {
        format!(
            "[data]\nt = [{}]\ny = [{}]\n",
            numbers(n, &|k| format!("{k}.0")),
            numbers(n, &|k| format!("{}.5", k % 7))
        )
    };
    // a dense Jacobian of 3000 × 3000 is beyond 64 MB
    let many = numbers(3000, &|k| format!("p{k}*cos({k}*t)")).replace(", ", " + ");
    let starts = numbers(3000, &|k| format!("p{k} = 1.0"));
    folder.write("problems/a-memory.toml", format!("name = \"memory\"\nmodel = \"{many}\"\nstarts = [{{ {starts} }}]\n[certified]\nsum_of_squares = 1.0\n{}", data(3000)));
    // slow, and never at a minimum
    let slow = numbers(4000, &|k| format!("sin({k}.5*a*t)")).replace(", ", " + ");
    folder.write("problems/b-slow.toml", format!("name = \"slow\"\nmodel = \"{slow}\"\nstarts = [{{ a = 1.0 }}]\n[certified]\nsum_of_squares = 0.0\n{}", data(2000)));
    folder.write("problems/c-nan.toml", format!("name = \"nan\"\nmodel = \"ln(a) + t\"\nstarts = [{{ a = -1.0 }}]\n[certified]\nsum_of_squares = 0.0\n{}", data(5)));
    folder.write("problems/d-good.toml", "name = \"good\"\nmodel = \"a*t\"\nstarts = [{ a = 1.0 }]\n[certified]\nparameters = { a = 2.0 }\n[data]\nt = [1.0, 2.0]\ny = [2.0, 4.0]\n");
    folder.write("s.toml", "name = \"bad\"\n[[suites]]\nfolder = \"problems\"\n[[solvers]]\nsolver = \"levenberg-marquardt\"\n[budget]\nseconds = 1.5\nmegabytes = 300\n");
    let done = run(&folder, &["study", "run", "s.toml"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let status: Vec<String> =
        runs(&folder, "s.toml", "s.runs").into_values().map(|run| run.chars().take(80).collect()).collect();
    let found = |word: &str| status.iter().filter(|line| line.contains(word)).count();
    assert_eq!(status.len(), 4);
    assert_eq!(found("memory-limit") + found("time-limit"), 2, "{status:?}");
    assert_eq!(found("refused"), 1, "{status:?}");
    assert_eq!(found("zero-residual") + found("step-at-rounding"), 1, "{status:?}");
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
    folder.write(
        "own/line.toml",
        "name = \"line <&> |_%\"\nmodel = \"a*t+b\"\nstarts = [{ a = 0.0, b = 0.0 }]\n\
         [certified]\nparameters = { a = 1.0, b = 2.0 }\n[data]\nt = [0.0, 1.0, 2.0]\ny = [2.0, 3.0, 4.0]\n",
    );
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

/// The gallery is of every suite and every solver, whatever is added.
#[test]
fn the_gallery_is_whole() {
    let folder = root().join("experiments/examples");
    let text = std::fs::read_to_string(folder.join("gallery.toml")).unwrap();
    let study = Study::parse(&text, &folder).unwrap();
    let solvers: Vec<&str> = study.solvers.iter().map(|own| own.solver.name).collect();
    assert_eq!(solvers, keyfit::SOLVERS.iter().map(|entry| entry.name).collect::<Vec<_>>());
    let mut suites: Vec<&str> = study.problems.iter().map(|own| own.problem.suite.as_str()).collect();
    suites.dedup();
    suites.sort_unstable();
    assert_eq!(suites, keyfit::suite::suite_names());
    // `make study` has written the figure that the README shows
    let figure = std::fs::read_to_string(root().join("experiments/docs/gallery.svg")).unwrap();
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    assert!(readme.contains("](experiments/docs/gallery.svg)") && figure.len() < 200_000);
    let named: Vec<&str> = figure
        .lines()
        .filter_map(|line| line.split_once("class=\"series\" data-name=\"")?.1.split('"').next())
        .collect();
    assert_eq!(named, solvers);
    let (bands, problems) = (figure.matches("<path class=\"band\"").count(), study.problems.len());
    assert!(bands == solvers.len() && problems >= 6, "{bands} bands over {problems} problems");
}
