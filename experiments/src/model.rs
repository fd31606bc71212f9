//! The models that commands take: a scene file, a formula, or a file with a formula.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::io::Read;
use std::ops::Range;
use std::path::Path;

use clap::Args;
use keyfit::ir::cinematic::{TICKS_PER_SECOND, seconds};
use keyfit::ir::{Channel, CinematicScene, Names, Parameter, Scene, Track};
use keyfit::rates::{Rate, RateTargets, aim_rates, rate_channel};
use keyfit::rewrite::fpcore::{self, Core, Ranges};
use keyfit::solvers::Tie;

use crate::data::Table;
use crate::failure::{Failure, Source};

/// How the names of scenes in RectSL end.
const RECTSL_FILES: [&str; 1] = [".rectsl"];
/// How the names of scenes in YAML end.
const YAML_FILES: [&str; 2] = [".yaml", ".yml"];
/// How the names of files in FPCore end.
const FPCORE_FILES: [&str; 1] = [".fpcore"];

/// The name of a formula's only channel.
pub const FORMULA_CHANNEL: &str = "y";

/// The model that a command works on.
#[derive(Args)]
pub struct ModelArgs {
    /// A scene file (RectSL or YAML), a formula such as '?gain=1*t + ?bias=0', a file that holds a formula or FPCore, or -
    /// for stdin
    #[arg(allow_hyphen_values = true)]
    pub model: String,
    /// Where free parameters start: name=value,… (names of a formula need no ? then)
    #[arg(long, value_name = "NAME=VALUE,…", allow_hyphen_values = true)]
    pub start: Vec<String>,
}

/// A model that has been read.
pub struct Model {
    /// The channels with the targets for values that the model itself holds; parameters at their starts.
    pub channels: Vec<Channel>,
    /// The text that it was read from.
    pub source: Source,
    /// What stands in that.
    pub document: Document,
    /// Parameters that have become formulas of others.
    pub ties: Vec<Tie>,
}

/// What a model can be read from.
pub enum Document {
    /// A formula.
    Formula,
    /// A scene in RectSL.
    Rects(Scene),
    /// A scene of cameras, actors and effects in YAML.
    Cinematic(CinematicScene),
    /// FPCores, one a channel.
    Fpcore(Vec<Core>),
}

impl ModelArgs {
    /// Reads the model. In a formula the names of `table`'s columns are tracks.
    pub fn load(&self, table: Option<&mut Table>) -> Result<Model, Failure> {
        let starts = self.starts()?;
        let source = self.source()?;
        let scene_has_time = || table.as_ref().map_or(Ok(()), |table| table.check_time("the scene"));
        let (channels, document) = if is_yaml(&source) {
            let scene = CinematicScene::parse_yaml(&source.text);
            let scene = scene.map_err(|e| Failure::all_syntax(&source, &e))?;
            scene_has_time()?;
            (scene.channels(), Document::Cinematic(scene))
        } else if is_rectsl(&source) {
            let scene = Scene::parse_rectsl(&source.text).map_err(|e| Failure::all_syntax(&source, &e))?;
            scene_has_time()?;
            (scene.channels(), Document::Rects(scene))
        } else if is_fpcore(&source) {
            let cores = fpcore::read(&source.text).map_err(|e| Failure::all_syntax(&source, &e))?;
            scene_has_time()?;
            (core_channels(&cores), Document::Fpcore(cores))
        } else {
            let track = self.formula(&source, &starts, table)?;
            let channel = Channel { name: FORMULA_CHANNEL.into(), track, targets: Vec::new() };
            (vec![channel], Document::Formula)
        };
        Model { channels, source, document, ties: Vec::new() }.restart(&starts)
    }

