//! Proofs as JSON, to be kept and to be replayed.
//!
//! ```text
//! { "terms":  ["t", "0.0", ["ADD(?c0=0.0, ?c1=0.0)", 0, 1], …],   children as ?c0, ?c1 … with their numbers behind
//!   "steps":  [{"rule": …, "backward": false, "place": 2, "result": 0, "substitution": {"x": 0}}, …],
//!   "before": 2, "after": 0, "duration": null, "bounds": {"gain": ["0.0", "1.0"]} }
//! ```
//!
//! Numbers that bits hang on are strings that read back to the same bits.

use std::sync::Arc;

use keyfit_ir::{BuildError, Builder, Id, Node, Parameter, SyntaxError, Track};
use keyfit_rewrite::bank::{Cell, Place};
use keyfit_rewrite::{Bounds, Head, Proof, Step};
use serde_json::{Map, Value, json};
use thiserror::Error;

/// Why a text is no proof.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ProofTextError {
    /// Something is missing or of another kind.
    #[error("the proof has no {0}")]
    Missing(&'static str),
    /// A term's text cannot be read.
    #[error("term {term}: {error}")]
    Syntax {
        /// Which term.
        term: usize,
        /// Why.
        error: SyntaxError,
    },
    /// A term's children are not those that its text names.
    #[error("term {0} does not name its children c0, c1 …")]
    Children(usize),
    /// A term cannot be written.
    #[error(transparent)]
    Build(#[from] BuildError),
}

/// The proof as one JSON object.
///
/// # Errors
/// Where a term is none.
pub fn to_json(proof: &Proof) -> Result<Value, ProofTextError> {
    let terms: Vec<Value> = proof.terms.iter().map(|cell| term_to_json(cell)).collect::<Result<_, _>>()?;
    let steps: Vec<Value> = proof.steps.iter().map(step_to_json).collect();
    let bounds: Map<String, Value> = proof
        .bounds
        .parameters()
        .filter_map(|(name, fact)| {
            let (low, high) = fact.range()?;
            Some((name.to_owned(), json!([format!("{low:?}"), format!("{high:?}")])))
        })
        .collect();
    let clock = proof.bounds.clock();
    let duration =
        clock.range().filter(|_| clock != Bounds::new().clock()).map(|(_, high)| format!("{high:?}"));
    Ok(json!({
        "terms": terms,
        "steps": steps,
        "before": proof.before,
        "after": proof.after,
        "duration": duration,
        "bounds": bounds,
    }))
}

fn step_to_json(step: &Step) -> Value {
    let substitution: Map<String, Value> =
        step.substitution.iter().map(|(name, place)| (name.clone(), json!(place))).collect();
    json!({
        "rule": step.rule,
        "backward": step.backward,
        "place": step.place,
        "result": step.result,
        "substitution": substitution,
    })
}

fn term_to_json(cell: &Cell) -> Result<Value, ProofTextError> {
    let mut builder = Builder::new();
    let mut children: Vec<Id> = Vec::with_capacity(cell.children.len());
    for k in 0..cell.children.len() {
        children.push(builder.free(Parameter::new(&format!("c{k}"), 0.0).map_err(BuildError::from)?)?);
    }
    let root = cell.head.build(&mut builder, &children)?;
    let text = Value::from(builder.finish(root)?.describe());
    if cell.children.is_empty() {
        return Ok(text);
    }
    Ok(std::iter::once(text).chain(cell.children.iter().map(|child| json!(child))).collect())
}

/// The proof that an object says.
///
/// # Errors
/// [`ProofTextError`]; whether the proof holds is another question.
pub fn from_json(value: &Value) -> Result<Proof, ProofTextError> {
    use ProofTextError::Missing;
    let list = |key: &'static str| value.get(key).and_then(Value::as_array).ok_or(Missing(key));
    let mut terms = Vec::new();
    for (i, term) in list("terms")?.iter().enumerate() {
        terms.push(Arc::new(term_from_json(i, term)?));
    }
    let steps = list("steps")?.iter().map(step_from_json).collect::<Result<_, _>>()?;
    let number = |value: &Value| value.as_str().and_then(|text| text.parse::<f64>().ok());
    let mut bounds = Bounds::new();
    match value.get("duration").ok_or(Missing("duration"))? {
        Value::Null => {}
        duration => bounds = bounds.duration(number(duration).ok_or(Missing("duration"))?),
    }
    for (name, ends) in value.get("bounds").and_then(Value::as_object).ok_or(Missing("bounds"))? {
        let end = |k: usize| ends.get(k).and_then(number).ok_or(Missing("bounds"));
        bounds = bounds.parameter(name, end(0)?, end(1)?);
    }
    Ok(Proof { bounds, terms, steps, before: place(value, "before")?, after: place(value, "after")? })
}

fn place(value: &Value, key: &'static str) -> Result<Place, ProofTextError> {
    value.get(key).and_then(as_place).ok_or(ProofTextError::Missing(key))
}

fn as_place(value: &Value) -> Option<Place> {
    value.as_u64().and_then(|place| Place::try_from(place).ok())
}

fn step_from_json(value: &Value) -> Result<Step, ProofTextError> {
    use ProofTextError::Missing;
    let named = value.get("substitution").and_then(Value::as_object).ok_or(Missing("substitution"))?;
    let substitution = named
        .iter()
        .map(|(name, place)| Some((name.clone(), as_place(place)?)))
        .collect::<Option<Vec<(String, Place)>>>();
    Ok(Step {
        rule: value.get("rule").and_then(Value::as_str).ok_or(Missing("rule"))?.to_owned(),
        backward: value.get("backward").and_then(Value::as_bool).ok_or(Missing("backward"))?,
        place: place(value, "place")?,
        result: place(value, "result")?,
        substitution: substitution.ok_or(Missing("substitution"))?,
    })
}

fn term_from_json(term: usize, value: &Value) -> Result<Cell, ProofTextError> {
    let (text, numbers) = match value {
        Value::Array(parts) => match parts.split_first() {
            Some((text, numbers)) => (text, numbers),
            None => return Err(ProofTextError::Missing("terms")),
        },
        text => (text, &[][..]),
    };
    let text = text.as_str().ok_or(ProofTextError::Missing("terms"))?;
    let track = Track::parse(text).map_err(|error| ProofTextError::Syntax { term, error })?;
    let root = track.nodes().last().ok_or(BuildError::Empty)?;
    let mut children = Vec::new();
    for (k, child) in root.children().iter().enumerate() {
        let named = matches!(track.node(child), Some(Node::Free(p)) if p.name() == format!("c{k}"));
        let number = numbers.get(k).and_then(as_place).filter(|_| named);
        children.push(number.ok_or(ProofTextError::Children(term))?);
    }
    if children.len() != numbers.len() {
        return Err(ProofTextError::Children(term));
    }
    Ok(Cell { head: Head::of(root), children: children.into() })
}

/// A term for people: three operations deep, and `#n` for what lies deeper.
pub fn excerpt(proof: &Proof, place: Place) -> String {
    short(proof, place, 3)
}

fn short(proof: &Proof, place: Place, depth: usize) -> String {
    let Some(cell) = proof.terms.get(place as usize) else { return format!("#{place}") };
    match &cell.head {
        _ if cell.children.is_empty() => cell.head.to_string(),
        _ if depth == 0 => format!("#{place}"),
        Head::Keyed(_) => match proof.track(place) {
            Ok(track) if track.nodes().len() < 16 => track.describe(),
            _ => format!("#{place}"),
        },
        head => {
            let children: Vec<String> =
                cell.children.iter().map(|child| short(proof, *child, depth - 1)).collect();
            format!("{head}({})", children.join(", "))
        }
    }
}
