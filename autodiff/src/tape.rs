//! The record of a smooth track at fixed times, by which a fit evaluates it over and over.
//!
//! What no parameter moves is evaluated once. The rest is a list of steps, each with the places of its operands, its partial
//! derivatives and its tangents: for each parameter in its term, how it moves with that. Numbers stand in rows, one for each
//! time, so that every step is a loop that a compiler can make parallel. A step's value and tangents are computed by the same
//! operations in the same order as [`Jet`](crate::Jet)s compute them, but without these' care for what is not finite: where a
//! partial turns out not to be, the caller asks the jets.
//!
//! Second derivatives are summed by one sweep back: with tangents a′ and b′ of the operands of f(a, b) and the adjoint w of its
//! value, the sum's Hessian is Σ w·(fₐₐ·a′a′ᵀ + fₐᵦ·(a′b′ᵀ + b′a′ᵀ) + fᵦᵦ·b′b′ᵀ) over all steps. A. Griewank & A. Walther, Evaluating
//! Derivatives, 2nd ed. (2008), sections 3.2 and 5.1.

use keyfit_ir::{Node, Op, Sampler, Track};
use ndarray::ArrayViewMut2;

use crate::derivative::{first_block, second_block};

mod plan;

use plan::{Held, Plan, Row, Slot, Source, Spread, Step, Tangent};

/// Times that are evaluated together.
const LANES: usize = 128;
/// The most numbers that are kept from one evaluation for the next: 8 MB.
const KEPT: usize = 1 << 20;

/// A track's values and derivatives at fixed times, for one set of parameters after another.
#[derive(Debug)]
pub(crate) struct Tape {
    plan: Plan,
    points: usize,
    /// The distance of two rows of values: all points where they are kept, one block where they are not.
    stride: usize,
    /// A row for each thing that no parameter moves, all points.
    still: Vec<f64>,
    /// A row for each number that does not vary with time but is combined with such as do, one block.
    spread: Vec<f64>,
    /// A row for each step.
    values: Vec<f64>,
    /// Rows of partials and tangents, one block.
    scratch: Vec<f64>,
    /// The value of each node that does not vary with time.
    scalars: Vec<f64>,
    /// Tangents that do not vary with time.
    slopes: Vec<f64>,
    /// The parameters of what stands in `scalars` and `spread`.
    parameters: Vec<f64>,
    /// Whether `values` are those of all points, and `slopes` those of these parameters.
    has_values: bool,
    has_slopes: bool,
}

impl Tape {
    /// Of a track at `times`; none where it is not smooth in its parameters, or its value does not vary with time.
    pub fn new(track: &Track, times: &[f64]) -> Option<Tape> {
        let plan = Plan::new(track)?;
        let (points, lanes) = (times.len(), times.len().clamp(1, LANES));
        let mut still = vec![0.0; plan.still.len() * points];
        for (row, id) in still.chunks_exact_mut(points.max(1)).zip(&plan.still) {
            match track.node(*id) {
                Some(Node::Clock) => row.copy_from_slice(times),
                _ => Sampler::new(&track.subterm(*id)).sample_into(times, &[], row),
            }
        }
        let mut scalars = vec![0.0; track.nodes().len()];
        for (i, node) in track.nodes().iter().enumerate().filter(|(i, _)| plan.is_fixed[*i]) {
            scalars[i] = match node {
                Node::Constant(x) => x.value(),
                Node::Apply(op, operands) => op.apply(operands.map(|id| &scalars[id.index()])),
                Node::Keyed(keyed) => {
                    keyed.value(&scalars[keyed.clock().index()], &mut 0, |id| &scalars[id.index()])
                }
                Node::Clock | Node::Free(_) => f64::NAN, // never fixed
            };
        }
        let kept = plan.steps.len().saturating_mul(points) <= KEPT;
        let stride = if kept { points } else { lanes };
        let mut spread = vec![0.0; plan.spread.len() * lanes];
        for (row, what) in spread.chunks_exact_mut(lanes).zip(&plan.spread) {
            row.fill(match what {
                Spread::Number(x) => *x,
                Spread::Node(id) => scalars[id.index()],
            });
        }
        Some(Tape {
            values: vec![0.0; plan.steps.len() * stride],
            scratch: vec![0.0; plan.scratch * lanes],
            slopes: vec![1.0; plan.slopes],
            parameters: Vec::new(),
            has_values: false,
            has_slopes: false,
            plan,
            points,
            stride,
            still,
            spread,
            scalars,
        })
    }

