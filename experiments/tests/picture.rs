//! The README's picture is made from the code.

use keyfit::SOLVERS;
use keyfit::chart::convergence;
use keyfit::comparison::compare;
use keyfit::suite::suite;

const NINE: [&str; 9] = [
    "levenberg-marquardt",
    "dogleg",
    "gauss-newton",
    "bfgs",
    "l-bfgs",
    "nonlinear-cg",
    "steepest-descent",
    "l-bfgs-argmin",
    "gradient-descent",
];

#[test]
fn convergence_of_the_arc() {
    let problems: Vec<_> =
        suite("seeds").unwrap().into_iter().filter(|problem| problem.name == "arc").collect();
    // more lines than these cannot be told apart in one picture
    let solvers: Vec<_> = SOLVERS.iter().filter(|solver| NINE.contains(&solver.name)).collect();
    assert_eq!(solvers.len(), NINE.len());
    let runs = compare(&problems, &solvers, &Default::default(), |_| {});
    let svg = convergence("Six numbers of an arc", &runs.iter().collect::<Vec<_>>()).unwrap();
    insta::assert_binary_snapshot!(".svg", svg.into_bytes());
}
