//! A study that is ready to run: problems, starts, solvers, and the runs that they make, numbered.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use keyfit_ir::Channel;
use keyfit_ir::text::nearest;
use keyfit_solvers::{FitProblem, OPTIONS, Options, Random, SOLVERS, SolverEntry, lookup, seed_of};
use sha2::{Digest, Sha256};

use super::file::{Checked, Fault, Tables};
use super::folders::ProblemFolder;
use super::strd::{self, StrdError};
use crate::suite::{Problem, Values, suite, suite_names};

/// More solvers than this out of one grid are a mistake.
const MOST_COMBINATIONS: usize = 10_000;

/// A study whose file has been checked and whose problems have been read.
#[derive(Clone, Debug)]
pub struct Study {
    /// Its name.
    pub name: String,
    /// Chooses random starts, and the runs that a verification carries out again.
    pub seed: u64,
    /// The problems with the starts that the study asks for, in the order of the file and of their names.
    pub problems: Vec<Started>,
    /// The solvers with their options, in the order of the file.
    pub solvers: Vec<Configured>,
    /// What a run may cost.
    pub budget: Budget,
    /// Digits that tables count.
    pub digits: Vec<f64>,
    /// Tolerances of data profiles.
    pub tau: Vec<f64>,
    /// SHA-256 of all that the runs depend on: what the study file says but for the names of study and solvers, where its folders lie and what is counted as solved; the problem files as they stand; the version of keyfit.
    pub hash: String,
    /// The folders of problem files that the study names.
    pub folders: Vec<ProblemFolder>,
}

/// A problem with its starts in the study.
#[derive(Clone, Debug)]
pub struct Started {
    /// The problem.
    pub problem: Problem,
    /// Name and channels of each start.
    pub starts: Vec<(String, Vec<Channel>)>,
}

impl Started {
    /// The names of its parameters, in the order of a run's.
    pub fn parameters(&self) -> Vec<String> {
        let channels = self.starts.first().map(|(_, channels)| channels.clone()).unwrap_or_default();
        let names =
            |fitted: FitProblem| fitted.free_parameters().iter().map(|own| own.name().to_owned()).collect();
        FitProblem::new(channels, None).map_or(Vec::new(), names)
    }
}

/// A solver with its options.
#[derive(Clone, Debug)]
pub struct Configured {
    /// How tables call it.
    pub label: String,
    /// The solver.
    pub solver: &'static SolverEntry,
    /// Its options.
    pub options: Options,
}

/// What a run may cost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Budget {
    /// Seconds of wall-clock time.
    pub seconds: f64,
    /// Memory in megabytes.
    pub megabytes: u64,
}

/// One run of the study.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Job {
    /// Which problem.
    pub problem: usize,
    /// Which of its starts.
    pub start: usize,
    /// Which solver.
    pub solver: usize,
}

/// A share of the runs: part `part` of `of`, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    part: u64,
    of: u64,
}

impl Shard {
    /// All runs.
    pub const ALL: Shard = Shard { part: 1, of: 1 };

    /// Reads `2/8`.
    ///
    /// ```
    /// use keyfit::study::Shard;
    ///
    /// assert!(Shard::parse("2/8").is_some());
    /// assert_eq!(["0/3", "4/3", "1/0", "+1/3", "1/+3", " 1/3", "1/3/4", "1"].map(Shard::parse), [None; 8]);
    /// ```
    pub fn parse(text: &str) -> Option<Shard> {
        let number = |digits: &str| digits.parse().ok().filter(|_| !digits.starts_with('+'));
        let (part, of) = text.split_once('/')?;
        let (part, of) = (number(part)?, number(of)?);
        (1 <= part && part <= of).then_some(Shard { part, of })
    }

    /// Whether the run of that number belongs to it.
    pub fn has(self, job: u64) -> bool {
        job % self.of == self.part - 1
    }
}

