//! Numbers in a text that nothing supports: the guard over any wording of an answer, above all a language model's.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::engine::render::column::Column;
use crate::engine::render::digits::Digits;
use crate::engine::render::spelled::small;
use crate::model::table::Table;

/// Numbers of `text`, as written, that are neither values of the result (whole, as a per cent of 1, or rounded to what
/// is written: at least two digits before "million" or "k", otherwise at least one place or three digits), nor in one
/// of the `known` texts (the question, the restated plan, assumptions, caveats), nor a count of its rows. Signs do not
/// count: "down 5 %" is supported by -5. Numbers in words count from "two" on, and so do digits of other scripts.
pub fn unsupported_numbers(text: &str, table: &Table, columns: &[Column], known: &[&str]) -> Vec<String> {
    let evidence = Evidence::of(table, columns, known);
    let mut seen = BTreeSet::new();
    numbers(text)
        .into_iter()
        .filter(|number| !evidence.supports(number))
        .map(|number| number.written)
        .filter(|written| seen.insert(written.clone()))
        .collect()
}

/// A number in a text.
struct Number {
    written: String,
    /// `None` for what cannot be compared, such as a digit of another script, or "twice".
    digits: Option<Digits>,
    /// 10 to this is meant by what follows: 3 for "k", 6 for "million".
    scale: usize,
    /// Stands for the order of a list, as in "2. Second".
    is_marker: bool,
}

#[derive(Default)]
struct Evidence {
    /// Canonical numbers that may be said as they are.
    exact: BTreeSet<String>,
    /// Values of the result, which may be rounded.
    values: Vec<Digits>,
    /// Written forms that cannot be compared.
    written: BTreeSet<String>,
    rows: usize,
}

impl Evidence {
    fn of(table: &Table, columns: &[Column], known: &[&str]) -> Self {
        let mut evidence = Self { rows: table.rows.len(), ..Self::default() };
        let rows = table.rows.len();
        let shown = rows.min(20);
        for count in [rows, shown, rows - shown] {
            evidence.exact.insert(count.to_string());
        }
        known.iter().for_each(|text| evidence.add_text(text));
        columns.iter().for_each(|column| evidence.add_text(&column.heading));
        for row in &table.rows {
            for (at, value) in row.iter().enumerate() {
                evidence.add_value(value, columns.get(at));
            }
        }
        evidence
    }

    fn add_value(&mut self, value: &Value, column: Option<&Column>) {
        if let Some(column) = column {
            self.add_text(&column.with_unit(value));
        }
        match Digits::of(value) {
            Some(digits) => {
                self.exact.insert(digits.canonical());
                if column.is_some_and(|column| column.style.part) {
                    self.values.push(digits.percent());
                    self.exact.insert(digits.percent().canonical());
                }
                self.values.push(digits);
            }
            None => match value {
                Value::String(text) => self.add_text(text),
                Value::Array(items) => items.iter().for_each(|item| self.add_value(item, None)),
                Value::Object(items) => items.values().for_each(|item| self.add_value(item, None)),
                Value::Null | Value::Bool(_) | Value::Number(_) => {}
            },
        }
    }

    fn add_text(&mut self, text: &str) {
        for number in numbers(text) {
            if let Some(digits) = &number.digits {
                self.exact.insert(scaled(digits, number.scale).canonical());
                self.exact.insert(digits.canonical());
            }
            self.written.insert(number.written);
        }
    }

    fn supports(&self, number: &Number) -> bool {
        let Some(digits) = &number.digits else { return self.written.contains(&number.written) };
        if number.is_marker && digits.canonical().parse::<usize>().is_ok_and(|at| at <= self.rows.max(10)) {
            return true;
        }
        if self.exact.contains(&scaled(digits, number.scale).canonical()) {
            return true;
        }
        let significant = format!("{}{}", digits.whole, digits.fraction).trim_start_matches('0').len();
        let enough = match number.scale {
            0 => !digits.fraction.is_empty() || significant >= 3,
            _ => significant >= 2,
        };
        enough
            && self.values.iter().any(|value| {
                let shifted = unscaled(value, number.scale);
                shifted.fraction.len() >= digits.fraction.len()
                    && shifted.rounded(digits.fraction.len()).canonical() == digits.canonical()
            })
    }
}

/// Times ten to the `scale`.
fn scaled(digits: &Digits, scale: usize) -> Digits {
    let padded = digits.clone().padded(scale);
    let (moved, rest) = padded.fraction.split_at(scale);
    let text = format!("{}{moved}.{rest}", padded.whole);
    Digits::parse(text.trim_end_matches('.')).unwrap_or_else(|| digits.clone())
}

/// Divided by ten to the `scale`.
fn unscaled(digits: &Digits, scale: usize) -> Digits {
    let whole = format!("{:0>width$}", digits.whole, width = scale + 1);
    let (kept, moved) = whole.split_at(whole.len() - scale);
    let text = format!("{kept}.{moved}{}", digits.fraction);
    Digits::parse(text.trim_end_matches('.')).unwrap_or_else(|| digits.clone())
}

