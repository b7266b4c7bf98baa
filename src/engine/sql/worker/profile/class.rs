//! How columns are read, by their types.

use crate::model::personal::Content;

/// How a column is read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    Text,
    Uuid,
    Whole,
    Float,
    Decimal,
    Boolean,
    /// Days and moments, which can be infinite.
    Day,
    /// Times of day and intervals.
    Time,
    Nested,
    /// Binary values: counted, never shown.
    Binary,
    /// What a later engine may bring: only NULLs are counted.
    Opaque,
}

impl Class {
    pub(super) fn of(r#type: &str) -> Self {
        let head = r#type.split('(').next().unwrap_or_default();
        match head {
            _ if r#type.ends_with(']') => Class::Nested,
            "STRUCT" | "MAP" | "UNION" | "JSON" => Class::Nested,
            "VARCHAR" | "ENUM" => Class::Text,
            "UUID" => Class::Uuid,
            "TINYINT" | "SMALLINT" | "INTEGER" | "BIGINT" | "HUGEINT" | "UTINYINT" | "USMALLINT" | "UINTEGER"
            | "UBIGINT" | "UHUGEINT" | "BIGNUM" => Class::Whole,
            "FLOAT" | "DOUBLE" => Class::Float,
            "DECIMAL" => Class::Decimal,
            "BOOLEAN" => Class::Boolean,
            "DATE" => Class::Day,
            _ if head.starts_with("TIMESTAMP") => Class::Day,
            "BLOB" | "BIT" => Class::Binary,
            "INTERVAL" => Class::Time,
            _ if head.starts_with("TIME") => Class::Time,
            _ => Class::Opaque,
        }
    }

    pub(super) fn is_number(self) -> bool {
        matches!(self, Class::Whole | Class::Float | Class::Decimal)
    }

    pub(super) fn content(self) -> Content {
        match self {
            Class::Text => Content::Text,
            // A whole number is often stored as a float because some of its column are missing.
            Class::Whole | Class::Float | Class::Decimal => Content::Whole,
            Class::Day => Content::Time,
            Class::Nested => Content::Nested,
            Class::Uuid | Class::Boolean => Content::Other,
            Class::Time | Class::Binary | Class::Opaque => Content::Other,
        }
    }

    /// Whether values of a column, of which `max` is the greatest, are worth a look.
    pub(super) fn could_be_personal(self, max: Option<&str>) -> bool {
        match self.content() {
            Content::Text | Content::Nested => true,
            // No phone and no card has fewer digits.
            Content::Whole => max.is_some_and(|max| max.len() >= 7),
            Content::Time | Content::Other => false,
        }
    }
}

/// A column with NULL in the place of numbers and moments that are infinite. It is no `FILTER` of an aggregate: for each
/// of those the engine holds all columns of the statement.
pub(super) fn finite(class: Class, column: &str) -> String {
    match class {
        Class::Float | Class::Day => format!("CASE WHEN isfinite({column}) THEN {column} END"),
        _ => column.to_owned(),
    }
}

/// An estimate of the median as text; NULL of a type that has none.
pub(super) fn estimated_median(class: Class, column: &str) -> String {
    match class.is_number() || class == Class::Day {
        true => format!("CAST(approx_quantile({}, 0.5) AS VARCHAR)", finite(class, column)),
        false => "CAST(NULL AS VARCHAR)".to_owned(),
    }
}

/// The exact median of a type that has one: between two numbers, or one of the moments.
pub(super) fn median(class: Class, column: &str) -> Option<String> {
    let column = finite(class, column);
    match class {
        class if class.is_number() => Some(format!("quantile_cont({column}, 0.5)")),
        Class::Day | Class::Time => Some(format!("quantile_disc({column}, 0.5)")),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_read_as_what_they_hold() {
        for (r#type, class) in [
            ("DECIMAL(10,2)", Class::Decimal),
            ("TIMESTAMP WITH TIME ZONE", Class::Day),
            ("TIME", Class::Time),
            ("ENUM('a', 'b')", Class::Text),
            ("VARCHAR[]", Class::Nested),
            ("BLOB", Class::Binary),
            ("GEOMETRY", Class::Opaque),
        ] {
            assert!(Class::of(r#type) == class, "{type}");
            assert_eq!(Content::of_type(r#type), class.content(), "{type}: judged alike wherever it is shown");
        }
    }
}
