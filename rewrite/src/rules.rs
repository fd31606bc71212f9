//! The table of rules: one row a rule.
//!
//! A row holds a name, both sides, the side conditions, the verdict with its evidence, and why. From the rows come the
//! rewrites of [`simplify`](crate::simplify), the checker of proofs, the SMT-LIB files, the documentation and the tests.
//!
//! Two sides are equal if they have the same bits for every input, ±0 told apart, all NaNs one. Rules that look right
//! and are not have rows too, with a witness. [`algebra`] holds rules over the reals; nothing that keeps bits uses them.

pub mod accuracy;
pub mod algebra;
mod arithmetic;
pub mod custom;
mod functions;
mod order;
mod refused;

use std::sync::LazyLock;

use keyfit_ir::{Op, SyntaxError};

use crate::bank::Bank;
use crate::condition::{Compiled, Condition};
use crate::cost::Cost;
use crate::facts::Fact;
use crate::pattern::{Pattern, Substitution, VARIABLES};
use custom::Custom;

/// How a rule is known to keep every bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Evidence {
    /// One side is the other by the definition of an operation or of a key list.
    Definition,
    /// Proved over all inputs by an SMT solver, at binary64.
    Smt,
    /// An exact identity of the real functions; both sides are its value rounded once, to nearest even.
    Rounding,
    /// An argument from monotony, signs or exactness, given in the row; proved by solver at smaller widths where the
    /// operations allow it.
    Lemma,
}

impl Evidence {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Evidence::Definition => "definition",
            Evidence::Smt => "smt",
            Evidence::Rounding => "correct rounding",
            Evidence::Lemma => "lemma",
        }
    }
}

/// What is said of a rule.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Verdict {
    /// Wherever the conditions hold, both sides have the same bits.
    Sound(Evidence),
    /// They have not: these values of the variables show it.
    Refused(&'static [(&'static str, f64)]),
    /// Both sides are equal over the reals.
    Algebra,
}

/// The kinds of rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// Keeps every bit.
    Sound,
    /// Keeps every bit where its conditions hold.
    Conditional,
    /// Does not; its row has a witness.
    Refused,
    /// Holds over the reals.
    Algebra,
}

impl Kind {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Sound => "sound",
            Kind::Conditional => "conditional",
            Kind::Refused => "refused",
            Kind::Algebra => "algebra",
        }
    }
}

/// The sides of a rule.
#[derive(Clone, Copy, Debug)]
pub enum Sides {
    /// Formulas over [`VARIABLES`], equal where the conditions hold.
    Formulas(&'static str, &'static str),
    /// A rewrite that no pair of formulas can say, such as one of key lists of any length.
    Custom(Custom),
}

/// One row of the table.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// Its name.
    pub name: &'static str,
    /// What is equal to what.
    pub sides: Sides,
    /// When it holds.
    pub when: &'static [Condition],
    /// What is said of it.
    pub verdict: Verdict,
    /// One line why.
    pub why: &'static str,
}

impl Rule {
    /// Which kind it is of.
    pub fn kind(&self) -> Kind {
        match self.verdict {
            Verdict::Sound(_) if self.when.is_empty() && self.is_unconditional() => Kind::Sound,
            Verdict::Sound(_) => Kind::Conditional,
            Verdict::Refused(_) => Kind::Refused,
            Verdict::Algebra => Kind::Algebra,
        }
    }

    fn is_unconditional(&self) -> bool {
        match self.sides {
            Sides::Formulas(..) => true,
            Sides::Custom(custom) => custom.asks().is_empty(),
        }
    }

    /// The evidence, if it is claimed to keep bits.
    pub fn evidence(&self) -> Option<Evidence> {
        match self.verdict {
            Verdict::Sound(evidence) => Some(evidence),
            Verdict::Refused(_) | Verdict::Algebra => None,
        }
    }

    /// Both sides as text.
    pub fn texts(&self) -> (&'static str, &'static str) {
        match self.sides {
            Sides::Formulas(left, right) => (left, right),
            Sides::Custom(custom) => custom.texts(),
        }
    }
}

const fn sound(
    name: &'static str,
    left: &'static str,
    right: &'static str,
    evidence: Evidence,
    why: &'static str,
) -> Rule {
    when(name, left, right, &[], evidence, why)
}

