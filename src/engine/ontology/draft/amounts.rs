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

/// What a sign adds to the logarithm of the odds that a column is measured, and the sign in words.
type Sign = (f64, &'static str);

/// Whether a column of numbers is measured, which makes it an amount, and the sign that says so most.
pub(super) fn weigh(column: &Column<'_>, rows: i64) -> (bool, &'static str) {
    let whole = column.kind == Kind::Whole;
    let mut signs = if whole { of_whole(column, rows) } else { vec![of_fractions(column)] };
    signs.push(of_name(&column.words, whole, is_fractional(column)));
    let measured = signs.iter().map(|(odds, _)| odds).sum::<f64>() > 0.0;
    let for_it = |(odds, _): &Sign| if measured { *odds } else { -odds };
    let most = signs.iter().max_by(|one, other| for_it(one).total_cmp(&for_it(other)));
    (measured, most.map_or("", |(_, says)| *says))
}

/// What the name says.
fn of_name(words: &[String], whole: bool, fractional: bool) -> Sign {
    if kinds::is_naming(words) {
        // A number that is kept as one may have any values.
        return match kinds::is_number(words) && fractional {
            true => (2.0, "It is called a number, and has fractions."),
            false => (-6.0, "It is called like what only names or orders something."),
        };
    }
    if whole && is_coded(words) {
        return (-5.0, "It is called like one of a set, or like a person.");
    }
    let amount = quantities::is_amount(words) || kinds::starts_as_count(words) || unit(words, "").is_some();
    let bound = words.len() > 1 && kinds::any(words, &["min", "max", "minimum", "maximum"]);
    match () {
        () if amount => (5.0, "It is called like an amount."),
        () if bound => (3.0, "It is called like the least or the greatest of what is measured."),
        // "goals" and "wins" are counted.
        () if kinds::is_many(words) => (2.5, "It is called as several are, which are counted."),
        () => (0.0, "Its name says nothing."),
    }
}

/// Whether a whole number stands for one of a set, or for a person: "gender", "script", "added by user".
fn is_coded(words: &[String]) -> bool {
    const CODED: &[&str] = &["format", "script", "country", "nationality", "quality"];
    const MEASURED: &[&str] = &["dose", "quantity", "amount", "duration", "measurement", "weight", "value"];
    // In what a dose is measured, and a value that is one of a set.
    let of = |of: &String| MEASURED.contains(&of.as_str());
    let unit = matches!(words, [.., before, last] if matches!(&*singular(last), "unit" | "coded") && of(before));
    let person = |word: &String| PEOPLE.contains(&singular(word).as_str()) && singular(word) == *word;
    // "Region" is one of a set, and a "rating" is none.
    (kinds::is_closed(words) || kinds::last_is(words, CODED)) && !quantities::is_amount(words)
        || unit
        || words.last().is_some_and(person)
}

/// Numbers with a part behind the point number nothing.
fn of_fractions(column: &Column<'_>) -> Sign {
    if is_fractional(column) { (3.0, "It has fractions.") } else { (1.0, "By its type it may have fractions.") }
}

/// What whole numbers say: those that somebody gave out are close together, begin at 1 or far away, and are spread
/// evenly; amounts are few and large, or nothing, or round.
fn of_whole(column: &Column<'_>, rows: i64) -> Vec<Sign> {
    // What is written with a point although nothing follows and nothing is missing was measured.
    let pointed = datatype_of(&column.info.r#type) != DataType::Integer;
    let bare = match pointed && column.figures.is_some_and(|figures| figures.nulls == 0) {
        true => (1.5, "It is whole, and kept with a point."),
        false => (-0.5, "Neither its name nor its values say that it is measured."),
    };
    let mut signs = vec![bare];
    let Some((least, most)) = column.range else { return signs };
    let distinct = column.distinct().unwrap_or(0);
    if rows < ENOUGH_ROWS || distinct < 2 {
        return signs;
    }
    let unique = column.is_unique(rows) == Some(true);
    let density = column.density().unwrap_or(0.0);
    if unique && least >= LONG || least >= FAR {
        signs.push((-5.0, "Its least value is too far from 0 to be measured."));
    }
    if is_run(least, most) && distinct > 2 {
        signs.push((-4.0, "Its values lie close together and far from 0, as numbers do that are given out."));
    }
    // Numbered without gaps from a first one.
    if unique && density > 0.9 {
        signs.push((-3.0, "No two rows agree in it, and hardly a number is left out."));
    } else if density > 0.9 && distinct > FEW && least >= 1.0 {
        signs.push((-1.0, "Hardly a number between its least and its greatest is left out."));
    }
    if distinct <= FEW && density > 0.7 && rows >= distinct.saturating_mul(10) {
        signs.push((-1.0, "It has few values, which follow each other, as codes do."));
    }
    // Nobody is given a number below 0.
    if least < -1.0 {
        signs.push((3.0, "It has values below 0."));
    }
    if least == 0.0 && distinct > 2 {
        signs.push((0.5, "It begins at 0."));
    }
    signs.extend([of_shape(column, least, most), of_roundness(column)]);
    signs
}

/// Most amounts are small beside the largest.
fn of_shape(column: &Column<'_>, least: f64, most: f64) -> Sign {
    let median = column.figures.and_then(|figures| figures.median.as_ref()?.parse::<f64>().ok());
    let odds = match median {
        Some(median) if most - least >= 10.0 => match (median - least) / (most - least) {
            low if low < 0.1 => 1.5,
            low if low < 0.3 => 0.7,
            _ => 0.0,
        },
        _ => 0.0,
    };
    (odds, "Most of its values are small beside the greatest.")
}

/// People set prices and limits by tens.
fn of_roundness(column: &Column<'_>) -> Sign {
    let values: Vec<f64> = column.info.sample_values.iter().filter_map(|value| value.parse().ok()).collect();
    let all = |by: f64| values.len() > 2 && values.iter().all(|value| value % by == 0.0 && value.abs() >= by);
    let odds = match () {
        () if all(10.0) => 2.0,
        () if all(5.0) => 1.0,
        () => 0.0,
    };
    (odds, "Its values are round.")
}

fn is_fractional(column: &Column<'_>) -> bool {
    let bounds = column.range.into_iter().flat_map(|(least, most)| [least, most]);
    let samples = column.info.sample_values.iter().filter_map(|value| value.parse::<f64>().ok());
    bounds.chain(samples).any(|value| value.fract() != 0.0)
}
