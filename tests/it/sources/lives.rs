//! Lives of a source: refreshed, tested, restarted, slow, cancelled, removed; and never another workspace's.

use std::sync::Arc;
use std::time::{Duration, Instant};

use dragoman::gateway::Via;
use dragoman::model::access::Role;
use dragoman::model::error::Code;
use dragoman::ops::sql::Sql;
use serde_json::json;

use super::{OPEN, Ready, Shop, publish};
use crate::support::databases::Cluster;
use crate::support::service::{Service, operator};
use crate::tenancy::{both, code};

/// Takes the server minutes.
const LONG: &str =
    "SELECT count(*) FROM orders a, orders b, orders c, orders d WHERE a.total + b.total + c.total < d.total";

#[tokio::test(flavor = "multi_thread")]
async fn a_refresh_follows_the_servers_catalogue() {
    both(&[OPEN], async |service| {
        let ready = Ready::new(&service).await;
        let refresh = format!("/sources/{}/refresh", ready.source);
        let (status, body) = service.manage(&ready.admin, "POST", &refresh, Some(json!({}))).await;
        assert_eq!(status, 200, "{body}");
        assert_eq!((&body["added"], &body["updated"], &body["removed"]), (&json!(0), &json!(2), &json!(0)));
        let reader = &ready.shop.reader;
        ready
            .shop
            .admin(&format!(
                "CREATE TABLE returns (id int); GRANT SELECT ON returns TO {reader};
                 REVOKE SELECT ON customers FROM {reader}; ALTER TABLE orders ADD COLUMN note text DEFAULT 'new'"
            ))
            .await;
        // Before the refresh the caller is told what to do.
        let (failed, body) = ready.sql(&service, "SELECT name FROM customers").await;
        assert!(failed && code(&body) == "source_unavailable" && body.to_string().contains("refresh"), "{body}");
        let (_, listed) = service.manage(&ready.admin, "GET", "/sources", None).await;
        assert_eq!(listed["sources"][0]["status"], "failing");

        let (status, body) = service.manage(&ready.admin, "POST", &refresh, Some(json!({}))).await;
        assert_eq!(status, 200, "{body}");
        assert_eq!((&body["added"], &body["updated"], &body["removed"]), (&json!(1), &json!(1), &json!(1)));
        let (_, listed) = service.manage(&ready.admin, "GET", "/sources", None).await;
        assert_eq!(listed["sources"][0]["status"], "ok");
        let tables: Vec<_> = listed["sources"][0]["tables"].as_array().unwrap().iter().collect();
        let told: Vec<_> = tables.iter().map(|t| (t["name"].as_str().unwrap(), &t["published"])).collect();
        assert_eq!(told, [("orders", &json!(true)), ("returns", &json!(false))], "what is new is not published");
        let (failed, body) = ready.sql(&service, "SELECT note FROM orders LIMIT 1").await;
        assert!(!failed && body["rows"] == json!([["new"]]), "{body}");
        let (status, body) =
            service.manage(&ready.admin, "POST", &format!("/sources/{}/test", ready.source), Some(json!({}))).await;
        assert_eq!((status, &body["readable_tables"]), (200, &json!(2)), "{body}");
        assert_eq!(body["message"], "The login can read 2 tables and nothing else.");

        // A login that was given more later is found by the next test.
        ready.shop.admin(&format!("GRANT DELETE ON orders TO {reader}")).await;
        let (status, body) =
            service.manage(&ready.admin, "POST", &format!("/sources/{}/test", ready.source), Some(json!({}))).await;
        assert_eq!((status, code(&body)), (403, "forbidden"), "{body}");
        let (_, listed) = service.manage(&ready.admin, "GET", "/sources", None).await;
        assert!(listed["sources"][0]["problem"].as_str().unwrap().contains("can write to the table public.orders"));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_query_that_takes_too_long_ends_here_and_there() {
    let service = Service::with(&[OPEN, ("DRAGOMAN_SQL_SECONDS", "1")]).await;
    let ready = Ready::new(&service).await;
    let started = Instant::now();
    let (failed, body) = ready.sql(&service, LONG).await;
    assert!(failed && code(&body) == "query_timeout", "{body}");
    assert!(started.elapsed() < Duration::from_secs(20), "{:?}", started.elapsed());
    ready.shop.until_running(0).await;
    let (failed, body) = ready.sql(&service, "SELECT count(*) FROM orders").await;
    assert!(!failed && body["rows"] == json!([[1000]]), "{body}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_query_ends_on_the_server_when_its_caller_leaves() {
    let service = Service::with(&[OPEN, ("DRAGOMAN_SQL_SECONDS", "300")]).await;
    let ready = Ready::new(&service).await;
    let via = Via::new("test");
    let cancel = via.cancel.clone();
    let (gateway, caller) = (service.gateway.clone(), operator(&ready.org));
    let sql = Sql { sql: LONG.into(), dataset_id: None, cursor: None };
    let call = tokio::spawn(async move { gateway.call(&caller, sql, via).await });
    ready.shop.until_running(1).await;
    cancel.cancel();
    assert_eq!(call.await.unwrap().unwrap_err().code, Code::QueryTimeout);
    ready.shop.until_running(0).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_runs_in_a_source_ends_when_it_is_removed() {
    let service = Service::with(&[OPEN, ("DRAGOMAN_SQL_SECONDS", "300")]).await;
    let ready = Ready::new(&service).await;
    let (gateway, caller) = (service.gateway.clone(), operator(&ready.org));
    let sql = Sql { sql: LONG.into(), dataset_id: None, cursor: None };
    let call = tokio::spawn(async move { gateway.call(&caller, sql, Via::new("test")).await });
    ready.shop.until_running(1).await;
    let path = format!("/sources/{}", ready.source);
    let (status, body) = service.manage(&ready.admin, "DELETE", &path, None).await;
    assert_eq!(status, 200, "{body}");
    assert_eq!(call.await.unwrap().unwrap_err().code, Code::DatasetNotFound);
    ready.shop.until_running(0).await;
    let (_, listed) = service.tool(&ready.token, "dragoman_list_datasets", json!({})).await;
    assert_eq!(listed["count"], 0);
    assert_eq!(service.manage(&ready.admin, "DELETE", &path, None).await.0, 404);
    ready.shop.until_left().await;
}

/// The command line works on the metadata beside a service that runs.
async fn at_the_command_line(service: &Service, arguments: &[&str]) {
    let mut command = tokio::process::Command::new(env!("CARGO_BIN_EXE_dragoman"));
    command.arg("--data").arg(&service.config.data_dir).arg("admin").args(arguments);
    if let Some(url) = &service.config.database_url {
        command.env("DATABASE_URL", url.expose());
    }
    let output = command.output().await.unwrap();
    assert!(output.status.success(), "{arguments:?}: {output:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_source_that_another_process_removes_is_closed() {
    both(&[OPEN, ("DRAGOMAN_SQL_SECONDS", "300")], async |service| {
        let ready = Ready::new(&service).await;
        let (failed, body) = ready.sql(&service, "SELECT count(*) FROM orders").await;
        assert!(!failed && body["rows"] == json!([[1000]]), "{body}");
        let (gateway, caller) = (service.gateway.clone(), operator(&ready.org));
        let sql = Sql { sql: LONG.into(), dataset_id: None, cursor: None };
        let call = tokio::spawn(async move { gateway.call(&caller, sql, Via::new("test")).await });
        ready.shop.until_running(1).await;
        // Whom it does not belong to has no say in whether it is open.
        let other = service.workspace("other").await;
        let (_, stranger) = service.member(&other, "admin@other.example", Role::Admin).await;
        let path = format!("/sources/{}/test", ready.source);
        assert_eq!(service.manage(&stranger, "POST", &path, Some(json!({}))).await.0, 404);
        assert!(!call.is_finished() && ready.shop.running().await == 1);

        at_the_command_line(&service, &["source", "remove", "shop", "--workspace", "acme"]).await;
        let (failed, body) = ready.sql(&service, "SELECT count(*) FROM orders").await;
        assert!(failed && code(&body) == "invalid_argument", "{body}");
        let ended = tokio::time::timeout(Duration::from_secs(20), call).await.expect("what runs ends with it");
        assert_eq!(ended.unwrap().unwrap_err().code, Code::DatasetNotFound);
        ready.shop.until_left().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_was_restarted_is_found_again() {
    let service = Service::with(&[OPEN]).await;
    let cluster: &'static Cluster = Box::leak(Box::new(tokio::task::spawn_blocking(Cluster::on_tcp).await.unwrap()));
    let ready = Ready::with(&service, Shop::on(cluster).await).await;
    for round in 0..2 {
        let (failed, body) = ready.sql(&service, "SELECT count(*) FROM orders").await;
        assert!(!failed && body["rows"] == json!([[1000]]), "round {round}: {body}");
        tokio::task::spawn_blocking(|| cluster.restart()).await.unwrap();
    }
    let (failed, body) = ready.sql(&service, "SELECT count(*) FROM orders").await;
    assert!(!failed && body["rows"] == json!([[1000]]), "{body}");
}

#[tokio::test(flavor = "multi_thread")]
async fn one_source_runs_so_many_queries_at_once_and_a_caller_half_of_them() {
    let service = Arc::new(Service::with(&[OPEN, ("DRAGOMAN_SQL_SECONDS", "300")]).await);
    let ready = Ready::new(&service).await;
    let ask = |user: Option<&str>| {
        let (gateway, mut caller) = (service.gateway.clone(), operator(&ready.org));
        caller.user = user.map(|user| user.parse().unwrap());
        let via = Via::new("test");
        let cancel = via.cancel.clone();
        let sql = Sql { sql: LONG.into(), dataset_id: None, cursor: None };
        (tokio::spawn(async move { gateway.call(&caller, sql, via).await }), cancel)
    };
    let users = ["0194a0c0-0000-7000-8000-000000000001", "0194a0c0-0000-7000-8000-000000000002"];
    let greedy: Vec<_> = (0..3).map(|_| ask(Some(users[0]))).collect();
    ready.shop.until_running(2).await;
    let others: Vec<_> = (0..2).map(|_| ask(Some(users[1]))).chain([ask(None)]).collect();
    ready.shop.until_running(4).await;
    for (_, cancel) in greedy.iter().chain(&others) {
        cancel.cancel();
    }
    for (call, _) in greedy.into_iter().chain(others) {
        assert_eq!(call.await.unwrap().unwrap_err().code, Code::QueryTimeout);
    }
    ready.shop.until_running(0).await;
}

/// K01 with real rows: another workspace's admin, who knows every name and id.
#[tokio::test(flavor = "multi_thread")]
async fn k01_a_source_is_nothing_to_other_workspaces() {
    both(&[OPEN], async |service| {
        let ready = Ready::new(&service).await;
        let other = service.workspace("other").await;
        let (_, stranger) = service.member(&other, "admin@other.example", Role::Admin).await;
        let token = service.token(&other).await;
        let (_, listed) = service.manage(&stranger, "GET", "/sources", None).await;
        assert_eq!(listed["sources"], json!([]));
        for (method, path) in [("POST", "/test"), ("POST", "/refresh"), ("DELETE", "")] {
            let path = format!("/sources/{}{path}", ready.source);
            let (status, body) = service.manage(&stranger, method, &path, (method == "POST").then(|| json!({}))).await;
            assert_eq!((status, code(&body)), (404, "not_found"), "{path}: {body}");
        }
        let (_, theirs) = service.tool(&ready.token, "dragoman_list_datasets", json!({})).await;
        let id = &theirs["datasets"][1]["id"];
        for (tool, arguments) in [
            ("dragoman_get_schema", json!({ "dataset_id": id })),
            ("dragoman_preview_rows", json!({ "dataset_id": id })),
            ("dragoman_sql", json!({ "dataset_id": id, "sql": "SELECT * FROM orders" })),
        ] {
            let (failed, body) = service.tool(&token, tool, arguments).await;
            assert!(failed && code(&body) == "dataset_not_found", "{tool}: {body}");
        }
        let (failed, body) = service.tool(&token, "dragoman_sql", json!({ "sql": "SELECT * FROM orders" })).await;
        assert!(failed && code(&body) == "invalid_argument", "{body}");
        // A source of their own, at the same server, under the same name, is theirs alone.
        let shop = Shop::open().await;
        shop.admin("DELETE FROM orders WHERE id > 1").await;
        let (status, made) = service.manage(&stranger, "POST", "/sources", Some(shop.new_source("shop"))).await;
        assert_eq!(status, 200, "{made}");
        publish(&service, &stranger, &made["source"]).await;
        let count = json!({ "sql": "SELECT count(*) FROM orders" });
        let (_, own) = service.tool(&token, "dragoman_sql", count.clone()).await;
        let (_, others) = service.tool(&ready.token, "dragoman_sql", count).await;
        assert_eq!((&own["rows"], &others["rows"]), (&json!([[1]]), &json!([[1000]])));
    })
    .await;
}
