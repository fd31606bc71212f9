//! Sums, products, quotients, signs and magnitudes.

use super::Evidence::{Lemma, Rounding, Smt};
use super::{Rule, sound, when};
use crate::condition::Condition::{AtMost, Below, Of};
use crate::condition::Need::{
    Constant, Finite, NotNan, NotNegativeZero, NotPositiveZero, NotZero, PowerOfTwo, SignClear, SignSet,
    Whole, Within,
};

/// Half the greatest number: doubling it is exact.
const HALF_MAX: f64 = f64::MAX / 2.0;
/// A quarter of the greatest number.
const QUARTER_MAX: f64 = f64::MAX / 4.0;
/// Twice the least normal number: halving it is exact.
const TWICE_NORMAL: f64 = f64::MIN_POSITIVE * 2.0;
/// Whole numbers up to here have whole sums.
const WHOLE: f64 = 4503599627370496.0;

#[rustfmt::skip]
pub(super) const RULES: &[Rule] = &[
    // order of operands
    sound("add-comm", "a + b", "b + a", Smt, "IEEE addition is commutative"),
    sound("mul-comm", "a * b", "b * a", Smt, "IEEE multiplication is commutative"),
    // nothing added, taken, multiplied
    sound("add-negzero", "x + -0.0", "x", Smt, "-0 is the neutral element of addition"),
    sound("sub-zero", "x - 0.0", "x", Smt, "x - 0 is x + -0"),
    when("add-zero", "x + 0.0", "x", &[Of("x", NotNegativeZero)], Smt, "only -0 changes, to +0"),
    when("sub-negzero", "x - -0.0", "x", &[Of("x", NotNegativeZero)], Smt, "x - -0 is x + 0"),
    sound("add-zero-twice", "(x + 0.0) + 0.0", "x + 0.0", Smt, "x + 0 is never -0"),
    sound("negzero-sub", "-0.0 - x", "neg(x)", Smt, "-0 is neutral"),
    when("zero-sub", "0.0 - x", "neg(x)", &[Of("x", NotPositiveZero)], Smt, "only +0 differs: 0 - 0 is +0"),
    sound("mul-one", "x * 1.0", "x", Smt, "1 is the neutral element of multiplication"),
    sound("div-one", "x / 1.0", "x", Smt, "the quotient is exact"),
    sound("mul-minus-one", "x * -1.0", "neg(x)", Smt, "the product is exact, zeros change their sign"),
    sound("div-minus-one", "x / -1.0", "neg(x)", Smt, "the quotient is exact"),
    when("mul-zero", "x * 0.0", "0.0", &[Of("x", Finite), Of("x", SignClear)], Smt, "inf * 0 is NaN, -1 * 0 is -0"),
    when("mul-zero-negative", "x * 0.0", "-0.0", &[Of("x", Finite), Of("x", SignSet)], Smt, "the product has the sign of x"),
    when("mul-negzero", "x * -0.0", "-0.0", &[Of("x", Finite), Of("x", SignClear)], Smt, "the product has the other sign"),
    when("mul-negzero-negative", "x * -0.0", "0.0", &[Of("x", Finite), Of("x", SignSet)], Smt, "two signs cancel"),
    when("zero-div", "0.0 / x", "0.0", &[Of("x", NotNan), Of("x", SignClear), Of("x", NotZero)], Smt, "0/0 is NaN, 0/-1 is -0"),
    when("zero-div-negative", "0.0 / x", "-0.0", &[Of("x", NotNan), Of("x", SignSet), Of("x", NotZero)], Smt, "the quotient has the sign of x"),
    when("sub-self", "x - x", "0.0", &[Of("x", Finite)], Smt, "inf - inf is NaN"),
    when("add-neg-self", "x + neg(x)", "0.0", &[Of("x", Finite)], Smt, "inf - inf is NaN"),
    when("div-self", "x / x", "1.0", &[Of("x", Finite), Of("x", NotZero)], Smt, "0/0 and inf/inf are NaN"),
    when("sub-commuted", "(a + b) - (b + a)", "0.0", &[Of("a + b", Finite)], Smt, "both sums are the same number"),
    // minus signs
    sound("neg-neg", "neg(neg(x))", "x", Smt, "a sign bit flipped twice"),
    sound("add-neg", "a + neg(b)", "a - b", Smt, "subtraction is defined so"),
    sound("neg-add", "neg(a) + b", "b - a", Smt, "commuted subtraction"),
    sound("sub-neg", "a - neg(b)", "a + b", Smt, "subtraction is defined so"),
    sound("neg-sub-neg", "neg(a) - neg(b)", "b - a", Smt, "b + -a"),
    sound("neg-sub", "neg(a) - b", "neg(b) - a", Smt, "both are -a + -b"),
    when("neg-sub-sum", "neg(a) - b", "neg(a + b)", &[Of("a + b", NotZero)], Smt, "zeros would differ in sign"),
    when("neg-add-neg", "neg(a) + neg(b)", "neg(a + b)", &[Of("a + b", NotZero)], Smt, "rounding is symmetric; zeros would differ in sign"),
    when("neg-of-difference", "neg(a - b)", "b - a", &[Of("a - b", NotZero)], Lemma, "b - a is -(a - b) before rounding, rounding is symmetric, and the result is not zero"),
    when("neg-of-ordered", "neg(a - b)", "b - a", &[Below("a", "b")], Lemma, "as neg-of-difference; distinct numbers have a non-zero difference with gradual underflow"),
    sound("mul-neg-left", "neg(a) * b", "neg(a * b)", Smt, "the sign of a product is separate"),
    sound("mul-neg-right", "a * neg(b)", "neg(a * b)", Smt, "the sign of a product is separate"),
    sound("mul-neg-neg", "neg(a) * neg(b)", "a * b", Smt, "two signs cancel"),
    sound("div-neg-left", "neg(a) / b", "neg(a / b)", Smt, "the sign of a quotient is separate"),
    sound("div-neg-right", "a / neg(b)", "neg(a / b)", Smt, "the sign of a quotient is separate"),
    sound("div-neg-neg", "neg(a) / neg(b)", "a / b", Smt, "two signs cancel"),
    sound("mul-neg-self", "neg(x) * x", "neg(x * x)", Smt, "the sign of a product is separate"),
    when("neg-mul-constant", "neg(x * c)", "x * neg(c)", &[Of("c", Constant)], Smt, "the constant takes the sign"),
    when("neg-div-constant", "neg(x / c)", "x / neg(c)", &[Of("c", Constant)], Smt, "the constant takes the sign"),
    when("neg-constant-div", "neg(c / x)", "neg(c) / x", &[Of("c", Constant)], Smt, "the constant takes the sign"),
    when("mul-neg-constant", "neg(x) * c", "x * neg(c)", &[Of("c", Constant)], Smt, "the constant takes the sign"),
    when("div-neg-constant", "neg(x) / c", "x / neg(c)", &[Of("c", Constant)], Smt, "the constant takes the sign"),
    when("constant-div-neg", "c / neg(x)", "neg(c) / x", &[Of("c", Constant)], Smt, "the constant takes the sign"),
    when("sub-constant", "x - c", "x + neg(c)", &[Of("c", Constant)], Smt, "subtraction is defined so"),
    when("constant-sub-neg", "neg(x) - c", "neg(c) - x", &[Of("c", Constant)], Smt, "both are -x + -c"),
    // powers of two
    sound("mul-two", "x * 2.0", "x + x", Smt, "doubling is exact or overflows alike"),
    when("div-power-of-two", "x / c", "x * (1.0 / c)", &[Of("c", PowerOfTwo)], Smt, "the reciprocal is exact"),
    sound("halve", "x / 2.0", "x * 0.5", Smt, "the reciprocal is exact"),
    sound("mul-two-two", "(x * 2.0) * 2.0", "x * 4.0", Smt, "doubling is exact or overflows alike"),
    sound("mul-half-half", "(x * 0.5) * 0.5", "x * 0.25", Smt, "halving twice rounds ties alike"),
    sound("div-two-two", "(x / 2.0) / 2.0", "x / 4.0", Smt, "halving twice rounds ties alike"),
    sound("mul-three-two", "(x * 3.0) * 2.0", "x * 6.0", Smt, "doubling behind a rounding is exact"),
    sound("mul-two-three", "(x * 2.0) * 3.0", "x * 6.0", Smt, "doubling before a rounding is exact or overflows alike"),
    sound("mul-three-four", "(x * 3.0) * 4.0", "x * 12.0", Smt, "doubling behind a rounding is exact"),
    sound("mul-five-two", "(x * 5.0) * 2.0", "x * 10.0", Smt, "doubling behind a rounding is exact"),
    sound("mul-two-five", "(x * 2.0) * 5.0", "x * 10.0", Smt, "doubling before a rounding is exact or overflows alike"),
    when("halve-doubled", "(x * 2.0) * 0.5", "x", &[Of("x", Within(-HALF_MAX, HALF_MAX))], Smt, "no overflow on the way"),
    when("halve-sum-of-self", "(x + x) * 0.5", "x", &[Of("x", Within(-HALF_MAX, HALF_MAX))], Smt, "no overflow on the way"),
    when("double-halved", "(x * 0.5) * 2.0", "x", &[Of("abs(x)", Within(TWICE_NORMAL, f64::INFINITY))], Smt, "the half is normal, so exact"),
    when("half-and-half", "x * 0.5 + x * 0.5", "x", &[Of("abs(x)", Within(TWICE_NORMAL, f64::INFINITY))], Smt, "the half is normal, so exact"),
    when("less-its-half", "x - x * 0.5", "x * 0.5", &[Of("x", Finite), Of("abs(x)", Within(TWICE_NORMAL, f64::INFINITY))], Smt, "the half is normal, so exact"),
    when("quarter-of-half", "(x * 0.25) * 0.5", "x * 0.125", &[Of("abs(x)", Within(f64::MIN_POSITIVE * 8.0, f64::INFINITY))], Smt, "nothing is rounded on the way"),
    when("doubled-sum", "a * 2.0 + b * 2.0", "(a + b) * 2.0", &[Of("a", Within(-HALF_MAX, HALF_MAX)), Of("b", Within(-HALF_MAX, HALF_MAX))], Lemma,
        "with a and b exact when doubled, 2a + 2b rounds as 2(a + b): scaling by 2 commutes with rounding, subnormal sums are exact, and both overflow where |a + b| rounds above MAX/2"),
    // multiples
    sound("three", "(x + x) + x", "x * 3.0", Smt, "x + x is exact, so only the last sum is rounded"),
    sound("four", "((x + x) + x) + x", "x * 4.0", Smt, "3x rounded, plus x, rounds to 4x"),
    sound("two-and-two", "(x + x) + (x + x)", "x * 4.0", Smt, "doubling is exact or overflows alike"),
    sound("two-and-one", "x * 2.0 + x", "x * 3.0", Smt, "2x is exact, so only the sum is rounded"),
    sound("four-and-one", "x * 4.0 + x", "x * 5.0", Smt, "4x is exact, so only the sum is rounded"),
    sound("eight-and-one", "x * 8.0 + x", "x * 9.0", Smt, "8x is exact, so only the sum is rounded"),
    when("two-less-one", "x * 2.0 - x", "x", &[Of("x", Within(-HALF_MAX, HALF_MAX)), Of("x", NotNegativeZero)], Smt, "2x is exact; -0 would become +0"),
    when("four-less-one", "x * 4.0 - x", "x * 3.0", &[Of("x", Within(-QUARTER_MAX, QUARTER_MAX)), Of("x", NotNegativeZero)], Smt, "4x is exact; -0 would become +0"),
    // differences that are exact
    when("one-less-one-less", "1.0 - (1.0 - x)", "x", &[Of("x", Within(0.5, 2.0))], Smt, "both differences are exact (Sterbenz)"),
    when("sterbenz", "a - (a - b)", "b",
        &[AtMost("b * 0.5", "a"), AtMost("a", "b * 2.0"), Below("0.0", "b"), Of("b", Within(0.0, HALF_MAX)), Of("a", NotNan)], Lemma,
        "a - b is exact where a and b are within a factor of 2, and then so is a - (a - b)"),
    when("whole-sum-less", "(a + b) - b", "a",
        &[Of("a", Whole), Of("b", Whole), Of("a", Within(-WHOLE, WHOLE)), Of("b", Within(-WHOLE, WHOLE)), Of("a", NotNegativeZero), Of("b", NotNan)], Lemma,
        "sums of whole numbers up to 2^52 are exact; a zero sum of them is +0"),
    when("whole-difference-plus", "(a - b) + b", "a",
        &[Of("a", Whole), Of("b", Whole), Of("a", Within(-WHOLE, WHOLE)), Of("b", Within(-WHOLE, WHOLE)), Of("a", NotNegativeZero), Of("b", NotNan)], Lemma,
        "differences of whole numbers up to 2^52 are exact; a zero sum of them is +0"),
    // magnitudes and signs
    sound("abs-abs", "abs(abs(x))", "abs(x)", Smt, "the sign bit is clear already"),
    sound("abs-neg", "abs(neg(x))", "abs(x)", Smt, "the sign bit does not matter"),
    when("abs-clear", "abs(x)", "x", &[Of("x", SignClear)], Smt, "the sign bit is clear; x >= 0 would let -0 through"),
    when("abs-set", "abs(x)", "neg(x)", &[Of("x", SignSet)], Smt, "the sign bit is set"),
    sound("abs-mul", "abs(a) * abs(b)", "abs(a * b)", Smt, "the sign of a product is separate"),
    sound("abs-div", "abs(a) / abs(b)", "abs(a / b)", Smt, "the sign of a quotient is separate"),
    sound("abs-square", "abs(x * x)", "x * x", Smt, "a square has its sign bit clear"),
    sound("square-abs", "abs(x) * abs(x)", "x * x", Smt, "two signs cancel"),
    sound("abs-difference", "abs(a - b)", "abs(b - a)", Rounding, "b - a is -(a - b) before rounding, and rounding is symmetric"),
    sound("abs-neg-sub", "abs(neg(a) - b)", "abs(a + b)", Smt, "rounding is symmetric"),
    sound("max-neg-self", "max(x, neg(x))", "abs(x)", Smt, "one of them has its sign bit clear"),
    sound("min-neg-self", "min(x, neg(x))", "neg(abs(x))", Smt, "one of them has its sign bit set"),
    sound("max-abs-self", "max(abs(x), x)", "abs(x)", Smt, "x is not above |x|"),
    sound("min-abs-self", "min(abs(x), x)", "x", Smt, "x is not above |x|"),
    when("abs-sqrt", "abs(sqrt(x))", "sqrt(x)", &[Of("x", NotNegativeZero)], Smt, "only sqrt(-0) is -0"),
    sound("sign-sign", "sign(sign(x))", "sign(x)", Smt, "signs are -1, 0 and 1"),
    sound("sign-neg", "sign(neg(x))", "neg(sign(x))", Smt, "odd"),
    sound("sign-times-abs", "sign(x) * abs(x)", "x", Smt, "exact; zeros keep their sign"),
    sound("sign-times-self", "sign(x) * x", "abs(x)", Smt, "exact; two signs cancel"),
    when("sign-positive", "sign(x)", "1.0", &[Of("x", NotNan), Below("0.0", "x")], Smt, "by definition"),
    when("sign-negative", "sign(x)", "-1.0", &[Of("x", NotNan), Below("x", "0.0")], Smt, "by definition"),
    sound("abs-sign", "abs(sign(x))", "sign(abs(x))", Smt, "the sign of a magnitude is 0 or 1"),
    // square roots
    when("sqrt-square", "sqrt(x * x)", "abs(x)", &[Of("abs(x)", Within(1e-150, 1e150))], Lemma,
        "the square is rounded by at most half an ulp, and the root of it rounds back to |x| where nothing overflows or underflows (Boldo)"),
];
