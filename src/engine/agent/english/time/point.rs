//! Named stretches of the calendar: years, quarters, months, days, weeks, also without their year.

use jiff::civil::{Date, DateTime};

use crate::engine::agent::english::time::phrase::Phrases;
use crate::engine::agent::english::time::words::{is_doubtful, month, short_year, weekday, year};
use crate::engine::agent::english::time::written;
use crate::engine::agent::plan::window::{Span, Unit, iso_week};
use crate::model::ontology::Calendar;

/// A name in the calendar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Named {
    /// Known to both ends.
    Span(Span),
    /// So many months of a year, after as many: quarters, halves, months.
    Months {
        skip: i32,
        count: i32,
        fiscal: bool,
        year: Option<i16>,
    },
    Day {
        month: i8,
        day: i8,
        year: Option<i16>,
    },
    Week {
        number: i8,
        year: Option<i16>,
    },
}

/// A name with what is known of its words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Point {
    pub named: Named,
    /// The place after it.
    pub to: usize,
    pub unit: Option<Unit>,
    /// Whether its words are usually something else, so that a preposition is needed.
    pub doubtful: bool,
    /// Whether it is four digits and no more.
    pub bare_number: bool,
}

impl Point {
    pub(super) fn span(span: Span, unit: Option<Unit>, to: usize) -> Self {
        Point { named: Named::Span(span), to, unit, doubtful: false, bare_number: false }
    }
}

impl Named {
    pub(super) fn year(self) -> Option<i16> {
        match self {
            Named::Span(_) => None,
            Named::Months { year, .. } | Named::Day { year, .. } | Named::Week { year, .. } => year,
        }
    }

    pub(super) fn lacks_year(self) -> bool {
        !matches!(self, Named::Span(_)) && self.year().is_none()
    }

    /// The same of a year.
    pub(super) fn of(self, other: i16) -> Named {
        match self {
            Named::Span(_) => self,
            Named::Months { skip, count, fiscal, .. } => Named::Months { skip, count, fiscal, year: Some(other) },
            Named::Day { month, day, .. } => Named::Day { month, day, year: Some(other) },
            Named::Week { number, .. } => Named::Week { number, year: Some(other) },
        }
    }

    /// In a year, when it has none of its own.
    pub(super) fn within(self, other: i16, calendar: &Calendar) -> Option<Span> {
        match self {
            Named::Span(span) => Some(span),
            Named::Months { skip, count, fiscal: true, year } => {
                Span::fiscal(year.unwrap_or(other), skip, count, calendar)
            }
            Named::Months { skip, count, fiscal: false, year } => {
                Span::months(year.unwrap_or(other), i8::try_from(skip + 1).ok()?, count)
            }
            Named::Day { month, day, year } => Span::day(Date::new(year.unwrap_or(other), month, day).ok()?),
            Named::Week { number, year } => iso_week(year.unwrap_or(other), number),
        }
    }

    /// With its own year, or else the latest that has begun.
    pub(super) fn latest(self, now: DateTime, calendar: &Calendar) -> Option<Span> {
        if let Named::Span(span) = self {
            return Some(span);
        }
        if let Some(year) = self.year() {
            return self.within(year, calendar);
        }
        // A fiscal year may be one ahead; 29 February may be eight years back.
        (now.year() - 8..=now.year() + 1)
            .rev()
            .filter_map(|year| self.within(year, calendar))
            .find(|span| span.start <= now)
    }

    /// With its own year, or else the first that ends after a time.
    pub(super) fn first_after(self, time: DateTime, calendar: &Calendar) -> Option<Span> {
        if let Some(year) = self.year() {
            return self.within(year, calendar);
        }
        (time.year() - 1..=time.year() + 8).filter_map(|year| self.within(year, calendar)).find(|span| span.end > time)
    }
}

