//! Numbers that carry derivatives: num-dual's types, made [`Scalar`].

use std::cmp::Ordering;

use keyfit_ir::Scalar;
use num_dual::{Derivative, Dual2_64, DualSVec64, HyperDualSVec64};

use crate::derivative::{self as table, Binary, Unary, times};

/// A number with derivatives: one of num-dual's types, evaluated by keyfit's rules.
///
/// The value is f64's, bit for bit. The partials follow the chain rule from one table of derivatives:
///
/// * At a kink or jump the derivative is that of the branch that produced the value; |x|′ is +1 at ±0.
/// * Where `min` or `max` tie, the operand that moves counts, and the mean of the two if both do. So `clamp(p, 0, 1)`
///   has the slope 1 at both ends. A number moves if it depends on a variable by a path of non-zero slopes, whether
///   or not that variable is one of those whose partials are carried: the slopes of a gradient do not depend on how
///   it was cut into chunks.
/// * What does not move stays unmoved, however steep the slope: 0·∞ = 0.
/// * A partial of a finite value is never NaN. Where no derivative exists, or its parts overflow against each other, it
///   is infinite, with the sign + where there is no other.
///
/// ```
/// use keyfit_autodiff::Jet;
/// use keyfit_ir::Scalar;
/// let x = Jet::time(3.0);
/// let y = x.mul(&x).0;
/// assert_eq!((y.re, y.v1, y.v2), (9.0, 6.0, 2.0));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Jet<D>(pub D);

/// The algebra of partial derivatives of one of num-dual's types.
pub trait Partials: Clone {
    /// The constant `re`.
    fn constant(re: f64) -> Self;
    /// The value.
    fn re(&self) -> f64;
    /// The same partials under the value `re`.
    fn with_re(self, re: f64) -> Self;
    /// Whether the number moves with any variable: in its first derivatives (2), in its second only (1), not at all (0).
    fn moves(&self) -> u8;
    /// The value `f` of a function of `self`, given how to get f′ and f″; neither is asked for in vain.
    fn chain1(&self, f: f64, first: impl FnOnce() -> f64, second: impl FnOnce() -> f64) -> Self;
    /// The value `f` of a function of `a` and `b`, given how to get its first and second partials.
    fn chain2(
        a: &Self,
        b: &Self,
        f: f64,
        first: impl FnOnce() -> [f64; 2],
        second: impl FnOnce() -> [f64; 3],
    ) -> Self;
}

/// A partial of the value `f`: where it would be NaN though the value is finite, no derivative exists.
#[inline]
fn settle(f: f64, partial: f64) -> f64 {
    if partial.is_nan() && f.is_finite() { f64::INFINITY } else { partial }
}

/// p·a + q·b of num-dual's optional vectors and matrices, for the value `f`. An absent one is zero, and so is what
/// gets the factor zero.
macro_rules! combine {
    ($f:expr, $p:expr, $a:expr, $q:expr, $b:expr) => {{
        let (f, p, q) = ($f, $p, $q);
        match ($a.0.as_ref().filter(|_| p != 0.0), $b.0.as_ref().filter(|_| q != 0.0)) {
            (None, None) => Derivative::none(),
            (Some(a), None) => Derivative::some(a.map(|a| settle(f, times(p, a)))),
            (None, Some(b)) => Derivative::some(b.map(|b| settle(f, times(q, b)))),
            (Some(a), Some(b)) => Derivative::some(a.zip_map(b, |a, b| settle(f, times(p, a) + times(q, b)))),
        }
    }};
}

impl<const N: usize> Partials for DualSVec64<N> {
    #[inline]
    fn constant(re: f64) -> Self {
        DualSVec64::from_re(re)
    }
    #[inline]
    fn re(&self) -> f64 {
        self.re
    }
    #[inline]
    fn with_re(mut self, re: f64) -> Self {
        self.re = re;
        self.eps.0 = self.eps.0.map(|eps| eps.map(|p| settle(re, p)));
        self
    }
    #[inline]
    fn moves(&self) -> u8 {
        if self.eps.0.is_some() { 2 } else { 0 }
    }
    #[inline]
    fn chain1(&self, f: f64, first: impl FnOnce() -> f64, _: impl FnOnce() -> f64) -> Self {
        if self.moves() == 0 {
            return Self::constant(f);
        }
        DualSVec64::new(f, combine!(f, first(), self.eps, 0.0, self.eps))
    }
    #[inline]
    fn chain2(
        a: &Self,
        b: &Self,
        f: f64,
        first: impl FnOnce() -> [f64; 2],
        _: impl FnOnce() -> [f64; 3],
    ) -> Self {
        if a.moves().max(b.moves()) == 0 {
            return Self::constant(f);
        }
        let [fa, fb] = first();
        DualSVec64::new(f, combine!(f, fa, a.eps, fb, b.eps))
    }
}

