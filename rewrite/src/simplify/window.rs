//! Equality saturation in windows.
//!
//! A window is a term cut off at its leaves: it holds nodes that are used nowhere else, so that what is saved inside is
//! saved in all. Leaves are free parameters of which the window knows only their facts. Rules work both ways there, in an
//! e-graph of its own; small e-graphs stay fast, and one cannot starve another.
//!
//! What egg found is believed only if the checker of proofs accepts it: egg's explanations do not cover conditions, and a
//! fact that it used may come from a member of a class that the explanation does not mention.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use std::str::FromStr;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use egg::{
    Analysis, ConditionalApplier, CostFunction, DidMerge, EGraph, ENodeOrVar, Extractor, Id, Language,
    Pattern as Sought, RecExpr, Rewrite, Runner, SimpleScheduler, Subst, TreeTerm, Var,
};
use keyfit_ir::{Node, Op, Parameter};

use super::pass::Pass;
use crate::bank::{Bank, Cell, Place};
use crate::cost::{node_cost, weight};
use crate::facts::{Bounds, Fact};
use crate::head::Head;
use crate::pattern::{Pattern, Substitution, VARIABLES};
use crate::proof::{Proof, ProofError, Step};
use crate::rules::{Ready, RuleSet, Sides, named};
use crate::term::Term;

/// The most nodes of a window, without its leaves.
const WINDOW: usize = 24;
/// Where saturation of a window stops.
const EGRAPH_NODES: usize = 160;
const ITERATIONS: usize = 4;
/// How much dearer than the other side a rule's side may be, for the rule to be used towards it.
const DETOUR: i64 = 4;

/// Saturates the windows of what stands for the root now; how many results the checker could not follow.
pub(super) fn all(pass: &mut Pass<'_>, budget: usize) -> usize {
    let Some(root) = pass.now.last().copied() else { return 0 };
    let windows = partition(&pass.bank, root);
    let mut now: Vec<Place> = (0..=root).collect();
    let (mut looked_at, mut dropped) = (0, 0);
    let mut wanted = vec![false; root as usize + 1];
    wanted[root as usize] = true;
    for place in (0..=root).rev() {
        if wanted[place as usize] {
            let cell = pass.bank.cells()[place as usize].clone();
            cell.children.iter().for_each(|child| wanted[*child as usize] = true);
        }
    }
    for place in 0..=root {
        if !wanted[place as usize] {
            continue;
        }
        let cell = pass.bank.cells()[place as usize].clone();
        let children: Vec<Place> = cell.children.iter().map(|child| now[*child as usize]).collect();
        let mut at = place;
        if children[..] != cell.children[..] {
            let rebuilt = pass.bank.insert(cell.head.clone(), children);
            pass.bank.learn(rebuilt, pass.bank.fact(place));
            at = pass.normalise(rebuilt, 0);
        }
        if let Some(inside) = windows.get(&place)
            && looked_at < budget
            && !pass.out_of_time()
        {
            looked_at += inside.len();
            // the nodes inside may have been replaced; what was there only for them is there only for the new ones
            let inside: Vec<Place> = inside.iter().map(|inner| now[*inner as usize]).chain([at]).collect();
            match saturate(pass, at, &inside) {
                Ok(better) => at = better.unwrap_or(at),
                Err(Unfollowed) => dropped += 1,
            }
        }
        now[place as usize] = at;
    }
    if let Some(last) = pass.now.last_mut() {
        *last = now[root as usize];
    }
    dropped
}

/// Windows in which saturation found nothing, as terms and facts of their leaves.
pub(super) type Hopeless = HashSet<(Vec<Term>, Vec<Fact>)>;

/// For each window's root, the nodes inside: each is used by the window only.
fn partition(bank: &Bank, root: Place) -> HashMap<Place, Vec<Place>> {
    let mut users = vec![0_usize; root as usize + 1];
    let mut wanted = vec![false; root as usize + 1];
    wanted[root as usize] = true;
    for place in (0..=root as usize).rev() {
        if wanted[place] {
            for child in &bank.cells()[place].children {
                users[*child as usize] += 1;
                wanted[*child as usize] = true;
            }
        }
    }
    let is_operation = |place: Place| matches!(bank.cells()[place as usize].head, Head::Apply(_));
    let mut windows = HashMap::new();
    let mut roots = vec![root];
    let mut seen = vec![false; root as usize + 1];
    while let Some(top) = roots.pop() {
        if std::mem::replace(&mut seen[top as usize], true) {
            continue;
        }
        let mut inside = vec![top];
        let mut at = 0;
        // how many uses of a node lie inside
        let mut within: HashMap<Place, usize> = HashMap::new();
        while at < inside.len() {
            let cell = &bank.cells()[inside[at] as usize];
            at += 1;
            if !matches!(cell.head, Head::Apply(_)) {
                continue;
            }
            for child in &cell.children {
                let uses = within.entry(*child).or_default();
                *uses += 1;
                if *uses == users[*child as usize] && is_operation(*child) && inside.len() < WINDOW {
                    inside.push(*child);
                }
            }
        }
        for place in &inside {
            roots.extend(
                bank.cells()[*place as usize].children.iter().filter(|child| !inside.contains(child)),
            );
        }
        if is_operation(top) && inside.len() > 1 {
            windows.insert(top, inside);
        }
    }
    windows
}

