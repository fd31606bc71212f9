//! What a keyed track is between two keys.

use super::shape::Shape;
use super::{Key, Keyed};
use crate::number::Scalar;
use crate::track::Id;

impl Keyed {
    /// The formula of the segment from key `k` to key `k + 1`.
    pub(super) fn segment<'a, S: Scalar + 'a>(&self, k: usize, t: &S, value: impl Fn(Id) -> &'a S) -> S {
        let [a, b] = [&self.keys[k], &self.keys[k + 1]];
        let v0 = value(a.value);
        let (t0, t1) = (t.lift(a.time()), t.lift(b.time()));
        let span = t1.sub(&t0);
        let u = t.sub(&t0).div(&span);
        let d = value(b.value).sub(v0);
        let (m0, m1) = match &self.shapes[k] {
            Shape::Hold => return v0.clone(),
            Shape::Linear => return v0.add(&d.mul(&u)),
            Shape::Eased(easing) => return v0.add(&d.mul(&easing.apply(&u))),
            Shape::CatmullRom => {
                let slope = |beyond: Option<&Key>| match beyond {
                    Some(key) => d.add(&self.beyond(k, key, &value)).div(&t.lift(2.0)),
                    None => d.clone(),
                };
                (slope(self.before(k)), slope(self.after(k + 1)))
            }
            Shape::Tcb => {
                let slope = |at: usize, side: f64, beyond: Option<&Key>| {
                    let here = self.keys[at].time();
                    let beyond = beyond.map(|key| {
                        let span = t.lift(here.max(key.time())).sub(&t.lift(here.min(key.time())));
                        (self.beyond(k, key, &value), span)
                    });
                    let [tension, continuity, bias] = self.tcb(at).values().map(|x| t.lift(x));
                    tcb_slope([tension, continuity, t.lift(side).mul(&bias)], &d, &span, beyond)
                };
                (slope(k, 1.0, self.before(k)), slope(k + 1, -1.0, self.after(k + 1)))
            }
            Shape::Cubic { leave, arrive } => (value(*leave).mul(&span), value(*arrive).mul(&span)),
        };
        let w = t.lift(1.0).sub(&u);
        let bend = m0.sub(&d).mul(&w).sub(&m1.sub(&d).mul(&u));
        v0.add(&u.mul(&d.add(&w.mul(&bend))))
    }

    /// The key before key `k`, if no jump hides it.
    fn before(&self, k: usize) -> Option<&Key> {
        let key = &self.keys[k.checked_sub(1)?];
        (key.time() < self.keys[k].time()).then_some(key)
    }

    /// The key after key `k`, if no jump hides it.
    fn after(&self, k: usize) -> Option<&Key> {
        self.keys.get(k + 1).filter(|key| key.time() > self.keys[k].time())
    }

    /// The difference of values from the segment `k`'s near end to the key `beyond` it, later minus earlier.
    fn beyond<'a, S: Scalar + 'a>(&self, k: usize, beyond: &Key, value: &impl Fn(Id) -> &'a S) -> S {
        let [a, b] = [&self.keys[k], &self.keys[k + 1]];
        let far = value(beyond.value);
        if beyond.time() < a.time() { value(a.value).sub(far) } else { far.sub(value(b.value)) }
    }
}

/// The slope of a TCB segment at one of its ends, given its own difference and span and those of the segment beyond the
/// end. The bias counts from the end at which the segment leaves; at the other end it comes negated.
fn tcb_slope<S: Scalar>([tension, continuity, bias]: [S; 3], d: &S, span: &S, beyond: Option<(S, S)>) -> S {
    let one = d.lift(1.0);
    let own = one.sub(&continuity).mul(&one.sub(&bias)).mul(d);
    let chord = match beyond {
        None => own,
        Some((difference, width)) => {
            let other = one.add(&continuity).mul(&one.add(&bias)).mul(&difference);
            own.add(&other).mul(&span.div(&span.add(&width)))
        }
    };
    one.sub(&tension).mul(&chord)
}
