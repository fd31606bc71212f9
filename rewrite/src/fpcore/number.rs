//! Numbers as FPCore writes them.

use keyfit_ir::text::{excerpt, finite};
use keyfit_ir::{Scalar, Span, SyntaxError, SyntaxErrorKind};

/// Whole numbers up to this are doubles, every one.
const WHOLE: u64 = 1 << f64::MANTISSA_DIGITS;

/// Whether a word is meant to be a number.
pub(super) fn looks_like_one(word: &str) -> bool {
    let digits = word.strip_prefix(['+', '-']).unwrap_or(word);
    digits.strip_prefix('.').unwrap_or(digits).starts_with(|c: char| c.is_ascii_digit())
}

/// The double nearest to a decimal, rational or hexadecimal number.
pub(super) fn read(word: &str, span: Span) -> Result<f64, SyntaxError> {
    let fault = || SyntaxError { kind: SyntaxErrorKind::Number(excerpt(word)), span };
    let (negative, digits) = match word.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, word.strip_prefix('+').unwrap_or(word)),
    };
    let value = if let Some(digits) = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        hexadecimal(digits).ok_or_else(fault)?
    } else if let Some((above, below)) = digits.split_once('/') {
        // two doubles, whose quotient is rounded once
        let whole = |text: &str| {
            let digits = text.bytes().all(|c| c.is_ascii_digit());
            text.parse::<u64>().ok().filter(|n| digits && *n <= WHOLE)
        };
        match (whole(above), whole(below)) {
            (Some(above), Some(below)) if below > 0 => above as f64 / below as f64,
            _ => return Err(fault()),
        }
    } else {
        finite(digits, span)?
    };
    Ok(if negative { -value } else { value })
}

/// `1.8p3` of `0x1.8p3`; at most 53 bits, so that nothing is rounded but what becomes subnormal.
fn hexadecimal(text: &str) -> Option<f64> {
    let (digits, exponent) = text.split_once(['p', 'P']).unwrap_or((text, "0"));
    let mut exponent: i64 = exponent.parse().ok()?;
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    exponent = exponent.checked_sub(4 * i64::try_from(fraction.len()).ok()?)?;
    let mut significand: u64 = 0;
    // zeros are held back until a digit follows them
    let mut zeros = 0_u32;
    for c in whole.chars().chain(fraction.chars()) {
        let digit = c.to_digit(16)?;
        zeros += 1;
        if digit != 0 {
            let shifted =
                if significand == 0 { 0 } else { significand.checked_mul(16_u64.checked_pow(zeros)?)? };
            significand = shifted.checked_add(u64::from(digit)).filter(|n| *n <= WHOLE)?;
            zeros = 0;
        }
    }
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    if significand == 0 {
        return Some(0.0);
    }
    let exponent = exponent.checked_add(4 * i64::from(zeros))?;
    if !(-1200..=1100).contains(&exponent) {
        return None;
    }
    // two powers of two, each of which a double holds; only the last product is rounded
    let half = exponent / 2;
    let power = |n: i64| Scalar::exp2(&(n as f64));
    let value = significand as f64 * power(half) * power(exponent - half);
    Some(value).filter(|x| x.is_finite() && *x != 0.0)
}
