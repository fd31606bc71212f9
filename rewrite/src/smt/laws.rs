//! What may be used of an operation whose meaning a solver need not know.
//!
//! Some rules are too hard for solvers because of what their operations do to bits, and hang on little of it: that a sum
//! commutes, or rises with its first operand. In the file of such a rule the operation is an unknown function, of which the
//! rule's laws are assumed for the terms that occur. Every law is a theorem with evidence of its own. In the rule's conditions
//! an operation keeps its meaning unless it may be any.

use keyfit_ir::Op;

use super::File;
use crate::rules::Rule;

/// A law of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Law {
    /// Nothing is assumed: the rule holds for any function in the operation's place.
    Any,
    /// The operands' order does not matter.
    Commutes,
    /// With 1 as its second operand it gives the first.
    Neutral,
    /// NaN among the operands gives NaN.
    Strict,
    /// It rises with its first operand, −0 below +0, and is a number where that is one: a sum with a finite number, a
    /// product with a positive finite one, a function on its domain, below which it is NaN.
    Rises,
    /// It falls with its first operand, in the same sense.
    Falls,
    /// It is NaN, or lies between 0 and its second operand, 0 included and never −0; and what lies there already it leaves alone.
    Remains,
}

/// Laws of operations, as a rule's proof uses them.
pub type Laws = &'static [(Op, Law)];

macro_rules! monotone {
    ($op:ident $law:ident) => {
        &[(Op::$op, Law::Strict), (Op::$op, Law::$law)]
    };
}

const BY_LAWS: &[(&str, Laws)] = &[
    ("min-plus-max", &[(Op::ADD, Law::Commutes), (Op::ADD, Law::Strict)]),
    ("min-times-max", &[(Op::MUL, Law::Commutes), (Op::MUL, Law::Strict)]),
    ("mix-from-zero", &[(Op::MUL, Law::Any)]),
    ("mix-end-as-written", &[(Op::ADD, Law::Any), (Op::MUL, Law::Neutral)]),
    ("mix-end-near", &[(Op::MUL, Law::Neutral)]),
    ("smoothstep-unit", &[(Op::DIV, Law::Neutral), (Op::MUL, Law::Any)]),
    ("loop-of-loop", &[(Op::MOD, Law::Strict), (Op::MOD, Law::Remains)]),
    ("mod-inside", &[(Op::MOD, Law::Strict), (Op::MOD, Law::Remains)]),
    ("min-add", monotone!(ADD Rises)),
    ("max-add", monotone!(ADD Rises)),
    ("min-mul", monotone!(MUL Rises)),
    ("max-mul", monotone!(MUL Rises)),
    ("min-exp", monotone!(EXP Rises)),
    ("max-exp", monotone!(EXP Rises)),
    ("min-exp2", monotone!(EXP2 Rises)),
    ("max-exp2", monotone!(EXP2 Rises)),
    ("min-atan", monotone!(ATAN Rises)),
    ("max-atan", monotone!(ATAN Rises)),
    ("min-sinh", monotone!(SINH Rises)),
    ("max-sinh", monotone!(SINH Rises)),
    ("min-tanh", monotone!(TANH Rises)),
    ("max-tanh", monotone!(TANH Rises)),
    ("min-sqrt", monotone!(SQRT Rises)),
    ("max-sqrt", monotone!(SQRT Rises)),
    ("min-ln", monotone!(LN Rises)),
    ("max-ln", monotone!(LN Rises)),
    ("min-asin", monotone!(ASIN Rises)),
    ("max-asin", monotone!(ASIN Rises)),
    ("min-acos", monotone!(ACOS Falls)),
    ("max-acos", monotone!(ACOS Falls)),
];

/// The laws that a rule's proof uses; none for most rules.
pub fn laws(rule: &Rule) -> Laws {
    BY_LAWS.iter().find(|(name, _)| *name == rule.name).map_or(&[], |(_, laws)| laws)
}

/// Every law that is used, once.
pub fn all_laws() -> Vec<(Op, Law)> {
    let mut all: Vec<(Op, Law)> = BY_LAWS.iter().flat_map(|(_, laws)| laws.iter().copied()).collect();
    all.retain(|(_, law)| *law != Law::Any);
    all.sort_unstable();
    all.dedup();
    all
}

impl Law {
    /// What it says of an operation, and why that is so.
    pub fn texts(self, op: Op) -> (String, &'static str) {
        let word = op.word();
        let monotone = match op {
            Op::ADD => {
                "a + c is what it is for a and b in their order, of a finite c, rounded; rounding is monotone"
            }
            Op::MUL => "for a positive finite c, a*c is in the order of a, and rounding is monotone",
            _ => "the real function is monotone, and rounding is monotone",
        };
        match self {
            Law::Any => (format!("{word} is any function"), "nothing is assumed"),
            Law::Commutes => (format!("{word} commutes"), "IEEE 754; a rule of its own"),
            Law::Neutral => (format!("{word} with 1 gives its first operand"), "exact; a rule of its own"),
            Law::Strict => (format!("{word} of NaN is NaN"), "by definition"),
            Law::Rises => (format!("{word} rises with its first operand"), monotone),
            Law::Falls => (format!("{word} falls with its first operand"), monotone),
            Law::Remains => (
                format!("{word} lies between 0 and its second operand, and leaves alone what does"),
                "x - y*floor(x/y) is what is left of x by whole y's: of what is less than one y, all",
            ),
        }
    }

