//! Certified minima: a proof that exactly one stationary point of the sum of squares lies in a stated box, and that it is a
//! minimum, with its parameters to thirty digits and more.
//!
//! From the point that a solver found, Newton's method in MPFR goes to the minimum p̂. Over a box X = p̂ ± r, gradient g and
//! Hessian H of ½Σ w·(track(t) − y)² are enclosed with outward rounding, and Krawczyk's operator
//!
//! K(X) = p̂ − C·g(p̂) + (I − C·H(X))·(X − p̂),   C ≈ H(p̂)⁻¹
//!
//! is held against X. If K(X) lies inside X, there is exactly one zero of the gradient in X, it lies in K(X), and H is
//! regular everywhere in X; as H is positive definite at p̂ (shown by an interval LDLᵀ decomposition) it is so in all of X,
//! and the point is the only minimum there.
//!
//! Sources: R. Krawczyk, Computing 4 (1969) 187–201; S. M. Rump, Acta Numerica 19 (2010) 287–449, section 13.
//!
//! What is certified is the formula over the reals: its constants, times, values and weights are the doubles that stand in
//! the model and the data, and no operation rounds.

use keyfit_autodiff::curved::{Curved, enclose};
use keyfit_autodiff::interval::{Context, Doubt, Interval};
use keyfit_ir::{Channel, Scalar, Target, Track};
use keyfit_solvers::{Fit, Loss, Named};
use rug::Float;
use rug::float::Round;
use thiserror::Error;

/// The precisions that are tried, in bits.
const BITS: [u32; 3] = [256, 512, 1024];
/// Newton steps; from a point that is right to a few digits, eight do for the highest precision.
const STEPS: usize = 40;
/// How far, relative to its size, the minimum may lie from the point that was found; for a parameter below this size, absolutely.
const NEAR: f64 = 1e-3;
/// No more decimal digits of a parameter are given.
const MOST_DIGITS: usize = 40;

/// A certified minimum.
#[derive(Clone, Debug)]
pub struct Certificate {
    /// The parameters in the fit's order.
    pub parameters: Vec<Certified>,
    /// The sum of squared weighted residuals there.
    pub sum_of_squares: Interval,
    /// The bits with which it was computed.
    pub bits: u32,
}

/// One parameter of a certified minimum.
#[derive(Clone, Debug)]
pub struct Certified {
    /// Its name.
    pub name: String,
    /// An interval that holds it.
    pub value: Interval,
    /// How far to both sides the box reaches in which there is no other stationary point, rounded down.
    pub alone_within: f64,
}

impl Certified {
    /// Its digits; see [`decimal`].
    pub fn decimal(&self) -> String {
        decimal(&self.value)
    }
}

/// Why there is no certificate.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum NotCertified {
    /// The fit did not find a minimum.
    #[error("the fit did not converge: there is no minimum to certify")]
    NotConverged,
    /// Another loss than squares was minimised.
    #[error("the loss is {0}; only sums of squares are certified")]
    Loss(Loss),
    /// Bounds hold parameters.
    #[error(
        "a bound holds {}, so the gradient does not vanish there; fix what is held (--fix) at the bound's value to certify the rest",
        .names.join(", ")
    )]
    AtBounds {
        /// The parameters' names.
        names: Vec<String>,
    },
    /// A channel is not smooth near the minimum.
    #[error(
        "channel {channel} at time {time:?} has a kink or a jump at the minimum, or so near that no box is free of it"
    )]
    Branch {
        /// The channel.
        channel: String,
        /// The target's time.
        time: f64,
    },
    /// A channel is not defined near the minimum.
    #[error("channel {channel} at time {time:?} is not defined everywhere near the minimum")]
    Domain {
        /// The channel.
        channel: String,
        /// The target's time.
        time: f64,
    },
    /// The Hessian cannot be inverted.
    #[error("the Hessian is singular: the targets do not determine every parameter")]
    Singular,
    /// The stationary point is no minimum.
    #[error(
        "the stationary point next to the fit is a saddle or a maximum, or a direction is flat: the Hessian is not positive definite"
    )]
    NotMinimum,
    /// Newton's method leaves the fit.
    #[error(
        "Newton's method does not stay near the point that was found: {name} goes from {from:?} to {to:?}"
    )]
    Elsewhere {
        /// The parameter that goes farthest.
        name: String,
        /// Its fitted value.
        from: f64,
        /// Where it goes.
        to: f64,
    },
    /// No box could be shown to hold one stationary point only.
    #[error(
        "with {bits} bits no box around the point is mapped into itself: the minimum is too flat, or none"
    )]
    NoBox {
        /// The highest precision tried.
        bits: u32,
    },
}

