//! What a statement will read, known before it runs: the sum over the tables that it names, from their metadata.

use serde::Serialize;
use serde_json::{Value, json};

use super::missing;
use crate::model::dataset::{Dataset, Kind};
use crate::model::error::{Code, Error};

/// The size of what a statement reads, all rows of all its tables.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct Estimate {
    /// The tables that the statement reads, by name.
    tables: Vec<String>,
    /// Rows of these tables together.
    rows: i64,
    /// Their bytes on disk.
    bytes: i64,
}

impl Estimate {
    fn of(tables: &[&Dataset]) -> Self {
        Self {
            tables: tables.iter().map(|table| table.name.clone()).collect(),
            rows: tables.iter().map(|table| table.row_count).fold(0, i64::saturating_add),
            bytes: tables.iter().map(|table| table.bytes).fold(0, i64::saturating_add),
        }
    }
}

/// The tables with these names, whatever their case.
pub(super) fn named<'d>(datasets: &'d [Dataset], names: &[String]) -> Vec<&'d Dataset> {
    let tables = datasets.iter().filter(|dataset| dataset.kind == Kind::Table);
    tables.filter(|table| names.iter().any(|name| name.eq_ignore_ascii_case(&table.name))).collect()
}

/// A worker's failure with the tables that the statement reads, where their size or their columns can be why.
pub(super) fn with_used(mut error: Error, used: Vec<String>) -> Error {
    if (is_for_size(&error) || missing::is_of(&error))
        && let Some(details) = error.details.as_object_mut()
    {
        details.insert("used".into(), used.into());
    }
    error
}

/// A refusal for time or memory says how much the statement would have read, and of which table most.
///
/// A worker that was killed did not say which tables it read: then they are all those whose names stand in the text.
pub(super) fn explained(mut error: Error, datasets: &[Dataset], sql: &str) -> Error {
    if !is_for_size(&error) {
        return error;
    }
    let Some(details) = error.details.as_object_mut() else { return error };
    let used = match details.remove("used") {
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        _ => words(sql),
    };
    let tables = named(datasets, &used);
    let Some(largest) = tables.iter().max_by_key(|table| (table.row_count, table.bytes)) else { return error };
    let hint = format!(
        "Filter {} first: of the tables that it reads it is the largest ({} rows).",
        largest.name, largest.row_count
    );
    details.insert("estimate".into(), json!(Estimate::of(&tables)));
    details.insert("hint".into(), hint.clone().into());
    error.message = format!("{} {hint}", error.message);
    error
}

/// Whether a name stands in a statement.
pub(super) fn names(sql: &str, name: &str) -> bool {
    words(sql).iter().any(|word| word.eq_ignore_ascii_case(name))
}

fn is_for_size(error: &Error) -> bool {
    match error.code {
        Code::QueryTimeout => true,
        Code::LimitExceeded => error.details.get("limit").is_some_and(|limit| limit == "memory"),
        _ => false,
    }
}

fn words(sql: &str) -> Vec<String> {
    sql.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::clock::Clock;
    use crate::base::id::Id;

    fn table(name: &str, rows: i64) -> Dataset {
        let clock = Clock::manual(0);
        Dataset {
            externally_queryable: true,
            version: Some("v1".into()),
            row_count: rows,
            bytes: rows * 10,
            ..Dataset::new(Id::new(&clock), Id::new(&clock), name, Kind::Table)
        }
    }

    #[test]
    fn a_refusal_names_the_largest_table_that_the_statement_reads() {
        let datasets = [table("flights", 300), table("carriers", 5), table("weather", 900)];
        let slow = || Error::new(Code::QueryTimeout, "Too slow.");
        let told = with_used(slow(), vec!["Flights".into(), "carriers".into()]);
        let told = explained(told, &datasets, "SELECT 'weather' FROM flights, carriers");
        let expected = json!({ "tables": ["flights", "carriers"], "rows": 305, "bytes": 3050 });
        assert_eq!(told.details["estimate"], expected);
        assert!(told.details["hint"].as_str().unwrap().contains("Filter flights first"), "{}", told.details);
        assert!(told.message.starts_with("Too slow. Filter flights") && told.details.get("used").is_none());

        let killed = explained(slow(), &datasets, "SELECT * FROM Weather w");
        assert_eq!(killed.details["estimate"]["tables"], json!(["weather"]));
        assert!(explained(slow(), &datasets, "FROM range(9)").details.get("estimate").is_none());
        let other = Error::new(Code::LimitExceeded, "x").with(json!({ "limit": "bytes" }));
        assert_eq!(explained(other, &datasets, "FROM flights").details, json!({ "limit": "bytes" }));
    }
}
