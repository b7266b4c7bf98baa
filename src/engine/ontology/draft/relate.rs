//! Which tables refer to which: of all that may refer to all, what names and values together make likely.

use std::collections::BTreeSet;

use crate::engine::ontology::draft::called::is_lesser;
use crate::engine::ontology::draft::columns::{Column, Kind, Seen, seen};
use crate::engine::ontology::draft::keys::{Keys, keys};
use crate::engine::ontology::draft::kinds;
use crate::engine::ontology::draft::names::{ends_with, key_stem, same};
use crate::engine::ontology::draft::reading::{Names, Reading, is_about};
use crate::engine::ontology::draft::says::{Called, Says};
use crate::engine::ontology::draft::several::several;
use crate::engine::ontology::draft::twins::twins;
use crate::engine::ontology::draft::vocabulary::Vocabulary;
use crate::engine::ontology::draft::words::any;
use crate::engine::ontology::draft::{Candidate, DraftTable, Facts, Overlap};
use crate::model::ontology::{Confidence, Link};

/// References that are measured for one draft, and those of them that only values may speak for.
const MOST_MEASURED: usize = 2_000;
const MOST_BY_VALUES: usize = 600;
/// Other keys that are named for a column that may mean them.
const MOST_OTHERS: usize = 20;
/// Different values that a column has at least to be tried by its values alone.
const LEAST_VALUES: i64 = 3;
/// Keys of which it is no chance that a column has all.
pub(super) const MANY_KEYS: i64 = 100;

/// A reference that is drafted.
#[derive(Clone, Debug)]
pub(super) struct Reference {
    pub candidate: Candidate,
    pub overlap: Option<Overlap>,
    /// Who says so.
    pub confidence: Confidence,
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

/// What may refer to what, to be measured: what is declared, what names say, the surest first, and what could be by its
/// values. With how many more there are, for which there are too many. The facts say which columns are keys at all.
pub fn relationship_candidates(tables: &[DraftTable], facts: &Facts) -> (Vec<Candidate>, usize) {
    let vocabulary = Vocabulary::new(tables);
    let seen = seen(tables, &vocabulary);
    let keys: Vec<Keys> = seen.iter().map(|table| keys(table, &seen, &vocabulary, facts)).collect();
    let (mut named, mut by_values) = (Best::of(MOST_MEASURED), Best::of(MOST_BY_VALUES));
    each_single(&seen, &keys, |single| match single.called.score {
        1.. => named.add(f64::from(single.called.score), single),
        // Those first of which it would be least by chance.
        _ => by_values.add(promise(single.from, single.column, single.key), single),
    });
    let (named, more) = named.all();
    let all = named.into_iter().chain(by_values.all().0).map(|single| single.candidate());
    let mut asked: Vec<Candidate> = said(tables).into_iter().map(|(candidate, _)| candidate).collect();
    asked.extend(several(&seen, &keys).into_iter().map(|(candidate, _)| candidate));
    asked.extend(twins(&seen, &keys));
    asked.extend(all);
    let mut once = BTreeSet::new();
    asked.retain(|candidate| once.insert(candidate.clone()));
    let more = more + asked.len().saturating_sub(MOST_MEASURED);
    asked.truncate(MOST_MEASURED);
    (asked, more)
}

/// The best of many, the first of equals: a thousand tables have millions of pairs.
struct Best<T> {
    most: usize,
    all: Vec<(f64, T)>,
    more: usize,
}

impl<T> Best<T> {
    fn of(most: usize) -> Self {
        Self { most, all: Vec::new(), more: 0 }
    }

    fn add(&mut self, rank: f64, it: T) {
        self.all.push((rank, it));
        if self.all.len() > 2 * self.most {
            self.cut();
        }
    }

    fn cut(&mut self) {
        self.all.sort_by(|(one, _), (other, _)| other.total_cmp(one));
        self.more += self.all.len().saturating_sub(self.most);
        self.all.truncate(self.most);
    }

