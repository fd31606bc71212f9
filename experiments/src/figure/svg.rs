//! The SVG that figures are made of: elements whose text is escaped and whose numbers are finite.

use std::fmt::Write;

use super::Theme;

/// A place in the picture, in its pixels; y grows downwards.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Point {
    pub x: f64,
    pub y: f64,
}

/// The place (x, y).
pub(super) fn point(x: f64, y: f64) -> Point {
    Point { x, y }
}

impl Point {
    pub(super) fn distance(self, other: Point) -> f64 {
        core_math::hypot(self.x - other.x, self.y - other.y)
    }
}

/// Farther out than this nothing is visible in any picture, and renderers with single precision lose their way.
const FAR: f64 = 1e5;

/// A coordinate with one decimal, which is a tenth of a pixel: the same text on every machine.
fn coordinate(x: f64) -> String {
    let text = format!("{:.1}", if x.is_nan() { 0.0 } else { x.clamp(-FAR, FAR) });
    match text.strip_suffix(".0").unwrap_or(&text) {
        "-0" => "0".into(),
        short => short.into(),
    }
}

/// `text` with the characters replaced that mean something to XML, and those left out that it forbids.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            '\t' | '\n' | '\r' => out.push(' '),
            '\0'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => {}
            c => out.push(c),
        }
    }
    out
}

/// An element that is being written.
#[derive(Clone, Debug)]
pub(super) struct Element {
    name: &'static str,
    attributes: String,
    content: String,
}

impl Element {
    pub(super) fn new(name: &'static str) -> Element {
        Element { name, attributes: String::new(), content: String::new() }
    }

    /// An attribute of text.
    pub(super) fn set(mut self, name: &str, value: &str) -> Element {
        let _ = write!(self.attributes, " {name}=\"{}\"", escape(value));
        self
    }

    /// What [`STYLE`] says it looks like.
    pub(super) fn class(self, class: &str) -> Element {
        if class.is_empty() { self } else { self.set("class", class) }
    }

    /// A coordinate or length.
    pub(super) fn at(self, name: &str, value: f64) -> Element {
        self.set(name, &coordinate(value))
    }

    /// A share between 0 and 1.
    pub(super) fn share(self, name: &str, value: f64) -> Element {
        self.set(name, format!("{value:.2}").trim_end_matches('0').trim_end_matches('.'))
    }

    /// Turned about a place, by degrees clockwise as SVG counts them.
    pub(super) fn turned(self, degrees: f64, about: Point) -> Element {
        let (x, y) = (coordinate(about.x), coordinate(about.y));
        self.set("transform", &format!("rotate({} {x} {y})", coordinate(degrees)))
    }

    /// The text in it.
    pub(super) fn content(mut self, text: &str) -> Element {
        self.content += &escape(text);
        self
    }

    /// An element in it.
    pub(super) fn child(mut self, child: Element) -> Element {
        child.write(&mut self.content);
        self.content += if self.is_group() { "\n" } else { "" };
        self
    }

    pub(super) fn line(class: &str, from: Point, to: Point) -> Element {
        let line = Element::new("line").class(class).at("x1", from.x).at("y1", from.y);
        line.at("x2", to.x).at("y2", to.y)
    }

    /// A rectangle of this size about a middle.
    pub(super) fn rect(class: &str, middle: Point, width: f64, height: f64) -> Element {
        let rect = Element::new("rect")
            .class(class)
            .at("x", middle.x - width / 2.0)
            .at("y", middle.y - height / 2.0);
        rect.at("width", width).at("height", height)
    }

    pub(super) fn circle(class: &str, middle: Point, radius: f64) -> Element {
        Element::new("circle").class(class).at("cx", middle.x).at("cy", middle.y).at("r", radius)
    }

    pub(super) fn text(class: &str, at: Point, text: &str) -> Element {
        Element::new("text").class(class).at("x", at.x).at("y", at.y).content(text)
    }

    /// Lines through places, with a gap between runs. A run of one place is drawn as a dot.
    pub(super) fn path(class: &str, runs: &[Vec<Point>]) -> Element {
        let mut d = String::new();
        for run in runs.iter().filter(|run| !run.is_empty()) {
            let mut last = None;
            for (i, place) in run.iter().enumerate() {
                let place = format!("{} {}", coordinate(place.x), coordinate(place.y));
                match i {
                    0 => d += &format!("M{place}"),
                    // the first pair after M is followed by L without a letter
                    _ if last.as_ref() == Some(&place) && i + 1 < run.len() => continue,
                    _ => d += &format!(" {place}"),
                }
                last = Some(place);
            }
            if run.len() == 1 {
                d += "h0";
            }
        }
        Element::new("path").class(class).set("d", &d)
    }

    /// Whether its children stand on lines of their own; within text that would be a space.
    fn is_group(&self) -> bool {
        ["svg", "g", "clipPath"].contains(&self.name)
    }

