//! What is asked for besides what a superlative picks: "the largest sale, and who made it", "and when was it".

use crate::engine::agent::english::lexicon::{Entry, Sense};

use super::super::sketch::{Noun, Want};
use super::super::vocabulary;
use super::Parser;
use super::nouns::thing;

impl Parser<'_> {
    /// Who or when, of the one thing that was picked: a column beside it, where there is one that can be meant.
    pub(super) fn besides(&mut self) -> bool {
        let picked = self.sketch.rank.is_some() && self.sketch.measures.is_empty();
        let start = self.at;
        self.eat(",");
        let joined = self.eat("and") || self.previous() == ",";
        let who = self.eat_any(&["who", "by whom", "whose"]);
        let asks = who || self.eat_any(&["when", "on what date", "on which date", "on what day", "on which day"]);
        if !picked || !joined || !asks || !self.rest_is_of_it() {
            self.at = start;
            return false;
        }
        let from = start;
        let end = self.end;
        let entry =
            self.sketch.subject.and_then(|subject| if who { self.agent_of(subject) } else { self.time_of(subject) });
        self.at = end;
        match entry {
            Some(entry) => {
                let noun = Noun::new(self, from..end, vec![entry], Want::Column, "");
                let noun = self.push(noun);
                self.sketch.columns.push(noun);
            }
            None => {
                let said = if who { "Who" } else { "When" };
                self.sketch.refused =
                    Some(format!("“{said}” may ask for several things here: say which, such as “and its customer”."));
            }
        }
        true
    }

    /// "was it", "made it", "it was": nothing that is not said of the same thing.
    fn rest_is_of_it(&self) -> bool {
        let silent = |word: &str| {
            matches!(
                word,
                "it" | "that" | "them" | "this" | "was" | "is" | "were" | "did" | "we" | "has" | "have" | "been"
            ) || vocabulary::is_relation(word)
        };
        let count = self.end.saturating_sub(self.at);
        let it = (0..count).any(|ahead| matches!(self.word(ahead), "it" | "that" | "them" | "this"));
        count <= 4 && it && (0..count).all(|ahead| silent(self.word(ahead)))
    }

    /// The one dataset that rows refer to.
    fn agent_of(&self, subject: usize) -> Option<Entry> {
        let own: Vec<usize> = self.sketch.nouns[subject].entries.iter().filter_map(thing).collect();
        let name = |dataset: &usize| self.ontology.datasets.get(*dataset).map(|entity| entity.name.as_str());
        let mut to = self
            .ontology
            .relationships
            .iter()
            .filter(|known| own.iter().filter_map(name).any(|name| name.eq_ignore_ascii_case(&known.from)))
            .map(|known| known.to.as_str());
        let only = to.next().filter(|_| to.next().is_none())?;
        let dataset = self.ontology.datasets.iter().position(|entity| entity.name.eq_ignore_ascii_case(only))?;
        Some(Entry { sense: Sense::Entity(dataset), quality: 1.0, partial: false })
    }

    /// The usual time of rows.
    fn time_of(&self, subject: usize) -> Option<Entry> {
        let dataset = self.sketch.nouns[subject].entries.iter().find_map(thing)?;
        let entity = self.ontology.datasets.get(dataset)?;
        let usual = entity.default_time_field.as_ref()?;
        let field = entity.fields.iter().position(|field| field.name.eq_ignore_ascii_case(usual))?;
        Some(Entry { sense: Sense::Field(dataset, field), quality: 1.0, partial: false })
    }
}
