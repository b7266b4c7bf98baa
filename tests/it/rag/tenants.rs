//! What another workspace, or a credential with less, can get: nothing.

use dragoman::model::access::{ExtScope, Role};
use serde_json::{Value, json};

use super::{Acme, text};
use crate::support::service::Service;

#[tokio::test(flavor = "multi_thread")]
async fn ids_cursors_and_filters_of_another_workspace_open_nothing() {
    Service::both(async |service| {
        let acme = Acme::open(service).await;
        let service = &acme.service;
        let other = service.workspace("other").await;
        let (_, stranger) = service.member(&other, "mallory@example.com", Role::Admin).await;
        // Of the same words, so that everything is alike but whose it is.
        service
            .import(&other, "handbook.md", b"# Own\n\nOur thirty days.\n\n## More\n\nOther thirty days.\n", true)
            .await
            .unwrap();
        let page = acme.ask("rag_search_fts", json!({ "query": "days", "k": 1 })).await;
        let hit = &page["results"][0];
        let (chunk, document, source) = (text(hit, "chunk_id"), text(hit, "doc_id"), text(hit, "source_id"));

        let call = async |name: &str, arguments: Value| service.tool(&stranger, name, arguments).await;
        let code = |(failed, body): &(bool, Value)| {
            assert!(failed, "{body}");
            text(&body["error"], "code").to_owned()
        };
        let stolen = json!({ "query": "days", "k": 1, "cursor": page["next_cursor"] });
        assert_eq!(code(&call("rag_search_fts", stolen).await), "invalid_argument", "a cursor is of one workspace");
        let foreign = json!({ "query": "days", "filters": { "source_ids": [source] } });
        assert_eq!(code(&call("rag_search_fts", foreign).await), "dataset_not_found");
        let foreign = json!({ "query": "days", "filters": { "source_names": ["offices"] } });
        assert_eq!(code(&call("rag_search_hybrid", foreign).await), "dataset_not_found");
        for like in [chunk, document] {
            assert_eq!(code(&call("rag_search_vector", json!({ "like": like })).await), "document_not_found");
        }
        let (_, found) =
            call("rag_search_hybrid", json!({ "query": "days", "filters": { "doc_ids": [document] } })).await;
        assert_eq!(found["results"], json!([]));
        let (_, found) = call("rag_search_hybrid", json!({ "query": "sent back goods days", "k": 50 })).await;
        assert!(found["results"].as_array().unwrap().iter().all(|hit| hit["title"] == "Own"), "{found}");
        let (_, found) = call("rag_get_chunks", json!({ "chunk_ids": [chunk] })).await;
        assert_eq!((&found["chunks"], &found["not_found"]), (&json!([]), &json!([chunk])));
        let (_, found) = call("rag_get_docs", json!({ "doc_ids": [document] })).await;
        assert_eq!((&found["docs"], &found["not_found"]), (&json!([]), &json!([document])));
        let (_, found) = call("rag_admin_stats", json!({})).await;
        assert_eq!(found["sources"].as_array().unwrap().len(), 1, "{found}");

        // In one's own workspace: what is not published is not there for a client, by whatever way.
        service
            .manage(
                &acme.token,
                "PATCH",
                &format!("/datasets/{source}"),
                Some(json!({ "externally_queryable": false })),
            )
            .await;
        let found = acme.ask("rag_get_chunks", json!({ "chunk_ids": [chunk] })).await;
        assert_eq!(found["chunks"], json!([]));
        let found = acme.ask("rag_search_fts", json!({ "query": "days" })).await;
        assert_eq!(found["results"], json!([]));
        assert_eq!(acme.slip("rag_search_vector", json!({ "like": chunk })).await.0, "document_not_found");
        acme.service.stop().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn each_tool_needs_the_scope_of_what_it_reads() {
    let acme = Acme::open(Service::start().await).await;
    let service = &acme.service;
    let (_, viewer) = service.member(&acme.org, "viewer@example.com", Role::Viewer).await;
    let rows = json!({ "doc_ids": ["posts:1"], "columns": ["a"] });
    for (tool, arguments, may) in [
        ("rag_search_fts", json!({ "query": "soup" }), true),
        ("rag_admin_stats", json!({}), true),
        ("rag_fetch_from_source", rows.clone(), false),
    ] {
        let (status, body) = rest(service, &viewer, tool, &arguments).await;
        assert_eq!(status == 200, may, "{tool}: {body}");
        if !may {
            assert_eq!((status, &body["error"]["code"]), (403, &json!("scope_denied")), "{body}");
        }
    }
    for (scope, open) in [
        (
            ExtScope::Search,
            &["rag_search_fts", "rag_search_vector", "rag_search_hybrid", "rag_get_chunks", "rag_get_docs"][..],
        ),
        (ExtScope::Sql, &["rag_fetch_from_source"]),
        (ExtScope::Datasets, &["rag_admin_stats"]),
        (ExtScope::Schema, &[]),
    ] {
        let (_, secret) = service.identity.create_token(acme.org.id, scope.name(), &[scope], None).await.unwrap();
        for (tool, arguments) in [
            ("rag_search_fts", json!({ "query": "soup" })),
            ("rag_search_vector", json!({ "query_text": "soup" })),
            ("rag_search_hybrid", json!({ "query": "soup" })),
            ("rag_get_chunks", json!({ "chunk_ids": ["x#0"] })),
            ("rag_get_docs", json!({ "doc_ids": ["x"] })),
            ("rag_fetch_from_source", rows.clone()),
            ("rag_admin_stats", json!({})),
        ] {
            let (status, body) = rest(service, secret.expose(), tool, &arguments).await;
            assert_eq!(status, if open.contains(&tool) { 200 } else { 403 }, "{tool} with {}: {body}", scope.name());
        }
    }
    acme.service.stop().await;
}

async fn rest(service: &Service, token: &str, tool: &str, arguments: &Value) -> (u16, Value) {
    let path = format!("/api/v1/ext/rag/{}", tool.strip_prefix("rag_").unwrap());
    let request = match tool {
        "rag_admin_stats" => service.get(&path, token),
        _ => service.post(&path, token).json(arguments),
    };
    crate::support::service::json_of(request.send().await.unwrap()).await
}
