//! Derivatives of keyed tracks.
//!
//! By a parameter, a keyed track that is read at a clock which does not move is the same keyed track of its values'
//! derivatives: every shape is linear in its values and tangents, but for `monotone`, which becomes `cubic` with
//! Steffen's slopes as tangents.
//!
//! By its clock it is piecewise. Lines and holds have a `hold` track of slopes, 0 before the first key (a jump at its
//! time) and from the last key on. The others are opened into v₀ + f(u) with u a sawtooth, the coefficients of each
//! segment in hold tracks (v₀ of the keys themselves; d, m₀ − d and m₁ − d are 0 outside) and, where segments differ
//! in kind, a [`SELECT`](Op::SELECT) by a hold track of zeros and ones; and that is differentiated. At a key's time the
//! derivative is that of the segment to the right, as everywhere in keyfit.

use std::cmp::Ordering;
use std::collections::HashMap;

use keyfit_ir::{Easing, Id, Keyed, Keyframe, Op, Shape};

use super::{Derivation, Risk, Rule, Slope, Steep};
use crate::definition::inside;
use crate::graph::{Graph, Oracle, Recorded};

/// For formulas that compare nothing.
struct Unasked;

impl Oracle for Unasked {
    fn compare(&self, _: &Graph, _: Id, _: Id) -> Ordering {
        Ordering::Equal
    }
}

/// A segment that takes time.
#[derive(Clone, Copy)]
struct Segment {
    k: usize,
    from: f64,
    to: f64,
}

/// The segments that take time, in order; there is no gap between them.
fn segments(keyed: &Keyed) -> Vec<Segment> {
    let pairs = keyed.keys().windows(2).enumerate();
    let pairs = pairs.map(|(k, pair)| Segment { k, from: pair[0].time(), to: pair[1].time() });
    pairs.filter(|segment| segment.to > segment.from).collect()
}