/// Certifies the minimum that a fit found.
///
/// # Errors
/// [`NotCertified`] says why there is no certificate.
pub fn certify(fit: &Fit, channels: &[Channel]) -> Result<Certificate, NotCertified> {
    if fit.loss != Loss::Squares {
        return Err(NotCertified::Loss(fit.loss));
    }
    if !fit.converged {
        return Err(NotCertified::NotConverged);
    }
    if !fit.at_bounds.is_empty() {
        return Err(NotCertified::AtBounds { names: fit.at_bounds.iter().map(|p| p.name.clone()).collect() });
    }
    if !fit.undetermined.is_empty() {
        return Err(NotCertified::Singular);
    }
    let problem = Problem::new(channels, &fit.parameters);
    let mut last = NotCertified::NoBox { bits: 0 };
    for bits in BITS {
        match problem.certify(&Context::new(bits)) {
            Err(again @ (NotCertified::NoBox { .. } | NotCertified::NotMinimum | NotCertified::Singular)) => {
                last = again;
            }
            other => return other,
        }
    }
    Err(last)
}

/// A sum of squares, with the point that was found.
struct Problem<'a> {
    found: &'a [Named],
    rows: Vec<Row<'a>>,
}

/// A target, and where the parameters of its channel's track stand among the problem's.
struct Row<'a> {
    channel: &'a str,
    track: &'a Track,
    columns: Vec<usize>,
    target: Target,
}

/// Sum, gradient and Hessian of half the sum of squares over a box.
struct Enclosed {
    half: Interval,
    gradient: Vec<Interval>,
    /// Full, row by row.
    hessian: Vec<Vec<Interval>>,
}

type Matrix = Vec<Vec<Float>>;

