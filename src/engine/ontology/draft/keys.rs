//! Which columns identify a row.
//!
//! Whether columns are unique is declared, in the profile, or measured. In a small table nearly every column is, so
//! what a column is called, where it stands and what others call theirs decide which of them is the key.

use crate::engine::ontology::draft::columns::{Column, Kind, Seen, seen};
use crate::engine::ontology::draft::names::{abbreviates, ends_with, key_stem, noun, same};
use crate::engine::ontology::draft::vocabulary::Vocabulary;
use crate::engine::ontology::draft::words::{GENERIC, SHORT_KEYS, any};
use crate::engine::ontology::draft::{DraftTable, Facts, ForeignKey, KeyCandidate, kinds, quantities};
use crate::engine::ontology::read::datatype_of;

/// Columns of which keys of several are made, and sets of them that are tried for one table.
const PARTS: usize = 7;
const SETS: usize = 60;
/// Columns that a key has at most.
const MOST_PARTS: usize = 4;

/// Rows from which chance no longer makes a column unique.
const MANY: i64 = 50;
/// Rows below which it means nothing that a column is unique.
const FEW: i64 = 5;

/// How well a column is called for a key that is called like another table's.
const FOREIGN: u8 = 10;
/// What a column must be called to be the key because it is unique, and in a table of a few rows.
const ENOUGH: u8 = 35;
const ENOUGH_OF_FEW: u8 = 58;
/// What a column must be called to be said unique because it happens to be.
const OWN: u8 = 50;
/// What a column must be called to be the key where that could not be measured.
const SURELY: u8 = 95;
/// What a column must be called for others to refer to it.
const REFERRED: u8 = 12;

/// Last words of names of codes.
const CODES: &[&str] = &[
    "code", "abbr", "abbrev", "abbreviation", "symbol", "iso", "iso2", "iso3", "iata", "icao", "slug", "sku", "isbn",
    "issn", "ticker", "callsign", "acronym", "short", "handle", "username", "login", "vin",
];

/// The keys of a table.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Keys {
    pub primary: Vec<String>,
    pub unique: Vec<Vec<String>>,
    /// Every column that tells rows apart, with how well it is called for it: others may refer to any of them.
    pub singles: Vec<(u8, String)>,
}

/// The columns whose uniqueness must be measured still: of a table without a declared key the single columns that may
/// be one, then, where none of these is, sets of two, and of more. Ask again with what was found until there are none.
pub fn key_candidates(tables: &[DraftTable], facts: &Facts) -> Vec<KeyCandidate> {
    let vocabulary = Vocabulary::new(tables);
    let mut asked = Vec::new();
    for table in seen(tables, &vocabulary).iter().filter(|it| it.table.primary_key.is_empty()) {
        let singles = singles(table, &vocabulary);
        let candidate = |columns: &Vec<String>| table.candidate(columns);
        let open = |columns: &&Vec<String>| {
            is_key(table, columns, facts).is_none() && !facts.unknown.contains(&candidate(columns))
        };
        // Without a profile each costs a look at all rows.
        let worth = |score: u8| score >= OWN || table.table.profile.is_some();
        let ones: Vec<Vec<String>> =
            singles.iter().filter(|(score, _)| worth(*score)).map(|(_, name)| vec![name.clone()]).collect();
        let unknown: Vec<KeyCandidate> = ones.iter().filter(open).map(candidate).collect();
        if !unknown.is_empty() {
            asked.extend(unknown);
            continue;
        }
        let best = primary_single(table, &singles, facts);
        if best.as_ref().is_none_or(|best| is_a_name(table, best)) {
            asked.extend(leading(table, &vocabulary).iter().filter(open).map(candidate));
        }
        if best.is_some() {
            continue;
        }
        for count in 2..=MOST_PARTS {
            let sets = sets(table, count, &vocabulary);
            let unknown: Vec<KeyCandidate> = sets.iter().filter(open).map(candidate).collect();
            let found = sets.iter().any(|columns| is_key(table, columns, facts) == Some(true));
            let wait = !unknown.is_empty();
            asked.extend(unknown);
            if found || wait {
                break;
            }
        }
    }
    asked.extend(confirmed(tables, facts));
    asked
}

