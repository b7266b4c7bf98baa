//! A look at the metadata that changes nothing, for who wants to know what is wrong with them.

use std::path::Path;

use sqlx::any::install_default_drivers;
use sqlx::{AnyConnection, Connection as _};

use super::{MIGRATIONS, POSTGRES, SQLITE};
use crate::base::clock::Millis;
use crate::base::secret::Secret;

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
}

/// Of SQLite in a file that is there.
pub async fn sqlite(file: &Path) -> sqlx::Result<Standing> {
    look(&format!("sqlite://{}?mode=ro", file.display()), false).await
}

/// Of PostgreSQL.
pub async fn postgres(url: &Secret) -> sqlx::Result<Standing> {
    look(url.expose(), true).await
}

async fn look(url: &str, is_postgres: bool) -> sqlx::Result<Standing> {
    install_default_drivers();
    let mut connection = AnyConnection::connect(url).await?;
    let applied = sqlx::query_scalar::<_, i64>("SELECT version FROM _sqlx_migrations ORDER BY version");
    // Without the table nothing was ever applied.
    let applied = applied.fetch_all(&mut connection).await.or_else(|problem| match problem {
        sqlx::Error::Database(_) => Ok(Vec::new()),
        other => Err(other),
    })?;
    let own = if is_postgres { POSTGRES } else { SQLITE };
    let known: Vec<i64> = MIGRATIONS.iter().chain(own).map(|(version, ..)| *version).collect();
    let missing: Vec<i64> = known.iter().copied().filter(|version| !applied.contains(version)).collect();
    let newest_record = match missing.is_empty() {
        true => sqlx::query_scalar("SELECT MAX(at) FROM audit").fetch_one(&mut connection).await?,
        false => None,
    };
    connection.close().await?;
    Ok(Standing {
        newest: applied.iter().copied().filter(|version| *version < 1000).max().unwrap_or(0),
        missing,
        unknown: applied.into_iter().filter(|version| !known.contains(version)).collect(),
        newest_record,
    })
}
