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
use std::time::Duration;

use egg::{Analysis, AstSize, BackoffScheduler, DidMerge, EGraph, Extractor, Id, Rewrite, Runner};
use keyfit_ir::{BuildError, Op, Track};

use crate::bank::{Bank, Place};
use crate::facts::Bounds;
use crate::head::Head;
use crate::pattern::Pattern;
use crate::rules::{Rule, accuracy, algebra};
use crate::simplify::egraph::sought;
use crate::term::{Term, from_expr, to_expr};

/// Where clearing up stops.
const TIDY_NODES: usize = 700;
const TIDY_ITERATIONS: usize = 6;
/// Larger tracks are not cleared up: an e-graph of that few nodes does nothing for them.
const LARGEST: usize = 120;

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

/// The smallest form that the rules of [`accuracy::TIDY`] find.
///
/// # Errors
/// None for a track that was built; see [`BuildError`].
pub fn tidy(track: &Track) -> Result<Track, BuildError> {
    static TIDY: LazyLock<Vec<Rewrite<Term, Exact>>> = LazyLock::new(|| {
        let rules = accuracy::TIDY.iter();
        rules.filter_map(rewrite).collect()
    });
    if track.nodes().len() > LARGEST {
        return Ok(track.clone());
    }
    let expr = to_expr(track);
    let runner: Runner<Term, Exact, ()> = Runner::new(Exact)
        .with_node_limit(TIDY_NODES)
        .with_iter_limit(TIDY_ITERATIONS)
        // only limits that are the same on every machine
        .with_time_limit(Duration::from_secs(3600))
        .with_scheduler(BackoffScheduler::default())
        .with_expr(&expr)
        .run(TIDY.iter());
    let Some(root) = runner.roots.first() else { return Ok(track.clone()) };
    let (_, best) = Extractor::new(&runner.egraph, AstSize).find_best(*root);
    from_expr(&best)
}

fn rewrite(rule: &'static Rule) -> Option<Rewrite<Term, Exact>> {
    let (left, right) = rule.texts();
    let [left, right] = [Pattern::parse(left).ok()??, Pattern::parse(right).ok()??];
    let [left, right] = [egg::Pattern::new(sought(&left)?), egg::Pattern::new(sought(&right)?)];
    Rewrite::new(rule.name, left, right).ok()
}

/// What is one number exactly.
struct Exact;

impl Analysis<Term> for Exact {
    type Data = Option<f64>;

    fn make(egraph: &mut EGraph<Term, Exact>, term: &Term, _: Id) -> Option<f64> {
        match &term.head {
            Head::Constant(x) => Some(x.value()),
            Head::Apply(op) => {
                // all operands have to be known, not only the first
                let operands: Option<Vec<f64>> =
                    term.children.iter().map(|child| egraph[*child].data).collect();
                exactly(*op, &operands?)
            }
            _ => None,
        }
    }

    fn merge(&mut self, a: &mut Option<f64>, b: Option<f64>) -> DidMerge {
        let merged = a.or(b);
        let did = DidMerge(*a != merged, b != merged);
        *a = merged;
        did
    }

    fn modify(egraph: &mut EGraph<Term, Exact>, id: Id) {
        if let Some(x) = egraph[id].data {
            let constant = egraph.add(Term { head: Head::number(x), children: Box::new([]) });
            egraph.union(id, constant);
        }
    }
}

/// The operation's value where a double holds it exactly.
fn exactly(op: Op, operands: &[f64]) -> Option<f64> {
    let (value, exact) = match (op, operands) {
        (Op::NEG, &[a]) => (-a, true),
        (Op::ADD, &[a, b]) => (a + b, rest_of_sum(a, b) == 0.0),
        (Op::SUB, &[a, b]) => (a - b, rest_of_sum(a, -b) == 0.0),
        (Op::MUL, &[a, b]) => (a * b, rest_of_product(a, b) == 0.0),
        (Op::DIV, &[a, b]) => (a / b, a / b * b == a && rest_of_product(a / b, b) == 0.0),
        _ => return None,
    };
    // products of very large and small numbers leave no rest that a double can hold
    let ordinary = |x: f64| x == 0.0 || (1e-100..1e100).contains(&x.abs());
    (exact && ordinary(value) && operands.iter().copied().all(ordinary)).then_some(value)
}

/// What a product loses (Dekker's, with Veltkamp's halves).
fn rest_of_product(a: f64, b: f64) -> f64 {
    let halves = |x: f64| {
        let c = 134_217_729.0 * x;
        let high = c - (c - x);
        (high, x - high)
    };
    let ((a1, a0), (b1, b0)) = (halves(a), halves(b));
    a0 * b0 - (a * b - a1 * b1 - a0 * b1 - a1 * b0)
}

/// What a sum loses (Knuth's two-sum).
fn rest_of_sum(a: f64, b: f64) -> f64 {
    let sum = a + b;
    let b_part = sum - a;
    (a - (sum - b_part)) + (b - b_part)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tidying holds over the reals: at random points both forms have one value, up to what doubles lose.
    #[test]
    fn tidied_forms_have_the_same_value() {
        for (text, tidied) in [
            ("1 + ?x=3", "ADD(?x=3.0, 1.0)"),
            ("?x=3 + 1 - ?x", "1.0"),
            ("2 + 3", "5.0"),
            ("?x=3 * 1 + 0", "?x=3.0"),
            ("(?x=3 * ?y=5) / ?y", "?x=3.0"),
        ] {
            let found = tidy(&Track::parse(text).unwrap()).unwrap();
            let same =
                [found.describe(), tidied.to_owned()].map(|text| Track::parse(&text).map(|t| t.sample(0.0)));
            assert_eq!(same[0].as_ref().ok(), same[1].as_ref().ok(), "{text}: {}", found.describe());
            assert_eq!(
                found.nodes().len(),
                Track::parse(tidied).unwrap().nodes().len(),
                "{text}: {}",
                found.describe()
            );
        }
    }
}
