//! An engine instance that holds the permitted tables and nothing else.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use arrow_ipc::writer::StreamWriter;
use duckdb::arrow::array::{Array, ArrayData, AsArray as _};
use duckdb::arrow::datatypes::{DataType, SchemaRef};
use duckdb::arrow::record_batch::RecordBatch;
use duckdb::{ArrowStream, Config, Connection, InterruptHandle};
use serde_json::json;

use super::ready::{Ready, Statements};
use super::{carried, edit, pivot, problem, qualified, sandbox, zones};
use crate::engine::sql::render::Shape;
use crate::engine::sql::rows::too_wide;
use crate::engine::sql::wire::{Confinement, Outcome, Rows, TableFile, Tables, TaskLimits};
use crate::engine::sql::{estimate, guard};
use crate::model::error::{Code, Error, Result};
use crate::model::source::{quoted, text_literal};

/// Most columns of a result.
const MAX_COLUMNS: usize = 1_000;

/// What does not depend on the task; set before it is known, and for all connections, since each query has one of its
/// own.
const AT_OPEN: &str = "
    SET GLOBAL autoinstall_known_extensions=false;
    SET GLOBAL autoload_known_extensions=false;
    SET GLOBAL allow_community_extensions=false;
    SET GLOBAL allow_persistent_secrets=false;
    SET GLOBAL allow_extension_repositories='forbidden';
    SET GLOBAL temp_directory='';
    SET GLOBAL max_temp_directory_size='0B';
    SET GLOBAL max_expression_depth=250;
    SET GLOBAL pivot_limit=1000;
    SET GLOBAL enable_external_file_cache=false;
    SET enable_progress_bar_print=false;
    SET GLOBAL errors_as_json=true;";

/// The door closes behind the attached files. The order matters: after attaching, external access goes first, then
/// the file system (the open handles keep reading), then the settings themselves. Without the second, the attached
/// file itself could be overwritten, read-only or not.
const LOCK: &str = "
    SET GLOBAL enable_external_access=false;
    SET GLOBAL disabled_filesystems='LocalFileSystem';
    SET GLOBAL lock_configuration=true;";

/// Behind each view. The engine plans what is prepared, and plans it again when it runs, since it reads tables: all but the
/// names and types of its columns is for nothing. What asks for a variable has its plan made when it runs alone; nothing
/// is left of the condition in it, since there are no variables.
const BOUND_ONLY: &str = "WHERE getvariable('') IS NULL";

/// A fresh instance in memory, without threads of its own: those that run before the kernel's confinement would not be
/// under it, and each takes 64 MiB of the address space for good.
pub(super) fn open() -> duckdb::Result<Connection> {
    let alone = Config::default().threads(1)?.with("async_threads", "0")?;
    let connection = Connection::open_in_memory_with_flags(alone)?;
    connection.execute_batch(AT_OPEN)?;
    zones::register(&connection)?;
    for (name, definition) in guard::functions::DEFINED_HERE.iter().chain(&guard::functions::DEFINED_OVER) {
        connection.execute_batch(&format!("CREATE MACRO {name}{definition}"))?;
    }
    // The first statement of an instance loads catalogues: done while nobody waits.
    edit::parse(&connection, "SELECT 1")
        .and_then(|tree| connection.query_row("SELECT length(?) + count(*) FROM range(1)", [tree], |_| Ok(())))?;
    Ok(connection)
}

/// Applies the task's limits.
pub(super) fn limit(connection: &Connection, limits: &TaskLimits) -> duckdb::Result<()> {
    let TaskLimits { memory_mb, threads, time_ms, .. } = limits;
    connection.execute_batch(&format!(
        "SET GLOBAL memory_limit='{memory_mb}MiB'; SET GLOBAL threads={threads}; SET GLOBAL max_execution_time={time_ms};"
    ))
}

/// An instance for the queries of one caller over the tables that it may read.
pub(super) struct Instance {
    connection: Connection,
    tables: Tables,
    names: Vec<String>,
    /// Names of the tables that it holds, once the door is closed.
    attached: Option<BTreeSet<String>>,
    /// Whether one of them has a time with a zone.
    has_zones: bool,
    ready: Statements,
    running: Running,
    confinement: Confinement,
}

