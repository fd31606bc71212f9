//! The words of FPCore, as one table that is read both ways.

use std::collections::HashMap;
use std::f64::consts;
use std::sync::LazyLock;

use keyfit_ir::{Names, Op, Track};

/// What a word of FPCore is here.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Meaning {
    /// An operation.
    Op(Op),
    /// A formula over the operands.
    Formula(&'static str),
    /// Nothing with the same bits, for this reason.
    Refused(&'static str),
}

/// One word of FPCore with so many operands.
#[derive(Clone, Copy, Debug)]
pub struct Word {
    /// The word.
    pub word: &'static str,
    /// Its operands' names.
    pub operands: &'static [&'static str],
    /// What it is here.
    pub meaning: Meaning,
    /// Where the two differ, if they do.
    pub differs: &'static str,
}

const X: &[&str] = &["x"];
const XY: &[&str] = &["x", "y"];

const fn word(word: &'static str, operands: &'static [&'static str], op: Op) -> Word {
    Word { word, operands, meaning: Meaning::Op(op), differs: "" }
}

const fn formula(word: &'static str, operands: &'static [&'static str], text: &'static str) -> Word {
    Word { word, operands, meaning: Meaning::Formula(text), differs: "" }
}

const fn refused(word: &'static str, operands: &'static [&'static str], why: &'static str) -> Word {
    Word { word, operands, meaning: Meaning::Refused(why), differs: "" }
}

const EXTREMUM: &str =
    "NaN if either operand is NaN, where C's gives the other; −0 < +0, which C leaves open";
const NO_SUCH: &str = "there is no such operation";
const NAN_TEST: &str = "no operation tells a NaN, or the sign of one";
const FORM: &str = "a formula of numbers has no such form";
const LOOP: &str = "a track has no loops";
const TENSOR: &str = "a track is one number, not an array";

/// Every word with operands, but for comparisons and connectives.
#[rustfmt::skip]
pub const WORDS: &[Word] = &[
    word("+", XY, Op::ADD),
    word("-", X, Op::NEG),
    word("-", XY, Op::SUB),
    word("*", XY, Op::MUL),
    word("/", XY, Op::DIV),
    word("fabs", X, Op::ABS),
    word("sqrt", X, Op::SQRT),
    word("exp", X, Op::EXP),
    word("exp2", X, Op::EXP2),
    word("log", X, Op::LN),
    word("pow", XY, Op::POW),
    word("sin", X, Op::SIN),
    word("cos", X, Op::COS),
    word("tan", X, Op::TAN),
    word("asin", X, Op::ASIN),
    word("acos", X, Op::ACOS),
    word("atan", X, Op::ATAN),
    word("atan2", XY, Op::ATAN2),
    word("sinh", X, Op::SINH),
    word("cosh", X, Op::COSH),
    word("tanh", X, Op::TANH),
    word("hypot", XY, Op::HYPOT),
    word("floor", X, Op::FLOOR),
    word("ceil", X, Op::CEIL),
    word("nearbyint", X, Op::ROUND),
    Word { word: "fmin", operands: XY, meaning: Meaning::Op(Op::MIN), differs: EXTREMUM },
    Word { word: "fmax", operands: XY, meaning: Meaning::Op(Op::MAX), differs: EXTREMUM },
    formula("trunc", X, "select(step(0, x), floor(x), ceil(x))"),
    formula("fdim", XY, "select(step(x, y), 0, x - y)"),
    formula("fmod", XY, "select(x, select(step(0, x), mod(abs(x), abs(y)), -mod(abs(x), abs(y))), x*mod(abs(x), abs(y)))"),
    refused("fma", &["x", "y", "z"], "a product and a sum are rounded apart here"),
    refused("round", X, "it takes ties away from 0, and ours takes them to even, which is nearbyint"),
    refused("remainder", XY, NO_SUCH),
    refused("copysign", XY, NAN_TEST),
    refused("expm1", X, NO_SUCH),
    refused("log1p", X, NO_SUCH),
    refused("log2", X, NO_SUCH),
    refused("log10", X, NO_SUCH),
    refused("cbrt", X, NO_SUCH),
    refused("asinh", X, NO_SUCH),
    refused("acosh", X, NO_SUCH),
    refused("atanh", X, NO_SUCH),
    refused("erf", X, NO_SUCH),
    refused("erfc", X, NO_SUCH),
    refused("tgamma", X, NO_SUCH),
    refused("lgamma", X, NO_SUCH),
    refused("isnan", X, NAN_TEST),
    refused("isinf", X, NAN_TEST),
    refused("isfinite", X, NAN_TEST),
    refused("isnormal", X, NAN_TEST),
    refused("signbit", X, NAN_TEST),
    refused("cast", X, "all numbers are binary64"),
    refused("while", &[], LOOP),
    refused("while*", &[], LOOP),
    refused("for", &[], LOOP),
    refused("for*", &[], LOOP),
    refused("tensor", &[], TENSOR),
    refused("tensor*", &[], TENSOR),
    refused("array", &[], TENSOR),
    refused("ref", &[], TENSOR),
    refused("dim", &[], TENSOR),
    refused("size", &[], TENSOR),
    refused("digits", &[], FORM),
];

/// The words for a comparison of neighbours.
pub const COMPARISONS: &[&str] = &["<", "<=", ">", ">=", "==", "!="];
/// The words that join truth values.
pub const CONNECTIVES: &[&str] = &["and", "or", "not"];
/// The words that hold other forms.
pub const FORMS: &[&str] = &["if", "let", "let*", "!"];

/// The constants, each the double nearest to it.
pub const CONSTANTS: &[(&str, f64)] = &[
    ("E", consts::E),
    ("LOG2E", consts::LOG2_E),
    ("LOG10E", consts::LOG10_E),
    ("LN2", consts::LN_2),
    ("LN10", consts::LN_10),
    ("PI", consts::PI),
    ("PI_2", consts::FRAC_PI_2),
    ("PI_4", consts::FRAC_PI_4),
    ("M_1_PI", consts::FRAC_1_PI),
    ("M_2_PI", consts::FRAC_2_PI),
    ("M_2_SQRTPI", consts::FRAC_2_SQRT_PI),
    ("SQRT2", consts::SQRT_2),
    ("SQRT1_2", consts::FRAC_1_SQRT_2),
    ("INFINITY", f64::INFINITY),
    ("NAN", f64::NAN),
];

/// Whether a name means something that is no variable.
pub(super) fn is_reserved(name: &str) -> bool {
    name == "TRUE" || name == "FALSE" || CONSTANTS.iter().any(|(own, _)| *own == name)
}

/// All words that may stand first in a list.
pub(super) fn all() -> impl Iterator<Item = &'static str> {
    let words = WORDS.iter().filter(|row| !matches!(row.meaning, Meaning::Refused(_))).map(|row| row.word);
    words.chain([COMPARISONS, CONNECTIVES, FORMS].into_iter().flatten().copied())
}

/// The rows of a word, one for each number of operands.
pub(super) fn rows(word: &str) -> impl Iterator<Item = &'static Word> {
    WORDS.iter().filter(move |row| row.word == word)
}

/// The formulas of the table, read; the operands are free parameters.
pub(super) fn read_formula(row: &Word) -> Option<&'static Track> {
    static FORMULAS: LazyLock<HashMap<&str, Track>> = LazyLock::new(|| {
        let read = |row: &Word| match row.meaning {
            Meaning::Formula(text) => {
                let names = Names::new().starts(row.operands.iter().map(|name| (name, 0.0)));
                Some((row.word, Track::parse_with(text, &names).ok()?))
            }
            Meaning::Op(_) | Meaning::Refused(_) => None,
        };
        WORDS.iter().filter_map(read).collect()
    });
    FORMULAS.get(row.word)
}

/// The word of an operation.
pub(super) fn of(op: Op) -> Option<&'static str> {
    WORDS.iter().find(|row| row.meaning == Meaning::Op(op)).map(|row| row.word)
}
