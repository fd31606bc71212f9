//! Symbolic derivatives: the derivative of a track as a track.
//!
//! The rules are those of the dual numbers in `keyfit-autodiff`, with the same formulas in the same order:
//!
//! * At a kink or jump the derivative is that of the branch that produced the value; |x|′ is +1 at both zeros; `floor`,
//!   `ceil`, `round`, `sign`, `step` and the time of a hold track are flat.
//! * Where `min` or `max` tie, the operand that moves counts, and the mean of the two if both do.
//! * What does not move stays unmoved, however steep the slope. A slope that is infinite where the value is finite (√ at 0,
//!   arc sine at 1 …) and one that vanishes where its operand overflows (eˣ, 1/x …) are multiplied under a
//!   [`Op::SELECT`] that lets an exact zero win, where that can matter.
//!
//! What has no derivative leaves no node behind. Composite operations and easings are differentiated as what they are made
//! of ([`definition`](crate::definition()) but with the formula's slopes at the ends of easings). Of keyed tracks see [`keyed`].
//!
//! # How near to the dual numbers
//!
//! The arithmetic differs only here, where `f` is the operation's value:
//!
//! | operation | here | dual numbers | difference |
//! | --- | --- | --- | --- |
//! | a/b by b | −f/b | the same, but scaled where a/b is subnormal | digits of subnormal quotients |
//! | arc tangent | 1/(1 + x²) | for \|x\| > 1 by 1/x | < 2 ulp; 0 for what is subnormal |
//! | atan2 | x/h/h, −(y/h)/h of h = hypot(x, y) | by the ratio of the smaller to the larger | < 2 ulp; digits of subnormal h; NaN for infinite x or y |
//! | hypot | x/h, y/h | the same, but scaled where h is subnormal | digits of subnormal h |
//! | xⁿ by x, where n − 1 is exact | n·xⁿ⁻¹ | xⁿ/x·n | ≤ 3 ulp; digits where xⁿ is subnormal |
//! | a keyed line or hold by its clock | d/h once per segment, times the clock's derivative | in two steps | ≤ 2 ulp; none where the clock is `t` |
//! | monotone keys by their values | tangents in values per unit of time | per unit of u | ≤ 2 ulp of each tangent |
//! | cubic-bezier | y′(s)/x′(s) at the s of a second cubic-bezier | by Newton's step at the s of bisection | a few ulp of the largest term of x′ and y′ |
//!
//! in ulp of each operation's slope; sums that cancel magnify it. Over random tracks of all operations and shapes, 98 % of the
//! derivatives that are not zero have the same bits, and no difference is above one unit of rounding (2⁻⁵²) at the scale of
//! Σ|∂result/∂node|·|node| over the nodes (the tests of `keyfit-autodiff`; 0.34 is the most that they find).
//!
//! Two things differ by more:
//!
//! * Where an operand or a slope overflows on the way and is not guarded (see above) the track may be NaN though the dual
//!   number is finite: in 0.4 % of those cases.
//! * Where a cubic-bezier is upright there is no second derivative; the two stop differently.
//!
//! Where several operands of `min` tie and rest for the moment while they move with other parameters, what counts as moving
//! is told by the structure, not by the values.

pub mod keyed;

use std::collections::HashMap;

use keyfit_ir::{BuildError, Builder, Id, MAX_ARITY, Node, Op, Track};

use crate::definition::moving;
use crate::graph::Graph;

/// What a track is differentiated by.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Variable {
    /// The clock.
    Time,
    /// The free parameter of this name.
    Parameter(String),
}

/// The derivative of the track by a variable. By a parameter that the track does not have it is 0.
///
/// ```
/// use keyfit_ir::Track;
/// use keyfit_rewrite::{Variable, derivative};
/// let track = Track::parse("?b1=2*(1 - exp(-?b2=3*t))")?;
/// let by = |name: &str| derivative(&track, &Variable::Parameter(name.into()));
/// assert_eq!(by("b1")?.describe(), "SUB(1.0, EXP(MUL(NEG(?b2=3.0), t)))");
/// assert_eq!(by("b2")?.describe(), "MUL(?b1=2.0, MUL(EXP(MUL(NEG(?b2=3.0), t)), t))");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`BuildError::TooLarge`].
pub fn derivative(track: &Track, with: &Variable) -> Result<Track, BuildError> {
    derive(track, with, Graph::new()?)
}

