//! Pictures of convergence as SVG.

use plotters::prelude::*;
use thiserror::Error;

use crate::comparison::Run;

/// A chart could not be drawn.
#[derive(Debug, Error)]
#[error("the chart could not be drawn: {0}")]
pub struct ChartError(String);

const SIZE: (u32, u32) = (920, 480);
/// The width of the column that names the solvers, right of the plot, where no line can run under it.
const KEY_WIDTH: u32 = 170;
/// The most pixels from one solver's name to the next.
const KEY_STEP: usize = 24;
/// Okabe and Ito's colours, told apart by colour-blind readers too, and two more; then the same, paler.
const COLOURS: [RGBColor; 18] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(0, 0, 0),
    RGBColor(153, 153, 153),
    RGBColor(133, 92, 40),
    RGBColor(127, 184, 216),
    RGBColor(234, 174, 127),
    RGBColor(127, 206, 185),
    RGBColor(229, 188, 211),
    RGBColor(242, 207, 127),
    RGBColor(170, 217, 244),
    RGBColor(127, 127, 127),
    RGBColor(204, 204, 204),
    RGBColor(194, 173, 147),
];

/// The sum of squares against residual evaluations, both logarithmic: a colour a solver, start 1 drawn through and
/// later starts dashed. Runs without a trace are left out; a sum of 0 is drawn at the lower edge.
///
/// # Errors
/// Where the drawing backend fails.
pub fn convergence(title: &str, runs: &[&Run]) -> Result<String, ChartError> {
    let mut svg = String::new();
    draw(title, runs, &mut svg).map_err(|e| ChartError(e.to_string()))?;
    Ok(svg)
}

fn draw(title: &str, runs: &[&Run], svg: &mut String) -> Result<(), Box<dyn std::error::Error>> {
    let points = || runs.iter().flat_map(|run| &run.trace);
    let exponents =
        points().map(|p| core_math::log10(p.sum_of_squares)).filter(|exponent| exponent.is_finite());
    let (low, high) = exponents.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), e| (l.min(e), h.max(e)));
    let (low, high) = if low <= high { (low.floor().max(high - 32.0), high.ceil()) } else { (0.0, 1.0) };
    let high = high.max(low + 1.0);
    let last = points().map(|p| p.residual_evaluations).max().unwrap_or(1);

    let root = SVGBackend::with_string(svg, SIZE).into_drawing_area();
    root.fill(&WHITE)?;
    let (plot, key) = root.split_horizontally(SIZE.0 - KEY_WIDTH);
    let mut chart = ChartBuilder::on(&plot)
        .caption(title, ("sans-serif", 20))
        .margin(12)
        .x_label_area_size(44)
        .y_label_area_size(76)
        .build_cartesian_2d((1.0..(last as f64).max(2.0)).log_scale(), low..high)?;
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(RGBColor(225, 225, 225))
        .x_desc("residual evaluations")
        .y_desc("sum of squared residuals")
        .x_label_formatter(&|x| format!("{x:.0}"))
        .y_label_formatter(&|y| match y.fract() {
            0.0 => format!("1e{y:.0}"),
            _ => format!("{:.1e}", core_math::exp10(*y)),
        })
        .draw()?;
    let mut names: Vec<&str> = runs.iter().map(|run| run.solver).collect();
    names.sort_unstable();
    names.dedup();
    let step = KEY_STEP.min((SIZE.1 as usize - 90) / names.len().max(1)) as i32;
    let mut solvers: Vec<&str> = Vec::new();
    for run in runs.iter().filter(|run| !run.trace.is_empty()) {
        let known = solvers.iter().position(|name| *name == run.solver);
        let style = COLOURS[known.unwrap_or(solvers.len()) % COLOURS.len()].stroke_width(2);
        let line = run.trace.iter().filter(|p| !p.sum_of_squares.is_nan()).map(|p| {
            ((p.residual_evaluations as f64).max(1.0), core_math::log10(p.sum_of_squares).clamp(low, high))
        });
        if run.start > 1 {
            chart.draw_series(DashedLineSeries::new(line, 6, 4, style))?;
        } else {
            chart.draw_series(LineSeries::new(line, style))?;
        }
        if known.is_none() {
            let y = 60 + step * solvers.len() as i32;
            key.draw(&PathElement::new([(0, y), (20, y)], style))?;
            key.draw(&Text::new(run.solver, (28, y - 6), ("sans-serif", 13)))?;
            solvers.push(run.solver);
        }
    }
    root.present()?;
    Ok(())
}
