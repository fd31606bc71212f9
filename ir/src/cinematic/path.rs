//! The tracks that the keys of a camera or actor make.

use super::{Component, EasingSide, MotionTarget, PathMode, Pose, SceneTrack, Turn, Value, seconds};
use crate::keyed::Keyframe;
use crate::keyed::shape::Shape;
use crate::op::Op;
use crate::scene::{Channel, Rate, RateTargets, Target};
use crate::track::{BuildError, Builder, Id, Node, Track};

/// Keys that are nearer than this in space coincide: their direction is lost, and the spline's slope with it. It is so
/// small that nothing else is lost, and so large that a float of GLSL holds it and its reciprocal.
const COINCIDENT: f64 = 1e-30;

/// A whole turn, in degrees.
const TURN: f64 = 360.0;

/// The field of view where no key says one yet.
const FIRST_FOV: f64 = 70.0;

/// The channels of a track, with its targets.
pub(super) fn channels(prefix: &str, track: &SceneTrack) -> Result<Vec<Channel>, BuildError> {
    let Some((motion, poses)) = track.motion() else { return Ok(Vec::new()) };
    let mut pen = Pen::new(&poses, motion.easing_side)?;
    let [x, y, z] = [0, 1, 2].map(|axis| poses.iter().map(|pose| &pose.position[axis]).collect::<Vec<_>>());
    let points = [pen.values(&x)?, pen.values(&y)?, pen.values(&z)?];
    let mut roots = pen.positions(motion.path_mode, &points)?;
    for component in &track.components()[roots.len()..] {
        let said: Vec<Option<&Value>> = match (component, track) {
            (Component::Yaw, _) => poses.iter().map(|pose| pose.yaw.as_ref()).collect(),
            (Component::Pitch, _) => poses.iter().map(|pose| pose.pitch.as_ref()).collect(),
            (_, SceneTrack::Camera(camera)) => camera.keys.iter().map(|key| key.fov.as_ref()).collect(),
            _ => vec![None; poses.len()],
        };
        let first = Value::Number(if *component == Component::Fov { FIRST_FOV } else { 0.0 });
        let mut last = &first;
        let carried: Vec<&Value> = said
            .into_iter()
            .map(|value| {
                last = value.unwrap_or(last);
                last
            })
            .collect();
        let mut values = pen.values(&carried)?;
        if (*component, motion.turn) == (Component::Yaw, Turn::Short) {
            pen.builder.unwrap_values(&mut values, TURN)?;
        }
        roots.push(pen.segments(&values)?);
    }
    let mut channels = Vec::with_capacity(roots.len());
    for (component, root) in track.components().iter().zip(roots) {
        let track = pen.builder.finish(root)?;
        let turns = (*component, motion.turn) == (Component::Yaw, Turn::Short);
        let targets =
            motion.targets.iter().filter_map(|target| aim(target, *component, turns.then_some(&track)));
        let targets = targets.collect();
        channels.push(Channel { name: format!("{prefix}{}", component.name()), track, targets });
    }
    Ok(channels)
}

/// The targets for velocities and accelerations of a track's channels. A rate of a yaw is one whichever way it turns.
pub(super) fn rate_targets(prefix: &str, track: &SceneTrack) -> Vec<RateTargets> {
    let Some((motion, _)) = track.motion() else { return Vec::new() };
    let mut all = Vec::new();
    for component in track.components() {
        all.extend(Rate::ALL.map(|rate| {
            let aim = |target: &MotionTarget| {
                let value = target.rates[rate as usize][*component as usize]?;
                Some(Target { time: target.when.seconds(), value, weight: target.weight })
            };
            let targets = motion.targets.iter().filter_map(aim).collect();
            RateTargets { channel: format!("{prefix}{}", component.name()), rate, targets }
        }));
    }
    all.retain(|own| !own.targets.is_empty());
    all
}

