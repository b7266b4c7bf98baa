//! A server of either kind, behind one face.

use tokio_util::sync::CancellationToken;
use url::Url;

use super::clickhouse::ClickHouse;
use super::postgres::Postgres;
use super::{Address, Catalogue, Declared, Permitted, RemoteLimits};
use crate::base::peers::{self, PrivateHost};
use crate::base::secret::Secret;
use crate::model::error::{Error, Result};
use crate::model::table::Table;

/// What a test found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tested {
    /// As the server reports it.
    pub version: String,
    /// Tables that the login can read.
    pub tables: usize,
    /// What is left out of them because there is too much, in a sentence; empty when nothing is.
    pub left_out: String,
}

/// See the module.
pub enum Server {
    Postgres(Postgres),
    ClickHouse { url: Url, password: Secret, private: Vec<PrivateHost> },
}

impl Server {
    /// Whether it can be used, and what its login can read.
    ///
    /// # Errors
    /// Those of the engine.
    pub async fn probe(&self, cancel: &CancellationToken) -> Result<Tested> {
        match self {
            Self::Postgres(server) => {
                let found = server.probe(cancel).await?;
                Ok(Tested { version: found.version, tables: found.tables, left_out: found.left_out })
            }
            Self::ClickHouse { .. } => {
                let address = self.address().await?;
                let server = ClickHouse::new(&address);
                let found = server.probe().await?;
                let Catalogue { tables, left_out } = server.tables().await?;
                Ok(Tested { version: found.version, tables: tables.len(), left_out })
            }
        }
    }

    /// The tables that the login can read.
    ///
    /// # Errors
    /// Those of the engine.
    pub async fn tables(&self, cancel: &CancellationToken) -> Result<Catalogue> {
        match self {
            Self::Postgres(server) => server.tables(cancel).await,
            Self::ClickHouse { .. } => ClickHouse::new(&self.address().await?).tables().await,
        }
    }

    /// What its catalogue declares of the tables; nothing in an engine without such keys.
    ///
    /// # Errors
    /// Those of the engine.
    pub async fn declared(&self, cancel: &CancellationToken) -> Result<Declared> {
        match self {
            Self::Postgres(server) => server.declared(cancel).await,
            Self::ClickHouse { .. } => Ok(Declared::default()),
        }
    }

    /// Judges and runs a caller's statement.
    ///
    /// # Errors
    /// Those of the engine.
    pub async fn query(
        &self,
        sql: &str,
        permitted: &[Permitted],
        limits: &RemoteLimits,
        cancel: &CancellationToken,
    ) -> Result<Table> {
        match self {
            Self::Postgres(server) => server.query(sql, permitted, limits, cancel).await,
            Self::ClickHouse { .. } => {
                ClickHouse::new(&self.address().await?).query(sql, permitted, limits, cancel).await
            }
        }
    }

    /// The first rows of a table.
    ///
    /// # Errors
    /// Those of the engine.
    pub async fn preview(&self, table: &Permitted, limits: &RemoteLimits, cancel: &CancellationToken) -> Result<Table> {
        match self {
            Self::Postgres(server) => server.preview(table, limits, cancel).await,
            Self::ClickHouse { .. } => {
                let sql = format!("SELECT * FROM `{}` LIMIT {}", table.name, limits.rows.saturating_add(1));
                self.query(&sql, std::slice::from_ref(table), limits, cancel).await
            }
        }
    }

    /// The address, with whether the operator has listed its host: looked up for each use.
    async fn address(&self) -> Result<Address> {
        let Self::ClickHouse { url, password, private } = self else {
            return Err(Error::internal("a PostgreSQL server has another address"));
        };
        let wrong = || Error::invalid("address", "The address begins with https:// and names a host that can be used.");
        let (Some(host), Some(port)) = (url.host_str(), url.port_or_known_default()) else { return Err(wrong()) };
        let reached = peers::reach(host, port, private).await.map_err(|_| wrong())?;
        Ok(Address {
            url: url.clone(),
            password: password.clone(),
            private_hosts: reached.is_private,
            addresses: reached.addresses,
        })
    }
}