/// What people say is referred to: whether it tells rows apart decides what may be carried across.
fn confirmed(tables: &[DraftTable], facts: &Facts) -> Vec<KeyCandidate> {
    let said = tables.iter().flat_map(|table| &table.confirmed);
    let candidate = |said: &ForeignKey| KeyCandidate { table: said.to.clone(), columns: said.to_columns.clone() };
    let mut open: Vec<KeyCandidate> = said.map(candidate).collect();
    open.retain(|it| !facts.keys.contains_key(it) && !facts.unknown.contains(it));
    open.sort();
    open.dedup();
    open
}

pub(super) fn keys(table: &Seen<'_>, seen: &[Seen<'_>], vocabulary: &Vocabulary, facts: &Facts) -> Keys {
    let mut singles = singles(table, vocabulary);
    // An id of some of the rows is referred to, and is no key of the table. A postal code of each customer is none.
    let is_some = |column: &Column<'_>| {
        column.tells_some_apart(table.table.rows()) && column.words.last().is_some_and(|last| is_id(last))
    };
    let some = |(score, name): &&(u8, String)| *score > REFERRED && table.column(name).is_some_and(is_some);
    let some: Vec<(u8, String)> = singles.iter().filter(some).cloned().collect();
    singles.retain(|single| tells_apart(table, single, facts));
    // The best name first; the order of the columns among equals.
    singles.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
    let declared = table.table;
    let mut keys = Keys {
        primary: declared.primary_key.clone(),
        unique: declared.unique_keys.clone(),
        singles: singles.iter().filter(|(score, _)| *score >= REFERRED).cloned().chain(some).collect(),
    };
    let led = || leading(table, vocabulary).into_iter().find(|columns| is_key(table, columns, facts) == Some(true));
    let best = primary_single(table, &singles, facts).map(|best| match is_a_name(table, &best) {
        true => led().unwrap_or_else(|| vec![best]),
        false => vec![best],
    });
    // A bridge between two tables has a pair for its key, also while one side is there only once.
    let foreign = singles.first().is_none_or(|(score, _)| *score == FOREIGN);
    let bridge = bridge(table, vocabulary).filter(|pair| {
        let one = |name: &String| singles.iter().any(|(_, single)| single == name);
        foreign && (pair.iter().any(one) || is_key(table, pair, facts) == Some(true))
    });
    if keys.primary.is_empty() {
        // What one column tells apart needs no second.
        let least = |columns: &Vec<String>| !singles.iter().any(|(_, single)| columns.contains(single));
        let several = || {
            let mut all = (2..=MOST_PARTS).flat_map(|count| sets(table, count, vocabulary));
            let found = all.find(|columns| least(columns) && is_key(table, columns, facts) == Some(true));
            found.map(|columns| whole(table, columns, seen, vocabulary))
        };
        let only = singles.first().filter(|_| table.table.rows() >= FEW).map(|(_, name)| vec![name.clone()]);
        let led = || led().filter(|_| table.table.rows() >= FEW);
        keys.primary = bridge.or(best).or_else(led).or_else(several).or(only).unwrap_or_default();
    }
    // With many rows, a side of a bridge that is there only once is there at most once.
    if keys.primary.len() == 2 && table.table.rows() >= MANY && table.columns.len() <= 4 {
        let once = keys.primary.iter().map(|name| vec![name.clone()]);
        let once: Vec<Vec<String>> = once.filter(|columns| is_key(table, columns, facts) == Some(true)).collect();
        keys.unique.extend(once);
    }
    // What could not be measured may be the key, and is said to be one nowhere else.
    let own = singles.into_iter().filter(|(score, _)| *score >= OWN && table.table.rows() >= FEW);
    let other = |columns: &Vec<String>| {
        !declared.unique_keys.contains(columns)
            && *columns != keys.primary
            && is_key(table, columns, facts) == Some(true)
    };
    let own: Vec<Vec<String>> = own.map(|(_, name)| vec![name]).filter(other).collect();
    keys.unique.extend(own);
    keys
}

