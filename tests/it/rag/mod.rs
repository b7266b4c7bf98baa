//! Retrieval for agents that search on their own: ways of searching, filters, pages, content by id, rows by key.

mod buckets;
mod content;
mod filters;
mod folders;
mod places;
mod renew;
mod silent;
mod sites;
mod sync;
mod tenants;
mod turns;

use dragoman::gateway::operation::Toolset;
use dragoman::model::access::Role;
use dragoman::model::org::Org;
use dragoman::ops::import::{IfExists, Import, Staged};
use serde_json::{Value, json};

use crate::support::operations::tools_in;
use crate::support::service::{Service, json_of, operator};

const RETURNS: &str = "---\ntags: [Policy, shop]\ndate: 2022-03-01\nauthor: Ann\nScore: 12\nPostTypeId: 1\n---\n# Shop \
                       rules\n\n## Returns\n\nGoods may be sent back within thirty days for their full \
                       price.\n\n## Delivery\n\nParcels leave the store every day; thirty of them in the days before \
                       Christmas.\n";
const FLIGHTS: &str = "---\ntags: travel\ndate: 2024-05-05T10:00:00Z\nauthor: Bob O'Neil\nScore: 3\nPostTypeId: \
                       2\n---\n# Flights\n\nMany planes left late in July because of thunderstorms.\n";
const LUNCH: &str = "The canteen opens at noon and serves soup on Fridays.";
const ZURICH: &str = "Das Büro in Zürich liegt am See. 東京 のオフィスは駅の近くです。";

/// A workspace with two datasets of documents, one that no client sees, and a table.
pub struct Acme {
    pub service: Service,
    pub org: Org,
    pub token: String,
}

impl Acme {
    pub async fn open(service: Service) -> Self {
        let org = service.workspace("acme").await;
        let (_, token) = service.member(&org, "ann@example.com", Role::Contributor).await;
        let acme = Self { service, org, token };
        acme.import("handbook", &[("returns.md", RETURNS), ("flights.md", FLIGHTS), ("lunch.txt", LUNCH)], true).await;
        acme.import("offices", &[("zurich.txt", ZURICH)], true).await;
        acme.import("plans", &[("merger.txt", "The merger closes within thirty days of May.")], false).await;
        acme
    }

    pub async fn import(&self, name: &str, files: &[(&str, &str)], publish: bool) {
        self.bring(name, files, publish, IfExists::default()).await;
    }

    /// Adds texts to a dataset; one of a name that is there takes its place.
    pub async fn append(&self, name: &str, files: &[(&str, &str)]) {
        self.bring(name, files, false, IfExists::Append).await;
    }

    async fn bring(&self, name: &str, files: &[(&str, &str)], publish: bool, if_exists: IfExists) {
        let folder = tempfile::tempdir().unwrap();
        let staged = files.iter().enumerate().map(|(at, (file, text))| {
            let path = folder.path().join(at.to_string());
            std::fs::write(&path, text).unwrap();
            Staged { name: (*file).into(), path }
        });
        let op = Import { name: Some(name.into()), publish, if_exists, files: staged.collect(), ..Import::default() };
        self.service.gateway.call(&operator(&self.org), op, dragoman::gateway::Via::new("admin.call")).await.unwrap();
    }

    /// The reply of a tool that works.
    pub async fn ask(&self, name: &str, arguments: Value) -> Value {
        let (failed, body) = self.service.tool(&self.token, name, arguments.clone()).await;
        assert!(!failed, "{name} {arguments}: {body}");
        assert!(body["stats"]["ms"].is_u64(), "{body}");
        body
    }

    /// Code and message of a call that is refused.
    pub async fn slip(&self, name: &str, arguments: Value) -> (String, String) {
        let (failed, body) = self.service.tool(&self.token, name, arguments.clone()).await;
        assert!(failed, "{name} {arguments}: {body}");
        let text = |key: &str| body["error"][key].as_str().unwrap().to_owned();
        (text("code"), text("message"))
    }
}

/// The source files of results, best first.
pub fn files(reply: &Value) -> Vec<&str> {
    reply["results"].as_array().unwrap().iter().map(|hit| hit["metadata"]["source_file"].as_str().unwrap()).collect()
}

