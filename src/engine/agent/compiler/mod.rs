//! From a plan to SQL.
//!
//! Every number is computed at the grain of its own dataset: the rows of a measure are grouped by the plan's dimensions
//! in a part of the statement of their own ([`rows`]), and the parts are put together by their groups ([`block`]). So
//! no join can repeat what is added up, and none can lose a row: dimensions are joined by LEFT JOIN, conditions on
//! other datasets' rows are EXISTS ([`condition`]). Then come what is shown, conditions on finished numbers, order and
//! limit ([`answer`]). What the statement relies on in the data is given along as [`Check`]s.
//!
//! A statement means the same in a session of any time zone: wherever a day or an hour is made of an instant, also in
//! expressions of the ontology, it says in which zone clocks are read, which is the ontology's.
//!
//! The files stand on floors. Each uses those below it and, on its own floor, those before it; none uses one above:
//!
//! 1. what is written and how: `error`, `names`, `layout`, `check`, `compiled`; what engines write differently are
//!    methods of the dialect (`engine/ontology/dialect.rs`);
//! 2. [`work`]: what is known and collected while a statement is made;
//! 3. single values: `literal`, `calendar`, `days`, `fields`;
//! 4. rows of several datasets: `joins`, `scope`;
//! 5. conditions on rows: `comparison`, [`condition`];
//! 6. measures taken apart: `words`, `leaf`, `calc`, `metric`, `measure`;
//! 7. one part: [`rows`], `last`, `watch`, `part`;
//! 8. parts put together: `subject`, `spine`, [`block`], `course`, `numbers`, `listing`;
//! 9. the answer: `layer`, `shown`, `order`, `headings`, `columns`, [`answer`].
//!
//! A condition may be on a number ("customers with more than 3 orders"), which is made three floors above: [`compile`]
//! gives the way there along ([`work::NumberOfEach`]).

mod answer;
mod block;
mod calc;
mod calendar;
mod check;
mod columns;
mod comparison;
mod compiled;
mod condition;
mod course;
mod days;
mod error;
mod fields;
mod headings;
mod joins;
mod last;
mod layer;
mod layout;
mod leaf;
mod listing;
mod literal;
mod measure;
mod metric;
mod names;
mod numbers;
mod order;
mod part;
mod rows;
mod scope;
mod shown;
mod spine;
mod subject;
#[cfg(test)]
mod tests;
mod watch;
mod words;
mod work;

pub use check::{Check, CheckKind};
pub use compiled::{Compiled, Note, NoteKind, OutputColumn, Reads};
pub use error::{CompileError, MAX_BYTES, with_way};

use crate::engine::ontology::graph::Graph;
use crate::model::ontology::Ontology;
use crate::model::plan::Plan;
use crate::model::source::Dialect;

/// Writes the SQL of a plan. `rows` is how many rows the caller can take.
pub fn compile(
    plan: &Plan,
    ontology: &Ontology,
    graph: &Graph,
    dialect: Dialect,
    rows: u32,
) -> Result<Compiled, CompileError> {
    let mut work = work::Work::new(plan, ontology, graph, dialect, numbers::of_each);
    let block = if plan.is_listing() { listing::block(&mut work)? } else { numbers::of_plan(&mut work)? };
    answer::finish(work, block, rows)
}
