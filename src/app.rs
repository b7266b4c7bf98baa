//! The composition root: opens the data folder, builds every part once, serves, and stops in order.

use std::future::Future;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use metrics_exporter_prometheus::PrometheusHandle;
use rmcp::ServerHandler;
use sqlx::migrate::MigrateError;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::base::clock::Clock;
use crate::base::cursor::Cursors;
use crate::base::id::Id;
use crate::base::local::LocalListener;
use crate::base::secret::MasterKey;
use crate::base::telemetry;
use crate::config::Config;
use crate::engine::Engines;
use crate::engine::compare::{Compared, compare};
use crate::engine::files::Files;
use crate::engine::sql::remote::sources::Sources;
use crate::gateway::Gateway;
use crate::gateway::audit::{AuditLog, AuditWriter};
use crate::gateway::operation::Parts;
use crate::gateway::record::Record;
use crate::identity::Identity;
use crate::model::audit::{Entry, clip};
use crate::model::error::Error;
use crate::store::inspect::{self, Standing};
use crate::store::{self, Db, FolderError, FolderLock, OpenError};
use crate::surface::crowd::Crowd;
use crate::surface::mcp::{Library, Mcp};
use crate::surface::web::Web;
use crate::surface::{listen, routes};

/// How long open requests may go on after the signal to stop, and then each work in the background.
const DRAIN: Duration = Duration::from_secs(10);
/// How often it is looked for sessions that have to end.
const SWEEP: Duration = Duration::from_secs(15);
/// This program, as the system has it while it runs: also after an upgrade has put another file under its name.
const THIS_PROGRAM: &str = "/proc/self/exe";

/// What every command needs: the metadata, the keys, and the record. Several processes may have one at a time, so that
/// an operator can make and revoke tokens while the service runs.
pub struct Office {
    pub config: Arc<Config>,
    pub clock: Clock,
    pub db: Db,
    pub identity: Identity,
    pub audit: AuditLog,
    master: MasterKey,
    audit_writer: AuditWriter,
}

/// Every part of the service, ready; the only process that has the data folder.
pub struct App {
    pub office: Office,
    pub gateway: Arc<Gateway>,
    _folder: FolderLock,
}

impl Office {
    /// For a command: opens the metadata and the keys; on an empty folder it makes them. Where tables are to be made or
    /// changed for it, it takes the data folder meanwhile: a process that works on them must not find them changed. Of
    /// those with other folders PostgreSQL tells ([`OpenError::InUse`]).
    ///
    /// # Errors
    /// A sentence that says what to do.
    pub async fn open(config: Config, clock: Clock) -> anyhow::Result<Self> {
        let found = standing(&config).await;
        if matches!(&found, Ok(Some(standing)) if standing.missing.is_empty()) {
            return Self::begin(config, clock).await;
        }
        let _folder = match FolderLock::take(&config.data_dir) {
            Ok(folder) => folder,
            Err(FolderError::InUse(folder)) => {
                found.context("the metadata cannot be read")?;
                anyhow::bail!(
                    "this program needs newer tables than the metadata have, and another process is using the data \
                     folder {folder}: a service of an older version, or one that is just starting. Restart the service \
                     with this program, which brings them up to date (back up before), or run the command with the \
                     older one."
                );
            }
            Err(problem @ (FolderError::NotOurs(..) | FolderError::Io(..))) => return Err(problem.into()),
        };
        Self::begin(config, clock).await
    }

    /// For who has the folder, or changes no tables: opens the metadata and the keys, and brings the tables up to date.
    async fn begin(config: Config, clock: Clock) -> anyhow::Result<Self> {
        // TLS without a chosen provider would panic at its first use.
        let _already_chosen = rustls::crypto::aws_lc_rs::default_provider().install_default();
        let config = Arc::new(config);
        store::private_folder(&config.data_dir)?;
        let master = master_key(&config)?;
        let db = match &config.database_url {
            Some(url) => Db::open_postgres(url).await.map_err(|problem| match problem {
                OpenError::Database(cause) => explained(cause).context("PostgreSQL at DATABASE_URL cannot be used"),
                used @ OpenError::InUse(_) => used.into(),
            })?,
            None => Db::open_sqlite(&Db::file(&config.data_dir)).await.map_err(explained)?,
        };
        belong_together(&config, &db).await?;
        let identity = Identity::open(db.clone(), config.clone(), master.clone(), clock.clone()).await?;
        let (audit, audit_writer) = AuditLog::start(db.clone(), clock.clone(), identity.uses());
        Ok(Self { config, clock, db, identity, audit, master, audit_writer })
    }

