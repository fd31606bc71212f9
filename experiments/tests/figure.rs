//! Figures: valid, finite, truthful and small, whatever is drawn.

use keyfit::figure::{Band, Figure, FigureError, Period, Plotted, Theme, channel_figure, scene_figure};
use keyfit::{Channel, FitOptions, Scene, Target, Track, fit_channels};

const ARC: &str = include_str!("../examples/arc.rectsl");

fn scene(text: &str) -> Scene {
    Scene::parse_rectsl(text).unwrap()
}

fn plotted(formula: &str, targets: &[(f64, f64)]) -> Plotted {
    let targets = targets.iter().map(|&(time, value)| Target::new(time, value)).collect();
    let track = Track::parse(formula).unwrap();
    Plotted {
        channel: Channel { name: "y".into(), track, targets },
        rates: [vec![], vec![]],
        before: None,
        unit: None,
    }
}

fn formula_figure(formula: &str, from: f64, to: f64, targets: &[(f64, f64)]) -> Figure {
    channel_figure(formula, &[plotted(formula, targets)], Period::new(from, to).unwrap()).unwrap()
}

/// The runs of the paths of a class, as places.
fn runs(svg: &str, class: &str) -> Vec<Vec<(f64, f64)>> {
    let start = format!("<path class=\"{class}\" d=\"");
    let paths = svg.split(&start).skip(1).map(|rest| rest.split('"').next().unwrap());
    paths.flat_map(|d| d.split('M').skip(1)).map(places).collect()
}

fn places(run: &str) -> Vec<(f64, f64)> {
    let numbers: Vec<f64> =
        run.trim_end_matches("h0").split_whitespace().map(|x| x.parse().unwrap()).collect();
    numbers.chunks(2).map(|place| (place[0], place[1])).collect()
}

/// What every figure must be.
#[cfg(feature = "png")]
fn check(name: &str, svg: &str) {
    use resvg::usvg::roxmltree::{Document, ParsingOptions};
    let document = Document::parse_with_options(svg, ParsingOptions::default())
        .unwrap_or_else(|e| panic!("{name}: {e}\n{svg}"));
    let numbers = ["x", "y", "x1", "y1", "x2", "y2", "cx", "cy", "r", "width", "height", "fill-opacity"];
    for node in document.descendants().filter(|node| node.is_element()) {
        for attribute in node.attributes() {
            let value = attribute.value();
            if numbers.contains(&attribute.name()) && !value.ends_with('%') {
                let number: f64 = value.parse().unwrap_or_else(|e| panic!("{name}: {value}: {e}"));
                assert!(number.is_finite() && number.abs() <= 1e5, "{name}: {attribute:?}");
            }
            if attribute.name() == "d" {
                for (x, y) in value.split('M').skip(1).flat_map(places) {
                    assert!(x.is_finite() && y.is_finite(), "{name}: {value}");
                }
            }
        }
    }
    assert!(!svg.contains("<script") && svg.contains("prefers-color-scheme:dark"), "{name}");
    assert!(svg.len() < 250_000, "{name}: {} bytes", svg.len());
}

