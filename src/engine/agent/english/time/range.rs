//! Windows with one or two named ends.

use jiff::civil::DateTime;

use crate::engine::agent::english::time::phrase::{BEFORE_NUMBER, Match, Phrases, What};
use crate::engine::agent::english::time::point::{Named, Point};
use crate::engine::agent::english::time::words::year;
use crate::engine::agent::plan::window::{Span, Unit};
use crate::model::plan::TimeUnit;

/// Before what is named lies the time that is meant.
const BEFORE: [&str; 4] = ["before", "prior to", "earlier than", "any time before"];
/// It begins with what is named.
const SINCE: [&str; 8] = [
    "since", "since the start of", "since start of", "since the beginning of", "since beginning of", "starting",
    "starting in", "starting from",
];
/// It ends with what is named.
const UNTIL: [&str; 11] = [
    "until", "till", "through", "up to", "up until", "until the end of", "until end of", "by the end of", "by end of",
    "through the end of", "as of",
];
const AFTER: [&str; 3] = ["after", "later than", "after the end of"];
/// Between both ends of a range.
const TO: [&str; 12] = [
    "to", "until", "till", "through", "thru", "up to", "and", "to the end of", "until the end of",
    "through the end of", "to end of", "until end of",
];

/// The first end of a range: a name, or the day of a month that comes later.
enum First {
    Point(Point),
    Day(i8),
}

