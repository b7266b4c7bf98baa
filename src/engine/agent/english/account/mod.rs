//! The last word on a plan: every word of the question that carries meaning must have left its trace in it. What was
//! taken by the grammar and then lost on the way to the plan would be an answer to another question; so there is none,
//! and the word is named.
//!
//! Three things are held against the plan, each by itself: the parts of the sketch ([`sketch_parts`]), what its nouns
//! were found to be, and the words of the question ([`said`]). Then the answer must be of the kind that is asked for
//! ([`asked`]) and no other one ([`sense`]). A rule that reads new words needs nothing here as long as
//! what it makes of them is in the plan.

mod asked;
mod held;
mod more;
mod relates;
mod said;
mod sense;
mod sketch_parts;
mod verbs;

use super::items::Item;
use super::resolve::{Found, Resolver, Target};
use super::sketch::{Cond, Noun, NounAt, Quantity, Sketch};
use super::vocabulary;
use crate::engine::agent::english::lexicon::{Effort, Entry, Lexicon, Sense};
use crate::engine::ontology::graph::{NoWay, Steps};
use crate::model::ontology::Aggregation;
use crate::model::plan::Plan;

use held::Held;

/// A question as it was read, and the plan that came of it.
pub(super) struct Account<'a> {
    /// As it was asked.
    pub question: &'a str,
    /// Those that the sketch was made of.
    pub items: &'a [Item],
    pub sketch: &'a Sketch,
    pub found: &'a [Option<Found>],
    pub resolver: &'a Resolver<'a>,
    pub on: &'a Lexicon,
    pub effort: &'a Effort<'a>,
    pub anchor: usize,
    pub plan: &'a Plan,
    /// Whether the plan is one of the question before, with what this one changes.
    pub follows: bool,
}

/// The words that left no trace in the plan; the first ones, if there are some.
pub(super) fn lost(account: &Account<'_>) -> Option<String> {
    let held = Held::of(account.plan, account.resolver);
    let check = Check { account, held: &held };
    check
        .parts()
        .or_else(|| check.nouns())
        .or_else(|| check.words())
        .or_else(|| check.asked())
        .or_else(|| check.senses())
}

struct Check<'a> {
    account: &'a Account<'a>,
    held: &'a Held<'a>,
}

