//! Tasks that end before their work does: given up, or no longer allowed. The work stops, and not only the task.

use std::collections::BTreeMap;
use std::time::Duration;

use dragoman::base::id::Id;
use dragoman::gateway::Via;
use dragoman::gateway::operation::Operation;
use dragoman::model::access::{ExtScope, Role, Scope};
use dragoman::model::dataset::Dataset;
use dragoman::model::org::Org;
use dragoman::ops::delete_dataset::DeleteDataset;
use dragoman::ops::publish::Publish;
use dragoman::ops::update_dataset::{UpdateDataset, Words};
use dragoman::store;
use dragoman::store::Backend;
use serde_json::json;

use super::{
    ENDLESS, NEVER, both, call, endless, endless_task, kept, knows_tasks, outcomes, reaches, request, told, waiting,
    waiting_for,
};
use crate::datasets::files;
use crate::support::service::{Service, json_of, operator};

/// Somebody else's query has the one place that there is.
async fn is_free(service: &Service, token: &str) {
    let sent = service.rpc(token, "tools/call", call("SELECT 1 AS one")).send();
    let answered = tokio::time::timeout(Duration::from_secs(30), sent).await.expect("the place is held");
    let (_, body) = json_of(answered.unwrap()).await;
    assert_eq!(body["result"]["structuredContent"]["rows"], json!([[1]]), "{body}");
}

