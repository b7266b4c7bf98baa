//! Drafting over the SQL engine: profiles, keys and overlaps are measured there.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use crate::base::id::Id;
use crate::engine::job::{Job, Progress};
use crate::engine::ontology::draft::declared::Declared;
use crate::engine::ontology::draft::{
    Draft, DraftTable, Facts, Overlap, Wanted, draft, key_candidates, relationship_candidates,
};
use crate::engine::sql::SqlEngine;
use crate::model::dataset::{Dataset, Kind};
use crate::model::error::{Code, Error, Result};

/// Statements that are run for keys and overlaps of one draft; what is left is decided by names.
const STATEMENTS: usize = 200;

/// Drafts an ontology of the given tables of the pass. `declared` has what databases say of them; documents are left
/// out.
///
/// What cannot be measured (a table of a remote engine has no profile, a statement takes too long or too much) is said
/// in the notes and decided by names.
///
/// # Errors
/// `query_timeout` when the job is cancelled or its time is over.
pub async fn measured(
    sql: &SqlEngine,
    job: &Job<'_>,
    wanted: &Wanted,
    datasets: &[Dataset],
    declared: &BTreeMap<Id<Dataset>, Declared>,
) -> Result<Draft> {
    let datasets: Vec<&Dataset> =
        datasets.iter().filter(|dataset| dataset.kind == Kind::Table && dataset.is_ready()).collect();
    let mut unmeasured: Vec<String> = Vec::new();
    let mut tables = Vec::new();
    for (at, dataset) in datasets.iter().enumerate() {
        report(job, "Reading tables", at, datasets.len(), 0.0);
        tables.push(table(sql, job, dataset, declared.get(&dataset.id), &mut unmeasured).await?);
    }
    let dictionary = wanted.dictionary.clone();
    let (tables, missing) = aside(job, move || {
        let missing = dictionary.tell(&mut tables);
        (Arc::new(tables), missing)
    })
    .await?;
    unmeasured.extend(missing);
    let mut facts = Facts::default();
    let mut left = STATEMENTS;
    // Singles first, then pairs of those tables that have none.
    for _ in 0..2 {
        let of = tables.clone();
        let open;
        (open, facts) = aside(job, move || (key_candidates(&of, &facts), facts)).await?;
        for (at, candidate) in open.iter().take(left).enumerate() {
            report(job, "Looking for keys", at, open.len(), 0.4);
            let known = one_row(sql, job, &candidate.sql(), &mut unmeasured).await?;
            // What could not be measured is not said to be a key.
            facts.keys.insert(candidate.clone(), known.is_some_and(|row| row.first() == Some(&0)));
        }
        left = left.saturating_sub(open.len());
    }
    let of = tables.clone();
    let (open, mut facts) = aside(job, move || (relationship_candidates(&of, &facts), facts)).await?;
    for (at, candidate) in open.iter().take(left).enumerate() {
        report(job, "Looking for relationships", at, open.len(), 0.7);
        if let Some(row) = one_row(sql, job, &candidate.sql(), &mut unmeasured).await?
            && let [values, found] = row.as_slice()
        {
            facts.overlaps.insert(candidate.clone(), Overlap { values: *values, found: *found });
        }
    }
    if open.len() > left {
        unmeasured.push(format!("{} possible relationships were not measured: there are too many.", open.len() - left));
    }
    let wanted = wanted.clone();
    let mut made = aside(job, move || draft(&wanted, &tables, &facts)).await?;
    made.notes.extend(unmeasured);
    Ok(made)
}

/// What takes long where there are many tables is done where nobody else waits for the thread.
async fn aside<T: Send + 'static>(job: &Job<'_>, work: impl FnOnce() -> T + Send + 'static) -> Result<T> {
    job.check()?;
    let done = tokio::task::spawn_blocking(work).await.map_err(Error::internal)?;
    job.check()?;
    Ok(done)
}

/// Reports a part of a third of the work.
fn report(job: &Job<'_>, message: &str, at: usize, of: usize, from: f64) {
    if let Some(receive) = job.on_progress() {
        #[expect(clippy::cast_precision_loss, reason = "small counts")]
        let part = at as f64 / of.max(1) as f64;
        receive(Progress { fraction: Some(from + part * 0.3), message: message.to_owned() });
    }
}

async fn table(
    sql: &SqlEngine,
    job: &Job<'_>,
    dataset: &Dataset,
    declared: Option<&Declared>,
    unmeasured: &mut Vec<String>,
) -> Result<DraftTable> {
    job.check()?;
    let profile = if dataset.remote.is_some() {
        None
    } else {
        match sql.profile(job, dataset).await {
            Ok(profile) => Some(Arc::unwrap_or_clone(profile)),
            Err(error) => {
                job.check()?;
                unmeasured.push(format!("{} has no profile: {}", dataset.name, error.message));
                None
            }
        }
    };
    let mut table = DraftTable {
        name: dataset.name.clone(),
        description: dataset.description.clone(),
        columns: dataset.columns.clone(),
        profile,
        row_count: dataset.row_count,
        place: dataset.remote.as_ref().map(|remote| remote.source_name.clone()),
        ..DraftTable::default()
    };
    if let Some(declared) = declared {
        declared.clone().tell(&mut table);
    }
    Ok(table)
}

/// The counts of a statement's only row; `None` when it cannot be run, which is noted.
async fn one_row(
    sql: &SqlEngine,
    job: &Job<'_>,
    statement: &str,
    unmeasured: &mut Vec<String>,
) -> Result<Option<Vec<i64>>> {
    job.check()?;
    match sql.query(job, statement).await {
        Ok(answer) => Ok(answer.table.rows.first().and_then(|row| row.iter().map(count).collect())),
        Err(error) => {
            // The whole is over only when the job is.
            job.check()?;
            if error.code != Code::QueryTimeout || !unmeasured.iter().any(|note| note.contains(&error.message)) {
                unmeasured.push(format!("Not measured ({}): {statement}", error.message));
            }
            Ok(None)
        }
    }
}

fn count(value: &Value) -> Option<i64> {
    value.as_i64().or_else(|| value.as_str()?.parse().ok())
}