    /// Takes the parameters, one for each column.
    fn hold(&mut self, parameters: &[f64]) {
        let same = |(a, b): (&f64, &f64)| a.to_bits() == b.to_bits();
        if self.parameters.len() == parameters.len() && self.parameters.iter().zip(parameters).all(same) {
            return;
        }
        self.parameters.clear();
        self.parameters.extend_from_slice(parameters);
        (self.has_values, self.has_slopes) = (false, false);
        for (node, x) in self.plan.free.iter().zip(parameters) {
            self.scalars[*node] = *x;
        }
        for Held { node, op, operands: [a, b], .. } in &self.plan.held {
            let [a, b] = [&self.scalars[*a], &self.scalars[*b]];
            self.scalars[*node] = op.apply([a, b, b]);
        }
        let lanes = self.lanes();
        for (row, what) in self.spread.chunks_exact_mut(lanes).zip(&self.plan.spread) {
            if let Spread::Node(id) = what
                && !self.plan.is_fixed[id.index()]
            {
                row.fill(self.scalars[id.index()]);
            }
        }
    }

    /// The tangents of what does not vary with time.
    fn find_slopes(&mut self) {
        if std::mem::replace(&mut self.has_slopes, true) {
            return;
        }
        for held in &self.plan.held {
            let mut partials = [0.0; 2];
            for (by, _) in &held.moving {
                partials[*by] = first(held, *by, &self.scalars);
            }
            for (out, parts) in &held.products {
                let terms = parts.iter().map(|(by, of)| partials[*by] * self.slopes[*of]);
                // the first term as it is, not added to 0
                self.slopes[*out] = terms.reduce(|sum, term| sum + term).unwrap_or(0.0);
            }
        }
    }

    fn lanes(&self) -> usize {
        self.points.clamp(1, LANES)
    }

    /// The blocks of times: each with its first one and how many it has.
    fn blocks(&self) -> impl Iterator<Item = (usize, usize)> + use<> {
        let points = self.points;
        (0..points).step_by(LANES).map(move |first| (first, LANES.min(points - first)))
    }

    /// Where the values of a block that begins at `first` stand in a row of values.
    fn offset(&self, first: usize) -> usize {
        if self.stride == self.points { first } else { 0 }
    }

    fn evaluate(&mut self, first: usize, n: usize) {
        if self.has_values {
            return;
        }
        let offset = self.offset(first);
        let mut values = std::mem::take(&mut self.values);
        for (k, step) in self.plan.steps.iter().enumerate() {
            let (done, rest) = values.split_at_mut(k * self.stride);
            let [a, b] = step.operands.map(|row| match row {
                Row::Value(k) => &done[k * self.stride + offset..][..n],
                other => self.row(other, first, n),
            });
            step.op.apply_block::<f64>([a, b, b], &mut rest[offset..][..n]);
        }
        self.values = values;
    }

    /// A row of the block that begins at `first` and has `n` times.
    fn row(&self, row: Row, first: usize, n: usize) -> &[f64] {
        match row {
            Row::Value(k) => &self.values[k * self.stride + self.offset(first)..][..n],
            Row::Still(k) => &self.still[k * self.points + first..][..n],
            Row::Spread(k) => &self.spread[k * self.lanes()..][..n],
            Row::Scratch(k) => &self.scratch[k * self.lanes()..][..n],
        }
    }

    /// Writes the values at `parameters` to `out`, one for each time.
    pub fn values(&mut self, parameters: &[f64], out: &mut [f64]) {
        self.hold(parameters);
        let last = self.plan.steps.len() - 1;
        for (first, n) in self.blocks() {
            self.evaluate(first, n);
            if let Some(out) = out.get_mut(first..first + n) {
                out.copy_from_slice(self.row(Row::Value(last), first, n));
            }
        }
        self.has_values = self.stride == self.points;
    }

    /// The partials and tangents of a block whose values are known.
    fn differentiate(&mut self, first: usize, n: usize) {
        let lanes = self.lanes();
        let mut scratch = std::mem::take(&mut self.scratch);
        for (k, step) in self.plan.steps.iter().enumerate() {
            for moving in &step.moving {
                if let Row::Scratch(out) = moving.partial {
                    let out = &mut scratch[out * lanes..][..n];
                    first_block(step.op, moving.by, self.operands(k, step, first, n), out);
                }
            }
            for product in &step.products {
                let (done, rest) = scratch.split_at_mut(product.out * lanes);
                let row = |row: Row| match row {
                    Row::Scratch(k) => &done[k * lanes..][..n],
                    other => self.row(other, first, n),
                };
                let tangent = |slot: Slot| match slot {
                    Slot::Row(at) => Lanes::Each(row(at)),
                    Slot::Slope(k) => Lanes::All(self.slopes[k]),
                };
                let out = &mut rest[..n];
                let (partial, slot) = product.first;
                tangent(slot).times(row(partial), out, |_, term| term);
                if let Some((partial, slot)) = product.second {
                    tangent(slot).times(row(partial), out, |sum, term| sum + term);
                }
            }
        }
        self.scratch = scratch;
    }