    /// Those, the best first, and how many others there were.
    fn all(mut self) -> (Vec<T>, usize) {
        self.cut();
        (self.all.into_iter().map(|(_, it)| it).collect(), self.more)
    }
}

/// What somebody says of these tables: people first, then databases.
pub(super) fn said(tables: &[DraftTable]) -> Vec<(Candidate, Confidence)> {
    let of = |table: &DraftTable| {
        let confirmed = table.confirmed.iter().map(|said| (Candidate::of(&table.name, said), Confidence::Verified));
        let declared = table.foreign_keys.iter().map(|said| (Candidate::of(&table.name, said), Confidence::Declared));
        confirmed.chain(declared).filter(|(candidate, _)| !table.refuses(candidate)).collect::<Vec<_>>()
    };
    let mut all: Vec<(Candidate, Confidence)> = tables.iter().flat_map(of).collect();
    all.retain(|(candidate, _)| tables.iter().any(|table| table.name == candidate.to));
    all
}

/// Keys that the column of a reference may mean besides: those whose values are there first.
pub(super) fn others(of: &Candidate, seen: &[Seen<'_>], keys: &[Keys], facts: &Facts) -> Vec<Link> {
    let [column] = of.from_columns.as_slice() else { return Vec::new() };
    let Some(from) = seen.iter().find(|table| table.table.name == of.from) else { return Vec::new() };
    let Some(column) = from.column(column) else { return Vec::new() };
    let mut found = Vec::new();
    for (to, to_keys) in seen.iter().zip(keys).filter(|(to, _)| to.table.place == from.table.place) {
        let primary = to_keys.primary.first().filter(|_| to_keys.primary.len() == 1);
        let mut names: Vec<&String> = to_keys.singles.iter().map(|(_, name)| name).chain(primary).collect();
        names.sort();
        names.dedup();
        for key in names.into_iter().filter_map(|name| to.column(name)).filter(|key| column.may_be_in(key)) {
            let itself = from.is(to) && key.at == column.at;
            let candidate =
                Candidate { to: to.table.name.clone(), to_columns: vec![key.info.name.clone()], ..of.clone() };
            if !itself && candidate != *of && !from.table.refuses(&candidate) {
                let part = facts.overlaps.get(&candidate).and_then(|overlap| overlap.part());
                found.push((part.unwrap_or(-1.0), candidate.link()));
            }
        }
    }
    found.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    found.truncate(MOST_OTHERS);
    found.into_iter().map(|(_, link)| link).collect()
}

/// A column that may refer to a key of one column.
pub(super) struct Single<'a> {
    pub from: &'a Seen<'a>,
    pub column: &'a Column<'a>,
    pub to: &'a Seen<'a>,
    pub key: &'a Column<'a>,
    pub called: Called,
    pub own: u8,
    pub primary: bool,
}

impl Candidate {
    /// The ends of a reference by one column.
    pub(super) fn single(&self) -> Option<[&str; 4]> {
        let ([from_column], [to_column]) = (self.from_columns.as_slice(), self.to_columns.as_slice()) else {
            return None;
        };
        Some([&self.from, from_column, &self.to, to_column])
    }
}

impl Single<'_> {
    /// As [`Candidate::single`].
    pub(super) fn ends(&self) -> [&str; 4] {
        [&self.from.table.name, &self.column.info.name, &self.to.table.name, &self.key.info.name]
    }

    pub(super) fn candidate(&self) -> Candidate {
        let [from, from_column, to, to_column] = self.ends().map(str::to_owned);
        Candidate { from, from_columns: vec![from_column], to, to_columns: vec![to_column] }
    }
}

/// Every column with every key of one column that it may refer to, in the order of the tables.
pub(super) fn each_single<'a>(seen: &'a [Seen<'a>], keys: &'a [Keys], mut found: impl FnMut(Single<'a>)) {
    let names = Names::new(seen, keys);
    let targets: Vec<Vec<Target<'_>>> = seen.iter().zip(keys).map(|(table, keys)| targets(table, keys)).collect();
    for (from, keys) in seen.iter().zip(keys) {
        for column in from.columns.iter().filter(|column| column.kind != Kind::Other) {
            let reading = names.read(from, column);
            let own = Own::of(column, keys);
            for (to, targets) in seen.iter().zip(&targets).filter(|(to, _)| to.table.place == from.table.place) {
                let single = |target| single((&names, &reading), (from, column), &own, to, target);
                targets.iter().filter_map(single).for_each(&mut found);
            }
        }
    }
}

/// A key of a table that others may refer to.
struct Target<'a> {
    key: &'a Column<'a>,
    /// How well it is called for a key.
    own: u8,
    primary: bool,
}

fn targets<'a>(table: &'a Seen<'a>, keys: &Keys) -> Vec<Target<'a>> {
    let target = |(own, name): &(u8, String)| {
        Some(Target { key: table.column(name)?, own: *own, primary: keys.primary == std::slice::from_ref(name) })
    };
    keys.singles.iter().filter_map(target).collect()
}

/// What a column is to its own table: its key, one of its keys, and one that is called like it.
struct Own {
    key: bool,
    unique: bool,
    called: bool,
    /// Whether its values may speak where no name does.
    tells: bool,
}

impl Own {
    fn of(column: &Column<'_>, keys: &Keys) -> Self {
        let name = &column.info.name;
        Self {
            key: keys.primary == std::slice::from_ref(name),
            unique: keys.singles.iter().any(|(_, key)| key == name),
            called: keys.singles.iter().any(|(own, key)| *own >= 75 && key == name),
            tells: tells(column),
        }
    }
}

fn tells(column: &Column<'_>) -> bool {
    let some = || column.distinct().is_some_and(|count| count >= LEAST_VALUES);
    match column.kind {
        Kind::Text | Kind::Uuid => (some() || column.is_random()) && !prose(column),
        Kind::Whole => some(),
        Kind::Day | Kind::Other => false,
    }
}

