//! `dragoman admin dataset`: the end of a dataset.

use anyhow::Context as _;
use clap::Subcommand;
use serde_json::{Value, json};

use crate::cli::door::House;
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
}

impl Dataset {
    /// Runs the command, as the operator of the machine.
    ///
    /// # Errors
    /// What was wrong, in a sentence.
    pub(in crate::cli) async fn run(self, house: &House, json: bool) -> anyhow::Result<()> {
        let Self::Delete { name, workspace } = self;
        let door = house.door(&workspace).await?;
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
        let found = found.with_context(|| format!("the workspace {workspace} has no dataset {name:?}"))?;
        let reply = door.call::<DeleteDataset>(json!({ "dataset_id": found.get("id"), "name": name })).await?;
        if json {
            println!("{reply}");
        } else {
            let what = if found.get("type") == Some(&json!("table")) { "rows" } else { "passages" };
            println!("{name} is deleted, with {} {what}.", reply.get("row_count").unwrap_or(&Value::Null));
        }
        Ok(())
    }
}
