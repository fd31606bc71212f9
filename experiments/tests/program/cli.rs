//! The program: what it prints, and its exit codes.

use crate::folder::{Folder, session, transcript};

const MARKER: &str = include_str!("../../examples/marker.rectsl");

#[test]
fn fit_speaks_json() {
    let folder = Folder::new("json");
    folder.write("marker.rectsl", MARKER);
    let text = session(
        &folder,
        &[
            &["fit", "marker.rectsl", "--target", "x:1=-4,3=4", "--json"],
            &["fit", "floor(?p=1) + ?q=0*t", "--target", "1=2", "--json"],
            &["fit", "?a=1 + ?b=0", "--target", "1=2,2=4", "--json"],
            &[
                "fit",
                "?a=1*exp(t)",
                "--target",
                "1=2,2=4",
                "--json",
                "--solver",
                "gradient-descent",
                "--iterations",
                "2",
            ],
        ],
    );
    insta::assert_snapshot!(text);
}

#[test]
fn misra1a_agrees_with_the_certified_values() {
    let folder = Folder::new("misra");
    folder.write("misra1a.csv", include_str!("../../examples/misra1a.csv"));
    let line = ["fit", "b1*(1-exp(-b2*t))", "--data", "misra1a.csv", "--start", "b1=500,b2=0.0001", "--json"];
    let output = folder.run(&line);
    let fit: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    for (of, name, certified) in [
        ("parameters", "b1", 2.3894212918E+02),
        ("parameters", "b2", 5.5015643181E-04),
        ("standard_errors", "b1", 2.7070075241E+00),
        ("standard_errors", "b2", 7.2668688436E-06),
    ] {
        let digits = keyfit::accuracy::lre(fit[of][name].as_f64().unwrap(), certified);
        assert!(digits >= 9.0, "{of} {name}: {digits} digits");
    }
    assert!(keyfit::accuracy::lre(fit["final_residual"].as_f64().unwrap(), 1.2455138894E-01) >= 9.0);
}

#[test]
fn derive_prints_tracks() {
    let folder = Folder::new("derive");
    folder.write("marker.rectsl", MARKER);
    let text = session(
        &folder,
        &[
            &["derive", "?b1=500*(1-exp(-?b2=0.0001*t))", "--wrt", "b2"],
            &["derive", "?b1=500*(1-exp(-?b2=0.0001*t))", "--wrt", "?b1", "--order", "2"],
            &["derive", "sin(2*t)", "--wrt", "t", "--order", "2"],
            &["derive", "marker.rectsl", "--wrt", "t"],
            &["derive", "marker.rectsl", "--wrt", "gain", "--channel", "x", "--json"],
            &["derive", "?b1=500*(1-exp(-?b2=0.0001*t))", "--jacobian"],
            &["derive", "?b1=500*(1-exp(-?b2=0.0001*t))", "--wrt", "b1,t", "--order", "2"],
            &["derive", "?b1=2*sin(?b2=3*t)/(?b2*t)", "--wrt", "b2"],
            &["derive", "?b1=2*sin(?b2=3*t)/(?b2*t)", "--wrt", "b2", "--algebra"],
            &["derive", "marker.rectsl", "--heading", "x,y"],
            &["derive", "marker.rectsl", "--heading", "x"],
            &["derive", "marker.rectsl", "--heading", "x,q"],
            &["derive", "clamp(t,0,4)*?a=1", "--wrt", "a", "--bound", "a=0..1", "--duration", "3"],
            &["derive", "marker.rectsl", "--wrt", "gian"],
            &["derive", "sin(t)", "--wrt", "rate"],
            &["derive", "marker.rectsl", "--wrt", "t", "--channel", "z"],
        ],
    );
    insta::assert_snapshot!(text);
}

#[test]
fn describe_sample_and_tables() {
    let folder = Folder::new("print");
    folder.write("marker.rectsl", MARKER);
    let text = session(
        &folder,
        &[
            &["describe", "marker.rectsl"],
            &["describe", "marker.rectsl", "--json", "--start", "gain=2"],
            &["describe", "a*sin(t)^2", "--start", "a=-0.5"],
            &["sample", "marker.rectsl", "--at", "0,0.5,4"],
            &["sample", "?a=2*t", "--to", "1", "--count", "3"],
            &["sample", "1/t", "--at", "0,-0.0", "--json"],
            &["sample", "(exp(t) - 1 - t)/t^2", "--at", "1e-9,1,2", "--digits", "40"],
            &["sample", "floor(?a=1 + sin(t)*0)", "--at", "0.1", "--digits", "3"],
            &["solvers"],
        ],
    );
    insta::assert_snapshot!(text);
}

