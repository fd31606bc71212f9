//! What the command line says of parameters beside their starts: ties, logarithms, priors.

use std::collections::BTreeSet;

use clap::Args;
use keyfit::Track;
use keyfit::ir::{Names, Parameter, SyntaxErrorKind};
use keyfit::solvers::{Tie, TieError, prior, tie};

use crate::failure::{Failure, Source};
use crate::model::{Model, number};

/// What is known of parameters.
#[derive(Args)]
pub struct Knowledge {
    /// A parameter that is a formula of others: b=2*a+1; once for each
    #[arg(long, value_name = "NAME=FORMULA", allow_hyphen_values = true)]
    tie: Vec<String>,
    /// Positive parameters that are fitted by their logarithms, separated by commas
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    log: Vec<String>,
    /// What is known of a parameter beforehand: a=1.0±0.2 (or 1.0+-0.2) is one more residual, (a − 1.0)/0.2
    #[arg(long, value_name = "NAME=VALUE±SD,…", value_delimiter = ',', allow_hyphen_values = true)]
    prior: Vec<String>,
}

impl Knowledge {
    /// The parameters that are fitted by their logarithms.
    pub fn logarithmic(&self) -> BTreeSet<String> {
        self.log.iter().map(|name| plain(name).to_string()).collect()
    }

    /// Adds priors as channels, then puts formulas in the place of tied parameters.
    pub fn apply(&self, model: &mut Model) -> Result<(), Failure> {
        for text in &self.prior {
            self.add_prior(model, text)?;
        }
        self.tie(model)?;
        model.check_parameters("--log", self.logarithmic().iter())
    }

    fn add_prior(&self, model: &mut Model, text: &str) -> Result<(), Failure> {
        let source = Source { name: "--prior".into(), text: text.into() };
        let parts = text.split_once('=').and_then(|(name, rest)| {
            let sign = ["±", "+-"].into_iter().find(|sign| rest.contains(sign))?;
            Some((name, rest.split_once(sign)?, sign))
        });
        let Some((name, (value, deviation), sign)) = parts else {
            return Err(Failure::at(&source, 0..text.len(), "expected NAME=VALUE±SD")
                .hint("--prior a=1.0±0.2, or a=1.0+-0.2"));
        };
        let from = name.len() + 1;
        let second = from + value.len() + sign.len();
        let value = number(&source, || from..second - sign.len(), value)?;
        let deviation = number(&source, || second..text.len(), deviation)?;
        // its inverse square is a weight
        let weight = 1.0 / (deviation * deviation);
        if !(deviation > 0.0 && weight > 0.0 && weight.is_finite()) {
            let message = "a standard deviation must be above 0, and its inverse square a double";
            return Err(Failure::at(&source, second..text.len(), message));
        }
        let parameter = parameter(model, &source, name)?;
        model.channels.push(prior(&parameter, value, deviation).map_err(Failure::input)?);
        Ok(())
    }

    fn tie(&self, model: &mut Model) -> Result<(), Failure> {
        let mut ties = Vec::with_capacity(self.tie.len());
        for text in &self.tie {
            let source = Source { name: "--tie".into(), text: text.clone() };
            let Some((name, _)) = text.split_once('=') else {
                return Err(Failure::at(&source, 0..text.len(), "expected NAME=FORMULA, such as b=2*a+1"));
            };
            let tied = parameter(model, &source, name)?;
            ties.push(Tie { name: tied.name().into(), formula: formula(model, &source, name.len() + 1)? });
        }
        model.ties = tie(&mut model.channels, &ties).map_err(|error| self.fault(&ties, error))?;
        Ok(())
    }

    /// The fault with the tie that it is about.
    fn fault(&self, ties: &[Tie], error: TieError) -> Failure {
        let about = |tie: &Tie| match &error {
            TieError::Unknown { name } | TieError::Varies { name } => tie.name == *name,
            TieError::Twice { name } => tie.name == *name,
            TieError::Circle { names } => names.contains(&tie.name),
            _ => false,
        };
        // of two, the second is one too many
        let place = match error {
            TieError::Twice { .. } => ties.iter().rposition(about),
            _ => ties.iter().position(about),
        };
        match place.and_then(|k| self.tie.get(k)) {
            Some(text) => {
                let source = Source { name: "--tie".into(), text: text.clone() };
                Failure::at(&source, 0..text.len(), error)
            }
            None => Failure::input(error),
        }
    }
}

/// A parameter's name without the ? that it may be written with.
fn plain(name: &str) -> &str {
    name.trim().trim_start_matches('?')
}

/// The free parameter whose name stands at the beginning of `source`.
fn parameter(model: &Model, source: &Source, name: &str) -> Result<Parameter, Failure> {
    let mut all = model.channels.iter().flat_map(|channel| channel.track.free_parameters());
    all.find(|p| p.name() == plain(name)).cloned().ok_or_else(|| {
        let message = format!("{} is no free parameter of the model", plain(name));
        Failure::at(source, 0..name.len(), message).known(
            plain(name),
            "free parameters",
            model.parameter_names(),
        )
    })
}

/// The formula of the model's parameters that stands in `source` from byte `from` on.
fn formula(model: &Model, source: &Source, from: usize) -> Result<Track, Failure> {
    // blanks in the place of what stands before, so that an error's place is that in the whole text
    let rest = source.text.get(from..).unwrap_or_default();
    let text = " ".repeat(from) + rest;
    let all = model.channels.iter().flat_map(|channel| channel.track.free_parameters());
    let names = Names::new().starts(all.map(|p| (p.name(), p.start())));
    Track::parse_with(&text, &names).map_err(|error| match &error.kind {
        SyntaxErrorKind::NoStart { name, .. } => {
            let message = format!("{name} is no free parameter of the model");
            let failure = Failure::at(source, error.span.range(), message);
            failure.known(name, "free parameters", model.parameter_names())
        }
        _ => Failure::syntax(source, &error),
    })
}
