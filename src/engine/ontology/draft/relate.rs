//! Which tables refer to which.

use std::collections::BTreeMap;

use crate::engine::ontology::draft::keys::{Keys, keys};
use crate::engine::ontology::draft::names::{Vocabulary, canonical, common_prefix, ends_with, key_stem, last, same};
use crate::engine::ontology::draft::roles::{STAFF, name_by_start, names_of_role, role};
use crate::engine::ontology::draft::{By, Candidate, DraftTable, Facts, Overlap};
use crate::engine::ontology::read;
use crate::model::dataset::ColumnInfo;
use crate::model::ontology::{AiContext, Cardinality, Confidence, DataType, Entity, Relationship};

/// Different values that a column may have to be tried against keys by its values alone.
const FEW_VALUES: i64 = 1_000;
/// Rows of a table whose keys are tried.
const SMALL_TABLE: i64 = 50_000;
/// Candidates that are tried by values alone.
const BY_VALUES: usize = 60;
/// Part of the different values that must be keys, by why a candidate is one.
const ENOUGH_BY_NAME: f64 = 0.5;
const ENOUGH_BY_VALUES: f64 = 0.9;

/// Tables of people who work on something.
const STAFF_TABLES: &[&str] = &["employee", "staff", "user", "person", "worker"];

/// Words in front of a table's name that say which of its rows is meant.
const LEADING: &[&str] = &[
    "from",
    "to",
    "origin",
    "destination",
    "source",
    "target",
    "start",
    "end",
    "home",
    "billing",
    "shipping",
    "delivery",
    "departure",
    "arrival",
    "sending",
    "receiving",
    "parent",
    "primary",
    "secondary",
    "default",
    "original",
];

/// What may refer to what: declared keys, names, and texts that could be keys by their values. The facts say which
/// tables have keys at all.
pub fn relationship_candidates(tables: &[DraftTable], facts: &Facts) -> Vec<Candidate> {
    let vocabulary = Vocabulary::new(tables);
    let keys: Vec<Keys> = tables.iter().map(|table| keys(table, &vocabulary, facts)).collect();
    candidates(tables, &vocabulary, &keys)
}

/// A table with its names in words.
struct Named<'a> {
    table: &'a DraftTable,
    words: Vec<String>,
    /// Of each column, without the common prefix.
    columns: Vec<(&'a ColumnInfo, Vec<String>)>,
    keys: &'a Keys,
}

fn named<'a>(tables: &'a [DraftTable], vocabulary: &Vocabulary, keys: &'a [Keys]) -> Vec<Named<'a>> {
    let named = tables.iter().zip(keys).map(|(table, keys)| {
        let words = vocabulary.table(&table.name);
        let columns: Vec<Vec<String>> = table.columns.iter().map(|column| vocabulary.words(&column.name)).collect();
        let initial = columns.first().and_then(|words| words.first()).is_some_and(|first| first.len() <= 2);
        let skip = if initial { common_prefix(&words, &columns) } else { 0 };
        let columns = table
            .columns
            .iter()
            .zip(columns)
            .map(|(column, words)| (column, words.into_iter().skip(skip).collect()))
            .collect();
        Named { table, words, columns, keys }
    });
    named.collect()
}

fn candidates(tables: &[DraftTable], vocabulary: &Vocabulary, keys: &[Keys]) -> Vec<Candidate> {
    let named = named(tables, vocabulary, keys);
    let mut found: Vec<Candidate> = Vec::new();
    for from in &named {
        for declared in &from.table.foreign_keys {
            found.push(Candidate {
                from: from.table.name.clone(),
                from_columns: declared.columns.clone(),
                to: declared.to.clone(),
                to_columns: declared.to_columns.clone(),
                by: By::Declared,
                score: 100,
            });
        }
        for to in named.iter().filter(|to| to.table.place == from.table.place) {
            found.extend(by_name(from, to, &named));
            found.extend(composite(from, to));
        }
    }
    found.retain(|candidate| tables.iter().any(|table| table.name == candidate.to));
    let covered: Vec<(String, String)> = found
        .iter()
        .flat_map(|found| found.from_columns.iter().map(|column| (found.from.clone(), column.clone())))
        .collect();
    let mut by_values: Vec<Candidate> = Vec::new();
    for from in &named {
        for (column, words) in &from.columns {
            let single =
                found.iter().any(|found| found.from == from.table.name && found.from_columns == [column.name.clone()]);
            let declared = single && covered.contains(&(from.table.name.clone(), column.name.clone()));
            if !declared {
                by_values.extend(named.iter().filter_map(|to| by_value(from, column, words, to)));
            }
        }
    }
    by_values.truncate(BY_VALUES);
    found.extend(by_values);
    found
}

