//! Rules that no pair of formulas can say: evaluation, and those of key lists of any length.

use std::sync::Arc;

use keyfit_ir::{Keyed, Keyframe, Op, Shape};

use super::Evidence::{Definition, Lemma};
use super::{Evidence, Rule, Sides, Verdict};
use crate::bank::{Bank, Cell, Place};
use crate::head::Head;

/// The rules that are no pairs of formulas.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Custom {
    /// What holds constants only is a constant.
    Evaluate,
    /// What can have one value only is that constant.
    Known,
    /// A keyed track of one key is its value.
    OneKey,
    /// Read before the first key.
    Before,
    /// Read behind the last key.
    After,
    /// Keys that are all the same.
    Alike,
    /// A hold's key that repeats the one before it.
    DeadKey,
    /// The first of two keys at one time, behind a hold.
    HiddenJump,
    /// A clock that is clamped to the keys' range.
    ClampedClock,
    /// Keys that the clock never reaches.
    Tail,
    /// Keys that the clock has always passed.
    Head,
    /// A segment between equal keys.
    Flat,
    /// An operation on a track of holds.
    OfHold,
    /// An easing of what is clamped to where it moves.
    EaseClamped,
}

const fn custom(name: &'static str, rule: Custom, evidence: Evidence, why: &'static str) -> Rule {
    Rule { name, sides: Sides::Custom(rule), when: &[], verdict: Verdict::Sound(evidence), why }
}

#[rustfmt::skip]
pub(super) const RULES: &[Rule] = &[
    custom("evaluate", Custom::Evaluate, Definition, "the sampler's own bits"),
    custom("known", Custom::Known, Lemma, "facts hold whatever the inputs are"),
    custom("one-key", Custom::OneKey, Definition, "before and behind a key the value is the key's; a clock that is NaN gives NaN"),
    custom("keyed-before", Custom::Before, Definition, "before the first key the value is that key's"),
    custom("keyed-after", Custom::After, Definition, "from the last key on the value is that key's"),
    custom("keys-alike", Custom::Alike, Lemma, "by mix-same v + (v - v)*w is v for finite v but -0, whatever finite w is; a hold is v by definition"),
    custom("hold-dead-key", Custom::DeadKey, Definition, "the value is held anyway"),
    custom("hold-hidden-jump", Custom::HiddenJump, Definition, "at its time the last of two keys wins, and before it the one before is held"),
    custom("clock-clamped", Custom::ClampedClock, Definition, "outside the keys' range the value is held anyway"),
    custom("keyed-tail", Custom::Tail, Definition, "the clock ends before that segment begins"),
    custom("keyed-head", Custom::Head, Definition, "the clock begins when that segment has ended"),
    custom("flat-segment", Custom::Flat, Lemma, "by mix-same v + (v - v)*w is v for finite v but -0, whatever finite w is"),
    custom("operation-of-hold", Custom::OfHold, Definition, "at every time the track is one of its keys' values, or NaN where the clock is"),
    custom("ease-clamped", Custom::EaseClamped, Definition, "an easing is 0 up to 0 and 1 from 1 on"),
];

