//! A server that makes vectors, by OpenAI's protocol, which many speak.
//! <https://platform.openai.com/docs/api-reference/embeddings/create>

use std::fmt::Display;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue, RETRY_AFTER};
use serde::Deserialize;
use serde_json::json;
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;
use url::Url;

use super::{Embed, Purpose};
use crate::base::outbound::{self, KeptClient, is_inside};
use crate::config::EmbeddingServer;
use crate::model::error::{Code, Error, Result};

/// Queries that a server is asked at the same time.
pub(super) const AT_ONCE: usize = 16;
/// Texts of one request.
const BATCH: usize = 32;
/// Bytes of a text that is sent: servers refuse what is longer than their model's reach.
const TEXT_BYTES: usize = 8 << 10;
/// The largest answer that is read: a batch of the longest vectors, in JSON.
const ANSWER_BYTES: usize = 16 << 20;
/// How often one request is sent.
const TRIES: u32 = 4;
/// The wait before the second try, where the server names none; each further one is twice as long.
const PAUSE: Duration = Duration::from_millis(500);
/// The longest that a question is waited for: it is answered by words then.
const QUESTION: Duration = Duration::from_secs(3);
/// How long no question is sent after one that the server did not answer: each would be waited for.
const REST: Duration = Duration::from_secs(10);

/// A server. How long its vectors are is asked once.
pub(super) struct Remote {
    server: EmbeddingServer,
    endpoint: Url,
    dimension: OnceLock<usize>,
    client: KeptClient,
    rest: Rest,
}

/// Keeps questions from a server that answers none: since when, by a clock that nobody sets.
#[derive(Default)]
struct Rest(Mutex<Option<Instant>>);

/// Why a try gave nothing.
struct Failed {
    said: String,
    why: Why,
    /// How long the server wants to be left alone.
    wait: Option<Duration>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Why {
    /// It does not answer, or takes nothing for now.
    Away,
    /// It failed, maybe over these very texts: another try may do better.
    Broken,
    /// So would every try.
    Wrong,
}

#[derive(Deserialize)]
struct Answer {
    data: Vec<Item>,
}

#[derive(Deserialize)]
struct Item {
    index: Option<usize>,
    embedding: Vec<f32>,
}

impl Remote {
    pub(super) fn new(server: EmbeddingServer) -> Self {
        let endpoint = endpoint(&server.url);
        Self { server, endpoint, dimension: OnceLock::new(), client: KeptClient::default(), rest: Rest::default() }
    }

    /// Whether every address of the server lies in the operator's own network.
    ///
    /// # Errors
    /// `service_unavailable` when its name does not resolve.
    pub(super) async fn is_inside(&self) -> Result<bool> {
        let found = tokio::time::timeout(QUESTION, outbound::addresses(&self.endpoint)).await;
        let addresses = found.map_err(|_| unanswered("its name does not resolve in time"))?.map_err(unanswered)?;
        Ok(addresses.iter().all(|address| is_inside(address.ip())))
    }

    /// The vectors of at most [`BATCH`] texts, within the server's time, and for a question within [`QUESTION`].
    ///
    /// # Errors
    /// `service_unavailable` when the server does not answer, and for a question while it rests; `internal_error` when what
    /// it answers is no good.
    async fn ask(&self, texts: &[String], purpose: Purpose) -> Result<Vec<Vec<f32>>> {
        let is_question = purpose == Purpose::Query;
        if is_question && self.rest.lasts(Instant::now()) {
            return Err(unavailable());
        }
        let time = if is_question { self.server.timeout.min(QUESTION) } else { self.server.timeout };
        let tried = tokio::time::timeout(time, self.tried(texts, Instant::now() + time)).await;
        let made = tried.unwrap_or_else(|_| Err(unanswered("it took too long")));
        match &made {
            Ok(_) => self.rest.end(),
            Err(error) if is_question && error.code == Code::ServiceUnavailable => self.rest.begin(Instant::now()),
            Err(_) => {}
        }
        made
    }

