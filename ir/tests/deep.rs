//! A chain of a million nodes never touches the stack's limit, not even of a thread with 2 MiB.

use keyfit_ir::{Builder, Op, Parameter, Track};

const DEPTH: usize = 1_000_000;

fn in_small_stack(body: fn()) {
    std::thread::Builder::new().stack_size(2 << 20).spawn(body).unwrap().join().unwrap();
}

/// `x := x / 2 + p`, over and over: 2·`DEPTH` operations.
fn chain() -> Track {
    let mut b = Builder::new();
    let (mut x, two) = (b.clock().unwrap(), b.constant(2.0).unwrap());
    let p = b.free(Parameter::new("p", 0.5).unwrap()).unwrap();
    for _ in 0..DEPTH / 2 {
        x = b.apply(Op::DIV, &[x, two]).unwrap();
        x = b.apply(Op::ADD, &[x, p]).unwrap();
    }
    b.finish(x).unwrap()
}

#[test]
fn build_describe_parse_compare_sample_substitute_drop() {
    in_small_stack(|| {
        let track = chain();
        assert_eq!(track.nodes().len(), DEPTH + 3);
        let text = track.describe();
        assert!(text.starts_with("ADD(DIV(ADD(DIV("));
        assert_eq!(Track::parse(&text).unwrap(), track);
        assert_eq!(track.sample(3.0), 1.0); // the fixed point of x/2 + 1/2
        let substituted = track.substitute_parameters(|_| Some(1.0));
        assert_eq!((substituted.sample(3.0), substituted.free_parameters().len()), (2.0, 0));
        assert_ne!(track, substituted);
    });
}

/// Looking ahead for a shape's name does not make reading quadratic.
#[test]
fn long_differences_read_in_time() {
    let mut text = "w := t; w".to_string() + &"-w".repeat(DEPTH / 4);
    assert_eq!(Track::parse(&text).unwrap().nodes().len(), DEPTH / 4 + 1);
    text += "-hold[0=1 1=2]";
    assert_eq!(Track::parse(&text).unwrap().nodes().len(), DEPTH / 4 + 5);
}

#[test]
fn text_may_nest_deeply() {
    in_small_stack(|| {
        for (open, inner, close) in [("(", "t", ")"), ("-", "t", ""), ("sin(", "t", ")"), ("2^", "t", "")] {
            let text = open.repeat(DEPTH / 10) + inner + &close.repeat(DEPTH / 10);
            assert_eq!(Track::parse(&text).map(|track| track.free_parameters().len()), Ok(0));
            assert!(Track::parse(&(text + ")")).is_err());
        }
    });
}
