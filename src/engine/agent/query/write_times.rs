//! Stretches of time, written.

use jiff::civil::Date;

use super::comparison::is_beside;
use super::times::alone;
use super::words::{counted, grain_words, unit_words};
use crate::engine::agent::plan::window::{Span, read};
use crate::model::ontology::Ontology;
use crate::model::plan::{Anchor, Comparison, Moment, Relative, TimeUnit, Window};
use crate::model::source::text_literal;

/// A window: by the calendar where it lies still, by how it lies to the time of asking where it moves, and with the
/// words that it was made from where those are others.
pub(super) fn window(window: &Window, ontology: &Ontology) -> String {
    let phrase = window.phrase.as_deref().unwrap_or_default();
    let Some(relative) = moving(window) else { return labelled(still(window), phrase) };
    let own = in_words(relative).unwrap_or_else(|| in_full(relative));
    if phrase.is_empty() {
        return format!("{own} as ''");
    }
    let says_it = |read: Window| read.relative.as_ref() == Some(relative) && read.phrase.as_deref() == Some(phrase);
    if alone(phrase, ontology).is_some_and(says_it) { phrase.to_owned() } else { labelled(own, phrase) }
}

/// The window of a comparison, in words that do not mean one beside the query's own.
pub(super) fn compared_with(comparison: &Comparison, ontology: &Ontology) -> String {
    let mut written = window(&comparison.with, ontology);
    if let Some(relative) = moving(&comparison.with).filter(|_| is_beside(&written)) {
        written =
            format!("{} as {}", in_full(relative), text_literal(comparison.with.phrase.as_deref().unwrap_or_default()));
    }
    match comparison.align {
        Some(grain) => format!("{written} by {}", grain_words(grain)),
        None => written,
    }
}

fn moving(window: &Window) -> Option<&Relative> {
    window.relative.as_ref().filter(|it| it.start.is_some() || it.end.is_some())
}

fn labelled(written: String, phrase: &str) -> String {
    if phrase.is_empty() { written } else { format!("{written} as {}", text_literal(phrase)) }
}

/// A window that does not move.
fn still(window: &Window) -> String {
    let day = |at: &str| at.parse::<Date>().ok().filter(|_| at.len() == 10);
    match (window.start.as_deref(), window.end.as_deref()) {
        (None, None) => "all time".to_owned(),
        (Some(start), None) => format!("since {start}"),
        (None, Some(end)) => format!("before {end}"),
        (Some(start), Some(end)) => match (day(start), day(end)) {
            (Some(first), Some(after)) => match after.yesterday() {
                Ok(last) if last >= first => named(window).unwrap_or_else(|| format!("{first} to {last}")),
                _ => format!("{start} to before {end}"),
            },
            (_, Some(_)) => format!("{start} to before {end}"),
            _ => format!("{start} to {end}"),
        },
    }
}

/// A year, a quarter, a month or a day by its name.
fn named(window: &Window) -> Option<String> {
    let Span { start, end } = Span::read(window)?;
    let (year, month) = (start.year(), start.month());
    // What has other than four digits is no date in figures.
    if !(1000..=9999).contains(&year) {
        return None;
    }
    let span = Span { start, end };
    Some(match span.whole_months() {
        Some(12) if month == 1 => year.to_string(),
        Some(3) if month % 3 == 1 => format!("{year}-Q{}", (month + 2) / 3),
        Some(1) => format!("{year}-{month:02}"),
        _ if Span::day(start.date()) == Some(span) => start.date().to_string(),
        _ => return None,
    })
}

/// A moving window as people say it.
fn in_words(relative: &Relative) -> Option<String> {
    let plain = |moment: &Option<Moment>| match moment {
        Some(Moment { from: Anchor::Unit { unit, ahead }, then }) if then.is_empty() => Some((*unit, *ahead)),
        _ => None,
    };
    let ((unit, from), (other, to)) = (plain(&relative.start)?, plain(&relative.end)?);
    let (one, _) = unit_words(unit);
    let count = |count: i64| match count.unsigned_abs() {
        1 => one.to_owned(),
        several => counted(several, unit),
    };
    if unit != other {
        let to_date = from == 0 && other == TimeUnit::Day && to == 1;
        return to_date.then(|| format!("{one} to date"));
    }
    match (unit, from, to) {
        (TimeUnit::Day, 0, 1) => Some("today".into()),
        (TimeUnit::Day, -1, 0) => Some("yesterday".into()),
        (TimeUnit::Day, 1, 2) => Some("tomorrow".into()),
        (_, 0, 1) => Some(format!("this {one}")),
        (_, _, 0) if from < 0 => Some(format!("last {}", count(from))),
        (_, 1, _) if to > 1 => Some(format!("next {}", count(to - 1))),
        _ if from < 0 && from.checked_add(1) == Some(to) => Some(format!("{} ago", counted(from.unsigned_abs(), unit))),
        _ => None,
    }
}

/// A moving window by both its ends.
fn in_full(relative: &Relative) -> String {
    match (&relative.start, &relative.end) {
        (Some(start), Some(end)) => format!("{} to before {}", moment(start), moment(end)),
        (Some(start), None) => format!("since {}", moment(start)),
        (None, Some(end)) => format!("before {}", moment(end)),
        (None, None) => "all time".to_owned(),
    }
}

fn moment(moment: &Moment) -> String {
    let mut written = match &moment.from {
        Anchor::At(at) => read(at).map_or_else(|| text_literal(at), |_| at.clone()),
        Anchor::Unit { unit, ahead } => format!("start of {}", counted_from_now(*unit, *ahead)),
        Anchor::Monday { ahead } => format!("monday of {}", counted_from_now(TimeUnit::Week, *ahead)),
        Anchor::Day { month, day } => format!("latest {month:02}-{day:02}"),
        Anchor::Week(number) => format!("latest W{number:02}"),
    };
    for step in &moment.then {
        let sign = if step.count < 0 { '-' } else { '+' };
        written.push_str(&format!(" {sign} {}", counted(step.count.unsigned_abs(), step.unit)));
    }
    written
}

/// The unit that is so many after the present one.
fn counted_from_now(unit: TimeUnit, ahead: i64) -> String {
    let (one, _) = unit_words(unit);
    match ahead {
        0 => format!("this {one}"),
        -1 => format!("last {one}"),
        1 => format!("next {one}"),
        ..0 => format!("{} ago", counted(ahead.unsigned_abs(), unit)),
        _ => format!("{} ahead", counted(ahead.unsigned_abs(), unit)),
    }
}
