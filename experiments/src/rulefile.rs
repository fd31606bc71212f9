//! Rules of one's own, to be checked like those of the table.
//!
//! A file is TOML with one `[[rule]]` a row: `name`; `left` and `right`, formulas over
//! [`VARIABLES`]; `when`, a list of conditions in the words of the catalogue; `claim`, one of
//! [`CLAIMS`], "smt" if it is left out; `witness` for a refused rule, a number for each variable; `why`.
//!
//! ```
//! let rules = keyfit::rulefile::rules(r#"
//!     [[rule]]
//!     name = "zero-absorbs"
//!     left = "x * 0.0"
//!     right = "0.0"
//!     when = ["x is finite", "x has its sign bit clear"]
//! "#)?;
//! assert_eq!(rules[0].name, "zero-absorbs");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use keyfit_ir::text::nearest;
use keyfit_ir::{SyntaxError, SyntaxErrorKind};
use keyfit_rewrite::condition::{Condition, NoCondition};
use keyfit_rewrite::pattern::{MAX_NODES, Pattern, VARIABLES};
use keyfit_rewrite::rules::{Evidence, Rule, Sides, Verdict};
use serde::Deserialize;
use thiserror::Error;
use toml::Spanned;

/// What a row may claim.
pub const CLAIMS: [&str; 6] = ["smt", "correct rounding", "lemma", "definition", "refused", "algebra"];

/// What is wrong with a file of rules, and where.
#[derive(Debug, Error)]
#[error("{kind}")]
pub struct RuleFault {
    /// What is wrong.
    pub kind: RuleFaultKind,
    /// Where, in bytes.
    pub span: Range<usize>,
}

/// All that is wrong with a file of rules; at least one fault.
#[derive(Debug, Error)]
#[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
pub struct RuleFaults(pub Vec<RuleFault>);

/// What can be wrong in a file of rules.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RuleFaultKind {
    /// It is not TOML, or has other fields.
    #[error("{0}")]
    Form(String),
    /// Two rules have one name.
    #[error("there are two rules {name}")]
    Twice {
        /// The name.
        name: String,
    },
    /// A side, or a term of a condition, is no formula.
    #[error("{0}")]
    Syntax(#[from] SyntaxError),
    /// A side, or a term of a condition, is a formula of another kind.
    #[error("a rule is about the variables {}, numbers and operations, {MAX_NODES} in all", VARIABLES.join(", "))]
    NoPattern,
    /// A condition is none.
    #[error(transparent)]
    Condition(#[from] NoCondition),
    /// A condition speaks of what neither side has.
    #[error("{variable} stands on neither side")]
    Unbound {
        /// The variable.
        variable: &'static str,
    },
    /// The claim is none.
    #[error("no rule is claimed to be {claim:?}; {}", match nearest(claim, CLAIMS) {
        Some(near) => format!("did you mean {near:?}?"),
        None => format!("claims are {}", CLAIMS.join(", ")),
    })]
    Claim {
        /// What stands there.
        claim: String,
    },
    /// A refused rule gives no number for a variable of its sides, or a number for none of them; or a witness stands beside another claim.
    #[error("{0}")]
    Witness(String),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    rule: Vec<Row>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    name: Spanned<String>,
    left: Spanned<String>,
    right: Spanned<String>,
    #[serde(default)]
    when: Vec<Spanned<String>>,
    claim: Option<Spanned<String>>,
    witness: Option<Spanned<BTreeMap<String, f64>>>,
    #[serde(default)]
    why: String,
}

/// Reads a file of rules. Like the rows of the table they live as long as the program.
///
/// # Errors
/// Everything that is wrong with it.
pub fn rules(text: &str) -> Result<Vec<&'static Rule>, RuleFaults> {
    let file: File = toml::from_str(text).map_err(|error| {
        let kind = RuleFaultKind::Form(error.message().to_owned());
        RuleFaults(vec![RuleFault { kind, span: error.span().unwrap_or(0..text.len()) }])
    })?;
    let mut faults = Vec::new();
    let mut names: BTreeSet<&str> = BTreeSet::new();
    let mut rules: Vec<&'static Rule> = Vec::new();
    for row in &file.rule {
        let name = row.name.get_ref();
        if !names.insert(name) {
            faults.push(at(&row.name, RuleFaultKind::Twice { name: name.clone() }));
        }
        match rule(text, row) {
            Ok(rule) => rules.push(Box::leak(Box::new(rule))),
            Err(found) => faults.extend(found),
        }
    }
    if faults.is_empty() { Ok(rules) } else { Err(RuleFaults(faults)) }
}

fn at<T>(place: &Spanned<T>, kind: impl Into<RuleFaultKind>) -> RuleFault {
    RuleFault { kind: kind.into(), span: place.span() }
}

fn keep(text: &str) -> &'static str {
    Box::leak(text.to_owned().into_boxed_str())
}

