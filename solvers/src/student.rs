//! Quantiles of Student's t distribution.
//!
//! For whole degrees of freedom the distribution is a finite sum of positive terms (Abramowitz & Stegun, Handbook of
//! Mathematical Functions, 26.7.3 and 26.7.4); for very many it is expanded around the normal one (26.7.5). Both use correctly
//! rounded functions only, so a quantile has the same bits on every machine.

/// Up to so many degrees of freedom the sum is formed; beyond, the expansion's next term is below 1e-10 of it for levels up to
/// 1 − 1e-15, and the sum would gather more rounding.
const SUMMED: usize = 1000;

/// The t with P(|T| ≤ t) = `level` for `freedom` degrees of freedom; `None` unless 0 < `level` < 1 and there is a degree of
/// freedom, or where `level` is so near to 1 that rounding hides the quantile.
pub(crate) fn two_sided(level: f64, freedom: usize) -> Option<f64> {
    if !(level > 0.0 && level < 1.0) || freedom == 0 {
        return None;
    }
    if freedom <= SUMMED {
        return least(level, |t| within(t, freedom));
    }
    let z = least(level, |z| core_math::erf(z * std::f64::consts::FRAC_1_SQRT_2))?;
    let (s, n) = (z * z, freedom as f64);
    let terms = [
        z * (s + 1.0) / 4.0,
        z * ((5.0 * s + 16.0) * s + 3.0) / 96.0,
        z * (((3.0 * s + 19.0) * s + 17.0) * s - 15.0) / 384.0,
        z * ((((79.0 * s + 776.0) * s + 1482.0) * s - 1920.0) * s - 945.0) / 92160.0,
    ];
    Some(z + terms.iter().rev().fold(0.0, |sum, term| (sum + term) / n))
}

/// P(|T| ≤ t).
fn within(t: f64, freedom: usize) -> f64 {
    let tangent = t / (freedom as f64).sqrt();
    let length = core_math::hypot(1.0, tangent);
    let (cosine, sine) = (1.0 / length, tangent / length);
    let odd = freedom % 2;
    let mut term = if odd == 1 { cosine } else { 1.0 };
    // 1 degree of freedom has the angle alone
    let mut sum = if freedom == 1 { 0.0 } else { term };
    for k in (2 + odd..freedom.saturating_sub(1)).step_by(2) {
        term *= (k - 1) as f64 / k as f64 * (cosine * cosine);
        sum += term;
    }
    if odd == 1 { (core_math::atan(tangent) + sine * sum) * std::f64::consts::FRAC_2_PI } else { sine * sum }
}

/// The least x ≥ 0 at which an ascending function reaches `level`, by bisection of the doubles.
fn least(level: f64, f: impl Fn(f64) -> f64) -> Option<f64> {
    let (mut low, mut high) = (0, f64::MAX.to_bits());
    while low < high {
        let middle = low + (high - low) / 2;
        if f(f64::from_bits(middle)) >= level { high = middle } else { low = middle + 1 }
    }
    Some(f64::from_bits(low)).filter(|x| *x < f64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against mpmath with 40 digits: the root of betainc(ν/2, 1/2, ν/(ν+t²), 1, regularized) − level.
    #[test]
    fn quantiles_are_right_to_ten_digits() {
        for (level, freedom, expected) in [
            (0.95, 1, 12.706204736174694),
            (0.95, 2, 4.302652729749462),
            (0.95, 3, 3.1824463052837086),
            (0.95, 4, 2.7764451051977934),
            (0.95, 12, 2.1788128296672284),
            (0.95, 117, 1.9804475986834023),
            (0.95, 250, 1.9694983934211532),
            (0.95, 9999, 1.9602012636213573),
            (0.95, 10000, 1.960201239890626),
            (0.95, 10001, 1.9602012161646407),
            (0.95, 1000000, 1.9599663568141066),
            (0.5, 1, 1.0),
            (0.5, 7, 0.7111417780817864),
            (0.6827, 30, 1.0169692106477999),
            (0.99, 2, 9.92484320091829),
            (0.99, 5, 4.032142983555227),
            (0.999, 1, 636.6192487687191),
            (0.999, 6, 5.958816178818759),
            (0.9999, 11, 5.921194162473175),
            (0.9999, 20000, 3.8913767940234796),
            (0.1, 8, 0.12970727155471765),
        ] {
            let found = two_sided(level, freedom).unwrap();
            assert!(
                (found / expected - 1.0).abs() < 1e-10,
                "{level} {freedom}: {found:?} is not {expected:?}"
            );
        }
    }

    #[test]
    fn sum_and_expansion_meet() {
        for level in [0.1, 0.5, 0.95, 0.999, 0.9999] {
            let [below, above] = [SUMMED, SUMMED + 1].map(|freedom| two_sided(level, freedom).unwrap());
            // one degree of freedom more makes a quantile smaller by (t³ + t)/4ν² of it
            let step = (below.powi(3) + below) / (4.0 * (SUMMED as f64).powi(2));
            assert!((below - above - step).abs() < 0.01 * step + 1e-11 * below, "{level}: {below} {above}");
        }
    }

    #[test]
    fn there_is_no_quantile_without_a_level_or_freedom() {
        for (level, freedom) in [(0.0, 3), (1.0, 3), (-0.5, 3), (f64::NAN, 3), (0.95, 0)] {
            assert_eq!(two_sided(level, freedom), None, "{level} {freedom}");
        }
        assert!(two_sided(f64::MIN_POSITIVE, 1).unwrap() > 0.0);
        assert!(two_sided(1.0 - f64::EPSILON, 1).is_none_or(|t| t > 1e14));
    }
}
