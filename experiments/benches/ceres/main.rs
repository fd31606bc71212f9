//! Time per fit against Ceres, on the 54 starts of NIST StRD, in one run: `cargo bench --bench ceres`.
//!
//! Each model becomes a C++ program (see [`program`]), which is compiled with -O3 against the installed Ceres and GSL (Debian:
//! libceres-dev, libgsl-dev; minutes the first time, then the programs are kept) and runs each start with Jets: Levenberg–Marquardt with
//! DENSE_QR, TinySolver, and GSL's multifit_nlinear; every tolerance at machine epsilon. For these only the solution is timed; for keyfit the set-up and the check of the answer too. The shortest of all
//! rounds counts; both go through a problem's starts one right after the other, again and again, so that a machine that is busy for
//! a while disturbs both. With the argument `--markdown` the table is written as the docs have it.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::hint::black_box;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::time::Instant;

use keyfit::ir::Scalar;
use keyfit::solvers::lookup;
use keyfit::suite::{Problem, Values, suite};
use keyfit::{FitOptions, fit_channels};

mod program;

const ROUNDS: usize = 15;
/// How often that many rounds are made of each.
const TURNS: usize = 25;
/// Ways to fit, keyfit's first; Ceres's in the order in which the program prints them.
const WAYS: [&str; 4] = ["keyfit", "ceres", "tiny", "gsl"];

/// One fit.
struct Run {
    micros: f64,
    residuals: u64,
    jacobians: u64,
    lre: f64,
}

fn main() {
    // `cargo test --benches` only asks whether it builds
    if std::env::args().any(|a| a == "--test") {
        return;
    }
    let problems = suite("nist").expect("embedded");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("ceres");
    let programs = match compiled(&problems, &folder) {
        Ok(programs) => programs,
        Err(error) => {
            return println!(
                "Ceres is not compared: {error}. On Debian: apt-get install libceres-dev libgsl-dev g++"
            );
        }
    };
    let markdown = std::env::args().any(|a| a == "--markdown");
    let (mut logs, mut digits, mut wins) = ([0.0; WAYS.len()], [[0; 2]; WAYS.len()], [0; WAYS.len()]);
    let mut count = 0;
    for (problem, program) in problems.iter().zip(&programs) {
        let (versions, best) = turns(problem, program);
        if count == 0 {
            heading(&versions, markdown);
        }
        for (start, runs) in best.iter().enumerate() {
            row(problem, start, runs, markdown);
            for (k, run) in runs.iter().enumerate() {
                logs[k] += Scalar::ln(&run.micros);
                digits[k][0] += usize::from(run.lre >= 4.0);
                digits[k][1] += usize::from(run.lre >= 10.0);
                wins[k] += usize::from(runs[0].micros <= run.micros);
            }
            count += 1;
        }
    }
    let means = logs.map(|sum| Scalar::exp(&(sum / f64::from(count))));
    println!();
    for (k, way) in WAYS.iter().enumerate() {
        println!(
            "{way:<8} {:>8.1} µs (geometric mean), keyfit takes {:>5.2} × that and is as fast on {} of {count}; \
             LRE ≥ 4: {}, ≥ 10: {}",
            means[k],
            means[0] / means[k],
            wins[k],
            digits[k][0],
            digits[k][1]
        );
    }
}

/// The shortest runs of each start, keyfit's first, and what the program says it is.
fn turns(problem: &Problem, program: &Path) -> (String, Vec<Vec<Run>>) {
    let mut best: Vec<Vec<Run>> = Vec::new();
    let mut versions = String::new();
    for _ in 0..TURNS {
        let output = Command::new(program).output().expect("a program that was just compiled");
        let answers = String::from_utf8_lossy(&output.stdout);
        let mut lines = answers.lines();
        versions = lines.next().unwrap_or_default().to_owned();
        for start in 0..problem.starts.len() {
            let mut runs = vec![ours(problem, start)];
            runs.extend(lines.by_ref().take(WAYS.len() - 1).map(|line| read(problem, line)));
            match best.get_mut(start) {
                None => best.push(runs),
                Some(best) => {
                    best.iter_mut()
                        .zip(runs)
                        .for_each(|(best, run)| best.micros = best.micros.min(run.micros));
                }
            }
        }
    }
    (versions, best)
}

