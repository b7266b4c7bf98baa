//! The operations of management, from the outside, on both databases.

use std::time::Duration;

use dragoman::model::access::{ExtScope, Role, Scope};
use dragoman::store::audit::newest;
use serde_json::{Value, json};

use super::{both, code};

#[tokio::test(flavor = "multi_thread")]
async fn members_are_listed_changed_and_removed() {
    both(&[], async |service| {
        let org = service.workspace("acme").await;
        let (ann, admin) = service.member(&org, "ann@example.com", Role::Admin).await;
        let (bob, bobs) = service.member(&org, "bob@example.com", Role::Viewer).await;
        let (status, body) = service.manage(&admin, "GET", "/members", None).await;
        assert_eq!(status, 200, "{body}");
        let rows: Vec<_> = body["members"].as_array().unwrap().iter().map(|m| (&m["email"], &m["role"])).collect();
        assert_eq!(rows, [(&json!("ann@example.com"), &json!("admin")), (&json!("bob@example.com"), &json!("viewer"))]);
        let entry = service.last_audit(&org).await;
        assert_eq!((entry.action.as_str(), entry.target.as_str()), ("admin.member.list", "list_members"));

        let path = format!("/members/{}", bob.id);
        let (status, body) = service.manage(&admin, "PATCH", &path, Some(json!({ "role": "contributor" }))).await;
        assert_eq!((status, &body["done"]), (200, &json!(true)), "{body}");
        assert_eq!(service.identity.role(org.id, bob.id).await.unwrap(), Some(Role::Contributor));
        let entry = service.last_audit(&org).await;
        assert_eq!((entry.action.as_str(), entry.principal), ("admin.role.set", format!("user:{}", ann.id)));
        assert_eq!(entry.target, format!("set_member_role {} contributor", bob.id));

        // A contributor administers nothing, whatever scopes the client asked for.
        let (status, body) = service.manage(&bobs, "GET", "/members", None).await;
        assert_eq!((status, code(&body)), (403, "scope_denied"));
        let (status, _) = service.manage(&admin, "DELETE", &path, None).await;
        assert_eq!(status, 200);
        assert_eq!(service.last_audit(&org).await.action, "admin.role.remove");
        assert_eq!(service.get("/api/v1/ext/datasets", &bobs).send().await.unwrap().status(), 401);
        let (status, body) = service.manage(&admin, "DELETE", &path, None).await;
        assert_eq!((status, code(&body)), (404, "not_found"));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_list_longer_than_a_page_is_walked_with_its_cursor() {
    both(&[], async |service| {
        let org = service.workspace("acme").await;
        let (ann, admin) = service.member(&org, "ann@example.com", Role::Admin).await;
        for _ in 0..101 {
            service.access_token_of(&org, ann.id, &[Scope::DataRead]).await;
        }
        let (_, first) = service.manage(&admin, "GET", "/grants", None).await;
        assert_eq!(first["grants"].as_array().unwrap().len(), 100);
        let next = format!("/grants?cursor={}", first["next_cursor"].as_str().unwrap());
        let (_, second) = service.manage(&admin, "GET", &next, None).await;
        assert_eq!(second["grants"].as_array().unwrap().len(), 2);
        assert!(second.get("next_cursor").is_none());
        let (status, body) = service.manage(&admin, "GET", &next.replace("grants", "members"), None).await;
        assert_eq!((status, code(&body)), (400, "invalid_argument"), "a cursor of another listing");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn connected_clients_are_listed_ended_and_kept_out() {
    both(&[], async |service| {
        let org = service.workspace("acme").await;
        let (_, admin) = service.member(&org, "ann@example.com", Role::Admin).await;
        let (bob, bobs) = service.member(&org, "bob@example.com", Role::Viewer).await;
        let (_, body) = service.manage(&admin, "GET", "/grants", None).await;
        let grants = body["grants"].as_array().unwrap().clone();
        let of_bob = grants.iter().find(|grant| grant["email"] == "bob@example.com").unwrap();
        assert_eq!(grants.len(), 2);
        assert_eq!((&of_bob["client_name"], &of_bob["user_id"]), (&json!("Test client"), &json!(bob.id)));
        let path = format!("/grants/{}", of_bob["grant_id"].as_str().unwrap());
        assert_eq!(service.manage(&admin, "DELETE", &path, None).await.0, 200);
        assert_eq!(service.last_audit(&org).await.action, "admin.grant.revoke");
        let (status, body) = service.manage(&bobs, "GET", "/ext/datasets", None).await;
        assert_eq!((status, code(&body)), (401, "auth_revoked"));
        assert_eq!(service.manage(&admin, "DELETE", &path, None).await.0, 404);

        let other = service.workspace("other").await;
        let (_, elsewhere) = service.member(&other, "eve@example.com", Role::Admin).await;
        let client = json!({ "client_id": of_bob["client_id"] });
        assert_eq!(service.manage(&elsewhere, "POST", "/blocked-clients", Some(client.clone())).await.0, 200);
        assert_eq!(
            service.manage(&elsewhere, "GET", "/settings", None).await.0,
            401,
            "it called through the client that it blocked"
        );
        let (status, _) = service.manage(&admin, "GET", "/settings", None).await;
        assert_eq!(status, 200, "the block of one workspace is none in another");

        let (_, token) = service.member(&org, "cy@example.com", Role::Admin).await;
        let add = json!({ "client_id": "https://client.example/oauth.json" });
        assert_eq!(service.manage(&token, "POST", "/blocked-clients", Some(add)).await.0, 200);
        let (_, body) = service.manage(&token, "GET", "/blocked-clients", None).await;
        assert_eq!(body["blocked_clients"][0]["client_id"], "https://client.example/oauth.json");
        assert_eq!(body["blocked_clients"].as_array().unwrap().len(), 1);
        let path = "/blocked-clients?client_id=https%3A%2F%2Fclient.example%2Foauth.json";
        assert_eq!(service.manage(&token, "DELETE", path, None).await.0, 200);
        assert_eq!(service.last_audit(&org).await.action, "admin.client.unblock");
        assert_eq!(service.manage(&token, "DELETE", path, None).await.0, 404);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn tokens_are_made_listed_and_revoked_and_never_administer() {
    both(&[], async |service| {
        let org = service.workspace("acme").await;
        let (_, admin) = service.member(&org, "ann@example.com", Role::Admin).await;
        let new = json!({ "label": "report", "scopes": ["ext:datasets"], "expires_in_days": 1 });
        let (status, body) = service.manage(&admin, "POST", "/tokens", Some(new)).await;
        assert_eq!(status, 200, "{body}");
        let secret = body["secret"].as_str().unwrap().to_owned();
        let entry = service.last_audit(&org).await;
        assert_eq!(
            (entry.action.as_str(), entry.target.as_str()),
            ("admin.token.create", "connectivity_create_token report ext:datasets")
        );
        assert_eq!(service.get("/api/v1/ext/datasets", &secret).send().await.unwrap().status(), 200);
        let (status, body) = service.manage(&secret, "GET", "/tokens", None).await;
        assert_eq!((status, code(&body)), (403, "scope_denied"));
        let (_, body) = service.manage(&admin, "GET", "/tokens", None).await;
        assert_eq!((&body["tokens"][0]["state"], &body["tokens"][0]["use_count"]), (&json!("active"), &json!(2)));
        assert!(!body.to_string().contains(&secret[15..]), "the secret is shown once");
        let path = format!("/tokens/{}", body["tokens"][0]["token_id"].as_str().unwrap());
        assert_eq!(service.manage(&admin, "DELETE", &path, None).await.0, 200);
        assert_eq!(service.get("/api/v1/ext/datasets", &secret).send().await.unwrap().status(), 401);
        assert_eq!(service.manage(&admin, "DELETE", &path, None).await.0, 404);
        let wild = json!({ "label": "x", "scopes": ["ext:datasets", "workspace:admin"] });
        let (status, body) = service.manage(&admin, "POST", "/tokens", Some(wild)).await;
        assert_eq!((status, &body["error"]["details"]["field"]), (400, &json!("scopes")));
        for days in [json!(0), json!(-1), json!(36_501), json!(u64::MAX), json!("1")] {
            let odd = json!({ "label": "x", "scopes": ["ext:sql"], "expires_in_days": days });
            let (status, body) = service.manage(&admin, "POST", "/tokens", Some(odd)).await;
            let field = &body["error"]["details"]["field"];
            assert_eq!((status, field), (400, &json!("expires_in_days")), "{days}: {body}");
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_is_rotated_in_one_step_and_the_old_one_works_a_while_longer() {
    both(&[], async |service| {
        let org = service.workspace("acme").await;
        let (_, admin) = service.member(&org, "ann@example.com", Role::Admin).await;
        let new = json!({ "label": "report", "scopes": ["ext:datasets"] });
        let (_, made) = service.manage(&admin, "POST", "/tokens", Some(new)).await;
        let old = made["secret"].as_str().unwrap().to_owned();
        let path = |id: &Value| format!("/tokens/{}/rotate", id.as_str().unwrap());
        let status = async |secret: &str| service.get("/api/v1/ext/datasets", secret).send().await.unwrap().status();

        let rotate = path(&made["token"]["token_id"]);
        let (code_of, rotated) = service.manage(&admin, "POST", &rotate, Some(json!({ "overlap_minutes": 60 }))).await;
        assert_eq!(code_of, 200, "{rotated}");
        let next = rotated["secret"].as_str().unwrap().to_owned();
        assert_eq!(
            (&rotated["token"]["label"], &rotated["token"]["scopes"]),
            (&json!("report"), &json!(["ext:datasets"]))
        );
        let entry = service.last_audit(&org).await;
        assert_eq!(entry.action, "admin.token.rotate");
        assert!(!entry.target.contains(&next) && entry.target.ends_with(" 60 min"), "{}", entry.target);
        assert_eq!((status(&old).await.as_u16(), status(&next).await.as_u16()), (200, 200));
        let (_, listed) = service.manage(&admin, "GET", "/tokens", None).await;
        assert_eq!(listed["tokens"].as_array().unwrap().len(), 2);
        let replaced = listed["tokens"].as_array().unwrap().iter().find(|token| !token["replaced_by"].is_null());
        assert_eq!(replaced.unwrap()["replaced_by"], rotated["token"]["token_id"]);
        assert!(!listed.to_string().contains(&next[15..]));
        assert_eq!(
            service.manage(&admin, "POST", &rotate, Some(json!({ "overlap_minutes": 60 }))).await.0,
            400,
            "it was rotated already"
        );
        service.clock.advance(Duration::from_secs(3_600));
        assert_eq!((status(&old).await.as_u16(), status(&next).await.as_u16()), (401, 200));
        let (code_of, body) = service
            .manage(&next, "POST", &path(&rotated["token"]["token_id"]), Some(json!({ "overlap_minutes": 60 })))
            .await;
        assert_eq!((code_of, code(&body)), (403, "scope_denied"), "a token rotates none, and not itself");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn settings_hold_at_once() {
    both(&[], async |service| {
        let org = service.workspace("acme").await;
        let (_, admin) = service.member(&org, "ann@example.com", Role::Admin).await;
        let token = service.token(&org).await;
        let change = json!({ "name": " Acme & Sons ", "email_domains": ["@Example.COM", "example.com"] });
        let (status, body) = service.manage(&admin, "PATCH", "/settings", Some(change)).await;
        assert_eq!(status, 200, "{body}");
        assert_eq!((&body["name"], &body["email_domains"]), (&json!("Acme & Sons"), &json!(["example.com"])));
        let (_, body) = service.manage(&admin, "GET", "/settings", None).await;
        assert_eq!((&body["slug"], &body["connectivity_enabled"]), (&json!("acme"), &json!(true)));
        assert_eq!((&body["llm_egress"], &body["llm_send_values"]), (&json!("off"), &json!(false)));
        let open = json!({ "llm_egress": "restricted", "llm_send_values": true });
        let (_, body) = service.manage(&admin, "PATCH", "/settings", Some(open)).await;
        assert_eq!((&body["llm_egress"], &body["llm_send_values"]), (&json!("restricted"), &json!(true)));
        assert!(service.last_audit(&org).await.target.contains("language models restricted values sent"));
        let (_, body) = service.manage(&admin, "PATCH", "/settings", Some(json!({ "llm_egress": "allowed" }))).await;
        assert_eq!((&body["llm_egress"], &body["llm_send_values"]), (&json!("allowed"), &json!(true)), "one stays");
        for bad in [
            json!({}),
            json!({ "email_domains": ["com"] }),
            json!({ "name": "" }),
            json!({ "slug": "x" }),
            json!({ "llm_egress": "everywhere" }),
        ] {
            let (status, body) = service.manage(&admin, "PATCH", "/settings", Some(bad.clone())).await;
            assert_eq!((status, code(&body)), (400, "invalid_argument"), "{bad}");
        }
        let bad = json!({ "email_domains": ["example.com", "not a domain"] });
        let (_, body) = service.manage(&admin, "PATCH", "/settings", Some(bad)).await;
        assert!(body["error"]["message"].as_str().unwrap().starts_with("“not a domain” is no domain"), "{body}");
        let off = json!({ "connectivity_enabled": false });
        assert_eq!(service.manage(&admin, "PATCH", "/settings", Some(off)).await.0, 200);
        assert_eq!(service.get("/api/v1/ext/datasets", &token).send().await.unwrap().status(), 503);
        let entry = service.last_audit(&org).await;
        assert_eq!(entry.outcome, "service_unavailable");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_audit_log_is_filtered_paged_and_exported() {
    both(&[], async |service| {
        let org = service.workspace("acme").await;
        let (ann, admin) = service.member(&org, "ann@example.com", Role::Admin).await;
        let token = service.token(&org).await;
        let start = dragoman::base::clock::rfc3339(service.clock.now());
        for _ in 0..3 {
            service.get("/api/v1/ext/datasets", &token).send().await.unwrap();
        }
        service.clock.advance(Duration::from_secs(10));
        let later = dragoman::base::clock::rfc3339(service.clock.now());
        let named = json!({ "label": "=2024,\"x\"", "scopes": ["ext:sql"] });
        service.manage(&admin, "POST", "/tokens", Some(named)).await;
        let seqs = async |query: &str| {
            let (status, body) = service.manage(&admin, "GET", &format!("/audit?{query}"), None).await;
            assert_eq!(status, 200, "{body}");
            body["entries"].as_array().unwrap().iter().map(|e| e["seq"].as_i64().unwrap()).collect::<Vec<_>>()
        };
        let (_, all) = service.manage(&admin, "GET", "/audit", None).await;
        assert_eq!(all["entries"].as_array().unwrap().len(), 4);
        assert_eq!(all["entries"][0]["action"], "admin.token.create");
        assert!(all.get("next_cursor").is_none());
        assert_eq!(seqs("action=rest.&limit=100").await, [3, 2, 1]);
        assert_eq!(seqs(&format!("since={start}&until={later}")).await, [3, 2, 1]);
        assert_eq!(seqs(&format!("principal=user:{}&action=admin.token", ann.id)).await, [4]);
        assert_eq!(seqs("text=2024").await, [4], "a number in a query is the text that a text argument wants");
        assert!(seqs("outcome=scope_denied").await.is_empty());
        let (_, page) = service.manage(&admin, "GET", "/audit?action=rest.&limit=2", None).await;
        let next = format!("action=rest.&limit=2&cursor={}", page["next_cursor"].as_str().unwrap());
        assert_eq!(seqs(&next).await, [1]);
        for bad in ["limit=0", "limit=101", "limit=x", "since=yesterday", "cursor=x", "org=1"] {
            let (status, body) = service.manage(&admin, "GET", &format!("/audit?{bad}"), None).await;
            assert_eq!((status, code(&body)), (400, "invalid_argument"), "{bad}");
        }

        let path = "/api/v1/audit/export?format=csv&action=admin.token";
        let response = service.get(path, &admin).send().await.unwrap();
        assert_eq!(response.headers()["content-type"], "text/csv; charset=utf-8");
        assert_eq!(response.headers()["content-disposition"], "attachment; filename=\"audit.csv\"");
        let text = response.text().await.unwrap();
        let lines: Vec<&str> = text.split_terminator("\r\n").collect();
        assert_eq!(lines.len(), 2, "{text}");
        assert!(
            lines[1].starts_with("4,") && lines[1].contains("\"connectivity_create_token =2024,\"\"x\"\" ext:sql\""),
            "{text}"
        );
        assert_eq!(service.last_audit(&org).await.action, "admin.audit.export");
        let response =
            service.get("/api/v1/audit/export?format=ndjson&until=2000-01-01T00:00:00Z", &admin).send().await;
        assert_eq!(response.unwrap().text().await.unwrap(), "");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_export_of_many_parts_misses_nothing() {
    let service = crate::support::service::Service::start().await;
    let org = service.workspace("acme").await;
    let (_, admin) = service.member(&org, "ann@example.com", Role::Admin).await;
    let entry = newest(&service.db, None, 1).await.unwrap().pop().map(|(_, entry)| entry);
    assert!(entry.is_none(), "nothing was refused");
    service.manage(&admin, "GET", "/settings", None).await;
    let pattern = service.last_audit(&org).await;
    let long = "é\"".repeat(250);
    let entries = (0..999).map(|n| dragoman::model::audit::Entry { target: format!("{n} {long}"), ..pattern.clone() });
    let entries: Vec<_> = entries.collect();
    dragoman::store::audit::append(&service.db, entries, vec![]).await.unwrap();
    let response = service.get("/api/v1/audit/export?format=ndjson", &admin).send().await.unwrap();
    let text = response.text().await.unwrap();
    let seqs: Vec<i64> =
        text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["seq"].as_i64().unwrap()).collect();
    assert_eq!(seqs, (1..=1000).rev().collect::<Vec<_>>());
    let parts = newest(&service.db, Some(org.id), 100).await.unwrap();
    let parts = parts.iter().filter(|(_, entry)| entry.action == "admin.audit.export").count();
    assert!(parts > 5, "{parts} parts, each on the record");
}

/// I20: a token of a sign-in that is too old is told how old it may be (RFC 9470 §3), and nothing happens.
#[tokio::test(flavor = "multi_thread")]
async fn i20_sensitive_operations_need_a_recent_sign_in() {
    both(&[("DRAGOMAN_STEP_UP_TTL", "60")], async |service| {
        let org = service.workspace("acme").await;
        let (_, admin) = service.member(&org, "ann@example.com", Role::Admin).await;
        let (bob, viewer) = service.member(&org, "bob@example.com", Role::Viewer).await;
        service.clock.advance(Duration::from_secs(60));
        let new = json!({ "label": "in time", "scopes": ["ext:sql"] });
        assert_eq!(service.manage(&admin, "POST", "/tokens", Some(new.clone())).await.0, 200);
        service.clock.advance(Duration::from_secs(1));
        let member = format!("/members/{}", bob.id);
        for (method, path, body) in [
            ("POST", "/tokens", Some(new)),
            ("PATCH", &member, Some(json!({ "role": "admin" }))),
            ("DELETE", &member, None),
            ("POST", "/invitations", Some(json!({ "email": "x@example.com", "role": "viewer" }))),
            ("PATCH", "/settings", Some(json!({ "name": "x" }))),
            ("DELETE", "/blocked-clients?client_id=x", None),
            ("GET", "/audit/export?format=csv", None),
        ] {
            let url = service.url(&format!("/api/v1{path}"));
            let request = service.http.request(method.parse().unwrap(), url).bearer_auth(&admin);
            let request = if let Some(body) = &body { request.json(body) } else { request };
            let response = request.send().await.unwrap();
            assert_eq!(response.status(), 401, "{method} {path}");
            let challenge = response.headers()["www-authenticate"].to_str().unwrap().to_owned();
            for part in [
                "Bearer error=\"insufficient_user_authentication\"",
                "max_age=60",
                &format!("resource_metadata=\"{}\"", service.url("/.well-known/oauth-protected-resource/mcp")),
            ] {
                assert!(challenge.contains(part), "{challenge}");
            }
            let answer: Value = response.json().await.unwrap();
            assert_eq!(code(&answer), "insufficient_user_authentication");
            assert_eq!(service.last_audit(&org).await.outcome, "insufficient_user_authentication");
        }
        assert_eq!(service.identity.role(org.id, bob.id).await.unwrap(), Some(Role::Viewer));
        assert_eq!(service.identity.tokens(org.id).await.unwrap().len(), 1);
        // What is not sensitive goes on, and who may not at all is not asked for a sign-in.
        for (method, path) in [("GET", "/members"), ("GET", "/audit"), ("GET", "/settings")] {
            assert_eq!(service.manage(&admin, method, path, None).await.0, 200);
        }
        let (status, body) = service.manage(&viewer, "DELETE", &member, None).await;
        assert_eq!((status, code(&body)), (403, "scope_denied"));
        let made = service.identity.create_token(org.id, "t", &ExtScope::ALL, None).await.unwrap().1;
        let (status, body) = service.manage(made.expose(), "DELETE", &member, None).await;
        assert_eq!((status, code(&body)), (403, "scope_denied"));
    })
    .await;
}
