//! `dragoman_profile_dataset` over REST, MCP and in the console.

use dragoman::model::access::{ExtScope, Role};
use serde_json::{Value, json};

use super::{get, import};
use crate::console::person;
use crate::support::service::Service;

const PEOPLE: &str = "who,mail,visits\nAnn,ann@canary.example,3\nBob,bob@canary.example,5\nCy,,5\n";

#[tokio::test(flavor = "multi_thread")]
async fn rest_and_mcp_give_the_same_profile_under_the_right_to_schemas() {
    let service = Service::start().await;
    let org = service.workspace("acme").await;
    let id = import(&service, &org, "people.csv", PEOPLE.as_bytes()).await;
    let token = service.token(&org).await;
    let (status, rest) = get(&service, &token, &format!("/datasets/{id}/profile")).await;
    assert_eq!(status, 200, "{rest}");
    assert_eq!(
        (&rest["table_name"], &rest["row_count"], &rest["column_count"]),
        (&json!("people"), &json!(3), &json!(3))
    );
    let [who, mail, visits] = &rest["columns"].as_array().unwrap()[..] else { panic!("{rest}") };
    assert_eq!((&who["type"], &who["distinct"]), (&json!("VARCHAR"), &json!(3)));
    assert_eq!((&mail["nulls"], &mail["min"]), (&json!(1), &json!("a…@…")));
    assert_eq!(mail["likely_personal_data"], json!({ "kind": "email", "because": ["name", "values"], "share": 1.0 }));
    assert_eq!((&visits["max"], &visits["median"]), (&json!("5"), &json!("5.0")));
    assert_eq!(visits["top_values"][0], json!({ "value": "5", "count": 2, "share": 2.0 / 3.0 }));
    assert_eq!(rest["approximate"], false);
    assert!(rest["note"].as_str().unwrap().starts_with("1 of these columns likely holds"), "{rest}");
    assert!(!rest.to_string().contains("canary"), "{rest}");

    let (failed, mcp) = service.tool(&token, "dragoman_profile_dataset", json!({ "dataset_id": id })).await;
    assert!(!failed);
    assert_eq!(mcp["columns"], rest["columns"]);
    let entry = service.last_audit(&org).await;
    assert_eq!(
        (entry.action.as_str(), entry.target, entry.rows),
        ("mcp.tool.call", format!("dragoman_profile_dataset {id}"), 3)
    );

    // A viewer may; a token for search alone may not; nobody elsewhere, and nobody outside once it is withdrawn.
    let path = format!("/datasets/{id}/profile");
    let (_, viewer) = service.member(&org, "vic@example.com", Role::Viewer).await;
    assert_eq!(get(&service, &viewer, &path).await.0, 200);
    let (_, search) = service.identity.create_token(org.id, "s", &[ExtScope::Search], None).await.unwrap();
    assert_eq!(get(&service, search.expose(), &path).await.0, 403);
    let other = service.workspace("other").await;
    assert_eq!(get(&service, &service.token(&other).await, &path).await.0, 404);
    let (_, admin) = service.member(&org, "ada@example.com", Role::Admin).await;
    let withdrawn = json!({ "externally_queryable": false });
    assert_eq!(service.manage(&admin, "PATCH", &format!("/datasets/{id}"), Some(withdrawn)).await.0, 200);
    assert_eq!(get(&service, &token, &path).await.0, 404, "although it was computed before");

    let texts = import(&service, &org, "notes.md", b"# Notes\n\nSome text.\n").await;
    let (status, body) = get(&service, &token, &format!("/datasets/{texts}/profile")).await;
    assert_eq!((status, &body["error"]["details"]["field"]), (400, &json!("dataset_id")), "{body}");
}

/// A reply has at most 130 KB: many columns of long values come page by page.
#[tokio::test(flavor = "multi_thread")]
async fn many_columns_come_page_by_page() {
    // Under load 300 columns may take longer than a query may; then figures would be missing.
    let service = Service::with(&[("DRAGOMAN_SQL_SECONDS", "120")]).await;
    let org = service.workspace("acme").await;
    let head: Vec<String> = (0..300).map(|n| format!("column_{n}")).collect();
    let row = |of: usize| vec![format!("{of}{}", "é".repeat(300)); 300].join(",");
    let content = format!("{}\n{}\n{}\n{}\n", head.join(","), row(1), row(2), row(3));
    let id = import(&service, &org, "wide.csv", content.as_bytes()).await;
    let token = service.token(&org).await;
    // The schema has no pages: it says less of each column.
    let (status, schema) = get(&service, &token, &format!("/datasets/{id}/schema")).await;
    let samples: Vec<usize> = (schema["columns"].as_array().unwrap().iter())
        .map(|column| column["sample_values"].as_array().unwrap().len())
        .collect();
    assert_eq!((status, samples), (200, vec![0; 300]));
    let (mut names, mut cursor, mut pages) = (Vec::new(), String::new(), 0);
    loop {
        let path = format!(
            "/datasets/{id}/profile{}",
            if cursor.is_empty() { String::new() } else { format!("?cursor={cursor}") }
        );
        let (status, page) = get(&service, &token, &path).await;
        assert_eq!((status, &page["column_count"]), (200, &json!(300)), "{page}");
        assert!(page.to_string().len() <= 130_000);
        names.extend(
            page["columns"].as_array().unwrap().iter().map(|column| column["name"].as_str().unwrap().to_owned()),
        );
        pages += 1;
        match &page["next_cursor"] {
            Value::String(next) => cursor.clone_from(next),
            _ => break,
        }
    }
    assert_eq!(names, head);
    assert!(pages >= 3, "{pages}");
    let (status, body) = get(&service, &token, &format!("/datasets/{id}/profile?cursor=AAAA")).await;
    assert_eq!((status, &body["error"]["details"]["field"]), (400, &json!("cursor")));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_console_shows_a_dataset_in_figures() {
    let service = Service::start().await;
    let org = service.workspace("acme").await;
    let hostile = "who,mail\n<script>alert(1)</script>,ann@canary.example\n<script>alert(1)</script>,\n";
    let made = service.import(&org, "people.csv", hostile.as_bytes(), false).await.unwrap();
    let page = format!("/w/acme/datasets/{}", made["dataset_id"].as_str().unwrap());
    let (_, viewer) = person(&service, "vic@example.com", &[(&org, Role::Viewer)]).await;
    assert!(viewer.get("/w/acme").await.text().await.unwrap().contains(&format!("href=\"{page}\"")));
    let shown = viewer.get(&page).await;
    assert_eq!(shown.status(), 200);
    let about = shown.text().await.unwrap();
    let text = viewer.get(&format!("{page}/profile")).await.text().await.unwrap();
    assert!(text.contains("likely personal: email") && text.contains("50.0 %") && text.contains("<rect"), "{text}");
    assert!(!text.contains("canary"), "{text}");
    for text in [&about, &text] {
        assert!(!text.contains("<script") && !text.contains(" style="), "{text}");
    }
    assert!(!about.contains("Delete for good"), "a viewer deletes nothing");
    for nothing in ["/w/acme/datasets/x", "/w/acme/datasets/01936f2e-7c1a-7000-8000-000000000001"] {
        assert_eq!(viewer.get(nothing).await.status(), 404, "{nothing}");
    }
    let (_, stranger) = person(&service, "sam@example.com", &[]).await;
    assert_eq!(stranger.get(&page).await.status(), 404);
    service.stop().await;
}
