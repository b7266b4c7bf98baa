//! Numbers in figures and in words.

use crate::engine::agent::english::text::token::{Token, TokenKind};
use crate::engine::render::spelled::small;

/// A number of a question.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Quantity {
    /// With its scale: `$5k` is 5000. Of percentages the number before the sign: `40%` is 40.
    pub value: f64,
    /// `%`, an ISO 4217 code, or a unit's plural name such as `minutes`, `miles`: as written beside the number.
    pub unit: Option<String>,
}

/// The number that begins at a token, and how many tokens it takes with its scale and unit: `$5k`, `1.2m`,
/// `3 million`, `40 percent`, `15 minutes`, `two hundred and five`, `a dozen`.
///
/// Whether a word such as "one" is meant as a number is for the caller to know.
pub(crate) fn number(tokens: &[Token], at: usize) -> Option<(Quantity, usize)> {
    let (mut quantity, mut used) = amount(tokens, at)?;
    if quantity.unit.is_none()
        && let Some((unit, more)) = unit(tokens, at + used)
    {
        quantity.unit = Some(unit.to_owned());
        used += more;
    }
    Some((quantity, used))
}

/// The same without a unit after it: the 7 of "7 days". `None` for what has a sign or unit of its own.
pub(crate) fn count(tokens: &[Token], at: usize) -> Option<(u32, usize)> {
    let (quantity, used) = amount(tokens, at)?;
    let whole = quantity.value.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(&quantity.value);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole and in range")]
    (whole && quantity.unit.is_none()).then_some((quantity.value as u32, used))
}

/// `first`, `2nd`, `twenty-first`, `thirty first`: the number and how many tokens it takes. "second" may be meant as
/// a unit of time; the caller knows.
pub(crate) fn ordinal(tokens: &[Token], at: usize) -> Option<(u32, usize)> {
    let word = unquoted(tokens, at)?;
    if let Some(n) = ordinal_word(word) {
        return Some((n, 1));
    }
    let digits = word.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    if let Some(suffix) = word.strip_prefix(digits)
        && let Ok(n) = digits.parse::<u32>()
    {
        let expected = match (n % 10, n % 100) {
            (_, 11..=13) => "th",
            (1, _) => "st",
            (2, _) => "nd",
            (3, _) => "rd",
            _ => "th",
        };
        return (suffix == expected).then_some((n, 1));
    }
    let tens = |word: &str| small(word).filter(|n| *n >= 20);
    let ones = |word: &str| ordinal_word(word).filter(|n| *n < 10);
    if let Some((first, second)) = word.split_once('-') {
        return Some((tens(first)? + ones(second)?, 1));
    }
    Some((tens(word)? + ones(unquoted(tokens, at + 1)?)?, 2))
}

/// Whether a normalised text is digits with what belongs to them: sign, currency, separators, scale, percent sign.
pub(in crate::engine::agent) fn is_plain(norm: &str) -> bool {
    figures(norm).is_some_and(|(_, unit)| unit.is_none_or(|unit| unit == "%" || unit.len() == 3))
}

fn unquoted(tokens: &[Token], at: usize) -> Option<&str> {
    tokens.get(at).filter(|token| token.kind != TokenKind::Quoted).map(|token| token.norm.as_str())
}

/// A number with the scale, and the unit only where it is written onto it.
fn amount(tokens: &[Token], at: usize) -> Option<(Quantity, usize)> {
    let word = unquoted(tokens, at)?;
    if word == "minus" {
        let (quantity, used) = amount(tokens, at + 1).filter(|(quantity, _)| quantity.value >= 0.0)?;
        return Some((Quantity { value: -quantity.value, ..quantity }, used + 1));
    }
    if let Some((value, unit)) = figures(word) {
        let mut quantity = Quantity { value, unit: unit.map(str::to_owned) };
        let scaled = unquoted(tokens, at + 1).and_then(scale);
        let open = word.ends_with(|c: char| c.is_ascii_digit());
        return Some(match scaled.filter(|_| open) {
            Some(scale) => {
                quantity.value *= scale;
                (quantity, 2)
            }
            None => (quantity, 1),
        });
    }
    let (value, used) = in_words(tokens, at)?;
    Some((Quantity { value, unit: None }, used))
}

/// Digits: `1,234.5`, `-3`, `$5k`, `40%`, `15min`.
fn figures(word: &str) -> Option<(f64, Option<&'static str>)> {
    let (negative, rest) = match word.strip_prefix(['-', '\u{2212}']) {
        Some(rest) => (true, rest),
        None => (false, word.strip_prefix('+').unwrap_or(word)),
    };
    let currency = match rest.chars().next()? {
        '$' => Some("USD"),
        '€' => Some("EUR"),
        '£' => Some("GBP"),
        '¥' => Some("JPY"),
        _ => None,
    };
    let rest = if currency.is_some() { rest.trim_start_matches(['$', '€', '£', '¥']) } else { rest };
    let end = rest.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == ',')).unwrap_or(rest.len());
    let (digits, suffix) = rest.split_at(end);
    let value: f64 = plain(digits)?;
    let (scaled, unit) = match (suffix, currency) {
        ("", unit) => (value, unit),
        ("%", None) => (value, Some("%")),
        ("k", unit) => (value * 1e3, unit),
        ("m" | "mn", unit) => (value * 1e6, unit),
        ("b" | "bn", unit) => (value * 1e9, unit),
        (suffix, None) => (value, Some(unit_word(suffix)?)),
        _ => return None,
    };
    Some((if negative { -scaled } else { scaled }, unit))
}

