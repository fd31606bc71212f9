//! A track at fixed times: what a fit asks for again and again.

use keyfit_ir::{Sampler, Track};
use ndarray::{Array2, ArrayViewMut2, ShapeBuilder};

use crate::curvature::Curvature;
use crate::gradient::Jacobian;
use crate::tape::Tape;

/// Values, partial derivatives and second derivatives of one track at fixed times, for one set of parameters after another.
///
/// The values are the sampler's, bit for bit, and the partials are [`Jacobian`]'s, but for the sign of a zero. Where
/// the track is smooth in its parameters this is several times quicker: see the module `tape`. As everywhere, a parameter without a
/// given value keeps its current value.
///
/// ```
/// use keyfit_autodiff::Evaluator;
/// let track = keyfit_ir::Track::parse("?a=2 * exp(?b=0 * t)")?;
/// let mut evaluator = Evaluator::new(&track, &[1.0, 3.0]);
/// let mut values = [0.0; 2];
/// evaluator.values(&[], &mut values);
/// assert_eq!(values, [2.0, 2.0]);
/// let mut columns = [[0.0; 2]; 2];
/// evaluator.partials(&[], &mut |column, first, partials| columns[column][first..][..partials.len()].copy_from_slice(partials));
/// assert_eq!(columns, [[1.0, 1.0], [2.0, 6.0]]);
/// # Ok::<(), keyfit_ir::SyntaxError>(())
/// ```
#[derive(Debug)]
pub struct Evaluator {
    track: Track,
    times: Vec<f64>,
    /// The parameters' current values, and those that are asked for.
    starts: Vec<f64>,
    parameters: Vec<f64>,
    tape: Option<Tape>,
    // made when they are asked for
    sampler: Option<Sampler<f64>>,
    jacobian: Option<Jacobian>,
    curvature: Option<Curvature>,
}

/// Takes a column, the place of the first of some times that follow each other, and the partial derivatives there.
pub type Columns<'a> = dyn FnMut(usize, usize, &[f64]) + 'a;

impl Evaluator {
    /// Of `track` at `times`.
    pub fn new(track: &Track, times: &[f64]) -> Evaluator {
        Evaluator {
            track: track.clone(),
            times: times.to_vec(),
            starts: track.starts(),
            parameters: Vec::new(),
            tape: Tape::new(track, times),
            sampler: None,
            jacobian: None,
            curvature: None,
        }
    }

    /// Takes the parameters: the given ones, and the current ones of those that are missing.
    fn hold(&mut self, parameters: &[f64]) {
        self.parameters.clone_from(&self.starts);
        self.parameters.iter_mut().zip(parameters).for_each(|(own, given)| *own = *given);
    }

    /// The times.
    pub fn times(&self) -> &[f64] {
        &self.times
    }

    /// Writes the values to `out`, one for each time; as many as fit.
    pub fn values(&mut self, parameters: &[f64], out: &mut [f64]) {
        self.hold(parameters);
        match &mut self.tape {
            Some(tape) if out.len() == self.times.len() => tape.values(&self.parameters, out),
            _ => {
                let sampler = self.sampler.get_or_insert_with(|| Sampler::new(&self.track));
                sampler.sample_into(&self.times, &self.parameters, out);
            }
        }
    }

    /// Hands over all partial derivatives, columns in pieces. What is handed over last counts.
    pub fn partials(&mut self, parameters: &[f64], out: &mut Columns<'_>) {
        self.hold(parameters);
        if self.tape.as_mut().is_some_and(|tape| tape.partials(&self.parameters, out)) {
            return;
        }
        let jacobian = self.jacobian.get_or_insert_with(|| Jacobian::new(&self.track));
        let mut partials = Array2::zeros((self.times.len(), self.parameters.len()).f());
        jacobian.fill(&self.times, &self.parameters, &mut [], partials.view_mut());
        for (k, column) in partials.columns().into_iter().enumerate() {
            column.as_slice().into_iter().for_each(|column| out(k, 0, column));
        }
    }

    /// Adds Σ wᵢ·∂²y(tᵢ)/∂pⱼ∂pₖ to `out`, as [`Curvature::add_weighted`] does.
    pub fn add_weighted(&mut self, parameters: &[f64], weights: &[f64], mut out: ArrayViewMut2<'_, f64>) {
        self.hold(parameters);
        if self.tape.as_mut().is_some_and(|tape| tape.add_weighted(&self.parameters, weights, out.view_mut()))
        {
            return;
        }
        curvature(&mut self.curvature, &self.track).add_weighted(&self.times, &self.parameters, weights, out);
    }

    /// Adds the product of that matrix and `direction` to `out`: see [`Curvature::add_product`].
    pub fn add_product(&mut self, parameters: &[f64], weights: &[f64], direction: &[f64], out: &mut [f64]) {
        let curvature = curvature(&mut self.curvature, &self.track);
        curvature.add_product(&self.times, parameters, weights, direction, out);
    }

    /// Writes the second derivatives along a line to `out`: see [`Curvature::along`].
    pub fn along(&mut self, parameters: &[f64], direction: &[f64], out: &mut [f64]) {
        curvature(&mut self.curvature, &self.track).along(&self.times, parameters, direction, out);
    }
}

fn curvature<'a>(own: &'a mut Option<Curvature>, track: &Track) -> &'a mut Curvature {
    own.get_or_insert_with(|| Curvature::new(track))
}
