//! Callers who want more than to read, and servers that are none.

use std::time::{Duration, Instant};

use dragoman::model::access::Role;
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::{OPEN, Ready};
use crate::support::service::Service;
use crate::tenancy::code;

/// Each is refused, by one wall or another, and nothing is changed.
const HOSTILE: [&str; 33] = [
    "SELECT 1 FROM orders; DROP TABLE orders",
    "SELECT 1 FROM orders; COMMIT; DROP TABLE orders",
    "COMMIT /* orders */",
    "ROLLBACK /* orders */",
    "BEGIN READ WRITE /* orders */",
    "SET TRANSACTION READ WRITE /* orders */",
    "SET SESSION CHARACTERISTICS AS TRANSACTION READ WRITE /* orders */",
    "SET search_path = public /* orders */",
    "RESET ALL /* orders */",
    "SELECT set_config('transaction_read_only', 'off', false) FROM orders",
    "SELECT set_config('statement_timeout', '0', false) FROM orders",
    "SELECT current_setting('data_directory') FROM orders",
    "SELECT 1) AS x; DROP TABLE orders; SELECT * FROM (SELECT * FROM orders",
    "SELECT 1 FROM orders) AS answer; COMMIT; --",
    "DELETE FROM orders",
    "WITH gone AS (DELETE FROM orders RETURNING *) SELECT * FROM gone",
    "INSERT INTO orders SELECT * FROM orders",
    "SELECT * INTO stolen FROM orders",
    "SELECT * FROM orders FOR UPDATE",
    "COPY orders TO PROGRAM 'id'",
    "COPY (SELECT * FROM orders) TO STDOUT",
    "SELECT pg_read_file('/etc/passwd') FROM orders",
    "SELECT lo_import('/etc/passwd') FROM orders",
    "SELECT pg_sleep(100) FROM orders",
    "SELECT * FROM pg_catalog.pg_authid, orders",
    "SELECT usename FROM pg_stat_activity, orders",
    "SELECT * FROM orders, information_schema.tables",
    "SELECT * FROM public.payments, orders",
    "SELECT query_to_xml('SELECT * FROM payments', true, true, '') FROM orders",
    "SELECT * FROM orders WHERE id = $1",
    "DO $$ BEGIN DELETE FROM orders; END $$",
    "EXPLAIN ANALYZE DELETE FROM orders",
    "PREPARE x AS DELETE FROM orders",
];

#[tokio::test(flavor = "multi_thread")]
async fn nothing_but_reading_of_permitted_tables_gets_through() {
    let service = Service::with(&[OPEN]).await;
    let ready = Ready::new(&service).await;
    for sql in HOSTILE {
        let (failed, body) = ready.sql(&service, sql).await;
        assert!(failed, "{sql}: {body}");
        assert!(["forbidden_sql", "invalid_argument"].contains(&code(&body)), "{sql}: {body}");
        for secret in ["CANARY", "root:", "data_directory ="] {
            assert!(!body.to_string().contains(secret), "{sql}: {body}");
        }
    }
    assert_eq!(ready.shop.value("SELECT count(*) FROM orders").await, 1000);
    assert_eq!(ready.shop.value("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'").await, 3);
    let (failed, body) = ready.sql(&service, "SELECT count(*) FROM orders").await;
    assert!(!failed && body["rows"] == json!([[1000]]), "{body}");
}

/// What the login's owner set for it changes nothing: neither how a text is read, nor which table a name means.
#[tokio::test(flavor = "multi_thread")]
async fn settings_of_the_login_do_not_change_what_a_query_means() {
    let service = Service::with(&[OPEN]).await;
    let shop = super::Shop::open().await;
    shop.admin(&format!(
        "ALTER ROLE {0} SET standard_conforming_strings = off; ALTER ROLE {0} SET backslash_quote = on;
         ALTER ROLE {0} SET datestyle = 'SQL, DMY'; ALTER ROLE {0} SET timezone = 'Asia/Tokyo';
         ALTER ROLE {0} SET bytea_output = 'escape'; ALTER ROLE {0} SET default_transaction_read_only = off",
        shop.reader
    ))
    .await;
    let ready = Ready::with(&service, shop).await;
    let (failed, body) = ready.sql(&service, r"SELECT 'a\', length('\') FROM customers LIMIT 1").await;
    assert!(!failed && body["rows"] == json!([["a\\", 1]]), "{body}");
    let (failed, body) = ready.sql(&service, "SELECT placed FROM orders WHERE id = 1").await;
    assert!(!failed && body["rows"] == json!([["2024-01-02T11:00:00Z"]]), "{body}");
}

/// Answers every connection with these bytes after the first message.
async fn server(answer: Vec<u8>) -> u16 {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let answer = answer.clone();
            tokio::spawn(async move {
                let _hello = stream.read(&mut [0; 1024]).await;
                // Fails when the other side has seen enough.
                let _sent = stream.write_all(&answer).await;
                let _rest = stream.read(&mut [0; 1024]).await;
                let _until_closed = stream.read(&mut [0; 1024]).await;
            });
        }
    });
    port
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_none_is_told_apart_at_once() {
    let service = Service::with(&[OPEN]).await;
    let org = service.workspace("acme").await;
    let (_, admin) = service.member(&org, "admin@acme.example", Role::Admin).await;
    let notices = b"N\0\0\0\x05\0".repeat(100_000);
    let sasl = [&b"R\0\0\0\x17\0\0\0\x0aSCRAM-SHA-256\0\0"[..]].concat();
    let challenge = "r=x,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4000000000";
    let length = u32::try_from(challenge.len() + 8).unwrap().to_be_bytes();
    let endless = [&sasl[..], b"R", &length, &[0, 0, 0, 11], challenge.as_bytes()].concat();
    for (what, answer) in [
        ("announces four gigabytes", b"R\xff\xff\xff\xff\0\0\0\0".to_vec()),
        ("announces less than nothing", b"R\0\0\0\0".to_vec()),
        ("speaks another language", b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec()),
        ("talks without end", notices),
        ("asks for a computation without end", endless),
        ("wants the password in clear text", b"R\0\0\0\x08\0\0\0\x03".to_vec()),
        ("wants it as an MD5 hash", b"R\0\0\0\x0c\0\0\0\x05salt".to_vec()),
        ("wants Kerberos", b"R\0\0\0\x08\0\0\0\x07".to_vec()),
        ("accepts without the proof that it began", [&sasl[..], b"R\0\0\0\x08\0\0\0\0"].concat()),
    ] {
        let port = server(answer).await;
        let address = format!("postgres://u@127.0.0.1:{port}/d");
        let source = json!({ "name": "shop", "engine": "postgres", "address": address, "password": "x" });
        let started = Instant::now();
        let (status, body) = service.manage(&admin, "POST", "/sources", Some(source)).await;
        assert_eq!((status, code(&body)), (502, "source_unavailable"), "{what}: {body}");
        assert!(started.elapsed() < Duration::from_secs(5), "{what}: {:?}", started.elapsed());
    }
}