#[cfg(feature = "png")]
#[test]
fn whatever_is_drawn_is_valid_finite_and_small() {
    let keys: String = (0..100_000).map(|k| format!("{}={} ", k, (k * 7919) % 101)).collect();
    let rect = |head: &str, body: &str| format!("{head} \"a\" rect {body} ;");
    let wall = "->wall 18 8 meters ->duration 4 ->fps 30";
    let scenes = [
        ("arc", ARC.to_string()),
        ("nan", rect(wall, "-1 t - ln ->x")),
        ("partly nan", rect(wall, "t 2 - ln ->x '( 1=0 3=1 ) ->x-targets")),
        ("no size", rect(wall, "t ->x 0 0 ->wh")),
        ("negative size", rect(wall, "t ->x -2 t 2 - ->wh")),
        ("huge", rect(wall, "t 1e300 * ->x t exp 1e307 * ->y")),
        ("huge, no wall", rect("->duration 4", "t 1e300 * ->x t exp 1e307 * ->y 1e308 1e-300 ->wh")),
        ("tiny, no wall", rect("->duration 4", "t 1e-300 * ->x 1e-300 1e-300 ->wh")),
        ("still, far away, no wall", rect("->duration 4", "1e15 ->x")),
        ("tiny wall", rect("->wall 1e-9 1e9 m ->duration 1 ->fps 30", "t ->x")),
        ("long", rect("->wall 18 8 m ->duration 1e9 ->fps 30", "t sin ->x t 1e3 * ->rotate")),
        ("10^5 frames", rect("->wall 18 8 m ->duration 1e3 ->fps 100", "t sin ->x")),
        ("slow frames", rect("->wall 18 8 m ->duration 1 ->fps 1e-3", "t sin ->x")),
        ("fast frames", rect("->wall 18 8 m ->duration 1 ->fps 1e300", "t sin ->x")),
        ("late target", rect(wall, "t ->x '( 1e9=3 ) ->x-targets '( 1e9=1e9 2=1e300 ) ->y-targets")),
        ("odd names", wall.to_string() + " \"<&>\" rect t ->x ; \"' ]]>\" rect 1 ->x ;"),
        ("many keys", rect(wall, &format!("'( {keys}) linear ->x"))),
    ];
    let rates = [vec![Target::new(1.0, 1e300), Target::new(2.0, 1.0)], vec![Target::new(1e12, 0.0)]];
    for (name, text) in &scenes {
        let bands = [Band::new("authored", scene(text))];
        check(name, &scene_figure("a <scene> & \"more\"", &bands, None).unwrap().svg(None));
        let channels = scene(text).channels().into_iter().take(2);
        let channels: Vec<Plotted> = channels
            .map(|channel| Plotted { channel, rates: rates.clone(), before: None, unit: Some("<m>".into()) })
            .collect();
        let period = Period::new(0.0, 4.0).unwrap();
        check(name, &channel_figure(name, &channels, period).unwrap().svg(None));
    }
    for formula in [
        "0/0",
        "1/t",
        "t",
        "1e308*t",
        "-1e-320*t",
        "exp(exp(t))",
        "sin(1e9*t)",
        "floor(1000*t)",
        "tan(t)",
        "sqrt(t)",
        "fract(1e6*t)",
        "3",
        "ln(t-1)",
        "1e15 + t*1e-3",
    ] {
        for (from, to) in [(0.0, 4.0), (-1e300, 1e300), (1e15, 1e15 + 1.0), (0.0, 5e-324), (-1e-9, 1e9)] {
            let figure = formula_figure(formula, from, to, &[(1.0, 1e300), (2.0, -1.0), (1e12, 0.0)]);
            check(&format!("{formula} from {from} to {to}"), &figure.svg(None));
        }
    }
}

#[test]
fn a_jump_is_a_gap_and_a_steep_slope_is_not() {
    let levels = runs(&formula_figure("floor(t*2)", 0.1, 3.9, &[]).svg(None), "curve");
    let (values, slopes) = levels.split_at(levels.len() - 1);
    assert_eq!(values.len(), 8);
    for run in values {
        assert!(run.iter().all(|place| place.1 == run[0].1), "{run:?}");
    }
    assert_eq!(slopes[0].len(), 2);

    let jumps =
        runs(&formula_figure("keys[0=0 linear 1=1 hold 1=3 linear 2=0]", 0.0, 2.0, &[]).svg(None), "curve");
    assert_eq!(jumps.iter().map(Vec::len).collect::<Vec<_>>(), [2, 2, 2, 2]);

    let steep = runs(&formula_figure("clamp((t-1)*1e12, 0, 1)", 0.0, 2.0, &[]).svg(None), "curve");
    assert_eq!(steep[0].len(), 4, "{steep:?}");

    let defined = runs(&formula_figure("sqrt(t-1)", 0.0, 2.0, &[]).svg(None), "curve");
    let (left, right) = (86.0, 896.0);
    assert_eq!(defined[0][0].0, (left + right) / 2.0);
}

/// Between its places the drawn line is as near to the track as the eye can tell.
#[test]
fn an_elastic_easing_is_shown_as_it_is() {
    for formula in ["elastic-out[0=0 2=1]", "elastic-in[0=0 2=1]", "bounce-out[0=0 2=1]", "back-in[0=0 2=1]"]
    {
        let track = Track::parse(formula).unwrap();
        let curve = runs(&formula_figure(formula, 0.0, 2.0, &[]).svg(None), "curve").remove(0);
        let (first, last) = (curve[0], curve[curve.len() - 1]);
        let mut worst: f64 = 0.0;
        for ends in curve.windows(2) {
            for k in 0..20 {
                let share = f64::from(k) / 20.0;
                let x = ends[0].0 + share * (ends[1].0 - ends[0].0);
                let y = ends[0].1 + share * (ends[1].1 - ends[0].1);
                let t = 2.0 * (x - first.0) / (last.0 - first.0);
                // times are rounded to a tenth of a pixel, so the nearest of some around count
                let height = |t: f64| first.1 + (last.1 - first.1) * track.sample(t);
                let off = (-4..=4).map(|d| (y - height(t + f64::from(d) * 3e-5)).abs());
                worst = worst.max(off.fold(f64::INFINITY, f64::min));
            }
        }
        assert!(worst < 0.35, "{formula}: {worst} pixels off with {} places", curve.len());
        assert!(curve.len() < 200, "{formula}: {} places", curve.len());
    }
}

