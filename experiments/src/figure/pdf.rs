//! SVG to PDF: lines and filled shapes, letters among them, as usvg lays them out.
//!
//! Strokes are opaque and nothing is clipped: figures of lines are so.

use pdf_writer::types::LineCapStyle;
use pdf_writer::writers::ExtGraphicsState;
use pdf_writer::{Content, Filter, Finish, Name, Pdf, Rect, Ref};
use resvg::tiny_skia::{Path, PathSegment, Point, Transform};
use resvg::usvg::{Group, LineCap, Node, Paint, PaintOrder};

use super::png::{PngError, tree};

/// Draws with the fonts that are compiled in; the same bytes on every machine.
pub(super) fn render(svg: &str, (width, height): (f64, f64)) -> Result<Vec<u8>, PngError> {
    let tree = tree(svg)?;
    let mut content = Content::new();
    let mut opacities = Vec::new();
    // y grows upwards in PDF
    content.transform([1.0, 0.0, 0.0, -1.0, 0.0, height as f32]);
    // shapes in groups in groups, without recursion
    let mut open: Vec<&Node> = nodes(tree.root()).collect();
    while let Some(node) = open.pop() {
        match node {
            Node::Group(group) => open.extend(nodes(group)),
            Node::Text(text) => open.extend(nodes(text.flattened())),
            Node::Path(path) if path.is_visible() => shape(&mut content, path, &mut opacities),
            Node::Path(_) | Node::Image(_) => {}
        }
    }
    let [catalog, pages, page, stream] = [1, 2, 3, 4].map(Ref::new);
    let packed = miniz_oxide::deflate::compress_to_vec_zlib(&content.finish().into_vec(), 6);
    let mut pdf = Pdf::new();
    pdf.catalog(catalog).pages(pages);
    pdf.pages(pages).kids([page]).count(1);
    let mut sheet = pdf.page(page);
    sheet.parent(pages).media_box(Rect::new(0.0, 0.0, width as f32, height as f32)).contents(stream);
    let mut resources = sheet.resources();
    let mut states = resources.ext_g_states();
    for (k, opacity) in opacities.iter().enumerate() {
        states.insert(Name(state(k).as_bytes())).start::<ExtGraphicsState>().non_stroking_alpha(*opacity);
    }
    states.finish();
    resources.finish();
    sheet.finish();
    pdf.stream(stream, &packed).filter(Filter::FlateDecode);
    Ok(pdf.finish())
}

/// From the last to the first, as a stack takes them.
fn nodes(group: &Group) -> impl Iterator<Item = &Node> {
    group.children().iter().rev()
}

fn colour(paint: &Paint) -> Option<[f32; 3]> {
    match paint {
        Paint::Color(colour) => {
            Some([colour.red, colour.green, colour.blue].map(|part| f32::from(part) / 255.0))
        }
        _ => None,
    }
}

/// The name of the k-th opacity.
fn state(k: usize) -> String {
    format!("O{k}")
}

/// Draws a shape; the opacities that are needed are collected, each once.
fn shape(content: &mut Content, path: &resvg::usvg::Path, opacities: &mut Vec<f32>) {
    // what keeps lines away from letters is behind these
    if path.paint_order() == PaintOrder::StrokeAndFill {
        stroke(content, path);
        fill(content, path, opacities);
    } else {
        fill(content, path, opacities);
        stroke(content, path);
    }
}

fn fill(content: &mut Content, path: &resvg::usvg::Path, opacities: &mut Vec<f32>) {
    if let Some((fill, [r, g, b])) = path.fill().and_then(|fill| Some((fill, colour(fill.paint())?))) {
        let opacity = fill.opacity().get();
        let known = opacities.iter().position(|own| *own == opacity).unwrap_or_else(|| {
            opacities.push(opacity);
            opacities.len() - 1
        });
        content.set_parameters(Name(state(known).as_bytes())).set_fill_rgb(r, g, b);
        outline(content, path.data(), path.abs_transform());
        content.fill_nonzero();
    }
}

fn stroke(content: &mut Content, path: &resvg::usvg::Path) {
    let Some(stroke) = path.stroke() else { return };
    if let Some([r, g, b]) = colour(stroke.paint()) {
        let round = stroke.linecap() == LineCap::Round;
        let cap = if round { LineCapStyle::RoundCap } else { LineCapStyle::ButtCap };
        content.set_stroke_rgb(r, g, b).set_line_width(stroke.width().get()).set_line_cap(cap);
        content.set_dash_pattern(stroke.dasharray().unwrap_or_default().iter().copied(), 0.0);
        outline(content, path.data(), path.abs_transform());
        content.stroke();
    }
}

fn outline(content: &mut Content, path: &Path, transform: Transform) {
    let mut here = Point::zero();
    let place = |mut point: Point| {
        transform.map_point(&mut point);
        point
    };
    for segment in path.segments() {
        match segment {
            PathSegment::MoveTo(to) => {
                here = place(to);
                content.move_to(here.x, here.y);
            }
            PathSegment::LineTo(to) => {
                here = place(to);
                content.line_to(here.x, here.y);
            }
            PathSegment::QuadTo(by, to) => {
                // the cubic of the same curve
                let (by, to) = (place(by), place(to));
                let toward =
                    |end: Point| (end.x + (by.x - end.x) * 2.0 / 3.0, end.y + (by.y - end.y) * 2.0 / 3.0);
                let ((x1, y1), (x2, y2)) = (toward(here), toward(to));
                content.cubic_to(x1, y1, x2, y2, to.x, to.y);
                here = to;
            }
            PathSegment::CubicTo(first, second, to) => {
                let (first, second) = (place(first), place(second));
                here = place(to);
                content.cubic_to(first.x, first.y, second.x, second.y, here.x, here.y);
            }
            PathSegment::Close => {
                content.close_path();
            }
        }
    }
}
