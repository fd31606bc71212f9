//! `keyfit plot`

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use keyfit::figure::{
    Band, Figure, FigureError, Period, Plotted, Theme, channel_figure, moments, scene_figure, short_unit,
};
use keyfit::ir::{Quantity, Rate};
use keyfit::{Channel, Fit, Scene, Target, fit_channels};

use super::fit::Aim;
use super::{print, write_whole};
use crate::failure::{Failure, NEGATIVE, say};
use crate::model::{Model, ModelArgs};

#[derive(Args)]
pub struct Plot {
    #[command(flatten)]
    model: ModelArgs,
    #[command(flatten)]
    aim: Aim,
    /// Draw the model as it stands, without fitting it to its targets
    #[arg(long)]
    no_fit: bool,
    /// Draw this channel over time, with its derivatives, rather than the scene
    #[arg(long)]
    channel: Vec<String>,
    /// Draw all channels that move or have targets over time
    #[arg(long, conflicts_with = "channel")]
    channels: bool,
    /// The first time
    #[arg(long, allow_hyphen_values = true)]
    from: Option<f64>,
    /// The last time; the scene's duration, or else the last key or target, unless said otherwise
    #[arg(long, allow_hyphen_values = true)]
    to: Option<f64>,
    /// Where the figure is written, as SVG or PNG by the name's ending; stdout (SVG) unless said otherwise
    #[arg(long, value_name = "FILE.svg|FILE.png")]
    out: Option<PathBuf>,
    /// The colours; an SVG follows its reader's unless said otherwise, a PNG is light
    #[arg(long)]
    theme: Option<Look>,
    /// The width of a PNG in pixels
    #[arg(long, default_value_t = 1840, value_parser = clap::value_parser!(u32).range(16..=16384),
          allow_negative_numbers = true)]
    width: u32,
}

/// A theme, as the command line names it.
#[derive(Clone, Copy, ValueEnum)]
enum Look {
    Light,
    Dark,
}

impl From<Look> for Theme {
    fn from(look: Look) -> Theme {
        match look {
            Look::Light => Theme::Light,
            Look::Dark => Theme::Dark,
        }
    }
}

/// What is written.
#[derive(Clone, Copy)]
enum Format {
    Svg,
    Png,
}

impl Plot {
    pub fn run(self) -> Result<ExitCode, Failure> {
        let format = self.format()?;
        let mut table = self.aim.table()?;
        let mut model = self.model.load(table.as_mut())?;
        self.aim.add_targets(&mut model, table.as_ref())?;
        let fit = self.fit(&model)?;
        fit.iter().flat_map(Fit::warnings).for_each(say);
        let figure = match model.scene() {
            Some(scene) if self.channel.is_empty() && !self.channels => {
                self.scene(&model, scene, fit.as_ref())?
            }
            _ => self.channel_figure(&model, fit.as_ref())?,
        };
        self.write(&figure, format)?;
        match fit.filter(|fit| !fit.converged) {
            None => Ok(ExitCode::SUCCESS),
            Some(fit) => {
                say(format!("did not converge: {}", fit.message));
                Ok(ExitCode::from(NEGATIVE))
            }
        }
    }

    fn format(&self) -> Result<Format, Failure> {
        let Some(path) = &self.out else { return Ok(Format::Svg) };
        let ending = path.extension().map(|ending| ending.to_ascii_lowercase());
        match ending.as_ref().and_then(|ending| ending.to_str()) {
            Some("svg") => Ok(Format::Svg),
            Some("png") => Ok(Format::Png),
            _ => Err(Failure::input(format!("--out {} ends neither in .svg nor in .png", path.display()))),
        }
    }

    /// Where there is something to fit: free parameters, and a target for them.
    fn fit(&self, model: &Model) -> Result<Option<Fit>, Failure> {
        let options = self.aim.options()?;
        let wanted = model.channels.iter().any(|channel| !channel.targets.is_empty());
        let free = model.channels.iter().any(|channel| !channel.track.free_parameters().is_empty());
        if self.no_fit || !wanted || !free {
            return Ok(None);
        }
        Ok(Some(fit_channels(model.channels.clone(), &options)?))
    }

