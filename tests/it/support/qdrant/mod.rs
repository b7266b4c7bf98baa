//! A Qdrant server at a real port: the program named in `QDRANT_BIN`, as `tests/qdrant/run` builds it; without it a
//! stand-in that speaks the same protocol with the client crate's own messages (`standin.rs`), and compares every vector.

mod matching;
mod standin;

use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use qdrant_client::Qdrant as Client;
use qdrant_client::qdrant::{CountPointsBuilder, DeletePointsBuilder, Filter};
use tokio::process::{Child, Command};
use tokio::sync::{OwnedMutexGuard, oneshot};
use tokio::task::JoinHandle;

use super::program::free_port;
use standin::StandIn;

/// How long a program may take until it answers.
const PATIENCE: Duration = Duration::from_secs(60);

/// A server, which can be stopped and started again with what it has.
pub struct Qdrant {
    pub url: String,
    port: u16,
    key: Option<&'static str>,
    kind: Kind,
}

enum Kind {
    Program { path: std::ffi::OsString, folder: tempfile::TempDir, child: Option<Child> },
    StandIn { kept: Arc<StandIn>, running: Option<(oneshot::Sender<()>, JoinHandle<()>)> },
}

impl Qdrant {
    pub async fn start() -> Self {
        Self::with_key(None).await
    }

    /// One that asks for a key.
    pub async fn with_key(key: Option<&'static str>) -> Self {
        let kind = match std::env::var_os("QDRANT_BIN") {
            Some(path) => Kind::Program { path, folder: tempfile::tempdir().unwrap(), child: None },
            None => Kind::StandIn { kept: Arc::new(StandIn::new(key)), running: None },
        };
        let port = free_port();
        let mut server = Self { url: format!("http://127.0.0.1:{port}"), port, key, kind };
        server.again().await;
        server
    }

    /// Starts it again, at its address, with what it had.
    pub async fn again(&mut self) {
        match &mut self.kind {
            Kind::Program { path, folder, child } => {
                let mut command = Command::new(path);
                command
                    .current_dir(folder.path())
                    .env("QDRANT__SERVICE__HOST", "127.0.0.1")
                    .env("QDRANT__SERVICE__GRPC_PORT", self.port.to_string())
                    .env("QDRANT__SERVICE__HTTP_PORT", free_port().to_string())
                    .env("QDRANT__TELEMETRY_DISABLED", "true")
                    .env("QDRANT__LOG_LEVEL", "WARN")
                    .stdout(Stdio::null())
                    .kill_on_drop(true);
                if let Some(key) = self.key {
                    command.env("QDRANT__SERVICE__API_KEY", key);
                }
                *child = Some(command.spawn().unwrap());
            }
            Kind::StandIn { kept, running } => {
                let (stop, stopped) = oneshot::channel();
                let serving = standin::serve(kept.clone(), self.port, async { stopped.await.unwrap_or(()) });
                *running = Some((stop, tokio::spawn(serving)));
            }
        }
        let client = self.client();
        let answers = async {
            while client.health_check().await.is_err() {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        tokio::time::timeout(PATIENCE, answers).await.expect("the server answers");
    }

    /// Ends it; what it has stays.
    pub async fn stop(&mut self) {
        match &mut self.kind {
            Kind::Program { child, .. } => child.take().unwrap().kill().await.unwrap(),
            Kind::StandIn { running, .. } => {
                let (stop, served) = running.take().unwrap();
                stop.send(()).unwrap();
                served.await.unwrap();
            }
        }
    }

    /// What whoever has its key can do.
    pub fn client(&self) -> Client {
        let key = self.key.map(str::to_owned);
        Client::from_url(&self.url).api_key(key).skip_compatibility_check().build().unwrap()
    }

    /// The only collection that it has.
    pub async fn collection(&self) -> String {
        let all = self.client().list_collections().await.unwrap().collections;
        assert_eq!(all.len(), 1, "{all:?}");
        all[0].name.clone()
    }

    /// How many points of all tenants it has.
    pub async fn points(&self) -> u64 {
        let count = CountPointsBuilder::new(self.collection().await).exact(true);
        self.client().count(count).await.unwrap().result.unwrap().count
    }

    /// Until it is dropped, no points are removed: whoever asks for it waits. `None` of the program, which does not wait.
    pub async fn hold_deletes(&self) -> Option<OwnedMutexGuard<()>> {
        match &self.kind {
            Kind::Program { .. } => None,
            Kind::StandIn { kept, .. } => Some(kept.deletes.clone().lock_owned().await),
        }
    }

    /// The same of points that are written.
    pub async fn hold_writes(&self) -> Option<OwnedMutexGuard<()>> {
        match &self.kind {
            Kind::Program { .. } => None,
            Kind::StandIn { kept, .. } => Some(kept.writes.clone().lock_owned().await),
        }
    }

    /// How many requests to write points came to it; 0 of the program, which does not tell.
    pub fn writes_asked(&self) -> usize {
        self.told(|kept| kept.asked.load(Ordering::SeqCst))
    }

    /// Whether it refuses to remove points from now on; the program does not.
    pub fn refuse_deletes(&self, refuses: bool) {
        self.told(|kept| usize::from(kept.refuses.swap(refuses, Ordering::SeqCst)));
    }

    /// How many requests to remove points it refused.
    pub fn deletes_refused(&self) -> usize {
        self.told(|kept| kept.refused.load(Ordering::SeqCst))
    }

    fn told(&self, count: impl FnOnce(&StandIn) -> usize) -> usize {
        match &self.kind {
            Kind::Program { .. } => 0,
            Kind::StandIn { kept, .. } => count(kept),
        }
    }

    /// Loses the points that a filter means.
    pub async fn lose(&self, those: Filter) {
        let those = DeletePointsBuilder::new(self.collection().await).points(those).wait(true);
        self.client().delete_points(those).await.unwrap();
    }
}