impl Partials for Dual2_64 {
    #[inline]
    fn constant(re: f64) -> Self {
        Dual2_64::from_re(re)
    }
    #[inline]
    fn re(&self) -> f64 {
        self.re
    }
    #[inline]
    fn with_re(self, re: f64) -> Self {
        Dual2_64::new(re, settle(re, self.v1), settle(re, self.v2))
    }
    #[inline]
    fn moves(&self) -> u8 {
        match (self.v1 != 0.0, self.v2 != 0.0) {
            (true, _) => 2,
            (false, true) => 1,
            (false, false) => 0,
        }
    }
    #[inline]
    fn chain1(&self, f: f64, first: impl FnOnce() -> f64, second: impl FnOnce() -> f64) -> Self {
        if self.moves() == 0 {
            return Self::constant(f);
        }
        let (f1, f2) = (first(), second());
        let v2 = times(f1, self.v2) + times(f2, times(self.v1, self.v1));
        Dual2_64::new(f, settle(f, times(f1, self.v1)), settle(f, v2))
    }
    #[inline]
    fn chain2(
        a: &Self,
        b: &Self,
        f: f64,
        first: impl FnOnce() -> [f64; 2],
        second: impl FnOnce() -> [f64; 3],
    ) -> Self {
        if a.moves().max(b.moves()) == 0 {
            return Self::constant(f);
        }
        let ([fa, fb], [faa, fab, fbb]) = (first(), second());
        let v1 = times(fa, a.v1) + times(fb, b.v1);
        let v2 = times(fa, a.v2)
            + times(fb, b.v2)
            + times(faa, times(a.v1, a.v1))
            + times(2.0 * fab, times(a.v1, b.v1))
            + times(fbb, times(b.v1, b.v1));
        Dual2_64::new(f, settle(f, v1), settle(f, v2))
    }
}

/// u·vᵀ of an optional column and an optional row, an exact zero winning over an infinity.
macro_rules! outer {
    ($u:expr, $v:expr) => {
        match (&$u.0, &$v.0) {
            (Some(u), Some(v)) => {
                let mut m = u * v; // for its shape
                for (j, v) in v.iter().enumerate() {
                    for (i, u) in u.iter().enumerate() {
                        m[(i, j)] = times(*u, *v);
                    }
                }
                Derivative::some(m)
            }
            _ => Derivative::none(),
        }
    };
}

impl<const M: usize, const N: usize> Partials for HyperDualSVec64<M, N> {
    #[inline]
    fn constant(re: f64) -> Self {
        HyperDualSVec64::from_re(re)
    }
    #[inline]
    fn re(&self) -> f64 {
        self.re
    }
    #[inline]
    fn with_re(mut self, re: f64) -> Self {
        self.re = re;
        self.eps1.0 = self.eps1.0.map(|eps| eps.map(|p| settle(re, p)));
        self.eps2.0 = self.eps2.0.map(|eps| eps.map(|p| settle(re, p)));
        self.eps1eps2.0 = self.eps1eps2.0.map(|eps| eps.map(|p| settle(re, p)));
        self
    }
    #[inline]
    fn moves(&self) -> u8 {
        match (self.eps1.0.is_some() || self.eps2.0.is_some(), self.eps1eps2.0.is_some()) {
            (true, _) => 2,
            (false, true) => 1,
            (false, false) => 0,
        }
    }
    #[inline]
    fn chain1(&self, f: f64, first: impl FnOnce() -> f64, second: impl FnOnce() -> f64) -> Self {
        if self.moves() == 0 {
            return Self::constant(f);
        }
        let (f1, f2) = (first(), second());
        HyperDualSVec64::new(
            f,
            combine!(f, f1, self.eps1, 0.0, self.eps1),
            combine!(f, f1, self.eps2, 0.0, self.eps2),
            combine!(f, f1, self.eps1eps2, f2, outer!(self.eps1, self.eps2)),
        )
    }
    #[inline]
    fn chain2(
        a: &Self,
        b: &Self,
        f: f64,
        first: impl FnOnce() -> [f64; 2],
        second: impl FnOnce() -> [f64; 3],
    ) -> Self {
        if a.moves().max(b.moves()) == 0 {
            return Self::constant(f);
        }
        let ([fa, fb], [faa, fab, fbb]) = (first(), second());
        let linear = combine!(f, fa, a.eps1eps2, fb, b.eps1eps2);
        let squares = combine!(f, faa, outer!(a.eps1, a.eps2), fbb, outer!(b.eps1, b.eps2));
        let mixed = combine!(f, fab, outer!(a.eps1, b.eps2), fab, outer!(b.eps1, a.eps2));
        let bent = combine!(f, 1.0, squares, 1.0, mixed);
        HyperDualSVec64::new(
            f,
            combine!(f, fa, a.eps1, fb, b.eps1),
            combine!(f, fa, a.eps2, fb, b.eps2),
            combine!(f, 1.0, linear, 1.0, bent),
        )
    }
}

impl<const N: usize> Jet<DualSVec64<N>> {
    /// The variable `x`, whose partials are carried in place `index`; with no such place, one that moves unseen.
    pub fn variable(x: f64, index: Option<usize>) -> Self {
        let mut dual = DualSVec64::from_re(x).derivative(0);
        dual.eps.0 = dual.eps.0.map(|eps| unit(eps, index));
        Jet(dual)
    }
}

