//! The names of columns, read once for all tables that they may refer to, and which of these they can speak of at all.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

use crate::engine::ontology::draft::columns::{Column, Kind, Seen};
use crate::engine::ontology::draft::keys::Keys;
use crate::engine::ontology::draft::marks::{Marks, letters};
use crate::engine::ontology::draft::names::{
    canonical, ends_with, forms, inflected, key_stem, same, singular, without_number,
};
use crate::engine::ontology::draft::quantities;
use crate::engine::ontology::draft::roles::STAFF;
use crate::engine::ontology::draft::says::{Called, Says};
use crate::engine::ontology::draft::words::{ENDS, OWN_ROLES, PEOPLE, ROLES, SHORT_KEYS, any, is_done_by};

/// Tables called alike in the end that are looked at: of so many none is meant.
const MOST_ALIKE: usize = 16;

/// What names say of all tables.
pub(super) struct Names<'a> {
    seen: &'a [Seen<'a>],
    /// Tables by what they are called.
    called: HashMap<String, Vec<usize>>,
    /// Those that have a key of one column, by the words of their names.
    keyed: HashMap<String, Vec<&'a Seen<'a>>>,
    /// What columns are ids of, where one word says it.
    things: BTreeSet<String>,
    /// The nouns of tables that are called by one.
    pub nouns: BTreeSet<String>,
    /// What is known of each table.
    tables: Vec<Table>,
    /// Tables of people.
    pub people: usize,
    /// Whether there is one of who works here.
    pub staff: bool,
}

/// A table as its name is held against those of columns.
struct Table {
    people: bool,
    /// Its only word.
    only: Option<String>,
    /// The letters that its first word and that all of its words begin with.
    first: u64,
    letters: u64,
}

/// What a column's name says, whatever it is held against.
pub(super) struct Reading {
    pub words: Vec<String>,
    /// Where the words begin and end that are no mark of a key.
    stem: Range<usize>,
    /// Whether nothing marks a key.
    pub bare: bool,
    /// Whether another table is called so, and whether it is a part of what one with a key is called.
    pub named: bool,
    pub about: bool,
    /// Whether its first word is something that there are ids of: the shop of a shop group.
    pub of_a_thing: bool,
    /// The other tables of several words that are called so in the end, without kinds of these: of warriors, and of
    /// warriors of an episode, the former.
    pub tails: Vec<usize>,
    /// Whether one of these has a column of its name.
    pub there: bool,
    /// Whether it says how many there are, whether it is called like its own table, and whether it is about people.
    pub many: bool,
    pub own: bool,
    pub people: bool,
    pub role: bool,
    /// What it says where its words, and the letters of what may be short for another, are not in the other name.
    marks: Marks,
    key_marks: Marks,
    short: u64,
    letters: u64,
    pub apart: Called,
    /// What it says where nothing else does.
    pub rest: Called,
}

impl Reading {
    pub(super) fn stem(&self) -> &[String] {
        self.words.get(self.stem.clone()).unwrap_or_default()
    }
}