impl Instance {
    pub(super) fn new(connection: Connection, tables: Tables, running: Running, confinement: Confinement) -> Self {
        let names = tables.iter().map(|table| table.name.clone()).collect();
        let ready = Statements::default();
        Self { connection, tables, names, attached: None, has_zones: false, ready, running, confinement }
    }

    /// Judges one statement and runs it. The first one that may run decides which tables are attached: those that it
    /// names and those in `also`.
    pub(super) fn query(&mut self, sql: &str, also: &[String], limits: &TaskLimits) -> Result<(Outcome, Vec<u8>)> {
        let started = Instant::now();
        if let Some(answer) = self.run_prepared(sql, limits)? {
            return Ok(answer);
        }
        let (statement, pivots) = self.understood(sql)?;
        let judged_us = micros(started);
        let used = &statement.judged.tables;
        let is_lasting = pivots.is_empty() && !statement.judged.is_fleeting;
        match &self.attached {
            None => {
                let wanted: BTreeSet<String> = used.iter().chain(also).cloned().collect();
                let wanted: Vec<_> = self.tables.iter().filter(|table| wanted.contains(&table.name)).collect();
                furnish(&self.connection, &wanted, limits).map_err(|cause| internal(&cause))?;
                sandbox::close(self.confinement).map_err(|cause| internal(&cause))?;
                self.attached = Some(wanted.into_iter().map(|table| table.name.clone()).collect());
                self.has_zones = zones::are_read(&self.connection);
            }
            Some(attached) if attached.is_superset(used) => {}
            Some(attached) => {
                let needed = attached.union(used).cloned().collect();
                return Ok((Outcome::Unattached { needed }, vec![]));
            }
        }
        // Whatever a statement may leave in a connection ends with it.
        let connection = self.connection.try_clone().map_err(|cause| internal(&cause))?;
        let _running = self.running.set(connection.interrupt_handle());
        let used: Vec<String> = used.iter().cloned().collect();
        let ran = self.listed(&connection, statement, &pivots).and_then(|statement| {
            let described = qualified::described(&statement.tree, &self.names);
            let (text, names) = self.runnable(&connection, statement)?;
            rows(&connection, &text, names, limits).map(|ran| (ran, described))
        });
        let (ran, described) = ran.map_err(|error| estimate::with_used(error, used.clone()))?;
        let Ran { text, schema, shapes, names, truncated, payload, execution_us } = ran;
        if pivots.is_empty() && !truncated {
            let (sql, limits, used, described) = (sql.to_owned(), limits.clone(), used.clone(), described.clone());
            let (shapes, names) = (shapes.clone(), names.clone());
            let ready = Ready { sql, limits, text, used, described, is_lasting, schema, shapes, names, connection };
            self.ready.keep(ready, payload.len());
        }
        let rows = Rows { shapes, names, truncated, used, described, is_lasting, judged_us, execution_us };
        Ok((Outcome::Rows(rows), payload))
    }

    /// Runs a statement that ran before, as it was judged and prepared then; nothing when there is none, or when it would
    /// no longer give the same columns.
    fn run_prepared(&mut self, sql: &str, limits: &TaskLimits) -> Result<Option<(Outcome, Vec<u8>)>> {
        let started = Instant::now();
        let Some(ready) = self.ready.take(sql, limits) else { return Ok(None) };
        let ran = {
            let _running = self.running.set(ready.connection.interrupt_handle());
            let failed = |error| estimate::with_used(error, ready.used.clone());
            let failure = |cause: &duckdb::Error| failed(problem::of_query(cause));
            let mut statement = ready.connection.prepare_cached(&ready.text).map_err(|cause| failure(&cause))?;
            let stream = statement.stream_arrow([]).map_err(|cause| failure(&cause))?;
            if stream.get_schema() != ready.schema {
                return Ok(None);
            }
            written(stream, &ready.schema, limits).map_err(failed)?
        };
        let Ready { used, described, shapes, names, .. } = &ready;
        let rows = Rows {
            shapes: shapes.clone(),
            names: names.clone(),
            truncated: ran.truncated,
            used: used.clone(),
            described: described.clone(),
            is_lasting: ready.is_lasting,
            judged_us: 0,
            execution_us: micros(started),
        };
        if !ran.truncated {
            self.ready.keep(ready, ran.payload.len());
        }
        Ok(Some((Outcome::Rows(rows), ran.payload)))
    }

