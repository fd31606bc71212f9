//! What evaluation, differentiation, text and fitting cost, as ratios within one run: `cargo bench`.
//!
//! Each workload runs beside hand-written Rust on the same correctly rounded functions, the two in turn; the median of
//! the paired ratios is printed, so that a busy machine does not matter much. The fits are set against one residual
//! evaluation of the same problem.

use std::hint::black_box;
use std::time::{Duration, Instant};

use keyfit::autodiff::Jacobian;
use keyfit::ir::{Builder, Op, Sampler, Scalar};
use keyfit::solvers::{FitProblem, LeastSquares, lookup};
use keyfit::suite::suite;
use keyfit::{FitOptions, Track, fit_channels};
use ndarray::Array2;

const ROUNDS: usize = 15;

fn time(work: &mut dyn FnMut()) -> Duration {
    let began = Instant::now();
    work();
    began.elapsed()
}

/// Medians over paired rounds: nanoseconds an item of `ours`, and ours divided by `native`.
fn pair(name: &str, items: usize, ours: &mut dyn FnMut(), native: &mut dyn FnMut()) {
    let mut rounds: Vec<(f64, f64)> = (0..ROUNDS)
        .map(|_| {
            let (a, b) = (time(ours).as_secs_f64(), time(native).as_secs_f64());
            (a / items as f64 * 1e9, a / b)
        })
        .collect();
    rounds.sort_by(|a, b| a.1.total_cmp(&b.1));
    let ratio = rounds[ROUNDS / 2].1;
    rounds.sort_by(|a, b| a.0.total_cmp(&b.0));
    println!("{name:<44} {:>9.1} ns an item   {ratio:>6.2} × native", rounds[ROUNDS / 2].0);
}

fn main() {
    // `cargo test --benches` only asks whether it builds
    if std::env::args().any(|a| a == "--test") {
        return;
    }
    wave();
    keyed();
    text();
    fits();
}

/// amp·cos(1.1t + phase) + centre and its gradient.
fn wave() {
    const N: usize = 200_000;
    let track = Track::parse("?amp=2 * cos(1.1*t + ?phase=0.3) + ?centre=-1").expect("a formula");
    let times: Vec<f64> = (0..N).map(|k| k as f64 * 1e-3).collect();
    let parameters = [2.0, 0.3, -1.0];
    let (mut out, mut native) = (vec![0.0; N], vec![0.0; N]);
    pair(
        "wave, value",
        N,
        &mut || Sampler::new(&track).sample_into(&times, black_box(&parameters), &mut out),
        &mut || {
            let [amp, phase, centre] = black_box(parameters);
            for (value, t) in native.iter_mut().zip(&times) {
                *value = amp * Scalar::cos(&(1.1 * t + phase)) + centre;
            }
        },
    );
    assert_eq!(out, native);
    let mut partials = Array2::zeros((N, 3));
    let mut jacobian = Jacobian::new(&track);
    let mut rows = vec![[0.0; 3]; N];
    pair(
        "wave, value and 3 partials",
        N,
        &mut || jacobian.fill(&times, black_box(&parameters), &mut out, partials.view_mut()),
        &mut || {
            let [amp, phase, centre] = black_box(parameters);
            for ((value, row), t) in native.iter_mut().zip(&mut rows).zip(&times) {
                let angle = 1.1 * t + phase;
                let (sin, cos) = (Scalar::sin(&angle), Scalar::cos(&angle));
                *value = amp * cos + centre;
                *row = [cos, -amp * sin, 1.0];
            }
        },
    );
}

/// A keyed track of 64 keys, asked in order and at random.
fn keyed() {
    const N: usize = 200_000;
    let keys: Vec<(f64, f64)> = (0..64).map(|k| (k as f64, ((k * k) % 17) as f64)).collect();
    let track = keyfit::ir::linear(keys.clone()).track().expect("keys in order");
    let sorted: Vec<f64> = (0..N).map(|k| k as f64 * 64.0 / N as f64).collect();
    let random: Vec<f64> = (0..N).map(|k| ((k * 7919) % N) as f64 * 64.0 / N as f64).collect();
    let (mut out, mut native) = (vec![0.0; N], vec![0.0; N]);
    for (name, times) in [("64 keys, times in order", &sorted), ("64 keys, times at random", &random)] {
        pair(name, N, &mut || track.sample_into(times, &mut out), &mut || {
            for (value, &t) in native.iter_mut().zip(times) {
                let after = keys.partition_point(|key| key.0 <= t);
                *value = match (after.checked_sub(1).and_then(|k| keys.get(k)), keys.get(after)) {
                    (Some(a), Some(b)) => a.1 + (b.1 - a.1) * ((t - a.0) / (b.0 - a.0)),
                    (Some(key), None) | (None, Some(key)) => key.1,
                    (None, None) => f64::NAN,
                };
            }
        });
        assert_eq!(out, native);
    }
}

/// Building, printing and parsing a chain; native is one pass over its text.
fn text() {
    const N: usize = 100_000;
    let build = || {
        let mut b = Builder::new();
        let mut x = b.clock().expect("room");
        for _ in 0..N {
            x = b.apply(Op::SIN, &[x]).expect("one operand");
        }
        b.finish(x).expect("its own node")
    };
    let track = build();
    let text = track.describe();
    let mut pass = || {
        black_box(text.bytes().map(u64::from).sum::<u64>());
    };
    pair("chain, build", N, &mut || drop(black_box(build())), &mut pass);
    pair("chain, describe", N, &mut || drop(black_box(track.describe())), &mut pass);
    pair("chain, parse", N, &mut || drop(black_box(Track::parse(&text))), &mut pass);
}

/// All starts of NIST StRD by Levenberg–Marquardt.
fn fits() {
    let problems = suite("nist").expect("embedded");
    let solver = lookup("levenberg-marquardt").expect("registered");
    let options = FitOptions { solver, ..FitOptions::default() };
    let (mut logs, mut ratios, mut count) = (0.0, 0.0, 0.0);
    for problem in &problems {
        for start in &problem.starts {
            let best =
                |work: &mut dyn FnMut()| (0..5).map(|_| time(work)).min().unwrap_or_default().as_secs_f64();
            let fit = best(&mut || drop(black_box(fit_channels(start.clone(), &options))));
            let model = FitProblem::new(start.clone(), None).expect("a problem");
            let (x, mut out) = (model.starts(), vec![0.0; LeastSquares::residuals(&model)]);
            let once = best(&mut || model.residuals_into(black_box(&x), &mut out));
            logs += Scalar::ln(&(fit * 1e6));
            ratios += Scalar::ln(&(fit / once));
            count += 1.0;
        }
    }
    let (micros, evaluations) = (Scalar::exp(&(logs / count)), Scalar::exp(&(ratios / count)));
    println!(
        "NIST StRD, a fit with set-up (geometric mean) {micros:>9.1} µs   {evaluations:>6.1} × one evaluation"
    );
}
