//! The certified problems, and what the README says of the solvers on them.

use keyfit::SOLVERS;
use keyfit::comparison::{compare, summarize};
use keyfit::suite::{Problem, suite, suite_names};
use keyfit::{FitOptions, fit_channels};

#[test]
fn the_suites_are_all_there() {
    assert_eq!(suite_names(), ["mgh", "motion", "nist", "seeds"]);
    let problems = suite("nist").unwrap();
    assert_eq!((problems.len(), problems.iter().map(|p| p.starts.len()).sum::<usize>()), (27, 54));
    for problem in &problems {
        assert_eq!(problem.standard_errors.len(), problem.certified.len(), "{}", problem.name);
        assert!(problem.sum_of_squares.is_some(), "{}", problem.name);
        assert_eq!(problem.lre(&problem.certified, f64::NAN), 11.0);
    }
    assert!(suite("nits").is_err());
}

/// The model at the certified parameters has the certified sum of squares: the figures were carried over rightly.
#[test]
fn certified_values_give_the_certified_sum_of_squares() {
    for problem in suite("nist").unwrap().iter().filter(|problem| problem.name != "Lanczos1") {
        // Lanczos1's residuals are below what 11 printed digits of its parameters can give
        let channel = &problem.starts[0][0];
        let track = channel.track.substitute_parameters(|name| problem.certified.get(name).copied());
        let sum: f64 =
            channel.targets.iter().map(|target| (track.sample(target.time) - target.value).powi(2)).sum();
        let certified = problem.sum_of_squares.unwrap();
        // 11 digits are printed; Lanczos2's sum of 2e-11 feels the rounding of its parameters
        let bound = if problem.name == "Lanczos2" { 1e-9 } else { 1e-10 };
        assert!(
            (sum - certified).abs() <= bound * certified,
            "{}: {sum:e} is not {certified:e}",
            problem.name
        );
    }
}

/// The sum of squares at the certified parameters of the Moré–Garbow–Hillstrom problems, for the formulas' sake, and the
/// gradient's zero there: they are minima of what is written in the files.
#[test]
fn the_mgh_problems_have_their_published_minima() {
    let problems = suite("mgh").unwrap();
    assert_eq!((problems.len(), problems.iter().map(|p| p.starts.len()).sum::<usize>()), (35, 105));
    for problem in problems.iter().filter(|problem| !problem.certified.is_empty()) {
        let mut sum = 0.0;
        for channel in &problem.starts[0] {
            let track = channel.track.substitute_parameters(|name| problem.certified.get(name).copied());
            sum += channel
                .targets
                .iter()
                .map(|target| (track.sample(target.time) - target.value).powi(2))
                .sum::<f64>();
        }
        let certified = problem.sum_of_squares.unwrap();
        // parameters are written to double precision; residuals of order 1 cancel where the sum is 0
        assert!(
            (sum - certified).abs() <= 1e-9 * certified + 1e-20,
            "{}: {sum:e} is not {certified:e}",
            problem.name
        );
    }
}

/// From the standard start the default solver finds every published minimum, or a local one that is listed.
#[test]
fn the_default_solver_meets_mgh() {
    let solver = keyfit::solvers::lookup("default").unwrap();
    let mut problems = suite("mgh").unwrap();
    problems.iter_mut().for_each(|problem| problem.starts.truncate(1));
    for run in compare(&problems, &[solver], &Default::default(), |_| {}) {
        assert!(run.local_minimum || run.lre >= 6.0, "{}: {} digits, {}", run.problem, run.lre, run.status);
    }
}

/// These reach every optimum.
const BEST: [&str; 2] = ["default", "levenberg-marquardt"];

/// These stand beside Ceres and GSL in docs/nist.md.
const BESIDE_OTHERS: [&str; 4] = ["default", "levenberg-marquardt", "dogleg", "l-bfgs"];

