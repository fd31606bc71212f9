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
fn a_true_rule_is_not_shown_where_nothing_shows_it() {
    let rule = all_rules().find(|rule| rule.evidence() == Some(Evidence::Smt)).unwrap();
    let checked = check(rule, &checks(Vec::new(), 100)).unwrap();
    assert!(checked.holds && !checked.shown);
}