    /// The operands' values of a step, and its own.
    fn operands(&self, k: usize, step: &Step, first: usize, n: usize) -> [&[f64]; 3] {
        let [a, b] = step.operands;
        [a, b, Row::Value(k)].map(|row| self.row(row, first, n))
    }

    fn tangent(&self, slot: Slot, first: usize, n: usize) -> Lanes<'_> {
        match slot {
            Slot::Row(row) => Lanes::Each(self.row(row, first, n)),
            Slot::Slope(k) => Lanes::All(self.slopes[k]),
        }
    }

    /// Hands over the partial derivatives at `parameters`: a column, the place of the first of some times, and the partials there.
    /// False where one is not finite; then none is to be believed.
    pub fn partials(&mut self, parameters: &[f64], out: &mut dyn FnMut(usize, usize, &[f64])) -> bool {
        self.hold(parameters);
        self.find_slopes();
        let mut spread = [0.0; LANES];
        let mut finite = true;
        for (first, n) in self.blocks() {
            self.evaluate(first, n);
            self.differentiate(first, n);
            for Tangent { column, slot } in &self.plan.tangents {
                let partials = match self.tangent(*slot, first, n) {
                    Lanes::Each(row) => row,
                    Lanes::All(x) => {
                        spread[..n].fill(x);
                        &spread[..n]
                    }
                };
                // without a way out on the way, which a compiler can make parallel
                finite &= partials.iter().fold(true, |finite, x| finite & x.is_finite());
                out(*column, first, partials);
            }
        }
        self.has_values = self.stride == self.points;
        finite
    }

    /// Adds Σ wᵢ·∂²y(tᵢ)/∂pⱼ∂pₖ to `out`, exactly symmetric. False, and nothing is added, where that is not finite.
    pub fn add_weighted(
        &mut self,
        parameters: &[f64],
        weights: &[f64],
        mut out: ArrayViewMut2<'_, f64>,
    ) -> bool {
        self.hold(parameters);
        self.find_slopes();
        let columns = self.plan.free.len();
        let mut sum = Upper { columns, entries: vec![0.0; columns * columns] };
        let mut held = vec![0.0; self.scalars.len()];
        let lanes = self.lanes();
        let mut adjoints = vec![0.0; self.plan.steps.len() * lanes];
        let mut room = [[0.0; LANES]; 2];
        for (first, n) in self.blocks() {
            self.evaluate(first, n);
            self.differentiate(first, n);
            adjoints.fill(0.0);
            let root = (self.plan.steps.len() - 1) * lanes;
            adjoints[root..]
                .iter_mut()
                .zip(weights.get(first..).unwrap_or_default())
                .for_each(|(a, w)| *a = *w);
            for (k, step) in self.plan.steps.iter().enumerate().rev() {
                let (below, own) = adjoints.split_at_mut(k * lanes);
                let own = &own[..n];
                for moving in &step.moving {
                    let partials = Lanes::Each(self.row(moving.partial, first, n));
                    match moving.source {
                        Source::Step(of) => {
                            partials.times(own, &mut below[of * lanes..][..n], |sum, term| sum + term);
                        }
                        Source::Held(node) => held[node] += partials.dot(own),
                    }
                }
                for (which, [i, j]) in bends(step.op, step.moving.iter().map(|moving| moving.by)) {
                    let [factor, product] = &mut room;
                    let (factor, product) = (&mut factor[..n], &mut product[..n]);
                    second_block(step.op, which, self.operands(k, step, first, n), factor);
                    factor.iter_mut().zip(own).for_each(|(f, w)| *f *= w);
                    let [a, b] = [i, j].map(|k| &step.moving[k].tangents);
                    for one in a {
                        self.tangent(one.slot, first, n).times(factor, product, |_, term| term);
                        // of one operand twice, each pair once
                        for other in b.iter().filter(|other| which == 1 || other.column >= one.column) {
                            let term = self.tangent(other.slot, first, n).dot(product);
                            sum.add(one.column, other.column, which, term);
                        }
                    }
                }
            }
        }
        self.has_values = self.stride == self.points;
        for own in self.plan.held.iter().rev() {
            let weight = held[own.node];
            for (by, _) in &own.moving {
                held[own.operands[*by]] += weight * first(own, *by, &self.scalars);
            }
            for (which, [i, j]) in bends(own.op, own.moving.iter().map(|(by, _)| *by)) {
                let factor = weight * second(own, which, &self.scalars);
                let [a, b] = [i, j].map(|k| &own.moving[k].1);
                for one in a {
                    for other in b.iter().filter(|other| which == 1 || other.column >= one.column) {
                        let [one_slope, other_slope] = [one, other].map(|t| match t.slot {
                            Slot::Slope(k) => self.slopes[k],
                            Slot::Row(_) => f64::NAN, // no tangent of what is held varies
                        });
                        sum.add(one.column, other.column, which, factor * one_slope * other_slope);
                    }
                }
            }
        }
        if sum.entries.iter().any(|x| !x.is_finite()) {
            return false;
        }
        for j in 0..columns {
            for k in j..columns {
                let value = sum.entries[j * columns + k];
                out.get_mut((j, k)).into_iter().for_each(|slot| *slot += value);
                out.get_mut((k, j)).filter(|_| j < k).into_iter().for_each(|slot| *slot += value);
            }
        }
        true
    }
}

