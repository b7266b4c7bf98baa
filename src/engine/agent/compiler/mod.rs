//! From a plan to SQL.
//!
//! Every number is computed at the grain of its own dataset: the rows of a measure are grouped by the plan's dimensions
//! in a part of the statement of their own ([`rows`]), and the parts are put together by their groups ([`block`]). So
//! no join can repeat what is added up, and none can lose a row: dimensions are joined by LEFT JOIN, conditions on
//! other datasets' rows are EXISTS ([`condition`]). Then come what is shown, conditions on finished numbers, order and
//! limit ([`answer`]). What the statement relies on in the data is given along as [`Check`]s.

mod answer;
mod block;
mod calendar;
mod checks;
mod columns;
mod condition;
mod days;
mod error;
mod fields;
mod listing;
mod literal;
mod measure;
mod names;
mod rows;
mod scope;
#[cfg(test)]
mod tests;
mod work;

pub use checks::{Check, CheckKind};
pub use error::{CompileError, with_way};

use crate::engine::ontology::graph::Graph;
use crate::model::lineage::JoinUse;
use crate::model::ontology::{DataType, Ontology};
use crate::model::plan::Plan;
use crate::model::source::Dialect;

/// The longest statement, in bytes.
pub const MAX_BYTES: usize = 60 * 1024;

/// A plan as SQL, with what is needed to read and to check its result.
#[derive(Clone, Debug, PartialEq)]
pub struct Compiled {
    /// One SELECT that gives at most one row more than was asked for, so that a result that was cut can be told.
    pub sql: String,
    /// The result's columns, in their order.
    pub columns: Vec<OutputColumn>,
    /// One SELECT that gives one row: how many rows the answer has, where it may have more than can be taken.
    pub count_sql: Option<String>,
    /// Between datasets, by name.
    pub joins: Vec<JoinUse>,
    /// How the numbers are made, as sentences for people.
    pub notes: Vec<String>,
    /// What one row of the answer is.
    pub grain: String,
    /// What the statement relies on in the data.
    pub checks: Vec<Check>,
    /// One SELECT that gives one row with the numbers of the checks; none when there is nothing to look up.
    pub checks_sql: Option<String>,
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

/// What a column of the result is of the plan. Positions are those of the plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    Dimension(usize),
    Measure(usize),
    /// The measure at the comparison's time.
    Other(usize),
    /// The measure less the other.
    Difference(usize),
    /// The difference as a part of the other.
    Change(usize),
}

impl Role {
    pub fn is_dimension(self) -> bool {
        matches!(self, Role::Dimension(_))
    }
}

/// Writes the SQL of a plan. `rows` is how many rows the caller can take.
pub fn compile(
    plan: &Plan,
    ontology: &Ontology,
    graph: &Graph,
    dialect: Dialect,
    rows: u32,
) -> Result<Compiled, CompileError> {
    if dialect == Dialect::ClickHouse {
        return Err(CompileError::Unsupported(
            "questions over tables in ClickHouse are not available: write the statement yourself with the SQL tool"
                .into(),
        ));
    }
    let mut work = work::Work::new(plan, ontology, graph, dialect);
    let block = if plan.is_listing() { listing::block(&mut work)? } else { block::of_plan(&mut work)? };
    answer::finish(work, block, rows)
}