    /// A key for one purpose, derived from the installation's own.
    pub fn secret_for(&self, purpose: &str) -> Vec<u8> {
        self.master.derive(purpose)
    }

    /// The remote engines of the workspaces.
    pub fn sources(&self) -> Sources {
        Sources::new(&self.config, self.db.clone(), self.clock.clone(), self.master.clone())
    }

    /// Whether the data folder has the versions that the metadata name.
    ///
    /// # Errors
    /// The data folder or the metadata cannot be read.
    pub async fn compare(&self) -> anyhow::Result<Compared> {
        Ok(compare(&self.db, &Files::new(&self.config.data_dir)?).await?)
    }

    /// Records what the operator did at the command line.
    ///
    /// # Errors
    /// The row could not be written.
    pub async fn record_administration(&self, action: &str, target: &str, worked: bool) -> Result<(), Error> {
        struct Command;
        let entry = Entry {
            at: self.clock.now(),
            org: None,
            principal: "local".into(),
            client: "dragoman".into(),
            client_version: env!("CARGO_PKG_VERSION").into(),
            session: String::new(),
            ip: String::new(),
            request_id: Id::<Command>::new(&self.clock).to_string(),
            action: action.into(),
            target: clip(target),
            outcome: if worked { "ok" } else { "failed" }.into(),
            duration_ms: 0,
            rows: 0,
            bytes: 0,
            count: 1,
        };
        self.audit.record(entry).await
    }

    /// Stops what calls are under way, sends what mails are, writes out what is queued for the record, and closes the
    /// metadata.
    pub async fn close(self) {
        self.audit.end().await;
        self.identity.mailer().finish().await;
        self.audit_writer.finish().await;
        self.db.close().await;
    }
}

impl App {
    /// Takes the data folder (or refuses, when another process has it) and builds every part.
    ///
    /// # Errors
    /// A sentence that says what to do.
    pub async fn open(config: Config, clock: Clock) -> anyhow::Result<Self> {
        Self::open_with_worker(config, clock, THIS_PROGRAM.into()).await
    }

    /// As [`App::open`], with another executable for SQL workers: tests run from a program of their own.
    ///
    /// # Errors
    /// As [`App::open`].
    pub async fn open_with_worker(config: Config, clock: Clock, worker: PathBuf) -> anyhow::Result<Self> {
        let folder = FolderLock::take(&config.data_dir)?;
        let office = Office::begin(config, clock).await?;
        let (sources, master) = (office.sources(), office.master.clone());
        let engines = Engines::new(&office.config, &office.db, &office.clock, worker, sources, master)?;
        engines.search.begin_work().await;
        engines.datasets.sweep().await?;
        let cursors = Cursors::new(office.secret_for("cursors"));
        let (identity, record) = (office.identity.clone(), Record::new(office.db.clone()));
        let parts = Parts { engines, config: office.config.clone(), cursors, identity, record };
        let gateway = Gateway::new(parts, office.db.clone(), office.clock.clone(), office.audit.clone());
        Ok(Self { office, gateway: Arc::new(gateway), _folder: folder })
    }

    /// Serves until `stop` is ready: first no new connections, then open streams end, then requests in flight have
    /// their time, then what still runs is told to stop, the audit log is written out and the databases close.
    ///
    /// # Errors
    /// An address cannot be listened on.
    pub async fn serve(
        self,
        listener: TcpListener,
        stop: impl Future<Output = ()> + Send + 'static,
    ) -> anyhow::Result<()> {
        self.serve_mcp(listener, stop, Mcp::service).await
    }

    /// As [`App::serve`], at the socket of the data folder alone: for the programs of its owner, on this machine.
    ///
    /// # Errors
    /// As [`App::serve`].
    pub async fn serve_locally(
        self,
        listener: LocalListener,
        stop: impl Future<Output = ()> + Send + 'static,
    ) -> anyhow::Result<()> {
        self.serve_at((None, Some(listener)), stop, Mcp::service).await
    }

    /// As [`App::serve`], with a chosen MCP server behind everything that stands before the product's own.
    ///
    /// # Errors
    /// As [`App::serve`].
    pub async fn serve_mcp<H: ServerHandler>(
        self,
        listener: TcpListener,
        stop: impl Future<Output = ()> + Send + 'static,
        library: impl FnOnce(&Mcp) -> Library<H>,
    ) -> anyhow::Result<()> {
        let local = LocalListener::bind(&self.office.config.data_dir);
        let local = local.inspect_err(|problem| {
            tracing::warn!(%problem, "no socket in the data folder: commands that need the data wait until the service stops");
        });
        self.serve_at((Some(listener), local.ok()), stop, library).await
    }

