//! What names say of a reference: how surely a column is called for the keys of a table.

use crate::engine::ontology::draft::columns::{Column, Kind, Seen};
use crate::engine::ontology::draft::kinds;
use crate::engine::ontology::draft::names::{
    abbreviates, canonical, ends_with, key_stem, last, same, singular, without_number,
};
use crate::engine::ontology::draft::roles::STAFF;

/// People, of whom there is often one table, whatever a column calls them there.
const PEOPLE: &[&str] = &[
    "person",
    "people",
    "user",
    "customer",
    "client",
    "member",
    "employee",
    "staff",
    "account",
    "contact",
    "worker",
    "student",
    "patient",
    "guest",
    "individual",
    "player",
    "author",
    "actor",
];

/// What people are to something.
const ROLES: &[&str] = &[
    "rep",
    "manager",
    "mgr",
    "supervisor",
    "boss",
    "agent",
    "owner",
    "assignee",
    "approver",
    "salesperson",
    "seller",
    "buyer",
    "sender",
    "receiver",
    "recipient",
    "creator",
    "reviewer",
    "reporter",
    "author",
    "editor",
    "teacher",
    "instructor",
    "driver",
    "host",
    "lead",
    "leader",
    "head",
    "chair",
    "director",
    "coach",
    "captain",
    "winner",
    "loser",
    "giver",
    "taker",
    "follower",
    "followed",
    "friend",
];

/// Which of the rows of the same table is meant.
const OWN_ROLES: &[&str] = &[
    "parent",
    "manager",
    "mgr",
    "boss",
    "supervisor",
    "child",
    "previous",
    "prev",
    "next",
    "original",
    "root",
    "super",
    "reply",
    "predecessor",
    "successor",
    "ancestor",
    "leader",
    "reports",
    "spouse",
    "father",
    "mother",
    "duplicate",
    "prerequisite",
    "prereq",
    "replaces",
    "jefe",
    "padre",
    "superior",
    "chef",
    "eltern",
    "vorgesetzter",
];

/// Which of several rows is meant, with no word for what they are.
const ENDS: &[&str] = &[
    "from",
    "to",
    "source",
    "target",
    "src",
    "dst",
    "dest",
    "orig",
    "origin",
    "destination",
    "start",
    "end",
    "citing",
    "cited",
    "home",
    "away",
    "winner",
    "loser",
    "departure",
    "arrival",
    "left",
    "right",
    "first",
    "second",
];

/// Names that say what a value is, and not of what.
const GENERIC: &[&str] = &[
    "name",
    "title",
    "type",
    "kind",
    "date",
    "year",
    "month",
    "day",
    "time",
    "status",
    "code",
    "email",
    "phone",
    "description",
    "comment",
    "label",
    "address",
    "city",
    "value",
    "number",
    "id",
    "key",
    "rank",
    "note",
    "url",
    "notes",
    "text",
    "level",
    "category",
    "gender",
    "sex",
    "age",
    "identifier",
    "slug",
    "position",
    "round",
    "season",
];

/// Keys that go without another word.
const BARE_KEYS: &[&str] = &["id", "key", "identifier", "uuid", "guid", "number", "no", "code"];

/// Endings of one word that say that it is a key.
pub(super) const SHORT_KEYS: [&str; 7] = ["number", "num", "code", "key", "id", "no", "nr"];

/// How surely a column is called for keys of a table, and what says so.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Called {
    /// 0 to 100; below 0 where the name says something else.
    pub score: i16,
    pub says: Says,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Says {
    /// "customer id", "customer"
    Table,
    /// "billing address id"
    TableWithRole,
    /// "mid" and "mid"
    SameName,
    /// "manager staff id" and "staff id"
    SameNameWithRole,
    /// "dept no" of departments
    ShortForm,
    /// "series id" of conference series
    PartOfTable,
    /// "user id" where people are customers
    People,
    /// "parent", "reports to"
    OwnRole,
    /// An id of something that no table is called.
    SomeId,
    /// "citing", "sender"
    Role,
    /// Nothing.
    Nothing,
    /// Another table.
    Another,
    /// An amount or a time.
    Amount,
}

/// What names say of all tables.
pub(super) struct Names<'a> {
    seen: &'a [Seen<'a>],
    /// Tables of people.
    people: usize,
    /// Whether there is one of who works here.
    staff: bool,
}

