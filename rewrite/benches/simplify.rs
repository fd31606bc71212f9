//! How the time of simplification grows with the track.

use std::time::Instant;

use keyfit_ir::{BuildError, Builder, Op, Parameter, Track};
use keyfit_rewrite::{Options, simplify};

/// A chain that a machine may write: arithmetic with neutral elements, constants to fold and shared parts.
fn generated(nodes: usize) -> Result<Track, BuildError> {
    const OPS: [Op; 10] =
        [Op::ADD, Op::MUL, Op::SUB, Op::NEG, Op::MIN, Op::MAX, Op::SIN, Op::DIV, Op::ABS, Op::CLAMP];
    let mut state = 88_172_645_463_325_252_u64;
    let mut random = move |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 33) as usize % below
    };
    let mut b = Builder::new();
    let mut ids = vec![b.clock()?, b.constant(0.0)?, b.constant(1.0)?];
    for k in 0..5 {
        ids.push(b.free(Parameter::new(&format!("p{k}"), 1.0)?)?);
    }
    let mut root = ids[0];
    for k in 0..nodes {
        let op = OPS[random(OPS.len())];
        let mut operands = vec![root];
        for _ in 1..op.arity() {
            let recent = ids.len() - 1 - random(ids.len().min(6));
            let any = [ids[random(8)], ids[random(ids.len())], ids[recent]];
            operands.push(any[random(any.len())]);
        }
        root = b.apply(op, &operands)?;
        ids.push(root);
        if k % 50 == 0 {
            ids.push(b.constant(k as f64)?);
        }
    }
    b.finish(root)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("{:>8} {:>8} {:>7} {:>9} {:>9}", "nodes", "after", "steps", "seconds", "exponent");
    let mut last: Option<(f64, f64)> = None;
    for nodes in [1_000, 3_000, 10_000, 30_000, 100_000] {
        let track = generated(nodes)?;
        let begin = Instant::now();
        let simple = simplify(&track, &Options::default())?;
        let (size, seconds) = (track.nodes().len() as f64, begin.elapsed().as_secs_f64());
        let exponent = last.map(|(size0, seconds0)| {
            let log = |x: f64| keyfit_ir::Scalar::ln(&x);
            log(seconds / seconds0) / log(size / size0)
        });
        println!(
            "{:>8} {:>8} {:>7} {seconds:>9.3} {:>9.2}",
            track.nodes().len(),
            simple.track.nodes().len(),
            simple.proof.steps.len(),
            exponent.unwrap_or(f64::NAN)
        );
        last = Some((size, seconds));
    }
    Ok(())
}
