//! Which tables refer to which: of all that may refer to all, what names and values together make likely.

use std::collections::{BTreeMap, BTreeSet};

use crate::engine::ontology::draft::called::{Called, Names, Says};
use crate::engine::ontology::draft::columns::{Column, Kind, Seen, seen};
use crate::engine::ontology::draft::keys::{Keys, keys};
use crate::engine::ontology::draft::kinds;
use crate::engine::ontology::draft::names::{Vocabulary, canonical, key_stem, last, same};
use crate::engine::ontology::draft::weigh::{ENOUGH, SURE, of_names, weigh};
use crate::engine::ontology::draft::{Candidate, DraftTable, Facts, Overlap};

/// References that are measured for one draft, the best called first.
const MOST_MEASURED: usize = 2_000;
/// Of these, references that only values may speak for.
const MOST_BY_VALUES: usize = 600;
/// Different values that a text has at least to be tried by its values alone.
const LEAST_VALUES: i64 = 3;

/// A reference that is drafted.
#[derive(Clone, Debug)]
pub(super) struct Reference {
    pub candidate: Candidate,
    pub overlap: Option<Overlap>,
    pub declared: bool,
    pub weight: f64,
    pub says: Option<Says>,
}

impl Overlap {
    /// The part of the values that are keys, 0 to 1; `None` where there are no values.
    pub(super) fn part(self) -> Option<f64> {
        #[expect(clippy::cast_precision_loss, reason = "counts of values, of which only the ratio matters")]
        (self.values > 0).then(|| self.found as f64 / self.values as f64)
    }
}

/// What may refer to what, to be measured: what is declared, what names say, and what could be by its values. The
/// facts say which columns are keys at all.
pub fn relationship_candidates(tables: &[DraftTable], facts: &Facts) -> Vec<Candidate> {
    let vocabulary = Vocabulary::new(tables);
    let seen = seen(tables, &vocabulary);
    let keys: Vec<Keys> = seen.iter().map(|table| keys(table, &vocabulary, facts)).collect();
    let mut singles = singles(&seen, &keys);
    singles.sort_by(|a, b| b.called.score.cmp(&a.called.score));
    let (named, by_values): (Vec<_>, Vec<_>) = singles.into_iter().partition(|single| single.called.score > 0);
    let all = named.into_iter().chain(by_values.into_iter().take(MOST_BY_VALUES)).map(|single| single.candidate());
    let mut asked: Vec<Candidate> = declared(tables);
    asked.extend(several(&seen, &keys).into_iter().map(|(candidate, _)| candidate));
    asked.extend(all);
    let mut once = BTreeSet::new();
    asked.retain(|candidate| once.insert(candidate.clone()));
    asked.truncate(MOST_MEASURED);
    asked
}

fn declared(tables: &[DraftTable]) -> Vec<Candidate> {
    let of = |table: &DraftTable| {
        let made = table.foreign_keys.iter().map(|declared| Candidate {
            from: table.name.clone(),
            from_columns: declared.columns.clone(),
            to: declared.to.clone(),
            to_columns: declared.to_columns.clone(),
        });
        made.collect::<Vec<_>>()
    };
    let mut all: Vec<Candidate> = tables.iter().flat_map(of).collect();
    all.retain(|candidate| tables.iter().any(|table| table.name == candidate.to));
    all
}

/// A column that may refer to a key of one column.
struct Single<'a> {
    from: &'a Seen<'a>,
    column: &'a Column<'a>,
    to: &'a Seen<'a>,
    key: &'a Column<'a>,
    called: Called,
    own: u8,
    primary: bool,
}

impl Single<'_> {
    fn candidate(&self) -> Candidate {
        Candidate {
            from: self.from.table.name.clone(),
            from_columns: vec![self.column.info.name.clone()],
            to: self.to.table.name.clone(),
            to_columns: vec![self.key.info.name.clone()],
        }
    }
}

fn singles<'a>(seen: &'a [Seen<'a>], keys: &'a [Keys]) -> Vec<Single<'a>> {
    let names = Names::new(seen);
    let mut found = Vec::new();
    for (from, from_keys) in seen.iter().zip(keys) {
        for column in from.columns.iter().filter(|column| column.kind != Kind::Other) {
            for (to, to_keys) in seen.iter().zip(keys).filter(|(to, _)| to.table.place == from.table.place) {
                found.extend(single(&names, (from, from_keys), column, (to, to_keys)));
            }
        }
    }
    found
}

