//! What a problem may say beside its targets: ties, logarithms, priors, velocities, missing cells, deviations.

use crate::folder::{Folder, session};

#[test]
fn ties_logarithms_priors_and_velocities() {
    let folder = Folder::new("knowledge");
    folder.write("marker.rectsl", include_str!("../../examples/marker.rectsl"));
    folder.write(
        "rates.rectsl",
        "\"m\" rect\n  0 free-param a  0 free-param b t mul  add  1 free-param c t mul t mul  add ->x\n  '( 0=1 ) ->x-targets\n  \
         '( 0=3 ) ->x.velocity-targets\n  '( 5=-2 ) ->x.acceleration-targets\n;\n",
    );
    folder.write(
        "rates.yaml",
        "id: s\nduration: 40\ntracks:\n  - type: camera\n    keyframes:\n      - {tick: 0, position: [{free: from, value: 0}, 0, 0]}\n      \
         - {tick: 40, position: [{free: to, value: 1}, 0, 0]}\n    targets:\n      - {tick: 0, x: 2, velocity: {x: 3}}\n",
    );
    folder.write(
        "end.yaml",
        "id: s\nduration: 40\ntracks:\n  - type: camera\n    data: {path-mode: spline}\n    keyframes:\n      - {tick: 0, position: [0, 0, 0]}\n      \
         - {tick: 20, position: [{free: mid, value: 1}, 0, 0]}\n      - {tick: 40, position: [{free: to, value: 3}, 0, 0]}\n    \
         targets:\n      - {tick: 10, x: 2}\n      - {tick: 40, velocity: {x: 3}}\n",
    );
    let line = ["fit", "?a=1*t + ?b=2 + ?c=0*t^2", "--target", "0=1,1=3.5,2=5,3=7.5,4=9"];
    let with = |more: &[&'static str]| -> Vec<&'static str> { line.iter().chain(more).copied().collect() };
    let lines = [
        with(&["--tie", "b=2*a + 1", "--tie", "c=b/8"]),
        with(&["--tie", "b=2*a + 1", "--json", "--confidence", "0.5", "--fix", "c"]),
        with(&["--tie", "b=c", "--tie", "c=b"]),
        with(&["--tie", "b=2*d"]),
        with(&["--tie", "x=2*a"]),
        with(&["--tie", "b=a*t"]),
        with(&["--tie", "b=2*(a"]),
        with(&["--tie", "b=a", "--tie", "b=c"]),
        with(&["--tie", "b=a", "--fix", "b"]),
        with(&["--tie", "b"]),
        with(&["--log", "a,b", "--fix", "c"]),
        with(&["--log", "c"]),
        with(&["--log", "d"]),
        with(&["--prior", "a=2±0.001,c=0+-0.5"]),
        with(&["--prior", "a=2"]),
        with(&["--prior", "a=2±0"]),
        with(&["--prior", "d=2±1"]),
        with(&["--confidence", "1"]),
        vec![
            "fit",
            "?a=0 + ?b=0*t + ?c=1*t^2",
            "--target",
            "0=1",
            "--target",
            "y.velocity:0=3",
            "--target",
            "y.acceleration:5=-2",
        ],
        vec!["fit", "marker.rectsl", "--target", "x:1=-4", "--target", "marker.x.velocity:2=0.5"],
        vec!["fit", "marker.rectsl", "--target", "x.speed:2=0.5"],
        vec!["fit", "rates.rectsl"],
        vec!["fit", "rates.rectsl", "--target", "x.velocity:3=0.5"],
        vec!["fit", "rates.yaml"],
        vec!["sample", "rates.rectsl", "--at", "1"],
        vec!["describe", "rates.rectsl"],
        vec!["describe", "rates.yaml", "--json"],
        vec!["fit", "end.yaml"],
        vec!["fit", "abs(t-1)*?a=1", "--target", "y.velocity:1=3", "--json"],
        vec!["fit", "linear[0=0 2=?e=1]", "--target", "y.velocity:2=3", "--json"],
        vec!["fit", "linear[0=0 1=?p=1 2=0 3=0]", "--target", "y.velocity:2.5=3"],
        vec!["fit", "sqrt(?a=1*t)", "--target", "y.velocity:0=3"],
        vec!["fit", "floor(?a=1*t)", "--target", "y.velocity:0.5=3"],
        vec!["fit", "2*t", "--all-numbers", "--target", "y.velocity:0.5=3"],
        vec!["fit", "linear[0=?a=0 1=?b=1]*?gain=2", "--target", "0=1,0.5=2,1=3,3=3"],
    ];
    insta::assert_snapshot!(session(&folder, &lines.iter().map(Vec::as_slice).collect::<Vec<_>>()));
}

#[test]
fn missing_cells_and_deviations() {
    let folder = Folder::new("missing");
    folder.write(
        "holes.csv",
        "t,u,y,y.sd\n0,1,1,0.5\n1,2,,0.5\n2,NA,5,0.5\n3,4,7.5,NaN\n4,5,9,1\nnull,6,11,1\n6,7,13,1\n",
    );
    folder.write("all.csv", "t,y\n0,\n1,NA\n");
    folder.write("zero.csv", "t,y,y.sd\n0,1,0.5\n1,2,0\n");
    folder.write("both.csv", "t,y,y.sd,y.weight\n0,1,0.5,1\n");
    folder.write("rates.csv", "t,y,y.velocity,y.velocity.sd\n0,1,3,0.1\n1,4.5,NA,0.1\n2,7,3,0.1\n");
    let line =
        |model: &'static str, file: &'static str| vec!["fit", model, "--data", file, "--missing", "skip"];
    let lines = [
        vec!["fit", "?a=1 + ?b=1*t", "--data", "holes.csv"],
        line("?a=1 + ?b=1*t", "holes.csv"),
        line("?a=1 + ?b=1*u", "holes.csv"),
        line("?a=1 + ?b=1*t", "all.csv"),
        line("?a=1 + ?b=1*t", "zero.csv"),
        line("?a=1 + ?b=1*t", "both.csv"),
        line("?a=1 + ?b=1*t", "rates.csv"),
    ];
    insta::assert_snapshot!(session(&folder, &lines.iter().map(Vec::as_slice).collect::<Vec<_>>()));
}
