//! Statistics of studies, against numpy, scipy and brute force (`reference.py` writes `reference.csv`), against the code of others
//! (`others.py`), and by simulation.

mod coverage;
mod published;

use keyfit::study::stats::Interval;
use keyfit::study::stats::interval::{
    digits_interval, mean_interval, median, median_interval, ratio_interval,
};
use keyfit::study::stats::order::{NoOrder, order};
use keyfit::study::stats::paired::{holm, paired};
use keyfit::study::stats::profile::{Costs, swaps};
use keyfit::study::stats::share::share;
use keyfit::study::stats::special::{Beta, heads, quantile, student};
use keyfit::study::stats::table::{evaluations, expected};

/// Rows of that name.
fn rows(name: &str) -> Vec<Vec<f64>> {
    let rows: Vec<_> = include_str!("reference.csv")
        .lines()
        .filter_map(|line| line.split_once(','))
        .filter(|(own, _)| *own == name)
        .map(|(_, numbers)| numbers.split(',').map(|x| x.parse().unwrap()).collect())
        .collect();
    assert!(!rows.is_empty(), "{name}");
    rows
}

/// Twelve digits.
fn same(found: f64, expected: f64) {
    let close = found == expected || (found - expected).abs() <= 1e-12 * expected.abs().max(1e-3);
    assert!(close, "{found:?} is not {expected:?}");
}

fn same_ends(found: Interval, low: f64, high: f64) {
    same(found.low, low);
    same(found.high, high);
}

#[test]
fn distributions_are_those_of_scipy() {
    for row in rows("beta") {
        same(Beta::new(row[1], row[2]).below(row[0]), row[3]);
    }
    for row in rows("quantile") {
        same(quantile(row[0], &[(1.0, Beta::new(row[1], row[2]))]), row[3]);
    }
    // whatever is asked, the chance is the one that was asked for
    for (i, p) in [1e-12, 1e-3, 0.025, 0.3, 0.5, 0.9, 0.975, 1.0 - 1e-9].into_iter().enumerate() {
        for (a, b) in [(0.5, 0.5), (0.5, 300.0), (1.0, 1.0), (2.5, 0.5), (40.0, 40.0), (5e4, 0.5), (1e4, 3e4)]
        {
            let beta = Beta::new(a, b);
            let x = quantile(p, &[(1.0, beta)]);
            let near = beta.below(x.next_down()) <= p && p <= beta.below(x.next_up());
            assert!(near || (beta.below(x) - p).abs() <= 1e-9 * p, "{i}: {p} {a} {b} {x}");
        }
    }
    for row in rows("student") {
        same(student(row[0]), row[1]);
    }
    for row in rows("heads") {
        same(heads(row[0] as u64, row[1] as u64), row[2]);
    }
    assert!((student(1e5) - 1.959_963_984_540_054 - 2.3723e-5).abs() < 1e-8);
}

#[test]
fn paired_tests_are_those_of_scipy() {
    for row in rows("paired") {
        let found = paired(&row[3..]);
        same(found.wilcoxon, row[0]);
        same(found.sign, row[1]);
        same(found.effect, row[2]);
    }
    for row in rows("holm") {
        holm(&row[..7]).into_iter().zip(&row[7..]).for_each(|(found, expected)| same(found, *expected));
    }
    let nothing = paired(&[0.0, f64::NAN, -0.0]);
    assert_eq!((nothing.wilcoxon, nothing.sign, nothing.effect, nothing.pairs), (1.0, 1.0, 0.0, 3));
    assert_eq!(paired(&[]).wilcoxon, 1.0);
    assert_eq!(paired(&[f64::INFINITY; 8]).wilcoxon, 2.0 / 256.0);
    assert_eq!(paired(&[f64::NEG_INFINITY; 8]).effect, -1.0);
}

