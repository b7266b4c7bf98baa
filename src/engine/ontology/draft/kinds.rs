//! What a column's name says of its values.

use crate::engine::ontology::draft::names;

/// Of numbers that only name something.
const NAMING: &[&str] = &[
    "year", "quarter", "month", "week", "day", "hour", "minute", "weekday", "zip", "postcode", "phone", "code",
    "number", "no", "num", "nr", "id", "key", "tz", "version", "rank", "level", "class", "priority", "position",
    "sequence", "sequential", "seq", "line", "lap", "round", "stop", "slot", "semester", "trimester", "order",
    "extension", "date", "datum", "fecha", "type", "flag", "status", "group", "floor", "ordinal", "index", "decade",
    "grade", "ord", "rang", "rango", "sort", "pos", "plz", "siren", "siret", "upc", "ean", "isbn", "room", "raum",
    "zimmer", "linea", "ligne", "zeile", "half", "period", "offset", "start", "end", "strand", "phase", "difficulty",
    "numero", "nummer", "numer", "matricola", "method", "flags", "center", "centre",
];

/// Of places on the earth and of directions: no sum or mean of them says anything.
const PLACES: &[&str] =
    &["lat", "lon", "lng", "latitude", "longitude", "dir", "direction", "angle", "bearing", "heading", "azimuth"];

/// Of texts that are read, not looked up.
const PROSE: &[&str] = &[
    "description", "desc", "descripcion", "descricao", "descrizione", "beschreibung", "comment", "comentario",
    "comentarios", "commentaire", "commentaires", "kommentar", "bemerkung", "bemerkungen", "observacion",
    "observaciones", "texto", "texte", "comments", "note", "notes", "text", "body", "message", "summary", "content",
    "url", "link", "path", "picture", "image", "photo", "file", "password", "hash", "token", "fulltext", "bio",
    "abstract", "remarks", "html", "json", "xml",
];

/// Of texts with a closed set of values.
const CLOSED: &[&str] = &[
    "status", "state", "type", "kind", "category", "class", "level", "mode", "flag", "priority", "segment", "rating",
    "region", "tier", "channel", "currency", "language", "gender", "sex", "method", "group", "stage", "grade", "genre",
];

/// Of times that are not when a row happened.
const OTHER_TIMES: &[&str] = &[
    "birth", "update", "updated", "modified", "change", "changed", "expiry", "expiration", "expires", "end", "ended",
    "closed", "close", "due", "commit", "committed", "receipt", "received", "return", "returned", "deleted", "valid",
    "until", "to", "delivery", "delivered", "shipped", "ship", "shipping", "shipment", "planned", "expected",
    "required", "next",
];

pub(super) fn any(words: &[String], list: &[&str]) -> bool {
    words.iter().any(|word| list.contains(&word.as_str()))
}

pub(super) fn last_is(words: &[String], list: &[&str]) -> bool {
    words.last().is_some_and(|word| list.contains(&word.as_str()))
}

/// Whether it says when or by whom a row was written, not what the row is about.
pub(super) fn is_audit(words: &[String]) -> bool {
    let text = words.join(" ");
    const AUDIT: &[&str] = &[
        "last update", "last updated", "last modified", "last change", "last changed", "changed at", "changed on",
        "changed by", "updated at", "updated on", "updated by", "update date", "update time", "modified at",
        "modified on", "modified by", "modified date", "created by", "inserted at", "load date", "loaded at",
        "row version", "etl date", "deleted at", "sync time", "synced at", "tms", "last mod", "last edited",
        "last edit", "lastmod", "lastmodified", "lastupdate", "lastupdated",
    ];
    AUDIT.iter().any(|name| text == *name || text.starts_with(&format!("{name} ")))
}

pub(super) fn is_place(words: &[String]) -> bool {
    any(words, PLACES) || matches!(words, [only] if matches!(only.as_str(), "long" | "x" | "y" | "z"))
}

/// Whether rows are goods on their way or as they are gathered, whose weights are added up.
pub(super) fn is_moved(nouns: &[String]) -> bool {
    const MOVED: &[&str] = &[
        "shipment", "delivery", "consignment", "freight", "load", "parcel", "cargo", "transport", "harvest", "catch",
        "haul", "pickup",
    ];
    nouns.last().is_some_and(|last| MOVED.contains(&names::singular(last).as_str()))
}

/// Whether it is a part of something that is not there: a mean of such numbers is no such part of the whole.
pub(super) fn is_ratio(words: &[String]) -> bool {
    last_is(words, &["ratio", "share"])
}

/// Whether it is called as several are: "goals", "penalties against".
pub(super) fn is_many(words: &[String]) -> bool {
    words.iter().any(|word| names::singular(word) != *word)
}

/// "Number of orders" and "numero soci", not "number".
pub(super) fn starts_as_count(words: &[String]) -> bool {
    const COUNTS: &[&str] = &["num", "no", "number", "count", "anzahl", "aantal"];
    let [first, .., last] = words else { return false };
    // The "numero factura" of one is its name.
    let many = || names::singular(last) != *last || last.ends_with('i');
    COUNTS.contains(&first.as_str()) || first == "numero" && many()
}