impl Custom {
    /// Both sides in words.
    pub fn texts(self) -> (&'static str, &'static str) {
        match self {
            Custom::Evaluate => ("an operation or keyed track on constants", "its value"),
            Custom::Known => ("a term", "the only value that it can have"),
            Custom::OneKey => ("linear[t0=v](clock)", "v"),
            Custom::Before => ("keys[t0=v ...](clock)", "v"),
            Custom::After => ("keys[... tn=v](clock)", "v"),
            Custom::Alike => ("keys[t0=v t1=v ... tn=v](clock)", "v"),
            Custom::DeadKey => ("hold[... t1=v t2=v ...](clock)", "hold[... t1=v ...](clock)"),
            Custom::HiddenJump => {
                ("keys[... t0=u hold t1=v t1=w ...](clock)", "keys[... t0=u hold t1=w ...](clock)")
            }
            Custom::ClampedClock => ("keys[t0=u ... tn=v](clamp(x, lo, hi))", "keys[t0=u ... tn=v](x)"),
            Custom::Tail => ("keys[... t1=v t2=w](clock)", "keys[... t1=v](clock)"),
            Custom::Head => ("keys[t0=v t1=w ...](clock)", "keys[t1=w ...](clock)"),
            Custom::Flat => ("keys[... t0=v SHAPE t1=v ...](clock)", "keys[... t0=v hold t1=v ...](clock)"),
            Custom::OfHold => ("f(hold[t0=v t1=w ...](clock))", "hold[t0=f(v) t1=f(w) ...](clock)"),
            Custom::EaseClamped => ("EASING(clamp(x, lo, hi))", "EASING(x)"),
        }
    }

