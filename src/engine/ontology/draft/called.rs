//! What names say of a reference: how surely a column is called for the keys of a table.
//!
//! The readings are tried in order, and the first that fits is taken: what the table is called, what its key is called,
//! what is plainly something else, who or which one is meant, and last what only shows that it is a key of something.

use crate::engine::ontology::draft::columns::{Column, Kind, Seen};
use crate::engine::ontology::draft::kinds;
use crate::engine::ontology::draft::names::{
    abbreviates, behind, canonical, ends_with, inflected, key_stem, last, same,
};
use crate::engine::ontology::draft::quantities;
use crate::engine::ontology::draft::reading::{
    Names, Reading, begins, is_about, is_people, is_staff, is_switch_or_count,
};
use crate::engine::ontology::draft::says::{Called, Says};
use crate::engine::ontology::draft::words::{BARE_KEYS, ENDS, GENERIC, OWN_ROLES, SHORT_KEYS, any};

/// Tables of which one may be meant by what their names end with.
const MOST_TAILS: usize = 2;

impl Names<'_> {
    /// How surely a column of `from` is called for the values of `key`, which `own` says how well is called for a key
    /// of its table.
    pub(super) fn called(
        &self,
        reading: &Reading,
        (from, column): (&Seen<'_>, &Column<'_>),
        (to, key): (&Seen<'_>, &Column<'_>),
        own: u8,
        primary: bool,
    ) -> Called {
        let itself = from.is(to);
        if !itself && !self.are_near(reading, to, key) {
            return reading.apart;
        }
        let (words, stem, bare) = (reading.words.as_slice(), reading.stem(), reading.bare);
        let another = reading.named && !same(stem, &to.words);
        let elsewhere = another || reading.about && !is_about(stem, to);
        let first = to.words.first().map(|first| canonical(first)).unwrap_or_default();
        let here = matches!(from.words.as_slice(), [only] if only.starts_with(&first) && !first.is_empty());
        let others = !here && self.nouns.contains(&first);
        let pair = Pair {
            from,
            column,
            to,
            key,
            own,
            primary,
            itself,
            reading,
            words,
            stem,
            bare,
            another,
            elsewhere,
            others,
        };
        if is_switch_or_count(column, words, bare) {
            return Called::of(-1, Says::Amount);
        }
        pair.table()
            .or_else(|| pair.letters())
            .or_else(|| pair.part_of_table())
            .or_else(|| pair.same_name())
            .or_else(|| pair.something_else())
            .or_else(|| pair.own_role())
            .or_else(|| pair.short_form())
            .or_else(|| self.people(&pair))
            .unwrap_or_else(|| pair.of_something())
    }

    /// People, whatever a column calls them: the "user id" where there are only customers.
    fn people(&self, pair: &Pair<'_>) -> Option<Called> {
        let role = pair.reading.role;
        // Who works here is no customer.
        let others = any(pair.stem, &["employee", "staff", "worker"]) && !is_staff(&pair.to.words);
        if !(pair.reading.people || role) || !is_people(&pair.to.words) || others {
            return None;
        }
        let score = match (role, is_staff(&pair.to.words)) {
            (true, true) => 75,
            (true, false) if self.staff => 0,
            _ if self.people == 1 => 55,
            _ => 38,
        };
        Some(Called { score, says: Says::People })
    }
}

/// A column, and a key that it may refer to.
struct Pair<'a> {
    from: &'a Seen<'a>,
    column: &'a Column<'a>,
    to: &'a Seen<'a>,
    key: &'a Column<'a>,
    own: u8,
    /// Whether it is its table's primary key.
    primary: bool,
    /// Whether both are of one table.
    itself: bool,
    reading: &'a Reading,
    /// The column's.
    words: &'a [String],
    /// These without what says that it is a key.
    stem: &'a [String],
    /// Whether nothing says so.
    bare: bool,
    /// Whether it is called like a third table, and whether like a part of one.
    another: bool,
    elsewhere: bool,
    /// Whether what the table is called by first is what another one is about: the categories of issues.
    others: bool,
}

