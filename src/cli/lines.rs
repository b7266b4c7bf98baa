//! Lines on stdout and stderr. Who has closed them wants no more lines (`| head -1`), and gets what was asked done all the
//! same. Both macros are known to every module of this folder.

use std::fmt::Arguments;
use std::io::{self, ErrorKind, Write};

/// A line of facts, on stdout.
macro_rules! say {
    ($($line:tt)*) => { $crate::cli::lines::line(std::io::stdout().lock(), format_args!($($line)*)) };
}

/// A line about progress or a problem, on stderr.
macro_rules! remark {
    ($($line:tt)*) => { $crate::cli::lines::line(std::io::stderr().lock(), format_args!($($line)*)) };
}

/// Writes a line.
///
/// # Panics
/// Like `println!`, when it cannot be written although somebody reads.
pub(super) fn line(to: impl Write, line: Arguments<'_>) {
    if let Err(problem) = written(to, line) {
        panic!("failed printing: {problem}");
    }
}

fn written(mut to: impl Write, line: Arguments<'_>) -> io::Result<()> {
    match writeln!(to, "{line}").and_then(|()| to.flush()) {
        Err(problem) if problem.kind() == ErrorKind::BrokenPipe => Ok(()),
        written => written,
    }
}
