//! How facts pass through operations and keyed tracks.

use keyfit_ir::{Keyed, MAX_ARITY, Op, Shape};

use super::{Fact, above, greatest, least};

/// The sampler's own value.
fn value(op: Op, a: f64, b: f64) -> f64 {
    op.apply([&a, &b, &a])
}

/// What is known of an operation's value. `alike` says that the first two operands have the same value.
pub fn operation(op: Op, operands: [Fact; MAX_ARITY], alike: bool) -> Fact {
    let [a, b, c] = operands;
    let known: Option<Vec<f64>> = operands[..op.arity()].iter().map(Fact::constant).collect();
    if let Some(known) = known {
        let at = |k: usize| known.get(k).unwrap_or(&0.0);
        return Fact::exactly(op.apply([at(0), at(1), at(2)]));
    }
    let (one, zero) = (Fact::exactly(1.0), Fact::exactly(0.0));
    match op {
        Op::ADD => sum(a, b),
        Op::SUB if alike => {
            let mut fact = zero;
            fact.nan = a.nan || a.may_be_infinite();
            fact
        }
        Op::SUB => sum(a, negated(b)),
        Op::MUL if alike => {
            let a = magnitude(a);
            let mut fact = corners(op, a, a);
            (fact.nan, fact.whole) = (a.nan, a.whole);
            fact
        }
        Op::MUL => {
            let mut fact = signed_corners(op, a, b);
            let meets = |x: &Fact, y: &Fact| x.may_be_zero() && y.may_be_infinite();
            fact.nan = a.nan || b.nan || meets(&a, &b) || meets(&b, &a);
            fact.whole = a.whole && b.whole;
            fact
        }
        Op::DIV if alike => {
            let mut fact = one;
            fact.nan = a.nan || a.may_be_zero() || a.may_be_infinite();
            fact
        }
        Op::DIV => {
            let mut fact = signed_corners(op, a, b);
            let both = |may: fn(&Fact) -> bool| may(&a) && may(&b);
            fact.nan = a.nan || b.nan || both(Fact::may_be_zero) || both(Fact::may_be_infinite);
            fact
        }
        Op::NEG => negated(a),
        Op::ABS => magnitude(a),
        Op::MIN => {
            let mut fact = lattice(a, b, least);
            fact.negative_zero &= a.negative_zero || b.negative_zero;
            fact.positive_zero &= a.positive_zero || b.positive_zero;
            fact.tightened()
        }
        Op::MAX => {
            let mut fact = lattice(a, b, greatest);
            fact.negative_zero &= a.negative_zero || b.negative_zero;
            fact.positive_zero &= a.positive_zero || b.positive_zero;
            fact.tightened()
        }
        Op::MOD => modulo(a, b),
        Op::FRACT => modulo(a, one),
        Op::POW => power(a, b),
        // monotone on their domains; zeros are where the argument's zeros are, with the same signs
        Op::SQRT => monotone(op, a, (-0.0, f64::INFINITY)).zeros_of(a),
        Op::ATAN | Op::SINH | Op::TANH => monotone(op, a, (f64::NEG_INFINITY, f64::INFINITY)).zeros_of(a),
        Op::ASIN => monotone(op, a, (-1.0, 1.0)).zeros_of(a),
        Op::SIGN => Fact { whole: true, ..monotone(op, a, (f64::NEG_INFINITY, f64::INFINITY)) }.zeros_of(a),
        // monotone on their domains
        Op::EXP | Op::EXP2 => monotone(op, a, (f64::NEG_INFINITY, f64::INFINITY)),
        Op::LN => monotone(op, a, (-0.0, f64::INFINITY)),
        Op::FLOOR | Op::CEIL | Op::ROUND => {
            Fact { whole: true, ..monotone(op, a, (f64::NEG_INFINITY, f64::INFINITY)) }
        }
        Op::ACOS => negated(monotone_by(|x| -value(Op::ACOS, x, x), a, (-1.0, 1.0))),
        Op::COSH => monotone(op, magnitude(a), (0.0, f64::INFINITY)),
        Op::SIN => circular(a, op),
        Op::COS => circular(a, op),
        // no double is near enough to a pole to give infinity
        Op::TAN => {
            let fact = match a.range {
                Some((low, high)) if low >= -1.5 && high <= 1.5 => monotone(op, a, (-1.5, 1.5)),
                _ => Fact::between(-f64::MAX, f64::MAX),
            };
            or_nan(fact, a.nan || a.may_be_infinite() || a.range.is_none()).zeros_of(a)
        }
        Op::ATAN2 => {
            let pi = std::f64::consts::PI;
            let Some(((low, high), (left, _))) = a.range.zip(b.range) else { return Fact::NAN };
            let half = if left.is_sign_negative() { pi } else { pi / 2.0 };
            let below = if low.is_sign_negative() { -half } else { 0.0 };
            let over = if high.is_sign_negative() { -0.0 } else { half };
            or_nan(Fact::between(below, over), a.nan || b.nan)
        }
        Op::HYPOT => {
            let (a, b) = (magnitude(a), magnitude(b));
            let mut fact = match (a.range, b.range) {
                (Some(_), Some(_)) => corners(op, a, b),
                _ => Fact::NAN,
            };
            fact.nan = a.nan || b.nan;
            // an infinite operand decides even beside NaN
            let infinite = (a.nan && b.may_be_infinite()) || (b.nan && a.may_be_infinite());
            if infinite { fact.join(Fact::exactly(f64::INFINITY)) } else { fact }
        }
        Op::STEP => step(a, b),
        // as the table defines them
        Op::GATE => {
            let after = sum(one, negated(step(c, a)));
            operation(Op::MUL, [step(b, a), after, one], false)
        }
        Op::CLAMP => operation(Op::MIN, [operation(Op::MAX, [a, b, c], false), c, c], false),
        Op::MIX => {
            let way = operation(Op::SUB, [b, a, a], alike);
            sum(a, operation(Op::MUL, [way, c, c], false))
        }
        Op::SMOOTHSTEP => {
            let u = operation(Op::DIV, [sum(c, negated(a)), sum(b, negated(a)), one], false);
            // u·u is at most 1 and 3 − 2u at most 3; where the edges are one, a step
            or_nan(Fact::between(0.0, 3.0), a.nan || b.nan || c.nan || u.nan)
        }
        Op::SELECT => {
            let Some((low, high)) = a.range else { return Fact::NAN };
            let never = low == 0.0 && high == 0.0;
            let fact = match (never, a.may_be_zero()) {
                (true, _) => c,
                (_, true) => b.join(c),
                (_, false) => b,
            };
            or_nan(fact, a.nan)
        }
        Op::PING_PONG => {
            let both = sum(b, b);
            let m = modulo(a, both);
            operation(Op::MIN, [sum(both, negated(m)), m, m], false)
        }
        Op::UNWRAP => {
            let way = operation(Op::DIV, [sum(a, negated(b)), c, c], false);
            let turns = operation(Op::FLOOR, [sum(way, Fact::exactly(0.5)); MAX_ARITY], false);
            sum(a, negated(operation(Op::MUL, [c, turns, turns], false)))
        }
        Op::LINEAR | Op::SINE_OUT | Op::SINE_IN_OUT => eased(a, 0.0, 1.0),
        Op::SINE_IN | Op::CIRC_IN | Op::CIRC_OUT | Op::CIRC_IN_OUT => eased(a, 0.0, 2.0),
        Op::QUAD_IN | Op::QUAD_OUT | Op::QUAD_IN_OUT => eased(a, 0.0, 1.0),
        Op::CUBIC_IN | Op::CUBIC_OUT | Op::CUBIC_IN_OUT => eased(a, 0.0, 1.0),
        Op::QUART_IN | Op::QUART_OUT | Op::QUART_IN_OUT => eased(a, 0.0, 1.0),
        Op::QUINT_IN | Op::QUINT_OUT | Op::QUINT_IN_OUT => eased(a, 0.0, 1.0),
        Op::EXPO_IN | Op::EXPO_OUT | Op::EXPO_IN_OUT => eased(a, 0.0, 1.0),
        Op::SMOOTH => eased(a, 0.0, 3.0),
        // the factors bound these: |s·1.525| < 3, |2^… · sin| ≤ 1, |7.5625·(u − c)²| < 8
        Op::BACK_IN | Op::BACK_OUT | Op::BACK_IN_OUT => eased(a, -16.0, 16.0),
        Op::ELASTIC_IN | Op::ELASTIC_OUT | Op::ELASTIC_IN_OUT => eased(a, -16.0, 16.0),
        Op::BOUNCE_IN | Op::BOUNCE_OUT | Op::BOUNCE_IN_OUT => eased(a, -16.0, 16.0),
    }
}

