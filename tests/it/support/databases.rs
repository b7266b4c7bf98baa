//! Every test of metadata runs on both engines: SQLite in a folder of its own, and a database of its own in a private
//! PostgreSQL that is started once for the process from the installed binaries and goes when the process does.

use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, Command, Output, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use dragoman::base::secret::Secret;
use dragoman::store::Db;
use sqlx::{AssertSqlSafe, Connection as _};

/// Whom the service connects as: neither superuser nor BYPASSRLS.
const ROLE: &str = "dragoman";

/// Runs a test on SQLite and then on PostgreSQL, each fresh.
pub async fn both(test: impl AsyncFn(Db)) {
    let folder = tempfile::tempdir().unwrap();
    let db = Db::open_sqlite(&folder.path().join("metadata.db")).await.unwrap();
    eprintln!("on SQLite");
    test(db.clone()).await;
    db.close().await;

    let db = Db::open_postgres(&Secret::new(postgres_url().await)).await.unwrap();
    eprintln!("on PostgreSQL");
    test(db.clone()).await;
    db.close().await;
}

/// The address of a fresh, empty PostgreSQL database, for an ordinary role that owns it.
pub async fn postgres_url() -> String {
    static CLUSTER: OnceLock<Cluster> = OnceLock::new();
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let cluster = tokio::task::spawn_blocking(|| CLUSTER.get_or_init(Cluster::start)).await.unwrap();
    cluster.empty(&format!("test_{}", COUNT.fetch_add(1, Ordering::SeqCst))).await
}

/// The same database for the superuser, for whom no wall stands.
pub fn as_superuser(url: &str) -> String {
    url.replacen(&format!("//{ROLE}@"), "//postgres@", 1)
}

/// A running PostgreSQL, reachable through a socket in its folder, and by TCP when it has a port.
pub struct Cluster {
    pub folder: PathBuf,
    port: u16,
    /// What it is started with.
    options: String,
    /// The watcher reads from it, and cleans up when it closes: at the end of the process, whatever ends it.
    _lifeline: ChildStdin,
}

impl Cluster {
    /// Reachable through its socket alone.
    pub fn start() -> Self {
        Self::with(5432, "listen_addresses=", &[])
    }

    /// On a port of the loopback interface, where logins prove their passwords.
    pub fn on_tcp() -> Self {
        let port = super::program::free_port();
        Self::with(port, "listen_addresses=127.0.0.1", &[])
    }

    /// As [`Cluster::on_tcp`], with a certificate and its key in files; only over TLS.
    pub fn on_tls(certificate: &Path, key: &Path) -> Self {
        let port = super::program::free_port();
        Self::with(port, "listen_addresses=127.0.0.1", &[("ssl_cert_file", certificate), ("ssl_key_file", key)])
    }

    fn with(port: u16, listen: &str, tls: &[(&str, &Path)]) -> Self {
        let folder = tempfile::Builder::new().prefix("dragoman-pg-").tempdir().unwrap().keep();
        let as_root = folder.metadata().unwrap().uid() == 0;
        if as_root {
            // PostgreSQL refuses to run as root.
            check("chown", Command::new("chown").arg("postgres:postgres").arg(&folder).output());
        }
        let data = folder.join("data");
        let mut initdb = run("initdb");
        initdb.args([
            "--auth-local=trust",
            "--auth-host=scram-sha-256",
            "--username=postgres",
            "--encoding=UTF8",
            "--no-locale",
            "--no-sync",
            "-D",
        ]);
        check("initdb", initdb.arg(&data).current_dir("/").output());

        let lifeline = watcher(&folder, &run("pg_ctl"));
        // Nothing here outlives the process, so nothing needs to reach the disk.
        let mut options = format!(
            "-k {} -p {port} -c {listen} -c fsync=off -c synchronous_commit=off -c full_page_writes=off \
             -c max_connections=300 -c shared_buffers=64MB",
            folder.display()
        );
        for (setting, file) in tls {
            // PostgreSQL wants the key to be its own.
            let own = folder.join(setting);
            std::fs::copy(file, &own).unwrap();
            check("chmod", Command::new("chmod").arg("600").arg(&own).output());
            if as_root {
                check("chown", Command::new("chown").arg("postgres:postgres").arg(&own).output());
            }
            options += &format!(" -c ssl=on -c {setting}={}", own.display());
        }
        let cluster = Self { folder, port, options, _lifeline: lifeline };
        cluster.begin();
        let mut role = run("createuser");
        role.args(["--username=postgres", "--no-superuser", "--no-createdb", "--no-createrole"]);
        role.args(["-p", &port.to_string(), "-h"]);
        check("createuser", role.arg(&cluster.folder).arg(ROLE).current_dir("/").output());
        cluster
    }

