//! The closed classes of English that questions are made of. Nothing here is about any data.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use crate::model::ontology::Aggregation;
use crate::model::plan::Comparator;

/// Words that carry nothing of their own: politeness, articles, auxiliaries. They may stand anywhere.
const FILLERS: &str = "\
    instead too \
    please kindly can could would will you me i id im want wanted like need know see the a an our we us my your all \
    do does did is are was were be been being there so hi hello hey thanks thank ok okay well then of that which \
    what whats and to for in on at it its their them they this these those have has had got as about just also let \
    lets dear kind help wondering curious if s one ones he she his her who whom whose where some here now should \
    might exactly actually really quickly overall altogether together respective respectively corresponding \
    individual own recorded only still yet existing available data records record rows entries database system \
    information info details table dataset full entire whole complete along given from pls plz thx cheers ever \
    whatsoever";

/// Verbs of questions that ask to be shown something.
const SHOW: &str = "\
    show list display give return get find tell name print fetch provide retrieve report see view identify select \
    pull enumerate compute calculate determine count";

/// Verbs that say no more than that two things belong together.
const RELATION: &str = "\
    have has had having own owns owned make makes made place places placed placing get gets got receive received \
    receives buy buys bought purchase purchased purchases sell sold sells order ordered orders file filed files \
    issue issued issues use uses used operate operated operates operating fly flew flies flown flying run runs ran \
    serve served serves rent rented rents borrow borrowed handle handled handles process processed support supports \
    supported represent represents play played plays appear appeared appears contain contains contained containing \
    include includes included including belong belongs belonging associated related linked connected attached \
    correspond corresponds live lives living located based reside come comes came go goes went going work works \
    worked working exist exists existed occur occurred occurs happen happened happens take took taken taking \
    recorded registered listed assigned written wrote created produced offered offer offers supply supplies supplied \
    supplying star stars starred starring featuring feature features featured starting involved involving involve \
    contribute contributed contributes generate generated generates bring brings earn earns earned brought perform \
    performed manage managed manages hold held holds depart departed departs departing arrive arrived arrives \
    arriving leave left leaving land landed landing saw give gives gave given grant grants granted write writes hand handed hands housed resident";

/// Verbs of being somewhere, which say nothing before what says where.
const POSTURE: &str = "sit sits sat sitting lie lies lay lying stand stands stood standing situated";

/// Verbs that ask for something to be changed, sent or written.
const COMMANDS: &str = "\
    delete remove drop update insert truncate alter create send email mail change set add rename edit modify overwrite \
    erase refund book buy notify call grant ignore forget pretend write translate draw execute";

type Words = OnceLock<BTreeSet<&'static str>>;

fn among(set: &Words, list: &'static str, word: &str) -> bool {
    set.get_or_init(|| list.split_whitespace().collect()).contains(word)
}

pub(super) fn is_filler(word: &str) -> bool {
    static SET: Words = OnceLock::new();
    among(&SET, FILLERS, word)
}

pub(super) fn is_relation(word: &str) -> bool {
    static SET: Words = OnceLock::new();
    among(&SET, RELATION, word)
}

/// Whether a verb says where something is, and nothing else.
pub(super) fn is_posture(word: &str) -> bool {
    static SET: Words = OnceLock::new();
    among(&SET, POSTURE, word)
}

pub(super) fn is_command(word: &str) -> bool {
    static SET: Words = OnceLock::new();
    among(&SET, COMMANDS, word)
}

pub(super) fn is_show(word: &str) -> bool {
    static SET: Words = OnceLock::new();
    among(&SET, SHOW, word)
}

