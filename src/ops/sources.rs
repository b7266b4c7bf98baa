//! Remote engines of the workspace: PostgreSQL servers (and others) whose tables are datasets like any other.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Done;
use crate::base::clock::rfc3339;
use crate::base::id::Id;
use crate::base::secret::Secret;
use crate::engine::job::Job;
use crate::engine::sql::remote::sources::{ADMINISTRATION, NewSource, Refreshed};
use crate::gateway::operation::{Info, Operation, Parts, Route};
use crate::model::dataset::Dataset;
use crate::model::error::Result;
use crate::model::source::{Dialect, Source, SourceEngine};

/// No arguments.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListSources {}

/// A source, without its password.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Listed {
    pub source_id: Id<Source>,
    pub name: String,
    pub engine: SourceEngine,
    /// The SQL of its tables.
    pub dialect: Dialect,
    /// A URL with the login.
    pub address: String,
    /// `ok`, or `failing` with `problem`.
    pub status: &'static str,
    /// Why it could not be used when it was last checked; empty when it could.
    pub problem: String,
    /// RFC 3339.
    pub checked_at: String,
    /// RFC 3339.
    pub created_at: String,
    pub tables: Vec<Table>,
}

/// A table of a source.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Table {
    pub dataset_id: Id<Dataset>,
    /// The name in SQL.
    pub name: String,
    pub schema: String,
    pub table: String,
    pub column_count: usize,
    /// As the server estimates them.
    pub row_count: i64,
    /// Whether external clients may see it.
    pub published: bool,
}

/// Sources by name.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Sources {
    pub sources: Vec<Listed>,
}

/// Tables of a source that are told in a list; all are datasets of the workspace.
const TABLES: usize = 200;

fn listed(source: Source, datasets: Vec<Dataset>) -> Listed {
    let tables = datasets.into_iter().take(TABLES).filter_map(|dataset| {
        let remote = dataset.remote?;
        Some(Table {
            dataset_id: dataset.id,
            name: dataset.name,
            schema: remote.schema,
            table: remote.table,
            column_count: dataset.columns.len(),
            row_count: dataset.row_count,
            published: dataset.externally_queryable,
        })
    });
    Listed {
        source_id: source.id,
        dialect: source.engine.dialect(),
        engine: source.engine,
        address: source.address,
        status: if source.problem.is_empty() { "ok" } else { "failing" },
        problem: source.problem,
        checked_at: rfc3339(source.checked_at),
        created_at: rfc3339(source.created_at),
        name: source.name,
        tables: tables.collect(),
    }
}

impl Operation for ListSources {
    const INFO: Info = Info {
        name: "list_sources",
        title: "List sources",
        description: "Lists the workspace's remote engines with their state and their tables; never their passwords.",
        read_only: true,
        recorded_as: Some("admin.source.list"),
        route: Route { method: "GET", path: "/sources" },
        ..Info::MANAGE
    };
    type Reply = Sources;

    fn rows(reply: &Sources) -> usize {
        reply.sources.len()
    }

    async fn run(self, on: &Parts, job: &Job<'_>) -> Result<Sources> {
        let org = job.pass.org();
        let mut sources = Vec::new();
        for source in on.engines.sources.list(org).await? {
            let datasets = on.engines.sources.datasets(org, source.id).await?;
            sources.push(listed(source, datasets));
        }
        Ok(Sources { sources })
    }
}

/// Arguments of a new source.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CreateSource {
    /// For people, and in messages: 1 to 63 characters of a–z, 0–9 and _.
    #[schemars(length(min = 1, max = 63), regex(pattern = "^[a-z_][a-z0-9_]*$"))]
    pub name: String,
    pub engine: SourceEngine,
    /// Such as postgres://reader@db.example.com:5432/shop; the password is not in it.
    #[schemars(url)]
    pub address: String,
    /// The login, when it is not in the address.
    #[serde(default)]
    pub user: Option<String>,
    /// Of a login that can read and nothing else. It is sealed at rest and never shown.
    #[schemars(length(min = 1, max = 1000))]
    pub password: String,
    /// A certificate (PEM) that the server's must come from; the well-known authorities when absent.
    #[serde(default)]
    #[schemars(length(max = 65_536))]
    pub ca: Option<String>,
}

impl std::fmt::Debug for CreateSource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CreateSource").field("name", &self.name).finish_non_exhaustive()
    }
}

/// The source as it was made.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Created {
    pub source: Listed,
}