/// A target of one channel. That of a yaw that `turns` is moved by whole turns to where the track is nearest.
fn aim(target: &MotionTarget, component: Component, turns: Option<&Track>) -> Option<Target> {
    let (time, value) = (target.when.seconds(), target.values[component as usize]?);
    let nearest = |track: &Track| Op::UNWRAP.apply([&value, &track.sample(time), &TURN]);
    let moved = turns.map(nearest).filter(|moved| moved.is_finite());
    let value = moved.unwrap_or(value);
    Some(Target { time, value, weight: target.weight })
}

/// What writes a track's nodes.
struct Pen {
    builder: Builder,
    times: Vec<f64>,
    /// The segments' shapes.
    shapes: Vec<Shape>,
    clock: Id,
}

impl Pen {
    fn new(poses: &[&Pose], side: EasingSide) -> Result<Pen, BuildError> {
        let mut builder = Builder::new();
        let clock = builder.clock()?;
        let governs = match side {
            EasingSide::Left => 0,
            EasingSide::Right => 1,
        };
        let shapes = poses.iter().skip(governs).map(|pose| pose.interpolation.shape());
        let shapes = shapes.take(poses.len().saturating_sub(1)).collect();
        Ok(Pen { builder, times: poses.iter().map(|pose| seconds(pose.tick)).collect(), shapes, clock })
    }

    fn values(&mut self, values: &[&Value]) -> Result<Vec<Id>, BuildError> {
        let node = |value: &&Value| match value {
            Value::Number(x) => self.builder.constant(*x),
            Value::Free(parameter) => self.builder.free(parameter.clone()),
        };
        values.iter().map(node).collect()
    }

    /// An operation; of numbers, its value.
    fn apply(&mut self, op: Op, operands: &[Id]) -> Result<Id, BuildError> {
        let number = |id: &Id| match self.builder.node(*id) {
            Some(Node::Constant(x)) => Some(x.value()),
            _ => None,
        };
        let numbers: Option<Vec<f64>> = operands.iter().map(number).collect();
        match numbers.as_deref() {
            Some([a]) => self.builder.constant(op.apply([a, a, a])),
            Some([a, b]) => self.builder.constant(op.apply([a, b, a])),
            Some([a, b, c]) => self.builder.constant(op.apply([a, b, c])),
            _ => self.builder.apply(op, operands),
        }
    }

    /// The values at the keys' times, with their segments.
    fn segments(&mut self, values: &[Id]) -> Result<Id, BuildError> {
        let shapes = self.shapes.clone();
        self.keyed(values, |k| shapes.get(k).copied().unwrap_or(Shape::Linear))
    }

    fn keyed(&mut self, values: &[Id], shape: impl Fn(usize) -> Shape) -> Result<Id, BuildError> {
        let mut frames = Vec::with_capacity(values.len());
        for (k, (time, value)) in self.times.iter().zip(values).enumerate() {
            let shape = shape(k).try_map(|()| self.builder.constant(0.0))?;
            frames.push(Keyframe::new(*time, *value).shape(shape));
        }
        self.builder.keyed(frames, self.clock)
    }

    fn positions(&mut self, mode: PathMode, points: &[Vec<Id>; 3]) -> Result<Vec<Id>, BuildError> {
        let eased = self.shapes.iter().any(|shape| matches!(shape, Shape::Eased(_)));
        let shapes = self.shapes.clone();
        let uniform = |k: usize| match shapes.get(k) {
            Some(Shape::Hold) => Shape::Hold,
            _ => Shape::CatmullRom,
        };
        match mode {
            _ if points[0].len() < 2 => points.iter().map(|values| self.segments(values)).collect(),
            PathMode::Linear => points.iter().map(|values| self.segments(values)).collect(),
            PathMode::Spline if !eased => points.iter().map(|values| self.keyed(values, uniform)).collect(),
            PathMode::Spline => {
                let clock = self.counter()?;
                points.iter().map(|values| self.counted(values, |_| Shape::CatmullRom, clock)).collect()
            }
            PathMode::Centripetal | PathMode::Chordal => {
                let clock = self.counter()?;
                let knots = self.knots(mode, points)?;
                let mut roots = Vec::with_capacity(points.len());
                for values in points {
                    let ends = self.ends(values, &knots)?;
                    let shape = |k: usize| match ends.get(k) {
                        Some([leave, arrive]) => Shape::Cubic { leave: *leave, arrive: *arrive },
                        None => Shape::Linear,
                    };
                    roots.push(self.counted(values, shape, clock)?);
                }
                Ok(roots)
            }
        }
    }

