//! Remote engines of the workspace: PostgreSQL servers (and others) whose tables are datasets like any other.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Done;
use crate::base::clock::rfc3339;
use crate::base::counted::counted;
use crate::base::id::Id;
use crate::base::json;
use crate::base::secret::Secret;
use crate::engine::job::Job;
use crate::engine::sql::remote::sources::{ADMINISTRATION, NewSource, Refreshed};
use crate::gateway::operation::{Info, Operation, Parts, Route};
use crate::model::dataset::Dataset;
use crate::model::error::{Error, Result};
use crate::model::source::{Dialect, Source, SourceEngine};

/// Arguments.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListSources {
    /// `next_cursor` of the page before; absent for the first page.
    #[serde(default)]
    pub cursor: Option<String>,
}

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
    /// What was left out of its tables when they were last read, because there is too much; empty when nothing was.
    pub left_out: String,
    /// RFC 3339.
    pub checked_at: String,
    /// RFC 3339.
    pub created_at: String,
    /// Its tables in all.
    pub table_count: usize,
    /// Those of this page, by the name in SQL; a source whose tables do not fit goes on on the next.
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
    /// Present when there are more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

fn told(dataset: Dataset) -> Option<Table> {
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
}

fn listed(source: Source, tables: Vec<Table>) -> Listed {
    Listed {
        source_id: source.id,
        dialect: source.engine.dialect(),
        engine: source.engine,
        address: source.address,
        status: if source.problem.is_empty() { "ok" } else { "failing" },
        problem: source.problem,
        left_out: source.left_out,
        checked_at: rfc3339(source.checked_at),
        created_at: rfc3339(source.created_at),
        name: source.name,
        table_count: tables.len(),
        tables,
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
        let scope = format!("{org}:sources");
        let after = super::position(on, &scope, self.cursor.as_deref())?;
        let mut page = Page::after(after.as_deref(), on.config.limits.budgets.reply_bytes / 2);
        let mut sources = on.engines.sources.list(org).await?;
        sources.sort_by(|one, other| one.name.cmp(&other.name));
        let mut datasets = on.engines.sources.all_datasets(org).await?;
        for source in sources {
            let datasets = datasets.remove(&source.id).unwrap_or_default();
            let mut tables: Vec<Table> = datasets.into_iter().filter_map(told).collect();
            tables.sort_by(|one, other| one.name.cmp(&other.name));
            if !page.takes(listed(source, tables))? {
                break;
            }
        }
        let next_cursor = page.next().map(|position| on.cursors.make(&scope, &position));
        Ok(Sources { sources: page.sources, next_cursor })
    }
}

/// A page of sources and their tables, in the order of their names.
struct Page<'a> {
    /// Names of the source and of the table with which the page before ended; of no table when it had none.
    after: Option<(&'a str, &'a str)>,
    /// Bytes that are left.
    room: usize,
    sources: Vec<Listed>,
    is_full: bool,
}

impl<'a> Page<'a> {
    fn after(position: Option<&'a str>, room: usize) -> Self {
        let after = position.and_then(|position| position.split_once(':'));
        Self { after, room, sources: Vec::new(), is_full: false }
    }

    /// Takes a source with as many of its tables as fit, unless the page before had it already; `false` when the page
    /// is full. The first source and its first table are on the page however large they are.
    fn takes(&mut self, mut source: Listed) -> Result<bool> {
        let mut rest = std::mem::take(&mut source.tables);
        match self.after {
            Some((name, _)) if source.name.as_str() < name => return Ok(true),
            Some((name, table)) if source.name == name => {
                rest.retain(|next| next.name.as_str() > table);
                if rest.is_empty() {
                    return Ok(true);
                }
            }
            _ => {}
        }
        let is_first = self.sources.is_empty();
        let is_tableless = rest.is_empty();
        self.fits(&source, is_first)?;
        for table in rest {
            let must = is_first && source.tables.is_empty();
            if !self.fits(&table, must)? {
                break;
            }
            source.tables.push(table);
        }
        // A source of which nothing but its own facts has room comes with its tables on the next page.
        if is_first || is_tableless && !self.is_full || !source.tables.is_empty() {
            self.sources.push(source);
        }
        Ok(!self.is_full)
    }

