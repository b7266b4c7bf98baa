//! What is wrong with an ontology's document.

use serde::{Deserialize, Serialize};

/// What is wrong with a document, or doubtful in it, and where.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Problem {
    pub severity: Severity,
    /// Into the model, such as `datasets[2].fields[0].expression`; empty for the whole.
    pub path: String,
    /// In the text, from 1; `None` where there is no text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// In characters, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
    pub message: String,
    /// What to do; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub hint: String,
}

/// Whether an ontology with a problem can be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// It cannot.
    Error,
    /// It can; a person should look.
    Warning,
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some(line) = self.line {
            write!(f, "line {line}: ")?;
        }
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        write!(f, "{}", self.message)?;
        if self.hint.is_empty() { Ok(()) } else { write!(f, " {}", self.hint) }
    }
}

impl Problem {
    pub fn error(path: impl Into<String>, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(Severity::Error, path.into(), message.into(), hint.into())
    }

    pub fn warning(path: impl Into<String>, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(Severity::Warning, path.into(), message.into(), hint.into())
    }

    fn new(severity: Severity, path: String, message: String, hint: String) -> Self {
        Self { severity, path, line: None, column: None, message, hint }
    }

    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}