    /// A statement as it is run: `main.t` is the table t, and a `PIVOT` that finds out its columns by itself has a mark
    /// for them, which [`Instance::listed`] fills in. Whatever is written here is judged as if the caller had.
    fn understood(&self, sql: &str) -> Result<(Statement, Vec<pivot::Column>)> {
        let mut text = sql.to_owned();
        let mut tree = edit::parse(&self.connection, &text).map_err(|cause| internal(&cause))?;
        let mut pivots = Vec::new();
        if let Some((marked, read, found)) = pivot::marked(&self.connection, &text, &tree) {
            (text, tree, pivots) = (marked, read, found);
        }
        if let Some((plain, read)) = qualified::plain(&self.connection, &tree, &self.names) {
            (text, tree) = (plain, read);
            if !pivots.is_empty() {
                pivots = pivot::columns(&tree, pivots.len()).ok_or_else(|| pivot::unlisted().into_error())?;
            }
        }
        let judged = guard::check(&text, &tree, &self.names).map_err(guard::Refusal::into_error)?;
        Ok((Statement { text, tree, judged }, pivots))
    }

    /// The same with the values of each `PIVOT` in the place of its mark.
    fn listed(&self, connection: &Connection, statement: Statement, pivots: &[pivot::Column]) -> Result<Statement> {
        if pivots.is_empty() {
            return Ok(statement);
        }
        let mut lists = Vec::new();
        for column in pivots {
            let query = column.query(connection).ok_or_else(|| pivot::unlisted().into_error())?;
            let (text, _) = self.runnable(connection, self.judge(query)?)?;
            let failed = |cause: &duckdb::Error| problem::of_query(cause);
            let mut values = connection.prepare(&text).map_err(|cause| failed(&cause))?;
            let values = values.query_map([], |row| row.get::<_, String>(0)).map_err(|cause| failed(&cause))?;
            lists.push(values.collect::<duckdb::Result<Vec<_>>>().map_err(|cause| failed(&cause))?);
        }
        self.judge(pivot::filled(&statement.text, &lists)?)
    }

    /// The text that the engine gets for a judged statement, and the names of its columns where they are not the text's
    /// own.
    fn runnable(&self, connection: &Connection, statement: Statement) -> Result<(String, Option<Vec<String>>)> {
        let Statement { text, tree, judged } = statement;
        judged.check_columns(|| columns(connection)).map_err(guard::Refusal::into_error)?;
        match zones::resolve(connection, &text, &tree, self.has_zones) {
            None => Ok((text, None)),
            Some(resolved) => Ok((self.judge(resolved)?.text, edit::names(connection, &tree))),
        }
    }

    /// A statement that the guard lets through.
    fn judge(&self, text: String) -> Result<Statement> {
        let tree = edit::parse(&self.connection, &text).map_err(|cause| internal(&cause))?;
        let judged = guard::check(&text, &tree, &self.names).map_err(guard::Refusal::into_error)?;
        Ok(Statement { text, tree, judged })
    }
}

/// A statement that may run.
struct Statement {
    text: String,
    /// What the engine's parser makes of it.
    tree: String,
    judged: guard::Judged,
}

/// What a statement gave.
struct Ran {
    /// The text that ran in the end.
    text: String,
    schema: SchemaRef,
    /// Types of the columns as the statement declares them.
    shapes: Vec<Shape>,
    names: Vec<String>,
    truncated: bool,
    /// The rows as an Arrow stream.
    payload: Vec<u8>,
    execution_us: u64,
}

