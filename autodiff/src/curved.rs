//! Intervals with derivatives: value, gradient and Hessian of a formula, enclosed over a box of parameters.

use std::cmp::Ordering;

use keyfit_ir::{Sampler, Scalar, Track};

use crate::interval::{Context, Doubt, Interval};

/// A value with its first and second partial derivatives over a box, each an interval that holds it at every point there.
///
/// At a kink or a jump inside the box the evaluation is in [`Doubt`].
#[derive(Clone, Debug)]
pub struct Curved {
    value: Interval,
    /// `None`: it does not depend on a parameter.
    partials: Option<Partials>,
}

/// Partial derivatives; an absent one is exactly zero.
#[derive(Clone, Debug)]
struct Partials {
    /// One a parameter.
    gradient: Vec<Option<Interval>>,
    /// The lower triangle, row by row.
    hessian: Vec<Option<Interval>>,
}

/// A partial derivative of a primitive.
enum Factor {
    Zero,
    One,
    By(Interval),
}

impl Factor {
    fn times(&self, x: Option<&Interval>) -> Option<Interval> {
        match (self, x) {
            (Factor::Zero, _) | (_, None) => None,
            (Factor::One, Some(x)) => Some(x.clone()),
            (Factor::By(factor), Some(x)) => Some(factor.mul(x)),
        }
    }
}

fn sum(a: Option<Interval>, b: Option<Interval>) -> Option<Interval> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.add(&b)),
        (a, b) => a.or(b),
    }
}

fn product(a: Option<&Interval>, b: Option<&Interval>) -> Option<Interval> {
    Some(a?.mul(b?))
}

/// Where the entry of row i and column j ≤ i stands in a packed lower triangle.
fn packed(i: usize, j: usize) -> usize {
    i * (i + 1) / 2 + j
}

impl Partials {
    fn new(
        n: usize,
        gradient: impl Fn(usize) -> Option<Interval>,
        hessian: impl Fn(usize, usize) -> Option<Interval>,
    ) -> Partials {
        Partials {
            gradient: (0..n).map(gradient).collect(),
            hessian: (0..n).flat_map(|i| (0..=i).map(move |j| (i, j))).map(|(i, j)| hessian(i, j)).collect(),
        }
    }

    fn at(&self, i: usize) -> Option<&Interval> {
        self.gradient.get(i)?.as_ref()
    }

    fn at2(&self, i: usize, j: usize) -> Option<&Interval> {
        self.hessian.get(packed(i.max(j), i.min(j)))?.as_ref()
    }
}

impl Curved {
    /// A number that does not depend on a parameter.
    pub fn constant(value: Interval) -> Curved {
        Curved { value, partials: None }
    }

    /// The `index`-th of `count` parameters.
    pub fn variable(value: Interval, index: usize, count: usize) -> Curved {
        let one = value.lift(1.0);
        let partials = Partials::new(count, |i| (i == index).then(|| one.clone()), |_, _| None);
        Curved { value, partials: Some(partials) }
    }

    /// The value.
    pub fn value(&self) -> &Interval {
        &self.value
    }

    /// The derivative in the `i`-th parameter; `None` if it is zero everywhere.
    pub fn first(&self, i: usize) -> Option<&Interval> {
        self.partials.as_ref()?.at(i)
    }

    /// The derivative in the `i`-th and the `j`-th parameter; `None` if it is zero everywhere.
    pub fn second(&self, i: usize, j: usize) -> Option<&Interval> {
        self.partials.as_ref()?.at2(i, j)
    }

    fn doubt(&self, doubt: Doubt) {
        self.value.context().doubt(doubt);
    }

    /// The value `f` of a function, given its first and second derivative.
    fn chain1(&self, f: Interval, derivatives: impl FnOnce(&Interval, &Interval) -> [Factor; 2]) -> Curved {
        let Some(own) = &self.partials else { return Curved::constant(f) };
        let [first, second] = derivatives(&self.value, &f);
        let partials = Partials::new(
            own.gradient.len(),
            |i| first.times(own.at(i)),
            |i, j| {
                let bent = second.times(product(own.at(i), own.at(j)).as_ref());
                sum(first.times(own.at2(i, j)), bent)
            },
        );
        Curved { value: f, partials: Some(partials) }
    }

    /// The value `f` of a function of two operands, given its first derivatives, and its second ones in the order of ∂a², ∂a∂b, ∂b².
    fn chain2(
        &self,
        other: &Curved,
        f: Interval,
        derivatives: impl FnOnce(&Interval, &Interval, &Interval) -> ([Factor; 2], [Factor; 3]),
    ) -> Curved {
        let n = match (&self.partials, &other.partials) {
            (None, None) => return Curved::constant(f),
            (Some(a), _) => a.gradient.len(),
            (_, Some(b)) => b.gradient.len(),
        };
        let ([fa, fb], [faa, fab, fbb]) = derivatives(&self.value, &other.value, &f);
        let partials = Partials::new(
            n,
            |i| sum(fa.times(self.first(i)), fb.times(other.first(i))),
            |i, j| {
                let (ai, aj) = (self.first(i), self.first(j));
                let (bi, bj) = (other.first(i), other.first(j));
                let linear = sum(fa.times(self.second(i, j)), fb.times(other.second(i, j)));
                let squares = sum(faa.times(product(ai, aj).as_ref()), fbb.times(product(bi, bj).as_ref()));
                let mixed = fab.times(sum(product(ai, bj), product(bi, aj)).as_ref());
                sum(linear, sum(squares, mixed))
            },
        );
        Curved { value: f, partials: Some(partials) }
    }

