//! Metadata in SQLite or PostgreSQL through one SQL text (sqlx's `Any` driver). Plain async functions, one file a
//! table family; the executor comes first, then the tenant's id, then the rest.
//!
//! Portable SQL: `$1` placeholders, TEXT ids (UUIDv7) and JSON, BIGINT epoch milliseconds, BIGINT 0/1 for flags,
//! `ON CONFLICT`, `RETURNING`.

pub mod audit;
pub mod client_blocks;
pub mod clients;
pub mod cluster_indexes;
pub mod connected;
pub mod consents;
pub mod dataset_versions;
pub mod datasets;
pub mod devices;
mod direct;
pub mod documents;
pub mod erasure;
pub mod factors;
pub mod freshness;
pub mod grants;
pub mod inspect;
pub mod invitations;
pub mod keys;
pub mod leases;
pub mod links;
pub mod members;
pub mod ontologies;
pub mod ontology_tables;
pub mod orgs;
pub mod pending;
pub mod questions;
mod schema_lock;
pub mod sessions;
pub mod sources;
pub mod suspension;
pub mod sweep;
pub mod sync_marks;
pub mod syncs;
pub mod tasks;
pub mod tenant;
pub mod tokens;
pub mod upstream;
pub mod users;
pub mod workspace_settings;

use std::fs::File;
use std::ops::{Deref, DerefMut};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use sqlx::any::{AnyPoolOptions, AnyRow, install_default_drivers};
use sqlx::migrate::{Migration, MigrationType, Migrator};
use sqlx::pool::PoolConnection;
use sqlx::{AnyConnection, AnyPool, AssertSqlSafe, Connection as _, Row as _, SqlSafeStr as _, Transaction};
use tokio::sync::{Mutex, OwnedMutexGuard};

use crate::base::id::{Id, NotAnId};
use crate::base::secret::Secret;
use crate::store::direct::{Direct, PRAGMAS};
use crate::store::freshness::Gate;
use crate::store::schema_lock::SchemaLock;

/// Migrations in order; the same text runs on both engines.
const MIGRATIONS: &[(i64, &str, &str)] = &[
    (1, "identity", include_str!("../../migrations/0001_identity.sql")),
    (2, "data", include_str!("../../migrations/0002_data.sql")),
    (3, "browser", include_str!("../../migrations/0003_browser.sql")),
    (4, "accounts", include_str!("../../migrations/0004_accounts.sql")),
    (5, "sources", include_str!("../../migrations/0005_sources.sql")),
    (6, "language models", include_str!("../../migrations/0006_language_models.sql")),
    (7, "ontologies", include_str!("../../migrations/0007_ontologies.sql")),
    (8, "questions", include_str!("../../migrations/0008_questions.sql")),
    (9, "user settings", include_str!("../../migrations/0009_user_settings.sql")),
    (10, "ontology tables", include_str!("../../migrations/0010_ontology_tables.sql")),
    (11, "audit cuts", include_str!("../../migrations/0011_audit_cuts.sql")),
    (12, "what is left out of sources", include_str!("../../migrations/0012_source_left_out.sql")),
    (13, "tasks", include_str!("../../migrations/0013_tasks.sql")),
    (14, "words of datasets", include_str!("../../migrations/0014_dataset_words.sql")),
    (15, "rotated tokens", include_str!("../../migrations/0015_rotated_tokens.sql")),
    (16, "hidden columns", include_str!("../../migrations/0016_hidden_columns.sql")),
    (17, "versions of datasets", include_str!("../../migrations/0017_dataset_versions.sql")),
    (19, "freshness", include_str!("../../migrations/0019_freshness.sql")),
    (20, "documents from tables", include_str!("../../migrations/0020_document_syncs.sql")),
    (24, "what documents say of themselves", include_str!("../../migrations/0024_document_facts.sql")),
    (25, "indexes on a Qdrant server", include_str!("../../migrations/0025_cluster_indexes.sql")),
    (26, "failures in the record", include_str!("../../migrations/0026_audit_failures.sql")),
    (27, "what is known of pages", include_str!("../../migrations/0027_document_sync_marks.sql")),
    (28, "turns of runs", include_str!("../../migrations/0028_document_sync_turns.sql")),
    (29, "documents from buckets", include_str!("../../migrations/0029_document_sync_buckets.sql")),
    (30, "parts of indexes on a Qdrant server", include_str!("../../migrations/0030_index_parts.sql")),
    (31, "what tasks were made of", include_str!("../../migrations/0031_task_sources.sql")),
    (34, "how far clean-up has come", include_str!("../../migrations/0034_clean_up.sql")),
    (35, "workspaces that are erased", include_str!("../../migrations/0035_erased_workspaces.sql")),
];