/// The statement that runs now, so that it can be interrupted.
#[derive(Clone, Default)]
pub(super) struct Running(Arc<Mutex<Option<Arc<InterruptHandle>>>>);

impl Running {
    fn slot(&self) -> MutexGuard<'_, Option<Arc<InterruptHandle>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Until what this returns is dropped, the statement of this connection is the one.
    pub(super) fn set(&self, handle: Arc<InterruptHandle>) -> impl Drop + use<> {
        struct Unset(Running);
        impl Drop for Unset {
            fn drop(&mut self) {
                *self.0.slot() = None;
            }
        }
        *self.slot() = Some(handle);
        Unset(self.clone())
    }

    pub(super) fn interrupt(&self) {
        if let Some(handle) = &*self.slot() {
            handle.interrupt();
        }
    }
}

/// Views of tables under their public names, with the columns that the caller sees, and nothing else; the door is closed
/// afterwards.
fn furnish(connection: &Connection, tables: &[&TableFile], limits: &TaskLimits) -> duckdb::Result<()> {
    limit(connection, limits)?;
    for (index, TableFile { name, file, columns }) in tables.iter().enumerate() {
        attach(connection, index, file)?;
        let shown = columns.as_ref().map(|names| names.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(", "));
        let shown = shown.unwrap_or_else(|| "*".into());
        connection.execute_batch(&format!(
            "CREATE VIEW {} AS SELECT {shown} FROM d{index}.main.data {BOUND_ONLY}",
            quoted(name)
        ))?;
    }
    connection.execute_batch(LOCK)
}

/// One table as `d0.main.data`, behind the closed door.
pub(super) fn open_table(connection: &Connection, file: &Path, limits: &TaskLimits) -> duckdb::Result<()> {
    limit(connection, limits)?;
    attach(connection, 0, file)?;
    connection.execute_batch(LOCK)
}

fn attach(connection: &Connection, index: usize, file: &Path) -> duckdb::Result<()> {
    let path = file.to_str().ok_or_else(|| duckdb::Error::InvalidPath(file.to_owned()))?;
    connection.execute_batch(&format!("ATTACH {} AS d{index} (READ_ONLY)", text_literal(path)))
}

/// The columns that the views show; none when they cannot be read.
fn columns(connection: &Connection) -> Vec<String> {
    let read = || -> duckdb::Result<Vec<String>> {
        let mut statement = connection
            .prepare("SELECT DISTINCT column_name FROM duckdb_columns() WHERE database_name = 'memory' ORDER BY 1")?;
        statement.query_map([], |row| row.get(0))?.collect()
    };
    read().unwrap_or_default()
}

/// Runs a statement and writes its rows as an Arrow stream; `names` are those of its columns where they are not the
/// ones that it would give itself.
fn rows(connection: &Connection, sql: &str, names: Option<Vec<String>>, limits: &TaskLimits) -> Result<Ran> {
    let started = Instant::now();
    let failed = |cause: &duckdb::Error| problem::of_query(cause);
    let mut statement = connection.prepare(sql).map_err(|cause| failed(&cause))?;
    if statement.column_count() > MAX_COLUMNS {
        let message = format!("The result has more than {MAX_COLUMNS} columns. Select those that you need.");
        return Err(
            Error::new(Code::LimitExceeded, message).with(json!({ "limit": "columns", "columns": MAX_COLUMNS }))
        );
    }
    let types = |statement: &duckdb::Statement<'_>| -> Vec<_> {
        (0..statement.column_count()).map(|index| statement.column_logical_type(index)).collect()
    };
    let declared = types(&statement);
    if !declared.iter().all(Shape::can_be_of) {
        let message = "A column's type has too many parts, or too many inside each other. Select parts of it.";
        return Err(Error::new(Code::LimitExceeded, message).with(json!({ "limit": "columns" })));
    }
    let carried = carried::wrap(connection, sql, &declared);
    if let Some((text, _)) = &carried {
        statement = connection.prepare(text).map_err(|cause| failed(&cause))?;
    }
    let sent = types(&statement);
    let names = names.or_else(|| carried.as_ref().map(|(_, names)| names.clone()));
    let stream = statement.stream_arrow([]).map_err(|cause| failed(&cause))?;
    let schema = stream.get_schema();
    let fields = schema.fields();
    let typed = sent.iter().zip(&declared).zip(fields);
    let shapes = typed.map(|((sent, declared), field)| match carried.is_some() {
        true => Shape::of(sent, field.data_type()).named(Shape::of(declared, field.data_type())),
        false => Shape::of(sent, field.data_type()),
    });
    let shapes: Vec<Shape> = shapes.collect();
    let own = || fields.iter().map(|field| field.name().clone()).collect();
    let names = names.filter(|names| names.len() == fields.len()).unwrap_or_else(own);

    let Written { payload, truncated } = written(stream, &schema, limits)?;
    let text = carried.map_or_else(|| sql.to_owned(), |(text, _)| text);
    Ok(Ran { text, schema, shapes, names, truncated, payload, execution_us: micros(started) })
}