impl Study {
    /// Reads a study file; folders of problems are sought beside `folder`.
    ///
    /// # Errors
    /// Every fault of the file and of the problem files.
    pub fn parse(text: &str, folder: &Path) -> Result<Study, Vec<Fault>> {
        let (tables, faults) = Tables::read(text);
        let mut build = Builder { faults, hash: Sha256::new(), folders: Vec::new() };
        build.hash.update(concat!("keyfit ", env!("CARGO_PKG_VERSION"), "\n"));
        let root = tables.all("").next();
        let (budget, accuracy) = (tables.all("budget").next(), tables.all("accuracy").next());
        let solvers = build.solvers(&tables, budget);
        let problems = build.problems(&tables, folder);
        build.hash.update(tables.meaning());
        let (Some(root), Some(budget), Some(accuracy), true) =
            (root, budget, accuracy, build.faults.is_empty())
        else {
            // a grid makes several solvers of one fault
            let mut faults: Vec<Fault> = Vec::new();
            for fault in build.faults {
                if !faults.contains(&fault) {
                    faults.push(fault);
                }
            }
            return Err(faults);
        };
        let seed = root.whole("seed");
        let problems: Vec<Started> = problems
            .into_iter()
            .map(|problem| Started {
                starts: tables.all("starts").flat_map(|rules| starts(&problem, rules, seed)).collect(),
                problem,
            })
            .collect();
        if problems.iter().all(|problem| problem.starts.is_empty()) {
            let message = "no problem has a start".to_owned();
            return Err(vec![Fault {
                span: 0..0,
                message,
                hint: Some("ask for given, scaled or random starts under [starts]".into()),
            }]);
        }
        let hash = build.hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Study {
            name: root.text("name").to_owned(),
            seed,
            problems,
            solvers,
            budget: Budget { seconds: budget.number("seconds"), megabytes: budget.whole("megabytes") },
            digits: accuracy.numbers("digits").to_vec(),
            tau: accuracy.numbers("tau").to_vec(),
            hash,
            folders: build.folders,
        })
    }

    /// How many runs there are.
    pub fn len(&self) -> u64 {
        let starts: usize = self.problems.iter().map(|problem| problem.starts.len()).sum();
        (starts * self.solvers.len()) as u64
    }

    /// Whether there is no run.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The run of that number: problems, then starts, then solvers are counted through.
    pub fn job(&self, number: u64) -> Option<Job> {
        let number = usize::try_from(number).ok()?;
        let (mut row, solver) = (number.checked_div(self.solvers.len())?, number % self.solvers.len());
        for (problem, started) in self.problems.iter().enumerate() {
            if row < started.starts.len() {
                return Some(Job { problem, start: row, solver });
            }
            row -= started.starts.len();
        }
        None
    }
}

struct Builder {
    faults: Vec<Fault>,
    hash: Sha256,
    folders: Vec<ProblemFolder>,
}

impl Builder {
    fn fault(&mut self, table: &Checked, key: &str, message: String, hint: Option<String>) {
        self.faults.push(Fault { span: table.span(key), message, hint });
    }