/// Migrations of SQLite alone, after the common ones.
const SQLITE: &[(i64, &str, &str)] =
    &[(2001, "what counts as a change", include_str!("../../migrations/sqlite/2001_freshness.sql"))];

/// Migrations of PostgreSQL alone, after the common ones.
const POSTGRES: &[(i64, &str, &str)] = &[
    (1001, "row level security", include_str!("../../migrations/postgres/1001_row_level_security.sql")),
    (1002, "row level security of sources", include_str!("../../migrations/postgres/1002_sources.sql")),
    (1003, "row level security of ontologies", include_str!("../../migrations/postgres/1003_ontologies.sql")),
    (1004, "row level security of tables", include_str!("../../migrations/postgres/1004_ontology_tables.sql")),
    (1005, "row level security of tasks", include_str!("../../migrations/postgres/1005_tasks.sql")),
    (1007, "row level security of versions", include_str!("../../migrations/postgres/1007_dataset_versions.sql")),
    (1009, "what counts as a change", include_str!("../../migrations/postgres/1009_freshness.sql")),
    (1010, "row level security of syncs", include_str!("../../migrations/postgres/1010_document_syncs.sql")),
    (1011, "row level security of indexes", include_str!("../../migrations/postgres/1011_cluster_indexes.sql")),
    (1012, "row level security of marks", include_str!("../../migrations/postgres/1012_document_sync_marks.sql")),
    (1013, "documents before their dataset", include_str!("../../migrations/postgres/1013_documents_first.sql")),
];

/// Connections of SQLite in the pool besides that of the writer. More of them only take turns.
const READERS: u32 = 4;

/// How long a connection to PostgreSQL may have rested before it is asked whether it still is one.
const IDLE: Duration = Duration::from_secs(2);

/// How long a free connection is waited for.
const TURN: Duration = Duration::from_secs(10);

/// Connections to PostgreSQL that the record alone has: those who hold all others do not keep it from being written. It
/// uses one at a time; one that has fallen silent stays taken until the network gives it up.
const RECORD: u32 = 4;

/// What every connection to PostgreSQL is told, so that nobody holds for long what others need: how long a lock is
/// waited for, how long a statement may take, and when the transaction of a node that fell silent or is gone ends.
const BOUNDS: &str = "SELECT set_config('lock_timeout', '5s', false), set_config('statement_timeout', '2min', false),
            set_config('idle_in_transaction_session_timeout', '30s', false),
            set_config('tcp_keepalives_idle', '30s', false), set_config('tcp_keepalives_interval', '10s', false),
            set_config('tcp_keepalives_count', '3', false), set_config('tcp_user_timeout', '60s', false)";

/// The SQLSTATEs of what PostgreSQL ends because it took too long, or waited in a circle.
const TOO_LONG: [&str; 4] = ["55P03", "57014", "25P03", "40P01"];

/// Which engine holds the metadata.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backend {
    Sqlite,
    Postgres,
}

/// The metadata database: a pool, and for SQLite the turn of its single writer.
#[derive(Clone, Debug)]
pub struct Db {
    pool: AnyPool,
    /// What the record is written through on PostgreSQL.
    record: AnyPool,
    backend: Backend,
    writer: Arc<Mutex<()>>,
    /// On SQLite.
    direct: Option<Direct>,
    gate: Gate,
    /// On PostgreSQL.
    schema: Option<SchemaLock>,
}

/// A write transaction; dropped without [`Tx::commit`] it is rolled back.
pub struct Tx {
    inner: Transaction<'static, sqlx::Any>,
    _turn: Option<OwnedMutexGuard<()>>,
}

