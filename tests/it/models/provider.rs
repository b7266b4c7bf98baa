//! A provider on a real port that answers what it was told to, in either protocol, faults included.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, Response, Uri};
use axum::routing::any;
use futures_util::stream;
use serde_json::{Value, json};
use tokio::sync::Notify;

/// What to answer to one request.
pub enum Answer {
    /// A whole answer: the object that was asked for.
    Object(Value),
    /// As before, when it is told to.
    Held(Arc<Notify>, Value),
    /// A whole answer in free text.
    Text(&'static str),
    /// A whole answer whose text ends in the middle, as providers say it.
    CutOff,
    Refusal,
    Filtered,
    /// A status with a header and an error's type.
    Error(u16, (&'static str, String), &'static str),
    /// 200 with this body as this type.
    Raw(&'static str, &'static str),
    /// 200 and bytes without an end.
    Endless,
    /// Nothing, for as long as the other side waits.
    Silence,
}

/// A request as it came.
pub struct Asked {
    pub path: String,
    pub headers: HeaderMap,
    pub body: Value,
}

#[derive(Clone, Default)]
pub struct Provider {
    answers: Arc<Mutex<VecDeque<Answer>>>,
    asked: Arc<Mutex<Vec<Asked>>>,
    /// A request has come.
    pub arrived: Arc<Notify>,
    /// A request that got no answer was given up by the other side.
    pub given_up: Arc<Notify>,
    pub url: String,
}

impl Provider {
    pub async fn start(answers: Vec<Answer>) -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let provider = Self { answers: Arc::new(Mutex::new(answers.into())), url, ..Self::default() };
        let router = Router::new().fallback(any(answer)).with_state(provider.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        provider
    }

    pub fn count(&self) -> usize {
        self.asked.lock().unwrap().len()
    }

    /// Looks at a request.
    pub fn asked<T>(&self, number: usize, look: impl FnOnce(&Asked) -> T) -> T {
        look(&self.asked.lock().unwrap()[number])
    }

    /// Everything that came, as one text.
    pub fn all(&self) -> String {
        let asked = self.asked.lock().unwrap();
        asked.iter().map(|asked| asked.body.to_string()).collect::<Vec<_>>().join("\n")
    }
}

/// Says so when it is dropped before it was let go.
pub struct Held(pub Arc<Notify>);

impl Drop for Held {
    fn drop(&mut self) {
        self.0.notify_one();
    }
}

async fn answer(State(provider): State<Provider>, uri: Uri, headers: HeaderMap, body: Bytes) -> Response<Body> {
    let is_anthropic = uri.path().ends_with("/messages");
    let asked = Asked { path: uri.path().into(), headers, body: serde_json::from_slice(&body).unwrap_or_default() };
    provider.asked.lock().unwrap().push(asked);
    provider.arrived.notify_one();
    let next = provider.answers.lock().unwrap().pop_front().expect("asked more often than it was to be");
    let finished = |text: String, input: Option<Value>, reason: (&str, &str)| match is_anthropic {
        true => {
            let block = match input {
                Some(input) => json!({ "type": "tool_use", "id": "t", "name": "answer", "input": input }),
                None => json!({ "type": "text", "text": text }),
            };
            json!({ "type": "message", "role": "assistant", "content": [block], "stop_reason": reason.1,
                "usage": { "input_tokens": 700, "output_tokens": 30 } })
        }
        false => json!({ "object": "chat.completion", "choices": [{ "index": 0, "finish_reason": reason.0,
            "message": { "role": "assistant", "content": text } }],
            "usage": { "prompt_tokens": 700, "completion_tokens": 30 } }),
    };
    let body = match next {
        Answer::Object(object) => finished(object.to_string(), Some(object), ("stop", "tool_use")),
        Answer::Held(told, object) => {
            told.notified().await;
            finished(object.to_string(), Some(object), ("stop", "tool_use"))
        }
        Answer::Text(text) => finished(text.into(), None, ("stop", "end_turn")),
        Answer::CutOff => finished("{\"plan\": {\"meas".into(), None, ("length", "max_tokens")),
        Answer::Refusal => {
            let mut body = finished("I cannot help with that.".into(), None, ("stop", "refusal"));
            if !is_anthropic {
                body["choices"][0]["message"] = json!({ "role": "assistant", "content": null, "refusal": "No." });
            }
            body
        }
        Answer::Filtered => finished(String::new(), None, ("content_filter", "refusal")),
        Answer::Error(status, (header, value), kind) => {
            let error = json!({ "type": "error", "error": { "type": kind, "message": format!("{kind}: sk-quoted") } });
            let response = Response::builder().status(status).header("content-type", "application/json");
            return response.header(header, value).body(error.to_string().into()).unwrap();
        }
        Answer::Raw(kind, body) => {
            return Response::builder().header("content-type", kind).body(body.into()).unwrap();
        }
        Answer::Endless => {
            let zeros = stream::repeat_with(|| Ok::<_, std::io::Error>(Bytes::from(vec![b' '; 64 << 10])));
            let response = Response::builder().header("content-type", "application/json");
            return response.body(Body::from_stream(zeros)).unwrap();
        }
        Answer::Silence => {
            let _held = Held(provider.given_up.clone());
            std::future::pending::<()>().await;
            unreachable!("nobody answers");
        }
    };
    Response::builder().header("content-type", "application/json").body(body.to_string().into()).unwrap()
}
