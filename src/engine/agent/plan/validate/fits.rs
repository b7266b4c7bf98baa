//! Whether values fit the types of fields.

use jiff::civil::{Date, DateTime};

use crate::model::ontology::DataType;
use crate::model::plan::{Literal, Window};

/// What a field of this type needs, where a value is not that.
pub(super) fn misfit(datatype: DataType, value: &Literal) -> Option<&'static str> {
    let (fits, expected) = match datatype {
        DataType::Integer | DataType::Decimal | DataType::Float => (is_number(value), "a number"),
        DataType::Boolean => {
            let word = |text: &str| ["true", "false"].iter().any(|word| text.eq_ignore_ascii_case(word));
            (matches!(value, Literal::Bool(_)) || text(value).is_some_and(word), "true or false")
        }
        DataType::Date | DataType::DateTime | DataType::DateTimeTz => {
            (text(value).is_some_and(|text| civil(text).is_some()), "a date as YYYY-MM-DD")
        }
        DataType::String => (text(value).is_some(), "a text"),
        DataType::Time | DataType::Opaque => (true, ""),
    };
    (!fits).then_some(expected)
}

/// A number, or a text of one.
pub(super) fn is_number(value: &Literal) -> bool {
    match value {
        Literal::Number(_) => true,
        Literal::Text(text) => text.trim().parse::<f64>().is_ok_and(f64::is_finite),
        Literal::Bool(_) => false,
    }
}

fn text(value: &Literal) -> Option<&str> {
    match value {
        Literal::Text(text) => Some(text),
        Literal::Number(_) | Literal::Bool(_) => None,
    }
}

/// Whether one can be less than the other.
pub(super) fn comparable(one: DataType, other: DataType) -> bool {
    one == other
        || one.is_number() && other.is_number()
        || one.is_calendar() && other.is_calendar()
        || one == DataType::Opaque
        || other == DataType::Opaque
}

/// `YYYY-MM-DD` or `YYYY-MM-DDTHH:MM:SS`, and no other of the spellings that the parser takes.
fn civil(text: &str) -> Option<DateTime> {
    match text.len() {
        10 => text.parse::<Date>().ok().map(|date| date.at(0, 0, 0, 0)),
        19 if text.as_bytes().get(10) == Some(&b'T') => text.parse().ok(),
        _ => None,
    }
}

/// What is wrong with a window.
pub(super) fn bad_window(window: &Window) -> Option<&'static str> {
    let bound = |text: &Option<String>| text.as_deref().map(civil);
    match (bound(&window.start), bound(&window.end)) {
        (Some(None), _) | (_, Some(None)) => {
            Some("start and end are written YYYY-MM-DD or YYYY-MM-DDTHH:MM:SS, or left out")
        }
        (Some(Some(start)), Some(Some(end))) if start >= end => Some("it ends before it begins; end is not part of it"),
        _ => None,
    }
}
