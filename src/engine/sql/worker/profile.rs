//! The profile of a table, by statements of our own over its immutable file.
//!
//! A first pass reads the columns in groups: counts, range, mean, and an estimate of the distinct values. Of a table too
//! large for that it reads a sample, and then all rows for what is quickly computed, where there seems to be time. Then each
//! column is grouped by its values for exact figures, as long as the table is small and there is time and memory; otherwise
//! its estimates stand, and frequent values come from a sample of the rows.

mod class;
mod look;

use std::path::Path;
use std::time::{Duration, Instant};

use duckdb::{Connection, Row};

use self::class::{Class, estimated_median, finite, median};
use self::look::looked_at;
pub(super) use self::look::personal_kind;
use super::instance::{self, internal};
use super::problem;
use crate::engine::sql::wire::TaskLimits;
use crate::model::error::{Code, Error, Result};
use crate::model::personal;
use crate::model::profile::{ColumnProfile, Figure, Profile, TopValue};
use crate::model::source::quoted;

/// Columns in one statement of the first pass.
const GROUP: usize = 40;
/// Up to so many rows, and rows times columns, figures are exact.
const EXACT_ROWS: i64 = 1_000_000;
const EXACT_CELLS: i64 = 20_000_000;
/// Up to so many rows times columns the first pass reads all rows; beyond it, a sample of half as many first.
const WHOLE_CELLS: i64 = 100_000_000;
/// Percent of the time that are over at most when all rows of a large table are read, by what the sample took.
const ALL_ROWS: u32 = 60;
/// Up to so many rows the medians of a group of columns are computed at once: each holds its column in memory.
const MEDIAN_ROWS: i64 = 100_000;
/// Rows of the sample for frequent values.
const TOP_SAMPLE: i64 = 100_000;
/// Frequent values shown.
const TOP: usize = 5;
/// Characters of a value, and of a type.
const VALUE_CHARS: usize = 100;
const TYPE_CHARS: usize = 200;
/// Percent of the time after which the rest is estimated, and after which it is left out.
const HURRY: u128 = 50;
const LATE: u128 = 80;

const TABLE: &str = "d0.main.data";

/// A column with what the first pass found.
struct Found {
    /// As it is written in SQL.
    sql: String,
    /// The type as a whole, where the profile's may be cut.
    r#type: String,
    class: Class,
    filled: i64,
    profile: ColumnProfile,
}

impl Found {
    /// Takes the figures of all rows for those of a sample, which may have missed the few values that there are.
    fn take_whole(&mut self, whole: Found) {
        if self.filled == 0 {
            self.filled = whole.filled;
        }
        self.profile = whole.profile;
    }

    /// What occurs once says nothing, unless it is one of a few.
    fn frequent(&self, top: Vec<(String, i64)>, distinct: i64, filled: i64) -> Vec<TopValue> {
        if self.class == Class::Binary {
            return Vec::new();
        }
        let few = usize::try_from(distinct).is_ok_and(|distinct| distinct <= TOP);
        let share = |count: i64| if filled > 0 { count as f64 / filled as f64 } else { 0.0 };
        let top = top.into_iter().filter(|(_, count)| few || *count > 1);
        top.map(|(value, count)| TopValue { value, count, share: share(count) }).collect()
    }
}

/// One profile in the making.
struct Work<'a> {
    connection: &'a Connection,
    limits: &'a TaskLimits,
    started: Instant,
    rows: i64,
    /// What the first pass reads, and how many rows that is.
    source: String,
    read: i64,
    exact: bool,
    sampled_rows: Option<i64>,
}

/// The figures of one table.
pub(super) fn run(connection: &Connection, file: &Path, limits: &TaskLimits) -> Result<Profile> {
    let started = Instant::now();
    instance::open_table(connection, file, limits).map_err(|cause| internal(&cause))?;
    let rows = connection.query_row(&format!("SELECT count(*) FROM {TABLE}"), [], |row| row.get(0)).map_err(failed)?;
    let typed = columns(connection).map_err(failed)?;
    let cells = rows * i64::try_from(typed.len()).unwrap_or(i64::MAX);
    let mut work = Work {
        connection,
        limits,
        started,
        rows,
        source: TABLE.to_owned(),
        read: rows,
        exact: rows <= EXACT_ROWS && cells <= EXACT_CELLS,
        sampled_rows: None,
    };
    if cells > WHOLE_CELLS {
        work.sample(cells)?;
    }
    let mut found = Vec::new();
    let groups = typed.chunks(GROUP);
    let of = groups.len();
    for (at, group) in groups.enumerate() {
        found.extend(work.first_pass(group, of - at)?);
    }
    let columns = found.into_iter().map(|column| work.finish(column)).collect::<Result<_>>()?;
    Ok(Profile { row_count: rows, sampled_rows: work.sampled_rows, columns })
}

