//! Checks of the rules' evidence: by solver, by sampling, by MPFR, by witness.

pub mod laws;
mod rounding;

use std::collections::BTreeMap;
use std::io;
use std::time::{Duration, Instant};

use keyfit_ir::arbitrary::RandomNumber;
use keyfit_ir::{Names, Sampler, SyntaxError, Track, same_bits};
use keyfit_rewrite::pattern::VARIABLES;
use keyfit_rewrite::rules::{Evidence, Kind, Rule, Sides, Verdict};
use keyfit_rewrite::smt::laws::laws;
use keyfit_rewrite::smt::{Width, smt, smt_by_laws};
use keyfit_solvers::seed_of;
use quickcheck::{Arbitrary, Gen};
use thiserror::Error;

use crate::solver::{Answer, Cache, Solver};

/// How rules are checked.
#[derive(Clone, Debug)]
pub struct Checks {
    /// The solvers: the first proves, the others confirm. Without any, only the rest is checked.
    pub solvers: Vec<Solver>,
    /// Where answers are kept.
    pub cache: Cache,
    /// The longest that a solver may take for one file.
    pub limit: Duration,
    /// The longest that a confirming solver may take.
    pub confirm: Duration,
    /// At how many random points each rule is evaluated.
    pub samples: usize,
    /// At how many random points MPFR judges each rule by correct rounding and each rule over the reals. If there are any,
    /// it also judges the former at every number of binary16, or where there are two variables at as many pairs.
    pub judged: usize,
}

/// What came of one rule.
#[derive(Clone, Debug, PartialEq)]
pub struct Checked {
    /// Its row.
    pub name: &'static str,
    /// Its kind.
    pub kind: Kind,
    /// Its evidence, if it keeps bits.
    pub evidence: Option<Evidence>,
    /// Whether everything that was checked is as claimed.
    pub holds: bool,
    /// Whether the evidence that the row claims was seen, too: the proof at binary64 for a rule by SMT. A rule without
    /// a solver's evidence needs none.
    pub shown: bool,
    /// The widths at which a solver proved it.
    pub proved: Vec<u32>,
    /// The laws by which it was proved, where its operations were unknown functions.
    pub laws: Vec<String>,
    /// Solvers that confirmed the proof.
    pub confirmed: Vec<String>,
    /// Points at which both sides had the same bits.
    pub samples: usize,
    /// Points at which MPFR found both sides equal: bit for bit in binary64 and binary16, or over the reals.
    pub judged: usize,
    /// How long it took.
    pub seconds: f64,
    /// What is to be said about it: time-outs, models, points at which the sides differ.
    pub notes: Vec<String>,
}

/// Why a rule could not be checked.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CheckError {
    /// A side or a condition is no formula.
    #[error("{rule}: {error}")]
    Syntax {
        /// The rule.
        rule: &'static str,
        /// Why.
        error: SyntaxError,
    },
    /// A solver could not be run.
    #[error("{rule}: {error}")]
    Io {
        /// The rule.
        rule: &'static str,
        /// Why.
        error: io::Error,
    },
}

/// Checks one rule.
///
/// # Errors
/// Where it could not be checked, [`CheckError`].
pub fn check(rule: &'static Rule, checks: &Checks) -> Result<Checked, CheckError> {
    let begin = Instant::now();
    let mut checked = Checked {
        name: rule.name,
        kind: rule.kind(),
        evidence: rule.evidence(),
        holds: true,
        shown: true,
        proved: Vec::new(),
        laws: Vec::new(),
        confirmed: Vec::new(),
        samples: 0,
        judged: 0,
        seconds: 0.0,
        notes: Vec::new(),
    };
    let read = Read::new(rule).map_err(|error| CheckError::Syntax { rule: rule.name, error })?;
    match (&rule.verdict, &read) {
        (Verdict::Refused(witness), Some(read)) => {
            let values: BTreeMap<&str, f64> = witness.iter().copied().collect();
            let [left, right] = read.sides(&values);
            checked.holds = !same_bits(left, right);
            checked.notes.push(format!("{left:?} and {right:?} for {values:?}"));
        }
        (Verdict::Sound(evidence), Some(read)) => {
            read.sample(rule, checks.samples, &mut checked);
            if *evidence == Evidence::Rounding {
                rounding::judge(read, rule, checks.judged, &mut checked);
            }
            solve(rule, *evidence, checks, &mut checked)?;
        }
        (Verdict::Algebra, Some(read)) => rounding::over_the_reals(read, rule, checks.judged, &mut checked),
        // custom rules are code; the tests of the crate of rules walk them
        (_, None) => {}
    }
    checked.seconds = begin.elapsed().as_secs_f64();
    Ok(checked)
}

