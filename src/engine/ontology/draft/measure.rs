//! Drafting over the SQL engine: profiles, keys and overlaps are measured there.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use crate::base::id::Id;
use crate::engine::job::{Job, Progress};
use crate::engine::ontology::draft::declared::Declared;
use crate::engine::ontology::draft::{
    Candidate, Draft, DraftTable, Facts, Overlap, SAMPLE, Wanted, draft, key_candidates, relationship_candidates,
};
use crate::engine::sql::SqlEngine;
use crate::model::dataset::{Dataset, Kind};
use crate::model::error::{Code, Error, Result};

/// Statements that are run for keys and overlaps of one draft; what is left is decided by names.
const STATEMENTS: usize = 1_000;

/// Rounds of questions for keys: of one column, of two, three and four.
const ROUNDS: usize = 5;

/// Rows from which a table is asked by itself, and rows from which it is asked for a part of them.
const LARGE: i64 = 1_000_000;
const HUGE: i64 = 10_000_000;

/// Questions that are put into one statement.
const TOGETHER: usize = 20;

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
    let answers = wanted.answers.clone();
    let (tables, missing) = aside(job, move || {
        let mut missing = dictionary.tell(&mut tables);
        missing.extend(answers.tell(&mut tables));
        (Arc::new(tables), missing)
    })
    .await?;
    unmeasured.extend(missing);
    let mut facts = Facts::default();
    let mut left = STATEMENTS;
    for _ in 0..ROUNDS {
        let of = tables.clone();
        let open;
        (open, facts) = aside(job, move || (key_candidates(&of, &facts), facts)).await?;
        if open.is_empty() {
            break;
        }
        let questions: Vec<Question> = open.iter().map(|it| Question::of(&tables, [&it.table], it.sql(), 1)).collect();
        let found = ask(sql, job, ("Looking for keys", 0.4), &questions, &mut left, &mut unmeasured).await?;
        for (candidate, row) in open.into_iter().zip(found) {
            match row.as_deref() {
                Some([against]) => {
                    facts.keys.insert(candidate, *against == 0);
                }
                _ => {
                    facts.unknown.insert(candidate);
                }
            }
        }
    }
    let of = tables.clone();
    let (open, mut facts) = aside(job, move || (relationship_candidates(&of, &facts), facts)).await?;
    let question = |it: &Candidate| {
        let huge = tables.iter().any(|table| table.name == it.from && table.rows() >= HUGE);
        Question::of(&tables, [&it.from, &it.to], it.sql(huge), 2)
    };
    let questions: Vec<Question> = open.iter().map(question).collect();
    let found = ask(sql, job, ("Looking for relationships", 0.7), &questions, &mut left, &mut unmeasured).await?;
    for (candidate, row) in open.into_iter().zip(found) {
        if let Some([values, found]) = row.as_deref() {
            facts.overlaps.insert(candidate, Overlap { values: *values, found: *found });
        }
    }
    for table in tables.iter().filter(|table| table.rows() >= HUGE) {
        let name = &table.name;
        unmeasured.push(format!("What {name} refers to was measured on {SAMPLE} of its rows, not on all."));
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

/// A statement with one row of counts.
struct Question {
    sql: String,
    /// Of its row.
    columns: usize,
    /// The engine that holds its tables; `None` is the service's own.
    place: Option<String>,
    /// Too much for a statement with others.
    alone: bool,
}

impl Question {
    fn of<const N: usize>(tables: &[DraftTable], names: [&String; N], sql: String, columns: usize) -> Self {
        let of = || tables.iter().filter(|table| names.contains(&&table.name));
        let place = of().find_map(|table| table.place.clone());
        Self { sql, columns, place, alone: of().any(|table| table.rows() >= LARGE) }
    }
}

/// The row of each question; `None` where it could not be asked, which is noted. Several small ones are asked at once.
async fn ask(
    sql: &SqlEngine,
    job: &Job<'_>,
    (says, from): (&str, f64),
    questions: &[Question],
    left: &mut usize,
    unmeasured: &mut Vec<String>,
) -> Result<Vec<Option<Vec<i64>>>> {
    let mut rows: Vec<Option<Vec<i64>>> = Vec::new();
    while let Some(first) = questions.get(rows.len()) {
        report(job, says, rows.len(), questions.len(), from);
        if *left == 0 {
            let open = questions.len() - rows.len();
            unmeasured.push(format!("{open} possible keys and relationships were not measured: there are too many."));
            rows.resize(questions.len(), None);
            break;
        }
        let rest = questions.get(rows.len()..).unwrap_or_default();
        let mut length = 0;
        let fits = |question: &&Question| {
            length += question.sql.len() + TOGETHER;
            !question.alone && question.place == first.place && length < job.budget.sql_chars
        };
        let many: Vec<&Question> = rest.iter().take(TOGETHER).take_while(fits).collect();
        let together = if many.len() > 1 { at_once(sql, job, &many).await? } else { None };
        *left -= 1;
        match together {
            Some(found) => rows.extend(found.into_iter().map(Some)),
            None => {
                for question in if many.is_empty() { vec![first] } else { many } {
                    *left = left.saturating_sub(1);
                    rows.push(one_row(sql, job, &question.sql, unmeasured).await?);
                }
            }
        }
    }
    Ok(rows)
}

/// The rows of several questions in one statement; `None` when it cannot be run as one.
async fn at_once(sql: &SqlEngine, job: &Job<'_>, questions: &[&Question]) -> Result<Option<Vec<Vec<i64>>>> {
    job.check()?;
    let parts: Vec<String> =
        questions.iter().enumerate().map(|(at, question)| format!("({}) AS q{at}", question.sql)).collect();
    let statement = format!("SELECT * FROM {}", parts.join(", "));
    let Ok(answer) = sql.query(job, &statement).await else {
        job.check()?;
        return Ok(None);
    };
    let row: Option<Vec<i64>> = answer.table.rows.first().and_then(|row| row.iter().map(count).collect());
    let Some(mut row) = row.filter(|row| row.len() == questions.iter().map(|it| it.columns).sum::<usize>()) else {
        return Ok(None);
    };
    Ok(Some(questions.iter().map(|question| row.drain(..question.columns).collect()).collect()))
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
