//! Long calls of clients that know tasks (MCP, Tasks extension): answered with a handle, asked for later, and nobody else's.

mod away;
mod ends;
mod nodes;

use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use dragoman::model::org::Org;
use dragoman::store;
use reqwest::RequestBuilder;
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use crate::support::databases::postgres_url;
use crate::support::service::{Service, json_of};

/// Longer than any test.
pub const ENDLESS: &str = "SELECT count(*) FROM range(100000000000) a, range(1000) b";
/// A query without an end holds the one place for SQL for five seconds, and then gives way to who waits: longer than a call
/// needs to become a task.
pub const ONE_PLACE: [(&str, &str); 3] =
    [("DRAGOMAN_SQL_SECONDS", "600"), ("DRAGOMAN_SQL_WORKERS", "1"), ("DRAGOMAN_SQL_KNOWN_MB", "0")];
const NEVER: &str = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

/// What a client says that it can.
pub fn knows_tasks() -> Value {
    json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } })
}

/// A request of the revision without sessions, by a client that can so much.
pub fn request(service: &Service, token: &str, method: &str, mut params: Value, can: &Value) -> RequestBuilder {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": can,
        "io.modelcontextprotocol/clientInfo": { "name": "patient", "version": "1" },
    });
    let named = params.get("name").or_else(|| params.get("taskId")).and_then(Value::as_str).unwrap_or_default();
    // What does not fit into a header.
    let named = match named.is_ascii() {
        true => named.to_owned(),
        false => format!("=?base64?{}?=", STANDARD.encode(named)),
    };
    let request = service
        .post("/mcp", token)
        .header("accept", "application/json, text/event-stream")
        .header("mcp-protocol-version", "2026-07-28")
        .header("mcp-method", method)
        .header("mcp-name", named);
    request.json(&json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }))
}

/// What a client that knows tasks is told.
pub async fn told(service: &Service, token: &str, method: &str, params: Value) -> Value {
    let sent = request(service, token, method, params, &knows_tasks()).send().await.unwrap();
    let (status, body) = json_of(sent).await;
    assert_eq!(status, 200, "{body}");
    body
}

pub fn call(sql: &str) -> Value {
    json!({ "name": "dragoman_sql", "arguments": { "sql": sql } })
}

/// Somebody's query without an end, which lasts until it is aborted.
pub fn endless(service: &Service, token: &str) -> JoinHandle<reqwest::Result<reqwest::Response>> {
    let request = service.rpc(token, "tools/call", call(ENDLESS));
    tokio::spawn(request.send())
}

/// Calls until the call becomes a task: as soon as another's query holds the one place.
pub async fn waiting(service: &Service, token: &str) -> Value {
    waiting_for(service, token, "SELECT 1 AS one", &json!([[1]])).await
}

/// The same for any statement, with its rows.
pub async fn waiting_for(service: &Service, token: &str, sql: &str, rows: &Value) -> Value {
    for _ in 0..50 {
        let body = told(service, token, "tools/call", call(sql)).await;
        if body["result"]["resultType"] == "task" {
            return body["result"].clone();
        }
        assert_eq!(&body["result"]["structuredContent"]["rows"], rows, "{body}");
    }
    panic!("the endless query never began");
}

/// Begins a query without an end, and gives the id of its task.
pub async fn endless_task(service: &Service, token: &str) -> String {
    let body = told(service, token, "tools/call", call(ENDLESS)).await;
    assert_eq!(body["result"]["resultType"], "task", "{body}");
    body["result"]["taskId"].as_str().unwrap().to_owned()
}

/// Polls until a task is so far.
pub async fn reaches(service: &Service, token: &str, id: &str, status: &str) -> Value {
    let polled = async {
        loop {
            let body = told(service, token, "tasks/get", json!({ "taskId": id })).await;
            let now = body["result"]["status"].as_str().unwrap_or_else(|| panic!("{body}")).to_owned();
            if now == status {
                return body["result"].clone();
            }
            assert_eq!(now, "working", "{body}");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), polled).await.unwrap_or_else(|_| panic!("it is never {status}"))
}

