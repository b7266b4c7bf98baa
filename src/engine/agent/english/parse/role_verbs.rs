//! Verbs that say which part someone plays: "who manages shop 2?", "the loans that Ada checked", "signed by Ada". A
//! relationship, a dataset or a field has the name of those who do it.

use crate::engine::agent::english::lexicon::{Entry, PARTICLES, Sense};
use crate::engine::agent::english::time::TimePhrase;
use crate::model::ontology::FieldRole;

use super::super::items::{Item, Kind};
use super::super::sketch::{Noun, NounAt, Want};
use super::Parser;
use super::nouns::thing;

/// Those who do what a verb says.
pub(super) struct Agents {
    /// Relationships that lead to them.
    roles: Vec<usize>,
    /// Datasets and fields that they are.
    own: Vec<Entry>,
    /// How many items the verb takes.
    items: usize,
}

impl Parser<'_> {
    /// Those who do what a verb here says.
    fn agents_at(&self, ahead: usize) -> Option<Agents> {
        let item = self.item(ahead).filter(|item| item.kind == Kind::Word && !item.norm.contains(' '))?;
        let particle = self.item(ahead + 1).map(|next| next.norm.as_str()).filter(|word| PARTICLES.contains(word));
        let with = particle.map(|word| self.on.agents(&item.norm, Some(word))).unwrap_or_default();
        let (entries, items) = if with.is_empty() { (self.on.agents(&item.norm, None), 1) } else { (with, 2) };
        let mut roles = Vec::new();
        let mut own: Vec<Entry> = Vec::new();
        for entry in entries {
            match entry.sense {
                Sense::Role(role) => roles.push(role),
                Sense::Field(d, f) => {
                    let text = self.field(d, f).is_some_and(|field| {
                        field.role != FieldRole::Key && field.datatype == crate::model::ontology::DataType::String
                    });
                    own.extend(text.then_some(entry));
                }
                _ => own.push(entry),
            }
        }
        // Who does something has a name.
        if roles.iter().any(|role| self.is_named_end(*role)) {
            roles.retain(|role| self.is_named_end(*role));
        }
        (!roles.is_empty() || !own.is_empty()).then_some(Agents { roles, own, items })
    }

    pub(super) fn dataset(&self, name: &str) -> Option<usize> {
        self.ontology.datasets.iter().position(|entity| entity.name.eq_ignore_ascii_case(name))
    }

    /// The dataset that a relationship leads to.
    fn end_of(&self, role: usize) -> Option<usize> {
        self.dataset(&self.ontology.relationships.get(role)?.to)
    }

    fn is_named_end(&self, role: usize) -> bool {
        self.end_of(role).is_some_and(|dataset| self.has_names(dataset))
    }

    /// Whether the rows of a dataset are called by names, not by numbers.
    pub(super) fn has_names(&self, dataset: usize) -> bool {
        let Some(entity) = self.ontology.datasets.get(dataset) else { return false };
        let label = entity.label_field.as_ref().and_then(|label| entity.field(label));
        label.is_some_and(|label| label.role != FieldRole::Key && !label.datatype.is_number())
    }

    /// "who manages shop 2": those who do it are asked for, and what follows says to what.
    pub(super) fn who_does(&mut self) -> bool {
        let start = self.at;
        let done = matches!(self.word(0), "has" | "have" | "had");
        let doing = matches!(self.word(0), "is" | "are" | "was" | "were" | "s") && self.word(1).ends_with("ing");
        self.at += usize::from(done || doing);
        if self.who_does_here(start) || self.who_is_so() {
            return true;
        }
        self.at = start;
        false
    }

    fn who_does_here(&mut self, start: usize) -> bool {
        let Some(agents) = self.agents_at(0) else { return false };
        // "who buys the most?" says nothing of what.
        let article = agents.items + usize::from(self.word(agents.items) == "the");
        if self.item(agents.items).is_none() || super::vocabulary::superlative(self.word(article)).is_some() {
            return false;
        }
        let at = self.at;
        let name = |dataset: usize| Entry { sense: Sense::Entity(dataset), quality: 1.0, partial: false };
        let mut ends: Vec<usize> = agents.roles.iter().filter_map(|role| self.end_of(*role)).collect();
        ends.dedup();
        let event = self.item(0).is_some_and(|item| item.entries.iter().filter_map(thing).any(|d| !self.has_names(d)));
        // "who rented …": what they did is a thing of its own, read as a clause of those who did it.
        if event && at == start {
            let own = agents.own.iter().filter_map(thing).chain(ends.iter().copied()).next();
            let Some(own) = own.filter(|_| start > 0) else { return false };
            let subject = Noun::new(self, at..at, vec![name(own)], Want::Thing, "");
            self.sketch.subject = Some(self.push(subject));
            self.focus = self.sketch.subject;
            self.at = start - 1;
            return true;
        }
        let asked: (usize, Vec<Entry>, Vec<usize>) = match (agents.roles.as_slice(), agents.own.as_slice()) {
            (roles @ [first, ..], _) => {
                let from =
                    |role: usize| self.ontology.relationships.get(role).and_then(|known| self.dataset(&known.from));
                let Some(owner) = from(*first) else { return false };
                if ends.len() != 1 || roles.iter().any(|role| from(*role) != Some(owner)) {
                    return false;
                }
                (owner, vec![name(ends[0])], roles.to_vec())
            }
            ([], own) => match own.iter().find_map(thing) {
                Some(dataset) => (dataset, Vec::new(), Vec::new()),
                None => match own {
                    [Entry { sense: Sense::Field(dataset, _), .. }] => (*dataset, own.to_vec(), Vec::new()),
                    _ => return false,
                },
            },
        };
        let (owner, entries, roles) = asked;
        let subject = Noun::new(self, at..at, vec![name(owner)], Want::Thing, "");
        self.sketch.subject = Some(self.push(subject));
        self.focus = self.sketch.subject;
        if !entries.is_empty() {
            let mut column = Noun::new(self, at..at + agents.items, entries, Want::Column, "");
            column.roles = roles;
            let column = self.push(column);
            self.sketch.columns.push(column);
            self.sketch.only_columns = true;
        }
        self.doing = ends.first().copied();
        self.at += agents.items;
        true
    }

    /// "who manages Ada", "Ada's manager": Ada is not the manager.
    pub(super) fn of_others(&self, entries: &mut Vec<Entry>) {
        let owner = self.item(0).is_some_and(|item| item.text.ends_with("'s") || item.text.ends_with("’s"));
        let next: Vec<usize> = match self.item(1).filter(|_| owner) {
            Some(next) => next.entries.iter().filter_map(thing).collect(),
            None => self.doing.into_iter().collect(),
        };
        let other = |entry: &Entry| !matches!(entry.sense, Sense::Value { dataset, .. } if next.contains(&dataset));
        if entries.iter().any(other) {
            entries.retain(other);
        }
    }

    /// "which colleague manages shop 2", "the colleague who manages shop 2": the verb says how they belong together.
    pub(super) fn which_does(&mut self) -> bool {
        let Some(subject) = self.sketch.subject.filter(|_| self.frames.is_empty()) else { return false };
        let ahead = usize::from(matches!(self.word(0), "who" | "that" | "which"));
        let right_behind = self.sketch.nouns[subject].items.end == self.at;
        let bare = self.sketch.measures.is_empty() && self.sketch.columns.is_empty() && self.sketch.rank.is_none();
        let event = self.item(ahead).is_some_and(|item| item.entries.iter().any(Entry::is_thing));
        if !right_behind || !bare || event {
            return false;
        }
        let Some(agents) = self.agents_at(ahead).filter(|agents| self.word(ahead + agents.items) != "by") else {
            return false;
        };
        let own: Vec<usize> = self.sketch.nouns[subject].entries.iter().filter_map(thing).collect();
        let next = ahead + agents.items;
        let next = next + usize::from(matches!(self.word(next), "the" | "our"));
        let Some(object) = self.item(next) else { return false };
        let literal = self.item(next + 1).is_some_and(|item| matches!(item.kind, Kind::Number(_)) || item.has_value());
        // One row that is named; others are read as a clause, where the verb says no more than that they belong together.
        let telling = !super::vocabulary::is_relation(self.word(ahead));
        let done = |dataset: usize| {
            object.entries.iter().any(|entry| match entry.sense {
                Sense::Entity(d) => (literal || telling) && d == dataset,
                Sense::Value { dataset: d, .. } => !object.is_named() && d == dataset,
                _ => false,
            })
        };
        let ends = |role: &usize| {
            let known = self.ontology.relationships.get(*role)?;
            Some((self.dataset(&known.from)?, self.dataset(&known.to)?))
        };
        let fits = |role: &&usize| ends(role).is_some_and(|(from, to)| own.contains(&to) && from != to && done(from));
        let roles: Vec<usize> = agents.roles.iter().filter(fits).copied().collect();
        let ([role], true) = (roles.as_slice(), own.len() == 1) else { return false };
        let Some((from, to)) = ends(role) else { return false };
        self.at += ahead + agents.items;
        let entry = Entry { sense: Sense::Entity(from), quality: 1.0, partial: false };
        let owner = Noun::new(self, self.at..self.at, vec![entry], Want::Thing, "");
        let owner = self.push(owner);
        self.sketch.nouns[subject].want = Want::Column;
        self.sketch.nouns[subject].roles = roles;
        self.sketch.columns.push(subject);
        self.sketch.subject = Some(owner);
        self.sketch.only_columns = true;
        self.focus = Some(owner);
        self.doing = Some(to);
        true
    }

    /// "who lives in Lund", "who reports to Ada": the other end of a relationship with such a name.
    fn who_is_so(&mut self) -> bool {
        let Some(item) = self.item(0).filter(|item| super::nouns::leads(&item.norm)) else { return false };
        let mut from: Vec<usize> = item
            .entries
            .iter()
            .filter_map(super::nouns::role)
            .filter_map(|role| self.dataset(&self.ontology.relationships.get(role)?.from))
            .filter(|from| self.has_names(*from))
            .collect();
        from.dedup();
        let valued = self.item(1).is_some_and(Item::has_value);
        let ([from], true) = (from.as_slice(), valued) else { return false };
        let entry = Entry { sense: Sense::Entity(*from), quality: 1.0, partial: false };
        let subject = Noun::new(self, self.at..self.at, vec![entry], Want::Thing, "");
        self.sketch.subject = Some(self.push(subject));
        self.focus = self.sketch.subject;
        true
    }

    /// "the loans that Ada checked", "how many does Ada hold": the verb behind values says which part they play.
    pub(super) fn do_it(&mut self, first: usize, nouns: &[NounAt]) {
        let before = self.previous_of(first);
        let clause = matches!(
            before,
            "does" | "do" | "did" | "is" | "are" | "was" | "were" | "has" | "have" | "had" | "that" | "which" | "whom"
        );
        let behind = first.checked_sub(1).and_then(|at| self.items.get(at));
        let behind = behind.is_some_and(|item| item.is_named() && !item.has_value());
        if !clause && !behind {
            return;
        }
        let Some(agents) = self.agents_at(0).filter(|agents| self.word(agents.items) != "by") else { return };
        if !self.play(nouns, &agents) {
            // "the teachers that a pupil teaches", where it is they who teach pupils.
            let done_to = |role: &usize| {
                let from = self.ontology.relationships.get(*role).and_then(|known| self.dataset(&known.from));
                nouns.iter().all(|noun| {
                    let of =
                        |entry: &Entry| matches!(entry.sense, Sense::Value { dataset, .. } if Some(dataset) == from);
                    self.sketch.nouns[*noun].entries.iter().any(of)
                })
            };
            if clause && agents.roles.iter().any(done_to) {
                self.unknown();
            }
            return;
        }
        // What was done may be a thing of its own, and with a time behind it it says of what that is.
        let event = self.item(0).is_some_and(|item| item.entries.iter().any(Entry::is_thing));
        let later = usize::from(matches!(self.word(agents.items), "in" | "on" | "during"));
        let timed =
            matches!(self.item(agents.items + later).map(|item| &item.kind), Some(Kind::Time(TimePhrase::Window(_))));
        let dated = self.item(0).is_some_and(|item| item.entries.iter().any(|entry| self.is_calendar(&entry.sense)));
        let when = timed && dated;
        if !event && !when {
            self.at += agents.items;
        }
    }

    /// "loans inspected by Ada", where only "inspector" is known.
    pub(super) fn done_by(&mut self) -> bool {
        let by = if self.word(1) == "by" { 1 } else { 2 };
        let said = |entry: &Entry| matches!(entry.sense, Sense::Role(_)) && entry.quality > 0.95;
        let known = self.item(0).is_some_and(|item| item.entries.iter().any(said));
        if known || self.word(by) != "by" {
            return false;
        }
        let named = self.item(by + 1).is_some_and(Item::has_value);
        let Some(agents) = self.agents_at(0).filter(|agents| named && agents.items == by) else { return false };
        let (start, known) = (self.at, self.sketch.nouns.len());
        self.at += by + 1;
        let conds = self.open_conds();
        if self.values() {
            let nouns: Vec<NounAt> = (known..self.sketch.nouns.len()).collect();
            if self.open_conds() > conds && self.play(&nouns, &agents) {
                return true;
            }
        }
        self.at = start;
        false
    }

    /// Keeps of values what those who do something may be. Answers whether there is such.
    fn play(&mut self, nouns: &[NounAt], agents: &Agents) -> bool {
        let datasets: Vec<usize> = agents.own.iter().filter_map(thing).collect();
        let mut roles = agents.roles.clone();
        // "pupils that Ada manages", where it is teachers who are managed.
        let done: Option<Vec<usize>> =
            self.focus.map(|focus| self.sketch.nouns[focus].entries.iter().filter_map(thing).collect());
        let others = |role: &usize| {
            let from = self.ontology.relationships.get(*role).and_then(|known| self.dataset(&known.from));
            done.as_ref().zip(from).is_some_and(|(done, from)| {
                !done.is_empty()
                    && !done.contains(&from)
                    && done.iter().all(|d| self.has_names(*d))
                    && self.has_names(from)
            })
        };
        if !roles.is_empty() && roles.iter().all(others) {
            return false;
        }
        // "inspector" as a dataset of its own leads to the people who are one.
        for (at, relationship) in self.ontology.relationships.iter().enumerate() {
            let from = self.dataset(&relationship.from).is_some_and(|from| datasets.contains(&from));
            if from && relationship.role.is_some() && !roles.contains(&at) {
                roles.push(at);
            }
        }
        let fits = |dataset: usize, field: usize| {
            datasets.contains(&dataset)
                || agents.own.iter().any(|entry| entry.sense == Sense::Field(dataset, field))
                || roles.iter().any(|role| self.end_of(*role) == Some(dataset))
        };
        let kept: Vec<Vec<Entry>> = nouns
            .iter()
            .map(|noun| {
                let fit =
                    |entry: &&Entry| matches!(entry.sense, Sense::Value { dataset, field, .. } if fits(dataset, field));
                self.sketch.nouns[*noun].entries.iter().filter(fit).cloned().collect()
            })
            .collect();
        if kept.iter().any(Vec::is_empty) {
            return false;
        }
        for (noun, entries) in nouns.iter().zip(kept) {
            let of = |role: &usize| {
                let end = self.end_of(*role);
                entries.iter().any(|entry| matches!(entry.sense, Sense::Value { dataset, .. } if Some(dataset) == end))
            };
            let own = roles.iter().copied().filter(of).collect();
            let noun = &mut self.sketch.nouns[*noun];
            noun.roles = own;
            noun.entries = entries;
        }
        true
    }
}
