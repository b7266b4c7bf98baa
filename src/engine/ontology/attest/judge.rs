//! What the answers of the data mean.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::Part;
use crate::base::counted::counted;
use crate::engine::ontology::read::datatype_of;
use crate::model::ontology::{DataType, Finding, Severity};
use crate::model::table::Table;

/// Values of a closed set.
pub(super) const MAX_VALUES: usize = 200;

/// How a part's columns are read.
#[derive(Clone, Debug, PartialEq)]
pub enum Judge {
    /// Rows, filled rows, distinct values.
    Key { is_primary: bool },
    /// Rows, filled rows.
    Filled { severity: Severity, otherwise: &'static str },
    /// That it gives anything at all.
    Computes,
    /// The type of the column.
    Type { declared: DataType },
    /// One value a row; those that people have words for should be among them.
    Values { worded: BTreeSet<String> },
    /// Rows, filled rows, rows without a partner.
    Partners { is_optional: bool, to: String },
    /// Filled rows, distinct values of a side that is not declared as unique.
    Unkeyed { to: String, columns: String },
    /// The number; it is only shown where every row may be seen by everybody.
    Metric { declared: DataType, shows: bool },
}

/// A finding that did not pass.
pub(super) fn failed(what: String, severity: Severity, says: String) -> Finding {
    Finding { what, passed: false, severity, says, figures: Map::new() }
}

impl Part {
    /// That the engine refused the question.
    pub fn refused(&self, error: &str) -> Finding {
        // A type that cannot be found out is the expression's fault.
        let what = self.what.strip_suffix(".datatype").map_or(self.what.clone(), |field| format!("{field}.expression"));
        failed(what, Severity::Error, format!("`{}` cannot be computed: {error}", self.name))
    }

