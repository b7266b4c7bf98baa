//! K01: nothing of a workspace shows in another. Every operation, tool, resource and address is asked by strangers (an
//! admin, a member and a token of another workspace) with what exists in the victim's workspace, and again with what
//! exists nowhere: the answers must be the same, and a refusal where the table of operations says so. An endpoint that is
//! missing from the table fails the test.

use std::collections::BTreeSet;

use dragoman::base::id::Id;
use dragoman::gateway::Via;
use dragoman::gateway::operation::Surface;
use dragoman::model::access::Role;
use dragoman::model::dataset::{Dataset, Kind};
use dragoman::model::org::Org;
use dragoman::model::run::Memory;
use dragoman::model::source::{RemoteTable, Source, SourceEngine};
use dragoman::ops::questions::Remember;
use reqwest::RequestBuilder;
use serde_json::{Map, Value, json};

use super::both;
use crate::support::operations::{Endpoint, Ids, ONTOLOGY, arguments, endpoints, expected};
use crate::support::service::{Service, in_console, json_of};

const MEMBER: &str = "payee@firm.example";
const BLOCKED: &str = "https://blocked.example/client.json";

impl Ids {
    /// A workspace with one of everything.
    async fn victim(service: &Service) -> (Org, Self) {
        let org = service.workspace("vaultco").await;
        let (user, token) = service.member(&org, MEMBER, Role::Admin).await;
        let imported = service.import(&org, "payroll.csv", b"who,euros\nxyzzy,10\n", true).await.unwrap();
        let notes = service.import(&org, "plans.md", b"# Plans\n\nThe xyzzy plan is secret.\n", true).await.unwrap();
        let notes = notes["dataset_id"].as_str().unwrap().parse().unwrap();
        let found = dragoman::store::datasets::by_id(&mut service.db.read_tenant(org.id).await.unwrap(), org.id, notes)
            .await
            .unwrap()
            .unwrap();
        let version = found.version.unwrap();
        let documents = dragoman::store::documents::list(
            &mut service.db.read_tenant(org.id).await.unwrap(),
            org.id,
            notes,
            &version,
        )
        .await
        .unwrap();
        let (invitation, _) =
            service.identity.invite(org.id, Some(user.id), "guest@example.com", Role::Viewer).await.unwrap();
        let made = json!({ "label": "their report", "scopes": ["ext:sql"] });
        let (status, made) = service.manage(&token, "POST", "/tokens", Some(made)).await;
        assert_eq!(status, 200, "{made}");
        service.identity.block_client(Some(org.id), BLOCKED).await.unwrap();
        for _ in 0..100 {
            service.access_token_of(&org, user.id, &[dragoman::model::access::Scope::DataRead]).await;
        }
        let grants = service.manage(&token, "GET", "/grants", None).await.1;
        let audit = service.manage(&token, "GET", "/audit?limit=1", None).await.1;
        let client = json!({ "client_name": "Their client", "redirect_uris": ["http://127.0.0.1/theirs"] });
        let client = service.http.post(service.url("/api/oauth/register")).json(&client).send().await.unwrap();
        let client = json_of(client).await.1;
        let source = planted_source(service, &org).await;
        let kept = service.manage(&token, "POST", "/ontologies", Some(json!({ "text": ONTOLOGY }))).await;
        let ontology = text_of(&kept.1["ontology"]["ontology_id"]);
        let checked = service.manage(&token, "POST", &format!("/ontologies/{ontology}/check"), None).await;
        assert_eq!(checked.1["ontology"]["status"], "ready", "{checked:?}");
        let asked = json!({ "ontologyId": ontology, "question": "total xyzzy" });
        let asked = service.post("/api/v1/ext/ask", &token).json(&asked).send().await.unwrap();
        let asked = json_of(asked).await.1;
        assert_eq!(asked["outcome"], "answer", "{asked}");
        let trace = text_of(&asked["traceId"]);
        let person = in_console(service, &org, user.id, Role::Admin);
        let remember = Remember { trace_id: trace.parse().unwrap(), memory: Memory::Verified };
        service.gateway.call(&person, remember, Via::new("console.call")).await.unwrap();
        let all = service.manage(&token, "GET", &format!("/ontologies/{ontology}/remembered"), None).await.1;
        let remembered = text_of(&all["remembered"][0]["id"]);
        // The cursors of grants and audit are those that a stranger could steal; for lists of one page they stand in.
        let text = |value: &Value| value.as_str().unwrap_or_else(|| panic!("{value}")).to_owned();
        let ids = Self {
            slug: org.slug.clone(),
            name: org.name.clone(),
            dataset: text(&imported["dataset_id"]),
            document: documents[0].id.to_string(),
            table: "payroll".into(),
            user: user.id.to_string(),
            email: MEMBER.into(),
            invitation: invitation.id.to_string(),
            grant: text(&grants["grants"][0]["grant_id"]),
            token: text(&made["token"]["token_id"]),
            client: text(&client["client_id"]),
            source: source.to_string(),
            ontology,
            trace,
            conversation: text_of(&asked["conversationId"]),
            remembered,
            blocked: BLOCKED.into(),
            label: "their report".into(),
            datasets_cursor: text(&grants["next_cursor"]),
            members_cursor: text(&audit["next_cursor"]),
            grants_cursor: text(&grants["next_cursor"]),
            audit_cursor: text(&audit["next_cursor"]),
        };
        (org, ids)
    }
}

