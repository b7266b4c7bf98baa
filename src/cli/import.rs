//! `dragoman import FILE… --workspace W [--publish]`: each table file becomes a dataset, the text files together one.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context as _;
use clap::Args;
use serde_json::Value;

use crate::app::App;
use crate::base::id::Id;
use crate::engine::ingest::{FileKind, kind_of};
use crate::engine::job::Progress;
use crate::gateway::Via;
use crate::model::access::{Rights, Role};
use crate::model::caller::{Caller, Client, Proof};
use crate::model::org::Org;
use crate::ops;

/// Arguments of `import`.
#[derive(Debug, Args)]
pub(super) struct Import {
    /// .csv .tsv .json .jsonl .ndjson .parquet, or .txt .md
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The workspace's short name
    #[arg(long, value_name = "W")]
    workspace: String,
    /// The dataset's name, for one table file or for the text files; otherwise made from the file's name
    #[arg(long)]
    name: Option<String>,
    /// What the data are, for people and models
    #[arg(long, default_value = "")]
    description: String,
    /// Let external clients see it
    #[arg(long)]
    publish: bool,
}

impl Import {
    pub(super) async fn run(self, app: &App, json: bool) -> anyhow::Result<()> {
        let org = app.office.identity.org_by_slug(&self.workspace).await?;
        let org = org.with_context(|| format!("there is no workspace {:?}", self.workspace))?;
        if let (Some(given), Some(name)) = (&self.name, self.lower_name())
            && *given != name
        {
            eprintln!("named {name}: names of datasets are in lower case");
        }
        for (name, files) in self.datasets()? {
            let import = Dataset { name, description: self.description.clone(), publish: self.publish, files };
            let reply = import.load(app, &org, !json).await?;
            if json {
                println!("{reply}");
            } else {
                let value = |key: &str| reply.get(key).unwrap_or(&Value::Null);
                let text = |key: &str| value(key).as_str().unwrap_or_default();
                let state = if self.publish { "published" } else { "not published: external clients do not see it" };
                println!(
                    "{} ({}, {} rows, {} bytes), {state}",
                    text("name"),
                    text("type"),
                    value("row_count"),
                    value("bytes")
                );
            }
        }
        Ok(())
    }

    /// The name as datasets have them: SQL knows no capitals either.
    fn lower_name(&self) -> Option<String> {
        self.name.as_ref().map(|name| name.to_ascii_lowercase())
    }

    /// Files grouped into datasets: a table file each, the texts together.
    fn datasets(&self) -> anyhow::Result<Vec<(Option<String>, Vec<PathBuf>)>> {
        let mut datasets = Vec::new();
        let mut texts = Vec::new();
        for path in &self.files {
            match kind_of(&path.display().to_string())? {
                FileKind::Table(_) => datasets.push((self.lower_name(), vec![path.clone()])),
                FileKind::Text => texts.push(path.clone()),
            }
        }
        anyhow::ensure!(
            self.name.is_none() || datasets.len() + usize::from(!texts.is_empty()) == 1,
            "--name names one dataset, but these files make several"
        );
        if !texts.is_empty() {
            datasets.push((self.lower_name().or_else(|| Some("documents".into())), texts));
        }
        Ok(datasets)
    }
}

/// One dataset to load from files of this machine.
pub(super) struct Dataset {
    pub name: Option<String>,
    pub description: String,
    pub publish: bool,
    pub files: Vec<PathBuf>,
}

impl Dataset {
    /// Loads it through the gateway, as the operator at the command line; progress on stderr when `loud`.
    ///
    /// # Errors
    /// The operation's own, as a sentence with its particulars.
    pub(super) async fn load(self, app: &App, org: &Org, loud: bool) -> anyhow::Result<Value> {
        let mut staged = Vec::new();
        for path in &self.files {
            let name = path.file_name().and_then(|name| name.to_str()).context("a file name is not UTF-8")?;
            let path = path.canonicalize().with_context(|| format!("{} cannot be read", path.display()))?;
            staged.push(ops::import::Staged { name: name.to_owned(), path });
        }
        let label =
            self.name.clone().unwrap_or_else(|| staged.first().map(|file| file.name.clone()).unwrap_or_default());
        let op = ops::import::Import {
            name: self.name,
            description: self.description,
            publish: self.publish,
            if_exists: ops::import::IfExists::Replace,
            files: staged,
        };
        let mut via = Via::new("admin.call");
        if loud {
            via.on_progress = Some(Arc::new(move |progress: Progress| match progress.fraction {
                Some(fraction) => eprintln!("  {label}: {} ({:.0} %)", progress.message, fraction * 100.0),
                None => eprintln!("  {label}: {}", progress.message),
            }));
        }
        let reply = app.gateway.call(&operator(app, org), op, via).await;
        let reply = reply.map_err(|error| match error.details.as_object().filter(|details| !details.is_empty()) {
            Some(_) => anyhow::anyhow!("{error} {}", error.details),
            None => anyhow::anyhow!("{error}"),
        })?;
        Ok(serde_json::to_value(reply)?)
    }
}

/// The operator of this machine, who may do everything in a workspace but is no member of it.
pub(super) fn operator(app: &App, org: &Org) -> Caller {
    struct Request;
    Caller {
        org: org.id,
        user: None,
        role: Role::Admin,
        rights: Rights::of_role(Role::Admin),
        proof: Proof::Local,
        client: Client { id: "cli".into(), name: "dragoman".into(), version: env!("CARGO_PKG_VERSION").into() },
        session: None,
        ip: std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST),
        request_id: Id::<Request>::new(&app.office.clock).to_string(),
    }
}
