//! Pictures of convergence as SVG.

use plotters::prelude::*;
use thiserror::Error;

use crate::comparison::Run;

/// A chart could not be drawn.
#[derive(Debug, Error)]
#[error("the chart could not be drawn: {0}")]
pub struct ChartError(String);

const SIZE: (u32, u32) = (860, 480);
/// Okabe and Ito's colours, told apart by colour-blind readers too.
const COLOURS: [RGBColor; 7] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(0, 0, 0),
];

/// The sum of squares against residual evaluations, both logarithmic, a line a run; runs without a trace are left out.
///
/// A sum of squares of 0 is drawn at the lower edge.
///
/// # Errors
/// Where the drawing backend fails.
pub fn convergence(title: &str, runs: &[&Run]) -> Result<String, ChartError> {
    let mut svg = String::new();
    draw(title, runs, &mut svg).map_err(|e| ChartError(e.to_string()))?;
    Ok(svg)
}

fn draw(title: &str, runs: &[&Run], svg: &mut String) -> Result<(), Box<dyn std::error::Error>> {
    let costs = runs.iter().flat_map(|run| &run.trace).map(|point| point.sum_of_squares);
    let positive = costs.filter(|cost| cost.is_finite() && *cost > 0.0);
    let (low, high) = positive.fold((f64::INFINITY, 0.0_f64), |(low, high), c| (low.min(c), high.max(c)));
    let (low, high) = if low <= high { (low.max(1e-32 * high), high) } else { (0.1, 1.0) };
    let (low, high) = (low / 10.0, high * 10.0);
    let last = runs.iter().flat_map(|run| &run.trace).map(|p| p.residual_evaluations).max().unwrap_or(1);

    let root = SVGBackend::with_string(svg, SIZE).into_drawing_area();
    root.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&root)
        .caption(title, ("sans-serif", 20))
        .margin(12)
        .x_label_area_size(44)
        .y_label_area_size(76)
        .build_cartesian_2d((1.0..(last as f64).max(2.0)).log_scale(), (low..high).log_scale())?;
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(RGBColor(225, 225, 225))
        .x_desc("residual evaluations")
        .y_desc("sum of squared residuals")
        .x_label_formatter(&|x| format!("{x:.0}"))
        .y_label_formatter(&|y| format!("{y:.0e}"))
        .draw()?;
    for (i, run) in runs.iter().filter(|run| !run.trace.is_empty()).enumerate() {
        let colour = COLOURS[i % COLOURS.len()];
        let points = run.trace.iter().filter(|point| !point.sum_of_squares.is_nan()).map(|point| {
            ((point.residual_evaluations as f64).max(1.0), point.sum_of_squares.clamp(low, high))
        });
        chart
            .draw_series(LineSeries::new(points, colour.stroke_width(2)))?
            .label(format!("{}, start {}", run.solver, run.start))
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], colour.stroke_width(2)));
    }
    chart
        .configure_series_labels()
        .background_style(WHITE.mix(0.85))
        .border_style(RGBColor(200, 200, 200))
        .label_font(("sans-serif", 13))
        .draw()?;
    root.present()?;
    Ok(())
}