impl Tx {
    /// Makes it durable.
    pub async fn commit(self) -> sqlx::Result<()> {
        self.inner.commit().await
    }
}

impl Deref for Tx {
    type Target = AnyConnection;
    fn deref(&self) -> &AnyConnection {
        &self.inner
    }
}
impl DerefMut for Tx {
    fn deref_mut(&mut self) -> &mut AnyConnection {
        &mut self.inner
    }
}

/// A connection for one statement that writes, which is durable when it was executed.
pub struct Writer {
    inner: PoolConnection<sqlx::Any>,
    _turn: Option<OwnedMutexGuard<()>>,
}

impl Deref for Writer {
    type Target = AnyConnection;
    fn deref(&self) -> &AnyConnection {
        &self.inner
    }
}
impl DerefMut for Writer {
    fn deref_mut(&mut self) -> &mut AnyConnection {
        &mut self.inner
    }
}

impl Db {
    /// Where the metadata of a data folder are, in SQLite.
    pub fn file(data_dir: &Path) -> PathBuf {
        data_dir.join("metadata.sqlite")
    }

    /// SQLite in `file`, created when absent: WAL with full sync, so that an acknowledged write survives a crash.
    pub async fn open_sqlite(file: &Path) -> sqlx::Result<Self> {
        install_default_drivers();
        let pool = AnyPoolOptions::new()
            .max_connections(READERS + 1)
            .acquire_timeout(TURN)
            // A file does not hang up.
            .test_before_acquire(false)
            .after_connect(|connection, _| {
                Box::pin(async move {
                    for pragma in PRAGMAS {
                        sqlx::query(pragma).execute(&mut *connection).await?;
                    }
                    Ok(())
                })
            })
            .connect(&format!("sqlite://{}?mode=rwc", file.display()))
            .await?;
        migrate(&pool, SQLITE).await?;
        let direct = Direct::open(file)?;
        let gate = Gate::Direct(direct.clone());
        let record = pool.clone();
        let (backend, direct) = (Backend::Sqlite, Some(direct));
        Ok(Self { pool, record, backend, writer: Arc::default(), direct, gate, schema: None })
    }

    /// PostgreSQL at `url`.
    ///
    /// # Errors
    /// [`OpenError`].
    pub async fn open_postgres(url: &Secret) -> Result<Self, OpenError> {
        Self::open_postgres_with(url, 16).await
    }

    /// PostgreSQL at `url` with at most so many connections for requests.
    ///
    /// # Errors
    /// [`OpenError`].
    pub async fn open_postgres_with(url: &Secret, connections: u32) -> Result<Self, OpenError> {
        install_default_drivers();
        let schema = Some(SchemaLock::take(url).await?);
        let url = url.expose();
        // One more, which the gate keeps.
        let pool = postgres(connections + 1).connect(url).await?;
        let record = postgres(RECORD).connect_lazy(url)?;
        let gate = Gate::start(pool.clone());
        let backend = Backend::Postgres;
        let db = Self { pool, record, backend, writer: Arc::default(), direct: None, gate, schema };
        if !db.is_walled().await? {
            tracing::warn!(
                "the role of DATABASE_URL is a superuser or has BYPASSRLS: row-level security, the second wall between \
                 workspaces, does not hold; connect as an ordinary role that owns the database"
            );
        }
        Ok(db)
    }

    /// Whether the engine itself keeps tenants apart: row-level security binds the role that is connected.
    pub async fn is_walled(&self) -> sqlx::Result<bool> {
        if self.backend == Backend::Sqlite {
            return Ok(false);
        }
        let sql = "SELECT COUNT(*) FROM pg_roles WHERE rolname = current_user AND (rolsuper OR rolbypassrls)";
        Ok(sqlx::query_scalar::<_, i64>(sql).fetch_one(&self.pool).await? == 0)
    }

    /// The executor for reads.
    pub fn pool(&self) -> &AnyPool {
        &self.pool
    }

    pub fn backend(&self) -> Backend {
        self.backend
    }

