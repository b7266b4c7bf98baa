//! SQL for ClickHouse: the guard over its corpora, and the client against a stand-in that speaks ClickHouse's HTTP
//! interface, faults included. The dialect itself is tried on the real engine by `tests/clickhouse/run`.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use dragoman::base::secret::Secret;
use dragoman::engine::sql::remote::clickhouse::{ClickHouse, Probe, guard};
use dragoman::engine::sql::remote::{Address, Catalogue, Permitted, RemoteLimits};
use dragoman::model::error::{Code, Result};
use dragoman::model::table::Table;
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;
use url::Url;

use super::{codes, corpus};

fn permitted() -> Vec<Permitted> {
    let table = |name: &str, columns: &[&str]| Permitted {
        name: name.into(),
        schema: "warehouse".into(),
        table: format!("{name}_facts"),
        columns: columns.iter().map(|column| (*column).to_owned()).collect(),
    };
    let flights = ["id", "origin", "dest", "carrier", "delay", "day", "departed", "price", "tags", "info"];
    vec![table("flights", &flights), table("carriers", &["code", "name"])]
}

#[test]
fn what_people_write_for_clickhouse_is_allowed() {
    let statements = corpus(include_str!("clickhouse_allow.sql"), false);
    assert!(statements.len() >= 60, "{}", statements.len());
    let judge =
        |(_, sql): (&str, String)| guard::wrapped(&sql, &permitted()).err().map(|error| format!("{sql}\n    {error}"));
    let refused: Vec<String> = statements.into_iter().filter_map(judge).collect();
    assert!(refused.is_empty(), "{} refused:\n{}", refused.len(), refused.join("\n"));
}

#[test]
fn every_attack_on_clickhouse_is_refused_for_its_reason() {
    let statements = corpus(include_str!("clickhouse_deny.sql"), true);
    assert!(statements.len() >= 120, "{}", statements.len());
    let mut wrong = vec![];
    for (rule, sql) in statements {
        let heard = match guard::wrapped(&sql, &permitted()) {
            Ok(framed) => framed,
            Err(error) => {
                let explained = !error.details["hint"].as_str().unwrap_or_default().is_empty();
                if codes(rule).contains(&error.code) && error.details["rule"] == rule && explained {
                    continue;
                }
                format!("{error} {}", error.details)
            }
        };
        wrong.push(format!("[{rule}] {sql}\n    {heard}"));
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

/// What the stand-in does with a statement.
#[derive(Clone)]
enum Answer {
    /// Lines of `JSONCompactEachRowWithNamesAndTypes`.
    Rows(String),
    /// A status, headers and a body, as they are.
    Raw(u16, &'static str, String),
    /// Promises more bytes than come.
    CutOff(String),
    /// One line again and again, without an end.
    Endless(String),
    Silence,
}

const FORMAT: &str = "X-ClickHouse-Format: JSONCompactEachRowWithNamesAndTypes\r\n";

/// A server that answers each statement as `answer` says, and keeps what it was asked.
struct StandIn {
    address: Address,
    asked: Arc<Mutex<Vec<String>>>,
}

impl StandIn {
    async fn start(answer: impl Fn(&str) -> Answer + Send + Sync + 'static) -> Self {
        let _another_was_first = rustls::crypto::aws_lc_rs::default_provider().install_default();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://reader@127.0.0.1:{}/", listener.local_addr().unwrap().port());
        let asked = Arc::new(Mutex::new(vec![]));
        let (answer, log) = (Arc::new(answer), asked.clone());
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (answer, log) = (answer.clone(), log.clone());
                tokio::spawn(async move {
                    // Fails when the client has seen enough.
                    let _ended = serve(stream, answer.as_ref(), &log).await;
                });
            }
        });
        let address = Address {
            url: Url::parse(&url).unwrap(),
            password: Secret::new("hush"),
            private_hosts: true,
            addresses: vec![],
        };
        Self { address, asked }
    }

    async fn query(&self, sql: &str, limits: &RemoteLimits) -> Result<Table> {
        ClickHouse::new(&self.address).query(sql, &permitted(), limits, &CancellationToken::new()).await
    }

    fn asked(&self) -> String {
        self.asked.lock().unwrap().last().unwrap().clone()
    }
}

