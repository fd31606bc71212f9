//! Proofs are accepted as they are given, and not about anything else. That changed ones are rejected is seen by
//! `keyfit verify proofs`.

use keyfit_ir::Track;
use keyfit_rewrite::{Bounds, Options, Proof, ProofError, simplify};

fn prove(text: &str, options: &Options) -> (Track, Track, Proof) {
    let track = Track::parse(text).unwrap();
    let simple = simplify(&track, options).unwrap();
    (track, simple.track, simple.proof)
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
