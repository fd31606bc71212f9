//! The derivatives of every primitive of [`Scalar`](keyfit_ir::Scalar): one table.
//!
//! A row gives the partial derivatives at the operands, the value `f` being known. All functions are f64's own
//! primitives, correctly rounded; nothing overflows, underflows or cancels on the way to a derivative that a double
//! can hold, but for the mixed second derivative of `pow`, whose terms may cancel as the mathematics has it.
//!
//! Where a derivative does not exist the row says ±∞, or 0 at the origin of `hypot` and `atan2`. `min` and `max` have no
//! rows: they choose an operand (see [`Jet`](crate::Jet)).

use std::f64::consts::LN_2;

use keyfit_ir::{Op, Scalar};

/// The derivatives of a function of one operand, given (x, f(x)).
pub(crate) struct Unary {
    /// f′
    pub first: fn(f64, f64) -> f64,
    /// f″
    pub second: fn(f64, f64) -> f64,
}

/// A derivative of a function of two operands, given (a, b, f(a, b)).
pub(crate) type By = fn(f64, f64, f64) -> f64;

/// The derivatives of a function of two operands. Each by itself: a power's by its exponent costs a logarithm.
pub(crate) struct Binary {
    /// ∂f/∂a, ∂f/∂b
    pub first: [By; 2],
    /// ∂²f/∂a², ∂²f/∂a∂b, ∂²f/∂b²
    pub second: [By; 3],
}

const ZERO: By = |_, _, _| 0.0;
const ONE: By = |_, _, _| 1.0;

/// A product in which an exact zero wins: nothing moves, however steep the slope.
#[inline]
pub(crate) fn times(a: f64, b: f64) -> f64 {
    if a == 0.0 || b == 0.0 { 0.0 } else { a * b }
}

/// Functions that are constant between their jumps.
pub(crate) const FLAT: Unary = Unary { first: |_, _| 0.0, second: |_, _| 0.0 };
/// A jump of one operand over the other.
pub(crate) const FLAT2: Binary = Binary { first: [ZERO; 2], second: [ZERO; 3] };

pub(crate) const NEG: Unary = Unary { first: |_, _| -1.0, second: |_, _| 0.0 };
/// The right-hand branch at both zeros.
pub(crate) const ABS: Unary = Unary { first: |x, _| if x < 0.0 { -1.0 } else { 1.0 }, second: |_, _| 0.0 };
/// √−0 is −0, but its slope is +∞ as at +0.
pub(crate) const SQRT: Unary =
    Unary { first: |_, f| 0.5 / f.abs(), second: |x, f| -0.25 / x.abs() / f.abs() };
pub(crate) const EXP: Unary = Unary { first: |_, f| f, second: |_, f| f };
pub(crate) const EXP2: Unary = Unary { first: |_, f| f * LN_2, second: |_, f| f * LN_2 * LN_2 };
/// `x + 0.0` makes one zero of the two.
pub(crate) const LN: Unary = Unary { first: |x, _| 1.0 / (x + 0.0), second: |x, _| -1.0 / x / x };
pub(crate) const SIN: Unary = Unary { first: |x, _| Scalar::cos(&x), second: |_, f| -f };
pub(crate) const COS: Unary = Unary { first: |x, _| -Scalar::sin(&x), second: |_, f| -f };
pub(crate) const TAN: Unary = Unary { first: |_, f| 1.0 + f * f, second: |_, f| 2.0 * f * (1.0 + f * f) };
pub(crate) const ASIN: Unary =
    Unary { first: |x, _| 1.0 / one_minus_square(x).sqrt(), second: |x, _| asin2(x) };
pub(crate) const ACOS: Unary =
    Unary { first: |x, _| -1.0 / one_minus_square(x).sqrt(), second: |x, _| -asin2(x) };
