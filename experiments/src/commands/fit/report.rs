//! What `keyfit fit` prints.

use keyfit::certify::{Certified, decimal};
use keyfit::determination::undetermined;
use keyfit::ir::Parameter;
use keyfit::normalise::Normalised;
use keyfit::solvers::{Attempt, Evidence, Loss, Named};
use serde_json::{Map, Value, json};

use super::super::json_number;
use super::Certificate;
use crate::model::Model;

/// A fit with what is needed to speak of it.
pub struct Answer {
    pub fit: keyfit::Fit,
    pub model: Model,
    pub certificate: Option<Certificate>,
    /// What was normalised, if that was asked for.
    pub normalised: Option<Normalised>,
    /// The probability that confidence intervals are made for.
    pub level: f64,
}

impl Answer {
    pub fn text(&self) -> String {
        text(self) + &self.certificate.as_ref().map(certificate_text).unwrap_or_default()
    }

    pub fn json(&self) -> Value {
        let mut object = fit_json(self);
        if let Some(certificate) = &self.certificate {
            object["certificate"] = certificate_json(certificate);
        }
        object
    }
}

/// Parameters of channels without targets, each once.
fn idle(fit: &keyfit::Fit) -> Vec<&Parameter> {
    let mut idle: Vec<&Parameter> =
        fit.fitted.iter().flat_map(|channel| channel.fitted.free_parameters()).collect();
    idle.sort();
    idle.dedup();
    idle
}

fn text(answer: &Answer) -> String {
    let fit = &answer.fit;
    let mut lines = Vec::new();
    let intervals = fit.intervals(answer.level).filter(|_| fit.converged);
    let width = fit.parameters.iter().map(|p| p.name.chars().count()).max().unwrap_or(0);
    for (i, p) in fit.parameters.iter().enumerate() {
        let errors = fit.standard_errors.as_ref().filter(|_| fit.converged);
        let error = errors.and_then(|errors| errors.get(i));
        let error = error.map_or(String::new(), |e| format!("  ± {:.4e}", e.value));
        let ends = intervals.as_ref().and_then(|ends| ends.get(i));
        let ends = ends.map_or(String::new(), |[low, high]| format!("  [{low:.6e}, {high:.6e}]"));
        lines.push(format!("{:width$} = {:?}{error}{ends}", p.name, p.value));
    }
    for p in idle(fit) {
        lines.push(format!(
            "{} = {:?} as at the start: no channel with targets uses it",
            p.name(),
            p.start()
        ));
    }
    lines.extend(answer.normalised.as_ref().and_then(normalised));
    lines.extend(tied(answer));
    lines.extend(correlated(fit));
    lines.extend(fit.warnings().iter().map(ToString::to_string));
    let open = undetermined(fit, &answer.model.channels);
    lines.extend(open.iter().map(|told| format!("not determined by the targets: {told}")));
    lines.push(String::new());
    let channels = &answer.model.channels;
    // a channel whose rate is aimed at is told of too; the rate's own track nobody has written
    let rates: Vec<_> = channels.iter().map(|channel| channel.rate_of(channels)).collect();
    for (channel, rate) in fit.fitted.iter().zip(&rates) {
        let aimed = rates.iter().flatten().any(|(of, _)| of.name == channel.name);
        if rate.is_none() && (aimed || channel.worst_miss.is_some()) {
            lines.push(format!("{} before  {}", channel.name, channel.before.describe()));
            lines.push(format!("{} fitted  {}", channel.name, channel.fitted.describe()));
        }
        lines.extend(channel.worst_miss.map(|miss| format!("{} worst miss  {miss:?}", channel.name)));
    }
    lines.push(String::new());
    let minimised = match fit.loss {
        Loss::Squares => "sum of squared residuals".into(),
        loss => format!("sum of the loss {loss}"),
    };
    lines.push(format!("{minimised}  {:?} -> {:?}", fit.initial_residual, fit.final_residual));
    lines.extend(quality(answer));
    lines.extend(tried(fit));
    lines.push(format!(
        "{} ({} steps, {} residual and {} Jacobian evaluations)",
        fit.message, fit.steps, fit.residual_evaluations, fit.jacobian_evaluations
    ));
    lines.join("\n") + "\n"
}

fn certificate_text(certificate: &Certificate) -> String {
    let certificate = match certificate {
        Ok(certificate) => certificate,
        Err(why) => return format!("\nnot certified: {why}\n"),
    };
    let mut lines = vec![
        String::new(),
        "certified: this is a minimum, all digits right up to one unit of the last, and no other stationary point lies in the box"
            .into(),
    ];
    let names = certificate.parameters.iter().map(|p| p.name.chars().count());
    let width = names.max().unwrap_or(0);
    for p in &certificate.parameters {
        lines.push(format!("{:width$} = {}  ± {:.2e}", p.name, p.decimal(), 0.995 * p.alone_within));
    }
    lines.join("\n") + "\n"
}