impl Derivation<'_> {
    /// The derivative of a keyed track.
    pub(super) fn keyed(&self, keyed: &Keyed) -> Rule {
        // where a slope of 0 is written down it still does not move
        let moving = |id: Id| self.slope(id).filter(|slope| self.graph.number(slope.id) != Some(0.0));
        let clock = moving(keyed.clock());
        let values_move = keyed.children().rev().skip(1).any(|id| moving(*id).is_some());
        if let (Some(clock), Some(points)) = (clock, self.unit_bezier(keyed)) {
            return Rule::Slope(self.bezier(points, keyed.clock(), clock));
        }
        let straight = keyed.shapes().iter().all(|shape| matches!(shape, Shape::Linear | Shape::Hold));
        match clock {
            None if !values_move => Rule::Slope(None),
            None if keyed.shapes().contains(&Shape::Monotone) => Rule::As(self.with_tangents(keyed)),
            None => Rule::Slope(Some(self.of_values(keyed))),
            Some(clock) if straight => {
                let by_values = values_move.then(|| self.of_values(keyed));
                let rates = self.rates(keyed);
                let by_clock = rates.and_then(|rates| self.times(rates.id, Some(clock), Steep::Plain));
                let by_clock = by_clock.map(|slope| match clock.risk {
                    Risk::Finite if self.graph.number(clock.id) == Some(1.0) => {
                        Slope { risk: rates.map_or(slope.risk, |rates| rates.risk), ..slope }
                    }
                    _ => slope,
                });
                Rule::Slope(self.sum(by_values, by_clock))
            }
            Some(_) => Rule::As(self.opened(keyed)),
        }
    }

    /// The same track of the values' derivatives.
    fn of_values(&self, keyed: &Keyed) -> Slope {
        let mut risk = Risk::Finite;
        let mut derivative = |id: &Id| match self.slope(*id) {
            Some(slope) => {
                risk = risk.max(slope.risk);
                slope.id
            }
            None => self.graph.zero(),
        };
        let mut frames = Vec::with_capacity(keyed.keys().len());
        for (k, key) in keyed.keys().iter().enumerate() {
            let value = derivative(&key.value);
            let shape = keyed.shapes().get(k).map_or(Ok(Shape::Linear), |shape| {
                shape.try_map(|id| Ok::<Id, std::convert::Infallible>(derivative(id)))
            });
            let Ok(shape) = shape;
            frames.push(Keyframe { time: key.time(), value, tcb: keyed.tcb(k), shape });
        }
        let id = self.graph.keyed(frames, keyed.clock());
        Slope { id, risk: risk.max(Risk::Overflow) }
    }

    /// The derivative by the clock of a track of lines and holds.
    fn rates(&self, keyed: &Keyed) -> Option<Slope> {
        let rate = |segment: &Segment| match keyed.shapes()[segment.k] {
            Shape::Hold => self.graph.zero(),
            _ => self.mul(
                self.difference_across(keyed, segment.k),
                self.graph.constant(1.0 / (segment.to - segment.from)),
            ),
        };
        let segments = segments(keyed);
        let rates: Vec<Id> = segments.iter().map(rate).collect();
        if rates.iter().all(|rate| self.graph.number(*rate) == Some(0.0)) {
            return None;
        }
        let finite = |id: &Id| self.graph.number(*id).is_some_and(f64::is_finite);
        let risk = if rates.iter().all(finite) { Risk::Finite } else { Risk::Overflow };
        Some(Slope { id: self.piecewise(&segments, &rates, keyed.clock()), risk })
    }

    fn difference_across(&self, keyed: &Keyed, k: usize) -> Id {
        let [a, b] = [k, k + 1].map(|k| keyed.keys()[k].value);
        self.graph.apply(Op::SUB, &[b, a])
    }

    /// A hold track with one value a segment, and 0 outside.
    fn piecewise(&self, segments: &[Segment], values: &[Id], clock: Id) -> Id {
        let Some((first, last)) = segments.first().zip(segments.last()) else { return self.graph.zero() };
        let mut last_value = self.graph.zero();
        let mut frames = vec![Keyframe::new(first.from, last_value).shape(Shape::Hold)];
        let inner = segments.iter().zip(values).map(|(segment, value)| (segment.from, *value));
        for (time, value) in inner.chain([(last.to, self.graph.zero())]) {
            if value != last_value {
                frames.push(Keyframe::new(time, value).shape(Shape::Hold));
                last_value = value;
            }
        }
        self.graph.keyed(frames, clock)
    }

    /// The slopes at the ends of a spline.
    fn spline_slopes(&self, keyed: &Keyed, k: usize) -> Option<[Id; 2]> {
        let recorded = |id: Id| Recorded { graph: self.graph, oracle: &Unasked, moving: true, id };
        let context = recorded(self.graph.zero());
        // a spline feels two keys on both sides
        let near = k.saturating_sub(1)..(k + 3).min(keyed.keys().len());
        let mut values: HashMap<Id, Recorded<'_>> = HashMap::new();
        for key in near {
            let tangents = keyed.shapes().get(key).and_then(Shape::tangents);
            let ids = [keyed.keys()[key].value].into_iter().chain(tangents.into_iter().flatten().copied());
            values.extend(ids.map(|id| (id, recorded(id))));
        }
        let slopes = keyed.spline_slopes(k, &context, |id| values.get(&id).unwrap_or(&context))?;
        Some(slopes.map(|slope| slope.id))
    }

    /// The track with monotone segments as cubic ones.
    fn with_tangents(&self, keyed: &Keyed) -> Id {
        let frames = keyed.keys().iter().enumerate().map(|(k, key)| {
            let shape = keyed.shapes().get(k).copied().unwrap_or(Shape::Linear);
            let shape = match (shape, self.spline_slopes(keyed, k)) {
                (Shape::Monotone, Some(ends)) => {
                    let span = self.graph.constant(keyed.keys()[k + 1].time() - key.time());
                    let [leave, arrive] = ends.map(|m| self.graph.apply(Op::DIV, &[m, span]));
                    Shape::Cubic { leave, arrive }
                }
                (Shape::Monotone, None) => Shape::Linear, // a jump
                (shape, _) => shape,
            };
            Keyframe { time: key.time(), value: key.value, tcb: keyed.tcb(k), shape }
        });
        self.graph.keyed(frames.collect::<Vec<_>>(), keyed.clock())
    }

    /// The track as v₀ + f(u). Between keys it has the same bits.
    fn opened(&self, keyed: &Keyed) -> Id {
        let (clock, zero) = (keyed.clock(), self.graph.zero());
        let of = |op: Op, a: Id, b: Id| self.graph.apply(op, &[a, b]);
        let segments = segments(keyed);
        let kind = |segment: &Segment| keyed.shapes()[segment.k];
        let along = |value: &dyn Fn(&Segment) -> Id| {
            let values: Vec<Id> = segments.iter().map(value).collect();
            self.piecewise(&segments, &values, clock)
        };
        let held = keyed.keys().iter().map(|key| Keyframe::new(key.time(), key.value).shape(Shape::Hold));
        let start = self.graph.keyed(held.collect::<Vec<_>>(), clock);
        let u = self.sawtooth(&segments, clock);
        let d = along(&|segment| match kind(segment) {
            Shape::Hold => zero,
            _ => self.difference_across(keyed, segment.k),
        });
        let end = |side: usize| {
            along(&|segment| match self.spline_slopes(keyed, segment.k) {
                Some(ends) => of(Op::SUB, ends[side], self.difference_across(keyed, segment.k)),
                None => zero,
            })
        };
        let eased = |shape: Shape<Id>| if let Shape::Eased(easing) = shape { Some(easing) } else { None };
        let splines = segments.iter().any(|segment| self.spline_slopes(keyed, segment.k).is_some());
        let plain = segments.iter().any(|segment| kind(segment) == Shape::Linear);
        let mut way = match (splines, plain) {
            (true, _) => {
                let (a, b) = (end(0), end(1));
                let w = of(Op::SUB, self.graph.constant(1.0), u);
                let bend = of(Op::SUB, of(Op::MUL, a, w), of(Op::MUL, b, u));
                Some(of(Op::MUL, u, of(Op::ADD, d, of(Op::MUL, w, bend))))
            }
            (false, true) => Some(of(Op::MUL, d, u)),
            (false, false) => None,
        };
        let mut easings: Vec<Easing> = Vec::new();
        easings.extend(segments.iter().filter_map(|segment| eased(kind(segment))));
        easings.sort_unstable();
        easings.dedup();
        for easing in easings {
            let own = of(Op::MUL, d, self.eased(easing, u));
            way = Some(match way {
                None => own,
                Some(rest) => {
                    let one = self.graph.constant(1.0);
                    let here =
                        along(&|segment| if eased(kind(segment)) == Some(easing) { one } else { zero });
                    self.select(here, own, rest)
                }
            });
        }
        way.map_or(start, |way| of(Op::ADD, start, way))
    }

    /// From 0 to 1 in each segment, and 0 outside.
    fn sawtooth(&self, segments: &[Segment], clock: Id) -> Id {
        let (zero, one) = (self.graph.zero(), self.graph.constant(1.0));
        let first = segments.first().map(|segment| Keyframe::new(segment.from, zero));
        let teeth = segments.iter().flat_map(|segment| [(segment.to, one).into(), (segment.to, zero).into()]);
        match first {
            Some(first) => self.graph.keyed([first].into_iter().chain(teeth), clock),
            None => zero,
        }
    }

    /// The easing's height at `u` in [0, 1]; at a key's time, where `u` is 0, the value is the key's whatever the curve.
    fn eased(&self, easing: Easing, u: Id) -> Id {
        match easing.op().and_then(|op| Some((op, inside(op)?))) {
            Some((op, formula)) => formula.over(op, &[u], self.graph),
            None if easing.jumps_at_start() => self.select(u, self.graph.ease(easing, u), self.graph.zero()),
            None => self.graph.ease(easing, u),
        }
    }

    /// The points of a cubic-bezier from (0, 0) to (1, 1), if the track is no more than that.
    fn unit_bezier(&self, keyed: &Keyed) -> Option<[f64; 4]> {
        match (keyed.keys(), keyed.shapes()) {
            ([a, b], [Shape::Eased(easing)]) => {
                let ends = [self.graph.number(a.value)?, self.graph.number(b.value)?];
                let unit = [a.time(), b.time()] == [0.0, 1.0] && ends == [0.0, 1.0];
                easing.bezier_points().filter(|_| unit)
            }
            _ => None,
        }
    }

    /// The derivative y′(s)/x′(s) of a cubic-bezier by its clock, where x(s) is the clock: s is itself a cubic-bezier, that
    /// with heights ⅓ and ⅔. Where the curve is upright the next derivatives, or the chord, decide.
    fn bezier(&self, [x1, y1, x2, y2]: [f64; 4], clock: Id, by: Slope) -> Option<Slope> {
        let (zero, k) = (self.graph.zero(), |x: f64| self.graph.constant(x));
        let of = |op: Op, a: Id, b: Id| self.graph.apply(op, &[a, b]);
        const THIRDS: [f64; 2] = [1.0 / 3.0, 2.0 / 3.0];
        let s = self.graph.ease(Easing::cubic_bezier(x1, THIRDS[0], x2, THIRDS[1])?, clock);
        let w = of(Op::SUB, k(1.0), s);
        // s and w are in [0, 1], so a term with the factor 0 is 0
        let sum = |factor: f64, terms: &[(f64, &[Id])]| {
            let terms = terms.iter().filter(|(x, _)| *x != 0.0);
            let terms = terms.map(|(x, of)| of.iter().fold(k(*x), |product, of| self.mul(product, *of)));
            let sum = terms.reduce(|sum, term| of(Op::ADD, sum, term));
            sum.map_or(zero, |sum| of(Op::MUL, k(factor), sum))
        };
        let first = |a: f64, b: f64| match [a, b] == THIRDS {
            true => k(1.0),
            false => sum(3.0, &[(a, &[w, w]), (1.0 - b, &[s, s]), (2.0 * (b - a), &[s, w])]),
        };
        let second = |a: f64, b: f64| sum(6.0, &[(b - a - a, &[w]), (1.0 - b - b + a, &[s])]);
        let (dx, dy) = (first(x1, x2), first(y1, y2));
        let mut slope = of(Op::DIV, dy, dx);
        let upright = !(0.0 < x1 && x1 <= x2 && x2 < 1.0);
        if upright {
            let bends = of(Op::DIV, second(y1, y2), second(x1, x2));
            slope = self.select(dx, slope, self.select(dy, slope, bends));
        }
        let within = [(0.0, zero), (0.0, k(1.0)), (1.0, zero)];
        let within = within.map(|(time, value)| Keyframe::new(time, value).shape(Shape::Hold));
        let slope = self.select(self.graph.keyed(within, clock), slope, zero);
        self.times(slope, Some(by), if upright { Steep::Pole } else { Steep::Vanishing })
    }
}
