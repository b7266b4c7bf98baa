//! What the outside sees, as it was accepted: tools, prompts and templates in both eras, every error, and what other
//! platforms are told of the tools. The whole OpenAPI documents are files of their own, `openapi/`, held equal by the
//! tests of the architecture.
//!
//! After a change that is meant: `INSTA_UPDATE=always cargo test --locked --test it -- outside`, delete the files that
//! the test then names, read the difference as one who has written a client, and commit it.

mod errors;

use std::collections::{BTreeMap, BTreeSet};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use dragoman::gateway::operation::Toolset;
use dragoman::model::access::Role;
use reqwest::Response;
use serde_json::{Map, Value, json};

use crate::sessions;
use crate::support::service::{Service, json_of};

/// What is seen, by the name of its file.
type Seen = BTreeMap<String, Value>;

#[tokio::test(flavor = "multi_thread")]
async fn what_the_outside_sees_is_what_was_accepted() {
    let mut seen = Seen::new();
    let eras = Eras::start().await;
    eras.beginnings(&mut seen).await;
    eras.items("tools/list", "tools", "name", &mut seen).await;
    eras.other_platforms(&mut seen).await;
    eras.items("prompts/list", "prompts", "name", &mut seen).await;
    eras.items("resources/templates/list", "resourceTemplates", "name", &mut seen).await;
    eras.filled_prompts(&mut seen).await;
    seen.insert("errors".into(), errors::table());
    seen.insert("errors_oauth".into(), errors::oauth().await);
    seen.insert("refusals".into(), errors::refusals(&eras).await);
    hold(&seen);
}

/// Compares each with its file in `snapshots/`. A file that nothing is compared with is none of them.
fn hold(seen: &Seen) {
    let mut settings = insta::Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| {
        for (name, value) in seen {
            insta::assert_snapshot!(name.as_str(), serde_json::to_string_pretty(value).unwrap());
        }
    });
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/outside/snapshots");
    let files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap());
    let known: BTreeSet<String> = seen.keys().map(|name| format!("{name}.snap")).collect();
    let left_over: Vec<String> = files.filter(|file| !known.contains(file)).collect();
    assert!(left_over.is_empty(), "nothing is compared with these any more; delete them: {left_over:?}");
}

/// A workspace with a table and an ontology, and its admin's client in both eras.
struct Eras {
    service: Service,
    token: String,
    session: String,
    /// What is another in every run, and what stands for it.
    changing: Vec<(String, &'static str)>,
    dataset: String,
    ontology: String,
}

const ONTOLOGY: &str = "version: 0.2.0.dev0\nname: shop\ndatasets:\n  - name: orders\n    source: orders\n    \
                        primary_key: [id]\n    fields:\n      - name: id\n        expression: {dialects: [{dialect: \
                        ANSI_SQL, expression: id}]}\n        datatype: Integer\n      - name: euros\n        \
                        expression: {dialects: [{dialect: ANSI_SQL, expression: euros}]}\n        datatype: \
                        Integer\nmetrics:\n  - name: revenue\n    \
                        expression: {dialects: [{dialect: ANSI_SQL, expression: SUM(orders.euros)}]}\n    datatype: \
                        Integer\n";

impl Eras {
    async fn start() -> Self {
        let service = Service::start().await;
        let org = service.workspace("acme").await;
        let (_, token) = service.member(&org, "ann@example.com", Role::Admin).await;
        service.import(&org, "orders.csv", b"id,euros\n1,10\n2,20\n", true).await.unwrap();
        let id = |value: &Value| value.as_str().unwrap_or_else(|| panic!("{value}")).to_owned();
        let (_, listed) = json_of(service.get("/api/v1/ext/datasets", &token).send().await.unwrap()).await;
        let dataset = id(&listed["datasets"][0]["id"]);
        let (_, kept) = service.manage(&token, "POST", "/ontologies", Some(json!({ "text": ONTOLOGY }))).await;
        let ontology = id(&kept["ontology"]["ontology_id"]);
        let (_, checked) = service.manage(&token, "POST", &format!("/ontologies/{ontology}/check"), None).await;
        assert_eq!(checked["ontology"]["status"], "ready", "{checked}");
        let session = sessions::open(&service, &token).await;
        // Links have the address once more, each in its own writing.
        let address = service.url("");
        let in_link: String = url::form_urlencoded::byte_serialize(address.as_bytes()).collect();
        let in_config = STANDARD.encode(json!({ "url": service.url("/mcp") }).to_string());
        let changing = vec![
            (address, "https://dragoman.example"),
            (in_link, "https%3A%2F%2Fdragoman.example"),
            (in_config, "<config>"),
            (dataset.clone(), "<dataset>"),
            (ontology.clone(), "<ontology>"),
            (format!("\"version\":\"{}\"", env!("CARGO_PKG_VERSION")), "\"version\":\"<version>\""),
        ];
        Self { service, token, session, changing, dataset, ontology }
    }

    /// A value without what is another in every run.
    fn plain(&self, value: &Value) -> Value {
        let text = self.changing.iter().fold(value.to_string(), |text, (from, to)| text.replace(from, to));
        serde_json::from_str(&forget_requests(&text)).unwrap()
    }

    /// What the revision without sessions answers.
    async fn modern(&self, method: &str, params: Value) -> Value {
        let response = self.service.rpc(&self.token, method, params).send().await.unwrap();
        self.plain(&json_of(response).await.1)
    }

