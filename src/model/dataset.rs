//! A dataset: a table or a set of documents that a workspace may publish to external clients.

use serde::{Deserialize, Serialize};

use crate::base::clock::Millis;
use crate::base::id::Id;
use crate::model::org::Org;
use crate::model::personal;
use crate::model::source::{Dialect, RemoteTable};

/// What a dataset holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    Table,
    Documents,
}

impl Kind {
    pub fn name(self) -> &'static str {
        match self {
            Kind::Table => "table",
            Kind::Documents => "documents",
        }
    }
}

/// A dataset as stored. Its data are immutable files of `version`; a new import publishes a new version.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Dataset {
    pub id: Id<Dataset>,
    pub org: Id<Org>,
    /// Unique in the workspace; for tables also the SQL name: `[a-z_][a-z0-9_]*`, at most 63 characters.
    pub name: String,
    pub description: String,
    pub kind: Kind,
    /// Whether external clients may see it; false until published.
    pub externally_queryable: bool,
    /// Names the immutable file or shard in the workspace's folder, or the reading of a remote catalogue; `None` until
    /// the first import ended.
    pub version: Option<String>,
    /// Rows of a table (as its engine estimates them when it is remote), chunks of documents.
    pub row_count: i64,
    /// Bytes on disk.
    pub bytes: i64,
    /// Columns of a table; empty for documents.
    pub columns: Vec<ColumnInfo>,
    /// The file that it came from, as a person would recognise it; for a remote table its source and name there.
    pub source: String,
    /// Where the rows are, when they are in a remote engine; nothing of them is kept here then.
    pub remote: Option<RemoteTable>,
    pub created_at: Millis,
    pub updated_at: Millis,
}

impl Dataset {
    /// Whether it can be queried at all.
    pub fn is_ready(&self) -> bool {
        self.version.is_some()
    }

    /// The SQL that reads it; `None` for documents.
    pub fn dialect(&self) -> Option<Dialect> {
        let dialect = self.remote.as_ref().map_or(Dialect::DuckDb, |remote| remote.engine.dialect());
        (self.kind == Kind::Table).then_some(dialect)
    }
}

/// A column of a table.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ColumnInfo {
    /// As written in SQL.
    pub name: String,
    /// The engine's type name, such as DuckDB's `BIGINT`, `VARCHAR`, `TIMESTAMP`.
    pub r#type: String,
    pub nullable: bool,
    pub description: String,
    /// Up to five distinct values, as text; masked where the column likely holds personal data.
    pub sample_values: Vec<String>,
    /// Whether these are all its values, besides NULL. Absent where it is not known.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub samples_are_all: bool,
    /// The kind of personal data that the column likely holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub likely_personal_data: Option<personal::Kind>,
}

impl ColumnInfo {
    /// As it may be shown: what likely is personal is masked, by the judgement of all its values that the import made,
    /// or of the samples where there was none.
    #[must_use]
    pub fn masked(mut self) -> Self {
        let judged = personal::judge_column(&self.name, &self.r#type, &self.sample_values);
        self.likely_personal_data = self.likely_personal_data.or(judged.map(|finding| finding.kind));
        if let Some(kind) = self.likely_personal_data {
            self.sample_values = self.sample_values.iter().map(|value| personal::mask(kind, value)).collect();
            self.sample_values.dedup();
            // Masked, they no longer say which values there are.
            self.samples_are_all = false;
        }
        self
    }
}

/// A dataset's name made from a file's: lower-case, `_` for the rest, never empty, never starting with a digit.
pub fn name_from_file(stem: &str) -> String {
    let mut name: String =
        stem.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' }).collect();
    while name.contains("__") {
        name = name.replace("__", "_");
    }
    let name = name.trim_matches('_');
    let name = if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
        format!("t_{name}")
    } else {
        name.to_owned()
    };
    name.chars().take(63).collect::<String>().trim_end_matches('_').to_owned()
}

/// Whether a text can be a dataset's name.
pub fn is_name(text: &str) -> bool {
    (1..=63).contains(&text.len())
        && text.starts_with(|c: char| c.is_ascii_lowercase() || c == '_')
        && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_names_become_sql_names() {
        for (file, name) in
            [("Flights 2013", "flights_2013"), ("2013", "t_2013"), ("--", "t"), ("Ünï", "n"), ("a__b", "a_b")]
        {
            assert_eq!(name_from_file(file), name, "{file}");
            assert!(is_name(&name_from_file(file)), "{file}");
        }
    }
}
