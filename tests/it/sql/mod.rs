//! Untrusted SQL through the real worker process.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

pub mod bombs;
mod clickhouse;
mod draft;
pub mod house;
mod imports;
mod known;
mod postgres;
mod profiles;
mod schemas;
mod starts;
mod tpch;
mod walls;
mod warm;

use std::time::{Duration, Instant};

use dragoman::model::error::Code;
use futures_util::StreamExt as _;
use futures_util::stream;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use house::House;

/// Statements of a corpus with the rule that refuses them (empty in `allow.sql`).
pub fn corpus(text: &'static str, has_rules: bool) -> Vec<(&'static str, String)> {
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with("-- "));
    let split = |line: &'static str| if has_rules { line.split_once('\t').unwrap() } else { ("", line) };
    lines.map(split).map(|(rule, sql)| (rule, unescaped(sql))).collect()
}

/// `\x0d` and `\x0a` are CR and LF, `\u{…}` is any character.
fn unescaped(sql: &str) -> String {
    let sql = sql.replace("\\x0d", "\r").replace("\\x0a", "\n");
    let mut parts = sql.split("\\u{");
    let mut text = parts.next().unwrap().to_owned();
    for part in parts {
        let (code, rest) = part.split_once('}').unwrap();
        text.push(char::from_u32(u32::from_str_radix(code, 16).unwrap()).unwrap());
        text.push_str(rest);
    }
    text
}

