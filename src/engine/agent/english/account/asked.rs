//! Whether the answer is of the kind that the question asks for: a name for "who", a place for "where", and also what
//! is asked for in addition.

use super::super::resolve::Target;
use super::super::sketch::Ask;
use super::Check;
use crate::engine::agent::english::lexicon::words;
use crate::model::ontology::{DataType, FieldRole};
use crate::model::plan::FieldRef;

impl Check<'_> {
    /// The words of the question that ask for something that the answer is not.
    pub(super) fn asked(&self) -> Option<String> {
        self.openly().or_else(|| self.more())
    }

    fn starts(&self, words: &[&str]) -> bool {
        let polite = ["and", "so", "please", "ok", "hi", "hello", "hey", "then", "but", "also", "or"];
        self.account.items.iter().find(|item| !item.any(&polite)).is_some_and(|item| item.any(words))
    }

    /// "Who …", "Where …" at the beginning.
    fn openly(&self) -> Option<String> {
        let who = self.account.sketch.ask == Ask::Who || self.starts(&["who", "whose", "whom"]);
        if who && !self.has_name() && !self.account.sketch.only_columns {
            return Some("who".into());
        }
        // "Where …" asks for a place, not for the things that are there.
        let place = !self.lists_itself() && (!self.account.sketch.columns.is_empty() || self.has_text());
        if !self.account.follows && self.starts(&["where"]) && !place {
            return Some("where".into());
        }
        // "on which genres?" goes on from something.
        let items = self.account.items;
        let at = items.iter().position(|item| !item.any(&["and", "so", "then", "but"])).unwrap_or(0);
        let goes_on =
            items.get(at).is_some_and(|item| item.any(&["on", "for", "from", "with", "by", "to", "at", "of"]))
                && items.get(at + 1).is_some_and(|item| item.any(&["which", "what", "whom"]));
        let plan = self.account.plan;
        let bare = plan.measures.is_empty() && plan.filters.is_empty() && plan.time.is_none() && plan.limit.is_none();
        (goes_on && bare && !self.account.follows).then(|| items[at].text.clone())
    }

    pub(super) fn fields(&self) -> impl Iterator<Item = &FieldRef> {
        self.account.plan.dimensions.iter().map(|dimension| &dimension.field)
    }

    pub(super) fn datatype(&self, field: &FieldRef) -> Option<DataType> {
        self.account.resolver.ontology.field(&field.dataset, &field.field).map(|field| field.datatype)
    }

    pub(super) fn is_label(&self, field: &FieldRef) -> bool {
        let entity = self.account.resolver.ontology.entity(&field.dataset);
        let label = entity.and_then(|entity| entity.label_field.as_ref());
        label.is_some_and(|label| label.eq_ignore_ascii_case(&field.field))
    }

    pub(super) fn is_key(&self, field: &FieldRef) -> bool {
        let ontology = self.account.resolver.ontology;
        let own = ontology.field(&field.dataset, &field.field);
        own.is_some_and(|own| {
            own.role == FieldRole::Key
                || ontology.entity(&field.dataset).is_some_and(|entity| {
                    entity
                        .primary_key
                        .iter()
                        .any(|key| key.eq_ignore_ascii_case(&own.name) || key.eq_ignore_ascii_case(&own.expression))
                })
        })
    }

    /// A column with the names of things that the question speaks of.
    pub(super) fn has_name(&self) -> bool {
        let ontology = self.account.resolver.ontology;
        let said = |field: &FieldRef| {
            let dataset = self.account.resolver.position(&field.dataset);
            self.account.found.iter().flatten().any(|found| match found.target {
                Target::Entity(d) => dataset == Some(d),
                Target::Field(d, f) => {
                    dataset == Some(d) && ontology.datasets[d].fields.get(f).is_some_and(|own| own.name == field.field)
                }
                _ => false,
            })
        };
        self.fields().any(|field| {
            let own = ontology.field(&field.dataset, &field.field);
            let name = own.is_some_and(|own| words::split(&own.words()).iter().any(|word| word == "name"));
            let text = self.datatype(field) == Some(DataType::String);
            let thing = self.account.found.iter().flatten().any(|found| {
                matches!(found.target, Target::Entity(d) if self.account.resolver.position(&field.dataset) == Some(d))
            });
            // Theirs who are known by a number is that of those whom it refers to.
            let theirs = !field.via.is_empty();
            text && (name && said(field) || self.is_label(field) && (thing || theirs))
        })
    }

    pub(super) fn has_text(&self) -> bool {
        self.fields().any(|field| self.datatype(field) == Some(DataType::String))
    }

    /// Whether the answer is nothing but the rows that the question is about.
    pub(super) fn lists_itself(&self) -> bool {
        let plan = self.account.plan;
        let own = |field: &FieldRef| {
            self.account.resolver.position(&field.dataset) == Some(self.account.anchor)
                && (self.is_label(field) || self.is_key(field))
        };
        plan.measures.is_empty() && self.fields().any(own)
    }

    pub(super) fn has_number(&self) -> bool {
        !self.account.plan.measures.is_empty()
    }
}