impl<'a> Names<'a> {
    pub(super) fn new(seen: &'a [Seen<'a>], keys: &[Keys]) -> Self {
        let mut called: HashMap<String, Vec<usize>> = HashMap::new();
        let mut keyed: HashMap<String, Vec<&Seen<'_>>> = HashMap::new();
        for (table, keys) in seen.iter().zip(keys) {
            for form in forms(&table.words) {
                called.entry(form).or_default().push(table.at);
            }
            for word in table.words.iter().filter(|_| keys.primary.len() == 1) {
                keyed.entry(canonical(word)).or_default().push(table);
            }
        }
        let nouns = seen.iter().filter_map(|table| match table.words.as_slice() {
            [only] => Some(canonical(only)),
            _ => None,
        });
        let columns = seen.iter().flat_map(|table| &table.columns);
        let things = columns.filter_map(|column| match key_stem(&column.words) {
            Some([only]) => Some(canonical(only)),
            _ => None,
        });
        let table = |table: &Seen<'_>| Table {
            people: is_people(&table.words),
            only: matches!(table.words.as_slice(), [_]).then(|| canonical(&table.words.concat())),
            first: letters(table.words.iter().take(1)),
            letters: letters(table.words.iter()),
        };
        let tables: Vec<Table> = seen.iter().map(table).collect();
        Self {
            seen,
            called,
            keyed,
            things: things.collect(),
            nouns: nouns.collect(),
            people: tables.iter().filter(|table| table.people).count(),
            tables,
            staff: seen.iter().any(|table| is_staff(&table.words)),
        }
    }

    /// Reads the name of a column.
    pub(super) fn read(&self, from: &Seen<'_>, column: &Column<'_>) -> Reading {
        let words = without_number(&column.words);
        let (stem, bare) = match key_stem(&words) {
            // The mark comes last, or first.
            Some(stem) if !stem.is_empty() && words.starts_with(stem) => (0..stem.len(), false),
            Some(stem) if !stem.is_empty() => (words.len() - stem.len()..words.len(), false),
            _ => (0..words.len(), true),
        };
        let own = words.get(stem.clone()).unwrap_or_default();
        let of_tables = || forms(own).into_iter().filter_map(|form| self.called.get(&form)).flatten();
        // A table whose own column of this name repeats refers by it itself: the campaigns of households, by campaign.
        let repeats = |it: &Seen<'_>| {
            let mut same = it.columns.iter().filter(|other| other.words == words);
            same.any(|other| other.is_unique(it.table.rows()) == Some(false))
        };
        let named = of_tables()
            .filter_map(|at| self.seen.get(*at))
            .any(|it| !it.is(from) && same(own, &it.words) && !repeats(it));
        let keyed = own.first().and_then(|first| self.keyed.get(&canonical(first)));
        let parts = || keyed.into_iter().flatten().filter(|table| !table.is(from) && is_about(own, table));
        let there = parts().any(|table| table.columns.iter().any(|other| other.words == words));
        let key_marks = Marks::telling(&words).and(&column.marks).and(&Marks::telling(own));
        let marks = Marks::of(&words).and(&Marks::of(own));
        // What is short for a table's name, by itself or before what says that it is a key.
        let is_short = |words: &[String]| {
            let key = |word: &String| SHORT_KEYS.iter().any(|end| word.ends_with(end));
            matches!(words, [only] if only.len() < 6 || key(only))
        };
        let short = |words: &[String]| if is_short(words) { letters(words.iter()) } else { 0 };
        let whole = column.kind == Kind::Whole;
        // "up votes" are counted.
        let many = bare && whole && words.last().is_some_and(|it| singular(it) != *it);
        let called_so = !bare && !any(own, OWN_ROLES) && same(own, &from.words) && !repeats(from);
        let rest = left(&words, bare, whole);
        let amount = is_switch_or_count(column, &words, bare) || many;
        let apart = match (amount, named || called_so) {
            (true, _) => Called::of(-1, Says::Amount),
            (false, true) => Called::of(-1, Says::Another),
            (false, false) => rest,
        };
        Reading {
            of_a_thing: matches!(own, [first, _, ..] if self.things.contains(&canonical(first))),
            tails: self.tails(from, own),
            bare,
            named,
            about: parts().next().is_some(),
            there,
            many,
            own: called_so,
            people: own.iter().any(|word| PEOPLE.contains(&canonical(word).as_str())),
            role: any(own, STAFF) || any(own, ROLES) || is_done_by(own),
            short: short(&words) | short(own),
            letters: letters(words.iter().filter(|word| word.len() >= 4)),
            marks,
            key_marks,
            apart,
            rest,
            stem,
            words,
        }
    }

    fn tails(&self, from: &Seen<'_>, stem: &[String]) -> Vec<usize> {
        let tail = |it: &&Seen<'_>| !it.is(from) && it.words.len() > stem.len() && ends_with(&it.words, stem);
        let all: Vec<&Seen<'_>> = self.seen.iter().filter(tail).take(MOST_ALIKE).collect();
        let of_another = |it: &&&Seen<'_>| {
            let words = |other: &&&Seen<'_>| other.words.iter().all(|word| it.words.contains(word));
            all.iter().filter(|other| other.words.len() < it.words.len()).any(|other| words(&other))
        };
        all.iter().filter(|it| !of_another(it)).map(|it| it.at).collect()
    }

    /// How many tables have a column of this name.
    pub(super) fn tables_with(&self, words: &[String]) -> usize {
        self.seen.iter().filter(|table| table.columns.iter().any(|column| column.words == words)).count()
    }

    /// Whether the names share anything that may be worth a closer look.
    pub(super) fn are_near(&self, reading: &Reading, to: &Seen<'_>, key: &Column<'_>) -> bool {
        let Some(table) = self.tables.get(to.at) else { return true };
        let end_of_table = || {
            let [only] = reading.stem() else { return false };
            table
                .only
                .as_ref()
                .is_some_and(|table| only.len() >= 5 && table.ends_with(only.as_str()) || inflected(only, table))
        };
        let ends = || {
            let [only] = reading.words.as_slice() else { return false };
            let with_key = matches!(key.words.as_slice(), [key] if only.ends_with(key.as_str()));
            with_key || table.only.as_ref().is_some_and(|table| only.ends_with(table.as_str()))
        };
        table.people && (reading.people || reading.role)
            || reading.short & table.first != 0
            || reading.letters & table.letters != 0 && begins(&reading.words, &to.words)
            || reading.marks.meet(&to.marks)
            || reading.key_marks.meet(&key.marks)
            || ends()
            || end_of_table()
    }
}

