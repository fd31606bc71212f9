//! The best term of an e-graph.
//!
//! A term's cost counts what is shared once, so the best terms of the classes do not make the best term of all. The best tree is
//! taken first; then all choices are gone through, class by class, as long as they can still be better. That is exact where it comes to its end;
//! where there are too many choices, the best so far is taken. A term's depth needs none of this.

use std::collections::{BTreeMap, HashMap};

use egg::{Analysis, CostFunction, EGraph, Extractor, Id, Language, RecExpr};

use crate::cost::Cost;
use crate::head::Head;
use crate::term::Term;

/// How many choices are looked at.
const CHOICES: usize = 4000;

/// The best term of the root's class, if it is cheaper.
pub(crate) fn cheaper<N: Analysis<Term>>(
    egraph: &EGraph<Term, N>,
    root: Id,
    expr: &RecExpr<Term>,
    cost: Cost,
) -> Option<RecExpr<Term>> {
    let root = egraph.find(root);
    let trees = Extractor::new(egraph, Trees(cost));
    let (_, best) = trees.find_best(root);
    let given = total(expr, cost);
    let most = total(&best, cost).min(given);
    let shared = match cost {
        Cost::Depth => None,
        _ => Search::new(egraph, cost, most).run(root),
    };
    let best = shared.unwrap_or(best);
    (total(&best, cost) < given).then_some(best)
}

/// The cost of a term as a tree.
struct Trees(Cost);

impl CostFunction<Term> for Trees {
    type Cost = (u64, u64);

    // every node counts a little, so that of two equally cheap terms the smaller is taken
    fn cost<C: FnMut(Id) -> (u64, u64)>(&mut self, term: &Term, mut costs: C) -> (u64, u64) {
        let own = self.0.of_node(&term.head);
        let (below, size) = term.fold((0_u64, 1_u64), |(cost, size), id| {
            let (own, nodes) = costs(id);
            let cost = if self.0 == Cost::Depth { cost.max(own) } else { cost.saturating_add(own) };
            (cost, size.saturating_add(nodes))
        });
        (below.saturating_add(own), size)
    }
}

/// The cost of a term, what is shared once.
fn total(expr: &RecExpr<Term>, cost: Cost) -> u64 {
    let mut seen: HashMap<(&Head, Vec<usize>), usize> = HashMap::new();
    let mut ids: Vec<usize> = Vec::new();
    let mut depths: Vec<u64> = Vec::new();
    let mut sum = 0;
    for term in expr {
        let children: Vec<usize> = term.children.iter().map(|child| ids[usize::from(*child)]).collect();
        let own = cost.of_node(&term.head);
        let below = children.iter().map(|child| depths[*child]).max().unwrap_or(0);
        let id = *seen.entry((&term.head, children)).or_insert_with(|| {
            sum += own;
            depths.push(own + below);
            depths.len() - 1
        });
        ids.push(id);
    }
    match cost {
        Cost::Depth => ids.last().map_or(0, |id| depths[*id]),
        _ => sum,
    }
}

/// A search for the cheapest choice of one node a class, without a circle, for all classes that the root needs.
struct Search<'a, N: Analysis<Term>> {
    egraph: &'a EGraph<Term, N>,
    cost: Cost,
    /// What a class costs at least: its cheapest node without children.
    least: HashMap<Id, u64>,
    chosen: BTreeMap<Id, &'a Term>,
    /// What has to be beaten.
    most: u64,
    best: Option<BTreeMap<Id, &'a Term>>,
    left: usize,
}