pub(crate) const ATAN: Unary = Unary {
    first: |x, _| {
        if x.abs() <= 1.0 {
            1.0 / (1.0 + x * x)
        } else {
            let r = 1.0 / x;
            r * r / (1.0 + r * r)
        }
    },
    // −2 · x/(1 + x²) · f′
    second: |x, f| {
        let q = if x.abs() <= 1.0 { x / (1.0 + x * x) } else { 1.0 / (x + 1.0 / x) };
        -2.0 * q * (ATAN.first)(x, f)
    },
};
pub(crate) const SINH: Unary = Unary { first: |x, _| Scalar::cosh(&x), second: |_, f| f };
pub(crate) const COSH: Unary = Unary { first: |x, _| Scalar::sinh(&x), second: |_, f| f };
pub(crate) const TANH: Unary = Unary {
    first: |x, _| {
        let sech = 1.0 / Scalar::cosh(&x); // 0 where cosh overflows
        sech * sech
    },
    second: |x, f| -2.0 * f * (TANH.first)(x, f),
};

pub(crate) const ADD: Binary = Binary { first: [ONE, ONE], second: [ZERO; 3] };
pub(crate) const SUB: Binary = Binary { first: [ONE, |_, _, _| -1.0], second: [ZERO; 3] };
pub(crate) const MUL: Binary = Binary { first: [|_, b, _| b, |a, _, _| a], second: [ZERO, ONE, ZERO] };
pub(crate) const DIV: Binary = Binary {
    first: [|_, b, _| 1.0 / b, |a, b, _| -over_square(a, b, 1.0)],
    second: [ZERO, |_, b, _| -1.0 / b / b, |a, b, _| 2.0 * over_square(a, b, 1.0) / b],
};
/// d/dy is −⌊x/y⌋; as x = y·⌊x/y⌋ + f that is a difference of two quotients, a whole number.
pub(crate) const MODULO: Binary =
    Binary { first: [ONE, |x, y, f| -(x / y - f / y).round_ties_even()], second: [ZERO; 3] };
/// At the origin the two are 0: a direction that no operand has cannot turn.
pub(crate) const ATAN2: Binary = Binary {
    first: [|y, x, _| atan2(y, x)[0], |y, x, _| atan2(y, x)[1]],
    second: [
        |y, x, _| twist(y, x),
        |y, x, _| {
            // (y² − x²)/r⁴, whose differences must be taken before anything is rounded
            let r = Scalar::hypot(&x, &y);
            if r > 0.0 && r.is_finite() { (y - x) / r * ((y + x) / r) / r / r } else { 0.0 }
        },
        |y, x, _| -twist(y, x),
    ],
};
/// At the origin the two are 0, as for [`ATAN2`].
pub(crate) const HYPOT: Binary = Binary {
    first: [|x, y, f| direction(x, y, f)[0], |x, y, f| direction(x, y, f)[1]],
    second: [
        |x, y, f| bend(x, y, f, |[_, fy]| fy * fy),
        |x, y, f| bend(x, y, f, |[fx, fy]| -fx * fy),
        |x, y, f| bend(x, y, f, |[fx, _]| fx * fx),
    ],
};
/// Powers of a negative base exist at whole exponents only, so that base has an infinite slope in the exponent.
pub(crate) const POW: Binary = Binary {
    first: [|x, y, f| lowered(y, x, y, f), |x, _, f| times(f, log(x))],
    second: [
        |x, y, f| lowered(y * (y - 1.0), x, y - 1.0, lowered(1.0, x, y, f)),
        |x, y, f| times(lowered(1.0, x, y, f), 1.0 + times(y, log(x))),
        |x, _, f| times(times(f, log(x)), log(x)),
    ],
};

/// 1 − x² without cancellation near ±1.
fn one_minus_square(x: f64) -> f64 {
    (1.0 - x) * (1.0 + x)
}

fn asin2(x: f64) -> f64 {
    let s = one_minus_square(x);
    x / s / s.sqrt()
}

/// a/(b²·s) for s from 1 to 2; a quotient a/b that lost digits as a subnormal is not used.
fn over_square(a: f64, b: f64, s: f64) -> f64 {
    const SCALE: f64 = (1u64 << 60) as f64;
    let r = a / b;
    if r.abs() < f64::MIN_POSITIVE { a * SCALE / s / b / b / SCALE } else { r / s / b }
}

/// The partials of atan2(y, x) in y and x, (x, −y)/(x² + y²), by the ratio of the smaller to the larger.
fn atan2(y: f64, x: f64) -> [f64; 2] {
    if x == 0.0 && y == 0.0 || x.is_infinite() || y.is_infinite() {
        [0.0; 2]
    } else if x.abs() >= y.abs() {
        let r = y / x;
        let s = 1.0 + r * r;
        [1.0 / s / x, -over_square(y, x, s)]
    } else {
        let r = x / y;
        let s = 1.0 + r * r;
        [over_square(x, y, s), -1.0 / s / y]
    }
}

