//! The references that are drafted: of all that may be, for each column the likeliest.

use std::collections::BTreeMap;

use crate::engine::ontology::draft::columns::Seen;
use crate::engine::ontology::draft::keys::Keys;
use crate::engine::ontology::draft::relate::{Reference, Single, declared, singles};
use crate::engine::ontology::draft::several::several;
use crate::engine::ontology::draft::weigh::{ENOUGH, SURE, of_names, weigh};
use crate::engine::ontology::draft::{Candidate, DraftTable, Facts, Overlap};

/// A reference of one column, weighed.
struct Weighed<'a> {
    single: Single<'a>,
    overlap: Option<Overlap>,
    weight: f64,
}

/// The references that hold: one target for each list of columns, the likeliest.
pub(super) fn references(
    tables: &[DraftTable],
    seen: &[Seen<'_>],
    keys: &[Keys],
    facts: &Facts,
    notes: &mut Vec<String>,
) -> Vec<Reference> {
    let measured = |candidate: &Candidate| facts.overlaps.get(candidate).copied();
    let mut chosen: BTreeMap<(String, Vec<String>), Reference> = BTreeMap::new();
    for candidate in declared(tables) {
        let place = (candidate.from.clone(), candidate.from_columns.clone());
        let overlap = measured(&candidate);
        chosen.insert(place, Reference { candidate, overlap, declared: true, weight: 100.0, says: None });
    }
    for (candidate, score) in several(seen, keys) {
        let overlap = measured(&candidate);
        let part = overlap.and_then(Overlap::part);
        let place = (candidate.from.clone(), candidate.from_columns.clone());
        let weight = f64::from(score) / 20.0;
        if part.is_none_or(|part| part >= 0.9) && !chosen.contains_key(&place) {
            chosen.insert(place, Reference { candidate, overlap, declared: false, weight, says: None });
        }
    }
    let mut by_column: BTreeMap<(String, String), Weighed<'_>> = BTreeMap::new();
    for single in singles(seen, keys) {
        let candidate = single.candidate();
        let overlap = measured(&candidate);
        // A column without a value refers to nothing yet.
        if overlap.is_some_and(|overlap| overlap.values == 0) && single.from.table.rows() > 0 {
            continue;
        }
        // Where only values can speak and nobody asked them, nothing does.
        if overlap.is_none() && single.called.score < 50 {
            continue;
        }
        let weight = weigh(&single, overlap);
        let place = (single.from.table.name.clone(), single.column.info.name.clone());
        // The first of equals.
        if by_column.get(&place).is_none_or(|best| weight > best.weight) {
            by_column.insert(place, Weighed { single, overlap, weight });
        }
    }
    for ((table, column), Weighed { single, overlap, weight }) in by_column {
        let place = (table, vec![column]);
        if chosen.contains_key(&place) {
            continue;
        }
        if weight < ENOUGH {
            note_refused(&single, overlap, notes);
            continue;
        }
        let says = Some(single.called.says);
        chosen.insert(place, Reference { candidate: single.candidate(), overlap, declared: false, weight, says });
    }
    let mut all: Vec<Reference> = chosen.into_values().collect();
    without_circles(&mut all);
    in_order(&mut all, tables);
    all
}

/// What others refer to is a key, and the key of a table that has none of its own.
pub(super) fn referred(keys: &mut [Keys], seen: &[Seen<'_>], references: &[Reference]) {
    for (keys, table) in keys.iter_mut().zip(seen) {
        for reference in references.iter().filter(|it| it.candidate.to == table.table.name) {
            let columns = &reference.candidate.to_columns;
            if keys.primary == *columns || keys.unique.contains(columns) {
                continue;
            }
            match keys.primary.is_empty() {
                true => keys.primary.clone_from(columns),
                false => keys.unique.push(columns.clone()),
            }
        }
    }
}

/// What is called like a key and holds none is worth a look.
fn note_refused(single: &Single<'_>, overlap: Option<Overlap>, notes: &mut Vec<String>) {
    let part = overlap.and_then(Overlap::part);
    if let Some(part) = part.filter(|_| of_names(single.called) > SURE - 1.0) {
        notes.push(format!(
            "{}.{} is called like a key of {}, but only {:.0} % of its values are there: no relationship.",
            single.from.table.name,
            single.column.info.name,
            single.to.table.name,
            part * 100.0
        ));
    }
}

/// Of two tables that refer to each other by the same columns, the likelier way stays.
fn without_circles(all: &mut Vec<Reference>) {
    let back: Vec<(Candidate, f64)> = all.iter().map(|it| (it.candidate.clone(), it.weight)).collect();
    all.retain(|it| {
        let reverse = back.iter().find(|(other, _)| {
            other.from == it.candidate.to
                && other.to == it.candidate.from
                && other.from_columns == it.candidate.to_columns
                && other.to_columns == it.candidate.from_columns
        });
        reverse.is_none_or(|(other, weight)| (it.weight, &other.from) > (*weight, &it.candidate.from))
    });
}

/// In the order of the tables and their columns.
fn in_order(all: &mut [Reference], tables: &[DraftTable]) {
    all.sort_by_cached_key(|reference| {
        let candidate = &reference.candidate;
        let (place, table) = tables.iter().enumerate().find(|(_, table)| table.name == candidate.from).unzip();
        let first = candidate.from_columns.first();
        let column =
            table.and_then(|table: &DraftTable| table.columns.iter().position(|column| Some(&column.name) == first));
        (place, column, candidate.from_columns.len())
    });
}
