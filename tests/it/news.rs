//! What clients are told of without asking, in both eras: that lists have changed, and resources that they subscribed to.
//! Nobody hears of what they do not see.

use std::time::Duration;

use dragoman::model::access::{ExtScope, Role, Scope};
use dragoman::model::org::Org;
use dragoman::ops::publish::Publish;
use dragoman::store;
use reqwest::Response;
use serde_json::{Value, json};

use crate::sessions::{message, open, send};
use crate::support::operations::ONTOLOGY;
use crate::support::service::{Service, as_json, json_of, operator};

/// A stream of events, read message by message.
pub struct Messages {
    stream: Response,
    read: String,
}

impl Messages {
    pub fn of(stream: Response) -> Self {
        assert_eq!(stream.status(), 200);
        Self { stream, read: String::new() }
    }

    /// The next message; `None` at the end.
    pub async fn next(&mut self) -> Option<Value> {
        tokio::time::timeout(Duration::from_secs(30), self.read_on()).await.expect("nothing came")
    }

    async fn read_on(&mut self) -> Option<Value> {
        loop {
            if let Some((event, rest)) = self.read.split_once("\n\n") {
                let data = event.lines().find_map(|line| line.strip_prefix("data:")).map(str::to_owned);
                self.read = rest.to_owned();
                if let Some(data) = data.filter(|data| !data.trim().is_empty()) {
                    return Some(serde_json::from_str(&data).unwrap());
                }
                continue;
            }
            // A stream that is cut ends in an error, or in nothing.
            let part = self.stream.chunk().await.ok()??;
            self.read.push_str(std::str::from_utf8(&part).unwrap());
        }
    }

    /// What the next message is about: its method without the beginning, and the resource.
    pub async fn heard(&mut self) -> (String, Option<String>) {
        let message = self.next().await.expect("the stream ended");
        let method = message["method"].as_str().unwrap_or_else(|| panic!("{message}")).to_owned();
        let uri = message["params"]["uri"].as_str().map(str::to_owned);
        (method.strip_prefix("notifications/").unwrap().to_owned(), uri)
    }
}

fn listed() -> (String, Option<String>) {
    ("resources/list_changed".into(), None)
}

fn tools() -> (String, Option<String>) {
    ("tools/list_changed".into(), None)
}

pub fn updated(uri: &str) -> (String, Option<String>) {
    ("resources/updated".into(), Some(uri.into()))
}

/// Asks for everything, and for these resources.
fn everything(uris: &[&str]) -> Value {
    json!({ "notifications": { "toolsListChanged": true, "promptsListChanged": true, "resourcesListChanged": true,
        "resourceSubscriptions": uris } })
}

/// `subscriptions/listen`, and what was acknowledged.
pub async fn listen(service: &Service, token: &str, uris: &[&str]) -> (Messages, Value) {
    let stream = service.rpc(token, "subscriptions/listen", everything(uris)).send().await.unwrap();
    let mut messages = Messages::of(stream);
    let first = messages.next().await.unwrap();
    assert_eq!(first["method"], "notifications/subscriptions/acknowledged", "{first}");
    (messages, first["params"]["notifications"].clone())
}

/// Opens a session and its stream, and subscribes.
pub async fn hear(service: &Service, token: &str, uris: &[&str]) -> (Messages, String) {
    let session = open(service, token).await;
    let messages = stream(service, token, &session).await;
    for uri in uris {
        assert_eq!(subscribe(service, token, &session, uri).await["result"], json!({}), "{uri}");
    }
    (messages, session)
}

async fn stream(service: &Service, token: &str, session: &str) -> Messages {
    let request = service.get("/mcp", token).header("accept", "text/event-stream").header("mcp-session-id", session);
    Messages::of(request.send().await.unwrap())
}

async fn subscribe(service: &Service, token: &str, session: &str, uri: &str) -> Value {
    let body = json!({ "jsonrpc": "2.0", "id": uri, "method": "resources/subscribe", "params": { "uri": uri } });
    message(send(service, token, Some(session), body).await).await
}

pub async fn import(service: &Service, org: &Org, file: &str, publish: bool) -> String {
    let made = service.import(org, file, b"a\n1\n", publish).await.unwrap();
    format!("dragoman://datasets/{}", made["dataset_id"].as_str().unwrap())
}