/// What is known of a keyed track, given what is known of its children in their order.
pub fn keyed(keyed: &Keyed<()>, children: &[Fact]) -> Fact {
    let Some((clock, parts)) = children.split_last() else { return Fact::ANY };
    let mut parts = parts.iter().copied();
    let mut values = Vec::with_capacity(keyed.keys().len());
    for k in 0..keyed.keys().len() {
        values.push(parts.next().unwrap_or(Fact::ANY));
        if keyed.shapes().get(k).is_some_and(|shape| shape.tangents().is_some()) {
            parts.next();
            parts.next();
        }
    }
    let mut fact: Option<Fact> = None;
    let mut add = |more: Fact| fact = Some(fact.map_or(more, |fact| fact.join(more)));
    values.iter().for_each(|value| add(*value));
    // u is never above 1: both differences are rounded the same way
    let span = Fact::between(0.0, 1.0);
    for (shape, ends) in keyed.shapes().iter().zip(values.windows(2)) {
        let [from, to] = [ends[0], ends[1]];
        match shape {
            Shape::Hold => {}
            Shape::Linear => add(line(from, to, span)),
            Shape::Eased(easing) => match easing.op() {
                Some(op) => add(line(from, to, operation(op, [span; MAX_ARITY], false))),
                None => add(Fact::ANY),
            },
            Shape::CatmullRom | Shape::Tcb | Shape::Monotone | Shape::Cubic { .. } => add(Fact::ANY),
        }
    }
    or_nan(fact.unwrap_or(Fact::ANY), clock.nan)
}