    fn fits(&mut self, part: &impl Serialize, must: bool) -> Result<bool> {
        let size = json::size(part).map_err(Error::internal)?;
        self.is_full |= size > self.room && !must;
        self.room = self.room.saturating_sub(size);
        Ok(!self.is_full)
    }

    /// Where the next page goes on.
    fn next(&self) -> Option<String> {
        let last = self.sources.last().filter(|_| self.is_full)?;
        let table = last.tables.last().map(|table| table.name.as_str()).unwrap_or_default();
        Some(format!("{}:{table}", last.name))
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
        Ok(Created { source: listed(source, datasets.into_iter().filter_map(told).collect()) })
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
    /// What is left out of them when they are read, because there is too much; empty when nothing is.
    pub left_out: String,
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
        let message = format!("The login can read {} and nothing else.", counted(found.tables, "table"));
        let message = format!("{message} {}", found.left_out).trim_end().to_owned();
        Ok(Tested { message, version: found.version, readable_tables: found.tables, left_out: found.left_out })
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
    /// Tables that the login can read no more, or that are left out now.
    pub removed: usize,
    /// What was left out because there is too much, in a sentence; empty when nothing was.
    pub left_out: String,
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
        let Refreshed { added, updated, removed, left_out } = refreshed;
        removed.iter().for_each(|gone| on.engines.datasets.forget(gone));
        Ok(Changed { added, updated, removed: removed.len(), left_out })
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
        let removed = on.engines.sources.remove(job.pass.org(), self.source_id).await?;
        removed.iter().for_each(|gone| on.engines.datasets.forget(gone));
        Ok(Done::OK)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::clock::Clock;
    use crate::model::org::Org;

    fn source(clock: &Clock, name: &str, tables: usize) -> Listed {
        let source = Source {
            id: Id::new(clock),
            org: Id::<Org>::new(clock),
            name: name.into(),
            engine: SourceEngine::Postgres,
            address: String::new(),
            ca: None,
            sealed_password: String::new(),
            created_by: None,
            created_at: 0,
            updated_at: 0,
            checked_at: 0,
            problem: String::new(),
            left_out: String::new(),
        };
        let table = |number: usize| Table {
            dataset_id: Id::new(clock),
            name: format!("t{number}"),
            schema: "public".into(),
            table: format!("t{number}"),
            column_count: 1,
            row_count: 1,
            published: false,
        };
        listed(source, (0..tables).map(table).collect())
    }

    #[test]
    fn pages_of_any_size_hold_every_source_and_table_once_and_in_order() {
        let clock = Clock::manual(1);
        let all = [("a", 3), ("b", 0), ("c", 7), ("d", 0), ("e", 1)];
        let whole: Vec<String> = all
            .iter()
            .flat_map(|(name, tables)| {
                let none = (*tables == 0).then(|| format!("{name}:"));
                none.into_iter().chain((0..*tables).map(move |number| format!("{name}:t{number}")))
            })
            .collect();
        for room in [0, 300, 500, 700, 1_000, 2_000, 100_000] {
            let (mut seen, mut position) = (Vec::new(), None::<String>);
            loop {
                let mut page = Page::after(position.as_deref(), room);
                for (name, tables) in all {
                    if !page.takes(source(&clock, name, tables)).unwrap() {
                        break;
                    }
                }
                assert!(!page.sources.is_empty(), "a page of {room} bytes goes on");
                for listed in &page.sources {
                    let count = all.iter().find(|(name, _)| *name == listed.name).unwrap().1;
                    assert_eq!(listed.table_count, count);
                    seen.extend((count == 0).then(|| format!("{}:", listed.name)));
                    seen.extend(listed.tables.iter().map(|table| format!("{}:{}", listed.name, table.name)));
                }
                let next = page.next();
                position = next;
                if position.is_none() {
                    break;
                }
            }
            assert_eq!(seen, whole, "{room} bytes");
        }
    }
}
