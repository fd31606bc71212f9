//! Names that are short and still tell lines apart.

use std::collections::{BTreeMap, BTreeSet};

use super::cut_middle;

/// Names of `least` characters, or of so many more as keep them apart and show what makes names differ that begin alike; `None` if
/// not even `most` keep them apart.
pub(super) fn apart(names: &[&str], least: usize, most: usize) -> Option<Vec<String>> {
    let kinds = kinds(names);
    let own: Vec<(String, bool)> = names.iter().map(|name| differing(name, &kinds, least)).collect();
    let needed = own.iter().filter(|(_, differs)| *differs).map(|(name, _)| name.chars().count()).max();
    let cut = |length: usize| own.iter().map(|(name, _)| cut_middle(name, length)).collect();
    let are_apart = |short: &Vec<String>| short.iter().collect::<BTreeSet<_>>().len() == names.len();
    (needed.unwrap_or(least).clamp(least, most)..=most).map(cut).find(are_apart)
}

/// Names that begin with the same word.
struct Kind<'a> {
    several: bool,
    longest: usize,
    /// The words that all of them have.
    shared: BTreeSet<&'a str>,
}

fn kinds<'a>(names: &[&'a str]) -> BTreeMap<&'a str, Kind<'a>> {
    let mut kinds: BTreeMap<&str, Kind<'_>> = BTreeMap::new();
    for name in names {
        let (longest, (first, words)) = (name.chars().count(), parts(name));
        let words: BTreeSet<&str> = words.collect();
        match kinds.get_mut(first) {
            Some(kind) => {
                kind.several = true;
                kind.longest = kind.longest.max(longest);
                kind.shared.retain(|word| words.contains(word));
            }
            None => {
                kinds.insert(first, Kind { several: false, longest, shared: words });
            }
        }
    }
    kinds
}

/// Its first word, and the others.
fn parts(name: &str) -> (&str, impl Iterator<Item = &str>) {
    let mut words = name.split(' ');
    (words.next().unwrap_or_default(), words)
}

/// Without the words that it shares with all names of its kind, if there are several and one of them is longer than `fits`; and
/// whether that is so.
fn differing(name: &str, kinds: &BTreeMap<&str, Kind<'_>>, fits: usize) -> (String, bool) {
    let (first, words) = parts(name);
    let Some(kind) = kinds.get(first).filter(|kind| kind.several && kind.longest > fits) else {
        return (name.into(), false);
    };
    let mut kept = vec![first];
    for word in words {
        match kind.shared.contains(word) {
            false => kept.push(word),
            true if kept.last() != Some(&"…") => kept.push("…"),
            true => {}
        }
    }
    (kept.join(" "), true)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(names: &[&str], short: &[&str]) {
        assert_eq!(apart(names, 31, 80).unwrap(), short);
    }

    #[test]
    fn names_that_fit_stay_as_they_are() {
        check(&["bfgs", "bfgs seed=1", "1/3", "1/3 b"], &["bfgs", "bfgs seed=1", "1/3", "1/3 b"]);
        check(&[], &[]);
    }

    #[test]
    fn what_a_solver_s_names_share_is_left_out() {
        check(
            &[
                "levenberg-marquardt first-step=0.1 iterations=100 seed=1",
                "levenberg-marquardt first-step=0.1 iterations=100 seed=2",
                "particle-swarm iterations=100 seed=1",
                "particle-swarm iterations=200 seed=1",
                "bfgs seed=1",
            ],
            &[
                "levenberg-marquardt … seed=1",
                "levenberg-marquardt … seed=2",
                "particle-swarm iterations=100 …",
                "particle-swarm iterations=200 …",
                "bfgs seed=1",
            ],
        );
    }

    #[test]
    fn a_name_is_cut_in_its_middle() {
        check(
            &["particle-swarm iterations=100 seed=1", "1/3 of what is allowed, first half"],
            &["particle-swarm …ions=100 seed=1", "1/3 of what is …wed, first half"],
        );
    }

    #[test]
    fn names_have_as_much_room_as_keeps_them_apart() {
        let grid = |(step, iterations, seed)| {
            format!("levenberg-marquardt first-step={step} iterations={iterations} seed={seed}")
        };
        let all = [("0.1", 100, 1), ("0.2", 100, 1), ("0.1", 200, 2)].map(grid);
        check(
            &all.each_ref().map(String::as_str),
            &[
                "levenberg-marquardt first-step=0.1 iterations=100 seed=1",
                "levenberg-marquardt first-step=0.2 iterations=100 seed=1",
                "levenberg-marquardt first-step=0.1 iterations=200 seed=2",
            ],
        );
        // where there are no words
        let long = |middle: &str| format!("{}{middle}{}", "a".repeat(25), "b".repeat(15));
        check(
            &[&long("1"), &long("2")],
            &["aaaaaaaaaaaaaaaa…1bbbbbbbbbbbbbbb", "aaaaaaaaaaaaaaaa…2bbbbbbbbbbbbbbb"],
        );
        let long = |middle: &str| format!("{}{middle}{}", "a".repeat(60), "b".repeat(60));
        assert_eq!(apart(&[&long("1"), &long("2")], 31, 80), None);
        assert_eq!(apart(&["a", "a"], 31, 80), None);
    }

    #[test]
    fn no_two_names_are_alike() {
        fn are_apart(words: Vec<Vec<u8>>) -> bool {
            let name = |words: &Vec<u8>| {
                words.iter().map(|word| "ab".repeat(1 + usize::from(word % 5))).collect::<Vec<_>>().join(" ")
            };
            let names: BTreeSet<String> = words.iter().map(name).collect();
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            apart(&names, 12, 40).is_none_or(|short| {
                let shortest: BTreeSet<&String> = short.iter().collect();
                shortest.len() == names.len() && short.iter().all(|name| name.chars().count() <= 40)
            })
        }
        quickcheck::quickcheck(are_apart as fn(Vec<Vec<u8>>) -> bool);
    }
}
