//! Values of a result as people write them.

use serde_json::Value;

use super::digits::Digits;
use super::nouns::singular;
use crate::model::ontology::DataType;
use crate::model::plan::Grain;

/// How the values of a column are shown.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Style {
    pub datatype: DataType,
    /// `minutes`, `%` (the values are per cent already), an ISO 4217 code …
    pub unit: Option<String>,
    /// A number format such as `#,##0.00`; with `%` in it the values are parts of 1.
    pub format: Option<String>,
    /// The values are names that happen to be numbers, such as those of policies and postal codes: digits only.
    pub code: bool,
    /// The values are parts of 1, shown per cent.
    pub part: bool,
    /// What times are cut to.
    pub grain: Option<Grain>,
}

/// What a missing value is called.
pub const NO_VALUE: &str = "no value";

/// A value with its unit, as plain text: "1,234.50 USD", "12 minutes", "12.5%", "Jan 2013", "no value".
pub fn with_unit(value: &Value, style: &Style) -> String {
    let bare = bare(value, style);
    let (Some(unit), Some(digits)) = (style.unit.as_deref(), number_of(value, style)) else { return bare };
    if is_percent(style) {
        return bare;
    }
    let one = digits.canonical() == "1";
    if one { format!("{bare} {}", singular(unit)) } else { format!("{bare} {unit}") }
}

/// A value without its unit, for a column whose heading has it. Per cent signs stay.
pub fn bare(value: &Value, style: &Style) -> String {
    if value.is_null() {
        return NO_VALUE.into();
    }
    if let Some(name) = style.grain.and_then(|grain| calendar(value, grain)) {
        return name;
    }
    match (number_of(value, style), value) {
        (Some(digits), _) => number(&digits, style, value.is_f64()),
        (None, Value::String(text)) if style.datatype.is_calendar() => text.replacen('T', " ", 1),
        (None, Value::String(text)) => text.clone(),
        (None, other) => other.to_string(),
    }
}

/// A column's heading with the unit of its values: "Delay (minutes)".
pub fn heading(name: &str, style: &Style) -> String {
    match style.unit.as_deref() {
        Some(unit) if !is_percent(style) && !name.to_lowercase().contains(&unit.to_lowercase()) => {
            format!("{name} ({unit})")
        }
        _ => name.to_owned(),
    }
}

/// The number that a value of this column is. Texts of other columns stay texts, also "007".
pub fn number_of(value: &Value, style: &Style) -> Option<Digits> {
    let of_numbers = style.datatype.is_number() || value.is_number();
    of_numbers.then(|| Digits::of(value)).flatten()
}

fn is_percent(style: &Style) -> bool {
    style.part
        || style.unit.as_deref() == Some("%")
        || style.format.as_deref().is_some_and(|format| format.contains('%'))
}

fn is_currency(unit: &str) -> bool {
    unit.len() == 3 && unit.bytes().all(|byte| byte.is_ascii_uppercase())
}

/// By the format where there is one that can be read; otherwise every digit of exact numbers, and of floats no more
/// than mean anything: two places, or three digits of what is below 1.
fn number(digits: &Digits, style: &Style, is_float: bool) -> String {
    if style.code {
        return digits.text(false);
    }
    if let Some(pattern) = style.format.as_deref().and_then(Pattern::read) {
        let percent = if style.part || pattern.percent { digits.percent() } else { digits.clone() };
        let core = percent.rounded(pattern.most).trimmed(pattern.least).padded(pattern.least);
        let sign = match (style.part || style.unit.as_deref() == Some("%")) && !pattern.percent {
            true => "%",
            false => "",
        };
        return format!("{}{}{}{sign}", pattern.before, core.text(pattern.grouped), pattern.after);
    }
    if style.part {
        let percent = digits.percent();
        let places = if percent.whole == "0" { percent.places_for(2).min(6) } else { 1 };
        return format!("{}%", percent.rounded(places).trimmed(0).text(true));
    }
    let sign = if style.unit.as_deref() == Some("%") { "%" } else { "" };
    if !is_float {
        return format!("{}{sign}", digits.text(true));
    }
    let is_money = style.unit.as_deref().is_some_and(is_currency);
    if digits.whole.len() > 15 || digits.whole == "0" && !digits.is_zero() && digits.places_for(0) >= 6 {
        let float: f64 = digits.text(false).parse().unwrap_or_default();
        return format!("{float:.2e}{sign}");
    }
    let places = if digits.whole == "0" && !is_money { digits.places_for(3) } else { 2 };
    let rounded = digits.rounded(places);
    let shown = if is_money && !rounded.fraction.is_empty() { rounded.padded(2) } else { rounded.trimmed(0) };
    format!("{}{sign}", shown.text(true))
}

