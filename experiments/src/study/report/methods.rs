//! What was run and how it is measured, in words.

use std::fmt::Write;

use super::sheet::marked;
use super::sheets::{Named, plain};
use crate::study::plan::Started;
use keyfit_solvers::{NumberOption, OPTIONS, Options};

/// What is measured: name, formula, source.
const MEASURES: &[(&str, &str, &str)] = &[
    (
        "digits right (LRE)",
        "−log₁₀ of the greatest relative error of a parameter, absolute where 0 is certified, from 0 to 11; against the certified answer or the equivalent one that is met best; without certified parameters, of the root of the cost",
        "McCullough, The American Statistician 52 (1998) 358–366",
    ),
    ("cost", "the sum of squared residuals", "—"),
    (
        "failures",
        "never left out: a run that gave no answer has 0 digits, and has reached nothing at any cost",
        "—",
    ),
    (
        "evaluations",
        "residuals + n · Jacobians + n(n + 1)/2 · Hessians, for n parameters: what differences would cost in evaluations of all residuals",
        "after Moré and Wild, SIAM Journal on Optimization 20 (2009) 172–191",
    ),
    (
        "performance profile",
        "ρ(r) = share of runs that reach the digits for the first time within r times the evaluations of the quickest solver on the same start",
        "Dolan and Moré, Mathematical Programming 91 (2002) 201–213",
    ),
    (
        "a ranking that depends on the best solver",
        "pairs of which one is ahead at some r, and the other one where the solver with the greatest ρ(1) is left out; the margin is the lesser of both leads",
        "Gould and Scott, ACM Transactions on Mathematical Software 43 (2016) 15",
    ),
    (
        "data profile",
        "d(b) = share of runs with f(x) ≤ f_L + τ (f(x₀) − f_L) within b (n + 1) evaluations; f_L is the least cost of the problem, of any run or certified",
        "Moré and Wild 2009",
    ),
    (
        "expected evaluations (ERT)",
        "evaluations of all runs, until success or in all if there was none, over the number of successes; a run that was stopped or crashed counts with all evaluations that it was allowed, one that was refused with none",
        "Auger and Hansen, CEC 2005, 1777–1784",
    ),
    (
        "order and rate",
        "slope of log e' on log e, and geometric mean of e'/e, over the last run of iterations that strictly fall, from relative errors below 0.1 to ten times the least one or 1e-14, whichever is more; Student's intervals; at least three steps; no rate where the order's interval lies above 1.1",
        "Ortega and Rheinboldt, Iterative Solution of Nonlinear Equations (1970), chapter 9",
    ),
    (
        "interval of a share",
        "problems being what was sampled, from six on. Of K successes in N = Σm runs, m starts of each problem: Jeffreys' at the effective number of runs, Beta(sn + ½, (1 − s)n + ½) with s = K/N and n = N² / Σ m(1 + (m − 1)ρ), as a mixture over the correlation ρ of a problem's runs, each ρ weighted by prior · likelihood / (n + 1)^1.5. The likelihood is the beta-binomial one of the problems' successes, of mean (K + ½)/(N + 1); the prior 0.2 at ρ = 0, 0.4 at ρ = 1, and 0.4 evenly at ρ = 1 − (1 − u)², u being the middles of c cells of [0, 1], c the greater of 8 and √problems rounded up. With one start a problem it is Jeffreys' of N. The low end is 0 where nothing succeeded, the high end 1 where all did. As starts of a problem that end differently show that they count for more than one, few successes may have a lower high end than none",
        "Brown, Cai and DasGupta, Statistical Science 16 (2001) 101–133; Skellam, Journal of the Royal Statistical Society B 10 (1948) 257–261; Kish, Survey Sampling (1965), section 5.4",
    ),
    (
        "band of a figure",
        "the interval of the share at each point by itself, not of the whole curve at once",
        "as the interval of a share",
    ),
    (
        "how often that interval holds the truth",
        "simulated for 6 to 60 problems of 1 to 25 starts: in 95 % of studies on average over shares and five kinds of problems (about as hard; most hard; most easy; solved from all starts or from none; some of these and some by chance), on one kind in 93 to 98 %. It holds less often where some problems are solved from all starts or from none, all others by one chance, and the starts are many: 60 problems of 25 starts in 93 % of studies on average over shares, and in 57 % where the share is 0.02 and three problems of five are of the first kind",
        "10,000 studies of each",
    ),
    (
        "interval of a median",
        "between two order statistics, interpolated; the outer one where either is infinite or tied with another value; from six values on. More than 95 % where many values are the median. Of digits, 0 and 11 count as infinite; of ratios of times, logarithms are interpolated",
        "Hettmansperger and Sheather, Statistics & Probability Letters 4 (1986) 75–79",
    ),
    (
        "paired tests",
        "Wilcoxon's signed-rank test, exact up to 200 pairs that differ, and the sign test, both two-sided; paired by problem, of digits by the mean over starts, of evaluations to the first number of digits by log of the ratio of the medians over starts, 0 where neither got there",
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

Each line of `runs.jsonl` is a run as JSON: how it ended, and a list of whole numbers. The first eight are its number (problems, then \
their starts, then solvers are counted through, in the orders of above), 1 if it converged, \
1 if it ended at a known minimum that is not the least, how many parameters there are, and how many iterations and evaluations of \
residuals, Jacobians and Hessians. The others are the bits of real numbers, in Python `struct.unpack('d', struct.pack('Q', bits))`: \
digits right, cost at the start and at the end, 0, the parameters in the order of the list above, and nine for each point of its course: \
iteration, evaluations of residuals, Jacobians and Hessians, cost, length of the gradient, length of the step, trust radius or \
damping, and greatest relative error of a parameter. A run may end after the last point of its course, elsewhere and with more \
evaluations: where a solver polishes its answer, and where that is looked at anew before it is called converged.
";

/// What is certified of a problem, in full.
fn told(started: &Started) -> String {
    let problem = &started.problem;
    let certified = problem.certified.iter().map(|(name, x)| format!("{} {x:?}", marked(name)));
    let cost = problem.sum_of_squares.iter().map(|cost| format!("cost {cost:?}"));
    let minima = problem.local_minima.iter().map(|cost| format!("another minimum of cost {cost:?}"));
    format!("; certified: {}", certified.chain(cost).chain(minima).collect::<Vec<_>>().join(", "))
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
            "A run that takes more than {} s or {} MB is stopped and counts as a failure.\n\n## Solvers\n",
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
            let names = self.table.parameters.get(i).into_iter().flatten();
            let names: Vec<String> = names.map(|name| marked(name)).collect();
            let answer = if self.is_answered(i) {
                told(started)
            } else {
                "; no known answer: left out where digits count".into()
            };
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