#[test]
fn bad_input_is_told_where_and_what_to_do() {
    let folder = Folder::new("bad");
    folder.write("marker.rectsl", MARKER);
    folder.write("word.rectsl", MARKER.replace("track-ref", "track-reff"));
    folder.write("list.rectsl", MARKER.replace("4=4 )", "4=4"));
    folder.write("thrice.rectsl", MARKER.replace("4=4 )", "0=1 0=2 4=4 )"));
    folder.write("order.rectsl", MARKER.replace("4=4 )", "4=4 3=1 )"));
    folder.write("keytime.rectsl", MARKER.replace("4=4 )", "4 free-param when=4 )"));
    folder.write("two.rectsl", MARKER.replace("free-param bias", "free-param gain"));
    folder.write("nan.csv", "t,y\n0,1\n1,NaN\n");
    folder.write("text.csv", "t,y\n0,1\n1,about 3\n");
    folder.write("ragged.csv", "t,y\n0,1\n1\n");
    folder.write("headless.csv", "0,1\n1,2\n");
    folder.write("empty.csv", "");
    folder.write("channel.csv", "t,x,zz\n0,1,2\n");
    folder.write("latin1.csv", [b't', b',', 0xe9, b'\n']);
    folder.write("rate.csv", "t,x,y,y.velcity,y.velocity.weigth\n0,1,2,3,1\n");
    let text = session(
        &folder,
        &[
            &["fit", "word.rectsl", "--target", "x:1=1"],
            &["fit", "list.rectsl", "--target", "x:1=1"],
            &["fit", "thrice.rectsl", "--target", "x:1=1"],
            &["fit", "order.rectsl", "--target", "x:1=1"],
            &["fit", "keytime.rectsl", "--target", "x:1=1"],
            &["fit", "two.rectsl", "--target", "x:1=1"],
            &["fit", "missing.rectsl", "--target", "x:1=1"],
            &["fit", "?a=1*t", "--data", "nan.csv"],
            &["fit", "?a=1*t", "--data", "text.csv"],
            &["fit", "?a=1*t", "--data", "ragged.csv"],
            &["fit", "?a=1*t", "--data", "headless.csv"],
            &["fit", "?a=1*t", "--data", "empty.csv"],
            &["fit", "?a=1*t", "--data", "latin1.csv"],
            &["fit", "marker.rectsl", "--data", "channel.csv"],
            &["fit", "marker.rectsl", "--target", "1=2"],
            &["fit", "marker.rectsl", "--target", "q:1=2"],
            &["fit", "marker.rectsl", "--target", "x.velcity:1=2"],
            &["fit", "marker.rectsl", "--data", "rate.csv"],
            &["fit", "?a=1*t", "--data", "rate.csv"],
            &["fit", "?a=1*t", "--target", "1=2", "--solver", "lm"],
            &["fit", "marker.rectsl"],
            &["fit", "?a=1*t", "--target", "1:2"],
            &["fit", "?a=1*t", "--target", "1=two"],
            &["fit", "b1*t", "--target", "1=2"],
            &["fit", "?a=1*t", "--target", "1=2", "--start", "b=2"],
            &["fit", "?a=1*t", "--target", "1=2", "--solver", "levenberg"],
            &["fit", "?a=1*t", "--target", "1=2,3=4", "--window", "0,2"],
            &["fit", "2*t", "--target", "1=2"],
            &["fit", "floor(?a=1)*t", "--target", "1=2"],
            &["fit", "ln(?a=-1)*t", "--target", "1=2"],
            &["fit", "?a=1*t", "--target", "1=2", "--all-numbers"],
            &["compare", "nits"],
            &["compare", "nist", "--problem", "Misra1"],
        ],
    );
    insta::assert_snapshot!(text);
}

