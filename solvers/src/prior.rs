//! What is known of a parameter beforehand.

use keyfit_ir::{BuildError, Builder, Channel, Parameter, Target};

/// What is known of `parameter` beforehand, as a channel with one target: the residual (parameter − `value`)/`deviation` joins the
/// others. It counts as one more residual, in the degrees of freedom too, so `deviation` is on the scale on which the targets'
/// weights are 1/σ². A deviation that is not positive and finite makes a weight that
/// [`FitProblem`](crate::FitProblem) refuses.
///
/// # Errors
/// [`BuildError::TooLarge`].
pub fn prior(parameter: &Parameter, value: f64, deviation: f64) -> Result<Channel, BuildError> {
    let mut builder = Builder::new();
    let id = builder.free(parameter.clone())?;
    Ok(Channel {
        name: format!("prior({})", parameter.name()),
        track: builder.finish(id)?,
        targets: vec![Target { time: 0.0, value, weight: 1.0 / (deviation * deviation) }],
    })
}
