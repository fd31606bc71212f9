//! Random tracks and numbers for the laws of every crate.
//!
//! Half of the tracks hold ordinary numbers, so that most of their values are finite; the other half mix in every
//! special value that there is. All operations and key shapes occur; subterms are shared.

mod scenes;

use quickcheck::{Arbitrary, Gen};

use crate::easing::{Easing, Jump};
use crate::keyed::Keyframe;
use crate::keyed::shape::{Shape, Tcb};
use crate::op::Op;
use crate::track::{BuildError, Builder, Id, Node, Parameter, Track};

pub use scenes::RandomScene;

/// A number as laws need them: often special, often near to another, often whole.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RandomNumber(pub f64);

/// An ordinary number: finite, of a magnitude in which functions have slopes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TameNumber(pub f64);

/// A random track; it shrinks to its subterms, and by putting a child in a node's place.
#[derive(Clone, Debug, PartialEq)]
pub struct RandomTrack(pub Track);

const SPECIAL: &[f64] = &[
    0.0,
    f64::from_bits(1),
    f64::MIN_POSITIVE / 4.0,
    f64::MIN_POSITIVE,
    1e-300,
    1e-150,
    1e-20,
    f64::EPSILON,
    0.1,
    0.25,
    0.5,
    1.0,
    1.5,
    2.0,
    std::f64::consts::PI,
    std::f64::consts::FRAC_PI_2,
    std::f64::consts::E,
    10.0,
    709.8,
    745.2,
    1024.0,
    4503599627370496.5,
    9007199254740992.0,
    1e16,
    1e150,
    1e300,
    f64::MAX,
    f64::INFINITY,
    f64::NAN,
];

/// A whole number from 0 to `below` − 1.
fn below(g: &mut Gen, below: usize) -> usize {
    (u32::arbitrary(g) as usize) % below.max(1)
}

/// Uniform in [0, 1).
fn unit(g: &mut Gen) -> f64 {
    (u64::arbitrary(g) >> 11) as f64 * (f64::EPSILON / 2.0)
}

fn signed(g: &mut Gen, x: f64) -> f64 {
    if bool::arbitrary(g) { x } else { -x }
}

impl Arbitrary for RandomNumber {
    fn arbitrary(g: &mut Gen) -> RandomNumber {
        let x = match below(g, 8) {
            0 | 1 => g.choose(SPECIAL).copied().unwrap_or(0.0),
            2 => below(g, 12) as f64,
            3 => below(g, 24) as f64 * 0.5,
            // up to three neighbours away from something special
            4 => {
                let near =
                    if bool::arbitrary(g) { below(g, 9) as f64 } else { *g.choose(SPECIAL).unwrap_or(&1.0) };
                let steps = below(g, 7) as u64;
                f64::from_bits(near.to_bits().saturating_add(steps).saturating_sub(3))
            }
            5 => f64::from_bits(u64::arbitrary(g)),
            _ => return RandomNumber(TameNumber::arbitrary(g).0),
        };
        RandomNumber(signed(g, x))
    }

    fn shrink(&self) -> Box<dyn Iterator<Item = RandomNumber>> {
        let x = self.0;
        let simpler = [0.0, 1.0, x.trunc(), x.abs(), (x * 16.0).round_ties_even() / 16.0, x / 2.0];
        // each candidate is simpler in this order, so shrinking ends
        let weight =
            |x: f64| (x.is_nan(), x.is_sign_negative(), x != x.trunc(), (x * 16.0).fract() != 0.0, x.abs());
        let candidates = simpler.into_iter().filter(move |y| weight(*y) < weight(x));
        Box::new(candidates.map(RandomNumber).collect::<Vec<_>>().into_iter())
    }
}

impl Arbitrary for TameNumber {
    fn arbitrary(g: &mut Gen) -> TameNumber {
        let x = match below(g, 4) {
            0 => below(g, 12) as f64 * 0.25,
            1 => unit(g),
            2 => unit(g) * 4.0,
            _ => unit(g) * 20.0,
        };
        TameNumber(signed(g, x))
    }

