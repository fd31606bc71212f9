//! Tracks written by people: operators and one method an operation.

use std::convert::Infallible;
use std::ops;

use crate::easing::Easing;
use crate::keyed::Keyframe;
use crate::keyed::shape::Shape;
use crate::op::Op;
use crate::track::{BuildError, Builder, Id, Parameter, Track};

/// A track under construction, or the first thing that was wrong with it.
///
/// Operators copy the operands' nodes, so an expression of n nodes costs O(n) an operator: pleasant for people.
/// Machines use a [`Builder`].
///
/// ```
/// use keyfit_ir::{free, t};
/// let track = (t() * free("gain", 1.0) + free("bias", 0.0)).track()?;
/// assert_eq!(track.describe(), "ADD(MUL(t, ?gain=1.0), ?bias=0.0)");
/// assert!((free("gain", 1.0) + free("gain", 2.0)).track().is_err());
/// # Ok::<(), keyfit_ir::BuildError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Expr(Result<Track, BuildError>);

/// The clock.
pub fn t() -> Expr {
    Expr::build(|b| b.clock())
}

/// A constant.
pub fn number(x: f64) -> Expr {
    Expr::build(|b| b.constant(x))
}

/// A free parameter with its current value.
pub fn free(name: &str, start: f64) -> Expr {
    Expr::build(|b| b.free(Parameter::new(name, start)?))
}

/// A linear keyed track; key values are numbers or time-invariant expressions.
pub fn linear<V: Into<Expr>>(keys: impl IntoIterator<Item = (f64, V)>) -> Expr {
    keyed(keys.into_iter().map(|(time, value)| Keyframe::new(time, value.into())))
}

/// A keyed track whose segments all have one shape. Tangents of a cubic are 0.
///
/// ```
/// use keyfit_ir::{Shape, shaped};
/// let track = shaped(Shape::CatmullRom, [(0.0, 0.0), (1.0, 10.0), (2.0, 30.0)]).track()?;
/// assert_eq!(track.sample(0.5), 4.375);
/// # Ok::<(), keyfit_ir::BuildError>(())
/// ```
pub fn shaped<V: Into<Expr>>(shape: Shape, keys: impl IntoIterator<Item = (f64, V)>) -> Expr {
    keyed(keys.into_iter().map(|(time, value)| {
        let Ok(shape) = shape.try_map(|()| Ok::<Expr, Infallible>(number(0.0)));
        Keyframe::new(time, value.into()).shape(shape)
    }))
}

/// A keyed track of any shapes; values and tangents are numbers or time-invariant expressions.
pub fn keyed<V: Into<Expr> + Clone>(keys: impl IntoIterator<Item = Keyframe<V>>) -> Expr {
    Expr::build(|b| {
        let mut graft = |value: &V| b.graft(&value.clone().into().0?);
        let mut frames = Vec::new();
        for Keyframe { time, value, tcb, shape } in keys {
            let (value, shape) = (graft(&value)?, shape.try_map(&mut graft)?);
            frames.push(Keyframe { time, value, tcb, shape });
        }
        let clock = b.clock()?;
        b.keyed(frames, clock)
    })
}

/// How far before and after a time [`heading`] looks when a scene does not say, in seconds.
pub const HEADING_STEP: f64 = 1.0 / 1024.0;

/// The direction of travel in radians, in [−π, π], of a point that moves by `x` and `y`: atan2 of the central differences
/// y(t + `step`) − y(t − `step`) and x(t + `step`) − x(t − `step`); 0 where the point rests.
///
/// ```
/// use keyfit_ir::{HEADING_STEP, heading, linear};
/// let heading = heading(linear([(0.0, 0.0), (1.0, 3.0)]), linear([(0.0, 0.0), (1.0, 4.0)]), HEADING_STEP).track()?;
/// assert_eq!([heading.sample(0.5), heading.sample(5.0)], [0.9272952180016122, 0.0]); // atan2(4, 3)
/// # Ok::<(), keyfit_ir::BuildError>(())
/// ```
pub fn heading(x: impl Into<Expr>, y: impl Into<Expr>, step: f64) -> Expr {
    let difference = |of: Expr| of.clone().at(t() + step) - of.at(t() - step);
    difference(y.into()).atan2(difference(x.into()))
}

impl Expr {
    fn build(f: impl FnOnce(&mut Builder) -> Result<Id, BuildError>) -> Expr {
        let mut builder = Builder::new();
        Expr(f(&mut builder).and_then(|root| builder.finish(root)))
    }

    /// The track.
    ///
    /// # Errors
    /// The first thing that was wrong: two values for one name, keys out of order, …
    pub fn track(self) -> Result<Track, BuildError> {
        self.0
    }

    /// An operation by its table row; the methods named by the operations' words are this.
    pub fn apply(op: Op, operands: &[Expr]) -> Expr {
        Expr::build(|b| {
            let ids = operands.iter().map(|x| b.graft(x.0.as_ref().map_err(Clone::clone)?));
            let ids: Vec<Id> = ids.collect::<Result<_, BuildError>>()?;
            b.apply(op, &ids)
        })
    }

    /// An easing of this value; see [`Builder::ease`].
    pub fn ease(self, easing: Easing) -> Expr {
        Expr::build(|b| {
            let u = b.graft(&self.0?)?;
            b.ease(easing, u)
        })
    }

    /// This track read at another clock: every `t` in it becomes `clock`.
    pub fn at(self, clock: impl Into<Expr>) -> Expr {
        Expr::build(|b| {
            let clock = b.graft(&clock.into().0?)?;
            b.graft_at(&self.0?, Some(clock))
        })
    }
}

impl From<f64> for Expr {
    fn from(x: f64) -> Expr {
        number(x)
    }
}

impl From<Track> for Expr {
    fn from(track: Track) -> Expr {
        Expr(Ok(track))
    }
}

macro_rules! operators {
    ($($Trait:ident $method:ident $op:ident)+) => {$(
        impl<R: Into<Expr>> ops::$Trait<R> for Expr {
            type Output = Expr;
            fn $method(self, rhs: R) -> Expr {
                Expr::apply(Op::$op, &[self, rhs.into()])
            }
        }
        impl ops::$Trait<Expr> for f64 {
            type Output = Expr;
            fn $method(self, rhs: Expr) -> Expr {
                Expr::apply(Op::$op, &[self.into(), rhs])
            }
        }
    )+};
}
operators! { Add add ADD  Sub sub SUB  Mul mul MUL  Div div DIV }

impl ops::Neg for Expr {
    type Output = Expr;
    fn neg(self) -> Expr {
        Expr::apply(Op::NEG, &[self])
    }
}
