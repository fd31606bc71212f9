//! Identities over the reals that move, or avoid, a cancellation: what [`alternatives`](crate::improve::alternatives) tries,
//! and those by which it clears up afterwards. Like [`algebra`](super::algebra) they change bits.

use super::Rule;
use super::algebra::algebra;

/// Equal over the reals wherever both sides are defined; which side is the more accurate depends on the numbers.
#[rustfmt::skip]
pub const RULES: &[Rule] = &[
    // conjugates and quotients
    algebra("real-conjugate-difference", "a - b", "(a * a - b * b) / (a + b)", "the difference of squares"),
    algebra("real-conjugate-sum", "a + b", "(a * a - b * b) / (a - b)", "the difference of squares"),
    algebra("real-difference-of-quotients", "a / b - c / d", "(a * d - b * c) / (b * d)", "over one denominator"),
    algebra("real-sum-of-quotients", "a / b + c / d", "(a * d + b * c) / (b * d)", "over one denominator"),
    algebra("real-quotient-less", "a / b - c", "(a - b * c) / b", "over one denominator"),
    algebra("real-less-quotient", "a - b / c", "(a * c - b) / c", "over one denominator"),
    algebra("real-inverse-roots", "1.0 / sqrt(a) - 1.0 / sqrt(b)", "(b - a) / (sqrt(a) * sqrt(b) * (sqrt(a) + sqrt(b)))", "the conjugate"),
    algebra("real-inverse-second-difference", "1.0 / (x + y) - 2.0 / x + 1.0 / (x - y)", "2.0 * (y * y) / (x * (x + y) * (x - y))", "over one denominator"),
    algebra("real-quotient-of-sum", "(a + b) / b", "a / b + 1.0", "distributive"),
    algebra("real-quotient-of-difference", "(a - b) / b", "a / b - 1.0", "distributive"),
    algebra("real-sqrt-of-quotient", "sqrt(a) / sqrt(b)", "sqrt(a / b)", "where both roots are real"),
    algebra("real-sqrt-of-square-less", "sqrt(x * x - y)", "abs(x) * sqrt(1.0 - y / x / x)", "x² taken out of the root"),
    algebra("real-sqrt-of-square-more", "sqrt(x * x + y)", "abs(x) * sqrt(1.0 + y / x / x)", "x² taken out of the root"),
    algebra("real-root-less", "sqrt(x * x - y) - x", "neg(y) / (sqrt(x * x - y) + x)", "the conjugate"),
    algebra("real-root-of-negative", "neg(x) + sqrt(x * x - y)", "neg(y) / (sqrt(x * x - y) + x)", "the conjugate"),
    algebra("real-negative-root", "neg(x) - sqrt(x * x - y)", "y / (sqrt(x * x - y) - x)", "the conjugate"),
    algebra("real-hypot-of-one", "sqrt(x * x + 1.0)", "hypot(x, 1.0)", "by definition"),
    // exponentials
    algebra("real-exp-less-one", "exp(x) - 1.0", "2.0 * (exp(0.5 * x) * sinh(0.5 * x))", "sinh by exponentials"),
    algebra("real-exp-less-one-by-tanh", "exp(x) - 1.0", "tanh(0.5 * x) * (exp(x) + 1.0)", "tanh by exponentials"),
    algebra("real-one-less-exp", "1.0 - exp(x)", "-2.0 * (exp(0.5 * x) * sinh(0.5 * x))", "sinh by exponentials"),
    algebra("real-exp-difference", "exp(a) - exp(b)", "2.0 * (exp(0.5 * (a + b)) * sinh(0.5 * (a - b)))", "sinh by exponentials"),
    algebra("real-exp-of-double-less-one", "exp(2.0 * x) - 1.0", "(exp(x) - 1.0) * (exp(x) + 1.0)", "the difference of squares"),
    algebra("real-exp-over-exp-less-one", "exp(x) / (exp(x) - 1.0)", "1.0 / (1.0 - exp(neg(x)))", "both multiplied by the inverse"),
    algebra("real-cosh", "exp(x) + exp(neg(x))", "2.0 * cosh(x)", "by definition"),
    algebra("real-sinh", "exp(x) - exp(neg(x))", "2.0 * sinh(x)", "by definition"),
    algebra("real-exp-second-difference", "exp(x) - 2.0 + exp(neg(x))", "4.0 * (sinh(0.5 * x) * sinh(0.5 * x))", "half of the argument"),
    algebra("real-cosh-less-one", "cosh(x) - 1.0", "2.0 * (sinh(0.5 * x) * sinh(0.5 * x))", "half of the argument"),
    // logarithms and powers
    algebra("real-ln-difference", "ln(a) - ln(b)", "ln(a / b)", "where both logarithms are real"),
    // Kahan's: what is lost in 1 + x is lost above and below. max keeps the clearing up from seeing that (1 + x) − 1 is x.
    algebra("real-ln-of-one-more", "ln(1.0 + x)", "select(max(1.0 + x, 1.0 + x) - 1.0, x * (ln(max(1.0 + x, 1.0 + x)) / (max(1.0 + x, 1.0 + x) - 1.0)), x)", "multiplied and divided by x"),
    algebra("real-ln-of-one-less", "ln(1.0 - x)", "select(max(1.0 - x, 1.0 - x) - 1.0, neg(x) * (ln(max(1.0 - x, 1.0 - x)) / (max(1.0 - x, 1.0 - x) - 1.0)), neg(x))", "multiplied and divided by −x"),
    algebra("real-ln-of-quotient", "ln(a / b)", "ln(1.0 + max((a - b) / b, (a - b) / b))", "b taken out"),
    algebra("real-power-difference", "x ^ a - y ^ a", "2.0 * (x ^ (0.5 * a) * y ^ (0.5 * a) * sinh(0.5 * (a * ln(1.0 + max((x - y) / y, (x - y) / y)))))", "sinh by exponentials, for positive x and y"),
    // angles
    algebra("real-one-less-cos", "1.0 - cos(x)", "2.0 * (sin(0.5 * x) * sin(0.5 * x))", "half of the angle"),
    algebra("real-cos-less-one", "cos(x) - 1.0", "-2.0 * (sin(0.5 * x) * sin(0.5 * x))", "half of the angle"),
    algebra("real-tan-of-half", "(1.0 - cos(x)) / sin(x)", "tan(0.5 * x)", "half of the angle"),
    algebra("real-sin-difference", "sin(a) - sin(b)", "2.0 * (cos(0.5 * (a + b)) * sin(0.5 * (a - b)))", "the sum formula"),
    algebra("real-cos-difference", "cos(a) - cos(b)", "-2.0 * (sin(0.5 * (a + b)) * sin(0.5 * (a - b)))", "the sum formula"),
    algebra("real-tan-difference", "tan(a) - tan(b)", "sin(a - b) / (cos(a) * cos(b))", "the sum formula"),
    algebra("real-atan-difference", "atan(a) - atan(b)", "atan2(a - b, 1.0 + a * b)", "the angle between two points"),
    algebra("real-sin-of-sum", "sin(a + b)", "sin(a) * cos(b) + cos(a) * sin(b)", "the sum formula"),
    algebra("real-cos-of-sum", "cos(a + b)", "cos(a) * cos(b) - sin(a) * sin(b)", "the sum formula"),
];