/// The checker could not follow what egg found.
struct Unfollowed;

/// A cheaper term that has the value of the one at `top`, if saturation finds one.
fn saturate(pass: &mut Pass<'_>, top: Place, inside: &[Place]) -> Result<Option<Place>, Unfollowed> {
    // the window as a bank of its own, in which leaves are parameters
    let mut leaves: Vec<Place> = Vec::new();
    let mut cells: Vec<Place> = Vec::new();
    let mut stack = vec![(top, false)];
    let mut there: HashMap<Place, usize> = HashMap::new();
    while let Some((place, ready)) = stack.pop() {
        if there.contains_key(&place) {
            continue;
        }
        let cell = &pass.bank.cells()[place as usize];
        let opened = matches!(cell.head, Head::Apply(_)) && inside.contains(&place);
        if ready || !opened {
            there.insert(place, cells.len());
            cells.push(place);
            if !opened && !matches!(cell.head, Head::Constant(_)) {
                leaves.push(place);
            }
        } else {
            stack.push((place, true));
            stack.extend(cell.children.iter().rev().map(|child| (*child, false)));
        }
    }
    let mut bounds = Bounds::new();
    for (k, leaf) in leaves.iter().enumerate() {
        bounds = bounds.known(&leaf_name(k), pass.bank.fact(*leaf));
    }
    let mut expr: RecExpr<Term> = RecExpr::default();
    for place in &cells {
        let cell = &pass.bank.cells()[*place as usize];
        let term = match leaves.iter().position(|leaf| leaf == place) {
            Some(k) => Term { head: leaf(k).ok_or(Unfollowed)?, children: Box::new([]) },
            None => Term {
                head: cell.head.clone(),
                children: cell
                    .children
                    .iter()
                    .filter_map(|child| there.get(child))
                    .map(|i| Id::from(*i))
                    .collect(),
            },
        };
        expr.add(term);
    }
    let key =
        (expr.as_ref().to_vec(), leaves.iter().map(|leaf| pass.bank.fact(*leaf)).collect::<Vec<Fact>>());
    if pass.hopeless.contains(&key) {
        return Ok(None);
    }
    // without explanations first: that is quicker, and most windows have nothing to explain
    let useful = useful(&expr);
    let better = cheaper(&run(&expr, &bounds, &useful, false)?, &expr);
    let explained = better.map(|_| run(&expr, &bounds, &useful, true)).transpose()?;
    let best = explained.and_then(|runner| cheaper(&runner, &expr).map(|best| (runner, best)));
    let Some((mut runner, best)) = best else {
        pass.hopeless.insert(key);
        return Ok(None);
    };
    let explanation = runner.explain_equivalence(&expr, &best);
    let mut told = Told::new(&bounds);
    let before = told.add(&expr);
    let after = told.add(&best);
    told.read(&explanation.explanation_trees)?;
    let proof = told.proof(before, after)?;
    transplant(pass, &proof, top, &leaves).map(Some)
}

type Saturated = Runner<Term, Facts, ()>;

