//! The words of names: what marks a key, the singular and plural, abbreviations spelt out, and when two mean the same.

use crate::engine::render::nouns::is_plural_elsewhere;

/// The last words of a name that identifies something.
const KEY_WORDS: &[&str] = &[
    "id", "ids", "key", "code", "ref", "num", "no", "nr", "fk", "number", "identifier", "uuid", "guid", "sk", "pk",
    "rowid",
];

/// The first words of such a name: "id cliente", "codigo cliente".
const FIRST_KEY_WORDS: &[&str] = &["id", "codigo", "cod", "clave", "pk", "fk", "sk"];

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

/// Whether the last word says that the name identifies something, and the words before it.
pub(super) fn key_stem(words: &[String]) -> Option<&[String]> {
    let (last, stem) = words.split_last()?;
    if KEY_WORDS.contains(&last.as_str()) {
        // "page ptr id", "study db id"
        return Some(match stem {
            [of @ .., mark] if !of.is_empty() && matches!(mark.as_str(), "ptr" | "db") => of,
            _ => stem,
        });
    }
    const KINDS: &[&str] = &["type", "card", "status", "proof", "document", "name", "postal"];
    let (first, rest) = words.split_first()?;
    let kind = rest.last().is_none_or(|last| KINDS.contains(&last.as_str()));
    (!kind && FIRST_KEY_WORDS.contains(&first.as_str())).then_some(rest)
}

/// What a column is called for: its words without what says that it is a key, where there are others.
pub(super) fn stem_of(words: &[String]) -> &[String] {
    key_stem(words).filter(|stem| !stem.is_empty()).unwrap_or(words)
}

/// Whether words end with a noun, in the singular or plural.
pub(super) fn ends_with(words: &[String], noun: &[String]) -> bool {
    !noun.is_empty() && last(words, noun.len()).is_some_and(|last| same(last, noun))
}

/// The words behind a noun, in the singular or plural, that others begin with.
pub(super) fn behind<'a>(words: &'a [String], noun: &[String]) -> Option<&'a [String]> {
    let (first, rest) = words.split_at_checked(noun.len())?;
    same(first, noun).then_some(rest)
}

/// The last so many words.
pub(super) fn last(words: &[String], count: usize) -> Option<&[String]> {
    words.get(words.len().checked_sub(count)?..)
}

/// The words that all names of a table's columns begin with, when that is no word of its own: `l_`, `ps_`, the table's
/// name or what is short for it, or of many columns any short form. How many words. A table of nothing but keys says so
/// of each: "id book", "id tag".
pub(super) fn common_prefix(table: &[String], columns: &[Vec<String>]) -> usize {
    let Some(first) = columns.first().and_then(|words| words.first()) else { return 0 };
    let shared =
        columns.len() > 1 && columns.iter().all(|words| matches!(words.as_slice(), [own, _, ..] if own == first));
    let initials: String = table.iter().filter_map(|word| word.chars().next()).collect();
    let named = table.last().is_some_and(|word| word == first || &singular(word) == first);
    let key = FIRST_KEY_WORDS.contains(&first.as_str());
    let short = first.len() <= 2 || columns.len() > 3 && (first.len() == 3 || !is_word(first));
    usize::from(shared && !key && (short || *first == initials || named || abbreviates(first, table)))
}

/// Whether letters can be said as a word: not "bli2", "tx" or "wrd".
pub(super) fn is_word(letters: &str) -> bool {
    let said = letters.chars().any(|c| "aeiouy".contains(c) || !c.is_ascii());
    letters.chars().count() > 2 && said && !letters.chars().any(|c| c.is_ascii_digit())
}