/// A result's text at a key.
pub fn text<'v>(hit: &'v Value, key: &str) -> &'v str {
    hit[key].as_str().unwrap_or_else(|| panic!("{key}: {hit}"))
}

fn fraction(value: &Value) -> f64 {
    let score = value.as_f64().unwrap();
    assert!((0.0..=1.0).contains(&score), "{score}");
    score
}

#[tokio::test(flavor = "multi_thread")]
async fn three_ways_of_searching_answer_in_one_shape_with_their_scores() {
    Service::both(async |service| {
        let acme = Acme::open(service).await;
        let words = acme.ask("rag_search_fts", json!({ "query": "thunderstorms July" })).await;
        assert_eq!(files(&words), ["flights.md"], "only what shares a word: {words}");
        let best = &words["results"][0];
        assert!(best["score_fts_raw"].as_f64().unwrap() > 0.0 && best.get("score_vec").is_none(), "{best}");
        assert_eq!((fraction(&best["score"]), &best["title"]), (fraction(&best["score_fts"]), &json!("Flights")));

        let meaning = acme.ask("rag_search_vector", json!({ "query_text": "delayed aircraft and bad weather" })).await;
        assert_eq!((files(&meaning)[0], files(&meaning).len()), ("flights.md", 7), "{meaning}");
        let best = &meaning["results"][0];
        assert!(best["score_vec_raw"].is_f64() && best.get("score_fts").is_none(), "{best}");

        let query = "can I get my money back within thirty days";
        for arguments in [
            json!({ "query": query }),
            json!({ "query": query, "fuse": { "w_fts": 0.7, "w_vec": 0.3, "fts_k": 50, "vec_k": 50 } }),
            json!({ "query": query, "mode": "fuse", "fuse": { "rrf_k0": 60, "w_fts": 0.5 } }),
            json!({ "query": query, "mode": "fts_then_vec", "fts_then_vec": { "candidates_k": 50, "vec_metric": "cosine" } }),
        ] {
            let mut arguments = arguments;
            arguments["return"] = json!({ "include_debug": true });
            let both = acme.ask("rag_search_hybrid", arguments.clone()).await;
            let hits = both["results"].as_array().unwrap();
            assert_eq!(hits[0]["metadata"]["heading"], "Shop rules > Returns", "{arguments}: {both}");
            assert!(hits.windows(2).all(|pair| fraction(&pair[0]["score"]) >= fraction(&pair[1]["score"])), "{both}");
            assert!(hits[0]["debug"]["rank_fts"].is_u64() && hits[0]["debug"]["rank_vec"].is_u64(), "{both}");
            let mode = if arguments["mode"] == "fts_then_vec" { "fts_then_vec" } else { "fuse" };
            assert_eq!((&both["stats"]["mode"], &both["stats"]["k_returned"]), (&json!(mode), &json!(hits.len())));
            assert_eq!(both, acme.again("rag_search_hybrid", arguments, &both).await, "the same in the same order");
        }
        acme.service.stop().await;
    })
    .await;
}