/// The keys of other tables that a table begins with, one or two: the customer that a business is, the product and the
/// language of a description.
fn leading(table: &Seen<'_>, vocabulary: &Vocabulary) -> Vec<Vec<String>> {
    let foreign =
        |column: &&Column<'_>| key_stem(&column.words).is_some_and(|stem| vocabulary.names_another(stem, &table.words));
    let names = table.columns.iter().take_while(foreign).map(|column| column.info.name.clone());
    let names: Vec<String> = names.take(2).collect();
    (1..=names.len()).filter_map(|count| names.get(..count)).map(<[String]>::to_vec).collect()
}

/// Whether a column says what a row is called, which another row may be called too one day.
fn is_a_name(table: &Seen<'_>, column: &str) -> bool {
    table.column(column).is_some_and(|column| {
        let last = column.words.last().map(String::as_str);
        column.kind == Kind::Text && matches!(last, Some("name" | "title" | "label"))
    })
}

/// Whether a column tells rows apart. Where that could not be measured, its name and an estimate say so.
fn tells_apart(table: &Seen<'_>, (score, name): &(u8, String), facts: &Facts) -> bool {
    let column = std::slice::from_ref(name);
    is_key(table, column, facts).unwrap_or_else(|| {
        let nearly = |distinct: i64| distinct >= table.table.rows() / 20 * 19;
        let estimate = table.column(name).and_then(Column::distinct);
        *score >= SURELY && facts.unknown.contains(&table.candidate(column)) && estimate.is_none_or(nearly)
    })
}

/// The column that is the key by itself.
fn primary_single(table: &Seen<'_>, singles: &[(u8, String)], facts: &Facts) -> Option<String> {
    let least = if table.table.rows() >= FEW { ENOUGH } else { ENOUGH_OF_FEW };
    let unique = singles.iter().filter(|single| single.0 >= least && tells_apart(table, single, facts));
    // The first of the best.
    let best = unique.min_by_key(|(score, _)| std::cmp::Reverse(*score));
    best.map(|(_, name)| name.clone())
}

/// Whether columns are a key, as far as it is declared, measured or in the profile.
fn is_key(table: &Seen<'_>, columns: &[String], facts: &Facts) -> Option<bool> {
    let declared = table.table;
    if declared.primary_key == columns || declared.unique_keys.iter().any(|key| key == columns) {
        return Some(true);
    }
    if let Some(known) = facts.keys.get(&table.candidate(columns)) {
        return Some(*known);
    }
    let [column] = columns else { return None };
    table.column(column)?.is_unique(declared.rows())
}

/// Single columns that may be a key, with how well they are called for it.
fn singles(table: &Seen<'_>, vocabulary: &Vocabulary) -> Vec<(u8, String)> {
    let scored = table.columns.iter().map(|column| (called(table, column, vocabulary), column));
    scored.filter(|(score, _)| *score > 0).map(|(score, column)| (score, column.info.name.clone())).collect()
}

/// Whether a word says that rows are told apart, and nothing else.
fn is_id(word: &str) -> bool {
    matches!(word, "id" | "key" | "sk" | "pk" | "identifier" | "uuid" | "guid" | "oid" | "rowid")
}

