//! What ChatGPT asks of every server: `search` and `fetch` in their exact form, and the toolsets by which an address
//! offers them, or less.

use dragoman::base::id::Id;
use dragoman::gateway::operation::Toolset;
use dragoman::model::access::{ExtScope, Role, Scope};
use dragoman::model::org::Org;
use dragoman::model::user::User;
use serde_json::{Value, json};

use crate::console::person;
use crate::sessions::message;
use crate::site::{Browser, client, location};
use crate::support::operations::{ONTOLOGY, tools_in, tools_of};
use crate::support::service::{PASSWORD, Service, bytes_of, json_of};

const CHATGPT: (&str, &str) =
    ("https://chatgpt.com/oauth/client.json", "https://chatgpt.com/connector_platform_oauth_redirect");
const CLAUDE: (&str, &str) =
    ("https://claude.ai/oauth/mcp-oauth-client-metadata", "https://claude.ai/api/mcp/auth_callback");

const READ: [Scope; 2] = [Scope::DataRead, Scope::OntologiesRead];

/// A workspace with a table, documents and an ontology, and a table that no client sees.
struct Acme {
    service: Service,
    org: Org,
    ann: User,
    /// Ann's ChatGPT.
    token: String,
    table: String,
    unpublished: String,
    ontology: String,
    document: String,
}

impl Acme {
    async fn in_service(service: Service) -> Self {
        let org = service.workspace("acme").await;
        let (ann, admin) = service.member(&org, "ann@example.com", Role::Admin).await;
        let rows = b"who,euros\nAda,1200\n\"Bo | \"\"B\"\"\",900\n";
        let table = id(&service.import(&org, "payroll.csv", rows, true).await.unwrap());
        let unpublished = id(&service.import(&org, "layoffs.csv", b"who\nAda\n", false).await.unwrap());
        let text = b"# Delays\n\nA <script>alert(1)</script> negative delay means that a flight left early.\n";
        let documents = id(&service.import(&org, "handbook.md", text, true).await.unwrap());
        let (status, made) = service.manage(&admin, "POST", "/ontologies", Some(json!({ "text": ONTOLOGY }))).await;
        assert_eq!(status, 200, "{made}");
        let ontology = made["ontology"]["ontology_id"].as_str().unwrap().to_owned();
        let (_, checked) = service.manage(&admin, "POST", &format!("/ontologies/{ontology}/check"), None).await;
        assert_eq!(checked["ontology"]["status"], "ready", "{checked}");
        let mut read = service.db.read_tenant(org.id).await.unwrap();
        let dataset = documents.parse().unwrap();
        let of = dragoman::store::datasets::by_id(&mut read, org.id, dataset).await.unwrap().unwrap();
        let version = of.version.unwrap();
        let kept = dragoman::store::documents::list(&mut read, org.id, dataset, &version).await.unwrap();
        let document = kept[0].id.to_string();
        drop(read);
        let token = service.access_token_by(&org, ann.id, &READ, CHATGPT).await;
        Self { service, org, ann, token, table, unpublished, ontology, document }
    }

    async fn call(&self, token: &str, name: &str, arguments: Value) -> Value {
        let params = json!({ "name": name, "arguments": arguments });
        let request = self.service.rpc_at("/mcp?toolsets=chatgpt", token, "tools/call", params);
        let (status, body) = json_of(request.send().await.unwrap()).await;
        assert_eq!(status, 200, "{body}");
        body["result"].clone()
    }

    /// What a call found, once its form was looked at.
    async fn exact(&self, token: &str, name: &str, arguments: Value) -> Value {
        let result = self.call(token, name, arguments).await;
        let [only] = result["content"].as_array().unwrap().as_slice() else { panic!("{result}") };
        assert_eq!((&only["type"], &result["isError"]), (&json!("text"), &json!(false)), "{result}");
        let found: Value = serde_json::from_str(only["text"].as_str().unwrap()).unwrap();
        assert_eq!(found, result["structuredContent"]);
        let entry = self.service.last_audit(&self.org).await;
        assert_eq!(result["_meta"]["dragoman/request_id"], json!(entry.request_id));
        assert_eq!(entry.bytes, i64::try_from(bytes_of(&result)).unwrap());
        found
    }

