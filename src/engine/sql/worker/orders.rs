//! What the server orders after the first task. Whoever works reads the next order itself, so that a short query wakes no
//! second thread; of one that takes longer, the watcher tells the server that it runs, and listens beside it.

use std::fs::File;
use std::io;
use std::os::fd::AsFd as _;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::Output;
use super::instance::Running;
use crate::engine::sql::wire::{self, Order, Reply, TaskLimits};

/// After so long, at most twice, a query is watched.
const TICK: Duration = Duration::from_millis(5);

/// A further query: its text and limits.
pub(super) type Query = (String, TaskLimits);

/// Orders as they come; clones share them.
#[derive(Clone)]
pub(super) struct Orders(Arc<Shared>);

struct Shared {
    input: File,
    state: Mutex<State>,
    /// A task has begun.
    begun: Condvar,
    /// The watcher has read a query.
    came: Condvar,
}

#[derive(Default)]
struct State {
    /// How many tasks have begun.
    tasks: u64,
    runs: bool,
    /// Whether the watcher sleeps until the next task.
    is_parked: bool,
    /// Whether the watcher reads; then nobody else does.
    is_watched: bool,
    next: Option<Query>,
}

impl Orders {
    /// Over standard input, without a buffer: what is not read yet is there for whoever reads next.
    pub(super) fn new() -> io::Result<Self> {
        let input = File::from(io::stdin().as_fd().try_clone_to_owned()?);
        let state = Mutex::default();
        Ok(Self(Arc::new(Shared { input, state, begun: Condvar::new(), came: Condvar::new() })))
    }

    pub(super) fn input(&self) -> &File {
        &self.0.input
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// From here on a task runs.
    pub(super) fn begin(&self) {
        let mut state = self.state();
        state.tasks += 1;
        state.runs = true;
        if state.is_parked {
            self.0.begun.notify_one();
        }
    }

    /// Its answer comes now.
    pub(super) fn end(&self) {
        self.state().runs = false;
    }

    /// Waits for the next query, for the thread that works. A server that lets go ends the process.
    pub(super) fn next(&self) -> Query {
        let mut state = self.state();
        while state.is_watched {
            state = self.0.came.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if let Some(query) = state.next.take() {
            return query;
        }
        drop(state);
        loop {
            match wire::read(&mut self.input()) {
                Ok(Order::Query { sql, limits }) => return (sql, limits),
                // It came too late: the task has ended.
                Ok(Order::Stop) => {}
                Err(_) => end(),
            }
        }
    }

    /// Watches the tasks for all of the worker's life.
    pub(super) fn watch(&self, output: &Output, running: &Running) -> ! {
        let mut seen = 0;
        loop {
            let mut state = self.state();
            while state.tasks == seen && !state.runs {
                state.is_parked = true;
                state = self.0.begun.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
            state.is_parked = false;
            seen = state.tasks;
            drop(state);
            std::thread::sleep(TICK);
            let mut state = self.state();
            if !state.runs || state.tasks != seen {
                continue;
            }
            state.is_watched = true;
            // Before the answer, which waits for this lock. A server that is gone is noticed below.
            let _unheard = output.say(&Reply::Begun);
            drop(state);
            let query = loop {
                match wire::read(&mut self.input()) {
                    Ok(Order::Stop) => running.interrupt(),
                    Ok(Order::Query { sql, limits }) => break (sql, limits),
                    Err(_) => end(),
                }
            };
            let mut state = self.state();
            state.next = Some(query);
            state.is_watched = false;
            self.0.came.notify_one();
        }
    }
}

/// Ends the process without waiting for its task: the server has gone.
fn end() -> ! {
    loop {
        let _sure = kill(Pid::this(), Signal::SIGKILL);
    }
}
