//! Stretches of time in a text.
//!
//! `2013`, `2013-07`, `2013-Q3`, `2013-H1`, `2013-W05`, `2013-07-04`, `FY2014`, `FY2014-Q1`; `A to B` with all of B, but
//! up to a time of day without it; `A to before B`; `since A`, `after A`, `before A`, `until A` with all of A. Times that
//! move: `today`, `last 3 months` (whole ones before the present one), `this quarter`, `next week`, `2 months ago`,
//! `month to date`; and points of them: `start of last month + 3 days`, `monday of this week`, `latest 03-25`. What is
//! none of this is read as people say it: "July 2013", "last weekend".

use jiff::civil::DateTime;

use super::cursor::{Around, Read, Reader};
use super::lexer::Kind;
use super::problem::Wrong;
use super::stretches::moves;
use super::words::UNITS;
use crate::engine::Engines;
use crate::engine::agent::plan::relative::{relative, window_at};
use crate::engine::agent::plan::window::{Span, Unit, read, text};
use crate::model::ontology::Ontology;
use crate::model::plan::{Anchor, Comparator, Condition, FieldRef, Grain, Moment, Relative, Step, Window};

/// Words after which a time is over.
const AFTER: [&str; 8] = ["and", "or", "as", "by", "order", "group", "limit", "then"];

const FORMS: &str = "times are written 2013, 2013-07, 2013-Q3, 2013-07-04, `2013-01-01 to 2013-03-31`, `since 2013-07`, \
                     `before 2013-07`, `last 3 months`, `this year`, `month to date`, `2 weeks ago`";

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
        if !(self.eat(&["to", "until", "through", "till"]) || ["..", "-", "/"].iter().any(|sign| self.eat_sign(sign))) {
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
            let phrase = label.unwrap_or_else(|| words.clone());
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
        let (at, place) = (self.here(), self.place());
        let Some(found) = self.stretch()? else { return Ok(None) };
        let moves = moves(&found.start) || moves(&found.end);
        let said = self.since(place);
        let in_quotes = said.strip_prefix('\'').and_then(|it| it.strip_suffix('\'')).filter(|it| !it.contains('\''));
        let phrase = Some(in_quotes.unwrap_or(&said).to_owned()).filter(|_| moves);
        let relative = Relative { start: Some(found.start), end: Some(found.end) };
        let window = window_at(&relative, self.now, &self.ontology.calendar, phrase);
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
            let said = said.replace('_', " ");
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

/// A field of time that is before, in or after a stretch.
pub(super) fn in_time(field: FieldRef, op: Comparator, window: Window) -> Condition {
    Condition::Within { field, window: bounded(op, window), negated: op == Comparator::NotEqual }
}

/// The times that are before, in or after a stretch; those that move in the words that they would be asked for with.
pub(super) fn bounded(op: Comparator, window: Window) -> Window {
    let said = window.phrase.clone();
    let told = |by: &str| said.as_ref().map(|said| format!("{by} {said}"));
    let Relative { start, end } = window.relative.clone().unwrap_or_default();
    let since = |at, moment, by| opened((at, moment), (None, None), told(by));
    let before = |at, moment, by| opened((None, None), (at, moment), told(by));
    match op {
        Comparator::Equal | Comparator::NotEqual => whole_day(window),
        Comparator::AtLeast => since(window.start, start, "since"),
        Comparator::Greater => since(window.end, end, "after"),
        Comparator::Less => before(window.start, start, "before"),
        Comparator::AtMost => before(window.end, end, "until"),
    }
}

/// From the beginning of one window to the end of another.
pub(super) fn spanned(from: Window, to: Window) -> Window {
    let (since, until) = (from.relative.unwrap_or_default().start, to.relative.unwrap_or_default().end);
    let words = |said: Option<String>, at: &Option<String>| said.or_else(|| at.clone()).unwrap_or_default();
    let is_before = if to.phrase.is_some() { "" } else { "before " };
    let phrase = format!("{} to {is_before}{}", words(from.phrase, &from.start), words(to.phrase, &to.end));
    opened((from.start, since), (to.end, until), Some(phrase))
}

/// A window by its ends, each as it is now and as it moves. One that lies still has no words.
fn opened(
    (start, since): (Option<String>, Option<Moment>),
    (end, until): (Option<String>, Option<Moment>),
    phrase: Option<String>,
) -> Window {
    let is_moving = [&since, &until].into_iter().flatten().any(moves);
    let fixed = |at: &Option<String>| at.clone().map(|at| Moment { from: Anchor::At(at), then: Vec::new() });
    let relative = Relative { start: since.or_else(|| fixed(&start)), end: until.or_else(|| fixed(&end)) };
    Window { start, end, phrase: phrase.filter(|_| is_moving), relative: Some(relative).filter(|_| is_moving) }
}

/// A point that is a day's beginning is that day.
fn whole_day(mut window: Window) -> Window {
    let start = window.start.as_deref().filter(|start| start.len() == 10 && window.start == window.end);
    let Some(next) = start.and_then(read).and_then(|start| Unit::Day.add(start, 1)) else { return window };
    window.end = Some(text(next));
    if let Some(end) = window.relative.as_mut().and_then(|relative| relative.end.as_mut()) {
        end.then.push(Step { count: 1, unit: Unit::Day });
    }
    window
}

/// A text that is a window in the words of this language, whatever time it is; what a writer leaves as it is.
pub(super) fn alone(phrase: &str, ontology: &Ontology) -> Option<Window> {
    let around = Around::default();
    let mut reader = Reader::new(phrase, (ontology, jiff::civil::date(2026, 1, 1).at(0, 0, 0, 0), &around)).ok()?;
    let window = reader.own_window().ok().flatten()?;
    reader.is_end().then_some(window)
}
