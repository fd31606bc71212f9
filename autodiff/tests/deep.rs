//! Nothing recurses over a track: a chain of a million nodes is differentiated on a small stack.

use keyfit_autodiff::{gradient, hessian, time_derivatives};
use keyfit_ir::{Builder, Op, Parameter, Track};

const DEPTH: usize = 1_000_000;

/// x ← −x, again and again, on (gain·t)²; an even number of times.
fn chain() -> Track {
    let mut b = Builder::new();
    let gain = b.free(Parameter::new("gain", 3.0).expect("a name")).expect("new");
    let t = b.clock().expect("fits");
    let x = b.apply(Op::MUL, &[gain, t]).expect("fits");
    let mut x = b.apply(Op::MUL, &[x, x]).expect("fits");
    for _ in 0..DEPTH {
        x = b.apply(Op::NEG, &[x]).expect("fits");
    }
    b.finish(x).expect("fits")
}

#[test]
fn a_chain_of_a_million_nodes() {
    let small = std::thread::Builder::new().stack_size(2 << 20);
    let run = small.spawn(|| {
        let track = chain();
        assert_eq!(track.nodes().len(), DEPTH + 4);
        assert_eq!(gradient(&track, 0.5, &[])[0], 1.5); // 2·gain·t²
        assert_eq!(hessian(&track, 0.5, &[])[(0, 0)], 0.5); // 2·t²
        assert_eq!(time_derivatives(&track, 0.5, &[]), (2.25, 9.0, 18.0));
        #[cfg(feature = "mpfr")]
        assert_eq!(keyfit_autodiff::evaluate(&track, 0.5, &[], 100), 2.25);
    });
    run.expect("a thread").join().expect("no stack overflow");
}
