//! Easings: the curves of easings.net, from (0, 0) to (1, 1).
//!
//! | family | in, for 0 < u < 1 | out | in-out |
//! | --- | --- | --- | --- |
//! | sine | 2·sin²(π·u/4) | sin(π·u/2) | sin²(π·u/2) |
//! | quad, cubic, quart, quint | u·u, (u·u)·u, (u·u)·(u·u), ((u·u)·(u·u))·u | mirrored | halves |
//! | expo | 2^(10·u − 10) | 1 − 2^(−10·u) | halves |
//! | circ | u²/(1 + √((1 − u)·(1 + u))) | √(u·(2 − u)) | halves |
//! | back | u²·((s + 1)·u − s), s = 1.70158 | mirrored | halves of in, with s·1.525 |
//! | elastic | −2^(10·u − 10)·sin((10·u − 10.75)·(2π/3)) | 2^(−10·u)·sin((10·u − 0.75)·(2π/3)) + 1 | halves of −2^(10·u − 10)·sin((10·u − 11.125)·(2π/4.5)) |
//! | bounce | mirrored | four parabolas | halves |
//!
//! Mirrored is 1 − f(1 − u). Halves are f(2·u)/2 below ½ and 1 − f(2·(1 − u))/2 from there on. The order of operations
//! is as written, and every one is correctly rounded; 1 − cos and 1 − √ are written so that nothing cancels. Constants
//! that no double holds are quotients, so that numbers of a higher precision have them to that precision.
//!
//! The ends are 0 and 1 by definition, also where the formula does not reach them (expo, elastic); before and after them
//! the value stays. At the ends the slope is the formula's, outside it is 0.
//!
//! Two more kinds carry numbers and are no operations: CSS's `cubic-bezier(x1,y1,x2,y2)` and `steps(n,jump-…)`; see
//! [`Easing::cubic_bezier`] and [`Easing::steps`].

use std::cmp::Ordering;
use std::fmt;

use crate::number::Scalar;
use crate::op::Op;
use crate::track::Number;

/// A curve from (0, 0) to (1, 1) that a segment of a keyed track can follow.
///
/// ```
/// use keyfit_ir::{Easing, Op};
/// assert_eq!(Easing::from_word("sine-in"), Easing::new(Op::SINE_IN));
/// assert_eq!(Easing::new(Op::SIN), None);
/// assert_eq!(Easing::all().count(), 31);
/// assert_eq!(Easing::from_word("steps(4, jump-none)").map(|steps| steps.apply(&0.25)), Some(1.0 / 3.0));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Easing(Curve);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Curve {
    /// An operation.
    Op(Op),
    /// CSS's `cubic-bezier`: x1, y1, x2, y2.
    Bezier([Number; 4]),
    /// CSS's `steps`.
    Steps(u32, Jump),
}

/// Where `steps` jumps: at each step's end, at its start, at neither end of the whole, or at both.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Jump {
    /// The last jump is at 1.
    End,
    /// The first jump is at 0.
    Start,
    /// None at 0 and none at 1.
    None,
    /// One at 0 and one at 1.
    Both,
}

impl Jump {
    const WORDS: [(&str, Jump); 6] = [
        ("jump-end", Jump::End),
        ("jump-start", Jump::Start),
        ("jump-none", Jump::None),
        ("jump-both", Jump::Both),
        ("end", Jump::End),
        ("start", Jump::Start),
    ];

    /// How many jumps of `n` steps are at 0, and how many there are in all.
    pub(crate) fn count(self, n: f64) -> (f64, f64) {
        match self {
            Jump::End => (0.0, n),
            Jump::Start => (1.0, n),
            Jump::None => (0.0, n - 1.0),
            Jump::Both => (1.0, n + 1.0),
        }
    }
}

/// The curves that are written with numbers in parentheses, and what those are.
pub(crate) const WITH_NUMBERS: [(&str, &str); 2] = [
    ("cubic-bezier", "cubic-bezier(x1,y1,x2,y2) of finite numbers, x1 and x2 from 0 to 1"),
    (
        "steps",
        "steps(n,jump-end) with a whole n from 1 (2 for jump-none); or jump-start, jump-none, jump-both",
    ),
];

impl Easing {
    /// The easing that is this operation.
    pub fn new(op: Op) -> Option<Easing> {
        op.is_easing().then_some(Easing(Curve::Op(op)))
    }