    /// A transaction that may write. On SQLite writers take turns and start with the write lock, so none fails half
    /// way because another was faster; on PostgreSQL rows are locked by the statements themselves.
    pub async fn begin(&self) -> sqlx::Result<Tx> {
        Ok(match self.backend {
            Backend::Sqlite => {
                let turn = self.writer.clone().lock_owned().await;
                Tx { inner: self.pool.begin_with("BEGIN IMMEDIATE").await?, _turn: Some(turn) }
            }
            Backend::Postgres => Tx { inner: begin_postgres(&self.pool, "BEGIN".into()).await?, _turn: None },
        })
    }

    /// For one statement that writes. On SQLite it takes its turn too: one that did not would have to try again and again
    /// while the record is busy, and might never meet a moment when it is not.
    pub async fn writer(&self) -> sqlx::Result<Writer> {
        let turn = match self.backend {
            Backend::Sqlite => Some(self.writer.clone().lock_owned().await),
            Backend::Postgres => None,
        };
        Ok(Writer { inner: self.pool.acquire().await?, _turn: turn })
    }

    /// After a deletion, leaves nothing of what was deleted in the files of SQLite: pages are zeroed when rows go
    /// (`secure_delete`), and this empties the log, which still has them as they were. It waits for readers for as
    /// long as `busy_timeout`; `false` when one was longer, then the next automatic checkpoints overwrite the log.
    ///
    /// PostgreSQL keeps deleted rows until VACUUM, which its own daemon runs, and in its log and backups for as long
    /// as these are kept: there this does nothing.
    ///
    /// # Errors
    /// The database fails.
    pub async fn scrub(&self) -> sqlx::Result<bool> {
        if self.backend == Backend::Postgres {
            return Ok(true);
        }
        let _turn = self.writer.lock().await;
        let row = sqlx::query("PRAGMA wal_checkpoint(TRUNCATE)").fetch_one(&self.pool).await?;
        Ok(row.try_get::<i64, _>(0)? == 0)
    }

    /// Waits for running statements and closes every connection.
    pub async fn close(&self) {
        if let Some(direct) = &self.direct {
            direct.close().await;
        }
        self.record.close().await;
        self.pool.close().await;
        if let Some(schema) = &self.schema {
            schema.release().await;
        }
    }
}

/// At most so many connections to PostgreSQL, each with its [`BOUNDS`].
fn postgres(connections: u32) -> AnyPoolOptions {
    AnyPoolOptions::new()
        .max_connections(connections)
        .acquire_timeout(TURN)
        .after_connect(|connection, _| {
            Box::pin(async move {
                sqlx::query(BOUNDS).execute(connection).await?;
                Ok(())
            })
        })
        // A server may have hung up; one that answered a moment ago has not.
        .test_before_acquire(false)
        .before_acquire(|connection, known| {
            Box::pin(async move { Ok(known.idle_for < IDLE || connection.ping().await.is_ok()) })
        })
}

/// Begins in a task of its own, which goes on when the caller is dropped. The driver forgets to roll back when
/// beginning itself is given up half way: the next borrower of the connection would find itself within a
/// transaction, with a stranger's tenant, and what it writes would never be committed.
async fn begin_postgres(pool: &AnyPool, statement: String) -> sqlx::Result<Transaction<'static, sqlx::Any>> {
    let pool = pool.clone();
    let begun = tokio::spawn(async move { pool.begin_with(AssertSqlSafe(statement)).await });
    begun.await.map_err(|problem| sqlx::Error::Io(std::io::Error::other(problem)))?
}

/// Brings the tables to what this program knows; `own` are the engine's.
async fn migrate(pool: &AnyPool, own: &[(i64, &'static str, &'static str)]) -> sqlx::Result<()> {
    let migrations = MIGRATIONS.iter().chain(own).map(|(version, name, sql)| {
        Migration::new(*version, (*name).into(), MigrationType::Simple, sql.into_sql_str(), false)
    });
    Migrator::with_migrations(migrations.collect()).run(pool).await?;
    Ok(())
}

/// An id from a TEXT column.
fn text_id<T>(row: &AnyRow, column: &str) -> sqlx::Result<Id<T>> {
    row.try_get::<String, _>(column)?.parse().map_err(|problem: NotAnId| sqlx::Error::Decode(problem.into()))
}

