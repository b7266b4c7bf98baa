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
        let moved = app.gateway.move_indexes(org.id, to, |name| remark!("{name}")).await;
        let target = format!("{workspace} to {}", to.name());
        app.office.record_administration("admin.index.move", &target, moved.is_ok()).await?;
        let all = moved?;
        if json {
            let Moved { moved, chunks, there, rebuilt, erased } = all;
            let facts = json!({
                "to": to.name(), "moved": moved, "chunks": chunks, "there": there, "rebuilt": rebuilt, "erased": erased,
            });
            say!("{facts:#}");
        } else {
            say!("{}", told(&workspace, to, all));
        }
        Ok(())
    }
}

/// What became of the indexes, for people.
fn told(workspace: &str, to: Home, Moved { moved, chunks, there, rebuilt, erased }: Moved) -> String {
    let place = match to {
        Home::Folder => "data folder",
        Home::Cluster => "Qdrant server",
    };
    let others = [(there, "there already"), (rebuilt, "made anew of their texts"), (erased, "erased meanwhile")];
    let others = others.into_iter().filter(|(number, _)| *number > 0);
    let others: String = others.map(|(number, what)| format!(", {number} {what}")).collect();
    format!("The indexes of {workspace} are in the {place}: {moved} moved with {}{others}.", counted(chunks, "chunk"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_happened_to_no_index_is_not_told() {
        let moved = Moved { moved: 2, chunks: 1, ..Moved::default() };
        let says = |moved: Moved| told("acme", Home::Cluster, moved);
        assert_eq!(says(moved), "The indexes of acme are in the Qdrant server: 2 moved with 1 chunk.");
        let says = says(Moved { there: 3, erased: 1, ..moved });
        assert!(says.ends_with("2 moved with 1 chunk, 3 there already, 1 erased meanwhile."), "{says}");
    }
}
