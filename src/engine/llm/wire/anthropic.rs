//! Anthropic's messages. An answer with a form is the input of a tool that the model is made to call.
//! <https://docs.anthropic.com/en/api/messages>

use serde::Deserialize;
use serde_json::{Value, json};

use super::{Dialect, Holding, Problem, in_words, of_status};
use crate::base::json::put;
use crate::engine::llm::ask::{LlmError, Reply, Request, Speaker, Usage};

/// Sent as `anthropic-version`.
pub(crate) const VERSION: &str = "2023-06-01";

/// The body of a request.
pub(crate) fn body(request: &Request, model: &str, dialect: Dialect) -> Value {
    let messages = request.messages.iter().map(|message| {
        let role = match message.from {
            Speaker::User => "user",
            Speaker::Model => "assistant",
        };
        json!({ "role": role, "content": message.text })
    });
    let mut system = request.system.clone();
    let by_tool = request.form.as_ref().filter(|_| dialect.holding == Holding::Schema);
    if let (Some(form), None) = (&request.form, by_tool) {
        system += &in_words(form);
    }
    let mut body = json!({
        "model": model,
        "max_tokens": request.max_tokens,
        "system": system,
        "messages": messages.collect::<Vec<_>>(),
    });
    if !dialect.no_temperature {
        put(&mut body, "temperature", 0);
    }
    if let Some(form) = by_tool {
        let description = "Takes the answer. Call it once, with the whole answer.";
        let tool = json!({ "name": form.name, "description": description, "input_schema": form.schema });
        put(&mut body, "tools", json!([tool]));
        put(&mut body, "tool_choice", json!({ "type": "tool", "name": form.name }));
    }
    body
}

#[derive(Deserialize)]
struct MessageBody {
    content: Vec<Block>,
    stop_reason: Option<String>,
    usage: Option<Counted>,
}

#[derive(Deserialize)]
struct Block {
    #[serde(rename = "type")]
    kind: String,
    text: Option<String>,
    input: Option<Value>,
}

#[derive(Deserialize)]
struct Counted {
    #[serde(default)]
    input_tokens: u64,
    #[serde(default)]
    output_tokens: u64,
}

/// Reads an answer.
///
/// # Errors
/// Whatever is not a whole answer.
pub(crate) fn read(status: u16, body: &[u8]) -> Result<Reply, Problem> {
    if status != 200 {
        return Err(of_status(status, body));
    }
    let message: MessageBody = serde_json::from_slice(body).map_err(|_| LlmError::Malformed("no message in JSON"))?;
    match message.stop_reason.as_deref() {
        Some("refusal") => return Err(LlmError::Refused.into()),
        Some("max_tokens" | "model_context_window_exceeded") => return Err(LlmError::Truncated.into()),
        _ => {}
    }
    let called = message.content.iter().find(|block| block.kind == "tool_use").and_then(|block| block.input.as_ref());
    let text = match called {
        Some(input) => input.to_string(),
        None => message.content.iter().filter_map(|block| block.text.as_deref()).collect(),
    };
    if text.trim().is_empty() {
        return Err(LlmError::Malformed("no content").into());
    }
    let usage = message.usage.map(|usage| Usage { input: usage.input_tokens, output: usage.output_tokens });
    Ok(Reply { text, usage })
}