impl<'a> Names<'a> {
    pub(super) fn new(seen: &'a [Seen<'a>]) -> Self {
        Self {
            seen,
            people: seen.iter().filter(|table| is_people(&table.words)).count(),
            staff: seen.iter().any(|table| is_staff(&table.words)),
        }
    }

    /// How surely a column of `from` is called for the values of `key`, which `own` says how well is called for a key
    /// of its table.
    pub(super) fn called(
        &self,
        from: &Seen<'_>,
        column: &Column<'_>,
        to: &Seen<'_>,
        key: &Column<'_>,
        own: u8,
    ) -> Called {
        let is = |score: i16, says: Says| Called { score, says };
        let itself = from.is(to);
        let words = without_number(&column.words);
        let (stem, bare) = match key_stem(&words) {
            Some(stem) if !stem.is_empty() => (stem, false),
            _ => (words.as_slice(), true),
        };
        let kw = &key.words;
        let generic = |words: &[String]| matches!(words, [word] if GENERIC.contains(&word.as_str()));
        // A key of something else that this table has too is not meant: "agreement type code" for "agreement id".
        let fits = key_stem(kw).is_none_or(|of| of.is_empty() || same(of, &to.words) || same(of, stem))
            || matches!(kw.as_slice(), [only] if !generic(std::slice::from_ref(only)));
        if !itself && fits {
            if same(stem, &to.words) {
                return is(if bare { 85 } else { 92 }, Says::Table);
            }
            // "airport iata", "country name"
            let longer = words.len() == to.words.len() + kw.len()
                && words.get(..to.words.len()).is_some_and(|first| same(first, &to.words))
                && ends_with(&words, kw);
            if longer {
                return is(90, Says::Table);
            }
        }
        let own_letters = |only: &str| {
            own >= 60
                && kw.len() == 1
                && kw
                    .first()
                    .is_some_and(|key| key.len() >= 3 && only.len() > key.len() && only.ends_with(key.as_str()))
        };
        // "com av" and "com"
        let begins = words.len() > 1 && kw.len() == 1 && own >= 70 && telling_word(kw) && words.first() == kw.first();
        if begins {
            return is(62, Says::SameNameWithRole);
        }
        if let [only] = words.as_slice() {
            // "essn" and "ssn"
            if own_letters(only) {
                return is(65, Says::SameNameWithRole);
            }
            // "dno" and "dnumber" of departments
            let short = |word: &str| SHORT_KEYS.iter().find_map(|end| word.strip_suffix(end)).map(str::to_owned);
            let both = short(only).zip(kw.first().filter(|_| kw.len() == 1).and_then(|key| short(key)));
            if own >= 75
                && both.is_some_and(|(one, other)| !one.is_empty() && one == other && abbreviates(&one, &to.words))
            {
                return is(78, Says::ShortForm);
            }
        }
        // The zip code of a customer and that of a place, each with the table's noun before it.
        let (mine, theirs) = (without_noun(&words, &from.words), without_noun(kw, &to.words));
        if !itself && mine.len() > 1 && mine == theirs && words != *kw {
            return is(70, Says::SameName);
        }
        // "up votes" are counted.
        let many = bare && column.kind == Kind::Whole && words.last().is_some_and(|last| singular(last) != *last);
        if many && !same(&words, kw) {
            return is(-1, Says::Amount);
        }
        // "category id" of an item and item categories, "colour id" of a kind of animal and animal colours
        let shared = to.words.iter().zip(&from.words).take_while(|(a, b)| canonical(a) == canonical(b)).count();
        let rest = to.words.get(shared..).filter(|rest| shared > 0 && !rest.is_empty());
        if fits && !itself && rest.is_some_and(|rest| same(rest, stem)) {
            return is(if shared == from.words.len() { 90 } else { 80 }, Says::Table);
        }
        let longer = stem.len() > to.words.len();
        if fits && longer && last(stem, to.words.len()).is_some_and(|last| same(last, &to.words)) {
            return is(if bare { 72 } else { 82 }, Says::TableWithRole);
        }
        let another = self.another(stem, from, to);
        let telling = kw.len() > 1 || !generic(kw);
        // "year" of a race, and of the seasons, of which it is the key
        let unique = column.is_unique(from.table.rows());
        if !itself && same(&words, kw) && key_stem(kw).is_some_and(<[String]>::is_empty) && unique == Some(false) {
            return is(20, Says::SomeId);
        }
        let plain =
            matches!(kw.as_slice(), [only] if BARE_KEYS.contains(&only.as_str()) || only == "name" || only == "title");
        if !telling && !plain && own >= 45 && key.kind != Kind::Text && same(&words, kw) && !itself {
            return is(50, Says::SameName);
        }
        if telling && same(&words, kw) && !itself {
            let score = if own >= 75 { 88 } else { 70 };
            return if another && own < 75 { is(30, Says::Another) } else { is(score, Says::SameName) };
        }
        let around = ends_with(&words, kw) || kw.len() > 1 && words.get(..kw.len()).is_some_and(|first| first == kw);
        if telling && words.len() > kw.len() && around && (kw.len() > 1 || own >= 70) {
            return is(70, Says::SameNameWithRole);
        }
        if another {
            return is(-1, Says::Another);
        }
        // The river that a river flows into is called "river", too.
        if itself && bare && same(stem, &to.words) && unique == Some(false) {
            return is(65, Says::OwnRole);
        }
        // What identifies the table's own rows refers to no other.
        let own_role = stem.iter().any(|word| OWN_ROLES.contains(&word.as_str()));
        if !itself && !bare && !own_role && same(stem, &from.words) {
            return is(-1, Says::Another);
        }
        if itself && own_role {
            return is(65, Says::OwnRole);
        }
        if !itself && let [only] = stem {
            let short = if bare { only.len() >= 3 } else { !only.is_empty() };
            if short && abbreviates(only, &to.words) {
                return is(if bare { 40 } else { 65 }, Says::ShortForm);
            }
        }
        // "evolves from species id" of animal species themselves
        let ends = || stem.last().zip(to.words.last()).is_some_and(|(a, b)| canonical(a) == canonical(b));
        if itself && !bare && stem.len() > 1 && ends() {
            return is(60, Says::OwnRole);
        }
        if !itself && !bare && to.words.len() > 1 {
            let part = last(&to.words, stem.len()).is_some_and(|last| same(last, stem))
                || to.words.get(..stem.len()).is_some_and(|first| same(first, stem));
            if part {
                return is(60, Says::PartOfTable);
            }
            // "evolved species id" of animal species
            // "link type id" of links is their own, and of no other types
            let own = stem.iter().any(|word| from.words.iter().any(|of| canonical(of) == canonical(word)));
            if ends() && stem.len() > 1 && !own {
                return is(55, Says::PartOfTable);
            }
        }
        let person =
            stem.iter().any(|word| PEOPLE.contains(&canonical(word).as_str()) || ROLES.contains(&word.as_str()));
        if person && is_people(&to.words) {
            let role = stem.iter().any(|word| STAFF.contains(&word.as_str()));
            let score = match (role, is_staff(&to.words)) {
                (true, true) => 75,
                (true, false) if self.staff => 0,
                _ if self.people == 1 => 55,
                _ => 38,
            };
            return is(score, Says::People);
        }
        if kinds::is_amount(&words) && bare || column.kind == Kind::Other {
            return is(-1, Says::Amount);
        }
        // Codes of one kind are soon among themselves.
        if itself && (bare || key.kind == Kind::Text) {
            return is(0, Says::Nothing);
        }
        if !bare {
            return is(12, Says::SomeId);
        }
        if words.iter().any(|word| ENDS.contains(&word.as_str()) || ROLES.contains(&word.as_str())) {
            return is(28, Says::Role);
        }
        // "ship via" of shippers
        let alike = |word: &String| {
            to.words.iter().any(|other| word.len() >= 4 && other.starts_with(word.as_str()) && other != word)
        };
        if !itself && words.iter().any(alike) {
            return is(35, Says::ShortForm);
        }
        if matches!(words.as_slice(), [only] if only.len() > 2 && (only.ends_with("id") || only.ends_with("no")) && column.kind == Kind::Whole)
        {
            return is(8, Says::SomeId);
        }
        is(0, Says::Nothing)
    }

    /// Whether words are the name of a table other than `to`.
    fn another(&self, stem: &[String], from: &Seen<'_>, to: &Seen<'_>) -> bool {
        let names = |table: &&Seen<'_>| !table.is(to) && !table.is(from) && same(stem, &table.words);
        !same(stem, &to.words) && self.seen.iter().any(|table| names(&table))
    }
}

/// Words without those of the table in front of them.
fn without_noun<'a>(words: &'a [String], table: &[String]) -> &'a [String] {
    match words {
        [first, rest @ ..] if table.iter().any(|word| canonical(word) == canonical(first)) => rest,
        words => words,
    }
}

fn telling_word(words: &[String]) -> bool {
    !matches!(words, [word] if GENERIC.contains(&word.as_str()))
}

fn is_people(words: &[String]) -> bool {
    words.last().is_some_and(|last| PEOPLE.contains(&canonical(last).as_str()))
}

fn is_staff(words: &[String]) -> bool {
    words.last().is_some_and(|last| matches!(canonical(last).as_str(), "employee" | "staff" | "worker" | "user"))
}
