//! A table that the metadata name and whose file is not in the data folder: lost, or on another node.

use dragoman::base::secret::Secret;
use dragoman::store::Db;
use serde_json::json;

use super::{get, import, sql, versions};
use crate::support::databases::postgres_url;
use crate::support::service::Service;
use crate::tenancy::both;

#[tokio::test(flavor = "multi_thread")]
async fn a_table_whose_data_are_not_here_is_unavailable_and_not_unknown() {
    both(&[], async |service| {
        let org = service.workspace("acme").await;
        let token = service.token(&org).await;
        for name in ["first.csv", "lost.csv"] {
            let id = import(&service, &org, name, b"a\n1\n").await;
            std::fs::remove_file(versions(&service, &org, &id).remove(0)).unwrap();
        }
        import(&service, &org, "kept.csv", b"a\n1\n").await;
        let (status, body) = sql(&service, &token, json!({ "sql": "SELECT a FROM lost" })).await;
        let (code, message) = (&body["error"]["code"], body["error"]["message"].as_str().unwrap());
        assert_eq!((status, code), (503, &json!("service_unavailable")), "{body}");
        assert!(message.starts_with("The data of lost are not on this node"), "{body}");
        let (status, body) = sql(&service, &token, json!({ "sql": "SELECT a FROM kept" })).await;
        assert_eq!((status, &body["rows"]), (200, &json!([[1]])), "others are not disturbed: {body}");
        let (_, listed) = get(&service, &token, "/datasets").await;
        assert!(listed.to_string().contains("lost"), "it is there, and can be deleted: {listed}");
        service.stop().await;
    })
    .await;
}

/// A look takes a file for each version.
#[tokio::test(flavor = "multi_thread")]
async fn nobody_waits_for_a_service_that_looks_for_its_data() {
    let url = postgres_url().await;
    let db = Db::open_postgres(&Secret::new(url.clone())).await.unwrap();
    let mut holder = db.begin().await.unwrap();
    sqlx::query("LOCK TABLE dataset_versions").execute(&mut *holder).await.unwrap();
    let service = Service::with(&[("DATABASE_URL", &url)]).await;
    let live = service.http.get(service.url("/health/live")).send().await.unwrap();
    assert_eq!(live.status(), 200);
    drop(holder);
    db.close().await;
    service.stop().await;
}
