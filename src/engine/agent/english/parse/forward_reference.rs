//! Numbers that are asked for before they are named.

use crate::engine::agent::english::lexicon::Sense;

use super::Parser;

impl Parser<'_> {
    /// "how much did Ada spend": the number is named later, and these words say nothing of it.
    pub(super) fn number_later(&mut self) -> bool {
        let back = self.at;
        let verbs = ["did", "do", "does", "has", "have", "was", "were", "is"];
        let named = self.eat("how much")
            && verbs.contains(&self.word(0))
            && (1..12).any(|ahead| {
                self.item(ahead).is_some_and(|item| {
                    item.entries.iter().any(|entry| matches!(entry.sense, Sense::Metric(_)) && !entry.partial)
                })
            });
        self.at = if named { self.at + 1 } else { back };
        named
    }
}