    /// CSS's `cubic-bezier`: the curve with the points (0, 0), (x1, y1), (x2, y2), (1, 1). `None` if a number is not
    /// finite or an x outside [0, 1].
    ///
    /// The curve's parameter is found by bisection down to neighbouring numbers (at most 4096 times), the slopes are those of
    /// the implicit function.
    pub fn cubic_bezier(x1: f64, y1: f64, x2: f64, y2: f64) -> Option<Easing> {
        let points = [x1, y1, x2, y2];
        let valid = points.iter().all(|x| x.is_finite()) && [x1, x2].iter().all(|x| (0.0..=1.0).contains(x));
        valid.then(|| Easing(Curve::Bezier(points.map(|x| Number::new(x + 0.0)))))
    }

    /// CSS's `steps`: ⌊u·n⌋ and one more if the first jump is at 0, divided by the number of jumps, on [0, 1). `None` for no
    /// steps, or for one without a jump.
    pub fn steps(n: u32, jump: Jump) -> Option<Easing> {
        (n > u32::from(jump == Jump::None)).then_some(Easing(Curve::Steps(n, jump)))
    }

    /// The easing of this name: `sine-in`, `cubic-bezier(0.25,0.1,0.25,1)`, `steps(4,jump-end)`.
    pub fn from_word(word: &str) -> Option<Easing> {
        let Some((name, numbers)) = word.split_once('(') else {
            return Op::from_word(word).and_then(Easing::new);
        };
        let parts: Vec<&str> = numbers.strip_suffix(')')?.split(',').map(str::trim).collect();
        match (name.replace('_', "-").as_str(), &parts[..]) {
            ("cubic-bezier", [x1, y1, x2, y2]) => {
                Easing::cubic_bezier(x1.parse().ok()?, y1.parse().ok()?, x2.parse().ok()?, y2.parse().ok()?)
            }
            ("steps", [n]) => Easing::steps(n.parse().ok()?, Jump::End),
            ("steps", [n, word]) => {
                let (_, jump) = Jump::WORDS.into_iter().find(|(own, _)| own == word)?;
                Easing::steps(n.parse().ok()?, jump)
            }
            _ => None,
        }
    }

    /// Every easing that is an operation, in the order of their table.
    pub fn all() -> impl Iterator<Item = Easing> {
        Op::ALL.iter().copied().filter_map(Easing::new)
    }

    /// The same as an operation, if it is one.
    pub fn op(self) -> Option<Op> {
        match self.0 {
            Curve::Op(op) => Some(op),
            _ => None,
        }
    }

    /// The numbers x1, y1, x2, y2 of a `cubic-bezier`.
    pub fn bezier_points(self) -> Option<[f64; 4]> {
        match self.0 {
            Curve::Bezier(points) => Some(points.map(Number::value)),
            _ => None,
        }
    }

    /// Whether it leaves 0 with a jump, as `steps(n,jump-start)` does. A keyed track has its key's value there all the same.
    pub fn jumps_at_start(self) -> bool {
        matches!(self.0, Curve::Steps(_, Jump::Start | Jump::Both))
    }

    /// What kind of curve it is.
    pub(crate) fn curve(self) -> Curve {
        self.0
    }

    /// The curve's height at `u`.
    pub fn apply<S: Scalar>(self, u: &S) -> S {
        match self.0 {
            Curve::Op(op) => op.apply([u, u, u]),
            Curve::Bezier(points) => ease(u, |u| bezier(u, points.map(Number::value))),
            Curve::Steps(n, jump) => steps(u, f64::from(n), jump),
        }
    }
}

impl fmt::Display for Easing {
    /// The name, with hyphens.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Curve::Op(op) => f.write_str(&op.word().replace('_', "-")),
            Curve::Bezier([x1, y1, x2, y2]) => write!(f, "cubic-bezier({x1:?},{y1:?},{x2:?},{y2:?})"),
            Curve::Steps(n, jump) => {
                let word = Jump::WORDS.iter().find(|(_, own)| *own == jump).map_or("", |(word, _)| word);
                write!(f, "steps({n},{word})")
            }
        }
    }
}