/// `$3, $4` for two values from the third on: a list of them in a statement.
fn places(first: usize, count: usize) -> String {
    let places: Vec<String> = (first..first + count).map(|at| format!("${at}")).collect();
    places.join(", ")
}

/// Whether somebody waited in vain, for a connection or within PostgreSQL, and may try again.
fn is_busy(cause: &sqlx::Error) -> bool {
    let code = cause.as_database_error().and_then(sqlx::error::DatabaseError::code);
    matches!(cause, sqlx::Error::PoolTimedOut) || code.is_some_and(|code| TOO_LONG.contains(&code.as_ref()))
}

impl From<sqlx::Error> for crate::model::error::Error {
    fn from(cause: sqlx::Error) -> Self {
        if is_busy(&cause) {
            tracing::warn!(%cause, "the database is busy");
            return Self::unavailable("The database is busy. Try again in a moment.");
        }
        Self::internal(cause)
    }
}

/// PostgreSQL cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error(
        "this program needs newer tables than the metadata have, and others use these as they are: {0}. Stop the service on \
         all nodes, then start it with this program, which brings them up to date (back up before); or run the command with \
         the older program."
    )]
    InUse(String),
    #[error(transparent)]
    Database(#[from] sqlx::Error),
}

/// The data folder is another process's.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    #[error(
        "another dragoman process is using the data folder {0}; stop it first, or choose another folder with --data"
    )]
    InUse(String),
    #[error(
        "the data folder {0} belongs to user {1}, and this is user {2}, whose files the service could not read; run this \
         as that user, or give the whole folder to this one (chown -R)"
    )]
    NotOurs(String, u32, u32),
    #[error("the data folder {0} cannot be used: {1}")]
    Io(String, std::io::Error),
}

/// Makes a data folder that only its owner reads, where there is none.
///
/// # Errors
/// [`FolderError::Io`]; [`FolderError::NotOurs`] for one that is another user's.
pub fn private_folder(folder: &Path) -> Result<(), FolderError> {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
    let io = |problem| FolderError::Io(folder.display().to_string(), problem);
    std::fs::create_dir_all(folder).map_err(io)?;
    let (owner, own) = (std::fs::metadata(folder).map_err(io)?.uid(), rustix::process::geteuid().as_raw());
    if owner != own {
        return Err(FolderError::NotOurs(folder.display().to_string(), owner, own));
    }
    std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o700)).map_err(io)
}

/// Exclusive use of a data folder, for as long as the value lives.
#[derive(Debug)]
pub struct FolderLock {
    _file: File,
}

impl FolderLock {
    /// Whether a process has the folder; a look that changes nothing.
    pub fn is_taken(folder: &Path) -> bool {
        File::options().write(true).open(folder.join("lock")).is_ok_and(|file| file.try_lock().is_err())
    }

    /// Takes the folder (creating it), or says why it cannot be had.
    ///
    /// # Errors
    /// [`FolderError`].
    pub fn take(folder: &Path) -> Result<Self, FolderError> {
        private_folder(folder)?;
        let name = folder.display().to_string();
        let io = |problem| FolderError::Io(name.clone(), problem);
        let file = File::options().create(true).truncate(false).write(true).open(folder.join("lock")).map_err(io)?;
        match file.try_lock() {
            Ok(()) => Ok(Self { _file: file }),
            Err(std::fs::TryLockError::WouldBlock) => Err(FolderError::InUse(name)),
            Err(std::fs::TryLockError::Error(problem)) => Err(io(problem)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What root makes in the folder of a service the service cannot read.
    #[test]
    fn a_folder_of_another_user_is_refused_as_it_is() {
        let made = tempfile::tempdir().unwrap();
        let is_root = rustix::process::geteuid().is_root();
        if is_root {
            std::os::unix::fs::chown(made.path(), Some(1), None).unwrap();
        }
        let others = if is_root { made.path() } else { Path::new("/") };
        let refused = FolderLock::take(others).unwrap_err();
        assert!(matches!(refused, FolderError::NotOurs(..)), "{refused}");
        assert!(!others.join("lock").exists());
    }
}
