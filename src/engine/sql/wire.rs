//! What a server and its SQL workers say to each other: frames of JSON over the worker's standard input and output,
//! each with its length before it. A worker first says [`Reply::Ready`] and gets one [`Task`]; it says that it has
//! begun, may be told to stop, and answers once, with rows as an Arrow stream behind the answer's frame. A worker that
//! answered a query may get another one over the same tables.

use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::render::Shape;
use crate::engine::extract::Found;
use crate::engine::extract::bucket::Said;
use crate::engine::extract::sheets::Sheet;
use crate::engine::extract::sitemap::Sitemap;
use crate::engine::sql::{ImportedTable, TableFormat};
use crate::model::column_change::ColumnChange;
use crate::model::error::{Code, Error};
use crate::model::profile::Profile;

/// Longest frame, and most bytes behind one.
const MAX_FRAME: u32 = 64 << 20;

/// What one task may use.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct TaskLimits {
    pub memory_mb: u64,
    pub threads: u32,
    /// Wall-clock time in milliseconds.
    pub time_ms: u64,
    pub rows: usize,
    /// Bytes of the rows as JSON.
    pub bytes: usize,
}

/// A table that a caller may read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct TableFile {
    /// Its public name in lower case.
    pub name: String,
    pub file: PathBuf,
    /// The columns that the caller sees, where others are hidden.
    pub columns: Option<Vec<String>>,
}

/// The tables that a caller may read.
pub(super) type Tables = Arc<Vec<TableFile>>;

/// What a worker gets first; it decides about the rest of its life.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum Task {
    /// Untrusted SQL over tables. Those that it names are attached, and with them those in `also`.
    Query { tables: Tables, also: Vec<String>, sql: String, limits: TaskLimits },
    /// The figures of a table.
    Profile { file: PathBuf, limits: TaskLimits },
    /// An untrusted file becomes a table file, where `earlier` is given below the rows of that table file.
    Import {
        source: PathBuf,
        format: TableFormat,
        earlier: Option<PathBuf>,
        destination: PathBuf,
        /// What people corrected of the columns.
        changes: Vec<ColumnChange>,
        limits: TaskLimits,
    },
    /// The documents that an untrusted file holds; `name` is what people call it.
    Documents { source: PathBuf, name: String, limits: TaskLimits },
    /// The sheets of an untrusted workbook that hold something.
    Sheets { source: PathBuf, limits: TaskLimits },
    /// The addresses of an untrusted sitemap.
    Sitemap { source: PathBuf, limits: TaskLimits },
    /// What an untrusted server says of a bucket.
    Bucket { source: PathBuf, limits: TaskLimits },
}

/// What a server says after the first task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum Order {
    /// Interrupts the task; it answers that it was interrupted.
    Stop,
    /// Another query over the same tables, after the answer to the one before.
    Query { sql: String, limits: TaskLimits },
}

/// What the kernel enforces on a worker.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Confinement {
    /// Landlock: files and network.
    pub landlock: bool,
    /// Seccomp: system calls.
    pub seccomp: bool,
}

/// What a worker says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum Reply {
    /// It can take a task.
    Ready(Confinement),
    /// It has the task and begins: said at once of the first task, and of a further query only where it takes longer than
    /// some milliseconds.
    Begun,
    /// How far an import is, 0 to 1.
    Progress(f64),
    Done {
        outcome: Result<Outcome, Failure>,
        /// How many bytes follow this frame.
        payload: u32,
    },
}

/// The fruit of a task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum Outcome {
    /// The rows are an Arrow stream in the payload.
    Rows(Rows),
    /// The query names permitted tables of which this worker does not hold all; a fresh one must do it, with these:
    /// those that the query names and those that this worker holds.
    Unattached {
        needed: Vec<String>,
    },
    Profiled(Profile),
    Imported(ImportedTable),
    Found(Found),
    Sheets(Vec<Sheet>),
    Sitemap(Sitemap),
    Bucket(Said),
}