    /// What the revisions with sessions answer.
    async fn older(&self, method: &str, params: Value) -> Value {
        let message = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let response = sessions::send(&self.service, &self.token, Some(&self.session), message).await;
        self.plain(&told(response).await)
    }

    /// How a conversation begins: what the service says of itself.
    async fn beginnings(&self, seen: &mut Seen) {
        let params = json!({
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "old", "version": "1" },
        });
        let message = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params });
        let begun = told(sessions::send(&self.service, &self.token, None, message).await).await;
        seen.insert("initialize".into(), self.plain(&begun));
        seen.insert("discover".into(), self.modern("server/discover", json!({})).await);
    }

    /// A list: a file for each item, one more where the older era has it otherwise, and one for what is around them.
    async fn items(&self, method: &str, kind: &str, name: &str, seen: &mut Seen) {
        let mut around = Map::new();
        let mut all: Vec<Vec<Value>> = Vec::new();
        let answers =
            [("modern", self.modern(method, json!({})).await), ("older", self.older(method, json!({})).await)];
        for (era, mut answer) in answers {
            let items = answer["result"][kind].as_array_mut().unwrap_or_else(|| panic!("{method}: no {kind}"));
            let names: Vec<Value> = items.iter().map(|item| item[name].clone()).collect();
            all.push(std::mem::replace(items, names));
            around.insert(era.into(), answer);
        }
        seen.insert(kind.into(), Value::Object(around));
        let file = |item: &Value| {
            format!("{kind}_{}", item[name].as_str().unwrap().replace(|c: char| !c.is_ascii_alphanumeric(), "_"))
        };
        for older in all[1].iter().filter(|item| !all[0].contains(item)) {
            seen.insert(format!("{}_older", file(older)), older.clone());
        }
        for modern in &all[0] {
            let twice = seen.insert(file(modern), modern.clone());
            assert!(twice.is_none(), "two items are {}", file(modern));
        }
    }

    /// Tools that only an address offers which names their set, and how platforms without MCP are told of all tools.
    async fn other_platforms(&self, seen: &mut Seen) {
        let address = format!("/mcp?toolsets={}", Toolset::ALL.map(Toolset::name).join(","));
        let listed = self.service.rpc_at(&address, &self.token, "tools/list", json!({})).send().await.unwrap();
        let listed = self.plain(&json_of(listed).await.1);
        for tool in listed["result"]["tools"].as_array().unwrap() {
            seen.entry(format!("tools_{}", tool["name"].as_str().unwrap())).or_insert_with(|| tool.clone());
        }
        for file in ["openapi.actions.json", "functions/openai.json", "functions/anthropic.json"] {
            let path = format!("/api/v1/ext/{file}");
            let (status, document) = json_of(self.service.get(&path, &self.token).send().await.unwrap()).await;
            assert_eq!(status, 200, "{path}: {document}");
            seen.insert(file.trim_end_matches(".json").replace(['.', '/'], "_"), self.plain(&document));
        }
    }

    /// Each prompt as it is filled in; the platforms are those that its argument lists.
    async fn filled_prompts(&self, seen: &mut Seen) {
        let listed = self.modern("prompts/list", json!({})).await;
        let prompts = listed["result"]["prompts"].as_array().unwrap();
        for prompt in prompts {
            let (name, argument) = (prompt["name"].as_str().unwrap(), &prompt["arguments"][0]);
            let values: Vec<&str> = match name {
                "ask_about" => vec![&self.ontology],
                "explore_dataset" => vec![&self.dataset],
                "connect_client" => argument["description"].as_str().unwrap().split(", ").collect(),
                missing => panic!("{missing}: say here how it is filled in"),
            };
            let argument = argument["name"].as_str().unwrap();
            let mut filled = Map::new();
            for value in values {
                let params = json!({ "name": name, "arguments": { argument: value } });
                let told = self.modern("prompts/get", params.clone()).await;
                let older = self.older("prompts/get", params).await;
                assert_eq!(told["result"]["messages"], older["result"]["messages"], "{name}");
                let value = self.plain(&value.into());
                filled.insert(value.as_str().unwrap().into(), told["result"].clone());
            }
            seen.insert(format!("prompt_{name}"), Value::Object(filled));
        }
    }
}

/// A message of the eras with sessions: in a stream, or alone where the library did not see the request.
async fn told(response: Response) -> Value {
    let kind = response.headers()["content-type"].to_str().unwrap().to_owned();
    if kind.starts_with("text/event-stream") { sessions::message(response).await } else { json_of(response).await.1 }
}

/// The id of a request is another each time, also in a text that has JSON in it.
fn forget_requests(text: &str) -> String {
    let mut parts = text.split("request_id");
    let mut told = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let value = part.trim_start_matches(['\\', '"', ':', ' ']);
        let before = &part[..part.len() - value.len()];
        told.extend(["request_id", before]);
        // `"request_id":"x"` and `\"request_id\":\"x\"`, not `"request_id":{…}` of a schema.
        let is_text = before.contains(':') && before.matches('"').count() == 2;
        let end = value.find(['\\', '"']).filter(|_| is_text).unwrap_or_default();
        told.extend([if is_text { "<request>" } else { "" }, &value[end..]]);
    }
    told
}

#[test]
fn ids_of_requests_are_forgotten_and_nothing_else() {
    let text = r#"{"request_id":"01","text":"{\"request_id\": \"02\"}","properties":{"request_id":{"type":"string"}},"required":["request_id"]}"#;
    let told = text.replace("01", "<request>").replace("02", "<request>");
    assert_eq!(forget_requests(text), told);
}
