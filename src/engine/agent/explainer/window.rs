//! Windows for people.

use jiff::civil::DateTime;

use crate::engine::agent::plan::window::{Span, midnight, read};
use crate::model::plan::Window;

/// A window in words: "2013", "Jul 2013", "31 Jan 2013", "1 Jan – 31 Mar 2013", "since 1 Jan 2013",
/// "before 1 Jan 2020", "all time". Both named days are part of it; "before" is not.
pub fn describe(window: &Window) -> String {
    let start = window.start.as_deref();
    let end = window.end.as_deref();
    match (start, end) {
        (None, None) => "all time".into(),
        (Some(start), None) => format!("since {}", read(start).map_or_else(|| start.to_owned(), moment)),
        (None, Some(end)) => format!("before {}", read(end).map_or_else(|| end.to_owned(), moment)),
        (Some(start), Some(end)) => Span::read(window).map_or_else(|| format!("{start} – before {end}"), stretch),
    }
}

fn moment(at: DateTime) -> String {
    if at == midnight(at.date()) { day(at) } else { format!("{} {}", day(at), time(at)) }
}

fn day(at: DateTime) -> String {
    at.strftime("%-d %b %Y").to_string()
}

fn time(at: DateTime) -> String {
    at.strftime(if at.second() == 0 { "%H:%M" } else { "%H:%M:%S" }).to_string()
}

fn stretch(span: Span) -> String {
    let Span { start, end } = span;
    if let Some(months) = span.whole_months() {
        if start.month() == 1 && months % 12 == 0 {
            let last = i32::from(start.year()) + months / 12 - 1;
            return if months == 12 { start.year().to_string() } else { format!("{} – {last}", start.year()) };
        }
        if months == 1 {
            return start.strftime("%b %Y").to_string();
        }
    }
    if start != midnight(start.date()) || end != midnight(end.date()) {
        let same_day = start.date() == end.date();
        let end = if same_day { time(end) } else { format!("{} {}", day(end), time(end)) };
        return format!("{} {} – {end}", day(start), time(start));
    }
    let Ok(last) = end.checked_sub(jiff::Span::new().days(1)) else { return day(start) };
    if last == start {
        day(start)
    } else if last.year() == start.year() {
        format!("{} – {}", start.strftime("%-d %b"), day(last))
    } else {
        format!("{} – {}", day(start), day(last))
    }
}