/// Digits with at most one point; commas only between groups of three.
fn plain(digits: &str) -> Option<f64> {
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    if fraction.contains(['.', ',']) || digits.ends_with('.') || whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let mut groups = whole.split(',');
    let first = groups.next()?;
    let grouped = whole.contains(',');
    if grouped && (first.is_empty() || first.len() > 3 || groups.any(|group| group.len() != 3)) {
        return None;
    }
    digits.replace(',', "").parse().ok().filter(|value: &f64| value.is_finite())
}

fn scale(word: &str) -> Option<f64> {
    Some(match word {
        "dozen" => 12.0,
        "hundred" => 1e2,
        "thousand" | "k" => 1e3,
        "million" | "millions" | "mn" => 1e6,
        "billion" | "billions" | "bn" => 1e9,
        "trillion" => 1e12,
        _ => return None,
    })
}

/// The unit that begins at a token.
fn unit(tokens: &[Token], at: usize) -> Option<(&'static str, usize)> {
    let word = unquoted(tokens, at)?;
    if word == "per" && unquoted(tokens, at + 1) == Some("cent") {
        return Some(("%", 2));
    }
    unit_word(word).map(|unit| (unit, 1))
}

/// A unit by any of its usual names. Words that are mostly something else ("in", "m", "second" as an ordinal) are left
/// out or follow digits only.
fn unit_word(word: &str) -> Option<&'static str> {
    Some(match word {
        "%" | "percent" | "pct" | "percentage" => "%",
        "$" | "dollar" | "dollars" | "usd" | "bucks" => "USD",
        "€" | "euro" | "euros" | "eur" => "EUR",
        "£" | "gbp" => "GBP",
        "ms" | "millisecond" | "milliseconds" => "milliseconds",
        "s" | "sec" | "secs" | "second" | "seconds" => "seconds",
        "min" | "mins" | "minute" | "minutes" => "minutes",
        "h" | "hr" | "hrs" | "hour" | "hours" => "hours",
        "d" | "day" | "days" => "days",
        "week" | "weeks" => "weeks",
        "month" | "months" => "months",
        "yr" | "yrs" | "year" | "years" => "years",
        "mi" | "mile" | "miles" => "miles",
        "km" | "kms" | "kilometer" | "kilometers" | "kilometre" | "kilometres" => "kilometers",
        "meter" | "meters" | "metre" | "metres" => "meters",
        "cm" | "centimeter" | "centimeters" | "centimetre" | "centimetres" => "centimeters",
        "mm" | "millimeter" | "millimeters" | "millimetre" | "millimetres" => "millimeters",
        "ft" | "foot" | "feet" => "feet",
        "inch" | "inches" => "inches",
        "kg" | "kgs" | "kilogram" | "kilograms" => "kilograms",
        "gram" | "grams" => "grams",
        "lb" | "lbs" | "pound" | "pounds" => "pounds",
        "ton" | "tons" | "tonne" | "tonnes" => "tons",
        "liter" | "liters" | "litre" | "litres" => "liters",
        "mph" => "mph",
        "knot" | "knots" => "knots",
        "degree" | "degrees" => "degrees",
        _ => return None,
    })
}

/// `two hundred and five`, `twenty five`, `a dozen`, `three thousand`.
fn in_words(tokens: &[Token], at: usize) -> Option<(f64, usize)> {
    let (mut total, mut current, mut used) = (0.0, 0.0, 0);
    // What may follow: after tens only ones, after ones only a scale.
    let mut room = u32::MAX;
    if matches!(unquoted(tokens, at)?, "a" | "an") {
        let scale = unquoted(tokens, at + 1).and_then(scale)?;
        return Some((scale, 2));
    }
    while let Some(word) = unquoted(tokens, at + used) {
        let (word, more) = if word == "and" && used > 0 && room == 100 {
            (unquoted(tokens, at + used + 1).filter(|word| below_hundred(word).is_some())?, 2)
        } else {
            (word, 1)
        };
        if let Some(n) = below_hundred(word).filter(|n| *n < room) {
            current += f64::from(n);
            // After "twenty" a "five" may come, after "zero" or "five" nothing below a scale.
            room = if n >= 20 && n % 10 == 0 { 10 } else { 0 };
        } else if let Some(scale) = scale(word).filter(|_| current > 0.0 || (used == 0 && word == "dozen")) {
            match word {
                "dozen" => {
                    current = if used == 0 { 12.0 } else { current * scale };
                    room = 0;
                }
                "hundred" => {
                    current *= scale;
                    room = 100;
                }
                _ => {
                    total += current * scale;
                    current = 0.0;
                    room = 1_000;
                }
            }
        } else {
            break;
        }
        used += more;
    }
    (used > 0).then_some((total + current, used))
}

