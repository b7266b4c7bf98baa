//! Attacks on what clients hold, in numbers: each is tried some hundred times, and none may get in. What was tried, and how
//! long it took, is printed; `docs/security.md` has the figures.

use std::time::Instant;

use reqwest::Method;
use serde_json::{Value, json};

use crate::identity::World;
use crate::news::{hear, import, listen, publish, updated};
use crate::questions::Bakery;
use crate::sessions::{open, send};
use crate::support::databases::both;
use crate::support::service::{Service, json_of};

/// What one kind of attack came to.
struct Tally {
    what: &'static str,
    tried: usize,
    let_in: usize,
    began: Instant,
}

impl Tally {
    fn of(what: &'static str) -> Self {
        Self { what, tried: 0, let_in: 0, began: Instant::now() }
    }

    fn count(&mut self, is_in: bool) {
        self.tried += 1;
        self.let_in += usize::from(is_in);
    }

    fn end(self, least: usize) {
        let Self { what, tried, let_in, began } = self;
        eprintln!("{what}: {tried} tried, {let_in} let in, {} ms", began.elapsed().as_millis());
        assert!(tried >= least && let_in == 0, "{what}: {let_in} of {tried} got in");
    }
}

/// A text with its character at a place changed to another that may stand there.
fn changed(text: &str, at: usize) -> String {
    let other = if text.as_bytes()[at] == b'A' { "B" } else { "A" };
    format!("{}{other}{}", &text[..at], &text[at + 1..])
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_gets_into_the_session_of_another() {
    let service = Service::with(&[("DRAGOMAN_MCP_SESSIONS", "100")]).await;
    let (acme, other) = (service.workspace("acme").await, service.workspace("other").await);
    let owner = service.token(&acme).await;
    let strangers = [service.token(&acme).await, service.token(&other).await];
    let mut sessions = Vec::new();
    for _ in 0..50 {
        sessions.push(open(&service, &owner).await);
    }
    let list = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" });
    let mut tally = Tally::of("sessions of others");
    for session in &sessions {
        for stranger in &strangers {
            tally.count(send(&service, stranger, Some(session), list.clone()).await.status() != 404);
            for method in [Method::GET, Method::DELETE] {
                let request = service.http.request(method, service.url("/mcp")).bearer_auth(stranger);
                let request = request.header("mcp-session-id", session).header("accept", "text/event-stream");
                tally.count(request.send().await.unwrap().status() != 404);
            }
        }
    }
    tally.end(300);
    for session in &sessions {
        assert_eq!(send(&service, &owner, Some(session), list.clone()).await.status(), 200, "its owner stays in");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_redeemed_is_redeemed_once() {
    both(async |db| {
        let world = World::new(db).await;
        let mut tally = Tally::of("codes sent again");
        for _ in 0..100 {
            let code = world.code().await;
            world.redeem(&code).await.unwrap();
            for seconds in [0, 5, 10] {
                world.wait(seconds);
                tally.count(world.redeem(&code).await.is_ok());
            }
        }
        tally.end(300);
        let mut tally = Tally::of("refresh tokens sent again");
        for _ in 0..100 {
            let first = world.pair().await;
            let second = world.refresh(&first.refresh).await.unwrap();
            world.wait(31);
            tally.count(world.refresh(&first.refresh).await.is_ok());
            // Neither they nor whoever they stole it from goes on with the family.
            tally.count(world.refresh(&second.refresh).await.is_ok());
            tally.count(world.verify(&second.access).await.is_ok());
        }
        tally.end(300);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn cursors_are_of_whom_they_were_given_to_and_cannot_be_made() {
    let service = Service::with(&[("DRAGOMAN_REPLY_BYTES", "20000")]).await;
    let (acme, other) = (service.workspace("acme").await, service.workspace("other").await);
    let token = service.token(&acme).await;
    let strangers = [service.token(&acme).await, service.token(&other).await];
    let sql = "SELECT range AS n, repeat('x', 200) AS x FROM range(300)";
    let (failed, first) = service.tool(&token, "dragoman_sql", json!({ "sql": sql })).await;
    let cursor = first["next_cursor"].as_str().filter(|_| !failed).unwrap_or_else(|| panic!("{first}")).to_owned();
    let mut tally = Tally::of("cursors of others and made up");
    let mut attempts: Vec<(&str, String, &str)> =
        (0..cursor.len()).map(|at| (token.as_str(), changed(&cursor, at), sql)).collect();
    for stranger in &strangers {
        attempts.extend((0..50).map(|_| (stranger.as_str(), cursor.clone(), sql)));
    }
    attempts.extend((0..50).map(|_| (token.as_str(), cursor.clone(), "SELECT 1 AS n")));
    for (bearer, cursor, sql) in &attempts {
        let (failed, _) = service.tool(bearer, "dragoman_sql", json!({ "sql": sql, "cursor": cursor })).await;
        tally.count(!failed);
    }
    tally.end(200);
    let (failed, next) = service.tool(&token, "dragoman_sql", json!({ "sql": sql, "cursor": cursor })).await;
    assert!(!failed && next["row_count"].as_u64().unwrap() > 0, "its owner goes on: {next}");
}

#[tokio::test(flavor = "multi_thread")]
async fn states_of_forms_are_of_whom_they_were_given_to_and_cannot_be_made() {
    let bakery = Bakery::start().await;
    let call = async |token: &str, arguments: &Value, state: Option<&str>| {
        let mut params = json!({ "name": "ask_question", "arguments": arguments });
        if let Some(state) = state {
            params["requestState"] = state.into();
            let form = json!({ "action": "accept", "content": { "answer_1": "pieces" } });
            params["inputResponses"] = json!({ "clarification": form });
        }
        let mut request = bakery.service.rpc(token, "tools/call", params).build().unwrap();
        let mut body: Value = serde_json::from_slice(request.body().unwrap().as_bytes().unwrap()).unwrap();
        body["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"] =
            json!({ "elicitation": { "form": {} } });
        *request.body_mut() = Some(body.to_string().into());
        json_of(bakery.service.http.execute(request).await.unwrap()).await.1["result"].clone()
    };
    let arguments = json!({ "ontologyId": bakery.ontology, "question": "Which is the best shop?" });
    let others = json!({ "ontologyId": bakery.ontology, "question": "Which is the worst shop?" });
    let asked = call(&bakery.client, &arguments, None).await;
    let state = asked["requestState"].as_str().unwrap_or_else(|| panic!("{asked}"));
    let mut tally = Tally::of("states of others and made up");
    for at in 0..state.len() {
        tally.count(call(&bakery.client, &arguments, Some(&changed(state, at))).await["isError"] != true);
    }
    for _ in 0..50 {
        tally.count(call(&bakery.admin, &arguments, Some(state)).await["isError"] != true);
        tally.count(call(&bakery.client, &others, Some(state)).await["isError"] != true);
    }
    tally.end(200);
    assert_ne!(call(&bakery.client, &arguments, Some(state)).await["isError"], true, "its owner goes on");
}

#[tokio::test(flavor = "multi_thread")]
async fn no_news_go_to_another_workspace() {
    let service = Service::start().await;
    let (acme, other) = (service.workspace("acme").await, service.workspace("other").await);
    let token = service.token(&acme).await;
    let ours = import(&service, &acme, "ours.csv", true).await;
    let theirs = import(&service, &other, "theirs.csv", true).await;
    let (mut modern, _) = listen(&service, &token, &[&ours, &theirs]).await;
    let (mut older, _) = hear(&service, &token, &[&ours]).await;
    let mut tally = Tally::of("changes of another workspace, to each of two listeners");
    for at in 0..200 {
        publish(&service, &other, &theirs, at % 2 == 1).await;
    }
    import(&service, &acme, "ours.csv", false).await;
    for messages in [&mut modern, &mut older] {
        // What is ours comes last: everything before it is another's.
        let mut heard = 0;
        while messages.heard().await != updated(&ours) {
            heard += 1;
        }
        (0..200).for_each(|at| tally.count(at < heard));
    }
    tally.end(400);
}