#[test]
fn the_readme_tells_how_the_solvers_do_on_nist() {
    let readme = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../README.md")).unwrap();
    let solvers: Vec<_> = SOLVERS.iter().collect();
    let runs = compare(&suite("nist").unwrap(), &solvers, &Default::default(), |_| {});
    for summary in summarize(&runs, &solvers) {
        let [four, six, eight, ten] = summary.reached;
        let cells = format!("| {four} | {six} | {eight} | {ten} | {} |", summary.other_minima);
        let row = readme.lines().find(|line| line.starts_with(&format!("| {} ", summary.solver)));
        assert!(
            row.is_some_and(|row| row.ends_with(&cells)),
            "{}: {cells} is not in {row:?}",
            summary.solver
        );
        assert_eq!(summary.false_claims, 0, "{}", summary.solver);
        if BEST.contains(&summary.solver) {
            assert_eq!((ten, summary.other_minima), (54, 0));
        }
    }
    let table = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/nist.md")).unwrap();
    for summary in summarize(&runs, &BESIDE_OTHERS.map(|name| keyfit::solvers::lookup(name).unwrap())) {
        let own = runs.iter().filter(|run| run.solver == summary.solver);
        let jacobians: u64 = own.map(|run| run.jacobian_evaluations).sum();
        let [four, six, eight, ten] = summary.reached;
        let row = format!(
            "| keyfit {} | {} | {jacobians} | {four} | {six} | {eight} | {ten} | {} |",
            summary.solver, summary.residual_evaluations, summary.other_minima
        );
        assert!(table.lines().any(|line| line == row), "docs/nist.md should have {row}");
    }
    for run in runs.iter().filter(|run| BEST.contains(&run.solver)) {
        assert!(run.converged, "{} start {}: {}", run.problem, run.start, run.status);
    }
    // what is called converged is a minimum, be it another one than the certified: no slope, and no way down
    for run in runs.iter().filter(|run| run.converged) {
        let evidence = run.evidence.unwrap();
        let least = evidence.smallest_eigenvalue.unwrap();
        // at Lanczos1 the residuals themselves are rounding, and so is their direction
        let level = evidence.scaled_gradient <= 1e-6 || run.problem == "Lanczos1";
        assert!(evidence.exact && level && least > -1e-8, "{} {}: {evidence:?}", run.problem, run.solver);
        assert!(run.lre >= 4.0 || least > 1e-9, "{} {}: {evidence:?}", run.problem, run.solver);
    }
}

/// A linear fit to motion capture, of a scene with a looped clock: all solvers meet it, and its standard errors.
#[test]
fn the_walk_is_met() {
    let mut problems = suite("motion").unwrap();
    problems.retain(|problem| problem.name == "walk");
    let solvers: Vec<_> = SOLVERS.iter().collect();
    for run in compare(&problems, &solvers, &Default::default(), |_| {}) {
        // values alone are flat to rounding where the parameters have half of their digits
        let digits = if run.solver == "nelder-mead" { 7.0 } else { 10.0 };
        assert!(run.converged && run.lre >= digits, "{} {}: {}", run.problem, run.solver, run.status);
    }
    let fit = keyfit::fit_channels(problems[0].starts[0].clone(), &Default::default()).unwrap();
    for error in fit.standard_errors.unwrap() {
        assert!(keyfit::accuracy::lre(error.value, problems[0].standard_errors[&error.name]) > 10.0);
    }
    assert!(keyfit::accuracy::lre(fit.final_residual, problems[0].sum_of_squares.unwrap()) > 10.0);
}

#[test]
fn equivalent_answers_count() {
    let find = |suite_name: &str, name: &str| -> Problem {
        suite(suite_name).unwrap().into_iter().find(|problem| problem.name == name).unwrap()
    };
    let mgh17 = find("nist", "MGH17");
    let mut swapped = mgh17.certified.clone();
    for (a, b) in [("b2", "b3"), ("b4", "b5")] {
        swapped.insert(a.into(), mgh17.certified[b]);
        swapped.insert(b.into(), mgh17.certified[a]);
    }
    assert_eq!(mgh17.lre(&swapped, f64::NAN), 11.0);
    swapped.insert("b4".into(), mgh17.certified["b4"]);
    assert!(mgh17.lre(&swapped, f64::NAN) < 1.0);

    let arc = find("seeds", "arc");
    let mut turned = arc.certified.clone();
    turned.insert("x_amp".into(), -arc.certified["x_amp"]);
    turned.insert("x_phase".into(), arc.certified["x_phase"] + 5.0 * std::f64::consts::PI);
    assert!(arc.lre(&turned, f64::NAN) > 10.9);
    turned.insert("x_phase".into(), arc.certified["x_phase"]);
    assert!(arc.lre(&turned, f64::NAN) < 1.0);
}

