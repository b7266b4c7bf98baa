//! Which columns identify a row.

use crate::engine::ontology::draft::kinds::is_audit;
use crate::engine::ontology::draft::names::{Vocabulary, ends_with, key_stem, noun, same};
use crate::engine::ontology::draft::{DraftTable, Facts, KeyCandidate};
use crate::engine::ontology::read::datatype_of;
use crate::model::dataset::ColumnInfo;
use crate::model::ontology::DataType;
use crate::model::profile::Figure;

/// Pairs of columns that are tried per table when no single one is a key.
const PAIRS: usize = 12;

/// Rows from which chance no longer makes a column unique.
const MANY: i64 = 50;

/// How well a column is called for a key that is called like another table's.
const FOREIGN: u8 = 10;
/// What a column must be called to be said unique because it happens to be.
const OWN: u8 = 50;

/// The keys of a table.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Keys {
    pub primary: Vec<String>,
    pub unique: Vec<Vec<String>>,
}

/// The columns whose uniqueness must be measured still: of a table without a declared key the single columns that are
/// called like one, then, if none of these is a key, pairs. Ask again with what was found until there are none.
pub fn key_candidates(tables: &[DraftTable], facts: &Facts) -> Vec<KeyCandidate> {
    let vocabulary = Vocabulary::new(tables);
    let mut asked = Vec::new();
    for table in tables.iter().filter(|table| table.primary_key.is_empty()) {
        let singles = singles(table, &vocabulary);
        let unknown = |columns: &Vec<String>| is_key(table, columns, facts).is_none();
        let candidate = |columns: Vec<String>| KeyCandidate { table: table.name.clone(), columns };
        let open: Vec<_> = singles.iter().map(|(_, name)| vec![name.clone()]).filter(unknown).collect();
        if !open.is_empty() {
            asked.extend(open.into_iter().map(candidate));
        } else if !singles.iter().any(|(_, name)| is_key(table, std::slice::from_ref(name), facts) == Some(true)) {
            asked.extend(pairs(table, &vocabulary).into_iter().filter(unknown).map(candidate));
        }
    }
    asked
}

pub(super) fn keys(table: &DraftTable, vocabulary: &Vocabulary, facts: &Facts) -> Keys {
    let mut singles = singles(table, vocabulary);
    // The best name first; the order of the columns among equals.
    singles.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
    let unique: Vec<(u8, Vec<String>)> = singles
        .into_iter()
        .map(|(score, name)| (score, vec![name]))
        .filter(|(_, columns)| is_key(table, columns, facts) == Some(true))
        .collect();
    let mut keys = Keys { primary: table.primary_key.clone(), unique: table.unique_keys.clone() };
    // Two rows differ in nearly everything: only names tell.
    let least = if table.rows() >= 5 { FOREIGN } else { 60 };
    let foreign = unique.first().is_none_or(|(score, _)| *score == FOREIGN);
    let bridge = bridge(table, vocabulary).filter(|pair| {
        foreign
            && (unique.iter().flat_map(|(_, columns)| columns).any(|column| pair.contains(column))
                || is_key(table, pair, facts) == Some(true))
    });
    let mut told: Vec<(u8, Vec<String>)> = unique.into_iter().filter(|(score, _)| *score >= least).collect();
    // A bridge between two tables has a pair for its key, also while one side is there only once.
    if keys.primary.is_empty()
        && let Some(bridge) = bridge
    {
        keys.primary = bridge;
    } else if keys.primary.is_empty() && !told.is_empty() {
        keys.primary = told.remove(0).1;
    }
    if keys.primary.is_empty() {
        keys.primary = pairs(table, vocabulary)
            .into_iter()
            .find(|columns| is_key(table, columns, facts) == Some(true))
            .unwrap_or_default();
    }
    // With many rows, a side of a bridge that is there only once is there at most once.
    if keys.primary.len() == 2 && table.rows() >= MANY && table.columns.len() <= 4 {
        let once = keys.primary.iter().map(|name| vec![name.clone()]);
        keys.unique.extend(once.filter(|columns| is_key(table, columns, facts) == Some(true)).collect::<Vec<_>>());
    }
    let other = |columns: &Vec<String>| !table.unique_keys.contains(columns) && *columns != keys.primary;
    let own: Vec<Vec<String>> =
        told.into_iter().filter(|(score, _)| *score >= OWN).map(|(_, columns)| columns).collect();
    keys.unique.extend(own.into_iter().filter(other));
    keys
}

/// Whether columns are a key, as far as it is declared, measured or in the profile.
fn is_key(table: &DraftTable, columns: &[String], facts: &Facts) -> Option<bool> {
    if table.primary_key == columns || table.unique_keys.iter().any(|key| key == columns) {
        return Some(true);
    }
    let candidate = KeyCandidate { table: table.name.clone(), columns: columns.to_vec() };
    if let Some(known) = facts.keys.get(&candidate) {
        return Some(*known);
    }
    let [column] = columns else { return None };
    let figures = table.figures(column)?;
    let exact =
        !figures.approximate.iter().chain(&figures.not_computed).any(|f| matches!(f, Figure::Distinct | Figure::Nulls));
    if figures.nulls > 0 {
        return Some(false);
    }
    // An estimate that is far away is enough to say no.
    let far = figures.distinct < table.rows() * 9 / 10;
    if exact || far { Some(table.rows() > 0 && figures.distinct == table.rows()) } else { None }
}

