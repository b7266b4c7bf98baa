//! Untrusted SQL through the real worker process.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod house;
mod imports;
mod tpch;
mod warm;

use std::time::{Duration, Instant};

use dragoman::model::error::Code;
use futures_util::StreamExt as _;
use futures_util::stream;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use house::{CANARY, House};

/// Statements of a corpus with the rule that refuses them (empty in `allow.sql`).
fn corpus(text: &'static str, has_rules: bool) -> Vec<(&'static str, String)> {
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with("-- "));
    let split = |line: &'static str| if has_rules { line.split_once('\t').unwrap() } else { ("", line) };
    lines.map(split).map(|(rule, sql)| (rule, sql.replace("\\x0d", "\r").replace("\\x0a", "\n"))).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_statement_that_people_write_runs() {
    let house = House::new(|_| {}).await;
    let statements = corpus(include_str!("allow.sql"), false);
    assert!(statements.len() >= 120, "{}", statements.len());
    let run = |(_, sql): (&str, String)| {
        let house = &house;
        async move { house.query(&sql).await.err().map(|error| format!("{sql}\n    {error} {}", error.details)) }
    };
    let failed: Vec<String> =
        stream::iter(statements).map(run).buffer_unordered(3).filter_map(async |f| f).collect().await;
    assert!(failed.is_empty(), "{} fail:\n{}", failed.len(), failed.join("\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn every_statement_of_the_attacks_is_refused_for_its_reason_and_touches_nothing() {
    let house = House::new(|_| {}).await;
    let before = house.contents();
    let statements = corpus(include_str!("deny.sql"), true);
    assert!(statements.len() >= 200, "{}", statements.len());
    let run = |(rule, sql): (&'static str, String)| {
        let house = &house;
        async move {
            let heard = match house.query(&sql).await {
                Ok(answer) => format!("it ran: {:?}", answer.table),
                Err(error) => {
                    let code = if rule == "syntax" { Code::InvalidArgument } else { Code::ForbiddenSql };
                    let leaks = error.body("r").to_string();
                    let leaks = leaks.contains(CANARY) || leaks.contains(house.data.path().to_str().unwrap());
                    let explained = !error.details["hint"].as_str().unwrap_or_default().is_empty();
                    if error.code == code && error.details["rule"] == rule && explained && !leaks {
                        return None;
                    }
                    format!("{:?} {error} {}", error.code, error.details)
                }
            };
            Some(format!("[{rule}] {sql}\n    {heard}"))
        }
    };
    let wrong: Vec<String> =
        stream::iter(statements).map(run).buffer_unordered(3).filter_map(async |f| f).collect().await;
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
    assert_eq!(house.contents(), before);
    assert!(!std::path::Path::new("/tmp/dragoman-x.csv").exists());
}

/// What passes the guard and would take minutes or gigabytes.
fn bombs() -> Vec<String> {
    let doubling: Vec<String> = (1..24).map(|n| format!("a{n}||a{n} AS a{}", n + 1)).collect();
    let growth =
        (0..20).fold("repeat('x', 1000)".to_owned(), |inner, _| format!("replace({inner}, 'x', 'xxxxxxxxxx')"));
    let lambdas = "list_transform(range(3000), lambda a: list_sum(list_transform(range(3000), lambda b: list_sum(list_transform(range(3000), lambda c: a * b * c)))))";
    vec![
        format!("SELECT length(a24) FROM (SELECT 'x' AS a1, {})", doubling.join(", ")),
        format!("SELECT length({growth})"),
        format!("SELECT len({lambdas})"),
        "SELECT count(*) FROM range(100000000000)".into(),
        "SELECT length(repeat('x', (SELECT 4000000000)))".into(),
        "SELECT repeat('x', CASE WHEN random() < 0.5 THEN 1 ELSE 4000000000 END) FROM range(1000)".into(),
        "SELECT lpad('x', n, 'y') FROM (SELECT 3000000000 AS n)".into(),
        "SELECT sum(len(range(id, n))) FROM (SELECT id, 9000000000 AS n FROM flights)".into(),
        "SELECT len(generate_series(a, b, INTERVAL 1 DAY)) FROM (SELECT TIMESTAMP '0001-01-01' AS a, TIMESTAMP '290000-01-01' AS b)".into(),
        "SELECT count(*) FROM range(1000000) a, range(1000000) b WHERE hash(a.range + b.range) % 7 = 3".into(),
        "WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n".into(),
        "WITH RECURSIVE n AS (SELECT 'x' AS s UNION ALL SELECT s || s FROM n) SELECT max(length(s)) FROM n".into(),
        "SELECT levenshtein(repeat('a', 100000), repeat('b', 100000)) FROM range(1000)".into(),
        "SELECT list(a.range ORDER BY hash(a.range)) FROM range(1000000000) a".into(),
        "SELECT max(s) FROM (SELECT repeat('x', 100000) || i AS s FROM range(10000000) t(i)) GROUP BY s ORDER BY s"
            .into(),
        "SELECT max(hash(u)) FROM (SELECT unnest(range(100000)) AS u FROM range(1000000))".into(),
        "SELECT string_agg(s, ',') FROM (SELECT repeat('x', 100000) AS s FROM range(1000000))".into(),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bomb_ends_in_time_and_costs_one_query() {
    let time = Duration::from_secs(2);
    let house = House::new(|budgets| budgets.sql_time = time).await;
    for sql in bombs() {
        let started = Instant::now();
        let ended = house.query(&sql).await;
        let took = started.elapsed();
        let code = ended.as_ref().map(|answer| answer.table.rows.len()).map_err(|error| error.code);
        assert!(matches!(code, Err(Code::QueryTimeout | Code::LimitExceeded)), "{sql}: {ended:?}");
        assert!(took < time + Duration::from_secs(2), "{sql} took {took:?}");
        let next = house.query("SELECT count(*) FROM flights").await.unwrap();
        assert_eq!(next.table.rows, [[json!(20)]], "after {sql}");
    }
}

/// Texts of the greatest length whose tree or type is very deep without brackets that the gate counts.
fn deep() -> Vec<String> {
    let fill = |head: &str, part: &str, tail: &str| {
        let times = (4_096 - head.len() - tail.len()) / part.len();
        format!("{head}{}{tail}", part.repeat(times))
    };
    let nested = |open: &str, inner: &str, close: &str| format!("{}{inner}{}", open.repeat(64), close.repeat(64));
    vec![
        fill("SELECT ", "NOT ", "true"),
        fill("SELECT ", "- ", "1"),
        fill("SELECT 1", "+1", ""),
        fill("SELECT 'a'", "||'a'", ""),
        fill("SELECT 1", "::INT", ""),
        fill("SELECT NULL::INT", "[]", ""),
        fill("SELECT x", "[1]", " FROM flights"),
        fill("SELECT x", ".a", " FROM flights"),
        fill("SELECT 'a'", ".upper()", ""),
        fill("SELECT ", "CASE WHEN 1=1 THEN ", "1"),
        fill("SELECT 1", " UNION ALL SELECT 1", ""),
        fill("SELECT 1 WHERE true", " AND true", ""),
        fill("SELECT 1 FROM flights", ", flights", ""),
        fill("SELECT 1 FROM flights a", " JOIN flights USING (id)", ""),
        fill("SELECT 1 IN (1", ",1", ")"),
        fill("SELECT 1 ", "/*", ""),
        format!("SELECT {}", nested("(", "1", ")")),
        format!("SELECT {}", nested("abs(", "1", ")")),
        format!("SELECT NULL::{}", nested("STRUCT(a ", "INT", ")")),
        format!("SELECT NULL::{}", nested("MAP(INT, ", "INT", ")")),
        format!("SELECT {}", nested("[", "1", "]")),
        format!("SELECT {}", nested("{'a': ", "1", "}")),
        format!("SELECT * FROM {}", nested("(", "flights a JOIN flights b ON true", ")")),
        format!("SELECT 1 WHERE {}", nested("EXISTS (SELECT ", "1", ")")),
        format!("SELECT * FROM {} t", nested("(SELECT * FROM ", "flights", ")")),
        format!("SELECT json_transform('{}', '{}')", nested("{\"a\":", "1", "}"), nested("{\"a\":", "\"INT\"", "}")),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn no_depth_ends_a_worker() {
    let house = House::new(|budgets| budgets.sql_time = Duration::from_secs(3)).await;
    for sql in deep() {
        let started = Instant::now();
        let ended = house.query(&sql).await;
        let code = ended.map_err(|error| error.code).err();
        assert_ne!(code, Some(Code::InternalError), "{sql}");
        assert!(started.elapsed() < Duration::from_secs(5), "{sql}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn values_keep_their_digits() {
    let house = House::new(|_| {}).await;
    let sql = "SELECT 9007199254740992 AS exact, 9007199254740993 AS large, 170141183460469231731687303715884105727 AS huge,
        340282366920938463463374607431768211455::UHUGEINT AS uhuge, 1.50::DECIMAL(10, 2) AS money, 0.1::FLOAT AS single,
        'NaN'::DOUBLE AS nan, '-Infinity'::DOUBLE AS low, DATE '2013-01-31' AS d, TIME '10:11:12.5' AS t,
        TIMESTAMP '2013-01-31 10:11:12.345' AS ts, to_timestamp(0) AS tz, INTERVAL '1 year 3 days 04:05:06' AS i,
        'ab'::BLOB AS b, '0190a3c2-0000-7000-8000-000000000000'::UUID AS u, [1, NULL, 3] AS l, {'a': 1, 'b': ['x']} AS s,
        MAP {'k': 1.5} AS m, MAP {1: 'v'} AS mi, 'x'::ENUM('x', 'y') AS e, NULL AS n, true AS yes, sum(1) AS total,
        '{\"a\": 1}'::JSON AS j, [1, 2]::INTEGER[2] AS fixed, '0101'::BIT AS bits";
    let table = house.query(sql).await.unwrap().table;
    assert_eq!(
        table.rows,
        [[
            json!(9_007_199_254_740_992_i64),
            json!("9007199254740993"),
            json!("170141183460469231731687303715884105727"),
            json!("340282366920938463463374607431768211455"),
            json!("1.50"),
            json!(0.1),
            json!("NaN"),
            json!("-Infinity"),
            json!("2013-01-31"),
            json!("10:11:12.5"),
            json!("2013-01-31T10:11:12.345"),
            json!("1970-01-01T00:00:00Z"),
            json!("1 year 3 days 04:05:06"),
            json!("YWI="),
            json!("0190a3c2-0000-7000-8000-000000000000"),
            json!([1, null, 3]),
            json!({ "a": 1, "b": ["x"] }),
            json!({ "k": "1.5" }),
            json!([{ "key": 1, "value": "v" }]),
            json!("x"),
            json!(null),
            json!(true),
            json!(1),
            json!("{\"a\": 1}"),
            json!([1, 2]),
            json!("0101"),
        ]]
    );
    let types: Vec<&str> = table.columns.iter().map(|column| column.r#type.as_str()).collect();
    assert_eq!(types[4], "DECIMAL(10,2)");
    assert_eq!(types[11], "TIMESTAMP WITH TIME ZONE");
    assert_eq!(types[15..18], ["INTEGER[]", "STRUCT(a INTEGER, b VARCHAR[])", "MAP(VARCHAR, DECIMAL(2,1))"]);
    assert_eq!((types[23], types[24]), ("JSON", "INTEGER[2]"));
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_and_bytes_are_capped_and_the_answer_says_so() {
    let house = House::new(|budgets| (budgets.sql_rows, budgets.reply_bytes) = (10, 5_000)).await;
    let count = async |sql: &str| {
        let table = house.query(sql).await.unwrap().table;
        (table.rows.len(), table.truncated)
    };
    assert_eq!(count("FROM range(10)").await, (10, false));
    assert_eq!(count("FROM range(11)").await, (10, true));
    assert_eq!(count("FROM range(1000000000000)").await, (10, true));
    let (rows, truncated) = count("SELECT repeat('x', 1000) FROM range(10)").await;
    assert!(truncated && rows == 4, "{rows}");
    let wide = house.query("SELECT repeat('x', 6000)").await.unwrap_err();
    assert_eq!((wide.code, &wide.details["limit"]), (Code::LimitExceeded, &json!("bytes")));
}

#[tokio::test(flavor = "multi_thread")]
async fn errors_speak_of_the_query_and_help() {
    let house = House::new(|_| {}).await;
    for (sql, code, words) in [
        ("SELECT carier FROM flights", Code::InvalidArgument, "Did you mean carrier?"),
        ("SELECT f.carier FROM flights f", Code::InvalidArgument, "Did you mean carrier?"),
        ("SELECT uppr('a')", Code::ForbiddenSql, "Did you mean upper?"),
        ("SELECT sum(carrier) FROM flights", Code::InvalidArgument, "sum(VARCHAR)"),
        ("SELECT list_transform([1], x -> x + 1)", Code::ForbiddenSql, "lambda x: x + 1"),
        ("SELECT 'abc'::INTEGER", Code::InvalidArgument, "abc"),
        ("SELECT carrier, count(*) FROM flights", Code::InvalidArgument, "GROUP BY"),
        ("SELECT * FORM flights", Code::InvalidArgument, "syntax error"),
        ("PIVOT flights ON origin USING count(*)", Code::ForbiddenSql, "IN ('x', 'y')"),
        ("SELECT * FROM flights f, secret", Code::ForbiddenSql, "no table secret"),
    ] {
        let error = house.query(sql).await.expect_err(sql);
        assert_eq!(error.code, code, "{sql}: {error}");
        assert!(error.message.contains(words), "{sql}: {error}");
        for internal in ["d0", ".main.", "memory.", ".duckdb", "SET "] {
            assert!(!error.message.contains(internal), "{sql}: {error}");
        }
    }
    let long = house.query(&format!("SELECT '{}'", "x".repeat(5_000))).await.unwrap_err();
    assert_eq!((long.code, &long.details["limit"]), (Code::SqlTooLong, &json!(4096)));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_preview_shows_first_rows_of_tables_in_the_pass_only() {
    let house = House::new(|_| {}).await;
    let table = house.preview(house.dataset("carriers"), 2).await.unwrap();
    assert_eq!(table.rows, [[json!("AA"), json!("American Airlines")], [json!("UA"), json!("United")]]);
    assert!(table.truncated);
    let hidden = house.preview(house.dataset("secret"), 2).await.unwrap_err();
    assert_eq!(hidden.code, Code::DatasetNotFound);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_query_ends_at_once() {
    let house = House::new(|budgets| budgets.sql_memory_mb = 257).await;
    let cancel = CancellationToken::new();
    let query = house.query_until("SELECT count(*) FROM range(100000000000)", cancel.clone());
    let started = Instant::now();
    let stop = async {
        while running(&house).is_empty() {
            tokio::task::yield_now().await;
        }
        cancel.cancel();
    };
    let (ended, ()) = tokio::join!(query, stop);
    assert_eq!(ended.unwrap_err().code, Code::QueryTimeout);
    assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_worker_costs_one_query_and_is_reported() {
    let house = House::new(|budgets| budgets.sql_memory_mb = 258).await;
    let query = house.query("SELECT count(*) FROM range(100000000000)");
    let kill = async {
        loop {
            if let Some(pid) = running(&house).first() {
                nix::sys::signal::kill(nix::unistd::Pid::from_raw(*pid as i32), nix::sys::signal::Signal::SIGKILL)
                    .unwrap();
                return;
            }
            tokio::task::yield_now().await;
        }
    };
    let (ended, ()) = tokio::join!(query, kill);
    let error = ended.unwrap_err();
    assert_eq!((error.code, &error.details["limit"]), (Code::LimitExceeded, &json!("memory")));
    for pid in house.engine.idle_workers() {
        nix::sys::signal::kill(nix::unistd::Pid::from_raw(pid as i32), nix::sys::signal::Signal::SIGKILL).unwrap();
    }
    assert_eq!(house.query("SELECT 1").await.unwrap().table.rows, [[json!(1)]]);
}

/// Workers of this house that have a task: they are bounded in memory, to an amount that is this house's alone.
fn running(house: &House) -> Vec<u32> {
    let idle = house.engine.idle_workers();
    let mut found = vec![];
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else { continue };
        let path = entry.path();
        let Ok(status) = std::fs::read_to_string(path.join("status")) else { continue };
        let ours = status.lines().any(|line| line == format!("PPid:\t{}", std::process::id()));
        let limits = std::fs::read_to_string(path.join("limits")).unwrap_or_default();
        let expected = (house.budgets.sql_memory_mb << 20) + (1 << 30);
        if ours && !idle.contains(&pid) && limits.contains(&expected.to_string()) {
            found.push(pid);
        }
    }
    found
}