#[test]
fn nothing_to_draw_is_said() {
    let empty = Scene { rects: Vec::new(), ..scene(ARC) };
    let figure = |scene: Scene| scene_figure("", &[Band::new("", scene)], None).unwrap_err();
    assert_eq!(figure(empty), FigureError::NoRect);
    assert_eq!(figure(Scene { duration: None, ..scene(ARC) }), FigureError::NoPeriod);
    assert_eq!(figure(Scene { duration: Some(0.0), ..scene(ARC) }), FigureError::NoPeriod);
    assert_eq!(scene_figure("", &[], None).unwrap_err(), FigureError::NoRect);
    let period = Period::new(0.0, 1.0).unwrap();
    assert_eq!(channel_figure("", &[], period).unwrap_err(), FigureError::NoChannel);
    for (from, to) in [(1.0, 1.0), (1.0, 0.0), (f64::NAN, 1.0), (0.0, f64::INFINITY), (-1e308, 1e308)] {
        assert_eq!(Period::new(from, to), None);
    }
}

#[test]
fn a_channel_with_keys_jumps_and_targets() {
    let mut curve = plotted("keys[0=1 hold 1=3 linear 2=?low=-1 hold 2=2 elastic-out 4=0]", &[(1.5, 0.5)]);
    let fit = fit_channels(vec![curve.channel.clone()], &FitOptions::default()).unwrap();
    curve.before = Some(curve.channel.track.clone());
    curve.channel.track = fit.fitted[0].fitted.clone();
    let figure = channel_figure("keys", &[curve], Period::new(-0.1, 4.1).unwrap()).unwrap();
    insta::assert_snapshot!(figure.svg(None));
}

#[test]
fn a_theme_can_be_asked_for() {
    let figure = scene_figure("arc", &[Band::new("authored", scene(ARC))], None).unwrap();
    let [light, dark] = [Theme::Light, Theme::Dark].map(|theme| figure.svg(Some(theme)));
    assert!(!light.contains("@media") && light.contains("fill=\"#ffffff\""));
    assert!(!dark.contains("@media") && dark.contains("fill=\"#0d1117\""));
    assert!(!figure.svg(None).contains("width=\"100%\""));
}

#[cfg(feature = "png")]
#[test]
fn a_png_has_its_size_and_something_on_it() {
    use resvg::tiny_skia::Pixmap;
    let figure = formula_figure("sin(t)", 0.0, 6.0, &[(1.0, 0.0)]);
    for (theme, page) in [(Theme::Light, [255, 255, 255]), (Theme::Dark, [13, 17, 23])] {
        for width in [460, 1000] {
            let picture = Pixmap::decode_png(&figure.png(theme, width).unwrap()).unwrap();
            let (w, h) = figure.size();
            assert_eq!(picture.width(), width);
            assert_eq!(picture.height(), (h * f64::from(width) / w).round() as u32);
            let is_page =
                |p: &&resvg::tiny_skia::PremultipliedColorU8| [p.red(), p.green(), p.blue()] == page;
            let blank = picture.pixels().iter().filter(is_page).count() as f64;
            let share = blank / picture.pixels().len() as f64;
            assert!((0.6..0.97).contains(&share), "{theme:?}: {share} of the page is blank");
            assert!(picture.pixels().iter().all(|p| p.alpha() == 255));
            // there is text, where no line is: the title
            let title = picture.pixels().chunks(width as usize).take(picture.height() as usize / 12);
            assert!(title.flatten().any(|p| !is_page(&p)), "{theme:?}: no title");
        }
    }
    assert!(figure.png(Theme::Light, u32::MAX).is_err());
    assert!(figure.png(Theme::Light, 0).is_err());
}

fn between(text: &str, before: &str, after: &str) -> String {
    text.split_once(before).unwrap().1.split(after).next().unwrap().into()
}

