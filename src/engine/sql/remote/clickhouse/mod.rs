//! ClickHouse over HTTP: what a login may do, which tables it sees, and queries. The statement that runs was judged by
//! [`guard`]; limits travel with each request as settings, so that the login's profile must let settings be sent
//! (`readonly = 2`, see [`login`]).

pub mod guard;
mod http;
mod login;
mod problem;
mod value;

use std::time::Duration;

use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use self::http::{Http, Lines};
use super::{Address, Catalogue, FoundTable, Permitted, RemoteLimits};
use crate::model::dataset::ColumnInfo;
use crate::model::error::{Code, Error, Result};
use crate::model::table::{Column, Table};

/// How long the questions about the server itself may take.
const CATALOGUE: Duration = Duration::from_secs(15);
/// Beyond the query's own time: for the network.
const GRACE: Duration = Duration::from_secs(2);
/// What a catalogue may be, in bytes and in rows.
const CATALOGUE_BYTES: usize = 8 << 20;
const CATALOGUE_ROWS: usize = 200_000;
/// Tables of one source.
const TABLES: usize = 1_000;

/// How values are written, in every answer: no reader may lose a digit.
const FORMAT: [(&str, &str); 8] = [
    ("output_format_json_quote_64bit_integers", "1"),
    ("output_format_json_quote_decimals", "1"),
    ("output_format_decimal_trailing_zeros", "1"),
    ("output_format_json_quote_denormals", "1"),
    ("output_format_json_named_tuples_as_objects", "1"),
    ("date_time_output_format", "iso"),
    // Parts of WITH are seen in every arm of a UNION, as the guard takes them to be.
    ("enable_global_with_statement", "1"),
    ("cancel_http_readonly_queries_on_client_close", "1"),
];

/// A ClickHouse server, as one login sees it.
pub struct ClickHouse<'a> {
    http: Http<'a>,
}

/// A row of a catalogue: texts and NULLs alone, so that no answer becomes much larger than it was sent.
type Texts<const N: usize> = [Option<String>; N];

/// What a server says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Probe {
    pub version: String,
}

impl<'a> ClickHouse<'a> {
    pub fn new(address: &'a Address) -> Self {
        Self { http: Http { address } }
    }

    /// Asks for the version, and whether the login can read and nothing else.
    ///
    /// # Errors
    /// `invalid_argument` with what to run on the server, when the login may do more; `service_unavailable` when the
    /// server does not answer, or not as ClickHouse does.
    pub async fn probe(&self) -> Result<Probe> {
        let rows = self.catalogue::<2>("SELECT version(), toString(getSetting('readonly'))").await?;
        let Ok([[version, readonly]]) = <[Texts<2>; 1]>::try_from(rows) else { return Err(http::not_clickhouse()) };
        login::check_readonly(number(readonly))?;
        let grants = self.catalogue::<1>("SHOW GRANTS").await?;
        login::check_grants(grants.into_iter().map(|[grant]| grant.unwrap_or_default()))?;
        Ok(Probe { version: version.unwrap_or_default() })
    }

