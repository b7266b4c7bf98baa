//! Names of tables and columns as words: parted, in the singular and plural, with their abbreviations spelt out.

use std::collections::{BTreeMap, BTreeSet};

use crate::engine::ontology::draft::DraftTable;
use crate::model::ontology::in_words;

/// The last words of a name that identifies something.
const KEY_WORDS: &[&str] =
    &["id", "ids", "key", "code", "ref", "num", "no", "nr", "fk", "number", "identifier", "uuid", "guid", "sk", "pk"];

/// Words of business names that are found run together (`retailprice`). Table names are added to them.
const PARTS: &[&str] = &[
    "account",
    "acct",
    "addr",
    "address",
    "amount",
    "amt",
    "avail",
    "available",
    "bal",
    "balance",
    "base",
    "bill",
    "billing",
    "birth",
    "box",
    "brand",
    "category",
    "city",
    "close",
    "code",
    "comment",
    "commit",
    "contact",
    "container",
    "cost",
    "count",
    "country",
    "create",
    "created",
    "currency",
    "cust",
    "customer",
    "date",
    "day",
    "dest",
    "discount",
    "due",
    "email",
    "emp",
    "end",
    "ext",
    "extended",
    "fax",
    "first",
    "flag",
    "fore",
    "full",
    "gross",
    "hire",
    "id",
    "instructions",
    "invoice",
    "item",
    "key",
    "last",
    "line",
    "list",
    "market",
    "member",
    "mkt",
    "mode",
    "model",
    "month",
    "name",
    "nation",
    "net",
    "no",
    "num",
    "number",
    "open",
    "order",
    "origin",
    "paid",
    "part",
    "pay",
    "payment",
    "period",
    "phone",
    "post",
    "postal",
    "price",
    "priority",
    "prod",
    "product",
    "qty",
    "quantity",
    "rate",
    "receipt",
    "receive",
    "region",
    "report",
    "retail",
    "return",
    "role",
    "sale",
    "sales",
    "segment",
    "ship",
    "shipping",
    "size",
    "start",
    "state",
    "status",
    "store",
    "street",
    "sub",
    "supp",
    "supplier",
    "supply",
    "sur",
    "tax",
    "time",
    "title",
    "total",
    "trans",
    "transaction",
    "type",
    "unit",
    "update",
    "user",
    "value",
    "vendor",
    "week",
    "year",
    "zip",
];

/// Words that are no two, though they could be parted.
const WHOLE: &[&str] = &["timestamp", "datetime", "subtype", "postage", "timeline"];

/// Short forms and what they stand for.
const SHORT: &[(&str, &str)] = &[
    ("acct", "account"),
    ("addr", "address"),
    ("alt", "altitude"),
    ("amt", "amount"),
    ("arr", "arrival"),
    ("avail", "available"),
    ("avg", "average"),
    ("bal", "balance"),
    ("cat", "category"),
    ("cnt", "count"),
    ("cust", "customer"),
    ("dep", "departure"),
    ("dept", "department"),
    ("desc", "description"),
    ("dest", "destination"),
    ("dir", "direction"),
    ("dob", "date of birth"),
    ("dt", "date"),
    ("emp", "employee"),
    ("ext", "extended"),
    ("hr", "hour"),
    ("id", "identifier"),
    ("humid", "humidity"),
    ("inv", "invoice"),
    ("lat", "latitude"),
    ("len", "length"),
    ("lng", "longitude"),
    ("lon", "longitude"),
    ("max", "maximum"),
    ("mfgr", "manufacturer"),
    ("mfr", "manufacturer"),
    ("min", "minimum"),
    ("mkt", "market"),
    ("no", "number"),
    ("nr", "number"),
    ("num", "number"),
    ("org", "organization"),
    ("orig", "origin"),
    ("pct", "percent"),
    ("precip", "precipitation"),
    ("prod", "product"),
    ("qty", "quantity"),
    ("ref", "reference"),
    ("rep", "representative"),
    ("sched", "scheduled"),
    ("supp", "supplier"),
    ("temp", "temperature"),
    ("trx", "transaction"),
    ("txn", "transaction"),
    ("tz", "time zone"),
    ("usr", "user"),
    ("visib", "visibility"),
    ("vol", "volume"),
    ("wt", "weight"),
    ("yr", "year"),
];

/// What a table is for, in front of its name.
const TABLE_MARKS: &[&str] = &["dim", "fact", "fct", "tbl", "stg", "tb", "raw", "src", "mart", "t", "vw"];