/// How well a column is called for a key of its table, 0 to 100.
fn called(table: &Seen<'_>, column: &Column<'_>, vocabulary: &Vocabulary) -> u8 {
    if column.kind == Kind::Other || long(column) {
        return 0;
    }
    let (words, nouns) = (&column.words, &table.words);
    let last_is_id = words.last().is_some_and(|last| is_id(last));
    if let Some(stem) = key_stem(words) {
        // "company claim number" of a claim, and "detail id" of a coverage detail
        let own = ends_with(stem, nouns) || noun(nouns).ends_with(&stem.join(" "));
        // The row of another table that this one goes on from has its key.
        if words.iter().any(|word| word == "ptr") {
            return 60;
        }
        if !stem.is_empty() && vocabulary.names_another(stem, nouns) {
            // A table of nothing else is a kind of the other.
            return if table.columns.len() == 1 { 60 } else { FOREIGN };
        }
        return match (stem.is_empty(), own, last_is_id) {
            (true, _, true) => 100,
            (_, true, true) => 95,
            (true, _, false) => 80,
            (_, true, false) => 75,
            _ if stem.len() == 1 && stem.first().is_some_and(|stem| abbreviates(stem, nouns)) => 85,
            _ if table.columns.len() > 1 && column.at > 0 => 20,
            _ => 60,
        };
    }
    if column.kind == Kind::Day {
        return if column.at == 0 { ENOUGH } else { 0 };
    }
    if let [only] = words.as_slice() {
        if same(words, nouns) {
            return 78;
        }
        // "season" of the seasons of time
        if only.len() >= 3 && !any(words, GENERIC) && !quantities::is_amount(words) && ends_with(nouns, words) {
            return 74;
        }
        // Which row comes first says of no other table which row is meant.
        if column.kind == Kind::Whole && matches!(only.as_str(), "sequence" | "seq" | "position" | "order" | "rank") {
            return REFERRED - 1;
        }
        // "aid" of an author, "mid" of a merchant
        if let Some(short) = SHORT_KEYS.iter().find_map(|end| only.strip_suffix(end))
            && !short.is_empty()
            && abbreviates(short, nouns)
        {
            return 88;
        }
        // "ssn", where others have an "essn" and a "super ssn"
        let plain = !quantities::is_amount(words) && !kinds::is_prose(words);
        if only.len() >= 3 && plain && vocabulary.ends_others(only) {
            return 72;
        }
        // "com" of communes
        if only.len() >= 2 && plain && abbreviates(only, nouns) {
            return 76;
        }
    }
    // Others have a column of that name: "period" of a trapping, and of the periods of the moon.
    if column.kind == Kind::Whole
        && !quantities::is_amount(words)
        && !kinds::is_naming(words)
        && vocabulary.is_shared(&column.info.name)
    {
        return 40;
    }
    if column.kind != Kind::Text {
        let amount = quantities::is_amount(words);
        return if column.at == 0 && column.kind == Kind::Whole && !amount { 45 } else { 0 };
    }
    let ends = |list: &[&str]| words.last().is_some_and(|last| list.contains(&last.as_str()));
    if ends(CODES) {
        return 65;
    }
    if ends(&["name", "title"]) {
        let of_table = ends_with(words.get(..words.len() - 1).unwrap_or_default(), nouns);
        return match (column.at, words.len() == 1 || of_table) {
            (0, _) => 58,
            (_, true) => 48,
            _ => REFERRED,
        };
    }
    if kinds::is_prose(words) {
        return 0;
    }
    if column.at == 0 { 50 } else { REFERRED }
}

/// Texts that nobody would refer by.
fn long(column: &Column<'_>) -> bool {
    const LONGEST: usize = 60;
    let samples = &column.info.sample_values;
    let long = samples.iter().filter(|value| value.chars().count() > LONGEST).count();
    column.kind == Kind::Text && long * 2 > samples.len()
}

/// Two columns called like keys of other tables, beside which nothing is but when a row was written.
fn bridge(table: &Seen<'_>, vocabulary: &Vocabulary) -> Option<Vec<String>> {
    let foreign =
        |column: &&Column<'_>| key_stem(&column.words).is_some_and(|stem| vocabulary.names_another(stem, &table.words));
    let (keys, rest): (Vec<&Column<'_>>, Vec<&Column<'_>>) = table.columns.iter().partition(foreign);
    let audit = rest.iter().all(|column| kinds::is_audit(&column.words));
    (keys.len() == 2 && audit).then(|| keys.iter().map(|column| column.info.name.clone()).collect())
}

