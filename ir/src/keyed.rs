//! Keyed tracks: values at times, with segments between.
//!
//! Before the first key and after the last the value is that key's; **at a key's time the value is exactly the key's**,
//! and the derivatives are those of the segment to its right. Two keys at one time are a jump: the last wins at that
//! time, the first is the limit from the left. Each segment has its own [`Shape`]; [`shape`] says what they mean.

pub mod shape;

mod segment;

use std::cmp::Ordering;
use std::convert::Infallible;

use thiserror::Error;

use crate::number::Scalar;
use crate::track::{Id, Number};
use shape::{Shape, Tcb};

/// A key: a plain time, and a value that is a time-invariant track.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key<C = Id> {
    time: Number,
    /// The key's value, a node of the track that holds the keys.
    pub value: C,
}

impl<C> Key<C> {
    /// The time, finite and never −0.
    pub fn time(&self) -> f64 {
        self.time.value()
    }
}

/// A key as it is given to [`Keyed::new`]: with how it is passed, and the way to the next.
///
/// ```
/// use keyfit_ir::{Keyframe, Shape, constant, keyed};
/// let keys = [Keyframe::new(0.0, 6.0).shape(Shape::Hold), Keyframe::new(1.0, 8.0), Keyframe::new(2.0, 9.0)];
/// assert_eq!(keyed(keys).track()?.describe(), "keys[0.0=6.0 hold 1.0=8.0 linear 2.0=9.0]");
/// # Ok::<(), keyfit_ir::BuildError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Keyframe<C> {
    /// The time.
    pub time: f64,
    /// The value.
    pub value: C,
    /// How segments of shape TCB pass this key.
    pub tcb: Tcb,
    /// The segment to the next key; the last key's is not looked at.
    pub shape: Shape<C>,
}

impl<C> Keyframe<C> {
    /// A key from which a linear segment goes on.
    pub fn new(time: f64, value: C) -> Keyframe<C> {
        Keyframe { time, value, tcb: Tcb::default(), shape: Shape::Linear }
    }

    /// The same with another segment to the next key.
    pub fn shape(self, shape: Shape<C>) -> Keyframe<C> {
        Keyframe { shape, ..self }
    }

    /// The same, passed by TCB segments in this way.
    pub fn tcb(self, tcb: Tcb) -> Keyframe<C> {
        Keyframe { tcb, ..self }
    }
}

impl<C> From<(f64, C)> for Keyframe<C> {
    fn from((time, value): (f64, C)) -> Keyframe<C> {
        Keyframe::new(time, value)
    }
}

/// The keys of a keyed track, the segments between them, and the clock that it is read at.
///
/// There is at least one key; times ascend, and at most two keys share one. `C` is what stands for a child: a node's
/// [`Id`] in a track, `()` where only times and shapes are of interest.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Keyed<C = Id> {
    keys: Box<[Key<C>]>,
    /// One less than there are keys.
    shapes: Box<[Shape<C>]>,
    /// One a key; none if all are zero.
    tcbs: Box<[Tcb]>,
    clock: C,
}

/// Why keys do not make a keyed track. Keys are counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum KeyError {
    /// The list is empty.
    #[error("a keyed track needs at least one key")]
    Empty,
    /// A time is NaN or infinite.
    #[error("key {key}: its time {time:?} is not a finite number")]
    TimeNotFinite {
        /// Which key.
        key: usize,
        /// Its time.
        time: f64,
    },
    /// A key comes before the one that it follows in the list.
    #[error("key {key}: its time {time:?} comes before {previous:?}, the time of the key before it")]
    OutOfOrder {
        /// Which key.
        key: usize,
        /// Its time.
        time: f64,
        /// The time of the key before it.
        previous: f64,
    },
    /// A third key at one time; two are a jump.
    #[error(
        "key {key}: the third key at time {time:?}; two keys at one time are a jump, three have no meaning"
    )]
    Repeated {
        /// Which key.
        key: usize,
        /// The time.
        time: f64,
    },
    /// The time between two keys overflows.
    #[error("key {key}: it lies too far from the key before it, the span between them overflows")]
    SpanOverflow {
        /// Which key.
        key: usize,
    },
    /// A tension, continuity or bias is NaN or infinite.
    #[error("key {key}: its tension, continuity and bias must be finite numbers")]
    TcbNotFinite {
        /// Which key.
        key: usize,
    },
    /// A tension, continuity or bias where no TCB segment begins or ends.
    #[error("key {key}: it has a tension, continuity or bias, but no tcb segment passes it")]
    TcbUnused {
        /// Which key.
        key: usize,
    },
    /// A tangent where no cubic segment begins or ends.
    #[error("key {key}: it has {side}-tangent, but no cubic segment is there")]
    TangentUnused {
        /// Which key.
        key: usize,
        /// `an in` or `an out`.
        side: &'static str,
    },
    /// A list of mixed shapes leaves one out.
    #[error("key {key}: the shape of the segment behind it is missing")]
    NoShape {
        /// Which key.
        key: usize,
    },
    /// A shape stands behind the last key.
    #[error("key {key}: a shape stands behind it, but no key that it could lead to")]
    ShapeAtEnd {
        /// Which key.
        key: usize,
    },
    /// A tangent depends on the clock.
    #[error("key {key}: a tangent at it or at the next key varies with time")]
    TangentVaries {
        /// Which key.
        key: usize,
    },
    /// A key's value depends on the clock.
    #[error(
        "key {key}: its value varies with time; a key's value is a number, a free parameter or made of these"
    )]
    ValueVaries {
        /// Which key.
        key: usize,
    },
}

