//! What an operation is made of has its bits.

use keyfit_ir::arbitrary::{RandomNumber, TameNumber};
use keyfit_ir::{MAX_ARITY, Node, Op, Sampler, same_bits};
use keyfit_rewrite::definition;
use quickcheck::{Arbitrary, Gen};

/// Operands of an operation, random and special, and for one operand every special place of an easing.
fn operands(g: &mut Gen) -> Vec<[f64; MAX_ARITY]> {
    let ends = [0.0, -0.0, 1.0, 0.5, 4.0 / 11.0, 8.0 / 11.0, 10.0 / 11.0, f64::NAN, f64::INFINITY, -1e-300];
    let near = ends.into_iter().flat_map(|x: f64| {
        let bits = x.to_bits();
        [bits.wrapping_sub(1), bits, bits.wrapping_add(1)].map(f64::from_bits)
    });
    let mut out: Vec<[f64; MAX_ARITY]> =
        near.flat_map(|x| [[x; 3], [x, 1.0 - x, 0.25], [0.0, 1.0, x]]).collect();
    out.extend((0..4000).map(|_| std::array::from_fn(|_| RandomNumber::arbitrary(g).0)));
    out.extend((0..4000).map(|_| std::array::from_fn(|_| TameNumber::arbitrary(g).0)));
    out.extend((0..1000).map(|k| [f64::from(k) / 999.0; MAX_ARITY]));
    out
}

#[test]
fn opened_and_whole_agree_bit_for_bit() {
    let mut g = Gen::from_size_and_seed(40, 7);
    let mut composite = Vec::new();
    for &op in Op::ALL {
        let Some(track) = definition(op) else { continue };
        composite.push(op);
        let names: Vec<&str> = track.free_parameters().iter().map(|p| p.name()).collect();
        let places: Vec<usize> =
            names.iter().map(|name| op.operands().iter().position(|own| own == name).unwrap()).collect();
        let mut sampler = Sampler::new(&track);
        for x in operands(&mut g) {
            let given: Vec<f64> = places.iter().map(|i| x[*i]).collect();
            let (opened, whole) = (sampler.sample_at(&0.0, &given), op.apply([&x[0], &x[1], &x[2]]));
            assert!(same_bits(opened, whole), "{op:?} of {x:?}: {opened:?}, not {whole:?}");
        }
    }
    composite.retain(|op| !op.is_easing());
    use Op::{CLAMP, FRACT, GATE, LINEAR, MIX, PING_PONG, SMOOTHSTEP, UNWRAP};
    assert_eq!(composite, [FRACT, GATE, CLAMP, MIX, SMOOTHSTEP, PING_PONG, UNWRAP, LINEAR]);
}

#[test]
fn definitions_are_made_of_primitives() {
    for track in Op::ALL.iter().filter_map(|op| definition(*op)) {
        for node in track.nodes() {
            let Node::Apply(op, _) = node else { continue };
            assert_eq!(definition(*op), None, "{op:?} in {track:?}");
        }
    }
}

#[test]
fn definitions_read_well() {
    let some =
        [Op::FRACT, Op::GATE, Op::CLAMP, Op::MIX, Op::SMOOTHSTEP, Op::PING_PONG, Op::UNWRAP, Op::LINEAR];
    let more = [Op::QUAD_OUT, Op::SINE_IN_OUT, Op::EXPO_IN, Op::BOUNCE_OUT];
    let text: String = some
        .into_iter()
        .chain(more)
        .map(|op| format!("{} = {}\n", op.name(), definition(op).map_or(String::new(), |t| t.describe())))
        .collect();
    insta::assert_snapshot!(text.replace("=0.0", ""));
}