/// Whether values of two columns can be equal.
fn comparable(first: &ColumnInfo, second: &ColumnInfo) -> bool {
    let class = |column: &ColumnInfo| match read::datatype_of(&column.r#type) {
        DataType::String if column.r#type.eq_ignore_ascii_case("uuid") => 4,
        DataType::String => 1,
        DataType::Integer => 2,
        DataType::Decimal => 3,
        _ => 0,
    };
    class(first) != 0 && class(first) == class(second)
}

fn by_name(from: &Named<'_>, to: &Named<'_>, all: &[Named<'_>]) -> Vec<Candidate> {
    let mut found = Vec::new();
    for (column, words) in &from.columns {
        let own_key = from.keys.primary == [column.name.clone()];
        for key in std::iter::once(&to.keys.primary).chain(&to.keys.unique) {
            let [name] = key.as_slice() else { continue };
            let Some((target, key_words)) = to.columns.iter().find(|(other, _)| other.name == *name) else { continue };
            let itself = std::ptr::eq(from.table, to.table);
            // A second key of a table does not refer to the first.
            let unique = from.keys.unique.iter().any(|key| *key == [column.name.clone()]);
            if !comparable(column, target) || itself && (column.name == target.name || unique) {
                continue;
            }
            let primary = to.keys.primary == *key;
            let score = name_score(words, key_words, to, from, all).filter(|score| primary || *score >= 80);
            // Two tables with the same key: the one that is called after the other refers to it.
            let names = key_stem(words).is_some_and(|stem| same(stem, &to.words) && !same(stem, &from.words));
            let lesser = own_key && !names && !is_called_after(from, to);
            let score = score.filter(|_| !(lesser || itself && words.len() < 2));
            if let Some(score) = score {
                found.push(Candidate {
                    from: from.table.name.clone(),
                    from_columns: vec![column.name.clone()],
                    to: to.table.name.clone(),
                    to_columns: key.clone(),
                    by: By::Naming,
                    score: if primary { score } else { score - 5 },
                });
                break;
            }
        }
    }
    found
}

/// Whether a table is a kind or a part of another, by its name: "fire claim" of "claim".
fn is_called_after(from: &Named<'_>, to: &Named<'_>) -> bool {
    let is_called = |part: Option<&[String]>| part.is_some_and(|part| same(part, &to.words));
    match (from.words.as_slice(), to.words.as_slice()) {
        ([from], [to]) => from.len() > to.len() && from.ends_with(&canonical(to)),
        (from, to) => from.len() > to.len() && (is_called(last(from, to.len())) || is_called(from.get(..to.len()))),
    }
}

/// How sure the names are that a column holds keys of a table.
fn name_score(
    words: &[String],
    key_words: &[String],
    to: &Named<'_>,
    from: &Named<'_>,
    all: &[Named<'_>],
) -> Option<u8> {
    let stem = key_stem(words);
    if let Some(stem) = stem.filter(|stem| !stem.is_empty()) {
        // A key of something else that this table has too is not meant: "agreement type code" for "agreement id".
        let fits = key_stem(key_words).is_none_or(|key| key.is_empty() || same(key, &to.words) || same(key, stem));
        if same(stem, &to.words) && fits {
            return Some(90);
        }
        // "original language id", "billing address id"
        let longer = stem.len() > to.words.len();
        if fits && longer && last(stem, to.words.len()).is_some_and(|last| same(last, &to.words)) {
            return Some(80);
        }
    }
    // The same name as the key there, when it says more than "id": also "manager staff id" for "staff id".
    let telling =
        key_words.len() > 1 || key_words.first().is_some_and(|word| key_stem(std::slice::from_ref(word)).is_none());
    let generic = matches!(key_words, [word] if matches!(word.as_str(), "name" | "type" | "date" | "year" | "title" | "status" | "code"));
    if telling && !generic {
        if same(words, key_words) {
            return Some(70);
        }
        if key_words.len() > 1 && words.len() > key_words.len() && ends_with(words, key_words) {
            return Some(65);
        }
    }
    // The column is called like the table: "customer" for customers.
    if stem.is_none() && !std::ptr::eq(to.table, from.table) && same(words, &to.words) {
        return Some(60);
    }
    // "from town", "billing country"
    let led = words.first().is_some_and(|first| LEADING.contains(&first.as_str()));
    if stem.is_none() && led && words.len() > to.words.len() && ends_with(words, &to.words) {
        return Some(58);
    }
    let staff =
        |named: &Named<'_>| named.words.last().is_some_and(|word| STAFF_TABLES.contains(&canonical(word).as_str()));
    if staff(to) && all.iter().filter(|named| staff(named)).count() == 1 {
        let role = stem.and_then(<[String]>::last).is_some_and(|word| STAFF.contains(&word.as_str()));
        let reports = std::ptr::eq(to.table, from.table) && words.join(" ").starts_with("reports to");
        return (role || reports).then_some(55);
    }
    let parent = stem.is_some_and(|stem| matches!(stem, [word] if word == "parent")) || words == ["parent".to_owned()];
    (std::ptr::eq(to.table, from.table) && parent).then_some(55)
}

/// A key of several columns, each of which is there under the same name.
fn composite(from: &Named<'_>, to: &Named<'_>) -> Option<Candidate> {
    let key = &to.keys.primary;
    if key.len() < 2 || std::ptr::eq(from.table, to.table) || from.keys.primary.len() == key.len() && same_key(from, to)
    {
        return None;
    }
    let columns: Option<Vec<String>> = key
        .iter()
        .map(|name| {
            let (target, words) = to.columns.iter().find(|(column, _)| column.name == *name)?;
            let alike = |(column, other): &&(&ColumnInfo, Vec<String>)| {
                let types = read::datatype_of(&column.r#type) == read::datatype_of(&target.r#type);
                types && other == words
            };
            from.columns.iter().find(alike).map(|(column, _)| column.name.clone())
        })
        .collect();
    Some(Candidate {
        from: from.table.name.clone(),
        from_columns: columns?,
        to: to.table.name.clone(),
        to_columns: key.clone(),
        by: By::Naming,
        score: 75,
    })
}

/// Both tables have the same key: neither is said to be the other's.
fn same_key(from: &Named<'_>, to: &Named<'_>) -> bool {
    let words = |named: &Named<'_>| {
        let mut all: Vec<Vec<String>> = named
            .columns
            .iter()
            .filter(|(column, _)| named.keys.primary.contains(&column.name))
            .map(|(_, words)| words.clone())
            .collect();
        all.sort();
        all
    };
    words(from) == words(to)
}

/// A text with few values against the texts that are keys of a small table.
fn by_value(from: &Named<'_>, column: &ColumnInfo, words: &[String], to: &Named<'_>) -> Option<Candidate> {
    let [key] = to.keys.primary.as_slice() else { return None };
    let target = to.table.column(key)?;
    let text = |column: &ColumnInfo| read::datatype_of(&column.r#type) == DataType::String;
    let few = from.table.figures(&column.name).is_some_and(|figures| (2..=FEW_VALUES).contains(&figures.distinct));
    let known = to.table.profile.is_some() && (2..=SMALL_TABLE).contains(&to.table.rows());
    let own = from.keys.primary == [column.name.clone()] || std::ptr::eq(from.table, to.table);
    let prose = words
        .iter()
        .any(|word| matches!(word.as_str(), "name" | "description" | "comment" | "text" | "email" | "title"));
    if !text(column) || !text(target) || !few || !known || own || prose || from.table.place != to.table.place {
        return None;
    }
    // Codes of one kind have the same lengths.
    let lengths = |column: &ColumnInfo| {
        let all = column.sample_values.iter().map(|value| value.chars().count());
        all.clone().min().zip(all.max())
    };
    let ((least, most), (key_least, key_most)) = (lengths(column)?, lengths(target)?);
    (key_least <= least && most <= key_most).then(|| Candidate {
        from: from.table.name.clone(),
        from_columns: vec![column.name.clone()],
        to: to.table.name.clone(),
        to_columns: vec![key.clone()],
        by: By::Values,
        score: 40,
    })
}

impl Overlap {
    fn part(self) -> Option<f64> {
        #[expect(clippy::cast_precision_loss, reason = "counts of values, of which only the ratio matters")]
        (self.values > 0).then(|| self.found as f64 / self.values as f64)
    }
}

/// The candidates that hold: one target for each list of columns, the surest.
pub(super) fn relationships(
    tables: &[DraftTable],
    vocabulary: &Vocabulary,
    keys: &[Keys],
    facts: &Facts,
    notes: &mut Vec<String>,
) -> Vec<Relationship> {
    let mut chosen: BTreeMap<(usize, Vec<String>), (Candidate, Option<f64>)> = BTreeMap::new();
    for candidate in candidates(tables, vocabulary, keys) {
        let overlap = facts.overlaps.get(&candidate).copied();
        let part = overlap.and_then(Overlap::part);
        let columns = || format!("{}.{}", candidate.from, candidate.from_columns.join(", "));
        let holds = match candidate.by {
            By::Declared => true,
            By::Naming => part.is_none_or(|part| part >= ENOUGH_BY_NAME),
            By::Values => part.is_some_and(|part| part >= ENOUGH_BY_VALUES),
        };
        if !holds {
            if candidate.by == By::Naming
                && let Some(part) = part
            {
                notes.push(format!(
                    "{} is called like a key of {}, but only {:.0} % of its values are there: no relationship.",
                    columns(),
                    candidate.to,
                    part * 100.0
                ));
            }
            continue;
        }
        let Some(at) = tables.iter().position(|table| table.name == candidate.from) else { continue };
        let place = (at, candidate.from_columns.clone());
        let rank = |candidate: &Candidate, part: Option<f64>| (candidate.score, part.map_or(0, thousandths));
        match chosen.get(&place) {
            Some((kept, kept_part)) if rank(kept, *kept_part) >= rank(&candidate, part) => {
                if kept.to != candidate.to && rank(kept, *kept_part) == rank(&candidate, part) {
                    notes.push(format!("{} may also refer to {}; {} was taken.", columns(), candidate.to, kept.to));
                }
            }
            _ => {
                chosen.insert(place, (candidate, part));
            }
        }
    }
    let all: Vec<(Candidate, Option<f64>)> = chosen.into_values().collect();
    // In the order of the tables and their columns.
    let order = |candidate: &Candidate| {
        let (place, table) = tables.iter().enumerate().find(|(_, table)| table.name == candidate.from).unzip();
        let first = candidate.from_columns.first();
        let is_first = |column: &ColumnInfo| Some(&column.name) == first;
        let column = table.and_then(|table: &DraftTable| table.columns.iter().position(is_first));
        (place, column, candidate.from_columns.len())
    };
    let mut all = all;
    all.sort_by_key(|(candidate, _)| order(candidate));
    let mut made: Vec<Relationship> = Vec::new();
    for (candidate, part) in &all {
        let parallel: Vec<&Candidate> = all
            .iter()
            .map(|(other, _)| other)
            .filter(|other| other.from == candidate.from && other.to == candidate.to)
            .collect();
        made.push(relationship(candidate, *part, &parallel, tables, vocabulary, keys, &made));
    }
    name_by_start(&mut made, vocabulary);
    made
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a part of 0 to 1")]
fn thousandths(part: f64) -> u32 {
    (part * 1_000.0) as u32
}

fn relationship(
    candidate: &Candidate,
    part: Option<f64>,
    parallel: &[&Candidate],
    tables: &[DraftTable],
    vocabulary: &Vocabulary,
    keys: &[Keys],
    made: &[Relationship],
) -> Relationship {
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
    let role = (parallel.len() > 1 || single).then(|| role(candidate, from, vocabulary)).flatten();
    // What is called like the table itself is meant when nobody says which.
    let plain = parallel.len() > 1 && role.is_none();
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
    let mut made = Relationship {
        name,
        from: candidate.from.clone(),
        to: candidate.to.clone(),
        from_columns: candidate.from_columns.clone(),
        to_columns: candidate.to_columns.clone(),
        ai: AiContext { synonyms, ..AiContext::default() },
        role,
        cardinality: Cardinality::ManyToOne,
        optional: nulls || part.is_some_and(|part| part < 1.0),
        preferred: plain,
        confidence: if candidate.by == By::Declared { Confidence::Declared } else { Confidence::Inferred },
    };
    // Where the keys say nothing, what refers is many.
    let cardinality = read::cardinality(&made, &entity(&candidate.from), &entity(&candidate.to));
    made.cardinality = cardinality.unwrap_or(Cardinality::ManyToOne);
    made
}
