//! The process that runs untrusted SQL and reads untrusted files: this same program, started with the hidden
//! sub-command. It imports or reads one file in its life, or runs queries of one caller over the tables that the caller may read,
//! in an engine instance of its own; and can be killed at any moment.
//!
//! Two threads: one, with a stack that the engine's parser cannot exhaust, does the work and reads the next order; the
//! main one listens while a task takes long, and ends the process when the server is gone ([`orders`]).

mod carried;
mod changes;
mod columns;
mod documents;
mod edit;
mod hints;
mod import;
mod instance;
mod misread;
mod orders;
mod pivot;
mod places;
mod problem;
mod profile;
mod qualified;
mod reading;
mod ready;
mod said;
mod sandbox;
mod sheet;
mod source;
mod syscalls;
mod unclosed;
mod zones;

use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::Duration;

use duckdb::Connection;

use self::instance::{Instance, Running};
use self::orders::Orders;
use super::wire::{self, Confinement, Outcome, Reply, Task, TaskLimits};
use crate::model::error::{Code, Error, Result};

/// The parser and the planner recurse; a small stack would end the process.
const STACK: usize = 64 << 20;

/// Bytes that an import may write; a small compressed file can hold very much.
const LARGEST_TABLE: u64 = 16 << 30;

/// Rows of so many bytes go with their frame in one piece.
const ONE_WRITE: usize = 64 << 10;

/// How often an import says how far it is, from its beginning on.
const PROGRESS_EVERY: Duration = Duration::from_millis(250);

/// Runs a worker until the server lets go of it. Standard output carries frames and nothing else.
pub fn main() -> ExitCode {
    match serve() {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("sql worker: {problem}");
            ExitCode::FAILURE
        }
    }
}

fn serve() -> io::Result<()> {
    let confinement = sandbox::at_start()?;
    let connection = instance::open().map_err(io::Error::other)?;
    let output = Output(Arc::new(Mutex::new(File::from(io::stdout().as_fd().try_clone_to_owned()?))));
    output.say(&Reply::Ready(confinement))?;

    let orders = Orders::new()?;
    let task: Task = wire::read(&mut orders.input())?;
    restrict(&task)?;
    let running = Running::default();
    let (said, current, further) = (output.clone(), running.clone(), orders.clone());
    // Started after the restrictions, so that it is under them. A worker that gets so far has begun.
    let work = move || match said.say(&Reply::Begun) {
        Ok(()) => perform(connection, confinement, task, &further, &said, &current),
        // The watcher notices a server that is gone.
        Err(problem) => eprintln!("sql worker: cannot begin: {problem}"),
    };
    orders.begin();
    std::thread::Builder::new().stack_size(STACK).spawn(work)?;
    orders.watch(&output, &running)
}

/// Takes from the process what its tasks do not need.
fn restrict(task: &Task) -> io::Result<()> {
    let (limits, readable, writable): (&TaskLimits, Vec<&Path>, Vec<&Path>) = match task {
        Task::Query { tables, limits, .. } => {
            (limits, tables.iter().map(|table| table.file.as_path()).collect(), vec![])
        }
        Task::Profile { file: source, limits }
        | Task::Documents { source, limits, .. }
        | Task::Sheets { source, limits }
        | Task::Sitemap { source, limits }
        | Task::Bucket { source, limits } => (limits, vec![source], vec![]),
        Task::Import { source, earlier, destination, limits, .. } => {
            let readable = [source].into_iter().chain(earlier).map(PathBuf::as_path).collect();
            (limits, readable, destination.parent().into_iter().collect())
        }
    };
    sandbox::bound_memory(limits.memory_mb)?;
    sandbox::bound_processor(cpu_seconds(limits))?;
    sandbox::bound_files(if writable.is_empty() { 0 } else { LARGEST_TABLE })?;
    sandbox::confine(&readable, &writable);
    Ok(())
}

/// All threads together spend processor time.
fn cpu_seconds(limits: &TaskLimits) -> u64 {
    (limits.time_ms / 1_000 + 2) * u64::from(limits.threads + 1)
}

