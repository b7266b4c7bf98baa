//! What the definitions of all numbers are made of.

use super::identifier;
use crate::model::ontology::{AiContext, Entity, Ontology};

/// A field in an expression.
pub(super) fn reference(entity: &Entity, field: &str) -> String {
    format!("{}.{}", identifier(&entity.name), identifier(field))
}

/// What the rows of a dataset are lines or parts of: an order with its time, for lines of it.
pub(super) fn head_of<'a>(entity: &Entity, ontology: &'a Ontology) -> Option<&'a Entity> {
    let refers = ontology.relationships.iter().filter(|relationship| relationship.from == entity.name);
    let mut heads = refers.filter_map(|relationship| {
        let head = ontology.entity(&relationship.to)?;
        let in_key = |column: &String| entity.primary_key.len() > 1 && entity.primary_key.contains(column);
        let line = entity.noun().starts_with(&head.noun()) || relationship.from_columns.iter().all(in_key);
        (line && head.default_time_field.is_some()).then_some(head)
    });
    heads.next().filter(|_| heads.next().is_none())
}

pub(super) fn synonyms(synonyms: Vec<String>) -> AiContext {
    AiContext { synonyms, ..AiContext::default() }
}
