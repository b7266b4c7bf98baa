//! The references that are drafted: of all that may be, for each column the likeliest.

use std::collections::{BTreeMap, HashMap};

use crate::engine::ontology::draft::called::is_lesser;
use crate::engine::ontology::draft::columns::{Column, Seen};
use crate::engine::ontology::draft::keys::Keys;
use crate::engine::ontology::draft::relate::{Reference, Single, each_single, said};
use crate::engine::ontology::draft::says::Says;
use crate::engine::ontology::draft::several::{ALIKE, several};
use crate::engine::ontology::draft::twins::twins;
use crate::engine::ontology::draft::weigh::{ENOUGH, SURE, of_names, weigh};
use crate::engine::ontology::draft::{Candidate, DraftTable, Facts, Overlap};
use crate::model::ontology::Confidence;

/// How sure it is that of two tables with keys of one name and values one refers to the other: somebody should look.
const OF_TWINS: f64 = 3.0;

/// So many tables may share a key of several columns with the one that it is the key of.
const FEW: usize = 2;

/// A reference of one column, weighed.
struct Weighed<'a> {
    single: Single<'a>,
    overlap: Option<Overlap>,
    weight: f64,
}

/// How likely a reference by several columns is, of how surely they are called for it.
fn of_several(score: i16) -> f64 {
    f64::from(score) / 20.0
}

/// What is drafted, and what is not although its name says so.
pub(super) struct Chosen {
    pub references: Vec<Reference>,
    pub left: Vec<Left>,
}

/// What is called like a key, and holds some and not enough, is worth a look.
pub(super) struct Left {
    pub candidate: Candidate,
    pub overlap: Overlap,
}