impl Phrases<'_> {
    /// `since …`, `before …`, `between … and …`, `from … to …`, `1 to 15 March`.
    pub(super) fn range(&self, at: usize) -> Option<Match> {
        let mut longest: Option<Match> = None;
        for found in [self.between(at), self.one_sided(at), self.beside(at)].into_iter().flatten() {
            if longest.as_ref().is_none_or(|longest| found.to > longest.to) {
                longest = Some(found);
            }
        }
        longest
    }

    /// `3 months before June 2013`, `the 30 days after March 5`.
    fn beside(&self, at: usize) -> Option<Match> {
        let (count, place) = self.words.count(self.words.skip(at, &["the"]))?;
        let (unit, place) = self.unit(place)?;
        let before = self.words.after_any(place, &["before", "prior to", "up to"]);
        let point = self.point(before.or_else(|| self.words.after_any(place, &["after", "following"]))?)?;
        let span = point.named.latest(self.now, self.calendar)?;
        let count = i64::from(count);
        let (start, end) = match before {
            Some(_) => (unit.add(span.start, -count)?, span.start),
            None => (span.end, unit.add(span.end, count)?),
        };
        Some(Match { unit: unit.grain(), bare_number: false, ..Self::open(at, at, &point, Some(start), Some(end)) })
    }

    fn one_sided(&self, at: usize) -> Option<Match> {
        let point = |phrases: &[&str]| {
            let place = self.words.after_any(at, phrases)?;
            // "Since the year began" has no name after it; "since the 4th of July" has.
            let point = self.point(place).or_else(|| self.point(self.words.skip(place, &["the"])));
            let point = point.or_else(|| self.this(place))?;
            let latest = point.named.latest(self.now, self.calendar)?;
            Some((point, latest))
        };
        if let Some((point, span)) = point(&SINCE) {
            let to = self.words.skip(point.to, &["on", "onward", "onwards"]);
            return Some(Match { to, ..Self::open(at, at, &point, Some(span.start), None) });
        }
        if let Some((point, span)) = point(&AFTER) {
            return Some(Self::open(at, at, &point, Some(span.end), None));
        }
        if let Some((point, span)) = point(&BEFORE) {
            return Some(Self::open(at, at, &point, None, Some(span.start)));
        }
        let (point, span) = point(&UNTIL)?;
        // An amount may go up to a number.
        let amount = point.bare_number && self.words.after(at, "up to").is_some();
        (!amount).then(|| Self::open(at, at, &point, None, Some(span.end)))
    }

    /// `the year`, `the month` after "the start of".
    fn this(&self, at: usize) -> Option<Point> {
        let place = self.words.after_any(at, &["the", "this"])?;
        let of = self.words.before(at) == "of";
        let (unit, to) = self.unit(place).filter(|_| of)?;
        Some(Point::span(unit.around(self.now, 0, 1, self.calendar)?, Some(unit), to))
    }

    fn between(&self, at: usize) -> Option<Match> {
        let opened = self.words.after_any(at, &["between", "from", "in between", "between the", "from the"]);
        let is_between = self.words.after_any(at, &["between", "in between"]).is_some();
        let core = opened.unwrap_or(at);
        let bare = self.words.skip(core, &["in", "on", "for", "during", "in the"]);
        let core = if opened.is_none() { bare } else { core };
        let (first, middle) = self.first(core)?;
        let to = self.words.after_any(middle, &TO)?;
        // "March and April" are two months; "between March and April" is one stretch.
        if (self.words.at(middle) == "and") != is_between {
            return None;
        }
        let (first, last) = self.last(first, to)?;
        let (start, end) = self.ends(first.named, last.named)?;
        let span = Span::new(start.start, end.end).filter(|_| start.start <= end.start)?;
        let bare_number = first.bare_number && last.bare_number;
        // Numbers around "to" need a word that says they are times.
        if bare_number && opened.is_none() && core == at && BEFORE_NUMBER.contains(&self.words.before(at)) {
            return None;
        }
        let unit = last.unit.and_then(TimeUnit::grain);
        let what = What::Window(Some(span.start), Some(span.end));
        Some(Match {
            from: at,
            core: if opened.is_some() { at } else { core },
            to: last.to,
            what,
            unit,
            bare_number,
            named: None,
        })
    }

    /// The first end of a range, and the place after it.
    fn first(&self, at: usize) -> Option<(First, usize)> {
        if let Some(point) = self.point(at).or_else(|| self.point(self.words.skip(at, &["the"]))) {
            return Some((First::Point(point), point.to));
        }
        self.day(at).map(|(day, to)| (First::Day(day), to))
    }

    /// Both ends, when the second begins at a word. A day without a month has the other's month.
    fn last(&self, first: First, at: usize) -> Option<(Point, Point)> {
        let place = if self.words.at(at) == "the" && self.point(at).is_none() { at + 1 } else { at };
        match (first, self.point(place).or_else(|| self.now_word(place))) {
            (First::Point(first), Some(last)) => Some((first, last)),
            (First::Day(day), Some(last)) => {
                let Named::Day { month, year, .. } = last.named else { return None };
                Some((Point { named: Named::Day { month, day, year }, ..last }, last))
            }
            (First::Point(first), None) => {
                let Named::Day { month, year: of_first, .. } = first.named else { return None };
                let (day, to) = self.day(place)?;
                let comma = self.words.skip(to, &[","]);
                let (year, to) = match year(self.words.at(comma)) {
                    Some(year) => (Some(year), comma + 1),
                    None => (of_first, to),
                };
                Some((first, Point { named: Named::Day { month, day, year }, to, ..first }))
            }
            (First::Day(_), None) => None,
        }
    }

    /// "Now" as the end of a range.
    fn now_word(&self, at: usize) -> Option<Point> {
        let to = self.words.after_any(at, &["now", "present", "date"])?;
        Some(Point::span(Unit::Day.around(self.now, 0, 1, self.calendar)?, Some(Unit::Day), to))
    }

    /// The stretches that both ends of a range are. An end without a year has the other's; without any, the first is
    /// the latest that has begun, and the second follows.
    fn ends(&self, first: Named, last: Named) -> Option<(Span, Span)> {
        if !first.lacks_year() || last.lacks_year() {
            let start = first.latest(self.now, self.calendar)?;
            return Some((start, last.first_after(start.start, self.calendar)?));
        }
        let end = last.latest(self.now, self.calendar)?;
        let year = last.year().unwrap_or_else(|| end.start.year());
        let same = first.within(year, self.calendar).filter(|start| start.start <= end.start);
        Some((same.or_else(|| first.within(year.checked_sub(1)?, self.calendar))?, end))
    }

    /// A window that begins, or ends, with a name.
    pub(super) fn open(
        from: usize,
        core: usize,
        point: &Point,
        start: Option<DateTime>,
        end: Option<DateTime>,
    ) -> Match {
        let unit = point.unit.and_then(TimeUnit::grain);
        Match {
            from,
            core,
            to: point.to,
            what: What::Window(start, end),
            unit,
            bare_number: point.bare_number,
            named: None,
        }
    }
}
