//! Velocities and accelerations as channels, so that they can have targets.

use keyfit_ir::{BuildError, Channel};
use keyfit_rewrite::{Variable, derivative};

/// How often a channel is differentiated by time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rate {
    /// Once.
    Velocity,
    /// Twice.
    Acceleration,
}

impl Rate {
    /// All of them.
    pub const ALL: [Rate; 2] = [Rate::Velocity, Rate::Acceleration];

    /// How the names of such channels end.
    pub const fn suffix(self) -> &'static str {
        match self {
            Rate::Velocity => ".velocity",
            Rate::Acceleration => ".acceleration",
        }
    }

    /// The channel and the rate that a name such as `x.velocity` stands for.
    pub fn of(name: &str) -> Option<(&str, Rate)> {
        Rate::ALL.into_iter().find_map(|rate| Some((name.strip_suffix(rate.suffix())?, rate)))
    }

    /// The exact derivative of a channel, without targets; it shares the channel's parameters. Where the track jumps or has a corner it is
    /// the derivative of the branch that produces the value, as everywhere.
    ///
    /// ```
    /// use keyfit::rates::Rate;
    /// use keyfit::{Channel, FitOptions, Target, Track, fit_channels};
    ///
    /// // through 1 at time 0, and there with velocity 3
    /// let y = Channel { name: "y".into(), track: Track::parse("?a=0 + ?b=0*t")?, targets: vec![Target::new(0.0, 1.0)] };
    /// let velocity = Channel { targets: vec![Target::new(0.0, 3.0)], ..Rate::Velocity.channel(&y)? };
    /// let fit = fit_channels(vec![y, velocity], &FitOptions::default())?;
    /// assert_eq!((fit.value("a"), fit.value("b")), (Some(1.0), Some(3.0)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`BuildError::TooLarge`].
    pub fn channel(self, of: &Channel) -> Result<Channel, BuildError> {
        let mut track = derivative(&of.track, &Variable::Time)?;
        if self == Rate::Acceleration {
            track = derivative(&track, &Variable::Time)?;
        }
        Ok(Channel { name: format!("{}{}", of.name, self.suffix()), track, targets: Vec::new() })
    }
}
