//! The built program over a folder with many workspaces, as a process of its own.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use dragoman::app::Office;
use dragoman::base::clock::Clock;
use dragoman::base::id::Id;
use dragoman::config::Config;
use dragoman::engine::files::Files;
use dragoman::model::access::ExtScope;
use dragoman::store;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};

use crate::node::{dataset, program};

pub struct Server {
    child: Child,
    base: String,
    http: reqwest::Client,
}

/// Makes workspaces, each with its own copies of the tables and a connectivity token; answers the tokens.
pub async fn prepare(folder: &Path, workspaces: usize, tables: &[(&str, &Path)]) -> Vec<String> {
    let path = folder.display().to_string();
    let config = Config::read(|name| (name == "DRAGOMAN_DATA_DIR").then(|| path.clone())).unwrap();
    let clock = Clock::system();
    let office = Office::open(config, clock.clone()).await.unwrap();
    let files = Files::new(folder).unwrap();
    let mut tokens = vec![];
    for number in 0..workspaces {
        let slug = format!("w{number}");
        let org = office.identity.create_org(&slug, &slug).await.unwrap();
        office.identity.set_connectivity(org.id, true).await.unwrap();
        let mut tx = office.db.tenant(org.id).await.unwrap();
        for (name, made) in tables {
            let dataset = dataset(Id::new(&clock), org.id, name);
            let place = files.table(org.id, dataset.id, "v1");
            std::fs::create_dir_all(place.parent().unwrap()).unwrap();
            std::fs::copy(made, &place).unwrap();
            store::datasets::put(&mut tx, &dataset).await.unwrap();
            store::datasets::publish(&mut tx, org.id, dataset.id, true, clock.now()).await.unwrap();
        }
        tx.commit().await.unwrap();
        let (_, secret) = office.identity.create_token(org.id, "bench", &ExtScope::ALL, None).await.unwrap();
        tokens.push(secret.expose().to_owned());
    }
    office.close().await;
    tokens
}

impl Server {
    /// With rates that nobody meets.
    pub async fn start(data: &Path) -> Self {
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let mut command = Command::new(program());
        command.args(["serve", "--listen", &format!("127.0.0.1:{port}"), "--data"]).arg(data);
        command.env("DRAGOMAN_ADMIN_LISTEN", "off").env("DRAGOMAN_SQL_SECONDS", "30").kill_on_drop(true);
        for rate in ["TOKEN", "SQL", "RESOURCES", "WORKSPACE", "REQUESTS"] {
            command.env(format!("DRAGOMAN_EXT_RATE_{rate}"), "10000000");
        }
        for rate in ["CALLS", "SQL", "RESOURCES"] {
            command.env(format!("DRAGOMAN_CLIENT_RATE_{rate}"), "10000000");
        }
        command.env("DRAGOMAN_EXT_IN_FLIGHT", "64").env("DRAGOMAN_IN_FLIGHT", "256");
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let first = lines.next_line().await.unwrap().unwrap();
        assert!(first.contains("is up on"), "{first}");
        tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
        let _another_was_first = rustls::crypto::aws_lc_rs::default_provider().install_default();
        #[expect(clippy::disallowed_methods, reason = "the measurement is the outside; the ban is for the service")]
        let http = reqwest::Client::builder().no_proxy().build().unwrap();
        Self { child, base: format!("http://127.0.0.1:{port}/api/v1/ext"), http }
    }

    pub async fn sql(&self, token: &str, sql: &str) -> Value {
        self.ask(token, sql).await.unwrap()
    }

    /// The answer; nothing when the service is too busy.
    pub async fn ask(&self, token: &str, sql: &str) -> Option<Value> {
        let request = self.http.post(format!("{}/sql", self.base)).bearer_auth(token).json(&json!({ "sql": sql }));
        let response = request.send().await.unwrap();
        let status = response.status();
        let text = response.text().await.unwrap();
        if status == reqwest::StatusCode::SERVICE_UNAVAILABLE {
            return None;
        }
        assert!(status.is_success(), "{status} {text}");
        Some(serde_json::from_str(&text).unwrap())
    }

    pub fn pid(&self) -> u32 {
        self.child.id().unwrap()
    }
}

/// Memory of a process in bytes, as the kernel counts it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Memory {
    /// In main memory, shared or not.
    pub resident: u64,
    /// The same, where what is shared is divided by those who share it.
    pub proportional: u64,
    /// Written by this process and held by no other.
    pub own: u64,
}

/// Nothing for a process that has ended.
pub fn memory(pid: u32) -> Option<Memory> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).ok()?;
    let field = |name: &str| -> Option<u64> {
        let line = text.lines().find(|line| line.starts_with(name))?;
        Some(line.split_ascii_whitespace().nth(1)?.parse::<u64>().ok()? << 10)
    };
    Some(Memory { resident: field("Rss:")?, proportional: field("Pss:")?, own: field("Private_Dirty:")? })
}

/// The processes that a process started.
pub fn children(pid: u32) -> Vec<u32> {
    let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let lists = tasks.filter_map(|task| std::fs::read_to_string(task.path().join("children")).ok());
    lists
        .flat_map(|list| list.split_ascii_whitespace().filter_map(|pid| pid.parse().ok()).collect::<Vec<_>>())
        .collect()
}

/// Bytes that a folder takes on the disk.
pub fn disk(path: &PathBuf) -> u64 {
    use std::os::unix::fs::MetadataExt as _;
    let own = std::fs::symlink_metadata(path).unwrap().blocks() * 512;
    let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
    own + entries.map(|entry| disk(&entry.path())).sum::<u64>()
}