/// The words of a set of tables: names can be parted by them.
pub(super) struct Vocabulary {
    words_of_tables: BTreeSet<String>,
    /// What tables are called, as [`forms`] writes it.
    nouns: BTreeSet<String>,
    of_columns: BTreeSet<String>,
    /// Of all columns, in lower case, with how many tables have one.
    names: BTreeMap<String, usize>,
    common: Common,
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

impl Vocabulary {
    pub(super) fn new(tables: &[DraftTable]) -> Self {
        Self::of(tables.iter().map(|table| {
            (table.name.as_str(), table.columns.iter().map(|column| column.name.as_str()).collect::<Vec<_>>())
        }))
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
        let mut tables: Vec<Vec<String>> = tables.map(|(table, _)| of_table(table, &of_columns)).collect();
        let common = Common::of(&tables);
        tables.iter_mut().for_each(|table| common.drop_from(table));
        let nouns = tables.iter().flat_map(|table| forms(table)).collect();
        Self { words_of_tables: words, nouns, of_columns, names, common }
    }

    /// The words of a name, in lower case; what is run together is parted where every piece is a word of business or of
    /// a table, so that `custkey` is "cust key" and `valid` stays one.
    pub(super) fn words(&self, name: &str) -> Vec<String> {
        let known = |word: &str| is_part(word) || self.words_of_tables.contains(word);
        in_words(name).split(' ').filter(|word| !word.is_empty()).flat_map(|word| parted(word, known)).collect()
    }

    /// The words of a table's name without what it is for: `dim_customers` is "customers".
    pub(super) fn table(&self, name: &str) -> Vec<String> {
        let mut words = of_table(name, &self.of_columns);
        self.common.drop_from(&mut words);
        words
    }

