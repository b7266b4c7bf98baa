//! A plan as SQL.

use std::collections::BTreeSet;

use super::check::Check;
use crate::engine::render::column::Role;
use crate::model::lineage::JoinUse;
use crate::model::ontology::DataType;
use crate::model::plan::FieldRef;

/// A plan as SQL, with what is needed to read and to check its result.
#[derive(Clone, Debug, PartialEq)]
pub struct Compiled {
    /// One SELECT that gives at most one row more than was asked for, so that a result that was cut can be told.
    pub sql: String,
    /// The result's columns, in their order.
    pub columns: Vec<OutputColumn>,
    /// One SELECT that gives one row: how many rows the answer has, where it may have more than can be taken.
    pub count_sql: Option<String>,
    /// What it reads, whatever engine it is written for.
    pub reads: Reads,
    /// How the numbers are made.
    pub notes: Vec<Note>,
    /// What one row of the answer is.
    pub grain: String,
    /// What the statement relies on in the data.
    pub checks: Vec<Check>,
    /// One SELECT that gives one row with the numbers of the checks; none when there is nothing to look up.
    pub checks_sql: Option<String>,
}

/// How numbers are made, for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    pub kind: NoteKind,
    /// A sentence.
    pub says: String,
}

/// When a note is worth telling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoteKind {
    Always,
    /// Where the answer has gaps: groups for which one of its numbers has no row.
    Gaps,
    /// Where one of the answer's numbers has no value.
    Empty,
}

/// What a statement reads, in names of the ontology.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reads {
    pub datasets: BTreeSet<String>,
    pub joins: Vec<JoinUse>,
    /// `dataset.field`: when rows were, where those of a time are read only.
    pub times: Vec<String>,
    /// Conditions of metrics, as the ontology writes them: the metric's name, and the condition.
    pub of_metrics: Vec<(String, String)>,
}

impl Reads {
    pub(super) fn time(&mut self, field: &FieldRef) {
        add(&mut self.times, format!("{}.{}", field.dataset, field.field));
    }

    pub(super) fn join(&mut self, join: JoinUse) {
        add(&mut self.joins, join);
    }

    pub(super) fn of_metric(&mut self, metric: &str, condition: &str) {
        add(&mut self.of_metrics, (metric.to_owned(), condition.to_owned()));
    }
}

/// Adds what is not there yet.
fn add<T: PartialEq>(to: &mut Vec<T>, one: T) {
    if !to.contains(&one) {
        to.push(one);
    }
}

/// A column of the result.
#[derive(Clone, Debug, PartialEq)]
pub struct OutputColumn {
    /// For people; unique in the result without regard to case.
    pub heading: String,
    pub role: Role,
    pub datatype: DataType,
    pub unit: Option<String>,
    pub format: Option<String>,
    /// Whether NULL may occur.
    pub nullable: bool,
}
