//! An engine with its workers, tenants, and what asks the same of DuckDB directly.

use std::net::{IpAddr, Ipv4Addr};
use std::path::{Path, PathBuf};
use std::time::Duration;

use dragoman::base::clock::Clock;
use dragoman::base::id::Id;
use dragoman::config::{Budgets, Limits};
use dragoman::engine::files::Files;
use dragoman::engine::job::Job;
use dragoman::engine::sql::{Answer, SqlEngine, TableFormat, TableSource};
use dragoman::model::access::{Action, Catalogue, Pass, Rights, Role, Want, authorize};
use dragoman::model::caller::{Caller, Client, Proof};
use dragoman::model::dataset::{Dataset, Kind};
use dragoman::model::error::Result;
use dragoman::model::org::Org;
use dragoman::model::user::User;
use duckdb::arrow::record_batch::RecordBatch;
use duckdb::{Config, Connection};
use tokio_util::sync::CancellationToken;

/// The program that is measured: the one built with this, or the one that `BENCH_PROGRAM` names.
pub fn program() -> PathBuf {
    std::env::var_os("BENCH_PROGRAM").unwrap_or_else(|| env!("CARGO_BIN_EXE_dragoman").into()).into()
}

pub struct Node {
    pub engine: SqlEngine,
    pub files: Files,
    pub budgets: Budgets,
    pub clock: Clock,
}

/// A workspace and its tables.
#[derive(Clone)]
pub struct Tenant {
    pub org: Org,
    pub datasets: Vec<Dataset>,
}

impl Node {
    pub fn new(data: &Path, change: impl FnOnce(&mut Budgets)) -> Self {
        let mut budgets = Limits::default().budgets;
        budgets.sql_known_mb = 0;
        change(&mut budgets);
        let files = Files::new(data).unwrap();
        let engine = SqlEngine::new(program(), files.clone(), budgets.clone());
        Self { engine, files, budgets, clock: Clock::system() }
    }

    pub fn tenant(&self) -> Tenant {
        let id = Id::new(&self.clock);
        let org = Org { id, slug: "bench".into(), name: "Bench".into(), connectivity_enabled: true, created_at: 0 };
        Tenant { org, datasets: vec![] }
    }

    /// Makes a table file of a file, as an upload does.
    pub async fn import(&self, source: &Path, format: TableFormat, made: &Path) {
        let pass = self.tenant().pass(self.person());
        let job = Job::new(&pass, &self.budgets, Duration::from_secs(1_800), CancellationToken::new(), None);
        let source = TableSource { path: source, format, changes: &[] };
        self.engine.import(&job, source, made).await.unwrap();
    }

    /// Makes a table file of CSV text.
    pub async fn make(&self, text: &str, made: &Path) {
        let source = made.with_extension("csv");
        std::fs::write(&source, text).unwrap();
        self.import(&source, TableFormat::Csv, made).await;
    }

    /// Gives a tenant a table of CSV text.
    pub async fn give_text(&self, tenant: &mut Tenant, name: &str, text: &str) {
        let work = tempfile::tempdir().unwrap();
        let made = work.path().join("made.duckdb");
        self.make(text, &made).await;
        self.give(tenant, name, &made);
    }

    /// Gives a tenant a table whose file is there already.
    pub fn give(&self, tenant: &mut Tenant, name: &str, made: &Path) {
        let id = Id::new(&self.clock);
        let place = self.files.table(tenant.org.id, id, "v1");
        std::fs::create_dir_all(place.parent().unwrap()).unwrap();
        if std::fs::hard_link(made, &place).is_err() {
            std::fs::copy(made, &place).unwrap();
        }
        tenant.datasets.push(dataset(id, tenant.org.id, name));
    }

    /// The same with a file of its own.
    pub fn give_copy(&self, tenant: &mut Tenant, name: &str, made: &Path) {
        let id = Id::new(&self.clock);
        let place = self.files.table(tenant.org.id, id, "v1");
        std::fs::create_dir_all(place.parent().unwrap()).unwrap();
        std::fs::copy(made, &place).unwrap();
        tenant.datasets.push(dataset(id, tenant.org.id, name));
    }

    /// Where the tables of a tenant are.
    pub fn tables(&self, tenant: &Tenant) -> Vec<(String, PathBuf)> {
        let file = |dataset: &Dataset| self.files.table(dataset.org, dataset.id, "v1");
        tenant.datasets.iter().map(|dataset| (dataset.name.clone(), file(dataset))).collect()
    }

    pub fn person(&self) -> Id<User> {
        Id::new(&self.clock)
    }

    pub async fn query(&self, pass: &Pass, sql: &str) -> Result<Answer> {
        let job = Job::new(pass, &self.budgets, self.budgets.sql_time, CancellationToken::new(), None);
        self.engine.query(&job, sql).await
    }
}

impl Tenant {
    /// What a person of the workspace may see.
    pub fn pass(&self, user: Id<User>) -> Pass {
        let caller = Caller {
            org: self.org.id,
            user: Some(user),
            role: Role::Contributor,
            rights: Rights::of_role(Role::Contributor),
            proof: Proof::BrowserSession { auth_time: 0 },
            client: Client::default(),
            session: None,
            ip: IpAddr::V4(Ipv4Addr::LOCALHOST),
            request_id: "bench".into(),
        };
        authorize(&caller, &Catalogue::new(self.org.clone(), self.datasets.clone()), Action::RunSql, &Want::All)
            .unwrap()
    }
}

pub fn dataset(id: Id<Dataset>, org: Id<Org>, name: &str) -> Dataset {
    Dataset {
        externally_queryable: true,
        version: Some("v1".into()),
        source: name.into(),
        ..Dataset::new(id, org, name, Kind::Table)
    }
}

/// DuckDB of this build in this process: the same files, views, threads and memory, and nothing of ours.
pub struct Raw {
    connection: Connection,
    rows: usize,
}

impl Raw {
    pub fn open(tables: &[(String, PathBuf)], budgets: &Budgets) -> Self {
        let config = Config::default().threads(budgets.sql_threads.into()).unwrap();
        let config = config.max_memory(&format!("{}MiB", budgets.sql_memory_mb)).unwrap();
        let connection = Connection::open_in_memory_with_flags(config).unwrap();
        for (index, (name, file)) in tables.iter().enumerate() {
            let sql = format!(
                "ATTACH '{}' AS d{index} (READ_ONLY); CREATE VIEW {name} AS SELECT * FROM d{index}.main.data",
                file.display()
            );
            connection.execute_batch(&sql).unwrap();
        }
        Self { connection, rows: budgets.sql_rows }
    }

    /// A connection of its own to the same instance.
    pub fn another(&self) -> Self {
        Self { connection: self.connection.try_clone().unwrap(), rows: self.rows }
    }

    /// Rows, as many as an answer may have; the engine computes them while they are fetched.
    pub fn streamed(&self, sql: &str) -> usize {
        let mut statement = self.connection.prepare(sql).unwrap();
        let stream = statement.stream_arrow([]).unwrap();
        count(stream.map(|batch| batch.unwrap()), self.rows)
    }

    /// The same after the engine has computed all rows.
    pub fn collected(&self, sql: &str) -> usize {
        let mut statement = self.connection.prepare(sql).unwrap();
        count(statement.query_arrow([]).unwrap(), self.rows)
    }
}

fn count(batches: impl Iterator<Item = RecordBatch>, most: usize) -> usize {
    let mut rows = 0;
    for batch in batches {
        rows += batch.num_rows();
        if rows > most {
            return most;
        }
    }
    rows
}
