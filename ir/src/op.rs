//! The table of operations: one row an operation.
//!
//! A row holds the name that `describe` prints, the word of the people's languages (a function of formulas, a postfix
//! word of RectSL), an infix sign where there is one (or `ease`: it is an easing), the operands, the meaning over [`Scalar`] and a line of
//! documentation. Parsers, printers, every evaluator, the command line and the tests read this table; there is no
//! second list. A new composite operation is one row, and an arm of `Op::glsl` below, which the compiler demands. A new
//! primitive is also a method of [`Scalar`], which the compiler then demands of every kind of number.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::easing::{self, ease, halves, mirrored};
use crate::expr::Expr;
use crate::glsl::Glsl;
use crate::glsl::prelude as glsl;
use crate::number::Scalar;

/// The largest number of operands of an operation.
pub const MAX_ARITY: usize = 3;

/// How a formula writes an operation between its operands; a higher precedence binds tighter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Infix {
    /// The sign, as in `a + b`.
    pub sign: char,
    /// 1 for sums, 2 for products, 4 for powers; 3 is the unary minus of formulas.
    pub precedence: u8,
    /// Whether `a ^ b ^ c` is `a ^ (b ^ c)`.
    pub right: bool,
}

/// The precedence of a formula's unary minus: below `^`, so that −x² is −(x²), and above `*`.
pub const UNARY_MINUS: u8 = 3;

macro_rules! operations {
    ($($name:ident $word:ident $infix:tt ($($operand:ident),+) = $meaning:expr, $doc:literal;)+) => {
        /// An operation on numbers.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        #[allow(non_camel_case_types)] // the names are those that describe prints
        pub enum Op {
            $(#[doc = $doc] $name,)+
        }

        impl Op {
            /// Every operation, in the order of the table.
            pub const ALL: &[Op] = &[$(Op::$name),+];

            /// The name that `describe` prints, such as `ADD`.
            pub const fn name(self) -> &'static str {
                match self { $(Op::$name => stringify!($name),)+ }
            }

            /// The word for it: a function's name in formulas and a postfix word in RectSL.
            pub fn word(self) -> &'static str {
                // `mod` is a keyword of Rust, so its row says `r#mod`.
                match self { $(Op::$name => stringify!($word).trim_start_matches("r#"),)+ }
            }

            /// The infix form in formulas, if it has one.
            pub const fn infix(self) -> Option<Infix> {
                match self { $(Op::$name => operations!(@infix $infix),)+ }
            }

            /// Whether it is an easing: a curve from (0, 0) to (1, 1), see [`easing`](crate::easing).
            pub const fn is_easing(self) -> bool {
                match self { $(Op::$name => operations!(@easing $infix),)+ }
            }

            /// The operands' names, in order.
            pub const fn operands(self) -> &'static [&'static str] {
                match self { $(Op::$name => &[$(stringify!($operand)),+],)+ }
            }

            /// One line of documentation.
            pub const fn doc(self) -> &'static str {
                match self { $(Op::$name => $doc,)+ }
            }

            /// The operation's meaning. Operands beyond [`Op::arity`] are not looked at.
            #[inline]
            pub fn apply<S: Scalar>(self, operands: [&S; MAX_ARITY]) -> S {
                match self { $(Op::$name => { let [$($operand,)+ ..] = operands; $meaning })+ }
            }

            /// The operation on whole blocks: `out[i]` is [`Op::apply`] of the operands' i-th elements, for as many
            /// as the shortest slice has.
            pub fn apply_block<S: Scalar>(self, operands: [&[S]; MAX_ARITY], out: &mut [S]) {
                let n = operands[..self.arity()].iter().fold(out.len(), |n, x| n.min(x.len()));
                let out = &mut out[..n];
                match self { $(Op::$name => {
                    let [$($operand,)+ ..] = operands;
                    $(let $operand = &$operand[..n];)+
                    for (i, slot) in out.iter_mut().enumerate() {
                        $(let $operand = &$operand[i];)+
                        *slot = $meaning;
                    }
                })+ }
            }
        }

        /// One method an operation, named by its word.
        impl Expr {
            $(operations!{@method $name $word ($($operand),+) $doc})+
        }
    };
    (@infix -) => { None };
    (@infix ease) => { None };
    (@infix [$sign:literal $precedence:literal]) => {
        Some(Infix { sign: $sign, precedence: $precedence, right: $precedence > UNARY_MINUS })
    };
    (@easing ease) => { true };
    (@easing $other:tt) => { false };
    (@method $name:ident $word:ident ($first:ident $(, $rest:ident)*) $doc:literal) => {
        #[doc = $doc]
        #[allow(clippy::should_implement_trait)] // the names are the table's words
        pub fn $word(self $(, $rest: impl Into<Expr>)*) -> Expr {
            Expr::apply(Op::$name, &[self $(, $rest.into())*])
        }
    };
}