#[test]
fn a_band_lies_around_its_line() {
    use keyfit::figure::{Axis, Series, line_figure};
    let axis = |logarithmic| Axis { label: "along".into(), logarithmic, whole: None, most: None };
    let line = |name: &str, band: &[(f64, f64, f64)]| Series {
        name: name.into(),
        points: vec![(1.0, 0.2), (10.0, 0.2), (10.0, 0.6), (100.0, 0.6)],
        band: band.to_vec(),
    };
    let ends = [(1.0, 0.1, 0.4), (10.0, 0.1, 0.4), (10.0, 0.4, 0.8), (100.0, 0.4, f64::NAN), (0.0, 0.0, 1.0)];
    let draw = |lines: &[Series]| line_figure("shares", &axis(true), &axis(false), lines);
    let (with, without) = (draw(&[line("a", &ends), line("b", &[])]), draw(&[line("a", &[])]));
    let svg = with.svg(None);
    let own: Vec<&str> = svg.lines().filter(|line| line.contains("band")).collect();
    insta::assert_snapshot!(own.join("\n"));
    assert!(!without.svg(None).contains("band"));
    #[cfg(feature = "pdf")]
    {
        let shade = |figure: &keyfit::figure::Figure| {
            String::from_utf8_lossy(&figure.pdf().unwrap()).contains("/ca 0.12")
        };
        assert!(shade(&with) && !shade(&without));
    }
}

#[test]
fn what_lies_beyond_an_axis_is_marked_at_its_edges() {
    use keyfit::figure::{Axis, Series, line_figure};
    let axis = |most| Axis { label: "along".into(), logarithmic: true, whole: None, most };
    let (x, y) = (axis(None), axis(Some(100.0)));
    let line =
        |points: &[(f64, f64)]| Series { name: "own".into(), points: points.to_vec(), band: Vec::new() };
    let draw = |points: &[(f64, f64)]| {
        let svg =
            line_figure("beyond", &x, &y, &[line(&[(1.0, 1.0), (1000.0, 1e-10)]), line(points)]).svg(None);
        let group = svg.split("<g class=\"series").skip(1).find(|group| group.contains("#d55e00")).unwrap();
        let group = group.split("</g>").next().unwrap();
        let values: Vec<String> = between(group, "data-values=\"", "\"").split(' ').map(Into::into).collect();
        let paths: Vec<Vec<(f64, f64)>> = group
            .split("<path ")
            .skip(1)
            .map(|path| places(&between(path, "d=\"", "\"").replace('M', " ")))
            .collect();
        let note = svg.split("\n").find(|line| line.contains("bottom edge") || line.contains("leave"));
        (values, paths, note.map(|note| between(note, ">", "<")))
    };
    // the frame's edges
    let (top, bottom) = (62.0, 382.0);
    let (values, paths, note) = draw(&[(1.0, 1.0), (10.0, 1e-5), (100.0, 0.0)]);
    assert_eq!(values[2].split_once(',').unwrap().1, format!("{bottom},100,0"));
    // the line, its triangle, what ties it to its name
    assert_eq!((paths.len(), paths[0].len(), paths[0][2].1), (3, 3, bottom));
    assert_eq!(paths[1], [paths[0][2], (paths[0][2].0 - 3.5, 375.0), (paths[0][2].0 + 3.5, 375.0)]);
    assert_eq!(note.unwrap(), "at the bottom edge: 0, and what is below 6.3e−11");
    // up, and all the way down at once
    let (values, paths, note) = draw(&[(1.0, 1.0), (10.0, 1e200), (100.0, f64::INFINITY), (1000.0, 0.0)]);
    assert_eq!(values[1].split_once(',').unwrap().1, format!("{top:.0},10,1e200"));
    assert_eq!(values[2].split_once(',').unwrap().1, format!("{top:.0},100,inf"));
    assert!(paths[0].iter().all(|(_, y)| (top..=bottom).contains(y)), "{paths:?}");
    assert_eq!(paths[0].iter().filter(|(_, y)| *y == top).count(), 2);
    assert_eq!(paths.len(), 5);
    assert!(note.unwrap().starts_with("lines that leave the top go on above it; at the bottom edge: 0"));
    // nothing but 0 is a line along the edge, and what is no number is none
    let (values, paths, _) = draw(&[(1.0, 0.0), (10.0, 0.0)]);
    assert!(values.len() == 2 && paths[0].len() == 2 && paths[0].iter().all(|(_, y)| *y == bottom));
    let (values, paths, note) = draw(&[(1.0, f64::NAN), (10.0, -1.0)]);
    assert_eq!((values, note), (vec![String::new()], None));
    assert_eq!(paths, [vec![]], "only a name");
}

