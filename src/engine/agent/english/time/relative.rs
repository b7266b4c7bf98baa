//! Stretches of time by how far they are from now.

use crate::engine::agent::english::time::phrase::Phrases;
use crate::engine::agent::english::time::point::Point;
use crate::engine::agent::english::time::words::{month, unit};
use crate::engine::agent::plan::window::{Span, Unit};

impl Phrases<'_> {
    pub(super) fn relative(&self, at: usize) -> Option<Point> {
        let kinds: [fn(&Self, usize) -> Option<Point>; 6] =
            [Self::day_by_name, Self::to_date, Self::counted, Self::ago, Self::month_by_turn, Self::weekend];
        kinds.iter().filter_map(|kind| kind(self, at)).max_by_key(|point| point.to)
    }

    fn around(&self, unit: Unit, from: i64, to: i64, place: usize) -> Option<Point> {
        Some(Point::span(unit.around(self.now, from, to, self.calendar)?, Some(unit), place))
    }

    fn day_by_name(&self, at: usize) -> Option<Point> {
        if let Some(to) = self.words.after_any(at, &["day before yesterday", "the day before yesterday"]) {
            return self.around(Unit::Day, -2, -1, to);
        }
        let day = match self.words.at(at) {
            "today" => 0,
            "yesterday" => -1,
            "tomorrow" => 1,
            _ => return None,
        };
        self.around(Unit::Day, day, day + 1, at + 1)
    }

    /// A unit and the place after it, also "fiscal year".
    pub(super) fn unit(&self, at: usize) -> Option<(Unit, usize)> {
        if self.words.any(at, &["fiscal", "financial"]) {
            return Some((unit(self.words.at(at + 1))?.fiscal()?, at + 2));
        }
        let at = self.words.skip(at, &["calendar", "full", "whole", "complete"]);
        Some((unit(self.words.at(at))?, at + 1))
    }

    /// `YTD`, `year to date`, `so far this year`, `this year so far`: to the end of today.
    fn to_date(&self, at: usize) -> Option<Point> {
        let (unit, to) = self.to_date_unit(at)?;
        let start = unit.start(self.now, self.calendar)?;
        let end = Unit::Day.around(self.now, 0, 1, self.calendar)?.end;
        Some(Point::span(Span::new(start, end)?, Some(unit), to))
    }

    fn to_date_unit(&self, at: usize) -> Option<(Unit, usize)> {
        let code = match self.words.at(at) {
            "ytd" => Some(Unit::Year),
            "qtd" => Some(Unit::Quarter),
            "mtd" => Some(Unit::Month),
            "wtd" => Some(Unit::Week),
            "fytd" => Some(Unit::FiscalYear),
            _ => None,
        };
        if let Some(unit) = code {
            return Some((unit, at + 1));
        }
        let so_far = self.words.after_any(at, &["so far this", "thus far this", "so far in this"]);
        if let Some(place) = so_far {
            return self.unit(place);
        }
        let this = self.words.skip(at, &["this", "current"]);
        let (unit, place) = self.unit(this)?;
        let tails: &[&str] = if this > at { &["to date", "so far", "thus far"] } else { &["to date"] };
        Some((unit, self.words.after_any(place, tails)?))
    }

    /// `last week`, `last 7 days`, `this month`, `next 2 quarters`.
    fn counted(&self, at: usize) -> Option<Point> {
        let forward = match self.words.at(at) {
            "last" | "past" | "previous" | "trailing" | "preceding" | "prior" => Some(false),
            "this" | "current" => None,
            "next" | "upcoming" | "coming" | "following" => Some(true),
            _ => return None,
        };
        let Some(forward) = forward else {
            let (unit, to) = self.unit(at + 1)?;
            return self.around(unit, 0, 1, to).filter(|_| !self.of_another(to));
        };
        let (count, place) = self.words.count(at + 1).unwrap_or((1, at + 1));
        let count = i64::from(count);
        let (unit, to) = self.unit(place)?;
        // "Last days" are none in particular, and "the last day of the month" is not yesterday.
        if place == at + 1 && self.words.at(to - 1).ends_with('s') || self.of_another(to) {
            return None;
        }
        if forward { self.around(unit, 1, count + 1, to) } else { self.around(unit, -count, 0, to) }
    }

    /// `3 months ago`, `a year ago`.
    fn ago(&self, at: usize) -> Option<Point> {
        let (count, place) = if self.words.any(at, &["a", "an"]) { (1, at + 1) } else { self.words.count(at)? };
        let (unit, place) = self.unit(place)?;
        let to = self.words.after(place, "ago")?;
        let count = i64::from(count);
        self.around(unit, -count, 1 - count, to)
    }

    /// `last January`: the latest that has ended. `this` and `next` as they say.
    fn month_by_turn(&self, at: usize) -> Option<Point> {
        let number = i64::from(month(self.words.at(at + 1))?);
        let ahead = number - i64::from(self.now.month());
        let months = match self.words.at(at) {
            "last" | "past" | "previous" => {
                if ahead < 0 {
                    ahead
                } else {
                    ahead - 12
                }
            }
            "this" => ahead,
            "next" => {
                if ahead > 0 {
                    ahead
                } else {
                    ahead + 12
                }
            }
            _ => return None,
        };
        self.around(Unit::Month, months, months + 1, at + 2)
    }

    /// `last weekend`: Saturday and Sunday.
    fn weekend(&self, at: usize) -> Option<Point> {
        if self.words.at(at + 1) != "weekend" {
            return None;
        }
        // On a Sunday, "this weekend" began yesterday.
        let weekday = i64::from(self.now.weekday().to_monday_one_offset());
        let saturday = 6 - weekday;
        let saturday = match self.words.at(at) {
            "last" | "past" | "previous" => saturday - 7,
            "this" => saturday,
            "next" => saturday + 7,
            _ => return None,
        };
        let span = Unit::Day.around(self.now, saturday, saturday + 2, self.calendar)?;
        Some(Point::span(span, Some(Unit::Day), at + 2))
    }
}