    fn unknown<'a>(
        &mut self,
        table: &Checked,
        key: &str,
        what: &str,
        word: &str,
        known: impl IntoIterator<Item = &'a str>,
    ) {
        let known: Vec<&str> = known.into_iter().collect();
        let hint = nearest(word, known.iter().copied()).map_or_else(
            || format!("there are {}", known.join(", ")),
            |near| format!("did you mean {near}?"),
        );
        self.fault(table, key, format!("there is no {what} {word}"), Some(hint));
    }

    fn solvers(&mut self, tables: &Tables, budget: Option<&Checked>) -> Vec<Configured> {
        let mut all: Vec<Configured> = Vec::new();
        for table in tables.all("solvers") {
            let Some(solver) = lookup(table.text("solver")) else {
                if !table.text("solver").is_empty() {
                    self.unknown(
                        table,
                        "solver",
                        "solver",
                        table.text("solver"),
                        SOLVERS.iter().map(|entry| entry.name),
                    );
                }
                continue;
            };
            let mut options = Options::default();
            if let Some(budget) = budget {
                options.iterations = Some(budget.whole("iterations"));
                options.evaluation_budget = budget.whole("evaluations");
            }
            let set = |build: &mut Builder, options: &mut Options, key: &str, name: &str, value: f64| {
                let Some(option) = OPTIONS.iter().find(|option| option.name == name) else {
                    return build.unknown(
                        table,
                        key,
                        "option",
                        name,
                        OPTIONS.iter().map(|option| option.name),
                    );
                };
                if !(option.set)(options, value) {
                    build.fault(table, key, format!("{name} cannot be {value:?}"), Some(option.doc.into()));
                }
            };
            for (name, values) in table.options("options") {
                values.iter().for_each(|value| set(self, &mut options, "options", name, *value));
            }
            let combinations = table.options("grid").iter().map(|(_, values)| values.len());
            if combinations.fold(1, usize::saturating_mul) > MOST_COMBINATIONS {
                let message = format!("a grid of more than {MOST_COMBINATIONS} combinations");
                self.fault(table, "grid", message, Some("divide it among several studies".into()));
                continue;
            }
            // the options that stand in the file, in a label
            let given =
                table.options("options").iter().map(|(name, values)| (name.as_str(), values.as_slice()));
            let mut entries = vec![(words(given), options)];
            for (name, values) in table.options("grid") {
                entries = entries
                    .into_iter()
                    .flat_map(|(words, options)| {
                        values.iter().map(move |value| (words.clone(), options.clone(), *value))
                    })
                    .map(|(mut words, mut options, value)| {
                        set(self, &mut options, "grid", name, value);
                        words.push(format!("{name}={value}"));
                        (words, options)
                    })
                    .collect();
            }
            let single = entries.len() == 1;
            for (words, options) in entries {
                let label = match (table.text("label"), words.is_empty()) {
                    ("", true) => solver.name.to_owned(),
                    ("", false) => format!("{} {}", solver.name, words.join(" ")),
                    (label, _) if single => label.to_owned(),
                    (label, _) => format!("{label} {}", words.join(" ")),
                };
                if all.iter().any(|known| known.label == label) {
                    self.fault(
                        table,
                        "label",
                        format!("two solvers are called {label}"),
                        Some("give one a label of its own".into()),
                    );
                }
                all.push(Configured { label, solver, options });
            }
        }
        all
    }

    fn problems(&mut self, tables: &Tables, folder: &Path) -> Vec<Problem> {
        let mut all = Vec::new();
        let mut names = BTreeSet::new();
        for table in tables.all("suites") {
            let mut own = match table.text("folder") {
                "" => self.embedded(table),
                path => self.folder(table, &folder.join(path)),
            };
            let wanted = table.texts("problems");
            for name in wanted {
                if own.iter().all(|problem| problem.name != *name) && !own.is_empty() {
                    let known: Vec<String> = own.iter().map(|problem| problem.name.clone()).collect();
                    self.unknown(table, "problems", "problem", name, known.iter().map(String::as_str));
                }
            }
            own.retain(|problem| wanted.is_empty() || wanted.contains(&problem.name));
            for problem in own {
                if names.insert((problem.suite.clone(), problem.name.clone())) {
                    all.push(problem);
                } else {
                    let message = format!("the problem {} of {} is there twice", problem.name, problem.suite);
                    self.fault(table, "name", message, None);
                }
            }
        }
        all
    }

    fn embedded(&mut self, table: &Checked) -> Vec<Problem> {
        let name = table.text("name");
        if name.is_empty() {
            self.fault(
                table,
                "name",
                "a suite needs a name or a folder".into(),
                Some("name = \"nist\", or folder = \"my-problems\"".into()),
            );
            return Vec::new();
        }
        match suite(name) {
            Ok(problems) => problems,
            Err(crate::suite::SuiteError::NoSuite { .. }) => {
                let known = suite_names();
                self.unknown(table, "name", "suite", name, known.iter().map(String::as_str));
                Vec::new()
            }
            Err(error) => {
                self.fault(table, "name", error.to_string(), None);
                Vec::new()
            }
        }
    }

    fn folder(&mut self, table: &Checked, path: &Path) -> Vec<Problem> {
        let called = match table.text("name") {
            "" => path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned()),
            name => name.to_owned(),
        };
        if called.is_empty() {
            let hint = Some("name = \"how tables call it\"".into());
            self.fault(
                table,
                "folder",
                format!("{} does not say how the suite is called", path.display()),
                hint,
            );
        }
        self.hash.update(format!("{called}\n"));
        let entries = match fs::read_dir(path) {
            Ok(entries) => entries,
            Err(error) => {
                self.fault(table, "folder", format!("{}: {error}", path.display()), None);
                return Vec::new();
            }
        };
        let mut files: Vec<_> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
        files.sort();
        let (mut problems, mut texts) = (Vec::new(), Vec::new());
        for file in files {
            let ending = file.extension().map(|ending| ending.to_string_lossy().to_ascii_lowercase());
            let is_strd = ending.as_deref() == Some("dat");
            if !is_strd && ending.as_deref() != Some("toml") {
                continue;
            }
            let Some(base) = file.file_name().and_then(|name| name.to_str()).map(str::to_owned) else {
                let message = format!("{}: its name is not UTF-8", file.display());
                self.fault(table, "folder", message, None);
                continue;
            };
            let text = match fs::read_to_string(&file) {
                Ok(text) => text,
                Err(error) => {
                    self.fault(table, "folder", format!("{}: {error}", file.display()), None);
                    continue;
                }
            };
            self.hash.update(format!("{}\n{text}", text.len()));
            let name = file.display().to_string();
            let problem = match is_strd {
                true => strd::problem(&called, &name, &text).map_err(|e| match e {
                    // names the file itself
                    StrdError::Problem(error) => error.to_string(),
                    error => format!("{name}: {error}"),
                }),
                false => Problem::parse_with(&called, &name, &text, |csv| {
                    let text = beside(path, csv)?;
                    self.hash.update(format!("{}\n{text}", text.len()));
                    // several problems may share it
                    if texts.iter().all(|(known, _)| known != csv) {
                        texts.push((csv.to_owned(), text.clone()));
                    }
                    Ok(text)
                })
                .map_err(|e| e.to_string()),
            };
            texts.push((base, text));
            match problem {
                Ok(problem) => problems.push(problem),
                Err(message) => self.fault(table, "folder", message, None),
            }
        }
        let own = table.text("folder").to_owned();
        self.folders.push(ProblemFolder { path: own, span: table.span("folder"), files: texts });
        if problems.is_empty() {
            self.fault(
                table,
                "folder",
                format!("{} holds no problem that can be read", path.display()),
                Some("problem files end in .toml or .dat".into()),
            );
        }
        problems
    }
}

