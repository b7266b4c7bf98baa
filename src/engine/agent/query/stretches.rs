//! A single stretch of time or a point of it: dates in figures, times that move, and steps from them.

use jiff::civil::Date;

use super::cursor::{Read, Reader};
use super::lexer::Kind;
use super::words::UNITS;
use crate::engine::agent::plan::window::{Span, iso_week, read, text};
use crate::model::plan::{Anchor, Moment, Step, TimeUnit};

/// The most units that are counted.
const MOST: f64 = 1e9;

/// From one time up to but not with another.
pub(super) struct Stretch {
    pub start: Moment,
    pub end: Moment,
}

impl Stretch {
    fn moving(start: (TimeUnit, i64), end: (TimeUnit, i64)) -> Self {
        let at = |(unit, ahead)| Moment { from: Anchor::Unit { unit, ahead }, then: Vec::new() };
        Self { start: at(start), end: at(end) }
    }

    /// Units that are counted from the present one.
    fn units(unit: TimeUnit, from: i64, to: i64) -> Self {
        Self::moving((unit, from), (unit, to))
    }

    fn fixed(span: Span) -> Self {
        Self { start: fixed(text(span.start)), end: fixed(text(span.end)) }
    }

    /// A point without length.
    fn at(moment: Moment) -> Self {
        Self { start: moment.clone(), end: moment }
    }
}

fn fixed(at: String) -> Moment {
    Moment { from: Anchor::At(at), then: Vec::new() }
}

pub(super) fn moves(moment: &Moment) -> bool {
    !matches!(moment.from, Anchor::At(_)) || !moment.then.is_empty()
}

impl<'a> Reader<'a> {
    /// A stretch of time, or a point of one that is so many units from it.
    pub(super) fn stretch(&mut self) -> Read<Option<Stretch>> {
        let Some(found) = self.plain_stretch()? else { return Ok(None) };
        let steps = self.steps();
        if steps.is_empty() {
            return Ok(Some(found));
        }
        let then = found.start.then.into_iter().chain(steps).collect();
        Ok(Some(Stretch::at(Moment { then, ..found.start })))
    }

    /// `+ 3 days`, `- 1 month`.
    fn steps(&mut self) -> Vec<Step> {
        let mut steps = Vec::new();
        loop {
            let sign = match self.kind(0) {
                Some(Kind::Sign("+")) => 1,
                Some(Kind::Sign("-")) => -1,
                _ => return steps,
            };
            let found = if self.is(1, &["interval"]) { self.interval(2) } else { self.count_of_units(1) };
            let Some((count, unit, length)) = found else { return steps };
            steps.push(Step { count: sign * count, unit });
            self.skip(length + if self.is(1, &["interval"]) { 2 } else { 1 });
        }
    }

    /// `'7 days'`, `'7' day` or `7 day` after "interval".
    fn interval(&self, ahead: usize) -> Option<(i64, TimeUnit, usize)> {
        let Some(Kind::Text(inner)) = self.kind(ahead) else { return self.count_of_units(ahead) };
        if let Some((count, unit, _)) = self.another(inner).and_then(|it| it.count_of_units(0)) {
            return Some((count, unit, 1));
        }
        let count = inner.trim().parse().ok().and_then(whole)?;
        let (unit, length) = self.unit(ahead + 1)?;
        Some((count, unit, 1 + length))
    }

    /// `3 months`, with how many words that is.
    fn count_of_units(&self, ahead: usize) -> Option<(i64, TimeUnit, usize)> {
        let count = match self.kind(ahead)? {
            Kind::Number(count) => whole(*count)?,
            _ => return None,
        };
        let (unit, length) = self.unit(ahead + 1)?;
        Some((count, unit, length + 1))
    }