operations! {
    // name     word       infix    operands       meaning                                  documentation
    ADD        add        ['+' 1]  (a, b)       = a.add(b),                                "a + b";
    SUB        sub        ['-' 1]  (a, b)       = a.sub(b),                                "a − b";
    MUL        mul        ['*' 2]  (a, b)       = a.mul(b),                                "a · b";
    DIV        div        ['/' 2]  (a, b)       = a.div(b),                                "a ÷ b";
    NEG        neg        -        (x)          = x.neg(),                                 "−x";
    ABS        abs        -        (x)          = x.abs(),                                 "|x|";
    MIN        min        -        (a, b)       = a.min(b),                                "the smaller; NaN if either is NaN; −0 < +0 (IEEE 754-2019 minimum)";
    MAX        max        -        (a, b)       = a.max(b),                                "the larger; NaN if either is NaN; −0 < +0 (IEEE 754-2019 maximum)";
    MOD        r#mod      -        (x, y)       = x.modulo(y),                             "x − y·⌊x/y⌋ of the exact reals, rounded once, never y itself";
    POW        pow        ['^' 4]  (x, y)       = x.pow(y),                                "x to the power y (IEEE 754-2019 pow)";
    SQRT       sqrt       -        (x)          = x.sqrt(),                                "√x";
    EXP        exp        -        (x)          = x.exp(),                                 "eˣ";
    EXP2       exp2       -        (x)          = x.exp2(),                                "2ˣ";
    LN         ln         -        (x)          = x.ln(),                                  "natural logarithm";
    SIN        sin        -        (x)          = x.sin(),                                 "sine of x radians";
    COS        cos        -        (x)          = x.cos(),                                 "cosine of x radians";
    TAN        tan        -        (x)          = x.tan(),                                 "tangent of x radians";
    ASIN       asin       -        (x)          = x.asin(),                                "arc sine, in [−π/2, π/2]";
    ACOS       acos       -        (x)          = x.acos(),                                "arc cosine, in [0, π]";
    ATAN       atan       -        (x)          = x.atan(),                                "arc tangent, in [−π/2, π/2]";
    ATAN2      atan2      -        (y, x)       = y.atan2(x),                              "angle of the point (x, y), in [−π, π]";
    SINH       sinh       -        (x)          = x.sinh(),                                "hyperbolic sine";
    COSH       cosh       -        (x)          = x.cosh(),                                "hyperbolic cosine";
    TANH       tanh       -        (x)          = x.tanh(),                                "hyperbolic tangent";
    HYPOT      hypot      -        (x, y)       = x.hypot(y),                              "√(x² + y²) without overflow on the way";
    FLOOR      floor      -        (x)          = x.floor(),                               "the largest integer ≤ x";
    CEIL       ceil       -        (x)          = x.ceil(),                                "the smallest integer ≥ x";
    ROUND      round      -        (x)          = x.round(),                               "the nearest integer, ties to even";
    FRACT      fract      -        (x)          = x.modulo(&x.lift(1.0)),                  "mod(x, 1), in [0, 1)";
    SIGN       sign       -        (x)          = x.sign(),                                "−1, ±0 or +1, keeping the zero's sign";
    STEP       step       -        (edge, x)    = edge.step(x),                            "1 if x ≥ edge, else 0";
    GATE       gate       -        (x, a, b)    = a.step(x).mul(&x.lift(1.0).sub(&b.step(x))), "1 if a ≤ x < b, else 0";
    CLAMP      clamp      -        (x, lo, hi)  = x.max(lo).min(hi),                       "min(max(x, lo), hi)";
    MIX        mix        -        (a, b, u)    = a.add(&b.sub(a).mul(u)),                 "a + (b − a)·u, as written: mix(a, b, 1) need not be b";
    SMOOTHSTEP smoothstep -        (e0, e1, x)  = smoothstep(e0, e1, x),                   "u·u·(3 − 2u) of u = clamp((x − e0)/(e1 − e0), 0, 1); step(e0, x) if e0 = e1";
    PING_PONG  ping_pong  -        (t, period)  = ping_pong(t, period),                    "there and back: m = mod(t, 2·period); m up to the period, 2·period − m after it";
    UNWRAP     unwrap     -        (x, near, period) = unwrap(x, near, period),            "x − period·⌊(x − near)/period + 0.5⌋: whole turns away from x, at most half a turn from near (below it at a tie)";
    SELECT     select     -        (c, a, b)    = select(c, a, b),                         "a if c ≠ 0, else b; NaN if c is NaN";
    LINEAR     linear     -        (u)          = ease(u, S::clone),                       "u, held to [0, 1]: the easing that a linear segment has";
    // easings; each is 0 up to u = 0 and 1 from u = 1 on
    SINE_IN        sine_in        ease (u) = ease(u, easing::sine_in),                            "easing sine-in: 2·sin²(π·u/4)";
    SINE_OUT       sine_out       ease (u) = ease(u, easing::sine_out),                           "easing sine-out: sin(π·u/2)";
    SINE_IN_OUT    sine_in_out    ease (u) = ease(u, easing::sine_in_out),                        "easing sine-in-out: sin²(π·u/2)";
    QUAD_IN        quad_in        ease (u) = ease(u, easing::quad),                               "easing quad-in: u²";
    QUAD_OUT       quad_out       ease (u) = ease(u, |u| mirrored(u, easing::quad)),              "easing quad-out: 1 − (1 − u)²";
    QUAD_IN_OUT    quad_in_out    ease (u) = ease(u, |u| halves(u, easing::quad)),                "easing quad-in-out: two halves of quad-in";
    CUBIC_IN       cubic_in       ease (u) = ease(u, easing::cubic),                              "easing cubic-in: u³";
    CUBIC_OUT      cubic_out      ease (u) = ease(u, |u| mirrored(u, easing::cubic)),             "easing cubic-out: 1 − (1 − u)³";
    CUBIC_IN_OUT   cubic_in_out   ease (u) = ease(u, |u| halves(u, easing::cubic)),               "easing cubic-in-out: two halves of cubic-in";
    QUART_IN       quart_in       ease (u) = ease(u, easing::quart),                              "easing quart-in: u⁴";
    QUART_OUT      quart_out      ease (u) = ease(u, |u| mirrored(u, easing::quart)),             "easing quart-out: 1 − (1 − u)⁴";
    QUART_IN_OUT   quart_in_out   ease (u) = ease(u, |u| halves(u, easing::quart)),               "easing quart-in-out: two halves of quart-in";
    QUINT_IN       quint_in       ease (u) = ease(u, easing::quint),                              "easing quint-in: u⁵";
    QUINT_OUT      quint_out      ease (u) = ease(u, |u| mirrored(u, easing::quint)),             "easing quint-out: 1 − (1 − u)⁵";
    QUINT_IN_OUT   quint_in_out   ease (u) = ease(u, |u| halves(u, easing::quint)),               "easing quint-in-out: two halves of quint-in";
    EXPO_IN        expo_in        ease (u) = ease(u, easing::expo_in),                            "easing expo-in: 2^(10·u − 10), 0 at 0";
    EXPO_OUT       expo_out       ease (u) = ease(u, easing::expo_out),                           "easing expo-out: 1 − 2^(−10·u), 1 at 1";
    EXPO_IN_OUT    expo_in_out    ease (u) = ease(u, |u| halves(u, easing::expo_in)),             "easing expo-in-out: two halves of expo-in";
    CIRC_IN        circ_in        ease (u) = ease(u, easing::circ_in),                            "easing circ-in: 1 − √(1 − u²)";
    CIRC_OUT       circ_out       ease (u) = ease(u, easing::circ_out),                           "easing circ-out: √(u·(2 − u))";
    CIRC_IN_OUT    circ_in_out    ease (u) = ease(u, |u| halves(u, easing::circ_in)),             "easing circ-in-out: two halves of circ-in";
    BACK_IN        back_in        ease (u) = ease(u, easing::back),                               "easing back-in: u²·((s + 1)·u − s), s = 1.70158";
    BACK_OUT       back_out       ease (u) = ease(u, |u| mirrored(u, easing::back)),              "easing back-out: back-in mirrored";
    BACK_IN_OUT    back_in_out    ease (u) = ease(u, |u| halves(u, easing::back_wide)),           "easing back-in-out: two halves of back-in with s·1.525";
    ELASTIC_IN     elastic_in     ease (u) = ease(u, easing::elastic_in),                         "easing elastic-in: −2^(10·u − 10)·sin((10·u − 10.75)·(2π/3)), 0 at 0";
    ELASTIC_OUT    elastic_out    ease (u) = ease(u, easing::elastic_out),                        "easing elastic-out: 2^(−10·u)·sin((10·u − 0.75)·(2π/3)) + 1, 1 at 1";
    ELASTIC_IN_OUT elastic_in_out ease (u) = ease(u, |u| halves(u, easing::elastic_wide)),        "easing elastic-in-out: two halves of elastic-in with the period 4.5 for 3";
    BOUNCE_IN      bounce_in      ease (u) = ease(u, easing::bounce_in),                          "easing bounce-in: bounce-out mirrored";
    BOUNCE_OUT     bounce_out     ease (u) = ease(u, easing::bounce_out),                         "easing bounce-out: 7.5625·(u − c)² + f, four parabolas";
    BOUNCE_IN_OUT  bounce_in_out  ease (u) = ease(u, |u| halves(u, easing::bounce_in)),           "easing bounce-in-out: two halves of bounce-in";
    SMOOTH         smooth         ease (u) = ease(u, easing::smooth),                             "easing smooth: u²·(3 − 2·u), as smoothstep(0, 1, u)";
}