    fn formula(
        &self,
        source: &Source,
        starts: &[(String, f64)],
        table: Option<&mut Table>,
    ) -> Result<Track, Failure> {
        let parse = |names: &Names| {
            Track::parse_with(&source.text, names).map_err(|e| {
                let failure = Failure::syntax(source, &e);
                match looks_like_a_path(&source.text) {
                    true => {
                        failure.hint(format!("this was read as a formula: there is no file {}", source.text))
                    }
                    false => failure,
                }
            })
        };
        let names = || Names::new().starts(starts.iter().map(|(name, value)| (name, *value)));
        let Some(table) = table else { return parse(&names()) };
        // columns as plain parameters at first, to see which ones the formula uses, and whether it uses t
        let probe = parse(&names().starts(table.column_names().map(|column| (column, 0.5))))?;
        let used: HashSet<&str> = probe.free_parameters().iter().map(|p| p.name()).collect();
        table.leave_out(&used);
        if let Some((name, _)) = starts.iter().find(|(name, _)| table.column_names().any(|c| c == name)) {
            return Err(Failure::input(format!("--start names {name}, which is a column of the data")));
        }
        if !probe.is_time_invariant() {
            table.check_time("the formula")?;
        }
        table.note_unused(&used);
        parse(&table.tracks(&used, names())?)
    }

    fn source(&self) -> Result<Source, Failure> {
        let path = Path::new(&self.model);
        if path.is_dir() {
            return Err(Failure::input(format!("{} is a folder, not a scene or formula", self.model)));
        }
        if self.model == "-"
            || path.exists()
            || is_named(&self.model, &RECTSL_FILES)
            || is_named(&self.model, &YAML_FILES)
            || is_named(&self.model, &FPCORE_FILES)
        {
            return read(&self.model);
        }
        Ok(Source { name: "formula".into(), text: self.model.clone() })
    }

    fn starts(&self) -> Result<Vec<(String, f64)>, Failure> {
        let mut starts: Vec<(String, f64)> = Vec::new();
        for text in &self.start {
            let source = Source { name: "--start".into(), text: text.clone() };
            for (span, value) in pairs(&source, 0)? {
                let name = text[span.clone()].trim().trim_start_matches('?').to_string();
                if starts.iter().any(|(known, _)| *known == name) {
                    return Err(Failure::at(&source, span, format!("{name} is given two starts")));
                }
                starts.push((name, value));
            }
        }
        Ok(starts)
    }
}

/// Whether an argument that is no file was perhaps meant to be one.
fn looks_like_a_path(text: &str) -> bool {
    let named = |c: char| c.is_alphanumeric() || "/._-".contains(c);
    text.chars().all(named) && text.contains(['/', '.'])
}

impl Model {
    fn restart(mut self, starts: &[(String, f64)]) -> Result<Model, Failure> {
        self.check_parameters("--start", starts.iter().map(|(name, _)| name))?;
        let value = |name: &str| starts.iter().find(|(known, _)| known == name).map(|(_, value)| *value);
        for Channel { track, .. } in &mut self.channels {
            *track = track.restart_parameters(value);
        }
        Ok(self)
    }

    /// Puts the starts of these parameters in their places as numbers.
    pub fn fix(&mut self, names: &[String]) -> Result<(), Failure> {
        self.check_parameters("--fix", names.iter())?;
        for Channel { track, .. } in &mut self.channels {
            let starts: Vec<(String, f64)> =
                track.free_parameters().iter().map(|p| (p.name().to_string(), p.start())).collect();
            let start = |name: &str| starts.iter().find(|(own, _)| own == name).map(|(_, start)| *start);
            *track = track
                .substitute_parameters(|name| start(name).filter(|_| names.iter().any(|own| own == name)));
        }
        Ok(())
    }

