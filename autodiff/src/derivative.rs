//! The derivatives of every primitive of [`Scalar`](keyfit_ir::Scalar): one table.
//!
//! A row gives the partial derivatives at the operands, the value `f` being known. All functions are f64's own
//! primitives, correctly rounded; nothing overflows, underflows or cancels on the way to a derivative that a double
//! can hold, but for the mixed second derivative of `pow`, whose terms may cancel as the mathematics has it.
//!
//! Where a derivative does not exist the row says ±∞, or 0 at the origin of `hypot` and `atan2`. `min` and `max` have no
//! rows: they choose an operand (see [`Jet`](crate::Jet)).

use std::f64::consts::LN_2;

use keyfit_ir::Scalar;

/// The derivatives of a function of one operand, given (x, f(x)).
pub(crate) struct Unary {
    /// f′
    pub first: fn(f64, f64) -> f64,
    /// f″
    pub second: fn(f64, f64) -> f64,
}

/// The derivatives of a function of two operands, given (a, b, f(a, b)).
pub(crate) struct Binary {
    /// ∂f/∂a, ∂f/∂b
    pub first: fn(f64, f64, f64) -> [f64; 2],
    /// ∂²f/∂a², ∂²f/∂a∂b, ∂²f/∂b²
    pub second: fn(f64, f64, f64) -> [f64; 3],
}

/// A product in which an exact zero wins: nothing moves, however steep the slope.
#[inline]
pub(crate) fn times(a: f64, b: f64) -> f64 {
    if a == 0.0 || b == 0.0 { 0.0 } else { a * b }
}

/// Functions that are constant between their jumps.
pub(crate) const FLAT: Unary = Unary { first: |_, _| 0.0, second: |_, _| 0.0 };
/// A jump of one operand over the other.
pub(crate) const FLAT2: Binary = Binary { first: |_, _, _| [0.0; 2], second: |_, _, _| [0.0; 3] };

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

pub(crate) const ADD: Binary = Binary { first: |_, _, _| [1.0, 1.0], second: |_, _, _| [0.0; 3] };
pub(crate) const SUB: Binary = Binary { first: |_, _, _| [1.0, -1.0], second: |_, _, _| [0.0; 3] };
pub(crate) const MUL: Binary = Binary { first: |a, b, _| [b, a], second: |_, _, _| [0.0, 1.0, 0.0] };
pub(crate) const DIV: Binary = Binary {
    first: |a, b, _| [1.0 / b, -over_square(a, b, 1.0)],
    second: |a, b, _| [0.0, -1.0 / b / b, 2.0 * over_square(a, b, 1.0) / b],
};
/// d/dy is −⌊x/y⌋; as x = y·⌊x/y⌋ + f that is a difference of two quotients, a whole number.
pub(crate) const MODULO: Binary =
    Binary { first: |x, y, f| [1.0, -(x / y - f / y).round_ties_even()], second: |_, _, _| [0.0; 3] };
/// At the origin the two are 0: a direction that no operand has cannot turn.
pub(crate) const ATAN2: Binary = Binary {
    first: |y, x, _| atan2(y, x),
    second: |y, x, _| {
        let [fy, fx] = atan2(y, x);
        let twist = 2.0 * fy * fx;
        // (y² − x²)/r⁴, whose differences must be taken before anything is rounded
        let r = Scalar::hypot(&x, &y);
        let mixed = if r > 0.0 && r.is_finite() { (y - x) / r * ((y + x) / r) / r / r } else { 0.0 };
        [twist, mixed, -twist]
    },
};
/// At the origin the two are 0, as for [`ATAN2`].
pub(crate) const HYPOT: Binary = Binary {
    first: direction,
    second: |x, y, f| {
        let [fx, fy] = direction(x, y, f);
        if f == 0.0 { [0.0; 3] } else { [fy * fy / f, -fx * fy / f, fx * fx / f] }
    },
};
/// Powers of a negative base exist at whole exponents only, so that base has an infinite slope in the exponent.
pub(crate) const POW: Binary = Binary {
    first: |x, y, f| [lowered(y, x, y, f), times(f, log(x))],
    second: |x, y, f| {
        let g = lowered(1.0, x, y, f);
        [
            lowered(y * (y - 1.0), x, y - 1.0, g),
            times(g, 1.0 + times(y, log(x))),
            times(times(f, log(x)), log(x)),
        ]
    },
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