/// Whether a number only names something.
pub(super) fn is_naming(words: &[String]) -> bool {
    // "Number of orders" and "order count" are amounts, "order number" is a name.
    let counts = starts_as_count(words) && (!last_is(words, NAMING) || last_is(words, &["flags"]));
    // "Distance to center", not "cost center"
    let far = any(words, &["distance", "dist"]) && last_is(words, &["center", "centre"]);
    let run_together = |word: &String| {
        let id = word.ends_with("id") && !word.ends_with("paid") && !word.ends_with("bid");
        let number = ["number", "code", "nummer", "order"].iter().any(|end| word.ends_with(end));
        // "spcd" and "owncd1" are codes.
        let short =
            |ends: &[&str]| ends.iter().any(|end| word.trim_end_matches(|c: char| c.is_ascii_digit()).ends_with(end));
        word.len() > 6 && (number || id) || word.len() > 4 && short(&["num", "seq"]) || word.len() > 3 && short(&["cd"])
    };
    let first =
        words.len() > 1 && words.first().is_some_and(|first| matches!(first.as_str(), "codigo" | "code" | "cod"));
    // "month of birth", "created by"
    let part = !counts && matches!(words, [first, of, _, ..] if of == "of" && NAMING.contains(&first.as_str()));
    last_is(words, NAMING) && !counts && !far
        || part
        || matches!(words, [_, last] if last == "by")
        || any(words, &["zip", "postcode", "phone", "minute"])
        || words.last().is_some_and(run_together)
        || first
}

/// Whether a number is kept as one, and is none of something: the "value as number".
pub(super) fn is_number(words: &[String]) -> bool {
    matches!(words, [.., before, last] if matches!(before.as_str(), "as" | "value") && matches!(last.as_str(), "number" | "num"))
}

pub(super) fn is_prose(words: &[String]) -> bool {
    last_is(words, PROSE)
}

pub(super) fn is_closed(words: &[String]) -> bool {
    last_is(words, CLOSED)
}

/// Whether it says when, also where it is counted in days from something: the "date of registration", -20.
pub(super) fn is_moment(words: &[String]) -> bool {
    matches!(words, [first, ..] if first == "date") || last_is(words, &["date"])
}

/// Whether a time is not when the row happened.
pub(super) fn is_other_time(words: &[String]) -> bool {
    is_audit(words) || any(words, OTHER_TIMES)
}

/// Whether a word says that something was done or has happened: "resolved", "left".
pub(super) fn is_done(word: &str) -> bool {
    const IRREGULAR: &[&str] = &[
        "begun", "bought", "broken", "built", "done", "found", "given", "held", "left", "lost", "made", "paid", "read",
        "seen", "sent", "sold", "spent", "stolen", "taken", "won", "written",
    ];
    // "feed", "bed"
    IRREGULAR.contains(&word) || word.len() > 4 && word.ends_with("ed") && (!word.ends_with("eed") || word == "agreed")
}

/// Whether a word says what shall happen: "planned", "promised".
pub(super) fn is_planned(word: &str) -> bool {
    const PLANNED: &[&str] =
        &["estimated", "expected", "planned", "projected", "promised", "proposed", "required", "scheduled"];
    PLANNED.contains(&word)
}

pub(super) fn is_money(words: &[String]) -> bool {
    const MONEY: &[&str] = &[
        "amount", "amt", "price", "revenue", "sales", "fee", "payment", "charge", "premium", "total", "paid", "value",
    ];
    any(words, MONEY)
}

/// Whether it is an amount of money, also one that is no sale.
pub(super) fn is_paid(words: &[String]) -> bool {
    const PAID: &[&str] =
        &["cost", "costs", "salary", "wage", "budget", "balance", "profit", "subtotal", "income", "expense"];
    // "total quantity", "payment installments"
    const COUNTED: &[&str] = &["quantity", "qty", "count", "cnt", "items", "units", "weight", "installments", "points"];
    (is_money(words) || any(words, PAID)) && !any(words, COUNTED) && !starts_as_count(words)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ontology::in_words;

    fn told(is: fn(&[String]) -> bool, name: &str) -> bool {
        let words: Vec<String> = in_words(name).split(' ').map(str::to_owned).collect();
        is(&words)
    }

    #[test]
    fn money_is_no_quantity() {
        for (name, expected) in [
            ("total", true),
            ("unit_price", true),
            ("payment_value", true),
            ("total_quantity", false),
            ("total_items", false),
            ("payment_installments", false),
            ("number_of_sales", false),
        ] {
            assert_eq!(told(is_paid, name), expected, "{name}");
        }
    }

    #[test]
    fn counts_are_of_many() {
        for (name, expected) in [
            ("number_of_orders", true),
            ("numero_soci", true),
            ("numero_de_clientes", true),
            ("numero_factura", false),
            ("numero_documento", false),
            ("numero", false),
        ] {
            assert_eq!(told(starts_as_count, name), expected, "{name}");
        }
    }

    #[test]
    fn numbers_name_something_by_their_last_word() {
        for (name, expected) in [
            ("cost_center", true),
            ("distance_to_center", false),
            ("flags", true),
            ("number_of_flags", false),
            ("order_number", true),
            ("number_of_orders", false),
        ] {
            assert_eq!(told(is_naming, name), expected, "{name}");
        }
    }
}
