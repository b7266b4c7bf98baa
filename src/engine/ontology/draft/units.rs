//! The units of numbers, as names and descriptions say them.

use crate::engine::ontology::draft::{DraftTable, kinds};
use crate::model::dataset::ColumnInfo;
use crate::model::ontology::in_words;

/// Words that are a unit wherever they stand in a name.
const WORDS: &[(&[&str], &str)] = &[
    (&["pct", "percent", "percentage", "prozent", "procent", "porcentaje", "pourcentage", "percentuale"], "%"),
    (&["usd", "dollars"], "USD"),
    (&["eur", "euros"], "EUR"),
    (&["gbp"], "GBP"),
    (&["milliseconds", "ms", "millis", "msec"], "milliseconds"),
    (&["seconds", "secs", "sec", "sekunden"], "seconds"),
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
    (&["celsius"], "°C"),
    (&["fahrenheit"], "°F"),
    (&["kwh"], "kWh"),
    (&["mwh"], "MWh"),
    (&["sqm"], "square meters"),
    (&["sqft"], "square feet"),
];

/// Two words that are one unit, at the end of a name.
const PAIRS: &[(&str, &str, &str)] = &[
    ("km", "h", "km/h"),
    ("m", "s", "m/s"),
    ("sq", "m", "square meters"),
    ("sq", "km", "square kilometers"),
    ("sq", "ft", "square feet"),
];

/// Signs that are a unit as the last word of a name.
const SIGNS: &[(&str, &str)] = &[
    ("cm", "centimeters"),
    ("mm", "millimeters"),
    ("m2", "square meters"),
    ("km2", "square kilometers"),
    ("m3", "cubic meters"),
    ("mg", "milligrams"),
    ("lb", "pounds"),
    ("oz", "ounces"),
    ("ml", "milliliters"),
    ("kmh", "km/h"),
    ("kph", "km/h"),
    ("kw", "kW"),
    ("mw", "MW"),
    ("kb", "kilobytes"),
    ("mb", "megabytes"),
    ("gb", "gigabytes"),
    ("hz", "Hz"),
    ("mhz", "MHz"),
    ("ghz", "GHz"),
    ("kcal", "kcal"),
    ("chf", "CHF"),
    ("jpy", "JPY"),
    ("cny", "CNY"),
    ("inr", "INR"),
    ("brl", "BRL"),
    ("pln", "PLN"),
    ("sek", "SEK"),
    ("nok", "NOK"),
    ("dkk", "DKK"),
];

/// Codes that are currencies only beside a word of money: "sek" are German seconds too, "nok" is what is not right, and
/// "inr" is measured in blood.
const BESIDE_MONEY: &[&str] = &["sek", "nok", "inr"];
const MONEY_ABROAD: &[&str] = &["pris", "belopp", "summa", "kostnad", "preis", "betrag", "kosten", "umsatz", "gehalt"];

/// Signs that mean a unit only as the last word after what is measured in it: a vitamin C has no temperature.
const AFTER: &[(&str, &str, &[&str])] = &[
    ("g", "grams", WEIGHTS),
    ("t", "tons", WEIGHTS),
    ("t", "tons", &["capacity"]),
    ("m", "meters", LENGTHS),
    ("mi", "miles", LENGTHS),
    ("in", "inches", LENGTHS),
    ("l", "liters", &["volume", "capacity", "tank", "fuel", "consumption"]),
    ("h", "hours", TIMES),
    ("min", "minutes", TIMES),
    ("s", "seconds", TIMES),
    ("sek", "seconds", TIMES),
    ("c", "°C", TEMPERATURES),
    ("f", "°F", TEMPERATURES),
    ("ha", "hectares", &["area", "surface", "size", "flaeche", "superficie"]),
];
const WEIGHTS: &[&str] = &["weight", "mass", "load", "fat", "protein", "sugar", "gewicht", "poids", "peso"];
const LENGTHS: &[&str] = &[
    "length", "height", "width", "depth", "distance", "dist", "elevation", "elev", "altitude", "alt", "radius",
    "diameter", "hoehe", "breite", "laenge", "tiefe", "hauteur", "largeur", "longueur", "altura", "largo", "ancho",
];
const TIMES: &[&str] = &[
    "time", "duration", "delay", "latency", "runtime", "elapsed", "wait", "travel", "timeout", "dauer", "laufzeit",
    "duree", "duracion",
];
const TEMPERATURES: &[&str] = &["temp", "temperature", "dewpoint", "temperatur", "temperatura"];

