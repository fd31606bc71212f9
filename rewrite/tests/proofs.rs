//! Proofs are accepted as they are given, and rejected when anything in them is changed.

use keyfit_ir::Track;
use keyfit_ir::arbitrary::{RandomNumber, RandomTrack};
use keyfit_rewrite::rules::sound_rules;
use keyfit_rewrite::{Bounds, Options, Proof, ProofError, simplify};
use quickcheck::{Arbitrary, Gen};

fn prove(text: &str, options: &Options) -> (Track, Track, Proof) {
    let track = Track::parse(text).unwrap();
    let simple = simplify(&track, options).unwrap();
    (track, simple.track, simple.proof)
}

#[test]
fn mutated_proofs_are_rejected() {
    let mut g = Gen::from_size_and_seed(30, 41);
    let names: Vec<&str> = sound_rules().map(|rule| rule.name).collect();
    let (mut rejected, mut accepted) = ([0_usize; 6], 0);
    while rejected.iter().sum::<usize>() < 1500 {
        let RandomTrack(track) = RandomTrack::arbitrary(&mut g);
        let bounds = Bounds::new().duration(RandomNumber::arbitrary(&mut g).0.abs().min(1e300));
        let Ok(simple) = simplify(&track, &Options::with_bounds(bounds)) else {
            panic!("{}", track.describe())
        };
        if simple.proof.steps.is_empty() || simple.proof.steps.len() > 40 {
            continue;
        }
        let proof = simple.proof.least();
        proof.check_about(&track, &simple.track).unwrap();
        if proof.steps.is_empty() {
            continue;
        }
        let any = |g: &mut Gen| u32::arbitrary(g) % proof.terms.len() as u32;
        let k = usize::arbitrary(&mut g) % proof.steps.len();
        for (kind, rejected) in rejected.iter_mut().enumerate() {
            let mut mutant = proof.clone();
            let step = &mut mutant.steps[k];
            match kind {
                0 => step.rule = (*g.choose(&names).unwrap()).into(),
                1 => step.place = any(&mut g),
                2 => step.result = any(&mut g),
                3 => step.backward = !step.backward,
                4 => match step.substitution.first_mut() {
                    Some((_, place)) => *place = any(&mut g),
                    None => step.substitution.push(("x".into(), 0)),
                },
                _ => drop(mutant.steps.remove(k)),
            }
            if mutant == proof {
                continue;
            }
            match mutant.check_about(&track, &simple.track) {
                Err(_) => *rejected += 1,
                // two rules may say the same, and another term may do as well; then this is a proof, too
                Ok(()) => accepted += 1,
            }
        }
    }
    println!("rejected: rule, place, result, direction, substitution, dropped step: {rejected:?}");
    assert!(rejected.iter().all(|n| *n > 100) && accepted < 100_usize, "{rejected:?} {accepted}");
    assert!(accepted * 50 < rejected.iter().sum::<usize>(), "{accepted} mutants were proofs");
}

#[test]
fn a_proof_depends_on_its_bounds() {
    let (track, after, mut proof) = prove("(t * t) * 0", &Options::with_bounds(Bounds::new().duration(10.0)));
    assert_eq!(after.describe(), "0.0");
    proof.check_about(&track, &after).unwrap();
    proof.bounds = Bounds::new().duration(1e200);
    assert!(matches!(proof.check(), Err(ProofError::Condition { .. } | ProofError::NotAnInstance { .. })));
    proof.bounds = Bounds::new().duration(10.0);
    let (other, ..) = prove("t * 0", &Options::default());
    assert_eq!(proof.check_about(&other, &after), Err(ProofError::OtherTracks));
}

#[test]
fn a_proof_of_something_else_is_none() {
    let (_, _, mut proof) = prove("(exp(t) + 0) * 1", &Options::default());
    proof.check().unwrap();
    proof.after = 0;
    assert_eq!(proof.check(), Err(ProofError::NotConnected));
    proof.after = 1000;
    assert_eq!(proof.check(), Err(ProofError::Term(1000)));
    assert!(proof.track(1000).is_err());
    // a term of terms that are not there
    let last = proof.terms.len() - 1;
    let mut cell = (*proof.terms[last]).clone();
    cell.children = Box::new([99, 3]);
    proof.terms[last] = std::sync::Arc::new(cell);
    assert!(proof.track(last as u32).is_err());
    assert_eq!(proof.check(), Err(ProofError::Term(last as u32)));
}
