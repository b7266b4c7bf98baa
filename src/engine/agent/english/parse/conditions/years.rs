//! Numbers that are years.

use super::*;

impl Parser<'_> {
    /// "built after 2000": a number field of years held against years.
    pub(super) fn years(&mut self, noun: NounAt) -> bool {
        let Some(Kind::Time(TimePhrase::Window(window))) = self.item(0).map(|item| item.kind.clone()) else {
            return false;
        };
        let numbers = self.sketch.nouns[noun].entries.iter().any(|entry| match entry.sense {
            Sense::Field(d, f) => self.field(d, f).is_some_and(|field| {
                field.datatype.is_number()
                    && crate::model::ontology::in_words(&field.name)
                        .split(' ')
                        .chain(field.words().to_lowercase().split(' '))
                        .any(|word| word == "year")
            }),
            _ => false,
        });
        let year = |at: &Option<String>| {
            at.as_ref().map(|at| at.strip_suffix("-01-01").and_then(|year| year.parse::<f64>().ok()))
        };
        let (start, end) = (year(&window.start), year(&window.end));
        if !numbers || start == Some(None) || end == Some(None) {
            return false;
        }
        self.at += 1;
        self.sketch.nouns[noun].want = Want::Number;
        for (bound, op) in [(start, Comparator::AtLeast), (end, Comparator::Less)] {
            if let Some(Some(year)) = bound {
                self.add_bound(noun, op, Bound::Number(year, None));
            }
        }
        true
    }
}