#[test]
fn no_two_names_of_lines_are_written_alike() {
    use keyfit::figure::{Axis, Series, line_figure};
    let axis = || Axis { label: "along".into(), logarithmic: false, whole: None, most: None };
    let draw = |names: &[&str], last: f64| {
        let line = |(k, name): (usize, &&str)| {
            let to = if k == 0 { last } else { 1.0 };
            Series { name: (*name).into(), points: vec![(0.0, 0.0), (to, k as f64)], band: Vec::new() }
        };
        let lines: Vec<Series> = names.iter().enumerate().map(line).collect();
        let figure = line_figure("names", &axis(), &axis(), &lines);
        let svg = figure.svg(None);
        #[cfg(feature = "png")]
        check("names", &svg);
        let groups =
            svg.split("data-name").skip(1).map(|group| between(group, "<text class=\"small\"", "/text>"));
        let mut words: Vec<String> = groups.map(|text| between(&text, ">", "<")).collect();
        words.reverse();
        (words, figure.size().0)
    };
    let seeds = ["particle-swarm iterations=100 seed=1", "particle-swarm iterations=100 seed=2"];
    let short = ["particle-swarm … seed=1", "particle-swarm … seed=2"].map(str::to_owned);
    assert_eq!(draw(&seeds, 1.0), (short.to_vec(), 920.0));
    let numbered = ["1 particle-swarm … seed=1", "2 particle-swarm … seed=2"].map(str::to_owned);
    assert_eq!(draw(&seeds, 0.5), (numbered.to_vec(), 920.0));
    // 56 letters of 6.4, 32 from the frame at 646, and the margin
    let grid = ["0.1 iterations=100 seed=1", "0.2 iterations=200 seed=2"];
    let grid = grid.map(|end| format!("levenberg-marquardt first-step={end}"));
    assert_eq!(draw(&grid.each_ref().map(String::as_str), 1.0), (grid.to_vec(), 1061.0));
    // nobody knows which is which but by its number
    assert_eq!(draw(&["one", "one"], 1.0).0, ["1 one", "2 one"]);
}

#[test]
fn each_of_many_lines_is_known_without_its_colour() {
    use keyfit::figure::{Axis, Series, line_figure};
    let axis = || Axis { label: "along".into(), logarithmic: false, whole: Some((0.0, 1.0)), most: None };
    let line = |k: usize, to: f64| {
        // no two end at one height, nor in the order of their names
        let height = (5 * k % 9) as f64 / 10.0;
        let points = vec![(0.0, 0.0), (to, height)];
        Series { name: format!("line {k}"), points, band: vec![(0.0, 0.0, 0.1), (to, height, 1.0)] }
    };
    let all =
        |last: f64| -> Vec<Series> { (0..9).map(|k| line(k, if k == 8 { last } else { 1.0 })).collect() };
    let draw = |last: f64| line_figure("many", &axis(), &axis(), &all(last)).svg(None);
    let groups = |svg: &str| -> Vec<String> {
        svg.split("<g class=\"series")
            .skip(1)
            .map(|group| group.split("</g>").next().unwrap().into())
            .collect()
    };
    let tied = draw(1.0);
    let groups_of_tied = groups(&tied);
    let colours: std::collections::BTreeSet<String> =
        groups_of_tied.iter().map(|group| between(group, "stroke=\"", "\"")).collect();
    assert_eq!((groups_of_tied.len(), colours.len()), (9, 7));
    assert_eq!((tied.matches("series other").count(), tied.matches("visibility=\"hidden\"").count()), (3, 3));
    // each name is tied to the end of its own line, and they have the order of these
    let mut ends = Vec::new();
    for group in &groups_of_tied {
        let paths: Vec<Vec<(f64, f64)>> =
            group.split("<path d=\"M").skip(1).map(|rest| places(rest.split('"').next().unwrap())).collect();
        assert_eq!((paths.len(), paths[0].last()), (2, paths[1].first()), "{group}");
        ends.push((paths[0][1].1, paths[1].last().unwrap().1));
    }
    ends.sort_by(|a, b| a.0.total_cmp(&b.0));
    assert!(ends.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 + 16.9 < pair[1].1), "{ends:?}");
    // where a line ends before the others, numbers lead to names
    let numbered = draw(0.5);
    for k in 0..9 {
        let ends = |svg: &str| {
            let labels = svg.split("<text class=\"small middle label").skip(1);
            labels.filter(|label| between(label, ">", "<") == format!("{}", k + 1)).count()
        };
        assert_eq!((ends(&tied), ends(&numbered)), (0, 1), "{k}");
        assert!(numbered.contains(&format!(">{} line {k}</text>", k + 1)));
    }
    #[cfg(feature = "png")]
    for (name, svg) in [("tied", &tied), ("numbered", &numbered)] {
        check(name, svg);
    }
}
