//! What was run and how it is measured, in words.

use std::fmt::Write;

use super::sheet::marked;
use super::sheets::{Named, plain};
use crate::study::plan::Started;
use keyfit_solvers::{FitProblem, NumberOption, OPTIONS, Options};

/// What is measured: name, formula, source.
const MEASURES: &[(&str, &str, &str)] = &[
    (
        "digits right (LRE)",
        "−log₁₀ of the greatest relative error of a parameter, from 0 to 11; without certified parameters, of the root of the cost",
        "McCullough, The American Statistician 52 (1998) 358–366",
    ),
    ("cost", "the sum of squared residuals", "—"),
    (
        "evaluations",
        "residuals + n · Jacobians + n(n + 1)/2 · Hessians, for n parameters: what differences would cost in evaluations of all residuals",
        "after Moré and Wild, SIAM Journal on Optimization 20 (2009) 172–191",
    ),
    (
        "performance profile",
        "ρ(r) = share of runs that reach the digits within r times the evaluations of the quickest solver on the same start",
        "Dolan and Moré, Mathematical Programming 91 (2002) 201–213",
    ),
    (
        "a ranking that depends on the best solver",
        "pairs whose order at some r changes where the solver with the greatest ρ(1) is left out",
        "Gould and Scott, ACM Transactions on Mathematical Software 43 (2016) 15",
    ),
    (
        "data profile",
        "d(b) = share of runs with f(x) ≤ f_L + τ (f(x₀) − f_L) within b (n + 1) evaluations; f_L is the least known cost of the problem",
        "Moré and Wild 2009",
    ),
    (
        "expected evaluations (ERT)",
        "evaluations of all runs, until success or in all if there was none, over the number of successes",
        "Auger and Hansen, CEC 2005, 1777–1784",
    ),
    (
        "order and rate",
        "slope of log e' on log e, and geometric mean of e'/e, over the last falling relative errors from 0.1 to ten times the last one; Student's intervals; at least three steps; no rate where the order's interval lies above 1.1",
        "Ortega and Rheinboldt, Iterative Solution of Nonlinear Equations (1970), chapter 9",
    ),
    (
        "interval of a share",
        "problems being what was sampled, from six on: Jeffreys' at the effective number of runs, n = (Σm)² / Σ m(1 + (m − 1)ρ) for m starts of each problem, as a mixture over their correlation ρ, weighted by prior · beta-binomial likelihood / (n + 1)^1.5; prior 0.2 at ρ = 0, 0.4 at ρ = 1, 0.4 evenly at ρ = 1 − (1 − u)², u being the middles of max(8, √problems) cells of [0, 1]; 95 % on average over shares and kinds of problems, 93 to 98 % on one kind",
        "Brown, Cai and DasGupta, Statistical Science 16 (2001) 101–133; Skellam, Journal of the Royal Statistical Society B 10 (1948) 257–261; Kish, Survey Sampling (1965), section 5.4",
    ),
    (
        "band of a figure",
        "the interval of the share at each point by itself, not of the whole curve at once",
        "as the interval of a share",
    ),
    (
        "interval of a median",
        "order statistics, interpolated where they are finite and differ from all others; from six values on; more than 95 % where many values are the median; digits that are all or none count as more or fewer; ratios of times in their logarithms",
        "Hettmansperger and Sheather, Statistics & Probability Letters 4 (1986) 75–79",
    ),
    (
        "paired tests",
        "Wilcoxon's signed-rank test, exact up to 200 pairs that differ, and the sign test, both two-sided",
        "Wilcoxon, Biometrics Bulletin 1 (1945) 80–83",
    ),
    (
        "effect",
        "matched-pairs rank-biserial correlation: (rank sum up − rank sum down) / their sum",
        "Kerby, Comprehensive Psychology 3 (2014) 11.IT.3.1",
    ),
    ("several tests", "Holm's adjustment", "Holm, Scandinavian Journal of Statistics 6 (1979) 65–70"),
];

/// What stands in the file of runs, see [`to_line`](crate::study::work::to_line).
const LINES: &str = "
## Runs