#[test]
fn intervals_are_those_of_scipy() {
    for row in rows("median") {
        same(median(&row[3..]).unwrap(), row[0]);
        same_ends(median_interval(&row[3..]).unwrap(), row[1], row[2]);
    }
    for row in rows("mean") {
        let (mean, ends) = mean_interval(&row[3..]).unwrap();
        same(mean, row[0]);
        same_ends(ends, row[1], row[2]);
    }
    for row in rows("share") {
        let groups: Vec<_> = row[3..].chunks(2).map(|group| (group[0] as u64, group[1] as u64)).collect();
        let (found, ends) = share(&groups).unwrap();
        same(found, row[0]);
        same_ends(ends.unwrap(), row[1], row[2]);
    }
    assert_eq!(median_interval(&[1.0; 5]), None);
    assert_eq!(median(&[]), None);
    assert_eq!(median(&[f64::INFINITY, 1.0, f64::NAN]), Some(f64::INFINITY));
    // of ten, the second value from either side where it is tied with the third
    let ten = [0.0, 1.0, 1.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 8.5];
    let ends = median_interval(&ten).unwrap();
    assert!(ends.low == 1.0 && 7.0 < ends.high && ends.high < 8.0);
    // none and all digits are open ends
    assert_eq!(digits_interval(&[0.0, 3.0, 4.0, 5.0, 6.0, 11.0]), Some(Interval { low: 0.0, high: 11.0 }));
    let ratios = [0.0, 0.25, 0.5, 1.0, 2.0, 4.0, 5.0, 8.0, f64::INFINITY];
    let (own, turned) = (ratio_interval(&ratios).unwrap(), ratio_interval(&ratios.map(|x| 1.0 / x)).unwrap());
    same_ends(own, 1.0 / turned.high, 1.0 / turned.low);
    let failing = median_interval(&[1.0, 2.0, 3.0, f64::INFINITY, f64::INFINITY, f64::INFINITY]).unwrap();
    assert!(failing.low >= 1.0 && failing.high == f64::INFINITY);
    assert_eq!(mean_interval(&[1.0, f64::INFINITY]), None);
    assert_eq!(share(&[]), None);
    assert_eq!(share(&[(0, 2); 3]), Some((0.0, None)));
    let (all, ends) = share(&[(2, 2); 30]).unwrap();
    assert!(all == 1.0 && ends.unwrap().high == 1.0 && ends.unwrap().low > 0.9);
}

#[test]
fn order_is_that_of_a_regression() {
    for row in rows("order") {
        let found = order(&row[7..]).unwrap();
        assert_eq!(found.steps, row[0] as usize);
        same(found.order, row[1]);
        same_ends(found.interval, row[2], row[3]);
        // what is quadratic has no rate
        assert_eq!(found.rate.is_none(), row[1] > 1.5);
        let Some((rate, ends)) = found.rate else { continue };
        same(rate, row[4]);
        same_ends(ends, row[5], row[6]);
    }
}

#[test]
fn order_is_refused_where_nothing_shows_it() {
    assert_eq!(order(&[]), Err(NoOrder::Unknown));
    assert_eq!(order(&[f64::NAN; 9]), Err(NoOrder::Unknown));
    assert_eq!(order(&[5.0, 3.0, f64::INFINITY, 1.0]), Err(NoOrder::Far));
    assert_eq!(order(&[1.0, 1e-2, 1e-4, 1e-9]), Err(NoOrder::Short { steps: 1 }));
    // all of these are rounding
    assert_eq!(order(&[3e-15, 2e-15, 3e-15, 1e-15, 2e-15]), Err(NoOrder::Short { steps: 0 }));
    assert_eq!(order(&[1e-3, 0.0]), Err(NoOrder::Short { steps: 0 }));
    // no fall, no tail
    assert_eq!(order(&[1e-3, 2e-3, 4e-3, 8e-3, 1e-5]), Err(NoOrder::Short { steps: 0 }));
}

