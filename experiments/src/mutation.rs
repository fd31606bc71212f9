//! Proofs of many tracks, each accepted; and proofs in which something was changed, each rejected.
//!
//! A changed proof may still be one: two rules can say the same, or the change is of something that the proof does not hang
//! on. Whether it is so is asked of the sampler, not of the checker: all that the changed proof calls equal must have the same
//! bits.

use keyfit_ir::arbitrary::{RandomNumber, RandomTrack};
use keyfit_ir::{Track, same_bits};
use keyfit_rewrite::rules::sound_rules;
use keyfit_rewrite::{Bounds, Options, Proof, simplify};
use quickcheck::{Arbitrary, Gen};

use crate::simplecheck::{sample, within};

/// At how many times the sides of an accepted step are compared.
const TIMES: usize = 64;

/// What can be changed in a proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mutation {
    /// Another rule in a step.
    Rule,
    /// A step at another term.
    Place,
    /// A step towards another term.
    Result,
    /// A step the other way round.
    Direction,
    /// Another term for a variable, or a term for one that the rule does not have.
    Substitution,
    /// A step left out.
    Dropped,
    /// Two steps that follow one another exchanged.
    Swapped,
    /// Nothing known of the clock any more.
    Bounds,
    /// Another term before.
    Before,
    /// Another term after.
    After,
}

impl Mutation {
    /// All of them.
    pub const ALL: [Mutation; 10] = [
        Mutation::Rule,
        Mutation::Place,
        Mutation::Result,
        Mutation::Direction,
        Mutation::Substitution,
        Mutation::Dropped,
        Mutation::Swapped,
        Mutation::Bounds,
        Mutation::Before,
        Mutation::After,
    ];

    /// The changed proof; `None` where nothing can be changed so.
    pub fn of(self, proof: &Proof, g: &mut Gen) -> Option<Proof> {
        let mut mutant = proof.clone();
        let terms = u32::try_from(proof.terms.len()).ok().filter(|terms| *terms > 0)?;
        let any = u32::arbitrary(g) % terms;
        let k = usize::arbitrary(g).checked_rem(proof.steps.len())?;
        let step = mutant.steps.get_mut(k)?;
        match self {
            Mutation::Rule => {
                let names: Vec<&str> = sound_rules().map(|rule| rule.name).collect();
                step.rule = (*g.choose(&names)?).to_owned();
            }
            Mutation::Place => step.place = any,
            Mutation::Result => step.result = any,
            Mutation::Direction => step.backward = !step.backward,
            Mutation::Substitution => match step.substitution.first_mut() {
                Some((_, place)) => *place = any,
                None => step.substitution.push(("x".to_owned(), any)),
            },
            Mutation::Dropped => drop(mutant.steps.remove(k)),
            Mutation::Swapped if k + 1 < proof.steps.len() => mutant.steps.swap(k, k + 1),
            Mutation::Swapped => return None,
            Mutation::Bounds => mutant.bounds = Bounds::new(),
            Mutation::Before => mutant.before = any,
            Mutation::After => mutant.after = any,
        }
        (mutant != *proof).then_some(mutant)
    }
}

/// What came of the proofs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mutated {
    /// Proofs, one a track; all of them are accepted if there are no faults.
    pub proofs: u64,
    /// Their steps.
    pub steps: u64,
    /// For each of [`Mutation::ALL`]: how many changed proofs were rejected, and how many still were proofs.
    pub mutants: [[u64; 2]; Mutation::ALL.len()],
    /// What is not as it should be.
    pub faults: Vec<String>,
}

impl Mutated {
    /// How many changed proofs were rejected.
    pub fn rejected(&self) -> u64 {
        self.mutants.iter().map(|[rejected, _]| rejected).sum()
    }
}

/// Proves random tracks simplified, so many, and changes proofs until so many were rejected; the same ones for the same
/// seed.
pub fn mutate(tracks: u64, mutants: u64, seed: u64) -> Mutated {
    let mut g = Gen::from_size_and_seed(30, seed);
    let mut mutated = Mutated::default();
    while mutated.faults.is_empty() && (mutated.proofs < tracks || mutated.rejected() < mutants) {
        let RandomTrack(track) = RandomTrack::arbitrary(&mut g);
        let bounds = Bounds::new().duration(RandomNumber::arbitrary(&mut g).0.abs().min(1e300));
        let simple = match simplify(&track, &Options::with_bounds(bounds)) {
            Ok(simple) => simple,
            Err(error) => {
                mutated.faults.push(format!("{error}: {}", track.describe()));
                break;
            }
        };
        if let Err(why) = simple.proof.check_about(&track, &simple.track) {
            mutated.faults.push(format!("{why}: {}", track.describe()));
        }
        mutated.proofs += 1;
        mutated.steps += simple.proof.steps.len() as u64;
        if mutated.rejected() < mutants && (1..=40).contains(&simple.proof.steps.len()) {
            mutated.change(&simple.proof.least(), &track, &simple.track, &mut g);
        }
    }
    mutated
}

impl Mutated {
    fn change(&mut self, proof: &Proof, before: &Track, after: &Track, g: &mut Gen) {
        for (mutation, count) in Mutation::ALL.into_iter().zip(&mut self.mutants) {
            let Some(mutant) = mutation.of(proof, g) else { continue };
            if mutant.check_about(before, after).is_err() {
                count[0] += 1;
            } else if let Some(place) = false_step(&mutant, g) {
                let text = before.describe();
                self.faults.push(format!("{mutation:?}: a false step at #{place} is accepted: {text}"));
            } else {
                count[1] += 1;
            }
        }
    }
}

/// Where a proof calls two terms equal that the sampler tells apart.
fn false_step(proof: &Proof, g: &mut Gen) -> Option<u32> {
    let steps = proof.steps.iter().map(|step| [step.place, step.result]);
    let mut pairs = steps.chain([[proof.before, proof.after]]);
    pairs.find(|[left, right]| !alike(proof, [*left, *right], g)).map(|[left, _]| left)
}

fn alike(proof: &Proof, places: [u32; 2], g: &mut Gen) -> bool {
    let [Ok(left), Ok(right)] = places.map(|place| proof.track(place)) else { return false };
    let times: Vec<f64> = (0..TIMES).map(|_| within(proof.bounds.clock(), g)).collect();
    let named = [&left, &right].map(|track| track.free_parameters().to_vec());
    let given: Vec<(&str, f64)> =
        named.iter().flatten().map(|p| (p.name(), RandomNumber::arbitrary(g).0)).collect();
    let [left, right] = [&left, &right].map(|track| sample(track, &times, &given));
    left.iter().zip(&right).all(|(x, y)| same_bits(*x, *y))
}