    async fn tried(&self, texts: &[String], deadline: Instant) -> Result<Vec<Vec<f32>>> {
        let client = self.client.get(&self.endpoint, true, &[]).await.map_err(unanswered)?;
        let mut pause = PAUSE;
        for attempt in 1.. {
            let failed = match self.once(&client, texts).await {
                Ok(vectors) => return Ok(vectors),
                Err(failed) => failed,
            };
            let wait = failed.wait.unwrap_or(pause);
            let left = deadline.saturating_duration_since(Instant::now());
            if failed.why == Why::Wrong || attempt == TRIES || wait >= left {
                return Err(failed.told());
            }
            tokio::time::sleep(wait).await;
            pause *= 2;
        }
        Err(Error::internal("the encoder's server was not asked"))
    }

    async fn once(&self, client: &reqwest::Client, texts: &[String]) -> Result<Vec<Vec<f32>>, Failed> {
        let wrong = |said: &str| Failed { said: said.to_owned(), why: Why::Wrong, wait: None };
        let input: Vec<&str> =
            texts.iter().filter_map(|text| text.get(..text.floor_char_boundary(TEXT_BYTES))).collect();
        let body = json!({ "model": self.server.model, "input": input, "encoding_format": "float" });
        let mut request = http::Request::post(self.endpoint.as_str());
        if let Some(headers) = request.headers_mut() {
            *headers = self.headers().ok_or_else(|| wrong("its key is no header"))?;
        }
        let request = request.body(body.to_string().into_bytes()).map_err(|_| wrong("its address is none"))?;
        let answer = outbound::exchange(client, request, ANSWER_BYTES).await;
        let answer = answer.map_err(|problem| Failed { said: problem.to_string(), why: Why::Away, wait: None })?;
        let status = answer.status().as_u16();
        let why = match status {
            200 => return of_body(answer.body(), texts.len()).map_err(wrong),
            408 | 429 | 502..=504 => Why::Away,
            500.. => Why::Broken,
            _ => Why::Wrong,
        };
        let wait = answer.headers().get(RETRY_AFTER).and_then(|wait| wait.to_str().ok()?.trim().parse().ok());
        Err(Failed { said: format!("status {status}"), why, wait: wait.map(Duration::from_secs) })
    }

    fn headers(&self) -> Option<HeaderMap> {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        if let Some(key) = &self.server.api_key {
            let mut value = HeaderValue::try_from(format!("Bearer {}", key.expose())).ok()?;
            value.set_sensitive(true);
            headers.insert(AUTHORIZATION, value);
        }
        Some(headers)
    }
}

impl Rest {
    fn lasts(&self, now: Instant) -> bool {
        let since = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        since.is_some_and(|since| now.saturating_duration_since(since) < REST)
    }

    fn begin(&self, now: Instant) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(now);
    }