/// What the chain rule gives as it is written in textbooks: the derivative of a constant is 0 and that of the variable is 1,
/// products with them and sums with them stand there, and no pole is guarded. To compare with, not to compute with: where
/// a factor is infinite this is NaN.
///
/// ```
/// use keyfit_ir::Track;
/// use keyfit_rewrite::{Variable, chain_rule};
/// let track = Track::parse("?b=2 * t")?;
/// assert_eq!(chain_rule(&track, &Variable::Time)?.describe(), "ADD(MUL(t, 0.0), MUL(?b=2.0, 1.0))");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`BuildError::TooLarge`].
pub fn chain_rule(track: &Track, with: &Variable) -> Result<Track, BuildError> {
    derive(track, with, Graph::plain()?)
}

fn derive(track: &Track, with: &Variable, graph: Graph) -> Result<Track, BuildError> {
    let root = graph.graft(track);
    let mut derivation = Derivation { graph: &graph, with, known: HashMap::new(), forms: HashMap::new() };
    let slope = derivation.run(root).map_or(graph.zero(), |slope| slope.id);
    graph.finish(slope)
}

/// The direction of travel in radians, in [−π, π], of a point that moves by `x` and `y`: atan2(ẏ, ẋ), 0 at rest. Exact, where
/// [`keyfit_ir::heading`] takes differences.
///
/// ```
/// use keyfit_ir::Track;
/// let [x, y] = ["linear[0=0 1=3]", "linear[0=0 1=4]"].map(Track::parse);
/// let heading = keyfit_rewrite::exact_heading(&x?, &y?)?;
/// assert_eq!(heading.describe(), "ATAN2(hold[0.0=0.0 0.0=4.0 1.0=0.0], hold[0.0=0.0 0.0=3.0 1.0=0.0])");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`BuildError::TwoValues`] if the two disagree about a parameter's current value; [`BuildError::TooLarge`].
pub fn exact_heading(x: &Track, y: &Track) -> Result<Track, BuildError> {
    let mut builder = Builder::new();
    let [y, x] = [y, x].map(|along| derivative(along, &Variable::Time));
    let (y, x) = (builder.graft(&y?)?, builder.graft(&x?)?);
    let root = builder.apply(Op::ATAN2, &[y, x])?;
    builder.finish(root)
}

/// How large a derivative may be while parameters and times are finite.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Risk {
    /// Always finite.
    Finite,
    /// Infinite where something overflows.
    Overflow,
    /// Infinite at ordinary numbers.
    Pole,
}

/// A derivative that is not zero everywhere.
#[derive(Clone, Copy, Debug)]
struct Slope {
    id: Id,
    risk: Risk,
}

/// What is known of a node.
#[derive(Clone, Copy, Debug)]
struct Known {
    slope: Option<Slope>,
    /// Whether it moves with another variable of the kind: with another parameter, where the variable is one.
    moves_else: bool,
}

/// How a function of one operand is steep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Steep {
    /// Infinite only where the value is.
    Plain,
    /// Between −1 and 1.
    Bounded,
    /// 0 where an infinite operand has a finite value.
    Vanishing,
    /// Infinite where the value is finite.
    Pole,
}

/// What a node's derivative is.
enum Rule {
    Slope(Option<Slope>),
    /// That of another node, which has the same value.
    As(Id),
}

struct Derivation<'a> {
    graph: &'a Graph,
    with: &'a Variable,
    known: HashMap<Id, Known>,
    /// Nodes that stand for others.
    forms: HashMap<Id, Id>,
}

