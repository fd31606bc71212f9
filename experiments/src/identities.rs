//! Identities between tracks that the inverse-animation page states, as checked experiments.

use keyfit_ir::{SyntaxError, Track, same_bits};

/// How far two sides may lie apart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bound {
    /// Not at all: the same bits.
    Bits,
    /// By this much, absolutely.
    Within(f64),
    /// The identity is false in floating point: somewhere the sides lie apart by exactly this much.
    Apart(f64),
}

/// One identity: two tracks that are equal over the reals.
#[derive(Clone, Copy, Debug)]
pub struct Identity {
    /// Its name.
    pub name: &'static str,
    /// What it says, and where.
    pub statement: &'static str,
    /// One side, as a formula in `t`.
    pub left: &'static str,
    /// The other side.
    pub right: &'static str,
    /// How far apart the sides may lie.
    pub bound: Bound,
    points: fn() -> Vec<f64>,
}

/// What came of checking an identity.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// Whether the bound is met.
    pub holds: bool,
    /// How many points were tried.
    pub points: usize,
    /// At how many of them the bits differ.
    pub differing: usize,
    /// The largest difference, and the point where it is.
    pub worst: Option<(f64, f64)>,
}

/// Every identity. For the ramps: linear[t₀=v₀ t₁=v₁ …] = v₀ + Σ (vᵢ₊₁ − vᵢ)·clamp((t − tᵢ)/(tᵢ₊₁ − tᵢ), 0, 1); each
/// of its at most 3·4 + 1 operations rounds a number of at most 3 (more than the sum of all |v|), so 13·3·ε is allowed.
pub const IDENTITIES: &[Identity] = &[
    Identity {
        name: "zero-frequency oscillator",
        statement: "an oscillator of frequency 0 is the sine of its phase, for every phase but −0 (0 + −0 is +0)",
        left: "sin(tau*0*1.5 + t)",
        right: "sin(t)",
        bound: Bound::Bits,
        points: everywhere,
    },
    Identity {
        name: "exact step",
        statement: "a clamped floor is a step at 0, with no width and right at both zeros",
        left: "clamp(floor(t) + 1, 0, 1)",
        right: "step(0, t)",
        bound: Bound::Bits,
        points: everywhere_and_zeros,
    },
    Identity {
        name: "sum of clamped ramps",
        statement: "a linear keyed track is its first value and a ramp a segment, up to rounding",
        left: "linear[0=0.1 1=0.7 2.5=-0.3 4=1.1]",
        right: "0.1 + (0.7 - 0.1)*clamp(t, 0, 1) + (-0.3 - 0.7)*clamp((t - 1)/1.5, 0, 1) + (1.1 + 0.3)*clamp((t - 2.5)/1.5, 0, 1)",
        bound: Bound::Within(13.0 * 3.0 * f64::EPSILON),
        points: around_the_keys,
    },
    Identity {
        name: "ramps that cancel",
        statement: "after keys 0, 1e16, 1 the ramps have lost the last value: they say 0, the keyed track says 1",
        left: "linear[0=0 1=1e16 2=1]",
        right: "0 + 1e16*clamp(t, 0, 1) + (1 - 1e16)*clamp(t - 1, 0, 1)",
        bound: Bound::Apart(1.0),
        points: after_the_keys,
    },
    Identity {
        name: "expo-in in closed form",
        statement: "a floor makes the end exact without a case, from 2⁻⁵³ on (below, 1 − u rounds to 1)",
        left: "expo_in(t)",
        right: "exp2(10*t - 10)*(1 - floor(1 - t))",
        bound: Bound::Bits,
        points: unit_interval,
    },
    Identity {
        name: "expo-out in closed form",
        statement: "the same at the other end",
        left: "expo_out(t)",
        right: "1 - exp2(-10*t)*(1 - floor(t))",
        bound: Bound::Bits,
        points: unit_interval,
    },
    Identity {
        name: "elastic-in in closed form",
        statement: "the same for elastic-in",
        left: "elastic_in(t)",
        right: "-exp2(10*t - 10)*sin((10*t - 10.75)*(2*pi/3))*(1 - floor(1 - t)) + 0",
        bound: Bound::Bits,
        points: unit_interval,
    },
    Identity {
        name: "elastic-out in closed form",
        statement: "the same for elastic-out",
        left: "elastic_out(t)",
        right: "exp2(-10*t)*sin((10*t - 0.75)*(2*pi/3))*(1 - floor(t)) + 1",
        bound: Bound::Bits,
        points: unit_interval,
    },
];

impl Identity {
    /// Evaluates both sides at the identity's points.
    ///
    /// # Errors
    /// Never for [`IDENTITIES`], whose formulas are well formed.
    pub fn check(&self) -> Result<Verdict, SyntaxError> {
        let points = (self.points)();
        let side = |formula: &str| -> Result<Vec<f64>, SyntaxError> {
            let mut out = vec![0.0; points.len()];
            Track::parse(formula)?.sample_into(&points, &mut out);
            Ok(out)
        };
        let (left, right) = (side(self.left)?, side(self.right)?);
        let differs = |k: &usize| !same_bits(left[*k], right[*k]);
        let gaps = (0..points.len()).filter(differs).map(|k| ((left[k] - right[k]).abs(), points[k]));
        // a NaN on one side only is the worst of all
        let worst = gaps.clone().max_by(|a, b| a.0.total_cmp(&b.0));
        let holds = match (self.bound, worst) {
            (Bound::Bits, worst) => worst.is_none(),
            (Bound::Within(bound), worst) => worst.is_none_or(|(gap, _)| gap <= bound),
            (Bound::Apart(by), worst) => worst.is_some_and(|(gap, _)| gap == by),
        };
        Ok(Verdict { holds, points: points.len(), differing: gaps.count(), worst })
    }
}

/// Numbers of every magnitude, both signs, neighbours of integers, infinities and NaN; not the zeros.
fn everywhere() -> Vec<f64> {
    let powers = (-1074..1024).map(|k| keyfit_ir::Scalar::exp2(&f64::from(k)));
    let integers = (1..200).map(f64::from);
    let near = |x: f64| [x.next_down(), x, x.next_up(), x * 1.3, 1e-16 * x];
    let positive: Vec<f64> = powers.chain(integers).flat_map(near).filter(|x| *x > 0.0).collect();
    let negative: Vec<f64> = positive.iter().map(|x| -x).collect();
    positive.into_iter().chain(negative).chain([f64::INFINITY, f64::NEG_INFINITY, f64::NAN]).collect()
}

fn everywhere_and_zeros() -> Vec<f64> {
    everywhere().into_iter().chain([0.0, -0.0]).collect()
}

fn around_the_keys() -> Vec<f64> {
    (-1000..6000).map(|k| f64::from(k) / 1000.0).collect()
}

fn after_the_keys() -> Vec<f64> {
    (0..100).map(|k| 2.0 + f64::from(k)).collect()
}

/// [0, 1], and the numbers next to its ends that the closed forms can tell from them.
fn unit_interval() -> Vec<f64> {
    let ends = [f64::EPSILON / 2.0, f64::EPSILON, 1e-10, 1.0 - f64::EPSILON / 2.0];
    (0..=10_000).map(|k| f64::from(k) / 10_000.0).chain(ends).collect()
}
