//! The numbers of a solver's model.

/// The constants that a question declares.
pub(super) fn constants(question: &str) -> Vec<&str> {
    question.lines().filter_map(|line| line.strip_prefix("(declare-const ")?.split(' ').next()).collect()
}

/// What `(get-value (a b …))` answers, as `a = 1.0, b = -0.0`; as it stands where it is of another form.
///
/// Numbers are `(fp sign exponent fraction)` in binary or hexadecimal digits, `(_ +zero …)`, `(_ -zero …)`, `(_ +oo …)`, `(_ -oo …)`
/// and `(_ NaN …)` (SMT-LIB's theory of floating-point numbers).
pub(super) fn readable(model: &str) -> String {
    let tokens: Vec<&str> = model
        .split(|c: char| c.is_whitespace() || c == '(' || c == ')')
        .filter(|token| !token.is_empty())
        .collect();
    let mut rest = &tokens[..];
    let mut told: Vec<String> = Vec::new();
    while let Some((name, value, after)) = one(rest) {
        told.push(format!("{name} = {value:?}"));
        rest = after;
    }
    if rest.is_empty() && !told.is_empty() {
        told.join(", ")
    } else {
        model.split_whitespace().collect::<Vec<_>>().join(" ")
    }
}

/// A name, its number and the tokens behind them.
fn one<'a>(tokens: &'a [&'a str]) -> Option<(&'a str, f64, &'a [&'a str])> {
    match tokens {
        [name, "fp", sign, exponent, fraction, rest @ ..] => {
            Some((name, number(&digits(sign)?, &digits(exponent)?, &digits(fraction)?)?, rest))
        }
        [name, "_", special, _, _, rest @ ..] => {
            let value = match *special {
                "+zero" => 0.0,
                "-zero" => -0.0,
                "+oo" => f64::INFINITY,
                "-oo" => f64::NEG_INFINITY,
                "NaN" => f64::NAN,
                _ => return None,
            };
            Some((name, value, rest))
        }
        _ => None,
    }
}

/// The bits of `#b01` or `#x1f`, the highest first.
fn digits(token: &str) -> Option<Vec<bool>> {
    let bits = |width: u32, radix: u32, text: &str| {
        let digit = |c: char| c.to_digit(radix);
        let digits: Option<Vec<u32>> = text.chars().map(digit).collect();
        Some(digits?.into_iter().flat_map(|d| (0..width).rev().map(move |k| d >> k & 1 == 1)).collect())
    };
    match (token.strip_prefix("#b"), token.strip_prefix("#x")) {
        (Some(text), _) => bits(1, 2, text),
        (_, Some(text)) => bits(4, 16, text),
        _ => None,
    }
}

/// The number of an IEEE 754 format of at most 64 bits; all of them are doubles.
fn number(sign: &[bool], exponent: &[bool], fraction: &[bool]) -> Option<f64> {
    let (&[negative], 1..=11, 1..=52) = (sign, exponent.len(), fraction.len()) else { return None };
    let whole = |bits: &[bool]| bits.iter().fold(0_i64, |sum, bit| sum * 2 + i64::from(*bit));
    let (e, f) = (whole(exponent), whole(fraction));
    let bias = (1_i64 << (exponent.len() - 1)) - 1;
    let width = fraction.len() as i64;
    let size = match e {
        _ if exponent.iter().all(|bit| *bit) => {
            if f == 0 {
                f64::INFINITY
            } else {
                f64::NAN
            }
        }
        0 => scaled(f, 1 - bias - width),
        e => scaled(f + (1 << width), e - bias - width),
    };
    Some(if negative { -size } else { size })
}

/// n·2ᵏ, which is a double.
fn scaled(n: i64, k: i64) -> f64 {
    // in two steps, because 2ᵏ alone may be too small for a double
    let half = k.div_euclid(2);
    n as f64 * 2.0_f64.powi(half as i32) * 2.0_f64.powi((k - half) as i32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_models_are_read() {
        let question = "(set-logic QF_FP)\n(declare-const a F)\n(declare-const lo F)\n(declare-fun f (F) F)\n(check-sat)\n";
        assert_eq!(constants(question), ["a", "lo"]);
        let zeros = "0".repeat(52);
        let model = format!("((a (fp #b1 #b01111111111 #b{zeros}))\n (lo (_ -zero 11 53)))");
        assert_eq!(readable(&model), "a = -1.0, lo = -0.0");
        // z3 writes what it can in hexadecimal digits; the least double, and a half
        assert_eq!(readable("((x (fp #b0 #b00000000000 #x0000000000001)))"), "x = 5e-324");
        assert_eq!(readable("((x (fp #b0 #b01110 #b1000000000)) (y (_ NaN 5 11)))"), "x = 0.75, y = NaN");
        assert_eq!(readable("((x (fp #b0 #b11111 #b0000000000)))"), "x = inf");
        for bits in [1_u64, 0x000f_ffff_ffff_ffff, 0x3ff0_0000_0000_0001, 0x7fef_ffff_ffff_ffff] {
            let model = format!("((x (fp #b0 #b{:011b} #x{:013x})))", bits >> 52, bits & ((1 << 52) - 1));
            assert_eq!(readable(&model), format!("x = {:?}", f64::from_bits(bits)));
        }
        for other in ["", "(error \"no model\")", "((f (lambda ((x F)) x)))"] {
            assert_eq!(readable(other), other);
        }
    }
}
