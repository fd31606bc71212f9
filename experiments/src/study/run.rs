//! Running a study: worker processes that are fed runs one by one, and a store that keeps what they bring.
//!
//! Each worker is a process of its own, so that a run that panics, hangs, aborts or takes too much memory costs that run only.

use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use thiserror::Error;

use super::plan::{Shard, Study};
use super::store::{Record, Store, StoreError};
use super::work::{execute, from_line};

/// How runs are carried out.
#[derive(Clone, Debug)]
pub enum Workers {
    /// In this process, on so many threads: nothing stops a run that hangs.
    Threads(usize),
    /// In so many processes of this command, which writes the line [`READY`], reads numbers of runs from its stdin, one a line, and answers each with a
    /// line of [`to_line`](super::work::to_line).
    Processes {
        /// How many.
        count: usize,
        /// Program and arguments.
        command: Vec<String>,
    },
}

/// What a worker writes once it has read the study: from then on its runs' time counts.
pub const READY: &str = "ready";
/// So long may a worker take to read the study.
const START: Duration = Duration::from_secs(600);
/// So long is waited for what a worker that has ended wrote to stderr.
const LAST_WORDS: Duration = Duration::from_secs(5);
/// A run's time is counted in such steps. While all of us are stopped (Ctrl-Z, a machine that sleeps) it does not pass.
const TICK: Duration = Duration::from_millis(250);
/// The signals that end a worker from outside: SIGHUP, SIGINT, SIGQUIT and SIGTERM. A terminal or an engine sends them to all processes,
/// and the worker may be gone before we are.
const FROM_OUTSIDE: [i32; 4] = [1, 2, 3, 15];
/// SIGKILL, which may come from anywhere.
const KILL: i32 = 9;

/// So many results wait at most until they are written: memory does not grow with the study.
const WAITING: usize = 128;

/// Why a study stops.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RunError {
    /// The store.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A worker process cannot be started.
    #[error("{command}: {source}")]
    Spawn {
        /// Its program.
        command: String,
        /// Why.
        source: io::Error,
    },
    /// A worker process does not come up: it would fail for every run. None is recorded.
    #[error("a worker did not start: {how}")]
    NoWorker {
        /// What it said, or how it ended.
        how: String,
    },
    /// There can be no more threads.
    #[error("no thread for a worker: {0}; ask for fewer --jobs")]
    Thread(io::Error),
    /// A worker process was ended from outside: that says nothing of its run, which is not recorded.
    #[error("a worker was ended from outside ({how}); run the study again to go on")]
    Stopped {
        /// By which signal.
        how: String,
    },
}

/// Carries out the runs of a share that the store does not have yet. `progress` is told how many of them have ended, and how many
/// there are, before the first and after those that are written together.
///
/// # Errors
/// See [`RunError`]; what was finished before is in the store.
pub fn run(
    study: &Study,
    store: &mut Store,
    shard: Shard,
    workers: &Workers,
    mut progress: impl FnMut(u64, u64),
) -> Result<(), RunError> {
    let finished: std::collections::HashSet<u64> = store.finished()?.into_iter().collect();
    let pending: VecDeque<u64> =
        (0..study.len()).filter(|job| shard.has(*job) && !finished.contains(job)).collect();
    let total = pending.len() as u64;
    progress(0, total);
    let queue = Mutex::new(pending);
    let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
    let (send, receive) = mpsc::sync_channel::<Result<(u64, Record, Option<f64>), RunError>>(WAITING);
    thread::scope(|scope| {
        // on an error the receiver is dropped here, and the workers stop at their next result
        let receive = receive;
        let count = match workers {
            Workers::Threads(count) | Workers::Processes { count, .. } => (*count).max(1),
        };
        for _ in 0..count {
            let send = send.clone();
            let spawned = thread::Builder::new().spawn_scoped(scope, move || match workers {
                Workers::Threads(_) => {
                    while let Some(number) = next() {
                        let Some((record, seconds)) = study.job(number).and_then(|job| execute(study, job))
                        else {
                            continue;
                        };
                        if send.send(Ok((number, record, Some(seconds)))).is_err() {
                            return;
                        }
                    }
                }
                Workers::Processes { command, .. } => {
                    let limit = Duration::try_from_secs_f64(study.budget.seconds).unwrap_or(Duration::MAX);
                    let mut worker = None;
                    while let Some(number) = next() {
                        let done = ask(&mut worker, command, number, limit);
                        let failed = done.is_err();
                        if send.send(done).is_err() || failed {
                            return;
                        }
                    }
                }
            });
            spawned.map_err(RunError::Thread)?;
        }
        drop(send);
        let mut done = 0;
        while let Ok(first) = receive.recv() {
            let mut failure = None;
            // what ended while the last ones were written is written at once: the disk is waited for once
            let ended = std::iter::once(first).chain(receive.try_iter()).take(WAITING);
            let ended: Vec<_> =
                ended.map_while(|result| result.map_err(|error| failure = Some(error)).ok()).collect();
            done += ended.len() as u64;
            store.insert(ended)?;
            progress(done, total);
            if let Some(error) = failure {
                return Err(error);
            }
        }
        Ok(())
    })
}

