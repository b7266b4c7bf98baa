//! Verbs: what was done is no thing that there is a row for, and who did it is not called by it.

use super::super::resolve::Target;
use super::super::sketch::Noun;
use super::super::vocabulary;
use super::{Account, Check};
use crate::engine::agent::english::lexicon::{Entry, Sense, words};

impl Check<'_> {
    /// "Ada rented how many films", "the supplier that sold the most": what was done is no thing that there is a row for
    /// each of.
    pub(super) fn verbs(&self) -> Option<String> {
        let sketch = self.account.sketch;
        let shown = sketch.subject.iter().chain(&sketch.columns).filter_map(|noun| sketch.nouns.get(*noun));
        let is_verb = |noun: &&Noun| {
            let first = noun.norm.split(' ').next().unwrap_or_default();
            let rest = noun.norm.split(' ').all(vocabulary::is_ordinary);
            words::is_past(first) && rest && noun.of.is_none()
        };
        let anchored = |noun: &&Noun| {
            let at = sketch.nouns.iter().position(|known| known == *noun);
            let entity = at
                .and_then(|at| self.account.found.get(at)?.as_ref())
                .is_some_and(|found| matches!(found.target, Target::Entity(_)));
            entity && (self.has_number() || sketch.subject != at)
        };
        shown.filter(is_verb).find(anchored).map(|noun| noun.text.clone())
    }

    /// "How much did Rose spend", where a bread is called so and customers are, too: who does this has a name of which
    /// the word is a part.
    pub(super) fn who_does(&self) -> Option<String> {
        const DO: &[&str] = &[
            "spend", "spent", "pay", "paid", "buy", "bought", "purchase", "purchased", "owe", "owes", "rent", "rented",
        ];
        let Account { items, sketch, found, resolver, on, effort, .. } = self.account;
        let datasets = &resolver.ontology.datasets;
        sketch.nouns.iter().zip(found.iter()).find_map(|(noun, found)| {
            let Target::Value(d, _, _) = &found.as_ref()?.target else { return None };
            let does = items.get(noun.items.end).is_some_and(|item| item.any(DO));
            let one = !noun.norm.contains(' ');
            let is_other = |entry: &Entry| match entry.sense {
                Sense::Value { dataset, field, .. } if dataset != *d => {
                    let label = datasets[dataset].label_field.as_ref();
                    let own = datasets[dataset].fields.get(field);
                    own.is_some_and(|own| label.is_some_and(|label| label.eq_ignore_ascii_case(&own.name)))
                }
                _ => false,
            };
            let also = does && one && on.containing(std::slice::from_ref(&noun.norm), effort).iter().any(is_other);
            also.then(|| noun.text.clone())
        })
    }
}
