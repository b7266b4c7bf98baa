//! The process that runs untrusted SQL and reads untrusted files: this same program, started with the hidden
//! sub-command. It imports or reads one file in its life, or runs queries of one caller over the tables that the caller may read,
//! in an engine instance of its own; and can be killed at any moment.
//!
//! Two threads: the main one listens for orders, and ends the process when the server is gone; the other, with a
//! stack that the engine's parser cannot exhaust, does the work.

mod carried;
mod changes;
mod columns;
mod documents;
mod edit;
mod import;
mod instance;
mod pivot;
mod problem;
mod profile;
mod qualified;
pub(super) mod render;
mod sandbox;
mod sheet;
mod source;
mod syscalls;
mod zones;

use std::io::{self, Stdin, Stdout, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::Duration;

use duckdb::Connection;

use self::instance::{Instance, Running};
use super::wire::{self, Confinement, Order, Outcome, Reply, Task, TaskLimits};
use crate::model::error::{Code, Error, Result};

/// The parser and the planner recurse; a small stack would end the process.
const STACK: usize = 64 << 20;

/// Bytes that an import may write; a small compressed file can hold very much.
const LARGEST_TABLE: u64 = 16 << 30;

/// How often an import says how far it is.
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
    let output = Output(Arc::new(Mutex::new(io::stdout())));
    output.say(&Reply::Ready(confinement))?;

    let mut input = io::stdin();
    let task: Task = wire::read(&mut input)?;
    restrict(&task)?;
    let running = Running::default();
    let (sender, orders) = mpsc::channel();
    let (said, current) = (output.clone(), running.clone());
    // Started after the restrictions, so that it is under them. A worker that gets so far has begun.
    let work = move || match said.say(&Reply::Begun) {
        Ok(()) => perform(connection, confinement, task, &orders, &said, &current),
        // The listener notices a server that is gone.
        Err(problem) => eprintln!("sql worker: cannot begin: {problem}"),
    };
    std::thread::Builder::new().stack_size(STACK).spawn(work)?;
    listen(&mut input, &output, &running, &sender)
}

/// Follows orders until the server closes the stream, then ends the process without waiting for the task.
fn listen(
    input: &mut Stdin,
    output: &Output,
    running: &Running,
    queries: &mpsc::Sender<(String, TaskLimits)>,
) -> io::Result<()> {
    loop {
        match wire::read(input) {
            Ok(Order::Stop) => running.interrupt(),
            Ok(Order::Query { sql, limits }) => {
                sandbox::bound_processor(cpu_seconds(&limits))?;
                output.say(&Reply::Begun)?;
                queries.send((sql, limits)).map_err(io::Error::other)?;
            }
            Err(_) => nix::sys::signal::kill(nix::unistd::Pid::this(), nix::sys::signal::Signal::SIGKILL)?,
        }
    }
}

/// Takes from the process what its tasks do not need.
fn restrict(task: &Task) -> io::Result<()> {
    let (limits, readable, writable): (&TaskLimits, Vec<&Path>, Vec<&Path>) = match task {
        Task::Query { tables, limits, .. } => {
            (limits, tables.iter().map(|table| table.file.as_path()).collect(), vec![])
        }
        Task::Profile { file: source, limits }
        | Task::Documents { source, limits, .. }
        | Task::Sheets { source, limits } => (limits, vec![source], vec![]),
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
    queries: &mpsc::Receiver<(String, TaskLimits)>,
    output: &Output,
    running: &Running,
) {
    match task {
        Task::Query { tables, also, sql, limits } => {
            let mut instance = Instance::new(connection, tables, running.clone(), confinement);
            let mut next = Some((sql, limits, also));
            while let Some((sql, limits, also)) = next {
                output.answer(|| instance.query(&sql, &also, &limits));
                next = queries.recv().ok().map(|(sql, limits)| (sql, limits, vec![]));
            }
        }
        Task::Profile { file, limits } => output.answer(|| {
            let _running = running.set(connection.interrupt_handle());
            Ok((Outcome::Profiled(profile::run(&connection, &file, &limits)?), vec![]))
        }),
        Task::Documents { source, name, .. } => output.answer(|| {
            let found = documents::read(&source, &name, || sandbox::close(confinement))?;
            Ok((Outcome::Found(found), vec![]))
        }),
        Task::Sheets { source, .. } => output.answer(|| {
            let sheets = documents::sheets(&source, || sandbox::close(confinement))?;
            Ok((Outcome::Sheets(sheets), vec![]))
        }),
        Task::Import { source, format, earlier, destination, changes, limits } => output.answer(|| {
            let _running = running.set(connection.interrupt_handle());
            let progress = &import::Progress::new(&connection);
            let (ending, ended) = mpsc::channel::<()>();
            let imported = std::thread::scope(|scope| {
                scope.spawn(move || {
                    while let Err(mpsc::RecvTimeoutError::Timeout) = ended.recv_timeout(PROGRESS_EVERY) {
                        if let Some(fraction) = progress.fraction() {
                            // A server that is gone is noticed by the listener.
                            let _unheard = output.say(&Reply::Progress(fraction));
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
}

/// Where frames are written, one at a time.
#[derive(Clone)]
struct Output(Arc<Mutex<Stdout>>);

impl Output {
    fn say(&self, reply: &Reply) -> io::Result<()> {
        wire::write(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner), reply)
    }

    /// Does a piece of work and says how it ended.
    fn answer(&self, work: impl FnOnce() -> Result<(Outcome, Vec<u8>)>) {
        let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)).unwrap_or_else(|_| {
            Err(Error { message: "the worker panicked".into(), ..Error::new(Code::InternalError, "") })
        });
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
        let mut stream = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        wire::write(&mut *stream, &reply(length))?;
        stream.write_all(payload)?;
        stream.flush()
    }
}
