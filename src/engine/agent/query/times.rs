//! Stretches of time in a text.
//!
//! `2013`, `2013-07`, `2013-Q3`, `2013-H1`, `2013-W05`, `2013-07-04`, `FY2014`, `FY2014-Q1`; `A to B` with all of B, but
//! up to a time of day without it; `A to before B`; `since A`, `after A`, `before A`, `until A` with all of A. Times that
//! move: `today`, `last 3 months` (whole ones before the present one), `this quarter`, `next week`, `2 months ago`,
//! `month to date`; and points of them: `start of last month + 3 days`, `monday of this week`, `latest 03-25`. What is
//! none of this is read as people say it: "Easter 2013".

use jiff::civil::{Date, DateTime};

use super::cursor::{Around, Read, Reader};
use super::lexer::Kind;
use super::problem::Wrong;
use super::words::UNITS;
use crate::engine::Engines;
use crate::engine::agent::plan::relative::{relative, window_at};
use crate::engine::agent::plan::window::{Span, Unit, iso_week, read, text};
use crate::model::ontology::Ontology;
use crate::model::plan::{Anchor, Grain, Moment, Relative, Step, TimeUnit, Window};

/// The most units that are counted.
const MOST: f64 = 1e9;
/// Words after which a time is over.
const AFTER: [&str; 8] = ["and", "or", "as", "by", "order", "group", "limit", "then"];

const FORMS: &str = "times are written 2013, 2013-07, 2013-Q3, 2013-07-04, `2013-01-01 to 2013-03-31`, `since 2013-07`, \
                     `before 2013-07`, `last 3 months`, `this year`, `month to date`, `2 weeks ago`";

/// From one time up to but not with another.
struct Stretch {
    start: Moment,
    end: Moment,
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

fn moves(moment: &Moment) -> bool {
    !matches!(moment.from, Anchor::At(_)) || !moment.then.is_empty()
}

impl<'a> Reader<'a> {
    /// A stretch of time with all that belongs to it.
    pub(super) fn window(&mut self) -> Read<Window> {
        let place = self.place();
        match self.own_window()? {
            Some(window) => Ok(window),
            None => {
                self.back_to(place);
                self.spoken()
                    .ok_or_else(|| self.wrong_here(format!("{} is no time that can be read: {FORMS}", self.what())))
            }
        }
    }

    /// A time in the words of this language; `None` where it begins with others.
    pub(super) fn own_window(&mut self) -> Read<Option<Window>> {
        let place = self.place();
        if self.eat(&["all time", "all"]) {
            return self.labelled(place, None, None).map(Some);
        }
        let (start, end) = if self.eat(&["since", "starting"]) {
            let Some(from) = self.stretch()? else { return Ok(None) };
            (Some(from.start), self.up_to()?.flatten())
        } else if self.eat(&["after"]) {
            let Some(from) = self.stretch()? else { return Ok(None) };
            (Some(from.end), None)
        } else if self.eat(&["before"]) {
            let Some(to) = self.stretch()? else { return Ok(None) };
            (None, Some(to.start))
        } else if self.eat(&["until", "through", "up to", "till"]) {
            let Some(to) = self.stretch()? else { return Ok(None) };
            (None, Some(to.end))
        } else if self.eat(&["between"]) {
            let Some(from) = self.stretch()? else { return Ok(None) };
            self.need("and", "between the two times")?;
            let Some(to) = self.stretch()? else { return Ok(None) };
            (Some(from.start), Some(to.end))
        } else {
            let is_open = self.eat(&["from"]);
            let Some(from) = self.stretch()? else { return Ok(None) };
            match self.up_to()? {
                Some(None) => return Ok(None),
                Some(end) => (Some(from.start), end),
                None if is_open => (Some(from.start), None),
                None => (Some(from.start), Some(from.end)),
            }
        };
        self.labelled(place, start, end).map(Some)
    }

    /// The end after "to", if there is one; inner `None` where no time follows.
    fn up_to(&mut self) -> Read<Option<Option<Moment>>> {
        let place = self.place();
        if !(self.eat(&["to", "until", "through", "till"]) || self.eat_sign("..")) {
            return Ok(None);
        }
        let is_before = self.eat(&["before"]);
        match self.stretch()? {
            Some(to) => Ok(Some(Some(if is_before { to.start } else { to.end }))),
            None => {
                self.back_to(place);
                Ok(Some(None))
            }
        }
    }

