//! The second wall between tenants. On PostgreSQL, tables of tenants' data show and take only rows of the workspace
//! that the transaction named at its start (row-level security, `migrations/postgres`): a statement that forgot its
//! tenant finds nothing. The functions of those tables take a [`Scoped`], which only the methods here make.

use std::ops::{Deref, DerefMut};

use sqlx::pool::PoolConnection;
use sqlx::{Any, AnyConnection, AnyPool, Transaction};
use tokio::sync::OwnedMutexGuard;

use super::{Backend, Db, Tx, begin_postgres};
use crate::base::id::Id;
use crate::model::org::Org;

/// Whose rows are seen: the value of `app.tenant_id`.
const EVERYONE: &str = "*";

/// Begins what is bounded as every connection is.
const BRIEFLY: &str = "BEGIN";
/// Begins what may wait and work longer, in one message.
const AT_LENGTH: &str = "BEGIN; SET LOCAL lock_timeout = '2min'; SET LOCAL statement_timeout = '15min'";

/// A connection whose statements see one tenant's rows, or everyone's, until it is dropped.
pub struct Scoped {
    inner: Inner,
    _turn: Option<OwnedMutexGuard<()>>,
}

enum Inner {
    /// SQLite, reading: it has no such wall, and a single statement needs no transaction.
    Plain(PoolConnection<Any>),
    Within(Transaction<'static, Any>),
}

impl Scoped {
    /// Makes what was written durable; dropped without it, a transaction is rolled back.
    ///
    /// # Errors
    /// The database fails.
    pub async fn commit(self) -> sqlx::Result<()> {
        match self.inner {
            Inner::Plain(_) => Ok(()),
            Inner::Within(transaction) => transaction.commit().await,
        }
    }
}

impl Deref for Scoped {
    type Target = AnyConnection;
    fn deref(&self) -> &AnyConnection {
        match &self.inner {
            Inner::Plain(connection) => connection,
            Inner::Within(transaction) => transaction,
        }
    }
}
impl DerefMut for Scoped {
    fn deref_mut(&mut self) -> &mut AnyConnection {
        match &mut self.inner {
            Inner::Plain(connection) => connection,
            Inner::Within(transaction) => transaction,
        }
    }
}

impl Db {
    /// A transaction that may write, over one tenant's rows.
    ///
    /// # Errors
    /// The database fails.
    pub async fn tenant(&self, org: Id<Org>) -> sqlx::Result<Scoped> {
        self.writing(&org.to_string(), BRIEFLY).await
    }

    /// As [`Db::tenant`], for the few writes that may take minutes, or that nobody can do again who waited in vain.
    ///
    /// # Errors
    /// The database fails.
    pub async fn tenant_at_length(&self, org: Id<Org>) -> sqlx::Result<Scoped> {
        self.writing(&org.to_string(), AT_LENGTH).await
    }

    /// Reads one tenant's rows.
    ///
    /// # Errors
    /// The database fails.
    pub async fn read_tenant(&self, org: Id<Org>) -> sqlx::Result<Scoped> {
        self.reading(&org.to_string()).await
    }

    /// A transaction that may write, over the rows of all tenants.
    ///
    /// # Errors
    /// The database fails.
    pub async fn everyone(&self) -> sqlx::Result<Scoped> {
        self.writing(EVERYONE, BRIEFLY).await
    }

    /// As [`Db::everyone`], through the connections that the record has on PostgreSQL.
    pub(super) async fn recording(&self) -> sqlx::Result<Scoped> {
        walled(&self.record, EVERYONE, BRIEFLY).await
    }

    /// Reads the rows of all tenants: for a look-up that precedes the tenant.
    ///
    /// # Errors
    /// The database fails.
    pub async fn read_everyone(&self) -> sqlx::Result<Scoped> {
        self.reading(EVERYONE).await
    }

    async fn writing(&self, whose: &str, begin: &str) -> sqlx::Result<Scoped> {
        match self.backend {
            Backend::Sqlite => {
                let Tx { inner, _turn } = self.begin().await?;
                Ok(Scoped { inner: Inner::Within(inner), _turn })
            }
            Backend::Postgres => walled(&self.pool, whose, begin).await,
        }
    }

    async fn reading(&self, whose: &str) -> sqlx::Result<Scoped> {
        match self.backend {
            Backend::Sqlite => Ok(Scoped { inner: Inner::Plain(self.pool.acquire().await?), _turn: None }),
            Backend::Postgres => walled(&self.pool, whose, BRIEFLY).await,
        }
    }
}

/// Names the tenant in the message that begins the transaction, which costs no more than beginning it. The third
/// argument of `set_config` ends the setting with the transaction: the pool's next borrower does not inherit it.
async fn walled(pool: &AnyPool, whose: &str, begin: &str) -> sqlx::Result<Scoped> {
    // An id's text is hexadecimal digits and hyphens: nothing that could end the literal.
    let begin = format!("{begin}; SELECT set_config('app.tenant_id', '{whose}', true)");
    Ok(Scoped { inner: Inner::Within(begin_postgres(pool, begin).await?), _turn: None })
}
