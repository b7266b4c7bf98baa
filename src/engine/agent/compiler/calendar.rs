//! Times cut to units of the calendar, and windows of time.

use jiff::civil::DateTime;

use crate::model::ontology::{DataType, Field};
use crate::model::plan::{Comparison, Grain, Window};
use crate::model::source::text_literal;

use super::error::CompileError;
use super::literal::civil;
use super::work::Work;

impl Work<'_> {
    /// A field of time as the civil time of the ontology's zone.
    pub(super) fn local(&self, sql: &str, field: &Field) -> Result<String, CompileError> {
        match field.datatype {
            DataType::Date | DataType::DateTime => Ok(sql.to_owned()),
            DataType::DateTimeTz => {
                self.zone()?;
                Ok(format!("({sql} AT TIME ZONE {})", text_literal(self.zone_name())))
            }
            _ => Err(CompileError::WrongType {
                field: field.words(),
                value: "A time".into(),
                wants: "it is no date or time".into(),
            }),
        }
    }

    /// A civil time of the ontology's zone, or a day there, as the instant that it is.
    pub(super) fn instant_of(&self, local: &str) -> String {
        format!("(CAST({local} AS TIMESTAMP) AT TIME ZONE {})", text_literal(self.zone_name()))
    }

    /// A field of time cut to a unit: the first day of it (of an hour its beginning), or its number in a cycle.
    pub(super) fn grained(&self, sql: &str, field: &Field, grain: Grain) -> Result<String, CompileError> {
        let local = self.local(sql, field)?;
        if field.datatype == DataType::Date && matches!(grain, Grain::Hour | Grain::HourOfDay) {
            return Err(CompileError::WrongType {
                field: field.words(),
                value: "An hour".into(),
                wants: "it holds days without a time".into(),
            });
        }
        let calendar = &self.ontology.calendar;
        let months = i64::from(calendar.fiscal_year_start.clamp(1, 12)) - 1;
        Ok(match grain {
            Grain::Hour => format!("date_trunc('hour', {local})"),
            Grain::Day if field.datatype == DataType::Date => local,
            Grain::Day => format!("CAST({local} AS DATE)"),
            Grain::Week => truncated("week", &local, i64::from(calendar.week_start.clamp(1, 7)) - 1, "days"),
            Grain::Month => truncated("month", &local, 0, "days"),
            Grain::Quarter => truncated("quarter", &local, 0, "days"),
            Grain::Year => truncated("year", &local, 0, "days"),
            Grain::FiscalQuarter => truncated("quarter", &local, months, "months"),
            Grain::FiscalYear => truncated("year", &local, months, "months"),
            Grain::HourOfDay => format!("CAST(EXTRACT(hour FROM {local}) AS INTEGER)"),
            Grain::DayOfWeek => format!("CAST(EXTRACT(isodow FROM {local}) AS INTEGER)"),
            Grain::DayOfMonth => format!("CAST(EXTRACT(day FROM {local}) AS INTEGER)"),
            Grain::MonthOfYear => format!("CAST(EXTRACT(month FROM {local}) AS INTEGER)"),
            Grain::QuarterOfYear => format!("CAST(EXTRACT(quarter FROM {local}) AS INTEGER)"),
        })
    }

    /// A condition that a field of time is in a window; `None` when the window is all of time.
    pub(super) fn within(&self, sql: &str, field: &Field, window: &Window) -> Result<Option<String>, CompileError> {
        self.local(sql, field)?;
        let (start, end) = bounds(window)?;
        let mut parts = Vec::new();
        if let Some(start) = start {
            parts.push(format!("{sql} >= {}", self.instant(start, field.datatype)?));
        }
        if let Some(end) = end {
            parts.push(format!("{sql} < {}", self.instant(end, field.datatype)?));
        }
        Ok((!parts.is_empty()).then(|| parts.join(" AND ")))
    }
}

/// Cut to a unit that begins later than the engine's by some days or months.
fn truncated(unit: &str, local: &str, shift: i64, of: &str) -> String {
    let at = format!("CAST({local} AS TIMESTAMP)");
    if shift == 0 {
        return format!("CAST(date_trunc('{unit}', {at}) AS DATE)");
    }
    let interval = format!("INTERVAL '{shift} {of}'");
    format!("CAST(date_trunc('{unit}', {at} - {interval}) + {interval} AS DATE)")
}

/// Both ends of a window.
pub(super) fn bounds(window: &Window) -> Result<(Option<DateTime>, Option<DateTime>), CompileError> {
    let read = |end: &Option<String>| match end {
        None => Ok(None),
        Some(value) => civil(value).map(|(at, _)| Some(at)).ok_or_else(|| {
            CompileError::Unsupported(format!("{value} is no time: write 2024-01-31 or 2024-01-31T10:00:00"))
        }),
    };
    let (start, end) = (read(&window.start)?, read(&window.end)?);
    if let (Some(start), Some(end)) = (start, end)
        && start >= end
    {
        return Err(CompileError::Unsupported(format!("the time from {start} to {end} is empty")));
    }
    Ok((start, end))
}

/// SQL that moves a grained time of the comparison's window to the same place in the plan's window.
pub(super) fn aligned(
    sql: &str,
    grain: Grain,
    comparison: &Comparison,
    window: Option<&Window>,
) -> Result<String, CompileError> {
    let grain = comparison.align.unwrap_or(grain);
    if grain.is_cycle() {
        return Ok(sql.to_owned());
    }
    let starts = (window.map(bounds).transpose()?.and_then(|(start, _)| start), bounds(&comparison.with)?.0);
    let (Some(now), Some(then)) = starts else {
        return Err(CompileError::Unsupported(
            "two times can be compared row by row only when both have a beginning".into(),
        ));
    };
    let months =
        (i64::from(now.year()) - i64::from(then.year())) * 12 + i64::from(now.month()) - i64::from(then.month());
    let days = i64::from(then.date().until((jiff::Unit::Day, now.date())).map_or(0, |span| span.get_days()));
    let unit = match grain {
        Grain::Month => 1,
        Grain::Quarter | Grain::FiscalQuarter => 3,
        Grain::Year | Grain::FiscalYear => 12,
        _ => 0,
    };
    Ok(match grain {
        _ if unit > 0 && months % unit == 0 => format!("CAST({sql} + INTERVAL '{months} months' AS DATE)"),
        Grain::Week => {
            let days = (days + if days < 0 { -3 } else { 3 }) / 7 * 7;
            format!("CAST({sql} + INTERVAL '{days} days' AS DATE)")
        }
        Grain::Day => format!("CAST({sql} + INTERVAL '{days} days' AS DATE)"),
        Grain::Hour => format!("{sql} + INTERVAL '{days} days'"),
        _ => {
            return Err(CompileError::Unsupported(format!(
                "the two times are {months} months apart, which does not match rows of {unit} months"
            )));
        }
    })
}