    /// What it asks for.
    pub fn asks(self) -> &'static str {
        match self {
            Custom::Evaluate | Custom::DeadKey => "",
            Custom::HiddenJump => "",
            Custom::Known => "one value only is possible",
            Custom::OneKey => "clock is not NaN",
            Custom::Before => "clock is not NaN and before t0",
            Custom::After => "clock is not NaN and not before tn",
            Custom::Alike => {
                "clock is not NaN; where a shape is not hold, v is finite and not -0, and no shape is tcb, monotone, cubic or css's"
            }
            Custom::ClampedClock => {
                "lo <= t0, below it if two keys are there; tn <= hi; lo and hi are constants"
            }
            Custom::Tail => "clock <= t1, before it if t2 is t1; shapes are linear, hold or easings",
            Custom::Head => "t1 <= clock; shapes are linear, hold or easings",
            Custom::Flat => "SHAPE is linear or an easing that is an operation; v is finite and not -0",
            Custom::OfHold => {
                "all other operands, and the keys, are constants; clock is not NaN, or f of NaN is NaN"
            }
            Custom::EaseClamped => "lo <= 0, 1 <= hi; lo and hi are constants",
        }
    }

    /// The term that the rule puts for the one at `place`, in the bank; `None` where the rule does not apply.
    pub fn rewrite(self, bank: &mut Bank, place: Place) -> Option<Place> {
        let cell = bank.cells().get(place as usize)?.clone();
        match self {
            Custom::Evaluate => {
                if cell.children.is_empty() || cell.children.iter().any(|child| bank.number(*child).is_none())
                {
                    return None;
                }
                let x = match cell.head {
                    Head::Apply(op) => evaluate(bank, op, &cell.children)?,
                    _ => bank.track(place).ok()?.sample(0.0),
                };
                Some(bank.constant(x))
            }
            Custom::Known => {
                let x = bank.fact(place).constant()?;
                (!cell.children.is_empty()).then(|| bank.constant(x))
            }
            Custom::OfHold => of_hold(bank, &cell),
            Custom::EaseClamped => {
                let Head::Apply(op) = cell.head else { return None };
                let inner = unclamped(bank, *cell.children.first()?, |lo| lo <= 0.0, |hi| hi >= 1.0)?;
                op.is_easing().then(|| bank.apply(op, &[inner]))
            }
            Custom::OneKey
            | Custom::Before
            | Custom::After
            | Custom::Alike
            | Custom::DeadKey
            | Custom::HiddenJump
            | Custom::ClampedClock
            | Custom::Tail
            | Custom::Head
            | Custom::Flat => {
                let keyed = keyed(&cell)?;
                self.of_keys(bank, &keyed)
            }
        }
    }

    fn of_keys(self, bank: &mut Bank, keyed: &Keyed<Place>) -> Option<Place> {
        let (keys, clock) = (keyed.keys(), bank.fact(keyed.clock()));
        let (first, last) = (keys.first()?, keys.last()?);
        let time = |k: usize| keys[k].time();
        let asked = !clock.may_be_nan();
        let (from, to) = clock.range().unwrap_or((f64::INFINITY, f64::NEG_INFINITY));
        let independent =
            |shape: &Shape<Place>| matches!(shape, Shape::Linear | Shape::Hold | Shape::Eased(_));
        let steady = |bank: &Bank, v: Place| {
            let fact = bank.fact(v);
            fact.is_finite() && !fact.may_be_negative_zero()
        };
        match self {
            Custom::OneKey => (keys.len() == 1 && asked).then_some(first.value),
            Custom::Before => {
                let early = to < first.time() || (to == first.time() && (keys.len() == 1 || time(1) > to));
                (early && asked).then_some(first.value)
            }
            Custom::After => (from >= last.time() && asked).then_some(last.value),
            Custom::Alike => {
                let alike = keys.iter().all(|key| key.value == first.value);
                let holds = keyed.shapes().iter().all(|shape| *shape == Shape::Hold);
                let flat = |shape: &Shape<Place>| match shape {
                    Shape::Hold | Shape::Linear | Shape::CatmullRom => true,
                    Shape::Eased(easing) => easing.op().is_some(),
                    Shape::Tcb | Shape::Monotone | Shape::Cubic { .. } => false,
                };
                let keeps = holds || (keyed.shapes().iter().all(flat) && steady(bank, first.value));
                (alike && keeps && asked).then_some(first.value)
            }
            Custom::DeadKey => {
                let holds = keyed.shapes().iter().all(|shape| *shape == Shape::Hold);
                let dead = keys.windows(2).position(|pair| pair[0].value == pair[1].value)? + 1;
                if holds { without(bank, keyed, dead) } else { None }
            }
            Custom::HiddenJump => {
                let splines =
                    |shape: &Shape<Place>| matches!(shape, Shape::CatmullRom | Shape::Tcb | Shape::Monotone);
                if keyed.shapes().iter().any(splines) {
                    return None;
                }
                let hidden = (1..keys.len().saturating_sub(1))
                    .find(|&k| time(k) == time(k + 1) && keyed.shapes()[k - 1] == Shape::Hold)?;
                without(bank, keyed, hidden)
            }
            Custom::ClampedClock => {
                let jump = keys.len() > 1 && time(1) == time(0);
                let low = |lo: f64| lo < first.time() || (lo == first.time() && !jump);
                let inner = unclamped(bank, keyed.clock(), low, |hi| hi >= last.time())?;
                insert(bank, &Keyed::new(frames(keyed), inner).ok()?)
            }
            Custom::Tail => {
                let end = keys.len().checked_sub(2)?;
                let late = time(end) > to || (time(end) == to && last.time() > to);
                (late && keyed.shapes().iter().all(independent)).then(|| without(bank, keyed, end + 1))?
            }
            Custom::Head => {
                let passed = keys.len() > 1 && time(1) <= from && clock.range().is_some();
                (passed && keyed.shapes().iter().all(independent)).then(|| without(bank, keyed, 0))?
            }
            Custom::Flat => {
                let moves = |shape: &Shape<Place>| match shape {
                    Shape::Linear => true,
                    Shape::Eased(easing) => easing.op().is_some(),
                    _ => false,
                };
                let flat = (0..keyed.shapes().len()).find(|&k| {
                    moves(&keyed.shapes()[k])
                        && keys[k].value == keys[k + 1].value
                        && steady(bank, keys[k].value)
                })?;
                let mut frames = frames(keyed);
                frames[flat].shape = Shape::Hold;
                insert(bank, &Keyed::new(frames, keyed.clock()).ok()?)
            }
            Custom::Evaluate | Custom::Known | Custom::OfHold | Custom::EaseClamped => None,
        }
    }
}

/// The sampler's value of an operation on constants.
fn evaluate(bank: &Bank, op: Op, operands: &[Place]) -> Option<f64> {
    let values: Vec<f64> = operands.iter().map(|operand| bank.number(*operand)).collect::<Option<_>>()?;
    let at = |k: usize| values.get(k).unwrap_or(&0.0);
    Some(op.apply([at(0), at(1), at(2)]))
}