/// Signs that end a word of a name too: "hoeveelheidkg".
const ENDS: &[(&str, &str)] = &[("kwh", "kWh"), ("kg", "kilograms"), ("km", "kilometers"), ("cm", "centimeters")];

/// The unit that the name or the description gives.
pub(super) fn unit(words: &[String], description: &str) -> Option<&'static str> {
    // "Price per kg" is in none of these.
    let per = words.iter().any(|word| word == "per");
    let named = if per { None } else { of_name(words) };
    // "Departure delay, in minutes", "Distance (miles)"
    let text = description.to_lowercase();
    let said = |name: &str| [format!("in {name}"), format!("({name})")].iter().any(|phrase| text.contains(phrase));
    let described = || WORDS.iter().find(|(names, _)| names.iter().any(|name| name.len() > 2 && said(name)));
    named.or_else(|| described().map(|(_, unit)| *unit))
}

fn of_name(words: &[String]) -> Option<&'static str> {
    let has = |names: &[&str]| words.iter().any(|word| names.contains(&word.as_str()));
    let [rest @ .., last] = words else { return None };
    let pair = || {
        let [.., before, last] = words else { return None };
        PAIRS.iter().find(|(one, two, _)| before == one && last == two).map(|(_, _, unit)| *unit)
    };
    let word = || WORDS.iter().find(|(names, _)| has(names)).map(|(_, unit)| *unit);
    let money = || kinds::is_paid(words) || has(MONEY_ABROAD);
    // The month in which a card expires is "exp mm".
    let means = |sign: &str| match sign {
        "mm" => !has(&["exp", "expiry", "expiration", "birth"]),
        code => !BESIDE_MONEY.contains(&code) || money(),
    };
    let sign = || SIGNS.iter().find(|(sign, _)| last == sign && !rest.is_empty() && means(sign)).map(|(_, unit)| *unit);
    let after = || AFTER.iter().find(|(sign, _, measured)| last == sign && has(measured)).map(|(_, unit, _)| *unit);
    let end = || ENDS.iter().find(|(end, _)| last.len() > end.len() + 3 && last.ends_with(end)).map(|(_, unit)| *unit);
    pair().or_else(word).or_else(sign).or_else(after).or_else(end)
}

/// The words before the sign of a unit that ends a name and is not "%": "weight" of "weight in lbs".
pub(super) fn without_unit(words: &[String]) -> Option<&[String]> {
    unit(words, "").filter(|found| *found != "%")?;
    let is_sign = |last: &String| {
        WORDS.iter().any(|(names, _)| names.contains(&last.as_str()))
            || SIGNS.iter().any(|(sign, _)| last == sign)
            || AFTER.iter().any(|(sign, _, _)| last == sign)
    };
    let rest = match words {
        [rest @ .., one, two] if PAIRS.iter().any(|(first, last, _)| one == first && two == last) => rest,
        [rest @ .., last] if is_sign(last) => rest,
        _ => return None,
    };
    let rest = match rest {
        [rest @ .., word] if word == "in" => rest,
        rest => rest,
    };
    (!rest.is_empty() && unit(rest, "").is_none()).then_some(rest)
}

/// Whether words end with what is measured in a unit: "body mass".
pub(super) fn has_measure(words: &[String]) -> bool {
    [WEIGHTS, LENGTHS, TIMES, TEMPERATURES].iter().any(|list| kinds::last_is(words, list))
}

