//! Tables of a caller, a table of somebody else, and an engine with real workers.

use std::net::{IpAddr, Ipv4Addr};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, mpsc};
use std::time::{Duration, SystemTime};

use dragoman::base::clock::Clock;
use dragoman::base::id::Id;
use dragoman::config::{Budgets, Limits};
use dragoman::engine::files::Files;
use dragoman::engine::job::Job;
use dragoman::engine::sql::{Answer, SqlEngine, TableFormat, TableSource};
use dragoman::model::access::{Action, Catalogue, Pass, Rights, Role, Want, authorize};
use dragoman::model::caller::{Caller, Client, Proof};
use dragoman::model::dataset::{Dataset, Kind};
use dragoman::model::error::Error;
use dragoman::model::org::Org;
use duckdb::Connection;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

/// What no reply may hold.
pub const CANARY: &str = "CANARY-5f1c";

/// The content of files is compared after so many statements; their sizes and times after each.
const LOOK_CLOSER: usize = 512;

pub struct House {
    pub names: Vec<String>,
    folder: TempDir,
    pass: Pass,
    budgets: Budgets,
    engine: SqlEngine,
    runtime: tokio::runtime::Runtime,
    parser: Mutex<(mpsc::Sender<String>, mpsc::Receiver<String>)>,
    before: Vec<Seen>,
    content: Vec<Vec<u8>>,
    looks: AtomicUsize,
}

#[derive(Debug, PartialEq)]
struct Seen(PathBuf, u64, Option<SystemTime>);

impl House {
    pub fn new() -> Self {
        let program = std::env::var_os("DRAGOMAN_PROGRAM").expect("DRAGOMAN_PROGRAM: the program whose workers run");
        let mut budgets = Limits::default().budgets;
        budgets.sql_time = Duration::from_millis(500);
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let clock = Clock::manual(1_000);
        let files = Files::new(&folder.path().join("data")).unwrap();
        let _inside = runtime.enter();
        let engine = SqlEngine::new(program.into(), files.clone(), budgets.clone());
        let (own, other) = (org(&clock), org(&clock));
        let mut datasets = vec![];
        for (org, name, content) in [
            (&own, "flights", flights()),
            (&own, "carriers", "carrier,name\nAA,American Airlines\nUA,United\nB6,JetBlue Air\n".into()),
            (&own, "weather", "origin,day,temp,wind\nJFK,2013-01-01,10.5,3\nLGA,2013-01-02,-2.0,5\n".into()),
            (&own, "notes", "body\n\"{\"\"kind\"\": \"\"x\"\"}\"\n".into()),
            (&other, "secret", format!("s,t\n{CANARY},1\n")),
        ] {
            let dataset = runtime.block_on(import(&engine, &budgets, &files, &clock, org, name, &content));
            if org.id == own.id {
                datasets.push(dataset);
            }
        }
        std::fs::write(folder.path().join("secret.csv"), format!("{CANARY}\n")).unwrap();
        let names = datasets.iter().map(|dataset| dataset.name.clone()).collect();
        let pass = pass(&own, Action::RunSql, datasets);
        let parser = Mutex::new(parser());
        let (looks, before) = (AtomicUsize::new(0), seen(folder.path()));
        let content = before.iter().map(|Seen(path, ..)| std::fs::read(path).unwrap()).collect();
        Self { names, folder, pass, budgets, engine, runtime, parser, before, content, looks }
    }

    /// The engine's tree of a text, as a worker makes it.
    pub fn tree(&self, sql: &str) -> String {
        let parser = self.parser.lock().unwrap();
        parser.0.send(sql.to_owned()).unwrap();
        parser.1.recv().unwrap()
    }

    pub fn query(&self, sql: &str) -> Result<Answer, Error> {
        let job = Job::new(&self.pass, &self.budgets, Duration::from_secs(20), CancellationToken::new(), None);
        self.runtime.block_on(self.engine.query(&job, sql))
    }

    pub fn path(&self) -> &str {
        self.folder.path().to_str().unwrap()
    }