/// A worker process.
struct Worker {
    child: Child,
    stdin: ChildStdin,
    lines: Receiver<String>,
    /// The last that it wrote to stderr, once that is closed.
    said: Receiver<String>,
}

impl Drop for Worker {
    fn drop(&mut self) {
        // it may be in the middle of a run that nobody waits for
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Worker {
    fn start(command: &[String]) -> Result<Worker, RunError> {
        let program = command.first().cloned().unwrap_or_default();
        let spawn = |source| RunError::Spawn { command: program.clone(), source };
        let mut child = Command::new(&program)
            .args(command.iter().skip(1))
            // its last line is what went wrong, whatever is set for us
            .env("RUST_BACKTRACE", "0")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(spawn)?;
        let (Some(stdin), Some(stdout), Some(stderr)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(spawn(io::Error::from(io::ErrorKind::BrokenPipe)));
        };
        let (lines, said) =
            (lines(stdout).map_err(RunError::Thread)?, said(stderr).map_err(RunError::Thread)?);
        Ok(Worker { child, stdin, lines, said })
    }

    /// How the process ended, and the last that it said.
    ///
    /// # Errors
    /// [`RunError::Stopped`]
    fn end(&mut self) -> Result<(Option<ExitStatus>, String), RunError> {
        let status = self.child.wait().ok();
        match status.filter(|status| status.signal().is_some_and(|signal| FROM_OUTSIDE.contains(&signal))) {
            Some(status) => Err(RunError::Stopped { how: status.to_string() }),
            // a process that it has started may still hold its stderr
            None => Ok((status, self.said.recv_timeout(LAST_WORDS).unwrap_or_default().trim().to_owned())),
        }
    }
}

/// How a run ended whose process did, in words.
fn crash(status: Option<ExitStatus>, said: &str) -> String {
    if said.contains("memory allocation of") {
        return "memory-limit".to_owned();
    }
    let status = status.map_or_else(String::new, |status| status.to_string());
    match said.lines().next_back() {
        Some(last) => format!("crashed: {status}: {}", last.trim()),
        None => format!("crashed: {status}"),
    }
}

/// The next line, unless it takes longer.
fn answer(lines: &Receiver<String>, limit: Duration) -> Result<String, RecvTimeoutError> {
    let mut left = limit;
    loop {
        let tick = left.min(TICK);
        match lines.recv_timeout(tick) {
            Err(RecvTimeoutError::Timeout) if tick < left => left -= tick,
            answer => return answer,
        }
    }
}

fn lines(stdout: ChildStdout) -> io::Result<Receiver<String>> {
    let (send, receive) = mpsc::channel();
    thread::Builder::new().spawn(move || {
        for line in BufReader::new(stdout).lines().map_while(Result::ok) {
            if send.send(line).is_err() {
                return;
            }
        }
    })?;
    Ok(receive)
}

fn said(mut stderr: ChildStderr) -> io::Result<Receiver<String>> {
    const MOST: usize = 4096;
    let (send, receive) = mpsc::channel();
    thread::Builder::new().spawn(move || {
        let (mut said, mut chunk) = (Vec::new(), [0; 1024]);
        while let Ok(n @ 1..) = stderr.read(&mut chunk) {
            said.extend(chunk.iter().take(n));
            said.drain(..said.len().saturating_sub(MOST));
        }
        // nobody may wait for it
        let _ = send.send(String::from_utf8_lossy(&said).into_owned());
    })?;
    Ok(receive)
}

/// Has a run carried out by the worker, which is started if there is none. One that dies or takes too long is given up.
fn ask(
    worker: &mut Option<Worker>,
    command: &[String],
    number: u64,
    limit: Duration,
) -> Result<(u64, Record, Option<f64>), RunError> {
    let mut was_killed = false;
    loop {
        let own = match &mut *worker {
            Some(own) => own,
            None => worker.insert(ready(command)?),
        };
        let asked = writeln!(own.stdin, "{number}").and_then(|()| own.stdin.flush());
        let answer = match asked {
            Ok(()) => answer(&own.lines, limit),
            Err(_) => Err(RecvTimeoutError::Disconnected),
        };
        let failed = match answer {
            Ok(line) => match from_line(&line) {
                Some((job, record, seconds)) if job == number => return Ok((job, record, Some(seconds))),
                _ => Record::failed("crashed: the worker's answer cannot be read"),
            },
            Err(RecvTimeoutError::Timeout) => Record::failed("time-limit"),
            Err(RecvTimeoutError::Disconnected) => {
                let (status, said) = own.end()?;
                match status.and_then(|status| status.signal()) {
                    // by a person, or as memory runs out: the second time it is the run that takes it
                    Some(KILL) if !was_killed => {
                        was_killed = true;
                        *worker = None;
                        continue;
                    }
                    _ => Record::failed(crash(status, &said)),
                }
            }
        };
        *worker = None;
        return Ok((number, failed, None));
    }
}

/// A worker that has read the study.
fn ready(command: &[String]) -> Result<Worker, RunError> {
    let mut own = Worker::start(command)?;
    match answer(&own.lines, START) {
        Ok(line) if line == READY => Ok(own),
        Err(RecvTimeoutError::Disconnected) => {
            let (status, said) = own.end()?;
            let how = if said.is_empty() { crash(status, &said) } else { said };
            Err(RunError::NoWorker { how })
        }
        Err(RecvTimeoutError::Timeout) => {
            Err(RunError::NoWorker { how: format!("it said nothing for {} s", START.as_secs()) })
        }
        Ok(line) => Err(RunError::NoWorker { how: format!("it said {line:?}") }),
    }
}

/// The command that starts a worker of this program.
///
/// # Errors
/// Where the program's own path is not known, or is not UTF-8.
pub fn own_command(arguments: &[&str]) -> io::Result<Vec<String>> {
    let program: PathBuf = std::env::current_exe()?;
    let name = program
        .to_str()
        .ok_or_else(|| io::Error::other(format!("the program's path is not UTF-8: {}", program.display())))?;
    Ok([name.to_owned()].into_iter().chain(arguments.iter().map(|a| (*a).to_owned())).collect())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    const STUDY: &str = "name = \"many\"\n[[suites]]\nname = \"nist\"\nproblems = [\"DanWood\"]\n\
                         [[solvers]]\nsolver = \"gauss-newton\"\n[starts]\nrandom = 1000\n[budget]\niterations = 1\n";

    /// A store that takes no more: the study stops, however many results wait.
    #[test]
    fn a_store_that_fails_ends_the_study() {
        let study = Study::parse(STUDY, Path::new(".")).unwrap();
        let path = std::env::temp_dir().join(format!("keyfit-full-{}", std::process::id()));
        let mut store = Store::create(&path, &study.hash).unwrap();
        let full =
            "CREATE TRIGGER full BEFORE INSERT ON run BEGIN SELECT RAISE(ABORT, 'the disk is full'); END";
        rusqlite::Connection::open(&path).unwrap().execute_batch(full).unwrap();
        let error = run(&study, &mut store, Shard::ALL, &Workers::Threads(2), |_, _| {}).unwrap_err();
        assert!(error.to_string().ends_with("the disk is full"), "{error}");
        drop(store);
        for ending in ["", ".lock", "-wal", "-shm"] {
            let mut name = path.clone().into_os_string();
            name.push(ending);
            let _ = std::fs::remove_file(name);
        }
    }
}
