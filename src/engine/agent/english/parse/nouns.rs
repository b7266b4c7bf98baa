//! Nouns: terms of the ontology with what stands beside them.

use crate::engine::agent::english::lexicon::{Entry, GENERIC, Sense, words};

use super::super::items::{Item, Kind};
use super::super::sketch::{Noun, NounAt, Want};
use super::super::vocabulary;
use super::Parser;

impl Parser<'_> {
    /// A noun here, with what says more about it: "origin airport", "customer name", "name of the customer".
    pub(super) fn noun(&mut self, want: Want) -> Option<NounAt> {
        let start = self.at;
        let before = self.previous().to_owned();
        self.articles();
        let mut roles: Vec<usize> = Vec::new();
        loop {
            let mut named: Vec<usize> = self.item(0)?.entries.iter().filter_map(role).collect();
            if vocabulary::is_filler(&self.item(0)?.norm) {
                // "from customers": a preposition is a role only of what it may lead to.
                named.retain(|role| self.leads_to_next(*role));
            }
            let next = self
                .item(1)
                .is_some_and(|item| item.entries.iter().any(|entry| entry.is_thing() || field_of(entry).is_some()));
            // "customers bought …" says no role of what is bought.
            // "customers joined …" neither, where customers are things themselves.
            let itself = self.item(0).is_some_and(|item| item.entries.iter().any(Entry::is_thing));
            let when = matches!(self.word(2), "first" | "last" | "most" | "least" | "earliest" | "latest");
            let verb = self.item(1).is_some_and(|item| {
                vocabulary::is_ordinary(&item.norm) && !matches!(item.norm.as_str(), "name" | "names")
                    || itself && (item.norm.ends_with("ed") || when)
            });
            if named.is_empty() || !next || verb {
                break;
            }
            roles.extend(named);
            self.at += 1;
        }
        let bare = self.item(0).is_some_and(|item| {
            item.entries.iter().all(|entry| matches!(entry.sense, Sense::Role(_) | Sense::Value { .. }))
                && vocabulary::is_ordinary(&item.norm)
        });
        if bare && !self.item(0).is_some_and(|item| matches!(item.norm.as_str(), "name" | "names" | "id" | "ids")) {
            self.at = start;
            return None;
        }
        let Some(mut entries) = self.named_entries() else {
            self.at = start;
            return None;
        };
        let mut of = None;
        let first = self.at;
        self.at += 1;
        // "customer name", "claim's open date".
        let things: Vec<usize> = entries.iter().filter_map(thing).collect();
        if !things.is_empty() && want != Want::Thing {
            let inner: Vec<Entry> = self
                .item(0)
                .map(|item| {
                    item.entries
                        .iter()
                        .filter(|entry| field_of(entry).is_some_and(|d| things.contains(&d)))
                        .cloned()
                        .collect()
                })
                .unwrap_or_default();
            let generic = self.item(0).is_some_and(|item| {
                matches!(
                    item.norm.as_str(),
                    "name" | "number" | "code" | "id" | "identifier" | "key" | "title" | "titles"
                ) || matches!(item.norm.as_str(), "names" | "ids" | "numbers" | "codes")
            });
            let free = !matches!(self.item(0).map(|item| &item.kind), Some(Kind::Number(_) | Kind::Time(_)));
            // "customers joined in 2024" says when, not which field.
            let when = matches!(self.word(1), "before" | "after" | "in" | "since" | "between" | "during" | "until")
                || matches!(self.item(1).map(|item| &item.kind), Some(Kind::Time(_)));
            let made = self.word(1) == "by" && self.item(2).is_some_and(Item::has_value);
            let done = words::is_irregular(self.word(0)) && (made || when)
                || self.word(0).ends_with("ed")
                || want == Want::Counted && matches!(self.word(0), "built" | "made" | "born" | "sent" | "written");
            let free = free && !done && !self.is_when_verb();
            if free && (!inner.is_empty() || generic && self.item(0).is_some()) {
                let owner = self.push(Noun::new(self, first..first + 1, entries.clone(), Want::Thing, &before));
                self.sketch.nouns[owner].roles.clone_from(&roles);
                of = Some(owner);
                entries = inner;
                self.at += 1;
            }
        }
        let mut noun = Noun::new(self, first..self.at, entries, want, &before);
        noun.roles = roles;
        noun.of = of;
        let at = self.push(noun);
        if of.is_none() && self.part_of_one(at) {
            return Some(at);
        }
        // "name of the customer".
        if of.is_none() && self.word(0) == "of" && self.owned_thing(at) {
            self.at += 1;
            self.articles();
            self.sketch.nouns[at].of = self.noun(Want::Thing);
            self.focus_owner(at);
            self.one_owner(at);
        } else if of.is_none()
            && self.word(0) == "of"
            && matches!(
                want,
                Want::Column | Want::Group | Want::Bound | Want::Number | Want::Aggregated | Want::Measure
            )
        {
            let back = self.at;
            self.at += 1;
            self.articles();
            if matches!(self.word(0), "each" | "every") {
                self.at = back;
                return Some(at);
            }
            // "town of the broken tool", where that is a role.
            let part: Vec<usize> = self
                .item(0)
                .filter(|item| item.entries.iter().all(|entry| matches!(entry.sense, Sense::Role(_))))
                .map(|item| item.entries.iter().filter_map(role).collect())
                .unwrap_or_default();
            if !part.is_empty() && !vocabulary::is_ordinary(self.word(0)) && self.value_at(1).is_none() {
                self.sketch.nouns[at].roles.extend(part);
                self.at += 1;
                return Some(at);
            }
            let owns = self.item(0).is_some_and(|item| {
                let whose: Vec<usize> = item.entries.iter().filter_map(thing).collect();
                let fields: Vec<usize> = self.sketch.nouns[at].entries.iter().filter_map(field_of).collect();
                let generic = self.sketch.nouns[at].is_generic();
                !whose.is_empty() && (generic || whose.iter().any(|d| fields.contains(d)))
            });
            if owns {
                let owner = self.noun(Want::Thing);
                self.sketch.nouns[at].of = owner;
                self.focus_owner(at);
                if self.sketch.subject.is_none() && matches!(want, Want::Column) {
                    self.sketch.subject = owner;
                    self.focus = owner;
                }
                self.one_owner(at);
            } else {
                self.at = back;
            }
        }
        Some(at)
    }

    /// A value here.
    fn value_at(&self, ahead: usize) -> Option<&Item> {
        self.item(ahead).filter(|item| item.has_value() && !item.is_named())
    }

    /// "country of the customers who …": what follows is said of the customers.
    fn focus_owner(&mut self, noun: NounAt) {
        if self.frames.is_empty() && self.sketch.subject.is_none() {
            self.focus = self.sketch.nouns[noun].of.or(self.focus);
        }
    }

    /// Whether a role is one that the next item's rows may have.
    fn leads_to_next(&self, role: usize) -> bool {
        let to = self.ontology.relationships.get(role).map_or("", |relationship| relationship.to.as_str());
        let is = |dataset: usize| {
            self.ontology.datasets.get(dataset).is_some_and(|entity| entity.name.eq_ignore_ascii_case(to))
        };
        let next = self.item(1).map(|item| item.entries.as_slice()).unwrap_or_default();
        next.iter().any(|entry| thing(entry).or_else(|| field_of(entry)).is_some_and(is))
    }

    /// "town of the shop": a dataset that another one refers to, or one that it refers to does.
    fn owned_thing(&self, noun: NounAt) -> bool {
        let article = if matches!(self.word(1), "the" | "a" | "its" | "their" | "our") { 2 } else { 1 };
        let Some(owner) = self.item(article) else { return false };
        let name = |dataset: usize| self.ontology.datasets.get(dataset).map_or("", |entity| entity.name.as_str());
        let owners: Vec<&str> = owner.entries.iter().filter_map(thing).map(name).collect();
        let owned: Vec<&str> = self.sketch.nouns[noun].entries.iter().filter_map(thing).map(name).collect();
        // "region of the shop", where the shop's town has one.
        let mut reached = owners;
        for _ in 0..3 {
            let to = |from: &str| {
                let from = from.to_owned();
                let all = self.ontology.relationships.iter();
                all.filter(move |known| known.from.eq_ignore_ascii_case(&from)).map(|known| known.to.as_str())
            };
            reached = reached.iter().flat_map(|from| to(from)).collect();
            if reached.iter().any(|to| owned.iter().any(|owned| owned.eq_ignore_ascii_case(to))) {
                return true;
            }
        }
        false
    }

    /// What the next item is, if the lexicon knows more of it than values.
    fn named_entries(&self) -> Option<Vec<Entry>> {
        let item = self.item(0)?;
        if matches!(item.kind, Kind::Number(_) | Kind::Time(_) | Kind::Quoted) {
            return None;
        }
        let named: Vec<Entry> =
            item.entries.iter().filter(|entry| !matches!(entry.sense, Sense::Value { .. })).cloned().collect();
        if named.is_empty() {
            // "name of the customer", where customers have no field of that name.
            let generic = matches!(item.norm.as_str(), "name" | "names" | "id" | "ids" | "identifier" | "identifiers");
            return generic.then(Vec::new);
        }
        Some(named)
    }

    pub(super) fn push(&mut self, noun: Noun) -> NounAt {
        self.sketch.nouns.push(noun);
        self.sketch.nouns.len() - 1
    }
}

