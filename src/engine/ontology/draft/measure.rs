//! Drafting over the SQL engine: profiles, keys and overlaps are measured there.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use crate::base::id::Id;
use crate::engine::job::{Job, Progress};
use crate::engine::ontology::draft::declared::Declared;
use crate::engine::ontology::draft::{
    Candidate, Draft, DraftTable, Facts, KeyCandidate, Overlap, SAMPLE, Wanted, draft, key_candidates,
    relationship_candidates, time_candidates,
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

/// Different values that are held in memory at once.
const AT_ONCE: i64 = 2_000_000;

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
    let mut left = STATEMENTS;
    let open = time_candidates(&tables);
    let questions: Vec<Question> =
        open.iter().map(|it| Question::of(&tables, [&it.table], it.sql(), it.said(), 1)).collect();
    let found = ask(sql, job, ("Looking for times", 0.3), &questions, &mut left, &mut unmeasured).await?;
    for (candidate, row) in open.into_iter().zip(found) {
        let table = tables.iter_mut().find(|table| table.name == candidate.table);
        if let (Some(table), Some([0])) = (table, row.as_deref()) {
            table.times.insert(candidate.column, candidate.written);
        }
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
    for _ in 0..ROUNDS {
        let of = tables.clone();
        let open;
        (open, facts) = aside(job, move || (key_candidates(&of, &facts), facts)).await?;
        if open.is_empty() {
            break;
        }
        let (huge, open): (Vec<_>, Vec<_>) = open.into_iter().partition(|it| parts(&tables, it) > 1);
        let question = |it: &KeyCandidate| Question::of(&tables, [&it.table], it.sql(None), it.said(), 1);
        let questions: Vec<Question> = open.iter().map(question).collect();
        let found = ask(sql, job, ("Looking for keys", 0.4), &questions, &mut left, &mut unmeasured).await?;
        let mut known: Vec<(KeyCandidate, Option<bool>)> = Vec::new();
        for (candidate, row) in open.into_iter().zip(found) {
            let is_key = row.and_then(|row| row.first().map(|against| *against == 0));
            known.push((candidate, is_key));
        }
        for candidate in huge {
            let is_key = in_parts(sql, job, &tables, &candidate, &mut left, &mut unmeasured).await?;
            known.push((candidate, is_key));
        }
        for (candidate, is_key) in known {
            match is_key {
                Some(is_key) => drop(facts.keys.insert(candidate, is_key)),
                None => drop(facts.unknown.insert(candidate)),
            }
        }
    }
    let of = tables.clone();
    let (open, mut facts) = aside(job, move || (relationship_candidates(&of, &facts), facts)).await?;
    let question = |it: &Candidate| {
        let huge = tables.iter().any(|table| table.name == it.from && is_huge(table));
        Question::of(&tables, [&it.from, &it.to], it.sql(huge), it.said(), 2)
    };
    let questions: Vec<Question> = open.iter().map(question).collect();
    let found = ask(sql, job, ("Looking for relationships", 0.7), &questions, &mut left, &mut unmeasured).await?;
    for (candidate, row) in open.into_iter().zip(found) {
        if let Some([values, found]) = row.as_deref() {
            facts.overlaps.insert(candidate, Overlap { values: *values, found: *found });
        }
    }
    let compared = |table: &&DraftTable| facts.overlaps.keys().any(|it| it.from == table.name);
    for table in tables.iter().filter(|table| is_huge(table)).filter(compared) {
        let name = &table.name;
        unmeasured
            .push(format!("What {name} refers to was measured on {SAMPLE} of its rows, drawn at random, not on all."));
    }
    let wanted = wanted.clone();
    let mut made = aside(job, move || draft(&wanted, &tables, &facts)).await?;
    made.notes.extend(unmeasured);
    Ok(made)
}

fn is_huge(table: &DraftTable) -> bool {
    table.place.is_none() && table.rows() >= HUGE
}

/// In how many parts the values of a possible key are looked at, one after the other.
fn parts(tables: &[DraftTable], candidate: &KeyCandidate) -> i64 {
    let table = tables.iter().find(|table| table.name == candidate.table);
    table.filter(|table| is_huge(table)).map_or(1, |table| table.rows() / AT_ONCE + 1)
}

/// Whether columns are a key of a huge table; `None` where it could not be measured, which is noted. The first part in
/// which two rows agree ends it.
async fn in_parts(
    sql: &SqlEngine,
    job: &Job<'_>,
    tables: &[DraftTable],
    candidate: &KeyCandidate,
    left: &mut usize,
    unmeasured: &mut Vec<String>,
) -> Result<Option<bool>> {
    let of = parts(tables, candidate);
    for at in 0..of {
        report(job, "Looking for keys", usize::try_from(at).unwrap_or(0), usize::try_from(of).unwrap_or(1), 0.4);
        if *left == 0 {
            return Ok(None);
        }
        *left -= 1;
        let question = Question::of(tables, [&candidate.table], candidate.sql(Some((at, of))), candidate.said(), 1);
        match one_row(sql, job, &question, unmeasured).await?.as_deref() {
            Some([0]) => {}
            Some([_]) => return Ok(Some(false)),
            _ => return Ok(None),
        }
    }
    Ok(Some(true))
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
    /// What is asked, in words.
    about: String,
    /// Of its row.
    columns: usize,
    /// The engine that holds its tables; `None` is the service's own.
    place: Option<String>,
    /// Too much for a statement with others.
    alone: bool,
}

impl Question {
    fn of<const N: usize>(
        tables: &[DraftTable],
        names: [&String; N],
        sql: String,
        about: String,
        columns: usize,
    ) -> Self {
        let of = || tables.iter().filter(|table| names.contains(&&table.name));
        let place = of().find_map(|table| table.place.clone());
        Self { sql, about, columns, place, alone: of().any(|table| table.rows() >= LARGE) }
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
                    rows.push(one_row(sql, job, question, unmeasured).await?);
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
    question: &Question,
    unmeasured: &mut Vec<String>,
) -> Result<Option<Vec<i64>>> {
    job.check()?;
    match sql.query(job, &question.sql).await {
        Ok(answer) => Ok(answer.table.rows.first().and_then(|row| row.iter().map(count).collect())),
        Err(error) => {
            // The whole is over only when the job is.
            job.check()?;
            let why = match error.code {
                Code::QueryTimeout => "it takes too long",
                Code::LimitExceeded => "it takes too much memory",
                _ => "the engine could not",
            };
            tracing::debug!(%error, sql = question.sql, "a draft could not measure");
            unmeasured.push(format!("Not measured, because {why}: {}.", question.about));
            Ok(None)
        }
    }
}

fn count(value: &Value) -> Option<i64> {
    value.as_i64().or_else(|| value.as_str()?.parse().ok())
}
