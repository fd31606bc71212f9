//! Checks of the rules' evidence: by solver, by sampling, by witness.

use std::collections::BTreeMap;
use std::io;
use std::time::{Duration, Instant};

use keyfit_ir::arbitrary::RandomNumber;
use keyfit_ir::{Names, Sampler, SyntaxError, Track, same_bits};
use keyfit_rewrite::pattern::VARIABLES;
use keyfit_rewrite::rules::{Evidence, Kind, Rule, Sides, Verdict};
use keyfit_rewrite::smt::{Width, smt};
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
    /// Solvers that confirmed the proof.
    pub confirmed: Vec<String>,
    /// Points at which both sides had the same bits.
    pub samples: usize,
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
        confirmed: Vec::new(),
        samples: 0,
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
            solve(rule, *evidence, checks, &mut checked)?;
        }
        // custom rules are code; the tests of the crate of rules walk them
        (Verdict::Sound(_) | Verdict::Refused(_), None) | (Verdict::Algebra, _) => {}
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
    let io = |error| CheckError::Io { rule: rule.name, error };
    let widths = if evidence == Evidence::Smt { &[Width::Double][..] } else { &[Width::Half] };
    for width in widths {
        let text = smt(rule, *width).map_err(|error| CheckError::Syntax { rule: rule.name, error })?;
        let Some(text) = text else { continue };
        // with functions of which the solver knows nothing, a model says nothing
        let blind = text.contains("declare-fun");
        let limit =
            if evidence == Evidence::Smt { checks.limit } else { checks.limit.min(Duration::from_secs(60)) };
        let (answer, _) = checks.cache.ask(first, &text, limit).map_err(io)?;
        match answer {
            Answer::Unsat => checked.proved.push(width.bits()),
            Answer::Sat(_) if blind => {}
            Answer::Sat(model) => {
                checked.holds = false;
                checked.notes.push(format!("refuted at {} bits: {model}", width.bits()));
            }
            Answer::TimeOut => {
                checked.notes.push(format!("{} takes longer at {} bits", first.name, width.bits()))
            }
            Answer::Unclear(text) => checked.notes.push(format!("{}: {text}", first.name)),
        }
        for other in others {
            let (confirmed, _) = checks.cache.ask(other, &text, checks.confirm).map_err(io)?;
            let proved = checked.proved.contains(&width.bits());
            match confirmed {
                Answer::Unsat => checked.confirmed.push(other.name.clone()),
                Answer::Sat(_) if proved => {
                    checked.holds = false;
                    checked.notes.push(format!("{} contradicts {}", other.name, first.name));
                }
                Answer::Sat(_) | Answer::TimeOut | Answer::Unclear(_) => {}
            }
        }
    }
    checked.shown = evidence != Evidence::Smt || checked.proved.contains(&64);
    Ok(())
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

    fn sample(&self, rule: &Rule, samples: usize, checked: &mut Checked) {
        // the same points for a rule whatever the order in which rules are checked
        let seed =
            rule.name.bytes().fold(7_u64, |seed, byte| seed.wrapping_mul(31).wrapping_add(u64::from(byte)));
        let mut g = Gen::from_size_and_seed(20, seed);
        for _ in 0..samples {
            let values = random_values(&mut g, &self.names);
            let holds = rule.when.iter().zip(&self.conditions).all(|(condition, terms)| {
                condition.holds(&terms.iter().map(|term| value(term, &values)).collect::<Vec<f64>>())
            });
            if !holds {
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
