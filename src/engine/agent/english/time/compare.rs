//! Another time beside the one that is asked for.

use jiff::civil::DateTime;

use crate::engine::agent::english::time::CompareWith;
use crate::engine::agent::english::time::phrase::{Match, Phrases, What};
use crate::engine::agent::plan::window::{Span, Unit, midnight};
use crate::model::plan::Grain;

/// The other time as the words have it, before the first is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Other {
    PreviousPeriod,
    YearBefore,
    /// So many units before; `by_now` when they are said of now ("last") rather than of the other time ("previous").
    Units {
        unit: Unit,
        count: i64,
        by_now: bool,
    },
    /// As much of the unit before as has passed of this one.
    SameDays(Unit),
    Named(Span),
}

const STARTS: [&str; 13] = [
    "vs", "vs .", "versus", "compared to", "compared with", "compare to", "compare with", "compared against",
    "against", "relative to", "in comparison to", "in comparison with", "than",
];

impl Phrases<'_> {
    pub(super) fn compare(&self, at: usize) -> Option<Match> {
        let start = self.words.after_any(at, &STARTS);
        let place = start.unwrap_or(at);
        let found = |to, other, unit: Option<Grain>| {
            Some(Match { from: at, core: place, to, what: What::Compare(other), unit, bare_number: false, named: None })
        };
        if let Some((to, unit)) = self.same_period(place) {
            // "The same month" is a whole one; "the same period" is as much as there is of this one.
            let other = if unit.is_some() { Other::YearBefore } else { Other::SameDays(Unit::Year) };
            return found(to, other, unit);
        }
        if let Some((to, other, unit)) = self.over_itself(place) {
            return found(to, other, unit);
        }
        let start = start?;
        if let Some((to, unit)) = self.same_days(place) {
            return found(to, Other::SameDays(unit), unit.grain());
        }
        let place = self.words.skip(start, &["in", "for", "during", "on"]);
        let place = self.words.skip(place, &["the", "that", "those"]);
        if let Some(to) = self
            .words
            .after_any(place, &["previous period", "prior period", "preceding period", "last period", "period before"])
        {
            return found(to, Other::PreviousPeriod, None);
        }
        // "More than 30 days before the end" is a bound.
        let bound = |to: usize| self.words.at(at) == "than" && !self.words.at(to).is_empty();
        if let Some((unit, count, by_now, to)) =
            self.units_before(place).filter(|(_, _, by_now, to)| *by_now || !bound(*to))
        {
            return found(to, Other::Units { unit, count, by_now }, unit.grain());
        }
        let point = self.point(place)?;
        // A number alone is none of a time where amounts are compared.
        if point.bare_number && self.words.at(at) == "than" && place == start {
            return None;
        }
        let span = point.named.latest(self.now, self.calendar)?;
        let named = Some(point.named);
        found(point.to, Other::Named(span), point.unit.and_then(Unit::grain)).map(|found| Match { named, ..found })
    }

    /// `same period last year`, `the same month of the previous year`.
    fn same_period(&self, at: usize) -> Option<(usize, Option<Grain>)> {
        let place = self.words.skip(at, &["the"]);
        let place = self.words.after(place, "same")?;
        let unit = self.unit(place).map(|(unit, _)| unit).and_then(Unit::grain);
        const NOUNS: [&str; 7] = ["period", "time", "dates", "days", "timeframe", "span", "date"];
        let place = if unit.is_some() || self.words.any(place, &NOUNS) { place + 1 } else { return None };
        let place = self.words.skip(place, &["in", "of", "a", "one"]);
        let place = self.words.skip(place, &["the"]);
        let tails =
            ["last year", "previous year", "prior year", "year before", "year ago", "year earlier", "preceding year"];
        Some((self.words.after_any(place, &tails)?, unit))
    }

    /// `the same days last month`, `same period of the previous quarter`.
    fn same_days(&self, at: usize) -> Option<(usize, Unit)> {
        let place = self.words.after(self.words.skip(at, &["the"]), "same")?;
        let place = self.words.after_any(place, &["days", "dates", "period", "time", "part", "stretch"])?;
        let place = self.words.skip(place, &["in", "of", "a", "one"]);
        let place = self.words.skip(place, &["the"]);
        let (unit, to) = if self.words.any(place, &["last", "previous", "prior", "preceding"]) {
            self.unit(place + 1)?
        } else {
            let (unit, place) = self.unit(place)?;
            (unit, self.words.after_any(place, &["before", "earlier", "ago"])?)
        };
        matches!(unit, Unit::Week | Unit::Month | Unit::Quarter | Unit::FiscalQuarter).then_some((to, unit))
    }

    /// `year over year`, `MoM`.
    fn over_itself(&self, at: usize) -> Option<(usize, Other, Option<Grain>)> {
        let code = match self.words.at(at) {
            "yoy" | "y/y" => Some(Unit::Year),
            "qoq" | "q/q" => Some(Unit::Quarter),
            "mom" | "m/m" => Some(Unit::Month),
            "wow" | "w/w" => Some(Unit::Week),
            "dod" => Some(Unit::Day),
            _ => None,
        };
        let (unit, to) = match code {
            Some(unit) => (unit, at + 1),
            None => {
                let (unit, place) = self.unit(at)?;
                let place = self.words.after_any(place, &["over", "on"])?;
                let (again, to) = self.unit(place)?;
                (unit, (again == unit).then_some(to)?)
            }
        };
        let other = if unit == Unit::Year { Other::YearBefore } else { Other::PreviousPeriod };
        Some((to, other, unit.grain()))
    }

    /// `last month`, `previous 7 days`, `month before`, `7 days before`, `year ago`, `a year earlier`.
    fn units_before(&self, at: usize) -> Option<(Unit, i64, bool, usize)> {
        if self.words.any(at, &["last", "previous", "prior", "preceding"]) {
            let (count, place) = self.words.count(at + 1).unwrap_or((1, at + 1));
            let (unit, to) = self.unit(place)?;
            // "The last quarter of 2012" is a name; it is longer.
            let longer = self.point(at).is_some_and(|point| point.to > to);
            return (!longer).then_some((unit, i64::from(count), self.words.at(at) == "last", to));
        }
        let place = self.words.skip(at, &["a", "one"]);
        let (count, place) = self.words.count(place).unwrap_or((1, place));
        let (unit, place) = self.unit(place)?;
        // "2 years ago" is a time of its own.
        let tails: &[&str] =
            if count == 1 && unit == Unit::Year { &["before", "earlier", "ago"] } else { &["before", "earlier"] };
        Some((unit, i64::from(count), false, self.words.after_any(place, tails)?))
    }

    /// As much of the unit before as there is of this one: of one that goes on up to the end of today.
    fn passed_before(&self, unit: Unit, main: Span) -> Option<Span> {
        let next = unit.add(main.start, 1)?;
        if unit.start(main.start, self.calendar)? != main.start || main.end > next || main.start > self.now {
            return None;
        }
        let before = unit.add(main.start, -1)?;
        // A unit that is over is held against the whole one before it.
        if main.end == next && main.end <= self.now {
            return Span::new(before, main.start);
        }
        let passed = main.end.min(self.end_of_today()?).duration_since(main.start);
        Span::new(before, before.checked_add(passed).ok()?.min(main.start))
    }

    /// The days a year before those that have passed of a time that goes on; `None` for one that is over.
    fn year_before_of(&self, main: Span) -> Option<Span> {
        let today = self.end_of_today()?;
        let goes_on = main.start <= self.now && main.end > today;
        goes_on.then(|| Span::new(main.start, today)?.year_before())?
    }

    fn end_of_today(&self) -> Option<DateTime> {
        self.now.date().tomorrow().ok().map(midnight)
    }

    /// Of a time that goes on, what has passed is held against as much of the time before: "this year compared with last
    /// year" is of the same days of both.
    pub(super) fn hold_so_far(&self, matches: &mut [Match]) {
        let main = matches.iter().find_map(|found| match found.what {
            What::Window(Some(start), Some(end)) => Some((Span::new(start, end)?, found.unit)),
            _ => None,
        });
        let (Some((main, unit)), Some(today)) = (main, self.end_of_today()) else { return };
        if main.start > self.now || main.end <= today {
            return;
        }
        let own = unit.and_then(Unit::of).filter(|unit| unit.add(main.start, 1) == Some(main.end));
        let mut is_held = false;
        for found in matches.iter_mut() {
            let What::Compare(other) = &mut found.what else { continue };
            if let (Other::PreviousPeriod, Some(unit)) = (*other, own) {
                *other = Other::Units { unit, count: 1, by_now: false };
            }
            is_held |= matches!(*other, Other::Units { unit, count: 1, .. } if unit == Unit::Year || Some(unit) == own);
        }
        let first = matches.iter_mut().find(|found| matches!(found.what, What::Window(Some(_), Some(_))));
        if let Some(found) = first.filter(|_| is_held) {
            found.what = What::SoFar(main.start, today);
        }
    }

    /// The other time, now that the first is known.
    ///
    /// A year before, or as much time right before, wherever the first has that length; otherwise the units that are
    /// named, before now or before the first as the words say; of the unit before what has passed of this one up to
    /// today, as much as has.
    pub(super) fn resolved(&self, other: Other, main: Option<Span>, phrase: String) -> Option<CompareWith> {
        let window = |span: Span| CompareWith::Window(span.window(Some(phrase.clone())));
        Some(match other {
            Other::PreviousPeriod => CompareWith::PreviousPeriod,
            Other::YearBefore => CompareWith::YearBefore,
            Other::Named(span) => window(span),
            Other::SameDays(Unit::Year) => match main.and_then(|main| self.year_before_of(main)) {
                Some(passed) => window(passed),
                None => CompareWith::YearBefore,
            },
            Other::SameDays(unit) => window(self.passed_before(unit, main?)?),
            Other::Units { unit: Unit::Year, count: 1, .. } => CompareWith::YearBefore,
            Other::Units { unit, count, by_now } => {
                let Some(main) = main else { return Some(CompareWith::PreviousPeriod) };
                if unit.add(main.start, count) == Some(main.end) {
                    return Some(CompareWith::PreviousPeriod);
                }
                if count == 1
                    && Some(main.end) == self.end_of_today()
                    && let Some(passed) = self.passed_before(unit, main)
                {
                    return Some(CompareWith::Window(passed.window(Some(format!("same days of {phrase}")))));
                }
                window(unit.around(if by_now { self.now } else { main.start }, -count, 0, self.calendar)?)
            }
        })
    }
}
