//! Animation tracks as data: operations, evaluation, text.
//!
//! Text becomes a [`Track`], one canonical array of nodes; the same array is what is compared, printed and evaluated.

#[cfg(feature = "arbitrary")]
pub mod arbitrary;
pub mod describe;
pub mod expr;
pub mod keyed;
pub mod number;
pub mod op;
pub mod sample;
pub mod track;

pub use expr::{Expr, free, linear, number as constant, t};
pub use keyed::{Key, KeyError, Keyed};
pub use number::{Scalar, same_bits};
pub use op::{Infix, MAX_ARITY, Op};
pub use sample::Sampler;
pub use track::{BuildError, Builder, Children, Id, NameError, Node, Number, Parameter, Track};