pub async fn publish(service: &Service, org: &Org, uri: &str, published: bool) {
    let dataset_id = uri.rsplit('/').next().unwrap().parse().unwrap();
    let op = Publish { dataset_id, externally_queryable: published };
    as_json(service.gateway.call(&operator(org), op, dragoman::gateway::Via::new("admin.call")).await).unwrap();
}

/// A change that every listener hears of comes after what must not be heard: were that heard, it would come first.
#[tokio::test(flavor = "multi_thread")]
async fn news_are_of_what_the_listener_sees_and_of_nothing_else() {
    Service::both(async |service| {
        let (acme, other) = (service.workspace("acme").await, service.workspace("other").await);
        let (ours, theirs) = (service.token(&acme).await, service.token(&other).await);
        let sales = import(&service, &acme, "sales.csv", true).await;
        let hidden = import(&service, &acme, "hidden.csv", false).await;
        let foreign = import(&service, &other, "foreign.csv", true).await;
        let rows = format!("{sales}/rows");
        let wanted = [sales.as_str(), &rows, &hidden, &foreign, "ui://dragoman/table.html", "file:///etc/passwd"];

        let (mut modern, accepted) = listen(&service, &ours, &wanted).await;
        let mut uris: Vec<&str> = wanted[..4].to_vec();
        uris.sort_unstable();
        let mut acknowledged: Vec<&str> =
            accepted["resourceSubscriptions"].as_array().unwrap().iter().map(|uri| uri.as_str().unwrap()).collect();
        acknowledged.sort_unstable();
        assert_eq!(acknowledged, uris, "by their form alone: {accepted}");
        assert_eq!(accepted["promptsListChanged"], Value::Null, "prompts never change: {accepted}");
        let (mut older, session) = hear(&service, &ours, &[&sales, &rows]).await;
        let (mut neighbour, _) = listen(&service, &theirs, &[&sales, &foreign]).await;
        let (mut older_neighbour, _) = hear(&service, &theirs, &[&foreign]).await;

        // What is not there for them is the same as what is nowhere.
        let never = subscribe(&service, &ours, &session, &format!("{sales}0")).await;
        let nowhere = "dragoman://datasets/01936f2e-7c1a-7000-8000-000000000001";
        for unseen in [hidden.as_str(), &foreign, nowhere] {
            let told = subscribe(&service, &ours, &session, unseen).await;
            assert_eq!(
                (&told["error"]["code"], &told["error"]["message"]),
                (&never["error"]["code"], &never["error"]["message"])
            );
        }

        // Nobody sees these, and nobody hears of them.
        import(&service, &acme, "hidden.csv", false).await;
        import(&service, &acme, "draft.csv", false).await;
        // These are seen, by one side each.
        import(&service, &acme, "sales.csv", false).await;
        for messages in [&mut modern, &mut older] {
            let mut heard = [messages.heard().await, messages.heard().await];
            heard.sort();
            assert_eq!(heard, [updated(&sales), updated(&rows)]);
        }
        import(&service, &other, "foreign.csv", false).await;
        assert_eq!((neighbour.heard().await, older_neighbour.heard().await), (updated(&foreign), updated(&foreign)));

        // Published, it is new in the list, and to who asked for it before.
        publish(&service, &acme, &hidden, true).await;
        let mut heard = [modern.heard().await, modern.heard().await];
        heard.sort();
        assert_eq!(heard, [listed(), updated(&hidden)]);
        assert_eq!(older.heard().await, listed());
        publish(&service, &acme, &hidden, false).await;
        assert_eq!(older.heard().await, listed());

        // What is no longer subscribed to is not heard of.
        let body = json!({ "jsonrpc": "2.0", "id": 9, "method": "resources/unsubscribe", "params": { "uri": rows } });
        assert_eq!(message(send(&service, &ours, Some(&session), body).await).await["result"], json!({}));
        import(&service, &acme, "sales.csv", false).await;
        assert_eq!(older.heard().await, updated(&sales));
        import(&service, &acme, "more.csv", true).await;
        assert_eq!(older.heard().await, listed(), "and not the rows before it");
        let recorded = store::audit::newest(&service.db, Some(acme.id), 100).await.unwrap();
        for action in ["mcp.listen", "mcp.resource.subscribe", "mcp.resource.unsubscribe"] {
            assert!(recorded.iter().any(|(_, entry)| entry.action == action && entry.outcome == "ok"), "{action}");
        }
        drop((modern, older, neighbour, older_neighbour));
        service.stop().await;
    })
    .await;
}

