//! Rules as SMT-LIB: a file is unsatisfiable exactly if the rule keeps every bit.
//!
//! SMT-LIB's `=` on floating-point numbers tells ±0 apart and has one NaN, as a rule's equality does. Minimum, maximum and
//! the remainder by 1 are written with `ite` and exact operations; the solvers' own `fp.min`, `fp.max` and `fp.rem` have
//! other zeros, and have had bugs. Functions that SMT-LIB does not have are uninterpreted: what is proved then holds for
//! any function in their place. A rule may have [`laws()`] with which it is proved where the full meaning is too hard.

pub mod laws;

use std::collections::BTreeSet;
use std::fmt::Write;

use keyfit_ir::{Names, Node, Op, SyntaxError, Track};

use crate::condition::{Condition, Need};
use crate::pattern::VARIABLES;
use crate::rules::{Rule, Sides};
use laws::{Application, Law, Laws, laws, ordered};

/// The formats in which a rule can be stated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Width {
    /// binary16
    Half,
    /// binary32
    Single,
    /// binary64, the one that tracks are made of.
    Double,
}

impl Width {
    /// The number of bits.
    pub fn bits(self) -> u32 {
        match self {
            Width::Half => 16,
            Width::Single => 32,
            Width::Double => 64,
        }
    }

    /// Bits of the exponent, and of the significand with its hidden bit.
    fn sizes(self) -> (u32, u32) {
        match self {
            Width::Half => (5, 11),
            Width::Single => (8, 24),
            Width::Double => (11, 53),
        }
    }
}

/// The rule's SMT-LIB file, if its sides are formulas.
///
/// # Errors
/// Where a side is no formula.
pub fn smt(rule: &Rule, width: Width) -> Result<Option<String>, SyntaxError> {
    text(rule, width, &[])
}

/// The rule's file at binary64 with the operations of its [`laws()`] as unknown functions that obey them; `None` for a
/// rule that has none. Only that it is unsatisfiable says something.
///
/// # Errors
/// Where a side is no formula.
pub fn smt_by_laws(rule: &Rule) -> Result<Option<String>, SyntaxError> {
    match laws(rule) {
        [] => Ok(None),
        laws => text(rule, Width::Double, laws),
    }
}

fn text(rule: &Rule, width: Width, laws: Laws) -> Result<Option<String>, SyntaxError> {
    let Sides::Formulas(left, right) = rule.sides else { return Ok(None) };
    let parse = |text: &str| Track::parse_with(text, &Names::new().starts(VARIABLES.map(|name| (name, 1.0))));
    let mut file = File {
        width,
        laws,
        in_conditions: false,
        applications: Vec::new(),
        body: String::new(),
        functions: BTreeSet::new(),
        count: 0,
    };
    let (eb, sb) = width.sizes();
    let mut variables: BTreeSet<String> = BTreeSet::new();
    let mut note = |track: &Track| {
        variables.extend(track.free_parameters().iter().map(|p| p.name().to_owned()));
    };
    let sides = [parse(left)?, parse(right)?];
    sides.iter().for_each(&mut note);
    let [left_name, right_name] = [file.term(&sides[0]), file.term(&sides[1])];
    file.in_conditions = true;
    for condition in rule.when {
        let terms: Vec<Track> = condition.terms().map(parse).collect::<Result<_, _>>()?;
        terms.iter().for_each(&mut note);
        let names: Vec<String> = terms.iter().map(|term| file.term(term)).collect();
        file.assume(condition, &names);
    }
    for instance in file.instances(laws) {
        let _ = writeln!(file.body, "(assert {instance})");
    }
    let mut text = format!("; {}: {left} = {right}\n", rule.name);
    for condition in rule.when {
        let _ = writeln!(text, "; where {condition}");
    }
    for (op, law) in laws {
        let _ = writeln!(text, "; by the law: {}", law.texts(*op).0);
    }
    let _ = writeln!(text, "(set-logic ALL)\n(define-sort F () (_ FloatingPoint {eb} {sb}))");
    for name in &variables {
        let _ = writeln!(text, "(declare-const {name} F)");
    }
    for op in &file.functions {
        let operands = vec!["F"; op.arity()].join(" ");
        let _ = writeln!(text, "(declare-fun f_{} ({operands}) F)", op.word());
    }
    let _ = write!(text, "{}(assert (not (= {left_name} {right_name})))\n(check-sat)\n", file.body);
    Ok(Some(text))
}

struct File {
    width: Width,
    /// The operations in them are unknown functions.
    laws: Laws,
    in_conditions: bool,
    applications: Vec<Application>,
    body: String,
    functions: BTreeSet<Op>,
    count: usize,
}