/// The text of a file in a folder, which a copy of that folder has too.
fn beside(folder: &Path, name: &str) -> Result<String, String> {
    if Path::new(name).file_name().is_none_or(|own| own != name) {
        return Err(format!(
            "{name}: a CSV file must lie beside the problem file, and be named without a path"
        ));
    }
    fs::read_to_string(folder.join(name)).map_err(|error| format!("{name}: {error}"))
}

fn words<'a>(options: impl Iterator<Item = (&'a str, &'a [f64])>) -> Vec<String> {
    options.flat_map(|(name, values)| values.iter().map(move |value| format!("{name}={value}"))).collect()
}

/// The starts that the rules ask for, with their names.
fn starts(problem: &Problem, rules: &Checked, seed: u64) -> Vec<(String, Vec<Channel>)> {
    let mut all = Vec::new();
    let moved = |channels: &[Channel], values: &Values| -> Vec<Channel> {
        let restart = |channel: &Channel| Channel {
            track: channel.track.restart_parameters(|name| values.get(name).copied()),
            ..channel.clone()
        };
        channels.iter().map(restart).collect()
    };
    let parameters = |channels: &[Channel]| -> Values {
        let all = channels.iter().flat_map(|channel| channel.track.free_parameters());
        all.map(|p| (p.name().to_owned(), p.start())).collect()
    };
    for (i, channels) in problem.starts.iter().enumerate() {
        if rules.flag("given") {
            all.push(((i + 1).to_string(), channels.clone()));
        }
        for factor in rules.numbers("scaled") {
            let values = parameters(channels).into_iter().map(|(name, x)| (name, x * factor)).collect();
            all.push((format!("{}×{factor}", i + 1), moved(channels, &values)));
        }
    }
    let Some(first) = problem.starts.first() else { return all };
    // each problem has its own sequence, whatever other problems are there
    let mut random = Random::new(seed_of(&problem.name, seed));
    let spread = rules.number("spread");
    for k in 0..rules.whole("random") {
        let mut place = |x: f64| {
            let u = 2.0 * random.part() - 1.0;
            if x == 0.0 { u } else { x * core_math::pow(spread, u) }
        };
        let values = parameters(first).into_iter().map(|(name, x)| (name, place(x))).collect();
        all.push((format!("r{}", k + 1), moved(first, &values)));
    }
    all
}
