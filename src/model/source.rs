//! A remote engine that a workspace reads from, and the languages of the engines.

use serde::{Deserialize, Serialize};

use crate::base::clock::Millis;
use crate::base::id::Id;
use crate::model::org::Org;
use crate::model::user::User;

/// The kind of a remote engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SourceEngine {
    /// Any server that speaks PostgreSQL's protocol and dialect.
    Postgres,
    ClickHouse,
}

impl SourceEngine {
    pub const ALL: [SourceEngine; 2] = [SourceEngine::Postgres, SourceEngine::ClickHouse];

    /// As it is stored, and written in requests.
    pub fn name(self) -> &'static str {
        match self {
            SourceEngine::Postgres => "postgres",
            SourceEngine::ClickHouse => "clickhouse",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|engine| engine.name() == text)
    }

    pub fn dialect(self) -> Dialect {
        match self {
            SourceEngine::Postgres => Dialect::PostgreSql,
            SourceEngine::ClickHouse => Dialect::ClickHouse,
        }
    }
}

/// The SQL that an engine reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
pub enum Dialect {
    #[serde(rename = "DuckDB")]
    DuckDb,
    #[serde(rename = "PostgreSQL")]
    PostgreSql,
    #[serde(rename = "ClickHouse")]
    ClickHouse,
}

impl Dialect {
    /// As people write it.
    pub fn name(self) -> &'static str {
        match self {
            Dialect::DuckDb => "DuckDB",
            Dialect::PostgreSql => "PostgreSQL",
            Dialect::ClickHouse => "ClickHouse",
        }
    }

    /// What a whole statement of ours ends with, on a line of its own.
    pub fn ending(self) -> &'static str {
        match self {
            Dialect::DuckDb | Dialect::PostgreSql => "",
            Dialect::ClickHouse => CLICKHOUSE_SETTINGS,
        }
    }

    /// A text as a literal.
    pub fn text(self, text: &str) -> String {
        match self {
            Dialect::DuckDb | Dialect::PostgreSql => text_literal(text),
            Dialect::ClickHouse => text_literal(&text.replace('\\', "\\\\")),
        }
    }
}

/// What statements of ours to ClickHouse end with, so that they mean there what they mean everywhere: joins without a
/// partner and aggregates of nothing are NULL, names are those of columns before those of results, types keep their
/// NULL, days before 1970 are days, and a moment without a zone is read in UTC.
pub const CLICKHOUSE_SETTINGS: &str = "\nSETTINGS join_use_nulls = 1, aggregate_functions_null_for_empty = 1, \
    prefer_column_name_to_alias = 1, cast_keep_nullable = 1, transform_null_in = 0, enable_positional_arguments = 1, \
    count_distinct_implementation = 'uniqExact', enable_extended_results_for_datetime_functions = 1, \
    session_timezone = 'UTC'";

/// A name as an identifier, as every dialect here reads it back.
pub fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// A text as a literal of DuckDB, of PostgreSQL, and of the language of queries. ClickHouse reads backslashes in texts
/// otherwise.
pub fn text_literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// A remote engine as stored.
#[derive(Clone, Debug, PartialEq)]
pub struct Source {
    pub id: Id<Source>,
    pub org: Id<Org>,
    /// Unique in the workspace; of the form of a dataset's name.
    pub name: String,
    pub engine: SourceEngine,
    /// A URL with the login and without its password.
    pub address: String,
    /// Certificates (PEM) that its own must come from; the system's when absent.
    pub ca: Option<String>,
    pub sealed_password: String,
    pub created_by: Option<Id<User>>,
    pub created_at: Millis,
    pub updated_at: Millis,
    pub checked_at: Millis,
    /// Why it could not be used when it was last checked; empty when it could.
    pub problem: String,
    /// What was left out of its tables when its catalogue was last read, because there is too much of it, in a
    /// sentence; empty when nothing was.
    pub left_out: String,
}

/// Where a remote table is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RemoteTable {
    pub source: Id<Source>,
    pub source_name: String,
    pub engine: SourceEngine,
    pub schema: String,
    pub table: String,
}