/// One of two values as it is, whatever the other: a product with a step would be NaN where the other is not finite.
fn select<S: Scalar>(c: &S, a: &S, b: &S) -> S {
    match c.compare(&c.lift(0.0)) {
        Some(std::cmp::Ordering::Equal) => b.clone(),
        Some(_) => a.clone(),
        None => c.lift(f64::NAN),
    }
}

/// There and back, as a fold: the smaller of the way since the last turn at 0 and the way to the next.
fn ping_pong<S: Scalar>(t: &S, period: &S) -> S {
    let both = period.add(period);
    let m = t.modulo(&both);
    both.sub(&m).min(&m)
}

/// The turn of `x` that is nearest to `near`. Whole periods are taken off, so an `x` that is near enough stays as it is.
fn unwrap<S: Scalar>(x: &S, near: &S, period: &S) -> S {
    let turns = x.sub(near).div(period).add(&x.lift(0.5)).floor();
    x.sub(&period.mul(&turns))
}

fn smoothstep<S: Scalar>(e0: &S, e1: &S, x: &S) -> S {
    if e0.compare(e1) == Some(std::cmp::Ordering::Equal) {
        return e0.step(x);
    }
    let u = x.sub(e0).div(&e1.sub(e0)).max(&x.lift(0.0)).min(&x.lift(1.0));
    u.mul(&u).mul(&x.lift(3.0).sub(&x.lift(2.0).mul(&u)))
}