impl Check<'_> {
    fn nouns(&self) -> Option<String> {
        (0..self.account.sketch.nouns.len()).find_map(|noun| self.noun(noun))
    }

    /// The words of a noun that the plan does not hold.
    fn noun(&self, noun: NounAt) -> Option<String> {
        let said = self.account.sketch.nouns.get(noun)?;
        // What rows are called by is shown by whatever field has their names.
        let named = matches!(said.norm.as_str(), "name" | "names") && self.has_text();
        if named || self.account.sketch.included.contains(&noun) {
            return None;
        }
        // "in at least 3 towns": the different ones are counted, by whatever field says which they are.
        if self.is_counted_across(noun, &self.account.sketch.conds) {
            let counts = |function: &Aggregation| matches!(function, Aggregation::CountDistinct | Aggregation::Count);
            return (!self.held.functions.iter().any(counts)).then(|| said.text.clone());
        }
        let is_held = match self.account.found.get(noun).and_then(Option::as_ref) {
            Some(found) => {
                (self.holds(&found.target) || self.belongs(said, &found.target)) && self.in_role(said, &found.target)
            }
            None => false,
        };
        (!is_held).then(|| said.text.clone()).or_else(|| self.passed_over(said, noun))
    }

    /// "trips of drivers from Berlin": the thing right before a value, where the value is read of something else and
    /// could be one of that thing.
    fn passed_over(&self, said: &Noun, noun: NounAt) -> Option<String> {
        let Account { sketch, found, resolver, anchor, .. } = self.account;
        let near = said.near.filter(|_| said.inside.is_none() && said.holder.is_none())?;
        let (own, thing) = (found.get(noun)?.as_ref()?, found.get(near)?.as_ref()?);
        let (Target::Value(of, ..), Target::Entity(thing)) = (&own.target, &thing.target) else { return None };
        if of == thing || thing == anchor {
            return None;
        }
        let taken = resolver.graph.way(*anchor, *of, &own.via, Steps::Any);
        let passes = taken.is_ok_and(|way| way.iter().any(|step| step.from == *thing || step.to == *thing));
        let may = resolver.graph.way(*thing, *of, &[], Steps::ToOne);
        let may = matches!(may, Ok(_) | Err(NoWay::Ambiguous(_)));
        (may && !passes).then(|| sketch.nouns.get(near).map(|near| near.text.clone()))?
    }

    fn is_counted_across(&self, noun: NounAt, conds: &[Cond]) -> bool {
        conds.iter().any(|cond| match cond {
            Cond::Measured { quantity: Quantity::Across { counted, object, .. }, .. } => {
                *counted == noun || *object == Some(noun)
            }
            Cond::Exists { inner, .. } | Cond::Others { inner, .. } => self.is_counted_across(noun, inner),
            _ => false,
        })
    }

    /// "the cost of any part", where each row has one part, or "who rented films", where each rental has one: whose it
    /// is restricts nothing.
    fn belongs(&self, noun: &Noun, target: &Target) -> bool {
        let Target::Entity(dataset) = target else { return false };
        let items = self.account.items.get(..noun.items.start).unwrap_or_default();
        let article = |item: &&Item| item.any(&["the", "a", "an", "any", "all", "our", "each", "every"]);
        let before = items.iter().rev().find(|item| !article(item));
        let of = before.is_some_and(|item| item.any(&["of", "from", "for", "to"]));
        let one = |from: usize| self.account.resolver.graph.way(from, *dataset, &[], Steps::ToOne).is_ok();
        // "who purchased bread": what is done is done with it, by a row between them.
        let done = before.is_some_and(|item| vocabulary::is_relation(&item.norm));
        let near = |from: usize| {
            let way = self.account.resolver.graph.way(from, *dataset, &[], Steps::Any);
            way.is_ok_and(|way| way.len() <= 2)
        };
        of && one(self.account.anchor) || self.held.existing.iter().any(|from| one(*from) || done && near(*from))
    }

    /// "by origin" is by the shops that are origins of something, not by any shops.
    fn in_role(&self, noun: &Noun, target: &Target) -> bool {
        let Target::Entity(dataset) = target else { return true };
        let resolver = self.account.resolver;
        let relationships = &resolver.ontology.relationships;
        let role = |entry: &Entry| match entry.sense {
            Sense::Role(role) => relationships.get(role),
            _ => None,
        };
        let roles: Vec<&str> = noun.entries.iter().filter_map(role).map(|role| role.name.as_str()).collect();
        let way = resolver.graph.way(self.account.anchor, *dataset, &[], Steps::Any).unwrap_or_default();
        let passes = |name: &&str| {
            self.held.ways.contains(name) || way.iter().any(|step| relationships[step.relationship].name == *name)
        };
        roles.len() < noun.entries.len() || roles.is_empty() || roles.iter().any(passes)
    }

    fn holds(&self, target: &Target) -> bool {
        let ontology = self.account.resolver.ontology;
        match target {
            Target::Metric(metric) => {
                // Its rows or values may have been taken in another way: "the largest payment", "median delay".
                let inner = || {
                    let text = ontology.metrics.get(*metric).map_or("", |metric| metric.expression.as_str());
                    let mut words = text.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '.'));
                    words.any(|word| word.split_once('.').is_some_and(|(d, f)| self.holds_named(d, f)))
                };
                self.held.metrics.contains(metric) || inner()
            }
            Target::Entity(dataset) => self.speaks_of(*dataset),
            Target::Field(dataset, field) => self.held.fields.contains(&(*dataset, *field)),
            Target::Value(dataset, field, value) => {
                self.held.fields.contains(&(*dataset, *field)) && self.held.texts.contains(&value.as_str())
            }
            Target::Segment(segment) => {
                // A state at another time is said by the fields of its beginning and end.
                let text = ontology.segments.get(*segment).map_or("", |segment| segment.expression.as_str());
                let field = text.split_whitespace().next().and_then(|word| word.split_once('.'));
                self.held.segments.contains(segment)
                    || self.held.is_null && field.is_some_and(|(d, f)| self.holds_named(d, f))
            }
        }
    }

    fn holds_named(&self, dataset: &str, field: &str) -> bool {
        let resolver = self.account.resolver;
        resolver.position(dataset).is_some_and(|d| {
            self.held.fields.iter().any(|(known, f)| {
                *known == d
                    && resolver.ontology.datasets[d]
                        .fields
                        .get(*f)
                        .is_some_and(|own| own.name.eq_ignore_ascii_case(field))
            })
        })
    }

    /// Whether rows of a dataset are counted, shown or restricted, lie between those that are, or belong to every row
    /// of those: to say them restricts nothing.
    fn speaks_of(&self, dataset: usize) -> bool {
        let (graph, anchor) = (self.account.resolver.graph, self.account.anchor);
        let passes = |from: usize, to: usize, via: &[String]| {
            let way = graph.way(from, to, via, Steps::Any);
            way.is_ok_and(|way| way.iter().any(|step| step.from == dataset || step.to == dataset))
        };
        let relationships = &self.account.resolver.ontology.relationships;
        let each = || {
            let way = graph.way(anchor, dataset, &[], Steps::ToOne);
            way.is_ok_and(|way| way.iter().all(|step| step.forward && !relationships[step.relationship].optional))
        };
        dataset == anchor
            || self.held.datasets.contains(&dataset)
            || self.held.taken.iter().any(|(to, via, from)| passes(from.unwrap_or(anchor), *to, via))
            || self.held.datasets.iter().any(|to| passes(anchor, *to, &[]))
            || each()
    }
}
