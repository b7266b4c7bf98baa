//! Workers that do not start: the caller is told to come back, and a want that passes costs nothing.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use dragoman::app::App;
use dragoman::base::clock::Clock;
use dragoman::config::Config;
use dragoman::engine::job::Job;
use dragoman::engine::sql::SqlEngine;
use dragoman::gateway::Via;
use dragoman::model::error::{Code, Error};
use dragoman::ops::sql::Sql;
use futures_util::future::join_all;
use serde_json::json;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use super::house::House;
use crate::support::service::operator;

/// A program that is started in the place of the worker.
struct StandIn {
    folder: TempDir,
}

impl StandIn {
    /// Does these lines of shell; `$real` is the worker, and `$own` a path for files of its own.
    fn doing(lines: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let own = folder.path().join("own");
        let real = env!("CARGO_BIN_EXE_dragoman");
        // Nothing of the server's environment comes here, the path to programs included.
        let script = format!("#!/bin/sh\nPATH=/usr/bin:/bin\nreal='{real}'\nown='{}'\n{lines}\n", own.display());
        // Written by another process: a file that this one has open for writing while it starts a child cannot be run.
        let made = std::process::Command::new("sh")
            .args(["-c", r#"printf %s "$1" > "$2" && chmod 755 "$2""#, "sh", &script])
            .arg(folder.path().join("worker"))
            .status()
            .unwrap();
        assert!(made.success());
        Self { folder }
    }

    fn program(&self) -> PathBuf {
        self.folder.path().join("worker")
    }

    /// How often it was started, where it writes a line each time.
    fn starts(&self) -> usize {
        std::fs::read_to_string(self.folder.path().join("own")).unwrap_or_default().lines().count()
    }
}

/// What a query is told within so much time, and how long that took.
async fn asked(house: &House, program: PathBuf, time: Duration) -> (Error, Duration) {
    let engine = SqlEngine::new(program, house.files.clone(), house.budgets.clone());
    let pass = house.pass();
    let job = Job::new(&pass, &house.budgets, time, CancellationToken::new(), None);
    let started = Instant::now();
    (engine.query(&job, "SELECT 1").await.unwrap_err(), started.elapsed())
}

#[tokio::test(flavor = "multi_thread")]
async fn who_asks_while_no_worker_starts_is_told_to_come_back() {
    let stands: Vec<StandIn> = [
        "exit 1",
        "echo 'no memory' >&2; exit 127",
        "kill -9 $$",
        "echo nonsense",
        "exec sleep 1000",
        // Gets ready, reads the task, and ends before it begins.
        r#"printf '\053\000\000\000{"Ready":{"landlock":true,"seccomp":false}}'; exec head -c 4 > /dev/null"#,
        // Gets ready and does not listen.
        r#"printf '\053\000\000\000{"Ready":{"landlock":true,"seccomp":false}}'; exec sleep 1000"#,
    ]
    .into_iter()
    .map(StandIn::doing)
    .collect();
    let plain = stands[0].folder.path().join("plain");
    std::fs::write(&plain, "").unwrap();
    std::fs::set_permissions(&plain, std::fs::Permissions::from_mode(0o644)).unwrap();
    let none = stands[0].folder.path().join("none");
    let (house, time) = (&House::empty(|_| {}), Duration::from_secs(3));
    let programs = stands.iter().map(StandIn::program).chain([plain.clone(), none.clone()]);
    let told = join_all(programs.map(async |program| (program.clone(), asked(house, program, time).await))).await;
    for (program, (error, took)) in told {
        let script = std::fs::read_to_string(&program).unwrap_or_default();
        assert_eq!((error.code, error.retry_after), (Code::ServiceUnavailable, Some(5)), "{script}: {error}");
        assert!(took < time + Duration::from_secs(2), "{script}: {took:?}");
        if [&plain, &none].contains(&&program) {
            assert!(took < time, "what cannot help is not tried: {took:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_that_could_not_be_started_is_started_again() {
    let mut house = House::new(|_| {}).await;
    // A folder is made once, whoever comes first: three starts fail, be they of spare workers or of the query's own.
    let stand = StandIn::doing(
        r#"echo start >> "$own"; for n in 1 2 3; do mkdir "$own.$n" 2> /dev/null && kill -9 $$; done
           exec "$real" "$@""#,
    );
    house.engine = SqlEngine::new(stand.program(), house.files.clone(), house.budgets.clone());
    let answer = house.query("SELECT count(*) FROM flights").await.unwrap();
    assert_eq!(answer.table.rows, [[json!(20)]]);
    assert!(stand.starts() > 3, "{}", stand.starts());
    assert!((1..=3).all(|n| Path::new(&format!("{}.{n}", stand.folder.path().join("own").display())).exists()));
}

#[tokio::test(flavor = "multi_thread")]
async fn who_leaves_while_a_worker_starts_is_not_kept() {
    let stand = StandIn::doing("exec sleep 1000");
    let house = House::empty(|_| {});
    let engine = SqlEngine::new(stand.program(), house.files.clone(), house.budgets.clone());
    let (pass, cancel) = (house.pass(), CancellationToken::new());
    let job = Job::new(&pass, &house.budgets, Duration::from_secs(60), cancel.clone(), None);
    let started = Instant::now();
    let leave = async {
        tokio::task::yield_now().await;
        cancel.cancel();
    };
    let (ended, ()) = tokio::join!(engine.query(&job, "SELECT 1"), leave);
    assert_eq!(ended.unwrap_err().code, Code::QueryTimeout);
    assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
}

/// Through the door of the whole service: the code, the time after which to ask again, and a record of it.
#[tokio::test(flavor = "multi_thread")]
async fn a_service_whose_workers_do_not_start_says_so_to_its_callers() {
    let (folder, stand) = (tempfile::tempdir().unwrap(), StandIn::doing("exit 1"));
    let config = Config::read(|name| match name {
        "DRAGOMAN_DATA_DIR" => Some(folder.path().display().to_string()),
        "DRAGOMAN_ADMIN_LISTEN" => Some("off".into()),
        _ => None,
    });
    let clock = Clock::manual(Clock::system().now());
    let app = App::open_with_worker(config.unwrap(), clock, stand.program()).await.unwrap();
    let org = app.office.identity.create_org("acme", "Acme").await.unwrap();
    let sql = Sql { sql: "SELECT 1".into(), dataset_id: None, cursor: None };
    let error = app.gateway.call(&operator(&org), sql, Via::new("test")).await.unwrap_err();
    assert_eq!(error.code, Code::ServiceUnavailable);
    let body = error.body("r");
    assert_eq!(body["error"]["code"], "service_unavailable");
    assert_eq!(body["error"]["details"]["retry_after"], 5);
    app.close().await;
}