    /// A window with the words that it is told in: `as 'last quarter'`, or where it moves those that it was read from.
    fn labelled(&mut self, place: usize, start: Option<Moment>, end: Option<Moment>) -> Read<Window> {
        let words = self.since(place);
        let at = self.offset(place);
        let label = match (self.is(0, &["as"]), self.kind(1)) {
            (true, Some(Kind::Text(label) | Kind::Name(label))) => Some(label.clone()),
            _ => None,
        };
        self.skip(if label.is_some() { 2 } else { 0 });
        let beyond = || Wrong::at(at, format!("{words} is beyond the calendar"));
        let is_moving = [&start, &end].into_iter().flatten().any(moves);
        let window = if is_moving {
            let phrase = label.clone().unwrap_or_else(|| words.clone());
            let phrase = Some(phrase).filter(|phrase| !phrase.is_empty());
            window_at(&Relative { start, end }, self.now, &self.ontology.calendar, phrase).ok_or_else(beyond)?
        } else {
            let text = |moment: Option<Moment>| match moment?.from {
                Anchor::At(text) => Some(text),
                _ => None,
            };
            let phrase = label.filter(|phrase| !phrase.is_empty());
            Window { start: text(start), end: text(end), phrase, relative: None }
        };
        if window.start.is_some() && window.end.is_some() && Span::read(&window).is_none() {
            return Err(Wrong::at(at, format!("{words} ends before it begins, or has no length")));
        }
        Ok(window)
    }

    /// A stretch or a point of time, which begins and ends at once.
    pub(super) fn point_or_window(&mut self) -> Read<Option<Window>> {
        let at = self.here();
        let Some(found) = self.stretch()? else { return Ok(None) };
        let moves = moves(&found.start) || moves(&found.end);
        let relative = Relative { start: Some(found.start), end: Some(found.end) };
        let window = window_at(&relative, self.now, &self.ontology.calendar, None);
        let window = window.ok_or_else(|| Wrong::at(at, "this is beyond the calendar"))?;
        Ok(Some(if moves { window } else { Window { relative: None, ..window } }))
    }

    /// The whole unit that a time is of: of `date_trunc('month', f) = '2013-07-01'`.
    pub(super) fn stretch_of(&mut self, grain: Grain) -> Read<Window> {
        let at = self.here();
        let found = self.point_or_window()?.ok_or_else(|| Wrong::at(at, "a time is missing, such as 2013-07"))?;
        let unit = UNITS.iter().map(|(unit, ..)| *unit).find(|unit| unit.grain() == Some(grain));
        let is_day = Span::read(&found).is_none_or(|span| Unit::Day.add(span.start, 1) == Some(span.end));
        let start = found.start.as_deref().and_then(read).filter(|_| found.relative.is_none() && is_day);
        let whole = unit.zip(start).and_then(|(unit, start)| unit.around(start, 0, 1, &self.ontology.calendar));
        Ok(whole.map_or(found, |span| span.window(None)))
    }

    fn stretch(&mut self) -> Read<Option<Stretch>> {
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
            let ahead = 1 + usize::from(self.is(1, &["interval"]));
            if let Some(Kind::Text(inner)) = self.kind(ahead).filter(|_| ahead == 2) {
                let inner = inner.clone();
                let Some((count, unit)) =
                    self.another(&inner).and_then(|it| it.count_of_units(0).map(|it| (it.0, it.1)))
                else {
                    return steps;
                };
                steps.push(Step { count: sign * count, unit });
                self.skip(3);
                continue;
            }
            let Some((count, unit, length)) = self.count_of_units(ahead) else { return steps };
            steps.push(Step { count: sign * count, unit });
            self.skip(ahead + length);
        }
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
            let found = self.plain_stretch()?;
            return Ok(found.map(|found| Stretch::at(if is_end { found.end } else { found.start })));
        }
        if self.eat(&["monday of"]) {
            let found = self.plain_stretch()?;
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
        if let Some(found) = self.to_date() {
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
    fn to_date(&mut self) -> Option<Stretch> {
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

    /// A time as people say it: up to the end of the text, or to a word that goes on with something else.
    fn spoken(&mut self) -> Option<Window> {
        let place = self.place();
        let mut ends = vec![self.place_of_end()];
        let mut ahead = 0;
        while self.kind(ahead).is_some()
            && !self.is(ahead, &AFTER)
            && !self.is_sign(ahead, ")")
            && !self.is_sign(ahead, ",")
        {
            ahead += 1;
        }
        ends.push(place + ahead);
        let languages = Engines::languages();
        for end in ends.into_iter().filter(|end| *end > place) {
            self.back_to(end);
            let said = match (self.kind_at(place), end - place) {
                (Some(Kind::Text(inner)), 1) => inner.clone(),
                _ => self.since(place),
            };
            let calendar = &self.ontology.calendar;
            let read =
                |at: DateTime| <[Window; 1]>::try_from(languages.windows(&said, at, calendar)).ok().map(|[only]| only);
            if let Some(window) = languages.period(&said).and_then(|_| read(self.now)) {
                let relative = relative(&window, self.now, calendar, read);
                return Some(Window { relative, ..window });
            }
        }
        self.back_to(place);
        None
    }
}

/// A whole number that can be counted to.
fn whole(number: f64) -> Option<i64> {
    let is = number.fract() == 0.0 && number.abs() < MOST;
    is.then(|| number as i64)
}

/// A text that is a window in the words of this language, whatever time it is; what a writer leaves as it is.
pub(super) fn alone(phrase: &str, ontology: &Ontology) -> Option<Window> {
    let around = Around::default();
    let mut reader = Reader::new(phrase, (ontology, jiff::civil::date(2026, 1, 1).at(0, 0, 0, 0), &around)).ok()?;
    let window = reader.own_window().ok().flatten()?;
    reader.is_end().then_some(window)
}