impl Op {
    /// The number of operands, 1 to [`MAX_ARITY`].
    pub const fn arity(self) -> usize {
        self.operands().len()
    }

    /// How GLSL writes it: by a sign, by a function of its own, or by one of keyfit's where GLSL's is undefined or another.
    pub(crate) fn glsl(self) -> Glsl {
        match self {
            Op::ADD => Glsl::Infix('+', Glsl::SUM),
            Op::SUB => Glsl::Infix('-', Glsl::SUM),
            Op::MUL => Glsl::Infix('*', Glsl::PRODUCT),
            Op::DIV => Glsl::Infix('/', Glsl::PRODUCT),
            Op::NEG => Glsl::Minus,
            Op::ABS => Glsl::Own("abs"),
            Op::EXP => Glsl::Own("exp"),
            Op::EXP2 => Glsl::Own("exp2"),
            Op::SIN => Glsl::Own("sin"),
            Op::COS => Glsl::Own("cos"),
            Op::TAN => Glsl::Own("tan"),
            Op::ATAN => Glsl::Own("atan"),
            Op::SINH => Glsl::Own("sinh"),
            Op::COSH => Glsl::Own("cosh"),
            Op::FLOOR => Glsl::Own("floor"),
            Op::CEIL => Glsl::Own("ceil"),
            Op::ROUND => Glsl::Own("roundEven"),
            Op::MIN => Glsl::Helper(&glsl::MIN),
            Op::MAX => Glsl::Helper(&glsl::MAX),
            Op::MOD => Glsl::Helper(&glsl::MOD),
            Op::POW => Glsl::Helper(&glsl::POW),
            Op::SQRT => Glsl::Helper(&glsl::SQRT),
            Op::LN => Glsl::Helper(&glsl::LN),
            Op::ASIN => Glsl::Helper(&glsl::ASIN),
            Op::ACOS => Glsl::Helper(&glsl::ACOS),
            Op::ATAN2 => Glsl::Helper(&glsl::ATAN2),
            Op::TANH => Glsl::Helper(&glsl::TANH),
            Op::HYPOT => Glsl::Helper(&glsl::HYPOT),
            Op::FRACT => Glsl::Helper(&glsl::FRACT),
            Op::SIGN => Glsl::Helper(&glsl::SIGN),
            Op::STEP => Glsl::Helper(&glsl::STEP),
            Op::GATE => Glsl::Helper(&glsl::GATE),
            Op::CLAMP => Glsl::Helper(&glsl::CLAMP),
            Op::MIX => Glsl::Helper(&glsl::MIX),
            Op::SMOOTHSTEP => Glsl::Helper(&glsl::SMOOTHSTEP),
            Op::SINE_IN => Glsl::Helper(&glsl::SINE_IN),
            Op::SINE_OUT => Glsl::Helper(&glsl::SINE_OUT),
            Op::SINE_IN_OUT => Glsl::Helper(&glsl::SINE_IN_OUT),
            Op::QUAD_IN => Glsl::Helper(&glsl::QUAD_IN),
            Op::QUAD_OUT => Glsl::Helper(&glsl::QUAD_OUT),
            Op::QUAD_IN_OUT => Glsl::Helper(&glsl::QUAD_IN_OUT),
            Op::CUBIC_IN => Glsl::Helper(&glsl::CUBIC_IN),
            Op::CUBIC_OUT => Glsl::Helper(&glsl::CUBIC_OUT),
            Op::CUBIC_IN_OUT => Glsl::Helper(&glsl::CUBIC_IN_OUT),
            Op::QUART_IN => Glsl::Helper(&glsl::QUART_IN),
            Op::QUART_OUT => Glsl::Helper(&glsl::QUART_OUT),
            Op::QUART_IN_OUT => Glsl::Helper(&glsl::QUART_IN_OUT),
            Op::QUINT_IN => Glsl::Helper(&glsl::QUINT_IN),
            Op::QUINT_OUT => Glsl::Helper(&glsl::QUINT_OUT),
            Op::QUINT_IN_OUT => Glsl::Helper(&glsl::QUINT_IN_OUT),
            Op::EXPO_IN => Glsl::Helper(&glsl::EXPO_IN),
            Op::EXPO_OUT => Glsl::Helper(&glsl::EXPO_OUT),
            Op::EXPO_IN_OUT => Glsl::Helper(&glsl::EXPO_IN_OUT),
            Op::CIRC_IN => Glsl::Helper(&glsl::CIRC_IN),
            Op::CIRC_OUT => Glsl::Helper(&glsl::CIRC_OUT),
            Op::CIRC_IN_OUT => Glsl::Helper(&glsl::CIRC_IN_OUT),
            Op::BACK_IN => Glsl::Helper(&glsl::BACK_IN),
            Op::BACK_OUT => Glsl::Helper(&glsl::BACK_OUT),
            Op::BACK_IN_OUT => Glsl::Helper(&glsl::BACK_IN_OUT),
            Op::ELASTIC_IN => Glsl::Helper(&glsl::ELASTIC_IN),
            Op::ELASTIC_OUT => Glsl::Helper(&glsl::ELASTIC_OUT),
            Op::ELASTIC_IN_OUT => Glsl::Helper(&glsl::ELASTIC_IN_OUT),
            Op::BOUNCE_IN => Glsl::Helper(&glsl::BOUNCE_IN),
            Op::BOUNCE_OUT => Glsl::Helper(&glsl::BOUNCE_OUT),
            Op::BOUNCE_IN_OUT => Glsl::Helper(&glsl::BOUNCE_IN_OUT),
            Op::SMOOTH => Glsl::Helper(&glsl::SMOOTH),
            Op::LINEAR => Glsl::Helper(&glsl::LINEAR),
            Op::SELECT => Glsl::Helper(&glsl::SELECT),
            Op::PING_PONG => Glsl::Helper(&glsl::PING_PONG),
            Op::UNWRAP => Glsl::Helper(&glsl::UNWRAP),
        }
    }

