//! "who bought …", where the verb stands for rows: those who did it are asked for, not the rows.

use crate::engine::agent::english::lexicon::{Entry, Sense};

use super::super::sketch::{Ask, Noun, Want};
use super::super::vocabulary;
use super::Parser;
use super::nouns::thing;

/// What those are called who buy, borrow and book.
const CUSTOMERS: &[&str] = &[
    "customer", "client", "buyer", "shopper", "purchaser", "member", "user", "subscriber", "guest", "patient",
    "passenger", "renter", "borrower", "reader", "donor", "student", "patron",
];

/// Verbs of those who serve them.
const SERVING: &[&str] =
    &["sold", "sell", "sells", "served", "serve", "handled", "processed", "managed", "made", "ran"];

impl Parser<'_> {
    /// Sets who is asked for, and leaves the words where they are.
    pub(super) fn who_did(&mut self) -> bool {
        if self.sketch.ask != Ask::Open || self.word(0) != "who" {
            return false;
        }
        // "who from Bergen bought …", "who has never bought …"
        let silent = |ahead: usize| {
            let item = self.item(ahead);
            matches!(
                self.word(ahead),
                "has" | "have" | "had" | "ever" | "never" | "also" | "not" | "did" | "only" | "from" | "in"
            ) || item.is_some_and(|item| item.has_value() && !item.is_named())
        };
        let Some(verb) = (1..6).find(|ahead| !silent(*ahead)) else { return false };
        let Some(item) = self.item(verb) else { return false };
        let last = item.norm.rsplit(' ').next().unwrap_or_default();
        let acts = (last.ends_with("ed") || vocabulary::is_relation(last)) && !SERVING.contains(&last);
        let mut found: Vec<usize> = Vec::new();
        for dataset in item.entries.iter().filter(|entry| !entry.partial).filter_map(thing) {
            for customer in self.customers(dataset) {
                if !found.contains(&customer) {
                    found.push(customer);
                }
            }
        }
        let [customer] = found.as_slice() else { return false };
        if !acts {
            return false;
        }
        let entry = Entry { sense: Sense::Entity(*customer), quality: 1.0, partial: false };
        let noun = Noun::new(self, self.at..self.at + 1, vec![entry], Want::Thing, "");
        let noun = self.push(noun);
        self.sketch.ask = Ask::Who;
        self.sketch.subject = Some(noun);
        self.focus = Some(noun);
        true
    }

    /// Those whose rows a dataset's rows are, or the dataset itself, if they are called so.
    fn customers(&self, dataset: usize) -> Vec<usize> {
        let called = |d: usize| {
            self.ontology.datasets.get(d).is_some_and(|entity| {
                let synonyms = entity.ai.synonyms.iter().map(String::as_str);
                std::iter::once(entity.name.as_str())
                    .chain(synonyms)
                    .any(|name| CUSTOMERS.contains(&name.to_lowercase().as_str()))
            })
        };
        if called(dataset) {
            return vec![dataset];
        }
        let name = self.ontology.datasets.get(dataset).map_or("", |entity| entity.name.as_str());
        let owners = self.ontology.relationships.iter().filter(|known| known.from.eq_ignore_ascii_case(name));
        let at = |name: &str| self.ontology.datasets.iter().position(|entity| entity.name.eq_ignore_ascii_case(name));
        owners.filter_map(|known| at(&known.to)).filter(|d| called(*d)).collect()
    }
}
