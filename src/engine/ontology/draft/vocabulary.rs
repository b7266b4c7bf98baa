//! The words that the names of a set of tables and columns are parted into: by signs and capitals, and where words are run
//! together, by those that the other names have.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

use crate::engine::ontology::draft::DraftTable;
use crate::engine::ontology::draft::names::{forms, key_stem, same, singular};
use crate::engine::ontology::draft::words::GENERIC;
use crate::engine::ontology::read::datatype_of;
use crate::model::dataset::ColumnInfo;
use crate::model::ontology::{DataType, in_words};

/// Words of business names that are found run together (`retailprice`). Table names are added to them.
const PARTS: &[&str] = &[
    "account", "acct", "actor", "actual", "addr", "address", "airport", "album", "amount", "amt", "artist", "author",
    "avail", "available", "bal", "balance", "bank", "base", "bill", "billing", "birth", "book", "booking", "box",
    "branch", "brand", "budget", "business", "campaign", "card", "carrier", "category", "channel", "city", "claim",
    "class", "click", "close", "code", "comment", "commit", "company", "concept", "contact", "container", "cost",
    "count", "country", "create", "created", "currency", "cust", "customer", "date", "day", "delivery", "department",
    "description", "dest", "device", "discount", "doctor", "driver", "due", "email", "emp", "employee", "end", "entry",
    "event", "exit", "ext", "extended", "fax", "first", "flag", "flight", "fore", "forecast", "freight", "full",
    "game", "gross", "head", "hire", "hospital", "hotel", "hours", "id", "income", "instructions", "invoice", "item",
    "key", "language", "last", "line", "list", "loan", "location", "manager", "margin", "marital", "market", "member",
    "merchant", "message", "mkt", "mode", "model", "month", "movie", "name", "nation", "net", "no", "num", "number",
    "open", "order", "origin", "page", "paid", "parent", "part", "partner", "passenger", "patient", "pay", "payment",
    "performance", "period", "personal", "phone", "policy", "population", "position", "post", "postal", "premium",
    "price", "priority", "prod", "product", "profit", "project", "provider", "publisher", "purchase", "qty",
    "quantity", "quote", "rate", "receipt", "receive", "region", "report", "restaurant", "retail", "return", "revenue",
    "role", "route", "salary", "sale", "sales", "school", "score", "seed", "segment", "sensor", "session", "ship",
    "shipment", "shipping", "size", "song", "standard", "start", "state", "station", "status", "store", "street",
    "sub", "supp", "supplier", "supply", "sur", "target", "task", "tax", "teacher", "team", "ticket", "time", "title",
    "total", "tourney", "track", "trans", "transaction", "trip", "type", "unit", "update", "user", "value", "vehicle",
    "vendor", "visit", "warehouse", "week", "weight", "working", "year", "zip",
];

/// Words that are no two, though they could be parted.
const WHOLE: &[&str] = &["timestamp", "datetime", "subtype", "postage", "timeline"];

/// What a table is for, in front of its name.
const TABLE_MARKS: &[&str] = &["dim", "fact", "fct", "tbl", "stg", "tb", "raw", "src", "mart", "t", "vw"];

/// The words of a set of tables: names can be parted by them.
pub(super) struct Vocabulary {
    words_of_tables: BTreeSet<String>,
    /// What tables are called, as [`forms`] writes it.
    nouns: BTreeSet<String>,
    /// What tables are called for short, where only one is called so.
    bare: BTreeSet<Vec<String>>,
    of_columns: BTreeSet<String>,
    /// Of all columns, in lower case, with how many tables have one.
    names: BTreeMap<String, usize>,
    /// The same from their last letter to their first.
    turned: BTreeSet<String>,
    common: Common,
    /// What this schema calls an id: many tables begin with a column of this name alone, and columns elsewhere end with it.
    id: Option<String>,
}

