//! The built program with its demo, as an operator starts it.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};

use crate::site::{Browser, location};

/// The running program.
pub struct Program {
    child: Child,
    pub base: String,
    /// Of demo@example.com.
    pub password: String,
    /// How long it took to be up.
    pub up: Duration,
}

impl Program {
    pub async fn start(data: &Path, port: u16) -> Self {
        Self::with(data, port, &[]).await
    }

    /// With settings of one's own.
    pub async fn with(data: &Path, port: u16, settings: &[(String, String)]) -> Self {
        let started = Instant::now();
        let mut child = command(data)
            .envs(settings.iter().map(|(name, value)| (name, value)))
            .args(["serve", "--demo", "--listen", &format!("127.0.0.1:{port}")])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let first = lines.next_line().await.unwrap().expect("the program ended before it was up");
        let up = started.elapsed();
        assert!(first.contains("is up on"), "{first}");
        let mut password = String::new();
        while password.is_empty() {
            let line = lines.next_line().await.unwrap().unwrap();
            if let Some((_, word)) = line.split_once("with the password:") {
                password = word.trim().to_owned();
            }
        }
        tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
        Self { child, base: format!("http://127.0.0.1:{port}"), password, up }
    }

    /// Bytes of its memory that are in use.
    pub fn resident(&self) -> usize {
        self.status("VmRSS:") * 1024
    }

    /// The most that it ever had.
    pub fn peak(&self) -> usize {
        self.status("VmHWM:") * 1024
    }

    pub fn threads(&self) -> usize {
        self.status("Threads:")
    }

    fn status(&self, of: &str) -> usize {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id().unwrap())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix(of)).unwrap();
        line.split_whitespace().next().unwrap().parse().unwrap()
    }

    pub fn mcp(&self) -> String {
        format!("{}/mcp", self.base)
    }

    /// A person at a browser: logs in, and approves what the consent page shows. Returns that page, and where the browser
    /// is sent in the end.
    pub async fn person(&self, address: &str) -> (String, String) {
        let browser = Browser { base: self.base.clone(), http: crate::site::client(true) };
        let authorize = address.strip_prefix(&self.base).unwrap();
        let to_login = format!("{}{}", self.base, location(&browser.get(authorize).await));
        let return_to = crate::site::param(&to_login, "return_to").unwrap();
        let mut at = location(&browser.log_in("demo@example.com", &self.password, &return_to).await);
        let page = loop {
            let response = browser.get(&at).await;
            match response.status().as_u16() {
                303 => at = location(&response),
                200 => break response.text().await.unwrap(),
                status => panic!("{status}: {}", response.text().await.unwrap()),
            }
        };
        // What is ticked stays so.
        let ticked = ["data_agent:read", "data_agent:write", "ontologies:read"].map(|scope| ("scope", scope));
        let answer = browser.answer(&page, "approve", &ticked).await;
        (page, crate::site::refresh(&answer))
    }

    /// Ends it as a lack of memory does.
    pub async fn kill(mut self) {
        self.child.kill().await.unwrap();
    }

    /// Ends it as Ctrl-C does.
    pub async fn stop(mut self) {
        let pid = nix::unistd::Pid::from_raw(self.child.id().unwrap().try_into().unwrap());
        nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGINT).unwrap();
        let status = tokio::time::timeout(Duration::from_secs(90), self.child.wait()).await;
        assert!(status.expect("it stops within its time").unwrap().success());
    }
}

pub fn command(data: &Path) -> Command {
    command_of(env!("CARGO_BIN_EXE_dragoman").as_ref(), data)
}

/// Of the program that is at another path.
pub fn command_of(program: &Path, data: &Path) -> Command {
    let mut command = Command::new(program);
    command.arg("--data").arg(data).env("DRAGOMAN_ADMIN_LISTEN", "off").kill_on_drop(true);
    for name in [
        "DRAGOMAN_EXT_RATE_TOKEN",
        "DRAGOMAN_CLIENT_RATE_CALLS",
        "DRAGOMAN_EXT_RATE_WORKSPACE",
        "DRAGOMAN_RATE_MANAGE",
        "DRAGOMAN_RATE_AUTHORIZE",
        "DRAGOMAN_RATE_TOKEN",
    ] {
        command.env(name, "10000");
    }
    command
}

/// A port for a program that will listen on it later. The system hands out ports from 32768 by itself: one of those could
/// be another's by then.
pub fn free_port() -> u16 {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    loop {
        // Each process begins at another one.
        let number = std::process::id().wrapping_mul(97).wrapping_add(NEXT.fetch_add(1, Ordering::Relaxed));
        let port = u16::try_from(20_000 + number % 12_000).unwrap();
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
}

pub fn clients() -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/clients");
    assert!(folder.join("node_modules").exists(), "run `npm ci --ignore-scripts` in tests/clients (tests/run does)");
    folder
}
