//! When a rule may be used.

use std::fmt;

use keyfit_ir::SyntaxError;
use thiserror::Error;

use crate::facts::Fact;
use crate::pattern::Pattern;

/// What a rule needs of a term. A need says nothing of NaN, except [`Need::NotNan`] and [`Need::Finite`]: where NaN matters
/// a rule asks for these.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Need {
    /// It is not NaN.
    NotNan,
    /// It is a finite number.
    Finite,
    /// Its sign bit is clear: +0 or above, or NaN.
    SignClear,
    /// Its sign bit is set: −0 or below, or NaN.
    SignSet,
    /// It is not −0.
    NotNegativeZero,
    /// It is not +0.
    NotPositiveZero,
    /// It is neither zero.
    NotZero,
    /// It is a whole number, infinite or NaN.
    Whole,
    /// It lies from the first number to the second, or is NaN.
    Within(f64, f64),
    /// It is one number, written there.
    Constant,
    /// It is one number, a power of two, and it and its reciprocal are normal numbers.
    PowerOfTwo,
}

impl Need {
    /// Whether a number is as needed.
    pub fn holds(self, x: f64) -> bool {
        match self {
            Need::NotNan => !x.is_nan(),
            Need::Finite => x.is_finite(),
            Need::SignClear => x.is_nan() || x.is_sign_positive(),
            Need::SignSet => x.is_nan() || x.is_sign_negative(),
            Need::NotNegativeZero => !(x == 0.0 && x.is_sign_negative()),
            Need::NotPositiveZero => !(x == 0.0 && x.is_sign_positive()),
            Need::NotZero => x != 0.0,
            Need::Whole => !x.is_finite() || x == x.trunc(),
            Need::Within(low, high) => x.is_nan() || (low <= x && x <= high),
            Need::Constant => true,
            Need::PowerOfTwo => x.is_normal() && (1.0 / x).is_normal() && x.to_bits() << 12 == 0,
        }
    }

    /// Whether a fact says that every value is as needed.
    pub fn follows(self, fact: &Fact) -> bool {
        let ends = |holds: fn(f64, f64) -> bool| fact.range().is_none_or(|(low, high)| holds(low, high));
        match self {
            Need::NotNan => !fact.may_be_nan(),
            Need::Finite => fact.is_finite(),
            Need::SignClear => ends(|low, _| low.is_sign_positive()),
            Need::SignSet => ends(|_, high| high.is_sign_negative()),
            Need::NotNegativeZero => !fact.may_be_negative_zero(),
            Need::NotPositiveZero => !fact.may_be_positive_zero(),
            Need::NotZero => !fact.may_be_zero(),
            Need::Whole => fact.is_whole(),
            Need::Within(low, high) => fact.range().is_none_or(|(a, b)| low <= a && b <= high),
            Need::Constant => fact.constant().is_some(),
            Need::PowerOfTwo => fact.constant().is_some_and(|x| self.holds(x)),
        }
    }
}

/// A side condition of a rule, over the rule's variables.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Condition {
    /// The term is as needed.
    Of(&'static str, Need),
    /// The first term's value is not above the second's where −0 is below +0; or one of them is NaN.
    Ordered(&'static str, &'static str),
    /// The first term's value is at most the second's as numbers compare; or one of them is NaN.
    AtMost(&'static str, &'static str),
    /// The first term's value is below the second's as numbers compare; or one of them is NaN.
    Below(&'static str, &'static str),
}

impl Condition {
    /// The terms that it speaks of.
    pub fn terms(&self) -> impl Iterator<Item = &'static str> {
        let (first, second) = match *self {
            Condition::Of(term, _) => (term, None),
            Condition::Ordered(a, b) | Condition::AtMost(a, b) | Condition::Below(a, b) => (a, Some(b)),
        };
        [Some(first), second].into_iter().flatten()
    }

    /// Whether the terms' values are as asked, in the order of [`Condition::terms`].
    pub fn holds(&self, values: &[f64]) -> bool {
        match (self, values) {
            (Condition::Of(_, need), [x]) => need.holds(*x),
            (_, [a, b]) if a.is_nan() || b.is_nan() => true,
            (Condition::Ordered(..), [a, b]) => a.total_cmp(b).is_le(),
            (Condition::AtMost(..), [a, b]) => a <= b,
            (Condition::Below(..), [a, b]) => a < b,
            _ => false,
        }
    }

    /// Whether the facts, in the order of [`Condition::terms`], say that it holds.
    pub fn follows(&self, facts: &[Fact]) -> bool {
        let ranges = || Some((facts.first()?.range(), facts.get(1)?.range()));
        let compare = |holds: fn(f64, f64) -> bool| match ranges() {
            Some((Some((_, high)), Some((low, _)))) => holds(high, low),
            Some(_) => true,
            None => false,
        };
        match self {
            Condition::Of(_, need) => facts.first().is_some_and(|fact| need.follows(fact)),
            Condition::Ordered(..) => compare(|high, low| high.total_cmp(&low).is_le()),
            Condition::AtMost(..) => compare(|high, low| high <= low),
            Condition::Below(..) => compare(|high, low| high < low),
        }
    }

    /// The condition with its terms read.
    ///
    /// # Errors
    /// Where a term is no formula.
    pub(crate) fn compile(&self) -> Result<Option<Compiled>, SyntaxError> {
        let terms: Option<Vec<Pattern>> = self.terms().map(Pattern::parse).collect::<Result<_, _>>()?;
        Ok(terms.map(|terms| Compiled { condition: *self, terms }))
    }
}