    /// Fails when a file changed, appeared or went.
    pub fn look_around(&self, sql: &str) {
        assert_eq!(seen(self.folder.path()), self.before, "after {sql}");
        if self.looks.fetch_add(1, Ordering::Relaxed).is_multiple_of(LOOK_CLOSER) {
            let now: Vec<Vec<u8>> = self.before.iter().map(|Seen(path, ..)| std::fs::read(path).unwrap()).collect();
            assert!(now == self.content, "a file has another content after {sql}, or since {LOOK_CLOSER} before");
        }
    }
}

/// A thread that parses, with the stack and the settings of a worker.
fn parser() -> (mpsc::Sender<String>, mpsc::Receiver<String>) {
    let (texts, asked) = mpsc::channel::<String>();
    let (answers, trees) = mpsc::channel();
    let run = move || {
        let engine = Connection::open_in_memory().unwrap();
        engine.execute_batch("SET threads=1; SET async_threads=0; SET max_expression_depth=250").unwrap();
        let serialize = "SELECT json_serialize_sql(?, skip_default := true, skip_empty := true, skip_null := true)";
        let mut statement = engine.prepare(serialize).unwrap();
        for sql in asked {
            let tree: String = statement.query_row([sql], |row| row.get(0)).unwrap();
            answers.send(tree).unwrap();
        }
    };
    std::thread::Builder::new().stack_size(64 << 20).spawn(run).unwrap();
    (texts, trees)
}

fn flights() -> String {
    let mut text = "id,carrier,origin,day,dep_delay,distance\n".to_owned();
    for i in 0..20 {
        let (carrier, origin) = (["AA", "UA", "B6"][i % 3], ["JFK", "LGA"][i % 2]);
        text += &format!("{i},{carrier},{origin},2013-01-{:02},{},{}\n", i + 1, i * 7 % 40, i * 100);
    }
    text
}

async fn import(
    engine: &SqlEngine,
    budgets: &Budgets,
    files: &Files,
    clock: &Clock,
    org: &Org,
    name: &str,
    content: &str,
) -> Dataset {
    let staging = files.staging(org.id).unwrap();
    let (source, made) = (staging.path().join("source"), staging.path().join("made.duckdb"));
    std::fs::write(&source, content).unwrap();
    let pass = pass(org, Action::WriteDatasets, vec![]);
    let job = Job::new(&pass, budgets, Duration::from_secs(60), CancellationToken::new(), None);
    let source = TableSource { path: &source, format: TableFormat::Csv, changes: &[] };
    let table = engine.import(&job, source, &made).await.unwrap();
    let id = Id::new(clock);
    files.publish(&made, &files.table(org.id, id, "v1")).unwrap();
    Dataset {
        externally_queryable: true,
        version: Some("v1".into()),
        row_count: table.row_count,
        bytes: table.bytes,
        columns: table.columns,
        source: name.into(),
        ..Dataset::new(id, org.id, name, Kind::Table)
    }
}

fn org(clock: &Clock) -> Org {
    Org { id: Id::new(clock), slug: "acme".into(), name: "Acme".into(), connectivity_enabled: true, created_at: 0 }
}

/// What somebody of a workspace may do there.
fn pass(org: &Org, action: Action, datasets: Vec<Dataset>) -> Pass {
    authorize(&caller(org), &Catalogue::new(org.clone(), datasets), action, &Want::All).unwrap()
}

fn caller(org: &Org) -> Caller {
    Caller {
        org: org.id,
        user: None,
        role: Role::Contributor,
        rights: Rights::of_role(Role::Contributor),
        proof: Proof::BrowserSession { auth_time: 0 },
        client: Client::default(),
        session: None,
        ip: IpAddr::V4(Ipv4Addr::LOCALHOST),
        request_id: "r".into(),
    }
}

fn seen(folder: &Path) -> Vec<Seen> {
    let (mut found, mut open) = (vec![], vec![folder.to_owned()]);
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            match entry.metadata().unwrap() {
                meta if meta.is_dir() => open.push(entry.path()),
                meta => found.push(Seen(entry.path(), meta.len(), meta.modified().ok())),
            }
        }
    }
    found.sort_by(|a, b| a.0.cmp(&b.0));
    found
}