impl<'a> Problem<'a> {
    fn new(channels: &'a [Channel], found: &'a [Named]) -> Problem<'a> {
        let column = |name: &str| found.iter().position(|p| p.name == name);
        let rows = channels.iter().flat_map(|channel| {
            let columns: Vec<usize> =
                channel.track.free_parameters().iter().filter_map(|p| column(p.name())).collect();
            channel.targets.iter().filter(|target| target.weight > 0.0).map(move |&target| Row {
                channel: &channel.name,
                track: &channel.track,
                columns: columns.clone(),
                target,
            })
        });
        Problem { found, rows: rows.collect() }
    }

    fn certify(&self, context: &Context) -> Result<Certificate, NotCertified> {
        let bits = context.bits();
        let no_box = NotCertified::NoBox { bits };
        let (point, inverse, here) = self.newton(context)?;
        let thin: Vec<Interval> = point.iter().map(|x| context.between(x.clone(), x.clone())).collect();
        let reach = reach(&point, &inverse);
        let radius = |exponent: u32| reach.iter().map(move |r| Float::with_val(bits, r >> exponent));
        let boxed = |exponent: u32| -> Vec<Interval> {
            point.iter().zip(radius(exponent)).map(|(x, r)| ball(context, x, &r)).collect()
        };
        let image = |wide: &[Interval]| -> Result<Vec<Interval>, NotCertified> {
            let hessian = self.enclose(wide, context)?.hessian;
            Ok(krawczyk(&thin, wide, &inverse, &here.gradient, &hessian))
        };
        // the small box gives the digits, and the Hessian's sign
        let small = boxed(bits / 2);
        let value = image(&small)?;
        if !inside(&value, &small) {
            return Err(no_box);
        }
        let enclosed = self.enclose(&value, context)?;
        if !positive_definite(&enclosed.hessian) {
            return Err(NotCertified::NotMinimum);
        }
        // the largest box tells how far there is no other: radii 2⁻ᵏ of the reach, by bisection
        let (mut fails, mut holds) = (0, bits / 2);
        while holds - fails > 1 {
            let middle = (fails + holds) / 2;
            let wide = boxed(middle);
            match image(&wide) {
                Ok(image) if inside(&image, &wide) => holds = middle,
                _ => fails = middle,
            }
        }
        let sum = enclosed.half.mul(&context.exactly(2.0));
        let parameters = self.found.iter().zip(value).zip(radius(holds)).map(|((p, value), radius)| {
            Certified { name: p.name.clone(), value, alone_within: radius.to_f64_round(Round::Down) }
        });
        Ok(Certificate { parameters: parameters.collect(), sum_of_squares: sum, bits })
    }

    /// Goes to the stationary point; gives it, an approximate inverse of the Hessian there, and what is enclosed there.
    fn newton(&self, context: &Context) -> Result<(Vec<Float>, Matrix, Enclosed), NotCertified> {
        let bits = context.bits();
        let mut point: Vec<Float> = self.found.iter().map(|p| Float::with_val(bits, p.value)).collect();
        let mut before = Float::with_val(bits, f64::INFINITY);
        for _ in 0..STEPS {
            let thin: Vec<Interval> = point.iter().map(|x| context.between(x.clone(), x.clone())).collect();
            let here = self.enclose(&thin, context)?;
            let middle: Matrix =
                here.hessian.iter().map(|row| row.iter().map(Interval::middle).collect()).collect();
            let inverse = inverse(middle).ok_or(NotCertified::Singular)?;
            let gradient: Vec<Float> = here.gradient.iter().map(Interval::middle).collect();
            let step: Vec<Float> = inverse.iter().map(|row| dot(row, &gradient)).collect();
            let reach = reach(&point, &inverse);
            let size = step.iter().zip(&reach).map(|(s, r)| Float::with_val(bits, s / r).abs());
            let size = size.fold(Float::new(bits), |a, b| a.max(&b));
            // below half of the bits the next step is at rounding level; there the steps no longer shrink
            if size < Float::with_val(bits, 1) >> (3 * bits / 4) || (before < 1e-20 && size >= before) {
                self.near(&point)?;
                return Ok((point, inverse, here));
            }
            for (x, s) in point.iter_mut().zip(&step) {
                *x -= s;
            }
            before = size;
        }
        self.near(&point)?;
        Err(NotCertified::NoBox { bits })
    }

    /// Whether the point is the one that was found, to three digits.
    fn near(&self, point: &[Float]) -> Result<(), NotCertified> {
        for (p, x) in self.found.iter().zip(point) {
            let (from, to) = (p.value, x.to_f64());
            let near = (to - from).abs() <= NEAR * from.abs().max(to.abs()).max(NEAR);
            if !near {
                return Err(NotCertified::Elsewhere { name: p.name.clone(), from, to });
            }
        }
        Ok(())
    }

    fn enclose(&self, parameters: &[Interval], context: &Context) -> Result<Enclosed, NotCertified> {
        let n = parameters.len();
        let zero = context.exactly(0.0);
        let mut sum = Enclosed {
            half: zero.clone(),
            gradient: vec![zero.clone(); n],
            hessian: vec![vec![zero.clone(); n]; n],
        };
        for row in &self.rows {
            let m = row.columns.len();
            let own: Vec<Curved> = row
                .columns
                .iter()
                .enumerate()
                .map(|(k, &column)| Curved::variable(parameters[column].clone(), k, m))
                .collect();
            let value = enclose(row.track, row.target.time, &own, context).map_err(|doubt| {
                let (channel, time) = (row.channel.to_owned(), row.target.time);
                match doubt {
                    Doubt::Branch => NotCertified::Branch { channel, time },
                    Doubt::Domain => NotCertified::Domain { channel, time },
                }
            })?;
            let weight = context.exactly(row.target.weight);
            let residual = value.value().sub(&context.exactly(row.target.value));
            let weighted = residual.mul(&weight);
            sum.half =
                sum.half.add(&residual.pow(&context.exactly(2.0)).mul(&weight).mul(&context.exactly(0.5)));
            for (k, &i) in row.columns.iter().enumerate() {
                let Some(slope) = value.first(k) else { continue };
                sum.gradient[i] = sum.gradient[i].add(&slope.mul(&weighted));
                for (l, &j) in row.columns.iter().enumerate().take(k + 1) {
                    let mut entry = zero.clone();
                    if let Some(other) = value.first(l) {
                        entry = slope.mul(other).mul(&weight);
                    }
                    if let Some(bent) = value.second(k, l) {
                        entry = entry.add(&bent.mul(&weighted));
                    }
                    sum.hessian[i][j] = sum.hessian[i][j].add(&entry);
                    if i != j {
                        sum.hessian[j][i] = sum.hessian[j][i].add(&entry);
                    }
                }
            }
        }
        Ok(sum)
    }
}

/// The scale on which each parameter's box is chosen: its size, or where it is zero the square root of its place in the inverse Hessian.
fn reach(point: &[Float], inverse: &Matrix) -> Vec<Float> {
    let own = |j: usize| {
        let diagonal = inverse.get(j).and_then(|row| row.get(j));
        diagonal.map_or_else(|| Float::with_val(53, 1), |x| x.clone().abs().sqrt())
    };
    point.iter().enumerate().map(|(j, x)| if x.is_zero() { own(j) } else { x.clone().abs() }).collect()
}

