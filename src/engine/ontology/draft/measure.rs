//! Drafting over the SQL engine: profiles, keys and overlaps are measured there.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use crate::base::id::Id;
use crate::engine::job::{Job, Progress};
use crate::engine::ontology::draft::declared::Declared;
use crate::engine::ontology::draft::{
    Candidate, Draft, DraftTable, Facts, KeyCandidate, Overlap, Rows, SAMPLE, Wanted, draft, key_candidates,
    parts_candidates, periods, relationship_candidates, time_candidates,
};
use crate::engine::ontology::read::datatype_of;
use crate::engine::sql::SqlEngine;
use crate::model::dataset::{Dataset, Kind};
use crate::model::error::{Code, Error, Result};
use crate::model::ontology::DataType;
use crate::model::profile::Figure;

/// Statements that are run for keys and overlaps of one draft; what is left is decided by names.
const STATEMENTS: usize = 1_000;

/// The profile of one table takes at most one part of so many of the time that is left, and where one part of the whole is
/// left, it is kept for keys and references.
const SHARES: u32 = 3;

/// Rounds of questions for keys: of one column, of two, three and four.
const ROUNDS: usize = 5;

/// Rows from which a table is asked by itself, and rows from which it is asked for a part of them.
const LARGE: i64 = 1_000_000;
const HUGE: i64 = 10_000_000;

/// Different values that are held in memory at once, and whole numbers of which each is one bit.
const AT_ONCE: i64 = 2_000_000;
const BITS: i64 = 100_000_000;

