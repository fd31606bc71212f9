//! Laws of tracks, on random ones: all operations, all key shapes, special values mixed in heavily.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

use keyfit_ir::arbitrary::{RandomNumber, RandomTrack};
use keyfit_ir::{Builder, Id, Node, Sampler, Track, same_bits};
use quickcheck::{QuickCheck, Testable};

const CASES: u64 = 5_000;

fn holds(law: impl Testable) {
    QuickCheck::new().tests(CASES).max_tests(4 * CASES).quickcheck(law);
}

fn hash(track: &Track) -> u64 {
    let mut hasher = DefaultHasher::new();
    track.hash(&mut hasher);
    hasher.finish()
}

#[test]
fn what_describe_prints_reads_back() {
    holds(|RandomTrack(track): RandomTrack| -> bool {
        let text = track.describe();
        Track::parse(&text).is_ok_and(|back| back == track && back.describe() == text)
    } as fn(_) -> _);
}

/// The array depends on the term alone, not on the order in which it was built or on what else the builder holds.
#[test]
fn the_numbering_is_canonical() {
    holds(|RandomTrack(track): RandomTrack, RandomTrack(other): RandomTrack| -> bool {
        // last operands first: another order, and room taken by other nodes
        let mut builder = Builder::new();
        let _ = builder.graft(&other);
        let mut new: Vec<Option<Id>> = vec![None; track.nodes().len()];
        let mut stack = vec![track.root()];
        while let Some(&id) = stack.last() {
            let node = track.node(id).unwrap();
            if let Some(child) = node.children().iter().rfind(|c| new[c.index()].is_none()) {
                stack.push(child);
                continue;
            }
            stack.pop();
            let at = |id: Id| new[id.index()].unwrap();
            let built = match node {
                Node::Constant(x) => builder.constant(x.value()),
                Node::Clock => builder.clock(),
                Node::Free(p) => builder.free((**p).clone()),
                Node::Apply(op, operands) => builder.apply(*op, &operands.map(at)[..op.arity()]),
                Node::Keyed(keyed) => builder.insert_keyed(keyed.map(|child| at(*child))),
            };
            match built {
                Ok(id2) => new[id.index()] = Some(id2),
                Err(_) => return true, // `other` has one of the parameters at another value
            }
        }
        let rebuilt = builder.finish(new[track.root().index()].unwrap()).unwrap();
        rebuilt == track && hash(&rebuilt) == hash(&track)
    } as fn(_, _) -> _);
}

#[test]
fn blocks_change_no_bit() {
    holds(|RandomTrack(track): RandomTrack, times: Vec<RandomNumber>| -> bool {
        let times: Vec<f64> = times.iter().map(|t| t.0).collect();
        let mut out = vec![0.0; times.len()];
        track.sample_into(&times, &mut out);
        times.iter().zip(&out).all(|(&t, &value)| same_bits(track.sample(t), value))
    } as fn(_, _) -> _);
}

#[test]
fn values_put_in_are_values_given() {
    holds(|RandomTrack(track): RandomTrack,
           RandomNumber(t): RandomNumber,
           values: Vec<RandomNumber>|
     -> bool {
        let names: Vec<String> = track.free_parameters().iter().map(|p| p.name().to_string()).collect();
        let values: Vec<f64> = (0..names.len()).map(|k| values.get(k).map_or(0.5, |x| x.0)).collect();
        let value = |name: &str| names.iter().position(|n| n == name).map(|k| values[k]);
        let given = Sampler::new(&track).sample_at(&t, &values);
        let (put, restarted) = (track.substitute_parameters(value), track.restart_parameters(value));
        put.free_parameters().is_empty()
            && same_bits(put.sample(t), given)
            && same_bits(restarted.sample(t), given)
            && Track::restart_formula(&track.describe(), value).map(|text| Track::parse(&text))
                == Ok(Ok(restarted.clone()))
            && restarted.starts().iter().zip(&values).all(|(a, b)| same_bits(*a, *b))
    } as fn(_, _, _) -> _);
}

#[test]
fn a_subterm_is_what_its_node_evaluates_to() {
    holds(|RandomTrack(track): RandomTrack, RandomNumber(t): RandomNumber| -> bool {
        let values = track.node_values(t);
        track.iter().all(|(id, _)| same_bits(track.subterm(id).sample(t), values[id.index()]))
            && track.subterm(track.root()) == track
    } as fn(_, _) -> _);
}

#[test]
fn reading_at_the_clock_changes_nothing() {
    holds(|RandomTrack(track): RandomTrack, RandomNumber(t): RandomNumber| -> bool {
        let same = keyfit_ir::Expr::from(track.clone()).at(keyfit_ir::t()).track().unwrap();
        let at_constant = keyfit_ir::Expr::from(track.clone()).at(t).track().unwrap();
        same == track
            && at_constant.is_time_invariant()
            && same_bits(at_constant.sample(0.0), track.sample(t))
    } as fn(_, _) -> _);
}
