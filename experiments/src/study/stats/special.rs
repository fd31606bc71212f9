//! The distributions that intervals and tests need.

/// A beta distribution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Beta {
    a: f64,
    b: f64,
    /// The logarithm of what makes the density's integral 1.
    scale: f64,
}

impl Beta {
    /// Of the density x^(a−1)·(1 − x)^(b−1), up to a factor, for a, b > 0.
    pub fn new(a: f64, b: f64) -> Beta {
        let lgamma = core_math::lgamma;
        Beta { a, b, scale: lgamma(a + b) - lgamma(a) - lgamma(b) }
    }

    /// The chance of at most x: the regularised incomplete beta function I_x(a, b).
    pub fn below(self, x: f64) -> f64 {
        if x <= 0.0 || x >= 1.0 {
            return if x >= 1.0 { 1.0 } else { 0.0 };
        }
        self.at(x, core_math::log(x), core_math::log(1.0 - x)).0
    }

    /// The chance of at most x, for 0 < x < 1 with the logarithms of x and 1 − x, and the density there.
    fn at(self, x: f64, log: f64, other: f64) -> (f64, f64) {
        let Beta { a, b, scale } = self;
        let height = core_math::exp(a * log + b * other + scale);
        // the fraction converges fast below the mean
        let below = match x > (a + 1.0) / (a + b + 2.0) {
            true => 1.0 - height * fraction(1.0 - x, b, a),
            false => height * fraction(x, a, b),
        };
        (below, height / (x * (1.0 - x)))
    }
}

/// I_x(a, b) over x^a·(1 − x)^b and the factor that makes the density's integral 1.
///
/// Source: the continued fraction of DLMF 8.17.22, by Lentz's method.
fn fraction(x: f64, a: f64, b: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let kept = |x: f64| if x.abs() < TINY { TINY } else { x };
    let term = |m: f64, even: bool| match even {
        true => m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m)),
        false => -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0)),
    };
    let mut d = 1.0 / kept(1.0 + term(0.0, false));
    let (mut c, mut fraction) = (1.0, d);
    for m in 1..10_000 {
        for even in [true, false] {
            let step = term(f64::from(m), even);
            d = 1.0 / kept(1.0 + step * d);
            c = kept(1.0 + step / c);
            fraction *= c * d;
        }
        if (c * d - 1.0).abs() < 1e-16 {
            break;
        }
    }
    fraction / a
}

/// After so many of Newton's steps without an end the rest is bisected.
const NEWTON: u32 = 40;
/// A step of Newton's that is smaller than this, relative to x and to 1 − x, leaves no more than rounding.
const LAST: f64 = 1e-10;

/// The x that a mixture of distributions, given by their shares and with 1 in all, stays below with a chance of `p`: by Newton's steps
/// where they stay between what is known to be below and above, and bisection.
pub fn quantile(p: f64, mixture: &[(f64, Beta)]) -> f64 {
    let (mut low, mut high) = (0.0f64, 1.0f64);
    let mut x: f64 = mixture.iter().map(|(share, part)| share * part.a / (part.a + part.b)).sum();
    for step in 0u32.. {
        let (log, other) = (core_math::log(x), core_math::log(1.0 - x));
        let at = mixture.iter().map(|(share, part)| (share, part.at(x, log, other)));
        let (below, density) = at.fold((0.0, 0.0), |sum, (share, (below, density))| {
            (sum.0 + share * below, sum.1 + share * density)
        });
        let miss = below - p;
        if miss < 0.0 {
            low = x
        } else {
            high = x
        }
        let newton = x - miss / density;
        if step < NEWTON && low < newton && newton < high {
            if (newton - x).abs() <= LAST * x.min(1.0 - x) {
                return newton;
            }
            x = newton;
            continue;
        }
        x = (low + high) / 2.0;
        if x <= low || x >= high {
            break;
        }
    }
    x
}

/// The t that Student's variable with so many degrees of freedom exceeds, up or down, with a chance of 5 %; with twelve digits up
/// to thousands of them, and eight at a hundred thousand.
pub fn student(freedom: f64) -> f64 {
    // t² / (ν + t²) is a variable of Beta(1/2, ν/2)
    let x = quantile(0.95, &[(1.0, Beta::new(0.5, freedom / 2.0))]);
    (freedom * x / (1.0 - x)).sqrt()
}

/// The chance of at most `k` heads of `n` fair coins.
pub fn heads(k: u64, n: u64) -> f64 {
    if k >= n { 1.0 } else { Beta::new((n - k) as f64, k as f64 + 1.0).below(0.5) }
}
