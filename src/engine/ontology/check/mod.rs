//! Whether an ontology is consistent in itself and with its tables.
//!
//! Everything here is found without reading a row; what only the rows can tell is found by attestation.

mod columns;
mod expressions;
#[cfg(test)]
mod tests;
mod words;

use std::collections::HashMap;

use crate::base::nearest::nearest;
use crate::engine::ontology::graph;
use crate::engine::ontology::read::datatype_of;
use crate::model::dataset::{ColumnInfo, Dataset, Kind};
use crate::model::ontology::{DataType, Entity, Field, Ontology, Problem};

/// Problems that one check reports.
pub const MAX_PROBLEMS: usize = 200;

/// Checks an ontology against the tables that its workspace has. Paths are those of a document; its
/// [`crate::engine::ontology::read::Document::place`] adds lines.
pub fn check(ontology: &Ontology, tables: &[Dataset]) -> Vec<Problem> {
    let of_tables = tables.iter().filter(|table| table.kind == Kind::Table);
    let by_name = of_tables.map(|table| (table.name.to_ascii_lowercase(), table)).collect();
    let mut check = Check { ontology, tables, by_name, problems: Vec::new(), errors: 0 };
    check.datasets();
    check.relationships();
    check.expressions();
    check.words();
    let mut problems = check.problems;
    if problems.len() > MAX_PROBLEMS {
        // Errors decide whether it can be used: none of them may be hidden by warnings.
        problems.sort_by_key(|problem| problem.severity);
        problems.truncate(MAX_PROBLEMS);
    }
    problems
}

struct Check<'a> {
    ontology: &'a Ontology,
    tables: &'a [Dataset],
    /// Those with columns, by name in lower case.
    by_name: HashMap<String, &'a Dataset>,
    problems: Vec<Problem>,
    /// How many of the problems are errors.
    errors: usize,
}

impl<'a> Check<'a> {
    fn error(&mut self, path: String, message: String, hint: impl Into<String>) {
        if !self.is_full() {
            self.errors += 1;
            self.problems.push(Problem::error(path, message, hint));
        }
    }

    /// Whether there are as many errors as are reported: nothing needs to be looked at any more.
    fn is_full(&self) -> bool {
        self.errors >= MAX_PROBLEMS
    }

    fn warn(&mut self, path: String, message: String, hint: impl Into<String>) {
        self.problems.push(Problem::warning(path, message, hint));
    }

    /// The table that a dataset reads.
    fn table(&self, entity: &Entity) -> Option<&'a Dataset> {
        self.by_name.get(&source(entity).to_ascii_lowercase()).copied()
    }

    fn column(&self, entity: &Entity, name: &str) -> Option<&'a ColumnInfo> {
        self.table(entity)?.columns.iter().find(|column| column.name.eq_ignore_ascii_case(name))
    }

    /// The type of a field, as far as it is known: of one that is a column, the column's; of a computed one, what the
    /// document says, whatever the table has under its name.
    fn field_type(&self, entity: &Entity, field: &Field) -> DataType {
        let column = graph::plain_column(entity, &field.name).and_then(|column| self.column(entity, column));
        known(column, field.datatype)
    }

    /// The type of a column by its name or by that of the field that it is, as far as it is known.
    fn column_type(&self, entity: &Entity, name: &str) -> DataType {
        let declared = entity.field(name).map_or(DataType::Opaque, |field| field.datatype);
        known(self.column(entity, graph::column(entity, name)), declared)
    }

    /// A field by `dataset.field`.
    fn field(&self, name: &str) -> Option<(&'a Entity, &'a Field)> {
        let (dataset, field) = name.split_once('.')?;
        let entity = self.ontology.entity(dataset)?;
        Some((entity, entity.field(field)?))
    }

    /// "Write `x`." where something comes near, else what there is.
    fn suggest<'n>(&self, name: &str, known: impl Iterator<Item = &'n str> + Clone) -> String {
        if self.is_full() {
            return String::new();
        }
        match nearest(name, known.clone()) {
            Some(near) => format!("Write `{near}`."),
            None => {
                let names: Vec<&str> = known.take(10).collect();
                if names.is_empty() { String::new() } else { format!("There are: {}.", names.join(", ")) }
            }
        }
    }
}

/// A column's own type counts more than what the document says of it.
fn known(column: Option<&ColumnInfo>, declared: DataType) -> DataType {
    match column.map(|column| datatype_of(&column.r#type)) {
        None | Some(DataType::Opaque) => declared,
        Some(datatype) => datatype,
    }
}

/// The name of a dataset's table.
fn source(entity: &Entity) -> &str {
    if entity.source.is_empty() { &entity.name } else { &entity.source }
}
