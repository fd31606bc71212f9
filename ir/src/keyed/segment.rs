//! What a keyed track is between two keys.

use super::Keyed;
use super::shape::{Shape, Tcb};
use crate::number::Scalar;
use crate::track::Id;

/// The difference of values across a segment, and its span of time.
type Step<S> = (S, S);

impl Keyed {
    /// The formula of the segment from key `k` to key `k + 1`.
    #[inline]
    pub(super) fn segment<'a, S: Scalar + 'a>(&self, k: usize, t: &S, value: impl Fn(Id) -> &'a S) -> S {
        let v0 = value(self.keys[k].value);
        let (d, span) = self.step(k, t, &value);
        let u = t.sub(&t.lift(self.keys[k].time())).div(&span);
        let [m0, m1] = match &self.shapes[k] {
            Shape::Hold => return v0.clone(),
            Shape::Linear => return v0.add(&d.mul(&u)),
            Shape::Eased(easing) => return v0.add(&d.mul(&easing.apply(&u))),
            Shape::CatmullRom | Shape::Tcb | Shape::Monotone | Shape::Cubic { .. } => {
                self.slopes(k, (&d, &span), &value)
            }
        };
        let w = t.lift(1.0).sub(&u);
        let bend = m0.sub(&d).mul(&w).sub(&m1.sub(&d).mul(&u));
        v0.add(&u.mul(&d.add(&w.mul(&bend))))
    }

    /// The slopes m₀ and m₁ at the ends of the spline from key `k` to key `k + 1`, in values per unit of u: see
    /// [`shape`](super::shape). `context` is any number of the kind. `None` if there is no such segment, if it is a jump, or
    /// if its shape is no spline.
    pub fn spline_slopes<'a, S: Scalar + 'a>(
        &self,
        k: usize,
        context: &S,
        value: impl Fn(Id) -> &'a S,
    ) -> Option<[S; 2]> {
        match self.shapes.get(k)? {
            Shape::Hold | Shape::Linear | Shape::Eased(_) => None,
            _ if !self.takes_time(k) => None,
            _ => {
                let (d, span) = self.step(k, context, &value);
                Some(self.slopes(k, (&d, &span), &value))
            }
        }
    }

    /// The difference of values across segment `k`, and its span.
    #[inline]
    fn step<'a, S: Scalar + 'a>(&self, k: usize, context: &S, value: &impl Fn(Id) -> &'a S) -> Step<S> {
        let [a, b] = [&self.keys[k], &self.keys[k + 1]];
        (value(b.value).sub(value(a.value)), context.lift(b.time()).sub(&context.lift(a.time())))
    }

    /// The slopes of a segment whose own step is known; for a shape that is no spline, those of a line.
    #[inline]
    fn slopes<'a, S: Scalar + 'a>(
        &self,
        k: usize,
        (d, span): (&S, &S),
        value: &impl Fn(Id) -> &'a S,
    ) -> [S; 2] {
        // of the segments before and after, where no jump hides them
        let beside = || {
            let beyond = |k: Option<usize>| k.filter(|k| self.takes_time(*k)).map(|k| self.step(k, d, value));
            [k.checked_sub(1), Some(k + 1)].map(beyond)
        };
        match &self.shapes[k] {
            Shape::Hold | Shape::Linear | Shape::Eased(_) => [d.clone(), d.clone()],
            Shape::CatmullRom => beside().map(|beyond| match beyond {
                Some((e, _)) => d.add(&e).div(&d.lift(2.0)),
                None => d.clone(),
            }),
            Shape::Tcb => {
                let [before, after] = beside();
                [
                    tcb_slope(self.tcb(k), 1.0, (d, span), before),
                    tcb_slope(self.tcb(k + 1), -1.0, (d, span), after),
                ]
            }
            Shape::Monotone => beside().map(|beyond| match beyond {
                Some((e, width)) => monotone_slope((d, span), (&e, &width)),
                None => d.clone(),
            }),
            Shape::Cubic { leave, arrive } => [leave, arrive].map(|slope| value(*slope).mul(span)),
        }
    }

    /// Whether there is a segment `k`, and it is no jump.
    fn takes_time(&self, k: usize) -> bool {
        self.keys.get(k + 1).is_some_and(|next| next.time() > self.keys[k].time())
    }
}

/// Steffen's slope, per unit of u, where a segment meets another.
fn monotone_slope<S: Scalar>((d, span): (&S, &S), (e, width): (&S, &S)) -> S {
    let (own, other) = (d.div(span), e.div(width));
    let parabola = own.mul(width).add(&other.mul(span)).div(&span.add(width));
    let least = own.abs().min(&other.abs()).min(&parabola.abs().div(&d.lift(2.0)));
    own.sign().add(&other.sign()).mul(&least).mul(span)
}

/// The slope of a TCB segment at one of its ends, given its own step and the one beyond that end. Seen from the end, the
/// segment leaves it (`side` 1) or arrives at it (−1), and the bias counts the other way.
fn tcb_slope<S: Scalar>(tcb: Tcb, side: f64, (d, span): (&S, &S), beyond: Option<Step<S>>) -> S {
    let one = d.lift(1.0);
    let [tension, continuity, bias] = tcb.values().map(|x| d.lift(x));
    let bias = d.lift(side).mul(&bias);
    let own = one.sub(&continuity).mul(&one.sub(&bias)).mul(d);
    let chord = match beyond {
        None => own,
        Some((e, width)) => {
            let other = one.add(&continuity).mul(&one.add(&bias)).mul(&e);
            own.add(&other).mul(&span.div(&span.add(&width)))
        }
    };
    one.sub(&tension).mul(&chord)
}
