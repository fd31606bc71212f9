//! Combinations of parameters: planted ones are found, and nothing is found where there is none.

use keyfit_ir::Track;
use keyfit_rewrite::identify::combinations;

fn told(formulas: &[&str]) -> Vec<String> {
    let tracks: Vec<Track> = formulas.iter().map(|formula| Track::parse(formula).unwrap()).collect();
    combinations(&tracks).iter().map(ToString::to_string).collect()
}

#[test]
fn planted_combinations_are_found() {
    let catalogue: &[&[&str]] = &[
        &["?a=1*?b=2*t"],
        &["?a=1*t*?b=2"],
        &["(?a=1 + ?b=2)*t"],
        &["?a=1 + t + ?b=2"],
        &["t - (?a=1 - ?b=2)"],
        &["t*?a=1/?b=2"],
        &["t/(?a=1*?b=2)"],
        &["exp(?b=1)*t*?a=2"],
        &["?a=1*exp(?b=1 + t)*0 + sin(?c=1 + ?d=1 - t)"],
        &["sqrt(?a=1*?b=2)*t"],
        &["?a=1^?b=2 + t"],
        &["hypot(?a=1, ?b=2)*t"],
        &["?a=1*?b=2*t + ?a*?b"],
        &["?a=1*?b=2*t + (?a*?b)*(?a*?b)*t*t"],
        &["?a=1*?b=2*?c=3*t + ?a*?b*?d=4"],
        &["?a=1 + ?b=2 + ?c=3*t", "sin(?a=1 + ?b=2)"],
        &["2*?a=1 + 2*?b=2 + t*?c=1", "?a=1 + ?b=2 + exp(t)"],
        &["?a=1*?b=2 + ?c=3 + t"],
        &["?a=1*?b=2*(?c=3 + ?d=4) + exp(t)"],
        &["linear[0=(?a=1 + ?b=2) 1=3]"],
        &["?a=1/?b=2*cos(t) + ?c=2*?d=3*sin(t)"],
        &["exp(-?k=1*?m=2*t)*(?c=1 - ?d=2)"],
        &["ln(?a=1) + ln(?b=2) + t"],
        &["max(?a=1, ?b=2) - t"],
        &["?x=1*?x*?y=2*t"],
        &["3*?a=1 - 5*?b=2 + t"],
    ];
    let text: Vec<String> = catalogue
        .iter()
        .map(|formulas| {
            let found = told(formulas);
            assert!(!found.is_empty(), "{formulas:?}");
            format!("{}\n    {}", formulas.join("\n"), found.join("\n    "))
        })
        .collect();
    insta::assert_snapshot!(text.join("\n"));
}

#[test]
fn nothing_is_found_where_each_is_determined() {
    for formulas in [
        &["?a=1*t + ?b=2"][..],
        &["?a=1*?b=2*t", "?a=1*t"],
        &["?a=1*?b=2*t + ?a"],
        &["?a=1*exp(?b=1*t)"],
        &["?b1=500*(1 - exp(-?b2=0.0001*t))"],
        &["(?a=1 + ?b=2)*t + ?a*?b"],
        &["?a=1*?b=2*t + ?a*?a*?b"],
        &["?a=1 + ?b=2", "?a=1 - ?b=2"],
        &["sin(?a=1*t)*?b=2"],
        &["linear[0=?a=1 1=?b=2]"],
        &["?a=1*t"],
        &["2.0"],
    ] {
        assert_eq!(told(formulas), Vec::<String>::new(), "{formulas:?}");
    }
}

#[test]
fn large_tracks_are_looked_through() {
    const DEEP: usize = 20_000;
    let sum: String = (0..DEEP).map(|k| format!("+ ?p{k}=1*t")).collect();
    assert_eq!(told(&[&format!("t {sum}")]), Vec::<String>::new());
    let chain = format!("{}?a=1*?b=1*t{}", "sin(".repeat(DEEP), ")".repeat(DEEP));
    assert_eq!(told(&[&chain]), ["a and b occur only as a*b: only the product is determined"]);
    let together = format!("t + ?a=1{}", "+ ?b=1 + ?c=1".repeat(DEEP));
    assert_eq!(told(&[&together]).len(), 1);
}
