//! What the targets do not determine, in the parameters' names.

use std::fmt;

use crate::least_squares::LeastSquares;
use crate::problem::FitProblem;
use crate::solve::Outcome;

/// A linear combination of parameters. The largest coefficient is ±1, the first positive.
#[derive(Clone, Debug, PartialEq)]
pub struct Combination(pub Vec<(f64, String)>);

impl fmt::Display for Combination {
    /// As a sum: `a - b`, `b1 + 0.5·b2`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, (coefficient, name)) in self.0.iter().enumerate() {
            let sign = match (i, *coefficient < 0.0) {
                (0, false) => "",
                (0, true) => "-",
                (_, false) => " + ",
                (_, true) => " - ",
            };
            // six digits: the coefficients are for reading
            let size = format!("{:.6}", coefficient.abs());
            let size = size.trim_end_matches('0').trim_end_matches('.');
            write!(f, "{sign}{}{name}", if size == "1" { String::new() } else { format!("{size}·") })?;
        }
        Ok(())
    }
}

/// Parameters that the targets do not determine one by one: directions in which they can move together without moving
/// any target, to first order.
#[derive(Clone, Debug, PartialEq)]
pub struct Undetermined {
    /// Null vectors of the Jacobian that have parameters in common.
    pub directions: Vec<Combination>,
    /// The only combination of these parameters that is determined, where there is just one.
    pub only: Option<Combination>,
}

impl fmt::Display for Undetermined {
    /// As `a - b; only a + b is`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let directions: Vec<String> = self.directions.iter().map(Combination::to_string).collect();
        write!(f, "{}", directions.join(", "))?;
        match &self.only {
            Some(only) => write!(f, "; only {only} is"),
            None => Ok(()),
        }
    }
}

/// A coefficient this small against the largest is rounding noise.
const NOISE: f64 = 1e-8;

/// Null vectors in the parameters' names; those that have no parameter in common stand apart.
pub(crate) fn undetermined(null: Vec<Vec<f64>>, names: &[&str]) -> Vec<Undetermined> {
    let mut groups: Vec<Vec<Reduced>> = Vec::new();
    for row in reduce(null) {
        let shares = |other: &Reduced| other.row.iter().zip(&row.row).any(|(a, b)| *a != 0.0 && *b != 0.0);
        let (joined, apart): (Vec<_>, Vec<_>) =
            groups.into_iter().partition(|group: &Vec<Reduced>| group.iter().any(shares));
        groups = apart;
        groups.push(joined.into_iter().flatten().chain([row]).collect());
    }
    let describe = |group: Vec<Reduced>| Undetermined {
        only: complement(&group).map(|row| combination(&row, names)),
        directions: group.iter().map(|reduced| combination(&reduced.row, names)).collect(),
    };
    groups.into_iter().map(describe).collect()
}

/// A row whose entry at `pivot` is 1, and 0 in all other rows.
struct Reduced {
    pivot: usize,
    row: Vec<f64>,
}

/// Reduced row echelon form by the largest entry of each row; noise becomes 0.
fn reduce(mut rows: Vec<Vec<f64>>) -> Vec<Reduced> {
    let mut pivots = Vec::with_capacity(rows.len());
    for i in 0..rows.len() {
        // null vectors are independent, so no row is zero when its turn comes
        let pivot = largest(&rows[i]).unwrap_or(0);
        pivots.push(pivot);
        let Some(scale) = rows[i].get(pivot).copied().filter(|scale| *scale != 0.0) else { continue };
        rows[i].iter_mut().for_each(|v| *v /= scale);
        let row = rows[i].clone();
        for other in rows.iter_mut().enumerate().filter(|(k, _)| *k != i).map(|(_, other)| other) {
            let factor = other[pivot];
            other.iter_mut().zip(&row).for_each(|(v, r)| *v -= factor * r);
        }
    }
    for row in &mut rows {
        let size = largest(row).map_or(0.0, |k| row[k].abs());
        row.iter_mut().filter(|v| v.abs() <= NOISE * size).for_each(|v| *v = 0.0);
    }
    pivots.into_iter().zip(rows).map(|(pivot, row)| Reduced { pivot, row }).collect()
}

fn largest(row: &[f64]) -> Option<usize> {
    (0..row.len()).max_by(|&a, &b| row[a].abs().total_cmp(&row[b].abs()))
}

/// The vector orthogonal to reduced rows, within the parameters that they move; `None` unless there is just one.
fn complement(rows: &[Reduced]) -> Option<Vec<f64>> {
    let n = rows.first()?.row.len();
    let moved = (0..n).filter(|&k| rows.iter().any(|reduced| reduced.row[k] != 0.0));
    let others: Vec<usize> = moved.filter(|&k| !rows.iter().any(|reduced| reduced.pivot == k)).collect();
    let [other] = others[..] else { return None };
    let mut vector = vec![0.0; n];
    vector[other] = 1.0;
    // each row reads: its pivot + row[other]·other = 0
    rows.iter().for_each(|reduced| vector[reduced.pivot] = -reduced.row[other]);
    Some(vector)
}

fn combination(row: &[f64], names: &[&str]) -> Combination {
    let size = largest(row).map_or(1.0, |k| row[k].abs());
    let terms = || row.iter().zip(names).filter(|(v, _)| v.abs() > NOISE * size);
    let sign = terms().next().map_or(1.0, |(v, _)| v.signum());
    Combination(terms().map(|(v, name)| (sign * v / size, (*name).to_string())).collect())
}

/// So many entries of a Jacobian are looked at once more.
const MOST_ENTRIES: usize = 10_000_000;

/// Parameters that move nothing once all that could be 0 is 0: a phase behind an amplitude that is 0 up to rounding. The scaled
/// Jacobian does not show them, for a column of noise is as good as any other there.
pub(crate) fn hidden(problem: &FitProblem, outcome: &Outcome) -> Vec<usize> {
    let entries = LeastSquares::residuals(problem) * outcome.parameters.len();
    if outcome.negligible.len() < 2 || entries > MOST_ENTRIES || !outcome.undetermined.is_empty() {
        return Vec::new();
    }
    let mut x = outcome.parameters.clone();
    for j in &outcome.negligible {
        x.get_mut(*j).into_iter().for_each(|x| *x = 0.0);
    }
    let jacobian = problem.jacobian(&x);
    let felt = |j: &usize| outcome.held.contains(j) || jacobian.column(*j).iter().any(|d| *d != 0.0);
    outcome.negligible.iter().copied().filter(|j| !felt(j)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(null: &[&[f64]], names: &[&str]) -> Vec<String> {
        let null = null.iter().map(|row| row.to_vec()).collect();
        undetermined(null, names).iter().map(Undetermined::to_string).collect()
    }

    #[test]
    fn null_vectors_are_put_in_words() {
        // a and b only in a + b, c and d only in 0.5c - d; the basis comes mixed
        let found = words(&[&[0.6, -0.6, 1.6, 0.8], &[-0.8, 0.8, 1.2, 0.6]], &["a", "b", "c", "d"]);
        assert_eq!(found, ["c + 0.5·d; only 0.5·c - d is", "a - b; only a + b is"]);
    }

    #[test]
    fn coupled_parameters_stay_together() {
        let found = words(&[&[1.0, -1.0, 0.0], &[0.3, 0.3, -0.6]], &["a", "b", "c"]);
        assert_eq!(found, ["a - b, a - c; only a + b + c is"]);
        // two combinations of three parameters are determined: no single one can be named
        assert_eq!(words(&[&[1.0, -2.0, 1.0]], &["a", "b", "c"]), ["0.5·a - b + 0.5·c"]);
    }
}