impl KeyError {
    /// The key at fault, counted from 1; `None` if there are no keys.
    pub fn key(&self) -> Option<usize> {
        match *self {
            KeyError::Empty => None,
            KeyError::TimeNotFinite { key, .. }
            | KeyError::OutOfOrder { key, .. }
            | KeyError::Repeated { key, .. }
            | KeyError::SpanOverflow { key }
            | KeyError::TcbNotFinite { key }
            | KeyError::TcbUnused { key }
            | KeyError::TangentUnused { key, .. }
            | KeyError::NoShape { key }
            | KeyError::ShapeAtEnd { key }
            | KeyError::TangentVaries { key }
            | KeyError::ValueVaries { key } => Some(key),
        }
    }
}

/// Where a time lies among the keys; keys are counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The value is key `k`'s: before the first key, or from the last key's time on.
    Held(usize),
    /// Exactly at key `k`'s time, with a segment to its right.
    At(usize),
    /// Strictly between keys `k` and `k + 1`.
    After(usize),
    /// The time is NaN.
    Nowhere,
}

impl<C> Keyed<C> {
    /// The keyed track of these keys, read at `clock`. Pairs (time, value) make it linear.
    ///
    /// # Errors
    /// [`KeyError`], but for values that vary: that a builder knows.
    pub fn new(
        frames: impl IntoIterator<Item = impl Into<Keyframe<C>>>,
        clock: C,
    ) -> Result<Keyed<C>, KeyError> {
        let mut keys: Vec<Key<C>> = Vec::new();
        let mut shapes = Vec::new();
        let mut tcbs = Vec::new();
        for Keyframe { time, value, tcb, shape } in frames.into_iter().map(Into::into) {
            let n = keys.len() + 1;
            if !time.is_finite() {
                return Err(KeyError::TimeNotFinite { key: n, time });
            }
            if let Some(previous) = keys.last().map(Key::time) {
                if time < previous {
                    return Err(KeyError::OutOfOrder { key: n, time, previous });
                }
                if n > 2 && keys[n - 3].time() == time {
                    return Err(KeyError::Repeated { key: n, time });
                }
                if !(time - previous).is_finite() {
                    return Err(KeyError::SpanOverflow { key: n });
                }
            }
            if !tcb.is_finite() {
                return Err(KeyError::TcbNotFinite { key: n });
            }
            keys.push(Key { time: Number::new(time + 0.0), value }); // −0 becomes +0
            shapes.push(shape);
            tcbs.push(tcb);
        }
        shapes.pop().ok_or(KeyError::Empty)?;
        let passed = |k: usize| shapes[k.saturating_sub(1)..].iter().take(if k > 0 { 2 } else { 1 });
        let is_tcb = |shape: &Shape<C>| matches!(shape, Shape::Tcb);
        if let Some(k) = (0..tcbs.len()).find(|&k| tcbs[k] != Tcb::default() && !passed(k).any(is_tcb)) {
            return Err(KeyError::TcbUnused { key: k + 1 });
        }
        if tcbs.iter().all(|tcb| *tcb == Tcb::default()) {
            tcbs.clear();
        }
        Ok(Keyed { keys: keys.into(), shapes: shapes.into(), tcbs: tcbs.into(), clock })
    }

