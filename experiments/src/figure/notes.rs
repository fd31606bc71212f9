//! What is said beside a scene's pictures.

use keyfit_ir::{Quantity, Rate, Scene};

use super::axis::{parameter, significant, time};
use super::channel::worst_miss;
use super::scene::Band;
use super::svg::{Canvas, Element, point};
use super::{MARGIN, cut};

/// Between lines of notes.
const LINE: f64 = 17.0;
/// Parameters that are named in a band; of more, the rest is counted.
const PARAMETERS: usize = 9;

/// What a picture does not show.
#[derive(Default)]
pub(super) struct Lost {
    pub undefined: usize,
    pub outside: usize,
    pub targets: usize,
    pub dense: bool,
}

impl Lost {
    pub(super) fn words(&self, drawn: usize) -> Vec<String> {
        let mut words = Vec::new();
        if self.undefined > 0 {
            words.push(format!("no place at {} of {drawn} times", self.undefined));
        }
        if self.outside > 0 {
            words.push(format!("outside at {} of {drawn} times", self.outside));
        }
        if self.targets > 0 {
            words.push(format!("targets not shown: {}", self.targets));
        }
        if self.dense {
            words.push("faster than lines can show".into());
        }
        words
    }
}

/// The words left of a picture; gives the height at which they end.
pub(super) fn notes(canvas: &mut Canvas, band: &Band, top: f64, remarks: Vec<String>) -> f64 {
    const MOST: usize = 32;
    let mut y = top + 12.0;
    let mut line = |class: &str, text: &str, below: f64| {
        canvas.add(Element::text(class, point(MARGIN, y), &cut(text, MOST)));
        y += below;
    };
    line("name", &band.name, LINE + 4.0);
    if let Some(note) = &band.note {
        line("quiet", note, LINE);
    }
    for (miss, place) in worst(&band.scene) {
        line("word", &miss, LINE);
        line("small quiet", &place, LINE + 5.0);
    }
    let mut parameters: Vec<(&str, f64)> = Vec::new();
    for p in band.scene.rects.iter().flat_map(|rect| &rect.tracks).flat_map(|track| track.free_parameters()) {
        if !parameters.iter().any(|(name, _)| *name == p.name()) {
            parameters.push((p.name(), p.start()));
        }
    }
    for (name, value) in parameters.iter().take(PARAMETERS) {
        line("", &format!("{} = {}", cut(name, 20), parameter(*value)), LINE);
    }
    if parameters.len() > PARAMETERS {
        line("quiet", &format!("and {} more", parameters.len() - PARAMETERS), LINE);
    }
    for remark in remarks {
        line("quiet", &remark, LINE);
    }
    y
}

/// The worst miss of lengths and that of angles, and of their rates, with the places where they are.
fn worst(scene: &Scene) -> Vec<(String, String)> {
    let several = scene.rects.len() > 1;
    let length = scene.wall.as_ref().map_or("", |wall| short_unit(&wall.unit));
    let mut misses = Vec::new();
    for rate in [None].into_iter().chain(Rate::ALL.map(Some)) {
        let mut worst: [Option<(f64, String)>; 2] = [None, None];
        for (rect, quantity) in
            scene.rects.iter().flat_map(|rect| Quantity::ALL.map(|quantity| (rect, quantity)))
        {
            let targets = match rate {
                None => &rect.targets[quantity as usize],
                Some(rate) => &rect.rate_targets[quantity as usize][rate as usize],
            };
            let Some((t, miss)) = worst_miss(rect.track(quantity), rate, targets) else { continue };
            let of = &mut worst[usize::from(quantity == Quantity::Rotate)];
            if of.as_ref().is_none_or(|(worst, _)| miss > *worst || miss.is_nan()) {
                let name = if several { format!("{}.", rect.name) } else { String::new() } + quantity.name();
                let name = rate.map_or(name.clone(), |rate| rate.of_channel(&name));
                *of = Some((miss, format!("{name} at {} s", time(t))));
            }
        }
        let with_units = worst.into_iter().zip([length, "rad"]);
        misses
            .extend(with_units.filter_map(|(worst, unit)| worst.map(|worst| (worst, rate_unit(unit, rate)))));
    }
    let exact = misses.iter().all(|((miss, _), _)| *miss == 0.0);
    let told = if exact { misses.into_iter().take(1).collect() } else { misses };
    let words = told.into_iter().filter(|((miss, _), _)| exact || *miss != 0.0);
    let words = words.map(|((miss, place), unit)| match miss {
        0.0 => (format!("worst miss 0 {unit}").trim_end().into(), "all targets are met exactly".into()),
        _ if miss.is_nan() => ("no value at a target".into(), place),
        _ => (format!("worst miss {} {unit}", significant(miss, 2)).trim_end().into(), place),
    });
    words.collect()
}

/// The unit of values in `unit`, or of a rate of theirs; none of what has none.
pub(super) fn rate_unit(unit: &str, rate: Option<Rate>) -> String {
    match rate {
        Some(_) if unit.is_empty() => String::new(),
        Some(Rate::Velocity) => format!("{unit}/s"),
        Some(Rate::Acceleration) => format!("{unit}/s²"),
        None => unit.into(),
    }
}

/// A unit as it is written behind a number.
pub fn short_unit(unit: &str) -> &str {
    match unit {
        "meter" | "meters" | "metre" | "metres" => "m",
        "centimeter" | "centimeters" | "centimetres" => "cm",
        "millimeter" | "millimeters" | "millimetres" => "mm",
        "kilometer" | "kilometers" | "kilometres" => "km",
        "foot" | "feet" => "ft",
        "inch" | "inches" => "in",
        "pixel" | "pixels" => "px",
        other => other,
    }
}
