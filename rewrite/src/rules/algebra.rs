//! Rules that hold over the reals and change bits: for derivatives and for study. [`simplify`](crate::simplify) never
//! uses them.

use super::{Rule, Sides, Verdict};

pub(super) const fn algebra(
    name: &'static str,
    left: &'static str,
    right: &'static str,
    why: &'static str,
) -> Rule {
    Rule { name, sides: Sides::Formulas(left, right), when: &[], verdict: Verdict::Algebra, why }
}

/// Equal over the reals wherever both sides are defined.
#[rustfmt::skip]
pub const RULES: &[Rule] = &[
    algebra("real-add-assoc", "(a + b) + c", "a + (b + c)", "addition is associative"),
    algebra("real-mul-assoc", "(a * b) * c", "a * (b * c)", "multiplication is associative"),
    algebra("real-distribute", "a * (b + c)", "a * b + a * c", "multiplication is distributive"),
    algebra("real-add-zero", "x + 0.0", "x", "0 is neutral"),
    algebra("real-zero-sub", "0.0 - x", "neg(x)", "0 is neutral"),
    algebra("real-mul-zero", "x * 0.0", "0.0", "0 absorbs"),
    algebra("real-zero-div", "0.0 / x", "0.0", "0 absorbs"),
    algebra("real-sub-self", "x - x", "0.0", "inverse"),
    algebra("real-div-self", "x / x", "1.0", "inverse"),
    algebra("real-neg-difference", "neg(a - b)", "b - a", "inverse"),
    algebra("real-add-then-sub", "(a + b) - b", "a", "inverse"),
    algebra("real-mul-then-div", "(a * b) / b", "a", "inverse"),
    algebra("real-div-of-div", "(a / b) / c", "a / (b * c)", "inverse"),
    algebra("real-reciprocal", "a / b", "a * (1.0 / b)", "inverse"),
    algebra("real-common-factor", "x + x * y", "x * (1.0 + y)", "distributive"),
    algebra("real-squares", "a * a - b * b", "(a - b) * (a + b)", "distributive"),
    algebra("real-sqrt-square", "sqrt(x * x)", "abs(x)", "by definition"),
    algebra("real-square-of-sqrt", "sqrt(x) * sqrt(x)", "x", "by definition"),
    algebra("real-sqrt-of-product", "sqrt(a) * sqrt(b)", "sqrt(a * b)", "where both roots are real"),
    algebra("real-exp-of-ln", "exp(ln(x))", "x", "inverse functions"),
    algebra("real-ln-of-exp", "ln(exp(x))", "x", "inverse functions"),
    algebra("real-exp-of-sum", "exp(a) * exp(b)", "exp(a + b)", "a homomorphism"),
    algebra("real-exp-of-neg", "1.0 / exp(x)", "exp(neg(x))", "a homomorphism"),
    algebra("real-ln-of-product", "ln(a) + ln(b)", "ln(a * b)", "where both logarithms are real"),
    algebra("real-pythagoras", "sin(x) * sin(x) + cos(x) * cos(x)", "1.0", "the unit circle"),
    algebra("real-tan", "sin(x) / cos(x)", "tan(x)", "by definition"),
    algebra("real-double-angle", "2.0 * (sin(x) * cos(x))", "sin(2.0 * x)", "the sum formula"),
    algebra("real-hypot", "sqrt(x * x + y * y)", "hypot(x, y)", "by definition"),
    algebra("real-pow-sum", "x ^ a * x ^ b", "x ^ (a + b)", "for positive x"),
    algebra("real-pow-of-pow", "(x ^ a) ^ b", "x ^ (a * b)", "for positive x"),
    algebra("real-mix-end", "mix(a, b, 1.0)", "b", "by definition"),
    algebra("real-mix-start", "mix(a, b, 0.0)", "a", "by definition"),
    algebra("real-mix-same", "mix(a, a, u)", "a", "by definition"),
    algebra("real-mix-back", "mix(a, b, 1.0 - u)", "mix(b, a, u)", "by definition"),
];