    fn write(&self, out: &mut String) {
        let Element { name, attributes, content } = self;
        let _ = match content.as_str() {
            "" => write!(out, "<{name}{attributes}/>"),
            _ if self.is_group() => write!(out, "<{name}{attributes}>\n{content}</{name}>"),
            _ => write!(out, "<{name}{attributes}>{content}</{name}>"),
        };
    }
}

/// The elements of a picture.
#[derive(Clone, Debug, Default)]
pub(super) struct Canvas(String);

impl Canvas {
    pub(super) fn add(&mut self, element: Element) {
        element.write(&mut self.0);
        self.0.push('\n');
    }
}

/// What classes look like whatever the theme.
const STYLE: &str = "\
text{font-family:system-ui,-apple-system,'Segoe UI',Roboto,'Noto Sans',sans-serif;font-size:12px}
.title{font-size:17px;font-weight:bold}
.name{font-size:14px;font-weight:bold}
.small{font-size:11px}
.end{text-anchor:end}
.middle{text-anchor:middle}
path{fill:none;stroke-linejoin:round;stroke-linecap:round}
.curve{stroke-width:2}
.before{stroke-width:1.5;stroke-dasharray:2 4}
.trail{stroke-width:1.2}
.target{fill:none;stroke-width:1.6}
.ghost{fill:none;stroke-width:1.2;stroke-dasharray:4 3}
.miss{stroke-width:1.2}
.key{stroke-width:1.6}
.edge{stroke-width:1}
.label{paint-order:stroke;stroke-width:3px;stroke-linejoin:round}
";

/// The colours of one theme.
struct Colours {
    /// Behind everything; drawn only where one theme is asked for.
    page: &'static str,
    ink: &'static str,
    /// Text that says less.
    quiet: &'static str,
    /// Grids and frames.
    faint: &'static str,
    wall: &'static str,
    curve: &'static str,
    /// Where something must be.
    target: &'static str,
    /// Text about targets, with more contrast.
    miss: &'static str,
}

const LIGHT: Colours = Colours {
    page: "#ffffff",
    ink: "#1f2328",
    quiet: "#59636e",
    faint: "#d8dee4",
    wall: "#f3f5f7",
    curve: "#0072b2",
    target: "#d55e00",
    miss: "#b34700",
};

const DARK: Colours = Colours {
    page: "#0d1117",
    ink: "#e6edf3",
    quiet: "#9da7b1",
    faint: "#333b45",
    wall: "#171d25",
    curve: "#56b4e9",
    target: "#f0883e",
    miss: "#f5a35f",
};

impl Colours {
    fn of(theme: Theme) -> &'static Colours {
        match theme {
            Theme::Light => &LIGHT,
            Theme::Dark => &DARK,
        }
    }

    fn style(&self) -> String {
        let Colours { page, ink, quiet, faint, wall, curve, target, miss } = self;
        format!(
            "text{{fill:{ink}}}\n.quiet{{fill:{quiet}}}\n.wall{{fill:{wall};stroke:{faint}}}\n\
             .grid,.frame{{fill:none;stroke:{faint}}}\n.curve{{stroke:{curve}}}\n.before{{stroke:{quiet}}}\n\
             .trail,.edge{{stroke:{ink}}}\n.key{{fill:{page};stroke:{curve}}}\n.fill{{fill:{curve}}}\n\
             .target,.ghost,.miss{{stroke:{target}}}\n.dot{{fill:{target}}}\n.word{{fill:{miss}}}\n.label{{stroke:{page};stroke-opacity:.8}}\n"
        )
    }
}

/// The whole document. Without a theme it follows its reader's and has no background.
pub(super) fn document(
    title: &str,
    (width, height): (f64, f64),
    canvas: &Canvas,
    theme: Option<Theme>,
) -> String {
    let style = match theme {
        Some(theme) => Colours::of(theme).style(),
        None => {
            let dark = DARK.style();
            format!("{}@media (prefers-color-scheme:dark){{\n{dark}}}\n", LIGHT.style())
        }
    };
    let page = theme.map(|theme| {
        let page = Element::new("rect").set("width", "100%").set("height", "100%");
        page.set("fill", Colours::of(theme).page)
    });
    let size = coordinate;
    let mut out = String::new();
    let root = Element::new("svg")
        .set("xmlns", "http://www.w3.org/2000/svg")
        .set("viewBox", &format!("0 0 {} {}", size(width), size(height)))
        .set("width", &size(width))
        .set("height", &size(height))
        .set("role", "img");
    let mut root = root.child(Element::new("title").content(title));
    let _ = write!(root.content, "<style>\n{STYLE}{style}</style>\n");
    root = page.into_iter().fold(root, Element::child);
    root.content += &canvas.0;
    root.write(&mut out);
    out.push('\n');
    out
}