    /// The rule that says the same, if there is one.
    pub fn rule(self, op: Op) -> Option<&'static str> {
        match (self, op) {
            (Law::Commutes, Op::ADD) => Some("add-comm"),
            (Law::Commutes, Op::MUL) => Some("mul-comm"),
            (Law::Neutral, Op::MUL) => Some("mul-one"),
            (Law::Neutral, Op::DIV) => Some("div-one"),
            _ => None,
        }
    }

    /// Where a monotone operation is so, as its operands say; `None` where it always is.
    pub fn domain(op: Op) -> Option<Domain> {
        match op {
            Op::ADD => Some(Domain::SecondFinite),
            Op::MUL => Some(Domain::SecondFinitePositive),
            Op::SQRT | Op::LN => Some(Domain::NotBelowZero),
            Op::ASIN | Op::ACOS => Some(Domain::WithinOne),
            _ => None,
        }
    }
}

/// Where an operation is monotone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Domain {
    /// For a finite second operand.
    SecondFinite,
    /// For a positive finite second operand.
    SecondFinitePositive,
    /// From −0 on; it is NaN below.
    NotBelowZero,
    /// From −1 to 1.
    WithinOne,
}

impl Domain {
    /// Whether these operands, of which the first is not NaN, are inside.
    pub fn holds(self, x: f64, c: f64) -> bool {
        match self {
            Domain::SecondFinite => c.is_finite(),
            Domain::SecondFinitePositive => c.is_finite() && c > 0.0,
            Domain::NotBelowZero => x >= 0.0,
            Domain::WithinOne => x.abs() <= 1.0,
        }
    }
}

/// An unknown function's value at some terms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Application {
    pub op: Op,
    pub operands: [String; 2],
    pub value: String,
}

/// What two numbers are if the first does not come after the second, −0 before +0; or one is NaN.
pub(super) fn ordered(a: &str, b: &str) -> String {
    format!(
        "(or (fp.isNaN {a}) (fp.isNaN {b}) (fp.lt {a} {b}) (and (fp.eq {a} {b}) (or (fp.isNegative {a}) (fp.isPositive {b}))))"
    )
}

impl File {
    /// The laws, for the terms that occur, as formulas to be assumed.
    pub(super) fn instances(&self, laws: Laws) -> Vec<String> {
        let mut all = Vec::new();
        for (op, law) in laws {
            let mut here: Vec<&Application> = Vec::new();
            for application in self.applications.iter().filter(|it| it.op == *op) {
                if !here.contains(&application) {
                    here.push(application);
                }
            }
            for application in &here {
                all.extend(self.instance(*law, application));
                if matches!(law, Law::Rises | Law::Falls) {
                    let pairs = here.iter().filter(|other| *other != application);
                    all.extend(pairs.filter_map(|other| self.in_order(*law, application, other)));
                }
            }
        }
        all
    }

    fn instance(&self, law: Law, it: &Application) -> Vec<String> {
        let [a, b] = &it.operands;
        let value = &it.value;
        match law {
            Law::Any => Vec::new(),
            Law::Commutes => vec![format!("(= {value} (f_{} {b} {a}))", it.op.word())],
            Law::Neutral => vec![format!("(=> (= {b} {}) (= {value} {a}))", self.constant(1.0))],
            Law::Strict => vec![format!("(=> (or (fp.isNaN {a}) (fp.isNaN {b})) (fp.isNaN {value}))")],
            Law::Remains => {
                let (lies, lay) = (self.between(value, b), self.between(a, b));
                vec![format!("(or (fp.isNaN {value}) {lies})"), format!("(=> {lay} (= {value} {a}))")]
            }
            Law::Rises | Law::Falls => {
                let inside =
                    format!("(=> (and (not (fp.isNaN {a})) {}) (not (fp.isNaN {value})))", self.inside(it));
                let zero = self.constant(0.0);
                let below = match Law::domain(it.op) {
                    Some(Domain::NotBelowZero) => Some(format!("(=> (fp.lt {a} {zero}) (fp.isNaN {value}))")),
                    _ => None,
                };
                [inside].into_iter().chain(below).collect()
            }
        }
    }

    fn in_order(&self, law: Law, first: &Application, second: &Application) -> Option<String> {
        let ([a, c], [b, d]) = (&first.operands, &second.operands);
        // an operation of one operand has that one in both places
        if first.op.arity() > 1 && c != d {
            return None;
        }
        let (low, high) = if law == Law::Rises { (first, second) } else { (second, first) };
        Some(format!(
            "(=> (and {} {} {}) {})",
            self.inside(first),
            self.inside(second),
            ordered(a, b),
            ordered(&low.value, &high.value)
        ))
    }

    /// That a number lies between 0, which is included, and another, and is not −0.
    fn between(&self, x: &str, end: &str) -> String {
        let zero = self.constant(0.0);
        format!(
            "(and (not (and (fp.isZero {x}) (fp.isNegative {x}))) (or (and (fp.leq {zero} {x}) (fp.lt {x} {end})) (and (fp.lt {end} {x}) (fp.leq {x} {zero}))))"
        )
    }

    fn inside(&self, it: &Application) -> String {
        let ([x, c], zero, one) = (&it.operands, self.constant(0.0), self.constant(1.0));
        let finite = format!("(not (or (fp.isNaN {c}) (fp.isInfinite {c})))");
        match Law::domain(it.op) {
            None => "true".to_owned(),
            Some(Domain::SecondFinite) => finite,
            Some(Domain::SecondFinitePositive) => format!("(and {finite} (fp.lt {zero} {c}))"),
            Some(Domain::NotBelowZero) => format!("(fp.leq {zero} {x})"),
            Some(Domain::WithinOne) => format!("(fp.leq (fp.abs {x}) {one})"),
        }
    }
}