async fn serve(
    mut stream: TcpStream,
    answer: &(dyn Fn(&str) -> Answer + Send + Sync),
    log: &Mutex<Vec<String>>,
) -> std::io::Result<()> {
    let mut request = Vec::new();
    while !request.ends_with(b"\r\n\r\n") {
        request.push(stream.read_u8().await?);
    }
    let head = String::from_utf8(request).unwrap();
    let length = head.lines().find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length: ")?.parse().ok());
    let mut body = vec![0; length.unwrap()];
    stream.read_exact(&mut body).await?;
    let sql = String::from_utf8(body).unwrap();
    log.lock().unwrap().push(format!("{head}{sql}"));
    let whole = |status: u16, headers: &str, body: &str| {
        format!("HTTP/1.1 {status} X\r\n{headers}Content-Length: {}\r\nConnection: close\r\n\r\n{body}", body.len())
    };
    match answer(&sql) {
        Answer::Rows(rows) => stream.write_all(whole(200, FORMAT, &rows).as_bytes()).await?,
        Answer::Raw(status, headers, body) => stream.write_all(whole(status, headers, &body).as_bytes()).await?,
        Answer::CutOff(rows) => {
            let answer = format!("HTTP/1.1 200 OK\r\n{FORMAT}Content-Length: {}\r\n\r\n{rows}", rows.len() + 100);
            stream.write_all(answer.as_bytes()).await?;
        }
        Answer::Endless(line) => {
            let head = format!("HTTP/1.1 200 OK\r\n{FORMAT}Transfer-Encoding: chunked\r\n\r\n");
            stream.write_all(head.as_bytes()).await?;
            let rows = line.repeat(1_000);
            loop {
                stream.write_all(format!("{:x}\r\n{rows}\r\n", rows.len()).as_bytes()).await?;
            }
        }
        Answer::Silence => {
            let _until_closed = stream.read(&mut [0]).await?;
        }
    }
    stream.shutdown().await
}

fn limits() -> RemoteLimits {
    RemoteLimits { time: Duration::from_secs(10), rows: 3, bytes: 100_000, memory_mb: 256 }
}

