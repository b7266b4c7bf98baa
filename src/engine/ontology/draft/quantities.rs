//! Numbers that are added up or averaged, by what they are called.

use crate::engine::ontology::draft::kinds::{any, last_is, starts_as_count};
use crate::engine::ontology::draft::names;
use crate::engine::ontology::draft::units::{is_currency, is_measured, unit, without_unit};
use crate::model::ontology::Aggregation;

/// Of numbers that are averaged: what one thing has, or what it has per something.
const AVERAGED: &[&str] = &[
    "price", "rate", "percent", "pct", "percentage", "ratio", "avg", "average", "mean", "median", "temperature",
    "temp", "age", "duration", "delay", "score", "rating", "speed", "humidity", "pressure", "visibility", "wind",
    "length", "height", "width", "depth", "weight", "size", "altitude", "alt", "distance", "time", "minutes",
    "seconds", "hours", "days", "milliseconds", "salary", "wage", "density", "margin", "share", "discount", "tax",
    "latency", "interval", "index", "elevation", "area", "gdp", "capacity", "limit", "stars", "seats", "slope",
];
/// The same in German, Dutch, French, Spanish, Portuguese, Italian and Polish.
const AVERAGED_ABROAD: &[&str] = &[
    "preis", "prijs", "precio", "preco", "prezzo", "prix", "cena", "taxa", "tasa", "taux", "prozent", "procent",
    "porcentaje", "pourcentage", "percentuale", "idade", "edad", "alter", "leeftijd", "gewicht", "peso", "poids",
    "dauer", "duur", "duree", "duracion", "duracao", "durata", "gehalt", "salario", "salaire", "stipendio", "loon",
    "hoehe", "altura", "altezza", "hauteur", "breite", "largeur", "laenge", "longueur", "temperatur", "temperatura",
    "geschwindigkeit", "vitesse", "velocidad",
];

/// Of numbers that are added up.
const SUMMED: &[&str] = &[
    "amount", "amt", "total", "quantity", "qty", "revenue", "sales", "count", "cnt", "fee", "fees", "payment", "paid",
    "charge", "charges", "premium", "profit", "income", "spend", "spent", "budget", "extended", "gross", "net",
    "bytes", "units", "points", "volume", "population", "votes", "views", "clicks", "impressions", "visits", "balance",
    "bal", "stock", "precipitation", "rainfall", "expense", "expenses", "loss", "value", "sum", "cost", "costs",
    "commission", "refund", "refunds", "subtotal", "turnover", "expenditure", "donation", "donations", "mrr",
];
/// The same in those languages.
const SUMMED_ABROAD: &[&str] = &[
    "betrag", "bedrag", "kwota", "importe", "montant", "importo", "kosten", "cout", "couts", "costo", "costi", "custo",
    "koszt", "saldo", "summe", "suma", "somme", "somma", "menge", "hoeveelheid", "aantal", "anzahl", "cantidad",
    "quantidade", "quantita", "quantite", "ilosc", "liczba", "umsatz", "omzet", "ventes", "ventas", "vendas",
    "vendite", "bestand", "voorraad", "estoque", "existencias", "punkte", "puntos", "pontos", "punti", "oplata",
    "gebuehr", "frais", "gasto", "gastos",
];

/// Of numbers that are a state at a time, and not added up over it.
const STOCKS: &[&str] = &[
    "balance", "bal", "stock", "inventory", "headcount", "population", "avail", "available", "saldo", "bestand",
    "voorraad", "estoque", "existencias",
];

/// Whether it is an amount or a quantity, whatever table it is in.
pub(super) fn is_amount(words: &[String]) -> bool {
    is_summed(words) || is_averaged(words)
}

fn is_summed(words: &[String]) -> bool {
    any(words, SUMMED) || any(words, SUMMED_ABROAD)
}

fn is_averaged(words: &[String]) -> bool {
    any(words, AVERAGED) || any(words, AVERAGED_ABROAD)
}

/// Whether it is added up, and not over time.
pub(super) fn is_stock(words: &[String]) -> bool {
    any(words, STOCKS)
}

/// What the rows of a table are, as far as its columns say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Nature {
    /// Things that others refer to, and that have no time of their own.
    Described,
    /// What happened at a time, with something that the table refers to.
    Happened,
    Unsaid,
}

