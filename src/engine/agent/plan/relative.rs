//! Times that move with the time of asking. Who reads a question gives a window as it is now; how it lies to now is found
//! by having its words read at other times too, when a plan is kept. To renew it then needs nobody who reads words.

use jiff::civil::{Date, DateTime};

use super::window::{Span, Unit, iso_week, midnight, read, text};
use crate::model::ontology::Calendar;
use crate::model::plan::{Anchor, Moment, Relative, Step, Window};

/// Days after the time of asking at which the words are read too: every day of a week, the ends of months, all quarters,
/// leap years.
const LATER: [i64; 26] = [
    1, 2, 3, 4, 5, 6, 7, 9, 17, 31, 45, 75, 110, 150, 200, 250, 300, 340, 366, 500, 640, 731, 800, 1_100, 1_300, 1_500,
];

const UNITS: [Unit; 10] = [
    Unit::Day,
    Unit::Week,
    Unit::Month,
    Unit::Quarter,
    Unit::Half,
    Unit::Year,
    Unit::FiscalQuarter,
    Unit::FiscalHalf,
    Unit::FiscalYear,
    Unit::Hour,
];

/// How a window that was read at a time lies to that; `read` reads its words at another time. `None` where it does not
/// move, or where no moments are known that give what the words give at every time.
pub(in crate::engine::agent) fn relative(
    window: &Window,
    at: DateTime,
    calendar: &Calendar,
    read: impl Fn(DateTime) -> Option<Window>,
) -> Option<Relative> {
    let first = ends_of(window)?;
    if ends_of(&read(at)?)? != first {
        return None;
    }
    // A name in the calendar may be that of either end, or of what ended then: a day, a month, a quarter.
    let before = [(0, Unit::Day), (-1, Unit::Day), (-1, Unit::Month), (-1, Unit::Quarter)];
    let named = |end: DateTime| before.into_iter().filter_map(move |(count, unit)| unit.add(end, count));
    let names: Vec<Date> = [first.0, first.1].into_iter().flatten().flat_map(named).map(DateTime::date).collect();
    let mut ends = vec![(at, first)];
    for time in probes(at, &names) {
        ends.push((time, ends_of(&read(time)?)?));
    }
    if ends.iter().all(|(_, it)| *it == first) {
        return None;
    }
    let moment = |end: fn(&Ends) -> Option<DateTime>, beside: Option<&Moment>| -> Option<Option<Moment>> {
        if ends.iter().all(|(_, it)| end(it).is_none()) {
            return Some(None);
        }
        let seen: Vec<(DateTime, DateTime)> =
            ends.iter().map(|(time, it)| Some((*time, end(it)?))).collect::<Option<_>>()?;
        let fits = |moment: &Moment| seen.iter().all(|(time, end)| when(moment, *time, calendar) == Some(*end));
        let mut all = candidates(*seen.first()?, &names, calendar);
        // What begins with a name ends so long after it, and not with the next name that has begun.
        let is_name = |moment: &Moment| matches!(moment.from, Anchor::Day { .. } | Anchor::Week(_));
        let beside = beside.filter(|moment| is_name(moment));
        all.sort_by_key(|moment| beside.is_some_and(|beside| beside.from != moment.from));
        all.into_iter().find(fits).map(Some)
    };
    let start = moment(|it| it.0, None)?;
    let end = moment(|it| it.1, start.as_ref())?;
    Some(Relative { start, end })
}

/// Times after that of asking at which the words are read too, among them those around the names.
fn probes(at: DateTime, names: &[Date]) -> Vec<DateTime> {
    let mut found: Vec<DateTime> = LATER.iter().filter_map(|days| Unit::Day.add(at, *days)).collect();
    found.extend(Unit::Hour.add(at, 1));
    for name in names {
        for year in [at.year() + 1, at.year() + 2] {
            let Ok(day) = Date::new(year, name.month(), name.day()) else { continue };
            found.extend([-1, 0, 1].into_iter().filter_map(|days| Unit::Day.add(day.at(12, 0, 0, 0), days)));
        }
    }
    found
}

/// The window that it is at a time; `None` where the calendar has no such time.
pub(in crate::engine::agent) fn window_at(
    relative: &Relative,
    at: DateTime,
    calendar: &Calendar,
    phrase: Option<String>,
) -> Option<Window> {
    let end = |moment: &Option<Moment>| match moment {
        None => Some(None),
        Some(moment) => when(moment, at, calendar).map(|time| Some(text(time))),
    };
    let (start, end) = (end(&relative.start)?, end(&relative.end)?);
    Some(Window { start, end, phrase, relative: Some(relative.clone()) })
}

