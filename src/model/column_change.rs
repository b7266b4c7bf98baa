//! What people correct of a file before it becomes a table: the name and the type of a column, or that it stays out.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::model::error::{Error, Result};

/// The types that a column can be given, as SQL writes them, and what people call them.
pub const TYPES: [(&str, &str); 15] = [
    ("VARCHAR", "text"),
    ("BIGINT", "whole number"),
    ("DOUBLE", "number"),
    ("DECIMAL(18,2)", "amount, two decimals"),
    ("DECIMAL(18,4)", "amount, four decimals"),
    ("BOOLEAN", "yes or no"),
    ("DATE", "day"),
    ("DATE(DMY)", "day, as 31.12.2024"),
    ("DATE(MDY)", "day, as 12/31/2024"),
    ("DATE(YMD)", "day, as 24-12-31"),
    ("TIMESTAMP", "day and time"),
    ("TIMESTAMP(DMY)", "day and time, as 31.12.2024 10:30"),
    ("TIMESTAMP(MDY)", "day and time, as 12/31/2024 10:30"),
    ("TIMESTAMP(YMD)", "day and time, as 24-12-31 10:30"),
    ("TIME", "time of day"),
];

/// The orders in which the parts of a day are written, as PostgreSQL's `DateStyle` calls them, and what people do.
pub const ORDERS: [(&str, &str); 3] = [("DMY", "day first"), ("MDY", "month first"), ("YMD", "year first")];

/// Digits of a decimal number.
const DIGITS: u8 = 38;

/// Most columns of a table that are corrected at once.
pub const CHANGES: usize = 1_000;

/// A correction of one column; what is absent stays as it was found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ColumnChange {
    /// Its name as it was found.
    pub column: String,
    /// The name that it gets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 63))]
    pub name: Option<String>,
    /// The type that it gets: VARCHAR, BIGINT, DOUBLE, DECIMAL(18,2) with any precision up to 38 and scale, BOOLEAN, DATE,
    /// TIMESTAMP or TIME. Days that could be written in two ways are told apart by DATE(DMY), DATE(MDY) or DATE(YMD), and
    /// TIMESTAMP alike.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 63))]
    pub r#type: Option<String>,
    /// Whether it stays out of the table.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub leave_out: bool,
}

/// What an import says of a column that could be of another type, or of which a type left something empty.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Hint {
    /// Its name as it was found.
    pub column: String,
    /// The type that all but a few of its values are of.
    pub r#type: String,
    /// How many are, what the others say and in which lines, and what can be done.
    pub says: String,
}

