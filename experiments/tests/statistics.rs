//! Statistics of studies, against numpy, scipy and brute force (`statistics/reference.py` writes `reference.csv`), and by
//! simulation.

use keyfit::solvers::Random;
use keyfit::study::stats::interval::{mean_interval, median, median_enclosure, median_interval, share};
use keyfit::study::stats::order::{NoOrder, order};
use keyfit::study::stats::paired::{holm, paired};
use keyfit::study::stats::profile::{Costs, swaps};
use keyfit::study::stats::special::{beta, heads, student};
use keyfit::study::stats::table::{evaluations, expected};
use keyfit::study::stats::{Interval, special};

/// Rows of that name.
fn rows(name: &str) -> Vec<Vec<f64>> {
    let rows: Vec<_> = include_str!("statistics/reference.csv")
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
        same(beta(row[0], row[1], row[2]), row[3]);
    }
    for row in rows("student") {
        same(student(row[0]), row[1]);
    }
    for row in rows("heads") {
        same(heads(row[0] as u64, row[1] as u64), row[2]);
    }
    assert!((student(1e5) - special::NORMAL - 2.3723e-5).abs() < 1e-8);
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
        let groups: Vec<_> = row[4..].iter().map(|hits| (*hits as u64, row[0] as u64)).collect();
        let (found, ends) = share(&groups).unwrap();
        same(found, row[1]);
        same_ends(ends.unwrap(), row[2], row[3]);
    }
    assert_eq!(median_interval(&[1.0; 5]), None);
    assert_eq!(median(&[]), None);
    assert_eq!(median(&[f64::INFINITY, 1.0, f64::NAN]), Some(f64::INFINITY));
    assert_eq!(median_enclosure(&[1.0; 5]), None);
    // the second value from either side, of ten
    let ten: Vec<f64> = (0..10).map(f64::from).collect();
    assert_eq!(median_enclosure(&ten), Some(Interval { low: 1.0, high: 8.0 }));
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

/// A normal variable, by Box and Muller.
fn normal(random: &mut Random) -> f64 {
    let (u, v) = (1.0 - random.part(), random.part());
    (-2.0 * core_math::log(u)).sqrt() * core_math::cospi(2.0 * v)
}

/// The share of 10,000 simulated studies whose interval holds the truth.
fn coverage(what: &str, mut study: impl FnMut(&mut Random) -> Option<(f64, Interval)>) {
    let mut random = Random::new(7);
    let held = (0..10000).filter(|_| {
        // what is refused prints no interval
        let Some((truth, interval)) = (0..100).find_map(|_| study(&mut random)) else { return false };
        interval.low <= truth && truth <= interval.high
    });
    let share = held.count() as f64 / 10000.0;
    println!("{what}: {share}");
    assert!((0.94..=0.96).contains(&share), "{what}: {share}");
}

fn whole(random: &mut Random, low: u64, high: u64) -> u64 {
    low + random.bits() % (high - low + 1)
}

#[test]
fn intervals_hold_the_truth_as_often_as_they_say() {
    for n in [6, 10, 25, 60] {
        let draws = |random: &mut Random, f: fn(f64) -> f64| -> Vec<f64> {
            (0..n).map(|_| f(normal(random))).collect()
        };
        coverage(&format!("median of {n}"), |random| {
            Some((1.0, median_interval(&draws(random, core_math::exp))?))
        });
        coverage(&format!("mean of {n}"), |random| Some((0.0, mean_interval(&draws(random, |x| x))?.1)));
    }
    for problems in [6, 7, 9, 12, 19, 20, 60] {
        // bands of profiles: problems are solved with chances of their own, from each start
        for starts in [1, 2, 3, 8] {
            coverage(&format!("share over {problems} problems of {starts} starts"), |random| {
                let mean = 0.05 + 0.9 * random.part();
                let spread = mean.min(1.0 - mean) * random.part();
                let groups: Vec<(u64, u64)> = (0..problems)
                    .map(|_| {
                        let own = mean + spread * (2.0 * random.part() - 1.0);
                        ((0..starts).filter(|_| random.part() < own).count() as u64, starts)
                    })
                    .collect();
                Some((mean, share(&groups)?.1?))
            });
        }
    }
    for (what, noise) in [("quiet", 0.03), ("noisy", 0.1)] {
        coverage(&format!("order of {what} convergence"), |random| {
            let (truth, fall) = (1.0 + random.part(), 0.3 + 2.0 * random.part());
            let count = whole(random, 6, 40);
            let course = course(random, count, noise, truth, -fall);
            Some((truth, order(&course).ok()?.interval))
        });
        coverage(&format!("rate of {what} convergence"), |random| {
            let truth = 0.3 + 0.4 * random.part();
            let count = whole(random, 6, 20);
            let course = course(random, count, noise, 1.0, core_math::log(truth));
            Some((truth, order(&course).ok()?.rate?.1))
        });
    }
}

/// Errors e' = C·eᵖ, with noise; the logarithm of C is given.
fn course(random: &mut Random, count: u64, noise: f64, order: f64, fall: f64) -> Vec<f64> {
    let mut e = 0.09;
    let step = |_| {
        let now = e;
        e = core_math::exp(order * core_math::log(e) + fall + noise * normal(random));
        now
    };
    (0..count).map(step).collect()
}

/// Digits end at 11, evaluations are whole, and failures cost infinitely much. What holds at least 95 % of studies in theory is
/// held to that, whatever the values are.
#[test]
fn medians_of_tied_and_infinite_values_are_enclosed() {
    let digits = |random: &mut Random, mean: f64| (mean + 2.0 * normal(random)).min(11.0);
    let evaluations = |random: &mut Random| (-35.0 * core_math::log2(1.0 - random.part())).ceil();
    let failing = |random: &mut Random, share: f64| match random.part() < share {
        true => f64::INFINITY,
        false => random.part(),
    };
    for n in [6, 7, 8, 9, 10, 15, 25] {
        let mut held = |what: &str, truth: f64, draw: &dyn Fn(&mut Random) -> f64| {
            let mut random = Random::new(7);
            let share = (0..10000).filter(|_| {
                let values: Vec<f64> = (0..n).map(|_| draw(&mut random)).collect();
                median_enclosure(&values).is_some_and(|own| own.low <= truth && truth <= own.high)
            });
            let share = share.count() as f64 / 10000.0;
            println!("{what} of {n}: {share}");
            assert!(share >= 0.95, "{what} of {n}: {share}");
        };
        held("digits, most at the cap", 11.0, &|random| digits(random, 11.5));
        held("digits, most below the cap", 10.8, &|random| digits(random, 10.8));
        held("evaluations", 35.0, &evaluations);
        held("two in ten fail", 0.625, &|random| failing(random, 0.2));
        held("six in ten fail", f64::INFINITY, &|random| failing(random, 0.6));
        held("without ties", 0.5, &|random| random.part());
    }
}
