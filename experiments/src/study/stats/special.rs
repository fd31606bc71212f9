//! The distributions that intervals and tests need.

/// The regularised incomplete beta function I_x(a, b), for a, b > 0: the chance that a variable of Beta(a, b) is at most x.
///
/// Source: the continued fraction of DLMF 8.17.22, by Lentz's method.
pub fn beta(x: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return if x >= 1.0 { 1.0 } else { 0.0 };
    }
    // the fraction converges fast below the mean
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - below_mean(1.0 - x, b, a);
    }
    below_mean(x, a, b)
}

fn below_mean(x: f64, a: f64, b: f64) -> f64 {
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
    let lgamma = core_math::lgamma;
    let scale = a * core_math::log(x) + b * core_math::log(1.0 - x) + lgamma(a + b) - lgamma(a) - lgamma(b);
    core_math::exp(scale) * fraction / a
}

/// After so many of Newton's steps without an end the rest is bisected.
const NEWTON: u32 = 40;
/// A step of Newton's that is smaller than this, relative to x and to 1 − x, leaves no more than rounding.
const LAST: f64 = 1e-10;

/// The x at which [`beta`] is `p`, by Newton's steps where they stay between what is known to be below and above, and bisection.
pub fn beta_quantile(p: f64, a: f64, b: f64) -> f64 {
    let lgamma = core_math::lgamma;
    let scale = lgamma(a + b) - lgamma(a) - lgamma(b);
    let (mut low, mut high, mut x) = (0.0f64, 1.0f64, 0.5f64);
    for step in 0u32.. {
        let miss = beta(x, a, b) - p;
        if miss < 0.0 {
            low = x
        } else {
            high = x
        }
        let density =
            core_math::exp(scale + (a - 1.0) * core_math::log(x) + (b - 1.0) * core_math::log(1.0 - x));
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
    let x = beta_quantile(0.95, 0.5, freedom / 2.0);
    (freedom * x / (1.0 - x)).sqrt()
}

/// The t that a normal variable exceeds, up or down, with a chance of 5 %.
pub const NORMAL: f64 = 1.959_963_984_540_054;

/// The chance of at most `k` heads of `n` fair coins.
pub fn heads(k: u64, n: u64) -> f64 {
    if k >= n { 1.0 } else { beta(0.5, (n - k) as f64, k as f64 + 1.0) }
}
