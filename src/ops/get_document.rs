//! A document's text, behind `dragoman://documents/{document_id}`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::id::Id;
use crate::engine::job::Job;
use crate::gateway::operation::{Cost, Info, Operation, Parts, Route, Surface};
use crate::model::access::{Action, Want};
use crate::model::document::Document;
use crate::model::error::Result;

/// Arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GetDocument {
    /// `document_id` of a match of dragoman_search.
    pub document_id: Id<Document>,
}

/// The reply.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Reply {
    pub document_id: Id<Document>,
    pub title: String,
    pub source_file: String,
    pub text: String,
    /// Whether the text was cut to fit into a reply.
    pub truncated: bool,
}

impl Operation for GetDocument {
    const INFO: Info = Info {
        name: "dragoman_get_document",
        title: "Get a document",
        description: "Returns the text of a document that dragoman_search found.",
        action: Action::Search,
        cost: Cost::Resource,
        read_only: true,
        sensitive: false,
        recorded_as: None,
        surface: Surface::Resource,
        toolsets: &[],
        view: None,
        route: Route { method: "GET", path: "/documents/{document_id}" },
        time: super::quick,
        example: r#"{"document_id":"01936f2e-7c1a-7000-8000-000000000002"}"#,
    };
    type Reply = Reply;

    fn want(&self) -> Want {
        Want::All
    }

    fn target(&self) -> String {
        self.document_id.to_string()
    }

    async fn run(self, on: &Parts, job: &Job<'_>) -> Result<Reply> {
        let document = on.engines.catalog.document(job, self.document_id).await?;
        let (text, truncated) = cut(document.text, on.config.limits.budgets.reply_bytes * 3 / 4);
        Ok(Reply {
            document_id: document.id,
            title: document.title,
            source_file: document.source_file,
            text,
            truncated,
        })
    }
}

/// Cuts so that the text fits when written as JSON, at a character.
pub(super) fn cut(text: String, most: usize) -> (String, bool) {
    let mut size = 0;
    for (at, character) in text.char_indices() {
        size += match character {
            '"' | '\\' | '\n' | '\t' | '\r' => 2,
            control if control.is_control() => 6,
            other => other.len_utf8(),
        };
        if size > most {
            return (text.get(..at).unwrap_or_default().to_owned(), true);
        }
    }
    (text, false)
}

#[cfg(test)]
mod tests {
    use super::cut;

    #[test]
    fn a_long_text_is_cut_at_a_character_by_its_written_size() {
        assert_eq!(cut("abc".into(), 3), ("abc".into(), false));
        assert_eq!(cut("äöü".into(), 5), ("äö".into(), true));
        assert_eq!(cut("a\n\n".into(), 4), ("a\n".into(), true));
    }
}