fn text_of(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("{value}")).to_owned()
}

/// A source with one published table, as the store has it: nobody needs to reach it.
async fn planted_source(service: &Service, org: &Org) -> Id<Source> {
    let id = Id::new(&service.clock);
    let source = Source {
        id,
        org: org.id,
        name: "their_shop".into(),
        engine: SourceEngine::Postgres,
        address: "postgres://xyzzy@127.0.0.1:1/xyzzy".into(),
        ca: None,
        sealed_password: "x".into(),
        created_by: None,
        created_at: 0,
        updated_at: 0,
        checked_at: 0,
        problem: String::new(),
        left_out: String::new(),
    };
    let mut tx = service.db.tenant(org.id).await.unwrap();
    assert!(dragoman::store::sources::insert(&mut tx, &source).await.unwrap());
    let dataset = Dataset {
        description: "xyzzy".into(),
        externally_queryable: true,
        version: Some("1".into()),
        remote: Some(RemoteTable {
            source: id,
            source_name: source.name.clone(),
            engine: source.engine,
            schema: "public".into(),
            table: "orders".into(),
        }),
        ..Dataset::new(Id::new(&service.clock), org.id, "their_orders", Kind::Table)
    };
    dragoman::store::datasets::put(&mut tx, &dataset).await.unwrap();
    tx.commit().await.unwrap();
    id
}

fn request(service: &Service, endpoint: &Endpoint, token: &str, arguments: &Value) -> RequestBuilder {
    let mut rest: Map<String, Value> = arguments.as_object().unwrap().clone();
    let mut path = endpoint.path.clone();
    for (name, value) in arguments.as_object().unwrap() {
        let place = format!("{{{name}}}");
        if path.contains(&place) {
            path = path.replace(&place, value.as_str().unwrap());
            rest.remove(name);
        }
    }
    assert!(!path.contains('{'), "{path}: an id is missing");
    let request = service.http.request(endpoint.method.parse().unwrap(), service.url(&path)).bearer_auth(token);
    if ["import_dataset", "check_import"].contains(&endpoint.name) {
        let file = reqwest::multipart::Part::bytes(b"a\n1\n".as_slice()).file_name("t.csv");
        let form = rest.iter().fold(reqwest::multipart::Form::new(), |form, (name, value)| {
            form.text(name.clone(), value.as_str().unwrap_or_default().to_owned())
        });
        return request.multipart(form.part("file", file));
    }
    if matches!(endpoint.method, "GET" | "DELETE") {
        let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let query: Vec<(String, String)> = rest.iter().map(|(name, value)| (name.clone(), text(value))).collect();
        return request.query(&query);
    }
    request.json(&rest)
}

