//! An engine instance that holds the permitted tables and nothing else.

use std::path::{Path, PathBuf};
use std::time::Instant;

use duckdb::{Config, Connection};
use serde_json::{Value, json};

use super::render::{self, Shape};
use super::{carried, edit, problem, sandbox, zones};
use crate::engine::sql::guard;
use crate::engine::sql::wire::{Outcome, TaskLimits};
use crate::model::error::{Code, Error, Result};
use crate::model::table::{Column, Table};

/// What does not depend on the task; set before it is known. One thread only: threads that run before the kernel's
/// confinement would not be under it.
const AT_OPEN: &str = "
    SET autoinstall_known_extensions=false;
    SET autoload_known_extensions=false;
    SET allow_community_extensions=false;
    SET allow_persistent_secrets=false;
    SET allow_extension_repositories='forbidden';
    SET async_threads=0;
    SET temp_directory='';
    SET max_temp_directory_size='0B';
    SET max_expression_depth=250;
    SET pivot_limit=1000;
    SET enable_external_file_cache=false;
    SET enable_progress_bar_print=false;
    SET errors_as_json=true;";

/// The door closes behind the attached files. The order matters: after attaching, external access goes first, then
/// the file system (the open handles keep reading), then the settings themselves. Without the second, the attached
/// file itself could be overwritten, read-only or not.
const LOCK: &str = "
    SET enable_external_access=false;
    SET disabled_filesystems='LocalFileSystem';
    SET lock_configuration=true;";

/// A fresh instance in memory.
pub fn open() -> duckdb::Result<Connection> {
    let connection = Connection::open_in_memory_with_flags(Config::default().threads(1)?)?;
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
pub fn limit(connection: &Connection, limits: &TaskLimits) -> duckdb::Result<()> {
    let TaskLimits { memory_mb, threads, time_ms, .. } = limits;
    connection.execute_batch(&format!(
        "SET memory_limit='{memory_mb}MiB'; SET threads={threads}; SET max_execution_time={time_ms};"
    ))
}

/// Judges and runs one statement over views of the given tables.
pub fn query(connection: &Connection, tables: &[(String, PathBuf)], sql: &str, limits: &TaskLimits) -> Result<Outcome> {
    let names: Vec<String> = tables.iter().map(|(name, _)| name.to_ascii_lowercase()).collect();
    let judge = |sql: &str| {
        let tree = edit::parse(connection, sql).map_err(|cause| internal(&cause))?;
        let judged = guard::check(sql, &tree, &names).map_err(guard::Refusal::into_error)?;
        Ok::<_, Error>((tree, judged))
    };
    let (tree, judged) = judge(sql)?;

    let used = tables.iter().filter(|(name, _)| judged.tables.contains(&name.to_ascii_lowercase()));
    furnish(connection, used, limits).map_err(|cause| internal(&cause))?;
    judged.check_columns(|| columns(connection)).map_err(guard::Refusal::into_error)?;
    sandbox::forbid_processes().map_err(|cause| internal(&cause))?;
    let Some(resolved) = zones::resolve(connection, sql, &tree) else { return rows(connection, sql, None, limits) };
    judge(&resolved)?;
    rows(connection, &resolved, edit::names(connection, &tree), limits)
}

/// Views of tables under their public names, and nothing else; the door is closed afterwards.
fn furnish<'t>(
    connection: &Connection,
    tables: impl Iterator<Item = &'t (String, PathBuf)>,
    limits: &TaskLimits,
) -> duckdb::Result<()> {
    limit(connection, limits)?;
    for (index, (name, file)) in tables.enumerate() {
        attach(connection, index, file)?;
        connection.execute_batch(&format!("CREATE VIEW {} AS SELECT * FROM d{index}.main.data", quoted(name)))?;
    }
    connection.execute_batch(LOCK)
}

/// The first rows of one table.
pub fn preview(connection: &Connection, file: &Path, limits: &TaskLimits) -> Result<Outcome> {
    limit(connection, limits)
        .and_then(|()| attach(connection, 0, file))
        .and_then(|()| connection.execute_batch(LOCK))
        .map_err(|cause| internal(&cause))?;
    rows(connection, "SELECT * FROM d0.main.data", None, limits)
}

fn attach(connection: &Connection, index: usize, file: &Path) -> duckdb::Result<()> {
    let path = file.to_str().ok_or_else(|| duckdb::Error::InvalidPath(file.to_owned()))?;
    connection.execute_batch(&format!("ATTACH {} AS d{index} (READ_ONLY)", literal(path)))
}