impl ColumnChange {
    /// As it can be written into SQL: types are among those that are known, no column is named twice.
    ///
    /// # Errors
    /// `invalid_argument` with what can be written instead.
    pub fn checked(changes: &[Self]) -> Result<Vec<Self>> {
        if changes.len() > CHANGES {
            return Err(Error::invalid("columns", format!("At most {CHANGES} columns can be changed at once.")));
        }
        let mut checked: Vec<Self> = Vec::new();
        for change in changes {
            let column = change.column.clone();
            if checked.iter().any(|known| known.column.eq_ignore_ascii_case(&column)) {
                return Err(refused(&column, "is changed twice"));
            }
            let name = change.name.clone().filter(|name| !name.is_empty());
            if name.as_ref().is_some_and(|name| !is_plain(name)) {
                return Err(refused(
                    &column,
                    "gets a name of 1 to 63 letters, digits and _, not beginning with a digit",
                ));
            }
            let given = change.r#type.as_deref().filter(|text| !text.is_empty());
            let r#type = given.map(|text| typed(text).ok_or_else(|| unknown(&column, text))).transpose()?;
            checked.push(Self { column, name, r#type, leave_out: change.leave_out });
        }
        Ok(checked)
    }
}

/// A column's name that SQL needs no quotes for.
fn is_plain(name: &str) -> bool {
    name.chars().count() <= 63
        && name.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_alphanumeric() || c == '_')
}

/// A type as SQL writes it, and the order in which its days are written where one is said.
#[must_use]
pub fn unordered(kind: &str) -> (&str, Option<&str>) {
    let ordered = kind.strip_suffix(')').and_then(|kind| kind.split_once('('));
    match ordered.filter(|(kind, _)| is_date(kind)) {
        Some((kind, order)) => (kind, Some(order)),
        None => (kind, None),
    }
}

/// Whether values of a type have a day.
#[must_use]
pub fn is_date(kind: &str) -> bool {
    matches!(kind, "DATE" | "TIMESTAMP")
}

/// A type as people can give it; `None` for one that a column cannot be given.
fn typed(text: &str) -> Option<String> {
    let plain: String = text.chars().filter(|c| !c.is_whitespace()).collect::<String>().to_ascii_uppercase();
    let known = match plain.as_str() {
        "TEXT" | "STRING" => "VARCHAR",
        "INTEGER" | "INT" => "BIGINT",
        "FLOAT" | "REAL" => "DOUBLE",
        "BOOL" => "BOOLEAN",
        "DATETIME" => "TIMESTAMP",
        "DECIMAL" | "NUMERIC" => "DECIMAL(18,2)",
        other => other,
    };
    if TYPES.iter().any(|(name, _)| *name == known) {
        return Some(known.to_owned());
    }
    let inner = known.strip_prefix("DECIMAL(").or_else(|| known.strip_prefix("NUMERIC("))?.strip_suffix(')')?;
    let (precision, scale) = inner.split_once(',').unwrap_or((inner, "0"));
    let (precision, scale): (u8, u8) = (precision.parse().ok()?, scale.parse().ok()?);
    ((1..=DIGITS).contains(&precision) && scale <= precision).then(|| format!("DECIMAL({precision},{scale})"))
}

fn refused(column: &str, why: &str) -> Error {
    let column: String = column.chars().take(64).collect();
    Error::invalid("columns", format!("The column {column} {why}."))
        .with(json!({ "field": "columns", "column": column }))
}

fn unknown(column: &str, text: &str) -> Error {
    let known: Vec<&str> = TYPES.iter().map(|(name, _)| *name).collect();
    let text: String = text.chars().take(64).collect();
    refused(column, &format!("cannot be of the type {text}. Choose one of {}", known.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_is_one_of_those_that_are_known() {
        for (text, name) in [
            ("text", Some("VARCHAR")),
            (" decimal( 9 , 3 ) ", Some("DECIMAL(9,3)")),
            ("numeric(5)", Some("DECIMAL(5,0)")),
            ("date", Some("DATE")),
            ("date (mdy)", Some("DATE(MDY)")),
            ("DATE(DYM)", None),
            ("DECIMAL(39,2)", None),
            ("DECIMAL(3,4)", None),
            ("DOUBLE); DROP TABLE t; --", None),
            ("STRUCT(a INT)", None),
        ] {
            assert_eq!(typed(text).as_deref(), name, "{text}");
        }
    }

    #[test]
    fn an_order_is_said_of_days_alone() {
        assert_eq!(unordered("TIMESTAMP(DMY)"), ("TIMESTAMP", Some("DMY")));
        assert_eq!(unordered("DATE"), ("DATE", None));
        assert_eq!(unordered("DECIMAL(18,2)"), ("DECIMAL(18,2)", None));
    }

    #[test]
    fn what_cannot_be_written_is_refused_in_the_name_of_its_column() {
        let change = |column: &str, name: &str| ColumnChange {
            column: column.into(),
            name: Some(name.into()),
            ..ColumnChange::default()
        };
        assert_eq!(ColumnChange::checked(&[change("a", "")]).unwrap()[0].name, None, "an empty field of a form");
        for (changes, part) in [
            (vec![change("a", "b c")], "The column a gets a name"),
            (vec![change("a", "b\"; --")], "The column a gets a name"),
            (vec![change("a", "1a")], "The column a gets a name"),
            (vec![change("a", "b"), change("A", "c")], "The column A is changed twice"),
        ] {
            let refused = ColumnChange::checked(&changes).unwrap_err();
            assert!(refused.message.contains(part), "{}", refused.message);
        }
    }
}
