//! The remote engines that a workspace has registered: adding, testing, reading their catalogues, removing, and asking
//! them. A source that nobody asks costs nothing: its connections end after a minute, and it is closed a little later.
//! Another process may remove one (the command line, another node): an open source is looked up now and then.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use serde_json::json;
use tokio_util::sync::CancellationToken;
use url::Url;

use super::open::{Key, OpenSource, OpenSources};
use super::postgres::{Login, Postgres};
use super::server::{Server, Tested};
use super::{Catalogue, Declared, FoundTable, Permitted, RemoteLimits};
use crate::base::clock::{Clock, Millis, whole_millis};
use crate::base::id::Id;
use crate::base::peers::PrivateHost;
use crate::base::secret::{MasterKey, Secret};
use crate::config::Config;
use crate::engine::job::Job;
use crate::model::dataset::{Dataset, Kind, is_name, name_from_file};
use crate::model::error::{Code, Error, Result};
use crate::model::org::Org;
use crate::model::source::{RemoteTable, Source, SourceEngine};
use crate::model::table::Table;
use crate::model::user::User;
use crate::store::{self, Db};

/// How often an open source is looked up: what runs in one that was removed ends by then.
const LOOK: Duration = Duration::from_secs(5);
/// Sources of a workspace.
const SOURCES: usize = 20;
/// Bytes of a password, and of a certificate.
const PASSWORD: usize = 1_000;
const CERTIFICATE: usize = 64 << 10;

/// What a new source is made of.
pub struct NewSource {
    pub name: String,
    pub engine: SourceEngine,
    /// A URL without a password.
    pub address: String,
    /// When it is not in the address.
    pub user: Option<String>,
    pub password: Secret,
    /// A certificate (PEM) that the server's must come from; the system's when absent.
    pub ca: Option<String>,
}

/// What reading a catalogue changed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Refreshed {
    pub added: usize,
    pub updated: usize,
    pub removed: Vec<Dataset>,
    /// As in [`Tested`].
    pub left_out: String,
}

/// See the module.
#[derive(Clone)]
pub struct Sources(Arc<Inner>);

struct Inner {
    db: Db,
    clock: Clock,
    master: MasterKey,
    private: Vec<PrivateHost>,
    open: OpenSources,
}

/// Names one reading of a catalogue.
struct Reading;

impl Sources {
    pub fn new(config: &Config, db: Db, clock: Clock, master: MasterKey) -> Self {
        let private = config.source_private_hosts.clone();
        Self(Arc::new(Inner { db, clock, master, private, open: OpenSources::default() }))
    }

    /// The sources of a workspace, by name.
    ///
    /// # Errors
    /// The database fails.
    pub async fn list(&self, org: Id<Org>) -> Result<Vec<Source>> {
        store::sources::list(&mut self.0.db.read_tenant(org).await?, org).await
    }

    /// The datasets of a source, by name.
    ///
    /// # Errors
    /// The database fails.
    pub async fn datasets(&self, org: Id<Org>, id: Id<Source>) -> Result<Vec<Dataset>> {
        Ok(self.all_datasets(org).await?.remove(&id).unwrap_or_default())
    }

    /// The datasets of every source, each by name.
    ///
    /// # Errors
    /// The database fails.
    pub async fn all_datasets(&self, org: Id<Org>) -> Result<HashMap<Id<Source>, Vec<Dataset>>> {
        let mut all: HashMap<Id<Source>, Vec<Dataset>> = HashMap::new();
        for dataset in store::datasets::list(&mut self.0.db.read_tenant(org).await?, org).await? {
            if let Some(remote) = &dataset.remote {
                all.entry(remote.source).or_default().push(dataset);
            }
        }
        Ok(all)
    }