    async fn serve_at<H: ServerHandler>(
        self,
        (outside, local): (Option<TcpListener>, Option<LocalListener>),
        stop: impl Future<Output = ()> + Send + 'static,
        library: impl FnOnce(&Mcp) -> Library<H>,
    ) -> anyhow::Result<()> {
        let stopping = CancellationToken::new();
        let mcp =
            Mcp::new(self.gateway.clone(), self.office.config.clone(), self.office.clock.clone(), stopping.clone());
        mcp.take_over().await;
        let office = &self.office;
        let files = Files::new(&office.config.data_dir)?;
        let form_key = office.secret_for("forms");
        let web = Web::new(office.identity.clone(), office.config.clone(), office.audit.clone(), form_key);
        let listen = outside.as_ref().and_then(|listener| listener.local_addr().ok());
        let doors = routes::doors(&web, self.gateway.clone(), office.audit.clone(), mcp.clone(), library(&mcp), listen);
        let metrics = telemetry::start_metrics();
        let admin = self.admin(metrics.clone(), stopping.clone()).await?;
        let measurer = tokio::spawn(telemetry::keep_metrics(metrics, stopping.clone()));
        let sweeper = tokio::spawn(sweep(mcp.clone(), self.gateway.clone(), stopping.clone()));
        let (gateway, until) = (self.gateway.clone(), stopping.clone());
        let renewer = tokio::spawn(async move { gateway.keep_renewing(until).await });
        let (gateway, until) = (self.gateway.clone(), stopping.clone());
        let syncer = tokio::spawn(async move { gateway.keep_syncing(until).await });
        let keeper = tokio::spawn(self.office.identity.clone().keep_keys(stopping.clone()));
        let cleaner = tokio::spawn(self.office.identity.clone().keep_sweeping(stopping.clone()));
        // A file for each version: nobody waits for that. Whoever serves the socket alone is a command.
        if outside.is_some() {
            let look = say_what_is_missing(office.db.clone(), files);
            tokio::spawn(stopping.clone().run_until_cancelled_owned(look));
        }

        let signal = stopping.clone();
        let signalled = tokio::spawn(async move {
            stop.await;
            tracing::info!("stopping");
            signal.cancel();
        });
        let (at_address, at_socket) = (stopping.cancelled(), stopping.cancelled());
        let crowd = Crowd::of(&office.config);
        let outside = async {
            if let Some(listener) = outside {
                listen::serve(listener, doors.outside, listen::HEADER_TIMES, crowd, at_address).await;
            }
        };
        let local = async {
            if let Some(listener) = local {
                listen::serve_local(listener, doors.local, at_socket).await;
            }
        };
        let drained = stopping.clone();
        tokio::select! {
            _both = async { tokio::join!(outside, local) } => {}
            () = async { drained.cancelled().await; tokio::time::sleep(DRAIN).await } => {
                tracing::warn!("requests were still running after {} s", DRAIN.as_secs());
            }
        }
        signalled.abort();
        stopping.cancel();
        for (work, task) in [("sweeper", sweeper), ("renewer", renewer), ("syncer", syncer)] {
            ended(work, task).await;
        }
        mcp.finish().await;
        for (work, task) in [("keys", keeper), ("cleaner", cleaner), ("metrics", measurer)] {
            ended(work, task).await;
        }
        if let Some(admin) = admin {
            ended("admin", admin).await;
        }
        self.close().await;
        Ok(())
    }

    /// Ends without serving.
    pub async fn close(self) {
        self.office.close().await;
    }

    async fn admin(
        &self,
        metrics: PrometheusHandle,
        stop: CancellationToken,
    ) -> anyhow::Result<Option<tokio::task::JoinHandle<()>>> {
        let Some(address) = self.office.config.admin_listen else { return Ok(None) };
        let listener = TcpListener::bind(address).await.with_context(|| {
            format!("cannot listen on {address} for metrics; set DRAGOMAN_ADMIN_LISTEN to another address, or to 'off'")
        })?;
        let router = routes::metrics(metrics, address.ip().is_loopback());
        let crowd = Crowd::of_operators();
        let served = listen::serve(listener, router, listen::HEADER_TIMES, crowd, stop.cancelled_owned());
        Ok(Some(tokio::spawn(served)))
    }
}

