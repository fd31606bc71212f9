//! The README's picture is made from the code.

use keyfit::SOLVERS;
use keyfit::chart::convergence;
use keyfit::comparison::compare;
use keyfit::suite::suite;

#[test]
fn convergence_of_the_arc() {
    let problems: Vec<_> =
        suite("seeds").unwrap().into_iter().filter(|problem| problem.name == "arc").collect();
    let solvers: Vec<_> = SOLVERS.iter().collect();
    let runs = compare(&problems, &solvers, &Default::default(), |_| {});
    let svg = convergence("Six numbers of an arc", &runs.iter().collect::<Vec<_>>()).unwrap();
    insta::assert_binary_snapshot!(".svg", svg.into_bytes());
}
