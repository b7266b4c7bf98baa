//! The process that runs untrusted SQL and reads untrusted files: this same program, started with the hidden
//! sub-command. It serves one task in its life, in an engine instance of its own, and can be killed at any moment.
//!
//! Two threads: the main one listens for orders, and ends the process when the server is gone; the other, with a
//! stack that the engine's parser cannot exhaust, does the task.

mod carried;
mod edit;
mod import;
mod instance;
mod problem;
mod render;
mod sandbox;
mod zones;

use std::io::{self, Stdin, Stdout};
use std::path::Path;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use duckdb::Connection;

use super::wire::{self, Order, Outcome, Reply, Task, TaskLimits};
use crate::model::error::{Code, Error, Result};

/// The parser and the planner recurse; a small stack would end the process.
const STACK: usize = 64 << 20;

/// Bytes that an import may write; a small compressed file can hold very much.
const LARGEST_TABLE: u64 = 16 << 30;

/// How often an import says how far it is.
const PROGRESS_EVERY: Duration = Duration::from_millis(250);

/// Runs a worker until its task is done and the server lets go of it. Standard output carries frames and nothing else.
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
    sandbox::at_start()?;
    let connection = instance::open().map_err(io::Error::other)?;
    let output = Output(Arc::new(Mutex::new(io::stdout())));
    output.say(&Reply::Ready)?;

    let mut input = io::stdin();
    let task: Task = wire::read(&mut input)?;
    output.say(&Reply::Begun)?;
    let confined = restrict(&task)?;
    let interrupt = connection.interrupt_handle();
    let done = output.clone();
    std::thread::Builder::new().stack_size(STACK).spawn(move || {
        let attempt = std::panic::AssertUnwindSafe(|| perform(connection, task, &done));
        let outcome = std::panic::catch_unwind(attempt).unwrap_or_else(|_| {
            Err(Error { message: "the worker panicked".into(), ..Error::new(Code::InternalError, "") })
        });
        let reply = Reply::Done { outcome: outcome.map_err(Into::into), confined };
        if let Err(problem) = done.say(&reply) {
            eprintln!("sql worker: cannot answer: {problem}");
        }
    })?;
    listen(&mut input, || interrupt.interrupt())
}

/// Follows orders until the server closes the stream, then ends the process without waiting for the task.
fn listen(input: &mut Stdin, stop: impl Fn()) -> io::Result<()> {
    loop {
        match wire::read(input) {
            Ok(Order::Stop) => stop(),
            Err(_) => nix::sys::signal::kill(nix::unistd::Pid::this(), nix::sys::signal::Signal::SIGKILL)?,
        }
    }
}

/// Takes from the process what its task does not need. Answers whether file access is confined by the kernel.
fn restrict(task: &Task) -> io::Result<bool> {
    let (limits, readable, writable): (&TaskLimits, Vec<&Path>, Vec<&Path>) = match task {
        Task::Query { tables, limits, .. } => (limits, tables.iter().map(|(_, file)| file.as_path()).collect(), vec![]),
        Task::Preview { file, limits } => (limits, vec![file], vec![]),
        Task::Import { source, destination, limits, .. } => {
            (limits, vec![source], destination.parent().into_iter().collect())
        }
    };
    // All threads together spend processor time.
    let cpu_seconds = (limits.time_ms / 1_000 + 2) * u64::from(limits.threads + 1);
    sandbox::bound(limits.memory_mb, cpu_seconds)?;
    sandbox::bound_files(if writable.is_empty() { 0 } else { LARGEST_TABLE })?;
    Ok(sandbox::confine(&readable, &writable))
}

fn perform(connection: Connection, task: Task, output: &Output) -> Result<Outcome> {
    match task {
        Task::Query { tables, sql, limits } => instance::query(&connection, &tables, &sql, &limits),
        Task::Preview { file, limits } => instance::preview(&connection, &file, &limits),
        Task::Import { source, format, destination, limits } => {
            let progress = connection.progress_handle();
            let (running, ended) = std::sync::mpsc::channel::<()>();
            let said = output.clone();
            std::thread::scope(|scope| {
                scope.spawn(move || {
                    while let Err(std::sync::mpsc::RecvTimeoutError::Timeout) = ended.recv_timeout(PROGRESS_EVERY) {
                        if let Some(percent) = progress.query_progress().percentage() {
                            // A server that is gone is noticed by the listener.
                            let _unheard = said.say(&Reply::Progress((percent / 100.0).clamp(0.0, 1.0)));
                        }
                    }
                });
                let imported = import::run(connection, &source, format, &destination, &limits);
                drop(running);
                imported.map(Outcome::Imported)
            })
        }
    }
}

/// Where frames are written, one at a time.
#[derive(Clone)]
struct Output(Arc<Mutex<Stdout>>);

impl Output {
    fn say(&self, reply: &Reply) -> io::Result<()> {
        wire::write(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner), reply)
    }
}
