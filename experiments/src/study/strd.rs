//! NIST StRD files of nonlinear regression (`.dat`), read as they come.

use std::collections::BTreeMap;

use thiserror::Error;

use crate::suite::{Problem, SuiteError};

/// Why a file is not one of NIST's.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum StrdError {
    /// A part is not there.
    #[error("there is no {0}: it is not a NIST StRD file of nonlinear regression")]
    Missing(&'static str),
    /// A line does not have the form of its part.
    #[error("line {line}: expected {expected}")]
    Line {
        /// Which, counted from 1.
        line: usize,
        /// What should stand there.
        expected: &'static str,
    },
    /// What was read makes no problem.
    #[error(transparent)]
    Problem(#[from] SuiteError),
}

/// Reads a file: model, both starts, certified values, data.
///
/// # Errors
/// See [`StrdError`].
pub fn problem(suite: &str, file: &str, text: &str) -> Result<Problem, StrdError> {
    Problem::parse(suite, file, &to_toml(text)?).map_err(StrdError::from)
}

/// The same as a problem file in TOML.
///
/// # Errors
/// See [`StrdError`].
pub fn to_toml(text: &str) -> Result<String, StrdError> {
    let lines: Vec<&str> = text.lines().collect();
    let name = lines.iter().find_map(|line| line.trim().strip_prefix("Dataset Name:"));
    let name =
        name.and_then(|rest| rest.split_whitespace().next()).ok_or(StrdError::Missing("Dataset Name"))?;
    let (response, model) = model(&lines)?;
    let mut starts: [Vec<String>; 2] = Default::default();
    let (mut certified, mut errors) = (Vec::new(), Vec::new());
    for (i, line) in lines.iter().enumerate() {
        // b1 =   500         250           2.3894212918E+02  2.7070075241E+00
        let Some((left, right)) = line.split_once('=') else { continue };
        let parameter = left.trim();
        let is_parameter = parameter.strip_prefix('b').is_some_and(|n| n.parse::<u32>().is_ok());
        let cells: Vec<&str> = right.split_whitespace().collect();
        let [first, second, value, error] = cells[..] else { continue };
        if !is_parameter {
            continue;
        }
        let number = |cell: &str| {
            let x: Option<f64> = cell.parse().ok().filter(|x: &f64| x.is_finite());
            x.map(|x| format!("{parameter} = {x:?}")).ok_or(StrdError::Line {
                line: i + 1,
                expected: "two starts, a value and its standard deviation",
            })
        };
        starts[0].push(number(first)?);
        starts[1].push(number(second)?);
        certified.push(number(value)?);
        errors.push(number(error)?);
    }
    if certified.is_empty() {
        return Err(StrdError::Missing("table of starting and certified values"));
    }
    let sum = lines.iter().find_map(|line| line.trim().strip_prefix("Residual Sum of Squares:"));
    let sum: f64 =
        sum.and_then(|rest| rest.trim().parse().ok()).ok_or(StrdError::Missing("Residual Sum of Squares"))?;
    let mut toml = format!("name = \"{name}\"\nmodel = \"{model}\"\n");
    if let Some(response) = response {
        toml += &format!("response = \"{response}\"\n");
    }
    let [first, second] = starts.map(|start| start.join(", "));
    toml += &format!(
        "starts = [{{ {first} }}, {{ {second} }}]\n[certified]\nparameters = {{ {} }}\n",
        certified.join(", ")
    );
    toml += &format!("standard_errors = {{ {} }}\nsum_of_squares = {sum:?}\n[data]\n", errors.join(", "));
    for (column, values) in data(&lines)? {
        toml += &format!("{column} = {values:?}\n");
    }
    Ok(toml)
}

/// The model's formula, and what is fitted in the place of y.
fn model(lines: &[&str]) -> Result<(Option<String>, String), StrdError> {
    let missing = StrdError::Missing("model: y = … + e");
    let begin = lines
        .iter()
        .position(|line| line.trim_start().starts_with("Model:"))
        .ok_or(StrdError::Missing("Model"))?;
    let is_formula = |line: &&str| {
        let left = line.split('=').next().unwrap_or_default().trim();
        line.contains('=') && (left == "y" || left.starts_with("log"))
    };
    let first = lines[begin..].iter().position(is_formula).map(|k| begin + k);
    let Some(first) = first else { return Err(missing) };
    let mut formula = String::new();
    for line in &lines[first..] {
        if line.trim().is_empty() || line.contains("Starting") {
            break;
        }
        formula += line.trim();
        formula.push(' ');
    }
    let (left, right) = formula.split_once('=').unwrap_or_default();
    // the error term stands last
    let right = right
        .trim()
        .strip_suffix('e')
        .map(|rest| rest.trim_end())
        .and_then(|rest| rest.strip_suffix('+'))
        .unwrap_or(right);
    let ours = |text: &str| {
        let text = text.replace("**", "^").replace('[', "(").replace(']', ")");
        text.replace("arctan", "atan").replace("log(", "ln(").trim().to_owned()
    };
    let left = ours(left);
    Ok((Some(left).filter(|left| left != "y"), one_variable(&ours(right))))
}

/// A single predictor is called x there and t here.
fn one_variable(formula: &str) -> String {
    let mut out = String::new();
    let mut word = String::new();
    for c in formula.chars().chain([' ']) {
        if c.is_alphanumeric() || c == '_' {
            word.push(c);
            continue;
        }
        out += if word == "x" { "t" } else { &word };
        word.clear();
        out.push(c);
    }
    out.trim().to_owned()
}

fn data(lines: &[&str]) -> Result<BTreeMap<String, Vec<f64>>, StrdError> {
    // the header's last line names the columns; a line of the same word above says where the data are
    let head = lines
        .iter()
        .rposition(|line| line.trim_start().starts_with("Data:"))
        .ok_or(StrdError::Missing("Data"))?;
    let names: Vec<String> = lines[head]
        .split_whitespace()
        .skip(1)
        .map(|name| if name == "x" { "t".into() } else { name.into() })
        .collect();
    let mut columns: BTreeMap<String, Vec<f64>> =
        names.iter().map(|name| (name.clone(), Vec::new())).collect();
    if columns.len() < names.len() {
        return Err(StrdError::Line { line: head + 1, expected: "a name of its own for each column" });
    }
    for (i, line) in lines.iter().enumerate().skip(head + 1).filter(|(_, line)| !line.trim().is_empty()) {
        let cells: Vec<f64> = line.split_whitespace().map_while(|cell| cell.parse().ok()).collect();
        if cells.len() != names.len() {
            return Err(StrdError::Line { line: i + 1, expected: "a number for each column" });
        }
        for (name, x) in names.iter().zip(cells) {
            columns.entry(name.clone()).or_default().push(x);
        }
    }
    // keys of a track ascend, so rows of one predictor are put in order of it
    if let Some(times) = columns.get("t").cloned() {
        let mut order: Vec<usize> = (0..times.len()).collect();
        order.sort_by(|a, b| times[*a].total_cmp(&times[*b]));
        for values in columns.values_mut() {
            *values = order.iter().filter_map(|k| values.get(*k).copied()).collect();
        }
    }
    Ok(columns)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file laid out as NIST's are, of a model of our own.
    const FILE: &str = "\
NIST/ITL StRD
Dataset Name:  Made               (Made.dat)

File Format:   ASCII
               Starting Values   (lines 41 to 42)
               Certified Values  (lines 41 to 47)
               Data              (lines 61 to 64)

Data:          1 Response Variable  (y)
               1 Predictor Variable (x)
               4 Observations

Model:         Exponential Class
               2 Parameters (b1 and b2)

               y = b1*exp[-b2*x**2]
                     + arctan[0*x]  +  e


               Starting values                  Certified Values

        Start 1     Start 2           Parameter     Standard Deviation
  b1 =   1           1.5         2.0000000000E+00  1.0000000000E-03
  b2 =   0.1         0.3         2.5000000000E-01  2.0000000000E-03

Residual Sum of Squares:                    1.2500000000E-05
Residual Standard Deviation:                2.5000000000E-03
Degrees of Freedom:                                 2
Number of Observations:                             4

Data:   y               x
      1.5576E0        1.0E0
      0.7358E0        2.0E0
      2.0E0           0.0E0
      0.2108E0        3.0E0
";

    #[test]
    fn a_file_of_nist_is_a_problem() {
        let problem = problem("made", "made.dat", FILE).unwrap();
        assert_eq!((problem.name.as_str(), problem.starts.len()), ("Made", 2));
        assert_eq!(problem.certified["b2"], 0.25);
        assert_eq!((problem.standard_errors["b1"], problem.sum_of_squares), (1e-3, Some(1.25e-5)));
        let channel = &problem.starts[1][0];
        assert_eq!(channel.track.free_parameters()[0].start(), 1.5);
        // rows are put in the order of the predictor
        let targets: Vec<(f64, f64)> = channel.targets.iter().map(|t| (t.time, t.value)).collect();
        assert_eq!(targets, [(0.0, 2.0), (1.0, 1.5576), (2.0, 0.7358), (3.0, 0.2108)]);
        let exact = channel.track.substitute_parameters(|name| problem.certified.get(name).copied());
        assert!((exact.sample(2.0) - 0.7358).abs() < 1e-4);
    }

    #[test]
    fn two_predictors_and_a_logarithm_are_read() {
        let text = FILE
            .replace("y = b1*exp[-b2*x**2]", "log[y] = b1 - b2*x1 * exp[-b2*x2]")
            .replace("+ arctan[0*x]  +  e", "+  e")
            .replace("Data:   y               x\n", "Data:   y    x1    x2\n")
            .replace("1.0E0\n", "1.0E0 5\n")
            .replace("2.0E0\n", "2.0E0 6\n")
            .replace("0.0E0\n", "0.0E0 7\n")
            .replace("3.0E0\n", "3.0E0 8\n");
        let toml = to_toml(&text).unwrap();
        assert!(toml.contains("model = \"b1 - b2*x1 * exp(-b2*x2)\"\nresponse = \"ln(y)\"\n"), "{toml}");
        let problem = problem("made", "made.dat", &text).unwrap();
        assert_eq!(problem.starts[0][0].targets[2].value, core_math::log(2.0));
    }

    #[test]
    fn what_is_missing_is_named() {
        let why = |text: &str| to_toml(text).unwrap_err().to_string();
        let of =
            |part: &str| format!("there is no {part}: it is not a NIST StRD file of nonlinear regression");
        assert_eq!(why(""), of("Dataset Name"));
        assert_eq!(why(&FILE.replace("y = ", "z = ")), of("model: y = … + e"));
        assert_eq!(
            why(&FILE.replace("  b1 =", "  c1 =").replace("  b2 =", "  c2 =")),
            of("table of starting and certified values")
        );
        assert_eq!(why(&FILE.replace("Residual Sum", "Sum")), of("Residual Sum of Squares"));
        let line = FILE.lines().position(|line| line.contains("0.7358E0")).unwrap() + 1;
        assert_eq!(
            why(&FILE.replace("0.7358E0        2.0E0", "0.7358E0")),
            format!("line {line}: expected a number for each column")
        );
    }
}
