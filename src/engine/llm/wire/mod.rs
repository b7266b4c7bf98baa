//! How requests and answers look on the wire, one file a protocol. Pure: bytes in, values out.

pub(super) mod anthropic;
pub(super) mod openai;

use serde::Deserialize;
use serde_json::Value;

use super::ask::{Form, LlmError};

/// How an answer is held to its form, from strict to loose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Holding {
    /// By the schema (OpenAI: `json_schema`; Anthropic: a forced tool).
    #[default]
    Schema,
    /// To be JSON; the schema is in the prompt.
    Json,
    /// By the prompt alone.
    Prompt,
}

/// What a server has been found to take. Servers of one protocol differ: some refuse a schema, newer models a
/// temperature, older servers the newer name of a limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Dialect {
    pub holding: Holding,
    /// Whether the answer's limit goes by its newer name, `max_completion_tokens`.
    pub newer_limit: bool,
    /// Whether the temperature is left to the server.
    pub no_temperature: bool,
}

impl Dialect {
    /// What to try after a request was refused with this text; `None` when nothing is left to try.
    pub(super) fn after(self, problem: &str, has_form: bool) -> Option<Self> {
        let says = |word: &str| problem.to_ascii_lowercase().contains(word);
        if says("max_tokens") && !self.newer_limit {
            return Some(Self { newer_limit: true, ..self });
        }
        if says("temperature") && !self.no_temperature {
            return Some(Self { no_temperature: true, ..self });
        }
        let looser = match self.holding {
            Holding::Schema => Holding::Json,
            Holding::Json => Holding::Prompt,
            Holding::Prompt => return None,
        };
        has_form.then_some(Self { holding: looser, ..self })
    }
}

/// An answer that is an error, with the text that decides what to try next (never logged, never shown).
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Problem {
    pub error: LlmError,
    pub text: String,
}

impl From<LlmError> for Problem {
    fn from(error: LlmError) -> Self {
        Self { error, text: String::new() }
    }
}

/// What the prompt says where a server is not held to the schema.
fn in_words(form: &Form) -> String {
    format!("\n\nAnswer with one JSON object and nothing else. It has this JSON schema:\n{}", form.schema)
}

/// `{"error": {…}}`, which both protocols have, with what either puts in.
#[derive(Default, Deserialize)]
#[serde(default)]
struct ErrorBody {
    error: ErrorDetail,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ErrorDetail {
    #[serde(rename = "type")]
    kind: Value,
    code: Value,
    message: Value,
}

/// An answer whose status is not 200.
fn of_status(status: u16, body: &[u8]) -> Problem {
    let ErrorBody { error } = serde_json::from_slice(body).unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_ascii_lowercase();
    let (kind, code, message) = (text(&error.kind), text(&error.code), text(&error.message));
    let is = |word: &str| kind == word || code == word;
    let too_long = ["context length", "context_length", "prompt is too long", "context window", "too many tokens"];
    let error = match status {
        300..400 => LlmError::Failed("a redirect, which is not followed".into()),
        401 | 403 => LlmError::Unauthorised,
        408 | 504 => LlmError::Timeout,
        413 => LlmError::TooLarge,
        400 | 422 if is("context_length_exceeded") || too_long.iter().any(|said| message.contains(said)) => {
            LlmError::TooLarge
        }
        400 | 422 if is("content_filter") || is("content_policy_violation") => LlmError::ContentFilter,
        // No credit: to wait does not help.
        429 if is("insufficient_quota") => LlmError::Rejected(429),
        429 | 503 | 529 => LlmError::Overloaded { retry_after: None },
        400..500 => LlmError::Rejected(status),
        _ => LlmError::Failed(format!("status {status}")),
    };
    Problem { error, text: message }
}

#[cfg(test)]
mod tests;