fn certificate_json(certificate: &Certificate) -> Value {
    match certificate {
        Err(why) => json!({ "certified": false, "why": why.to_string() }),
        Ok(certificate) => {
            let own = |value: &dyn Fn(&Certified) -> Value| -> Value {
                Value::Object(certificate.parameters.iter().map(|p| (p.name.clone(), value(p))).collect())
            };
            json!({
                "certified": true,
                "parameters": own(&|p| p.decimal().into()),
                "radius": own(&|p| (p.value.width().to_f64() / 2.0).into()),
                "alone_within": own(&|p| p.alone_within.into()),
                "sum_of_squares": decimal(&certificate.sum_of_squares),
                "bits": certificate.bits,
            })
        }
    }
}

/// What was tried, where it was more than one run.
fn tried(fit: &keyfit::Fit) -> Vec<String> {
    let starts = fit.attempts.iter().map(|attempt| attempt.start).max().unwrap_or(1);
    let mut lines = Vec::new();
    if starts == 1 && fit.attempts.len() > 1 {
        let tried =
            fit.attempts.iter().map(|attempt| format!("{} ({})", attempt.solver, attempt.termination.name()));
        lines.push(format!("tried {}", tried.collect::<Vec<_>>().join(", then ")));
    }
    if starts > 1 {
        let converged = fit.attempts.iter().filter(|attempt| attempt.termination.converged()).count();
        lines.push(format!("{starts} starts, {converged} of them converged; this is the lowest minimum"));
    }
    lines
}

fn normalised(done: &Normalised) -> Option<String> {
    let before: Vec<String> = done.before.iter().map(|p| format!("{} was {:?}", p.name, p.value)).collect();
    let moved = done.moved;
    (!before.is_empty())
        .then(|| format!("normalised: {}; values at targets moved by at most {moved:.1e}", before.join(", ")))
}

/// What became of parameters that are formulas of others, each with its standard error.
pub fn tied_values(answer: &Answer) -> impl Iterator<Item = (&str, f64, Option<f64>)> {
    answer.model.ties.iter().map(|tie| {
        let (value, error) = answer.fit.estimate(&tie.formula);
        (tie.name.as_str(), value, error)
    })
}

fn tied(answer: &Answer) -> impl Iterator<Item = String> {
    tied_values(answer).map(|(name, value, error)| {
        let error = error.filter(|_| answer.fit.converged);
        let error = error.map_or(String::new(), |error| format!("  ± {error:.4e}"));
        format!("{name} = {value:?}{error}  tied")
    })
}

/// Correlations beyond this are told.
const CORRELATED: f64 = 0.99;
/// So many of them.
const MOST_PAIRS: usize = 10;

fn correlated(fit: &keyfit::Fit) -> Vec<String> {
    let Some(correlation) = fit.correlation().filter(|_| fit.converged) else { return Vec::new() };
    let pairs = correlation.indexed_iter().filter(|((i, j), rho)| i < j && rho.abs() > CORRELATED);
    let mut pairs: Vec<((usize, usize), f64)> = pairs.map(|(pair, rho)| (pair, *rho)).collect();
    pairs.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
    let more = pairs.len().saturating_sub(MOST_PAIRS);
    let name = |k: usize| fit.parameters.get(k).map_or("", |p| p.name.as_str());
    let told = pairs.iter().take(MOST_PAIRS);
    let mut lines: Vec<String> =
        told.map(|((i, j), rho)| format!("{} and {} are correlated: {rho:.6}", name(*i), name(*j))).collect();
    if more > 0 {
        lines.push(format!("{more} more pairs are correlated beyond {CORRELATED}"));
    }
    lines
}

fn quality(answer: &Answer) -> Option<String> {
    let quality = answer.fit.quality;
    let deviation = quality.residual_deviation.filter(|_| answer.fit.converged)?;
    let freedom = match quality.degrees_of_freedom {
        1 => "1 degree of freedom".into(),
        n => format!("{n} degrees of freedom"),
    };
    let explained = quality.r_squared.map_or(String::new(), |r| format!(", R² {r:.7}"));
    let level =
        answer.fit.standard_errors.as_ref().map(|_| format!("; in brackets confidence {:?}", answer.level));
    Some(format!(
        "{freedom}, residual standard deviation {deviation:.6e}{explained}, condition {:.1e}{}",
        quality.condition,
        level.unwrap_or_default()
    ))
}

