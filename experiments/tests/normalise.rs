//! Normalised phases and amplitudes give the same values.

use std::f64::consts::{PI, TAU};

use keyfit::normalise::{Turn, normalise};
use keyfit::{Channel, FitOptions, Target, Track, fit_channels};

/// The fit's own point, 2 sin(t + 0.5) and the like, told from starts in other turns and signs.
#[test]
fn values_stay_and_parameters_are_in_range() {
    for (formula, names) in [
        ("?a=-2*sin(t + ?p=9) + ?c=1", Some(("a", "p"))),
        ("?a=-2*cos(?p=-20 - 3*t)", Some(("a", "p"))),
        ("sin(t - ?p=40)/?a=-2 + ?c=0", Some(("a", "p"))),
        ("?a=-2*sin(t + 3*?p=9)", Some(("a", "p"))),
        ("?a=-2*sin(t + ?p=9) - ?a*cos(2*t - ?p)", Some(("a", "p"))),
        // by half a turn the sign would change in one place only
        ("?a=-2*sin(t + ?p=9) + ?a*cos(2*t)", None),
        ("?a=-2*sin(t + 2*?p=9)", None),
        ("?a=-2*sin(t + ?p=9) + ?p*t", None),
        ("?a=-2*t + sin(t + ?p=1)", None),
        ("?a=-2*sin(t*?p=9)", None),
    ] {
        let track = Track::parse(formula).unwrap();
        let value = track.substitute_parameters(|name| {
            track.free_parameters().iter().find(|p| p.name() == name).map(|p| p.start())
        });
        let targets: Vec<Target> = (0..12)
            .map(f64::from)
            .map(|k| Target::new(k / 3.0, value.sample(k / 3.0) + 0.01 * (k % 2.0)))
            .collect();
        let channels = vec![Channel { name: "y".into(), track, targets }];
        for (turn, range) in [(Turn::Positive, 0.0..TAU), (Turn::Centred, -PI..PI.next_up())] {
            let plain = fit_channels(channels.clone(), &FitOptions::default()).unwrap();
            let mut fit = plain.clone();
            let done = normalise(&mut fit, &channels, &Default::default(), turn);
            assert!(done.moved < 1e-13, "{formula}: {done:?}");
            match names {
                Some((a, p)) => {
                    assert!(fit.value(a).unwrap() > 0.0, "{formula}: {:?}", fit.parameters);
                    assert!(range.contains(&fit.value(p).unwrap()), "{formula}: {:?}", fit.parameters);
                    assert!(!done.before.is_empty());
                    // the correlation of the two changes its sign with the amplitude
                    let rho = |fit: &keyfit::Fit| fit.correlation().unwrap()[[0, 1]];
                    assert_eq!(rho(&fit), -rho(&plain), "{formula}");
                }
                None => assert_eq!(fit.value("a"), plain.value("a"), "{formula}"),
            }
            // once more changes nothing
            assert_eq!(normalise(&mut fit, &channels, &Default::default(), turn).before, [], "{formula}");
            // what has bounds stays
            let mut bound = plain.clone();
            let bounds = ["a", "p"].map(|name| (name.to_string(), [-100.0, 100.0])).into();
            assert_eq!(normalise(&mut bound, &channels, &bounds, turn).before, [], "{formula}");
        }
    }
}