fn run(
    expr: &RecExpr<Term>,
    bounds: &Bounds,
    rules: &[&'static Rewrite<Term, Facts>],
    explain: bool,
) -> Result<Saturated, Unfollowed> {
    let runner = Saturated::new(Facts { bounds: bounds.clone(), clash: false });
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
    if runner.egraph.analysis.clash { Err(Unfollowed) } else { Ok(runner) }
}

/// The best term of the root's class, if it is cheaper.
fn cheaper(runner: &Saturated, expr: &RecExpr<Term>) -> Option<RecExpr<Term>> {
    let (_, best) = Extractor::new(&runner.egraph, Weights).find_best(*runner.roots.first()?);
    (dag_cost(&best) < dag_cost(expr)).then_some(best)
}

/// Adds what was proved in a window to the pass; gives the term that stands for the window's root from now on.
fn transplant(pass: &mut Pass<'_>, proof: &Proof, top: Place, leaves: &[Place]) -> Result<Place, Unfollowed> {
    let mut places: Vec<Place> = Vec::with_capacity(proof.terms.len());
    for cell in &proof.terms {
        let place = match &cell.head {
            Head::Free(p) => *leaf_number(p).and_then(|k| leaves.get(k)).ok_or(Unfollowed)?,
            head => {
                let children: Vec<Place> =
                    cell.children.iter().map(|child| places[*child as usize]).collect();
                pass.bank.insert(head.clone(), children)
            }
        };
        places.push(place);
    }
    for step in &proof.steps {
        pass.steps.push(Step {
            place: places[step.place as usize],
            result: places[step.result as usize],
            substitution: step
                .substitution
                .iter()
                .map(|(name, place)| (name.clone(), places[*place as usize]))
                .collect(),
            ..step.clone()
        });
    }
    let after = places[proof.after as usize];
    let facts = [pass.bank.fact(top), pass.bank.fact(after)];
    pass.bank.learn(top, facts[1]);
    pass.bank.learn(after, facts[0]);
    Ok(after)
}

fn leaf_name(k: usize) -> String {
    format!("leaf{k}")
}

fn leaf(k: usize) -> Option<Head> {
    Parameter::new(&leaf_name(k), 0.0).ok().map(|p| Head::Free(Arc::new(p)))
}

fn leaf_number(parameter: &Parameter) -> Option<usize> {
    parameter.name().strip_prefix("leaf")?.parse().ok()
}

/// What is known of the classes.
struct Facts {
    bounds: Bounds,
    /// Whether two terms were made equal that have no value in common.
    clash: bool,
}

/// The name under which an e-graph writes that a class has one value only.
const KNOWN: &str = "known";

impl Analysis<Term> for Facts {
    type Data = Fact;

    fn make(egraph: &mut EGraph<Term, Facts>, term: &Term, _: Id) -> Fact {
        let facts: Vec<Fact> = term.children.iter().map(|child| egraph[*child].data).collect();
        let alike = matches!(&term.children[..], [a, b, ..] if egraph.find(*a) == egraph.find(*b));
        egraph.analysis.bounds.fact(&term.head, &facts, alike)
    }

    fn merge(&mut self, a: &mut Fact, b: Fact) -> DidMerge {
        let Some(met) = a.meet(b) else {
            self.clash = true;
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

/// The cost of a term as a tree.
struct Weights;

impl CostFunction<Term> for Weights {
    type Cost = u64;

    fn cost<C: FnMut(Id) -> u64>(&mut self, term: &Term, costs: C) -> u64 {
        // every node costs a little, so that of two equally cheap terms the smaller is taken
        term.fold(node_cost(&term.head) * 64 + 1, {
            let mut costs = costs;
            move |sum, id| sum.saturating_add(costs(id))
        })
    }
}

fn dag_cost(expr: &RecExpr<Term>) -> u64 {
    let mut seen: HashMap<(&Head, Vec<usize>), usize> = HashMap::new();
    let mut ids: Vec<usize> = Vec::new();
    let mut cost = 0;
    for term in expr {
        let children: Vec<usize> = term.children.iter().map(|child| ids[usize::from(*child)]).collect();
        let next = seen.len();
        let id = *seen.entry((&term.head, children)).or_insert_with(|| {
            cost += node_cost(&term.head);
            next
        });
        ids.push(id);
    }
    cost
}

/// One way of a rule: the operations that it needs, those that it brings, and egg's rewrite.
struct Way {
    needs: u128,
    brings: u128,
    rewrite: Rewrite<Term, Facts>,
}

/// The rules as egg's, each in the directions in which it is not much dearer.
fn ways() -> &'static [Way] {
    static WAYS: LazyLock<Vec<Way>> = LazyLock::new(|| {
        let rules = RuleSet::get().rules();
        let ways = rules.iter().enumerate().flat_map(|(i, ready)| [(i, ready, false), (i, ready, true)]);
        ways.filter_map(|(i, ready, backward)| way(i, ready, backward)).collect()
    });
    &WAYS
}

/// The rules whose operations are there, or can come.
fn useful(expr: &RecExpr<Term>) -> Vec<&'static Rewrite<Term, Facts>> {
    let mut there = expr.iter().fold(0, |there, term| match term.head {
        Head::Apply(op) => there | bit(op),
        _ => there,
    });
    loop {
        let more =
            ways().iter().filter(|way| way.needs & !there == 0).fold(there, |more, way| more | way.brings);
        if more == there {
            break;
        }
        there = more;
    }
    ways().iter().filter(|way| way.needs & !there == 0).map(|way| &way.rewrite).collect()
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

fn way(i: usize, ready: &'static Ready, backward: bool) -> Option<Way> {
    let [left, right] = ready.sides.as_ref()?;
    let (from, to) = if backward { (right, left) } else { (left, right) };
    let gain = if backward { -ready.gain } else { ready.gain };
    let op = from.op()?;
    let closed = to.variables().all(|v| from.variables().any(|w| v == w));
    if !closed || gain < -DETOUR || (gain < 0 && weight(op) > 16) {
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
fn sought(pattern: &Pattern) -> Option<RecExpr<ENodeOrVar<Term>>> {
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

/// An explanation as a proof in the making.
struct Told {
    bounds: Bounds,
    bank: Bank,
    steps: Vec<Step>,
    /// For terms of the explanation that were read: the first and the last term that they stand for.
    ends: HashMap<*const TreeTerm<Term>, (Place, Place)>,
}

impl Told {
    fn new(bounds: &Bounds) -> Told {
        Told { bounds: bounds.clone(), bank: Bank::new(bounds), steps: Vec::new(), ends: HashMap::new() }
    }

    fn add(&mut self, expr: &RecExpr<Term>) -> Place {
        let mut places: Vec<Place> = Vec::new();
        for term in expr {
            let children: Vec<Place> =
                term.children.iter().map(|child| places[usize::from(*child)]).collect();
            places.push(self.bank.insert(term.head.clone(), children));
        }
        places.last().copied().unwrap_or_default()
    }

    /// Reads a chain of terms, each got from the one before by a rule or by rewriting its children. Windows are small, and
    /// so is the depth of their explanations.
    fn read(&mut self, chain: &[Rc<TreeTerm<Term>>]) -> Result<(Place, Place), Unfollowed> {
        let mut ends: Option<(Place, Place)> = None;
        for term in chain {
            let (first, last) = self.term(term)?;
            if let Some((_, before)) = ends {
                match (term.forward_rule, term.backward_rule) {
                    (Some(way), _) => self.step(way.as_str(), before, first)?,
                    (None, Some(way)) => self.step(way.as_str(), first, before)?,
                    (None, None) => {}
                }
            }
            ends = Some((ends.map_or(first, |(first, _)| first), last));
        }
        ends.ok_or(Unfollowed)
    }

    fn term(&mut self, term: &Rc<TreeTerm<Term>>) -> Result<(Place, Place), Unfollowed> {
        if let Some(ends) = self.ends.get(&Rc::as_ptr(term)) {
            return Ok(*ends);
        }
        let (mut first, mut last) = (Vec::new(), Vec::new());
        for chain in &term.child_proofs {
            let (a, b) = self.read(chain)?;
            first.push(a);
            last.push(b);
        }
        let head = &term.node.head;
        let ends = (self.bank.insert(head.clone(), first), self.bank.insert(head.clone(), last));
        self.ends.insert(Rc::as_ptr(term), ends);
        Ok(ends)
    }

    fn step(&mut self, way: &str, from: Place, to: Place) -> Result<(), Unfollowed> {
        let none: Substitution = [None; VARIABLES.len()];
        let (rule, backward, place, result, substitution) = if way == KNOWN {
            let (place, result) = if self.bank.number(from).is_some() { (to, from) } else { (from, to) };
            (KNOWN, false, place, result, none)
        } else {
            let backward = way.ends_with('<');
            let number: usize = way.trim_end_matches(['<', '>']).parse().map_err(|_| Unfollowed)?;
            let ready = RuleSet::get().rules().get(number).ok_or(Unfollowed)?;
            let (Sides::Formulas(..), Some([left, right])) = (&ready.rule.sides, &ready.sides) else {
                return Err(Unfollowed);
            };
            let side = if backward { right } else { left };
            let substitution = side.matches(&self.bank, from).ok_or(Unfollowed)?;
            (ready.rule.name, backward, from, to, substitution)
        };
        let step = Step {
            rule: rule.into(),
            backward,
            place,
            result,
            substitution: named(&substitution).map(|(name, place)| (name.into(), place)).collect(),
        };
        if !self.steps.contains(&step) {
            self.steps.push(step);
        }
        Ok(())
    }

    /// The proof, with its steps in an order in which each finds its conditions established.
    fn proof(self, before: Place, after: Place) -> Result<Proof, Unfollowed> {
        let terms: Vec<Arc<Cell>> = self.bank.cells().to_vec();
        let mut proof = Proof { bounds: self.bounds, terms, steps: self.steps, before, after };
        for _ in 0..=proof.steps.len() {
            match proof.check() {
                Ok(()) => return Ok(proof),
                Err(ProofError::Condition { step, .. } | ProofError::NotAnInstance { step, .. }) => {
                    // perhaps a later step says what is missing
                    let waiting = proof.steps.remove(step);
                    proof.steps.push(waiting);
                }
                Err(_) => break,
            }
        }
        Err(Unfollowed)
    }
}
