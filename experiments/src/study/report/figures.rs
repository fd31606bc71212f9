//! The figures of a report.

use super::sheets::{Named, plain};
use crate::figure::{Axis, Figure, Series, line_figure};
use crate::study::stats::table::Moment;
use crate::study::stats::{Costs, Interval, Profile};

/// A figure and the name of its file.
pub struct Drawn {
    /// The name of its file, without its ending.
    pub name: String,
    /// The sheet that it shows, where it shows one.
    pub sheet: Option<&'static str>,
    /// The figure.
    pub figure: Figure,
}

fn axis(label: &str, logarithmic: bool) -> Axis {
    Axis { label: label.into(), logarithmic, whole: None, most: None }
}

/// The axis of shares: all of it, so that figures can be compared.
fn shares(label: &str) -> Axis {
    Axis { whole: Some((0.0, 1.0)), ..axis(label, false) }
}

/// A solver's share of runs as a step function from `from` on to the right edge, with its band, which changes where the share
/// does.
fn steps(name: String, costs: &Costs, profile: &Profile, solver: usize, from: f64, to: f64) -> Series {
    let mut series = Series { name, points: Vec::new(), band: Vec::new() };
    let mut last = None;
    let mut step = |x: f64, here: Option<(f64, Option<Interval>)>| {
        let Some((share, interval)) = here else { return };
        series.points.push((x, share));
        series.band.extend(interval.map(|ends| (x, ends.low, ends.high)));
    };
    for x in std::iter::once(from).chain(profile.rises(solver).into_iter().filter(|x| *x > from)) {
        step(x, last);
        last = costs.band(solver, x);
        step(x, last);
    }
    step(to, last);
    series
}

/// As many characters of a problem's name stand in the names of files.
const LONGEST: usize = 60;

/// The name of the file of a problem's figure, without its ending: numbered, as names may be alike once they are fit for a file.
fn file_name(problem: usize, name: &str, measure: &str) -> String {
    let fit = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    let name: String = name.chars().take(LONGEST).map(fit).collect();
    format!("{:03}-{name}-{measure}", problem + 1)
}

/// A hundred times the greatest value from which a line starts: those that go higher, and mostly diverge, would leave the others no
/// room. A start that has no place on a logarithmic axis, as it is 0 or infinite, does not count.
fn highest(lines: &[Series]) -> Option<f64> {
    let start = |own: &Series| own.points.iter().map(|(_, y)| *y).find(|y| *y > 0.0 && y.is_finite());
    lines.iter().filter_map(start).reduce(f64::max).map(|start| 100.0 * start)
}

