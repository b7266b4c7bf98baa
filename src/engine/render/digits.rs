//! Exact numbers as digits: nothing on the way to a person passes through binary fractions when it came as a text.

use std::cmp::Ordering;

use serde_json::Value;

use crate::base::counted;

/// A finite decimal number. No leading zeros before the point but one; zeros at the end of the fraction are kept, as
/// they say how exact the number is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Digits {
    pub negative: bool,
    pub whole: String,
    pub fraction: String,
}

impl Digits {
    /// A JSON number, or a text that is one, such as `"-12.50"`. `None` for anything else, also for texts with an
    /// exponent.
    pub fn of(value: &Value) -> Option<Self> {
        match value {
            Value::Number(number) => match (number.as_i64(), number.as_u64(), number.as_f64()) {
                (Some(whole), _, _) => Self::parse(&whole.to_string()),
                (_, Some(whole), _) => Self::parse(&whole.to_string()),
                (_, _, Some(float)) => Self::of_float(float),
                _ => None,
            },
            Value::String(text) => Self::parse(text),
            _ => None,
        }
    }

    /// The shortest digits that mean this float. `None` when it is not finite.
    pub fn of_float(float: f64) -> Option<Self> {
        float.is_finite().then(|| Self::parse(&float.to_string())).flatten()
    }

    pub fn parse(text: &str) -> Option<Self> {
        let (negative, digits) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let all_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        if whole.is_empty() || !all_digits(whole) || !all_digits(fraction) || digits.ends_with('.') {
            return None;
        }
        let whole = whole.trim_start_matches('0');
        let whole = if whole.is_empty() { "0" } else { whole }.to_owned();
        let mut digits = Self { negative, whole, fraction: fraction.to_owned() };
        digits.negative &= !digits.is_zero();
        Some(digits)
    }

    pub fn is_zero(&self) -> bool {
        self.whole == "0" && self.fraction.bytes().all(|byte| byte == b'0')
    }

    /// A hundred times as much.
    pub fn percent(&self) -> Self {
        let mut fraction = self.fraction.clone();
        while fraction.len() < 2 {
            fraction.push('0');
        }
        let (moved, rest) = fraction.split_at(2);
        let whole = format!("{}{moved}", self.whole);
        let whole = whole.trim_start_matches('0');
        Self {
            negative: self.negative,
            whole: if whole.is_empty() { "0" } else { whole }.to_owned(),
            fraction: rest.to_owned(),
        }
    }

    /// To so many places, halves away from zero.
    pub fn rounded(&self, places: usize) -> Self {
        let Some(next) = self.fraction.as_bytes().get(places) else { return self.clone() };
        let mut digits: Vec<u8> = self.whole.bytes().chain(self.fraction.bytes().take(places)).collect();
        if *next >= b'5' {
            let mut carry = true;
            for digit in digits.iter_mut().rev() {
                carry = *digit == b'9';
                *digit = if carry { b'0' } else { *digit + 1 };
                if !carry {
                    break;
                }
            }
            if carry {
                digits.insert(0, b'1');
            }
        }
        let text: String = digits.into_iter().map(char::from).collect();
        let (whole, fraction) = text.split_at(text.len() - places);
        let mut rounded = Self { negative: self.negative, whole: whole.to_owned(), fraction: fraction.to_owned() };
        rounded.negative &= !rounded.is_zero();
        rounded
    }

    /// With at least so many places.
    pub fn padded(mut self, places: usize) -> Self {
        while self.fraction.len() < places {
            self.fraction.push('0');
        }
        self
    }

    /// Without zeros at the end of the fraction beyond so many places.
    pub fn trimmed(mut self, keep: usize) -> Self {
        while self.fraction.len() > keep && self.fraction.ends_with('0') {
            self.fraction.pop();
        }
        self
    }

    /// Places after the point at which `significant` digits are shown.
    pub fn places_for(&self, significant: usize) -> usize {
        if self.whole != "0" {
            return significant.saturating_sub(self.whole.len());
        }
        let zeros = self.fraction.bytes().take_while(|byte| *byte == b'0').count();
        zeros + significant
    }

    /// "1,234,567.89" or "1234567.89".
    pub fn text(&self, grouped: bool) -> String {
        let sign = if self.negative { "-" } else { "" };
        let whole = if grouped { counted::grouped(&self.whole) } else { self.whole.clone() };
        let point = if self.fraction.is_empty() { "" } else { "." };
        format!("{sign}{whole}{point}{}", self.fraction)
    }

    /// The same for equal numbers whatever their sign: no grouping, no zeros at the end.
    pub fn canonical(&self) -> String {
        Self { negative: false, ..self.clone().trimmed(0) }.text(false)
    }
}

impl PartialOrd for Digits {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        if self.negative != other.negative {
            return Some(if self.negative { Ordering::Less } else { Ordering::Greater });
        }
        let size = |digits: &Self| (digits.whole.len(), digits.clone().trimmed(0));
        let ((left_len, left), (right_len, right)) = (size(self), size(other));
        let order = left_len
            .cmp(&right_len)
            .then_with(|| left.whole.cmp(&right.whole))
            .then_with(|| left.fraction.cmp(&right.fraction));
        // `PartialEq` tells 1.5 from 1.50; the order does not.
        Some(if self.negative { order.reverse() } else { order })
    }
}