/// The key list of a term, with its children in place.
fn keyed(cell: &Cell) -> Option<Keyed<Place>> {
    let Head::Keyed(keyed) = &cell.head else { return None };
    let mut children = cell.children.iter();
    keyed.try_map(|()| children.next().copied().ok_or(())).ok()
}

fn frames(keyed: &Keyed<Place>) -> Vec<Keyframe<Place>> {
    let frame = |(k, key): (usize, &keyfit_ir::Key<Place>)| Keyframe {
        time: key.time(),
        value: key.value,
        tcb: keyed.tcb(k),
        shape: keyed.shapes().get(k).copied().unwrap_or(Shape::Linear),
    };
    keyed.keys().iter().enumerate().map(frame).collect()
}

fn insert(bank: &mut Bank, keyed: &Keyed<Place>) -> Option<Place> {
    let children: Vec<Place> = keyed.children().copied().collect();
    Some(bank.insert(Head::Keyed(Arc::new(keyed.map(|_| ()))), children))
}

/// The same keys without key `k`.
fn without(bank: &mut Bank, keyed: &Keyed<Place>, k: usize) -> Option<Place> {
    let mut frames = frames(keyed);
    frames.remove(k);
    insert(bank, &Keyed::new(frames, keyed.clock()).ok()?)
}

/// What a clamp, minimum or maximum with idle bounds is of. Constants stand in any place of the operands.
fn unclamped(
    bank: &Bank,
    place: Place,
    low: impl Fn(f64) -> bool,
    high: impl Fn(f64) -> bool,
) -> Option<Place> {
    let cell = bank.cell(place)?;
    let Head::Apply(op) = cell.head else { return None };
    let idle = |child: Place, test: &dyn Fn(f64) -> bool| bank.number(child).is_some_and(test);
    match (op, &cell.children[..]) {
        (Op::CLAMP, [x, lo, hi]) => (idle(*lo, &low) && idle(*hi, &high)).then_some(*x),
        (Op::MIN, [a, b]) if idle(*b, &high) => Some(*a),
        (Op::MIN, [a, b]) if idle(*a, &high) => Some(*b),
        (Op::MAX, [a, b]) if idle(*b, &low) => Some(*a),
        (Op::MAX, [a, b]) if idle(*a, &low) => Some(*b),
        _ => None,
    }
}

/// An operation whose operands are constants and one hold track of constants.
fn of_hold(bank: &mut Bank, cell: &Cell) -> Option<Place> {
    let Head::Apply(op) = cell.head else { return None };
    let is_constant = |place: Place| bank.number(place).is_some();
    let track = cell.children.iter().copied().find(|child| !is_constant(*child))?;
    if cell.children.iter().any(|child| *child != track && !is_constant(*child)) {
        return None;
    }
    let keyed = keyed(bank.cell(track)?)?;
    let holds = keyed.shapes().iter().all(|shape| *shape == Shape::Hold);
    if !holds || !keyed.keys().iter().all(|key| is_constant(key.value)) {
        return None;
    }
    let at = |value: f64| {
        let operands: Vec<f64> =
            cell.children.iter().map(|child| bank.number(*child).unwrap_or(value)).collect();
        let at = |k: usize| operands.get(k).unwrap_or(&0.0);
        op.apply([at(0), at(1), at(2)])
    };
    if bank.fact(keyed.clock()).may_be_nan() && !at(f64::NAN).is_nan() {
        return None;
    }
    let values: Vec<f64> =
        keyed.keys().iter().map(|key| bank.number(key.value).map(at)).collect::<Option<_>>()?;
    let mut frames = frames(&keyed);
    for (frame, value) in frames.iter_mut().zip(values) {
        frame.value = bank.constant(value);
    }
    insert(bank, &Keyed::new(frames, keyed.clock()).ok()?)
}