    /// Tests a server, and when its login is one that can read and nothing else, keeps it and makes a dataset of every
    /// table that the login can read; none of them is published.
    ///
    /// # Errors
    /// `invalid_argument` for the name, the address, the password; the findings of the test; `limit_exceeded`.
    pub async fn create(
        &self,
        org: Id<Org>,
        by: Option<Id<User>>,
        new: NewSource,
        cancel: &CancellationToken,
    ) -> Result<(Source, Refreshed)> {
        if !is_name(&new.name) {
            let message = "A source's name has 1 to 63 characters of a–z, 0–9 and _, and does not start with a digit.";
            return Err(Error::invalid("name", message));
        }
        let password = new.password.expose();
        if password.is_empty() || password.len() > PASSWORD || password.contains('\0') {
            return Err(Error::invalid("password", format!("The password has 1 to {PASSWORD} characters.")));
        }
        let ca = new.ca.map(|pem| pem.trim().to_owned()).filter(|pem| !pem.is_empty());
        if ca.as_ref().is_some_and(|pem| pem.len() > CERTIFICATE) {
            return Err(Error::invalid("ca", format!("A certificate has at most {CERTIFICATE} bytes.")));
        }
        let mut url = Url::parse(new.address.trim()).map_err(|_| {
            Error::invalid("address", "The address is no URL, such as postgres://reader@db.example.com:5432/shop.")
        })?;
        if let Some(user) = new.user.as_deref().map(str::trim).filter(|user| !user.is_empty()) {
            url.set_username(user).map_err(|()| Error::invalid("address", "The address has no host name."))?;
        }
        let existing = self.list(org).await?;
        if existing.len() >= SOURCES {
            let message = format!("A workspace has at most {SOURCES} sources. Remove one first.");
            return Err(Error::new(Code::LimitExceeded, message).with(json!({ "limit": "sources", "max": SOURCES })));
        }
        let taken = || Error::invalid("name", format!("There is a source {:?}. Choose another name.", new.name));
        if existing.iter().any(|source| source.name == new.name) {
            return Err(taken());
        }
        let server = self.server(new.engine, &url, new.password.clone(), ca.clone())?;
        server.probe(cancel).await?;
        let found = server.tables(cancel).await?;
        let now = self.0.clock.now();
        let id = Id::new(&self.0.clock);
        let address = url.to_string();
        let source = Source {
            sealed_password: self.seal(org, id, &address, &new.password)?,
            id,
            org,
            name: new.name.clone(),
            engine: new.engine,
            address,
            ca,
            created_by: by,
            created_at: now,
            updated_at: now,
            checked_at: now,
            problem: String::new(),
            left_out: found.left_out.clone(),
        };
        let mut tx = self.0.db.tenant(org).await?;
        if !store::sources::insert(&mut tx, &source).await? {
            return Err(taken());
        }
        let refreshed = self.write(&mut tx, &source, found, now).await?;
        tx.commit().await?;
        Ok((source, refreshed))
    }

    /// Tests a source again, and keeps what is wrong with it.
    ///
    /// # Errors
    /// `not_found`; the findings of the test.
    pub async fn test(&self, org: Id<Org>, id: Id<Source>, cancel: &CancellationToken) -> Result<Tested> {
        let source = self.find(org, id).await?;
        let found = self.open(&source)?.server.probe(cancel).await;
        self.note(&source, found.as_ref().err()).await?;
        found
    }

    /// Tests a source and reads its catalogue again: new tables are added, not published; columns and counts of known
    /// ones are brought up to date; those that the login can read no more are removed.
    ///
    /// # Errors
    /// As for [`Sources::test`].
    pub async fn refresh(&self, org: Id<Org>, id: Id<Source>, cancel: &CancellationToken) -> Result<Refreshed> {
        let source = self.find(org, id).await?;
        let open = self.open(&source)?;
        let found = async {
            open.server.probe(cancel).await?;
            open.server.tables(cancel).await
        };
        let found = found.await;
        self.note(&source, found.as_ref().err()).await?;
        let found = found?;
        let mut tx = self.0.db.tenant(org).await?;
        if store::sources::by_id(&mut tx, org, id).await?.is_none() {
            return Err(Error::not_found("source"));
        }
        store::sources::left_out(&mut tx, org, id, &found.left_out).await?;
        let refreshed = self.write(&mut tx, &source, found, self.0.clock.now()).await?;
        tx.commit().await?;
        Ok(refreshed)
    }

