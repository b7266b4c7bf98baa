//! What is asked of a language model and what comes back, whoever makes it.

use std::time::Duration;

use serde_json::Value;

use crate::model::error::{Code, Error};

/// A language model that may be asked on behalf of one workspace: who holds one has passed the policy of that workspace.
pub trait Model: Send + Sync {
    /// Whether stored values (of rows, of value indexes, of earlier answers) may be part of what is sent.
    fn may_see_values(&self) -> bool;

    /// Asks once and waits for the whole answer.
    ///
    /// # Errors
    /// [`LlmError`].
    fn complete(&self, request: &Request) -> impl Future<Output = Result<Reply, LlmError>> + Send;
}

/// One request. Nothing of an earlier one is remembered by the other side.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// What the model is to do; never made of data.
    pub system: String,
    /// Begins with the user, then in turns.
    pub messages: Vec<Message>,
    /// The form of the answer; free text without.
    pub form: Option<Form>,
    /// Most tokens of the answer.
    pub max_tokens: u32,
}

impl Request {
    /// A guess at the tokens of everything that is sent: four bytes each, which is near enough for a budget.
    pub fn input_estimate(&self) -> u64 {
        let form = self.form.as_ref().map_or(0, |form| form.schema.to_string().len());
        let texts = self.messages.iter().map(|message| message.text.len()).sum::<usize>();
        ((self.system.len() + texts + form) / 4) as u64
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    pub from: Speaker,
    pub text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Speaker {
    User,
    Model,
}

/// An answer that is one JSON object.
#[derive(Clone, Debug, PartialEq)]
pub struct Form {
    /// `[a-z_]{1,40}`.
    pub name: &'static str,
    /// JSON Schema (2020-12) of an object.
    pub schema: Value,
}

/// An answer, whole.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reply {
    /// With a form, JSON that nobody has checked.
    pub text: String,
    /// As the provider counted; `None` when it did not say.
    pub usage: Option<Usage>,
}

impl Reply {
    /// The JSON of an answer with a form. Models that are not held to a form like to wrap it in a code fence.
    pub fn json(&self) -> &str {
        let text = self.text.trim();
        let inner = text.strip_prefix("```json").or_else(|| text.strip_prefix("```"));
        inner.and_then(|inner| inner.strip_suffix("```")).unwrap_or(text).trim()
    }
}

/// Tokens of one call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    pub input: u64,
    pub output: u64,
}

/// Why there is no answer. No text of the provider is carried: it may quote keys and prompts.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LlmError {
    #[error("no language model is configured on this server")]
    NotConfigured,
    #[error("the workspace does not let language models be asked")]
    Off,
    #[error("the workspace allows only local language models, and the configured one is not listed as local")]
    EgressDenied,
    #[error("the workspace has used the tokens of this day")]
    BudgetExceeded { resets_in: Duration },
    #[error("the provider does not accept the key")]
    Unauthorised,
    #[error("the model declined to answer")]
    Refused,
    #[error("the provider's content filter stopped the answer")]
    ContentFilter,
    #[error("the provider has no capacity")]
    Overloaded { retry_after: Option<Duration> },
    #[error("no answer in time")]
    Timeout,
    #[error("the call was cancelled")]
    Cancelled,
    #[error("more than the model takes, or than may be read")]
    TooLarge,
    #[error("the answer was cut off at its longest length")]
    Truncated,
    #[error("not what such a provider answers: {0}")]
    Malformed(&'static str),
    /// The provider does not accept the request: a wrong model name, address or parameter, no credit.
    #[error("the provider does not accept the request (status {0})")]
    Rejected(u16),
    #[error("the provider failed: {0}")]
    Failed(String),
}

