//! Dates in figures: `2013-01-31`, `2013-07`, `2013-W07`, `31.12.2013`, `12/31/2013`.

use jiff::civil::{Date, DateTime, ISOWeekDate, Weekday};

use crate::engine::agent::time::span::{Span, Unit};
use crate::engine::agent::time::words::{short_year, year};
use crate::engine::agent::token::{Token, TokenKind};
use crate::model::plan::Window;

/// A date that is one day when its month comes first, and another when its day does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ambiguous {
    /// Position of the token.
    pub token: usize,
    /// Both days: the month first, then the day first.
    pub readings: [Window; 2],
}

/// The dates of a question that may be two days, such as `3/4/2013`. [`super::find`] finds none in them.
pub fn ambiguous(tokens: &[Token]) -> Vec<Ambiguous> {
    let mut found = Vec::new();
    for (at, token) in tokens.iter().enumerate().filter(|(_, token)| token.kind == TokenKind::Word) {
        if let Some([Some(month_first), Some(day_first)]) = in_two_orders(&token.norm).filter(|[a, b]| a != b) {
            let window = |date| Span::day(date).map(|span| span.window(Some(token.text.clone())));
            if let (Some(first), Some(second)) = (window(month_first), window(day_first)) {
                found.push(Ambiguous { token: at, readings: [first, second] });
            }
        }
    }
    found
}

/// A date in figures, when it can be only one.
pub(super) fn read(word: &str) -> Option<(Span, Option<Unit>)> {
    if let Some(span) = at_a_time(word) {
        return Some((span, None));
    }
    if let Some(week) = word.split_once("-w").or_else(|| word.split_once('w')) {
        return iso_week(year(week.0)?, week.1.parse().ok()?).map(|span| (span, Some(Unit::Week)));
    }
    let mark = word.chars().find(|c| !c.is_ascii_digit()).filter(|mark| matches!(mark, '-' | '/' | '.'))?;
    let parts: Vec<&str> = word.split(mark).collect();
    match parts.as_slice() {
        [first, month] if mark != '.' && year(first).is_some() && month.len() == 2 => {
            Some((Span::months(year(first)?, month.parse().ok()?, 1)?, Some(Unit::Month)))
        }
        [month, last] if mark == '/' && year(last).is_some() => {
            Some((Span::months(year(last)?, month.parse().ok()?, 1)?, Some(Unit::Month)))
        }
        [first, _, _] if year(first).is_some() => {
            let [year, month, day] = numbers(&parts)?;
            let date = Date::new(year, i8::try_from(month).ok()?, i8::try_from(day).ok()?).ok()?;
            Some((Span::day(date)?, Some(Unit::Day)))
        }
        [_, _, _] => {
            let date = match in_two_orders(word)? {
                [Some(month_first), Some(day_first)] => (month_first == day_first).then_some(day_first)?,
                [one, other] => one.or(other)?,
            };
            Some((Span::day(date)?, Some(Unit::Day)))
        }
        _ => None,
    }
}

/// The days of three numbers that end with a year: with the month first, and with the day first. With points the day
/// is always first.
fn in_two_orders(word: &str) -> Option<[Option<Date>; 2]> {
    let mark = word.chars().find(|c| !c.is_ascii_digit()).filter(|mark| matches!(mark, '-' | '/' | '.'))?;
    let parts: Vec<&str> = word.split(mark).collect();
    let [first, second, last] = parts.as_slice() else { return None };
    if first.len() > 2 || second.len() > 2 {
        return None;
    }
    let year = year(last).or_else(|| short_year(last))?;
    let (first, second) = (first.parse::<i8>().ok()?, second.parse::<i8>().ok()?);
    let month_first = (mark != '.').then(|| Date::new(year, first, second).ok()).flatten();
    Some([month_first, Date::new(year, second, first).ok()])
}

/// A day with a time: a minute, or a second when it has seconds.
fn at_a_time(word: &str) -> Option<Span> {
    let (day, time) = word.split_once('t')?;
    let start = read(day).filter(|(_, unit)| *unit == Some(Unit::Day))?.0.start.date();
    let numbers: Vec<i8> = time.split(':').map(|part| part.parse().ok()).collect::<Option<_>>()?;
    let (hour, minute, second) = match numbers.as_slice() {
        [hour, minute] => (*hour, *minute, None),
        [hour, minute, second] => (*hour, *minute, Some(*second)),
        _ => return None,
    };
    let time = jiff::civil::Time::new(hour, minute, second.unwrap_or(0), 0).ok()?;
    let start = DateTime::from_parts(start, time);
    let length = jiff::Span::new().try_seconds(if second.is_some() { 1 } else { 60 }).ok()?;
    Span::new(start, start.checked_add(length).ok()?)
}

/// A week of ISO 8601: from Monday on, the first with most of its days in the year.
pub(super) fn iso_week(year: i16, week: i8) -> Option<Span> {
    let monday = ISOWeekDate::new(year, week, Weekday::Monday).ok()?.date();
    Span::new(super::span::midnight(monday), Unit::Week.add(super::span::midnight(monday), 1)?)
}

fn numbers(parts: &[&str]) -> Option<[i16; 3]> {
    let numbers: Vec<i16> = parts.iter().map(|part| part.parse().ok()).collect::<Option<_>>()?;
    numbers.try_into().ok()
}
