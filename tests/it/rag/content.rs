//! Content by id: chunks, documents part by part, and rows by key.

use serde_json::{Value, json};

use super::{Acme, text};
use crate::support::service::{Service, json_of};

/// Rows with a key that an ontology names.
const POSTS: &[u8] = b"Id,Title,Score\n7,It's here,5\n8,\"Two \"\"words\"\"\",\n";
const LINES: &[u8] = b"ord,line,what\n1,1,tea\n1,2,milk\n";
const ONTOLOGY: &str = r#"
version: 0.2.0.dev0
name: shop
datasets:
  - name: post
    source: posts
    primary_key: [Id]
    fields:
      - {name: Id, expression: {dialects: [{dialect: ANSI_SQL, expression: "\"Id\""}]}, datatype: Integer}
  - name: item
    source: lines
    primary_key: [ord, line]
    fields:
      - {name: ord, expression: {dialects: [{dialect: ANSI_SQL, expression: ord}]}, datatype: Integer}
      - {name: line, expression: {dialects: [{dialect: ANSI_SQL, expression: line}]}, datatype: Integer}
"#;

#[tokio::test(flavor = "multi_thread")]
async fn chunks_come_in_the_order_that_was_asked_and_what_is_not_there_is_named() {
    Service::both(async |service| {
        let acme = Acme::open(service).await;
        let found = acme.ask("rag_search_vector", json!({ "query_text": "rules", "k": 50 })).await;
        let mut ids: Vec<&str> = found["results"].as_array().unwrap().iter().map(|hit| text(hit, "chunk_id")).collect();
        ids.reverse();
        let injected = "x') UNION SELECT address FROM sources --#0";
        let beyond = format!("{}9", ids[0]);
        let mut asked: Vec<&str> = ids.clone();
        asked.extend([injected, beyond.as_str(), "", ids[0]]);
        let reply = acme.ask("rag_get_chunks", json!({ "chunk_ids": asked })).await;
        let chunks = reply["chunks"].as_array().unwrap();
        assert_eq!(chunks.iter().map(|chunk| text(chunk, "chunk_id")).collect::<Vec<_>>(), ids);
        assert_eq!(reply["not_found"], json!([injected, beyond, ""]));
        assert_eq!((&reply["truncated"], reply.get("left_out")), (&json!(false), None));
        let returns = chunks.iter().find(|chunk| chunk["chunk_metadata"]["heading"] == "Shop rules > Returns").unwrap();
        assert_eq!(returns["body"], "Goods may be sent back within thirty days for their full price.");
        assert_eq!((&returns["title"], &returns["source_name"]), (&json!("Shop rules"), &json!("handbook")));
        let document = &returns["doc_metadata"];
        assert_eq!((&document["source_file"], &document["author"]), (&json!("returns.md"), &json!("Ann")));
        assert_eq!(document["created_at"], "2022-03-01T00:00:00.000Z");
        let plain = json!({ "include_title": false, "include_doc_metadata": false, "include_chunk_metadata": false });
        let plain = acme.ask("rag_get_chunks", json!({ "chunk_ids": [ids[0]], "return": plain })).await;
        let keys: Vec<&String> = plain["chunks"][0].as_object().unwrap().keys().collect();
        assert_eq!(keys, ["chunk_id", "doc_id", "source_id", "source_name", "body"]);
        let (of, body) = (&returns["chunk_metadata"], text(returns, "body"));
        let at = |key: &str| usize::try_from(of[key].as_u64().unwrap()).unwrap();
        assert_eq!(&super::RETURNS[at("start")..at("end")], body);
        let (id, index) = text(returns, "chunk_id").split_once('#').unwrap();
        let url = acme.service.url(&format!("/w/acme/documents/{id}?chunk={index}#passage"));
        assert_eq!(of["url"], json!(url));
        let hit =
            found["results"].as_array().unwrap().iter().find(|hit| hit["chunk_id"] == returns["chunk_id"]).unwrap();
        for key in ["start", "end", "url"] {
            assert_eq!(hit["metadata"][key], of[key], "{key}");
        }
        // A match of the plain search names its chunk too.
        let (_, plain) = acme.service.tool(&acme.token, "dragoman_search", json!({ "query": "goods sent back" })).await;
        let id = text(&plain["matches"][0], "id");
        let old = id.replace('#', ":");
        let reply = acme.ask("rag_get_chunks", json!({ "chunk_ids": [old] })).await;
        assert_eq!(reply["chunks"][0]["body"], plain["matches"][0]["text"]);
        assert_eq!(reply["chunks"][0]["chunk_id"], json!(id), "as it was written once, and as it is");
        acme.service.stop().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_document_is_read_to_its_end_part_by_part() {
    let acme = Acme::open(Service::with(&[("DRAGOMAN_REPLY_BYTES", "8000")]).await).await;
    let long: String = (0..600).map(|at| format!("Line {at} of é and \"quotes\".\n")).collect();
    acme.import("long", &[("long.txt", &long), ("short.txt", "A short one.")], true).await;
    let found = acme.ask("rag_search_fts", json!({ "query": "file:long quotes", "k": 1 })).await;
    let long_id = text(&found["results"][0], "doc_id");
    let found = acme.ask("rag_search_fts", json!({ "query": "file:short one short" })).await;
    let short_id = text(&found["results"][0], "doc_id");
    let mut arguments = json!({ "doc_ids": ["nothing", long_id, short_id] });
    let (mut read, mut pages, mut last) = (String::new(), 0, String::new());
    let mut missing = Vec::new();
    loop {
        let reply = acme.ask("rag_get_docs", arguments.clone()).await;
        assert!(reply.to_string().len() < 8_000);
        missing.extend(reply.get("not_found").cloned());
        for doc in reply["docs"].as_array().unwrap() {
            let body = text(doc, "body");
            match text(doc, "doc_id") == long_id {
                true => {
                    assert_eq!(doc["body_offset"].as_u64().unwrap_or(0) as usize, read.chars().count());
                    read.push_str(body);
                }
                false => last = body.to_owned(),
            }
        }
        pages += 1;
        assert_eq!(reply["truncated"] == true, reply["next_cursor"].is_string());
        let Some(next) = reply["next_cursor"].as_str() else { break };
        arguments["cursor"] = next.into();
    }
    assert!(read == long && pages > 2, "{pages} pages, {} of {} bytes", read.len(), long.len());
    assert_eq!(last, "A short one.");
    assert_eq!(missing, [json!(["nothing"])]);
    let other = json!({ "doc_ids": [short_id], "cursor": arguments["cursor"] });
    assert_eq!(acme.slip("rag_get_docs", other).await.0, "invalid_argument");
    let bare = json!({ "doc_ids": [long_id], "return": { "include_body": false, "include_metadata": false } });
    let bare = acme.ask("rag_get_docs", bare).await;
    let keys: Vec<&String> = bare["docs"][0].as_object().unwrap().keys().collect();
    assert_eq!(keys, ["doc_id", "source_id", "source_name", "title"]);
    acme.service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_document_that_is_replaced_between_two_pages_is_not_read_on() {
    let acme = Acme::open(Service::with(&[("DRAGOMAN_REPLY_BYTES", "8000")]).await).await;
    let long = |word: &str| (0..600).map(|at| format!("Line {at} of {word}.\n")).collect::<String>();
    acme.import("long", &[("long.txt", &long("tea"))], true).await;
    let found = acme.ask("rag_search_fts", json!({ "query": "file:long tea", "k": 1 })).await;
    let mut arguments = json!({ "doc_ids": [found["results"][0]["doc_id"]] });
    let first = acme.ask("rag_get_docs", arguments.clone()).await;
    arguments["cursor"] = first["next_cursor"].clone();
    let second = acme.ask("rag_get_docs", arguments.clone()).await;
    // Another dataset changes nothing of this one's text.
    acme.import("other", &[("other.txt", "Something else.")], true).await;
    assert_eq!(acme.ask("rag_get_docs", arguments.clone()).await["docs"], second["docs"]);
    acme.import("long", &[("long.txt", &long("milk"))], true).await;
    let (code, message) = acme.slip("rag_get_docs", arguments).await;
    assert!(code == "invalid_argument" && message.contains("have changed since"), "{code}: {message}");
    acme.service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_gets_at_once_what_a_model_gets_part_by_part() {
    let acme = Acme::open(Service::start().await).await;
    let long: String = (0..9_000).map(|at| format!("Line {at} of many.\n")).collect();
    acme.import("long", &[("long.txt", &long)], true).await;
    let found = acme.ask("rag_search_fts", json!({ "query": "file:long many", "k": 1 })).await;
    let arguments = json!({ "doc_ids": [found["results"][0]["doc_id"]] });
    let part = acme.ask("rag_get_docs", arguments.clone()).await;
    assert!(part["truncated"] == true && part.to_string().len() < 130_000, "{}", part.to_string().len());
    let (status, whole) =
        json_of(acme.service.post("/api/v1/ext/rag/get_docs", &acme.token).json(&arguments).send().await.unwrap())
            .await;
    assert_eq!((status, &whole["truncated"]), (200, &json!(false)));
    assert_eq!(text(&whole["docs"][0], "body"), long);
    let rest = acme.service.get(&format!("/api/v1/ext/documents/{}", text(&whole["docs"][0], "doc_id")), &acme.token);
    let (_, document) = json_of(rest.send().await.unwrap()).await;
    assert!(document["truncated"] == true && document["parts"] == 2, "what models read too stays small");
    acme.service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_come_by_their_keys_and_each_failure_is_its_own() {
    Service::both(async |service| {
        let acme = Acme::open(service).await;
        for (file, rows) in [("posts.csv", POSTS), ("lines.csv", LINES), ("keyless.csv", b"a\n1\n")] {
            acme.service.import(&acme.org, file, rows, true).await.unwrap();
        }
        acme.service.import(&acme.org, "hidden.csv", b"Id\n1\n", false).await.unwrap();
        let (_, kept) =
            acme.service.manage(&acme.token, "POST", "/ontologies", Some(json!({ "text": ONTOLOGY }))).await;
        let ontology = text(&kept["ontology"], "ontology_id");
        let path = format!("/ontologies/{ontology}/check");
        let (_, checked) = acme.service.manage(&acme.token, "POST", &path, None).await;
        assert_eq!(checked["ontology"]["status"], "ready", "{checked}");

        let found = acme.ask("rag_search_fts", json!({ "query": "soup" })).await;
        let document = text(&found["results"][0], "doc_id").to_owned();
        let injection = "posts:7' OR '1'='1";
        let ids = json!([
            "posts:8",
            "Posts:7",
            "posts:9",
            "posts:x",
            injection,
            "lines:{\"ord\":1,\"line\":\"2\"}",
            "lines:1",
            "keyless:1",
            "hidden:1",
            "pots:7",
            document,
            "posts",
        ]);
        let reply = acme.ask("rag_fetch_from_source", json!({ "doc_ids": ids, "columns": ["Title", "Id"] })).await;
        let rows = reply["rows"].as_array().unwrap();
        assert_eq!(rows.len(), 12);
        let outcome =
            |at: usize| (&rows[at]["row"], text(&rows[at]["error"], "code"), text(&rows[at]["error"], "message"));
        assert_eq!(rows[0]["row"], json!({ "Title": "Two \"words\"", "Id": 8 }), "as they are stored");
        assert_eq!(rows[1]["row"], json!({ "Title": "It's here", "Id": 7 }));
        let first = ["doc_id", "source_name", "backend_type"].map(|key| text(&rows[0], key));
        assert_eq!(first, ["posts:8", "posts", "duckdb"]);
        for (at, code, words) in [
            (2, "document_not_found", "no row 9 in posts"),
            (3, "document_not_found", "no row x in posts"),
            (4, "document_not_found", "no row 7' OR '1'='1 in posts"),
            (5, "invalid_argument", "no column Title in lines"),
            (6, "invalid_argument", "lines:{\"ord\":…,\"line\":…}"),
            (7, "invalid_argument", "No primary key is known of keyless"),
            (8, "dataset_not_found", "no such dataset"),
            (9, "dataset_not_found", "Did you mean posts?"),
            (10, "invalid_argument", "imported from lunch.txt"),
            (11, "invalid_argument", "a table's name, a colon"),
        ] {
            let (row, found, message) = outcome(at);
            assert!(row.is_null() && found == code && message.contains(words), "{at}: {found} {message}");
        }
        let ids = json!(["lines:{\"ord\":1,\"line\":\"2\"}", "keyless:1"]);
        let reply = acme.ask("rag_fetch_from_source", json!({ "doc_ids": ids, "columns": ["what"] })).await;
        assert_eq!(reply["rows"][0]["row"], json!({ "what": "milk" }));
        let ask = |limits: Value| json!({ "doc_ids": ["posts:7", "posts:8"], "columns": ["Id"], "limits": limits });
        for limits in [json!({ "max_rows": 1 }), json!({ "max_bytes": 120 })] {
            let reply = acme.ask("rag_fetch_from_source", ask(limits)).await;
            assert_eq!((reply["rows"].as_array().unwrap().len(), &reply["truncated"]), (1, &json!(true)), "{reply}");
        }
        for (arguments, word) in [
            (json!({ "doc_ids": ["posts:7"], "columns": [] }), "Name 1 to 100 columns"),
            (json!({ "doc_ids": ["posts:7"] }), "columns"),
            (ask(json!({ "max_rows": 0 })), "max_rows"),
            (json!({ "doc_ids": ["posts:7"], "columns": ["Id"], "sql": "DROP TABLE posts" }), "sql"),
        ] {
            let (code, message) = acme.slip("rag_fetch_from_source", arguments).await;
            assert!(code == "invalid_argument" && message.contains(word), "{message}");
        }
        let reply = acme
            .ask("rag_fetch_from_source", json!({ "doc_ids": ["posts:7"], "columns": ["Titel", "\"Id\" --"] }))
            .await;
        let message = text(&reply["rows"][0]["error"], "message");
        assert!(message.contains("Did you mean Title?"), "{message}");
        acme.service.stop().await;
    })
    .await;
}