/// Words that the names of most tables of a schema begin and end with.
#[derive(Default)]
struct Common {
    first: Option<String>,
    last: Option<String>,
}

impl Common {
    /// Tables from which it is no chance that all of them share a word.
    const ENOUGH: usize = 3;

    fn of(tables: &[Vec<String>]) -> Self {
        if tables.len() < Self::ENOUGH {
            return Self::default();
        }
        let first = shared(tables, |table| table.split_first().map(|(first, rest)| (first, rest.len())));
        let last = shared(tables, |table| table.split_last().map(|(last, rest)| (last, rest.len())));
        Self { first, last }
    }

    fn drop_from(&self, table: &mut Vec<String>) {
        if table.len() > 1 && table.first() == self.first.as_ref() {
            table.remove(0);
        }
        if table.len() > 1 && table.last() == self.last.as_ref() {
            table.pop();
        }
    }
}

/// The word that most tables have in a place, with others beside it.
fn shared<'a>(
    tables: &'a [Vec<String>],
    place: impl Fn(&'a Vec<String>) -> Option<(&'a String, usize)>,
) -> Option<String> {
    let mut counts: BTreeMap<&String, usize> = BTreeMap::new();
    for (word, _) in tables.iter().filter_map(&place).filter(|(_, beside)| *beside > 0) {
        *counts.entry(word).or_default() += 1;
    }
    let (word, count) = counts.into_iter().max_by_key(|(_, count)| *count)?;
    (count * 10 >= tables.len() * 7).then(|| word.clone())
}

/// The word that many tables begin with by itself, and that ends the names of as many other columns (`CN`, `PLT_CN`).
fn word_for_id(tables: &[Vec<String>]) -> Option<String> {
    const ENOUGH: usize = 3;
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for columns in tables {
        if let Some(first) = columns.first().filter(|name| (2..5).contains(&name.len()) && !name.contains(' ')) {
            *counts.entry(first).or_default() += 1;
        }
    }
    let (word, count) = counts.into_iter().max_by_key(|(_, count)| *count)?;
    let refers = |name: &&String| name.rsplit_once(' ').is_some_and(|(_, last)| last == word);
    let others: BTreeSet<&String> = tables.iter().flatten().filter(refers).collect();
    let known = GENERIC.contains(&word) || is_part(word);
    (count >= ENOUGH && others.len() >= ENOUGH && !known).then(|| word.to_owned())
}

impl Vocabulary {
    pub(super) fn new(tables: &[DraftTable]) -> Self {
        let mut vocabulary = Self::of(tables.iter().map(|table| {
            (table.name.as_str(), table.columns.iter().map(|column| column.name.as_str()).collect::<Vec<_>>())
        }));
        // A table whose own id comes again and again uses what another one tells: the campaigns of households.
        let repeats = |table: &&DraftTable| {
            let words = vocabulary.table(&table.name);
            let own = |name: &str| key_stem(&vocabulary.words(name)).is_some_and(|stem| same(stem, &words));
            let figures = table.columns.iter().filter(|column| own(&column.name));
            let mut figures = figures.filter_map(|column| table.figures(&column.name));
            figures.any(|figures| figures.distinct.saturating_mul(10) < table.rows().saturating_mul(9))
        };
        let users: Vec<Vec<String>> = tables.iter().filter(repeats).map(|it| vocabulary.table(&it.name)).collect();
        for form in users.iter().flat_map(|table| forms(table)) {
            vocabulary.nouns.remove(&form);
        }
        vocabulary
    }

