//! Tracks written by people: operators and one method an operation.

use std::ops;

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
    Expr::build(|b| {
        let keys = keys.into_iter().map(|(time, value)| Ok((time, b.graft(&value.into().0?)?)));
        let keys: Vec<(f64, Id)> = keys.collect::<Result<_, BuildError>>()?;
        let clock = b.clock()?;
        b.keyed(keys, clock)
    })
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
