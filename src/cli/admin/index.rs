//! `dragoman admin index`: where the indexes of a workspace's documents are kept.

use anyhow::{Context as _, bail};
use clap::{Subcommand, ValueEnum};
use serde_json::json;

use crate::base::counted::counted;
use crate::cli::door::House;
use crate::gateway::Moved;
use crate::model::cluster_index::Home;

#[derive(Debug, Subcommand)]
pub enum Index {
    /// Move the indexes of a workspace's documents to the Qdrant server of QDRANT_URL, or back to the data folder; while no
    /// service runs. What is done stays done: run it again when something failed
    Move {
        #[arg(long)]
        workspace: String,
        #[arg(long)]
        to: To,
    },
}

/// Where they may be.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum To {
    Folder,
    Qdrant,
}

impl Index {
    /// Runs the command, as the operator of the machine.
    ///
    /// # Errors
    /// What was wrong, in a sentence.
    pub(in crate::cli) async fn run(self, house: &House, json: bool) -> anyhow::Result<()> {
        let Self::Move { workspace, to } = self;
        let House::Own(app) = house else {
            bail!("A service is running in this data folder. Stop it, move the indexes, and start it again.");
        };
        let org = app.office.identity.org_by_slug(&workspace).await?;
        let org = org.with_context(|| format!("there is no workspace {workspace:?}"))?;
        let to = match to {
            To::Folder => Home::Folder,
            To::Qdrant => Home::Cluster,
        };
        let moved = app.gateway.move_indexes(org.id, to, |name| eprintln!("{name}")).await;
        let target = format!("{workspace} to {}", to.name());
        app.office.record_administration("admin.index.move", &target, moved.is_ok()).await?;
        let Moved { moved, chunks, there, rebuilt, erased } = moved?;
        if json {
            let facts = json!({
                "to": to.name(), "moved": moved, "chunks": chunks, "there": there, "rebuilt": rebuilt, "erased": erased,
            });
            println!("{facts:#}");
        } else {
            println!(
                "The indexes of {workspace} are in the {}: {moved} moved with {}, {there} there already, {rebuilt} made anew of \
                 their texts, {erased} erased meanwhile.",
                match to {
                    Home::Folder => "data folder",
                    Home::Cluster => "Qdrant server",
                },
                counted(chunks, "chunk")
            );
        }
        Ok(())
    }
}