/// What is known of the rows beside their values.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rows {
    /// Types of the columns, as far as Arrow loses them.
    pub shapes: Vec<Shape>,
    /// Names of the columns.
    pub names: Vec<String>,
    /// Whether there were more rows (or bytes) than allowed.
    pub truncated: bool,
    /// Tables that the statement reads, by public name, in order.
    pub used: Vec<String>,
    /// The table whose columns the rows are, by public name, where the statement is its `DESCRIBE`.
    pub described: Option<String>,
    /// Whether the same statement over the same files gives these rows whenever it is asked.
    pub is_lasting: bool,
    /// What judging the statement took.
    pub judged_us: u64,
    /// What running it took.
    pub execution_us: u64,
}

/// A [`crate::model::error::Error`] on its way between processes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Failure {
    code: String,
    message: String,
    details: Value,
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self { code: error.code.info().name.to_owned(), message: error.message, details: error.details }
    }
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Self {
        match Code::ALL.into_iter().find(|code| code.info().name == failure.code) {
            // The worker logs nothing; what it could not explain is logged here.
            Some(Code::InternalError) | None => Error::internal(failure.message),
            Some(code) => Error::new(code, failure.message).with(failure.details),
        }
    }
}

/// One frame: length (four bytes, little endian) and JSON.
pub(super) fn encode(message: &impl Serialize) -> io::Result<Vec<u8>> {
    let body = serde_json::to_vec(message)?;
    let length = u32::try_from(body.len()).ok().filter(|length| *length <= MAX_FRAME);
    let length = length.ok_or_else(|| io::Error::other("the message is too long for a frame"))?;
    let mut frame = length.to_le_bytes().to_vec();
    frame.extend(body);
    Ok(frame)
}

/// How many bytes follow a frame's head.
pub(super) fn body_length(head: [u8; 4]) -> io::Result<usize> {
    checked_length(u32::from_le_bytes(head))
}

/// A length that the other side named, when it is one that may be allocated.
pub(super) fn checked_length(length: u32) -> io::Result<usize> {
    if length > MAX_FRAME {
        return Err(io::Error::other("the frame is longer than any message"));
    }
    Ok(length as usize)
}

pub(super) fn write(to: &mut impl Write, message: &impl Serialize) -> io::Result<()> {
    to.write_all(&encode(message)?)?;
    to.flush()
}

/// The next message; an error at the end of the stream.
pub(super) fn read<T: DeserializeOwned>(from: &mut impl Read) -> io::Result<T> {
    let mut head = [0; 4];
    from.read_exact(&mut head)?;
    let mut body = vec![0; body_length(head)?];
    from.read_exact(&mut body)?;
    Ok(serde_json::from_slice(&body)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_survive_the_wire() {
        let limits = TaskLimits { memory_mb: 1, threads: 2, time_ms: 3, rows: 4, bytes: 5 };
        let tables =
            Arc::new(vec![TableFile { name: "t".into(), file: "/a b".into(), columns: Some(vec!["a".into()]) }]);
        let task = Task::Query { tables, also: vec!["t".into()], sql: "SELECT 'é'".into(), limits };
        let mut pipe = Vec::new();
        write(&mut pipe, &task).unwrap();
        write(&mut pipe, &Order::Stop).unwrap();
        let mut from = pipe.as_slice();
        assert_eq!(read::<Task>(&mut from).unwrap(), task);
        assert_eq!(read::<Order>(&mut from).unwrap(), Order::Stop);
        assert!(read::<Order>(&mut from).is_err());
    }

    #[test]
    fn an_absurd_length_is_refused_before_it_is_allocated() {
        assert!(read::<Order>(&mut [0xff; 8].as_slice()).is_err());
    }

    #[test]
    fn an_error_keeps_code_words_and_particulars() {
        let error = Error::invalid("sql", "The SQL is empty.");
        let back = Error::from(Failure::from(error.clone()));
        assert_eq!(back.body("r"), error.body("r"));
    }
}