/// Words of the grammar below, and ordinary English words: none of them is ever a misspelt name.
const ORDINARY: &str = "\
    by per in on of to for from with at or and as any each but no how many much may only what which if out up off \
    via nor ever yet still compare across than more less fewer over under above below between least most equal \
    equals greater higher lower larger smaller longer shorter bigger not never without except excluding other both \
    either neither none total average mean median maximum minimum highest lowest largest smallest longest shortest \
    best worst number count distinct different unique share percent percentage ratio proportion fraction sort sorted \
    ordered order rank ranked ranking group grouped broken down split daily weekly monthly quarterly yearly annual \
    annually hourly compared comparison versus growth change changed trend during since until before after within \
    last past previous next current year month week day quarter hour today yesterday tomorrow when where why who \
    whom whose because even already always often usually first second third time times same such very into onto upon \
    them themselves every long short large small high good great nice cost costs weather delete update insert send \
    email make think feel believe drop predict forecast expected expect happen happening happened better worse love \
    hate favorite favourite joke story poem write explain reason reasons cause caused president capital world news \
    stock stocks price people person thing things anything something everything nothing everyone someone anyone \
    nobody latest newest oldest recent earliest combined separately alphabetical alphabetically ascending descending \
    cumulative running moving rolling difference minus plus divided multiplied sum starting ending containing named \
    called like missing empty blank known unknown busiest popular cheapest expensive youngest fastest slowest \
    heaviest lightest farthest furthest nearest closest peak peaked strongest weakest late early hello could would should about against among around through toward while have that \
    this these those there their they then thus will were been being does done your mine ours some also just instead \
    again please tell show list \
    band bands bucket buckets interval intervals bin bins increment increments bracket brackets decade decades \
    rise rises grow grew increase increased decrease decreased decline declined";

/// Whether a word is one of the grammar or of everyday language.
pub(super) fn is_ordinary(word: &str) -> bool {
    static SET: Words = OnceLock::new();
    is_filler(word) || is_show(word) || is_relation(word) || among(&SET, ORDINARY, word)
}

/// Words before a noun that ask for an aggregate of it.
pub(super) fn aggregate(word: &str) -> Option<Aggregation> {
    Some(match word {
        "total" | "sum" | "summed" => Aggregation::Sum,
        "average" | "avg" | "mean" | "averaged" => Aggregation::Avg,
        "median" => Aggregation::Median,
        "maximum" | "max" => Aggregation::Max,
        "minimum" | "min" => Aggregation::Min,
        _ => return None,
    })
}

/// Superlatives: whether the most of it is meant, and which nouns they speak of (none: any).
pub(super) fn superlative(word: &str) -> Option<(bool, &'static [&'static str])> {
    const LENGTH: &[&str] = &["length", "duration", "distance", "time", "long", "run time", "minutes"];
    const DISTANCE: &[&str] = &["distance", "miles", "kilometers", "kilometres", "km"];
    const PRICE: &[&str] = &["price", "cost", "rate", "amount", "fee", "fare", "charge", "total"];
    const TIME: &[&str] = &["@time"];
    const SIZE: &[&str] = &[
        "size", "area", "population", "capacity", "amount", "total", "quantity", "volume", "seats", "length", "bytes",
    ];
    const SPEED: &[&str] = &["speed", "velocity"];
    const WEIGHT: &[&str] = &["weight", "mass"];
    const HEIGHT: &[&str] = &["height", "altitude", "elevation"];
    const AGE: &[&str] = &["@age"];
    Some(match word {
        "highest" | "greatest" | "most" | "top" | "maximum" | "max" | "peak" | "peaked" | "strongest" => (true, &[]),
        "lowest" | "least" | "fewest" | "bottom" | "minimum" | "min" | "weakest" => (false, &[]),
        "largest" | "biggest" => (true, SIZE),
        "smallest" => (false, SIZE),
        "longest" => (true, LENGTH),
        "shortest" => (false, LENGTH),
        "cheapest" => (false, PRICE),
        "costliest" | "priciest" | "dearest" => (true, PRICE),
        "newest" | "latest" => (true, TIME),
        "earliest" => (false, TIME),
        "farthest" | "furthest" => (true, DISTANCE),
        "nearest" | "closest" => (false, DISTANCE),
        "fastest" => (true, SPEED),
        "slowest" => (false, SPEED),
        "heaviest" => (true, WEIGHT),
        "lightest" => (false, WEIGHT),
        "tallest" => (true, HEIGHT),
        "oldest" | "eldest" => (false, AGE),
        "youngest" => (true, AGE),
        "best" => (true, &["@quality"]),
        "worst" => (false, &["@quality"]),
        "busiest" => (true, &["@count"]),
        _ => return None,
    })
}

/// The adjectives that a superlative in "-est" may be of: "windy" for "windiest", "hot" for "hottest".
pub(super) fn positives(word: &str) -> Vec<String> {
    let Some(stem) = word.strip_suffix("est").filter(|stem| stem.len() > 2) else { return Vec::new() };
    let mut positives = vec![stem.to_owned(), format!("{stem}e")];
    if let Some(stem) = stem.strip_suffix('i') {
        // "rainiest" is what there is most rain of.
        positives.extend([format!("{stem}y"), stem.to_owned()]);
    }
    let last = stem.chars().next_back();
    if let Some(once) = last.and_then(|last| stem.strip_suffix(last)).filter(|once| once.chars().next_back() == last) {
        positives.push(once.to_owned());
    }
    positives
}

