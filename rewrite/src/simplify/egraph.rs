//! The e-graph of a window: its analysis, the rules as egg's, and what is cheapest.

use std::cell::RefCell;
use std::str::FromStr;
use std::sync::LazyLock;
use std::time::Duration;

use egg::{
    Analysis, ConditionalApplier, DidMerge, EGraph, ENodeOrVar, Id, Justification, Pattern as Sought,
    RecExpr, Rewrite, Runner, SimpleScheduler, Subst, Var,
};
use keyfit_ir::{Node, Op};

use super::window::Trouble;
use crate::cost::Cost;
use crate::facts::{Bounds, Fact};
use crate::head::Head;
use crate::pattern::{Pattern, VARIABLES};
use crate::rules::{Ready, RuleSet};
use crate::term::{Term, from_expr};

/// Where saturation of a window stops.
const EGRAPH_NODES: usize = 160;
const ITERATIONS: usize = 4;
/// How much dearer than the other side a rule's side may be, for the rule to be used towards it: one sum.
fn detour(cost: Cost) -> i64 {
    cost.of_op(Op::ADD) as i64
}
/// No way makes more of an operation that costs as much as this.
const DEAR: u64 = 16;

/// A window's e-graph when it is done.
pub(super) type Saturated = Runner<Term, Facts, ()>;

/// Saturates an e-graph of a term.
///
/// # Errors
/// Where two terms were made equal that have no value in common.
pub(super) fn run(
    expr: &RecExpr<Term>,
    bounds: &Bounds,
    rules: &[&'static Rewrite<Term, Facts>],
    explain: bool,
) -> Result<Saturated, Trouble> {
    let runner = Saturated::new(Facts { bounds: bounds.clone(), clash: RefCell::new(None) });
    let runner = match explain {
        true => runner.with_explanations_enabled().without_explanation_length_optimization(),
        false => runner,
    };
    let runner = runner
        .with_node_limit(EGRAPH_NODES)
        .with_iter_limit(ITERATIONS)
        // only limits that are the same on every machine
        .with_time_limit(Duration::from_secs(3600))
        .with_scheduler(SimpleScheduler)
        .with_expr(expr)
        .run(rules.iter().copied());
    match runner.egraph.analysis.clash.take() {
        Some((first, second)) => Err(Trouble::Clash(first, second)),
        None => Ok(runner),
    }
}

/// What is known of the classes.
pub(super) struct Facts {
    bounds: Bounds,
    /// Two terms, or what is known of them, that were made equal and have no value in common. A rule or a fact is wrong
    /// then.
    clash: RefCell<Option<(String, String)>>,
}

/// The name under which an e-graph writes that a class has one value only.
pub(super) const KNOWN: &str = "known";

impl Analysis<Term> for Facts {
    type Data = Fact;

    fn make(egraph: &mut EGraph<Term, Facts>, term: &Term, _: Id) -> Fact {
        let facts: Vec<Fact> = term.children.iter().map(|child| egraph[*child].data).collect();
        let alike = matches!(&term.children[..], [a, b, ..] if egraph.find(*a) == egraph.find(*b));
        egraph.analysis.bounds.fact(&term.head, &facts, alike)
    }

    fn pre_union(egraph: &EGraph<Term, Facts>, a: Id, b: Id, _: &Option<Justification>) {
        let [known_a, known_b] = [a, b].map(|id| egraph[egraph.find(id)].data);
        if known_a.meet(known_b).is_none() {
            let text = |id: Id, fact: Fact| match from_expr(&egraph.id_to_expr(id)) {
                Ok(track) => format!("{} ({fact})", track.describe()),
                Err(error) => format!("{error} ({fact})"),
            };
            egraph.analysis.clash.replace(Some((text(a, known_a), text(b, known_b))));
        }
    }

    fn merge(&mut self, a: &mut Fact, b: Fact) -> DidMerge {
        let Some(met) = a.meet(b) else {
            let mut clash = self.clash.borrow_mut();
            clash.get_or_insert_with(|| (a.to_string(), b.to_string()));
            return DidMerge(false, false);
        };
        let merged = DidMerge(*a != met, b != met);
        *a = met;
        merged
    }

    fn modify(egraph: &mut EGraph<Term, Facts>, class: Id) {
        let Some(x) = egraph[class].data.constant() else { return };
        let head = Head::number(x);
        if egraph[class].nodes.iter().any(|term| term.head == head) {
            return;
        }
        let constant = egraph.add(Term { head, children: Box::new([]) });
        egraph.union_trusted(class, constant, KNOWN);
    }
}

/// One way of a rule: the operations that it needs, those that it brings, and egg's rewrite.
struct Way {
    needs: u128,
    brings: u128,
    rewrite: Rewrite<Term, Facts>,
}

/// The rules as egg's, each in the directions in which it is not much dearer.
fn ways(cost: Cost) -> &'static [Way] {
    static WAYS: LazyLock<[Vec<Way>; Cost::ALL.len()]> = LazyLock::new(|| {
        Cost::ALL.map(|cost| {
            let rules = RuleSet::get().rules();
            let ways = rules.iter().enumerate().flat_map(|(i, ready)| [(i, ready, false), (i, ready, true)]);
            ways.filter_map(|(i, ready, backward)| way(i, ready, backward, cost)).collect()
        })
    });
    &WAYS[cost as usize]
}