fn object(numbers: &[Named]) -> Value {
    Value::Object(numbers.iter().map(|p| (p.name.clone(), json_number(p.value))).collect())
}

fn fit_json(answer: &Answer) -> Value {
    let fit = &answer.fit;
    let numbers = |x: Option<f64>| x.map(json_number);
    let channels: Map<String, Value> = fit
        .fitted
        .iter()
        .map(|channel| {
            let entry = json!({
                "before": channel.before.describe(),
                "fitted": channel.fitted.describe(),
                "worst_miss": channel.worst_miss,
            });
            (channel.name.clone(), entry)
        })
        .collect();
    json!({
        "parameters": object(&fit.parameters),
        "initial_parameters": object(&fit.initial_parameters),
        "standard_errors": object(fit.standard_errors.as_deref().unwrap_or_default()),
        "initial_residual": json_number(fit.initial_residual),
        "final_residual": json_number(fit.final_residual),
        "converged": fit.converged,
        "termination": fit.termination.name(),
        "message": fit.message,
        "steps": fit.steps,
        "residual_evaluations": fit.residual_evaluations,
        "jacobian_evaluations": fit.jacobian_evaluations,
        "hessian_evaluations": fit.hessian_evaluations,
        "hessian_products": fit.hessian_products,
        "curvatures_along": fit.curvatures_along,
        "evidence": evidence_json(fit.evidence),
        "attempts": fit.attempts.iter().map(attempt_json).collect::<Vec<_>>(),
        "beaten": fit.beaten().map(attempt_json),
        "rank": fit.rank,
        "condition": json_number(fit.quality.condition),
        "degrees_of_freedom": fit.quality.degrees_of_freedom,
        "residual_standard_deviation": numbers(fit.quality.residual_deviation),
        "r_squared": numbers(fit.quality.r_squared),
        "confidence": answer.level,
        "intervals": intervals_json(answer),
        "correlation": correlation_json(fit),
        "tied": tied_json(answer),
        "normalised_from": answer.normalised.as_ref().map(|done| object(&done.before)),
        "warnings": fit.warnings().iter().map(ToString::to_string).collect::<Vec<_>>(),
        "undetermined": undetermined(fit, &answer.model.channels),
        "at_bounds": object(&fit.at_bounds),
        "loss": fit.loss.to_string(),
        "refused": null,
        "channels": channels,
    })
}

fn intervals_json(answer: &Answer) -> Value {
    let ends = answer.fit.intervals(answer.level).unwrap_or_default();
    let named = answer.fit.parameters.iter().zip(ends);
    Value::Object(named.map(|(p, ends)| (p.name.clone(), ends.map(json_number).to_vec().into())).collect())
}

/// A row a parameter, in their order; null where there is none.
fn correlation_json(fit: &keyfit::Fit) -> Value {
    let rows = |matrix: ndarray::Array2<f64>| -> Vec<Value> {
        matrix.rows().into_iter().map(|row| row.iter().map(|rho| json_number(*rho)).collect()).collect()
    };
    fit.correlation().map(rows).into()
}

fn tied_json(answer: &Answer) -> Value {
    let entry = |(name, value, error): (&str, f64, Option<f64>)| {
        (name.to_string(), json!({ "value": json_number(value), "standard_error": error.map(json_number) }))
    };
    Value::Object(tied_values(answer).map(entry).collect())
}

/// What speaks for a minimum.
pub fn evidence_json(evidence: Evidence) -> Value {
    json!({
        "scaled_gradient": json_number(evidence.scaled_gradient),
        "rank": evidence.rank,
        "smallest_eigenvalue": evidence.smallest_eigenvalue.map(json_number),
        "exact_hessian": evidence.exact,
    })
}

fn attempt_json(attempt: &Attempt) -> Value {
    json!({
        "solver": attempt.solver,
        "start": attempt.start,
        "sum_of_squares": json_number(attempt.sum_of_squares),
        "converged": attempt.termination.converged(),
        "termination": attempt.termination.name(),
    })
}

pub fn refused_json(why: &str, closable: bool, missing: &[String]) -> Value {
    json!({
        "parameters": {},
        "initial_parameters": {},
        "standard_errors": {},
        "initial_residual": null,
        "final_residual": null,
        "converged": false,
        "termination": "refused",
        "steps": 0,
        "residual_evaluations": 0,
        "jacobian_evaluations": 0,
        "refused": { "why": why, "closable": closable, "missing": missing },
        "channels": {},
    })
}
