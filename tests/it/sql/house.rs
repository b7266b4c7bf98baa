//! Two workspaces with tables, and an engine whose workers are the real program.

use std::net::{IpAddr, Ipv4Addr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use dragoman::base::clock::Clock;
use dragoman::base::id::Id;
use dragoman::config::{Budgets, Limits};
use dragoman::engine::files::Files;
use dragoman::engine::job::Job;
use dragoman::engine::sql::{Answer, ImportedTable, SqlEngine, TableFormat, TableSource};
use dragoman::model::access::{Action, Catalogue, Pass, Rights, Role, Want, authorize};
use dragoman::model::caller::{Caller, Client, Proof};
use dragoman::model::dataset::{ColumnInfo, Dataset, Kind};
use dragoman::model::error::Result;
use dragoman::model::org::Org;
use dragoman::model::profile::Profile;
use dragoman::model::user::User;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

/// What no answer may hold: the content of tables that the caller may not read.
pub const CANARY: &str = "CANARY-5f1c";

pub struct House {
    pub data: TempDir,
    pub files: Files,
    pub engine: SqlEngine,
    pub budgets: Budgets,
    clock: Clock,
    org: Org,
    other: Org,
    datasets: Vec<Dataset>,
}

impl House {
    /// Without tables.
    pub fn empty(change: impl FnOnce(&mut Budgets)) -> Self {
        let mut budgets = Limits::default().budgets;
        // What is looked at is the engine, each time.
        budgets.sql_known_mb = 0;
        change(&mut budgets);
        let data = tempfile::tempdir().unwrap();
        let clock = Clock::manual(1_000);
        let files = Files::new(data.path()).unwrap();
        let program = PathBuf::from(env!("CARGO_BIN_EXE_dragoman"));
        let engine = SqlEngine::new(program, files.clone(), budgets.clone());
        let org = org(&clock);
        let other = self::org(&clock);
        Self { data, files, engine, budgets, clock, org, other, datasets: vec![] }
    }

    /// The tables flights, carriers, weather, notes and three with awkward names; `secret` belongs to another workspace.
    pub async fn new(change: impl FnOnce(&mut Budgets)) -> Self {
        let mut house = Self::empty(change);
        let mut flights = "id,carrier,origin,day,dep_delay,distance\n".to_owned();
        for i in 0..20 {
            let (carrier, origin) = (["AA", "UA", "B6"][i % 3], ["JFK", "LGA"][i % 2]);
            flights +=
                &format!("{i},{carrier},{origin},2013-01-{:02},{},{}\n", i + 1, (i * 7 % 40) as i32 - 10, i * 100);
        }
        house.add("flights", TableFormat::Csv, &flights).await;
        house
            .add("carriers", TableFormat::Csv, "carrier,name\nAA,American Airlines\nUA,United\nB6,JetBlue Air\n")
            .await;
        let weather = "origin,day,temp,wind\nJFK,2013-01-01,10.5,3\nLGA,2013-01-02,-2.0,5\n";
        house.add("weather", TableFormat::Csv, weather).await;
        house.add("notes", TableFormat::Json, r#"[{"body": "{\"kind\": \"x\"}"}]"#).await;
        house.add("order", TableFormat::Json, r#"[{"select": 1, "Größe": 2, "a b": 3}]"#).await;
        for name in ["Größe 🦆", "it's \"it\""] {
            house.add(name, TableFormat::Csv, "x\n1\n").await;
        }
        std::mem::swap(&mut house.org, &mut house.other);
        house.add("secret", TableFormat::Csv, &format!("s,t\n{CANARY},1\n")).await;
        std::mem::swap(&mut house.org, &mut house.other);
        house
    }

    /// A table made by the engine itself, from a query: for types that no file brings.
    pub fn make(&mut self, name: &str, query: &str) {
        let staging = self.files.staging(self.org.id).unwrap();
        let made = staging.path().join("made.duckdb");
        let maker = duckdb::Connection::open(&made).unwrap();
        maker.execute_batch(&format!("CREATE TABLE data AS {query}; CHECKPOINT")).unwrap();
        let row_count = maker.query_row("SELECT count(*) FROM data", [], |row| row.get(0)).unwrap();
        drop(maker);
        let bytes = std::fs::metadata(&made).unwrap().len().try_into().unwrap();
        self.place(name, &made, row_count, bytes, vec![]);
    }

    fn place(&mut self, name: &str, made: &Path, row_count: i64, bytes: i64, columns: Vec<ColumnInfo>) {
        let id = Id::new(&self.clock);
        self.files.publish(made, &self.files.table(self.org.id, id, "v1")).unwrap();
        self.datasets.push(Dataset {
            externally_queryable: true,
            version: Some("v1".into()),
            row_count,
            bytes,
            columns,
            source: name.into(),
            ..Dataset::new(id, self.org.id, name, Kind::Table)
        });
    }

    pub async fn profile(&self, name: &str) -> Result<Arc<Profile>> {
        let pass = self.pass();
        let job = Job::new(&pass, &self.budgets, self.budgets.sql_time, CancellationToken::new(), None);
        self.engine.profile(&job, self.dataset(name)).await
    }

    /// Makes a table file of a file.
    pub async fn import(&self, source: &Path, format: TableFormat, made: &Path) -> Result<ImportedTable> {
        let pass = self.pass();
        let job = Job::new(&pass, &self.budgets, Duration::from_secs(600), CancellationToken::new(), None);
        self.engine.import(&job, TableSource { path: source, format, changes: &[] }, made).await
    }

    /// Imports a table for the current workspace.
    pub async fn add(&mut self, name: &str, format: TableFormat, content: impl AsRef<[u8]>) {
        let staging = self.files.staging(self.org.id).unwrap();
        let (source, made) = (staging.path().join("source"), staging.path().join("made.duckdb"));
        std::fs::write(&source, content).unwrap();
        let table = self.import(&source, format, &made).await.unwrap();
        self.place(name, &made, table.row_count, table.bytes, table.columns);
    }

    pub fn dataset(&self, name: &str) -> &Dataset {
        self.datasets.iter().find(|dataset| dataset.name == name).unwrap()
    }

    /// What a person of the first workspace may see, in the browser.
    pub fn pass(&self) -> Pass {
        self.pass_of(None)
    }

    /// The same for another person.
    pub fn pass_of(&self, user: Option<Id<User>>) -> Pass {
        self.pass_in(&self.org, user)
    }

    fn pass_in(&self, org: &Org, user: Option<Id<User>>) -> Pass {
        let caller = Caller {
            org: org.id,
            user,
            role: Role::Contributor,
            rights: Rights::of_role(Role::Contributor),
            proof: Proof::BrowserSession { auth_time: 0 },
            client: Client::default(),
            session: None,
            ip: IpAddr::V4(Ipv4Addr::LOCALHOST),
            request_id: "r".into(),
        };
        authorize(&caller, &Catalogue::new(org.clone(), self.datasets.clone()), Action::RunSql, &Want::All).unwrap()
    }

    /// As a person of the other workspace, whose table is `secret`.
    pub async fn query_next_door(&self, sql: &str) -> Result<Answer> {
        let pass = self.pass_in(&self.other, None);
        let job = Job::new(&pass, &self.budgets, Duration::from_secs(60), CancellationToken::new(), None);
        self.engine.query(&job, sql).await
    }

    pub async fn query(&self, sql: &str) -> Result<Answer> {
        self.query_until(sql, CancellationToken::new()).await
    }

    pub async fn query_as(&self, user: Id<User>, sql: &str) -> Result<Answer> {
        self.query_within(user, self.budgets.sql_time, sql).await
    }

    /// A query that may take so long.
    pub async fn query_within(&self, user: Id<User>, time: Duration, sql: &str) -> Result<Answer> {
        let (pass, budgets) = (self.pass_of(Some(user)), Budgets { sql_time: time, ..self.budgets.clone() });
        let job = Job::new(&pass, &budgets, Duration::from_secs(60), CancellationToken::new(), None);
        self.engine.query(&job, sql).await
    }

    /// A person.
    pub fn person(&self) -> Id<User> {
        Id::new(&self.clock)
    }

    /// Publishes the next version of a table, with another content.
    pub async fn replace(&mut self, name: &str, format: TableFormat, content: &str) {
        let staging = self.files.staging(self.org.id).unwrap();
        let (source, made) = (staging.path().join("source"), staging.path().join("made.duckdb"));
        std::fs::write(&source, content).unwrap();
        self.import(&source, format, &made).await.unwrap();
        let (org, dataset) = (self.org.id, self.datasets.iter_mut().find(|dataset| dataset.name == name).unwrap());
        self.files.publish(&made, &self.files.table(org, dataset.id, "v2")).unwrap();
        dataset.version = Some("v2".into());
    }

    /// Hides a column of a table from everybody.
    pub fn hide(&mut self, name: &str, column: &str) {
        let dataset = self.datasets.iter_mut().find(|dataset| dataset.name == name).unwrap();
        dataset.columns.retain(|seen| seen.name != column);
        dataset.hidden.push(column.into());
    }

    pub async fn query_until(&self, sql: &str, cancel: CancellationToken) -> Result<Answer> {
        let pass = self.pass();
        let job = Job::new(&pass, &self.budgets, Duration::from_secs(60), cancel, None);
        self.engine.query(&job, sql).await
    }

    pub async fn preview(&self, dataset: &Dataset, limit: usize) -> Result<dragoman::model::table::Table> {
        let pass = self.pass();
        let job = Job::new(&pass, &self.budgets, Duration::from_secs(60), CancellationToken::new(), None);
        let table = self.engine.preview(&job, dataset, limit).await?;
        Ok(serde_json::from_value(serde_json::to_value(table).unwrap()).unwrap())
    }

    /// Every file below the data folder, with its content.
    pub fn contents(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let mut found = vec![];
        collect(self.data.path(), &mut found);
        found.sort();
        found
    }
}

fn org(clock: &Clock) -> Org {
    Org { id: Id::new(clock), slug: "acme".into(), name: "Acme".into(), connectivity_enabled: true, created_at: 0 }
}

fn collect(folder: &Path, found: &mut Vec<(PathBuf, Vec<u8>)>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, found);
        } else {
            let content = std::fs::read(&path).unwrap();
            found.push((path, content));
        }
    }
}