/// The first task, and after a query the queries that follow it.
fn perform(
    connection: Connection,
    confinement: Confinement,
    task: Task,
    orders: &Orders,
    output: &Output,
    running: &Running,
) {
    match task {
        Task::Query { tables, also, sql, limits } => {
            let mut instance = Instance::new(connection, tables, running.clone(), confinement);
            output.answer(orders, || instance.query(&sql, &also, &limits));
            loop {
                let (sql, limits) = orders.next();
                orders.begin();
                output.answer(orders, || {
                    sandbox::bound_processor(cpu_seconds(&limits)).map_err(|cause| instance::internal(&cause))?;
                    instance.query(&sql, &[], &limits)
                });
            }
        }
        Task::Profile { file, limits } => output.answer(orders, || {
            let _running = running.set(connection.interrupt_handle());
            Ok((Outcome::Profiled(profile::run(&connection, &file, &limits)?), vec![]))
        }),
        Task::Documents { source, name, .. } => output.answer(orders, || {
            let found = documents::read(&source, &name, || sandbox::close(confinement))?;
            Ok((Outcome::Found(found), vec![]))
        }),
        Task::Sheets { source, .. } => output.answer(orders, || {
            let sheets = documents::sheets(&source, || sandbox::close(confinement))?;
            Ok((Outcome::Sheets(sheets), vec![]))
        }),
        Task::Sitemap { source, .. } => output.answer(orders, || {
            let sitemap = documents::sitemap(&source, || sandbox::close(confinement))?;
            Ok((Outcome::Sitemap(sitemap), vec![]))
        }),
        Task::Bucket { source, .. } => output.answer(orders, || {
            let said = documents::bucket(&source, || sandbox::close(confinement))?;
            Ok((Outcome::Bucket(said), vec![]))
        }),
        Task::Import { source, format, earlier, destination, changes, limits } => output.answer(orders, || {
            let _running = running.set(connection.interrupt_handle());
            let progress = &import::Progress::new(&connection);
            let (ending, ended) = mpsc::channel::<()>();
            let imported = std::thread::scope(|scope| {
                scope.spawn(move || {
                    loop {
                        // A server that is gone is noticed by the listener.
                        let _unheard = output.say(&Reply::Progress(progress.fraction()));
                        if ended.recv_timeout(PROGRESS_EVERY) != Err(mpsc::RecvTimeoutError::Timeout) {
                            break;
                        }
                    }
                });
                let (earlier, changes) = (earlier.as_deref(), changes.as_slice());
                let files = import::Files { source: &source, earlier, destination: &destination, changes };
                let imported = import::run(connection, &files, format, &limits, progress);
                drop(ending);
                imported
            })?;
            Ok((Outcome::Imported(imported), vec![]))
        }),
    }
    // Such a worker has no second task: it waits to be let go of.
    orders.next();
}

/// Where frames are written, one at a time.
#[derive(Clone)]
struct Output(Arc<Mutex<File>>);

impl Output {
    fn say(&self, reply: &Reply) -> io::Result<()> {
        wire::write(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner), reply)
    }

    /// Does a piece of work and says how it ended.
    fn answer(&self, orders: &Orders, work: impl FnOnce() -> Result<(Outcome, Vec<u8>)>) {
        let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)).unwrap_or_else(|_| {
            Err(Error { message: "the worker panicked".into(), ..Error::new(Code::InternalError, "") })
        });
        orders.end();
        let (outcome, payload) = match done {
            Ok((outcome, payload)) => (Ok(outcome), payload),
            Err(error) => (Err(error.into()), vec![]),
        };
        let problem = match self.say_with(|payload| Reply::Done { outcome, payload }, &payload) {
            Ok(()) => return,
            Err(problem) => problem,
        };
        let message = format!("the answer cannot be sent: {problem}");
        let outcome = Err(Error { message, ..Error::new(Code::InternalError, "") }.into());
        if let Err(problem) = self.say(&Reply::Done { outcome, payload: 0 }) {
            eprintln!("sql worker: cannot answer: {problem}");
        }
    }

    /// One frame and the bytes that it announces.
    fn say_with(&self, reply: impl FnOnce(u32) -> Reply, payload: &[u8]) -> io::Result<()> {
        let length = u32::try_from(payload.len()).map_err(io::Error::other)?;
        let mut frame = wire::encode(&reply(length))?;
        let mut stream = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if payload.len() <= ONE_WRITE {
            frame.extend(payload);
            return stream.write_all(&frame);
        }
        stream.write_all(&frame)?;
        stream.write_all(payload)
    }
}
