//! What a workspace lets leave, and how much.

use std::time::Duration;

use dragoman::config::Config;
use dragoman::engine::llm::{LlmError, Model as _, Models};
use dragoman::model::access::Role;
use dragoman::model::error::{Code, Error};
use dragoman::model::org::Egress;
use serde_json::json;

use super::provider::{Answer, Provider};
use super::{World, request};
use crate::support::service::Service;

fn object() -> Answer {
    Answer::Object(json!({}))
}

#[tokio::test]
async fn nothing_leaves_a_workspace_that_has_not_allowed_it() {
    Service::both(async |service| {
        let provider = Provider::start(vec![object()]).await;
        let other = service.workspace("other").await;
        let world = World::on(service, &provider.url, "openai", &[]).await;
        let settings = world.service.identity.settings(other.id).await.unwrap();
        assert_eq!(settings.language_models, Default::default(), "a new workspace allows nothing");
        world.set(Egress::Off, true).await;
        let refused = world.open().await.err().unwrap();
        assert_eq!((&refused, provider.count()), (&LlmError::Off, 0));
        assert_eq!(Error::from(refused).code, Code::EgressDenied);
        world.set(Egress::Allowed, false).await;
        assert!(world.ask().await.is_ok());
        world.service.stop().await;
    })
    .await;
}

#[tokio::test]
async fn restricted_asks_only_what_is_listed_as_local() {
    let provider = Provider::start(vec![object()]).await;
    for (url, local) in [
        (provider.url.as_str(), ""),
        (provider.url.as_str(), "10.0.0.0/8,models.internal"),
        ("https://1.1.1.1/v1", "127.0.0.0/8"),
        ("https://1.1.1.1/v1", "1.1.1.1,0.0.0.0/0"),
    ] {
        let world = World::with(url, "openai", &[("DRAGOMAN_LLM_LOCAL_HOSTS", local)]).await;
        world.set(Egress::Restricted, false).await;
        let refused = world.open().await.err().unwrap();
        assert_eq!(refused, LlmError::EgressDenied, "{url} {local}");
        let error = Error::from(refused);
        assert_eq!((error.code.info().name, error.code.info().status), ("egress_denied", 403));
        assert_eq!(provider.count(), 0);
        world.service.stop().await;
    }
    let world = World::with(&provider.url, "openai", &[("DRAGOMAN_LLM_LOCAL_HOSTS", "127.0.0.0/8")]).await;
    world.set(Egress::Restricted, false).await;
    assert!(world.ask().await.is_ok());
    world.service.stop().await;
}

#[tokio::test]
async fn a_change_of_the_policy_holds_for_what_is_under_way() {
    let provider = Provider::start(vec![object(), object()]).await;
    let world = World::new(&provider, "openai").await;
    world.set(Egress::Allowed, true).await;
    let model = world.open().await.unwrap();
    assert!(model.may_see_values() && model.complete(&request()).await.is_ok());
    for (egress, values) in [(Egress::Off, true), (Egress::Allowed, false), (Egress::Restricted, true)] {
        world.set(egress, values).await;
        assert_eq!((model.complete(&request()).await, provider.count()), (Err(LlmError::Off), 1));
    }
    world.set(Egress::Allowed, true).await;
    assert!(model.complete(&request()).await.is_ok());
    world.service.stop().await;
}

/// Each answer of the provider has 730 tokens; the request may have 100 and is guessed at less than 100.
#[tokio::test]
async fn the_days_tokens_of_a_workspace_end() {
    let provider = Provider::start((0..3).map(|_| object()).collect()).await;
    let world = World::with(&provider.url, "anthropic", &[("DRAGOMAN_LLM_DAILY_TOKENS", "1500")]).await;
    assert!(world.ask().await.is_ok() && world.ask().await.is_ok(), "0 and 730 are used before");
    let refused = world.ask().await.unwrap_err();
    assert!(matches!(refused, LlmError::BudgetExceeded { .. }), "{refused}");
    let error = Error::from(refused);
    assert_eq!((error.code.info().name, error.code.info().status), ("budget_exceeded", 402));
    assert!(error.retry_after.is_some_and(|seconds| seconds <= 86_400));
    assert_eq!(provider.count(), 2);
    world.service.clock.advance(Duration::from_secs(86_400));
    assert!(world.ask().await.is_ok());
    world.service.stop().await;
}

#[tokio::test]
async fn an_answer_is_never_longer_than_the_operator_lets_it_be() {
    let provider = Provider::start(vec![object()]).await;
    let world = World::with(&provider.url, "openai", &[("DRAGOMAN_LLM_OUTPUT_TOKENS", "50")]).await;
    world.ask().await.unwrap();
    assert_eq!(provider.asked(0, |asked| asked.body["max_tokens"].clone()), 50);
    world.service.stop().await;
}

#[tokio::test]
async fn without_a_configured_model_nobody_is_asked() {
    let provider = Provider::start(vec![]).await;
    let mut world = World::new(&provider, "openai").await;
    let config = Config::read(|_| None).unwrap();
    world.models = Models::new(&config, world.service.db.clone(), world.service.clock.clone());
    assert_eq!(world.open().await.err(), Some(LlmError::NotConfigured));
    world.service.stop().await;
}

#[tokio::test]
async fn who_wants_no_language_model_is_read_by_none_wherever_the_workspace_would_let_it() {
    Service::both(async |service| {
        let provider = Provider::start(vec![object()]).await;
        let mut world = World::on(service, &provider.url, "openai", &[]).await;
        let (ann, _) = world.service.member(&world.org, "ann@example.com", Role::Contributor).await;
        world.as_person(ann.id);
        assert!(world.open().await.is_ok());
        let change = [("defaultProvider".to_owned(), json!("built_in"))].into_iter().collect();
        world.service.identity.change_user_settings(ann.id, world.org.id, &change, |_| Ok(())).await.unwrap();
        assert_eq!(world.open().await.err(), Some(LlmError::Off));
        assert_eq!(provider.count(), 0);
        world.service.stop().await;
    })
    .await;
}
