//! Somebody new, in a real browser and at a real port: from a program that runs over an empty folder to the first right
//! number, and to the end of the connection. `tests/bench/first` measures the same walk.

use std::time::Duration;

use crate::support::program::clients;

async fn walk(way: &str) {
    let folder = tempfile::tempdir().unwrap();
    let output = tokio::process::Command::new("node")
        .args(["walk.mjs", env!("CARGO_BIN_EXE_dragoman")])
        .arg(folder.path())
        .arg(way)
        .current_dir(clients())
        .kill_on_drop(true)
        .output();
    let output = tokio::time::timeout(Duration::from_secs(600), output).await.expect("in time").unwrap();
    let (said, problems) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{said}{problems}");
    eprintln!("{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn from_nothing_to_an_answer_in_a_client_that_signs_in_and_is_shown_out() {
    walk("client").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn from_nothing_to_an_answer_of_a_model_that_has_nothing_but_text() {
    walk("prompt").await;
}