Each line of `runs.jsonl` is a run as JSON: how it ended, and a list of whole numbers. The first eight are its number, 1 if it converged, \
1 if it ended at a known minimum that is not the least, how many parameters there are, and how many iterations and evaluations of \
residuals, Jacobians and Hessians. The others are the bits of real numbers, in Python `struct.unpack('d', struct.pack('Q', bits))`: \
digits right, cost at the start and at the end, 0, the parameters in the order of the list above, and nine for each point of its course: \
iteration, evaluations of residuals, Jacobians and Hessians, cost, length of the gradient, length of the step, trust radius or \
damping, and greatest relative error of a parameter.
";

/// The names of a problem's parameters, in the order of a run's.
fn parameters(started: &Started) -> Vec<String> {
    let channels = started.starts.first().map(|(_, channels)| channels.clone()).unwrap_or_default();
    let fitted = FitProblem::new(channels, None);
    fitted
        .map_or(Vec::new(), |fitted| fitted.free_parameters().iter().map(|own| marked(own.name())).collect())
}

impl Named<'_> {
    /// `methods.md`
    pub fn methods(&self) -> String {
        let study = self.study;
        let mut out = format!("# Methods of {}\n\n", marked(&study.name));
        let _ = writeln!(
            out,
            "Run with keyfit {}, seed {}: {} runs, {} solvers on {} problems. The study's hash is `{}`; study and \
             problem files are in `inputs/`, every run with its course in `runs.jsonl`. In the \
             folder that holds this file, `keyfit study report --from . --out ../again` makes everything anew but the times, and \
             `keyfit study verify .` compares the hashes and carries out a sample of the runs again.\n",
            env!("CARGO_PKG_VERSION"),
            study.seed,
            study.len(),
            study.solvers.len(),
            study.problems.len(),
            study.hash
        );
        let _ = writeln!(
            out,
            "A run that takes more than {} s or {} MB is stopped and counts as a failure. Failures are never left out: their \
             cost is infinite, and their digits are those of where they ended, or 0.\n\n## Solvers\n",
            study.budget.seconds, study.budget.megabytes
        );
        for own in &study.solvers {
            let name = own.solver.name;
            let named = if own.label == name { String::new() } else { format!(" ({name})") };
            let _ = writeln!(
                out,
                "- **{}**{named}: {}. Source: {}.",
                marked(&own.label),
                own.solver.summary,
                own.solver.reference
            );
            let options = Options {
                iterations: own.options.iterations.or(Some(own.solver.iterations)),
                ..own.options.clone()
            };
            let set =
                |option: &NumberOption| Some(format!("{} {}", option.name, plain((option.get)(&options)?)));
            let _ = writeln!(
                out,
                "  Options: {}.",
                OPTIONS.iter().filter_map(set).collect::<Vec<_>>().join(", ")
            );
        }
        out += "\nThe options are:\n\n";
        for option in OPTIONS {
            let _ = writeln!(out, "- {}: {}", option.name, option.doc);
        }
        out += "\n## Problems\n\n";
        for (i, started) in study.problems.iter().enumerate() {
            let starts: Vec<&str> = started.starts.iter().map(|(name, _)| name.as_str()).collect();
            let names = parameters(started);
            let answer =
                if self.is_answered(i) { "" } else { "; no known answer, so that no digits are counted" };
            let (problem, starts, n) = (marked(&self.problem(i)), starts.join(", "), names.len());
            let _ =
                writeln!(out, "- {problem}: {n} parameters ({}); starts {starts}{answer}", names.join(", "));
        }
        out += "\n## Measures\n\n| measure | what it is | source |\n| --- | --- | --- |\n";
        for (name, formula, source) in MEASURES {
            let _ = writeln!(out, "| {name} | {formula} | {source} |");
        }
        let list = |numbers: &[f64]| numbers.iter().map(|x| plain(*x)).collect::<Vec<_>>().join(", ");
        let _ = writeln!(out, "\nDigits: {}. τ: {}.", list(&study.digits), list(&study.tau));
        out += "\nTimes stand apart in `times/`, and only as ratios on the same start.\n";
        out += LINES;
        out
    }
}
