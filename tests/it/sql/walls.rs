//! Attacks: each meets the refusal that is meant for it, learns nothing, changes nothing, and leaves the engine well.

use std::path::{Path, PathBuf};

use dragoman::model::error::Code;
use futures_util::StreamExt as _;
use futures_util::stream;
use serde_json::json;
use tempfile::TempDir;

use super::house::{CANARY, House};
use super::{codes, corpus};

/// A folder with files that hold the secret, which statements name as `/etc/passwd`, and in which no file may appear.
struct Bait(TempDir);

impl Bait {
    fn lay() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in ["passwd", "passwd.csv", "passwd.txt"] {
            std::fs::write(folder.path().join(name), format!("{CANARY}\n")).unwrap();
        }
        Self(folder)
    }

    /// The statement, with the places of this machine.
    fn aim(&self, sql: &str) -> String {
        let path = |name: &str| self.0.path().join(name).display().to_string();
        sql.replace("/etc/passwd", &path("passwd")).replace("/tmp/dragoman-x", &path("dragoman-x"))
    }

    fn contents(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let entries = std::fs::read_dir(self.0.path()).unwrap().map(|entry| entry.unwrap().path());
        let mut found: Vec<_> = entries.map(|path| (path.clone(), std::fs::read(path).unwrap())).collect();
        found.sort();
        found
    }
}

/// What a refusal should have been and was not.
async fn fault(house: &House, rule: &str, sql: &str) -> Option<String> {
    let data = house.data.path().to_str().unwrap();
    let error = match house.query(sql).await {
        Ok(answer) => return Some(format!("it ran: {:?}", answer.table)),
        Err(error) => error,
    };
    let codes = codes(rule);
    let said = error.body("r").to_string();
    let explained = !error.details["hint"].as_str().unwrap_or_default().is_empty();
    let fits = codes.contains(&error.code) && error.details["rule"] == rule && explained;
    let leaks = [CANARY, data].iter().any(|secret| said.contains(secret));
    (!fits || leaks).then(|| format!("{:?} {said}", error.code))
}

#[tokio::test(flavor = "multi_thread")]
async fn every_statement_of_the_attacks_is_refused_for_its_reason_and_touches_nothing() {
    let (house, bait) = (House::new(|_| {}).await, Bait::lay());
    let before = (house.contents(), bait.contents());
    let statements = corpus(include_str!("deny.sql"), true);
    assert!(statements.len() >= 1_200, "{}", statements.len());
    let mut wrong: Vec<String> = vec![];
    for some in statements.chunks(10) {
        let run = async |(rule, sql): &(&str, String)| {
            let sql = bait.aim(sql);
            fault(&house, rule, &sql).await.map(|wrong| format!("[{rule}] {sql}\n    {wrong}"))
        };
        wrong.extend(stream::iter(some).map(run).buffer_unordered(4).filter_map(async |f| f).collect::<Vec<_>>().await);
        let next = house.query("SELECT 42").await.map(|answer| answer.table.rows);
        assert!(matches!(&next, Ok(rows) if *rows == [[json!(42)]]), "after {some:?}: {next:?}");
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
    assert!((house.contents(), bait.contents()) == before, "files changed");
}

/// Errors are no oracle: of a table that is hidden they say what they say of one that does not exist.
#[tokio::test(flavor = "multi_thread")]
async fn an_error_does_not_tell_a_hidden_table_from_none() {
    let house = House::new(|_| {}).await;
    for sql in [
        "SELECT * FROM ?",
        "DESCRIBE ?",
        "SELECT ?.s FROM flights",
        "SELECT ? FROM flights",
        "SELECT flights.? FROM flights",
        "SELECT ?(1)",
        "SELECT * FROM ?(1)",
        "SELECT 1::?",
        "SELECT 'x' COLLATE ?",
        "SELECT * FROM ?.main.data",
        "SELECT * FROM flights ORDER BY ?.t",
        "SELECT ?.t.s FROM flights",
        "SELECT COLUMNS(?.*) FROM flights",
        "SELECT ?.* FROM flights",
        "SELECT * EXCLUDE (?.s) FROM flights",
        "SELECT sum(id) OVER ? FROM flights",
        "SELECT {'a': 1}.? AS x",
        "SELECT carrier.?() FROM flights",
    ] {
        let words = async |name: &str| {
            let error = house.query(&sql.replace('?', name)).await.expect_err(sql);
            error.body("r").to_string().replace(name, "?")
        };
        assert_eq!(words("secret").await, words("nosuch").await, "{sql}");
    }
}

/// The engine's own names for things do not reach the caller.
#[tokio::test(flavor = "multi_thread")]
async fn an_error_shows_nothing_of_how_the_engine_is_furnished() {
    let house = House::new(|_| {}).await;
    let inner = ["memory.", "d0", "main.", ".duckdb", "SET ", "max_expression_depth", "Stack Trace"];
    for sql in [
        "SELECT * FROM flights, flights",
        "SELECT id FROM flights a, flights b",
        "SELECT carrier FROM flights, carriers",
        "SELECT nosuch FROM flights",
        "SELECT flights.nosuch FROM flights",
        "SELECT 'x'::INTEGER FROM flights",
        "SELECT carrier::INTEGER FROM flights",
        "SELECT sum(carrier) FROM flights",
        "SELECT id::ENUM('a') FROM flights",
        "SELECT carrier, count(*) FROM flights",
        "SELECT 1 = ANY (SELECT id, carrier FROM flights)",
        "SELECT (SELECT id, carrier FROM flights)",
        "SELECT * FROM flights UNION SELECT 1",
        "SELECT * FROM flights JOIN carriers USING (id)",
        "SELECT 1::nosuch",
        "SELECT strptime(carrier, '%Y') FROM flights",
        "SELECT '2013-13-01'::DATE",
        "SELECT 9223372036854775807 + 1",
        "SELECT [1, 'a']",
        "SELECT list_transform([1], lambda x: nosuch)",
        "SELECT max(max(id)) FROM flights",
        "SELECT id FROM flights GROUP BY ALL HAVING nosuch",
        "SELECT 1 LIMIT -1",
        "SELECT * FROM unnest(5)",
        "SELECT json_extract('{', '$.a')",
        "SELECT regexp_matches('a', '(')",
        "SELECT timezone('Mars/Base', now())",
    ] {
        let error = house.query(sql).await.expect_err(sql);
        let said = error.body("r").to_string();
        assert!(error.code == Code::InvalidArgument, "{sql}: {said}");
        assert!(inner.iter().all(|word| !said.contains(word)), "{sql}: {said}");
        assert!(!said.contains(house.data.path().to_str().unwrap()), "{sql}: {said}");
    }
    let deep = format!("SELECT 1{}", " + 1".repeat(1_000));
    let error = house.query(&deep).await.unwrap_err();
    assert_eq!((error.code, &error.details["rule"]), (Code::ForbiddenSql, &json!("nesting")));
    assert!(!Path::new("/tmp/dragoman-x").exists());
}
