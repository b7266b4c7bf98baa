//! Tasks that end before their work does: given up, or no longer allowed. The work stops, and not only the task.

use std::time::Duration;

use dragoman::model::access::{ExtScope, Role, Scope};
use dragoman::model::org::Org;
use dragoman::store;
use serde_json::json;

use super::{ENDLESS, both, call, endless_task, knows_tasks, outcomes, reaches, request, told, waiting};
use crate::support::service::{Service, json_of};

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