#[test]
fn scenes_in_yaml() {
    let camera = include_str!("../../examples/camera.yaml");
    let folder = Folder::new("yaml");
    folder.write("camera.yaml", camera);
    folder.write("path.yml", camera.replace("path-mode: spline", "path-mode: centripetal"));
    folder.write("times.csv", "t,camera.x,camera.y\n2,12,70\n");
    let text = session(
        &folder,
        &[
            &["describe", "camera.yaml"],
            &["describe", "path.yml", "--start", "lift=70"],
            &["sample", "camera.yaml", "--at", "0,1,2,3"],
            &["sample", "camera.yaml", "--at", "1.5", "--derivatives"],
            &["fit", "camera.yaml"],
            &["fit", "path.yml", "--json"],
            &["fit", "camera.yaml", "--data", "times.csv", "--target", "actor.guard.x:1=11"],
            &["glsl", "camera.yaml", "--channel", "camera.y"],
            &["glsl", "path.yml", "--channel", "camera.y"],
        ],
    );
    insta::assert_snapshot!(text);
    // a line a tick, at the tick's time
    let frames = String::from_utf8(folder.run(&["sample", "camera.yaml"]).stdout).unwrap();
    let times: Vec<f64> =
        frames.lines().skip(1).map(|line| line.split(',').next().unwrap().parse().unwrap()).collect();
    assert_eq!(times, (0..=80).map(|tick| f64::from(tick) / 20.0).collect::<Vec<_>>());
}

