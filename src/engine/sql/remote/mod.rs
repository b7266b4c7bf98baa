//! Tables that stay where they are: in an engine of the workspace, which is asked over the network. What a caller
//! writes is judged here by a reader of that engine's own dialect, and runs there as a login that may read and do
//! nothing else.

pub mod clickhouse;
pub mod postgres;

/// A table of a remote engine that a query may read, and the name under which the caller writes it.
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
    pub url: url::Url, /* no password in it */
    pub password: crate::base::secret::Secret,
    pub private_hosts: bool,
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