    /// Judges the answer, whose columns for this part begin at `at`. `None` where nothing is worth saying.
    pub fn judge(&self, table: &Table, at: usize) -> Option<Finding> {
        let count = |offset: usize| table.rows.first().and_then(|row| whole(row.get(at + offset)?)).unwrap_or_default();
        match &self.judge {
            Judge::Key { is_primary } => Some(self.key(*is_primary, count(0), count(1), count(2))),
            Judge::Filled { severity, otherwise } => {
                let empty = count(0) - count(1);
                let says = format!("`{}` is empty in {empty} of {} rows; {otherwise}.", self.name, count(0));
                let figures = figures([("rows", count(0)), ("empty", empty)]);
                (empty > 0).then(|| Finding { figures, ..failed(self.what.clone(), *severity, says) })
            }
            Judge::Computes => None,
            Judge::Type { declared } => self.datatype(*declared, &table.columns.get(at)?.r#type),
            Judge::Values { worded } => Some(self.values(worded, table, at)),
            Judge::Partners { is_optional, to } => Some(self.partners(*is_optional, to, count(0), count(1), count(2))),
            Judge::Unkeyed { to, columns } => {
                let is_unique = count(0) == count(1) && count(0) > 0;
                let says = if is_unique {
                    format!(
                        "{columns} are unique in `{to}`: declare them as a key, so that `{}` can be used.",
                        self.name
                    )
                } else {
                    format!("{columns} are not unique in `{to}`: nothing can be added up across `{}`.", self.name)
                };
                let figures = figures([("filled", count(0)), ("distinct", count(1))]);
                Some(Finding { figures, ..failed(self.what.clone(), Severity::Warning, says) })
            }
            Judge::Metric { declared, shows } => {
                let value = table.rows.first().and_then(|row| row.get(at)).cloned().unwrap_or_default();
                let actual = &table.columns.get(at)?.r#type;
                Some(self.metric(*declared, actual, value, *shows))
            }
        }
    }

    fn key(&self, is_primary: bool, rows: i64, filled: i64, distinct: i64) -> Finding {
        let (empty, repeated) = (rows - filled, filled - distinct);
        let mut wrong = Vec::new();
        if is_primary && empty > 0 {
            wrong.push(format!("is empty in {empty} of {rows} rows"));
        }
        if repeated > 0 {
            wrong.push(format!("repeats a value in {repeated} of {rows} rows"));
        }
        let says = if wrong.is_empty() {
            format!("`{}` is unique in {}.", self.name, counted(rows, "row"))
        } else {
            format!("`{}` is declared as a key, but {}.", self.name, wrong.join(" and "))
        };
        Finding {
            what: self.what.clone(),
            passed: wrong.is_empty(),
            severity: Severity::Error,
            says,
            figures: figures([("rows", rows), ("empty", empty), ("repeated", repeated)]),
        }
    }

    fn datatype(&self, declared: DataType, native: &str) -> Option<Finding> {
        let actual = datatype_of(native);
        let says = format!("`{}` is declared as {declared:?}, but the engine computes {native}.", self.name);
        (!fits(declared, actual)).then(|| failed(self.what.clone(), Severity::Error, says))
    }

    fn values(&self, worded: &BTreeSet<String>, table: &Table, at: usize) -> Finding {
        let found: BTreeSet<String> = table.rows.iter().filter_map(|row| row.get(at).map(text)).collect();
        let strange: Vec<&String> = worded.difference(&found).collect();
        let many = found.len() > MAX_VALUES;
        let says = if many {
            format!("`{}` has more than {MAX_VALUES} values: it is no closed set.", self.name)
        } else if let [first, ..] = strange.as_slice() {
            format!(
                "{} of the {} values of `{}` that people have words for occur in no row, such as `{first}`.",
                strange.len(),
                worded.len(),
                self.name
            )
        } else {
            format!("`{}` has {}.", self.name, counted(found.len(), "value"))
        };
        Finding {
            what: self.what.clone(),
            passed: !many && (strange.is_empty() || table.truncated),
            severity: Severity::Warning,
            says,
            figures: figures([("values", found.len() as i64), ("not_found", strange.len() as i64)]),
        }
    }

    fn partners(&self, is_optional: bool, to: &str, rows: i64, filled: i64, orphans: i64) -> Finding {
        let empty = rows - filled;
        let missing = orphans > 0 || (empty > 0 && !is_optional);
        let says = match (orphans, empty) {
            (0, _) if !missing => format!("Every value of `{}` that is filled is found in `{to}`.", self.name),
            (0, _) => {
                format!("{empty} of {rows} rows of `{}` are empty, although each should have its `{to}`.", self.name)
            }
            _ => format!("{orphans} of {rows} rows of `{}` name a `{to}` that does not exist.", self.name),
        };
        Finding {
            what: self.what.clone(),
            passed: !missing,
            // Where rows without a partner are expected they are kept and counted, so nothing is lost.
            severity: if is_optional { Severity::Warning } else { Severity::Error },
            says,
            figures: figures([("rows", rows), ("empty", empty), ("orphans", orphans)]),
        }
    }

    fn metric(&self, declared: DataType, native: &str, value: Value, shows: bool) -> Finding {
        let fits = fits(declared, datatype_of(native));
        let says = if !fits {
            format!("`{}` is declared as {declared:?}, but the engine computes {native}.", self.name)
        } else if value.is_null() {
            format!("`{}` gives nothing over all rows.", self.name)
        } else {
            format!("`{}` runs.", self.name)
        };
        let mut figures = Map::new();
        if shows {
            figures.insert("value".into(), value.clone());
        }
        Finding {
            what: self.what.clone(),
            passed: fits && !value.is_null(),
            severity: if fits { Severity::Warning } else { Severity::Error },
            says,
            figures,
        }
    }
}

/// Counts come as numbers, or as texts where they could be too large for one.
fn whole(value: &Value) -> Option<i64> {
    value.as_i64().or_else(|| value.as_str()?.parse().ok())
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn figures<const N: usize>(figures: [(&str, i64); N]) -> Map<String, Value> {
    figures.into_iter().map(|(name, count)| (name.to_owned(), json!(count))).collect()
}

/// Whether two types can both be right for one thing: whole and fractional numbers may, dates and times may.
pub(super) fn fits(declared: DataType, actual: DataType) -> bool {
    declared == actual
        || declared == DataType::Opaque
        || actual == DataType::Opaque
        || declared.is_number() && actual.is_number()
        || declared.is_calendar() && actual.is_calendar()
}
