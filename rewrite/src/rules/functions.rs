//! Functions, mixtures and easings.
//!
//! Every function is correctly rounded, so an exact identity between two of them, or with IEEE arithmetic, holds bit for
//! bit where each side is rounded once.

use super::Evidence::{Definition, Lemma, Rounding, Smt};
use super::{Rule, sound, when};
use crate::condition::Condition::{AtMost, Of};
use crate::condition::Need::{Finite, NotNan, NotNegativeZero, SignClear, SignSet, Whole, Within};

/// Whole numbers up to here have whole sums.
const WHOLE: f64 = 4503599627370496.0;

#[rustfmt::skip]
pub(super) const RULES: &[Rule] = &[
    // odd and even functions
    sound("sin-neg", "sin(neg(x))", "neg(sin(x))", Rounding, "sin is odd, and rounding is symmetric"),
    sound("tan-neg", "tan(neg(x))", "neg(tan(x))", Rounding, "tan is odd, and rounding is symmetric"),
    sound("asin-neg", "asin(neg(x))", "neg(asin(x))", Rounding, "asin is odd, and rounding is symmetric"),
    sound("atan-neg", "atan(neg(x))", "neg(atan(x))", Rounding, "atan is odd, and rounding is symmetric"),
    sound("sinh-neg", "sinh(neg(x))", "neg(sinh(x))", Rounding, "sinh is odd, and rounding is symmetric"),
    sound("tanh-neg", "tanh(neg(x))", "neg(tanh(x))", Rounding, "tanh is odd, and rounding is symmetric"),
    sound("cos-neg", "cos(neg(x))", "cos(x)", Rounding, "cos is even"),
    sound("cosh-neg", "cosh(neg(x))", "cosh(x)", Rounding, "cosh is even"),
    sound("cos-abs", "cos(abs(x))", "cos(x)", Rounding, "cos is even"),
    sound("cosh-abs", "cosh(abs(x))", "cosh(x)", Rounding, "cosh is even"),
    sound("abs-asin", "abs(asin(x))", "asin(abs(x))", Rounding, "asin is odd and has the sign of x"),
    sound("abs-atan", "abs(atan(x))", "atan(abs(x))", Rounding, "atan is odd and has the sign of x"),
    sound("abs-sinh", "abs(sinh(x))", "sinh(abs(x))", Rounding, "sinh is odd and has the sign of x"),
    sound("abs-tanh", "abs(tanh(x))", "tanh(abs(x))", Rounding, "tanh is odd and has the sign of x"),
    sound("sign-atan", "sign(atan(x))", "sign(x)", Rounding, "atan has the sign of x, and no non-zero x gives zero"),
    sound("sign-sinh", "sign(sinh(x))", "sign(x)", Rounding, "sinh has the sign of x, and no non-zero x gives zero"),
    sound("sign-tanh", "sign(tanh(x))", "sign(x)", Rounding, "tanh has the sign of x, and no non-zero x gives zero"),
    sound("abs-exp", "abs(exp(x))", "exp(x)", Rounding, "exp is not negative; underflow gives +0"),
    sound("abs-exp2", "abs(exp2(x))", "exp2(x)", Rounding, "exp2 is not negative; underflow gives +0"),
    sound("abs-cosh", "abs(cosh(x))", "cosh(x)", Rounding, "cosh is at least 1"),
    sound("abs-acos", "abs(acos(x))", "acos(x)", Rounding, "acos is not negative; acos(1) is +0"),
    // angles and lengths
    sound("atan2-neg", "atan2(neg(y), x)", "neg(atan2(y, x))", Rounding, "odd in y, and rounding is symmetric"),
    sound("atan2-one", "atan2(y, 1.0)", "atan(y)", Rounding, "the angle of (1, y)"),
    when("atan2-zero", "atan2(0.0, x)", "0.0", &[Of("x", SignClear), Of("x", NotNan)], Definition, "IEEE 754-2019's special case"),
    when("atan2-negzero", "atan2(-0.0, x)", "-0.0", &[Of("x", SignClear), Of("x", NotNan)], Definition, "IEEE 754-2019's special case"),
    when("atan2-behind", "atan2(0.0, x)", "pi", &[Of("x", SignSet), Of("x", NotNan)], Definition, "IEEE 754-2019's special case"),
    sound("hypot-comm", "hypot(x, y)", "hypot(y, x)", Rounding, "x^2 + y^2 is symmetric"),
    sound("hypot-neg-left", "hypot(neg(x), y)", "hypot(x, y)", Rounding, "x^2 is even"),
    sound("hypot-neg-right", "hypot(x, neg(y))", "hypot(x, y)", Rounding, "y^2 is even"),
    sound("hypot-abs-left", "hypot(abs(x), y)", "hypot(x, y)", Rounding, "x^2 is even"),
    sound("hypot-abs-right", "hypot(x, abs(y))", "hypot(x, y)", Rounding, "y^2 is even"),
    sound("hypot-zero", "hypot(x, 0.0)", "abs(x)", Rounding, "the root of x^2 is |x|, exactly"),
    sound("hypot-negzero", "hypot(x, -0.0)", "abs(x)", Rounding, "the root of x^2 is |x|, exactly"),
    sound("abs-hypot", "abs(hypot(x, y))", "hypot(x, y)", Rounding, "a length is not negative"),
    // powers
    sound("pow-zero", "x ^ 0.0", "1.0", Definition, "IEEE 754-2019: even for NaN"),
    sound("pow-negzero", "x ^ -0.0", "1.0", Definition, "IEEE 754-2019: even for NaN"),
    sound("one-pow", "1.0 ^ x", "1.0", Definition, "IEEE 754-2019: even for NaN"),
    sound("pow-one", "x ^ 1.0", "x", Rounding, "x itself"),
    sound("pow-two", "x ^ 2.0", "x * x", Rounding, "the square rounded once"),
    sound("pow-minus-one", "x ^ -1.0", "1.0 / x", Rounding, "the reciprocal rounded once"),
    when("pow-half", "x ^ 0.5", "sqrt(x)", &[Of("x", SignClear)], Rounding, "the root rounded once; -0 and -inf have special cases of their own"),
    sound("two-pow", "2.0 ^ x", "exp2(x)", Rounding, "the same function"),
    sound("pow-four-neg", "neg(x) ^ 4.0", "x ^ 4.0", Rounding, "even"),
    sound("pow-four-abs", "abs(x) ^ 4.0", "x ^ 4.0", Rounding, "even"),
    sound("pow-three-neg", "neg(x) ^ 3.0", "neg(x ^ 3.0)", Rounding, "odd, and rounding is symmetric"),
    sound("pow-minus-two-neg", "neg(x) ^ -2.0", "x ^ -2.0", Rounding, "even"),
    sound("pow-minus-two-abs", "abs(x) ^ -2.0", "x ^ -2.0", Rounding, "even"),
    // mixtures
    sound("mix-definition", "a + (b - a) * u", "mix(a, b, u)", Definition, "the operation is defined so"),
    when("mix-start", "mix(a, b, 0.0)", "a", &[Of("b - a", Finite), Of("a", NotNegativeZero)], Smt, "a plus a zero"),
    sound("mix-end-as-written", "mix(a, b, 1.0)", "a + (b - a)", Lemma, "mul-one inside"),
    when("mix-end-whole", "mix(a, b, 1.0)", "b",
        &[Of("a", Whole), Of("b", Whole), Of("a", Within(-WHOLE, WHOLE)), Of("b", Within(-WHOLE, WHOLE)), Of("b", NotNegativeZero), Of("a", NotNan)], Lemma,
        "differences of whole numbers up to 2^52 are exact; a zero sum is +0"),
    when("mix-end-near", "mix(a, b, 1.0)", "b",
        &[AtMost("b * 0.5", "a"), AtMost("a", "b * 2.0"), Of("b", Within(1e-300, 1e300)), Of("a", NotNan)], Smt,
        "b - a is exact where a and b are within a factor of 2 (Sterbenz)"),
    when("mix-same", "mix(a, a, u)", "a", &[Of("a", Finite), Of("u", Finite), Of("a", NotNegativeZero)], Smt, "a plus a zero"),
    when("mix-from-zero", "mix(0.0, b, u)", "b * u", &[Of("b * u", NotNegativeZero)], Lemma, "sub-zero inside, then 0 + b*u is b*u; -0 would become +0"),
    sound("mix-unit-as-written", "mix(0.0, 1.0, u)", "u + 0.0", Smt, "0 + 1*u"),
    when("mix-unit", "mix(0.0, 1.0, u)", "u", &[Of("u", NotNegativeZero)], Smt, "0 + 1*u; -0 would become +0"),
    sound("mix-unit-back", "mix(1.0, 0.0, u)", "1.0 - u", Smt, "1 + -1*u"),
    // easings
    sound("smoothstep-unit", "smoothstep(0.0, 1.0, x)", "smooth(x)", Definition, "(x - 0)/(1 - 0) is x; the same formula behind it"),
    sound("smoothstep-edge", "smoothstep(e, e, x)", "step(e, x)", Definition, "the operation is defined so"),
    sound("quad-in", "clamp(x, 0.0, 1.0) * clamp(x, 0.0, 1.0)", "quad_in(x)", Definition, "u*u reaches 0 and 1 exactly"),
    sound("cubic-in", "(clamp(x, 0.0, 1.0) * clamp(x, 0.0, 1.0)) * clamp(x, 0.0, 1.0)", "cubic_in(x)", Definition, "(u*u)*u reaches 0 and 1 exactly"),
    sound("quart-in", "(clamp(x, 0.0, 1.0) * clamp(x, 0.0, 1.0)) * (clamp(x, 0.0, 1.0) * clamp(x, 0.0, 1.0))", "quart_in(x)", Definition, "(u*u)*(u*u) reaches 0 and 1 exactly"),
    sound("cubic-from-quad", "quad_in(x) * clamp(x, 0.0, 1.0)", "cubic_in(x)", Definition, "(u*u)*u"),
    sound("quart-from-quad", "quad_in(x) * quad_in(x)", "quart_in(x)", Definition, "(u*u)*(u*u)"),
    sound("quint-from-quart", "quart_in(x) * clamp(x, 0.0, 1.0)", "quint_in(x)", Definition, "((u*u)*(u*u))*u"),
    sound("quad-out", "1.0 - quad_in(1.0 - clamp(x, 0.0, 1.0))", "quad_out(x)", Definition, "1 - f(1 - u)"),
    sound("cubic-out", "1.0 - cubic_in(1.0 - clamp(x, 0.0, 1.0))", "cubic_out(x)", Definition, "1 - f(1 - u)"),
    sound("quart-out", "1.0 - quart_in(1.0 - clamp(x, 0.0, 1.0))", "quart_out(x)", Definition, "1 - f(1 - u)"),
    sound("quint-out", "1.0 - quint_in(1.0 - clamp(x, 0.0, 1.0))", "quint_out(x)", Definition, "1 - f(1 - u)"),
    sound("bounce-in", "1.0 - bounce_out(1.0 - clamp(x, 0.0, 1.0))", "bounce_in(x)", Definition, "1 - f(1 - u)"),
    sound("smooth", "quad_in(x) * (3.0 - 2.0 * clamp(x, 0.0, 1.0))", "smooth(x)", Definition, "u*u*(3 - 2u) reaches 0 and 1 exactly"),
    sound("sine-out", "sin(pi * clamp(x, 0.0, 1.0) / 2.0)", "sine_out(x)", Definition, "sin(pi*u/2) reaches 0 and 1 exactly"),
    sound("sine-in-out", "sine_out(x) * sine_out(x)", "sine_in_out(x)", Definition, "the square of sine-out"),
    sound("circ-out", "sqrt(clamp(x, 0.0, 1.0) * (2.0 - clamp(x, 0.0, 1.0)))", "circ_out(x)", Definition, "reaches 0 and 1 exactly"),
    sound("circ-in", "quad_in(x) / (1.0 + sqrt((1.0 - clamp(x, 0.0, 1.0)) * (1.0 + clamp(x, 0.0, 1.0))))", "circ_in(x)", Definition, "reaches 0 and 1 exactly"),
];
