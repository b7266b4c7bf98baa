//! The units of time of a window, also those without a row.

use crate::model::plan::{Dimension, TimeUnit};
use crate::model::source::quoted;

use super::calendar::bounds;
use super::error::CompileError;
use super::leaf::Rows;
use super::scope::Scope;
use super::work::Work;

/// How many units a statement names at most.
const MOST: usize = 400;

/// A SELECT of the units that a window has something of, as a column of this name: as far as the dataset has rows, for
/// nothing is known of what was before or comes after. None where it is not by units of the time that places the rows,
/// where units of two times are put beside each other, and where the window is open or has too many.
pub(super) fn units(
    work: &mut Work<'_>,
    rows: &Rows,
    by: &[Dimension],
    name: &str,
) -> Result<Option<String>, CompileError> {
    let ([dimension], Some(window)) = (by, &rows.window) else { return Ok(None) };
    let Some((grain, unit)) = dimension.grain.and_then(|grain| Some((grain, TimeUnit::of(grain)?))) else {
        return Ok(None);
    };
    let (Some(start), Some(end)) = bounds(window)? else { return Ok(None) };
    if !rows.is_placed_by(&dimension.field) || work.plan.comparison.is_some() {
        return Ok(None);
    }
    let mut values = Vec::new();
    let mut next = unit.start(start, &work.ontology.calendar);
    while let Some(first) = next.filter(|first| *first < end) {
        if values.len() == MOST {
            return Ok(None);
        }
        values.push(match unit {
            TimeUnit::Hour => work.dialect.civil_literal(&first.strftime("%Y-%m-%d %H:%M:%S").to_string()),
            _ => work.dialect.day_literal(&first.date().to_string()),
        });
        next = unit.add(first, 1);
    }
    let Some(all) = work.dialect.listed(&values, "units", "unit") else { return Ok(None) };
    let (dataset, field) = work.field(&dimension.field)?;
    let scope = Scope::new(work, dataset);
    let time = scope.field(work, 0, &field.name)?;
    let from = scope.from(work)?;
    let first = work.grained(&format!("MIN({time})"), field, grain)?;
    let last = work.grained(&format!("MAX({time})"), field, grain)?;
    Ok(Some(format!(
        "SELECT \"unit\" AS {}\nFROM {all}\nWHERE \"unit\" >= (SELECT {first} {from})\n  \
         AND \"unit\" <= (SELECT {last} {from})",
        quoted(name)
    )))
}
