//! Rows of data as a page shows them.

use serde_json::Value;

use crate::model::error::{Error, Result};
use crate::model::table::{Column, RowText};

/// Characters of a value that a cell shows.
const CELL: usize = 400;

/// A value in its cell.
pub(super) struct Cell {
    pub(super) text: String,
    pub(super) is_number: bool,
    pub(super) is_null: bool,
}

/// A table of a page.
pub(super) struct Shown {
    pub(super) columns: Vec<Column>,
    pub(super) rows: Vec<Vec<Cell>>,
    /// Which columns are of numbers alone, so that headings and NULLs stand where they do.
    numeric: Vec<bool>,
}

impl Shown {
    /// # Errors
    /// A row is no array of JSON.
    pub(super) fn of(columns: Vec<Column>, rows: &[RowText]) -> Result<Self> {
        let row = |row: &RowText| -> Result<Vec<Cell>> {
            let values: Vec<Value> = serde_json::from_str(row.get()).map_err(Error::internal)?;
            Ok(values.iter().map(Cell::of).collect())
        };
        let rows = rows.iter().map(row).collect::<Result<Vec<_>>>()?;
        let is_numeric = |at: usize| {
            let mut cells = rows.iter().filter_map(|row| row.get(at)).filter(|cell| !cell.is_null).peekable();
            cells.peek().is_some() && cells.all(|cell| cell.is_number)
        };
        let numeric = (0..columns.len()).map(is_numeric).collect();
        Ok(Self { columns, rows, numeric })
    }

    /// Whether a column is of numbers.
    pub(super) fn is_numeric(&self, at: &usize) -> bool {
        self.numeric.get(*at).copied().unwrap_or_default()
    }
}

impl Cell {
    fn of(value: &Value) -> Self {
        let text = match value {
            Value::Null => String::new(),
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        let text = match text.char_indices().nth(CELL) {
            Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default()),
            None => text,
        };
        Self { text, is_number: value.is_number(), is_null: value.is_null() }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::value::to_raw_value;

    use super::*;

    #[test]
    fn values_are_texts_that_say_what_they_are() {
        let column = |name: &str| Column { name: name.into(), r#type: "VARCHAR".into() };
        let rows = [(1, None::<&str>), (2, Some("é"))].map(|row| to_raw_value(&row).unwrap());
        let shown = Shown::of(vec![column("n"), column("t")], &rows).unwrap();
        assert!(shown.is_numeric(&0) && !shown.is_numeric(&1));
        let cells: Vec<(&str, bool)> = shown.rows.iter().flatten().map(|cell| (&*cell.text, cell.is_null)).collect();
        assert_eq!(cells, [("1", false), ("", true), ("2", false), ("é", false)]);
        let long = Cell::of(&Value::String("ß".repeat(CELL + 1)));
        assert_eq!(long.text.chars().count(), CELL + 1, "cut, and marked");
    }
}
