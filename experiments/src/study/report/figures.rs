//! The figures of a report.

use super::sheets::{Named, plain};
use crate::figure::{Axis, Figure, Series, line_figure};
use crate::study::stats::table::Moment;
use crate::study::stats::{Costs, Profile};

/// A figure and the name of its file.
pub struct Drawn {
    /// The name of its file, without its ending.
    pub name: String,
    /// The figure.
    pub figure: Figure,
}

fn axis(label: &str, logarithmic: bool) -> Axis {
    Axis { label: label.into(), logarithmic }
}

/// A step function from `from` on to the right edge.
fn steps(profile: &Profile, solver: usize, from: f64, to: f64) -> Vec<(f64, f64)> {
    let mut points = vec![(from, profile.at(solver, from))];
    for x in profile.rises(solver).into_iter().filter(|x| *x > from) {
        points.extend(points.last().map(|(_, y)| (x, *y)));
        points.push((x, profile.at(solver, x)));
    }
    points.push((to, profile.at(solver, to)));
    points
}

impl Named<'_> {
    fn profiles(&self, name: String, title: &str, label: &str, costs: &Costs, from: f64) -> Drawn {
        let profile = costs.profile();
        let solvers = 0..self.table.solvers();
        let largest =
            solvers.clone().filter_map(|solver| profile.rises(solver).last().copied()).fold(from, f64::max);
        let to = largest * 1.2;
        let lines = solvers.map(|k| Series { name: self.solver(k), points: steps(&profile, k, from, to) });
        let lines: Vec<Series> = lines.collect();
        Drawn { name, figure: line_figure(title, &axis(label, true), &axis("share of runs", false), &lines) }
    }

    /// Every figure but those of times.
    pub fn figures(&self) -> Vec<Drawn> {
        let mut all = Vec::new();
        for (i, digits) in self.study.digits.iter().map(|d| plain(*d)).enumerate() {
            let title = format!("Performance profiles: {digits} digits");
            let ratios = self.to_digits(i).ratios(None);
            let label = "evaluations, as a multiple of the quickest solver's";
            all.push(self.profiles(format!("performance-{digits}"), &title, label, &ratios, 1.0));
        }
        for (i, tau) in self.study.tau.iter().map(|tau| plain(*tau)).enumerate() {
            let title = format!("Data profiles: τ = {tau}");
            let label = "evaluations, in units of n + 1";
            all.push(self.profiles(format!("data-{tau}"), &title, label, &self.to_tau(i), 0.1));
        }
        all.push(self.digits());
        all.extend((0..self.study.problems.len()).flat_map(|problem| self.courses(problem)));
        all
    }

    fn digits(&self) -> Drawn {
        // the least share is that of the most digits
        let profile = self.table.costs(|run| -run.record.digits).profile();
        let line = |solver: usize| {
            let points = steps(&profile, solver, -crate::accuracy::LRE_CAP, 0.0);
            Series { name: self.solver(solver), points: points.into_iter().map(|(x, y)| (-x, y)).collect() }
        };
        let lines: Vec<Series> = (0..self.table.solvers()).map(line).collect();
        let (x, y) = (axis("digits right", false), axis("share of runs with at least so many", false));
        Drawn { name: "digits".into(), figure: line_figure("Digits right", &x, &y, &lines) }
    }

    /// How the solvers fare from a problem's first start.
    fn courses(&self, problem: usize) -> Vec<Drawn> {
        type Pick = fn(&Moment) -> f64;
        let measures: [(&str, &str, Pick); 3] = [
            ("cost", "cost less the best known one", |moment| moment.excess),
            ("gradient", "length of the gradient", |moment| moment.gradient),
            ("error", "greatest relative error of a parameter", |moment| moment.error),
        ];
        let mut all = Vec::new();
        for (name, label, pick) in measures {
            let line = |solver: usize| {
                let run = self.table.of(problem, solver).next()?;
                let course = self.table.courses.get(&run.number)?;
                Some(Series {
                    name: self.solver(solver),
                    points: course.iter().map(|moment| (moment.evaluations, pick(moment))).collect(),
                })
            };
            let lines: Vec<Series> = (0..self.table.solvers()).filter_map(line).collect();
            if lines.iter().flat_map(|own| &own.points).all(|(x, y)| !(*x > 0.0 && *y > 0.0)) {
                continue;
            }
            let title = format!("{}: {label}", self.problem(problem));
            // numbered, as names may be alike once they are fit for a file
            let file = self.problem(problem).replace(|c: char| !c.is_ascii_alphanumeric(), "-");
            let figure = line_figure(&title, &axis("evaluations", true), &axis(label, true), &lines);
            all.push(Drawn { name: format!("convergence/{:03}-{file}-{name}", problem + 1), figure });
        }
        all
    }

    /// The performance profile of times.
    pub fn time_figure(&self) -> Drawn {
        let least = self.study.digits.first().copied().unwrap_or(0.0);
        let costs = self.table.costs(|run| match run.seconds {
            Some(seconds) if run.record.digits >= least => seconds.max(1e-9),
            _ => f64::INFINITY,
        });
        let title = format!("Performance profiles of times: {} digits", plain(least));
        let label = "time, as a multiple of the quickest solver's";
        self.profiles("times".into(), &title, label, &costs.ratios(None), 1.0)
    }
}
