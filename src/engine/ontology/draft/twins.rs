//! Tables with one key: several describe the same things, as the posts and the pay of staff do, and a row of one has at
//! most one row in each other.

use std::collections::BTreeMap;

use crate::engine::ontology::draft::Candidate;
use crate::engine::ontology::draft::columns::{Column, Kind, Seen};
use crate::engine::ontology::draft::keys::Keys;
use crate::engine::ontology::draft::names::{abbreviates, canonical, key_stem};
use crate::engine::ontology::draft::reading::is_about;
use crate::engine::ontology::draft::words::{GENERIC, any};

/// Tables of which it is likely that they describe the same things because their keys are called alike.
const MOST: usize = 12;

/// A table with the column that is its key.
struct Keyed<'a> {
    table: &'a Seen<'a>,
    key: &'a Column<'a>,
}

/// What tables with keys of one name refer to: the one of them that the name is about, or has the most rows.
pub(super) fn twins(seen: &[Seen<'_>], keys: &[Keys]) -> Vec<Candidate> {
    let mut groups: BTreeMap<(Option<&String>, String), Vec<Keyed<'_>>> = BTreeMap::new();
    for (table, keys) in seen.iter().zip(keys) {
        let [name] = keys.primary.as_slice() else { continue };
        let Some(key) = table.column(name).filter(|key| tells(key)) else { continue };
        let called = key.words.iter().map(|word| canonical(word)).collect::<Vec<_>>().join(" ");
        groups.entry((table.table.place.as_ref(), called)).or_default().push(Keyed { table, key });
    }
    groups.into_values().filter(|group| (2..=MOST).contains(&group.len())).flat_map(|group| to_hub(&group)).collect()
}

/// Whether a key's name says of what it is one, and its values can be compared.
fn tells(key: &Column<'_>) -> bool {
    let stem = key_stem(&key.words).unwrap_or(&key.words);
    let of_something = !stem.is_empty() && !any(stem, GENERIC);
    of_something && key.kind != Kind::Other && key.kind != Kind::Day
}

fn to_hub(group: &[Keyed<'_>]) -> Vec<Candidate> {
    let most = group.iter().map(|it| it.table.table.rows()).max().unwrap_or(0);
    let rank = |it: &&Keyed<'_>| {
        let stem = key_stem(&it.key.words).unwrap_or(&it.key.words);
        let short = matches!(stem, [only] if abbreviates(only, &it.table.words));
        let full = it.table.table.rows().saturating_mul(10) >= most.saturating_mul(9);
        let plain = std::cmp::Reverse(it.table.words.len());
        (full, is_about(stem, it.table) || short, plain, std::cmp::Reverse(it.table.at))
    };
    let Some(hub) = group.iter().max_by_key(rank) else { return vec![] };
    let others = group.iter().filter(|it| !it.table.is(hub.table) && it.key.may_be_in(hub.key));
    let candidate = |it: &Keyed<'_>| Candidate {
        from: it.table.table.name.clone(),
        from_columns: vec![it.key.info.name.clone()],
        to: hub.table.table.name.clone(),
        to_columns: vec![hub.key.info.name.clone()],
    };
    others
        .map(|it| (it, candidate(it)))
        .filter(|(it, found)| !it.table.table.refuses(found))
        .map(|(_, it)| it)
        .collect()
}
