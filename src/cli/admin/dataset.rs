//! `dragoman admin dataset`: the versions of a dataset, and its end.

use anyhow::Context as _;
use clap::Subcommand;
use serde_json::{Value, json};

use crate::base::counted::counted;
use crate::cli::door::{Door, House};
use crate::ops::dataset_versions::{ListVersions, RestoreVersion};
use crate::ops::delete_dataset::DeleteDataset;
use crate::ops::list_datasets::ListDatasets;

#[derive(Debug, Subcommand)]
pub enum Dataset {
    /// Erase a dataset for good, with everything that came from it
    Delete {
        /// The dataset's whole name
        name: String,
        #[arg(long)]
        workspace: String,
    },
    /// List the versions of a dataset that are kept
    Versions {
        /// The dataset's whole name
        name: String,
        #[arg(long)]
        workspace: String,
    },
    /// Make an earlier version of a dataset the current one again
    Restore {
        /// The dataset's whole name
        name: String,
        /// As it is listed; without it, the one before the current one
        version: Option<String>,
        #[arg(long)]
        workspace: String,
    },
}

impl Dataset {
    /// Runs the command, as the operator of the machine.
    ///
    /// # Errors
    /// What was wrong, in a sentence.
    pub(in crate::cli) async fn run(self, house: &House, json: bool) -> anyhow::Result<()> {
        let (facts, text) = match self {
            Self::Delete { name, workspace } => {
                let door = house.door(&workspace).await?;
                let found = find(&door, &name, &workspace).await?;
                let reply = door.call::<DeleteDataset>(json!({ "dataset_id": found.get("id"), "name": name })).await?;
                let what = if found.get("type") == Some(&json!("table")) { "rows" } else { "passages" };
                let text = format!("{name} is deleted, with {} {what}.", field(&reply, "row_count"));
                (reply, text)
            }
            Self::Versions { name, workspace } => {
                let door = house.door(&workspace).await?;
                let found = find(&door, &name, &workspace).await?;
                let reply = door.call::<ListVersions>(json!({ "dataset_id": found.get("id") })).await?;
                let text = versions(&reply).into_iter().map(line).collect::<Vec<_>>().join("\n");
                (reply, text)
            }
            Self::Restore { name, version, workspace } => {
                let door = house.door(&workspace).await?;
                let found = find(&door, &name, &workspace).await?;
                let version = match version {
                    Some(version) => json!(version),
                    None => {
                        let known = door.call::<ListVersions>(json!({ "dataset_id": found.get("id") })).await?;
                        let before = versions(&known).into_iter().find(|one| one.get("current") == Some(&json!(false)));
                        let before = before.and_then(|one| one.get("version").cloned());
                        before.with_context(|| format!("no earlier version of {name} is kept"))?
                    }
                };
                let asked = json!({ "dataset_id": found.get("id"), "version": version });
                let reply = door.call::<RestoreVersion>(asked).await?;
                let (rows, columns) = (number(&reply, "row_count", "row"), number(&reply, "column_count", "column"));
                let text = format!("{name} is its version {} again: {rows}, {columns}.", plain(&version));
                (reply, text)
            }
        };
        if json {
            say!("{facts}");
        } else {
            say!("{text}");
        }
        Ok(())
    }
}

/// A dataset by its name, as it is listed.
async fn find(door: &Door<'_>, name: &str, workspace: &str) -> anyhow::Result<Value> {
    let mut cursor = Value::Null;
    let found = loop {
        let page = door.call::<ListDatasets>(json!({ "cursor": cursor })).await?;
        let datasets = page.get("datasets").and_then(Value::as_array);
        let found = datasets.and_then(|all| all.iter().find(|one| one.get("name") == Some(&json!(name))));
        cursor = page.get("next_cursor").cloned().unwrap_or_default();
        if found.is_some() || cursor.is_null() {
            break found.cloned();
        }
    };
    found.with_context(|| format!("the workspace {workspace} has no dataset {name:?}"))
}

fn versions(reply: &Value) -> Vec<&Value> {
    reply.get("versions").and_then(Value::as_array).into_iter().flatten().collect()
}

/// A version in a line: `<version>  <made>  12 rows  from sales.csv  current`.
fn line(version: &Value) -> String {
    let [id, made, source] = ["version", "made_at", "source"].map(|name| field(version, name));
    let rows = number(version, "row_count", "row");
    let current = if version.get("current") == Some(&json!(true)) { "  current" } else { "" };
    format!("{id}  {made}  {rows}  from {source}{current}")
}

fn field(of: &Value, name: &str) -> String {
    of.get(name).map(plain).unwrap_or_default()
}

fn number(of: &Value, name: &str, noun: &str) -> String {
    counted(of.get(name).and_then(Value::as_i64).unwrap_or_default(), noun)
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