    fn end(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

impl Failed {
    fn told(self) -> Error {
        match self.why {
            Why::Away => unanswered(self.said),
            Why::Broken | Why::Wrong => Error::internal(format!("the encoder's server: {}", self.said)),
        }
    }
}

/// Logs why the server gave no answer; the outside hears that it gave none.
fn unanswered(cause: impl Display) -> Error {
    tracing::warn!(%cause, "the encoder's server did not answer");
    unavailable()
}

fn unavailable() -> Error {
    let message = "The server that makes vectors of texts did not answer. Try again later; of an import that ended by this \
                   nothing is kept, and it can be tried again as it was.";
    Error::unavailable(message).retry_after(REST.as_secs())
}

impl Embed for Remote {
    /// The address is not in it: a server may move.
    fn identity(&self) -> Result<String> {
        let dimension = self.dimension(Purpose::Passage)?;
        Ok(json!({ "server": "embeddings", "model": self.server.model, "dimensions": dimension }).to_string())
    }

    fn name(&self) -> String {
        self.server.model.clone()
    }

    fn dimension(&self, purpose: Purpose) -> Result<usize> {
        if let Some(known) = self.dimension.get() {
            return Ok(*known);
        }
        let asked = Handle::current().block_on(self.ask(&["dimension".to_owned()], purpose))?;
        let found = asked.first().map_or(0, Vec::len);
        Ok(*self.dimension.get_or_init(|| found))
    }

    fn weight(&self) -> f64 {
        0.55
    }

    fn pull(&self) -> f32 {
        0.0
    }

    fn batch(&self) -> usize {
        BATCH
    }

    fn encode(&self, texts: &[String], purpose: Purpose, gone: &CancellationToken) -> Result<Vec<Vec<f32>>> {
        let mut vectors = Vec::with_capacity(texts.len());
        for batch in texts.chunks(BATCH) {
            let asked = Handle::current().block_on(gone.run_until_cancelled(self.ask(batch, purpose)));
            vectors.extend(asked.ok_or_else(|| Error::new(Code::QueryTimeout, "The call was cancelled."))??);
        }
        Ok(vectors)
    }
}

/// The vectors of an answer, in the order of the texts.
fn of_body(body: &[u8], texts: usize) -> Result<Vec<Vec<f32>>, &'static str> {
    let Answer { data } = serde_json::from_slice(body).map_err(|_| "no embeddings in JSON")?;
    let mut items: Vec<(usize, Vec<f32>)> =
        data.into_iter().enumerate().map(|(at, item)| (item.index.unwrap_or(at), item.embedding)).collect();
    items.sort_by_key(|(index, _)| *index);
    let is_wrong = |(at, (index, vector)): (usize, &(usize, Vec<f32>))| at != *index || vector.is_empty();
    if items.len() != texts || items.iter().enumerate().any(is_wrong) {
        return Err("not one embedding for each text");
    }
    Ok(items.into_iter().map(|(_, vector)| vector).collect())
}

/// Where requests go: the configured address, with the protocol's path where it is not there already.
fn endpoint(base: &Url) -> Url {
    let mut url = base.clone();
    let path = url.path().trim_end_matches('/').to_owned();
    url.set_path(&match path.as_str() {
        "" => "/v1/embeddings".to_owned(),
        path if path.ends_with("/embeddings") => path.to_owned(),
        path => format!("{path}/embeddings"),
    });
    url
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;
    use std::sync::{Arc, Mutex};

    use axum::extract::ConnectInfo;
    use serde_json::Value;

    use super::*;

    #[test]
    fn the_protocols_path_is_added_where_it_is_not_there() {
        for (url, expected) in [
            ("https://a.example", "https://a.example/v1/embeddings"),
            ("http://127.0.0.1:11434/v1/", "http://127.0.0.1:11434/v1/embeddings"),
            ("https://a.example/v1/embeddings", "https://a.example/v1/embeddings"),
        ] {
            assert_eq!(endpoint(&Url::parse(url).unwrap()).as_str(), expected);
        }
    }

    #[test]
    fn an_answer_is_put_in_the_order_of_the_texts_or_refused() {
        let body = br#"{"data":[{"index":1,"embedding":[2.0]},{"index":0,"embedding":[1.0]}]}"#;
        assert_eq!(of_body(body, 2).unwrap(), [[1.0], [2.0]]);
        assert!(of_body(body, 3).is_err());
        assert!(of_body(br#"{"data":[{"index":1,"embedding":[2.0]},{"index":1,"embedding":[1.0]}]}"#, 2).is_err());
        assert!(of_body(br#"{"data":[{"embedding":"AAAA"}]}"#, 1).is_err());
        assert!(of_body(b"<html>", 1).is_err());
        assert!(of_body(br#"{"data":[{"embedding":[]}]}"#, 1).is_err(), "nothing is no vector");
    }

    /// How many texts, with which key, and from where.
    type Asked = (usize, String, SocketAddr);

    /// A server that is busy at the first request, and then gives each text the length of it.
    async fn served() -> (Url, Arc<Mutex<Vec<Asked>>>) {
        let asked: Arc<Mutex<Vec<Asked>>> = Arc::default();
        let seen = asked.clone();
        let answer = move |peer: ConnectInfo<SocketAddr>, headers: HeaderMap, axum::Json(body): axum::Json<Value>| async move {
            let input = body["input"].as_array().unwrap().clone();
            let key = headers[AUTHORIZATION].to_str().unwrap().to_owned();
            let mut seen = seen.lock().unwrap();
            seen.push((input.len(), key, peer.0));
            if seen.len() == 1 {
                return Err((http::StatusCode::TOO_MANY_REQUESTS, [(RETRY_AFTER, "0")]));
            }
            let item =
                |(at, text): (usize, &Value)| json!({ "index": at, "embedding": [text.as_str().unwrap().len(), 1] });
            Ok(axum::Json(json!({ "data": input.iter().enumerate().map(item).rev().collect::<Vec<_>>() })))
        };
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = Url::parse(&format!("http://{}/v1", listener.local_addr().unwrap())).unwrap();
        let routes = axum::Router::new().route("/v1/embeddings", axum::routing::post(answer));
        let routes = routes.into_make_service_with_connect_info::<SocketAddr>();
        tokio::spawn(async move { axum::serve(listener, routes).await });
        (url, asked)
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn texts_go_in_batches_with_the_key_and_a_busy_server_is_asked_again() {
        let _another_was_first = rustls::crypto::aws_lc_rs::default_provider().install_default();
        let (url, asked) = served().await;
        let remote = Remote::new(EmbeddingServer {
            url,
            api_key: Some(crate::base::secret::Secret::new("k")),
            model: "m".into(),
            timeout: Duration::from_secs(60),
        });
        assert!(remote.is_inside().await.unwrap());
        let work = move || {
            let texts: Vec<String> = (1..=BATCH + 3).map(|length| "x".repeat(length)).collect();
            (remote.identity().unwrap(), remote.encode(&texts, Purpose::Passage, &CancellationToken::new()).unwrap())
        };
        let (identity, vectors) = tokio::task::spawn_blocking(work).await.unwrap();
        let identity: Value = serde_json::from_str(&identity).unwrap();
        assert_eq!(identity, json!({ "server": "embeddings", "model": "m", "dimensions": 2 }));
        assert!(vectors.iter().enumerate().all(|(at, vector)| vector == &[(at + 1) as f32, 1.0]));
        let asked = asked.lock().unwrap();
        assert_eq!(asked.iter().map(|(texts, ..)| *texts).collect::<Vec<_>>(), [1, 1, BATCH, 3]);
        assert!(asked.iter().all(|(_, key, _)| key == "Bearer k"));
        assert!(asked.iter().all(|(.., peer)| *peer == asked[0].2), "on one connection: {asked:?}");
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_server_that_is_not_there_is_an_error_within_its_time() {
        let _another_was_first = rustls::crypto::aws_lc_rs::default_provider().install_default();
        let closed = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = Url::parse(&format!("http://{}/v1", closed.local_addr().unwrap())).unwrap();
        drop(closed);
        let timeout = Duration::from_millis(700);
        let remote = Remote::new(EmbeddingServer { url, api_key: None, model: "m".into(), timeout });
        let work = move || {
            let failed = remote.identity().unwrap_err();
            assert_eq!(failed.code, Code::ServiceUnavailable, "{failed:?}");
            assert!(failed.message.contains("can be tried again"), "{failed:?}");
            // No question was without an answer so far.
            assert!(!remote.rest.lasts(Instant::now()));
            let texts = ["late planes".to_owned()];
            let failed = remote.encode(&texts, Purpose::Query, &CancellationToken::new()).unwrap_err();
            assert_eq!(failed.code, Code::ServiceUnavailable, "{failed:?}");
            assert!(remote.rest.lasts(Instant::now()));
        };
        tokio::task::spawn_blocking(work).await.unwrap();
    }

    #[test]
    fn after_a_question_without_an_answer_none_is_sent_for_a_while_or_until_something_is_answered() {
        let (rest, now) = (Rest::default(), Instant::now());
        assert!(!rest.lasts(now));
        rest.begin(now);
        assert!(rest.lasts(now) && rest.lasts(now + REST - Duration::from_millis(1)));
        assert!(!rest.lasts(now + REST));
        rest.begin(now + REST);
        rest.end();
        assert!(!rest.lasts(now + REST));
    }
}