/// Every number of a text. `1,234.5` is one, `2013-01-31` are three, and the 6 of `B6` is one.
fn numbers(text: &str) -> Vec<Number> {
    let chars: Vec<char> = text.chars().collect();
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(&c) = chars.get(at) {
        if c.is_ascii_digit() {
            let (end, digits) = read_digits(&chars, at);
            let is_marker = starts_line(&chars, at)
                && matches!(chars.get(end), Some('.' | ')'))
                && chars.get(end + 1) == Some(&' ');
            let (scale, after) = read_scale(&chars, end);
            let written = between(&chars, at, after);
            found.push(Number { written, digits: Digits::parse(&digits), scale, is_marker });
            at = after;
        } else if c.is_numeric() {
            found.push(Number { written: c.to_string(), digits: None, scale: 0, is_marker: false });
            at += 1;
        } else if c.is_alphabetic() {
            let end = at + chars.iter().skip(at).take_while(|c| c.is_alphabetic()).count();
            let word = between(&chars, at, end);
            if is_computed(&word) {
                found.push(Number { written: word.to_lowercase(), digits: None, scale: 0, is_marker: false });
                at = end;
            } else if let Some(number) = in_words(&word) {
                let (scale, after) = read_scale(&chars, end);
                let written = between(&chars, at, after);
                found.push(Number { written, digits: Digits::parse(&number.to_string()), scale, is_marker: false });
                at = after;
            } else {
                at = end;
            }
        } else {
            at += 1;
        }
    }
    found
}

/// Digits from `start` on, with separators of thousands and a point; the end, and the digits without separators. An
/// exponent belongs to it.
fn read_digits(chars: &[char], start: usize) -> (usize, String) {
    let digit = |at: usize| chars.get(at).is_some_and(char::is_ascii_digit);
    let digits = |from: usize| chars.iter().skip(from).take_while(|c| c.is_ascii_digit());
    let mut text: String = digits(start).collect();
    let mut at = start + text.len();
    let separates = |c: char| matches!(c, ',' | '\u{a0}' | '\u{202f}' | '\'' | '’' | '_');
    let may_have_groups = text.len() <= 3;
    let group = |at: usize| {
        chars.get(at).copied().is_some_and(separates) && (1..=3).all(|next| digit(at + next)) && !digit(at + 4)
    };
    while may_have_groups && group(at) {
        text.extend(chars.iter().skip(at + 1).take(3));
        at += 4;
    }
    if chars.get(at) == Some(&'.') && digit(at + 1) {
        text.push('.');
        text.extend(digits(at + 1));
        at += 1 + digits(at + 1).count();
    }
    let sign = usize::from(matches!(chars.get(at + 1), Some('-' | '+')));
    if matches!(chars.get(at), Some('e' | 'E')) && digit(at + 1 + sign) {
        let end = at + 1 + sign + digits(at + 1 + sign).count();
        let exponent = between(chars, at, end);
        let meant = format!("{text}{exponent}").parse::<f64>().ok().and_then(Digits::of_float);
        if let Some(digits) = meant {
            return (end, digits.text(false));
        }
    }
    (at, text)
}

/// What multiplies the number before: "k", "M", " thousand", " million", "bn".
fn read_scale(chars: &[char], end: usize) -> (usize, usize) {
    let space = usize::from(matches!(chars.get(end), Some(' ' | '\u{a0}' | '\u{202f}')));
    let from = end + space;
    let len = chars.get(from..).unwrap_or_default().iter().position(|c| !c.is_alphanumeric());
    let to = len.map_or(chars.len(), |len| from + len);
    let word = between(chars, from, to);
    let scale = match (word.as_str(), space) {
        ("k" | "K", 0) => 3,
        ("M" | "m", 0) => 6,
        ("B" | "bn" | "b", 0) => 9,
        (word, _) => match word.to_lowercase().as_str() {
            "hundred" => 2,
            "thousand" => 3,
            "million" | "mio" | "mn" => 6,
            "billion" | "bn" => 9,
            "trillion" => 12,
            _ => 0,
        },
    };
    if scale == 0 { (0, end) } else { (scale, to) }
}

fn between(chars: &[char], from: usize, to: usize) -> String {
    chars.get(from..to).unwrap_or_default().iter().collect()
}

fn starts_line(chars: &[char], at: usize) -> bool {
    chars.iter().take(at).rev().take_while(|c| **c != '\n').all(|c| c.is_whitespace())
}

/// Words that compare two numbers: they are supported only where they were said before.
fn is_computed(word: &str) -> bool {
    let words = ["twice", "thrice", "double", "doubled", "doubles", "triple", "tripled", "half", "halved"];
    words.contains(&word.to_lowercase().as_str())
}

/// "one" and "zero" say too little to be checked.
fn in_words(word: &str) -> Option<u32> {
    match word.to_lowercase().as_str() {
        "zero" | "one" => None,
        "dozen" => Some(12),
        "hundred" => Some(100),
        "thousand" => Some(1_000),
        "million" => Some(1_000_000),
        "billion" => Some(1_000_000_000),
        word => small(word),
    }
}
