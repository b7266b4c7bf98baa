//! Which servers and logins are accepted, and what is told about those that are not.

use std::path::Path;
use std::process::Command;

use dragoman::model::access::Role;
use dragoman::model::org::Org;
use serde_json::{Value, json};

use super::{OPEN, PASSWORD, Ready, Shop};
use crate::support::databases::Cluster;
use crate::support::dump::dump;
use crate::support::service::Service;
use crate::tenancy::code;

async fn office(service: &Service) -> (Org, String) {
    let org = service.workspace("acme").await;
    let (_, admin) = service.member(&org, "admin@acme.example", Role::Admin).await;
    (org, admin)
}

async fn refused(service: &Service, admin: &str, source: Value) -> (u16, Value) {
    let (status, body) = service.manage(admin, "POST", "/sources", Some(source)).await;
    assert_ne!(status, 200, "{body}");
    let (_, listed) = service.manage(admin, "GET", "/sources", None).await;
    assert_eq!(listed["sources"], json!([]), "nothing is kept");
    (status, body)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_login_that_can_do_more_than_read_is_refused_with_the_statements_for_a_right_one() {
    let service = Service::with(&[OPEN]).await;
    let (_, admin) = office(&service).await;
    for (number, (grant, told)) in [
        ("GRANT INSERT ON orders TO {}", "can write to the table public.orders"),
        ("GRANT UPDATE (name) ON customers TO {}", "can write to the table public.customers"),
        ("GRANT TRUNCATE ON payments TO {}", "can write to the table public.payments"),
        ("GRANT CREATE ON SCHEMA public TO {}", "can create in the schema public"),
        ("DO $$ BEGIN EXECUTE 'GRANT CREATE ON DATABASE ' || current_database() || ' TO {}'; END $$", "can create schemas"),
        ("CREATE SEQUENCE counter; GRANT USAGE ON SEQUENCE counter TO {}", "can change the sequence public.counter"),
        ("ALTER ROLE {} SUPERUSER", "is a superuser"),
        ("ALTER ROLE {} REPLICATION", "can replicate"),
        ("ALTER ROLE {} BYPASSRLS", "passes row-level security by"),
        ("ALTER ROLE {} CREATEROLE", "can make roles"),
        ("ALTER ROLE {} CREATEDB", "can make databases"),
        ("GRANT pg_read_server_files TO {}", "is a member of pg_read_server_files"),
        ("GRANT pg_write_all_data TO {}", "is a member of pg_write_all_data"),
        ("GRANT pg_signal_backend TO {}", "is a member of pg_signal_backend"),
        // By a role that it can become.
        ("CREATE ROLE {}_writer; GRANT DELETE ON orders TO {}_writer; ALTER ROLE {} NOINHERIT; GRANT {}_writer TO {}",
         "can write to the table public.orders"),
    ]
    .into_iter()
    .enumerate()
    {
        let shop = Shop::open().await;
        shop.admin(&grant.replace("{}", &shop.reader)).await;
        let (status, body) = refused(&service, &admin, shop.new_source(&format!("shop{number}"))).await;
        assert_eq!((status, code(&body)), (403, "forbidden"), "{grant}: {body}");
        let details = &body["error"]["details"];
        assert_eq!(details["rule"], "login_can_write");
        let can = details["can"].as_array().unwrap();
        assert!(can.iter().any(|power| power.as_str().unwrap().starts_with(told)), "{grant}: {can:?}");
        assert!(body["error"]["message"].as_str().unwrap().contains("GRANT SELECT ON ALL TABLES"), "{body}");

        if number == 0 {
            // The script makes a login that is accepted.
            let script = details["script"].as_str().unwrap().replace("choose one", PASSWORD);
            shop.admin(&script).await;
            let user = format!("{}_reader", shop.reader);
            let source = json!({
                "name": "right", "engine": "postgres", "user": user, "password": PASSWORD,
                "address": shop.address().replace(&format!("{}@", shop.reader), ""),
            });
            let (status, made) = service.manage(&admin, "POST", "/sources", Some(source)).await;
            assert_eq!(status, 200, "{made}");
            assert_eq!(made["source"]["tables"].as_array().unwrap().len(), 3);
            let path = format!("/sources/{}", made["source"]["source_id"].as_str().unwrap());
            assert_eq!(service.manage(&admin, "DELETE", &path, None).await.0, 200);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_wrong_with_a_connection_is_told_in_words() {
    let service = Service::with(&[OPEN]).await;
    let (org, admin) = office(&service).await;
    let shop = Shop::open().await;
    let with = |key: &str, value: &str| {
        let mut source = shop.new_source("shop");
        source[key] = value.into();
        source
    };
    let nobody = crate::support::program::free_port();
    for (source, status, word, told) in [
        (with("password", "wrong"), 502, "source_unavailable", "Look at user and password"),
        (with("user", "nobody"), 502, "source_unavailable", "Look at user and password"),
        (with("address", &shop.cluster.address(&shop.reader, "nothing")), 502, "source_unavailable", "does not exist"),
        (with("address", &format!("postgres://u@127.0.0.1:{nobody}/d")), 502, "source_unavailable", "nothing listens"),
        (
            with("address", &format!("{}?sslmode=verify-full", shop.address())),
            502,
            "source_unavailable",
            "does not offer TLS",
        ),
        (
            with("address", "postgres://u@no-such-host.invalid/d"),
            400,
            "invalid_argument",
            "is not there, or not public",
        ),
        (with("address", "postgres://u@169.254.169.254/d"), 400, "invalid_argument", "is not there, or not public"),
        (with("address", "postgres://u@10.0.0.1/d"), 400, "invalid_argument", "is not there, or not public"),
        (with("address", "postgres://u@1.1.1.1/d?sslmode=disable"), 400, "invalid_argument", "without TLS"),
        (with("address", "postgres://u:hunter2@127.0.0.1/d"), 400, "invalid_argument", "its own field"),
        (with("address", "postgres://u@127.0.0.1/d?sslkey=/etc/passwd"), 400, "invalid_argument", "sslkey"),
        (with("address", "postgres:///d?host=/tmp"), 400, "invalid_argument", "host"),
        (with("address", "shop"), 400, "invalid_argument", "no URL"),
        (with("name", "Shop!"), 400, "invalid_argument", "name"),
        (with("password", ""), 400, "invalid_argument", "password"),
        (with("engine", "oracle"), 400, "invalid_argument", "clickhouse"),
    ] {
        let (got, body) = refused(&service, &admin, source.clone()).await;
        assert_eq!((got, code(&body)), (status, word), "{source}: {body}");
        assert!(body.to_string().contains(told), "{source}: {body}");
        let audit = service.last_audit(&org).await;
        assert!(!audit.target.contains("hunter2") && !audit.target.contains(PASSWORD), "{}", audit.target);
    }
}

/// A workspace's admin does not reach the operator's own network, unless the operator says so.
#[tokio::test(flavor = "multi_thread")]
async fn the_operators_own_network_is_closed_by_default() {
    let service = Service::start().await;
    let (_, admin) = office(&service).await;
    let shop = Shop::open().await;
    let private = refused(&service, &admin, shop.new_source("shop")).await;
    let mut absent = shop.new_source("shop");
    absent["address"] = "postgres://u@no-such-host.invalid/d".into();
    let absent = refused(&service, &admin, absent).await;
    assert_eq!((private.0, code(&private.1)), (400, "invalid_argument"));
    let words =
        |body: &Value| body["error"]["message"].as_str().unwrap().split_once(" is no address").unwrap().1.to_owned();
    assert_eq!(words(&private.1), words(&absent.1), "nobody learns which names the own network has");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_password_is_sealed_and_shown_nowhere() {
    let service = Service::with(&[OPEN]).await;
    let ready = Ready::new(&service).await;
    let (_, listed) = service.manage(&ready.admin, "GET", "/sources", None).await;
    assert!(!listed.to_string().contains(PASSWORD), "{listed}");
    assert!(!dump(service.db.pool()).await.contains(PASSWORD));
    // Sealed for its row and its address: moved elsewhere by whoever can write to the database, it does not open.
    let other = Service::with(&[OPEN]).await;
    let theirs = Ready::new(&other).await;
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let elsewhere = format!("postgres://u@127.0.0.1:{}/d", listener.local_addr().unwrap().port());
    let change = sqlx::query("UPDATE sources SET address = $1").bind(elsewhere);
    assert_eq!(change.execute(other.db.pool()).await.unwrap().rows_affected(), 1);
    let path = format!("/sources/{}/test", theirs.source);
    let (status, body) = other.manage(&theirs.admin, "POST", &path, Some(json!({}))).await;
    assert_eq!((status, code(&body)), (500, "internal_error"), "{body}");
    let asked = tokio::time::timeout(std::time::Duration::ZERO, listener.accept()).await;
    assert!(asked.is_err(), "nobody was asked");
}

fn certificate(folder: &Path, name: &str) {
    let config = format!("subjectAltName={name}");
    let made = Command::new("openssl")
        .current_dir(folder)
        .args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"])
        .args([
            "-subj",
            "/CN=test",
            "-addext",
            &config,
            "-addext",
            "basicConstraints=critical,CA:FALSE",
            "-keyout",
            "key.pem",
            "-out",
            "cert.pem",
        ])
        .output()
        .unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_certificate_has_to_come_from_whom_the_admin_says_and_name_the_host() {
    let service = Service::with(&[OPEN]).await;
    let (_, admin) = office(&service).await;
    let folder = tempfile::tempdir().unwrap();
    certificate(folder.path(), "IP:127.0.0.1");
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    let right = read("cert.pem");
    let files = (folder.path().join("cert.pem"), folder.path().join("key.pem"));
    let cluster = tokio::task::spawn_blocking(move || Cluster::on_tls(&files.0, &files.1)).await.unwrap();
    let shop = Shop::on(Box::leak(Box::new(cluster))).await;
    certificate(folder.path(), "IP:127.0.0.1");
    let stranger = read("cert.pem");

    let mut source = shop.new_source("shop");
    source["address"] = format!("{}?sslmode=verify-full", shop.address()).into();
    let (status, body) = refused(&service, &admin, source.clone()).await;
    assert_eq!((status, &body["error"]["details"]["step"]), (502, &json!("tls")), "not of a known authority: {body}");
    source["ca"] = stranger.into();
    let (status, body) = refused(&service, &admin, source.clone()).await;
    assert_eq!((status, &body["error"]["details"]["step"]), (502, &json!("tls")), "another authority: {body}");
    source["ca"] = "nonsense".into();
    assert_eq!(refused(&service, &admin, source.clone()).await.0, 400);
    let mut other_name = source.clone();
    other_name["ca"] = right.clone().into();
    other_name["address"] = other_name["address"].as_str().unwrap().replace("127.0.0.1", "localhost").into();
    let (status, body) = refused(&service, &admin, other_name).await;
    assert_eq!((status, &body["error"]["details"]["step"]), (502, &json!("tls")), "another name: {body}");

    source["ca"] = right.into();
    let (status, made) = service.manage(&admin, "POST", "/sources", Some(source)).await;
    assert_eq!(status, 200, "{made}");
    let table = made["source"]["tables"][1]["dataset_id"].as_str().unwrap();
    let path = format!("/datasets/{table}");
    service.manage(&admin, "PATCH", &path, Some(json!({ "externally_queryable": true }))).await;
    let org = service.identity.org_by_slug("acme").await.unwrap().unwrap();
    let token = service.token(&org).await;
    let asked = json!({ "dataset_id": table, "limit": 1 });
    let (failed, body) = service.tool(&token, "dragoman_preview_rows", asked).await;
    assert!(!failed && body["rows"][0][0] == 1, "{body}");
    let sql = format!(
        "SELECT count(*) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE usename = '{}' AND ssl",
        shop.reader
    );
    assert!(shop.value(&sql).await >= 1, "the sessions are encrypted");
}