/// ∂²/∂y² of atan2(y, x), and minus ∂²/∂x².
fn twist(y: f64, x: f64) -> f64 {
    let [fy, fx] = atan2(y, x);
    2.0 * fy * fx
}

/// A second derivative of hypot, f times which is a product of the first ones.
fn bend(x: f64, y: f64, f: f64, product: fn([f64; 2]) -> f64) -> f64 {
    if f == 0.0 { 0.0 } else { product(direction(x, y, f)) / f }
}

/// The unit vector of (x, y), whose length is `f`.
fn direction(x: f64, y: f64, f: f64) -> [f64; 2] {
    if f == 0.0 {
        [0.0; 2]
    } else if f < f64::MIN_POSITIVE {
        // a subnormal length has lost digits
        let (x, y) = (x / f64::MIN_POSITIVE, y / f64::MIN_POSITIVE);
        direction(x, y, Scalar::hypot(&x, &y))
    } else {
        [x / f, y / f]
    }
}

/// ln x, but +∞ for negative x.
fn log(x: f64) -> f64 {
    if x < 0.0 { f64::INFINITY } else { Scalar::ln(&x) }
}

/// c·xⁿ⁻¹, given g = xⁿ: by a division where that keeps its digits.
fn lowered(c: f64, x: f64, n: f64, g: f64) -> f64 {
    if c == 0.0 {
        0.0
    } else if g.is_normal() && (g / x).is_normal() {
        g / x * c
    } else if g.is_normal() && (c / x).is_normal() {
        c / x * g
    } else {
        times(c, Scalar::pow(&x, &(n - 1.0)))
    }
}

/// Writes what `of` makes of the operands a and b and the value f, lane by lane.
#[inline]
fn each_lane([a, b, f]: [&[f64]; 3], out: &mut [f64], of: impl Fn(f64, f64, f64) -> f64) {
    let n = [a.len(), b.len(), f.len()].into_iter().fold(out.len(), usize::min);
    let (a, b, f) = (&a[..n], &b[..n], &f[..n]);
    for (i, slot) in out[..n].iter_mut().enumerate() {
        *slot = of(a[i], b[i], f[i]);
    }
}

macro_rules! primitives {
    ($($unary:ident)+; $($binary:ident)+) => {
        /// Whether [`first_block`] and [`second_block`] know the operation: a primitive that is smooth but for single points.
        pub(crate) fn is_smooth(op: Op) -> bool {
            matches!(op, $(Op::$unary)|+ | $(Op::$binary)|+)
        }

        /// Writes the partial derivative by operand `by` of a smooth operation. `rows` are the operands, the first one twice where
        /// there is one, and the values.
        pub(crate) fn first_block(op: Op, by: usize, rows: [&[f64]; 3], out: &mut [f64]) {
            match (op, by) {
                $((Op::$unary, _) => each_lane(rows, out, |x, _, f| ($unary.first)(x, f)),)+
                $((Op::$binary, 0) => each_lane(rows, out, $binary.first[0]),
                (Op::$binary, _) => each_lane(rows, out, $binary.first[1]),)+
                _ => {}
            }
        }

        /// The same for a second derivative: 0 for twice by the first operand, 1 for the mixed one, 2 for twice by the second.
        pub(crate) fn second_block(op: Op, which: usize, rows: [&[f64]; 3], out: &mut [f64]) {
            match (op, which) {
                $((Op::$unary, _) => each_lane(rows, out, |x, _, f| ($unary.second)(x, f)),)+
                $((Op::$binary, 0) => each_lane(rows, out, $binary.second[0]),
                (Op::$binary, 1) => each_lane(rows, out, $binary.second[1]),
                (Op::$binary, _) => each_lane(rows, out, $binary.second[2]),)+
                _ => {}
            }
        }
    };
}
primitives! {
    NEG ABS SQRT EXP EXP2 LN SIN COS TAN ASIN ACOS ATAN SINH COSH TANH;
    ADD SUB MUL DIV POW ATAN2 HYPOT
}