    /// Whether all of these are free parameters; `option` names them.
    pub fn check_parameters<'a>(
        &self,
        option: &str,
        mut given: impl Iterator<Item = &'a String>,
    ) -> Result<(), Failure> {
        let known = self.parameter_names();
        match given.find(|name| !known.contains(name.as_str())) {
            None => Ok(()),
            Some(stray) => {
                let message = format!("{option} names {stray}, which is no free parameter of the model");
                Err(Failure::input(message).known(stray, "free parameters", known))
            }
        }
    }

    /// The index of the channel of that name.
    pub fn channel(&self, name: &str) -> Option<usize> {
        let name: Cow<'_, str> = match &self.document {
            Document::Formula | Document::Fpcore(_) => name.into(),
            Document::Rects(scene) => scene.channel_name(name).into(),
            Document::Cinematic(scene) => scene.channel_name(name).into(),
        };
        self.channel_names().position(|own| own == name)
    }

    /// The index of the channel of that name. A channel's velocity or acceleration joins the channels when it is asked for.
    pub fn aimed(&mut self, name: &str) -> Result<Option<usize>, Failure> {
        if let Some(index) = self.channel(name) {
            return Ok(Some(index));
        }
        let Some((of, rate)) = Rate::of(name) else { return Ok(None) };
        let Some(of) = self.channel(of).and_then(|index| self.channels.get(index)) else { return Ok(None) };
        let channel = rate_channel(of, rate).map_err(Failure::input)?;
        let known = self.channel_names().position(|own| own == channel.name);
        Ok(Some(known.unwrap_or_else(|| {
            self.channels.push(channel);
            self.channels.len() - 1
        })))
    }

    /// The targets for velocities and accelerations that the model itself holds.
    pub fn own_rates(&self) -> Vec<RateTargets> {
        match &self.document {
            Document::Formula | Document::Fpcore(_) => Vec::new(),
            Document::Rects(scene) => scene.rate_targets(),
            Document::Cinematic(scene) => scene.rate_targets(),
        }
    }

    /// Gives these to the channels.
    pub fn aim_own_rates(&mut self) -> Result<(), Failure> {
        let own = self.own_rates();
        aim_rates(&mut self.channels, own).map_err(Failure::input)
    }

    /// The text that the model was read from with free parameters starting where `value` says, in the same language and with the model's
    /// own targets. Formulas and RectSL stay otherwise as they are written.
    pub fn restarted_text(&self, value: impl Fn(&str) -> Option<f64>) -> Result<String, Failure> {
        let text = &self.source.text;
        let syntax = |error| Failure::syntax(&self.source, &error);
        let mut text = match &self.document {
            Document::Formula => Track::restart_formula(text, value).map_err(syntax)?,
            Document::Rects(_) => Scene::restart_rectsl(text, value).map_err(syntax)?,
            Document::Cinematic(scene) => match scene.restart_parameters(value) {
                Ok(scene) => scene.to_yaml(),
                Err(faults) => return Err(Failure::all(faults.into_iter().map(Failure::input))),
            },
            Document::Fpcore(cores) => {
                let restart = |core: &Core| core.with_track(&core.track.restart_parameters(&value)).write();
                cores.iter().map(restart).collect::<Result<Vec<String>, _>>()?.join("\n")
            }
        };
        if !text.ends_with('\n') {
            text.push('\n');
        }
        Ok(text)
    }

    /// The current values of all free parameters.
    pub fn starts(&self) -> BTreeMap<String, f64> {
        let free = self.channels.iter().flat_map(|channel| channel.track.free_parameters());
        free.map(|p| (p.name().to_string(), p.start())).collect()
    }

    /// The channel of that name, all of them if there is none.
    pub fn chosen(&self, name: Option<&str>) -> Result<&[Channel], Failure> {
        let Some(name) = name else { return Ok(&self.channels) };
        self.channel(name).and_then(|i| self.channels.get(i..=i)).ok_or_else(|| {
            let failure = Failure::input(format!("there is no channel {name}"));
            failure.known(name, "channels", self.channel_names())
        })
    }

    /// The prefixes of the channels of what moves in the plane: `marker.` for `marker.x` and `marker.y`.
    pub fn movers(&self) -> Vec<&str> {
        match &self.document {
            // what flies through space has no angle in the plane of x and y
            Document::Formula | Document::Fpcore(_) | Document::Cinematic(_) => Vec::new(),
            Document::Rects(_) => self.channel_names().filter_map(|name| name.strip_suffix('x')).collect(),
        }
    }

    /// The names of all free parameters.
    pub fn parameter_names(&self) -> BTreeSet<&str> {
        let free = self.channels.iter().flat_map(|channel| channel.track.free_parameters());
        free.map(Parameter::name).collect()
    }

    /// What stands before a channel's text: its name, or nothing for a formula's only channel.
    pub fn label(&self, channel: &str) -> String {
        if self.is_formula() { String::new() } else { format!("{channel}: ") }
    }

    /// Whether it is a formula or one core, whose only channel needs no name.
    pub fn is_formula(&self) -> bool {
        match &self.document {
            Document::Formula => true,
            Document::Fpcore(cores) => cores.len() == 1,
            Document::Rects(_) | Document::Cinematic(_) => false,
        }
    }

    /// The channel of this number with `track` in its place, as a core: with what its own core says, if it was read from one.
    pub fn core(&self, channel: usize, track: &Track) -> Core {
        match (&self.document, self.channels.get(channel)) {
            (Document::Fpcore(cores), _) if let Some(core) = cores.get(channel) => core.with_track(track),
            (_, Some(Channel { name, .. })) if !self.is_formula() => Core::new(Some(name), track),
            _ => Core::new(None, track),
        }
    }

    /// The ranges that the channel of this number says itself, and the name of its clock among them.
    pub fn ranges(&self, channel: usize) -> (Ranges, Option<&str>) {
        let Document::Fpcore(cores) = &self.document else { return (Ranges::new(), None) };
        cores.get(channel).map(|core| (core.ranges.clone(), core.clock.as_deref())).unwrap_or_default()
    }

    /// The scene of rects, if it is one, with its parameters as they are written.
    pub fn scene(&self) -> Option<&Scene> {
        if let Document::Rects(scene) = &self.document { Some(scene) } else { None }
    }

    /// Frames per second, and how many seconds the model runs, if it says so.
    pub fn frames(&self) -> Option<(f64, f64)> {
        match &self.document {
            Document::Formula | Document::Fpcore(_) => None,
            Document::Rects(scene) => scene.fps.zip(scene.duration),
            Document::Cinematic(scene) => Some((TICKS_PER_SECOND, seconds(scene.duration()))),
        }
    }

    /// How many seconds the model runs, if it says so.
    pub fn duration(&self) -> Option<f64> {
        match &self.document {
            Document::Formula | Document::Fpcore(_) => None,
            Document::Rects(scene) => scene.duration,
            Document::Cinematic(scene) => Some(seconds(scene.duration())),
        }
    }

    /// The names of all that may have targets: the channels, and the velocities and accelerations of those.
    pub fn aim_names(&self) -> Vec<Cow<'_, str>> {
        let values = || self.channels.iter().filter(|channel| channel.rate_of(&self.channels).is_none());
        let rates = values().flat_map(|channel| Rate::ALL.map(|rate| rate.of_channel(&channel.name).into()));
        values().map(|channel| channel.name.as_str().into()).chain(rates).collect()
    }

    /// The channels' names.
    pub fn channel_names(&self) -> impl Iterator<Item = &str> {
        self.channels.iter().map(|channel| channel.name.as_str())
    }
}