/// "ship via" of shippers
pub(super) fn begins(words: &[String], table: &[String]) -> bool {
    let begins = |word: &String| table.iter().any(|other| other.starts_with(word.as_str()) && other != word);
    words.iter().any(|word| word.len() >= 4 && begins(word))
}

/// What a name says by itself: that it is an amount, an id of something, or one of two ends.
fn left(words: &[String], bare: bool, whole: bool) -> Called {
    let run_together = |only: &String| only.len() > 2 && (only.ends_with("id") || only.ends_with("no"));
    let (score, says) = if quantities::is_amount(words) && bare {
        (-1, Says::Amount)
    } else if !bare {
        (12, Says::SomeId)
    } else if any(words, ENDS) || any(words, ROLES) {
        (28, Says::Role)
    } else if matches!(words, [only] if run_together(only)) && whole {
        (8, Says::SomeId)
    } else {
        (0, Says::Nothing)
    };
    Called { score, says }
}

/// What is yes or no, and what says how many there are.
pub(super) fn is_switch_or_count(column: &Column<'_>, words: &[String], bare: bool) -> bool {
    let switch = column.kind == Kind::Whole && column.range == Some((0.0, 1.0)) && bare;
    let first = words.first().map(String::as_str);
    switch || bare && words.len() > 1 && matches!(first, Some("num" | "number" | "count" | "total"))
}

/// Whether all the words are among those of a table.
pub(super) fn is_about(stem: &[String], table: &Seen<'_>) -> bool {
    let is_one = |word: &String| {
        let begins = |other: &&String| other.chars().next() == word.chars().next();
        table.words.iter().filter(begins).any(|other| canonical(other) == canonical(word))
    };
    !stem.is_empty() && stem.iter().all(is_one)
}

pub(super) fn is_people(words: &[String]) -> bool {
    words.last().is_some_and(|last| PEOPLE.contains(&canonical(last).as_str()))
}

pub(super) fn is_staff(words: &[String]) -> bool {
    words.last().is_some_and(|last| matches!(canonical(last).as_str(), "employee" | "staff" | "worker" | "user"))
}
