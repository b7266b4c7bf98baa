//! Axes of numbers: where the ticks are and what they are called.

use crate::engine::render::digits::Digits;

/// An axis from its first to its last tick.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Scale {
    pub ticks: Vec<f64>,
    step: f64,
}

impl Scale {
    /// Ticks at 1, 2 or 5 times a power of ten, whole ones for whole numbers, about `count` of them, around all the values; with zero if it is
    /// wanted, or if the values are not far enough apart from each other or too near to it.
    pub(super) fn around(values: impl Iterator<Item = f64>, with_zero: bool, count: usize) -> Self {
        let mut whole = true;
        let (mut low, mut high) = values
            .map(drawable)
            .inspect(|value| whole &= value.fract() == 0.0)
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
        if low > high {
            (low, high) = (0.0, 1.0);
        }
        if with_zero || high - low >= 0.3 * high.abs().max(low.abs()) || low == high {
            (low, high) = (low.min(0.0), high.max(0.0));
        }
        if low == high {
            high = 1.0;
        }
        let step = nice((high - low) / count.max(1) as f64);
        let step = if whole { step.max(1.0) } else { step };
        let (first, last) = ((low / step + 1e-9).floor(), (high / step - 1e-9).ceil());
        let count = (last - first).clamp(1.0, 50.0) as usize;
        let ticks = (0..=count).map(|at| (first + at as f64) * step).map(|tick| if tick == 0.0 { 0.0 } else { tick });
        Self { ticks: ticks.collect(), step }
    }

    pub(super) fn low(&self) -> f64 {
        self.ticks.first().copied().unwrap_or_default()
    }

    pub(super) fn high(&self) -> f64 {
        self.ticks.last().copied().unwrap_or(1.0)
    }

    /// The tick that is farthest from zero, without its sign.
    pub(super) fn largest(&self) -> f64 {
        self.high().abs().max(self.low().abs())
    }

    /// Where a value is: 0 at the first tick, 1 at the last.
    pub(super) fn place(&self, value: f64) -> f64 {
        ((drawable(value) - self.low()) / (self.high() - self.low())).clamp(0.0, 1.0)
    }

    /// All in the same unit: "0", "5k", "10k".
    pub(super) fn labels(&self) -> Vec<String> {
        let largest = self.largest();
        if largest >= 1e15 || self.step < 1e-6 {
            let label = |tick: &f64| if *tick == 0.0 { "0".to_owned() } else { trimmed_exponent(*tick) };
            return self.ticks.iter().map(label).collect();
        }
        let (unit, suffix) = match largest {
            size if size >= 1e12 => (1e12, "T"),
            size if size >= 1e9 => (1e9, "B"),
            size if size >= 1e6 => (1e6, "M"),
            size if size >= 1e4 => (1e3, "k"),
            _ => (1.0, ""),
        };
        let places = (-(self.step / unit).log10() - 1e-9).ceil().clamp(0.0, 12.0) as usize;
        let label = |tick: &f64| match *tick {
            0.0 => "0".to_owned(),
            tick => format!("{}{suffix}", grouped(&format!("{:.places$}", tick / unit))),
        };
        self.ticks.iter().map(label).collect()
    }
}

/// Numbers so large or so small that their distances leave the range of floats are drawn at its ends.
fn drawable(value: f64) -> f64 {
    if value.abs() < 1e-290 { 0.0 } else { value.clamp(-1e290, 1e290) }
}

/// The smallest of 1, 2, 5 times a power of ten that is not less.
fn nice(span: f64) -> f64 {
    let power = 10f64.powf(span.log10().floor());
    let factor = [1.0, 2.0, 5.0].into_iter().find(|factor| span / power <= factor * (1.0 + 1e-9)).unwrap_or(10.0);
    factor * power
}

fn trimmed_exponent(number: f64) -> String {
    let text = format!("{number:.2e}");
    let text = match text.split_once('e') {
        Some((mantissa, exponent)) => format!("{}e{exponent}", mantissa.trim_end_matches('0').trim_end_matches('.')),
        None => text,
    };
    text.replace('-', "−")
}

fn grouped(text: &str) -> String {
    Digits::parse(text).map_or_else(|| text.to_owned(), |digits| digits.text(true).replacen('-', "−", 1))
}

