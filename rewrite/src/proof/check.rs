//! The checker of proofs. It knows the table of rules and the facts; of how proofs are found it knows nothing.
//!
//! Terms that are known to be equal form classes. A step joins two; terms with equal heads and equal children join of
//! themselves. What is known of one member of a class is known of all.

use std::collections::HashMap;

use super::{Established, Proof, ProofError, Step};
use crate::bank::{Bank, Cell, Place};
use crate::facts::Fact;
use crate::head::Head;
use crate::pattern::{Substitution, VARIABLES};
use crate::rules::custom::Custom;
use crate::rules::{Ready, RuleSet, Sides};

/// How often a class's fact may become tighter. Cyclic classes could go on for ever.
const PATIENCE: u8 = 32;

pub(super) fn check(proof: &Proof, rules: &RuleSet) -> Result<Vec<Vec<Established>>, ProofError> {
    let mut established = Vec::with_capacity(proof.steps.len());
    let mut classes = Classes::new(Bank::new(&proof.bounds));
    for (i, cell) in proof.terms.iter().enumerate() {
        let place = i as Place;
        if cell.children.iter().any(|child| *child >= place)
            || classes.bank.insert(cell.head.clone(), cell.children.clone()) != place
        {
            return Err(ProofError::Term(place));
        }
    }
    let known = proof.terms.len() as Place;
    let named = proof.steps.iter().flat_map(|step| {
        [step.place, step.result].into_iter().chain(step.substitution.iter().map(|(_, place)| *place))
    });
    if let Some(missing) = named.chain([proof.before, proof.after]).find(|place| *place >= known) {
        return Err(ProofError::Term(missing));
    }
    classes.settle(0)?;
    for (i, step) in proof.steps.iter().enumerate() {
        let Some(ready) = rules.find(&step.rule) else {
            return Err(ProofError::UnknownRule { step: i, rule: step.rule.clone() });
        };
        let other = |place| ProofError::NotAnInstance { step: i, rule: step.rule.clone(), place };
        match (&ready.rule.sides, &ready.sides) {
            (Sides::Custom(custom), _) => {
                if step.backward || !step.substitution.is_empty() {
                    return Err(other(step.place));
                }
                classes.tell(step.place);
                if custom.rewrite(&mut classes.bank, step.place) != Some(step.result) {
                    return Err(other(step.result));
                }
                established.push(classes.asked(*custom, step.place));
            }
            (Sides::Formulas(..), sides) => {
                let Some([left, right]) = sides else { return Err(other(step.place)) };
                let substitution = substitution(step).ok_or_else(|| other(step.place))?;
                let (from, to) = if step.backward { (right, left) } else { (left, right) };
                for (side, place) in [(from, step.place), (to, step.result)] {
                    let built = side.instantiate(&mut classes.bank, &substitution);
                    if built.and_then(|parts| parts.last().copied()) != Some(place) {
                        return Err(other(place));
                    }
                }
                established.push(classes.establish(i, ready, &substitution)?);
            }
        }
        classes.settle(i)?;
        classes.join(step.place, step.result);
        classes.settle(i)?;
    }
    match classes.find(proof.before) == classes.find(proof.after) {
        true => Ok(established),
        false => Err(ProofError::NotConnected),
    }
}

/// The variables by their numbers; `None` for a name that is no variable's or comes twice.
fn substitution(step: &Step) -> Option<Substitution> {
    let mut found: Substitution = [None; VARIABLES.len()];
    for (name, place) in &step.substitution {
        let v = VARIABLES.iter().position(|variable| variable == name)?;
        if found[v].replace(*place).is_some() {
            return None;
        }
    }
    Some(found)
}

struct Classes {
    bank: Bank,
    parent: Vec<Place>,
    /// For a class's root: what is known of its value, and how often that became tighter.
    facts: Vec<Fact>,
    tightened: Vec<u8>,
    /// For a class's root: the terms of which a member is a child.
    users: Vec<Vec<Place>>,
    /// One term for each head with classes as children.
    known: HashMap<Cell, Place>,
    /// Pairs that are equal, and terms to look at again.
    joins: Vec<(Place, Place)>,
    again: Vec<Place>,
}

impl Classes {
    fn new(bank: Bank) -> Classes {
        Classes {
            bank,
            parent: Vec::new(),
            facts: Vec::new(),
            tightened: Vec::new(),
            users: Vec::new(),
            known: HashMap::new(),
            joins: Vec::new(),
            again: Vec::new(),
        }
    }

    fn find(&mut self, place: Place) -> Place {
        let mut root = place;
        while self.parent[root as usize] != root {
            root = self.parent[root as usize];
        }
        let mut at = place;
        while at != root {
            at = std::mem::replace(&mut self.parent[at as usize], root);
        }
        root
    }

    fn fact(&mut self, place: Place) -> Fact {
        let root = self.find(place);
        self.facts[root as usize]
    }