/// The keys of a table that a column may refer to.
fn single<'a>(
    names: &Names<'_>,
    (from, from_keys): (&'a Seen<'a>, &'a Keys),
    column: &'a Column<'a>,
    (to, to_keys): (&'a Seen<'a>, &'a Keys),
) -> Vec<Single<'a>> {
    let itself = from.is(to);
    let own_key = from_keys.primary == [column.info.name.clone()];
    let unique = from_keys.singles.iter().any(|(_, name)| *name == column.info.name);
    let of_key = |(own, name): &'a (u8, String)| {
        let key = to.column(name)?;
        if itself && (key.at == column.at || unique) || !column.may_be_in(key) {
            return None;
        }
        let called = names.called(from, column, to, key, *own);
        // Two tables with the same key: the one that is called after the other refers to it.
        let names_it = called.says == Says::Table && !same(&column.words, &from.words)
            || key_stem(&column.words).is_some_and(|stem| is_about(stem, to) && !is_about(stem, from));
        let same_name = matches!(called.says, Says::SameName | Says::SameNameWithRole);
        let equals = own_key && !names_it || unique && same_name;
        if equals && !(called.score >= 70 && is_lesser(from, to)) {
            return None;
        }
        // Nothing but values speaks for it: numbers from 1 on have most small numbers among them.
        let telling = match key.kind {
            Kind::Text | Kind::Uuid => {
                let some = column.distinct().is_some_and(|count| count >= LEAST_VALUES);
                some && !prose(column) && like_codes(column, key)
            }
            Kind::Whole => {
                key.density().is_some_and(|density| density < 0.001)
                    && column.distinct().is_some_and(|count| count >= 20)
            }
            Kind::Day | Kind::Other => false,
        };
        let tried = called.score > 0 || called.says == Says::Nothing && telling && !itself;
        let primary = to_keys.primary == [name.clone()];
        tried.then_some(Single { from, column, to, key, called, own: *own, primary })
    };
    to_keys.singles.iter().filter_map(of_key).collect()
}

/// Codes of one kind are equally long.
fn like_codes(column: &Column<'_>, key: &Column<'_>) -> bool {
    let lengths = |column: &Column<'_>| {
        let all = column.info.sample_values.iter().map(|value| value.chars().count());
        all.clone().min().zip(all.max())
    };
    match (lengths(column), lengths(key)) {
        (Some(own), Some((least, most))) => least != most || own == (least, most),
        _ => true,
    }
}

fn prose(column: &Column<'_>) -> bool {
    let words: Vec<&str> = column.words.iter().map(String::as_str).collect();
    words.iter().any(|word| {
        matches!(
            *word,
            "name" | "title" | "description" | "comment" | "comments" | "text" | "email" | "url" | "note" | "notes"
        )
    })
}

/// Whether all the words are among those of a table.
fn is_about(stem: &[String], table: &Seen<'_>) -> bool {
    !stem.is_empty() && stem.iter().all(|word| table.words.iter().any(|other| canonical(other) == canonical(word)))
}

/// Whether a table is a kind or a part of another, by its name and rows: "fire claim" of "claim".
fn is_lesser(from: &Seen<'_>, to: &Seen<'_>) -> bool {
    let is_called = |part: Option<&[String]>| part.is_some_and(|part| same(part, &to.words));
    let after = match (from.words.as_slice(), to.words.as_slice()) {
        ([from], [to]) => from.len() > to.len() && from.ends_with(&canonical(to)),
        (from, to) => from.len() > to.len() && (is_called(last(from, to.len())) || is_called(from.get(..to.len()))),
    };
    after
}

