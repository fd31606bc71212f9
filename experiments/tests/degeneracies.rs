//! What targets leave open is named in the user's words: planted degeneracies, all of them found.

use keyfit::determination::undetermined;
use keyfit::solvers::prior;
use keyfit::{Channel, FitOptions, Target, Track, fit_channels};

/// Name, channels, and the parameters of each planted group.
type Case = (&'static str, &'static [&'static str], &'static [&'static [&'static str]]);

/// The targets are what the tracks give with all parameters a quarter larger, so that nothing but the planted combination is open.
const CASES: &[Case] = &[
    ("a sum", &["?a=1 + ?b=2 + ?c=1*t"], &[&["a", "b"]]),
    ("a difference", &["(?a=3 - ?b=1)*t + ?c=1"], &[&["a", "b"]]),
    ("a product", &["?a=1*?b=2*t"], &[&["a", "b"]]),
    ("a quotient", &["?a=1/?b=2*t + ?c=3"], &[&["a", "b"]]),
    ("a factor and an exponent", &["?a=2*exp(?b=0.5)*t"], &[&["a", "b"]]),
    ("an exponent that varies", &["?a=2*exp(?b=0.5 + t/4)"], &[&["a", "b"]]),
    ("three coupled by a product", &["?a=1*?b=2*?c=3*t"], &[&["a", "b", "c"]]),
    ("three coupled by a sum", &["?a=1 + 2*?b=2 - ?c=3 + t"], &[&["a", "b", "c"]]),
    ("two groups", &["?a=1*?b=2*t + (?c=1 + ?d=2)"], &[&["a", "b"], &["c", "d"]]),
    ("a scale and a unit", &["?metres=3*?scale=0.01*t^2 + ?metres*?scale"], &[&["metres", "scale"]]),
    ("over several channels", &["?a=1*?b=2*t", "?c=1 + exp(?a=1*?b=2/4)*t"], &[&["a", "b"]]),
    ("keys and a gain", &["linear[0=?k0=1 1=?k1=2 4=?k2=4]*?gain=2"], &[&["k0", "k1", "k2", "gain"]]),
    (
        "keys and an offset",
        &["linear[0=?k0=1 1=?k1=2 4=?k2=4] + ?offset=2"],
        &[&["k0", "k1", "k2", "offset"]],
    ),
    ("a phase and a shift", &["sin(2*(t + ?shift=0.1) + ?phase=0.2)"], &[&["shift", "phase"]]),
    ("a root", &["sqrt(?a=1*?b=4)*t"], &[&["a", "b"]]),
    ("a length", &["hypot(?a=3, ?b=4)*t"], &[&["a", "b"]]),
    ("two logarithms", &["ln(?a=2) + ln(?b=3) + t"], &[&["a", "b"]]),
    ("two terms of one rate", &["?a=1*exp(-?k=0.5*t) + ?b=2*exp(-?k*t)"], &[&["a", "b"]]),
    ("a mixture", &["mix(?a=1, ?b=3, 0.25) + ?c=1*t"], &[&["a", "b"]]),
    ("a speed and a peak", &["linear[0=0 40=?peak=8](?speed=2*t)"], &[&["peak", "speed"]]),
    ("a fraction", &["(?a=1 + ?b=2*t)/(?c=1 + ?d=0.5*t)"], &[&["a", "b", "c", "d"]]),
    ("a rate and its divisor", &["exp(-?k=0.5/?tau=2*t)*?c=1"], &[&["k", "tau"]]),
];

fn channels(formulas: &[&str]) -> Vec<Channel> {
    let channel = |(i, formula): (usize, &&str)| {
        let track = Track::parse(formula).unwrap();
        let starts: Vec<(String, f64)> =
            track.free_parameters().iter().map(|p| (p.name().into(), p.start())).collect();
        let right = |name: &str| starts.iter().find(|(own, _)| own == name).map(|(_, start)| 1.25 * start);
        let truth = track.substitute_parameters(right);
        let times = (0..9).map(|k| f64::from(k) / 2.0);
        let targets = times.map(|time| Target::new(time, truth.sample(time))).collect();
        Channel { name: ["x", "y"][i].into(), track, targets }
    };
    formulas.iter().enumerate().map(channel).collect()
}

/// What is told of a fit, which converges.
fn told(channels: Vec<Channel>, options: &FitOptions) -> Vec<String> {
    let fit = fit_channels(channels.clone(), options).unwrap();
    assert!(fit.converged, "{:?}: {}", channels[0].track, fit.message);
    undetermined(&fit, &channels)
}

fn words(text: &str) -> Vec<&str> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect()
}

#[test]
fn planted_degeneracies_are_named() {
    let mut report = String::new();
    for (name, formulas, groups) in CASES {
        let told = told(channels(formulas), &FitOptions::default());
        report += &format!("{name}: {}\n    {}\n", formulas.join(", "), told.join("\n    "));
        assert_eq!(told.len(), groups.len(), "{name}: {told:?}");
        let names = channels(formulas);
        let mut names: Vec<&str> =
            names.iter().flat_map(|c| c.track.free_parameters()).map(|p| p.name()).collect();
        names.dedup();
        for group in *groups {
            // one line names all of the group and nothing of the others
            let right = |line: &&String| {
                let words = words(line);
                names.iter().all(|name| words.contains(name) == group.contains(name))
            };
            assert_eq!(told.iter().filter(right).count(), 1, "{name}: {group:?} in {told:?}");
        }
    }
    insta::assert_snapshot!(report);
}

#[test]
fn degeneracies_at_special_places_are_named() {
    let plain = FitOptions::default();
    let mut report = Vec::new();
    // a bound holds c; a·b is open all the same
    let bounds = FitOptions { bounds: [("c".into(), [0.0, 1.0])].into(), ..FitOptions::default() };
    report.push(told(channels(&["?a=1*?b=2*t + ?c=1"]), &bounds).join("\n"));
    // the amplitude is found to be 0, up to rounding
    let level: Vec<Target> = (0..6).map(|k| Target::new(f64::from(k), 3.0)).collect();
    let quiet = Track::parse("?a=0*sin(t + ?p=1) + ?c=0").unwrap();
    let quiet = Channel { name: "y".into(), track: quiet, targets: level };
    report.push(told(vec![quiet.clone()], &plain).join("\n"));
    let loud = Track::parse("?a=2*sin(t + ?p=1) + ?c=0").unwrap();
    report.push(told(vec![Channel { track: loud, ..quiet }], &plain).join("\n"));
    // a slope that is 0 is determined
    let line = Track::parse("?a=1 + ?b=1*t + ?c=1*t^2").unwrap();
    let targets = (0..6).map(|k| Target::new(f64::from(k), 0.1)).collect();
    report.push(told(vec![Channel { name: "y".into(), track: line, targets }], &plain).join("\n"));
    // fitted by logarithms, in the names of the parameters still
    let logarithmic = ["a".to_string(), "b".to_string()].into();
    report.push(
        told(channels(&["?a=1*?b=2*t"]), &FitOptions { logarithmic, ..FitOptions::default() }).join("\n"),
    );
    // what a prior says is no longer open
    let mut known = channels(&["?a=1*?b=2*t"]);
    let a = known[0].track.free_parameters()[0].clone();
    known.push(prior(&a, 1.25, 0.1).unwrap());
    report.push(told(known, &plain).join("\n"));
    insta::assert_snapshot!(report.join("\n---\n"));
}