/// Whether the most of an adjective is the least of its number: the coldest has the lowest temperature.
pub(super) fn is_little(adjective: &str) -> bool {
    matches!(
        adjective,
        "cold"
            | "cool"
            | "low"
            | "short"
            | "small"
            | "little"
            | "few"
            | "cheap"
            | "light"
            | "slow"
            | "near"
            | "close"
            | "shallow"
            | "thin"
            | "narrow"
            | "weak"
            | "poor"
            | "dry"
            | "quiet"
            | "calm"
            | "young"
            | "rare"
    )
}

/// Comparatives with the nouns they speak of.
pub(super) fn comparative(word: &str) -> Option<(Comparator, &'static [&'static str])> {
    Some(match word {
        "longer" => (Comparator::Greater, &["length", "duration", "distance", "time", "minutes"]),
        "shorter" => (Comparator::Less, &["length", "duration", "distance", "time", "minutes"]),
        "larger" | "bigger" => (Comparator::Greater, &["size", "area", "population", "amount", "total", "quantity"]),
        "smaller" => (Comparator::Less, &["size", "area", "population", "amount", "total", "quantity"]),
        "heavier" => (Comparator::Greater, &["weight", "mass"]),
        "lighter" => (Comparator::Less, &["weight", "mass"]),
        "faster" => (Comparator::Greater, &["speed", "velocity"]),
        "slower" => (Comparator::Less, &["speed", "velocity"]),
        "cheaper" => (Comparator::Less, &["price", "cost", "rate", "amount", "fee", "fare"]),
        "taller" => (Comparator::Greater, &["height", "altitude", "elevation"]),
        _ => return None,
    })
}

/// What a unit measures, and how many of the kind's first unit it is.
pub(super) fn unit(name: &str) -> Option<(&'static str, f64)> {
    Some(match name.trim_end_matches('.').to_lowercase().as_str() {
        "second" | "seconds" | "sec" | "secs" | "s" => ("time", 1.0),
        "millisecond" | "milliseconds" | "ms" => ("time", 0.001),
        "minute" | "minutes" | "min" | "mins" => ("time", 60.0),
        "hour" | "hours" | "hr" | "hrs" | "h" => ("time", 3_600.0),
        "day" | "days" => ("time", 86_400.0),
        "week" | "weeks" => ("time", 604_800.0),
        "meter" | "meters" | "metre" | "metres" | "m" => ("length", 1.0),
        "kilometer" | "kilometers" | "kilometre" | "kilometres" | "km" => ("length", 1_000.0),
        "mile" | "miles" | "mi" => ("length", 1_609.344),
        "foot" | "feet" | "ft" => ("length", 0.3048),
        "inch" | "inches" | "in" => ("length", 0.0254),
        "centimeter" | "centimeters" | "cm" => ("length", 0.01),
        "gram" | "grams" | "g" => ("weight", 1.0),
        "kilogram" | "kilograms" | "kg" => ("weight", 1_000.0),
        "pound" | "pounds" | "lb" | "lbs" => ("weight", 453.592_37),
        "ounce" | "ounces" | "oz" => ("weight", 28.349_523_125),
        "byte" | "bytes" | "b" => ("bytes", 1.0),
        "kilobyte" | "kilobytes" | "kb" => ("bytes", 1_000.0),
        "megabyte" | "megabytes" | "mb" => ("bytes", 1_000_000.0),
        "gigabyte" | "gigabytes" | "gb" => ("bytes", 1_000_000_000.0),
        "%" | "percent" => ("percent", 1.0),
        code if code.len() == 3
            && matches!(code, "usd" | "eur" | "gbp" | "jpy" | "chf" | "cad" | "aud" | "cny" | "inr") =>
        {
            ("money", 1.0)
        }
        _ => return None,
    })
}

/// Roles that "from" and "to" speak of.
pub(super) fn direction(preposition: &str) -> &'static [&'static str] {
    match preposition {
        "from" | "out of" | "leaving" | "departing" => {
            &["origin", "source", "departure", "from", "start", "sender", "pickup", "departing", "leaving", "orig"]
        }
        "to" | "into" | "toward" | "towards" | "arriving" => {
            &["destination", "dest", "target", "arrival", "to", "end", "receiver", "recipient", "dropoff", "arriving"]
        }
        _ => &[],
    }
}