/// A value in full, with up to six digits that mean something: "1,234,567", "0.1235".
pub(super) fn value(number: f64) -> String {
    if number != 0.0 && (number.abs() >= 1e15 || number.abs() < 1e-6) {
        return trimmed_exponent(number);
    }
    let Some(digits) = Digits::of_float(number) else { return number.to_string() };
    let places = if digits.whole == "0" { digits.places_for(4) } else { 2 };
    digits.rounded(places).trimmed(0).text(true).replacen('-', "−", 1)
}

/// Short, for beside a bar among others: "1.23M", "123k", "999". Beside numbers of at least 1 no more than two places.
pub(super) fn short(number: f64, largest: f64) -> String {
    if largest >= 1.0 && (0.005..1.0).contains(&number.abs()) {
        return value((number * 100.0).round() / 100.0);
    }
    let (unit, suffix) = match number.abs() {
        size if size >= 1e15 => return value(number),
        size if size >= 999_500_000_000.0 => (1e12, "T"),
        size if size >= 999_500_000.0 => (1e9, "B"),
        size if size >= 999_500.0 => (1e6, "M"),
        size if size >= 100_000.0 => (1e3, "k"),
        _ => return value(number),
    };
    let scaled = Digits::of_float(number / unit);
    let text = scaled.map(|digits| digits.rounded(digits.places_for(3)).trimmed(0).text(true));
    format!("{}{suffix}", text.unwrap_or_default().replacen('-', "−", 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_hold_every_value() {
        for (values, zero, ticks, labels) in [
            (vec![3.0, 97.0], true, vec![0.0, 20.0, 40.0, 60.0, 80.0, 100.0], vec!["0", "20", "40", "60", "80", "100"]),
            (
                vec![-5.0, 5.0],
                true,
                vec![-6.0, -4.0, -2.0, 0.0, 2.0, 4.0, 6.0],
                vec!["−6", "−4", "−2", "0", "2", "4", "6"],
            ),
            (
                vec![27004.0, 29425.0],
                false,
                vec![27000.0, 27500.0, 28000.0, 28500.0, 29000.0, 29500.0],
                vec!["27.0k", "27.5k", "28.0k", "28.5k", "29.0k", "29.5k"],
            ),
            (vec![0.0], true, vec![0.0, 1.0], vec!["0", "1"]),
            (
                vec![0.5],
                true,
                vec![0.0, 0.1, 0.2, 0.30000000000000004, 0.4, 0.5],
                vec!["0", "0.1", "0.2", "0.3", "0.4", "0.5"],
            ),
            (vec![7.0, 7.0], false, vec![0.0, 2.0, 4.0, 6.0, 8.0], vec!["0", "2", "4", "6", "8"]),
            (vec![5_000_000.0], true, vec![0.0, 1e6, 2e6, 3e6, 4e6, 5e6], vec!["0", "1M", "2M", "3M", "4M", "5M"]),
            (
                vec![5_000.0],
                true,
                vec![0.0, 1e3, 2e3, 3e3, 4e3, 5e3],
                vec!["0", "1,000", "2,000", "3,000", "4,000", "5,000"],
            ),
        ] {
            let scale = Scale::around(values.iter().copied(), zero, 5);
            assert_eq!(scale.labels(), labels, "{values:?}");
            assert_eq!(scale.ticks, ticks, "{values:?}");
        }
    }

    #[test]
    fn extreme_numbers_still_have_an_axis() {
        for values in [vec![f64::MIN, f64::MAX], vec![f64::MAX], vec![5e-324], vec![1e-30, 2e-30], vec![1e300, -1e-300]]
        {
            let scale = Scale::around(values.iter().copied(), true, 5);
            assert!(scale.ticks.len() >= 2, "{values:?}");
            for value in values {
                let place = scale.place(value);
                assert!((0.0..=1.0).contains(&place), "{value} {place} {scale:?}");
            }
        }
    }

    #[test]
    fn values_have_no_more_digits_than_mean_something() {
        for (number, full, brief) in [
            (0.0, "0", "0"),
            (1234567.0, "1,234,567", "1.23M"),
            (-1234.567, "−1,234.57", "−1,234.57"),
            (0.123456, "0.1235", "0.1235"),
            (123456.0, "123,456", "123k"),
            (999_999.0, "999,999", "1M"),
            (1e21, "1e21", "1e21"),
            (2.5e-9, "2.5e−9", "2.5e−9"),
        ] {
            assert_eq!((value(number).as_str(), short(number, number.abs()).as_str()), (full, brief));
        }
        assert_eq!(short(-0.1672, 16.5), "−0.17");
        assert_eq!(short(0.0012, 16.5), "0.0012");
    }
}