/// Rows as an Arrow stream.
struct Written {
    payload: Vec<u8>,
    /// Whether there were more.
    truncated: bool,
}

/// Writes rows as far as the limits let them.
fn written(stream: ArrowStream<'_>, schema: &SchemaRef, limits: &TaskLimits) -> Result<Written> {
    let mut writer = StreamWriter::try_new(Vec::new(), schema).map_err(|cause| internal(&cause))?;
    let (mut count, mut bytes, mut values, mut truncated) = (0, 0, 0, false);
    for batch in stream {
        let batch = batch.map_err(|cause| problem::of_query(&cause))?;
        let fitting = batch.num_rows().min(limits.rows - count);
        let room = transport_bytes(limits.bytes).saturating_sub(bytes);
        let (kept, size) = within(&batch.slice(0, fitting), room, (limits.bytes / 2).saturating_sub(values))?;
        if kept.num_rows() > 0 {
            writer.write(&kept).map_err(|cause| internal(&cause))?;
        }
        count += kept.num_rows();
        bytes += size;
        values += values_in(&kept);
        if kept.num_rows() < batch.num_rows() {
            if count == 0 && fitting > 0 {
                return Err(too_wide(None, limits.bytes));
            }
            truncated = true;
            break;
        }
    }
    let payload = writer.into_inner().map_err(|cause| internal(&cause))?;
    Ok(Written { payload, truncated })
}

/// Most bytes of Arrow for so many of JSON: a row is often larger as Arrow, and the reply is cut by its JSON.
fn transport_bytes(json: usize) -> usize {
    (json * 8).clamp(1 << 20, 48 << 20)
}

/// Values in a batch, those inside others included: each takes two bytes of JSON at least, and very much more than in
/// Arrow, where it can be one bit.
fn values_in(batch: &RecordBatch) -> usize {
    fn values(array: &dyn Array) -> usize {
        let inner = match array.data_type() {
            DataType::List(_) => {
                let list = array.as_list::<i32>();
                match (list.value_offsets().first(), list.value_offsets().last()) {
                    (Some(from), Some(to)) => values(&list.values().slice(*from as usize, (to - from) as usize)),
                    _ => 0,
                }
            }
            DataType::Map(..) => {
                let map = array.as_map();
                match (map.value_offsets().first(), map.value_offsets().last()) {
                    (Some(from), Some(to)) => values(&map.entries().slice(*from as usize, (to - from) as usize)),
                    _ => 0,
                }
            }
            DataType::Struct(_) => array.as_struct().columns().iter().map(|column| values(column)).sum(),
            _ => array.to_data().child_data().iter().map(ArrayData::len).sum(),
        };
        array.len() + inner
    }
    batch.columns().iter().map(|column| values(column)).sum()
}

