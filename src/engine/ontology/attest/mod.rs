//! Whether the data keep what an ontology says: the questions for the data, and how their answers are judged.
//!
//! Keys must be unique and filled, relationships must find their partners, expressions must compute with the declared
//! types, closed sets must hold, and metrics must run. Nothing is executed here: [`mod@plan`] writes statements,
//! [`Part::judge`] reads their answers, and [`crate::engine::ontology::attest_run`] stands between them.

mod judge;
mod names;
mod plan;
#[cfg(test)]
mod tests;

pub use judge::Judge;
pub use plan::plan;

use crate::model::ontology::Finding;
use crate::model::source::Dialect;

/// What there is to ask.
#[derive(Debug, Default)]
pub struct Plan {
    pub groups: Vec<Group>,
    /// What failed before anything was asked.
    pub findings: Vec<Finding>,
}

/// Questions that one pass over the same rows can answer.
#[derive(Debug)]
pub struct Group {
    /// What is read, from `FROM` on; empty where nothing is.
    pub from: String,
    /// What its engine speaks.
    pub dialect: Dialect,
    /// The tables of the service itself in it, as a FROM reads them.
    pub local: Vec<String>,
    pub parts: Vec<Part>,
}

/// One question.
#[derive(Clone, Debug)]
pub struct Part {
    /// Path into the model.
    pub what: String,
    /// The thing, for sentences: `claim.claim_identifier`.
    pub name: String,
    /// Expressions of the SELECT list.
    pub select: Vec<String>,
    pub judge: Judge,
}

/// A statement and the questions that it answers, in the order of its columns.
#[derive(Debug)]
pub struct Statement<'p> {
    pub sql: String,
    pub parts: Vec<&'p Part>,
}

/// A statement that reads next to nothing of some tables, and so many of them as fit into it. A worker that is asked it
/// opens all of them at once; one that meets each in a statement of its own has to be started anew for each.
pub fn opening(tables: &[&str], max_chars: usize) -> (String, usize) {
    let (mut sql, mut count) = ("SELECT".to_owned(), 0);
    for table in tables {
        let next = format!("{} EXISTS (SELECT 1 FROM {table} AS t) AS c{count}", if count == 0 { "" } else { "," });
        if count > 0 && sql.chars().count() + next.chars().count() > max_chars {
            break;
        }
        sql += &next;
        count += 1;
    }
    (sql, count)
}

impl Group {
    /// As few statements as there can be of at most `max_chars` characters each. A question that is longer alone stands
    /// alone: the engine says what is wrong with it.
    pub fn statements(&self, max_chars: usize) -> Vec<Statement<'_>> {
        let mut statements = Vec::new();
        let mut now: Vec<&Part> = Vec::new();
        for part in &self.parts {
            now.push(part);
            if now.len() > 1 && self.sql(&now).chars().count() > max_chars {
                now.pop();
                statements.push(Statement { sql: self.sql(&now), parts: std::mem::replace(&mut now, vec![part]) });
            }
        }
        if !now.is_empty() {
            statements.push(Statement { sql: self.sql(&now), parts: now });
        }
        statements
    }

    /// A statement for some of the questions.
    pub fn sql(&self, parts: &[&Part]) -> String {
        let columns: Vec<String> = parts
            .iter()
            .flat_map(|part| &part.select)
            .enumerate()
            .map(|(at, expression)| format!("{expression} AS c{}", at + 1))
            .collect();
        format!("SELECT {}{}{}", columns.join(", "), self.from, self.dialect.ending())
    }
}
