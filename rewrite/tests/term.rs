//! A track goes to egg and comes back as it was.

use egg::{AstSize, EGraph, Extractor};
use keyfit_ir::arbitrary::RandomTrack;
use keyfit_ir::{Node, Track};
use keyfit_rewrite::{Head, Term, from_expr, to_expr};
use quickcheck::quickcheck;

quickcheck! {
    fn the_arrays_are_the_same(track: RandomTrack) -> bool {
        from_expr(&to_expr(&track.0)).as_ref() == Ok(&track.0)
    }

    fn an_e_graph_keeps_every_distinct_subterm_once(track: RandomTrack) -> bool {
        let mut egraph = EGraph::<Term, ()>::default();
        let root = egraph.add_expr(&to_expr(&track.0));
        egraph.rebuild();
        let (_, best) = Extractor::new(&egraph, AstSize).find_best(root);
        egraph.total_size() == track.0.nodes().len() && from_expr(&best).as_ref() == Ok(&track.0)
    }
}

#[test]
fn zeros_are_told_apart_and_nans_are_not() {
    let root = |text: &str| to_expr(&Track::parse(text).unwrap()).as_ref().last().unwrap().clone();
    assert_ne!(root("0.0"), root("-0.0"));
    assert_eq!(root("NaN"), root("NaN"));
    assert!(matches!(root("linear[0=1 2=3]").head, Head::Keyed(keyed) if keyed.keys().len() == 2));
}

#[test]
fn a_long_chain_does_not_recurse() {
    let mut track = keyfit_ir::Builder::new();
    let mut x = track.clock().unwrap();
    for _ in 0..100_000 {
        x = track.apply(keyfit_ir::Op::SIN, &[x]).unwrap();
    }
    let track = track.finish(x).unwrap();
    assert_eq!(from_expr(&to_expr(&track)).unwrap(), track);
    assert!(matches!(track.nodes()[0], Node::Clock));
}
