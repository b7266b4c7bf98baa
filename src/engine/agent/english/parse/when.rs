//! Times where nouns are read.

use super::super::items::Kind;
use super::super::sketch::{Ask, Cond, Noun, NounAt, Quantity, Want};
use super::Parser;
use super::nouns::{field_of, thing};
use crate::engine::agent::english::lexicon::{Entry, Sense, words};
use crate::engine::agent::english::time::TimePhrase;
use crate::model::ontology::{Aggregation, Field, FieldRole};
use crate::model::plan::{Grain, Window};

impl Parser<'_> {
    pub(super) fn is_time(&self, noun: NounAt) -> bool {
        let entries = &self.sketch.nouns[noun].entries;
        let other =
            entries.iter().any(|entry| !entry.partial && !matches!(entry.sense, Sense::Field(..) | Sense::Segment(_)));
        !other && entries.iter().any(|entry| self.is_calendar(&entry.sense))
    }

    /// "claims that were closed", "orders not yet shipped": a time that is known, or not.
    pub(super) fn happened(&mut self, noun: NounAt) -> bool {
        let known = &self.sketch.nouns[noun];
        let named = known.entries.iter().any(|entry| matches!(entry.sense, Sense::Segment(_)));
        let verb = words::is_past(&known.norm)
            && known.entries.iter().all(|entry| field_of(entry).is_some() || matches!(entry.sense, Sense::Segment(_)));
        if !verb || self.focus.is_none() && self.sketch.subject.is_none() {
            return false;
        }
        let start = known.items.start;
        let not = |back: usize| {
            start
                .checked_sub(back)
                .and_then(|at| self.items.get(at))
                .is_some_and(|item| item.any(&["not", "never", "arent", "werent", "havent", "hasnt"]))
        };
        let negated = not(1) || not(2) || not(3);
        if named {
            // A condition of that name says it better: "closed".
            self.sketch.nouns[noun].entries.retain(|entry| matches!(entry.sense, Sense::Segment(_)));
            self.sketch.nouns[noun].want = Want::Flag;
            self.add(Cond::Flag { noun, negated });
            return true;
        }
        self.sketch.nouns[noun].want = Want::Time;
        self.add(Cond::Null { field: noun, negated: !negated });
        true
    }

    /// Whether a verb here is the name of a time and says that something was done: "that were purchased".
    pub(super) fn done_here(&self) -> bool {
        let passive = matches!(self.previous(), "were" | "was" | "been" | "ever" | "never" | "is" | "are");
        let ended = self.item(1).is_none_or(|next| next.any(&[",", "and", "but", "or", "yet"]));
        let calendar = |entry: &Entry| !entry.partial && self.is_calendar(&entry.sense);
        let time = self.item(0).is_some_and(|item| words::is_past(&item.norm) && item.entries.iter().any(calendar));
        passive && ended && time
    }

    /// "open in June": what is not ended today says nothing of what was not ended at some time in June.
    pub(super) fn ended_within(&mut self, noun: NounAt) {
        let ahead = usize::from(matches!(self.word(0), "in" | "during" | "throughout"));
        let within = self.item(ahead).is_some_and(|item| match &item.kind {
            Kind::Time(TimePhrase::Window(window)) => unit(window) != Some(Grain::Day),
            _ => false,
        });
        let unended = |entry: &Entry| {
            let Sense::Segment(segment) = entry.sense else { return false };
            let expression = self.ontology.segments.get(segment).map_or("", |segment| segment.expression.trim());
            let field = expression.strip_suffix(" IS NULL").and_then(|field| field.trim().split_once('.'));
            field
                .and_then(|(dataset, field)| self.ontology.field(dataset, field))
                .is_some_and(|field| field.datatype.is_calendar())
        };
        if within && self.sketch.nouns[noun].entries.iter().any(unended) {
            let text = &self.sketch.nouns[noun].text;
            self.sketch.refused =
                Some(format!("“{text}” on which day? Name one, or say by which time the period is meant."));
        }
    }

    /// "what about 2024?": a number alone that can only be a year.
    pub(super) fn lone_year(&self) -> Option<u16> {
        let Some(Kind::Number(quantity)) = self.item(0).map(|item| &item.kind) else { return None };
        let alone = self.sketch.nouns.is_empty() && self.sketch.measures.is_empty() && self.item(1).is_none();
        let year = alone
            && quantity.unit.is_none()
            && quantity.value.fract() == 0.0
            && (1900.0..2100.0).contains(&quantity.value);
        year.then(|| self.word(0).parse().ok()).flatten()
    }

    /// Whether it can only be the name of a number: "minutes" after "in" is a unit all the same.
    fn is_number_name(&self, item: &super::super::items::Item) -> bool {
        item.entries.iter().all(|entry| match entry.sense {
            Sense::Field(d, f) => self.field(d, f).is_some_and(|field| field.datatype.is_number()),
            Sense::Metric(_) => true,
            _ => false,
        })
    }

    /// "distance in km": the unit that a number is asked for in.
    fn unit_asked(&mut self) -> bool {
        let unit = self.word(1).to_owned();
        let ended =
            matches!(self.word(2), "" | "by" | "per" | "for" | "of" | "in" | "on" | "at" | "from" | "each" | ",");
        let ended = ended || self.item(2).is_some_and(|item| matches!(item.kind, Kind::Time(_)));
        let asked = self.word(0) == "in"
            && unit.len() > 1
            && super::super::vocabulary::unit(&unit).is_some()
            && !self.item(1).is_some_and(|item| item.has_value() || item.is_named() && !self.is_number_name(item));
        if asked && ended {
            if self.sketch.measures.is_empty() && self.sketch.rank.is_none() && !self.amount_in(&unit) {
                return false;
            }
            self.sketch.unit = Some(unit);
            self.at += 2;
        }
        asked && ended
    }

    /// "sales per shop in EUR": how many there are is in no currency, so that the only amount of theirs which is, and which
    /// adds up, is asked for.
    fn amount_in(&mut self, unit: &str) -> bool {
        let money = super::super::vocabulary::unit(unit).is_some_and(|(kind, _)| kind == "money");
        let counted = self.sketch.ask == Ask::Open
            && !self.sketch.groups.is_empty()
            && self.sketch.columns.is_empty()
            && self.frames.is_empty();
        let Some(subject) = self.sketch.subject.filter(|_| money && counted) else { return false };
        let of = self.sketch.nouns[subject].entries.iter().filter(|entry| entry.is_whole_thing()).find_map(thing);
        let ontology = self.ontology;
        let Some((dataset, entity)) = of.and_then(|of| Some((of, ontology.datasets.get(of)?))) else { return false };
        let summed = |field: &Field| {
            let own = field.unit.as_deref().is_some_and(|own| own.eq_ignore_ascii_case(unit));
            let adds = field.default_aggregation == Some(Aggregation::Sum) && field.role == FieldRole::Measure;
            own && adds && !field.hidden
        };
        let mut amounts = (0..).zip(&entity.fields).filter(|(_, field)| summed(field)).map(|(at, _)| at);
        let (Some(amount), None) = (amounts.next(), amounts.next()) else { return false };
        let entry = Entry { sense: Sense::Field(dataset, amount), quality: 1.0, partial: false };
        let noun = Noun::new(self, self.at + 1..self.at + 2, vec![entry], Want::Measure, "in");
        let noun = self.push(noun);
        self.sketch.measures.push(Quantity::Plain(noun));
        true
    }

    /// Whether a unit of time here is a value of the data as well: "yearly" of premiums that are paid by the year.
    pub(super) fn is_value_too(&self) -> bool {
        let word = self.word(0);
        let value = |entry: &Entry| matches!(entry.sense, Sense::Value { .. });
        self.on.matches(&[word], &[false]).iter().any(|found| found.entries.iter().any(value))
    }

    /// "in each of 2022 and 2023": a number for each of some windows.
    pub(super) fn each_window(&self) -> bool {
        let each = (0..2).find(|ahead| self.word(*ahead) == "each");
        each.is_some_and(|each| {
            let next = if self.word(each + 1) == "of" { each + 2 } else { each + 1 };
            matches!(self.item(next).map(|item| &item.kind), Some(Kind::Time(TimePhrase::Window(_))))
        })
    }

    /// A window with those that are joined to it: "in 2022 and 2023", "May or June". With "each" a number for each.
    pub(super) fn windows(&mut self, field: Option<NounAt>, first: Window, negated: bool) {
        let mut windows = vec![first];
        let mut either = false;
        let before = |back: usize| self.at.checked_sub(back).map_or("", |at| self.previous_of(at));
        let each = before(1) == "each" || before(1) == "of" && before(2) == "each";
        loop {
            let back = self.at;
            let or = self.eat_any(&[", or", "or in", "or"]);
            let joined = or || self.eat_any(&[", and", "and also", "and in", "and", ",", "&", "as well as", "plus"]);
            let Some(Kind::Time(TimePhrase::Window(window))) = self.item(0).map(|item| item.kind.clone()) else {
                self.at = back;
                break;
            };
            if !joined {
                self.at = back;
                break;
            }
            self.at += 1;
            either |= or;
            windows.push(window);
        }
        // "compare 2022 and 2023", "2022 and 2023 each"
        let apart = windows.len() > 1 && (each || self.eat_any(&["each", "respectively", "separately"]));
        if let (true, Some(grain)) = (apart, windows.first().and_then(unit)) {
            let group = super::super::sketch::Group { noun: field, grain: Some(grain), each: false, per: false };
            if !self.sketch.groups.contains(&group) {
                self.sketch.groups.push(group);
            }
        }
        self.add(Cond::Window { field, windows, negated, either });
    }

    /// "title, price and year": a field of the listed thing that is a number of years.
    fn year_column(&mut self, start: usize, grain: Grain) -> bool {
        let listed = matches!(self.previous_of(start), "," | "and" | "&" | "-" | "–" | ":");
        let list = grain == Grain::Year && self.sketch.measures.is_empty() && self.sketch.groups.is_empty();
        let years = |dataset: usize| {
            let of_years = |field: &crate::model::ontology::Field| {
                let name = crate::model::ontology::in_words(&field.name);
                !field.hidden && field.datatype.is_number() && name.split(' ').any(|word| word == "year")
            };
            let entity = self.ontology.datasets.get(dataset)?;
            let mut found = entity.fields.iter().enumerate().filter(|(_, field)| of_years(field));
            let (at, _) = found.next()?;
            found.next().is_none().then_some((dataset, at))
        };
        let things = self.sketch.nouns.iter().flat_map(|noun| &noun.entries).filter(|entry| !entry.partial);
        let mut things = things.filter_map(|entry| super::nouns::thing(entry).or_else(|| field_of(entry)));
        let Some((dataset, field)) = things.find_map(years).filter(|_| listed && list) else { return false };
        let entry = Entry { sense: Sense::Field(dataset, field), quality: 1.0, partial: false };
        let noun = Noun::new(self, start..start + 1, vec![entry], Want::Column, "");
        let noun = self.push(noun);
        self.sketch.columns.push(noun);
        true
    }

    /// The time by which a number is counted.
    fn time_of_metric(&self, entry: &Entry) -> Option<Entry> {
        let Sense::Metric(metric) = entry.sense else { return None };
        let field = self.ontology.metrics.get(metric)?.default_time_field.as_ref().filter(|_| !entry.partial)?;
        let (dataset, field) = field.split_once('.')?;
        let d = self.ontology.datasets.iter().position(|entity| entity.name.eq_ignore_ascii_case(dataset))?;
        let f = self.ontology.datasets[d].fields.iter().position(|known| known.name.eq_ignore_ascii_case(field))?;
        Some(Entry { sense: Sense::Field(d, f), ..entry.clone() })
    }

    /// "year of opening": the time of which a unit is said.
    pub(super) fn time_named(&mut self) -> Option<NounAt> {
        let article = usize::from(matches!(self.word(1), "the" | "its" | "their"));
        let item = self.item(1 + article).filter(|_| self.word(0) == "of")?;
        let mut entries: Vec<_> = item.entries.iter().filter(|entry| self.is_calendar(&entry.sense)).cloned().collect();
        if entries.is_empty() && !item.entries.iter().any(Entry::is_thing) {
            entries = item.entries.iter().filter_map(|entry| self.time_of_metric(entry)).take(1).collect();
        }
        if entries.is_empty() {
            // A condition's name says no time: "year of opening" is not that of what is open.
            let named = item.entries.iter().any(|entry| matches!(entry.sense, Sense::Segment(_)));
            if named && !item.entries.iter().any(Entry::is_thing) {
                let text = item.text.clone();
                self.sketch.unknown.push(text);
            }
            return None;
        }
        self.at += 1 + article;
        let noun = Noun::new(self, self.at..self.at + 1, entries, Want::Time, "of");
        self.at += 1;
        Some(self.push(noun))
    }

    /// What may be a time or something else: "loans of 1984", where a book is called so, and "agents starting in 2023",
    /// where agents have a date of their start.
    fn two_senses(&self, at: usize, window: &Window) -> Option<String> {
        let text = self.items.get(at)?.text.as_str();
        let (before, name) = match text.split_once(' ') {
            Some((before, name)) if before.eq_ignore_ascii_case("of") => ("of", name),
            _ => (self.previous_of(at), text),
        };
        let list = words::split(name);
        let said: Vec<&str> = list.iter().map(String::as_str).collect();
        let is_label = |entry: &Entry| match &entry.sense {
            Sense::Value { dataset, field, .. } if !entry.partial => {
                let label = self.ontology.datasets.get(*dataset).and_then(|entity| entity.label_field.as_ref());
                let own = self.field(*dataset, *field);
                label.is_some_and(|label| own.is_some_and(|own| own.name.eq_ignore_ascii_case(label)))
            }
            _ => false,
        };
        let found = self.on.matches(&said, &vec![false; said.len()]);
        let mut whole = found.iter().filter(|found| found.words == said.len()).flat_map(|found| &found.entries);
        let alone = window.phrase.as_ref().is_some_and(|phrase| phrase.eq_ignore_ascii_case(text));
        let called = alone && matches!(before, "named" | "called" | "titled" | "entitled");
        if called || before == "of" && whole.any(is_label) {
            return Some(format!(
                "“{name}” may be a time or a name here: say “in {name}” for the time, or put the name in quotes."
            ));
        }
        let start = text.to_lowercase().strip_prefix("starting in ").map(str::to_owned)?;
        let begins = window.end.is_none() && self.begins(at);
        begins.then(|| format!("“{text}”: say “that started in {start}” for these alone, or “since {start}”."))
    }

    /// Windows, grains and comparisons that stand free.
    pub(super) fn times(&mut self) -> bool {
        if let Some(year) = self.lone_year() {
            self.at += 1;
            let window = Window {
                start: Some(format!("{year}-01-01")),
                end: Some(format!("{}-01-01", year + 1)),
                phrase: Some(year.to_string()),
                relative: None,
            };
            self.add(Cond::Window { field: None, windows: vec![window], negated: false, either: false });
            return true;
        }
        // "excluding February and March"
        let back = self.at;
        if self.eat_any(&["excluding", "except", "except for", "except in", "but not in", "not in", "without"]) {
            self.articles();
            let Some(Kind::Time(TimePhrase::Window(window))) = self.item(0).map(|item| item.kind.clone()) else {
                self.at = back;
                return false;
            };
            self.at += 1;
            self.windows(None, window, true);
            self.ends_what_is_not();
            return true;
        }
        if self.unit_asked() {
            return true;
        }
        let back = self.at;
        let each = self.eat_any(&["in each of", "for each of", "each of", "in each", "for each"]);
        let window = matches!(self.item(0).map(|item| &item.kind), Some(Kind::Time(TimePhrase::Window(_))));
        if each && !window {
            self.at = back;
        }
        let Some(Kind::Time(phrase)) = self.item(0).map(|item| item.kind.clone()) else { return false };
        let start = self.at;
        self.at += 1;
        match phrase {
            TimePhrase::Window(window) => {
                let negated = self.negated_before(start);
                let field = if negated { None } else { self.time_done(start).or_else(|| self.time_of_deed(start)) };
                self.sketch.refused = self.sketch.refused.take().or_else(|| self.two_senses(start, &window));
                self.windows(field, window, negated);
            }
            TimePhrase::Grain(grain) => {
                let adverb = self.items[start].norm.ends_with("ly")
                    || matches!(self.items[start].norm.as_str(), "annual" | "day of week" | "day of the week");
                if self.previous_of(start) == "in" && !adverb {
                    self.sketch.unit = Some(self.items[start].norm.clone());
                    return true;
                }
                // "a yearly premium below 100" is none of a group.
                let amount =
                    self.item(0).is_some_and(|item| item.entries.iter().any(|entry| self.is_measure(&entry.sense)));
                if adverb && amount && matches!(self.previous_of(start), "a" | "an") {
                    self.at = start;
                    return false;
                }
                if !adverb && self.year_column(start, grain) {
                    return true;
                }
                if !adverb && !matches!(self.previous_of(start), "by" | "per" | "each" | "every" | "and" | "," | "over")
                {
                    self.at = start;
                    return false;
                }
                let group = super::super::sketch::Group { noun: None, grain: Some(grain), each: false, per: false };
                self.sketch.groups.push(group);
            }
            TimePhrase::Hours(from, to) => {
                let negated = self.negated_before(start);
                self.add(Cond::Hours { field: None, from, to, negated });
            }
            TimePhrase::Compare(with) => self.sketch.compare = Some(with),
            TimePhrase::Rolling(rows, grain) => {
                self.sketch.display = Some(super::super::sketch::Display::MovingAverage(rows));
                let group = super::super::sketch::Group { noun: None, grain: Some(grain), each: false, per: false };
                self.sketch.groups.push(group);
                self.eat_any(&[
                    "moving average of", "rolling average of", "moving average", "rolling average", "average of",
                    "average",
                ]);
            }
        }
        true
    }
}

/// The unit of the calendar that a window is one of.
fn unit(window: &Window) -> Option<Grain> {
    let date = |at: &Option<String>| at.as_ref()?.parse::<jiff::civil::Date>().ok();
    let (start, end) = (date(&window.start)?, date(&window.end)?);
    let months = i32::from(end.year() - start.year()) * 12 + i32::from(end.month()) - i32::from(start.month());
    let whole = start.day() == 1 && end.day() == 1;
    match (whole, months) {
        (true, 12) => Some(Grain::Year),
        (true, 3) => Some(Grain::Quarter),
        (true, 1) => Some(Grain::Month),
        _ => (start.tomorrow().ok()? == end).then_some(Grain::Day),
    }
}
