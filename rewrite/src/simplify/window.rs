//! Equality saturation in windows.
//!
//! A window is a term cut off at its leaves: it holds nodes that are used nowhere else, so that what is saved inside is
//! saved in all. Leaves are free parameters of which the window knows only their facts. Rules work both ways there, in an
//! e-graph of its own; small e-graphs stay fast, and one cannot starve another.
//!
//! What egg found is believed only if the checker of proofs accepts it: egg's explanations do not cover conditions, and a
//! fact that it used may come from a member of a class that the explanation does not mention.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use egg::{Id, RecExpr};
use keyfit_ir::Parameter;

use super::SimplifyError;
use super::egraph::{Saturated, run, useful};
use super::explanation::Told;
use super::extract::cheaper;
use super::pass::Pass;
use crate::bank::{Bank, Place};
use crate::facts::{Bounds, Fact};
use crate::head::Head;
use crate::proof::{Proof, Step};
use crate::term::Term;

/// The most nodes of a window, without its leaves.
const WINDOW: usize = 24;
/// Saturates the windows of what stands for the root now; how many results the checker could not follow.
///
/// # Errors
/// Where a rule or a fact is wrong.
pub(super) fn all(pass: &mut Pass<'_>, budget: usize) -> Result<usize, SimplifyError> {
    let Some(root) = pass.now.last().copied() else { return Ok(0) };
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
                Err(Trouble::Clash(first, second)) => {
                    return Err(SimplifyError::Contradiction { first, second });
                }
            }
        }
        now[place as usize] = at;
    }
    if let Some(last) = pass.now.last_mut() {
        *last = now[root as usize];
    }
    Ok(dropped)
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

/// Why nothing comes of a window.
pub(super) enum Trouble {
    /// The checker could not follow what egg found.
    Unfollowed,
    /// Two terms were made equal that have no value in common.
    Clash(String, String),
}

use Trouble::Unfollowed;

/// A cheaper term that has the value of the one at `top`, if saturation finds one.
fn saturate(pass: &mut Pass<'_>, top: Place, inside: &[Place]) -> Result<Option<Place>, Trouble> {
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
    let cost = pass.cost;
    let useful = useful(&expr, cost);
    let cheaper = |runner: &Saturated| cheaper(&runner.egraph, *runner.roots.first()?, &expr, cost);
    let better = cheaper(&run(&expr, &bounds, &useful, false)?);
    let explained = better.map(|_| run(&expr, &bounds, &useful, true)).transpose()?;
    let best = explained.and_then(|runner| cheaper(&runner).map(|best| (runner, best)));
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

/// Adds what was proved in a window to the pass; gives the term that stands for the window's root from now on.
fn transplant(pass: &mut Pass<'_>, proof: &Proof, top: Place, leaves: &[Place]) -> Result<Place, Trouble> {
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