/// A problem's columns and its scene may hold what velocities and accelerations must be.
#[test]
fn rates_are_targets_of_problems() {
    let scene = "#rectsl\n\"m\" rect ?x ->x '( 0=3 ) ->x.velocity-targets ;";
    let scene = scene.replace("?x", "0 free-param a 0 free-param b t mul add 1 free-param c t mul t mul add");
    let solved = |model: &str, column: &str, more: &str| {
        let text = format!(
            "name = \"p\"\nmodel = '''{model}'''\n{more}[data]\nt = [0.0, 5.0]\n{column}\n[certified]\nsum_of_squares = 0.0\n"
        );
        let problem = Problem::parse("s", "s/p.toml", &text).map_err(|e| e.to_string())?;
        let fit = fit_channels(problem.starts[0].clone(), &FitOptions::default()).unwrap();
        Ok::<_, String>(["a", "b", "c"].map(|name| fit.value(name).unwrap()))
    };
    let start = "[[starts]]\na = 7.0\nb = 0.0\nc = 1.0\n";
    let [a, b, c] = solved(&scene, "\"m.x\" = [1.0, 11.0]", start).unwrap();
    assert!((a - 1.0).abs() + (b - 3.0).abs() + (c + 0.2).abs() < 1e-12, "{a} {b} {c}");
    // a + bt + ct²: the velocities 3 and 1 make c = −0.2, the acceleration −0.4 is theirs
    let rates = "y = [1.0, 11.0]\n\"y.velocity\" = [3.0, 1.0]\n\"y.acceleration\" = [-0.4, -0.4]";
    let [a, b, c] = solved("?a + ?b*t + ?c*t^2", rates, start).unwrap();
    assert!((a - 1.0).abs() + (b - 3.0).abs() + (c + 0.2).abs() < 1e-12, "{a} {b} {c}");
    let responding = format!("response = \"ln(y)\"\n{start}");
    let error = solved("?a + ?b*t + ?c*t^2", rates, &responding).unwrap_err();
    assert_eq!(error, "s/p.toml: beside a response there is no place for y.acceleration");
    let error = solved(&scene, "\"x.speed\" = [1.0, 2.0]", start).unwrap_err();
    assert_eq!(error, "s/p.toml: the column x.speed is no channel of the scene");
}

/// A model's own starts are those of the file where it has some, and columns of weights weigh.
#[test]
fn starts_and_weights_of_files_count() {
    let problem = |text: &str| Problem::parse("s", "s/p.toml", text).unwrap();
    let own = problem(
        "name = \"p\"\nmodel = \"?a=1*t + b + ?c=3\"\nstarts = [{ a = 2, b = 5 }, { a = 50, b = 6 }]\n\
         [data]\nt = [0, 1]\ny = [1, 2]\n",
    );
    let starts: Vec<Vec<f64>> = (own.starts.iter())
        .map(|start| start[0].track.free_parameters().iter().map(|p| p.start()).collect())
        .collect();
    assert_eq!(starts, [[2.0, 5.0, 3.0], [50.0, 6.0, 3.0]]);
    let zeros = problem(
        "name = \"p\"\nzeros = [\"?u=2^2 - 4\", \"?u - 1\"]\nstarts = [{ u = 7 }]\n[certified]\nsum_of_squares = 0.5\n",
    );
    let started = |channel: &keyfit::Channel| channel.track.free_parameters()[0].start();
    assert_eq!(zeros.starts[0].iter().map(started).collect::<Vec<_>>(), [7.0, 7.0]);
    let weighed = |column: &str| {
        let text =
            format!("name = \"p\"\nmodel = \"?a=1 + 0*t\"\n[data]\nt = [0, 1]\ny = [1, 5]\n{column}\n");
        fit_channels(problem(&text).starts[0].clone(), &FitOptions::default()).unwrap().value("a").unwrap()
    };
    let scene = "#rectsl\n\"m\" rect 1 free-param a ->x ;";
    let weighed_scene = format!(
        "name = \"p\"\nmodel = '''{scene}'''\n[data]\nt = [0, 1]\n\"m.x\" = [1, 5]\n\"m.x.sd\" = [1, 0.5]\n"
    );
    // means of 1 and 5, weighed
    assert!((weighed("") - 3.0).abs() < 1e-12);
    assert!((weighed("\"y.weight\" = [3, 1]") - 2.0).abs() < 1e-12);
    assert!((weighed("\"y.sd\" = [1, 0.5]") - 4.2).abs() < 1e-12);
    let fit = fit_channels(problem(&weighed_scene).starts[0].clone(), &FitOptions::default()).unwrap();
    assert!((fit.value("a").unwrap() - 4.2).abs() < 1e-12);
}

/// The problem that the page on problem files shows is one, and is met.
#[test]
fn the_page_on_problem_files_shows_a_problem() {
    let text = keyfit::suite::FORM.split("```toml\n").nth(1).unwrap().split("```").next().unwrap();
    let problem = Problem::parse("own", "cooling.toml", text).unwrap();
    assert_eq!((problem.name.as_str(), problem.starts.len()), ("cooling", 2));
    for start in &problem.starts {
        let fit = fit_channels(start.clone(), &FitOptions::default()).unwrap();
        assert!(problem.digits(f64::NAN, fit.final_residual) > 9.0, "{}", fit.final_residual);
    }
}