    fn of<'a>(tables: impl Iterator<Item = (&'a str, Vec<&'a str>)> + Clone) -> Self {
        let mut words = BTreeSet::new();
        let mut of_columns = BTreeSet::new();
        for (table, columns) in tables.clone() {
            for word in in_words(table).split(' ').filter(|word| word.len() > 2) {
                words.insert(word.to_owned());
                words.insert(singular(word));
            }
            // `MediaTypeId` tells where `mediatype` is parted.
            for name in columns.iter().map(|name| in_words(name)).filter(|name| name.contains(' ')) {
                of_columns.extend(name.split(' ').filter(|word| word.len() > 3).map(str::to_owned));
            }
        }
        let mut names = BTreeMap::new();
        for name in tables.clone().flat_map(|(_, columns)| columns) {
            *names.entry(name.to_lowercase()).or_default() += 1;
        }
        let of_tables: Vec<Vec<String>> =
            tables.clone().map(|(_, columns)| columns.iter().map(|name| in_words(name)).collect()).collect();
        let id = word_for_id(&of_tables);
        let mut tables: Vec<Vec<String>> = tables.map(|(table, _)| of_table(table, &of_columns)).collect();
        let common = Common::of(&tables);
        tables.iter_mut().for_each(|table| common.drop_from(table));
        let short: Vec<Vec<String>> = tables.iter().map(|table| bare(table)).collect();
        let mut seen = BTreeSet::new();
        let twice: BTreeSet<&Vec<String>> = short.iter().filter(|name| !seen.insert(*name)).collect();
        let bare: BTreeSet<Vec<String>> = short.iter().filter(|name| !twice.contains(name)).cloned().collect();
        let called = short.iter().zip(&tables).map(|(short, table)| if bare.contains(short) { short } else { table });
        let nouns = called.flat_map(|table| forms(table)).collect();
        let turned = names.keys().map(|name| turned(name)).collect();
        Self { words_of_tables: words, nouns, bare, of_columns, names, turned, common, id }
    }

    /// The words of a name, in lower case; what is run together is parted where every piece is a word of business or of
    /// a table, so that `custkey` is "cust key" and `valid` stays one.
    pub(super) fn words(&self, name: &str) -> Vec<String> {
        let known = |word: &str| is_part(word) || self.words_of_tables.contains(word);
        let words = in_words(name);
        let mut words: Vec<String> =
            words.split(' ').filter(|word| !word.is_empty()).flat_map(|word| parted(word, known)).collect();
        if let Some(last) = words.last_mut().filter(|last| Some(&**last) == self.id.as_ref()) {
            *last = "id".to_owned();
        }
        // "county cd", and not the discs of a shop that has a table of them.
        let is_thing = |word: &str| self.nouns.contains(word) || self.words_of_tables.contains(word);
        if let [_, .., last] = words.as_mut_slice() {
            match last.as_str() {
                "cd" if !is_thing("cd") => *last = "code".to_owned(),
                "nbr" => *last = "number".to_owned(),
                _ => {}
            }
        }
        words
    }

    /// The words of a column's name. Texts that end in "nm" are names, and numbers are nanometres and miles at sea.
    pub(super) fn column(&self, column: &ColumnInfo) -> Vec<String> {
        let mut words = self.words(&column.name);
        let is_text = datatype_of(&column.r#type) == DataType::String;
        if let [_, .., last] = words.as_mut_slice()
            && is_text
            && last.as_str() == "nm"
        {
            *last = "name".to_owned();
        }
        words
    }

    /// The words of a table's name without what it is for and of when: `dim_customers` and `sales_2024` are "customers"
    /// and "sales".
    pub(super) fn table(&self, name: &str) -> Vec<String> {
        let mut words = of_table(name, &self.of_columns);
        self.common.drop_from(&mut words);
        let bare = bare(&words);
        if self.bare.contains(&bare) { bare } else { words }
    }

    /// Whether several columns are called by a word and by more in front of it.
    pub(super) fn ends_others(&self, word: &str) -> bool {
        let end = turned(word);
        let from = (Bound::Excluded(&end), Bound::Unbounded);
        self.turned.range::<String, _>(from).take_while(|name| name.starts_with(&end)).nth(1).is_some()
    }

    /// Whether more than one table has a column of this name.
    pub(super) fn is_shared(&self, column: &str) -> bool {
        self.names.get(&column.to_lowercase()).is_some_and(|tables| *tables > 1)
    }

    /// Whether words are the name of a table other than this.
    pub(super) fn names_another(&self, words: &[String], own: &[String]) -> bool {
        let known = forms(words).iter().any(|form| self.nouns.contains(form));
        known && !same(words, own)
    }
}