/// The Bézier curve's height where its abscissa is `u`, from 0 to 1.
fn bezier<S: Scalar>(u: &S, [x1, y1, x2, y2]: [f64; 4]) -> S {
    let k = |x: f64| u.lift(x);
    let rest = |s: &S| k(1.0).sub(s);
    // a(s) = 3a·s(1 − s)² + 3b·s²(1 − s) + s³, and its first two derivatives
    let at = |a: f64, b: f64, s: &S| {
        let w = rest(s);
        let near = k(a).mul(&w).add(&k(b).mul(s)).mul(&w).mul(&k(3.0));
        near.add(&s.mul(s)).mul(s)
    };
    let first = |a: f64, b: f64, s: &S| {
        let (a, b, w) = (k(a), k(b), rest(s));
        let ends = a.mul(&w).mul(&w).add(&k(1.0).sub(&b).mul(s).mul(s));
        k(3.0).mul(&ends.add(&k(2.0).mul(&b.sub(&a)).mul(s).mul(&w)))
    };
    let second = |a: f64, b: f64, s: &S| {
        let (a, b) = (k(a), k(b));
        let (left, right) = (b.sub(&a).sub(&a), k(1.0).sub(&b).sub(&b).add(&a));
        k(6.0).mul(&left.mul(&rest(s)).add(&right.mul(s)))
    };
    // constants only, so that the parameter does not move by itself
    let (mut low, mut high) = (k(0.0), k(1.0));
    for _ in 0..4096 {
        let middle = low.add(&high).div(&k(2.0));
        if middle.compare(&low) != Some(Ordering::Greater) || middle.compare(&high) != Some(Ordering::Less) {
            break;
        }
        match at(x1, x2, &middle).compare(u) {
            Some(Ordering::Greater) => high = middle,
            Some(Ordering::Less) => low = middle,
            _ => {
                low = middle;
                break;
            }
        }
    }
    // at the ends the abscissa may be the same for many parameters
    let end = [0.0, 1.0].map(k).into_iter().find(|end| u.compare(end) == Some(Ordering::Equal));
    let s = end.unwrap_or(low);
    let flat = |slope: &S| slope.compare(&k(0.0)) == Some(Ordering::Equal);
    let (dx, dy) = (first(x1, x2, &s), first(y1, y2, &s));
    if flat(&dx) {
        // upright, or with a point on the end: there the chord to the next point decides
        let slope = if flat(&dy) { second(y1, y2, &s).div(&second(x1, x2, &s)) } else { dy.div(&dx) };
        return at(y1, y2, &s).with_derivatives_of(slope.mul(&u.sub(&at(x1, x2, &s))));
    }
    // each of Newton's steps makes one more derivative of s by u right; the value stays
    let newton = |s: &S| s.with_derivatives_of(s.add(&u.sub(&at(x1, x2, s)).div(&first(x1, x2, s))));
    at(y1, y2, &newton(&newton(&s)))
}

/// CSS's steps.
fn steps<S: Scalar>(u: &S, n: f64, jump: Jump) -> S {
    let (first, jumps) = jump.count(n);
    match (u.compare(&u.lift(0.0)), u.compare(&u.lift(1.0))) {
        (Some(Ordering::Less), _) => u.lift(0.0),
        (_, Some(Ordering::Less)) => {
            // n·u never rounds up to n: at least half a unit in its last place is missing
            u.mul(&u.lift(n)).floor().add(&u.lift(first)).div(&u.lift(jumps))
        }
        (_, Some(_)) => u.lift(1.0),
        (_, None) => u.lift(f64::NAN),
    }
}

/// `formula` between the ends, the ends' values outside and at them.
pub(crate) fn ease<S: Scalar>(u: &S, formula: impl FnOnce(&S) -> S) -> S {
    use Ordering::{Equal, Greater, Less};
    let (zero, one) = (u.lift(0.0), u.lift(1.0));
    match (u.compare(&zero), u.compare(&one)) {
        (Some(Less), _) => zero,
        (Some(Equal), _) => zero.with_derivatives_of(formula(u)),
        (_, Some(Less)) => formula(u),
        (_, Some(Equal)) => one.with_derivatives_of(formula(u)),
        (_, Some(Greater)) => one,
        (_, None) => u.lift(f64::NAN),
    }
}

/// 1 − f(1 − u)
pub(crate) fn mirrored<S: Scalar>(u: &S, f: impl FnOnce(&S) -> S) -> S {
    let one = u.lift(1.0);
    one.sub(&f(&one.sub(u)))
}

/// f(2·u)/2 below ½, 1 − f(2·(1 − u))/2 from there on.
pub(crate) fn halves<S: Scalar>(u: &S, f: impl Fn(&S) -> S) -> S {
    let [half, one, two] = [0.5, 1.0, 2.0].map(|x| u.lift(x));
    if u.compare(&half) == Some(Ordering::Less) {
        f(&two.mul(u)).div(&two)
    } else {
        one.sub(&f(&two.mul(&one.sub(u))).div(&two))
    }
}