/// Waits until the endless calls of a workspace are on the record, as often as they were made, with what they came to, the
/// last first: where nobody waits for their place, nothing ends them but what they are tested for.
async fn recorded(service: &Service, org: &Org, ends: &[&str]) {
    let target = format!("dragoman_sql {ENDLESS}");
    let written = async {
        while outcomes(service, org, &target).await.len() < ends.len() {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), written).await.expect("a call is not on the record");
    assert_eq!(outcomes(service, org, &target).await, ends);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_that_is_cancelled_stops_its_query() {
    both(async |service| {
        let org = service.workspace("acme").await;
        let (token, other) = (service.token(&org).await, service.token(&org).await);
        let id = endless_task(&service, &token).await;
        let ack = told(&service, &token, "tasks/cancel", json!({ "taskId": id })).await;
        assert_eq!(ack["result"], json!({ "resultType": "complete" }));
        let ended = reaches(&service, &token, &id, "cancelled").await;
        assert!(ended.get("result").is_none() && ended.get("error").is_none(), "{ended}");
        recorded(&service, &org, &["query_timeout"]).await;
        is_free(&service, &other).await;
        let entries = store::audit::newest(&service.db, Some(org.id), 10).await.unwrap();
        let given_up = entries.iter().find(|(_, entry)| entry.action == "mcp.task.cancel").unwrap();
        assert_eq!((given_up.1.target.as_str(), given_up.1.outcome.as_str()), ("dragoman_sql", "ok"));
        let again = told(&service, &token, "tasks/cancel", json!({ "taskId": id })).await;
        assert_eq!(again["result"], json!({ "resultType": "complete" }));
        service.stop().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_leaves_before_it_has_a_handle_ends_its_call() {
    let service = Service::with(&super::ONE_PLACE).await;
    let org = service.workspace("acme").await;
    let (token, other) = (service.token(&org).await, service.token(&org).await);
    let client = tokio::spawn(request(&service, &token, "tools/call", call(ENDLESS), &knows_tasks()).send());
    service.answers_a_call().await;
    client.abort();
    recorded(&service, &org, &["query_timeout"]).await;
    is_free(&service, &other).await;
    assert_eq!(super::kept(&service).await, 0);
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_credential_that_is_withdrawn_stops_what_was_begun_with_it() {
    both(async |service| {
        let org = service.workspace("acme").await;
        let other = service.token(&org).await;
        let (info, secret) = service.identity.create_token(org.id, "t", &ExtScope::ALL, None).await.unwrap();
        let id = endless_task(&service, secret.expose()).await;
        assert!(service.identity.revoke_token(org.id, &info.id).await.unwrap());
        recorded(&service, &org, &["query_timeout"]).await;
        is_free(&service, &other).await;
        let sent = request(&service, secret.expose(), "tasks/get", json!({ "taskId": id }), &knows_tasks());
        assert_eq!(sent.send().await.unwrap().status(), 401);

        // A lesser role, of a person whose client is as good as before.
        let scopes = [Scope::DataRead, Scope::DataWrite];
        let (user, _) = service.member(&org, "ann@example.com", Role::Contributor).await;
        let ann = service.access_token_of(&org, user.id, &scopes).await;
        let id = endless_task(&service, &ann).await;
        service.identity.set_role(org.id, user.id, Role::Viewer).await.unwrap();
        recorded(&service, &org, &["query_timeout"; 2]).await;
        let refused = told(&service, &ann, "tasks/get", json!({ "taskId": id })).await;
        let code = &refused["error"]["data"]["error"]["code"];
        assert_eq!((&refused["error"]["code"], code), (&json!(-32001), &json!("scope_denied")), "{refused}");
        // With the role back it is told what became of it, and not more.
        service.identity.set_role(org.id, user.id, Role::Contributor).await.unwrap();
        let failed = reaches(&service, &ann, &id, "failed").await;
        assert_eq!(failed["error"]["data"]["error"]["code"], "scope_denied", "{failed}");

        // The switch of the workspace.
        let id = endless_task(&service, &ann).await;
        service.identity.set_connectivity(org.id, false).await.unwrap();
        recorded(&service, &org, &["service_unavailable", "query_timeout", "query_timeout"]).await;
        let refused = told(&service, &ann, "tasks/get", json!({ "taskId": id })).await;
        assert_eq!(refused["error"]["data"]["error"]["code"], "service_unavailable", "{refused}");
        service.stop().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_result_is_closed_to_a_new_grant_of_the_same_person() {
    let service = Service::with(&super::ONE_PLACE).await;
    let org = service.workspace("acme").await;
    let other = service.token(&org).await;
    let (user, _) = service.member(&org, "ann@example.com", Role::Contributor).await;
    let scopes = [Scope::DataRead, Scope::DataWrite];
    let ann = service.access_token_of(&org, user.id, &scopes).await;
    let busy = super::endless(&service, &other);
    let made = waiting(&service, &ann).await;
    busy.abort();
    let id = made["taskId"].as_str().unwrap();
    reaches(&service, &ann, id, "completed").await;
    let again = service.access_token_of(&org, user.id, &scopes).await;
    let refused = told(&service, &again, "tasks/get", json!({ "taskId": id })).await;
    assert_eq!(refused["error"]["code"], -32602, "{refused}");
    service.stop().await;
}

/// What the operator does to a dataset.
async fn change<O: Operation>(service: &Service, org: &Org, op: O) {
    service.gateway.call(&operator(org), op, Via::new("admin.call")).await.unwrap();
}

/// The ids of a table of staff that clients see, and of a task that has read it when this is over.
async fn reading(
    service: &Service,
    org: &Org,
    token: &str,
    meanwhile: impl AsyncFn(Id<Dataset>),
) -> (Id<Dataset>, String) {
    let made = service.import(org, "staff.csv", b"person,pay\nAnn,canary-7731\n", true).await.unwrap();
    let id = made["dataset_id"].as_str().unwrap().parse().unwrap();
    let busy = endless(service, &service.token(org).await);
    let rows = json!([["Ann", "canary-7731"]]);
    let task = waiting_for(service, token, "SELECT person, pay FROM staff", &rows).await;
    meanwhile(id).await;
    busy.abort();
    (id, task["taskId"].as_str().unwrap().to_owned())
}

fn erase(id: Id<Dataset>) -> DeleteDataset {
    DeleteDataset { dataset_id: id, name: "staff".into() }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_task_came_to_is_shown_for_as_long_as_its_data_are_and_erased_with_them() {
    both(async |service| {
        let org = service.workspace("acme").await;
        let token = service.token(&org).await;
        let (id, task) = reading(&service, &org, &token, async |_| ()).await;
        let shown = async || reaches(&service, &token, &task, "completed").await["result"].clone();
        let done = shown().await;
        assert!(done.to_string().contains("canary-7731"), "{done}");
        let has_row = async |row: [&str; 3]| {
            let entries = store::audit::newest(&service.db, Some(org.id), 100).await.unwrap();
            entries.into_iter().any(|(_, entry)| [entry.action, entry.target, entry.outcome] == row)
        };
        assert!(has_row(["mcp.task.get", "dragoman_sql", "ok"]).await);
        let refused = async || {
            for (method, params) in [
                ("tasks/get", json!({ "taskId": task })),
                ("tasks/update", json!({ "taskId": task, "inputResponses": {} })),
            ] {
                let body = told(&service, &token, method, params).await;
                let error = &body["error"];
                let codes = (&error["code"], &error["data"]["error"]["code"]);
                assert_eq!(codes, (&json!(-32602), &json!("not_found")), "{body}");
                let message = "Something that this task read is not open to you any more, so what it came to is not \
                               shown. Call the tool again.";
                assert_eq!(error["message"], message);
                assert!(!body.to_string().contains("canary"), "{body}");
                assert!(has_row(["mcp.task", method, "not_found"]).await, "{method}");
            }
        };
        let publish = |published| Publish { dataset_id: id, externally_queryable: published };
        change(&service, &org, publish(false)).await;
        refused().await;
        change(&service, &org, publish(true)).await;
        assert_eq!(shown().await, done);
        let hide = |hidden| UpdateDataset {
            dataset_id: id,
            title: None,
            description: None,
            columns: BTreeMap::new(),
            hidden: BTreeMap::from([("pay".to_owned(), hidden)]),
            seen: Words::default(),
        };
        change(&service, &org, hide(true)).await;
        refused().await;
        change(&service, &org, hide(false)).await;
        assert_eq!(shown().await, done);

        let mut all = service.db.read_everyone().await.unwrap();
        let query = sqlx::query_scalar::<_, String>("SELECT outcome FROM tasks");
        let sealed = query.fetch_one(&mut *all).await.unwrap();
        drop(all);
        // Its beginning: a page may end within it.
        let sealed = &sealed.as_bytes()[..64];
        let holders = || {
            let holds = |content: &[u8]| content.windows(sealed.len()).any(|part| part == sealed);
            let all = files(&service.config.data_dir).into_iter();
            all.filter(|file| holds(&std::fs::read(file).unwrap_or_default())).collect::<Vec<_>>()
        };
        assert_eq!(holders().is_empty(), service.db.backend() == Backend::Postgres);
        change(&service, &org, erase(id)).await;
        let gone = told(&service, &token, "tasks/get", json!({ "taskId": task })).await;
        let never = told(&service, &token, "tasks/get", json!({ "taskId": NEVER })).await;
        assert_eq!((&gone["error"]["code"], &gone["error"]["message"]), (&json!(-32602), &never["error"]["message"]));
        assert_eq!(kept(&service).await, 0);
        assert!(holders().is_empty());
        service.stop().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn of_data_that_are_deleted_while_a_task_is_worked_on_nothing_is_kept() {
    both(async |service| {
        let org = service.workspace("acme").await;
        let token = service.token(&org).await;
        let (_, task) = reading(&service, &org, &token, async |id| change(&service, &org, erase(id)).await).await;
        let failed = reaches(&service, &token, &task, "failed").await;
        let error = &failed["error"];
        assert_eq!(error["data"]["error"]["code"], "service_unavailable", "{failed}");
        assert!(error["message"].as_str().unwrap().contains("deleted before it was done"), "{failed}");
        let mut all = service.db.read_everyone().await.unwrap();
        let query = sqlx::query_scalar::<_, i64>("SELECT COUNT(*) FROM tasks WHERE outcome IS NOT NULL");
        assert_eq!(query.fetch_one(&mut *all).await.unwrap(), 0);
        drop(all);
        service.stop().await;
    })
    .await;
}
