//! A server that makes vectors, by OpenAI's protocol, which many speak.
//! <https://platform.openai.com/docs/api-reference/embeddings/create>

use std::sync::OnceLock;
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

/// A server. How long its vectors are is asked once.
pub(super) struct Remote {
    server: EmbeddingServer,
    endpoint: Url,
    dimension: OnceLock<usize>,
    client: KeptClient,
}

/// Why a try gave nothing.
enum Failed {
    /// Another may do better, after the time that the server named.
    Busy(String, Option<Duration>),
    Whole(String),
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
        Self { server, endpoint, dimension: OnceLock::new(), client: KeptClient::default() }
    }

    /// Whether every address of the server lies in the operator's own network.
    ///
    /// # Errors
    /// `internal_error` when its name does not resolve.
    pub(super) async fn is_inside(&self) -> Result<bool> {
        let addresses = outbound::addresses(&self.endpoint).await.map_err(Error::internal)?;
        Ok(addresses.iter().all(|address| is_inside(address.ip())))
    }

    /// The vectors of at most [`BATCH`] texts, within the server's time.
    async fn ask(&self, texts: &[String]) -> Result<Vec<Vec<f32>>> {
        let work = async {
            let client = self.client.get(&self.endpoint, true, &[]).await.map_err(Error::internal)?;
            let deadline = Instant::now() + self.server.timeout;
            let mut pause = PAUSE;
            for attempt in 1.. {
                match self.once(&client, texts).await {
                    Ok(vectors) => return Ok(vectors),
                    Err(Failed::Whole(said)) => return Err(Error::internal(said)),
                    Err(Failed::Busy(said, wait)) => {
                        let wait = wait.unwrap_or(pause);
                        if attempt == TRIES || Instant::now() + wait >= deadline {
                            return Err(Error::internal(said));
                        }
                        tokio::time::sleep(wait).await;
                        pause *= 2;
                    }
                }
            }
            Err(Error::internal("the encoder's server was not asked"))
        };
        let late = |_| Error::internal("the encoder's server took too long");
        tokio::time::timeout(self.server.timeout, work).await.map_err(late)?
    }

    async fn once(&self, client: &reqwest::Client, texts: &[String]) -> Result<Vec<Vec<f32>>, Failed> {
        let whole = |said: &str| Failed::Whole(format!("the encoder's server: {said}"));
        let input: Vec<&str> =
            texts.iter().filter_map(|text| text.get(..text.floor_char_boundary(TEXT_BYTES))).collect();
        let body = json!({ "model": self.server.model, "input": input, "encoding_format": "float" });
        let mut request = http::Request::post(self.endpoint.as_str());
        if let Some(headers) = request.headers_mut() {
            *headers = self.headers().ok_or_else(|| whole("its key is no header"))?;
        }
        let request = request.body(body.to_string().into_bytes()).map_err(|_| whole("its address is none"))?;
        let answer = outbound::exchange(client, request, ANSWER_BYTES).await;
        let answer = answer.map_err(|problem| Failed::Busy(format!("the encoder's server: {problem}"), None))?;
        match answer.status().as_u16() {
            200 => of_body(answer.body(), texts.len()).map_err(whole),
            status @ (408 | 429 | 500..) => {
                let wait = answer.headers().get(RETRY_AFTER).and_then(|wait| wait.to_str().ok()?.trim().parse().ok());
                Err(Failed::Busy(format!("the encoder's server: status {status}"), wait.map(Duration::from_secs)))
            }
            status => Err(whole(&format!("status {status}"))),
        }
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

impl Embed for Remote {
    /// The address is not in it: a server may move.
    fn identity(&self) -> Result<String> {
        Ok(json!({ "server": "embeddings", "model": self.server.model, "dimensions": self.dimension()? }).to_string())
    }

    fn name(&self) -> String {
        self.server.model.clone()
    }

    fn dimension(&self) -> Result<usize> {
        if let Some(known) = self.dimension.get() {
            return Ok(*known);
        }
        let asked = Handle::current().block_on(self.ask(&["dimension".to_owned()]))?;
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

    fn encode(&self, texts: &[String], _: Purpose, gone: &CancellationToken) -> Result<Vec<Vec<f32>>> {
        let mut vectors = Vec::with_capacity(texts.len());
        for batch in texts.chunks(BATCH) {
            let asked = Handle::current().block_on(gone.run_until_cancelled(self.ask(batch)));
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
    if items.len() != texts || items.iter().enumerate().any(|(at, (index, _))| at != *index) {
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
        assert!(tokio::task::spawn_blocking(move || remote.identity()).await.unwrap().is_err());
    }
}
