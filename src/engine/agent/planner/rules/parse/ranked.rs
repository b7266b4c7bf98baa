//! What things are ranked by.

use super::super::sketch::{Quantity, Want};
use super::Parser;
use super::nouns::thing;

impl Parser<'_> {
    /// What is ranked by, after a superlative: a number, or things that are counted.
    pub(super) fn ranked_quantity(&mut self, hints: &[&str]) -> Option<Quantity> {
        let start = (self.at, self.sketch.nouns.len());
        self.modifiers();
        // "the largest order" is one order, not how many there are.
        let one =
            self.item(0).is_some_and(|item| item.entries.iter().any(|entry| thing(entry).is_some() && !entry.partial));
        if one && !hints.is_empty() {
            return None;
        }
        if let Some(quantity) = self.quantity() {
            return Some(quantity);
        }
        self.at = start.0;
        self.drop_nouns(start.1);
        self.modifiers();
        let named = self.item(0).is_some_and(|item| item.is_named());
        if !named
            || !hints.is_empty()
                && !self.item(0).is_some_and(|item| item.entries.iter().any(|entry| self.is_measure(&entry.sense)))
        {
            return None;
        }
        let noun = self.noun(Want::Counted)?;
        let is_thing = self.sketch.nouns[noun].entries.iter().any(|entry| thing(entry).is_some() && !entry.partial);
        if is_thing {
            return Some(Quantity::Count(noun));
        }
        self.sketch.nouns[noun].want = Want::Bound;
        Some(Quantity::Plain(noun))
    }
}
