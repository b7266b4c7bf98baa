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
    let (mut done, mut opened, mut rest) = (0_usize, BTreeSet::new(), plan.groups.iter());
    for (group, statements) in groups {
        open(sql, job, rest.clone(), &mut opened).await;
        rest.next();
        for statement in statements {
            job.check()?;
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

/// Has the tables that the first of some groups reads, and the next ones with them, opened together. That they cannot be
/// is for the statements to find.
async fn open<'g>(
    sql: &SqlEngine,
    job: &Job<'_>,
    groups: impl Iterator<Item = &'g Group> + Clone,
    opened: &mut BTreeSet<&'g str>,
) {
    let is_new = |table: &&'g str| !opened.contains(table);
    let first = groups.clone().take(1).flat_map(|group| &group.local).map(String::as_str);
    if first.filter(is_new).count() == 0 {
        return;
    }
    let mut next: Vec<&'g str> = Vec::new();
    for table in groups.flat_map(|group| &group.local).map(String::as_str).filter(is_new) {
        if next.len() == AT_ONCE {
            break;
        }
        if !next.contains(&table) {
            next.push(table);
        }
    }
    let (text, count) = opening(&next, job.budget.sql_chars);
    if count > 1 && sql.query(job, &text).await.is_err() {
        tracing::debug!(count, "tables could not be opened together");
    }
    opened.extend(next.into_iter().take(count));
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
