//! A list of tools that was answered before is answered by the same bytes, and a plain call goes past the protocol
//! library; whatever is asked in another way, or by somebody who may do other things, does not.

use dragoman::model::access::{ExtScope, Role, Scope};
use dragoman::store;
use http::HeaderMap;
use reqwest::RequestBuilder;
use serde_json::{Value, json};

use crate::support::service::{Service, bytes_of, json_of};

/// Status, headers that are the answer's own, and the body.
async fn listed(
    service: &Service,
    token: &str,
    id: Value,
    change: impl Fn(&mut Value, &mut HeaderMap),
) -> (u16, HeaderMap, String) {
    sent(service.rpc(token, "tools/list", json!({})), id, change).await
}

async fn sent(
    request: RequestBuilder,
    id: Value,
    change: impl Fn(&mut Value, &mut HeaderMap),
) -> (u16, HeaderMap, String) {
    let mut request = request.build().unwrap();
    let mut body: Value = serde_json::from_slice(request.body().unwrap().as_bytes().unwrap()).unwrap();
    body["id"] = id;
    change(&mut body, request.headers_mut());
    *request.body_mut() = Some(body.to_string().into());
    let response = crate::support::service::http().execute(request).await.unwrap();
    let (status, mut headers) = (response.status().as_u16(), response.headers().clone());
    for one in ["x-request-id", "date", "content-length"] {
        headers.remove(one);
    }
    (status, headers, response.text().await.unwrap())
}

fn same(_: &mut Value, _: &mut HeaderMap) {}