    fn join(&mut self, a: Place, b: Place) {
        self.joins.push((a, b));
    }

    /// Tells the bank what is known of a term and its children.
    fn tell(&mut self, place: Place) {
        let cell = self.bank.cells()[place as usize].clone();
        for place in cell.children.iter().copied().chain([place]) {
            let fact = self.fact(place);
            self.bank.learn(place, fact);
        }
    }

    /// What a rule that is no pair of formulas asks for, and the fact that it hangs on.
    fn asked(&mut self, custom: Custom, place: Place) -> Vec<Established> {
        let cell = self.bank.cells()[place as usize].clone();
        let (name, place) = match (&cell.head, cell.children.last()) {
            (Head::Keyed(_), Some(clock)) => ("clock", *clock),
            _ => ("the term", place),
        };
        let condition = custom.asks().to_owned();
        let facts = vec![(name, self.fact(place))];
        if condition.is_empty() { Vec::new() } else { vec![Established { condition, facts }] }
    }

    fn establish(
        &mut self,
        step: usize,
        ready: &Ready,
        substitution: &Substitution,
    ) -> Result<Vec<Established>, ProofError> {
        let facts = substitution.map(|place| place.map_or(Fact::ANY, |place| self.fact(place)));
        let known = |v: usize| facts[v];
        let mut established = Vec::with_capacity(ready.conditions.len());
        for condition in &ready.conditions {
            let text = condition.condition.to_string();
            if !condition.follows(&known) {
                let rule = ready.rule.name.into();
                return Err(ProofError::Condition { step, rule, condition: text });
            }
            let terms = condition.condition.terms().zip(&condition.terms);
            let facts = terms.map(|(term, pattern)| (term, pattern.fact(&known))).collect();
            established.push(Established { condition: text, facts });
        }
        Ok(established)
    }

    /// Follows up what became known, until nothing more does.
    fn settle(&mut self, step: usize) -> Result<(), ProofError> {
        loop {
            let place = self.parent.len() as Place;
            if let Some(cell) = self.bank.cells().get(place as usize).cloned() {
                self.parent.push(place);
                self.facts.push(self.bank.fact(place));
                self.tightened.push(0);
                self.users.push(Vec::new());
                for child in &cell.children {
                    let class = self.find(*child);
                    self.users[class as usize].push(place);
                }
                self.look(place, step)?;
            } else if let Some((a, b)) = self.joins.pop() {
                self.merge(a, b, step)?;
            } else if let Some(place) = self.again.pop() {
                self.look(place, step)?;
            } else {
                return Ok(());
            }
        }
    }

    /// Looks whether a term is equal to another one now, and what its children say of it.
    fn look(&mut self, place: Place, step: usize) -> Result<(), ProofError> {
        let cell = self.bank.cells()[place as usize].clone();
        let children: Box<[Place]> = cell.children.iter().map(|child| self.find(*child)).collect();
        let facts: Vec<Fact> = children.iter().map(|child| self.facts[*child as usize]).collect();
        let alike = matches!(&children[..], [a, b, ..] if a == b);
        let fact = self.bank.bounds().fact(&cell.head, &facts, alike);
        if let Some(other) = self.known.insert(Cell { head: cell.head.clone(), children }, place)
            && other != place
        {
            self.join(place, other);
        }
        let root = self.find(place);
        self.learn(root, fact, (place, place), step)
    }

    fn learn(
        &mut self,
        root: Place,
        fact: Fact,
        (a, b): (Place, Place),
        step: usize,
    ) -> Result<(), ProofError> {
        let own = self.facts[root as usize];
        let Some(met) = own.meet(fact) else {
            let name = |place: Place, fact: Fact| match self.bank.track(place) {
                Ok(track) => format!("{} ({fact})", track.describe()),
                Err(_) => format!("term {place} ({fact})"),
            };
            return Err(ProofError::Contradiction { step, first: name(a, own), second: name(b, fact) });
        };
        if met != own && self.tightened[root as usize] < PATIENCE {
            self.tightened[root as usize] += 1;
            self.facts[root as usize] = met;
            self.again.extend(&self.users[root as usize]);
        }
        Ok(())
    }

    fn merge(&mut self, a: Place, b: Place, step: usize) -> Result<(), ProofError> {
        let [mut root, mut lesser] = [self.find(a), self.find(b)];
        if root == lesser {
            return Ok(());
        }
        if self.users[root as usize].len() < self.users[lesser as usize].len() {
            std::mem::swap(&mut root, &mut lesser);
        }
        self.parent[lesser as usize] = root;
        let users = std::mem::take(&mut self.users[lesser as usize]);
        self.again.extend(&users);
        self.users[root as usize].extend(users);
        let fact = self.facts[lesser as usize];
        self.learn(root, fact, (a, b), step)
    }
}