/// Whether it is time that was spent and adds up: the "minutes" of a day's work, and "hours spent" wherever it is. Of
/// other times, as of a delay, people ask how long one is.
fn is_spent(words: &[String], nature: Nature) -> bool {
    const SPENT: &[&str] =
        &["spent", "worked", "logged", "billed", "billable", "tracked", "booked", "played", "overtime"];
    let time = unit(words, "").is_some_and(|unit| matches!(unit, "minutes" | "hours" | "days"));
    let called = nature != Nature::Described && any(words, SPENT);
    time && (called || nature == Nature::Happened && words.len() == 1)
}

/// Whether it is how much a row brought or took, as its weight by itself is where the rows are goods: of an event the
/// net or gross weight, the volume, and what is only called by its unit, "litres" and "fuel litres". A body's weight is
/// none.
pub(super) fn is_load(words: &[String], goods: bool) -> bool {
    const TAKEN: &[&str] = &["net", "gross", "total", "actual", "chargeable"];
    const IN: &[&str] = &["litres", "liters", "gallons", "tonnes", "tons"];
    let counted = |what: &String| IN.contains(&what.as_str()) && !is_per_unit(words);
    match without_unit(words).unwrap_or(words) {
        [what] => what == "volume" || goods && what == "weight" || counted(what),
        [taken, what] => TAKEN.contains(&taken.as_str()) && (what == "volume" || what == "weight") || counted(what),
        _ => false,
    }
}

/// Whether it is what a place can hold: a battery, an engine and a bottle hold something too, which is no part of a
/// whole.
fn is_room(words: &[String]) -> bool {
    const OF: &[&str] = &["storage", "seating", "standing", "passenger", "parking", "bed"];
    let large = unit(words, "").is_none_or(|unit| matches!(unit, "tons" | "cubic meters"));
    large
        && match without_unit(words).unwrap_or(words) {
            [what] => what == "capacity",
            [of, what] => OF.contains(&of.as_str()) && what == "capacity",
            _ => false,
        }
}

/// Whether it is called like a rate, a bound or what one thing has.
fn is_per_unit(words: &[String]) -> bool {
    const PER_UNIT: &[&str] = &[
        "unit", "unidad", "per", "por", "rate", "average", "avg", "mean", "pct", "percent", "percentage", "ratio",
        "min", "minimum", "max", "maximum", "minimal", "maximal", "default", "low", "standard", "growth", "factor",
        "reorder", "threshold", "target", "reputation", "installments",
    ];
    // "Unit sales" are sales in units. "ebcmax" is a bound too.
    let bound = |word: &String| word.len() > 4 && (word.starts_with("max") || word.ends_with("max"));
    any(words, PER_UNIT) && !last_is(words, &["sales", "sold"]) || words.iter().any(bound)
}

