//! What a column's name says of its values.

use crate::engine::ontology::draft::names;
use crate::engine::ontology::draft::words::PEOPLE;
use crate::model::ontology::Aggregation;

/// Of numbers that only name something.
const NAMING: &[&str] = &[
    "year",
    "quarter",
    "month",
    "week",
    "day",
    "hour",
    "minute",
    "weekday",
    "zip",
    "postcode",
    "phone",
    "code",
    "number",
    "no",
    "num",
    "nr",
    "id",
    "key",
    "tz",
    "version",
    "rank",
    "level",
    "class",
    "priority",
    "position",
    "sequence",
    "sequential",
    "seq",
    "line",
    "lap",
    "round",
    "stop",
    "slot",
    "semester",
    "trimester",
    "order",
    "extension",
    "date",
    "datum",
    "fecha",
    "type",
    "flag",
    "status",
    "group",
    "floor",
    "ordinal",
    "index",
    "decade",
    "grade",
    "ord",
    "rang",
    "rango",
    "sort",
    "pos",
    "plz",
    "siren",
    "siret",
    "upc",
    "ean",
    "isbn",
    "room",
    "raum",
    "zimmer",
    "linea",
    "ligne",
    "zeile",
    "half",
    "period",
    "offset",
    "start",
    "end",
    "strand",
    "phase",
    "difficulty",
];

/// Of places on the earth and of directions: no sum or mean of them says anything.
const PLACES: &[&str] =
    &["lat", "lon", "lng", "latitude", "longitude", "dir", "direction", "angle", "bearing", "heading", "azimuth"];

/// Of numbers that are averaged: what one thing has, or what it has per something.
const AVERAGED: &[&str] = &[
    "price",
    "rate",
    "percent",
    "pct",
    "percentage",
    "ratio",
    "avg",
    "average",
    "mean",
    "median",
    "temperature",
    "temp",
    "age",
    "duration",
    "delay",
    "score",
    "rating",
    "speed",
    "humidity",
    "pressure",
    "visibility",
    "wind",
    "length",
    "height",
    "width",
    "depth",
    "weight",
    "size",
    "altitude",
    "alt",
    "distance",
    "time",
    "minutes",
    "seconds",
    "hours",
    "days",
    "milliseconds",
    "salary",
    "wage",
    "density",
    "margin",
    "share",
    "discount",
    "tax",
    "latency",
    "interval",
    "index",
    "elevation",
    "area",
    "gdp",
    "capacity",
    "limit",
    "stars",
    "seats",
];

/// Of numbers that are added up.
const SUMMED: &[&str] = &[
    "amount",
    "amt",
    "total",
    "quantity",
    "qty",
    "revenue",
    "sales",
    "count",
    "cnt",
    "fee",
    "fees",
    "payment",
    "paid",
    "charge",
    "charges",
    "premium",
    "profit",
    "income",
    "spend",
    "spent",
    "budget",
    "extended",
    "gross",
    "net",
    "bytes",
    "units",
    "points",
    "volume",
    "population",
    "votes",
    "views",
    "clicks",
    "impressions",
    "visits",
    "balance",
    "bal",
    "stock",
    "precipitation",
    "rainfall",
    "expense",
    "expenses",
    "loss",
    "value",
    "sum",
];

/// Of numbers that are a state at a time, and not added up over it.
const STOCKS: &[&str] = &["balance", "bal", "stock", "inventory", "headcount", "population", "avail", "available"];

/// Of texts that are read, not looked up.
const PROSE: &[&str] = &[
    "description",
    "desc",
    "descripcion",
    "descricao",
    "descrizione",
    "beschreibung",
    "comment",
    "comentario",
    "comentarios",
    "commentaire",
    "commentaires",
    "kommentar",
    "bemerkung",
    "bemerkungen",
    "observacion",
    "observaciones",
    "texto",
    "texte",
    "comments",
    "note",
    "notes",
    "text",
    "body",
    "message",
    "summary",
    "content",
    "url",
    "link",
    "path",
    "picture",
    "image",
    "photo",
    "file",
    "password",
    "hash",
    "token",
    "fulltext",
    "bio",
    "abstract",
    "remarks",
    "html",
    "json",
    "xml",
];