/// What is new in every answer.
const FRESH: [&str; 13] = [
    "ontology_id", "request_id", "invitation_id", "link", "secret", "token_id", "last_four", "dataset_id",
    "execution_ms", "latency_ms", "ms", "exists", "upload_id",
];

/// What is new of an upload.
const TIMES: [&str; 2] = ["created_at", "expires_at"];

/// A body without what is new in every answer, where what was asked for has the same name.
fn plain(body: &Value, asked: &Ids) -> Value {
    let masked = asked.all().into_iter().fold(mask(body).to_string(), |text, id| text.replace(id, "<asked>"));
    serde_json::from_str(&masked).unwrap_or(Value::String(masked))
}

fn mask(value: &Value) -> Value {
    match value {
        Value::Object(object) => {
            let is_upload = object.contains_key("upload_id");
            let is_fresh = |key: &str| FRESH.contains(&key) || (is_upload && TIMES.contains(&key));
            let entry = |(key, value): (&String, &Value)| {
                (key.clone(), if is_fresh(key) { "<fresh>".into() } else { mask(value) })
            };
            object.iter().map(entry).collect()
        }
        Value::Array(array) => array.iter().map(mask).collect(),
        other => other.clone(),
    }
}

/// Status, the headers that say something, and the body.
async fn answer(request: RequestBuilder, asked: &Ids) -> (u16, Vec<(String, String)>, Value) {
    let response = request.send().await.unwrap();
    let told = |name: &&str| Some(((*name).to_owned(), response.headers().get(*name)?.to_str().unwrap().to_owned()));
    let names = ["content-type", "www-authenticate", "cache-control", "retry-after", "location", "content-disposition"];
    let headers: Vec<_> =
        names.iter().filter_map(told).map(|(name, value)| (name, value.replace(&asked.slug, "<asked>"))).collect();
    let (status, body) = json_of(response).await;
    (status, headers, plain(&body, asked))
}

/// The victim's words, where they were not asked for.
const SECRETS: [&str; 6] = ["xyzzy", MEMBER, "guest@example.com", "payroll", "their_shop", "their_orders"];

#[tokio::test(flavor = "multi_thread")]
async fn k01_every_endpoint_answers_strangers_as_if_nothing_were_there() {
    both(&[], async |service| {
        let (victim, theirs) = Ids::victim(&service).await;
        let nothing = Ids::nowhere(&service);
        let other = service.workspace("other").await;
        let mut strangers = Vec::new();
        for role in Role::ALL {
            let (_, token) = service.member(&other, &format!("{role}@other.example"), role).await;
            strangers.push((role.name(), token));
        }
        strangers.push(("token", service.token(&other).await));
        for endpoint in endpoints() {
            for (who, token) in &strangers {
                let call = async |ids: &Ids| {
                    let request = request(&service, &endpoint, token, &arguments(endpoint.name, ids));
                    answer(request, ids).await
                };
                let (found, absent) = (call(&theirs).await, call(&nothing).await);
                assert_eq!(found, absent, "{} by {who}", endpoint.name);
                let told = found.2.to_string();
                assert!(SECRETS.iter().all(|secret| !told.contains(secret)), "{} by {who}: {told}", endpoint.name);
                let known = [200, 400, 403, 404, 503];
                assert!(known.contains(&found.0), "{} by {who}: {} {told}", endpoint.name, found.0);
                let role = Role::ALL.into_iter().find(|role| role.name() == *who);
                let row = expected(endpoint.name);
                let may = role.map_or(row.token.is_some(), |role| row.lets(role));
                assert_eq!(found.2["error"]["code"] != "scope_denied", may, "{} by {who}: {told}", endpoint.name);
                if *who == "token" && endpoint.surface == Surface::Manage {
                    assert_eq!(found.0, 403, "{}: a token administers nothing", endpoint.name);
                }
            }
            let without =
                service.http.request(endpoint.method.parse().unwrap(), service.url(&endpoint.path)).send().await;
            // Whether the installation is there is for everybody.
            let open = if endpoint.name == "dragoman_health" { 200 } else { 401 };
            assert_eq!(without.unwrap().status(), open, "{} without a credential", endpoint.name);
        }
        unharmed(&service, &victim, &theirs).await;
    })
    .await;
}