pub(crate) fn sine_in<S: Scalar>(u: &S) -> S {
    let s = u.pi().mul(u).div(&u.lift(4.0)).sin();
    u.lift(2.0).mul(&s.mul(&s))
}

pub(crate) fn sine_out<S: Scalar>(u: &S) -> S {
    u.pi().mul(u).div(&u.lift(2.0)).sin()
}

pub(crate) fn sine_in_out<S: Scalar>(u: &S) -> S {
    let s = sine_out(u);
    s.mul(&s)
}

pub(crate) fn quad<S: Scalar>(u: &S) -> S {
    u.mul(u)
}

pub(crate) fn cubic<S: Scalar>(u: &S) -> S {
    quad(u).mul(u)
}

pub(crate) fn quart<S: Scalar>(u: &S) -> S {
    quad(&quad(u))
}

pub(crate) fn quint<S: Scalar>(u: &S) -> S {
    quart(u).mul(u)
}

pub(crate) fn expo_in<S: Scalar>(u: &S) -> S {
    let ten = u.lift(10.0);
    ten.mul(u).sub(&ten).exp2()
}

pub(crate) fn expo_out<S: Scalar>(u: &S) -> S {
    u.lift(1.0).sub(&u.lift(-10.0).mul(u).exp2())
}

pub(crate) fn circ_in<S: Scalar>(u: &S) -> S {
    let one = u.lift(1.0);
    let root = one.sub(u).mul(&one.add(u)).sqrt();
    quad(u).div(&one.add(&root))
}

pub(crate) fn circ_out<S: Scalar>(u: &S) -> S {
    u.mul(&u.lift(2.0).sub(u)).sqrt()
}

fn overshoot<S: Scalar>(u: &S, s: &S) -> S {
    quad(u).mul(&s.add(&u.lift(1.0)).mul(u).sub(s))
}

fn back_constant<S: Scalar>(u: &S) -> S {
    u.lift(170_158.0).div(&u.lift(100_000.0))
}

pub(crate) fn back<S: Scalar>(u: &S) -> S {
    overshoot(u, &back_constant(u))
}

/// The `in` whose halves are back-in-out.
pub(crate) fn back_wide<S: Scalar>(u: &S) -> S {
    overshoot(u, &back_constant(u).mul(&u.lift(61.0).div(&u.lift(40.0))))
}

/// sin((10·u − offset)·(2π/period))
fn swing<S: Scalar>(u: &S, offset: f64, period: f64) -> S {
    let rate = u.lift(2.0).mul(&u.pi()).div(&u.lift(period));
    u.lift(10.0).mul(u).sub(&u.lift(offset)).mul(&rate).sin()
}

pub(crate) fn elastic_in<S: Scalar>(u: &S) -> S {
    expo_in(u).neg().mul(&swing(u, 10.75, 3.0))
}

pub(crate) fn elastic_out<S: Scalar>(u: &S) -> S {
    u.lift(-10.0).mul(u).exp2().mul(&swing(u, 0.75, 3.0)).add(&u.lift(1.0))
}

/// The `in` whose halves are elastic-in-out.
pub(crate) fn elastic_wide<S: Scalar>(u: &S) -> S {
    expo_in(u).neg().mul(&swing(u, 11.125, 4.5))
}

/// 7.5625·(u − centre)² + floor, on four spans: up to 4/11, 8/11, 10/11 and 1.
pub(crate) fn bounce_out<S: Scalar>(u: &S) -> S {
    let below = |n: f64| u.compare(&u.lift(n).div(&u.lift(11.0))) == Some(Ordering::Less);
    let (centre, floor) = if below(4.0) {
        (0.0, 0.0)
    } else if below(8.0) {
        (6.0, 0.75)
    } else if below(10.0) {
        (9.0, 0.9375)
    } else {
        (10.5, 0.984375)
    };
    let x = u.sub(&u.lift(centre).div(&u.lift(11.0)));
    u.lift(7.5625).mul(&quad(&x)).add(&u.lift(floor))
}

pub(crate) fn bounce_in<S: Scalar>(u: &S) -> S {
    mirrored(u, bounce_out)
}

pub(crate) fn smooth<S: Scalar>(u: &S) -> S {
    quad(u).mul(&u.lift(3.0).sub(&u.lift(2.0).mul(u)))
}