/// Of texts with a closed set of values.
const CLOSED: &[&str] = &[
    "status", "state", "type", "kind", "category", "class", "level", "mode", "flag", "priority", "segment", "rating",
    "region", "tier", "channel", "currency", "language", "gender", "sex", "method", "group", "stage", "grade", "genre",
];

/// Of times that are not when a row happened.
const OTHER_TIMES: &[&str] = &[
    "birth",
    "update",
    "updated",
    "modified",
    "change",
    "changed",
    "expiry",
    "expiration",
    "expires",
    "end",
    "ended",
    "closed",
    "close",
    "due",
    "commit",
    "committed",
    "receipt",
    "received",
    "return",
    "returned",
    "deleted",
    "valid",
    "until",
    "to",
    "delivery",
    "delivered",
    "shipped",
    "ship",
    "shipping",
    "shipment",
    "planned",
    "expected",
    "required",
    "next",
];

fn any(words: &[String], list: &[&str]) -> bool {
    words.iter().any(|word| list.contains(&word.as_str()))
}

fn last_is(words: &[String], list: &[&str]) -> bool {
    words.last().is_some_and(|word| list.contains(&word.as_str()))
}

/// Whether it says when or by whom a row was written, not what the row is about.
pub(super) fn is_audit(words: &[String]) -> bool {
    let text = words.join(" ");
    const AUDIT: &[&str] = &[
        "last update",
        "last updated",
        "last modified",
        "last change",
        "updated at",
        "updated on",
        "updated by",
        "update date",
        "update time",
        "modified at",
        "modified on",
        "modified by",
        "modified date",
        "created by",
        "inserted at",
        "load date",
        "loaded at",
        "row version",
        "etl date",
        "deleted at",
        "sync time",
        "synced at",
        "tms",
        "last mod",
        "last edited",
        "last edit",
        "lastmod",
        "lastmodified",
        "lastupdate",
        "lastupdated",
    ];
    AUDIT.iter().any(|name| text == *name || text.starts_with(&format!("{name} ")))
}

pub(super) fn is_place(words: &[String]) -> bool {
    any(words, PLACES) || matches!(words, [only] if matches!(only.as_str(), "long" | "x" | "y" | "z"))
}

/// Whether rows are goods on their way, whose weights are added up.
pub(super) fn is_moved(nouns: &[String]) -> bool {
    const MOVED: &[&str] = &["shipment", "delivery", "consignment", "freight", "load", "parcel", "cargo", "transport"];
    nouns.last().is_some_and(|last| MOVED.contains(&names::singular(last).as_str()))
}

/// Whether it is a part of something that is not there: a mean of such numbers is no such part of the whole.
pub(super) fn is_ratio(words: &[String]) -> bool {
    last_is(words, &["ratio", "share"])
}

/// Whether a whole number stands for one of a set, or for a person: "gender", "script", "added by user".
pub(super) fn is_coded(words: &[String]) -> bool {
    const CODED: &[&str] = &["format", "script", "country", "nationality", "quality"];
    let person = |word: &String| PEOPLE.contains(&names::singular(word).as_str()) && names::singular(word) == *word;
    // "Region" is one of a set, and a "rating" is none.
    (last_is(words, CLOSED) || last_is(words, CODED)) && !is_amount(words) || words.last().is_some_and(person)
}

/// Whether it is an amount or a quantity, whatever table it is in.
pub(super) fn is_amount(words: &[String]) -> bool {
    any(words, SUMMED) || any(words, AVERAGED)
}

/// Whether it is called as several are: "goals", "penalties against".
pub(super) fn is_many(words: &[String]) -> bool {
    words.iter().any(|word| names::singular(word) != *word)
}

/// "Number of orders", not "number".
pub(super) fn starts_as_count(words: &[String]) -> bool {
    matches!(words, [first, _, ..] if matches!(first.as_str(), "num" | "no" | "number" | "count"))
}