#[test]
fn bad_yaml_is_told_where_and_what_to_do() {
    let camera = include_str!("../../examples/camera.yaml");
    let folder = Folder::new("bad-yaml");
    let write = |name: &str, from: &str, to: &str| {
        assert!(camera.contains(from), "{from}");
        folder.write(name, camera.replace(from, to));
    };
    write(
        "several.yaml",
        "{tick: 80, position: [24, 65, 0], yaw: -90",
        "{tick: 80.5, position: [24, 65], yaww: -90",
    );
    write("syntax.yaml", "[24, 65, 0]", "[24, 65, 0");
    write("easing.yaml", "ease_in_out", "ease_in_owt");
    write("free.yaml", "tick: 40", "tick: {free: when, value: 40}");
    write("two.yaml", "{free: tilt, value: 10}", "{free: lift, value: 10}");
    write(
        "aimless.yaml",
        "    targets:\n      - {tick: 30, y: 71.5, fov: 80} # clear of the gate, and all of it in view\n      - {tick: 50, pitch: 20}\n",
        "",
    );
    write("nowhere.yaml", "tick: 50, pitch", "tick: 500, pitch");
    let text = session(
        &folder,
        &[
            &["fit", "several.yaml"],
            &["fit", "syntax.yaml"],
            &["describe", "easing.yaml"],
            &["fit", "free.yaml"],
            &["fit", "two.yaml"],
            &["fit", "aimless.yaml"],
            &["fit", "nowhere.yaml"],
            &["fit", "easing.yml"],
            &["fmt", "aimless.yaml"],
            &["fit", "aimless.yaml", "--target", "camera.roll:1=2"],
        ],
    );
    insta::assert_snapshot!(text);
    // of very many errors only the first are printed
    let keys = "      - {tick: 0, position: 0}\n".repeat(20_000);
    folder
        .write("many.yaml", format!("id: s\nduration: 9\ntracks:\n  - type: camera\n    keyframes:\n{keys}"));
    let output = folder.run(&["describe", "many.yaml"]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(
        said.matches("error: ").count() == 31 && said.ends_with("error: many.yaml: 39969 more errors\n"),
        "{said}"
    );
}

/// Each of these once gave a wrong answer, a wrong place or no help.
#[test]
fn what_newcomers_met() {
    let folder = Folder::new("newcomers");
    folder.write("marker.rectsl", MARKER);
    folder.write("time.csv", "time,y\n10,1\n20,2\n30,3\n");
    folder.write("rows.csv", "x,y\n10,1\n20,2\n30,3\n");
    folder.write("weight.csv", "t,y,y.weigth\n0,1,1\n1,2,1\n2,9,0\n");
    folder.write("zero.csv", "t,y,y.weight\n0,1,1\n1,2,1\n2,3.5,1\n3,99,0\n");
    folder.write("negative.csv", "t,y,y.weight\n0,1,1\n1,2,-1\n");
    folder.write("semicolon.csv", "t;y\n0;1\n");
    folder.write("comma.rectsl", "\"a,b\" rect 1 ->x ; \"a:b\" rect 1 free-param p ->x ;");
    let text = session(
        &folder,
        &[
            &["fit", "?a=1*t + ?b=0", "--data", "time.csv"],
            &["fit", "marker.rectsl", "--data", "rows.csv"],
            &["fit", "a*x", "--start", "a=1", "--data", "rows.csv"],
            &["fit", "a*x", "--start", "a=1,x=2", "--data", "rows.csv"],
            &["fit", "?a=1*t + ?b=0", "--data", "weight.csv", "--json"],
            &["fit", "?a=1*t + ?b=0", "--data", "zero.csv"],
            &["fit", "?a=1*t", "--data", "negative.csv"],
            &["fit", "?a=1*t", "--data", "semicolon.csv"],
            &["fit", "a+b+c+t", "--start", "a=1,b=1,c=2", "--target", "0=1,1=3,2=5.5"],
            &["fit", "-b1*t+b2", "--start", "b1=1,b2=2", "--target", "1=2,2=1"],
            &["fit", "linear[?z=0=0 4=4]", "--target", "1=1", "--json"],
            &["fit", "?a=1e200*t", "--target", "1=1", "--json"],
            &["fit", "?a=1*t", "--target", "y:1=2,2=abc"],
            &["fit", "?a=1*t", "--target", "1=2,y:2=3"],
            &["fit", "comma.rectsl", "--target", "a:b.x:0.5=1"],
            &["fit", "data/nosuch.txt", "--target", "1=1"],
            &["fit", ".", "--target", "1=1"],
            &["fit", "?a=1*t", "--target", "1=2", "--learning-rate", "-1"],
            &["compare", "nist", "--problem", "Misra1a", "--learning-rate", "nan"],
            &["compare", "nist", "--out", "time.csv"],
            &["sample", "comma.rectsl", "--at", "0"],
            &["sample", "t", "--from", "-1e308", "--to", "1e308"],
            &["sample", "ln(t-1)", "--at", "0,1,2", "--json"],
            &["fit", "marker.rectsl", "--target", "y:1=0"],
        ],
    );
    insta::assert_snapshot!(text);
}

/// The tables in `docs` are what the program prints, and the figure is what it draws.
#[test]
fn the_documents_are_in_step() {
    let folder = Folder::new("docs");
    folder.write("arc.rectsl", include_str!("../../examples/arc.rectsl"));
    let figure = String::from_utf8(folder.run(&["plot", "arc.rectsl"]).stdout).unwrap();
    let kept =
        std::fs::read_to_string(crate::folder::root().join("experiments/docs/arc.svg")).unwrap_or_default();
    assert_eq!(
        figure, kept,
        "run: keyfit plot experiments/examples/arc.rectsl --out experiments/docs/arc.svg"
    );
    for (command, file) in [("ops", "operations.md"), ("easings", "easings.md")] {
        let printed = String::from_utf8(folder.run(&[command, "--markdown"]).stdout).unwrap();
        let path = crate::folder::root().join("experiments/docs").join(file);
        let kept = std::fs::read_to_string(path).unwrap_or_default();
        assert_eq!(printed, kept, "run: keyfit {command} --markdown > experiments/docs/{file}");
    }
}

#[test]
fn a_scene_may_hold_its_targets() {
    let folder = Folder::new("targets");
    folder.write("own.rectsl", MARKER.replace(";\n", "  '( 1=-4  3=4 ) ->x-targets\n;\n"));
    folder.write("arc.rectsl", include_str!("../../examples/arc.rectsl"));
    folder.write("keytime.rectsl", MARKER.replace("4=4 )", "4 free-param when=4 )"));
    folder.write("wrong.rectsl", MARKER.replace("4=4 )", "4 )").replace("gain *", "gain * *"));
    let text = session(
        &folder,
        &[
            &["fit", "own.rectsl"],
            &["fit", "own.rectsl", "--target", "x:2=0.5"],
            &["fit", "keytime.rectsl"],
            &["fit", "wrong.rectsl"],
            &["fit", "arc.rectsl", "--solver", "gauss-newton"],
            &["easings"],
            &["verify", "identities"],
        ],
    );
    insta::assert_snapshot!(text);
}

#[test]
fn the_table_of_mgh_is_in_step() {
    let folder = Folder::new("mgh");
    let line = ["compare", "mgh", "--solver", "default", "--solver", "levenberg-marquardt", "--markdown"];
    let output = folder.run(&[&line[..], &["--out", "out"]].concat());
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let kept =
        std::fs::read_to_string(crate::folder::root().join("experiments/docs/mgh.md")).unwrap_or_default();
    let kept = kept.split_once("\n\n").map_or("", |(_, table)| table);
    assert!(
        printed == kept,
        "put under the first paragraph of experiments/docs/mgh.md: keyfit {}",
        line.join(" ")
    );
}

#[test]
fn compare_writes_tables_and_charts() {
    let folder = Folder::new("compare");
    let line = ["compare", "seeds", "--out", "out"];
    let first = folder.run(&line);
    let text = transcript(&line, &first);
    insta::assert_snapshot!(text);
    let mut files: Vec<String> = std::fs::read_dir(folder.0.join("out"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    files.sort();
    assert_eq!(
        files,
        ["runs.csv", "seeds-arc.svg", "seeds-ramp.svg", "seeds-sweep.svg", "summary.csv", "times.csv"]
    );
    // everything but the times has the same bytes when it is run again
    let read = |name: &String| std::fs::read(folder.0.join("out").join(name)).unwrap();
    let before: Vec<Vec<u8>> = files.iter().map(read).collect();
    assert_eq!(folder.run(&line).stdout, first.stdout);
    for (name, bytes) in files.iter().zip(before).filter(|(name, _)| *name != "times.csv") {
        assert_eq!(read(name), bytes, "{name}");
    }
}

#[test]
fn compare_speaks_the_agreed_json() {
    let folder = Folder::new("contract");
    let line = ["compare", "nist", "--problem", "misra1a", "--solver", "levenberg-marquardt", "--json"];
    let output: serde_json::Value = serde_json::from_slice(&folder.run(&line).stdout).unwrap();
    assert_eq!(output["runs"].as_array().unwrap().len(), 2);
    let keys = |value: &serde_json::Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    let runs = "suite problem start solver lre status converged local_minimum final_residual residual_evaluations \
                jacobian_evaluations evidence seconds";
    assert_eq!(keys(&output["runs"][0]).join(" "), runs);
    let summary = "solver runs lre4 lre6 lre8 lre10 other_minima false_claims residual_evaluations";
    assert_eq!(keys(&output["summary"][0]).join(" "), summary);
    assert_eq!(output["summary"][0]["lre10"], 2);
}

#[test]
fn glsl() {
    let folder = Folder::new("glsl");
    folder.write("marker.rectsl", MARKER);
    let text = session(
        &folder,
        &[
            &["glsl", "marker.rectsl"],
            &["glsl", "marker.rectsl", "--channel", "x", "--name", "sweep"],
            &["glsl", "sqrt(t)"],
            &["glsl", "?a=1*t + ?b=2", "--name", "line", "--json"],
            &["glsl", "t * 1e300"],
            &["glsl", "t", "--name", "gl_x"],
            &["glsl", "marker.rectsl", "--name", "x"],
            &["glsl", "marker.rectsl", "--channel", "z"],
        ],
    );
    insta::assert_snapshot!(text);
}

#[test]
fn plot_draws_scenes_and_channels() {
    let folder = Folder::new("plot");
    folder.write("arc.rectsl", include_str!("../../examples/arc.rectsl"));
    folder.write("marker.rectsl", MARKER);
    folder.write("endless.rectsl", MARKER.replace("->duration 4", ""));
    let draw = |line: &[&str]| {
        let output = folder.run(line);
        assert!(output.status.success(), "{line:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    // the same bytes to stdout and to a file, and no half file
    let printed = draw(&["plot", "arc.rectsl"]);
    draw(&["plot", "arc.rectsl", "--out", "arc.svg"]);
    assert_eq!(std::fs::read_to_string(folder.0.join("arc.svg")).unwrap(), printed);
    assert!(printed.len() < 60_000 && printed.ends_with("</svg>\n"));
    for words in ["authored", "fitted", "worst miss 8.9e-16 m", "x_amp = ", "18 × 8 meters", "121 frames"] {
        assert!(printed.contains(words), "{words}");
    }
    assert!(!printed.contains(">seed<"));
    assert!(draw(&["plot", "arc.rectsl", "--start", "x_amp=2"]).contains(">seed<"));
    assert!(!draw(&["plot", "arc.rectsl", "--no-fit"]).contains(">fitted<"));
    let target = ["plot", "marker.rectsl", "--target", "x:1=-4,3=4"];
    insta::assert_snapshot!("plot_of_the_marker", draw(&target));
    // the words count rates, in their own unit
    let said = |line: &[&str]| {
        let drawn = draw(line);
        let texts = drawn.split("<text ").skip(1).filter_map(|text| text.split_once('>')?.1.split_once('<'));
        let told = texts.map(|(text, _)| text).filter(|text| text.contains("miss") || text.contains(" at "));
        told.map(String::from).collect::<Vec<_>>()
    };
    let rated = ["plot", "marker.rectsl", "--target", "x.velocity:2=-1", "--target", "x:0.5=1"];
    assert_eq!(
        said(&[&rated[..], &["--no-fit"]].concat())[2..],
        ["worst miss 0.5 m", "x at 0.5 s", "worst miss 2 m/s", "x.velocity at 2 s"]
    );
    assert!(draw(&rated).contains("all targets are met exactly"));
    let turned =
        ["plot", "marker.rectsl", "--no-fit", "--target", "rotate.acceleration:2=-1", "--target", "x:2=2"];
    assert_eq!(said(&turned)[2..], ["worst miss 1 rad/s²", "rotate.acceleration at 2 s"]);
    assert!(draw(&[&target[..], &["--channel", "marker.x"]].concat()).contains("dx/dt"));
    assert!(draw(&["plot", "arc.rectsl", "--channels"]).contains("dy/dt"));
    assert!(draw(&["plot", "?a=1*t", "--target", "1=2,3=7"]).contains("worst miss"));
    // rates are drawn with their channel, and what neither moves nor is aimed at is not drawn
    folder.write(
        "camera.yaml",
        include_str!("../../examples/camera.yaml")
            .replace("{tick: 50, pitch", "{tick: 50, velocity: {x: 9}, pitch"),
    );
    let names = |line: &[&str]| {
        let drawn = draw(line);
        let names = drawn.split("<tspan class=\"name\">").skip(1).filter_map(|name| name.split_once('<'));
        names.map(|(name, _)| name).collect::<Vec<_>>().join(" ")
    };
    let both = |name: &str| format!("{name} d({name})/dt");
    let moving = [
        "camera.x",
        "camera.y",
        "camera.z",
        "camera.yaw",
        "camera.pitch",
        "camera.fov",
        "actor.guard.x",
        "actor.guard.yaw",
    ];
    for line in [&["plot", "camera.yaml"][..], &["plot", "camera.yaml", "--channels", "--no-fit"]] {
        assert_eq!(names(line), moving.map(both).join(" "), "{line:?}");
    }
    assert_eq!(
        names(&["plot", "camera.yaml", "--from", "2", "--to", "4", "--channel", "camera.x.velocity"]),
        both("camera.x")
    );
    assert_eq!(names(&["plot", "linear[0=0 2=0]"]), "y dy/dt");
    let rated = [&rated[..], &["--target", "x.acceleration:3=1", "--channels", "--no-fit"]].concat();
    insta::assert_snapshot!("plot_of_rates", draw(&rated));
    assert!(draw(&["plot", "linear[0=0 1=4]"]).contains(">key<"));
    let data = ["plot", "a*x", "--start", "a=1", "--data", "rows.csv"];
    folder.write("rows.csv", "x,y\n10,1\n20,2\n30,3.5\n");
    assert!(draw(&data).contains("worst miss"));
    let partial = |name: &std::ffi::OsStr| name.to_string_lossy().contains("partial");
    assert!(!std::fs::read_dir(&folder.0).unwrap().any(|entry| partial(&entry.unwrap().file_name())));

    let text = session(
        &folder,
        &[
            &["plot", "arc.rectsl", "--channel", "z"],
            &["plot", "arc.rectsl", "--channel", "rotat"],
            &["plot", "endless.rectsl"],
            &["plot", "endless.rectsl", "--to", "2", "--out", "endless.svg"],
            &["plot", "sin(t)"],
            &["plot", "sin(t)", "--from", "3", "--to", "1"],
            &["plot", "sin(t)", "--to", "1", "--out", "sine.pdf"],
            &["plot", "sin(t)", "--to", "1", "--out", "missing/sine.svg"],
            &["plot", "floor(?a=1)*t", "--target", "1=2"],
            &["plot", "?a=1*exp(t)", "--target", "1=2,2=4", "--iterations", "1", "--out", "far.svg"],
        ],
    );
    insta::assert_snapshot!(text);
}

#[cfg(feature = "png")]
#[test]
fn plot_draws_png() {
    use resvg::tiny_skia::Pixmap;
    let folder = Folder::new("png");
    folder.write("arc.rectsl", include_str!("../../examples/arc.rectsl"));
    let draw = |line: &[&str], name: &str| {
        let output = folder.run(line);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Pixmap::decode_png(&std::fs::read(folder.0.join(name)).unwrap()).unwrap()
    };
    let light = draw(&["plot", "arc.rectsl", "--out", "arc.PNG", "--width", "460"], "arc.PNG");
    let dark = draw(&["plot", "arc.rectsl", "--out", "d.png", "--width", "460", "--theme", "dark"], "d.png");
    assert_eq!((light.width(), light.height()), (dark.width(), dark.height()));
    assert_eq!((light.width(), light.pixels()[0].red(), dark.pixels()[0].red()), (460, 255, 13));

    // the picture in the documents, but for the rounding of another machine
    let now = draw(&["plot", "arc.rectsl", "--out", "now.png"], "now.png");
    let kept = std::fs::read(crate::folder::root().join("experiments/docs/arc.png")).unwrap_or_default();
    let kept = Pixmap::decode_png(&kept)
        .expect("run: keyfit plot experiments/examples/arc.rectsl --out experiments/docs/arc.png");
    assert_eq!((now.width(), now.height()), (kept.width(), kept.height()));
    let off = now.data().iter().zip(kept.data()).filter(|(a, b)| a.abs_diff(**b) > 8).count();
    assert!(off * 1000 < kept.data().len(), "{off} of {} bytes differ", kept.data().len());
}

#[test]
fn exact_derivatives_and_checks() {
    let folder = Folder::new("exact");
    folder.write("arc.rectsl", include_str!("../../examples/arc.rectsl"));
    let text = session(
        &folder,
        &[
            &["sample", "t^2", "--derivatives", "--at", "0,1,3", "--json"],
            &["sample", "arc.rectsl", "--derivatives", "--at", "0,0.5"],
            &["verify", "agreement", "--triples", "400"],
        ],
    );
    insta::assert_snapshot!(text);
}

/// fmt writes all files or none, and only where something changes.
#[test]
fn fmt_lays_scenes_out() {
    let folder = Folder::new("fmt");
    let laid = include_str!("../../examples/arc.rectsl");
    folder.write("laid.rectsl", laid);
    folder.write("loose.rectsl", laid.replace("\n  ", " "));
    folder.write("broken.rectsl", laid.replace("cos", "coz").replace(" sin", " sine"));
    let mut text = session(
        &folder,
        &[
            &["fmt", "--check", "laid.rectsl", "loose.rectsl"],
            &["fmt", "loose.rectsl", "broken.rectsl"],
            &["fmt"],
        ],
    );
    let read = |name: &str| std::fs::read_to_string(folder.0.join(name)).unwrap();
    assert_ne!(read("loose.rectsl"), laid);
    text +=
        &session(&folder, &[&["fmt", "laid.rectsl", "loose.rectsl"], &["fmt", "--check", "loose.rectsl"]]);
    assert_eq!((read("laid.rectsl").as_str(), read("loose.rectsl").as_str()), (laid, laid));
    insta::assert_snapshot!(text);
}

/// What is written is the model in its own language, and fits to the same values from there, at once.
#[test]
fn fit_writes_what_it_found() {
    let folder = Folder::new("out");
    folder.write("arc.rectsl", include_str!("../../examples/arc.rectsl").replace(";\n", "; # around\n"));
    folder.write("camera.yaml", include_str!("../../examples/camera.yaml"));
    folder.write("line.txt", "gain := ?a=1 * 2;\ngain*t + b + c*u");
    folder.write("u.csv", "t,u,y\n0,1,3\n1,3,8\n2,4,12.5\n3,9,20\n");
    folder.write("a.fpcore", "(FPCore (t a)\n :pre (<= 1 a 5)\n (* a (exp t)))");
    let mut text = String::new();
    for (line, starts, file) in [
        (&["arc.rectsl", "--solver", "levenberg-marquardt"][..], "", "new.rectsl"),
        (&["arc.rectsl", "--fix", "x_phase"], "x_phase=0.25,y_amp=2", "new.rectsl"),
        (&["camera.yaml"], "", "camera.yaml"),
        (&["line.txt", "--data", "u.csv"], "b=0,c=0", "new.txt"),
        (
            &["?a=1*t + ?b=2 + ?c=0*t^2", "--target", "0=1,1=3.5,2=5,3=7.5", "--tie", "b=2*a + 1"],
            "",
            "new.txt",
        ),
        (&["a.fpcore", "--target", "0=1.5,1=4"], "", "new.fpcore"),
    ] {
        let fit = |model: &str, more: &[&str]| -> serde_json::Value {
            let output = folder.run(&[&["fit", model, "--json"], &line[1..], more].concat());
            assert!(output.status.success(), "{line:?}: {}", String::from_utf8_lossy(&output.stderr));
            serde_json::from_slice(&output.stdout).unwrap()
        };
        let starts = if starts.is_empty() { &[][..] } else { &["--start", starts] };
        let first = fit(line[0], &[starts, &["--out", file]].concat());
        text += &format!("{line:?}\n{}\n", std::fs::read_to_string(folder.0.join(file)).unwrap());
        let again = fit(file, &[]);
        assert_eq!(again["initial_residual"], first["final_residual"], "{line:?}");
        for (name, value) in first["parameters"].as_object().unwrap() {
            let (value, again) = (value.as_f64().unwrap(), again["parameters"][name].as_f64().unwrap());
            assert!((value - again).abs() <= 1e-9 * value.abs().max(1.0), "{name}: {value} {again}");
        }
    }
    // nothing is written that is no answer
    let far = ["fit", "?a=1*exp(t)", "--target", "1=2,2=4", "--iterations", "1", "--out", "far.txt"];
    text +=
        &session(&folder, &[&far, &["fit", "2*t", "--all-numbers", "--target", "1=2", "--out", "far.txt"]]);
    assert!(!folder.0.join("far.txt").exists());
    insta::assert_snapshot!(text);
}

#[test]
fn losses_bounds_and_fixed_parameters() {
    let folder = Folder::new("loss");
    let line = ["fit", "?a=1*t + ?b=0.5", "--target", "0=1,1=3,2=5,3=7,4=90"];
    let with = |more: &[&'static str]| [&line[..], more].concat();
    let text = session(
        &folder,
        &[
            &with(&["--loss", "huber:0.5"]),
            &with(&["--loss", "cauchy:0.5", "--fix", "b", "--json"]),
            &with(&["--fix", "a,b"]),
            &with(&["--fix", "c"]),
            &with(&["--loss", "huber"]),
            &with(&["--bound", "a=..20,b=-3..1"]),
            &with(&["--bound", "a=..20", "--json", "--iterations", "1"]),
            &with(&["--bound", "a=2..20"]),
            &with(&["--bound", "a=..0.5"]),
            &with(&["--bound", "a=2"]),
            &with(&["--bound", "a=0..x"]),
            &with(&["--bound", "c=0..1"]),
            &with(&["--bound", "a=0..2", "--solver", "bfgs"]),
        ],
    );
    insta::assert_snapshot!(text);
}

/// A scene's last frame is at its duration whatever the product of duration and rate rounds to; a range needs no end.
#[test]
fn frames_and_ranges() {
    let folder = Folder::new("frames");
    folder.write("short.rectsl", "->duration 0.29 ->fps 100 \"m\" rect t ->x ;");
    let last = |line: &[&str]| {
        let printed = String::from_utf8(folder.run(line).stdout).unwrap();
        (
            printed.lines().count(),
            printed.lines().last().unwrap_or("").split(',').next().unwrap_or("").to_string(),
        )
    };
    assert_eq!(last(&["sample", "short.rectsl"]), (31, "0.29".into()));
    assert_eq!(last(&["sample", "short.rectsl", "--count", "3"]), (4, "0.29".into()));
    assert_eq!(last(&["sample", "short.rectsl", "--from", "0.25"]), (12, "0.29".into()));
}

/// Writing follows links, keeps permissions, and touches no other file.
#[test]
#[cfg(unix)]
fn files_are_written_as_one_expects() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new("files");
    let path = |name: &str| folder.0.join(name);
    folder.write("real.rectsl", "\"m\" rect 1 ->x ;");
    folder.write("real.partial", "precious");
    std::fs::set_permissions(path("real.rectsl"), std::fs::Permissions::from_mode(0o600)).unwrap();
    std::os::unix::fs::symlink("real.rectsl", path("link.rectsl")).unwrap();
    assert!(folder.run(&["fmt", "link.rectsl"]).status.success());
    assert!(path("link.rectsl").is_symlink());
    assert_eq!(std::fs::read_to_string(path("real.rectsl")).unwrap(), "\"m\" rect\n  1 ->x\n;\n");
    assert_eq!(std::fs::metadata(path("real.rectsl")).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(std::fs::read_to_string(path("real.partial")).unwrap(), "precious");
    let device = folder.run(&["plot", "t", "--to", "1", "--out", "/dev/null"]);
    assert_eq!(device.status.code(), Some(2));
    assert_eq!(std::fs::read_dir(&folder.0).unwrap().count(), 3);
}