    fn scene(&self, model: &Model, scene: &Scene, fit: Option<&Fit>) -> Result<Figure, Failure> {
        let mut bands = vec![Band::new("authored", aimed(scene, model))];
        let seed = with_tracks(&bands[0].scene, &model.channels);
        if seed != bands[0].scene {
            bands.push(Band::new("seed", seed));
        }
        if let Some(fit) = fit {
            let note = (!fit.converged).then(|| "did not converge".to_string());
            bands.push(Band {
                note,
                ..Band::new("fitted", with_tracks(&bands[0].scene, &fitted(model, fit)))
            });
        }
        let period = match (self.from, self.to) {
            (None, None) => None,
            (from, to) => Some(period(from.unwrap_or(0.0), to.or(scene.duration).ok_or_else(no_period)?)?),
        };
        scene_figure(&self.title(model), &bands, period).map_err(|error| match error {
            FigureError::NoPeriod => no_period(),
            error => Failure::input(error),
        })
    }

    fn channel_figure(&self, model: &Model, fit: Option<&Fit>) -> Result<Figure, Failure> {
        let shown = fit.map_or_else(|| model.channels.clone(), |fit| fitted(model, fit));
        let plotted = |i: usize| Plotted {
            channel: shown[i].clone(),
            rates: rates(model, &model.channels[i].name),
            before: fit.map(|_| model.channels[i].track.clone()),
            unit: unit(model, i),
        };
        let mut chosen = Vec::new();
        for name in &self.channel {
            // rates are drawn with their channel
            let of = Rate::of(name).and_then(|(of, _)| model.channel(of));
            let found = of.or_else(|| model.channel(name)).ok_or_else(|| {
                let failure = Failure::input(format!("there is no channel {name}"));
                failure.known(name, "channels", model.channel_names())
            })?;
            if !chosen.contains(&found) {
                chosen.push(found);
            }
        }
        if chosen.is_empty() {
            let values = |i: &usize| model.channels[*i].rate_of(&model.channels).is_none();
            chosen = (0..model.channels.len()).filter(values).collect();
        }
        let mut plotted: Vec<Plotted> = chosen.into_iter().map(plotted).collect();
        let period = self.period(model, &plotted)?;
        let lively = |own: &Plotted| own.all_targets().next().is_some() || own.moves(period);
        if self.channel.is_empty() && plotted.iter().any(lively) {
            plotted.retain(lively);
        }
        channel_figure(&self.title(model), &plotted, period).map_err(Failure::input)
    }

    /// From when to when channels are drawn.
    fn period(&self, model: &Model, plotted: &[Plotted]) -> Result<Period, Failure> {
        let targets = || plotted.iter().flat_map(Plotted::all_targets).map(|target| target.time);
        let keys = || plotted.iter().flat_map(|one| moments(&one.channel.track));
        let duration =
            model.scene().map_or(model.frames().map(|(_, duration)| duration), |scene| scene.duration);
        let known = match duration {
            Some(duration) => {
                // targets beyond the ends are shown too, unless they are so far away that nothing else would be seen
                let near = |t: &f64| (-duration..=2.0 * duration).contains(t);
                ends([0.0, duration].into_iter().chain(targets().filter(near)))
            }
            None => ends(targets().chain(keys())),
        };
        // a mark at an end is seen whole
        let known = known.filter(|(from, to)| from < to).map(|(from, to)| match duration {
            Some(duration) if (from, to) == (0.0, duration) => (from, to),
            _ => (from - 0.03 * (to - from), to + 0.03 * (to - from)),
        });
        let from = self.from.or(known.filter(|_| self.to.is_none()).map(|(from, _)| from)).unwrap_or(0.0);
        period(from, self.to.or(known.map(|(_, to)| to)).ok_or_else(no_period)?)
    }