fn rule(text: &str, row: &Row) -> Result<Rule, Vec<RuleFault>> {
    let mut faults = Vec::new();
    let mut bound: Vec<usize> = Vec::new();
    for side in [&row.left, &row.right] {
        match pattern(text, side, side.get_ref()) {
            Ok(pattern) => bound.extend(pattern.variables()),
            Err(fault) => faults.push(fault),
        }
    }
    let mut when = Vec::new();
    for condition in &row.when {
        match read_condition(text, condition, &bound) {
            Ok(condition) => when.push(condition),
            Err(fault) => faults.push(fault),
        }
    }
    let witness = witness(row, &bound).unwrap_or_else(|fault| {
        faults.push(fault);
        Vec::new()
    });
    let verdict = verdict(row, witness);
    match verdict {
        Ok(verdict) if faults.is_empty() => Ok(Rule {
            name: keep(row.name.get_ref()),
            sides: Sides::Formulas(keep(row.left.get_ref()), keep(row.right.get_ref())),
            when: Box::leak(when.into_boxed_slice()),
            verdict,
            why: keep(&row.why),
        }),
        verdict => {
            faults.extend(verdict.err());
            Err(faults)
        }
    }
}

/// Reads a formula that stands in the TOML string at `place`.
fn pattern(text: &str, place: &Spanned<String>, formula: &str) -> Result<Pattern, RuleFault> {
    match Pattern::parse(formula) {
        Ok(Some(pattern)) => Ok(pattern),
        Ok(None) => Err(at(place, RuleFaultKind::NoPattern)),
        Err(error) if matches!(error.kind, SyntaxErrorKind::NoStart { .. }) => {
            Err(at(place, RuleFaultKind::NoPattern))
        }
        Err(error) => {
            // where the string holds escapes, its bytes are not those of the file
            let raw = text.get(place.span()).unwrap_or_default();
            let inner = raw.find(formula).map(|offset| place.span().start + offset);
            let span = inner.map_or(place.span(), |start| start + error.span.start..start + error.span.end);
            Err(RuleFault { kind: error.into(), span })
        }
    }
}

fn read_condition(text: &str, place: &Spanned<String>, bound: &[usize]) -> Result<Condition, RuleFault> {
    let condition = Condition::parse(keep(place.get_ref())).map_err(|error| at(place, error))?;
    for term in condition.terms() {
        let pattern = pattern(text, place, term)?;
        if let Some(variable) = pattern.variables().find(|v| !bound.contains(v)) {
            return Err(at(place, RuleFaultKind::Unbound { variable: VARIABLES[variable] }));
        }
    }
    Ok(condition)
}

/// The witness, with a number for each variable and no other.
fn witness(row: &Row, bound: &[usize]) -> Result<Vec<(&'static str, f64)>, RuleFault> {
    let Some(witness) = &row.witness else { return Ok(Vec::new()) };
    let names: Vec<&'static str> =
        VARIABLES.iter().enumerate().filter(|(v, _)| bound.contains(v)).map(|(_, name)| *name).collect();
    if let Some(stranger) = witness.get_ref().keys().find(|name| !names.contains(&name.as_str())) {
        return Err(at(witness, RuleFaultKind::Witness(format!("{stranger} stands on neither side"))));
    }
    let number = |name: &'static str| {
        let value = witness.get_ref().get(name).map(|x| (name, *x));
        value.ok_or_else(|| {
            at(witness, RuleFaultKind::Witness(format!("the witness has no number for {name}")))
        })
    };
    names.into_iter().map(number).collect()
}

fn verdict(row: &Row, witness: Vec<(&'static str, f64)>) -> Result<Verdict, RuleFault> {
    let verdict = match row.claim.as_ref().map_or("smt", |claim| claim.get_ref()) {
        "smt" => Verdict::Sound(Evidence::Smt),
        "correct rounding" => Verdict::Sound(Evidence::Rounding),
        "lemma" => Verdict::Sound(Evidence::Lemma),
        "definition" => Verdict::Sound(Evidence::Definition),
        "algebra" => Verdict::Algebra,
        "refused" if row.witness.is_none() => {
            let message = "a refused rule needs a witness, such as witness = { x = -0.0 }";
            return Err(at(&row.name, RuleFaultKind::Witness(message.into())));
        }
        "refused" => return Ok(Verdict::Refused(Box::leak(witness.into_boxed_slice()))),
        claim => {
            let place = row.claim.as_ref().unwrap_or(&row.name);
            return Err(at(place, RuleFaultKind::Claim { claim: claim.to_owned() }));
        }
    };
    match &row.witness {
        None => Ok(verdict),
        Some(witness) => {
            let message = "a witness belongs to a rule that is refused: claim = \"refused\"";
            Err(at(witness, RuleFaultKind::Witness(message.into())))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_faults_are_told_with_their_places() {
        let text = r#"
[[rule]]
name = "a"
left = "x + "
right = "linear[0=1 1=2]"
when = ["x is odd", "y is finite"]
claim = "smtt"

[[rule]]
name = "a"
left = "x * y"
right = "y * x"
when = ["x + is finite", "a < x"]
witness = { x = 1 }

[[rule]]
name = "b"
left = "x"
right = "x"
claim = "refused"
"#;
        let faults = rules(text).unwrap_err().0;
        let told: Vec<String> =
            faults.iter().map(|fault| format!("{:?}: {fault}", &text[fault.span.clone()])).collect();
        insta::assert_snapshot!(told.join("\n"));
        let form = rules("[[rule]]\nname = 3").unwrap_err().0;
        assert!(matches!(form[..], [RuleFault { kind: RuleFaultKind::Form(_), .. }]), "{form:?}");
    }
}
