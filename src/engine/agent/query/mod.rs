//! The language of the semantic query ([`crate::model::query::Query`]): texts in SQL's way of writing over the names of
//! an ontology, read into a [`crate::model::plan::Plan`] and written from one. No text reaches an engine.
//!
//! What is read is lenient: keywords and names in any case, what other semantic layers and SQL write for the same. What
//! is written is one way, and reading it gives the plan again. [`read()`] and [`write()`] lead; each of the others is one
//! part of the language: [`lexer`] and [`words`], [`names`] of the ontology, [`values`] with their [`aggregates`] of what
//! single [`rows`] give, [`dimensions`], [`conditions`](mod@conditions) with what a field is [`compared`] with,
//! [`cycles`] of the calendar and [`belonging`], [`times`] of [`stretches`] and their [`comparison`], and [`columns`] of
//! the answer.

mod aggregates;
mod belonging;
mod columns;
mod compared;
mod comparison;
mod conditions;
mod cursor;
mod cycles;
mod dimensions;
mod lexer;
mod names;
mod problem;
mod read;
mod rows;
mod stretches;
mod times;
mod values;
mod words;
mod write;
mod write_conditions;
mod write_times;
mod write_values;

pub(crate) use problem::refusal;
pub(crate) use read::read;
pub(crate) use words::name;
pub(crate) use write::{conditions, write};

#[cfg(test)]
mod tests;
