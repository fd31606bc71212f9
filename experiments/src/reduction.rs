//! What simplification saves on the models of all suites and on their derivatives.

use keyfit_ir::{BuildError, Track};
use keyfit_rewrite::{Options, SimplifyError, Variable, chain_rule, cost, derivative, simplify};
use thiserror::Error;

use crate::suite::{SuiteError, suite, suite_names};

/// A track before and after.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The suite and the problem.
    pub problem: String,
    /// The channel, or what of it is derived by what.
    pub track: String,
    /// Whether it is a derivative.
    pub derivative: bool,
    /// Nodes before: of a derivative those of the plain chain rule.
    pub nodes_before: usize,
    /// Nodes of the track that is simplified: of a derivative without what does not move.
    pub nodes_between: usize,
    /// Nodes after.
    pub nodes_after: usize,
    /// Evaluation cost before, as [`cost`](fn@cost) has it.
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

/// Every channel of every problem, and its derivatives by each parameter that it has, and by the clock where it has that.
///
/// # Errors
/// [`ReductionError`], none of which is expected.
pub fn reduction() -> Result<Vec<Row>, ReductionError> {
    let mut rows = Vec::new();
    for name in suite_names() {
        for problem in suite(&name)? {
            for channel in problem.starts.first().into_iter().flatten() {
                let track = &channel.track;
                let of = format!("{name}/{}", problem.name);
                rows.push(row(of.clone(), channel.name.clone(), [track, track], false)?);
                for variable in variables(track) {
                    let by = match &variable {
                        Variable::Time => "t",
                        Variable::Parameter(name) => name,
                    };
                    let text = format!("d{}/d{by}", channel.name);
                    let ways = [chain_rule(track, &variable)?, derivative(track, &variable)?];
                    rows.push(row(of.clone(), text, [&ways[0], &ways[1]], true)?);
                }
            }
        }
    }
    Ok(rows)
}

fn variables(track: &Track) -> Vec<Variable> {
    let parameters = track.free_parameters();
    let named = parameters.iter().map(|p| Variable::Parameter(p.name().to_owned()));
    let clock = track.nodes().iter().any(|node| matches!(node, keyfit_ir::Node::Clock));
    named.chain(clock.then_some(Variable::Time)).collect()
}

fn row(
    problem: String,
    text: String,
    [before, between]: [&Track; 2],
    derivative: bool,
) -> Result<Row, ReductionError> {
    let after = simplify(between, &Options::default())?.track;
    let nodes = |track: &Track| track.nodes().len();
    Ok(Row {
        problem,
        track: text,
        derivative,
        nodes_before: nodes(before),
        nodes_between: nodes(between),
        nodes_after: nodes(&after),
        cost_before: cost(before),
        cost_after: cost(&after),
    })
}

/// The median of the parts that are saved in the rows that are derivatives, or in the others; of nodes and of cost, in
/// percent. NaN where there is none.
pub fn medians(rows: &[Row], derivative: bool) -> [f64; 2] {
    let saved = |before: f64, after: f64| if before == 0.0 { 0.0 } else { 100.0 * (1.0 - after / before) };
    let median = |of: &dyn Fn(&Row) -> f64| {
        let mut all: Vec<f64> = rows.iter().filter(|row| row.derivative == derivative).map(of).collect();
        all.sort_by(f64::total_cmp);
        let at = |k: usize| all.get(k).copied().unwrap_or(f64::NAN);
        (at(all.len().saturating_sub(1) / 2) + at(all.len() / 2)) / 2.0
    };
    [
        median(&|row| saved(row.nodes_before as f64, row.nodes_after as f64)),
        median(&|row| saved(row.cost_before as f64, row.cost_after as f64)),
    ]
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
