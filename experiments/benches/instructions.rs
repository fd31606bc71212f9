//! What simplification saves in instructions: `make instructions` writes docs/instructions.md.
//!
//! The program runs itself under callgrind (of valgrind), which counts the instructions of each evaluation. Counts do not
//! depend on how busy the machine is; they do on the compiler and the kind of processor. Valgrind does not know AVX-512, so
//! the C functions must be built for a processor without it: `TARGET_CPU=x86-64-v3` in a target folder of its own.

use std::error::Error;
use std::hint::black_box;
use std::path::Path;
use std::process::Command;

use keyfit::Track;
use keyfit::ir::Sampler;
use keyfit::reduction::{Case, cases, median_saved};
use keyfit::suite::suite_names;

/// How many values an evaluation has.
const VALUES: usize = 1024;
/// The argument by which the program is told that it is being counted.
const COUNTED: &str = "--counted";

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    // `cargo test --benches` only asks whether it builds
    if arguments.iter().any(|a| a == "--test") {
        return Ok(());
    }
    if let Some(place) = arguments.iter().position(|a| a == COUNTED) {
        return evaluate_all(Path::new(arguments.get(place + 1).ok_or("which file?")?));
    }
    let rows = rows()?;
    let counts = counts(&rows)?;
    if counts.len() != 3 * rows.len() {
        return Err(format!("callgrind counted {} evaluations, not {}", counts.len(), 3 * rows.len()).into());
    }
    print!("{}", markdown(&rows, &counts));
    Ok(())
}

/// The models of all suites, and the derivatives of those of NIST.
fn rows() -> Result<Vec<Case>, Box<dyn Error>> {
    let mut rows = Vec::new();
    for name in suite_names() {
        rows.extend(cases(&name)?.into_iter().filter(|case| name == "nist" || !case.derivative));
    }
    Ok(rows)
}

/// Where a case is evaluated: through its targets' range.
fn range(case: &Case) -> [f64; 2] {
    let wider = |[low, high]: [f64; 2], t: &f64| [low.min(*t), high.max(*t)];
    let ends = case.times.iter().fold([f64::INFINITY, f64::NEG_INFINITY], wider);
    if ends[0] <= ends[1] { ends } else { [0.0, 1.0] }
}

/// Evaluates the track of each line of a file, behind the ends of its range, so that callgrind has nothing else to look at.
fn evaluate_all(file: &Path) -> Result<(), Box<dyn Error>> {
    for line in std::fs::read_to_string(file)?.lines() {
        let [low, high, text] = line.splitn(3, ' ').collect::<Vec<_>>()[..] else { return Err(line.into()) };
        let (low, high): (f64, f64) = (low.parse()?, high.parse()?);
        let track = Track::parse(text)?;
        let times: Vec<f64> =
            (0..VALUES).map(|k| low + (high - low) * k as f64 / (VALUES - 1) as f64).collect();
        let parameters: Vec<f64> = track.free_parameters().iter().map(|p| p.start()).collect();
        let mut sampler = Sampler::new(&track);
        let mut values = vec![0.0; times.len()];
        counted_evaluation(&mut sampler, &times, &parameters, &mut values);
        black_box(values);
    }
    Ok(())
}

/// What callgrind counts: from where it is entered, by this name, …
#[inline(never)]
fn counted_evaluation(sampler: &mut Sampler<f64>, times: &[f64], parameters: &[f64], values: &mut [f64]) {
    sampler.sample_into(times, black_box(parameters), values);
    end_of_evaluation(values);
}

/// … to where this is.
#[inline(never)]
fn end_of_evaluation(values: &[f64]) {
    black_box(values);
}

/// The instructions of each evaluation: of each row before, between and after.
fn counts(rows: &[Case]) -> Result<Vec<u64>, Box<dyn Error>> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("instructions-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let tracks = folder.join("tracks");
    let line = |case: &Case, track: &Track| {
        let [low, high] = range(case);
        format!("{low:?} {high:?} {}\n", track.describe())
    };
    let lines =
        |case: &Case| [&case.before, &case.between, &case.after].map(|track| line(case, track)).concat();
    std::fs::write(&tracks, rows.iter().map(lines).collect::<String>())?;
    let status = Command::new("valgrind")
        .args(["--tool=callgrind", "--log-file=/dev/null"])
        .args(["--dump-before=*counted_evaluation*", "--dump-before=*end_of_evaluation*"])
        .arg(format!("--callgrind-out-file={}", folder.join("out").display()))
        .arg(std::env::current_exe()?)
        .arg(COUNTED)
        .arg(&tracks)
        .status()
        .map_err(|e| format!("valgrind cannot be run ({e}); Debian has it as the package valgrind"))?;
    if !status.success() {
        return Err(format!(
            "the program under valgrind ended with {status}; `make instructions` builds it for valgrind"
        )
        .into());
    }
    let mut dumps: Vec<(u64, u64)> = Vec::new();
    for entry in std::fs::read_dir(&folder)? {
        let text = std::fs::read_to_string(entry?.path())?;
        let field = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
        let ended = field("desc: Trigger:").is_some_and(|trigger| trigger.contains("end_of_evaluation"));
        if let (true, Some(part), Some(count)) = (ended, field("part:"), field("summary:")) {
            dumps.push((part.parse()?, count.parse()?));
        }
    }
    std::fs::remove_dir_all(&folder)?;
    dumps.sort();
    Ok(dumps.into_iter().map(|(_, count)| count).collect())
}

fn markdown(rows: &[Case], counts: &[u64]) -> String {
    let a_value = |count: u64| count as f64 / VALUES as f64;
    let counted: Vec<(&Case, [f64; 3])> = rows
        .iter()
        .zip(counts.chunks_exact(3))
        .map(|(case, c)| (case, [c[0], c[1], c[2]].map(a_value)))
        .collect();
    let mut text = format!(
        "# What simplification saves in instructions\n\n\
         Instructions of the block sampler for one value, of {VALUES} through the range of the problem's targets at the first start,\n\
         counted by callgrind on {}: the models of all suites, and the derivatives of NIST's. *Before*, *between* and\n\
         *after* are those of [the table of nodes](simplify.md). `make instructions` writes this file.\n\n",
        std::env::consts::ARCH
    );
    for (name, derivative) in [("derivatives", true), ("models", false)] {
        let own = || counted.iter().filter(|(case, _)| case.derivative == derivative).map(|(_, c)| *c);
        let [all, rewriting] =
            [median_saved(own().map(|[a, _, c]| [a, c])), median_saved(own().map(|[_, b, c]| [b, c]))];
        let less = own().filter(|[_, b, c]| *c < 0.99 * b).count();
        let more = own().filter(|[_, b, c]| *c > 1.01 * b).count();
        text += &format!(
            "Of {} {name} the median saving is {all:.1} %, {rewriting:.1} % by rewriting alone, which saves more than 1 % in {less} and costs more than 1 % in {more}.\n",
            own().count()
        );
    }
    text += "\n| problem | track | nodes before | between | after | instructions before | between | after |\n| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |\n";
    for (case, [before, between, after]) in counted {
        let nodes = [&case.before, &case.between, &case.after].map(|track| track.nodes().len());
        text += &format!(
            "| {} | {} | {} | {} | {} | {before:.1} | {between:.1} | {after:.1} |\n",
            case.problem, case.track, nodes[0], nodes[1], nodes[2]
        );
    }
    text
}