impl File {
    /// Defines a term node by node; gives its name.
    fn term(&mut self, track: &Track) -> String {
        let mut names: Vec<String> = Vec::new();
        for node in track.nodes() {
            let name = match node {
                Node::Constant(x) => self.constant(x.value()),
                Node::Free(p) => p.name().to_owned(),
                Node::Apply(op, operands) => {
                    let at = |k: usize| names[operands[k].index()].as_str();
                    let meaning = self.operation(*op, [at(0), at(1), at(2)]);
                    self.define("F", &meaning)
                }
                // the sides of rules have neither
                Node::Clock | Node::Keyed(_) => "(_ NaN 0 0)".to_owned(),
            };
            names.push(name);
        }
        names.pop().unwrap_or_default()
    }

    fn define(&mut self, sort: &str, meaning: &str) -> String {
        self.count += 1;
        let name = format!("v{}", self.count);
        let _ = writeln!(self.body, "(define-fun {name} () {sort} {meaning})");
        name
    }

    /// A constant: exactly the double's bits, rounded where the format is narrower.
    fn constant(&self, x: f64) -> String {
        let (eb, sb) = self.width.sizes();
        if x.is_nan() {
            return format!("(_ NaN {eb} {sb})");
        }
        let bits = format!("{:064b}", x.to_bits());
        let double = format!("(fp #b{} #b{} #b{})", &bits[..1], &bits[1..12], &bits[12..]);
        match self.width {
            Width::Double => double,
            Width::Half | Width::Single => format!("((_ to_fp {eb} {sb}) RNE {double})"),
        }
    }

    /// What an operation means. The one place that says so for solvers; primitives are SMT-LIB's, composites as the table
    /// of operations has them.
    fn operation(&mut self, op: Op, [a, b, c]: [&str; 3]) -> String {
        let (one, zero) = (self.constant(1.0), self.constant(0.0));
        let unknown = |(own, law): &(Op, Law)| *own == op && (!self.in_conditions || *law == Law::Any);
        if self.laws.iter().any(unknown) {
            return self.unknown(op, &[a, b][..op.arity().min(2)]);
        }
        match op {
            Op::ADD => format!("(fp.add RNE {a} {b})"),
            Op::SUB => format!("(fp.sub RNE {a} {b})"),
            Op::MUL => format!("(fp.mul RNE {a} {b})"),
            Op::DIV => format!("(fp.div RNE {a} {b})"),
            Op::NEG => format!("(fp.neg {a})"),
            Op::ABS => format!("(fp.abs {a})"),
            Op::SQRT => format!("(fp.sqrt RNE {a})"),
            Op::FLOOR => format!("(fp.roundToIntegral RTN {a})"),
            Op::CEIL => format!("(fp.roundToIntegral RTP {a})"),
            Op::ROUND => format!("(fp.roundToIntegral RNE {a})"),
            Op::MIN => self.pick("fp.lt", "fp.isNegative", a, b),
            Op::MAX => self.pick("fp.gt", "fp.isPositive", a, b),
            Op::SIGN => format!("(ite (fp.gt {a} {zero}) {one} (ite (fp.lt {a} {zero}) (fp.neg {one}) {a}))"),
            Op::STEP => format!(
                "(ite (fp.geq {b} {a}) {one} (ite (fp.lt {b} {a}) {zero} {}))",
                self.constant(f64::NAN)
            ),
            Op::FRACT => self.fract(a),
            Op::CLAMP => {
                let raised = self.nested(Op::MAX, [a, b, b]);
                self.operation(Op::MIN, [&raised, c, c])
            }
            Op::MIX => {
                let way = self.nested(Op::SUB, [b, a, a]);
                let part = self.nested(Op::MUL, [&way, c, c]);
                self.operation(Op::ADD, [a, &part, a])
            }
            Op::GATE => {
                let (before, behind) = (self.nested(Op::STEP, [b, a, a]), self.nested(Op::STEP, [c, a, a]));
                let open = self.nested(Op::SUB, [&one, &behind, &one]);
                self.operation(Op::MUL, [&before, &open, &open])
            }
            Op::SMOOTHSTEP => {
                let (way, span) = (self.nested(Op::SUB, [c, a, a]), self.nested(Op::SUB, [b, a, a]));
                let part = self.nested(Op::DIV, [&way, &span, &span]);
                let u = self.nested(Op::CLAMP, [&part, &zero, &one]);
                let curve = self.cubic(&u);
                let step = self.operation(Op::STEP, [a, c, c]);
                format!("(ite (fp.eq {a} {b}) {step} {curve})")
            }
            Op::SMOOTH => {
                let u = self.nested(Op::CLAMP, [a, &zero, &one]);
                self.cubic(&u)
            }
            Op::QUAD_IN => {
                let u = self.nested(Op::CLAMP, [a, &zero, &one]);
                self.operation(Op::MUL, [&u, &u, &u])
            }
            Op::LINEAR => self.operation(Op::CLAMP, [a, &zero, &one]),
            Op::SELECT => {
                format!("(ite (fp.isNaN {a}) {} (ite (fp.isZero {a}) {c} {b}))", self.constant(f64::NAN))
            }
            Op::PING_PONG => {
                let both = self.nested(Op::ADD, [b, b, b]);
                let m = self.nested(Op::MOD, [a, &both, &both]);
                let back = self.nested(Op::SUB, [&both, &m, &m]);
                self.operation(Op::MIN, [&back, &m, &m])
            }
            Op::UNWRAP => {
                let way = self.nested(Op::SUB, [a, b, b]);
                let part = self.nested(Op::DIV, [&way, c, c]);
                let half = self.constant(0.5);
                let late = self.nested(Op::ADD, [&part, &half, &half]);
                let turns = self.nested(Op::FLOOR, [&late, &late, &late]);
                let taken = self.nested(Op::MUL, [c, &turns, &turns]);
                self.operation(Op::SUB, [a, &taken, &taken])
            }
            // no functions of SMT-LIB, or curves that need them
            Op::MOD | Op::POW | Op::ATAN2 | Op::HYPOT => self.unknown(op, &[a, b]),
            Op::EXP | Op::EXP2 | Op::LN | Op::SIN | Op::COS | Op::TAN | Op::ASIN | Op::ACOS | Op::ATAN => {
                self.unknown(op, &[a])
            }
            Op::SINH | Op::COSH | Op::TANH => self.unknown(op, &[a]),
            Op::SINE_IN | Op::SINE_OUT | Op::SINE_IN_OUT | Op::QUAD_OUT | Op::QUAD_IN_OUT => {
                self.unknown(op, &[a])
            }
            Op::CUBIC_IN | Op::CUBIC_OUT | Op::CUBIC_IN_OUT => self.unknown(op, &[a]),
            Op::QUART_IN | Op::QUART_OUT | Op::QUART_IN_OUT => self.unknown(op, &[a]),
            Op::QUINT_IN | Op::QUINT_OUT | Op::QUINT_IN_OUT => self.unknown(op, &[a]),
            Op::EXPO_IN | Op::EXPO_OUT | Op::EXPO_IN_OUT => self.unknown(op, &[a]),
            Op::CIRC_IN | Op::CIRC_OUT | Op::CIRC_IN_OUT => self.unknown(op, &[a]),
            Op::BACK_IN | Op::BACK_OUT | Op::BACK_IN_OUT => self.unknown(op, &[a]),
            Op::ELASTIC_IN | Op::ELASTIC_OUT | Op::ELASTIC_IN_OUT => self.unknown(op, &[a]),
            Op::BOUNCE_IN | Op::BOUNCE_OUT | Op::BOUNCE_IN_OUT => self.unknown(op, &[a]),
        }
    }

