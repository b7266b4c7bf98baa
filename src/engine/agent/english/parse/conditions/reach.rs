//! What stands behind a number that bounds: "or more", "miles from the nearest station".

use super::*;

impl Parser<'_> {
    /// "N or more", "N or fewer", "N+" after the number.
    pub(in super::super) fn suffix(&mut self) -> Option<Comparator> {
        if self.eat_any(&[
            "or more", "or greater", "or higher", "or above", "or over", "and above", "and over", "or longer", "+",
        ]) {
            Some(Comparator::AtLeast)
        } else if self.eat_any(&["or less", "or fewer", "or lower", "or below", "or under", "or shorter"]) {
            Some(Comparator::AtMost)
        } else {
            None
        }
    }

    /// "more than 15 miles from the nearest station", where the distance to it is a number of its own.
    pub(super) fn distance_from(&mut self, op: Comparator, value: &Bound) -> bool {
        let article = usize::from(self.word(1) == "the");
        let distance = |entry: &Entry| match entry.sense {
            Sense::Field(d, f) => self.field(d, f).is_some_and(|field| {
                let unit = field.unit.as_deref().and_then(vocabulary::unit);
                field.datatype.is_number() && unit.is_some_and(|(kind, _)| kind == "length")
            }),
            _ => false,
        };
        let named = self.item(1 + article).is_some_and(|item| item.entries.iter().any(distance));
        if !matches!(self.word(0), "from" | "to") || !named {
            return false;
        }
        let entries: Vec<Entry> = self
            .item(1 + article)
            .map(|item| item.entries.iter().filter(|entry| distance(entry)).cloned().collect())
            .unwrap_or_default();
        self.at += 1 + article;
        let Some(noun) = self.noun(Want::Number) else { return false };
        self.sketch.nouns[noun].entries = entries;
        self.add_bound(noun, op, value.clone());
        true
    }
}
