//! Whether a number is an amount, which is added up or averaged, or stands for something: a key, a code, a place in an
//! order. What its name says and what its values say is weighed together, as references are (`weigh`).

use crate::engine::ontology::draft::columns::{Column, Kind, is_run};
use crate::engine::ontology::draft::kinds;
use crate::engine::ontology::draft::names::singular;
use crate::engine::ontology::draft::quantities;
use crate::engine::ontology::draft::units::unit;
use crate::engine::ontology::draft::words::PEOPLE;
use crate::engine::ontology::read::datatype_of;
use crate::model::ontology::DataType;

/// Rows from which on figures say something.
const ENOUGH_ROWS: i64 = 8;
/// Different values that codes have at most.
const FEW: i64 = 12;
/// What is numbered beyond here was counted on by a machine.
const LONG: f64 = 1e7;
/// Nothing that is measured begins as far away as here: rows are told apart by it, here or elsewhere.
const FAR: f64 = 1e10;

/// Logarithm of the odds that a column of numbers is measured: above 0 it is an amount.
pub(super) fn weigh(column: &Column<'_>, rows: i64) -> f64 {
    let whole = column.kind == Kind::Whole;
    of_name(&column.words, whole, is_fractional(column))
        + if whole { of_whole(column, rows) } else { of_fractions(column) }
}

/// What the name says.
fn of_name(words: &[String], whole: bool, fractional: bool) -> f64 {
    if kinds::is_naming(words) {
        // A number that is kept as one may have any values.
        return if kinds::is_number(words) && fractional { 2.0 } else { -6.0 };
    }
    if whole && is_coded(words) {
        return -5.0;
    }
    let amount = quantities::is_amount(words) || kinds::starts_as_count(words) || unit(words, "").is_some();
    match (amount, kinds::is_many(words)) {
        (true, _) => 5.0,
        // "goals" and "wins" are counted.
        (false, true) => 2.5,
        (false, false) => 0.0,
    }
}

/// Whether a whole number stands for one of a set, or for a person: "gender", "script", "added by user".
fn is_coded(words: &[String]) -> bool {
    const CODED: &[&str] = &["format", "script", "country", "nationality", "quality"];
    let person = |word: &String| PEOPLE.contains(&singular(word).as_str()) && singular(word) == *word;
    // "Region" is one of a set, and a "rating" is none.
    (kinds::is_closed(words) || kinds::last_is(words, CODED)) && !quantities::is_amount(words)
        || words.last().is_some_and(person)
}

/// Numbers with a part behind the point number nothing.
fn of_fractions(column: &Column<'_>) -> f64 {
    if is_fractional(column) { 3.0 } else { 1.0 }
}

/// What whole numbers say: those that somebody gave out are close together, begin at 1 or far away, and are spread
/// evenly; amounts are few and large, or nothing, or round.
fn of_whole(column: &Column<'_>, rows: i64) -> f64 {
    // What is written with a point although nothing follows and nothing is missing was measured.
    let pointed = datatype_of(&column.info.r#type) != DataType::Integer;
    let bare = if pointed && column.figures.is_some_and(|figures| figures.nulls == 0) { 1.5 } else { -0.5 };
    let Some((least, most)) = column.range else { return bare };
    let distinct = column.distinct().unwrap_or(0);
    if rows < ENOUGH_ROWS || distinct < 2 {
        return bare;
    }
    let unique = column.is_unique(rows) == Some(true);
    let density = column.density().unwrap_or(0.0);
    let mut odds = bare;
    if unique && least >= LONG || least >= FAR {
        odds -= 5.0;
    }
    if is_run(least, most) && distinct > 2 {
        odds -= 4.0;
    }
    // Numbered without gaps from a first one.
    if unique && density > 0.9 {
        odds -= 3.0;
    } else if density > 0.9 && distinct > FEW && least >= 1.0 {
        odds -= 1.0;
    }
    if distinct <= FEW && density > 0.7 && rows >= distinct.saturating_mul(10) {
        odds -= 1.0;
    }
    // Nobody is given a number below 0.
    if least < -1.0 {
        odds += 3.0;
    }
    if least == 0.0 && distinct > 2 {
        odds += 0.5;
    }
    if least >= 2.0 && !unique && density < 0.9 {
        odds += 0.7;
    }
    odds + of_shape(column, least, most) + of_roundness(column)
}

/// Most amounts are small beside the largest.
fn of_shape(column: &Column<'_>, least: f64, most: f64) -> f64 {
    let Some(figures) = column.figures else { return 0.0 };
    let median = figures.median.as_ref().and_then(|median| median.parse::<f64>().ok());
    match median {
        Some(median) if most - least >= 10.0 => match (median - least) / (most - least) {
            low if low < 0.1 => 1.5,
            low if low < 0.3 => 0.7,
            _ => 0.0,
        },
        _ => 0.0,
    }
}

/// People set prices and limits by tens.
fn of_roundness(column: &Column<'_>) -> f64 {
    let values: Vec<f64> = column.info.sample_values.iter().filter_map(|value| value.parse().ok()).collect();
    let all = |by: f64| values.len() > 2 && values.iter().all(|value| value % by == 0.0 && value.abs() >= by);
    match () {
        () if all(10.0) => 2.0,
        () if all(5.0) => 1.0,
        () => 0.0,
    }
}

fn is_fractional(column: &Column<'_>) -> bool {
    let bounds = column.range.into_iter().flat_map(|(least, most)| [least, most]);
    let samples = column.info.sample_values.iter().filter_map(|value| value.parse::<f64>().ok());
    bounds.chain(samples).any(|value| value.fract() != 0.0)
}
