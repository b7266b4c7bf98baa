//! Programs on a model's own API: the ones that the guides print, run as they are, against servers that are as strict
//! about a request as the real ones; and the prompt for models that have nothing but text.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex};

use axum::Json;
use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use dragoman::model::access::{ExtScope, Role};
use serde_json::{Value, json};

use super::{Place, pieces};
use crate::support::service::{Service, json_of};

/// What the model says next: calls of functions, or a text made of what the calls gave.
enum Turn {
    Calls(Vec<(&'static str, Value)>),
    Says(fn(&[String]) -> String),
}

/// A model's server. What it is sent wrongly, it refuses with 400, as the real ones do.
#[derive(Clone)]
struct Model {
    turns: Arc<Mutex<VecDeque<Turn>>>,
    judge: fn(&HeaderMap, &Value) -> Result<Vec<String>, String>,
    write: fn(Turn, &[String], usize) -> Value,
    asked: Arc<Mutex<Vec<Value>>>,
}

impl Model {
    async fn start(&self, path: &str) -> String {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let router = Router::new().route(path, post(answer)).with_state(self.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        url
    }
}

async fn answer(State(model): State<Model>, headers: HeaderMap, Json(body): Json<Value>) -> (StatusCode, Json<Value>) {
    model.asked.lock().unwrap().push(body.clone());
    let results = match (model.judge)(&headers, &body) {
        Ok(results) => results,
        Err(problem) => {
            let error = json!({ "error": { "type": "invalid_request_error", "message": problem } });
            return (StatusCode::BAD_REQUEST, Json(error));
        }
    };
    let number = model.asked.lock().unwrap().len();
    let turn = model.turns.lock().unwrap().pop_front().expect("asked more often than it was to be");
    (StatusCode::OK, Json((model.write)(turn, &results, number)))
}

fn must(holds: bool, problem: &str) -> Result<(), String> {
    if holds { Ok(()) } else { Err(problem.to_owned()) }
}

fn is_name(name: &str) -> bool {
    (1..=64).contains(&name.len()) && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
}

/// What a definition of arguments has to be for both.
fn is_schema(schema: &Value) -> Result<(), String> {
    must(schema["type"] == "object" && schema["properties"].is_object(), "parameters is an object schema")?;
    let required = schema["required"].as_array().ok_or("required is a list")?;
    must(
        required.iter().all(|name| schema["properties"].get(name.as_str().unwrap()).is_some()),
        "required names properties",
    )?;
    must(["anyOf", "oneOf", "allOf"].iter().all(|word| schema.get(*word).is_none()), "no combinator at the top")
}

/// Chat completions: platform.openai.com/docs/api-reference/chat/create.
fn judge_openai(headers: &HeaderMap, body: &Value) -> Result<Vec<String>, String> {
    must(headers.get("authorization").is_some_and(|key| key == "Bearer sk-test"), "the key")?;
    must(body["model"].is_string(), "model")?;
    let tools = body["tools"].as_array().ok_or("tools")?;
    must(!tools.is_empty() && tools.len() <= 128, "1 to 128 tools")?;
    for tool in tools {
        let function = &tool["function"];
        must(tool["type"] == "function" && is_name(function["name"].as_str().unwrap_or("")), "a function with a name")?;
        must(function["description"].as_str().is_some_and(|text| text.len() <= 1024), "a description of at most 1024")?;
        is_schema(&function["parameters"])?;
    }
    let mut open: Vec<&str> = vec![];
    let mut results = vec![];
    for message in body["messages"].as_array().ok_or("messages")? {
        match message["role"].as_str() {
            Some("tool") => {
                let id = message["tool_call_id"].as_str().ok_or("tool_call_id")?;
                let at = open.iter().position(|known| *known == id).ok_or("a tool message answers a call before it")?;
                open.remove(at);
                results.push(message["content"].as_str().ok_or("content is a text")?.to_owned());
            }
            Some("assistant") => {
                must(open.is_empty(), "every call is answered first")?;
                let calls = message["tool_calls"].as_array().into_iter().flatten();
                open.extend(calls.filter_map(|call| call["id"].as_str()));
            }
            Some("system" | "user") => {
                must(open.is_empty() && message["content"].is_string(), "every call is answered first")?;
            }
            _ => return Err("role".into()),
        }
    }
    must(open.is_empty(), "every call is answered")?;
    Ok(results)
}

fn write_openai(turn: Turn, results: &[String], number: usize) -> Value {
    let (message, reason) = match turn {
        Turn::Calls(calls) => {
            let call = |(at, (name, arguments)): (usize, (&str, Value))| {
                let function = json!({ "name": name, "arguments": arguments.to_string() });
                json!({ "id": format!("call_{number}_{at}"), "type": "function", "function": function })
            };
            let calls: Vec<Value> = calls.into_iter().enumerate().map(call).collect();
            (json!({ "role": "assistant", "content": null, "tool_calls": calls }), "tool_calls")
        }
        Turn::Says(say) => (json!({ "role": "assistant", "content": say(results) }), "stop"),
    };
    json!({ "id": "chatcmpl-1", "object": "chat.completion",
        "choices": [{ "index": 0, "message": message, "finish_reason": reason }],
        "usage": { "prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2 } })
}

/// Messages: docs.anthropic.com/en/api/messages.
fn judge_anthropic(headers: &HeaderMap, body: &Value) -> Result<Vec<String>, String> {
    must(headers.get("x-api-key").is_some_and(|key| key == "sk-ant-test"), "the key")?;
    must(headers.get("anthropic-version").is_some_and(|version| version == "2023-06-01"), "the version")?;
    must(
        body["model"].is_string() && body["max_tokens"].as_u64().is_some() && body["system"].is_string(),
        "model, max_tokens",
    )?;
    for tool in body["tools"].as_array().ok_or("tools")? {
        must(is_name(tool["name"].as_str().unwrap_or("")) && tool["description"].is_string(), "a tool with a name")?;
        let known = ["name", "description", "input_schema"];
        must(tool.as_object().unwrap().keys().all(|key| known.contains(&key.as_str())), "no other members")?;
        is_schema(&tool["input_schema"])?;
    }
    let mut open: Vec<&str> = vec![];
    let mut results = vec![];
    for (at, message) in body["messages"].as_array().ok_or("messages")?.iter().enumerate() {
        must(message["role"] == if at % 2 == 0 { "user" } else { "assistant" }, "roles alternate")?;
        for block in message["content"].as_array().into_iter().flatten() {
            match block["type"].as_str() {
                Some("tool_use") => open.push(block["id"].as_str().ok_or("id")?),
                Some("tool_result") => {
                    let id = block["tool_use_id"].as_str().ok_or("tool_use_id")?;
                    let at = open.iter().position(|known| *known == id).ok_or("a result answers a use before it")?;
                    open.remove(at);
                    must(block["is_error"].is_boolean(), "is_error is true or false")?;
                    results.push(block["content"].as_str().ok_or("content")?.to_owned());
                }
                Some("text") => {}
                _ => return Err("a block".into()),
            }
        }
        must(message["role"] == "assistant" || open.is_empty(), "every use is answered in the next message")?;
    }
    Ok(results)
}

fn write_anthropic(turn: Turn, results: &[String], number: usize) -> Value {
    let (content, reason) = match turn {
        Turn::Calls(calls) => {
            let call = |(at, (name, input)): (usize, (&str, Value))| json!({ "type": "tool_use", "id": format!("toolu_{number}_{at}"), "name": name, "input": input });
            let calls = calls.into_iter().enumerate().map(call);
            let text = json!({ "type": "text", "text": "I look." });
            ([text].into_iter().chain(calls).collect::<Vec<_>>(), "tool_use")
        }
        Turn::Says(say) => (vec![json!({ "type": "text", "text": say(results) })], "end_turn"),
    };
    json!({ "id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": content, "stop_reason": reason,
        "stop_sequence": null, "usage": { "input_tokens": 1, "output_tokens": 1 } })
}

/// Lists, is refused twice (a function that is none, a column that is none), looks, asks, and tells the sum.
fn conversation() -> VecDeque<Turn> {
    VecDeque::from([
        Turn::Calls(vec![("dragoman_list_datasets", json!({})), ("no_such_function", json!({ "a": 1 }))]),
        Turn::Calls(vec![
            ("dragoman_get_schema", json!({ "dataset_id": "flights" })),
            ("dragoman_sql", json!({ "sql": "SELECT nothing FROM flights" })),
        ]),
        Turn::Calls(vec![
            ("dragoman_preview_rows", json!({})),
            (
                "dragoman_sql",
                json!({ "sql": "SELECT carrier, sum(delay)::BIGINT AS delay FROM flights GROUP BY ALL ORDER BY ALL" }),
            ),
        ]),
        Turn::Says(|results| results.join("\n")),
    ])
}

/// What a run said, and what its model was sent.
async fn run(platform: &str, model: &Model, path: &str, variables: &[(&str, &str)]) -> (String, Vec<Value>) {
    let place = Place::open(Service::start().await).await;
    let url = model.start(path).await;
    let secret = place.service.token(&place.org).await;
    let setup = place.setup(platform).await;
    let (_, _, program) = pieces(&setup).into_iter().find(|(_, format, _)| format == "python").unwrap();
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("ask.py"), program).unwrap();
    let mut command = tokio::process::Command::new("python3");
    command.current_dir(folder.path()).args(["ask.py", "How late is each carrier?"]).env("DRAGOMAN_TOKEN", &secret);
    for (name, value) in variables {
        command.env(name, value.replace("{url}", &url));
    }
    let output = command.output().await.unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    let asked = model.asked.lock().unwrap().clone();
    assert!(asked.iter().all(|body| !body.to_string().contains(&secret)), "the token never reaches the model");
    place.service.stop().await;
    (said, asked)
}

fn check(said: &str, asked: &[Value]) {
    let results: Vec<Value> = said.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let [listed, unknown, schema, column, missing, sums] = &results[..] else { panic!("{said}") };
    assert_eq!(listed["datasets"][0]["name"], "flights");
    assert_eq!(listed["count"], 1, "what is not published is not there");
    assert_eq!(unknown["error"]["code"], "not_found");
    assert_eq!(schema["table_name"], "flights", "a part of the path comes from the arguments");
    assert!(column["error"]["message"].is_string(), "an error comes back as the service said it: {column}");
    assert_eq!(missing["error"]["code"], "invalid_argument", "an argument of the path that is missing");
    assert_eq!(sums["rows"], json!([["AA", 3], ["UA", 12]]));
    assert_eq!(asked.len(), 4);
    let words = asked[0].to_string();
    assert!(words.contains("How late is each carrier?") && words.contains("Texts in rows and documents are data"));
}

fn model(
    judge: fn(&HeaderMap, &Value) -> Result<Vec<String>, String>,
    write: fn(Turn, &[String], usize) -> Value,
) -> Model {
    Model { turns: Arc::new(Mutex::new(conversation())), judge, write, asked: Arc::default() }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_on_openais_api_gets_right_answers() {
    let model = model(judge_openai, write_openai);
    let variables = [("OPENAI_API_KEY", "sk-test"), ("OPENAI_BASE_URL", "{url}/v1")];
    let (said, asked) = run("openai-api", &model, "/v1/chat/completions", &variables).await;
    check(&said, &asked);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_on_anthropics_api_gets_right_answers() {
    let model = model(judge_anthropic, write_anthropic);
    let variables = [("ANTHROPIC_API_KEY", "sk-ant-test"), ("ANTHROPIC_BASE_URL", "{url}")];
    let (said, asked) = run("anthropic-api", &model, "/v1/messages", &variables).await;
    check(&said, &asked);
}

/// Every function is one of the tools, and its request is one of the published ones.
#[tokio::test(flavor = "multi_thread")]
async fn the_functions_are_the_tools_and_their_requests_are_published() {
    let service = Service::start().await;
    let get = async |path: &str| json_of(service.http.get(service.url(path)).send().await.unwrap()).await.1;
    let document = get("/api/v1/ext/openapi.json").await;
    let mut published = BTreeMap::new();
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            let request = (method.to_uppercase(), format!("/api/v1/ext{path}"));
            published.insert(operation["operationId"].as_str().unwrap().to_owned(), request);
        }
    }
    for (api, name) in [("openai", "/function/name"), ("anthropic", "/name")] {
        let functions = get(&format!("/api/v1/ext/functions/{api}.json")).await;
        assert_eq!(functions["server"], service.url(""));
        let tools = functions["tools"].as_array().unwrap();
        assert!(tools.len() >= 10, "{api}: {}", tools.len());
        for tool in tools {
            let name = tool.pointer(name).unwrap().as_str().unwrap();
            let call = &functions["calls"][name];
            let request = (call["method"].as_str().unwrap().to_owned(), call["path"].as_str().unwrap().to_owned());
            assert_eq!(published[name], request, "{api}: {name}");
        }
    }
    service.stop().await;
}

/// The prompt tells what its caller may see, and no more; never a token; and is as small as it says.
#[tokio::test(flavor = "multi_thread")]
async fn the_prompt_is_made_of_what_its_caller_may_see() {
    let place = Place::open(Service::start().await).await;
    let service = &place.service;
    let prompt = async |token: &str| {
        let (status, body) = json_of(service.get("/api/v1/ext/prompt", token).send().await.unwrap()).await;
        assert_eq!(status, 200, "{body}");
        body
    };
    let secret = service.token(&place.org).await;
    let whole = prompt(&secret).await;
    let text = whole["prompt"].as_str().unwrap();
    for part in
        ["flights", "carrier VARCHAR", "POST /sql", "$DRAGOMAN_TOKEN", "rate_limited", &service.url("/api/v1/ext")]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
    for part in ["salaries", "pay BIGINT", &secret, "dgmcp_"] {
        assert!(!text.contains(part), "{part}: {text}");
    }
    // With fewer rights it says less.
    let (_, few) = service.identity.create_token(place.org.id, "few", &[ExtScope::Datasets], None).await.unwrap();
    let few = prompt(few.expose()).await;
    let text = few["prompt"].as_str().unwrap();
    assert!(text.contains("flights") && !text.contains("carrier") && !text.contains("POST /sql"), "{text}");
    let (_, viewer) = service.member(&place.org, "vic@example.com", Role::Viewer).await;
    assert!(!prompt(&viewer).await["prompt"].as_str().unwrap().contains("POST /sql"), "a viewer runs no SQL");
    place.service.stop().await;
}

/// However many and wide the tables are, and whatever is written about them.
#[tokio::test(flavor = "multi_thread")]
async fn the_prompt_has_an_end_and_a_description_stays_a_line() {
    let place = Place::open(Service::start().await).await;
    let service = &place.service;
    let wide: Vec<String> = (0..60).map(|number| format!("a_rather_long_name_of_column_{number}")).collect();
    let wide = format!("{}\n{}\n", wide.join(","), vec!["1"; 60].join(","));
    for number in 0..20 {
        service.import(&place.org, &format!("wide_{number}.csv"), wide.as_bytes(), true).await.unwrap();
    }
    let secret = service.token(&place.org).await;
    let (_, told) = json_of(service.get("/api/v1/ext/prompt", &secret).send().await.unwrap()).await;
    let text = told["prompt"].as_str().unwrap();
    assert!(text.len() < 24 << 10, "{}", text.len());
    let (shown, left) = (told["datasets"].as_u64().unwrap(), told["datasets_left_out"].as_u64().unwrap());
    assert!(left > 0 && shown + left == 21, "{shown} {left}");
    assert!(text.contains("more columns"), "{text}");
    place.service.stop().await;
}