/// By which sums and products are brought to their smallest form.
#[rustfmt::skip]
pub const TIDY: &[Rule] = &[
    algebra("real-add-comm", "a + b", "b + a", "addition is commutative"),
    algebra("real-mul-comm", "a * b", "b * a", "multiplication is commutative"),
    algebra("real-tidy-add-assoc", "a + (b + c)", "a + b + c", "addition is associative"),
    algebra("real-tidy-mul-assoc", "a * (b * c)", "a * b * c", "multiplication is associative"),
    algebra("real-sub-is-add-neg", "a - b", "a + neg(b)", "by definition"),
    algebra("real-neg-neg", "neg(neg(x))", "x", "inverse"),
    algebra("real-neg-of-sum", "neg(a + b)", "neg(a) + neg(b)", "distributive"),
    algebra("real-neg-of-product", "neg(a) * b", "neg(a * b)", "distributive"),
    algebra("real-neg-of-numerator", "neg(a) / b", "neg(a / b)", "distributive"),
    algebra("real-neg-of-denominator", "a / neg(b)", "neg(a / b)", "distributive"),
    algebra("real-add-neg-self", "x + neg(x)", "0.0", "inverse"),
    algebra("real-tidy-add-zero", "x + 0.0", "x", "0 is neutral"),
    algebra("real-mul-one", "x * 1.0", "x", "1 is neutral"),
    algebra("real-tidy-mul-zero", "x * 0.0", "0.0", "0 absorbs"),
    algebra("real-div-one", "x / 1.0", "x", "1 is neutral"),
    algebra("real-tidy-div-self", "x / x", "1.0", "inverse"),
    algebra("real-double", "x + x", "2.0 * x", "distributive"),
    algebra("real-tidy-distribute", "a * (b + c)", "a * b + a * c", "distributive"),
    algebra("real-tidy-factor", "a * b + a * c", "a * (b + c)", "distributive"),
    algebra("real-tidy-div-of-div", "a / b / c", "a / (b * c)", "inverse"),
    algebra("real-div-by-div", "a / (b / c)", "a * c / b", "inverse"),
    algebra("real-mul-of-div", "a * (b / c)", "a * b / c", "associative"),
    algebra("real-cancel", "a * c / (b * c)", "a / b", "inverse"),
    algebra("real-cancel-numerator", "a * b / b", "a", "inverse"),
    algebra("real-cancel-denominator", "a / (a * b)", "1.0 / b", "inverse"),
    algebra("real-tidy-square-of-sqrt", "sqrt(x) * sqrt(x)", "x", "by definition"),
    algebra("real-tidy-exp-of-sum", "exp(a) * exp(b)", "exp(a + b)", "a homomorphism"),
    algebra("real-square-of-power", "x ^ 2.0", "x * x", "by definition"),
];
