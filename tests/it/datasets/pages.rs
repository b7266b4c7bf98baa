//! Results of `dragoman_sql` that are larger than a reply, on both metadata engines.

use std::time::Duration;

use dragoman::model::access::Role;
use dragoman::store;
use serde_json::{Value, json};

use super::{import, sql};
use crate::support::service::Service;
use crate::tenancy::{both, code};

const QUERY: &str = "SELECT id, body FROM texts ORDER BY id";

/// 300 rows of 2 KB: more than 130 KB, and fewer than the 500 rows that may come back.
fn texts() -> Vec<u8> {
    let rows = (0..300).map(|id| format!("{id},{}\n", format!("{id:04}").repeat(500)));
    format!("id,body\n{}", rows.collect::<String>()).into_bytes()
}

/// The cursor of the first page.
async fn first(service: &Service, token: &str) -> String {
    let (status, page) = sql(service, token, json!({ "sql": QUERY })).await;
    assert_eq!(status, 200, "{page}");
    page["next_cursor"].as_str().unwrap_or_else(|| panic!("{page}")).to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn all_rows_come_page_by_page_over_rest_and_mcp() {
    both(&[], async |service| {
        let org = service.workspace("acme").await;
        import(&service, &org, "texts.csv", &texts()).await;
        let token = service.token(&org).await;
        for over_mcp in [false, true] {
            let (mut ids, mut cursor, mut pages) = (Vec::new(), Value::Null, 0_usize);
            loop {
                let mut body = json!({ "sql": QUERY });
                if !cursor.is_null() {
                    body["cursor"] = cursor;
                }
                let page = match over_mcp {
                    true => service.tool(&token, "dragoman_sql", body).await.1,
                    false => sql(&service, &token, body).await.1,
                };
                assert!(page.to_string().len() <= 130_000);
                let rows = page["rows"].as_array().unwrap_or_else(|| panic!("{page}"));
                assert_eq!((&page["row_count"], &page["total_rows"]), (&json!(rows.len()), &json!(300)));
                assert_eq!((&page["truncated"], page["columns"].as_array().unwrap().len()), (&json!(false), 2));
                ids.extend(rows.iter().map(|row| row[0].as_i64().unwrap()));
                pages += 1;
                cursor = page["next_cursor"].clone();
                if cursor.is_null() {
                    break;
                }
            }
            assert_eq!(ids, (0..300).collect::<Vec<i64>>());
            assert!((5..=6).contains(&pages), "{pages}: 600 KB in pages of 130 KB");
            let entries = store::audit::newest(&service.db, Some(org.id), 20).await.unwrap();
            let calls = entries.iter().take_while(|(_, entry)| (entry.action == "mcp.tool.call") == over_mcp);
            assert!(calls.filter(|(_, entry)| entry.target == format!("dragoman_sql {QUERY}")).count() >= pages);
        }
        let (_, few) = sql(&service, &token, json!({ "sql": "SELECT id FROM texts" })).await;
        assert_eq!(
            (&few["row_count"], &few["total_rows"], &few["next_cursor"]),
            (&json!(300), &Value::Null, &Value::Null),
            "one page holds them all"
        );
        let (_, cut) = sql(&service, &token, json!({ "sql": "SELECT a.id FROM texts a, texts b" })).await;
        assert_eq!(
            (&cut["row_count"], &cut["truncated"], &cut["total_rows"]),
            (&json!(500), &json!(true), &Value::Null)
        );
        let limits = json!({ "max_rows": 500, "max_runtime_ms": 10_000, "max_memory_mb": 256 });
        assert_eq!((&cut["limits_applied"], &few["limits_applied"]), (&limits, &Value::Null));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cursor_works_for_its_owner_its_statement_and_ten_minutes() {
    both(&[], async |service| {
        let org = service.workspace("acme").await;
        import(&service, &org, "texts.csv", &texts()).await;
        let token = service.token(&org).await;
        let other = service.workspace("other").await;
        let (_, colleague) = service.member(&org, "ann@example.com", Role::Contributor).await;
        let cursor = first(&service, &token).await;
        let next = async |token: &str, query: &str, cursor: &str| {
            sql(&service, token, json!({ "sql": query, "cursor": cursor })).await
        };
        let refused = async |token: &str, query: &str, cursor: &str| {
            let (status, body) = next(token, query, cursor).await;
            assert_eq!(
                (status, code(&body), &body["error"]["details"]["field"]),
                (400, "invalid_argument", &json!("cursor"))
            );
            body["error"]["message"].as_str().unwrap().to_owned()
        };
        let expected = "This cursor goes on with no result that is still there. Run the query again, without it.";
        for (token, query, cursor) in [
            (service.token(&org).await.as_str(), QUERY, cursor.as_str()),
            (&colleague, QUERY, &cursor),
            (&service.token(&other).await, QUERY, &cursor),
            (&token, "SELECT 1", &cursor),
            (&token, QUERY, "AAAA"),
            (&token, QUERY, ""),
        ] {
            assert_eq!(refused(token, query, cursor).await, expected);
        }
        assert_eq!(next(&token, QUERY, &cursor).await.0, 200, "the owner's own still works");
        let (failed, body) = service.tool(&token, "dragoman_sql", json!({ "sql": QUERY, "cursor": "AAAA" })).await;
        assert!(failed && body["error"]["details"]["field"] == "cursor", "{body}");
        service.clock.advance(Duration::from_secs(601));
        assert_eq!(refused(&token, QUERY, &cursor).await, expected, "over");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kept_result_ends_with_its_data_and_with_the_right_to_it() {
    both(&[], async |service| {
        let org = service.workspace("acme").await;
        let id = import(&service, &org, "texts.csv", &texts()).await;
        import(&service, &org, "others.csv", b"a\n1\n").await;
        let (_, admin) = service.member(&org, "ada@example.com", Role::Admin).await;
        let (user, token) = service.member(&org, "ann@example.com", Role::Contributor).await;
        let status = async |cursor: &str| sql(&service, &token, json!({ "sql": QUERY, "cursor": cursor })).await.0;
        let publish = async |published: bool| {
            let body = json!({ "externally_queryable": published });
            assert_eq!(service.manage(&admin, "PATCH", &format!("/datasets/{id}"), Some(body)).await.0, 200);
        };

        let cursor = first(&service, &token).await;
        import(&service, &org, "others.csv", b"a\n2\n").await;
        assert_eq!(status(&cursor).await, 200, "another dataset's new version");
        import(&service, &org, "texts.csv", &texts()).await;
        assert_eq!(status(&cursor).await, 400, "a new version, although equal");

        let cursor = first(&service, &token).await;
        publish(false).await;
        assert_eq!(status(&cursor).await, 400, "withdrawn");
        publish(true).await;
        assert_eq!(status(&cursor).await, 400, "and erased by that");

        let cursor = first(&service, &token).await;
        service.identity.set_role(org.id, user.id, Role::Viewer).await.unwrap();
        assert_eq!(status(&cursor).await, 403, "no right to run SQL any more");
        service.identity.set_role(org.id, user.id, Role::Contributor).await.unwrap();
        service.identity.set_connectivity(org.id, false).await.unwrap();
        assert_eq!(status(&cursor).await, 503, "AI clients are off");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_query_that_takes_too_long_says_what_it_would_have_read() {
    let service = Service::with(&[("DRAGOMAN_SQL_SECONDS", "1")]).await;
    let org = service.workspace("acme").await;
    import(&service, &org, "texts.csv", &texts()).await;
    import(&service, &org, "others.csv", b"a\n1\n").await;
    let slow = "SELECT count(*) FROM texts t, others, range(100000000) r WHERE hash(r.range + t.id + a) % 7 = 3";
    let (status, body) = sql(&service, &service.token(&org).await, json!({ "sql": slow })).await;
    assert_eq!((status, code(&body)), (408, "query_timeout"), "{body}");
    let details = &body["error"]["details"];
    assert_eq!(
        (&details["estimate"]["tables"], &details["estimate"]["rows"]),
        (&json!(["others", "texts"]), &json!(301))
    );
    assert!(details["hint"].as_str().unwrap().contains("texts first"), "{body}");
}
