//! People who belong to two workspaces, and limits that one workspace meets and another does not feel.

use std::time::Duration;

use dragoman::model::access::{Role, Scope};
use serde_json::json;

use super::{both, code};
use crate::support::service::{Service, json_of};

/// K07: a grant is for one workspace, and so is the end of a membership.
#[tokio::test(flavor = "multi_thread")]
async fn k07_of_two_workspaces_a_token_opens_its_own() {
    both(&[], async |service| {
        let (acme, other) = (service.workspace("acme").await, service.workspace("other").await);
        for (org, file) in [(&acme, "of_acme.csv"), (&other, "of_other.csv")] {
            service.import(org, file, b"a\n1\n", true).await.unwrap();
        }
        let (ann, in_acme) = service.member(&acme, "ann@example.com", Role::Viewer).await;
        service.identity.set_role(other.id, ann.id, Role::Admin).await.unwrap();
        let in_other = service.access_token_of(&other, ann.id, &Scope::ALL).await;
        for (token, name) in [(&in_acme, "of_acme"), (&in_other, "of_other")] {
            let (_, body) = json_of(service.get("/api/v1/ext/datasets", token).send().await.unwrap()).await;
            assert_eq!((&body["count"], &body["datasets"][0]["name"]), (&json!(1), &json!(name)), "{body}");
        }
        // An admin there is a viewer here.
        let (status, body) = service.manage(&in_acme, "GET", "/members", None).await;
        assert_eq!((status, code(&body)), (403, "scope_denied"));
        assert_eq!(body["error"]["details"]["role"], "viewer");
        service.identity.expel(acme.id, None, ann.id).await.unwrap();
        assert_eq!(service.get("/api/v1/ext/datasets", &in_acme).send().await.unwrap().status(), 401);
        assert_eq!(service.get("/api/v1/ext/datasets", &in_other).send().await.unwrap().status(), 200);
        service.identity.suspend_org(other.id, true).await.unwrap();
        assert_eq!(service.get("/api/v1/ext/datasets", &in_other).send().await.unwrap().status(), 401);
    })
    .await;
}

/// K06, K12: limits are counted by workspace, so that the flood of one is felt by nobody else; and its own admin can
/// still end it.
#[tokio::test(flavor = "multi_thread")]
async fn k06_k12_a_flood_in_one_workspace_is_its_own_and_its_admin_can_end_it() {
    let service = Service::with(&[("DRAGOMAN_EXT_RATE_WORKSPACE", "20"), ("DRAGOMAN_RATE_MANAGE", "20")]).await;
    let (acme, other) = (service.workspace("acme").await, service.workspace("other").await);
    let (_, admin) = service.member(&acme, "ann@example.com", Role::Admin).await;
    let flood = service.token(&acme).await;
    let calm = service.token(&other).await;
    let get = async |token: &str| service.get("/api/v1/ext/datasets", token).send().await.unwrap();
    for _ in 0..20 {
        assert_eq!(get(&flood).await.status(), 200);
    }
    let (status, body) = json_of(get(&flood).await).await;
    assert_eq!((status, &body["error"]["details"]["limit"]), (429, &json!("workspace")));
    assert_eq!(get(&admin).await.status(), 429, "the data of the workspace are shared");
    for _ in 0..20 {
        assert_eq!(get(&calm).await.status(), 200, "another workspace feels nothing");
    }
    let path = format!("/tokens/{}", flood.split('_').nth(1).unwrap());
    let (status, body) = service.manage(&admin, "DELETE", &path, None).await;
    assert_eq!(status, 200, "the admin is not kept out by what they want to end: {body}");
    assert_eq!(get(&flood).await.status(), 401);
    // Management has a limit of its own, by person.
    let mut statuses = Vec::new();
    for _ in 0..20 {
        statuses.push(service.manage(&admin, "GET", "/settings", None).await);
    }
    let (status, body) = statuses.pop().unwrap();
    assert_eq!((status, &body["error"]["details"]["limit"]), (429, &json!("management")), "{body}");
    service.clock.advance(Duration::from_secs(60));
    assert_eq!(service.manage(&admin, "GET", "/settings", None).await.0, 200);
}

/// K09: a token can do no more than the credential that makes it.
#[tokio::test(flavor = "multi_thread")]
async fn k09_a_client_makes_no_token_with_rights_that_it_lacks() {
    both(&[], async |service| {
        let org = service.workspace("acme").await;
        let (ann, full) = service.member(&org, "ann@example.com", Role::Admin).await;
        let narrow = service.access_token_of(&org, ann.id, &[Scope::WorkspaceAdmin, Scope::DataRead]).await;
        let new = |scope: &str| Some(json!({ "label": "t", "scopes": ["ext:datasets", scope] }));
        let (status, body) = service.manage(&narrow, "POST", "/tokens", new("ext:sql")).await;
        assert_eq!((status, code(&body)), (403, "forbidden"));
        assert_eq!(body["error"]["details"]["rule"], "token_beyond_own_rights");
        assert_eq!(service.last_audit(&org).await.outcome, "forbidden");
        assert!(service.identity.tokens(org.id).await.unwrap().is_empty());
        assert_eq!(service.manage(&full, "POST", "/tokens", new("ext:sql")).await.0, 200);
        assert_eq!(service.manage(&full, "POST", "/tokens", new("ext:search")).await.0, 200);
    })
    .await;
}