/// A noun in the singular, by its ending.
pub(super) fn singular(noun: &str) -> String {
    const SAME: &[&str] =
        &["series", "species", "news", "status", "address", "sales", "gas", "bus", "means", "data", "alias"];
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
    // "wikis" and "apis", and not "analysis"
    let of_i = noun.ends_with("kis") || noun.ends_with("pis");
    if noun.ends_with("ss") || noun.ends_with("us") || noun.ends_with("is") && !of_i {
        return noun.to_owned();
    }
    // "jugadores"
    if ["adores", "edores", "idores"].iter().any(|end| noun.ends_with(end)) {
        return noun.strip_suffix("es").unwrap_or(noun).to_owned();
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
    if SAME.contains(&noun) || is_plural_elsewhere(noun) {
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
/// departure beside anything else. People say "id", and in front of others "no" is a word of its own in many languages.
pub(super) fn spelt_out(words: &[String]) -> Option<String> {
    let kept = |at: usize, word: &str| {
        word == "id" || word == "no" && words.get(at + 1).is_some_and(|next| next.as_str() != "of")
    };
    let spelt = |(at, word): (usize, &String)| {
        let long = SHORT.iter().find(|(short, _)| *short == word.as_str() && !kept(at, word));
        long.map_or_else(|| word.clone(), |(_, long)| (*long).to_owned())
    };
    let spelt: Vec<String> = words.iter().enumerate().map(spelt).collect();
    (spelt != words).then(|| spelt.join(" "))
}

/// One word with its short form spelt out, in the singular.
pub(super) fn canonical(word: &str) -> String {
    let long = SHORT.iter().find(|(short, _)| *short == word).map_or(word, |(_, long)| long);
    singular(long)
}

/// Two texts of words, of which one is equal wherever [`same`] says that they mean the same.
pub(super) fn forms(words: &[String]) -> [String; 2] {
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

/// Whether two words differ in their endings alone, as one and several do in many languages: "klient" and "klienci",
/// "kategoria" and "kategorie". What makes other words of one, as "-er" does, is no such ending.
pub(super) fn inflected(one: &str, other: &str) -> bool {
    const ENDINGS: &str = "aeiouycmnstwz";
    let shared = one.chars().zip(other.chars()).take_while(|(a, b)| a == b).count();
    let rest = |word: &str| word.chars().skip(shared).collect::<String>();
    let ends = |rest: &str| rest.chars().count() <= 2 && rest.chars().all(|c| ENDINGS.contains(c));
    one != other && shared >= 4 && ends(&rest(one)) && ends(&rest(other))
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

/// Words without the digits that tell several of a kind apart, which may stand before what says that it is a key: "sea 1"
/// and "sea2" are a "sea", and "loser2 id" is a "loser id".
pub(super) fn without_number(words: &[String]) -> Vec<String> {
    let mut words = words.to_vec();
    let key = words.len() > 1 && words.last().is_some_and(|last| KEY_WORDS.contains(&last.as_str()));
    let at = words.len().saturating_sub(if key { 2 } else { 1 });
    if let Some(word) = words.get_mut(at) {
        *word = word.trim_end_matches(|c: char| c.is_ascii_digit()).to_owned();
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
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
            ("wiki", "wikis"),
        ] {
            assert_eq!(plural(one), many);
            assert_eq!(singular(many), one);
        }
        for same in ["series", "status", "sales", "analysis", "address"] {
            assert_eq!(singular(same), same);
        }
        assert_eq!(plural("bestellungen"), "bestellungen");
    }

    #[test]
    fn prefixes_of_all_columns_are_found() {
        let prefix = |table: &str, columns: &[&str]| {
            common_prefix(&words(table), &columns.iter().map(|name| words(name)).collect::<Vec<_>>())
        };
        assert_eq!(prefix("lineitem", &["l order key", "l tax"]), 1);
        assert_eq!(prefix("part supply", &["ps part key", "ps cost"]), 1);
        assert_eq!(prefix("customers", &["customer id", "customer name"]), 1);
        assert_eq!(prefix("projects", &["proj no", "proj name"]), 1);
        assert_eq!(prefix("customers", &["customer id", "name"]), 0);
        assert_eq!(prefix("flights", &["scheduled arrival", "scheduled departure"]), 0);
        assert_eq!(prefix("flights", &["l tax"]), 0);
        assert_eq!(prefix("bill items", &["bli id", "bli bill", "bli price", "bli created date"]), 1);
        assert_eq!(prefix("bill items", &["bli id", "bli price"]), 0);
        assert_eq!(prefix("squads", &["player id", "player name", "player age", "player team"]), 0);
    }

    #[test]
    fn endings_alone_make_no_other_word() {
        for (one, many) in [("kategoria", "kategorie"), ("klient", "klienci"), ("produkt", "produkty")] {
            assert!(inflected(one, many) && inflected(many, one), "{one} {many}");
        }
        for (one, other) in [("product", "producer"), ("customer", "customs"), ("cat", "cats")] {
            assert!(!inflected(one, other), "{one} {other}");
        }
    }

    #[test]
    fn short_forms_are_spelt_out() {
        assert_eq!(spelt_out(&words("dep delay")).as_deref(), Some("departure delay"));
        assert_eq!(spelt_out(&words("order qty")).as_deref(), Some("order quantity"));
        assert_eq!(spelt_out(&words("unit price")), None);
        assert_eq!(spelt_out(&words("order no")).as_deref(), Some("order number"));
        assert_eq!(spelt_out(&words("no of rooms")).as_deref(), Some("number of rooms"));
        assert_eq!(spelt_out(&words("chutes no alvo")), None, "\"in the\" in another language");
        assert_eq!(spelt_out(&words("customer id")), None);
        assert_eq!(spelt_out(&words("cust id")).as_deref(), Some("customer id"));
        assert!(same(&words("cust"), &words("customers")));
        assert!(same(&words("org"), &words("organizations")));
        assert!(same(&words("dept"), &words("departments")));
        assert!(!same(&words("product"), &words("producer")));
    }
}