/// As many of the first rows as fit, in bytes and in values, and their size.
fn within(batch: &RecordBatch, room: usize, most_values: usize) -> Result<(RecordBatch, usize)> {
    let mut rows = batch.num_rows();
    loop {
        let kept = batch.slice(0, rows);
        let sizes = kept.columns().iter().map(|column| column.to_data().get_slice_memory_size());
        let size = sizes.sum::<std::result::Result<usize, _>>().map_err(|cause| internal(&cause))?;
        if (size <= room && values_in(&kept) <= most_values) || rows == 0 {
            return Ok((kept, size));
        }
        rows /= 2;
    }
}

fn micros(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_micros()).unwrap_or(u64::MAX)
}

/// A failure that is none of the caller's; the server logs the message and says nothing of it. Only an interrupt, which
/// may come at any step, means that the time is over.
pub(super) fn internal(cause: &impl std::fmt::Display) -> Error {
    let message = cause.to_string();
    if message.contains("\"exception_type\":\"INTERRUPT\"") {
        return problem::too_slow();
    }
    Error { message, ..Error::new(Code::InternalError, "") }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The third layer alone: what a hole in the guard would meet.
    #[test]
    fn without_the_guard_files_stay_out_of_reach_and_the_table_whole() {
        let folder = tempfile::tempdir().unwrap();
        let (file, other) = (folder.path().join("own.duckdb"), folder.path().join("canary.csv"));
        std::fs::write(&other, "CANARY\n").unwrap();
        let maker = Connection::open(&file).unwrap();
        maker.execute_batch("CREATE TABLE data AS SELECT 42 AS answer; CHECKPOINT").unwrap();
        drop(maker);
        let before = std::fs::read(&file).unwrap();

        let first = open().unwrap();
        let limits = TaskLimits { memory_mb: 256, threads: 2, time_ms: 5_000, rows: 10, bytes: 10_000 };
        let tables = [TableFile { name: "own".to_owned(), file: file.clone(), columns: None }];
        furnish(&first, &tables.iter().collect::<Vec<_>>(), &limits).unwrap();
        let connection = first.try_clone().unwrap();
        let settings = "SELECT current_setting('max_expression_depth')::INT, current_setting('errors_as_json')::TEXT,
                        current_setting('max_execution_time')::INT";
        let held: (i32, String, i32) =
            connection.query_row(settings, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).unwrap();
        assert_eq!(held, (250, "true".to_owned(), 5_000), "a query's own connection is under the same limits");
        let (own, canary) = (file.display(), other.display());
        for sql in [
            format!("WITH d AS (COPY (SELECT 'pwned') TO '{own}' (FORMAT csv, USE_TMP_FILE false)) SELECT * FROM d"),
            format!("COPY (SELECT 'pwned') TO '{own}.wal' (FORMAT csv, USE_TMP_FILE false)"),
            format!("COPY (SELECT 'pwned') TO '{canary}'"),
            format!("SELECT * FROM read_text('{canary}')"),
            format!("SELECT * FROM read_blob('{own}')"),
            format!("SELECT * FROM '{canary}'"),
            format!("SELECT * FROM glob('{}/*')", folder.path().display()),
            format!("ATTACH '{}' AS x", folder.path().join("new.duckdb").display()),
            format!("EXPORT DATABASE '{}'", folder.path().join("out").display()),
            "INSERT INTO d0.main.data VALUES (1)".into(),
            "WITH d AS (DELETE FROM d0.main.data RETURNING *) SELECT * FROM d".into(),
            "SET disabled_filesystems=''".into(),
            "SET enable_external_access=true".into(),
            "SET memory_limit='100GB'".into(),
            "RESET lock_configuration".into(),
            "INSTALL httpfs".into(),
            "SELECT * FROM 'https://example.com/x.csv'".into(),
        ] {
            assert!(connection.execute_batch(&sql).is_err(), "{sql}");
        }
        let answer: i32 = connection.query_row("SELECT answer FROM own", [], |row| row.get(0)).unwrap();
        assert_eq!(answer, 42);
        drop((connection, first));
        assert_eq!(std::fs::read(&file).unwrap(), before);
        assert_eq!(std::fs::read_to_string(&other).unwrap(), "CANARY\n");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
    }
}
