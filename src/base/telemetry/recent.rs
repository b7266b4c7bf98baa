//! The last lines of the log, kept in memory for whoever looks for what went wrong.

use std::collections::VecDeque;
use std::io;
use std::sync::{Mutex, PoisonError};

use tracing_subscriber::fmt::MakeWriter;

/// How many.
const LINES: usize = 500;

static RECENT: Mutex<VecDeque<String>> = Mutex::new(VecDeque::new());

/// Where lines are kept besides the log. Each is written at once.
#[derive(Clone, Copy)]
pub(super) struct Recent;

impl io::Write for Recent {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let mut recent = RECENT.lock().unwrap_or_else(PoisonError::into_inner);
        if recent.len() == LINES {
            recent.pop_front();
        }
        recent.push_back(String::from_utf8_lossy(line).trim_end().to_owned());
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl MakeWriter<'_> for Recent {
    type Writer = Self;

    fn make_writer(&self) -> Self {
        *self
    }
}

/// The last lines, the oldest first.
pub fn recent_lines() -> Vec<String> {
    RECENT.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
}
