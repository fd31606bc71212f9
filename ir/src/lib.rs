//! Animation tracks as data: operations, evaluation, text.
//!
//! Text becomes a [`Track`], one canonical array of nodes; the same array is what is compared, printed and evaluated.
//!
//! ```
//! use keyfit_ir::{Quantity, Scene, Track, free, linear};
//!
//! // the same track from RectSL, from a formula and from Rust
//! let scene = Scene::parse_rectsl(
//!     r#"#rectsl
//!     linear-track "sweep" '( 0=0  4=4 )
//!     "marker" rect
//!       "sweep" track-ref 1.0 free-param gain * 0.0 free-param bias + ->x
//!     ;"#,
//! ).map_err(|errors| errors[0].clone())?;
//! let x = scene.rects[0].track(Quantity::X);
//! assert_eq!(*x, Track::parse("linear[0=0 4=4] * ?gain=1 + ?bias=0")?);
//! assert_eq!(*x, (linear([(0.0, 0.0), (4.0, 4.0)]) * free("gain", 1.0) + free("bias", 0.0)).track()?);
//!
//! // print it, put numbers in, ask for values
//! assert_eq!(x.describe(), "ADD(MUL(linear[0.0=0.0 4.0=4.0], ?gain=1.0), ?bias=0.0)");
//! let fitted = x.substitute_parameters(|name| match name {
//!     "gain" => Some(4.0),
//!     "bias" => Some(-8.0),
//!     _ => None,
//! });
//! assert_eq!([fitted.sample(1.0), fitted.sample(3.0)], [-4.0, 4.0]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[cfg(feature = "arbitrary")]
pub mod arbitrary;
pub mod cinematic;
pub mod describe;
pub mod easing;
pub mod expr;
pub mod formula;
pub mod glsl;
pub mod keyed;
pub mod number;
pub mod op;
pub mod rectsl;
pub mod sample;
pub mod scene;
pub mod text;
pub mod track;

pub use cinematic::CinematicScene;
pub use easing::{Easing, Jump};
pub use expr::{Expr, HEADING_STEP, free, heading, keyed, linear, number as constant, shaped, t};
pub use formula::Names;
pub use glsl::GlslRefusal;
pub use keyed::shape::{Shape, Tcb};
pub use keyed::{Key, KeyError, Keyed, Keyframe};
pub use number::{Scalar, same_bits};
pub use op::{Infix, MAX_ARITY, Op};
pub use sample::Sampler;
pub use scene::{Channel, Colour, Quantity, Rate, RateTargets, Rect, Scene, Target, Wall};
pub use text::{Span, SyntaxError, SyntaxErrorKind};
pub use track::{BuildError, Builder, Children, Id, NameError, Node, Number, Parameter, Track};