/// Of what was not measured for one reason, what is named.
const NAMED: usize = 3;

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
    let mut measure =
        Measure { sql, job, left: STATEMENTS, whole: job.time_left(), notes: Vec::new(), open: BTreeMap::new() };
    let mut read: BTreeMap<usize, DraftTable> = BTreeMap::new();
    for (done, at) in smallest_first(datasets.iter().map(|dataset| dataset.row_count)).into_iter().enumerate() {
        let Some(dataset) = datasets.get(at) else { continue };
        report(job, "Reading tables", done, datasets.len(), 0.0);
        read.insert(at, measure.table(dataset, declared.get(&dataset.id)).await?);
    }
    // Keys and references share what reading has left.
    measure.whole = job.time_left();
    let mut tables = measure.times(read.into_values().collect()).await?;
    let dictionary = wanted.dictionary.clone();
    let answers = wanted.answers.clone();
    let (tables, missing) = aside(job, move || {
        let mut missing = dictionary.tell(&mut tables);
        missing.extend(answers.tell(&mut tables));
        (Arc::new(tables), missing)
    })
    .await?;
    measure.notes.extend(missing);
    let mut facts = Facts::default();
    for _ in 0..ROUNDS {
        let of = tables.clone();
        let open;
        (open, facts) = aside(job, move || (key_candidates(&of, &facts), facts)).await?;
        if open.is_empty() {
            break;
        }
        let of_huge = |it: &KeyCandidate| tables.iter().any(|table| table.name == it.table && is_huge(table));
        let (huge, open): (Vec<_>, Vec<_>) = open.into_iter().partition(of_huge);
        let question = |it: &KeyCandidate| Question::of(&tables, [&it.table], it.sql(Rows::All), it.said(), 1);
        let questions: Vec<Question> = open.iter().map(question).collect();
        let found = measure.ask(("Looking for keys", 0.4), 2, &questions).await?;
        let mut known: Vec<(KeyCandidate, Option<bool>)> = Vec::new();
        for (candidate, row) in open.into_iter().zip(found) {
            let is_key = row.and_then(|row| row.first().map(|against| *against == 0));
            known.push((candidate, is_key));
        }
        for candidate in huge {
            let is_key = measure.in_parts(&tables, &candidate).await?;
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
    let ((open, more), mut facts) = aside(job, move || (relationship_candidates(&of, &facts), facts)).await?;
    if more > 0 {
        measure.notes.push(format!("{more} possible relationships were not measured: there are too many."));
    }
    let question = |it: &Candidate| {
        let named = |name: &String| tables.iter().find(|table| table.name == *name);
        let huge = |name: &String| named(name).filter(|table| is_huge(table)).map(DraftTable::rows);
        Question::of(&tables, [&it.from, &it.to], it.sql(huge(&it.from), huge(&it.to).is_some()), it.said(), 2)
    };
    let questions: Vec<Question> = open.iter().map(question).collect();
    let found = measure.ask(("Looking for relationships", 0.7), 8, &questions).await?;
    for (candidate, row) in open.into_iter().zip(found) {
        if let Some([values, found]) = row.as_deref() {
            facts.overlaps.insert(candidate, Overlap { values: *values, found: *found });
        }
    }
    let compared = |table: &&DraftTable| facts.overlaps.keys().any(|it| it.from == table.name);
    for table in tables.iter().filter(|table| is_huge(table)).filter(compared) {
        measure.notes.push(format!(
            "What {} refers to was measured on about {SAMPLE} of its {} rows, in blocks chosen at random, not on all.",
            table.name,
            table.rows()
        ));
    }
    let wanted = wanted.clone();
    let mut made = aside(job, move || draft(&wanted, &tables, &facts)).await?;
    made.notes.extend(measure.said());
    Ok(made)
}

/// Where each of several tables stands, those with the fewest rows first.
fn smallest_first(rows: impl Iterator<Item = i64>) -> Vec<usize> {
    let mut order: Vec<(i64, usize)> = rows.zip(0..).collect();
    order.sort_unstable();
    order.into_iter().map(|(_, at)| at).collect()
}

fn is_huge(table: &DraftTable) -> bool {
    table.place.is_none() && table.rows() >= HUGE
}

/// Which rows of a huge table are looked at for a key, one portion after the other: ranges of [`BITS`] whole numbers where
/// these are the fewer, and parts by hash of [`AT_ONCE`] values of anything else.
fn portions(table: &DraftTable, candidate: &KeyCandidate) -> Vec<Rows> {
    let of = table.rows() / AT_ONCE + 1;
    match range(table, &candidate.columns).filter(|(least, most)| (most - least) / BITS < of) {
        Some((least, most)) => {
            let end = |from: i64| from.saturating_add(BITS - 1).min(most);
            let begins = std::iter::successors(Some(least), |from| Some(end(*from) + 1).filter(|_| end(*from) < most));
            begins.map(|from| Rows::Between { from, to: end(from) }).collect()
        }
        None => (0..of).map(|at| Rows::Part { at, of }).collect(),
    }
}

/// The least and the greatest value of a column of whole numbers, where all rows were looked at for them and they are not
/// further apart than such numbers reach.
fn range(table: &DraftTable, columns: &[String]) -> Option<(i64, i64)> {
    let [column] = columns else { return None };
    let whole = table.column(column).is_some_and(|column| datatype_of(&column.r#type) == DataType::Integer);
    let figures = table.figures(column).filter(|figures| whole && !figures.approximate.contains(&Figure::Range))?;
    let number = |text: &Option<String>| text.as_ref()?.parse::<i64>().ok();
    let (least, most) = number(&figures.min).zip(number(&figures.max))?;
    most.checked_sub(least).map(|_| (least, most))
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

/// What a draft is measured with, and what of it is left.
struct Measure<'a> {
    sql: &'a SqlEngine,
    job: &'a Job<'a>,
    /// Statements.
    left: usize,
    /// The time that was left at the beginning, and then when the tables had been read.
    whole: Duration,
    /// What to know of tables, in words.
    notes: Vec<String>,
    /// What was not measured, in words, by the reason.
    open: BTreeMap<&'static str, Vec<String>>,
}

impl Measure<'_> {
    /// A table with its profile, as far as there is time for one.
    async fn table(&mut self, dataset: &Dataset, declared: Option<&Declared>) -> Result<DraftTable> {
        self.job.check()?;
        let profile = if dataset.remote.is_some() {
            None
        } else if self.job.time_left() <= self.whole / SHARES {
            self.leave("there was no time", format!("the values of {}", dataset.name));
            None
        } else {
            // A profile takes all the time that it is given, and other tables need some too.
            let part = self.job.within(self.job.budget).at_most(self.job.time_left() / SHARES);
            match self.sql.profile(&part, dataset).await {
                Ok(profile) => Some(Arc::unwrap_or_clone(profile)),
                Err(error) => {
                    // The whole is over only when the job is.
                    self.job.check()?;
                    let why = match error.code {
                        Code::QueryTimeout => "there was no time for it.",
                        _ => error.message.as_str(),
                    };
                    self.notes.push(format!("{} has no profile: {why}", dataset.name));
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

    /// The tables with the columns that hold times, and with those that hold the parts of dates: where no value says that
    /// they do not.
    async fn times(&mut self, tables: Vec<DraftTable>) -> Result<Vec<DraftTable>> {
        let candidates = move || (time_candidates(&tables), parts_candidates(&tables), periods(&tables), tables);
        let (times, parts, periods, mut tables) = aside(self.job, candidates).await?;
        let of_times = times.iter().map(|it| Question::of(&tables, [&it.table], it.sql(), it.said(), 1));
        let of_parts = parts.iter().map(|it| Question::of(&tables, [&it.table], it.sql(), it.said(), 1));
        let of_periods = periods.iter().map(|it| Question::of(&tables, [&it.table], it.sql(), it.said(), 1));
        let questions: Vec<Question> = of_times.chain(of_parts).chain(of_periods).collect();
        let found = self.ask(("Looking for times", 0.3), 2, &questions).await?;
        let mut holds = found.iter().map(|row| matches!(row.as_deref(), Some([0])));
        for candidate in times {
            let is_so = holds.next() == Some(true);
            if let Some(table) = tables.iter_mut().find(|table| is_so && table.name == candidate.table) {
                table.times.insert(candidate.column, candidate.written);
            }
        }
        for candidate in parts {
            let is_so = holds.next() == Some(true);
            if let Some(table) = tables.iter_mut().find(|table| is_so && table.name == candidate.table) {
                table.date_parts = Some(candidate.columns);
            }
        }
        for period in periods {
            let is_so = holds.next() == Some(true);
            if let Some(table) = tables.iter_mut().find(|table| is_so && table.name == period.table) {
                table.period = Some(period);
            }
        }
        Ok(tables)
    }

    /// Whether another statement may be run, as long as one part of `of` of the time is left: what comes after needs
    /// some.
    fn may_ask(&self, of: u32) -> bool {
        self.left > 0 && self.job.time_left() > self.whole / of
    }

    /// Why no other may be.
    fn why(&self) -> &'static str {
        if self.left == 0 { "there are too many" } else { "there was no time" }
    }

    /// Whether columns are a key of a huge table; `None` where it could not be measured, which is noted. Two rows of a
    /// sample that agree are enough to say no; that none do is seen in parts, of which the first in which two rows agree
    /// ends it.
    async fn in_parts(&mut self, tables: &[DraftTable], candidate: &KeyCandidate) -> Result<Option<bool>> {
        let Some(table) = tables.iter().find(|table| table.name == candidate.table) else { return Ok(None) };
        let portions = portions(table, candidate);
        let sample = std::iter::once(Rows::SampleOf(table.rows()));
        for (at, rows) in sample.chain(portions.iter().copied()).enumerate() {
            report(self.job, "Looking for keys", at, portions.len() + 1, 0.4);
            if !self.may_ask(2) {
                self.leave(self.why(), candidate.said());
                return Ok(None);
            }
            self.left -= 1;
            let question = Question::of(tables, [&candidate.table], candidate.sql(rows), candidate.said(), 1);
            match self.one_row(&question).await?.as_deref() {
                Some([0]) => {}
                Some([_]) => return Ok(Some(false)),
                _ => return Ok(None),
            }
        }
        Ok(Some(true))
    }

    /// Notes that something was not measured.
    fn leave(&mut self, why: &'static str, about: String) {
        self.open.entry(why).or_default().push(about);
    }

    /// What people should know: of each reason why something was not measured, the first of what it was.
    fn said(self) -> Vec<String> {
        let open = self.open.into_iter().map(|(why, all)| {
            let named = all.iter().take(NAMED).cloned().collect::<Vec<_>>().join("; ");
            match all.len().saturating_sub(NAMED) {
                0 => format!("Not measured, because {why}: {named}."),
                more => format!("Not measured, because {why}: {named}; and {more} more."),
            }
        });
        self.notes.into_iter().chain(open).collect()
    }

    /// The row of each question; `None` where it could not be asked, which is noted. Several small ones are asked at
    /// once, as long as one part of `reserve` of the time is left.
    async fn ask(
        &mut self,
        (says, from): (&str, f64),
        reserve: u32,
        questions: &[Question],
    ) -> Result<Vec<Option<Vec<i64>>>> {
        let mut rows: Vec<Option<Vec<i64>>> = Vec::new();
        while let Some(first) = questions.get(rows.len()) {
            report(self.job, says, rows.len(), questions.len(), from);
            if !self.may_ask(reserve) {
                let open = questions.len() - rows.len();
                let why = self.why();
                self.notes.push(format!("{open} possible keys and relationships were not measured: {why}."));
                rows.resize(questions.len(), None);
                break;
            }
            let rest = questions.get(rows.len()..).unwrap_or_default();
            let mut length = 0;
            let fits = |question: &&Question| {
                length += question.sql.len() + TOGETHER;
                !question.alone && question.place == first.place && length < self.job.budget.sql_chars
            };
            let many: Vec<&Question> = rest.iter().take(TOGETHER).take_while(fits).collect();
            let together = if many.len() > 1 { self.at_once(&many).await? } else { None };
            self.left -= 1;
            match together {
                Some(found) => rows.extend(found.into_iter().map(Some)),
                None => {
                    for question in if many.is_empty() { vec![first] } else { many } {
                        self.left = self.left.saturating_sub(1);
                        rows.push(self.one_row(question).await?);
                    }
                }
            }
        }
        Ok(rows)
    }

    /// The rows of several questions in one statement; `None` when it cannot be run as one.
    async fn at_once(&self, questions: &[&Question]) -> Result<Option<Vec<Vec<i64>>>> {
        self.job.check()?;
        let parts: Vec<String> =
            questions.iter().enumerate().map(|(at, question)| format!("({}) AS q{at}", question.sql)).collect();
        let statement = format!("SELECT * FROM {}", parts.join(", "));
        let Ok(answer) = self.sql.query(self.job, &statement).await else {
            self.job.check()?;
            return Ok(None);
        };
        let row: Option<Vec<i64>> = answer.table.rows.first().and_then(|row| row.iter().map(count).collect());
        let Some(mut row) = row.filter(|row| row.len() == questions.iter().map(|it| it.columns).sum::<usize>()) else {
            return Ok(None);
        };
        Ok(Some(questions.iter().map(|question| row.drain(..question.columns).collect()).collect()))
    }

    /// The counts of a statement's only row; `None` when it cannot be run, which is noted.
    async fn one_row(&mut self, question: &Question) -> Result<Option<Vec<i64>>> {
        self.job.check()?;
        match self.sql.query(self.job, &question.sql).await {
            Ok(answer) => Ok(answer.table.rows.first().and_then(|row| row.iter().map(count).collect())),
            Err(error) => {
                // The whole is over only when the job is.
                self.job.check()?;
                let why = match error.code {
                    Code::QueryTimeout => "it takes too long",
                    Code::LimitExceeded => "it takes too much memory",
                    _ => "the engine could not",
                };
                tracing::debug!(%error, sql = question.sql, "a draft could not measure");
                self.leave(why, question.about.clone());
                Ok(None)
            }
        }
    }
}

fn count(value: &Value) -> Option<i64> {
    value.as_i64().or_else(|| value.as_str()?.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::dataset::ColumnInfo;
    use crate::model::profile::{ColumnProfile, Profile};

    fn sales(r#type: &str, most: &str, approximate: Vec<Figure>) -> DraftTable {
        let figures = serde_json::json!({
            "name": "id", "type": r#type, "nulls": 0, "distinct": 20_000_000, "min": "5", "max": most,
            "top_values": [], "approximate": approximate
        });
        let figures: ColumnProfile = serde_json::from_value(figures).unwrap();
        DraftTable {
            name: "sales".into(),
            columns: vec![ColumnInfo { name: "id".into(), r#type: r#type.into(), ..ColumnInfo::default() }],
            profile: Some(Profile { row_count: 20_000_000, sampled_rows: None, columns: vec![figures] }),
            ..DraftTable::default()
        }
    }

    #[test]
    fn tables_are_read_from_the_smallest_to_the_largest() {
        assert_eq!(smallest_first([900, 3, 40, 3].into_iter()), [1, 3, 2, 0]);
        assert!(smallest_first(std::iter::empty()).is_empty());
    }

    #[test]
    fn a_huge_table_is_looked_at_in_portions_that_hold_every_value_once() {
        let id = KeyCandidate { table: "sales".into(), columns: vec!["id".into()] };
        let of = |table: &DraftTable| portions(table, &id);
        let one = of(&sales("BIGINT", "20000004", vec![Figure::Distinct]));
        assert_eq!(one, [Rows::Between { from: 5, to: 20_000_004 }]);
        let ranges = of(&sales("BIGINT", "500000004", Vec::new()));
        assert_eq!(ranges.first(), Some(&Rows::Between { from: 5, to: 100_000_004 }));
        assert_eq!(ranges.last(), Some(&Rows::Between { from: 400_000_005, to: 500_000_004 }));
        assert_eq!(ranges.len(), 5);
        for by_hash in [
            sales("VARCHAR", "20000004", Vec::new()),
            sales("BIGINT", "20000004", vec![Figure::Range]),
            sales("BIGINT", "9000000000000000000", Vec::new()),
        ] {
            let parts = of(&by_hash);
            assert_eq!((parts.first(), parts.len()), (Some(&Rows::Part { at: 0, of: 11 }), 11));
        }
    }
}
