//! The search: forms, and what they are worth at the points.

use std::collections::HashSet;
use std::time::Instant;

use super::points::{Point, Points, truth};
use super::regimes::{Split, split};
use super::series::is_series;
use super::{ImproveError, Options, Track, alternatives, cost, errors, mean};

/// So many forms may share the inputs among them.
const SHARING: usize = 24;
/// How much less promising a form is for each of its nodes, in bits.
const NODE: f64 = 0.1;
/// A form must be better by so many bits to be preferred to a cheaper one.
const WORTH: f64 = 0.02;

/// A form, its errors at the points and the rules that led to it.
pub(super) struct Form {
    pub track: Track,
    pub errors: Vec<f64>,
    pub mean: f64,
    rules: Vec<&'static str>,
    expanded: bool,
}

impl Form {
    fn is_series(&self) -> bool {
        self.rules.iter().any(|rule| is_series(rule))
    }
}

pub(super) struct Search<'a> {
    names: Vec<String>,
    points: &'a [Point],
    options: &'a Options,
    begun: Instant,
    seen: HashSet<Track>,
    forms: Vec<Form>,
    pub stopped: bool,
}

impl<'a> Search<'a> {
    pub fn new(track: &Track, names: &[String], points: &'a [Point], options: &'a Options) -> Search<'a> {
        let mut search = Search {
            names: names.to_vec(),
            points,
            options,
            begun: Instant::now(),
            seen: HashSet::new(),
            forms: Vec::new(),
            stopped: false,
        };
        search.add(track.clone(), Vec::new());
        search
    }

    /// How many forms were looked at.
    pub fn looked_at(&self) -> usize {
        self.seen.len()
    }

    /// Adds a form to look at, with the rules that led to it.
    pub fn add(&mut self, track: Track, rules: Vec<&'static str>) {
        if track.nodes().len() > self.options.nodes || !self.seen.insert(track.clone()) {
            return;
        }
        let errors = errors(&track, &self.names, self.points);
        self.forms.push(Form { mean: mean(&errors), track, errors, rules, expanded: false });
    }

    fn late(&self) -> bool {
        self.options.deadline.is_some_and(|deadline| self.begun.elapsed() >= deadline)
    }

    pub fn run(&mut self) -> Result<(), ImproveError> {
        for _ in 0..self.options.rounds {
            let chosen = self.promising();
            if chosen.is_empty() {
                break;
            }
            for k in chosen {
                if self.late() {
                    self.stopped = true;
                    return Ok(());
                }
                self.forms[k].expanded = true;
                let (track, rules) = (self.forms[k].track.clone(), self.forms[k].rules.clone());
                for form in alternatives(&track)? {
                    let rules = rules.iter().copied().chain([form.rule]).collect();
                    self.add(form.track, rules);
                }
            }
            self.forget();
        }
        Ok(())
    }

    /// The forms to rewrite next: the best, and those that are best somewhere.
    fn promising(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.forms.len()).filter(|k| !self.forms[*k].expanded).collect();
        order.sort_by(|a, b| self.rank(*a, *b));
        let mut chosen: Vec<usize> = order.iter().copied().take(self.options.width).collect();
        for k in self.champions() {
            if chosen.len() >= 2 * self.options.width {
                break;
            }
            if !self.forms[k].expanded && !chosen.contains(&k) {
                chosen.push(k);
            }
        }
        chosen
    }

    fn rank(&self, a: usize, b: usize) -> std::cmp::Ordering {
        let key = |k: usize| self.forms[k].mean + self.forms[k].track.nodes().len() as f64 * NODE;
        key(a).total_cmp(&key(b)).then(a.cmp(&b))
    }

    /// The forms that are best at some point, those first that are so at the most points that are still open.
    fn champions(&self) -> Vec<usize> {
        let best: Vec<f64> = (0..self.points.len())
            .map(|p| self.forms.iter().map(|form| form.errors[p]).fold(f64::INFINITY, f64::min))
            .collect();
        let mut open: Vec<usize> = (0..self.points.len()).collect();
        let mut champions = Vec::new();
        while !open.is_empty() && champions.len() < SHARING {
            let covered = |form: &Form| open.iter().filter(|p| form.errors[**p] <= best[**p] + 1.0).count();
            let counts = self.forms.iter().map(covered).enumerate();
            let Some((k, count)) = counts.max_by(|a, b| a.1.cmp(&b.1).then(self.rank(b.0, a.0))) else {
                break;
            };
            if count == 0 {
                break;
            }
            champions.push(k);
            open.retain(|p| self.forms[k].errors[*p] > best[*p] + 1.0);
        }
        champions
    }

    /// Forgets the forms that are neither among the best nor best anywhere. The first is the track itself.
    fn forget(&mut self) {
        let mut order: Vec<usize> = (0..self.forms.len()).collect();
        order.sort_by(|a, b| self.rank(*a, *b));
        let kept: HashSet<usize> =
            order.into_iter().take(20 * self.options.width).chain(self.champions()).chain([0]).collect();
        let forms = std::mem::take(&mut self.forms);
        self.forms =
            forms.into_iter().enumerate().filter(|(k, _)| kept.contains(k)).map(|(_, form)| form).collect();
    }

    /// The best form, or the best division of the inputs among several; with the rules that led there.
    pub fn best(&self, points: &Points) -> Result<(Track, Vec<&'static str>), ImproveError> {
        let Some(least) = self.forms.iter().map(|form| form.mean).min_by(f64::total_cmp) else {
            return Err(keyfit_ir::BuildError::Empty.into());
        };
        // of those that are as good as the best, the cheapest; but a series that seems so may be wrong between the points
        let good = (0..self.forms.len()).filter(|k| self.forms[*k].mean <= least + WORTH);
        let dear = |form: &Form| (form.is_series(), cost(&form.track));
        let Some(single) =
            good.min_by(|a, b| dear(&self.forms[*a]).cmp(&dear(&self.forms[*b])).then(self.rank(*a, *b)))
        else {
            return Err(keyfit_ir::BuildError::Empty.into());
        };
        let mut sharing = self.champions();
        if !sharing.contains(&single) {
            sharing.push(single);
        }
        let forms: Vec<&Form> = sharing.iter().map(|k| &self.forms[*k]).collect();
        let truth = |inputs: &[f64]| truth(&self.forms[0].track, &points.names, inputs);
        match split(&forms, &points.names, self.points, &truth)? {
            Some(Split { track, mean, used }) if mean + WORTH < self.forms[single].mean => {
                let rules = used.iter().flat_map(|k| self.forms[sharing[*k]].rules.iter().copied());
                Ok((track, rules.collect()))
            }
            _ => Ok((self.forms[single].track.clone(), self.forms[single].rules.clone())),
        }
    }
}