impl Named<'_> {
    fn profiles(&self, title: &str, label: &str, costs: &Costs, from: f64) -> Figure {
        let profile = costs.profile();
        let solvers = 0..self.table.solvers();
        let largest =
            solvers.clone().filter_map(|solver| profile.rises(solver).last().copied()).fold(from, f64::max);
        let to = largest * 1.2;
        let lines: Vec<Series> =
            solvers.map(|k| steps(self.solver(k), costs, &profile, k, from, to)).collect();
        line_figure(title, &axis(label, true), &shares("share of runs"), &lines)
    }

    /// Every figure but those of times.
    pub fn figures(&self) -> Vec<Drawn> {
        let mut all = Vec::new();
        for (i, digits) in self.study.digits.iter().map(|d| plain(*d)).enumerate() {
            let title = format!("Performance profiles: {digits} digits");
            let ratios = self.to_digits(i).ratios(None);
            let label = "evaluations, as a multiple of the quickest solver's";
            let figure = self.profiles(&title, label, &ratios, 1.0);
            all.push(Drawn { name: format!("performance-{digits}"), sheet: Some("performance"), figure });
        }
        for (i, tau) in self.study.tau.iter().map(|tau| plain(*tau)).enumerate() {
            let title = format!("Data profiles: τ = {tau}");
            let label = "evaluations, in units of n + 1";
            let figure = self.profiles(&title, label, &self.to_tau(i), 0.1);
            all.push(Drawn { name: format!("data-{tau}"), sheet: Some("data"), figure });
        }
        all.push(self.digits());
        all.extend((0..self.study.problems.len()).flat_map(|problem| self.courses(problem)));
        all
    }

    fn digits(&self) -> Drawn {
        // the least share is that of the most digits
        let costs = self.on_answered(|run| -run.record.digits);
        let profile = costs.profile();
        let line = |solver: usize| {
            let Series { name, mut points, mut band } =
                steps(self.solver(solver), &costs, &profile, solver, -crate::accuracy::LRE_CAP, 0.0);
            points.iter_mut().for_each(|(x, _)| *x = -*x);
            band.iter_mut().for_each(|(x, ..)| *x = -*x);
            Series { name, points, band }
        };
        let lines: Vec<Series> = (0..self.table.solvers()).map(line).collect();
        let (x, y) = (axis("digits right", false), shares("share of runs with at least so many"));
        Drawn {
            name: "digits".into(),
            sheet: Some("solvers"),
            figure: line_figure("Digits right", &x, &y, &lines),
        }
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
                    band: Vec::new(),
                })
            };
            let lines: Vec<Series> = (0..self.table.solvers()).filter_map(line).collect();
            // nobody knows the answer, so there is no error
            if lines.iter().flat_map(|own| &own.points).all(|(_, y)| y.is_nan()) {
                continue;
            }
            let title = format!("{}: {label}", self.problem(problem));
            let file = file_name(problem, &self.problem(problem), name);
            let y = Axis { most: highest(&lines), ..axis(label, true) };
            let figure = line_figure(&title, &axis("evaluations", true), &y, &lines);
            all.push(Drawn { name: format!("convergence/{file}"), sheet: None, figure });
        }
        all
    }

    /// The performance profile of times.
    pub fn time_figure(&self) -> Figure {
        let least = self.study.digits.first().copied().unwrap_or(0.0);
        let costs = self.on_answered(|run| match run.seconds {
            Some(seconds) if run.record.digits >= least => seconds.max(1e-9),
            _ => f64::INFINITY,
        });
        let title = format!("Performance profiles of times: {} digits", plain(least));
        let label = "time, as a multiple of the quickest solver's";
        self.profiles(&title, label, &costs.ratios(None), 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(groups: usize) -> (Costs, Series) {
        let mut costs = Costs::new(1);
        for i in 0..2 * groups {
            costs.push(i / 2, [if i % 3 == 0 { f64::INFINITY } else { (1 + i % 4) as f64 }]);
        }
        let series = steps("one".into(), &costs, &costs.profile(), 0, 1.0, 9.0);
        (costs, series)
    }

    #[test]
    fn a_band_changes_where_its_share_does() {
        let (costs, series) = drawn(6);
        let places: Vec<f64> = series.points.iter().map(|(x, _)| *x).collect();
        assert_eq!(places, [1.0, 2.0, 2.0, 3.0, 3.0, 4.0, 4.0, 9.0]);
        assert!(series.points.is_sorted_by(|a, b| a.1 <= b.1));
        for (k, ((x, share), (at, low, high))) in series.points.iter().zip(&series.band).enumerate() {
            assert!(x == at && low < share && share < high);
            // the left end of a rise has what was before
            let before = if k % 2 == 1 { places[k - 1] } else { *x };
            assert_eq!(costs.band(0, before), Some((*share, Some(Interval { low: *low, high: *high }))));
        }
        assert_eq!(series.band.len(), 8);
    }

    #[test]
    fn there_is_no_band_where_there_is_no_interval() {
        let (_, series) = drawn(5);
        assert!(series.band.is_empty() && series.points.len() == 8);
    }

    #[test]
    fn any_problem_s_name_is_fit_for_a_file() {
        assert_eq!(file_name(0, "nist/Misra1a", "cost"), "001-nist-Misra1a-cost");
        assert_eq!(file_name(1233, &"ö/".repeat(150), "error"), format!("1234-{}-error", "-".repeat(60)));
    }

    #[test]
    fn an_axis_reaches_a_hundred_times_the_greatest_start() {
        let line = |heights: &[f64]| Series {
            name: "own".into(),
            points: heights.iter().map(|y| (1.0, *y)).collect(),
            band: Vec::new(),
        };
        let all =
            [line(&[3.0, 1e100]), line(&[0.0, 4.0, 9.0]), line(&[f64::INFINITY, 2.0]), line(&[f64::NAN])];
        assert_eq!(highest(&all), Some(400.0));
        assert_eq!(highest(&all[3..]), None);
    }
}
