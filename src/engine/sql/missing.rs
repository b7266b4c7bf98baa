//! A column that a statement names and that is not there: which table has it, or what was likely meant. Only the
//! server can say so: a worker knows the tables that it holds, and not all that the caller may read.

use serde_json::{Value, json};

use crate::base::nearest::nearest_of_many;
use crate::model::dataset::Dataset;
use crate::model::error::{Code, Error};

/// Tables, and columns of a table, that a hint names.
const TABLES: usize = 5;
const COLUMNS: usize = 30;

/// Whether a failure is one for a column that is not there.
pub(super) fn is_of(error: &Error) -> bool {
    error.details.get("missing_column").is_some()
}

/// A worker's failure with what is known of the column. `tables` are those that the statement could have read.
pub(super) fn explained(mut error: Error, tables: &[&Dataset]) -> Error {
    let Some(details) = error.details.as_object_mut() else { return error };
    let Some(Value::String(column)) = details.remove("missing_column") else { return error };
    let candidates =
        details.remove("candidates").and_then(|names| names.as_str().map(str::to_owned)).unwrap_or_default();
    let used: Vec<String> = match details.remove("used") {
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        _ => vec![],
    };
    let (read, others): (Vec<&Dataset>, Vec<&Dataset>) =
        tables.iter().partition(|table| used.iter().any(|name| name.eq_ignore_ascii_case(&table.name)));
    told(error, &column, &read, &others, &candidates)
}

/// The same for what a server says of a statement over `tables` (PostgreSQL's `undefined_column`).
pub(super) fn of_server(error: Error, tables: &[&Dataset]) -> Error {
    if error.code != Code::InvalidArgument || error.details.get("sqlstate").is_none_or(|state| state != "42703") {
        return error;
    }
    // `column f.carier does not exist`, `column "carier" does not exist`.
    let words = error.message.split_once("column ").and_then(|(_, rest)| rest.split_once(" does not exist"));
    let column = words.map(|(name, _)| name.rsplit('.').next().unwrap_or(name).trim_matches('"').to_owned());
    match column {
        Some(column) => told(error, &column, tables, &[], ""),
        None => error,
    }
}

fn told(mut error: Error, column: &str, read: &[&Dataset], others: &[&Dataset], candidates: &str) -> Error {
    let hint = hint(column, read, others, candidates);
    error.message = format!("There is no column {column} here. {hint}");
    match error.details.as_object_mut() {
        Some(details) => {
            details.insert("name".into(), column.into());
            details.insert("hint".into(), hint.into());
        }
        None => error.details = json!({ "name": column, "hint": hint }),
    }
    error
}

/// `read` are the tables that the statement reads, `others` those that it could, and `candidates` the names that the
/// engine saw near, separated by commas.
fn hint(column: &str, read: &[&Dataset], others: &[&Dataset], candidates: &str) -> String {
    let owners = |tables: &[&Dataset]| {
        let has = |table: &&&Dataset| table.columns.iter().any(|it| it.name.eq_ignore_ascii_case(column));
        tables.iter().filter(has).take(TABLES).map(|table| table.name.clone()).collect::<Vec<_>>()
    };
    let of_read = owners(read);
    if !of_read.is_empty() {
        return format!(
            "It is a column of {}: name it by the alias of that table, and where a subquery reads the table, in its \
             SELECT too.",
            of_read.join(" and of ")
        );
    }
    let of_others = owners(others);
    if !of_others.is_empty() {
        return format!("It is a column of {}, which this query does not read: join it.", of_others.join(" and of "));
    }
    let near = |tables: &[&Dataset]| {
        let columns = tables.iter().flat_map(|table| table.columns.iter().map(|column| column.name.as_str()));
        let near = nearest_of_many(column, columns)?.to_owned();
        let of = tables.iter().find(|table| table.columns.iter().any(|it| it.name == near))?;
        Some((near, of.name.clone()))
    };
    if let Some((near, of)) = near(read) {
        return format!("Did you mean {near}? It is a column of {of}.");
    }
    let seen = candidates.split(',').filter(|name| !name.is_empty() && !name.eq_ignore_ascii_case(column));
    if let Some(near) = nearest_of_many(column, seen) {
        return format!("Did you mean {near}?");
    }
    if let Some((near, of)) = near(others) {
        return format!("Did you mean {near}? It is a column of {of}, which this query does not read.");
    }
    match read {
        [table] => {
            let names: Vec<&str> = table.columns.iter().take(COLUMNS).map(|column| column.name.as_str()).collect();
            let rest = if table.columns.len() > COLUMNS { ", …" } else { "" };
            format!("{} has: {}{rest}.", table.name, names.join(", "))
        }
        _ => "Read the schema (dragoman_get_schema) to see the columns.".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::clock::Clock;
    use crate::base::id::Id;
    use crate::model::dataset::{ColumnInfo, Kind};

    fn table(name: &str, columns: &[&str]) -> Dataset {
        let clock = Clock::manual(0);
        let columns = columns.iter().map(|name| ColumnInfo { name: (*name).to_owned(), ..ColumnInfo::default() });
        Dataset {
            externally_queryable: true,
            version: Some("v1".into()),
            columns: columns.collect(),
            ..Dataset::new(Id::new(&clock), Id::new(&clock), name, Kind::Table)
        }
    }

    #[test]
    fn a_column_that_is_not_there_is_told_where_it_is_and_never_suggested_to_itself() {
        let (claim, amount) = (table("claim", &["Claim_ID"]), table("claim_amount", &["Claim_ID", "Claim_Amount"]));
        let datasets = [&claim, &amount];
        let told = |column: &str, used: &[&str]| {
            let details = json!({ "missing_column": column, "candidates": "total_amount,Claim_ID", "used": used });
            explained(Error::new(Code::InvalidArgument, "x").with(details), &datasets)
        };
        for (column, used, words) in [
            ("Claim_Amount", &["claim"][..], "It is a column of claim_amount, which this query does not read"),
            ("claim_amount", &["claim", "Claim_Amount"][..], "It is a column of claim_amount: name it by the alias"),
            ("Claim_Amout", &["claim_amount"][..], "Did you mean Claim_Amount? It is a column of claim_amount."),
            ("Claim_Amout", &["claim"][..], "Did you mean Claim_Amount? It is a column of claim_amount, which"),
            ("total_amont", &["claim"][..], "Did you mean total_amount?"),
            ("zzz", &["claim"][..], "claim has: Claim_ID."),
            ("zzz", &[][..], "Read the schema"),
        ] {
            let error = told(column, used);
            assert!(error.message.starts_with(&format!("There is no column {column} here. ")), "{error}");
            assert!(error.message.contains(words), "{column} {used:?}: {error}");
            assert!(!error.message.contains(&format!("mean {column}?")), "{error}");
            assert_eq!(error.details["name"], column);
            assert!(!is_of(&error) && error.details.get("used").is_none(), "{}", error.details);
        }
    }

    #[test]
    fn a_servers_word_on_a_column_is_told_with_the_nearest_one() {
        let orders = table("orders", &["amount"]);
        let said = |state: &str, text: &str| {
            let error = Error::new(Code::InvalidArgument, format!("The server says: {text}."));
            of_server(error.with(json!({ "sqlstate": state })), &[&orders])
        };
        for text in ["column \"amont\" does not exist", "column o.amont does not exist"] {
            assert!(said("42703", text).message.contains("Did you mean amount?"), "{text}");
        }
        assert_eq!(said("22012", "division by zero").message, "The server says: division by zero.");
    }
}
