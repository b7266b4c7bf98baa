//! `dragoman admin dataset`: the end of a dataset. It needs the data folder for itself: while the service runs, the
//! console and the management API do the same.

use anyhow::Context as _;
use clap::Subcommand;

use crate::app::App;
use crate::cli::import::operator;
use crate::gateway::Via;
use crate::ops::delete_dataset::DeleteDataset;
use crate::store;

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
    /// Runs the command through the gateway, as the operator of the machine.
    ///
    /// # Errors
    /// What was wrong, in a sentence.
    pub async fn run(self, app: &App, json: bool) -> anyhow::Result<()> {
        let Self::Delete { name, workspace } = self;
        let org = app.office.identity.org_by_slug(&workspace).await?;
        let org = org.with_context(|| format!("there is no workspace {workspace:?}"))?;
        let found = {
            let mut read = app.office.db.read_tenant(org.id).await?;
            store::datasets::by_name(&mut read, org.id, &name).await?
        };
        let found = found.with_context(|| format!("the workspace {workspace} has no dataset {name:?}"))?;
        let op = DeleteDataset { dataset_id: found.id, name };
        let reply = app.gateway.call(&operator(app, &org), op, Via::new("admin.call")).await?;
        if json {
            println!("{}", serde_json::to_string(&reply)?);
        } else {
            println!(
                "{} is deleted, with {} {}.",
                found.name,
                found.row_count,
                match found.kind {
                    crate::model::dataset::Kind::Table => "rows",
                    crate::model::dataset::Kind::Documents => "passages",
                }
            );
        }
        Ok(())
    }
}
