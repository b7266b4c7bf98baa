//! Settings as plain data, read once. This is the only reader of the environment; every problem is reported at once.
//!
//! A new setting is a field here or in the file of its part (`limits.rs`, `embedding.rs`, …), a line where that part is
//! read (`read.rs`, or there), and a row in `variables.rs`, which tests hold `docs/settings.md` and `.env.example` to.

mod embedding;
mod limits;
mod llm;
mod qdrant;
mod read;
mod reader;
mod shown;
mod syncs;
mod variables;

use std::net::SocketAddr;
use std::path::PathBuf;

use url::Url;

use crate::base::network::Network;
use crate::base::peers::PrivateHost;
use crate::base::secret::Secret;
use crate::base::telemetry::LogFormat;
pub use embedding::{Embedding, EmbeddingServer};
pub use limits::{Budgets, CallRates, Keep, Lifetimes, Limits, Rates};
pub use llm::{Llm, LlmProvider};
pub use qdrant::Qdrant;
pub use reader::Problems;
pub use shown::{Setting, Settings};
pub use syncs::{PrivateSite, SyncFolder};
pub use variables::{VARIABLES, Variable};

/// Everything that an operator can set.
#[derive(Clone, Debug)]
pub struct Config {
    /// Where databases, tables, vectors and the master key live.
    pub data_dir: PathBuf,
    /// The address of the service.
    pub listen: SocketAddr,
    /// Where metrics are served; `None` switches them off.
    pub admin_listen: Option<SocketAddr>,
    /// The address that the outside uses, without a trailing slash; every published URL and the issuer come from it.
    pub public_url: Url,
    /// PostgreSQL for metadata; SQLite in the data folder when absent.
    pub database_url: Option<Secret>,
    /// 64 hex digits; a generated file in the data folder when absent.
    pub master_key: Option<Secret>,
    /// Passwords that nobody may choose, sorted by SHA-1.
    pub breached_passwords: Option<PathBuf>,
    pub mail: Mail,
    /// Other OpenID Connect providers that people may sign in with.
    pub providers: Vec<Provider>,
    /// Peers whose `X-Forwarded-For` is believed.
    pub trusted_proxies: Vec<Network>,
    /// Browser origins that may call `/mcp` besides our own.
    pub allowed_origins: Vec<String>,
    /// Browser origins that may call `/api/v1/ext`.
    pub ext_allowed_origins: Vec<String>,
    /// Whether MCP requests are taken only as the protocol writes them.
    pub mcp_strict: bool,
    /// Parts of the operator's own network in which workspaces may have remote engines.
    pub source_private_hosts: Vec<PrivateHost>,
    /// Web sites of the operator's own network that workspaces may keep documents from.
    pub sync_private_sites: Vec<PrivateSite>,
    /// Folders that workspaces may keep documents from.
    pub sync_folders: Vec<SyncFolder>,
    /// The language model that workspaces may let be asked; none when absent.
    pub llm: Option<Llm>,
    /// What makes vectors of texts.
    pub embedding: Embedding,
    /// Where indexes of documents are kept; in the data folder when absent.
    pub qdrant: Option<Qdrant>,
    /// What `dragoman stdio` presents.
    pub token: Option<Secret>,
    /// Log filter in `tracing` syntax.
    pub log: String,
    pub log_format: LogFormat,
    pub limits: Limits,
    /// Whether this process deletes what the limits keep no longer. The service does, and no command, whose environment may
    /// have others.
    pub trims: bool,
}

/// How mails leave.
#[derive(Clone, Debug)]
pub struct Mail {
    /// `smtps://…` or `smtp://…`; `None` writes mails to the log.
    pub server: Option<Secret>,
    /// `Name <address>`.
    pub from: String,
}

/// An OpenID Connect provider that people may sign in with.
#[derive(Clone, Debug)]
pub struct Provider {
    /// In addresses: `google` or `oidc`.
    pub id: &'static str,
    /// For people.
    pub name: String,
    /// Exactly as its discovery document says.
    pub issuer: String,
    pub client_id: String,
    /// `None` for a public client.
    pub client_secret: Option<Secret>,
}

impl Config {
    /// Reads the process's environment, where `instead` may stand for variables (the command line's arguments).
    ///
    /// # Errors
    /// Every variable that is wrong, each with what was expected.
    #[expect(clippy::disallowed_methods, reason = "config is the one reader of the environment")]
    pub fn from_env(instead: impl Fn(&str) -> Option<String>) -> Result<Self, Problems> {
        Self::read(|name| instead(name).or_else(|| std::env::var(name).ok()))
    }

    /// What is set in the process's environment, as far as it may be shown; `instead` as in [`Config::from_env`].
    #[expect(clippy::disallowed_methods, reason = "config is the one reader of the environment")]
    pub fn shown(instead: impl Fn(&str) -> Option<String>) -> Settings {
        Settings::of(|name| instead(name).or_else(|| std::env::var(name).ok()))
    }

    /// Reads from any source; unset and empty are the same.
    ///
    /// # Errors
    /// As [`Config::from_env`].
    pub fn read(source: impl Fn(&str) -> Option<String>) -> Result<Self, Problems> {
        read::config(source)
    }

    /// The issuer of tokens (RFC 8414 §2): the public URL without a trailing slash.
    pub fn issuer(&self) -> String {
        self.public_url.as_str().trim_end_matches('/').to_owned()
    }

    /// An absolute public URL; `path` starts with `/`.
    pub fn url(&self, path: &str) -> String {
        format!("{}{path}", self.issuer())
    }

    /// The MCP endpoint, which is also the resource that tokens are bound to (RFC 8707).
    pub fn resource(&self) -> String {
        self.url("/mcp")
    }

    /// Whether the outside reaches us over TLS: decides cookie prefixes and HSTS.
    pub fn is_https(&self) -> bool {
        self.public_url.scheme() == "https"
    }
}

#[cfg(test)]
mod tests;
