//! Rankings of stretches of time, and by when something happened: "the worst month", "who was hired last".

use crate::engine::agent::english::lexicon::{Entry, Sense};
use crate::engine::agent::english::time::TimePhrase;
use crate::model::ontology::Aggregation;
use crate::model::plan::Grain;

use super::super::items::Kind;
use super::super::sketch::{Cond, Group, Noun, NounAt, Quantity, Rank, Want};
use super::Parser;
use super::nouns::{field_of, thing};

impl Parser<'_> {
    /// "who was hired last", "which lease ends first": those of the thing whose time it is.
    pub(super) fn who_by_time(&mut self) -> bool {
        let back = (self.at, self.sketch.nouns.len());
        self.eat_any(&["that", "who", "which"]);
        self.eat_any(&["was", "is", "were", "has been", "have been", "got", "has", "have"]);
        // "was the last to join"
        let back_to = self.at;
        self.eat("the");
        let before = match (self.word(0), self.word(1)) {
            (end @ ("last" | "first"), "to") => {
                let latest = end == "last";
                self.at += 2;
                Some(latest)
            }
            _ => {
                self.at = back_to;
                self.recency()
            }
        };
        let from = self.at;
        if let Some(field) = self.time_verb()
            && let Some(descending) = before.or_else(|| self.time_end())
            && let [Entry { sense: Sense::Field(dataset, _), .. }] = self.sketch.nouns[field].entries.as_slice()
        {
            let owner = Entry { sense: Sense::Entity(*dataset), ..self.sketch.nouns[field].entries[0].clone() };
            if self.sketch.subject.is_none() {
                let subject = Noun::new(self, from..from + 1, vec![owner], Want::Thing, "");
                self.sketch.subject = Some(self.push(subject));
                self.focus = self.sketch.subject;
            }
            let text = self.items[from..self.at].iter().map(|item| item.text.as_str()).collect::<Vec<_>>().join(" ");
            self.sketch.rank = Some(Rank { field: Some(field), ..Rank::new(descending, None, 0, text) });
            return true;
        }
        // "who was hired in 2003": those of whom that time is told. The verb is read with it.
        self.at = from;
        self.drop_nouns(back.1);
        if let (None, None, Some(field)) = (before, self.sketch.subject, self.time_verb())
            && let [entry] = self.sketch.nouns[field].entries.as_slice()
            && let Sense::Field(dataset, _) = entry.sense
            && self.has_names(dataset)
        {
            let owner = Entry { sense: Sense::Entity(dataset), ..entry.clone() };
            self.at = from;
            self.drop_nouns(back.1);
            let subject = Noun::new(self, from..from, vec![owner], Want::Thing, "");
            self.sketch.subject = Some(self.push(subject));
            self.focus = self.sketch.subject;
            return true;
        }
        self.at = back.0;
        self.drop_nouns(back.1);
        self.who_did_last()
    }

    /// "which customer bought last": by the time of the rows that refer to what is asked for.
    fn who_did_last(&mut self) -> bool {
        let back = (self.at, self.sketch.nouns.len());
        let Some(subject) = self.sketch.subject else { return false };
        let name = |dataset: usize| self.ontology.datasets.get(dataset).map_or("", |entity| entity.name.as_str());
        let own: Vec<&str> = self.sketch.nouns[subject].entries.iter().filter_map(thing).map(name).collect();
        let of_them = |entry: &&Entry| {
            let Sense::Field(d, f) = entry.sense else { return false };
            let usual = self.ontology.datasets.get(d).and_then(|entity| entity.default_time_field.as_ref());
            let dated = self.field(d, f).is_some_and(|field| {
                field.datatype.is_calendar() && usual.is_some_and(|usual| usual.eq_ignore_ascii_case(&field.name))
            });
            let refers = self.ontology.relationships.iter().any(|known| {
                known.from.eq_ignore_ascii_case(name(d)) && own.iter().any(|own| own.eq_ignore_ascii_case(&known.to))
            });
            dated && refers && !entry.partial
        };
        let times: Vec<Entry> =
            self.item(0).map(|item| item.entries.iter().filter(of_them).cloned().collect()).unwrap_or_default();
        if times.len() != 1 {
            return false;
        }
        self.at += 1;
        let Some(latest) = self.time_end() else {
            self.at = back.0;
            return false;
        };
        let text = self.items[back.0..self.at].iter().map(|item| item.text.as_str()).collect::<Vec<_>>().join(" ");
        let time = Noun::new(self, back.0..back.0 + 1, times, Want::Aggregated, "");
        let time = self.push(time);
        let function = if latest { Aggregation::Max } else { Aggregation::Min };
        let by = Some(Quantity::Aggregate(function, time));
        self.sketch.rank = Some(Rank { by, ..Rank::new(latest, None, 0, text) });
        true
    }

    /// "the 5 most recently opened accounts": the verb between, where it says when, and the things if they were read
    /// with it.
    pub(super) fn verb_before(&mut self) -> Option<(NounAt, Option<NounAt>)> {
        if self.thing_at(1) {
            return self.time_verb().map(|time| (time, None));
        }
        // "opened accounts" may be the name of a state as well, which is not what is asked for here.
        let norm = self.item(0).map(|item| item.norm.clone())?;
        let (verb, name) = norm.split_once(' ')?;
        let of = |word: &str| self.on.matches(&[word], &[false]).into_iter().find(|found| found.words == 1);
        let things: Vec<Entry> = of(name)?.entries.into_iter().filter(Entry::is_thing).collect();
        let own: Vec<usize> = things.iter().filter_map(thing).collect();
        let times: Vec<Entry> = of(verb)?
            .entries
            .into_iter()
            .filter(|entry| {
                !entry.partial && field_of(entry).is_some_and(|d| own.contains(&d)) && self.is_calendar(&entry.sense)
            })
            .collect();
        if times.is_empty() || things.iter().all(|entry| entry.partial) {
            return None;
        }
        let time = Noun::new(self, self.at..self.at + 1, times, Want::Time, "");
        let time = self.push(time);
        let things = Noun { norm: name.to_owned(), ..Noun::new(self, self.at..self.at + 1, things, Want::Thing, "") };
        self.at += 1;
        Some((time, Some(self.push(things))))
    }

    /// "the last account that was opened", "the first customer to join": the time that is meant. A time behind the verb
    /// is one that it was in, too.
    pub(super) fn verb_behind(&mut self) -> Option<NounAt> {
        let start = self.at;
        self.eat_any(&["that", "who", "which", "to", "we", "ever"]);
        self.eat_any(&["was", "were", "has been", "have been", "had been", "is", "be", "got", "has", "have"]);
        let verb = self.at;
        let time = self.time_verb();
        if time.is_none() {
            self.at = start;
            return None;
        }
        let dated = (0..2).any(|ahead| self.item(ahead).is_some_and(|item| matches!(item.kind, Kind::Time(_))));
        if dated {
            self.at = verb;
        }
        time
    }

    /// "expires last": a verb that says when, and no field of the thing before it.
    pub(super) fn is_when_verb(&self) -> bool {
        let last = self.end.saturating_sub(self.at) <= 2;
        match (self.word(1), self.word(2)) {
            ("last" | "first" | "latest" | "earliest", next) => {
                last || matches!(next, "in" | "on" | "of" | "and" | "," | "at" | "from" | "by" | "for")
            }
            ("most" | "least", "recently") => true,
            _ => false,
        }
    }

    /// "last", "most recently" behind a verb, where nothing more is said with it: whether the latest is meant.
    fn time_end(&mut self) -> Option<bool> {
        let back = self.at;
        self.eat("the");
        let latest = match self.word(0) {
            "last" => {
                self.at += 1;
                Some(true)
            }
            "first" => {
                self.at += 1;
                Some(false)
            }
            _ => self.recency(),
        };
        let ended = self.at >= self.end
            || matches!(self.word(0), "in" | "on" | "of" | "and" | "," | "at" | "from" | "by" | "for")
            || self.item(0).is_some_and(|item| matches!(item.kind, Kind::Time(_)));
        if latest.is_none() || !ended {
            self.at = back;
            return None;
        }
        latest
    }

    /// "… and on what day?" behind a time that something was held against: that time of each.
    pub(super) fn and_when(&mut self) -> bool {
        let back = self.at;
        while self.eat_any(&[",", "and", "-"]) {}
        let asked = back < self.at || self.at > 0;
        let day = self.eat_any(&["on which", "on what", "which", "what", "at what"])
            && (self.eat_any(&["date", "dates"])
                || matches!(self.item(0).map(|item| &item.kind), Some(Kind::Time(TimePhrase::Grain(Grain::Day)))) && {
                    self.at += 1;
                    true
                });
        let when = !day && self.eat("when");
        let last = self.sketch.conds.iter().rev().find_map(|cond| match cond {
            Cond::Window { field: Some(field), .. } => Some(*field),
            _ => None,
        });
        let plain = self.sketch.measures.is_empty() && self.frames.is_empty() && self.item(0).is_none();
        if let (true, true, Some(field)) = (asked && plain, day || when, last) {
            let noun = Noun { want: Want::Column, ..self.sketch.nouns[field].clone() };
            let noun = self.push(noun);
            self.sketch.columns.push(noun);
            return true;
        }
        self.at = back;
        false
    }

    /// A unit of time that is ranked, by a number that is named before or after it.
    pub(super) fn ranked_times(&mut self, mut rank: Rank, grain: Grain) -> bool {
        let adverb = self.word(0).ends_with("ly") || self.word(0) == "annual";
        if adverb && self.is_value_too() {
            return false;
        }
        self.at += 1;
        let group = Group { noun: None, grain: Some(grain), each: false, per: false };
        if !self.sketch.groups.contains(&group) {
            self.sketch.groups.push(group);
        }
        if adverb || self.eat_any(&["for", "by", "in terms of", "of", "in"]) {
            let back = (self.at, self.sketch.nouns.len());
            self.articles();
            rank.by = self.ranked_quantity(&[]);
            if rank.by.is_none() {
                (self.at, _) = back;
                self.drop_nouns(back.1);
                self.at -= usize::from(!adverb);
            }
        }
        rank.frequency = false;
        rank.quality = rank.by.is_none() && self.sketch.measures.is_empty();
        self.sketch.rank = Some(rank);
        true
    }

    /// Whether a dataset has a number that one of these nouns speaks of.
    pub(super) fn is_sized(&self, noun: NounAt, hints: &[&str]) -> bool {
        let entities = self.sketch.nouns[noun].entries.iter().filter_map(thing);
        let says = |name: &str| name.to_lowercase().split([' ', '_']).any(|word| hints.contains(&word));
        entities.filter_map(|dataset| self.ontology.datasets.get(dataset)).any(|entity| {
            entity.fields.iter().any(|field| {
                let names = [field.name.as_str(), field.label.as_str()];
                let synonyms = field.ai.synonyms.iter().map(String::as_str);
                !field.hidden && field.datatype.is_number() && names.into_iter().chain(synonyms).any(says)
            })
        })
    }
}
