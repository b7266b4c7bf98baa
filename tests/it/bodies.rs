//! What is kept of a body while it comes: large ones have places, of which one sender has few, and nobody's is read who
//! may not send it.

use std::convert::Infallible;
use std::future::ready;

use dragoman::model::access::{Role, Scope};
use dragoman::model::org::Org;
use dragoman::store::audit;
use futures_util::StreamExt as _;
use futures_util::stream::{iter, once};
use reqwest::{Body, Client, RequestBuilder, Response};
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::sync::oneshot;

use crate::console::{person, token};
use crate::site::Browser;
use crate::support::service::{Service, json_of};

/// More than a body may have without a place.
const LARGE: usize = 100 << 10;

/// A request whose body has come but for its end.
struct Held {
    end: oneshot::Sender<()>,
    answer: tokio::task::JoinHandle<Response>,
}

impl Held {
    /// With spaces up to so many bytes.
    fn begin(http: &Client, request: RequestBuilder, least: usize) -> Self {
        let mut request = request.build().unwrap();
        let mut sent = request.body().unwrap().as_bytes().unwrap().to_vec();
        sent.resize(sent.len().max(least), b' ');
        let (end, held) = oneshot::channel::<()>();
        let parts = iter([Ok::<_, Infallible>(sent)]).chain(once(held).filter_map(|_| ready(None)));
        *request.body_mut() = Some(Body::wrap_stream(parts));
        let http = http.clone();
        Self { end, answer: tokio::spawn(async move { http.execute(request).await.unwrap() }) }
    }

    async fn end(self) -> u16 {
        self.end.send(()).unwrap();
        self.answer.await.unwrap().status().as_u16()
    }
}

/// The answers of so many that are refused before their end.
async fn refused(held: &mut Vec<Held>, many: usize) -> Vec<Response> {
    let mut answers = Vec::new();
    while answers.len() < many {
        match held.iter().position(|one| one.answer.is_finished()) {
            Some(done) => answers.push(held.remove(done).answer.await.unwrap()),
            None => tokio::task::yield_now().await,
        }
    }
    answers
}

/// Whether a refusal is on the record of a workspace.
async fn recorded(service: &Service, org: &Org, action: &str, target: &str, outcome: &str) -> bool {
    let rows = audit::newest(&service.db, Some(org.id), 100).await.unwrap();
    rows.iter().any(|(_, row)| (&*row.action, &*row.target, &*row.outcome) == (action, target, outcome))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_sends_few_large_messages_at_once_and_small_ones_beside_them() {
    let service = Service::start().await;
    let org = service.workspace("acme").await;
    let token = service.token(&org).await;
    let message = || service.rpc(&token, "tools/list", json!({}));
    let mut held: Vec<Held> = (0..10).map(|_| Held::begin(&service.http, message(), LARGE)).collect();
    for answer in refused(&mut held, 7).await {
        assert_eq!(answer.headers()["retry-after"], "1");
        let (status, body) = json_of(answer).await;
        let limit = &body["error"]["data"]["error"]["details"]["limit"];
        assert_eq!((status, limit), (429, &json!("large_requests")), "{body}");
    }
    assert!(recorded(&service, &org, "mcp.request", "POST", "rate_limited").await);
    assert_eq!(message().send().await.unwrap().status(), 200);
    for one in held {
        assert_eq!(one.end().await, 200);
    }
    assert_eq!(Held::begin(&service.http, message(), LARGE).end().await, 200, "the places are free again");
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn messages_count_before_they_are_read() {
    let service = Service::with(&[("DRAGOMAN_EXT_RATE_REQUESTS", "3")]).await;
    let org = service.workspace("acme").await;
    let token = service.token(&org).await;
    let message = || service.rpc(&token, "tools/list", json!({}));
    let mut held: Vec<Held> = (0..10).map(|_| Held::begin(&service.http, message(), 0)).collect();
    for answer in refused(&mut held, 7).await {
        let (status, body) = json_of(answer).await;
        let limit = &body["error"]["data"]["error"]["details"]["limit"];
        assert_eq!((status, limit), (429, &json!("requests")), "{body}");
    }
    for one in held {
        assert_eq!(one.end().await, 200);
    }
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_may_not_write_a_text_is_refused_before_it_is_asked_for() {
    let service = Service::start().await;
    let org = service.workspace("acme").await;
    let viewer = service.access_token(&org, Role::Viewer, &Scope::ALL).await;
    let contributor = service.access_token(&org, Role::Contributor, &Scope::ALL).await;
    let connectivity = service.token(&org).await;
    let url = &service.config.public_url;
    for (token, answer) in [(viewer, "403"), (connectivity, "403"), (contributor, "100")] {
        let head = format!(
            "POST /api/v1/ontologies HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {token}\r\n\
             content-type: application/json\r\ncontent-length: {LARGE}\r\nexpect: 100-continue\r\n\r\n",
            service.config.listen
        );
        let mut stream = tokio::net::TcpStream::connect((url.host_str().unwrap(), url.port().unwrap())).await.unwrap();
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut start = [0; 12];
        stream.read_exact(&mut start).await.unwrap();
        assert_eq!(String::from_utf8_lossy(&start), format!("HTTP/1.1 {answer}"));
        if answer == "403" {
            assert!(recorded(&service, &org, "rest.call", "create_ontology", "scope_denied").await);
        }
    }
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_form_is_read_of_members_who_may_send_it_and_a_few_at_once() {
    let service = Service::start().await;
    let org = service.workspace("acme").await;
    let (_, ann) = person(&service, "ann@example.com", &[(&org, Role::Contributor)]).await;
    let (_, vic) = person(&service, "vic@example.com", &[(&org, Role::Viewer)]).await;
    let (_, eve) = person(&service, "eve@example.com", &[]).await;
    let (path, long) = ("/w/acme/ontologies/new", "x".repeat(LARGE));
    let csrf = token(&ann.get(path).await.text().await.unwrap());
    let begin = |browser: &Browser| {
        let request = browser.http.post(format!("{}{path}", browser.base)).header("origin", &browser.base);
        let request = request.header("sec-fetch-site", "same-origin");
        Held::begin(&browser.http, request.form(&[("csrf", &*csrf), ("do", "create"), ("text", &*long)]), 0)
    };
    let stranger = begin(&eve).answer.await.unwrap();
    assert_eq!(stranger.status(), 404);
    let viewer = begin(&vic).answer.await.unwrap();
    assert_eq!(viewer.status(), 403);
    assert!(viewer.text().await.unwrap().contains("Your role in this workspace is viewer"));
    assert!(recorded(&service, &org, "console.call", "create_ontology", "scope_denied").await);

    let mut held: Vec<Held> = (0..10).map(|_| begin(&ann)).collect();
    for answer in refused(&mut held, 7).await {
        assert_eq!((answer.status().as_u16(), &answer.headers()["retry-after"]), (429, &"1".parse().unwrap()));
    }
    assert!(recorded(&service, &org, "console.call", "create_ontology", "rate_limited").await);
    for one in held {
        assert_eq!(one.end().await, 422, "it was read, and is no ontology");
    }
    let longer = "x".repeat(5 << 20);
    let statement = ann.post("/w/acme/ask", &[("mode", "sql"), ("sql", &longer)]).await;
    assert_eq!(statement.status(), 413);
    service.stop().await;
}
