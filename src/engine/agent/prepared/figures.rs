//! The least and greatest values of numbers, and the first and last day of times: what answers are checked against.

use std::collections::HashMap;
use std::time::Duration;

use jiff::Timestamp;
use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use serde_json::Value as Json;

use super::{MAX_CHARS, On, is_over};
use crate::config::Budgets;
use crate::engine::agent::compiler::compile;
use crate::engine::agent::verifier::Bounds;
use crate::model::error::Result;
use crate::model::ontology::{Aggregation, DataType, Entity, Field, Ontology};
use crate::model::plan::{FieldRef, Measure, Plan, Value};
use crate::model::source::Dialect;
use crate::model::table::Table;

/// Most datasets that are looked at, and most fields of one.
const MOST_DATASETS: usize = 100;
const MOST_FIELDS: usize = 20;

/// Bytes of one statement; several datasets share one.
const STATEMENT: usize = MAX_CHARS - 8_192;

/// What was found out.
#[derive(Debug, Default)]
pub(super) struct Figures {
    pub bounds: Vec<Bounds>,
    /// By `dataset.field` in lower case.
    pub extents: HashMap<String, (Date, Date)>,
    /// There was no time for all.
    pub is_partial: bool,
}

/// A statement of one row: the least and the greatest value of each field, in turn.
struct Look<'a> {
    fields: Vec<(&'a Entity, &'a Field)>,
    sql: String,
}

/// Looks at the tables of the service itself, where the engine knows most of it without reading. What cannot be found
/// out within the time is not known.
///
/// # Errors
/// When the call ends.
pub(super) async fn read(on: &On<'_>, time: Duration) -> Result<Figures> {
    let mut figures = Figures::default();
    if on.dialect != Dialect::DuckDb {
        return Ok(figures);
    }
    let budget = Budgets { sql_chars: MAX_CHARS, sql_rows: 1, ..on.job.budget.clone() };
    let job = &on.job.within(&budget).at_most(time);
    let looks: Vec<Look<'_>> = on
        .ontology
        .datasets
        .iter()
        .filter(|entity| !entity.hidden)
        .take(MOST_DATASETS)
        .filter_map(|entity| look(on, entity))
        .collect();
    let zone = TimeZone::get(&on.ontology.calendar.timezone).unwrap_or(TimeZone::UTC);
    for some in together(&looks) {
        if is_over(on.job, job)? {
            break;
        }
        if let Ok(answer) = on.sql.query(job, &joined(some)).await {
            figures.add(some, &answer.table, &zone);
            continue;
        }
        // One of them cannot be computed.
        for one in some {
            if is_over(on.job, job)? {
                break;
            }
            if let Ok(answer) = on.sql.query(job, &one.sql).await {
                figures.add(std::slice::from_ref(one), &answer.table, &zone);
            }
        }
    }
    figures.is_partial = is_over(on.job, job)?;
    Ok(figures)
}

/// Numbers that people may see, and times that rows are placed by.
fn look<'a>(on: &On<'a>, entity: &'a Entity) -> Option<Look<'a>> {
    let is_looked_at = |field: &&Field| {
        let number = field.datatype.is_number() && !field.hidden && field.pii.is_none();
        number || is_default_time(on.ontology, entity, field)
    };
    let fields: Vec<&Field> = entity.fields.iter().filter(is_looked_at).take(MOST_FIELDS).collect();
    let both = [Aggregation::Min, Aggregation::Max];
    let measures = fields.iter().flat_map(|field| both.map(|function| (function, *field)));
    let measures = measures.enumerate().map(|(at, (function, field))| Measure {
        value: Value::Aggregate { function, field: FieldRef::new(&entity.name, &field.name) },
        filters: Vec::new(),
        shown_as: None,
        label: Some(format!("{} {at}", entity.name)),
    });
    let plan = Plan { measures: measures.collect(), ..Plan::default() };
    if plan.measures.is_empty() {
        return None;
    }
    let compiled = compile(&plan, on.ontology, on.graph, on.dialect, 1).ok()?;
    let fields: Vec<_> = fields.into_iter().map(|field| (entity, field)).collect();
    (compiled.columns.len() == 2 * fields.len()).then_some(Look { fields, sql: compiled.sql })
}