    fn shrink(&self) -> Box<dyn Iterator<Item = TameNumber>> {
        Box::new(RandomNumber(self.0).shrink().map(|x| TameNumber(x.0)))
    }
}

/// A shape; the five that are no easing as often as all easings.
fn random_shape(g: &mut Gen) -> Shape {
    let (eased, own): (Vec<Shape>, Vec<Shape>) =
        Shape::all().partition(|shape| matches!(shape, Shape::Eased(_)));
    let css = match below(g, 12) {
        0 => {
            let mut height = || g.choose(&[0.0, 0.1, 1.0, -0.55, 1.5]).copied().unwrap_or(0.5);
            let (y1, y2) = (height(), height());
            let mut x = || if bool::arbitrary(g) { unit(g) } else { f64::from(u8::from(bool::arbitrary(g))) };
            Easing::cubic_bezier(x(), y1, x(), y2)
        }
        1 => {
            let jump = g.choose(&[Jump::End, Jump::Start, Jump::None, Jump::Both]).copied();
            Easing::steps(below(g, 7) as u32, jump.unwrap_or(Jump::End))
        }
        _ => None,
    };
    let shapes = if below(g, 3) == 0 { eased } else { own };
    css.map(Shape::Eased).or_else(|| g.choose(&shapes).copied()).unwrap_or(Shape::Linear)
}

fn random_tcb(g: &mut Gen) -> Tcb {
    let mut x = || g.choose(&[0.0, 0.0, 0.5, 0.25, 1.0, -0.5, -1.0, 0.1]).copied().unwrap_or(0.0);
    Tcb::new(x(), x(), x())
}

/// A track in the making: a builder, its nodes, and those that do not vary with time.
struct Growth {
    builder: Builder,
    nodes: Vec<Id>,
    still: Vec<Id>,
    tame: bool,
}

impl Growth {
    fn number(&self, g: &mut Gen) -> f64 {
        if self.tame { TameNumber::arbitrary(g).0 } else { RandomNumber::arbitrary(g).0 }
    }

    fn push(&mut self, id: Id, still: bool) {
        self.nodes.push(id);
        if still {
            self.still.push(id);
        }
    }

    /// One of the nodes, a recent one as often as not.
    fn pick(ids: &[Id], g: &mut Gen) -> Option<Id> {
        let recent = if bool::arbitrary(g) { ids.len().min(3) } else { ids.len() };
        g.choose(&ids[ids.len() - recent..]).copied()
    }

    fn leaf(&mut self, g: &mut Gen) -> Result<(), BuildError> {
        let x = self.number(g);
        match below(g, 3) {
            0 => {
                let clock = self.builder.clock()?;
                self.push(clock, false);
            }
            1 => {
                let id = self.builder.constant(x)?;
                self.push(id, true);
            }
            _ => {
                let name = *g.choose(&["a", "b", "c", "d", "e", "gain", "x_1.y-z"]).unwrap_or(&"a");
                // where the name has a value already, that parameter is shared
                if let Ok(id) = self.builder.free(Parameter::new(name, x)?) {
                    self.push(id, true);
                }
            }
        }
        Ok(())
    }

    fn operation(&mut self, g: &mut Gen) -> Result<(), BuildError> {
        let op = *g.choose(Op::ALL).unwrap_or(&Op::ADD);
        // a part of the operations is on what does not vary, for the keys
        let from = if below(g, 4) == 0 && !self.still.is_empty() { &self.still } else { &self.nodes };
        let operands: Vec<Id> = (0..op.arity()).filter_map(|_| Growth::pick(from, g)).collect();
        let still = operands.iter().all(|id| self.still.contains(id));
        let id = self.builder.apply(op, &operands)?;
        self.push(id, still);
        Ok(())
    }