    fn nested(&mut self, op: Op, operands: [&str; 3]) -> String {
        let meaning = self.operation(op, operands);
        self.define("F", &meaning)
    }

    fn unknown(&mut self, op: Op, operands: &[&str]) -> String {
        self.functions.insert(op);
        let value = format!("(f_{} {})", op.word(), operands.join(" "));
        if let (Some(first), Some(last)) = (operands.first(), operands.last()) {
            let operands = [*first, *last].map(str::to_owned);
            self.applications.push(Application { op, operands, value: value.clone() });
        }
        value
    }

    /// IEEE 754-2019's minimum or maximum: of two zeros the one whose sign is asked for.
    fn pick(&self, before: &str, sign: &str, a: &str, b: &str) -> String {
        let nan = self.constant(f64::NAN);
        format!(
            "(ite (or (fp.isNaN {a}) (fp.isNaN {b})) {nan} (ite ({before} {a} {b}) {a} (ite ({before} {b} {a}) {b} (ite ({sign} {a}) {a} {b}))))"
        )
    }

    /// x less its whole part, which is exact; a negative remainder goes up by 1, and never to 1 itself.
    fn fract(&mut self, x: &str) -> String {
        let (one, zero, nan) = (self.constant(1.0), self.constant(0.0), self.constant(f64::NAN));
        let rest = self.define("F", &format!("(fp.sub RNE {x} (fp.roundToIntegral RTZ {x}))"));
        let raised = self.define("F", &format!("(fp.add RNE {rest} {one})"));
        let (eb, sb) = self.width.sizes();
        let exponent = format!("{:0width$b}", (1_u32 << (eb - 1)) - 2, width = eb as usize);
        let below = format!("(fp #b0 #b{exponent} #b{})", "1".repeat(sb as usize - 1));
        format!(
            "(ite (or (fp.isNaN {x}) (fp.isInfinite {x})) {nan} (ite (fp.isZero {rest}) {zero} (ite (fp.gt {rest} {zero}) {rest} (ite (= {raised} {one}) {below} {raised}))))"
        )
    }