/// The interval x ± r.
fn ball(context: &Context, x: &Float, r: &Float) -> Interval {
    let low = Float::with_val_round(context.bits(), x - r, Round::Down).0;
    let high = Float::with_val_round(context.bits(), x + r, Round::Up).0;
    context.between(low, high)
}

fn inside(image: &[Interval], wide: &[Interval]) -> bool {
    image.iter().zip(wide).all(|(image, wide)| image.is_inside(wide))
}

fn dot(a: &[Float], b: &[Float]) -> Float {
    let zero = Float::new(a.first().map_or(53, Float::prec));
    a.iter().zip(b).fold(zero, |sum, (a, b)| sum + a * b)
}

/// p̂ − C·g + (I − C·H)·(X − p̂).
fn krawczyk(
    point: &[Interval],
    wide: &[Interval],
    inverse: &Matrix,
    gradient: &[Interval],
    hessian: &[Vec<Interval>],
) -> Vec<Interval> {
    let rows = inverse.iter().zip(point).enumerate();
    rows.map(|(i, (row, x))| {
        let context = |v: &Float| x.context().between(v.clone(), v.clone());
        let row: Vec<Interval> = row.iter().map(context).collect();
        let product = |column: &mut dyn Iterator<Item = &Interval>| {
            row.iter().zip(column).fold(x.lift(0.0), |sum, (c, h)| sum.add(&c.mul(h)))
        };
        let mut image = x.sub(&product(&mut gradient.iter()));
        for (j, (wide, middle)) in wide.iter().zip(point).enumerate() {
            let entry = product(&mut hessian.iter().filter_map(|row| row.get(j)));
            let rest = x.lift(if i == j { 1.0 } else { 0.0 }).sub(&entry);
            image = image.add(&rest.mul(&wide.sub(middle)));
        }
        image
    })
    .collect()
}

/// The inverse by Gauss–Jordan elimination with row pivots; `None` if a pivot is zero or not finite.
fn inverse(mut a: Matrix) -> Option<Matrix> {
    let n = a.len();
    for (i, row) in a.iter_mut().enumerate() {
        let bits = row.first().map_or(53, Float::prec);
        row.extend((0..n).map(|j| Float::with_val(bits, u32::from(i == j))));
    }
    for k in 0..n {
        let pivot = (k..n).max_by(|&i, &j| a[i][k].cmp_abs(&a[j][k]).unwrap_or(std::cmp::Ordering::Equal))?;
        a.swap(k, pivot);
        let mut row = std::mem::take(&mut a[k]);
        let by = row[k].clone();
        if by.is_zero() || !by.is_finite() {
            return None;
        }
        row.iter_mut().for_each(|x| *x /= &by);
        for other in a.iter_mut().filter(|other| !other.is_empty()) {
            let factor = other[k].clone();
            other.iter_mut().zip(&row).for_each(|(x, r)| *x -= &factor * r);
        }
        a[k] = row;
    }
    Some(a.into_iter().map(|mut row| row.split_off(n)).collect())
}

/// Whether every symmetric matrix among these is positive definite: all pivots of an LDLᵀ decomposition are above zero.
fn positive_definite(matrix: &[Vec<Interval>]) -> bool {
    let mut a = matrix.to_vec();
    for k in 0..a.len() {
        let row = std::mem::take(&mut a[k]);
        let Some(pivot) = row.get(k).filter(|pivot| *pivot.low() > 0) else { return false };
        for other in a.iter_mut().skip(k + 1) {
            let factor = other[k].div(pivot);
            for (x, r) in other.iter_mut().zip(&row).skip(k) {
                *x = x.sub(&factor.mul(r));
            }
        }
    }
    true
}

/// A number's decimal digits as far as the interval fixes them, at most 40; the last one is right up to one unit.
pub fn decimal(value: &Interval) -> String {
    let middle = value.middle();
    let relative = Float::with_val(64, value.width() / value.magnitude());
    let certain = if relative.is_zero() { MOST_DIGITS as f64 } else { -relative.log10().to_f64() };
    let digits = if certain.is_finite() { (certain.floor().max(1.0) as usize).min(MOST_DIGITS) } else { 1 };
    middle.to_string_radix_round(10, Some(digits), Round::Nearest)
}