impl Phrases<'_> {
    /// The longest name that begins at a word.
    pub(super) fn point(&self, at: usize) -> Option<Point> {
        longer(self.name(at), longer(self.week(at), self.within_another(at)))
    }

    /// A name that is not made of another, so that nobody can nest them without end.
    fn name(&self, at: usize) -> Option<Point> {
        let kinds: [fn(&Self, usize) -> Option<Point>; 8] = [
            Self::relative,
            Self::holiday,
            Self::written,
            Self::fiscal_year,
            Self::part,
            Self::month_or_day,
            Self::day_then_month,
            Self::plain_year,
        ];
        kinds.iter().fold(None, |longest, kind| longer(longest, kind(self, at)))
    }

    fn written(&self, at: usize) -> Option<Point> {
        if self.words.at(at).ends_with('s')
            && let Some(decade) = year(self.words.at(at).trim_end_matches('s')).filter(|year| year % 10 == 0)
        {
            return Some(Point::span(Span::months(decade, 1, 120)?, Some(Unit::Year), at + 1));
        }
        let (span, unit) = written::read(self.words.at(at))?;
        Some(Point::span(span, unit, at + 1))
    }

    /// Whether "of" and a name or unit follow, so that what is before is a part of that.
    pub(super) fn of_another(&self, at: usize) -> bool {
        let place = self.words.skip(at + 1, &["the", "each", "every", "a", "this", "that"]);
        let word = self.words.at(place);
        // By the first word: names within names would be looked up without end.
        let named = month(word).is_some() || year(word).is_some() || written::read(word).is_some();
        let told = named || self.words.any(place, &["last", "previous", "next", "current"]);
        self.words.at(at) == "of" && (told || self.unit(place).is_some())
    }

    /// `2013`, `'13`, `year 2013`, `calendar year 2013`.
    fn plain_year(&self, at: usize) -> Option<Point> {
        if let Some(year) = self.words.at(at).strip_prefix('\'').and_then(short_year) {
            let named = Named::Months { skip: 0, count: 12, fiscal: false, year: Some(year) };
            return Some(Point { named, to: at + 1, unit: Some(Unit::Year), doubtful: true, bare_number: false });
        }
        let named = self.words.after_any(at, &["year", "calendar year", "the year"]);
        let place = named.unwrap_or(at);
        let year = year(self.words.at(place))?;
        let mut point = Point::span(Span::months(year, 1, 12)?, Some(Unit::Year), place + 1);
        point.bare_number = named.is_none();
        point.named = Named::Months { skip: 0, count: 12, fiscal: false, year: Some(year) };
        Some(point)
    }

    /// `FY24`, `FY 2024`, `FY2023/24`, `fiscal 2024`, `financial year 2024`.
    fn fiscal_year(&self, at: usize) -> Option<Point> {
        let (year, to) = self.fiscal_number(at)?;
        let named = Named::Months { skip: 0, count: 12, fiscal: true, year: Some(year) };
        let year = Point { named, to, unit: Some(Unit::FiscalYear), doubtful: false, bare_number: false };
        // "FY24 Q2"
        let Some((unit, number, None, to)) = self.part_name(to) else { return Some(year) };
        let Named::Months { year: number_of_year, .. } = year.named else { return Some(year) };
        Self::part_of(unit, number, true, number_of_year, to)
    }

    fn fiscal_number(&self, at: usize) -> Option<(i16, usize)> {
        let number = |word: &str| {
            // "2023/24" is named by its end.
            let end = match word.split_once('/') {
                Some((first, last)) => {
                    let first = year(first).or_else(|| short_year(first))?;
                    let last = year(last).or_else(|| short_year(last))?;
                    return (last == first + 1).then_some(last);
                }
                None => word.trim_start_matches(['\'', '\u{2019}']),
            };
            year(end).or_else(|| short_year(end))
        };
        if let Some(place) = self.words.after_any(at, &["fiscal year", "fiscal", "financial year", "fy"]) {
            let long =
                year(self.words.at(place)).is_some() || self.words.at(at) == "fy" || self.words.at(place).len() > 2;
            return number(self.words.at(place)).filter(|_| long).map(|year| (year, place + 1));
        }
        number(self.words.at(at).strip_prefix("fy")?).map(|year| (year, at + 1))
    }

    /// The year after a part of it: `2013`, `'13`, `of 2013`, `, 2013`, `last year`, `of FY24`. Whether it is a fiscal
    /// one, and the place after it.
    fn year_of(&self, at: usize) -> Option<(i16, bool, usize)> {
        let place = self.words.skip(at, &[",", "of", "in", "/"]);
        if let Some(to) = self.this_year(place).filter(|_| place > at) {
            return Some((self.now.year(), false, to));
        }
        let place = self.words.skip(place, &["the"]);
        if let Some((year, to)) = self.fiscal_number(place) {
            return Some((year, true, to));
        }
        let place = self.words.skip(place, &["year"]);
        let word = self.words.at(place);
        if let Some(year) = year(word).or_else(|| word.strip_prefix('\'').and_then(short_year)) {
            return Some((year, false, place + 1));
        }
        let back = match word {
            "last" | "previous" | "prior" => -1,
            "this" | "current" => 0,
            "next" => 1,
            _ => return None,
        };
        let fiscal = self.words.any(place + 1, &["fiscal", "financial"]);
        let to = place + 1 + usize::from(fiscal);
        if self.words.at(to) != "year" {
            return None;
        }
        let unit = if fiscal { Unit::FiscalYear } else { Unit::Year };
        let span = unit.around(self.now, back, back + 1, self.calendar)?;
        let last = span.end.checked_sub(jiff::Span::new().days(1)).ok()?;
        Some((last.year(), fiscal, to + 1))
    }

    /// "the year" and no other: the place after it.
    fn this_year(&self, at: usize) -> Option<usize> {
        let to = self.words.after(at, "the year")?;
        let another = year(self.words.at(to)).is_some() || self.words.any(to, &["before", "after", "to"]);
        (!another).then_some(to)
    }

    /// A quarter or half: unit, number, year when it is written onto it, and the place after.
    fn part_name(&self, at: usize) -> Option<(Unit, u32, Option<i16>, usize)> {
        let word = self.words.at(at);
        if let Some((unit, number, year)) = part_code(word) {
            return Some((unit, number, year, at + 1));
        }
        // "Quarter 3", "third quarter"
        let noun = |word: &str| match word {
            "quarter" => Some((Unit::Quarter, 4)),
            "half" => Some((Unit::Half, 2)),
            _ => None,
        };
        if let Some((unit, most)) = noun(word)
            && let Some((number, to)) = self.words.count(at + 1)
        {
            return (number <= most).then_some((unit, number, None, to));
        }
        let (number, place) = self.words.ordinal(at)?;
        let place = self.words.skip(place, &["fiscal", "financial", "calendar"]);
        let (unit, most) = noun(self.words.at(place))?;
        (number <= most).then_some((unit, number, None, place + 1))
    }

    fn part(&self, at: usize) -> Option<Point> {
        // "2013 Q3"
        if let Some(year) = year(self.words.at(at))
            && let Some((unit, number, None, to)) = self.part_name(at + 1)
            && part_code(self.words.at(at + 1)).is_some()
        {
            return Self::part_of(unit, number, false, year.into(), to);
        }
        let first = self.words.skip(at, &["fiscal", "financial"]);
        let (unit, number, written, to) = self.part_name(first)?;
        let fiscal = first > at || (first..to).any(|at| self.words.any(at, &["fiscal", "financial"]));
        if written.is_some() {
            return Self::part_of(unit, number, fiscal, written, to);
        }
        match self.year_of(to) {
            Some((year, fiscal_year, to)) => Self::part_of(unit, number, fiscal || fiscal_year, Some(year), to),
            // "The first half of March"
            None if self.of_another(to) => None,
            None => Self::part_of(unit, number, fiscal, None, to),
        }
    }

    fn part_of(unit: Unit, number: u32, fiscal: bool, year: Option<i16>, to: usize) -> Option<Point> {
        let unit = if fiscal { unit.fiscal()? } else { unit };
        let count = unit.months()?;
        let skip = i32::try_from(number.checked_sub(1)?).ok()? * count;
        let named = Named::Months { skip, count, fiscal, year };
        // "The first half" may be one of anything.
        let doubtful = year.is_none() && matches!(unit, Unit::Half | Unit::FiscalHalf);
        Some(Point { named, to, unit: Some(unit), doubtful, bare_number: false })
    }

    /// `March`, `March 2013`, `March 4`, `March 4th, 2013`.
    fn month_or_day(&self, at: usize) -> Option<Point> {
        let place = self.words.after_any(at, &["month of", "the month of"]).unwrap_or(at);
        let name = self.words.at(place);
        let number = month(name)?;
        let mut to = place + 1;
        if name.len() <= 4 && name != "may" && self.words.at(to) == "." && !self.words.ends(to) {
            to += 1;
        }
        if let Some((day, after)) = self.day(to) {
            return self.day_of(number, day, after);
        }
        let mut doubtful = is_doubtful(name) && place == at;
        let mut year = None;
        if let Some((found, false, after)) = self.year_of(to) {
            (year, to, doubtful) = (Some(found), after, false);
        } else if let Some(found) = short_year(self.words.at(to)).filter(|_| self.is_over(to + 1)) {
            // "July 98": no month has so many days.
            (year, to, doubtful) = (Some(found), to + 1, false);
        }
        let named = Named::Months { skip: i32::from(number) - 1, count: 1, fiscal: false, year };
        Some(Point { named, to, unit: Some(Unit::Month), doubtful, bare_number: false })
    }

    /// `Christmas Day`, `New Year's Eve 2013`: days whose date is the same in every year. A holiday that moves, or that
    /// is on another day elsewhere, is none.
    fn holiday(&self, at: usize) -> Option<Point> {
        const DAYS: [(&str, i8, i8); 8] = [
            ("christmas day", 12, 25),
            ("christmas eve", 12, 24),
            ("boxing day", 12, 26),
            ("new year day", 1, 1),
            ("new years day", 1, 1),
            ("new year eve", 12, 31),
            ("new years eve", 12, 31),
            ("valentine day", 2, 14),
        ];
        let place = self.words.skip(at, &["the"]);
        let (to, month, day) =
            DAYS.iter().find_map(|(words, month, day)| Some((self.words.after(place, words)?, *month, *day)))?;
        self.day_of(month, day, to)
    }

    /// `4 March`, `the 4th of March 2013`.
    fn day_then_month(&self, at: usize) -> Option<Point> {
        let place = self.words.skip(at, &["the"]);
        let (day, place) = self.day(place)?;
        let place = self.words.skip(place, &["of"]);
        let name = self.words.at(place);
        let point = self.day_of(month(name)?, day, place + 1)?;
        Some(Point { doubtful: is_doubtful(name) && point.named.year().is_none(), ..point })
    }

    /// A day's number, and the place after it.
    pub(super) fn day(&self, at: usize) -> Option<(i8, usize)> {
        let word = self.words.at(at);
        let digits = word.len() <= 2 && word.bytes().all(|b| b.is_ascii_digit());
        let day = if digits { word.parse().ok()? } else { self.words.ordinal(at).filter(|(_, to)| *to == at + 1)?.0 };
        i8::try_from(day).ok().filter(|day| (1..=31).contains(day)).map(|day| (day, at + 1))
    }

    fn day_of(&self, month: i8, day: i8, to: usize) -> Option<Point> {
        let (year, to) = match self.year_of(to) {
            Some((year, false, to)) => (Some(year), to),
            _ => (None, to),
        };
        // A leap year has every day that there is.
        Date::new(year.unwrap_or(2000), month, day).ok()?;
        let named = Named::Day { month, day, year };
        Some(Point { named, to, unit: Some(Unit::Day), doubtful: false, bare_number: false })
    }

    /// `week 7`, `week 7 of 2013`, `W07 2013`, `week of March 4`, `Monday`, `last Friday`.
    fn week(&self, at: usize) -> Option<Point> {
        if let Some(place) = self.words.after_any(at, &["week of", "the week of", "week of the", "week beginning"]) {
            let day = self.name(place).filter(|point| point.unit == Some(Unit::Day))?;
            let start = day.named.latest(self.now, self.calendar)?.start;
            return Some(Point::span(Unit::Week.around(start, 0, 1, self.calendar)?, Some(Unit::Week), day.to));
        }
        if let Some(point) = self.weekday(at) {
            return Some(point);
        }
        let (number, to) = match self.words.at(at).strip_prefix('w').filter(|digits| digits.len() == 2) {
            Some(digits) => (digits.parse().ok()?, at + 1),
            None => {
                let place = self.words.after_any(at, &["week", "calendar week"])?;
                let (number, to) = self.words.count(place)?;
                (i8::try_from(number).ok()?, to)
            }
        };
        let (year, to) = match self.year_of(to) {
            Some((year, false, to)) => (Some(year), to),
            _ => (None, to),
        };
        iso_week(year.unwrap_or(2004), number)?;
        let named = Named::Week { number, year };
        Some(Point { named, to, unit: Some(Unit::Week), doubtful: false, bare_number: false })
    }

    /// The latest of its name: with "last" before today, otherwise today too. Without a preposition it may mean every
    /// such day.
    fn weekday(&self, at: usize) -> Option<Point> {
        let past = self.words.any(at, &["last", "past", "previous"]);
        let next = self.words.at(at) == "next";
        let place = at + usize::from(past || next);
        let wanted = i64::from(weekday(self.words.at(place))?);
        let today = i64::from(self.now.weekday().to_monday_one_offset());
        let ahead = (wanted - today).rem_euclid(7);
        let days = match (next, past) {
            (true, _) => {
                if ahead == 0 {
                    7
                } else {
                    ahead
                }
            }
            (_, true) => ahead - 7,
            _ => {
                if ahead == 0 {
                    0
                } else {
                    ahead - 7
                }
            }
        };
        let span = Unit::Day.around(self.now, days, days + 1, self.calendar)?;
        let doubtful = !(past || next);
        Some(Point { doubtful, ..Point::span(span, Some(Unit::Day), place + 1) })
    }

    /// `first month of 2013`, `last quarter of 2013`, `first 10 days of March`, `last 2 months of last year`. Weeks are
    /// seven days from the first day on, or up to the last.
    fn within_another(&self, at: usize) -> Option<Point> {
        let place = self.words.skip(at, &["the"]);
        let (nth, count, place) = if self.words.any(place, &["last", "final"]) {
            let (count, to) = self.words.count(place + 1).unwrap_or((1, place + 1));
            (None, count, to)
        } else {
            let (nth, to) = self.words.ordinal(place)?;
            let (count, to) = self.words.count(to).filter(|_| nth == 1).unwrap_or((1, to));
            (Some(nth), count, to)
        };
        let unit = crate::engine::agent::english::time::words::unit(self.words.at(place))?;
        if !matches!(unit, Unit::Day | Unit::Week | Unit::Month | Unit::Quarter)
            || !self.words.any(place + 1, &["of", "in"])
        {
            return None;
        }
        let (span, to) = match self.this_year(place + 2) {
            Some(to) => (Span::months(self.now.year(), 1, 12)?, to),
            None => {
                let whole = self.name(self.words.skip(place + 2, &["the"]))?;
                (whole.named.latest(self.now, self.calendar)?, whole.to)
            }
        };
        let count = i64::from(count);
        let found = match nth {
            Some(nth) => {
                let start = unit.add(span.start, i64::from(nth) - 1)?;
                Span::new(start, unit.add(start, count)?)?
            }
            None => Span::new(unit.add(span.end, -count)?, span.end)?,
        };
        let inside = span.start <= found.start && found.end <= span.end;
        inside.then(|| Point::span(found, Some(unit), to))
    }
}