/// The program of each problem, compiled two at a time.
fn compiled(problems: &[Problem], folder: &Path) -> io::Result<Vec<PathBuf>> {
    std::fs::create_dir_all(folder)?;
    let next = Mutex::new(problems.iter().enumerate());
    let done = Mutex::new(vec![None; problems.len()]);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some((k, problem)) = next.lock().ok().and_then(|mut next| next.next()) {
                    let program = compile(problem, folder).map_err(|error| error.to_string());
                    if let Ok(mut done) = done.lock() {
                        done[k] = Some(program);
                    }
                }
            });
        }
    });
    let done = done.into_inner().map_err(|e| io::Error::other(e.to_string()))?;
    done.into_iter().flatten().collect::<Result<_, String>>().map_err(io::Error::other)
}

/// The program of a problem, under a name that tells what it was made from.
fn compile(problem: &Problem, folder: &Path) -> io::Result<PathBuf> {
    let text = program::program(problem, ROUNDS);
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    let program = folder.join(format!("{}-{:016x}", problem.name, hasher.finish()));
    if program.exists() {
        return Ok(program);
    }
    let (source, partial) = (program.with_extension("cc"), program.with_extension("part"));
    std::fs::write(&source, text)?;
    let compiled = Command::new("c++")
        .args(["-std=c++17", "-O3", "-DNDEBUG", "-w", "-I/usr/include/eigen3"])
        .arg(&source)
        .args(["-lceres", "-lglog", "-lgsl", "-lgslcblas", "-o"])
        .arg(&partial)
        .stderr(Stdio::piped())
        .output()?;
    if !compiled.status.success() {
        let error = String::from_utf8_lossy(&compiled.stderr);
        return Err(io::Error::other(error.lines().next().unwrap_or("the compiler failed").to_owned()));
    }
    std::fs::rename(&partial, &program)?;
    Ok(program)
}

fn ours(problem: &Problem, start: usize) -> Run {
    let options = FitOptions { solver: lookup("default").expect("registered"), ..FitOptions::default() };
    let mut micros = f64::INFINITY;
    let mut fit = None;
    for _ in 0..ROUNDS {
        let channels = problem.starts[start].clone();
        let began = Instant::now();
        fit = Some(black_box(fit_channels(black_box(channels), &options)).expect("a fit"));
        micros = micros.min(began.elapsed().as_secs_f64() * 1e6);
    }
    let fit = fit.expect("a round");
    let values: Values = fit.parameters.iter().map(|p| (p.name.clone(), p.value)).collect();
    Run {
        micros,
        residuals: fit.residual_evaluations,
        jacobians: fit.jacobian_evaluations,
        lre: problem.lre(&values, fit.final_residual),
    }
}

/// A line of the program: microseconds, evaluations, and the parameters in the order of the model.
fn read(problem: &Problem, line: &str) -> Run {
    let numbers: Vec<f64> = line.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    let [micros, residuals, jacobians, parameters @ ..] = &numbers[..] else { panic!("{line}") };
    let names = problem.starts[0][0].track.free_parameters();
    let values: Values = names.iter().map(|p| p.name().to_owned()).zip(parameters.iter().copied()).collect();
    Run {
        micros: *micros,
        residuals: *residuals as u64,
        jacobians: *jacobians as u64,
        lre: problem.lre(&values, f64::NAN),
    }
}

fn heading(versions: &str, markdown: bool) {
    println!("{versions}");
    if markdown {
        println!();
        println!(
            "| problem | start | keyfit: residuals, Jacobians, LRE, µs | Ceres | TinySolver | GSL | keyfit ÷ Ceres |"
        );
        println!("| --- | --- | --- | --- | --- | --- | --- |");
    } else {
        println!(
            "{:<14}{:>26}{:>26}{:>26}{:>26}  keyfit ÷ ceres",
            "residuals/Jacobians/LRE/µs", WAYS[0], WAYS[1], WAYS[2], WAYS[3]
        );
    }
}

fn row(problem: &Problem, start: usize, runs: &[Run], markdown: bool) {
    let ratio = runs[0].micros / runs[1].micros;
    let cells = runs.iter().map(|r| (r.residuals, r.jacobians, r.lre, r.micros));
    if markdown {
        let cells = cells.map(|(r, j, lre, us)| format!("{r}, {j}, {lre:.1}, {us:.0}"));
        println!(
            "| {} | {} | {} | {ratio:.2} |",
            problem.name,
            start + 1,
            cells.collect::<Vec<_>>().join(" | ")
        );
    } else {
        let cells: String =
            cells.map(|(r, j, lre, us)| format!("{:>26}", format!("{r}/{j}/{lre:.1}/{us:.1}"))).collect();
        println!("{:<12}{:>2}{cells}  {ratio:>6.2}", problem.name, start + 1);
    }
}