    /// Whether several columns are called by a word and by more in front of it.
    pub(super) fn ends_others(&self, word: &str) -> bool {
        self.names.keys().filter(|name| name.len() > word.len() && name.ends_with(word)).count() > 1
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

fn of_table(name: &str, of_columns: &BTreeSet<String>) -> Vec<String> {
    // The whole name is no word to keep whole: what is run together there is run together everywhere.
    let known = |word: &str| is_part(word) || word.len() < name.len() && of_columns.contains(&singular(word));
    let mut words: Vec<String> = in_words(name).split(' ').flat_map(|word| parted(word, known)).collect();
    if matches!(words.as_slice(), [first, _, ..] if TABLE_MARKS.contains(&first.as_str())) {
        words.remove(0);
    }
    words
}

fn is_part(word: &str) -> bool {
    PARTS.binary_search(&word).is_ok()
}

/// A word in two or three, when all of them are known and it is not.
fn parted(word: &str, known: impl Fn(&str) -> bool) -> Vec<String> {
    if known(word) || WHOLE.contains(&word) || !word.is_ascii() || word.len() > 40 {
        return vec![word.to_owned()];
    }
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

/// Whether the last word says that the name identifies something, and the words before it.
pub(super) fn key_stem(words: &[String]) -> Option<&[String]> {
    let (last, stem) = words.split_last()?;
    if KEY_WORDS.contains(&last.as_str()) {
        return Some(stem);
    }
    // "id cliente", "codigo cliente"
    const KINDS: &[&str] = &["type", "card", "status", "proof", "document", "name", "postal"];
    const FIRST: &[&str] = &["id", "codigo", "cod", "clave", "pk", "fk", "sk"];
    let (first, rest) = words.split_first()?;
    let kind = rest.last().is_none_or(|last| KINDS.contains(&last.as_str()));
    (!kind && FIRST.contains(&first.as_str())).then_some(rest)
}

/// What a column is called for: its words without what says that it is a key, where there are others.
pub(super) fn stem_of(words: &[String]) -> &[String] {
    key_stem(words).filter(|stem| !stem.is_empty()).unwrap_or(words)
}

/// Whether words end with a noun, in the singular or plural.
pub(super) fn ends_with(words: &[String], noun: &[String]) -> bool {
    !noun.is_empty() && last(words, noun.len()).is_some_and(|last| same(last, noun))
}

/// The last so many words.
pub(super) fn last(words: &[String], count: usize) -> Option<&[String]> {
    words.get(words.len().checked_sub(count)?..)
}

/// The words that all names of a table's columns begin with, when that is no word of its own: `l_`, `ps_`, or the
/// table's name. How many words.
pub(super) fn common_prefix(table: &[String], columns: &[Vec<String>]) -> usize {
    let Some(first) = columns.first().and_then(|words| words.first()) else { return 0 };
    let shared =
        columns.len() > 1 && columns.iter().all(|words| matches!(words.as_slice(), [own, _, ..] if own == first));
    let initials: String = table.iter().filter_map(|word| word.chars().next()).collect();
    let named = table.last().is_some_and(|word| word == first || &singular(word) == first);
    usize::from(shared && (first.len() <= 2 || *first == initials || named))
}

/// A noun in the singular, by its ending.
pub(super) fn singular(noun: &str) -> String {
    const SAME: &[&str] = &["series", "species", "news", "status", "address", "sales", "gas", "bus", "means", "data"];
    const IRREGULAR: &[(&str, &str)] = &[
        ("people", "person"),
        ("children", "child"),
        ("men", "man"),
        ("women", "woman"),
        ("feet", "foot"),
        ("indices", "index"),
        ("movies", "movie"),
        ("cookies", "cookie"),
        ("leaves", "leave"),
        ("buses", "bus"),
        ("statuses", "status"),
        ("caches", "cache"),
        ("expenses", "expense"),
        ("licenses", "license"),
        ("premises", "premises"),
    ];
    if let Some((_, one)) = IRREGULAR.iter().find(|(many, _)| *many == noun) {
        return (*one).to_owned();
    }
    if SAME.contains(&noun) || noun.len() < 3 {
        return noun.to_owned();
    }
    let ending = |many: &str, one: &str| noun.strip_suffix(many).map(|stem| format!("{stem}{one}"));
    if noun.ends_with("ss") || noun.ends_with("us") || noun.ends_with("is") {
        return noun.to_owned();
    }
    // "campuses", and not "houses"
    if let Some(stem) = noun.strip_suffix("es").filter(|stem| stem.ends_with("us") && stem.len() > 3)
        && !["ouses", "auses", "buses", "cuses", "fuses", "muses"].iter().any(|end| noun.ends_with(end))
    {
        return stem.to_owned();
    }
    ending("ies", "y")
        .or_else(|| ending("sses", "ss"))
        .or_else(|| ending("shes", "sh"))
        .or_else(|| ending("ches", "ch"))
        .or_else(|| ending("xes", "x"))
        .or_else(|| ending("zzes", "zz"))
        .or_else(|| ending("s", ""))
        .unwrap_or_else(|| noun.to_owned())
}

/// A noun in the plural.
pub(super) fn plural(noun: &str) -> String {
    const IRREGULAR: &[(&str, &str)] =
        &[("person", "people"), ("child", "children"), ("man", "men"), ("woman", "women"), ("foot", "feet")];
    const SAME: &[&str] = &["series", "species", "news", "sales", "data", "staff", "inventory", "weather", "equipment"];
    if let Some((_, many)) = IRREGULAR.iter().find(|(one, _)| *one == noun) {
        return (*many).to_owned();
    }
    if SAME.contains(&noun) {
        return noun.to_owned();
    }
    let vowel_before_last = noun.chars().rev().nth(1).is_some_and(|c| "aeiou".contains(c));
    if let Some(stem) = noun.strip_suffix('y').filter(|_| !vowel_before_last) {
        return format!("{stem}ies");
    }
    if ["s", "x", "z", "ch", "sh"].iter().any(|ending| noun.ends_with(ending)) {
        return format!("{noun}es");
    }
    format!("{noun}s")
}

/// A table's name as the noun for one of its rows.
pub(super) fn noun(words: &[String]) -> String {
    let mut words = words.to_vec();
    if let Some(last) = words.last_mut() {
        *last = singular(last);
    }
    words.join(" ")
}

/// Words with their short forms spelt out; `None` when there are none. "Dep" is a department beside people, and a
/// departure beside anything else.
pub(super) fn spelt_out(words: &[String]) -> Option<String> {
    let long =
        |word: &String| SHORT.iter().find(|(short, _)| *short == word.as_str()).map(|(_, long)| (*long).to_owned());
    let spelt: Vec<String> = words.iter().map(|word| long(word).unwrap_or_else(|| word.clone())).collect();
    (spelt != words).then(|| spelt.join(" "))
}

/// One word with its short form spelt out, in the singular.
pub(super) fn canonical(word: &str) -> String {
    let long = SHORT.iter().find(|(short, _)| *short == word).map_or(word, |(_, long)| long);
    singular(long)
}

/// Two texts of words, of which one is equal wherever [`same`] says that they mean the same.
fn forms(words: &[String]) -> [String; 2] {
    let each: Vec<String> = words.iter().map(|word| canonical(word)).collect();
    [each.join(" "), singular(&words.concat())]
}

/// Whether two lists of words mean the same, apart from short forms and number.
pub(super) fn same(first: &[String], second: &[String]) -> bool {
    // Short and long forms, one and many, begin alike.
    let letter = |words: &[String]| words.first().and_then(|word| word.chars().next());
    if letter(first) != letter(second) {
        return false;
    }
    if first == second {
        return true;
    }
    let each = first.len() == second.len() && first.iter().zip(second).all(|(a, b)| canonical(a) == canonical(b));
    each || singular(&first.concat()) == singular(&second.concat())
}

/// Whether a few letters stand for a noun: its first ones, those that its words begin with, or some of it in their order
/// ("mgr" for a manager).
pub(super) fn abbreviates(short: &str, noun: &[String]) -> bool {
    let initials: String = noun.iter().filter_map(|word| word.chars().next()).collect();
    let of_word = |word: &String| {
        let mut letters = word.chars();
        let in_order = short.chars().all(|letter| letters.any(|other| other == letter));
        word.starts_with(short) || short.len() >= 3 && in_order && word.chars().next() == short.chars().next()
    };
    !short.is_empty() && short.len() < 6 && (short == initials || noun.first().is_some_and(of_word))
}

/// Words without the digits that tell several of a kind apart: "sea 1" and "sea2" are a "sea".
pub(super) fn without_number(words: &[String]) -> Vec<String> {
    let mut words = words.to_vec();
    if let Some(last) = words.last_mut() {
        let kept = last.trim_end_matches(|c: char| c.is_ascii_digit());
        match kept.is_empty() {
            true => drop(words.pop()),
            false => *last = kept.to_owned(),
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

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
        ] {
            assert_eq!(vocabulary.words(name).join(" "), expected, "{name}");
        }
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
    fn nouns_have_a_singular_and_a_plural() {
        for (one, many) in [
            ("category", "categories"),
            ("day", "days"),
            ("box", "boxes"),
            ("match", "matches"),
            ("dish", "dishes"),
            ("buzz", "buzzes"),
            ("glass", "glasses"),
            ("address", "addresses"),
            ("customer", "customers"),
            ("person", "people"),
            ("movie", "movies"),
            ("house", "houses"),
            ("case", "cases"),
            ("price", "prices"),
        ] {
            assert_eq!(plural(one), many);
            assert_eq!(singular(many), one);
        }
        for same in ["series", "status", "sales", "analysis", "address"] {
            assert_eq!(singular(same), same);
        }
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
            ("id", Some("")),
            ("valid", None),
            ("acid", None),
            ("id_type", None),
            ("name", None),
        ] {
            assert_eq!(stem(name).as_deref(), expected, "{name}");
        }
    }

    #[test]
    fn prefixes_of_all_columns_are_found() {
        let prefix = |table: &str, columns: &[&str]| {
            common_prefix(&words(table), &columns.iter().map(|name| words(name)).collect::<Vec<_>>())
        };
        assert_eq!(prefix("lineitem", &["l order key", "l tax"]), 1);
        assert_eq!(prefix("part supply", &["ps part key", "ps cost"]), 1);
        assert_eq!(prefix("customers", &["customer id", "customer name"]), 1);
        assert_eq!(prefix("customers", &["customer id", "name"]), 0);
        assert_eq!(prefix("flights", &["scheduled arrival", "scheduled departure"]), 0);
        assert_eq!(prefix("flights", &["l tax"]), 0);
    }

    #[test]
    fn short_forms_are_spelt_out() {
        assert_eq!(spelt_out(&words("dep delay")).as_deref(), Some("departure delay"));
        assert_eq!(spelt_out(&words("order qty")).as_deref(), Some("order quantity"));
        assert_eq!(spelt_out(&words("unit price")), None);
        assert!(same(&words("cust"), &words("customers")));
        assert!(same(&words("org"), &words("organizations")));
        assert!(same(&words("dept"), &words("departments")));
        assert!(!same(&words("product"), &words("producer")));
    }
}