/// v0 + (v1 − v0)·u
fn line(v0: Fact, v1: Fact, u: Fact) -> Fact {
    sum(v0, operation(Op::MUL, [sum(v1, negated(v0)), u, u], false))
}

impl Fact {
    /// The value is a zero exactly where `x` is, with the same sign.
    fn zeros_of(mut self, x: Fact) -> Fact {
        self.negative_zero &= x.negative_zero;
        self.positive_zero &= x.positive_zero;
        self.tightened()
    }
}

fn or_nan(mut fact: Fact, nan: bool) -> Fact {
    fact.nan |= nan;
    fact
}

fn negated(x: Fact) -> Fact {
    Fact {
        range: x.range.map(|(low, high)| (-high, -low)),
        negative_zero: x.positive_zero,
        positive_zero: x.negative_zero,
        ..x
    }
}

fn magnitude(x: Fact) -> Fact {
    let Some((low, high)) = x.range else { return x };
    let range = if low.is_sign_positive() {
        (low, high)
    } else if high.is_sign_negative() {
        (-high, -low)
    } else {
        (0.0, greatest(-low, high))
    };
    Fact { range: Some(range), negative_zero: false, positive_zero: x.may_be_zero(), ..x }.tightened()
}

/// A sum is −0 only if both terms are; it is monotone in both.
fn sum(a: Fact, b: Fact) -> Fact {
    let Some(((a0, a1), (b0, b1))) = a.range.zip(b.range) else { return Fact::NAN };
    let low = if (a0 + b0).is_nan() { f64::NEG_INFINITY } else { a0 + b0 };
    let high = if (a1 + b1).is_nan() { f64::INFINITY } else { a1 + b1 };
    let opposite = |low: f64, high: f64| low == f64::NEG_INFINITY && high == f64::INFINITY;
    let mut fact = Fact::between(low, high);
    fact.nan = a.nan || b.nan || opposite(a0, b1) || opposite(b0, a1);
    fact.negative_zero &= a.negative_zero && b.negative_zero;
    fact.whole = a.whole && b.whole;
    fact.tightened()
}

/// The part whose sign bit is set and the part whose sign bit is clear.
fn signs(x: Fact) -> [Option<Fact>; 2] {
    let Some((low, high)) = x.range else { return [None, None] };
    let negative = low.is_sign_negative().then(|| Fact::between(low, least(high, -0.0)));
    let positive = high.is_sign_positive().then(|| Fact::between(greatest(low, 0.0), high));
    [negative, positive]
}

/// The hull of the values at the corners of each quadrant, in which the operation is monotone in each operand.
fn signed_corners(op: Op, a: Fact, b: Fact) -> Fact {
    let pairs =
        signs(a).into_iter().flatten().flat_map(|a| signs(b).into_iter().flatten().map(move |b| (a, b)));
    pairs.map(|(a, b)| corners(op, a, b)).reduce(Fact::join).unwrap_or(Fact::NAN)
}

/// The hull of the values at the four corners of two intervals, for an operation that is monotone in each operand there.
/// Where a corner is NaN, what is near it is any number of the sign.
fn corners(op: Op, a: Fact, b: Fact) -> Fact {
    let Some(((a0, a1), (b0, b1))) = a.range.zip(b.range) else { return Fact::NAN };
    let at = |x: f64, y: f64| {
        let z = value(op, x, y);
        match z.is_nan() {
            false => Fact::between(z, z),
            true if x.is_sign_negative() == y.is_sign_negative() => Fact::between(0.0, f64::INFINITY),
            true => Fact::between(f64::NEG_INFINITY, -0.0),
        }
    };
    at(a0, b0).join(at(a0, b1)).join(at(a1, b0)).join(at(a1, b1))
}