impl Derivation<'_> {
    /// The derivative of the node: everything below it first.
    fn run(&mut self, root: Id) -> Option<Slope> {
        let mut work = vec![root];
        while let Some(&id) = work.last() {
            if self.known.contains_key(&id) {
                work.pop();
                continue;
            }
            let Some(node) = self.graph.node(id) else { break };
            let waiting = work.len();
            work.extend(node.children().iter().filter(|child| !self.known.contains_key(child)));
            if work.len() > waiting {
                continue;
            }
            let form = self.forms.get(&id).copied();
            let rule = form.map_or_else(|| self.rule(id, &node), Rule::As);
            let slope = match rule {
                Rule::Slope(slope) => slope,
                Rule::As(form) => match self.known.get(&form) {
                    Some(known) => known.slope,
                    None => {
                        self.forms.insert(id, form);
                        work.push(form);
                        continue;
                    }
                },
            };
            let slope = if self.graph.is_plain() { slope.or(Some(self.rest())) } else { slope };
            self.known.insert(id, Known { slope, moves_else: self.moves_else(&node) });
        }
        self.slope(root)
    }

    /// The derivative of what does not move, where it is written down.
    fn rest(&self) -> Slope {
        Slope { id: self.graph.zero(), risk: Risk::Finite }
    }

    fn slope(&self, id: Id) -> Option<Slope> {
        self.known.get(&id).and_then(|known| known.slope)
    }

    fn moves_else(&self, node: &Node) -> bool {
        use Op::{CEIL, FLOOR, GATE, ROUND, SIGN, STEP};
        let moves = |id: Id| self.known.get(&id).is_some_and(|known| known.moves_else);
        match node {
            Node::Constant(_) | Node::Clock => false,
            Node::Free(p) => matches!(self.with, Variable::Parameter(name) if name != p.name()),
            Node::Apply(FLOOR | CEIL | ROUND | SIGN | STEP | GATE, _) => false,
            Node::Apply(Op::SELECT, [_, a, b]) => moves(*a) || moves(*b),
            Node::Apply(..) | Node::Keyed(_) => node.children().iter().any(moves),
        }
    }

    fn rule(&mut self, id: Id, node: &Node) -> Rule {
        let one = |moves: bool| moves.then(|| Slope { id: self.graph.constant(1.0), risk: Risk::Finite });
        match node {
            Node::Constant(_) => Rule::Slope(None),
            Node::Clock => Rule::Slope(one(*self.with == Variable::Time)),
            Node::Free(p) => {
                Rule::Slope(one(matches!(self.with, Variable::Parameter(name) if name == p.name())))
            }
            Node::Apply(op, operands) => {
                let slopes = operands.map(|operand| self.slope(operand));
                if slopes.iter().all(Option::is_none) {
                    Rule::Slope(None)
                } else if let Some(opened) = moving(*op) {
                    Rule::As(opened.over(*op, &operands[..op.arity()], self.graph))
                } else {
                    Rule::Slope(self.primitive(*op, *operands, slopes, id))
                }
            }
            Node::Keyed(keyed) => self.keyed(keyed),
        }
    }

    /// The derivative of a primitive whose value is `f`. An unmoved operand's slope is `None`; places beyond the arity repeat
    /// the first.
    fn primitive(
        &self,
        op: Op,
        [x, y, _]: [Id; MAX_ARITY],
        [dx, dy, dz]: [Option<Slope>; MAX_ARITY],
        f: Id,
    ) -> Option<Slope> {
        use Op::*;
        use Steep::{Bounded, Plain, Vanishing};
        let one = || self.graph.constant(1.0);
        let on = |op: Op, x: Id| self.graph.apply(op, &[x]);
        let of = |op: Op, x: Id, y: Id| self.graph.apply(op, &[x, y]);
        // the same table as keyfit-autodiff's
        match op {
            ADD => self.sum(dx, dy),
            SUB => self.difference(dx, dy),
            MUL => self.sum(self.times(y, dx, Plain), self.times(x, dy, Plain)),
            DIV => {
                let by_x = dx.and_then(|dx| self.times(of(DIV, one(), y), Some(dx), Plain));
                let by_y = dy.and_then(|dy| self.times(self.neg(of(DIV, f, y)), Some(dy), Vanishing));
                self.sum(by_x, by_y)
            }
            NEG => dx.map(|dx| Slope { id: self.neg(dx.id), ..dx }),
            ABS => dx.map(|dx| Slope {
                id: self.select(of(STEP, self.graph.zero(), x), dx.id, self.neg(dx.id)),
                ..dx
            }),
            MIN => self.choice([x, y], [dx, dy], [of(STEP, x, y), of(STEP, y, x)]),
            MAX => self.choice([x, y], [dx, dy], [of(STEP, y, x), of(STEP, x, y)]),
            MOD => {
                let turns = || on(NEG, on(ROUND, of(SUB, of(DIV, x, y), of(DIV, f, y))));
                self.sum(dx, dy.and_then(|dy| self.times(turns(), Some(dy), Plain)))
            }
            POW => {
                let dy = dy.filter(|_| self.graph.number(y).is_none());
                self.sum(self.power_by_base(x, y, f, dx), self.power_by_exponent(x, f, dy))
            }
            SQRT => self.times(of(DIV, self.graph.constant(0.5), on(ABS, f)), dx, Steep::Pole),
            EXP => self.times(f, dx, Vanishing),
            EXP2 => self.times(of(MUL, f, self.graph.constant(std::f64::consts::LN_2)), dx, Vanishing),
            LN => self.times(of(DIV, one(), x), dx, Plain),
            SIN => self.times(on(COS, x), dx, Bounded),
            COS => self.times(on(NEG, on(SIN, x)), dx, Bounded),
            TAN => self.times(of(ADD, one(), of(MUL, f, f)), dx, Plain),
            ASIN | ACOS => {
                let root = on(SQRT, of(MUL, of(SUB, one(), x), of(ADD, one(), x)));
                let sign = if op == ASIN { 1.0 } else { -1.0 };
                self.times(of(DIV, self.graph.constant(sign), root), dx, Steep::Pole)
            }
            ATAN => self.times(of(DIV, one(), of(ADD, one(), of(MUL, x, x))), dx, Vanishing),
            SINH => self.times(on(COSH, x), dx, Plain),
            COSH => self.times(on(SINH, x), dx, Plain),
            TANH => {
                let sech = of(DIV, one(), on(COSH, x));
                self.times(of(MUL, sech, sech), dx, Vanishing)
            }
            ATAN2 => {
                // x and y are named as the table has them: the angle of the point (y, x)
                let h = of(HYPOT, y, x);
                let over = |x: Id| of(DIV, of(DIV, x, h), h);
                let by_y = dx.and_then(|dx| self.times(over(y), Some(dx), Plain));
                let by_x = dy.and_then(|dy| self.times(over(x), Some(dy), Plain));
                self.unless_zero(h, self.difference(by_y, by_x))
            }
            HYPOT => {
                let by_x = dx.and_then(|dx| self.times(of(DIV, x, f), Some(dx), Bounded));
                let by_y = dy.and_then(|dy| self.times(of(DIV, y, f), Some(dy), Bounded));
                self.unless_zero(f, self.sum(by_x, by_y))
            }
            SELECT => {
                dy.or(dz)?;
                let (a, b) = (dy.unwrap_or(self.rest()), dz.unwrap_or(self.rest()));
                Some(Slope { id: self.select(x, a.id, b.id), risk: a.risk.max(b.risk) })
            }
            // FLOOR, CEIL, ROUND, SIGN and STEP are flat; the others are composite and do not come here
            _ => None,
        }
    }

    /// The derivative of `x` to the power `y` by the base: y·xʸ⁻¹.
    fn power_by_base(&self, x: Id, y: Id, f: Id, dx: Option<Slope>) -> Option<Slope> {
        let dx = dx?;
        let of = |op: Op, x: Id, y: Id| self.graph.apply(op, &[x, y]);
        if let Some(n) = self.graph.number(y) {
            if n == 0.0 {
                return None;
            }
            let lower = n - 1.0;
            if lower + 1.0 == n && n - lower == 1.0 {
                let power = match lower {
                    0.0 => self.graph.constant(1.0),
                    1.0 => x,
                    _ => of(Op::POW, x, self.graph.constant(lower)),
                };
                let steep = if (0.0..1.0).contains(&n) { Steep::Pole } else { Steep::Plain };
                return self.times(self.mul(y, power), Some(dx), steep);
            }
        }
        let at_zero = of(Op::MUL, y, of(Op::POW, x, of(Op::SUB, y, self.graph.constant(1.0))));
        let slope = self.select(x, of(Op::MUL, of(Op::DIV, f, x), y), at_zero);
        let slope =
            if self.graph.number(y).is_some() { slope } else { self.select(y, slope, self.graph.zero()) };
        self.times(slope, Some(dx), Steep::Pole)
    }

    /// The derivative of `x` to a power, `f`, by the exponent: f·ln x, and 0 where f is.
    fn power_by_exponent(&self, x: Id, f: Id, dy: Option<Slope>) -> Option<Slope> {
        let dy = dy?;
        let slope = self.graph.apply(Op::MUL, &[f, self.graph.apply(Op::LN, &[x])]);
        match self.graph.number(x) {
            Some(base) if base > 0.0 => self.times(slope, Some(dy), Steep::Vanishing),
            _ => self.times(self.select(f, slope, self.graph.zero()), Some(dy), Steep::Pole),
        }
    }

    /// The derivative of `min` or `max`, given where each operand is at least as much the value as the other.
    fn choice(
        &self,
        operands: [Id; 2],
        slopes: [Option<Slope>; 2],
        [first, second]: [Id; 2],
    ) -> Option<Slope> {
        let half = self.graph.constant(0.5);
        let risk = slopes.iter().flatten().map(|slope| slope.risk).max()?;
        let [a, b] = slopes.map(|slope| slope.map_or(self.graph.zero(), |slope| slope.id));
        let [by_a, by_b] = slopes.map(|slope| self.times(half, slope, Steep::Bounded));
        let mean = self.sum(by_a, by_b).map_or(self.graph.zero(), |mean| mean.id);
        // the one that moves, should the other rest for a moment
        let moving = |i: usize, slope: Id, yes: Id, no: Id| match self.known.get(&operands[i]) {
            Some(Known { moves_else: true, .. }) => yes,
            _ => self.if_moving(slope, yes, no),
        };
        let tie = moving(0, a, moving(1, b, mean, a), b);
        let id = if tie == a {
            self.select(first, a, b)
        } else if tie == b {
            self.select(second, b, a)
        } else {
            self.select(first, self.select(second, tie, a), b)
        };
        Some(Slope { id, risk })
    }

    /// `local`·`dx`, the derivative of a function whose own slope is `local`.
    fn times(&self, local: Id, dx: Option<Slope>, steep: Steep) -> Option<Slope> {
        let dx = dx?;
        if self.graph.is_plain() {
            return Some(Slope { id: self.mul(local, dx.id), ..dx });
        }
        let number = self.graph.number(local);
        if number == Some(0.0) {
            return None;
        }
        let mut id = self.mul(local, dx.id);
        let swallows = if steep == Steep::Vanishing { Risk::Overflow } else { Risk::Pole };
        if dx.risk >= swallows && number.is_none() {
            id = self.select(local, id, self.graph.zero());
        }
        if steep == Steep::Pole {
            id = self.if_moving(dx.id, id, self.graph.zero());
        }
        let small = number.is_some_and(|x| x.abs() <= 1.0);
        let unit = self.graph.number(dx.id).is_some_and(|x| x.abs() <= 1.0);
        let size = self.graph.node(self.negated(local).unwrap_or(local));
        let leaf = matches!(size, Some(Node::Clock | Node::Free(_)));
        let risk = match steep {
            _ if self.graph.number(id).is_some_and(f64::is_finite) || unit && leaf => Risk::Finite,
            Steep::Pole => Risk::Pole,
            Steep::Bounded => dx.risk,
            _ if small => dx.risk,
            Steep::Plain | Steep::Vanishing => dx.risk.max(Risk::Overflow),
        };
        Some(Slope { id, risk })
    }

    fn sum(&self, a: Option<Slope>, b: Option<Slope>) -> Option<Slope> {
        match (a, b) {
            (Some(a), Some(b)) => self.joined(Op::ADD, a, b),
            (one, other) => one.or(other),
        }
    }

    fn difference(&self, a: Option<Slope>, b: Option<Slope>) -> Option<Slope> {
        match (a, b) {
            (Some(a), Some(b)) => self.joined(Op::SUB, a, b),
            (None, Some(b)) => Some(Slope { id: self.neg(b.id), ..b }),
            (a, None) => a,
        }
    }

    fn joined(&self, op: Op, a: Slope, b: Slope) -> Option<Slope> {
        let id = self.graph.apply(op, &[a.id, b.id]);
        match self.graph.number(id) {
            Some(0.0) => None,
            Some(x) if x.is_finite() => Some(Slope { id, risk: Risk::Finite }),
            _ => Some(Slope { id, risk: a.risk.max(b.risk).max(Risk::Overflow) }),
        }
    }

    /// The slope where `x` is not 0.
    fn unless_zero(&self, x: Id, slope: Option<Slope>) -> Option<Slope> {
        let guarded = |slope: Slope| Slope { id: self.select(x, slope.id, self.graph.zero()), ..slope };
        if self.graph.is_plain() { slope } else { slope.map(guarded) }
    }

    /// a·b; no product with −1, nor of two negated factors.
    fn mul(&self, a: Id, b: Id) -> Id {
        if self.graph.is_plain() {
            return self.graph.apply(Op::MUL, &[a, b]);
        }
        match (self.graph.number(a), self.graph.number(b)) {
            (Some(-1.0), _) => self.neg(b),
            (_, Some(-1.0)) => self.neg(a),
            _ => match (self.negated(a), self.negated(b)) {
                (Some(a), Some(b)) => self.graph.apply(Op::MUL, &[a, b]),
                _ => self.graph.apply(Op::MUL, &[a, b]),
            },
        }
    }

    /// −x; no sign twice, not even in a product.
    fn neg(&self, x: Id) -> Id {
        if self.graph.is_plain() {
            return self.graph.apply(Op::NEG, &[x]);
        }
        if let Some(inner) = self.negated(x) {
            return inner;
        }
        if let Some(Node::Apply(Op::MUL, [a, b, _])) = self.graph.node(x) {
            let factors = self.negated(a).map(|a| [a, b]).or_else(|| self.negated(b).map(|b| [a, b]));
            if let Some(factors) = factors {
                return self.graph.apply(Op::MUL, &factors);
            }
        }
        self.graph.apply(Op::NEG, &[x])
    }

    /// What the node is the negative of, if it is written so.
    fn negated(&self, id: Id) -> Option<Id> {
        match self.graph.node(id) {
            Some(Node::Apply(Op::NEG, [inner, ..])) => Some(inner),
            _ => None,
        }
    }

    fn select(&self, c: Id, yes: Id, no: Id) -> Id {
        self.graph.apply(Op::SELECT, &[c, yes, no])
    }

    /// `yes` where the slope is not 0; no question where it is a number.
    fn if_moving(&self, slope: Id, yes: Id, no: Id) -> Id {
        match self.graph.number(slope) {
            Some(0.0) => no,
            Some(x) if !x.is_nan() => yes,
            // but for the sign of a zero
            _ if (yes, no) == (slope, self.graph.zero()) => slope,
            _ => self.select(slope, yes, no),
        }
    }
}