    /// A reader of another text at the same place of the query.
    fn another<'t>(&self, text: &'t str) -> Option<Reader<'t>>
    where
        'a: 't,
    {
        Reader::new(text, (self.ontology, self.now, self.around)).ok()
    }

    fn plain_stretch(&mut self) -> Read<Option<Stretch>> {
        self.eat(&["the"]);
        match self.kind(0).cloned() {
            Some(Kind::Date(date)) => {
                let found =
                    self.dated(&date).ok_or_else(|| self.wrong_here(format!("{date} is not in the calendar")))?;
                self.skip(1);
                Ok(Some(found))
            }
            Some(Kind::Number(year)) => Ok(self.year_or_ago(year)),
            Some(Kind::Text(inner)) => {
                let found = self.another(&inner).and_then(|mut it| it.stretch().ok().flatten().filter(|_| it.is_end()));
                self.skip(usize::from(found.is_some()));
                Ok(found)
            }
            Some(Kind::Word(_)) => self.worded(),
            _ => Ok(None),
        }
    }

    /// A date in figures.
    fn dated(&self, date: &str) -> Option<Stretch> {
        let calendar = &self.ontology.calendar;
        if date.contains('T') {
            return read(date).map(|_| Stretch::at(fixed(date.to_owned())));
        }
        let (year, part) = date.split_once('-').unwrap_or((date, ""));
        let digits = |text: &str| text.parse::<i32>().ok();
        let months = |part: &str| -> Option<(i32, i32)> {
            let number = digits(part.get(1..)?)?;
            let (count, most) = if part.starts_with('Q') { (3, 4) } else { (6, 2) };
            (1..=most).contains(&number).then_some(((number - 1) * count, count))
        };
        if let Some(year) = year.strip_prefix("FY") {
            let (skip, count) = if part.is_empty() { (0, 12) } else { months(part)? };
            return Span::fiscal(year.parse().ok()?, skip, count, calendar).map(Stretch::fixed);
        }
        let year = year.parse::<i16>().ok()?;
        let span = match part.chars().next()? {
            'Q' | 'H' => {
                let (skip, count) = months(part)?;
                Span::months(year, i8::try_from(skip + 1).ok()?, count)?
            }
            'W' => iso_week(year, part.get(1..)?.parse().ok()?)?,
            _ if part.contains('-') => Span::day(date.parse::<Date>().ok()?)?,
            _ => Span::months(year, part.parse().ok()?, 1)?,
        };
        Some(Stretch::fixed(span))
    }

    /// `2013`, `3 months ago`, `2 weeks ahead`.
    fn year_or_ago(&mut self, number: f64) -> Option<Stretch> {
        if let Some((count, unit, length)) = self.count_of_units(0) {
            let (first, ahead) = (self.is(length, &["ago"]), self.is(length, &["ahead"]));
            let from = if first { count.checked_neg()? } else { count };
            (first || ahead).then(|| self.skip(length + 1))?;
            return Some(Stretch::units(unit, from, from.checked_add(1)?));
        }
        let year =
            whole(number).filter(|year| (1000..=9999).contains(year)).and_then(|year| i16::try_from(year).ok())?;
        let part = self.word(1).filter(|word| ["q1", "q2", "q3", "q4", "h1", "h2"].contains(&word.as_str()));
        if let Some(part) = part {
            self.skip(2);
            return self.dated(&format!("{year}-{}", part.to_uppercase()));
        }
        let found = Span::months(year, 1, 12).map(Stretch::fixed);
        self.skip(usize::from(found.is_some()));
        found
    }

    /// A unit of the calendar, with how many words that is.
    fn unit(&self, ahead: usize) -> Option<(TimeUnit, usize)> {
        let is_fiscal = self.is(ahead, &["fiscal", "financial"]);
        let ahead = ahead + usize::from(is_fiscal);
        let word = self.word(ahead)?;
        let (unit, ..) = UNITS.iter().find(|(_, one, many)| *one == word || *many == word)?;
        let unit = if is_fiscal { unit.fiscal()? } else { *unit };
        Some((unit, 1 + usize::from(is_fiscal)))
    }

    fn worded(&mut self) -> Read<Option<Stretch>> {
        if self.eat(&["start of", "beginning of", "end of"]) {
            let is_end = self.word_before() == "end";
            let found = self.inside(Self::plain_stretch)?;
            return Ok(found.map(|found| Stretch::at(if is_end { found.end } else { found.start })));
        }
        if self.eat(&["monday of"]) {
            let found = self.inside(Self::plain_stretch)?;
            return Ok(found.and_then(|found| match found.start.from {
                Anchor::Unit { unit: TimeUnit::Week, ahead } => {
                    Some(Stretch::at(Moment { from: Anchor::Monday { ahead }, then: Vec::new() }))
                }
                _ => None,
            }));
        }
        if self.eat(&["latest"]) {
            return Ok(self.latest().map(|from| Stretch::at(Moment { from, then: Vec::new() })));
        }
        if let Some(found) = self.up_to_now() {
            return Ok(Some(found));
        }
        Ok(self.day_by_name().or_else(|| self.counted()))
    }

    fn word_before(&self) -> String {
        let place = self.place();
        let Some(Kind::Word(word)) = place.checked_sub(2).and_then(|at| self.kind_at(at)) else { return String::new() };
        word.to_lowercase()
    }

    /// `03-25`, `W12` after "latest".
    fn latest(&mut self) -> Option<Anchor> {
        if let (Some(Kind::Number(month)), true, Some(Kind::Number(day))) =
            (self.kind(0), self.is_sign(1, "-"), self.kind(2))
        {
            let (month, day) = (i8::try_from(whole(*month)?).ok()?, i8::try_from(whole(*day)?).ok()?);
            self.skip(3);
            return Some(Anchor::Day { month, day });
        }
        let number = self.word(0)?.strip_prefix('w')?.parse().ok()?;
        self.skip(1);
        Some(Anchor::Week(number))
    }

    fn day_by_name(&mut self) -> Option<Stretch> {
        let day = match self.word(0)?.as_str() {
            "today" | "now" | "current_date" | "current_timestamp" => 0,
            "yesterday" => -1,
            "tomorrow" => 1,
            _ => return None,
        };
        let called = self.is_sign(1, "(") && self.is_sign(2, ")");
        self.skip(if called { 3 } else { 1 });
        Some(Stretch::units(TimeUnit::Day, day, day + 1))
    }

    /// `ytd`, `month to date`, `this year so far`: with today.
    fn up_to_now(&mut self) -> Option<Stretch> {
        let code = match self.word(0)?.as_str() {
            "ytd" => Some(TimeUnit::Year),
            "qtd" => Some(TimeUnit::Quarter),
            "mtd" => Some(TimeUnit::Month),
            "wtd" => Some(TimeUnit::Week),
            "fytd" => Some(TimeUnit::FiscalYear),
            _ => None,
        };
        let place = self.place();
        let unit = match code {
            Some(unit) => {
                self.skip(1);
                Some(unit)
            }
            None => {
                self.eat(&["this", "current"]);
                let unit = self.unit(0);
                self.skip(unit.map_or(0, |(_, length)| length));
                unit.map(|(unit, _)| unit).filter(|_| self.eat(&["to date", "so far"]))
            }
        };
        if unit.is_none() {
            self.back_to(place);
        }
        Some(Stretch::moving((unit?, 0), (TimeUnit::Day, 1)))
    }

    /// `last 3 months`, `this week`, `next year`.
    fn counted(&mut self) -> Option<Stretch> {
        let (back, forth) = (
            self.is(0, &["last", "past", "previous", "prior", "trailing", "preceding"]),
            self.is(0, &["next", "coming", "following", "upcoming"]),
        );
        if self.is(0, &["this", "current"]) {
            let (unit, length) = self.unit(1)?;
            self.skip(1 + length);
            return Some(Stretch::units(unit, 0, 1));
        }
        if !back && !forth {
            return None;
        }
        let (count, unit, length) = match self.count_of_units(1) {
            Some(found) => found,
            None => self.unit(1).map(|(unit, length)| (1, unit, length))?,
        };
        if count < 1 {
            return None;
        }
        self.skip(1 + length);
        Some(if forth { Stretch::units(unit, 1, count + 1) } else { Stretch::units(unit, -count, 0) })
    }
}

/// A whole number that can be counted to.
fn whole(number: f64) -> Option<i64> {
    let is = number.fract() == 0.0 && number.abs() < MOST;
    is.then_some(number as i64)
}