/// Whether numbers in a unit are measured on each thing, as minutes and miles are; bytes, energy and money are added up.
pub(super) fn is_measured(unit: &str) -> bool {
    !unit.ends_with("bytes") && !unit.ends_with("Wh") && !is_currency(unit)
}

/// Whether it is written as the code of a currency.
pub(super) fn is_currency(text: &str) -> bool {
    text.len() == 3 && text.chars().all(|c| c.is_ascii_uppercase())
}

/// The unit of a measure, and what says so. A part of a whole, up to 1, is not written in percent, whatever its name
/// says.
pub(super) fn of_measure(
    table: &DraftTable,
    column: &ColumnInfo,
    words: &[String],
) -> Option<(&'static str, &'static str)> {
    let most = table.figures(&column.name).and_then(|figures| figures.max.as_ref()?.parse::<f64>().ok());
    let is_part = most.is_some_and(|most| most > 0.0 && most <= 1.0);
    let words = match words {
        [rest @ .., _] if is_least(table, column) => rest,
        words => words,
    };
    let named = unit(words, "").map(|unit| (unit, "Its name says so."));
    let described = || Some((unit(words, &column.description)?, "Its description says so."));
    named.or_else(described).filter(|(unit, _)| *unit != "%" || !is_part)
}

/// Whether "min" says that it is the least, as in "latency min" beside "latency max".
fn is_least(table: &DraftTable, column: &ColumnInfo) -> bool {
    let name = in_words(&column.name);
    let Some(stem) = name.strip_suffix(" min") else { return false };
    let beside = |other: &ColumnInfo| {
        in_words(&other.name).strip_prefix(stem).is_some_and(|end| matches!(end, " max" | " avg" | " mean"))
    };
    table.columns.iter().any(beside)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_told_by_names() {
        for (name, expected) in [
            ("weight_kg", Some("kilograms")),
            ("price_eur", Some("EUR")),
            ("amount_chf", Some("CHF")),
            ("duration_min", Some("minutes")),
            ("price_min", None),
            ("temp_c", Some("°C")),
            ("vitamin_c", None),
            ("product_height_cm", Some("centimeters")),
            ("hoeveelheidkg", Some("kilograms")),
            ("length_m", Some("meters")),
            ("speed_km_h", Some("km/h")),
            ("area_m2", Some("square meters")),
            ("net_weight_g", Some("grams")),
            ("price_per_kg", None),
            ("file_size_mb", Some("megabytes")),
            ("cm", None),
            ("admin", None),
            ("price_sek", Some("SEK")),
            ("belopp_sek", Some("SEK")),
            ("dauer_sek", Some("seconds")),
            ("laufzeit_sekunden", Some("seconds")),
            ("total_nok", Some("NOK")),
            ("qty_nok", None),
            ("pt_inr", None),
            ("rain_mm", Some("millimeters")),
            ("exp_mm", None),
            ("birth_mm", None),
        ] {
            assert_eq!(unit(&words(name), ""), expected, "{name}");
        }
        assert_eq!(unit(&["delay".into()], "Departure delay, in minutes"), Some("minutes"));
    }

    fn words(name: &str) -> Vec<String> {
        in_words(name).split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn the_least_beside_the_greatest_is_not_in_minutes() {
        let column = |name: &str| ColumnInfo { name: name.into(), ..ColumnInfo::default() };
        let names = ["latency_min", "latency_max", "wait_ms_min", "wait_ms_avg", "travel_time_min"];
        let table = DraftTable { columns: names.map(column).into(), ..DraftTable::default() };
        for (name, expected) in
            [("latency_min", None), ("wait_ms_min", Some("milliseconds")), ("travel_time_min", Some("minutes"))]
        {
            let unit = of_measure(&table, &column(name), &words(name)).map(|(unit, _)| unit);
            assert_eq!(unit, expected, "{name}");
        }
    }
}
