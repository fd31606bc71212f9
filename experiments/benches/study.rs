//! What a study costs beside its fits: `cargo bench --bench study`.
//!
//! Studies of many fits of a moment run on two worker processes. Printed are, for each number of runs: the wall-clock time, that spent outside of the solvers
//! by a run (two workers' time, less the seconds that runs say they took) and the CPU time of all processes by a run, which a busy machine does not
//! lengthen; the memory of the process that holds the store, once all is read and at its most; the size of the store; time and memory of the
//! report. Under each number stands the exponent from one size to the next. Memory is read from /proc, on Linux.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use keyfit::ir::Scalar;
use keyfit::study::{Store, Study};

/// Random starts of each problem, and the runs that they make.
const STARTS: [u64; 2] = [100, 1000];
const WORKERS: u64 = 2;
/// Problems of a moment: name, model, start.
const PROBLEMS: [(&str, &str, &str); 10] = [
    ("decay", "a*exp(-b*t)", "a = 1.0, b = 0.5"),
    ("growth", "a*(1 - exp(-b*t))", "a = 1.0, b = 0.5"),
    ("hyperbola", "a*t/(b + t)", "a = 1.0, b = 2.0"),
    ("line", "a*t + b", "a = 1.0, b = 0.5"),
    ("logistic", "a/(1 + exp(b - t))", "a = 1.0, b = 2.0"),
    ("parabola", "a*t^2 + b*t", "a = 1.0, b = 0.5"),
    ("power", "a*(t + 1)^b", "a = 1.0, b = 0.5"),
    ("ratio", "(a + t)/(b + t)", "a = 1.0, b = 2.0"),
    ("root", "a*sqrt(t + b^2)", "a = 1.0, b = 1.0"),
    ("wave", "a*sin(b*t)", "a = 1.0, b = 0.5"),
];
const SOLVERS: [&str; 10] = [
    "levenberg-marquardt",
    "lm-geodesic",
    "dogleg",
    "subspace-dogleg",
    "trust-region-newton",
    "newton",
    "gauss-newton-qr",
    "gauss-newton",
    "bfgs",
    "l-bfgs",
];

/// One size's numbers, in the order of the columns.
struct Measured {
    runs: u64,
    numbers: [f64; COLUMNS.len()],
}

const COLUMNS: [&str; 9] = [
    "seconds",
    "ms outside",
    "ms CPU",
    "MiB read",
    "MiB most",
    "MiB store",
    "report s",
    "report MiB",
    "MiB out",
];

fn main() {
    // `cargo test --benches` only asks whether it builds
    if std::env::args().any(|a| a == "--test") {
        return;
    }
    println!("{:>7} {}", "runs", COLUMNS.map(|name| format!("{name:>11}")).concat());
    let mut before: Option<Measured> = None;
    for starts in STARTS {
        let now = measure(starts);
        println!("{:>7} {}", now.runs, now.numbers.map(|x| format!("{x:>11.3}")).concat());
        if let Some(before) = before {
            let by = Scalar::ln(&(now.runs as f64 / before.runs as f64));
            let exponent = |(new, old): (&f64, &f64)| format!("{:>11.2}", Scalar::ln(&(new / old)) / by);
            let all: String = now.numbers.iter().zip(&before.numbers).map(exponent).collect();
            println!("{:>7} {all}", "");
        }
        before = Some(now);
    }
}

fn measure(starts: u64) -> Measured {
    let folder = Folder::new(starts);
    let study = folder.study(starts);
    let file = folder.0.join("s.toml");
    let before = cpu_of_children();
    let run = watch(folder.keyfit(&["study", "run", "s.toml", "--jobs", &WORKERS.to_string()]));
    let cpu = cpu_of_children() - before;
    let path = file.with_extension("runs");
    let mut inside = 0.0;
    let mut runs = 0;
    let mut store = Store::open(&path, &study.hash).expect("a store");
    store
        .for_each(|_, _, seconds| {
            inside += seconds.unwrap_or_default();
            runs += 1;
        })
        .expect("runs");
    assert_eq!(runs, study.len());
    drop(store);
    let report = watch(folder.keyfit(&["study", "report", "s.toml"]));
    let n = runs as f64;
    let numbers = [
        run.seconds,
        1e3 * (run.seconds * WORKERS as f64 - inside) / n,
        1e3 * cpu / n,
        run.early,
        run.most,
        bytes(&path) / MIB,
        report.seconds,
        report.most,
        bytes(&folder.0.join("report")) / MIB,
    ];
    Measured { runs, numbers }
}

const MIB: f64 = 1024.0 * 1024.0;

/// A folder of its own, gone when dropped.
struct Folder(PathBuf);

impl Folder {
    fn new(starts: u64) -> Folder {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("scale-{starts}"));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(path.join("problems")).expect("a folder");
        Folder(path)
    }

    fn study(&self, starts: u64) -> Study {
        let write = |name: &str, text: &str| std::fs::write(self.0.join(name), text).expect("a file");
        for (name, model, start) in PROBLEMS {
            let text = format!(
                "name = \"{name}\"\nmodel = \"{model}\"\nstarts = [{{ {start} }}]\n[certified]\nsum_of_squares = 0.0\n\
                 [data]\nt = [0.0, 1.0, 2.0, 3.0, 4.0]\ny = [1.0, 1.5, 1.8, 2.0, 2.1]\n"
            );
            write(&format!("problems/{name}.toml"), &text);
        }
        let solvers: String = SOLVERS.map(|name| format!("[[solvers]]\nsolver = \"{name}\"\n")).concat();
        let text = format!(
            "name = \"scale\"\n[[suites]]\nfolder = \"problems\"\n{solvers}\
             [starts]\ngiven = false\nrandom = {starts}\nspread = 2.0\n[budget]\niterations = 5\n"
        );
        write("s.toml", &text);
        Study::parse(&text, &self.0).expect("a study")
    }

    fn keyfit(&self, line: &[&str]) -> Child {
        let mut command = Command::new(env!("CARGO_BIN_EXE_keyfit"));
        command.args(line).current_dir(&self.0).stdout(Stdio::null()).spawn().expect("runs keyfit")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// How long a process took, and its memory in MiB: half a second after its start, and at its most.
struct Watched {
    seconds: f64,
    early: f64,
    most: f64,
}

fn watch(mut child: Child) -> Watched {
    let began = Instant::now();
    let (mut early, mut most) = (None, 0.0);
    let status = loop {
        if let Some(status) = child.try_wait().expect("it can be asked") {
            break status;
        }
        // the most that it held so far
        most = memory(child.id()).unwrap_or(most);
        if began.elapsed() > Duration::from_millis(500) {
            early.get_or_insert(most);
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    assert!(status.success());
    Watched { seconds: began.elapsed().as_secs_f64(), early: early.unwrap_or(most), most }
}

fn memory(process: u32) -> Option<f64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: f64 = line.trim().trim_end_matches(" kB").parse().ok()?;
    Some(kibibytes / 1024.0)
}

/// Seconds of CPU of all children that have ended, and of theirs. The kernel counts in hundredths.
fn cpu_of_children() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // a program's name may hold blanks; it ends with the last bracket
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    fields.skip(13).take(2).filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() / 100.0
}

fn bytes(path: &Path) -> f64 {
    match std::fs::read_dir(path) {
        Ok(entries) => entries.flatten().map(|entry| bytes(&entry.path())).sum(),
        Err(_) => std::fs::metadata(path).map_or(0.0, |data| data.len() as f64),
    }
}
