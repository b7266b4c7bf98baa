//! Blocks that no test runs, and why. They are written as `console`; what runs is written as `sh`.

use super::written;

/// Page, how the block begins, reason.
const ELSEWHERE: [(&str, &str, &str); 12] = [
    ("README.md", "tests/run", "it would run itself"),
    ("README.md", "export DUCKDB_LIB_DIR", "it builds the whole program another way"),
    ("README.md", "claude mcp add", "the client is another maker's; the command is held by tests/it/connect"),
    ("docs/running.md", "cargo build --release", "it takes an hour; the profile is the packager's to build"),
    ("docs/running.md", "export DUCKDB_LIB_DIR", "it builds the whole program another way: tests/prebuilt/run"),
    ("docs/tokens.md", "CLIENT=$(curl", "a person approves in between; tests/it/device runs it"),
    ("docs/running.md", "DRAGOMAN_PUBLIC_URL=", "lines of a file of settings, for a host of the reader's"),
    ("docs/running.md", "# /etc/systemd/system", "a unit of systemd, which containers have none of"),
    (
        "docs/sources.md",
        "dragoman admin source add",
        "needs a PostgreSQL server of the reader's; tests/it/sources runs it",
    ),
    ("docs/backup.md", "pg_dump", "needs a PostgreSQL server of the reader's"),
    ("docs/backup.md", "dropdb", "needs a PostgreSQL server of the reader's"),
    ("docs/architecture.md", "tests/run", "it would run itself"),
];

#[test]
fn what_is_not_run_is_listed_with_its_reason() {
    let pages = written();
    let mut left: Vec<_> = ELSEWHERE.iter().collect();
    for page in &pages {
        for block in page.blocks().iter().filter(|block| block.language == "console") {
            let known = left.iter().position(|(file, begins, _)| *file == page.file && block.text.starts_with(begins));
            let known = known.unwrap_or_else(|| panic!("{}:{}: neither run nor listed", page.file, block.line));
            left.remove(known);
        }
    }
    assert!(left.is_empty(), "these are no longer there: {left:?}");
}

#[test]
fn every_block_says_what_it_is() {
    for page in written() {
        for block in page.blocks() {
            let is_known = ["sh", "console", "json", "text", "python"].contains(&block.language.as_str());
            assert!(is_known, "{}:{}: {:?} is no kind of block here", page.file, block.line, block.language);
        }
    }
}
