//! How often intervals hold the truth, in simulated studies.

use std::collections::BTreeMap;

use keyfit::solvers::Random;
use keyfit::study::stats::Interval;
use keyfit::study::stats::interval::{digits_interval, mean_interval, median_interval, ratio_interval};
use keyfit::study::stats::order::order;
use keyfit::study::stats::share::{Group, share};

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

/// Draws how often a solver succeeds on average over problems, and on each of some problems, from one start of it or another.
type Problems = fn(&mut Random, u64) -> (f64, Vec<f64>);

/// Kinds of problems.
const KINDS: [(&str, Problems); 5] = [
    ("about as hard", |random, count| {
        let mean = 0.05 + 0.9 * random.part();
        let spread = mean.min(1.0 - mean) * random.part();
        (mean, (0..count).map(|_| mean + spread * (2.0 * random.part() - 1.0)).collect())
    }),
    ("most hard", powers),
    ("most easy", |random, count| {
        let (mean, own) = powers(random, count);
        (1.0 - mean, own.into_iter().map(|chance| 1.0 - chance).collect())
    }),
    ("solved or not", |random, count| {
        let mean = random.part();
        (mean, (0..count).map(|_| if random.part() < mean { 1.0 } else { 0.0 }).collect())
    }),
    ("some solved, some not, some by chance", |random, count| {
        // two cuts of the unit interval: each way to divide it is as likely
        let (a, b) = (random.part(), random.part());
        let (solved, other) = (a.min(b), a.max(b));
        let own = (0..count).map(|_| match random.part() {
            part if part < solved => 1.0,
            part if part < other => random.part(),
            _ => 0.0,
        });
        (solved + (other - solved) / 2.0, own.collect())
    }),
];

/// Powers of a uniform variable, up to the sixth.
fn powers(random: &mut Random, count: u64) -> (f64, Vec<f64>) {
    let power = 1.0 + 5.0 * random.part();
    (1.0 / (power + 1.0), (0..count).map(|_| core_math::pow(random.part(), power)).collect())
}

/// Shares and bands of profiles: on average over kinds of problems they hold their level; on each kind, what is said of it.
#[test]
fn shares_hold_the_truth_as_often_as_they_say() {
    for problems in [6, 9, 12, 20, 60] {
        for starts in [1, 2, 3, 8, 25] {
            let mut known: BTreeMap<Vec<Group>, Interval> = BTreeMap::new();
            let all = KINDS.map(|(kind, draw)| {
                let what = format!("share over {problems} problems of {starts} starts, {kind}");
                let share = held(&what, |random| {
                    let (mean, chances) = draw(random, problems);
                    let hits = |chance: &f64| (0..starts).filter(|_| random.part() < *chance).count() as u64;
                    let mut groups: Vec<Group> =
                        chances.iter().map(hits).map(|hits| (hits, starts)).collect();
                    groups.sort();
                    let interval =
                        known.entry(groups).or_insert_with_key(|groups| share(groups).unwrap().1.unwrap());
                    Some((mean, *interval))
                });
                let closely = problems >= 60;
                assert!(if closely { 0.94..=0.96 } else { 0.93..=0.98 }.contains(&share), "{what}: {share}");
                share
            });
            let mean = all.iter().sum::<f64>() / all.len() as f64;
            println!("share over {problems} problems of {starts} starts: {mean}");
            assert!((0.94..=0.96).contains(&mean), "{problems} problems of {starts} starts: {mean}");
        }
    }
}

/// Some problems solved from all starts or from none, the others by one chance: that some are of the first kind few problems show, and
/// where the starts are many the others say that all are of the second. Where successes are rare, the few problems that are solved from
/// all starts are often not there at all.
#[test]
fn shares_of_two_kinds_at_once_hold_the_truth_less_often() {
    let held = |problems: u64, starts: u64, draw: fn(&mut Random) -> (f64, f64), least: f64, most: f64| {
        let what = format!("share over {problems} problems of {starts} starts, all alike or by one chance");
        let share = held(&what, |random| {
            let (mean, alike) = draw(random);
            let one = |random: &mut Random| match random.part() < alike {
                true => (if random.part() < mean { starts } else { 0 }, starts),
                false => ((0..starts).filter(|_| random.part() < mean).count() as u64, starts),
            };
            let groups: Vec<Group> = (0..problems).map(|_| one(random)).collect();
            Some((mean, share(&groups).unwrap().1.unwrap()))
        });
        assert!((least..=most).contains(&share), "{what}: {share}");
    };
    for (problems, starts) in [(20, 3), (20, 8), (60, 3), (60, 8)] {
        held(problems, starts, |random| (random.part(), random.part()), 0.935, 0.95);
    }
    held(60, 25, |random| (random.part(), random.part()), 0.92, 0.94);
    held(60, 25, |_| (0.02, 0.6), 0.54, 0.6);
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

/// Digits end at 11, evaluations are whole, failures cost infinitely much, and times are compared as ratios. Where the median
/// itself is a value that many runs share, every interval from one value to another holds it more often.
#[test]
fn medians_of_tied_and_infinite_values_hold_the_truth_as_often_as_they_say() {
    type Of = fn(&[f64]) -> Option<Interval>;
    let digits = |random: &mut Random, mean: f64| (mean + 2.0 * normal(random)).clamp(0.0, 11.0);
    let failing = |random: &mut Random, share: f64, failed: f64| match random.part() < share {
        true => failed,
        false => random.part(),
    };
    for n in [6, 7, 8, 9, 10, 15, 25] {
        let held = |what: &str, truth: f64, of: Of, draw: &dyn Fn(&mut Random) -> f64| {
            held(&format!("median of {n}, {what}"), |random| {
                let values: Vec<f64> = (0..n).map(|_| draw(random)).collect();
                Some((truth, of(&values)?))
            })
        };
        let closely = |what: &str, truth: f64, of: Of, draw: &dyn Fn(&mut Random) -> f64| {
            let share = held(what, truth, of, draw);
            assert!((0.94..=0.96).contains(&share), "{what} of {n}: {share}");
        };
        let surely = |what: &str, truth: f64, of: Of, draw: &dyn Fn(&mut Random) -> f64| {
            let share = held(what, truth, of, draw);
            assert!(share >= 0.94, "{what} of {n}: {share}");
        };
        let evaluations =
            |random: &mut Random, mean: f64| (-mean * core_math::log2(1.0 - random.part())).ceil();
        closely("digits", 6.0, digits_interval, &|random| digits(random, 6.0));
        closely("evaluations", 1000.0, median_interval, &|random| evaluations(random, 1000.0));
        closely("two in ten fail", 0.625, median_interval, &|random| failing(random, 0.2, f64::INFINITY));
        closely("ratios", 0.5, ratio_interval, &|random| failing(random, 0.0, 0.0));
        surely("digits, most at the cap", 11.0, digits_interval, &|random| digits(random, 11.5));
        surely("digits, nearly most at the cap", 10.8, digits_interval, &|random| digits(random, 10.8));
        surely("digits, nearly most none", 0.2, digits_interval, &|random| digits(random, 0.2));
        surely("few evaluations", 10.0, median_interval, &|random| evaluations(random, 10.0));
        surely("six in ten fail", f64::INFINITY, median_interval, &|random| {
            failing(random, 0.6, f64::INFINITY)
        });
        surely("ratios, where the other fails four times in ten", 1.0 / 6.0, ratio_interval, &|random| {
            failing(random, 0.4, 0.0)
        });
    }
}
