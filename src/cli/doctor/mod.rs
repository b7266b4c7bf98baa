//! `dragoman doctor`: looks at an installation from its settings to the answer of a query, says what is wrong and what to
//! do, and changes nothing. `--bundle FILE` writes what somebody who helps needs to know, without secrets.

mod bundle;
mod checks;
mod reach;

use std::path::PathBuf;

use clap::Args;
use serde_json::{Value, json};

use super::settings;
use super::stdio::link::{BEHIND_SOCKET, served};
use crate::config::Config;
use crate::surface::operator::FACTS;

/// Arguments of `doctor`.
#[derive(Debug, Args)]
pub(super) struct Doctor {
    /// Write what somebody who helps needs to know to a new file: findings, settings without secrets, versions, metrics,
    /// the last lines of the log and the last failures
    #[arg(long, value_name = "FILE")]
    bundle: Option<PathBuf>,
}

/// The check after which the metadata can be opened without changing them.
const SEALED: &str = "sealed keys";

/// How something stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Good,
    /// It works, and somebody should know.
    Note,
    /// It was not looked at, because something before it is wrong.
    Skipped,
    Wrong,
}

impl State {
    fn name(self) -> &'static str {
        match self {
            State::Good => "good",
            State::Note => "note",
            State::Skipped => "skipped",
            State::Wrong => "wrong",
        }
    }
}

/// What was found of one thing.
#[derive(Debug)]
struct Finding {
    what: &'static str,
    state: State,
    says: String,
    /// What to do; empty where there is nothing.
    mend: String,
}

impl Finding {
    fn good(what: &'static str, says: impl Into<String>) -> Self {
        Self { what, state: State::Good, says: says.into(), mend: String::new() }
    }

    fn note(what: &'static str, says: impl Into<String>, mend: impl Into<String>) -> Self {
        Self { what, state: State::Note, says: says.into(), mend: mend.into() }
    }

    fn skipped(what: &'static str, says: impl Into<String>) -> Self {
        Self { what, state: State::Skipped, says: says.into(), mend: String::new() }
    }

    fn wrong(what: &'static str, says: impl Into<String>, mend: impl Into<String>) -> Self {
        Self { what, state: State::Wrong, says: says.into(), mend: mend.into() }
    }

    fn facts(&self) -> Value {
        json!({ "what": self.what, "state": self.state.name(), "says": self.says, "mend": self.mend })
    }
}

impl Doctor {
    /// Looks at everything, prints it, and writes the bundle.
    ///
    /// # Errors
    /// Something is wrong with the installation, or the bundle cannot be written.
    pub(super) async fn run(self, data: Option<PathBuf>, json: bool) -> anyhow::Result<()> {
        let shown = Config::shown(|name| (name == "DRAGOMAN_DATA_DIR").then(|| folder_text(data.as_ref())).flatten());
        let (findings, config, service) = match settings(data, None) {
            Ok(config) => {
                let service = running(&config).await;
                (checks::all(&config, service.as_ref()).await, Some(config), service)
            }
            Err(problem) => (vec![unusable(&problem)], None, None),
        };
        let wrong = findings.iter().filter(|finding| finding.state == State::Wrong).count();
        if json {
            let facts: Vec<Value> = findings.iter().map(Finding::facts).collect();
            say!("{:#}", json!({ "well": wrong == 0, "findings": facts }));
        } else {
            findings.iter().for_each(print);
        }
        if let Some(file) = &self.bundle {
            bundle::write(file, &findings, &shown, config.as_ref(), &service.unwrap_or_default()).await?;
            remark!("Written to {}. Look at it before you pass it on.", file.display());
        }
        anyhow::ensure!(wrong == 0, "{wrong} of {} checks found something to mend", findings.len());
        Ok(())
    }
}

fn folder_text(data: Option<&PathBuf>) -> Option<String> {
    data.map(|folder| folder.display().to_string())
}

/// What the service that has the data folder says of itself: version, addresses, metrics, the last lines of its log;
/// `None` when none runs.
async fn running(config: &Config) -> Option<Value> {
    let (client, _socket) = served(&config.data_dir).await?;
    Some(match client.get(format!("{BEHIND_SOCKET}{FACTS}")).send().await {
        Ok(response) => response.json().await.unwrap_or_default(),
        Err(problem) => problem.without_url().to_string().into(),
    })
}

/// Without settings there is nothing else to look at.
fn unusable(problem: &anyhow::Error) -> Finding {
    Finding::wrong("settings", problem.to_string(), "Set these variables as it is said; .env.example lists all.")
}

fn print(finding: &Finding) {
    let sign = match finding.state {
        State::Good => "ok   ",
        State::Note => "note ",
        State::Skipped => "-    ",
        State::Wrong => "WRONG",
    };
    say!("{sign}  {}: {}", finding.what, finding.says);
    if !finding.mend.is_empty() {
        say!("       {}", finding.mend);
    }
}