/// Single columns that may be a key, with how well they are called for it.
fn singles(table: &DraftTable, vocabulary: &Vocabulary) -> Vec<(u8, String)> {
    let noun_of_table = vocabulary.table(&table.name);
    let scored = table
        .columns
        .iter()
        .enumerate()
        .map(|(at, column)| (score(table, &noun_of_table, at, column, vocabulary), column));
    scored.filter(|(score, _)| *score > 0).map(|(score, column)| (score, column.name.clone())).collect()
}

fn score(table: &DraftTable, noun_of_table: &[String], at: usize, column: &ColumnInfo, vocabulary: &Vocabulary) -> u8 {
    let datatype = datatype_of(&column.r#type);
    if !matches!(datatype, DataType::String | DataType::Integer) && !is_whole(datatype) {
        return 0;
    }
    let words = vocabulary.words(&column.name);
    let words = match words.as_slice() {
        // "l_orderkey"
        [first, rest @ ..] if first.len() <= 2 && first != "id" && !rest.is_empty() => rest.to_vec(),
        _ => words,
    };
    let Some(stem) = key_stem(&words) else {
        let named = words.len() == 1 && same(&words, noun_of_table);
        let leading = at == 0 && datatype == DataType::String && !is_prose(&words);
        return if named {
            60
        } else if leading {
            50
        } else {
            0
        };
    };
    // "company claim number" of a claim, and "detail id" of a coverage detail
    let own = ends_with(stem, noun_of_table) || noun(noun_of_table).ends_with(&stem.join(" "));
    let id =
        matches!(words.last().map(String::as_str), Some("id" | "key" | "sk" | "pk" | "identifier" | "uuid" | "guid"));
    if !stem.is_empty() && vocabulary.names_another(stem, noun_of_table) {
        // A table of nothing else is a kind of the other.
        return if table.columns.len() == 1 { 60 } else { FOREIGN };
    }
    match (stem.is_empty(), own, id) {
        (true, _, true) => 100,
        (_, true, true) => 95,
        (true, _, false) => 80,
        (_, true, false) => 75,
        // Of another table, when it is there; otherwise maybe of this one by another name.
        _ if table.columns.len() > 1 && at > 0 => 20,
        _ => 60,
    }
}

/// Numeric types that hold whole numbers in some engines.
fn is_whole(datatype: DataType) -> bool {
    datatype == DataType::Decimal
}

fn is_prose(words: &[String]) -> bool {
    words
        .iter()
        .any(|word| matches!(word.as_str(), "name" | "title" | "description" | "comment" | "note" | "text" | "email"))
}

/// Two columns called like keys of other tables, beside which nothing is but when a row was written.
fn bridge(table: &DraftTable, vocabulary: &Vocabulary) -> Option<Vec<String>> {
    let own = vocabulary.table(&table.name);
    let foreign = |column: &&ColumnInfo| {
        let words = vocabulary.words(&column.name);
        key_stem(&words).is_some_and(|stem| vocabulary.names_another(stem, &own))
    };
    let (keys, rest): (Vec<&ColumnInfo>, Vec<&ColumnInfo>) = table.columns.iter().partition(foreign);
    let audit = rest.iter().all(|column| is_audit(&vocabulary.words(&column.name)));
    (keys.len() == 2 && audit).then(|| keys.iter().map(|column| column.name.clone()).collect())
}

/// Pairs that may be a key: of columns called like keys, and of a key with a time or a line number.
fn pairs(table: &DraftTable, vocabulary: &Vocabulary) -> Vec<Vec<String>> {
    let mut parts: Vec<&ColumnInfo> = Vec::new();
    let mut times: Vec<&ColumnInfo> = Vec::new();
    for (at, column) in table.columns.iter().enumerate() {
        let datatype = datatype_of(&column.r#type);
        let words = vocabulary.words(&column.name);
        let key_like = key_stem(&words).is_some()
            || words.last().is_some_and(|word| matches!(word.as_str(), "line" | "sequence" | "seq"));
        let short_text = datatype == DataType::String && !is_prose(&words) && at < 3;
        if matches!(datatype, DataType::String | DataType::Integer) && (key_like || short_text) {
            parts.push(column);
        } else if datatype.is_calendar() && !is_audit(&words) {
            times.push(column);
        }
    }
    let mut pairs = Vec::new();
    for (at, first) in parts.iter().enumerate() {
        for second in parts.iter().skip(at + 1).chain(&times) {
            pairs.push(vec![first.name.clone(), second.name.clone()]);
        }
    }
    pairs.truncate(PAIRS);
    pairs
}
