//! One error for everything that a caller may see. Lower layers return it without knowing HTTP; each surface maps
//! the code through the one table below. An internal cause is logged where it happens and never carried outside.

use serde::Serialize;
use serde_json::{Value, json};

/// What went wrong, as a stable word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Code {
    AuthInvalid,
    AuthRevoked,
    AuthExpired,
    ScopeDenied,
    /// A rule of the workspace forbids it, whatever the scopes.
    Forbidden,
    /// The person proved themselves too long ago for this (RFC 9470).
    InsufficientUserAuthentication,
    RateLimited,
    IpBlocked,
    ForbiddenSql,
    SqlTooLong,
    InvalidArgument,
    DatasetNotFound,
    DocumentNotFound,
    OntologyNotFound,
    /// It is there, and cannot be asked as it is.
    OntologyNotReady,
    NotFound,
    QueryTimeout,
    /// The whole time of a question is over.
    AgentTimeout,
    LimitExceeded,
    FileTooLarge,
    /// A remote engine cannot be reached, or refuses to work.
    SourceUnavailable,
    /// A language model's provider refuses, is busy, or does not answer.
    ProviderError,
    /// What a workspace may spend is spent.
    BudgetExceeded,
    /// The workspace does not let this leave.
    EgressDenied,
    ServiceUnavailable,
    InternalError,
}

/// A row of the table of codes.
#[derive(Debug)]
pub struct CodeInfo {
    /// As it is written in answers.
    pub name: &'static str,
    /// HTTP status on REST.
    pub status: u16,
    /// JSON-RPC code where the protocol, not a tool, is what failed.
    pub json_rpc: i32,
}

impl Code {
    /// Every code, for documents and tests.
    pub const ALL: [Code; 26] = [
        Code::AuthInvalid,
        Code::AuthRevoked,
        Code::AuthExpired,
        Code::ScopeDenied,
        Code::Forbidden,
        Code::InsufficientUserAuthentication,
        Code::RateLimited,
        Code::IpBlocked,
        Code::ForbiddenSql,
        Code::SqlTooLong,
        Code::InvalidArgument,
        Code::DatasetNotFound,
        Code::DocumentNotFound,
        Code::OntologyNotFound,
        Code::OntologyNotReady,
        Code::NotFound,
        Code::QueryTimeout,
        Code::AgentTimeout,
        Code::LimitExceeded,
        Code::FileTooLarge,
        Code::SourceUnavailable,
        Code::ProviderError,
        Code::BudgetExceeded,
        Code::EgressDenied,
        Code::ServiceUnavailable,
        Code::InternalError,
    ];

    /// The one table.
    pub fn info(self) -> CodeInfo {
        let (name, status, json_rpc) = match self {
            Code::AuthInvalid => ("auth_invalid", 401, -32001),
            Code::AuthRevoked => ("auth_revoked", 401, -32001),
            Code::AuthExpired => ("auth_expired", 401, -32001),
            Code::ScopeDenied => ("scope_denied", 403, -32001),
            Code::Forbidden => ("forbidden", 403, -32001),
            Code::InsufficientUserAuthentication => ("insufficient_user_authentication", 401, -32001),
            Code::RateLimited => ("rate_limited", 429, -32029),
            Code::IpBlocked => ("ip_blocked", 429, -32029),
            Code::ForbiddenSql => ("forbidden_sql", 400, -32602),
            Code::SqlTooLong => ("sql_too_long", 400, -32602),
            Code::InvalidArgument => ("invalid_argument", 400, -32602),
            Code::DatasetNotFound => ("dataset_not_found", 404, -32002),
            Code::DocumentNotFound => ("document_not_found", 404, -32002),
            Code::OntologyNotFound => ("ontology_not_found", 404, -32002),
            Code::OntologyNotReady => ("ontology_not_ready", 409, -32003),
            Code::NotFound => ("not_found", 404, -32002),
            Code::QueryTimeout => ("query_timeout", 408, -32004),
            Code::AgentTimeout => ("agent_timeout", 408, -32004),
            Code::LimitExceeded => ("limit_exceeded", 400, -32602),
            Code::FileTooLarge => ("file_too_large", 413, -32602),
            Code::SourceUnavailable => ("source_unavailable", 502, -32005),
            Code::ProviderError => ("provider_error", 502, -32005),
            Code::BudgetExceeded => ("budget_exceeded", 402, -32602),
            Code::EgressDenied => ("egress_denied", 403, -32001),
            Code::ServiceUnavailable => ("service_unavailable", 503, -32603),
            Code::InternalError => ("internal_error", 500, -32603),
        };
        CodeInfo { name, status, json_rpc }
    }
}