    /// What the figure is called: the file's name, or the formula.
    fn title(&self, model: &Model) -> String {
        let path = Path::new(&self.model.model);
        match path.file_name() {
            _ if self.model.model == "-" => "stdin".into(),
            _ if model.is_formula() && !path.exists() => self.model.model.clone(),
            Some(name) => name.to_string_lossy().into_owned(),
            None => self.model.model.clone(),
        }
    }

    fn write(&self, figure: &Figure, format: Format) -> Result<(), Failure> {
        let theme = self.theme.map(Theme::from);
        let bytes = match format {
            Format::Svg => figure.svg(theme).into_bytes(),
            Format::Png => png(figure, theme.unwrap_or(Theme::Light), self.width)?,
        };
        match &self.out {
            Some(path) => write_whole(path, &bytes),
            None => print(&String::from_utf8_lossy(&bytes)),
        }
    }
}

#[cfg(feature = "png")]
fn png(figure: &Figure, theme: Theme, width: u32) -> Result<Vec<u8>, Failure> {
    figure.png(theme, width).map_err(Failure::input)
}

#[cfg(not(feature = "png"))]
fn png(_: &Figure, _: Theme, _: u32) -> Result<Vec<u8>, Failure> {
    Err(Failure::input("this keyfit was built without its feature png").hint("write an SVG"))
}

fn period(from: f64, to: f64) -> Result<Period, Failure> {
    Period::new(from, to).ok_or_else(|| {
        Failure::input(format!("nothing lies between the times {from:?} and {to:?}"))
            .hint("--from must come before --to, and both must be finite")
    })
}

fn no_period() -> Failure {
    Failure::input("from when to when? The model has no duration").hint("give --to, or --from and --to")
}

/// The first and the last of some times.
fn ends(times: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    times.map(|t| (t, t)).reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))
}

/// The channels with the parameters that were found.
fn fitted(model: &Model, fit: &Fit) -> Vec<Channel> {
    let value = |name: &str| fit.parameters.iter().find(|p| p.name == name).map(|p| p.value);
    let channels = model.channels.iter();
    channels
        .map(|channel| Channel { track: channel.track.restart_parameters(value), ..channel.clone() })
        .collect()
}

/// The scene with these tracks, in the order of [`Scene::channels`].
fn with_tracks(scene: &Scene, channels: &[Channel]) -> Scene {
    let mut scene = scene.clone();
    let tracks = scene.rects.iter_mut().flat_map(|rect| &mut rect.tracks);
    tracks.zip(channels).for_each(|(track, channel)| *track = channel.track.clone());
    scene
}

/// The scene with the model's targets, for values and for their rates.
fn aimed(scene: &Scene, model: &Model) -> Scene {
    let mut scene = scene.clone();
    let places = scene.rects.iter_mut().flat_map(|rect| rect.targets.iter_mut().zip(&mut rect.rate_targets));
    for ((targets, own_rates), channel) in places.zip(&model.channels) {
        *targets = channel.targets.clone();
        *own_rates = rates(model, &channel.name);
    }
    scene
}

/// The targets for the rates of the channel of that name.
fn rates(model: &Model, channel: &str) -> [Vec<Target>; Rate::ALL.len()] {
    Rate::ALL.map(|rate| {
        let found = model.channel(&rate.of_channel(channel)).and_then(|i| model.channels.get(i));
        found.map(|channel| channel.targets.clone()).unwrap_or_default()
    })
}

/// The unit of a scene's i-th channel, if the scene has units.
fn unit(model: &Model, i: usize) -> Option<String> {
    let scene = model.scene()?;
    if i >= scene.rects.len() * Quantity::ALL.len() {
        return None;
    }
    match Quantity::ALL[i % Quantity::ALL.len()] {
        Quantity::Rotate => Some("rad".into()),
        _ => scene.wall.as_ref().map(|wall| short_unit(&wall.unit).into()),
    }
}
