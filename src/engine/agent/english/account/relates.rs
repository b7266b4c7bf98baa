//! Verbs that say that two things belong together, where only one is spoken of.

use super::super::items::Kind;
use super::super::resolve::Target;
use super::super::sketch::{NounAt, Quantity};
use super::super::vocabulary;
use super::Check;
use crate::engine::agent::english::lexicon::words;
use crate::model::plan::{Measure, Value};

/// Verbs that say no more than that there are such things.
const BEING: &[&str] = &[
    "have", "has", "had", "having", "exist", "exists", "existed", "occur", "occurs", "occurred", "happen", "happens",
    "happened", "take", "takes", "took", "taken", "come", "comes", "came", "get", "gets", "got",
];

/// Words between a thing and the verb of what it does.
const BETWEEN: &[&str] =
    &["who", "that", "which", "have", "has", "had", "also", "still", "now", "already", "ever", "actually", "currently"];

impl Check<'_> {
    /// "how many doctors have left", "which members borrow", answered with all of them: the verb says what only some of
    /// them did, and there is nothing in the answer that they did it with.
    pub(super) fn relates_nothing(&self) -> Option<String> {
        let (items, sketch) = (self.account.items, self.account.sketch);
        let noun = sketch.nouns.get(self.only_thing()?)?;
        let behind = items.get(noun.items.end..)?;
        let between = behind.iter().take_while(|item| item.any(BETWEEN)).count();
        let verb = behind.get(between).filter(|item| item.kind == Kind::Word && !item.any(BEING))?;
        let at = noun.items.end + between;
        let is_named = sketch.nouns.iter().any(|known| known.items.contains(&at));
        if is_named || !vocabulary::is_relation(&verb.norm) {
            return None;
        }
        // "How many people work for us": they do it with those who ask.
        let with_us = behind.iter().any(|item| item.any(&["us", "we", "our"]));
        let by = behind.get(between + 1).is_some_and(|item| item.any(&["by", "per"]));
        // "orders placed by priority" are all orders; "how many members borrowed" says what they did.
        let said = items.get(..noun.items.start).unwrap_or_default();
        let asked = said.iter().any(|item| item.any(&["many", "how many", "which"]));
        let done = verb.norm.ends_with("ed") || words::is_irregular(&verb.norm) && !verb.is("left");
        let does = between > 0 || asked && !by || !(done || by && verb.is("order"));
        (does && !with_us).then(|| verb.text.clone())
    }

    /// The one thing that is counted or listed, all of it.
    fn only_thing(&self) -> Option<NounAt> {
        let (plan, sketch) = (self.account.plan, self.account.sketch);
        let all = plan.filters.is_empty()
            && plan.time.is_none()
            && plan.having.is_empty()
            && plan.order.is_empty()
            && plan.limit.is_none()
            && plan.dimensions.iter().all(|dimension| dimension.grain.is_none())
            && !self.account.follows;
        let counts = |measure: &Measure| {
            measure.filters.is_empty() && matches!(measure.value, Value::Count(_) | Value::Metric(_))
        };
        let shown = if plan.measures.is_empty() { self.lists_itself() } else { plan.measures.iter().all(counts) };
        let is_group = |noun: &NounAt| sketch.groups.iter().any(|group| group.noun == Some(*noun));
        let mut things = (0..sketch.nouns.len()).filter(|noun| !is_group(noun));
        let thing = things.next().filter(|_| all && shown && things.next().is_none())?;
        let is_counted = sketch.measures.iter().any(|quantity| match quantity {
            Quantity::Count(noun) | Quantity::Distinct(noun) => *noun == thing,
            _ => false,
        });
        let is_thing = match self.account.found.get(thing)?.as_ref()?.target {
            Target::Entity(dataset) => dataset == self.account.anchor,
            Target::Metric(_) => is_counted,
            _ => false,
        };
        (is_thing && (is_counted || sketch.subject == Some(thing))).then_some(thing)
    }
}
