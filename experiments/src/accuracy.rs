//! How many digits of an answer are right.

/// The most digits that are counted: certified values are printed to 11.
pub const LRE_CAP: f64 = 11.0;

/// Log relative error: −log₁₀(|found − certified| / |certified|), between 0 and [`LRE_CAP`]; 0 if `found` is not
/// finite. Where the certified value is 0 the error is taken as it is.
///
/// Source: McCullough, The American Statistician 52 (1998) 358–366.
///
/// ```
/// # use keyfit::accuracy::lre;
/// assert_eq!(lre(2.0, 2.0), 11.0);
/// assert!((lre(2.0002, 2.0) - 4.0).abs() < 1e-9);
/// assert_eq!(lre(f64::NAN, 2.0), 0.0);
/// ```
pub fn lre(found: f64, certified: f64) -> f64 {
    lre_of_error((found - certified).abs(), certified)
}

/// [`lre`] of values of which only the difference modulo `period` counts, such as phases.
pub fn lre_periodic(found: f64, certified: f64, period: f64) -> f64 {
    let turns = ((found - certified) / period).round();
    lre_of_error((found - certified - turns * period).abs(), certified)
}

fn lre_of_error(error: f64, certified: f64) -> f64 {
    let relative = if certified == 0.0 { error } else { error / certified.abs() };
    if relative == 0.0 {
        LRE_CAP
    } else if relative.is_finite() {
        (-core_math::log10(relative)).clamp(0.0, LRE_CAP)
    } else {
        0.0
    }
}
