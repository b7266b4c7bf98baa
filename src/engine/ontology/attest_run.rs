//! Asks the data of a workspace whether they keep what an ontology says.

use std::collections::BTreeSet;

use super::attest::{Group, Part, plan};
use crate::base::clock::Millis;
use crate::engine::job::{Job, Progress};
use crate::engine::sql::SqlEngine;
use crate::model::error::Result;
use crate::model::ontology::{Attestation, Finding, Ontology};
use crate::model::table::Table;

/// Runs every question, one statement after the other, over the tables of the job's pass. What one statement cannot
/// answer is a finding; only the end of the job ends it early.
///
/// # Errors
/// `query_timeout` when the caller has gone or the job's time is over.
pub async fn attest(sql: &SqlEngine, job: &Job<'_>, ontology: &Ontology, now: Millis) -> Result<Attestation> {
    let plan = plan(ontology, job.pass.datasets());
    let mut findings = plan.findings;
    let max = job.budget.sql_chars;
    let groups: Vec<_> = plan.groups.iter().map(|group| (group, group.statements(max))).collect();
    let all: usize = groups.iter().map(|(_, statements)| statements.len()).sum();
    let mut done = 0_usize;
    for (group, statements) in groups {
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

/// One statement; when it fails, each of its questions alone, so that one broken expression hides no other finding.
async fn ask(sql: &SqlEngine, job: &Job<'_>, group: &Group, text: &str, parts: &[&Part]) -> Result<Vec<Finding>> {
    match sql.query(job, text).await {
        Ok(answer) => return Ok(judged(parts, &answer.table)),
        Err(error) => {
            job.check()?;
            if let [part] = parts {
                return Ok(vec![part.refused(&error.message)]);
            }
        }
    }
    let mut findings = Vec::new();
    for part in parts {
        job.check()?;
        match sql.query(job, &group.sql(&[part])).await {
            Ok(answer) => findings.extend(judged(&[part], &answer.table)),
            Err(error) => {
                job.check()?;
                findings.push(part.refused(&error.message));
            }
        }
    }
    Ok(findings)
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
