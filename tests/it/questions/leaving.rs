//! Questions that their client gives up while a language model thinks about them: the model is no longer waited for.

use std::time::Duration;

use dragoman::identity::workspace_settings::Change;
use dragoman::model::org::Egress;
use serde_json::json;

use super::Bakery;
use crate::models::KEY;
use crate::models::provider::{Answer, Provider};
use crate::news::Messages;
use crate::sessions::{open, send};
use crate::stopping::{cancel, listening, stopped, until};
use crate::support::service::Service;

const LONG: Duration = Duration::from_secs(30);

#[tokio::test(flavor = "multi_thread")]
async fn a_question_that_is_given_up_stops_in_both_eras() {
    let provider = Provider::start(vec![Answer::Silence, Answer::Silence]).await;
    let service = Service::with(&[
        ("DRAGOMAN_LLM_PROVIDER", "openai"),
        ("DRAGOMAN_LLM_URL", &provider.url),
        ("DRAGOMAN_LLM_API_KEY", KEY),
        ("DRAGOMAN_LLM_MODEL", "model-1"),
        ("DRAGOMAN_LLM_TIMEOUT", "600"),
    ])
    .await;
    let bakery = Bakery::open(service).await;
    let (service, org) = (&bakery.service, &bakery.org);
    let change = Change { llm_egress: Some(Egress::Allowed), llm_send_values: Some(false), ..Change::default() };
    service.identity.change_settings(org.id, None, change).await.unwrap();
    // Nothing that the service reads by itself.
    let question = "Whatever made the neighbours whistle so wistfully?";
    let arguments = json!({ "ontologyId": bakery.ontology, "question": question });
    let call = json!({ "name": "ask_question", "arguments": arguments, "_meta": { "progressToken": "p" } });
    let within = async |what: &tokio::sync::Notify| tokio::time::timeout(LONG, what.notified()).await;

    eprintln!("sessions");
    let session = open(service, &bakery.client).await;
    let body = json!({ "jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": call });
    let mut told = Messages::of(send(service, &bakery.client, Some(&session), body).await);
    until(&mut told, "language model").await;
    within(&provider.arrived).await.expect("the model is asked");
    cancel(service, &bakery.client, &session, &json!(5)).await;
    within(&provider.given_up).await.expect("the model is no longer waited for");
    stopped(service, org, "ask_question", 1).await;
    while let Some(message) = told.next().await {
        assert!(message.get("id").is_none(), "no answer after a cancellation: {message}");
    }

    eprintln!("stateless");
    let mut told = listening(service, &bakery.client, call).await;
    until(&mut told, "language model").await;
    within(&provider.arrived).await.expect("the model is asked");
    drop(told);
    within(&provider.given_up).await.expect("the model is no longer waited for");
    stopped(service, org, "ask_question", 2).await;
}