fn rows(lines: &[serde_json::Value]) -> Answer {
    Answer::Rows(lines.iter().map(|line| format!("{line}\n")).collect())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_query_carries_its_frame_its_limits_and_the_login() {
    let server = StandIn::start(|_| {
        rows(&[
            json!(["id", "price", "at"]),
            json!(["Int64", "Nullable(Decimal(10, 2))", "DateTime('UTC')"]),
            json!(["9007199254740993", "1.50", "2020-01-31T10:00:00Z"]),
            json!(["7", null, "2020-01-31T10:00:00Z"]),
        ])
    })
    .await;
    let table = server.query("SELECT id FROM flights", &limits()).await.unwrap();
    assert_eq!(table.rows[0], [json!("9007199254740993"), json!("1.50"), json!("2020-01-31T10:00:00Z")]);
    assert_eq!(table.rows[1], [json!(7), json!(null), json!("2020-01-31T10:00:00Z")]);
    assert_eq!((table.columns[1].r#type.as_str(), table.truncated), ("Nullable(Decimal(10, 2))", false));
    let asked = server.asked();
    for part in [
        "max_execution_time=10",
        "max_result_rows=4",
        "result_overflow_mode=break",
        "max_memory_usage=268435456",
        "allow_ddl=0",
        "allow_introspection_functions=0",
        "wait_end_of_query=1",
        "x-clickhouse-user: reader",
        "x-clickhouse-key: hush",
        "WITH `flights` AS (SELECT `id`, `origin`",
        "FROM `warehouse`.`flights_facts`)\nSELECT id FROM flights",
    ] {
        assert!(asked.contains(part), "{part}: {asked}");
    }
    // The name of the login is in no URL.
    assert!(!asked.lines().next().unwrap().contains("reader"), "{asked}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_refused_is_not_sent() {
    let server = StandIn::start(|_| Answer::Silence).await;
    let refused = server.query("SELECT * FROM url('http://x')", &limits()).await.unwrap_err();
    assert_eq!(refused.code, Code::ForbiddenSql);
    assert!(server.asked.lock().unwrap().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn more_rows_and_more_bytes_than_allowed_are_cut_and_said() {
    let head = [json!(["n"]), json!(["UInt8"])];
    let many = |count: usize| rows(&[&head[..], &vec![json!([1]); count]].concat());
    for (count, kept, truncated) in [(0, 0, false), (3, 3, false), (4, 3, true), (9, 3, true)] {
        let answer = many(count);
        let server = StandIn::start(move |_| answer.clone()).await;
        let table = server.query("SELECT 1", &limits()).await.unwrap();
        assert_eq!((table.rows.len(), table.truncated), (kept, truncated), "{count}");
    }
    // A body without an end is read as far as it may be.
    let server = StandIn::start(|_| Answer::Endless("[\"s\"]\n[\"String\"]\n".into())).await;
    let table = server.query("SELECT 1", &RemoteLimits { rows: 1_000_000, ..limits() }).await.unwrap();
    assert!(table.truncated && table.rows.len() > 1_000, "{}", table.rows.len());
    // One row that is larger than all may be.
    let wide = rows(&[json!(["s"]), json!(["String"]), json!(["x".repeat(300_000)])]);
    let server = StandIn::start(move |_| wide.clone()).await;
    assert_eq!(server.query("SELECT 1", &limits()).await.unwrap_err().code, Code::LimitExceeded);
}

#[tokio::test(flavor = "multi_thread")]
async fn faults_of_the_server_are_told_apart() {
    const HEAD: &str = "[\"n\"]\n[\"UInt8\"]\n[1]\n";
    let exception = |code: u32, text: &str| format!("Code: {code}. DB::Exception: {text}. (NAME) (version 26.1)\n");
    let failed = |code: u32, text: &str| Answer::Raw(500, "X-ClickHouse-Exception-Code: 0\r\n", exception(code, text));
    let cases = [
        (
            Answer::Raw(404, "X-ClickHouse-Exception-Code: 47\r\n", exception(47, "Unknown identifier `x`")),
            Code::InvalidArgument,
            "Unknown identifier `x`",
        ),
        (
            Answer::Raw(408, "X-ClickHouse-Exception-Code: 159\r\n", exception(159, "Timeout exceeded")),
            Code::QueryTimeout,
            "too long",
        ),
        (
            Answer::Raw(500, "X-ClickHouse-Exception-Code: 241\r\n", exception(241, "Memory limit exceeded")),
            Code::LimitExceeded,
            "memory",
        ),
        (
            Answer::Raw(403, "X-ClickHouse-Exception-Code: 516\r\n", exception(516, "reader: Authentication failed")),
            Code::ServiceUnavailable,
            "refused the login",
        ),
        (failed(62, "x"), Code::InvalidArgument, "ClickHouse"),
        // The exception comes after the first rows.
        (Answer::Rows(format!("{HEAD}{}", exception(241, "Memory limit exceeded"))), Code::LimitExceeded, "memory"),
        (Answer::Rows(format!("{HEAD}[2")), Code::ServiceUnavailable, "as ClickHouse does"),
        (Answer::Rows(format!("{HEAD}[1, 2]\n")), Code::ServiceUnavailable, "as ClickHouse does"),
        (Answer::Rows(String::new()), Code::ServiceUnavailable, "as ClickHouse does"),
        (Answer::Rows("[\"n\"]\n[]\n".into()), Code::ServiceUnavailable, "as ClickHouse does"),
        (Answer::Rows("[1]\n[2]\n".into()), Code::ServiceUnavailable, "as ClickHouse does"),
        (Answer::CutOff(HEAD.into()), Code::ServiceUnavailable, "does not answer"),
        (Answer::Raw(200, "", "<html>".into()), Code::ServiceUnavailable, "as ClickHouse does"),
        (Answer::Raw(502, "", "bad gateway".into()), Code::ServiceUnavailable, "does not answer"),
        // A redirect is not followed, wherever it leads.
        (
            Answer::Raw(307, "Location: http://127.0.0.1:1/\r\n", String::new()),
            Code::ServiceUnavailable,
            "does not answer",
        ),
    ];
    for (answer, code, words) in cases {
        let server = StandIn::start(move |_| answer.clone()).await;
        let failed = server.query("SELECT 1", &limits()).await.unwrap_err();
        assert!(failed.code == code && failed.message.contains(words), "{words}: {failed:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_does_not_answer_costs_the_querys_time_and_a_cancelled_call_nothing() {
    let server = StandIn::start(|_| Answer::Silence).await;
    let started = Instant::now();
    let limits = RemoteLimits { time: Duration::from_millis(300), ..limits() };
    assert_eq!(server.query("SELECT 1", &limits).await.unwrap_err().code, Code::QueryTimeout);
    assert!(started.elapsed() < Duration::from_secs(20), "{:?}", started.elapsed());

    let cancel = CancellationToken::new();
    cancel.cancel();
    let limits = RemoteLimits { time: Duration::from_secs(60), ..limits };
    let client = ClickHouse::new(&server.address);
    let ended = client.query("SELECT 1", &permitted(), &limits, &cancel).await.unwrap_err();
    assert_eq!((ended.code, ended.message.as_str()), (Code::QueryTimeout, "The call was cancelled."));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_private_address_is_refused_unless_it_was_opened() {
    let mut server = StandIn::start(|_| Answer::Silence).await;
    server.address.private_hosts = false;
    assert_eq!(server.query("SELECT 1", &limits()).await.unwrap_err().code, Code::ServiceUnavailable);
    assert!(server.asked.lock().unwrap().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_probe_judges_the_login() {
    let probe = async |readonly: u64, grants: &'static [&'static str]| {
        let server = StandIn::start(move |sql| match sql {
            "SHOW GRANTS" => {
                let grants = grants.iter().map(|grant| json!([grant]));
                rows(&[json!(["GRANTS"]), json!(["String"])].into_iter().chain(grants).collect::<Vec<_>>())
            }
            _ => rows(&[
                json!(["version()", "readonly"]),
                json!(["String", "UInt64"]),
                json!(["26.9.2.1", readonly.to_string()]),
            ]),
        })
        .await;
        ClickHouse::new(&server.address).probe().await
    };
    let good: &[&str] = &["GRANT SELECT ON warehouse.* TO reader"];
    assert_eq!(probe(2, good).await.unwrap(), Probe { version: "26.9.2.1".into() });
    for (readonly, grants, words) in [
        (0, good, "may write"),
        (1, good, "readonly = 1"),
        (2, &["GRANT SELECT ON warehouse.* TO reader", "GRANT URL ON *.* TO reader"][..], "the right URL"),
        (2, &["GRANT writer TO reader"], "through a role"),
    ] {
        let refused = probe(readonly, grants).await.unwrap_err();
        assert!(refused.code == Code::InvalidArgument && refused.message.contains(words), "{words}: {refused:?}");
        assert!(refused.message.contains("CREATE USER dragoman"), "{refused}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn tables_beyond_a_thousand_are_left_out_and_it_is_said() {
    let of = |count: usize| {
        StandIn::start(move |sql| {
            let names = (0..count).map(|number| format!("t{number:04}"));
            match sql.contains("system.columns") {
                false => {
                    let head = [
                        json!(["database", "name", "total_rows", "total_bytes", "comment"]),
                        json!(["String", "String", "Nullable(UInt64)", "Nullable(UInt64)", "String"]),
                    ];
                    rows(
                        &head.into_iter().chain(names.map(|name| json!(["w", name, "1", "1", ""]))).collect::<Vec<_>>(),
                    )
                }
                true => {
                    let head = [
                        json!(["database", "table", "name", "type", "comment"]),
                        json!(["String", "String", "String", "String", "String"]),
                    ];
                    let all = head.into_iter().chain(names.map(|name| json!(["w", name, "id", "UInt64", ""])));
                    rows(&all.collect::<Vec<_>>())
                }
            }
        })
    };
    for (count, words) in [(1_000, ""), (1_001, "more than 1000 tables: those that come after w.t0999 are left out")] {
        let server = of(count).await;
        let Catalogue { tables, left_out } = ClickHouse::new(&server.address).tables().await.unwrap();
        assert_eq!((tables.len(), tables[999].table.as_str()), (1_000, "t0999"));
        assert!(left_out.contains(words) && left_out.is_empty() == words.is_empty(), "{left_out}");
    }
}

/// Bytes are bounded, so that a hostile server sends those that take longest to read, or most room.
#[tokio::test]
async fn a_catalogue_that_is_none_is_refused_before_it_costs_much() {
    let head = "[\"a\",\"b\",\"c\",\"d\",\"e\"]\n".repeat(2);
    let list = format!("{head}[\"w\",\"t\",\"1\",\"1\",[{}0]]\n", "0,".repeat(1_000));
    let cases = [
        ("[]\n".repeat((8 << 20) / 3), Code::ServiceUnavailable, "as ClickHouse does"),
        (list, Code::ServiceUnavailable, "as ClickHouse does"),
        (head + &"[null,null,null,null,null]\n".repeat(250_000), Code::LimitExceeded, "too many tables and columns"),
    ];
    for (lines, code, words) in cases {
        let server = StandIn::start(move |_| Answer::Rows(lines.clone())).await;
        let started = Instant::now();
        let Err(refused) = ClickHouse::new(&server.address).tables().await else { panic!("{words}") };
        assert!(refused.code == code && refused.message.contains(words), "{words}: {refused:?}");
        assert!(started.elapsed() < Duration::from_secs(10), "{words}: {:?}", started.elapsed());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_without_columns_are_no_result() {
    let server = StandIn::start(|_| Answer::Rows("[]\n".repeat(100))).await;
    assert_eq!(server.query("SELECT 1", &limits()).await.unwrap_err().code, Code::ServiceUnavailable);
}

#[tokio::test(flavor = "multi_thread")]
async fn tables_come_with_their_columns() {
    let server = StandIn::start(|sql| match sql.contains("system.columns") {
        false => rows(&[
            json!(["database", "name", "total_rows", "total_bytes", "comment"]),
            json!(["String", "String", "Nullable(UInt64)", "Nullable(UInt64)", "String"]),
            json!(["w", "a", "5", "100", "events"]),
            json!(["w", "v", null, null, ""]),
            json!(["w", "without_columns", "1", "1", ""]),
        ]),
        true => rows(&[
            json!(["database", "table", "name", "type", "comment"]),
            json!(["String", "String", "String", "String", "String"]),
            json!(["w", "a", "id", "UInt64", ""]),
            json!(["w", "a", "note", "LowCardinality(Nullable(String))", "what was said"]),
            json!(["w", "elsewhere", "x", "UInt8", ""]),
            json!(["w", "v", "id", "UInt64", ""]),
        ]),
    })
    .await;
    let Catalogue { tables, left_out } = ClickHouse::new(&server.address).tables().await.unwrap();
    assert_eq!(left_out, "");
    let names: Vec<(&str, usize)> = tables.iter().map(|it| (it.table.as_str(), it.columns.len())).collect();
    assert_eq!(names, [("a", 2), ("v", 1)]);
    assert_eq!((tables[0].row_count, tables[0].bytes, tables[0].description.as_str()), (Some(5), Some(100), "events"));
    let note = &tables[0].columns[1];
    assert!(note.nullable && !tables[0].columns[0].nullable && note.description == "what was said", "{note:?}");
    assert_eq!((tables[1].row_count, tables[1].bytes), (None, None));
}
