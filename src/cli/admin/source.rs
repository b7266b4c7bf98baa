//! `dragoman admin source`: remote engines of a workspace. The password comes from standard input, never from an
//! argument, which other users of the machine can read.

use anyhow::{Context as _, Result};
use clap::Subcommand;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::find_org;
use super::show::{Said, table};
use crate::base::clock::rfc3339;
use crate::base::counted::counted;
use crate::base::secret::Secret;
use crate::engine::sql::remote::sources::{NewSource, Sources};
use crate::identity::Identity;
use crate::model::error::Error;
use crate::model::org::Org;
use crate::model::source::{Source as Row, SourceEngine};

#[derive(Debug, Subcommand)]
pub enum Source {
    /// Test a server, and make its tables datasets of a workspace; the password is the first line of standard input
    Add {
        /// a-z, 0-9 and '_'
        name: String,
        /// Such as postgres://reader@db.example.com:5432/shop, without the password
        address: String,
        #[arg(long)]
        workspace: String,
        /// postgres or clickhouse
        #[arg(long, default_value = "postgres", value_parser = engine)]
        engine: SourceEngine,
        /// A file with the certificate (PEM) that the server's must come from
        #[arg(long, value_name = "FILE")]
        ca: Option<std::path::PathBuf>,
    },
    /// List a workspace's sources
    List {
        #[arg(long)]
        workspace: String,
    },
    /// Connect to a source and say whether it can be used
    Test {
        name: String,
        #[arg(long)]
        workspace: String,
    },
    /// Forget a source, its password and its datasets
    Remove {
        name: String,
        #[arg(long)]
        workspace: String,
    },
}

pub(super) async fn source(
    command: Source,
    identity: &Identity,
    sources: &Sources,
    input: impl FnOnce() -> Result<Secret>,
) -> Result<Said> {
    let never = CancellationToken::new();
    match command {
        Source::Add { name, address, workspace, engine, ca } => {
            let org = find_org(identity, &workspace).await?;
            let ca = ca.map(std::fs::read_to_string).transpose().context("the certificate cannot be read")?;
            let new = NewSource { name, engine, address, user: None, password: input()?, ca };
            let (source, found) = sources.create(org.id, None, new, &never).await.map_err(told)?;
            let text = format!(
                "{} is connected, with {} as new datasets of {workspace} that are not published. {}",
                source.name,
                counted(found.added, "table"),
                found.left_out
            );
            let text = text.trim_end().to_owned();
            Ok(Said { facts: facts(&source), text })
        }
        Source::List { workspace } => {
            let org = find_org(identity, &workspace).await?;
            let rows = sources.list(org.id).await.map_err(told)?;
            let row = |row: &Row| {
                let state = if row.problem.is_empty() { "ok" } else { "failing" };
                let checked = rfc3339(row.checked_at);
                vec![row.name.clone(), row.engine.name().into(), row.address.clone(), state.into(), checked]
            };
            let text = table(&["name", "engine", "address", "state", "checked"], rows.iter().map(row));
            Ok(Said { facts: rows.iter().map(facts).collect(), text })
        }
        Source::Test { name, workspace } => {
            let (org, source) = find(identity, sources, &workspace, &name).await?;
            let found = sources.test(org.id, source.id, &never).await.map_err(told)?;
            let text = format!(
                "{name} works: its server is version {}, and the login can read {} and nothing else. {}",
                found.version,
                counted(found.tables, "table"),
                found.left_out
            );
            let facts = json!({
                "name": name, "version": found.version, "tables": found.tables, "left_out": found.left_out,
            });
            Ok(Said { facts, text: text.trim_end().to_owned() })
        }
        Source::Remove { name, workspace } => {
            let (org, source) = find(identity, sources, &workspace, &name).await?;
            sources.remove(org.id, source.id).await.map_err(told)?;
            Ok(Said { facts: json!({ "name": name, "removed": true }), text: format!("{name} is removed.") })
        }
    }
}

async fn find(identity: &Identity, sources: &Sources, workspace: &str, name: &str) -> Result<(Org, Row)> {
    let org = find_org(identity, workspace).await?;
    let found = sources.list(org.id).await.map_err(told)?.into_iter().find(|source| source.name == name);
    let list = format!("dragoman admin source list --workspace {workspace}");
    Ok((org, found.with_context(|| format!("There is no source {name:?} in {workspace}. See: {list}"))?))
}

fn told(error: Error) -> anyhow::Error {
    anyhow::anyhow!("{error}")
}

fn facts(source: &Row) -> Value {
    json!({
        "id": source.id,
        "name": source.name,
        "engine": source.engine,
        "address": source.address,
        "problem": source.problem,
        "left_out": source.left_out,
        "checked_at": rfc3339(source.checked_at),
        "created_at": rfc3339(source.created_at),
    })
}

fn engine(text: &str) -> Result<SourceEngine, String> {
    SourceEngine::parse(text).ok_or_else(|| "expected postgres or clickhouse".to_owned())
}