    fn keyed(&mut self, g: &mut Gen) -> Result<(), BuildError> {
        let Some(clock) = Growth::pick(&self.nodes, g) else { return Ok(()) };
        let mut keys: Vec<Keyframe<Id>> = Vec::new();
        // three of four tracks have one shape
        let one = (below(g, 4) > 0).then(|| random_shape(g));
        let mut time = self.number(g);
        let mut jumped = false;
        for _ in 0..=below(g, 6) {
            let Some(value) = Growth::pick(&self.still, g) else { return Ok(()) };
            let name = one.unwrap_or_else(|| random_shape(g));
            let tangent = |_: &()| Growth::pick(&self.still, g).ok_or(BuildError::Empty);
            let shape = name.try_map(tangent)?;
            let passed = [Some(&shape), keys.last().map(|key| &key.shape)];
            let tcb = match passed.contains(&Some(&Shape::Tcb)) && bool::arbitrary(g) {
                true => random_tcb(g),
                false => Tcb::default(),
            };
            keys.push(Keyframe { time, value, tcb, shape });
            let step = match below(g, 8) {
                0 if !jumped => 0.0,
                1 => time.abs() * f64::EPSILON, // the next number, or the one after it
                2 if !self.tame => *g.choose(&[f64::from_bits(1), 1e-300, 1e150, 1e300]).unwrap_or(&1.0),
                3 | 4 => 1.0,
                5 => 0.5,
                _ => unit(g) * 3.0,
            };
            jumped = step == 0.0;
            let next = time + step;
            time = if next == time && !jumped { time + time.abs().max(1.0) } else { next };
        }
        // the last key has no segment of its own
        if let [.., before, last] = &mut keys[..] {
            last.tcb = if before.shape == Shape::Tcb { last.tcb } else { Tcb::default() };
        } else {
            keys.iter_mut().for_each(|key| key.tcb = Tcb::default());
        }
        // special times may be infinite or too far apart; then one key remains
        let id = match self.builder.keyed(keys.iter().copied(), clock) {
            Ok(id) => id,
            Err(BuildError::Keys(_)) => {
                self.builder.keyed(keys.first().map(|key| (1.0, key.value)), clock)?
            }
            Err(error) => return Err(error),
        };
        let still = self.still.contains(&clock);
        self.push(id, still);
        Ok(())
    }

    fn grow(g: &mut Gen, tame: bool, size: usize) -> Result<Track, BuildError> {
        let mut growth = Growth { builder: Builder::new(), nodes: Vec::new(), still: Vec::new(), tame };
        let zero = growth.builder.constant(0.5)?;
        growth.push(zero, true);
        for _ in 0..=below(g, 5) {
            growth.leaf(g)?;
        }
        for _ in 0..size {
            match below(g, 10) {
                0 => growth.leaf(g)?,
                1 => growth.keyed(g)?,
                _ => growth.operation(g)?,
            }
        }
        growth.builder.finish(growth.nodes[growth.nodes.len() - 1])
    }
}

impl RandomTrack {
    /// A track of ordinary numbers only.
    pub fn tame(g: &mut Gen) -> RandomTrack {
        RandomTrack::with(g, true)
    }

    fn with(g: &mut Gen, tame: bool) -> RandomTrack {
        let size = g.size().min(40);
        let size = below(g, size + 1);
        // nothing that is built here is refused; if it were, a law about one clock is still a law
        RandomTrack(Growth::grow(g, tame, size).unwrap_or_else(|_| clock()))
    }
}

fn clock() -> Track {
    let mut builder = Builder::new();
    match builder.clock().and_then(|id| builder.finish(id)) {
        Ok(track) => track,
        Err(error) => unreachable!("a lone clock was refused: {error}"),
    }
}

impl Arbitrary for RandomTrack {
    fn arbitrary(g: &mut Gen) -> RandomTrack {
        let tame = bool::arbitrary(g);
        RandomTrack::with(g, tame)
    }