/// The one with more words, and the first of two with as many.
fn longer(first: Option<Point>, second: Option<Point>) -> Option<Point> {
    match (first, second) {
        (Some(first), Some(second)) => Some(if second.to > first.to { second } else { first }),
        (first, second) => first.or(second),
    }
}

/// `q3`, `3q`, `q3'25`, `q3/2025`, `3q25`, `2025q3`, `h1`.
fn part_code(word: &str) -> Option<(Unit, u32, Option<i16>)> {
    if let Some((first, rest)) = word.split_at_checked(4)
        && let Some(year) = year(first)
    {
        let (unit, number, None) = part_code(rest)? else { return None };
        return Some((unit, number, Some(year)));
    }
    let (first, rest) = word.split_at_checked(2)?;
    let mut chars = first.chars();
    let (letter, digit) = match (chars.next()?, chars.next()?) {
        (letter @ ('q' | 'h'), digit) | (digit, letter @ ('q' | 'h')) => (letter, digit.to_digit(10)?),
        _ => return None,
    };
    let (unit, most) = if letter == 'q' { (Unit::Quarter, 4) } else { (Unit::Half, 2) };
    let after = rest.trim_start_matches(['\'', '/', '.']);
    let written = if rest.is_empty() { None } else { Some(year(after).or_else(|| short_year(after))?) };
    (1..=most).contains(&digit).then_some((unit, digit, written))
}