impl LlmError {
    /// A stable word for metrics and traces.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::NotConfigured => "not_configured",
            Self::Off => "off",
            Self::EgressDenied => "egress_denied",
            Self::BudgetExceeded { .. } => "budget_exceeded",
            Self::Unauthorised => "unauthorised",
            Self::Refused => "refused",
            Self::ContentFilter => "content_filter",
            Self::Overloaded { .. } => "overloaded",
            Self::Timeout => "timeout",
            Self::Cancelled => "cancelled",
            Self::TooLarge => "too_large",
            Self::Truncated => "truncated",
            Self::Malformed(_) => "malformed",
            Self::Rejected(_) => "rejected",
            Self::Failed(_) => "failed",
        }
    }

    /// Whether the provider may have counted tokens for a call that ended so.
    pub fn may_have_cost(&self) -> bool {
        match self {
            Self::Refused
            | Self::ContentFilter
            | Self::Timeout
            | Self::Cancelled
            | Self::TooLarge
            | Self::Truncated
            | Self::Malformed(_) => true,
            Self::NotConfigured
            | Self::Off
            | Self::EgressDenied
            | Self::BudgetExceeded { .. }
            | Self::Unauthorised
            | Self::Overloaded { .. }
            | Self::Rejected(_)
            | Self::Failed(_) => false,
        }
    }
}

impl From<LlmError> for Error {
    fn from(problem: LlmError) -> Self {
        let provider = |message: &str| Error::new(Code::ProviderError, message);
        match &problem {
            LlmError::NotConfigured => Error::new(
                Code::ProviderError,
                "No language model is configured on this server. Its operator can set DRAGOMAN_LLM_PROVIDER.",
            ),
            LlmError::Off => Error::new(
                Code::EgressDenied,
                "This workspace does not let language models be asked. One of its admins can change llm_egress.",
            ),
            LlmError::EgressDenied => Error::new(
                Code::EgressDenied,
                "This workspace allows only language models of the operator's own network, and the configured one is \
                 not listed there (DRAGOMAN_LLM_LOCAL_HOSTS). Nothing was sent.",
            ),
            LlmError::BudgetExceeded { resets_in } => Error::new(
                Code::BudgetExceeded,
                "This workspace has used its tokens for language models today. It has new ones at midnight UTC.",
            )
            .retry_after(resets_in.as_secs()),
            LlmError::Unauthorised => {
                provider("The language model's provider does not accept this server's key. Tell its operator.")
            }
            LlmError::Rejected(_) => provider(
                "The language model's provider does not accept the request. The operator should look at \
                 DRAGOMAN_LLM_URL, DRAGOMAN_LLM_MODEL and the account.",
            ),
            LlmError::Refused | LlmError::ContentFilter => {
                provider("The language model declined to answer. Say it in other words.")
            }
            LlmError::Overloaded { retry_after } => provider("The language model has no capacity. Try again later.")
                .retry_after(retry_after.map_or(30, |wait| wait.as_secs().max(1))),
            LlmError::Cancelled => Error::new(Code::QueryTimeout, "The call was cancelled."),
            LlmError::Timeout => provider("The language model did not answer in time. Try again later."),
            LlmError::TooLarge | LlmError::Truncated => {
                provider("The language model's answer or question was too long. Ask for less at once.")
            }
            LlmError::Malformed(_) | LlmError::Failed(_) => {
                provider("The language model's provider failed to answer. Try again later.")
            }
        }
        .with(serde_json::json!({ "reason": problem.kind() }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_found_with_and_without_a_fence() {
        for text in ["{\"a\":1}", " {\"a\":1}\n", "```json\n{\"a\":1}\n```", "```\n{\"a\":1}```"] {
            assert_eq!(Reply { text: text.into(), usage: None }.json(), "{\"a\":1}", "{text}");
        }
        assert_eq!(Reply { text: "```json\n{".into(), usage: None }.json(), "```json\n{", "a fence that does not end");
    }

    #[test]
    fn a_full_budget_and_a_busy_provider_say_when_to_come_back() {
        let error = Error::from(LlmError::BudgetExceeded { resets_in: Duration::from_secs(77) });
        assert_eq!((error.code, error.retry_after), (Code::BudgetExceeded, Some(77)));
        let error = Error::from(LlmError::Overloaded { retry_after: Some(Duration::from_secs(9)) });
        assert_eq!((error.code, error.retry_after), (Code::ProviderError, Some(9)));
        assert_eq!(Error::from(LlmError::Off).code, Code::EgressDenied);
        assert_eq!(Error::from(LlmError::EgressDenied).details["reason"], "egress_denied");
    }
}
