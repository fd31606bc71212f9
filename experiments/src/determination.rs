//! What a fit leaves open, in the words that say most.

use std::collections::BTreeSet;

use keyfit_ir::Channel;
use keyfit_rewrite::identify::combinations;
use keyfit_solvers::{Fit, Undetermined};

/// What the targets do not determine: as the combination in which the parameters occur, where the tracks show it (`a and b occur only
/// as a*b`, which holds everywhere), else as the linear combination that the Jacobian shows at the answer.
pub fn undetermined(fit: &Fit, channels: &[Channel]) -> Vec<String> {
    if fit.undetermined.is_empty() {
        return Vec::new();
    }
    let felt = channels.iter().filter(|channel| channel.targets.iter().any(|target| target.weight > 0.0));
    let structural = combinations(felt.map(|channel| &channel.track));
    let mut told: Vec<String> = Vec::new();
    for found in &fit.undetermined {
        let names = parameters(found);
        let shown = structural.iter().find(|one| {
            let own: BTreeSet<&str> = one.parameters.iter().map(String::as_str).collect();
            names.is_subset(&own)
        });
        let text = shown.map_or_else(|| found.to_string(), ToString::to_string);
        // two directions in one combination are told once
        if !told.contains(&text) {
            told.push(text);
        }
    }
    told
}

/// The names of the parameters that move.
fn parameters(found: &Undetermined) -> BTreeSet<&str> {
    let terms = found.directions.iter().flat_map(|direction| &direction.0);
    // a parameter that is fitted by its logarithm is called so
    terms
        .map(|(_, name)| name.strip_prefix("ln(").and_then(|rest| rest.strip_suffix(')')).unwrap_or(name))
        .collect()
}
