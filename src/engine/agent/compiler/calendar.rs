//! Times cut to units of the calendar, and windows of time.

use jiff::civil::{Date, DateTime};

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
                Ok(self.dialect.local(sql, &text_literal(self.zone_name())))
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
        self.dialect.instant(local, &text_literal(self.zone_name()))
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
        let dialect = self.dialect;
        let number = |part: &str| format!("CAST({} AS INTEGER)", dialect.part(part, &local));
        let months = i64::from(calendar.fiscal_year_start.clamp(1, 12)) - 1;
        Ok(match grain {
            Grain::Hour => format!("date_trunc('hour', {local})"),
            Grain::Day if field.datatype == DataType::Date => local,
            Grain::Day => dialect.day(&local),
            Grain::Week => dialect.first_day("week", &local, i64::from(calendar.week_start.clamp(1, 7)) - 1, "days"),
            Grain::Month => dialect.first_day("month", &local, 0, "days"),
            Grain::Quarter => dialect.first_day("quarter", &local, 0, "days"),
            Grain::Year => dialect.first_day("year", &local, 0, "days"),
            Grain::FiscalQuarter => dialect.first_day("quarter", &local, months, "months"),
            Grain::FiscalYear => dialect.first_day("year", &local, months, "months"),
            Grain::HourOfDay => number("hour"),
            Grain::DayOfWeek => number("isodow"),
            Grain::DayOfMonth => number("day"),
            Grain::MonthOfYear => number("month"),
            Grain::QuarterOfYear => number("quarter"),
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

impl Work<'_> {
    /// SQL that moves a grained time of the comparison's window to the same place in the plan's window.
    pub(super) fn aligned(
        &self,
        sql: &str,
        grain: Grain,
        comparison: &Comparison,
        window: Option<&Window>,
    ) -> Result<String, CompileError> {
        let grain = comparison.align.unwrap_or(grain);
        if grain.is_cycle() {
            return Ok(sql.to_owned());
        }
        let (now, then) = beginnings(comparison, window)?;
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
            _ if unit > 0 && months % unit == 0 => self.dialect.day(&format!("{sql} + INTERVAL '{months} months'")),
            Grain::Week => {
                let days = (days + if days < 0 { -3 } else { 3 }) / 7 * 7;
                self.dialect.day(&format!("{sql} + INTERVAL '{days} days'"))
            }
            Grain::Day if is_same_date(now, then) => self.dialect.day(&format!("{sql} + INTERVAL '{months} months'")),
            Grain::Hour if is_same_date(now, then) => format!("{sql} + INTERVAL '{months} months'"),
            Grain::Day => self.dialect.day(&format!("{sql} + INTERVAL '{days} days'")),
            Grain::Hour => format!("{sql} + INTERVAL '{days} days'"),
            _ => {
                return Err(CompileError::Unsupported(format!(
                    "the two times are {months} months apart, which does not match rows of {unit} months"
                )));
            }
        })
    }
}

/// When the plan's window begins, and the comparison's.
fn beginnings(comparison: &Comparison, window: Option<&Window>) -> Result<(DateTime, DateTime), CompileError> {
    match (window.map(bounds).transpose()?.and_then(|(start, _)| start), bounds(&comparison.with)?.0) {
        (Some(now), Some(then)) => Ok((now, then)),
        _ => Err(CompileError::Unsupported(
            "two times can be compared row by row only when both have a beginning".into(),
        )),
    }
}

/// Whether two times are some years apart, so that the days after one are those after the other that have their dates:
/// from a leap day on they are not as many days later.
fn is_same_date(now: DateTime, then: DateTime) -> bool {
    (now.month(), now.day(), now.time()) == (then.month(), then.day(), then.time())
}

/// Whether days or hours of the comparison's window are found by their dates, and a 29 February is among them that the
/// plan's window does not have: it is put on the 28th.
pub(super) fn moves_leap_day(
    grain: Grain,
    comparison: &Comparison,
    window: Option<&Window>,
) -> Result<bool, CompileError> {
    if !matches!(comparison.align.unwrap_or(grain), Grain::Day | Grain::Hour) {
        return Ok(false);
    }
    let (now, then) = beginnings(comparison, window)?;
    let end = bounds(&comparison.with)?.1.unwrap_or(then);
    let later = now.year() - then.year();
    let leap_day = |year: i16| Date::new(year, 2, 29).ok();
    let is_within = |day: Date| then.date() <= day && day.at(0, 0, 0, 0) < end;
    let is_moved = |year: i16| leap_day(year).is_some_and(is_within) && leap_day(year + later).is_none();
    Ok(is_same_date(now, then) && (then.year()..=end.year()).any(is_moved))
}