/// The rules whose operations are there, or can come.
pub(super) fn useful(expr: &RecExpr<Term>, cost: Cost) -> Vec<&'static Rewrite<Term, Facts>> {
    let mut there = expr.iter().fold(0, |there, term| match term.head {
        Head::Apply(op) => there | bit(op),
        _ => there,
    });
    loop {
        let more = ways(cost)
            .iter()
            .filter(|way| way.needs & !there == 0)
            .fold(there, |more, way| more | way.brings);
        if more == there {
            break;
        }
        there = more;
    }
    ways(cost).iter().filter(|way| way.needs & !there == 0).map(|way| &way.rewrite).collect()
}

fn bit(op: Op) -> u128 {
    1 << (op as u8 % 128)
}

fn operations(pattern: &Pattern) -> u128 {
    pattern.track().nodes().iter().fold(0, |bits, node| match node {
        Node::Apply(op, _) => bits | bit(*op),
        _ => bits,
    })
}

/// The name of a rule's way: the rule's number, and `<` for the way from right to left.
fn way_name(rule: usize, backward: bool) -> String {
    format!("{rule}{}", if backward { "<" } else { ">" })
}

fn way(i: usize, ready: &'static Ready, backward: bool, cost: Cost) -> Option<Way> {
    let [left, right] = ready.sides.as_ref()?;
    let (from, to) = if backward { (right, left) } else { (left, right) };
    let gain = if backward { -ready.gain(cost) } else { ready.gain(cost) };
    let op = from.op()?;
    let closed = to.variables().all(|v| from.variables().any(|w| v == w));
    if !closed || gain < -detour(cost) || (gain < 0 && cost.of_op(op) > DEAR) {
        return None;
    }
    let variables: Vec<(usize, Var)> = from.variables().filter_map(|v| Some((v, variable(v)?))).collect();
    let condition = move |egraph: &mut EGraph<Term, Facts>, _: Id, found: &Subst| {
        let known = |v: usize| {
            let place = variables.iter().find(|(other, _)| *other == v);
            place.and_then(|(_, var)| found.get(*var)).map_or(Fact::ANY, |class| egraph[*class].data)
        };
        ready.conditions.iter().all(|condition| condition.follows(&known))
    };
    let applier = ConditionalApplier { condition, applier: Sought::new(sought(to)?) };
    let rewrite = Rewrite::new(way_name(i, backward), Sought::new(sought(from)?), applier).ok()?;
    Some(Way { needs: operations(from), brings: operations(to), rewrite })
}

fn variable(v: usize) -> Option<Var> {
    Var::from_str(&format!("?{}", VARIABLES.get(v)?)).ok()
}

/// A pattern as egg's.
pub(crate) fn sought(pattern: &Pattern) -> Option<RecExpr<ENodeOrVar<Term>>> {
    let mut nodes = Vec::new();
    for node in pattern.track().nodes() {
        nodes.push(match node {
            Node::Free(p) => ENodeOrVar::Var(Var::from_str(&format!("?{}", p.name())).ok()?),
            node => ENodeOrVar::ENode(Term {
                head: Head::of(node),
                children: node.children().iter().map(|child| Id::from(child.index())).collect(),
            }),
        });
    }
    Some(RecExpr::from(nodes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use egg::RecExpr;
    use keyfit_ir::Track;

    #[test]
    fn a_union_of_different_numbers_names_them() {
        let facts = Facts { bounds: Bounds::new().duration(1.0), clash: RefCell::new(None) };
        let mut egraph = EGraph::new(facts);
        let mut add = |text: &str| {
            let expr: RecExpr<Term> = crate::to_expr(&Track::parse(text).unwrap());
            egraph.add_expr(&expr)
        };
        let (a, b) = (add("exp(t) + 1"), add("t * t"));
        egraph.union(a, b);
        egraph.rebuild();
        let (first, second) = egraph.analysis.clash.take().unwrap();
        assert_eq!(first, "ADD(EXP(t), 1.0) (from 2.0 to 3.718281828459045)");
        assert_eq!(second, "MUL(t, t) (from 0.0 to 1.0)");
    }
}