    /// The operation whose name (`ADD`) this is.
    pub fn from_name(name: &str) -> Option<Op> {
        static NAMES: LazyLock<HashMap<&str, Op>> =
            LazyLock::new(|| Op::ALL.iter().map(|op| (op.name(), *op)).collect());
        NAMES.get(name).copied()
    }

    /// The operation whose word (`add`) this is. A hyphen is as good as an underscore: `sine-in`, `sine_in`. `loop` is
    /// another word for `mod`: a clock that begins anew.
    pub fn from_word(word: &str) -> Option<Op> {
        static WORDS: LazyLock<HashMap<&str, Op>> =
            LazyLock::new(|| Op::ALL.iter().map(|op| (op.word(), *op)).chain([("loop", Op::MOD)]).collect());
        WORDS.get(word).or_else(|| WORDS.get(word.replace('-', "_").as_str())).copied()
    }

    /// The operation whose infix sign (`+`) this is.
    pub fn from_sign(sign: char) -> Option<Op> {
        Op::ALL.iter().copied().find(|op| op.infix().is_some_and(|infix| infix.sign == sign))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn every_row_can_be_found_by_each_of_its_names() {
        let mut seen = HashSet::new();
        for &op in Op::ALL {
            assert!(seen.insert(op.name()) && seen.insert(op.word()), "{op:?}: a name is used twice");
            assert_eq!(Op::from_name(op.name()), Some(op));
            assert_eq!(Op::from_word(op.word()), Some(op));
            if let Some(infix) = op.infix() {
                assert_eq!((Op::from_sign(infix.sign), op.arity()), (Some(op), 2));
            }
            assert!((1..=MAX_ARITY).contains(&op.arity()) && !op.doc().is_empty());
        }
    }

    #[test]
    fn composite_operations_are_as_documented() {
        let apply = |op: Op, x: [f64; 3]| op.apply([&x[0], &x[1], &x[2]]);
        // mix as written cancels; an edge of smoothstep that is met twice is a step
        for (op, x, expected) in [
            (Op::MIX, [1e16, 1.0, 1.0], 0.0),
            (Op::CLAMP, [1.5, 0.0, 1.0], 1.0),
            (Op::CLAMP, [-0.0, 0.0, 1.0], 0.0),
            (Op::GATE, [0.0, 0.0, 2.0], 1.0),
            (Op::GATE, [2.0, 0.0, 2.0], 0.0),
            (Op::GATE, [1.0, 2.0, 0.0], 0.0),
            (Op::SMOOTHSTEP, [1.0, 0.0, 0.25], 27.0 / 32.0),
            (Op::SMOOTHSTEP, [1.0, 1.0, 1.0], 1.0),
            (Op::SMOOTHSTEP, [1.0, 1.0, 0.5], 0.0),
            (Op::FRACT, [-0.25, 0.0, 0.0], 0.75),
            (Op::SELECT, [1.0, 2.0, f64::NAN], 2.0),
            (Op::SELECT, [-0.0, f64::NAN, 3.0], 3.0),
            (Op::PING_PONG, [1.5, 1.0, 0.0], 0.5),
            (Op::UNWRAP, [10.0, 350.0, 360.0], 370.0),
        ] {
            assert_eq!(apply(op, x), expected, "{op:?} of {x:?}");
        }
        assert!(apply(Op::GATE, [1.0, f64::NAN, 2.0]).is_nan());
    }
}
