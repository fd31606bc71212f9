//! Velocities and accelerations as channels, so that they can have targets.

pub use keyfit_ir::{Rate, RateTargets};

use keyfit_ir::{BuildError, Channel};
use keyfit_rewrite::{Variable, derivative};

/// The exact derivative of a channel, without targets; it shares the channel's parameters. Where the track jumps or has a corner it is
/// the derivative of the branch that produces the value, as everywhere.
///
/// ```
/// use keyfit::rates::{Rate, rate_channel};
/// use keyfit::{Channel, FitOptions, Target, Track, fit_channels};
///
/// // through 1 at time 0, and there with velocity 3
/// let y = Channel { name: "y".into(), track: Track::parse("?a=0 + ?b=0*t")?, targets: vec![Target::new(0.0, 1.0)] };
/// let velocity = Channel { targets: vec![Target::new(0.0, 3.0)], ..rate_channel(&y, Rate::Velocity)? };
/// let fit = fit_channels(vec![y, velocity], &FitOptions::default())?;
/// assert_eq!((fit.value("a"), fit.value("b")), (Some(1.0), Some(3.0)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`BuildError::TooLarge`].
pub fn rate_channel(of: &Channel, rate: Rate) -> Result<Channel, BuildError> {
    let mut track = derivative(&of.track, &Variable::Time)?;
    if rate == Rate::Acceleration {
        track = derivative(&track, &Variable::Time)?;
    }
    Ok(Channel { name: rate.of_channel(&of.name), track, targets: Vec::new() })
}

/// Gives the channels these targets for their velocities and accelerations, which join them where they are not there yet. What is
/// aimed at a channel that is not there has no place and is left out.
///
/// ```
/// use keyfit::rates::aim_rates;
/// use keyfit::{FitOptions, fit_channels, ir::Scene};
///
/// let scene = Scene::parse_rectsl(
///     "\"m\" rect 0 free-param a 0 free-param b t mul add ->x '( 0=1 ) ->x-targets '( 0=3 ) ->x.velocity-targets ;",
/// )
/// .map_err(|errors| errors[0].clone())?;
/// let mut channels = scene.channels();
/// aim_rates(&mut channels, scene.rate_targets())?;
/// let fit = fit_channels(channels, &FitOptions::default())?;
/// assert_eq!((fit.value("a"), fit.value("b")), (Some(1.0), Some(3.0)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`BuildError::TooLarge`].
pub fn aim_rates(channels: &mut Vec<Channel>, aims: Vec<RateTargets>) -> Result<(), BuildError> {
    for RateTargets { channel, rate, targets } in aims {
        let name = rate.of_channel(&channel);
        if let Some(known) = channels.iter_mut().find(|own| own.name == name) {
            known.targets.extend(targets);
        } else if let Some(of) = channels.iter().find(|own| own.name == channel) {
            let joining = Channel { targets, ..rate_channel(of, rate)? };
            channels.push(joining);
        }
    }
    Ok(())
}