/// A refusal or failure that a person or a model can act on.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    pub code: Code,
    /// One sentence; says what to do next where there is something to do.
    pub message: String,
    /// Machine-readable particulars: the field, the limit, the nearest right name. An object.
    pub details: Value,
    /// Seconds after which a repeat may succeed.
    pub retry_after: Option<u64>,
}

/// Shorthand of the crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), details: json!({}), retry_after: None }
    }

    /// Adds particulars; `details` is an object.
    #[must_use]
    pub fn with(mut self, details: Value) -> Self {
        self.details = details;
        self
    }

    #[must_use]
    pub fn retry_after(mut self, seconds: u64) -> Self {
        self.retry_after = Some(seconds);
        self
    }

    /// A wrong argument: names the field and says what it should be.
    pub fn invalid(field: &str, message: impl Into<String>) -> Self {
        Self::new(Code::InvalidArgument, message).with(json!({ "field": field }))
    }

    /// The same words whether it does not exist, is another's, is unpublished or was deleted.
    pub fn dataset_not_found() -> Self {
        Self::new(Code::DatasetNotFound, "There is no such dataset. List the datasets to see which there are.")
    }

    pub fn document_not_found() -> Self {
        Self::new(Code::DocumentNotFound, "There is no such document.")
    }

    /// The same words whether it does not exist, is another's, or has no dataset that the caller may see.
    pub fn ontology_not_found() -> Self {
        Self::new(
            Code::OntologyNotFound,
            "There is no such ontology. List the ontologies (dragoman_list_ontologies) to see which there are.",
        )
    }

    /// Something of a workspace that is not there, or is another's: the same words. `what` is a noun.
    pub fn not_found(what: &str) -> Self {
        Self::new(Code::NotFound, format!("There is no such {what} in this workspace."))
    }

    /// What a rule forbids to everybody's scopes; `rule` is its stable name.
    pub fn forbidden(rule: &str, message: impl Into<String>) -> Self {
        Self::new(Code::Forbidden, message).with(json!({ "rule": rule }))
    }

    /// Logs the cause here, once, and tells the outside nothing of it: but for a full disk, which who meets it can have
    /// mended.
    #[track_caller]
    pub fn internal(cause: impl std::fmt::Display) -> Self {
        let at = std::panic::Location::caller();
        tracing::error!(cause = %cause, file = at.file(), line = at.line(), "internal error");
        if Self::is_disk_full(&cause.to_string()) {
            let message =
                "The disk of the service is full, and nothing of this was kept. Tell who runs it; then try again.";
            return Self::new(Code::ServiceUnavailable, message).retry_after(60).with(json!({ "limit": "disk" }));
        }
        Self::new(Code::InternalError, "The service failed to answer. The failure is recorded; try again later.")
    }

    pub fn unavailable(message: impl Into<String>) -> Self {
        Self::new(Code::ServiceUnavailable, message).retry_after(1)
    }

    /// Whether a cause is that there is no room, in the words of the system, which the engines repeat, or of SQLite.
    pub fn is_disk_full(cause: &str) -> bool {
        ["No space left on device", "Disk quota exceeded", "database or disk is full"]
            .iter()
            .any(|words| cause.contains(words))
    }

    /// `{"error":{code, message, details}, "request_id"}`: the body on REST and in tool results.
    pub fn body(&self, request_id: &str) -> Value {
        let mut details = self.details.clone();
        if let (Some(seconds), Some(object)) = (self.retry_after, details.as_object_mut()) {
            object.insert("retry_after".into(), seconds.into());
        }
        json!({
            "error": { "code": self.code.info().name, "message": self.message, "details": details },
            "request_id": request_id,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_in_the_table_is_the_name_on_the_wire() {
        for code in Code::ALL {
            assert_eq!(serde_json::to_value(code).unwrap(), code.info().name);
        }
    }

    #[test]
    fn an_internal_error_says_nothing_of_its_cause() {
        let body = Error::internal("password column of table users").body("r-1").to_string();
        assert!(!body.contains("password"), "{body}");
    }

    #[test]
    fn a_full_disk_is_told_whoever_ran_into_it() {
        let system = std::io::Error::from_raw_os_error(nix::libc::ENOSPC).to_string();
        for cause in [system.as_str(), "(code: 13) database or disk is full"] {
            let told = Error::internal(cause);
            assert_eq!((told.code, &told.details["limit"]), (Code::ServiceUnavailable, &json!("disk")), "{cause}");
        }
    }
}
