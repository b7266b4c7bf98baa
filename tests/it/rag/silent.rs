//! A server of vectors that falls silent: searches are answered by words meanwhile, and say so.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use axum::extract::State;
use axum::{Json, Router};
use serde_json::{Value, json};

use super::{Acme, files, text};
use crate::support::service::Service;

/// A server that takes every request, and answers none while it is silent.
#[derive(Clone, Default)]
struct Encoder {
    is_silent: Arc<AtomicBool>,
    asked: Arc<AtomicUsize>,
}

impl Encoder {
    async fn start(&self) -> String {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let router = Router::new().route("/v1/embeddings", axum::routing::post(encode)).with_state(self.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        url
    }
}

async fn encode(State(encoder): State<Encoder>, Json(body): Json<Value>) -> Json<Value> {
    encoder.asked.fetch_add(1, Ordering::SeqCst);
    if encoder.is_silent.load(Ordering::SeqCst) {
        std::future::pending::<()>().await;
    }
    let item = |at| json!({ "index": at, "embedding": [1, 0] });
    let texts = body["input"].as_array().unwrap().len();
    Json(json!({ "data": (0..texts).map(item).collect::<Vec<_>>() }))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_silent_encoder_leaves_the_words_and_is_not_waited_for_by_every_search() {
    let encoder = Encoder::default();
    let url = encoder.start().await;
    let settings = [("DRAGOMAN_EMBEDDING_URL", url.as_str()), ("DRAGOMAN_EMBEDDING_MODEL", "m")];
    let acme = Acme::open(Service::with(&settings).await).await;
    let search = async |query: &str| acme.ask("rag_search_hybrid", json!({ "query": query })).await;
    let whole = search("late planes").await;
    assert!(whole["degraded"].is_null(), "{whole}");

    encoder.is_silent.store(true, Ordering::SeqCst);
    let began = Instant::now();
    let by_words = search("thunderstorms in July").await;
    assert!(began.elapsed() < Duration::from_secs(8), "{:?}", began.elapsed());
    assert!(text(&by_words, "degraded").contains("Search by meaning is out of order"), "{by_words}");
    assert_eq!(files(&by_words)[0], "flights.md", "{by_words}");
    let asked = encoder.asked.load(Ordering::SeqCst);
    let by_words = search("soup on Fridays").await;
    assert!(by_words["degraded"].is_string() && files(&by_words)[0] == "lunch.txt", "{by_words}");
    assert_eq!(encoder.asked.load(Ordering::SeqCst), asked, "the next search asked the silent server again");

    // Whatever it answers shows that it is there again.
    encoder.is_silent.store(false, Ordering::SeqCst);
    acme.import("trains", &[("trains.txt", "Trains leave on time.")], true).await;
    let whole = search("soup on Mondays").await;
    assert!(whole["degraded"].is_null(), "{whole}");
    acme.service.stop().await;
}