fn turned(name: &str) -> String {
    name.chars().rev().collect()
}

fn of_table(name: &str, of_columns: &BTreeSet<String>) -> Vec<String> {
    // The whole name is no word to keep whole: what is run together there is run together everywhere.
    let known = |word: &str| is_part(word) || word.len() < name.len() && of_columns.contains(&singular(word));
    let words = in_words(name);
    let mut words: Vec<String> =
        words.split(' ').filter(|word| !word.is_empty()).flat_map(|word| parted(word, known)).collect();
    if matches!(words.as_slice(), [first, _, ..] if TABLE_MARKS.contains(&first.as_str())) {
        words.remove(0);
    }
    words
}

/// The words of a table's name without what nobody says: a date and what stands behind it, a year at the end, "fact" and
/// "full".
fn bare(words: &[String]) -> Vec<String> {
    let begins = |digits: &[u8]| digits.starts_with(b"19") || digits.starts_with(b"20");
    let is_date = |eight: &[u8]| eight.iter().all(u8::is_ascii_digit) && begins(eight);
    let mut bare: Vec<String> = Vec::new();
    for word in words {
        let date = word.as_bytes().windows(8).position(is_date);
        let (before, _) = word.split_at(date.unwrap_or(word.len()));
        bare.extend((!before.is_empty()).then(|| before.to_owned()));
        if date.is_some() {
            break;
        }
    }
    let is_year = |word: &[u8]| word.len() == 4 && word.iter().all(u8::is_ascii_digit) && begins(word);
    bare.truncate(bare.iter().rposition(|word| !is_year(word.as_bytes()) && word != "full").map_or(0, |last| last + 1));
    bare.retain(|word| word != "fact");
    if bare.is_empty() { words.to_vec() } else { bare }
}

fn is_part(word: &str) -> bool {
    PARTS.binary_search(&word).is_ok()
}

