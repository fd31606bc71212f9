//! Keyed tracks: values at times, with segments between.
//!
//! Before the first key and after the last the value is that key's; **at a key's time the value is exactly the key's**.
//! Two keys at one time are a jump: the last wins at that time, the first is the limit from the left. Between two keys
//! a linear segment is `v0 + (v1 − v0)·u` with `u = (t − t0)/(t1 − t0)`, in that order of operations.

use std::cmp::Ordering;

use thiserror::Error;

use crate::number::Scalar;
use crate::track::Id;

/// A key: a plain time, and a value that is a time-invariant track.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    time: f64,
    /// The key's value, a node of the track that holds the keys.
    pub value: Id,
}

impl Key {
    /// The time, finite and never −0.
    pub fn time(&self) -> f64 {
        self.time
    }
}

impl PartialEq for Key {
    fn eq(&self, other: &Key) -> bool {
        self.time.to_bits() == other.time.to_bits() && self.value == other.value
    }
}
impl Eq for Key {}
impl std::hash::Hash for Key {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        (self.time.to_bits(), self.value).hash(state);
    }
}

/// The keys of a linear keyed track and the clock that it is read at.
///
/// There is at least one key; times ascend, and at most two keys share one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Keyed {
    keys: Box<[Key]>,
    clock: Id,
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

impl Keyed {
    /// Checks the keys' times. That the values do not vary with time is the builder's to check.
    pub(crate) fn new(keys: impl IntoIterator<Item = (f64, Id)>, clock: Id) -> Result<Keyed, KeyError> {
        let keys: Box<[Key]> = keys
            .into_iter()
            .map(|(time, value)| Key { time: time + 0.0, value }) // −0 becomes +0
            .collect();
        for (i, key) in keys.iter().enumerate() {
            let (n, time) = (i + 1, key.time);
            if !time.is_finite() {
                return Err(KeyError::TimeNotFinite { key: n, time });
            }
            let Some(previous) = i.checked_sub(1).map(|p| keys[p].time) else { continue };
            if time < previous {
                return Err(KeyError::OutOfOrder { key: n, time, previous });
            }
            if i >= 2 && keys[i - 2].time == time {
                return Err(KeyError::Repeated { key: n, time });
            }
            if !(time - previous).is_finite() {
                return Err(KeyError::SpanOverflow { key: n });
            }
        }
        if keys.is_empty() { Err(KeyError::Empty) } else { Ok(Keyed { keys, clock }) }
    }

    /// The keys, by time; never empty.
    pub fn keys(&self) -> &[Key] {
        &self.keys
    }

    /// The node whose value is the time that the track is read at.
    pub fn clock(&self) -> Id {
        self.clock
    }

    /// The nodes that this one is made of: the keys' values, then the clock.
    pub fn children(&self) -> impl DoubleEndedIterator<Item = Id> + '_ {
        self.keys.iter().map(|key| key.value).chain([self.clock])
    }

    /// The same keyed track with every child replaced.
    pub(crate) fn map(&self, mut f: impl FnMut(Id) -> Id) -> Keyed {
        let keys = self.keys.iter().map(|key| Key { time: key.time, value: f(key.value) }).collect();
        Keyed { keys, clock: f(self.clock) }
    }

    /// Where `t` lies. `near` is a guess, the number of keys at or before a nearby time: times asked in order are
    /// found in amortised constant time, others by bisection.
    pub fn place<S: Scalar>(&self, t: &S, near: &mut usize) -> Place {
        let Some(passed) = self.passed(t, *near) else { return Place::Nowhere };
        *near = passed;
        match passed.checked_sub(1) {
            None => Place::Held(0),
            Some(k) if passed == self.keys.len() => Place::Held(k),
            Some(k) if t.compare(&t.lift(self.keys[k].time)) == Some(Ordering::Equal) => Place::At(k),
            Some(k) => Place::After(k),
        }
    }

    /// The number of keys at or before `t`; `None` if `t` is NaN.
    fn passed<S: Scalar>(&self, t: &S, near: usize) -> Option<usize> {
        t.compare(t)?;
        let reached = |k: usize| {
            self.keys.get(k).is_some_and(|key| t.compare(&t.lift(key.time)) != Some(Ordering::Less))
        };
        let near = near.min(self.keys.len());
        if near == 0 || reached(near - 1) {
            for passed in near..near.saturating_add(3) {
                if !reached(passed) {
                    return Some(passed);
                }
            }
        }
        Some(self.keys.partition_point(|key| t.compare(&t.lift(key.time)) != Some(Ordering::Less)))
    }

    /// The value at `t`, given the values of the keys.
    pub fn value<'a, S: Scalar + 'a>(&self, t: &S, near: &mut usize, value: impl Fn(Id) -> &'a S) -> S {
        match self.place(t, near) {
            Place::Held(k) => value(self.keys[k].value).clone(),
            Place::At(k) => {
                let here = value(self.keys[k].value);
                here.with_derivatives_of(self.segment(k, t, value))
            }
            Place::After(k) => self.segment(k, t, value),
            Place::Nowhere => t.lift(f64::NAN),
        }
    }

    /// The formula of the segment from key `k` to key `k + 1`.
    fn segment<'a, S: Scalar + 'a>(&self, k: usize, t: &S, value: impl Fn(Id) -> &'a S) -> S {
        let [a, b] = [&self.keys[k], &self.keys[k + 1]];
        let (t0, t1) = (t.lift(a.time), t.lift(b.time));
        let u = t.sub(&t0).div(&t1.sub(&t0));
        let (v0, v1) = (value(a.value), value(b.value));
        v0.add(&v1.sub(v0).mul(&u))
    }
}
