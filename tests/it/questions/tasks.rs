//! Questions as tasks, through a real client that knows them: what is asked back within a task, and the answer to it.

use std::time::Duration;

use dragoman::store::Backend;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CancelTaskParams, ClientCapabilities, ClientConfig, GetTaskParams,
    Implementation, InputRequest, TaskPayload, UpdateTaskParams,
};
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use super::Bakery;
use super::mcp::{connect, eras};
use crate::support::databases::postgres_url;
use crate::support::service::{Service, json_of};
use crate::tasks::{knows_tasks, reaches, request, told};

/// "best shop" does not say by what: revenue or pieces.
const OPEN: &str = "Which is the best shop?";

fn patient() -> ClientConfig {
    let can = ClientCapabilities::builder().enable_elicitation().enable_tasks().build();
    ClientConfig::new(can, Implementation::new("patient", "1"))
}

/// Keeps what is asked from being written down for longer than a call needs to become a task.
async fn slowed(service: &Service) -> JoinHandle<()> {
    let mut tx = service.db.begin().await.unwrap();
    if service.db.backend() == Backend::Postgres {
        sqlx::query("LOCK TABLE conversations IN EXCLUSIVE MODE").execute(&mut *tx).await.unwrap();
    }
    tokio::spawn(async move {
        // Less than a lock is waited for.
        tokio::time::sleep(Duration::from_millis(4500)).await;
        drop(tx);
    })
}

async fn a_question_asks_within_its_task(service: Service) {
    let bakery = Bakery::open(service).await;
    let [_, (_, stateless)] = eras();
    let client = connect(&bakery, patient(), stateless).await;
    let arguments = json!({ "ontologyId": bakery.ontology, "question": OPEN });
    let ask = || {
        let params = CallToolRequestParams::new("ask_question").with_arguments(arguments.as_object().unwrap().clone());
        client.call_tool_once(params)
    };
    for answer in [Some("pieces"), None] {
        let slowed = slowed(&bakery.service).await;
        let CallToolResponse::Task(made) = ask().await.unwrap() else { panic!("the question did not wait") };
        let id = made.task.task_id;
        assert_eq!(made.task.status_message.as_deref(), Some("Understanding the question"));
        slowed.await.unwrap();
        let reached = async |is_it: fn(&TaskPayload) -> bool| {
            loop {
                let state = client.get_task(GetTaskParams::new(&id)).await.unwrap();
                if is_it(&state.task.payload) {
                    return state.task.payload;
                }
                assert_eq!(state.task.payload, TaskPayload::Working);
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        };
        let waits = reached(|payload| matches!(payload, TaskPayload::InputRequired { .. }));
        let waits = tokio::time::timeout(Duration::from_secs(60), waits).await.unwrap();
        let TaskPayload::InputRequired { input_requests } = waits else { unreachable!() };
        let [(key, InputRequest::Elicitation(form))] = &input_requests.into_iter().collect::<Vec<_>>()[..] else {
            panic!("one form")
        };
        let form = serde_json::to_value(form).unwrap();
        let options = form["params"]["requestedSchema"]["properties"]["answer_1"]["enum"].as_array().unwrap().clone();
        let update = |responses: Value| {
            let responses = serde_json::from_value(responses).unwrap();
            client.update_task(UpdateTaskParams::new(&id, responses))
        };
        // What it does not wait for is passed over, and what is no answer is refused.
        update(json!({ "clarification": { "action": "decline" } })).await.unwrap();
        let wrong = update(json!({ key: "pieces" })).await.unwrap_err();
        assert!(wrong.to_string().contains("is the answer to a form"), "{wrong}");
        let said = match answer {
            Some(answer) => {
                let option = options.iter().find(|option| option.as_str().unwrap().contains(answer)).unwrap();
                json!({ "action": "accept", "content": { "answer_1": option } })
            }
            None => json!({ "action": "decline" }),
        };
        update(json!({ key: said })).await.unwrap();
        let done = reached(|payload| matches!(payload, TaskPayload::Completed { .. }));
        let TaskPayload::Completed { result } = tokio::time::timeout(Duration::from_secs(60), done).await.unwrap()
        else {
            unreachable!()
        };
        let reply = &result["structuredContent"];
        assert_eq!(reply["outcome"], "answer", "{reply}");
        assert!(reply["table"]["rows"].to_string().contains(r#""Old Mill""#) || answer.is_none(), "{reply}");
        client.cancel_task(CancelTaskParams::new(&id)).await.unwrap();
    }
    client.cancel().await.unwrap();
    bakery.service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_asked_back_within_a_task_is_answered_there() {
    a_question_asks_within_its_task(Service::start().await).await;
    let url = postgres_url().await;
    a_question_asks_within_its_task(Service::with(&[("DATABASE_URL", &url)]).await).await;
}

/// What waits for a person needs no process: another goes on with it.
#[tokio::test(flavor = "multi_thread")]
async fn a_question_that_waits_for_its_answer_outlives_the_process() {
    let folder = tempfile::tempdir().unwrap();
    // Where a table can be locked by itself: on SQLite a connectivity token would wait at the door.
    let url = postgres_url().await;
    let settings = [("DRAGOMAN_DATA_DIR", folder.path().to_str().unwrap()), ("DATABASE_URL", url.as_str())];
    let Bakery { service, org, ontology, .. } = Bakery::open(Service::with(&settings).await).await;
    let token = service.token(&org).await;
    let mut can = knows_tasks();
    can["elicitation"] = json!({});
    let ask = json!({ "name": "ask_question", "arguments": { "ontologyId": ontology, "question": OPEN } });
    let asks = async || {
        let slowed = slowed(&service).await;
        let sent = request(&service, &token, "tools/call", ask.clone(), &can).send().await.unwrap();
        let (_, made) = json_of(sent).await;
        slowed.await.unwrap();
        made["result"]["taskId"].as_str().unwrap_or_else(|| panic!("{made}")).to_owned()
    };
    let given_up = asks().await;
    reaches(&service, &token, &given_up, "input_required").await;
    told(&service, &token, "tasks/cancel", json!({ "taskId": given_up })).await;
    let ended = reaches(&service, &token, &given_up, "cancelled").await;
    assert!(ended.get("inputRequests").is_none(), "{ended}");
    let id = &asks().await;
    let before = reaches(&service, &token, id, "input_required").await;
    service.stop().await;

    let service = Service::with(&settings).await;
    let waits = reaches(&service, &token, id, "input_required").await;
    assert_eq!(waits["inputRequests"], before["inputRequests"]);
    let (key, form) = waits["inputRequests"].as_object().unwrap().iter().next().unwrap();
    let options = form["params"]["requestedSchema"]["properties"]["answer_1"]["enum"].as_array().unwrap();
    let pieces = options.iter().find(|option| option.as_str().unwrap().contains("pieces")).unwrap();
    let said = json!({ key: { "action": "accept", "content": { "answer_1": pieces } } });
    told(&service, &token, "tasks/update", json!({ "taskId": id, "inputResponses": said })).await;
    let done = reaches(&service, &token, id, "completed").await;
    let reply = &done["result"]["structuredContent"];
    // Old Mill sold 12 pieces, Corner 8.
    assert!(reply["table"]["rows"].to_string().contains(r#""Old Mill""#), "{done}");
    service.stop().await;
}