/// The references that hold: one target for each list of columns, the likeliest.
pub(super) fn references(tables: &[DraftTable], seen: &[Seen<'_>], keys: &[Keys], facts: &Facts) -> Chosen {
    let measured = |candidate: &Candidate| facts.overlaps.get(candidate).copied();
    let mut chosen: BTreeMap<(String, Vec<String>), Reference> = BTreeMap::new();
    for (candidate, confidence) in said(tables) {
        let place = (candidate.from.clone(), candidate.from_columns.clone());
        let overlap = measured(&candidate);
        let said = Reference { candidate, overlap, confidence, weight: 100.0, says: None };
        chosen.entry(place).or_insert(said);
    }
    for (candidate, score) in several(seen, keys) {
        let overlap = measured(&candidate);
        let part = overlap.and_then(Overlap::part);
        let place = (candidate.from.clone(), candidate.from_columns.clone());
        let weight = of_several(score);
        if part.is_none_or(|part| part >= 0.9) && !chosen.contains_key(&place) {
            chosen
                .insert(place, Reference { candidate, overlap, confidence: Confidence::Inferred, weight, says: None });
        }
    }
    let mut by_column: BTreeMap<(String, String), Weighed<'_>> = BTreeMap::new();
    let overlaps: HashMap<[&str; 4], Overlap> =
        facts.overlaps.iter().filter_map(|(it, had)| it.single().zip(Some(*had))).collect();
    each_single(seen, keys, |single| {
        let overlap = overlaps.get(&single.ends()).copied();
        // A column without a value refers to nothing yet.
        if overlap.is_some_and(|overlap| overlap.values == 0) && single.from.table.rows() > 0 {
            return;
        }
        // Where only values can speak and nobody asked them, nothing does.
        if overlap.is_none() && single.called.score < 50 {
            return;
        }
        let weight = weigh(&single, overlap);
        let place = (single.from.table.name.clone(), single.column.info.name.clone());
        // The first of equals.
        if by_column.get(&place).is_none_or(|best| weight > best.weight) {
            by_column.insert(place, Weighed { single, overlap, weight });
        }
    });
    let mut left = Vec::new();
    for ((table, column), Weighed { single, overlap, weight }) in by_column {
        let place = (table, vec![column]);
        if chosen.contains_key(&place) {
            continue;
        }
        if weight < ENOUGH {
            left.extend(Left::of(&single, overlap));
            continue;
        }
        let (candidate, says) = (single.candidate(), Some(single.called.says));
        chosen.insert(place, Reference { candidate, overlap, confidence: Confidence::Inferred, weight, says });
    }
    without_crowds(&mut chosen, seen);
    let twins = twins(seen, keys);
    for candidate in &twins {
        let overlap = measured(candidate);
        let place = (candidate.from.clone(), candidate.from_columns.clone());
        let linked = chosen.values().any(|it| {
            let ends = (&it.candidate.from, &it.candidate.to);
            ends == (&candidate.from, &candidate.to) || ends == (&candidate.to, &candidate.from)
        });
        if !linked && !chosen.contains_key(&place) && overlap.and_then(Overlap::part).is_some_and(|part| part >= 0.9) {
            let (candidate, says) = (candidate.clone(), Some(Says::SameName));
            let said = Reference { candidate, overlap, confidence: Confidence::Inferred, weight: OF_TWINS, says };
            chosen.insert(place, said);
        }
    }
    let mut all: Vec<Reference> = chosen.into_values().collect();
    all.iter_mut().for_each(|it| to_the_first(it, &twins, facts));
    without_circles(&mut all);
    in_order(&mut all, tables);
    Chosen { references: all, left }
}

/// Of many tables with a season and a castaway, each of which another table tells, none is what the others refer to because
/// it happens to have one row for each: it must have something of its own in its key, or be what another, or its columns, are
/// called after.
fn without_crowds(chosen: &mut BTreeMap<(String, Vec<String>), Reference>, seen: &[Seen<'_>]) {
    let told_elsewhere = |table: &String, column: &String| {
        let of_column = |it: &Candidate| it.from == *table && it.to != *table && it.from_columns.contains(column);
        chosen.values().any(|it| of_column(&it.candidate))
    };
    let called = |name: &String| seen.iter().find(|table| table.table.name == *name);
    let lesser = |it: &Candidate| called(&it.from).zip(called(&it.to)).is_some_and(|(from, to)| is_lesser(from, to));
    let mut crowds: BTreeMap<(&String, &Vec<String>), Vec<&Reference>> = BTreeMap::new();
    for it in chosen.values().filter(|it| it.candidate.to_columns.len() > 1) {
        crowds.entry((&it.candidate.to, &it.candidate.to_columns)).or_default().push(it);
    }
    crowds.retain(|(to, columns), all| all.len() > FEW && columns.iter().all(|column| told_elsewhere(to, column)));
    let by_chance = |it: &&&Reference| {
        it.confidence == Confidence::Inferred && it.weight <= of_several(ALIKE) && !lesser(&it.candidate)
    };
    let all: Vec<Candidate> = crowds.values().flatten().filter(by_chance).map(|it| it.candidate.clone()).collect();
    chosen.retain(|_, it| !all.contains(&it.candidate));
}

/// Of tables with one key, the one that the others refer to is referred to by everybody, unless a column is called like
/// one of the others.
fn to_the_first(reference: &mut Reference, twins: &[Candidate], facts: &Facts) {
    let is_other = |it: &&Candidate| {
        it.from == reference.candidate.to
            && it.from_columns == reference.candidate.to_columns
            && it.to != reference.candidate.from
    };
    let Some(twin) = twins.iter().find(is_other).filter(|_| reference.says == Some(Says::SameName)) else { return };
    let (to, to_columns) = (twin.to.clone(), twin.to_columns.clone());
    let candidate = Candidate { to, to_columns, ..reference.candidate.clone() };
    let part = |candidate: &Candidate| facts.overlaps.get(candidate).and_then(|overlap| overlap.part());
    if part(&candidate).is_some_and(|there| Some(there) >= part(&reference.candidate)) {
        reference.overlap = facts.overlaps.get(&candidate).copied();
        reference.candidate = candidate;
    }
}

/// What others refer to is a key, and the key of a table that has none of its own. What a person says is referred to
/// and does not tell rows apart is said.
pub(super) fn referred(
    keys: &mut [Keys],
    seen: &[Seen<'_>],
    references: &[Reference],
    facts: &Facts,
    notes: &mut Vec<String>,
) {
    for (keys, table) in keys.iter_mut().zip(seen) {
        let here = || references.iter().filter(|it| it.candidate.to == table.table.name);
        // Of several keys, the one that is referred to.
        let meant = here().map(|it| &it.candidate.to_columns).find(|columns| keys.unique.contains(columns)).cloned();
        if let Some(meant) =
            meant.filter(|_| keys.primary.len() == 1 && here().all(|it| it.candidate.to_columns != keys.primary))
        {
            keys.unique.retain(|key| *key != meant);
            keys.unique.push(std::mem::replace(&mut keys.primary, meant));
        }
        for reference in references.iter().filter(|it| it.candidate.to == table.table.name) {
            let columns = &reference.candidate.to_columns;
            if keys.primary == *columns || keys.unique.contains(columns) {
                continue;
            }
            if facts.keys.get(&table.candidate(columns)) == Some(&false) {
                let (name, columns) = (&table.table.name, columns.join(", "));
                notes.push(format!("{name}.{columns} is referred to, but rows of {name} agree in it: it is no key."));
                continue;
            }
            let some = matches!(columns.as_slice(), [only] if table.column(only).is_some_and(Column::has_nulls));
            match keys.primary.is_empty() && !some {
                true => keys.primary.clone_from(columns),
                false => keys.unique.push(columns.clone()),
            }
        }
    }
}

impl Left {
    fn of(single: &Single<'_>, overlap: Option<Overlap>) -> Option<Self> {
        // Where hardly a value is found, the name means something else.
        let overlap = overlap.filter(|it| it.values > 0 && it.found.saturating_mul(5) >= it.values)?;
        let called = of_names(single.called) > SURE - 1.0;
        called.then(|| Self { candidate: single.candidate(), overlap })
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