/// References by several columns at once, with how surely they are called so, 0 to 100: each column of a table's key
/// is there under the same name, or under the table's.
fn several(seen: &[Seen<'_>], keys: &[Keys]) -> Vec<(Candidate, i16)> {
    let mut found = Vec::new();
    for (to, to_keys) in seen.iter().zip(keys).filter(|(_, keys)| keys.primary.len() > 1) {
        for (from, from_keys) in seen.iter().zip(keys) {
            if from.is(to) || from.table.place != to.table.place || is_bridge(to, to_keys) && !is_lesser(from, to) {
                continue;
            }
            found.extend(together(from, from_keys, to, to_keys));
            found.extend(together_with_role(from, to, to_keys));
        }
    }
    found
}

/// Whether a table has nothing but its key.
fn is_bridge(table: &Seen<'_>, keys: &Keys) -> bool {
    table.columns.iter().all(|column| keys.primary.contains(&column.info.name) || kinds::is_audit(&column.words))
}

fn together(from: &Seen<'_>, from_keys: &Keys, to: &Seen<'_>, to_keys: &Keys) -> Option<(Candidate, i16)> {
    let mut named = false;
    let mut columns: Vec<String> = Vec::new();
    for name in &to_keys.primary {
        let key = to.column(name)?;
        let fits = |column: &&Column<'_>| column.kind == key.kind && !columns.contains(&column.info.name);
        // The table's own name stands for what its rows are called by: "province" for the name of a province.
        let generic = matches!(key.words.as_slice(), [only] if matches!(only.as_str(), "name" | "code" | "id" | "no" | "number" | "title"));
        let called = |column: &&Column<'_>| {
            let stem = key_stem(&column.words).filter(|stem| !stem.is_empty()).unwrap_or(&column.words);
            same(stem, &to.words)
        };
        let alike = |column: &&Column<'_>| column.words == key.words;
        let by_table = from.columns.iter().filter(fits).find(called).filter(|_| generic);
        let column = by_table.or_else(|| from.columns.iter().filter(fits).find(alike).filter(|_| !generic))?;
        named |= by_table.is_some();
        columns.push(column.info.name.clone());
    }
    // Both have the same key: neither is said to be the other's, unless one is called after the other.
    let has = |key: &[String]| !key.is_empty() && key.iter().all(|name| columns.contains(name));
    let same_key = has(&from_keys.primary) || from_keys.singles.iter().any(|(_, name)| columns.contains(name));
    if same_key && !named && !is_lesser(from, to) {
        return None;
    }
    let candidate = Candidate {
        from: from.table.name.clone(),
        from_columns: columns,
        to: to.table.name.clone(),
        to_columns: to_keys.primary.clone(),
    };
    Some((candidate, if named { 85 } else { 60 }))
}

/// References by a key of several columns of which one has a role here: the season's team that won, and the one that
/// lost.
fn together_with_role(from: &Seen<'_>, to: &Seen<'_>, to_keys: &Keys) -> Vec<(Candidate, i16)> {
    let mut found = Vec::new();
    for (at, name) in to_keys.primary.iter().enumerate() {
        let Some(key) = to.column(name) else { continue };
        let with_role = |column: &&Column<'_>| {
            let (own, words) = (&column.words, &key.words);
            column.kind == key.kind
                && own.len() > words.len()
                && key_stem(words).is_some_and(|stem| !stem.is_empty())
                && !to_keys.primary.iter().any(|other| to.column(other).is_some_and(|other| other.words == *own))
                && (own.starts_with(words) || own.ends_with(words))
        };
        let others: Option<Vec<String>> = to_keys
            .primary
            .iter()
            .enumerate()
            .map(|(place, name)| {
                let key = to.column(name)?;
                let alike = |column: &&Column<'_>| column.kind == key.kind && column.words == key.words;
                match place == at {
                    true => Some(String::new()),
                    false => from.columns.iter().find(alike).map(|column| column.info.name.clone()),
                }
            })
            .collect();
        let Some(others) = others else { continue };
        for column in from.columns.iter().filter(with_role) {
            let mut columns = others.clone();
            if let Some(place) = columns.get_mut(at) {
                place.clone_from(&column.info.name);
            }
            let candidate = Candidate {
                from: from.table.name.clone(),
                from_columns: columns,
                to: to.table.name.clone(),
                to_columns: to_keys.primary.clone(),
            };
            found.push((candidate, 60));
        }
    }
    found
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
    let mut by_column: BTreeMap<(String, String), Vec<(Single<'_>, Option<Overlap>, f64)>> = BTreeMap::new();
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
        let weight = weigh(single.column, single.key, single.called, overlap, single.own, single.primary).sum();
        let place = (single.from.table.name.clone(), single.column.info.name.clone());
        by_column.entry(place).or_default().push((single, overlap, weight));
    }
    for ((table, column), mut found) in by_column {
        let place = (table, vec![column]);
        if chosen.contains_key(&place) {
            continue;
        }
        found.sort_by(|a, b| b.2.total_cmp(&a.2));
        let Some((single, overlap, weight)) = found.first() else { continue };
        if *weight < ENOUGH {
            note_refused(single, *overlap, notes);
            continue;
        }
        let says = Some(single.called.says);
        let made =
            Reference { candidate: single.candidate(), overlap: *overlap, declared: false, weight: *weight, says };
        chosen.insert(place, made);
    }
    let mut all: Vec<Reference> = chosen.into_values().collect();
    without_circles(&mut all);
    in_order(&mut all, tables);
    all
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
    all.sort_by_key(|reference| {
        let candidate = &reference.candidate;
        let (place, table) = tables.iter().enumerate().find(|(_, table)| table.name == candidate.from).unzip();
        let first = candidate.from_columns.first();
        let column =
            table.and_then(|table: &DraftTable| table.columns.iter().position(|column| Some(&column.name) == first));
        (place, column, candidate.from_columns.len())
    });
}