/// Whether a column may refer to a key, and what its name says of that.
fn single<'a>(
    (names, reading): (&Names<'_>, &Reading),
    (from, column): (&'a Seen<'a>, &'a Column<'a>),
    of: &Own,
    to: &'a Seen<'a>,
    Target { key, own, primary }: &Target<'a>,
) -> Option<Single<'a>> {
    let (own, primary, itself) = (*own, *primary, from.is(to));
    if itself && (key.at == column.at || of.unique) || !column.may_be_in(key) {
        return None;
    }
    let called = names.called(reading, (from, column), (to, key), own, primary);
    // What all rows have is a mark of theirs, and not which other row is meant.
    let mark = key.kind == Kind::Text && column.distinct() == Some(1);
    if itself && mark && from.table.rows() > 1 && called.says != Says::OwnRole {
        return None;
    }
    // Two tables with the same key: the one that is called after the other refers to it.
    let names_it = || {
        // The row of the table that a kind of it goes on from.
        column.words.iter().any(|word| word == "ptr")
            || called.says == Says::Table && !same(&column.words, &from.words)
            || key_stem(&column.words).is_some_and(|stem| {
                is_about(stem, to)
                    && (!is_about(stem, from) || ends_with(&to.words, stem) && !ends_with(&from.words, stem))
            })
    };
    let same_name = matches!(called.says, Says::SameName | Says::SameNameWithRole);
    if of.unique && same_name || of.key && !names_it() {
        // What is called like its own table is no other's, and of tables with one key the fullest is referred to.
        let lesser = || is_lesser(from, to) && (!of.called || column.words == key.words);
        let fuller = || {
            same(&column.words, &key.words)
                && !any(&column.words, &["row", "record", "key", "surrogate"])
                && to.table.rows().saturating_mul(9) > from.table.rows().saturating_mul(10)
                && !of.called
                // What every table calls its key says of none.
                && !(of.key && matches!(column.words.as_slice(), [_]) && names.tables_with(&column.words) > 2)
        };
        // Unique by chance, in a table that has a key of its own.
        let with_role = called.says == Says::SameNameWithRole && key.words.len() > 1;
        // It comes first there, and not here.
        let first_there = || key.at == 0 && column.at > 0 && column.words == key.words && !is_lesser(to, from);
        let by_chance = || primary && !of.key && !of.called && (called.score >= 88 || with_role || first_there());
        if called.score < 70 || !(primary && fuller() || lesser() || by_chance()) {
            return None;
        }
    }
    // Nothing but values speaks for it: numbers from 1 on have most small numbers among them.
    let telling = || match key.kind {
        Kind::Whole => promise(from, column, key) > 0.0,
        _ => like_codes(column, key),
    };
    let tried = called.score > 0 || called.says == Says::Nothing && !itself && of.tells && telling();
    let single = Single { from, column, to, key, called, own, primary };
    let refused = !from.table.refused.is_empty() && from.table.refuses(&single.candidate());
    (tried && !refused).then_some(single)
}

/// How little it would be chance if all values of a column of whole numbers were keys there, before anybody looks; 0 where it
/// might well be.
fn promise(from: &Seen<'_>, column: &Column<'_>, key: &Column<'_>) -> f64 {
    let Some((values, keys)) = column.distinct().zip(key.distinct()) else { return 0.0 };
    let chance = key.chance().unwrap_or(1.0).max(1e-6);
    #[expect(clippy::cast_precision_loss, reason = "small counts, of which the size matters")]
    let rare = if chance < 0.25 { -chance.ln() * values.min(20) as f64 } else { 0.0 };
    // Nearly all keys of many, again and again: rows of something. Ranks and lines have all numbers too.
    let all = keys >= MANY_KEYS
        && values.saturating_mul(20) >= keys.saturating_mul(19)
        && column.is_unique(from.table.rows()) == Some(false)
        && !kinds::is_naming(&column.words)
        && !any(&column.words, &["rank", "position"]);
    if all { rare.max(20.0) } else { rare }
}

/// Codes of one kind are equally long.
fn like_codes(column: &Column<'_>, key: &Column<'_>) -> bool {
    match (column.lengths, key.lengths) {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_many_the_best_are_kept_the_first_of_equals_and_the_others_are_counted() {
        let mut best = Best::of(3);
        for (at, rank) in [1.0, 9.0, 4.0, 4.0, 0.0, 4.0, 9.0, 2.0, 4.0].into_iter().enumerate() {
            best.add(rank, at);
        }
        assert_eq!(best.all(), (vec![1, 6, 2], 6));
        let mut few = Best::of(3);
        few.add(1.0, "a");
        few.add(2.0, "b");
        assert_eq!(few.all(), (vec!["b", "a"], 0));
    }
}
