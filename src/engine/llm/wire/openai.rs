//! Chat completions as OpenAI defined them and many servers speak them.
//! <https://platform.openai.com/docs/api-reference/chat/create>

use serde::Deserialize;
use serde_json::{Value, json};

use super::{Dialect, Holding, Problem, in_words, of_status};
use crate::base::json::put;
use crate::engine::llm::ask::{LlmError, Reply, Request, Speaker, Usage};

/// The body of a request.
pub(crate) fn body(request: &Request, model: &str, dialect: Dialect) -> Value {
    let mut system = request.system.clone();
    if let Some(form) = &request.form
        && dialect.holding != Holding::Schema
    {
        system += &in_words(form);
    }
    let mut messages = vec![json!({ "role": "system", "content": system })];
    messages.extend(request.messages.iter().map(|message| {
        let role = match message.from {
            Speaker::User => "user",
            Speaker::Model => "assistant",
        };
        json!({ "role": role, "content": message.text })
    }));
    let limit = if dialect.newer_limit { "max_completion_tokens" } else { "max_tokens" };
    let mut body = json!({ "model": model, "messages": messages, limit: request.max_tokens, "stream": false });
    if !dialect.no_temperature {
        put(&mut body, "temperature", 0);
    }
    if let Some(form) = &request.form {
        match dialect.holding {
            // Not `strict`: its subset of JSON Schema demands every property, and most of a plan is optional.
            Holding::Schema => {
                let schema = json!({ "name": form.name, "schema": form.schema, "strict": false });
                put(&mut body, "response_format", json!({ "type": "json_schema", "json_schema": schema }));
            }
            Holding::Json => put(&mut body, "response_format", json!({ "type": "json_object" })),
            Holding::Prompt => {}
        }
    }
    body
}

#[derive(Deserialize)]
struct Completion {
    #[serde(default)]
    choices: Vec<ChoiceBody>,
    usage: Option<Counted>,
    /// Some relays answer 200 with an error in it.
    error: Option<Value>,
}

#[derive(Deserialize)]
struct ChoiceBody {
    message: MessageBody,
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct MessageBody {
    content: Option<Value>,
    refusal: Option<String>,
}

#[derive(Deserialize)]
struct Counted {
    #[serde(default)]
    prompt_tokens: u64,
    #[serde(default)]
    completion_tokens: u64,
}

/// Reads an answer.
///
/// # Errors
/// Whatever is not a whole answer.
pub(crate) fn read(status: u16, body: &[u8]) -> Result<Reply, Problem> {
    if status != 200 {
        return Err(of_status(status, body));
    }
    let completion: Completion =
        serde_json::from_slice(body).map_err(|_| LlmError::Malformed("no chat completion in JSON"))?;
    if let Some(error) = completion.error.filter(|error| !error.is_null()) {
        let status = error
            .get("code")
            .and_then(Value::as_u64)
            .and_then(|code| u16::try_from(code).ok())
            .filter(|code| *code >= 400);
        return Err(of_status(status.unwrap_or(500), body));
    }
    let choice = completion.choices.into_iter().next().ok_or(LlmError::Malformed("no choice"))?;
    if choice.message.refusal.is_some_and(|refusal| !refusal.is_empty()) {
        return Err(LlmError::Refused.into());
    }
    match choice.finish_reason.as_deref() {
        Some("content_filter") => return Err(LlmError::ContentFilter.into()),
        Some("length") => return Err(LlmError::Truncated.into()),
        _ => {}
    }
    let text = match choice.message.content {
        Some(Value::String(text)) => text,
        // Parts, as some servers answer.
        Some(Value::Array(parts)) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
        _ => String::new(),
    };
    if text.trim().is_empty() {
        return Err(LlmError::Malformed("no content").into());
    }
    let usage = completion.usage.map(|usage| Usage { input: usage.prompt_tokens, output: usage.completion_tokens });
    Ok(Reply { text, usage })
}