/// The codes of a rule: a text that does not parse is a mistake, and a name that is not there may be one.
pub fn codes(rule: &str) -> &'static [Code] {
    match rule {
        "syntax" => &[Code::InvalidArgument],
        "table" | "function" => &[Code::ForbiddenSql, Code::InvalidArgument],
        _ => &[Code::ForbiddenSql],
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_statement_that_people_write_runs() {
    let house = House::new(|_| {}).await;
    let statements = corpus(include_str!("allow.sql"), false);
    assert!(statements.len() >= 450, "{}", statements.len());
    let run = |(_, sql): (&str, String)| {
        let house = &house;
        async move { house.query(&sql).await.err().map(|error| format!("{sql}\n    {error} {}", error.details)) }
    };
    let failed: Vec<String> =
        stream::iter(statements).map(run).buffer_unordered(3).filter_map(async |f| f).collect().await;
    assert!(failed.is_empty(), "{} fail:\n{}", failed.len(), failed.join("\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn every_answer_that_was_worked_out_by_hand_is_given() {
    let house = House::new(|_| {}).await;
    let lines = include_str!("answers.txt").lines().filter(|line| !line.is_empty() && !line.starts_with("-- "));
    let answers: Vec<(&str, serde_json::Value)> = lines
        .map(|line| line.split_once('\t').unwrap())
        .map(|(sql, rows)| (sql, serde_json::from_str(rows).unwrap()))
        .collect();
    assert!(answers.len() >= 60, "{}", answers.len());
    let run = |(sql, expected): (&'static str, serde_json::Value)| {
        let house = &house;
        async move {
            let given = match house.query(sql).await {
                Ok(answer) => json!(answer.table.rows),
                Err(error) => json!(format!("{error} {}", error.details)),
            };
            (given != expected).then(|| format!("{sql}\n    expected {expected}\n    given {given}"))
        }
    };
    let wrong: Vec<String> =
        stream::iter(answers).map(run).buffer_unordered(3).filter_map(async |wrong| wrong).collect().await;
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn columns_keep_their_names_and_types_whatever_carries_them() {
    let house = House::new(|_| {}).await;
    let named = async |sql: &str| {
        let table = house.query(sql).await.unwrap().table;
        table.columns.into_iter().map(|column| format!("{}: {}", column.name, column.r#type)).collect::<Vec<_>>()
    };
    assert_eq!(
        named("SELECT 1::BIGNUM AS a, 2 AS a, TIMETZ '10:00:00+02' AS t, [1::BIGNUM] AS l, 1::VARIANT AS v").await,
        ["a: BIGNUM", "a: INTEGER", "t: TIME WITH TIME ZONE", "l: BIGNUM[]", "v: VARIANT"]
    );
    assert_eq!(
        named("SELECT year(to_timestamp(id)), to_timestamp(id)::DATE AS d FROM flights").await,
        ["\"year\"(to_timestamp(id)): BIGINT", "d: DATE"]
    );
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
        assert!(started.elapsed() < Duration::from_secs(20), "{sql}");
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
    let house = House::new(|budgets| budgets.sql_rows = 100).await;
    let count = async |sql: &str| {
        let table = house.query(sql).await.unwrap().table;
        (table.rows.len(), table.truncated)
    };
    assert_eq!(count("FROM range(100)").await, (100, false));
    assert_eq!(count("FROM range(101)").await, (100, true));
    assert_eq!(count("FROM range(1000000000000)").await, (100, true));
    // A result has at most 2 MiB: 20 times 100,005 bytes are less, 21 times are more.
    let (rows, truncated) = count("SELECT repeat('x', 100000) FROM range(100)").await;
    assert_eq!((rows, truncated), (20, true));
    let wide = house.query("SELECT string_agg(repeat('x', 100000), '') FROM range(90)").await.unwrap_err();
    assert_eq!((wide.code, &wide.details["limit"]), (Code::LimitExceeded, &json!("bytes")));
}

#[tokio::test(flavor = "multi_thread")]
async fn errors_speak_of_the_query_and_help() {
    let house = House::new(|_| {}).await;
    for (sql, code, words) in [
        ("SELECT carier FROM flights", Code::InvalidArgument, "Did you mean carrier?"),
        ("SELECT f.carier FROM flights f", Code::InvalidArgument, "Did you mean carrier?"),
        ("SELECT uppr('a')", Code::InvalidArgument, "Did you mean upper?"),
        ("SELECT sum(carrier) FROM flights", Code::InvalidArgument, "sum(VARCHAR)"),
        ("SELECT list_transform([1], x -> x + 1)", Code::ForbiddenSql, "lambda x: x + 1"),
        ("SELECT 'abc'::INTEGER", Code::InvalidArgument, "abc"),
        ("SELECT carrier, count(*) FROM flights", Code::InvalidArgument, "GROUP BY"),
        ("SELECT * FORM flights", Code::InvalidArgument, "syntax error"),
        (
            "SELECT name FROM flights",
            Code::InvalidArgument,
            "It is a column of carriers, which this query does not read",
        ),
        ("SELECT temp, nme FROM flights f JOIN carriers c USING (carrier)", Code::InvalidArgument, "column of weather"),
        ("SELECT nme FROM flights", Code::InvalidArgument, "Did you mean name? It is a column of carriers"),
        (
            "SELECT f.name FROM flights f JOIN carriers c USING (carrier)",
            Code::InvalidArgument,
            "column of carriers: name",
        ),
        ("SELECT zzzzzz FROM carriers", Code::InvalidArgument, "carriers has: carrier, name."),
        (
            "WITH w AS (SELECT id AS total FROM flights) SELECT totl FROM w",
            Code::InvalidArgument,
            "Did you mean total?",
        ),
        ("PIVOT flights ON id USING count(*) GROUP BY carier", Code::InvalidArgument, "Did you mean carrier?"),
        ("PIVOT flights ON (SELECT 1) USING count(*)", Code::InvalidArgument, ""),
        ("SELECT * FROM flights f, secret", Code::InvalidArgument, "no table secret"),
        ("SELECT * FROM main.flight", Code::InvalidArgument, "Did you mean flights?"),
        ("SELECT * FROM duckdb_tables", Code::ForbiddenSql, "no table duckdb_tables"),
        ("SELECT * FROM 'flights.csv'", Code::ForbiddenSql, "no table flights.csv"),
        ("SELECT nvl(carrier, 'x') FROM flights", Code::InvalidArgument, "coalesce"),
        ("SELECT getdate()", Code::InvalidArgument, "now()"),
        ("SELECT to_char(day, 'YYYY') FROM flights", Code::InvalidArgument, "strftime"),
        ("SELECT TOP 5 * FROM flights", Code::InvalidArgument, "LIMIT 10"),
        ("SELECT * FROM flights WHERE carrier REGEXP 'A'", Code::InvalidArgument, "regexp_matches"),
        ("SELECT date_trunc(day, MONTH) FROM flights", Code::InvalidArgument, "date_trunc('month', day)"),
        ("SELECT DATEDIFF(day, '2013-01-01') FROM flights", Code::InvalidArgument, "date_diff('day', from, to)"),
        ("SELECT table_name FROM information_schema.tables", Code::ForbiddenSql, "dragoman_list_datasets"),
        ("SHOW TABLES", Code::ForbiddenSql, "dragoman_list_datasets"),
        ("EXPLAIN SELECT 1", Code::ForbiddenSql, "Send the query itself"),
        ("CREATE TEMP TABLE x AS SELECT 1", Code::ForbiddenSql, "WITH name AS"),
        ("SELECT now() AT TIME ZONE 'Europe/Berln'", Code::InvalidArgument, "Europe/Berln"),
        ("SELECT strptime('10:00 CET', '%H:%M %Z')", Code::ForbiddenSql, "AT TIME ZONE name"),
        ("SELECT date_part(['year'], now())", Code::InvalidArgument, "types of the arguments"),
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

/// In Arrow a boolean is one bit; as JSON, and in the server's memory, it is very much more.
#[tokio::test(flavor = "multi_thread")]
async fn a_row_of_very_many_small_values_is_refused_before_it_leaves_the_worker() {
    let house = House::new(|budgets| budgets.sql_time = Duration::from_secs(60)).await;
    for sql in [
        "SELECT list({'a': true}) FROM range(1200000)",
        "SELECT list(true) FROM range(1200000)",
        "SELECT map(list(range), list(true)) FROM range(1200000)",
    ] {
        let refused = house.query(sql).await.unwrap_err();
        assert_eq!((refused.code, &refused.details["limit"]), (Code::LimitExceeded, &json!("bytes")), "{sql}");
    }
    let doubled: Vec<String> = (1..13).map(|n| format!("{{'a': s{}, 'b': s{}}} AS s{n}", n - 1, n - 1)).collect();
    let refused = house.query(&format!("SELECT s12 FROM (SELECT 1 AS s0, {})", doubled.join(", "))).await.unwrap_err();
    assert_eq!((refused.code, &refused.details["limit"]), (Code::LimitExceeded, &json!("columns")));
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

/// A dataset that is erased after the pass was made, and before its file is opened.
#[tokio::test(flavor = "multi_thread")]
async fn what_was_erased_meanwhile_is_not_found() {
    let house = House::new(|_| {}).await;
    let carriers = house.dataset("carriers");
    house.files.erase(carriers.org, carriers.id).unwrap();
    let ended = [
        house.query("SELECT count(*) FROM carriers").await.err(),
        house.preview(carriers, 2).await.err(),
        house.profile("carriers").await.err(),
    ];
    assert_eq!(ended.map(|error| error.unwrap().code), [Code::DatasetNotFound; 3]);
    let other = house.query("SELECT count(*) FROM flights").await.unwrap();
    assert_eq!(other.table.rows, [[json!(20)]], "others are not disturbed");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_query_ends_at_once() {
    let house = House::new(|budgets| budgets.sql_memory_mb = 257).await;
    let cancel = CancellationToken::new();
    let query = house.query_until("SELECT count(*) FROM range(100000000000)", cancel.clone());
    let stop = async {
        while running(&house).is_empty() {
            tokio::task::yield_now().await;
        }
        cancel.cancel();
        Instant::now()
    };
    let (ended, cancelled) = tokio::join!(query, stop);
    assert_eq!(ended.unwrap_err().code, Code::QueryTimeout);
    assert!(cancelled.elapsed() < Duration::from_secs(5), "{:?}", cancelled.elapsed());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_worker_costs_one_query_and_is_reported() {
    let house = House::new(|budgets| (budgets.sql_memory_mb, budgets.sql_time) = (258, Duration::from_secs(60))).await;
    let query = house.query("SELECT count(*) FROM range(100000000000)");
    let kill = async {
        loop {
            if let Some(pid) = running(&house).into_iter().find(|pid| has_worked(*pid)) {
                nix::sys::signal::kill(nix::unistd::Pid::from_raw(pid as i32), nix::sys::signal::Signal::SIGKILL)
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

/// Whether a worker has a task for certain, and is none that begins: it has taken a second of the processor, in hundredths
/// (proc(5)).
fn has_worked(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let fields = stat.rsplit(") ").next().unwrap_or_default().split(' ');
    fields.skip(11).take(2).filter_map(|field| field.parse::<u64>().ok()).sum::<u64>() >= 100
}

/// Workers of this house that have a task, or begin: they are bounded in memory, to an amount that is this house's alone.
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
