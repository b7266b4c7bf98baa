//! Rankings of stretches of time, and by when something happened: "the worst month", "who was hired last".

use crate::engine::agent::lexicon::{Entry, Sense};
use crate::model::plan::Grain;

use super::super::sketch::{Group, Noun, NounAt, Rank, Want};
use super::Parser;
use super::nouns::thing;

impl Parser<'_> {
    /// "who was hired last": those of the thing whose time it is.
    pub(super) fn who_by_time(&mut self) -> bool {
        let back = (self.at, self.sketch.nouns.len());
        self.eat_any(&["was", "is", "were", "has been", "got"]);
        let calendar = |d: usize, f: usize| self.field(d, f).is_some_and(|field| field.datatype.is_calendar());
        let subject: Option<Vec<usize>> =
            self.sketch.subject.map(|subject| self.sketch.nouns[subject].entries.iter().filter_map(thing).collect());
        let ours = |dataset: usize| subject.as_ref().is_none_or(|own| own.contains(&dataset));
        let fields: Vec<_> = self
            .item(0)
            .map(|item| item.entries.iter().filter(|entry| !entry.partial).cloned().collect::<Vec<_>>())
            .unwrap_or_default()
            .into_iter()
            .filter(|entry| matches!(entry.sense, Sense::Field(d, f) if calendar(d, f) && ours(d)))
            .collect();
        let descending = match (self.word(1), self.word(2)) {
            ("last" | "latest", "") | ("most", "recently") => Some(true),
            ("first" | "earliest", "") => Some(false),
            _ => None,
        };
        if let ([entry], Some(descending)) = (fields.as_slice(), descending)
            && let Sense::Field(dataset, _) = entry.sense
        {
            let at = self.at;
            if self.sketch.subject.is_none() {
                let owner = Entry { sense: Sense::Entity(dataset), ..entry.clone() };
                let subject = Noun::new(self, at..at + 1, vec![owner], Want::Thing, "");
                self.sketch.subject = Some(self.push(subject));
                self.focus = self.sketch.subject;
            }
            let field = Noun::new(self, at..at + 1, vec![entry.clone()], Want::Time, "");
            let field = self.push(field);
            let text = self.items[at..].iter().map(|item| item.text.as_str()).collect::<Vec<_>>().join(" ");
            self.at = self.end;
            self.sketch.rank = Some(Rank {
                rows: 1,
                skip: 0,
                descending,
                single: true,
                by: None,
                field: Some(field),
                quality: false,
                judged: None,
                frequency: false,
                text,
            });
            return true;
        }
        self.at = back.0;
        self.drop_nouns(back.1);
        false
    }

    /// A unit of time that is ranked, by a number that is named before or after it.
    pub(super) fn ranked_times(&mut self, mut rank: Rank, grain: Grain) -> bool {
        if self.is_value_too() {
            return false;
        }
        self.at += 1;
        let group = Group { noun: None, grain: Some(grain), each: false, per: false };
        if !self.sketch.groups.contains(&group) {
            self.sketch.groups.push(group);
        }
        let adverb = self.previous().ends_with("ly") || self.previous() == "annual";
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