    async fn ids(&self, token: &str, query: &str) -> Vec<String> {
        let found = self.exact(token, "search", json!({ "query": query })).await;
        let results = found["results"].as_array().unwrap_or_else(|| panic!("{found}"));
        results.iter().map(|result| result["id"].as_str().unwrap().to_owned()).collect()
    }

    /// The refusal of a call, without what is new in each.
    async fn refused(&self, token: &str, id: &str) -> Value {
        let result = self.call(token, "fetch", json!({ "id": id })).await;
        assert_eq!(result["isError"], true, "{result}");
        let error: Value = serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
        error["error"].clone()
    }
}

fn id(made: &Value) -> String {
    made["dataset_id"].as_str().unwrap().to_owned()
}

fn keys(object: &Value) -> Vec<&str> {
    let mut keys: Vec<&str> =
        object.as_object().unwrap_or_else(|| panic!("{object}")).keys().map(String::as_str).collect();
    keys.sort_unstable();
    keys
}

#[tokio::test(flavor = "multi_thread")]
async fn search_and_fetch_have_the_form_that_chatgpt_checks() {
    Service::both(async |service| {
        let acme = Acme::in_service(service).await;
        let (_, listed) = json_of(
            acme.service.rpc_at("/mcp?toolsets=chatgpt", &acme.token, "tools/list", json!({})).send().await.unwrap(),
        )
        .await;
        for (tool, (name, argument)) in
            listed["result"]["tools"].as_array().unwrap().iter().zip([("fetch", "id"), ("search", "query")])
        {
            assert_eq!((&tool["name"], &tool["annotations"]["readOnlyHint"]), (&json!(name), &json!(true)));
            let input = &tool["inputSchema"];
            assert_eq!((keys(&input["properties"]), &input["required"]), (vec![argument], &json!([argument])));
            assert_eq!(input["properties"][argument]["type"], "string");
        }

        let found = acme.exact(&acme.token, "search", json!({ "query": "who earns how many euros?" })).await;
        assert_eq!(keys(&found), ["results"]);
        let things = [
            (format!("dataset:{}", acme.table), format!("/w/acme/datasets/{}", acme.table), "payroll"),
            (format!("ontology:{}", acme.ontology), format!("/w/acme/ontologies/{}", acme.ontology), "their_pay"),
            (
                format!("document:{}#0", acme.document),
                format!("/w/acme/documents/{}?chunk=0#passage", acme.document),
                "Delays",
            ),
        ];
        for (id, path, name) in &things {
            let result = found["results"].as_array().unwrap().iter().find(|result| result["id"] == **id);
            let result = result.unwrap_or_else(|| panic!("{id}: {found}"));
            assert_eq!(keys(result), ["id", "title", "url"]);
            assert!(result["title"].as_str().unwrap().contains(name), "{result}");
            assert_eq!(result["url"], acme.service.url(path));
            let fetched = acme.exact(&acme.token, "fetch", json!({ "id": id })).await;
            assert_eq!(keys(&fetched), ["id", "metadata", "text", "title", "url"]);
            assert_eq!(
                (&fetched["id"], &fetched["url"], &fetched["title"]),
                (&json!(id), &result["url"], &json!(name))
            );
        }
        let text = async |id: &str| acme.exact(&acme.token, "fetch", json!({ "id": id })).await["text"].clone();
        let table = text(&things[0].0).await;
        for part in ["payroll with 2 rows", "- euros BIGINT", "| Ada | 1200 |", "| Bo \\| \"B\" | 900 |"] {
            assert!(table.as_str().unwrap().contains(part), "{part}: {table}");
        }
        let guide = text(&things[1].0).await;
        assert!(
            guide.as_str().unwrap().contains("xyzzy") && guide.as_str().unwrap().contains(&acme.ontology),
            "{guide}"
        );
        let document = text(&things[2].0).await;
        assert!(document.as_str().unwrap().contains("<script>alert(1)</script> negative delay"), "{document}");
        assert_eq!(acme.ids(&acme.token, "flight that left early").await[0], things[2].0, "what fits best is first");
        assert_eq!(acme.ids(&acme.token, "payroll").await[0], things[0].0);

        let rest = acme.service.post("/api/v1/ext/chatgpt/search", &acme.token).json(&json!({ "query": "payroll" }));
        let (status, body) = json_of(rest.send().await.unwrap()).await;
        assert_eq!((status, keys(&body)), (200, vec!["request_id", "results"]), "REST keeps its own form");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_finds_or_fetches_what_they_may_not_see() {
    let acme = Acme::in_service(Service::start().await).await;
    let service = &acme.service;
    let nowhere = Id::<User>::new(&service.clock).to_string();
    let absent = acme.refused(&acme.token, &format!("dataset:{nowhere}")).await;
    assert_eq!(absent["code"], "not_found");

    // Not published: it is not there, by any of its words.
    let unpublished = format!("dataset:{}", acme.unpublished);
    for query in ["layoffs", "who", "datasets"] {
        assert!(!acme.ids(&acme.token, query).await.contains(&unpublished), "{query}");
    }
    assert_eq!(acme.refused(&acme.token, &unpublished).await, absent);

    // Another workspace's.
    let other = service.workspace("other").await;
    let stranger = service.token(&other).await;
    let params = json!({ "name": "search", "arguments": { "query": "payroll euros delay" } });
    let request = service.rpc_at("/mcp?toolsets=chatgpt", &stranger, "tools/call", params);
    let (_, body) = json_of(request.send().await.unwrap()).await;
    assert_eq!(body["result"]["structuredContent"], json!({ "results": [] }));
    for (kind, id) in [("dataset", &acme.table), ("ontology", &acme.ontology), ("document", &acme.document)] {
        for id in [id, &nowhere] {
            assert_eq!(acme.refused(&stranger, &format!("{kind}:{id}")).await, absent, "{kind}");
        }
    }

    // A credential that may search and no more knows documents alone; each right adds what it is for.
    let of = async |scopes: &[ExtScope]| {
        service.identity.create_token(acme.org.id, "t", scopes, None).await.unwrap().1.expose().to_owned()
    };
    let (table, ontology) = (format!("dataset:{}", acme.table), format!("ontology:{}", acme.ontology));
    let search = of(&[ExtScope::Search]).await;
    assert_eq!(acme.ids(&search, "payroll euros").await, [format!("document:{}#0", acme.document)]);
    assert_eq!(acme.refused(&search, &table).await, absent);
    assert_eq!(acme.refused(&search, &ontology).await, absent);
    let datasets = of(&[ExtScope::Search, ExtScope::Datasets]).await;
    assert!(acme.ids(&datasets, "payroll").await.contains(&table));
    assert!(!acme.ids(&datasets, "euros").await.contains(&table), "columns are the schema's");
    let fetched = acme.exact(&datasets, "fetch", json!({ "id": table })).await;
    assert!(!fetched["text"].as_str().unwrap().contains("Ada"), "{fetched}");
    let no_ontologies = service.access_token_by(&acme.org, acme.ann.id, &[Scope::DataRead], CHATGPT).await;
    let found = acme.ids(&no_ontologies, "payroll xyzzy").await;
    assert!(found.contains(&table) && !found.contains(&ontology), "{found:?}");
    assert_eq!(acme.refused(&no_ontologies, &ontology).await, absent);

    // What is wrong with the arguments is said.
    for (name, arguments, field) in [
        ("search", json!({ "query": "x", "top_k": 1 }), "top_k"),
        ("search", json!({ "query": " " }), "query"),
        ("search", json!({ "query": "x".repeat(1_001) }), "query"),
        ("fetch", json!({ "id": "payroll" }), "id"),
        ("fetch", json!({}), "id"),
    ] {
        let result = acme.call(&acme.token, name, arguments).await;
        let text = result["content"][0]["text"].as_str().unwrap();
        let error: Value = serde_json::from_str(text).unwrap();
        let error = &error["error"];
        assert_eq!(
            (&error["code"], &error["details"]["field"]),
            (&json!("invalid_argument"), &json!(field)),
            "{error}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_address_opens_for_who_is_signed_in() {
    let acme = Acme::in_service(Service::start().await).await;
    let found = acme.exact(&acme.token, "search", json!({ "query": "payroll euros delay" })).await;
    let (_, browser) = person(&acme.service, "vic@example.com", &[(&acme.org, Role::Viewer)]).await;
    let other = acme.service.workspace("other").await;
    let (_, stranger) = person(&acme.service, "sam@example.com", &[(&other, Role::Admin)]).await;
    let results = found["results"].as_array().unwrap();
    assert!(results.len() >= 3, "{found}");
    for result in results {
        let url = result["url"].as_str().unwrap();
        // Browsers keep the fragment to themselves.
        let path = url.strip_prefix(&acme.service.url("")).unwrap().split('#').next().unwrap();
        let page = browser.get(path).await;
        assert_eq!(page.status(), 200, "{path}");
        let page = page.text().await.unwrap();
        let name = result["title"].as_str().unwrap().split(" (").next().unwrap();
        assert!(page.contains(name), "{name}: {page}");
        assert_eq!(stranger.get(path).await.status(), 404, "{path}");

        let signed_out = Browser { base: acme.service.url(""), http: client(true) };
        let login = location(&signed_out.get(path).await);
        assert!(login.starts_with("/login?return_to=%2Fw%2Facme%2F"), "{login}");
        assert_eq!(location(&signed_out.log_in("vic@example.com", PASSWORD, path).await), path, "and back");
    }
    let page = browser.get(&format!("/w/acme/documents/{}", acme.document)).await.text().await.unwrap();
    assert!(page.contains("negative delay means") && !page.contains("<script>alert"), "{page}");
    let nowhere = Id::<User>::new(&acme.service.clock);
    for id in [nowhere.to_string(), "x".into()] {
        assert_eq!(browser.get(&format!("/w/acme/documents/{id}")).await.status(), 404);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_document_is_fetched_at_its_passage_and_goes_on_part_by_part() {
    let service = Service::with(&[("DRAGOMAN_REPLY_BYTES", "8000")]).await;
    let acme = Acme::in_service(service).await;
    let about = |at: usize| if at == 30 { "xenoliths <b>" } else { "plain stones" };
    let whole: String = (0..60)
        .map(|at| format!("## Layer {at}\n\nIt is made of {}, é. {}\n\n", about(at), "More of it. ".repeat(30)))
        .collect();
    let whole = format!("# Quarry\n\n{whole}");
    acme.service.import(&acme.org, "quarry.md", whole.as_bytes(), true).await.unwrap();

    let found = acme.exact(&acme.token, "search", json!({ "query": "xenoliths" })).await;
    let best = &found["results"][0];
    let fetched = acme.exact(&acme.token, "fetch", json!({ "id": best["id"] })).await;
    let (text, of) = (fetched["text"].as_str().unwrap(), &fetched["metadata"]);
    assert_eq!((&fetched["id"], &of["heading"]), (&best["id"], &json!("Quarry > Layer 30")), "{of}");
    let at = |key: &str| of[key].as_str().unwrap().parse::<usize>().unwrap();
    assert!(text[at("passage_start")..at("passage_end")].starts_with("It is made of xenoliths <b>, é."), "{of}");

    let document = best["id"].as_str().unwrap().split('#').next().unwrap();
    let (mut next, mut read, mut parts) = (Some(document.to_owned()), String::new(), 0);
    while let Some(id) = next {
        let part = acme.exact(&acme.token, "fetch", json!({ "id": id })).await;
        read.push_str(part["text"].as_str().unwrap());
        parts += 1;
        assert!(
            part["metadata"]["part"].as_str().unwrap().starts_with(&format!("{parts} of ")),
            "{}",
            part["metadata"]
        );
        next = part["metadata"]["next"].as_str().map(str::to_owned);
    }
    assert!(read == whole && parts > 2, "{parts} parts, {} of {} bytes", read.len(), whole.len());
    let beyond = acme.refused(&acme.token, &format!("{document}/99")).await;
    assert!(beyond["message"].as_str().unwrap().contains(&format!("1 to {parts}")), "{beyond}");

    let (_, browser) = person(&acme.service, "vic@example.com", &[(&acme.org, Role::Viewer)]).await;
    let path = best["url"].as_str().unwrap().strip_prefix(&acme.service.url("")).unwrap();
    let page = browser.get(path.strip_suffix("#passage").unwrap()).await.text().await.unwrap();
    let (_, marked) = page.split_once("<mark id=\"passage\"").unwrap_or_else(|| panic!("{page}"));
    assert!(marked.split_once("</mark>").unwrap().0.contains("It is made of xenoliths &#60;b&#62;, é."), "{marked}");
    assert!(page.contains("Layer 30</h3>") && page.contains("rel=\"next\"") && page.contains("rel=\"prev\""));
    let plain = browser.get(&path.replace("chunk=", "chunk=9")).await.text().await.unwrap();
    assert!(
        plain.contains("Layer 0</h3>") && !plain.contains("<mark"),
        "a passage that is no more: the document alone"
    );
}

/// The names of the tools at an address.
async fn tools(service: &Service, path: &str, token: &str) -> Vec<String> {
    let (status, listed) = json_of(service.rpc_at(path, token, "tools/list", json!({})).send().await.unwrap()).await;
    assert_eq!(status, 200, "{listed}");
    names(&listed)
}

fn names(listed: &Value) -> Vec<String> {
    let tools = listed["result"]["tools"].as_array().unwrap_or_else(|| panic!("{listed}"));
    tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_address_offers_the_toolsets_that_it_names_and_no_other() {
    let service = Service::start().await;
    let org = service.workspace("acme").await;
    let token = service.token(&org).await;
    let has = |tools: &[String], name: &str| tools.iter().any(|tool| tool == name);
    let data = tools(&service, "/mcp?toolsets=data", &token).await;
    assert!(has(&data, "dragoman_sql") && !has(&data, "ask_question") && !has(&data, "search"), "{data:?}");
    let rag = tools(&service, "/mcp/?toolsets=RAG", &token).await;
    assert!(has(&rag, "dragoman_search") && !has(&rag, "dragoman_sql"), "{rag:?}");
    for address in ["/mcp?toolsets=rag,%20ask", "/mcp?toolsets=rag%2Cask", "/mcp?x=1&toolsets=ask&toolsets=rag"] {
        let both = tools(&service, address, &token).await;
        assert!(has(&both, "ask_question") && rag.iter().all(|name| has(&both, name)), "{both:?}");
        assert!(!has(&both, "dragoman_sql"));
    }
    let at_workspace = "/t/acme/mcp?toolsets=chatgpt";
    assert_eq!(tools(&service, at_workspace, &token).await, tools_in(Toolset::Chatgpt, Role::Admin));
    assert_eq!(tools(&service, "/mcp", &token).await, tools_of(Role::Admin), "without it all but two");

    let call = async |path: &str, name: &str| {
        let params = json!({ "name": name, "arguments": {} });
        json_of(service.rpc_at(path, &token, "tools/call", params).send().await.unwrap()).await.1
    };
    let refused = call("/mcp?toolsets=ask,rag", "dragoman_profile_dataset").await;
    assert_eq!(refused["error"]["code"], -32602, "{refused}");
    let message = refused["error"]["message"].as_str().unwrap();
    assert!(message.contains("the toolset data") && message.contains("but rag, ask"), "{message}");
    let entry = service.last_audit(&org).await;
    assert_eq!((entry.outcome.as_str(), entry.target.as_str()), ("invalid_argument", "dragoman_profile_dataset"));
    assert_eq!(call("/mcp", "search").await["error"]["code"], -32602, "not offered, not called");
    assert!(call("/mcp?toolsets=ask,rag", "dragoman_list_datasets").await["result"]["isError"] == false);

    for wrong in ["/mcp?toolsets=dta", "/mcp?toolsets=data,", "/mcp?toolsets="] {
        let (status, body) =
            json_of(service.rpc_at(wrong, &token, "tools/list", json!({})).send().await.unwrap()).await;
        assert_eq!((status, &body["error"]["code"]), (400, &json!(-32602)), "{wrong}: {body}");
        let message = body["error"]["message"].as_str().unwrap();
        assert!(message.contains("data, rag, ask, rlm, chatgpt"), "{message}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_keeps_what_it_was_offered_at_its_beginning() {
    let service = Service::start().await;
    let org = service.workspace("acme").await;
    let token = service.token(&org).await;
    let send = async |path: &str, session: Option<&str>, body: Value| {
        let mut request = service.post(path, &token).header("accept", "*/*").json(&body);
        if let Some(session) = session {
            request = request.header("mcp-session-id", session).header("mcp-protocol-version", "2025-11-25");
        }
        request.send().await.unwrap()
    };
    let client = json!({ "name": "old", "version": "1" });
    let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
    let initialize = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params });
    let opened = send("/mcp?toolsets=chatgpt", None, initialize.clone()).await;
    let session = opened.headers()["mcp-session-id"].to_str().unwrap().to_owned();
    let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    assert_eq!(send("/mcp?toolsets=chatgpt", Some(&session), ready).await.status(), 202);
    let list = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" });
    for path in ["/mcp", "/mcp?toolsets=chatgpt", "/mcp?toolsets=data"] {
        let listed = message(send(path, Some(&session), list.clone()).await).await;
        assert_eq!(names(&listed), tools_in(Toolset::Chatgpt, Role::Admin), "{path}");
    }
    let call = async |id: u32, name: &str, arguments: Value| {
        let params = json!({ "name": name, "arguments": arguments });
        let call = json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params });
        message(send("/mcp", Some(&session), call).await).await
    };
    let found = call(3, "search", json!({ "query": "anything" })).await;
    assert_eq!(found["result"]["content"], json!([{ "type": "text", "text": "{\"results\":[]}" }]), "{found}");
    assert_eq!(found["result"]["structuredContent"], json!({ "results": [] }));
    let refused = call(4, "dragoman_list_datasets", json!({})).await;
    assert_eq!(refused["error"]["code"], -32602, "{refused}");
    assert_eq!(send("/mcp?toolsets=nothing", None, initialize).await.status(), 400);
}

#[tokio::test(flavor = "multi_thread")]
async fn chatgpt_is_known_by_its_document_and_by_nothing_that_is_said() {
    let service = Service::start().await;
    let org = service.workspace("acme").await;
    let (user, registered) = service.member(&org, "ann@example.com", Role::Admin).await;
    let plain = tools_of(Role::Admin);
    let chatgpt = service.access_token_by(&org, user.id, &Scope::ALL, CHATGPT).await;
    let offered = tools(&service, "/mcp", &chatgpt).await;
    let own = tools_in(Toolset::Chatgpt, Role::Admin);
    assert_eq!(offered.len(), plain.len() + own.len());
    assert!(own.iter().all(|name| offered.iter().any(|tool| tool == name)), "{offered:?}");
    assert!(
        !tools(&service, "/mcp?toolsets=data", &chatgpt).await.contains(&"search".to_owned()),
        "what is asked holds"
    );

    let claude = service.access_token_by(&org, user.id, &Scope::ALL, CLAUDE).await;
    let (_, labelled) = service.identity.create_token(org.id, CHATGPT.0, &ExtScope::ALL, None).await.unwrap();
    for token in [claude.as_str(), &registered, labelled.expose()] {
        assert_eq!(tools(&service, "/mcp", token).await, plain);
        // Nor by the name that a client gives itself.
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": { "name": "ChatGPT", "version": CHATGPT.0 },
        });
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": { "_meta": meta } });
        let request = service.post("/mcp", token).header("mcp-protocol-version", "2026-07-28").json(&body);
        let request =
            request.header("mcp-method", "tools/list").header("accept", "*/*").header("user-agent", "openai-mcp");
        assert_eq!(names(&json_of(request.send().await.unwrap()).await.1), plain);
    }
}