const fn when(
    name: &'static str,
    left: &'static str,
    right: &'static str,
    when: &'static [Condition],
    evidence: Evidence,
    why: &'static str,
) -> Rule {
    Rule { name, sides: Sides::Formulas(left, right), when, verdict: Verdict::Sound(evidence), why }
}

const fn refused(
    name: &'static str,
    left: &'static str,
    right: &'static str,
    witness: &'static [(&'static str, f64)],
    why: &'static str,
) -> Rule {
    Rule { name, sides: Sides::Formulas(left, right), when: &[], verdict: Verdict::Refused(witness), why }
}

/// Every rule that keeps bits, in the order in which they are tried.
pub fn sound_rules() -> impl Iterator<Item = &'static Rule> {
    custom::RULES.iter().chain(arithmetic::RULES).chain(order::RULES).chain(functions::RULES)
}

/// Every rule that looks right and is not.
pub fn refused_rules() -> impl Iterator<Item = &'static Rule> {
    refused::RULES.iter()
}

/// Every rule that holds over the reals and changes bits.
pub fn real_rules() -> impl Iterator<Item = &'static Rule> {
    algebra::RULES.iter().chain(accuracy::RULES).chain(accuracy::TIDY)
}

/// All rows.
pub fn all_rules() -> impl Iterator<Item = &'static Rule> {
    sound_rules().chain(refused_rules()).chain(real_rules())
}

/// A rule that is ready to be used.
#[derive(Clone, Debug)]
pub struct Ready {
    /// Its row.
    pub rule: &'static Rule,
    /// The sides as patterns; `None` for a custom rule.
    pub(crate) sides: Option<[Pattern; 2]>,
    pub(crate) conditions: Vec<Compiled>,
    /// How much cheaper the right side is than the left, in each measure.
    gains: [i64; Cost::ALL.len()],
}

impl Ready {
    /// Reads a row.
    ///
    /// # Errors
    /// Where a side or a condition is no formula.
    pub fn new(rule: &'static Rule) -> Result<Option<Ready>, SyntaxError> {
        let conditions: Option<Vec<Compiled>> =
            rule.when.iter().map(Condition::compile).collect::<Result<_, _>>()?;
        let Some(conditions) = conditions else { return Ok(None) };
        let Sides::Formulas(left, right) = rule.sides else {
            return Ok(Some(Ready { rule, sides: None, conditions, gains: Default::default() }));
        };
        let (Some(left), Some(right)) = (Pattern::parse(left)?, Pattern::parse(right)?) else {
            return Ok(None);
        };
        let gains = Cost::ALL.map(|cost| match cost {
            Cost::Depth => flatter(&left, &right, rule),
            _ => pattern_cost(&left, rule, cost) - pattern_cost(&right, rule, cost),
        });
        Ok(Some(Ready { rule, sides: Some([left, right]), conditions, gains }))
    }

    /// How much cheaper the right side is than the left.
    pub(crate) fn gain(&self, cost: Cost) -> i64 {
        self.gains[cost as usize]
    }

    /// Whether what is known of the variables' terms says that every condition holds.
    pub fn applies(&self, bank: &Bank, substitution: &Substitution) -> bool {
        let known = |v: usize| substitution[v].map_or(Fact::ANY, |place| bank.fact(place));
        self.conditions.iter().all(|condition| condition.follows(&known))
    }
}

/// For each node of a side whether it is made of constants only, and is computed beforehand.
fn known(pattern: &Pattern, rule: &Rule) -> Vec<bool> {
    let constant = |name: &str| {
        rule.when.iter().any(|condition| {
            matches!(condition, Condition::Of(term, crate::condition::Need::Constant | crate::condition::Need::PowerOfTwo)
                if *term == name)
        })
    };
    let mut still: Vec<bool> = Vec::new();
    for node in pattern.track().nodes() {
        let known = match node {
            keyfit_ir::Node::Constant(_) => true,
            keyfit_ir::Node::Free(p) => constant(p.name()),
            _ => node.children().iter().all(|child| still[child.index()]),
        };
        still.push(known);
    }
    still
}

/// The cost of an instance.
fn pattern_cost(pattern: &Pattern, rule: &Rule, cost: Cost) -> i64 {
    let nodes = pattern.track().nodes().iter().zip(known(pattern, rule));
    nodes
        .filter_map(|(node, known)| match node {
            keyfit_ir::Node::Apply(op, _) if !known => Some(cost.of_op(*op) as i64),
            _ => None,
        })
        .sum()
}