    /// What a source's catalogue declares of its tables now; what is left out of the tables is told too.
    ///
    /// # Errors
    /// `not_found`; those of the engine.
    pub async fn declared(&self, org: Id<Org>, id: Id<Source>, cancel: &CancellationToken) -> Result<Declared> {
        let source = self.find(org, id).await?;
        let mut declared = self.open(&source)?.server.declared(cancel).await?;
        if !source.left_out.is_empty() {
            declared.left_out.insert(0, source.left_out);
        }
        Ok(declared)
    }

    /// Removes a source with its datasets, which it returns; what runs in it ends.
    ///
    /// # Errors
    /// `not_found`.
    pub async fn remove(&self, org: Id<Org>, id: Id<Source>) -> Result<Vec<Dataset>> {
        let datasets = self.datasets(org, id).await?;
        let mut tx = self.0.db.tenant(org).await?;
        let removed = store::sources::remove(&mut tx, org, id).await?;
        for gone in &datasets {
            store::tasks::forget(&mut tx, org, gone.id).await?;
        }
        tx.commit().await?;
        if !removed {
            return Err(Error::not_found("source"));
        }
        self.0.open.close((org, id));
        Ok(datasets)
    }

    /// Judges and runs a caller's query in a source, over those of its tables that the pass covers.
    pub(in super::super) async fn query(
        &self,
        job: &Job<'_>,
        id: Id<Source>,
        tables: &[&Dataset],
        sql: &str,
    ) -> Result<(Table, u64)> {
        let permitted: Vec<Permitted> = tables.iter().filter_map(|dataset| permitted(dataset)).collect();
        self.ask(job, id, job.budget.sql_rows, async |server, limits, cancel| {
            server.query(sql, &permitted, limits, cancel).await
        })
        .await
    }

    /// The first rows of a remote table that the pass covers.
    pub(in super::super) async fn preview(
        &self,
        job: &Job<'_>,
        dataset: &Dataset,
        remote: &RemoteTable,
        limit: usize,
    ) -> Result<Table> {
        let table = permitted(dataset).ok_or_else(Error::dataset_not_found)?;
        let asked = self.ask(job, remote.source, limit, async |server, limits, cancel| {
            server.preview(&table, limits, cancel).await
        });
        Ok(asked.await?.0)
    }

    /// Takes a turn of the source, and asks it. Its state is kept when it changes.
    async fn ask(
        &self,
        job: &Job<'_>,
        id: Id<Source>,
        rows: usize,
        work: impl AsyncFnOnce(&Server, &RemoteLimits, &CancellationToken) -> Result<Table>,
    ) -> Result<(Table, u64)> {
        job.check()?;
        let source = self.find(job.pass.org(), id).await.map_err(|error| match error.code {
            Code::NotFound => Error::dataset_not_found(),
            _ => error,
        })?;
        let open = self.open(&source)?;
        let workspace = job.pass.org().to_string();
        let next = open.turns.take(job.pass.credential(), &workspace);
        let busy = || Error::unavailable("Too many queries run in this source. Try again in a moment.");
        let gone = || Error::new(Code::DatasetNotFound, "The source of this table was removed.");
        let _turn = tokio::select! {
            turn = tokio::time::timeout(job.time_left(), next) => turn.map_err(|_| busy())??,
            () = job.cancel.cancelled() => return Err(Error::new(Code::QueryTimeout, "The call was cancelled.")),
            () = open.gone.cancelled() => return Err(gone()),
        };
        job.check()?;
        let limits = RemoteLimits {
            time: job.budget.sql_time.min(job.time_left()),
            rows,
            // A tenth is left for what else is in a reply.
            bytes: job.budget.reply_bytes.saturating_sub(job.budget.reply_bytes / 10),
            memory_mb: job.budget.sql_memory_mb,
        };
        let started = Instant::now();
        let answer = tokio::select! {
            answer = work(&open.server, &limits, &job.cancel) => answer,
            () = open.gone.cancelled() => return Err(gone()),
        };
        let problem = answer.as_ref().err().filter(|error| error.code == Code::SourceUnavailable);
        if problem.is_some() == source.problem.is_empty() {
            self.note(&source, problem).await?;
        }
        Ok((answer?, whole_millis(started.elapsed())))
    }