    /// A clock that is k at key k and goes on by the segment's u, eased: what is read at it has segments of length 1 that
    /// need not know of ease.
    fn counter(&mut self) -> Result<Id, BuildError> {
        let numbers = (0..self.times.len()).map(|k| self.builder.constant(k as f64));
        let numbers = numbers.collect::<Result<Vec<Id>, BuildError>>()?;
        self.segments(&numbers)
    }

    /// The values at 0, 1, 2 …, read at such a clock.
    fn counted(
        &mut self,
        values: &[Id],
        shape: impl Fn(usize) -> Shape<Id>,
        clock: Id,
    ) -> Result<Id, BuildError> {
        let frames = values.iter().enumerate();
        let frames = frames.map(|(k, value)| Keyframe::new(k as f64, *value).shape(shape(k)));
        self.builder.keyed(frames.collect::<Vec<_>>(), clock)
    }

    /// For each segment, the distance between its knots, and 1, or 0 if its keys coincide.
    fn knots(&mut self, mode: PathMode, points: &[Vec<Id>; 3]) -> Result<Vec<[Id; 2]>, BuildError> {
        let [nearest, one] = [self.builder.constant(COINCIDENT)?, self.builder.constant(1.0)?];
        let mut knots = Vec::with_capacity(self.shapes.len());
        for k in 1..points[0].len() {
            let mut distance = None;
            for values in points {
                let step = self.apply(Op::SUB, &[values[k], values[k - 1]])?;
                distance = Some(match distance {
                    None => step,
                    Some(distance) => self.apply(Op::HYPOT, &[distance, step])?,
                });
            }
            // the constant wins where keys coincide, so that nothing is divided by 0 and no slope is NaN
            let distance = self.apply(Op::MAX, &[distance.unwrap_or(one), nearest])?;
            let coincide = self.apply(Op::STEP, &[distance, nearest])?;
            let apart = self.apply(Op::SUB, &[one, coincide])?;
            let knot = match mode {
                PathMode::Centripetal => self.apply(Op::SQRT, &[distance])?,
                _ => distance,
            };
            knots.push([knot, apart]);
        }
        Ok(knots)
    }

    /// For each segment, the slopes with which it leaves its left key and arrives at its right one, a segment being 1 long.
    /// At the ends of the path they are the chord's, as if the end were mirrored.
    fn ends(&mut self, values: &[Id], knots: &[[Id; 2]]) -> Result<Vec<[Id; 2]>, BuildError> {
        let mut ends = Vec::with_capacity(knots.len());
        for k in 0..knots.len() {
            let chord = self.apply(Op::SUB, &[values[k + 1], values[k]])?;
            ends.push([chord; 2]);
        }
        for k in 1..knots.len() {
            let ([d0, apart0], [d1, apart1]) = (knots[k - 1], knots[k]);
            let s0 = self.apply(Op::SUB, &[values[k], values[k - 1]])?;
            let s0 = self.apply(Op::DIV, &[s0, d0])?;
            let s1 = self.apply(Op::SUB, &[values[k + 1], values[k]])?;
            let s1 = self.apply(Op::DIV, &[s1, d1])?;
            let sum = self.apply(Op::ADD, &[d0, d1])?;
            let weight = self.apply(Op::DIV, &[d0, sum])?;
            let slope = self.apply(Op::MIX, &[s0, s1, weight])?;
            let apart = self.apply(Op::MUL, &[apart0, apart1])?;
            let slope = self.apply(Op::MUL, &[apart, slope])?;
            ends[k - 1][1] = self.apply(Op::MUL, &[d0, slope])?;
            ends[k][0] = self.apply(Op::MUL, &[d1, slope])?;
        }
        Ok(ends)
    }
}