/// How far each variable lies below the side's root at most, and the side's height, all less than 0 where there is none.
fn depths(pattern: &Pattern, rule: &Rule) -> Vec<i64> {
    const NOWHERE: i64 = -1000;
    let nodes = pattern.track().nodes();
    let known = known(pattern, rule);
    let mut below = vec![NOWHERE; nodes.len()];
    let mut depths = vec![NOWHERE; VARIABLES.len() + 1];
    if let Some(root) = below.last_mut() {
        *root = 0;
    }
    for (k, node) in nodes.iter().enumerate().rev() {
        let own = below[k];
        let step = i64::from(matches!(node, keyfit_ir::Node::Apply(..)) && !known[k]);
        for child in node.children().iter() {
            below[child.index()] = below[child.index()].max(own + step);
        }
        if let Some(height) = depths.last_mut() {
            *height = (*height).max(own + step);
        }
        if let keyfit_ir::Node::Free(p) = node
            && let Some(v) = VARIABLES.iter().position(|name| *name == p.name())
        {
            depths[v] = depths[v].max(own);
        }
    }
    depths
}

/// How much flatter the right side is: the sum over its variables and its height, if none of these lies deeper (or, as a negative
/// number, if none lies less deep); else 0.
fn flatter(left: &Pattern, right: &Pattern, rule: &Rule) -> i64 {
    let gains: Vec<i64> = depths(left, rule)
        .iter()
        .zip(depths(right, rule))
        .map(|(left, right)| (left - right).clamp(-9, 9))
        .collect();
    let one_way = gains.iter().all(|gain| *gain >= 0) || gains.iter().all(|gain| *gain <= 0);
    if one_way { gains.iter().sum() } else { 0 }
}

/// All rules that keep bits, ready to be used.
#[derive(Debug)]
pub struct RuleSet {
    rules: Vec<Ready>,
    /// For each measure and operation, which way round which rule makes its terms cheaper.
    cheaper: [Vec<Vec<(usize, bool)>>; Cost::ALL.len()],
}

impl RuleSet {
    /// The rules that keep bits.
    pub fn get() -> &'static RuleSet {
        static RULES: LazyLock<RuleSet> = LazyLock::new(RuleSet::new);
        &RULES
    }

    fn new() -> RuleSet {
        // a row that cannot be read is no rule; a test sees to it that there is none
        let rules: Vec<Ready> = sound_rules().filter_map(|rule| Ready::new(rule).ok().flatten()).collect();
        let cheaper = Cost::ALL.map(|cost| {
            let mut cheaper = vec![Vec::new(); Op::ALL.len()];
            for (i, ready) in rules.iter().enumerate() {
                let Some([left, right]) = &ready.sides else { continue };
                let gain = ready.gain(cost);
                let backward = gain < 0;
                let (from, to) = if backward { (right, left) } else { (left, right) };
                let closed = to.variables().all(|v| from.variables().any(|w| v == w));
                if let (true, true, Some(op)) = (gain != 0, closed, from.op()) {
                    cheaper[op as usize].push((i, backward));
                }
            }
            cheaper
        });
        RuleSet { rules, cheaper }
    }

    /// The rules, in order.
    pub fn rules(&self) -> &[Ready] {
        &self.rules
    }

    /// The rules that make a term of this operation cheaper, and whether it is from right to left that they do.
    pub fn cheaper(&self, op: Op, cost: Cost) -> &[(usize, bool)] {
        self.cheaper[cost as usize].get(op as usize).map_or(&[], |rules| rules)
    }

    /// The rule of this name.
    pub fn find(&self, name: &str) -> Option<&Ready> {
        self.position(name).map(|i| &self.rules[i])
    }

    /// The number of the rule of this name.
    pub fn position(&self, name: &str) -> Option<usize> {
        self.rules.iter().position(|ready| ready.rule.name == name)
    }
}

/// The names of the variables that a substitution gives, with their places.
pub fn named(substitution: &Substitution) -> impl Iterator<Item = (&'static str, u32)> + '_ {
    VARIABLES.iter().zip(substitution).filter_map(|(name, place)| Some((*name, (*place)?)))
}