/// The columns that the views show, for hints; none when they cannot be read.
fn columns(connection: &Connection) -> Vec<String> {
    let read = || -> duckdb::Result<Vec<String>> {
        let mut statement = connection
            .prepare("SELECT DISTINCT column_name FROM duckdb_columns() WHERE database_name = 'memory' ORDER BY 1")?;
        statement.query_map([], |row| row.get(0))?.collect()
    };
    read().unwrap_or_default()
}

/// Runs a statement; `names` are those of its columns where they are not the ones that it would give itself.
fn rows(connection: &Connection, sql: &str, names: Option<Vec<String>>, limits: &TaskLimits) -> Result<Outcome> {
    let started = Instant::now();
    let failed = |cause: &duckdb::Error| problem::of_query(cause, || columns(connection));
    let mut statement = connection.prepare(sql).map_err(|cause| failed(&cause))?;
    let types = |statement: &duckdb::Statement<'_>| -> Vec<_> {
        (0..statement.column_count()).map(|index| statement.column_logical_type(index)).collect()
    };
    let declared = types(&statement);
    let carried = carried::wrap(connection, sql, &declared);
    if let Some((text, _)) = &carried {
        statement = connection.prepare(text).map_err(|cause| failed(&cause))?;
    }
    let handles = types(&statement);
    let names = names.or_else(|| carried.as_ref().map(|(_, names)| names.clone()));
    let stream = statement.stream_arrow([]).map_err(|cause| failed(&cause))?;

    let schema = stream.get_schema();
    let fields = schema.fields();
    let shapes: Vec<Shape> =
        handles.iter().zip(fields).map(|(handle, field)| Shape::of(handle, field.data_type())).collect();
    let columns = fields.iter().zip(&shapes).enumerate().map(|(index, (field, shape))| {
        let name = names.as_ref().and_then(|names| names.get(index)).unwrap_or(field.name()).clone();
        let shown =
            declared.get(index).filter(|_| carried.is_some()).map(|r#type| Shape::of(r#type, field.data_type()));
        Column { name, r#type: shown.as_ref().unwrap_or(shape).name().to_owned() }
    });
    let columns = columns.collect();

    let mut table = Table { columns, rows: vec![], truncated: false };
    let mut bytes = 0;
    'batches: for batch in stream {
        let batch = batch.map_err(|cause| failed(&cause))?;
        for index in 0..batch.num_rows() {
            if table.rows.len() == limits.rows {
                table.truncated = true;
                break 'batches;
            }
            let cells = batch.columns().iter().zip(&shapes);
            let row = cells.map(|(column, shape)| render::value(column, index, Some(shape)));
            let row: Vec<Value> = row.collect::<Result<_, _>>().map_err(|r#type| unreadable(&r#type))?;
            bytes += serde_json::to_vec(&row).map_or(usize::MAX, |text| text.len() + 1);
            if bytes > limits.bytes {
                if table.rows.is_empty() {
                    return Err(too_wide(limits.bytes));
                }
                table.truncated = true;
                break 'batches;
            }
            table.rows.push(row);
        }
    }
    let execution_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
    Ok(Outcome::Rows { table, execution_ms })
}

fn unreadable(r#type: &str) -> Error {
    let message = format!("Values of type {type} cannot be returned. Convert them: CAST(… AS VARCHAR).");
    Error::new(Code::InvalidArgument, message).with(json!({ "type": r#type }))
}

fn too_wide(limit: usize) -> Error {
    let message =
        format!("A single row is larger than {limit} bytes. Select fewer columns, or shorten texts: left(c, 200).");
    Error::new(Code::LimitExceeded, message).with(json!({ "limit": "bytes", "bytes": limit }))
}

/// A failure that is none of the caller's; the server logs the message and says nothing of it.
/// An interrupt may come at any step; it means that the time is over.
pub fn internal(cause: &impl std::fmt::Display) -> Error {
    let message = cause.to_string();
    if message.contains("\"exception_type\":\"INTERRUPT\"") {
        return problem::too_slow();
    }
    Error { message, ..Error::new(Code::InternalError, "") }
}

pub fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

pub fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
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

        let connection = open().unwrap();
        let limits = TaskLimits { memory_mb: 256, threads: 2, time_ms: 5_000, rows: 10, bytes: 10_000 };
        let tables = [("own".to_owned(), file.clone())];
        furnish(&connection, tables.iter(), &limits).unwrap();
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
        drop(connection);
        assert_eq!(std::fs::read(&file).unwrap(), before);
        assert_eq!(std::fs::read_to_string(&other).unwrap(), "CANARY\n");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
    }
}