fn lattice(a: Fact, b: Fact, pick: fn(f64, f64) -> f64) -> Fact {
    let Some(((a0, a1), (b0, b1))) = a.range.zip(b.range) else { return Fact::NAN };
    let mut fact = Fact::between(pick(a0, b0), pick(a1, b1));
    (fact.nan, fact.whole) = (a.nan || b.nan, a.whole && b.whole);
    fact
}

/// The image under a function that does not decrease on its domain and is NaN outside.
fn monotone(op: Op, x: Fact, domain: (f64, f64)) -> Fact {
    monotone_by(|x| value(op, x, x), x, domain)
}

fn monotone_by(f: impl Fn(f64) -> f64, x: Fact, (from, to): (f64, f64)) -> Fact {
    let Some((low, high)) = x.range else { return Fact::NAN };
    let outside = low < from || high > to;
    // as numbers compare, so that a zero at the domain's end keeps its sign
    let low = if low < from { from } else { low };
    let high = if high > to { to } else { high };
    if low.total_cmp(&high).is_gt() {
        return Fact::NAN;
    }
    or_nan(Fact::between(f(low), f(high)), x.nan || outside)
}

fn circular(x: Fact, op: Op) -> Fact {
    let nan = x.nan || x.may_be_infinite() || x.range.is_none();
    let Some((low, high)) = x.range else { return Fact::NAN };
    // well within the branches on which they are monotone
    let fact = match op {
        Op::SIN if low >= -1.5 && high <= 1.5 => monotone(op, x, (-1.5, 1.5)),
        Op::COS if low >= -3.0 && high <= 3.0 => {
            let x = magnitude(x);
            negated(monotone_by(|x| -value(Op::COS, x, x), x, (0.0, 3.0)))
        }
        _ => Fact::between(-1.0, 1.0),
    };
    let fact = or_nan(fact, nan);
    // no double but 0 is a multiple of π
    if op == Op::SIN { fact.zeros_of(x) } else { fact }
}

fn step(edge: Fact, x: Fact) -> Fact {
    let Some(((e0, e1), (x0, x1))) = edge.range.zip(x.range) else { return Fact::NAN };
    let (low, high) = if x0 >= e1 {
        (1.0, 1.0)
    } else if x1 < e0 {
        (0.0, 0.0)
    } else {
        (0.0, 1.0)
    };
    Fact { whole: true, nan: edge.nan || x.nan, ..Fact::between(low, high) }
}

/// [0, y) for y > 0 and (y, 0] for y < 0; a zero result is +0.
fn modulo(x: Fact, y: Fact) -> Fact {
    let Some(((x0, x1), (y0, y1))) = x.range.zip(y.range) else { return Fact::NAN };
    let positive = (y1 > 0.0).then(|| {
        let below = if y1 == f64::INFINITY { f64::MAX } else { f64::from_bits(y1.to_bits() - 1) };
        // what lies between 0 and y stays; and no result is above a positive x
        let high = if x0 >= 0.0 { least(below, greatest(x1, 0.0)) } else { below };
        Fact::between(0.0, high)
    });
    let negative = (y0 < 0.0).then(|| {
        let low = if y0 == f64::NEG_INFINITY { -f64::MAX } else { above(y0) };
        Fact::between(if low == 0.0 { 0.0 } else { low }, 0.0)
    });
    let mut fact = positive.into_iter().chain(negative).reduce(Fact::join).unwrap_or(Fact::NAN);
    fact.nan = x.nan || y.nan || x.may_be_infinite() || y.may_be_zero() || y.may_be_infinite();
    fact.negative_zero = false;
    fact.whole = x.whole && y.whole;
    fact.tightened()
}

fn power(x: Fact, y: Fact) -> Fact {
    // 1 to any power and anything to the power 0 are 1, even NaN
    let one = Fact::exactly(1.0);
    let nan = x.nan || y.nan;
    let Some(((x0, _), _)) = x.range.zip(y.range) else { return or_nan(one, true) };
    let fact = if x0.is_sign_positive() {
        corners(Op::POW, x, y)
    } else if y.constant().is_some_and(|y| y % 2.0 == 0.0) {
        Fact::between(0.0, f64::INFINITY)
    } else {
        Fact { nan: true, ..Fact::ANY }
    };
    // where x may be 1 or y may be 0, 1 is among these
    or_nan(fact, nan)
}

fn eased(u: Fact, low: f64, high: f64) -> Fact {
    let Some((from, to)) = u.range else { return Fact::NAN };
    let fact = if to <= 0.0 {
        Fact::exactly(0.0)
    } else if from >= 1.0 {
        Fact::exactly(1.0)
    } else {
        Fact::between(low, high)
    };
    or_nan(fact, u.nan)
}