/// Whether a number only names something.
pub(super) fn is_naming(words: &[String]) -> bool {
    // "Number of orders" and "order count" are amounts, "order number" is a name.
    let counts = starts_as_count(words) && !last_is(words, NAMING);
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
    let part = matches!(words, [first, of, _, ..] if of == "of" && NAMING.contains(&first.as_str()));
    last_is(words, NAMING) && !counts
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

pub(super) fn is_stock(words: &[String]) -> bool {
    any(words, STOCKS)
}

/// Whether it says when, also where it is counted in days from something: the "date of registration", -20.
pub(super) fn is_moment(words: &[String]) -> bool {
    matches!(words, [first, ..] if first == "date") || last_is(words, &["date"])
}

/// Whether a time is not when the row happened.
pub(super) fn is_other_time(words: &[String]) -> bool {
    is_audit(words) || any(words, OTHER_TIMES)
}

pub(super) fn is_money(words: &[String]) -> bool {
    const MONEY: &[&str] = &[
        "amount", "amt", "price", "revenue", "sales", "fee", "payment", "charge", "premium", "total", "paid", "value",
    ];
    any(words, MONEY)
}

/// How values come together when nobody says. What says that it is a whole is added up, even of prices: "total price",
/// "extended price".
///
/// What has neither kind of word is averaged where things are only described (`described`) and where it is a
/// measurement by its type (`floating`), and added up otherwise.
pub(super) fn aggregation(words: &[String], described: bool, floating: bool) -> Aggregation {
    const PER_UNIT: &[&str] = &[
        "unit",
        "unidad",
        "per",
        "rate",
        "average",
        "avg",
        "mean",
        "pct",
        "percent",
        "percentage",
        "ratio",
        "min",
        "minimum",
        "max",
        "maximum",
        "growth",
        "factor",
        "reorder",
        "threshold",
        "target",
        "reputation",
        "installments",
    ];
    // "Unit sales" are sales in units.
    let per_unit = any(words, PER_UNIT) && !last_is(words, &["sales", "sold"]);
    // How heavy one is does not become a whole by being "net".
    let heavy = any(words, &["weight"]) && any(words, &["gross", "net"]);
    // "goals" and "wins" are counted, also of what is only described.
    let counted = !floating && !any(words, AVERAGED) && words.last().is_some_and(|last| names::singular(last) != *last);
    let whole = (any(words, SUMMED) || counted) && !heavy || starts_as_count(words);
    // Minutes and miles are measured on each thing; bytes and money are added up.
    let measured = unit(words, "").is_some_and(|unit| unit != "bytes" && unit.len() != 3);
    let averaged = per_unit
        || measured && !any(words, &["total", "sum"])
        || !whole && (described || floating || any(words, AVERAGED));
    if averaged { Aggregation::Avg } else { Aggregation::Sum }
}

/// The unit that the name or the description gives.
pub(super) fn unit(words: &[String], description: &str) -> Option<String> {
    const UNITS: &[(&[&str], &str)] = &[
        (&["pct", "percent", "percentage"], "%"),
        (&["usd", "dollars"], "USD"),
        (&["eur", "euros"], "EUR"),
        (&["gbp"], "GBP"),
        (&["milliseconds", "ms", "millis", "msec"], "milliseconds"),
        (&["seconds", "secs", "sec"], "seconds"),
        (&["minutes", "mins"], "minutes"),
        (&["hours", "hrs", "hr"], "hours"),
        (&["days"], "days"),
        (&["months"], "months"),
        (&["years", "yrs"], "years"),
        (&["miles"], "miles"),
        (&["km", "kilometers", "kilometres"], "kilometers"),
        (&["meters", "metres"], "meters"),
        (&["feet", "ft"], "feet"),
        (&["kg", "kilograms"], "kilograms"),
        (&["lbs", "pounds"], "pounds"),
        (&["bytes"], "bytes"),
        (&["mph"], "mph"),
    ];
    if let Some((_, unit)) = UNITS.iter().find(|(names, _)| any(words, names)) {
        return Some((*unit).to_owned());
    }
    // "Departure delay, in minutes", "Distance (miles)"
    let text = description.to_lowercase();
    let said = |name: &str| [format!("in {name}"), format!("({name})")].iter().any(|phrase| text.contains(phrase));
    UNITS
        .iter()
        .find(|(names, _)| names.iter().any(|name| name.len() > 2 && said(name)))
        .map(|(_, unit)| (*unit).to_owned())
}
