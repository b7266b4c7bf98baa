//! How sure a reference is: what names say and what values say, weighed together.
//!
//! The weights are logarithms of odds, as in naive Bayes: each piece of evidence adds what it makes the reference
//! likelier or less likely.

use crate::engine::ontology::draft::Overlap;
use crate::engine::ontology::draft::columns::Kind;
use crate::engine::ontology::draft::relate::{MANY_KEYS, Single};
use crate::engine::ontology::draft::says::{Called, Says};

/// From here a reference is drafted, and from here nobody needs to look at it.
pub(super) const ENOUGH: f64 = 1.5;
pub(super) const SURE: f64 = 4.0;

/// That a key describes a part of the rows which have its name.
const DESCRIBED: f64 = 2.0;

/// Weighs a reference of one column.
pub(super) fn weigh(single: &Single<'_>, overlap: Option<Overlap>) -> f64 {
    let key = match (single.primary, single.own) {
        (true, _) => 0.5,
        (false, 50..) => 0.0,
        // In a few rows much is told apart that is no key.
        (false, _) if single.to.table.rows() < 10 => -3.0,
        (false, _) => -1.0,
    };
    let values = overlap.map_or(0.0, |overlap| of_values(single, overlap));
    // A part of a name, and one value, is little.
    let single_value = overlap.is_some_and(|overlap| overlap.values == 1);
    let little = if single.called.score < 70 && single_value && !single.key.is_random() { -1.5 } else { 0.0 };
    of_names(single.called) + values + key + little
}

/// What the names say.
pub(super) fn of_names(called: Called) -> f64 {
    match called.says {
        Says::Another => -6.0,
        Says::Amount => -5.0,
        _ => f64::from(called.score) / 100.0 * 9.0 - 3.0,
    }
}

/// What the values say: how many of them are keys, whether that might be chance, and how many of the keys occur.
fn of_values(single: &Single<'_>, overlap: Overlap) -> f64 {
    let Some(part) = overlap.part() else { return 0.0 };
    let missing = match part {
        part if part >= 0.995 => 0.0,
        part if part >= 0.95 => -0.7,
        part if part >= 0.9 => -1.5,
        part if part >= 0.5 => -3.5,
        part if part >= 0.2 => -5.5,
        _ => return -9.0,
    };
    // Where no name says it, every value must.
    let silent = if single.called.score < 30 { missing } else { 0.0 };
    // What is found beside much that is not may be chance all the same; but a key of the same name of which nearly all
    // values occur here describes some of these rows: those households that said how old they are.
    let trust = ((part - 0.5) * 2.0).max(0.0);
    let keys = single.key.distinct().unwrap_or(0);
    let same_name = single.called.says == Says::SameName && single.called.score >= 85;
    let described = (0.2..0.9).contains(&part)
        && single.primary
        && same_name
        && keys >= MANY_KEYS
        && overlap.found.saturating_mul(10) >= keys.saturating_mul(9);
    missing + silent + trust * not_by_chance(single, overlap) + if described { DESCRIBED } else { 0.0 }
}

/// How little it is chance that so many values are keys there.
fn not_by_chance(single: &Single<'_>, overlap: Overlap) -> f64 {
    let Single { column, key, called, .. } = single;
    #[expect(clippy::cast_precision_loss, reason = "small counts, of which the size matters")]
    let found = overlap.found as f64;
    match key.kind {
        Kind::Text | Kind::Uuid if found > 0.0 && key.is_random() => 5.0,
        Kind::Text | Kind::Uuid => {
            // One letter is soon among others.
            let short = key.info.sample_values.iter().all(|value| value.chars().count() < 2);
            let weight = match overlap.found {
                0 => 0.0,
                1 => 0.7,
                2 => 1.5,
                3..=9 => 3.0,
                _ => 5.0,
            };
            if short { weight / 2.0 } else { weight }
        }
        Kind::Whole => {
            let chance = key.chance().unwrap_or(1.0).clamp(1e-6, 1.0);
            // Numbers from 1 on without gaps have any small numbers among them; those that reach as far as the keys do
            // are likelier to be keys.
            let covered = key.distinct().filter(|keys| *keys > 0).map_or(0.0, |keys| {
                #[expect(clippy::cast_precision_loss, reason = "only the ratio matters")]
                let keys = keys as f64;
                found / keys
            });
            let reach = match (column.range, key.range) {
                (Some((_, most)), Some((_, last))) if last > 0.0 => most / last,
                _ => 0.0,
            };
            // A few high keys do not make the low ones few.
            let sparse = match overlap.found {
                3.. if reach >= 0.3 => (-chance.ln() * found).min(5.0),
                _ => 0.0,
            };
            let fits = called.score > 0 && overlap.found >= 3 && reach >= 0.8;
            let spread = if fits { 0.8 + covered.min(1.0) } else { 0.0 };
            let many = key.distinct().is_some_and(|keys| keys >= MANY_KEYS);
            let all = if many && covered >= 0.95 && called.says == Says::Nothing { 4.5 } else { 0.0 };
            sparse.max(spread).max(all)
        }
        Kind::Day | Kind::Other => 0.0,
    }
}