impl Pair<'_> {
    /// Whether the key's name says more than that it is one.
    fn telling(&self) -> bool {
        !matches!(self.key.words.as_slice(), [only] if GENERIC.contains(&only.as_str()))
    }

    /// A key of something else that this table has too is not meant: "agreement type code" for "agreement id".
    fn fits(&self) -> bool {
        let of_table = |of: &[String]| of.is_empty() || same(of, &self.to.words) || same(of, self.stem);
        let here = |key: &[String]| self.from.columns.iter().any(|column| column.words == key);
        key_stem(&self.key.words).is_none_or(of_table)
            || self.key.words.len() == 1 && self.telling()
            || self.primary && !here(&self.key.words)
    }

    /// "customer id", "customer", "airport iata", "country name"
    fn table(&self) -> Option<Called> {
        let (words, table, key) = (self.words, &self.to.words, &self.key.words);
        // An "id" is none of identifiers.
        if self.itself || words == ["id"] {
            return None;
        }
        if self.fits() && same(self.stem, table) {
            return Some(Called::of(if self.bare { 85 } else { 92 }, Says::Table));
        }
        // "food id of sample food"
        if words.len() > key.len() + table.len() && words.starts_with(key) && ends_with(words, table) {
            // The longest name of a table that fits.
            return Some(Called::of(if table.len() > 1 { 95 } else { 90 }, Says::TableWithRole));
        }
        let first = words.get(..table.len()).is_some_and(|first| same(first, table));
        let both = words.len() == table.len() + key.len() && first && ends_with(words, key);
        both.then_some(Called::of(90, Says::Table))
    }

    /// Names that are alike in their letters: "essn" and "ssn", "dno" and "dnumber" of departments, "com av" and "com",
    /// "headnurse" of nurses.
    fn letters(&self) -> Option<Called> {
        if let ([only], [table]) = (self.words, self.to.words.as_slice())
            && self.primary
            && !self.itself
            && only.len() > table.len()
            && only.ends_with(&canonical(table))
            && canonical(table).len() >= 4
        {
            return Some(Called::of(60, Says::TableWithRole));
        }
        let [key] = self.key.words.as_slice() else { return None };
        if self.words.len() > 1 && self.own >= 70 && self.telling() && self.words.first() == Some(key) {
            return Some(Called::of(62, Says::SameNameWithRole));
        }
        let [only] = self.words else { return None };
        if self.own >= 60 && key.len() >= 3 && only.len() > key.len() && only.ends_with(key.as_str()) {
            return Some(Called::of(65, Says::SameNameWithRole));
        }
        let short = |word: &String| SHORT_KEYS.iter().find_map(|end| word.strip_suffix(end)).map(str::to_owned);
        let (one, other) = short(only).zip(short(key))?;
        let alike = only != key && !one.is_empty() && one == other && abbreviates(&one, &self.to.words);
        (self.own >= 75 && alike).then_some(Called::of(78, Says::ShortForm))
    }

    /// Names that share words with the table's.
    fn part_of_table(&self) -> Option<Called> {
        let (words, table, from) = (self.words, &self.to.words, &self.from.words);
        // The zip code of a customer and that of a place, each with the table's noun before it.
        let (mine, theirs) = (without_noun(words, from), without_noun(&self.key.words, table));
        if !self.itself && mine.len() > 1 && mine == theirs && words != self.key.words {
            return Some(Called::of(70, Says::SameName));
        }
        if self.reading.many && !same(words, &self.key.words) {
            return Some(Called::of(-1, Says::Amount));
        }
        // "category id" of an item and item categories, "colour id" of a kind of animal and animal colours
        let shared = table.iter().zip(from).take_while(|(a, b)| canonical(a) == canonical(b)).count();
        let rest = table.get(shared..).filter(|rest| shared > 0 && !rest.is_empty());
        if self.fits() && !self.itself && rest.is_some_and(|rest| same(rest, self.stem)) {
            return Some(Called::of(if shared == from.len() { 90 } else { 80 }, Says::Table));
        }
        let longer = self.stem.len() > table.len();
        let ends = |last: &[String]| same(last, table);
        // "town from", "issue to id"
        let begins = || matches!(behind(self.stem, table), Some([only]) if ENDS.contains(&only.as_str()));
        let with_role = self.fits() && longer && (last(self.stem, table.len()).is_some_and(ends) || begins());
        with_role.then_some(Called { score: if self.bare { 72 } else { 82 }, says: Says::TableWithRole })
    }

    /// Whether several rows have the same value in it.
    fn repeats(&self) -> bool {
        self.column.is_unique(self.from.table.rows()) == Some(false)
    }

    /// The key's own name, alone or with a role.
    fn same_name(&self) -> Option<Called> {
        let (words, key, telling) = (self.words, &self.key.words, self.telling());
        let alike = (same(words, key) || self.column.words == *key) && !self.itself;
        // The texts of a status in each language have its code.
        if alike && !telling && self.primary && is_lesser(self.from, self.to) && self.repeats() {
            return Some(Called::of(80, Says::SameName));
        }
        // An "id" that is no key of its own table is another's.
        if alike && key_stem(key).is_some_and(<[String]>::is_empty) && self.repeats() {
            return Some(Called::of(20, Says::SomeId));
        }
        // "year" of a race, and of the seasons, of which it is the key
        if alike && !telling && !any(key, BARE_KEYS) && self.own >= 45 && self.key.kind != Kind::Text {
            return Some(Called::of(50, Says::SameName));
        }
        if alike && telling {
            let short = matches!(self.stem, [only] if abbreviates(only, &self.to.words));
            let (score, says) = match (self.own, self.primary) {
                // The names of warriors have the key of the warriors, who have an id.
                _ if !short
                    && !ends_with(&self.to.words, self.stem)
                    && matches!(self.reading.tails.as_slice(), [only] if *only != self.to.at) =>
                {
                    (50, Says::SameName)
                }
                // A table is called so itself.
                _ if self.another && is_about(self.stem, self.to) => (50, Says::SameName),
                _ if short || is_about(self.stem, self.to) => (90, Says::SameName),
                (..75, primary) if self.elsewhere && (self.another || self.reading.there || !primary) => {
                    (30, Says::Another)
                }
                (75.., _) => (88, Says::SameName),
                (45.., _) | (_, true) => (70, Says::SameName),
                // Unique by chance there, and no key of anything.
                _ => (30, Says::SameName),
            };
            return Some(Called::of(score, says));
        }
        let first = key.len() > 1 && words.get(..key.len()).is_some_and(|first| first == key);
        let around = words.len() > key.len() && (first || ends_with(words, key));
        let with_role = telling && around && (key.len() > 1 || self.own >= 70);
        with_role.then_some(Called::of(70, Says::SameNameWithRole))
    }

    /// What is called like another table, or identifies the rows of its own.
    fn something_else(&self) -> Option<Called> {
        (self.another || !self.itself && self.reading.own).then_some(Called::of(-1, Says::Another))
    }

    /// Which other row of the table is meant: its parent, what it evolved from, the river that a river flows into.
    fn own_role(&self) -> Option<Called> {
        let flows = self.bare && same(self.stem, &self.to.words) && self.repeats();
        // Which place a child has.
        let place = self.bare && kinds::is_naming(self.words) && !self.ends_alike();
        let score = match self.itself {
            true if flows || any(self.stem, OWN_ROLES) && !place => 65,
            true if !self.bare && self.stem.len() > 1 && self.ends_alike() => 60,
            _ => return None,
        };
        Some(Called::of(score, Says::OwnRole))
    }

    fn ends_alike(&self) -> bool {
        let lasts = self.stem.last().zip(self.to.words.last());
        lasts.is_some_and(|(one, other)| canonical(one) == canonical(other))
    }

    /// "dept no" of departments, "series id" of conference series
    fn short_form(&self) -> Option<Called> {
        let (stem, table) = (self.stem, &self.to.words);
        if self.itself {
            return None;
        }
        if let [only] = stem
            && abbreviates(only, table)
            && (!self.bare || only.len() >= 3)
        {
            return Some(Called::of(if self.bare { 40 } else { 65 }, Says::ShortForm));
        }
        // "fund" of the funds of acquisition, which have an id
        let whole = self.column.kind == Kind::Whole && self.primary && !self.telling() && !quantities::is_amount(stem);
        if self.bare && whole && self.reading.tails.as_slice() == [self.to.at] {
            return Some(Called::of(60, Says::PartOfTable));
        }
        if self.bare {
            return None;
        }
        if let ([only], [table]) = (stem, table.as_slice())
            && inflected(only, table)
            && !self.another
        {
            return Some(Called::of(65, Says::Table));
        }
        // "hersteller id" of the fahrzeughersteller
        if let ([only], [.., of]) = (stem, table.as_slice())
            && only.len() >= 5
            && canonical(of).len() > only.len() + 2
            && canonical(of).ends_with(only.as_str())
        {
            return Some(Called::of(60, Says::PartOfTable));
        }
        if table.len() < 2 {
            return None;
        }
        // The categories of issues are none of documents, and where many tables end so, none of them is meant.
        let ends = !self.others && self.reading.tails.len() <= MOST_TAILS && self.reading.tails.contains(&self.to.at);
        if ends || table.get(..stem.len()).is_some_and(|first| same(first, stem)) {
            return Some(Called::of(60, Says::PartOfTable));
        }
        // "evolved species id" of animal species; the "link type id" of links is their own, and of no other types.
        let own = stem.iter().any(|word| self.from.words.iter().any(|of| canonical(of) == canonical(word)));
        let part = self.ends_alike() && stem.len() > 1 && !own && !self.reading.of_a_thing;
        part.then_some(Called::of(55, Says::PartOfTable))
    }

    /// What is left: an id of something, or a word for one of two ends.
    fn of_something(&self) -> Called {
        let rest = self.reading.rest;
        if rest.says != Says::Amount && self.itself && (self.bare || self.key.kind == Kind::Text) {
            // Codes of one kind are soon among themselves.
            Called::of(0, Says::Nothing)
        } else if self.bare && !self.itself && rest.score < 28 && rest.score >= 0 && begins(self.words, &self.to.words)
        {
            Called::of(35, Says::ShortForm)
        } else {
            rest
        }
    }
}

/// Words without those of the table in front of them.
fn without_noun<'a>(words: &'a [String], table: &[String]) -> &'a [String] {
    match words {
        [first, rest @ ..] if table.iter().any(|word| canonical(word) == canonical(first)) => rest,
        words => words,
    }
}

/// Whether a table is a kind or a part of another, by its name and rows: "fire claim" of "claim".
pub(super) fn is_lesser(from: &Seen<'_>, to: &Seen<'_>) -> bool {
    let is_called = |part: Option<&[String]>| part.is_some_and(|part| same(part, &to.words));
    match (from.words.as_slice(), to.words.as_slice()) {
        ([from], [to]) => from.len() > to.len() && from.ends_with(&canonical(to)),
        (from, to) => from.len() > to.len() && (is_called(last(from, to.len())) || is_called(from.get(..to.len()))),
    }
}
