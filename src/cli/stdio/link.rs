//! Where the service is: at an address, behind the socket of a data folder that another process serves, or in this very
//! process, which then serves that socket for others as well. When a process that served the folder ends, whoever is
//! left takes its place.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use reqwest::Client;
use tokio::sync::Mutex;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use url::Url;

use crate::app::App;
use crate::base::clock::Clock;
use crate::base::local::{LocalListener, SocketPath};
use crate::base::outbound;
use crate::config::Config;
use crate::store::FolderError;

/// The name of the service in requests to its socket, where any does.
pub(in crate::cli) const BEHIND_SOCKET: &str = "http://dragoman";
/// How long a process that has the folder may take until it answers at its socket: it may be just starting.
const PATIENCE: Duration = Duration::from_secs(15);
const AGAIN: Duration = Duration::from_millis(200);
/// How long the service behind a socket may take to say that it lives.
const ALIVE: Duration = Duration::from_secs(2);

/// Where a service is looked for.
pub(super) enum Place {
    /// An MCP endpoint.
    Address(Url),
    /// A data folder, and the path of the endpoint.
    Folder(Box<Config>, String),
}

/// How it is reached now.
#[derive(Clone)]
pub(super) struct Way {
    pub client: Client,
    pub url: Url,
    /// Counts the ways that there have been.
    pub number: u64,
}

/// See the module.
pub(super) struct Link {
    place: Place,
    state: Mutex<State>,
}

struct State {
    way: Way,
    /// The path of the socket stays good for as long as this is kept.
    _socket: Option<SocketPath>,
    own: Option<Own>,
}

/// The service in this process.
struct Own {
    stop: CancellationToken,
    served: JoinHandle<anyhow::Result<()>>,
}

impl Link {
    /// Finds the service, or starts it.
    ///
    /// # Errors
    /// A sentence that says what to do.
    pub(super) async fn find(place: Place) -> anyhow::Result<Self> {
        let state = Mutex::new(found(&place, 0).await?);
        Ok(Self { place, state })
    }

    pub(super) async fn way(&self) -> Way {
        self.state.lock().await.way.clone()
    }

    /// Finds it anew, when it could not be reached by the way with this number; `false` when there is no other way.
    ///
    /// # Errors
    /// As [`Link::find`].
    pub(super) async fn renew(&self, number: u64) -> anyhow::Result<bool> {
        if matches!(self.place, Place::Address(_)) {
            return Ok(false);
        }
        let mut state = self.state.lock().await;
        if state.way.number == number {
            *state = found(&self.place, number + 1).await?;
        }
        Ok(true)
    }

    /// Ends the service in this process, when there is one.
    pub(super) async fn close(&self) {
        let own = self.state.lock().await.own.take();
        let Some(Own { stop, served }) = own else { return };
        stop.cancel();
        match served.await {
            Ok(Ok(())) => {}
            Ok(Err(problem)) => tracing::error!(%problem, "the service did not end well"),
            Err(problem) => tracing::error!(%problem, "the service did not end well"),
        }
    }
}

async fn found(place: &Place, number: u64) -> anyhow::Result<State> {
    match place {
        Place::Address(url) => {
            let client = outbound::own_service(url).map_err(|_| {
                anyhow::anyhow!("--url: expected https://…/mcp, or http on this machine, without user or fragment")
            })?;
            Ok(State { way: Way { client, url: url.clone(), number }, _socket: None, own: None })
        }
        Place::Folder(config, path) => in_folder(config, path, number).await,
    }
}

async fn in_folder(config: &Config, path: &str, number: u64) -> anyhow::Result<State> {
    let started = Instant::now();
    loop {
        let folder = &config.data_dir;
        if let Some((client, socket)) = served(folder).await {
            let way = Way { client, url: endpoint(path)?, number };
            return Ok(State { way, _socket: Some(socket), own: None });
        }
        match serve(config.clone()).await {
            Ok(own) => {
                let (client, socket) = at_socket(folder)?;
                let way = Way { client, url: endpoint(path)?, number };
                return Ok(State { way, _socket: Some(socket), own: Some(own) });
            }
            Err(problem) if !is_in_use(&problem) => return Err(problem),
            Err(problem) if started.elapsed() > PATIENCE => {
                return Err(problem.context("the process that has it does not answer at its socket"));
            }
            Err(_) => tokio::time::sleep(AGAIN).await,
        }
    }
}

/// A client for the service that answers at the socket of a folder, if one does.
pub(in crate::cli) async fn served(folder: &Path) -> Option<(Client, SocketPath)> {
    let (client, socket) = at_socket(folder).ok()?;
    let alive = client.get(format!("{BEHIND_SOCKET}/health/live")).timeout(ALIVE).send().await;
    alive.is_ok_and(|response| response.status().is_success()).then_some((client, socket))
}

pub(in crate::cli) fn is_in_use(problem: &anyhow::Error) -> bool {
    matches!(problem.downcast_ref(), Some(FolderError::InUse(_)))
}

fn at_socket(folder: &Path) -> anyhow::Result<(Client, SocketPath)> {
    let socket = SocketPath::of(folder).with_context(|| format!("{} cannot be opened", folder.display()))?;
    Ok((outbound::behind_socket(socket.path())?, socket))
}

fn endpoint(path: &str) -> anyhow::Result<Url> {
    Ok(Url::parse(&format!("{BEHIND_SOCKET}{path}"))?)
}

/// Serves the folder from this process, at its socket alone.
async fn serve(mut config: Config) -> anyhow::Result<Own> {
    config.admin_listen = None;
    let folder = config.data_dir.clone();
    let app = App::open(config, Clock::system()).await?;
    let listener = LocalListener::bind(&folder)
        .with_context(|| format!("there can be no socket in {}; choose a folder on a local disk", folder.display()))?;
    let stop = CancellationToken::new();
    let served = tokio::spawn(app.serve_locally(listener, stop.clone().cancelled_owned()));
    Ok(Own { stop, served })
}
