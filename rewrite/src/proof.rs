//! Proofs: why two tracks have the same bits.
//!
//! A proof is a table of terms, a list of steps, and the claim that the term `before` equals the term `after`. A step says
//! that one term equals another by one rule, and what the rule's variables stand for. Equal parts make equal wholes, so the
//! steps need no order of places: [`Proof::check`] puts them together. It knows the rules and the facts, and not how the
//! steps were found.

mod check;

use std::sync::Arc;

use keyfit_ir::{BuildError, Track};
use thiserror::Error;

use crate::bank::{Bank, Cell, Place};
use crate::facts::{Bounds, Fact};
use crate::rules::RuleSet;

/// One equality, by one rule.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// The rule's name.
    pub rule: String,
    /// Whether it is used from right to left.
    pub backward: bool,
    /// The term that the rule's one side is.
    pub place: Place,
    /// The term that its other side is.
    pub result: Place,
    /// What the rule's variables stand for; none for a rule that has none.
    pub substitution: Vec<(String, Place)>,
}

/// A condition that a step's rule asks for, and the facts that establish it, as the checker found them.
#[derive(Clone, Debug, PartialEq)]
pub struct Established {
    /// The condition.
    pub condition: String,
    /// What is known of each of its terms.
    pub facts: Vec<(&'static str, Fact)>,
}

/// Why two tracks have the same bits.
#[derive(Clone, Debug, PartialEq)]
pub struct Proof {
    /// What is assumed of the clock and the parameters.
    pub bounds: Bounds,
    /// The terms that are spoken of, children before parents, each once.
    pub terms: Vec<Arc<Cell>>,
    /// The steps, in the order in which each one's conditions are established.
    pub steps: Vec<Step>,
    /// The term of the track before.
    pub before: Place,
    /// The term of the track after.
    pub after: Place,
}

/// Why a proof is none. Steps are counted from 0.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum ProofError {
    /// A term speaks of a term that does not stand before it, or stands there twice.
    #[error("term {0} is not made of terms before it, or is there already")]
    Term(Place),
    /// No rule that keeps bits has this name.
    #[error("step {step}: there is no rule {rule}")]
    UnknownRule {
        /// Which step.
        step: usize,
        /// The name.
        rule: String,
    },
    /// A term is not what the rule's side becomes under the substitution.
    #[error("step {step}: term {place} is not the side of {rule} that it should be")]
    NotAnInstance {
        /// Which step.
        step: usize,
        /// The rule.
        rule: String,
        /// The term.
        place: Place,
    },
    /// What is known does not establish a condition.
    #[error("step {step}: nothing says that {condition}, as {rule} asks")]
    Condition {
        /// Which step.
        step: usize,
        /// The rule.
        rule: String,
        /// The condition.
        condition: String,
    },
    /// Two terms that were made equal have no value in common: a rule or a fact is wrong.
    #[error("step {step}: a value would have to be both {first} and {second}; a rule or a fact is wrong")]
    Contradiction {
        /// Which step.
        step: usize,
        /// One of the terms, and what is known of it.
        first: String,
        /// The other one.
        second: String,
    },
    /// All steps hold, and the two tracks are still not known to be equal.
    #[error("the steps do not lead from the track before to the track after")]
    NotConnected,
    /// The tracks are others than the proof's.
    #[error("the proof is about other tracks")]
    OtherTracks,
}

impl Proof {
    /// The proof that a track equals itself.
    pub fn of_nothing(track: &Track, bounds: &Bounds) -> Proof {
        let mut bank = Bank::new(bounds);
        let root = bank.graft(track).pop().unwrap_or_default();
        Proof {
            bounds: bounds.clone(),
            terms: bank.cells().to_vec(),
            steps: Vec::new(),
            before: root,
            after: root,
        }
    }

    /// Replays the proof.
    ///
    /// # Errors
    /// [`ProofError`]: what does not hold.
    pub fn check(&self) -> Result<(), ProofError> {
        self.replay().map(|_| ())
    }

    /// The proof without the steps that it does not need. Each is tried, so it takes as many checks as there are steps.
    pub fn least(&self) -> Proof {
        let mut least = self.clone();
        let mut k = 0;
        while k < least.steps.len() {
            let mut without = least.clone();
            without.steps.remove(k);
            if without.check().is_ok() { least = without } else { k += 1 }
        }
        least
    }

    /// Replays the proof; gives for each step what its rule asked for and which facts say so.
    ///
    /// # Errors
    /// As [`Proof::check`].
    pub fn replay(&self) -> Result<Vec<Vec<Established>>, ProofError> {
        check::check(self, RuleSet::get())
    }

    /// Replays the proof, which must be about these two tracks.
    ///
    /// # Errors
    /// As [`Proof::check`], and [`ProofError::OtherTracks`].
    pub fn check_about(&self, before: &Track, after: &Track) -> Result<(), ProofError> {
        self.check()?;
        let same = |place: Place, track: &Track| self.track(place).as_ref() == Ok(track);
        if same(self.before, before) && same(self.after, after) {
            Ok(())
        } else {
            Err(ProofError::OtherTracks)
        }
    }

    /// The term at `place` as a track.
    ///
    /// # Errors
    /// [`BuildError`] where it is none.
    pub fn track(&self, place: Place) -> Result<Track, BuildError> {
        let mut bank = Bank::new(&Bounds::new());
        for cell in self.terms.iter().take(place as usize + 1) {
            bank.insert(cell.head.clone(), cell.children.clone());
        }
        bank.track(place)
    }

    /// This proof, and then another that begins where this one ends.
    pub(crate) fn then(self, next: Proof) -> Proof {
        let mut bank = Bank::new(&Bounds::new());
        let mut add = |terms: &[Arc<Cell>]| {
            let mut places: Vec<Place> = Vec::with_capacity(terms.len());
            for cell in terms {
                let children: Vec<Place> =
                    cell.children.iter().map(|child| places[*child as usize]).collect();
                places.push(bank.insert(cell.head.clone(), children));
            }
            places
        };
        let [first, second] = [add(&self.terms), add(&next.terms)];
        let moved = |steps: Vec<Step>, places: &[Place]| {
            steps
                .into_iter()
                .map(|step| Step {
                    place: places[step.place as usize],
                    result: places[step.result as usize],
                    substitution: step
                        .substitution
                        .into_iter()
                        .map(|(name, place)| (name, places[place as usize]))
                        .collect(),
                    ..step
                })
                .collect::<Vec<Step>>()
        };
        let mut steps = moved(self.steps, &first);
        steps.extend(moved(next.steps, &second));
        Proof {
            bounds: self.bounds,
            terms: bank.cells().to_vec(),
            steps,
            before: first[self.before as usize],
            after: second[next.after as usize],
        }
    }
}
