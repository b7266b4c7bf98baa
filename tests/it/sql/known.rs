//! Answers that are given again, to whom, and for how long.

use dragoman::engine::sql::TableFormat;
use dragoman::model::error::Code;
use serde_json::json;

use super::house::{CANARY, House};

async fn house() -> House {
    House::new(|budgets| budgets.sql_known_mb = 1).await
}

/// The workers that were kept are dead, and nobody knows yet: only a query that needs one finds out.
fn kill_workers(house: &House) -> Vec<(u32, u64)> {
    let workers = house.engine.warm_workers();
    for (pid, _) in &workers {
        nix::sys::signal::kill(nix::unistd::Pid::from_raw(*pid as i32), nix::sys::signal::Signal::SIGKILL).unwrap();
    }
    workers
}

/// Whether the next answer to a statement needs no worker.
async fn is_given_again(house: &House, sql: &str) -> bool {
    let first = house.query(sql).await.unwrap();
    let workers = kill_workers(house);
    assert!(!workers.is_empty(), "{sql}: one has computed it");
    let again = house.query(sql).await.unwrap();
    let needed_none = house.engine.warm_workers() == workers;
    if needed_none {
        assert_eq!((again.table.rows, again.used), (first.table.rows, first.used), "{sql}");
        assert_eq!((again.execution_ms, again.judged_us), (0, 0), "{sql}");
    }
    needed_none
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_statement_over_the_same_files_is_answered_without_a_worker() {
    let house = house().await;
    for sql in [
        "SELECT 1",
        "SELECT carrier, count(*) AS n FROM flights GROUP BY 1 ORDER BY 1",
        "FROM flights JOIN carriers USING (carrier) ORDER BY id",
        "DESCRIBE flights",
        "SELECT DATE '2013-01-01' + 3",
    ] {
        assert!(is_given_again(&house, sql).await, "{sql}");
    }
    let bob = house.person();
    let workers = kill_workers(&house);
    let his = house.query_as(bob, "SELECT 1").await.unwrap();
    assert_eq!(his.table.rows, [[json!(1)]]);
    assert_eq!(house.engine.warm_workers(), workers, "who sees the same gets it too");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_clock_or_chance_decide_is_computed_each_time() {
    let house = house().await;
    for sql in [
        "SELECT random()",
        "SELECT uuid()",
        "SELECT now()",
        "SELECT current_date",
        "SELECT CURRENT_TIMESTAMP, localtime, localtimestamp, current_time",
        "SELECT count(*) FROM flights WHERE day < today()",
        "FROM flights USING SAMPLE 3",
    ] {
        assert!(!is_given_again(&house, sql).await, "{sql}");
    }
    let random = async || house.query("SELECT random()").await.unwrap().table.rows;
    assert_ne!(random().await, random().await);
}

#[tokio::test(flavor = "multi_thread")]
async fn refusals_and_large_answers_are_not_kept() {
    let house = house().await;
    let wrong = "SELECT nonsense FROM flights";
    assert_eq!(house.query(wrong).await.unwrap_err().code, Code::InvalidArgument);
    let workers = kill_workers(&house);
    assert_eq!(house.query(wrong).await.unwrap_err().code, Code::InvalidArgument);
    assert_ne!(house.engine.warm_workers(), workers);
    assert!(!is_given_again(&house, "SELECT repeat('x', 99000) FROM range(3)").await, "more than 256 KiB");
    // A larger room than all of them together would be; the first is not there any more.
    for number in 0..12 {
        let sql = format!("SELECT repeat('x', 99000), {number}");
        house.query(&sql).await.unwrap();
    }
    let workers = kill_workers(&house);
    house.query("SELECT repeat('x', 99000), 11").await.unwrap();
    assert_eq!(house.engine.warm_workers(), workers, "the last one is here");
    house.query("SELECT repeat('x', 99000), 0").await.unwrap();
    assert_ne!(house.engine.warm_workers(), workers, "the first one has gone for want of room");
}

#[tokio::test(flavor = "multi_thread")]
async fn another_version_another_view_and_another_workspace_have_answers_of_their_own() {
    let mut house = house().await;
    let carriers = "SELECT * FROM carriers ORDER BY 1";
    assert_eq!(house.query(carriers).await.unwrap().table.rows.len(), 3);
    house.replace("carriers", TableFormat::Csv, "carrier,name\nZZ,Zed\n").await;
    assert_eq!(house.query(carriers).await.unwrap().table.rows, [[json!("ZZ"), json!("Zed")]]);
    house.hide("carriers", "name");
    assert_eq!(house.query(carriers).await.unwrap().table.rows, [[json!("ZZ")]]);

    let secret = format!("SELECT '{CANARY}' = s AS mine FROM secret");
    assert_eq!(house.query_next_door(&secret).await.unwrap().table.rows, [[json!(true)]]);
    assert_eq!(house.query(&secret).await.unwrap_err().code, Code::InvalidArgument, "there is no such table");
    house.query_next_door("SELECT 1").await.unwrap();
    let workers = kill_workers(&house);
    house.query("SELECT 1").await.unwrap();
    assert_ne!(house.engine.warm_workers(), workers, "its own worker computes it");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_deleted_is_forgotten() {
    let house = house().await;
    let sql = "FROM carriers ORDER BY 1";
    assert!(is_given_again(&house, sql).await);
    let pass = house.pass();
    house.engine.forget(pass.org(), house.dataset("carriers").id);
    let workers = kill_workers(&house);
    house.query(sql).await.unwrap();
    assert_ne!(house.engine.warm_workers(), workers);
}

#[tokio::test(flavor = "multi_thread")]
async fn without_room_everything_is_computed() {
    let house = House::new(|budgets| budgets.sql_known_mb = 0).await;
    assert!(!is_given_again(&house, "SELECT 1").await);
}
