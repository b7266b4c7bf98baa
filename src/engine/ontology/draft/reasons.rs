//! Why columns became what they are: what decides about one says why, and that is kept until the draft is made.

use schemars::JsonSchema;
use serde::Serialize;

use crate::engine::ontology::draft::DraftTable;

/// That the values of a column are few and known.
pub(super) const CLOSED: &str = "Closed set";

/// A table, and why its columns became what they are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TableReasons {
    pub table: String,
    pub columns: Vec<ColumnReasons>,
}

/// A column, and what was decided about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ColumnReasons {
    pub column: String,
    pub reasons: Vec<Reason>,
}

/// A decision about a column, and what it was taken by.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Reason {
    /// "Measure", "Added up", "In EUR", "Personal".
    pub decided: String,
    /// A sentence.
    pub because: String,
}

/// What was judged of a table beside its dataset.
pub(super) struct Judged {
    /// How well its time is called, 1 to 4; 0 where it has none.
    pub sure: u8,
    /// Of its columns, in their order; the first of each is for its role.
    pub reasons: Vec<Vec<Reason>>,
}

impl Reason {
    pub(super) fn new(decided: impl Into<String>, because: impl Into<String>) -> Self {
        Self { decided: decided.into(), because: because.into() }
    }
}

impl Judged {
    /// Adds what was decided about the column at a place. Fields that are made of several columns have none.
    pub(super) fn say(&mut self, at: usize, reason: Reason) {
        if let Some(reasons) = self.reasons.get_mut(at) {
            reasons.push(reason);
        }
    }

    /// Says another role of the column at a place.
    pub(super) fn say_role(&mut self, at: usize, reason: Reason) {
        if let Some(role) = self.reasons.get_mut(at).and_then(|reasons| reasons.first_mut()) {
            *role = reason;
        }
    }

    /// With the names of the table and its columns.
    pub(super) fn of(self, table: &DraftTable) -> TableReasons {
        let columns = table.columns.iter().zip(self.reasons);
        let columns = columns.map(|(column, reasons)| ColumnReasons { column: column.name.clone(), reasons });
        TableReasons { table: table.name.clone(), columns: columns.collect() }
    }
}