type Ends = (Option<DateTime>, Option<DateTime>);

/// `None` for what is no window.
fn ends_of(window: &Window) -> Option<Ends> {
    let end = |text: &Option<String>| match text {
        None => Some(None),
        Some(text) => read(text).map(Some),
    };
    Some((end(&window.start)?, end(&window.end)?))
}

/// When a moment is, seen from a time.
fn when(moment: &Moment, now: DateTime, calendar: &Calendar) -> Option<DateTime> {
    let from = match &moment.from {
        Anchor::At(time) => read(time)?,
        Anchor::Unit { unit, ahead } => unit.add(unit.start(now, calendar)?, *ahead)?,
        Anchor::Monday { ahead } => Unit::Week.add(monday(now)?, *ahead)?,
        Anchor::Day { month, day } => latest(now, |year| Date::new(year, *month, *day).ok().map(midnight))?,
        Anchor::Week(number) => latest(now, |year| iso_week(year, *number).map(|week: Span| week.start))?,
    };
    moment.then.iter().try_fold(from, |time, step| step.unit.add(time, step.count))
}

/// The latest of its years in which something has begun.
fn latest(now: DateTime, start: impl Fn(i16) -> Option<DateTime>) -> Option<DateTime> {
    // 29 February may be eight years back.
    (now.year() - 8..=now.year() + 1).rev().filter_map(start).find(|start| *start <= now)
}

fn monday(now: DateTime) -> Option<DateTime> {
    Unit::Day.add(midnight(now.date()), 1 - i64::from(now.weekday().to_monday_one_offset()))
}

/// Moments that are at `end`, seen from `now`: the plainest first.
fn candidates((now, end): (DateTime, DateTime), names: &[Date], calendar: &Calendar) -> Vec<Moment> {
    let mut found = vec![Moment { from: Anchor::At(text(end)), then: Vec::new() }];
    let mut add = |from: Anchor| {
        let Some(base) = when(&Moment { from: from.clone(), then: Vec::new() }, now, calendar) else { return };
        found.extend(steps(base, end).into_iter().map(|then| Moment { from: from.clone(), then }));
    };
    for unit in UNITS {
        let Some(ahead) = ahead(unit, now, end, calendar) else { continue };
        [ahead, ahead + 1].into_iter().for_each(|ahead| add(Anchor::Unit { unit, ahead }));
    }
    for date in names {
        add(Anchor::Day { month: date.month(), day: date.day() });
        add(Anchor::Week(date.iso_week_date().week()));
    }
    if let Some(monday) = monday(now) {
        let weeks = days(monday, end).div_euclid(7);
        [weeks, weeks + 1].into_iter().for_each(|ahead| add(Anchor::Monday { ahead }));
    }
    // What needs no steps is plainer than what does.
    found.sort_by_key(|moment| moment.then.len());
    found
}

/// How many units after the present one the unit is in which `end` lies.
fn ahead(unit: Unit, now: DateTime, end: DateTime, calendar: &Calendar) -> Option<i64> {
    let (this, that) = (unit.start(now, calendar)?, unit.start(end, calendar)?);
    Some(match unit.months() {
        Some(months) => this_months(this, that) / i64::from(months),
        None if unit == Unit::Hour => that.duration_since(this).as_hours(),
        None if unit == Unit::Week => days(this, that) / 7,
        None => days(this, that),
    })
}

fn this_months(from: DateTime, to: DateTime) -> i64 {
    i64::from(to.year() - from.year()) * 12 + i64::from(to.month()) - i64::from(from.month())
}

fn days(from: DateTime, to: DateTime) -> i64 {
    midnight(to.date()).duration_since(midnight(from.date())).as_hours() / 24
}

