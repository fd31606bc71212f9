//! Numbers as text, and the round numbers along an axis.

/// `x` with so many significant digits and no more zeros than it needs.
pub(super) fn significant(x: f64, digits: usize) -> String {
    if x == 0.0 || !x.is_finite() {
        return if x == 0.0 { "0".into() } else { x.to_string() };
    }
    let scientific = format!("{x:.*e}", digits.saturating_sub(1));
    let Some((mantissa, exponent)) = scientific.split_once('e') else { return scientific };
    let power: i32 = exponent.parse().unwrap_or(0);
    let short = |text: &str| match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_string(),
        false => text.to_string(),
    };
    match power {
        -4..6 => short(&format!("{x:.*}", (digits as i32 - 1 - power).max(0) as usize)),
        _ => format!("{}e{power}", short(mantissa)),
    }
}

/// `x` as it reads back to the same bits where that is short, else with four digits.
pub(super) fn parameter(x: f64) -> String {
    let exact = format!("{x:?}");
    if exact.len() <= 8 { exact } else { significant(x, 4) }
}

/// `x` as it reads back to the same bits, whole numbers without a point, long ones with six digits.
pub(super) fn time(x: f64) -> String {
    let exact = format!("{x:?}");
    let exact = exact.strip_suffix(".0").unwrap_or(&exact);
    if exact.len() <= 8 { exact.into() } else { significant(x, 6) }
}

/// Numbers between two others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Scale {
    pub low: f64,
    pub high: f64,
}

/// A number along an axis has no more characters than this.
const LONG: usize = 9;
/// Larger numbers would overflow when a distance between them is taken.
const LARGEST: f64 = 4e307;

impl Scale {
    /// From the smallest to the largest of `values` that are finite.
    pub(super) fn of(values: impl IntoIterator<Item = f64>) -> Option<Scale> {
        let finite = values.into_iter().filter(|x| x.is_finite()).map(|x| x.clamp(-LARGEST, LARGEST));
        finite.map(|x| Scale { low: x, high: x }).reduce(Scale::with)
    }

    /// Both.
    pub(super) fn with(self, other: Scale) -> Scale {
        Scale { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    /// A little more on both sides, and something where there was only one number.
    pub(super) fn padded(self, share: f64) -> Scale {
        let size = self.high - self.low;
        let least = (self.low.abs().max(self.high.abs()) * 1e-12).max(f64::MIN_POSITIVE);
        let more = match size > least {
            true => size * share,
            false if self.low == 0.0 => 1.0,
            false => self.low.abs() * 0.5,
        };
        Scale { low: self.low - more, high: self.high + more }
    }

    pub(super) fn size(self) -> f64 {
        self.high - self.low
    }

    pub(super) fn middle(self) -> f64 {
        self.low + self.size() / 2.0
    }

    /// Where `x` lies: 0 at the low end, 1 at the high one.
    pub(super) fn share(self, x: f64) -> f64 {
        (x - self.low) / self.size()
    }

    /// Round numbers in it, about so many, with their texts. Where these would be long, only the first one is the
    /// number, and the others say how much is added to it.
    pub(super) fn ticks(self, about: u32) -> Vec<(f64, String)> {
        let rough = self.size() / f64::from(about.max(1));
        let power = core_math::log10(rough).floor();
        if !power.is_finite() {
            return Vec::new();
        }
        let ten = core_math::exp10(power);
        let step = [1.0, 2.0, 5.0, 10.0].map(|digit| digit * ten).into_iter().find(|step| *step >= rough);
        let step = step.unwrap_or(rough);
        let first = (self.low / step).ceil();
        let ticks = (0..=2 * about.max(1)).map(|k| (first + f64::from(k)) * step);
        let largest = self.low.abs().max(self.high.abs());
        let digits = core_math::log10(largest / step).floor().max(0.0) as usize + 2;
        let mut ticks: Vec<(f64, String)> = ticks
            .take_while(|x| *x <= self.high)
            .map(|x| if x.abs() < step / 2.0 { 0.0 } else { x })
            .map(|x| (x, significant(x, digits.min(17)).replace('-', "−")))
            .collect();
        ticks.dedup_by(|a, b| a.0 == b.0);
        // far from zero, how much more it is than at the first one
        if let Some(first) = ticks.first().map(|(x, _)| *x)
            && ticks.iter().any(|(_, text)| text.chars().count() > LONG)
        {
            ticks.iter_mut().for_each(|(x, text)| *text = format!("+{}", significant(*x - first, 6)));
            ticks[0].1 = significant(first, 5).replace('-', "−");
        }
        ticks
    }
}