/// Reads a file, or stdin for `-`, as UTF-8.
pub fn read(path: &str) -> Result<Source, Failure> {
    let mut bytes = Vec::new();
    let all = if path == "-" {
        std::io::stdin().read_to_end(&mut bytes).map(|_| bytes)
    } else {
        std::fs::read(path)
    };
    let bytes = all.map_err(|e| Failure::input(format!("{path}: {e}")))?;
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Source { name: path.into(), text: text.trim_start_matches('\u{feff}').into() }),
        Err(e) => {
            Err(Failure::input(format!("{path}: not UTF-8 text, from byte {}", e.utf8_error().valid_up_to())))
        }
    }
}

fn is_named(name: &str, ends: &[&str]) -> bool {
    ends.iter().any(|end| name.ends_with(end))
}

fn is_rectsl(source: &Source) -> bool {
    is_named(&source.name, &RECTSL_FILES) || Scene::is_rectsl(&source.text)
}

/// Whether a text is FPCore: its name says so, or it begins as FPCore does.
fn is_fpcore(source: &Source) -> bool {
    let begun = source.text.lines().find_map(|line| {
        let line = line.trim_start();
        (!line.is_empty() && !line.starts_with(';')).then_some(line)
    });
    let looks = || {
        begun
            .and_then(|line| line.strip_prefix('('))
            .is_some_and(|rest| rest.trim_start().starts_with("FPCore"))
    };
    is_named(&source.name, &FPCORE_FILES) || looks()
}