    fn shrink(&self) -> Box<dyn Iterator<Item = RandomTrack>> {
        let track = self.0.clone();
        let root = track.root();
        let hoisted = (0..track.nodes().len()).rev().flat_map(move |i| {
            let children: Vec<Id> = track.nodes()[i].children().iter().collect();
            let track = track.clone();
            children.into_iter().filter_map(move |child| hoist(&track, i, child, root).ok())
        });
        Box::new(hoisted.map(RandomTrack))
    }
}

/// The track with the i-th node replaced by one of its children; for the root that is a subterm.
fn hoist(track: &Track, i: usize, child: Id, root: Id) -> Result<Track, BuildError> {
    let mut builder = Builder::new();
    let mut new: Vec<Id> = Vec::with_capacity(track.nodes().len());
    for (k, node) in track.nodes().iter().enumerate() {
        let at = |id: Id| new[id.index()];
        let id = if k == i {
            at(child)
        } else {
            match node {
                Node::Constant(x) => builder.constant(x.value())?,
                Node::Clock => builder.clock()?,
                Node::Free(p) => builder.free((**p).clone())?,
                Node::Apply(op, operands) => builder.apply(*op, &operands.map(at)[..op.arity()])?,
                Node::Keyed(keyed) => builder.insert_keyed(keyed.map(|child| at(*child)))?,
            }
        };
        new.push(id);
    }
    builder.finish(new[root.index()])
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn every_operation_and_key_shape_occurs() {
        let mut g = Gen::from_size_and_seed(40, 1);
        let (mut ops, mut jumps, mut clocks, mut free_keys, mut finite) = (HashSet::new(), 0, 0, 0, 0);
        let (mut shapes, mut mixed, mut bent) = (HashSet::new(), 0, 0);
        for _ in 0..2000 {
            let RandomTrack(track) = RandomTrack::arbitrary(&mut g);
            finite += usize::from(track.sample(0.75).is_finite());
            for node in track.nodes() {
                match node {
                    Node::Apply(op, _) => drop(ops.insert(*op)),
                    Node::Keyed(keyed) => {
                        let keys = keyed.keys();
                        shapes.extend(keyed.shapes().iter().map(Shape::name));
                        mixed += usize::from(keyed.shapes().windows(2).any(|pair| pair[0] != pair[1]));
                        bent += usize::from((0..keys.len()).any(|k| keyed.tcb(k) != Tcb::default()));
                        jumps += usize::from(keys.windows(2).any(|pair| pair[0].time() == pair[1].time()));
                        clocks += usize::from(track.node(keyed.clock()) != Some(&Node::Clock));
                        let free = |id| matches!(track.node(id), Some(Node::Free(_) | Node::Apply(..)));
                        free_keys += usize::from(keys.iter().any(|key| free(key.value)));
                    }
                    _ => {}
                }
            }
        }
        assert_eq!(ops.len(), Op::ALL.len());
        let (named, css): (HashSet<Shape>, HashSet<Shape>) =
            shapes.into_iter().partition(|shape| !shape.to_string().contains('('));
        assert_eq!(named, Shape::all().collect());
        assert!(css.len() > 50, "{css:?}");
        assert!(mixed > 50 && bent > 50, "{mixed} {bent}");
        assert!(jumps > 100 && clocks > 100 && free_keys > 100, "{jumps} {clocks} {free_keys}");
        assert!(finite > 600, "{finite} of 2000 values are finite");
    }

    #[test]
    fn shrinking_ends() {
        let mut g = Gen::from_size_and_seed(40, 2);
        for _ in 0..100 {
            let mut track = RandomTrack::arbitrary(&mut g);
            let mut rounds = 0;
            while let Some(next) = track.shrink().next() {
                (track, rounds) = (next, rounds + 1);
                assert!(rounds < 10_000);
            }
            assert_eq!(track.0.nodes().len(), 1);
        }
    }
}