/// Whether rows are placed in time by a field: those of its dataset, or the numbers of a metric.
fn is_default_time(ontology: &Ontology, entity: &Entity, field: &Field) -> bool {
    let own = entity.default_time_field.as_ref().is_some_and(|name| name.eq_ignore_ascii_case(&field.name));
    let name = format!("{}.{}", entity.name, field.name);
    let of_metric = |time: &String| time.eq_ignore_ascii_case(&name);
    let is_time = matches!(field.datatype, DataType::Date | DataType::DateTime | DataType::DateTimeTz);
    is_time && (own || ontology.metrics.iter().any(|metric| metric.default_time_field.iter().any(of_metric)))
}

/// As many looks as fit in one statement.
fn together<'l, 'a>(looks: &'l [Look<'a>]) -> Vec<&'l [Look<'a>]> {
    let mut groups = Vec::new();
    let (mut first, mut bytes) = (0, 0);
    for (at, look) in looks.iter().enumerate() {
        if at > first && bytes + look.sql.len() > STATEMENT {
            groups.extend(looks.get(first..at));
            (first, bytes) = (at, 0);
        }
        bytes += look.sql.len() + 40;
    }
    groups.extend(looks.get(first..).filter(|rest| !rest.is_empty()));
    groups
}

fn joined(looks: &[Look<'_>]) -> String {
    let parts = looks.iter().enumerate().map(|(at, look)| format!("(\n{}\n) AS \"t{at}\"", look.sql));
    format!("SELECT *\nFROM {}", parts.collect::<Vec<_>>().join("\nCROSS JOIN "))
}

impl Figures {
    fn add(&mut self, looks: &[Look<'_>], table: &Table, zone: &TimeZone) {
        let Some(row) = table.rows.first() else { return };
        let fields = looks.iter().flat_map(|look| &look.fields);
        for ((entity, field), [least, most]) in fields.zip(row.as_chunks().0) {
            if field.datatype.is_number() {
                if let (Some(min), Some(max)) = (number(least), number(most)) {
                    self.bounds.push(Bounds { dataset: entity.name.clone(), field: field.name.clone(), min, max });
                }
            } else if let (Some(first), Some(last)) = (day(least, zone), day(most, zone)) {
                self.extents.insert(format!("{}.{}", entity.name, field.name).to_lowercase(), (first, last));
            }
        }
    }
}

/// Large numbers are texts.
fn number(cell: &Json) -> Option<f64> {
    match cell {
        Json::Number(number) => number.as_f64(),
        Json::String(text) => text.parse().ok().filter(|number: &f64| number.is_finite()),
        _ => None,
    }
}

/// The day of a time as the engine writes it, in a zone.
fn day(cell: &Json, zone: &TimeZone) -> Option<Date> {
    let text = cell.as_str()?;
    match text.parse::<Timestamp>() {
        Ok(instant) => Some(instant.to_zoned(zone.clone()).date()),
        Err(_) => text.parse::<DateTime>().map(DateTime::date).or_else(|_| text.parse::<Date>()).ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_those_of_the_zone() {
        let zone = TimeZone::get("America/New_York").unwrap();
        for (text, expected) in [
            ("2013-01-01", Some("2013-01-01")),
            ("2013-01-01T23:00:00", Some("2013-01-01")),
            // Five hours earlier it was still the old year there.
            ("2013-01-01T04:59:59Z", Some("2012-12-31")),
            ("2013-01-01T05:00:00Z", Some("2013-01-01")),
            ("infinity", None),
        ] {
            assert_eq!(day(&text.into(), &zone), expected.map(|day| day.parse().unwrap()), "{text}");
        }
    }

    #[test]
    fn statements_are_put_together_while_they_fit() {
        let look = |bytes: usize| Look { fields: Vec::new(), sql: "x".repeat(bytes) };
        let sizes = |sizes: &[usize]| {
            let looks: Vec<Look<'_>> = sizes.iter().map(|bytes| look(*bytes)).collect();
            together(&looks).iter().map(|group| group.len()).collect::<Vec<_>>()
        };
        assert_eq!(sizes(&[]), [0; 0]);
        assert_eq!(sizes(&[100, 100, 100]), [3]);
        assert_eq!(sizes(&[STATEMENT - 100, 50, 100, 100]), [2, 2]);
        assert_eq!(sizes(&[STATEMENT + 1, STATEMENT + 1]), [1, 1]);
    }
}
