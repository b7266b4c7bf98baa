//! Everything that a provider can do wrong, and what comes of it.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use dragoman::engine::llm::{LlmError, Model as _, Usage};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::provider::{Answer, Provider};
use super::{KEY, LONG, PROTOCOLS, World, request};

fn plain_error(status: u16, kind: &'static str) -> Answer {
    Answer::Error(status, ("x-nothing", "1".into()), kind)
}

#[tokio::test]
async fn a_whole_answer_comes_back_with_its_tokens() {
    for protocol in PROTOCOLS {
        let provider = Provider::start(vec![Answer::Object(json!({ "a": 1 }))]).await;
        let world = World::new(&provider, protocol).await;
        let reply = world.ask().await.unwrap();
        assert_eq!((reply.json(), reply.usage), (r#"{"a":1}"#, Some(Usage { input: 700, output: 30 })));
        provider.asked(0, |asked| {
            assert_eq!(asked.body["model"], "model-1");
            assert_eq!(asked.body["max_tokens"], 100);
            let header = |name: &str| asked.headers.get(name).map(|value| value.to_str().unwrap().to_owned());
            let bearer = Some(format!("Bearer {KEY}"));
            match protocol {
                "openai" => {
                    assert_eq!(asked.path, "/v1/chat/completions");
                    assert_eq!((header("authorization"), header("x-api-key")), (bearer, None));
                    assert_eq!(asked.body["response_format"]["type"], "json_schema");
                }
                _ => {
                    assert_eq!(asked.path, "/v1/messages");
                    assert_eq!((header("authorization"), header("x-api-key")), (None, Some(KEY.into())));
                    assert_eq!(header("anthropic-version").as_deref(), Some("2023-06-01"));
                    assert_eq!(asked.body["tool_choice"]["type"], "tool");
                }
            }
        });
        world.service.stop().await;
    }
}

#[tokio::test]
async fn every_fault_has_its_kind_and_is_not_tried_again() {
    for protocol in PROTOCOLS {
        let elsewhere = Provider::start(vec![]).await;
        let to_elsewhere = ("location", format!("{}/v1/messages", elsewhere.url));
        let faults: Vec<(Answer, &str)> = vec![
            (Answer::Raw("application/json", "{\"choices\": [{\"message\": {\"conte"), "malformed"),
            (Answer::Raw("application/json", "[]"), "malformed"),
            (Answer::Raw("text/html", "<html>{}</html>"), "malformed"),
            (Answer::CutOff, "truncated"),
            (Answer::Refusal, "refused"),
            (Answer::Filtered, if protocol == "openai" { "content_filter" } else { "refused" }),
            (Answer::Endless, "too_large"),
            (plain_error(500, "api_error"), "failed"),
            (plain_error(401, "authentication_error"), "unauthorised"),
            (plain_error(403, "permission_error"), "unauthorised"),
            (plain_error(404, "not_found_error"), "rejected"),
            (plain_error(413, "request_too_large"), "too_large"),
            (plain_error(429, "insufficient_quota"), "rejected"),
            (Answer::Error(302, to_elsewhere.clone(), "moved"), "failed"),
            (Answer::Error(307, to_elsewhere, "moved"), "failed"),
        ];
        let kinds: Vec<&str> = faults.iter().map(|(_, kind)| *kind).collect();
        let provider = Provider::start(faults.into_iter().map(|(answer, _)| answer).collect()).await;
        let world = World::new(&provider, protocol).await;
        for (number, kind) in kinds.into_iter().enumerate() {
            let problem = world.ask().await.unwrap_err();
            assert_eq!((problem.kind(), provider.count()), (kind, number + 1), "{protocol}: {problem}");
        }
        assert_eq!(elsewhere.count(), 0, "a redirect was followed");
        world.service.stop().await;
    }
}

#[tokio::test]
async fn a_busy_provider_is_asked_once_more_when_it_says_and_not_after_the_deadline() {
    for (protocol, status) in PROTOCOLS.into_iter().flat_map(|protocol| [429, 503, 529].map(|s| (protocol, s))) {
        let busy = |wait: &str| Answer::Error(status, ("retry-after", wait.into()), "overloaded_error");
        let answers = vec![busy("1"), Answer::Object(json!({})), busy("0"), busy("0"), busy("3600")];
        let provider = Provider::start(answers).await;
        let world = World::new(&provider, protocol).await;
        let started = Instant::now();
        assert!(world.ask().await.is_ok());
        assert!(started.elapsed() >= Duration::from_secs(1), "it said when to come back");
        assert_eq!(provider.count(), 2);
        let overloaded = |wait| Err(LlmError::Overloaded { retry_after: Some(Duration::from_secs(wait)) });
        assert_eq!(world.ask().await, overloaded(0));
        assert_eq!(provider.count(), 4, "one more try and no other");
        assert_eq!(world.ask().await, overloaded(3600));
        assert_eq!(provider.count(), 5);
        world.service.stop().await;
    }
}

#[tokio::test]
async fn a_server_that_takes_no_schema_is_asked_in_its_way_from_then_on() {
    let refusals = [plain_error(400, "response_format"), plain_error(422, "grammar")];
    let mut answers: Vec<Answer> = refusals.into();
    answers.extend([Answer::Text("```json\n{\"a\": 1}\n```"), Answer::Object(json!({}))]);
    let provider = Provider::start(answers).await;
    let world = World::new(&provider, "openai").await;
    assert_eq!(world.ask().await.unwrap().json(), "{\"a\": 1}");
    world.ask().await.unwrap();
    let format = |number| provider.asked(number, |asked| asked.body["response_format"]["type"].clone());
    assert_eq!(
        [format(0), format(1), format(2), format(3)],
        [json!("json_schema"), json!("json_object"), json!(null), json!(null)]
    );
    let system = provider.asked(3, |asked| asked.body["messages"][0]["content"].to_string());
    assert!(system.contains("properties"), "the schema is in the prompt instead: {system}");
    world.service.stop().await;

    // A refusal that nothing helps against is not remembered, and ends.
    let provider = Provider::start((0..6).map(|_| plain_error(400, "no")).collect()).await;
    let world = World::new(&provider, "anthropic").await;
    for calls in [3, 6] {
        assert_eq!((world.ask().await, provider.count()), (Err(LlmError::Rejected(400)), calls));
    }
    world.service.stop().await;
}

#[tokio::test]
async fn a_slow_answer_is_given_up_at_the_deadline() {
    for protocol in PROTOCOLS {
        let provider = Provider::start(vec![Answer::Silence]).await;
        let world = World::new(&provider, protocol).await;
        let model = world.open_for(Duration::from_millis(200), &CancellationToken::new()).await.unwrap();
        assert_eq!(model.complete(&request()).await, Err(LlmError::Timeout));
        provider.given_up.notified().await;
        world.service.stop().await;
    }
}

#[tokio::test]
async fn a_cancelled_job_ends_its_request() {
    for protocol in PROTOCOLS {
        let provider = Provider::start(vec![Answer::Silence]).await;
        let world = World::new(&provider, protocol).await;
        let cancel = CancellationToken::new();
        let model = world.open_for(LONG, &cancel).await.unwrap();
        let asked = request();
        let (answer, ()) = tokio::join!(model.complete(&asked), async {
            provider.arrived.notified().await;
            cancel.cancel();
        });
        assert_eq!(answer, Err(LlmError::Cancelled));
        provider.given_up.notified().await;
        assert_eq!((model.complete(&asked).await, provider.count()), (Err(LlmError::Cancelled), 1));
        world.service.stop().await;
    }
}

#[tokio::test]
async fn a_server_that_is_not_there_is_a_failure() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let world = World::with(&url, "openai", &[]).await;
    assert_eq!(world.ask().await.unwrap_err().kind(), "failed");
    world.service.stop().await;
}

/// Lines of the log, kept.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl std::io::Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn neither_key_nor_question_nor_the_providers_words_are_logged() {
    let lines = Lines::default();
    let writer = lines.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_writer(move || writer.clone())
        .with_ansi(false)
        .finish();
    // With one subscriber alone, what another test's thread logs first would be taken for what nobody listens to.
    let _another = tracing::Dispatch::new(tracing_subscriber::registry());
    let _until_the_end = tracing::subscriber::set_default(subscriber);
    for protocol in PROTOCOLS {
        let answers =
            vec![plain_error(401, "authentication_error"), Answer::Refusal, Answer::Object(json!({ "a": "b" }))];
        let provider = Provider::start(answers).await;
        let world = World::new(&provider, protocol).await;
        let first = world.ask().await.unwrap_err();
        let error = dragoman::model::error::Error::from(first);
        assert!(!error.body("r").to_string().contains("sk-"), "{error:?}");
        world.ask().await.unwrap_err();
        world.ask().await.unwrap();
        world.service.stop().await;
    }
    let log = String::from_utf8(lines.0.lock().unwrap().clone()).unwrap();
    assert!(
        log.contains("a language model gave no answer") && log.contains("unauthorised"),
        "it proves nothing: {log}"
    );
    for secret in [KEY, "sk-quoted", "secret of the house"] {
        assert!(!log.contains(secret), "{secret} is in the log");
    }
}