/// The upper half of a symmetric matrix.
struct Upper {
    columns: usize,
    entries: Vec<f64>,
}

impl Upper {
    /// Adds a term at (j, k), and for a mixed derivative at (k, j) too.
    fn add(&mut self, j: usize, k: usize, which: usize, term: f64) {
        let twice = if which == 1 && j == k { 2.0 } else { 1.0 };
        self.entries[j.min(k) * self.columns + j.max(k)] += twice * term;
    }
}

/// The second derivatives of an operation that are not zero, each with its two operands' places in the list of those that
/// move.
fn bends(op: Op, moving: impl Iterator<Item = usize>) -> impl Iterator<Item = (usize, [usize; 2])> {
    let mut places = [None; 2];
    moving.enumerate().for_each(|(k, by)| places[by] = Some(k));
    let bent: &[usize] = match op {
        Op::ADD | Op::SUB | Op::NEG | Op::ABS => &[],
        Op::MUL => &[1],
        Op::DIV => &[1, 2],
        _ if op.arity() == 1 => &[0],
        _ => &[0, 1, 2],
    };
    bent.iter().filter_map(move |which| {
        let [a, b] = [[0, 0], [0, 1], [1, 1]][*which];
        Some((*which, [places[a]?, places[b]?]))
    })
}

/// A partial derivative of what does not vary with time.
fn first(held: &Held, by: usize, scalars: &[f64]) -> f64 {
    let mut out = [0.0];
    first_block(held.op, by, rows(held, scalars), &mut out);
    out[0]
}

/// A second derivative of it.
fn second(held: &Held, which: usize, scalars: &[f64]) -> f64 {
    let mut out = [0.0];
    second_block(held.op, which, rows(held, scalars), &mut out);
    out[0]
}

fn rows<'a>(held: &Held, scalars: &'a [f64]) -> [&'a [f64]; 3] {
    let [a, b] = held.operands;
    [a, b, held.node].map(|node| &scalars[node..=node])
}

/// A number for each time, or one for all.
#[derive(Clone, Copy)]
enum Lanes<'a> {
    Each(&'a [f64]),
    All(f64),
}

impl Lanes<'_> {
    /// Makes `out` from itself and the products with `factors`.
    #[inline]
    fn times(self, factors: &[f64], out: &mut [f64], make: impl Fn(f64, f64) -> f64) {
        let rows = out.iter_mut().zip(factors);
        match self {
            Lanes::Each(own) => rows.zip(own).for_each(|((out, f), x)| *out = make(*out, f * x)),
            Lanes::All(x) => rows.for_each(|(out, f)| *out = make(*out, f * x)),
        }
    }

    /// The sum of the products with `factors`, by four sums at once.
    fn dot(self, factors: &[f64]) -> f64 {
        let mut sums = [0.0; 4];
        let mut add = |k: usize, term: f64| sums[k % 4] += term;
        match self {
            Lanes::Each(own) => factors.iter().zip(own).enumerate().for_each(|(k, (f, x))| add(k, f * x)),
            Lanes::All(x) => factors.iter().enumerate().for_each(|(k, f)| add(k, f * x)),
        }
        (sums[0] + sums[1]) + (sums[2] + sums[3])
    }
}