/// Nothing of what strangers asked has happened.
async fn unharmed(service: &Service, org: &Org, ids: &Ids) {
    let identity = &service.identity;
    assert_eq!(identity.role(org.id, ids.user.parse().unwrap()).await.unwrap(), Some(Role::Admin));
    assert_eq!(identity.invitations(org.id).await.unwrap().len(), 1);
    assert!(identity.connected(org.id, 0, 200).await.unwrap().iter().any(|grant| grant.id == ids.grant));
    assert!(
        identity.tokens(org.id).await.unwrap().iter().any(|token| token.id == ids.token && token.revoked_at.is_none())
    );
    assert_eq!(identity.blocked_clients(Some(org.id)).await.unwrap().len(), 1);
    assert_eq!(identity.org(org.id).await.unwrap().unwrap().name, org.name);
    let mut read = service.db.read_tenant(org.id).await.unwrap();
    assert_eq!(dragoman::store::sources::list(&mut read, org.id).await.unwrap().len(), 1);
    drop(read);
    let dataset = dragoman::store::datasets::by_id(
        &mut service.db.read_tenant(org.id).await.unwrap(),
        org.id,
        ids.dataset.parse().unwrap(),
    )
    .await;
    assert!(dataset.unwrap().unwrap().externally_queryable);
}

