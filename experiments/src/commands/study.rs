//! `keyfit study`

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, BufRead, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, Subcommand};
use indicatif::{ProgressBar, ProgressStyle};
use keyfit::study::report::verify::{Verification, named, sources, verify};
use keyfit::study::report::{self, ReportError};
use keyfit::study::run::{READY, Workers, own_command, run};
use keyfit::study::stats::table::TableError;
use keyfit::study::work::{execute, to_line};
use keyfit::study::{Shard, Store, Study as Plan, file};
use keyfit::suite::FORM;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::json;

use super::{are_same, clear_partial, fill_whole, partial_of, print, print_json, write_whole};
use crate::failure::{Failure, Source, say};
use crate::model::read;

#[derive(Args)]
pub struct Study {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Write a commented study file
    Init {
        /// The file; it must not be there yet
        #[arg(default_value = "study.toml")]
        file: PathBuf,
    },
    /// Print the JSON schema of study files
    Schema,
    /// Print how problem files are written
    Problem,
    /// Carry out the runs that the store does not have yet
    Run(Run),
    /// Join the stores of shards
    Merge(Merge),
    /// Run the shards on a cluster
    Submit(Submit),
    /// Write a report of a finished study: a folder with everything that a paper needs
    Report(Report),
    /// Check a report's files, and carry out some of its runs again
    Verify(Verify),
    /// Carry out the runs whose numbers are read from stdin
    #[command(hide = true)]
    Worker {
        file: String,
        /// The hash of the study that is meant
        #[arg(long)]
        study: String,
    },
}

