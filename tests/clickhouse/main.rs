//! The ClickHouse dialect and client on the real engine; `tests/clickhouse/run` starts it and names it in
//! `CLICKHOUSE_URL`.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_methods,
    reason = "a test that cannot go on says so by panicking, and its script tells it where the engine is"
)]

mod plans;

use std::time::Duration;

use dragoman::base::secret::Secret;
use dragoman::engine::sql::remote::clickhouse::ClickHouse;
use dragoman::engine::sql::remote::{Address, Permitted, RemoteLimits};
use dragoman::model::error::{Code, Result};
use dragoman::model::table::Table;
use serde_json::json;
use tokio_util::sync::CancellationToken;
use url::Url;

fn permitted() -> Vec<Permitted> {
    let table = |name: &str, columns: &[&str]| Permitted {
        name: name.into(),
        schema: "warehouse".into(),
        table: format!("{name}`facts"),
        columns: columns.iter().map(|column| (*column).to_owned()).collect(),
    };
    let flights = ["id", "origin", "dest", "carrier", "delay", "day", "departed", "price", "tags", "info"];
    vec![table("flights", &flights), table("carriers", &["code", "name"])]
}

fn address() -> Address {
    let _another_was_first = rustls::crypto::aws_lc_rs::default_provider().install_default();
    let url = std::env::var("CLICKHOUSE_URL").expect("run tests/clickhouse/run");
    Address { url: Url::parse(&url).unwrap(), password: Secret::new(""), private_hosts: true, addresses: vec![] }
}

/// Runs what the guard would not let through: the tables.
async fn prepare(address: &Address) {
    for sql in [
        "CREATE DATABASE IF NOT EXISTS warehouse",
        r"CREATE OR REPLACE TABLE warehouse.`flights\`facts` (id Int64, origin String, dest String, carrier String,
            delay Nullable(Int32), day Date, departed DateTime('UTC'), price Decimal(10, 2), tags Array(String),
            info String, secret String) ENGINE = Memory",
        r#"INSERT INTO warehouse.`flights\`facts` SELECT number, ['JFK', 'LGA', 'EWR'][number % 3 + 1], 'LAX',
            ['AA', 'UA'][number % 2 + 1], (number * 7) % 50, toDate('2020-01-01') + number,
            toDateTime('2020-01-01 10:00:00', 'UTC'), 1.50, ['a', 'b'], '{"b": "x", "n": 5}', 'CANARY'
            FROM numbers(20)"#,
        r"CREATE OR REPLACE TABLE warehouse.`carriers\`facts` (code String, name String) ENGINE = Memory",
        r"INSERT INTO warehouse.`carriers\`facts` VALUES ('AA', 'American'), ('UA', 'United')",
    ] {
        run(address, sql).await;
    }
}

/// Runs a statement that nobody judges.
async fn run(address: &Address, sql: &str) {
    let client = dragoman::base::outbound::engine_client(&address.url, true, &[]).await.unwrap();
    let url = address.url.join("?default_format=Null").unwrap();
    let done = client.post(url).body(sql.to_owned()).send().await.unwrap();
    assert!(done.status().is_success(), "{sql}: {}", done.text().await.unwrap());
}

async fn query(address: &Address, sql: &str) -> Result<Table> {
    let limits = RemoteLimits { time: Duration::from_secs(20), rows: 100, bytes: 1 << 20, memory_mb: 500 };
    ClickHouse::new(address).query(sql, &permitted(), &limits, &CancellationToken::new()).await
}

/// One engine serves all, one statement after the other.
#[tokio::test(flavor = "multi_thread")]
async fn the_guard_and_the_client_fit_the_engine() {
    let address = address();
    prepare(&address).await;

    let statements = include_str!("../it/sql/clickhouse_allow.sql").lines().filter(|line| !line.starts_with("-- "));
    let mut failed = vec![];
    for sql in statements {
        if let Err(error) = query(&address, sql).await {
            failed.push(format!("{sql}\n    {error}"));
        }
    }
    assert!(failed.is_empty(), "{} fail:\n{}", failed.len(), failed.join("\n"));

    let refused = query(&address, "SELECT secret FROM flights").await.unwrap_err();
    assert_eq!(refused.code, Code::InvalidArgument, "{refused}");
    let rows = query(&address, "SELECT * FROM flights").await.unwrap().rows;
    assert!(rows.len() == 20 && !json!(rows).to_string().contains("CANARY"));

    let ordered = query(&address, "WITH late AS (SELECT * FROM flights) SELECT id FROM late ORDER BY delay DESC, id");
    let ordered = ordered.await.unwrap().rows;
    assert_eq!(ordered[..3], [[json!(7)], [json!(14)], [json!(6)]]);

    let many = query(&address, "SELECT number FROM numbers(1000000)").await.unwrap();
    assert!(many.truncated && many.rows.len() == 100);
    let slow = query(&address, "SELECT groupArray(number) FROM numbers(1000000000)").await.unwrap_err();
    assert_eq!(slow.code, Code::LimitExceeded, "{slow}");

    let values =
        "SELECT 9007199254740993 AS large, toInt64(7) AS small, toDecimal64('1.5', 2) AS money, nan, 1 / 0 AS inf,
        toDateTime('2020-06-01 10:00:00', 'Europe/Berlin') AS t, toDate('2020-01-31') AS d, [toUInt64(1)] AS list,
        map('k', toUInt64(18446744073709551615)) AS m, (1, 'a') AS pair, NULL AS nothing, true AS yes";
    let values = query(&address, values).await.unwrap();
    assert_eq!(
        values.rows[0],
        [
            json!("9007199254740993"),
            json!(7),
            json!("1.50"),
            json!("NaN"),
            json!("Infinity"),
            json!("2020-06-01T08:00:00Z"),
            json!("2020-01-31"),
            json!([1]),
            json!({ "k": "18446744073709551615" }),
            json!([1, "a"]),
            json!(null),
            json!(true)
        ]
    );

    let found = ClickHouse::new(&address).tables().await.unwrap();
    let flights = found.tables.iter().find(|table| table.table == "flights`facts").unwrap();
    assert_eq!((flights.schema.as_str(), flights.row_count, flights.columns.len()), ("warehouse", Some(20), 11));
    assert!(flights.columns[4].nullable && !flights.columns[0].nullable);
    // The login of this engine may do everything.
    let refused = ClickHouse::new(&address).probe().await.unwrap_err();
    assert!(refused.message.contains("may write"), "{refused}");
}
