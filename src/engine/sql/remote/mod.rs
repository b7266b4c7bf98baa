//! Engines of others as homes of a workspace's tables: a PostgreSQL or ClickHouse server that an admin registered, with
//! a login that can read and nothing else. A query runs in exactly one engine, in its own dialect: judged by that
//! dialect's own parser ([`postgres::guard`]), over the permitted tables alone, in a transaction that cannot write,
//! within the same limits as here. The server is trusted with the workspace's own data and with nothing else: it is a
//! stranger to this process, which bounds what it may send.
//!
//! [`sources`] keeps the registered engines, [`open`] those that are asked, [`route`] says where a query runs.
//!
//! ## Adding an engine
//!
//! 1. `model/source.rs`: a variant of `SourceEngine`, which [`sources`] opens, with its place in `ALL`, and one of
//!    `Dialect`.
//! 2. A folder here: guard, client, login check, problems, values. Its variant of [`server::Server`], also in
//!    `address`.
//! 3. [`route`]: strings, comments and quoted names of the dialect, where they are others.
//! 4. Questions: what it writes differently, in `engine/ontology/dialect.rs`, and the functions and casts of expressions
//!    that it has under other names, beside `engine/ontology/expression/clickhouse.rs`. `tests/clickhouse/plans.rs` holds
//!    its answers against DuckDB's.
//! 5. `engine/ontology/read/derive.rs`: the names of its types.
//! 6. What people read: `ops/sources.rs`, `ops/sql.rs`, `cli/admin.rs` and `cli/admin/source.rs`,
//!    `templates/sources.html`, `DRAGOMAN_SOURCE_PRIVATE_HOSTS` in `config/variables.rs`, `docs/sources.md`.
//! 7. Tests: corpora for the guard and a stand-in for the server in `tests/it/sql`, the real one as in
//!    `tests/clickhouse`, the dialects in the compiler's tests; then `openapi/` and the snapshots anew
//!    ([`crate::ops`]).

pub mod clickhouse;
mod open;
pub mod postgres;
pub mod route;
pub mod server;
pub mod sources;

/// A table of a remote engine that a query may read, and the name under which the caller writes it.
#[derive(Clone, Debug)]
pub struct Permitted {
    pub name: String,
    pub schema: String,
    pub table: String,
    pub columns: Vec<String>,
}

/// What one remote query may use.
pub struct RemoteLimits {
    pub time: std::time::Duration,
    pub rows: usize,
    pub bytes: usize,
    pub memory_mb: u64,
}

/// How to reach an engine; the password is only in memory here.
pub struct Address {
    /// Without a password.
    pub url: url::Url,
    pub password: crate::base::secret::Secret,
    /// Whether the operator lets this host be in a private network.
    pub private_hosts: bool,
    /// Where its host was found when it was vetted; looked up, and vetted, at each use when empty.
    pub addresses: Vec<std::net::SocketAddr>,
}

/// The tables that a login can read, as far as they are taken from its server's catalogue.
pub struct Catalogue {
    pub tables: Vec<FoundTable>,
    /// What was left out because there is too much of it, in a sentence; empty when nothing was.
    pub left_out: String,
}

/// What a catalogue declares of tables, by schema and table.
#[derive(Default)]
pub struct Declared {
    pub keys: std::collections::BTreeMap<(String, String), FoundKeys>,
    /// What was left out because there is too much of it, in sentences.
    pub left_out: Vec<String>,
}

/// What a catalogue declares of a table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FoundKeys {
    pub primary: Vec<String>,
    pub unique: Vec<Vec<String>>,
    pub references: Vec<FoundReference>,
    /// The values of columns that are enumerations, in their order.
    pub values: std::collections::BTreeMap<String, Vec<String>>,
}

/// Columns that refer to another table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundReference {
    pub columns: Vec<String>,
    pub schema: String,
    pub table: String,
    pub to_columns: Vec<String>,
}

/// A table that the login can read, as found by the catalogue.
pub struct FoundTable {
    pub schema: String,
    pub table: String,
    pub columns: Vec<crate::model::dataset::ColumnInfo>,
    pub row_count: Option<i64>,
    pub bytes: Option<i64>,
    pub description: String,
}
