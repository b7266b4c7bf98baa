//! What a statement relies on in the data, and the one statement that looks it all up.

use std::collections::BTreeSet;

use super::error::CompileError;
use super::layout::{indented, with};
use crate::model::source::quoted;

/// One thing to look up. Positions are those of columns of the statement that looks it up.
#[derive(Clone, Debug, PartialEq)]
pub struct Check {
    /// `one_side:flight_carrier`: stable for one plan.
    pub name: String,
    pub kind: CheckKind,
    /// What is expected, for people.
    pub says: String,
}

#[derive(Clone, Debug, PartialEq)]
pub enum CheckKind {
    /// As many rows as different keys: no join repeats a row.
    OneSide { rows: usize, keys: usize },
    /// Rows of a measure whose key has no partner, and those without a key, of how many. What the rows are, which of
    /// them have the key, and what it leads to, as nouns.
    /// `lost` is how many of them a condition leaves out, where one asks for the partner; `optional` is said by the
    /// ontology.
    Partners {
        orphans: usize,
        without: usize,
        of: usize,
        lost: Option<usize>,
        optional: bool,
        rows: String,
        from: String,
        to: String,
    },
    /// The total of a measure without the groups; the parts in the answer add up to it. Where a row may be in several
    /// groups (`shared`), none of them is more than it.
    Total { measure: usize, total: usize, shared: bool },
    /// Groups without a row of a number that is taken over all of them, or units of time that a course passes over, of
    /// how many. What the groups are, as a noun, and what those without one have, and what becomes of them: "no row, and
    /// count as 0".
    Groups { without: usize, of: usize, groups: String, have: &'static str },
    /// How many units amounts are in that are taken together. What these are, and what says their units, as nouns.
    Units { different: usize, amounts: String, by: String },
    /// The dimensions tell the rows of the answer apart.
    Grain,
}

/// What becomes of groups without a row, as [`CheckKind::Groups`] says it.
pub(super) fn without_rows(zero: bool) -> &'static str {
    if zero { "no row, and count as 0" } else { "no value, and are left out" }
}

/// A total among the numbers of the checks, and whether rows are in several of its parts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Total {
    pub column: usize,
    pub shared: bool,
}

/// Collects checks while a statement is made.
#[derive(Default)]
pub(super) struct Checks {
    /// Sub-queries of one row each.
    selects: Vec<String>,
    columns: usize,
    pub list: Vec<Check>,
    seen: BTreeSet<String>,
    problem: Option<CompileError>,
}

impl Checks {
    /// Whether a check is not there yet.
    pub(super) fn is_new(&mut self, name: String) -> bool {
        self.seen.insert(name)
    }

    /// A column for one more number; [`column_name`] is its name.
    pub(super) fn column(&mut self) -> usize {
        self.columns += 1;
        self.columns - 1
    }

    /// Adds a SELECT of one row with numbers.
    pub(super) fn look_up(&mut self, select: String) {
        self.selects.push(select);
    }

    /// Nothing can be looked up; the first problem is kept.
    pub(super) fn fail(&mut self, problem: CompileError) {
        self.problem.get_or_insert(problem);
    }

    /// One SELECT with one row; none when nothing is looked up.
    /// `parts` are those of the statement, which conditions may read.
    pub(super) fn sql(&self, parts: &[(String, String)]) -> Result<Option<String>, CompileError> {
        if let Some(problem) = &self.problem {
            return Err(problem.clone());
        }
        if self.selects.is_empty() {
            return Ok(None);
        }
        let columns: Vec<String> = (0..self.columns).map(column_name).collect();
        let from: Vec<String> = self
            .selects
            .iter()
            .enumerate()
            .map(|(at, select)| format!("(\n{}\n) AS {}", indented(select, 2), quoted(&format!("s{at}"))))
            .collect();
        let reads = |(name, _): &(String, String)| self.selects.iter().any(|select| select.contains(&quoted(name)));
        let (read, _) = parts.split_at(parts.iter().rposition(reads).map_or(0, |last| last + 1));
        Ok(Some(format!("{}SELECT {}\nFROM {}", with(read), columns.join(", "), from.join("\nCROSS JOIN "))))
    }
}

/// The name of a number among those that are looked up.
pub(super) fn column_name(column: usize) -> String {
    quoted(&format!("c{column}"))
}