impl Noun {
    pub(super) fn new(
        parser: &Parser,
        items: std::ops::Range<usize>,
        entries: Vec<Entry>,
        want: Want,
        before: &str,
    ) -> Self {
        let texts: Vec<&str> = parser.items[items.clone()].iter().map(|item| item.text.as_str()).collect();
        let norms: Vec<&str> = parser.items[items.clone()].iter().map(|item| item.norm.as_str()).collect();
        let corrected = parser.items[items.clone()].iter().find_map(|item| item.corrected.clone());
        Self {
            text: texts.join(" "),
            norm: norms.join(" "),
            items,
            entries,
            want,
            of: None,
            roles: Vec::new(),
            before: before.to_owned(),
            hints: &[],
            unit: None,
            inside: parser.frames.last().map(|frame| frame.thing),
            holder: None,
            corrected,
            near: None,
            width: None,
        }
    }

    /// A word such as "name" or "id" that says little without its owner.
    pub(super) fn is_generic(&self) -> bool {
        let one = words::singular(&self.norm);
        GENERIC.contains(&one.as_str())
    }
}

/// Whether it is a phrase that leads to the other end of a relationship, such as "report to".
pub(super) fn leads(norm: &str) -> bool {
    let last = norm.rsplit_once(' ').map_or("", |(_, last)| last);
    matches!(last, "to" | "by" | "for" | "from" | "in" | "with" | "under" | "at" | "on")
}

pub(super) fn role(entry: &Entry) -> Option<usize> {
    match entry.sense {
        Sense::Role(role) => Some(role),
        _ => None,
    }
}

pub(super) fn thing(entry: &Entry) -> Option<usize> {
    match entry.sense {
        Sense::Entity(dataset) => Some(dataset),
        _ => None,
    }
}

pub(super) fn field_of(entry: &Entry) -> Option<usize> {
    match entry.sense {
        Sense::Field(dataset, _) => Some(dataset),
        _ => None,
    }
}
