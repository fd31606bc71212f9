//! How often intervals hold the truth, in simulated studies.

use keyfit::solvers::Random;
use keyfit::study::stats::Interval;
use keyfit::study::stats::interval::{mean_interval, median_enclosure, median_interval, share};
use keyfit::study::stats::order::order;

/// A normal variable, by Box and Muller.
fn normal(random: &mut Random) -> f64 {
    let (u, v) = (1.0 - random.part(), random.part());
    (-2.0 * core_math::log(u)).sqrt() * core_math::cospi(2.0 * v)
}

/// Holds intervals to their level.
fn coverage(what: &str, study: impl FnMut(&mut Random) -> Option<(f64, Interval)>) {
    let share = held(what, study);
    assert!((0.94..=0.96).contains(&share), "{what}: {share}");
}

/// The share of 10,000 simulated studies whose interval holds the truth.
fn held(what: &str, mut study: impl FnMut(&mut Random) -> Option<(f64, Interval)>) -> f64 {
    let mut random = Random::new(7);
    let held = (0..10000).filter(|_| {
        // what is refused prints no interval
        let Some((truth, interval)) = (0..100).find_map(|_| study(&mut random)) else { return false };
        interval.low <= truth && truth <= interval.high
    });
    let share = held.count() as f64 / 10000.0;
    println!("{what}: {share}");
    share
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

/// What the documentation says of problems that differ so much that few of them do not show it: their chances are powers of a
/// uniform variable, up to the sixth.
#[test]
fn shares_of_few_uneven_problems_hold_less_and_no_less_than_is_said() {
    for (problems, least) in [(6, 0.91), (12, 0.92), (20, 0.94), (60, 0.94)] {
        for starts in [2, 3, 8] {
            let share =
                held(&format!("uneven shares over {problems} problems of {starts} starts"), |random| {
                    let power = 1.0 + 5.0 * random.part();
                    let groups: Vec<(u64, u64)> = (0..problems)
                        .map(|_| {
                            let own = core_math::pow(random.part(), power);
                            ((0..starts).filter(|_| random.part() < own).count() as u64, starts)
                        })
                        .collect();
                    Some((1.0 / (power + 1.0), share(&groups)?.1?))
                });
            assert!((least..0.97).contains(&share), "{problems} {starts}: {share}");
        }
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
        let held = |what: &str, truth: f64, draw: &dyn Fn(&mut Random) -> f64| {
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
