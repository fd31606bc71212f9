//! How fits grow with their keys: `cargo bench --bench scale`.
//!
//! A Catmull-Rom track with a free value a key is fitted to ten targets a key, together with one number that all targets feel.
//! Each size runs in a process of its own, so that the most memory that it held (VmHWM of /proc, on Linux) is its own. Printed are the times,
//! the memory beyond that of a process that fits nothing, and the exponents from one size to the next.

use std::process::Command;
use std::time::Instant;

use keyfit::ir::{Keyframe, Scalar, Shape, free, keyed, t};
use keyfit::solvers::Target;
use keyfit::{FitOptions, fit_parameters};

const SIZES: [usize; 3] = [100, 1000, 10_000];
const PER_KEY: usize = 10;
/// Short fits run several times; the shortest time counts.
const ROUNDS: usize = 3;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    // `cargo test --benches` only asks whether it builds
    if arguments.iter().any(|a| a == "--test") {
        return;
    }
    if let Some(keys) = arguments.iter().find_map(|a| a.strip_prefix("--keys=")) {
        return one(keys.parse().expect("a number of keys"));
    }
    println!(
        "{:>6} {:>8} {:>12} {:>10} {:>10} {:>12}",
        "keys", "targets", "seconds", "exponent", "KiB", "exponent"
    );
    let mut before: Option<(f64, f64, f64)> = None;
    let [_, idle] = measured(0);
    for keys in SIZES {
        let [seconds, peak] = measured(keys);
        let (n, memory) = (keys as f64, peak - idle);
        let exponent = |new: f64, old: f64, from: f64| {
            if old > 0.0 {
                format!("{:.2}", Scalar::ln(&(new / old)) / Scalar::ln(&(n / from)))
            } else {
                "–".into()
            }
        };
        let [time, space] = match before {
            None => ["–".to_owned(), "–".to_owned()],
            Some((from, s, m)) => [exponent(seconds, s, from), exponent(memory, m, from)],
        };
        println!("{keys:>6} {:>8} {seconds:>12.5} {time:>10} {memory:>10.0} {space:>12}", keys * PER_KEY);
        before = Some((n, seconds, memory));
    }
}

/// The seconds and the KiB of one size, by a process of its own.
fn measured(keys: usize) -> [f64; 2] {
    let program = std::env::current_exe().expect("its own path");
    let output = Command::new(&program).arg(format!("--keys={keys}")).output().expect("runs itself");
    let text = String::from_utf8_lossy(&output.stdout);
    let numbers: Vec<f64> = text.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    let [seconds, peak] = numbers[..] else { panic!("{text}{}", String::from_utf8_lossy(&output.stderr)) };
    [seconds, peak]
}

/// One size: its time in seconds, set-up included, and the most memory in KiB. Without keys nothing is fitted.
fn one(keys: usize) {
    let seconds = if keys > 0 { fitted(keys) } else { 0.0 };
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    println!("{seconds} {}", peak.map_or("0", |line| line.trim().trim_end_matches(" kB")));
}

/// The shortest time of a fit, in seconds.
fn fitted(keys: usize) -> f64 {
    let frame = |k: usize| Keyframe::new(k as f64, free(&format!("k{k}"), 0.0)).shape(Shape::CatmullRom);
    let wave = (t() * 2.3).cos() * free("sway", 0.5);
    let track = (keyed((0..keys).map(frame)) + wave).track().expect("keys in order");
    let target = |k: usize| {
        let time = (k as f64 + 0.5) / PER_KEY as f64;
        Target::new(time, Scalar::sin(&(0.3 * time)) + ((k * 7919) % 1000) as f64 / 1e5)
    };
    let targets: Vec<Target> = (0..keys * PER_KEY).map(target).collect();
    let mut best = f64::INFINITY;
    for _ in 0..ROUNDS {
        let began = Instant::now();
        let fit = fit_parameters(&track, &targets, &FitOptions::default()).expect("a fit");
        best = best.min(began.elapsed().as_secs_f64());
        assert!(fit.converged, "{}", fit.message);
    }
    best
}
