//! Every row of the table is what it says.

use std::collections::{HashMap, HashSet};

use keyfit_ir::arbitrary::RandomNumber;
use keyfit_ir::{Names, Track, same_bits};
use keyfit_rewrite::pattern::{MAX_NODES, Pattern, VARIABLES};
use keyfit_rewrite::rules::{
    Evidence, Kind, Rule, RuleSet, Sides, Verdict, all_rules, refused_rules, sound_rules,
};
use quickcheck::{Arbitrary, Gen};

/// The numbers from which random values are often drawn, so that conditions and ties are met.
const NEAR: &[f64] =
    &[0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 3.0, 4.0, -3.0, 0.25, f64::INFINITY, f64::NEG_INFINITY, f64::NAN];

fn parse(text: &str) -> Track {
    Track::parse_with(text, &Names::new().starts(VARIABLES.map(|name| (name, 1.0)))).unwrap()
}

/// A formula's value where the variables have these values.
fn value(track: &Track, values: &HashMap<&str, f64>) -> f64 {
    let parameters: Vec<f64> = track.free_parameters().iter().map(|p| values[p.name()]).collect();
    let mut out = [0.0];
    keyfit_ir::Sampler::new(track).sample_into(&[0.0], &parameters, &mut out);
    out[0]
}

/// The variables of a rule, each once.
fn variables(sides: [&Track; 2]) -> Vec<&'static str> {
    let used: HashSet<String> =
        sides.iter().flat_map(|side| side.free_parameters()).map(|p| p.name().to_owned()).collect();
    VARIABLES.into_iter().filter(|name| used.contains(*name)).collect()
}

fn random_values(g: &mut Gen, names: &[&'static str]) -> HashMap<&'static str, f64> {
    let mut values: HashMap<&'static str, f64> = HashMap::new();
    for name in names {
        let earlier: Vec<f64> = values.values().copied().collect();
        let x = match u8::arbitrary(g) % 8 {
            0 | 1 => *g.choose(NEAR).unwrap(),
            // near to another value
            2 if !earlier.is_empty() => {
                let near = *g.choose(&earlier).unwrap();
                f64::from_bits(near.to_bits().wrapping_add(u64::from(u8::arbitrary(g) % 3)).wrapping_sub(1))
            }
            3 if !earlier.is_empty() => *g.choose(&earlier).unwrap(),
            4 => (1.0 + f64::from(u8::arbitrary(g) % 64) / 64.0) * *g.choose(NEAR).unwrap(),
            5 => f64::from(i16::arbitrary(g)),
            _ => RandomNumber::arbitrary(g).0,
        };
        values.insert(name, x);
    }
    values
}

/// Sides and the condition's terms, read.
struct Read {
    sides: [Track; 2],
    conditions: Vec<Vec<Track>>,
    names: Vec<&'static str>,
}

fn read(rule: &Rule) -> Option<Read> {
    let Sides::Formulas(left, right) = rule.sides else { return None };
    let sides = [parse(left), parse(right)];
    let conditions = rule.when.iter().map(|condition| condition.terms().map(parse).collect()).collect();
    let names = variables([&sides[0], &sides[1]]);
    Some(Read { sides, conditions, names })
}

#[test]
fn names_are_unique_and_rows_can_be_read() {
    let mut seen = HashSet::new();
    for rule in all_rules() {
        assert!(seen.insert(rule.name), "{} is used twice", rule.name);
        assert!(!rule.why.is_empty());
        let Some(read) = read(rule) else { continue };
        assert!(read.sides.iter().all(|side| side.nodes().len() <= MAX_NODES), "{}", rule.name);
        let Sides::Formulas(left, right) = rule.sides else { continue };
        assert!(Pattern::parse(left).unwrap().is_some() && Pattern::parse(right).unwrap().is_some());
        for term in read.conditions.iter().flatten() {
            let known = term.free_parameters().iter().all(|p| read.names.contains(&p.name()));
            assert!(known, "{}: a condition speaks of what the left side has not", rule.name);
        }
        let left: HashSet<String> =
            read.sides[0].free_parameters().iter().map(|p| p.name().to_owned()).collect();
        let right = read.sides[1].free_parameters();
        assert!(
            right.iter().all(|p| left.contains(p.name())),
            "{}: a variable comes from nowhere",
            rule.name
        );
    }
    assert_eq!(RuleSet::get().rules().len(), sound_rules().count());
}

#[test]
fn there_are_enough_rules_of_each_kind() {
    let count = |kind: Kind| all_rules().filter(|rule| rule.kind() == kind).count();
    let [sound, conditional, refused, algebra] =
        [Kind::Sound, Kind::Conditional, Kind::Refused, Kind::Algebra].map(count);
    println!("{sound} sound, {conditional} conditional, {refused} refused, {algebra} over the reals");
    for evidence in [Evidence::Definition, Evidence::Smt, Evidence::Rounding, Evidence::Lemma] {
        let n = all_rules().filter(|rule| rule.evidence() == Some(evidence)).count();
        println!("{n} by {}", evidence.name());
    }
    assert!(sound + conditional >= 150 && refused >= 60, "{sound} {conditional} {refused}");
}

#[test]
fn sound_rules_keep_every_bit() {
    let mut g = Gen::from_size_and_seed(20, 21);
    for rule in sound_rules() {
        let Some(read) = read(rule) else { continue };
        let (mut held, mut tried) = (0, 0);
        while held < 4000 && tried < 80_000 {
            tried += 1;
            let values = random_values(&mut g, &read.names);
            let holds = rule.when.iter().zip(&read.conditions).all(|(condition, terms)| {
                condition.holds(&terms.iter().map(|term| value(term, &values)).collect::<Vec<f64>>())
            });
            if !holds {
                continue;
            }
            held += 1;
            let [left, right] = [&read.sides[0], &read.sides[1]].map(|side| value(side, &values));
            assert!(same_bits(left, right), "{}: {left:?} is not {right:?} for {values:?}", rule.name);
        }
        assert!(held >= 100, "{}: the conditions held {held} times of {tried}", rule.name);
    }
}

#[test]
fn refused_rules_have_witnesses() {
    for rule in refused_rules() {
        let (Some(read), Verdict::Refused(witness)) = (read(rule), rule.verdict) else {
            panic!("{} is no pair of formulas", rule.name)
        };
        let values: HashMap<&str, f64> = witness.iter().copied().collect();
        assert!(read.names.iter().all(|name| values.contains_key(name)), "{}: no witness", rule.name);
        let [left, right] = [&read.sides[0], &read.sides[1]].map(|side| value(side, &values));
        assert!(!same_bits(left, right), "{}: both are {left:?} for {values:?}", rule.name);
    }
}