#[derive(Args)]
struct Run {
    /// The study file
    file: String,
    /// The run store [default: the study file's name with the ending .runs]
    #[arg(long, value_name = "FILE")]
    store: Option<PathBuf>,
    /// Only this share of the runs, such as 2/8
    #[arg(long, value_name = "I/N")]
    shard: Option<String>,
    /// So many runs at a time [default: one a core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,
    /// Wait while another process has the store, rather than refuse
    #[arg(long)]
    wait: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
struct Merge {
    /// The study file
    file: String,
    /// The stores of its shards
    #[arg(required = true)]
    stores: Vec<PathBuf>,
    /// The store that they are joined in
    #[arg(long, value_name = "FILE")]
    store: Option<PathBuf>,
}

#[derive(Args)]
struct Report {
    /// The study file
    #[arg(required_unless_present = "from")]
    file: Option<String>,
    /// The run store [default: the study file's name with the ending .runs]
    #[arg(long, value_name = "FILE", conflicts_with = "from")]
    store: Option<PathBuf>,
    /// Make it anew of what is in another report
    #[arg(long, value_name = "FOLDER", conflicts_with = "file")]
    from: Option<PathBuf>,
    /// The folder
    #[arg(long, value_name = "FOLDER", default_value = "report")]
    out: PathBuf,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
struct Verify {
    /// The report's folder
    folder: PathBuf,
    /// So many runs
    #[arg(long, value_name = "N", default_value_t = 20)]
    sample: usize,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// As many tasks as an array of Slurm has unless its administrator allows more.
const MOST_SHARDS: i64 = 1000;

#[derive(Args)]
struct Submit {
    /// The study file, on a file system that all machines see
    file: String,
    /// What runs the shards
    #[arg(long)]
    engine: Engine,
    /// How many shards
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=MOST_SHARDS))]
    shards: u16,
    /// Print the commands and run none
    #[arg(long)]
    dry_run: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Engine {
    /// HyperQueue
    Hq,
    /// Slurm
    Slurm,
}

impl Study {
    pub fn run(self) -> Result<ExitCode, Failure> {
        match self.command {
            Command::Init { file } => init(&file)?,
            Command::Schema => print_json(&file::schema())?,
            Command::Problem => print(FORM)?,
            Command::Run(run) => run.run()?,
            Command::Merge(merge) => merge.run()?,
            Command::Submit(submit) => return submit.run(),
            Command::Report(report) => report.run()?,
            Command::Verify(verify) => return verify.run(),
            Command::Worker { file, study } => worker(&file, &study)?,
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Each worker reads the study.
fn is_file(path: &str) -> Result<(), Failure> {
    let is_stream = path == "-" || ["/dev/", "/proc/"].iter().any(|root| path.starts_with(root));
    match is_stream {
        true => {
            Err(Failure::input("a study must be a file")
                .hint("each worker reads it, which stdin cannot give"))
        }
        false => Ok(()),
    }
}

fn init(path: &Path) -> Result<(), Failure> {
    is_file(&path.to_string_lossy())?;
    if path.exists() {
        return Err(Failure::input(format!("{} is there already", path.display())).hint("name another file"));
    }
    write_whole(path, file::template().as_bytes())?;
    say(format!("wrote {}; run it with: keyfit study run {0}", path.display()));
    Ok(())
}

/// Reads a study file; every fault is told.
pub fn load(path: &str) -> Result<Plan, Failure> {
    load_text(path).map(|(study, _)| study)
}

/// The same with the text that it was read from.
fn load_text(path: &str) -> Result<(Plan, String), Failure> {
    let source = read(path)?;
    let folder = Path::new(path).parent().unwrap_or(Path::new("."));
    match Plan::parse(&source.text, folder) {
        Ok(study) => Ok((study, source.text)),
        Err(faults) => Err(study_faults(&source, &faults)),
    }
}

fn study_faults(source: &Source, faults: &[file::Fault]) -> Failure {
    Failure::all(faults.iter().map(|fault| {
        let failure = Failure::at(source, fault.span.clone(), &fault.message);
        match &fault.hint {
            Some(hint) => failure.hint(hint),
            None => failure,
        }
    }))
}

/// Where the runs of a study file are kept unless said otherwise.
pub fn store_path(file: &str, store: Option<&PathBuf>) -> PathBuf {
    store.cloned().unwrap_or_else(|| Path::new(file).with_extension("runs"))
}

fn shard(text: Option<&str>) -> Result<Shard, Failure> {
    let Some(text) = text else { return Ok(Shard::ALL) };
    Shard::parse(text).ok_or_else(|| {
        Failure::input(format!("{text} is no share"))
            .hint("write I/N with I from 1 to N, such as --shard 2/8")
    })
}

/// Takes damaged runs out of a store.
fn mend(store: &mut Store, path: &Path) -> Result<(), Failure> {
    let damaged = store.discard_damaged().map_err(Failure::input)?.len();
    if damaged > 0 {
        say(format!("{}: {damaged} runs were damaged, and count as not carried out", path.display()));
    }
    Ok(())
}

impl Run {
    fn run(self) -> Result<(), Failure> {
        is_file(&self.file)?;
        let study = load(&self.file)?;
        let shard = shard(self.shard.as_deref())?;
        let path = store_path(&self.file, self.store.as_ref());
        let open = if self.wait { Store::create_when_free } else { Store::create };
        let mut store = open(&path, &study.hash).map_err(Failure::input)?;
        mend(&mut store, &path)?;
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let workers = Workers::Processes {
            count: self.jobs.map_or(cores, usize::from),
            command: own_command(&["study", "worker", "--study", &study.hash, "--", &self.file])
                .map_err(Failure::input)?,
        };
        let bar = ProgressBar::new(0);
        if let Ok(style) = ProgressStyle::with_template("{bar:40} {pos}/{len} runs, {eta} left") {
            bar.set_style(style);
        }
        let mut carried_out = 0;
        run(&study, &mut store, shard, &workers, |done, total| {
            carried_out = done;
            bar.set_length(total);
            bar.set_position(done);
        })
        .map_err(Failure::input)?;
        bar.finish_and_clear();
        let finished = store.finished().map_err(Failure::input)?.len();
        let unanswered = store.unanswered().map_err(Failure::input)?;
        if self.json {
            print_json(&json!({
                "study": study.name,
                "store": path.display().to_string(),
                "runs": study.len(),
                "carried_out": carried_out,
                "finished": finished,
                "no_answer": unanswered,
            }))?;
        } else {
            print(&format!(
                "{}: {carried_out} runs carried out; {finished} of {} are in {}, {unanswered} of them without an answer\n",
                study.name,
                study.len(),
                path.display()
            ))?;
        }
        Ok(())
    }
}

impl Merge {
    fn run(self) -> Result<(), Failure> {
        let study = load(&self.file)?;
        let path = store_path(&self.file, self.store.as_ref());
        // all of them before the first is merged
        let others: Vec<Store> = (self.stores.iter().map(|other| Store::open(other, &study.hash)))
            .collect::<Result<_, _>>()
            .map_err(Failure::input)?;
        let mut store = Store::create(&path, &study.hash).map_err(Failure::input)?;
        mend(&mut store, &path)?;
        for other in &others {
            store.merge(other).map_err(Failure::input)?;
        }
        let finished = store.finished().map_err(Failure::input)?.len();
        print(&format!("{}: {finished} of {} runs are in {}\n", study.name, study.len(), path.display()))
    }
}

impl Submit {
    fn run(self) -> Result<ExitCode, Failure> {
        load(&self.file)?;
        let program = own_command(&[]).map_err(Failure::input)?.swap_remove(0);
        let file = fs::canonicalize(&self.file).map_err(|e| Failure::input(format!("{}: {e}", self.file)))?;
        let file = file.into_os_string().into_string().map_err(|path| {
            Failure::input(format!("{} is not UTF-8: no command can name it", path.display()))
        })?;
        let n = self.shards;
        // both engines number the tasks of an array from 1 on, in a variable of their own
        let (variable, mut command): (&str, Vec<String>) = match self.engine {
            Engine::Hq => (
                "HQ_TASK_ID",
                [
                    "hq",
                    "submit",
                    "--wait",
                    "--array",
                    &format!("1-{n}"),
                    "--cpus",
                    "1",
                    "--crash-limit",
                    "100",
                    "--stdout",
                    "none",
                    "--stderr",
                    "none",
                ]
                .map(str::to_owned)
                .to_vec(),
            ),
            Engine::Slurm => (
                "SLURM_ARRAY_TASK_ID",
                ["sbatch", "--wait", &format!("--array=1-{n}"), "--cpus-per-task=1", "--wrap"]
                    .map(str::to_owned)
                    .to_vec(),
            ),
        };
        // an engine's signals are for the process that it started; it may start a task anew before the first attempt is gone
        let task = format!(
            "exec {} study run {} --jobs 1 --wait --shard ${variable}/{n} --store {}",
            quoted(&program),
            quoted(&file),
            format_args!("{}.${variable}.runs", quoted(&file)),
        );
        match self.engine {
            Engine::Hq => command.extend(["--", "sh", "-c", &task].map(str::to_owned)),
            Engine::Slurm => command.push(task),
        }
        let stores: Vec<String> = (1..=n).map(|k| format!("{file}.{k}.runs")).collect();
        let merge: Vec<String> =
            [program, "study".into(), "merge".into(), file].into_iter().chain(stores).collect();
        let text = |words: &[String]| words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ");
        print(&format!("{}\n{}\n", text(&command), text(&merge)))?;
        if self.dry_run {
            return Ok(ExitCode::SUCCESS);
        }
        for words in [&command, &merge] {
            let Some((program, arguments)) = words.split_first() else { continue };
            let status = std::process::Command::new(program).args(arguments).status();
            let status = status.map_err(|e| {
                Failure::input(format!("{program}: {e}")).hint("is the engine installed, and on the PATH?")
            })?;
            if !status.success() {
                return Err(Failure::input(format!("{program} ended with {status}"))
                    .hint("what is finished is in the shards' stores; submit again to go on"));
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

impl Report {
    fn run(self) -> Result<(), Failure> {
        let file = self.file.as_deref().unwrap_or_default();
        let (study, text) = match &self.from {
            None => load_text(file)?,
            Some(from) => sources(from).map_err(|e| {
                Failure::input(e)
                    .hint("--from wants the folder of a report as it was written; see keyfit study verify")
            })?,
        };
        let is_begun = self.check(&study)?;
        clear_partial(&self.out);
        let before = named(&self.out);
        let mut folder = OutFolder { path: &self.out, written: BTreeSet::new() };
        let made = match &self.from {
            None => {
                let path = store_path(file, self.store.as_ref());
                let mut store = Store::open(&path, &study.hash).map_err(Failure::input)?;
                report::write(&study, &text, &mut store, &mut folder, is_begun)
            }
            Some(from) => {
                let name = from.join(report::RUNS);
                let runs = fs::read_to_string(&name)
                    .map_err(|e| Failure::input(format!("{}: {e}", name.display())))?;
                let mut store = Store::temporary(&study.hash).map_err(Failure::input)?;
                let unpacked = report::unpack(&runs, &study, &mut store);
                drop(runs);
                unpacked.and_then(|()| report::write(&study, &text, &mut store, &mut folder, is_begun))
            }
        };
        let files = made.map_err(|error| match &error {
            ReportError::Table(TableError::Missing { .. }) => {
                let store =
                    self.store.iter().map(|path| format!(" --store {}", quoted(&path.to_string_lossy())));
                let store: String = store.collect();
                let hint = format!("carry them out with: keyfit study run {}{store}", quoted(file));
                Failure::input(&error).hint(hint)
            }
            ReportError::Io { .. } => Failure::input(format!("{}: {error}", self.out.display())),
            _ => Failure::input(&error),
        })?;
        // what was in the report that stood here, and is in this one no more; the times of one that was made of itself are its own
        let is_itself = self.from.as_ref().is_some_and(|from| are_same(from, &self.out));
        let unnamed = report::UNNAMED.map(str::to_owned);
        let unnamed = unnamed.iter().filter(|_| !is_itself);
        for path in before.iter().chain(unnamed).filter(|path| !folder.written.contains(*path)) {
            let path = self.out.join(path);
            let _ = fs::remove_file(&path);
            // a folder that nothing is left in
            let _ = path.parent().map(fs::remove_dir);
        }
        let index = self.out.join("report.html");
        if self.json {
            print_json(&json!({
                "study": study.name,
                "folder": self.out.display().to_string(),
                "files": files,
            }))
        } else {
            print(&format!("{}: {} files; see {}\n", study.name, files, index.display()))
        }
    }

    /// The folder must be empty, or hold a report of this study, which it tells.
    fn check(&self, study: &Plan) -> Result<bool, Failure> {
        let fail = |e: io::Error| Failure::input(format!("{}: {e}", self.out.display()));
        let is_begun = report::study_of(&self.out).as_ref() == Some(&study.hash);
        let is_taken = self.out.is_dir()
            && fs::read_dir(&self.out)
                .map_err(fail)?
                .flatten()
                .any(|entry| partial_of(&entry.file_name().to_string_lossy()).is_none());
        if is_taken && !is_begun {
            return Err(Failure::input(format!(
                "{} holds something else than a report of this study",
                self.out.display()
            ))
            .hint("name a new folder with --out"));
        }
        Ok(is_begun)
    }
}

/// Where a report goes.
struct OutFolder<'a> {
    path: &'a Path,
    /// The files that have gone there.
    written: BTreeSet<String>,
}

impl report::Output for OutFolder<'_> {
    fn file(&mut self, path: &str, fill: &mut report::Fill<'_>) -> io::Result<()> {
        let target = self.path.join(path);
        fs::create_dir_all(target.parent().unwrap_or(&target))?;
        fill_whole(&target, fill)?;
        self.written.insert(path.into());
        Ok(())
    }
}

impl Verify {
    fn run(self) -> Result<ExitCode, Failure> {
        let found = verify(&self.folder, self.sample).map_err(Failure::input)?;
        let told = self.tell(&found);
        if found.holds() {
            return told.map(|()| ExitCode::SUCCESS);
        }
        // whether or not anybody reads it
        let _ = told;
        Ok(ExitCode::FAILURE)
    }

    fn tell(&self, found: &Verification) -> Result<(), Failure> {
        if self.json {
            print_json(&json!({
                "holds": found.holds(),
                "files": found.files,
                "changed": found.changed,
                "runs": found.sample,
                "different": found.different,
                "unchecked": found.unchecked,
            }))
        } else {
            for path in &found.changed {
                print(&format!("{path} is not what it was\n"))?;
            }
            for number in &found.different {
                print(&format!("run {number} ended differently\n"))?;
            }
            print(&format!(
                "{} of {} files are as they were; {} of {} runs ended alike\n",
                found.files - found.changed.len(),
                found.files,
                found.sample.len() - found.different.len(),
                found.sample.len()
            ))?;
            match found.unchecked.as_slice() {
                [] => Ok(()),
                others => print(&format!("not in the manifest, and not checked: {}\n", others.join(", "))),
            }
        }
    }
}

/// A word as a shell takes it.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=,:+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

fn worker(path: &str, hash: &str) -> Result<(), Failure> {
    end_with_parent()?;
    let study = load(path)?;
    if study.hash != hash {
        return Err(Failure::input(format!(
            "{path} or its problem files have changed since the study began"
        ))
        .hint("run the study again"));
    }
    limit_memory(study.budget.megabytes)?;
    print(&format!("{READY}\n"))?;
    for line in io::stdin().lock().lines() {
        let Some(number) = line.ok().and_then(|line| line.trim().parse().ok()) else { continue };
        let Some((record, seconds)) = study.job(number).and_then(|job| execute(&study, job)) else {
            continue;
        };
        let mut out = io::stdout().lock();
        writeln!(out, "{}", to_line(number, &record, seconds))?;
        out.flush()?;
    }
    Ok(())
}

/// A worker whose study was killed ends at once, even in the middle of a run; elsewhere than on Linux after the run.
fn end_with_parent() -> Result<(), Failure> {
    #[cfg(target_os = "linux")]
    rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))
        .map_err(|e| Failure::input(format!("a worker cannot be made to end with its study: {e}")))?;
    Ok(())
}

/// What a run takes beyond it ends its process, which is noticed.
fn limit_memory(megabytes: u64) -> Result<(), Failure> {
    let own = megabytes.saturating_mul(1 << 20);
    if let Some(known) = getrlimit(Resource::As).maximum.filter(|known| *known < own) {
        // a run that takes more than that would count as one that took too much
        return Err(Failure::input(format!(
            "the study grants a run {megabytes} MB, and the limit here is {} MB (ulimit -v)",
            known >> 20
        ))
        .hint("raise that limit, or lower megabytes under [budget]"));
    }
    let bytes = Some(own);
    setrlimit(Resource::As, Rlimit { current: bytes, maximum: bytes })
        .map_err(|e| Failure::input(format!("the memory limit cannot be set: {e}")))
}