/// Ways from one time to another: none needed, months, days, or months and then days.
fn steps(from: DateTime, to: DateTime) -> Vec<Vec<Step>> {
    if from == to {
        return vec![Vec::new()];
    }
    let step = |count: i64, unit: Unit| Step { count, unit };
    let mut found = Vec::new();
    if from.time() != to.time() {
        let hours = to.duration_since(from).as_hours();
        return if Unit::Hour.add(from, hours) == Some(to) { vec![vec![step(hours, Unit::Hour)]] } else { found };
    }
    let months = this_months(from, to);
    found.extend((Unit::Month.add(from, months) == Some(to)).then(|| vec![step(months, Unit::Month)]));
    found.push(vec![step(days(from, to), Unit::Day)]);
    for months in [months, months - 1, months + 1] {
        if let Some(near) = Unit::Month.add(from, months).filter(|near| months != 0 && *near != to) {
            found.push(vec![step(months, Unit::Month), step(days(near, to), Unit::Day)]);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Engines;

    fn ends(window: &Window) -> (Option<&str>, Option<&str>) {
        (window.start.as_deref(), window.end.as_deref())
    }

    /// Kept at one time and renewed at others, a time is what its words say there.
    fn renewed_as_read(phrases: &[&str], calendar: &Calendar, asked: &str) {
        let languages = Engines::languages();
        let at = |phrase: &str, time: DateTime| match languages.windows(phrase, time, calendar).as_slice() {
            [only] => Some(only.clone()),
            _ => None,
        };
        let asked: DateTime = asked.parse().unwrap();
        for phrase in phrases {
            let window = at(phrase, asked).unwrap_or_else(|| panic!("{phrase} is no time"));
            let found = relative(&window, asked, calendar, |time| at(phrase, time));
            let found = found.unwrap_or_else(|| panic!("{phrase} does not move"));
            let kept: Relative = serde_json::from_str(&serde_json::to_string(&found).unwrap()).unwrap();
            for later in [
                "2026-11-22T23:30:00", "2027-01-01T00:00:00", "2027-02-28T12:00:00", "2027-03-24T08:15:00",
                "2027-07-04T12:00:00", "2028-02-29T09:00:00", "2029-07-31T17:45:00", "2030-10-06T06:00:00",
                "2031-12-31T23:59:00",
            ] {
                let later: DateTime = later.parse().unwrap();
                let anew = at(phrase, later).unwrap();
                let renewed = window_at(&kept, later, calendar, None).unwrap();
                assert_eq!(ends(&renewed), ends(&anew), "{phrase} at {later}: {kept:?}");
            }
        }
    }

    const KINDS: &[&str] = &[
        // So many units, and the one of now.
        "today",
        "yesterday",
        "the day before yesterday",
        "last 7 days",
        "past 36 hours",
        "last week",
        "previous 3 weeks",
        "this month",
        "last 12 months",
        "next quarter",
        "this year",
        "2 years ago",
        "3 months ago",
        "last fiscal year",
        "this fiscal quarter",
        // To date.
        "year to date",
        "month to date",
        "this quarter so far",
        // Open at one side.
        "since last month",
        "since yesterday",
        "before this year",
        "until last week",
        "after last quarter",
        "since the start of the year",
        // From one to the other.
        "from last month to yesterday",
        "from 2013 to now",
        "between March and May",
        "from March 5 to April 10",
        // Names without a year.
        "in January",
        "Q3",
        "July 4",
        "since March",
        "until June",
        "christmas day",
        "in week 12",
        // By turn.
        "last January",
        "next May",
        "this August",
        "last weekend",
        // Parts of others.
        "Q1 of last year",
        "March of last year",
        "the first week of last month",
        "the last 3 days of last month",
        "the first half of last year",
        "3 months before last month",
    ];

    #[test]
    fn each_kind_of_time_that_is_kept_is_renewed_as_its_words_are_read() {
        let (plain, other) =
            (Calendar::default(), Calendar { week_start: 7, fiscal_year_start: 4, ..Calendar::default() });
        for calendar in [&plain, &other] {
            renewed_as_read(KINDS, calendar, "2026-11-22T10:30:00");
            renewed_as_read(KINDS, calendar, "2027-03-31T23:30:00");
        }
    }

    #[test]
    fn a_time_that_does_not_move_is_not_kept_as_one_that_does() {
        let (languages, calendar) = (Engines::languages(), Calendar::default());
        let now: DateTime = "2026-11-22T10:30:00".parse().unwrap();
        for phrase in ["July 2013", "since 2013", "2013-07-04", "all time"] {
            let at = |time: DateTime| languages.windows(phrase, time, &calendar).into_iter().next();
            assert_eq!(relative(&at(now).unwrap(), now, &calendar, at), None, "{phrase}");
        }
        // What was read as another time than its words say is left as it is.
        let window = Window { start: Some("2020-01-01".into()), ..Window::default() };
        let at = |time: DateTime| languages.windows("last month", time, &calendar).into_iter().next();
        assert_eq!(relative(&window, now, &calendar, at), None);
    }
}
