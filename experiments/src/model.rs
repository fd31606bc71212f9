//! The models that commands take: a scene file, a formula, or a file with a formula.

use std::path::Path;

use clap::Args;
use keyfit::ir::{Names, Scene, Track};

use crate::failure::{Failure, Source};

/// The name of a formula's only channel.
pub const FORMULA_CHANNEL: &str = "y";

/// The model that a command works on.
#[derive(Args)]
pub struct ModelArgs {
    /// A scene file (RectSL), a formula such as '?gain=1*t + ?bias=0', or a file that holds a formula
    pub model: String,
    /// Where free parameters start: name=value,… (names of a formula need no ? then)
    #[arg(long, value_name = "NAME=VALUE,…", allow_hyphen_values = true)]
    pub start: Vec<String>,
}

/// A model that has been read.
pub struct Model {
    /// The channels by name, parameters at their starts.
    pub channels: Vec<(String, Track)>,
    /// The scene, if the model is one.
    pub scene: Option<Scene>,
}

impl ModelArgs {
    /// Reads the model. In a formula, the names of `columns` mean these tracks.
    pub fn load(&self, columns: Names) -> Result<Model, Failure> {
        let starts = self.starts()?;
        let source = self.source()?;
        let model = if is_rectsl(&source) {
            let scene = Scene::parse_rectsl(&source.text).map_err(|e| Failure::syntax(&source, &e))?;
            let channels = scene.channels().into_iter().map(|(name, track)| (name, track.clone())).collect();
            Model { channels, scene: Some(scene) }
        } else {
            let names = starts.iter().fold(columns, |names, (name, value)| names.start(name, *value));
            let track = Track::parse_with(&source.text, &names).map_err(|e| Failure::syntax(&source, &e))?;
            Model { channels: vec![(FORMULA_CHANNEL.into(), track)], scene: None }
        };
        model.restart(&starts)
    }

    fn source(&self) -> Result<Source, Failure> {
        let path = Path::new(&self.model);
        let looks_like_a_file = path.extension().is_some_and(|e| e == "rectsl");
        if looks_like_a_file || path.is_file() {
            return read(&self.model);
        }
        Ok(Source { name: "formula".into(), text: self.model.clone() })
    }

    fn starts(&self) -> Result<Vec<(String, f64)>, Failure> {
        let mut starts: Vec<(String, f64)> = Vec::new();
        for text in &self.start {
            for (name, value) in pairs("--start", text)? {
                if starts.iter().any(|(known, _)| *known == name.text) {
                    return Err(Failure::at(
                        &name.source,
                        name.span,
                        format!("{} is given two starts", name.text),
                    ));
                }
                starts.push((name.text, value));
            }
        }
        Ok(starts)
    }
}

impl Model {
    fn restart(mut self, starts: &[(String, f64)]) -> Result<Model, Failure> {
        let value = |name: &str| starts.iter().find(|(known, _)| known == name).map(|(_, value)| *value);
        let mut names: Vec<String> = Vec::new();
        for (_, track) in &mut self.channels {
            names.extend(track.free_parameters().iter().map(|p| p.name().to_string()));
            *track = track.restart_parameters(value);
        }
        match starts.iter().find(|(name, _)| !names.contains(name)) {
            None => Ok(self),
            Some((stray, _)) => {
                names.dedup();
                let message = format!("--start names {stray}, which is no free parameter of the model");
                Err(Failure::input(message).known(stray, "free parameters", names.iter().map(String::as_str)))
            }
        }
    }

    /// The index of the channel of that name.
    pub fn channel(&self, name: &str) -> Option<usize> {
        let qualified = |own: &str| match self.scene.as_ref().map(|scene| scene.rects.as_slice()) {
            Some([only]) => name.strip_prefix(&only.name).and_then(|c| c.strip_prefix('.')) == Some(own),
            _ => false,
        };
        self.channels.iter().position(|(own, _)| own == name || qualified(own))
    }

    /// The channels' names.
    pub fn channel_names(&self) -> impl Iterator<Item = &str> {
        self.channels.iter().map(|(name, _)| name.as_str())
    }
}

/// Reads a file as UTF-8.
pub fn read(path: &str) -> Result<Source, Failure> {
    let bytes = std::fs::read(path).map_err(|e| Failure::input(format!("{path}: {e}")))?;
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Source { name: path.into(), text: text.trim_start_matches('\u{feff}').into() }),
        Err(e) => {
            Err(Failure::input(format!("{path}: not UTF-8 text, from byte {}", e.utf8_error().valid_up_to())))
        }
    }
}

fn is_rectsl(source: &Source) -> bool {
    source.name.ends_with(".rectsl") || source.text.trim_start().starts_with("#rectsl")
}

/// A word of an argument and where it stands.
pub struct Word {
    /// The word.
    pub text: String,
    /// The argument.
    pub source: Source,
    /// The word's place in it.
    pub span: std::ops::Range<usize>,
}

/// Splits `left=number,left=number` of the option `name`.
pub fn pairs(name: &str, text: &str) -> Result<Vec<(Word, f64)>, Failure> {
    let source = Source { name: name.into(), text: text.into() };
    let mut out = Vec::new();
    let mut at = 0;
    for part in text.split(',') {
        let span = at..at + part.len();
        at += part.len() + 1;
        let Some((left, right)) = part.split_once('=') else {
            return Err(Failure::at(&source, span, "expected name=value, separated by commas"));
        };
        let value = number(&source, span.start + left.len() + 1..span.end, right)?;
        let word = Word {
            text: left.trim().into(),
            source: source.clone(),
            span: span.start..span.start + left.len(),
        };
        out.push((word, value));
    }
    Ok(out)
}

/// A finite number that stands at `span` of `source`.
pub fn number(source: &Source, span: std::ops::Range<usize>, text: &str) -> Result<f64, Failure> {
    match text.trim().parse::<f64>() {
        Ok(x) if x.is_finite() => Ok(x),
        Ok(x) => Err(Failure::at(source, span, format!("{x} is not a finite number"))),
        Err(_) => Err(Failure::at(source, span, format!("{text:?} is not a number"))),
    }
}