/// Waits for work in the background, which was told to stop. One that panicked, or does not come to its end, does not keep
/// the rest from a proper one.
async fn ended(work: &str, mut task: tokio::task::JoinHandle<()>) {
    match tokio::time::timeout(DRAIN, &mut task).await {
        Ok(Ok(())) => {}
        Ok(Err(problem)) => tracing::error!(work, %problem, "work in the background had failed"),
        Err(_late) => {
            tracing::warn!(work, "work in the background was still running after {} s", DRAIN.as_secs());
            task.abort();
        }
    }
}

async fn sweep(mcp: Arc<Mcp>, gateway: Arc<Gateway>, stop: CancellationToken) {
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            () = tokio::time::sleep(SWEEP) => mcp.sweep().await,
        }
        if let Err(error) = gateway.sweep_uploads().await {
            tracing::warn!(%error, "uploads that are over could not be removed");
        }
    }
}

/// How the metadata stand; `None` where there are none yet.
///
/// # Errors
/// They cannot be read.
pub(crate) async fn standing(config: &Config) -> sqlx::Result<Option<Standing>> {
    let file = Db::file(&config.data_dir);
    match &config.database_url {
        Some(url) => inspect::postgres(url).await.map(Some),
        None if file.exists() => inspect::sqlite(&file).await.map(Some),
        None => Ok(None),
    }
}

/// Why the metadata could not be opened.
fn explained(problem: sqlx::Error) -> anyhow::Error {
    if let sqlx::Error::Migrate(cause) = &problem
        && let MigrateError::VersionMissing(version) = **cause
    {
        return anyhow::anyhow!(
            "the database was used by a newer program, whose migration {version} this one does not know. Run the newer \
             version of dragoman, or restore the backup from before."
        );
    }
    problem.into()
}

/// Nobody learns from a start that works that tables are gone: the first who asks for one would.
async fn say_what_is_missing(db: Db, files: Files) {
    let found = match compare(&db, &files).await {
        Ok(found) => found,
        Err(problem) => {
            tracing::warn!(%problem, "whether the data folder has what the metadata name could not be found out");
            return;
        }
    };
    let Some(first) = found.first() else { return };
    let (tables, indexes, of) = (found.tables.len(), found.indexes.len(), found.versions);
    tracing::warn!(
        tables,
        indexes,
        of,
        first,
        "not all versions that the metadata name are in the data folder as they were made: they are on another node, or \
         were lost. `dragoman doctor` says what to do"
    );
}

/// That the data folder is that of the metadata. Of others all that is in it would be what nobody keeps.
///
/// # Errors
/// It has data of workspaces, and the metadata know none of them, nor have they ever.
async fn belong_together(config: &Config, db: &Db) -> anyhow::Result<()> {
    let here = Files::new(&config.data_dir)?.orgs()?;
    let mut is_ours = here.is_empty();
    for org in here {
        is_ours =
            is_ours || store::audit::has_known(db, org).await? || store::orgs::by_id(db.pool(), org).await?.is_some();
    }
    anyhow::ensure!(
        is_ours,
        "the data in {} are not of the workspaces in {}: these are not the metadata of this folder, and nothing was \
         touched. Set DATABASE_URL as it is where the service is started (or leave it out, if it is not set there), or name \
         another folder with --data DIR. After a restore, see that the metadata were restored too.",
        config.data_dir.display(),
        if config.database_url.is_some() { "the database at DATABASE_URL" } else { "its metadata.sqlite" }
    );
    Ok(())
}

/// From the settings, or from a file in the data folder that only its owner reads; made at the first start.
fn master_key(config: &Config) -> anyhow::Result<MasterKey> {
    if let Some(key) = &config.master_key {
        return MasterKey::from_hex(key.expose()).context("DRAGOMAN_MASTER_KEY is not 64 hex digits");
    }
    let file = config.data_dir.join("master.key");
    match std::fs::read_to_string(&file) {
        Ok(text) => MasterKey::from_hex(&text).with_context(|| format!("{} is damaged", file.display())),
        Err(problem) if problem.kind() == std::io::ErrorKind::NotFound => {
            let key = MasterKey::generate();
            write_private(&file, key.to_hex().expose())?;
            Ok(key)
        }
        Err(problem) => Err(problem).with_context(|| format!("{} cannot be read", file.display())),
    }
}

fn write_private(file: &std::path::Path, text: &str) -> anyhow::Result<()> {
    use std::io::Write as _;
    use std::os::unix::fs::OpenOptionsExt as _;
    let mut file = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(file)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    Ok(())
}