/// A word in two or three, when all of them are known and it is not.
fn parted(word: &str, known: impl Fn(&str) -> bool) -> Vec<String> {
    if known(word) || WHOLE.contains(&word) || !word.is_ascii() || word.len() > 40 {
        return vec![word.to_owned()];
    }
    // "recommendedby"
    if let Some(done) = word.strip_suffix("edby") {
        return vec![format!("{done}ed"), "by".to_owned()];
    }
    // "membership" is no ship of members.
    let known = |part: &str| known(part) && !(part == "ship" && word.ends_with("ship"));
    let places = 2..word.len().saturating_sub(1);
    let in_two = |word: &str| {
        let mut parts = (2..word.len().saturating_sub(1)).map(|at| word.split_at(at));
        parts.find(|(first, second)| known(first) && known(second)).map(|(a, b)| (a.to_owned(), b.to_owned()))
    };
    if let Some((first, second)) = in_two(word) {
        return vec![first, second];
    }
    let firsts = places.map(|at| word.split_at(at)).filter(|(first, _)| known(first));
    for (first, rest) in firsts {
        if let Some((second, third)) = in_two(rest) {
            return vec![first.to_owned(), second, third];
        }
    }
    vec![word.to_owned()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_to_part_by_are_sorted() {
        assert!(PARTS.is_sorted());
    }

    #[test]
    fn run_together_names_are_parted_only_into_known_words() {
        let vocabulary = Vocabulary::of([("parcels", vec![]), ("nation", vec![])].into_iter());
        for (name, expected) in [
            ("l_extendedprice", "l extended price"),
            ("custkey", "cust key"),
            ("o_orderpriority", "o order priority"),
            ("mktsegment", "mkt segment"),
            ("availqty", "avail qty"),
            ("parcelid", "parcel id"),
            ("nationkey", "nation key"),
            ("AlbumId", "album id"),
            ("valid", "valid"),
            ("acid", "acid"),
            ("paid", "paid"),
            ("timestamp", "timestamp"),
            ("discount", "discount"),
            ("percent", "percent"),
            ("updated", "updated"),
            ("candidate", "candidate"),
            ("covid", "covid"),
            ("recommendedby", "recommended by"),
            ("membership", "membership"),
        ] {
            assert_eq!(vocabulary.words(name).join(" "), expected, "{name}");
        }
    }

    #[test]
    fn short_forms_at_the_end_of_a_name_are_spelt_out() {
        let vocabulary = Vocabulary::of([("parcels", vec![])].into_iter());
        for (name, expected) in [
            ("COUNTY_CD", "county code"),
            ("cd", "cd"),
            ("cd_title", "cd title"),
            ("OrderNbr", "order number"),
            ("nm", "nm"),
        ] {
            assert_eq!(vocabulary.words(name).join(" "), expected, "{name}");
        }
        for table in ["cds", "music_cds", "cd"] {
            let discs = Vocabulary::of([(table, vec![])].into_iter());
            assert_eq!(discs.words("num_cd").join(" "), "num cd", "{table}");
        }
        let column = |name: &str, r#type: &str| {
            let column = ColumnInfo { name: name.into(), r#type: r#type.into(), ..ColumnInfo::default() };
            vocabulary.column(&column).join(" ")
        };
        assert_eq!(column("CUST_FIRST_NM", "VARCHAR"), "cust first name");
        assert_eq!(column("wavelength_nm", "DOUBLE"), "wavelength nm");
        assert_eq!(column("nm", "VARCHAR"), "nm");
    }

    #[test]
    fn names_of_tables_are_parted_as_their_columns_are() {
        let vocabulary = Vocabulary::of(
            [
                ("mediatype", vec!["MediaTypeId", "Name"]),
                ("invoiceline", vec!["Quantity"]),
                ("customers", vec!["custom"]),
            ]
            .into_iter(),
        );
        for (name, expected) in [
            ("mediatype", "media type"),
            ("invoiceline", "invoice line"),
            ("dim_customers", "customers"),
            ("customers", "customers"),
        ] {
            assert_eq!(vocabulary.table(name).join(" "), expected);
        }
    }

    #[test]
    fn names_of_tables_are_without_dates_where_no_other_is_called_so() {
        let names = ["line20220323free", "sales_fact_1997", "results_full", "price_2023", "price_2024", "full", "2024"];
        let vocabulary = Vocabulary::of(names.into_iter().map(|name| (name, vec![])));
        let called = names.map(|name| vocabulary.table(name).join(" "));
        assert_eq!(called, ["line", "sales", "results", "price 2023", "price 2024", "full", "2024"]);
        assert!(vocabulary.names_another(&["line".to_owned()], &[]));
    }

    #[test]
    fn keys_are_told_by_their_last_word() {
        let vocabulary = Vocabulary::of([("product", vec![])].into_iter());
        let stem = |name: &str| key_stem(&vocabulary.words(name)).map(|stem| stem.join(" "));
        for (name, expected) in [
            ("customer_id", Some("customer")),
            ("product_code", Some("product")),
            ("order_no", Some("order")),
            ("item_ref", Some("item")),
            ("account_num", Some("account")),
            ("user_fk", Some("user")),
            ("productid", Some("product")),
            ("company_claim_number", Some("company claim")),
            ("county_cd", Some("county")),
            ("order_nbr", Some("order")),
            ("cd", None),
            ("id", Some("")),
            ("valid", None),
            ("acid", None),
            ("id_type", None),
            ("name", None),
        ] {
            assert_eq!(stem(name).as_deref(), expected, "{name}");
        }
    }
}