    /// The keys, by time; never empty.
    pub fn keys(&self) -> &[Key<C>] {
        &self.keys
    }

    /// The segments' shapes: the `k`-th leads from key `k` to key `k + 1`.
    pub fn shapes(&self) -> &[Shape<C>] {
        &self.shapes
    }

    /// How TCB segments pass key `k`.
    pub fn tcb(&self, k: usize) -> Tcb {
        self.tcbs.get(k).copied().unwrap_or_default()
    }

    /// The child whose value is the time that the track is read at.
    pub fn clock(&self) -> C
    where
        C: Copy,
    {
        self.clock
    }

    /// The children: each key's value and then the tangents of the segment behind it, and the clock last.
    pub fn children(&self) -> impl DoubleEndedIterator<Item = &C> + '_ {
        self.keys
            .iter()
            .enumerate()
            .flat_map(|(k, key)| {
                let tangents = self.shapes.get(k).and_then(Shape::tangents);
                [Some(&key.value)].into_iter().chain(tangents.into_iter().flatten().map(Some)).flatten()
            })
            .chain([&self.clock])
    }

    /// The same times and shapes with other children, in the order of [`Keyed::children`].
    ///
    /// # Errors
    /// The first one that `f` gives.
    pub fn try_map<D, E>(&self, mut f: impl FnMut(&C) -> Result<D, E>) -> Result<Keyed<D>, E> {
        let mut keys = Vec::with_capacity(self.keys.len());
        let mut shapes = Vec::with_capacity(self.shapes.len());
        for (k, key) in self.keys.iter().enumerate() {
            keys.push(Key { time: key.time, value: f(&key.value)? });
            if let Some(shape) = self.shapes.get(k) {
                shapes.push(shape.try_map(&mut f)?);
            }
        }
        let clock = f(&self.clock)?;
        Ok(Keyed { keys: keys.into(), shapes: shapes.into(), tcbs: self.tcbs.clone(), clock })
    }

    /// [`Keyed::try_map`] where nothing can fail.
    pub fn map<D>(&self, mut f: impl FnMut(&C) -> D) -> Keyed<D> {
        let Ok(mapped) = self.try_map(|child| Ok::<D, Infallible>(f(child)));
        mapped
    }

    /// Where `t` lies. `near` is a guess, the number of keys at or before a nearby time: times asked in order are
    /// found in amortised constant time, others by bisection.
    #[inline]
    pub fn place<S: Scalar>(&self, t: &S, near: &mut usize) -> Place {
        let Some(passed) = self.passed(t, *near) else { return Place::Nowhere };
        *near = passed;
        match passed.checked_sub(1) {
            None => Place::Held(0),
            Some(k) if passed == self.keys.len() => Place::Held(k),
            Some(k) if t.compare(&t.lift(self.keys[k].time())) == Some(Ordering::Equal) => Place::At(k),
            Some(k) => Place::After(k),
        }
    }

    /// The number of keys at or before `t`; `None` if `t` is NaN.
    #[inline]
    fn passed<S: Scalar>(&self, t: &S, near: usize) -> Option<usize> {
        t.compare(t)?;
        let reached = |k: usize| {
            self.keys.get(k).is_some_and(|key| t.compare(&t.lift(key.time())) != Some(Ordering::Less))
        };
        let near = near.min(self.keys.len());
        if near == 0 || reached(near - 1) {
            for passed in near..near.saturating_add(3) {
                if !reached(passed) {
                    return Some(passed);
                }
            }
        }
        Some(self.keys.partition_point(|key| t.compare(&t.lift(key.time())) != Some(Ordering::Less)))
    }
}

impl Keyed {
    /// The value at `t`, given the values of the keys.
    #[inline]
    pub fn value<'a, S: Scalar + 'a>(&self, t: &S, near: &mut usize, value: impl Fn(Id) -> &'a S) -> S {
        match self.place(t, near) {
            Place::Held(k) => value(self.keys[k].value).clone(),
            Place::At(k) => {
                let here = value(self.keys[k].value);
                // a jump right at the key leaves no way that the key's value could move along
                if matches!(&self.shapes[k], Shape::Eased(easing) if easing.jumps_at_start()) {
                    return here.clone();
                }
                here.with_derivatives_of(self.segment(k, t, value))
            }
            Place::After(k) => self.segment(k, t, value),
            Place::Nowhere => t.lift(f64::NAN),
        }
    }
}