    /// A source of the workspace. One that is not registered any more is closed.
    async fn find(&self, org: Id<Org>, id: Id<Source>) -> Result<Source> {
        let found = store::sources::by_id(&mut self.0.db.read_tenant(org).await?, org, id).await?;
        if found.is_none() {
            self.0.open.close((org, id));
        }
        found.ok_or_else(|| Error::not_found("source"))
    }

    /// Keeps how the source is.
    async fn note(&self, source: &Source, problem: Option<&Error>) -> Result<()> {
        let mut tx = self.0.db.tenant(source.org).await?;
        let problem = problem.map(|error| error.message.as_str()).unwrap_or_default();
        store::sources::checked(&mut tx, source.org, source.id, self.0.clock.now(), problem).await?;
        tx.commit().await?;
        Ok(())
    }

    fn open(&self, source: &Source) -> Result<Arc<OpenSource>> {
        let (open, is_new) = self.0.open.open((source.org, source.id), || {
            let url = Url::parse(&source.address).map_err(Error::internal)?;
            self.server(source.engine, &url, self.unseal(source)?, source.ca.clone())
        })?;
        if is_new {
            self.watch((source.org, source.id), Arc::downgrade(&open));
        }
        Ok(open)
    }

    /// Closes an open source when it is removed, whoever does that, or when nobody asks it any more.
    fn watch(&self, key: Key, of: Weak<OpenSource>) {
        let inner = Arc::downgrade(&self.0);
        tokio::spawn(async move {
            loop {
                tokio::time::sleep(LOOK).await;
                let Some(sources) = inner.upgrade().map(Self) else { return };
                if !sources.0.open.keep(key, &of) {
                    return;
                }
                // It closes one that is gone. A database that fails says nothing of the source.
                let _found = sources.find(key.0, key.1).await;
            }
        });
    }

    fn server(&self, engine: SourceEngine, url: &Url, password: Secret, ca: Option<String>) -> Result<Server> {
        let private = self.0.private.clone();
        match engine {
            SourceEngine::Postgres => Ok(Server::Postgres(Postgres::new(Login::parse(url, password, ca)?, private))),
            SourceEngine::ClickHouse if ca.is_some() => {
                Err(Error::invalid("ca", "A ClickHouse server's certificate must come from a known authority."))
            }
            SourceEngine::ClickHouse
                if !matches!(url.scheme(), "https" | "http")
                    || url.query().is_some()
                    || url.fragment().is_some()
                    || url.password().is_some() =>
            {
                let message = "The address is https://, the login's name and @ where it has one, host and port; no \
                               password and nothing after ?. The password has a field of its own.";
                Err(Error::invalid("address", message))
            }
            SourceEngine::ClickHouse => Ok(Server::ClickHouse { url: url.clone(), password, private }),
        }
    }

    /// Bound to its row and to the address: moved to another, it does not open.
    fn label(org: Id<Org>, id: Id<Source>, address: &str) -> String {
        format!("source password {org} {id} {address}")
    }

    fn seal(&self, org: Id<Org>, id: Id<Source>, address: &str, password: &Secret) -> Result<String> {
        self.0.master.seal_secret(&Self::label(org, id, address), password).map_err(Error::internal)
    }

    fn unseal(&self, source: &Source) -> Result<Secret> {
        let label = Self::label(source.org, source.id, &source.address);
        self.0.master.open_secret(&label, &source.sealed_password).map_err(Error::internal)
    }