/// `twenty`, `twenty-five`.
fn below_hundred(word: &str) -> Option<u32> {
    match word.split_once('-') {
        Some((tens, ones)) => Some(small(tens).filter(|n| *n >= 20)? + small(ones).filter(|n| (1..10).contains(n))?),
        None => small(word),
    }
}

fn ordinal_word(word: &str) -> Option<u32> {
    const ORDINALS: [&str; 20] = [
        "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh",
        "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth", "eighteenth", "nineteenth",
        "twentieth",
    ];
    match word {
        "thirtieth" => Some(30),
        "hundredth" => Some(100),
        _ => {
            let at = ORDINALS.iter().position(|name| *name == word)?;
            u32::try_from(at + 1).ok()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::agent::english::text::token::tokens;

    #[test]
    fn figures_and_words_are_numbers_with_their_units() {
        for (text, value, unit, used) in [
            ("7 days", 7.0, Some("days"), 2),
            ("31003000336", 31_003_000_336.0, None, 1),
            ("1,234.5 orders", 1234.5, None, 1),
            ("-3", -3.0, None, 1),
            ("minus 3", -3.0, None, 2),
            (".5", 0.5, None, 1),
            ("$5k", 5_000.0, Some("USD"), 1),
            ("$5 million", 5e6, Some("USD"), 2),
            ("€1.5", 1.5, Some("EUR"), 1),
            ("1.2m", 1.2e6, None, 1),
            ("3bn", 3e9, None, 1),
            ("3 million dollars", 3e6, Some("USD"), 3),
            ("40%", 40.0, Some("%"), 1),
            ("40 %", 40.0, Some("%"), 2),
            ("40 percent", 40.0, Some("%"), 2),
            ("40 per cent", 40.0, Some("%"), 3),
            ("15 minutes", 15.0, Some("minutes"), 2),
            ("15min", 15.0, Some("minutes"), 1),
            ("2 hrs", 2.0, Some("hours"), 2),
            ("500 miles", 500.0, Some("miles"), 2),
            ("three", 3.0, None, 1),
            ("twenty five", 25.0, None, 2),
            ("twenty-five orders", 25.0, None, 1),
            ("a dozen", 12.0, None, 2),
            ("two dozen", 24.0, None, 2),
            ("a hundred miles", 100.0, Some("miles"), 3),
            ("two hundred and five", 205.0, None, 4),
            ("two hundred five", 205.0, None, 3),
            ("one thousand", 1000.0, None, 2),
            ("two thousand three hundred forty one", 2341.0, None, 6),
            ("ten thousand", 10_000.0, None, 2),
            // Two numbers are not one.
            ("five six", 5.0, None, 1),
            ("twenty twelve", 20.0, None, 1),
            ("two and three", 2.0, None, 1),
            ("10 or 20", 10.0, None, 1),
            ("1,200", 1200.0, None, 1),
        ] {
            let found = number(&tokens(text), 0);
            assert_eq!(found, Some((Quantity { value, unit: unit.map(str::to_owned) }, used)), "{text}");
        }
        for text in ["flights", "AA-12", "2013-01-31", "10:30", "hundred", "and", "\"5\"", "5x", "1.2.3", "a", "2nd"] {
            assert_eq!(number(&tokens(text), 0), None, "{text}");
        }
    }

    #[test]
    fn counts_are_whole_and_leave_the_unit() {
        assert_eq!(count(&tokens("7 days"), 0), Some((7, 1)));
        assert_eq!(count(&tokens("twenty five days"), 0), Some((25, 2)));
        for text in ["7.5 days", "$7", "7%", "-7", "days"] {
            assert_eq!(count(&tokens(text), 0), None, "{text}");
        }
    }

    #[test]
    fn ordinals_are_read_in_figures_and_words() {
        for (text, expected) in [
            ("first", Some((1, 1))),
            ("2nd", Some((2, 1))),
            ("3rd", Some((3, 1))),
            ("11th", Some((11, 1))),
            ("21st", Some((21, 1))),
            ("112th", Some((112, 1))),
            ("twenty-first", Some((21, 1))),
            ("thirty first", Some((31, 2))),
            ("twentieth", Some((20, 1))),
            ("11st", None),
            ("2th", None),
            ("two", None),
            ("twenty", None),
            ("5", None),
            ("thirteen first", None),
        ] {
            assert_eq!(ordinal(&tokens(text), 0), expected, "{text}");
        }
    }
}
