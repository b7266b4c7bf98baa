use serde_json::json;

use super::*;
use crate::engine::llm::ask::{Message, Reply, Request, Speaker, Usage};

fn request() -> Request {
    let message = |from, text: &str| Message { from, text: text.into() };
    Request {
        system: "Do it.".into(),
        messages: vec![message(Speaker::User, "one"), message(Speaker::Model, "{}"), message(Speaker::User, "two")],
        form: Some(Form { name: "answer", schema: json!({ "type": "object" }) }),
        max_tokens: 100,
    }
}

#[test]
fn a_form_is_a_schema_for_one_protocol_and_a_forced_tool_for_the_other() {
    let sent = openai::body(&request(), "m", Dialect::default());
    assert_eq!(sent["response_format"]["type"], "json_schema");
    assert_eq!(sent["response_format"]["json_schema"]["schema"], json!({ "type": "object" }));
    assert_eq!((&sent["max_tokens"], &sent["temperature"], &sent["model"]), (&json!(100), &json!(0), &json!("m")));
    let roles: Vec<&str> =
        sent["messages"].as_array().unwrap().iter().map(|message| message["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["system", "user", "assistant", "user"]);

    let sent = anthropic::body(&request(), "m", Dialect::default());
    assert_eq!(sent["tool_choice"], json!({ "type": "tool", "name": "answer" }));
    assert_eq!(sent["tools"][0]["input_schema"], json!({ "type": "object" }));
    assert_eq!((&sent["system"], sent["messages"].as_array().unwrap().len()), (&json!("Do it."), 3));
}

#[test]
fn a_looser_hold_has_the_schema_in_the_prompt() {
    for (holding, format) in [(Holding::Json, json!({ "type": "json_object" })), (Holding::Prompt, json!(null))] {
        let dialect = Dialect { holding, newer_limit: true, no_temperature: true };
        let sent = openai::body(&request(), "m", dialect);
        assert_eq!(sent["response_format"], format);
        assert!(sent["messages"][0]["content"].as_str().unwrap().contains(r#"{"type":"object"}"#));
        assert_eq!((&sent["max_completion_tokens"], sent.get("max_tokens")), (&json!(100), None));
        assert_eq!(sent.get("temperature"), None);
        let sent = anthropic::body(&request(), "m", dialect);
        assert_eq!((sent.get("tools"), sent.get("temperature")), (None, None));
        assert!(sent["system"].as_str().unwrap().contains(r#"{"type":"object"}"#));
    }
}

#[test]
fn a_refused_parameter_is_changed_and_otherwise_the_hold_is_loosened() {
    let first = Dialect::default();
    let newer = first.after("Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens'.", true).unwrap();
    assert_eq!(newer, Dialect { newer_limit: true, ..first });
    let cooler = newer.after("Unsupported value: 'temperature' does not support 0", true).unwrap();
    assert!(cooler.no_temperature && cooler.holding == Holding::Schema);
    let json = cooler.after("response_format is not known", true).unwrap();
    assert_eq!(json.holding, Holding::Json);
    let prompt = json.after("", true).unwrap();
    assert_eq!(prompt.holding, Holding::Prompt);
    assert_eq!(prompt.after("temperature", true), None, "it was changed already");
    assert_eq!(first.after("no such thing", false), None, "free text has no hold");
}

#[test]
fn whole_answers_are_read() {
    let usage = Some(Usage { input: 7, output: 3 });
    let body = json!({ "choices": [{ "message": { "content": "{\"a\":1}" }, "finish_reason": "stop" }],
        "usage": { "prompt_tokens": 7, "completion_tokens": 3 } });
    assert_eq!(openai::read(200, body.to_string().as_bytes()).unwrap(), Reply { text: "{\"a\":1}".into(), usage });
    let parts = json!({ "choices": [{ "message": { "content": [{ "type": "text", "text": "x" }] } }] });
    assert_eq!(openai::read(200, parts.to_string().as_bytes()).unwrap(), Reply { text: "x".into(), usage: None });

    let body = json!({ "content": [{ "type": "text", "text": "Here:" }, { "type": "tool_use", "input": { "a": 1 } }],
        "stop_reason": "tool_use", "usage": { "input_tokens": 7, "output_tokens": 3 } });
    assert_eq!(anthropic::read(200, body.to_string().as_bytes()).unwrap(), Reply { text: "{\"a\":1}".into(), usage });
    let text = json!({ "content": [{ "type": "text", "text": "x" }], "stop_reason": "end_turn" });
    assert_eq!(anthropic::read(200, text.to_string().as_bytes()).unwrap(), Reply { text: "x".into(), usage: None });
}

fn kind(read: Result<Reply, Problem>) -> &'static str {
    read.unwrap_err().error.kind()
}

#[test]
fn what_is_no_whole_answer_is_told_apart() {
    let choice = |message: Value, reason: &str| json!({ "choices": [{ "message": message, "finish_reason": reason }] });
    for (body, expected) in [
        (choice(json!({ "content": "{" }), "length"), "truncated"),
        (choice(json!({ "content": null, "refusal": "I can't" }), "stop"), "refused"),
        (choice(json!({ "content": "" }), "content_filter"), "content_filter"),
        (choice(json!({ "content": null }), "stop"), "malformed"),
        (json!({ "choices": [] }), "malformed"),
        (json!([1]), "malformed"),
        (json!({ "error": { "code": 429, "message": "busy" } }), "overloaded"),
        (json!({ "error": { "message": "broken" } }), "failed"),
    ] {
        assert_eq!(kind(openai::read(200, body.to_string().as_bytes())), expected, "{body}");
    }
    for (body, expected) in [
        (json!({ "content": [], "stop_reason": "refusal" }), "refused"),
        (json!({ "content": [{ "type": "tool_use", "input": {} }], "stop_reason": "max_tokens" }), "truncated"),
        (json!({ "content": [], "stop_reason": "end_turn" }), "malformed"),
        (json!({}), "malformed"),
    ] {
        assert_eq!(kind(anthropic::read(200, body.to_string().as_bytes())), expected, "{body}");
    }
    assert_eq!(kind(openai::read(200, b"{\"choices\": [{\"mess")), "malformed");
}

#[test]
fn every_status_has_a_kind() {
    let long = r#"{"error":{"message":"This model's maximum context length is 8192 tokens","code":"x"}}"#;
    let filter = r#"{"error":{"message":"filtered","code":"content_filter"}}"#;
    let quota = r#"{"error":{"message":"no","type":"insufficient_quota"}}"#;
    for (status, body, expected) in [
        (401, "", "unauthorised"),
        (403, "", "unauthorised"),
        (400, "", "rejected"),
        (400, long, "too_large"),
        (400, filter, "content_filter"),
        (404, "", "rejected"),
        (413, "", "too_large"),
        (429, "", "overloaded"),
        (429, quota, "rejected"),
        (503, "<html>", "overloaded"),
        (529, r#"{"type":"error","error":{"type":"overloaded_error"}}"#, "overloaded"),
        (500, "", "failed"),
        (504, "", "timeout"),
        (302, "", "failed"),
    ] {
        assert_eq!(kind(openai::read(status, body.as_bytes())), expected, "{status} {body}");
        assert_eq!(kind(anthropic::read(status, body.as_bytes())), expected, "{status} {body}");
    }
}