impl<'a, N: Analysis<Term>> Search<'a, N> {
    fn new(egraph: &'a EGraph<Term, N>, cost: Cost, most: u64) -> Search<'a, N> {
        let cheapest =
            |class: &egg::EClass<Term, _>| class.nodes.iter().map(|term| cost.of_node(&term.head)).min();
        let least = egraph.classes().filter_map(|class| Some((class.id, cheapest(class)?))).collect();
        Search { egraph, cost, least, chosen: BTreeMap::new(), most, best: None, left: CHOICES }
    }

    fn run(mut self, root: Id) -> Option<RecExpr<Term>> {
        self.open(vec![root], 0);
        let chosen = self.best?;
        let mut expr = RecExpr::default();
        let mut places: HashMap<Id, Id> = HashMap::new();
        place(root, self.egraph, &chosen, &mut places, &mut expr)?;
        Some(expr)
    }

    /// Chooses for the classes that are open, having spent so much. It goes as deep as there are classes, a few dozen.
    fn open(&mut self, mut open: Vec<Id>, spent: u64) {
        let class = loop {
            let Some(class) = open.pop() else {
                if spent < self.most {
                    self.most = spent;
                    self.best = Some(self.chosen.clone());
                }
                return;
            };
            if !self.chosen.contains_key(&class) {
                break class;
            }
        };
        let mut terms: Vec<&'a Term> = self.egraph[class].nodes.iter().collect();
        terms.sort_by_key(|term| (self.cost.of_node(&term.head), term.children.len()));
        for term in terms {
            if self.left == 0 {
                return;
            }
            self.left -= 1;
            let spent = spent + self.cost.of_node(&term.head);
            let children: Vec<Id> = term.children.iter().map(|child| self.egraph.find(*child)).collect();
            let mut wanted = open.clone();
            wanted.extend(children.iter().copied());
            if spent + self.at_least(&wanted, class) >= self.most || self.reaches(&children, class) {
                continue;
            }
            self.chosen.insert(class, term);
            self.open(wanted, spent);
            self.chosen.remove(&class);
        }
    }

    /// What the classes that are not chosen yet cost at least; `but` is being chosen.
    fn at_least(&self, wanted: &[Id], but: Id) -> u64 {
        let mut wanted: Vec<Id> = wanted
            .iter()
            .copied()
            .filter(|class| *class != but && !self.chosen.contains_key(class))
            .collect();
        wanted.sort();
        wanted.dedup();
        wanted.iter().filter_map(|class| self.least.get(class)).sum()
    }

    /// Whether what is chosen leads from these classes to that one.
    fn reaches(&self, from: &[Id], to: Id) -> bool {
        let mut stack = from.to_vec();
        let mut seen: Vec<Id> = Vec::new();
        while let Some(class) = stack.pop() {
            if class == to {
                return true;
            }
            if seen.contains(&class) {
                continue;
            }
            seen.push(class);
            let children = self.chosen.get(&class).map_or(&[][..], |term| &term.children);
            stack.extend(children.iter().map(|child| self.egraph.find(*child)));
        }
        false
    }
}

/// Adds the chosen term of a class to `expr`, once.
fn place<N: Analysis<Term>>(
    class: Id,
    egraph: &EGraph<Term, N>,
    chosen: &BTreeMap<Id, &Term>,
    places: &mut HashMap<Id, Id>,
    expr: &mut RecExpr<Term>,
) -> Option<Id> {
    if let Some(place) = places.get(&class) {
        return Some(*place);
    }
    let term = chosen.get(&class)?;
    let children: Option<Box<[Id]>> =
        term.children.iter().map(|child| place(egraph.find(*child), egraph, chosen, places, expr)).collect();
    let id = expr.add(Term { head: term.head.clone(), children: children? });
    places.insert(class, id);
    Some(id)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::Bounds;
    use crate::simplify::egraph::run;
    use crate::{from_expr, to_expr};
    use keyfit_ir::Track;

    fn expr(text: &str) -> RecExpr<Term> {
        to_expr(&Track::parse(text).unwrap())
    }

    /// Each of two terms is cheaper by itself than as a function of a sine, but both are functions of the same sine.
    #[test]
    fn the_search_finds_what_trees_miss() {
        let given = expr("sqrt(sqrt(?p=1)) + sqrt(sqrt(?p + 1))");
        let mut runner = run(&given, &Bounds::new(), &[], false).ok().unwrap();
        for (own, other) in [("sqrt(sqrt(?p=1))", "-sin(?q=1)"), ("sqrt(sqrt(?p=1 + 1))", "abs(sin(?q=1))")] {
            let [own, other] = [own, other].map(|text| runner.egraph.add_expr(&expr(text)));
            runner.egraph.union(own, other);
        }
        runner.egraph.rebuild();
        let root = runner.egraph.find(runner.roots[0]);
        let (_, tree) = Extractor::new(&runner.egraph, Trees(Cost::Evaluation)).find_best(root);
        assert_eq!((total(&given, Cost::Evaluation), total(&tree, Cost::Evaluation)), (56, 56));
        let best = cheaper(&runner.egraph, root, &given, Cost::Evaluation).unwrap();
        assert_eq!(total(&best, Cost::Evaluation), 48);
        assert_eq!(from_expr(&best).unwrap().describe(), "ADD(NEG(SIN(?q=1.0)), ABS(SIN(?q=1.0)))");
        // the way through is 3 operations as given (4 on the right), and as short by the sines
        assert_eq!(total(&cheaper(&runner.egraph, root, &given, Cost::Depth).unwrap(), Cost::Depth), 3);
    }

    /// A choice that leads back to itself is none.
    #[test]
    fn circles_are_no_terms() {
        let given = expr("sqrt(?p=1) * 1");
        let mut runner = run(&given, &Bounds::new(), &[], false).ok().unwrap();
        let root = runner.egraph.add_expr(&given);
        let dear = runner.egraph.add_expr(&expr("sqrt(?p=1)"));
        runner.egraph.union(root, dear);
        runner.egraph.rebuild();
        let best = cheaper(&runner.egraph, root, &given, Cost::Evaluation).unwrap();
        assert_eq!(from_expr(&best).unwrap().describe(), "SQRT(?p=1.0)");
    }
}
