//! What simplification saves on the models of all suites and on their derivatives.

use keyfit_ir::{BuildError, Track};
use keyfit_rewrite::{Options, SimplifyError, Variable, chain_rule, cost, derivative, simplify};
use thiserror::Error;

use crate::suite::{SuiteError, suite, suite_names};

/// A track before and after, with what it was made from.
#[derive(Clone, Debug)]
pub struct Case {
    /// The suite and the problem.
    pub problem: String,
    /// The channel, or what of it is derived by what.
    pub track: String,
    /// Whether it is a derivative.
    pub derivative: bool,
    /// The track: of a derivative what the plain chain rule gives.
    pub before: Track,
    /// The track that is simplified: of a derivative without what does not move.
    pub between: Track,
    /// The track simplified.
    pub after: Track,
    /// The times of the problem's targets, in seconds.
    pub times: Vec<f64>,
}

/// What a case saves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// As in [`Case`].
    pub problem: String,
    /// As in [`Case`].
    pub track: String,
    /// As in [`Case`].
    pub derivative: bool,
    /// Nodes before.
    pub nodes_before: usize,
    /// Nodes of the track that is simplified.
    pub nodes_between: usize,
    /// Nodes after.
    pub nodes_after: usize,
    /// Evaluation cost before, as [`cost()`] has it.
    pub cost_before: u64,
    /// Evaluation cost after.
    pub cost_after: u64,
}

/// Why there is no table.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ReductionError {
    /// A suite cannot be read.
    #[error(transparent)]
    Suite(#[from] SuiteError),
    /// A derivative is too large.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// A rule or a fact is wrong.
    #[error(transparent)]
    Simplify(#[from] SimplifyError),
}

/// Every channel of every problem of a suite, and its derivatives by each parameter that it has, and by the clock where it
/// has that.
///
/// # Errors
/// [`ReductionError`]; of an embedded suite none is expected.
pub fn cases(name: &str) -> Result<Vec<Case>, ReductionError> {
    let mut cases = Vec::new();
    for problem in suite(name)? {
        for channel in problem.starts.first().into_iter().flatten() {
            let track = &channel.track;
            let times: Vec<f64> = channel.targets.iter().map(|target| target.time).collect();
            let case = |text: String, derivative: bool, before: Track, between: Track| {
                let problem = format!("{name}/{}", problem.name);
                let after = simplify(&between, &Options::default())?.track;
                let times = times.clone();
                Ok::<_, ReductionError>(Case {
                    problem,
                    track: text,
                    derivative,
                    before,
                    between,
                    after,
                    times,
                })
            };
            cases.push(case(channel.name.clone(), false, track.clone(), track.clone())?);
            for variable in variables(track) {
                let by = match &variable {
                    Variable::Time => "t",
                    Variable::Parameter(name) => name,
                };
                let text = format!("d{}/d{by}", channel.name);
                cases.push(case(text, true, chain_rule(track, &variable)?, derivative(track, &variable)?)?);
            }
        }
    }
    Ok(cases)
}

/// What is saved in each case of every suite.
///
/// # Errors
/// [`ReductionError`], none of which is expected.
pub fn reduction() -> Result<Vec<Row>, ReductionError> {
    let mut rows = Vec::new();
    for name in suite_names() {
        rows.extend(cases(&name)?.iter().map(row));
    }
    Ok(rows)
}

fn variables(track: &Track) -> Vec<Variable> {
    let parameters = track.free_parameters();
    let named = parameters.iter().map(|p| Variable::Parameter(p.name().to_owned()));
    let clock = track.nodes().iter().any(|node| matches!(node, keyfit_ir::Node::Clock));
    named.chain(clock.then_some(Variable::Time)).collect()
}

fn row(case: &Case) -> Row {
    let nodes = |track: &Track| track.nodes().len();
    Row {
        problem: case.problem.clone(),
        track: case.track.clone(),
        derivative: case.derivative,
        nodes_before: nodes(&case.before),
        nodes_between: nodes(&case.between),
        nodes_after: nodes(&case.after),
        cost_before: cost(&case.before),
        cost_after: cost(&case.after),
    }
}

/// The median of the parts that are saved in the rows that are derivatives, or in the others; of nodes and of cost, in
/// percent. NaN where there is none.
pub fn medians(rows: &[Row], derivative: bool) -> [f64; 2] {
    let own = || rows.iter().filter(|row| row.derivative == derivative);
    [
        median_saved(own().map(|row| [row.nodes_before as f64, row.nodes_after as f64])),
        median_saved(own().map(|row| [row.cost_before as f64, row.cost_after as f64])),
    ]
}

/// The median of the parts that are saved between before and after, in percent; NaN if there is none.
pub fn median_saved(pairs: impl Iterator<Item = [f64; 2]>) -> f64 {
    let saved = |[before, after]: [f64; 2]| if before == 0.0 { 0.0 } else { 100.0 * (1.0 - after / before) };
    let mut all: Vec<f64> = pairs.map(saved).collect();
    all.sort_by(f64::total_cmp);
    let at = |k: usize| all.get(k).copied().unwrap_or(f64::NAN);
    (at(all.len().saturating_sub(1) / 2) + at(all.len() / 2)) / 2.0
}

/// The table as Markdown.
pub fn markdown(rows: &[Row]) -> String {
    let mut text = "# What simplification saves\n\n\
        The models of all suites, and their derivatives by every parameter and by t where they have it. Without bounds, so for any\n\
        parameters and any time. Of a derivative, *before* is the chain rule of textbooks, with its zeros and ones; *between* is\n\
        `derivative`, where what does not move leaves nothing behind; *after* is that, simplified without changing a bit. The first\n\
        step is by construction; only the second is rewriting. Cost is the model of evaluation by which `simplify` decides.\n\n"
        .to_owned();
    for (name, derivative) in [("derivatives", true), ("models", false)] {
        let count = rows.iter().filter(|row| row.derivative == derivative).count();
        let [nodes, cost] = medians(rows, derivative);
        text += &format!(
            "Of {count} {name} the median saving is {nodes:.1} % of the nodes and {cost:.1} % of the cost.\n"
        );
    }
    text += "\n| problem | track | nodes before | between | after | cost before | after |\n| --- | --- | ---: | ---: | ---: | ---: | ---: |\n";
    for row in rows {
        text += &format!(
            "| {} | {} | {} | {} | {} | {} | {} |\n",
            row.problem,
            row.track,
            row.nodes_before,
            row.nodes_between,
            row.nodes_after,
            row.cost_before,
            row.cost_after
        );
    }
    text
}
