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
    lre_of_error(relative_error(found, certified))
}

/// |found − certified| / |certified|; where the certified value is 0, the error as it is.
pub fn relative_error(found: f64, certified: f64) -> f64 {
    let error = (found - certified).abs();
    if certified == 0.0 { error } else { error / certified.abs() }
}

/// [`relative_error`] of values of which only the difference modulo `period` counts, such as phases.
pub fn relative_error_periodic(found: f64, certified: f64, period: f64) -> f64 {
    let turns = ((found - certified) / period).round();
    relative_error(found - turns * period, certified)
}

/// The digits that a relative error leaves.
pub fn lre_of_error(relative: f64) -> f64 {
    if relative == 0.0 {
        LRE_CAP
    } else if relative.is_finite() {
        // no digit is +0, never −0: SQLite keeps no sign of zero
        (0.0 - core_math::log10(relative)).clamp(0.0, LRE_CAP)
    } else {
        0.0
    }
}
