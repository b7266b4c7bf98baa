//! The command line. Facts go to stdout (`--json` for programs), progress and problems to stderr.

#[macro_use]
mod lines;

pub mod admin;
mod demo;
mod doctor;
mod door;
mod import;
mod model;
mod ontology;
mod serve;
mod stdio;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use clap::{Parser, Subcommand};
use tokio::signal::unix::{SignalKind, signal};

use self::door::House;
use crate::app::Office;
use crate::base::clock::Clock;
use crate::base::telemetry;
use crate::config::Config;
use crate::store::Db;

/// Ask your own data from the AI client you already use.
#[derive(Debug, Parser)]
#[command(name = "dragoman", version, about, max_term_width = 100)]
pub struct Cli {
    /// Data folder (instead of DRAGOMAN_DATA_DIR)
    #[arg(long, global = true, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Print facts as JSON
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run the service
    Serve(serve::Serve),
    /// MCP over standard input and output, for AI clients that start their servers; the token comes from DRAGOMAN_TOKEN
    Stdio(stdio::Stdio),
    /// Import files into a workspace: tables (CSV, JSON, Parquet, XLSX, XLS, ODS) or documents (PDF, DOCX, PPTX, HTML, mails, …)
    Import(import::Import),
    /// Say what is wrong with an installation, and what to do
    Doctor(doctor::Doctor),
    /// Encoders that make vectors of texts
    #[command(subcommand)]
    Model(model::Model),
    /// Semantic models: drafted, checked, saved, asked
    #[command(subcommand)]
    Ontology(ontology::Ontology),
    /// Workspaces, people, roles, tokens, clients and keys
    #[command(subcommand)]
    Admin(Admin),
}

#[derive(Debug, Subcommand)]
enum Admin {
    #[command(flatten)]
    Office(admin::AdminCommand),
    /// Datasets of a workspace
    #[command(subcommand)]
    Dataset(admin::Dataset),
    /// Where the indexes of documents are kept
    #[command(subcommand)]
    Index(admin::Index),
}

impl Cli {
    /// Runs the command.
    ///
    /// # Errors
    /// What went wrong, and what to do.
    pub async fn run(self) -> anyhow::Result<()> {
        let listen = self.listen();
        if let Command::Doctor(doctor) = self.command {
            return doctor.run(self.data, self.json).await;
        }
        let mut config = settings(self.data, listen)?;
        config.trims = matches!(self.command, Command::Serve(_));
        match self.command {
            Command::Serve(serve) => {
                start_logging(&config, false)?;
                serve.run(config).await
            }
            Command::Stdio(stdio) => {
                start_logging(&config, true)?;
                stdio.run(config).await
            }
            Command::Import(import) => {
                start_logging(&config, true)?;
                let house = House::open(config).await?;
                let done = import.run(&house, self.json).await;
                house.close().await;
                done
            }
            Command::Model(command) => command.run(&config.data_dir, self.json).await,
            // It looks at settings that cannot be used, too.
            Command::Doctor(_) => Ok(()),
            Command::Ontology(command) if command.is_about_a_file() => command.run_on_file(self.json),
            Command::Ontology(command) => {
                start_logging(&config, true)?;
                let house = House::open(config).await?;
                let done = command.run(&house, self.json).await;
                house.close().await;
                done
            }
            Command::Admin(Admin::Dataset(command)) => {
                start_logging(&config, true)?;
                let house = House::open(config).await?;
                let done = command.run(&house, self.json).await;
                house.close().await;
                done
            }
            Command::Admin(Admin::Index(command)) => {
                start_logging(&config, true)?;
                let house = House::open(config).await?;
                let done = command.run(&house, self.json).await;
                house.close().await;
                done
            }
            Command::Admin(Admin::Office(mut command)) => {
                config.admin_listen = None;
                start_logging(&config, true)?;
                let makes_folder = command.begins_an_installation() && !has_data(&config);
                if !makes_folder {
                    find_data(&config)?;
                }
                let mut sound = Ok(());
                if let admin::AdminCommand::Repair { indexes, .. } = &mut command {
                    let mended = admin::Indexes::mend(config.clone()).await?;
                    sound = mended.are_sound();
                    *indexes = Some(mended);
                }
                let office = Office::open(config, Clock::system()).await?;
                if let admin::AdminCommand::Repair { data, .. } = &mut command {
                    let compared = admin::Data::compare(&office).await?;
                    sound = sound.and(compared.is_here());
                    *data = Some(compared);
                }
                if makes_folder {
                    let folder = shown(&office.config.data_dir);
                    remark!("made a new data folder: {folder} (name another with --data or DRAGOMAN_DATA_DIR)");
                }
                let done = admin::run(command, &office, self.json).await;
                office.close().await;
                done.and(sound)
            }
        }
    }

    fn listen(&self) -> Option<SocketAddr> {
        match &self.command {
            Command::Serve(serve) => serve.listen,
            Command::Stdio(_)
            | Command::Import(_)
            | Command::Doctor(_)
            | Command::Model(_)
            | Command::Ontology(_)
            | Command::Admin(_) => None,
        }
    }
}

/// The environment's settings, with the two that the command line may stand for.
fn settings(data: Option<PathBuf>, listen: Option<SocketAddr>) -> anyhow::Result<Config> {
    Ok(Config::from_env(|name| match name {
        "DRAGOMAN_DATA_DIR" => data.as_ref().map(|folder| folder.display().to_string()),
        "DRAGOMAN_LISTEN" => listen.map(|address| address.to_string()),
        _ => None,
    })?)
}

/// Whether there is an installation in the data folder. What has its metadata elsewhere has it there.
fn has_data(config: &Config) -> bool {
    config.database_url.is_some() || Db::file(&config.data_dir).exists()
}

/// That a command finds what it works on: made anew at the wrong place it would be empty, and nobody would know.
///
/// # Errors
/// A sentence that says where it was looked for, and how another place is named.
fn find_data(config: &Config) -> anyhow::Result<()> {
    anyhow::ensure!(
        has_data(config),
        "there are no data of a service in {}. Name its data folder with --data DIR, or with DRAGOMAN_DATA_DIR as where the \
         service is started; `dragoman serve` and `dragoman admin workspace create` make a new one.",
        shown(&config.data_dir)
    );
    Ok(())
}

/// A folder by its whole name, which says more than `./data`.
fn shown(folder: &Path) -> String {
    std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned()).display().to_string()
}

/// Commands that end are quiet; `serve` says what it does.
fn start_logging(config: &Config, quiet: bool) -> anyhow::Result<()> {
    let filter = if quiet { "warn,qdrant_edge=error" } else { &config.log };
    telemetry::start_logging(filter, config.log_format).map_err(|problem| anyhow::anyhow!("DRAGOMAN_LOG: {problem}"))
}

/// Ready at Ctrl-C or SIGTERM.
fn stop_signal() -> anyhow::Result<impl Future<Output = ()> + Send + 'static> {
    let (mut interrupt, mut terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    })
}
