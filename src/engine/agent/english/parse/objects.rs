//! What stands behind the verb of a clause: "who rented films", "that contain songs", "who bought only jazz".

use crate::engine::agent::english::lexicon::Sense;

use super::super::items::Kind;
use super::super::sketch::{Ask, NounAt};
use super::super::vocabulary;
use super::Parser;
use super::nouns::thing;

impl Parser<'_> {
    /// "who bought only jazz" is said of all that they bought, which no condition here says.
    pub(super) fn nothing_else(&mut self) -> bool {
        let only = !self.frames.is_empty() && matches!(self.word(0), "only" | "exclusively" | "solely");
        let all = only
            && self.item(1).is_some_and(|item| !matches!(item.kind, Kind::Number(_)))
            && !matches!(self.word(1), "after" | "before" | "since" | "until" | "later" | "when" | "if");
        if let (true, Some(frame)) = (all, self.frames.last_mut()) {
            frame.only = true;
            self.at += 1;
        }
        all
    }

    /// "who rented films": what stands right behind the verb of a clause, where the verb is rows of its own.
    pub(super) fn object_of_verb(&self, start: usize) -> bool {
        let Some(frame) = self.frames.last() else { return false };
        let end = self.sketch.nouns.get(frame.thing).map_or(0, |noun| noun.items.end);
        let article = self.items.get(end).is_some_and(|item| item.any(&["a", "an", "any", "the", "some"]));
        end + usize::from(article) == start && end > 0 && self.verb_at(end - 1)
    }

    /// "playlists that contain songs", "which vendors offer parts": a verb that says no more than that they belong
    /// together, right behind the thing or in a clause of it.
    pub(super) fn linked(&mut self, relative: bool) -> bool {
        let after = self.sketch.subject.is_some_and(|subject| self.sketch.nouns[subject].items.end == self.at);
        let article = usize::from(matches!(self.word(1), "a" | "an" | "any" | "the" | "some"));
        let next = 1 + article;
        // "placed orders": the verb is that of the thing itself.
        let same = |sense: &Sense| {
            let of = match sense {
                Sense::Field(d, _) | Sense::Entity(d) => *d,
                _ => return false,
            };
            self.item(next).is_some_and(|item| item.entries.iter().filter_map(thing).any(|d| d == of))
        };
        let verb = self.item(0).is_some_and(|item| {
            let silent = item
                .entries
                .iter()
                .all(|entry| entry.partial || matches!(entry.sense, Sense::Role(_)) || same(&entry.sense));
            silent && vocabulary::is_relation(&item.norm) && !item.norm.ends_with("ing")
        });
        let asked = relative || after && self.sketch.ask == Ask::Which;
        let linked = verb && asked && self.thing_at(next) && !self.several_ways(next);
        self.at += usize::from(linked);
        linked
    }

    /// Whether the thing here and what is spoken of belong together in more than one way: then the verb says which.
    fn several_ways(&self, ahead: usize) -> bool {
        let name = |dataset: usize| self.ontology.datasets.get(dataset).map_or("", |entity| entity.name.as_str());
        let own = self.focus.or(self.sketch.subject).map(|noun| self.sketch.nouns[noun].entries.as_slice());
        let own: Vec<&str> = own.unwrap_or_default().iter().filter_map(thing).map(name).collect();
        let there = self.item(ahead).map(|item| item.entries.as_slice()).unwrap_or_default();
        let there: Vec<&str> = there.iter().filter_map(thing).map(name).collect();
        let is = |list: &[&str], name: &str| list.iter().any(|known| known.eq_ignore_ascii_case(name));
        let between = self.ontology.relationships.iter().filter(|known| {
            is(&own, &known.from) && is(&there, &known.to) || is(&own, &known.to) && is(&there, &known.from)
        });
        between.count() > 1
    }

    /// What was named last behind the thing of a clause: the films in "who rented films".
    pub(super) fn object(&self) -> Option<NounAt> {
        let end = self.sketch.nouns.get(self.frames.last()?.thing)?.items.end;
        self.sketch.mentions.iter().rev().copied().find(|at| self.sketch.nouns[*at].items.start >= end)
    }
}
