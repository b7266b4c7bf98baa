//! Values of questions as SQL, in the type of the field that they meet.

use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;

use crate::model::ontology::{DataType, Field};
use crate::model::plan::Literal;

use super::error::CompileError;
use super::work::Work;

/// A value as SQL.
pub(super) enum Written {
    Value(String),
    /// A whole day of a field with a time of day: from the first instant up to but not with the second.
    Day(String, String),
}

impl Work<'_> {
    pub(super) fn zone(&self) -> Result<TimeZone, CompileError> {
        let name = self.zone_name();
        TimeZone::get(name)
            .map_err(|_| CompileError::Unsupported(format!("the ontology's time zone {name} is not an IANA name")))
    }

    /// A civil time as SQL to compare with a field of this type.
    pub(super) fn instant(&self, at: DateTime, datatype: DataType) -> Result<String, CompileError> {
        Ok(match datatype {
            DataType::DateTimeTz => {
                let zoned = at
                    .to_zoned(self.zone()?)
                    .map_err(|_| CompileError::Unsupported(format!("{at} is beyond the calendar")))?;
                self.dialect.instant_literal(&zoned)
            }
            DataType::Date if at.time() == jiff::civil::Time::midnight() => {
                self.dialect.day_literal(&at.date().to_string())
            }
            _ => self.dialect.civil_literal(&at.strftime("%Y-%m-%d %H:%M:%S").to_string()),
        })
    }

    pub(super) fn literal(&self, value: &Literal, field: &Field) -> Result<Written, CompileError> {
        let wrong = |wants: &str| {
            Err(CompileError::WrongType { field: field.words(), value: shown(value), wants: wants.to_owned() })
        };
        let written = match (field.datatype, value) {
            (DataType::String | DataType::Opaque, Literal::Text(value)) => self.plain_text(value)?,
            (DataType::String, Literal::Number(number)) => self.dialect.text(&number_text(number.get())),
            (DataType::String, Literal::Bool(value)) => self.dialect.text(if *value { "true" } else { "false" }),
            (DataType::Integer | DataType::Decimal | DataType::Float | DataType::Opaque, Literal::Number(number)) => {
                number_text(number.get())
            }
            (DataType::Integer | DataType::Decimal | DataType::Float, Literal::Text(value)) => match number_of(value) {
                Some(number) => number,
                None => return wrong("it holds numbers"),
            },
            (DataType::Boolean | DataType::Opaque, Literal::Bool(value)) => value.to_string().to_uppercase(),
            (DataType::Boolean, Literal::Text(value)) => match value.to_lowercase().as_str() {
                "true" | "yes" => "TRUE".to_owned(),
                "false" | "no" => "FALSE".to_owned(),
                _ => return wrong("it is true or false"),
            },
            (DataType::Date | DataType::DateTime | DataType::DateTimeTz, Literal::Text(value)) => {
                let Some((at, is_day)) = civil(value) else {
                    return wrong("write a day as 2024-01-31 or a time as 2024-01-31T10:00:00");
                };
                if is_day && field.datatype != DataType::Date {
                    let next = at.date().tomorrow().map_or(at, |day| day.at(0, 0, 0, 0));
                    return Ok(Written::Day(self.instant(at, field.datatype)?, self.instant(next, field.datatype)?));
                }
                self.instant(at, field.datatype)?
            }
            (DataType::Time, Literal::Text(value)) => match value.parse::<jiff::civil::Time>() {
                Ok(time) => self.dialect.clock_literal(&time.strftime("%H:%M:%S").to_string())?,
                Err(_) => return wrong("write a time of day as 10:00:00"),
            },
            (DataType::Integer | DataType::Decimal | DataType::Float, Literal::Bool(_)) => {
                return wrong("it holds numbers");
            }
            (DataType::Boolean, Literal::Number(_)) => return wrong("it is true or false"),
            (DataType::Date | DataType::DateTime | DataType::DateTimeTz, _) => return wrong("it holds days"),
            (DataType::Time, _) => return wrong("it holds times of day"),
        };
        Ok(Written::Value(written))
    }

    fn plain_text(&self, value: &str) -> Result<String, CompileError> {
        if value.contains('\u{0}') {
            return Err(CompileError::Unsupported("a value holds the character U+0000, which no text does".into()));
        }
        Ok(self.dialect.text(value))
    }
}

/// A day or a civil time, and whether it is a day.
pub(super) fn civil(value: &str) -> Option<(DateTime, bool)> {
    let value = value.trim();
    if let Ok(date) = value.parse::<Date>()
        && value.len() == 10
    {
        return Some((date.at(0, 0, 0, 0), true));
    }
    value.parse::<DateTime>().ok().map(|at| (at, false))
}

/// A number written out, without an exponent where that is short.
pub(super) fn number_text(number: f64) -> String {
    if number.abs() < 1e18 { number.to_string() } else { format!("{number:e}") }
}

/// A text of digits as a number of SQL, with every digit.
fn number_of(value: &str) -> Option<String> {
    let value = value.trim();
    let digits = value.strip_prefix('-').unwrap_or(value);
    let (whole, part) = digits.split_once('.').unwrap_or((digits, "0"));
    let are_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    (are_digits(whole) && are_digits(part) && value.len() <= 40).then(|| value.to_owned())
}

fn shown(value: &Literal) -> String {
    match value {
        Literal::Bool(value) => value.to_string(),
        Literal::Number(number) => number_text(number.get()),
        Literal::Text(value) => format!("“{value}”"),
    }
}