impl<const M: usize, const N: usize> Jet<HyperDualSVec64<M, N>> {
    /// The variable `x`, which is the tile's row `row` and its column `column`, each if there is such a place.
    pub fn tile_variable(x: f64, row: Option<usize>, column: Option<usize>) -> Self {
        let mut dual = HyperDualSVec64::from_re(x).derivative1(0).derivative2(0);
        dual.eps1.0 = dual.eps1.0.map(|eps| unit(eps, row));
        dual.eps2.0 = dual.eps2.0.map(|eps| unit(eps, column));
        Jet(dual)
    }
}

impl<const M: usize> Jet<HyperDualSVec64<M, 1>> {
    /// The variable `x`, which is the tile's row `row` if there is such a place, and moves with `slope` along its only column.
    pub fn row_variable(x: f64, row: Option<usize>, slope: f64) -> Self {
        let Jet(mut dual) = Jet::tile_variable(x, row, Some(0));
        dual.eps2.0 = dual.eps2.0.map(|eps| eps * slope);
        Jet(dual)
    }
}

/// The unit vector of place `index`, zero if there is no such place. The vector's type cannot be named: nalgebra is
/// num-dual's affair.
fn unit<V>(mut vector: V, index: Option<usize>) -> V
where
    for<'a> &'a mut V: IntoIterator<Item = &'a mut f64>,
{
    for (i, slot) in (&mut vector).into_iter().enumerate() {
        *slot = if Some(i) == index { 1.0 } else { 0.0 };
    }
    vector
}

impl Jet<Dual2_64> {
    /// The variable `t`.
    pub fn time(t: f64) -> Self {
        Jet(Dual2_64::from_re(t).derivative())
    }

    /// A number `x` that moves evenly, with `slope`.
    pub fn moving(x: f64, slope: f64) -> Self {
        Jet(Dual2_64::new(x, slope, 0.0))
    }
}

impl<D: Partials> Jet<D> {
    /// The constant `x`.
    pub fn constant(x: f64) -> Self {
        Jet(D::constant(x))
    }

    #[inline]
    fn unary(&self, f: f64, row: &Unary) -> Self {
        let x = self.0.re();
        Jet(self.0.chain1(f, || (row.first)(x, f), || (row.second)(x, f)))
    }

    #[inline]
    fn binary(&self, other: &Self, f: f64, row: &Binary) -> Self {
        let (a, b) = (self.0.re(), other.0.re());
        Jet(D::chain2(
            &self.0,
            &other.0,
            f,
            || row.first.map(|by| by(a, b, f)),
            || row.second.map(|by| by(a, b, f)),
        ))
    }

    /// `min` or `max`, whose value is `f`.
    #[inline]
    fn select(&self, other: &Self, f: f64) -> Self {
        let (a, b) = (self.0.re(), other.0.re());
        let weight = if a == b {
            match self.0.moves().cmp(&other.0.moves()) {
                Ordering::Less => 0.0,
                Ordering::Equal => 0.5,
                Ordering::Greater => 1.0,
            }
        } else if f == a {
            1.0
        } else {
            0.0
        };
        Jet(D::chain2(&self.0, &other.0, f, || [weight, 1.0 - weight], || [0.0; 3]))
    }
}

macro_rules! methods {
    (unary $($unary:ident $urow:ident)+; binary $($binary:ident $brow:ident)+; select $($select:ident)+) => {
        $(#[inline] fn $unary(&self) -> Self {
            self.unary(Scalar::$unary(&self.0.re()), &table::$urow)
        })+
        $(#[inline] fn $binary(&self, b: &Self) -> Self {
            self.binary(b, Scalar::$binary(&self.0.re(), &b.0.re()), &table::$brow)
        })+
        $(#[inline] fn $select(&self, b: &Self) -> Self {
            self.select(b, Scalar::$select(&self.0.re(), &b.0.re()))
        })+
    };
}

impl<D: Partials> Scalar for Jet<D> {
    #[inline]
    fn lift(&self, x: f64) -> Self {
        Jet::constant(x)
    }
    #[inline]
    fn compare(&self, other: &Self) -> Option<Ordering> {
        self.0.re().partial_cmp(&other.0.re())
    }
    #[inline]
    fn with_derivatives_of(&self, formula: Self) -> Self {
        Jet(formula.0.with_re(self.0.re()))
    }
    methods! {
        unary
            neg NEG  abs ABS  sqrt SQRT  exp EXP  exp2 EXP2  ln LN  sin SIN  cos COS  tan TAN  asin ASIN  acos ACOS
            atan ATAN  sinh SINH  cosh COSH  tanh TANH  floor FLAT  ceil FLAT  round FLAT  sign FLAT;
        binary
            add ADD  sub SUB  mul MUL  div DIV  modulo MODULO  pow POW  atan2 ATAN2  hypot HYPOT  step FLAT2;
        select
            min max
    }
}