#[tokio::test(flavor = "multi_thread")]
async fn k01_no_published_endpoint_is_missing_from_the_test() {
    let service = Service::start().await;
    let mut published = BTreeSet::new();
    for (base, document) in [("/api/v1", "/api/v1/openapi.json"), ("/api/v1/ext", "/api/v1/ext/openapi.json")] {
        let (_, document) = json_of(service.http.get(service.url(document)).send().await.unwrap()).await;
        for (path, methods) in document["paths"].as_object().unwrap() {
            for method in methods.as_object().unwrap().keys() {
                published.insert((method.to_uppercase(), format!("{base}{path}")));
            }
        }
    }
    let nothing = Ids::nowhere(&service);
    let tested: BTreeSet<_> = endpoints()
        .into_iter()
        .map(|endpoint| {
            assert!(arguments(endpoint.name, &nothing).is_object());
            (endpoint.method.to_owned(), endpoint.path)
        })
        .collect();
    assert_eq!(published, tested);
    assert!(published.len() >= 32, "{published:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn k01_tools_resources_and_prompts_answer_strangers_as_if_nothing_were_there() {
    let service = Service::start().await;
    let (_, theirs) = Ids::victim(&service).await;
    let nothing = Ids::nowhere(&service);
    let other = service.workspace("other").await;
    let (_, admin) = service.member(&other, "admin@other.example", Role::Admin).await;
    let (_, viewer) = service.member(&other, "viewer@other.example", Role::Viewer).await;
    let strangers = [admin.clone(), viewer, service.token(&other).await];
    let all = "/mcp?toolsets=data,rag,ask,rlm,chatgpt";
    let (_, listed) = json_of(service.rpc_at(all, &admin, "tools/list", json!({})).send().await.unwrap()).await;
    let listed = listed["result"]["tools"].as_array().unwrap();
    let listed: BTreeSet<&str> = listed.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    let tools: BTreeSet<&str> = endpoints().iter().filter(|e| e.surface == Surface::Tool).map(|e| e.name).collect();
    assert_eq!(listed, tools);
    let (_, templates) =
        json_of(service.rpc(&admin, "resources/templates/list", json!({})).send().await.unwrap()).await;
    let templates = templates["result"]["resourceTemplates"].as_array().unwrap().clone();
    let uris = |ids: &Ids| -> Vec<String> {
        let fill = |template: &Value| match template["uriTemplate"].as_str().unwrap() {
            "dragoman://datasets/{id}" => format!("dragoman://datasets/{}", ids.dataset),
            "dragoman://datasets/{id}/rows{?limit}" => format!("dragoman://datasets/{}/rows?limit=1", ids.dataset),
            "dragoman://ontologies/{id}" => format!("dragoman://ontologies/{}", ids.ontology),
            "dragoman://ontologies/{id}/datasets/{name}" => {
                format!("dragoman://ontologies/{}/datasets/{}", ids.ontology, ids.table)
            }
            "dragoman://documents/{document_id}" => format!("dragoman://documents/{}", ids.document),
            missing => panic!("{missing}: say here how a stranger would read it"),
        };
        templates.iter().map(fill).collect()
    };
    for token in &strangers {
        let call = async |method: &str, params: Value, ids: &Ids| {
            answer(service.rpc_at(all, token, method, params), ids).await
        };
        for tool in &tools {
            let params = |ids: &Ids| json!({ "name": tool, "arguments": arguments(tool, ids) });
            // The body is a text with JSON in it, which has an id of its own.
            let unframed = async |ids: &Ids| {
                let (status, headers, body) = call("tools/call", params(ids), ids).await;
                let text = body["result"]["content"][0]["text"].as_str().map(str::to_owned);
                let inner = text.and_then(|text| serde_json::from_str::<Value>(&text).ok());
                (
                    status,
                    headers,
                    body["result"]["isError"].clone(),
                    body["error"]["code"].clone(),
                    inner.map(|inner| plain(&inner, ids)),
                )
            };
            let (found, absent) = (unframed(&theirs).await, unframed(&nothing).await);
            assert_eq!(found, absent, "{tool}");
            assert!(!format!("{found:?}").contains("xyzzy"), "{tool}: {found:?}");
            let none = |list: &str| found.4.as_ref().is_some_and(|inner| inner[list] == json!([]));
            let refused = found.2 == true || found.3.is_number();
            let lists = ["results", "ontologies", "chunks", "docs", "sources"];
            // Of rows each has an outcome of its own.
            let of_row = |row: &Value| row["error"].is_object() && row.get("row").is_none();
            let rows = found.4.as_ref().and_then(|inner| inner["rows"].as_array());
            let no_row = rows.is_some_and(|rows| rows.iter().all(of_row));
            assert!(refused || no_row || lists.into_iter().any(none), "{tool}: {found:?}");
        }
        for (their, no) in uris(&theirs).iter().zip(uris(&nothing)) {
            let found = call("resources/read", json!({ "uri": their }), &theirs).await;
            assert_eq!(found, call("resources/read", json!({ "uri": no }), &nothing).await, "{their}");
            assert!(found.2["error"].is_object(), "{their}: {}", found.2);
        }
        let found = call("resources/list", json!({ "cursor": theirs.datasets_cursor }), &theirs).await;
        assert_eq!(found, call("resources/list", json!({ "cursor": nothing.datasets_cursor }), &nothing).await);
        let everything = call("resources/list", json!({}), &nothing).await.2;
        assert!(SECRETS.iter().all(|secret| !everything.to_string().contains(secret)), "{everything}");
        for (prompt, argument) in [("ask_about", "ontology_id"), ("explore_dataset", "dataset_id")] {
            let filled = async |ids: &Ids| {
                let id = if argument == "ontology_id" { &ids.ontology } else { &ids.dataset };
                call("prompts/get", json!({ "name": prompt, "arguments": { argument: id } }), ids).await
            };
            let found = filled(&theirs).await;
            assert_eq!(found, filled(&nothing).await, "{prompt}");
            assert!(found.2["error"].is_object(), "{prompt}: {}", found.2);
        }
    }
}

/// K02: a workspace's address is worth nothing with another's credential, whether it is there or not.
#[tokio::test(flavor = "multi_thread")]
async fn k02_the_address_of_a_workspace_and_the_token_of_another_do_not_mix() {
    let service = Service::start().await;
    let (_, theirs) = Ids::victim(&service).await;
    let nothing = Ids::nowhere(&service);
    let other = service.workspace("other").await;
    let own = service
        .access_token_for(&other, Role::Admin, &dragoman::model::access::Scope::ALL, &service.url("/t/other/mcp"))
        .await;
    let (_, any) = service.member(&other, "any@other.example", Role::Admin).await;
    for token in [&own, &any, &service.token(&other).await] {
        let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
        let at = async |ids: &Ids| {
            let request = service.post(&format!("/t/{}/mcp", ids.slug), token).json(&list);
            answer(request.header("accept", "application/json, text/event-stream"), ids).await
        };
        let found = at(&theirs).await;
        assert_eq!(found.0, 401);
        assert_eq!(found, at(&nothing).await);
    }
    for path in ["/.well-known/oauth-protected-resource/t/{}/mcp", "/t/{}/mcp"] {
        let at = async |ids: &Ids| answer(service.http.get(service.url(&path.replace("{}", &ids.slug))), ids).await;
        assert_eq!(at(&theirs).await, at(&nothing).await, "{path}");
    }
}

/// K05: what others have named tells nothing: the same names and addresses are free, and nobody hears of them.
#[tokio::test(flavor = "multi_thread")]
async fn k05_names_that_another_workspace_uses_are_free() {
    both(&[], async |service| {
        let (_, theirs) = Ids::victim(&service).await;
        let other = service.workspace("other").await;
        let (_, admin) = service.member(&other, "admin@other.example", Role::Admin).await;
        for endpoint in endpoints() {
            if ["import_dataset", "create_invitation", "connectivity_create_token", "update_settings", "block_client"]
                .contains(&endpoint.name)
            {
                let request = request(&service, &endpoint, &admin, &arguments(endpoint.name, &theirs));
                let (status, body) = json_of(request.send().await.unwrap()).await;
                assert_eq!(status, 200, "{}: {body}", endpoint.name);
            }
        }
    })
    .await;
}

/// K11: no body or query sets whose workspace it is about, or anything else that was not asked for.
#[tokio::test(flavor = "multi_thread")]
async fn k11_arguments_that_are_not_an_operations_own_are_refused() {
    let service = Service::start().await;
    let (victim, theirs) = Ids::victim(&service).await;
    let other = service.workspace("other").await;
    let (user, admin) = service.member(&other, "admin@other.example", Role::Admin).await;
    for endpoint in endpoints() {
        for (name, value) in [
            ("org", victim.id.to_string()),
            ("org_id", victim.id.to_string()),
            ("tenant_id", victim.id.to_string()),
            ("workspace", theirs.slug.clone()),
            ("owner_id", user.id.to_string()),
            ("suspended_at", "0".into()),
            ("rights", "65535".into()),
        ] {
            let mut arguments = arguments(endpoint.name, &theirs);
            arguments[name] = value.into();
            let (status, body) = json_of(request(&service, &endpoint, &admin, &arguments).send().await.unwrap()).await;
            assert_eq!((status, super::code(&body)), (400, "invalid_argument"), "{} {name}: {body}", endpoint.name);
        }
    }
    unharmed(&service, &victim, &theirs).await;
}