/// How values come together when nobody says, and why. What says that it is a whole is added up, even of prices:
/// "total price", "extended price".
///
/// What has neither kind of word is averaged where things are only described and where it is a measurement by its type
/// (`floating`), and added up otherwise.
pub(super) fn aggregation(words: &[String], nature: Nature, floating: bool) -> (Aggregation, &'static str) {
    let per_unit = is_per_unit(words);
    let described = nature == Nature::Described;
    // What each thing of a kind costs is no part of a whole.
    const CHARGED: &[&str] = &["fee", "fees", "fine", "cost", "costs", "charge", "deposit"];
    let charged = described && any(words, CHARGED) && !any(words, &["total", "sum"]);
    // How heavy one is does not become a whole by being "net".
    let heavy = any(words, &["weight"]) && any(words, &["gross", "net"]);
    // "goals" and "wins" are counted, also of what is only described.
    let counted = !floating && !is_averaged(words) && words.last().is_some_and(|last| names::singular(last) != *last);
    // What a battery can hold is no part of a whole.
    let energy = unit(words, "").is_some_and(|unit| unit.ends_with("Wh")) && !any(words, &["capacity"]);
    let whole = (is_summed(words) || counted) && !heavy || starts_as_count(words) || energy;
    const QUANTITIES: &[&str] =
        &["total", "sum", "quantity", "qty", "consumption", "production", "output", "menge", "hoeveelheid", "cantidad"];
    let measured = unit(words, "").is_some_and(is_measured);
    let spent = is_spent(words, nature);
    let room = is_room(words);
    // Money that came or went at a time, and no price of something that is traded.
    const QUOTED: &[&str] = &["open", "close", "closing", "opening", "high", "bid", "ask", "spot", "strike", "quote"];
    let money = nature == Nature::Happened && unit(words, "").is_some_and(is_currency) && !any(words, QUOTED);
    let averaged = match () {
        () if per_unit => Some("It is called like a rate, a bound or what one thing has."),
        () if charged => Some("What each thing costs is no part of a whole."),
        () if spent || room => None,
        () if measured && !any(words, QUANTITIES) => Some("Its unit is one that is measured on each thing."),
        () if whole => None,
        () if is_averaged(words) => Some("It is called like what one thing has."),
        () if described => Some("The rows say what things are like, not what happened."),
        () if floating && !money => Some("It has the type of what is measured."),
        () => None,
    };
    match averaged {
        Some(because) => (Aggregation::Avg, because),
        None if spent => (Aggregation::Sum, "It is time that was spent, which adds up."),
        None if room => (Aggregation::Sum, "It is what a place can hold, which adds up."),
        None if whole => (Aggregation::Sum, "It is called like a part of a whole."),
        None => (Aggregation::Sum, "Nothing says that it is averaged."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ontology::in_words;

    #[test]
    fn what_must_not_be_added_up_is_averaged() {
        let (of_things, unsaid, happened) = (Nature::Described, Nature::Unsaid, Nature::Happened);
        // A name, what the rows are, whether it has fractions.
        for (name, nature, floating, expected) in [
            ("taxa_juro", unsaid, false, Aggregation::Avg),
            ("hoeveelheid_kg", unsaid, true, Aggregation::Sum),
            ("energy_kwh", unsaid, true, Aggregation::Sum),
            ("energy_kwh", of_things, true, Aggregation::Sum),
            ("battery_capacity_kwh", of_things, true, Aggregation::Avg),
            ("bedrag", unsaid, true, Aggregation::Sum),
            ("shipping_cost", unsaid, true, Aggregation::Sum),
            ("unit_cost", unsaid, true, Aggregation::Avg),
            ("deposit_amount", of_things, true, Aggregation::Avg),
            ("amount", of_things, true, Aggregation::Sum),
            ("low_stock", unsaid, false, Aggregation::Avg),
            ("minimal_quantity", unsaid, false, Aggregation::Avg),
            ("maxcount", unsaid, false, Aggregation::Avg),
            ("ebcmax", unsaid, false, Aggregation::Avg),
            ("wins", unsaid, false, Aggregation::Sum),
            ("minutes", happened, false, Aggregation::Sum),
            ("minutes", unsaid, false, Aggregation::Avg),
            ("hours_spent", unsaid, false, Aggregation::Sum),
            ("hours_worked", of_things, false, Aggregation::Avg),
            ("max_hours_worked", happened, false, Aggregation::Avg),
            ("delay_minutes", happened, false, Aggregation::Avg),
            ("duration_min", happened, true, Aggregation::Avg),
            ("milliseconds", happened, false, Aggregation::Avg),
            ("seats", happened, false, Aggregation::Avg),
            ("capacity", of_things, false, Aggregation::Sum),
            ("capacity_t", unsaid, false, Aggregation::Sum),
            ("seating_capacity", of_things, false, Aggregation::Sum),
            ("capacity_ml", of_things, false, Aggregation::Avg),
            ("engine_capacity", of_things, false, Aggregation::Avg),
            ("max_capacity", of_things, false, Aggregation::Avg),
            ("mrr_usd", happened, true, Aggregation::Sum),
            ("tip_usd", happened, true, Aggregation::Sum),
            ("tip_usd", of_things, true, Aggregation::Avg),
            ("close_usd", happened, true, Aggregation::Avg),
            ("hourly_rate_usd", happened, true, Aggregation::Avg),
            ("salary_usd", happened, true, Aggregation::Avg),
        ] {
            let words: Vec<String> = in_words(name).split(' ').map(str::to_owned).collect();
            assert_eq!(aggregation(&words, nature, floating).0, expected, "{name}");
        }
    }

    #[test]
    fn what_came_or_went_adds_up() {
        // A name, whether it is of goods, whether it is of another event.
        for (name, of_goods, of_an_event) in [
            ("weight", true, false),
            ("weight_kg", true, false),
            ("net_weight_t", true, true),
            ("gross_weight_kg", true, true),
            ("volume_m3", true, true),
            ("litres", true, true),
            ("fuel_litres", true, true),
            ("max_litres", false, false),
            ("birth_weight_kg", false, false),
            ("price_per_kg", false, false),
            ("temperature_c", false, false),
        ] {
            let words: Vec<String> = in_words(name).split(' ').map(str::to_owned).collect();
            assert_eq!((is_load(&words, true), is_load(&words, false)), (of_goods, of_an_event), "{name}");
        }
    }
}