#[test]
fn a_file_that_is_no_problem_says_why() {
    let error = |text: &str| Problem::parse("s", "s/p.toml", text).unwrap_err().to_string();
    let file = |model: &str, rest: &str| {
        format!("name = \"p\"\nmodel = '''{model}'''\ncertified = {{ parameters = {{ a = 1.0 }} }}\n{rest}")
    };
    let mut report = String::new();
    for text in [
        file("?a=1*t", "[data]\nt = [1, 2]\ny = [1]"),
        file("?a=1*t", "[data]\nt = [1, 2]\nz = [1, 2]"),
        file("?a=1*(t", "[data]\nt = [1]\ny = [1]"),
        file("?a=1*t", "[data]\nt = [1]\ny = ['one']"),
        file("?a=1*t", "colour = 3\n[data]\nt = [1]\ny = [1]"),
        file("?a=1*t + x", "[data]\nt = [1, 0]\ny = [1, 2]\nx = [1, 2]"),
        "name = \"p\"\n[certified]\nparameters = { a = 1.0 }".to_owned(),
        "name = \"p\"\nzeros = [\"a - \"]\n[certified]\nparameters = { a = 1.0 }".to_owned(),
        file("#rectsl \\\"m\\\" rect 1 free-param a ->x ;", "[data]\nt = [1]\nz = [1]"),
        file("?b=1*t", "[data]\nt = [1]\ny = [1]"),
        file("?a=1*t", "starts = [{ a = 1, aa = 2 }]\n[data]\nt = [1]\ny = [1]"),
        file("?a=1*t", "[data]\nt = [1, 2]\ny = [1, nan]"),
        file("?a=1*t", "[data]\nt = [1]\ny = [1]\n\"y.weight\" = [-1]"),
        file("?a=1*t", "[data]\nt = [1]\ny = [1]\n\"y.sd\" = [0]"),
        file("?a=1*t", "[data]\nt = [1]\ny = [1]\n\"y.sd\" = [1]\n\"y.weight\" = [1]"),
        file("?a=1*t + ?a=2", "[data]\nt = [1]\ny = [1]"),
        file("?a=1*t", "[data]\nt = [1]\ny = [1]\n\"y.weights\" = [1]"),
        file("?a=1*t", "[data]\nt = [1]\ny = [1]\n\"y.velocity.sd\" = [1]"),
        file("?a=1*u", "[data]\nt = [0, 1, 1]\ny = [1, 2, 3]\nu = [1, 2, 3]"),
        file("?a=1*t", "response = \"y*t\"\n[data]\nt = [1]\ny = [1]"),
        file("?a=1*t", "response = \"?q=3*y\"\n[data]\nt = [1]\ny = [1]"),
        file("?a=1*t", "starts = [{ a = nan }]\n[data]\nt = [1]\ny = [1]"),
        file("?a=1*t", "period = { b = \"tau\" }\n[data]\nt = [1]\ny = [1]"),
        file("#rectsl\n\"m\" rect 1 free-param a ->x ;", "response = \"ln(y)\"\n[data]\nt = [1]\nx = [1]"),
        "name = \"p\"\nzeros = [\"?u=1 - 1\", \"?u=2 - 1\"]".to_owned(),
        "name = \"p\"\nzeros = [\"?u=1 - 1\"]\n[certified]\nsum_of_squares = -1".to_owned(),
    ] {
        report += &format!("{}\n---\n", error(&text));
    }
    insta::assert_snapshot!(report);
}

/// A million are compared by the program; here fewer, with nothing left out.
#[test]
fn all_ways_to_evaluate_agree() {
    let run = keyfit::agreement::agreement(100_000, 2);
    assert_eq!(run.disagreement, None);
    assert!(run.triples >= 100_000 && run.finite > run.triples / 2, "{run:?}");
    assert!(run.operations_missing.is_empty() && run.shapes_missing.is_empty(), "{run:?}");
}

/// The table beside Ceres tells how often we evaluate; times and Ceres's own counts are of the run that it was printed from.
#[test]
fn the_counts_beside_ceres_are_in_step() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let table = std::fs::read_to_string(folder.join("docs/nist.md")).unwrap();
    let mut rows = 0;
    for problem in suite("nist").unwrap() {
        for (k, start) in problem.starts.iter().enumerate() {
            let fit = fit_channels(start.clone(), &FitOptions::default()).unwrap();
            let values = fit.parameters.iter().map(|p| (p.name.clone(), p.value)).collect();
            let row = format!(
                "| {} | {} | {}, {}, {:.1}, ",
                problem.name,
                k + 1,
                fit.residual_evaluations,
                fit.jacobian_evaluations,
                problem.lre(&values, fit.final_residual)
            );
            assert!(
                table.contains(&row),
                "docs/nist.md should have {row}: cargo bench --bench ceres -- --markdown"
            );
            rows += 1;
        }
    }
    assert_eq!(rows, 54);
}