/// A key with the columns between its own that one of these needs: a town is told by its name and province, a province by
/// its name and country, and people write the town's country between them.
fn whole(table: &Seen<'_>, columns: Vec<String>, seen: &[Seen<'_>], vocabulary: &Vocabulary) -> Vec<String> {
    let at = |name: &String| table.column(name).map(|column| column.at);
    let (Some(first), Some(last)) = (columns.iter().filter_map(at).min(), columns.iter().filter_map(at).max()) else {
        return columns;
    };
    let part = |column: &&Column<'_>| columns.contains(&column.info.name);
    let of_a_part = |other: &&Seen<'_>| table.columns.iter().filter(part).any(|it| same(&it.words, &other.words));
    let needed = |column: &Column<'_>| {
        let has = |other: &Seen<'_>| other.columns.iter().any(|it| it.words == column.words);
        vocabulary.names_another(&column.words, &[]) && seen.iter().filter(of_a_part).any(has)
    };
    let between = |column: &&Column<'_>| part(column) || (first..=last).contains(&column.at) && needed(column);
    table.columns.iter().filter(between).map(|column| column.info.name.clone()).collect()
}

/// Sets of columns that may be a key together: of those called like keys and tables, short texts, days, and numbers
/// that only name something (a line, a season, a year). Those that come first in the table are tried first.
fn sets(table: &Seen<'_>, count: usize, vocabulary: &Vocabulary) -> Vec<Vec<String>> {
    let rows = table.table.rows();
    let part = |column: &&Column<'_>| {
        let words = &column.words;
        let names = key_stem(words).is_some() || kinds::is_naming(words) || vocabulary.names_another(words, &[]);
        let constant = column.distinct().is_some_and(|distinct| distinct <= 1) && rows > 1;
        // What numbers things within others has few values that come again and again: a lap, a stint, a plot.
        let again = column.at < PARTS && column.distinct().is_some_and(|distinct| distinct.saturating_mul(4) <= rows);
        let fits = match column.kind {
            Kind::Whole => names || (column.at < 2 || again) && !quantities::is_amount(words),
            Kind::Text => !long(column) && !kinds::is_prose(words),
            Kind::Uuid => true,
            Kind::Day => !kinds::is_audit(words),
            Kind::Other => datatype_of(&column.info.r#type).is_calendar() && !kinds::is_audit(words),
        };
        // What the row of an id beside it is called by.
        let of_id = |other: &Column<'_>| key_stem(&other.words).is_some_and(|stem| stem == words.as_slice());
        let told = || column.kind == Kind::Text && table.columns.iter().any(of_id);
        fits && !constant && !told()
    };
    let parts: Vec<&Column<'_>> = table.columns.iter().filter(part).take(PARTS).collect();
    let mut sets: Vec<Vec<&Column<'_>>> = vec![vec![]];
    for _ in 0..count {
        let mut longer = Vec::new();
        for set in &sets {
            let after = set.last().map_or(0, |last| last.at + 1);
            for part in parts.iter().filter(|part| part.at >= after) {
                let mut set = set.clone();
                set.push(part);
                longer.push(set);
            }
        }
        sets = longer;
    }
    // So many different combinations there cannot be.
    let product = |set: &Vec<&Column<'_>>| {
        let counts = set.iter().map(|column| column.distinct().unwrap_or(i64::MAX));
        counts.fold(1, i64::saturating_mul) >= rows
    };
    let names = |set: Vec<&Column<'_>>| set.iter().map(|column| column.info.name.clone()).collect();
    sets.into_iter().filter(product).map(names).take(SETS).collect()
}
