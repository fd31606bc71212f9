//! What the targets do not determine, in the parameters' names.

use std::fmt;

/// A direction in which the parameters can move without moving any target (to first order): a null vector of the
/// Jacobian. The largest coefficient is 1; coefficients at rounding level are left out.
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

/// Null vectors in the parameters' names. The basis is reduced, so that unrelated combinations stand apart.
pub(crate) fn combinations(null: Vec<Vec<f64>>, names: &[&str]) -> Vec<Combination> {
    reduce(null).into_iter().map(|row| combination(&row, names)).collect()
}

impl Combination {
    /// For two parameters, the combination of them that *is* determined: `a + b` where `a - b` is not.
    pub fn determined(&self) -> Option<Combination> {
        let [(a, first), (b, second)] = self.0.as_slice() else { return None };
        Some(combination(&[*b, -*a], &[first, second]))
    }
}

/// Reduced row echelon form by the largest entry of each row.
fn reduce(mut rows: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
    for i in 0..rows.len() {
        let largest = |row: &[f64]| (0..row.len()).max_by(|&a, &b| row[a].abs().total_cmp(&row[b].abs()));
        let Some(pivot) = largest(&rows[i]) else { return rows };
        let scale = rows[i][pivot];
        if scale == 0.0 {
            continue;
        }
        rows[i].iter_mut().for_each(|v| *v /= scale);
        let row = rows[i].clone();
        for other in rows.iter_mut().enumerate().filter(|(k, _)| *k != i).map(|(_, other)| other) {
            let factor = other[pivot];
            other.iter_mut().zip(&row).for_each(|(v, r)| *v -= factor * r);
        }
    }
    rows
}

fn combination(row: &[f64], names: &[&str]) -> Combination {
    let largest = row.iter().fold(0.0_f64, |size, v| size.max(v.abs()));
    let sign = row.iter().find(|v| v.abs() > 1e-8 * largest).map_or(1.0, |v| v.signum());
    let terms = row.iter().zip(names).filter(|(v, _)| v.abs() > 1e-8 * largest);
    Combination(terms.map(|(v, name)| (sign * v / largest, (*name).to_string())).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn null_vectors_are_put_in_words() {
        // a and b only in a + b, c and d only in 0.5c - d; the basis comes mixed
        let (first, second) = ([1.0, -1.0, 0.0, 0.0], [0.0, 0.0, 2.0, 1.0]);
        let mixed = |x: f64, y: f64| (0..4).map(|k| x * first[k] + y * second[k]).collect();
        let found = combinations(vec![mixed(0.6, 0.8), mixed(-0.8, 0.6)], &["a", "b", "c", "d"]);
        let text: Vec<String> = found
            .iter()
            .map(|c| format!("{c}; only {}", c.determined().map_or_else(String::new, |d| d.to_string())))
            .collect();
        assert_eq!(text, ["c + 0.5·d; only 0.5·c - d", "a - b; only a + b"]);
    }
}
