//! A false rule of each kind is found out.

use std::path::Path;
use std::time::Duration;

use keyfit::rewrite::condition::{Condition, Need};
use keyfit::rewrite::rules::{Evidence, Rule, Sides, Verdict, all_rules};
use keyfit::rulecheck::{Checks, check};
use keyfit::solver::{Cache, Solver};

const fn planted(
    name: &'static str,
    left: &'static str,
    right: &'static str,
    when: &'static [Condition],
    verdict: Verdict,
) -> Rule {
    Rule { name, sides: Sides::Formulas(left, right), when, verdict, why: "it is false" }
}

static PLANTED: [Rule; 6] = [
    planted("false-by-smt", "x + 0.0", "x", &[], Verdict::Sound(Evidence::Smt)),
    planted("false-by-rounding", "exp(a + b)", "exp(a) * exp(b)", &[], Verdict::Sound(Evidence::Rounding)),
    planted(
        "false-by-lemma",
        "max(sqrt(a), sqrt(b))",
        "sqrt(max(a, b))",
        &[],
        Verdict::Sound(Evidence::Lemma),
    ),
    planted(
        "false-by-definition",
        "a * (1.0 - u) + b * u",
        "mix(a, b, u)",
        &[],
        Verdict::Sound(Evidence::Definition),
    ),
    planted(
        "false-under-a-condition",
        "x * 0.0",
        "0.0",
        &[Condition::Of("x", Need::Finite)],
        Verdict::Sound(Evidence::Smt),
    ),
    planted("refused-but-true", "x * 1.0", "x", &[], Verdict::Refused(&[("x", -0.0)])),
];

fn checks(solvers: Vec<Solver>, samples: usize) -> Checks {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("smt-{}", std::process::id()));
    Checks {
        solvers,
        cache: Cache::new(&folder),
        limit: Duration::from_secs(60),
        confirm: Duration::from_secs(10),
        samples,
        judged: 0,
    }
}

#[test]
fn planted_rules_are_found_by_sampling() {
    for rule in &PLANTED {
        let checked = check(rule, &checks(Vec::new(), 20_000)).unwrap();
        assert!(!checked.holds, "{}: {checked:?}", rule.name);
    }
}

#[test]
fn planted_rules_are_found_by_a_solver() {
    let solvers = Solver::all();
    if solvers.is_empty() {
        // the command says so and fails; the program's tests see to that
        return;
    }
    for rule in PLANTED.iter().filter(|rule| rule.evidence() == Some(Evidence::Smt)) {
        let checked = check(rule, &checks(solvers.clone(), 0)).unwrap();
        assert!(!checked.holds && checked.proved.is_empty(), "{}: {checked:?}", rule.name);
    }
}

#[test]
fn planted_rules_are_found_by_mpfr() {
    static FALSE: [Rule; 3] = [
        planted("false-for-one-variable", "x ^ 3.0", "x * x * x", &[], Verdict::Sound(Evidence::Rounding)),
        planted("false-for-two", "atan2(y + 0.0, x)", "atan2(y, x)", &[], Verdict::Sound(Evidence::Rounding)),
        planted("false-over-the-reals", "sqrt(x * x)", "x", &[], Verdict::Algebra),
    ];
    for rule in &FALSE {
        let checked = check(rule, &Checks { judged: 2000, ..checks(Vec::new(), 0) }).unwrap();
        assert!(
            !checked.holds && checked.notes[0].contains("is not") | checked.notes[0].contains("reals"),
            "{checked:?}"
        );
    }
}

#[test]
fn mpfr_judges_every_rule_that_it_can() {
    let judged = |rule: &&'static Rule| {
        rule.evidence() == Some(Evidence::Rounding) || matches!(rule.verdict, Verdict::Algebra)
    };
    for rule in all_rules().filter(judged) {
        let checked = check(rule, &Checks { judged: 20, ..checks(Vec::new(), 0) }).unwrap();
        assert!(checked.holds && checked.judged > 0, "{checked:?}");
    }
}

#[test]
fn a_rule_proved_by_laws_is_not_proved_by_less() {
    let solvers = Solver::all();
    if solvers.is_empty() {
        return;
    }
    // no law says that a difference commutes, nor does it
    let planted =
        planted("min-plus-max", "min(a, b) + max(b, b)", "a + b", &[], Verdict::Sound(Evidence::Lemma));
    let checked = check(Box::leak(Box::new(planted)), &checks(solvers, 0)).unwrap();
    assert!(!checked.proved.contains(&64) && !checked.holds, "{checked:?}");
}

#[test]
fn a_true_rule_is_not_shown_where_nothing_shows_it() {
    let rule = all_rules().find(|rule| rule.evidence() == Some(Evidence::Smt)).unwrap();
    let checked = check(rule, &checks(Vec::new(), 100)).unwrap();
    assert!(checked.holds && !checked.shown);
}
