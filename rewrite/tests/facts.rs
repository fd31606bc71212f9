//! Facts are true: whatever values lie in what is known of the operands, the result lies in what is claimed.

use keyfit_ir::arbitrary::{RandomNumber, RandomTrack};
use keyfit_ir::{Op, Track};
use keyfit_rewrite::bank::Bank;
use keyfit_rewrite::facts::transfer::operation;
use keyfit_rewrite::{Bounds, Fact};
use quickcheck::{Arbitrary, Gen};

/// Numbers in the order in which −0 comes before +0, as integers.
fn rank(x: f64) -> i64 {
    let bits = x.to_bits() as i64;
    bits ^ (((bits >> 63) as u64) >> 1) as i64
}

fn unrank(rank: i64) -> f64 {
    f64::from_bits((rank ^ (((rank >> 63) as u64) >> 1) as i64) as u64)
}

fn number(g: &mut Gen) -> f64 {
    RandomNumber::arbitrary(g).0
}

/// A fact with numbers of which it is true.
fn random_fact(g: &mut Gen) -> (Fact, Vec<f64>) {
    let (mut a, mut b) = (number(g), number(g));
    // close ends as often as far ones
    if bool::arbitrary(g) && !a.is_nan() {
        b = unrank(rank(a).saturating_add(i64::from(u8::arbitrary(g))));
    }
    match u8::arbitrary(g) % 12 {
        0 => a = f64::NEG_INFINITY,
        1 | 2 => b = f64::INFINITY,
        _ => {}
    }
    if a.total_cmp(&b).is_gt() {
        (a, b) = (b, a);
    }
    let fact = Fact::between(a, b);
    let (fact, mut members) = if fact == Fact::NAN {
        (fact, vec![f64::NAN])
    } else {
        let mut members = vec![a, b];
        for _ in 0..4 {
            let span = (i128::from(rank(b)) - i128::from(rank(a))) as u128;
            let within = (u128::from(u64::arbitrary(g) >> 1) * span) >> 63;
            members.push(unrank((i128::from(rank(a)) + within as i128) as i64));
        }
        members.extend([number(g), -0.0, 0.0, 1.0, -1.0]);
        (fact, members)
    };
    let fact = match bool::arbitrary(g) {
        true => fact.join(Fact::NAN),
        false => fact,
    };
    members.push(f64::NAN);
    members.retain(|x| fact.allows(*x));
    (fact, members)
}

#[test]
fn the_order_of_numbers_is_that_of_their_ranks() {
    for pair in [-f64::INFINITY, -1.0, -f64::from_bits(1), -0.0, 0.0, f64::from_bits(1), 1.0].windows(2) {
        assert!(rank(pair[0]) < rank(pair[1]));
        assert_eq!(unrank(rank(pair[0])).to_bits(), pair[0].to_bits());
    }
    assert_eq!(rank(-0.0) + 1, rank(0.0));
}

#[test]
fn every_operation_keeps_to_what_is_claimed_of_it() {
    let mut g = Gen::from_size_and_seed(20, 11);
    for &op in Op::ALL {
        for round in 0..1500 * op.arity() {
            let mut operands: Vec<(Fact, Vec<f64>)> = (0..3).map(|_| random_fact(&mut g)).collect();
            let alike = op.arity() > 1 && round % 4 == 0;
            if alike {
                operands[1] = operands[0].clone();
            }
            // whole operands give whole results where that is claimed
            if round % 3 == 0 {
                for (fact, members) in &mut operands {
                    *fact = operation(Op::FLOOR, [*fact; 3], false);
                    members.iter_mut().for_each(|x| *x = Op::FLOOR.apply([x; 3]));
                    assert!(members.iter().all(|x| fact.allows(*x)));
                }
            }
            let claimed = operation(op, [operands[0].0, operands[1].0, operands[2].0], alike);
            for k in 0..24 {
                let pick = |i: usize| {
                    operands[i].1
                        [(k * (i + 1) + k / (i + 2) + usize::from(round as u8)) % operands[i].1.len()]
                };
                let x = [pick(0), if alike { pick(0) } else { pick(1) }, pick(2)];
                let y = op.apply([&x[0], &x[1], &x[2]]);
                let known: Vec<String> = operands.iter().map(|(fact, _)| fact.to_string()).collect();
                assert!(claimed.allows(y), "{op:?} of {x:?} is {y:?}, not {claimed}; operands {known:?}");
            }
        }
    }
}

