//! One round of rewriting.

use std::time::Instant;

use keyfit_ir::{Op, Track};

use super::window::{self, Hopeless};
use super::{Options, SimplifyError};
use crate::bank::{Bank, Place};
use crate::cost::Cost;
use crate::head::Head;
use crate::pattern::{Pattern, Substitution, VARIABLES};
use crate::proof::{Proof, Step};
use crate::rules::custom::Custom;
use crate::rules::{RuleSet, Sides, named};

/// How deep new parts of a rule's side are rewritten at once; what lies deeper waits for the next round.
const DEPTH: usize = 8;
/// How often one term is rewritten in a round.
const PATIENCE: usize = 64;

/// The rules for operations that are no formulas, but for [`Custom::Known`], which comes last: rules by name say more.
const OF_OPERATIONS: [Custom; 3] = [Custom::Evaluate, Custom::OfHold, Custom::EaseClamped];
/// The rules for keyed tracks.
const OF_KEYS: [Custom; 12] = [
    Custom::Evaluate,
    Custom::OneKey,
    Custom::Before,
    Custom::After,
    Custom::Alike,
    Custom::ClampedClock,
    Custom::Tail,
    Custom::Head,
    Custom::Flat,
    Custom::HiddenJump,
    Custom::DeadKey,
    Custom::Known,
];

/// A round in the making.
pub(super) struct Pass<'a> {
    rules: &'a RuleSet,
    pub(super) cost: Cost,
    pub(super) bank: Bank,
    pub(super) steps: Vec<Step>,
    /// The place of each node of the track, and the term that stands for it now.
    before: Vec<Place>,
    pub(super) now: Vec<Place>,
    /// For each term that was rewritten as far as possible, what it became.
    normal: Vec<Option<Place>>,
    end: Option<Instant>,
    struck: bool,
    /// Windows that need not be looked at again.
    pub(super) hopeless: &'a mut Hopeless,
}

