//! Other forms of a track that are equal over the reals: what a search for a more accurate one looks at.
//!
//! Nothing here keeps bits, and nothing claims to. A form is one use of a rule of [`accuracy`] or
//! [`algebra`] away, at one node; then sums and products are brought to their smallest form,
//! so that what cancels over the reals is gone before it is evaluated. Whether a form is any better is for its user to judge.
//!
//! ```
//! use keyfit_ir::Track;
//! let track = Track::parse("sqrt(?x=1 + 1) - sqrt(?x)")?;
//! let forms = keyfit_rewrite::improve::alternatives(&track)?;
//! let conjugate = "DIV(1.0, ADD(SQRT(ADD(?x=1.0, 1.0)), SQRT(?x=1.0)))";
//! assert!(forms.iter().any(|form| form.rule == "real-conjugate-difference" && form.track.describe() == conjugate));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::collections::HashSet;
use std::sync::LazyLock;

use keyfit_ir::{BuildError, Op, Track};

use crate::bank::{Bank, Place};
use crate::facts::Bounds;
use crate::head::Head;
use crate::pattern::Pattern;
use crate::reals::tidy;
use crate::rules::{Rule, accuracy, algebra};

/// Another form of a track.
#[derive(Clone, Debug, PartialEq)]
pub struct Alternative {
    /// The track.
    pub track: Track,
    /// The rule that was used.
    pub rule: &'static str,
}

/// One way of a rule.
struct Way {
    rule: &'static str,
    from: Pattern,
    to: Pattern,
}

fn ways() -> &'static [Way] {
    static WAYS: LazyLock<Vec<Way>> = LazyLock::new(|| {
        // a row that cannot be read is no rule; a test sees to it that there is none
        let rules = accuracy::RULES.iter().chain(algebra::RULES);
        rules.flat_map(|rule| both(rule).unwrap_or_default()).collect()
    });
    &WAYS
}

/// Both ways of a rule, with their sums and products in either order. A way from a mere variable, or that brings variables
/// from nowhere, is none.
fn both(rule: &'static Rule) -> Option<Vec<Way>> {
    let (left, right) = rule.texts();
    let [left, right] = [Pattern::parse(left).ok()??, Pattern::parse(right).ok()??];
    let ways = [(&left, &right), (&right, &left)]
        .into_iter()
        .filter(|(from, to)| from.op().is_some() && to.variables().all(|v| from.variables().any(|w| v == w)));
    Some(
        ways.flat_map(|(from, to)| {
            let turned = orders(from);
            turned.into_iter().map(|from| Way { rule: rule.name, from, to: to.clone() })
        })
        .collect(),
    )
}

/// The pattern with the operands of each sum and product in either order.
fn orders(pattern: &Pattern) -> Vec<Pattern> {
    const MOST: usize = 4;
    let swaps = |op: &Op| matches!(op, Op::ADD | Op::MUL);
    let sites: Vec<usize> = (0..pattern.track().nodes().len())
        .filter(|k| matches!(&pattern.track().nodes()[*k], keyfit_ir::Node::Apply(op, [a, b, _]) if swaps(op) && a != b))
        .take(MOST)
        .collect();
    let turned = (0..1_usize << sites.len()).filter_map(|mask| {
        let swapped = |k: usize| sites.iter().position(|site| *site == k).is_some_and(|i| mask >> i & 1 == 1);
        let mut bank = Bank::new(&Bounds::new());
        let mut places: Vec<Place> = Vec::new();
        for (k, node) in pattern.track().nodes().iter().enumerate() {
            let mut children: Vec<Place> =
                node.children().iter().map(|child| places[child.index()]).collect();
            if swapped(k) {
                children.reverse();
            }
            places.push(bank.insert(Head::of(node), children));
        }
        Pattern::of(&bank.track(*places.last()?).ok()?)
    });
    turned.collect()
}

/// Every form that is one use of a rule away, as the rule leaves it and cleared up; each track once.
///
/// # Errors
/// None for a track that was built; see [`BuildError`].
pub fn alternatives(track: &Track) -> Result<Vec<Alternative>, BuildError> {
    let mut bank = Bank::new(&Bounds::new());
    let places = bank.graft(track);
    let mut seen: HashSet<Track> = HashSet::from([track.clone()]);
    let mut found = Vec::new();
    for (k, place) in places.iter().enumerate() {
        for way in ways() {
            let Some(substitution) = way.from.matches(&bank, *place) else { continue };
            let Some(new) = way.to.instantiate(&mut bank, &substitution).and_then(|all| all.last().copied())
            else {
                continue;
            };
            let root = replaced(&mut bank, track, &places, k, new);
            let raw = bank.track(root)?;
            let tidied = tidy(&raw)?;
            for track in [raw, tidied] {
                if seen.insert(track.clone()) {
                    found.push(Alternative { track, rule: way.rule });
                }
            }
        }
    }
    Ok(found)
}

/// The root of the track with `new` in the place of its k-th node.
fn replaced(bank: &mut Bank, track: &Track, places: &[Place], k: usize, new: Place) -> Place {
    let mut now: Vec<Place> = places.to_vec();
    now[k] = new;
    for (i, node) in track.nodes().iter().enumerate().skip(k + 1) {
        let children: Vec<Place> = node.children().iter().map(|child| now[child.index()]).collect();
        now[i] = bank.insert(Head::of(node), children);
    }
    now[track.root().index()]
}