    /// Starts it; also one that was ended.
    pub fn begin(&self) {
        let log = self.folder.join("log");
        let mut start = self.control();
        let status =
            start.arg("-l").arg(&log).args(["-w", "-t", "180", "-o", &self.options, "start"]).status().unwrap();
        let log = std::fs::read_to_string(log).unwrap_or_default();
        assert!(status.success(), "PostgreSQL did not start:\n{log}");
    }

    /// Ends every connection, and it.
    pub fn end(&self) {
        let status = self.control().args(["-m", "fast", "-w", "-t", "180", "stop"]).status().unwrap();
        assert!(status.success(), "PostgreSQL did not stop");
    }

    /// Its output goes to the log: a pipe would stay open in the server and never end.
    fn control(&self) -> Command {
        let mut control = run("pg_ctl");
        control.arg("-D").arg(self.folder.join("data")).current_dir("/").stdout(Stdio::null()).stderr(Stdio::null());
        control
    }

    /// The address of a fresh, empty database, for an ordinary role that owns it.
    pub async fn empty(&self, name: &str) -> String {
        sqlx::any::install_default_drivers();
        let mut connection = sqlx::AnyConnection::connect(&self.url_of("postgres", "postgres")).await.unwrap();
        // Names are made here: nothing foreign can be in one.
        let create = AssertSqlSafe(format!("CREATE DATABASE {name} OWNER {ROLE}"));
        sqlx::query(create).execute(&mut connection).await.unwrap();
        connection.close().await.unwrap();
        self.url_of(ROLE, name)
    }

    /// Through the socket, without a password.
    pub fn url_of(&self, role: &str, database: &str) -> String {
        format!("postgres://{role}@localhost:{}/{database}?host={}", self.port, self.folder.display())
    }

    /// By TCP.
    pub fn address(&self, role: &str, database: &str) -> String {
        format!("postgres://{role}@127.0.0.1:{}/{database}", self.port)
    }

    /// Ends every connection and starts anew, at the same place.
    pub fn restart(&self) {
        self.end();
        self.begin();
    }
}

/// One of PostgreSQL's programs, as somebody whom PostgreSQL lets run it.
fn run(program: &str) -> Command {
    let program = binaries().map_or_else(|| PathBuf::from(program), |bin| bin.join(program));
    if std::fs::metadata("/proc/self").unwrap().uid() != 0 {
        return Command::new(program);
    }
    let mut command = Command::new("setpriv");
    command.args(["--reuid=postgres", "--regid=postgres", "--clear-groups", "--"]).arg(program);
    command
}

/// A shell in a process group of its own that waits for the end of its input, then stops the server and removes its
/// folder. The kernel closes the pipe however the test process ends: by its end, a panic, or a signal.
fn watcher(folder: &Path, pg_ctl: &Command) -> ChildStdin {
    let script = r#"cat >/dev/null; folder=$1; shift
        "$@" -D "$folder/data" -m immediate -w stop; rm -rf "$folder""#;
    let mut command = Command::new("sh");
    command.args(["-c", script, "watcher"]).arg(folder).arg(pg_ctl.get_program()).args(pg_ctl.get_args());
    command.current_dir("/").process_group(0).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().unwrap().stdin.take().unwrap()
}

/// The folder of the newest installed version, where Debian's packages put it; `None` leaves it to the search path.
fn binaries() -> Option<PathBuf> {
    let versions = std::fs::read_dir("/usr/lib/postgresql").ok()?;
    let version = |path: &PathBuf| path.parent()?.file_name()?.to_str()?.parse::<u32>().ok();
    let folders = versions.filter_map(Result::ok).map(|entry| entry.path().join("bin"));
    folders.filter(|bin| bin.join("initdb").exists()).max_by_key(version)
}

fn check(what: &str, output: std::io::Result<Output>) {
    match output {
        Ok(output) if output.status.success() => {}
        Ok(output) => {
            panic!("{what} failed; install the package `postgresql`: {}", String::from_utf8_lossy(&output.stderr))
        }
        Err(problem) if problem.kind() == ErrorKind::NotFound => {
            panic!("{what} is missing: install the package `postgresql`")
        }
        Err(problem) => panic!("{what}: {problem}"),
    }
}
