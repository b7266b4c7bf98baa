//! Filters hold inside the search, and one that is wrong is an error: nothing is searched then.

use serde_json::{Value, json};

use super::{Acme, files, text};
use crate::support::service::Service;

#[tokio::test(flavor = "multi_thread")]
async fn filters_narrow_every_way_of_searching_alike() {
    Service::both(async |service| {
        let acme = Acme::open(service).await;
        let stats = acme.ask("rag_admin_stats", json!({})).await;
        let id = |name: &str| {
            let sources = stats["sources"].as_array().unwrap();
            text(sources.iter().find(|source| source["source_name"] == name).unwrap(), "source_id").to_owned()
        };
        let flights = acme.ask("rag_search_fts", json!({ "query": "planes" })).await;
        let flights = text(&flights["results"][0], "doc_id");
        let all = ["flights.md", "lunch.txt", "returns.md", "zurich.txt"];
        let handbook = &all[..3];
        for (filters, expected) in [
            (json!({}), &all[..]),
            (json!({ "source_names": ["handbook"] }), handbook),
            (json!({ "source_ids": [id("handbook")] }), handbook),
            (json!({ "source_ids": [id("handbook")], "source_names": ["Handbook", "offices"] }), handbook),
            (json!({ "source_ids": [id("handbook")], "source_names": ["offices"] }), &[]),
            (json!({ "doc_ids": [flights] }), &all[..1]),
            (json!({ "source_files": ["lunch.txt", "returns.md"] }), &all[1..3]),
            (json!({ "tags_any": ["TRAVEL", "policy"] }), &["flights.md", "returns.md"]),
            (json!({ "tags_all": ["shop", "policy"] }), &["returns.md"]),
            (json!({ "tags_all": ["shop", "travel"] }), &[]),
            (json!({ "post_type_ids": [1, 7] }), &["returns.md"]),
            (json!({ "metadata": { "Score": { "gte": 5 } } }), &["returns.md"]),
            (json!({ "metadata": { "author": ["Ann", "Bob O'Neil"] } }), &["flights.md", "returns.md"]),
            (json!({ "metadata": { "author": "Bob O'Neil", "Score": 3 } }), &["flights.md"]),
            (json!({ "metadata": { "author": "bob" } }), &[]),
            (json!({ "created_before": "2023-01-01" }), &["returns.md"]),
            (
                json!({ "created_after": "2024-05-05T10:00:00Z", "created_before": "2024-05-05T10:00:01Z" }),
                &["flights.md"],
            ),
            // What says nothing of itself has the moment of its import.
            (json!({ "created_after": "2025-01-01" }), &["lunch.txt", "zurich.txt"]),
            (json!({ "min_score": 1.0 }), &[]),
        ] {
            for tool in ["rag_search_vector", "rag_search_hybrid"] {
                let query = if tool == "rag_search_vector" { "query_text" } else { "query" };
                let ask = json!({ query: "the rules", "k": 50, "filters": filters, "group_by": "document" });
                let reply = acme.ask(tool, ask).await;
                let mut found = files(&reply);
                found.sort_unstable();
                assert_eq!(found, expected, "{tool} {filters}");
            }
        }
        // Nothing of a better place takes the room of what the filter wants.
        let reply = json!({ "query": "soup", "k": 1, "filters": { "source_files": ["returns.md"] } });
        assert_eq!(files(&acme.ask("rag_search_hybrid", reply).await), ["returns.md"]);
        let scored = acme.ask("rag_search_fts", json!({ "query": "thirty days", "k": 2 })).await;
        let [best, next] = [0, 1].map(|at| scored["results"][at]["score"].as_f64().unwrap());
        let between = json!({ "query": "thirty days", "filters": { "min_score": (best + next) / 2.0 } });
        assert_eq!(acme.ask("rag_search_fts", between).await["results"].as_array().unwrap().len(), 1);
        acme.service.stop().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_filter_that_is_unknown_or_of_another_type_is_an_error_that_says_so() {
    let acme = Acme::open(Service::start().await).await;
    acme.service.import(&acme.org, "payroll.csv", b"who,euros\nAda,1\n", true).await.unwrap();
    let invalid = "invalid_argument";
    let missing = "dataset_not_found";
    let cases: Vec<(Value, &str, &str)> = vec![
        (json!({ "source_name": ["handbook"] }), invalid, "Did you mean source_names?"),
        (json!({ "nonsense": 1 }), invalid, "There are source_ids"),
        (json!({ "source_ids": ["abc"] }), missing, "no such dataset"),
        (json!({ "source_ids": {} }), invalid, "filters.source_ids is a list"),
        (json!({ "source_ids": [1] }), invalid, "filters.source_ids holds texts"),
        (json!({ "source_ids": [] }), invalid, "filters.source_ids has 1 to 100"),
        (json!({ "source_names": ["handbok"] }), missing, "Did you mean handbook?"),
        (json!({ "source_names": ["O'Reilly"] }), missing, "no such dataset"),
        (json!({ "source_names": ["plans"] }), missing, "no such dataset"),
        (json!({ "source_names": ["payroll"] }), invalid, "payroll is a table"),
        (json!({ "doc_ids": ["x') UNION SELECT secret FROM sources --"] }), invalid, "holds ids of documents"),
        (json!({ "min_score": "abc" }), invalid, "filters.min_score is a number from 0 to 1"),
        (json!({ "min_score": 5 }), invalid, "filters.min_score is a number from 0 to 1"),
        (json!({ "tags_any": "mysql" }), invalid, "filters.tags_any is a list"),
        (json!({ "tags_all": [["a"]] }), invalid, "filters.tags_all holds texts"),
        (json!({ "post_type_ids": ["1"] }), invalid, "filters.post_type_ids holds whole numbers"),
        (json!({ "created_after": "soon" }), invalid, "filters.created_after is a moment"),
        (json!({ "created_before": 5 }), invalid, "filters.created_before is a moment"),
        (json!({ "metadata": { "a": { "near": 1 } } }), invalid, "filters.metadata.a"),
        (json!({ "metadata": { "a": null } }), invalid, "filters.metadata.a"),
        (json!({ "metadata": { "a\"] or [\"b": 1 } }), invalid, "filters.metadata"),
        (json!({ "metadata": [] }), invalid, "filters.metadata is an object"),
        (json!("all"), invalid, "filters"),
    ];
    for (filters, code, words) in cases {
        for tool in ["rag_search_fts", "rag_search_vector", "rag_search_hybrid"] {
            let query = if tool == "rag_search_vector" { "query_text" } else { "query" };
            let (found, message) = acme.slip(tool, json!({ query: "days", "filters": filters })).await;
            assert!(found == code && message.contains(words), "{tool} {filters}: {found} {message}");
        }
    }
    acme.service.stop().await;
}