impl Operation for CreateSource {
    const INFO: Info = Info {
        name: "create_source",
        title: "Add a source",
        description: "Connects a PostgreSQL or ClickHouse server whose tables become datasets of the workspace, not \
                      published. The connection is tested first: the server must be reachable, and the login must be \
                      one that can read and nothing else; details.script of the refusal makes such a login.",
        sensitive: true,
        recorded_as: Some("admin.source.create"),
        route: Route { method: "POST", path: "/sources" },
        time: |_| ADMINISTRATION,
        example: r#"{"name":"shop","engine":"postgres","address":"postgres://shop_reader@db.example.com:5432/shop","password":"…"}"#,
        ..Info::MANAGE
    };
    type Reply = Created;

    fn target(&self) -> String {
        // A password that somebody wrote into the address must not be kept: only its host is.
        let address = url::Url::parse(self.address.trim()).ok();
        let host = address.as_ref().and_then(|url| url.host_str()).unwrap_or_default();
        format!("{} {} {host}", self.name, self.engine.name())
    }

    async fn run(self, on: &Parts, job: &Job<'_>) -> Result<Created> {
        let new = NewSource {
            name: self.name,
            engine: self.engine,
            address: self.address,
            user: self.user,
            password: Secret::new(self.password),
            ca: self.ca,
        };
        let (org, sources) = (job.pass.org(), &on.engines.sources);
        let (source, _) = sources.create(org, job.pass.user(), new, &job.cancel).await?;
        let datasets = sources.datasets(org, source.id).await?;
        Ok(Created { source: listed(source, datasets) })
    }
}

/// Arguments of a test.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TestSource {
    pub source_id: Id<Source>,
}

/// What a test found.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Tested {
    /// In a sentence.
    pub message: String,
    /// As the server reports it.
    pub version: String,
    /// Tables that the login can read.
    pub readable_tables: usize,
}

impl Operation for TestSource {
    const INFO: Info = Info {
        name: "test_source",
        title: "Test a source",
        description: "Connects to a source and says whether it can be used, and if not, why.",
        sensitive: true,
        recorded_as: Some("admin.source.test"),
        route: Route { method: "POST", path: "/sources/{source_id}/test" },
        time: |_| ADMINISTRATION,
        ..Info::MANAGE
    };
    type Reply = Tested;

    fn target(&self) -> String {
        self.source_id.to_string()
    }

    async fn run(self, on: &Parts, job: &Job<'_>) -> Result<Tested> {
        let found = on.engines.sources.test(job.pass.org(), self.source_id, &job.cancel).await?;
        let message = format!("The login can read {} tables and nothing else.", found.tables);
        Ok(Tested { message, version: found.version, readable_tables: found.tables })
    }
}

/// Arguments of a refresh.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RefreshSource {
    pub source_id: Id<Source>,
}

/// What a refresh changed.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Changed {
    /// New tables; they are not published.
    pub added: usize,
    /// Known tables, whose columns and counts are up to date now.
    pub updated: usize,
    /// Tables that the login can read no more.
    pub removed: usize,
}

impl From<Refreshed> for Changed {
    fn from(refreshed: Refreshed) -> Self {
        let Refreshed { added, updated, removed } = refreshed;
        Self { added, updated, removed }
    }
}

impl Operation for RefreshSource {
    const INFO: Info = Info {
        name: "refresh_source",
        title: "Read a source's catalogue again",
        description: "Reads again which tables a source has. New ones are added unpublished; those that the login can \
                      read no more are removed.",
        sensitive: true,
        recorded_as: Some("admin.source.refresh"),
        route: Route { method: "POST", path: "/sources/{source_id}/refresh" },
        time: |_| ADMINISTRATION,
        ..Info::MANAGE
    };
    type Reply = Changed;

    fn target(&self) -> String {
        self.source_id.to_string()
    }

    async fn run(self, on: &Parts, job: &Job<'_>) -> Result<Changed> {
        let refreshed = on.engines.sources.refresh(job.pass.org(), self.source_id, &job.cancel).await?;
        Ok(refreshed.into())
    }
}

/// Arguments of a removal.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RemoveSource {
    pub source_id: Id<Source>,
}

impl Operation for RemoveSource {
    const INFO: Info = Info {
        name: "remove_source",
        title: "Remove a source",
        description: "Forgets a source, its password and its datasets, and ends what runs in it. The server's own data \
                      stay as they are.",
        sensitive: true,
        recorded_as: Some("admin.source.remove"),
        route: Route { method: "DELETE", path: "/sources/{source_id}" },
        ..Info::MANAGE
    };
    type Reply = Done;

    fn target(&self) -> String {
        self.source_id.to_string()
    }

    async fn run(self, on: &Parts, job: &Job<'_>) -> Result<Done> {
        on.engines.sources.remove(job.pass.org(), self.source_id).await?;
        Ok(Done::OK)
    }
}
