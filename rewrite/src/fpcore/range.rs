//! Ranges of arguments, as `:pre` says them.

use std::collections::HashMap;

use super::number::{looks_like_one, read};
use super::sexp::{Forest, Place};
use super::words::CONSTANTS;

/// For each argument of which a precondition says it, its least and its greatest value. Only what a chain of comparisons
/// says, alone or within `and`; everything else may be true of more numbers, and is left to the condition itself.
pub(super) fn ranges<'a>(forest: &Forest<'a>, pre: Place) -> HashMap<&'a str, [f64; 2]> {
    let mut ranges = HashMap::new();
    let mut conditions = vec![pre];
    while let Some(place) = conditions.pop() {
        let Some([head, rest @ ..]) = forest.list(place) else { continue };
        match forest.word(*head) {
            Some("and") => conditions.extend(rest),
            Some("<") => chain(forest, rest.iter(), true, &mut ranges),
            Some("<=") => chain(forest, rest.iter(), false, &mut ranges),
            Some(">") => chain(forest, rest.iter().rev(), true, &mut ranges),
            Some(">=") => chain(forest, rest.iter().rev(), false, &mut ranges),
            Some("==") => {
                chain(forest, rest.iter(), false, &mut ranges);
                chain(forest, rest.iter().rev(), false, &mut ranges);
            }
            _ => {}
        }
    }
    ranges
}

/// What an ascending chain says: its numbers before a name are below it, those after it above.
fn chain<'a, 'p>(
    forest: &Forest<'a>,
    places: impl DoubleEndedIterator<Item = &'p Place> + Clone,
    strict: bool,
    ranges: &mut HashMap<&'a str, [f64; 2]>,
) {
    let mut low = f64::NEG_INFINITY;
    for place in places.clone() {
        let Some(word) = forest.word(*place) else { continue };
        match value(forest, *place, word) {
            Some(x) => low = greater(low, if strict { x.next_up() } else { x }),
            None => {
                let range = ranges.entry(word).or_insert([f64::NEG_INFINITY, f64::INFINITY]);
                range[0] = greater(range[0], low);
            }
        }
    }
    let mut high = f64::INFINITY;
    for place in places.rev() {
        let Some(word) = forest.word(*place) else { continue };
        match value(forest, *place, word) {
            Some(x) => high = -greater(-high, -(if strict { x.next_down() } else { x })),
            None => {
                let range = ranges.entry(word).or_insert([f64::NEG_INFINITY, f64::INFINITY]);
                range[1] = -greater(-range[1], -high);
            }
        }
    }
}

/// The greater of two; NaN, to which nothing compares, if either is.
fn greater(a: f64, b: f64) -> f64 {
    if a >= b || a.is_nan() { a } else { b }
}

/// The number that a word is.
fn value(forest: &Forest<'_>, place: Place, word: &str) -> Option<f64> {
    if looks_like_one(word) {
        return read(word, forest.span(place)).ok();
    }
    CONSTANTS.iter().find(|(name, _)| *name == word).map(|(_, x)| *x)
}
