//! Dates in figures: `2013-01-31`, `2013-07`, `2013-W07`, `31.12.2013`, `12/31/2013`.

use jiff::civil::{Date, DateTime};

use crate::engine::agent::english::time::words::{short_year, year};
use crate::engine::agent::plan::window::{Span, Unit, iso_week};

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

fn numbers(parts: &[&str]) -> Option<[i16; 3]> {
    let numbers: Vec<i16> = parts.iter().map(|part| part.parse().ok()).collect::<Option<_>>()?;
    numbers.try_into().ok()
}
