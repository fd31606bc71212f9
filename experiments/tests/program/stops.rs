//! Studies that are stopped, and go on.
#![cfg(target_os = "linux")]

use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use keyfit::study::run::{RunError, Workers, run};
use keyfit::study::work::to_line;
use keyfit::study::{Shard, Store, Study};
use rustix::process::{Pid, Signal, kill_process_group};

use crate::folder::Folder;

/// Many runs of which each takes milliseconds.
const MANY: &str = "
name = \"many\"
[[suites]]
name = \"nist\"
problems = [\"Misra1a\", \"Chwirut2\", \"Thurber\"]
[[solvers]]
solver = \"nelder-mead\"
[starts]
random = 300
[budget]
iterations = 300
seconds = 2.0
";

/// Runs a study by one worker, in a process group of its own, as a shell does.
fn start(folder: &Folder) -> Child {
    Command::new(env!("CARGO_BIN_EXE_keyfit"))
        .args(["study", "run", "s.toml", "--jobs", "1"])
        .current_dir(&folder.0)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()
        .unwrap()
}

/// How the runs ended that the study's store has, which may not be there yet.
fn endings(folder: &Folder, study: &Study) -> Vec<String> {
    let mut ended = Vec::new();
    if let Ok(mut store) = Store::open(&folder.0.join("s.runs"), &study.hash) {
        store.for_each(|_, record, _| ended.push(record.status)).unwrap();
    }
    ended
}

fn wait(what: &str, seconds: u64, mut until: impl FnMut() -> bool) {
    let began = Instant::now();
    while !until() {
        assert!(began.elapsed() < Duration::from_secs(seconds), "{what} did not happen");
        sleep(Duration::from_millis(20));
    }
}

/// Sends a signal to a study and its workers, as a terminal does.
fn send(signal: Signal, study: &Child) {
    kill_process_group(Pid::from_child(study), signal).unwrap();
}

/// The worker of a study.
fn worker(study: &Child) -> u32 {
    let threads = std::fs::read_dir(format!("/proc/{}/task", study.id())).unwrap();
    let children = threads.map(|thread| std::fs::read_to_string(thread.unwrap().path().join("children")));
    let children: String = children.map(Result::unwrap).collect();
    children.trim().parse().unwrap()
}

/// Ctrl-Z, and later `fg`: the time between is no run's.
#[test]
fn time_does_not_pass_while_a_study_is_stopped() {
    let folder = Folder::new("study-stopped");
    folder.write("s.toml", MANY);
    let study = Study::parse(MANY, &folder.0).unwrap();
    let mut child = start(&folder);
    for _ in 0..3 {
        let before = endings(&folder, &study).len();
        wait("a run", 120, || endings(&folder, &study).len() > before);
        send(Signal::STOP, &child);
        sleep(Duration::from_millis(2500));
        send(Signal::CONT, &child);
    }
    let before = endings(&folder, &study).len();
    wait("a run", 120, || endings(&folder, &study).len() > before);
    send(Signal::KILL, &child);
    child.wait().unwrap();
    let ended = endings(&folder, &study);
    assert!(!ended.iter().any(|status| status == "time-limit"), "{ended:?}");
}

/// What ends a worker from outside is no fault of its run, which is carried out when the study goes on.
#[test]
fn a_worker_that_is_told_to_end_costs_no_run() {
    let folder = Folder::new("study-told");
    let study = Study::parse(MANY, &folder.0).unwrap();
    for signal in ["HUP", "INT", "QUIT", "TERM"] {
        let mut store = Store::create(&folder.0.join(signal), &study.hash).unwrap();
        let script = format!("echo ready; read n; kill -{signal} $$");
        // a shell cannot take up again what it was started to ignore, as by nohup
        let command = ["env", "--default-signal", "sh", "-c", &script].map(str::to_owned).to_vec();
        let workers = Workers::Processes { count: 2, command };
        let stopped = run(&study, &mut store, Shard::ALL, &workers, |_, _| {}).unwrap_err();
        assert!(matches!(&stopped, RunError::Stopped { how } if how.contains(signal)), "{stopped}");
        assert_eq!(store.finished().unwrap(), [0; 0]);
    }
}

/// The first time that a worker is killed may be anybody's doing, the second time it is the run's.
#[test]
fn a_worker_that_is_killed_is_given_a_second_chance() {
    let folder = Folder::new("study-chance");
    let text = "name = \"one\"\n[[suites]]\nname = \"nist\"\nproblems = [\"DanWood\", \"Misra1a\"]\n\
                [[solvers]]\nsolver = \"gauss-newton\"\n";
    folder.write("s.toml", text);
    let study = Study::parse(text, &folder.0).unwrap();
    let (program, killed) = (env!("CARGO_BIN_EXE_keyfit"), folder.0.join("killed"));
    let script = |until: &str| {
        format!(
            "test -e {killed}{until} && exec {program} study worker --study {hash} -- {file}; \
             echo ready; read n; echo $n >> {killed}; cp {killed} {killed}$(wc -l < {killed}); kill -KILL $$",
            killed = killed.display(),
            hash = study.hash,
            file = folder.0.join("s.toml").display(),
        )
    };
    let ended = |name: &str, until: &str| {
        let _ = std::fs::remove_file(&killed);
        let mut store = Store::create(&folder.0.join(name), &study.hash).unwrap();
        let command = ["sh", "-c", &script(until)].map(str::to_owned).to_vec();
        run(&study, &mut store, Shard::ALL, &Workers::Processes { count: 1, command }, |_, _| {}).unwrap();
        let mut all = Vec::new();
        store.for_each(|job, record, _| all.push(to_line(job, &record, 0.0))).unwrap();
        all
    };
    let mut calm = Store::create(&folder.0.join("calm"), &study.hash).unwrap();
    run(&study, &mut calm, Shard::ALL, &Workers::Threads(1), |_, _| {}).unwrap();
    let mut due = Vec::new();
    calm.for_each(|job, record, _| due.push(to_line(job, &record, 0.0))).unwrap();
    assert!(ended("once", "1") == due, "killed once");
    let twice = ended("twice", "2");
    assert!(twice[0].starts_with("[\"crashed: signal: 9"), "{}", twice[0]);
    assert!(twice[1..] == due[1..], "the others go on");
}

/// A worker that cannot start, or finds another study than is run, fails for every run: none is recorded.
#[test]
fn a_worker_that_does_not_start_ends_the_study() {
    let folder = Folder::new("study-unstarted");
    let study = Study::parse(MANY, &folder.0).unwrap();
    folder.write("other.toml", MANY.replace("random = 300", "random = 301"));
    folder.write("s.toml", MANY);
    let program = env!("CARGO_BIN_EXE_keyfit");
    let path = |name: &str| folder.0.join(name).display().to_string();
    let worker = |file: &str| {
        vec![
            program.into(),
            "study".into(),
            "worker".into(),
            "--study".into(),
            study.hash.clone(),
            "--".into(),
            path(file),
        ]
    };
    let said =
        |words: &[&str]| ["sh", "-c"].iter().chain(words).map(|word| (*word).to_owned()).collect::<Vec<_>>();
    // a run that took more than that would count as one that took too much
    let limited = format!("ulimit -v 1000000; exec {}", worker("s.toml").join(" "));
    for (command, due) in [
        (worker("other.toml"), "other.toml or its problem files have changed since the study began"),
        (worker("none.toml"), "none.toml: No such file"),
        (said(&["echo hello; read n"]), "it said \"hello\""),
        (said(&["echo no room >&2; exit 3"]), "a worker did not start: no room"),
        (said(&["exit 3"]), "exit status: 3"),
        (said(&[&limited]), "the study grants a run 2048 MB, and the limit here is 976 MB"),
    ] {
        let mut store = Store::create(&folder.0.join("a.runs"), &study.hash).unwrap();
        let workers = Workers::Processes { count: 2, command };
        let failed = run(&study, &mut store, Shard::ALL, &workers, |_, _| {}).unwrap_err();
        assert!(matches!(failed, RunError::NoWorker { .. }) && failed.to_string().contains(due), "{failed}");
        assert_eq!(store.finished().unwrap(), [0; 0]);
    }
}

/// A worker does not outlive its study, even in the middle of a run that does not end.
#[test]
fn a_killed_study_leaves_no_worker() {
    let folder = Folder::new("study-orphan");
    let numbers = |of: &dyn Fn(usize) -> String, n| (0..n).map(of).collect::<Vec<_>>();
    let problem = |name: &str, model: &str, n: usize| {
        let (t, y) = (numbers(&|k| format!("{k}.0"), n), numbers(&|k| format!("{}.5", k % 7), n));
        let text = format!(
            "name = \"{name}\"\nmodel = \"{model}\"\nstarts = [{{ a = 1.0 }}]\n\
             [certified]\nsum_of_squares = 0.0\n[data]\nt = [{}]\ny = [{}]\n",
            t.join(", "),
            y.join(", ")
        );
        folder.write(&format!("problems/{name}.toml"), text);
    };
    std::fs::create_dir(folder.0.join("problems")).unwrap();
    problem("a-short", "a*t", 5);
    problem("b-long", &numbers(&|k| format!("sin({k}.5*a*t)"), 4000).join(" + "), 4000);
    let text =
        "name = \"orphan\"\n[[suites]]\nfolder = \"problems\"\n[[solvers]]\nsolver = \"nelder-mead\"\n";
    folder.write("s.toml", text);
    let study = Study::parse(text, &folder.0).unwrap();
    let mut child = start(&folder);
    wait("the short run", 120, || endings(&folder, &study).len() == 1);
    let worker = worker(&child);
    child.kill().unwrap();
    child.wait().unwrap();
    // long before the run would; one that nobody has waited for yet has no command line any more
    let line = format!("/proc/{worker}/cmdline");
    wait("the worker's end", 10, || std::fs::read(&line).map_or(true, |line| line.is_empty()));
    assert_eq!(endings(&folder, &study).len(), 1);
}
