//! Relationships made of references: their names, roles and cardinality.

use std::collections::BTreeMap;

use crate::engine::ontology::draft::keys::Keys;
use crate::engine::ontology::draft::relate::Reference;
use crate::engine::ontology::draft::roles::{name_by_start, names_of_role, role};
use crate::engine::ontology::draft::vocabulary::Vocabulary;
use crate::engine::ontology::draft::{Candidate, DraftTable, Overlap};
use crate::engine::ontology::read;
use crate::model::ontology::{AiContext, Cardinality, Confidence, Entity, Relationship};

pub(super) fn relationships(
    all: &[Reference],
    tables: &[DraftTable],
    vocabulary: &Vocabulary,
    keys: &[Keys],
) -> Vec<Relationship> {
    let mut made: Vec<Relationship> = Vec::new();
    let mut ways: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for Candidate { from, to, .. } in all.iter().map(|reference| &reference.candidate) {
        *ways.entry((from, to)).or_default() += 1;
    }
    for reference in all {
        let Candidate { from, to, .. } = &reference.candidate;
        let several = ways.get(&(from.as_str(), to.as_str())).is_some_and(|ways| *ways > 1);
        made.push(relationship(reference, several, tables, vocabulary, keys, &made));
    }
    name_by_start(&mut made, vocabulary);
    made
}

fn relationship(
    reference: &Reference,
    parallel: bool,
    tables: &[DraftTable],
    vocabulary: &Vocabulary,
    keys: &[Keys],
    made: &[Relationship],
) -> Relationship {
    let candidate = &reference.candidate;
    let entity = |name: &str| {
        let of_table = tables.iter().zip(keys).find(|(table, _)| table.name == name);
        let keys = of_table.map(|(_, keys)| keys.clone()).unwrap_or_default();
        Entity { name: name.to_owned(), primary_key: keys.primary, unique_keys: keys.unique, ..Entity::default() }
    };
    let from = tables.iter().find(|table| table.name == candidate.from);
    let nulls = candidate.from_columns.iter().any(|name| {
        let column = from.and_then(|table| table.column(name)).is_some_and(|column| column.nullable);
        from.and_then(|table| table.figures(name)).map_or(column, |figures| figures.nulls > 0)
    });
    let single = candidate.from_columns.len() == 1;
    let role = (parallel || single).then(|| role(candidate, from, vocabulary)).flatten();
    // What is called like the table itself is meant when nobody says which.
    let plain = parallel && role.is_none();
    let base = format!("{}_to_{}", candidate.from, candidate.to);
    let name = match &role {
        Some(role) => format!("{}_{}_to_{}", candidate.from, role.replace(' ', "_"), candidate.to),
        None => base,
    };
    let taken = |name: &str| made.iter().any(|other| other.name.eq_ignore_ascii_case(name));
    let name =
        if taken(&name) { format!("{name}_by_{}", candidate.from_columns.join("_").to_lowercase()) } else { name };
    let synonyms =
        role.as_deref().map(|role| names_of_role(role, &vocabulary.table(&candidate.to))).unwrap_or_default();
    let some_missing = reference.overlap.and_then(Overlap::part).is_some_and(|part| part < 1.0);
    // What only names say may be missing.
    let guessed = reference.confidence == Confidence::Inferred && reference.overlap.is_none();
    let mut made = Relationship {
        name,
        from: candidate.from.clone(),
        to: candidate.to.clone(),
        from_columns: candidate.from_columns.clone(),
        to_columns: candidate.to_columns.clone(),
        ai: AiContext { synonyms, ..AiContext::default() },
        role,
        cardinality: Cardinality::ManyToOne,
        optional: nulls || some_missing || guessed,
        preferred: plain,
        confidence: reference.confidence,
    };
    // Where the keys say nothing, what refers is many.
    let cardinality = read::cardinality(&made, &entity(&candidate.from), &entity(&candidate.to));
    made.cardinality = cardinality.unwrap_or(Cardinality::ManyToOne);
    made
}