impl<'a> Pass<'a> {
    pub fn new(
        track: &Track,
        options: &Options,
        end: Option<Instant>,
        hopeless: &'a mut Hopeless,
    ) -> Pass<'a> {
        let mut bank = Bank::new(&options.bounds);
        let before = bank.graft(track);
        Pass {
            rules: RuleSet::get(),
            cost: options.cost,
            bank,
            steps: Vec::new(),
            now: before.clone(),
            before,
            normal: Vec::new(),
            end,
            struck: false,
            hopeless,
        }
    }

    /// Whether the deadline struck.
    pub fn struck(&self) -> bool {
        self.struck
    }

    pub(super) fn out_of_time(&mut self) -> bool {
        self.struck = self.struck || self.end.is_some_and(|end| Instant::now() >= end);
        self.struck
    }

    /// Rewrites every node by the rules that make it cheaper, children before parents.
    pub fn directed(&mut self) {
        // in a fresh bank the nodes of a track stand in the track's order
        let mut now: Vec<Place> = (0..self.bank.cells().len() as Place).collect();
        for i in 0..now.len() {
            if i % 1024 == 0 && self.out_of_time() {
                break;
            }
            let cell = self.bank.cells()[i].clone();
            let children: Vec<Place> = cell.children.iter().map(|child| now[*child as usize]).collect();
            let place = self.bank.insert(cell.head.clone(), children);
            self.bank.learn(place, self.bank.fact(i as Place));
            now[i] = self.normalise(place, 0);
        }
        self.now = self.before.iter().map(|place| now[*place as usize]).collect();
    }

    /// Saturates windows of what stands for the root now; how many results the checker could not follow.
    pub fn windows(&mut self, nodes: usize) -> Result<usize, SimplifyError> {
        if self.out_of_time() { Ok(0) } else { window::all(self, nodes) }
    }

    /// The track that came out, and why it has the same bits.
    pub fn finish(self) -> Result<(Track, Proof), SimplifyError> {
        let (before, after) =
            (self.before.last().copied().unwrap_or_default(), self.now.last().copied().unwrap_or_default());
        let track = self.bank.track(after)?;
        let proof = Proof {
            bounds: self.bank.bounds().clone(),
            terms: self.bank.cells().to_vec(),
            steps: self.steps,
            before,
            after,
        };
        Ok((track, proof))
    }

    /// The cheapest term that directed rules lead to.
    pub(super) fn normalise(&mut self, place: Place, depth: usize) -> Place {
        if depth > DEPTH {
            return place;
        }
        let mut at = place;
        let mut trail = Vec::new();
        while trail.len() < PATIENCE {
            if let Some(Some(done)) = self.normal.get(at as usize) {
                at = *done;
                break;
            }
            match self.rewrite(at, depth) {
                Some(next) if next != at && !trail.contains(&next) => {
                    trail.push(at);
                    at = next;
                }
                _ => break,
            }
        }
        trail.push(at);
        for place in trail {
            let place = place as usize;
            if self.normal.len() <= place {
                self.normal.resize(place + 1, None);
            }
            self.normal[place] = Some(at);
        }
        at
    }

    /// One rewriting of the term at `place`, by the first rule that applies.
    fn rewrite(&mut self, place: Place, depth: usize) -> Option<Place> {
        let cell = self.bank.cells().get(place as usize)?.clone();
        let (custom, op) = match &cell.head {
            Head::Apply(op) => (&OF_OPERATIONS[..], Some(*op)),
            Head::Keyed(_) => (&OF_KEYS[..], None),
            Head::Constant(_) | Head::Clock | Head::Free(_) => return None,
        };
        for rule in custom {
            if let Some(result) = rule.rewrite(&mut self.bank, place)
                && result != place
            {
                self.custom(*rule, place, result);
                return Some(result);
            }
        }
        let op = op?;
        if let Some(result) = self.cheaper(op, place, depth) {
            return Some(result);
        }
        if let (Some(comm), [a, b]) = (commutative(op), &cell.children[..])
            && a != b
        {
            // the rules are written one way round
            if let Some(result) = self.turned(comm, op, place, (*a, *b), depth) {
                return Some(result);
            }
        }
        if let Some(result) = Custom::Known.rewrite(&mut self.bank, place) {
            self.custom(Custom::Known, place, result);
            return Some(result);
        }
        let (Some(comm), [a, b]) = (commutative(op), &cell.children[..]) else { return None };
        // constants go to the right, and a term that is there already is better than its twin
        let constant = |place: &Place| self.bank.number(*place).is_some();
        let twin = self.bank.find(Head::Apply(op), [*b, *a]).filter(|twin| *twin < place);
        if (constant(a) && !constant(b)) || (twin.is_some() && !constant(a) && !constant(b)) {
            let turned = self.bank.apply(op, &[*b, *a]);
            self.turn(comm, place, turned, (*a, *b));
            return Some(turned);
        }
        None
    }

    fn cheaper(&mut self, op: Op, place: Place, depth: usize) -> Option<Place> {
        let rules = self.rules;
        for &(i, backward) in rules.cheaper(op, self.cost) {
            let ready = &rules.rules()[i];
            let Some([left, right]) = &ready.sides else { continue };
            let (from, to) = if backward { (right, left) } else { (left, right) };
            let Some(substitution) = from.matches(&self.bank, place) else { continue };
            if ready.applies(&self.bank, &substitution) {
                return self.put(i, backward, place, to, &substitution, depth);
            }
        }
        None
    }

    /// Tries the rules on the term with its operands the other way round.
    fn turned(
        &mut self,
        comm: &str,
        op: Op,
        place: Place,
        (a, b): (Place, Place),
        depth: usize,
    ) -> Option<Place> {
        let rules = self.rules;
        let applies = rules.cheaper(op, self.cost).iter().any(|&(i, backward)| {
            let ready = &rules.rules()[i];
            let Some([left, right]) = &ready.sides else { return false };
            let from = if backward { right } else { left };
            from.matches_operands(&self.bank, &[b, a]).is_some_and(|found| ready.applies(&self.bank, &found))
        });
        if !applies {
            return None;
        }
        let turned = self.bank.apply(op, &[b, a]);
        self.turn(comm, place, turned, (a, b));
        self.cheaper(op, turned, depth)
    }

    fn turn(&mut self, comm: &str, place: Place, turned: Place, (a, b): (Place, Place)) {
        let Some(i) = self.rules.position(comm) else { return };
        let mut substitution: Substitution = [None; VARIABLES.len()];
        let variables = self.rules.rules()[i].sides.iter().flat_map(|[left, _]| left.variables());
        for (v, operand) in variables.zip([a, b]) {
            substitution[v] = Some(operand);
        }
        self.step(i, false, place, turned, &substitution);
    }

    /// Puts a rule's other side in a term's place.
    fn put(
        &mut self,
        rule: usize,
        backward: bool,
        place: Place,
        to: &Pattern,
        substitution: &Substitution,
        depth: usize,
    ) -> Option<Place> {
        let parts = to.instantiate(&mut self.bank, substitution)?;
        let result = *parts.last()?;
        self.step(rule, backward, place, result, substitution);
        // its new parts may be rewritten, too; what they become makes an equal whole
        let mut now: Vec<Place> = Vec::with_capacity(parts.len());
        for (k, part) in parts.iter().enumerate() {
            let Some(operands) = to.operands(k) else {
                now.push(*part);
                continue;
            };
            let cell = self.bank.cells()[*part as usize].clone();
            let children: Vec<Place> = operands.iter().map(|operand| now[*operand]).collect();
            let rebuilt = self.bank.insert(cell.head.clone(), children);
            self.bank.learn(rebuilt, self.bank.fact(*part));
            let last = k + 1 == parts.len();
            now.push(if last { rebuilt } else { self.normalise(rebuilt, depth + 1) });
        }
        now.pop()
    }

    fn custom(&mut self, custom: Custom, place: Place, result: Place) {
        let found = self
            .rules
            .rules()
            .iter()
            .position(|ready| matches!(ready.rule.sides, Sides::Custom(other) if other == custom));
        if let Some(i) = found {
            self.step(i, false, place, result, &[None; VARIABLES.len()]);
        }
    }

    pub(super) fn step(
        &mut self,
        rule: usize,
        backward: bool,
        place: Place,
        result: Place,
        substitution: &Substitution,
    ) {
        self.steps.push(Step {
            rule: self.rules.rules()[rule].rule.name.into(),
            backward,
            place,
            result,
            substitution: named(substitution).map(|(name, place)| (name.into(), place)).collect(),
        });
        // both are one value
        let facts = [self.bank.fact(place), self.bank.fact(result)];
        self.bank.learn(place, facts[1]);
        self.bank.learn(result, facts[0]);
    }
}

/// The name of the rule that turns the operands round, for operations that have one.
pub(super) fn commutative(op: Op) -> Option<&'static str> {
    match op {
        Op::ADD => Some("add-comm"),
        Op::MUL => Some("mul-comm"),
        Op::MIN => Some("min-comm"),
        Op::MAX => Some("max-comm"),
        Op::HYPOT => Some("hypot-comm"),
        _ => None,
    }
}
