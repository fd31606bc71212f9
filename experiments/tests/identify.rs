//! Combinations seen in a track's structure, judged by the Jacobian's rank.

use keyfit::autodiff::jacobian;
use keyfit::ir::Names;
use keyfit::rewrite::identify::combinations;
use keyfit::suite::suite;
use keyfit::{Channel, Track};
use quickcheck::{Arbitrary, Gen};

#[test]
fn no_model_of_nist_has_a_combination() {
    let problems = suite("nist").unwrap();
    assert_eq!(problems.len(), 27);
    for problem in problems {
        for channels in &problem.starts {
            let found = combinations(channels.iter().map(|Channel { track, .. }| track));
            assert!(found.is_empty(), "{}: {found:?}", problem.name);
        }
    }
}

/// A formula of a, b, c, d and t, of at most this depth.
fn formula(g: &mut Gen, depth: usize) -> String {
    let choice = u8::arbitrary(g) % if depth == 0 { 5 } else { 12 };
    let mut part = || formula(g, depth.saturating_sub(1));
    match choice {
        0 => "a".into(),
        1 => "b".into(),
        2 => "c".into(),
        3 => "d".into(),
        4 => "t".into(),
        5 => format!("({} + {})", part(), part()),
        6 => format!("({} - {})", part(), part()),
        7 | 8 => format!("({}*{})", part(), part()),
        9 => format!("({}/{})", part(), part()),
        10 => format!("sin({})", part()),
        _ => format!("exp({}/8)", part()),
    }
}

fn between(g: &mut Gen, low: f64, high: f64) -> f64 {
    low + (high - low) * f64::from(u16::arbitrary(g)) / 65536.0
}

#[test]
fn what_structure_says_is_undetermined_the_jacobian_says_too() {
    let mut g = Gen::from_size_and_seed(20, 5);
    let (mut found, mut judged) = (0, 0);
    for _ in 0..20_000 {
        let text = formula(&mut g, 4);
        let names = Names::new().starts(["a", "b", "c", "d"].map(|name| (name, 1.0)));
        let track = Track::parse_with(&text, &names).unwrap();
        for combination in combinations([&track]) {
            found += 1;
            let names: Vec<String> = track.free_parameters().iter().map(|p| p.name().to_owned()).collect();
            let times: Vec<f64> = (0..8).map(|_| between(&mut g, 0.5, 2.0)).collect();
            let values: Vec<f64> = names.iter().map(|_| between(&mut g, 0.5, 2.0)).collect();
            let partials = jacobian(&track, &times, &values);
            if partials.iter().any(|x| !x.is_finite() || x.abs() > 1e100) {
                continue;
            }
            judged += 1;
            let column = |name: &String| {
                let k = names.iter().position(|own| own == name).unwrap();
                partials.column(k).to_vec()
            };
            let columns: Vec<Vec<f64>> = combination.parameters.iter().map(column).collect();
            // the parameters move one number, so their columns are multiples of each other
            for pair in columns.windows(2) {
                let norm = |column: &[f64]| column.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
                // σ₁·σ₂ against σ₁²: a column may be rounding noise where the parameter cancels
                let size = norm(&pair[0]).max(norm(&pair[1])).powi(2);
                for i in 0..times.len() {
                    for j in 0..i {
                        let minor = pair[0][i] * pair[1][j] - pair[0][j] * pair[1][i];
                        assert!(minor.abs() <= 1e-9 * size, "{text}: {combination}; {minor:?} of {size:?}");
                    }
                }
            }
        }
    }
    assert!(judged > 1000 && judged * 2 > found, "{judged} of {found}");
}
