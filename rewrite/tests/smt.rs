//! Rules as SMT-LIB.

use keyfit_rewrite::rules::{Sides, sound_rules};
use keyfit_rewrite::smt::laws::{all_laws, laws};
use keyfit_rewrite::smt::{Width, smt, smt_by_laws};

#[test]
fn a_rule_reads_as_its_negation() {
    let rule = sound_rules().find(|rule| rule.name == "clamp-upper-idle").unwrap();
    let text = smt(rule, Width::Double).unwrap().unwrap();
    let nan = "(_ NaN 11 53)";
    let expected = format!(
        "; clamp-upper-idle: clamp(x, lo, hi) = max(x, lo)
; where x <= hi with -0 < +0
; where lo <= hi with -0 < +0
; where hi is not NaN
(set-logic ALL)
(define-sort F () (_ FloatingPoint 11 53))
(declare-const hi F)
(declare-const lo F)
(declare-const x F)
(define-fun v1 () F (ite (or (fp.isNaN x) (fp.isNaN lo)) {nan} (ite (fp.gt x lo) x (ite (fp.gt lo x) lo (ite (fp.isPositive x) x lo)))))
(define-fun v2 () F (ite (or (fp.isNaN v1) (fp.isNaN hi)) {nan} (ite (fp.lt v1 hi) v1 (ite (fp.lt hi v1) hi (ite (fp.isNegative v1) v1 hi)))))
(define-fun v3 () F (ite (or (fp.isNaN x) (fp.isNaN lo)) {nan} (ite (fp.gt x lo) x (ite (fp.gt lo x) lo (ite (fp.isPositive x) x lo)))))
(assert (or (fp.isNaN x) (fp.isNaN hi) (fp.lt x hi) (and (fp.eq x hi) (or (fp.isNegative x) (fp.isPositive hi)))))
(assert (or (fp.isNaN lo) (fp.isNaN hi) (fp.lt lo hi) (and (fp.eq lo hi) (or (fp.isNegative lo) (fp.isPositive hi)))))
(assert (not (fp.isNaN hi)))
(assert (not (= v2 v3)))
(check-sat)
"
    );
    assert_eq!(text, expected);
}

#[test]
fn every_pair_of_formulas_can_be_asked_about_at_every_width() {
    for rule in sound_rules() {
        for width in [Width::Half, Width::Single, Width::Double] {
            let text = smt(rule, width).unwrap();
            assert_eq!(text.is_some(), matches!(rule.sides, Sides::Formulas(..)), "{}", rule.name);
            let Some(text) = text else { continue };
            let open = |c| {
                text.lines()
                    .filter(|line| !line.starts_with(';'))
                    .flat_map(str::chars)
                    .filter(|d| *d == c)
                    .count()
            };
            assert_eq!(open('('), open(')'), "{}", rule.name);
            assert!(text.ends_with("(check-sat)\n"));
        }
    }
}

#[test]
fn constants_are_their_bits_and_limits_move_with_the_width() {
    let rule = sound_rules().find(|rule| rule.name == "halve-doubled").unwrap();
    let text = |width| smt(rule, width).unwrap().unwrap();
    // half of the greatest number, and 2
    assert!(text(Width::Double).contains(&format!("(fp #b0 #b11111111101 #b{})", "1".repeat(52))));
    assert!(text(Width::Double).contains(&format!("(fp #b0 #b10000000000 #b{})", "0".repeat(52))));
    assert!(text(Width::Half).contains("(fp #b0 #b11101 #b1111111111)"));
}

#[test]
fn by_laws_an_operation_is_an_unknown_function_that_obeys_them() {
    let text = |name: &str| {
        let rule = sound_rules().find(|rule| rule.name == name).unwrap();
        smt_by_laws(rule).unwrap().unwrap()
    };
    let sum = text("min-plus-max");
    assert!(sum.contains("; by the law: add commutes\n; by the law: add of NaN is NaN\n"), "{sum}");
    assert!(sum.contains("(declare-fun f_add (F F) F)") && !sum.contains("fp.add"), "{sum}");
    assert!(sum.contains("(assert (= (f_add a b) (f_add b a)))"), "{sum}");
    // in a condition an operation keeps its meaning unless it may be any
    assert!(text("mix-end-near").contains("fp.mul") && !text("mix-from-zero").contains("fp.mul"));
    for rule in sound_rules() {
        assert_eq!(smt_by_laws(rule).unwrap().is_some(), !laws(rule).is_empty(), "{}", rule.name);
    }
    for (op, law) in all_laws() {
        let named = law.rule(op).is_none_or(|name| sound_rules().any(|rule| rule.name == name));
        assert!(named, "{op:?} {law:?}");
    }
}
