//! References by several columns at once.

use std::cmp::Reverse;

use crate::engine::ontology::draft::called::is_lesser;
use crate::engine::ontology::draft::columns::{Column, Seen};
use crate::engine::ontology::draft::keys::Keys;
use crate::engine::ontology::draft::names::{behind, key_stem, same, stem_of};
use crate::engine::ontology::draft::{Candidate, kinds};

/// How surely columns are called for a key: like its own, and after its table.
pub(super) const ALIKE: i16 = 60;
const NAMED: i16 = 85;

/// References by several columns at once, with how surely they are called so, 0 to 100: each column of a table's key
/// is there under the same name, or under the table's.
pub(super) fn several(seen: &[Seen<'_>], keys: &[Keys]) -> Vec<(Candidate, i16)> {
    let mut found = Vec::new();
    for (to, to_keys) in seen.iter().zip(keys).filter(|(_, keys)| keys.primary.len() > 1) {
        let bridge = is_bridge(to, to_keys, seen);
        for (from, from_keys) in seen.iter().zip(keys) {
            if from.is(to) || from.table.place != to.table.place || bridge && !is_lesser(from, to) {
                continue;
            }
            found.extend(together(from, from_keys, to, to_keys));
            found.extend(together_with_role(from, to, to_keys));
            found.retain(|(candidate, _)| !from.table.refuses(candidate));
        }
    }
    found
}

/// Whether a table has nothing but its key, and that names other tables.
fn is_bridge(table: &Seen<'_>, keys: &Keys, seen: &[Seen<'_>]) -> bool {
    let named = |column: &&Column<'_>| {
        keys.primary.contains(&column.info.name)
            && seen.iter().any(|other| !other.is(table) && same(stem_of(&column.words), &other.words))
    };
    let only = |column: &Column<'_>| keys.primary.contains(&column.info.name) || kinds::is_audit(&column.words);
    table.columns.iter().all(only) && table.columns.iter().filter(named).count() > 1
}

fn together(from: &Seen<'_>, from_keys: &Keys, to: &Seen<'_>, to_keys: &Keys) -> Option<(Candidate, i16)> {
    let mut named = false;
    let mut columns: Vec<String> = Vec::new();
    for name in &to_keys.primary {
        let key = to.column(name)?;
        let fits = |column: &&Column<'_>| column.kind == key.kind && !columns.contains(&column.info.name);
        // The table's own name stands for what its rows are called by: "province" for the name of a province.
        let generic = matches!(key.words.as_slice(), [only] if matches!(only.as_str(), "name" | "code" | "id" | "no" | "number" | "title"));
        let called = |column: &&Column<'_>| same(stem_of(&column.words), &to.words);
        let alike = |column: &&Column<'_>| column.words == key.words;
        // "event category name" of the category name of an event
        let with_noun = |column: &&Column<'_>| behind(&column.words, &to.words) == Some(key.words.as_slice());
        let by_table = from.columns.iter().filter(fits).find(called).filter(|_| generic);
        let by_table = by_table.or_else(|| from.columns.iter().filter(fits).find(with_noun));
        let column = by_table.or_else(|| from.columns.iter().filter(fits).find(alike).filter(|_| !generic))?;
        named |= by_table.is_some();
        columns.push(column.info.name.clone());
    }
    // Both have the same key: neither is said to be the other's, unless one is called after the other, or the key says of
    // what it is one and this table comes first.
    let has = |key: &[String]| !key.is_empty() && key.iter().all(|name| columns.contains(name));
    let same_key = has(&from_keys.primary) || from_keys.singles.iter().any(|(_, name)| columns.contains(name));
    let tells =
        |name: &String| to.column(name).and_then(|key| key_stem(&key.words)).is_some_and(|stem| !stem.is_empty());
    let rank = |it: &Seen<'_>| (it.table.rows(), Reverse(it.words.len()), Reverse(it.at));
    let twins = from_keys.primary.len() == columns.len()
        && has(&from_keys.primary)
        && to_keys.primary.iter().any(tells)
        && rank(to) > rank(from);
    if same_key && !named && !twins && !is_lesser(from, to) {
        return None;
    }
    let candidate = Candidate {
        from: from.table.name.clone(),
        from_columns: columns,
        to: to.table.name.clone(),
        to_columns: to_keys.primary.clone(),
    };
    Some((candidate, if named { NAMED } else { ALIKE }))
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
            found.push((candidate, ALIKE));
        }
    }
    found
}