/// Errors from a start, by what makes the next one.
fn errors(start: f64, next: impl Fn(f64, f64) -> f64, count: usize) -> Vec<f64> {
    let mut all = vec![start, next(start, start)];
    while all.len() < count {
        let [.., before, last] = all[..] else { unreachable!() };
        all.push(next(before, last));
    }
    all
}

#[test]
fn known_orders_are_recovered() {
    // gradient descent on a quadratic of condition 10: order 1, rate 9/11
    let linear = order(&errors(1.0, |_, e| e * 9.0 / 11.0, 200)).unwrap();
    assert!(
        (linear.order - 1.0).abs() < 1e-9 && (linear.rate.unwrap().0 - 9.0 / 11.0).abs() < 1e-9,
        "{linear:?}"
    );
    let newton = order(&errors(0.5, |_, e| 0.9 * e * e, 9)).unwrap();
    assert!((newton.order - 2.0).abs() < 1e-9, "{newton:?}");
    // the secant method: (1 + √5)/2
    let secant = order(&errors(0.09, |before, e| 0.5 * before * e, 9)).unwrap();
    assert!((secant.order - 1.618).abs() < 0.15, "{secant:?}");
}

#[test]
fn profiles_are_those_of_numpy() {
    let mut costs = Costs::new(4);
    rows("costs")[0].chunks(4).enumerate().for_each(|(i, row)| costs.push(i, row.iter().copied()));
    let profile = costs.ratios(None).profile();
    for row in rows("profile") {
        (0..4).for_each(|solver| same(profile.at(solver, row[0]), row[1 + solver]));
    }
    assert_eq!(profile.at(9, 1.0), 0.0);
    let (at, band) = costs.ratios(None).band(0, 2.0).unwrap();
    same(at, profile.at(0, 2.0));
    assert!(band.is_some_and(|band| band.low < at && at < band.high));
}

/// The example of Gould and Scott in small: of the slow two, which one is ahead depends on the quick one.
#[test]
fn a_ranking_that_hangs_on_the_best_solver_is_found() {
    let mut costs = Costs::new(3);
    for (i, row) in
        [[1.0, 2.0, 4.0], [1.0, 2.0, 4.0], [1.0, 9.0, 9.0], [9.0, 9.0, 8.0]].into_iter().enumerate()
    {
        costs.push(i, row);
    }
    // ratios 2 2 9 1.125 and 4 4 9 1; without the first 1 1 1 1.125 and 2 2 1 1
    let (best, found) = swaps(&costs).unwrap();
    assert_eq!(best, 0);
    assert!(found.iter().all(|swap| swap.first != 0 && swap.second != 0));
    let swap = found.iter().find(|swap| (swap.first, swap.second) == (2, 1)).unwrap();
    assert_eq!((swap.ratio, swap.margin), (1.0, 0.25));
    let mut alike = Costs::new(3);
    (0..5).for_each(|i| alike.push(i, [1.0, 2.0, 4.0]));
    assert_eq!(swaps(&alike), Some((0, vec![])));
    assert_eq!(swaps(&Costs::new(0)), None);
}

#[test]
fn evaluations_and_expected_ones() {
    assert_eq!(evaluations(3, 2, 1, 4), 3.0 + 8.0 + 10.0);
    assert_eq!(expected([(10.0, 4.0), (20.0, f64::INFINITY), (9.0, 6.0)]), 15.0);
    assert_eq!(expected([(10.0, f64::INFINITY)]), f64::INFINITY);
}

/// What the store and the report keep must be the same bits as what is computed anew.
#[test]
fn no_digit_is_positive_zero_and_nans_are_one() {
    assert_eq!(keyfit::accuracy::lre(2.0, 1.0).to_bits(), 0);
    let record = |nan: f64| keyfit::study::Record { last: nan, ..keyfit::study::Record::failed("") };
    let line = |nan: f64| keyfit::study::work::to_line(1, &record(nan), 0.0);
    assert_eq!(line(f64::NAN), line(-f64::NAN));
}