    /// A function that is constant between its jumps.
    fn flat(&self, f: Interval) -> Curved {
        if self.partials.is_some() && !f.is_one() {
            self.doubt(Doubt::Branch);
        }
        Curved::constant(f)
    }

    /// The lesser or the greater of two, if it is the same one in the whole box.
    fn choose(&self, other: &Curved, chosen: Ordering) -> Curved {
        match self.value.compare(&other.value) {
            Some(Ordering::Equal) if self.partials.is_none() && other.partials.is_none() => self.clone(),
            Some(found) if found == chosen => self.clone(),
            Some(found) if found == chosen.reverse() => other.clone(),
            _ => {
                self.doubt(Doubt::Branch);
                self.clone()
            }
        }
    }
}

/// c·xⁿ, and exactly zero where c is.
fn scaled_power(c: &Interval, x: &Interval, n: &Interval) -> Factor {
    if c.is_zero() { Factor::Zero } else { Factor::By(c.mul(&x.pow(n))) }
}

impl Scalar for Curved {
    fn lift(&self, x: f64) -> Curved {
        Curved::constant(self.value.lift(x))
    }
    fn pi(&self) -> Curved {
        Curved::constant(self.value.pi())
    }
    fn compare(&self, other: &Curved) -> Option<Ordering> {
        self.value.compare(&other.value)
    }
    fn with_derivatives_of(&self, formula: Curved) -> Curved {
        Curved { value: self.value.clone(), partials: formula.partials }
    }
    fn add(&self, b: &Curved) -> Curved {
        use Factor::{One, Zero};
        self.chain2(b, self.value.add(&b.value), |_, _, _| ([One, One], [Zero, Zero, Zero]))
    }
    fn sub(&self, b: &Curved) -> Curved {
        use Factor::{By, One, Zero};
        self.chain2(b, self.value.sub(&b.value), |a, _, _| ([One, By(a.lift(-1.0))], [Zero, Zero, Zero]))
    }
    fn mul(&self, b: &Curved) -> Curved {
        use Factor::{By, One, Zero};
        self.chain2(b, self.value.mul(&b.value), |a, b, _| {
            ([By(b.clone()), By(a.clone())], [Zero, One, Zero])
        })
    }
    fn div(&self, b: &Curved) -> Curved {
        use Factor::{By, Zero};
        self.chain2(b, self.value.div(&b.value), |_, b, f| {
            let r = b.lift(1.0).div(b);
            let slope = f.mul(&r).neg();
            let bent = slope.mul(&r).mul(&r.lift(-2.0));
            let mixed = r.mul(&r).neg();
            ([By(r), By(slope)], [Zero, By(mixed), By(bent)])
        })
    }
    fn neg(&self) -> Curved {
        self.chain1(self.value.neg(), |x, _| [Factor::By(x.lift(-1.0)), Factor::Zero])
    }
    fn abs(&self) -> Curved {
        match self.value.compare(&self.value.lift(0.0)) {
            Some(Ordering::Less) => self.neg(),
            Some(Ordering::Greater) => self.clone(),
            _ => {
                if self.partials.is_some() {
                    self.doubt(Doubt::Branch);
                }
                Curved::constant(self.value.abs())
            }
        }
    }
    fn min(&self, b: &Curved) -> Curved {
        self.choose(b, Ordering::Less)
    }
    fn max(&self, b: &Curved) -> Curved {
        self.choose(b, Ordering::Greater)
    }
    fn modulo(&self, y: &Curved) -> Curved {
        use Factor::{By, One, Zero};
        self.chain2(y, self.value.modulo(&y.value), |x, y, _| {
            ([One, By(x.div(y).floor().neg())], [Zero, Zero, Zero])
        })
    }
    fn pow(&self, y: &Curved) -> Curved {
        use Factor::{By, Zero};
        let exponent_moves = y.partials.is_some();
        self.chain2(y, self.value.pow(&y.value), |x, y, f| {
            let one = y.lift(1.0);
            let lower = y.sub(&one);
            let slope = scaled_power(y, x, &lower);
            let bent = scaled_power(&y.mul(&lower), x, &lower.sub(&one));
            if !exponent_moves {
                return ([slope, Zero], [bent, Zero, Zero]);
            }
            let log = x.ln();
            let up = f.mul(&log);
            let mixed = x.pow(&lower).mul(&one.add(&y.mul(&log)));
            let twice = up.mul(&log);
            ([slope, By(up)], [bent, By(mixed), By(twice)])
        })
    }
    fn sqrt(&self) -> Curved {
        self.chain1(self.value.sqrt(), |x, f| {
            let slope = x.lift(0.5).div(f);
            let bent = slope.div(x).mul(&x.lift(-0.5));
            [Factor::By(slope), Factor::By(bent)]
        })
    }
    fn exp(&self) -> Curved {
        self.chain1(self.value.exp(), |_, f| [Factor::By(f.clone()), Factor::By(f.clone())])
    }
    fn exp2(&self) -> Curved {
        self.chain1(self.value.exp2(), |x, f| {
            let log = x.lift(2.0).ln();
            let slope = f.mul(&log);
            let bent = slope.mul(&log);
            [Factor::By(slope), Factor::By(bent)]
        })
    }
    fn ln(&self) -> Curved {
        self.chain1(self.value.ln(), |x, _| {
            let r = x.lift(1.0).div(x);
            let bent = r.mul(&r).neg();
            [Factor::By(r), Factor::By(bent)]
        })
    }
    fn sin(&self) -> Curved {
        self.chain1(self.value.sin(), |x, f| [Factor::By(x.cos()), Factor::By(f.neg())])
    }
    fn cos(&self) -> Curved {
        self.chain1(self.value.cos(), |x, f| [Factor::By(x.sin().neg()), Factor::By(f.neg())])
    }
    fn tan(&self) -> Curved {
        self.chain1(self.value.tan(), |x, f| {
            let slope = x.lift(1.0).add(&f.power_two());
            let bent = f.mul(&slope).mul(&x.lift(2.0));
            [Factor::By(slope), Factor::By(bent)]
        })
    }
    fn asin(&self) -> Curved {
        self.chain1(self.value.asin(), |x, _| {
            let slope = x.lift(1.0).div(&x.lift(1.0).sub(&x.power_two()).sqrt());
            let bent = x.mul(&slope.pow(&x.lift(3.0)));
            [Factor::By(slope), Factor::By(bent)]
        })
    }
    fn acos(&self) -> Curved {
        let quarter = self.pi().div(&self.lift(2.0));
        Curved { value: self.value.acos(), ..quarter.sub(&self.asin()) }
    }
    fn atan(&self) -> Curved {
        self.chain1(self.value.atan(), |x, _| {
            let slope = x.lift(1.0).div(&x.lift(1.0).add(&x.power_two()));
            let bent = slope.power_two().mul(x).mul(&x.lift(-2.0));
            [Factor::By(slope), Factor::By(bent)]
        })
    }
    fn atan2(&self, x: &Curved) -> Curved {
        use Factor::By;
        self.chain2(x, self.value.atan2(&x.value), |y, x, _| {
            let (x2, y2) = (x.power_two(), y.power_two());
            let r2 = x2.add(&y2);
            let (fy, fx) = (x.div(&r2), y.div(&r2).neg());
            let twist = fy.mul(&fx).mul(&x.lift(2.0));
            let mixed = y2.sub(&x2).div(&r2.power_two());
            let back = twist.neg();
            ([By(fy), By(fx)], [By(twist), By(mixed), By(back)])
        })
    }
    fn sinh(&self) -> Curved {
        self.chain1(self.value.sinh(), |x, f| [Factor::By(x.cosh()), Factor::By(f.clone())])
    }
    fn cosh(&self) -> Curved {
        self.chain1(self.value.cosh(), |x, f| [Factor::By(x.sinh()), Factor::By(f.clone())])
    }
    fn tanh(&self) -> Curved {
        self.chain1(self.value.tanh(), |x, f| {
            let slope = x.lift(1.0).sub(&f.power_two());
            let bent = f.mul(&slope).mul(&x.lift(-2.0));
            [Factor::By(slope), Factor::By(bent)]
        })
    }
    fn hypot(&self, y: &Curved) -> Curved {
        use Factor::By;
        self.chain2(y, self.value.hypot(&y.value), |x, y, f| {
            let (u, v) = (x.div(f), y.div(f));
            let [uu, uv, vv] = [v.power_two().div(f), u.mul(&v).div(f).neg(), u.power_two().div(f)];
            ([By(u), By(v)], [By(uu), By(uv), By(vv)])
        })
    }
    fn floor(&self) -> Curved {
        self.flat(self.value.floor())
    }
    fn ceil(&self) -> Curved {
        self.flat(self.value.ceil())
    }
    fn round(&self) -> Curved {
        self.flat(self.value.round())
    }
    fn sign(&self) -> Curved {
        self.flat(self.value.sign())
    }
    fn step(&self, x: &Curved) -> Curved {
        let f = self.value.step(&x.value);
        if !f.is_one() {
            self.doubt(Doubt::Branch);
        }
        Curved::constant(f)
    }
}

/// The track at time `t` over a box of its parameters, in their order; a parameter is the variable of that number among `count`.
///
/// # Errors
/// [`Doubt`] where the box holds a kink, a jump, or a point at which the track is not defined.
pub fn enclose(track: &Track, t: f64, parameters: &[Curved], context: &Context) -> Result<Curved, Doubt> {
    context.take_doubt();
    let value = Sampler::new(track).sample_at(&Curved::constant(context.exactly(t)), parameters);
    match context.take_doubt() {
        None => Ok(value),
        Some(doubt) => Err(doubt),
    }
}
