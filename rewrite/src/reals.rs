//! Rewriting over the reals: what is equal there and simpler, whatever becomes of the bits.
//!
//! The rules are the table's rows of the kind *algebra*, but for ways that lead to what is defined for fewer numbers. They hold wherever both
//! of their sides are numbers, and not where one is undefined: x/x is 1 here, though not at 0. Where two numbers would become one, because something was divided by
//! what is zero everywhere, nothing is rewritten.

use std::cell::Cell;
use std::sync::LazyLock;
use std::time::Duration;

use egg::{Analysis, AstSize, BackoffScheduler, DidMerge, EGraph, Extractor, Id, RecExpr, Rewrite, Runner};
use keyfit_ir::{BuildError, Op, Track};

use crate::head::Head;
use crate::pattern::Pattern;
use crate::rules::{Rule, accuracy, algebra};
use crate::simplify::egraph::sought;
use crate::simplify::extract::cheaper;
use crate::simplify::{Options, SimplifyError, simplify};
use crate::term::{Term, from_expr, to_expr};

type Graph = EGraph<Term, Exact>;
type Rewrites = Vec<Rewrite<Term, Exact>>;

/// Where saturation stops.
#[derive(Clone, Copy)]
struct Limits {
    /// Larger tracks are left alone: an e-graph of that few nodes does nothing for them.
    track: usize,
    nodes: usize,
    iterations: usize,
}

const TIDY: Limits = Limits { track: 120, nodes: 700, iterations: 6 };
const SIMPLIFY: Limits = Limits { track: 300, nodes: 5000, iterations: 8 };
/// Ways that are not used, from left to right or backward (`true`): what they lead to is defined for fewer numbers, or is another branch
/// there, so that a further rule could lead on to something else. By √(x·x) = √x·√x, and √x·√x = x, |x| would be x.
const NARROWING: [(&str, bool); 5] = [
    ("real-sqrt-of-product", true),
    ("real-ln-of-product", true),
    ("real-pow-sum", true),
    ("real-pow-of-pow", true),
    ("real-pow-of-pow", false),
];
/// How often a track is simplified over the reals and then with all its bits.
const ROUNDS: usize = 8;

/// The smallest form that the rules of [`accuracy::TIDY`] find.
///
/// # Errors
/// None for a track that was built; see [`BuildError`].
pub fn tidy(track: &Track) -> Result<Track, BuildError> {
    static RULES: LazyLock<Rewrites> =
        LazyLock::new(|| accuracy::TIDY.iter().filter_map(|rule| rewrite(rule, false)).collect());
    let Some((graph, root)) = saturated(&to_expr(track), &RULES, TIDY) else { return Ok(track.clone()) };
    from_expr(&Extractor::new(&graph, AstSize).find_best(root).1)
}

/// A track that is equal over the reals, at the same parameters and times wherever both are defined, and costs no more in
/// the measure of the options. It may have other bits, and another value where the given one is infinite or NaN. Of more than
/// 300 nodes a track is only simplified with all its bits.
///
/// ```
/// use keyfit_ir::Track;
/// use keyfit_rewrite::{Options, simplify_over_reals};
///
/// let track = Track::parse("(?a=2 * t + ?b=1 * t) / t")?;
/// let simple = simplify_over_reals(&track, &Options::default())?;
/// assert_eq!(simple.describe(), "ADD(?a=2.0, ?b=1.0)");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// As [`simplify`].
pub fn simplify_over_reals(track: &Track, options: &Options) -> Result<Track, SimplifyError> {
    static RULES: LazyLock<Rewrites> = LazyLock::new(|| {
        let real = || accuracy::TIDY.iter().chain(algebra::RULES);
        real()
            .filter_map(|rule| rewrite(rule, false))
            .chain(real().filter_map(|rule| rewrite(rule, true)))
            .collect()
    });
    let mut best = simplify(track, options)?.track;
    for _ in 0..ROUNDS {
        let expr = to_expr(&best);
        let found = saturated(&expr, &RULES, SIMPLIFY)
            .and_then(|(graph, root)| cheaper(&graph, root, &expr, options.cost));
        let Some(found) = found else { break };
        let next = simplify(&from_expr(&found)?, options)?.track;
        if options.cost.of(&next) >= options.cost.of(&best) {
            break;
        }
        best = next;
    }
    Ok(best)
}

/// The e-graph of a term under these rules, and the class of its root; `None` where the term is too large or two numbers became one.
fn saturated(expr: &RecExpr<Term>, rules: &Rewrites, limits: Limits) -> Option<(Graph, Id)> {
    if expr.len() > limits.track {
        return None;
    }
    let runner: Runner<Term, Exact, ()> = Runner::new(Exact::default())
        .with_node_limit(limits.nodes)
        .with_iter_limit(limits.iterations)
        // only limits that are the same on every machine
        .with_time_limit(Duration::from_secs(3600))
        .with_scheduler(BackoffScheduler::default())
        .with_expr(expr)
        .run(rules);
    let root = *runner.roots.first()?;
    (!runner.egraph.analysis.clash.get()).then_some((runner.egraph, root))
}

/// A rule as egg's, from left to right or backward; none where it begins with a mere variable or brings variables from nowhere.
fn rewrite(rule: &'static Rule, backward: bool) -> Option<Rewrite<Term, Exact>> {
    if NARROWING.contains(&(rule.name, backward)) {
        return None;
    }
    let (left, right) = rule.texts();
    let [mut from, mut to] = [Pattern::parse(left).ok()??, Pattern::parse(right).ok()??];
    if backward {
        std::mem::swap(&mut from, &mut to);
    }
    if from.op().is_none() || to.variables().any(|v| from.variables().all(|w| v != w)) {
        return None;
    }
    let [from, to] = [egg::Pattern::new(sought(&from)?), egg::Pattern::new(sought(&to)?)];
    let way = if backward { " backward" } else { "" };
    Rewrite::new(format!("{}{way}", rule.name), from, to).ok()
}

/// What is one number exactly.
#[derive(Default)]
struct Exact {
    /// Whether two numbers became one.
    clash: Cell<bool>,
}

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
        // the zeros are one over the reals
        if let (Some(a), Some(b)) = (&a, &b)
            && a != b
        {
            self.clash.set(true);
        }
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

    #[test]
    fn no_branch_is_left_out() {
        for text in ["abs(?x=-3)", "sqrt(?x=-3 * ?x)", "(?x=-3^2)^0.5", "ln(?x=-3 * ?y=-2)", "?x=-3^2 * ?x"] {
            let track = Track::parse(text).unwrap();
            let real = simplify_over_reals(&track, &Options::default()).unwrap();
            assert!((track.sample(0.0) - real.sample(0.0)).abs() < 1e-12, "{text}: {}", real.describe());
        }
        let names = |name: &str| accuracy::TIDY.iter().chain(algebra::RULES).any(|rule| rule.name == name);
        assert!(NARROWING.iter().all(|(name, _)| names(name)));
    }

    /// 0 divided by 0 is anything over the reals; nothing is made of it.
    #[test]
    fn what_would_make_two_numbers_one_is_left_alone() {
        let track = Track::parse("(?x=3 - ?x) / (?x - ?x) + 1").unwrap();
        assert_eq!(tidy(&track).unwrap(), track);
        let options = Options::default();
        assert_eq!(simplify_over_reals(&track, &options).unwrap(), simplify(&track, &options).unwrap().track);
    }

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