fn solve(
    rule: &'static Rule,
    evidence: Evidence,
    checks: &Checks,
    checked: &mut Checked,
) -> Result<(), CheckError> {
    let Some((first, others)) = checks.solvers.split_first() else {
        checked.shown = evidence != Evidence::Smt;
        return Ok(());
    };
    let syntax = |error| CheckError::Syntax { rule: rule.name, error };
    let ask = |text: String, width: Width, limit: Duration, only_proofs: bool, checked: &mut Checked| {
        let question = Question { text, width, limit, only_proofs };
        question
            .ask(first, others, checks, checked)
            .map_err(|error| CheckError::Io { rule: rule.name, error })
    };
    if let Some(text) = smt_by_laws(rule).map_err(syntax)? {
        ask(text, Width::Double, checks.limit, true, checked)?;
        if checked.proved.contains(&64) {
            checked.laws = laws(rule).iter().map(|(op, law)| law.texts(*op).0).collect();
        }
    }
    let (widths, limit) = match evidence {
        _ if checked.proved.contains(&64) => (&[][..], checks.limit),
        Evidence::Smt => (&[Width::Double][..], checks.limit),
        _ => (&[Width::Half, Width::Single][..], checks.limit.min(NARROW)),
    };
    for width in widths {
        let Some(text) = smt(rule, *width).map_err(syntax)? else { continue };
        // with functions of which the solver knows nothing, a model says nothing
        let blind = text.contains("declare-fun");
        ask(text, *width, limit, blind, checked)?;
        if checked.proved.is_empty() {
            break;
        }
    }
    checked.shown = evidence != Evidence::Smt || checked.proved.contains(&64);
    Ok(())
}

/// The longest that a solver may take for a narrower format than a track's.
const NARROW: Duration = Duration::from_secs(30);

/// What solvers are asked.
struct Question {
    text: String,
    width: Width,
    limit: Duration,
    /// Whether it asks for more than the rule does, so that a model says nothing.
    only_proofs: bool,
}

