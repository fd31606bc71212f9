//! What egg found, as a proof.

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use egg::{RecExpr, TreeTerm};

use super::egraph::KNOWN;
use super::window::Trouble::{self, Unfollowed};
use crate::bank::{Bank, Cell, Place};
use crate::facts::Bounds;
use crate::pattern::{Substitution, VARIABLES};
use crate::proof::{Proof, ProofError, Step};
use crate::rules::{RuleSet, Sides, named};
use crate::term::Term;

/// An explanation as a proof in the making.
pub(super) struct Told {
    bounds: Bounds,
    bank: Bank,
    steps: Vec<Step>,
    /// For terms of the explanation that were read: the first and the last term that they stand for.
    ends: HashMap<*const TreeTerm<Term>, (Place, Place)>,
}

impl Told {
    pub fn new(bounds: &Bounds) -> Told {
        Told { bounds: bounds.clone(), bank: Bank::new(bounds), steps: Vec::new(), ends: HashMap::new() }
    }

    pub fn add(&mut self, expr: &RecExpr<Term>) -> Place {
        let mut places: Vec<Place> = Vec::new();
        for term in expr {
            let children: Vec<Place> =
                term.children.iter().map(|child| places[usize::from(*child)]).collect();
            places.push(self.bank.insert(term.head.clone(), children));
        }
        places.last().copied().unwrap_or_default()
    }

    /// Reads a chain of terms, each got from the one before by a rule or by rewriting its children. Windows are small, and
    /// so is the depth of their explanations.
    pub fn read(&mut self, chain: &[Rc<TreeTerm<Term>>]) -> Result<(Place, Place), Trouble> {
        let mut ends: Option<(Place, Place)> = None;
        for term in chain {
            let (first, last) = self.term(term)?;
            if let Some((_, before)) = ends {
                match (term.forward_rule, term.backward_rule) {
                    (Some(way), _) => self.step(way.as_str(), before, first)?,
                    (None, Some(way)) => self.step(way.as_str(), first, before)?,
                    (None, None) => {}
                }
            }
            ends = Some((ends.map_or(first, |(first, _)| first), last));
        }
        ends.ok_or(Unfollowed)
    }

    fn term(&mut self, term: &Rc<TreeTerm<Term>>) -> Result<(Place, Place), Trouble> {
        if let Some(ends) = self.ends.get(&Rc::as_ptr(term)) {
            return Ok(*ends);
        }
        let (mut first, mut last) = (Vec::new(), Vec::new());
        for chain in &term.child_proofs {
            let (a, b) = self.read(chain)?;
            first.push(a);
            last.push(b);
        }
        let head = &term.node.head;
        let ends = (self.bank.insert(head.clone(), first), self.bank.insert(head.clone(), last));
        self.ends.insert(Rc::as_ptr(term), ends);
        Ok(ends)
    }

    fn step(&mut self, way: &str, from: Place, to: Place) -> Result<(), Trouble> {
        let none: Substitution = [None; VARIABLES.len()];
        let (rule, backward, place, result, substitution) = if way == KNOWN {
            let (place, result) = if self.bank.number(from).is_some() { (to, from) } else { (from, to) };
            (KNOWN, false, place, result, none)
        } else {
            let backward = way.ends_with('<');
            let number: usize = way.trim_end_matches(['<', '>']).parse().map_err(|_| Unfollowed)?;
            let ready = RuleSet::get().rules().get(number).ok_or(Unfollowed)?;
            let (Sides::Formulas(..), Some([left, right])) = (&ready.rule.sides, &ready.sides) else {
                return Err(Unfollowed);
            };
            let side = if backward { right } else { left };
            let substitution = side.matches(&self.bank, from).ok_or(Unfollowed)?;
            (ready.rule.name, backward, from, to, substitution)
        };
        let step = Step {
            rule: rule.into(),
            backward,
            place,
            result,
            substitution: named(&substitution).map(|(name, place)| (name.into(), place)).collect(),
        };
        if !self.steps.contains(&step) {
            self.steps.push(step);
        }
        Ok(())
    }

    /// The proof, with its steps in an order in which each finds its conditions established.
    pub fn proof(self, before: Place, after: Place) -> Result<Proof, Trouble> {
        let terms: Vec<Arc<Cell>> = self.bank.cells().to_vec();
        let mut proof = Proof { bounds: self.bounds, terms, steps: self.steps, before, after };
        for _ in 0..=proof.steps.len() {
            match proof.check() {
                Ok(()) => return Ok(proof),
                Err(ProofError::Condition { step, .. } | ProofError::NotAnInstance { step, .. }) => {
                    // perhaps a later step says what is missing
                    let waiting = proof.steps.remove(step);
                    proof.steps.push(waiting);
                }
                Err(_) => break,
            }
        }
        Err(Unfollowed)
    }
}