/// A number format: literals around one group of `#`, `0`, `,` and `.`.
struct Pattern<'a> {
    before: &'a str,
    after: &'a str,
    grouped: bool,
    least: usize,
    most: usize,
    percent: bool,
}

impl<'a> Pattern<'a> {
    /// `None` for what is no such format. Of several sections the first counts.
    fn read(format: &'a str) -> Option<Self> {
        let section = format.split(';').next()?;
        let is_core = |c: char| matches!(c, '#' | '0' | ',' | '.');
        let start = section.find(['#', '0'])?;
        let end = section.rfind(['#', '0'])? + 1;
        let core = section.get(start..end)?;
        if !core.chars().all(is_core) || core.matches('.').count() > 1 {
            return None;
        }
        let (whole, fraction) = core.split_once('.').unwrap_or((core, ""));
        let (before, after) = (section.get(..start)?, section.get(end..)?);
        let least = fraction.bytes().filter(|byte| *byte == b'0').count();
        let percent = before.contains('%') || after.contains('%');
        Some(Self { before, after, grouped: whole.contains(','), least, most: fraction.len(), percent })
    }
}

/// The months, from January on.
pub const MONTHS: [&str; 12] = [
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
];
/// The days of a week, from Monday on (ISO 8601).
pub const DAYS: [&str; 7] = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];

/// A time that was cut to a unit of the calendar, by that unit's name: "Jan 2013", "2013 Q1", "2013", "Monday". `None`
/// for what does not look like one.
fn calendar(value: &Value, grain: Grain) -> Option<String> {
    let position = || value.as_u64().and_then(|at| usize::try_from(at).ok()).and_then(|at| at.checked_sub(1));
    match grain {
        Grain::DayOfWeek => return Some(DAYS.get(position()?)?.to_string()),
        Grain::MonthOfYear => return Some(MONTHS.get(position()?)?.to_string()),
        Grain::QuarterOfYear => return Some(format!("Q{}", position()? + 1)),
        Grain::HourOfDay => return Some(format!("{:02}:00", value.as_u64()?)),
        Grain::DayOfMonth | Grain::Year | Grain::FiscalYear if value.is_number() => return Some(value.to_string()),
        _ => {}
    }
    let text = value.as_str()?;
    let moment: jiff::civil::DateTime = text.trim_end_matches('Z').parse().ok()?;
    let starts = moment.time() == jiff::civil::Time::midnight();
    match grain {
        Grain::Year if starts && moment.month() == 1 && moment.day() == 1 => Some(moment.strftime("%Y").to_string()),
        Grain::Quarter if starts && moment.day() == 1 => {
            Some(format!("{} Q{}", moment.strftime("%Y"), (moment.month() + 2) / 3))
        }
        Grain::Month if starts && moment.day() == 1 => Some(moment.strftime("%b %Y").to_string()),
        Grain::Day | Grain::Week if starts => Some(moment.strftime("%Y-%m-%d").to_string()),
        Grain::Hour => Some(moment.strftime("%Y-%m-%d %H:%M").to_string()),
        _ => Some(text.replacen('T', " ", 1)),
    }
}