impl Question {
    fn ask(
        &self,
        first: &Solver,
        others: &[Solver],
        checks: &Checks,
        checked: &mut Checked,
    ) -> io::Result<()> {
        let bits = self.width.bits();
        let (answer, _) = checks.cache.ask(first, &self.text, self.limit)?;
        self.note(&first.name, &answer, checked);
        for other in others {
            let (second, _) = checks.cache.ask(other, &self.text, checks.confirm)?;
            match (&answer, &second) {
                (Answer::Unsat, Answer::Unsat) => checked.confirmed.push(other.name.clone()),
                (Answer::Unsat, Answer::Sat(_)) | (Answer::Sat(_), Answer::Unsat) => {
                    checked.holds = false;
                    checked.notes.push(format!("{} contradicts {} at {bits} bits", other.name, first.name));
                }
                (Answer::TimeOut | Answer::Unclear(_), Answer::Unsat | Answer::Sat(_)) => {
                    self.note(&other.name, &second, checked);
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn note(&self, solver: &str, answer: &Answer, checked: &mut Checked) {
        let bits = self.width.bits();
        match answer {
            Answer::Unsat => checked.proved.push(bits),
            Answer::Sat(_) if self.only_proofs => {}
            Answer::Sat(model) => {
                checked.holds = false;
                checked.notes.push(format!("refuted at {bits} bits: {model}"));
            }
            Answer::TimeOut => checked.notes.push(format!("{solver} takes longer at {bits} bits")),
            Answer::Unclear(text) => checked.notes.push(format!("{solver}: {text}")),
        }
    }
}

/// A rule whose texts are read.
struct Read {
    left: Track,
    right: Track,
    conditions: Vec<Vec<Track>>,
    names: Vec<&'static str>,
}

impl Read {
    fn new(rule: &Rule) -> Result<Option<Read>, SyntaxError> {
        let Sides::Formulas(left, right) = rule.sides else { return Ok(None) };
        let parse =
            |text: &str| Track::parse_with(text, &Names::new().starts(VARIABLES.map(|name| (name, 1.0))));
        let (left, right) = (parse(left)?, parse(right)?);
        let conditions = rule
            .when
            .iter()
            .map(|condition| condition.terms().map(parse).collect())
            .collect::<Result<_, _>>()?;
        let used = |name: &&str| {
            [&left, &right].iter().any(|side| side.free_parameters().iter().any(|p| p.name() == *name))
        };
        let names = VARIABLES.into_iter().filter(used).collect();
        Ok(Some(Read { left, right, conditions, names }))
    }

    fn sides(&self, values: &BTreeMap<&str, f64>) -> [f64; 2] {
        [value(&self.left, values), value(&self.right, values)]
    }

    /// Whether the conditions hold for these values.
    fn asked(&self, rule: &Rule, values: &BTreeMap<&str, f64>) -> bool {
        rule.when.iter().zip(&self.conditions).all(|(condition, terms)| {
            condition.holds(&terms.iter().map(|term| value(term, values)).collect::<Vec<f64>>())
        })
    }

    fn sample(&self, rule: &Rule, samples: usize, checked: &mut Checked) {
        let mut g = generator(rule);
        for _ in 0..samples {
            let values = random_values(&mut g, &self.names);
            if !self.asked(rule, &values) {
                continue;
            }
            let [left, right] = self.sides(&values);
            if !same_bits(left, right) {
                checked.holds = false;
                checked.notes.push(format!("{left:?} is not {right:?} for {values:?}"));
                return;
            }
            checked.samples += 1;
        }
    }
}

/// The same points for a rule whatever the order in which rules are checked.
fn generator(rule: &Rule) -> Gen {
    Gen::from_size_and_seed(20, seed_of(rule.name, 7))
}

/// A formula's value where the variables have these values; NaN for those that have none.
fn value(track: &Track, values: &BTreeMap<&str, f64>) -> f64 {
    let parameters: Vec<f64> =
        track.free_parameters().iter().map(|p| values.get(p.name()).copied().unwrap_or(f64::NAN)).collect();
    Sampler::new(track).sample_at(&0.0, &parameters)
}

fn random_values(g: &mut Gen, names: &[&'static str]) -> BTreeMap<&'static str, f64> {
    let mut values: BTreeMap<&'static str, f64> = BTreeMap::new();
    for name in names {
        let earlier: Vec<f64> = values.values().copied().collect();
        let near = g.choose(&earlier).copied();
        let x = match (u8::arbitrary(g) % 6, near) {
            // equal or neighbouring values, on which conditions hang
            (0, Some(x)) => x,
            (1, Some(x)) => {
                f64::from_bits(x.to_bits().wrapping_add(u64::from(u8::arbitrary(g) % 3)).wrapping_sub(1))
            }
            (2, _) => f64::from(i16::arbitrary(g) % 64) * 0.25,
            _ => RandomNumber::arbitrary(g).0,
        };
        values.insert(name, x);
    }
    values
}
