//! Asks the data of a workspace whether they keep what an ontology says.

use std::collections::BTreeSet;

use super::attest::{Group, Part, opening, plan};
use crate::base::clock::Millis;
use crate::engine::job::{Job, Progress};
use crate::engine::sql::SqlEngine;
use crate::model::error::{Code, Error, Result};
use crate::model::ontology::{Attestation, Finding, Ontology};
use crate::model::table::Table;

/// Tables that are opened together.
const AT_ONCE: usize = 50;

/// Statements after which tables are opened again: the worker that held them may be gone, and where it is not, to open
/// them costs next to nothing.
const HELD_FOR: usize = 50;

/// Runs every question, one statement after the other, over the tables of the job's pass. A statement that is wrong for
/// the data is a finding.
///
/// # Errors
/// Whatever else keeps a statement from being answered (its time, its memory, load, a source that is away): it says
/// nothing of the ontology.
pub async fn attest(sql: &SqlEngine, job: &Job<'_>, ontology: &Ontology, now: Millis) -> Result<Attestation> {
    let plan = plan(ontology, job.pass.datasets());
    let mut findings = plan.findings;
    let max = job.budget.sql_chars;
    let groups: Vec<_> = plan.groups.iter().map(|group| (group, group.statements(max))).collect();
    let all: usize = groups.iter().map(|(_, statements)| statements.len()).sum();
    let (mut done, mut opened) = (0_usize, Opened::default());
    for (index, (group, statements)) in groups.into_iter().enumerate() {
        for statement in statements {
            job.check()?;
            opened.before(sql, job, &plan.groups, index).await;
            if let (Some(report), Some(first)) = (job.on_progress(), statement.parts.first()) {
                let fraction = Some(done as f64 / all as f64);
                report(Progress { fraction, message: format!("Asking the data about {}", first.name) });
            }
            findings.extend(ask(sql, job, group, &statement.sql, &statement.parts).await?);
            done += 1;
        }
    }
    // Several questions may fail for one reason.
    let mut known = BTreeSet::new();
    findings.retain(|finding| finding.passed || known.insert(finding.what.clone()));
    let passed = findings.iter().all(|finding| finding.passed || !finding.is_error());
    Ok(Attestation { passed, checked_at: now, findings })
}

/// What the worker holds, as far as is known.
struct Opened<'g> {
    tables: BTreeSet<&'g str>,
    at_once: usize,
    /// Statements since nothing was taken for open.
    statements: usize,
}

impl Default for Opened<'_> {
    fn default() -> Self {
        Self { tables: BTreeSet::new(), at_once: AT_ONCE, statements: 0 }
    }
}

impl<'g> Opened<'g> {
    /// Has the tables opened together that a group's next statement and those after it read. When they cannot be, fewer
    /// are from then on; that even one cannot be is for the statements to find.
    async fn before(&mut self, sql: &SqlEngine, job: &Job<'_>, groups: &'g [Group], index: usize) {
        loop {
            let next = self.next(groups, index);
            let (text, count) = opening(&next, job.budget.sql_chars);
            if count <= 1 || sql.query(job, &text).await.is_ok() {
                self.tables.extend(next.into_iter().take(count));
                break;
            }
            tracing::debug!(count, "tables could not be opened together");
            self.at_once = count / 2;
        }
        self.statements += 1;
    }

    /// The tables to open now, if any. A group that names none may read those of all.
    fn next(&mut self, groups: &'g [Group], index: usize) -> Vec<&'g str> {
        if self.statements >= HELD_FOR {
            self.tables.clear();
            self.statements = 0;
        }
        let (past, rest) = groups.split_at(index);
        let local = |group: &'g Group| group.local.iter().map(String::as_str);
        let own = rest.first().filter(|group| !group.local.is_empty());
        let is_open = match own {
            Some(group) => local(group).all(|table| self.tables.contains(table)),
            None => !self.tables.is_empty(),
        };
        let mut next = Vec::new();
        if is_open {
            return next;
        }
        for table in rest.iter().chain(past).flat_map(local) {
            if next.len() == self.at_once {
                break;
            }
            if !self.tables.contains(table) && !next.contains(&table) {
                next.push(table);
            }
        }
        next
    }
}

/// One statement; when it is wrong, each of its questions alone, so that one broken expression hides no other finding.
async fn ask(sql: &SqlEngine, job: &Job<'_>, group: &Group, text: &str, parts: &[&Part]) -> Result<Vec<Finding>> {
    match sql.query(job, text).await {
        Ok(answer) => return Ok(judged(parts, &answer.table)),
        Err(error) if is_wrong(&error) => {
            if let [part] = parts {
                return Ok(vec![refused(sql, job, part, text).await?]);
            }
        }
        Err(error) => return Err(error),
    }
    let mut findings = Vec::new();
    for part in parts {
        job.check()?;
        let text = group.sql(&[part]);
        match sql.query(job, &text).await {
            Ok(answer) => findings.extend(judged(&[part], &answer.table)),
            Err(error) if is_wrong(&error) => findings.push(refused(sql, job, part, &text).await?),
            Err(error) => return Err(error),
        }
    }
    Ok(findings)
}

/// Whether it is the statement's fault.
fn is_wrong(error: &Error) -> bool {
    matches!(error.code, Code::InvalidArgument | Code::ForbiddenSql | Code::SqlTooLong)
}

/// The finding for a statement that is wrong. What an engine says of a statement that fails over no rows at all is about
/// its text; what it says of one that fails over the stored rows may quote what is stored, and is not repeated.
async fn refused(sql: &SqlEngine, job: &Job<'_>, part: &Part, text: &str) -> Result<Finding> {
    match sql.query(job, &format!("SELECT * FROM ({text}) AS nothing LIMIT 0")).await {
        Ok(_) => {
            Ok(part.refused("a value that is stored does not fit the expression, such as a text that is no number"))
        }
        Err(without) if without.code == Code::SqlTooLong => Ok(part.refused("it is too long")),
        Err(without) if is_wrong(&without) => Ok(part.refused(&without.message)),
        Err(other) => Err(other),
    }
}

fn judged(parts: &[&Part], table: &Table) -> Vec<Finding> {
    let mut at = 0;
    let mut findings = Vec::new();
    for part in parts {
        findings.extend(part.judge(table, at));
        at += part.select.len();
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::source::Dialect;

    fn groups(tables: &[&[&str]]) -> Vec<Group> {
        let named = tables.iter().map(|tables| tables.iter().map(|&table| table.to_owned()).collect());
        named.map(|local| Group { from: String::new(), dialect: Dialect::DuckDb, local, parts: vec![] }).collect()
    }

    #[test]
    fn tables_are_opened_ahead_and_again_when_the_worker_may_be_another() {
        let groups = groups(&[&["a"], &["b"], &["a", "c"], &[]]);
        let mut opened = Opened { at_once: 2, ..Opened::default() };
        assert_eq!(opened.next(&groups, 0), ["a", "b"]);
        opened.tables.extend(["a", "b"]);
        assert!(opened.next(&groups, 1).is_empty(), "it is open");
        assert_eq!(opened.next(&groups, 2), ["c"]);
        opened.tables.insert("c");
        assert!(opened.next(&groups, 3).is_empty());
        opened.statements = HELD_FOR;
        assert_eq!(opened.next(&groups, 3), ["a", "b"], "what names no table may read all");
        assert_eq!(opened.statements, 0);
    }
}