    /// The tables that the login can read, by name; beyond a thousand they are left out.
    ///
    /// # Errors
    /// As [`ClickHouse::probe`], without what concerns the login.
    pub async fn tables(&self) -> Result<Catalogue> {
        let hidden = "('system', 'information_schema', 'INFORMATION_SCHEMA')";
        let rows = self
            .catalogue::<5>(&format!(
                "SELECT database, name, toString(total_rows), toString(total_bytes), comment FROM system.tables
                 WHERE database NOT IN {hidden} AND NOT is_temporary ORDER BY database, name LIMIT {}",
                TABLES + 1
            ))
            .await?;
        let is_cut = rows.len() > TABLES;
        let found = rows.into_iter().take(TABLES).map(|[schema, table, rows, bytes, description]| FoundTable {
            schema: schema.unwrap_or_default(),
            table: table.unwrap_or_default(),
            columns: vec![],
            row_count: number(rows),
            bytes: number(bytes),
            description: description.unwrap_or_default(),
        });
        let mut found: Vec<FoundTable> = found.collect();
        let last = found.last().filter(|_| is_cut).map(|last| format!("{}.{}", last.schema, last.table));
        let columns = self
            .catalogue::<5>(&format!(
                "SELECT database, table, name, type, comment FROM system.columns
                 WHERE database NOT IN {hidden} ORDER BY database, table, position"
            ))
            .await?;
        for row in columns {
            let [schema, table, name, r#type, description] = row.map(Option::unwrap_or_default);
            let place = found.binary_search_by(|it| (&it.schema, &it.table).cmp(&(&schema, &table)));
            let Some(table) = place.ok().and_then(|place| found.get_mut(place)) else { continue };
            table.columns.push(ColumnInfo {
                name,
                nullable: r#type.starts_with("Nullable(") || r#type.starts_with("LowCardinality(Nullable("),
                r#type,
                description,
                sample_values: vec![],
                ..ColumnInfo::default()
            });
        }
        found.retain(|table| !table.columns.is_empty());
        let left_out = last.map(|last| {
            format!(
                "Its login can read more than {TABLES} tables: those that come after {last} are left out. Grant fewer."
            )
        });
        Ok(Catalogue { tables: found, left_out: left_out.unwrap_or_default() })
    }

    /// Judges and runs one statement over the permitted tables.
    ///
    /// # Errors
    /// `forbidden_sql`; `invalid_argument` for SQL that the server cannot parse, resolve or compute; `query_timeout`,
    /// also when `cancel` is; `limit_exceeded` for the server's memory, or one row that is larger than all may be;
    /// `service_unavailable`.
    pub async fn query(
        &self,
        sql: &str,
        permitted: &[Permitted],
        limits: &RemoteLimits,
        cancel: &CancellationToken,
    ) -> Result<Table> {
        let framed = guard::wrapped(sql, permitted)?;
        let seconds = limits.time.as_secs().max(1) + u64::from(limits.time.subsec_nanos() > 0);
        let settings = [
            ("max_execution_time", seconds.to_string()),
            ("timeout_overflow_mode", "throw".into()),
            // One more than is wanted: whether there were more must be known.
            ("max_result_rows", limits.rows.saturating_add(1).to_string()),
            ("result_overflow_mode", "break".into()),
            ("max_memory_usage", limits.memory_mb.saturating_mul(1 << 20).to_string()),
            ("allow_ddl", "0".into()),
            ("allow_introspection_functions", "0".into()),
        ];
        let (rows, bytes) = (limits.rows, limits.bytes);
        let work = async {
            let lines = self.http.ask(&framed, &settings, bytes).await?;
            aside(move || table(lines, rows)).await
        };
        // What is left behind is dropped: the connection closes, and the server ends the query.
        tokio::select! {
            table = tokio::time::timeout(limits.time.saturating_add(GRACE), work) => {
                table.unwrap_or_else(|_| Err(problem::timeout()))
            }
            () = cancel.cancelled() => Err(Error::new(Code::QueryTimeout, "The call was cancelled.")),
        }
    }

    async fn catalogue<const N: usize>(&self, sql: &str) -> Result<Vec<Texts<N>>>
    where
        Texts<N>: DeserializeOwned,
    {
        let work = async {
            let lines = self.http.ask(sql, &[], CATALOGUE_BYTES).await?;
            aside(move || texts::<N>(lines)).await
        };
        tokio::time::timeout(CATALOGUE, work).await.unwrap_or_else(|_| Err(problem::timeout()))
    }
}

/// Reads what a server sent in a thread where nobody waits behind it.
async fn aside<T: Send + 'static>(read: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    tokio::task::spawn_blocking(read).await.map_err(Error::internal)?
}

/// Reads the rows of a catalogue, behind names and types.
fn texts<const N: usize>(mut lines: Lines) -> Result<Vec<Texts<N>>>
where
    Texts<N>: DeserializeOwned,
{
    if lines.next::<Texts<N>>()?.is_none() || lines.next::<Texts<N>>()?.is_none() {
        return Err(http::not_clickhouse());
    }
    let mut rows = vec![];
    while rows.len() <= CATALOGUE_ROWS
        && let Some(row) = lines.next()?
    {
        rows.push(row);
    }
    if lines.is_cut || rows.len() > CATALOGUE_ROWS {
        let message = "The server has too many tables and columns for this login. Grant fewer.";
        return Err(Error::new(Code::LimitExceeded, message));
    }
    Ok(rows)
}

/// Reads names, types and as many rows as there may be.
fn table(mut lines: Lines, most: usize) -> Result<Table> {
    let (names, types) = (lines.next::<Vec<String>>()?, lines.next::<Vec<String>>()?);
    let (Some(names), Some(types)) = (names, types) else { return Err(http::not_clickhouse()) };
    if names.is_empty() || names.len() != types.len() {
        return Err(http::not_clickhouse());
    }
    let mut table = Table { columns: vec![], rows: vec![], truncated: lines.is_cut };
    while let Some(row) = lines.next::<Vec<Value>>()? {
        if row.len() != types.len() {
            return Err(http::not_clickhouse());
        }
        if table.rows.len() == most {
            table.truncated = true;
            break;
        }
        let row = row.into_iter().zip(&types).map(|(value, r#type)| value::render(r#type, value));
        table.rows.push(row.collect());
    }
    if lines.is_cut && table.rows.is_empty() {
        let message = "One row of the result is larger than all rows may be. Read fewer columns.";
        return Err(Error::new(Code::LimitExceeded, message));
    }
    table.columns = names.into_iter().zip(types).map(|(name, r#type)| Column { name, r#type }).collect();
    Ok(table)
}

fn number(text: Option<String>) -> Option<i64> {
    text?.parse().ok()
}