/// The outcomes of a workspace's calls of a tool on the record, newest first.
pub async fn outcomes(service: &Service, org: &Org, target: &str) -> Vec<String> {
    let entries = store::audit::newest(&service.db, Some(org.id), 100).await.unwrap().into_iter();
    let calls = entries.filter(|(_, entry)| entry.action == "mcp.tool.call" && entry.target.starts_with(target));
    calls.map(|(_, entry)| entry.outcome).collect()
}

/// How many tasks are kept.
pub async fn kept(service: &Service) -> i64 {
    let mut all = service.db.read_everyone().await.unwrap();
    sqlx::query_scalar("SELECT COUNT(*) FROM tasks").fetch_one(&mut *all).await.unwrap()
}

/// On SQLite and on PostgreSQL, with one place for SQL.
pub async fn both(test: impl AsyncFn(Service)) {
    test(Service::with(&ONE_PLACE).await).await;
    let url = postgres_url().await;
    test(Service::with(&[&ONE_PLACE[..], &[("DATABASE_URL", url.as_str())]].concat()).await).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_call_is_a_task_whose_result_is_asked_for_until_its_time_is_over() {
    both(async |service| {
        let org = service.workspace("acme").await;
        let (token, other) = (service.token(&org).await, service.token(&org).await);
        let short = told(&service, &token, "tools/call", call("SELECT 2 AS two")).await;
        assert_eq!(short["result"]["resultType"], "complete", "{short}");
        assert_eq!((&short["result"]["structuredContent"]["rows"], kept(&service).await), (&json!([[2]]), 0));

        let busy = endless(&service, &other);
        let made = waiting(&service, &token).await;
        let id = made["taskId"].as_str().unwrap();
        assert_eq!((&made["status"], &made["ttlMs"]), (&json!("working"), &json!(3_600_000)), "{made}");
        assert!(made["pollIntervalMs"].is_u64() && made["createdAt"].is_string(), "{made}");
        assert!(made["_meta"]["io.modelcontextprotocol/serverInfo"]["name"].is_string(), "{made}");
        for absent in ["task", "result", "requestState", "content"] {
            assert!(made.get(absent).is_none(), "{made}");
        }
        let state = told(&service, &token, "tasks/get", json!({ "taskId": id })).await;
        assert_eq!(
            (&state["result"]["status"], &state["result"]["resultType"]),
            (&json!("working"), &json!("complete"))
        );
        // It waits for nothing: whatever it is told changes nothing.
        let fed = json!({ "taskId": id, "inputResponses": { "clarification_1": { "action": "decline" } } });
        assert_eq!(told(&service, &token, "tasks/update", fed).await["result"], json!({ "resultType": "complete" }));

        // Who does not know tasks waits for the answer, and is told what it would take.
        let patient = tokio::spawn(service.rpc(&token, "tools/call", call("SELECT 3 AS three")).send());
        let undeclared = service.rpc(&token, "tasks/get", json!({ "taskId": id })).header("mcp-name", id).send().await;
        let (status, body) = json_of(undeclared.unwrap()).await;
        let needed = &body["error"]["data"]["requiredCapabilities"]["extensions"];
        assert_eq!((status, &body["error"]["code"]), (400, &json!(-32021)), "{body}");
        assert!(needed["io.modelcontextprotocol/tasks"].is_object(), "{body}");

        busy.abort();
        let done = reaches(&service, &token, id, "completed").await;
        assert_eq!(done["result"]["structuredContent"]["rows"], json!([[1]]), "{done}");
        assert!(done["result"]["content"][0]["text"].as_str().unwrap().contains("[[1]]"), "{done}");
        let (_, waited) = json_of(patient.await.unwrap().unwrap()).await;
        assert_eq!(waited["result"]["structuredContent"]["rows"], json!([[3]]), "{waited}");
        assert_eq!(outcomes(&service, &org, "dragoman_sql SELECT 3").await, ["ok"]);
        let calls = outcomes(&service, &org, "dragoman_sql SELECT 1").await;
        assert!(calls.iter().all(|outcome| outcome == "ok"), "{calls:?}");
        // What is over stays as it is.
        let ack = told(&service, &token, "tasks/cancel", json!({ "taskId": id })).await;
        assert_eq!(ack["result"], json!({ "resultType": "complete" }));
        assert_eq!(reaches(&service, &token, id, "completed").await, done);

        service.clock.advance(Duration::from_secs(59 * 60));
        assert_eq!(reaches(&service, &token, id, "completed").await["result"], done["result"]);
        service.clock.advance(Duration::from_secs(60));
        let gone = told(&service, &token, "tasks/get", json!({ "taskId": id })).await;
        let never = told(&service, &token, "tasks/get", json!({ "taskId": NEVER })).await;
        assert_eq!((&gone["error"]["code"], &gone["error"]["message"]), (&json!(-32602), &never["error"]["message"]));
        assert_eq!(kept(&service).await, 1);
        service.identity.sweep().await.unwrap();
        assert_eq!(kept(&service).await, 0);
        service.stop().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_of_another_is_one_that_never_was() {
    both(async |service| {
        let (acme, elsewhere) = (service.workspace("acme").await, service.workspace("other").await);
        let token = service.token(&acme).await;
        let (colleague, stranger) = (service.token(&acme).await, service.token(&elsewhere).await);
        let id = endless_task(&service, &token).await;
        // Without the ids of the requests, which always differ.
        let refused = async |token: &str, method: &str, id: &str| {
            let params = json!({ "taskId": id, "inputResponses": {} });
            let mut body = told(&service, token, method, params).await;
            body["error"]["data"].as_object_mut().unwrap_or_else(|| panic!("{method}")).remove("request_id");
            body
        };
        for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
            let never = refused(&token, method, NEVER).await;
            assert_eq!(never["error"]["code"], -32602, "{never}");
            assert_eq!(never["error"]["data"]["error"]["code"], "not_found", "{never}");
            for (who, id) in
                [(&colleague, id.as_str()), (&stranger, &id), (&stranger, NEVER), (&token, "x"), (&token, "é\u{0}")]
            {
                let params = json!({ "taskId": id, "inputResponses": {} });
                let asked = request(&service, who, method, params, &knows_tasks());
                let (_, mut body) = json_of(asked.send().await.unwrap()).await;
                body["error"]["data"].as_object_mut().unwrap_or_else(|| panic!("{method}")).remove("request_id");
                assert_eq!(body, never, "{method} {id}");
            }
        }
        let entry = service.last_audit(&acme).await;
        let row = (entry.action.as_str(), entry.target.as_str(), entry.outcome.as_str());
        assert_eq!(row, ("mcp.task", "tasks/cancel", "not_found"));
        // Nobody has disturbed it.
        let state = told(&service, &token, "tasks/get", json!({ "taskId": id })).await;
        assert_eq!(state["result"]["status"], "working", "{state}");
        let (status, body) = json_of(service.rpc(&token, "tasks/get", json!({ "x": 1 })).send().await.unwrap()).await;
        assert_eq!((status, &body["error"]["code"]), (400, &json!(-32021)), "whoever does not know them: {body}");
        for wrong in [json!({}), json!({ "taskId": 5 })] {
            let sent =
                request(&service, &token, "tasks/get", wrong, &knows_tasks()).header("mcp-name", "").send().await;
            let (_, body) = json_of(sent.unwrap()).await;
            assert_eq!(body["error"]["code"], -32602, "{body}");
            assert!(body["error"]["message"].as_str().unwrap().contains("taskId is a text"), "{body}");
        }
        service.stop().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_has_as_many_tasks_as_may_be_waits_for_the_answer() {
    let service = Service::with(&ONE_PLACE).await;
    let org = service.workspace("acme").await;
    let (token, other) = (service.token(&org).await, service.token(&org).await);
    let busy = endless(&service, &other);
    let made = waiting(&service, &token).await;
    let mut tx = service.db.tenant(org.id).await.unwrap();
    // Nineteen more like it.
    let sql = "INSERT INTO tasks (org_id, id, credential, tool, status, message, outcome, cancelled, node, leased_until, \
               created_at, updated_at, expires_at) SELECT org_id, id || $1, credential, tool, 'completed', message, \
               outcome, cancelled, node, leased_until, created_at, updated_at, expires_at FROM tasks WHERE id = $2";
    for number in 0..19 {
        let query = sqlx::query(sql).bind(number.to_string()).bind(made["taskId"].as_str().unwrap());
        query.execute(&mut *tx).await.unwrap();
    }
    tx.commit().await.unwrap();
    busy.abort();
    let busy = endless(&service, &other);
    let mut waited = Duration::ZERO;
    // Longer than a call needs to become a task: until the endless query gives way.
    while waited < Duration::from_secs(4) {
        let started = Instant::now();
        let answered = told(&service, &token, "tools/call", call("SELECT 4 AS four")).await;
        assert_eq!(answered["result"]["structuredContent"]["rows"], json!([[4]]), "{answered}");
        waited = started.elapsed();
    }
    busy.abort();
    let busy = endless(&service, &other);
    let colleague = service.token(&org).await;
    assert_eq!(waiting(&service, &colleague).await["status"], "working", "others have places of their own");
    busy.abort();
    service.stop().await;
}

/// Puts so many tasks more beside one, of other credentials, all of them over.
async fn others(service: &Service, org: &Org, beside: &str, count: usize) {
    let mut tx = service.db.tenant(org.id).await.unwrap();
    let sql = "INSERT INTO tasks (org_id, id, credential, tool, status, message, outcome, cancelled, node, leased_until, \
               created_at, updated_at, expires_at) SELECT org_id, id || $1, credential || $1, tool, 'completed', \
               message, outcome, cancelled, node, leased_until, created_at, updated_at, expires_at FROM tasks \
               WHERE id = $2";
    for number in 0..count {
        let query = sqlx::query(sql).bind(format!("-{number}")).bind(beside);
        query.execute(&mut *tx).await.unwrap();
    }
    tx.commit().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_workspace_has_two_hundred_tasks_and_who_comes_then_waits_for_the_answer() {
    both(async |service| {
        let (org, next_door) = (service.workspace("acme").await, service.workspace("next").await);
        let (token, colleague) = (service.token(&org).await, service.token(&org).await);
        let (other, stranger) = (service.token(&org).await, service.token(&next_door).await);
        let busy = endless(&service, &other);
        let made = waiting(&service, &token).await;
        busy.abort();
        others(&service, &org, made["taskId"].as_str().unwrap(), 198).await;
        let busy = endless(&service, &other);
        assert_eq!(waiting(&service, &colleague).await["status"], "working", "the last place");
        busy.abort();
        assert_eq!(kept(&service).await, 200);
        let busy = endless(&service, &other);
        let mut waited = Duration::ZERO;
        // Longer than a call needs to become a task: until the endless query gives way.
        while waited < Duration::from_secs(4) {
            let started = Instant::now();
            let answered = told(&service, &colleague, "tools/call", call("SELECT 4 AS four")).await;
            assert_eq!(answered["result"]["structuredContent"]["rows"], json!([[4]]), "{answered}");
            waited = started.elapsed();
        }
        busy.abort();
        // Another workspace has places of its own.
        let id = endless_task(&service, &stranger).await;
        told(&service, &stranger, "tasks/cancel", json!({ "taskId": id })).await;
        reaches(&service, &stranger, &id, "cancelled").await;
        // After an hour they make room, swept or not.
        service.clock.advance(Duration::from_secs(3_601));
        let busy = endless(&service, &other);
        assert_eq!(waiting(&service, &colleague).await["status"], "working");
        busy.abort();
        service.stop().await;
    })
    .await;
}