    /// Makes the datasets of a source what its catalogue says.
    async fn write(
        &self,
        tx: &mut store::tenant::Scoped,
        source: &Source,
        found: Catalogue,
        now: Millis,
    ) -> Result<Refreshed> {
        store::datasets::hold_names(tx, source.org).await?;
        let all = store::datasets::list(tx, source.org).await?;
        let mut names: BTreeSet<String> = all.iter().map(|dataset| dataset.name.clone()).collect();
        let mut known: HashMap<(String, String), Dataset> = all
            .into_iter()
            .filter_map(|dataset| {
                let remote = dataset.remote.clone().filter(|remote| remote.source == source.id)?;
                Some(((remote.schema, remote.table), dataset))
            })
            .collect();
        let mut refreshed = Refreshed { left_out: found.left_out, ..Refreshed::default() };
        let version = Id::<Reading>::new(&self.0.clock).to_string();
        for table in found.tables {
            let before = known.remove(&(table.schema.clone(), table.table.clone()));
            match before {
                Some(_) => refreshed.updated += 1,
                None => refreshed.added += 1,
            }
            let name = match &before {
                Some(before) => before.name.clone(),
                None => free_name(&mut names, &table),
            };
            let id = before.as_ref().map_or_else(|| Id::new(&self.0.clock), |before| before.id);
            let dataset = Dataset {
                title: before.as_ref().map(|before| before.title.clone()).unwrap_or_default(),
                description: table.description,
                version: Some(version.clone()),
                row_count: table.row_count.unwrap_or(0),
                bytes: table.bytes.unwrap_or(0),
                columns: table.columns,
                source: format!("{}: {}.{}", source.name, table.schema, table.table),
                remote: Some(RemoteTable {
                    source: source.id,
                    source_name: source.name.clone(),
                    engine: source.engine,
                    schema: table.schema,
                    table: table.table,
                }),
                created_at: before.as_ref().map_or(now, |before| before.created_at),
                updated_at: now,
                ..Dataset::new(id, source.org, name, Kind::Table)
            };
            store::datasets::put(tx, &dataset).await?;
        }
        for gone in known.into_values() {
            store::datasets::remove(tx, source.org, gone.id).await?;
            store::tasks::forget(tx, source.org, gone.id).await?;
            refreshed.removed.push(gone);
        }
        Ok(refreshed)
    }
}

/// A name that no dataset has: the table's, with its schema, with a number.
fn free_name(names: &mut BTreeSet<String>, table: &FoundTable) -> String {
    let (short, long) = (name_from_file(&table.table), name_from_file(&format!("{}_{}", table.schema, table.table)));
    let numbered = (2..).map(|number| {
        let tail = format!("_{number}");
        let head: String = long.chars().take(63 - tail.len()).collect();
        format!("{head}{tail}")
    });
    let mut candidates = [short, long.clone()].into_iter().chain(numbered);
    let free = candidates.find(|name| !names.contains(name)).unwrap_or_default();
    names.insert(free.clone());
    free
}

fn permitted(dataset: &Dataset) -> Option<Permitted> {
    let remote = dataset.remote.as_ref()?;
    Some(Permitted {
        name: dataset.name.clone(),
        schema: remote.schema.clone(),
        table: remote.table.clone(),
        columns: dataset.columns.iter().map(|column| column.name.clone()).collect(),
    })
}

/// The longest that administration of a source may take.
pub const ADMINISTRATION: Duration = Duration::from_secs(60);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_taken_from_the_table_as_long_as_they_are_free() {
        let table = |schema: &str, table: &str| FoundTable {
            schema: schema.into(),
            table: table.into(),
            columns: vec![],
            row_count: None,
            bytes: None,
            description: String::new(),
        };
        let mut names = BTreeSet::from(["orders".to_owned()]);
        let mut next = |schema: &str, name: &str| free_name(&mut names, &table(schema, name));
        assert_eq!(next("public", "Items"), "items");
        assert_eq!(next("public", "orders"), "public_orders");
        assert_eq!(next("public", "ORDERS"), "public_orders_2");
        assert_eq!(next("public", "orders!"), "public_orders_3");
        let long = "x".repeat(80);
        assert_eq!(next("s", &long), "x".repeat(63));
        assert_eq!(next("s", &long), format!("s_{}", "x".repeat(61)));
        assert_eq!(next("s", &long), format!("s_{}_2", "x".repeat(59)));
    }
}
