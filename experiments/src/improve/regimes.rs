//! Regimes: which form is used where, by the value of one input.

use keyfit_ir::{BuildError, Builder, Op, Parameter, Track};

use super::errors;
use super::points::{CLOCK, Point, from_ordinal, ordinal};
use super::search::Form;

/// The most pieces into which the inputs are divided.
const PIECES: usize = 3;
/// A piece holds at least this many points: fewer say nothing of the numbers between them.
const FEWEST: usize = 5;
/// Each further piece must make the average error smaller by so many bits.
const WORTH: f64 = 0.3;

/// A division of the inputs among forms.
pub(super) struct Split {
    pub track: Track,
    /// The average error.
    pub mean: f64,
    /// Which forms are used, in order.
    pub used: Vec<usize>,
}

/// Where a piece begins among the points in order, and which form is used there.
type Piece = (usize, usize);

/// Where between two pieces their forms are equally good is asked at so many points beside it.
const WITNESSES: usize = 4;

/// The division by one input with the smallest error, if one is worth its pieces. `truth` gives the true value at inputs.
pub(super) fn split(
    forms: &[&Form],
    names: &[String],
    points: &[Point],
    truth: &dyn Fn(&[f64]) -> Option<f64>,
) -> Result<Option<Split>, BuildError> {
    let mut best: Option<(f64, usize, Vec<usize>, Vec<Piece>)> = None;
    for input in 0..names.len() {
        let mut order: Vec<usize> = (0..points.len()).collect();
        order.sort_by(|a, b| points[*a].inputs[input].total_cmp(&points[*b].inputs[input]));
        // a form that does not depend on the clock is not told apart by it
        let varies = points.windows(2).any(|pair| pair[0].inputs[input] != pair[1].inputs[input]);
        let clock_unused = input == 0 && forms.iter().all(|form| form.track.is_time_invariant());
        if !varies || clock_unused {
            continue;
        }
        let (total, pieces) = divide(forms, &order);
        if best.as_ref().is_none_or(|(least, ..)| total < *least) {
            best = Some((total, input, order, pieces));
        }
    }
    let Some((_, input, order, pieces)) = best.filter(|(.., pieces)| pieces.len() > 1) else {
        return Ok(None);
    };
    let ends = pieces.iter().skip(1).map(|(begin, _)| *begin).chain([order.len()]);
    let sum: f64 = pieces
        .iter()
        .zip(ends)
        .map(|((begin, form), end)| order[*begin..end].iter().map(|p| forms[*form].errors[*p]).sum::<f64>())
        .sum();
    let thresholds = pieces.windows(2).map(|pair| {
        let [(_, lower), (begin, upper)] = [pair[0], pair[1]];
        let near = begin.saturating_sub(WITNESSES)..(begin + WITNESSES).min(order.len());
        let witnesses: Vec<&Point> = order[near].iter().map(|p| &points[*p]).collect();
        let ends = [order[begin - 1], order[begin]].map(|p| ordinal(points[p].inputs[input]));
        let worth = |x: f64| preference([forms[lower], forms[upper]], names, input, &witnesses, truth, x);
        (bisect(ends, worth), upper)
    });
    let track = selected(forms, &names[input], pieces[0].1, &thresholds.collect::<Vec<_>>())?;
    Ok(Some(Split {
        track,
        mean: sum / points.len() as f64,
        used: pieces.iter().map(|(_, form)| *form).collect(),
    }))
}

/// The number from which on the upper form is the better one, sought between two doubles of these numbers.
fn bisect([mut below, mut above]: [i64; 2], worth: impl Fn(f64) -> f64) -> f64 {
    while above - below > 1 {
        let middle = below + (above - below) / 2;
        if worth(from_ordinal(middle)) > 0.0 {
            above = middle;
        } else {
            below = middle;
        }
    }
    from_ordinal(above)
}

/// By how many bits the second of two forms is better where the input is `x` and the others are as in the witnesses.
fn preference(
    forms: [&Form; 2],
    names: &[String],
    input: usize,
    witnesses: &[&Point],
    truth: &dyn Fn(&[f64]) -> Option<f64>,
    x: f64,
) -> f64 {
    let mut inputs: Vec<Vec<f64>> = Vec::new();
    for witness in witnesses {
        let mut own = witness.inputs.clone();
        own[input] = x;
        if !inputs.contains(&own) {
            inputs.push(own);
        }
    }
    let points: Vec<Point> =
        inputs.into_iter().filter_map(|inputs| Some(Point { truth: truth(&inputs)?, inputs })).collect();
    let [first, second] = forms.map(|form| errors(&form.track, names, &points).iter().sum::<f64>());
    first - second
}

/// The pieces with the smallest total error, each further one charged what it must be worth.
fn divide(forms: &[&Form], order: &[usize]) -> (f64, Vec<Piece>) {
    let n = order.len();
    let charge = WORTH * n as f64;
    // sums[f][i]: the errors of form f at the first i points
    let sums: Vec<Vec<f64>> = forms
        .iter()
        .map(|form| {
            let running = order.iter().scan(0.0, |sum, p| {
                *sum += form.errors[*p];
                Some(*sum)
            });
            std::iter::once(0.0).chain(running).collect()
        })
        .collect();
    let cheapest = |from: usize, to: usize| {
        let costs = sums.iter().map(|sum| sum[to] - sum[from]).enumerate();
        costs.min_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or((0, f64::INFINITY))
    };
    // best[i]: the first i points in the pieces so far
    let whole = |i: usize| {
        let (form, cost) = cheapest(0, i);
        (cost, vec![(0, form)])
    };
    let mut best: Vec<(f64, Vec<Piece>)> = (0..=n).map(whole).collect();
    for _ in 1..PIECES {
        let mut next = best.clone();
        for (i, slot) in next.iter_mut().enumerate().skip(2 * FEWEST) {
            for (begin, (before, pieces)) in best.iter().enumerate().take(i + 1 - FEWEST).skip(FEWEST) {
                let (form, cost) = cheapest(begin, i);
                let total = before + cost + charge;
                if total < slot.0 {
                    *slot = (total, pieces.iter().copied().chain([(begin, form)]).collect());
                }
            }
        }
        best = next;
    }
    best.pop().unwrap_or_default()
}

/// The forms joined: the last one whose threshold the input reaches.
fn selected(
    forms: &[&Form],
    input: &str,
    first: usize,
    thresholds: &[(f64, usize)],
) -> Result<Track, BuildError> {
    let mut builder = Builder::new();
    let mut chosen = builder.graft(&forms[first].track)?;
    let own = forms.iter().flat_map(|form| form.track.free_parameters()).find(|p| p.name() == input);
    let input = match own {
        _ if input == CLOCK => builder.clock()?,
        Some(p) => builder.free(Parameter::clone(p))?,
        None => return Err(BuildError::Empty),
    };
    for (threshold, form) in thresholds {
        let edge = builder.constant(*threshold)?;
        let reached = builder.apply(Op::STEP, &[edge, input])?;
        let above = builder.graft(&forms[*form].track)?;
        chosen = builder.apply(Op::SELECT, &[reached, above, chosen])?;
    }
    builder.finish(chosen)
}
