//! What is known of a model's clock and parameters, as options of commands that simplify.

use clap::Args;
use keyfit::rewrite::Bounds;

use crate::failure::Failure;
use crate::model::{Model, ranges};

#[derive(Args)]
pub struct Known {
    /// The clock runs from 0 to this; if not given as long as a scene says, and else over all times
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true)]
    duration: Option<f64>,
    /// The ranges of free parameters, an end of which may be left out; unknown if not given
    #[arg(long, value_name = "NAME=LOW..HIGH,…", value_delimiter = ',', allow_hyphen_values = true)]
    bound: Vec<String>,
}

impl Known {
    /// What is known where the model's k-th channel is evaluated.
    pub fn bounds(&self, model: &Model, channel: usize) -> Result<Bounds, Failure> {
        let mut bounds = Bounds::new();
        let (said, clock) = model.ranges(channel);
        for (name, [low, high]) in said {
            bounds = match Some(&*name) == clock {
                true if low >= 0.0 && high.is_finite() => bounds.duration(high),
                true => bounds,
                false => bounds.parameter(&name, low, high),
            };
        }
        if let Some(duration) = self.duration.or(model.duration()) {
            if !(duration.is_finite() && duration >= 0.0) {
                return Err(Failure::input(format!("--duration {duration} is not a length of time")));
            }
            bounds = bounds.duration(duration);
        }
        let ranges = ranges("--bound", &self.bound)?;
        model.check_parameters("--bound", ranges.keys())?;
        for (name, [low, high]) in ranges {
            bounds = bounds.parameter(&name, low, high);
        }
        Ok(bounds)
    }
}