impl Acme {
    /// The same call once more, with what is new in every answer as it was.
    async fn again(&self, name: &str, arguments: Value, before: &Value) -> Value {
        let mut reply = self.ask(name, arguments).await;
        reply["request_id"] = before["request_id"].clone();
        reply["stats"]["ms"] = before["stats"]["ms"].clone();
        reply
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn any_text_is_a_query_and_phrases_and_fields_narrow_it() {
    let acme = Acme::open(Service::start().await).await;
    for query in [
        "json_extract mysql?", "C++", "what's up", "error: 1064", "foo-bar", "mysql 8.0", "NOT", "\"unbalanced",
        "DELETE statement", "a;b", "--", "🚀", "東京", "' OR 1=1 --", "title:", "*", "\"", "(((", "a AND OR b",
    ] {
        for tool in ["rag_search_fts", "rag_search_hybrid"] {
            acme.ask(tool, json!({ "query": query })).await;
        }
    }
    let found = async |query: &str| {
        let reply = acme.ask("rag_search_fts", json!({ "query": query })).await;
        let heading = |hit: &Value| hit["metadata"]["heading"].as_str().unwrap().to_owned();
        let headings = reply["results"].as_array().unwrap().iter().map(heading);
        headings.collect::<std::collections::BTreeSet<_>>().into_iter().collect::<Vec<_>>()
    };
    assert_eq!(found("thirty days").await, ["Shop rules > Delivery", "Shop rules > Returns"]);
    assert_eq!(found("\"Thirty Days\"").await, ["Shop rules > Returns"], "one after the other, in either case");
    assert_eq!(found("\"days thirty\"").await, [""; 0]);
    assert_eq!(found("heading:delivery days").await, ["Shop rules > Delivery"]);
    // What the document says of itself is a passage of it too, without a heading.
    assert_eq!(found("title:flights").await, ["", "Flights"], "words that stand in the title alone are enough");
    assert_eq!(found("file:flights.md \"planes left\"").await, ["Flights"]);
    assert_eq!(found("title:nothing late planes").await, [""; 0]);
    assert_eq!(files(&acme.ask("rag_search_fts", json!({ "query": "\"zurich liegt\"" })).await), ["zurich.txt"]);
    assert_eq!(files(&acme.ask("rag_search_hybrid", json!({ "query": "\"東京\"" })).await), ["zurich.txt"]);
    // Stop words have no weight, and a row of them is found all the same.
    assert_eq!(files(&acme.ask("rag_search_fts", json!({ "query": "\"because of\"" })).await), ["flights.md"]);
    acme.service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_snippet_shows_the_words_and_a_group_is_the_best_of_each_document() {
    let acme = Acme::open(Service::start().await).await;
    let show = json!({ "include_snippets": true, "include_metadata": false, "include_title": false });
    let reply = acme.ask("rag_search_fts", json!({ "query": "planes THUNDERSTORM", "return": show })).await;
    let hit = &reply["results"][0];
    let snippet = text(&hit["snippet"], "text");
    let marked: Vec<String> = hit["snippet"]["highlights"]
        .as_array()
        .unwrap()
        .iter()
        .map(|place| {
            let [from, to] = [0, 1].map(|at| place[at].as_u64().unwrap() as usize);
            snippet.chars().skip(from).take(to - from).collect()
        })
        .collect();
    assert_eq!(marked, ["planes", "thunderstorms"], "as the words are stemmed: {hit}");
    assert!(hit.get("title").is_none() && hit.get("metadata").is_none(), "{hit}");

    let one_each = acme.ask("rag_search_fts", json!({ "query": "thirty days", "group_by": "document" })).await;
    assert_eq!(files(&one_each), ["returns.md"]);
    let all = acme.ask("rag_search_vector", json!({ "query_text": "rules", "group_by": "document" })).await;
    let mut names = files(&all);
    names.sort_unstable();
    assert_eq!(names, ["flights.md", "lunch.txt", "returns.md", "zurich.txt"]);
    acme.service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn more_like_a_chunk_a_document_or_a_vector() {
    let acme = Acme::open(Service::start().await).await;
    let words = acme.ask("rag_search_fts", json!({ "query": "heading:returns goods" })).await;
    let (chunk, document) = (text(&words["results"][0], "chunk_id"), text(&words["results"][0], "doc_id"));
    let like_chunk = acme.ask("rag_search_vector", json!({ "like": chunk })).await;
    let ids: Vec<&str> = like_chunk["results"].as_array().unwrap().iter().map(|hit| text(hit, "chunk_id")).collect();
    assert!(ids.len() == 6 && !ids.contains(&chunk), "{like_chunk}");
    assert_eq!(text(&like_chunk["results"][0], "doc_id"), document, "its neighbour is nearest");
    let like_document = acme.ask("rag_search_vector", json!({ "like": document })).await;
    assert!(!files(&like_document).contains(&"returns.md") && files(&like_document).len() == 4, "{like_document}");

    let stats = acme.ask("rag_admin_stats", json!({})).await;
    let (model, dim) = (&stats["encoder"]["model"], stats["encoder"]["dim"].as_u64().unwrap());
    let encoded = |values: Vec<f32>| {
        use base64::Engine as _;
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        json!({ "dim": dim, "values_b64": base64::engine::general_purpose::STANDARD.encode(bytes) })
    };
    let some: Vec<f32> = (0..dim).map(|at| (at as f32).sin() * 3.0).collect();
    let near = json!({ "query_embedding": encoded(some.clone()), "embedding": { "model": model } });
    let near = acme.ask("rag_search_vector", near).await;
    assert!(near["results"].as_array().unwrap().len() == 7, "{near}");
    let mut broken = some;
    broken[3] = f32::NAN;
    for (arguments, word) in [
        (json!({ "query_embedding": encoded(broken) }), "finite"),
        (json!({ "query_embedding": encoded(vec![0.0; dim as usize]) }), "not all 0"),
        (json!({ "query_embedding": encoded(vec![1.0; 3]) }), "12 bytes"),
        (json!({ "query_embedding": { "dim": 3, "values_b64": "AAAA" } }), "dim 3"),
        (json!({ "query_text": "x", "embedding": { "model": "other" } }), "not with other"),
        (json!({ "query_text": "x", "like": chunk }), "exactly one"),
        (json!({}), "exactly one"),
        (json!({ "like": "nothing" }), "like is"),
    ] {
        let (code, message) = acme.slip("rag_search_vector", arguments.clone()).await;
        assert!(code == "invalid_argument" && message.contains(word), "{arguments}: {message}");
    }
    let absent = format!("{}#0", dragoman::base::id::Id::<()>::new(&acme.service.clock));
    assert_eq!(acme.slip("rag_search_vector", json!({ "like": absent })).await.0, "document_not_found");
    acme.service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_follow_each_other_without_a_gap_and_a_cursor_is_of_one_search() {
    Service::both(async |service| {
        let acme = Acme::open(service).await;
        let twins: Vec<(String, String)> = (0..30)
            .map(|at| (format!("{at:02}.txt"), format!("Twin text {}.", if at % 3 == 0 { "odd" } else { "even" })))
            .collect();
        let twins: Vec<(&str, &str)> = twins.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
        acme.import("twins", &twins, true).await;
        let ask = |tool: &str| match tool {
            "rag_search_vector" => {
                json!({ "query_text": "odd twin", "k": 7, "filters": { "source_names": ["twins"] } })
            }
            _ => json!({ "query": "odd twin", "k": 7, "filters": { "source_names": ["twins"] } }),
        };
        for tool in ["rag_search_fts", "rag_search_vector", "rag_search_hybrid"] {
            let mut all = Vec::new();
            let mut arguments = ask(tool);
            loop {
                let page = acme.ask(tool, arguments.clone()).await;
                all.extend(page["results"].as_array().unwrap().iter().map(|hit| text(hit, "chunk_id").to_owned()));
                assert_eq!(page["truncated"] == true, page["next_cursor"].is_string(), "{page}");
                let Some(next) = page["next_cursor"].as_str() else { break };
                arguments["cursor"] = next.into();
            }
            assert_eq!(all.len(), 30, "{tool}");
            assert_eq!(all.iter().collect::<std::collections::BTreeSet<_>>().len(), 30, "{tool}");
            let mut whole = ask(tool);
            whole["k"] = 50.into();
            let whole = acme.ask(tool, whole).await;
            let whole: Vec<&str> =
                whole["results"].as_array().unwrap().iter().map(|hit| text(hit, "chunk_id")).collect();
            assert_eq!(all, whole, "{tool}: pages are parts of one order");
            let mut later = ask(tool);
            later["offset"] = 28.into();
            let later = acme.ask(tool, later).await;
            assert_eq!((later["results"].as_array().unwrap().len(), &later["truncated"]), (2, &json!(false)));
        }
        let first = acme.ask("rag_search_fts", ask("rag_search_fts")).await;
        let cursor = text(&first, "next_cursor");
        for (arguments, word) in [
            (json!({ "query": "even twin", "cursor": cursor }), "not one of this listing"),
            (json!({ "query": "odd twin", "cursor": cursor }), "not one of this listing"),
            (json!({ "query": "odd twin", "cursor": "garbage" }), "not one of this listing"),
            (json!({ "query": "odd twin", "cursor": cursor, "offset": 1 }), "not both"),
            (json!({ "query": "odd twin", "offset": 500 }), "go to 500"),
        ] {
            let (code, message) = acme.slip("rag_search_fts", arguments.clone()).await;
            assert!(code == "invalid_argument" && message.contains(word), "{arguments}: {message}");
        }
        // New data are another listing: a page of both would miss some and repeat others.
        acme.import("twins", &twins[..20], true).await;
        let mut stale = ask("rag_search_fts");
        stale["cursor"] = cursor.into();
        let (_, message) = acme.slip("rag_search_fts", stale).await;
        assert!(message.contains("have changed since"), "{message}");
        acme.service.stop().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn limits_hold_and_say_which_they_are() {
    let acme = Acme::open(Service::start().await).await;
    let long = "é".repeat(4_097);
    for (tool, arguments, word) in [
        ("rag_search_fts", json!({ "query": long }), "8192 bytes"),
        ("rag_search_fts", json!({ "query": " " }), "1 to 8192"),
        ("rag_search_fts", json!({ "query": "x", "k": 0 }), "1 to 50"),
        ("rag_search_fts", json!({ "query": "x", "k": 51 }), "1 to 50"),
        ("rag_search_fts", json!({ "query": "x", "k": -1 }), "k"),
        ("rag_search_fts", json!({ "query": "x", "offset": -1 }), "offset"),
        ("rag_search_fts", json!({ "query": "x", "return": { "include_titel": true } }), "Did you mean include_title?"),
        (
            "rag_search_hybrid",
            json!({ "query": "x", "fuse": { "fts_k": 501 } }),
            "fuse.fts_k is a number from 1 to 500",
        ),
        ("rag_search_hybrid", json!({ "query": "x", "fuse": { "w_fts": 0, "w_vec": 0 } }), "more than 0"),
        ("rag_search_hybrid", json!({ "query": "x", "fuse": { "w_fts": -0.1 } }), "fuse.w_fts"),
        ("rag_search_hybrid", json!({ "query": "x", "mode": "fts_then_vec", "fuse": {} }), "\"mode\": \"fuse\""),
        ("rag_search_hybrid", json!({ "query": "x", "mode": "best" }), "mode"),
        ("rag_get_chunks", json!({ "chunk_ids": [] }), "1 to 50"),
        ("rag_get_docs", json!({ "doc_ids": vec!["x"; 51] }), "1 to 50"),
    ] {
        let (code, message) = acme.slip(tool, arguments.clone()).await;
        assert!(code == "invalid_argument" && message.contains(word), "{tool}: {message}");
    }
    acme.ask("rag_search_fts", json!({ "query": "é".repeat(4_096) })).await;
    acme.service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_tools_are_listed_where_their_set_is_named_and_called_anywhere_in_either_spelling() {
    let acme = Acme::open(Service::start().await).await;
    let listed = async |address: &str| {
        let request = acme.service.rpc_at(address, &acme.token, "tools/list", json!({}));
        let (_, body) = json_of(request.send().await.unwrap()).await;
        let tools = body["result"]["tools"].as_array().unwrap().clone();
        tools.iter().map(|tool| text(tool, "name").to_owned()).collect::<Vec<String>>()
    };
    let rag = tools_in(Toolset::Rag, Role::Contributor);
    assert!(rag.contains(&"rag_search_fts"), "{rag:?}");
    assert_eq!(listed("/mcp?toolsets=rag").await, rag);
    assert!(!listed("/mcp").await.iter().any(|name| name.starts_with("rag_")));
    acme.ask("rag.search_fts", json!({ "query": "soup" })).await;
    acme.ask("rag.admin.stats", json!({})).await;
    let path = "/api/v1/ext/rag/search_hybrid";
    let request = acme.service.post(path, &acme.token).json(&json!({ "query": "warm soup at noon", "k": 1 }));
    let (status, body) = json_of(request.send().await.unwrap()).await;
    assert_eq!((status, files(&body)), (200, vec!["lunch.txt"]), "{body}");
    let (status, body) =
        json_of(acme.service.get("/api/v1/ext/rag/admin_stats", &acme.token).send().await.unwrap()).await;
    assert_eq!(status, 200, "{body}");
    let sources: Vec<(&str, &Value, &Value)> = body["sources"]
        .as_array()
        .unwrap()
        .iter()
        .map(|source| (text(source, "source_name"), &source["docs"], &source["chunks"]))
        .collect();
    // Counted apart, and not their product.
    assert_eq!(sources, [("handbook", &json!(3), &json!(6)), ("offices", &json!(1), &json!(1))], "{body}");
    acme.service.stop().await;
}
