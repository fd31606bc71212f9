//! Sums of second derivatives by tiles, by one direction and along a line are those of each time's Hessian.

use keyfit_autodiff::{Curvature, hessian};
use keyfit_ir::Track;
use ndarray::{Array1, Array2, ArrayView1};

/// Ten parameters: more than a tile, and more than the rows of a product.
const MODEL: &str = "?a=1*exp(-?b=0.5*t) + sin(?c=2*t + ?d=0.3)*?e=1.5 + ?f=0.7^2*t/(1 + ?g=0.2*t) \
                     + catmull-rom[0=?h=1 1=?i=2 3=0](?j=0.9*t)";
const TIMES: [f64; 5] = [0.1, 0.6, 1.3, 2.0, 2.9];
const WEIGHTS: [f64; 5] = [1.0, -2.0, 0.5, 3.0, 0.0];

/// Within 8 roundings of the sum of the sizes.
fn close(found: f64, expected: f64, size: f64) -> bool {
    (found - expected).abs() <= 8.0 * f64::EPSILON * size
}

#[test]
fn all_ways_to_sum_agree() {
    let track = Track::parse(MODEL).unwrap();
    let n = track.free_parameters().len();
    assert_eq!(n, 10);
    let each: Vec<Array2<f64>> = TIMES.iter().map(|t| hessian(&track, *t, &[])).collect();
    let mut sum = Array2::zeros((n, n));
    let mut curvature = Curvature::new(&track);
    curvature.add_weighted(&TIMES, &[], &WEIGHTS, sum.view_mut());
    for ((i, j), value) in sum.indexed_iter() {
        let terms = || each.iter().zip(WEIGHTS).map(|(h, w)| w * h[(i, j)]);
        assert!(close(*value, terms().sum(), terms().map(f64::abs).sum()), "{i} {j}");
        assert_eq!(value.to_bits(), sum[(j, i)].to_bits());
    }
    // the pairs of parameters that share a term, both ways, and those that bend by themselves
    assert_eq!(sum.iter().filter(|value| **value != 0.0).count(), 20);

    let direction: Vec<f64> = (0..n).map(|k| 1.0 - 0.3 * k as f64).collect();
    let d = ArrayView1::from(&direction);
    let mut product = vec![0.0; n];
    curvature.add_product(&TIMES, &[], &WEIGHTS, &direction, &mut product);
    let expected: Array1<f64> = sum.dot(&d);
    let sizes = each.iter().zip(WEIGHTS).map(|(h, w)| w.abs() * h.mapv(f64::abs).dot(&d.mapv(f64::abs)));
    let sizes = sizes.fold(Array1::zeros(n), |a: Array1<f64>, b| a + b);
    for k in 0..n {
        assert!(close(product[k], expected[k], 4.0 * sizes[k]), "{k}: {} {}", product[k], expected[k]);
    }

    let mut along = [0.0; 5];
    curvature.along(&TIMES, &[], &direction, &mut along);
    for (found, h) in along.iter().zip(&each) {
        let size = d.mapv(f64::abs).dot(&h.mapv(f64::abs).dot(&d.mapv(f64::abs)));
        assert!(close(*found, d.dot(&h.dot(&d)), 8.0 * size), "{found}");
    }
    // what does not fit is left out
    curvature.add_weighted(&TIMES, &[], &WEIGHTS[..2], Array2::zeros((3, 2)).view_mut());
    curvature.add_product(&TIMES, &[], &WEIGHTS, &direction[..4], &mut product[..9]);
}