async fn rows(service: &Service, org: &dragoman::model::org::Org) -> Vec<dragoman::model::audit::Entry> {
    let newest = store::audit::newest(&service.db, Some(org.id), 100).await.unwrap();
    newest.into_iter().map(|(_, entry)| entry).filter(|entry| entry.action == "mcp.tools.list").collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_answered_again_is_what_the_library_answers_and_is_on_the_record_each_time() {
    Service::both(async |service| {
        let org = service.workspace("acme").await;
        let token = service.token(&org).await;
        let ids =
            [json!(1), json!(2), json!("2"), json!("a \"b\" \u{e9}\\"), json!(-7), json!(9_007_199_254_740_993_i64)];
        let (status, headers, first) = listed(&service, &token, ids[0].clone(), same).await;
        assert_eq!(status, 200, "{first}");
        let rest = first.strip_prefix(r#"{"jsonrpc":"2.0","id":1,"#).unwrap();
        for id in &ids[1..] {
            let expected = format!(r#"{{"jsonrpc":"2.0","id":{id},{rest}"#);
            assert_eq!(listed(&service, &token, id.clone(), same).await, (200, headers.clone(), expected), "{id}");
        }
        assert_eq!(rows(&service, &org).await.len(), ids.len());
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn another_client_other_rights_and_another_way_to_ask_are_told_apart() {
    let service = Service::start().await;
    let org = service.workspace("acme").await;
    let token = service.token(&org).await;
    let names = |text: &str| -> Vec<String> {
        let said: Value = serde_json::from_str(text).unwrap();
        said["result"]["tools"]
            .as_array()
            .unwrap()
            .iter()
            .map(|tool| tool["name"].as_str().unwrap().to_owned())
            .collect()
    };
    let mut seen = Vec::new();
    // Twice: what the first round put by is not given to another in the second.
    for _ in 0..2 {
        let (_, few) = service.identity.create_token(org.id, "few", &[ExtScope::Datasets], None).await.unwrap();
        let reader = service.access_token(&org, Role::Viewer, &[Scope::DataRead]).await;
        for bearer in [token.as_str(), few.expose(), &reader] {
            let (status, _, text) = listed(&service, bearer, json!(1), same).await;
            assert_eq!(status, 200, "{text}");
            seen.push(names(&text));
        }
    }
    assert_eq!(seen[..3], seen[3..]);
    assert!(seen[0].contains(&"dragoman_sql".to_owned()) && !seen[1].contains(&"dragoman_sql".to_owned()), "{seen:?}");
    assert!(!seen[2].contains(&"dragoman_sql".to_owned()), "a viewer runs no SQL: {seen:?}");

    let narrow = service.rpc_at("/mcp?toolsets=rag", &token, "tools/list", json!({})).send().await.unwrap();
    assert!(!narrow.text().await.unwrap().contains(r#""name":"dragoman_sql""#));

    let client = |name: &'static str| {
        move |body: &mut Value, _: &mut HeaderMap| {
            let info = json!({ "name": name, "version": "7" });
            body["params"]["_meta"]["io.modelcontextprotocol/clientInfo"] = info;
        }
    };
    for name in ["First", "Second", "First"] {
        assert_eq!(listed(&service, &token, json!(1), client(name)).await.0, 200);
        let newest = &rows(&service, &org).await[0];
        assert_eq!((newest.client.as_str(), newest.client_version.as_str()), (name, "7"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_library_refuses_it_refuses_after_good_answers_too() {
    let service = Service::start().await;
    let org = service.workspace("acme").await;
    let token = service.token(&org).await;
    let header = |name: &'static str, value: &'static str| {
        move |_: &mut Value, headers: &mut HeaderMap| {
            headers.insert(name, value.parse().unwrap());
        }
    };
    type Change = Box<dyn Fn(&mut Value, &mut HeaderMap)>;
    let wrong: [(u16, Change); 6] = [
        (403, Box::new(header("host", "evil.example"))),
        (403, Box::new(header("origin", "https://evil.example"))),
        (406, Box::new(header("accept", "text/html"))),
        (415, Box::new(header("content-type", "text/plain"))),
        (400, Box::new(header("mcp-method", "tools/call"))),
        (200, Box::new(|body, _| body["params"]["cursor"] = json!("page-2"))),
    ];
    let mut before = Vec::new();
    for round in 0..2 {
        for (at, (expected, change)) in wrong.iter().enumerate() {
            let (status, _, text) = listed(&service, &token, json!(1), change).await;
            assert_eq!(status, *expected, "{at}: {text}");
            assert!(!text.contains("\"tools\""), "{at}: {text}");
            match round {
                0 => before.push(status),
                _ => assert_eq!(before[at], status),
            }
        }
        assert_eq!(listed(&service, &token, json!(1), same).await.0, 200);
    }
    service.identity.set_connectivity(org.id, false).await.unwrap();
    let (status, said) = json_of(service.rpc(&token, "tools/list", json!({})).send().await.unwrap()).await;
    assert_eq!((status, &said["error"]["data"]["error"]["code"]), (503, &json!("service_unavailable")), "{said}");
}

/// What differs between two answers to one question: their ids, and the time that they took.
fn timeless(text: &str) -> String {
    let is_id = |word: &str| word.len() == 36 && word.matches('-').count() == 4;
    let words: Vec<&str> = text.split(['"', '\\']).collect();
    let masked = words.iter().enumerate().map(|(at, word)| match *word {
        word if is_id(word) => "ID",
        word if at > 1 && words[at - 1].is_empty() && words[at - 2] == "execution_ms" => {
            word.trim_matches(|c: char| c.is_ascii_digit() || c == ':')
        }
        word if at > 0 && words[at - 1] == "execution_ms" => {
            word.trim_matches(|c: char| c.is_ascii_digit() || c == ':')
        }
        word => word,
    });
    masked.collect::<Vec<_>>().join("|")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_goes_past_the_library_is_answered_as_by_the_library() {
    Service::both(async |service| {
        let org = service.workspace("acme").await;
        service.import(&org, "orders.csv", b"id,amount\n1,10\n2,32\n", true).await.unwrap();
        let token = service.token(&org).await;
        // Where the log is asked for the library answers, though it has nothing so grave to tell.
        let by_library = |body: &mut Value, _: &mut HeaderMap| {
            body["params"]["_meta"]["io.modelcontextprotocol/logLevel"] = json!("emergency");
        };
        for (name, arguments, is_error) in [
            ("dragoman_list_datasets", json!({}), false),
            ("dragoman_sql", json!({ "sql": "SELECT sum(amount) AS \"a \u{e9}\", NULL AS n FROM orders" }), false),
            ("dragoman_sql", json!({ "sql": "SELECT * FROM absent" }), true),
            ("dragoman_sql", json!({ "sql": "COPY orders TO '/tmp/x'" }), true),
            ("dragoman_sql", json!({ "sgl": "SELECT 1" }), true),
            ("dragoman_get_schema", json!({ "dataset_id": "nonsense" }), true),
        ] {
            let call = || service.rpc(&token, "tools/call", json!({ "name": name, "arguments": arguments }));
            let mut seen = Vec::new();
            for id in [json!(1), json!(2), json!("three")] {
                for library in [false, true] {
                    let (status, headers, text) = match library {
                        true => sent(call(), id.clone(), by_library).await,
                        false => sent(call(), id.clone(), same).await,
                    };
                    let said: Value = serde_json::from_str(&text).unwrap();
                    assert_eq!(
                        (status, &said["id"], said["result"]["isError"] == true),
                        (200, &id, is_error),
                        "{text}"
                    );
                    let recorded = service.last_audit(&org).await.bytes;
                    let sent = if is_error { 0 } else { bytes_of(&said["result"]) };
                    assert_eq!(recorded, i64::try_from(sent).unwrap(), "{text}");
                    let head = format!(r#"{{"jsonrpc":"2.0","id":{id},"#);
                    seen.push((headers, timeless(text.strip_prefix(&head).unwrap())));
                }
            }
            assert!(seen.iter().all(|one| *one == seen[0]), "{name} {arguments}: {seen:#?}");
            let newest = store::audit::newest(&service.db, Some(org.id), 6).await.unwrap();
            let outcomes =
                newest.iter().filter(|(_, entry)| entry.action == "mcp.tool.call" && entry.target.starts_with(name));
            assert_eq!(outcomes.filter(|(_, entry)| (entry.outcome != "ok") == is_error).count(), 6, "{newest:#?}");
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_hangs_up_cancels_a_call_that_goes_past_the_library() {
    let service = Service::start().await;
    let org = service.workspace("acme").await;
    let token = service.token(&org).await;
    let sql =
        |sql: &str| service.rpc(&token, "tools/call", json!({ "name": "dragoman_sql", "arguments": { "sql": sql } }));
    assert_eq!(sent(sql("SELECT 1"), json!(1), same).await.0, 200);
    let long = "SELECT count(*) FROM range(10000000000) a WHERE hash(a.range) = 7";
    let impatient = tokio::time::timeout(std::time::Duration::from_millis(300), sent(sql(long), json!(2), same)).await;
    assert!(impatient.is_err());
    let outcome = async {
        loop {
            let newest = service.last_audit(&org).await;
            if newest.target.contains("range(10000000000)") {
                return newest.outcome;
            }
            tokio::task::yield_now().await;
        }
    };
    let outcome = tokio::time::timeout(std::time::Duration::from_secs(5), outcome).await.unwrap();
    assert_ne!(outcome, "ok");
}
