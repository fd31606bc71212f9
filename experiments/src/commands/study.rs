//! `keyfit study`

use std::fs;
use std::io::{self, BufRead, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, Subcommand};
use indicatif::{ProgressBar, ProgressStyle};
use keyfit::study::run::{Workers, own_command, run};
use keyfit::study::work::{execute, to_line};
use keyfit::study::{Shard, Store, Study as Plan, file};
use serde_json::json;

use super::{print, print_json, write_whole};
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
    /// Carry out the runs that the store does not have yet
    Run(Run),
    /// Join the stores of shards
    Merge(Merge),
    /// Run the shards on a cluster
    Submit(Submit),
    /// Carry out the runs whose numbers are read from stdin
    #[command(hide = true)]
    Worker { file: String },
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
struct Submit {
    /// The study file, on a file system that all machines see
    file: String,
    /// What runs the shards
    #[arg(long)]
    engine: Engine,
    /// How many shards
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..))]
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
            Command::Run(run) => run.run()?,
            Command::Merge(merge) => merge.run()?,
            Command::Submit(submit) => return submit.run(),
            Command::Worker { file } => worker(&file)?,
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn init(path: &Path) -> Result<(), Failure> {
    if path.exists() {
        return Err(Failure::input(format!("{} is there already", path.display())).hint("name another file"));
    }
    write_whole(path, file::template().as_bytes())?;
    say(format!("wrote {}; run it with: keyfit study run {0}", path.display()));
    Ok(())
}

/// Reads a study file; every fault is told.
pub fn load(path: &str) -> Result<Plan, Failure> {
    let source = read(path)?;
    let folder = Path::new(path).parent().unwrap_or(Path::new("."));
    Plan::parse(&source.text, folder).map_err(|faults| study_faults(&source, &faults))
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

impl Run {
    fn run(self) -> Result<(), Failure> {
        let study = load(&self.file)?;
        let shard = shard(self.shard.as_deref())?;
        let path = store_path(&self.file, self.store.as_ref());
        let mut store = Store::create(&path, &study.hash).map_err(Failure::input)?;
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let workers = Workers::Processes {
            count: self.jobs.map_or(cores, usize::from),
            command: own_command(&["study", "worker", &self.file]).map_err(Failure::input)?,
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
        if self.json {
            print_json(&json!({
                "study": study.name,
                "store": path.display().to_string(),
                "runs": study.len(),
                "carried_out": carried_out,
                "finished": finished,
            }))?;
        } else {
            print(&format!(
                "{}: {carried_out} runs carried out; {finished} of {} are in {}\n",
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
        let mut store = Store::create(&path, &study.hash).map_err(Failure::input)?;
        for other in &self.stores {
            let mut other = Store::open(other, &study.hash).map_err(Failure::input)?;
            store.merge(&mut other).map_err(Failure::input)?;
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
        let file = file.to_string_lossy().into_owned();
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
        let task = format!(
            "{} study run {} --jobs 1 --shard ${variable}/{n} --store {}",
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

/// A word as a shell takes it.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=,:+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

fn worker(path: &str) -> Result<(), Failure> {
    let study = load(path)?;
    limit_memory(study.budget.megabytes)?;
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

/// What a run takes beyond it ends its process, which is noticed.
fn limit_memory(megabytes: u64) -> Result<(), Failure> {
    let bytes = megabytes.saturating_mul(1 << 20);
    rlimit::Resource::AS
        .set(bytes, bytes)
        .map_err(|e| Failure::input(format!("the memory limit cannot be set: {e}")))
}
