//! The service killed in the midst of work on documents, a few times of each kind; `tests/bench/faults/run` does it 50 times.

use std::process::Command;

/// Three times within each of these kinds of work.
fn killed_within(kinds: &[&str]) {
    let program = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/bench/faults/faults.py");
    let mut command = Command::new("python3");
    command.args(["-B", program, env!("CARGO_BIN_EXE_dragoman"), "--times", "3", "--only", &kinds.join(",")]);
    let output = command.output().unwrap();
    let (said, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{said}{errors}");
    assert_eq!(said.matches("killed 3 times").count(), kinds.len(), "{said}");
}

#[test]
fn what_was_acknowledged_outlives_a_kill_and_nothing_is_there_by_half() {
    killed_within(&["ingest", "sync", "renew"]);
}

#[test]
fn an_index_that_is_compacted_when_the_service_is_killed_answers_as_before_or_after() {
    killed_within(&["compaction"]);
}
