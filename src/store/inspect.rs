//! A look at the metadata that changes nothing, for who wants to know what is wrong with them.

use std::path::Path;
use std::time::Duration;

use sqlx::any::install_default_drivers;
use sqlx::{AnyConnection, Connection as _};

use super::sweep::{self, Mark};
use super::{Backend, MIGRATIONS, POSTGRES, SQLITE};
use crate::base::clock::Millis;
use crate::base::secret::Secret;

/// How long a server may take to let us in.
const PATIENCE: Duration = Duration::from_secs(10);

/// How the metadata stand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standing {
    /// The newest migration that was applied.
    pub newest: i64,
    /// Migrations of this program that were not.
    pub missing: Vec<i64>,
    /// Applied ones that this program does not know: a newer program has used the database.
    pub unknown: Vec<i64>,
    /// When the newest row of the record was written.
    pub newest_record: Option<Millis>,
    /// How far clean-up has come.
    pub clean_up: Option<Mark>,
}

/// From the end of each chain, which an index has.
const NEWEST_RECORD: &str = "
    SELECT MAX(newest) FROM (
        SELECT (SELECT MAX(at) FROM audit WHERE audit.chain = audit_heads.chain) AS newest FROM audit_heads
    ) AS heads";

/// Of SQLite in a file that is there.
pub async fn sqlite(file: &Path) -> sqlx::Result<Standing> {
    look(&format!("sqlite://{}?mode=ro", file.display()), Backend::Sqlite).await
}

/// Of PostgreSQL.
pub async fn postgres(url: &Secret) -> sqlx::Result<Standing> {
    look(url.expose(), Backend::Postgres).await
}

/// Migrations that were applied and this program's, each in their order.
pub(super) struct Migrations {
    applied: Vec<i64>,
    /// Of this program's those that were not applied.
    pub missing: Vec<i64>,
    /// Applied ones that are not this program's.
    pub unknown: Vec<i64>,
}

/// Outside of a transaction.
pub(super) async fn migrations(on: &mut AnyConnection, backend: Backend) -> sqlx::Result<Migrations> {
    let (own, no_such_table) = match backend {
        Backend::Sqlite => (SQLITE, "1"),
        Backend::Postgres => (POSTGRES, "42P01"),
    };
    let applied = sqlx::query_scalar::<_, i64>("SELECT version FROM _sqlx_migrations ORDER BY version");
    let applied = match applied.fetch_all(on).await {
        // Nothing was ever applied.
        Err(sqlx::Error::Database(said)) if said.code().as_deref() == Some(no_such_table) => Vec::new(),
        read => read?,
    };
    let known: Vec<i64> = MIGRATIONS.iter().chain(own).map(|(version, ..)| *version).collect();
    let missing = known.iter().copied().filter(|version| !applied.contains(version)).collect();
    let unknown = applied.iter().copied().filter(|version| !known.contains(version)).collect();
    Ok(Migrations { applied, missing, unknown })
}

async fn look(url: &str, backend: Backend) -> sqlx::Result<Standing> {
    install_default_drivers();
    let connected = tokio::time::timeout(PATIENCE, AnyConnection::connect(url)).await;
    let mut connection = connected.map_err(|_late| sqlx::Error::PoolTimedOut)??;
    let Migrations { applied, missing, unknown } = migrations(&mut connection, backend).await?;
    let (newest_record, clean_up) = match missing.is_empty() {
        true => {
            let newest: Option<Millis> = sqlx::query_scalar(NEWEST_RECORD).fetch_one(&mut connection).await?;
            (newest, sweep::mark(&mut connection).await?)
        }
        false => (None, None),
    };
    connection.close().await?;
    Ok(Standing {
        newest: applied.into_iter().filter(|version| *version < 1000).max().unwrap_or(0),
        missing,
        unknown,
        newest_record,
        clean_up,
    })
}