    /// u·u·(3 − 2u)
    fn cubic(&mut self, u: &str) -> String {
        let (two, three) = (self.constant(2.0), self.constant(3.0));
        let square = self.nested(Op::MUL, [u, u, u]);
        let double = self.nested(Op::MUL, [&two, u, u]);
        let rest = self.nested(Op::SUB, [&three, &double, &three]);
        self.operation(Op::MUL, [&square, &rest, &rest])
    }

    fn assume(&mut self, condition: &Condition, terms: &[String]) {
        let (Some(a), b) = (terms.first(), terms.get(1)) else { return };
        let meaning = match (condition, b) {
            (Condition::Of(_, need), _) => self.need(*need, a),
            (Condition::Ordered(..), Some(b)) => ordered(a, b),
            (Condition::AtMost(..), Some(b)) => {
                format!("(or (fp.isNaN {a}) (fp.isNaN {b}) (fp.leq {a} {b}))")
            }
            (Condition::Below(..), Some(b)) => format!("(or (fp.isNaN {a}) (fp.isNaN {b}) (fp.lt {a} {b}))"),
            (_, None) => "true".to_owned(),
        };
        let _ = writeln!(self.body, "(assert {meaning})");
    }

    fn need(&mut self, need: Need, x: &str) -> String {
        match need {
            Need::NotNan => format!("(not (fp.isNaN {x}))"),
            Need::Finite => format!("(not (or (fp.isNaN {x}) (fp.isInfinite {x})))"),
            Need::SignClear => format!("(or (fp.isNaN {x}) (fp.isPositive {x}))"),
            Need::SignSet => format!("(or (fp.isNaN {x}) (fp.isNegative {x}))"),
            Need::NotNegativeZero => format!("(not (and (fp.isZero {x}) (fp.isNegative {x})))"),
            Need::NotPositiveZero => format!("(not (and (fp.isZero {x}) (fp.isPositive {x})))"),
            Need::NotZero => format!("(not (fp.isZero {x}))"),
            Need::Whole => {
                format!("(or (fp.isNaN {x}) (fp.isInfinite {x}) (fp.eq {x} (fp.roundToIntegral RTZ {x})))")
            }
            Need::Within(low, high) => {
                let (low, high) = (self.limit(low), self.limit(high));
                format!("(or (fp.isNaN {x}) (and (fp.leq {low} {x}) (fp.leq {x} {high})))")
            }
            // whatever the constant is
            Need::Constant => "true".to_owned(),
            Need::PowerOfTwo => {
                // a normal number with no bits behind the leading one
                let (one, (eb, sb)) = (self.constant(1.0), self.width.sizes());
                self.count += 1;
                let n = self.count;
                let _ = writeln!(
                    self.body,
                    "(declare-const s{n} (_ BitVec 1))\n(declare-const e{n} (_ BitVec {eb}))"
                );
                format!(
                    "(and (= {x} (fp s{n} e{n} (_ bv0 {}))) (fp.isNormal {x}) (fp.isNormal (fp.div RNE {one} {x})))",
                    sb - 1
                )
            }
        }
    }

    /// A limit of the double format, carried over to the same place in a narrower one.
    fn limit(&self, x: f64) -> String {
        let (eb, sb) = self.width.sizes();
        let magnitude = x.abs();
        if self.width == Width::Double || (1.0e-9..=1.0e9).contains(&magnitude) || !x.is_finite() || x == 0.0
        {
            return self.constant(x);
        }
        let bias = (1_i64 << (eb - 1)) - 1;
        let exponent = ((x.to_bits() >> 52) & 0x7ff) as i64 - 1023;
        let greatest = x.to_bits() << 12 == f64::MAX.to_bits() << 12;
        let (exponent, fraction) = if greatest {
            // the greatest number, and its quotients by powers of two
            (bias - (1023 - exponent), "1")
        } else if exponent == 52 {
            (i64::from(sb) - 1, "0")
        } else if (-1022..-1000).contains(&exponent) {
            // the least normal number, and its multiples by powers of two
            (1 - bias + (exponent + 1022), "0")
        } else {
            (exponent * bias / 1023, "0")
        };
        let sign = u8::from(x < 0.0);
        let field = (exponent + bias) as u64;
        format!(
            "(fp #b{sign} #b{field:0width$b} #b{})",
            fraction.repeat(sb as usize - 1),
            width = eb as usize
        )
    }
}