/// A condition whose terms are read.
#[derive(Clone, Debug)]
pub(crate) struct Compiled {
    pub condition: Condition,
    pub terms: Vec<Pattern>,
}

impl Compiled {
    /// Whether what is known of the variables says that the condition holds.
    pub fn follows(&self, known: &impl Fn(usize) -> Fact) -> bool {
        let mut facts = [Fact::ANY; 2];
        for (slot, term) in facts.iter_mut().zip(&self.terms) {
            *slot = term.fact(known);
        }
        self.condition.follows(&facts[..self.terms.len().min(2)])
    }
}

/// The words for what is needed of one term, as they stand behind it.
const WORDS: [(Need, &str); 10] = [
    (Need::Finite, " is finite"),
    (Need::NotNan, " is not NaN"),
    (Need::NotZero, " is not zero"),
    (Need::NotNegativeZero, " is not -0"),
    (Need::NotPositiveZero, " is not +0"),
    (Need::Whole, " is whole"),
    (Need::Constant, " is a constant"),
    (Need::PowerOfTwo, " is a power of two"),
    (Need::SignClear, " has its sign bit clear"),
    (Need::SignSet, " has its sign bit set"),
];
/// What stands behind the terms of [`Condition::Ordered`].
const ORDERED: &str = " with -0 < +0";

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Condition::Of(term, Need::Within(low, high)) => write!(f, "{term} is from {low:?} to {high:?}"),
            Condition::Of(term, need) => {
                let words = WORDS.iter().find(|(other, _)| other == need).map_or("", |(_, words)| words);
                write!(f, "{term}{words}")
            }
            Condition::Ordered(a, b) => write!(f, "{a} <= {b}{ORDERED}"),
            Condition::AtMost(a, b) => write!(f, "{a} <= {b}"),
            Condition::Below(a, b) => write!(f, "{a} < {b}"),
        }
    }
}

/// A text that is no condition.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "{text:?} is no condition; one is a term and {} or `is from LOW to HIGH`; or `a <= b`, `a < b` or `a <= b{ORDERED}`",
    WORDS.map(|(_, words)| format!("`{}`", words.trim())).join(", ")
)]
pub struct NoCondition {
    /// The text.
    pub text: String,
}

impl Condition {
    /// Reads what [`Display`](fmt::Display) writes, and `>` and `>=`. The terms are not read here.
    ///
    /// ```
    /// use keyfit_rewrite::condition::Condition;
    /// let text = "x * x is from 0.0 to 1.0";
    /// assert_eq!(Condition::parse(text)?.to_string(), text);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`NoCondition`].
    pub fn parse(text: &'static str) -> Result<Condition, NoCondition> {
        let one = WORDS
            .iter()
            .find_map(|(need, words)| Some(Condition::Of(text.strip_suffix(words)?.trim(), *need)));
        let within = || {
            let (term, ends) = text.split_once(" is from ")?;
            let (low, high) = ends.split_once(" to ")?;
            Some(Condition::Of(
                term.trim(),
                Need::Within(low.trim().parse().ok()?, high.trim().parse().ok()?),
            ))
        };
        let two = || {
            let (body, ordered) = match text.strip_suffix(ORDERED) {
                Some(body) => (body, true),
                None => (text, false),
            };
            let sides = |sign: &str| body.split_once(sign).map(|(a, b)| (a.trim(), b.trim()));
            let turned = |(a, b)| (b, a);
            match sides("<=").or_else(|| sides(">=").map(turned)) {
                Some((a, b)) if ordered => Some(Condition::Ordered(a, b)),
                Some((a, b)) => Some(Condition::AtMost(a, b)),
                None => sides("<").or_else(|| sides(">").map(turned)).map(|(a, b)| Condition::Below(a, b)),
            }
        };
        one.or_else(within).or_else(two).ok_or_else(|| NoCondition { text: text.into() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_condition_of_the_table_is_read_from_its_text() {
        let of_table = crate::rules::all_rules().flat_map(|rule| rule.when);
        let of_words = WORDS.map(|(need, _)| Condition::Of("a * a", need));
        for condition in of_table.copied().chain(of_words) {
            let text: &'static str = Box::leak(condition.to_string().into_boxed_str());
            assert_eq!(Condition::parse(text), Ok(condition));
        }
        assert_eq!(Condition::parse("a > b"), Ok(Condition::Below("b", "a")));
        assert_eq!(Condition::parse("a*a >= b"), Ok(Condition::AtMost("b", "a*a")));
        for text in ["", "x", "x is", "is finite", "x is from 0 to", "x is from to 3", "x is odd"] {
            assert!(Condition::parse(text).is_err_and(|e| e.text == text), "{text}");
        }
    }
}