/// What is told of an ontology until it has changed for whom it is watched.
async fn until_updated(messages: &mut Messages, uri: &str) {
    loop {
        match messages.heard().await {
            heard if heard == updated(uri) => return,
            // Until it is checked it is not in the list.
            heard => assert_eq!(heard, listed()),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_of_an_ontology_is_news_to_who_sees_it() {
    let service = Service::start().await;
    let (acme, other) = (service.workspace("acme").await, service.workspace("other").await);
    let (_, admin) = service.member(&acme, "ann@example.com", Role::Admin).await;
    service.import(&acme, "payroll.csv", b"who,euros\nAda,1200\n", true).await.unwrap();
    let (status, made) = service.manage(&admin, "POST", "/ontologies", Some(json!({ "text": ONTOLOGY }))).await;
    assert_eq!(status, 200, "{made}");
    let of = format!("/ontologies/{}", made["ontology"]["ontology_id"].as_str().unwrap());
    let check = async || {
        let (_, checked) = service.manage(&admin, "POST", &format!("{of}/check"), None).await;
        assert_eq!(checked["ontology"]["status"], "ready", "{checked}");
    };
    check().await;
    let uri = format!("dragoman:/{of}");
    let (ours, theirs) = (service.token(&acme).await, service.token(&other).await);
    let (_, few) = service.identity.create_token(acme.id, "few", &[ExtScope::Datasets], None).await.unwrap();
    let (mut modern, _) = listen(&service, &ours, &[&uri]).await;
    let (mut older, _) = hear(&service, &ours, &[&uri]).await;
    let (mut neighbour, _) = listen(&service, &theirs, &[&uri]).await;
    let (mut without, _) = listen(&service, few.expose(), &[&uri]).await;
    let text = ONTOLOGY.replace("SUM(payroll.euros)", "MAX(payroll.euros)");
    let (status, saved) = service.manage(&admin, "PUT", &of, Some(json!({ "text": text }))).await;
    assert_eq!(status, 200, "{saved}");
    check().await;
    until_updated(&mut modern, &uri).await;
    until_updated(&mut older, &uri).await;
    // What is news to these comes later: were the ontology told of, it would come first.
    import(&service, &other, "theirs.csv", true).await;
    import(&service, &acme, "more.csv", true).await;
    assert_eq!((neighbour.heard().await, without.heard().await), (listed(), listed()));
}

/// Whatever did not come through this process's gateway: the command line beside the service, another node.
#[tokio::test(flavor = "multi_thread")]
async fn changes_of_other_processes_are_news_too() {
    Service::both(async |service| {
        let org = service.workspace("acme").await;
        let token = service.token(&org).await;
        let sales = import(&service, &org, "sales.csv", true).await;
        let (mut modern, _) = listen(&service, &token, &[&sales]).await;
        let (mut older, _) = hear(&service, &token, &[&sales]).await;
        let both = [listed(), updated(&sales)];
        let id = sales.rsplit('/').next().unwrap().parse().unwrap();
        for published in [false, true] {
            let mut tx = service.db.tenant(org.id).await.unwrap();
            store::datasets::publish(&mut tx, org.id, id, published, service.clock.now()).await.unwrap();
            tx.commit().await.unwrap();
            for messages in [&mut modern, &mut older] {
                assert_eq!([messages.heard().await, messages.heard().await], both);
            }
        }
        // The switch of the workspace ends what is open, whoever turned it: who is let in again reads everything anew.
        service.identity.set_connectivity(org.id, false).await.unwrap();
        for messages in [&mut modern, &mut older] {
            while messages.next().await.is_some() {}
        }
        drop((modern, older));
        service.stop().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn another_role_is_another_list_of_tools_but_for_a_session_that_began_with_less() {
    let service = Service::start().await;
    let org = service.workspace("acme").await;
    let ann = service.person("ann@example.com").await;
    // A token has no scope that its person could not give when it was made.
    service.identity.set_role(org.id, ann.id, Role::Contributor).await.unwrap();
    let token = service.access_token_of(&org, ann.id, &Scope::ALL).await;
    service.identity.set_role(org.id, ann.id, Role::Viewer).await.unwrap();
    let (mut modern, _) = listen(&service, &token, &[]).await;
    let (mut small, _) = hear(&service, &token, &[]).await;
    service.identity.set_role(org.id, ann.id, Role::Contributor).await.unwrap();
    assert_eq!(modern.heard().await, tools());
    let (mut whole, _) = hear(&service, &token, &[]).await;
    service.identity.set_role(org.id, ann.id, Role::Viewer).await.unwrap();
    assert_eq!((modern.heard().await, whole.heard().await), (tools(), tools()));
    import(&service, &org, "sales.csv", true).await;
    assert_eq!(small.heard().await, listed(), "its tools were the same throughout");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_changes_between_two_streams_of_a_session_is_told_on_the_second() {
    let service = Service::start().await;
    let org = service.workspace("acme").await;
    let token = service.token(&org).await;
    let (first, session) = hear(&service, &token, &[]).await;
    drop(first);
    import(&service, &org, "sales.csv", true).await;
    import(&service, &org, "more.csv", true).await;
    let mut second = stream(&service, &token, &session).await;
    assert_eq!(second.heard().await, listed());
    // Of two that are open the newer speaks, and the older again when that is gone. What was told shortly before one
    // went may have been told to nobody, and is told again.
    let mut third = stream(&service, &token, &session).await;
    import(&service, &org, "third.csv", true).await;
    assert_eq!(third.heard().await, listed());
    drop(third);
    import(&service, &org, "fourth.csv", true).await;
    assert_eq!(second.heard().await, listed());
}

#[tokio::test(flavor = "multi_thread")]
async fn listening_has_its_places_its_number_and_an_end() {
    let service = Service::with(&[("DRAGOMAN_EXT_STREAMS", "2")]).await;
    let org = service.workspace("acme").await;
    let token = service.token(&org).await;
    let (mut first, _) = listen(&service, &token, &[]).await;
    let (second, _) = listen(&service, &token, &[]).await;
    let refused = service.rpc(&token, "subscriptions/listen", everything(&[])).send().await.unwrap();
    let (status, body) = json_of(refused).await;
    assert_eq!((status, &body["error"]["data"]["error"]["details"]["limit"]), (429, &json!("streams")), "{body}");
    drop(second);

    let session = open(&service, &token).await;
    let sales = import(&service, &org, "sales.csv", true).await;
    for number in 1..=101 {
        let told = subscribe(&service, &token, &session, &format!("{sales}/rows?limit={number}")).await;
        let refusal = told["error"]["message"].as_str().unwrap_or_default();
        assert_eq!(refusal.contains("at most 100"), number == 101, "{number}: {told}");
    }

    let id = token.split('_').nth(1).unwrap();
    assert!(service.identity.revoke_token(org.id, id).await.unwrap());
    loop {
        match first.next().await {
            Some(message) if message.get("result").is_some() => {
                assert_eq!(message["result"]["resultType"], "complete", "{message}");
            }
            Some(message) => assert!(message["method"].is_string(), "{message}"),
            None => break,
        }
    }
}

/// A capability that is advertised works, and each era has its own way.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_advertised_is_served_in_the_era_that_has_it() {
    let service = Service::start().await;
    let org = service.workspace("acme").await;
    let token = service.token(&org).await;
    let (_, discovered) = json_of(service.rpc(&token, "server/discover", json!({})).send().await.unwrap()).await;
    let capabilities = &discovered["result"]["capabilities"];
    assert_eq!(capabilities["tools"], json!({ "listChanged": true }), "{discovered}");
    assert_eq!(capabilities["resources"], json!({ "listChanged": true, "subscribe": true }));
    assert_eq!((&capabilities["logging"], &capabilities["prompts"]), (&json!({}), &json!({})));
    let session = open(&service, &token).await;
    for (method, params) in [
        ("resources/subscribe", json!({ "uri": "dragoman://datasets" })),
        ("resources/unsubscribe", json!({ "uri": "dragoman://datasets" })),
        ("logging/setLevel", json!({ "level": "info" })),
    ] {
        let newer = service.rpc(&token, method, params.clone()).send().await.unwrap();
        assert_eq!(newer.status(), 404, "{method}");
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        assert_eq!(message(send(&service, &token, Some(&session), body).await).await["result"], json!({}), "{method}");
    }
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen", "params": everything(&[]) });
    let older = message(send(&service, &token, Some(&session), body).await).await;
    assert_eq!(older["error"]["code"], -32601, "{older}");
}

/// Messages of the log are of the client's own calls, on the stream of the call, from the severity on that it asked for.
#[tokio::test(flavor = "multi_thread")]
async fn the_log_tells_of_ones_own_calls_from_the_severity_on_that_one_asks_for() {
    let service = Service::with(&[("DRAGOMAN_SQL_ROWS", "2")]).await;
    let org = service.workspace("acme").await;
    service.import(&org, "t.csv", b"a\n1\n2\n3\n", true).await.unwrap();
    let (token, colleague) = (service.token(&org).await, service.token(&org).await);
    let call = |sql: &str| json!({ "name": "dragoman_sql", "arguments": { "sql": sql } });
    let (session, other) = (open(&service, &token).await, open(&service, &colleague).await);
    let set = async |session: &str, token: &str, level: &str| {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "logging/setLevel", "params": { "level": level } });
        message(send(&service, token, Some(session), body).await).await
    };
    // All messages of a call, its answer last.
    let older = async |sql: &str| {
        let body = json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": call(sql) });
        let mut messages = Messages::of(send(&service, &token, Some(&session), body).await);
        let mut all = Vec::new();
        while let Some(message) = messages.next().await {
            all.push(message);
        }
        assert_eq!(all.last().unwrap()["id"], 7);
        all
    };
    let levels = |all: &[Value]| -> Vec<String> {
        let logs = all.iter().filter(|message| message["method"] == "notifications/message");
        logs.map(|message| message["params"]["level"].as_str().unwrap().to_owned()).collect()
    };
    let whole = "SELECT count(*) AS n FROM t";
    let cut = "SELECT a FROM t";
    let wrong = "SELECT nothing FROM t";
    assert_eq!(levels(&older(cut).await), [""; 0], "nobody asked");
    assert_eq!(set(&session, &token, "warning").await["result"], json!({}));
    assert_eq!(set(&other, &colleague, "debug").await["result"], json!({}));
    assert_eq!(levels(&older(whole).await), [""; 0]);
    let told = older(cut).await;
    assert_eq!(levels(&told), ["warning"]);
    assert_eq!(told[0]["params"]["logger"], "dragoman");
    assert_eq!(told[0]["params"]["data"]["tool"], "dragoman_sql");
    assert_eq!(levels(&older(wrong).await), ["error"]);
    assert_eq!(set(&session, &token, "debug").await["result"], json!({}));
    assert_eq!(levels(&older(cut).await), ["warning", "info"]);
    assert_eq!(set(&session, &token, "loud").await["error"]["code"], -32602);
    // The colleague's stream is silent throughout: what comes first on it is the news that come last.
    let mut listening = stream(&service, &colleague, &other).await;
    older(cut).await;
    import(&service, &org, "more.csv", true).await;
    assert_eq!(listening.heard().await, listed());

    let modern = async |level: Option<&str>| {
        let mut request = service.rpc(&token, "tools/call", call(cut)).build().unwrap();
        if let Some(level) = level {
            let mut body: Value = serde_json::from_slice(request.body().unwrap().as_bytes().unwrap()).unwrap();
            body["params"]["_meta"]["io.modelcontextprotocol/logLevel"] = level.into();
            *request.body_mut() = Some(body.to_string().into());
        }
        let response = service.http.execute(request).await.unwrap();
        assert_eq!(response.status(), 200);
        let text = response.text().await.unwrap();
        let lines = text.lines().map(|line| line.strip_prefix("data:").unwrap_or(line));
        let all: Vec<Value> = lines.filter_map(|line| serde_json::from_str(line).ok()).collect();
        assert!(all.last().unwrap()["result"].is_object(), "{text}");
        levels(&all)
    };
    assert_eq!(modern(None).await, [""; 0]);
    assert_eq!(modern(Some("warning")).await, ["warning"]);
    assert_eq!(modern(Some("info")).await, ["warning", "info"]);
}