/// Cores as channels: a formula's channel, or, where there are several, by their own names or numbers.
fn core_channels(cores: &[Core]) -> Vec<Channel> {
    let mut channels: Vec<Channel> = Vec::new();
    for (i, core) in cores.iter().enumerate() {
        let own = core.name.clone().filter(|own| channels.iter().all(|channel| channel.name != *own));
        let name =
            if cores.len() == 1 { FORMULA_CHANNEL.into() } else { own.unwrap_or(format!("core {}", i + 1)) };
        channels.push(Channel { name, track: core.track.clone(), targets: Vec::new() });
    }
    channels
}

/// Whether a text is a scene in YAML: its name says so, or it looks like one and not like RectSL.
pub fn is_yaml(source: &Source) -> bool {
    let looks = || CinematicScene::is_yaml(&source.text) && !is_rectsl(source);
    is_named(&source.name, &YAML_FILES) || looks()
}

/// Splits `left=number,left=number`, which begins at byte `from` of an option's text: where each left side stands, and
/// its number.
pub fn pairs(source: &Source, from: usize) -> Result<Vec<(Range<usize>, f64)>, Failure> {
    let mut out = Vec::new();
    let mut at = from;
    for part in source.text[from..].split(',') {
        let span = at..at + part.len();
        at += part.len() + 1;
        let Some((left, right)) = part.split_once('=') else {
            return Err(Failure::at(source, span, "expected name=value or time=value, separated by commas"));
        };
        let middle = span.start + left.len();
        out.push((span.start..middle, number(source, || middle + 1..span.end, right)?));
    }
    Ok(out)
}

/// The ranges in an option's texts `NAME=LOW..HIGH`, either end of which may be left out, by name.
pub fn ranges(option: &str, texts: &[String]) -> Result<BTreeMap<String, [f64; 2]>, Failure> {
    let mut ranges = BTreeMap::new();
    for text in texts {
        let source = Source { name: option.into(), text: text.clone() };
        let fault = |message: &str| Failure::at(&source, 0..text.len(), message);
        let parts =
            text.split_once('=').and_then(|(name, range)| Some((name.trim(), range.split_once("..")?)));
        let Some((name, (low, high))) = parts else {
            return Err(fault("expected NAME=LOW..HIGH, such as a=0..1, b=0.. or c=..5"));
        };
        let end = |part: &str, open: f64| match part.trim() {
            "" => Ok(open),
            part => number(&source, || 0..text.len(), part),
        };
        let [low, high] = [end(low, f64::NEG_INFINITY)?, end(high, f64::INFINITY)?];
        if low > high {
            return Err(fault("the lower end is above the upper"));
        }
        if ranges.insert(name.trim_start_matches('?').to_string(), [low, high]).is_some() {
            return Err(fault(&format!("{name} is given two ranges")));
        }
    }
    Ok(ranges)
}

/// A finite number that stands at `span` of `source`.
pub fn number(source: &Source, span: impl FnOnce() -> Range<usize>, text: &str) -> Result<f64, Failure> {
    match text.trim().parse::<f64>() {
        Ok(x) if x.is_finite() => Ok(x),
        Ok(x) => Err(Failure::at(source, span(), format!("{x} is not a finite number"))),
        Err(_) => Err(Failure::at(source, span(), format!("{text:?} is not a number"))),
    }
}