#[test]
fn every_node_of_a_track_keeps_to_what_is_claimed_of_it() {
    let mut g = Gen::from_size_and_seed(40, 12);
    let mut narrow = 0_usize;
    for _ in 0..1500 {
        let RandomTrack(track) = RandomTrack::arbitrary(&mut g);
        let duration = number(&mut g).abs();
        let bounds = if duration.is_finite() { Bounds::new().duration(duration) } else { Bounds::new() };
        let bounds = track.free_parameters().iter().fold(bounds, |bounds, p| match p.start().is_finite() {
            true => bounds.parameter(p.name(), p.start() - 1.0, p.start() + 1.0),
            false => bounds,
        });
        let mut bank = Bank::new(&bounds);
        let places = bank.graft(&track);
        for k in 0..12 {
            let t = match k {
                0 => -0.0,
                1 => 0.0,
                2 => duration,
                _ => number(&mut g).abs() % duration,
            };
            if !bounds.clock().allows(t) {
                continue;
            }
            for (place, value) in places.iter().zip(track.node_values(t)) {
                let fact = bank.fact(*place);
                let subterm = || bank.track(*place).map(|track| track.describe());
                assert!(fact.allows(value), "{:?} at {t:?} is {value:?}, not {fact}", subterm());
                narrow += usize::from(fact != Fact::ANY);
            }
        }
    }
    assert!(narrow > 50_000, "{narrow} facts say something");
}

#[test]
fn what_two_facts_say_together() {
    let unit = Fact::from_to(0.0, 1.0);
    let clear = Fact::between(0.0, f64::INFINITY).join(Fact::NAN);
    assert_eq!(unit.meet(clear), Some(Fact::between(0.0, 1.0)));
    assert_eq!(unit.meet(Fact::between(2.0, 3.0)), None);
    assert_eq!(Fact::exactly(-0.0).meet(Fact::exactly(0.0)), None);
    assert_eq!(
        Fact::between(-1.0, 1.0).join(Fact::NAN).meet(Fact::ANY),
        Some(Fact::between(-1.0, 1.0).join(Fact::NAN))
    );
}

#[test]
fn facts_of_some_terms() {
    let bounds = Bounds::new().duration(4.0);
    for (text, expected) in [
        ("exp(t)", "from 1.0 to 54.598150033144236"),
        ("sin(t)", "from -1.0 to 1.0"),
        ("t * t", "from 0.0 to 16.0"),
        ("t - t", "0.0"),
        ("floor(t)", "from -0.0 to 4.0, whole"),
        ("t + 1", "from 1.0 to 5.0"),
        ("mod(t, 2)", "from 0.0 to 1.9999999999999998"),
        ("?x=1", "from -inf to inf, or NaN"),
        ("?x=1 + 1", "from -inf to inf, never -0, or NaN"),
        ("abs(?x=1)", "from 0.0 to inf, or NaN"),
        ("linear[0=1 2=3]", "from 1.0 to 3.0"),
        ("hold[0=1 2=3](?x=1)", "from 1.0 to 3.0, whole, or NaN"),
    ] {
        let track = Track::parse(text).unwrap();
        let mut bank = Bank::new(&bounds);
        let places = bank.graft(&track);
        assert_eq!(bank.fact(places[places.len() - 1]).to_string(), expected, "{text}");
    }
}