impl Work<'_> {
    /// Reads whole blocks of rows, chosen by chance that a seed fixes.
    fn sample(&mut self, cells: i64) -> Result<()> {
        let percent = 50.0 * WHOLE_CELLS as f64 / cells as f64;
        self.source = format!("{TABLE} TABLESAMPLE system({percent:.4} PERCENT) REPEATABLE (7)");
        self.read = self.one(&format!("SELECT count(*) FROM {}", self.source), |row| row.get(0)).map_err(failed)?;
        self.sampled_rows = Some(self.read);
        Ok(())
    }

    fn one<T>(&self, sql: &str, read: impl FnOnce(&Row<'_>) -> duckdb::Result<T>) -> duckdb::Result<T> {
        self.connection.query_row(sql, [], read)
    }

    /// Whether the first pass computes medians.
    fn has_medians(&self) -> bool {
        self.exact && self.rows <= MEDIAN_ROWS
    }

    /// Whether so many percent of the time are over.
    fn is_past(&self, percent: u128) -> bool {
        self.started.elapsed().as_millis() * 100 > u128::from(self.limits.time_ms) * percent
    }

    /// The figures of a group of columns, with which so many groups are left.
    fn first_pass(&self, group: &[(String, String)], left: usize) -> Result<Vec<Found>> {
        if self.source == TABLE {
            return self.pass(group, TABLE, !self.exact);
        }
        let started = Instant::now();
        let mut found = self.pass(group, &self.source, false)?;
        if self.has_time_for_all(started.elapsed(), left) {
            match self.pass(group, TABLE, false) {
                Ok(whole) => found.iter_mut().zip(whole).for_each(|(sample, whole)| sample.take_whole(whole)),
                // The figures of the sample stand.
                Err(error) if error.code == Code::LimitExceeded => {}
                Err(error) => return Err(error),
            }
        }
        self.sample_medians(&mut found)?;
        Ok(found)
    }

    /// Whether there seems to be time to read all rows of each group that is left, after the sample of one took so long.
    fn has_time_for_all(&self, took: Duration, left: usize) -> bool {
        let all = took.as_millis() * u128::from(self.rows.unsigned_abs()) / u128::from(self.read.unsigned_abs().max(1));
        let end = self.started.elapsed().as_millis() + all * left as u128;
        end * 100 < u128::from(self.limits.time_ms) * u128::from(ALL_ROWS)
    }

    /// Reads a group of columns in the table or in a sample of it, with estimates of the medians if they are wanted.
    fn pass(&self, group: &[(String, String)], source: &str, medians: bool) -> Result<Vec<Found>> {
        let classes: Vec<Class> = group.iter().map(|(_, r#type)| Class::of(r#type)).collect();
        let parts =
            group.iter().zip(&classes).map(|((name, _), class)| self.aggregates(&quoted(name), *class, medians));
        let sql = format!("SELECT count(*), {} FROM {source}", parts.collect::<Vec<_>>().join(", "));
        self.one(&sql, |row| {
            // Each time that a sample is drawn it has a few rows more or fewer.
            let sample = Some(row.get::<_, i64>(0)?).filter(|_| source != TABLE);
            let columns = group.iter().zip(&classes).enumerate();
            columns
                .map(|(index, ((name, r#type), class))| {
                    self.read_first(row, index * 7 + 1, sample, name, r#type, *class)
                })
                .collect()
        })
        .map_err(failed)
    }

    /// Seven figures: values, distinct (estimated), least, greatest, mean, median, finite values.
    fn aggregates(&self, column: &str, class: Class, medians: bool) -> String {
        let finite = finite(class, column);
        let text = |expression: String| format!("CAST({expression} AS VARCHAR)");
        let [least, greatest] = ["min", "max"].map(|which| match class {
            Class::Nested | Class::Binary | Class::Opaque => "CAST(NULL AS VARCHAR)".to_owned(),
            // The beginnings are ordered as the texts are.
            Class::Text => format!("{which}(left(CAST({column} AS VARCHAR), {}))", VALUE_CHARS + 1),
            _ => text(format!("{which}({finite})")),
        });
        let mean = if class.is_number() { format!("avg({finite})") } else { "NULL".to_owned() };
        let median = match median(class, column).filter(|_| self.has_medians()) {
            Some(exact) => text(exact),
            None if medians => estimated_median(class, column),
            None => "CAST(NULL AS VARCHAR)".into(),
        };
        let distinct = if class == Class::Opaque { "0".to_owned() } else { format!("approx_count_distinct({column})") };
        let values = if class == Class::Float { finite.as_str() } else { column };
        format!("count({column}), {distinct}, {least}, {greatest}, CAST({mean} AS DOUBLE), {median}, count({values})")
    }

    /// The figures of a column, of all rows or of a sample of so many.
    fn read_first(
        &self,
        row: &Row<'_>,
        at: usize,
        sample: Option<i64>,
        name: &str,
        r#type: &str,
        class: Class,
    ) -> duckdb::Result<Found> {
        let filled: i64 = row.get(at)?;
        let finite: i64 = row.get(at + 6)?;
        let shown = |index: usize| {
            Ok::<_, duckdb::Error>(row.get::<_, Option<String>>(index)?.map(|text| cut(&text, VALUE_CHARS)))
        };
        let mean: Option<f64> = row.get(at + 4)?;
        let mut approximate = Vec::new();
        if sample.is_some() {
            approximate.extend([Figure::Nulls, Figure::Range]);
            approximate.extend(mean.map(|_| Figure::Mean));
        }
        let distinct = row.get::<_, i64>(at + 1)?.min(filled);
        let (nulls, distinct) = match sample {
            Some(read) => of_all(self.rows, read, filled, distinct),
            None => (self.rows - filled, distinct),
        };
        let median = shown(at + 5)?;
        approximate.extend(median.as_ref().filter(|_| !self.has_medians()).map(|_| Figure::Median));
        let profile = ColumnProfile {
            name: name.to_owned(),
            r#type: cut(r#type, TYPE_CHARS),
            nulls,
            distinct,
            min: shown(at + 2)?,
            max: shown(at + 3)?,
            mean: mean.filter(|mean| mean.is_finite()),
            median,
            not_finite: (finite < filled).then_some(filled - finite),
            top_values: Vec::new(),
            approximate,
            not_computed: Vec::new(),
            likely_personal_data: None,
        };
        Ok(Found { sql: quoted(name), class, r#type: r#type.to_owned(), filled, profile })
    }

    /// The medians of a sample's columns, which take longer than all other figures together.
    fn sample_medians(&self, found: &mut [Found]) -> Result<()> {
        let asked: Vec<String> = found.iter().map(|column| estimated_median(column.class, &column.sql)).collect();
        let sql = format!("SELECT {} FROM {}", asked.join(", "), self.source);
        let medians: Vec<Option<String>> =
            self.one(&sql, |row| (0..asked.len()).map(|at| row.get(at)).collect()).map_err(failed)?;
        for (column, median) in found.iter_mut().zip(medians) {
            column.profile.approximate.extend(median.as_ref().map(|_| Figure::Median));
            column.profile.median = median.map(|text| cut(&text, VALUE_CHARS));
        }
        Ok(())
    }

    /// Everything that is asked of a column by itself.
    fn finish(&mut self, mut found: Found) -> Result<ColumnProfile> {
        let values = self.look(&found)?;
        let fields = if found.class == Class::Nested { personal::fields(&found.r#type) } else { Vec::new() };
        let looked = values.as_deref().unwrap_or_default();
        let finding = personal::judge(&found.profile.name, &fields, found.class.content(), looked);
        self.values(&mut found)?;
        let mut column = found.profile;
        if values.is_none() {
            column.not_computed.push(Figure::LikelyPersonalData);
            // Nothing of a text is shown before it is known whether it speaks of people.
            if finding.is_none() && column.min.is_some() {
                (column.min, column.max) = (None, None);
                column.not_computed.push(Figure::Range);
            }
            if finding.is_none() && column.median.take().is_some() {
                column.not_computed.push(Figure::Median);
            }
            if finding.is_none() && column.mean.take().is_some() {
                column.not_computed.push(Figure::Mean);
            }
        }
        if let Some(finding) = finding {
            let mask = |value: String| personal::mask(finding.kind, &value);
            column.min = column.min.map(mask);
            column.max = column.max.map(mask);
            (column.mean, column.median) = (None, None);
            column.approximate.retain(|figure| !matches!(figure, Figure::Mean | Figure::Median));
            for top in &mut column.top_values {
                top.value = mask(std::mem::take(&mut top.value));
            }
            column.likely_personal_data = Some(finding);
        }
        Ok(column)
    }

    /// Values to be looked at for personal data; none of a type that holds none, and `None` when there is no time.
    /// Where the sample met none of those that there are, all rows are looked at.
    fn look(&self, found: &Found) -> Result<Option<Vec<String>>> {
        if !found.class.could_be_personal(found.profile.max.as_deref()) || found.filled == 0 {
            return Ok(Some(Vec::new()));
        }
        for source in [self.source.as_str(), TABLE] {
            if self.is_past(LATE) {
                return Ok(None);
            }
            let values = looked_at(self.connection, source, &found.sql, found.class, found.filled).map_err(failed)?;
            if !values.is_empty() {
                return Ok(Some(values));
            }
        }
        Ok(None)
    }

    /// Distinct values, frequent values and the median.
    fn values(&mut self, found: &mut Found) -> Result<()> {
        if found.class == Class::Opaque || found.filled == 0 {
            found.profile.distinct = 0;
            if found.class == Class::Opaque && found.filled > 0 {
                found.profile.not_computed.push(Figure::Distinct);
            } else if found.profile.approximate.contains(&Figure::Nulls) {
                // The sample met none.
                found.profile.approximate.push(Figure::Distinct);
            }
            return Ok(());
        }
        if self.exact && !self.is_past(HURRY) {
            match self.grouped(found, "true").and_then(|groups| Ok((groups, self.median(found)?))) {
                Ok(((distinct, top), median)) => {
                    found.profile.distinct = distinct;
                    found.profile.median = median;
                    found.profile.top_values = found.frequent(top, distinct, found.filled);
                    return Ok(());
                }
                // Too much for the memory: the estimates stand.
                Err(cause) => match failed(cause) {
                    error if error.code == Code::LimitExceeded => {}
                    error => return Err(error),
                },
            }
        }
        found.profile.approximate.push(Figure::Distinct);
        if self.is_past(LATE) {
            found.profile.not_computed.push(Figure::TopValues);
            return Ok(());
        }
        let step = (self.read / TOP_SAMPLE).max(1);
        match self.grouped(found, &format!("hash(rowid) % {step} = 0")) {
            Ok((distinct, top)) => {
                let (rows, filled) = self.sample_size(found, step).map_err(failed)?;
                self.sampled_rows.get_or_insert(rows);
                found.profile.top_values = found.frequent(top, distinct, filled);
                found.profile.approximate.push(Figure::TopValues);
            }
            Err(cause) => match failed(cause) {
                error if error.code == Code::LimitExceeded => found.profile.not_computed.push(Figure::TopValues),
                error => return Err(error),
            },
        }
        Ok(())
    }

    /// How many values there are, and the most frequent with their counts; equals in the order of the values.
    fn grouped(&self, found: &Found, condition: &str) -> duckdb::Result<(i64, Vec<(String, i64)>)> {
        let sql = format!(
            "SELECT distinct_values, -top.n, left(CAST(top.v AS VARCHAR), {}) FROM (
                 SELECT count(*) AS distinct_values, unnest(min({{'n': -n, 'v': v}}, {TOP})) AS top
                 FROM (SELECT {1} AS v, count(*) AS n FROM {2} WHERE {1} IS NOT NULL AND {condition} GROUP BY 1))",
            VALUE_CHARS + 1,
            found.sql,
            self.source
        );
        let mut statement = self.connection.prepare(&sql)?;
        let mut distinct = 0;
        let rows = statement
            .query_map([], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?, row.get::<_, String>(2)?)))?;
        let mut top = Vec::new();
        for row in rows {
            let (all, count, value) = row?;
            distinct = all;
            top.push((cut(&value, VALUE_CHARS), count));
        }
        Ok((distinct, top))
    }

    fn median(&self, found: &Found) -> duckdb::Result<Option<String>> {
        let Some(median) = median(found.class, &found.sql).filter(|_| !self.has_medians()) else {
            return Ok(found.profile.median.clone());
        };
        self.one(&format!("SELECT CAST({median} AS VARCHAR) FROM {TABLE}"), |row| row.get(0))
    }

    /// Rows of the sample for frequent values, and those of them that have a value.
    fn sample_size(&self, found: &Found, step: i64) -> duckdb::Result<(i64, i64)> {
        let sql = format!("SELECT count(*), count({}) FROM {} WHERE hash(rowid) % {step} = 0", found.sql, self.source);
        self.one(&sql, |row| Ok((row.get(0)?, row.get(1)?)))
    }
}

/// Empty rows and different values of a table of so many rows, by those of a sample. Where nearly all values of the sample
/// differ, those of the table do too, as far as it tells; of values that come again, the table may have more.
fn of_all(rows: i64, read: i64, filled: i64, distinct: i64) -> (i64, i64) {
    let empty = (read - filled) as f64 / read.max(1) as f64;
    let nulls = (empty * rows as f64).round() as i64;
    let differ = distinct * 10 > filled * 8;
    (nulls, if differ { rows - nulls } else { distinct })
}

fn columns(connection: &Connection) -> duckdb::Result<Vec<(String, String)>> {
    let mut statement = connection.prepare(
        "SELECT column_name, data_type FROM duckdb_columns() WHERE database_name = 'd0' AND table_name = 'data'
         ORDER BY column_index",
    )?;
    statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
}

fn cut(text: &str, chars: usize) -> String {
    match text.char_indices().nth(chars) {
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default()),
        None => text.to_owned(),
    }
}

/// Of our own statements only time and memory can be anybody's fault.
fn failed(cause: duckdb::Error) -> Error {
    let error = problem::of_query(&cause);
    match error.code {
        Code::QueryTimeout | Code::LimitExceeded => error,
        _ => internal(&cause),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_differ_in_a_sample_do_so_in_the_table_and_others_are_as_many_as_were_seen() {
        assert_eq!(of_all(200_000, 1_000, 1_000, 960), (0, 200_000));
        assert_eq!(of_all(200_000, 1_000, 900, 880), (20_000, 180_000));
        assert_eq!(of_all(200_000, 1_000, 1_000, 400), (0, 400));
        assert_eq!(of_all(200_000, 1_000, 9, 1), (198_200, 1));
        assert_eq!(of_all(200_000, 0, 0, 0), (0, 0));
    }

    /// A table of which a tenth was read.
    fn sampled(connection: &Connection) -> Work<'_> {
        const LIMITS: &TaskLimits = &TaskLimits { memory_mb: 64, threads: 1, time_ms: 1_000_000, rows: 1, bytes: 1 };
        Work {
            connection,
            limits: LIMITS,
            started: Instant::now(),
            rows: 1_000,
            source: "sample".into(),
            read: 100,
            exact: false,
            sampled_rows: Some(100),
        }
    }

    #[test]
    fn all_rows_are_read_where_all_groups_that_are_left_have_time_for_it() {
        let connection = Connection::open_in_memory().unwrap();
        let work = sampled(&connection);
        // All rows of a group take 400 of 600 seconds.
        let took = Duration::from_secs(40);
        assert!(work.has_time_for_all(took, 1));
        assert!(!work.has_time_for_all(took, 2));
        let Some(started) = Instant::now().checked_sub(Duration::from_secs(250)) else { return };
        assert!(!Work { started, ..work }.has_time_for_all(took, 1));
    }

    #[test]
    fn that_a_sample_met_no_value_does_not_say_that_there_is_none() {
        let connection = Connection::open_in_memory().unwrap();
        let mut work = sampled(&connection);
        for (approximate, expected) in [
            (vec![Figure::Nulls, Figure::Range], vec![Figure::Nulls, Figure::Range, Figure::Distinct]),
            (Vec::new(), Vec::new()),
        ] {
            let figures = serde_json::json!({
                "name": "n", "type": "BIGINT", "nulls": 1_000, "distinct": 0, "top_values": [], "approximate": approximate
            });
            let profile: ColumnProfile = serde_json::from_value(figures).unwrap();
            let mut found = Found { sql: "n".into(), r#type: "BIGINT".into(), class: Class::Whole, filled: 0, profile };
            work.values(&mut found).unwrap();
            assert_eq!(found.profile.approximate, expected);
        }
    }
}
